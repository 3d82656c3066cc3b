"""Page tables: one process's own by lease, written along with a turn, gone with what they are of."""

from __future__ import annotations

import pytest

from mnemic.core.items import Item, Kind
from mnemic.core.scope import SHARED
from mnemic.errors import Conflict
from mnemic.store.engine import rewinding
from mnemic.store.values.drafts import Draft, Op, Paging
from mnemic.store.values.row_values import PageRow, SessionRow
from mnemic.testing.generators import ManualClock
from mnemic.testing.store_contract.contract_world import TENANT, World

_SECOND = 1_000_000


def turn(world: World, text: str, session: str = "chat") -> Item:
    """A turn of a session."""
    return world.item(text, kind=Kind.TURN, session=session)


def row(item: Item, *, resident: bool = True, arrived: int = 1, position: int = 0, segment: int = -1) -> PageRow:
    """A page of an item."""
    return PageRow(item.id, resident, 7, 1, 2, 3, arrived, False, position, segment, 0.25, 0.5, 4)


def page(
    world: World,
    *pages: PageRow,
    ops: tuple[Op, ...] = (),
    owner: str = "a",
    session: str = "chat",
    seconds: float = 60,
    user: str = "ada",
    taking: bool = False,
) -> int:
    """Write pages, along with ops if there are any."""
    paging = Paging(session, owner, seconds, 4000, "lru", 9, 2, 5, pages, taking)
    return world.store.commit(Draft(tenant=TENANT, user=user, actor="tester", ops=ops, paging=paging)).seq


def session(world: World, name: str = "chat") -> SessionRow | None:
    """A session as it was written down."""
    with world.store.read() as snapshot:
        return snapshot.session(world.space(), name)


def table(world: World, name: str = "chat") -> list[PageRow]:
    """Its pages at hand."""
    with world.store.read() as snapshot:
        found = snapshot.session(world.space(), name)
        return [] if found is None else snapshot.pages(world.space(), found.session)


def said(world: World, *texts: str) -> list[Item]:
    """Turns of a session, each in a commit of its own with its pages table."""
    items = [turn(world, text) for text in texts]
    for item in items:
        page(world, ops=(world.put(item),))
    return items


def test_pages_are_kept_as_they_were_written_in_the_order_they_came_in(world: World) -> None:
    one, two = said(world, "one", "two")
    page(world, row(two, arrived=3), row(one, arrived=8))
    assert table(world) == [row(two, arrived=3), row(one, arrived=8)]
    found = session(world)
    assert found is not None
    assert (found.budget, found.policy, found.clock, found.turns, found.seq) == (4000, "lru", 9, 2, 5)
    with world.store.read() as snapshot:
        assert [name for _, name, _ in snapshot.sessions(world.space())] == ["chat"]


def test_going_back_leaves_a_session_that_went_on_its_terms_alone(world: World) -> None:
    """Its window as it was by then is not known."""
    one, _ = said(world, "one", "two")
    page(world, row(one))
    before = session(world)
    world.store.transact(rewinding.rewind, TENANT, 1)
    found = session(world)
    assert before is not None
    assert found == before._replace(owner="", lease_until=0, clock=0, turns=0, seq=0)
    assert table(world) == []
    assert list(world.store.verify()) == []


def test_going_back_leaves_a_session_that_did_not_go_on_as_it_was(world: World) -> None:
    one, _ = said(world, "one", "two")
    page(world, row(one))
    before = session(world)
    for n in range(6):
        world.commit(world.put(world.item(f"elsewhere {n}")))
    world.store.transact(rewinding.rewind, TENANT, 5)
    assert (session(world), table(world)) == (before, [row(one)])


def test_at_hand_are_residents_and_turns_that_are_in_no_segment_yet(world: World) -> None:
    resident, waiting, told, recalled = said(world, "a", "b", "c", "d")
    kept = [row(resident, arrived=1), row(waiting, resident=False, arrived=2)]
    done = [row(told, resident=False, segment=0), row(recalled, resident=False, position=-1)]
    page(world, *kept, *done)
    assert table(world) == kept
    with world.store.read() as snapshot:
        found = snapshot.session(world.space(), "chat")
        assert found is not None
        assert snapshot.pages(world.space(), found.session, [told.id]) == [done[0]]


def test_a_page_that_changed_is_written_over(world: World) -> None:
    (one,) = said(world, "one")
    page(world, row(one, arrived=1))
    page(world, row(one, arrived=2))
    assert table(world) == [row(one, arrived=2)]


def test_pages_alone_are_no_commit_and_make_neither_user_nor_session(world: World) -> None:
    world.commit("x")
    before = world.seq()
    page(world, session="unheard of")
    page(world, user="nobody")
    assert world.seq() == before
    assert session(world, "unheard of") is None
    with world.store.read() as snapshot:
        tenant = snapshot.tenant(TENANT)
        assert tenant is not None
        assert snapshot.space(tenant, "nobody") is None


def test_a_session_is_one_owner_s_until_the_lease_has_passed(world: World, clock: ManualClock) -> None:
    (one,) = said(world, "one")
    with pytest.raises(Conflict, match="open already"):
        page(world, row(one), owner="b", taking=True)
    clock.tick(61 * _SECOND)
    page(world, row(one), owner="b", taking=True)
    with pytest.raises(Conflict):
        page(world, owner="a")


def test_who_lost_a_session_writes_to_it_no_more_though_it_is_nobody_s(world: World, clock: ManualClock) -> None:
    said(world, "one")
    clock.tick(61 * _SECOND)
    page(world, owner="a")  # it lapsed, and nobody has taken it
    clock.tick(61 * _SECOND)
    page(world, owner="b", taking=True)
    clock.tick(61 * _SECOND)
    before = world.seq()
    with pytest.raises(Conflict, match="since"):
        page(world, ops=(world.put(turn(world, "two")),), owner="a")
    page(world, owner="b", seconds=0)
    with pytest.raises(Conflict, match="since"):
        page(world, owner="a")
    assert world.seq() == before


def test_a_lease_given_back_is_free_at_once(world: World) -> None:
    said(world, "one")
    page(world, seconds=0)
    found = session(world)
    assert found is not None
    assert (found.owner, found.lease_until) == ("", 0)
    page(world, owner="b", taking=True)


def test_a_turn_that_comes_with_another_s_session_is_not_written(world: World) -> None:
    said(world, "one")
    before = world.seq()
    with pytest.raises(Conflict):
        page(world, ops=(world.put(turn(world, "two")),), owner="b")
    assert world.seq() == before
    assert world.texts() == ["one"]


def test_the_page_of_an_item_goes_with_it(world: World) -> None:
    one, two = said(world, "one", "two")
    page(world, row(one, arrived=1), row(two, arrived=2))
    world.erase(one.id)
    assert table(world) == [row(two, arrived=2)]
    page(world, row(one))
    assert table(world) == [row(two, arrived=2)]
    assert world.faults() == []


def test_a_session_goes_with_the_last_item_that_bears_its_name(world: World) -> None:
    (one,) = said(world, "one")
    other = turn(world, "elsewhere", session="other")
    world.commit(world.put(other))
    page(world, row(one), row(other))
    world.erase(one.id)
    assert session(world) is None
    with world.store.read() as snapshot:
        assert snapshot.sessions(world.space()) == []


def test_pages_of_others_spaces_are_not_kept(world: World) -> None:
    said(world, "one")
    shared = world.item("the office moved")
    world.commit(world.put(shared), user=SHARED)
    page(world, row(shared))
    assert table(world) == []


def test_a_user_s_page_tables_go_with_the_user(world: World) -> None:
    (one,) = said(world, "one")
    page(world, row(one))
    space = world.space()
    world.erase(whole=True)
    with world.store.read() as snapshot:
        assert snapshot.sessions(space) == []

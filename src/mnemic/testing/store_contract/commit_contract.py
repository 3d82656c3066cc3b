"""A commit is whole or nothing, its seq follows the last one, and a key makes a retry safe."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mnemic.core.events import Verb
from mnemic.core.ids import ItemId, from_bytes
from mnemic.core.items import Link, State, Strength
from mnemic.core.scope import SHARED
from mnemic.errors import Conflict, Invalid
from mnemic.store.engine.rows import Rows
from mnemic.store.values.drafts import Draft, Note, Put, Tie
from mnemic.testing.generators import ManualClock
from mnemic.testing.store_contract.contract_world import TENANT, World, day


def test_a_store_that_was_never_written_to_knows_nobody(world: World) -> None:
    with world.store.read() as snapshot:
        assert snapshot.tenant(TENANT) is None
        assert snapshot.tenants() == []
    assert world.faults() == []


def test_a_write_is_read_back_as_it_was_given(world: World) -> None:
    item = world.item(
        "何か", key="something", slots={"speaker": "Ada", "n": [1, {"x": None}]}, tags=("a", "b"), said_offset=-210,
        pinned=True, valid_from=day(-3), valid_to=day(9), agent="bot", session="s1", pos=-7,
    )  # fmt: skip
    receipt = world.commit(world.put(item))
    version = world.get(item.id)
    assert version is not None
    assert version.item == item
    assert (version.seq_from, version.seq_to) == (receipt.seq, None)


def test_all_events_of_a_commit_share_its_seq_and_keep_their_order(world: World) -> None:
    one, two = world.item("one"), world.item("two")
    note = Note(verb=Verb.UNDID, payload=b'{"seq":0}')
    tie = Tie(verb=Verb.LINKED, link=Link(src=one.id, dst=two.id, type="about"))
    receipt = world.commit(world.put(one), world.put(two), tie, note)
    (change,) = world.changes()
    assert change.seq == receipt.seq == 1
    assert [(event.n, event.verb, event.item) for event in change.events] == [
        (0, Verb.WROTE, one.id),
        (1, Verb.WROTE, two.id),
        (2, Verb.LINKED, one.id),
        (3, Verb.UNDID, None),
    ]
    assert change.events[3].payload == note.payload
    assert receipt.ids == (one.id, two.id)


def test_seqs_count_the_commits_of_a_tenant_without_gaps(world: World) -> None:
    seqs = [world.commit("x", user=user).seq for user in ("ada", "bob", "ada", SHARED)]
    assert seqs == [1, 2, 3, 4]
    assert [change.seq for change in world.changes()] == seqs


def test_each_tenant_counts_for_itself(world: World) -> None:
    assert [world.commit("x", tenant=name).seq for name in ("t", "u", "t", "T")] == [1, 1, 2, 1]


def test_a_conflict_takes_no_seq_and_leaves_nothing(world: World) -> None:
    item = world.item("first")
    world.commit(world.put(item))
    before = list(world.store.export(TENANT))
    with pytest.raises(Conflict):
        world.commit("with it", world.put(replace(item, text="late"), Verb.REVISED), expect={item.id: 7})
    assert list(world.store.export(TENANT)) == before
    assert world.commit("next").seq == 2
    assert world.texts() == ["first", "next"]
    assert world.faults() == []


def test_an_expected_version_lets_the_commit_through(world: World) -> None:
    item = world.item("first")
    seq = world.commit(world.put(item), expect={item.id: 0}).seq
    world.commit(world.put(replace(item, text="second"), Verb.REVISED), expect={item.id: seq})
    assert world.texts() == ["second"]


def test_a_commit_upon_a_space_that_has_moved_on_is_a_conflict_and_writes_nothing(world: World) -> None:
    seen = world.commit("first", upon=0).seq
    world.commit("of another user", user="bob")
    world.commit("second", upon=seen)
    with pytest.raises(Conflict, match="thought upon"):
        world.commit("third", upon=seen)
    assert world.texts() == ["first", "second"]
    assert world.faults() == []


def test_what_nothing_may_cite_is_a_conflict_while_something_live_does(world: World) -> None:
    said = world.item("said", source=())
    fact = world.item("fact", source=(said.id,))
    world.commit(world.put(said), world.put(fact))
    before = list(world.store.export(TENANT))
    hidden = [world.put(replace(item, state=State.RETIRED), Verb.RETIRED, terms=None) for item in (said, fact)]
    with pytest.raises(Conflict, match=said.id):
        world.commit(hidden[0], uncited=frozenset({said.id}))
    assert list(world.store.export(TENANT)) == before
    world.commit(*hidden, uncited=frozenset({said.id}))
    assert world.texts() == []
    assert world.faults() == []


def test_an_item_that_must_not_exist_is_a_conflict_when_it_does(world: World) -> None:
    item = world.item("first")
    world.commit(world.put(item))
    with pytest.raises(Conflict, match=item.id):
        world.commit("more", expect={item.id: 0})
    assert world.seq() == 1


def test_an_item_is_written_once_and_then_only_changed(world: World) -> None:
    item = world.item("first")
    world.commit(world.put(item))
    with pytest.raises(Conflict, match=item.id):
        world.commit("with it", world.put(replace(item, text="again")))
    assert world.texts() == ["first"]


def test_the_item_that_is_here_already_is_named_with_its_commit(world: World) -> None:
    known = world.item("known")
    world.commit(world.put(known))
    with pytest.raises(Conflict, match=f"item {known.id} is here already, of commit 1"):
        world.commit(world.put("new"), world.put(known), world.put("newer"))
    assert [len(change.events) for change in world.changes()] == [1]
    assert world.faults() == []


def test_the_same_key_with_the_same_content_gives_the_first_receipt(world: World) -> None:
    first = world.commit(world.put("hello", key="k"))
    world.commit("between")
    again = world.commit(world.put("hello", key="k"))
    assert (again.seq, again.ids, again.repeated) == (first.seq, first.ids, 1)
    assert world.texts() == ["hello", "between"]
    assert world.seq() == 2


def test_the_same_key_with_other_content_is_a_conflict_and_writes_nothing(world: World) -> None:
    world.commit(world.put("hello", key="k"))
    with pytest.raises(Conflict, match="k"):
        world.commit("before it", world.put("other", key="k"), "after it")
    assert world.texts() == ["hello"]
    assert world.seq() == 1


def test_of_a_batch_that_landed_in_part_the_rest_is_written_and_all_is_named(world: World) -> None:
    one = world.commit(world.put("one", key="1"))
    receipt = world.commit(world.put("zero", key="0"), world.put("one", key="1"), world.put("two", key="2"))
    assert receipt.repeated == 1
    assert receipt.ids[1] == one.id
    assert world.texts() == ["one", "zero", "two"]
    shown = {version.item.id for version in world.versions()}
    assert shown == set(receipt.ids)


def test_a_repeat_does_none_of_what_goes_with_it(world: World) -> None:
    old = world.item("old")
    written = world.commit(world.put(old))

    def supersede() -> Draft:
        new = world.item("new", said=day(1))
        fresh, closed = world.superseding(old, new)
        assert isinstance(fresh, Put)
        keyed = replace(fresh, key="k", content=b"new")
        tie = Tie(verb=Verb.LINKED, link=Link(src=new.id, dst=old.id, type="supersedes"))
        with world.store.read() as snapshot:
            now = snapshot.standing((world.space(),), (old.id,))[old.id].seq_from
        return Draft(tenant=TENANT, user="ada", actor="x", ops=(keyed, closed, tie), expect={old.id: now})

    first = world.store.commit(supersede())
    again = world.store.commit(supersede())
    assert (again.seq, again.ids) == (first.seq, first.ids)
    assert first.seq == written.seq + 1 == world.seq()
    assert world.texts() == ["new"]


def test_a_key_is_known_in_its_own_space_only(world: World) -> None:
    world.commit(world.put("hello", key="k"))
    world.commit(world.put("something else", key="k"), user="bob")
    world.commit(world.put("and else", key="k"), tenant="u")
    assert world.texts(user="bob") == ["something else"]


def test_keys_differ_when_any_character_does(world: World) -> None:
    keys = ("k", "K", "k ", "k%", "к", "é", "e\u0301", "k/chunk/0", "x" * 1024)
    for key in keys:
        world.commit(world.put(f"under {key[:20]}", key=key))
    assert len(world.texts()) == len(keys)


def test_a_commit_of_nothing_is_refused(world: World) -> None:
    with pytest.raises(Invalid):
        world.commit()
    assert world.seq() == 0


def test_nothing_changes_twice_in_one_commit(world: World) -> None:
    item = world.item("one")
    link = Link(src=item.id, dst=item.id, type="about")
    for ops in (
        (world.put(item), world.put(replace(item, text="two"), Verb.REVISED)),
        (world.put("one", key="k"), world.put("two", key="k")),
        (world.put(item), Tie(verb=Verb.LINKED, link=link), Tie(verb=Verb.UNLINKED, link=link)),
    ):
        with pytest.raises(Invalid, match="twice"):
            world.commit(*ops)
    assert world.seq() == 0


def test_an_id_that_is_not_ours_is_refused(world: World) -> None:
    with pytest.raises(Invalid):
        world.commit(world.put(replace(world.item("x"), id=ItemId("../../etc/passwd"))))
    assert world.seq() == 0


def test_recorded_time_never_decreases_though_the_clock_does(world: World, clock: ManualClock) -> None:
    world.commit("one")
    for by in (-86_400_000_000, 5_000_000, -1, 90_000_000_000):
        clock.tick(by)
        world.commit("more")
    at = [change.at for change in world.changes()]
    assert at == sorted(at)
    assert world.faults() == []


def test_use_adds_to_the_counters_of_a_commit(world: World) -> None:
    item = world.item("x")
    world.commit(world.put(item))
    note = Note(verb=Verb.USED, payload=b"{}")
    world.commit(note, used={item.id: Strength(uses=2, useful=1, last_used=day(2))})
    world.commit(note, used={item.id: Strength(uses=1, harms=3, last_used=day(1))})
    with world.store.read() as snapshot:
        found = snapshot.strength(world.space(), (item.id, world.item("never").id))
    assert found == {item.id: Strength(uses=3, useful=1, harms=3, last_used=day(2))}


def test_a_change_of_state_keeps_its_predecessors_tokens(world: World) -> None:
    item = world.item("the quick brown fox")
    world.commit(world.put(item))
    world.retire(item)
    with world.store.read() as snapshot:
        first, second = snapshot.entries(world.space())
    assert first.terms == second.terms != b""
    assert (first.state, second.state) == (State.ACTIVE, State.RETIRED)


def test_the_chain_depends_on_everything_before_it(world: World) -> None:
    for _ in range(3):
        world.commit("x")
    hashes = [change.hash for change in world.changes()]
    assert len(set(hashes)) == 3
    with world.store.read() as snapshot:
        tenant = snapshot.tenant(TENANT)
        assert tenant is not None
        assert snapshot.head(tenant).hash == hashes[-1]


def test_an_item_that_is_not_there_is_left_out(world: World) -> None:
    world.commit("x")
    absent = from_bytes(bytes(range(16)))
    assert world.get(absent) is None
    with world.store.read() as snapshot:
        assert snapshot.standing((world.space(),), (absent,)) == {}
        assert snapshot.history((world.space(),), absent) == []
        assert snapshot.space(world.tenant(), "nobody") is None


def test_a_key_is_forgotten_once_it_has_lived_its_time_and_an_imports_key_stays(
    world: World, clock: ManualClock
) -> None:
    lasting = world.commit(world.put("import", key="chat:1", lasting=True))
    world.commit(world.put("one", key="k"))
    clock.tick(31 * 86_400_000_000)
    world.commit("a day's first commit")
    world.commit(world.put("another", key="k"))
    again = world.commit(world.put("import, edited since", key="chat:1", lasting=True))
    assert again.ids == lasting.ids
    assert world.texts() == ["import", "one", "a day's first commit", "another"]


def test_a_transaction_returns_what_its_function_makes_of_the_rows(world: World) -> None:
    world.commit("x")
    tenants = world.store.transact(lambda rows, among: [row.name for row in rows.spaces.tenants() if among], True)
    assert tenants == [TENANT]


def test_what_a_transaction_wrote_is_taken_back_when_its_function_fails(world: World) -> None:
    world.commit("x")

    def half(rows: Rows) -> None:
        rows.notes.set_memo(rows.spaces.tenants()[0].id, "fact", b"half")
        rows.names.add_name(world_space, "nobody")
        raise KeyError("half-way")

    world_space, before = world.space(), world.store.moved()
    with pytest.raises(KeyError):
        world.store.transact(half)
    with world.store.read() as snapshot:
        assert snapshot.memo(world.tenant(), "fact") is None
        assert snapshot.name_id(world_space, "nobody") is None
    assert world.store.moved() == before
    assert world.commit("y").seq == 2
    assert world.faults() == []

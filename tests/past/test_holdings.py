"""All that is held of a user, as they may ask to see it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mnemic import SHARED, Memory, State, all_of
from mnemic.errors import Invalid
from mnemic.memory import ScopedMemory


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory("memory:", strategies=[]) as memory:
        yield memory


@pytest.fixture
def me(memory: Memory) -> ScopedMemory:
    return memory.scope(user="ada")


def test_every_item_is_held_with_its_versions_links_and_uses(memory: Memory, me: ScopedMemory) -> None:
    old = me.write("Ada lives in Pariss.").id
    me.revise(old, "Ada lives in Paris.")
    new = me.supersede(old, "Ada lives in Oslo.").id
    me.feedback(new, useful=True)
    gone = me.observe("The code is 1234.").id
    me.forget(gone)
    memory.scope(user="bob").observe("Bob was here.")
    memory.scope(user=SHARED).observe("The office opens at nine.")
    held = {one.version.item.text: one for one in me.holdings()}
    first, second, third = (held[text] for text in ("Ada lives in Paris.", "Ada lives in Oslo.", "The code is 1234."))
    assert len(held) == 3
    assert [one.item.text for one in first.earlier] == ["Ada lives in Pariss.", "Ada lives in Paris."]
    assert first.version.item.state is State.SUPERSEDED
    assert [(link.dst, link.type) for link in second.links] == [(old, "supersedes")]
    assert second.strength.useful == 1
    assert (third.version.item.id, third.version.item.state) == (gone, State.RETIRED)


def test_more_than_a_page_is_held_in_order(me: ScopedMemory) -> None:
    for n in range(0, 1_200, 400):
        me.observe([f"Fox {n + k}." for k in range(400)])
    assert [one.version.item.text for one in all_of(me.holdings)] == [f"Fox {n}." for n in reversed(range(1_200))]
    page = me.holdings(limit=500)
    me.observe("Late.")
    assert me.holdings(limit=500, after=page.next)[0].version.item.text == "Fox 699."
    with pytest.raises(Invalid):
        me.list(after=page.next)


def test_nothing_is_held_of_somebody_unknown(me: ScopedMemory) -> None:
    assert me.holdings() == []


def test_a_shelf_holds_its_own(memory: Memory, me: ScopedMemory) -> None:
    memory.scope(user="ada", session="trip").observe("On the trip.")
    me.observe("At home.")
    assert [one.version.item.text for one in me.shelf(session="trip").holdings()] == ["On the trip."]

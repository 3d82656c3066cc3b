"""What a run may cite, change and tie: what it was shown, and never what nobody has."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from mnemic import Filter, Invalid, Memory
from mnemic.core.events import Verb
from mnemic.core.ids import ItemId
from mnemic.core.items import Link, State
from mnemic.flow import Flow
from mnemic.store.values.drafts import Draft, Tie
from mnemic.strategies.base import Bond, Edits, Given, Revision, known

sys.path.insert(0, str(Path(__file__).parent))
from scripted import INSIGHTS, Scripted, insight, opened

NOBODY = ItemId("0" * 26)


def ends(memory: Memory, type: str) -> list[tuple[str, str]]:
    """The texts at both ends of each link of a type."""
    me = memory.scope(user="ada")
    items = [version.item for version in me.list(limit=100)]
    text = {item.id: item.text for item in items}
    links = {(link.src, link.dst) for item in items for link in me.links(item.id) if link.type == type}
    return sorted((text[src], text[dst]) for src, dst in links)


def about(given: Given) -> Flow[Edits]:
    """Write one insight about everything, ever under the same key, and tie each turn to it."""
    yield from ()
    topic = insight(given.evidence[0], "topic", key="scripted:topic:0")
    return Edits(write=(topic,), tie=tuple(Bond(src=turn.id, dst=0, type="about") for turn in given.evidence))


def test_a_bond_to_what_landed_under_its_key_goes_to_the_item_that_is_there() -> None:
    memory, me = opened(Scripted(about))
    with memory:
        for text in ("one", "two"):
            me.observe(text)
            assert memory.flush()
        assert ends(memory, "about") == [("one", "topic"), ("two", "topic")]
        assert memory.admin.verify() == []


def test_what_landed_under_its_key_keeps_nothing_else_of_a_run_from_landing() -> None:
    def counted(given: Given) -> Flow[Edits]:
        own = yield from known(INSIGHTS)
        edits = yield from about(given)
        return Edits(write=edits.write, revise=tuple(Revision(id=item.id, text=item.text + "!") for item in own))

    memory, me = opened(Scripted(counted))
    with memory:
        for text in ("one", "two"):
            me.observe(text)
            assert memory.flush()
        assert [version.item.text for version in me.list(where=INSIGHTS)] == ["topic!"]


def test_what_a_run_was_not_shown_it_can_neither_tie_nor_cite() -> None:
    def tied(given: Given) -> Flow[Edits]:
        yield from ()
        return Edits(tie=(Bond(src=given.evidence[0].id, dst=NOBODY, type="about"),))

    def cited(given: Given) -> Flow[Edits]:
        yield from ()
        first = given.evidence[0]
        return Edits(write=(insight(first, "made up", source=(first.id, NOBODY)),))

    for think, told in ((tied, "ties 0+, which was neither"), (cited, "cites 0+, which was neither")):
        memory, me = opened(Scripted(think))
        with memory:
            me.observe("one")
            with pytest.raises(Invalid, match=told):
                memory.flush()


def test_verify_tells_of_a_link_to_what_nobody_has() -> None:
    memory, me = opened()
    with memory:
        (turn,) = me.observe("one").ids
        link = Link(src=turn, dst=NOBODY, type="about")
        memory._opened.store.commit(
            Draft(tenant="default", user="ada", actor="me", ops=(Tie(verb=Verb.LINKED, link=link),))
        )
        (fault,) = memory.admin.verify()
        assert fault.problem == f"ends at item {NOBODY}, which is not there"


def test_verify_is_content_with_links_between_a_branch_and_what_it_comes_off_and_with_what_was_erased() -> None:
    memory, me = opened()
    with memory:
        one, two = me.observe(["one", "two"]).ids
        me.link(one, two, "about")
        branch = me.branch("trial")
        (three,) = branch.observe("three").ids
        branch.link(three, one, "about")
        assert memory.admin.verify() == []
        me.erase(two)
        assert memory.admin.verify() == []


def test_what_a_run_supersedes_twice_is_superseded_once() -> None:
    """A strategy may have met an item by two roads; and the older may say itself that it is outdated."""

    def doubly(given: Given) -> Flow[Edits]:
        own = yield from known(INSIGHTS)
        older, newer = (insight(given.evidence[0], text, key=f"scripted:{text}:0") for text in ("older", "newer"))
        if not own:
            return Edits(write=(older,))
        late = replace(older, key="scripted:late:0", text="late", outdated_by=0)
        return Edits(write=(replace(newer, supersedes=own[0].id, revokes=(own[0].id, 1)), late))

    memory, me = opened(Scripted(doubly))
    with memory:
        for text in ("one", "two"):
            me.observe(text)
            assert memory.flush()
        assert [version.item.text for version in me.list(where=INSIGHTS)] == ["newer"]
        assert memory.admin.verify() == []


def test_what_a_run_adds_a_source_to_it_may_supersede_too() -> None:
    """A text may say once more what it then says to be over: that is one version of the old item, with both."""

    def again_and_over(given: Given) -> Flow[Edits]:
        own = yield from known(INSIGHTS)
        turn = given.evidence[0]
        revise = tuple(Revision(id=item.id, source=(turn.id,), text="one, as was said twice") for item in own)
        newer = replace(insight(turn, turn.text), supersedes=own[0].id if own else None)
        return Edits(write=(newer,), revise=revise)

    memory, me = opened(Scripted(again_and_over))
    with memory:
        ids = []
        for text, day in (("one", "2026-01-01"), ("two", "2026-01-02")):
            ids += me.observe(text, said=day).ids
            assert memory.flush()
        (old,) = me.list(where=replace(INSIGHTS, states=(State.SUPERSEDED,)))
        assert (old.item.text, old.item.source) == ("one, as was said twice", tuple(ids))
        assert [version.item.text for version in me.list(where=INSIGHTS)] == ["two"]
        assert [hit.text for hit in me.as_of("2026-01-01").recall("said twice", where=Filter(by=("scripted",)))]
        assert memory.admin.verify() == []

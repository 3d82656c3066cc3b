"""HippoRAG 2 in a store: one graph live or by a flush, exact erasure, walls between users, and its own recall."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from mnemic import Filter, Memory, ScopedMemory
from mnemic.core.items import Kind
from mnemic.models.chat.scripted_chat import ScriptedChat
from mnemic.strategies.hippo2 import ALIKE, COMMON, NAMES, RELATED, Hippo2

sys.path.insert(0, str(Path(__file__).parent))
from hippo_world import page_rank
from scripted import opened

DERIVED = Filter(kinds=(Kind.FACT, Kind.ENTITY), by=("hippo2",))
TEXTS = (
    "I met Bob Stone in Porto.",
    "Bob Stone works at Hollow Reed Films, and Dora Weil works at Hollow Reed Films.",
    "Dora Weil lives in New York City. Bob Stone met Dora Weil.",
    "Bob Stone met Dora Weil again in City of New York.",
)


def told(texts: Iterable[str], *, live: bool = False, user: str = "ada") -> tuple[Memory, ScopedMemory, list[Any]]:
    """A memory in which Eve says this; the ids of her turns."""
    memory, _ = opened(Hippo2())
    me = memory.scope(user=user)
    ids: list[Any] = []
    for text in texts:
        ids += me.observe(text, speaker="Eve").ids
        if live:
            assert memory.flush()
    assert memory.flush()
    return memory, me, ids


def links(me: ScopedMemory) -> dict[tuple[Any, Any, str], float]:
    ids = [version.item.id for version in me.list(where=DERIVED, limit=1000)]
    return {(link.src, link.dst, link.type): link.weight for id in ids for link in me.links(id)}


def view(me: ScopedMemory) -> tuple[Any, ...]:
    """What stands, under no id."""
    items = {version.item.id: version.item for version in me.list(limit=1000)}
    told = sorted(
        (item.kind, item.text, json.dumps(item.slots), sorted(items[one].text for one in item.source))
        for item in items.values()
        if item.source
    )
    tied = sorted((items[src].text, items[dst].text, type, weight) for (src, dst, type), weight in links(me).items())
    return told, tied


def test_live_or_by_one_flush_there_is_one_graph() -> None:
    live, flushed = told(TEXTS, live=True), told(TEXTS)
    with live[0], flushed[0]:
        assert view(live[1]) == view(flushed[1])
        assert {type for _, _, type, _ in view(live[1])[1]} == {NAMES, RELATED, ALIKE}
        assert live[0].admin.verify() == []


def test_passages_that_were_said_in_another_order_than_written_give_one_graph_too() -> None:
    """What is first, and what has no place any more among a common phrase's passages, is told by what was written."""
    views = []
    for live in (True, False):
        memory, me = opened(Hippo2())
        with memory:
            for n in range(COMMON + 3):
                me.observe(f"Bob Stone met Dora{n} Weil.", speaker="Eve", said=f"2025-03-{28 - n:02}")
                assert not live or memory.flush()
            assert memory.flush()
            phrases = me.list(where=Filter(kinds=(Kind.ENTITY,), by=("hippo2",)), limit=100)
            views.append((view(me), sorted((one.item.text, one.item.said) for one in phrases)))
    assert views[0] == views[1]


@pytest.mark.parametrize("place", range(len(TEXTS)))
def test_of_what_is_erased_nothing_is_left_and_the_rest_is_as_if_it_had_never_been(place: int) -> None:
    memory, me, ids = told(TEXTS)
    without = told([text for n, text in enumerate(TEXTS) if n != place])
    with memory, without[0]:
        me.erase(ids[place])
        at_once = [version.item.source for version in me.list(where=DERIVED, limit=1000)]
        assert not [sources for sources in at_once if ids[place] in sources]
        assert memory.flush()
        assert view(me) == view(without[1])
        assert memory.admin.verify() == []


def test_what_was_derived_again_asks_no_model() -> None:
    triple = {"subject": "Ada King", "predicate": "met", "object": "Bob Stone", "fact": "Ada King met Bob Stone."}
    answer = json.dumps({"reasoning": "", "triples": [{**triple, "from": 1, "since": "", "until": ""}]})
    chat = ScriptedChat(*[answer] * 3)
    memory, me = opened(Hippo2(), model=chat)
    with memory:
        ids = me.observe(["Ada King met Bob Stone.", "They met, Ada King and Bob Stone.", "I know them."]).ids
        assert memory.flush()
        assert set(links(me).values()) == {1, 3}
        me.erase(ids[1])
        assert memory.flush()
        assert len(chat.asked) == 3
        assert set(links(me).values()) == {1, 2}


def test_users_have_each_their_own_graph() -> None:
    memory, me, _ = told(TEXTS)
    with memory:
        other = memory.scope(user="bob")
        other.observe("Bob Stone lives in Secret Harbour.", speaker="Eve")
        assert memory.flush()
        mine = {version.item.id for version in me.list(limit=1000)}
        assert {end for src, dst, _ in links(me) for end in (src, dst)} <= mine
        found = me.recall("Where does Bob Stone live?", by="hippo2", k=10).items
        assert found
        assert {one.id for one in found} <= mine


def test_recall_ranks_by_a_walk_on_what_the_store_holds() -> None:
    memory, me, ids = told(TEXTS)
    with memory:
        found = me.recall("Where does Bob Stone work?", by="hippo2", k=4).items
        assert found[0].id == ids[1]
        assert {one.item.kind for one in found} == {Kind.TURN}
        assert page_rank(links(me), {found[0].id: 1.0}, (NAMES, RELATED, ALIKE)).keys() >= set(ids)

"""What a prompt shows already is left out of a recall, and others come in its place."""

from __future__ import annotations

import pytest

from mnemic import Invalid, Memory, ScopedMemory, Settings


@pytest.fixture
def me() -> ScopedMemory:
    memory = Memory("memory:", settings=Settings(embedder="none"))
    me = memory.scope(user="ada")
    me.observe([f"The garden needs {what}." for what in ("water", "weeding", "a fence", "new roses")])
    return me


def test_others_come_in_the_place_of_what_is_shown(me: ScopedMemory) -> None:
    best = [found.id for found in me.recall("garden", k=4)]
    shown = best[:2]
    assert [found.id for found in me.recall("garden", k=2, besides=shown)] == best[2:]
    assert [found.id for found in me.context("garden", besides=shown)] == best[2:]


def test_a_budget_is_spent_on_what_is_not_shown(me: ScopedMemory) -> None:
    first = me.recall("garden", k=1)
    again = me.recall("garden", budget=first.tokens + 20, besides=[first.items[0].id])
    assert [found.id for found in again] != [first.items[0].id]
    assert again.items


def test_nothing_else_is_said_to_be_so(me: ScopedMemory) -> None:
    everything = [found.id for found in me.recall("garden", k=4)]
    rest = me.recall("garden", k=4, besides=everything)
    assert (rest.items, rest.text) == ((), "")
    assert "nothing was found that is not shown already" in rest.notes
    short = me.recall("garden", budget=50, besides=everything)
    assert "nothing was found that is not shown already, and fits the budget of 50 tokens" in short.notes


def test_only_ids_are_taken(me: ScopedMemory) -> None:
    with pytest.raises(Invalid, match="besides"):
        me.recall("garden", besides=["the roses"])  # type: ignore[list-item]

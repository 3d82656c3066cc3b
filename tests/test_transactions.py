"""A transaction reads, thinks and writes as if nobody else had written in between."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from mnemic import Conflict, Invalid, Memory, NotFound
from mnemic.core.ids import ItemId
from mnemic.core.items import Kind, State, Version
from mnemic.core.queries import Filter
from mnemic.memory import ScopedMemory
from mnemic.verbs.statements import Statement
from mnemic.verbs.transacting import Transaction

PLANS = Filter(kinds=(Kind.PLAN,))


def plan(text: str) -> Statement:
    return Statement(text=text, kind=Kind.PLAN)


def add(me: ScopedMemory, text: str) -> int:
    return me.transact(PLANS, lambda seen: Transaction(answer=len(seen), write=(plan(text),)))


def texts(me: ScopedMemory) -> list[str]:
    return me.transact(PLANS, lambda seen: Transaction(answer=[v.item.text for v in seen]))


@pytest.fixture(params=["memory:", "file"])
def me(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ScopedMemory]:
    with Memory("memory:" if request.param == "memory:" else tmp_path / "m.db") as memory:
        yield memory.scope(user="ada")


def test_it_sees_what_stands_in_the_order_it_was_written(me: ScopedMemory) -> None:
    assert [add(me, f"plan {n}") for n in range(3)] == [0, 1, 2]
    assert texts(me) == ["plan 0", "plan 1", "plan 2"]


def test_writing_revising_and_hiding_are_one_commit_and_undone_as_one(me: ScopedMemory) -> None:
    for text in ("keep", "change", "hide"):
        add(me, text)

    def think(seen: Sequence[Version]) -> Transaction[None]:
        _, change, hide = (v.item.id for v in seen)
        return Transaction(answer=None, write=(plan("new"),), revise={change: {"text": "changed"}}, retire=(hide,))

    before = me.log(limit=1)[0].seq
    me.transact(PLANS, think)
    seq = me.log(limit=1)[0].seq
    assert (seq, sorted(texts(me))) == (before + 1, ["changed", "keep", "new"])
    me.undo(seq)
    assert sorted(texts(me)) == ["change", "hide", "keep"]


def test_without_edits_there_is_no_commit(me: ScopedMemory) -> None:
    add(me, "one")
    seq = me.log(limit=1)[0].seq
    assert texts(me) == ["one"]
    assert (
        me.transact(PLANS, lambda seen: Transaction(answer="same", revise={seen[0].item.id: {"text": "one"}})) == "same"
    )
    assert me.log(limit=1)[0].seq == seq


def test_what_thinking_raises_ends_it_and_nothing_is_written(me: ScopedMemory) -> None:
    def think(seen: Sequence[Version]) -> Transaction[None]:
        raise Invalid("plan", "is foolish", "Think again.")

    with pytest.raises(Invalid, match="foolish"):
        me.transact(PLANS, think)
    assert texts(me) == []


def test_it_is_thought_again_when_somebody_wrote_meanwhile(me: ScopedMemory) -> None:
    seen_lengths: list[int] = []

    def think(seen: Sequence[Version]) -> Transaction[None]:
        if not seen_lengths:
            add(me, "quicker")
        seen_lengths.append(len(seen))
        return Transaction(answer=None, write=(plan("slower"),))

    me.transact(PLANS, think)
    assert (seen_lengths, texts(me)) == ([0, 1], ["quicker", "slower"])


def test_two_programs_that_count_never_count_the_same(tmp_path: Path) -> None:
    def count(number: int) -> None:
        with Memory(tmp_path / "m.db") as memory:
            for _ in range(25):
                memory.scope(user="ada").transact(
                    PLANS, lambda seen: Transaction(answer=None, write=(plan(f"number {len(seen)}"),))
                )

    threads = [threading.Thread(target=count, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Memory(tmp_path / "m.db") as memory:
        assert texts(memory.scope(user="ada")) == [f"number {n}" for n in range(100)]


def test_it_edits_only_what_it_was_shown(me: ScopedMemory) -> None:
    turn = me.observe("I live in Paris.").id
    with pytest.raises(NotFound):
        me.transact(PLANS, lambda seen: Transaction(answer=None, retire=(turn,)))
    with pytest.raises(Invalid, match="evidence"):
        me.transact(Filter(), lambda seen: Transaction(answer=None, revise={turn: {"text": "Lisbon"}}))
    with pytest.raises(NotFound):
        me.transact(PLANS, lambda seen: Transaction(answer=None, retire=(ItemId("0" * 26),)))
    assert me.get(turn).item.state is State.ACTIVE


def test_a_key_that_came_with_other_content_ends_it(me: ScopedMemory) -> None:
    keyed = [Statement(text=text, kind=Kind.PLAN, key="k") for text in ("one", "two")]
    me.transact(PLANS, lambda seen: Transaction(answer=None, write=(keyed[0],)))
    with pytest.raises(Conflict, match="key"):
        me.transact(PLANS, lambda seen: Transaction(answer=None, write=(keyed[1],)))


def test_what_is_written_in_one_is_checked_as_by_the_verbs_of_their_own(me: ScopedMemory) -> None:
    mine = me.write("Ada's plan", kind=Kind.PLAN).id
    absent = ItemId("01m80tcg0krtwbemw058mp09as")
    with pytest.raises(NotFound, match="cite"):
        me.transact(PLANS, lambda seen: Transaction(answer=None, write=(Statement(text="x", source=(absent,)),)))
    for field in ("id", "kind", "agent", "channel", "nonsense"):
        with pytest.raises(Invalid, match=f"{field}: cannot be revised"):
            me.transact(PLANS, lambda seen, field=field: Transaction(answer=None, revise={mine: {field: "x"}}))
    me.transact(PLANS, lambda seen: Transaction(answer=None, write=(Statement(text="a part", source=(mine,)),)))
    assert [v.item.text for v in me.list()] == ["a part", "Ada's plan"]


def test_a_document_is_hidden_with_its_chunks(me: ScopedMemory) -> None:
    whole = me.observe("fox " * 20_000).ids[0]
    me.transact(Filter(kinds=[Kind.DOCUMENT]), lambda seen: Transaction(answer=None, retire=(whole,)))  # type: ignore[arg-type]
    assert me.count() == 0

"""A strategy with a unit is given the same pieces of a journal, whoever runs it when."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

import pytest

from mnemic import Kind
from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Version
from mnemic.core.tokens import count_tokens
from mnemic.derive import runs
from mnemic.flow import Flow
from mnemic.store.engine.snapshot import Snapshot
from mnemic.strategies.base import Edits, Given, pause
from mnemic.strategies.units import ExchangeUnit, ImportanceUnit, SessionUnit, TokensUnit, TurnUnit, Unit, lacks

sys.path.insert(0, str(Path(__file__).parent))
from scripted import INSIGHTS, Scripted, insight, opened

NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
UNITS = (TurnUnit(), ExchangeUnit(), SessionUnit(), TokensUnit(12), ImportanceUnit(2.5))


def said(n: int) -> dict[str, object]:
    """The n-th turn of a conversation of which sessions and exchanges have several lengths."""
    role = "user" if n % 5 in (0, 2) else "assistant"
    return {
        "messages": f"turn number {n}" + " and so on" * (n % 4),
        "role": role,
        "slots": {"importance": (n % 7) / 7},
    }


def merged(given: Given) -> Flow[Edits]:
    yield from ()
    first = given.evidence[0]
    text = f"{len(given.evidence)} from {first.text}"
    return Edits(write=(insight(first, text, source=tuple(turn.id for turn in given.evidence)),))


def view(unit: Unit, cuts: random.Random | None) -> list[str]:
    """What a strategy makes of the conversation, flushed once at the end, or run live now and then."""
    strategy = Scripted(merged)
    strategy.unit = unit
    strategy.batch = 4
    memory, me = opened("house", strategy)
    with memory:
        for n in range(24):
            memory.scope(user="ada", session=f"s{n // 9}").observe(**said(n))  # type: ignore[arg-type]
            if cuts is not None and cuts.random() < 0.4:
                if cuts.random() < 0.5:
                    memory._opened.background.serve(Event(), once=True)
                else:
                    assert memory.flush()
        assert memory.flush()
        return [one.item.text for one in me.list(where=INSIGHTS, limit=100)]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: type(unit).__name__)
def test_live_or_by_one_flush_one_journal_gives_one_view(unit: Unit) -> None:
    whole = view(unit, None)
    assert len(whole) > 1
    for seed in range(2):
        assert view(unit, random.Random(seed)) == whole


def test_without_roles_an_exchange_ends_when_whoever_began_it_speaks_again() -> None:
    def lengths(*speakers: str | None, role: int | None = None) -> int | None:
        slots = [{} if name is None else {"speaker": name} for name in speakers]
        if role is not None:
            slots[role]["role"] = "user"
        items = [
            Item(id=ItemId(f"{n:026d}"), kind=Kind.TURN, text="so", said=NEW_YEAR, slots={**one})
            for n, one in enumerate(slots)
        ]
        return ExchangeUnit().length(items)

    assert lengths("Ada", "Bob", "Ada") == lengths("Ada", "Bob", "Ada", "Bob", "Ada") == 2
    assert lengths("Ada", "Ada") == lengths(None, None) == 1
    assert lengths("Ada", "Bob", "Eve") is None
    assert lengths("Ada", "Bob", "Eve", role=2) == 2
    assert lengths() is None


def test_what_makes_no_unit_yet_waits_and_keeps_nobody_waiting() -> None:
    strategy = Scripted(merged)
    strategy.unit = ExchangeUnit()
    memory, me = opened(strategy)
    with memory:
        me.observe("how are you?", role="user")
        me.observe("well", role="assistant")
        assert memory.flush()
        memory._opened.background.serve(Event(), once=True)
        assert strategy.seen == []
        me.observe("good", role="user")
        memory._opened.background.serve(Event(), once=True)
        assert strategy.seen == [["how are you?", "well"]]
        (lane,) = [lane for lane in memory.admin.behind() if lane.lane == "scripted"]
        assert (lane.begun, lane.lacks) == (1, "the next turn of who asks")


@pytest.mark.parametrize(
    "unit", [one for one in UNITS if not isinstance(one, TurnUnit)], ids=lambda unit: type(unit).__name__
)
def test_what_an_unfinished_unit_lacks_is_told_until_it_is_complete(unit: Unit) -> None:
    items = [
        Item(id=ItemId(f"{n:026d}"), kind=Kind.TURN, text=f"turn {n}", said=NEW_YEAR, slots={"importance": 0.25})
        for n in range(2)
    ]
    assert unit.length(items[:1]) is None
    assert lacks(unit, items[:1])


def test_what_a_unit_lacks_and_what_completes_it_are_the_same_number() -> None:
    unit, items = TokensUnit(40), [
        Item(id=ItemId(f"{n:026d}"), kind=Kind.TURN, text=f"turn {n}", said=NEW_YEAR) for n in range(3)
    ]  # fmt: skip
    tokens = sum(count_tokens(item.text) for item in items)
    assert lacks(unit, items) == f"{40 - tokens} more tokens"
    assert lacks(TokensUnit(tokens + 1), items) == "1 more token"
    assert TokensUnit(tokens).length(items) == 3
    assert lacks(ImportanceUnit(2.0), items) == "0.5 more importance"


class OddUnit:
    """A unit that says nothing of what it lacks."""

    def length(self, items: Sequence[Item]) -> int | None:
        return None


def test_a_unit_of_ones_own_lacks_more_to_be_said() -> None:
    assert lacks(OddUnit(), []) == "more to be said"


def test_jobs_and_flush_count_the_same_of_what_makes_no_unit_yet() -> None:
    strategy = Scripted(merged)
    strategy.unit = TokensUnit(1_000)
    memory, me = opened("house", strategy)
    with memory:
        me.observe(["I live in Lisbon.", "I love tea."], role="user")
        assert memory.flush()
        me.write("Ada lives in Lisbon.")
        (lane,) = [lane for lane in memory.admin.behind() if lane.lane == "scripted"]
        (job,) = [job for job in memory.admin.jobs() if job.name == "scripted"]
        assert (job.pending, job.lacks) == (lane.begun, lane.lacks)
        assert (lane.pending, lane.begun) == (0, 2)
        assert re.fullmatch(r"9\d\d more tokens", lane.lacks)


def test_a_recall_by_one_whose_unit_is_not_complete_says_what_it_waits_for() -> None:
    strategy = Scripted(merged)
    strategy.unit = TokensUnit(1_000)
    memory, me = opened("house", strategy)
    with memory:
        me.observe("I live in Lisbon.", role="user")
        assert memory.flush()
        (note,) = [note for note in me.recall("Lisbon", by="scripted").notes if "derived nothing" in note]
        assert re.fullmatch(r"scripted has derived nothing here yet: it waits for 9\d\d more tokens", note)


def test_what_a_strategy_with_a_unit_wrote_itself_is_passed_over() -> None:
    strategy = Scripted(merged)
    strategy.unit = TurnUnit()
    memory, me = opened(strategy)
    with memory:
        me.observe("one")
        assert memory.flush()
        assert {lane.pending for lane in memory.admin.behind()} == {0}
        assert strategy.seen == [["one"]]


def test_a_unit_that_never_ends_is_cut_somewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "_LONGEST_UNIT", 4)
    strategy = Scripted(merged)
    strategy.unit = TokensUnit(1_000_000)
    memory, me = opened(strategy)
    with memory:
        me.observe(["many words " * 600, "two", "three", "four", "five"])
        assert memory.flush()
        assert len(strategy.seen) == 1


def test_a_unit_that_fails_is_halved_like_any_run() -> None:
    def chokes(given: Given) -> Flow[Edits]:
        yield from ()
        if any("poison" in turn.text for turn in given.evidence):
            raise ValueError("it chokes")
        return Edits()

    strategy = Scripted(chokes)
    strategy.unit = TokensUnit(8)
    memory, me = opened(strategy)
    with memory:
        clock = memory._opened.clock
        me.observe(["one two", "three four", "poison", "five six", "seven eight nine ten"])
        for _ in range(12):
            memory._opened.background.serve(Event(), once=True)
            clock.tick(120_000_000)  # type: ignore[attr-defined]
        assert len(memory.admin.dead()) == 1
        assert [text for texts in strategy.seen[-3:] for text in texts if text != "poison"]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: type(unit).__name__)
def test_what_comes_behind_a_unit_changes_nothing_about_it(unit: Unit) -> None:
    items = [
        Item(
            id=ItemId(f"{n:026d}"), kind=Kind.TURN, text=str(said(n)["messages"]), said=NEW_YEAR,
            slots={"role": str(said(n)["role"]), "importance": (n % 7) / 7}, session=f"s{n // 9}",
        )
        for n in range(40)
    ]  # fmt: skip
    assert unit.length([]) is None
    whole = unit.length(items)
    assert whole is not None
    for end in range(1, 40):
        assert unit.length(items[:end]) in ((None, whole) if end <= whole else (whole,))


def test_what_waits_for_more_is_counted_without_what_was_derived() -> None:
    def noted(given: Given) -> Flow[Edits]:
        yield from pause()
        return Edits(write=tuple(insight(item, f"noted: {item.text}") for item in given.evidence))

    strategy = Scripted(noted)
    strategy.unit = TokensUnit(6)
    memory, me = opened(strategy)
    with memory:
        me.observe(["one two three", "four five six", "seven"])
        assert memory.flush()
        (lane,) = [one for one in memory.admin.behind() if one.lane == "scripted"]
        assert (lane.pending, lane.begun) == (0, 1)


def test_a_run_reads_no_more_than_its_unit_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    def noted(given: Given) -> Flow[Edits]:
        yield from pause()
        return Edits(write=tuple(insight(item, f"noted: {item.text}") for item in given.evidence))

    read: list[int] = []
    looked_up = Snapshot.versions

    def counted(self: Snapshot, space: int, vers: Sequence[int]) -> dict[int, Version]:
        read.append(len(vers))
        return looked_up(self, space, vers)

    strategy = Scripted(noted)
    strategy.unit = TurnUnit()
    memory, me = opened(strategy)
    with memory:
        me.observe([f"turn {n}" for n in range(300)])
        monkeypatch.setattr(Snapshot, "versions", counted)
        assert memory.flush()
        assert me.count(where=INSIGHTS) == 300
    assert max(read) <= 64

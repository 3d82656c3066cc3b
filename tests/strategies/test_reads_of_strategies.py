"""What a run reads does not grow with what is known: steps of SQLite's machine are counted, not time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import apsw
import pytest

from mnemic import Memory, ScopedMemory, Settings
from mnemic.derive import runs
from mnemic.lab.kit.scripted_readers import ScriptedReader, terse
from mnemic.store.values.work import Lane
from mnemic.strategies.base import Strategy
from mnemic.strategies.mem0 import Mem0
from mnemic.strategies.units import TokensUnit
from mnemic.strategies.zep import Zep
from mnemic.testing.generators import ManualClock

SAID = datetime(2026, 3, 1, tzinfo=UTC)


class Steps:
    """The steps that SQLite's machine took since they were last asked for."""

    def __init__(self) -> None:
        self._taken = 0

    def note(self, event: dict[str, Any]) -> None:
        self._taken += event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]

    def since(self) -> int:
        taken, self._taken = self._taken, 0
        return taken


@contextmanager
def steps_counted() -> Iterator[Steps]:
    steps = Steps()

    def follow(db: apsw.Connection) -> None:
        db.trace_v2(apsw.SQLITE_TRACE_PROFILE, steps.note)

    apsw.connection_hooks.append(follow)
    try:
        yield steps
    finally:
        apsw.connection_hooks.remove(follow)


def told(memory: Memory, me: ScopedMemory, first: int, upto: int) -> None:
    for n in range(first, upto):
        text = f"I keep jar {n} of honey number {n} on shelf {n} of the {n % 97} cupboards."
        me.observe(text, role="user", speaker="Ada", said=SAID + timedelta(minutes=n))
    assert memory.flush()


def steps_of_a_run(strategy: Strategy, sizes: tuple[int, ...]) -> list[int]:
    """The steps of the runs over ten turns more, once so many have been read."""
    taken: list[int] = []
    with steps_counted() as steps:
        model = ScriptedReader("scripted:terse", terse)
        with Memory(
            "memory:", settings=Settings(background=False), clock=ManualClock(step=1), embedder="none",
            strategies=[strategy], model=model,
        ) as memory:  # fmt: skip
            me = memory.scope(user="ada")
            read = 0
            for size in sizes:
                told(memory, me, read, size)
                steps.since()
                told(memory, me, size, size + 10)
                taken.append(steps.since())
                read = size + 10
    return taken


@pytest.mark.parametrize(("strategy", "sizes"), [(Mem0(unit=TokensUnit(60)), (30, 200)), (Zep(), (30, 80))])
def test_a_run_reads_no_more_though_much_more_is_known(strategy: Strategy, sizes: tuple[int, int]) -> None:
    few, many = steps_of_a_run(strategy, sizes)
    assert many < 1.3 * few, (few, many)


def test_what_was_said_of_one_users_items_is_counted_without_reading_the_others() -> None:
    with steps_counted() as steps, Memory("memory:", settings=Settings(background=False), embedder="none") as memory:
        taken: list[int] = []
        (own,) = memory.scope(user="ada").observe("I keep bees.").ids
        memory.scope(user="ada").feedback(own, useful=True)
        bob = memory.scope(user="bob")
        (his,) = bob.observe("I keep hens.").ids
        for _ in range(2):
            with memory._opened.store.read() as snapshot:
                ((tenant, _),) = snapshot.tenants()
                (space,) = (one.id for one in snapshot.all_spaces(tenant) if one.user == "ada")
                steps.since()
                assert snapshot.judgements(space, 0, 0) == 1
                taken.append(steps.since())
            for _ in range(200):
                bob.feedback(his, useful=True)
        assert taken[1] < 1.2 * taken[0], taken


def test_a_tail_that_waits_for_more_does_not_have_what_others_wrote_behind_it_counted() -> None:
    """At each commit of another strategy its lane is looked at again: that read all that was written since."""
    counted: list[str] = []
    count = runs._counted

    def noting(snapshot: Any, strategy: Strategy, lane: Lane, waiting: Any) -> Any:
        counted.append(lane.name)
        return count(snapshot, strategy, lane, waiting)

    waits = Mem0(unit=TokensUnit(100_000))
    with (
        patch.object(runs, "_counted", noting),
        Memory(
            "memory:", settings=Settings(background=False), clock=ManualClock(step=1), embedder="none",
            strategies=[waits, Zep()],
        ) as memory,
    ):  # fmt: skip
        told(memory, memory.scope(user="ada"), 0, 12)
        assert {one.lane: one.begun for one in memory.admin.behind()}["mem0"] == 12
    assert "mem0" not in counted

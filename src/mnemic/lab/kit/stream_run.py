"""Run streams: for each memory and seed the same tasks in a row, each tried until it is done or the tries are used up.

Everything goes to one log, a record for each try, and every figure is recomputed from that (`stream_report`). All rows
draw the same lots.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemic.errors import Invalid
from mnemic.lab.kit.log import Log
from mnemic.lab.kit.output_places import log_at
from mnemic.lab.kit.stream_agents import RuleAgent
from mnemic.lab.kit.stream_memories import NONE, RETRY, memory_of
from mnemic.lab.kit.task_stream import attempt

if TYPE_CHECKING:
    from mnemic.lab.kit.task_stream import Advice, Attempt, MakeAgent, StreamMemory, StreamTask, StreamWorld

BENCH: Final = "stream"
Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPlan:
    """What is run.

    Attributes:
        rows: Memories by name; what they are compared with, `retry`, runs in any case.
        seeds: Streams, each with hidden rules of its own.
        tasks: In a row, each.
        tries: Most tries of a task; `none` has one.
        agent: Who acts, as the log names it.
    """

    rows: tuple[str, ...]
    seeds: int
    tasks: int
    tries: int
    first_seed: int = 0
    agent: str = "rules"

    def __post_init__(self) -> None:
        if len(set(self.rows)) < len(self.rows):
            raise Invalid("with", "names a memory twice", "Name each once.")
        for name, value in (("seeds", self.seeds), ("tasks", self.tasks), ("tries", self.tries)):
            if value < 1:
                raise Invalid(name, f"is {value}", "It takes one at least.")


def run_streams(
    world: StreamWorld,
    plan: StreamPlan,
    out: Path,
    *,
    make_agent: MakeAgent = RuleAgent,
    progress: Progress | None = None,
) -> Path:
    """Run all rows over all seeds; return the log.

    Raises:
        Invalid: there is no such memory, an agent's action is none, or the log cannot be created.
    """
    rows = plan.rows if RETRY in plan.rows else (RETRY, *plan.rows)
    makers = {row: memory_of(row) for row in rows}
    path = log_at(out, f"stream-{world.name}")
    with Log(path) as log:
        log.header(
            bench=BENCH, world=world.name, about=world.about, rows=rows, seeds=plan.seeds, first_seed=plan.first_seed,
            tasks_in_a_row=plan.tasks, tries=plan.tries, agent=plan.agent,
        )  # fmt: skip
        for row, make in makers.items():
            for nth in range(plan.seeds):
                memory = make()
                try:
                    stream = _Stream(world, memory, make_agent, log, row, plan.first_seed + nth)
                    stream.run(plan.tasks, 1 if row == NONE else plan.tries)
                finally:
                    memory.close()
                if progress is not None:
                    progress(row, nth + 1, plan.seeds)
        log.end()
    return path


@dataclass(frozen=True, slots=True)
class _Stream:
    """One row over the tasks of one seed."""

    world: StreamWorld
    memory: StreamMemory
    make_agent: MakeAgent
    log: Log
    row: str
    seed: int

    def run(self, tasks: int, tries: int) -> None:
        for place, task in enumerate(self.world.tasks(self.seed, tasks)):
            for nth in range(1, tries + 1):
                if self._tried(task, place, nth):
                    break

    def _tried(self, task: StreamTask, place: int, nth: int) -> bool:
        """Try a task once, and let the memory know: what was done, and whether what it told helped."""
        counting = _CountingMemory(self.memory)
        agent = self.make_agent(self.world, counting, f"{self.world.name} {self.seed} {place} {nth}")
        began = time.perf_counter()
        made = attempt(task, agent)
        acted = time.perf_counter()
        if made.used:
            self.memory.told(made.used, useful=made.trajectory.succeeded)
        self.memory.learn(made.trajectory)
        self._log(made, place, nth, counting, 1000 * (acted - began), 1000 * (time.perf_counter() - acted))
        return made.trajectory.succeeded

    def _log(
        self, made: Attempt, place: int, nth: int, counting: _CountingMemory, acting_ms: float, learning_ms: float
    ) -> None:
        done = made.trajectory
        self.log.add(
            "try", row=self.row, seed=self.seed, place=place, nth=nth, goal=done.task, succeeded=done.succeeded,
            why=done.why, actions=[step.action for step in done.steps],
            seen=done.steps[-1].observation if done.steps else "",
            unknown=made.unknown, looped=made.looped, used=len(made.used), recalled=counting.characters,
            recalls=counting.asked, acting_ms=round(acting_ms, 3), learning_ms=round(learning_ms, 3),
        )  # fmt: skip


class _CountingMemory:
    """Passes on what an agent asks its memory, and counts it."""

    def __init__(self, memory: StreamMemory) -> None:
        self._memory = memory
        self.asked = 0
        self.characters = 0
        self.told, self.learn, self.close = memory.told, memory.learn, memory.close

    def advise(self, question: str) -> Sequence[Advice]:
        advice = self._memory.advise(question)
        self.asked += 1
        self.characters += sum(len(one.text) for one in advice)
        return advice

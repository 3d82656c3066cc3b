"""What a session costs: a made-up talk of a million tokens spoken into one small window, with questions as it goes.

What a turn costs early and late, what memory takes, and whether facts of the first hundredth are found as well as those
of the last tenth.
"""

from __future__ import annotations

import ctypes
import gc
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.core.tokens import count_tokens
from mnemic.lab.kit.generate import Talk
from mnemic.lab.kit.run import Progress
from mnemic.memory import Memory
from mnemic.settings import Settings

if TYPE_CHECKING:
    from mnemic.session import Session


PLANTED: Final = 8
"""A fact is planted every so many turns."""

ASKED: Final = 50
"""Facts asked about from either end."""

PARTS: Final = 10
"""Stretches that a long talk is measured in."""

TOLD_EVERY: Final = 100
"""Turns between two signs of progress."""

_START: Final = datetime(2024, 1, 1, 8, tzinfo=UTC)
_THINGS: Final = "locker padlock alarm cellar bicycle router garage safe parcel gate"
_PLACES: Final = "Oakmoor Brindle Calder Dunmere Eastry Fenwick Garrow Holm Inverlee Jarrow Kelso Lorne"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """One part of a long talk: medians in milliseconds, memory at its end.

    Attributes:
        turn: What a turn costs, its share of the questions counted in: total time over turns.
        cpu: The same in processor time, which a busy machine disturbs less.
        considered: Entries that a question scored, at its end.
        resident: Megabytes of the process, with what the allocator keeps though nobody uses it: a question's arrays are
            as long as the memory, and their room is kept for the next.
        live, held: Megabytes of it once that was given back, and of those the catalogues'.
        pages: Pages that the session's table holds, resident or not.
    """

    tokens: int
    turns: int
    observe: float
    context: float
    turn: float
    cpu: float
    considered: int
    resident: float
    live: float
    held: float
    pages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LongTalk:
    """A long talk in a small window."""

    stretches: tuple[Stretch, ...]
    early: float
    late: float
    counters: Mapping[str, object] = field(default_factory=dict)

    @property
    def growth(self) -> float:
        """What a turn of the last stretch costs, of one of the first."""
        return self.stretches[-1].turn / self.stretches[0].turn

    @property
    def memory_growth(self) -> float:
        """What the process holds beside its catalogues after the last stretch, of what it did after the first."""
        first, last = (stretch.live - stretch.held for stretch in (self.stretches[0], self.stretches[-1]))
        return last / first

    @property
    def cpu_growth(self) -> float:
        """The same in processor time."""
        return self.stretches[-1].cpu / self.stretches[0].cpu


def long_talk(
    where: str, *, tokens: int, budget: int, every: int, policy: str | None, seed: int, progress: Progress
) -> LongTalk:
    """Speak `tokens` tokens into one session, asking `every` so many turns about something said before."""
    _warm(budget, policy)
    draw, planted, stretches = random.Random(seed), list[tuple[str, str]](), list[Stretch]()  # noqa: S311 - made-up text
    with (
        Memory(where, settings=Settings(background=False), embedder="none") as memory,
        memory.session("talk", user="ada", budget=budget, policy=policy) as session,
    ):
        said, spoken = _spoken(seed), 0
        for part in range(PARTS):
            meter = _Meter()
            while spoken < tokens * (part + 1) // PARTS:
                text, question, when = next(said)
                with meter.timed("observe"):
                    receipt = session.observe(text, role="user", said=when)
                spoken += count_tokens(text)
                if question:
                    planted.append((question, receipt.ids[0]))
                turns = len(meter.times["observe"])
                if turns % TOLD_EVERY == 1:
                    progress("talk", spoken, tokens)
                if turns % every == 0 and planted:
                    asked, _ = draw.choice(planted)
                    with meter.timed("context"):
                        meter.considered = session.context(asked, now=when).considered
            stretches.append(meter.stretch(spoken, memory, session))
        progress("talk", tokens, tokens)
        first = planted[: max(1, len(planted) // 100)]
        last = planted[-max(1, len(planted) // PARTS) :]
        early, late = (_share_recalled(session, draw.sample(some, min(len(some), ASKED))) for some in (first, last))
        return LongTalk(stretches=tuple(stretches), early=early, late=late, counters=session.counters.as_dict())


def _warm(budget: int, policy: str | None) -> None:
    """Speak a little elsewhere, so that nothing is compiled or imported while it is measured."""
    with (
        Memory("memory:", settings=Settings(background=False), embedder="none") as memory,
        memory.session("warm", user="ada", budget=budget, policy=policy) as session,
    ):
        for text, question, when in islice(_spoken(-1), 10 * PLANTED):
            session.observe(text, role="user", said=when)
            if question:
                session.context(question, now=when)


def _spoken(seed: int) -> Iterator[tuple[str, str, datetime]]:
    """Turns, the question to those that hold a planted fact, and when each is said."""
    draw, said = random.Random(f"facts:{seed}"), _START  # noqa: S311 - made-up text
    for number, message in enumerate(Talk(seed).messages(1 << 40)):
        said += timedelta(seconds=40)
        if number % PLANTED:
            yield message.text, "", said
            continue
        thing, place = draw.choice(_THINGS.split()), draw.choice(_PLACES.split())
        unit = number // PLANTED
        yield (
            f"Keep in mind that the {thing} code for unit {unit} in {place} is {draw.randrange(1000, 10000)}.",
            f"What is the {thing} code for unit {unit} in {place}?",
            said,
        )


def _share_recalled(session: Session, facts: Sequence[tuple[str, str]]) -> float:
    """The share of facts whose turn is in the window after their question."""
    hits = 0
    for question, item in facts:
        session.context(question)
        hits += any(page.id == item for page in session.window().pages)
    return hits / len(facts)


class _Meter:
    """Milliseconds of calls, by name."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = {"observe": [], "context": []}
        self.considered, self._cpu = 0, 0.0

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        began, cpu = time.perf_counter(), time.process_time()
        yield
        self._cpu += (time.process_time() - cpu) * 1000
        self.times[name].append((time.perf_counter() - began) * 1000)

    def stretch(self, tokens: int, memory: Memory, session: Session) -> Stretch:
        resident, held = _megabytes(), memory._opened.kernel.catalogues.nbytes / 1e6
        _give_back()
        seconds = sum(map(sum, self.times.values()))
        return Stretch(
            tokens=tokens,
            turns=len(self.times["observe"]),
            observe=float(np.median(self.times["observe"])),
            context=float(np.median(self.times["context"] or [float("nan")])),
            turn=seconds / len(self.times["observe"]),
            cpu=self._cpu / len(self.times["observe"]),
            considered=self.considered,
            resident=resident,
            live=_megabytes(),
            held=held,
            pages=session.known_pages,
        )


def _give_back() -> None:
    """Have the allocator return what is free; one that cannot keeps it."""
    gc.collect()
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _megabytes() -> float:
    """What the process holds now."""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024

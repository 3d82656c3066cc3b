"""What metering takes from a write: processor time with meters and without, in turns on the same store."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mnemic.flow import Request
from mnemic.lab.kit.generate import Talk
from mnemic.lab.tasks.speed_bench import Figure
from mnemic.memory import Memory, ScopedMemory
from mnemic.settings import Settings
from mnemic.watching.metering import Meters, Timed

if TYPE_CHECKING:
    from mnemic.ingest.message import Message

TURN: Final = 10
"""Writes with meters, then as many without."""


class _Silent(Timed):
    """A verb that nobody times."""

    __slots__ = ()

    def __enter__(self) -> _Silent:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to count."""


class Unmetered(Meters):
    """Meters that count nothing and time nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._silent = _Silent(self, "", "", None, "")

    def verb(self, name: str, who: object, asked: str = "") -> Timed:
        return self._silent

    def answered(self, request: Request, perform: Callable[[Request], Any]) -> Any:
        return perform(request)


def metered(folder: Path, writes: int, seed: int) -> Figure:
    """How much dearer a single observe is with meters, in processor time of its thread.

    Args:
        writes: With meters, and as many without.
    """
    spent: dict[bool, list[float]] = {True: [], False: []}
    talk = Talk(seed).messages(2 * writes + TURN)
    settings = Settings(background=False, mask_secrets=False)
    with Memory(folder / "metered.db", settings=settings, embedder="none") as memory:
        me = memory.scope(user="ada")
        me.observe(list(islice(talk, TURN)))
        for start in range(0, writes, TURN):
            for on in (True, False):
                messages = list(islice(talk, min(TURN, writes - start)))
                with _meters(memory, None if on else Unmetered()):
                    spent[on] += _processor_times(me, messages)
    # Other work on the machine only ever adds: the quicker half is what a write takes.
    with_, without = (float(np.percentile(spent[on], 25)) for on in (True, False))
    return Figure(
        name="single durable observe: processor time with meters, against without",
        value=with_ / without,
        unit="x",
        bar=None,
        detail=f"first quartiles {with_:.3f} ms against {without:.3f} ms, {writes} writes each, in turns of {TURN}",
    )


@contextmanager
def _meters(memory: Memory, other: Meters | None) -> Iterator[None]:
    """Have a memory count with other meters for a while, or with its own for None."""
    background = memory._opened.background
    own = background.meters
    background.meters = other or own
    try:
        yield
    finally:
        background.meters = own


def _processor_times(me: ScopedMemory, messages: Sequence[Message]) -> Iterator[float]:
    """Milliseconds of each write."""
    for message in messages:
        began = time.thread_time_ns()
        me.observe([message])
        yield (time.thread_time_ns() - began) / 1e6

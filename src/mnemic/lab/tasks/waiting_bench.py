"""What a slow language model costs who does not wait for it: writes beside a strategy that does, and calls in flight.

Writes are measured as in `busy_bench`. Of calls it is the processor time of this process: the endpoint that they wait
for is another's, so all of it is ours.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from mnemic.lab.kit.figures import Figure, Measurements
from mnemic.lab.kit.log import provenance
from mnemic.lab.kit.slow_chat import SlowChat, slow_endpoint
from mnemic.lab.tasks.busy_bench import BusyLoad, busy_figures, busy_rounds
from mnemic.memory import Memory
from mnemic.models.chat.base import Ask, ChatMessage, Reply
from mnemic.models.chat.openai_chat import ChatEndpoint
from mnemic.models.model_requests import AskEach
from mnemic.settings import Settings
from mnemic.store.sqlite.disk import file_system
from mnemic.strategies.mem0 import Mem0

ANSWER_SECONDS: Final = 0.05
"""How long the strategy waits for an answer: the shorter, the more of its own work lies beside a write."""

IN_FLIGHT: Final = 16
CALL_SECONDS: Final = 0.5
"""How long an endpoint takes whose calls are counted: long enough for all to be under way at once."""

CALLS_BAR: Final = 1.2
"""How much more processor time a call may take among as many."""


def bench_waiting(load: BusyLoad, progress: Callable[[str], None] = lambda _: None) -> Measurements:
    """Measure, on files that are gone afterwards."""
    with TemporaryDirectory(prefix="mnemic-waiting-") as folder:
        path = Path(folder) / "memory.db"
        opened = {"embedder": "none", "strategies": [Mem0()], "model": SlowChat(ANSWER_SECONDS)}
        idle, busy, did = busy_rounds(path, load, progress, **opened)
        figures = [*busy_figures(idle, busy, did, "a worker that waits for a language model"), *_calls(load, progress)]
        disk = file_system(Path(folder))
    header = {**provenance(), "load": asdict(load), "answer_seconds": ANSWER_SECONDS, "file_system": disk}
    return Measurements(header=header, figures=tuple(figures))


def _calls(load: BusyLoad, progress: Callable[[str], None]) -> Iterator[Figure]:
    """Compare the processor time of calls one after the other with that of as many side by side, in turns."""
    alone: list[float] = []
    together: list[float] = []
    with slow_endpoint(CALL_SECONDS) as url:
        settings = Settings(background=False, embedder="none")
        with Memory("memory:", settings=settings, strategies=[], model=ChatEndpoint("slow", url)) as memory:
            _processor_ms(memory, IN_FLIGHT)  # what is imported at the first calls is no call's
            for number in range(load.rounds):
                progress(f"calls, round {number + 1} of {load.rounds}")
                alone.append(sum(_processor_ms(memory, 1) for _ in range(4)) / 4)
                together.append(_processor_ms(memory, IN_FLIGHT) / IN_FLIGHT)
    # Other work on the machine only ever adds: the quicker half is what a call takes.
    alone_ms, each = (float(np.percentile(times, 25)) for times in (alone, together))
    yield Figure(
        name=f"a call among {IN_FLIGHT} in flight: processor time outside the model, against one alone",
        value=each / alone_ms,
        unit="x",
        bar=CALLS_BAR,
        detail=f"first quartiles {each:.2f} ms against {alone_ms:.2f} ms a call of {CALL_SECONDS} s, "
        f"{load.rounds} rounds",
    )


def _processor_ms(memory: Memory, calls: int) -> float:
    """Milliseconds of processor time of so many calls at once."""
    asks = tuple(Ask((ChatMessage("user", f"Say {n}."),), 64) for n in range(calls))
    began = time.process_time()
    answers = memory._opened.answering.perform(AskEach(asks))
    milliseconds = (time.process_time() - began) * 1000
    assert all(isinstance(answer, Reply) for answer in answers), answers
    return milliseconds

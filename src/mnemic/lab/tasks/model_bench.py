"""Each strategy that asks a model, and `read`, over a few turns with a real one: whether every answer comes to an end.

It says nothing about how good what they derive is: it counts calls, sound answers, repairs and rules that stood in, and
holds that every turn is kept as it was said and that none is given up, however badly the model answers.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from mnemic.core.items import Kind
from mnemic.core.queries import Filter
from mnemic.errors import ModelError
from mnemic.lab.kit.figures import Figure, Measurements, beside_bars, show
from mnemic.lab.kit.log import provenance
from mnemic.lab.kit.tables import TextTable, aligned
from mnemic.memory import Memory
from mnemic.models.chat.base import Ask, Chat, CutOff, Pieces
from mnemic.models.chat.soundness import is_sound
from mnemic.models.model_requests import JudgedBy
from mnemic.settings import Settings
from mnemic.strategies.hippo2 import Hippo2
from mnemic.strategies.mem0 import Mem0
from mnemic.strategies.memoryos import MemoryOS
from mnemic.strategies.stream import Stream
from mnemic.strategies.units import TurnUnit
from mnemic.strategies.zep import Zep

if TYPE_CHECKING:
    from mnemic.memory import ScopedMemory
    from mnemic.strategies.base import Strategy

READ: Final = "read"
"""How the reading of a long text is named beside strategies."""

FOLLOWED: Final[Mapping[str, Callable[[], Strategy]]] = {
    "mem0": lambda: Mem0(unit=TurnUnit()),
    "stream": lambda: Stream(unit=TurnUnit()),
    "memoryos": lambda: MemoryOS(unit=TurnUnit(), hot=2.0),
    "zep": Zep,
    "hippo2": Hippo2,
}
"""Strategies by name; those that wait for more turns than a trial has are given each by itself, each a hot page."""

TRIED: Final = (*FOLLOWED, READ)

TURNS: Final = (
    ("Ada", "I moved from Paris to Lisbon in March."),
    ("Ada", "我对花生过敏。"),
    ("Ada", "Ben works at the harbour, and he is my brother."),
    ("Ada", "I no longer live in Lisbon: I moved to Porto last week."),
)
LIMIT: Final = 2_048
"""Most tokens of an answer that any task asks for."""

QUESTION: Final = "Where does Ada live?"


@dataclass(slots=True)
class ModelCallNote:
    """What one call of a model came to.

    Attributes:
        cut: The answer was cut off.
        error: Why there was none; "" if there was one.
    """

    task: str
    seconds: float = 0.0
    sound: bool = False
    cut: bool = False
    error: str = ""
    text: str = ""


class NotingChat:
    """A model whose calls are noted, each with its answer; safe for many threads.

    Args:
        noted: Told of each call at its end.
        limit: Most tokens of an answer, whatever is asked for: a small model may babble up to any limit.
    """

    def __init__(self, chat: Chat, noted: Callable[[ModelCallNote], None], limit: int) -> None:
        self.name, self._chat, self._noted, self._limit = chat.name, chat, noted, limit
        self.notes: list[ModelCallNote] = []

    def stream(self, ask: Ask) -> Pieces:
        """The model's own answer."""
        note, began = ModelCallNote(ask.task), time.monotonic()
        self.notes.append(note)
        try:
            reply = yield from self._chat.stream(replace(ask, limit=min(ask.limit, self._limit)))
            note.text, note.sound = reply.text, is_sound(ask, reply)
            return reply
        except CutOff as cut:
            note.text, note.cut = cut.reply.text, True
            raise
        except ModelError as error:
            note.error = str(error)
            raise
        finally:
            note.seconds = round(time.monotonic() - began, 3)
            self._noted(note)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTrial:
    """What a strategy came to with a model.

    Attributes:
        judged: How many tasks were judged by whom (`JudgedBy`).
        derived: Items that it wrote; of a reading its notes.
        kept, said: Turns that stand word for word, of those that were said.
        dead: Turns that it gave up.
        error: Of the model, if the run ended in one.
        seconds: From the first turn to the end.
    """

    strategy: str
    calls: tuple[ModelCallNote, ...]
    judged: Mapping[str, int]
    derived: int
    kept: int
    said: int
    dead: int
    error: str
    seconds: float


def bench_model(
    chat: Chat,
    names: Sequence[str] = TRIED,
    turns: int = 2,
    limit: int = LIMIT,
    folder: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[Measurements, list[ModelTrial]]:
    """Try a model with each strategy, in a store in memory of its own.

    Args:
        turns: How many of `TURNS` are said.
        limit: Most tokens of an answer.
        folder: Where the calls of each trial are written, one a line, with what was answered.
    """
    trials = []
    for name in names:
        progress(f"{name}: {turns} turns")
        model = NotingChat(chat, partial(_note_call, name, folder, progress), limit)
        trials.append(_tried(model, name, TURNS[:turns]))
    header = {**provenance(), "model": chat.name, "trials": [asdict(trial) for trial in trials]}
    return Measurements(header=header, figures=tuple(_figures(trials))), trials


def _note_call(name: str, folder: Path | None, progress: Callable[[str], None], call: ModelCallNote) -> None:
    """Tell of a call that has ended, and write it behind those before."""
    progress(f"{name}: {call.task}, {call.seconds:.1f} s")
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f"{name}.jsonl").open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(asdict(call), ensure_ascii=False)}\n")


def _tried(model: NotingChat, name: str, turns: Sequence[tuple[str, str]]) -> ModelTrial:
    began, error, derived = time.monotonic(), "", 0
    followed = [] if name == READ else [FOLLOWED[name]()]
    settings = Settings(background=False, embedder="none")
    with Memory("memory:", settings=settings, strategies=followed, model=model) as memory:
        me = memory.scope(user="ada")
        for speaker, text in turns:
            me.observe(text, speaker=speaker)
        judged: Mapping[str, int] = {}
        try:
            if followed:
                memory.flush()
                derived = len(me.list(where=Filter(by=(name,)), limit=500))
                judged = _judged(memory)
            else:
                derived, judged = _read(me, turns)
        except ModelError as failed:
            error = str(failed)
        kept = {version.item.text for version in me.list(where=Filter(kinds=(Kind.TURN,)), limit=500)}
        return ModelTrial(
            strategy=name,
            calls=tuple(model.notes),
            judged=judged,
            derived=derived,
            kept=sum(text in kept for _, text in turns),
            said=len(turns),
            dead=len(memory.admin.dead()),
            error=error,
            seconds=round(time.monotonic() - began, 1),
        )


def _read(me: ScopedMemory, turns: Iterable[tuple[str, str]]) -> tuple[int, Mapping[str, int]]:
    reading = me.read(QUESTION, "\n".join(f"{speaker}: {text}" for speaker, text in turns))
    return len(reading.notes), reading.judged


def _judged(memory: Memory) -> Mapping[str, int]:
    """Who judged, all tasks together."""
    counts: Counter[str] = Counter()
    for name, count in memory._opened.answering.meters.measured().gauges.items():
        if name.startswith("judged."):
            counts[name.rpartition(".")[2]] += int(count)
    return counts


def _figures(trials: Sequence[ModelTrial]) -> Iterable[Figure]:
    for trial in trials:
        whole = trial.kept - trial.dead - trial.said * bool(trial.error)
        yield Figure(
            name=f"{trial.strategy}: turns kept as they were said, and digested to the end",
            value=whole,
            unit=f"of {trial.said}",
            bar=trial.said,
            more=True,
            detail=trial.error,
        )


def show_trials(measured: Measurements, trials: Sequence[ModelTrial], stream: TextIO, *, as_json: bool) -> None:
    """Write what was tried as two tables, or all of it as JSON."""
    if as_json:
        show(measured, stream, as_json=True)
        return
    kept = beside_bars("Whatever the model answers", measured.figures)
    stream.write(f"{aligned(_trial_table(str(measured.header['model']), trials))}\n\n{aligned(kept)}\n")


def _trial_table(model: str, trials: Sequence[ModelTrial]) -> TextTable:
    """A line for each strategy: what was asked, how it was answered, who judged in the end."""
    rows = []
    for trial in trials:
        calls, judged = trial.calls, trial.judged
        seconds = sum(call.seconds for call in calls)
        rows.append(
            (
                trial.strategy,
                str(len(calls)),
                str(sum(call.sound for call in calls)),
                str(sum(call.cut for call in calls)),
                str(sum(bool(call.error) for call in calls)),
                str(judged.get(JudgedBy.ANSWER, 0)),
                str(judged.get(JudgedBy.REPAIR, 0)),
                str(judged.get(JudgedBy.RULES, 0)),
                str(trial.derived),
                f"{seconds / max(len(calls), 1):.1f}",
                f"{trial.seconds:.1f}",
            )
        )
    columns = (
        "",
        "calls",
        "sound",
        "cut off",
        "failed",
        "by answer",
        "by repair",
        "by rules",
        "derived",
        "s a call",
        "s",
    )
    return TextTable(model, columns, tuple(rows))

"""What a session costs and keeps: a talk of a million tokens in a small window, and the prefix of a window reused.

Two parts. `long_talk` speaks one made-up conversation into one session and asks as it goes: what a turn costs early and
late, what memory takes, and whether facts of the first hundredth are found as well as those of the last tenth. `prefix`
plays published conversations, each question asked at a moment drawn after its evidence: how much of each window stood
where it stood before, and how much of the evidence is in it, beside `context` packing the same budget anew.
"""

from __future__ import annotations

import csv
import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

import numpy as np

from mnemic.core.cut import count_tokens
from mnemic.lab.datasets import UNANSWERABLE, Corpus, Dataset, Question
from mnemic.lab.generate import Talk
from mnemic.lab.tables import Table, aligned
from mnemic.memory import Memory
from mnemic.settings import Settings

if TYPE_CHECKING:
    from mnemic.models.base import Embedder
    from mnemic.session import Session

Told = Callable[[str, int, int], None]

PLANTED: Final = 8
"""A fact is planted every so many turns."""

ASKED: Final = 50
"""Facts asked about from either end."""

PARTS: Final = 10
"""Stretches that a long talk is measured in."""

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
        resident, held: Megabytes of the process, and of those the catalogues'.
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
    def cpu_growth(self) -> float:
        """The same in processor time."""
        return self.stretches[-1].cpu / self.stretches[0].cpu


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """Windows over published conversations.

    Attributes:
        found, packed: The share of the evidence that is in the window after a question, and in `context` of the same
            budget; the mean over questions.
        reuse: The share of window tokens that stood where they stood the time before, over all windows shown.
    """

    policy: str
    questions: int
    windows: int
    found: float
    packed: float
    reuse: float
    hit_rate: float


def long_talk(
    where: str, *, tokens: int, budget: int, every: int, policy: str | None, seed: int, told: Told
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
                if len(meter.times["observe"]) % every == 0 and planted:
                    asked, _ = draw.choice(planted)
                    with meter.timed("context"):
                        meter.considered = session.context(asked, now=when).considered
            stretches.append(meter.stretch(spoken, memory, session))
            told("talk", spoken, tokens)
        first = planted[: max(1, len(planted) // 100)]
        last = planted[-max(1, len(planted) // PARTS) :]
        early, late = (_found(session, draw.sample(some, min(len(some), ASKED))) for some in (first, last))
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


def _found(session: Session, facts: Sequence[tuple[str, str]]) -> float:
    """The share of facts whose turn is in the window after their question."""
    hits = 0
    for question, item in facts:
        session.context(question)
        hits += any(page.id == item for page in session.window.pages)
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
        spent = sum(map(sum, self.times.values()))
        return Stretch(
            tokens=tokens,
            turns=len(self.times["observe"]),
            observe=float(np.median(self.times["observe"])),
            context=float(np.median(self.times["context"] or [float("nan")])),
            turn=spent / len(self.times["observe"]),
            cpu=self._cpu / len(self.times["observe"]),
            considered=self.considered,
            resident=resident,
            held=held,
            pages=session.known_pages,
        )


def _megabytes() -> float:
    """What the process holds now."""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def prefix(
    data: Dataset, *, budget: int, policy: str | None, seed: int, embedder: Embedder | None, told: Told
) -> Prefix:
    """Play each conversation as one session; a window is shown after each turn and after each question."""
    found: list[float] = []
    packed: list[float] = []
    reused = rendered = windows = hits = references = 0
    name = ""
    for number, corpus in enumerate(data.corpora):
        told("conversations", number, len(data.corpora))
        with (
            Memory("memory:", settings=Settings(background=False), embedder=embedder or "none") as memory,
            memory.session("talk", user="ada", budget=budget, policy=policy) as session,
        ):
            for inside, beside in _played(memory, session, corpus, data.questions, seed):
                found.append(inside)
                packed.append(beside)
            counted, name = session.counters, session.policy
            reused, rendered = reused + counted.reused, rendered + counted.rendered
            hits, references = hits + counted.hits, references + counted.references
            windows += len(corpus.docs)
    return Prefix(
        policy=name,
        questions=len(found),
        windows=windows + len(found),
        found=float(np.mean(found)),
        packed=float(np.mean(packed)),
        reuse=reused / rendered,
        hit_rate=hits / max(references, 1),
    )


def _played(
    memory: Memory, session: Session, corpus: Corpus, questions: Sequence[Question], seed: int
) -> Iterator[tuple[float, float]]:
    """For each question the share of its evidence in the window, and in `context` of the same budget."""
    me, ids = memory.scope(user="ada"), dict[str, str]()
    for place, asked in enumerate(_schedule(corpus, questions, seed)):
        doc = corpus.docs[place]
        ids[doc.id] = session.observe(doc.text, speaker=doc.speaker, said=doc.said).ids[0]
        session.messages()
        if asked and memory.settings.embedder != "none":
            memory.flush()
        for question in asked:
            gold = {ids[one] for one in question.gold}
            session.context(question.text, now=doc.said)
            here = {page.id for page in session.window.pages}
            beside = {one.id for one in me.context(question.text, budget=session.budget, now=doc.said)}
            yield len(gold & here) / len(gold), len(gold & beside) / len(gold)


def _schedule(corpus: Corpus, questions: Sequence[Question], seed: int) -> list[list[Question]]:
    """The questions asked after each turn: each at a moment drawn after the last of its evidence."""
    draw = random.Random(f"{corpus.ns}:{seed}")  # noqa: S311 - a workload, not a secret
    places = {doc.id: place for place, doc in enumerate(corpus.docs)}
    asked: list[list[Question]] = [[] for _ in corpus.docs]
    for question in questions:
        if question.ns == corpus.ns and question.gold and question.category not in UNANSWERABLE:
            last = max(places[one] for one in question.gold)
            asked[draw.randint(last, len(corpus.docs) - 1)].append(question)
    return asked


def tables(long: LongTalk | None, windows: Sequence[Prefix]) -> list[Table]:
    """What was measured, beside what it must show."""
    made = []
    if long is not None:
        rows = tuple(_stretch_cells(one) for one in long.stretches)
        head = (
            "tokens",
            "observe ms",
            "context ms",
            "turn ms",
            "CPU ms",
            "scored",
            "RSS MB",
            "catalogue MB",
            "pages held",
        )
        made.append(Table("One session, stretch by stretch", head, rows, ()))
        made.append(
            Table(
                "Must show",
                ("figure", "measured", "bar"),
                (
                    ("cost of a turn, last tenth over first", f"{long.growth:.2f}", "<= 1.2"),
                    ("the same in processor time", f"{long.cpu_growth:.2f}", "<= 1.2"),
                    ("facts of the first 1 % in the window when asked", f"{long.early:.1%}", "as late"),
                    ("facts of the last 10 %", f"{long.late:.1%}", ""),
                ),
            )
        )
    if windows:
        named = ("policy", "questions", "windows", "evidence in window", "in context()", "prefix reused", "hit rate")
        made.append(Table("Prefix reuse", named, tuple(map(_prefix_cells, windows))))
    return made


def _stretch_cells(one: Stretch) -> tuple[str, ...]:
    return (
        f"{one.tokens:,}", f"{one.observe:.2f}", f"{one.context:.2f}", f"{one.turn:.2f}", f"{one.cpu:.2f}",
        f"{one.considered:,}", f"{one.resident:.0f}", f"{one.held:.1f}", f"{one.pages:,}",
    )  # fmt: skip


def _prefix_cells(one: Prefix) -> tuple[str, ...]:
    return (
        one.policy, f"{one.questions:,}", f"{one.windows:,}", f"{one.found:.1%}", f"{one.packed:.1%}",
        f"{one.reuse:.1%}", f"{one.hit_rate:.1%}",
    )  # fmt: skip


def record(long: LongTalk | None, windows: Sequence[Prefix]) -> dict[str, object]:
    """The same for machines."""
    talk = None
    if long is not None:
        stretches = [{name: getattr(one, name) for name in Stretch.__slots__} for one in long.stretches]
        talk = {
            "stretches": stretches,
            "growth": long.growth,
            "cpu_growth": long.cpu_growth,
            "early": long.early,
            "late": long.late,
            "counters": dict(long.counters),
        }
    return {"long": talk, "prefix": [{name: getattr(one, name) for name in Prefix.__slots__} for one in windows]}


def write_csv(long: LongTalk, path: Path) -> None:
    """The stretches of a long talk, one line each."""
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(Stretch.__slots__)
        out.writerows([getattr(one, name) for name in Stretch.__slots__] for one in long.stretches)


def show(long: LongTalk | None, windows: Sequence[Prefix], stream: TextIO, *, as_json: bool) -> None:
    """Write what was measured."""
    if as_json:
        stream.write(json.dumps(record(long, windows), indent=2) + "\n")
    else:
        stream.write("\n\n".join(aligned(one) for one in tables(long, windows)) + "\n")

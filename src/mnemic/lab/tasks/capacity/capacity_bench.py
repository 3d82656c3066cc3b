"""The text sweep: chunks of a large text streamed in order, and how much of them a hot tier of so many pages answers.

The sweep is MemorySpace's: chunks of 512 bytes, a question every 10 of them, a sliding window and a reservoir beside
every policy. mnemic takes the chunks in through its public API, each a sitting of its own so that no neighbour lends it
words, and is asked as the stream goes, once a question for all policies and capacities: its ranking over all that has
come, `DEPTH` deep. What a hot tier alone finds first is the first of that ranking which it holds, so that scores do not
depend on what is resident, and what stands below `DEPTH` nobody finds. With the archive the first of the ranking is the
answer, and if it was not in the tier it is a page fault, and comes in.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from mnemic.collecting.housekeeping import Collected
from mnemic.core.ids import ItemId
from mnemic.errors import Invalid
from mnemic.ingest.message import Message
from mnemic.lab.kit.log import Log
from mnemic.lab.kit.output_places import log_at
from mnemic.lab.kit.run import Progress, silent
from mnemic.lab.tasks.capacity.cues import Asker, Cue
from mnemic.lab.tasks.capacity.hot_tier import BASELINES, Foresight, HotTier, chosen_policies, make_policy, weighs
from mnemic.lab.tasks.capacity.plain_text import SIZE, Text, read_text
from mnemic.lab.tasks.capacity.sighted import Sighted
from mnemic.tiers.base import Page
from mnemic.tiers.features import Reader

DEPTH: Final = 20
"""How deep a ranking is kept."""

EVERY: Final = 10
"""Chunks between questions, as in MemorySpace."""

CAPACITIES: Final = ("0.1%", "0.5%", "2%", "10%", "50%")
"""Pages of the hot tier, as shares of all chunks."""

KEPT: Final = "1000 commits"
"""The past that the archive keeps when its garbage is collected, after the stream."""

WEIGHABLE: Final = 500
"""The largest capacity at which a policy that weighs every page for each that leaves is run: it says so where not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSweep:
    """What is swept.

    Attributes:
        laws: Of age, from `cues.LAWS`.
        capacities: In pages, or in per cent of all chunks (`2%`).
        policies: Names of the registry; None for all.
        limit: Chunks read; None for all there are.
        every: Chunks between questions.
    """

    laws: Sequence[str] = ("recent", "uniform")
    capacities: Sequence[str] = CAPACITIES
    policies: Sequence[str] | None = None
    limit: int | None = None
    every: int = EVERY
    size: int = SIZE
    seed: int = 0


@dataclass(frozen=True, slots=True)
class StreamQuestion:
    """A question, and the memory's answer when it was asked.

    Attributes:
        seen: How many chunks had come.
        ranked: Chunks, best first.
        milliseconds: How long the recall took.
    """

    seen: int
    cue: Cue
    ranked: tuple[int, ...]
    milliseconds: float


@dataclass(frozen=True, slots=True)
class TierMeasurement:
    """One hot tier over a whole stream.

    Attributes:
        found: For each question, whether the first of its ranking that the tier holds is right.
        hits: For each, whether the first of all was in the tier.
    """

    found: tuple[bool, ...]
    hits: tuple[bool, ...]
    evictions: int
    write_backs: int
    seconds: float


Row: TypeAlias = tuple[str, int, bool]
"""A policy, a capacity, and whether there is an archive behind the tier."""


def bench_capacity(path: Path, *, out: Path, sweep: TextSweep = TextSweep(), progress: Progress = silent) -> Path:
    """Run a sweep, and say where its log is.

    Args:
        out: The log's file, or a folder for it.

    Raises:
        Invalid: no text, or something in `sweep` that there is not.
    """
    policies = chosen_policies(sweep.policies)
    askers = [Asker(law, sweep.seed) for law in sweep.laws]
    text = read_text(path, size=sweep.size, limit=sweep.limit)
    capacities = pages_of(sweep.capacities, len(text.chunks))
    where = log_at(out, f"capacity-{text.name.split('.')[0] or 'text'}")
    with Log(where) as log:
        log.header(**_facts(text, sweep, capacities, policies))
        asked, collected = stream(text.chunks, askers, sweep.every, progress, partial(_log_question, log))
        _log_collected(log, collected)
        pages = pages_in(text.chunks)
        for law, questions in asked.items():
            rows = list(_rows(policies, capacities))
            for n, row in enumerate(rows, start=1):
                _log_row(log, law, row, measure(pages, questions, row, sweep.seed))
                progress(f"{law}: hot tiers", n, len(rows))
        log.end()
    return where


def stream(
    chunks: Sequence[str],
    askers: Sequence[Asker],
    every: int,
    progress: Progress = silent,
    heard: Callable[[str, StreamQuestion], None] = lambda law, asked: None,
) -> tuple[dict[str, list[StreamQuestion]], Collected]:
    """Take a text in, ask every so many chunks, by each law, and collect the archive's garbage at the end.

    Args:
        heard: Told each question with its answer as it is given.
    """
    asked: dict[str, list[StreamQuestion]] = {asker.law: [] for asker in askers}
    with closing(Sighted()) as memory:
        for start in range(0, len(chunks), every):
            seen = min(start + every, len(chunks))
            memory.observe([_message(n, chunks[n]) for n in range(start, seen)])
            for asker in askers:
                cue = asker.ask(chunks, seen)
                if cue is not None:
                    asked[asker.law].append(_answered(memory, cue, seen))
                    heard(asker.law, asked[asker.law][-1])
            progress("stream", seen, len(chunks))
        return asked, memory.collect(KEPT)


def measure(pages: Sequence[Page], questions: Sequence[StreamQuestion], row: Row, seed: int) -> TierMeasurement:
    """Run one hot tier over the stream, as it was asked."""
    name, capacity, archive = row
    wanted = [_wanted(asked_question, archive) for asked_question in questions]
    policy = make_policy(name, seed, _reads(pages, wanted))
    tier = HotTier(policy, capacity, archive=archive)
    found_first, hits = [], []
    began = time.perf_counter()
    arrived = 0
    for number, question in enumerate(questions):
        for newcomer in pages[arrived : question.seen]:
            tier.arrive(newcomer)
        arrived = max(arrived, question.seen)
        if isinstance(policy, Foresight):
            policy.asked(number, [pages[n] for n in wanted[number]])
        first = next((at for at, n in enumerate(question.ranked) if pages[n].id in tier.resident), None)
        found_first.append(first is not None and question.ranked[first] == question.cue.target)
        hits.append(first == 0)
        used = question.ranked[:1] if archive else question.ranked[first : first + 1] if first is not None else ()
        tier.use([pages[n] for n in used])
    for newcomer in pages[arrived:]:
        tier.arrive(newcomer)
    counts = tier.counters
    return TierMeasurement(
        tuple(found_first), tuple(hits), counts.evictions, counts.write_backs, round(time.perf_counter() - began, 3)
    )


def pages_of(capacities: Sequence[str], chunks: int) -> tuple[int, ...]:
    """Capacities in pages, ascending.

    Raises:
        Invalid: one is neither a number of pages nor a percentage.
    """
    return tuple(sorted({_pages(capacity, chunks) for capacity in capacities}))


def _pages(capacity: str, chunks: int) -> int:
    try:
        share = float(capacity.removesuffix("%"))
    except ValueError as error:
        raise Invalid("capacities", f"{capacity!r} is neither pages nor per cent", "Say 500, or 2%.") from error
    most = 100 if capacity.endswith("%") else 1 << 60
    if not 0 < share <= most:
        raise Invalid("capacities", f"{capacity!r} is no capacity", "Say 500, or 2%.")
    return max(round(chunks * share / 100) if capacity.endswith("%") else int(share), 1)


def pages_in(texts: Sequence[str]) -> list[Page]:
    """Texts, in the order they come, as pages that have yet to come in."""
    reader = Reader()
    read = map(reader.read, texts)
    return [
        Page(
            id=ItemId(f"{number:08}"),
            tokens=page.tokens,
            born=0,
            last_use=0,
            position=number,
            importance=page.importance,
            novelty=page.novelty,
            entities=page.facts,
        )
        for number, page in enumerate(read)
    ]


def _rows(policies: Sequence[str], capacities: Sequence[int]) -> Iterator[Row]:
    for name in policies:
        for capacity in capacities:
            if capacity > WEIGHABLE and weighs(name):
                continue
            yield name, capacity, False
            if name not in BASELINES:
                yield name, capacity, True


def _wanted(question: StreamQuestion, archive: bool) -> tuple[int, ...]:
    """What Belady's may know that a question needs: with an archive what recall will bring, alone what is right."""
    return question.ranked[:1] if archive else (question.cue.target,)


def _reads(pages: Sequence[Page], wanted: Sequence[Sequence[int]]) -> dict[ItemId, list[int]]:
    reads: dict[ItemId, list[int]] = {}
    for number, chunks in enumerate(wanted):
        for chunk in chunks:
            reads.setdefault(pages[chunk].id, []).append(number)
    return reads


def _message(number: int, chunk: str) -> Message:
    return Message(text=chunk, key=f"lab:{number}", session=f"chunk {number}", pos=0, slots={"doc": str(number)})


def _answered(memory: Sighted, cue: Cue, seen: int) -> StreamQuestion:
    began = time.perf_counter()
    ranked = tuple(int(doc) for doc in memory.rank(cue.text, DEPTH).ids)
    took = (time.perf_counter() - began) * 1000
    return StreamQuestion(seen, cue, ranked, round(took, 3))


def _facts(text: Text, sweep: TextSweep, capacities: Sequence[int], policies: Sequence[str]) -> dict[str, object]:
    return {
        "bench": "capacity",
        "seed": sweep.seed,
        "data": {
            "name": text.name,
            "sha256": text.sha256,
            "chunks": len(text.chunks),
            "files": text.files,
            "skipped": text.skipped,
            "blank": text.blank,
            "bytes": sweep.size,
        },
        "laws": list(sweep.laws),
        "capacities": list(capacities),
        "policies": list(policies),
        "every": sweep.every,
        "depth": DEPTH,
        "weighable": WEIGHABLE,
        "left_out": [name for name in policies if max(capacities) > WEIGHABLE and weighs(name)],
    }


def _log_question(log: Log, law: str, asked: StreamQuestion) -> None:
    log.add(
        "question",
        law=law,
        seen=asked.seen,
        target=asked.cue.target,
        text=asked.cue.text,
        ranked=asked.ranked,
        milliseconds=asked.milliseconds,
    )


def _log_collected(log: Log, collected: Collected) -> None:
    log.add(
        "collected",
        kept=KEPT,
        slices=collected.slices,
        longest_ms=round(1000 * collected.longest, 3),
        p99_ms=round(1000 * collected.p99, 3),
        taken=len(collected.taken),
        events=collected.events,
        bytes_before=collected.bytes_before,
        bytes_after=collected.bytes_after,
    )


def _log_row(log: Log, law: str, row: Row, measured: TierMeasurement) -> None:
    policy, capacity, archive = row
    log.add(
        "tier",
        law=law,
        policy=policy,
        capacity=capacity,
        archive=archive,
        found=_bits(measured.found),
        hits=_bits(measured.hits),
        evictions=measured.evictions,
        write_backs=measured.write_backs,
        seconds=measured.seconds,
    )


def _bits(flags: Sequence[bool]) -> str:
    return "".join("1" if flag else "0" for flag in flags)

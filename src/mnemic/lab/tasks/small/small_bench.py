"""Asks small memories, and plain BM25 over the same: is the right statement among the first, and none hidden?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, TextIO

import numpy as np

from mnemic.lab.kit.baselines import Blend, turns
from mnemic.lab.kit.cached import CachedEmbedder
from mnemic.lab.kit.datasets import BenchQuestion, Doc
from mnemic.lab.kit.figures import Figure, beside_bars
from mnemic.lab.kit.log import provenance
from mnemic.lab.kit.metrics import Estimate, estimates
from mnemic.lab.kit.run import Progress, silent
from mnemic.lab.kit.set_clock import SetClock
from mnemic.lab.kit.tables import TextTable, aligned, finite, percent
from mnemic.lab.tasks.current.current_cases import LANGUAGES
from mnemic.lab.tasks.small.small_memories import EACH, SmallMemory, small_memories
from mnemic.memory import Memory
from mnemic.settings import Settings

if TYPE_CHECKING:
    from mnemic.models.base import Embedder

K: Final = 10
"""Items that a recall is asked for."""

_TOLD: Final = datetime(2025, 3, 3, 9, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallOutcome:
    """What one question brought: the places of the statements, best first; BM25's; and how many items came.

    Attributes:
        items: Items that came back; where every statement is one, as many as there are.
    """

    memory: SmallMemory
    ranked: tuple[int, ...]
    baseline: tuple[int, ...]
    items: int

    @property
    def whole(self) -> bool:
        """Whether as many came back as were asked for, or as there are."""
        return self.items >= min(K, len(self.memory.statements))


def bench_small(
    *, seed: int = 0, each: int = EACH, embedder: Embedder | None = None, progress: Progress = silent
) -> list[SmallOutcome]:
    """Ask every memory its question.

    Args:
        each: Cases of each category in each language.
        embedder: What meaning is read with; None for words alone.
    """
    reader = "none" if embedder is None else CachedEmbedder(embedder)
    made = list(small_memories(seed, each))
    settings = Settings(background=False)
    with Memory("memory:", settings=settings, embedder=reader, clock=SetClock(_TOLD)) as memory:
        places = [_tell(memory, n, small_memory) for n, small_memory in enumerate(made)]
        memory.flush()
        outcomes = []
        for n, small_memory in enumerate(made):
            outcomes.append(_asked(memory, n, small_memory, places[n]))
            progress("asked", n + 1, len(made))
        return outcomes


def _tell(memory: Memory, n: int, small: SmallMemory) -> dict[str, int]:
    """Say the statements; the place of each item's."""
    me = memory.scope(user=f"user {n}")
    return {str(me.observe(text, role="user").id): place for place, text in enumerate(small.statements)}


def _asked(memory: Memory, n: int, small: SmallMemory, places: Mapping[str, int]) -> SmallOutcome:
    hits = memory.scope(user=f"user {n}").recall(small.question, k=K)
    ranked = [places[id] for hit in hits for id in (hit.id, *hit.item.source) if id in places]
    return SmallOutcome(
        memory=small, ranked=tuple(dict.fromkeys(ranked)), baseline=_plain(small), items=len(hits.items)
    )


def _plain(small: SmallMemory) -> tuple[int, ...]:
    """The places that plain BM25 finds, best first: those that share a word with the question."""
    ranker = Blend((1.0, turns))
    ranker.ingest([_doc(place, text) for place, text in enumerate(small.statements)])
    question = BenchQuestion(ns="", id="", text=small.question, answer="", category="", gold=(), sessions=())
    ranked = ranker.rank(question)
    return tuple(int(doc) for doc, score in zip(ranked.ids, ranked.scores, strict=True) if score > 0)


def _doc(place: int, text: str) -> Doc:
    return Doc(ns="", id=str(place), session="", pos=place, when="", said=None, speaker="user", text=text)


# Counting


def _scores(outcomes: Sequence[SmallOutcome], seed: int) -> dict[str, Estimate]:
    columns: dict[str, list[bool]] = {"whole": [o.whole for o in outcomes]}
    for k in (1, 5):
        columns[f"R@{k}"] = [o.memory.gold in o.ranked[:k] for o in outcomes]
        columns[f"BM25 R@{k}"] = [o.memory.gold in o.baseline[:k] for o in outcomes]
    return estimates({name: np.array(column, np.float64) for name, column in columns.items()}, seed)


def grouped(outcomes: Sequence[SmallOutcome]) -> dict[str, list[SmallOutcome]]:
    """All, each category, and each in each language."""
    groups = {"all": list(outcomes)}
    for category in dict.fromkeys(o.memory.category for o in outcomes):
        mine = [o for o in outcomes if o.memory.category == category]
        groups[category] = mine
        groups |= {
            f"  {category}, {name}": [o for o in mine if o.memory.lang == lang] for lang, name in LANGUAGES.items()
        }
    return groups


def figures(outcomes: Sequence[SmallOutcome], seed: int = 0) -> list[Figure]:
    """By category how far R@5 lies above plain BM25's, by one question at least; and whether nothing is hidden."""
    made = []
    for category in dict.fromkeys(o.memory.category for o in outcomes):
        mine = [o for o in outcomes if o.memory.category == category]
        estimates = _scores(mine, seed)
        ours, plain = 100 * estimates["R@5"].mean, 100 * estimates["BM25 R@5"].mean
        made.append(
            Figure(
                name=f"{category}: R@5 above plain BM25 by",
                value=ours - plain,
                unit="points",
                bar=100 / len(mine),
                more=True,
                detail=f"{ours:.1f} against {plain:.1f}, n = {len(mine)}",
            )
        )
    whole = _scores(outcomes, seed)["whole"]
    made.append(
        Figure(name="as many items as there are, up to k", value=100 * whole.mean, unit="%", bar=100, more=True)
    )
    return made


def table(outcomes: Sequence[SmallOutcome], seed: int = 0) -> TextTable:
    """Every group with its figures."""
    names = ("R@1", "BM25 R@1", "R@5", "BM25 R@5", "whole")
    rows = []
    for name, group in grouped(outcomes).items():
        estimates = _scores(group, seed)
        rows.append((name, str(len(group)), *(percent(estimates[key]) for key in names)))
    return TextTable("2. Small memories, %", ("", "n", *names[:-1], "all that there is"), tuple(rows))


def show(outcomes: Sequence[SmallOutcome], stream: TextIO, *, seed: int = 0, as_json: bool = False) -> None:
    """Write the bars and the table as aligned text, or all of it as JSON."""
    bars = figures(outcomes, seed)
    if as_json:
        rows = {
            name.strip(): {k: asdict(v) for k, v in _scores(own, seed).items()}
            for name, own in grouped(outcomes).items()
        }
        made = [{**asdict(figure), "met": figure.met} for figure in bars]
        json.dump(finite({"header": provenance(), "figures": made, "rows": rows}), stream, ensure_ascii=False, indent=2)
        stream.write("\n")
    else:
        stream.write(f"{aligned(beside_bars('1. Against plain BM25', bars))}\n\n{aligned(table(outcomes, seed))}\n")


def write_failures(outcomes: Sequence[SmallOutcome], most: int, stream: TextIO) -> None:
    """Write the first memories whose right statement is not first, with what came before it."""
    there = [o for o in outcomes if o.memory.gold not in o.ranked[:1]]
    for o in there[:most]:
        small = o.memory
        stream.write(f"\n{small.category}, {small.lang}: {small.question}\n  wanted: {small.statements[small.gold]}\n")
        for rank, place in enumerate(o.ranked[:5], start=1):
            stream.write(f"  {rank}. {small.statements[place]}\n")
    stream.write(f"\n{len(there)} of {len(outcomes)} not first; {min(most, len(there))} shown\n")

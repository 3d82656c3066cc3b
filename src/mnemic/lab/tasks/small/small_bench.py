"""Small memories as the frame has them, and their tables: is the right statement among the first, and none hidden?"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, TextIO

import numpy as np

from mnemic.lab.kit.baselines import FOUND
from mnemic.lab.kit.datasets import BenchQuestion, Corpus, Dataset, Doc, made_dataset
from mnemic.lab.kit.figures import Figure, beside_bars
from mnemic.lab.kit.log import provenance
from mnemic.lab.kit.metrics import Estimate, estimates
from mnemic.lab.kit.tables import TextTable, aligned, finite, made_up, percent
from mnemic.lab.tasks.current.current_cases import LANGUAGES
from mnemic.lab.tasks.small.small_memories import EACH, SmallMemory, small_memories

if TYPE_CHECKING:
    from mnemic.lab.kit.log import LoggedAnswer, LoggedRun
    from mnemic.lab.kit.metrics import Outcome

K: Final = 10
"""Items that a recall is asked for."""

_TOLD: Final = datetime(2025, 3, 3, 9, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallOutcome:
    """What one question brought: the places of the statements, best first; BM25's; and how many items came.

    Attributes:
        baseline: None where BM25 did not take part.
        items: Items that came back; where every statement is one, as many as there are.
    """

    memory: SmallMemory
    ranked: tuple[int, ...]
    baseline: tuple[int, ...] | None
    items: int

    @property
    def whole(self) -> bool:
        """Whether as many came back as were asked for, or as there are."""
        return self.items >= min(K, len(self.memory.statements))


def small_dataset(seed: int = 0, each: int = EACH) -> Dataset:
    """Every memory with its question.

    Args:
        each: Cases of each category in each language.
    """
    corpora: list[Corpus] = []
    questions: list[BenchQuestion] = []
    for n, small in enumerate(small_memories(seed, each)):
        ns = f"user {n}"
        docs = tuple(_doc(ns, place, text) for place, text in enumerate(small.statements))
        corpora.append(Corpus(ns=ns, docs=docs, told=True))
        questions.append(
            BenchQuestion(
                ns=ns, id=ns, text=small.question, answer="", category=small.category, gold=(str(small.gold),),
                sessions=(), origin=small.lang, asked=_TOLD, key={"of": (str(len(docs)),)},
            )
        )  # fmt: skip
    return made_dataset("small", corpora, questions)


def _doc(ns: str, place: int, text: str) -> Doc:
    return Doc(ns=ns, id=str(place), session="", pos=place, when="", said=_TOLD, speaker="", text=text, role="user")


def small_outcomes(run: LoggedRun, system: str) -> list[SmallOutcome]:
    """What one contestant made of each memory, beside plain BM25 where that took part."""
    plain = {answer.ns: answer.ranked for answer in run.answers.get(FOUND, ())}
    return [_outcome(run, answer, plain.get(answer.ns)) for answer in run.answers.get(system, ())]


def _outcome(run: LoggedRun, answer: LoggedAnswer, plain: Sequence[str] | None) -> SmallOutcome:
    texts = [run.texts.get((answer.ns, doc), "") for doc in run.docs[answer.ns]]
    return SmallOutcome(
        memory=SmallMemory(
            category=answer.category, lang=answer.origin, statements=tuple(texts), gold=int(answer.gold[0]),
            question=run.questions.get((answer.ns, answer.question), ""),
        ),
        ranked=tuple(map(int, answer.ranked)),
        baseline=None if plain is None else tuple(map(int, plain)),
        items=shown_items(answer),
    )  # fmt: skip


def shown_items(answer: LoggedAnswer | Outcome) -> int:
    """How many things came back."""
    return len(answer.hits or answer.ranked)


# Counting


def _scores(outcomes: Sequence[SmallOutcome], seed: int) -> dict[str, Estimate]:
    columns: dict[str, list[float]] = {"whole": [o.whole for o in outcomes]}
    for k in (1, 5):
        columns[f"R@{k}"] = [o.memory.gold in o.ranked[:k] for o in outcomes]
        columns[f"BM25 R@{k}"] = [math.nan if o.baseline is None else o.memory.gold in o.baseline[:k] for o in outcomes]
    return estimates({name: np.array(column, np.float64) for name, column in columns.items()}, seed)


def grouped(outcomes: Sequence[SmallOutcome]) -> dict[str, list[SmallOutcome]]:
    """All, each category, and each in each language."""
    groups = {"all": list(outcomes)}
    for category in dict.fromkeys(o.memory.category for o in outcomes):
        mine = [o for o in outcomes if o.memory.category == category]
        groups[category] = mine
        for lang, name in LANGUAGES.items():
            if own := [o for o in mine if o.memory.lang == lang]:
                groups[f"  {category}, {name}"] = own
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


def table(outcomes: Sequence[SmallOutcome], seed: int = 0, title: str = "2. Small memories, %") -> TextTable:
    """Every group with its figures."""
    beside = any(o.baseline is not None for o in outcomes)
    names = ("R@1", "BM25 R@1", "R@5", "BM25 R@5", "whole") if beside else ("R@1", "R@5", "whole")
    rows = []
    for name, group in grouped(outcomes).items():
        estimates = _scores(group, seed)
        rows.append((name, str(len(group)), *(percent(estimates[key]) for key in names)))
    return TextTable(title, ("", "n", *names[:-1], "all that there is"), tuple(rows))


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
        shown = (beside_bars("1. Against plain BM25", bars), table(outcomes, seed))
        stream.write("\n\n".join(map(aligned, map(made_up, shown))) + "\n")


def write_failures(outcomes: Sequence[SmallOutcome], most: int, stream: TextIO) -> None:
    """Write the first memories whose right statement is not first, with what came before it."""
    there = [o for o in outcomes if o.memory.gold not in o.ranked[:1]]
    for o in there[:most]:
        small = o.memory
        stream.write(f"\n{small.category}, {small.lang}: {small.question}\n  wanted: {small.statements[small.gold]}\n")
        for rank, place in enumerate(o.ranked[:5], start=1):
            stream.write(f"  {rank}. {small.statements[place]}\n")
    stream.write(f"\n{len(there)} of {len(outcomes)} not first; {min(most, len(there))} shown\n")

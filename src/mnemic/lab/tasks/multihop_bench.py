"""Multi-hop recall over documents: passages that answer a question only together, with their titles and without.

HotpotQA (Yang et al., arXiv:1809.09600), 2WikiMultiHopQA (Ho et al., arXiv:2011.01060) and MuSiQue (Trivedi et al.,
arXiv:2108.00573) as unified jsonl, where a passage's session and speaker are its title. A score is the share of a
question's passages among the first k, as the literature has it, and how often all of them are among the first five.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Final

from mnemic.core.queries import Stage
from mnemic.errors import Invalid
from mnemic.lab.kit.datasets import Corpus, Dataset, load
from mnemic.lab.kit.metrics import all_at, recall
from mnemic.lab.kit.systems import Ablated, MnemicSystem, message
from mnemic.lab.kit.tables import TextTable
from mnemic.models.base import Embedder

KS: Final = (2, 5, 10)


class Untitled(MnemicSystem):
    """mnemic given the passages without their titles."""

    def ingest(self, corpora: Sequence[Corpus]) -> None:
        for corpus in corpora:
            me = self._memory.scope(user=corpus.ns)
            me.observe([replace(message(doc), session=doc.id, slots={"doc": doc.id}) for doc in corpus.docs])
            self._sizes[corpus.ns] = len(corpus.docs)
            self._now[corpus.ns] = max((doc.said for doc in corpus.docs if doc.said), default=None)
        self._memory.flush()


def entrant(
    embedder: Embedder | None, without: Sequence[str] = (), *, untitled: bool = False
) -> Callable[[], MnemicSystem]:
    """What makes the memory that is asked: with an embedder or by words alone, whole or with stages left out.

    Raises:
        Invalid: a name that is no stage, or stages to be left out of passages without titles.
    """
    if unknown := [name for name in without if name not in list(Stage)]:
        raise Invalid("without", f"{unknown[0]!r} is no stage of recall", f"There are: {', '.join(Stage)}.")
    if untitled and without:
        raise Invalid("untitled", "does not go with --without", "Ask for one of them at a time.")
    if without:
        return partial(Ablated, embedder, frozenset(map(Stage, without)))
    return partial(Untitled if untitled else MnemicSystem, embedder)


@dataclass(frozen=True, slots=True)
class MultihopRow:
    """What was found of one kind of question, each a share of 1.

    Attributes:
        n: How many questions have evidence.
        recall: `R@k` for each of `KS`.
        all_five: How often everything is among the first five.
    """

    name: str
    n: int
    recall: tuple[float, ...]
    all_five: float


def bench_multihop(
    path: Path, *, limit: int | None = None, make: Callable[[], MnemicSystem] = MnemicSystem
) -> tuple[MultihopRow, ...]:
    """Ask every question of a set; one row for all of them, and one for each category, in order of name.

    Args:
        limit: Ask the first so many questions only.
        make: What answers: `MnemicSystem`, `Ablated` without its links, or `Untitled`, with an embedder or without.

    Raises:
        Invalid: the file is not a benchmark we know.
    """
    dataset = load(path).first(limit)
    with closing(make()) as system:
        system.ingest(dataset.corpora)
        answered = _answered(dataset, system)
    by_category = groupby(sorted(answered), key=lambda one: one[0])
    every = _row("all", answered)
    return (every, *(_row(category, list(ones)) for category, ones in by_category))


def table(title: str, rows: Sequence[MultihopRow]) -> TextTable:
    """Rows as a table, in per cent."""
    header = ("questions", "n", *(f"R@{k}" for k in KS), "all@5")
    cells = ((row.name, f"{row.n}", *(f"{100 * share:.1f}" for share in (*row.recall, row.all_five))) for row in rows)
    return TextTable(title, header, tuple(cells))


_Answer = tuple[str, tuple[str, ...], tuple[str, ...]]


def _answered(dataset: Dataset, system: MnemicSystem) -> list[_Answer]:
    """Of each question with evidence: its category, the evidence, and what was ranked."""
    asked = [question for question in dataset.questions if question.gold]
    return [(question.category, question.gold, system.rank(question, max(KS)).ids) for question in asked]


def _row(name: str, answered: Sequence[_Answer]) -> MultihopRow:
    found = tuple(fmean(recall(gold, ranked, k) for _, gold, ranked in answered) for k in KS)
    return MultihopRow(name, len(answered), found, fmean(all_at(gold, ranked, 5) for _, gold, ranked in answered))

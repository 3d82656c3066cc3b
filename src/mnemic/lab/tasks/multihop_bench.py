"""Multi-hop recall over documents: passages that answer a question only together, with their titles and without.

HotpotQA (Yang et al., arXiv:1809.09600), 2WikiMultiHopQA (Ho et al., arXiv:2011.01060) and MuSiQue (Trivedi et al.,
arXiv:2108.00573) as unified jsonl, where a passage's session and speaker are its title. A score is the share of a
question's passages among the first k, as the literature has it, and how often all of them are among the first five.
What it cost is told in processor time: that hardly depends on what else the machine does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from statistics import fmean
from time import process_time
from typing import Final

from mnemic.core.queries import Stage
from mnemic.errors import Invalid
from mnemic.lab.kit.baselines import lineup
from mnemic.lab.kit.datasets import Corpus, Dataset, load
from mnemic.lab.kit.metrics import all_at, recall
from mnemic.lab.kit.systems import Ablated, MnemicSystem, Peers, System, message
from mnemic.lab.kit.tables import TextTable
from mnemic.models.base import Embedder
from mnemic.registry import STRATEGIES

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
    embedder: Embedder | None, without: Sequence[str] = (), *, untitled: bool = False, by: str | None = None
) -> Callable[[], System]:
    """What makes the system that is asked: with an embedder or by words alone, whole or with stages left out.

    Args:
        by: A strategy whose own recall answers, or a baseline, by name.

    Raises:
        Invalid: a name that is no stage or nobody's, or options that do not go together.
    """
    if by is not None:
        return _answering_by(by, embedder, alone=not (without or untitled))
    if unknown := [name for name in without if name not in list(Stage)]:
        raise Invalid("without", f"{unknown[0]!r} is no stage of recall", f"There are: {', '.join(Stage)}.")
    if untitled and without:
        raise Invalid("untitled", "does not go with --without", "Ask for one of them at a time.")
    if without:
        return partial(Ablated, embedder, frozenset(map(Stage, without)))
    return partial(Untitled if untitled else MnemicSystem, embedder)


def _answering_by(name: str, embedder: Embedder | None, *, alone: bool) -> Callable[[], System]:
    if not alone:
        raise Invalid("by", "does not go with --without or --untitled", "Ask for one of them at a time.")
    baselines = lineup(embedder)
    if name not in baselines and name not in STRATEGIES:
        raise Invalid("by", f"{name!r} is not known", f"There are: {', '.join((*STRATEGIES, *baselines))}.")
    return partial(Peers, baselines[name]) if name in baselines else partial(MnemicSystem, embedder, name)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class MultihopResult:
    """What was found, and what it cost.

    Attributes:
        rows: One for all questions, and one for each category, in order of name.
        passage_ms, question_ms: Processor time of taking in a passage, all lanes included, and of a question.
        passage_bytes: On disk; None for what keeps nothing there.
    """

    rows: tuple[MultihopRow, ...]
    passage_ms: float
    question_ms: float
    passage_bytes: float | None

    @property
    def cost(self) -> str:
        """What it cost, in a line."""
        size = "" if self.passage_bytes is None else f", {self.passage_bytes:,.0f} bytes on disk"
        return f"a passage: {self.passage_ms:.1f} ms of CPU{size}; a question: {self.question_ms:.1f} ms of CPU"


def bench_multihop(
    path: Path, *, limit: int | None = None, make: Callable[[], System] = MnemicSystem
) -> MultihopResult:
    """Ask every question of a set.

    Args:
        limit: Ask the first so many questions only.
        make: What answers: what `entrant` returns.

    Raises:
        Invalid: the file is not a benchmark we know.
    """
    dataset = load(path).first(limit)
    with closing(make()) as system:
        began = process_time()
        system.ingest(dataset.corpora)
        ingested = process_time()
        answered = _answered(dataset, system)
        asked = process_time()
        passage_bytes = system.figures().bytes_per_message
    by_category = groupby(sorted(answered), key=lambda row: row[0])
    return MultihopResult(
        rows=(_row("all", answered), *(_row(category, list(ones)) for category, ones in by_category)),
        passage_ms=1000 * (ingested - began) / sum(len(corpus.docs) for corpus in dataset.corpora),
        question_ms=1000 * (asked - ingested) / len(answered),
        passage_bytes=passage_bytes,
    )


def table(title: str, rows: Sequence[MultihopRow]) -> TextTable:
    """Rows as a table, in per cent."""
    header = ("questions", "n", *(f"R@{k}" for k in KS), "all@5")
    cells = ((row.name, f"{row.n}", *(f"{100 * share:.1f}" for share in (*row.recall, row.all_five))) for row in rows)
    return TextTable(title, header, tuple(cells))


_Answer = tuple[str, tuple[str, ...], tuple[str, ...]]


def _answered(dataset: Dataset, system: System) -> list[_Answer]:
    """Of each question with evidence: its category, the evidence, and what was ranked."""
    asked = [question for question in dataset.questions if question.gold]
    return [(question.category, question.gold, system.rank(question, max(KS)).ids) for question in asked]


def _row(name: str, answered: Sequence[_Answer]) -> MultihopRow:
    recalls = tuple(fmean(recall(gold, ranked, k) for _, gold, ranked in answered) for k in KS)
    return MultihopRow(name, len(answered), recalls, fmean(all_at(gold, ranked, 5) for _, gold, ranked in answered))

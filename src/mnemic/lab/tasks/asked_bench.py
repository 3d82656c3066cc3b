"""Our own questions: Chinese, across languages, and of things that were never said; and answers without a model.

The questions are ours and stand in `fixtures/`, with the ids of the turns that answer them, by hand. What they are
asked of is not shipped: MemoryBank's evaluation data in Chinese and English (Zhong et al., "MemoryBank",
arXiv:2305.10250) and LoCoMo, as unified jsonl in one folder (`gvd_zh`, `gvd_en`, `locomo_dev6`). A third of the Chinese
ones share next to no word with what they ask for. Beside each of the forty that nobody answered stands one that
somebody did, of the same person. All go through the public API over a new file, as `systems.Mnemic` does.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any, Final, TextIO

import numpy as np

from mnemic.core.queries import Context
from mnemic.core.tokens import tokenise
from mnemic.errors import Invalid
from mnemic.lab.kit.datasets import UNANSWERABLE, BenchQuestion, Dataset, load
from mnemic.lab.kit.metrics import auroc_estimate, estimates, recall
from mnemic.lab.kit.run import Progress, silent
from mnemic.lab.kit.systems import MnemicSystem
from mnemic.lab.kit.tables import TextTable, aligned, percent
from mnemic.models.base import Embedder
from mnemic.recall.answer import answer

SETS: Final = ("asked_chinese", "asked_across", "asked_answerable")
LOCOMO: Final = "locomo_dev6"
NEVER: Final = "never said"
SAID: Final = "said"

_SOURCE: Final = "The ids in `lab/fixtures` are those of the unified jsonl."

_ARTICLES: Final = frozenset({"a", "an", "the", "and"})

KS: Final = (1, 5, 10)
"""How deep it is looked for the turns that answer."""

STYLES: Final[Mapping[str, tuple[str, ...]]] = {
    "Chinese": ("plain", "paraphrase"),
    "  plain": ("plain",),
    "  paraphrased": ("paraphrase",),
    "across languages": ("en to zh", "zh to en"),
    "  English to Chinese": ("en to zh",),
    "  Chinese to English": ("zh to en",),
}
"""The rows of the first table."""


@dataclass(frozen=True, slots=True)
class AskedOutcome:
    """What one question brought.

    Attributes:
        ranked: The documents found, best first.
        confidence: How likely memory held the answer, as it says.
        known: It gave an answer.
        cited: The documents that the answer quotes.
        given: The answer in short, or its first quote.
    """

    question: BenchQuestion
    data: str
    ranked: tuple[str, ...]
    confidence: float
    known: bool
    cited: tuple[str, ...]
    given: str


@dataclass(frozen=True, slots=True)
class AskedResults:
    """A run: all outcomes, and what could not be asked."""

    outcomes: tuple[AskedOutcome, ...]
    notes: tuple[str, ...]


def bench_asked(folder: Path, *, embedder: Embedder | None = None, progress: Progress = silent) -> AskedResults:
    """Ask everything whose data is in `folder`.

    Args:
        embedder: What meaning is read with; None for words alone.

    Raises:
        Invalid: none of the data is there, or a file is not what it should be.
    """
    outcomes: list[AskedOutcome] = []
    notes: list[str] = []
    for data, rows in _by_data(_rows()).items():
        path = folder / f"{data}.jsonl.gz"
        if not path.exists():
            notes.append(f"{path.name} is not there: {len(rows)} questions were not asked")
            continue
        dataset = load(path)
        outcomes += _asked(dataset, _questions(rows, dataset), embedder, progress)
    if not outcomes:
        raise Invalid("folder", f"{folder} holds none of the data", f"Put {LOCOMO}.jsonl.gz there, for one.")
    return AskedResults(tuple(outcomes), tuple(notes))


def tables(results: AskedResults, seed: int = 0) -> tuple[TextTable, ...]:
    """Evidence found, answerable or not, and answers."""
    return _recall_table(results, seed), _answerable(results, seed), _answers(results, seed)


def show(results: AskedResults, stream: TextIO, seed: int = 0) -> None:
    """Write the tables as aligned text."""
    blocks = [aligned(table) for table in tables(results, seed)]
    stream.write("\n\n".join([*blocks, *(f"* {note}" for note in results.notes)]) + "\n")


# Asking


def _rows() -> list[dict[str, Any]]:
    """Every question as it stands in its file."""
    files = (resources.files("mnemic.lab") / "fixtures" / f"{name}.jsonl" for name in SETS)
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


def _by_data(rows: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    names = dict.fromkeys(row["data"] for row in rows)
    return {name: [row for row in rows if row["data"] == name] for name in names}


def _questions(rows: Sequence[dict[str, Any]], dataset: Dataset) -> list[BenchQuestion]:
    """The questions of one data set; of LoCoMo, all of its own too. A row may name another question to ask."""
    known = {question.id: question for question in dataset.questions}
    known |= {row["id"]: _question(row) for row in rows if "text" in row}
    there = {corpus.ns for corpus in dataset.corpora} | known.keys()
    if missing := [row["id"] for row in rows if not {row["ns"], row.get("of", row["id"])} <= there]:
        raise Invalid("folder", f"{dataset.name} is another edition: {', '.join(missing[:3])} cannot be asked", _SOURCE)
    named = [
        replace(known[row["of"]], id=row["id"], category=row["style"]) if "of" in row else known[row["id"]]
        for row in rows
    ]
    return [*named, *(dataset.questions if dataset.name == LOCOMO else ())]


def _question(row: dict[str, Any]) -> BenchQuestion:
    return BenchQuestion(
        ns=row["ns"],
        id=row["id"],
        text=row["text"],
        answer="",
        category=row["style"],
        gold=tuple(row.get("gold", ())),
        sessions=(),
    )


class _Witness(MnemicSystem):
    """mnemic, with all that it says to a question."""

    def context(self, question: BenchQuestion) -> Context:
        return self._recall(question, max(KS))


def _asked(
    dataset: Dataset, questions: Sequence[BenchQuestion], embedder: Embedder | None, progress: Progress
) -> Iterator[AskedOutcome]:
    needed = {question.ns for question in questions}
    with closing(_Witness(embedder)) as witness:
        witness.ingest([corpus for corpus in dataset.corpora if corpus.ns in needed])
        for n, question in enumerate(questions, start=1):
            yield _outcome(question, dataset.name, witness.context(question))
            progress(dataset.name, n, len(questions))


def _outcome(question: BenchQuestion, data: str, context: Context) -> AskedOutcome:
    docs = {recalled.id: str(recalled.item.slots["doc"]) for recalled in context.items if "doc" in recalled.item.slots}
    answered = answer(question.text, context)
    return AskedOutcome(
        question=question,
        data=data,
        ranked=tuple(dict.fromkeys(docs.values())),
        confidence=context.confidence,
        known=answered.known,
        cited=tuple(docs[citation.id] for citation in answered.citations if citation.id in docs),
        given=answered.short or next((citation.quote for citation in answered.citations), ""),
    )


# Counting


def token_f1(answered: str, right: str) -> float:
    """Overlap of two answers as bags of stemmed words without articles, 0 to 1: LoCoMo's F1."""
    tokens, other = (Counter(token for token in tokenise(text) if token not in _ARTICLES) for text in (answered, right))
    shared = (tokens & other).total()
    return 2 * shared / (tokens.total() + other.total()) if shared else 0.0


def _recall_table(results: AskedResults, seed: int) -> TextTable:
    rows = []
    for name, styles in STYLES.items():
        here = [o for o in results.outcomes if o.question.category in styles]
        values = {f"R@{k}": np.array([recall(o.question.gold, o.ranked, k) for o in here]) for k in KS}
        scores = estimates(values, seed)
        rows.append((name, str(len(here)), *(percent(scores[f"R@{k}"]) for k in KS)))
    return TextTable("1. Evidence found, %", ("questions", "n", *(f"R@{k}" for k in KS)), tuple(rows))


Belongs = Callable[[AskedOutcome], bool]


def _of(data: Sequence[str], styles: Sequence[str]) -> Belongs:
    return lambda o: (not data or o.data in data) and o.question.category in styles


def _locomo(*, right: bool) -> Belongs:
    """LoCoMo's own questions: those with an answer, or the others."""
    ours = (NEVER, SAID)
    return lambda o: (
        o.data == LOCOMO and o.question.category not in ours and (o.question.category in UNANSWERABLE) != right
    )


def _sides() -> dict[str, tuple[Belongs, Belongs]]:
    """The rows of the second table: those that can be answered, and those that cannot."""
    rows: dict[str, tuple[Belongs, Belongs]] = {"LoCoMo adversarial": (_locomo(right=True), _locomo(right=False))}
    sets = {"never said": (), "  LoCoMo": (LOCOMO,), "  English chat": ("gvd_en",), "  Chinese chat": ("gvd_zh",)}
    return rows | {name: (_of(data, (SAID,)), _of(data, (NEVER,))) for name, data in sets.items()}


def _answerable(results: AskedResults, seed: int) -> TextTable:
    rows = []
    for name, (can, cannot) in _sides().items():
        answerable = [o for o in results.outcomes if can(o)]
        others = [o for o in results.outcomes if cannot(o)]
        told_apart = auroc_estimate([o.confidence for o in answerable], [o.confidence for o in others], seed)
        interval = "-" if not told_apart.n else f"{told_apart.mean:.2f} [{told_apart.low:.2f}, {told_apart.high:.2f}]"
        declined = (_share([not o.known for o in side]) for side in (answerable, others))
        rows.append((name, f"{len(answerable)} / {len(others)}", interval, *declined))
    header = ("questions", "n with / without answer", "AUROC", "declined wrongly, %", "rightly, %")
    return TextTable("2. Answerable or not", header, tuple(rows))


def _answers(results: AskedResults, seed: int) -> TextTable:
    """Of LoCoMo's questions with an answer, by category: whether the evidence is quoted, and the answer's words."""
    there = [o for o in results.outcomes if _locomo(right=True)(o)]
    groups = {"all": there} | {
        name: [o for o in there if o.question.category == name]
        for name in dict.fromkeys(o.question.category for o in there)
    }
    rows = []
    for name, group in groups.items():
        values = {
            "cited": np.array([float(bool(set(o.cited) & set(o.question.gold))) for o in group]),
            "f1": np.array([token_f1(o.given, o.question.answer) for o in group]),
        }
        scores = estimates(values, seed)
        declined = _share([not o.known for o in group])
        rows.append((name, str(len(group)), percent(scores["cited"]), percent(scores["f1"]), declined))
    header = ("LoCoMo", "n", "evidence quoted, %", "token F1, %", "declined, %")
    return TextTable("3. Answers without a model (a declined question scores nothing)", header, tuple(rows))


def _share(flags: Sequence[bool]) -> str:
    return f"{100 * sum(flags) / len(flags):.1f}" if flags else "-"

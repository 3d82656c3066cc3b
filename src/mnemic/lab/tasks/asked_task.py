"""Our own questions: Chinese, across languages, and of things that were never said; and answers without a model.

The questions are ours and stand in `fixtures/`, with the ids of the turns that answer them, by hand. What they are
asked of is not shipped: MemoryBank's evaluation data in Chinese and English (Zhong et al., "MemoryBank",
arXiv:2305.10250) and LoCoMo, as unified jsonl in one folder (`gvd_zh`, `gvd_en`, `locomo_dev6`). A third of the Chinese
ones share next to no word with what they ask for. Beside each of the forty that nobody answered stands one that
somebody did, of the same person. Of LoCoMo its own questions are asked, too.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mnemic.errors import Invalid
from mnemic.lab.kit.answer_metrics import WORD_METRICS, WordMetric
from mnemic.lab.kit.contestant import SHOWN
from mnemic.lab.kit.datasets import UNANSWERABLE, BenchQuestion, Corpus, DataFault, Dataset, load
from mnemic.lab.kit.metrics import METRICS, Metric, Outcome, auroc_estimate, estimates, recall
from mnemic.lab.kit.tables import TextTable, percent

if TYPE_CHECKING:
    from mnemic.lab.kit.log import LoggedAnswer, LoggedRun

SETS: Final = ("asked_chinese", "asked_across", "asked_answerable")
LOCOMO: Final = "locomo_dev6"
NEVER: Final = "never said"
SAID: Final = "said"

_SOURCE: Final = "The ids in `lab/fixtures` are those of the unified jsonl."

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


def _quotes_evidence(outcome: Outcome) -> float:
    """Whether the answer quotes a document that is wanted; NaN where nobody was asked for one."""
    return math.nan if outcome.given is None else float(bool(set(outcome.given.cited) & set(outcome.gold)))


def _near(metric: WordMetric, outcome: Outcome) -> float:
    """How near the answer comes to the right one; NaN where nobody was asked."""
    return math.nan if outcome.given is None else metric(outcome.given.short, outcome.wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTask:
    """Our own questions, asked of several sets in one folder."""

    name: str = "asked"
    about: str = "Our own questions: Chinese, across languages, what was never said; and answers without a model."
    depth: int = SHOWN
    answered: bool = True
    headline: str = "R@10"
    shown: Mapping[str, str] = field(default_factory=lambda: {f"R@{k}": f"R@{k}" for k in KS})
    metrics: Mapping[str, Metric] = field(default_factory=lambda: METRICS)
    rows: tuple[str, ...] = ("mnemic",)
    against: str = "BM25 turns"
    notes: Sequence[str] = ()

    def read(self, where: Path) -> Dataset:
        """Read all sets that are there into one; questions of the others are told of as faults."""
        if not where.is_dir():
            raise Invalid(
                "tasks", f"asked reads a folder, and {where.name} is none", f"Name that of {LOCOMO}.jsonl.gz."
            )
        corpora: list[Corpus] = []
        questions: list[BenchQuestion] = []
        faults: list[DataFault] = []
        asked_rows = _rows()
        digest = hashlib.sha256(json.dumps(asked_rows, sort_keys=True).encode())
        for data, rows in _by_data(asked_rows).items():
            path = where / f"{data}.jsonl.gz"
            if not path.exists():
                faults.append(DataFault(path.name, f"is not there: {len(rows)} questions were not asked"))
                continue
            dataset = load(path)
            digest.update(dataset.sha256.encode())
            asked, lost = _questions(rows, dataset)
            needed = {question.ns for question in asked}
            corpora += [corpus for corpus in dataset.corpora if corpus.ns in needed]
            questions += [replace(question, origin=data) for question in asked]
            faults += (*dataset.faults, *lost)
        if not questions:
            raise Invalid("folder", f"{where} holds none of the data", f"Put {LOCOMO}.jsonl.gz there, for one.")
        return Dataset(
            name=self.name, sha256=digest.hexdigest(), corpora=tuple(corpora), questions=tuple(questions),
            dropped=sum("names no document" in fault.what for fault in faults), faults=tuple(faults),
        )  # fmt: skip

    def tables(self, run: LoggedRun, seed: int) -> Iterator[TextTable]:
        """Evidence found by the style of the question, answerable or not, and answers: of each contestant."""
        for name, answers in run.answers.items():
            of = "" if len(run.answers) == 1 else f", {name}"
            yield _recall_table(answers, seed, of)
            if answers[0].given is not None:
                yield _answerable(answers, seed, of)
                yield _answers(run, answers, seed, of)


# Asking


def _rows() -> list[dict[str, Any]]:
    """Every question as it stands in its file."""
    files = (resources.files("mnemic.lab") / "fixtures" / f"{name}.jsonl" for name in SETS)
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


def _by_data(rows: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    names = dict.fromkeys(row["data"] for row in rows)
    return {name: [row for row in rows if row["data"] == name] for name in names}


def _questions(rows: Sequence[dict[str, Any]], dataset: Dataset) -> tuple[list[BenchQuestion], list[DataFault]]:
    """The questions of one data set; of LoCoMo, all of its own too. A row may name another question to ask.

    Evidence that is not there is dropped, and told of.
    """
    known = {question.id: question for question in dataset.questions}
    known |= {row["id"]: _question(row) for row in rows if "text" in row}
    there = {corpus.ns for corpus in dataset.corpora} | known.keys()
    if missing := [row["id"] for row in rows if not {row["ns"], row.get("of", row["id"])} <= there]:
        raise Invalid("folder", f"{dataset.name} is another edition: {', '.join(missing[:3])} cannot be asked", _SOURCE)
    named = [
        replace(known[row["of"]], id=row["id"], category=row["style"]) if "of" in row else known[row["id"]]
        for row in rows
    ]
    docs = {corpus.ns: {doc.id for doc in corpus.docs} for corpus in dataset.corpora}
    faults = [
        DataFault(dataset.name, f"evidence of {question.id} names no document: {id}")
        for question in named
        for id in question.gold
        if id not in docs[question.ns]
    ]
    held = [replace(q, gold=tuple(id for id in q.gold if id in docs[q.ns])) for q in named]
    return [*held, *(dataset.questions if dataset.name == LOCOMO else ())], faults


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


# Counting


def _recall_table(answers: Sequence[LoggedAnswer], seed: int, of: str) -> TextTable:
    rows = []
    for name, styles in STYLES.items():
        here = [o for o in answers if o.category in styles]
        values = {f"R@{k}": np.array([recall(o.gold, o.ranked, k) for o in here]) for k in KS}
        scores = estimates(values, seed)
        rows.append((name, str(len(here)), *(percent(scores[f"R@{k}"]) for k in KS)))
    return TextTable(f"Evidence found{of}, %", ("questions", "n", *(f"R@{k}" for k in KS)), tuple(rows))


Belongs = Callable[["LoggedAnswer"], bool]


def _of(data: Sequence[str], styles: Sequence[str]) -> Belongs:
    return lambda o: (not data or o.origin in data) and o.category in styles


def _locomo(*, right: bool) -> Belongs:
    """LoCoMo's own questions: those with an answer, or the others."""
    ours = (NEVER, SAID)
    return lambda o: o.origin == LOCOMO and o.category not in ours and (o.category in UNANSWERABLE) != right


def _sides() -> dict[str, tuple[Belongs, Belongs]]:
    """The rows of the second table: those that can be answered, and those that cannot."""
    rows: dict[str, tuple[Belongs, Belongs]] = {"LoCoMo adversarial": (_locomo(right=True), _locomo(right=False))}
    sets = {"never said": (), "  LoCoMo": (LOCOMO,), "  English chat": ("gvd_en",), "  Chinese chat": ("gvd_zh",)}
    return rows | {name: (_of(data, (SAID,)), _of(data, (NEVER,))) for name, data in sets.items()}


def _answerable(answers: Sequence[LoggedAnswer], seed: int, of: str) -> TextTable:
    rows = []
    for name, (can, cannot) in _sides().items():
        answerable, others = [o for o in answers if can(o)], [o for o in answers if cannot(o)]
        told_apart = auroc_estimate(_confidences(answerable), _confidences(others), seed)
        interval = "-" if not told_apart.n else f"{told_apart.mean:.2f} [{told_apart.low:.2f}, {told_apart.high:.2f}]"
        rows.append((name, f"{len(answerable)} / {len(others)}", interval, _declined(answerable), _declined(others)))
    header = ("questions", "n with / without answer", "AUROC", "declined wrongly, %", "rightly, %")
    return TextTable(f"Answerable or not{of}", header, tuple(rows))


def _answers(run: LoggedRun, answers: Sequence[LoggedAnswer], seed: int, of: str) -> TextTable:
    """Of LoCoMo's questions with an answer, by category: whether the evidence is quoted, and the answer's words."""
    there = [o for o in answers if _locomo(right=True)(o)]
    groups = {"all": there} | {
        name: [o for o in there if o.category == name] for name in dict.fromkeys(o.category for o in there)
    }
    rows = []
    for name, group in groups.items():
        outcomes = [run.outcome(o) for o in group]
        values = {"quoted": np.array(list(map(_quotes_evidence, outcomes)))} | {
            column: np.array([_near(metric, outcome) for outcome in outcomes])
            for column, metric in WORD_METRICS.items()
        }
        scores = estimates(values, seed)
        rows.append((name, str(len(group)), *(percent(scores[column]) for column in values), _declined(group)))
    header = ("LoCoMo", "n", "evidence quoted, %", *(f"{column}, %" for column in WORD_METRICS), "declined, %")
    return TextTable(f"Answers without a model{of} (a declined question scores nothing)", header, tuple(rows))


def _confidences(answers: Sequence[LoggedAnswer]) -> list[float]:
    return [answer.given.confidence for answer in answers if answer.given is not None]


def _declined(answers: Sequence[LoggedAnswer]) -> str:
    return _share([answer.given is not None and not answer.given.known for answer in answers])


def _share(flags: Sequence[bool]) -> str:
    return f"{100 * sum(flags) / len(flags):.1f}" if flags else "-"


ASKED: Final = AskedTask()

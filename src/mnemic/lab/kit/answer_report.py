"""From the log of a run to what its answers came to: words held to the right ones, judges' marks, and what it all took.

A contestant is read by itself, where it answers without a model, and by the model of the run; each is a line. Shares
are of questions that have an answer. Those that have none (adversarial, abstention) are counted by who declines.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from mnemic.lab.kit import metrics
from mnemic.lab.kit.answer_judging import Agreement, RunSpread, agreement, mark, preference, settled, spread
from mnemic.lab.kit.answer_metrics import WORD_METRICS, paper_rule, says_no
from mnemic.lab.kit.answer_stage import all_answers
from mnemic.lab.kit.baselines import stood_beside
from mnemic.lab.kit.datasets import NO_CATEGORY, UNANSWERABLE
from mnemic.lab.kit.metrics import Array, Estimate
from mnemic.lab.kit.model_words import OWN, ModelWords
from mnemic.lab.kit.tables import TextTable, percent, signed
from mnemic.lab.kit.task import rule_of

if TYPE_CHECKING:
    from mnemic.lab.kit.log import LoggedAnswer, LoggedRun
    from mnemic.lab.kit.model_words import JudgeReply, PairReply
    from mnemic.lab.kit.task import BenchTask

_CITED_WRONGLY: Final = "WRONG_CITATION"
"""An audit's word for a right answer whose evidence is another."""

BY_ITSELF: Final = "itself"
"""How tables name the reader of answers that a contestant gives without a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenWords:
    """One answer in words.

    Attributes:
        declined: It says that there is none.
        said: What the model took that gave it; None for an answer without one.
    """

    to: LoggedAnswer
    text: str
    declined: bool
    said: ModelWords | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRow:
    """The answers of one contestant by one reader.

    Attributes:
        rule: What its paper's score is called.
        scores: By that rule and each of the others, over questions with an answer.
        categories: The paper's score by category, of adversarial questions too, where that rule scores them.
        gain: The paper's score minus that of the contestant it is held against, by the same reader and on the same
            questions; None for that one itself, or without it.
        undisputed: The paper's score over those whose right answer no audit disputes.
        declined_wrongly, declined_rightly: Shares of questions with an answer, and without; NaN without any.
        prompt_tokens: Of a question that the model was asked, on the mean; NaN without a model.
        p50_ms: Of those questions.
        calls: How often the model was asked; what it had been asked before costs nothing.
        failed: Answers that did not come.
    """

    system: str
    reader: str
    rule: str
    scores: Mapping[str, Estimate]
    categories: Mapping[str, Estimate]
    gain: Estimate | None
    undisputed: Estimate
    declined_wrongly: float
    declined_rightly: float
    prompt_tokens: float
    p50_ms: float
    calls: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRow:
    """What one judge made of the answers of one contestant by one reader.

    Attributes:
        right: The share that is right, a question counting by the share of runs that found it so.
        runs: How that share differs from run to run.
        unread: Replies that could not be read, of `replies` that came; `failed` did not come.
        tokens: Of prompts and replies that were sent.
    """

    system: str
    reader: str
    judge: str
    right: Estimate
    runs: RunSpread
    unread: int
    replies: int
    failed: int
    calls: int
    tokens: int
    p50_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    """How often one judge preferred a contestant's answers to those of another, by one reader.

    Attributes:
        better, worse, same: Questions; a preference that goes with the order of the answers is none.
        turned: Of them those whose two replies differ.
        first: The share of preferences that were for the answer shown first; a half is what a fair judge has.
        unread: Questions of which a reply cannot be read, or did not come.
    """

    system: str
    other: str
    reader: str
    judge: str
    better: int
    worse: int
    same: int
    turned: int
    first: float
    unread: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerReport:
    """All that a run's answers came to at one task."""

    rows: tuple[AnswerRow, ...]
    judges: tuple[JudgeRow, ...]
    against: str
    agreements: Mapping[tuple[str, str], Agreement]
    pairs: tuple[PairRow, ...]
    disputed: int
    wanting: int


def answered(task: BenchTask, run: LoggedRun, seed: int) -> AnswerReport | None:
    """Compute what the answers of a run came to; None where nobody answered."""
    given = given_words(run)
    if not given:
        return None
    against = stood_beside(task.against, run.answering)
    rows = tuple(
        _row(task, system, reader, words, None if system == against else given.get((against, reader)), run, seed)
        for (system, reader), words in given.items()
    )
    asked = {(w.to.ns, w.to.question): w.to for words in given.values() for w in words}.values()
    return AnswerReport(
        rows=rows,
        against=against,
        judges=tuple(_judge_rows(run, seed)),
        agreements=_agreements(run.marks.values()),
        pairs=tuple(_pair_rows(run.preferences.values())),
        disputed=sum(_is_disputed(answer) for answer in asked),
        wanting=sum(not answer.wanted and answer.category not in UNANSWERABLE for answer in asked),
    )


def given_words(run: LoggedRun) -> dict[tuple[str, str], list[GivenWords]]:
    """Every answer that was given, by contestant and reader."""
    given: dict[tuple[str, str], list[GivenWords]] = defaultdict(list)
    to = {(answer.system, answer.ns, answer.question): answer for answer in all_answers(run)}
    order = {system: n for n, system in enumerate(dict.fromkeys(system for system, _, _ in to))}
    for answer in to.values():
        if answer.given is not None:
            own = answer.given
            text = own.short if own.known else ""
            given[answer.system, OWN].append(GivenWords(to=answer, text=text, declined=not own.known, said=None))
    for reading in run.readings.values():
        answer, text = to[reading.system, reading.ns, reading.question], reading.said.text
        if not reading.said.failed:
            words = GivenWords(to=answer, text=text, declined=says_no(text), said=reading.said)
            given[reading.system, reading.reader].append(words)
    return {key: given[key] for key in sorted(given, key=lambda key: (order[key[0]], key[1]))}


Answers: TypeAlias = Mapping[tuple[str, str, str], Sequence[tuple[str, str, str]]]
"""By contestant, `ns` and question: the readers, what they answered, and how judges marked it, in words."""


def answers_of(run: LoggedRun, wanted: Container[tuple[str, str, str]]) -> Answers:
    """What was answered to some questions of contestants."""
    marks: dict[tuple[str, ...], list[str]] = defaultdict(list)
    words = {True: "right", False: "wrong", None: "unread"}
    for reply in run.marks.values():
        if (reply.system, reply.ns, reply.question) in wanted and not reply.said.failed:
            marks[reply.system, reply.ns, reply.question, reply.reader].append(words[mark(reply.said.text)])
    found: dict[tuple[str, str, str], list[tuple[str, str, str]]] = defaultdict(list)
    for (system, reader), given in given_words(run).items():
        for answer in given:
            at = (system, answer.to.ns, answer.to.question)
            if at in wanted:
                marked = "".join(f", {word}" for word in marks[*at, reader])
                found[at].append((reader or BY_ITSELF, answer.text or "(it declined)", marked))
    return found


def _is_disputed(answer: LoggedAnswer) -> bool:
    """Whether an audit disputes the right answer itself."""
    return answer.disputed not in ("", _CITED_WRONGLY)


def _row(
    task: BenchTask,
    system: str,
    reader: str,
    words: Sequence[GivenWords],
    others: Sequence[GivenWords] | None,
    run: LoggedRun,
    seed: int,
) -> AnswerRow:
    rule, by_paper = rule_of(task), _by_paper(task, words)
    can = _answerable(words)
    cannot = [w for w in words if w.to.category in UNANSWERABLE]
    values = {rule: _by_paper(task, can)}
    for name, metric in WORD_METRICS.items():
        values.setdefault(name, np.array([metric(w.text, w.to.wanted) for w in can], np.float64))
    undisputed = np.array([not _is_disputed(w.to) for w in can], np.bool_)
    categories = np.array([w.to.category for w in words])
    said = [w.said for w in words if w.said is not None and not w.said.again]
    failures = [r for r in run.readings.values() if (r.system, r.reader) == (system, reader) and r.said.failed]
    return AnswerRow(
        system=system,
        reader=reader,
        rule=rule,
        scores={name: metrics.of_enough(value) for name, value in metrics.estimates(values, seed).items()},
        categories={
            name: _estimate(by_paper[categories == name], seed) for name in dict.fromkeys(w.to.category for w in words)
        },
        gain=None if others is None else _estimate(_beyond(task, can, _answerable(others)), seed),
        undisputed=_estimate(values[rule][undisputed], seed),
        declined_wrongly=_share([w.declined for w in can]),
        declined_rightly=_share([w.declined for w in cannot]),
        prompt_tokens=_mean([w.said.prompt_tokens for w in words if w.said is not None]),
        p50_ms=_median([one.milliseconds for one in said]),
        calls=len(said),
        failed=len(failures),
    )


def _answerable(words: Sequence[GivenWords]) -> list[GivenWords]:
    return [w for w in words if w.to.category not in UNANSWERABLE and w.to.wanted]


def _estimate(values: Array, seed: int) -> Estimate:
    return metrics.of_enough(metrics.estimates({"": values}, seed)[""])


def _beyond(task: BenchTask, words: Sequence[GivenWords], others: Sequence[GivenWords]) -> Array:
    """By how much each answer beats another's to the same question; NaN where that gave none."""
    beside = {(w.to.ns, w.to.question): score for w, score in zip(others, _by_paper(task, others), strict=True)}
    return _by_paper(task, words) - np.array(
        [beside.get((w.to.ns, w.to.question), math.nan) for w in words], np.float64
    )


def _by_paper(task: BenchTask, words: Sequence[GivenWords]) -> Array:
    """The paper's score of each; of what has no right answer, whether it was declined."""
    score = paper_rule(rule_of(task))
    return np.array(
        [
            float(w.declined) if w.to.category in UNANSWERABLE
            else score(w.text, w.to.wanted, w.to.category) if w.to.wanted
            else math.nan
            for w in words
        ],
        np.float64,
    )  # fmt: skip


def _judge_rows(run: LoggedRun, seed: int) -> Iterator[JudgeRow]:
    by: dict[tuple[str, str, str], list[JudgeReply]] = defaultdict(list)
    for reply in run.marks.values():
        by[reply.system, reply.reader, reply.judge].append(reply)
    for (system, reader, judge), replies in by.items():
        came = [reply for reply in replies if not reply.said.failed]
        marks = [mark(reply.said.text) for reply in came]
        by_question, by_turn = defaultdict(list), defaultdict(list)
        for reply, found in zip(came, marks, strict=True):
            by_turn[reply.turn].append(found)
            if found is not None:
                by_question[reply.ns, reply.question].append(float(found))
        shares = np.array([_mean(found) for found in by_question.values()], np.float64)
        sent = [reply.said for reply in came if not reply.said.again]
        yield JudgeRow(
            system=system,
            reader=reader,
            judge=judge,
            right=_estimate(shares, seed),
            runs=spread(list(by_turn.values())),
            unread=marks.count(None),
            replies=len(came),
            failed=len(replies) - len(came),
            calls=len(sent),
            tokens=sum(said.prompt_tokens + said.answer_tokens for said in sent),
            p50_ms=_median([said.milliseconds for said in sent]),
        )


def _agreements(replies: Iterable[JudgeReply]) -> dict[tuple[str, str], Agreement]:
    """How far each two judges agree, over all that both were asked."""
    by: dict[str, dict[tuple[str, ...], bool | None]] = defaultdict(dict)
    for reply in replies:
        if not reply.said.failed:
            by[reply.judge][reply.system, reply.ns, reply.question, reply.reader, str(reply.turn)] = mark(
                reply.said.text
            )
    return {
        (one, other): agreement([by[one][key] for key in both], [by[other][key] for key in both])
        for one, other in combinations(by, 2)
        for both in [sorted(by[one].keys() & by[other].keys())]
    }


def _pair_rows(replies: Iterable[PairReply]) -> Iterator[PairRow]:
    by: dict[tuple[str, str, str, str], dict[tuple[str, str], dict[bool, int | None]]] = defaultdict(dict)
    for reply in replies:
        found = preference(reply.said.text, swapped=reply.swapped)
        pair = by[reply.system, reply.other, reply.reader, reply.judge].setdefault((reply.ns, reply.question), {})
        pair[reply.swapped] = found
    for (system, other, reader, judge), pairs in by.items():
        orders = [(pair.get(False), pair.get(True)) for pair in pairs.values()]
        came = Counter(settled(*order) for order in orders)
        first = [v > 0 for a, b in orders for v in (a, None if b is None else -b) if v]
        yield PairRow(
            system=system,
            other=other,
            reader=reader,
            judge=judge,
            better=came[1],
            worse=came[-1],
            same=came[0],
            turned=sum(a != b for a, b in orders if a is not None and b is not None),
            first=_share(first),
            unread=came[None],
        )


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else math.nan


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else math.nan


def _median(values: Sequence[float]) -> float:
    return float(np.median(values)) if values else math.nan


# As tables


def answer_tables(of: AnswerReport) -> Iterator[TextTable]:
    """Answers, the paper's score by category, judges, how they agree, and answers compared."""
    yield _answers(of)
    yield _by_category(of.rows)
    if of.judges:
        yield _judges(of.judges)
    if of.agreements:
        yield _agreement_table(of.agreements)
    if of.pairs:
        yield _pairs(of.pairs)


def answer_notes(of: AnswerReport, run: LoggedRun) -> list[str]:
    """What stands under the tables: by which prompts, and what was left out."""
    settings = run.header["settings"].get("answers", {})
    notes = [
        f"Answers are scored over questions that have one. `{BY_ITSELF}` quotes without a model; any other reader is a "
        "model that was shown the ten best that each contestant recalled, by the same prompt (SHA-256 "
        f"{str(settings.get('prompt', ''))[:12]}). "
        "`set F1` is what the tables of A-Mem and Mem0 call F1; docs/laboratory.md has each rule."
    ]
    if of.disputed:
        notes.append(
            f"An audit that came with the data disputes the right answers of {of.disputed} questions; `undisputed` is "
            "without them, all else with them."
        )
    if of.wanting:
        notes.append(f"{of.wanting} questions have no right answer in the data and are not scored.")
    if of.judges:
        notes.append(
            f"Judges: prompt SHA-256 {str(settings.get('judge prompt', ''))[:12]}, temperature "
            f"{settings.get('temperature', 0)}, asked {settings.get('runs', 1)} times. Adversarial questions are not "
            "judged. A reply that is neither JSON of the schema nor a label alone counts as unread, and as no mark."
        )
    return notes


def by_reader(system: str, reader: str) -> str:
    """How a line is named."""
    return f"{system} / {reader or BY_ITSELF}"


def _answers(of: AnswerReport) -> TextTable:
    rows = of.rows
    shown = list(dict.fromkeys((rows[0].rule, "exact", "SQuAD F1", "token F1", "set F1", "BLEU-1", "ROUGE-L")))
    header = (
        "contestant / reader", "n", *shown, f"beside {of.against}", "undisputed", "declined wrongly", "rightly",
        "prompt tokens", "p50 ms", "calls", "failed",
    )  # fmt: skip
    lines = tuple(
        (
            by_reader(row.system, row.reader),
            f"{row.scores[row.rule].n:,}",
            *(percent(row.scores[name]) if name == row.rule else _percent(row.scores[name].mean) for name in shown),
            signed(row.gain),
            percent(row.undisputed),
            _percent(row.declined_wrongly),
            _percent(row.declined_rightly),
            _number(row.prompt_tokens),
            _number(row.p50_ms),
            f"{row.calls:,}",
            f"{row.failed:,}",
        )
        for row in rows
    )
    return TextTable("Answers, %", header, lines)


def _by_category(rows: Sequence[AnswerRow]) -> TextTable:
    names = list(dict.fromkeys(name for row in rows for name in row.categories))
    lines = tuple(
        (
            by_reader(row.system, row.reader),
            *(percent(row.categories[name]) if name in row.categories else "-" for name in names),
        )
        for row in rows
    )
    sizes = {name: max(row.categories[name].n for row in rows if name in row.categories) for name in names}
    header = ("contestant / reader", *(f"{name or NO_CATEGORY} ({sizes[name]})" for name in names))
    return TextTable(f"Answers by category: {rows[0].rule}, %", header, lines)


def _judges(rows: Sequence[JudgeRow]) -> TextTable:
    header = (
        "contestant / reader", "judge", "n", "right, %", "runs: mean", "sd", "lowest", "highest", "unread",
        "of replies", "failed", "calls", "tokens", "p50 ms",
    )  # fmt: skip
    lines = tuple(
        (
            by_reader(row.system, row.reader),
            row.judge,
            f"{row.right.n:,}",
            percent(row.right),
            *map(_percent, (row.runs.mean, row.runs.deviation, row.runs.low, row.runs.high)),
            f"{row.unread:,}",
            f"{row.replies:,}",
            f"{row.failed:,}",
            f"{row.calls:,}",
            f"{row.tokens:,}",
            _number(row.p50_ms),
        )
        for row in rows
    )
    return TextTable("Judged answers", header, lines, (0, 1))


def _agreement_table(agreements: Mapping[tuple[str, str], Agreement]) -> TextTable:
    lines = tuple(
        (one, other, f"{found.n:,}", _percent(found.same), "-" if math.isnan(found.kappa) else f"{found.kappa:.2f}")
        for (one, other), found in agreements.items()
    )
    return TextTable("How judges agree", ("judge", "and", "n", "same mark, %", "Cohen's kappa"), lines, (0, 1))


def _pairs(rows: Sequence[PairRow]) -> TextTable:
    header = ("answers of", "beside", "judge", "better", "worse", "same", "turned with the order", "for the first, %",
              "unread")  # fmt: skip
    lines = tuple(
        (
            by_reader(row.system, row.reader),
            row.other,
            row.judge,
            *(f"{count:,}" for count in (row.better, row.worse, row.same, row.turned)),
            _percent(row.first),
            f"{row.unread:,}",
        )
        for row in rows
    )
    return TextTable("Answers two by two, in both orders", header, lines, (0, 1, 2))


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.1f}"


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:,.0f}"

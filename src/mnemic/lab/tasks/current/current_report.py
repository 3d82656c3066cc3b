"""From the outcomes of `bench current` to its tables, its bars, JSON, and what a builder looks at: the failures."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final, TextIO

import numpy as np

from mnemic.lab.kit.calibration import Bin, error_estimate, reliability
from mnemic.lab.kit.figures import Figure, beside_bars
from mnemic.lab.kit.log import provenance
from mnemic.lab.kit.metrics import Estimate, auroc_estimate, estimates
from mnemic.lab.kit.tables import TextTable, aligned, bar, finite, made_up, percent
from mnemic.lab.tasks.current.current_cases import LANGUAGES, CurrentPlan, CurrentQuestion, Half, read_cases
from mnemic.lab.tasks.current.current_outcomes import BestRanks, CurrentOutcome
from mnemic.lab.tasks.current.grading import Verdict

LOOK_ALIKE: Final = "look_alike"
"""The kind of cases with somebody else who is like the person asked about."""

_BEYOND: Final = math.inf

Measure = Callable[[CurrentOutcome], float]
"""What one outcome counts: 1 or 0, or NaN where its question does not have the metric."""

Groups = Mapping[str, Sequence[CurrentOutcome]]


def _above(ranks: BestRanks, rival: int | None) -> float:
    return float(ranks.current is not None and ranks.current < (rival or _BEYOND))


def _within(ranks: BestRanks, k: int) -> float:
    return float((ranks.current or _BEYOND) <= k)


def _newest_first(ranks: Callable[[CurrentOutcome], BestRanks]) -> Measure:
    def measure(o: CurrentOutcome) -> float:
        has = o.question.current and o.question.outdated
        return _above(ranks(o), ranks(o).outdated) if has else math.nan

    return measure


def _right_person(ranks: Callable[[CurrentOutcome], BestRanks]) -> Measure:
    def measure(o: CurrentOutcome) -> float:
        has = o.question.current and o.question.others and o.case.kind == LOOK_ALIKE
        return _above(ranks(o), ranks(o).others) if has else math.nan

    return measure


def _recall_measure(ranks: Callable[[CurrentOutcome], BestRanks], k: int, *, past: bool = False) -> Measure:
    def measure(o: CurrentOutcome) -> float:
        has = o.question.current and (o.question.of_the_past or not past)
        return _within(ranks(o), k) if has else math.nan

    return measure


def _by(of: str) -> dict[str, Measure]:
    """What is measured of a ranking, ours or the baseline's."""

    def ranks(o: CurrentOutcome) -> BestRanks:
        return o.ranks if of == "mnemic" else o.baseline

    return {
        f"{of}: above outdated": _newest_first(ranks),
        f"{of}: right person": _right_person(ranks),
        f"{of}: R@1": _recall_measure(ranks, 1),
        f"{of}: R@5": _recall_measure(ranks, 5),
        f"{of}: earlier R@1": _recall_measure(ranks, 1, past=True),
    }


def _is(verdict: Verdict) -> Measure:
    return lambda o: float(o.grade.verdict is verdict)


RANKED: Final[Mapping[str, Measure]] = _by("mnemic") | _by("BM25")
ANSWERED: Final[Mapping[str, Measure]] = {
    "right": _is(Verdict.RIGHT),
    "part": _is(Verdict.PART),
    "unsure": _is(Verdict.UNSURE),
    "wrong": _is(Verdict.WRONG),
    "wrong, sure": lambda o: float(o.grade.misleads),
}


@dataclass(frozen=True, slots=True)
class ConfidenceWorth:
    """How well confidence tells questions that memory can answer from others, and how well it says what is right.

    Attributes:
        unknown: AUROC against the questions of the cases that have no answer; `elsewhere`: against the same questions
            asked where the matter never came up.
        error: Expected calibration error of the answers given.
        unfounded: Share of those asked where the matter never came up that are answered with confidence >= .5.
    """

    unknown: Estimate
    elsewhere: Estimate
    error: Estimate
    unfounded: Estimate


def grouped(outcomes: Sequence[CurrentOutcome], by: str = "") -> dict[str, list[CurrentOutcome]]:
    """The rows of a table: all, each language, each kind; by "kind", the kinds of each language; or by "type"."""
    groups = {"all": list(outcomes)}
    for lang, name in LANGUAGES.items():
        mine = [o for o in outcomes if o.case.lang == lang]
        groups |= {name: mine} | (
            {f"  {name} {kind}": own for kind, own in _kinds(mine).items()} if by == "kind" else {}
        )
    if by == "type":
        groups |= {f"  {type}": [o for o in outcomes if o.question.type == type] for type in _types(outcomes)}
    elif by == "":
        groups |= {f"  {kind}": own for kind, own in _kinds(outcomes).items()}
    return {name: own for name, own in groups.items() if own}


def _kinds(outcomes: Sequence[CurrentOutcome]) -> dict[str, list[CurrentOutcome]]:
    kinds = dict.fromkeys(o.case.kind for o in outcomes)
    return {kind: [o for o in outcomes if o.case.kind == kind] for kind in sorted(kinds)}


def _types(outcomes: Sequence[CurrentOutcome]) -> list[str]:
    return sorted({o.question.type for o in outcomes})


def scores(outcomes: Sequence[CurrentOutcome], measures: Mapping[str, Measure], seed: int) -> dict[str, Estimate]:
    """The mean of each measure with its interval."""
    values = {name: np.array([measure(o) for o in outcomes], np.float64) for name, measure in measures.items()}
    return estimates(values, seed)


def told_apart(outcomes: Sequence[CurrentOutcome], seed: int) -> ConfidenceWorth:
    """What confidence is worth."""
    known = [o.grade.confidence for o in outcomes if not o.question.unknown]
    given = [o for o in outcomes if o.grade.given]
    unfounded = np.array([float(o.unfounded >= 0.5) for o in outcomes])
    return ConfidenceWorth(
        unknown=auroc_estimate(known, [o.grade.confidence for o in outcomes if o.question.unknown], seed),
        elsewhere=auroc_estimate(known, [o.unfounded for o in outcomes], seed),
        error=error_estimate([o.grade.confidence for o in given], [o.grade.holds for o in given], seed),
        unfounded=estimates({"": unfounded}, seed)[""],
    )


def bins(outcomes: Sequence[CurrentOutcome]) -> tuple[Bin, ...]:
    """The reliability diagram of the answers given."""
    given = [o for o in outcomes if o.grade.given]
    return reliability([o.grade.confidence for o in given], [o.grade.holds for o in given])


def figures(outcomes: Sequence[CurrentOutcome], seed: int = 0) -> list[Figure]:
    """What it must show, beside its bars."""
    ranked, answered = scores(outcomes, RANKED, seed), scores(outcomes, ANSWERED, seed)
    made = [
        _share("current above every outdated", ranked, "mnemic: above outdated", 85),
        _share("right person above look-alikes", ranked, "mnemic: right person", 90),
        _share("R@5 of what is current", ranked, "mnemic: R@5", 85),
        _share("R@1 of an earlier state", ranked, "mnemic: earlier R@1", 75),
        _share("ask: right", answered, "right", 70),
        _share("ask: wrong with confidence >= .8", answered, "wrong, sure", 3, more=False),
    ]
    made.append(_figure("ask: expected calibration error", told_apart(outcomes, seed).error, "", 0.08, more=False))
    for lang, least in (("en", 0.85), ("zh", 0.75)):
        mine = told_apart([o for o in outcomes if o.case.lang == lang], seed)
        name = f"answerability AUROC, {LANGUAGES[lang]}"
        made.append(_figure(f"{name}: nothing of it was said", mine.elsewhere, "", least))
        made.append(_figure(f"{name}: what was said leaves it open", mine.unknown, "", None))
    return [figure for figure in made if not math.isnan(figure.value)]


def _share(name: str, estimates: Mapping[str, Estimate], key: str, least: float, *, more: bool = True) -> Figure:
    ours, plain = estimates[key], estimates.get(key.replace("mnemic", "BM25"))
    hundredfold = Estimate(100 * ours.mean, 100 * ours.low, 100 * ours.high, ours.n)
    beside = f"; BM25 {100 * plain.mean:.1f}" if plain is not None and plain is not ours else ""
    return _figure(name, hundredfold, "%", least, more=more, beside=beside)


def _figure(
    name: str, value: Estimate, unit: str, least: float | None, *, more: bool = True, beside: str = ""
) -> Figure:
    detail = f"[{value.low:.3g}, {value.high:.3g}], n = {value.n}{beside}"
    return Figure(name=name, value=value.mean, unit=unit, bar=least, more=more, detail=detail)


def tables(outcomes: Sequence[CurrentOutcome], seed: int = 0, by: str = "") -> list[TextTable]:
    """The bars; what is recalled, what is answered, what confidence is worth; the reliability diagram."""
    groups = grouped(outcomes, by)
    return [
        beside_bars("1. What it must show", figures(outcomes, seed)),
        _table("2. What is recalled, %", groups, RANKED, seed),
        _table("3. What is answered, %", groups, ANSWERED, seed),
        _apart("4. What confidence is worth", groups, seed),
        _diagram(outcomes),
    ]


def run_tables(outcomes: Sequence[CurrentOutcome], system: str, seed: int) -> Iterator[TextTable]:
    """What one contestant of a run recalls; where it answers, what, and what its confidence is worth."""
    groups, of = grouped(outcomes), f", {system}"
    ranked = {name: measure for name, measure in RANKED.items() if name.startswith("mnemic: ")}
    yield _table(f"What is recalled{of}, %", groups, ranked, seed)
    if any(o.answered for o in outcomes):
        yield _table(f"What is answered{of}, %", groups, ANSWERED, seed)
        yield _apart(f"What confidence is worth{of}", groups, seed)


def _table(title: str, groups: Groups, measures: Mapping[str, Measure], seed: int) -> TextTable:
    rows = []
    for name, group in groups.items():
        estimates = scores(group, measures, seed)
        rows.append((name, str(len(group)), *(percent(estimates[key]) for key in measures)))
    return TextTable(title, ("", "n", *(key.replace("mnemic: ", "") for key in measures)), tuple(rows))


def _apart(title: str, groups: Groups, seed: int) -> TextTable:
    rows = []
    for name, group in groups.items():
        aurocs = told_apart(group, seed)
        cells = (_of_one(aurocs.error), _of_one(aurocs.unknown), _of_one(aurocs.elsewhere), percent(aurocs.unfounded))
        rows.append((name, str(len(group)), *cells))
    columns = ("", "n", "calibration error", "AUROC, left open", "AUROC, never said", "never said, yet answered, %")
    return TextTable(title, columns, tuple(rows))


def _of_one(value: Estimate) -> str:
    return "-" if math.isnan(value.mean) else f"{value.mean:.2f} [{value.low:.2f}, {value.high:.2f}]"


def _diagram(outcomes: Sequence[CurrentOutcome]) -> TextTable:
    rows = tuple(
        (
            f"{each.low:.1f} to {each.high:.1f}",
            str(each.n),
            f"{each.confidence:.2f}",
            f"{each.right:.2f}",
            bar(each.right),
        )
        for each in bins(outcomes)
        if each.n
    )
    title = "5. Of the answers given with such a confidence, so many are right"
    return TextTable(title, ("confidence", "n", "mean", "right", ""), rows, (0, 4))


def show(
    outcomes: Sequence[CurrentOutcome], plan: CurrentPlan, stream: TextIO, *, as_json: bool = False, by: str = ""
) -> None:
    """Write the tables as aligned text, or as JSON; of what was held back no question, only figures."""
    if as_json:
        json.dump(finite(_json(outcomes, plan, by)), stream, ensure_ascii=False, indent=2)
        stream.write("\n")
    else:
        stream.write("\n\n".join(map(aligned, map(made_up, tables(outcomes, plan.seed, by)))) + "\n")


def _json(outcomes: Sequence[CurrentOutcome], plan: CurrentPlan, by: str) -> dict[str, object]:
    rows: dict[str, object] = {}
    for name, group in grouped(outcomes, by).items():
        estimates = {**scores(group, RANKED, plan.seed), **scores(group, ANSWERED, plan.seed)}
        worth = asdict(told_apart(group, plan.seed))
        rows[name.strip()] = {"n": len(group), **{key: asdict(each) for key, each in estimates.items()}, **worth}
    return {
        "header": {**provenance(), "plan": asdict(plan)},
        "figures": [{**asdict(figure), "met": figure.met} for figure in figures(outcomes, plan.seed)],
        "rows": rows,
        "reliability": [asdict(each) for each in bins(outcomes)],
        **({"questions": [_question_record(o) for o in outcomes]} if plan.half is Half.DEVELOPMENT else {}),
    }


def _question_record(o: CurrentOutcome) -> dict[str, object]:
    return {
        "case": o.case.id,
        "kind": o.case.kind,
        "question": o.question.text,
        "ranks": asdict(o.ranks),
        "bm25": asdict(o.baseline),
        "verdict": o.grade.verdict.value,
        "confidence": o.grade.confidence,
        "answer": o.answered,
    }


# What went wrong


def failed(o: CurrentOutcome) -> bool:
    """Whether a question is one to look at: something else came before what is current, or the answer is not right."""
    lost = [measure(o) == 0 for name, measure in RANKED.items() if name.startswith("mnemic") and "R@1" not in name]
    return any(lost) or o.grade.verdict is not Verdict.RIGHT


def write_failures(outcomes: Sequence[CurrentOutcome], plan: CurrentPlan, most: int, stream: TextIO) -> None:
    """Write the first questions that failed: the whole case, what came, why, and what was answered."""
    there = [o for o in outcomes if failed(o)]
    whole = {case.id: case for case in read_cases(plan.half)} if there else {}
    for o in there[:most]:
        stream.write("\n".join(_failure(replace(o, case=whole.get(o.case.id, o.case)))) + "\n\n")
    stream.write(f"{len(there)} of {len(outcomes)} questions failed; {min(most, len(there))} shown\n")


def _failure(o: CurrentOutcome) -> Iterator[str]:
    question = o.question
    past = f", as of {question.as_of:%Y-%m-%d}" if question.as_of else ""
    past += f", valid at {question.valid_at:%Y-%m-%d}" if question.valid_at else ""
    yield f"{o.case.id} ({o.case.kind}, {question.type}), asked {question.asked:%Y-%m-%d}{past}"
    yield f"  Q: {question.text}"
    expected = "unknown" if question.unknown else " / ".join(question.answers)
    yield f"  expected: {expected}" + (f"; not: {' / '.join(question.wrong)}" if question.wrong else "")
    for n, turn in enumerate(o.case.turns):
        said = f"{turn.said:%Y-%m-%d} " if turn.said else ""
        yield f"  [{n}] {_role(question, n):8} {said}{turn.speaker or turn.role}: {turn.text}"
    for rank, hit in enumerate(o.hits[:5], start=1):
        what = "filler" if hit.place is None else f"[{hit.place}] {_role(question, hit.place)}"
        yield f"  {rank}. {what}: {hit.text[:100]}  ({'; '.join(hit.reasons)})"
    yield f"  ask: {o.grade.verdict}, {o.grade.confidence:.2f}: {o.answered}"


def _role(question: CurrentQuestion, place: int) -> str:
    for name in ("current", "outdated", "others"):
        if place in getattr(question, name):
            return name.removesuffix("s")
    return "-"

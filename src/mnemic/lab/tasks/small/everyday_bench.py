"""From the log of a run over people's ordinary lives to its table: right, honestly unsure, or wrong."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TextIO

import numpy as np

from mnemic.lab.kit.calibration import expected_error
from mnemic.lab.kit.log import provenance
from mnemic.lab.kit.metrics import Estimate, estimates
from mnemic.lab.kit.tables import TextTable, aligned, finite, made_up, percent
from mnemic.lab.tasks.current.current_cases import LANGUAGES, CurrentCase, CurrentQuestion
from mnemic.lab.tasks.current.current_outcomes import NOT_ASKED
from mnemic.lab.tasks.current.grading import Grade, Verdict
from mnemic.lab.tasks.current.told_cases import asked_again, case_of, cited_places, graded

if TYPE_CHECKING:
    from mnemic.lab.kit.log import LoggedAnswer, LoggedRun


@dataclass(frozen=True, slots=True, kw_only=True)
class EverydayOutcome:
    """What one question brought.

    Attributes:
        first: The statement that answers it is what is quoted first.
        answered: The answer as a person reads it.
    """

    case: CurrentCase
    question: CurrentQuestion
    sort: str
    grade: Grade
    first: bool
    answered: str


def everyday_outcomes(run: LoggedRun, system: str) -> list[EverydayOutcome]:
    """What one contestant of a run answered to each question."""
    return [_outcome(run, answer) for answer in run.answers.get(system, ()) if answer.given is not None]


def _outcome(run: LoggedRun, answer: LoggedAnswer) -> EverydayOutcome:
    question = asked_again(answer, run.questions.get((answer.ns, answer.question), ""))
    cited = [] if answer.given is None else cited_places(answer.given)
    return EverydayOutcome(
        case=case_of(run, answer),
        question=question,
        sort=answer.category,
        grade=graded(answer) or NOT_ASKED,
        first=bool(cited) and cited[0] in question.current,
        answered="" if answer.given is None else answer.given.text,
    )


# Counting


def everyday_scores(outcomes: Sequence[EverydayOutcome], seed: int = 0) -> dict[str, Estimate]:
    """The shares of a group, 0 to 1."""
    verdicts = [o.grade.verdict for o in outcomes]
    columns: dict[str, list[float]] = {
        str(verdict): [verdict_given is verdict for verdict_given in verdicts] for verdict in Verdict
    }
    columns["wrong, sure"] = [o.grade.misleads for o in outcomes]
    columns["first"] = [math.nan if o.question.unknown else o.first for o in outcomes]
    return estimates({name: np.array(column, np.float64) for name, column in columns.items()}, seed)


def _groups(outcomes: Sequence[EverydayOutcome]) -> Mapping[str, list[EverydayOutcome]]:
    """All, each language, what memory holds and what it does not, and each sort in each language."""
    groups = {"all": list(outcomes)}
    groups |= {name: [o for o in outcomes if o.case.lang == lang] for lang, name in LANGUAGES.items()}
    groups |= {"told": [o for o in outcomes if not o.question.unknown]}
    groups |= {"not told": [o for o in outcomes if o.question.unknown]}
    for sort in dict.fromkeys(o.sort for o in outcomes):
        for lang, name in LANGUAGES.items():
            groups[f"  {sort}, {name}"] = [o for o in outcomes if o.sort == sort and o.case.lang == lang]
    return groups


def calibration_error(outcomes: Sequence[EverydayOutcome]) -> float:
    """How far the confidence of the answers given lies from the share that is right."""
    given = [o for o in outcomes if o.grade.given]
    return expected_error([o.grade.confidence for o in given], [o.grade.holds for o in given])


def table(outcomes: Sequence[EverydayOutcome], seed: int, of: str = "") -> TextTable:
    """Every group with the shares of each verdict."""
    names = ("right", "first", "part", "unsure", "wrong", "wrong, sure")
    rows = []
    for name, group in _groups(outcomes).items():
        estimates = everyday_scores(group, seed)
        wrong = [o.grade.confidence for o in group if o.grade.verdict is Verdict.WRONG]
        at = f"{min(wrong):.2f} - {max(wrong):.2f}" if wrong else "-"
        rows.append((name, str(len(group)), *(percent(estimates[key]) for key in names), at))
    header = ("", "n", "right", "quoted first", *names[2:], "wrong at a confidence of")
    return TextTable(f"Ordinary lives: what is answered{of}, %", header, tuple(rows))


def show(outcomes: Sequence[EverydayOutcome], stream: TextIO, *, seed: int = 0, as_json: bool = False) -> None:
    """Write the table as aligned text, or its figures as JSON."""
    error = calibration_error(outcomes)
    if as_json:
        rows = {
            name.strip(): {key: asdict(value) for key, value in everyday_scores(own, seed).items()}
            for name, own in _groups(outcomes).items()
        }
        made = {"header": provenance(), "calibration error": error, "rows": rows}
        json.dump(finite(made), stream, ensure_ascii=False, indent=2)
        stream.write("\n")
    else:
        stream.write(f"{aligned(made_up(table(outcomes, seed)))}\n\ncalibration error {error:.3f}\n")


def write_failures(outcomes: Sequence[EverydayOutcome], most: int, stream: TextIO) -> None:
    """Write the first questions that were not answered right, with what was wanted and what was said."""
    failed = [o for o in outcomes if o.grade.verdict is not Verdict.RIGHT]
    for o in failed[:most]:
        wanted = " / ".join(o.case.turns[place].text for place in o.question.current) or "I do not know"
        stream.write(f"\n{o.case.id}, {o.sort}: {o.question.text}\n  wanted: {wanted}\n")
        stream.write(f"  {o.grade.verdict} at {o.grade.confidence:.2f}: {o.answered}\n")
    stream.write(f"\n{len(failed)} of {len(outcomes)} not right; {min(most, len(failed))} shown\n")

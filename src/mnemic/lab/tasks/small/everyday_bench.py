"""Asks people's small memories of their ordinary lives, and judges the answers: right, honestly unsure, or wrong."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TextIO

import numpy as np

from mnemic.lab.kit.cached import CachedEmbedder
from mnemic.lab.kit.calibration import expected_error
from mnemic.lab.kit.log import provenance
from mnemic.lab.kit.metrics import Estimate, estimates
from mnemic.lab.kit.run import Progress, silent
from mnemic.lab.kit.tables import TextTable, aligned, finite, percent
from mnemic.lab.tasks.current.current_bench import ToldMemory
from mnemic.lab.tasks.current.current_cases import LANGUAGES, CurrentCase, CurrentQuestion, ToldTurn
from mnemic.lab.tasks.current.grading import Grade, Verdict, grade
from mnemic.lab.tasks.small.everyday_cases import EverydayPart, everyday_cases

if TYPE_CHECKING:
    from mnemic.models.base import Embedder


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


def bench_everyday(
    part: EverydayPart, *, embedder: Embedder | None = None, progress: Progress = silent
) -> list[EverydayOutcome]:
    """Ask every question of a part, each person's in a memory that holds what they told and nothing else.

    Args:
        embedder: What meaning is read with; None for words alone.
    """
    reader = None if embedder is None else CachedEmbedder(embedder)
    cases = list(everyday_cases(part))
    outcomes: list[EverydayOutcome] = []
    for n, case in enumerate(cases, start=1):
        memory = told_memory(case.current_case, reader)
        for question, sort in zip(case.current_case.questions, case.sorts, strict=True):
            answer = memory.asked(question).ask(question.text)
            cited = memory.cited(answer)
            outcomes.append(
                EverydayOutcome(
                    case=case.current_case,
                    question=question,
                    sort=sort,
                    grade=grade(case.current_case, question, answer, cited),
                    first=bool(cited) and cited[0] in question.current,
                    answered=answer.text,
                )
            )
        memory.close()
        progress("everyday", n, len(cases))
    return outcomes


def told_memory(case: CurrentCase, embedder: Embedder | None) -> ToldMemory:
    """A memory that was told all of a case, and nothing else."""
    turns = [ToldTurn(turn, turn.said, n) for n, turn in enumerate(case.turns) if turn.said is not None]
    return ToldMemory(turns, embedder)


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
    """All, each language, and each sort in each language."""
    groups = {"all": list(outcomes)}
    groups |= {name: [o for o in outcomes if o.case.lang == lang] for lang, name in LANGUAGES.items()}
    for sort in dict.fromkeys(o.sort for o in outcomes):
        for lang, name in LANGUAGES.items():
            groups[f"  {sort}, {name}"] = [o for o in outcomes if o.sort == sort and o.case.lang == lang]
    return groups


def calibration_error(outcomes: Sequence[EverydayOutcome]) -> float:
    """How far the confidence of the answers given lies from the share that is right."""
    given = [o for o in outcomes if o.grade.given]
    return expected_error([o.grade.confidence for o in given], [o.grade.holds for o in given])


def _table(outcomes: Sequence[EverydayOutcome], seed: int) -> TextTable:
    names = ("right", "first", "part", "unsure", "wrong", "wrong, sure")
    rows = []
    for name, group in _groups(outcomes).items():
        estimates = everyday_scores(group, seed)
        wrong = [o.grade.confidence for o in group if o.grade.verdict is Verdict.WRONG]
        at = f"{min(wrong):.2f} - {max(wrong):.2f}" if wrong else "-"
        rows.append((name, str(len(group)), *(percent(estimates[key]) for key in names), at))
    header = ("", "n", "right", "quoted first", *names[2:], "wrong at a confidence of")
    return TextTable("Ordinary lives: what is answered, %", header, tuple(rows))


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
        stream.write(f"{aligned(_table(outcomes, seed))}\n\ncalibration error {error:.3f}\n")


def write_failures(outcomes: Sequence[EverydayOutcome], most: int, stream: TextIO) -> None:
    """Write the first questions that were not answered right, with what was wanted and what was said."""
    failed = [o for o in outcomes if o.grade.verdict is not Verdict.RIGHT]
    for o in failed[:most]:
        wanted = " / ".join(o.case.turns[place].text for place in o.question.current) or "I do not know"
        stream.write(f"\n{o.case.id}, {o.sort}: {o.question.text}\n  wanted: {wanted}\n")
        stream.write(f"  {o.grade.verdict} at {o.grade.confidence:.2f}: {o.answered}\n")
    stream.write(f"\n{len(failed)} of {len(outcomes)} not right; {min(most, len(failed))} shown\n")

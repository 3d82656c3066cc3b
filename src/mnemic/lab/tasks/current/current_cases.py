"""Cases of facts that change, written by hand in two halves, and the small talk that they stand in.

Each half is by another hand. Whoever builds looks at `development`; `held_back` is only measured. The turns of a case
and the exchanges of the talk around them are told in one order, the same for the same seed.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from importlib import resources
from typing import Any, Final

FILLER: Final = 40
"""Turns of other talk around a case's own, at least."""

LANGUAGES: Final[Mapping[str, str]] = {"en": "English", "zh": "Chinese"}

_BEFORE: Final = timedelta(days=30)
"""How long before a case's first turn the talk begins."""
_REPLY: Final = timedelta(minutes=1)


class Half(StrEnum):
    """A part that cases, talk and sentences are written in: two halves to measure by, and more to learn from.

    `HANDS` are cases of every kind by many more hands. `LOOK_ALIKES` are situations of people who are easily taken for
    one another, and of what is only supposed, by a hand of its own. Recall's order and the certainty of `ask` are
    learned from both, and how an answer is read from `TRAINING` and most of `HANDS`. `LOOK_ALIKES_CHECK` only check
    what came of it: nothing was learned from them, nor from `CHECK`, which are of every kind, by two hands alone.
    """

    DEVELOPMENT = "development"
    HELD_BACK = "held_back"
    TRAINING = "training"
    HANDS = "hands"
    LOOK_ALIKES = "look_alikes"
    LOOK_ALIKES_CHECK = "look_alikes_check"
    CHECK = "check"


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidTurn:
    """What somebody said; `said` is None in talk that has no date yet."""

    role: str
    speaker: str | None
    text: str
    said: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentQuestion:
    """What a case is asked.

    Attributes:
        asked: When.
        as_of, valid_at: The past that it is asked of, by these views.
        current, outdated, others: Places of the case's turns that hold the answer, that held it before or after, and
            that speak of somebody or something else.
        answers, wrong: Values that an accepted answer names, and values that are wrong.
        type: Of the answer: place, person, date, amount, thing, list, yesno.
        unknown: Whether memory does not hold the answer.
    """

    text: str
    asked: datetime
    as_of: datetime | None
    valid_at: datetime | None
    current: tuple[int, ...]
    outdated: tuple[int, ...]
    others: tuple[int, ...]
    answers: tuple[str, ...]
    wrong: tuple[str, ...]
    type: str
    unknown: bool

    @property
    def of_the_past(self) -> bool:
        """Whether it is asked of an earlier state."""
        return self.as_of is not None or self.valid_at is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentCase:
    """One person's turns about one matter, in the order of the file, and what is asked about it."""

    id: str
    lang: str
    kind: str
    turns: tuple[SaidTurn, ...]
    questions: tuple[CurrentQuestion, ...]


@dataclass(frozen=True, slots=True)
class ToldTurn:
    """A turn as it is told: `said` is given, `place` is that in the case; None for other talk."""

    turn: SaidTurn
    said: datetime
    place: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentPlan:
    """What is asked, and how the turns are told.

    Attributes:
        limit: Only the first so many cases of each language.
        kinds, langs: Only these; empty for all.
        by_time: Turns are taken in by their dates, and not as the file has them.
    """

    half: Half = Half.DEVELOPMENT
    limit: int | None = None
    kinds: tuple[str, ...] = ()
    langs: tuple[str, ...] = ()
    by_time: bool = False
    seed: int = 0


def chosen(cases: Iterable[CurrentCase], plan: CurrentPlan) -> list[CurrentCase]:
    """The cases that a plan names."""
    taken: dict[str, list[CurrentCase]] = {}
    for case in cases:
        here = taken.setdefault(case.lang, [])
        wanted = case.kind in (plan.kinds or (case.kind,)) and case.lang in (plan.langs or (case.lang,))
        if wanted and (plan.limit is None or len(here) < plan.limit):
            here.append(case)
    return [case for here in taken.values() for case in here]


def read_cases(half: Half) -> list[CurrentCase]:
    """Every case of a half, in the order of its file."""
    return [_case(row) for row in rows_of(f"current_{half}")]


def read_filler(half: Half) -> dict[str, list[tuple[SaidTurn, ...]]]:
    """The other talk of a half by language, in exchanges: a turn and the replies to it.

    Those that have none of their own stand amid the talk for training.
    """
    half = half if half in (Half.DEVELOPMENT, Half.HELD_BACK) else Half.TRAINING
    talk: dict[str, list[tuple[SaidTurn, ...]]] = {}
    for row in rows_of(f"current_filler_{half}"):
        turn = SaidTurn(role=row["role"], speaker=row["speaker"], text=row["text"])
        exchanges = talk.setdefault(row["lang"], [])
        if turn.role == "assistant" and exchanges:
            exchanges[-1] = (*exchanges[-1], turn)
        else:
            exchanges.append((turn,))
    return talk


def rows_of(name: str) -> Iterator[dict[str, Any]]:
    """Every row of a fixture; what is held back lies compressed, where no search of the source looks."""
    fixtures = resources.files("mnemic.lab") / "fixtures"
    if (packed := fixtures / f"{name}.jsonl.gz").is_file():
        text = gzip.decompress(packed.read_bytes()).decode()
    else:
        text = (fixtures / f"{name}.jsonl").read_text("utf-8")
    for line in text.split("\n"):  # a text may hold U+2028
        if line:
            yield json.loads(line)


def told_turns(
    case: CurrentCase, talk: Sequence[tuple[SaidTurn, ...]], *, seed: int = 0, by_time: bool = False
) -> list[ToldTurn]:
    """A case's turns amid at least `FILLER` turns of other talk, each with its date.

    Args:
        talk: The exchanges to draw from.
        by_time: In the order that they were said in; otherwise the case's turns keep the order of their file, as an
            import does.
    """
    chance = random.Random(f"{seed}:{case.id}")  # noqa: S311 - made-up order, not a secret
    gaps: dict[int, list[tuple[SaidTurn, ...]]] = {}
    open_gaps = [gap for gap in range(len(case.turns) + 1) if not _reply_at(case, gap)]
    for exchange in _drawn(talk, chance):
        gaps.setdefault(chance.choice(open_gaps), []).append(exchange)
    order: list[ToldTurn] = []
    for gap in range(len(case.turns) + 1):
        order += _dated(gaps.get(gap, []), *_bounds(case, gap), chance)
        if gap < len(case.turns):
            order.append(ToldTurn(case.turns[gap], _said(case, gap), gap))
    return sorted(order, key=lambda turn: turn.said) if by_time else order


def told_alone(case: CurrentCase) -> list[ToldTurn]:
    """A case's turns and nothing else; one without a date is left out."""
    return [ToldTurn(turn, turn.said, place) for place, turn in enumerate(case.turns) if turn.said is not None]


def _drawn(talk: Sequence[tuple[SaidTurn, ...]], chance: random.Random) -> list[tuple[SaidTurn, ...]]:
    """Exchanges at random until there are `FILLER` turns of them."""
    drawn: list[tuple[SaidTurn, ...]] = []
    for exchange in chance.sample(talk, len(talk)):
        if sum(map(len, drawn)) >= FILLER:
            break
        drawn.append(exchange)
    return drawn


def _reply_at(case: CurrentCase, gap: int) -> bool:
    """Whether what follows a gap is a reply, which nothing parts from what it replies to."""
    return 0 < gap < len(case.turns) and case.turns[gap].role == "assistant"


def _said(case: CurrentCase, place: int) -> datetime:
    """When a turn was said; one without a date stands a minute after the turn before it."""
    if (said := case.turns[place].said) is not None:
        return said
    return _said(case, place - 1) + _REPLY if place else min(question.asked for question in case.questions) - _BEFORE


def _bounds(case: CurrentCase, gap: int) -> tuple[datetime, datetime]:
    """Between which moments the talk in a gap takes place."""
    if gap == 0:
        first = _said(case, 0)
        return first - _BEFORE, first
    before = _said(case, gap - 1)
    after = _said(case, gap) if gap < len(case.turns) else min(question.asked for question in case.questions)
    return min(before, after), max(before, after)


def _dated(
    exchanges: Sequence[tuple[SaidTurn, ...]], begin: datetime, end: datetime, chance: random.Random
) -> Iterator[ToldTurn]:
    moments = sorted(begin + (end - begin) * chance.uniform(0.02, 0.98) for _ in exchanges)
    for exchange, moment in zip(exchanges, moments, strict=True):
        for n, turn in enumerate(exchange):
            yield ToldTurn(turn, moment + n * _REPLY)


def _case(row: dict[str, Any]) -> CurrentCase:
    return CurrentCase(
        id=row["id"],
        lang=row["lang"],
        kind=row["kind"],
        turns=tuple(
            SaidTurn(role=turn["role"], speaker=turn["speaker"], text=turn["text"], said=_moment(turn["said"]))
            for turn in row["turns"]
        ),
        questions=tuple(map(_question, row["questions"])),
    )


def _question(row: dict[str, Any]) -> CurrentQuestion:
    return CurrentQuestion(
        text=row["text"],
        asked=datetime.fromisoformat(row["asked"]),
        as_of=_moment(row["as_of"]),
        valid_at=_moment(row["valid_at"]),
        type=row["type"],
        unknown=row["unknown"],
        **{name: tuple(row[name]) for name in ("current", "outdated", "others", "answers", "wrong")},
    )


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)

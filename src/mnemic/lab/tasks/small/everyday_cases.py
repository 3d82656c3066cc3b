"""Reads what people told a memory of their ordinary lives, by hand, and what they ask of it.

Most tell twelve or so statements, one a day; some tell of most of a year, or type a year of mostly idle talk. What
answers a question may be worded quite otherwise, may have changed, may be said of somebody else alone, or never have
been said. Of the first 28 people two thirds are built on, and those of the other third only measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from mnemic.lab.tasks.current.current_cases import CurrentCase, CurrentQuestion, SaidTurn, rows_of

_FIRST: Final = datetime(2025, 3, 3, 9, tzinfo=UTC)
_APART: Final = timedelta(days=1)


class EverydayPart(StrEnum):
    """Whose questions rules and weights are built on, and whose only check them.

    `VOICES` are eleven more people by another hand, rambling or clipped, some in a language that is not theirs: rules
    were tried on their 217 questions, and of all weights only those of `follows` (`recall.currency`) learned from them.
    `LIVES` and `LIVES_CHECK` are 26 people by yet another hand, 247 questions, of whom some are taken for others, and
    some went back on what they said: rules were drawn from the failures of the first, never of the second. `LONG` and
    `LONG_CHECK` are two people each, who told of most of a year in 31 to 64 statements, 232 questions: a newcomer wrote
    them to see what comes out. Rules were drawn from the failures of both, weights are learned from the first alone.
    `PAIR` are two more by yet another hand, 66 questions, a third of them of what was never said: rules of topics were
    drawn from their failures, and no weight learned. `INDIRECT` and `INDIRECT_CHECK` are 60 situations each, half
    English and half Chinese, 747 questions, amid idle talk: told as people type, and by what follows from it rather
    than by what it is; two fifths of the questions are of what was never said, many of these with a word of what was.
    They were written before the code was read (but for `recall.answer`); failures of the first alone were looked at.
    `STREAMS` and `STREAMS_CHECK` are people who type to an assistant over weeks to a year, 40 to 70 messages each, at
    most a third of which tell anything that lasts: the others are requests, complaints and thinking aloud, many with
    words of what is asked. Five writers who knew no code wrote them, four of them the 116 people of the first; of 15
    questions to each, three or four are of what was never said and one or two of how things were before a change.
    Weights are learned from the first; the second is only measured, and no failure of it was looked at.
    `CHANGING` and `CHANGING_CHECK` are 144 more of that kind by five other writers, 2,304 questions, in whose lives
    five to seven matters change, half of them told without a word of what was or of what is asked; a quarter are of
    people who are taken for others, another of yes, no and what is only supposed. Used as `STREAMS` are.
    `LOGS` and `LOGS_CHECK` are 740 and 180 short logs of what somebody typed as over weeks, five to eight messages
    each, in some fifty voices, half English and half Chinese, 5,017 questions: one matter in two to four states, mostly
    told by what follows from it, among messages that could be mistaken for it (somebody else's, only planned,
    remembered, asked). Eight writers who knew no code wrote the first, two more the second. One of the networks of
    the order learns from the first; the second is only measured, and no failure of it was looked at.
    `NEWS` and `NEWS_CHECK` are lives of 13 to 18 messages, half of them in Chinese, in which somebody or something of
    whom one matter was told has news on another: "Ms Wang was transferred to Luoyang" leaves what she teaches. Four
    writers who knew no code wrote the first, two more the second. Used as `STREAMS` are.
    `NEWCOMERS` and `NEWCOMERS_CHECK` are 48 and 24 lives of 17 to 20 messages, half of them in Chinese, by six writers
    who knew no code, 1,080 questions: of 15 to each, three are of what was never said of somebody or something that is
    known, and one of what there is no more. How sure `ask` is learns from the first, and no order does; the second is
    only measured.
    """

    BUILD = "build"
    CHECK = "check"
    VOICES = "voices"
    LIVES = "lives"
    LIVES_CHECK = "lives_check"
    LONG = "long"
    LONG_CHECK = "long_check"
    PAIR = "pair"
    INDIRECT = "indirect"
    INDIRECT_CHECK = "indirect_check"
    STREAMS = "streams"
    STREAMS_CHECK = "streams_check"
    CHANGING = "changing"
    CHANGING_CHECK = "changing_check"
    LOGS = "logs"
    LOGS_CHECK = "logs_check"
    NEWS = "news"
    NEWS_CHECK = "news_check"
    NEWCOMERS = "newcomers"
    NEWCOMERS_CHECK = "newcomers_check"


@dataclass(frozen=True, slots=True, kw_only=True)
class EverydayCase:
    """What one person tells, and what is asked.

    Attributes:
        told: The statements and the questions, as `bench current` judges them.
        sorts: Of each question its sort: own, kin, when, amount, list, yes or no, changed, reverted, ended, supposed,
            never said, of another, past.
    """

    current_case: CurrentCase
    sorts: tuple[str, ...]


def everyday_cases(part: EverydayPart) -> Iterator[EverydayCase]:
    """Every person of a part, in the order of its file."""
    for row in rows_of(f"everyday_{part}"):
        days = row.get("days")
        turns = tuple(
            SaidTurn(role="user", speaker=None, text=text, said=_day(days[n], n) if days else _FIRST + n * _APART)
            for n, text in enumerate(row["said"])
        )
        asked = _day(row["asked"], 0) if days else _FIRST + len(turns) * _APART
        case = CurrentCase(
            id=row["id"],
            lang=row["lang"],
            kind="everyday",
            turns=turns,
            questions=tuple(_question(question, asked) for question in row["questions"]),
        )
        yield EverydayCase(current_case=case, sorts=tuple(question["sort"] for question in row["questions"]))


def _day(written: str, number: int) -> datetime:
    """The morning of a day; statements of one day follow each other by a minute."""
    return datetime.combine(date.fromisoformat(written), _FIRST.timetz()) + timedelta(minutes=number)


def _question(row: dict[str, Any], asked: datetime) -> CurrentQuestion:
    return CurrentQuestion(
        text=row["text"],
        asked=asked,
        as_of=None,
        valid_at=None,
        current=tuple(row["gold"]),
        outdated=tuple(row.get("outdated", ())),
        others=tuple(row.get("others", ())),
        answers=tuple(row["answers"]),
        wrong=tuple(row["wrong"]),
        type=row["type"],
        unknown=not row["answers"],
    )

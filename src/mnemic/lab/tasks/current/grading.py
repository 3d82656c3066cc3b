"""Judges an answer against the values that are accepted and those that are wrong.

A sentence that tells the change may name the old value beside the new one, so in a sentence of the evidence an
accepted value is looked for first, and only then a wrong one. What is given in short goes before what is quoted:
"Paris" stays wrong whatever is quoted behind it; where it lists values, the first of them counts. A question for yes or
no is answered by that word. A list is right when it has a value of every turn that holds one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from mnemic.core.parts import MONTHS
from mnemic.recall.reasons import KNOWN

if TYPE_CHECKING:
    from mnemic.lab.tasks.current.current_cases import CurrentCase, CurrentQuestion
    from mnemic.recall.answer import Answer

SURE: Final = 0.8
"""The confidence from which a person relies on an answer."""

_YES: Final = re.compile(r"\s*(?:yes\b|yeah\b|是|对|有|会|能|还在|没错)", re.IGNORECASE)
_NO: Final = re.compile(r"\s*(?:no\b|not\b|否|不|没(?!错)|未)", re.IGNORECASE)
"""The word that an answer begins with; a quotation begins with its mark, and says neither of itself."""
_ID: Final = re.compile(r"\[[0-9a-hjkmnp-tv-z]{26}\]")


_DIGITS: Final = {"零": 0, "〇": 0, "两": 2} | {sign: n for n, sign in enumerate("一二三四五六七八九", start=1)}
_UNITS: Final = {"十": 10, "百": 100, "千": 1_000}
_HAN_NUMBER: Final = re.compile(f"[{''.join((*_DIGITS, *_UNITS))}]+")
_MONTHS: Final = {month[:3].lower(): month.lower() for month in MONTHS}
_SHORT_MONTH: Final = re.compile(rf"\b(?:{'|'.join(_MONTHS)})\b(?=\W{{0,2}}\d)|(?<=\d )(?:{'|'.join(_MONTHS)})\b")
"""A month as it is shortened beside a day: "dec 3", "3 Dec"."""
_MONTH_FIRST: Final = re.compile(rf"\b({'|'.join(month.lower() for month in MONTHS)}) (\d{{1,2}})\b(?!\d)")


class Verdict(StrEnum):
    """What an answer is.

    `PART` is of the truth and no more: a list that lacks something; the right sentence behind something in short that
    is no answer; the sentence that decides a question for yes or no, or tells how something ended, with the conclusion
    left to the reader. `UNSURE` says that it does not know, or is as likely wrong.
    """

    RIGHT = "right"
    PART = "part"
    WRONG = "wrong"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class Grade:
    """How an answer fares.

    Attributes:
        verdict: Of the answer with its confidence.
        holds: Whether what it gives is right, however sure it is.
        given: It gives something.
    """

    verdict: Verdict
    holds: bool
    given: bool
    confidence: float

    @property
    def misleads(self) -> bool:
        """Whether it is wrong, and sure."""
        return self.verdict is Verdict.WRONG and self.confidence >= SURE


def grade(case: CurrentCase, question: CurrentQuestion, answer: Answer, cited: Sequence[int | None]) -> Grade:
    """Judge an answer.

    Args:
        cited: The place in the case of each turn that it cites, None for other talk; the best first.
    """
    return grade_by_parts(parts_of_list(case, question), question, answer, cited)


def grade_by_parts(
    parts: Sequence[AbstractSet[str]], question: CurrentQuestion, answer: Answer, cited: Sequence[int | None]
) -> Grade:
    """Judge an answer, by the accepted values of each turn that holds a part of a list (`parts_of_list`)."""
    declined = not answer.known or answer.confidence < KNOWN
    said = _judged(parts, question, answer, cited) if answer.known else Verdict.UNSURE
    fair = Verdict.RIGHT if question.unknown else Verdict.UNSURE
    return Grade(
        fair if declined else said, holds=said is Verdict.RIGHT, given=answer.known, confidence=answer.confidence
    )


def _judged(
    parts: Sequence[AbstractSet[str]], question: CurrentQuestion, answer: Answer, cited: Sequence[int | None]
) -> Verdict:
    if question.unknown:
        return _told_the_end(question, answer, cited)
    match question.type:
        case "yesno":
            return _yes_or_no(question, answer, cited)
        case "list":
            return _list(parts, question, answer)
        case _:
            return _value(question, answer)


def _told_the_end(question: CurrentQuestion, answer: Answer, cited: Sequence[int | None]) -> Verdict:
    """What has no answer any more, answered by the sentence that ended it."""
    wrong = any(names(answer.short, value) for value in question.wrong)
    return Verdict.PART if cited and cited[0] in question.current and not wrong else Verdict.WRONG


def _yes_or_no(question: CurrentQuestion, answer: Answer, cited: Sequence[int | None]) -> Verdict:
    answered = answer.short or _ID.sub("", answer.text)
    for word, said in ((_YES, "yes"), (_NO, "no")):
        if word.match(answered):
            return Verdict.RIGHT if said in question.answers else Verdict.WRONG
    return Verdict.PART if cited and cited[0] in question.current else Verdict.WRONG


def _list(wanted: Sequence[AbstractSet[str]], question: CurrentQuestion, answer: Answer) -> Verdict:
    answered = "\n".join([answer.short, *_sentences(answer)])
    values_named = {value for value in question.answers if names(answered, value)}
    if wanted and all(values_named & values for values in wanted):
        return Verdict.RIGHT
    return Verdict.PART if values_named else Verdict.WRONG


def parts_of_list(case: CurrentCase, question: CurrentQuestion) -> list[set[str]]:
    """For each turn that holds a part of a list, the accepted values that it is the first to name, or names at all."""
    wanted: list[set[str]] = []
    before: set[str] = set()
    for place in question.current:
        here = {value for value in question.answers if names(case.turns[place].text, value)}
        if here:
            wanted.append(here - before or here)
        before |= here
    return wanted or [set(question.answers)]


def _value(question: CurrentQuestion, answer: Answer) -> Verdict:
    """What is given in short decides; where that names no value at all, a right sentence behind it is a part."""
    if answer.short:
        made = not any(answer.short in citation.quote for citation in answer.citations)
        if (said := _named(question, answer.short, by_order=made)) is not None:
            return said
    quoted = (_named(question, sentence) for sentence in _sentences(answer))
    said = next((verdict for verdict in quoted if verdict is not None), Verdict.WRONG)
    return Verdict.PART if answer.short and said is Verdict.RIGHT else said


def _named(question: CurrentQuestion, text: str, *, by_order: bool = False) -> Verdict | None:
    """Whether a text names an accepted value or a wrong one; None for neither.

    Args:
        by_order: What it names first decides: it lists values, or was made for the answer. Otherwise it is a sentence
            of the evidence, which may tell what was before.
    """
    accepted, wrong = (_first(text, values) for values in (question.answers, question.wrong))
    if accepted is None and wrong is None:
        return None
    if accepted is None or (by_order and wrong is not None and wrong < accepted):
        return Verdict.WRONG
    return Verdict.RIGHT


def _sentences(answer: Answer) -> list[str]:
    """What an answer quotes, what counts most first, and at last all it says."""
    return [*(citation.quote for citation in answer.citations), _ID.sub("", answer.text)]


def names(text: str, value: str) -> bool:
    """Whether a text names a value: as whole words where its script has them, numbers in figures or in words."""
    return _place(text, value) is not None


def _first(text: str, values: Sequence[str]) -> int | None:
    places = [place for value in values if (place := _place(text, value)) is not None]
    return min(places, default=None)


def _place(text: str, value: str) -> int | None:
    places = (_whole(form(text), form(value)) for form in (_plain, _counted))
    return next((place for place in places if place is not None), None)


def _whole(text: str, wanted: str) -> int | None:
    """Where a text holds another that begins and ends no word or number in its middle."""
    if not wanted:
        return None
    before = r"(?<![^\W_\u3400-\u9fff])" if _spaced(wanted[0]) else ""
    after = r"(?![^\W_\u3400-\u9fff])" if _spaced(wanted[-1]) else ""
    match = re.search(before + re.escape(wanted) + after, text)
    return None if match is None else match.start()


def _spaced(character: str) -> bool:
    """Whether a character belongs to words that stand apart."""
    return character.isalnum() and not "\u3400" <= character <= "\u9fff"


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().replace("’", "'").split())


def _counted(text: str) -> str:
    """The same with Chinese numerals and dates as `recall.answer` writes them.

    二十号 is 20日; June 24th, the 24th of June and Jun 24 are 24 june.
    """
    counted = _HAN_NUMBER.sub(lambda match: _figures(match[0]), _plain(text)).replace("号", "日")
    counted = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b", "", counted)
    counted = _SHORT_MONTH.sub(lambda match: _MONTHS[match[0]], counted)
    counted = re.sub(rf"\b(\d{{1,2}}) of (?={'|'.join(_MONTHS.values())})", r"\1 ", counted)
    return _MONTH_FIRST.sub(r"\2 \1", counted)


def _figures(numeral: str) -> str:
    """A Chinese numeral below ten thousand in figures; digits in a row as they stand."""
    if not any(unit in numeral for unit in _UNITS):
        return "".join(str(_DIGITS[digit]) for digit in numeral)
    total, digit = 0, 0
    for sign in numeral:
        if sign in _UNITS:
            total, digit = total + (digit or 1) * _UNITS[sign], 0
        else:
            digit = _DIGITS[sign]
    return str(total + digit)

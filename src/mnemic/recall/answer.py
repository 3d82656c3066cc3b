"""An answer without a model: the sentence of the evidence that covers the question best, word for word, cited.

Of every recalled item each sentence is scored by how much of the question it and its item hold (each word weighing what
it tells apart among these items), by the item's rank, by whether the person asked about says it, and by whether it
holds what is asked for: a time for "when", a number for "how many", a name for "who", a place for "where". That is
given first, where it is found; a time is resolved against the day it was said. Where memory most likely does not hold
the answer it says so and quotes nothing.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros, moment
from mnemic.core.parts import MONTHS, WEEKDAYS
from mnemic.core.timex import TimeSpan, find_times
from mnemic.core.tokens import is_stop, local_time, tokenise
from mnemic.extract.phrasing import shown_value
from mnemic.recall.reasons import KNOWN
from mnemic.recall.understand import SPEAKS_OF_SELF, SPEAKS_TO_OTHER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item
    from mnemic.core.queries import Context, Recalled

QUOTES: Final = 3
"""Most sentences quoted, to a question that asks for several things."""

STATED: Final = 0.9
"""Confidence of a fact of the profile: a person's own words, read by rule; a round figure."""

NEAR: Final = 0.8
"""Share of the best sentence's score from which another one is quoted beside it."""

_OWN, _ITEM, _RANK, _PERSON, _HELD, _ASKS = 1.0, 0.5, 1.2, 0.4, 0.3, 0.5
"""What the sentence's coverage, its item's, the item's rank, the person and what is asked for add; a question loses."""

_SENTENCE: Final = re.compile(
    r"\S(?:[^.!?。！？；;\n]|[.](?=\w))*+(?:[.!?]++[\"'”’)\]]*+(?=\s|\Z)|[。！？；;]++[”’」』）]*+|\n|\Z|[.!?]++)"
)
"""One pass: what it took it never gives back, so that blanks or dots cost no more than other characters."""
_CHINESE: Final = re.compile("[\u3400-\u9fff]")
_QUESTION: Final = re.compile(r"[?？][\"'”’)\]]*$")

_QUOTE_SEVERAL: Final = re.compile(
    r"\b(?:what|which) (?:\w+ ){0,2}\w+s\b|\bhow many\b|哪些|哪几|几[个種种次家本部]", re.IGNORECASE
)
"""Questions to which several sentences are quoted. Wider than the question's own `asks_several`, because a quote too
many costs a reader less than one too few: with that, evidence quoted on LoCoMo fell from 56.2 to 54.7 %.
"""

_NUMBERS: Final = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|dozen"
_NUMBER: Final = re.compile(
    rf"\b(?:once|twice|(?:\d+|{_NUMBERS}) times)(?: or (?:{_NUMBERS}|twice|so))?(?: an? [a-z]+| every [a-z]+)?"
    rf"|\b(?:\d[\d,.]*\d|\d|{_NUMBERS})\b(?: (?:and a half|to|or) (?:{_NUMBERS}))?(?:[- ][a-z]+)?"
    r"|\d+(?:\.\d+)?[个位次天年月周小时分钟只本部家岁元块种]*|(?<![一二两三四五六七八九十百千万半几])[一二两三四五六七八九十百千万半几]++[个位次天年月周只本部家岁块种](?:月|小时|多)?",
    re.IGNORECASE,
)
_CAPITALISED: Final = r"[A-Z](?:[\w'’-]|[.](?=\w))*"
_NAME: Final = rf"{_CAPITALISED}(?: (?:of |the |de )?{_CAPITALISED})*"
_NAMES: Final = re.compile(_NAME)
_PLACE: Final = re.compile(
    rf"\b(?:in|at|from|to|near|around|visited) (?:the )?({_NAME})"
    r"|[在去到从][了过]?([\u4e00-\u9fff]{2,6}?)(?=[里吃玩看住待旅学工拍和的了过，。！、]|\Z)"
)

_UNKNOWN: Final = "I do not know: memory does not seem to hold the answer."
_UNKNOWN_CHINESE: Final = "不知道：记忆里好像没有答案。"
_CAPITALS: Final = frozenset({"I", "I'm", "I've", "I'd", "I'll", *MONTHS, *WEEKDAYS})
_YEAR: Final = re.compile(
    r"\d{4}|\b(?:last|this|next|ago|yesterday|today|tomorrow|tonight)\b|[去今明前后昨]|上|下", re.IGNORECASE
)
"""What in a time says which year is meant, of itself or by the day it was said."""
_PLANNED: Final = re.compile(
    r"\b(?:will|going to|plans? to|hopes? to|(?:am|is|are) (?:\w+ )?\w+ing)\b|['’](?:ll|(?:m|re|s) \w+ing)\b"
    r"|打算|计划|准备|将",
    re.IGNORECASE,
)
_HALF_A_YEAR: Final = timedelta(days=183)
_AWAY: Final = re.compile(r"\bfrom\b|从", re.IGNORECASE)
_PAST: Final = re.compile(r"\b(?:did|was|were|had|has|have)\b|\b\w+ed\b|[了过]|的[?？]?$", re.IGNORECASE)


class AnswerType(Enum):
    """The type of answer that a question expects, by its first question word: a time, a number, a person, a place."""

    TIME = r"\bwhen\b|\b(?:what|which) (?:date|day|month|year)\b|什么时候|何时|哪[一]?[天年月]|几[月号]"
    NUMBER = r"\bhow (?:many|much|long|often|old)\b|多少|多久|多长时间|几[个次位天岁种本部家年]"
    PERSON = r"\bwho(?:m|se)?\b|谁"
    PLACE = r"\bwhere\b|\b(?:what|which) (?:city|country|place|town|state)\b|哪里|哪儿|什么地方|哪个(?:城市|国家|地方)"
    THING = r"\bwhat\b|\bwhich\b|\bwhy\b|\bhow\b|什么|为何|怎么|哪"

    @classmethod
    def by(cls, question: str) -> AnswerType:
        """The type whose question word comes first; THING where there is none."""
        found = [(match.start(), asked) for asked in cls if (match := re.search(asked.value, question, re.IGNORECASE))]
        return min(found, key=lambda pair: pair[0])[1] if found else cls.THING


@dataclass(frozen=True, slots=True)
class Citation:
    """One sentence of the evidence, word for word, and the item it stands in."""

    id: ItemId
    quote: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What memory answers.

    Attributes:
        text: The answer as a person reads it: what was asked for, if it could be told, and the quotes with their ids.
        short: The time, number, names or place that was asked for; "" if it was something else, or was not found.
        citations: What is quoted, the best first.
        confidence: How likely memory holds the answer, 0 to 1.
        known: Whether it answers; if not, `text` says that it does not know.
    """

    text: str
    short: str
    citations: tuple[Citation, ...]
    confidence: float
    known: bool

    def __str__(self) -> str:
        return self.text


def answer(question: str, context: Context, facts: Sequence[Item] = ()) -> Answer:
    """Quote the sentences of a recall's evidence that answer its question; or the profile, where it states just that.

    Args:
        facts: What the profile says to just this question. It is of now, where evidence may long be out of date.
    """
    if facts:
        return _of_facts(facts, context)
    if context.confidence < KNOWN or not context.items:
        return _unknown(question, context)
    asked = AnswerType.by(question)
    told = [one for one in _sentences(question, asked, context.items) if not _repeats(one.text, question)]
    if not told:
        return _unknown(question, context)
    ranked = sorted(told, key=lambda sentence: -sentence.score)
    chosen = _chosen(ranked, QUOTES if _QUOTE_SEVERAL.search(question) else 1)
    short = next((held for sentence in chosen if (held := _held(asked, sentence, question))), "")
    if asked is AnswerType.TIME and not short and _PAST.search(question):
        short = _day(local_time(chosen[0].item.said, chosen[0].item.said_offset).date(), chosen[0].text)
    quotes = " ".join(f'"{sentence.text}" [{sentence.item.id}]' for sentence in chosen)
    return Answer(
        text=f"{short}: {quotes}" if short else quotes,
        short=short,
        citations=tuple(Citation(sentence.item.id, sentence.text) for sentence in chosen),
        confidence=context.confidence,
        known=True,
    )


def _of_facts(facts: Sequence[Item], context: Context) -> Answer:
    values = [shown_value(str(item.slots["value"]), item.text) for item in facts if "value" in item.slots]
    short = ", ".join(dict.fromkeys(values))
    quotes = " ".join(f'"{item.text}" [{item.id}]' for item in facts)
    return Answer(
        text=f"{short}: {quotes}" if short else quotes,
        short=short,
        citations=tuple(Citation(item.id, item.text) for item in facts),
        confidence=max(context.confidence, STATED),
        known=True,
    )


def _unknown(question: str, context: Context) -> Answer:
    text = _UNKNOWN_CHINESE if _CHINESE.search(question) else _UNKNOWN
    return Answer(text, "", (), context.confidence, known=False)


def _repeats(sentence: str, question: str) -> bool:
    """Whether a sentence only asks the same: a question that was asked before is no answer to itself."""
    words = set(tokenise(sentence))
    return bool(_QUESTION.search(sentence)) and words == set(tokenise(question))


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    item: Item
    score: float


def _sentences(question: str, asked: AnswerType, recalled: Sequence[Recalled]) -> Iterator[_Sentence]:
    """Every sentence of the evidence with its score."""
    people = {token for one in recalled for token in tokenise(_speaker(one.item))}
    words = {token for token in tokenise(question) if not is_stop(token)}
    named = words & people
    weights = _weights(words - named, [set(tokenise(one.text)) for one in recalled])
    best = max(one.score for one in recalled)
    turns: dict[tuple[str | None, int], str] = {
        (one.item.session, one.item.pos): one.text for one in recalled if one.item.session
    }
    for one in recalled:
        before = turns.get((one.item.session, one.item.pos - 1), "")
        asked_there = _covered(weights, before) if _QUESTION.search(before) else 0.0
        whole = max(_covered(weights, one.text), asked_there)
        rank = one.score / best if best > 0 else 0.0
        person = _person(named, one.item)
        for text in split(one.text):
            score = _OWN * max(_covered(weights, text), asked_there) + _ITEM * whole + _RANK * rank + _PERSON * person
            score += _HELD * bool(_held(asked, _Sentence(text, one.item, 0.0), question))
            score -= _ASKS * bool(_QUESTION.search(text))
            yield _Sentence(text, one.item, score)


def split(text: str) -> list[str]:
    """The sentences of a text, English or Chinese, as they stand in it."""
    return [sentence.strip() for sentence in _SENTENCE.findall(text)]


def _weights(words: set[str], held: Sequence[set[str]]) -> dict[str, float]:
    """What each word tells apart among the items; together 1."""
    holders = Counter(word for one in held for word in words & one)
    weights = {word: math.log(1 + len(held) / (0.5 + holders[word])) for word in words}
    total = sum(weights.values())
    return {word: weight / total for word, weight in weights.items()}


def _covered(weights: dict[str, float], text: str) -> float:
    held = set(tokenise(text))
    return sum(weight for word, weight in weights.items() if word in held)


def _speaker(item: Item) -> str:
    return str(item.slots.get("speaker") or item.slots.get("role") or "")


def _person(named: set[str], item: Item) -> int:
    """1 where somebody the question names speaks of themselves, -1 where another does, 0 where it cannot be told."""
    if not named or not (speaker := _speaker(item)):
        return 0
    addressed = SPEAKS_TO_OTHER.search(item.text) is not None and SPEAKS_OF_SELF.search(item.text) is None
    mine = not named.isdisjoint(tokenise(speaker))
    return 0 if addressed else (1 if mine else -1)


def _chosen(ranked: Sequence[_Sentence], most: int) -> list[_Sentence]:
    """The best sentence, and the best of other items that come near it."""
    kept = [ranked[0]]
    for sentence in ranked[1:]:
        if len(kept) == most or sentence.score < NEAR * ranked[0].score:
            break
        if all(sentence.item.id != other.item.id for other in kept):
            kept.append(sentence)
    return kept


def _held(asked: AnswerType, sentence: _Sentence, question: str) -> str:
    """What a sentence holds of what is asked for."""
    match asked:
        case AnswerType.TIME:
            said = sentence.item.said
            return _when(find_times(sentence.text, micros(said), sentence.item.said_offset), sentence)
        case AnswerType.NUMBER:
            found = _NUMBER.search(sentence.text)
            return found[0] if found else ""
        case AnswerType.PERSON:
            return ", ".join(_names(sentence.text, question))
        case AnswerType.PLACE:
            return _place(sentence.text, question)
        case AnswerType.THING:
            return ""


def _place(text: str, question: str) -> str:
    """The first place of a sentence that the question does not give; where one comes from only if that is asked."""
    away = bool(_AWAY.search(question))
    found = [(match[0], next(filter(None, match.groups()))) for match in _PLACE.finditer(text)]
    other = [(said, place) for said, place in found if place.casefold() not in question.casefold()]
    other.sort(key=lambda pair: bool(_AWAY.search(pair[0])) is not away)
    return other[0][1] if other else ""


def _names(text: str, question: str) -> list[str]:
    """Capitalised names in a sentence, not those that the question gives, nor a first word that is a common one."""
    found = dict.fromkeys(_uncommon(name[0]) for name in _NAMES.finditer(text) if name.start() > 0)
    return [name for name in found if name and name.casefold() not in question.casefold()]


def _uncommon(name: str) -> str:
    """A name without what is always written with a capital: "July I" is none."""
    return " ".join(word for word in name.split() if word not in _CAPITALS)


def _when(spans: Sequence[TimeSpan], sentence: _Sentence) -> str:
    """The first time a sentence speaks of, as days."""
    if not spans:
        return ""
    span, offset = spans[0], sentence.item.said_offset
    first, last = (local_time(moment(us), offset).date() for us in (span.start, span.end - 1))
    if _of_no_year(span, sentence):
        return span.text
    if first == last:
        return _day(first, sentence.text)
    if span.kind in ("month", "year"):
        return _month(first, sentence.text) if span.kind == "month" else f"{first.year}"
    return f"{_day(first, sentence.text)} - {_day(last, sentence.text)}"


def _of_no_year(span: TimeSpan, sentence: _Sentence) -> bool:
    """Whether a time may be of the year before or after: it names none, and what is planned is told of in no past."""
    long_ago = moment(span.end) < sentence.item.said - _HALF_A_YEAR
    past = _PAST.search(sentence.text) and not _PLANNED.search(sentence.text)
    return long_ago and not past and not _YEAR.search(span.text)


def _day(day: date, text: str) -> str:
    """A date as the text's language writes it."""
    if _CHINESE.search(text):
        return f"{day.year}年{day.month}月{day.day}日"
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def _month(day: date, text: str) -> str:
    return f"{day.year}年{day.month}月" if _CHINESE.search(text) else f"{MONTHS[day.month - 1]} {day.year}"

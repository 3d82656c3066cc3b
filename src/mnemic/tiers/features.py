"""Features of a turn's words that predict whether it is wanted again: counted in one pass, without a model.

What is asked about later is told, not asked or answered politely: first-person statements, long in words that are new
here, that name people, days and numbers, and that answer a question. Greetings, thanks and echoes are not. The weights
are those of a logistic regression, rounded; its target, and what it separates, is in `docs/decisions/0024`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import exp, log1p
from typing import Final
from zlib import crc32

from mnemic.core.tokens import count_tokens, is_stop, tokenise
from mnemic.extract.entities import entities

_SLOTS: Final = 1 << 16
_MOST: Final = 255

_FIRST: Final = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|me|mine|we|we're|we've|we'll|our|us)\b|我|咱|俺")
_SECOND: Final = re.compile(r"\b(?:you|you're|you've|you'd|you'll|your|yours)\b|你|您")
_NUMBER: Final = re.compile(
    r"\d+(?:[.,:]\d+)*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|thousand|once|twice)\b"
    r"|[一二两三四五六七八九十百千万]+(?=[年月日号岁个次位本天人块元])"
)
_TIME: Final = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|since|recently|just|new|first|finally|started"
    r"|weeks?|weekends?|months?|years?|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|january|february|march|april|june|july|august|september|october|november|december)\b"
    r"|昨[天晚日]|今[天晚年]|明[天晚年]|前[天年]|去年|上个?(?:周|月|星期)|下个?(?:周|月|星期)|周[一二三四五六日末]|最近|刚刚?|第一次"
)
_SENTENCE: Final = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_ASKS: Final = re.compile(r"[?？]")
_QUOTES: Final = str.maketrans("\u2018\u2019", "''")


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """The features of one turn's words.

    Attributes:
        tokens: What it costs in a window.
        terms: Distinct words, stop words left out; `fresh` of them are new to the session.
        novelty: `fresh` of `terms`; 0 without terms.
        entities, numbers, times: How many names; numbers; words that say when.
        first, second: How often it speaks of the speaker; of the one spoken to.
        asks: The share of its sentences that ask.
        answers: The turn before it asked.
    """

    tokens: int
    terms: int
    fresh: int
    novelty: float
    entities: int
    numbers: int
    times: int
    first: int
    second: int
    asks: float
    answers: bool

    @property
    def importance(self) -> float:
        """Estimate how likely a turn is to be wanted again, in [0, 1]; rises with every feature of positive weight."""
        return 1 / (1 + exp(-sum(map(_product, _WEIGHTS, scaled(self))) - _AT_ZERO))

    @property
    def facts(self) -> int:
        """Count names, numbers and days together, as a page does."""
        return self.entities + self.numbers + self.times


_NAMES: Final = (
    "length", "fresh", "novelty", "entities", "numbers", "times", "speaks", "first", "second", "asks", "answers",
)  # fmt: skip
_WEIGHTS: Final = (1.2, 0.7, 1.1, 0.1, 0.8, 1.3, 0.5, 0.1, -0.4, -0.5, 1.1)
_AT_ZERO: Final = -4.3


def scaled(features: Features) -> tuple[float, ...]:
    """Scale the features for the weights: each about 0 to 2, in the order of `_NAMES`."""
    return (
        log1p(features.terms) / 2,
        min(features.fresh, 10) / 5,
        features.novelty,
        min(features.entities, 4) / 2,
        min(features.numbers, 3) / 2,
        min(features.times, 3) / 2,
        float(features.first > 0),
        min(features.first, 4) / 2,
        min(features.second, 4) / 2,
        features.asks,
        float(features.answers),
    )


def _product(weight: float, value: float) -> float:
    return weight * value


class Reader:
    """Reads a session's turns in order, with a memory of fixed size (64 KiB).

    Words that fall on one slot are taken for one another, so that of a very long session fewer are new than truly are.
    """

    def __init__(self) -> None:
        self._seen = bytearray(_SLOTS)
        self._asked = False

    def read(self, text: str) -> Features:
        """Compute the features of the next turn, and remember its words."""
        low = text.lower().translate(_QUOTES)
        slots = [crc32(term.encode("utf-8", "surrogatepass")) % _SLOTS for term in _terms(low)]
        counts = [self._seen[slot] for slot in slots]
        sentences = _SENTENCE.findall(text)
        asks = len([1 for sentence in sentences if _ASKS.search(sentence)])
        read = Features(
            tokens=count_tokens(text),
            terms=len(slots),
            fresh=counts.count(0),
            novelty=counts.count(0) / max(len(slots), 1),
            entities=len({entity.name for entity in entities(text)}),
            numbers=len(_NUMBER.findall(low)),
            times=len(_TIME.findall(low)),
            first=len(_FIRST.findall(low)),
            second=len(_SECOND.findall(low)),
            asks=asks / max(len(sentences), 1),
            answers=self._asked,
        )
        for slot, count in zip(slots, counts, strict=True):
            self._seen[slot] = min(count + 1, _MOST)
        self._asked = asks > 0
        return read


def _terms(low: str) -> list[str]:
    """List the distinct words of content; of an unspaced script the pairs of characters, which are nearest to words."""
    return [term for term in dict.fromkeys(tokenise(low)) if len(term) > 1 and not is_stop(term)]

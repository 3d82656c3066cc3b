"""Split the turns that left a window into segments of one topic, each with a line that says what it was about.

After MemoryOS (arXiv:2506.06326, section 3.1), without its model calls: there a language model judges continuity and
writes summaries, and pages go to every topic that fits. Here an exchange joins the stretch before it by the same score,
cosine of words plus Jaccard of keywords, unless a pause lies between; words weigh by how few exchanges use them; a page
lies in one segment; and the summary is made of the segment's own sentences: the same turns give the same segments.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from mnemic.core.ids import ItemId
from mnemic.core.items import Channel
from mnemic.core.sanitize import speaker_name
from mnemic.core.tokens import count_tokens, cut, is_stop, tokenise, words

MERGE: Final = 0.12
"""Least score at which an exchange belongs to the stretch before it. MemoryOS's 0.6 is of embeddings, not words."""

PAUSE: Final = 1_800_000_000
"""Microseconds of silence after which a new segment begins: half an hour."""

LEAST: Final = 96
MOST: Final = 768
"""Tokens: a shorter segment is not ended by its topic alone, a longer one goes no further."""

KEYWORDS: Final = 8
TOLD: Final = 4
SENTENCE: Final = 32
"""Most keywords of a segment, those of them that its line tells, and tokens of the sentence that stands for it."""

Weights: TypeAlias = dict[str, float]
"""What words weigh."""

_TRUST: Final = (Channel.USER, Channel.IMPORT, Channel.MODEL, Channel.TOOL)
"""From the most trusted on: what people said, what a model wrote, what came from outside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftTurn:
    """One turn that left a window: its words, its place in the session, and when it was said (microseconds)."""

    id: ItemId
    text: str
    position: int
    at: int
    speaker: str = ""
    channel: Channel = Channel.USER


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A stretch of turns on one topic.

    Attributes:
        turns: In the order they were said.
        keywords: Words it uses more than once, as written first: those first that it uses most and others least.
        summary: One of its sentences, with who said it.
    """

    turns: tuple[LeftTurn, ...]
    keywords: tuple[str, ...]
    summary: str

    @property
    def first(self) -> int:
        """The place of its first turn in the session."""
        return self.turns[0].position

    @property
    def last(self) -> int:
        """The place of its last turn."""
        return self.turns[-1].position

    @property
    def channel(self) -> Channel:
        """Return the least trusted channel of its turns, since its line may quote any of them."""
        return max((turn.channel for turn in self.turns), key=_TRUST.index)

    @property
    def line(self) -> str:
        """Render the line that stands for it in a window."""
        keywords = ", ".join(self.keywords[:TOLD])
        return f"{keywords}: {self.summary}" if keywords else self.summary


def segments(turns: Iterable[LeftTurn]) -> list[Segment]:
    """Split turns into segments, in the order they were said; each turn is in exactly one."""
    exchanges = _exchanges(sorted(turns, key=lambda turn: turn.position))
    term_counts = [_terms(exchange) for exchange in exchanges]
    rarity = _rarity(term_counts)
    stretches: list[list[LeftTurn]] = []
    terms: Weights = {}
    size = 0
    for exchange, counts in zip(exchanges, term_counts, strict=True):
        fresh = _weighed(counts, rarity)
        tokens = sum(count_tokens(turn.text) for turn in exchange)
        if not stretches or _breaks(stretches[-1], exchange, size, tokens, terms, fresh):
            stretches.append([])
            terms, size = {}, 0
        stretches[-1] += exchange
        terms = {term: terms.get(term, 0.0) + fresh.get(term, 0.0) for term in (*terms, *fresh)}
        size += tokens
    return [_segment(stretch, rarity) for stretch in stretches]


def score(weights: Mapping[str, float], others: Mapping[str, float]) -> float:
    """Compute MemoryOS's merge score over words: cosine of their weights plus Jaccard of their keywords; 0 to 2."""
    if not weights or not others:
        return 0.0
    dot = sum(weight * others[term] for term, weight in weights.items() if term in others)
    norms = math.sqrt(sum(n * n for n in weights.values()) * sum(n * n for n in others.values()))
    own_keywords, other_keywords = (_most(terms) for terms in (weights, others))
    return dot / norms + len(own_keywords & other_keywords) / len(own_keywords | other_keywords)


def _exchanges(turns: Sequence[LeftTurn]) -> list[list[LeftTurn]]:
    """Pair turns, as a page of MemoryOS is a question and its answer; a gap or a pause ends a pair."""
    exchanges: list[list[LeftTurn]] = []
    for turn in turns:
        last = exchanges[-1][-1] if exchanges and len(exchanges[-1]) == 1 else None
        if last is not None and turn.position == last.position + 1 and turn.at - last.at <= PAUSE:
            exchanges[-1].append(turn)
        else:
            exchanges.append([turn])
    return exchanges


def _breaks(
    stretch: Sequence[LeftTurn], exchange: Sequence[LeftTurn], size: int, tokens: int, before: Weights, after: Weights
) -> bool:
    if exchange[0].at - stretch[-1].at > PAUSE or size + tokens > MOST:
        return True
    return size >= LEAST and score(before, after) < MERGE


def _terms(turns: Iterable[LeftTurn]) -> Counter[str]:
    return Counter(term for said in turns for term in tokenise(said.text) if not is_stop(term) and len(term) > 1)


def _rarity(exchanges: Sequence[Counter[str]]) -> Weights:
    """Weigh each word, the more the fewer exchanges use it, so that phrases of every topic hold none together."""
    used = Counter(term for terms in exchanges for term in terms)
    return {term: math.log((1 + len(exchanges)) / count) for term, count in used.items()}


def _weighed(terms: Counter[str], rarity: Weights) -> Weights:
    return {term: count * rarity[term] for term, count in terms.items()}


def _most(terms: Mapping[str, float]) -> set[str]:
    """List the most frequent words; of equals the first of the alphabet."""
    return set(sorted(terms, key=lambda term: (-terms[term], term))[:KEYWORDS])


def _segment(stretch: Sequence[LeftTurn], rarity: Weights) -> Segment:
    terms = _terms(stretch)
    weights = _weighed(terms, rarity)
    keywords = _keywords(stretch, terms, weights)
    return Segment(turns=tuple(stretch), keywords=keywords, summary=_summary(stretch, weights))


def _keywords(stretch: Sequence[LeftTurn], terms: Counter[str], weights: Weights) -> tuple[str, ...]:
    written: dict[str, str] = {}
    for said in stretch:
        for word in words(said.text):
            for term in tokenise(word)[:1]:
                written.setdefault(term, word)
    frequent = [term for term in sorted(terms, key=lambda term: -weights[term]) if terms[term] > 1 and term in written]
    return tuple(dict.fromkeys(written[term] for term in frequent))[:KEYWORDS]


def _summary(stretch: Sequence[LeftTurn], weights: Weights) -> str:
    """Choose the sentence with the most of the segment's weight for its length; of equals the first."""
    best, speaker, worth = "", "", -1.0
    for turn in stretch:
        for sentence in cut(turn.text, SENTENCE):
            weight = sum(weights.get(term, 0.0) for term in set(_terms([_only(turn, sentence)])))
            value = weight / math.sqrt(8 + count_tokens(sentence))
            if value > worth:
                best, speaker, worth = " ".join(sentence.split()), turn.speaker, value
    return f"{speaker_name(speaker)}: {best}" if speaker else best


def _only(turn: LeftTurn, text: str) -> LeftTurn:
    return LeftTurn(id=turn.id, text=text, position=turn.position, at=turn.at)

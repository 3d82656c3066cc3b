"""A stage of recall for turns: from the turn that a question points at, by whom it speaks of, to what else is said of
them.

"Which firm employs the person whose number is 555 0143?" shares no word with "Aoife works at the ferry line". But
"Aoife's number is 555 0143" holds what the question points by, and the one word that both turns share is the subject.
So the turn that holds most of the question by its own words leads, where much of the question stands nowhere in it,
along the rarest words that the question does not say to a few other turns. They take their place right behind it, and
all of them, in the order in which they bear, stand before the rest.

The subject is the bridge entity of HotpotQA (Yang et al., arXiv:1809.09600, section 2); no name is recognised here,
rarity alone tells a subject, so that small letters, numbers and unspaced scripts serve too. Documents have
`recall.walk`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.core.tokens import Field, hash_term, spelled_tokens, stop_hashes
from mnemic.index.columns import FIELD_SHIFT, Column
from mnemic.recall.fuse import Ranking, ScoredEntries
from mnemic.recall.understand import ASSISTANT_TOKENS, UNSPACED
from mnemic.recall.walk import COMMON, extended, rarity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mnemic.core.queries import Hit
    from mnemic.index.reading import Reading
    from mnemic.recall.gather import Scores
    from mnemic.recall.understand import Question
    from mnemic.store.engine.snapshot import Snapshot

UNSAID: Final = 0.2
"""Share of a question, each word by its rarity, that the turn it points at must leave unsaid to lead anywhere."""

LED: Final = 3
"""Most turns that one leads to."""

ANSWERED: Final = 3.0
"""The log odds that a turn bears on a question from which it answers it by itself: no other needs to be led to."""

_STEP: Final = 1e-4
"""By how much each of these scores less than the one before."""

_OURS: Final = re.compile(r"\bour\b|咱们?的|我们的", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Pier:
    """The turn that a question points at: the reading that it is of, by number, its place, and its position there."""

    reading: int
    place: int
    at: int


@dataclass(frozen=True, slots=True)
class Span:
    """A turn that was led to: the reading that it is of, by number, its place, the shared token, and what it gained."""

    reading: int
    place: int
    token: int
    gain: float


@dataclass(frozen=True, slots=True)
class Bridge:
    """Candidates with those that a subject led to among them.

    Attributes:
        source: The space and place of the turn that the question points at; None where it leads nowhere.
        tokens: By the space and place of each turn that was led to, the token of the subject.
    """

    ranking: Ranking
    source: tuple[int, int] | None = None
    tokens: Mapping[tuple[int, int], int] = field(default_factory=dict)

    def ahead(self, hits: Sequence[Hit]) -> list[Hit]:
        """Put what stands on the bridge before the rest, each in the order it had; scores stay where they were."""
        ends = {self.source, *self.tokens}
        ordered = sorted(hits, key=lambda hit: (hit.space, hit.doc) not in ends)
        return [
            hit if hit.score == place.score else replace(hit, score=place.score)
            for hit, place in zip(ordered, hits, strict=True)
        ]

    def explained(
        self, hits: Sequence[Hit], readings: Mapping[int, Reading], snapshot: Snapshot
    ) -> list[tuple[str, ...]]:
        """Say of each hit that was led to by way of which turn it was, and by which word of it."""
        none: list[tuple[str, ...]] = [()] * len(hits)
        if self.source is None:
            return none
        space, place = self.source
        ver = readings[space].value(Column.VER, place)
        version = snapshot.versions(space, [ver]).get(ver)
        if version is None:  # collected since the catalogue was made
            return none
        spelt = {hash_term(token): word for token, word in spelled_tokens(version.item.text)}
        return [
            ()
            if (token := self.tokens.get((hit.space, hit.doc))) is None
            else (f"by way of {version.item.id}: both say {spelt.get(token, '')!r}",)
            for hit in hits
        ]


def leads_on(question: Question, first: Sequence[Hit]) -> bool:
    """Whether a question may need turns beyond those that were found, the best of which are given.

    One of a past is left alone, by its words or its view; and so is one to which, as far as meaning tells, one of them
    is an answer.
    """
    view = question.query.view
    if question.spans or view.as_of is not None or view.valid_at is not None:
        return False
    return not question.query.vectors or all(hit.bearing is None or hit.bearing < ANSWERED for hit in first)


def bridge(question: Question, ranking: Ranking) -> Bridge:
    """Add to the candidates the turns that share a rare subject with the one that a question points at.

    A question that names a speaker calls its subject by name. So does, where meaning is read, one in which somebody
    asks about themselves: what bears on it is weighed already (`recall.currency`), and no stranger is its subject. In a
    talk between people a shared word mostly goes on with the matter of the turn before, and leads nowhere else.
    """
    by_meaning = question.query.vectors and question.asks_own and not _OURS.search(question.query.text)
    if question.names or not question.words or by_meaning or (pier := _pier(ranking)) is None:
        return Bridge(ranking)
    asked = _Asked.of(question, ranking)
    source = ranking.scored[pier.reading].reading
    said = _texts(source, pier.place)
    if asked.unsaid(said) < UNSAID or _between_people(source, pier.place):
        return Bridge(ranking)
    subjects = said - set(asked.tokens) - {term.text for term in question.terms} - stop_hashes()
    if any(term.word > UNSPACED for term in question.terms):
        subjects -= _characters()
    spans = sorted(
        _spans(ranking, pier, subjects, asked.without(said), question.weights.new), key=lambda span: -span.gain
    )[:LED]
    if not spans:
        return Bridge(ranking)
    score = float(ranking.scored[pier.reading].score[pier.at])
    led = tuple(_led(entries, i, spans, score) for i, entries in enumerate(ranking.scored))
    tokens = {(ranking.scored[span.reading].reading.space, span.place): span.token for span in spans}
    return Bridge(Ranking(led), (source.space, pier.place), tokens)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The words of a question, and what share of it each is, by rarity."""

    tokens: tuple[int, ...]
    shares: tuple[float, ...]

    @classmethod
    def of(cls, question: Question, ranking: Ranking) -> _Asked:
        readings = [entries.reading for entries in ranking.scored]
        tokens = tuple(word.text for word in question.words)
        holders = np.array([sum(len(reading.find(token)[0]) for reading in readings) for token in tokens])
        worth = rarity(holders, sum(reading.size for reading in readings))
        return cls(tokens, tuple((worth / worth.sum()).tolist()))

    def unsaid(self, said: frozenset[int]) -> float:
        """The share of the words that are not among some tokens."""
        return sum(self.without(said).values())

    def without(self, said: frozenset[int]) -> dict[int, float]:
        """The words that are not among some tokens, each with its share."""
        return {token: share for token, share in zip(self.tokens, self.shares, strict=True) if token not in said}


def _pier(ranking: Ranking) -> Pier | None:
    """The turn that by its own words holds most of the question; None if no turn holds any."""
    best, most = None, np.float32(0)
    for number, entries in enumerate(ranking.scored):
        if "own" not in entries.components or not len(entries.places):
            continue
        own = np.where(entries.reading.lengthy[entries.places], np.float32(0), entries.components["own"])
        at = int(own.argmax())
        if own[at] > most:
            best, most = Pier(number, int(entries.places[at]), at), own[at]
    return best


def _between_people(reading: Reading, place: int) -> bool:
    """Whether several people speak in the turns around one; an assistant is none."""
    around = {place, *reading.neighbours(np.array([place])).ravel().tolist()}
    first = (int(stream[0]) for at in around if len(stream := reading.stream(at)))
    return len({token for token in first if token >> int(FIELD_SHIFT) == Field.SPEAKER} - {*ASSISTANT_TOKENS}) > 1


def _spans(
    ranking: Ranking, pier: Pier, subjects: frozenset[int], missing: Mapping[int, float], new: float
) -> Iterator[Span]:
    """Every turn that holds a subject, by the rarest: worth more the more it holds of what is missing, or scored."""
    readings = [scored_entries.reading for scored_entries in ranking.scored]
    entries = sum(reading.size for reading in readings)
    gains = [np.zeros(reading.size, np.float32) for reading in readings]
    tokens = [np.zeros(reading.size, np.uint64) for reading in readings]
    for token in sorted(subjects):
        holding = [reading.find(token)[0] for reading in readings]
        holders = sum(map(len, holding))
        if not 1 < holders <= COMMON:
            continue
        worth = rarity(np.array([holders]), entries)[0]
        for gain, by, places in zip(gains, tokens, holding, strict=True):
            rarer = places[gain[places] < worth]
            gain[rarer], by[rarer] = worth, token
    gains[pier.reading][pier.place] = 0
    top = max(float(scored_entries.score.max(initial=0)) for scored_entries in ranking.scored) or 1.0
    for number, (scored_entries, gain, by) in enumerate(zip(ranking.scored, gains, tokens, strict=True)):
        gain[scored_entries.reading.lengthy] = 0
        worth = gain * (
            1 + np.float32(new) * _held(scored_entries.reading, missing) + _scores(scored_entries) / np.float32(top)
        )
        yield from (Span(number, place, int(by[place]), float(worth[place])) for place in np.flatnonzero(gain).tolist())


def _held(reading: Reading, missing: Mapping[int, float]) -> Scores:
    """The share of a question that each entry holds of what is missing."""
    held = np.zeros(reading.size, np.float32)
    for token, share in missing.items():
        held[reading.find(token)[0]] += np.float32(share)
    return held


def _scores(entries: ScoredEntries) -> Scores:
    """What each entry was ranked by, by place; 0 for what was not."""
    scores = np.zeros(entries.reading.size, np.float32)
    scores[entries.places] = np.maximum(entries.score, 0)
    return scores


def _led(entries: ScoredEntries, number: int, spans: Sequence[Span], score: float) -> ScoredEntries:
    """The candidates of a reading with those that were led to, each at least a shade below what led there."""
    mine = {span.place: score - _STEP * (rank + 1) for rank, span in enumerate(spans) if span.reading == number}
    if not mine:
        return entries
    gained = np.zeros(entries.reading.size, np.bool_)
    gained[list(mine)] = True
    grown = extended(entries, gained)
    raised = grown.score.copy()
    at = grown.places.searchsorted(list(mine))
    raised[at] = np.maximum(raised[at], np.array(list(mine.values()), np.float32))
    return replace(grown, score=raised, components={**grown.components, "links": raised - grown.score})


@lru_cache(maxsize=1)
def _characters() -> frozenset[int]:
    """The tokens of Chinese characters by themselves: each is in many words, and a name has the pair of two."""
    return frozenset(map(hash_term, map(chr, range(0x4E00, 0xA000))))


def _texts(reading: Reading, place: int) -> frozenset[int]:
    """The different words of an entry."""
    stream = reading.stream(place)
    return frozenset(stream[stream >> FIELD_SHIFT == Field.TEXT].tolist())

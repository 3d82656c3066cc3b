"""What is said of an answer: why each hit is there, and how likely it is that memory holds what is asked for.

Reasons are the words that an entry holds, its date, its speaker, the links that led to it. As to how likely: was this
fact told, and was it told by the person it is asked of? Two things are looked at, both in the words alone.
*Coverage*: how much of what the question asks, each word in any of its forms and weighing what it tells apart, stands
together in one entry.
*Margin*: where the question names one speaker, how much more of it stands in what this person told of themselves than
in what everybody else told; the best match to a question about a fact that only the other one has is the other one's
turn. Somebody who says "you" and not "I" speaks of another, so such an entry counts for neither side.

The weights are ours, rounded, set by hand so that of the questions given a value near p a share near p was answerable,
on two-person chat with adversarial questions (`mnemic bench asked` measures it). Nearness in meaning is not looked at:
it tells a fact that was never told from one told in other words no better than chance does (see LOG).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.core.names import Naming, called, keys, name_token, names
from mnemic.core.tokens import Field, hash_term, tokenise
from mnemic.core.word_forms import other_forms
from mnemic.index.columns import FIELD_SHIFT, Column
from mnemic.recall.gather import NEAR, mentions
from mnemic.recall.recall_weights import WEIGHTS
from mnemic.recall.understand import ASSISTANTS, FIRST_PERSON, SECOND_PERSON, UNSPACED, rejoined, rejoined_each

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mnemic.core.items import Item
    from mnemic.core.queries import Hit
    from mnemic.index.reading import Reading
    from mnemic.recall.understand import Question, Term
    from mnemic.recall.walk import Trails
    from mnemic.store.engine.snapshot import Snapshot

    Shares = NDArray[np.float64]

KNOWN: Final = 0.5
"""From here on the answer is more likely in memory than not."""

PLACES: Final = 20_000
"""Most places looked at: of a question's words the most common are passed over, the rarest never."""

NEAREST: Final = 3
"""Entries of each side that are compared: one may be a chance."""

_NO_WORD: Final = "nobody said a word of it"

LOOKED: Final = 16
"""Most entries of each side that are read for whom they speak of."""

NOT_IN_MEMORY: Final = "probably not in memory"
"""How the note begins that an answer carries where its words speak against its being known."""

_FAR_OFF: Final = -4.0
"""The log odds that a hit speaks of what is asked below which it does not: what answers the turn beside it has more."""

NAMED: Final = 3
"""Most words that a reason lists."""

SPOKEN: Final = 0.1
"""Share of the entries that hold one of the commonest words of a script in a memory that is written in it."""

_FEW: Final = "nothing in it bears on the question: there is little else"
"""Said of a hit that is no candidate: in a small memory all are ranked (`fuse`)."""

_NUMBER: Final = r"(?:[几两一二三四五六七八九十百千万半每哪\d]|多少)"
_MEASURES: Final = "个只条匹辆颗棵艘"
"""Measure words, which stand between a number and what is counted, and begin few words: 把 begins 把手."""

_TELLS: Final = frozenset(tokenise("say said tell told mention mentioned 说 讲"))
"""By which a question asks for what was told, and which are seldom told of it themselves."""

_COMMON: Final = tuple(map(hash_term, tokenise("the a to and of in is i you it")))
_COMMON_UNSPACED: Final = tuple(map(hash_term, tokenise("的 我 你 是 了 不 在 の は に 이 는")))


def explained(
    question: Question, readings: Mapping[int, Reading], hits: Sequence[Hit], nearest: float, small_talk: Sequence[bool]
) -> list[tuple[str, ...]]:
    """Say why each hit is there.

    Args:
        nearest: The greatest component `dense` of any candidate.
        small_talk: Which hits only greet, thank or take leave: they are not told as bearing on what stands beside them.
    """
    silent = {(hit.space, hit.doc) for hit, greets in zip(hits, small_talk, strict=True) if greets or _is_far_off(hit)}
    reasons: dict[tuple[int, int], list[str]] = {}
    for reading in readings.values():
        here = [hit for hit in hits if hit.space == reading.space]
        if here:
            told = _reasons_of(question, reading, here, nearest, silent)
            reasons.update(zip(((hit.space, hit.doc) for hit in here), told, strict=True))
    return [(*hit.reasons, *reasons[hit.space, hit.doc]) or (_FEW,) for hit in hits]


def traced(
    hits: Sequence[Hit], trails: Mapping[int, Trails], readings: Mapping[int, Reading], snapshot: Snapshot
) -> list[tuple[str, ...]]:
    """Say of each hit that the link walk reached by which name it did."""
    if not trails:
        return [()] * len(hits)
    steps = {
        (hit.space, hit.doc): (step, hit.ver, readings[hit.space].value(Column.VER, step.source))
        for hit in hits
        if hit.space in trails and (step := trails[hit.space].to(hit.doc))
    }
    vers = {(space, ver) for (space, _), (_, *both) in steps.items() for ver in both}
    items: dict[tuple[int, int], Item] = {}
    for space in {space for space, _ in vers}:
        versions = snapshot.versions(space, sorted(ver for at, ver in vers if at == space))
        items |= {(space, ver): version.item for ver, version in versions.items()}
    reasons = {
        (space, place): _linked(items[space, source], items[space, target], step.name)
        for (space, place), (step, target, source) in steps.items()
        if {(space, source), (space, target)} <= items.keys()
    }
    asked = {(hit.space, hit.doc) for hit in hits if hit.space in trails and trails[hit.space].asked[hit.doc]}
    return [
        (*(["the question names it"] if at in asked else []), *([reasons[at]] if at in reasons else []))
        for at in ((hit.space, hit.doc) for hit in hits)
    ]


def _linked(source: Item, target: Item, name: int) -> str:
    """How two items are linked by a name, which is written in one of them or is what one of them is called."""
    own, other = called(source), called(target)
    spelt = next((n for n in (*other, *own, *names(source.text)) if name in _mentioned(n)), "")
    label = own[0] if own else " ".join(source.text.split()[:6])
    if name in _mentioned(*other):
        return f"linked from {label!r}: it names {spelt!r}"
    return (
        f"names {spelt!r}, which was found"
        if name in _mentioned(*own)
        else f"linked from {label!r}: both name {spelt!r}"
    )


def _mentioned(*spelt: str) -> list[int]:
    return [name_token(key, Naming.MENTION) for key in keys(spelt)]


def _is_far_off(hit: Hit) -> bool:
    """Whether a hit, compared by meaning, speaks of something else than the question."""
    return "dense" in hit.components and hit.bearing is not None and hit.bearing < _FAR_OFF


def _reasons_of(
    question: Question, reading: Reading, hits: list[Hit], nearest: float, silent: Collection[tuple[int, int]]
) -> Iterator[list[str]]:
    """Of each hit of one reading: all hits at once, word by word.

    Of those that are `silent`, and hold no word of the question, it is not said what stands beside them.
    """
    places = np.array([hit.doc for hit in hits])
    around = np.column_stack((places, reading.neighbours(places)))
    own: list[list[str]] = [[] for _ in hits]
    near: list[list[str]] = [[] for _ in hits]
    for term in question.terms:  # a name too, though it may not have been looked for
        for i, (holds, *beside) in enumerate(reading.holds(term.text, around).tolist()):
            if holds:
                own[i].append(term.word)
            elif any(beside):
                near[i].append(term.word)
    for i, hit in enumerate(hits):
        if not own[i] and (hit.space, hit.doc) in silent:
            near[i].clear()
    dated = _named(reading, places, [(term.word, term.date) for term in (*question.terms, *question.timed)])
    spoken = _named(reading, places, [(term.name, term.speaker) for term in question.names])
    own = [_runs(reading, words, [place]) for words, (place, *_) in zip(own, around.tolist(), strict=True)]
    near = [_runs(reading, words, beside) for words, (_, *beside) in zip(near, around.tolist(), strict=True)]
    own, near = ([_uncounted(runs, question.query.text) for runs in each] for each in (own, near))
    spoken = rejoined_each(spoken)
    said = reading.values(Column.SAID, places).tolist()
    close = min(NEAR * WEIGHTS.marks["dense"], nearest / 2) if nearest > 0 else np.inf
    for i, hit in enumerate(hits):
        quoted = [p.text for p in question.phrases if reading.says(hit.doc, p.hashes)]
        reasons = [
            f"says {', '.join(quoted)!r}" if quoted else "",
            f"holds {', '.join(own[i])}" if own[i] else "",
            f"beside {', '.join(near[i])}" if near[i] else "",
            "close in meaning" if hit.components.get("dense", 0.0) >= close else "",
            f"dated {', '.join(dated[i])}" if dated[i] else "",
            f"said by {', '.join(spoken[i])}" if spoken[i] else "",
            *_times(question, said[i], reading.stream(hit.doc) if "mention" in hit.components else None),
        ]
        yield [reason for reason in reasons if reason]


def _named(reading: Reading, places: NDArray[np.intp], tokens: list[tuple[str, int]]) -> list[list[str]]:
    """For each place, the words whose tokens it holds."""
    held = [(word, reading.holds(token, places)) for word, token in tokens]
    return [[word for word, holds in held if holds[i]] for i in range(len(places))]


def _runs(reading: Reading, words: list[str], places: Sequence[int]) -> list[str]:
    """Words as a person would list them; of an unspaced script the longest runs that stand so at one of some places."""
    if not words:
        return []
    runs: list[str] = []
    for run in rejoined(words):
        rest = run
        while len(rest) > 2 and rest > UNSPACED:
            ends = (end for end in range(len(rest), 2, -1) if _says(reading, rest[:end], places))
            end = next(ends, 2)
            runs.append(rest[:end])
            rest = rest[end - 1 :] if end < len(rest) else ""
        runs += [rest] if rest else []
    return list(dict.fromkeys(runs))


def _uncounted(runs: Sequence[str], question: str) -> list[str]:
    """Runs without the measure word that one begins with behind a number of the question: of 几个女儿 女儿."""
    return [
        run[1:] if len(run) > 1 and run[0] in _MEASURES and re.search(_NUMBER + re.escape(run), question) else run
        for run in runs
    ]


def _says(reading: Reading, run: str, places: Sequence[int]) -> bool:
    hashes = [hash_term(token) for token in tokenise(run)]
    return any(reading.says(place, hashes) for place in places)


def _times(question: Question, said: int, mentioning: NDArray[np.uint64] | None) -> list[str]:
    """What is said of when an entry was said and, if it mentions a time, of which: by its token stream."""
    inside = [span.text for span in question.spans if span.start <= said < span.end]
    reasons = [f"said {question.day(said)}, within {inside[0]!r}"] if inside else []
    if mentioning is not None:
        held = set(mentioning.tolist())
        spoken = [span.text for span in question.spans if not held.isdisjoint(mentions(span, question.query.offset))]
        reasons.append(f"its words may speak of {', '.join(map(repr, dict.fromkeys(spoken)))}")
    return reasons


@dataclass(frozen=True, slots=True)
class Confidence:
    """How likely memory holds the answer.

    Attributes:
        value: 0 to 1, calibrated: about so many of the questions with this value can be answered.
        reasons: What speaks against it, the weightiest first.
    """

    value: float
    reasons: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """The line that an answer carries where `value` is below `KNOWN`; empty otherwise."""
        return () if self.value >= KNOWN else (": ".join((NOT_IN_MEMORY, *self.reasons[:1])),)


def answerable(question: Question, readings: Sequence[Reading], *, bearing: bool) -> Confidence:
    """Judge from the question's words how likely memory holds what it asks for.

    Args:
        bearing: Something is known to bear on the question.
    """
    if not bearing or not any(reading.size for reading in readings):
        return Confidence(0.0, ("nothing bears on it",))
    asked = _Asked.of(question, readings)
    if not asked.words:
        return Confidence(_logistic(2.0))
    if not any(asked.holders):
        # compared by meaning too, a question in another script may have found its answer
        foreign = bool(question.query.vectors) and not _written(asked.words, readings)
        return Confidence(KNOWN if foreign else _value(0.0, 0.0), (_unsaid(question, asked.words) or _NO_WORD,))
    shares = [asked.shares(i, reading) for i, reading in enumerate(readings)]
    coverage = max(float(share.max(initial=0.0)) for share in shares)
    margin = _margin(question, readings, shares)
    return Confidence(_value(coverage, margin), tuple(_doubts(question, asked, coverage, margin)))


def _value(coverage: float, margin: float) -> float:
    return _logistic(10 * margin + 2) * _logistic(8 * coverage - 2)


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a question asks for, word by word: where each word stands in each reading, and what it weighs."""

    words: tuple[Term, ...]
    places: tuple[tuple[NDArray[np.intp], ...], ...]
    holders: tuple[int, ...]
    weights: tuple[float, ...]

    @classmethod
    def of(cls, question: Question, readings: Sequence[Reading]) -> _Asked:
        """The words of a question but for a speaker's name that nobody says: who is asked about is found by who speaks.

        Of a run of an unspaced script its characters: pairs across the ends of words are in no other sentence.
        """
        entries = sum(reading.size for reading in readings)
        kept: list[tuple[Term, tuple[NDArray[np.intp], ...], int, float]] = []
        looked_at = 0
        asked = [w for w in question.words if not _is_pair(w.word)]
        asked = [w for w in asked if w.token not in _TELLS] or asked
        everywhere = [(w, tuple(_holding(w, reading) for reading in readings)) for w in asked]
        weighed = [(w, places) for w, places in everywhere if w not in question.names or any(map(len, places))]
        for word, places in sorted(weighed, key=lambda pair: sum(map(len, pair[1]))):
            holders = sum(map(len, places))
            if kept and looked_at + holders > PLACES:
                break
            looked_at += holders
            weight = math.log(1 + (entries - holders + 0.5) / (holders + 0.5))
            kept.append((word, places, holders, weight))
        return cls(*zip(*kept, strict=True)) if kept else cls((), (), (), ())

    def shares(self, reading: int, of: Reading) -> Shares:
        """The share of the question's words, by weight, that each entry of a reading holds, 0 to 1."""
        holders = [places[reading] for places in self.places]
        weights = np.repeat(self.weights, [len(places) for places in holders])
        share: Shares = np.bincount(np.concatenate(holders), weights, minlength=of.size) / sum(self.weights)
        return share


def _holding(word: Term, reading: Reading) -> NDArray[np.intp]:
    """The places that hold a word in any of its forms, ascending."""
    places = reading.find(word.text)[0]
    others = [reading.find(hash_term(form))[0] for form in other_forms(word.token)]
    return np.unique(np.concatenate((places, *others))) if others else places


def _written(words: Sequence[Term], readings: Sequence[Reading]) -> bool:
    """Whether memory is written in the script of a question: else that none of its words is there says nothing."""
    common = _COMMON_UNSPACED if any(word.word > UNSPACED for word in words) else _COMMON
    holders = sum(len(reading.find(token)[0]) for token in common for reading in readings)
    return holders >= SPOKEN * sum(reading.size for reading in readings)


def _is_pair(word: str) -> bool:
    return len(word) == 2 and word > UNSPACED


def _margin(question: Question, readings: Sequence[Reading], shares: Sequence[Shares]) -> float:
    """By how much the person named comes nearer to what is asked than others; 0 if it is not one person."""
    if not question.names or any(name.token in ASSISTANTS for name in question.names):
        return 0.0
    said = [_said_by(question.names, reading) for reading in readings]
    if not any(who.any() for who in said):
        return 0.0  # several people: no entry is said by them all
    own = [share for per_reading in zip(readings, shares, said, strict=True) for share in _nearest(*per_reading)]
    others = [share for r, s, who in zip(readings, shares, said, strict=True) for share in _nearest(r, s, ~who)]
    return (sum(sorted(own)[-NEAREST:]) - sum(sorted(others)[-NEAREST:])) / NEAREST


def _said_by(names: Sequence[Term], reading: Reading) -> NDArray[np.bool_]:
    """Which entries are said by somebody of all these names."""
    said = np.zeros(reading.size, dtype=np.int64)
    for name in names:
        said[reading.find(name.speaker)[0]] += 1
    whole: NDArray[np.bool_] = said == len(names)
    return whole


def _nearest(reading: Reading, shares: Shares, among: NDArray[np.bool_]) -> Iterator[float]:
    """The greatest shares of entries in which somebody speaks of themselves."""
    places = np.flatnonzero(among & (shares > 0))
    if len(places) > LOOKED:
        places = np.sort(places[np.argpartition(shares[places], -LOOKED)[-LOOKED:]])
    places = places[np.argsort(-shares[places], kind="stable")]
    of_themselves = (place for place in places.tolist() if _of_speaker(reading.stream(place)))
    for _, place in zip(range(NEAREST), of_themselves, strict=False):
        yield float(shares[place])


def _of_speaker(stream: NDArray[np.uint64]) -> bool:
    """Whether an entry has a speaker, who does not speak of whoever is spoken to."""
    if not len(stream) or stream[0] >> FIELD_SHIFT != Field.SPEAKER:
        return False
    tokens = set(stream.tolist())
    return tokens.isdisjoint(SECOND_PERSON) or not tokens.isdisjoint(FIRST_PERSON)


def _doubts(question: Question, asked: _Asked, coverage: float, margin: float) -> Iterator[str]:
    against = []
    if margin < 0:
        against.append((_logistic(10 * margin + 2), f"others come nearer to it than {' '.join(question.called)}"))
    missing = [word for word, holders in zip(asked.words, asked.holders, strict=True) if not holders]
    doubt = _unsaid(question, missing) or f"no entry holds more than {coverage:.0%} of it"
    against.append((_logistic(8 * coverage - 2), doubt))
    yield from (reason for share, reason in sorted(against) if share < _logistic(2.0))


def _unsaid(question: Question, missing: Sequence[Term]) -> str:
    """Say which words of a question nobody said, the first few; "" if they are single characters of words."""
    words = list(dict.fromkeys(_in_words(question.query.text, [word.word for word in missing])))
    return f"nobody said {', '.join(map(repr, words[:NAMED]))}" if words else ""


def _in_words(text: str, missing: Sequence[str]) -> Iterator[str]:
    """Words as a person would list them: characters of an unspaced script that stand together, joined; none alone."""
    characters = {word for word in missing if word > UNSPACED}
    if characters:
        yield from _uncounted(re.findall(f"[{''.join(map(re.escape, characters))}]{{2,}}", text), text)
    yield from (word for word in missing if word not in characters)

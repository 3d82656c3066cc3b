"""A stage of recall: of what was found, what bears on the question as it is meant, and of that what holds now.

"I live in Paris." stands nearer to "Where do I live?" than "Boxes everywhere, keys to Toronto in my pocket" ever will.
So the best candidates are looked at once more. *Bearing*: does a candidate state something, of whom the question asks,
on the matter it asks about? *Succession*: does another candidate speak of the same matter of the same person as the
one that bears most? Those that do are a group, and change places among themselves: asked of now, the newest goes first;
asked of a day, what held then; asked how things were before, they stay. Nothing is dropped.

Both are logistic models over what the catalogue holds anyway: the scores of the other arms, words that are cues
(`recall.sentence_cues`), and, where there are vectors, what a sentence does, whom and which matter it is about, as read
from its vector by linear heads. All weights are in `currency.npz`; `python -m mnemic.lab.training` makes that file from
labelled sentences and cases. Without vectors a second set of weights serves, which only finds what succeeds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.core.clock import moment
from mnemic.core.queries import Hit
from mnemic.core.tokens import Field, hash_term, stop_tokens
from mnemic.core.tokens import words as words_of
from mnemic.index.columns import FIELD_SHIFT, Column
from mnemic.recall.sentence_cues import KIN, SentenceCue, Spoken, counted, counted_in, kin_tokens, spoken_of
from mnemic.recall.understand import ASSISTANTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mnemic.index.reading import Reading
    from mnemic.recall.understand import Question

    Floats = NDArray[np.float32]

POOL: Final = 24
"""Candidates that are looked at once more."""

TOGETHER: Final = 0.6
"""How likely a candidate must be to speak of the same matter as the one that bears most, to change places with it."""

SURELY: Final = 0.9
"""The same where a question is not about whoever asks: then what else was said is more often of another matter."""

FARTHEST: Final = np.float32(3.0)
"""Deviations that an input counts for at most: in a memory of three items an arm may give what it never gave before."""

ALIKE_IN_WORDS: Final = 0.6
"""Share of the first candidate's score by words from which another one may succeed it where words are all there is."""

IDLE: Final = 0.5
"""How likely a candidate may be a question, a wish or a supposition, to be a state of a matter."""

BEHIND: Final = 5.0
"""Log odds by which a candidate is put behind others for what it is, whatever it says."""

ACTS: Final = (
    *("state", "change", "end", "correct", "negate"),
    *("ask", "suppose", "wish", "order", "acknowledge"),
)
"""What a sentence does."""
SUBJECTS: Final = ("speaker", "other", "quoted", "assistant", "nobody")
"""Whom it is about."""
MATTERS: Final = (
    *("residence", "work", "relation", "diet", "allergy", "possession", "contact", "preference"),
    *("plan", "name", "study", "health", "language", "schedule", "other", "none"),
)
"""Which matter it is about."""

_IDLE: Final = [ACTS.index(act) for act in ("ask", "suppose", "wish", "acknowledge")]
HEADS: Final = (*ACTS, *SUBJECTS, *MATTERS)

_ARMS: Final = ("own", "window", "session", "dense", "gist", "hub", "speaker", "self", "addressed", "user", "time")
_DAY: Final = 86_400_000_000
_NAME: Final = re.compile(r"(?<=[a-z,’'] )([A-Z][\w-]+)")
_BEFORE: Final = re.compile(
    r"\b(?:used to|before|previous(?:ly)?|former(?:ly)?|originally|at first|in the past|ever|over time|history)\b"
    r"|以前|之前|曾经|过去|从前|原来|最初|历来",
    re.IGNORECASE,
)
"""Asks how things were, or have come about: then what is newest is not what is asked for."""

_WHO: Final = re.compile(r"\bwho|\bname\b|\bcalled\b|谁|叫什么|叫啥|姓什么|哪位|名字", re.IGNORECASE)
"""Asks who somebody is to whoever asks."""

_UNSPACED_SUBJECT: Final = re.compile(
    r"([\u4e00-\u9fff]{2,5}?)(?:现在|如今|目前|最近|还|在|是|住|的|吃|用|开|做|干|叫|去|对|几|到|什|哪|换|喝|搬|多|有|要)"
)
"""Whom a question begins with, before what it says of them."""

_SPACED_SUBJECT: Final = re.compile(
    r"\b(?:do|does|did|is|are|was|were|has|have|where's|what's|who's|how's)\s+(?:the\s+)?(\w+(?:\s+\w+)?)",
    re.IGNORECASE,
)
"""What follows the verb of a question: its subject, or the end of it."""

_ASKING: Final = re.compile(
    r"^\W*(?:who|what|which|where|when|how|is|are|was|were|do|does|did|has|have|can)\b|[吗呢么]\W*$|什么|哪|谁|几|多少|怎么",
    re.IGNORECASE,
)

ASSISTANT_TOKENS: Final = np.array([hash_term(name, Field.SPEAKER) for name in ASSISTANTS], np.uint64)
"""The tokens of speakers who are no persons."""


@dataclass(frozen=True, slots=True)
class Logistic:
    """A logistic model: what each of its inputs weighs, measured in deviations of the training set."""

    mean: Floats
    deviation: Floats
    weights: Floats
    bias: float

    def apply(self, inputs: Floats) -> Floats:
        """The log odds of each row of inputs, (n, inputs): an input counts for at most `FARTHEST` deviations."""
        odds: Floats = self.scaled(inputs) @ self.weights + np.float32(self.bias)
        return odds

    def scaled(self, inputs: Floats) -> Floats:
        """Inputs in deviations of the training set."""
        scaled: Floats = np.clip((inputs - self.mean) / self.deviation, -FARTHEST, FARTHEST)
        return scaled


@dataclass(frozen=True, slots=True)
class CurrencyWeights:
    """All that was learned, for entries with vectors or for entries by words.

    Attributes:
        embedder: Whose vectors the heads read; "" for the weights by words.
        said, asked: The heads over the vector of a passage and over that of a question: (dims + 1, `HEADS`), the last
            row the bias.
        bearing, together: The two models.
    """

    embedder: str
    said: Floats
    asked: Floats
    bearing: Logistic
    together: Logistic


@lru_cache(maxsize=1)
def weights() -> Mapping[str, CurrencyWeights]:
    """Load what was learned, by the name of the embedder; "" is by words."""
    with resources.files("mnemic.recall").joinpath("currency.npz").open("rb") as file, np.load(file) as arrays:
        embedder = str(arrays["embedder"])
        heads = {name: arrays[name].astype(np.float32) for name in ("said", "asked")}
        none = np.zeros((0, 0), np.float32)

        def model(name: str) -> Logistic:
            mean, deviation, slopes = (arrays[f"{name}_{part}"] for part in ("mean", "deviation", "weights"))
            return Logistic(mean, deviation, slopes, float(arrays[f"{name}_bias"]))

        return {
            embedder: CurrencyWeights(embedder, **heads, bearing=model("bearing"), together=model("together")),
            "": CurrencyWeights("", none, none, model("bearing_words"), model("together_words")),
        }


@dataclass(frozen=True, slots=True)
class Pool:
    """The best candidates for a question, as the models see them; the best first, arrays by candidate.

    Attributes:
        inputs: What `bearing` reads, (n, inputs).
        own: What each scores by its own words.
        said: When each was said, microseconds.
        order: What decides between those said at once: the number of the version.
        vectors: Of unit length, zeros where there is none; (n, dims), or (n, 0) by words.
        acts: The likelihood of each of `HEADS`; (n, 31), zeros by words.
        cues: How often each cue stands in it.
        words: The tokens of each that carry meaning.
        speakers: A token of whoever said it, 0 if nobody.
        people: How it speaks of people, by whom the question asks about.
        apart: Whether it certainly speaks of somebody else than the question does.
    """

    inputs: Floats
    own: Floats
    said: NDArray[np.int64]
    order: NDArray[np.int64]
    vectors: Floats
    acts: Floats
    cues: Floats
    words: tuple[frozenset[int], ...]
    speakers: NDArray[np.uint64]
    people: Floats
    apart: NDArray[np.bool_]


def pooled(question: Question, hits: Sequence[Hit], readings: Mapping[int, Reading], learned: CurrencyWeights) -> Pool:
    """Lay out what the models read of some hits, the best first."""
    texts, starts, speakers = _texts([readings[hit.space].stream(hit.doc) for hit in hits])
    lengths = np.diff(starts)
    rows = np.repeat(np.arange(len(hits)), lengths)
    cues = np.log1p(counted(texts, rows, len(hits)))
    tokens, ends = texts.tolist(), starts.tolist()
    words = tuple(frozenset(tokens[begin:end]) - _stops() for begin, end in pairwise(ends))
    said = np.array([readings[hit.space].value(Column.SAID, hit.doc) for hit in hits], np.int64)
    order = np.array([hit.ver for hit in hits], np.int64)
    vectors, likeness, heads, match = _meaning(question, hits, readings, learned)
    arms = np.array([[hit.components.get(arm, 0.0) for arm in _ARMS] for hit in hits], np.float32)
    beside = np.array([hit.components.get("beside", 0.0) for hit in hits], np.float32)
    found = np.array(["beside" not in hit.components for hit in hits])
    scores = np.array([hit.score for hit in hits], np.float32) - beside
    newness = (np.argsort(np.argsort(said)) + 1) / len(hits)
    plain = np.column_stack((scores - scores[0], found, arms, newness, np.log1p(lengths)))
    kin = counted_in(question.query.text)[KIN]
    own = np.float32(question.asks_own and not question.names and not kin.any())
    opens = np.flatnonzero(lengths > 0)
    first = np.zeros(len(hits), np.bool_)
    first[opens] = counted(texts[starts[opens]], np.arange(len(opens)), len(opens))[:, SentenceCue.SELF] > 0
    subject = _subject(question, own, kin > 0, first, words, speakers, cues)
    people, apart = _people(question, own, kin > 0, words, spoken_of(texts, rows, len(hits)))
    inputs = np.column_stack((plain, cues[:, : SentenceCue.MOTHER], subject))
    if len(learned.said):
        about = heads[:, len(ACTS) : len(ACTS) + len(SUBJECTS)]
        acts = heads[:, : len(ACTS)]
        inputs = np.column_stack((inputs, people, likeness, match, acts, about * own, about * (1 - own)))
    return Pool(
        inputs.astype(np.float32), arms[:, 0], said, order, vectors, heads, cues, words, speakers, people, apart
    )


def compared(pool: Pool, bearing: Floats, anchor: int) -> Floats:
    """What `together` reads of every candidate beside the one that bears most: (n, inputs)."""
    gap = (pool.said - pool.said[anchor]) / _DAY
    newer = (pool.said[None, :] > pool.said[:, None]) & (bearing[None, :] > bearing[:, None])
    words = pool.words[anchor]
    shared = np.array([len(words & others) for others in pool.words], np.float32)
    sizes = np.array([len(others) for others in pool.words], np.float32)
    same = pool.speakers == pool.speakers[anchor]
    kin = np.minimum(pool.cues[:, KIN], pool.cues[anchor, KIN]).sum(axis=1)
    apart = pool.cues[:, KIN].sum(axis=1) - kin
    columns = [
        bearing,
        bearing[anchor] - bearing,
        np.full(len(bearing), bearing[anchor]),
        gap > 0,
        np.sign(gap) * np.log1p(np.abs(gap)),
        newer.sum(axis=1),
        np.log1p(np.argsort(np.argsort(-bearing))),
        (bearing - np.median(bearing)) / (bearing.std() + 0.1),
        np.minimum(bearing, 3.0),
        shared / (1 + sizes),
        shared / (1 + len(words)),
        same,
        kin,
        apart,
        pool.cues[:, : SentenceCue.MOTHER],
        np.tile(pool.cues[anchor, : SentenceCue.MOTHER], (len(bearing), 1)),
        (gap > 0)[:, None]
        * pool.cues[:, [SentenceCue.CHANGE, SentenceCue.END, SentenceCue.NOW, SentenceCue.CORRECT, SentenceCue.NOT]],
    ]
    if pool.vectors.shape[1]:
        near = pool.vectors @ pool.vectors[anchor]
        rest = np.delete(near, anchor) if len(near) > 1 else near
        matters = pool.acts[:, len(ACTS) + len(SUBJECTS) :]
        columns += [
            near,
            (near - rest.mean()) / (rest.std() + 0.01),
            np.sqrt(matters * matters[anchor]).sum(axis=1),
            pool.acts[:, : len(ACTS) + len(SUBJECTS)],
            np.tile(pool.acts[anchor, : len(ACTS) + len(SUBJECTS)], (len(bearing), 1)),
            (gap > 0)[:, None] * pool.acts[:, : len(ACTS) + len(SUBJECTS)],
            near[:, None] * pool.acts[:, : len(ACTS) + len(SUBJECTS)],
            pool.people,
            np.abs(pool.people - pool.people[anchor]),
        ]
    return np.column_stack(columns).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Succession:
    """Candidates in the order in which they answer, and which of them are states of one matter.

    Attributes:
        order: Positions in the pool, the best first.
        group: Positions of those that are states of one matter, in the order in which they answer.
        bearing: The log odds that a candidate bears on the question, by position.
    """

    order: tuple[int, ...]
    group: tuple[int, ...]
    bearing: Floats


def succeeded(question: Question, pool: Pool, learned: CurrencyWeights) -> Succession:
    """Order the candidates by how they bear on a question, and those of one matter by when they held."""
    bearing = bears(question, pool, learned)
    order = ranked(pool, bearing)
    anchor = int(order[0])
    together = learned.together.apply(compared(pool, bearing, anchor))
    likely = TOGETHER if question.asks_own else SURELY
    limit = np.log(likely / (1 - likely))
    group = [
        at for at in order.tolist() if at == anchor or (together[at] > limit and _eligible(question, pool, at, anchor))
    ]
    if len(group) < 2 or _BEFORE.search(question.query.text):
        return Succession(tuple(order.tolist()), (), bearing)
    held = sorted(group, key=lambda at: _standing(question, pool, at))
    places = iter(held)
    members = frozenset(group)
    return Succession(tuple(next(places) if at in members else at for at in order.tolist()), tuple(held), bearing)


def bears(question: Question, pool: Pool, learned: CurrencyWeights) -> Floats:
    """The log odds that each candidate bears on a question.

    To one about whoever asks, what an assistant said stays behind what a person did.
    """
    bearing = learned.bearing.apply(pool.inputs)
    if question.asks_own:
        bearing[np.isin(pool.speakers, ASSISTANT_TOKENS)] -= np.float32(BEHIND)
    return bearing


def ranked(pool: Pool, bearing: Floats) -> NDArray[np.intp]:
    """Positions in the order in which candidates bear; by words alone, which say too little of that, as they came."""
    by_words = not pool.vectors.shape[1]
    return np.arange(len(bearing)) if by_words else np.argsort(-bearing, kind="stable")


def _eligible(question: Question, pool: Pool, at: int, anchor: int) -> bool:
    """Whether a candidate may be a state of what is asked: no question, wish or supposition is.

    Nor is what an assistant said a state of whoever asks. By words alone it has to hold about as much of the question
    as the candidate that comes first.
    """
    if question.asks_own and pool.speakers[at] in ASSISTANT_TOKENS:
        return False
    if pool.apart[at] and not pool.apart[anchor]:
        return False
    if not pool.vectors.shape[1]:
        return bool(pool.own[at] >= ALIKE_IN_WORDS * pool.own[anchor] > 0)
    return float(pool.acts[at, _IDLE].sum()) < IDLE


def _standing(question: Question, pool: Pool, at: int) -> tuple[bool, int, int]:
    """Where a state stands among those of its matter: the newest that held at the time asked for goes first."""
    said, order = int(pool.said[at]), int(pool.order[at])
    view = question.query.view
    until = min((time for time in (view.valid_at, *(span.end - 1 for span in question.spans)) if time), default=None)
    if until is None or said <= until:
        return (False, -said, -order)
    return (True, said, order)


def current(question: Question, hits: Sequence[Hit], readings: Mapping[int, Reading]) -> list[Hit]:
    """Put hits, the best first, that are no documents in the order in which they answer; scores stay where they were.

    The component "currency" of one that moved is what its score changed by. A question that names a speaker is left as
    it is, for who speaks is weighed by then and in a talk of several little succeeds; so is what does not ask.
    """
    turns = [i for i, hit in enumerate(hits) if not readings[hit.space].lengthy[hit.doc]]
    if len(turns) < 2 or not _asks(question) or question.names:
        return list(hits)
    told = [hits[i] for i in turns]
    learned = _learned(question)
    pool = pooled(question, told, readings, learned)
    succession = succeeded(question, pool, learned)
    moved = list(hits)
    for place, at in zip(turns, succession.order, strict=True):
        hit, score = told[at], hits[place].score
        gain = {"currency": score - hit.score} if score != hit.score else {}
        moved[place] = Hit(
            space=hit.space,
            ver=hit.ver,
            doc=hit.doc,
            score=score,
            components={**hit.components, **gain},
            reasons=(*hit.reasons, *_reasons(succession.group, at, pool)),
            bearing=float(succession.bearing[at]),
            succession=succession.group.index(at) + 1 if at in succession.group else 0,
        )
    return moved


def _learned(question: Question) -> CurrencyWeights:
    """The weights for the embedder by which the question is compared, else those by words."""
    known = weights()
    return next((known[name] for name in question.query.embedders.values() if name in known), known[""])


def _reasons(group: Sequence[int], at: int, pool: Pool) -> tuple[str, ...]:
    """What is said of a state of a matter that has several."""
    if at not in group:
        return ()
    first = group[0]
    if at == first:
        others = [moment(int(pool.said[other])) for other in group[1:]]
        older = [said for said in others if said < moment(int(pool.said[at]))]
        return (f"newer than what was said of it on {max(older):%Y-%m-%d}",) if older else ()
    newer = pool.said[first] > pool.said[at]
    when = f"{moment(int(pool.said[first])):%Y-%m-%d}"
    return (f"said before what was said of it on {when}" if newer else f"said after the time asked for, unlike {when}",)


@lru_cache(maxsize=1)
def _stops() -> frozenset[int]:
    return frozenset(map(hash_term, stop_tokens()))


def _texts(
    streams: Sequence[NDArray[np.uint64]],
) -> tuple[NDArray[np.uint64], NDArray[np.intp], NDArray[np.uint64]]:
    """The words of some token streams end to end, where each begins and the last ends, and the speaker of each or 0."""
    every = np.concatenate(streams)
    rows = np.repeat(np.arange(len(streams)), [len(stream) for stream in streams])
    fields = every >> FIELD_SHIFT
    spoken = fields == Field.TEXT
    starts = np.searchsorted(rows[spoken], np.arange(len(streams) + 1))
    heads = np.searchsorted(rows, np.arange(len(streams)))
    speaking = fields[np.minimum(heads, len(every) - 1)] == Field.SPEAKER
    return every[spoken], starts, np.where(speaking, every[np.minimum(heads, len(every) - 1)], np.uint64(0))


def _asks(question: Question) -> bool:
    """Whether it is a question, and no list of words to look for."""
    text = question.query.text
    return question.asks_own or text.rstrip().endswith(("?", "？")) or _ASKING.search(text) is not None


def _subject(
    question: Question,
    own: np.float32,
    kin: NDArray[np.bool_],
    first: NDArray[np.bool_],
    words: Sequence[frozenset[int]],
    speakers: NDArray[np.uint64],
    cues: Floats,
) -> Floats:
    """Whether each candidate speaks of whom the question asks about: (n, inputs).

    Args:
        own: 1 where it asks about whoever asks, and not about somebody of theirs.
        kin: Of what kin it speaks.
        first: Whether a candidate's first word means its speaker.
    """
    there = cues[:, KIN] > 0
    shared = (there & kin).any(axis=1)
    me = cues[:, SentenceCue.SELF]
    asked = {term.text for term in question.others}
    covered = np.array([len(asked & held) for held in words], np.float32) / max(1, len(asked))
    called = {hash_term(term.token) for term in question.terms if term.word in _names(question)}
    named = np.array([len(called & held) for held in words], np.float32)
    speaking = np.isin(speakers, np.array([name.speaker for name in question.names], np.uint64))
    machine = np.isin(speakers, ASSISTANT_TOKENS)
    columns = [
        own * (me > 0),
        own * (me == 0),
        own * me,
        own * first,
        own * there.any(axis=1),
        own * cues[:, SentenceCue.OTHER],
        own * machine,
        machine,
        shared,
        float(kin.any()) * ~shared,
        named,
        float(bool(called)) * (named == 0),
        speaking,
        float(bool(question.names)) * ~speaking * (me > 0),
        covered,
        np.full(len(words), own),
    ]
    return np.column_stack(columns)


def _people(
    question: Question, own: np.float32, kin: NDArray[np.bool_], words: Sequence[frozenset[int]], spoken: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """How each candidate speaks of people, by whom the question asks about: (n, inputs); which surely errs.

    That is whoever asks, who somebody is to them ("who is my boss?"), or somebody else, of whom a candidate says
    something or not. It is certain where somebody else is asked about, of whom other candidates speak, and one says
    "I" and speaks of nobody else.
    """
    who = np.float32(question.asks_own and kin.sum() == 1 and _WHO.search(question.query.text) is not None)
    other = np.float32((kin.any() or not question.asks_own) and not who)
    called = _called(question)
    asked = {hash_term(term.token) for term in question.terms} & kin_tokens()
    there = np.array([not held.isdisjoint(asked | called) for held in words])
    silent = spoken[:, Spoken.SELF] == 0
    person = kin.any() or _names(question) or _UNSPACED_SUBJECT.match(question.query.text) is not None
    mine = ~silent & ~there & (spoken[:, Spoken.KIN] + spoken[:, Spoken.OTHER] == 0) & there.any()
    inputs = np.column_stack(
        (own * spoken, who * spoken, other * there[:, None] * spoken, other * ~there[:, None] * spoken, other * there)
    )
    return inputs, np.asarray(mine & bool(other and person))


def _called(question: Question) -> frozenset[int]:
    """The tokens by which a question calls somebody."""
    names = _names(question) | _subject_words(question)
    return frozenset(hash_term(term.token) for term in question.terms if term.word in names)


def _subject_words(question: Question) -> frozenset[str]:
    """The words, folded, that stand where a question that is not of whoever asks has its subject: "tyler", 小李."""
    text = question.query.text
    if question.asks_own or _names(question):
        return frozenset()
    if unspaced := _UNSPACED_SUBJECT.match(text):
        return frozenset(word for word in words_of(unspaced[1]) if len(word) > 1)
    spaced = _SPACED_SUBJECT.search(text)
    return frozenset(words_of(spaced[1])[:2]) if spaced else frozenset()


def _names(question: Question) -> frozenset[str]:
    """The words of a question that are written as names, folded."""
    return frozenset(match.casefold() for match in _NAME.findall(question.query.text) if match != "I")


def _meaning(
    question: Question, hits: Sequence[Hit], readings: Mapping[int, Reading], learned: CurrencyWeights
) -> tuple[Floats, Floats, Floats, Floats]:
    """The vectors of hits, their likeness to the question, what the heads make of them, and whether matters match."""
    count = len(hits)
    if not len(learned.said):
        none = np.zeros((count, 0), np.float32)
        return none, none, np.zeros((count, len(HEADS)), np.float32), none
    dims = len(learned.said) - 1
    vectors = np.zeros((count, dims), np.float32)
    asked = np.zeros(dims, np.float32)
    for model, vector in question.query.vectors.items():
        if vector.shape == (dims,):
            asked = vector
            for space in {hit.space for hit in hits}:
                mine = [i for i, hit in enumerate(hits) if hit.space == space]
                vectors[mine] = readings[space].vectors(model, np.array([hits[i].doc for i in mine], np.intp))
            break
    here = vectors.any(axis=1)
    cosines = vectors @ asked
    mean = cosines[here].mean() if here.any() else 0.0
    cosines = np.where(here, cosines, mean)
    spread = cosines.std() + 0.01
    likeness = np.column_stack(((cosines - mean) / spread, cosines - cosines.max(), here))
    heads = likelihoods(vectors, learned.said) * np.asarray(here)[:, None]
    wanted = likelihoods(asked[None], learned.asked)[0]
    matters = slice(len(ACTS) + len(SUBJECTS), None)
    match = np.sqrt(heads[:, matters] * wanted[matters]).sum(axis=1, keepdims=True)
    return vectors, likeness.astype(np.float32), heads.astype(np.float32), match.astype(np.float32)


def likelihoods(vectors: Floats, heads: Floats) -> Floats:
    """The likelihood of each of `HEADS` by vector; those of acts, subjects and matters each sum to one."""
    odds = vectors @ heads[:-1] + heads[-1]
    ends = np.cumsum([0, len(ACTS), len(SUBJECTS), len(MATTERS)])
    parts = []
    for begin, end in pairwise(ends):
        part = np.exp(odds[:, begin:end] - odds[:, begin:end].max(axis=1, keepdims=True))
        parts.append(part / part.sum(axis=1, keepdims=True))
    return np.concatenate(parts, axis=1).astype(np.float32)

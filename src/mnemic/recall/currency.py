"""A stage of recall: of what was found, what bears on the question as it is meant, and of that what holds now.

"I live in Paris." stands nearer to "Where do I live?" than "Boxes everywhere, keys to Toronto in my pocket" ever will.
So the best candidates are looked at once more. How much does each *bear*: does it state something, of whom the question
asks, on the matter it asks about? And which of the others has *taken its place*: speaks of the same matter of the same
person, and holds at the time asked for in its stead? What bears most, and has most likely been replaced by nothing,
goes first. Nothing is dropped. Asked how things were before, nothing takes the place of anything.

Both are read by small networks over what the catalogue holds anyway: the scores of the other arms, words that are
cues (`recall.sentence_cues`), and, where there are vectors, what a sentence does, whom and which matter it is about, as
read from its vector by linear heads. It is learned as a whole, by what stands first in the end, from labelled cases of
change and from ordinary lives. All weights are in `currency.npz`; `python -m mnemic.lab.training` makes that file.
Without vectors a second set of weights serves.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from itertools import chain, pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mnemic.core.queries import Hit
from mnemic.core.tokens import Field, hash_term, stop_hashes, terms, tokenise
from mnemic.core.tokens import words as words_of
from mnemic.extract.chinese import has_chinese
from mnemic.extract.small_products import small_product
from mnemic.index.columns import FIELD_SHIFT, Column
from mnemic.models.base import TRAITS
from mnemic.recall.asked_for import asks_several, asks_yes_or_no
from mnemic.recall.asked_person import AskedPerson, asked_person, called_by_name
from mnemic.recall.kin_phrases import (
    opening_phrase,
    opens_with_mine,
    opens_with_stranger,
    phrase_in,
    spaced_kin,
)
from mnemic.recall.order_network import OrderNetwork, OrderOdds
from mnemic.recall.polarity import ASKS_PAST
from mnemic.recall.sentence_cues import (
    KIN,
    People,
    SentenceCue,
    begin_supposed,
    counted_in,
    cue_by_token,
    hints_in,
    kin_tokens,
    people_of,
)
from mnemic.recall.topics import topic_weights
from mnemic.recall.understand import ASSISTANT_TOKENS
from mnemic.recall.unreal import ASKS_UNREAL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from mnemic.index.reading import Reading
    from mnemic.recall.understand import Question

    Floats = NDArray[np.float32]

POOL: Final = 24
"""Candidates that are looked at once more."""

AMONG_THREE: Final = 3
"""Among how many what bears most stays."""
AMONG_FIVE: Final = 5
"""Among how many what all arms together found best stays."""

ALL_ARMS: Final = 0.3
"""What a candidate's score by all arms counts for, beside what the network makes of it: what the network reads of that
score is bounded, and in a memory of mostly idle talk it lifts what has nothing to do with the question."""

UNSPOKEN: Final = 0.5
"""The same where no candidate holds a word of the question, as in another language: bearing then reads little."""

BETWEEN_PEOPLE: Final = 1.0
"""The same where several people speak: the cases that it is learned from are of one."""

ALL_OF_NAMED: Final = 5
"""How many of the first whoever is named must have said, all of them, for what others said to come behind theirs."""

BEHIND: Final = 5.0
"""Log odds by which a candidate is put behind others for what it is, whatever it says."""

ALIKE_IN_WORDS: Final = 0.6
"""Share of the first candidate's score by words from which another one may succeed it where words are all there is."""

REPLACED: Final = 0.5
"""How likely what bears on the question must have been replaced by what goes first, to be told as an older state."""

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

HEADS: Final = (*ACTS, *SUBJECTS, *MATTERS)
"""What is read from a vector: the likelihood of each of these."""

OF_ACTS: Final = slice(0, len(ACTS))
OF_SUBJECTS: Final = slice(OF_ACTS.stop, OF_ACTS.stop + len(SUBJECTS))
OF_MATTERS: Final = slice(OF_SUBJECTS.stop, len(HEADS))
"""Where in `HEADS` each kind of them stands."""

_KINDS: Final = (OF_ACTS, OF_SUBJECTS, OF_MATTERS)
_FIRSTS: Final = [kind.start for kind in _KINDS]
_KIND_OF: Final = np.repeat(np.arange(len(_KINDS)), [kind.stop - kind.start for kind in _KINDS])
_TURNING: Final = [getattr(SentenceCue, name) for name in ("CHANGE", "END", "NOW", "CORRECT", "NOT")]
_ARMS: Final = ("own", "window", "session", "dense", "gist", "hub", "speaker", "self", "addressed", "user", "time")
_NOTHING: Final = (0.0,) * len(_ARMS)
_ASIDES: Final = frozenset(map(hash_term, tokenise("oops whoops oh ah hey hi hello hmm btw fyi update ps yeah yep")))
"""The tokens of words before a sentence, which are not its subject."""
_DAY: Final = 86_400_000_000
_SPOKEN: Final = np.uint64(Field.SPEAKER) << FIELD_SHIFT
_DATED: Final = np.uint64(Field.DATE) << FIELD_SHIFT
"""The first of the tokens that name a speaker, and the first behind them."""
_NO_TOKEN: Final = np.uint64(0)
_NO_TOPIC_SHARED: Final = np.float32(1e-3)
"""How likely two are on one topic at least, of which a logarithm is taken."""

_NAME: Final = re.compile(r"(?<=[a-z,’'] )([A-Z][\w-]+)")
_BEFORE: Final = re.compile(
    r"\b(?:used to|before|previous(?:ly)?|former(?:ly)?|originally|at first|in the past|ever|over time|history)\b"
    r"|以前|之前|曾经|过去|从前|原来|最初|历来",
    re.IGNORECASE,
)
"""Asks how things were, or have come about: then what is newest is not what is asked for."""

_OF_NOW: Final = re.compile(
    r"\b(?:now|nowadays|current(?:ly)?|these days|at the moment|at present|right now|still|any ?more|latest|newest)\b"
    r"|现在|如今|目前|最近|这阵子|眼下|当前|还[^有]|最新",
    re.IGNORECASE,
)
"""Says that what is asked may have changed."""

_HAPPENED: Final = re.compile(r"\bdid\b|[了过](?![敏解])|的\W*$", re.IGNORECASE)
"""Asks for what happened, and not how things are."""

_WHO: Final = re.compile(r"\bwho\b|\bname\b|\bcalled\b|谁|叫什么|叫啥|姓什么|哪位|名字", re.IGNORECASE)
"""Asks who somebody is to whoever asks: then the answer may name them and not say what they are."""

_UNSPACED_SUBJECT: Final = re.compile(
    r"([\u4e00-\u9fff]{2,3}?)(?:现在|如今|目前|最近|还)?"
    r"(?:[住吃喝养嫁娶]|开的?(?:是)?什么车|人在|在.{1,3}?(?:上班|工作|干活|住|读书|上学)|是?[做干](?:什么|啥)|几岁|多大|结婚)"
)
"""Somebody with whom a question of an unspaced script begins, by what is asked of them: only people do that."""

_ASKING: Final = re.compile(
    r"^\W*(?:who|what|which|where|when|how|is|are|was|were|do|does|did|has|have|can)\b|[吗呢么]\W*$|什么|哪|谁|几|多少|怎么",
    re.IGNORECASE,
)

_COMMON_CHINESE: Final = frozenset(
    map(hash_term, "的了我是在不有他她这那就也都说去来上个一人到和你要没吃天会好想给妈家")
)
_COMMON_ENGLISH: Final = frozenset(
    map(hash_term, tokenise("the a an i i'm my we is are was to at in of and it for on"))
)
"""The tokens of which few texts in Chinese, and few in English, have none."""
_MACHINES: Final = np.array(ASSISTANT_TOKENS, np.uint64)
ORDERS: Final = frozenset(map(hash_term, tokenise("say said tell told want put order ordered advise recommend forbid")))
"""The tokens of what somebody does who orders the speaker about."""
_I: Final = frozenset(map(hash_term, tokenise("i i'm i've i'd i'll we we're we've we'd we'll 我")))
_MY: Final = frozenset(map(hash_term, tokenise("my our")))
"""The tokens by which a speaker is a subject, and by which something is theirs."""


@dataclass(frozen=True, slots=True)
class CurrencyWeights:
    """All that was learned, for entries with vectors or for entries by words.

    Attributes:
        embedder: Whose vectors the heads read; "" for the weights by words.
        said, asked: The heads over the vector of a passage and over that of a question: (dims + 1, `HEADS`), the last
            row the bias; none by words.
        networks: What puts candidates in order, the mean of what each makes of them.
    """

    embedder: str
    said: Floats
    asked: Floats
    networks: tuple[OrderNetwork, ...]


NETWORKS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"meaning": ("meaning_", "meaning_logs_", "meaning_all_"), "words": ("words_",)}
)
"""How the arrays of the networks with vectors, and of those by words, begin in the file."""


@lru_cache(maxsize=1)
def weights() -> Mapping[str, CurrencyWeights]:
    """Load what was learned, by the name of the embedder; "" is by words."""
    with resources.files("mnemic.recall").joinpath("currency.npz").open("rb") as file, np.load(file) as arrays:
        return weights_in(arrays)


def weights_in(arrays: Mapping[str, NDArray[Any]]) -> Mapping[str, CurrencyWeights]:
    """Read what was learned out of the arrays of its file."""
    embedder = str(arrays["embedder"])
    said, asked = (arrays[name].astype(np.float32) for name in ("said", "asked"))
    none = np.zeros((0, 0), np.float32)
    return {
        embedder: CurrencyWeights(embedder, said, asked, _networks_in(arrays, "meaning")),
        "": CurrencyWeights("", none, none, _networks_in(arrays, "words")),
    }


def _networks_in(arrays: Mapping[str, NDArray[Any]], name: str) -> tuple[OrderNetwork, ...]:
    return tuple(OrderNetwork.of(arrays, prefix) for prefix in NETWORKS[name])


@dataclass(frozen=True, slots=True)
class Pool:
    """The best candidates for a question, as the network sees them; the best first, arrays by candidate.

    Attributes:
        inputs, pairs, flags: What the network reads: of each, (n, inputs), of each two, (n, n, pair inputs), and of the
            question.
        place: Where each stands in time: before what another may have taken the place of stands that other.
        allowed: Whether the second of two may have taken the place of the first: it holds at the time asked for in its
            stead, and is of whom the question asks, or the first is not either; (n, n).
        own: What each scores by its own words.
        said: When each was said, microseconds.
        behind: By how much less each scores by all arms than the best, as a negative number.
        speakers: A token of whoever said it, 0 if nobody.
        machines: Whether an assistant did.
        apart: Whether it certainly speaks of somebody else than the question does.
        plain: Whether whoever asks states there of themselves, in all the words of the question, what is asked.
        supposed: Whether it begins as what is supposed, dreamt or nearly so, and the question asks for what is.
        vectors, asked: The vector of each, zeros where it has none, (n, dims), and of the question, (dims,); none by
            words.
        same_topic: How likely it is on the topic that is asked about; None where that is plainly none, or by words.
        traits: What the embedder tells of each beside its vector, (`TRAITS`, n), not a number where it
            tells nothing; None by words.
    """

    inputs: Floats
    pairs: Floats
    flags: Floats
    place: NDArray[np.intp]
    allowed: NDArray[np.bool_]
    own: Floats
    said: NDArray[np.int64]
    behind: Floats
    speakers: NDArray[np.uint64]
    machines: NDArray[np.bool_]
    apart: NDArray[np.bool_]
    plain: NDArray[np.bool_]
    supposed: NDArray[np.bool_]
    vectors: Floats
    asked: Floats
    same_topic: Floats | None = None
    traits: Floats | None = None

    @property
    def of_several(self) -> bool:
        """Whether several people said it; an assistant is none."""
        return len({*self.speakers[~self.machines].tolist()} - {0}) > 1


def pooled(question: Question, hits: Sequence[Hit], readings: Mapping[int, Reading], learned: CurrencyWeights) -> Pool:
    """Lay out what the network reads of some hits, the best first."""
    owners = _owners(hits)
    said = np.empty(len(hits), np.int64)
    for space, mine in owners.items():
        said[mine] = readings[space].values(Column.SAID, _places(hits, mine))
    statements = _Statements.of(*_streams(hits, owners, readings))
    arms, scores = _scores(hits, said, statements.lengths)
    kin = counted_in(question.query.text)[KIN] > 0
    own = question.asks_own and not question.names and not kin.any()
    apart = _apart(question, statements, kin)
    plain = _plain_statements(question, statements, own=own)
    inputs = [*scores, statements.cues, *_subject(question, statements, kin, own=own), apart, plain]
    vectors, matters = np.empty((len(hits), 0), np.float32), np.empty((len(MATTERS), len(hits)), np.float32)
    asked, same_topic, traits = np.empty(0, np.float32), None, None
    if len(learned.said):
        vectors, asked, traits = _vectors(question, hits, owners, readings, len(learned.said) - 1)
        likeness, here = _likeness(vectors, asked)
        heads = likelihoods(vectors, learned.said)
        heads *= here[:, None]
        heads = heads.T
        matters = heads[OF_MATTERS]
        wanted = likelihoods(asked[None], learned.asked)[0, OF_MATTERS]
        about, nobody = heads[OF_SUBJECTS], np.zeros((len(SUBJECTS), len(hits)), np.float32)
        inputs += [*likeness, np.sqrt(matters * wanted[:, None]).sum(axis=0), heads]
        inputs += (about, nobody) if own else (nobody, about)
        if topic_weights().embedder == learned.embedder:
            same_topic = topic_weights().same_topic(vectors, asked)
            inputs.append(same_topic if same_topic is not None else np.zeros(len(hits), np.float32))
            inputs += _related(vectors, asked)
        inputs.append(traits)
    place = _places_in_time(question, said, [hit.ver for hit in hits])
    supposed = statements.supposed & (ASKS_UNREAL.search(question.query.text) is None)
    return Pool(
        inputs=_side_by_side(inputs, len(hits)),
        pairs=_pairs(statements, said, vectors, matters),
        flags=_flags(question, kin),
        place=place,
        allowed=_allowed(
            question, place, apart | supposed | _in_another_language(question, statements), statements.machines
        ),
        own=arms[0],
        said=said,
        behind=scores[0].astype(np.float32),
        speakers=statements.speakers,
        machines=statements.machines,
        apart=apart,
        plain=plain,
        supposed=supposed,
        vectors=vectors,
        asked=asked,
        same_topic=same_topic,
        traits=traits,
    )


def _pairs(statements: _Statements, said: NDArray[np.int64], vectors: Floats, matters: Floats) -> Floats:
    """What each two candidates have in common: (n, n, pair inputs), the second beside the first."""
    count = len(said)
    if vectors.shape[1]:
        roots = np.sqrt(matters)
        near, matter = vectors @ vectors.T, roots.T @ roots
    else:
        near = matter = np.zeros((count, count), np.float32)
    shared, sizes = _words_shared(statements.words)
    kin = statements.cues[KIN] > 0
    gap = (said[None, :] - said[:, None]) / _DAY
    columns = (
        *(near, matter, shared / (sizes[:, None] + sizes - shared + 1), shared / (sizes + 1)),
        statements.speakers[:, None] == statements.speakers,
        (kin[:, :, None] & kin[:, None, :]).any(axis=0),
        (kin[:, :, None] != kin[:, None, :]).any(axis=0),
        np.sign(gap) * np.log1p(np.abs(gap)),
        gap == 0,
    )
    return np.stack(columns, axis=-1, dtype=np.float32, casting="unsafe")


def _words_shared(words: Sequence[frozenset[int]]) -> tuple[Floats, Floats]:
    """How many words each two of some sets have in common, (n, n), and how many each has."""
    sizes = np.fromiter(map(len, words), np.intp, len(words))
    every = np.fromiter(chain.from_iterable(words), np.uint64, int(sizes.sum()))
    different, column = np.unique(every, return_inverse=True)
    held = np.zeros((len(words), len(different)), np.float32)
    held[np.arange(len(words)).repeat(sizes), column] = 1
    return held @ held.T, sizes.astype(np.float32)


def _flags(question: Question, kin: NDArray[np.bool_]) -> Floats:
    """What the network reads of the question."""
    text, view = question.query.text, question.query.view
    return np.array(
        (
            *(question.asks_own, _BEFORE.search(text) is not None, _HAPPENED.search(text) is not None),
            *(view.as_of is not None, view.valid_at is not None, bool(question.spans), has_chinese(text)),
            *(_OF_NOW.search(text) is not None, ASKS_PAST.search(text) is not None, kin.any()),
            *(asks_several(text), asks_yes_or_no(text), _WHO.search(text) is not None),
        ),
        np.float32,
    )


def _places_in_time(question: Question, said: NDArray[np.int64], versions: Sequence[int]) -> NDArray[np.intp]:
    """Where each candidate stands in time: the newest that held at the time asked for goes first."""
    view = question.query.view
    asked = max((span.end - 1 for span in question.spans), default=None)
    until = min((time for time in (view.valid_at, asked) if time), default=None)

    def standing(at: int) -> tuple[bool, int, int]:
        if until is None or said[at] <= until:
            return (False, -int(said[at]), -versions[at])
        return (True, int(said[at]), versions[at])

    place = np.empty(len(said), np.intp)
    place[sorted(range(len(said)), key=standing)] = np.arange(len(said))
    return place


def _allowed(
    question: Question, place: NDArray[np.intp], off: NDArray[np.bool_], machines: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Whether the second of each two candidates may have taken the place of the first: `Pool.allowed`.

    Args:
        off: What is of somebody else, only supposed or in another language than the question takes the place of nothing
            else: across languages no change was ever learned, and any state came out as one.
    """
    if _BEFORE.search(question.query.text):
        return np.zeros((len(place), len(place)), np.bool_)
    may = ~off & ~machines if question.asks_own else ~off
    allowed: NDArray[np.bool_] = (place < place[:, None]) & (may | ~may[:, None])
    return allowed


@dataclass(frozen=True, slots=True)
class Succession:
    """Candidates in the order in which they answer, and which of them are states of one matter.

    Attributes:
        order: Positions in the pool, the best first.
        group: Positions of those that are states of one matter, the one that holds at the time asked for first; none
            where it has taken the place of nothing.
        bearing: The log odds that a candidate bears on the question, by position.
        same_matter: The log odds that it is of one matter with the first, by position, and of the first that it has
            taken the place of another.
    """

    order: tuple[int, ...]
    group: tuple[int, ...]
    bearing: Floats
    same_matter: Floats


def succeeded(question: Question, pool: Pool, learned: CurrencyWeights) -> Succession:
    """Order the candidates by how they bear on a question, and by whether another one has taken their place.

    To a question about whoever asks, what an assistant said stays behind what a person did; so does, to any, what is
    certainly of somebody else. By words alone the order stays, but for a newer state of what came first.
    """
    odds = OrderOdds.mean_of(
        [network.weigh(pool.inputs, pool.pairs, pool.flags, pool.vectors, pool.asked) for network in learned.networks]
    )
    bearing = odds.bearing
    off = pool.apart | pool.machines & question.asks_own
    bearing[off] -= np.float32(BEHIND)
    if pool.supposed.any() and bearing[~pool.supposed].max(initial=-1) > 0:  # what is so goes before it
        bearing[pool.supposed] -= np.float32(BEHIND)
        off = off | pool.supposed
    if pool.plain.any():
        bearing[pool.plain] = np.maximum(bearing[pool.plain], bearing.max())
    likely = math.log(REPLACED / (1 - REPLACED))
    if learned.embedder:
        standing = odds.standing(pool.allowed)
        standing += np.float32(_share_of_all_arms(pool)) * pool.behind
        order = kept_near(
            np.argsort(-standing, kind="stable"), bearing + np.float32(question.weights.all_arms) * pool.behind, off
        )
    else:
        order = _as_they_came(pool, odds, likely)
    first = int(order[0])
    replaced = odds.replaced[:, first]
    states = pool.allowed[:, first] & (replaced > likely) & (bearing > 0)
    older = sorted(np.flatnonzero(states).tolist(), key=pool.place.__getitem__)
    same_matter = odds.same[:, first].copy()
    same_matter[first] = replaced[pool.allowed[:, first]].max(initial=np.float32(-30))
    return Succession(tuple(order.tolist()), (first, *older) if older else (), bearing, same_matter)


def _share_of_all_arms(pool: Pool) -> float:
    """What the score by all arms counts for in the order of candidates."""
    if pool.of_several:
        return BETWEEN_PEOPLE
    return ALL_ARMS if pool.own.any() else UNSPOKEN


def kept_near(order: NDArray[np.intp], bearing: Floats, off: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Positions in their order, but what bears most among the first three, and position 0, which all arms found best,
    among the first five: an order learned on short talks may be wrong of much talk of like things.

    One more kept among the five would push the one before it out.

    Args:
        bearing: What each bears, with what all arms give it.
        off: What is certainly of somebody else, or an assistant's where it is asked of whoever asks, is not kept.
    """
    best = [] if off[0] else [(0, AMONG_FIVE)]
    for at, place in ((int(np.argmax(bearing)), AMONG_THREE), *best):
        if (now := int(np.flatnonzero(order == at)[0])) >= place:
            order = np.insert(np.delete(order, now), place - 1, at)
    return order


def _as_they_came(pool: Pool, odds: OrderOdds, likely: float) -> NDArray[np.intp]:
    """Positions in the order in which candidates came, but the newest state of what came first before it.

    Words alone say too little of what bears; a state holds about as much of the question as what came first.
    """
    least = np.float32(ALIKE_IN_WORDS) * pool.own[0]
    newer = pool.allowed[0] & (odds.replaced[0] > likely) & (pool.own >= least) & (least > 0)
    if not newer.any():
        return np.arange(len(newer))
    at = min(np.flatnonzero(newer).tolist(), key=pool.place.__getitem__)
    return np.array([at, *(other for other in range(len(newer)) if other != at)], np.intp)


def current(
    question: Question, hits: Sequence[Hit], readings: Mapping[int, Reading], *, pending: bool = False
) -> list[Hit]:
    """Put hits, the best first, that are no documents in the order in which they answer; scores stay where they were.

    The component "currency" of one that moved is what its score changed by. A question that names a speaker is left as
    it is but for its first two (`_named_first`) and for what others said (`_others_behind`), for who speaks is weighed
    by then and in a talk of several little succeeds; what does not ask is left as it is.

    Args:
        pending: Some entries may have no vector yet: if a hit has none, all are weighed by words.
    """
    turns = [i for i, hit in enumerate(hits) if not readings[hit.space].lengthy[hit.doc]]
    if len(turns) < 2 or not _asks(question):
        return list(hits)
    if question.names:
        return _others_behind(_named_first(question, hits, readings), readings)
    turn_hits = [hits[i] for i in turns]
    learned = _learned(question)
    if learned.embedder and pending and not _embedded(question, turn_hits, readings):
        learned = weights()[""]
    pool = pooled(question, turn_hits, readings, learned)
    succession = succeeded(question, pool, learned)
    moved, bearing = list(hits), succession.bearing.tolist()
    same_matter = succession.same_matter.tolist()
    none = [None] * len(turn_hits)
    same_topic = none if pool.same_topic is None else pool.same_topic.tolist()
    traits = none if pool.traits is None else [_traits_if_told(odds) for odds in pool.traits.T.tolist()]
    states = {at: n for n, at in enumerate(succession.group, start=1)}
    for place, at in zip(turns, succession.order, strict=True):
        hit, score = turn_hits[at], hits[place].score
        stays = score == hit.score
        moved[place] = Hit(
            space=hit.space,
            ver=hit.ver,
            doc=hit.doc,
            score=score,
            components=hit.components if stays else {**hit.components, "currency": score - hit.score},
            reasons=(*hit.reasons, *_reasons(question, succession.group, at, pool)) if at in states else hit.reasons,
            bearing=bearing[at],
            succession=states.get(at, 0),
            same_matter=same_matter[at],
            same_topic=same_topic[at],
            traits=traits[at],
        )
    return moved


def _traits_if_told(odds: Sequence[float]) -> tuple[float, ...] | None:
    return None if math.isnan(odds[0]) else tuple(odds)


def _named_first(question: Question, hits: Sequence[Hit], readings: Mapping[int, Reading]) -> list[Hit]:
    """Exchange the first two hits if somebody else says "I" in the one, and whoever is named does in the other.

    What the two say is of themselves, so only the second can be of whom the question names.
    """
    first, second = pair = hits[:2]
    if any(readings[hit.space].lengthy[hit.doc] for hit in pair):
        return list(hits)
    statements = _Statements.of(*_streams(pair, _owners(pair), readings))
    mine = np.isin(statements.speakers, np.array([name.speaker for name in question.names], np.uint64))
    if not statements.people.own.all() or mine.tolist() != [False, True]:
        return list(hits)
    return [_moved(second, first.score), _moved(first, second.score), *hits[2:]]


def _others_behind(hits: Sequence[Hit], readings: Mapping[int, Reading]) -> list[Hit]:
    """Put what others said behind the rest, where whoever the question names said all that stands first.

    Who talks with them mostly asks them, or is glad with them, beside what they tell. Where another one stands among
    the first, the question may have the wrong name.
    """
    if len(hits) <= ALL_OF_NAMED or not all("speaker" in hit.components for hit in hits[:ALL_OF_NAMED]):
        return list(hits)
    ordered = sorted(hits, key=lambda hit: _of_other_speaker(hit, readings))
    return [hit if hit is place else _moved(hit, place.score) for hit, place in zip(ordered, hits, strict=True)]


def _of_other_speaker(hit: Hit, readings: Mapping[int, Reading]) -> bool:
    """Whether somebody said it whom the question does not name, and it is not found for speaking of whom it names."""
    if "speaker" in hit.components or "named" in hit.components:
        return False
    stream = readings[hit.space].stream(hit.doc)
    return len(stream) > 0 and bool(_SPOKEN <= stream[0] < _DATED)


def _moved(hit: Hit, score: float) -> Hit:
    """A hit at the place of another with its score."""
    return replace(hit, score=score, components={**hit.components, "currency": score - hit.score})


def _learned(question: Question) -> CurrencyWeights:
    """The weights for the embedder by which the question is compared, else those by words."""
    known = weights()
    return next((known[name] for name in question.query.embedders.values() if name in known), known[""])


def _embedded(question: Question, hits: Sequence[Hit], readings: Mapping[int, Reading]) -> bool:
    """Whether each hit has its vector: one that still waits for it would stand behind all that have theirs."""
    for model in question.query.vectors:
        for space in {hit.space for hit in hits}:
            places = np.array([hit.doc for hit in hits if hit.space == space], np.intp)
            if not readings[space].vectors(model, places).any(axis=1).all():
                return False
    return True


def _reasons(question: Question, group: Sequence[int], at: int, pool: Pool) -> tuple[str, ...]:
    """What is said of a state of a matter that has several; days are those on the clock of whoever asks."""
    said, first = int(pool.said[at]), int(pool.said[group[0]])
    older = [int(pool.said[other]) for other in group[1:] if pool.said[other] < said]
    if at == group[0]:
        return (f"newer than what was said of it on {question.day(max(older))}",) if older else ()
    if said == first:
        return ("told before what was said of it at the same time",)
    why = "said before what was said of it on" if said < first else "said after the time asked for, unlike"
    return (f"{why} {question.day(first)}",)


@dataclass(frozen=True, slots=True)
class _Statements:
    """The words of some candidates, by candidate.

    Attributes:
        lengths: How many each has.
        cues: How often each cue stands in it, (cues, n), as a logarithm.
        opens: Whether its first word means its speaker.
        spoken: Its tokens, who says it and when left out.
        words: Its different words that carry meaning.
        speakers: A token of whoever said it, 0 if nobody.
        machines: Whether an assistant did.
        people: Whom each speaks of.
        subjects: The word that each opens with, 0 where it is one of grammar or a cue.
        supposed: Whether it begins as what is supposed, dreamt, planned or nearly so.
    """

    lengths: NDArray[np.intp]
    cues: Floats
    opens: NDArray[np.bool_]
    spoken: Sequence[Sequence[int]]
    words: tuple[frozenset[int], ...]
    speakers: NDArray[np.uint64]
    machines: NDArray[np.bool_]
    people: People
    subjects: NDArray[np.uint64]
    supposed: NDArray[np.bool_]

    @property
    def mine(self) -> NDArray[np.bool_]:
        """Whether each opens with what is its speaker's, which only what was said before it names."""
        return np.fromiter(map(opens_with_mine, self.spoken), np.bool_, len(self.spoken))

    @classmethod
    def of(cls, tokens: NDArray[np.uint64], sizes: NDArray[np.int64]) -> _Statements:
        """Read token streams that lie end to end, each of so many tokens: a speaker comes first, if there is one."""
        count = len(sizes)
        first = np.append(tokens, _NO_TOKEN)[np.where(sizes, sizes.cumsum() - sizes, len(tokens))]
        said = tokens < _SPOKEN
        text, texts = tokens[said], np.arange(count).repeat(sizes)[said]
        lengths = np.bincount(texts, minlength=count)
        begins = lengths.cumsum() - lengths
        hints = hints_in(text, texts)
        cued = (hints.cues >= 0).nonzero()[0]
        at = hints.cues[cued] * count + hints.texts[cued]
        cues = np.bincount(at, minlength=len(SentenceCue) * count).reshape(-1, count)
        opens = np.zeros(count, np.bool_)
        selves = hints.cues == SentenceCue.SELF
        opens[hints.texts[selves & (hints.places == begins[hints.texts])]] = True
        stream, known, stops = text.tolist(), cue_by_token(), stop_hashes()
        bounds = [*begins.tolist(), len(stream)]
        spoken = [stream[begin:end] for begin, end in pairwise(bounds)]
        opening = (words[0] if words else 0 for words in spoken)
        named = (0 if token in known or token in stops or token in _ASIDES else token for token in opening)
        return cls(
            lengths=lengths,
            cues=np.log1p(cues, dtype=np.float32),
            opens=opens,
            spoken=spoken,
            words=tuple(frozenset(words) - stops for words in spoken),
            speakers=np.where((first >= _SPOKEN) & (first < _DATED), first, np.uint64(0)),
            machines=(first == _MACHINES[:, None]).any(axis=0),
            people=people_of(hints, begins),
            subjects=np.fromiter(named, np.uint64, count),
            supposed=begin_supposed(text, texts, begins),
        )


def _streams(
    hits: Sequence[Hit], owners: Mapping[int, slice | list[int]], readings: Mapping[int, Reading]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The token streams of hits, end to end, and how many tokens each has."""
    if len(owners) == 1:
        (space,) = owners
        return readings[space].streams(_places(hits, slice(None)))
    streams = [readings[hit.space].stream(hit.doc) for hit in hits]
    return np.concatenate(streams), np.fromiter(map(len, streams), np.int64, len(streams))


def _owners(hits: Sequence[Hit]) -> Mapping[int, slice | list[int]]:
    """Which of some hits lie in each space."""
    spaces = dict.fromkeys(hit.space for hit in hits)
    if len(spaces) == 1:
        return dict.fromkeys(spaces, slice(None))
    return {space: [i for i, hit in enumerate(hits) if hit.space == space] for space in spaces}


def _places(hits: Sequence[Hit], mine: slice | list[int]) -> NDArray[np.intp]:
    return np.array([hit.doc for hit in hits], np.intp)[mine]


def _side_by_side(columns: Sequence[NDArray[np.generic]], count: int) -> Floats:
    """Columns, or blocks of them as (columns, n), as one table: (n, columns)."""
    flat = np.concatenate(columns, axis=None, dtype=np.float32, casting="unsafe")
    return flat.reshape(-1, count).T


def _asks(question: Question) -> bool:
    """Whether it is a question, and no list of words to look for."""
    text = question.query.text
    return question.asks_own or text.rstrip().endswith(("?", "？")) or _ASKING.search(text) is not None


def _scores(
    hits: Sequence[Hit], said: NDArray[np.int64], lengths: NDArray[np.intp]
) -> tuple[Floats, list[NDArray[np.generic]]]:
    """What the other arms gave each candidate, (arms, n); and the columns of what is known without its words."""
    parts = [hit.components for hit in hits]
    given = chain.from_iterable(map(part.get, _ARMS, _NOTHING) for part in parts)
    arms = np.fromiter(given, np.float32, len(hits) * len(_ARMS)).reshape(len(hits), -1).T
    scores = np.array([hit.score for hit in hits], np.float32)
    scores -= np.array([part.get("beside", 0.0) for part in parts], np.float32)
    matched = np.array(["beside" not in part for part in parts])
    newness = (np.argsort(np.argsort(said)) + 1) / len(hits)
    return arms, [scores - scores[0], matched, arms, newness, np.log1p(lengths)]


def _subject(
    question: Question, statements: _Statements, kin: NDArray[np.bool_], *, own: bool
) -> list[NDArray[np.generic]]:
    """Whether each candidate speaks of whom the question asks about, by columns.

    Args:
        kin: Of what kin it speaks.
        own: It asks about whoever asks, and not about somebody of theirs.
    """
    none, every = np.zeros(len(statements.words), np.float32), np.ones(len(statements.words), np.float32)
    there, me = statements.cues[KIN] > 0, statements.cues[SentenceCue.SELF]
    shared = (there & kin[:, None]).any(axis=0)
    asked = frozenset(term.text for term in question.others)
    covered = _shared(asked, statements.words) / max(1, len(asked))
    spelt = _names(question)
    called = frozenset(term.text for term in question.terms if term.word in spelt)
    named = _shared(called, statements.words) if called else none
    asked_of = frozenset(name.speaker for name in question.names)
    speaking = np.array([speaker in asked_of for speaker in statements.speakers.tolist()], np.bool_)
    selves = (
        me > 0,
        me == 0,
        me,
        statements.opens,
        there.any(axis=0),
        statements.cues[SentenceCue.OTHER],
        statements.machines,
    )
    return [
        *(selves if own else (none,) * len(selves)),
        statements.machines,
        shared,
        ~shared if kin.any() else none,
        named,
        named == 0 if called else none,
        speaking,
        ~speaking & (me > 0) if question.names else none,
        covered,
        every if own else none,
    ]


def _plain_statements(question: Question, statements: _Statements, *, own: bool) -> NDArray[np.bool_]:
    """Which candidates state in all words of a question about whoever asks what they say of themselves.

    "I work at Siemens as a tester" to "Where do I work?": that is sure, whatever its vector is read as.
    """
    known = cue_by_token()
    asked = frozenset(term.text for term in question.others if known.get(term.text) != SentenceCue.NOW)
    if not (asked and own):
        return np.zeros(len(statements.words), np.bool_)
    doing = statements.cues[[SentenceCue.SUPPOSE, SentenceCue.ASK, SentenceCue.NOT]].any(axis=0)
    alone = statements.people.own & ~statements.people.others
    whole = np.fromiter((asked <= held for held in statements.words), np.bool_, len(statements.words))
    plain: NDArray[np.bool_] = whole & alone & statements.opens & ~doing & ~statements.machines
    return plain


def _shared(words: frozenset[int], others: Sequence[frozenset[int]]) -> Floats:
    """How many words each of some sets has in common with one."""
    if not words:
        return np.zeros(len(others), np.float32)
    return np.array([len(words & held) for held in others], np.float32)


def _apart(question: Question, statements: _Statements, kin: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which candidates certainly speak of somebody else than the question does, whatever else they say.

    Asked of somebody by name or kin whom some candidate calls so: those that say "I" and speak of nobody else, and of
    kin those that open with somebody else. Asked of whoever asks: those of their kin that do not say "I", and others of
    a subject of their own. Who corrects themselves says "I" of anybody's matter.
    """
    people, called = statements.people, _called(question)
    calls = _share(statements, called)
    strange = _of_a_stranger(question, statements, people.of_kin & calls if called else people.own)
    strange |= _of_another(question, statements)
    orders = (statements.cues[SentenceCue.EXPERT] > 0) & _share(statements, ORDERS)
    of_kin: NDArray[np.bool_] = people.of_kin & ~orders  # what a doctor says is of whoever tells it
    if question.asks_own and kin.sum() < 2 and (kin[-1:].any() or _WHO.search(question.query.text)):
        return (of_kin & ~calls & calls.any()) | strange
    if not called:
        return (of_kin & question.asks_own) | strange
    unclear = (statements.cues[SentenceCue.CORRECT] > 0) | statements.mine
    apart: NDArray[np.bool_] = people.own & ~people.others & ~calls & ~unclear & (calls & ~strange).any()
    return apart | strange


def _of_another(question: Question, statements: _Statements) -> NDArray[np.bool_]:
    """Which candidates speak of another one than the question: than whoever asks, is asked, or is named or called.

    Whom a question names or calls by what they are, some candidate must call so too: then another does not who opens
    with somebody else, or who has the name and is something else to the speaker.
    """
    people, asked = statements.people, asked_person(question)
    if asked.assistant:
        says = statements.machines & (people.own | people.others)
        return people.own & ~people.others & ~statements.machines & says.any()
    if question.asks_own and not asked.roles:
        others = _beside_mine(question, statements) | _of_strangers(statements)
        return others | asked.asker & (people.by_she | people.of_relatives) & ~people.own
    has_name = _hold(statements, asked.names.issubset) if asked.names else np.zeros(len(statements.words), np.bool_)
    has_role = _share(statements, asked.roles)
    unclear = people.by_pronoun | (statements.cues[SentenceCue.CORRECT] > 0)
    another = np.zeros(len(unclear), np.bool_)
    if has_name.any():
        another |= ~has_name & (people.opens_with_kin & ~(has_role & people.of_kin) | people.own & ~people.others)
        beside = _hold(statements, lambda held: not (held & kin_tokens()) <= asked.roles)
        if asked.roles and (has_name & ~beside).any():
            another |= has_name & ~has_role & beside
    elif has_role.any():
        another |= ~has_role & ~people.own & (people.of_kin | people.of_mine)
    another |= _of_a_subject_unheard_of(question, statements, has_name if has_name.any() else has_role)
    another &= ~unclear
    return another | _of_others_kin(question, statements, asked)


def _of_others_kin(question: Question, statements: _Statements, asked: AskedPerson) -> NDArray[np.bool_]:
    """Which candidates open with somebody by whose they are who is not whom the question asks about: "my flatmate's
    boss" for "my boss", a sister for a sister-in-law; and, where another one opens with whom it asks about, somebody of
    theirs ("the tutor's husband" for "my tutor").
    """
    none = np.zeros(len(statements.words), np.bool_)
    kin = spaced_kin(asked.roles)
    wanted = phrase_in(np.frombuffer(terms(question.query.text), np.uint64).tolist(), kin, asked.names)
    if wanted is None:
        return none
    told = [opening_phrase(tokens, kin, asked.names) for tokens in statements.spoken]
    known = any(phrase is not None and phrase.same_as(wanted) for phrase in told)
    another = none
    for at, phrase in enumerate(told):
        if phrase and (phrase.certainly_another(wanted) or (known and phrase.one_of(wanted))):
            later = phrase_in(statements.spoken[at], kin, begin=phrase.end)
            another[at] = later is None or not later.same_as(wanted)
    return another


def _in_another_language(question: Question, statements: _Statements) -> NDArray[np.bool_]:
    """Which candidates are plainly in another language than the question, by what most texts of that language have."""
    other = _COMMON_ENGLISH if has_chinese(question.query.text) else _COMMON_CHINESE
    return _share(statements, other, spoken=True)


def _of_strangers(statements: _Statements) -> NDArray[np.bool_]:
    """Which candidates open with nobody of the speaker's, who does not say "I" there."""
    opens = np.fromiter(map(opens_with_stranger, statements.spoken), np.bool_, len(statements.spoken))
    return opens & ~_share(statements, _I, spoken=True)


def _beside_mine(question: Question, statements: _Statements) -> NDArray[np.bool_]:
    """Which candidates tell of somebody else's of what a question asks as of whoever asks, beside one that tells of
    theirs: "Anna's dog", "my gran's cat" for "my dog", where another says "Mine answers to Moss" or "our cat".
    """
    none = np.zeros(len(statements.words), np.bool_)
    mine = statements.mine
    things = _asked_of_mine(question)
    if not things:
        return none
    people, kin = statements.people, spaced_kin(frozenset())
    holds = _share(statements, things)
    if not (mine | holds & people.own & ~people.opens_with_kin).any():
        return none
    others = mine.any() & holds & (people.by_she | people.of_kin) & ~people.own
    for at in np.flatnonzero(holds & ~mine).tolist():
        tokens = statements.spoken[at]
        phrase = opening_phrase(tokens, kin)
        end = phrase.end if phrase else 1
        opens = phrase is not None or (statements.subjects[at] and not people.own[at])
        others[at] |= bool(opens) and not things.isdisjoint(tokens[end : end + 2])
    return others


def _asked_of_mine(question: Question) -> frozenset[int]:
    """The tokens of what a question speaks of as of whoever asks: of "my old dog", dog."""
    asked = frozenset(term.text for term in question.others)
    tokens = np.frombuffer(terms(question.query.text), np.uint64).tolist()
    after = (tokens[at + 1 : at + 3] for at, token in enumerate(tokens) if token in _MY)
    return frozenset(chain.from_iterable(after)) & asked


def _of_a_subject_unheard_of(
    question: Question, statements: _Statements, calls: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Which candidates open with a subject that neither the question nor what calls whom it asks about has a word for.

    Only scripts with spaces show a subject.
    """
    if not calls.any() or any("\u3400" <= sign <= "\u9fff" for sign in question.query.text):
        return np.zeros(len(calls), np.bool_)
    heard = frozenset(term.text for term in question.terms).union(
        *(statements.words[at] for at in np.flatnonzero(calls))
    )
    opens = np.fromiter((subject not in heard for subject in statements.subjects.tolist()), np.bool_, len(calls))
    return opens & (statements.subjects > 0) & ~calls & ~statements.people.own


def _hold(statements: _Statements, holds: Callable[[frozenset[int]], bool]) -> NDArray[np.bool_]:
    """For which candidates something holds of their words."""
    return np.fromiter(map(holds, statements.words), np.bool_, len(statements.words))


def _share(statements: _Statements, words: frozenset[int], *, spoken: bool = False) -> NDArray[np.bool_]:
    """Which candidates have any of some words; words of grammar count where all that is spoken is looked through."""
    if not words:
        return np.zeros(len(statements.words), np.bool_)
    among = statements.spoken if spoken else statements.words
    return ~np.fromiter(map(words.isdisjoint, among), np.bool_, len(among))


def _of_a_stranger(question: Question, statements: _Statements, mine: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which candidates hold all words of a question about whoever asks, open with a subject of their own, and tell of
    no change.

    Args:
        mine: Those that speak of whoever asks, or of the kin that is asked about: none is strange unless one of these
            holds all words too.
    """
    asked = frozenset(term.text for term in question.others)
    strange = np.zeros(len(statements.words), np.bool_)
    if not (asked and question.asks_own):
        return strange
    whole = [at for at, held in enumerate(statements.words) if asked <= held]
    if not mine[whole].any():
        return strange
    opens = [at for at in whole if statements.subjects[at] not in asked and statements.subjects[at]]
    strange[opens] = ~statements.cues[np.ix_([SentenceCue.SELF, *_TURNING], opens)].any(axis=0)
    return strange


def _called(question: Question) -> frozenset[int]:
    """The tokens by which a question calls somebody other than whoever asks: words for kin, else names."""
    kin = frozenset(term.text for term in question.terms) & kin_tokens()
    if kin or question.asks_own:
        return kin
    text = question.query.text
    unspaced = _UNSPACED_SUBJECT.match(text)
    names = {word for name in called_by_name(text) for word in words_of(name)}
    names |= {word for word in words_of(unspaced[1] if unspaced else "") if len(word) > 1}
    return frozenset(term.text for term in question.terms if term.name in names)


def _names(question: Question) -> frozenset[str]:
    """The words of a question that are written as names, folded."""
    return frozenset(match.casefold() for match in _NAME.findall(question.query.text) if match != "I")


def _vectors(
    question: Question,
    hits: Sequence[Hit],
    owners: Mapping[int, slice | list[int]],
    readings: Mapping[int, Reading],
    dims: int,
) -> tuple[Floats, Floats, Floats]:
    """The vectors of hits, zeros where there is none, that of the question, and what is told of hits beside theirs.

    The last is by `TRAITS` and hit, not a number where nothing is.
    """
    vectors, asked = np.zeros((len(hits), dims), np.float32), np.zeros(dims, np.float32)
    traits = np.full((len(TRAITS), len(hits)), np.nan, np.float32)
    for model, vector in question.query.vectors.items():
        if vector.shape == (dims,):
            for space, mine in owners.items():
                places = _places(hits, mine)
                vectors[mine] = readings[space].vectors(model, places)
                traits[:, mine] = readings[space].traits(model, places).T
            return vectors, vector, traits
    return vectors, asked, traits


def _likeness(vectors: Floats, asked: Floats) -> tuple[list[NDArray[np.generic]], NDArray[np.bool_]]:
    """Columns of how near each vector is to the question's; and which are there at all."""
    here = np.asarray(vectors.any(axis=1), np.bool_)
    cosines = vectors @ asked
    mean = cosines.sum() / np.float32(max(1, int(np.count_nonzero(here))))
    apart = np.where(here, cosines - mean, np.float32(0))
    spread = math.sqrt(float(apart @ apart) / len(apart)) + 0.01
    return [apart / np.float32(spread), apart - apart.max(), here], here


def _related(vectors: Floats, asked: Floats) -> list[NDArray[np.generic]]:
    """Columns of how related each vector is to the question's by itself, and not only beside the other candidates: by
    nearness, by its rank in it, and by how alike the two are in all topics, on however many of them they may be.

    Of idle talk something always stands nearest; that is not near.
    """
    topics = topic_weights()
    said, wanted = topics.of_passages(vectors), topics.of_question(asked)
    alike = np.sqrt(said[:, :-1] * wanted[:-1]).sum(axis=1)
    nearness = vectors @ asked
    farther = np.argsort(np.argsort(-nearness))
    return [
        *(nearness, 1 / (1 + farther), np.log(said @ wanted + _NO_TOPIC_SHARED), alike, alike - alike.max()),
        np.full(len(vectors), wanted[-1]),
    ]


def likelihoods(vectors: Floats, heads: Floats) -> Floats:
    """The likelihood of each of `HEADS` by vector; those of acts, subjects and matters each sum to one."""
    odds = small_product(vectors, heads[:-1])
    odds += heads[-1]
    odds -= np.maximum.reduceat(odds, _FIRSTS, axis=1)[:, _KIND_OF]
    likely: Floats = np.exp(odds, out=odds)
    likely /= np.add.reduceat(likely, _FIRSTS, axis=1)[:, _KIND_OF]
    return likely

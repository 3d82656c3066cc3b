"""Recall, end to end: understand, gather, fuse, diversify, pack, in one pass over one snapshot."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.core.items import Kind, Sight
from mnemic.core.queries import Context, Lost, Stage
from mnemic.core.tokens import BY_RULES
from mnemic.index.columns import Column
from mnemic.recall.asked_for import is_undated
from mnemic.recall.bridge import Bridge, bridge, leads_on
from mnemic.recall.currency import POOL, current
from mnemic.recall.fuse import Chosen, Ranking, fuse, latest, named, twin
from mnemic.recall.gather import gather
from mnemic.recall.pack import Packed, fetched, pack, without_room
from mnemic.recall.past_states import asks_of_now, tells_only_past
from mnemic.recall.polarity import asked_words, share_held
from mnemic.recall.reasons import Confidence, answerable, explained, traced
from mnemic.recall.scoring import SCORING
from mnemic.recall.seeking import Sought
from mnemic.recall.sentence_cues import SentenceCue, hints_in
from mnemic.recall.unasked import only_greets
from mnemic.recall.understand import Question, Term, spelled, understand
from mnemic.recall.unreal import LEAST_SO, NEAR_UNREAL
from mnemic.recall.walk import walk
from mnemic.recall.what_asks import states_nothing
from mnemic.recall.wishes import asks_wish, in_mood_first, is_of_other_mood, may_misplace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item, Version
    from mnemic.core.queries import Hit, Query
    from mnemic.index.catalogues import Catalogues
    from mnemic.index.reading import Reading
    from mnemic.recall.gather import Arms
    from mnemic.recall.recall_weights import RecallWeights
    from mnemic.recall.walk import Trails
    from mnemic.store.engine.snapshot import Snapshot

TWINS: Final = 1_000
"""Most items that are passed over for one answer because they say the same as a better one."""

_LOOKED_AT: Final = 12
"""Of how many candidates, the best first, the words are read to tell wishes or questions from what is so."""

_ANSWERS: Final = -2.5
"""Log odds of bearing on a question from which a statement that shares a word with it goes before what only asks."""
_ASKS_WHAT_WAS_ASKED: Final = re.compile(
    r"\basked\b|\b(?:did|do|does)\b[^,.:]{1,20}\bask\b|\bquestions?\b|(?<![请想])问", re.IGNORECASE
)

_WORD: Final = "word of the question occurs here"
_UNTOUCHED: Final = "no word of the question stands in it, beside it, or in its date"
_FAR: Final = f"{_UNTOUCHED}, and it is not close in meaning"
_UNNAMED: Final = "the question comes down to a name: it is neither said by {} nor speaks of them"
_DERIVED: Final = "rules made it, and recall finds what they made it of in its place: {}; `context` shows it of itself"
_MEANT: Final = "what is close in meaning"
_NO_TIME: Final = "nothing was said in that time"


@dataclass(frozen=True, slots=True)
class Signals:
    """What every arm gives all that a question may see: the weights say what is made of it.

    Attributes:
        question: With the weights that count.
        readings: What it may see, by space.
        arms: Of each of those that hold anything.
    """

    question: Question
    readings: Mapping[int, Reading]
    arms: Sequence[Arms]

    @property
    def searched(self) -> list[Reading]:
        """Those that hold anything: a layer that shows nothing, such as a branch not written to yet, takes no part."""
        return [reading for reading in self.readings.values() if reading.size]

    @classmethod
    def of(cls, query: Query, visible: list[Reading]) -> Signals:
        """Understand a question, and gather what bears on it; inside of `SCORING`."""
        question = understand(query, visible)
        unasked = cls(question, {reading.space: reading for reading in visible}, ())
        return replace(unasked, arms=gather(question, unasked.searched))


@dataclass(frozen=True, slots=True)
class _Candidates:
    """The candidates for an answer, and what is to be said of how they were found.

    Attributes:
        blind: Nothing is known to bear on the question.
        pending: Entries that have no vector yet, though the question has.
        left_out: Why the others are none, if not for want of a word.
        trails: How documents were come to along names, by space.
        first: The best of them, in the order in which they answer.
        bridge: How turns were come to by a subject.
    """

    ranking: Ranking
    notes: tuple[str, ...] = ()
    blind: bool = False
    pending: int = 0
    left_out: str = ""
    trails: Mapping[int, Trails] = field(default_factory=dict)
    first: tuple[Hit, ...] = ()
    bridge: Bridge | None = None

    def hits(self) -> Iterator[Hit]:
        """Every candidate, best first; sorted lazily, only as far as they are read."""
        return chain(self.first, islice(self.ranking.hits(), len(self.first), None))


@dataclass(frozen=True, slots=True)
class _Ranked:
    """The outcome of all stages before packing, and how likely memory holds the answer."""

    question: Question
    readings: Mapping[int, Reading]
    candidates: _Candidates
    chosen: Chosen
    confidence: Confidence

    @property
    def entries(self) -> int:
        return sum(reading.size for reading in self.readings.values())

    @property
    def bearing(self) -> bool:
        """Whether anything is known to bear on the question."""
        return _bears(self.chosen, self.candidates)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was understood, and what there is to say of as much as was chosen."""
        return (*self.question.notes, *self.candidates.notes, *_shortfalls(self.question, self.candidates, self.chosen))

    def stages(self, packed: int) -> tuple[tuple[str, int, int], ...]:
        """How many candidates entered and left each stage."""
        ranked, looked, kept = len(self.candidates.ranking), self.chosen.looked, self.chosen.kept
        return (
            ("gather", self.entries, ranked),
            ("fuse", ranked, looked),
            ("diversify", looked, kept),
            ("pack", kept, packed),
        )


def recall(snapshot: Snapshot, catalogues: Catalogues, query: Query, *, explain: bool = False) -> Context:
    """Find the evidence that bears on a question, as this snapshot sees it, packed for a prompt."""
    started = time.perf_counter()
    ranked = _rank(snapshot, catalogues, query)
    packed = _packed(ranked.chosen, ranked, snapshot)
    nearest = ranked.candidates.ranking.most("dense")
    small_talk = [only_greets(version.item.text) for version in packed.versions]
    why = explained(ranked.question, ranked.readings, packed.hits, nearest, small_talk)
    ways = traced(packed.hits, ranked.candidates.trails, ranked.readings, snapshot)
    if ranked.candidates.bridge is not None:
        bridged = ranked.candidates.bridge.explained(packed.hits, ranked.readings, snapshot)
        ways = [(*way, *over) for way, over in zip(ways, bridged, strict=True)]
    undated = [_undated(version.item) for version in packed.versions]
    confidence = ranked.confidence
    return Context(
        text=packed.text,
        tokens=packed.tokens,
        items=packed.recalled([(*each, *way, *when) for each, way, when in zip(why, ways, undated, strict=True)]),
        considered=ranked.entries,
        seq=head_of(snapshot, query),
        notes=(*ranked.notes, *_without_room(ranked, packed, query), *(confidence.notes if ranked.bearing else ())),
        milliseconds=(time.perf_counter() - started) * 1000,
        stages=ranked.stages(len(packed.hits)) if explain else (),
        confidence=confidence.value,
        pending=ranked.candidates.pending,
        spans=ranked.question.spans,
    )


def _packed(hits: Iterable[Hit], ranked: _Ranked, snapshot: Snapshot) -> Packed:
    """Pack hits; if the first only tells how it was, and it is asked how it is, what bears as well goes before it.

    It is read here, where texts are read anyway: the catalogue's stems have no tense.
    """
    question = ranked.question
    packed = pack(hits, ranked.readings, snapshot, question.query)
    text, first = question.query.text, packed.hits[0] if packed.hits else None
    if first is None or first.bearing is None or question.names or not asks_of_now(text):
        return packed
    if not tells_only_past(text, packed.versions[0].item.text):
        return packed
    least = max(LEAST_SO, first.bearing - NEAR_UNREAL)

    def is_behind(at: int) -> bool:
        bearing = packed.hits[at].bearing
        return bearing is None or bearing < least or tells_only_past(text, packed.versions[at].item.text)

    order = sorted(range(len(packed.hits)), key=is_behind)
    placed = [
        hit if hit is place else replace(hit, score=place.score, succession=0)
        for hit, place in zip((packed.hits[at] for at in order), packed.hits, strict=True)
    ]
    return replace(
        packed,
        versions=tuple(packed.versions[at] for at in order),
        hits=tuple(placed),
        costs=tuple(packed.costs[at] for at in order),
    )


def _undated(item: Item) -> tuple[str, ...]:
    """What is said of a turn of a file that names no time: it is no newer than others for having come in later."""
    if item.kind is not Kind.TURN or not is_undated(item):
        return ()
    return ("its source names no time: it may be older than its import",)


def why_not(snapshot: Snapshot, catalogues: Catalogues, query: Query, item: ItemId) -> Lost:
    """Name the stage at which an item was lost on the way to `query`'s answer; stage "" if it was recalled."""
    standing = snapshot.standing(query.spaces, [item])
    if item not in standing:
        return Lost(stage="scope", reason="no such item in this scope")
    version = snapshot.get(query.spaces, [item], query.view).get(item)
    if version is None:
        return Lost(
            stage="view", reason=f"the view does not show it; it now stands as {standing[item].item.state.name.lower()}"
        )
    if version.item.slots.get("by") == BY_RULES and version.item.source:
        return Lost(stage="gather", reason=_DERIVED.format(", ".join(version.item.source)))
    if version.item.sight is Sight.NONE:
        return Lost(stage="gather", reason=f"{version.item.author} derived it for nobody's recall")
    if not query.where.by and not version.item.is_recalled_by(query.reader):
        return Lost(stage="gather", reason=f"{version.item.author} keeps it for its own recall")
    ranked = _rank(snapshot, catalogues, query)
    if not _seen(snapshot, ranked, version):
        return Lost(stage="filter", reason="the filter leaves it out")
    untouched = ranked.candidates.left_out or (_FAR if query.vectors else _UNTOUCHED)
    if (ranked_hit := _hit(snapshot, ranked, version)) is None:
        return Lost(stage="gather", reason=untouched)
    rank, hit = ranked_hit
    kept = list(ranked.chosen)
    if hit not in kept:
        if ranked.candidates.blind:
            return Lost(stage="gather", reason=untouched)
        return _passed_over(snapshot, ranked, query, rank, hit)
    packed = _packed(kept, ranked, snapshot)
    shown = [version.item.id for version in packed.versions]
    if item in shown:
        return Lost(stage="", reason=f"it was recalled, at rank {shown.index(item) + 1}")
    reason = without_room(version.item, ranked.readings[hit.space].part(hit.doc), packed, query.budget or 0)
    return Lost(stage="pack", reason=reason)


def _seen(snapshot: Snapshot, ranked: _Ranked, version: Version) -> bool:
    """Whether a version is among what the question may see."""
    of_commit = {
        (space, ver) for space, reading in ranked.readings.items() for ver in reading.of_commit(version.seq_from)
    }
    return any(
        other.item.id == version.item.id
        for space in {space for space, _ in of_commit}
        for other in snapshot.versions(space, sorted(ver for at, ver in of_commit if at == space)).values()
    )


def _hit(snapshot: Snapshot, ranked: _Ranked, version: Version) -> tuple[int, Hit] | None:
    """The hit that is a version, and its rank."""
    of_commit = [
        (rank, hit)
        for rank, hit in enumerate(ranked.candidates.hits(), start=1)
        if ranked.readings[hit.space].value(Column.SEQ_FROM, hit.doc) == version.seq_from
    ]
    versions = fetched([hit for _, hit in of_commit], snapshot)
    same = ((rank, hit) for rank, hit in of_commit if versions[hit.space, hit.ver].item.id == version.item.id)
    return next(same, None)


def _passed_over(snapshot: Snapshot, ranked: _Ranked, query: Query, rank: int, hit: Hit) -> Lost:
    """Why a hit is not among those that were chosen."""
    if other := twin(hit, ranked.chosen, ranked.readings):
        name = fetched([other], snapshot)[other.space, other.ver].item.id
        return Lost(stage="diversify", reason=f"{name} says the same and ranks higher")
    if ranked.chosen.twins > TWINS:
        return Lost(stage="diversify", reason=f"rank {rank}, behind more than {TWINS} that say the same")
    return Lost(stage="fuse", reason=f"rank {rank} of {ranked.candidates.ranking.items}; {query.k} were asked for")


def best_candidates(
    snapshot: Snapshot, catalogues: Catalogues, query: Query
) -> tuple[Question, list[Hit], Mapping[int, Reading]]:
    """The question as it was understood, and the best candidates before `currency` puts them in order, best first."""
    visible = _visible(snapshot, catalogues, query)
    with SCORING:
        signals = Signals.of(query, visible)
        best = list(islice(_candidates(signals).ranking.hits(), POOL))
    return signals.question, best, signals.readings


def signals_of(snapshot: Snapshot, catalogues: Catalogues, query: Query) -> Signals:
    """All that the answer to a question is ranked by, to be ranked more than once (`chosen_by`)."""
    visible = _visible(snapshot, catalogues, query)
    with SCORING:
        return Signals.of(query, visible)


def chosen_by(weights: RecallWeights, signals: Signals, snapshot: Snapshot) -> list[Hit]:
    """The hits that a recall by these weights would show, best first, of signals gathered from this snapshot."""
    weighed = replace(signals, question=replace(signals.question, weights=weights))
    return list(_ranked(lambda: weighed, snapshot).chosen)


def sought(snapshot: Snapshot, catalogues: Catalogues, query: Query, *, by_score: bool = False) -> list[Sought]:
    """Rank the items that bear on a query, best first, without reading what they say (`seeking.Seek`)."""
    visible = _visible(snapshot, catalogues, query)
    with SCORING:
        signals = Signals.of(query, visible)
        readings, candidates = signals.readings, _candidates(signals)
        if candidates.blind:
            return []
        if by_score:
            hits = list(islice(candidates.ranking.hits(), query.k))
        else:
            hits = list(Chosen(_in_order(signals.question, candidates, readings).hits(), readings, query.k, TWINS))
    hits = [hit for hit in hits if hit.components]
    ids = {space: snapshot.item_ids(space, [hit.ver for hit in hits if hit.space == space]) for space in readings}
    near = {} if by_score else _cosines(snapshot, query, hits)
    return [
        Sought(
            ids[hit.space][hit.ver], hit.space, hit.ver, readings[hit.space].value(Column.KIND, hit.doc), hit.score,
            near.get((hit.space, hit.ver)),
        )
        for hit in hits
        if hit.ver in ids[hit.space]
    ]  # fmt: skip


def _cosines(snapshot: Snapshot, query: Query, hits: Sequence[Hit]) -> dict[tuple[int, int], float]:
    """How near hits are in meaning, each by the nearest of its parts, by the first embedder that has a vector of it.

    Vectors are read from the store: a catalogue may hold only signs of them, and not those of what words brought.
    """
    near: dict[tuple[int, int], float] = {}
    for model, vector in query.vectors.items():
        for space in dict.fromkeys(hit.space for hit in hits):
            vers = [hit.ver for hit in hits if hit.space == space and (space, hit.ver) not in near]
            cosines: dict[int, float] = {}
            for row in snapshot.vectors_of(space, model, vers):
                cosine = float(np.frombuffer(row.f16, "<f2", len(vector)).astype(np.float32) @ vector)
                cosines[row.ver] = max(cosine, cosines.get(row.ver, -1.0))
            near.update({(space, ver): min(cosine, 1.0) for ver, cosine in cosines.items()})
    return near


def _visible(snapshot: Snapshot, catalogues: Catalogues, query: Query) -> list[Reading]:
    """What a question may see of each space."""
    snapshot.get(query.spaces, (), query.view)  # a view behind the horizon is refused, whatever is asked
    return catalogues.readings(snapshot, query.spaces, query.view, query.where, query.vectors, query.reader)


def _rank(snapshot: Snapshot, catalogues: Catalogues, query: Query) -> _Ranked:
    visible = _visible(snapshot, catalogues, query)
    return _ranked(lambda: Signals.of(query, visible), snapshot)


def _ranked(gathered: Callable[[], Signals], snapshot: Snapshot) -> _Ranked:
    """Rank and choose; what is gathered is gathered where this one scores."""
    with SCORING:
        signals = gathered()
        question, query, readings = signals.question, signals.question.query, signals.readings
        candidates = _in_order(question, _candidates(signals), readings)
    shown = snapshot.places(query.spaces, query.besides) if query.besides else frozenset()
    if question.asks_own and candidates.first and may_misplace(query.text):
        # what they say is read from the store, for which no thread waits while it scores
        candidates = replace(candidates, first=_in_mood_first(query.text, candidates.first, snapshot))
    asks_what_is = _ASKS_WHAT_WAS_ASKED.search(query.text) is None
    if asks_what_is and candidates.first and _may_state_nothing(candidates.first[0], readings):
        candidates = replace(candidates, first=_statement_first(query, candidates.first, snapshot))
    with SCORING:
        fresh = (hit for hit in candidates.hits() if (hit.space, hit.ver) not in shown)
        chosen = Chosen(fresh, readings, query.k, TWINS)
        confidence = answerable(question, list(readings.values()), bearing=_bears(chosen, candidates))
    return _Ranked(question, readings, candidates, chosen, confidence)


def _in_mood_first(question: str, hits: tuple[Hit, ...], snapshot: Snapshot) -> tuple[Hit, ...]:
    """The best candidates, of which the words are read to tell wishes from what is so (`recall.wishes`).

    Where what is so is asked for, and no wish stands first, they stay as they are.
    """
    if not asks_wish(question) and not is_of_other_mood(question, _texts(hits[:1], snapshot)[0]):
        return hits
    first = hits[:_LOOKED_AT]
    order = in_mood_first(question, _texts(first, snapshot))
    moved = [
        first[at] if at == place else replace(first[at], score=first[place].score, succession=0)
        for place, at in enumerate(order)
    ]
    return (*moved, *hits[len(first) :])


def _may_state_nothing(hit: Hit, readings: Mapping[int, Reading]) -> bool:
    """Whether a word of a candidate hints at a question or an acknowledgement."""
    tokens = readings[hit.space].stream(hit.doc)
    cues = hints_in(tokens, np.zeros(len(tokens), np.intp)).cues
    return bool(((cues == SentenceCue.ASK) | (cues == SentenceCue.ACKNOWLEDGE)).any())


def _statement_first(query: Query, hits: tuple[Hit, ...], snapshot: Snapshot) -> tuple[Hit, ...]:
    """The best candidates, with the first that states something before a question asked before, where it bears too.

    A question holds most of another's words, and answers nothing. Of the states of a matter it is none.
    """
    asking = hits[0]
    if (bearing := asking.bearing) is None or not states_nothing(_texts(hits[:1], snapshot)[0]):
        return hits
    first = hits[:_LOOKED_AT]
    asked, by_meaning = asked_words(query.text), bool(query.vectors)

    def answers(hit: Hit, text: str) -> bool:
        if hit.bearing is None or hit.bearing < bearing - NEAR_UNREAL or states_nothing(text):
            return False
        return hit.bearing >= _ANSWERS if share_held(asked, text) > 0 else by_meaning and hit.bearing >= LEAST_SO

    stating = [at for at, text in enumerate(_texts(first, snapshot)) if answers(first[at], text)]
    if not stating:
        return hits
    best = min(stating, key=lambda at: first[at].succession or len(hits)) if asking.succession else stating[0]
    order = [best, *(at for at in range(len(hits)) if at != best)]
    states = sorted(hit.succession for hit in hits[1:] if hit.succession)
    renumbered = {state: n for n, state in enumerate(states, start=1)} if len(states) > 1 else {}
    return tuple(
        replace(_moved(hits[at], place.score), succession=renumbered.get(hits[at].succession, 0) if at else 0)
        for at, place in zip(order, hits, strict=True)
    )


def _moved(hit: Hit, score: float) -> Hit:
    """A hit at the place of another with its score, of which "currency" is what it changed by."""
    changed = hit.components.get("currency", 0.0) + score - hit.score
    return hit if score == hit.score else replace(hit, score=score, components={**hit.components, "currency": changed})


def _texts(hits: Sequence[Hit], snapshot: Snapshot) -> list[str]:
    """What some hits say; "" of one that was collected meanwhile."""
    versions = fetched(list(hits), snapshot)
    found = (versions.get((hit.space, hit.ver)) for hit in hits)
    return ["" if version is None else version.item.text for version in found]


def _bears(chosen: Chosen, candidates: _Candidates) -> bool:
    """Whether anything is known to bear on the question."""
    return bool(chosen) and not candidates.blind


def _in_order(question: Question, candidates: _Candidates, readings: Mapping[int, Reading]) -> _Candidates:
    """The candidates with the best of them in the order in which they answer."""
    if candidates.blind or question.of_a_time:
        return candidates
    # Only by meaning does their order say whether another turn is needed: by words they are put in order once.
    first = _first(question, candidates, readings) if question.query.vectors else ()
    linked = Stage.LINKS not in question.query.without and leads_on(question, first)
    bridged = bridge(question, candidates.ranking) if linked else Bridge(candidates.ranking)
    if bridged.source is None:
        return replace(candidates, first=first or _first(question, candidates, readings))
    led = replace(candidates, ranking=bridged.ranking, bridge=bridged)
    return replace(led, first=tuple(bridged.ahead(_first(question, led, readings))))


def _first(question: Question, candidates: _Candidates, readings: Mapping[int, Reading]) -> tuple[Hit, ...]:
    """The best of the candidates in the order in which they bear on a question, and hold."""
    pool = list(islice(candidates.ranking.hits(), POOL))
    if Stage.CURRENCY in question.query.without:
        return tuple(pool)
    return tuple(current(question, pool, readings, pending=candidates.pending > 0))


def _candidates(signals: Signals) -> _Candidates:
    """The candidates for an answer."""
    question, readings, arms = signals.question, signals.searched, signals.arms
    if not readings:
        return _Candidates(Ranking(()), ("there is nothing to search",))
    candidates = replace(_candidates_by(arms, question, readings), pending=sum(arm.pending for arm in arms))
    if candidates.blind or Stage.LINKS in question.query.without or not any(r.lengthy.any() for r in readings):
        return candidates
    walked = walk(question, candidates.ranking)
    return replace(candidates, ranking=walked.ranking, trails=walked.trails)


def _candidates_by(arms: Sequence[Arms], question: Question, readings: list[Reading]) -> _Candidates:
    """What bears on a question; else what its names or its time, taken as words, bring; else what was said last."""
    wanted = question.query.k + len(question.query.besides)
    ranking = fuse(arms, 0 if question.of_a_time else max(POOL, wanted), question.weights)
    unsaid = not any(arm.said for arm in arms)
    if question.names and not question.spans and not _occurs(question.others, readings):
        if not (ranking and question.others and any(arm.meant for arm in arms)):
            return _of_names(question, readings, f"no other {_WORD}" if question.others else "nothing else to look for")
        return _Candidates(ranking, (f"no other {_WORD}: {_MEANT}",))
    if ranking:
        return _Candidates(ranking, (f"no {_WORD}: {_MEANT}",) if unsaid and question.terms else ())
    if question.spans:
        if question.names:
            return _of_names(question, readings, _NO_TIME)
        if ranking := fuse(gather(spelled(question), readings), weights=question.weights):
            return _Candidates(ranking, (f"{_NO_TIME}: what holds its words",))
        if question.of_a_time and all(span.end <= question.query.now for span in question.spans):
            return _Candidates(ranking, (_NO_TIME,))
        return _Candidates(latest(readings), (f"{_NO_TIME}: the latest items",), blind=True)
    # Not knowing what bears on a question, an agent is still better off with what was said last than with nothing.
    why = f"no {_WORD}" if question.terms else "nothing to look for in the question"
    return _Candidates(latest(readings), (f"{why}: the latest items",), blind=True)


def _of_names(question: Question, readings: list[Reading], why: str) -> _Candidates:
    called = " or ".join(question.called)
    note = f"{why}: the latest that {called} said, or that speaks of them"
    return _Candidates(named(question.names, readings), (note,), left_out=_UNNAMED.format(called))


def _occurs(terms: Sequence[Term], readings: list[Reading]) -> bool:
    """Whether any of these words stands in any text or date."""
    return any(len(r.find(token)[0]) for term in terms for token in (term.text, term.date) for r in readings)


def _shortfalls(question: Question, candidates: _Candidates, chosen: Chosen) -> list[str]:
    """One line for each reason why the answer may be incomplete: pending vectors, equals cut off, duplicates."""
    notes: list[str] = []
    if candidates.pending:
        one = candidates.pending == 1
        them, they, made = (
            ("1 item has", "it is", "it") if one else (f"{candidates.pending} items have", "they are", "them")
        )
        notes.append(
            f"{them} no vector yet: {they} found by words alone until `flush()`, `mnemic flush` in a shell, or what "
            f"runs behind, has made {made}"
        )
    timed = question.spans and not question.terms and not candidates.notes
    if timed and (items := candidates.ranking.items_by("time", "mention")) > chosen.kept:
        notes.append(f"{items} were of that time: of equals, the latest")
    if chosen.twins > TWINS:
        notes.append(f"more than {TWINS} said the same as these: the rest was not looked at")
    return notes


def _without_room(ranked: _Ranked, packed: Packed, query: Query) -> tuple[str, ...]:
    """One line where something was found, and nothing of it is new to the asker and fits the budget."""
    if packed.hits or not (ranked.chosen or query.besides):
        return ()
    if query.besides:
        room = "" if query.budget is None else f", and fits the budget of {query.budget} tokens"
        return (f"nothing was found that is not shown already{room}",)
    return (f"nothing of what was found fits the budget of {query.budget} tokens",)


def head_of(snapshot: Snapshot, query: Query) -> int:
    """The last commit of what is read: of the spaces themselves, of what a branch comes off as far as it reads that."""
    layers = snapshot.layers(query.spaces)
    heads = snapshot.spaces([layer.space for layer in layers])
    seqs = (h.seq if x.upto is None else min(h.seq, x.upto) for x, h in zip(layers, heads, strict=True))
    return max(seqs, default=0)

"""The strategy `stream` weighs turns, recalls by recency, importance and relevance, and reflects once enough weighs.

Park et al., "Generative Agents: Interactive Simulacra of Human Behavior" (arXiv:2304.03442, sections 4.1 and 4.2). A
turn is given an importance from 1 to 10. Once what was not reflected upon comes to 150, a model asks three questions
that the latest turns raise; for each, what is most recent, important and relevant is retrieved, and five insights are
drawn from it at most, each with what it rests on. Insights are recalled, and reflected upon, like turns.

Departures. Importance is asked for 256 tokens of turns at once, not one by one, and is kept beside the turn: the weight
of a link from a record of the unit, for evidence is never touched. Recency is of when a turn was said, or shown if it
ever proved useful, and falls with time; the code's falls with rank, and has the oldest for the newest. Insights of one
reflection are weighed in one question. They do not expire, for nothing in the paper's code reads that they do. Only the
hundred candidates that bear most on a question are ranked. A reflection retrieves from the last 64 units and hundred
insights, and by words (BM25 over these): so it finds the same whatever was written meanwhile, and any cut into runs
gives one view. Without a model nothing is concluded: rules weigh turns, no more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final

from mnemic.core.items import Kind, Sight, Strength
from mnemic.core.queries import Filter
from mnemic.strategies.base import Asked, Bond, Budget, Derivation, Edits, Given, Pick, known, nothing
from mnemic.strategies.judging import judged, judged_each
from mnemic.strategies.knowledge import Inquiry, Passage, passage_of
from mnemic.strategies.laws import min_max, recency
from mnemic.strategies.rules.importance_score import HIGHEST
from mnemic.strategies.rules.merge_ops import wording_digest
from mnemic.strategies.rules.sentence_relevance import bm25, content_terms
from mnemic.strategies.strategy_requests import fetch, linked, search, strengths
from mnemic.strategies.tasks.reflecting import (
    FOCAL_QUESTIONS,
    INSIGHTS,
    INSIGHTS_WITH_EVIDENCE,
    SCORE_IMPORTANCE,
)
from mnemic.strategies.triggers import EachEvent, Trigger, importance
from mnemic.strategies.units import TokensUnit, Unit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item
    from mnemic.flow import Flow

UNIT: Final = TokensUnit(256)
"""Conversation that is weighed together: some ten turns."""
THRESHOLD: Final = 15.0
"""Importance, 0 to 1 a turn, that is reflected upon together: 150 of scores from 1 to 10 (section 4.2)."""
LATEST: Final = 100
"""Turns that questions are raised from: the most recent ones (section 4.2)."""
RETRIEVED: Final = 30
"""What a question is answered from (the code, `new_retrieve`)."""
CANDIDATES: Final = 100
DERIVED_FROM: Final = "derived_from"
WEIGHS: Final = "weighs"

_AT_ONCE: Final = 64
"""Passages of one question for importance, as many as its answer may have scores."""
_WINDOW: Final = 64
"""Units that a reflection looks back on, at most."""
_HOUR: Final = 3600
_SEEN: Final = Filter(kinds=(Kind.TURN, Kind.INSIGHT))
_INSIGHTS: Final = Filter(kinds=(Kind.INSIGHT,), by=("stream",))
_WEIGHED: Final = Filter(kinds=(Kind.SUMMARY,), by=("stream",), tags=("importance",))
_REFLECTED: Final = Filter(kinds=(Kind.SUMMARY,), by=("stream",), tags=("reflection",))


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamWeights:
    """What each part of a score counts for; parts are scaled to 0 to 1 over the candidates."""

    recency: float
    importance: float
    relevance: float


PAPER: Final = StreamWeights(recency=1, importance=1, relevance=1)
CODE: Final = StreamWeights(recency=0.5, importance=2, relevance=3)
"""Section 4.1 says that all weights are 1; the code has these, which find more: R@10 78.9 against 61.3 over three
conversations of LoCoMo, by words and with importance by rules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Keeps the importance of turns and insights into them; a reflection is five questions to a model.

    Over the bundled conversation, if each turn weighs 5 of 10, it takes 0.18 calls and 222 tokens a message.

    Attributes:
        weights: Of recency, importance and relevance.
        threshold: Importance that is reflected upon together.
        unit: What is weighed together.
    """

    name: ClassVar[str] = "stream"
    by: ClassVar[str] = "stream"
    reads: ClassVar[frozenset[Kind]] = frozenset({Kind.TURN})
    triggers: ClassVar[tuple[Trigger, ...]] = (EachEvent(),)
    maintain: ClassVar[tuple[Trigger, ...]] = ()
    budget: ClassVar[Budget] = Budget(calls=18, tokens=160_000)
    asks: ClassVar[tuple[str, ...]] = (SCORE_IMPORTANCE.id, FOCAL_QUESTIONS.id, INSIGHTS_WITH_EVIDENCE.id)
    batch: ClassVar[int] = 64

    weights: StreamWeights = CODE
    threshold: float = THRESHOLD
    unit: Unit = UNIT

    def lookup_tags(self, item: Item) -> tuple[str, ...]:
        """The tag by which an insight is looked up: its words."""
        return (wording_digest(item.text),) if item.kind is Kind.INSIGHT else ()

    def on_write(self, given: Given) -> Flow[Edits]:
        """Weigh the turns of a unit; reflect if what was not reflected upon comes to the threshold."""
        if not given.evidence:
            return Edits()
        window = yield from _window(given.evidence)
        weighed = yield from _weights(window)
        fresh = [turn for turn in given.evidence if turn.id not in weighed]
        scores = yield from _scores([passage_of(turn) for turn in fresh])
        weighed |= {turn.id: score for turn, score in zip(fresh, scores, strict=True)}
        edits = _record(fresh, weighed) if fresh else Edits()
        reflections = yield from known(_REFLECTED, _WINDOW)
        over = {source for reflection in reflections for source in reflection.source}
        waiting = [id for id in window if id in weighed and id not in over]
        if round(sum(weighed[id] for id in waiting), 1) < self.threshold:
            return edits
        return (yield from self._reflected(given, waiting, weighed, edits))

    on_maintain = nothing

    def on_recall(self, asked: Asked) -> Flow[Sequence[Pick]]:
        """Rank turns and insights by the sum of their recency, importance and relevance, each by its weight."""
        hits = yield from search(asked.text, _SEEN, max(CANDIDATES, asked.k))
        own = [hit for hit in hits if hit.item.kind is Kind.TURN or hit.item.slots.get("by") == Stream.by]
        weighed = yield from _weights(hit.item.id for hit in own)
        return (yield from self._ranked([hit.item for hit in own], [hit.score for hit in own], weighed))

    def _ranked(
        self, items: Sequence[Item], relevance: Sequence[float], weighed: Mapping[ItemId, float]
    ) -> Flow[list[Pick]]:
        """Rank items by their recency, their importance, which is `weighed` or stands in them, and this relevance."""
        used = yield from strengths(*(item.id for item in items))
        latest = max((_last_use(item, used) for item in items), default=0.0)
        parts = {
            "recency": min_max([recency((latest - _last_use(item, used)) / _HOUR) for item in items]),
            "importance": min_max([weighed.get(item.id, importance(item)) for item in items]),
            "relevance": min_max(relevance),
        }
        total = self.weights.recency + self.weights.importance + self.weights.relevance
        picks = []
        for place, item in enumerate(items):
            components = {name: scaled[place] for name, scaled in parts.items()}
            score = sum(getattr(self.weights, name) * part for name, part in components.items()) / total
            picks.append(Pick(item=item, score=round(score, 9), components=components, why=_why(item, components)))
        return sorted(picks, key=lambda pick: (-pick.score, -pick.item.said.timestamp(), pick.item.text))

    def _reflected(
        self, given: Given, waiting: Sequence[ItemId], weighed: Mapping[ItemId, float], edits: Edits
    ) -> Flow[Edits]:
        """Add to edits what follows from the turns that waited: nothing, and they wait on, if nobody asks anything."""
        turns = sorted((yield from fetch(*weighed)).values(), key=lambda turn: turn.said)
        upon = [turn for turn in turns if turn.id in waiting]
        questions = yield from judged(FOCAL_QUESTIONS, tuple(map(passage_of, upon[-LATEST:])))
        if not questions:
            return edits
        items = [*turns, *(yield from known(_INSIGHTS, LATEST))]
        near = []
        for question in questions:
            relevance = bm25(question, [content_terms(item.text) for item in items])
            picks = yield from self._ranked(items, relevance, weighed)
            near.append([pick.item for pick in picks[:RETRIEVED]])
        insights = yield from _insights(questions, near)
        scores = yield from _scores([Passage(text) for text in insights])
        shown = tuple(dict.fromkeys(item.id for items in (upon, *near) for item in items))
        derived = [
            replace(_insight(given, text, evidence, score), context=shown)
            for (text, evidence), score in zip(insights.items(), scores, strict=True)
        ]
        first = len(edits.write) + 1
        ties = (
            Bond(src=first + place, dst=item.id, type=DERIVED_FROM, source=())
            for place, evidence in enumerate(insights.values())
            for item in evidence
        )
        marker = replace(_reflection(given, upon, questions), context=shown)
        return replace(edits, write=(*edits.write, marker, *derived), tie=(*edits.tie, *ties))


def _weights(ids: Iterable[ItemId]) -> Flow[dict[ItemId, float]]:
    """The importance, 0 to 1, of those turns that were weighed before, by records of ours that stand."""
    links = yield from linked(*ids, types=(WEIGHS,))
    records = yield from fetch(*dict.fromkeys(link.src for link in links))
    own = {record.id for record in records.values() if record.slots.get("by") == Stream.by}
    return {link.dst: min(1.0, link.weight) for link in links if link.src in own}


def _scores(passages: Sequence[Passage]) -> Flow[list[float]]:
    """Have the importance of passages judged, 0 to 1."""
    parts = [tuple(passages[start : start + _AT_ONCE]) for start in range(0, len(passages), _AT_ONCE)]
    judged_parts = yield from judged_each(SCORE_IMPORTANCE, parts)
    return [score / HIGHEST for part in judged_parts for score in part]


def _record(turns: Sequence[Item], weighed: Mapping[ItemId, float]) -> Edits:
    """Keep how much each of these turns weighs, as links to them from one record."""
    grades = ", ".join(f"{HIGHEST * weighed[turn.id]:.0f}" for turn in turns)
    record = Derivation(
        key=f"{Stream.name}:{turns[0].id}:importance",
        kind=Kind.SUMMARY,
        text=f"Importance of {len(turns)} turns, from 1 to 10: {grades}",
        slots={"by": Stream.by},
        source=tuple(turn.id for turn in turns),
        said=turns[-1].said,
        said_offset=turns[-1].said_offset,
        sight=Sight.NONE,
        tags=_WEIGHED.tags,
    )
    ties = (Bond(src=0, dst=turn.id, type=WEIGHS, weight=weighed[turn.id], source=()) for turn in turns)
    return Edits(write=(record,), tie=tuple(ties))


def _window(evidence: Sequence[Item]) -> Flow[list[ItemId]]:
    """The turns of the last units that were weighed, and those of this run, each once, oldest first."""
    records = yield from known(_WEIGHED, _WINDOW)
    ids = [source for record in reversed(records) for source in record.source]
    return list(dict.fromkeys((*ids, *(turn.id for turn in evidence))))


def _last_use(item: Item, used: Mapping[ItemId, Strength]) -> float:
    """When an item was said, or last shown if it was ever found useful, in seconds: to be shown alone is no use."""
    strength = used.get(item.id, Strength())
    shown = strength.last_used if strength.useful else None
    return max(item.said, shown or item.said).timestamp()


def _insights(questions: Sequence[str], near: Sequence[Sequence[Item]]) -> Flow[dict[str, list[Item]]]:
    """Have insights drawn into questions, each from the items near to it.

    Returns:
        Those that are not known in the same words, each with the items that it rests on, the earliest first.
    """
    inquiries = [
        Inquiry(question, tuple(map(passage_of, items)), INSIGHTS)
        for question, items in zip(questions, near, strict=True)
    ]
    drawn = yield from judged_each(INSIGHTS_WITH_EVIDENCE, inquiries)
    merged: dict[str, tuple[str, dict[ItemId, Item]]] = {}
    for items, insights in zip(near, drawn, strict=True):
        for insight in insights:
            _, evidence = merged.setdefault(wording_digest(insight.text), (insight.text, {}))
            evidence.update((items[place].id, items[place]) for place in insight.source)
    fresh: dict[str, list[Item]] = {}
    for digest, (text, evidence) in merged.items():
        if not (yield from known(replace(_INSIGHTS, tags=(digest,)), 1)):
            fresh[text] = sorted(evidence.values(), key=lambda item: (item.said, item.text))
    return fresh


def _insight(given: Given, text: str, evidence: Sequence[Item], score: float) -> Derivation:
    """Derive an insight: known from when the last turn of the run, and all that it rests on, was said."""
    last, digest = given.evidence[-1], wording_digest(text)
    return Derivation(
        key=f"{Stream.name}:{last.id}:{digest}",
        kind=Kind.INSIGHT,
        text=text,
        slots={"by": Stream.by, "importance": score, "depth": 1 + max(map(_depth, evidence))},
        tags=(digest,),
        source=_given_first(given, (item.id for item in evidence)),
        said=max(last.said, *(item.said for item in evidence)),
        said_offset=last.said_offset,
    )


def _reflection(given: Given, turns: Sequence[Item], questions: Sequence[str]) -> Derivation:
    """Derive the mark that these turns were reflected upon: it goes as the insights do, and what stays waits again."""
    last = given.evidence[-1]
    return Derivation(
        key=f"{Stream.name}:{last.id}:reflection",
        kind=Kind.SUMMARY,
        text=f"Asked after {len(turns)} turns: {' '.join(questions)}",
        slots={"by": Stream.by},
        source=_given_first(given, (turn.id for turn in turns)),
        said=max(last.said, turns[-1].said),
        said_offset=last.said_offset,
        sight=Sight.NONE,
        tags=_REFLECTED.tags,
    )


def _given_first(given: Given, ids: Iterable[ItemId]) -> tuple[ItemId, ...]:
    """Order ids with those of the run's evidence first."""
    own: Collection[ItemId] = {turn.id for turn in given.evidence}
    return tuple(sorted(ids, key=lambda id: id not in own))


def _depth(item: Item) -> int:
    """How many steps an item stands above turns."""
    depth = item.slots.get("depth")
    return depth if isinstance(depth, int) and item.kind is Kind.INSIGHT else 0


def _why(item: Item, components: Mapping[str, float]) -> str:
    most = max(components, key=lambda name: components[name])
    sort = "a turn" if item.kind is Kind.TURN else f"an insight of depth {_depth(item)}"
    return f"{sort}, most for its {most}"

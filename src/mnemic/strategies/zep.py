"""Zep: a graph of entities and dated facts, in which a fact ends when one that contradicts it begins.

Rasmussen et al., "Zep: A Temporal Knowledge Graph Architecture for Agent Memory" (arXiv:2501.13956), and Graphiti, its
code. Each turn is an episode (section 2.1). Of it come facts between two entities (2.2), each with the time in which it
holds and the time from which it was known; names are resolved to entities (2.2.1); what a fact says again becomes one
source more, what it contradicts ends (2.2.3). Upkeep groups entities into communities and sums these up (2.3). Recall
searches facts by words, by meaning and along the graph, and fuses the rankings (3.1); the code searches the episodes,
too (`EpisodeSearchConfig`).

Departures:
- One question extracts entities and facts of a turn together, and one resolves all its facts; the paper asks one for
  each. Entities without a fact, summaries of entities, types and attributes are not kept.
- A fact without a date begins when it was said, but gives way to a change told later that began before that, in the
  same present (`rules.edge_history`). Graphiti ends nothing whose dates it does not know.
- Known facts are looked up in both directions, and those that ended too: so what comes late finds its place.
- A contradiction counts only between facts that share their subject, their object, or both the other way round.
- What recall finds is one list: facts that words or meaning find, then episodes and what is only linked; the code gives
  lists of edges, nodes, episodes and communities, each with its limit. What sums up a community rests on thirty turns
  and takes the place of facts in one list: recall finds it only with `Zep(communities=True)`, and entities never. Rules
  find few facts, seldom those that are asked for: without a model recall ranks episodes, each behind the facts that
  rest on it.
- Names are compared exactly (`rules.name_likeness`), communities settle (`rules.label_propagation`), diversity is
  chosen one by one (`rules.rank_fusion`); a community is summed up by one question, and only the largest are.
- Without a model: slots of profiles and names with the words between them, by rules; only what is certain is the same
  or over; there are no summaries.

A turn takes one question, one more where its facts meet known ones, one more where a name may be a known entity; each
is mended once at most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Final

from mnemic.core.clock import micros
from mnemic.core.items import Item, Kind, State
from mnemic.core.queries import Filter
from mnemic.models.chat.base import Size
from mnemic.models.model_requests import NameModel
from mnemic.strategies.base import Asked, Budget, Edits, Given, Pick, known
from mnemic.strategies.judging import judged, judged_each
from mnemic.strategies.knowledge import Condensing, EntityMatching, Episode, FactMatching, Passage, Triple, passage_of
from mnemic.strategies.rules.edge_history import EdgePlace, GraphEdge, edge_of, placed
from mnemic.strategies.rules.fact_matching import may_exclude
from mnemic.strategies.rules.graph_edits import (
    ABOUT,
    SAME_AS,
    STATED_IN,
    GraphEdits,
    GraphFact,
    NamedEntity,
    digest,
    graph_fact,
    graph_tag,
    lookup_tags_of,
    members_of,
)
from mnemic.strategies.rules.label_propagation import communities
from mnemic.strategies.rules.name_likeness import alike, plain_name
from mnemic.strategies.rules.rank_fusion import diversified, likeness_of, reciprocal_ranks
from mnemic.strategies.strategy_requests import fetch, linked, search, vectors
from mnemic.strategies.tasks.condensing import SUMMARIZE
from mnemic.strategies.tasks.graph_resolution import EXTRACT_FACTS, MATCH_ENTITIES, MATCH_FACTS
from mnemic.strategies.triggers import Buffer, EachEvent, Trigger
from mnemic.strategies.turn_ranking import among_turns
from mnemic.strategies.units import TurnUnit, Unit

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.flow import Flow

_BEFORE: Final = 4
"""Turns before an episode that a model sees with it (section 2.2.1)."""
_NAMES: Final = 15
_FACTS: Final = 10
"""Known entities that a name, and known facts that a fact, is compared with, by search (Graphiti's `search_config`)."""
_HISTORY: Final = 32
_EVER: Final = (State.ACTIVE, State.SUPERSEDED)
"""Facts of the same two entities, or of the same subject and relation, that one is compared with, ended or not."""
_DEPTH: Final = 3
_RRF: Final = 1
"""Steps along the graph from what a search found, and the constant of the fusion (Graphiti's `search_utils`)."""
_GRAPH: Final = 5_000
"""The newest facts that communities are made of."""
_LEAST, _SUMMED, _TOLD, _TOKENS = 3, 3, 30, 200
"""Members of a community that is summed up, and how many are; the newest facts that a summary tells, in how many
tokens."""


class SearchRecipe(StrEnum):
    """How recall ranks the facts that it found (section 3.2)."""

    RRF = "rrf"
    """By reciprocal rank fusion of words, meaning and links."""
    MMR = "mmr"
    """Those of the fusion one by one, each unlike the ones before."""
    NODE_DISTANCE = "node_distance"
    """By their steps from one entity, then as fused."""
    EPISODE_MENTIONS = "episode_mentions"
    """By how many episodes state them, then as fused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Zep:
    """Keeps a graph of dated facts, and recalls by it.

    It costs 1.82 calls and 1534 tokens a message over the bundled conversation, with a model that takes one fact from
    each of a person's turns. A run asks six times at most; an upkeep, after 64 turns or an idle hour, likewise.

    Attributes:
        recipe: How recall ranks.
        centre: The entity from which `NODE_DISTANCE` counts.
        relevance: The weight of relevance against unlikeness in `MMR`.
        episodes: Recall finds turns, too: by a ranking of their own, with facts that words find before them; without a
            model each behind the facts that rest on it.
        communities: Recall finds what sums up a community, too, by a ranking of its own.
    """

    recipe: SearchRecipe = SearchRecipe.RRF
    centre: str = ""
    relevance: float = 0.5
    episodes: bool = True
    communities: bool = False

    name: ClassVar[str] = "zep"
    by: ClassVar[str] = "zep"
    reads: ClassVar[frozenset[Kind]] = frozenset({Kind.TURN})
    triggers: ClassVar[tuple[Trigger, ...]] = (EachEvent(),)
    maintain: ClassVar[tuple[Trigger, ...]] = (Buffer(count=64, idle=3_600),)
    budget: ClassVar[Budget] = Budget(calls=6)
    asks: ClassVar[tuple[str, ...]] = (EXTRACT_FACTS.id, MATCH_ENTITIES.id, MATCH_FACTS.id, SUMMARIZE.id)
    batch: ClassVar[int] = 64
    unit: ClassVar[Unit] = TurnUnit()

    def lookup_tags(self, item: Item) -> tuple[str, ...]:
        """The tags by which a fact, or an entity, is looked up."""
        return lookup_tags_of(item)

    def on_write(self, given: Given) -> Flow[Edits]:
        """Extract facts, resolve whom they are about, and place each in the history that is known."""
        shown, stated = yield from _stated(given.evidence)
        edits = GraphEdits(self.by, shown)
        entities = yield from _resolved(stated, edits)
        facts: dict[str, GraphFact] = {}
        for turn, triple in stated:
            subject, thing = entities[plain_name(triple.subject)], entities[plain_name(triple.object)]
            if subject.ref != thing.ref:
                fact = graph_fact(turn, triple, (subject, thing))
                facts.setdefault(fact.key, fact)
        yield from _placed(list(facts.values()), edits)
        return edits.edits()

    def on_maintain(self, given: Given) -> Flow[Edits]:
        """Sum up the largest communities that have changed, if there is a model."""
        model: str = yield NameModel(Size.LARGE)
        if not model or not given.evidence:
            return Edits()
        facts, before = (yield from known(_own(Kind.FACT), _GRAPH)), (yield from known(_own(Kind.SUMMARY)))
        weights = Counter((str(fact.slots["subject"]), str(fact.slots["object"])) for fact in facts)
        changed: list[tuple[tuple[str, ...], list[Item]]] = []
        for members in communities(weights)[:_SUMMED]:
            inside = frozenset(members)
            within = [fact for fact in facts if inside.issuperset((fact.slots["subject"], fact.slots["object"]))]
            community_facts = sorted(within, key=lambda fact: (fact.said, fact.id))[-_TOLD:]
            made_of = digest(fact.id for fact in community_facts)
            if len(members) < _LEAST or any(fact.slots["made_of"] == made_of for fact in before):
                continue
            sources = {fact.source[0] for fact in community_facts}
            if len((yield from fetch(*sorted(sources)))) == len(sources):  # else there is a run to come that sees all
                changed.append((members, community_facts))
        passages = (
            tuple(Passage(fact.text, said=fact.said) for fact in community_facts) for _, community_facts in changed
        )
        summaries = yield from judged_each(SUMMARIZE, [Condensing(each, _TOKENS) for each in passages])
        edits = GraphEdits(self.by)
        for (members, community_facts), summary in zip(changed, summaries, strict=True):
            old = [fact for fact in before if members_of(fact).intersection(members)]
            before = [fact for fact in before if fact not in old]
            edits.put_community(members, community_facts, summary.text, old)
        return edits.edits()

    def on_recall(self, asked: Asked) -> Flow[Sequence[Pick]]:
        """Search facts by words, by meaning and along the graph, and episodes; rank them by the recipe.

        Without a model the recipe ranks the facts of each episode, and episodes rank by themselves.
        """
        model: str = yield NameModel(Size.LARGE)
        where = replace(asked.where, kinds=(Kind.FACT,), by=(self.by,))
        hits = yield from search(asked.text, where, 2 * asked.k)
        meant = {hit.item.id: hit.cosine for hit in hits if hit.cosine is not None}
        items = {hit.item.id: hit.item for hit in hits}
        if len(hits) < asked.k:  # a search leaves out what is no nearer than the mean: of few facts, that may be all
            newest = yield from known(where, asked.k)
            embedded = yield from vectors(asked.text, *(item.text for item in newest))
            meant |= {item.id: float(near @ embedded[0]) for item, near in zip(newest, embedded[1:], strict=False)}
            items |= {item.id: item for item in newest}
        near = yield from _walked([hit.item.id for hit in hits], 2 * asked.k)
        items |= yield from fetch(*near)
        episodes = (yield from _bearing(asked, Kind.TURN)) if self.episodes and model else []
        items |= {item.id: item for item in episodes}
        summaries = (yield from _bearing(asked, Kind.SUMMARY, (self.by,))) if self.communities else []
        items |= {item.id: item for item in summaries}
        rankings = {
            "words": [hit.item.id for hit in hits if hit.overlap > 0],
            "meaning": sorted(meant, key=lambda id: -meant[id]),
            "links": [id for id in near if id in items],
            "episodes": [item.id for item in episodes],
            "communities": [item.id for item in summaries],
        }
        shares = reciprocal_ranks(rankings, _RRF)
        best = dict(sorted(((id, sum(parts.values())) for id, parts in shares.items()), key=_descending)[: 2 * asked.k])
        picks = [
            Pick(item=items[id], score=score, components=shares[id], why=f"found by {' and '.join(shares[id])}")
            for id, score in (yield from self._ranked(best, items))
        ]
        return picks if model or not self.episodes else (yield from among_turns(asked, picks))

    def _ranked(self, best: Mapping[ItemId, float], items: Mapping[ItemId, Item]) -> Flow[list[tuple[ItemId, float]]]:
        """Rank by the recipe what the fusion found best."""
        scores: dict[ItemId, float] = dict(best)
        if self.recipe is SearchRecipe.MMR:
            texts = {id: items[id].text for id in best}
            return list(diversified(best, likeness_of(texts, (yield from vectors(*texts.values()))), self.relevance))
        if self.recipe is SearchRecipe.EPISODE_MENTIONS:
            links = yield from linked(*best, types=(STATED_IN,))
            mentions = Counter(link.src for link in links)
            scores = {id: float(mentions[id]) for id in best}
        if self.recipe is SearchRecipe.NODE_DISTANCE:
            centre = yield from _entity(plain_name(self.centre))
            steps = (yield from _walked([centre.id], _GRAPH)) if centre else {}
            scores = {id: 1 / steps[id] if id in steps else 0.0 for id in best}
        return sorted(scores.items(), key=_descending)


def _bearing(asked: Asked, kind: Kind, by: tuple[str, ...] = ()) -> Flow[list[Item]]:
    """Search items of a kind; of few a search ranks all, so none where none bears on the question."""
    hits = yield from search(asked.text, Filter(kinds=(kind,), by=by), asked.k)
    bears = any(hit.overlap or hit.cosine is not None for hit in hits)
    return [hit.item for hit in hits] if bears else []


def _descending(scored: tuple[ItemId, float]) -> float:
    return -scored[1]


def _own(kind: Kind, **parts: str) -> Filter:
    """Filter what the strategy keeps, of all or those of these parts, as they are tagged."""
    return Filter(kinds=(kind,), by=(Zep.by,), tags=(graph_tag(**parts),) if parts else ())


def _stated(turns: Sequence[Item]) -> Flow[tuple[tuple[ItemId, ...], list[tuple[Item, Triple]]]]:
    """Extract what turns state, in order, read beside the turns before them in their session.

    Returns:
        All turns that were shown, and what these state, each with its turn.
    """
    if not turns:
        return (), []
    first = turns[0]
    where = Filter(kinds=(Kind.TURN,), session=first.session, said_to=micros(first.said))
    before = [item for item in (yield from known(where, _BEFORE)) if item.kind is Kind.TURN]
    episode = Episode(tuple(map(passage_of, reversed(before))), tuple(map(passage_of, turns)))
    stated = [(turns[statement.source], statement) for statement in (yield from judged(EXTRACT_FACTS, episode))]
    return tuple(turn.id for turn in (*before, *turns)), stated


def _resolved(stated: Sequence[tuple[Item, Triple]], edits: GraphEdits) -> Flow[dict[str, NamedEntity]]:
    """Resolve names to entities (section 2.2.1): the same, one much like it, or the one a model takes it for."""
    said: dict[str, tuple[str, Item, str]] = {}
    for turn, statement in stated:
        for name in (statement.subject, statement.object):
            said.setdefault(plain_name(name), (name, turn, statement.fact))
    entities: dict[str, NamedEntity] = {}
    unsure: dict[str, list[Item]] = {}
    for plain, (name, turn, _) in said.items():
        if (item := (yield from _entity(plain))) is not None:
            entities[plain] = edits.known_entity(name, turn, item)
            continue
        hits = yield from search(name, _own(Kind.ENTITY), _NAMES)
        near = [hit.item for hit in hits if (hit.overlap or hit.cosine) and SAME_AS not in hit.item.slots]
        if like := next((item for item in near if alike(name, item.text)), None):
            entities[plain] = edits.other_name(name, turn, like)
        elif near:
            unsure[plain] = near
    offered = list({item.id: item for near in unsure.values() for item in near}.values())
    names = tuple((said[plain][0], said[plain][2]) for plain in unsure)
    meant = yield from judged(MATCH_ENTITIES, EntityMatching(names, tuple(item.text for item in offered)))
    for plain, place in zip(unsure, meant, strict=True):
        if place is not None:
            entities[plain] = edits.other_name(*said[plain][:2], offered[place])
    for plain, (name, turn, _) in said.items():
        if plain not in entities:
            before = yield from known(replace(_own(Kind.FACT, subject=name), states=_EVER), _GRAPH)
            after = yield from known(replace(_own(Kind.FACT, object=name), states=_EVER), _GRAPH)
            entities[plain] = edits.new_entity(name, turn, (*before, *after))
    return entities


def _entity(plain: str) -> Flow[Item | None]:
    """Look up the entity of a name, as names are compared; that of another name of it too, unless names go round."""
    seen: set[str] = set()
    while plain not in seen:
        seen.add(plain)
        item = next(iter((yield from known(_own(Kind.ENTITY, name=plain), 1))), None)
        other = None if item is None else item.slots.get(SAME_AS)
        if not isinstance(other, str):
            return item
        plain = other
    return None


def _placed(facts: Sequence[GraphFact], edits: GraphEdits) -> Flow[None]:
    """Place facts, one after the other, in the history of those that they repeat or contradict (section 2.2.3)."""
    edges = dict(enumerate((yield from _met(facts))))
    old = tuple(edge.triple for edge in edges.values())
    matches = yield from judged(MATCH_FACTS, FactMatching(tuple(fact.edge.triple for fact in facts), old))
    for fact, match in zip(facts, matches, strict=True):
        place = placed(fact.edge, [edges[n] for n in match.same], [edges[n] for n in match.over])
        if place.again is not None:
            edits.say_again(place.again, fact)
            edges[len(edges)] = place.again
            continue
        place = yield from _parted(place, edits)
        edge = edits.put_fact(fact, place)
        edges = {n: each.until(edge.start) if each in place.ends else each for n, each in edges.items()}
        edges[len(edges)] = edge if place.ended_by is None else edge.until(place.ended_by.start)


def _met(facts: Sequence[GraphFact]) -> Flow[list[GraphEdge]]:
    """Look up the known facts that these may repeat or contradict: of one time, and of things in common."""
    met: dict[ItemId, GraphEdge] = {}
    for fact in facts:
        triple = fact.edge.triple
        there, back = (
            {"subject": triple.subject, "object": triple.object},
            {"subject": triple.object, "object": triple.subject},
        )
        items = [hit.item for hit in (yield from search(triple.fact, _own(Kind.FACT), _FACTS))]
        for slots in (there, back, {"subject": triple.subject, "relation": triple.predicate}):
            items += yield from known(replace(_own(Kind.FACT, **slots), states=_EVER), _HISTORY)
        edges = {item.id: edge_of(item) for item in items}
        met |= {id: e for id, e in edges.items() if e.meets(fact.edge) and may_exclude(e.triple, triple)}
    return list(met.values())


def _parted(place: EdgePlace, edits: GraphEdits) -> Flow[EdgePlace]:
    """Begin a fact anew that an edge ends, if it was said again after the edge was: what came late lies between."""
    edge = place.edge
    for ending in place.ends:
        if isinstance(ending.ref, int):
            continue  # said in this run
        cited = (yield from fetch(*ending.source)) if len(ending.source) > 1 else {}
        later = [turn for turn in cited.values() if turn.kind is Kind.TURN and turn.said > max(edge.order)]
        if not later:
            continue
        turn = min(later, key=lambda turn: turn.said)
        links = yield from linked(ending.ref, types=(ABOUT,))
        names = (yield from fetch(*(link.src for link in links))).values()
        others = tuple(id for id, item in cited.items() if item.kind is not Kind.TURN)
        anew = replace(ending, said=turn.said, start=turn.said, source=(turn.id,))
        ends = tuple(NamedEntity(item.id, item.text, others) for item in names)
        fact = GraphFact(turn, anew, ends, (ending.ref,))
        again = edits.put_fact(fact, EdgePlace(edge=anew, ended_by=place.ended_by))
        place = replace(place, ended_by=again)
    return place


def _walked(seeds: Sequence[ItemId], most: int) -> Flow[dict[ItemId, int]]:
    """Walk from facts, or an entity, to facts that share an entity; the steps to each, what few share first."""
    steps, frontier = dict.fromkeys(seeds, 0), list(seeds)
    for step in range(1, _DEPTH + 1):
        links = (yield from linked(*frontier, types=(ABOUT,))) if frontier and len(steps) < most else ()
        hubs = dict.fromkeys(link.src for link in links)
        spokes = (yield from linked(*hubs, types=(ABOUT,))) if hubs else ()
        shared = Counter(link.src for link in spokes)
        nearest = sorted(spokes, key=lambda link: shared[link.src])
        frontier = [id for id in dict.fromkeys(link.dst for link in nearest) if id not in steps][: most - len(steps)]
        steps |= dict.fromkeys(frontier, step)
    return steps

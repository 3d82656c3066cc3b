"""Find what answers a question only together with something else, by a walk over a graph of names: HippoRAG 2.

Source: Gutiérrez et al., "From RAG to Memory", arXiv:2502.14802, section 3. `Hippo2(passage_nodes=False)` is the first
HippoRAG, arXiv:2405.14831: the walk begins at the names in the question, and passages are no part of the graph.

Kept: the statements of each passage (turn, document, chunk) as facts with their triples; each name in these once, as a
phrase; links from a passage to its phrases, between phrases that triples relate (weight: how many do), and between
phrases that mean the same. Answered: of the five facts nearest to a question a model, or a rule, keeps those that help;
a personalised PageRank restarts at their phrases and, faintly, at all passages; if none helps, passages rank alone.

Cost: a model is asked once for each passage and once for each recall; twice where an answer has to be mended. Answers
have at most 2,048 and 512 tokens. A new passage looks up each of its names, and searches for each that is new. Erasing
a passage takes its facts and its phrases; what other passages have of these is made again of their facts, without a
model.

Departures: names and triples are asked for at once. Without a model `related_names` finds them. A phrase has at most
`COMMON` passages: what everything names leads nowhere, and what an erasure makes again stays small. A fact's score is
divided by the best one's. The paper's cosine of .8 is of its embedder; where names that have nothing to do with each
other come to as much, it would tie all to all, so nearness counts from what such names have. A phrase that has no
vector yet is compared by its words: with an embedder, the pace of its lane decides on a few links.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import chain, combinations
from statistics import fmean
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

from mnemic.core.items import EVIDENCE, Item, Kind
from mnemic.core.names import called, names
from mnemic.core.queries import Filter
from mnemic.core.uninterrupted import import_whole
from mnemic.extract.entities import canonical, entities
from mnemic.strategies.base import Bond, Budget, Derivation, Edits, Pick, Ref, Revision, known, nothing
from mnemic.strategies.judging import judged, judged_each
from mnemic.strategies.knowledge import Inquiry, Passage, Triple, passage_of
from mnemic.strategies.rules.related_names import related_names
from mnemic.strategies.rules.sentence_relevance import content_terms, similarity
from mnemic.strategies.strategy_requests import fetch, linked, scored, search, spread, vectors
from mnemic.strategies.tasks.extracting import EXTRACT_TRIPLES
from mnemic.strategies.tasks.recognition import FILTER_EVIDENCE
from mnemic.strategies.triggers import EachEvent, Trigger

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mnemic.core.ids import ItemId
    from mnemic.flow import Flow
    from mnemic.strategies.base import Asked, Given

COMMON: Final = 16
"""Most passages of a phrase; ours."""
LINKING: Final = 5
"""How many facts are recognised among, and how many phrases the walk restarts at (`linking_top_k` of the paper)."""
PASSAGE_WEIGHT: Final = 0.05
"""What the best passage weighs beside a phrase where the walk restarts (the paper's)."""
DAMPING: Final = 0.5
NEAREST: Final = 10
"""Most phrases that a new one is compared with; the paper has 100."""
UNRELATED: Final = ("Monday", "granite", "violin", "tax law", "Nairobi", "soup")
"""Names of which none means another: their cosines tell where an embedder begins."""
RANKED: Final = 200
"""Passages at which the walk restarts; phrases whose passages are ranked without passage nodes."""

NAMES, RELATED, ALIKE = "hippo2_names", "hippo2_related", "hippo2_alike"
"""Types of links: passage to phrase, phrase to phrase of a triple, phrase to phrase of one meaning."""

Triples: TypeAlias = "Sequence[tuple[str, str, str]]"
"""Triples of a passage: two phrases, and the predicate between them; "" where the other one is only mentioned."""

_FACTS: Final = Filter(kinds=(Kind.FACT,), by=("hippo2",))
_PHRASES: Final = Filter(kinds=(Kind.ENTITY,), by=("hippo2",))
_PASSAGES: Final = Filter(kinds=(Kind.TURN, Kind.DOCUMENT, Kind.CHUNK))
_ALL_FACTS: Final = 10_000
_ROUGHLY: Final = 1e-4
"""What a product of many vectors may be off."""
_SIGNS: Final = re.compile(r"[\W_]+")
_EXTRACT: Final = replace(EXTRACT_TRIPLES, rules=related_names)


@dataclass(frozen=True, slots=True)
class Hippo2:
    """Keeps facts and phrases as a graph, and recalls passages by a walk on it.

    Over the bundled conversation it takes 1.00 calls and 613 tokens a message.

    Attributes:
        by_words: The share of their words from which two phrases mean the same.
        by_meaning: How far their cosine is to be on the way from that of `UNRELATED` names to 1.
        passage_nodes: False for the first HippoRAG.
    """

    by_words: float = 0.8
    by_meaning: float = 0.7
    passage_nodes: bool = True

    name: ClassVar[str] = "hippo2"
    by: ClassVar[str] = "hippo2"
    reads: ClassVar[frozenset[Kind]] = EVIDENCE
    triggers: ClassVar[tuple[Trigger, ...]] = (EachEvent(),)
    maintain: ClassVar[tuple[Trigger, ...]] = ()
    batch: ClassVar[int] = 16
    budget: ClassVar[Budget] = Budget(calls=2 * batch)
    asks: ClassVar[tuple[str, ...]] = (EXTRACT_TRIPLES.id, FILTER_EVIDENCE.id)

    def on_write(self, given: Given) -> Flow[Edits]:
        """Write the facts of new passages, and grow the graph by the names in them."""
        if not given.evidence:
            return Edits()
        evidence = (
            given.as_written
        )  # of two passages that say the same the first is the same, whatever comes in one run
        facts, triples = yield from _stated(evidence)
        own = {item.id: _own(item, triples[item.id]) for item in evidence}
        standing = yield from _phrases(chain.from_iterable(own.values()))
        added, weights = grown(own, triples, standing)
        fresh = [name for name in added if name not in standing]
        refs: dict[str, Ref] = {name: item.id for name, item in standing.items()}
        refs |= {name: len(facts) + place for place, name in enumerate(fresh)}
        related = yield from _related(weights, refs)
        alike = yield from self._alike(fresh, refs)
        first = {item.id: item for item in evidence}
        return Edits(
            write=(*facts, *(_phrase(name, added[name], first[added[name][0]]) for name in fresh)),
            revise=tuple(Revision(id=standing[n].id, source=tuple(added[n])) for n in added if n in standing),
            tie=(
                *(Bond(src=phrase, dst=refs[n], type=NAMES, source=()) for n in added for phrase in added[n]),
                *related,
                *alike,
            ),
        )

    on_maintain = nothing

    def on_recall(self, asked: Asked) -> Flow[Sequence[Pick]]:
        """Rank passages by a walk from the facts that help; where none does, by themselves."""
        alone = _scaled((yield from scored(asked.text, _PASSAGES, RANKED)))
        seeds = yield from (_recognised(asked.text) if self.passage_nodes else _named(asked.text))
        reached: Mapping[ItemId, float] = alone
        restart = {item.id: weight for item, weight in seeds}
        if seeds and self.passage_nodes:
            restart |= {passage: PASSAGE_WEIGHT * score for passage, score in alone.items() if score > 0}
            reached = yield from spread(restart, (NAMES, RELATED, ALIKE), DAMPING)
        elif seeds:
            reached = yield from _summed((yield from spread(restart, (RELATED, ALIKE), DAMPING)))
        why = f"by a walk from {', '.join(item.text for item, _ in seeds)}" if seeds else "by itself: no fact helps"
        ranked = _heaviest(reached)
        picks: list[Pick] = []
        while ranked and len(picks) < asked.k:
            looked, ranked = ranked[: 4 * asked.k], ranked[4 * asked.k :]
            items = yield from fetch(*looked)
            passages = [
                items[passage_id] for passage_id in looked if passage_id in items and items[passage_id].kind in EVIDENCE
            ]
            picks += [
                Pick(item=item, score=reached[item.id], components={"alone": alone.get(item.id, 0.0)}, why=why)
                for item in passages
            ]
        return picks

    def _alike(self, fresh: Sequence[str], refs: Mapping[str, Ref]) -> Flow[list[Bond]]:
        """Tie new phrases to those that mean the same: each is searched for, and compared with the other new ones."""
        texts = (*fresh, *UNRELATED)
        embedded = dict(zip(texts, (yield from vectors(*texts)), strict=False)) if fresh else {}
        least = self._least(embedded)
        terms = {name: frozenset(content_terms(name)) for name in fresh}
        beside = _near_in_meaning(fresh, embedded, least) if embedded else _sharing_terms(fresh, terms)
        ids, weights = dict(refs), dict[tuple[str, str], float]()
        for name in fresh:
            if not (embedded or len(terms[name]) > 1):
                continue  # no other phrase has four fifths in common with a single word
            hits = yield from search(name, _PHRASES, NEAREST)
            ids.update((hit.item.text, hit.item.id) for hit in hits)
            near = {hit.item.text: hit.cosine for hit in hits}
            near |= {other: float(embedded[name] @ embedded[other]) if embedded else None for other in beside[name]}
            near.pop(name, None)
            for other, cosine in near.items():
                by_words = similarity(terms[name], terms.get(other) or frozenset(content_terms(other)))
                much, enough = (by_words, self.by_words) if cosine is None else (cosine, least)
                if much >= enough:
                    weights[min(name, other), max(name, other)] = much
        return [
            Bond(src=ids[phrase], dst=ids[other], type=ALIKE, weight=much, source=())
            for (phrase, other), much in weights.items()
        ]

    def _least(self, embedded: Mapping[str, NDArray[np.float32]]) -> float:
        """The cosine from which two phrases mean the same, as these vectors lie."""
        pairs = [float(embedded[phrase] @ embedded[other]) for phrase, other in combinations(UNRELATED, 2) if embedded]
        strange = max(0.0, fmean(pairs)) if pairs else 0.0
        return strange + self.by_meaning * (1 - strange)


def grown(
    own: Mapping[ItemId, Iterable[str]], triples: Mapping[ItemId, Triples], standing: Mapping[str, Item]
) -> tuple[dict[str, list[ItemId]], Counter[tuple[str, str]]]:
    """Add passages to their phrases: what each phrase gains, and how many triples more relate two of them.

    A triple counts once both its phrases have its passage, and counted before if both had it before: in whatever runs
    passages come, and though some come again when a phrase was erased, weights come to the same.
    """
    added: dict[str, list[ItemId]] = {}
    weights: Counter[tuple[str, str]] = Counter()
    for passage, phrases in own.items():
        before = {name for name in phrases if name in standing and passage in standing[name].source}
        there = set(before)
        for name in phrases:
            held = len(added.get(name, ())) + (len(standing[name].source) if name in standing else 0)
            if name not in before and held < COMMON:
                added.setdefault(name, []).append(passage)
                there.add(name)
        for subject, predicate, other in triples[passage]:
            if predicate and subject != other and {subject, other} <= there and not {subject, other} <= before:
                weights[min(subject, other), max(subject, other)] += 1
    return added, weights


def phrase_of(name: str) -> str:
    """Spell a name as its phrase: small letters and digits, single spaces."""
    return " ".join(_SIGNS.sub(" ", canonical(name)).split())


def _stated(evidence: Sequence[Item]) -> Flow[tuple[list[Derivation], dict[ItemId, Triples]]]:
    """Make the facts of passages that have none yet; and the triples of each passage."""
    there: list[Item] = []
    for item in evidence:
        there += reversed((yield from known(replace(_FACTS, tags=(item.id,)), _ALL_FACTS)))
    read = {fact.source[0] for fact in there}
    unread = [item for item in evidence if item.id not in read]
    extracted = yield from judged_each(_EXTRACT, [(_passage(item),) for item in unread])
    facts = [fact for item, stated in zip(unread, extracted, strict=True) for fact in _facts(item, stated)]
    triples: dict[ItemId, list[tuple[str, str, str]]] = {item.id: [] for item in evidence}
    stated_by_turn = [(statement.source[0], statement.slots) for statement in there] + [
        (statement.source[0], statement.slots) for statement in facts
    ]
    for source, slots in stated_by_turn:
        triples[source] += _triples(slots)
    return facts, dict(triples)


def _passage(item: Item) -> Passage:
    """Make the passage of an item; a document is spoken by its name."""
    return passage_of(item) if item.kind is Kind.TURN else replace(passage_of(item), speaker="".join(called(item)[:1]))


def _facts(item: Item, extracted_triples: Iterable[Triple]) -> Iterator[Derivation]:
    """Make one fact of each statement, with the triples that it states; it is looked up by its passage."""
    stated: dict[str, list[Triple]] = {}
    for triple in extracted_triples:
        stated.setdefault(triple.fact, []).append(triple)
    for place, (text, ones) in enumerate(stated.items()):
        yield Derivation(
            key=f"hippo2:{item.id}:{place}",
            kind=Kind.FACT,
            text=text,
            slots={"by": Hippo2.by, "triples": [[each.subject, each.predicate, each.object] for each in ones]},
            tags=(item.id,),
            source=(item.id,),
            said=item.said,
            said_offset=item.said_offset,
            valid_from=ones[0].since,
            valid_to=ones[0].until,
        )


def _phrase(name: str, passages: Sequence[ItemId], first: Item) -> Derivation:
    """Make the item of a phrase; it is looked up by its words."""
    return Derivation(
        key=f"hippo2:phrase:{name}",
        kind=Kind.ENTITY,
        text=name,
        slots={"by": Hippo2.by},
        tags=(name,),
        source=tuple(passages),
        said=first.said,
        said_offset=first.said_offset,
    )


def _triples(slots: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Read the triples of a fact, with their ends as phrases."""
    spelled = ((phrase_of(subject), predicate, phrase_of(other)) for subject, predicate, other in slots["triples"])
    return [triple for triple in spelled if triple[0] and triple[2]]


def _own(item: Item, triples: Triples) -> list[str]:
    """List the phrases of a passage, each once: what a document is called, and the ends of triples."""
    title = [] if item.kind is Kind.TURN else [phrase_of(name) for name in called(item)[:1]]
    return list(
        dict.fromkeys(filter(None, (*title, *chain.from_iterable((subject, other) for subject, _, other in triples))))
    )


def _phrases(spelled: Iterable[str]) -> Flow[dict[str, Item]]:
    """Look up which phrases stand, each by its words: in a large memory that takes as long as in a small one."""
    standing: dict[str, Item] = {}
    for name in dict.fromkeys(spelled):
        standing.update({item.text: item for item in (yield from known(replace(_PHRASES, tags=(name,)), 1))})
    return standing


def _related(weights: Mapping[tuple[str, str], int], refs: Mapping[str, Ref]) -> Flow[list[Bond]]:
    """Tie phrases that triples relate: their number is added to what the link weighs already."""
    ends = [(refs[phrase], refs[other], weight) for (phrase, other), weight in weights.items()]
    stood = dict.fromkeys(src for src, dst, _ in ends if not isinstance(src, int) and not isinstance(dst, int))
    links = (yield from linked(*stood, types=(RELATED,))) if stood else ()
    before: dict[tuple[Ref, Ref], float] = {(link.src, link.dst): link.weight for link in links}
    return [
        Bond(src=a, dst=b, type=RELATED, weight=weight + before.get((a, b), 0.0), source=()) for a, b, weight in ends
    ]


def _sharing_terms(names: Sequence[str], terms: Mapping[str, frozenset[str]]) -> dict[str, list[str]]:
    """For each name those that share a term with it, in their order: others have no words in common."""
    holding: dict[str, list[str]] = {}
    for name in names:
        for term in terms[name]:
            holding.setdefault(term, []).append(name)
    place = {name: n for n, name in enumerate(names)}
    return {
        name: sorted({other for term in terms[name] for other in holding[term]}, key=place.__getitem__)
        for name in names
    }


def _near_in_meaning(
    names: Sequence[str], embedded: Mapping[str, NDArray[np.float32]], least: float
) -> dict[str, list[str]]:
    """For each name those that may come to a cosine, in their order: all are compared at once, and so only roughly."""
    import_whole("numpy")
    import numpy as np

    every = np.stack([embedded[name] for name in names])
    rows = (np.flatnonzero(every @ embedded[name] >= least - _ROUGHLY) for name in names)
    return {name: [names[place] for place in row.tolist()] for name, row in zip(names, rows, strict=True)}


def _scaled(ranked: Sequence[tuple[ItemId, float]]) -> dict[ItemId, float]:
    """Scale scores to 0 for the least and 1 for the best."""
    least, best = (edge((score for _, score in ranked), default=0.0) for edge in (min, max))
    return {passage: (score - least) / (best - least) if best > least else 1.0 for passage, score in ranked}


def _heaviest(reached: Mapping[ItemId, float]) -> list[ItemId]:
    return sorted(reached, key=lambda phrase: (-reached[phrase], phrase))


def _recognised(question: str) -> Flow[list[tuple[Item, float]]]:
    """Choose the phrases of the facts that help: each weighs its facts' mean score over how many passages it has."""
    hits = yield from search(question, _FACTS, LINKING)
    shown = Inquiry(question, tuple(Passage(hit.item.text) for hit in hits), LINKING)
    kept = (yield from judged(FILTER_EVIDENCE, shown)) if hits else ()
    scores: dict[str, list[float]] = {}
    for hit in (hits[place] for place in kept):
        ends = chain.from_iterable((subject, other) for subject, _, other in _triples(hit.item.slots))
        for name in dict.fromkeys(ends):
            scores.setdefault(name, []).append(hit.score / max(subject.score for subject in hits))
    standing = yield from _phrases(scores)
    weighed = [(item, fmean(scores[name]) / len(item.source)) for name, item in standing.items()]
    return sorted(weighed, key=lambda subject: (-subject[1], subject[0].text))[:LINKING]


def _named(question: str) -> Flow[list[tuple[Item, float]]]:
    """Choose the phrases that a question names: each weighs its specificity, one over how many passages it has."""
    spelled = [phrase_of(name) for name in (*names(question), *(entity.name for entity in entities(question)))]
    standing = yield from _phrases(filter(None, spelled))
    return [(item, 1 / len(item.source)) for item in standing.values()]


def _summed(reached: Mapping[ItemId, float]) -> Flow[dict[ItemId, float]]:
    """Give each passage what its phrases have, of the phrases that have most."""
    links = yield from linked(*_heaviest(reached)[:RANKED], types=(NAMES,))
    sums: dict[ItemId, float] = {}
    for link in links:
        sums[link.src] = sums.get(link.src, 0.0) + reached.get(link.dst, 0.0)
    return sums

"""The strategy `mem0` keeps single facts of a conversation, and has each new one weighed against the old ones near it.

Chhikara et al., "Mem0: Building Production-Ready AI Agents with Scalable Long-Term Memory" (arXiv:2504.19413, section
2.1): facts are extracted from what was just said; of all facts of a unit together it is then decided, beside the old
facts nearest to each, which are added, which update or end an old one, and which say nothing new. The later form of its
code keeps the first step only: `Mem0(add_only=True)`.

Departures. The paper's unit is a pair of messages with a running summary and the ten messages before it: here it is 256
tokens, some ten messages, cut from the journal, so that any cut into runs gives one view; its tail waits. The paper
deletes and rewrites in place: here what is ended or updated becomes history that `as_of` shows, and the fact that ended
it is always kept. What is said again adds its turn to what the fact rests on. Facts of one unit are weighed beside old
ones and not beside each other: of two that exclude each other only rules end the earlier, where both fill a slot of one
value. Of the old facts that a search brings the nearest are taken by meaning or by words in common, which do not hang
on what else was written meanwhile.
Without a model rules extract and merge, and find too few facts to answer from: then recall ranks turns, each behind the
facts that rest on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from mnemic.core.items import Item, Kind
from mnemic.core.queries import Filter
from mnemic.core.uninterrupted import import_whole
from mnemic.models.chat.base import Size
from mnemic.models.model_requests import NameModel
from mnemic.strategies.base import Asked, Budget, Edits, Given, Pick, nothing
from mnemic.strategies.fact_book import FactBook
from mnemic.strategies.judging import judged
from mnemic.strategies.knowledge import passage_of
from mnemic.strategies.rules.merge_ops import wording_digest
from mnemic.strategies.rules.sentence_relevance import bm25, content_terms
from mnemic.strategies.strategy_requests import search
from mnemic.strategies.tasks.extracting import EXTRACT_ITEMS
from mnemic.strategies.tasks.merge_decision import MERGE_DECIDE
from mnemic.strategies.triggers import EachEvent, Trigger
from mnemic.strategies.turn_ranking import among_turns
from mnemic.strategies.units import TokensUnit, Unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mnemic.core.ids import ItemId
    from mnemic.flow import Flow

UNIT: Final = TokensUnit(256)
"""Tokens of conversation that are digested together: some ten messages, as many as the paper shows beside a new pair
(m = 10, section 3.3)."""
LEAST_POOL: Final = 60
POOL_PER_ITEM: Final = 4
"""Candidates of a recall: four for each item wanted, and at least sixty (the code, `_search_vector_store`)."""
MOST_NAMES: Final = 8
BOOST: Final = 0.5
CROWDED: Final = 0.001
"""Names of a question that lift the facts which hold them, by how much, and how fast less the more facts hold one."""

_FACTS: Final = Filter(kinds=(Kind.FACT,), by=("mem0",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mem0:
    """Keeps facts: extraction, then one decision about all that are new, at most two questions to a model for a unit.

    Over the bundled conversation, with a model that takes one fact from each of a person's turns, it takes 0.13 calls
    and 145 tokens a message; the form that only adds 0.07 calls and 77 tokens.

    Attributes:
        add_only: Facts are added unless their words are known already; nothing is updated or ended, and no second
            question is asked.
        unit: What is digested together.
    """

    name: ClassVar[str] = "mem0"
    by: ClassVar[str] = "mem0"
    reads: ClassVar[frozenset[Kind]] = frozenset({Kind.TURN})
    triggers: ClassVar[tuple[Trigger, ...]] = (EachEvent(),)
    maintain: ClassVar[tuple[Trigger, ...]] = ()
    budget: ClassVar[Budget] = Budget(calls=4, tokens=48_000)
    asks: ClassVar[tuple[str, ...]] = (EXTRACT_ITEMS.id, MERGE_DECIDE.id)
    batch: ClassVar[int] = 64

    add_only: bool = False
    unit: Unit = UNIT

    def lookup_tags(self, item: Item) -> tuple[str, ...]:
        """The tag by which a fact is looked up: its words."""
        return (wording_digest(item.text),) if item.kind is Kind.FACT else ()

    def on_write(self, given: Given) -> Flow[Edits]:
        """Extract the facts of a unit, and merge them into what is known."""
        if not given.evidence:
            return Edits()
        facts = yield from judged(EXTRACT_ITEMS, tuple(map(passage_of, given.evidence)))
        book = FactBook(self.by, given.evidence)
        yield from book.merge(facts, _FACTS, add_only=self.add_only)
        return Edits(write=tuple(book.written), revise=book.revisions())

    on_maintain = nothing

    def on_recall(self, asked: Asked) -> Flow[Sequence[Pick]]:
        """Rank facts by the sum of their nearness in meaning, their words, and a boost for names in the question.

        Words are scored by BM25 over the candidates, as the share of the best; the published code squeezes it through
        a logistic curve instead. Candidates come from words and names as well as from meaning: there a fact that
        meaning misses is never found. What is added up is divided by what it can come to, which is the same for all
        questions, so that their scores compare.
        """
        pool = max(LEAST_POOL, POOL_PER_ITEM * asked.k)
        hits = yield from search(asked.text, _FACTS, pool)
        items = {hit.item.id: hit.item for hit in hits}
        boosts: dict[ItemId, float] = {}
        for name in _names(asked.text):
            named = [hit.item for hit in (yield from search(name, _FACTS, pool)) if hit.overlap == 1]
            items |= {item.id: item for item in named}
            boosts |= {item.id: max(boosts.get(item.id, 0.0), entity_boost(len(named))) for item in named}
        cosines = {hit.item.id: max(0.0, hit.cosine) for hit in hits if hit.cosine is not None}
        words = bm25(asked.text, [content_terms(item.text) for item in items.values()])
        best = max(words, default=0.0) or 1.0
        most = BOOST + (2.0 if cosines else 1.0)
        picks = []
        for item, score in zip(items.values(), words, strict=True):
            parts = {"semantic": cosines.get(item.id, 0.0), "words": score / best, "entity": boosts.get(item.id, 0.0)}
            picks.append(Pick(item=item, score=sum(parts.values()) / most, components=parts, why=_why(item, parts)))
        picks.sort(key=lambda pick: (-pick.score, -pick.item.said.timestamp(), pick.item.id))
        model: str = yield NameModel(Size.LARGE)
        return picks if model else (yield from among_turns(asked, picks))


def entity_boost(facts: int) -> float:
    """What a name shared with the question adds to each of so many facts that hold it: less the more they are."""
    return BOOST / (1 + CROWDED * (facts - 1) ** 2)


def _names(question: str) -> list[str]:
    """The names in a question, each once."""
    import_whole("mnemic.extract.entities")
    from mnemic.extract.entities import entities

    return list(dict.fromkeys(entity.name for entity in entities(question)))[:MOST_NAMES]


def _why(item: Item, parts: Mapping[str, float]) -> str:
    reason = f"a fact from {len(item.source)} turn{'s' if len(item.source) > 1 else ''}"
    return f"{reason} that shares a name with the question" if parts["entity"] else reason

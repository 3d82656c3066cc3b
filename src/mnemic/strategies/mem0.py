"""The strategy `mem0` keeps single facts of a conversation, and has each new one weighed against the old ones near it.

Chhikara et al., "Mem0: Building Production-Ready AI Agents with Scalable Long-Term Memory" (arXiv:2504.19413, section
2.1): facts are extracted from what was just said; of all facts of a unit together it is then decided, beside the old
facts nearest to each, which are added, which update or end an old one, and which say nothing new. The later form of its
code keeps the first step only: `Mem0(add_only=True)`.

Departures. The paper's unit is a pair of messages with a running summary and the ten messages before it: here it is 256
tokens, some ten messages, cut from the journal, so that any cut into runs gives one view; its tail waits. The paper
deletes and rewrites in place: here what is ended or updated becomes history that `as_of` shows, and the fact that ended
it is always kept. What is said again adds its turn to what the fact rests on. Of the old facts that a search brings the
nearest are taken by meaning or by words in common, which do not hang on what else was written meanwhile.
Without a model rules extract and merge; turns themselves are left as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final

from mnemic.core.items import ENDED, Item, Kind
from mnemic.core.queries import Filter
from mnemic.core.uninterrupted import import_whole
from mnemic.strategies.base import Asked, Budget, Derivation, Edits, Given, Pick, Revision, known, nothing
from mnemic.strategies.judging import judged
from mnemic.strategies.knowledge import MergeDecision, MergeOp, Merging, StatedFact, passage_of
from mnemic.strategies.rules.merge_ops import merge_ops, wording_digest
from mnemic.strategies.rules.sentence_relevance import bm25, content_terms, nearness
from mnemic.strategies.strategy_requests import fetch, search
from mnemic.strategies.tasks.extracting import EXTRACT_ITEMS
from mnemic.strategies.tasks.merge_decision import MERGE_DECIDE
from mnemic.strategies.triggers import EachEvent, Trigger
from mnemic.strategies.units import TokensUnit, Unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mnemic.core.ids import ItemId
    from mnemic.core.items import Slot
    from mnemic.flow import Flow
    from mnemic.strategies.base import Ref

UNIT: Final = TokensUnit(256)
"""Tokens of conversation that are digested together: some ten messages, as many as the paper shows beside a new pair
(m = 10, section 3.3)."""
NEIGHBOURS: Final = 5
"""Old facts that a new one is weighed against (the code of its first versions; 10 in the paper)."""
LEAST_POOL: Final = 60
POOL_PER_ITEM: Final = 4
"""Candidates of a recall: four for each item wanted, and at least sixty (the code, `_search_vector_store`)."""
MOST_NAMES: Final = 8
BOOST: Final = 0.5
CROWDED: Final = 0.001
"""Names of a question that lift the facts which hold them, by how much, and how fast less the more facts hold one."""

_FACTS: Final = Filter(kinds=(Kind.FACT,), by=("mem0",))
_DIGEST: Final = "digest"
_NEAR_POOL: Final = 40


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
    batch: ClassVar[int] = 64

    add_only: bool = False
    unit: Unit = UNIT

    def on_write(self, given: Given) -> Flow[Edits]:
        """Extract the facts of a unit, and merge them into what is known."""
        if not given.evidence:
            return Edits()
        facts = yield from judged(EXTRACT_ITEMS, tuple(map(passage_of, given.evidence)))
        book = _FactBook(given.evidence)
        fresh: list[StatedFact] = []
        for fact in _once_each(facts):
            same = yield from known(replace(_FACTS, slots=((_DIGEST, wording_digest(fact.text)),)), 1)
            if same:
                book.confirm(same[0], fact)
            else:
                fresh.append(fact)
        for fact, decision, old in zip(fresh, *(yield from self._decisions(fresh)), strict=True):
            book.settle(fact, decision, old)
        return Edits(write=tuple(book.written), revise=book.revisions())

    def _decisions(self, facts: Sequence[StatedFact]) -> Flow[tuple[Sequence[MergeDecision], Sequence[Item | None]]]:
        """Decide what becomes of each of these facts, and to which old one it does that."""
        if self.add_only:
            return [MergeDecision(new=n, op=MergeOp.ADD) for n in range(len(facts))], [None] * len(facts)
        near = yield from _near(facts)
        decisions = yield from judged(MERGE_DECIDE, Merging(tuple(facts), tuple(map(_statement, near))))
        old = [None if decision.old is None else near[decision.old] for decision in decisions]
        updated = (item for item, one in zip(old, decisions, strict=True) if item and one.op is MergeOp.UPDATE)
        yield from fetch(*(source for item in updated for source in item.source))  # for the update to cite, too
        return decisions, old

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
        found = {hit.item.id: hit.item for hit in hits}
        boosts: dict[ItemId, float] = {}
        for name in _names(asked.text):
            named = [hit.item for hit in (yield from search(name, _FACTS, pool)) if hit.overlap == 1]
            found |= {item.id: item for item in named}
            boosts |= {item.id: max(boosts.get(item.id, 0.0), entity_boost(len(named))) for item in named}
        cosines = {hit.item.id: max(0.0, hit.cosine) for hit in hits if hit.cosine is not None}
        words = bm25(asked.text, [content_terms(item.text) for item in found.values()])
        best = max(words, default=0.0) or 1.0
        most = BOOST + (2.0 if cosines else 1.0)
        picks = []
        for item, score in zip(found.values(), words, strict=True):
            parts = {"semantic": cosines.get(item.id, 0.0), "words": score / best, "entity": boosts.get(item.id, 0.0)}
            picks.append(Pick(item=item, score=sum(parts.values()) / most, components=parts, why=_why(item, parts)))
        return sorted(picks, key=lambda pick: (-pick.score, -pick.item.said.timestamp(), pick.item.id))


def entity_boost(facts: int) -> float:
    """What a name shared with the question adds to each of so many facts that hold it: less the more they are."""
    return BOOST / (1 + CROWDED * (facts - 1) ** 2)


class _FactBook:
    """Writes down what becomes of the facts of one run, so that no two of them decide about one old fact.

    Attributes:
        written: What is to be written, in order.
    """

    def __init__(self, evidence: Sequence[Item]) -> None:
        self.written: list[Derivation] = []
        self._evidence = evidence
        self._standing: dict[int, StatedFact] = {}
        self._taken: set[ItemId] = set()
        self._confirmed: dict[ItemId, list[ItemId]] = {}

    def revisions(self) -> tuple[Revision, ...]:
        """What old facts rest on besides, those that still stand after all."""
        stand = ((id, tuple(turns)) for id, turns in self._confirmed.items() if id not in self._taken and turns)
        return tuple(Revision(id=id, source=turns) for id, turns in stand)

    def confirm(self, old: Item, fact: StatedFact) -> None:
        """Have an old fact rest on the turns of one that says the same, too."""
        turns = self._confirmed.setdefault(old.id, [])
        turns += [turn.id for turn in self._turns(fact) if turn.id not in (*old.source, *turns)]

    def settle(self, fact: StatedFact, decision: MergeDecision, old: Item | None) -> None:
        """Do what was decided about a fact.

        An old fact of which an earlier decision has disposed is no longer there: the fact is kept in its own words.
        """
        if old is None or old.id in self._taken:
            self._add(fact, self._derived(fact))
        elif decision.op is MergeOp.NOOP:
            self.confirm(old, fact)
        elif decision.op is MergeOp.UPDATE:
            self._taken.add(old.id)
            self._write(fact, _updated(self._derived(fact), decision.text, old))
        elif self._is_late(fact, old):
            self.written.append(replace(self._derived(fact), outdated_by=old.id))
        else:
            self._taken.add(old.id)
            self._add(fact, replace(self._derived(fact), supersedes=old.id))

    def _add(self, fact: StatedFact, derived: Derivation) -> None:
        """Write a fact, in place of one of this run that rules know to be over; one they know to be the same stands."""
        places = list(self._standing)
        (decision,) = merge_ops(Merging((fact,), tuple(self._standing.values())))
        place = None if decision.old is None else places[decision.old]
        if place is None:
            self._write(fact, derived)
        elif decision.op is MergeOp.DELETE:
            del self._standing[place]
            over: tuple[Ref, ...] = (place,) if derived.supersedes is None else (derived.supersedes, place)
            self._write(fact, replace(derived, supersedes=over[0], revokes=over[1:]))
        else:
            before = self.written[place]
            gone = () if derived.supersedes is None else (derived.supersedes,)
            source = tuple(dict.fromkeys((*before.source, *derived.source)))
            self.written[place] = replace(before, source=source, revokes=(*before.revokes, *gone))

    def _write(self, fact: StatedFact, derived: Derivation) -> None:
        self._standing[len(self.written)] = fact
        self.written.append(derived)

    def _derived(self, fact: StatedFact) -> Derivation:
        """Derive a fact from its turns; its words are part of its key, for of one turn any number of facts is taken."""
        turns = self._turns(fact)
        last, digest = turns[-1], wording_digest(fact.text)
        slots: dict[str, Slot] = {"by": Mem0.by, _DIGEST: digest}
        if fact.slot:
            slots |= {"subject": fact.subject, "slot": fact.slot, "value": fact.value, ENDED: fact.ended}
        return Derivation(
            key=f"{Mem0.name}:{last.id}:{digest}",
            kind=Kind.FACT,
            text=fact.text,
            slots=slots,
            source=tuple(turn.id for turn in reversed(turns)),
            said=last.said,
            said_offset=last.said_offset,
            valid_from=fact.since,
            valid_to=fact.until,
        )

    def _turns(self, fact: StatedFact) -> list[Item]:
        """The turns that say so, oldest first."""
        return sorted((self._evidence[place] for place in fact.source), key=lambda turn: turn.said)

    def _is_late(self, fact: StatedFact, old: Item) -> bool:
        """Whether a fact that contradicts an old one was over when that began: news that came late."""
        if fact.since is not None and old.valid_from is not None:
            return fact.since < old.valid_from
        return self._turns(fact)[-1].said < old.said


def _updated(derived: Derivation, text: str, old: Item) -> Derivation:
    """Put a fact and the old one that it adds to in one, which rests on the turns of both."""
    since = derived.valid_from or old.valid_from
    if since is not None and derived.valid_to is not None and derived.valid_to < since:
        since = None
    return replace(
        derived,
        text=text,
        slots={**old.slots, **derived.slots, _DIGEST: wording_digest(text)},
        source=tuple(dict.fromkeys((*derived.source, *old.source))),
        said=max(derived.said, old.said),
        valid_from=since,
        supersedes=old.id,
    )


def _once_each(facts: Iterable[StatedFact]) -> list[StatedFact]:
    """Facts by when they were last said, those of the same words as one, which rests on the turns of all."""
    merged: dict[str, StatedFact] = {}
    for fact in facts:
        digest = wording_digest(fact.text)
        before = merged.get(digest, fact)
        merged[digest] = replace(before, source=tuple(sorted({*before.source, *fact.source})))
    return sorted(merged.values(), key=lambda fact: max(fact.source))


def _near(facts: Sequence[StatedFact]) -> Flow[list[Item]]:
    """Find the old facts nearest to each of these, all of them together by when they were said."""
    near: dict[ItemId, Item] = {}
    for fact in facts:
        hits = yield from search(fact.text, _FACTS, _NEAR_POOL)
        ranked = sorted(
            zip(nearness(fact.text, hits), hits, strict=True),
            key=lambda one: (-one[0], one[1].item.said, one[1].item.text),
        )
        near |= {hit.item.id: hit.item for _, hit in ranked[:NEIGHBOURS]}
    return sorted(near.values(), key=lambda item: (item.said, item.text))


def _statement(item: Item) -> StatedFact:
    """The fact that an item keeps, with the slot that rules found it to fill."""
    subject, slot, value = (str(item.slots.get(name) or "") for name in ("subject", "slot", "value"))
    ended = item.slots.get(ENDED) is True
    return StatedFact(
        text=item.text, subject=subject, slot=slot, value=value, since=item.valid_from, until=item.valid_to, ended=ended
    )


def _names(question: str) -> list[str]:
    """The names in a question, each once."""
    import_whole("mnemic.extract.entities")
    from mnemic.extract.entities import entities

    return list(dict.fromkeys(one.name for one in entities(question)))[:MOST_NAMES]


def _why(item: Item, parts: Mapping[str, float]) -> str:
    told = f"a fact from {len(item.source)} turn{'s' if len(item.source) > 1 else ''}"
    return f"{told} that shares a name with the question" if parts["entity"] else told

"""Merge what a run stated into the facts that a strategy keeps, and write down what becomes of each, old and new.

The update phase of Mem0 (arXiv:2504.19413, section 2.1): a new fact is weighed beside the old ones nearest to it, all
new ones of a run in one question. What is ended or updated becomes history; the fact that ended it is always kept; what
is said again adds its turn to what the old fact rests on. The nearest are taken by meaning or by words in common, which
do not hang on what else was written meanwhile.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mnemic.core.items import ENDED, Item, Kind
from mnemic.strategies.base import Derivation, Revision, known
from mnemic.strategies.judging import judged
from mnemic.strategies.knowledge import MergeDecision, MergeOp, Merging, StatedFact
from mnemic.strategies.rules.merge_ops import merge_ops, wording_digest
from mnemic.strategies.rules.sentence_relevance import nearness
from mnemic.strategies.strategy_requests import fetch, search
from mnemic.strategies.tasks.merge_decision import MERGE_DECIDE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mnemic.core.ids import ItemId
    from mnemic.core.items import Slot
    from mnemic.core.queries import Filter
    from mnemic.flow import Flow
    from mnemic.strategies.base import Ref

NEIGHBOURS: Final = 5
"""Old facts that a new one is weighed against (the code of Mem0's first versions; 10 in the paper)."""

_NEAR_POOL: Final = 40


class FactBook:
    """Writes down what becomes of the facts of one run, so that no two of them decide about one old fact.

    Attributes:
        written: What is to be written, in order.
    """

    def __init__(self, by: str, evidence: Sequence[Item]) -> None:
        """Begin with nothing written.

        Args:
            by: The strategy, which begins keys, too.
            evidence: What facts were extracted from, all of it together, and cite by its places.
        """
        self.written: list[Derivation] = []
        self._by, self._evidence = by, evidence
        self._standing: dict[int, StatedFact] = {}
        self._taken: dict[ItemId, tuple[MergeOp, int]] = {}
        self._confirmed: dict[ItemId, list[ItemId]] = {}

    def merge(self, facts: Sequence[StatedFact], where: Filter, *, add_only: bool = False) -> Flow[None]:
        """Settle new facts among those that stand where `where` says.

        Args:
            add_only: Each is added unless its words are known already, and no question is asked.
        """
        once = _once_each(facts)
        stands: dict[int, Item] = {}
        for place, fact in enumerate(once):
            same = yield from known(replace(where, tags=(wording_digest(fact.text),)), 1)
            stands.update((place, item) for item in same)
        fresh = [fact for place, fact in enumerate(once) if place not in stands]
        decided = [MergeDecision(new=n, op=MergeOp.ADD) for n in range(len(fresh))]
        near: list[Item] = []
        if not add_only:
            near = yield from _near(fresh, where)
            decided = list((yield from judged(MERGE_DECIDE, Merging(tuple(fresh), tuple(map(_statement, near))))))
        old = [None if each.old is None else near[each.old] for each in decided]
        updated = (item for item, each in zip(old, decided, strict=True) if item and each.op is MergeOp.UPDATE)
        yield from fetch(*(source for item in updated for source in item.source))  # for the update to cite, too
        shown = tuple(item.id for item in near)
        decisions = iter(zip(decided, old, strict=True))
        for place, fact in enumerate(once):  # as they were said: what one has ended another may say again
            if place in stands:
                self.say_again(stands[place], fact)
            else:
                self.settle(fact, *next(decisions), shown)

    def revisions(self) -> tuple[Revision, ...]:
        """What old facts rest on besides, those that still stand after all."""
        stand = ((id, tuple(turns)) for id, turns in self._confirmed.items() if id not in self._taken and turns)
        return tuple(Revision(id=id, source=turns) for id, turns in stand)

    def say_again(self, old: Item, fact: StatedFact) -> None:
        """Have an old fact rest on the turns of one that says the same, too.

        One that was ended in this run, by what an earlier turn said, is so again: the fact ends what ended that.
        """
        op, place = self._taken.get(old.id, (MergeOp.NOOP, -1))
        if op is MergeOp.UPDATE:
            self._rest(place, self._derived(fact).source)
        elif op is MergeOp.DELETE:
            ended_by = self._standing.get(place)
            is_later = ended_by is not None and max(fact.source) > max(ended_by.source)
            if is_later:
                self._end(place, fact, self._derived(fact))
            else:
                self._add(fact, self._derived(fact))
        else:
            turns = self._confirmed.setdefault(old.id, [])
            turns += [turn.id for turn in self._turns(fact) if turn.id not in (*old.source, *turns)]

    def settle(self, fact: StatedFact, decision: MergeDecision, old: Item | None, shown: tuple[ItemId, ...]) -> None:
        """Do what was decided about a fact by whoever was shown these old ones, from which an update may have words.

        An old fact of which an earlier decision has disposed is no longer there: the fact is kept in its own words.
        """
        if old is not None and decision.op is MergeOp.NOOP:
            self.say_again(old, fact)
        elif old is None or old.id in self._taken:
            self._add(fact, self._derived(fact))
        elif decision.op is MergeOp.UPDATE:
            self._taken[old.id] = decision.op, len(self.written)
            self._write(fact, _updated(self._derived(fact), decision.text, old, shown))
        elif self._is_late(fact, old):
            self.written.append(replace(self._derived(fact), outdated_by=old.id))
        else:
            self._taken[old.id] = decision.op, self._add(fact, replace(self._derived(fact), supersedes=old.id))

    def _add(self, fact: StatedFact, derived: Derivation) -> int:
        """Write a fact, in place of one of this run that rules know to be over; one they know to be the same stands.

        What one turn says at once, and dates no later, may hold at once: "in Graça" does not end "in Lisbon" there.

        Returns:
            The place of what says so now.
        """
        places = list(self._standing)
        (decision,) = merge_ops(Merging((fact,), tuple(self._standing.values())))
        place = None if decision.old is None else places[decision.old]
        if place is None:
            return self._write(fact, derived)
        if decision.op is MergeOp.DELETE:
            is_news = _comes_after(fact, self._standing[place])
            return self._end(place, fact, derived) if is_news else self._write(fact, derived)
        gone = () if derived.supersedes is None else (derived.supersedes,)
        self._rest(place, derived.source, gone)
        return place

    def _end(self, place: int, fact: StatedFact, derived: Derivation) -> int:
        """Write a fact in place of one of this run."""
        del self._standing[place]
        over: tuple[Ref, ...] = (place,) if derived.supersedes is None else (derived.supersedes, place)
        return self._write(fact, replace(derived, supersedes=over[0], revokes=over[1:]))

    def _rest(self, place: int, source: tuple[ItemId, ...], gone: tuple[Ref, ...] = ()) -> None:
        """Have one of this run rest on more turns, and take the place of more."""
        before = self.written[place]
        turns = tuple(dict.fromkeys((*before.source, *source)))
        self.written[place] = replace(before, source=turns, revokes=(*before.revokes, *gone))

    def _write(self, fact: StatedFact, derived: Derivation) -> int:
        self._standing[len(self.written)] = fact
        self.written.append(derived)
        return len(self.written) - 1

    def _derived(self, fact: StatedFact) -> Derivation:
        """Derive a fact from its turns; its words are part of its key, for of one turn any number of facts is taken."""
        turns = self._turns(fact)
        last, digest = turns[-1], wording_digest(fact.text)
        slots: dict[str, Slot] = {"by": self._by}
        if fact.slot:
            slots |= {"subject": fact.subject, "slot": fact.slot, "value": fact.value, ENDED: fact.ended}
        return Derivation(
            key=f"{self._by}:{last.id}:{digest}",
            kind=Kind.FACT,
            text=fact.text,
            slots=slots,
            tags=(digest,),
            source=tuple(turn.id for turn in reversed(turns)),
            said=last.said,
            said_offset=last.said_offset,
            context=tuple(turn.id for turn in self._evidence),
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


def _comes_after(fact: StatedFact, before: StatedFact) -> bool:
    """Whether a fact was said by a later turn than another, or is dated later."""
    if max(fact.source) != max(before.source):
        return max(fact.source) > max(before.source)
    return fact.since is not None and (before.since is None or fact.since > before.since)


def _updated(derived: Derivation, text: str, old: Item, shown: tuple[ItemId, ...]) -> Derivation:
    """Put a fact and the old one that it adds to in one, which rests on the turns of both."""
    since = derived.valid_from or old.valid_from
    if since is not None and derived.valid_to is not None and derived.valid_to <= since:
        since = None
    return replace(
        derived,
        text=text,
        slots={**old.slots, **derived.slots},
        tags=(wording_digest(text),),
        source=tuple(dict.fromkeys((*derived.source, *old.source))),
        said=max(derived.said, old.said),
        context=(*derived.context, *shown),
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


def _near(facts: Sequence[StatedFact], where: Filter) -> Flow[list[Item]]:
    """Find the old facts nearest to each of these, all of them together by when they were said."""
    near: dict[ItemId, Item] = {}
    for fact in facts:
        hits = yield from search(fact.text, where, _NEAR_POOL)
        ranked = sorted(
            zip(nearness(fact.text, hits), hits, strict=True),
            key=lambda scored: (-scored[0], scored[1].item.said, scored[1].item.text),
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

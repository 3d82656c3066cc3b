"""Decide by rule what becomes of new facts beside old ones: only what is certain is taken for the same or for over.

The same words say the same; the same slot of the same subject is over where it holds one value. All else is kept
beside: rules rewrite nothing, so they never update.
"""

from __future__ import annotations

from hashlib import blake2b

from mnemic.core.tokens import tokenise, words
from mnemic.core.uninterrupted import import_whole
from mnemic.strategies.knowledge import MergeDecision, MergeOp, Merging, StatedFact


def merge_ops(given: Merging) -> tuple[MergeDecision, ...]:
    """Decide for each new fact, in order; what an earlier one says in the same words is not kept twice."""
    decided: list[MergeDecision] = []
    for place, fact in enumerate(given.new):
        op, old = _decided(fact, given.old)
        if op is MergeOp.ADD and any(_same(fact, before) for before in given.new[:place]):
            op = MergeOp.NOOP
        decided.append(MergeDecision(new=place, op=op, old=old, text=fact.text))
    return tuple(decided)


def wording_digest(text: str) -> str:
    """Hash the words of a text, whatever their case, accents and punctuation: equal for what is worded alike.

    As a tag it is looked up by index, however many facts there are.
    """
    return blake2b(" ".join(words(text)).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _decided(fact: StatedFact, facts: tuple[StatedFact, ...]) -> tuple[MergeOp, int | None]:
    for place, old in enumerate(facts):
        if _same(fact, old):
            return MergeOp.NOOP, place
    for place, old in enumerate(facts):
        if _is_over(old, fact):
            return MergeOp.DELETE, place
    return MergeOp.ADD, None


def _same(fact: StatedFact, other: StatedFact) -> bool:
    """Whether two facts say the same, in the same order of words or as the same value of a slot."""
    if fact.ended is not other.ended:
        return False
    return _fills(fact, other, same_value=True) or tokenise(fact.text) == tokenise(other.text)


def _is_over(old: StatedFact, fact: StatedFact) -> bool:
    """Whether an old fact holds no longer because of a new one; what began earlier does not end what began later."""
    if old.since is not None and fact.since is not None and fact.since < old.since:
        return False
    if old.ended is not fact.ended:
        return _fills(old, fact, same_value=True)
    import_whole("mnemic.extract.slots")
    from mnemic.extract.slots import is_single

    return not fact.ended and is_single(fact.slot) and _fills(old, fact, same_value=False)


def _fills(fact: StatedFact, other: StatedFact, *, same_value: bool) -> bool:
    """Whether two facts are of one slot of one subject, with the same value or with another."""
    import_whole("mnemic.extract.entities")
    from mnemic.extract.entities import canonical

    if not fact.slot or fact.slot != other.slot or canonical(fact.subject) != canonical(other.subject):
        return False
    return (canonical(fact.value) == canonical(other.value)) is same_value

"""Tell by rule which facts say the same, and which cannot both hold: only what is certain."""

from __future__ import annotations

from typing import Final

from mnemic.core.tokens import tokenise
from mnemic.core.uninterrupted import import_whole
from mnemic.strategies.knowledge import FactMatch, FactMatching, Triple

SYMMETRIC: Final = frozenset(
    {
        *("partner", "spouse", "friend", "sibling", "married", "married to", "is married to", "are married to"),
        *("is engaged to", "is a friend of", "friends with", "is friends with", "lives with", "works with"),
        *("朋友", "同事", "结婚", "认识"),
    }
)
"""Relations that hold the other way round too."""


def fact_matches(given: FactMatching) -> tuple[FactMatch, ...]:
    """Match each new fact with the known ones and the new ones before it, in order."""
    every = (*given.old, *given.new)
    matches: list[FactMatch] = []
    for place in range(len(given.old), len(every)):
        fact, before = every[place], every[:place]
        same = tuple(n for n, other in enumerate(before) if _says_the_same(fact, other))
        over = tuple(n for n, other in enumerate(before) if n not in same and _excludes(fact, other))
        matches.append(FactMatch(same=same, over=over))
    return tuple(matches)


def may_exclude(fact: Triple, other: Triple) -> bool:
    """Whether two facts are about the same at all: one subject, one object, or the same two the other way round.

    What shares less cannot contradict: Graphiti lets a model end any fact that a search brought.
    """
    (subject, thing), (other_subject, other_thing) = _ends(fact), _ends(other)
    return subject == other_subject or thing == other_thing or (subject, thing) == (other_thing, other_subject)


def joins_same(fact: Triple, other: Triple) -> bool:
    """Whether two facts relate the same two names, either way round."""
    ends, others = _ends(fact), _ends(other)
    return ends in (others, others[::-1])


def _says_the_same(fact: Triple, other: Triple) -> bool:
    ends, others = _ends(fact), _ends(other)
    if not joins_same(fact, other):
        return False
    if tokenise(fact.fact) == tokenise(other.fact):
        return True
    relation = fact.predicate.casefold()
    return relation == other.predicate.casefold() and (ends == others or relation in SYMMETRIC)


def _excludes(fact: Triple, other: Triple) -> bool:
    """Whether both fill a slot that holds one value at a time."""
    import_whole("mnemic.extract.slots")
    from mnemic.extract.slots import is_single

    relation, ((subject, _), (other_subject, _)) = fact.predicate.casefold(), (_ends(fact), _ends(other))
    return relation == other.predicate.casefold() and subject == other_subject and is_single(relation)


def _ends(fact: Triple) -> tuple[str, str]:
    import_whole("mnemic.extract.entities")
    from mnemic.extract.entities import canonical

    return canonical(fact.subject), canonical(fact.object)

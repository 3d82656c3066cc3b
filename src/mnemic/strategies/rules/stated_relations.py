"""Find by rule what passages relate to what: slots of the speaker's profile first, then names and the words between."""

from __future__ import annotations

from datetime import datetime

from mnemic.core.uninterrupted import import_whole
from mnemic.strategies.knowledge import Passage, Passages, StatedFact, Triple
from mnemic.strategies.rules.stated_facts import slot_facts
from mnemic.strategies.rules.triples import triples


def stated_relations(passages: Passages) -> tuple[Triple, ...]:
    """Find the relations of passages, in order; the relation of a slot is its name, so that one value can end another.

    What is so no longer is a relation with an end, at the time named or else when it was said. Two names that a slot
    relates are not related again by the words between them, and none by what a sentence supposes.
    """
    import_whole("mnemic.extract.entities", "mnemic.extract.slots")
    from mnemic.extract.entities import canonical
    from mnemic.extract.slots import is_supposed

    slots = [_relation(fact, passages[fact.source[0]]) for fact in slot_facts(passages)]
    filled = {(triple.source, canonical(triple.subject), canonical(triple.object)) for triple in slots}
    others = (triple for triple in triples(passages) if triple.subject and triple.object)
    rest = [
        triple
        for triple in others
        if (triple.source, canonical(triple.subject), canonical(triple.object)) not in filled
        and not is_supposed(triple.fact)
    ]
    return tuple(sorted((*slots, *rest), key=lambda triple: triple.source))


def _relation(fact: StatedFact, passage: Passage) -> Triple:
    since: datetime | None = None if fact.ended else fact.since
    until = (fact.since or passage.said) if fact.ended else fact.until
    return Triple(
        subject=fact.subject,
        predicate=fact.slot,
        object=fact.value,
        fact=fact.text,
        source=fact.source[0],
        since=since,
        until=until,
    )

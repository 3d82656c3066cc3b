"""The facts that passages state, by rule: what people say of their profile, and their own sentences that matter."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from mnemic.core.clock import micros, moment
from mnemic.core.uninterrupted import import_whole
from mnemic.strategies.knowledge import Passage, Passages, StatedFact
from mnemic.strategies.rules.importance_score import importance_scores

WORTH: Final = 4
"""Importance from which a sentence is kept as a fact."""
SOMEBODY: Final = "user"
"""Who speaks where nobody is named."""
_NAMELESS: Final = ("user", "the user", "用户")
"""What models call them."""


def slot_facts(passages: Passages) -> tuple[StatedFact, ...]:
    """Find what people state about themselves, in the order they say it; what a machine says is no person's profile."""
    return tuple(fact for place, passage in enumerate(passages) for _, fact in _slots(place, passage))


def stated_facts(passages: Passages) -> tuple[StatedFact, ...]:
    """Find the facts of passages: slots of a profile, and sentences that matter, with who says them.

    They come in the order in which they were said last: what was so before something else, and is so again, is so now.
    """
    facts: dict[str, StatedFact] = {}
    for place, passage in enumerate(passages):
        slots = _slots(place, passage)
        for _, fact in sorted(slots + _sentences(place, passage, slots), key=lambda placed: placed[0]):
            before = facts.pop(fact.text, fact)
            source = tuple(dict.fromkeys((*before.source, *fact.source)))
            facts[fact.text] = replace(fact, source=source, since=fact.since or before.since)
    return tuple(facts.values())


def slotted(fact: StatedFact, passages: Passages) -> StatedFact:
    """Put a fact under the slot that it fills, if it says one thing of who speaks in a passage that it cites.

    "Ada lives in Porto." is read as Ada would say it, so that rules tell what cannot hold beside it.
    """
    import_whole("mnemic.extract.patterns", "mnemic.extract.slots", "mnemic.extract.third_person")
    from mnemic.extract.patterns import SlotAct
    from mnemic.extract.slots import slots
    from mnemic.extract.third_person import as_said_by

    for passage in (passages[place] for place in fact.source):
        subject = passage.speaker or SOMEBODY
        own = as_said_by(fact.text, (subject,) if passage.speaker else _NAMELESS)
        if own == fact.text:
            continue
        said = 0 if passage.said is None else micros(passage.said)
        findings = slots(own, subject, said, passage.said_offset)
        if len(findings) == 1 and findings[0].slot and findings[0].value and findings[0].act is not SlotAct.CORRECTS:
            only = findings[0]
            ended = only.act is SlotAct.ENDS
            return replace(fact, subject=subject, slot=only.slot, value=str(only.value), ended=ended)
    return fact


def _slots(place: int, passage: Passage) -> list[tuple[int, StatedFact]]:
    """The slots that a passage states, each with where its sentence begins."""
    import_whole("mnemic.extract.patterns", "mnemic.extract.phrasing", "mnemic.extract.slots")
    import_whole("mnemic.extract.speakers")
    from mnemic.extract.patterns import SlotAct
    from mnemic.extract.phrasing import phrased
    from mnemic.extract.slots import slots
    from mnemic.extract.speakers import is_machine

    subject = passage.speaker or SOMEBODY
    if is_machine(subject):
        return []
    said = 0 if passage.said is None else micros(passage.said)
    facts: list[tuple[int, StatedFact]] = []
    for each in slots(passage.text, subject, said, passage.said_offset):
        if not each.slot or each.value == "":
            continue  # only who knows the profile can tell what this is about
        ended, value = each.act is SlotAct.ENDS, str(each.value)
        fact = StatedFact(
            text=phrased(each.slot, value, subject, each.text, ended=ended),
            source=(place,),
            subject=subject,
            slot=each.slot,
            value=value,
            since=moment(each.since.start) if each.since is not None and passage.said is not None else None,
            ended=ended,
        )
        facts.append((each.start, fact))
    return facts


def _sentences(place: int, passage: Passage, slots: list[tuple[int, StatedFact]]) -> list[tuple[int, StatedFact]]:
    """The sentences of a passage that matter and say more than the slots they fill, each with where it begins."""
    import_whole("mnemic.extract.entities", "mnemic.extract.sentences", "mnemic.extract.speakers")
    from mnemic.extract.entities import entities
    from mnemic.extract.sentences import sentences
    from mnemic.extract.speakers import is_machine

    if is_machine(passage.speaker):
        return []
    facts: list[tuple[int, StatedFact]] = []
    for sentence in sentences(passage.text):
        written = " ".join(passage.text[sentence.start : sentence.start + len(sentence.low)].split())
        filled = [fact.text for start, fact in slots if start == sentence.start]
        if sentence.asks or (filled and all(name.name in " ".join(filled) for name in entities(written))):
            continue
        (score,) = importance_scores((replace(passage, text=written),))
        if score >= WORTH:
            text = f"{passage.speaker}: {written}" if passage.speaker else written
            facts.append((sentence.start, StatedFact(text=text, source=(place,))))
    return facts

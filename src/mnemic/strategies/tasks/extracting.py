"""Take out of passages what they state: facts, triples, slots of a profile."""

from __future__ import annotations

from typing import Any, Final

from mnemic.core.json_schema import flag, many, shape, text, whole
from mnemic.models.chat.soundness import Unfit
from mnemic.strategies.judging import JudgeTask
from mnemic.strategies.knowledge import Passages, StatedFact, Triple
from mnemic.strategies.rules.stated_facts import SOMEBODY, slot_facts, slotted, stated_facts
from mnemic.strategies.rules.triples import triples
from mnemic.strategies.showing import block, numbered, spoken_by
from mnemic.strategies.tasks.answers import cited, held, one_line, places, reasoned, short

_NAME: Final = 120
"""Most characters of a name, a relation or the value of a slot."""
_SLOT: Final = 40


def shown_passages(passages: Passages, title: str = "Passages") -> str:
    """Lay out passages under their handles; "" if there are none."""
    return block(title, numbered(map(spoken_by, passages))) if passages else ""


def _facts(passages: Passages, answer: Any) -> tuple[StatedFact, ...]:
    facts: list[StatedFact] = []
    for fact in answer["facts"]:
        source = places(fact["from"], len(passages))
        since, until = held(fact, passages[source[0]].said_offset)
        stated = StatedFact(text=one_line(fact["text"]), source=source, since=since, until=until)
        facts.append(slotted(stated, passages))
    return tuple(facts)


EXTRACT_ITEMS: Final = JudgeTask(
    id="extract_items",
    schema=reasoned(
        facts=many(shape({"text": short(), "from": cited(), "since": text(), "until": text()}), maxItems=32)
    ),
    show=shown_passages,
    sound=_facts,
    rules=stated_facts,
    limit=2048,
)
"""Statements worth keeping, each standing for itself."""


def _triples(passages: Passages, answer: Any) -> tuple[Triple, ...]:
    triples: list[Triple] = []
    for triple in answer["triples"]:
        (source,) = places([triple["from"]], len(passages))
        since, until = held(triple, passages[source].said_offset)
        triples.append(
            Triple(
                subject=one_line(triple["subject"]),
                predicate=one_line(triple["predicate"]),
                object=one_line(triple["object"]),
                fact=one_line(triple["fact"]),
                source=source,
                since=since,
                until=until,
            )
        )
    return tuple(triples)


EXTRACT_TRIPLES: Final = JudgeTask(
    id="extract_triples",
    schema=reasoned(
        triples=many(
            shape(
                {
                    **{part: short(_NAME) for part in ("subject", "predicate", "object")},
                    "fact": short(),
                    "from": whole(low=1),
                    "since": text(),
                    "until": text(),
                }
            ),
            maxItems=32,
        )
    ),
    show=shown_passages,
    sound=_triples,
    rules=triples,
    limit=2048,
)
"""Who or what is related to whom or what, and how."""


def _slots(passages: Passages, answer: Any) -> tuple[StatedFact, ...]:
    facts: list[StatedFact] = []
    for each in answer["slots"]:
        source = places(each["from"], len(passages))
        named = {part: one_line(each[part]) for part in ("subject", "slot", "value")}
        if not _is_named(named["subject"], passages):
            raise Unfit(f"nobody is called {named['subject']!r} in the data")
        slot = named["slot"].casefold().replace(" ", "_")
        ended = bool(each["ended"])
        statement = f"{named['subject']}: {named['slot']}: {named['value']}"
        text = f"{statement} (no longer)" if ended else statement
        facts.append(
            StatedFact(text=text, source=source, subject=named["subject"], slot=slot, value=named["value"], ended=ended)
        )
    return tuple(facts)


def _is_named(subject: str, passages: Passages) -> bool:
    """Whether passages name whom a profile is of, or leave them without a name."""
    texts = (f"{passage.speaker}\n{passage.text}".casefold() for passage in passages)
    return subject.casefold() == SOMEBODY or any(subject.casefold() in text for text in texts)


EXTRACT_SLOTS: Final = JudgeTask(
    id="extract_slots",
    schema=reasoned(
        slots=many(
            shape(
                {"subject": short(_NAME), "slot": short(_SLOT), "value": short(_NAME), "from": cited(), "ended": flag()}
            ),
            maxItems=32,
        )
    ),
    show=shown_passages,
    sound=_slots,
    rules=slot_facts,
)
"""What passages say of somebody's profile, slot by slot."""

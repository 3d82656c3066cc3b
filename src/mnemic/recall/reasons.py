"""Reasons for each hit, for a person to read: the words it holds, its date, its speaker, the links that led to it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mnemic.core.clock import moment
from mnemic.core.names import Naming, called, keys, name_token, names
from mnemic.index.columns import Column
from mnemic.recall.fuse import MARKS
from mnemic.recall.gather import NEAR
from mnemic.recall.understand import rejoined_each

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

    from numpy.typing import NDArray

    from mnemic.core.items import Item
    from mnemic.core.queries import Hit
    from mnemic.index.reading import Reading
    from mnemic.recall.understand import Question
    from mnemic.recall.walk import Trails
    from mnemic.store.engine.snapshot import Snapshot


def explained(question: Question, readings: Mapping[int, Reading], hits: list[Hit], nearest: float) -> list[Hit]:
    """Add to each hit its reasons. `nearest`: the greatest component `dense` of any candidate."""
    told: dict[tuple[int, int], list[str]] = {}
    for reading in readings.values():
        here = [hit for hit in hits if hit.space == reading.space]
        if here:
            told.update(
                zip(((hit.space, hit.doc) for hit in here), _reasons(question, reading, here, nearest), strict=True)
            )
    return [replace(hit, reasons=(*hit.reasons, *told[hit.space, hit.doc])) for hit in hits]


def traced(
    hits: list[Hit], trails: Mapping[int, Trails], readings: Mapping[int, Reading], snapshot: Snapshot
) -> list[Hit]:
    """Add to each hit that the link walk reached the name that led to it."""
    steps = {
        (hit.space, hit.doc): (step, hit.ver, readings[hit.space].value(Column.VER, step.source))
        for hit in hits
        if hit.space in trails and (step := trails[hit.space].to(hit.doc))
    }
    vers = {(space, ver) for (space, _), (_, *both) in steps.items() for ver in both}
    items: dict[tuple[int, int], Item] = {}
    for space in {space for space, _ in vers}:
        found = snapshot.versions(space, sorted(ver for at, ver in vers if at == space))
        items |= {(space, ver): version.item for ver, version in found.items()}
    told = {
        (space, place): _linked(items[space, source], items[space, target], step.name)
        for (space, place), (step, target, source) in steps.items()
        if {(space, source), (space, target)} <= items.keys()
    }
    asked = {(hit.space, hit.doc) for hit in hits if hit.space in trails and trails[hit.space].asked[hit.doc]}
    reasons = [
        (*(["the question names it"] if at in asked else []), *([told[at]] if at in told else []))
        for at in ((hit.space, hit.doc) for hit in hits)
    ]
    return [replace(hit, reasons=(*hit.reasons, *why)) for hit, why in zip(hits, reasons, strict=True)]


def _linked(source: Item, target: Item, name: int) -> str:
    """How two items are linked by a name, which is written in one of them or is what one of them is called."""
    own, other = called(source), called(target)
    spelt = next((n for n in (*other, *own, *names(source.text)) if name in _mentioned(n)), "")
    label = own[0] if own else " ".join(source.text.split()[:6])
    if name in _mentioned(*other):
        return f"linked from {label!r}: it names {spelt!r}"
    return (
        f"names {spelt!r}, which was found"
        if name in _mentioned(*own)
        else f"linked from {label!r}: both name {spelt!r}"
    )


def _mentioned(*spelt: str) -> list[int]:
    return [name_token(key, Naming.MENTION) for key in keys(spelt)]


def _reasons(question: Question, reading: Reading, hits: list[Hit], nearest: float) -> Iterator[list[str]]:
    """Of each hit of one reading: all hits at once, word by word."""
    places = np.array([hit.doc for hit in hits])
    around = np.column_stack((places, reading.neighbours(places)))
    own: list[list[str]] = [[] for _ in hits]
    near: list[list[str]] = [[] for _ in hits]
    for term in question.terms:  # a name too, though it may not have been looked for
        for i, (holds, *beside) in enumerate(reading.holds(term.text, around).tolist()):
            if holds:
                own[i].append(term.word)
            elif any(beside):
                near[i].append(term.word)
    dated = _named(reading, places, [(term.word, term.date) for term in (*question.terms, *question.timed)])
    spoken = _named(reading, places, [(term.name, term.speaker) for term in question.names])
    own, near, spoken = rejoined_each(own), rejoined_each(near), rejoined_each(spoken)
    said = reading.values(Column.SAID, places).tolist()
    close = min(NEAR * MARKS["dense"], nearest / 2) if nearest > 0 else np.inf
    for i, hit in enumerate(hits):
        quoted = [p.text for p in question.phrases if reading.says(hit.doc, p.hashes)]
        told = [
            f"says {', '.join(quoted)!r}" if quoted else "",
            f"holds {', '.join(own[i])}" if own[i] else "",
            f"beside {', '.join(near[i])}" if near[i] else "",
            "close in meaning" if hit.components.get("dense", 0.0) >= close else "",
            f"dated {', '.join(dated[i])}" if dated[i] else "",
            f"said by {', '.join(spoken[i])}" if spoken[i] else "",
            *_times(question, said[i], hit.components),
        ]
        yield [reason for reason in told if reason]


def _named(reading: Reading, places: NDArray[np.intp], tokens: list[tuple[str, int]]) -> list[list[str]]:
    """For each place, the words whose tokens it holds."""
    held = [(word, reading.holds(token, places)) for word, token in tokens]
    return [[word for word, holds in held if holds[i]] for i in range(len(places))]


def _times(question: Question, said: int, matched: Container[str]) -> list[str]:
    inside = [span.text for span in question.spans if span.start <= said < span.end]
    told = [f"said {moment(said):%Y-%m-%d}, within {inside[0]!r}"] if inside else []
    if "mention" in matched:
        told.append(f"its words may speak of {', '.join(repr(span.text) for span in question.spans)}")
    return told

"""Why a hit is here, in words a person can read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mnemic.core.clock import moment
from mnemic.index.columns import Column

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mnemic.core.queries import Hit
    from mnemic.index.reading import Reading
    from mnemic.recall.understand import Question


def explained(question: Question, readings: Mapping[int, Reading], hits: list[Hit]) -> list[Hit]:
    """The same hits, each with its reasons."""
    wanted = frozenset(value for term in question.terms for value in (term.text, term.speaker, term.date))
    return [replace(hit, reasons=(*hit.reasons, *_reasons(question, wanted, readings[hit.space], hit))) for hit in hits]


def _reasons(question: Question, wanted: frozenset[int], reading: Reading, hit: Hit) -> list[str]:
    held = wanted.intersection(reading.stream(hit.doc).tolist())
    beside = (reading.stream(place).tolist() for place in reading.neighbours(hit.doc))
    around = frozenset[int]().union(*map(wanted.intersection, beside))
    own = [term.word for term in question.terms if term.text in held]
    near = [term.word for term in question.terms if term.text in around - held]
    dated = [term.word for term in question.terms if term.date in held]
    spoken = [term.word for term in question.names if term.speaker in held]
    quoted = [p.text for p in question.phrases if reading.says(hit.doc, p.hashes)]
    told = [
        f"says {', '.join(quoted)!r}" if quoted else "",
        f"holds {_read(own)}" if own else "",
        f"beside {_read(near)}" if near else "",
        f"dated {', '.join(dated)}" if dated else "",
        f"said by {', '.join(spoken)}" if spoken else "",
        *_times(question, reading.value(Column.SAID, hit.doc), "time" in hit.components),
    ]
    return [reason for reason in told if reason]


def _read(words: list[str]) -> str:
    """Words as a person would list them: the pairs of an unspaced script joined again, without their characters."""
    joined: list[str] = []
    for word in words:
        if joined and len(word) <= 2 and word > "\u0e00" and word[0] in joined[-1][-2:]:
            joined[-1] += word[1:] if joined[-1][-1] == word[0] else ""
        else:
            joined.append(word)
    return ", ".join(joined)


def _times(question: Question, said: int, timely: bool) -> list[str]:
    if not timely:
        return []
    inside = [span.text for span in question.spans if span.start <= said < span.end]
    return [f"said {moment(said):%Y-%m-%d}, within {inside[0]!r}"] if inside else ["speaks of the time asked about"]

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
    return [replace(hit, reasons=(*hit.reasons, *_reasons(question, readings[hit.space], hit))) for hit in hits]


def _reasons(question: Question, reading: Reading, hit: Hit) -> list[str]:
    held = set(reading.stream(hit.doc).tolist())
    around = {token for place in reading.neighbours(hit.doc) for token in reading.stream(place).tolist()}
    own = [t.word for t in question.terms if t.text in held]
    near = [t.word for t in question.terms if t.text in around and t.word not in own]
    dated = [t.word for t in question.terms if t.date in held]
    spoken = [t.word for t in question.names if t.speaker in held]
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

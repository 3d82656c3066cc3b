"""`read`: long texts read for a question, segment by segment; stopping it and running it again is fine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from mnemic.core.ids import ALPHABET, ItemId
from mnemic.errors import Invalid
from mnemic.faces.cli.bars import progress
from mnemic.faces.cli.command import WORDS, verb
from mnemic.faces.cli.invocation import argument_text, invocation
from mnemic.faces.cli.output import Output, flat, many, plain

if TYPE_CHECKING:
    from mnemic.long_reading import EvidencePlace, LongReading, ReadingProgress
    from mnemic.memory import ScopedMemory

_WHOLE_ID: Final = 26


@verb(
    'mnemic read "which city does she live in?" notes.md',
    'mnemic read "他住在哪里？" notes.md talk.txt --json',
    'mnemic read "what did we plan?" --from trip --notes 512',
    'cat talk.txt | mnemic read "who is travelling?" -',
    says={"session": "from", "ids": "from"},
)
@click.argument("question", type=WORDS)
@click.argument("files", metavar="FILE...", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--from", "origin", type=WORDS, metavar="SESSION|ID", help="Read a session or document of this memory.")
@click.option("--notes", type=int, metavar="TOKENS", help="Most tokens of the notes (left out: 1,024).")
@click.option("--segment", type=int, metavar="TOKENS", help="Tokens that are read at once (left out: 5,000).")
def read(question: str, files: tuple[Path, ...], origin: str | None, notes: int | None, segment: int | None) -> None:
    """Read files of any length for a question, segment by segment, with cited notes.

    The notes have a fixed size, and each segment overwrites them (MemAgent): with a language model (setting `model`)
    one call a segment and one for the answer; without one, rules choose sentences. A FILE is any that import reads, and
    `-` is standard input.

    Stopped, or cut short by a model that failed, it goes on where it was when it is run again. The notes are kept as an
    item: `mnemic history ID` shows how they grew.
    """
    run = invocation()
    asked = argument_text(question, run.settings)
    if str(question) == "-" and any(str(file) == "-" for file in files):
        raise Invalid("files", "and the question are both standard input", "Give one of them otherwise.")
    sources = [sys.stdin.buffer if str(file) == "-" else file for file in files]
    with run.user_memory(create=True) as me, progress(run, unit="bytes") as report:

        def moved(reached: ReadingProgress) -> None:
            report("read", reached.taken, reached.total)

        reading = me.read(asked, *sources, **_from(me, origin), notes=notes, segment=segment, progress=moved)
    if run.output.json:
        run.output.document(_record(reading))
    else:
        _print_reading(run.output, reading)


def _from(me: ScopedMemory, origin: str | None) -> dict[str, Any]:
    """What of this memory is to be read: what has the form of an id is one, anything else names a session."""
    if origin is None:
        return {}
    typed = origin.strip().lower()
    is_id = len(typed) == _WHOLE_ID and set(typed) <= set(ALPHABET)
    return {"ids": (ItemId(typed),)} if is_id else {"session": origin}


def _print_reading(output: Output, reading: LongReading) -> None:
    output.line(output.bold(plain(reading.answer)) if reading.known else "The notes do not hold an answer.")
    for place in reading.evidence:
        output.line(f"   {flat(place.quote)}")
        output.line(output.dim(f"   {_place(place)}"))
    steps = ", ".join(f"{by} {count:,}" for by, count in sorted(reading.judged.items()))
    resumed = f"; {many(reading.resumed, 'segment')} had been read before" if reading.resumed else ""
    output.line(
        output.dim(
            f"{many(reading.tokens, 'token')} in {many(reading.segments, 'segment')}, "
            f"{many(len(reading.notes), 'note')}; "
            f"judged by: {steps}{resumed}"
        )
    )
    for skipped in reading.skipped:
        output.note(f"skipped {plain(skipped.where)}: {plain(skipped.why)}")
    output.note(f"notes: mnemic show {reading.id}")


def _place(place: EvidencePlace) -> str:
    part = f", {place.part}" if place.part else ""
    return plain(f"{place.source}{part}, characters {place.start:,} to {place.end:,}, segment {place.segment}")


def _record(reading: LongReading) -> dict[str, Any]:
    def places(some: tuple[EvidencePlace, ...]) -> list[dict[str, Any]]:
        return [{name: getattr(part, name) for name in part.__slots__} for part in some]

    return {
        "id": reading.id,
        "seq": reading.seq,
        "known": reading.known,
        "answer": reading.answer,
        "evidence": places(reading.evidence),
        "notes": [{"text": note.text, "evidence": places(note.evidence)} for note in reading.notes],
        "tokens": reading.tokens,
        "segments": reading.segments,
        "resumed": reading.resumed,
        "judged": dict(reading.judged),
        "skipped": [{"where": part.where, "why": part.why} for part in reading.skipped],
    }

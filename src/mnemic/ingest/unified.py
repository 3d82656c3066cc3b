"""Read the unified JSON lines of benchmark data: `doc` lines are remembered, `query` lines pass by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from mnemic.core.items import Kind
from mnemic.ingest.chat_json import records
from mnemic.ingest.intake import Intake, Options, RawRecord
from mnemic.ingest.message import Message, Skipped
from mnemic.ingest.source import Source


def read_unified(source: Source, options: Options) -> Iterator[Message | Skipped]:
    """One message for each `doc` line; a passage whose session is its speaker is a document of that title.

    The data name no zone: their times are UTC unless the options name one. Sessions of several
    conversations are kept apart (`conv-26/S1`).

    Raises:
        Invalid: none of the first 20 lines is a JSON object.
    """
    intake = Intake("unified", replace(options, zone=options.zone or "UTC"))
    for number, record in records(source, options):
        where = f"line {number}"
        if isinstance(record, Skipped):
            yield record
        elif record.get("type") == "doc":
            yield intake.take(_raw_record(record, where, f"line-{number}"))
        elif record.get("type") != "query":
            yield Skipped(where=where, why="is neither a `doc` nor a `query`")


def _raw_record(record: Mapping[str, object], where: str, place: str) -> RawRecord:
    ns, session, speaker = record.get("ns"), record.get("session"), record.get("speaker")
    passage = not record.get("ts") and session == speaker
    return RawRecord(
        where=where,
        place=place,
        text=record.get("text"),
        id=record.get("id"),
        conversation=ns,
        time=record.get("ts"),
        session=f"{ns}/{session}" if session else ns,
        kind=Kind.DOCUMENT if passage else Kind.TURN,
        slots={"title" if passage else "speaker": speaker, "conversation": ns},
    )

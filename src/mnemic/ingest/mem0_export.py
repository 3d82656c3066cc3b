"""Read what mem0 gives out: its memories, each a fact of one user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from mnemic.core.items import Kind
from mnemic.ingest.intake import Intake, Options, RawRecord
from mnemic.ingest.jsonio import elements
from mnemic.ingest.message import Message, Skipped
from mnemic.ingest.source import Source

_LISTS: Final = ("results", "memories", "data")
_USED: Final = frozenset({"id", "memory", "user_id", "agent_id", "run_id", "categories", "metadata", "expiration_date"})


def read_mem0(source: Source, options: Options) -> Iterator[Message | Skipped]:
    """One fact for each memory of `get_all` or an export: a list, or an object with `results` or `memories`.

    It was said when it was last updated, for its words are those of the update. `user_id` is its user, `agent_id` its
    agent, `run_id` its session, its categories are tags, and with its `expiration_date` it expires; all else goes into
    the slot `metadata`.

    Raises:
        Invalid: the file is not JSON from here on.
    """
    intake = Intake("mem0", options)
    number = 0
    for element in elements(source):
        for record in _records(element):
            number += 1
            if isinstance(record, Mapping):
                yield intake.take(_raw_record(record, number))
            else:
                yield Skipped(where=f"memory {number}", why=f"is {type(record).__name__}, not an object")


def _records(element: object) -> list[object]:
    inner = next((element[name] for name in _LISTS if name in element), None) if isinstance(element, Mapping) else None
    return inner if isinstance(inner, list) else [element]


def _raw_record(record: Mapping[str, object], number: int) -> RawRecord:
    metadata = record.get("metadata")
    others = {name: value for name, value in record.items() if name not in _USED and value is not None}
    return RawRecord(
        where=f"memory {number}",
        place=f"memory-{number}",
        text=record.get("memory"),
        id=record.get("id"),
        time=record.get("updated_at") or record.get("created_at"),
        session=record.get("run_id"),
        agent=record.get("agent_id"),
        user=record.get("user_id"),
        tags=record.get("categories"),
        expires=record.get("expiration_date"),
        kind=Kind.FACT,
        slots={"metadata": {**(metadata if isinstance(metadata, Mapping) else {}), **others}},
    )

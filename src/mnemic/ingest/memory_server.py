"""Read the file of the reference memory server: entities with what was observed of them, and their relations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Final

from mnemic.core.items import Kind
from mnemic.ingest.chat_json import records
from mnemic.ingest.intake import Intake, Options, RawRecord, key_of
from mnemic.ingest.message import Edge, Message, Skipped
from mnemic.ingest.source import Source

ABOUT: Final = "about"
"""The tie from an observation to its entity."""

_SOURCE: Final = "memory-server"


def read_graph(source: Source, options: Options) -> Iterator[Message | Edge | Skipped]:
    """An entity for each `entity` line, a fact for each of its observations, tied to it by `about`.

    A `relation` line is a tie between two entities, and a fact that says it in words, so that recall can find it. The
    entity's name is the `title` of what was observed, its type a tag. Nothing in the file says when.

    Raises:
        Invalid: none of the first 20 lines is a JSON object.
    """
    intake = Intake(_SOURCE, options)
    name = options.source or _SOURCE
    for number, record in records(source, options):
        where = f"line {number}"
        if isinstance(record, Skipped):
            yield record
        elif record.get("type") == "entity":
            yield from _entity(record, where, intake, name)
        elif record.get("type") == "relation":
            yield from _relation(record, where, intake, name)
        else:
            yield Skipped(where=where, why="is neither an `entity` nor a `relation`")


def _entity(
    record: Mapping[str, object], where: str, intake: Intake, source: str
) -> Iterator[Message | Edge | Skipped]:
    name, kind = record.get("name"), record.get("entityType")
    text = f"{name} ({kind})" if kind else name
    entity = intake.take(
        RawRecord(
            where=where,
            place=_digest(name),
            text=text if isinstance(name, str) and name.strip() else None,
            conversation="entity",
            kind=Kind.ENTITY,
            slots={"title": name, "entity": name, "entity_type": kind},
        )
    )
    yield entity
    if isinstance(entity, Skipped):
        return
    observations = record.get("observations")
    if not isinstance(observations, list):
        yield Skipped(where=where, why="its `observations` are no list")
        return
    for observation in dict.fromkeys(text if isinstance(text, str) else None for text in observations):
        fact = intake.take(
            RawRecord(
                where=where,
                place=_digest(name, observation),
                text=observation,
                conversation="observation",
                kind=Kind.FACT,
                slots={"title": name, "entity": name},
            )
        )
        yield fact
        if isinstance(fact, Message):
            yield Edge(src=fact.key, dst=_entity_key(source, name), type=ABOUT)


def _relation(
    record: Mapping[str, object], where: str, intake: Intake, source: str
) -> Iterator[Message | Edge | Skipped]:
    ends = src, dst, kind = record.get("from"), record.get("to"), record.get("relationType")
    if not all(isinstance(end, str) and end.strip() for end in ends):
        yield Skipped(where=where, why="a relation needs `from`, `to` and `relationType`")
        return
    fact = intake.take(
        RawRecord(
            where=where,
            place=_digest(src, kind, dst),
            text=f"{src} {str(kind).replace('_', ' ')} {dst}",
            conversation="relation",
            kind=Kind.FACT,
            slots={"entity": src, "relation": kind, "to": dst},
        )
    )
    yield fact
    if isinstance(fact, Message):
        yield Edge(src=_entity_key(source, src), dst=_entity_key(source, dst), type=str(kind))


def _entity_key(source: str, name: object) -> str:
    return key_of(source, "entity", _digest(name))


def _digest(*parts: object) -> str:
    """Names of any length as a short one: a key has a limit, and must not change when the order of lines does."""
    joined = "\x1f".join(map(str, parts))
    return blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

"""A year of somebody's life, invented: the conversation that the demo remembers, its facts, and questions about it.

Ada talks to her assistant Mnemo in ten sessions from February 2025 to January 2026, six in English and four in
Chinese. She changes city, job, diet and more, and often says so later than it happened. All of it is our own writing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import as_file, files
from typing import Final

from mnemic.ingest import Message, read
from mnemic.ingest.jsonio import parse

USER: Final = "ada"
"""Whose conversation it is."""

SOURCE: Final = "demo"
"""First part of every key: the third turn of the first session is `demo:s01:3`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Something the conversation states, to be written beside it.

    Attributes:
        key: Its import key, such as `demo:fact:city-2`.
        said: When Ada said it (aware).
        valid_from: When it became true in the world (aware); None means when it was said.
        supersedes: Key of the fact that it takes the place of, or None.
        source: Keys of the turns that say so.
    """

    key: str
    text: str
    said: datetime
    valid_from: datetime | None
    supersedes: str | None
    source: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoQuestion:
    """Something to ask of the memory.

    Attributes:
        language: "en" or "zh", the language of the question and of its evidence.
        gold: Keys of the turns that answer it.
        as_of: The date it is asked about (aware); None means now.
    """

    id: str
    language: str
    text: str
    answer: str
    gold: tuple[str, ...]
    as_of: datetime | None


def conversation() -> tuple[Message, ...]:
    """The 135 turns, in the order they were said."""
    with as_file(files(__name__) / "conversation.jsonl") as path:
        return tuple(turn for turn in read(path, "jsonl", source=SOURCE) if isinstance(turn, Message))


def facts() -> tuple[Fact, ...]:
    """The ten facts, in the order they were said; each comes after the one it supersedes."""
    statements = (
        Fact(
            key=_text(line, "key"),
            text=_text(line, "text"),
            said=datetime.fromisoformat(_text(line, "said")),
            valid_from=_when(line, "valid_from"),
            supersedes=_text(line, "supersedes") if line["supersedes"] else None,
            source=_texts(line, "source"),
        )
        for line in _lines("facts.jsonl")
    )
    return tuple(sorted(statements, key=lambda fact: fact.said))


def questions() -> tuple[DemoQuestion, ...]:
    """Twelve questions in English, then twelve in Chinese, seven of them as of an earlier date."""
    return tuple(
        DemoQuestion(
            id=_text(line, "id"),
            language=_text(line, "language"),
            text=_text(line, "text"),
            answer=_text(line, "answer"),
            gold=_texts(line, "gold"),
            as_of=_when(line, "as_of"),
        )
        for line in _lines("questions.jsonl")
    )


def _lines(name: str) -> Iterator[Mapping[str, object]]:
    for line in (files(__name__) / name).read_bytes().splitlines():
        record = parse(line)
        if not isinstance(record, Mapping):
            raise TypeError(f"{name} holds {record!r}")
        yield record


def _text(line: Mapping[str, object], field: str) -> str:
    return str(line[field])


def _texts(line: Mapping[str, object], field: str) -> tuple[str, ...]:
    value = line[field]
    return tuple(str(text) for text in value) if isinstance(value, list) else ()


def _when(line: Mapping[str, object], field: str) -> datetime | None:
    return datetime.fromisoformat(_text(line, field)) if line[field] else None

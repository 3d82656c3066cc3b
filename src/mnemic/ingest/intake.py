"""What every reader does with a record it found: check it, name it, number it, or say why not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from mnemic.core.checking import clean_name, clean_text
from mnemic.core.items import Kind, Slot
from mnemic.errors import Invalid, TooLarge
from mnemic.ingest.jsonio import storable
from mnemic.ingest.message import Message, Skipped
from mnemic.ingest.source import Progress, Source
from mnemic.ingest.timestamps import said_at

INPUT_LIMIT: Final = 10 * 1024 * 1024
"""Bytes that one text may have unless the options say otherwise."""


_NAMES: Final = frozenset({"speaker", "role"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to read a source.

    Attributes:
        source: First part of every key; left out, the format's own choice (the format or the file's name).
        zone: Zone of times that carry none, such as `Europe/Lisbon`; without it such records are skipped.
        session: Session of records that name none.
        limit: Most bytes of one text, and of one record's slots; larger records are skipped.
        branches: Take in every branch of a conversation that was edited or asked again, not the last one only.
        tools: Take in what tools and the system said, and what a model thought, beside what was spoken.
        exclude: Patterns of names, or of paths within a folder or archive, that are left out.
        progress: Told how many bytes of the file have been read.
        own_zone: Zone of dates in front matter that carry none, where `zone` is not given: who writes notes is at home.
        assumed: Told that zone for each record that was read in it.
    """

    source: str | None = None
    zone: str | None = None
    session: str | None = None
    limit: int = INPUT_LIMIT
    branches: bool = False
    tools: bool = False
    exclude: tuple[str, ...] = ()
    progress: Progress | None = None
    own_zone: str = "UTC"
    assumed: Callable[[str], object] | None = None

    @property
    def line_limit(self) -> int:
        """Most bytes of one line: a text whose every character is escaped, and its slots, still fit."""
        return 4 * self.limit + 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class RawRecord:
    """One record as a reader found it, nothing checked yet.

    Attributes:
        where: Its place, for messages: "line 12".
        place: Its place, for the key of a record without id; never its content.
        id: The source's own id.
        conversation: Which of the source's conversations it belongs to, the middle part of its key.
        time: Whatever the source says about when it was said.
        zone: Zone of a time that carries none, where the options name none; None for a source that may be anybody's.
        expires: Whatever it says about when it is wanted no more.
    """

    where: str
    text: object
    place: str
    id: object = None
    conversation: object = None
    time: object = None
    zone: str | None = None
    session: object = None
    kind: Kind = Kind.TURN
    agent: object = None
    user: object = None
    tags: object = None
    expires: object = None
    slots: Mapping[str, object] = field(default_factory=dict)


class Intake:
    """One source's desk: remembers which ids went by and how far each session has come."""

    def __init__(self, source: str, options: Options, place: str = "") -> None:
        """A desk for `source`, whose own name gives way to that of the options.

        Args:
            place: The path of the file within the folder or archive that is read, part of each key.
        """
        self._source = clean_name("source", options.source or source)
        self._options = options
        self._place = place
        self._seen: dict[tuple[str | None, str], int] = {}
        self._positions: Counter[tuple[str | None, str | None]] = Counter()

    def take(self, record: RawRecord) -> Message | Skipped:
        """The message that `record` makes, or why it makes none."""
        try:
            return self._message(record)
        except Invalid as error:
            return Skipped(where=record.where, why=str(error))

    def _message(self, record: RawRecord) -> Message:
        text = clean_text("text", record.text, self._options.limit)
        user, session = _name("user", record.user), _name("session", record.session) or self._options.session
        message = Message(
            text=text,
            key=self._key(record),
            kind=record.kind,
            said=self._said(record),
            session=session,
            agent=_name("agent", record.agent),
            pos=self._positions[user, session],
            slots=self._slots({"path": self._place, **record.slots} if self._place else record.slots),
            tags=_tags(record.tags),
            user=user,
            expires=_end(record.expires, self._options.zone or "UTC"),
        )
        if record.id is not None:
            self._refuse_twin(message)
        self._positions[user, session] += 1
        return message

    def _said(self, record: RawRecord) -> datetime | None:
        try:
            return said_at(record.time, self._options.zone)
        except Invalid:
            if record.zone is None or self._options.zone is not None:
                raise
        said = said_at(record.time, record.zone)
        if self._options.assumed is not None:
            self._options.assumed(record.zone)
        return said

    def _key(self, record: RawRecord) -> str:
        conversation = "/".join(filter(None, (self._place, _name("conversation", record.conversation))))
        own_id = _name("id", record.id) or record.place
        return key_of(self._source, conversation, own_id)

    def _refuse_twin(self, message: Message) -> None:
        name, digest = (message.user, message.key), hash(message.text)
        before = self._seen.get(name)
        if before is not None:
            problem = "is repeated" if before == digest else "came before with another text"
            raise Invalid("id", f"{message.key} {problem}", "Give each message its own id.")
        self._seen[name] = digest

    def _slots(self, slots: Mapping[str, object]) -> Mapping[str, Slot]:
        clean = {name: storable(name, value) for name, value in slots.items() if value not in (None, "", [], {})}
        for name in _NAMES & clean.keys():
            clean_name(name, clean[name])
        size = len(json.dumps(clean, ensure_ascii=False).encode())
        if size > self._options.limit:
            raise TooLarge("metadata", f"has {size:,} bytes", f"The limit is {self._options.limit:,}; shorten it.")
        return clean


def _end(raw: object, zone: str) -> datetime | None:
    """When a record expires: of a day, at its end."""
    when = said_at(raw, zone)
    day = isinstance(raw, str) and len(raw.strip()) == len("2030-01-31")
    return when + timedelta(days=1) if when is not None and day else when


def key_of(source: str, conversation: str, own_id: str) -> str:
    """The key of a message: its source, its place there, its own name."""
    return f"{_escaped(source)}:{_escaped(conversation)}:{own_id}"


def desk(source: Source, options: Options) -> Intake:
    """The desk for a file that is named by where it lies."""
    return Intake(source.collection or source.stem, options, source.place)


def _name(field: str, value: object) -> str | None:
    if value is None or value == "":
        return None
    return clean_name(field, str(value) if isinstance(value, int) and not isinstance(value, bool) else value)


def _tags(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    tags = [tag.strip() for tag in value.split(",") if tag.strip()] if isinstance(value, str) else value
    if not isinstance(tags, list):
        raise Invalid("tags", f"is {type(value).__name__}, not a list", "Give a list of names.")
    return tuple(dict.fromkeys(clean_name("tags", tag) for tag in tags))


def _escaped(part: str) -> str:
    return part.replace("%", "%25").replace(":", "%3A")

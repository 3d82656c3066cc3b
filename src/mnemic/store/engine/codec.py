"""Between nouns and bytes: one canonical encoding, so that hashes are taken over what is stored."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

from mnemic.core.clock import FOREVER, micros, moment, moments, within_years
from mnemic.core.ids import ItemId, all_from_bytes, from_bytes
from mnemic.core.items import Channel, Item, Kind, Link, Sight, State, Version, Wording, author_of
from mnemic.errors import StoreCorrupt
from mnemic.store.values.row_values import LinkRow, VersionRow

Columns: TypeAlias = tuple[int, int, int, int, int, int, int, int, int, int]
KINDS: Final = tuple(Kind)
"""A kind's number is its place here: part of the format, so new kinds go to the end."""
_READER: Final = json.JSONDecoder()
_JSON: Final = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
CHANNELS: Final = tuple(Channel)
"""A channel's number is its place here, likewise."""
SIGHTS: Final = tuple(Sight)
"""A sight's number is its place here, likewise."""
_NUMBER: Final = {kind: number for number, kind in enumerate(KINDS)}
_CHANNEL: Final = {channel: number for number, channel in enumerate(CHANNELS)}
_SIGHT: Final = {sight: number for number, sight in enumerate(SIGHTS)}
_KINDS: Final = {kind.value: kind for kind in Kind}
_STATES: Final = {state.value: state for state in State}
_CHANNELS: Final = {channel.value: channel for channel in Channel}
_SIGHTS: Final = {sight.value: sight for sight in Sight}
# By their values, which are hashed in a tenth of the time that members of an enumeration take.
_KIND_NUMBERS: Final = {kind.value: number for kind, number in _NUMBER.items()}
_CHANNEL_NUMBERS: Final = {channel.value: number for channel, number in _CHANNEL.items()}
_SIGHT_NUMBERS: Final = {sight.value: number for sight, number in _SIGHT.items()}
_STATE_NUMBERS: Final = {state.value: state.value for state in State}
_ACTIVE: Final = State.ACTIVE.value
_OF_THE_USER: Final = Channel.USER.value
_OF_ALL: Final = Sight.ALL.value


def core_order(row: VersionRow) -> tuple[bool, int, int]:
    """What is kept first where not all of a space's core is asked for: the profile last, the newest first."""
    return row.kind == kind_number(Kind.PROFILE), -row.seq_from, -row.ver


def kind_number(kind: Kind) -> int:
    """The number of a kind in columns."""
    return _NUMBER[kind]


def number_of(value: object) -> Any:
    """What a column holds of a value: the number of a kind, a channel or a sight, anything else as it is."""
    if isinstance(value, Channel):
        return _CHANNEL[value]
    if isinstance(value, Sight):
        return _SIGHT[value]
    return _NUMBER[value] if isinstance(value, Kind) else value


def canonical(record: dict[str, Any]) -> bytes:
    """JSON with sorted keys and no spaces, as UTF-8: the same record is always the same bytes."""
    return _JSON.encode(record).encode()


def encode_item(item: Item) -> bytes:
    """Everything an item says but its id; what is at its default is left out."""
    record: dict[str, Any] = {"kind": item.kind.value, "text": item.text, "said": micros(item.said, "said")}
    for name, value, default in (
        ("offset", item.said_offset, 0),
        ("key", item.key, None),
        ("slots", dict(item.slots), {}),
        ("tags", list(item.tags), []),
        ("source", list(item.source), []),
        ("context", list(item.context), []),
        ("state", int(item.state), int(State.ACTIVE)),
        ("pinned", item.pinned, False),
        ("known_to", _instant(item.known_to, "known_to"), None),
        ("valid_from", _instant(item.valid_from, "valid_from"), None),
        ("valid_to", _instant(item.valid_to, "valid_to"), None),
        ("expires", _instant(item.expires, "expires"), None),
        ("agent", item.agent, None),
        ("session", item.session, None),
        ("pos", item.pos, 0),
        ("channel", item.channel.value, Channel.USER.value),
        ("sight", item.sight.value, Sight.ALL.value),
    ):
        if value != default:
            record[name] = value
    return canonical(record)


class Body(NamedTuple):
    """What an item's bytes say that its rows are made of, without the item itself.

    Attributes:
        columns: As `columns` makes them.
    """

    columns: Columns
    wording: Wording
    agent: str | None
    session: str | None
    pinned: bool
    source: tuple[ItemId, ...]
    context: tuple[ItemId, ...]
    tags: tuple[str, ...]

    @property
    def author(self) -> str | None:
        """As of the item."""
        return author_of(self.wording.slots, bool(self.source))


def read_body(body: bytes) -> Body:
    """What `encode_item` wrote, in half the time that an item takes.

    Raises:
        StoreCorrupt: these are not bytes that it wrote.
    """
    try:
        return _body(_record(body))
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise StoreCorrupt("the bytes of an item are damaged; run `mnemic verify`") from error


def _body(record: dict[str, Any]) -> Body:
    named, said, get = record["kind"], within_years(record["said"]), record.get
    kind, number, channel = _KINDS[named], _KIND_NUMBERS[named], _CHANNEL_NUMBERS[get("channel", _OF_THE_USER)]
    ends = _within(get("known_to")), _within(get("valid_from")), _within(get("valid_to"))
    source, sight = tuple(get("source", ())), get("sight", _OF_ALL)
    state, expires = _STATE_NUMBERS[get("state", _ACTIVE)], _within(get("expires"))
    return Body(
        _columns(state, number, said, *ends, get("pos", 0), channel, expires, _SIGHT_NUMBERS[sight]),
        Wording(
            kind, record["text"], get("key"), get("slots", {}), bool(source), said, get("offset", 0), _SIGHTS[sight]
        ),
        get("agent"),
        get("session"),
        get("pinned", False),
        source,
        tuple(get("context", ())),
        tuple(get("tags", ())),
    )


def _within(us: int | None) -> int | None:
    return None if us is None else within_years(us)


def decode_item(item: ItemId, body: bytes) -> Item:
    """The item that `encode_item` wrote.

    Raises:
        StoreCorrupt: these are not bytes that it wrote.
    """
    try:
        return _item(item, _record(body))
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise StoreCorrupt(f"the bytes of item {item} are damaged; run `mnemic verify`") from error


def _record(body: bytes) -> dict[str, Any]:
    # `json.loads` of bytes would look first how they are encoded, and then for blanks around what they hold.
    record, end = _READER.raw_decode(text := body.decode())
    if end != len(text):
        raise ValueError("more bytes than a record")
    return record  # type: ignore[no-any-return]


def _item(item: ItemId, record: dict[str, Any]) -> Item:
    kind, text, get = record["kind"], record["text"], record.get
    return Item(
        id=item,
        kind=_KINDS[kind],
        text=text,
        said=moment(record["said"]),
        said_offset=get("offset", 0),
        key=get("key"),
        slots=get("slots", {}),
        tags=tuple(get("tags", ())),
        source=tuple(get("source", ())),
        context=tuple(get("context", ())),
        state=_STATES[get("state", _ACTIVE)],
        pinned=get("pinned", False),
        known_to=_moment(get("known_to")),
        valid_from=_moment(get("valid_from")),
        valid_to=_moment(get("valid_to")),
        expires=_moment(get("expires")),
        agent=get("agent"),
        session=get("session"),
        pos=get("pos", 0),
        channel=_CHANNELS[get("channel", _OF_THE_USER)],
        sight=_SIGHTS[get("sight", _OF_ALL)],
    )


def decode_versions(rows: Sequence[VersionRow], recorded: Iterable[int]) -> list[Version]:
    """The versions that rows hold; `recorded`: when the commit of each was, microseconds."""
    ids, times = all_from_bytes([row.id for row in rows]), moments(recorded)
    return [
        Version(
            item=decode_item(item, row.body),
            seq_from=row.seq_from,
            seq_to=None if row.seq_to == FOREVER else row.seq_to,
            recorded=at,
        )
        for row, item, at in zip(rows, ids, times, strict=True)
    ]


def encode_link(link: Link) -> bytes:
    """Everything a link says but its ends."""
    record: dict[str, Any] = {"type": link.type, "weight": link.weight}
    if link.evidence:
        record["evidence"] = list(link.evidence)
    if link.by:
        record["by"] = link.by
    if link.upkeep:
        record["upkeep"] = True
    return canonical(record)


def decode_link(row: LinkRow) -> Link:
    """The link a row holds.

    Raises:
        StoreCorrupt: its bytes are not those of a link.
    """
    src, dst = from_bytes(row.src), from_bytes(row.dst)
    try:
        record = json.loads(row.body)
        evidence = tuple(record.get("evidence", ()))
        by, upkeep = record.get("by", ""), record.get("upkeep", False)
        return Link(
            src=src,
            dst=dst,
            type=record["type"],
            weight=record["weight"],
            evidence=evidence,
            by=by,
            upkeep=upkeep,
        )
    except (ValueError, KeyError, TypeError) as error:
        raise StoreCorrupt(f"the bytes of a link of {src} are damaged; run `mnemic verify`") from error


def _instant(when: datetime | None, field: str) -> int | None:
    return None if when is None else micros(when, field)


def _moment(us: int | None) -> datetime | None:
    return None if us is None else moment(us)


def columns(item: Item) -> Columns:
    """The projections of an item, in the order of columns; what never expires does so at 0."""
    known_to, expires = _instant(item.known_to, "known_to"), _instant(item.expires, "expires")
    valid = _instant(item.valid_from, "valid_from"), _instant(item.valid_to, "valid_to")
    said, kind, channel = micros(item.said, "said"), _NUMBER[item.kind], _CHANNEL[item.channel]
    return _columns(int(item.state), kind, said, known_to, *valid, item.pos, channel, expires, _SIGHT[item.sight])


def _columns(
    state: int,
    kind: int,
    said: int,
    known_to: int | None,
    valid_from: int | None,
    valid_to: int | None,
    pos: int,
    channel: int,
    expires: int | None,
    sight: int,
) -> Columns:
    return (
        state,
        kind,
        said,
        FOREVER if known_to is None else known_to,
        said if valid_from is None else valid_from,
        FOREVER if valid_to is None else valid_to,
        pos,
        channel,
        0 if expires is None else expires,
        sight,
    )

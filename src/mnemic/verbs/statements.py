"""What is written that is not evidence: a statement as its caller gives it, checked, and made an item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from mnemic.core.checking import text_field
from mnemic.core.clock import micros, moment, moment_or_span, offset_minutes
from mnemic.core.ids import ItemId
from mnemic.core.items import EVIDENCE, Channel, Item, Kind, Slot, State, Version
from mnemic.errors import Conflict, Invalid
from mnemic.verbs.who import Who
from mnemic.writing import Desk, Puts

REVISABLE: Final = frozenset({"text", "slots", "tags", "valid_from", "valid_to", "key", "expires"})
"""Fields of a statement that may change; the rest is whose it is and where it came from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """Something to write that is not evidence: a fact, a profile slot, a plan ...

    Attributes:
        said: When it was said; left out, now, or the latest of its sources. Moments may be ISO strings; those without a
            zone are in the setting `timezone`.
        source: The evidence it rests on, by id.
        key: Makes a retry safe.
        channel: Who brought it in.
        expires: From when on nobody is shown it, or how long after now; None for never.
    """

    text: str
    kind: Kind = Kind.FACT
    said: datetime | str | None = None
    valid_from: datetime | str | None = None
    valid_to: datetime | str | None = None
    source: tuple[ItemId, ...] = ()
    slots: Mapping[str, Slot] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    key: str | None = None
    channel: Channel = Channel.USER
    expires: datetime | timedelta | str | None = None


def stated(desk: Desk, who: Who, statement: Statement, sources: Mapping[ItemId, Version]) -> Puts:
    """The ops that write a statement; where it does not say when, it was said when the latest of its sources was."""
    latest = max((v.item for v in sources.values()), key=lambda item: item.said, default=None)
    given, valid_from, valid_to = (
        None if when is None else desk.aware(name, when)
        for name, when in (
            ("said", statement.said), ("valid_from", statement.valid_from), ("valid_to", statement.valid_to)
        )
    )  # fmt: skip
    said = given or (moment(desk.clock.now()) if latest is None else latest.said)
    dated = given or valid_from  # a day without an hour is shown on the clock of whoever states it
    offset = offset_minutes(dated) if dated else 0 if latest is None else latest.said_offset
    kind, expiry = _statement_kind(statement.kind), given_expiry(statement.expires)
    if valid_to is not None and valid_to <= (valid_from or said):
        raise Invalid("valid_to", "is not after valid_from", "Give an interval [from, to).")
    item = Item(
        id=desk.fresh_id(), kind=kind, text=statement.text, valid_from=valid_from,
        said=moment(micros(said)), said_offset=offset,
        valid_to=valid_to, source=statement.source, slots=statement.slots, tags=statement.tags,
        agent=who.scope.agent, session=who.scope.session, pos=micros(said), channel=Channel(statement.channel),
        expires=desk.expiry("expires", expiry),
    )  # fmt: skip
    return desk.item(item, statement.key, given, expiry)


def _statement_kind(kind: object) -> Kind:
    try:
        known = Kind(kind)  # type: ignore[arg-type]
    except ValueError as error:
        raise Invalid("kind", f"{kind!r} is none", f"Known: {', '.join(sorted(set(Kind) - EVIDENCE))}.") from error
    if known in EVIDENCE:
        raise Invalid("kind", f"{known} is evidence", "Use observe for what was said or read.")
    return known


def expiry_of(desk: Desk, given: object) -> datetime | None:
    """When a statement expires that is written now; `Invalid` for what has passed, or is no time."""
    return desk.expiry("expires", given_expiry(given))


def given_expiry(given: object) -> datetime | timedelta | None:
    """When a statement expires, as its caller gave it: a time or a span; `Invalid` for what is neither."""
    return None if given is None else moment_or_span("expires", given)


def revision(desk: Desk, item: Item, changes: Mapping[str, object]) -> Item:
    """The item with some of its `REVISABLE` fields changed, checked."""
    if unknown := set(changes) - REVISABLE:
        raise Invalid(sorted(unknown)[0], "cannot be revised", f"Revise {', '.join(sorted(REVISABLE))}.")
    moments = [name for name in ("valid_from", "valid_to") if changes.get(name) is not None]
    changes = {**changes, **{name: desk.aware(name, changes[name]) for name in moments}}  # type: ignore[arg-type]  # checked there
    if changes.get("key") is not None:
        text_field("key", changes["key"])
    if "expires" in changes:
        changes = {**changes, "expires": expiry_of(desk, changes["expires"])}
    revised: Item = replace(item, **changes)  # type: ignore[arg-type]
    dated = not {"valid_from", "valid_to"}.isdisjoint(changes)  # what was superseded at once held for no time at all
    if dated and revised.valid_to is not None and revised.valid_to <= (revised.valid_from or revised.said):
        raise Invalid("valid_to", "is not after valid_from", "Give an interval [from, to).")
    return revised


def refuse_closed(item: Item) -> None:
    """Raise unless something may take the place of this item."""
    if item.kind in EVIDENCE:
        raise Invalid(
            "id", f"{item.id} is evidence ({item.kind}), which stays as it was said", "Supersede a statement."
        )
    if item.state is not State.ACTIVE:
        raise closed_already(item)


def closed_already(item: Item) -> Conflict:
    """What to raise for an item that something has taken the place of already."""
    return Conflict(f"{item.id} is {item.state.name.lower()} already; `history` shows what stands in its place")

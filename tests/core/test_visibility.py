"""Every target that views and filters are compiled to shows the same versions: those that a plain reading says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import apsw
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mnemic.core.clock import FOREVER, SystemClock, moment
from mnemic.core.facets import slot_facets, written_facets
from mnemic.core.ids import SystemEntropy, from_bytes, to_bytes
from mnemic.core.items import Channel, Item, Kind, Sight, State, Version
from mnemic.core.queries import Filter, View
from mnemic.core.visibility import facet_clauses, shown_by, sight_clauses
from mnemic.index.columns import Column, EntryColumns, Shelves, visible
from mnemic.store.engine.codec import columns as projections
from mnemic.store.engine.codec import decode_item, encode_item
from mnemic.store.engine.ledger import entries
from mnemic.store.sqlite.migrations import create
from mnemic.store.sqlite.row_checksums import register
from mnemic.store.sqlite.sqlite_tables import sqlite_rows
from mnemic.store.values.row_values import VersionRow, Walk
from mnemic.store.values.work import slot_lane

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mnemic.store.engine.rows import ItemTables

HEAD = 6
NAMES = {"ada": 1, "bob": 2}
KINDS = (Kind.TURN, Kind.FACT, Kind.PLAN)
TAGS = ("red", "Red", "r\u00e9d", "re\u0301d", "", "\U0001f600", '"', "x" * 300)
AUTHORS = ("mem0", "zep")
SLOTS = ("role", "Role", 'a"b', "a.b", "", "\u00e9", "tags")
VALUES = ("user", "User", "", "1", "\U0001f600", "y" * 600, 0, 1, -(2**63), 2**63 - 1, True, False, None)
HELD = (*VALUES, 1.0, 0.5, -0.0, 2**63, 2**64 + 1, 1e300, [1], {"role": "user"})
"""What slots hold: some of it no filter can ask for."""

SOURCE = from_bytes(bytes(16))

times = st.integers(0, 6)
seqs = st.integers(0, HEAD + 1)
names = st.none() | st.sampled_from(("ada", "bob"))
views = st.builds(
    View, at=st.none() | seqs, as_of=st.none() | times, valid_at=st.none() | times, moment=st.none() | times
)
filters = st.builds(
    Filter,
    kinds=st.lists(st.sampled_from(KINDS), max_size=2, unique=True).map(tuple),
    tags=st.lists(st.sampled_from((*TAGS, "unknown")), max_size=2, unique=True).map(tuple),
    slots=st.dictionaries(st.sampled_from(SLOTS), st.sampled_from(VALUES), max_size=2),
    channels=st.lists(st.sampled_from(Channel), max_size=2, unique=True).map(tuple),
    agent=names | st.just("unknown"),
    session=names | st.just("unknown"),
    said_from=st.none() | times,
    said_to=st.none() | times,
    states=st.lists(st.sampled_from(State), max_size=2, unique=True).map(tuple),
    by=st.lists(st.sampled_from((*AUTHORS, "unknown")), max_size=2, unique=True).map(tuple),
)


@st.composite
def versions(draw: st.DrawFn) -> Version:
    """A version as histories leave it, or as none could: no rule may lean on how clocks and states belong together."""
    item = Item(
        id=from_bytes(draw(st.integers(1, 2**64)).to_bytes(16, "big")),
        kind=draw(st.sampled_from(KINDS)),
        text="text",
        said=moment(draw(times)),
        tags=tuple(draw(st.lists(st.sampled_from(TAGS), max_size=2, unique=True))),
        slots=draw(st.dictionaries(st.sampled_from(SLOTS), st.sampled_from(HELD), max_size=4))
        | draw(st.sampled_from(({}, *({"by": name} for name in (*AUTHORS, 1))))),
        source=draw(st.sampled_from(((), (SOURCE,)))),
        sight=draw(st.sampled_from(Sight)),
        state=draw(st.sampled_from(State)),
        channel=draw(st.sampled_from(Channel)),
        known_to=draw(st.none() | times.map(moment)),
        valid_from=draw(st.none() | times.map(moment)),
        valid_to=draw(st.none() | times.map(moment)),
        expires=draw(st.none() | st.integers(1, 6).map(moment)),
        agent=draw(names),
        session=draw(names),
    )
    first = draw(st.integers(1, HEAD))
    last = draw(st.none() | st.integers(first + 1, HEAD + 1))
    return Version(item=item, seq_from=first, seq_to=last, recorded=moment(0))


def meant(version: Version, view: View, where: Filter) -> bool:
    """Whether a view and a filter show a version, spelled out from the decisions on time (see `0010-two-times`)."""
    item = version.item
    said, as_of, valid_at = item.said, view.as_of, view.valid_at
    if view.at is None and version.seq_to is not None:
        return False
    if view.at is not None and (version.seq_from > view.at or (version.seq_to or FOREVER) <= view.at):
        return False
    superseded_by_then = as_of is not None and item.known_to is not None and item.known_to <= moment(as_of)
    if as_of is not None and (said > moment(as_of) or (valid_at is None and superseded_by_then)):
        return False
    if valid_at is not None:
        begun = (item.valid_from or said) <= moment(valid_at)
        ended = item.valid_to is not None and item.valid_to <= moment(valid_at)
        unknown_then = as_of is not None and item.known_to is not None and not superseded_by_then
        if not begun or (ended and not unknown_then):
            return False
    past = as_of is not None or valid_at is not None
    lapsed = view.moment is not None and item.expires is not None and item.expires <= moment(view.moment)
    state = State.RETIRED if lapsed else item.state
    if state not in (where.states or ((State.ACTIVE, State.SUPERSEDED) if past else (State.ACTIVE,))):
        return False
    return (
        (not where.kinds or item.kind in where.kinds)
        and (not where.channels or item.channel in where.channels)
        and (not where.tags or any(tag in item.tags for tag in where.tags))
        and (not where.by or (bool(item.source) and item.slots.get("by") in where.by))
        and all(name in item.slots and item.slots[name] == value for name, value in where.slots)
        and (where.agent is None or item.agent == where.agent)
        and (where.session is None or item.session == where.session)
        and (where.said_from is None or said >= moment(where.said_from))
        and (where.said_to is None or said < moment(where.said_to))
    )


def row_of(ver: int, version: Version) -> VersionRow:
    item = version.item
    state, kind, said, known_to, valid_from, valid_to, pos, channel, expires, sight = projections(item)
    return VersionRow(
        ver, 1, to_bytes(item.id), version.seq_from, version.seq_to or FOREVER, 0, state, kind, said, known_to,
        valid_from, valid_to, NAMES.get(item.agent or "", 0), NAMES.get(item.session or "", 0), pos, channel,
        expires, sight,
        encode_item(item),
    )  # fmt: skip


@pytest.fixture(scope="module")
def db() -> Iterator[apsw.Connection]:
    db = apsw.Connection(":memory:")
    register(db)
    create(db)
    names = sqlite_rows(db, SystemClock(), SystemEntropy()).names
    for name, number in NAMES.items():
        names.load_name(1, number, name)
    yield db
    db.close()


def fill(db: apsw.Connection, some: Sequence[VersionRow], reached: Mapping[str, int]) -> ItemTables:
    """Keep versions with their entries and facets: of all tags, and of each slot as far as `reached` says."""
    db.execute("DELETE FROM version; DELETE FROM entry; DELETE FROM facet; DELETE FROM lane")
    rows = sqlite_rows(db, SystemClock(), SystemEntropy())
    rows.items.add_versions(some)
    rows.items.add_entries(1, [entry for row in some for entry in entries(row.ver, row, False, (b"12345678",) * 2)])
    for row in some:
        item = decode_item(from_bytes(row.id), row.body)
        indexed = [slot for slot, cursor in reached.items() if row.ver <= cursor]
        rows.items.add_facets(
            1, [(row.ver, f) for f in written_facets(item.tags, item.author) | slot_facets(item.slots, indexed)]
        )
    for slot, cursor in reached.items():
        rows.lanes.set_lane(replace(rows.lanes.lane(1, slot_lane(slot)), cursor=cursor))
    return rows.items


def in_sql(rows: ItemTables, some: Sequence[VersionRow], view: View, where: Filter) -> list[list[int]]:
    """What the look at ids, and the walk over a space in pages and from its end, say; the count says as many."""
    ids = [row.id for row in some]
    at_once = sorted(row.ver for row in rows.visible((1,), ids, Walk(where, view, 0, len(some))))
    newest = [row.ver for row in rows.visible((1,), None, Walk(where, view, 0, 3, newest=True))]
    assert rows.count((1,), where, view) == len(at_once)
    assert newest == at_once[: -len(newest) - 1 : -1]
    paged: list[int] = []
    while page := rows.visible((1,), None, Walk(where, view, paged[-1] if paged else 0, 2)):
        paged += [row.ver for row in page]
    return [at_once, paged]


def recalled(version: Version, where: Filter, reader: str | None) -> bool:
    """Whether a recall looks at what a view and a filter show, spelled out from the decision on sight."""
    item = version.item
    own = reader is not None and bool(item.source) and item.slots.get("by") == reader
    return bool(where.by) or item.sight is Sight.ALL or (item.sight is Sight.OWN and own)


def in_masks(
    rows: ItemTables, some: Sequence[VersionRow], head: int, view: View, where: Filter, reader: str | None
) -> list[int]:
    table = EntryColumns()
    table.add([entry for row in some for entry in entries(row.ver, row, False, (b"12345678",) * 2)])
    numbers = [None if name is None else NAMES.get(name, -1) for name in (where.agent, where.session)]
    clauses = (*facet_clauses(where), *sight_clauses(where, reader))
    asked = [one for clause in clauses for one in clause if one.column in ("tags", "slots", "author")]
    bearers = {one: np.array(rows.bearers(1, one, 0), np.int64) for one in asked}
    shown = visible(table, head, view, where, Shelves(*numbers, reader=reader), bearers)
    assert (shown[::2] == shown[1::2]).all()
    return table.column(Column.VER)[::2][shown[::2]].tolist()


NOBODYS = Version(
    item=Item(
        id=from_bytes(bytes(15) + b"\1"),
        kind=Kind.TURN,
        text="text",
        said=moment(0),
        source=(SOURCE,),
        sight=Sight.OWN,
    ),
    seq_from=1,
    seq_to=None,
    recorded=moment(0),
)
"""Kept for its author's recall, who is nobody: who asks without a name is not its author."""


@example(some=[NOBODYS], head=1, view=View(), where=Filter(), reached={}, reader=None)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    some=st.lists(versions(), min_size=1, max_size=12, unique_by=lambda version: version.item.id),
    head=seqs,
    view=views,
    where=filters,
    reached=st.dictionaries(st.sampled_from(SLOTS), st.integers(0, 12)),
    reader=st.none() | st.sampled_from(AUTHORS),
)
def test_all_targets_show_what_a_plain_reading_says(
    db: apsw.Connection,
    some: list[Version],
    head: int,
    view: View,
    where: Filter,
    reached: dict[str, int],
    reader: str | None,
) -> None:
    stored = [row_of(number, version) for number, version in enumerate(some, start=1)]
    by_number = dict(enumerate(some, start=1))
    plainly = [number for number, version in by_number.items() if meant(version, view, where)]
    shown = shown_by(view, where)
    assert [number for number, version in by_number.items() if shown(version)] == plainly
    rows = fill(db, stored, reached)
    assert in_sql(rows, stored, view, where) == [plainly, plainly]
    # A catalogue may hold rows that are newer than its reader: now is the reader's head.
    as_read = replace(view, at=head if view.at is None else min(head, view.at))
    expected = [
        number
        for number, version in by_number.items()
        if meant(version, as_read, where) and recalled(version, where, reader)
    ]
    assert in_masks(rows, stored, head, view, where, reader) == expected

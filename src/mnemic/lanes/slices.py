"""Slices of a lane: the outcome of one, and the versions that the next one takes.

A strategy's lane gives new evidence to it and writes what it makes of that; `embed:<model>` gives every passage its
vector. A slice reads what lies past the cursor, and moves the cursor in the same transaction that keeps what came of
it, so that nothing is done twice and nothing is lost, whoever is killed when.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, islice, takewhile
from typing import Final

from mnemic.core.queries import Entry
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.values.work import Lane

HOUSE: Final = "house"
"""The lane of the strategy `house`."""

EMBED: Final = "embed"
JOBS: Final = "jobs"
PACK: Final = "pack"
EXPIRE: Final = "expire"
SLOTS: Final = "slots"
"""What a worker calls the lanes of embedders, jobs, packing, retiring what has expired and the indexing of slots among
the lanes that it does."""

DERIVER: Final = "mnemic"
"""Who acts, for the journal, where nobody asked for it."""

LEASE_SECONDS: Final = 60.0
"""How long a slice may take before another worker may claim its lane."""


@dataclass(frozen=True, slots=True)
class Slice:
    """The outcome of one slice.

    Attributes:
        done: How many passages or versions it dealt with; 0 for none: nothing there, or its time has not come.
        busy: Another worker has the lane, or it waits after a failure.
        waits: It is the latter: nobody does anything about it before its time.
    """

    done: int = 0
    busy: bool = False
    waits: bool = False


BUSY: Final = Slice(busy=True)
WAITS: Final = Slice(busy=True, waits=True)
IDLE: Final = Slice()


def epoch_of(snapshot: Snapshot, space: int) -> int:
    """Read a space's epoch, which counts its erasures; 0 for the store's own work."""
    return sum(head.epoch for head in snapshot.spaces((space,)))


def next_vers(snapshot: Snapshot, lane: Lane, limit: int) -> list[int]:
    """Take the next versions past a lane's cursor: about `limit` parts together, at most the lane's stride of versions.

    A run that is pinned takes none that came later, so that it takes the same when it is done again.
    """
    entries = entries_of_run(snapshot, lane)
    vers = [ver for ver, _ in groupby(entry.ver for entry in islice(entries, limit))]
    return vers[: lane.stride] if lane.stride else vers


def entries_of_run(snapshot: Snapshot, lane: Lane) -> Iterator[Entry]:
    """The entries past a lane's cursor; for a run that is pinned, none that came later."""
    entries = snapshot.entries(lane.space, lane.cursor)
    return entries if not lane.seq else takewhile(lambda entry: entry.seq_from <= lane.seq, entries)

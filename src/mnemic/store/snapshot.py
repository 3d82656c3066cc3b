"""The only way to read a store: one read transaction, and what may be asked of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from mnemic.core.events import Change, Verb
from mnemic.core.ids import ItemId
from mnemic.core.items import Link, Strength, Version
from mnemic.core.queries import Entry, Filter, View
from mnemic.core.scope import Shared
from mnemic.store.following import EmbedderRow, Job, JobState, Lane, VectorRow
from mnemic.store.heads import CheckpointRow, Head, Hold, Layer, SpaceHead, Wear
from mnemic.store.meters import MeterRow
from mnemic.store.pages import PageRow, SessionRow


class Snapshot(Protocol):
    """One read transaction: everything it answers is of the same moment."""

    def tenant(self, name: str) -> int | None:
        """The number of a tenant, if it has ever been written to."""
        ...

    def tenants(self) -> list[tuple[int, str]]:
        """Every tenant, by number."""
        ...

    def head(self, tenant: int) -> Head:
        """Where the tenant's journal stands."""
        ...

    def space(self, tenant: int, user: str | Shared, branch: str = "") -> SpaceHead | None:
        """One user's space, or the shared one, if it has ever been written to; or one of their branches.

        Given to the methods below, a branch stands for itself and, behind it, its parent as of its base; `entries`,
        `closed`, `versions`, `newest`, `vectors`, `lane` and `name_id` are of one space alone.
        """
        ...

    def layers(self, spaces: Sequence[int]) -> tuple[Layer, ...]:
        """The spaces that a read set looks into, the nearest first."""
        ...

    def hidden(self, layer: Layer, view: View) -> tuple[int, ...]:
        """The versions of a layer whose items nearer ones have, as the view sees it, ascending."""
        ...

    def spaces(self, ids: Sequence[int]) -> list[SpaceHead]:
        """Where these spaces stand, in the order given."""
        ...

    def all_spaces(self, tenant: int) -> list[SpaceHead]:
        """Every space of a tenant."""
        ...

    def name_id(self, space: int, name: str) -> int | None:
        """The number of an agent's or session's name in a space."""
        ...

    def get(self, spaces: Sequence[int], ids: Sequence[ItemId], view: View = View()) -> dict[ItemId, Version]:
        """The versions of these items that the view shows; absent ones are left out."""
        ...

    def standing(self, spaces: Sequence[int], ids: Sequence[ItemId]) -> dict[ItemId, Version]:
        """The standing version of each item in whatever state it is."""
        ...

    def ids_between(
        self, spaces: Sequence[int], low: bytes, high: bytes, tail: bytes = b"", where: Filter = Filter()
    ) -> Iterator[ItemId]:
        """Ids from `low` to `high` (16 bytes each) that end in `tail`, of items that now pass the filter, ascending."""
        ...

    def versions(self, space: int, vers: Sequence[int]) -> dict[int, Version]:
        """Versions by their local number (`Entry.ver`)."""
        ...

    def history(self, spaces: Sequence[int], item: ItemId) -> list[Version]:
        """Every retained version of an item, oldest first."""
        ...

    def scan(
        self, spaces: Sequence[int], where: Filter = Filter(), view: View = View(), *, after: int = 0, limit: int = 100
    ) -> list[tuple[int, Version]]:
        """Versions with their local number, ascending from just past `after`: pass the last one on for more."""
        ...

    def latest(
        self, spaces: Sequence[int], where: Filter = Filter(), view: View = View(), *, limit: int = 100
    ) -> list[Version]:
        """The last `limit` versions written that the view shows, newest first."""
        ...

    def count(self, spaces: Sequence[int], where: Filter = Filter(), view: View = View()) -> int:
        """How many items the view shows."""
        ...

    def entries(self, space: int, after: int = 0) -> Iterator[Entry]:
        """Entries of versions numbered past `after`, ascending by (ver, part): all states, closed ones too."""
        ...

    def closed(self, space: int, after_seq: int) -> list[tuple[int, int]]:
        """(ver, seq_to) of versions closed by commits after `after_seq`."""
        ...

    def core(self, spaces: Sequence[int], view: View = View(), limit: int = 100) -> list[Version]:
        """What is always at hand: versions that are pinned, profile or procedure, ascending by (seq_from, ver).

        Of more than `limit`, the newest; what is of the profile goes first.
        """
        ...

    def newest(self, space: int) -> int:
        """The highest version of a space by its local number; 0 for none. No number is ever given twice."""
        ...

    def embedders(self) -> list[EmbedderRow]:
        """The embedders whose vectors are held, by id."""
        ...

    def vectors(self, space: int, model: int, after: int = 0) -> Iterator[VectorRow]:
        """One embedder's vectors of versions numbered past `after`, ascending by (ver, part).

        Complete up to the cursor of the embedder's lane. Past it there are some already, carried over with tokens:
        who follows reads from the cursor seen last, not from the last vector.
        """
        ...

    def lane(self, space: int, name: str) -> Lane:
        """How far a lane has come in a space; one that never ran stands at 0."""
        ...

    def backlog(self, name: str) -> list[tuple[int, int, int]]:
        """(space, cursor, newest version) of each space, not erased, in which a lane has work, by space."""
        ...

    def highest(self) -> int:
        """The highest version of all spaces; 0 for none."""
        ...

    def arrived(self, after: int) -> dict[int, int]:
        """The newest version of each space in which some are numbered past `after`."""
        ...

    def lanes(self) -> list[Lane]:
        """Every lane that ever ran, by space and name."""
        ...

    def jobs(self, *states: JobState) -> list[Job]:
        """Jobs in these states, all if none is named: the most urgent first, then by number."""
        ...

    def recorded(self, space: int, lane: str, asked: bytes) -> bytes | None:
        """What was answered when a run of this lane asked this before."""
        ...

    def keyed(self, space: int, key: str) -> ItemId | None:
        """What was written under an idempotency key that is still known."""
        ...

    def session(self, space: int, name: str) -> SessionRow | None:
        """The window of a session, if one was ever written."""
        ...

    def sessions(self, space: int) -> list[tuple[str, SessionRow]]:
        """The windows of a space with their sessions' names, by name."""
        ...

    def pages(self, space: int, session: int, ids: Sequence[ItemId] | None = None) -> list[PageRow]:
        """Pages of a session as they were written down, in the order they came in: these, or all that are at hand.

        At hand are its residents, and its turns that left the window and are in no segment yet.
        """
        ...

    def links(self, spaces: Sequence[int], ids: Sequence[ItemId], view: View = View()) -> list[Link]:
        """Links that start or end at these items."""
        ...

    def derived(self, space: int, ids: Sequence[ItemId]) -> list[ItemId]:
        """Items whose standing version cites one of these as its source."""
        ...

    def strength(self, space: int, ids: Sequence[ItemId]) -> dict[ItemId, Strength]:
        """Counters of use; items never used are left out."""
        ...

    def changes(self, tenant: int, after: int = 0, limit: int = 100, *, newest: bool = False) -> list[Change]:
        """Commits after seq `after`, ascending; with `newest`, the last ones, descending."""
        ...

    def feed(self, tenant: int, spaces: Sequence[int], after: int = 0, limit: int = 100) -> tuple[list[Change], int]:
        """Commits of these spaces after seq `after`, ascending, and up to which seq these are all: next time's `after`.

        Of very many commits of other spaces it looks at some only: there is nothing more once the seq stays the same.

        Raises:
            Compacted: commits after `after` are gone, or the journal ends before it; 0 begins with the oldest kept.
        """
        ...

    def checkpoints(self, tenant: int) -> list[CheckpointRow]:
        """The copies that were made beside the store, by commit and name."""
        ...

    def meters(self) -> list[MeterRow]:
        """What processes that have this store open have said about themselves, the latest first."""
        ...

    def holds(self, tenant: int) -> list[Hold]:
        """The legal holds of a tenant, the oldest first."""
        ...

    def held(self, tenant: int, space: int, items: Sequence[ItemId]) -> dict[ItemId, str]:
        """Those of these items that a legal hold keeps, each with what to say about it."""
        ...

    def floor(self, tenant: int) -> tuple[int, str]:
        """The last commit that the horizon may reach, and what keeps it there."""
        ...

    def wear(self, tenant: int) -> Wear:
        """How many versions a tenant has, and how many of them nobody is shown."""
        ...

    def memo(self, tenant: int, name: str) -> bytes | None:
        """A small fact that was kept about a tenant by `enter`."""
        ...

    def written(self, space: int, seq: int) -> list[tuple[Version, Version | None]]:
        """What a commit wrote: each version, with the one it followed."""
        ...

    def ties(self, space: int, seq: int) -> list[tuple[Link, bool]]:
        """Links that a commit opened (True) or closed (False)."""
        ...

    def noted(self, tenant: int, verbs: Sequence[Verb], after: int = 0) -> list[int]:
        """The commits after this one that carry a note of one of these verbs, ascending.

        Events that wrote something are not read.
        """
        ...

    def seq_at(self, tenant: int, at: int) -> int:
        """The last commit recorded at or before this moment (microseconds); 0 for none."""
        ...

"""The only way to read a store: one read transaction, in which rows become nouns and each row's space is checked."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from mnemic.artefacts.artefact_files import Wall
from mnemic.core.clock import FOREVER, moment
from mnemic.core.events import Change, Event, Verb
from mnemic.core.ids import ItemId, from_bytes, to_bytes
from mnemic.core.items import Link, Strength, Version
from mnemic.core.queries import Entry, Filter, View
from mnemic.core.scope import Shared
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Compacted, NotFound
from mnemic.store.engine.artefact_rows import kept_digests
from mnemic.store.engine.codec import core_order, decode_link, decode_versions
from mnemic.store.engine.holds import horizon_floor, listed, reasons_to_keep
from mnemic.store.engine.job_queue import recorded
from mnemic.store.engine.journal_feed import fed
from mnemic.store.engine.ledger import key_hash
from mnemic.store.engine.lineage import lineage, read_at, stood
from mnemic.store.engine.prompt_table import kept_messages
from mnemic.store.engine.rows import Rows, added
from mnemic.store.values.heads import CheckpointRow, Head, Hold, Layer, SpaceHead, VersionCounts
from mnemic.store.values.meters import MeterRow
from mnemic.store.values.prompt_messages import PromptMessage
from mnemic.store.values.row_values import (
    ChangeRow,
    CredentialKind,
    CredentialRow,
    EventRow,
    LinkRow,
    PageRow,
    SessionRow,
    SpaceRow,
    StrengthRow,
    TenantRow,
    VersionRow,
    Walk,
)
from mnemic.store.values.work import (
    DueSpaces,
    EmbedderRow,
    Job,
    JobState,
    Lane,
    PackRow,
    VectorRow,
    allowed_vector_sizes,
)

if TYPE_CHECKING:
    from mnemic.core.visibility import Condition

ERASED = "(erased)"
"""What stands for a name that was erased."""

_ANY: Final = Filter()

_MOVED: Final = 1_000
"""Commits looked at to see whom they are of; where there are more, they may be anybody's."""

_FOLLOWED: Final = 1_000
"""Commits whose links are looked up one by one; where there are more, all links of the space are read."""

_IDS_AT_ONCE: Final = 500
"""Ids that are looked for in one statement."""


class LayeredRows:
    """Reads the rows of one transaction through layers: a branch first, then its parent as of the branch's base.

    A read set is the spaces that one read goes through. One without a branch is handed to the rows as it is.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._homes: dict[int, SpaceRow] = {}
        self._owned: dict[tuple[str, str | Shared, str], tuple[SpaceRow | None, SpaceRow | None]] = {}
        self._layers: dict[tuple[int, ...], tuple[Layer, ...]] = {}
        self._hidden: dict[tuple[Layer, int | None], frozenset[bytes]] = {}

    def space(self, tenant: int, user: str | Shared, branch: str) -> SpaceRow | None:
        """Look up a user's space or branch, if it is there."""
        row = self._rows.spaces.space(tenant, user, branch)
        if row is not None:
            self._homes[row.id] = row
        return row

    def owned(self, tenant: str, user: str | Shared, branch: str) -> tuple[SpaceRow | None, SpaceRow | None]:
        """Look up a user's space or branch, and the shared space of their tenant, once."""
        key = tenant, user, branch
        if key not in self._owned:
            own_and_shared = self._owned[key] = self._rows.spaces.owned(*key)
            self._homes.update((row.id, row) for row in own_and_shared if row is not None)
        return self._owned[key]

    def homes(self, spaces: Sequence[int]) -> list[SpaceRow]:
        """Look up spaces by id, each once, in the order given."""
        unknown = [space for space in spaces if space not in self._homes]
        if unknown:
            self._homes.update((row.id, row) for row in self._rows.spaces.space_rows(unknown))
        return [self._homes[space] for space in spaces if space in self._homes]

    def layers(self, spaces: Sequence[int]) -> tuple[Layer, ...]:
        """List the layers of a read set; beside a branch the shared space too is read as of the branch's base."""
        key = tuple(spaces)
        if key not in self._layers:
            self._layers[key] = self._layers_of(key)
        return self._layers[key]

    def _layers_of(self, spaces: tuple[int, ...]) -> tuple[Layer, ...]:
        homes = self.homes(spaces)
        if not any(row.parent for row in homes):
            return tuple(Layer(space) for space in spaces)
        lines = [lineage(self._rows, row) for row in homes]
        bases = [layer.upto for line in lines for layer in line if layer.upto is not None]
        return tuple(x for line in lines for x in (line if len(line) > 1 else (Layer(line[0].space, min(bases)),)))

    def plain(self, spaces: Sequence[int]) -> bool:
        """Whether every space is read by itself, as it stands."""
        return all(layer.upto is None for layer in self.layers(spaces))

    def hidden(self, layer: Layer, at: int | None) -> frozenset[bytes]:
        """List the items of a layer that nearer layers had too, as of a commit."""
        key = layer, at
        if key not in self._hidden:
            covered = (self._rows.items.covered(near.space, layer.space, read_at(near, at)) for near in layer.nearer)
            self._hidden[key] = frozenset(item for items in covered for item in items)
        return self._hidden[key]

    def hidden_versions(self, layer: Layer, at: int | None) -> tuple[int, ...]:
        """List the local numbers of all versions of a layer's hidden items, ascending."""
        if not layer.nearer:
            return ()
        items = list(self.hidden(layer, at))
        known = self._rows.items.item_rows(layer.space, items)
        return tuple(sorted(row.ver for versions in known.values() for row in versions))

    def visible(self, spaces: Sequence[int], items: Sequence[bytes] | None, walk: Walk) -> list[VersionRow]:
        """Find the versions that `walk` selects, as the rows' own `visible` does, over all layers."""
        if self.plain(spaces):
            return self._rows.items.visible(spaces, items, walk)
        rows: list[VersionRow] = []
        for layer in self.layers(spaces):
            hidden = self.hidden(layer, walk.view.at)
            unhidden = None if items is None else [item for item in items if item not in hidden]
            if unhidden is None or unhidden:
                of_layer = walk._replace(view=layer.view(walk.view), limit=walk.limit + len(hidden))
                page = self._rows.items.visible((layer.space,), unhidden, of_layer)
                rows += [self._clipped(layer, row) for row in page if row.id not in hidden]
        rows.sort(key=attrgetter("ver"), reverse=walk.newest)
        return rows[: walk.limit] if items is None else rows

    def count(self, spaces: Sequence[int], where: Filter, view: View) -> int:
        """Count the items that a view shows over all layers."""
        if self.plain(spaces):
            return self._rows.items.count(spaces, where, view)
        total = 0
        for layer in self.layers(spaces):
            total += self._rows.items.count((layer.space,), where, layer.view(view))
            hidden = list(self.hidden(layer, view.at))
            if hidden:
                walk = Walk(where, layer.view(view), 0, len(hidden))
                total -= len(self._rows.items.visible((layer.space,), hidden, walk))
        return total

    def core(self, spaces: Sequence[int], view: View, limit: int, reader: str | None) -> list[VersionRow]:
        """Find the versions for the always-on block (`Snapshot.core`), at most `limit` of each layer."""
        unhidden = []
        for layer in self.layers(spaces):
            hidden = self.hidden(layer, view.at)
            rows = self._rows.items.core(layer.space, layer.view(view), limit + len(hidden), reader)
            unhidden += [self._clipped(layer, row) for row in rows if row.id not in hidden]
        return unhidden

    def standing(self, spaces: Sequence[int], items: Sequence[bytes]) -> dict[bytes, VersionRow]:
        """Find the standing version of each item, in the nearest layer that has the item."""
        standing: dict[bytes, VersionRow] = {}
        for layer in self.layers(spaces):
            missing = [item for item in items if item not in standing]
            plain = layer.upto is None
            rows = self._rows.items.standing(layer.space, missing) if plain else stood(self._rows, layer, missing)
            standing.update((item, self._clipped(layer, row)) for item, row in rows.items())
        return standing

    def stories(self, spaces: Sequence[int], items: Sequence[bytes]) -> dict[bytes, list[VersionRow]]:
        """List every retained version of each item, the farthest layer's first."""
        stories: dict[bytes, list[VersionRow]] = {}
        for layer in reversed(self.layers(spaces)):
            upto = read_at(layer, None)
            for item, versions in self._rows.items.item_rows(layer.space, items).items():
                clipped = [self._clipped(layer, row) for row in versions if row.seq_from <= upto]
                stories.setdefault(item, []).extend(clipped)
        return stories

    def closed_by(self, space: int, seq: int, items: Sequence[bytes]) -> dict[bytes, VersionRow]:
        """Find the versions of these items that a commit closed, as the space reads them."""
        if self.plain((space,)):
            return {row.id: row for row in self._rows.items.closed_by(space, seq)} if items else {}
        stories = self.stories((space,), items)
        return {item: row for item, versions in stories.items() for row in versions if row.seq_to == seq}

    def _clipped(self, layer: Layer, row: VersionRow) -> VersionRow:
        """Correct the end of a version for this read set: what the parent did after the base does not close it."""
        if layer.upto is None or row.seq_to <= layer.upto:
            return row
        if row.id not in self.hidden(layer, None):
            return row._replace(seq_to=FOREVER)
        nearer = ((near, self._rows.items.item_rows(near.space, (row.id,)).get(row.id, [])) for near in layer.nearer)
        firsts = ((near, versions[0].seq_from) for near, versions in nearer if versions)
        return row._replace(seq_to=min(seq for near, seq in firsts if seq <= read_at(near, None)))

    def links(self, spaces: Sequence[int], items: Sequence[bytes], at: int | None) -> list[LinkRow]:
        """Find the links at items that stand as of a commit; of one with the same ends and type the nearest layer's."""
        links: list[LinkRow] = []
        covered: set[tuple[bytes, bytes, str]] = set()
        plain = self.plain(spaces)
        for layer in self.layers(spaces):
            bound = read_at(layer, at)
            rows = [row for row in self._rows.links.links_of(layer.space, items) if row.seq_from <= bound]
            ends = {} if plain else {row.lver: (row.src, row.dst, decode_link(row).type) for row in rows}
            links += [row for row in rows if row.open and bound < row.seq_to and ends.get(row.lver) not in covered]
            covered |= set(ends.values())
        return links

    def resting(self, space: int, items: Sequence[bytes]) -> list[bytes]:
        """List the items at which links start that ever rested on one of these."""
        layers = self.layers((space,)) if items else ()
        rows_resting = (row for layer in layers for row in self._rows.links.links_resting(layer.space, items))
        return list(dict.fromkeys(row.src for row in rows_resting))

    def derived(self, space: int, sources: Sequence[bytes]) -> dict[bytes, list[bytes]]:
        """List by source the items that were ever derived from it."""
        by_source: dict[bytes, set[bytes]] = {}
        for layer in self.layers((space,)):
            for source, item in self._rows.links.derived(layer.space, sources):
                by_source.setdefault(source, set()).add(item)
        return {source: sorted(items) for source, items in by_source.items()}

    def strength(self, space: int, items: Sequence[bytes]) -> dict[bytes, StrengthRow]:
        """Sum the counters of use over all layers: counters have no versions, so none hides another."""
        sums: dict[bytes, StrengthRow] = {}
        for layer in self.layers((space,)):
            for item, row in self._rows.items.strength(layer.space, items).items():
                sums[item] = added(sums[item], row) if item in sums else row
        return sums

    def home(self, space: int, seq: int) -> list[int]:
        """List the spaces behind a space, itself included, whose commit of this number it reads."""
        return [layer.space for layer in self.layers((space,)) if layer.upto is None or seq <= layer.upto]


class Snapshot:
    """Reads a store in one transaction, so that all its answers are of the same moment."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._layered = LayeredRows(rows)
        self._recorded: dict[tuple[int, int], int] = {}
        self._tenants: dict[str, int | None] = {}
        self._tenant_rows: dict[int, TenantRow] = {}
        self._actors: dict[tuple[int, int], str] = {}
        self._moments: dict[int, int] = {}
        self.now = rows.now()
        """When it was taken, in microseconds: what has expired by then is shown by no view of the present."""

    @property
    def tables(self) -> Rows:
        """The rows that it is of, for who copies them as they stand."""
        return self._rows

    def tenant(self, name: str) -> int | None:
        """The id of a tenant, if it has ever been written to."""
        if name not in self._tenants:
            row = self._rows.spaces.tenant(name)
            self._tenants[name] = None if row is None else row.id
        return self._tenants[name]

    def tenants(self) -> list[tuple[int, str]]:
        """Every tenant, by id."""
        rows = self._rows.spaces.tenants()
        self._tenant_rows.update((row.id, row) for row in rows)
        return [(row.id, row.name if row.name is not None else ERASED) for row in rows]

    def tenant_name(self, tenant: int) -> str:
        """The name of a tenant."""
        row = self._tenant_row(tenant)
        return row.name if row.name is not None else ERASED

    def head(self, tenant: int) -> Head:
        """Read the last commit and the horizon of a tenant's journal."""
        row = self._tenant_row(tenant)
        return Head(seq=row.seq, at=row.at, hash=row.hash, horizon=row.horizon)

    def space(self, tenant: int, user: str | Shared, branch: str = "") -> SpaceHead | None:
        """Find a user's space, the shared one or a branch, if it has ever been written to.

        To the methods below, a branch's number means the branch and, behind it, its parent as of its base; `entries`,
        `closed`, `versions`, `newest`, `vectors`, `lane` and `name_id` are of one space alone.
        """
        row = self._layered.space(tenant, user, branch)
        return None if row is None else _space_head(row)

    def owned(self, tenant: str, user: str | Shared, branch: str = "") -> tuple[SpaceHead | None, SpaceHead | None]:
        """A user's space or one of their branches, and the shared space of their tenant, as `space` gives them."""
        own, shared = self._layered.owned(tenant, user, branch)
        return None if own is None else _space_head(own), None if shared is None else _space_head(shared)

    def spaces(self, ids: Sequence[int]) -> list[SpaceHead]:
        """Look these spaces up, in the order given."""
        return [_space_head(row) for row in self._layered.homes(ids)]

    def all_spaces(self, tenant: int) -> list[SpaceHead]:
        """Every space of a tenant."""
        return [_space_head(row) for row in self._rows.spaces.tenant_spaces(tenant)]

    def kin(self, space: SpaceHead) -> list[SpaceHead]:
        """The space and the branches of whoever has this one, in the order they were made."""
        rows = [] if space.user is None else self._rows.spaces.kin(space.tenant, space.user)
        return [_space_head(row) for row in rows]

    def owners(self, after: tuple[int, int], limit: int, *, tenant: int | None = None) -> list[SpaceHead]:
        """The next users' own spaces past a tenant and the number of a space in it; of one tenant, if it is named."""
        first, number = after if tenant is None else (tenant, after[1])
        rows = self._rows.spaces.owners(first, number, limit, beyond=tenant is None)
        return [_space_head(row) for row in rows]

    def owner_count(self) -> int:
        """How many users there are, of all tenants; what a tenant shares counts as one."""
        return self._rows.spaces.owner_count()

    def owned_counts(self, spaces: Sequence[int]) -> dict[int, tuple[int, int]]:
        """How many items each of these users' own spaces shows now, and how many branches its owner has, by space."""
        shown = self._rows.items.shown_counts(spaces, self.now)
        branches = self._rows.spaces.branch_counts(spaces)
        return {space: (shown[space], branches.get(space, 0)) for space in spaces}

    def shown_total(self) -> int:
        """How many items are shown now, of all users, without what is on branches."""
        return self._rows.items.shown_total(self.now)

    def layers(self, spaces: Sequence[int]) -> tuple[Layer, ...]:
        """List the layers of a read set, the nearest first."""
        return self._layered.layers(spaces)

    def read_set(self, spaces: Sequence[int], view: View) -> list[tuple[SpaceHead, View, tuple[int, ...]]]:
        """List the layers of a read set, each as its space, the view to read it with, and its hidden versions' numbers.

        A version is hidden if a nearer layer, as the view sees it, has a version of the same item.
        """
        view = self.dated(spaces, view)
        layers = []
        for layer in self._layered.layers(spaces):
            for row in self._layered.homes((layer.space,)):
                narrowed = view if layer.upto is None else layer.view(view)
                layers.append((_space_head(row), narrowed, self._layered.hidden_versions(layer, view.at)))
        return layers

    def dated(self, spaces: Sequence[int], view: View) -> View:
        """Say when a view is looked at, where it does not: now; with `at`, when that commit was made.

        What `as_of` lies ahead of that has not run out yet, and will have by then.
        """
        if view.moment is not None or not spaces:
            return view
        moment = self.now if view.at is None else self._made(self._tenant_of(spaces[0]), view.at)
        return replace(view, moment=moment if view.as_of is None else max(moment, view.as_of))

    def _made(self, tenant: int, seq: int) -> int:
        """When a commit was made; one that the journal has no more was made before now."""
        if seq not in self._moments:
            row = self._rows.journal.last_change(tenant, seq)
            self._moments[seq] = self.now if row is None else row.at
        return self._moments[seq]

    def checkpoints(self, tenant: int) -> list[CheckpointRow]:
        """List a tenant's checkpoints, by commit and name."""
        return self._rows.notes.checkpoints(tenant)

    def name_id(self, space: int, name: str) -> int | None:
        """The id of an agent's or session's name in a space."""
        return self._rows.names.name(space, name)

    def get(self, spaces: Sequence[int], ids: Sequence[ItemId], view: View = View()) -> dict[ItemId, Version]:
        """The versions of these items that the view shows; absent ones are left out."""
        self._refuse_compacted(spaces, view)
        raw = [to_bytes(item) for item in ids]
        rows = self._layered.visible(spaces, raw, Walk(_ANY, self.dated(spaces, view), 0, len(raw))) if raw else []
        return {version.item.id: version for version in self._versions(spaces, rows)}

    def standing(self, spaces: Sequence[int], ids: Sequence[ItemId]) -> dict[ItemId, Version]:
        """The standing version of each item in whatever state it is."""
        raw = {to_bytes(item): item for item in ids}
        rows = self._layered.standing(spaces, list(raw)) if raw else {}
        standing = {version.item.id: version for version in self._versions(spaces, list(rows.values()))}
        return {item: standing[item] for item in raw.values() if item in standing}

    def places(self, spaces: Sequence[int], ids: Collection[ItemId]) -> frozenset[tuple[int, int]]:
        """Where the standing version of each item is: its space, and its local number there."""
        rows = self._layered.standing(spaces, [to_bytes(item) for item in ids])
        return frozenset((row.space, row.ver) for row in rows.values())

    def numbers(self, space: int, ids: Sequence[ItemId]) -> dict[ItemId, int]:
        """The local number of each item's standing version; what a branch reads in its parent has none."""
        rows = self._layered.standing((space,), [to_bytes(item) for item in ids])
        return {from_bytes(raw): row.ver for raw, row in rows.items() if row.space == space}

    def ids_between(
        self, spaces: Sequence[int], low: bytes, high: bytes, tail: bytes = b"", where: Filter = Filter()
    ) -> Iterator[ItemId]:
        """Ids from `low` to `high` (16 bytes each) that end in `tail`, of items that now pass the filter, ascending."""
        homes = {layer.space for layer in self.layers(spaces)}
        while low <= high:
            pages = [self._rows.items.ids(home, low, high, tail, _IDS_AT_ONCE) for home in homes]
            page = sorted({item for items in pages for item in items})[:_IDS_AT_ONCE]
            if not page:
                return
            shown = self._layered.visible(spaces, page, Walk(where, View(moment=self.now), 0, len(page)))
            yield from map(from_bytes, sorted({row.id for row in shown}))
            if page[-1] == high:
                return
            low = (int.from_bytes(page[-1], "big") + 1).to_bytes(16, "big")

    def versions(self, space: int, vers: Sequence[int]) -> dict[int, Version]:
        """Versions by their local number (`Entry.ver`)."""
        homes = self._layered.homes((space,))
        recorded = self._rows.items.recorded_rows(homes[0].tenant, space, vers) if homes else []
        self._recorded.update(((homes[0].tenant, row.seq_from), at) for row, at in recorded)
        rows = [row for row, _ in recorded]
        return {row.ver: version for row, version in zip(rows, self._versions((space,), rows), strict=True)}

    def item_ids(self, space: int, vers: Sequence[int]) -> dict[int, ItemId]:
        """Tell which item each version is of, by the version's local number; one of another space is left out."""
        return {ver: from_bytes(item) for ver, item in self._rows.items.item_ids(space, vers).items()}

    def history(self, spaces: Sequence[int], item: ItemId) -> list[Version]:
        """Every retained version of an item, oldest first."""
        return self.histories(spaces, (item,)).get(item, [])

    def histories(self, spaces: Sequence[int], ids: Sequence[ItemId]) -> dict[ItemId, list[Version]]:
        """Every retained version of each of these items, oldest first; what is not there is left out."""
        stories = self._layered.stories(spaces, [to_bytes(item) for item in ids])
        histories: dict[ItemId, list[Version]] = {}
        for version in self._versions(spaces, [row for versions in stories.values() for row in versions]):
            histories.setdefault(version.item.id, []).append(version)
        return histories

    def scan(
        self, spaces: Sequence[int], where: Filter = Filter(), view: View = View(), *, after: int = 0, limit: int = 100
    ) -> list[tuple[int, Version]]:
        """Versions with their local number, ascending from just past `after`: pass the last one on for more."""
        self._refuse_compacted(spaces, view)
        rows = self._layered.visible(spaces, None, Walk(where, self.dated(spaces, view), after, limit))
        return [(row.ver, version) for row, version in zip(rows, self._versions(spaces, rows), strict=True)]

    def latest(
        self,
        spaces: Sequence[int],
        where: Filter = Filter(),
        view: View = View(),
        *,
        limit: int = 100,
        before: int = FOREVER,
    ) -> list[Version]:
        """The last `limit` versions written that the view shows, newest first; those numbered from `before` on are not.

        Numbers are those of one space.
        """
        self._refuse_compacted(spaces, view)
        walk = Walk(where, self.dated(spaces, view), 0, limit, newest=True, before=before)
        return self._versions(spaces, self._layered.visible(spaces, None, walk))

    def written_before(
        self, place: tuple[int, int] | None, spaces: Sequence[int], where: Filter, view: View, *, limit: int
    ) -> list[tuple[tuple[int, int], Version]]:
        """The last `limit` versions written before a place that the view shows, newest first, each with its own place.

        A place is a commit and the number of an event in it; None is the end.
        """
        self._refuse_compacted(spaces, view)
        before = FOREVER
        if place is not None and spaces:
            before = self._rows.journal.version_bound(self._tenant_of(spaces[0]), *place)
        walk = Walk(where, self.dated(spaces, view), 0, limit, newest=True, before=before)
        rows = self._layered.visible(spaces, None, walk)
        places = [(row.seq_from, row.n) for row in rows]
        return list(zip(places, self._versions(spaces, rows), strict=True))

    def count(self, spaces: Sequence[int], where: Filter = Filter(), view: View = View()) -> int:
        """How many items the view shows."""
        self._refuse_compacted(spaces, view)
        return self._layered.count(spaces, where, self.dated(spaces, view))

    def expired(self, after: tuple[int, int] = (0, 0), limit: int = 100) -> list[tuple[int, int, int, ItemId]]:
        """What has expired and is not retired, of every space, past a moment and version: both, the space, the item."""
        rows = self._rows.items.expired(self.now, after, limit)
        return [(at, ver, space, from_bytes(item)) for at, ver, space, item in rows]

    def entries(self, space: int, after: int = 0, upto: int = FOREVER) -> Iterator[Entry]:
        """Entries of versions numbered past `after`, up to `upto`, ascending by (ver, part): all states, closed too."""
        return self._rows.items.entries(space, after, upto)

    def entry_count(self, space: int, after: int, upto: int, most: int) -> int:
        """How many entries versions past `after`, up to `upto`, have, counted up to `most`."""
        return self._rows.items.entry_count(space, after, upto, most)

    def packs(self, space: int, model: int = 0) -> list[PackRow]:
        """The packs of a space, in the order of what they hold: those of entries, or of an embedder's vectors."""
        return self._rows.packs.packs(space, model)

    def all_packs(self, space: int) -> list[PackRow]:
        """All packs of a space, by what they are made of."""
        return self._rows.packs.all_packs(space)

    def pack_body(self, pack: int) -> bytearray | None:
        """The bytes of a pack, unchecked."""
        return self._rows.packs.body(pack)

    def unpacked(self, least: int) -> list[int]:
        """The spaces with so many entries past their last pack, or with some between two packs."""
        return self._rows.packs.unpacked(least)

    def unsigned(self, model: int) -> dict[int, int]:
        """How many entries are packed in each space that has no pack of an embedder's vectors."""
        return self._rows.packs.unsigned(model)

    def bearers(self, space: int, asked: Condition, after: int = 0) -> list[int]:
        """The versions past `after`, in whatever state, that a condition on tags or on a slot is true of, ascending."""
        return self._rows.items.bearers(space, asked, after)

    def closed(self, space: int, after_seq: int) -> list[tuple[int, int]]:
        """(ver, seq_to) of versions closed by commits after `after_seq`."""
        return self._rows.items.closed(space, after_seq)

    def core(
        self, spaces: Sequence[int], view: View = View(), limit: int = 100, reader: str | None = None
    ) -> list[Version]:
        """Find the versions for the always-on block: pinned, profile or procedure, ascending by (seq_from, ver).

        Of more than `limit` it drops those of the profile first, then the oldest. What a strategy keeps for its own
        recall, unless it was pinned, is left out for all but that strategy, `reader`.
        """
        self._refuse_compacted(spaces, view)
        rows = self._layered.core(spaces, self.dated(spaces, view), limit, reader)
        if len(rows) > limit:
            rows = sorted(rows, key=core_order)[:limit]
        return self._versions(spaces, sorted(rows, key=attrgetter("seq_from", "ver")))

    def newest(self, space: int) -> int:
        """Return the highest local number of a space's versions; 0 for none. No number is ever used twice."""
        return self._rows.items.newest(space)

    def embedders(self) -> list[EmbedderRow]:
        """The embedders whose vectors are held, by id."""
        return self._rows.vectors.embedders()

    def vectors(self, space: int, model: int, after: int = 0) -> Iterator[VectorRow]:
        """One embedder's vectors of versions numbered past `after`, ascending by (ver, part).

        They are complete up to the cursor of the embedder's lane. Past it there are some already, which a new version
        took over from its predecessor: whoever reads on starts at the cursor read last, not at the last vector.
        """
        return self._rows.vectors.vectors(space, model, after)

    def vectors_of(self, space: int, model: int, vers: Sequence[int]) -> Iterator[VectorRow]:
        """One embedder's vectors of these versions, in no order."""
        return self._rows.vectors.vectors_of(space, model, vers)

    def without_traits(self, embedder: EmbedderRow) -> dict[int, int]:
        """How many of an embedder's vectors have no traits behind them, by space; each vector is looked at."""
        bare, _ = allowed_vector_sizes(embedder.dims)
        return self._rows.vectors.of_size(embedder.id, bare)

    def lane(self, space: int, name: str) -> Lane:
        """How far a lane has come in a space; one that never ran stands at 0."""
        return self._rows.lanes.lane(space, name)

    def lane_and_newest(self, space: int, name: str) -> tuple[Lane, int]:
        """How far a lane has come in a space, and the highest local number of its versions: `lane` and `newest`."""
        return self._rows.lanes.lane_and_newest(space, name)

    def backlog(self, name: str, after: int = 0, limit: int = FOREVER) -> list[tuple[int, int, int]]:
        """List (space, cursor, newest version) of spaces past one, not erased, in which a lane has work, by space."""
        return self._rows.lanes.backlog(name, after, limit)

    def pending(self, waiting: Sequence[tuple[int, int, int]]) -> dict[int, int]:
        """How many entries lie past the cursor of each of these spaces (`backlog`), by space."""
        return self._rows.lanes.pending(waiting)

    def lane_rows(self, name: str, spaces: Sequence[int]) -> dict[int, Lane]:
        """How far a lane has come in these spaces, by space; where it never ran is left out."""
        return self._rows.lanes.lane_rows(name, spaces)

    def failing(self, name: str) -> Iterator[tuple[int, str]]:
        """The spaces in which a lane failed last, and how, by space."""
        return self._rows.lanes.failing(name)

    def failing_lanes(self) -> list[str]:
        """The names of lanes that failed last in some space."""
        return self._rows.lanes.failing_lanes()

    def waiting(self, name: str, spaces: Sequence[int]) -> list[tuple[int, int, int]]:
        """List what `backlog` does, of these spaces alone."""
        return self._rows.lanes.waiting(name, spaces)

    def highest(self) -> int:
        """The highest version of all spaces; 0 for none."""
        return self._rows.items.highest()

    def spaces_since(self, after: int) -> list[int]:
        """Find the spaces that have a version numbered past `after`; as slow as there are such versions."""
        return self._rows.items.spaces_since(after)

    def followed(self, name: str) -> bool:
        """Whether a lane's rows of what is due are complete: `due` tells all."""
        return self._rows.lanes.followed(name) == FOREVER

    def followed_lanes(self) -> list[str]:
        """The lanes of which rows of what is due are written, or begun to be."""
        return self._rows.lanes.followed_lanes()

    def due(self, name: str, now: int = FOREVER) -> list[int]:
        """The spaces that a followed lane is to look at by now, by id; there may be nothing left to do in one."""
        return self._rows.lanes.due(name, now)

    def due_spaces(self, name: str, now: int, *, resting: bool) -> DueSpaces:
        """All that a look for a lane's work begins with."""
        return self._rows.lanes.due_spaces(name, now, resting=resting)

    def first_waiting(self, name: str) -> int | None:
        """The first space in which a lane has work that nobody follows; None for none."""
        return self._rows.lanes.first_waiting(name)

    def lanes(self) -> list[Lane]:
        """Every lane that ever ran, by space and name."""
        return self._rows.lanes.lanes()

    def due_job(self, names: Sequence[str]) -> Job | None:
        """The most urgent job of these names that may be done now and that nobody does."""
        return self._rows.lanes.due_job(names, self._rows.now())

    def has_waiting_job(self, names: Sequence[str] = ()) -> bool:
        """Whether a job of these names (none: of any) waits, or is being done."""
        return self._rows.lanes.has_waiting_job(names)

    def is_job_running(self, names: Sequence[str]) -> bool:
        """Whether somebody works on a job of these names."""
        return self._rows.lanes.has_running_job(names, self._rows.now())

    def jobs(
        self, *states: JobState, after: tuple[int, int] | None = None, limit: int = 0, by_number: bool = False
    ) -> list[Job]:
        """Jobs in these states, all if none is named: the most urgent first, then by number; or by number alone.

        Args:
            after: Only those behind one of this priority and number.
            limit: The most; 0 for all.
        """
        return self._rows.lanes.jobs(states or tuple(JobState), after, limit, by_number=by_number)

    def job_counts(self) -> dict[JobState, int]:
        """How many jobs there are in each state."""
        return {JobState(state): count for state, count in self._rows.lanes.job_counts().items()}

    def dead_counts(self, name: str) -> dict[bytes, int]:
        """How many dead jobs of a name there are with each payload."""
        return self._rows.lanes.dead_counts(name)

    def recorded(self, space: int, lane: str, request: bytes) -> bytes | None:
        """Find what a model answered when a run of this lane made the same request before."""
        return recorded(self._rows, space, lane, request)

    def prompt_messages(self, space: int, names: Sequence[str]) -> dict[str, PromptMessage]:
        """Find what memory has done about messages of prompts, by name; a message that is not known is left out."""
        return kept_messages(self._rows, space, names)

    def items_by_key(self, space: int, keys: Sequence[str]) -> dict[str, ItemId]:
        """Find the items that were written under idempotency keys, by key; a key that is not known is left out."""
        items: dict[str, ItemId] = {}
        for home in self._layered.homes((space,)):
            hashed = {key_hash(home.secret, key): key for key in keys}
            rows = self._rows.journal.keyed(home.id, list(hashed))
            items.update((hashed[key], from_bytes(row.item)) for key, row in rows.items() if row.item is not None)
        return items

    def session(self, space: int, name: str) -> SessionRow | None:
        """The window of a session, if one was ever written."""
        known = self._rows.names.name(space, name)
        return None if known is None else self._rows.sessions.session(space, known)

    def sessions(self, space: int, after: int = 0, limit: int = 0) -> list[tuple[int, str, SessionRow]]:
        """The windows of a space with the numbers and names of their sessions, in the order those were first said.

        Args:
            after: Only those whose name has a higher number in the space.
            limit: The most; 0 for all.
        """
        names = self._rows.names
        past = names.last_up_to(space, after) if after else 0
        rows = self._rows.sessions.sessions(space, past, limit)
        known = names.rows([row.session for row in rows])
        return [(named.number, named.text, row) for row in rows if (named := known.get(row.session)) is not None]

    def session_counts(self) -> tuple[int, int]:
        """How many sessions are known, of all users, and how many of them are open by their leases."""
        return self._rows.sessions.session_counts(self.now)

    def pages(self, space: int, session: int, ids: Sequence[ItemId] | None = None) -> list[PageRow]:
        """Read stored pages of a session, in the order they came in: these, or all that its window is resumed from.

        A window is resumed from its residents, and its turns that left it and are in no segment yet.
        """
        sessions = self._rows.sessions
        if ids is None:
            return sessions.pages_at_hand(space, session)
        return sessions.pages(space, session, [to_bytes(item) for item in ids])

    def links(self, spaces: Sequence[int], ids: Sequence[ItemId], view: View = View()) -> list[Link]:
        """Links that start or end at these items."""
        self._refuse_compacted(spaces, view)
        return [decode_link(row) for row in self._layered.links(spaces, [to_bytes(item) for item in ids], view.at)]

    def links_resting(self, space: int, ids: Sequence[ItemId]) -> list[Link]:
        """Find the links of a space that stand and have one of these items among their evidence."""
        sources, cited = self._layered.resting(space, [to_bytes(item) for item in ids]), set(ids)
        links = [decode_link(row) for row in self._layered.links((space,), sources, None)] if sources else []
        return [link for link in links if not cited.isdisjoint(link.evidence)]

    def derived(self, space: int, ids: Sequence[ItemId]) -> list[ItemId]:
        """List the items whose standing version cites one of these as its source."""
        raw, sources = [to_bytes(item) for item in ids], set(ids)
        by_source = self._layered.derived(space, raw) if raw else {}
        ever = dict.fromkeys(from_bytes(item) for source in raw for item in by_source.get(source, ()))
        standing = self.standing((space,), list(ever))
        return [item for item in ever if item in standing and sources & set(standing[item].item.source)]

    def kept_digests(self, wall: Wall) -> set[str]:
        """The digests of the files of artefacts behind a wall that its items keep."""
        return kept_digests(self._rows, wall)

    def strength(self, space: int, ids: Sequence[ItemId]) -> dict[ItemId, Strength]:
        """Counters of use; items never used are left out."""
        rows = self._layered.strength(space, [to_bytes(item) for item in ids])
        return {from_bytes(raw): _strength(row) for raw, row in rows.items()}

    def judgements(self, space: int, ver: int, since: int) -> int:
        """Count how often an item was said to have helped or misled, since a version was written and since a moment.

        Args:
            ver: The version's local number; 0 for the beginning.
            since: Microseconds.
        """
        read = self._rows.items.version_rows(space, [ver]) if ver else []
        after = read[0].seq_from if read else 0
        events = self._rows.journal.feedback(self._tenant_of(space), space, after, since)
        counts = (counted for event in events for counted in json.loads(event.payload or b"{}").values())
        return sum(useful + harms for _, useful, harms, _ in counts)

    def changes(self, tenant: int, after: int = 0, limit: int = 100, *, newest: bool = False) -> list[Change]:
        """Commits after seq `after`, ascending; with `newest`, the last ones, descending."""
        rows = self._rows.journal.changes(tenant, after, limit, newest)
        if not rows:
            return []
        seqs = [row.seq for row in rows]
        events: dict[int, list[EventRow]] = {seq: [] for seq in seqs}
        for event in self._rows.journal.events(tenant, min(seqs), max(seqs)):
            events[event.seq].append(event)
        return [self._change(row, events[row.seq]) for row in rows]

    def commits_of(self, spaces: Sequence[int], within: tuple[int, int], limit: int, *, newest: bool) -> list[Change]:
        """Commits that a read set reads, after one and before another, the oldest or newest first, at most `limit`.

        No commit of anybody else is looked at.
        """
        after, before = within
        rows: list[ChangeRow] = []
        for layer in self.layers(spaces):
            end = before if layer.upto is None else min(before, layer.upto + 1)
            rows += self._rows.journal.space_changes(layer.space, after, limit, newest=newest, before=end)
        rows.sort(key=attrgetter("seq"), reverse=newest)
        return self._with_events(self._tenant_of(spaces[0]), rows[:limit]) if rows else []

    def spaceless_commits(self, tenant: int, within: tuple[int, int], limit: int, *, newest: bool) -> list[Change]:
        """Commits of a tenant that are in no space, in the same way."""
        rows = self._rows.journal.spaceless_changes(tenant, *within, limit, newest=newest)
        return self._with_events(tenant, rows) if rows else []

    def _with_events(self, tenant: int, rows: Sequence[ChangeRow]) -> list[Change]:
        events = self._rows.journal.events_of(tenant, [row.seq for row in rows])
        return [self._change(row, events[row.seq]) for row in rows]

    def moved_since(self, tenant: int, seq: int, hash: bytes) -> set[int] | None:
        """The spaces that commits after this one are in; None where there are many, or the journal has it no more."""
        rows = self._rows.journal.changes(tenant, max(0, seq - 1), _MOVED, False)
        if len(rows) == _MOVED or (seq and (not rows or (rows[0].seq, rows[0].hash) != (seq, hash))):
            return None
        return {row.space for row in rows if row.seq > seq}

    def feed(self, tenant: int, spaces: Sequence[int], after: int = 0, limit: int = 100) -> tuple[list[Change], int]:
        """List commits of these spaces after seq `after`, ascending, and the seq to pass as `after` next time.

        All their commits up to that seq are listed; there are no more once the seq stays the same.

        Raises:
            Compacted: commits after `after` are gone, or the journal ends before it; 0 begins with the oldest kept.
        """
        commits, upto = fed(self._rows, tenant, spaces, after, limit)
        return [self._change(change, events) for change, events in commits], upto

    def state_hash(self, tenant: str) -> str:
        """Hash the ids, seqs and digests of a tenant's retained versions and links (SHA-256).

        Raises:
            NotFound: there is no such tenant.
        """
        import_whole("mnemic.store.engine.audit")
        from mnemic.store.engine.audit import state_hash

        return state_hash(self._rows, tenant)

    def meters(self) -> list[MeterRow]:
        """Read what the processes that have this store open measured of themselves, the latest first."""
        return self._rows.notes.meters()

    def holds(self, tenant: int, after: int = 0, limit: int = 0) -> list[Hold]:
        """The legal holds of a tenant numbered past `after`, the oldest first, at most `limit`; 0: all of them."""
        return listed(self._rows, self._tenant_row(tenant), after, limit)

    def credential(self, credential: str) -> CredentialRow | None:
        """The credential of an id; None for none."""
        return self._rows.notes.credential(credential)

    def credentials(self, kind: CredentialKind, tenant: str | None = None) -> list[CredentialRow]:
        """The credentials of a kind, of one tenant or of all, by when they were made."""
        rows = self._rows.notes.credentials(("kind", "=", int(kind)))
        return rows if tenant is None else [row for row in rows if row.tenant == tenant]

    def reasons_to_keep(self, tenant: int, space: int, items: Sequence[ItemId]) -> dict[ItemId, str]:
        """Find those of these items that a legal hold keeps, each with the reason to give."""
        return reasons_to_keep(self._rows, tenant, space, items)

    def floor(self, tenant: int) -> tuple[int, str]:
        """Find the last commit that the horizon may be moved to, and why it may go no further."""
        floor = horizon_floor(self._rows, self._tenant_row(tenant))
        return floor.seq, floor.why

    def version_counts(self, tenant: int) -> VersionCounts:
        """Count a tenant's versions, and those of them that are closed or stand retired."""
        return self._rows.past.version_counts([row.id for row in self._rows.spaces.tenant_spaces(tenant)])

    def memo(self, tenant: int, name: str) -> bytes | None:
        """Read a small fact that was stored about a tenant."""
        return self._rows.notes.memo(tenant, name)

    def memos(self, name: str) -> dict[int, bytes]:
        """Read a small fact that was stored about tenants, by tenant."""
        return self._rows.notes.memos(name)

    def written(self, space: int, seq: int) -> list[tuple[Version, Version | None]]:
        """List the versions that a commit wrote, each with its predecessor."""
        rows = [row for home in self._layered.home(space, seq) for row in self._rows.items.written(home, seq)]
        before = self._layered.closed_by(space, seq, [row.id for row in rows])
        former = {version.item.id: version for version in self._versions((space,), list(before.values()))}
        return [(version, former.get(version.item.id)) for version in self._versions((space,), rows)]

    def links_written(self, space: int, seq: int) -> list[tuple[Link, bool]]:
        """List the links that a commit opened (True) or closed (False)."""
        rows = (row for home in self._layered.home(space, seq) for row in self._rows.links.links_written(home, seq))
        return [(decode_link(row), bool(row.open)) for row in rows]

    def links_since(self, space: int, seq: int) -> Iterator[LinkRow]:
        """Versions of a space's links that commits after this one wrote, in order of writing; unlinking writes one."""
        rows = self._rows.journal.space_changes(space, seq, _FOLLOWED + 1) if seq else []
        if not seq or len(rows) > _FOLLOWED:
            return (row for row in self._rows.links.all_links(space) if row.seq_from > seq)
        events = self._rows.journal.events_of(self._tenant_of(space), [row.seq for row in rows]) if rows else {}
        written = [event.lver for commit in events.values() for event in commit if event.lver]
        return iter(self._rows.links.link_rows(space, written))

    def note_seqs(self, tenant: int, verbs: Sequence[Verb], after: int = 0) -> list[int]:
        """List the commits after this one that carry a note of one of these verbs, ascending.

        A note is an event that wrote neither a version nor a link.
        """
        return self._rows.journal.noted(tenant, tuple(map(int, verbs)), after)

    def seq_at(self, tenant: int, at: int) -> int:
        """The last commit recorded at or before this moment (microseconds); 0 for none."""
        return self._rows.journal.seq_at(tenant, at)

    def _actor_text(self, space: int, name: int) -> str:
        if (space, name) not in self._actors:
            self._actors[space, name] = self._rows.names.actor_text(space, name) or ERASED
        return self._actors[space, name]

    def _versions(self, spaces: Sequence[int], rows: Sequence[VersionRow]) -> list[Version]:
        """Decode rows, each of one of these spaces or of a layer behind them, with the time each was recorded.

        Raises:
            NotFound: one is of another space, which no query should find: walls between users are checked twice.
        """
        homes = {row.space for row in rows}
        if not homes.issubset(spaces) and (foreign := homes.difference(x.space for x in self._layered.layers(spaces))):
            raise NotFound(f"no item {from_bytes(next(row.id for row in rows if row.space in foreign))} here")
        tenants = {home: self._tenant_of(home) for home in homes}
        for tenant in {*tenants.values()}:
            self._note_times(tenant, [row.seq_from for row in rows if tenants[row.space] == tenant])
        return decode_versions(rows, [self._recorded[tenants[row.space], row.seq_from] for row in rows])

    def _note_times(self, tenant: int, seqs: Iterable[int]) -> None:
        """Look up in one query when these commits were recorded."""
        if unknown := [seq for seq in dict.fromkeys(seqs) if (tenant, seq) not in self._recorded]:
            times = self._rows.journal.times(tenant, unknown)
            self._recorded.update(((tenant, seq), times.get(seq, 0)) for seq in unknown)

    def _tenant_row(self, tenant: int) -> TenantRow:
        if tenant not in self._tenant_rows:
            self._tenant_rows[tenant] = self._rows.spaces.tenant_row(tenant)
        return self._tenant_rows[tenant]

    def _tenant_of(self, space: int) -> int:
        return self._layered.homes((space,))[0].tenant

    def _refuse_compacted(self, spaces: Iterable[int], view: View) -> None:
        if view.at is None:
            return
        for space in self._layered.homes(tuple(spaces)):
            horizon = self._tenant_row(space.tenant).horizon
            if view.at < horizon:
                raise Compacted(f"commit {view.at} lies behind the horizon, which is commit {horizon}")

    def _change(self, row: ChangeRow, events: Sequence[EventRow]) -> Change:
        return Change(
            seq=row.seq,
            space=row.space,
            at=moment(row.at),
            actor=self._actor_text(row.space, row.actor),
            cause=row.cause or None,
            hash=row.hash,
            events=tuple(_event(event) for event in events),
        )


def _space_head(row: SpaceRow) -> SpaceHead:
    return SpaceHead(
        id=row.id, tenant=row.tenant, user=row.user, seq=row.seq, epoch=row.epoch, parent=row.parent, base=row.base,
        branch=row.branch, lanes=row.lanes, number=row.number,
    )  # fmt: skip


def _event(row: EventRow) -> Event:
    item = None if row.item is None else from_bytes(row.item)
    return Event(
        n=row.n, verb=Verb(row.verb), item=item, payload=row.payload, digest=row.digest, erased=row.salt is None
    )


def _strength(row: StrengthRow) -> Strength:
    last = moment(row.last_used) if row.last_used else None
    return Strength(uses=row.uses, useful=row.useful, harms=row.harms, last_used=last)

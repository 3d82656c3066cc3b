"""Reading through: a branch shows its own rows, and those of its parent as of its base, as one space.

A read set is a row of layers, the nearest first. An id that a nearer layer has hides it in those behind, at whatever
past is asked for; a version that the parent closed after the base stands in the branch until the branch follows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from mnemic.core.clock import FOREVER
from mnemic.core.queries import Filter, View
from mnemic.core.scope import Shared
from mnemic.errors import Compacted, Conflict, Invalid, NotFound
from mnemic.store.engine.codec import decode_link
from mnemic.store.engine.rows import added
from mnemic.store.values.drafts import Draft, Fork
from mnemic.store.values.heads import Layer
from mnemic.store.values.row_values import Line, LinkRow, Rows, SpaceRow, StrengthRow, TenantRow, VersionRow, Walk


def lineage(rows: Rows, space: SpaceRow) -> tuple[Layer, ...]:
    """A space, and for a branch what lies behind it: its parent as of its base, that one's parent, and so on."""
    found: tuple[Layer, ...] = (Layer(space.id),)
    upto = FOREVER
    while space.parent:
        upto = min(upto, space.base)
        (space,) = rows.spaces.space_rows((space.parent,))
        found = (*found, Layer(space.id, upto, found))
    return found


def standing(rows: Rows, space: SpaceRow, items: Sequence[bytes]) -> dict[bytes, VersionRow]:
    """The standing versions of items as a space reads them; of a branch they may lie in its parent."""
    found = rows.items.standing(space.id, items)
    if not space.parent:
        return found
    for layer in lineage(rows, space)[1:]:
        found.update(_stood(rows, layer, [item for item in items if item not in found]))
    return found


def _stood(rows: Rows, layer: Layer, items: Sequence[bytes]) -> dict[bytes, VersionRow]:
    """The versions of items that stand in a layer as it is read."""
    at, known = _at(layer, None), rows.items.item_rows(layer.space, items)
    return {item: row for item, versions in known.items() for row in versions if row.seq_from <= at < row.seq_to}


def _at(layer: Layer, at: int | None) -> int:
    """The commit that a layer is read at, for a reader who asks for `at`; one below `FOREVER` for now."""
    return min((bound for bound in (layer.upto, at) if bound is not None), default=FOREVER - 1)


class Sight:
    """What the rows of one read transaction show to read sets that may hold a branch.

    A read set without one is handed to the rows as it is.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._homes: dict[int, SpaceRow] = {}
        self._layers: dict[tuple[int, ...], tuple[Layer, ...]] = {}
        self._hidden: dict[tuple[Layer, int | None], frozenset[bytes]] = {}

    def space(self, tenant: int, user: str | Shared, branch: str) -> SpaceRow | None:
        """Look up a user's space or branch, if it is there."""
        row = self._rows.spaces.space(tenant, user, branch)
        if row is not None:
            self._homes[row.id] = row
        return row

    def homes(self, spaces: Sequence[int]) -> list[SpaceRow]:
        """Look up spaces by number, each once, in the order given."""
        unknown = [space for space in spaces if space not in self._homes]
        if unknown:
            self._homes.update((row.id, row) for row in self._rows.spaces.space_rows(unknown))
        return [self._homes[space] for space in spaces if space in self._homes]

    def layers(self, spaces: Sequence[int]) -> tuple[Layer, ...]:
        """What a read set looks into. Beside a branch, another space such as the shared one is read at its base too."""
        key = tuple(spaces)
        if key not in self._layers:
            self._layers[key] = self._found(key)
        return self._layers[key]

    def _found(self, spaces: tuple[int, ...]) -> tuple[Layer, ...]:
        lines = [lineage(self._rows, row) for row in self.homes(spaces)]
        bases = [layer.upto for line in lines for layer in line if layer.upto is not None]
        if not bases:
            return tuple(Layer(space) for space in spaces)
        return tuple(x for line in lines for x in (line if len(line) > 1 else (Layer(line[0].space, min(bases)),)))

    def plain(self, spaces: Sequence[int]) -> bool:
        """Whether every space is read by itself, as it stands."""
        return all(layer.upto is None for layer in self.layers(spaces))

    def hidden(self, layer: Layer, at: int | None) -> frozenset[bytes]:
        """The items of a layer that nearer ones have too, at a past."""
        key = layer, at
        if key not in self._hidden:
            found = (self._rows.items.covered(one.space, layer.space, _at(one, at)) for one in layer.nearer)
            self._hidden[key] = frozenset(item for items in found for item in items)
        return self._hidden[key]

    def hidden_versions(self, layer: Layer, at: int | None) -> tuple[int, ...]:
        """The local numbers of all their versions, ascending."""
        items = list(self.hidden(layer, at))
        known = self._rows.items.item_rows(layer.space, items)
        return tuple(sorted(row.ver for versions in known.values() for row in versions))

    def visible(self, spaces: Sequence[int], items: Sequence[bytes] | None, walk: Walk) -> list[VersionRow]:
        """As the rows' own, over layers."""
        if self.plain(spaces):
            return self._rows.items.visible(spaces, items, walk)
        found: list[VersionRow] = []
        for layer in self.layers(spaces):
            hidden = self.hidden(layer, walk.view.at)
            wanted = None if items is None else [item for item in items if item not in hidden]
            if wanted is None or wanted:
                here = walk._replace(view=layer.view(walk.view), limit=walk.limit + len(hidden))
                page = self._rows.items.visible((layer.space,), wanted, here)
                found += [self._clipped(layer, row) for row in page if row.id not in hidden]
        found.sort(key=attrgetter("ver"), reverse=walk.newest)
        return found[: walk.limit] if items is None else found

    def count(self, spaces: Sequence[int], where: Filter, view: View) -> int:
        """How many items a view of layers shows."""
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

    def core(self, spaces: Sequence[int], view: View, limit: int) -> list[VersionRow]:
        """What is always at hand in each layer, at most `limit` of each."""
        found = []
        for layer in self.layers(spaces):
            hidden = self.hidden(layer, view.at)
            rows = self._rows.items.core(layer.space, layer.view(view), limit + len(hidden))
            found += [self._clipped(layer, row) for row in rows if row.id not in hidden]
        return found

    def standing(self, spaces: Sequence[int], items: Sequence[bytes]) -> dict[bytes, VersionRow]:
        """The standing versions of items; of each the nearest layer that has it answers."""
        found: dict[bytes, VersionRow] = {}
        for layer in self.layers(spaces):
            rest = [item for item in items if item not in found]
            plain = layer.upto is None
            here = self._rows.items.standing(layer.space, rest) if plain else _stood(self._rows, layer, rest)
            found.update((item, self._clipped(layer, row)) for item, row in here.items())
        return found

    def stories(self, spaces: Sequence[int], items: Sequence[bytes]) -> dict[bytes, list[VersionRow]]:
        """The versions of items, those behind first."""
        found: dict[bytes, list[VersionRow]] = {}
        for layer in reversed(self.layers(spaces)):
            upto = _at(layer, None)
            for item, versions in self._rows.items.item_rows(layer.space, items).items():
                here = [self._clipped(layer, row) for row in versions if row.seq_from <= upto]
                found.setdefault(item, []).extend(here)
        return found

    def closed_by(self, space: int, seq: int, items: Sequence[bytes]) -> dict[bytes, VersionRow]:
        """The versions of items that a commit ended, as the space reads them."""
        if self.plain((space,)):
            return {row.id: row for row in self._rows.items.closed_by(space, seq)} if items else {}
        stories = self.stories((space,), items)
        return {item: row for item, versions in stories.items() for row in versions if row.seq_to == seq}

    def _clipped(self, layer: Layer, row: VersionRow) -> VersionRow:
        """A version as the read set sees it end: not at what the parent did after the base."""
        if layer.upto is None or row.seq_to <= layer.upto:
            return row
        if row.id not in self.hidden(layer, None):
            return row._replace(seq_to=FOREVER)
        nearer = ((one, self._rows.items.item_rows(one.space, (row.id,)).get(row.id, [])) for one in layer.nearer)
        firsts = ((one, versions[0]) for one, versions in nearer if versions)
        return row._replace(seq_to=min(first.seq_from for one, first in firsts if first.seq_from <= _at(one, None)))

    def links(self, spaces: Sequence[int], items: Sequence[bytes], at: int | None) -> list[LinkRow]:
        """The links at items that stand at a past; a nearer layer's word on two ends and a type is the last one."""
        found: list[LinkRow] = []
        told: set[tuple[bytes, bytes, str]] = set()
        plain = self.plain(spaces)
        for layer in self.layers(spaces):
            bound = _at(layer, at)
            known = [row for row in self._rows.links.links_of(layer.space, items) if row.seq_from <= bound]
            ends = {} if plain else {row.lver: (row.src, row.dst, decode_link(row).type) for row in known}
            found += [row for row in known if row.open and bound < row.seq_to and ends.get(row.lver) not in told]
            told |= set(ends.values())
        return found

    def derived(self, space: int, sources: Sequence[bytes]) -> dict[bytes, list[bytes]]:
        """By source, what was ever derived from it."""
        found: dict[bytes, set[bytes]] = {}
        for layer in self.layers((space,)):
            for source, item in self._rows.links.derived(layer.space, sources):
                found.setdefault(source, set()).add(item)
        return {source: sorted(items) for source, items in found.items()}

    def strength(self, space: int, items: Sequence[bytes]) -> dict[bytes, StrengthRow]:
        """Counters of use, those of the layers together: they are not versioned."""
        found: dict[bytes, StrengthRow] = {}
        for layer in self.layers((space,)):
            for item, row in self._rows.items.strength(layer.space, items).items():
                found[item] = added(found[item], row) if item in found else row
        return found

    def home(self, space: int, seq: int) -> list[int]:
        """The spaces in which a commit can be one that a space reads."""
        return [layer.space for layer in self.layers((space,)) if layer.upto is None or seq <= layer.upto]


def fork(rows: Rows, tenant: TenantRow, draft: Draft, made: Fork, secret: bytes) -> SpaceRow:
    """The space of a new branch, in the commit that makes it.

    Raises:
        NotFound: there is nothing to branch from.
        Invalid, Compacted: the base lies ahead of the journal, or behind its horizon.
    """
    parent = rows.spaces.space(tenant.id, draft.user, made.of)
    if parent is None:
        raise NotFound("nothing has been remembered for this user yet, so there is nothing to branch from")
    base = tenant.seq if made.base is None else made.base
    if not 0 <= base <= tenant.seq:
        raise Invalid("base", f"commit {base} is not between 0 and {tenant.seq}", "`mnemic log` shows the commits.")
    if base < tenant.horizon:
        raise Compacted(f"commit {base} lies behind the horizon, which is commit {tenant.horizon}")
    return rows.spaces.add_space(tenant.id, draft.user, secret, Line(parent.id, base, draft.branch, made.lanes))


def named(rows: Rows, tenant: TenantRow, draft: Draft, secret: bytes) -> SpaceRow:
    """The space that a draft writes to, made if it is to be.

    Raises:
        NotFound: it names a branch that is not there.
        Conflict: it makes a branch that is there.
    """
    space = rows.spaces.space(tenant.id, draft.user, draft.branch)
    if space is None and draft.fork is not None:
        return fork(rows, tenant, draft, draft.fork, secret)
    if space is None and draft.branch:
        raise NotFound(f"no branch {draft.branch!r} here")
    if space is not None and draft.fork is not None:
        raise Conflict(f"there is a branch {draft.branch!r} already")
    return space or rows.spaces.add_space(tenant.id, draft.user, secret)


def children(rows: Rows, space: SpaceRow) -> list[SpaceRow]:
    """The branches that come off a space and are still there."""
    return [row for row in rows.spaces.tenant_spaces(space.tenant) if row.parent == space.id and row.user is not None]


def kin(rows: Rows, space: SpaceRow) -> list[SpaceRow]:
    """All spaces of the same owner: their own, and every branch."""
    return [row for row in rows.spaces.tenant_spaces(space.tenant) if row.user == space.user]

"""Checking the rows of spaces: against what the journal tells of them, and what is derived against what it is of."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from contextlib import suppress
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from mnemic.core.clock import FOREVER
from mnemic.core.facets import slot_facets, written_facets
from mnemic.core.ids import from_bytes, to_bytes
from mnemic.core.parts import terms_of
from mnemic.core.queries import Entry
from mnemic.core.scope import SHARED
from mnemic.errors import StoreCorrupt
from mnemic.store.engine import codec, lineage
from mnemic.store.engine.audit_journal import Chronicle
from mnemic.store.engine.ledger import entries
from mnemic.store.engine.relations import (
    ANSWER,
    DERIVED,
    DUE,
    ENTRY,
    FACET,
    FOLLOWED,
    HOLD,
    JOB,
    KEY,
    LANE,
    LINK,
    NAME,
    PACK,
    PAGE,
    SESSION,
    SPACE,
    STRENGTH,
    TOMB,
    VECTOR,
    VERSION,
    Condition,
    Relation,
)
from mnemic.store.engine.rows import Rows
from mnemic.store.values.receipts import Fault
from mnemic.store.values.row_values import LinkRow, SpaceRow, TenantRow, VersionRow
from mnemic.store.values.work import allowed_vector_sizes, indexed_slot

_OF_SPACES: Final[tuple[Relation[Any], ...]] = (
    VERSION, LINK, ENTRY, FACET, DERIVED, STRENGTH, KEY, TOMB, VECTOR, LANE, ANSWER, JOB, SESSION, PAGE, NAME, HOLD,
    PACK,
)  # fmt: skip
_OF_THE_WHOLE: Final = frozenset({JOB.name, HOLD.name})
"""Tables with rows of no space in particular."""
_CONTENT: Final[tuple[Relation[Any], ...]] = (VERSION, LINK, ENTRY, FACET, DERIVED, STRENGTH, KEY, VECTOR, PACK)
"""What an erased space has nothing of."""


def owners(rows: Rows, only: Sequence[TenantRow] = ()) -> Iterator[Fault]:
    """Spaces that are of no tenant, or come off what they cannot come off: all, or those of some tenants."""
    heads = {tenant.id: tenant for tenant in only or rows.spaces.tenants()}
    those: list[Condition] = [("tenant", "in", list(heads))] if only else []
    spaces = {space.id: space for space in rows.spaces.relations.find(SPACE, *those)}
    for space in spaces.values():
        where = f"space {space.id}"
        if space.tenant and space.tenant not in heads:
            yield Fault(where=where, problem=f"is of tenant {space.tenant}, which is not there")
        if not space.parent:
            if space.tenant and (space.base or space.branch):  # of no tenant is what was made and taken back
                yield Fault(where=where, problem="comes off nothing, and has a base or a branch's name")
            continue
        parent = spaces.get(space.parent)
        if parent is None or parent.tenant != space.tenant or space.user not in (None, parent.user):
            yield Fault(where=where, problem=f"comes off space {space.parent}, which is not its owner's")
        if space.tenant in heads and not 0 <= space.base <= heads[space.tenant].seq:
            yield Fault(where=where, problem=f"comes off commit {space.base}, which is not there")


def undue(rows: Rows) -> Iterator[Fault]:
    """Work of lanes that are followed of which no row tells: nobody would do it until something else is written."""
    followed = {name for name, _ in rows.lanes.relations.find(FOLLOWED)}
    for name in sorted({name for name, _, _ in rows.lanes.relations.find(DUE)} - followed):
        yield Fault(where=f"lane {name}", problem="has rows of what is due, and nobody follows it")
    for name in sorted(followed):
        upto = rows.lanes.followed(name) or 0
        due = {space for _, space, _ in rows.lanes.relations.find(DUE, name=name)}
        for space, _, _ in rows.lanes.waiting(name, rows.lanes.space_numbers()):
            if space <= upto and space not in due:
                yield Fault(where=f"lane {name}, space {space}", problem="has work, and no row says that it is due")


def strays(rows: Rows) -> Iterator[Fault]:
    """Rows of spaces that are not there."""
    relations = rows.spaces.relations
    spaces = {space.id: space for space in relations.find(SPACE)}
    for of in _OF_SPACES:
        after, row = -(2**63), relations.first(_numbered(of), order=("space",))
        while row is not None:
            (after,) = row
            if after not in spaces and not (after == 0 and of.name in _OF_THE_WHOLE):
                yield from _keepers(rows) if (of, after) == (VERSION, 0) else (_of_nowhere(of, after),)
            row = relations.first(_numbered(of), ("space", ">", after), order=("space",))


def leftovers(rows: Rows, tenant: TenantRow) -> Iterator[Fault]:
    """Rows of content in spaces of a tenant that were erased."""
    for space in rows.spaces.tenant_spaces(tenant.id):
        for of in _CONTENT if space.user is None else ():
            if rows.spaces.relations.first(_numbered(of), space=space.id) is not None:
                yield Fault(where=f"space {space.id}", problem=f"was erased, and has rows in {of.name}")


def _numbered(of: Relation[Any]) -> Relation[tuple[int]]:
    return Relation(of.name, ("space",), tuple)


def _of_nowhere(of: Relation[Any], space: int) -> Fault:
    return Fault(where=of.name, problem=f"has rows of space {space}, which is not there")


def _keepers(rows: Rows) -> Iterator[Fault]:
    """A row of no space keeps a number from being given again, and says nothing."""
    for row in rows.items.all_versions(0):
        if any(row[1:]):
            yield Fault(where=f"version {row.ver}", problem="is of no space, and says something")


class SpaceAudit:
    """The rows of one space.

    Args:
        remake: Whether what follows from a body is made again and compared; not where it has just been made.
    """

    def __init__(self, rows: Rows, space: SpaceRow, chronicle: Chronicle, *, remake: bool = True) -> None:
        self.rows, self.space, self.chronicle, self._remake = rows, space, chronicle, remake
        self._tombs: dict[bytes, int] = {}
        self._parts: dict[int, int] = {}
        self._written: set[tuple[bytes, int]] = set()
        self._faceted: list[tuple[int, bytes]] = []

    def sections(self) -> Iterator[tuple[str, Iterator[Fault]]]:
        """Each sort of rows and what is wrong with it, in an order in which later ones know what the earlier have."""
        yield "versions", self._versions()
        yield "links", self._links()
        yield "keys", self._keys()
        yield "tombstones", self._tombstones()
        yield "vectors", self._vectors()
        yield "facets", self._facets()

    def _versions(self) -> Iterator[Fault]:
        space, written, ends = self.space.id, self._written, dict[bytes, int]()
        self._tombs.update(self.rows.journal.tombs(space))
        names, slots = self._names(), self._indexed()
        cited = self.rows.links.relations.find(DERIVED, space=space) if self._remake else ()
        derived = {(source, item) for _, source, item in cited}
        last = (0, -1)
        read = self._remake or self.rows.vectors.embedders()  # each vector is of one of the entries
        catalogued = _ByVersion(self.rows.items.entries(space, 0) if read else iter(()))
        for row in self.rows.items.all_versions(space):
            ver, item, begun = row.ver, row.id, (row.seq_from, row.n)
            for orphan in catalogued.before(ver):
                yield self._orphan(orphan)
            own = catalogued.of(ver)
            remade = _reading(row, own, names, derived) if self._remake else ()
            for problem in (*self._event(row, last), *_interval(row, ends.get(item)), *remade):
                yield Fault(where=_named(row), problem=problem)
            ends[item], last = row.seq_to, begun
            written.add((item, row.seq_from))
            self._parts[ver] = len(own)
            if slots or b'"tags"' in row.body or b'"by"' in row.body:  # most bodies need not be read for this
                self._faceted += ((ver, facet) for facet in _facets_of(row, slots))
        for orphan in catalogued.before(FOREVER):
            yield self._orphan(orphan)
        for item, end in ends.items():
            if end != FOREVER:
                yield Fault(where=f"item {from_bytes(item)}", problem="has no standing version")

    def _indexed(self) -> list[tuple[str, int]]:
        """The slots that are indexed in the space, and as far as to which version."""
        lanes = self.rows.lanes.lanes(self.space.id)
        return [(slot, lane.cursor) for lane in lanes if (slot := indexed_slot(lane.name)) is not None]

    def _names(self) -> dict[int, str]:
        return {row.id: row.text for row in self.rows.names.names(self.space.id)}

    def _orphan(self, ver: int) -> Fault:
        return Fault(where=f"space {self.space.id}", problem=f"has entries of version {ver}, which is not there")

    def _event(self, row: VersionRow, last: tuple[int, int]) -> list[str]:
        problems: list[str] = []
        if row.ver not in self.chronicle.versions:
            problems.append("no event wrote it")
        if (row.seq_from, row.n) <= last:
            problems.append("is numbered out of the order of commits")
        if self._tombs and self._tombs.get(row.id, 0) >= row.seq_from:
            problems.append("stands behind a tombstone")
        if self.chronicle.erased_items or self.chronicle.erased_spaces:
            for erased in (self.chronicle.erased_items.get(row.id, 0), self.chronicle.erased_spaces.get(row.space, 0)):
                if erased > row.seq_from:
                    problems.append(f"was erased by commit {erased}")
        return problems

    def _links(self) -> Iterator[Fault]:
        names = self._names()
        ends: dict[tuple[bytes, bytes, int], int] = {}
        stands: list[LinkRow] = []
        for row in self.rows.links.all_links(self.space.id):
            where = f"link of item {from_bytes(row.src)}, commit {row.seq_from}"
            key = (row.src, row.dst, row.type)
            if row.lver not in self.chronicle.links:
                yield Fault(where=where, problem="no event wrote it")
            gone = max(self._tombs.get(row.src, 0), self._tombs.get(row.dst, 0))
            if gone >= row.seq_from or (row.seq_from, row.n) in self.chronicle.erased_links:
                yield Fault(where=where, problem="stands behind a tombstone")
            if ends.get(key, row.seq_from) != row.seq_from or row.seq_to <= row.seq_from:
                yield Fault(where=where, problem="does not begin where the one before it ends")
            ends[key] = row.seq_to
            if row.open and row.seq_to == FOREVER:
                stands.append(row)
            yield from _tie(where, row, names, self._tombs)
        for (src, _, _), end in ends.items():
            if end != FOREVER:
                yield Fault(where=f"link of item {from_bytes(src)}", problem="has no last version")
        yield from self._loose(stands)

    def _loose(self, links: Sequence[LinkRow]) -> Iterator[Fault]:
        """Links that stand and end at an item that the space does not read."""
        here = {item for item, _ in self._written} | self._tombs.keys()
        away = list({end for row in links for end in (row.src, row.dst)} - here)
        shared = self.rows.spaces.space(self.space.tenant, SHARED) if away else None
        behind = [layer.space for layer in lineage.lineage(self.rows, self.space)[1:]] if away else []
        for home in behind if shared is None else (*behind, shared.id):
            here |= self.rows.items.item_rows(home, away).keys()
            here |= dict(self.rows.journal.tombs(home)).keys()
        for row in links:
            for end in {row.src, row.dst} - here:
                where = f"link of item {from_bytes(row.src)}, commit {row.seq_from}"
                yield Fault(where=where, problem=f"ends at item {from_bytes(end)}, which is not there")

    def _keys(self) -> Iterator[Fault]:
        for seq, item in self.rows.journal.keyed_items(self.space.id):
            if item is None or (item, seq) in self._written or item in self._tombs or seq <= self.chronicle.horizon:
                continue
            where = f"key of commit {seq} in space {self.space.id}"
            yield Fault(where=where, problem=f"is of item {from_bytes(item)}, which that commit did not write")

    def _tombstones(self) -> Iterator[Fault]:
        for item, seq in self._tombs.items():
            where = f"tombstone of item {from_bytes(item)}"
            if not seq > 0:
                yield Fault(where=where, problem=f"is of commit {seq}")

    def _vectors(self) -> Iterator[Fault]:
        dims = {row.id: row.dims for row in self.rows.vectors.embedders()}
        for model, ver, part, size in self.rows.vectors.vector_sizes(self.space.id):
            where = f"space {self.space.id}, vector of version {ver}, part {part}"
            if not 0 <= part < self._parts.get(ver, 0):
                yield Fault(where=where, problem="is of no entry")
            if model not in dims:
                yield Fault(where=where, problem=f"is of embedder {model}, which is not there")
            elif size not in (allowed := allowed_vector_sizes(dims[model])):
                problem = f"has {size} bytes, its embedder's have {allowed[0]}, or {allowed[1]} with traits"
                yield Fault(where=where, problem=problem)

    def _facets(self) -> Iterator[Fault]:
        """Compare facets with those of tags and authors, and of each slot as far as its lane has come."""
        kept = self.rows.items.facets(self.space.id)
        once = (pair for pair, same in groupby(merge(kept, self._faceted)) if len(list(same)) == 1)
        for ver, _ in groupby(once, key=itemgetter(0)):
            where = f"space {self.space.id}, version {ver}"
            yield Fault(where=where, problem="its facets disagree with its tags, author and slots")


class _ByVersion:
    """Entries in the order of their versions, taken version by version."""

    def __init__(self, entries: Iterator[Entry]) -> None:
        self._entries = entries
        self._next = next(entries, None)

    def of(self, ver: int) -> list[Entry]:
        """Take those of one version, if they are next."""
        own: list[Entry] = []
        row = self._next
        while row is not None and row.ver == ver:
            own.append(row)
            row = self._next = next(self._entries, None)
        return own

    def before(self, ver: int) -> Iterator[int]:
        """Take all before a version; which versions they are of."""
        while self._next is not None and self._next.ver < ver:
            yield self._next.ver
            self.of(self._next.ver)


def _interval(row: VersionRow, before: int | None) -> Sequence[str]:
    """What is wrong with where a version begins and ends; `before`: where the one before it ends."""
    problems: list[str] = []
    if row.seq_to <= row.seq_from or (before is not None and before > row.seq_from):
        problems.append("overlaps the version before it")
    if before is not None and before != row.seq_from:
        problems.append("does not begin where the version before it ends")
    return problems


def _reading(row: VersionRow, own: list[Entry], names: dict[int, str], derived: set[tuple[bytes, bytes]]) -> list[str]:
    try:
        body = codec.read_body(row.body)
    except StoreCorrupt:
        return ["its body cannot be read"]
    problems: list[str] = []
    if (*row[6:12], *row[14:18]) != body.columns:
        problems.append("its columns disagree with its body")
    if (names.get(row.agent), names.get(row.session)) != (body.agent, body.session):
        problems.append("its agent or session disagrees with its body")
    # An erasure follows `derived`, so what a version may have words from must stand there.
    unlisted = (source for source in (*body.source, *body.context) if (to_bytes(source), row.id) not in derived)
    problems += [f"is not listed as derived from {source}" for source in unlisted]
    if not own:
        problems.append("has no entry in the catalogue's table")
    elif own != entries(row.ver, row, body.pinned, terms_of(body.wording)):
        problems.append("its entries disagree with it")
    return problems


def _facets_of(row: VersionRow, slots: Sequence[tuple[str, int]]) -> list[bytes]:
    """The facets of a version, ascending: of its tags, its author, and each slot that is indexed as far as that."""
    with suppress(StoreCorrupt):  # which is told where the version itself is looked at
        body, indexed = codec.read_body(row.body), [slot for slot, upto in slots if row.ver <= upto]
        return sorted(written_facets(body.tags, body.author) | slot_facets(body.wording.slots, indexed))
    return []


def _tie(where: str, row: LinkRow, names: dict[int, str], tombs: Container[bytes]) -> Iterator[Fault]:
    try:
        link = codec.decode_link(row)
    except StoreCorrupt:
        yield Fault(where=where, problem="its body cannot be read")
        return
    if names.get(row.type) != link.type:
        yield Fault(where=where, problem="its type disagrees with its body")
    if gone := [source for source in link.evidence if to_bytes(source) in tombs]:
        yield Fault(where=where, problem=f"rests on item {gone[0]}, which was erased")


def _named(row: VersionRow) -> str:
    return f"item {from_bytes(row.id)}, version of commit {row.seq_from}"

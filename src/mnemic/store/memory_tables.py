"""Tables in plain dicts, one set to a space, which can take back what was done to them since the last commit."""

from __future__ import annotations

from typing import Any, Final, TypeVar

from mnemic.core.clock import FOREVER
from mnemic.core.queries import Entry
from mnemic.core.scope import Shared
from mnemic.store.following import EmbedderRow, Job, Lane, VectorRow
from mnemic.store.meters import MeterRow
from mnemic.store.pages import PageRow, SessionRow
from mnemic.store.rows import (
    ChangeRow,
    EventRow,
    HoldRow,
    KeyRow,
    LinkRow,
    SpaceRow,
    StrengthRow,
    TenantRow,
    VersionRow,
)

K = TypeVar("K")
V = TypeVar("V")

_ABSENT: Final = object()


class Undoing:
    """What was in each place before it was changed, oldest first."""

    def __init__(self) -> None:
        self._before: list[tuple[dict[Any, Any], Any, Any]] = []

    def note(self, table: dict[Any, Any], key: Any) -> None:
        """Remember what `table` holds at `key`, before that changes."""
        self._before.append((table, key, table.get(key, _ABSENT)))

    def settle(self) -> bool:
        """What was done stays; whether anything was."""
        changed = bool(self._before)
        self._before.clear()
        return changed

    def roll_back(self) -> None:
        """Put everything back as it was."""
        while self._before:
            table, key, before = self._before[-1]
            if before is _ABSENT:
                dict.pop(table, key, None)
            else:
                dict.__setitem__(table, key, before)
            self._before.pop()


class Table(dict[K, V]):
    """A dict that notes each change before it makes it; its values are never changed in place."""

    def __init__(self, undoing: Undoing) -> None:
        super().__init__()
        self._undoing = undoing

    def __setitem__(self, key: K, value: V) -> None:
        self._undoing.note(self, key)
        super().__setitem__(key, value)

    def __delitem__(self, key: K) -> None:
        self._undoing.note(self, key)
        super().__delitem__(key)

    def discard(self, key: K) -> None:
        """Take a row out, if it is there."""
        if key in self:
            del self[key]

    def empty(self) -> None:
        """Take every row out."""
        for key in list(self):
            del self[key]


class Many(Table[K, tuple[V, ...]]):
    """A table of several values to a key, in the order they came."""

    def add(self, key: K, value: V) -> None:
        """One more value, unless it is there."""
        held = self.get(key, ())
        if value not in held:
            self[key] = (*held, value)

    def remove(self, key: K, value: V) -> None:
        """One value less."""
        left = tuple(other for other in self.get(key, ()) if other != value)
        if left:
            self[key] = left
        else:
            self.discard(key)


class SpaceTables:
    """The rows of one space; nothing in it can be found without going through its number.

    Attributes:
        items: The versions of each item, in order of commit.
        answers: What models said, each with the items that they may have been told of.
        vectors: Those of each version, each with its embedder.
        ends: The links that start or end at each item.
        keyed: The keys that became each item.
        paged: The sessions that have a page of each item.
    """

    def __init__(self, undoing: Undoing) -> None:
        self.names: Table[str, int] = Table(undoing)
        self.versions: Table[int, VersionRow] = Table(undoing)
        self.items: Many[bytes, int] = Many(undoing)
        self.entries: Table[int, tuple[Entry, ...]] = Table(undoing)
        self.vectors: Table[int, tuple[tuple[int, VectorRow], ...]] = Table(undoing)
        self.lanes: Table[str, Lane] = Table(undoing)
        self.answers: Table[tuple[str, bytes], tuple[bytes, frozenset[bytes]]] = Table(undoing)
        self.links: Table[int, LinkRow] = Table(undoing)
        self.ends: Many[bytes, int] = Many(undoing)
        self.derived: Many[bytes, bytes] = Many(undoing)
        self.strengths: Table[bytes, StrengthRow] = Table(undoing)
        self.keys: Table[bytes, KeyRow] = Table(undoing)
        self.keyed: Many[bytes, bytes] = Many(undoing)
        self.tombs: Table[bytes, int] = Table(undoing)
        self.sessions: Table[int, SessionRow] = Table(undoing)
        self.pages: Table[tuple[int, bytes], PageRow] = Table(undoing)
        self.paged: Many[bytes, int] = Many(undoing)

    @property
    def nbytes(self) -> int:
        """What its texts, links, token streams and vectors take."""
        terms = sum(len(entry.terms) for parts in self.entries.values() for entry in parts)
        bodies = sum(len(row.body) for row in self.versions.values()) + sum(
            len(row.body) for row in self.links.values()
        )
        return terms + bodies + sum(len(row.f16) for held in self.vectors.values() for _, row in held)

    def rows_of(self, item: bytes) -> list[VersionRow]:
        """The versions of an item, oldest first."""
        return [self.versions[ver] for ver in self.items.get(item, ())]

    def links_at(self, item: bytes) -> list[LinkRow]:
        """The links that start or end at an item, oldest first."""
        return [self.links[lver] for lver in self.ends.get(item, ())]

    def standing(self, item: bytes) -> VersionRow | None:
        """The version of an item that no other has followed."""
        vers = self.items.get(item)
        last = None if vers is None else self.versions[vers[-1]]
        return last if last is not None and last.seq_to == FOREVER else None

    def drop_version(self, row: VersionRow) -> None:
        """Take a version out, with its entries and vectors."""
        del self.versions[row.ver]
        self.entries.discard(row.ver)
        self.vectors.discard(row.ver)
        self.items.remove(row.id, row.ver)

    def drop_link(self, row: LinkRow) -> None:
        """Take a version of a link out."""
        del self.links[row.lver]
        for end in {row.src, row.dst}:
            self.ends.remove(end, row.lver)

    def drop_answers(self, item: bytes) -> None:
        """Forget what models said that may hold an item: by what they were told of, or as what was read out of it."""
        told = {item, *(source for source, items in self.derived.items() if item in items)}
        for key in [key for key, (_, given) in self.answers.items() if not given or given & told]:
            del self.answers[key]

    def drop_derived(self, item: bytes) -> None:
        """Forget what an item was derived from, and what from it."""
        self.derived.discard(item)
        for source in [source for source, items in self.derived.items() if item in items]:
            self.derived.remove(source, item)

    def drop_keys(self, item: bytes) -> None:
        """An import's key outlives its item, without anything to compare content with; any other key goes."""
        for hashed in self.keyed.get(item, ()):
            row = self.keys[hashed]
            if row.lasting:
                self.keys[hashed] = row._replace(salt=b"", digest=b"")
            else:
                self.drop_key(row)

    def drop_key(self, row: KeyRow) -> None:
        """Forget that a key was ever used."""
        del self.keys[row.hash]
        if row.item is not None:
            self.keyed.remove(row.item, row.hash)

    def drop_pages(self, item: bytes) -> None:
        """Forget the pages of an item, and the sessions whose name has gone with it."""
        for session in self.paged.get(item, ()):
            self.pages.discard((session, item))
        self.paged.discard(item)
        self.drop_nameless_sessions()

    def drop_nameless_sessions(self) -> None:
        """Forget the sessions whose name has gone, and their pages."""
        named = set(self.names.values())
        for session in [number for number in self.sessions if number not in named]:
            del self.sessions[session]
            for home, other in [key for key in self.pages if key[0] == session]:
                del self.pages[home, other]
                self.paged.remove(other, home)

    def empty(self) -> None:
        """Take everything out but the tombstones."""
        for table in (
            self.names, self.versions, self.items, self.entries, self.vectors, self.lanes, self.answers, self.links,
            self.ends, self.derived, self.strengths, self.keys, self.keyed, self.sessions, self.pages, self.paged,
        ):  # fmt: skip
            table.empty()


class JournalTables:
    """One tenant's journal: commits by seq, and their events by place."""

    def __init__(self, undoing: Undoing) -> None:
        self._undoing = undoing
        self.changes: Table[int, ChangeRow] = Table(undoing)
        self.events: Table[int, Table[int, EventRow]] = Table(undoing)

    def add_event(self, row: EventRow) -> None:
        """One more event of a commit."""
        if row.seq not in self.events:
            self.events[row.seq] = Table(self._undoing)
        self.events[row.seq][row.n] = row


class Tables:
    """Everything a store in memory holds.

    Attributes:
        owners: The space of each tenant's user, and of each of their branches.
        homes: The space (0: the store) and text of each name.
        last: The highest number given out of each sort; none is ever given twice.
    """

    def __init__(self) -> None:
        self.undoing = undoing = Undoing()
        self.tenants: Table[int, TenantRow] = Table(undoing)
        self.tenant_names: Table[str, int] = Table(undoing)
        self.spaces: Table[int, SpaceRow] = Table(undoing)
        self.owners: Table[tuple[int, str | Shared, str], int] = Table(undoing)
        self.homes: Table[int, tuple[int, str]] = Table(undoing)
        self.embedders: Table[int, EmbedderRow] = Table(undoing)
        self.jobs: Table[int, Job] = Table(undoing)
        self.last: Table[str, int] = Table(undoing)
        self.meters: Table[str, MeterRow] = Table(undoing)
        self.holds: Table[int, HoldRow] = Table(undoing)
        self.memos: Table[tuple[int, str], bytes] = Table(undoing)
        self._contents: dict[int, SpaceTables] = {}
        self._journals: dict[int, JournalTables] = {}

    def content(self, space: int) -> SpaceTables:
        """The rows of a space; 0 holds the names that belong to nobody."""
        return self._contents.get(space) or self._contents.setdefault(space, SpaceTables(self.undoing))

    def journal(self, tenant: int) -> JournalTables:
        """The journal of a tenant."""
        return self._journals.get(tenant) or self._journals.setdefault(tenant, JournalTables(self.undoing))

    @property
    def nbytes(self) -> int:
        """What the texts, links, token streams and vectors take, without the dicts around them."""
        return sum(content.nbytes for content in self._contents.values())

    def number(self, sort: str) -> int:
        """The next number of a sort."""
        self.last[sort] = self.last.get(sort, 0) + 1
        return self.last[sort]

    def spent(self, sort: str, number: int) -> None:
        """Note that a number was given out elsewhere."""
        self.last[sort] = max(number, self.last.get(sort, 0))

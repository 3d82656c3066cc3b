"""The tables of a SQLite store, each column declared: does it hold content, is it derived from content, or neither?

Erasing is generated from this declaration, and a test refuses a column that the file has and this page has not.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from mnemic.store.sqlite.row_checksums import FUNCTION

FORMAT: Final = 5
"""The number of this format; an older file is migrated, a newer one refused."""
TOKENS: Final = 3
"""The number of the tokeniser whose streams entries hold (`core.parts.entry_terms`): a file with an older one has them
made again from its items, a newer one is refused."""
APPLICATION: Final = 0x6D6E656D
"""`mnem`: how a file says that it is ours."""


class Holds(Enum):
    """Whether a column holds content, something made from content, or neither; erasure goes by it."""

    CONTENT = "content"
    DERIVED = "derived"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Table:
    """A table, what its columns hold, and the statements that erase some items' or one space's rows from it.

    Attributes:
        summed: Whether each row carries a checksum (`row_checksums`); the journal vouches for the others.
    """

    name: str
    columns: tuple[tuple[str, str, Holds], ...]
    tail: str = ""
    key: str = ""
    erase_items: str = ""
    erase_space: str = ""
    summed: bool = True

    @property
    def create(self) -> str:
        """The statement that creates the table."""
        parts = [f"{name} {kind}" for name, kind, _ in self.columns]
        if self.summed:
            parts.append(f"checksum INTEGER NOT NULL GENERATED ALWAYS AS ({self.sum}) STORED")
        return f"CREATE TABLE {self.name}({', '.join([*parts, *([self.key] if self.key else [])])}) STRICT{self.tail}"

    @property
    def sum(self) -> str:
        """The expression for the checksum of a row. Texts go in as bytes: damaged ones are no texts any more."""
        values = [f"CAST({name} AS BLOB)" if kind.startswith("TEXT") else name for name, kind, _ in self.columns]
        return f"{FUNCTION}('{self.name}', {', '.join(values)})"

    @property
    def keyed_by(self) -> tuple[str, ...]:
        """The columns that tell its rows apart."""
        own = [name for name, kind, _ in self.columns if "PRIMARY KEY" in kind]
        named = self.key.partition("PRIMARY KEY(")[2].partition(")")[0]
        return tuple(own or named.split(", "))


_C, _D, _N = Holds.CONTENT, Holds.DERIVED, Holds.NONE
THESE_ITEMS: Final = " IN (SELECT unhex(value) FROM json_each(:items))"
"""True of ids that are bound as JSON, each in hexadecimal digits."""
_OF_ITEMS: Final = "space = :space AND ver IN (SELECT ver FROM version WHERE space = :space AND id" + THESE_ITEMS + ")"
_THESE_LINKS: Final = " IN (SELECT value FROM json_each(:links))"
"""True of numbers of versions of links that are bound as JSON."""
RESTING: Final = "instr(body, CAST('\"evidence\"' AS BLOB)) > 0"
"""True of a link that may have evidence."""
_EMPTY_EVENTS: Final = "UPDATE event SET salt = NULL, payload = NULL, ver = 0, lver = 0 WHERE (tenant, seq, n) IN "
_PACKED_WITH: Final = "EXISTS (SELECT 1 FROM version v WHERE v.ver > pack.after AND v.ver <= pack.upto AND "
"""True of every pack that holds a version of which the rest is true."""
_OF_ANY_MODEL: Final = "model IN (SELECT id FROM embedder)"
"""True of every vector; it lets the primary key find a version's."""
SPEND_NUMBERS: Final = (
    "UPDATE space SET spent = (SELECT max(number) FROM name WHERE space = :space)"
    " WHERE id = :space AND spent < (SELECT max(number) FROM name WHERE space = :space)"
)
"""Before names of a space are taken out: their numbers are not given again, since the journal keeps them as actors."""
_NAMELESS_SESSIONS: Final = (
    "DELETE FROM session WHERE space = :space AND NOT EXISTS (SELECT 1 FROM name WHERE id = session.session)"
)
_NAMELESS_PAGES: Final = (
    "DELETE FROM page WHERE space = :space AND session IN (SELECT s.session FROM session s"
    " WHERE s.space = :space AND NOT EXISTS (SELECT 1 FROM name WHERE id = s.session))"
)

TABLES: Final = (
    Table("meta", (("key", "TEXT PRIMARY KEY", _N), ("value", "BLOB NOT NULL", _N)), ", WITHOUT ROWID"),
    Table(
        "tenant",
        (
            ("id", "INTEGER PRIMARY KEY", _N),
            ("name", "TEXT UNIQUE", _C),
            ("horizon", "INTEGER NOT NULL", _N),
            ("horizon_hash", "BLOB NOT NULL", _N),
        ),
    ),
    Table(
        "space",
        (
            ("id", "INTEGER PRIMARY KEY", _N),
            ("tenant", "INTEGER NOT NULL", _N),
            ("user", "TEXT", _C),
            ("shared", "INTEGER NOT NULL", _N),
            ("secret", "BLOB NOT NULL", _D),
            ("seq", "INTEGER NOT NULL", _N),
            ("epoch", "INTEGER NOT NULL", _N),
            ("parent", "INTEGER NOT NULL DEFAULT 0", _N),
            ("base", "INTEGER NOT NULL DEFAULT 0", _N),
            ("branch", "TEXT NOT NULL DEFAULT ''", _C),
            ("lanes", "INTEGER NOT NULL DEFAULT 1", _N),
            # In its tenant, which the journal calls it by: `id` is this file's. One that is of no tenant any more has
            # its `id` here. No name of it is given a number up to `spent`: names that are gone may have had them.
            ("number", "INTEGER NOT NULL", _N),
            ("spent", "INTEGER NOT NULL", _N),
        ),
        key="UNIQUE(tenant, number)",
        erase_space="UPDATE space SET user = NULL, shared = 0, secret = x'', branch = '' WHERE id = :space",
    ),
    Table(
        "name",
        # A number is never given twice in a space: the journal keeps an actor's number when the name is gone. Nor is an
        # `id` in the file: caches know names by it.
        (
            ("id", "INTEGER PRIMARY KEY AUTOINCREMENT", _N),
            ("space", "INTEGER NOT NULL", _N),
            ("number", "INTEGER NOT NULL", _N),
            ("text", "TEXT NOT NULL", _C),
        ),
        key="UNIQUE(space, text), UNIQUE(space, number)",
        # The names that an item bears go with the last item that bears them, even out of the journal's list of actors.
        erase_items=SPEND_NUMBERS
        + (
            ";DELETE FROM name WHERE space = :space AND id IN (SELECT agent FROM version WHERE space = :space AND id"
            + THESE_ITEMS
            + " UNION SELECT session FROM version WHERE space = :space AND id"
            + THESE_ITEMS
            + " UNION SELECT type FROM link WHERE lver"
            + _THESE_LINKS
            + ") AND NOT EXISTS (SELECT 1 FROM version v WHERE v.space = :space AND name.id IN (v.agent, v.session)"
            + " AND v.id NOT"
            + THESE_ITEMS
            + ") AND NOT EXISTS (SELECT 1 FROM link l WHERE l.space = :space AND l.type = name.id AND l.lver NOT"
            + _THESE_LINKS
            + ")"
        ),
        erase_space=SPEND_NUMBERS + ";DELETE FROM name WHERE space = :space",
    ),
    Table(
        "change",
        (
            ("tenant", "INTEGER NOT NULL", _N),
            ("seq", "INTEGER NOT NULL", _N),
            ("space", "INTEGER NOT NULL", _N),
            ("at", "INTEGER NOT NULL", _N),
            ("actor", "INTEGER NOT NULL", _N),
            ("cause", "INTEGER NOT NULL", _N),
            ("hash", "BLOB NOT NULL", _N),
        ),
        ", WITHOUT ROWID",
        "PRIMARY KEY(tenant, seq)",
    ),
    Table(
        "event",
        (
            ("tenant", "INTEGER NOT NULL", _N),
            ("seq", "INTEGER NOT NULL", _N),
            ("n", "INTEGER NOT NULL", _N),
            ("verb", "INTEGER NOT NULL", _N),
            ("item", "BLOB", _N),
            ("ver", "INTEGER NOT NULL", _N),
            ("lver", "INTEGER NOT NULL", _N),
            ("payload", "BLOB", _C),
            ("salt", "BLOB", _D),
            ("digest", "BLOB NOT NULL", _N),
        ),
        ", WITHOUT ROWID",
        "PRIMARY KEY(tenant, seq, n)",
        erase_items=(
            # Two statements: by a union of two selects a planner seeks no event, and walks the journal of everybody.
            _EMPTY_EVENTS
            + "(SELECT s.tenant, v.seq_from, v.n FROM version v JOIN space s ON s.id = v.space"
            + " WHERE v.space = :space AND v.id"
            + THESE_ITEMS
            + ");"
            + _EMPTY_EVENTS
            + "(SELECT s.tenant, l.seq_from, l.n FROM link l JOIN space s ON s.id = l.space WHERE l.lver"
            + _THESE_LINKS
            + ")"
        ),
        erase_space=(
            "UPDATE event SET salt = NULL, payload = NULL, ver = 0, lver = 0"
            " WHERE verb <> 11 AND (tenant, seq) IN (SELECT tenant, seq FROM change WHERE space = :space)"
        ),
        summed=False,
    ),
    Table(
        "version",
        (
            ("ver", "INTEGER PRIMARY KEY", _N),
            ("space", "INTEGER NOT NULL", _N),
            ("id", "BLOB NOT NULL", _N),
            ("seq_from", "INTEGER NOT NULL", _N),
            ("seq_to", "INTEGER NOT NULL", _N),
            ("n", "INTEGER NOT NULL", _N),
            ("state", "INTEGER NOT NULL", _D),
            ("kind", "INTEGER NOT NULL", _D),
            ("said", "INTEGER NOT NULL", _D),
            ("known_to", "INTEGER NOT NULL", _D),
            ("valid_from", "INTEGER NOT NULL", _D),
            ("valid_to", "INTEGER NOT NULL", _D),
            ("agent", "INTEGER NOT NULL", _D),
            ("session", "INTEGER NOT NULL", _D),
            ("pos", "INTEGER NOT NULL", _D),
            ("channel", "INTEGER NOT NULL", _D),
            ("expires", "INTEGER NOT NULL", _D),
            ("sight", "INTEGER NOT NULL", _D),
            ("body", "BLOB NOT NULL", _C),
        ),
        key="UNIQUE(space, id, seq_from)",
        erase_items="DELETE FROM version WHERE space = :space AND id" + THESE_ITEMS,
        erase_space="DELETE FROM version WHERE space = :space",
        summed=False,
    ),
    Table(
        "link",
        (
            ("lver", "INTEGER PRIMARY KEY", _N),
            ("space", "INTEGER NOT NULL", _N),
            ("src", "BLOB NOT NULL", _N),
            ("dst", "BLOB NOT NULL", _N),
            ("type", "INTEGER NOT NULL", _N),
            ("seq_from", "INTEGER NOT NULL", _N),
            ("seq_to", "INTEGER NOT NULL", _N),
            ("n", "INTEGER NOT NULL", _N),
            ("open", "INTEGER NOT NULL", _N),
            ("body", "BLOB NOT NULL", _C),
        ),
        key="UNIQUE(space, src, dst, type, seq_from)",
        erase_items="DELETE FROM link WHERE lver" + _THESE_LINKS,
        erase_space="DELETE FROM link WHERE space = :space",
    ),
    Table(
        "entry",
        (
            ("space", "INTEGER NOT NULL", _N),
            ("ver", "INTEGER NOT NULL", _N),
            ("part", "INTEGER NOT NULL", _N),
            ("seq_from", "INTEGER NOT NULL", _N),
            ("seq_to", "INTEGER NOT NULL", _N),
            ("state", "INTEGER NOT NULL", _D),
            ("kind", "INTEGER NOT NULL", _D),
            ("said", "INTEGER NOT NULL", _D),
            ("known_to", "INTEGER NOT NULL", _D),
            ("valid_from", "INTEGER NOT NULL", _D),
            ("valid_to", "INTEGER NOT NULL", _D),
            ("agent", "INTEGER NOT NULL", _D),
            ("session", "INTEGER NOT NULL", _D),
            ("pos", "INTEGER NOT NULL", _D),
            ("pinned", "INTEGER NOT NULL", _D),
            ("channel", "INTEGER NOT NULL", _D),
            ("expires", "INTEGER NOT NULL", _D),
            ("sight", "INTEGER NOT NULL", _D),
            ("terms", "BLOB NOT NULL", _D),
        ),
        ", WITHOUT ROWID",
        "PRIMARY KEY(space, ver, part)",
        erase_items="DELETE FROM entry WHERE " + _OF_ITEMS,
        erase_space="DELETE FROM entry WHERE space = :space",
        summed=False,
    ),
    Table(
        "facet",
        # The tags and authors of versions, and those of their slots that were indexed, as digests (`core.facets`).
        (("space", "INTEGER NOT NULL", _N), ("ver", "INTEGER NOT NULL", _N), ("hash", "BLOB NOT NULL", _D)),
        ", WITHOUT ROWID",
        "PRIMARY KEY(space, ver, hash)",
        erase_items="DELETE FROM facet WHERE " + _OF_ITEMS,
        erase_space="DELETE FROM facet WHERE space = :space",
        summed=False,
    ),
    Table(
        "meter",
        # What processes measured of themselves, in numbers: nothing of anybody's memory.
        (("process", "TEXT NOT NULL PRIMARY KEY", _N), ("at", "INTEGER NOT NULL", _N), ("body", "BLOB NOT NULL", _N)),
        ", WITHOUT ROWID",
    ),
    Table(
        "embedder",
        # A number is never given twice: a cache may still hold vectors by it.
        (
            ("id", "INTEGER PRIMARY KEY AUTOINCREMENT", _N),
            ("name", "TEXT NOT NULL UNIQUE", _N),
            ("dims", "INTEGER NOT NULL", _N),
            ("state", "INTEGER NOT NULL", _N),
        ),
    ),
    Table(
        "vector",
        (
            ("space", "INTEGER NOT NULL", _N),
            ("model", "INTEGER NOT NULL", _N),
            ("ver", "INTEGER NOT NULL", _N),
            ("part", "INTEGER NOT NULL", _N),
            ("f16", "BLOB NOT NULL", _D),
        ),
        ", WITHOUT ROWID",
        "PRIMARY KEY(space, model, ver, part)",
        erase_items="DELETE FROM vector WHERE " + _OF_ANY_MODEL + " AND " + _OF_ITEMS,
        erase_space="DELETE FROM vector WHERE space = :space",
    ),
    Table(
        "pack",
        # Entries, or signs of their vectors, in the bytes that a catalogue uses: made of them, and made again from them
        # whenever one is gone. Bytes can be read apart from the row only where the row has a number.
        (
            ("id", "INTEGER PRIMARY KEY", _N),
            ("space", "INTEGER NOT NULL", _N),
            ("after", "INTEGER NOT NULL", _N),
            ("upto", "INTEGER NOT NULL", _N),
            ("seq", "INTEGER NOT NULL", _N),
            ("rows", "INTEGER NOT NULL", _N),
            ("build", "INTEGER NOT NULL", _N),
            ("digest", "BLOB NOT NULL", _D),
            ("model", "INTEGER NOT NULL", _N),
            ("body", "BLOB NOT NULL", _D),
        ),
        key="UNIQUE(space, model, after)",
        erase_items=(
            "DELETE FROM pack WHERE space = :space AND "
            + _PACKED_WITH
            + "v.space = :space AND v.id"
            + THESE_ITEMS
            + ")"
        ),
        erase_space="DELETE FROM pack WHERE space = :space",
        # Its digest vouches for it, and SQLite reads no bytes apart from a row that has a generated column.
        summed=False,
    ),
    Table(
        "lane",
        (
            ("space", "INTEGER NOT NULL", _N),
            ("name", "TEXT NOT NULL", _N),
            ("cursor", "INTEGER NOT NULL", _N),
            ("owner", "TEXT NOT NULL", _N),
            ("lease_until", "INTEGER NOT NULL", _N),
            ("attempt", "INTEGER NOT NULL", _N),
            ("not_before", "INTEGER NOT NULL", _N),
            ("error", "TEXT NOT NULL", _D),
            ("seq", "INTEGER NOT NULL DEFAULT 0", _N),
            ("stride", "INTEGER NOT NULL DEFAULT 0", _N),
            ("reach", "INTEGER NOT NULL DEFAULT 0", _N),
            ("leased", "INTEGER NOT NULL DEFAULT 0", _N),
        ),
        ", WITHOUT ROWID",
        "PRIMARY KEY(space, name)",
        # What went wrong may quote what it went wrong with, and so may what a run under way will say.
        erase_items="UPDATE lane SET error = '', owner = '', lease_until = 0 WHERE space = :space",
        erase_space="DELETE FROM lane WHERE space = :space",
    ),
    Table(
        "followed",
        # The lanes that somebody follows. Those of spaces up to `upto` have their rows in `due`; what is written later
        # brings its own.
        (("name", "TEXT NOT NULL PRIMARY KEY", _N), ("upto", "INTEGER NOT NULL", _N)),
        ", WITHOUT ROWID",
    ),
    Table(
        "due",
        # Where a followed lane has something before it, and when it is to be looked at again (0: now).
        (("name", "TEXT NOT NULL", _N), ("space", "INTEGER NOT NULL", _N), ("at", "INTEGER NOT NULL", _N)),
        ", WITHOUT ROWID",
        "PRIMARY KEY(name, space)",
        erase_space="DELETE FROM due WHERE name IN (SELECT name FROM followed) AND space = :space",
    ),
    Table(
        "answer",
        (
            ("space", "INTEGER NOT NULL", _N),
            ("lane", "TEXT NOT NULL", _N),
            ("hash", "BLOB NOT NULL", _D),
            ("answer", "BLOB NOT NULL", _C),
            ("given", "BLOB NOT NULL", _N),
        ),
        ", WITHOUT ROWID",
        "PRIMARY KEY(space, lane, hash)",
        # `given` is the ids, one after the other, of all that a model may have been told of when it answered; without
        # any nobody knows. What was derived from those may have been read out of the answer.
        erase_items=(
            "DELETE FROM answer WHERE space = :space AND (given = x''"
            " OR EXISTS (SELECT 1 FROM json_each(:items) WHERE instr(given, unhex(value)))"
            " OR EXISTS (SELECT 1 FROM derived d"
            " WHERE d.space = :space AND instr(answer.given, d.source) AND d.item" + THESE_ITEMS + "))"
        ),
        erase_space="DELETE FROM answer WHERE space = :space",
    ),
    Table(
        "job",
        (
            ("id", "INTEGER PRIMARY KEY AUTOINCREMENT", _N),
            ("space", "INTEGER NOT NULL", _N),
            ("name", "TEXT NOT NULL", _N),
            ("key", "TEXT NOT NULL", _C),
            ("payload", "BLOB NOT NULL", _C),
            ("ver", "INTEGER NOT NULL", _N),
            ("priority", "INTEGER NOT NULL", _N),
            ("not_before", "INTEGER NOT NULL", _N),
            ("state", "INTEGER NOT NULL", _N),
            ("attempts", "INTEGER NOT NULL", _N),
            ("owner", "TEXT NOT NULL", _N),
            ("leased", "INTEGER NOT NULL", _N),
            ("lease_until", "INTEGER NOT NULL", _N),
            ("error", "TEXT NOT NULL", _D),
            ("at", "INTEGER NOT NULL", _N),
        ),
        key="UNIQUE(space, name, key)",
        erase_items=(
            "DELETE FROM job WHERE ver <> 0 AND " + _OF_ITEMS + ";"
            "UPDATE job SET error = '', owner = '', lease_until = 0 WHERE space = :space"
        ),
        erase_space="DELETE FROM job WHERE space = :space",
    ),
    Table(
        "session",
        (
            ("space", "INTEGER NOT NULL", _N),
            ("session", "INTEGER NOT NULL", _N),
            ("owner", "TEXT NOT NULL", _N),
            ("lease_until", "INTEGER NOT NULL", _N),
            ("budget", "INTEGER NOT NULL", _N),
            ("policy", "TEXT NOT NULL", _N),
            ("clock", "INTEGER NOT NULL", _N),
            ("turns", "INTEGER NOT NULL", _N),
            ("seq", "INTEGER NOT NULL", _N),
        ),
        ", WITHOUT ROWID",
        "PRIMARY KEY(space, session)",
        # A session goes with its name, and that goes with the last item that bears it.
        erase_items=_NAMELESS_SESSIONS,
        erase_space="DELETE FROM session WHERE space = :space",
    ),
    Table(
        "page",
        (
            ("space", "INTEGER NOT NULL", _N),
            ("session", "INTEGER NOT NULL", _N),
            ("item", "BLOB NOT NULL", _N),
            ("resident", "INTEGER NOT NULL", _N),
            ("tokens", "INTEGER NOT NULL", _D),
            ("born", "INTEGER NOT NULL", _N),
            ("last_use", "INTEGER NOT NULL", _N),
            ("uses", "INTEGER NOT NULL", _D),
            ("arrived", "INTEGER NOT NULL", _N),
            ("pinned", "INTEGER NOT NULL", _D),
            ("position", "INTEGER NOT NULL", _N),
            ("segment", "INTEGER NOT NULL", _D),
            ("importance", "REAL NOT NULL", _D),
            ("novelty", "REAL NOT NULL", _D),
            ("entities", "INTEGER NOT NULL", _D),
        ),
        ", WITHOUT ROWID",
        "PRIMARY KEY(space, session, item)",
        erase_items="DELETE FROM page INDEXED BY page_item WHERE space = :space AND item"
        + THESE_ITEMS
        + ";"
        + _NAMELESS_PAGES,
        erase_space="DELETE FROM page WHERE space = :space",
    ),
    Table(
        "derived",
        (("space", "INTEGER NOT NULL", _N), ("source", "BLOB NOT NULL", _N), ("item", "BLOB NOT NULL", _N)),
        ", WITHOUT ROWID",
        "PRIMARY KEY(space, source, item)",
        erase_items="DELETE FROM derived WHERE space = :space AND (source"
        + THESE_ITEMS
        + " OR item"
        + THESE_ITEMS
        + ")",
        erase_space="DELETE FROM derived WHERE space = :space",
    ),
    Table(
        "strength",
        (
            ("space", "INTEGER NOT NULL", _N),
            ("id", "BLOB NOT NULL", _N),
            ("uses", "INTEGER NOT NULL", _D),
            ("useful", "INTEGER NOT NULL", _D),
            ("harms", "INTEGER NOT NULL", _D),
            ("last_used", "INTEGER NOT NULL", _D),
        ),
        ", WITHOUT ROWID",
        "PRIMARY KEY(space, id)",
        erase_items="DELETE FROM strength WHERE space = :space AND id" + THESE_ITEMS,
        erase_space="DELETE FROM strength WHERE space = :space",
    ),
    Table(
        "idem",
        (
            ("space", "INTEGER NOT NULL", _N),
            ("hash", "BLOB NOT NULL", _D),
            ("salt", "BLOB NOT NULL", _D),
            ("digest", "BLOB NOT NULL", _D),
            ("seq", "INTEGER NOT NULL", _N),
            ("item", "BLOB", _N),
            ("lasting", "INTEGER NOT NULL", _N),
            ("at", "INTEGER NOT NULL", _N),
        ),
        ", WITHOUT ROWID",
        "PRIMARY KEY(space, hash)",
        # An import's key outlives its item, without anything to compare content with; any other key goes.
        erase_items=(
            "UPDATE idem SET salt = x'', digest = x'' WHERE space = :space AND lasting AND item"
            + THESE_ITEMS
            + ";DELETE FROM idem WHERE space = :space AND NOT lasting AND item"
            + THESE_ITEMS
        ),
        erase_space="DELETE FROM idem WHERE space = :space",
    ),
    Table(
        "hold",
        # What may not be taken out. An erasure is refused while one stands, so that these go only with a released one.
        (
            ("id", "INTEGER PRIMARY KEY AUTOINCREMENT", _N),
            ("tenant", "INTEGER NOT NULL", _N),
            ("space", "INTEGER NOT NULL", _N),
            ("item", "BLOB", _N),
            ("session", "TEXT NOT NULL", _C),
            ("reason", "TEXT NOT NULL", _C),
            ("actor", "TEXT NOT NULL", _C),
            ("at", "INTEGER NOT NULL", _N),
            ("seq", "INTEGER NOT NULL", _N),
        ),
        erase_items="DELETE FROM hold WHERE space = :space AND item" + THESE_ITEMS,
        erase_space="DELETE FROM hold WHERE space = :space",
    ),
    Table(
        "credential",
        # Who may use the store through a server: hashes of secrets, never a secret. They are of names, not of a space:
        # one may be made before its user has said a word. So a user's go by the erasure itself (`erasure`), and stay
        # where going back in time takes out a space that was not there yet.
        (
            ("id", "TEXT PRIMARY KEY NOT NULL", _N),
            ("kind", "INTEGER NOT NULL", _N),
            ("hash", "BLOB NOT NULL", _N),
            ("name", "TEXT NOT NULL", _C),
            ("tenant", "TEXT NOT NULL", _C),
            ("user", "TEXT", _C),
            ("right", "INTEGER NOT NULL", _N),
            ("shared", "INTEGER NOT NULL", _N),
            ("issuer", "TEXT NOT NULL", _N),
            ("created", "INTEGER NOT NULL", _N),
            ("expires", "INTEGER NOT NULL", _N),
            ("used", "INTEGER NOT NULL", _N),
            ("revoked", "INTEGER NOT NULL", _N),
        ),
        ", WITHOUT ROWID",
    ),
    Table(
        "checkpoint",
        # Copies that were made beside the store: `file` lies in the folder `checkpoints` there.
        (
            ("tenant", "INTEGER NOT NULL", _N),
            ("name", "TEXT NOT NULL", _N),
            ("seq", "INTEGER NOT NULL", _N),
            ("at", "INTEGER NOT NULL", _N),
            ("hash", "TEXT NOT NULL", _N),
            ("file", "TEXT NOT NULL", _N),
        ),
        ", WITHOUT ROWID",
        "PRIMARY KEY(tenant, name)",
    ),
    Table(
        "memo",
        # Small facts that the kernel keeps about a tenant, in numbers: when it collected last, which trigger paid.
        (("tenant", "INTEGER NOT NULL", _N), ("name", "TEXT NOT NULL", _N), ("value", "BLOB NOT NULL", _N)),
        ", WITHOUT ROWID",
        "PRIMARY KEY(tenant, name)",
    ),
    Table(
        "tomb",
        (("space", "INTEGER NOT NULL", _N), ("item", "BLOB NOT NULL", _N), ("seq", "INTEGER NOT NULL", _N)),
        ", WITHOUT ROWID",
        "PRIMARY KEY(space, item)",
    ),
)

INDEXES: Final = (
    "CREATE UNIQUE INDEX space_owner ON space(tenant, user, branch) WHERE user IS NOT NULL",
    "CREATE UNIQUE INDEX space_shared ON space(tenant, branch) WHERE shared",
    "CREATE INDEX version_closed ON version(space, seq_to) WHERE seq_to < 9223372036854775807",
    "CREATE INDEX version_retired ON version(space, seq_from) WHERE state = 3 AND seq_to = 9223372036854775807",
    # What expires and has not been retired for it: nothing where nothing expires.
    "CREATE INDEX version_expires ON version(expires)"
    " WHERE expires > 0 AND state <> 3 AND seq_to = 9223372036854775807",
    # What a view of the present shows, but for what has expired: it is counted here, without looking at a version.
    "CREATE INDEX version_shown ON version(space) WHERE state = 1 AND seq_to = 9223372036854775807",
    "CREATE INDEX space_branch ON space(id) WHERE parent > 0",
    "CREATE INDEX link_spent ON link(space, seq_from) WHERE NOT open OR seq_to < 9223372036854775807",
    "CREATE INDEX event_bare ON event(tenant, seq, n) WHERE ver = 0 AND lver = 0",
    "CREATE INDEX link_dst ON link(space, dst)",
    # What rests on more than its ends: few links of many.
    "CREATE INDEX link_resting ON link(space) WHERE " + RESTING,
    "CREATE INDEX change_space ON change(space, seq)",
    "CREATE INDEX due_at ON due(name, at)",
    # What waits for nothing, by urgency; what waits for its time or has a lease, by when that ends; a clock that was
    # set back is seen by when a job was leased.
    "CREATE INDEX job_ready ON job(priority DESC, id) WHERE state = 1 AND not_before = 0 AND lease_until = 0",
    "CREATE INDEX job_later ON job(max(not_before, lease_until))"
    " WHERE state = 1 AND (not_before > 0 OR lease_until > 0)",
    "CREATE INDEX job_leased ON job(leased) WHERE state = 1",
    "CREATE INDEX job_listed ON job(state, priority DESC, id)",
    "CREATE INDEX lane_failing ON lane(name, space) WHERE error <> ''",
    "CREATE INDEX page_item ON page(space, item)",
    "CREATE INDEX page_at_hand ON page(space, session) WHERE (resident OR (segment < 0 AND position >= 0))",
    "CREATE INDEX facet_hash ON facet(space, hash, ver)",
    # Profile and procedure by their numbers (`codec.KINDS`), and what is pinned: few rows of many.
    "CREATE INDEX entry_core ON entry(space, seq_to, seq_from, ver) WHERE part = 0 AND (pinned OR kind IN (6, 7))",
)

_ORDER: Final = (
    "hold",
    "job",
    "due",
    "answer",
    "idem",
    "vector",
    "pack",
    "lane",
    "facet",
    "entry",
    "strength",
    "derived",
    "event",
    "name",
    "page",
    "session",
    "link",
    "version",
    "space",
)
"""The order in which tables are erased: rows that are found through others go before these."""


def erase_items_statements() -> list[str]:
    """List the statements that erase items, and links, from every table, with `:space`, `:items` and `:links`."""
    by_name = {table.name: table for table in TABLES}
    return [s for name in _ORDER if (text := by_name[name].erase_items) for s in text.split(";")]


def erase_name_statements() -> tuple[str, ...]:
    """List the statements that erase an unused name, with `:space` and `:text`, and the session of that name."""
    unused = (
        "DELETE FROM name WHERE space = :space AND text = :text AND NOT EXISTS (SELECT 1 FROM version v"
        " WHERE v.space = :space AND name.id IN (v.agent, v.session))"
        " AND NOT EXISTS (SELECT 1 FROM link l WHERE l.space = :space AND l.type = name.id)"
    )
    return SPEND_NUMBERS, unused, _NAMELESS_PAGES, _NAMELESS_SESSIONS


def erase_space_statements() -> list[str]:
    """List the statements that erase one space's content from every table, with `:space`."""
    by_name = {table.name: table for table in TABLES}
    return [s for name in _ORDER if (text := by_name[name].erase_space) for s in text.split(";")]

"""One transaction of a PostgreSQL store: every statement is sent for one tenant, and nothing is waited for early.

Statements go out in a pipeline: what only writes is sent and not waited for, what reads waits once for all that was
sent before it. Each wait is one round trip, and is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mnemic.errors import StoreError, TenantElsewhere
from mnemic.store.postgres.postgres_schema import BY_NAME, CASTS, SCHEMA, WalledTable
from mnemic.store.postgres.server_connections import PipelinedConnection, driver
from mnemic.store.values.buckets import Placement, bucket_of

if TYPE_CHECKING:
    from psycopg import Cursor

ACROSS: Final = -1
"""Said in place of a tenant where a statement is about all of them."""

STORE: Final = 0
"""The number, in place of a tenant's, of what is of the whole store."""

WRITERS: Final = 0x6D6E656D
"""The number of the advisory lock that every commit shares, and that changes of the whole store take alone."""
READ_META: Final = f'SELECT "value" FROM {SCHEMA}."meta" WHERE "key" = %s'
_SHARE: Final = "SELECT pg_advisory_xact_lock_shared(%s)"
_ALONE: Final = "SELECT pg_advisory_xact_lock(%s)"

Bound = Sequence[Any] | Mapping[str, Any]


@dataclass(slots=True)
class TenantHead:
    """The locked row of a tenant: its last commit, and how many numbers of each sort were given out."""

    id: int
    seq: int
    at: int
    hash: bytes
    vers: int
    links: int
    spaces: int
    names: int
    jobs: int
    packs: int
    holds: int
    stamp: int


_HEAD_COLUMNS: Final = tuple(field.name for field in fields(TenantHead))
_LOCK_HEAD: Final = (
    "SELECT "
    + ", ".join(f'"{name}"' for name in (*_HEAD_COLUMNS, "gone"))
    + f' FROM {SCHEMA}."tenant" WHERE "id" = %s FOR UPDATE'
)
_SET_HEAD: Final = (
    f'UPDATE {SCHEMA}."tenant" SET '
    + ", ".join(f'"{name}" = %s' for name in _HEAD_COLUMNS[1:])
    + ', "xid" = pg_current_xact_id()::text::bigint WHERE "id" = %s'
)
_BIND: Final = (
    f"SELECT set_config('{SCHEMA}.tenant', %s, true), set_config('{SCHEMA}.across', %s, true),"
    f" set_config('{SCHEMA}.name', %s, true), set_config('plan_cache_mode', %s, true),"
    " set_config('enable_seqscan', %s, true)"
)

_BIND_NEXT: Final = f"SELECT set_config('{SCHEMA}.tenant', nextval('{SCHEMA}.tenant_id_seq')::text, true)"


class Part(NamedTuple):
    """A statement that writes rows of one table, and what is bound in it."""

    table: str
    statement: str
    bound: Sequence[Any]


class ServerTransaction:
    """Runs statements on one connection until it is committed or rolled back.

    Args:
        writes: Whether the head of a tenant is locked before anything of it is looked at.
        sent: Called whenever something is waited for.
        known: Tenants' numbers by name, as far as they were ever seen; each is checked when it is used.
    """

    def __init__(
        self, lent: PipelinedConnection, *, writes: bool, sent: Callable[[], None], known: dict[str, int] | None = None
    ) -> None:
        self._lent, self.writes = lent, writes
        self.known: dict[str, int] = {} if known is None else known
        self._sent = sent
        self._begun = False
        self._bound: tuple[int, bool] | None = None
        self._shared = False
        self._locking: dict[int, Cursor[Any]] = {}
        self._heads: dict[int, TenantHead] = {}
        self._moved: set[int] = set()
        self._waiting: dict[tuple[str, str, int], list[tuple[Any, ...]]] = {}
        self._statements: dict[tuple[str, str, int], str] = {}
        self._last: dict[int, list[Part]] = {}
        self.reopened: set[int] = set()
        """Tenants that are on another server now, and what is left of whom is taken out here."""

    # Statements

    def send(self, tenant: int, statement: str, bound: Bound = ()) -> Cursor[Any]:
        """Send a statement that reads, without waiting for its rows (`rows_of`)."""
        self.flush()
        return self._send(tenant, statement, bound)

    def rows_of(self, sent: Cursor[Any]) -> list[tuple[Any, ...]]:
        """Wait for the rows of a statement that was sent."""
        if sent.pgresult is None:
            self._sent()
        return sent.fetchall()

    def ask(self, tenant: int, statement: str, bound: Bound = ()) -> list[tuple[Any, ...]]:
        """Send a statement and wait for its rows."""
        return self.rows_of(self.send(tenant, statement, bound))

    def tell(self, tenant: int, statement: str, bound: Bound = ()) -> None:
        """Send a statement that writes; what becomes of it is told by the next wait, at the latest by the commit."""
        self.flush()
        self._mark(tenant)
        self._send(tenant, statement, bound)

    def ask_writing(self, tenant: int, statement: str, bound: Bound = ()) -> list[tuple[Any, ...]]:
        """Send a statement that writes, and wait for what it returns."""
        self._mark(tenant)
        return self.ask(tenant, statement, bound)

    def touch_store(self) -> None:
        """Have whoever listens hear of this transaction, though it writes of no tenant."""
        self._moved.add(STORE)

    def _mark(self, tenant: int) -> None:
        if tenant >= 0:
            self._moved.add(tenant)

    def _send(self, tenant: int, statement: str, bound: Bound) -> Cursor[Any]:
        often = self._lent.comes_often(statement)
        self._bind(tenant, often and tenant != ACROSS and _is_planned_once(statement))
        return self._lent.db.cursor(binary=True).execute(statement, bound, prepare=often)

    def _bind(self, tenant: int, planned_once: bool | None = None) -> None:
        """Say whose the next statement is, and whether one plan serves whatever is bound; None if either will do."""
        if self._bound is not None and self._bound[0] == tenant and planned_once in (None, self._bound[1]):
            return
        across = tenant == ACROSS
        self._bound = (tenant, bool(planned_once))
        self._tell_session("" if across else str(tenant), "on" if across else "", "", planned_once=bool(planned_once))
        if self.writes and not across and tenant not in self._locking and tenant not in self._heads:
            self._locking[tenant] = self._lent.db.cursor(binary=True).execute(_LOCK_HEAD, (tenant,))

    def _tell_session(self, tenant: str, across: str, name: str, *, planned_once: bool = False) -> None:
        # A plan for all values is never one that reads a whole table because that was small when the plan was made.
        mode, scans = ("force_generic_plan", "off") if planned_once else ("auto", "on")
        self._execute(_BIND, (tenant, across, name, mode, scans))

    def _execute(self, statement: str, bound: Bound = ()) -> None:
        """Send a statement whose rows nobody asks for, in a transaction that is begun by the first."""
        if not self._begun:
            self._begun = True
            self._lent.db.execute(self._lent.begin)
        self._lent.db.execute(statement, bound)

    def ask_named(self, name: str, statement: str, bound: Bound) -> list[tuple[Any, ...]]:
        """Look for a tenant by its name, and see nothing else."""
        self.flush()
        self._tell_session("", "", name)
        self._bound = None
        return self.rows_of(self._lent.db.cursor(binary=True).execute(statement, bound))

    def share(self) -> None:
        """Hold off, until the end, whoever changes something of the whole store."""
        if not self._shared:
            self._shared = True
            self._execute(_SHARE, (WRITERS,))

    def alone(self) -> None:
        """Hold off, until the end, whoever else writes to the store."""
        self.flush()
        self._execute(_ALONE, (WRITERS,))

    # Heads

    def create(self, statement: str, bound: Bound) -> Cursor[Any]:
        """Send what makes the head of a tenant under a number that the server gives, and which is told."""
        self.flush()
        self._execute(_BIND, ("", "", "", "auto", "on"))
        numbered = self._lent.db.cursor(binary=True).execute(_BIND_NEXT)
        self._bound = None
        self._execute(statement, bound)
        return numbered

    def created(self, tenant: int, genesis: bytes) -> None:
        """Note that this transaction made a tenant: it holds its head, and nobody else sees it."""
        self._heads[tenant] = TenantHead(tenant, 0, 0, genesis, 0, 0, 0, 0, 0, 0, 0, 0)

    def lock(self, tenant: int) -> None:
        """Lock a tenant's head, without waiting for it."""
        self._bind(tenant)

    def head(self, tenant: int) -> TenantHead:
        """The locked head of a tenant.

        Raises:
            TenantElsewhere: it was moved to another server.
            StoreError: it is not there any more.
        """
        tenant_head = self.find_head(tenant)
        if tenant_head is None:
            raise StoreError(f"tenant {tenant} is not in the database any more: it was restored; open it again")
        return tenant_head

    def find_head(self, tenant: int) -> TenantHead | None:
        """The locked head of a tenant; None where the database was brought back to before there was one."""
        if tenant not in self._heads:
            self.lock(tenant)
            for *row, gone in self.rows_of(self._locking[tenant]):
                if gone is not None and tenant not in self.reopened:
                    raise elsewhere(self, gone)
                self._heads[tenant] = TenantHead(*row)
        return self._heads.get(tenant)

    def moved_head(self, tenant: int) -> TenantHead:
        """The locked head of a tenant, to be changed and written before the commit."""
        self._moved.add(tenant)
        return self.head(tenant)

    @property
    def moved(self) -> frozenset[int]:
        """The tenants of whom something was written."""
        return frozenset(self._moved)

    # Rows to be added

    def insert(
        self, table: WalledTable, tenant: int, tail: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
    ) -> None:
        """Add rows, at the latest before anything else is asked or told; those of one table go out together."""
        self._mark(tenant)
        kind = (table.name, tail, tenant)
        if kind not in self._waiting:
            self._waiting[kind] = []
            self._statements[kind] = _insert(table, tail, columns)
        self._waiting[kind] += [tuple(row) for row in rows]

    def flush(self) -> None:
        """Send the rows that are to be added."""
        for tenant, parts in self._taken().items():
            self._send_together(tenant, parts)

    def tell_last(self, table: str, tenant: int, statement: str, bound: Sequence[Any]) -> None:
        """Keep a statement that changes rows of a table for the commit; nothing of that table may be asked after it."""
        if any(name == table for name, _, _ in self._waiting):
            self.flush()  # a row is not seen by the statement that adds it
        self._mark(tenant)
        self._last.setdefault(tenant, []).append(Part(table, statement, bound))

    def _taken(self) -> dict[int, list[Part]]:
        """The rows that are to be added, out of what waits: a statement for each table of each tenant."""
        parts: dict[int, list[Part]] = {}
        for kind, rows in self._waiting.items():
            columns = [list(column) for column in zip(*rows, strict=True)]
            parts.setdefault(kind[2], []).append(Part(kind[0], self._statements[kind], columns))
        self._waiting.clear()
        self._statements.clear()
        return parts

    def _send_together(self, tenant: int, parts: Sequence[Part]) -> None:
        """Send what is written of different tables as one statement: each costs both sides more than its rows do."""
        together: dict[str, Part] = {}
        for part in parts:
            if part.table in together:  # what one statement writes, it does not see
                self._send_as_one(tenant, together)
                together = {}
            together[part.table] = part
        if together:
            self._send_as_one(tenant, together)

    def _send_as_one(self, tenant: int, parts: Mapping[str, Part]) -> None:
        statement = _joined(tuple(part.statement for part in parts.values()))
        often = self._lent.comes_often(statement)
        self._bind(tenant, often)
        cursor = driver().RawCursor(self._lent.db)  # which does not take long statements apart each time
        bound = [value for part in parts.values() for value in part.bound]
        cursor.execute(statement, bound, binary=True, prepare=often)

    # The end

    def commit(self) -> None:
        """Write what is left, and commit: one round trip for all of it."""
        waiting = self._taken()
        for tenant in sorted(waiting.keys() - self._moved):
            self._send_together(tenant, waiting[tenant])
        for tenant in sorted(self._moved):
            head = self.head(tenant)
            head.stamp += 1
            values = (*(getattr(head, name) for name in _HEAD_COLUMNS[1:]), tenant)
            parts = (*waiting.get(tenant, ()), *self._last.get(tenant, ()), Part("tenant", _SET_HEAD, values))
            self._send_together(tenant, parts)
        self.end()

    def end(self) -> None:
        """End it, with what was sent of it: a round trip if it has begun."""
        if self._begun:
            self._begun = False
            self._sent()
            self._lent.commit()

    def roll_back(self) -> None:
        """Take everything back; a connection that cannot is closed."""
        self._waiting.clear()
        self._last.clear()
        with suppress(driver().Error):
            self._lent.db.rollback()
            return
        self._lent.db.close()


@lru_cache(1024)
def _is_planned_once(statement: str) -> bool:
    """Whether one plan serves a statement whatever is bound: not where a LIMIT decides how much of a walk is done."""
    return " LIMIT " not in statement


def elsewhere(transaction: ServerTransaction, server: str, tenant: str = "") -> TenantElsewhere:
    """Make the error for who comes to a server that does not keep the tenant.

    Args:
        server: The one that it was moved to; "" if only its bucket is known to be kept by another.
        tenant: Its name, by which that is looked up where this server has the table.
    """
    value = transaction.ask(ACROSS, READ_META, ("placement",))
    if value:
        table = Placement.read(bytes(value[0][0]))
        bucket = bucket_of(tenant)
        server = server or table.moving.get(bucket, table.server_of(bucket))
        remedy = f"ask that one, at {table.servers[server]}" if server in table.servers else ""
    else:
        remedy = (
            f"the server that has the table tells its address: `mnemic --store URL place show {tenant or 'TENANT'}`"
        )
    where = f"moved to server {server!r}" if server else "of another server"
    return TenantElsewhere(f"the tenant is {where}; {remedy or 'look its place up again (`mnemic place show`)'}")


@lru_cache(256)
def _joined(statements: tuple[str, ...]) -> str:
    """Write statements on different tables as one, each but the last in a clause of its own; number what is bound."""
    clauses = ", ".join(f"w{place} AS ({statement})" for place, statement in enumerate(statements[:-1]))
    pieces = ((f"WITH {clauses} " if clauses else "") + statements[-1]).split("%s")
    return pieces[0] + "".join(f"${place}{piece}" for place, piece in enumerate(pieces[1:], 1))


def _insert(table: WalledTable, tail: str, columns: Sequence[str]) -> str:
    types = {column.name: column.type for column in table.all_columns}
    arrays = ", ".join(f"%s::{CASTS[types[name]]}" for name in columns)
    named = ", ".join(f'"{name}"' for name in columns)
    return f"INSERT INTO {table.full_name} ({named}) SELECT * FROM unnest({arrays}){tail}"


def replacing(table: WalledTable, columns: Sequence[str]) -> str:
    """The end of a statement that adds rows, or puts each in the place of the one with the same key."""
    keys = table.keyed_by
    rest = [name for name in columns if name not in keys]
    target = " ON CONFLICT (" + ", ".join(f'"{name}"' for name in keys) + ") DO "
    if not rest:
        return target + "NOTHING"
    return target + "UPDATE SET " + ", ".join(f'"{name}" = excluded."{name}"' for name in rest)


def table_of(name: str) -> WalledTable:
    return BY_NAME[name]

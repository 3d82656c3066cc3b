"""Connections to a PostgreSQL server: where it is, whether it can be used, and a bounded number of them in use."""

from __future__ import annotations

import select
import threading
import time
from collections import Counter, deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.uninterrupted import import_whole
from mnemic.errors import (
    Invalid,
    MnemicError,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreNewer,
    StoreReadOnly,
)
from mnemic.store.postgres.postgres_schema import OLDEST

if TYPE_CHECKING:
    from psycopg import Connection

_SERVER: Final = (
    "SELECT (SELECT system_identifier FROM pg_control_system()),"
    " (SELECT oid::bigint FROM pg_database WHERE datname = current_database()),"
    " CASE WHEN pg_is_in_recovery() THEN (SELECT timeline_id::bigint FROM pg_control_checkpoint())"
    " ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint END"
)
_CONNECT_SECONDS: Final = 10
"""Most seconds that one attempt to connect takes."""
PREPARED_AFTER: Final = 5
"""How often a statement comes on a connection before it is prepared; what comes once is not worth a plan for all."""


_FULL: Final = (
    "too many connections",
    "too many clients",
    "connection slots are reserved",
    "no more connections allowed",
)
_ON_ITS_WAY: Final = tuple(
    f"the database system is {state}"
    for state in ("starting up", "shutting down", "in recovery mode", "not yet accepting", "not accepting")
)
"""What a server that runs, and lets nobody in, says; it has no class of errors yet at that moment."""
_MORE_CONNECTIONS: Final = "raise its limit or max_connections, or put PgBouncer between"


def driver() -> Any:
    """The package that talks to the server.

    Raises:
        Invalid: it is not installed.
    """
    try:
        import_whole("psycopg")
        import psycopg
    except ImportError as error:
        raise Invalid(
            "url",
            "names a PostgreSQL server, and psycopg is not installed",
            "Install it: `pip install 'mnemic[postgres]'`.",
        ) from error
    return psycopg


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where a database is, and who asks there; the password is in no text that this is shown as."""

    parameters: Mapping[str, Any] = field(repr=False)

    @classmethod
    def of(cls, url: str) -> ServerAddress:
        """Read a URL as libpq does.

        Raises:
            Invalid: it cannot be read; what stands in it is not repeated, since a password may.
        """
        psycopg = driver()
        remedy = "Write it as postgresql://role@host:port/database, signs such as @ and / in it as %40 and %2F."
        if url.partition("?")[0].count("@") > 1:  # a part of a password would be taken for the server's name, and told
            raise Invalid("url", "has more than one @ before its database", remedy)
        try:
            return cls(psycopg.conninfo.conninfo_to_dict(url))
        except psycopg.Error:
            raise Invalid("url", "is no address of a PostgreSQL database", remedy) from None

    def __str__(self) -> str:
        said = self.parameters
        hosts, ports = str(said.get("host", "")).split(","), str(said.get("port", "")).split(",")
        who = f"{said['user']}@" if said.get("user") else ""
        ports = ports * len(hosts) if len(ports) == 1 else ports  # of each server, or one for all of them
        places = ",".join(f"{host}{':' + port if port else ''}" for host, port in zip(hosts, ports, strict=False))
        return f"postgresql://{who}{places}/{said.get('dbname', '')}"

    def connect(self, *, autocommit: bool = False) -> Connection[Any]:
        """Open a connection.

        Raises:
            StoreError: the server is not there, or does not let this role in.
        """
        psycopg = driver()
        given = {"connect_timeout": _CONNECT_SECONDS, "application_name": "mnemic", **self.parameters}
        try:
            db: Connection[Any] = psycopg.connect(**given, autocommit=autocommit)
        except psycopg.OperationalError as error:
            raise self._refused(error) from None
        _tell_types(db)
        return db

    def _refused(self, error: Exception) -> StoreError:
        said = " ".join(str(error).split())
        if password := str(self.parameters.get("password") or ""):
            said = said.replace(password, "***")
        if "password" in said or "no pg_hba.conf entry" in said or "authentication failed" in said:
            return StoreError(f"{self}: the server does not let this role in; check the role and its password ({said})")
        if any(sign in said for sign in _FULL):
            return StoreLocked(
                f"{self}: the server has no connection left for this role or database; {_MORE_CONNECTIONS} ({said})"
            )
        if any(sign in said for sign in _ON_ITS_WAY):
            return StoreError(f"{self}: the server is just starting or stopping; ask again in a moment ({said})")
        if "does not exist" in said:
            return StoreError(f"{self}: there is no such database or role; create it first ({said})")
        if "invalid" in said and "value" in said:
            return StoreError(f"{self}: a setting in its URL is wrong ({said})")
        return StoreError(f"{self}: no server answers there; check that it runs and can be reached ({said})")


def _tell_types(db: Connection[Any]) -> None:
    types = driver().types
    # One type for each sort of value: a statement is planned once, and not once for each width of its numbers.
    db.adapters.register_dumper(int, types.numeric.Int8Dumper)
    db.adapters.register_dumper(int, types.numeric.Int8BinaryDumper)
    db.adapters.register_dumper(list, types.array.ListBinaryDumper)
    db.adapters.register_dumper(str, types.string.StrBinaryDumper)


def refuse_unusable(db: Connection[Any], where: ServerAddress) -> None:
    """Refuse a server or a role that a store cannot stand on.

    Raises:
        StoreError: the server is too old, or its database is not in UTF-8.
        StoreReadOnly: the role passes by the walls between tenants.
    """
    version = db.info.server_version // 10_000
    if version < OLDEST:
        raise StoreError(f"{where}: is PostgreSQL {version}; {OLDEST} or later is needed")
    encoding = db.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise StoreError(f"{where}: the database is in {encoding}; create one with ENCODING 'UTF8'")
    row = db.execute(
        "SELECT rolsuper, rolbypassrls, rolname::text FROM pg_roles WHERE rolname = current_user"
    ).fetchone() or (True, True, "?")
    for has, what in ((row[0], "a superuser"), (row[1], "exempt from row-level security (BYPASSRLS)")):
        if has:
            raise StoreError(
                f"{where}: role {row[2]} is {what}, and would pass by the walls between tenants; use a role that is not"
            )


def is_pooled(db: Connection[Any]) -> bool:
    """Whether a pooler such as PgBouncer stands between: it tells each client another process than serves it.

    Statements that are prepared on one of the server's processes may then be sent to another, which has none.
    """
    return bool(db.execute("SELECT pg_backend_pid() <> %s", (db.info.backend_pid,)).fetchone() != (False,))


class Connections:
    """A bounded number of connections: whoever finds none free waits; who reads inside a read does not.

    Args:
        most: How many are lent at a time, but to who has one already.
        patience: Seconds to wait for one.
        reads: Whether their transactions read one moment and write nothing.
        prepares: Whether statements that come again are prepared.
    """

    def __init__(self, where: ServerAddress, most: int, patience: float, *, reads: bool, prepares: bool) -> None:
        self._where, self._patience, self._reads, self._prepares = where, patience, reads, prepares
        self._most = most
        self._free = threading.BoundedSemaphore(most)
        self._idle: deque[PipelinedConnection] = deque()
        self._lent = threading.local()
        self._server: tuple[Any, ...] = ()
        self._closed = False

    def take(self) -> PipelinedConnection:
        """Borrow one.

        Raises:
            StoreLocked: none became free in time.
            StoreError: the server cannot be reached.
        """
        depth = getattr(self._lent, "depth", 0)
        if depth == 0 and not self._free.acquire(timeout=self._patience):
            raise StoreLocked(
                f"{self._where}: all {self._most} connections were busy for {self._patience:.0f} s; retry"
            )
        self._lent.depth = depth + 1
        try:
            return self.take_beyond()
        except BaseException:
            self._returned()
            raise

    def take_beyond(self) -> PipelinedConnection:
        """Borrow one beyond the number that are lent, for what takes long and must make nobody wait; never waits.

        Raises:
            StoreError: the server cannot be reached.
        """
        return self._at_hand() or PipelinedConnection(self._where, reads=self._reads, prepares=self._prepares)

    def _at_hand(self) -> PipelinedConnection | None:
        while self._idle:
            try:
                lent = self._idle.pop()
            except IndexError:
                return None
            if lent.alive:
                return lent
            lent.close()
        return None

    def give_back(self, lent: PipelinedConnection) -> None:
        """Return a connection; one that is inside a transaction, or broken, is closed."""
        self.keep(lent)
        self._returned()

    def keep(self, lent: PipelinedConnection) -> None:
        """Return a connection that was taken beyond the number."""
        strange = self._server not in ((), lent.server)
        if self._closed or strange or not lent.rests or len(self._idle) >= self._most:
            lent.close()
        else:
            self._idle.append(lent)

    def _returned(self) -> None:
        self._lent.depth = depth = self._lent.depth - 1
        if depth == 0:
            self._free.release()

    def close(self) -> None:
        """Close those that nobody has; the others are closed as they come back."""
        self._closed = True
        self.close_idle()

    def keep_those_to(self, server: tuple[Any, ...]) -> None:
        """Keep from now on only connections that lead to this server, whichever others are still open."""
        self._server = server
        self.close_idle()

    def close_idle(self) -> None:
        """Close those that nobody has; whoever takes one next has it opened anew."""
        while self._idle:
            with suppress(IndexError):
                self._idle.pop().close()


class PipelinedConnection:
    """One connection, in pipeline mode for as long as it lives: to enter and to leave that costs a round trip.

    Transactions are begun and ended by statements like any others: the driver would wait for its own `BEGIN`, and a
    `ROLLBACK` has it forget all that was prepared.

    Attributes:
        begin: The statement that begins a transaction.
    """

    def __init__(self, where: ServerAddress, *, reads: bool, prepares: bool) -> None:
        self.db = where.connect(autocommit=True)
        self.begin = "BEGIN " + (
            "ISOLATION LEVEL REPEATABLE READ READ ONLY" if reads else "ISOLATION LEVEL READ COMMITTED"
        )
        self._prepares = prepares
        self._times: Counter[str] = Counter()
        try:
            self.server: tuple[Any, ...] = self.db.execute(_SERVER).fetchone() or ()
            """Which server and database it leads to, on which timeline: another than before may have lost commits."""
            if not prepares:
                self.db.prepare_threshold = None
            self._pipelined = self.db.pipeline()
            self._pipeline = self._pipelined.__enter__()
        except BaseException:
            self.db.close()
            raise
        self.used = time.monotonic()

    def comes_often(self, statement: str) -> bool:
        """Whether a statement came here often enough to be prepared, and planned once for whatever is bound."""
        if not self._prepares:
            return False
        self._times[statement] += 1
        return self._times[statement] > PREPARED_AFTER

    def commit(self) -> None:
        """End a transaction: one round trip, in which all that was sent before is answered too."""
        self.db.execute("COMMIT", prepare=False)
        self._pipeline.sync()

    @property
    def rests(self) -> bool:
        """Whether it is open, and in no transaction."""
        self.used = time.monotonic()
        return not self.db.closed and self.db.info.transaction_status == 0

    @property
    def alive(self) -> bool:
        """Whether the server has said nothing while it was idle: what it says then is that it ends."""
        if self.db.closed:
            return False
        try:
            return not select.select([self.db.fileno()], [], [], 0)[0]
        except (OSError, ValueError):
            return False

    def close(self) -> None:
        """Close it; again does nothing."""
        psycopg = driver()
        self.db.close()
        with suppress(psycopg.Error, RuntimeError):
            self._pipelined.__exit__(None, None, None)


class told_as_ours:  # noqa: N801 - said like a function, and entered by every write
    """Raise our own error, naming where the store is and the remedy, for whatever the driver raises inside."""

    __slots__ = ("_where",)

    def __init__(self, where: ServerAddress) -> None:
        self._where = where

    def __enter__(self) -> None:
        """Nothing is held."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is not None:
            raise_ours(self._where, error)


def raise_ours(where: ServerAddress, error: BaseException) -> None:
    """Raise our own error for one of the driver's; any other is left to who caught it."""
    psycopg = driver()
    if isinstance(error, psycopg.Error) and not isinstance(error, MnemicError):
        raise ours(where, error) from error


def ours(where: ServerAddress, error: Any) -> MnemicError:
    """Our own error for one of the driver's. What it quotes of a row is left out: that is content."""
    psycopg = driver()
    errors = psycopg.errors
    said = " ".join((error.diag.message_primary or type(error).__name__).split())
    if isinstance(error, psycopg.DataError) and "NUL" in str(error):
        return Invalid("text", "holds a NUL character", "PostgreSQL keeps none in a name; take it out.")
    for theirs, kind, remedy in (
        (errors.DiskFull, StoreFull, "the server's disk is full; make room and retry with the same key"),
        (
            errors.ReadOnlySqlTransaction,
            StoreReadOnly,
            "the server is a replica, or set read-only; name the primary in the URL, or all servers of it with"
            " ?target_session_attrs=read-write",
        ),
        (errors.InsufficientPrivilege, StoreReadOnly, "the role lacks a right there; grant it, or use the owner"),
        (errors.DeadlockDetected, StoreLocked, "others stood in the way each time; retry with the same key"),
        (errors.SerializationFailure, StoreLocked, "others stood in the way each time; retry with the same key"),
        (errors.LockNotAvailable, StoreLocked, "somebody holds it; retry with the same key"),
        (errors.TooManyConnections, StoreLocked, f"the server has no connection to spare; {_MORE_CONNECTIONS}"),
        (errors.UndefinedTable, StoreNewer, "a table is not there; it was made by another mnemic"),
        (errors.UndefinedColumn, StoreNewer, "a column is not there; it was made by another mnemic"),
    ):
        if isinstance(error, theirs):
            return kind(f"{where}: {remedy} ({said})")
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return StoreError(f"{where}: the connection was lost; retry with the same key ({said})")
    return StoreError(f"{where}: {said}")

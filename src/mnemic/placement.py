"""Memory on several PostgreSQL servers: each tenant on one of them, found by a small table, followed when it moves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, cast

from mnemic.core.clock import SystemClock
from mnemic.core.ids import SystemEntropy
from mnemic.core.mutex import Mutex
from mnemic.core.scope import Shared
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Conflict, Invalid, StoreError, TenantElsewhere
from mnemic.memory import Memory, ScopedMemory
from mnemic.settings import Settings
from mnemic.store.urls import is_server, open_at, shown
from mnemic.store.values.buckets import Placement, bucket_of, checked_bucket

if TYPE_CHECKING:
    from mnemic.store.moving import Progress
    from mnemic.store.placing import PlacedTenant
    from mnemic.store.postgres.postgres_store import PostgresStore

T = TypeVar("T")

_SHORTEST: Final = 0.005
_LONGEST: Final = 0.2
"""Seconds between two looks for a tenant that is between two servers."""


class PlacedMemory:
    """Memory whose tenants are spread over several servers (`mnemic place`). Share one between threads.

    The first server has the table of which server keeps which bucket of tenants. It is read once, and again when a
    server refuses a tenant that it does not keep: a table that is out of date costs a round trip, and never writes or
    reads in the wrong place.

    Args:
        url: Of the first server.
        patience: Seconds to look for a tenant that is just going from one server to another.
        settings, options: As for `Memory`, for every server's.

    Raises:
        NotFound: that server has no placement.
        StoreError: it cannot be served.
    """

    def __init__(self, url: str, *, patience: float = 30.0, settings: Settings | None = None, **options: Any) -> None:
        self._url, self._patience = url, patience
        self._settings, self._options = settings, options
        self._opening = Mutex()
        self._opened = ExitStack()
        self._servers: dict[str, Memory] = {}
        self._first = self._opened.enter_context(Memory(url, settings=settings, **options))
        try:
            self._table = self._read_table()
        except BaseException:
            self._opened.close()
            raise

    def _read_table(self) -> Placement:
        import_whole("mnemic.store.placing")
        import_whole("mnemic.store.postgres.postgres_store")
        from mnemic.store.placing import read_placement
        from mnemic.store.postgres.postgres_store import PostgresStore

        store = self._first._opened.store
        if not isinstance(store, PostgresStore):
            raise Invalid("url", "names a file", "Tenants are placed on PostgreSQL servers.")
        return read_placement(store)

    @property
    def placement(self) -> Placement:
        """The table as it was read last."""
        return self._table

    def refresh(self) -> Placement:
        """Read the table again."""
        self._table = self._read_table()
        return self._table

    def memory(self, tenant: str | None = None) -> Memory:
        """Return the memory of the server that keeps a tenant, as far as the table says."""
        table = self._table
        return self._server(table, table.server_of(bucket_of(self._named(tenant))))

    def _named(self, tenant: str | None) -> str:
        return self._first.settings.tenant if tenant is None else tenant

    def _server(self, table: Placement, name: str) -> Memory:
        if name == table.first:
            return self._first
        with self._opening:
            if name not in self._servers:
                memory = Memory(table.url_of(name), settings=self._settings, **self._options)
                self._servers[name] = self._opened.enter_context(memory)
            return self._servers[name]

    def run(
        self,
        work: Callable[[ScopedMemory], T],
        *,
        user: str | Shared | None = None,
        tenant: str | None = None,
        agent: str | None = None,
        session: str | None = None,
    ) -> T:
        """Do something with one user's memory on the server that keeps it, and again on the next if it has moved.

        Args:
            work: Is given the handle. What it wrote before it was refused has stayed, so that one verb at a time is
                best, or a `key` for each.

        Raises:
            TenantElsewhere: the tenant was on none of the servers for as long as `patience`; a move of it was cut
                short, and goes on with `mnemic place move`.
        """
        where: dict[str, Any] = {"user": user, "tenant": tenant, "agent": agent, "session": session}
        until, pause = time.monotonic() + self._patience, _SHORTEST
        while True:
            for memory in self._likely(tenant):
                try:
                    return work(memory.scope(**where))
                except TenantElsewhere as error:
                    refused: StoreError = error
            if time.monotonic() >= until:
                raise refused
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST)
            self.refresh()

    def _likely(self, tenant: str | None) -> list[Memory]:
        """The memories of the server that keeps a tenant, and of the one that its bucket is under way to."""
        table, bucket = self._table, bucket_of(self._named(tenant))
        names = dict.fromkeys((table.server_of(bucket), table.moving.get(bucket, table.server_of(bucket))))
        return [self._server(table, name) for name in names]

    def close(self) -> None:
        """Close the memories of all servers."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_servers(url: str, *, settings: Settings | None = None) -> Placement:
    """Read the table of servers from the first of them.

    Raises:
        NotFound: it has none.
    """
    import_whole("mnemic.store.placing")
    from mnemic.store.placing import read_placement

    with closing(_opened(url, settings, create=False)) as directory:
        return read_placement(directory)


def add_server(url: str, name: str, server: str, *, settings: Settings | None = None) -> Placement:
    """Add a server to the table; the first is the one that has the table, and keeps every bucket.

    Raises:
        Invalid: the URL has a password in it, which the table would show.
        Conflict: there is one of this name, or it is one of another placement, or it has tenants of its own.
    """
    import_whole("mnemic.store.placing")
    from mnemic.store.placing import add_server

    if shown(server) != server:
        raise Invalid("url", "has a password in it", "Leave it to PGPASSWORD or ~/.pgpass: the table is read by many.")
    with closing(_opened(url, settings)) as directory, closing(_opened(server, settings)) as added:
        return add_server(directory, added, name, server)


def move_bucket(
    url: str,
    bucket: int,
    to: str,
    *,
    settings: Settings | None = None,
    progress: Progress = lambda what, done, of: None,
) -> Iterator[PlacedTenant]:
    """Move the tenants of a bucket to a server while they are used, and tell of each; cut short, it goes on.

    Raises:
        NotFound: there is no such server.
        Invalid: there is no such bucket.
        Conflict: the bucket is on its way to another server.
    """
    import_whole("mnemic.store.placing")
    from mnemic.store.placing import BucketMove, read_placement

    checked_bucket(bucket)
    with ExitStack() as opened:
        directory = opened.enter_context(closing(_opened(url, settings, create=False)))
        table = read_placement(directory)
        servers = {table.first: directory}
        for name in (table.server_of(bucket), to):
            if name not in servers:
                servers[name] = opened.enter_context(closing(_opened(table.url_of(name), settings, create=False)))
        source, dest = servers[table.server_of(bucket)], servers[to]
        if source is not dest:
            yield from BucketMove(directory, source, dest, bucket, to, progress).run()
        elif bucket in table.moving:
            raise Conflict(f"bucket {bucket} is on its way to server {table.moving[bucket]!r}; finish that first")


def _opened(url: str, settings: Settings | None, *, create: bool = True) -> PostgresStore:
    if not is_server(url):
        raise Invalid("url", "names a file", "Tenants are placed on PostgreSQL servers: postgresql://host/database.")
    given = settings or Settings()
    options: dict[str, Any] = {"create": create}
    return cast("PostgresStore", open_at(url, SystemClock(), SystemEntropy(), given.busy_timeout, **options))

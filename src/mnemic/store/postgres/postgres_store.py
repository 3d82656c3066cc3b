"""The store in a PostgreSQL database: many processes at once, each tenant's writes one after the other."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from mnemic.artefacts.artefact_files import ArtefactFolder
from mnemic.core.clock import Clock, SystemClock
from mnemic.core.events import Receipt
from mnemic.core.forking import renew_in_child
from mnemic.core.ids import Entropy, SystemEntropy
from mnemic.core.mutex import Mutex
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Conflict, Invalid, MnemicError, NotFound, Refused, StoreError
from mnemic.store.engine import erasure, ledger
from mnemic.store.engine.commit_queue import Bell, CommitQueue, Ticket, copied
from mnemic.store.engine.compaction import TenantSweep
from mnemic.store.engine.relations import SPACE
from mnemic.store.engine.rows import Rows
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.postgres import rewriting
from mnemic.store.postgres.hearing import HeadPoll
from mnemic.store.postgres.hints import LISTENED, CommitHints, HintListener
from mnemic.store.postgres.postgres_schema import FORMAT, SCHEMA
from mnemic.store.postgres.postgres_tables import postgres_rows
from mnemic.store.postgres.server_connections import (
    Connections,
    PipelinedConnection,
    ServerAddress,
    driver,
    is_pooled,
    ours,
    refuse_unusable,
    told_as_ours,
)
from mnemic.store.postgres.table_making import migrate, retokenise_slice
from mnemic.store.postgres.tenant_commits import TenantCommits
from mnemic.store.postgres.transaction import ACROSS, ServerTransaction, TenantHead
from mnemic.store.values.drafts import Draft, Erasure
from mnemic.store.values.heads import Check, CheckpointRow, Info
from mnemic.store.values.meters import PERIOD, Figures, MeterRow
from mnemic.store.values.receipts import ErasureReceipt, Fault, Swept

Probe = Callable[[str], None]
P = ParamSpec("P")
T = TypeVar("T")

CONNECTIONS: Final = 8
"""Most connections that read at a time, and most that write, but for who reads inside a read."""
TRIES: Final = 8
"""How often a write is begun anew because another's stood in its way."""
GROUP_SECONDS: Final = 0.05
"""Most work that one group commit does before it is written."""
_DAY: Final = 86_400 * 1_000_000


def _nothing(_point: str) -> None:
    return


class PostgresStore:
    """A store in a PostgreSQL database, which many processes share. Safe to share between threads.

    Args:
        url: `postgresql://role@host/database`, as libpq takes it; the role owns the tables, and is no superuser.
        busy_timeout: Seconds to wait for a connection that is free.
        probe: Called with the name of each point of a commit and an erasure that it passes (fault injection).
        create: Whether tables are made in a database that has none.
        connections: Most that read at a time, and most that write.

    Raises:
        Invalid: the URL cannot be read, or psycopg is not installed.
        StoreError: the server cannot be reached or used, each with the reason; it was not touched.
    """

    def __init__(
        self,
        url: str,
        *,
        clock: Clock | None = None,
        entropy: Entropy | None = None,
        busy_timeout: float = 30.0,
        probe: Probe | None = None,
        create: bool = True,
        connections: int = CONNECTIONS,
    ) -> None:
        self._where = ServerAddress.of(url)
        self._clock, self._entropy = clock or SystemClock(), entropy or SystemEntropy()
        self._busy_timeout, self._most = busy_timeout, connections
        self._probe = probe or _nothing
        self._figures: Figures | None = None
        self.artefacts: ArtefactFolder | None = None
        self._carried_at = self._swept = 0
        self._server: tuple[Any, ...] = ()
        self._forget: Callable[[], None] = lambda: None
        self._random = random.Random(time.time_ns())  # noqa: S311 - spreads waiting writers, guards nothing
        self.trips = 0
        """Times that something was waited for, of all threads: round trips."""
        with told_as_ours(self._where):
            db = self._where.connect(autocommit=True)
            try:
                refuse_unusable(db, self._where)
                self._prepares = not is_pooled(db)
                self.renew()
                try:
                    self._format_before = migrate(
                        db, self._where, self._entropy, self._retokenise, create=create, pooled=not self._prepares
                    )
                except BaseException:
                    self.close()
                    raise
            finally:
                db.close()
        renew_in_child(self)

    def _retokenise(self) -> None:
        """Make every entry again with today's tokeniser, some of a space at a time."""
        with self._apart() as rows:
            spaces = [space.id for space in rows.spaces.relations.find(SPACE, order=("id",))]
        for space in spaces:
            after = 0
            while True:
                after = self.transact(retokenise_slice, space, after)
                if not after:
                    break

    def renew(self) -> None:
        """Fresh locks and connections, at birth and in a forked child."""
        self._readers = Connections(self._where, self._most, self._busy_timeout, reads=True, prepares=self._prepares)
        self._writers = Connections(self._where, self._most, self._busy_timeout, reads=False, prepares=self._prepares)
        self._listeners = Connections(self._where, 1, self._busy_timeout, reads=False, prepares=self._prepares)
        self._bell = Bell()
        self._queues: dict[str, CommitQueue] = {}
        self._commits: dict[str, TenantCommits] = {}
        self._sweeps: dict[str, TenantSweep] = {}
        self._sweeping = Mutex()
        self._heads = HeadPoll()
        self._hints = CommitHints(self._where)
        self._hearer = HintListener(self._where, self._bell.ring, lambda: self._hints.process)
        self._known: dict[str, int] = {}
        self._closed = False

    def close(self) -> None:
        self._closed = True
        for connections in (self._readers, self._writers, self._listeners):
            connections.close()
        self._hints.close()
        self._hearer.close()
        self._bell.ring()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StoreError(f"{self._where} was closed; open it again")

    def _waited(self) -> None:
        self.trips += 1

    # Reading

    @contextmanager
    def read(self) -> Iterator[Snapshot]:
        self._refuse_closed()
        with (
            told_as_ours(self._where),
            self._lent(self._readers) as lent,
            _transaction(lent, writes=False, sent=self._waited, known=self._known) as transaction,
        ):
            yield Snapshot(self._rows(transaction))

    def _rows(self, transaction: ServerTransaction) -> Rows:
        return postgres_rows(transaction, self._clock, self._entropy)

    def when_replaced(self, forget: Callable[[], None]) -> None:
        """Have `forget` called once connections lead to another server than before, which may have lost commits.

        A standby was promoted, or a backup is served. Behind a pooler, which keeps connections, it is not noticed.
        """
        self._forget = forget

    def _recognise(self, lent: PipelinedConnection) -> None:
        if lent.server != self._server:
            before, self._server = self._server, lent.server
            if before:
                for connections in (self._readers, self._writers, self._listeners):
                    connections.keep_those_to(lent.server)
                self._heads = HeadPoll()  # transactions may be numbered lower there than those that were seen
                self._forget()

    @contextmanager
    def _lent(self, connections: Connections) -> Iterator[PipelinedConnection]:
        lent = connections.take()
        try:
            self._recognise(lent)
            yield lent
        finally:
            connections.give_back(lent)

    @contextmanager
    def _apart(self) -> Iterator[Rows]:
        """A read transaction on a connection that nobody waits for, for a walk of any length."""
        self._refuse_closed()
        with told_as_ours(self._where):
            lent = self._readers.take_beyond()
            try:
                with _transaction(lent, writes=False, sent=self._waited) as transaction:
                    yield self._rows(transaction)
            finally:
                self._readers.keep(lent)

    # Writing

    def commit(self, draft: Draft) -> Receipt:
        self._refuse_closed()
        queue = self._queues.get(draft.tenant)
        if queue is None:
            queue = self._queues.setdefault(draft.tenant, CommitQueue(self._write))
        return queue.submit(ledger.prepare(draft, self._entropy))

    def _write(self, batch: list[Ticket], *, alone: bool = False) -> None:
        """Write what callers of one tenant wait for; a refusal is that caller's alone.

        Args:
            alone: Whether nobody who comes meanwhile goes along.
        """
        try:
            written = self._group(batch, alone)
        except _RefusedError as refused:
            if len(batch) == 1:
                batch[0].error = refused.why
                return
            for ticket in [ticket for ticket in batch if not ticket.done]:
                self._write([ticket], alone=True)
            return
        except MnemicError as error:
            for ticket in batch:
                ticket.error = copied(error)
            return
        for ticket, receipt in written:
            ticket.receipt = receipt
        self._rang()

    def _rang(self) -> None:
        """Have whoever waits hear of a commit: in this process at once, in others soon."""
        self._bell.ring()
        self._hints.committed()

    def _group(self, batch: list[Ticket], alone: bool) -> list[tuple[Ticket, Receipt]]:
        name = batch[0].work.draft.tenant
        for last in range(TRIES):
            try:
                with self._lent(self._writers) as lent:
                    return self._attempt(lent, name, batch, alone)
            except driver().Error as error:
                # One that lost its connection has not landed, or this would not be here (`_attempt`).
                again = _may_be_repeated(error) or (last == 0 and isinstance(error, driver().OperationalError))
                again = again or (last == 0 and self._left_primary(error))
                if last == TRIES - 1 or not again:
                    raise ours(self._where, error) from error
                self._pause(last)
        raise AssertionError("unreachable")

    def _attempt(
        self, lent: PipelinedConnection, name: str, batch: list[Ticket], alone: bool
    ) -> list[tuple[Ticket, Receipt]]:
        commits = self._commits.get(name) or self._commits.setdefault(
            name, TenantCommits(name, self._known, self._clock, self._entropy)
        )
        queue = self._queues[name]
        written: list[tuple[Ticket, Receipt]] = []
        self._probe("commit:begin")
        transaction = ServerTransaction(lent, writes=True, sent=self._waited)
        try:
            self._forget_keys(transaction)
            listened = transaction.send(ACROSS, LISTENED) if self._prepares and self._hints.is_to_ask() else None
            # Whose work the group before has written goes on while the server is asked, and may be back for this one.
            rows = commits.begin(transaction, [ticket.work for ticket in batch], queue.wake)
            if not alone:
                taken = len(batch)
                queue.join(batch)
                commits.ask_more([ticket.work for ticket in batch[taken:]])
            started = time.monotonic()  # not while another had the tenant: those who came meanwhile are many
            for ticket in batch:
                try:
                    written.append((ticket, ledger.apply(rows, ticket.work)))
                except driver().Error:
                    raise
                except Exception as error:
                    raise _RefusedError(error) from error
                if time.monotonic() - started > GROUP_SECONDS:
                    break
            commits.tables.finish()
            self._write_figures(rows, self._clock.now())
            if listened is not None:
                self._hints.learn(listened=bool(transaction.rows_of(listened)[0][0]))
            self._probe("commit:before-commit")
        except BaseException:
            commits.tables.forget()
            transaction.roll_back()
            raise
        try:
            transaction.commit()
        except driver().OperationalError as error:
            commits.tables.forget()
            if not self._landed(transaction):
                raise
            del error
        except BaseException:
            commits.tables.forget()
            transaction.roll_back()
            raise
        else:
            commits.tables.landed()
        self._probe("commit:after-commit")
        return written

    def _forget_keys(self, transaction: ServerTransaction) -> None:
        """Once a day, by whichever process comes first, forget the idempotency keys that have lived their time."""
        now = self._clock.now()
        if 0 <= now - self._swept <= _DAY:
            return
        rows = transaction.ask(ACROSS, f'SELECT "value" FROM {SCHEMA}."meta" WHERE "key" = \'swept\' FOR UPDATE')
        self._swept = int(bytes(rows[0][0])) if rows else 0
        if now - self._swept > _DAY:
            self._rows(transaction).journal.forget_keys(now - ledger.KEY_LIFE)
            transaction.tell(ACROSS, _SWEPT, (b"%d" % now,))
            self._swept = now

    def _landed(self, transaction: ServerTransaction) -> bool:
        """Whether a commit whose connection was lost has landed; the tenant's lock tells when it is decided.

        Raises:
            StoreError: nobody knows.
        """
        with (
            told_as_ours(self._where),
            self._lent(self._writers) as lent,
            _transaction(lent, writes=True, sent=self._waited) as after,
        ):
            heads = [transaction.head(tenant) for tenant in sorted(transaction.moved)]
            after.reopened |= transaction.moved  # where it was may have gone to another server since
            return bool(heads) and all(self._has_change(after, head) for head in heads)

    def _has_change(self, after: ServerTransaction, head: TenantHead) -> bool:
        """Whether the commit that a head was moved to is in the journal, whatever was committed after it."""
        if after.find_head(head.id) is None:  # waited for until it is decided
            return False
        change = self._rows(after).journal.last_change(head.id, head.seq)
        return change is not None and (change.seq, change.hash) == (head.seq, head.hash)

    def _pause(self, tried: int) -> None:
        time.sleep(self._random.random() * 0.01 * 2 ** min(tried, 5))

    def transact(self, work: Callable[Concatenate[Rows, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        self._refuse_closed()
        answer = self._transacted(work.__name__, lambda rows: work(rows, *args, **kwargs))
        self._rang()
        return answer

    def _transacted(self, name: str, work: Callable[[Rows], T]) -> T:
        for last in range(TRIES):
            try:
                with self._lent(self._writers) as lent:
                    transaction = ServerTransaction(lent, writes=True, sent=self._waited)
                    try:
                        rows = self._rows(transaction)
                        answer = work(rows)
                        self._write_figures(rows, self._clock.now())
                        self._probe(f"{name}:before-commit")
                        transaction.commit()
                    except BaseException:
                        transaction.roll_back()
                        raise
                self._probe(f"{name}:after-commit")
                return answer
            except driver().Error as error:
                again = _may_be_repeated(error) or (last == 0 and self._left_primary(error))
                if last == TRIES - 1 or not again:
                    raise ours(self._where, error) from error
                self._pause(last)
        raise AssertionError("unreachable")

    def _left_primary(self, error: BaseException) -> bool:
        """Whether connections lead to a server that only replays now: they are closed, and new ones find the primary.

        Where the URL names several servers, or a name that has moved on; nothing was written.
        """
        if not isinstance(error, driver().errors.ReadOnlySqlTransaction):
            return False
        self._writers.close_idle()
        return True

    def carry(self, figures: Figures) -> None:
        self._figures, self._carried_at = figures, self._clock.now()

    def _write_figures(self, rows: Rows, now: int) -> None:
        if self._figures is None or 0 <= now - self._carried_at < PERIOD:
            return
        self._carried_at = now
        if (measured := self._figures()) is not None:
            process, body = measured
            rows.notes.set_meter(MeterRow(process, now, body))

    # Hearing

    def moved(self) -> tuple[int, ...]:
        self._refuse_closed()
        with (
            told_as_ours(self._where),
            self._lent(self._listeners) as lent,
            _transaction(lent, writes=False, sent=self._waited) as transaction,
        ):
            return self._heads.look(transaction)

    def wait(self, moved: tuple[int, ...], seconds: float) -> bool:
        until = time.monotonic() + seconds
        if self._prepares:  # behind a pooler there is nobody to listen to
            self._hearer.want()
        while True:
            rung = self._bell.count
            if self.moved() != moved:
                return True
            left = until - time.monotonic()
            if left <= 0:
                return False
            self._bell.wait(rung, min(left, self._heads.pause))

    # Erasing

    def erase(self, erasure_: Erasure) -> ErasureReceipt:
        self._refuse_closed()

        def erase(rows: Rows) -> erasure.Erased:
            done = erasure.apply(rows, erasure_)
            transaction: ServerTransaction = rows.spaces.relations.transaction  # type: ignore[attr-defined]
            rewriting.owe(transaction, transaction.moved)
            return done

        done = self._transacted("erase", erase)
        self._rang()
        return ErasureReceipt(
            seq=done.seq,
            ids=done.ids,
            versions=done.versions,
            links=done.links,
            status="pending" if done.seq is not None else "clean",
            scanned=(),
            outside=(*erasure.OUTSIDE, *rewriting.OUTSIDE),
            left=rewriting.LEFT if done.seq is not None else (),
        )

    def settle(self) -> bool:
        """Rewrite the tables that still hold bytes of what was erased; whether none does any more."""
        self._refuse_closed()
        with told_as_ours(self._where):
            db = self._where.connect(autocommit=True)
            try:
                return rewriting.settle(db)
            finally:
                db.close()

    def sweep(self, tenant: str, seconds: float) -> Swept:
        self._refuse_closed()
        with self._sweeping:
            sweep = self._sweeps.pop(tenant, None) or TenantSweep(tenant)
            until = time.monotonic() + seconds

            def slice_(rows: Rows) -> Swept:
                began = time.monotonic()
                self._probe("gc:slice-begin")
                tally, more = sweep.slice(rows, lambda: time.monotonic() < until)
                self._probe("gc:before-commit")
                return Swept(
                    versions=tally.versions, links=tally.links, events=tally.events, names=tally.names,
                    seconds=time.monotonic() - began, more=more,
                )  # fmt: skip

            swept = self._transacted("sweep", slice_)
            if not swept.more:
                sweep.end()
            self._sweeps[tenant] = sweep
        self._probe("gc:after-commit")
        return swept

    # Care

    def verify(self) -> Iterator[Fault]:
        import_whole("mnemic.store.engine.audit")
        from mnemic.store.engine.audit import verify

        with self._apart() as rows:
            yield from verify(rows, driver().Error)

    def export(self, tenant: str) -> Iterator[bytes]:
        import_whole("mnemic.store.engine.journal_io")
        from mnemic.store.engine import journal_io

        with self._apart() as rows:
            yield from journal_io.export(rows, tenant)

    def backup(self, dest: Path) -> None:
        """Refuse: the server's own tools back a database up.

        Raises:
            Invalid: always.
        """
        raise Invalid(
            "backup",
            f"of {self._where} is made by PostgreSQL",
            "Use `pg_basebackup` with archived log, `pg_dump` by a role with BYPASSRLS, or `mnemic move URL FILE`.",
        )

    def checkpoint(self, name: str) -> None:
        """Set a restore point of that name in the server's log, and have rows that say which commits it has.

        Raises:
            Conflict: there is one of that name.
            Refused: the role may not set one.
        """
        self._refuse_closed()
        point = f"mnemic-{name}"[:63]

        def take_checkpoint(rows: Rows) -> None:
            relations = rows.spaces.relations
            tenants = rows.spaces.tenants()
            if any(row.name == name for tenant in tenants for row in rows.notes.checkpoints(tenant.id)):
                raise Conflict(f"there is a checkpoint {name!r} already; choose another name")
            now, transaction = self._clock.now(), relations.transaction  # type: ignore[attr-defined]
            ((may, role, database),) = transaction.ask(ACROSS, _MAY_SET_POINT)
            if not may:
                raise Refused(
                    f"role {role} may not set a restore point; as a superuser, in database {database}: GRANT EXECUTE ON"
                    f" FUNCTION pg_create_restore_point(text) TO {role};"
                )
            rows.notes.add_checkpoints(
                [CheckpointRow(t.id, name, t.seq, now, t.hash.hex(), point) for t in tenants if t.name is not None]
            )
            transaction.ask(ACROSS, "SELECT pg_create_restore_point(%s)", (point,))

        self._transacted("checkpoint", take_checkpoint)

    def drop_checkpoint(self, name: str) -> None:
        self._refuse_closed()

        def drop_checkpoint(rows: Rows) -> None:
            tenants = rows.spaces.tenants()
            if not any(row.name == name for tenant in tenants for row in rows.notes.checkpoints(tenant.id)):
                raise NotFound(f"no checkpoint {name!r} here")
            rows.notes.drop_checkpoint(name)

        self._transacted("drop_checkpoint", drop_checkpoint)

    def origin(self) -> str:
        """Read the store's random name."""
        with self._apart() as rows:
            transaction = rows.spaces.relations.transaction  # type: ignore[attr-defined]
            ((value,),) = transaction.ask(ACROSS, f'SELECT "value" FROM {SCHEMA}."meta" WHERE "key" = \'origin\'')
            return str(bytes(value).decode())

    def relation_count(self) -> int:
        """How many relations the schema has, indexes and parts of tables too."""
        with self._apart() as rows:
            transaction = rows.spaces.relations.transaction  # type: ignore[attr-defined]
            ((count,),) = transaction.ask(ACROSS, _RELATIONS)
            return int(count)

    def info(self) -> Info:
        with self._apart() as rows:
            transaction = rows.spaces.relations.transaction  # type: ignore[attr-defined]
            settings = {str(name): str(value) for name, value in transaction.ask(ACROSS, _SETTINGS, (list(_SHOWN),))}
            ((version, size),) = transaction.ask(ACROSS, _SIZE)
        return Info(
            url=str(self._where), engine=f"PostgreSQL {version}", format=FORMAT, bytes=int(size), settings=settings,
            folded=int(size), format_before=self._format_before,
        )  # fmt: skip

    def doctor(self) -> list[Check]:
        info = self.info()
        with self._apart() as rows:
            owed = rewriting.is_owed(rows.spaces.relations.transaction)  # type: ignore[attr-defined]
        wanted = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}
        return [
            Check(name="engine", ok=True, found=info.engine),
            Check(name="format", ok=True, found=str(info.format)),
            Check(
                name="erasures", ok=not owed, found="tables are to be rewritten" if owed else "settled",
                remedy="`mnemic verify` rewrites the tables, each locked meanwhile: choose a quiet hour",
            ),
            *(
                Check(
                    name=name, ok=info.settings.get(name) == value, found=info.settings.get(name, "?"),
                    remedy=f"set {name} = {value} on the server: without it an acknowledged write can be lost",
                )
                for name, value in wanted.items()
            ),
        ]  # fmt: skip


_SWEPT: Final = (
    f'INSERT INTO {SCHEMA}."meta" VALUES (\'swept\', %s) ON CONFLICT ("key") DO UPDATE SET "value" = excluded."value"'
)
_SHOWN: Final = (
    "fsync", "full_page_writes", "synchronous_commit", "server_encoding", "max_connections", "data_checksums",
)  # fmt: skip
_SETTINGS: Final = "SELECT name::text, setting::text FROM pg_settings WHERE name = ANY(%s)"
_SIZE: Final = (
    "SELECT current_setting('server_version')::text, coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint"
    f" FROM pg_class c WHERE c.relnamespace = to_regnamespace('{SCHEMA}') AND c.relkind = 'r'"
)
_RELATIONS: Final = f"SELECT count(*)::bigint FROM pg_class WHERE relnamespace = to_regnamespace('{SCHEMA}')"
_MAY_SET_POINT: Final = (
    "SELECT has_function_privilege(current_user, 'pg_create_restore_point(text)', 'EXECUTE'),"
    " quote_ident(current_user), quote_ident(current_database())"
)


class _RefusedError(Exception):
    """One caller's work cannot be written; which of a group's it was does not matter yet."""

    def __init__(self, why: Exception) -> None:
        super().__init__(str(why))
        self.why = why


def _may_be_repeated(error: BaseException) -> bool:
    """Whether another's transaction stood in the way, so that the same work may succeed now; nothing was written."""
    errors = driver().errors
    return isinstance(error, errors.DeadlockDetected | errors.SerializationFailure | errors.UniqueViolation)


@contextmanager
def _transaction(
    lent: PipelinedConnection, *, writes: bool, sent: Callable[[], None], known: dict[str, int] | None = None
) -> Iterator[ServerTransaction]:
    """A transaction that reads: of the moment of its first question."""
    transaction = ServerTransaction(lent, writes=writes, sent=sent, known=known)
    try:
        yield transaction
    finally:
        try:
            transaction.end()
        except driver().Error:  # it was broken off, which whoever asked has heard
            transaction.roll_back()

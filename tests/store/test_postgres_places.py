"""Servers, databases and roles that a PostgreSQL store cannot stand on, and a server that goes away under it."""

from __future__ import annotations

import socket
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest

from mnemic.core.queries import Filter
from mnemic.errors import (
    Invalid,
    MnemicError,
    NotFound,
    StoreError,
    StoreForeign,
    StoreFull,
    StoreLocked,
    StoreNewer,
    StoreReadOnly,
)
from mnemic.memory import Memory
from mnemic.settings import Settings
from mnemic.store.engine.rows import Rows
from mnemic.store.postgres.postgres_store import PostgresStore
from mnemic.store.postgres.server_connections import PREPARED_AFTER
from mnemic.store.postgres.transaction import ServerTransaction
from mnemic.store.urls import parsed
from mnemic.testing.generators import ManualClock
from mnemic.testing.postgres_server import APPLICATION, SUPERUSER, PostgresServer
from mnemic.testing.store_contract.contract_world import TENANT, World


@pytest.fixture(scope="module")
def made(new_postgres_database: Callable[..., str]) -> str:
    """The URL of a database with an empty store, which others are copied from."""
    url = new_postgres_database()
    PostgresStore(url).close()
    return url


@pytest.fixture
def copy(made: str, new_postgres_database: Callable[..., str]) -> str:
    return new_postgres_database(made.rsplit("/", 1)[1])


@pytest.fixture
def world(copy: str) -> Iterator[World]:
    with closing(PostgresStore(copy)) as store:
        yield World(store)


def name_of(url: str) -> str:
    return url.rsplit("/", 1)[1]


def refused(url: str, kind: type[MnemicError], *words: str, secret: str = "") -> None:
    """Open a store, which must end in one sentence of ours that says these words and no password."""
    with pytest.raises(kind) as caught:
        PostgresStore(url, busy_timeout=5).close()
    said = str(caught.value)
    assert all(word in said for word in words), said
    assert "\n" not in said
    if secret:
        everything = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
        assert secret not in everything


def test_no_server(postgres: PostgresServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    refused(f"postgresql://ada:sesame@127.0.0.1:{port}/x", StoreError, "no server answers", secret="sesame")


def test_a_wrong_password_is_told_and_not_repeated(postgres: PostgresServer) -> None:
    url = f"postgresql://{APPLICATION}:open-sesame@127.0.0.1:{postgres.port}/postgres"
    refused(url, StoreError, "check the role and its password", secret="open-sesame")


def test_a_database_that_is_not_there(postgres: PostgresServer) -> None:
    refused(postgres.url("nowhere"), StoreError, "no such database", secret=postgres.password)


def test_a_server_without_a_connection_to_spare_is_there(postgres_database: str, postgres: PostgresServer) -> None:
    postgres.sql(f'ALTER DATABASE "{name_of(postgres_database)}" CONNECTION LIMIT 0')
    refused(postgres_database, StoreLocked, "raise its limit or max_connections, or put PgBouncer between")


@pytest.mark.parametrize("state", ["starting up", "shutting down", "in recovery mode", "not yet accepting connections"])
def test_a_server_that_starts_or_stops_is_there(monkeypatch: pytest.MonkeyPatch, state: str) -> None:
    def refuse(**_: object) -> None:
        raise psycopg.OperationalError(f"connection to server failed: FATAL:  the database system is {state}")

    monkeypatch.setattr(psycopg, "connect", refuse)
    refused("postgresql://ada:sesame@db/x", StoreError, "just starting or stopping; ask again", secret="sesame")


def test_a_url_that_cannot_be_read_is_not_repeated() -> None:
    refused("postgresql://ada:sesame@host:port:port/x?y", Invalid, "no address", secret="sesame")


def test_a_password_with_a_sign_that_belongs_to_urls_is_not_taken_for_the_server() -> None:
    refused("postgresql://ada:s3cr@t/x@127.0.0.1:5432/memory", Invalid, "more than one @", "%40", secret="t/x")


@pytest.mark.parametrize("wrong", ["127.0.0.1:abc/x", "127.0.0.1:1/x?sslmode=wrong"])
def test_a_wrong_setting_in_a_url_is_not_laid_to_the_server(wrong: str) -> None:
    refused(f"postgresql://ada:sesame@{wrong}", StoreError, "a setting in its URL is wrong", secret="sesame")


def test_settings_of_other_programs_are_no_name_of_a_file() -> None:
    with pytest.raises(Invalid, match="name=value") as caught:
        parsed("host=127.0.0.1 password=sesame dbname=memory")
    assert "sesame" not in str(caught.value)


def test_a_password_is_in_no_text_of_a_store(world: World, postgres: PostgresServer) -> None:
    store = world.store
    assert isinstance(store, PostgresStore)
    assert postgres.password not in f"{store.info()} {store.doctor()} {store._where} {store._where!r}"


def test_a_superuser_would_pass_by_the_walls(made: str, postgres: PostgresServer) -> None:
    refused(postgres.url(name_of(made), role=SUPERUSER), StoreError, "is a superuser", secret=postgres.password)


def test_so_would_a_role_that_bypasses_them(made: str, postgres: PostgresServer) -> None:
    postgres.sql(f"CREATE ROLE passer LOGIN BYPASSRLS PASSWORD '{postgres.password}'")
    refused(postgres.url(name_of(made), role="passer"), StoreError, "BYPASSRLS")


def test_a_role_without_rights(made: str, postgres: PostgresServer) -> None:
    postgres.sql(f"CREATE ROLE nobody LOGIN PASSWORD '{postgres.password}'")
    refused(postgres.url(name_of(made), role="nobody"), StoreReadOnly, "lacks a right")


def test_a_database_that_is_not_in_utf_8(postgres: PostgresServer) -> None:
    postgres.sql(f"CREATE DATABASE latin OWNER {APPLICATION} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    refused(postgres.url("latin"), StoreError, "LATIN1", "UTF8")


def test_a_store_of_a_later_mnemic(copy: str, postgres: PostgresServer) -> None:
    postgres.sql("""UPDATE mnemic.meta SET "value" = '99' WHERE "key" = 'format'""", database=name_of(copy))
    refused(copy, StoreNewer, "format 99", "upgrade")


def test_a_store_with_entries_of_an_older_tokeniser_is_brought_up_to_date(
    copy: str, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemic.store.postgres.table_making.SLICE", 2)
    with closing(PostgresStore(copy)) as store:
        for number in range(5):
            World(store, f"{number}").commit(f"Ada was in Lisbon {number}", user=f"user {number % 2}")
    older = (
        """SET mnemic.across = 'on'; UPDATE mnemic.entry SET "terms" = 'old'; UPDATE mnemic.meta SET "value" = '2'"""
    )
    postgres.sql(older + """ WHERE "key" = 'tokens'""", database=name_of(copy))

    def cut(point: str) -> None:
        if point == "retokenise_slice:after-commit":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        PostgresStore(copy, probe=cut)
    for _ in range(2):  # the first goes on, the second has nothing to do
        with closing(PostgresStore(copy)) as store:
            assert World(store).faults() == []
    written: list[str] = []
    with closing(PostgresStore(copy, probe=written.append)):
        assert written == []


def test_no_transaction_idles_while_entries_are_made_again_and_who_comes_meanwhile_waits(
    copy: str, postgres: PostgresServer
) -> None:
    with closing(PostgresStore(copy)) as store:
        World(store).commit("Ada was in Lisbon")
    older = """UPDATE mnemic.meta SET "value" = '2' WHERE "key" = 'tokens'"""
    postgres.sql(older, database=name_of(copy))
    idling: list[str] = []
    written: list[str] = []

    with ThreadPoolExecutor(1) as pool:
        late: list[Future[PostgresStore]] = []

        def probe(point: str) -> None:
            if point == "retokenise_slice:after-commit" and not late:
                late.append(pool.submit(PostgresStore, copy, probe=written.append))
                idling.append(postgres.sql(_IDLING.format(name_of(copy))))

        PostgresStore(copy, probe=probe).close()
        late[0].result().close()
    assert idling == ["0"]
    assert written == []


def test_a_schema_of_another_program(postgres_database: str, postgres: PostgresServer) -> None:
    postgres.sql(f"CREATE SCHEMA mnemic AUTHORIZATION {APPLICATION}", database=name_of(postgres_database))
    refused(postgres_database, StoreForeign, "not ours")


def test_a_database_without_a_store_is_left_alone_if_so_asked(postgres_database: str) -> None:
    with pytest.raises(NotFound):
        PostgresStore(postgres_database, create=False)


def test_a_read_only_database_can_be_read(world: World, copy: str, postgres: PostgresServer) -> None:
    world.commit("before")
    postgres.sql(f'ALTER DATABASE "{name_of(copy)}" SET default_transaction_read_only = on')
    with closing(PostgresStore(copy)) as store:
        reader = World(store, "reader")
        assert reader.texts() == ["before"]
        with pytest.raises(StoreReadOnly, match=r"name the primary .* \?target_session_attrs=read-write"):
            reader.commit("after")
        assert reader.texts() == ["before"]


def test_a_read_only_database_without_a_store(postgres_database: str, postgres: PostgresServer) -> None:
    postgres.sql(f'ALTER DATABASE "{name_of(postgres_database)}" SET default_transaction_read_only = on')
    refused(postgres_database, StoreReadOnly, "cannot be written")


def test_an_older_server(monkeypatch: pytest.MonkeyPatch, made: str) -> None:
    monkeypatch.setattr("mnemic.store.postgres.server_connections.OLDEST", 99)
    refused(made, StoreError, "99 or later")


def test_connections_that_the_server_ended_are_replaced(world: World, copy: str, postgres: PostgresServer) -> None:
    world.commit("before")
    assert world.texts() == ["before"]
    _end_connections(postgres, copy)
    world.commit("after")
    assert world.texts() == ["before", "after"]


def test_a_commit_whose_answer_is_lost_lands_once_though_another_comes_before_it_is_asked_for(
    copy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit, lost = ServerTransaction.commit, []

    def commit_unanswered(transaction: ServerTransaction) -> None:
        commit(transaction)
        if transaction.moved and not lost:
            lost.append(1)
            World(other, "other").commit("another's")
            raise psycopg.OperationalError("the answer is lost")

    with closing(PostgresStore(copy)) as store, closing(PostgresStore(copy)) as other:
        world = World(store)
        world.commit("before")
        monkeypatch.setattr(ServerTransaction, "commit", commit_unanswered)
        world.commit("once")
        assert (lost, world.texts()) == ([1], ["before", "once", "another's"])


def test_a_process_that_has_met_another_server_lends_no_connection_to_the_one_before(copy: str) -> None:
    cleared: list[int] = []
    with closing(PostgresStore(copy)) as store:
        store.when_replaced(lambda: cleared.append(1))
        World(store).commit("before")
        heads = store._heads
        with store._lent(store._readers) as old:
            old.server = store._server = (*old.server[:-1], old.server[-1] - 1)  # as if opened before a promotion
            World(store, "other").commit("after")
            assert (cleared, store._heads is heads) == ([1], False)
        assert World(store).texts() == ["before", "after"]
        assert (cleared, old.db.closed) == ([1], True)


def test_a_server_says_its_timeline_as_a_number(copy: str) -> None:
    with closing(PostgresStore(copy)) as store, store._lent(store._readers) as lent:
        assert lent.server[-1] == 1


def test_an_upgrade_lets_readers_by_while_somebody_reads_for_long(copy: str) -> None:
    with psycopg.connect(copy, autocommit=True) as db:
        db.execute('DROP INDEX mnemic.tenant_gone; ALTER TABLE mnemic.tenant DROP COLUMN "gone"')
        db.execute("UPDATE mnemic.meta SET \"value\" = '1' WHERE \"key\" = 'format'")
    with psycopg.connect(copy) as slow, psycopg.connect(copy, autocommit=True) as db, ThreadPoolExecutor(1) as pool:
        slow.execute("SELECT 1 FROM mnemic.tenant")
        opening = pool.submit(PostgresStore, copy)
        while not db.execute("SELECT 1 FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'").fetchone():
            pass
        db.execute("SET statement_timeout = '60s'")
        db.execute("SELECT 1 FROM mnemic.tenant")  # which waits behind the upgrade, and not for the slow reader
        assert not opening.done()
        slow.rollback()
        opening.result(timeout=60).close()


def test_a_commit_whose_connection_is_cut_lands_once(copy: str, postgres: PostgresServer) -> None:
    cut: list[str] = []

    def probe(point: str) -> None:
        if point in cut:
            cut.remove(point)
            _end_connections(postgres, copy)

    with closing(PostgresStore(copy, probe=probe)) as store:
        world = World(store)
        world.commit("first")
        for point in ("commit:begin", "commit:before-commit", "commit:after-commit"):
            cut.append(point)
            world.commit(point)
        assert world.texts() == ["first", "commit:begin", "commit:before-commit", "commit:after-commit"]
        assert world.faults() == []


def test_a_commit_that_landed_though_nobody_said_so_is_known(copy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import psycopg

    from mnemic.store.postgres.transaction import ServerTransaction

    with closing(PostgresStore(copy)) as store:
        world = World(store)
        world.commit("first")
        land = ServerTransaction.commit

        def lose(self: ServerTransaction) -> None:
            land(self)
            monkeypatch.setattr(ServerTransaction, "commit", land)
            self._lent.db.close()
            raise psycopg.OperationalError("the connection is lost")

        monkeypatch.setattr(ServerTransaction, "commit", lose)
        assert world.commit("second").seq == 2
        assert world.texts() == ["first", "second"]
        assert world.commit("third").seq == 3


def test_two_processes_that_begin_at_once_make_one_store(postgres_database: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(lambda _: PostgresStore(postgres_database), range(4)))
    assert len({store.origin() for store in stores}) == 1
    for store in stores:
        store.close()


def test_a_read_inside_a_read_waits_for_nobody(copy: str) -> None:
    with closing(PostgresStore(copy, connections=1, busy_timeout=5)) as store:
        world = World(store)
        world.commit("x")
        with store.read(), store.read(), store.read() as innermost:
            assert innermost.tenants()
            world.commit("y")


@pytest.mark.parametrize("pooled", [False, True])
def test_behind_a_pooler_no_statement_is_prepared(copy: str, monkeypatch: pytest.MonkeyPatch, pooled: bool) -> None:
    if pooled:
        monkeypatch.setattr("mnemic.store.postgres.postgres_store.is_pooled", lambda _db: True)
    with closing(PostgresStore(copy)) as store:
        world = World(store)
        for number in range(10):
            world.commit(f"{number}")
        with store._lent(store._writers) as lent:
            prepared = lent.db.execute("SELECT count(*) FROM pg_prepared_statements").fetchone()
            lent.db.rollback()
        assert prepared is not None
        assert (prepared[0] == 0) == pooled


def test_who_finds_no_connection_is_told_so(copy: str) -> None:
    with closing(PostgresStore(copy, connections=1, busy_timeout=0.1)) as store, store.read():
        refusals: list[MnemicError] = []

        def read() -> None:
            try:
                World(store).texts()
            except MnemicError as error:
                refusals.append(error)

        other = threading.Thread(target=read)
        other.start()
        other.join()
    assert [(type(error), "all 1 connections were busy" in str(error)) for error in refusals] == [(StoreLocked, True)]


def test_names_that_hold_sql_are_names(world: World) -> None:
    world.commit("another's", tenant="plain")
    name = """x'; DROP TABLE mnemic.version; -- " %s %(a)s $1 \\ {0} OR '1'='1"""
    item = world.item(name, session=name, agent=name, tags=(name,), slots={"a": name})
    world.commit(world.put(item, key=name), tenant=name, user=name, actor=name)
    assert world.texts(tenant=name, user=name) == [name]
    assert world.texts(Filter(session=name, tags=(name,)), tenant=name, user=name) == [name]
    assert world.texts(tenant="plain") == ["another's"]
    assert world.faults() == []


def test_who_stand_in_each_other_s_way_both_get_through(world: World, copy: str) -> None:
    for tenant in ("a", "b"):
        world.commit("x", tenant=tenant)
    numbers = {name: world.tenant(name) for name in ("a", "b")}
    tries: list[str] = []
    with closing(PostgresStore(copy)) as one, closing(PostgresStore(copy)) as two:
        both_hold_one = threading.Barrier(2)

        def note(rows: Rows, first: str, second: str) -> None:
            rows.notes.set_memo(numbers[first], "note", first.encode())
            assert rows.notes.memo(numbers[first], "note")  # by now it has the lock
            tries.append(first)
            if tries.count(first) == 1:
                both_hold_one.wait(timeout=60)
            rows.notes.set_memo(numbers[second], "other", first.encode())

        with ThreadPoolExecutor(2) as pool:
            for done in [pool.submit(one.transact, note, "a", "b"), pool.submit(two.transact, note, "b", "a")]:
                done.result()
    assert sorted(set(tries)) == ["a", "b"]
    assert len(tries) >= 3  # one of them was begun anew
    assert world.faults() == []


def test_a_database_that_lost_what_was_acknowledged_is_gone_on_with_as_it_is(
    copy: str, new_postgres_database: Callable[..., str], postgres: PostgresServer
) -> None:
    """As after a failover to a standby that was behind: others have written as many commits since, or more."""
    with closing(PostgresStore(copy)) as living:
        world = World(living)
        world.commit("kept")
        _end_connections(postgres, copy)
        behind = new_postgres_database(name_of(copy))
        for number in range(2):
            world.commit(f"lost {number}", user=f"newcomer {number}")
        _end_connections(postgres, copy)
        postgres.sql(f'ALTER DATABASE "{name_of(copy)}" RENAME TO "{name_of(copy)}_lost"')
        postgres.sql(f'ALTER DATABASE "{name_of(behind)}" RENAME TO "{name_of(copy)}"')
        for commits in (2, 3):
            with closing(PostgresStore(copy)) as other:
                for number in range(commits):
                    World(other, f"{commits}{number}").commit(f"new {number}", user=f"guest {commits} {number}")
            for number in range(2):
                World(living, f"after {commits}{number}").commit(f"after {commits}", user=f"newcomer {number}")
        assert World(living).faults() == []
        assert World(living).texts(user="newcomer 0") == ["after 2", "after 3"]
        assert World(living).texts(user="guest 2 0") == ["new 0"]


def test_a_process_drops_its_catalogues_when_a_server_behind_has_taken_over(
    copy: str, new_postgres_database: Callable[..., str], postgres: PostgresServer
) -> None:
    """With as many commits written since as were lost, so that no number tells."""
    settings = Settings(background=False, embedder="none")
    with Memory(copy, settings=settings) as living:
        me = living.scope(user="ada")
        me.observe([f"On day {number} it rained on house {number}." for number in range(30)])
        _end_connections(postgres, copy)
        behind = new_postgres_database(name_of(copy))
        me.observe("The parrot is a secret.")
        assert "secret" in me.recall("Which bird is a secret?").text
        _end_connections(postgres, copy)
        postgres.sql(f'ALTER DATABASE "{name_of(copy)}" RENAME TO "{name_of(copy)}_lost"')
        postgres.sql(f'ALTER DATABASE "{name_of(behind)}" RENAME TO "{name_of(copy)}"')
        with Memory(copy, settings=settings) as other:
            other.scope(user="ada").observe("The wren is brown.")
        with Memory(copy, settings=settings) as fresh:
            new = fresh.scope(user="ada")
            for question in ("secret parrot", "brown wren", "Did it rain on house 7?"):
                asked, expected = me.recall(question, k=3), new.recall(question, k=3)
                assert [(each.item.text, each.score) for each in asked.items] == [
                    (each.item.text, each.score) for each in expected.items
                ]


def test_clocks_an_hour_apart_leave_a_journal_in_order(copy: str) -> None:
    late, early = ManualClock(), ManualClock()
    late.tick(3_600_000_000)
    with closing(PostgresStore(copy, clock=late)) as one, closing(PostgresStore(copy, clock=early)) as two:
        for number in range(4):
            World((one, two)[number % 2], f"{number}").commit(f"{number}")
        assert World(two).texts() == ["0", "1", "2", "3"]
        assert World(two).faults() == []


_IDLING = "SELECT count(*) FROM pg_stat_activity WHERE datname = '{}' AND state LIKE 'idle in transaction%'"


def test_deadlocks_that_do_not_end_are_told_in_one_sentence(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemic.store.postgres.postgres_store.TRIES", 2)
    world.commit("before")

    def stand_in_the_way(rows: Rows) -> None:
        raise psycopg.errors.DeadlockDetected("deadlock detected")

    with pytest.raises(StoreLocked, match="stood in the way each time; retry with the same key") as caught:
        world.store.transact(stand_in_the_way)
    assert "\n" not in str(caught.value)
    assert world.commit("after").seq == 2


def test_a_disk_that_is_full_is_told_and_nothing_that_was_acknowledged_is_lost(
    world: World, copy: str, postgres: PostgresServer
) -> None:
    acknowledged = [world.commit(f"{number}").seq for number in range(3)]
    _fill_disk(postgres, copy)
    with pytest.raises(StoreFull, match="disk is full; make room and retry with the same key") as caught:
        world.commit(world.put("more", key="more"))
    assert "\n" not in str(caught.value)
    with pytest.raises(StoreFull):
        world.store.transact(lambda rows: rows.notes.set_memo(world.tenant(), "note", b"x"))
    assert world.texts() == ["0", "1", "2"]
    _free_disk(postgres, copy)
    assert world.commit(world.put("more", key="more")).seq == acknowledged[-1] + 1
    assert (world.texts(), world.faults()) == (["0", "1", "2", "more"], [])


def _fill_disk(postgres: PostgresServer, url: str) -> None:
    """Have the server answer each change of a tenant's head as it does where a table cannot grow."""
    raised = "BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END"
    postgres.sql(
        f"CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $${raised}$$;"
        " CREATE TRIGGER full_disk BEFORE UPDATE ON mnemic.tenant EXECUTE FUNCTION full_disk()",
        database=name_of(url),
    )


def _free_disk(postgres: PostgresServer, url: str) -> None:
    postgres.sql("DROP TRIGGER full_disk ON mnemic.tenant", database=name_of(url))


def _end_connections(postgres: PostgresServer, url: str) -> None:
    postgres.sql(f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{name_of(url)}'")


def test_what_comes_often_is_planned_once_and_survives_the_end_of_a_read(copy: str) -> None:
    with closing(PostgresStore(copy)) as store:
        World(store).commit("x")
        for _ in range(PREPARED_AFTER + 4):
            with store.read() as snapshot:
                assert snapshot.owned(TENANT, "ada", "")[0] is not None
        reader = store._readers._idle[-1].db
        plans = "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE %s"
        planned = reader.execute(plans, ('SELECT%WHERE "id" > 0 AND "id" = $1',)).fetchall()
        assert planned == [(4, 0)]

"""A streaming replica serves reads, none older than asked; a standby that is promoted has all that was acknowledged."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from mnemic import Memory, Settings, StoreReadOnly
from mnemic.replicas import ReadReplicas
from mnemic.store.postgres.postgres_store import PostgresStore
from mnemic.testing.postgres_server import (
    PostgresPrograms,
    PostgresServer,
    running_postgres,
    running_standby,
    url_of_either,
)
from patience import eventually

pytestmark = pytest.mark.slow

QUIET = Settings(background=False, embedder="none")


@pytest.fixture(scope="module")
def primary(postgres_programs: PostgresPrograms) -> Iterator[PostgresServer]:
    with running_postgres(postgres_programs, durable=True) as server:
        server.create_database("replicated")
        PostgresStore(server.url("replicated")).close()
        yield server


@pytest.fixture(scope="module")
def standby(primary: PostgresServer) -> Iterator[PostgresServer]:
    with running_standby(primary) as server:
        eventually(lambda: server.replayed(primary))
        yield server


def texts(memory: object) -> list[str]:
    return [version.item.text for version in memory.list()]  # type: ignore[attr-defined]


def test_a_read_is_never_older_than_asked(primary: PostgresServer, standby: PostgresServer) -> None:
    with (
        Memory(primary.url("replicated"), settings=QUIET) as memory,
        ReadReplicas(memory, [standby.url("replicated")], patience=0.05) as replicas,
    ):
        me = memory.scope(user="ada", tenant="aged")
        first = me.observe("The heron came.")
        eventually(lambda: standby.replayed(primary))
        assert texts(replicas.scope(user="ada", tenant="aged", at_least=first.seq)) == ["The heron came."]
        assert replicas.from_primary == 0
        standby.pause_replay()
        second = me.observe("The wren came.")
        assert texts(replicas.scope(user="ada", tenant="aged")) == ["The heron came."], "any state will do"
        assert texts(replicas.scope(user="ada", tenant="aged", at_least=second.seq))[0] == "The wren came."
        assert replicas.from_primary == 1
        standby.pause_replay(paused=False)
        eventually(lambda: standby.replayed(primary))
        assert "The wren came." in replicas.scope(user="ada", tenant="aged", at_least=second.seq).context("wren").text
        assert replicas.from_primary == 1


def test_a_read_waits_for_a_replica_that_is_not_far_behind(primary: PostgresServer, standby: PostgresServer) -> None:
    with (
        Memory(primary.url("replicated"), settings=QUIET) as memory,
        ReadReplicas(memory, [standby.url("replicated")], patience=60) as replicas,
    ):
        standby.pause_replay()
        written = memory.scope(user="ada", tenant="waited").observe("The lark came.")
        resuming = threading.Timer(0.2, standby.pause_replay, kwargs={"paused": False})
        resuming.start()
        assert texts(replicas.scope(user="ada", tenant="waited", at_least=written.seq)) == ["The lark came."]
        assert replicas.from_primary == 0
        resuming.join()


def test_writers_beside_readers_of_a_replica_read_what_they_wrote(
    primary: PostgresServer, standby: PostgresServer
) -> None:
    with (
        Memory(primary.url("replicated"), settings=QUIET) as memory,
        ReadReplicas(memory, [standby.url("replicated")]) as replicas,
    ):
        late: list[str] = []

        def write_and_read(tenant: str) -> None:
            for number in range(25):
                written = memory.scope(user="ada", tenant=tenant).observe(f"Message {number}.")
                newest = texts(replicas.scope(user="ada", tenant=tenant, at_least=written.seq))[0]
                if newest != f"Message {number}.":
                    late.append(f"{tenant}: {newest} after {number}")

        writing = [threading.Thread(target=write_and_read, args=(f"writer {n}",)) for n in range(4)]
        for thread in writing:
            thread.start()
        for thread in writing:
            thread.join()
        assert late == []
        assert replicas.from_primary < 100


def test_a_replica_refuses_what_is_written_to_it(primary: PostgresServer, standby: PostgresServer) -> None:
    with (
        Memory(primary.url("replicated"), settings=QUIET) as memory,
        ReadReplicas(memory, [standby.url("replicated")]) as replicas,
        pytest.raises(StoreReadOnly, match="is a replica"),
    ):
        replicas.scope(user="ada").observe("The owl came.")


def test_a_replica_that_has_gone_is_passed_over(primary: PostgresServer) -> None:
    with (
        running_standby(primary) as gone,
        Memory(primary.url("replicated"), settings=QUIET) as memory,
        ReadReplicas(memory, [gone.url("replicated")]) as replicas,
    ):
        written = memory.scope(user="ada", tenant="left").observe("The crow came.")
        gone.kill()
        for _ in range(2):
            assert texts(replicas.scope(user="ada", tenant="left", at_least=written.seq)) == ["The crow came."]
        assert replicas.from_primary == 2


def test_one_that_is_down_from_the_beginning_stops_no_reader(primary: PostgresServer, standby: PostgresServer) -> None:
    nobody = standby.url("replicated").replace(f":{standby.port}/", ":1/")
    with (
        Memory(primary.url("replicated"), settings=QUIET) as memory,
        ReadReplicas(memory, [nobody, standby.url("replicated")]) as replicas,
    ):
        memory.scope(user="ada", tenant="down").observe("The crane came.")
        eventually(lambda: standby.replayed(primary))
        assert [texts(replicas.scope(user="ada", tenant="down")) for _ in range(3)] == [["The crane came."]] * 3
        assert replicas.from_primary == 0


def test_a_standby_that_is_promoted_under_a_live_pool_has_all_and_is_gone_on_with(
    postgres_programs: PostgresPrograms,
) -> None:
    with running_postgres(postgres_programs, durable=True) as one, running_standby(one) as other:
        one.create_database("failing")
        for server in (one, other):
            server.require_standby()
        with Memory(url_of_either(one, other, "failing"), settings=QUIET) as memory:
            me = memory.scope(user="ada")
            me.observe("Before.", key="before")
            one.kill()
            other.promote()
            one.rejoin(other)
            eventually(lambda: one.replayed(other))
            me.observe("After.", key="after")
            assert texts(me) == ["After.", "Before."]
            assert list(memory.admin.verify()) == []


def test_a_primary_that_only_replays_now_is_left_for_the_one_that_writes(postgres_programs: PostgresPrograms) -> None:
    with running_postgres(postgres_programs) as server:
        url = server.create_database("demoted")
        with Memory(url, settings=QUIET) as memory:
            me = memory.scope(user="ada")
            me.observe("Before.")
            server.sql("ALTER DATABASE demoted SET default_transaction_read_only = on")
            server.sql("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = 'demoted'")
            with pytest.raises(StoreReadOnly, match="is a replica, or set read-only") as caught:
                me.observe("Refused.")
            assert "\n" not in str(caught.value)
            server.sql("ALTER DATABASE demoted SET default_transaction_read_only = off")
            me.observe("After.")
            assert texts(me) == ["After.", "Before."]

"""A tenant is moved between stores with all that an export leaves out, and seen by nobody before it is whole."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tenant_contents import contents, faults, journal

from mnemic.errors import Conflict, NotFound
from mnemic.store.engine.relations import VECTOR
from mnemic.store.moving import move_tenant, tenants_of
from mnemic.store.postgres.postgres_store import PostgresStore
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.testing.attack.lived_store import lived_store
from mnemic.testing.generators import ManualClock
from mnemic.testing.store_contract.contract_world import TENANT, World

Opener = Callable[[str], Any]


class KilledError(Exception):
    """Stands for the end of the process."""


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.heavy)])
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    """Make an empty store of either kind, by a name of one's own."""
    with ExitStack() as opened:

        def make(name: str) -> Any:
            if request.param == "sqlite":
                store: Any = SqliteStore(tmp_path / f"{name}.db", clock=ManualClock())
            else:
                store = PostgresStore(request.getfixturevalue("new_postgres_database")(), clock=ManualClock())
            opened.callback(store.close)
            return store

        yield make


@pytest.fixture
def lived(tmp_path: Path) -> Iterator[SqliteStore]:
    """A store in which something of everything has happened."""
    path = tmp_path / "lived.db"
    path.write_bytes(lived_store())
    store = SqliteStore(path, clock=ManualClock())
    yield store
    store.close()


def test_all_of_a_tenant_goes_there_and_comes_back(lived: SqliteStore, new_store: Opener, tmp_path: Path) -> None:
    there, back = new_store("there"), SqliteStore(tmp_path / "back.db", clock=ManualClock())
    World(there).commit("of somebody else before", tenant="before")
    moved = move_tenant(lived, there, TENANT)
    assert contents(there) == contents(lived)
    assert journal(there) == journal(lived)
    assert faults(there) == []
    again = move_tenant(there, back, TENANT)
    assert contents(back) == contents(lived)
    assert journal(back) == journal(lived)
    assert faults(back) == []
    assert moved.state_hash == again.state_hash
    assert contents(lived)["vectors"], "there were vectors to carry"
    back.close()


def test_it_goes_on_there(lived: SqliteStore, new_store: Opener) -> None:
    there = new_store("there")
    move_tenant(lived, there, TENANT)
    World(there, "new").commit("said after the move", user="bob")
    World(there, "new2").commit("said by somebody new", user="dora")
    assert "said after the move" in World(there).texts(user="bob")
    assert faults(there) == []


def test_a_tenant_that_is_there_already_is_refused(lived: SqliteStore, new_store: Opener) -> None:
    there = new_store("there")
    World(there).commit("another's")
    with pytest.raises(Conflict, match="is there already"):
        move_tenant(lived, there, TENANT)
    assert World(there).texts() == ["another's"]
    assert faults(there) == []


def test_a_tenant_that_is_not_there_cannot_be_moved(lived: SqliteStore, new_store: Opener) -> None:
    with pytest.raises(NotFound, match="no tenant 'nobody'"):
        move_tenant(lived, new_store("there"), "nobody")


def test_what_was_moved_before_is_left_as_it_is(lived: SqliteStore, new_store: Opener) -> None:
    there = new_store("there")
    assert move_tenant(lived, there, TENANT).there is False
    assert move_tenant(lived, there, TENANT).there is True
    World(there, "new").commit("since")
    with pytest.raises(Conflict, match="is there already"):
        move_tenant(lived, there, TENANT)


def test_cut_anywhere_it_is_seen_by_nobody_and_goes_on(
    lived: SqliteStore, new_store: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemic.store.engine.tenant_copy.COMMITS", 9)
    there, cuts = new_store("there"), 0

    def probe(point: str) -> None:
        nonlocal cuts
        if point not in passed and point != "move:published":
            cuts += 1
            passed.add(point)
            raise KilledError
        if point == "move:journal" and cuts < 12:
            cuts += 1
            raise KilledError

    passed: set[str] = set()
    while True:
        try:
            done = move_tenant(lived, there, TENANT, probe=probe)
            break
        except KilledError:
            assert tenants_of(there) == []
            assert faults(there) == []
    assert cuts >= 6
    assert done.commits < 9  # of the last run alone
    assert (contents(there), journal(there), faults(there)) == (contents(lived), journal(lived), [])


def test_what_is_written_between_two_runs_is_copied_too(lived: SqliteStore, new_store: Opener) -> None:
    there = new_store("there")

    def probe(point: str) -> None:
        if point == "move:vectors":
            raise KilledError

    with pytest.raises(KilledError):
        move_tenant(lived, there, TENANT, probe=probe)
    World(lived, "new").commit("said between")
    move_tenant(lived, there, TENANT)
    assert (contents(there), journal(there), faults(there)) == (contents(lived), journal(lived), [])


def test_what_changes_without_a_commit_between_two_runs_is_copied_too(lived: SqliteStore, new_store: Opener) -> None:
    there = new_store("there")

    def probe(point: str) -> None:
        if point == "move:beside":
            raise KilledError

    with pytest.raises(KilledError):
        move_tenant(lived, there, TENANT, probe=probe)
    with lived.read() as snapshot:
        space, model = World(lived).space(), snapshot.embedders()[0].id
        taken = next(iter(snapshot.vectors(space, model)))
    lived.transact(lambda rows: rows.vectors.relations.drop(VECTOR, space=space, model=model, ver=taken.ver))
    move_tenant(lived, there, TENANT)
    assert (contents(there), faults(there)) == (contents(lived), [])


def test_a_write_meanwhile_is_noticed(lived: SqliteStore, new_store: Opener) -> None:
    there = new_store("there")

    def probe(point: str) -> None:
        if point == "move:begun":
            World(lived, "new").commit("said meanwhile")

    with pytest.raises(Conflict, match="written to meanwhile"):
        move_tenant(lived, there, TENANT, probe=probe)
    assert tenants_of(there) == []
    move_tenant(lived, there, TENANT)
    assert contents(there) == contents(lived)


@pytest.mark.parametrize("point", ["move:beside", "move:settled"])
def test_a_write_at_the_end_is_noticed(lived: SqliteStore, new_store: Opener, point: str) -> None:
    there, late = new_store("there"), World(lived, "late")

    def probe(passed: str) -> None:
        if passed == point and late.commit("said at the end").seq:
            assert tenants_of(there) == []

    with pytest.raises(Conflict, match="written to meanwhile"):
        move_tenant(lived, there, TENANT, probe=probe)
    assert (tenants_of(there), faults(there)) == ([], [])
    move_tenant(lived, there, TENANT)
    assert (contents(there), journal(there)) == (contents(lived), journal(lived))


def test_nobody_writes_to_the_source_while_the_copy_gets_its_name(
    new_store: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, dest = new_store("source"), SqliteStore(tmp_path / "dest.db", clock=ManualClock())
    world, late = World(source), World(source, "late")
    world.commit("before")
    writing = threading.Thread(target=lambda: late.commit("after"))
    transact, waited = dest.transact, []

    def publishing(work: Callable[..., Any], *args: Any) -> Any:
        if work.__name__ == "publish":
            writing.start()
            writing.join(0.3)
            waited.append(writing.is_alive())
        return transact(work, *args)

    monkeypatch.setattr(dest, "transact", publishing)
    move_tenant(source, dest, TENANT)
    writing.join()
    assert waited == [True]
    assert (World(dest).texts(), world.texts()) == (["before"], ["before", "after"])
    dest.close()


def test_a_space_that_came_without_a_commit_between_two_runs_is_copied_too(
    lived: SqliteStore, new_store: Opener
) -> None:
    there = new_store("there")

    def probe(point: str) -> None:
        if point == "move:begun":
            raise KilledError

    with pytest.raises(KilledError):
        move_tenant(lived, there, TENANT, probe=probe)
    number = World(lived).tenant(TENANT)
    lived.transact(lambda rows: rows.spaces.load_space(number, 99, "somebody new", b"salt"))
    move_tenant(lived, there, TENANT)
    assert contents(there) == contents(lived)


@pytest.mark.heavy
def test_what_was_erased_between_two_runs_goes_from_the_server_s_files(
    lived: SqliteStore, new_postgres_database: Callable[..., str]
) -> None:
    url = new_postgres_database()
    with closing(PostgresStore(url, clock=ManualClock())) as there:
        secret = World(lived, "secret").commit("a secret of the house").ids[0]

        def probe(point: str) -> None:
            if point == "move:vectors":
                raise KilledError

        with pytest.raises(KilledError):
            move_tenant(lived, there, TENANT, probe=probe)
        World(lived).erase(secret)
        move_tenant(lived, there, TENANT)
        with psycopg.connect(url, autocommit=True) as db:
            owed = "SELECT count(*) FROM mnemic.meta WHERE \"key\" LIKE 'residue:%'"
            assert db.execute(owed.encode()).fetchone() == (1,)
            assert there.settle()
            assert db.execute(owed.encode()).fetchone() == (0,)

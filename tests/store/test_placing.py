"""A bucket of tenants goes from one server to another under load; who comes to the wrong one is refused."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest
from tenant_contents import contents, faults, journal

from mnemic.credentials.keys import Keys
from mnemic.errors import Conflict, NotFound, TenantElsewhere
from mnemic.store import placing
from mnemic.store.engine import job_queue, tenant_copy
from mnemic.store.engine.relations import STRENGTH, VERSION
from mnemic.store.engine.use_counters import Shown, count_shown
from mnemic.store.moving import move_tenant, tenants_of
from mnemic.store.placing import BucketMove, PlacedTenant, add_server, read_placement
from mnemic.store.postgres.postgres_store import PostgresStore
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.store.values.buckets import BUCKETS, bucket_of
from mnemic.store.values.row_values import COPYING
from mnemic.store.values.work import Order
from mnemic.testing.attack.lived_store import lived_store
from mnemic.testing.generators import ManualClock
from mnemic.testing.postgres_server import emptied
from mnemic.testing.store_contract.contract_world import TENANT, World

pytestmark = pytest.mark.heavy

BUCKET = bucket_of(TENANT)


class KilledError(Exception):
    """Stands for the end of the process."""


class Servers(NamedTuple):
    """Two databases of a placement; the first has the table and every bucket."""

    a: PostgresStore
    b: PostgresStore

    def move(
        self, to: str = "b", bucket: int = BUCKET, probe: Callable[[str], None] | None = None
    ) -> list[PlacedTenant]:
        source, dest = (self.a, self.b) if to == "b" else (self.b, self.a)
        return list(BucketMove(self.a, source, dest, bucket, to, probe=probe or (lambda point: None)).run())


@pytest.fixture(scope="module")
def urls(new_postgres_database: Callable[..., str]) -> tuple[str, str]:
    return new_postgres_database(), new_postgres_database()


@pytest.fixture
def servers(urls: tuple[str, str]) -> Iterator[Servers]:
    with ExitStack() as opened:
        stores = []
        for url in urls:
            with psycopg.connect(url, autocommit=True) as db:
                emptied(db)
                if db.execute("SELECT to_regclass('mnemic.meta')").fetchone() != (None,):
                    db.execute("DELETE FROM mnemic.meta WHERE \"key\" IN ('kept', 'placement')")
            stores.append(PostgresStore(url, clock=ManualClock()))
            opened.callback(stores[-1].close)
        for name, store, url in zip("ab", stores, urls, strict=True):
            add_server(stores[0], store, name, url)
        yield Servers(*stores)


@pytest.fixture
def lived(servers: Servers, tmp_path: Path) -> Servers:
    """Servers of which the first has a tenant in which something of everything has happened."""
    path = tmp_path / "lived.db"
    path.write_bytes(lived_store())
    with closing(SqliteStore(path, clock=ManualClock())) as store:
        move_tenant(store, servers.a, TENANT)
    return servers


def in_bucket(bucket: int, word: str = "tenant") -> str:
    """Make up the name of a tenant of a bucket."""
    return next(name for name in (f"{word}{n}" for n in itertools.count()) if bucket_of(name) == bucket)


def test_all_of_a_bucket_goes_and_comes_back(lived: Servers) -> None:
    a, b = lived
    before = (contents(a), journal(a))
    World(a).commit("of somebody else", tenant="other")
    (placed,) = lived.move()
    assert (placed.tenant, (contents(b), journal(b))) == (TENANT, before)
    assert (tenants_of(a), faults(a), faults(b)) == (["other"], [], [])
    assert read_placement(a).server_of(BUCKET) == "b"
    World(b).commit("written there")
    there = (contents(b), journal(b))
    lived.move("a")
    assert (contents(a), journal(a), tenants_of(b), faults(a), faults(b)) == (*there, [], [], [])
    assert read_placement(a).server_of(BUCKET) == "a"
    assert lived.move("b")[0].tenant == TENANT


def test_who_comes_to_the_server_that_it_left_is_refused(lived: Servers) -> None:
    a, b = lived
    stale, space = World(a, "stale"), World(a).space()
    stale.commit("before")
    lived.move()
    with pytest.raises(TenantElsewhere, match="moved to server 'b'"):
        stale.commit("after")  # which knows the tenant from the group before
    with pytest.raises(TenantElsewhere), closing(PostgresStore(str_of(a), clock=ManualClock())) as new:
        World(new).commit("after")
    with pytest.raises(TenantElsewhere):
        stale.texts()
    with pytest.raises(TenantElsewhere):
        a.transact(lambda rows: rows.lanes.make_due(space))
    with pytest.raises(TenantElsewhere), a.read() as snapshot:
        snapshot.tenant(TENANT)
    World(b).commit("after")
    assert World(b).texts()[-2:] == ["before", "after"]


def str_of(store: PostgresStore) -> str:
    return str(store._where.parameters["dbname"]) and psycopg.conninfo.make_conninfo(**store._where.parameters)


def test_a_tenant_is_made_and_looked_for_only_where_its_bucket_is_kept(servers: Servers) -> None:
    a, b = servers
    new, other = in_bucket(7), in_bucket(8)
    with pytest.raises(TenantElsewhere):
        World(b).commit("too early", tenant=new)
    with pytest.raises(TenantElsewhere), b.read() as snapshot:
        snapshot.tenant(new)
    assert servers.move(bucket=7) == []
    with pytest.raises(TenantElsewhere):
        World(a).commit("too late", tenant=new)
    World(b).commit("in time", tenant=new)
    World(a).commit("stays", tenant=other)
    assert (tenants_of(a), tenants_of(b)) == ([other], [new])


def test_what_is_written_while_it_moves_comes_along(lived: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placing, "SHORT_SECONDS", -1.0)  # all is written before the fence, behind which it would wait
    a, b = lived
    late, said, at = World(a, "late"), itertools.count(), []
    first, kept = late.item("what will be closed"), late.item("what stays")
    late.commit(late.put(first), late.put(kept))

    def probe(point: str) -> None:
        if point in ("move:journal", "place:round") and len(at) < 5:
            at.append(point)
            newer = late.item(f"said meanwhile {next(said)}")
            late.commit(late.put(newer), actor=f"actor {len(at)}")
            if len(at) == 2:
                late.commit(*late.superseding(first, late.item("newer")))
            if len(at) > 3:
                late.commit("of somebody new", user=f"user {len(at)}")
            late.tie(newer.id, kept.id)
            late.tie(first.id, kept.id)  # again: the link before is closed

    (placed,) = lived.move(probe=probe)
    assert (len(at), placed.commits, faults(a), faults(b)) == (5, World(b).seq(), [], [])
    assert {f"said meanwhile {n}" for n in range(5)} <= set(World(b).texts())
    with closing(PostgresStore(str_of(b), clock=ManualClock())) as again, again.read() as snapshot:
        assert snapshot.state_hash(TENANT)


def test_nothing_that_was_acknowledged_is_lost_under_load(lived: Servers) -> None:
    a, b = lived
    stop, told, gaps = threading.Event(), [], []

    def write(number: int) -> None:
        worlds, place, last = {"a": World(a, f"a{number}"), "b": World(b, f"b{number}")}, "a", time.monotonic()
        for turn in itertools.count():
            if stop.is_set() and place == "b":
                return
            text = f"{number}:{turn}"
            while True:
                try:
                    worlds[place].commit(text, user=f"user {number % 2}")
                except TenantElsewhere:
                    place = "b" if place == "a" else "a"
                    time.sleep(0.005)
                else:
                    break
            told.append(text)
            gaps.append(time.monotonic() - last)
            last = time.monotonic()

    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for writer in writers:
        writer.start()
    try:
        (placed,) = lived.move()
    finally:
        stop.set()
    for writer in writers:
        writer.join()
    there = [text for number in range(2) for text in World(b).texts(user=f"user {number}")]
    assert sorted(there) == sorted(told)
    assert (faults(a), faults(b), tenants_of(a)) == ([], [], [])
    print(f"fence {placed.fenced:.3f} s, longest gap {max(gaps):.3f} s, {len(told)} written, {placed.rounds} rounds")


def points_of(servers: Servers, to: str) -> list[str]:
    """The points that a move passes."""
    passed: list[str] = []
    servers.move(to, probe=passed.append)
    return passed


def test_cut_anywhere_it_goes_on_and_nobody_writes_in_two_places(lived: Servers) -> None:
    a, b = lived
    before = contents(a)
    points = points_of(lived, "b")
    lived.move("a")
    cuts = [place for place, point in enumerate(points) if point not in points[:place]]
    at, (here, there, to) = 0, (a, b, "b")
    for place in cuts:
        passed = itertools.count()

        def probe(point: str, place: int = place, passed: Iterator[int] = passed) -> None:
            if next(passed) == place:
                raise KilledError(point)

        try:
            lived.move(to, probe=probe)
        except KilledError:
            at += 1
        open_at = [store for store in (a, b) if takes_writes(store)]
        assert len(open_at) <= 1, points[place]
        lived.move(to)
        assert (contents(there), faults(here), faults(there), tenants_of(here)) == (before, [], [], []), points[place]
        here, there, to = there, here, "a" if to == "b" else "b"
    assert at > 10


def takes_writes(store: PostgresStore) -> bool:
    """Whether a store would write to the tenant."""
    try:
        with store.read() as snapshot:
            return snapshot.tenant(TENANT) is not None
    except TenantElsewhere:
        return False


def test_a_copy_is_made_anew_where_something_was_erased_meanwhile(lived: Servers) -> None:
    a, b = lived
    late = World(a, "late")
    erased = late.item("a secret")
    late.commit(late.put(erased))

    def probe(point: str, once: Iterator[int] = itertools.count()) -> None:  # noqa: B008 - counts over all calls
        if point == "place:round" and next(once) == 0:
            World(a).erase(erased.id)

    lived.move(probe=probe)
    assert ("a secret" in str(journal(b)), faults(b)) == (False, [])


def test_a_bucket_comes_back_without_a_tenant_that_was_erased_elsewhere(servers: Servers) -> None:
    a, b = servers
    World(a).commit("something")
    servers.move()
    erased = World(b).erase(user=None, whole=True)
    assert any("moved from" in text for text in erased.outside)
    servers.move("a")
    World(a, "new").commit("of somebody who took the name anew")
    assert [placed.tenant for placed in servers.move()] == [TENANT]
    assert (World(b).texts(), faults(a), faults(b)) == (["of somebody who took the name anew"], [], [])


@pytest.mark.parametrize("cut", [False, True])
def test_a_tenant_that_is_erased_on_its_way_leaves_no_copy(servers: Servers, cut: bool) -> None:
    a, b = servers
    World(a).commit("a secret")

    def probe(point: str) -> None:
        if point == "place:round":
            receipt = World(a).erase(user=None, whole=True)
            assert any("being moved to" in text for text in receipt.outside)
            if cut:
                raise KilledError

    if cut:
        with pytest.raises(KilledError):
            servers.move(probe=probe)
        servers.move()
    else:
        assert servers.move(probe=probe) == []
    with b.read() as snapshot:
        assert tenant_copy.copies_here(snapshot.tables, COPYING) == {}
        assert list(snapshot.tables.spaces.relations.find(VERSION)) == []
    assert read_placement(a).server_of(BUCKET) == "b"


def test_a_revoked_key_of_a_tenant_that_has_left_is_refused(servers: Servers) -> None:
    a, b = servers
    World(a).commit("something")
    keys = Keys(a, ManualClock())
    key = keys.create("laptop", tenant=TENANT).key

    def probe(point: str) -> None:
        if point == "place:fenced":
            with pytest.raises(TenantElsewhere):
                keys.revoke(key.id, tenant=TENANT)
            with pytest.raises(TenantElsewhere):
                keys.create("late", tenant=TENANT)

    servers.move(probe=probe)
    there = Keys(b, ManualClock())
    assert there.revoke(key.id, tenant=TENANT).revoked


def test_a_tenant_that_has_left_keeps_nobody_elses_use_from_being_counted(servers: Servers) -> None:
    a, _b = servers
    other = in_bucket(BUCKET + 1)
    World(a).commit("of one who leaves")
    stays = World(a).item("of one who stays")
    World(a).commit(World(a).put(stays), tenant=other)
    servers.move()
    with a.read() as snapshot:
        space, _ = snapshot.tables.spaces.owned(other, "ada", "")
    assert space is not None
    shown = {(TENANT, "ada"): {stays.id: Shown(1, 5)}, (other, "ada"): {stays.id: Shown(2, 6)}}
    a.transact(count_shown, shown)
    with a.read() as snapshot:
        (counted,) = snapshot.tables.spaces.relations.find(STRENGTH, space=space.id)
    assert counted.uses == 2


def test_work_of_a_tenant_that_has_left_is_done_once(servers: Servers) -> None:
    a, b = servers
    World(a).commit("something", tenant=TENANT)
    space = World(a).space()
    order = Order(space=space, name="try", key="k", payload=b"p", ver=0)
    a.transact(job_queue.order, order)

    def probe(point: str) -> None:
        if point == "place:fenced":
            assert a.transact(job_queue.claim, ("try",), "worker", 60) is None
            assert b.transact(job_queue.claim, ("try",), "worker", 60) is None
            raise KilledError

    with pytest.raises(KilledError):
        servers.move(probe=probe)
    servers.move()
    assert a.transact(job_queue.claim, ("try",), "worker", 60) is None
    claimed = b.transact(job_queue.claim, ("try",), "worker", 60)
    assert claimed is not None
    assert claimed.order.payload == b"p"


def test_a_bucket_on_its_way_is_not_sent_to_a_third_server(servers: Servers) -> None:
    def probe(point: str) -> None:
        if point == "place:begun":
            raise KilledError

    with pytest.raises(KilledError):
        servers.move(probe=probe)
    with pytest.raises(Conflict, match="on its way to server 'b'"):
        list(BucketMove(servers.a, servers.a, servers.b, BUCKET, "c").run())


def test_servers_are_added_once_and_empty(servers: Servers, new_postgres_database: Callable[..., str]) -> None:
    a, b = servers
    with closing(PostgresStore(new_postgres_database(), clock=ManualClock())) as c:
        World(c).commit("of its own")
        with pytest.raises(Conflict, match="has tenants already"):
            add_server(a, c, "c", "postgresql://c/memory")
        with pytest.raises(NotFound, match="no placement"):
            read_placement(c)
    with pytest.raises(Conflict, match="there is a server 'b'"):
        add_server(a, b, "b", "postgresql://elsewhere/memory")
    with pytest.raises(Conflict, match="server 'b' of a placement already"):
        add_server(a, b, "other", "postgresql://b/memory")
    assert list(read_placement(a).servers) == ["a", "b"]


def test_a_store_of_the_format_before_is_brought_up_to_date(servers: Servers, urls: tuple[str, str]) -> None:
    url = urls[0]
    World(servers.a).commit("kept")
    with psycopg.connect(url, autocommit=True) as db:
        db.execute('DROP INDEX mnemic.tenant_gone; ALTER TABLE mnemic.tenant DROP COLUMN "gone"')
        db.execute("UPDATE mnemic.meta SET \"value\" = '1' WHERE \"key\" = 'format'")
    for time_ in range(2):
        with closing(PostgresStore(url, clock=ManualClock())) as store:
            World(store, f"{time_}").commit("more")
            assert World(store).texts()[0] == "kept"


def test_every_tenant_has_a_bucket_for_good() -> None:
    assert (bucket_of("t"), bucket_of("default"), bucket_of("名")) == (0xE3B, 0x37A, 1306)
    assert {bucket_of(str(n)) for n in range(60_000)} == set(range(BUCKETS))

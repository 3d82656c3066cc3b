"""Walls between tenants in PostgreSQL: the server keeps them, also where a statement forgot to name the tenant."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any, Final

import psycopg
import pytest

from mnemic import Memory, Settings
from mnemic.core.items import Kind
from mnemic.store.postgres.postgres_schema import PARTITIONS, TABLES
from mnemic.store.postgres.postgres_store import PostgresStore
from mnemic.testing.postgres_server import APPLICATION, PostgresServer
from mnemic.testing.store_contract.contract_world import World

WALLED = tuple(table for table in TABLES if table.wall)


@pytest.fixture(scope="module")
def tenants(module_postgres_database: str) -> Iterator[dict[str, int]]:
    with closing(PostgresStore(module_postgres_database)) as store:
        world = World(store)
        for name in ("a", "b"):
            items = [world.item(f"{n} of {name}", session="s", tags=("t",), kind=Kind.FACT) for n in range(3)]
            world.commit(*(world.put(item, key=item.id) for item in items), tenant=name)
            world.tie(items[0].id, items[1].id, tenant=name)
        yield {name: world.tenant(name) for name in ("a", "b")}


def rows_seen(url: str, *settings: str, of: str = "") -> dict[str, set[int]]:
    """The tenants of all rows that each table shows, without a condition."""
    with psycopg.connect(url) as db:
        for setting in settings:
            db.execute(setting.encode())
        return {
            table.name: {row[0] for row in db.execute(f'SELECT "{table.wall}" FROM {table.full_name}{of}'.encode())}
            for table in WALLED
        }


def test_without_a_tenant_nothing_is_seen(tenants: dict[str, int], module_postgres_database: str) -> None:
    assert set().union(*rows_seen(module_postgres_database).values()) == set()


def test_without_a_condition_only_the_tenants_own_rows_are_seen(
    tenants: dict[str, int], module_postgres_database: str
) -> None:
    for own in tenants.values():
        seen = rows_seen(module_postgres_database, f"SET mnemic.tenant = '{own}'")
        assert set().union(*seen.values()) == {own}
        assert {"version", "entry", "event", "change", "link", "facet", "idem", "name", "space"} <= {
            name for name, found in seen.items() if found
        }


def test_only_who_says_so_works_across_tenants(tenants: dict[str, int], module_postgres_database: str) -> None:
    seen = rows_seen(module_postgres_database, "SET mnemic.across = 'on'")
    assert set(tenants.values()) <= seen["version"]


def test_a_role_of_a_door_never_works_across_tenants(
    tenants: dict[str, int], module_postgres_database: str, postgres: PostgresServer
) -> None:
    database = module_postgres_database.rsplit("/", 1)[1]
    postgres.sql(f"CREATE ROLE door LOGIN PASSWORD '{postgres.password}'")
    grants = "GRANT USAGE ON SCHEMA mnemic TO door; GRANT SELECT ON ALL TABLES IN SCHEMA mnemic TO door"
    postgres.sql(grants, database=database, role=APPLICATION)
    url, own = postgres.url(database, role="door"), tenants["a"]
    assert set().union(*rows_seen(url, "SET mnemic.across = 'on'").values()) == set()
    seen = rows_seen(url, "SET mnemic.across = 'on'", f"SET mnemic.tenant = '{own}'")
    assert set().union(*seen.values()) == {own}


def test_a_partition_shows_nothing_by_its_own_name(tenants: dict[str, int], module_postgres_database: str) -> None:
    with psycopg.connect(module_postgres_database) as db:
        db.execute("SET mnemic.across = 'on'")
        for table in (table for table in WALLED if table.large):
            for part in range(PARTITIONS):
                name = f'mnemic."{table.name}_{part:02}"'
                assert db.execute(f"SELECT count(*) FROM {name}".encode()).fetchone() == (0,)


def test_a_row_cannot_be_written_beyond_the_wall(tenants: dict[str, int], module_postgres_database: str) -> None:
    with psycopg.connect(module_postgres_database) as db:
        db.execute(f"SET mnemic.tenant = '{tenants['a']}'".encode())
        moved: Any = db.execute(f'UPDATE mnemic.version SET "sight" = 1 WHERE tenant = {tenants["b"]}'.encode())
        assert moved.rowcount == 0
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            db.execute(f"INSERT INTO mnemic.memo VALUES ({tenants['b']}, 'x', '')".encode())


def test_every_table_that_holds_a_tenants_rows_has_its_wall(module_postgres_database: str) -> None:
    with psycopg.connect(module_postgres_database) as db:
        found = db.execute(
            "SELECT relname, relrowsecurity AND relforcerowsecurity FROM pg_class"
            " WHERE relnamespace = 'mnemic'::regnamespace AND relkind IN ('r', 'p')"
        ).fetchall()
    open_to_all = {name for name, walled in found if not walled}
    assert open_to_all == {"meta", "meter", "embedder", "followed", "credential"}


# Probes: whoever asks, by the verbs or past them, for what is another's

TENANTS: Final = 60
PROBES: Final = (
    'SELECT "{wall}" FROM {table}',
    'SELECT "{wall}" FROM {table} WHERE "{wall}" = {other}',
    'SELECT "{wall}" FROM {table} WHERE "{wall}" <> {own} OR true',
    'SELECT "{wall}" FROM {table} WHERE "{wall}" IN (SELECT "id" FROM mnemic."tenant")',
    'SELECT t."{wall}" FROM {table} t JOIN mnemic."tenant" o ON o."id" = t."{wall}" WHERE o."id" = {other}',
    'DELETE FROM {table} WHERE "{wall}" = {other} RETURNING "{wall}"',
)
"""Statements from which the application's own condition, that rows are the tenant's, was taken out or turned round."""


def canary(tenant: str) -> str:
    return f"canary-{tenant}."


def leaks_by_recall(memory: Memory, names: Sequence[str], count: int, dice: random.Random) -> int:
    """In how many of so many questions for another's canary by its very words it comes out."""
    leaks = 0
    for _ in range(count):
        own, other = dice.sample(names, 2)
        me = memory.scope(user="ada", tenant=own)
        leaks += canary(other) in me.recall(f"the secret of {other} is canary-{other}").text
    return leaks


def leaks_by_sql(url: str, numbers: Sequence[int], count: int, dice: random.Random, *, walled: bool = True) -> int:
    """How many of so many statements, said to be for one tenant, touch a row of another."""
    leaks = 0
    with psycopg.connect(url, autocommit=True) as db:
        for number in range(count):
            own, other = dice.sample(numbers, 2)
            table = dice.choice(WALLED)
            statement = PROBES[number % len(PROBES)].format(
                wall=table.wall, table=table.full_name, own=own, other=other
            )
            with db.transaction(force_rollback=True):
                db.execute("SELECT set_config('mnemic.tenant', %s, true)", (str(own),))
                if not walled:
                    db.execute("SELECT set_config('mnemic.across', 'on', true)")
                leaks += any(row[0] != own for row in db.execute(statement.encode()))
    return leaks


@pytest.mark.parametrize(
    ("recalls", "statements"),
    [
        pytest.param(20, 180, marks=pytest.mark.heavy),
        pytest.param(2_000, 18_000, marks=[pytest.mark.heavy, pytest.mark.slow]),
    ],
)
def test_probes_for_what_is_anothers_bring_none_of_it_and_do_where_the_wall_is_down(
    postgres_database: str, recalls: int, statements: int
) -> None:
    dice = random.Random(19)
    names = [f"tenant{number}" for number in range(TENANTS)]
    with Memory(postgres_database, settings=Settings(embedder="none", background=False)) as memory:
        for name in names:
            memory.scope(user="ada", tenant=name).observe(f"The secret of {name} is {canary(name)}")
            assert canary(name) in memory.scope(user="ada", tenant=name).recall(f"the secret of {name}").text
        assert leaks_by_recall(memory, names, recalls, dice) == 0
        with memory._opened.store.read() as snapshot:
            numbers = [tenant.id for tenant in snapshot.tables.spaces.tenants()]
    assert len(numbers) >= TENANTS
    assert leaks_by_sql(postgres_database, numbers, statements, dice) == 0
    assert leaks_by_sql(postgres_database, numbers, statements // 10, dice, walled=False) > statements // 100

"""The plan of every statement that a life of a store sends: one tenant, one partition, an index where rows are sought.

Sequential scans are made dear, as they are where tables are large: one that is left has no index to serve it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any, NamedTuple

import psycopg
import pytest

from mnemic.core.queries import Filter
from mnemic.memory import Memory
from mnemic.settings import Settings
from mnemic.store.postgres.postgres_schema import SCHEMA, TABLES
from mnemic.store.postgres.postgres_store import PostgresStore
from mnemic.store.postgres.server_connections import ServerAddress, driver
from mnemic.store.postgres.transaction import ACROSS, ServerTransaction, _joined
from mnemic.testing.attack.lived_store import live
from mnemic.testing.generators import ManualClock, SeededEntropy
from mnemic.testing.store_contract.contract_world import World

pytestmark = pytest.mark.heavy

LARGE = {table.name for table in TABLES if table.large}
WALLED = {table.name for table in TABLES if table.wall}


MANY_SPACES = ("SELECT * FROM (SELECT s.", 'SELECT w."space", (SELECT count(*)')
"""How statements begin that go over spaces of whichever tenants: each row finds its partition as it comes."""


class Sent(NamedTuple):
    """A statement, and what was bound in it the first time."""

    tenant: int
    text: str
    bound: Any
    numbered: bool
    """Whether its values are `$1`, `$2` and not `%s`."""


class Planned(NamedTuple):
    """A statement with the nodes of its plan that read or write a table."""

    sent: Sent
    nodes: list[dict[str, Any]]


@pytest.fixture(scope="module")
def statements(module_postgres_database: str) -> dict[tuple[str, bool], Sent]:
    """Every statement of a life at the store, and of the verbs over it."""
    sent: dict[tuple[str, bool], Sent] = {}
    send, together, named = ServerTransaction._send, ServerTransaction._send_as_one, ServerTransaction.ask_named

    def sending(self: ServerTransaction, tenant: int, statement: str, bound: Any) -> Any:
        sent.setdefault((statement, tenant == ACROSS), Sent(tenant, statement, bound, False))
        return send(self, tenant, statement, bound)

    def sending_together(self: ServerTransaction, tenant: int, parts: Any) -> None:
        statement = _joined(tuple(part.statement for part in parts.values()))
        bound = [value for part in parts.values() for value in part.bound]
        sent.setdefault((statement, tenant == ACROSS), Sent(tenant, statement, bound, True))
        together(self, tenant, parts)

    def asking(self: ServerTransaction, name: str, statement: str, bound: Any) -> Any:
        sent.setdefault((statement, True), Sent(ACROSS, statement, bound, False))
        return named(self, name, statement, bound)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ServerTransaction, "_send", sending)
        patch.setattr(ServerTransaction, "_send_as_one", sending_together)
        patch.setattr(ServerTransaction, "ask_named", asking)
        _live(module_postgres_database)
    return sent


def _live(url: str) -> None:
    options: Any = {"clock": ManualClock(step=1_000_000), "entropy": SeededEntropy("lived")}
    with closing(PostgresStore(url, **options)) as store:
        live(World(store))
        assert list(store.verify()) == []
        list(store.export("t"))
        store.info()
    with Memory(url, settings=Settings(background=False, embedder="none")) as memory:
        me = memory.scope(user="eve")
        first = me.shelf(session="talk").observe("I moved to Lisbon in March and work at the harbour.")
        tea = me.write("Eve likes tea.", tags=("drinks",))
        me.supersede(tea.ids[0], "Eve likes coffee.")
        memory.flush()
        me.recall("Where does Eve work?")
        me.context("Plan a dinner.")
        me.ask("Where do I live?")
        me.list(where=Filter(tags=("drinks",)), limit=5)
        me.log(limit=5)
        me.diff(1)
        me.history(first.ids[0])
        me.count()
        me.profile()
        me.holdings()
        me.graph()
        with me.session("window") as window:
            window.observe("And I like the sea.")
            window.context("What do I like?")
        me.branch("try").observe("Perhaps.")
        me.merge("try")
        memory.admin.jobs()
        memory.admin.stats()
        memory.admin.users()
        memory.admin.gc()
        me.undo(first.seq, cascade=True)
        me.erase_user()


@pytest.fixture(scope="module")
def planned(statements: dict[tuple[str, bool], Sent], module_postgres_database: str) -> list[Planned]:
    with ServerAddress.of(module_postgres_database).connect() as db:
        db.execute("SET enable_seqscan = off")
        return [Planned(sent, list(_nodes(_plan(db, sent)))) for sent in statements.values()]


def _plan(db: psycopg.Connection[Any], sent: Sent) -> dict[str, Any]:
    tenant, across = ("", "on") if sent.tenant == ACROSS else (str(sent.tenant), "")
    db.execute(
        f"SELECT set_config('{SCHEMA}.tenant', %s, false), set_config('{SCHEMA}.across', %s, false)", (tenant, across)
    )
    cursor = driver().RawCursor(db) if sent.numbered else db.cursor()
    ((answer,),) = cursor.execute("EXPLAIN (FORMAT JSON) " + sent.text, sent.bound).fetchall()
    plan: dict[str, Any] = answer[0]["Plan"]
    return plan


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "Relation Name" in plan and plan["Node Type"] != "ModifyTable":
        yield plan
    for below in plan.get("Plans", ()):
        yield from _nodes(below)


def table_of(node: dict[str, Any]) -> str:
    return re.sub(r"_\d\d$", "", node["Relation Name"])


def test_a_life_sends_many_statements(planned: list[Planned]) -> None:
    assert len(planned) > 150
    touched = {table_of(node) for each in planned for node in each.nodes}
    assert touched >= LARGE


def test_what_is_of_one_tenant_reads_one_partition(planned: list[Planned]) -> None:
    wide = []
    for sent, nodes in planned:
        parts: dict[tuple[str, str], set[str]] = {}
        for node in nodes:
            if sent.tenant != ACROSS and table_of(node) in LARGE and not sent.text.startswith(MANY_SPACES):
                name = re.sub(r"_\d+$", "", node["Alias"])
                parts.setdefault((table_of(node), name), set()).add(node["Relation Name"])
        wide += [(table, sent.text) for (table, _), of in parts.items() if len(of) > 1]
    assert wide == []


def test_no_table_of_a_tenant_is_read_from_end_to_end(planned: list[Planned]) -> None:
    whole = [
        (node["Relation Name"], sent.text)
        for sent, nodes in planned
        for node in nodes
        if sent.tenant != ACROSS and node["Node Type"] == "Seq Scan" and table_of(node) in WALLED
    ]
    assert whole == []


def test_every_index_scan_of_one_tenant_begins_with_the_tenant(planned: list[Planned]) -> None:
    beside = [
        (node["Relation Name"], node.get("Index Cond"), sent.text)
        for sent, nodes in planned
        for node in nodes
        if sent.tenant != ACROSS
        and table_of(node) in LARGE
        and node["Node Type"] in ("Index Scan", "Index Only Scan", "Bitmap Index Scan")
        and "tenant = " not in node.get("Index Cond", "")
    ]
    assert beside == []


def test_who_looks_for_work_reads_no_large_table_of_all_tenants(planned: list[Planned]) -> None:
    wide = {
        (table_of(node), sent.text)
        for sent, nodes in planned
        for node in nodes
        if sent.tenant == ACROSS and table_of(node) in LARGE and node["Node Type"] == "Seq Scan"
    }
    assert wide == set()

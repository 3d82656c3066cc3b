"""The tables are declared column by column, statements hold no values, and formats follow each other."""

from __future__ import annotations

import ast
import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest

import mnemic.store
from mnemic.core.events import Verb
from mnemic.core.items import Kind
from mnemic.core.parts import entry_terms
from mnemic.credentials.keys import Keys
from mnemic.credentials.principal import Right
from mnemic.errors import StoreCorrupt, StoreNewer
from mnemic.store.engine import journal_io
from mnemic.store.engine import relations as declared
from mnemic.store.engine.codec import kind_number
from mnemic.store.sqlite import file_audit, location, migrations, schema, sqlite_relations, sqlite_tables
from mnemic.store.sqlite.row_checksums import register
from mnemic.store.sqlite.schema import FORMAT, TABLES, TOKENS, Holds
from mnemic.store.sqlite.sqlite_relations import CHUNK, Shape, SqliteRelations
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.store.values.work import embedding_lane
from mnemic.testing.deeds import state_hash
from mnemic.testing.generators import ManualClock
from mnemic.testing.raw_store import raw_store
from mnemic.testing.store_contract.contract_world import TENANT, World

GOLDEN = Path(__file__).parent.parent / "golden"
NOT_BY_ITEM = {"tenant", "space", "meta", "embedder", "credential"}
"""Tables that hold nothing of one item: names of tenants, users and embedders, and facts about the file."""
TENANTS_OWN = {"tenant", "meta", "embedder", "credential"}
"""Tables that hold nothing of one space; a user's credentials go by the erasure itself
(`tests/credentials/test_keys.py::test_erasing_a_user_leaves_no_byte_of_their_keys_and_of_nobody_elses`)."""


def test_every_column_of_the_file_is_declared_and_every_declared_one_is_there(path: Path) -> None:
    store = SqliteStore(path)
    store.close()
    db = apsw.Connection(str(path))
    names = [n for (n,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'") if n != "sqlite_sequence"]
    found = {name: [row[1] for row in db.execute("SELECT * FROM pragma_table_info(?)", (name,))] for name in names}
    db.close()
    assert found == {table.name: [column for column, _, _ in table.columns] for table in TABLES}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_what_holds_content_says_how_it_is_erased(table: schema.Table) -> None:
    holds = {what for _, _, what in table.columns}
    if holds & {Holds.CONTENT, Holds.DERIVED}:
        assert table.erase_items or table.name in NOT_BY_ITEM
        assert table.erase_space or table.name in TENANTS_OWN
    assert not (table.erase_items and table.name in NOT_BY_ITEM)


def test_erasure_goes_through_every_table_that_says_how() -> None:
    by_item, by_space = " ".join(schema.erase_items_statements()), " ".join(schema.erase_space_statements())
    for table in TABLES:
        assert table.erase_items.split(";")[0] in by_item
        assert table.erase_space.split(";")[0] in by_space


STORE = Path(mnemic.store.__file__).parent
POSTGRES_FILES = sorted((STORE / "postgres").glob("*.py"))
STORE_FILES = sorted({*STORE.rglob("*.py")} - {*POSTGRES_FILES})
SQL = ("SELECT ", "INSERT ", "UPDATE ", "DELETE ", "CREATE ", " IN (", "WHERE ", "PRAGMA ")


class Statements(ast.NodeVisitor):
    """Finds what is handed to `execute`, and whether a value could be in it."""

    def __init__(self, tree: ast.Module) -> None:
        self.doubtful: list[str] = []
        self.found = 0
        self.visit(tree)

    def visit_Call(self, node: ast.Call) -> None:
        called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if called in ("execute", "executemany") and node.args:
            self.found += 1
            if not self._constant(node.args[0]):
                self.doubtful.append(f"line {node.lineno}: {ast.unparse(node.args[0])}")
        self.generic_visit(node)

    def _constant(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant():
                return isinstance(node.value, str)
            case ast.BinOp(op=ast.Add()):
                return self._constant(node.left) and self._constant(node.right)
            case ast.Attribute(attr="create"):
                return True  # a table's own declaration
            case ast.Name():
                return True  # put together elsewhere in the file, where the test below looks at every piece
        return False


@pytest.mark.parametrize("file", STORE_FILES, ids=lambda f: f.name)
def test_no_value_ever_reaches_a_statement(file: Path) -> None:
    tree = ast.parse(file.read_text())
    assert Statements(tree).doubtful == []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) and _looks_like_sql(node):
            held = [ast.unparse(part.value) for part in node.values if isinstance(part, ast.FormattedValue)]
            assert all(_harmless(part) for part in held), f"{file.name}:{node.lineno} formats {held} into a statement"
        if isinstance(node, ast.Attribute) and node.attr == "format" and isinstance(node.value, ast.Constant):
            assert not any(word in str(node.value.value) for word in SQL)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
            assert not any(word in str(node.left.value) for word in SQL)


POSTGRES_PIECES = {
    *("alias", "arrays", "column", "columns", "marks", "name", "named", "number", "part", "relation.number", "rest"),
    *("self.full_name", "self.wall", "split", "table", "table.full_name", "tail", "values"),
    *("BY_NAME[name].full_name", "PARTITIONS - 1", "', '.join(parts)", "' AND '.join(clauses)"),
    "_where(relation, table, equal, shape, led)",
}
"""Names of our own tables and columns, runs of placeholders, and pieces made of those."""


@pytest.mark.parametrize("file", POSTGRES_FILES, ids=lambda f: f.name)
def test_no_value_ever_reaches_a_statement_of_postgresql(file: Path) -> None:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.JoinedStr) and _looks_like_sql(node):
            held = [ast.unparse(part.value) for part in node.values if isinstance(part, ast.FormattedValue)]
            doubtful = [piece for piece in held if not _is_constant(piece) and piece not in POSTGRES_PIECES]
            assert not doubtful, f"{file.name}:{node.lineno} formats {doubtful} into a statement"


def _is_constant(source: str) -> bool:
    """Whether a piece is a constant of a module, or the columns of a table of ours."""
    return re.fullmatch(r"_?[A-Z][A-Z_]*|_listed\([A-Z_]+\.columns(?:, '\w\.')?\)", source) is not None


def _looks_like_sql(node: ast.JoinedStr) -> bool:
    text = "".join(part.value for part in node.values if isinstance(part, ast.Constant))
    return any(word in text for word in SQL)


def _harmless(source: str) -> bool:
    """Names of our own tables and columns, runs of placeholders, and pieces made of those."""
    return source in {
        "column", "tagged", "name", "kind", "self.name", "self.tail", "pragma", "answer", "self.path",
        "','.join('?' * n)", "', '.join([*parts, *([self.key] if self.key else [])])",
    }  # fmt: skip


def test_only_declared_columns_and_known_operators_reach_a_statement_of_a_relation() -> None:
    relations = SqliteRelations(apsw.Connection(":memory:"))
    hostile = "id) OR 1 = 1 --"
    with pytest.raises(ValueError, match="not in tuple"):
        relations.find(declared.NAME, **{hostile: 1})
    with pytest.raises(ValueError, match="not in tuple"):
        relations.find(declared.NAME, order=(hostile,))
    with pytest.raises(KeyError):
        relations.find(declared.NAME, ("id", "= 1 OR 1 =", 1))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not in tuple"):
        relations.update(declared.NAME, {hostile: 1}, id=1)


@pytest.fixture
def relations() -> Iterator[SqliteRelations]:
    db = apsw.Connection(":memory:")
    register(db)
    migrations.create(db)
    yield SqliteRelations(db)
    db.close()


def test_rows_that_are_added_together_are_numbered_one_after_another(relations: SqliteRelations) -> None:
    assert relations.add(declared.NAME, (None, 1, 1, "a")) == 1
    assert relations.add(declared.NAME, *((None, 1, n, text) for n, text in enumerate("bcd", 2))) == 2
    assert [row[0] for row in relations.find(declared.NAME, order=("text",))] == [1, 2, 3, 4]
    assert relations.add(declared.NAME, (None, 1, 5, "e")) == 5


def test_a_column_may_be_among_any_number_of_values(relations: SqliteRelations) -> None:
    count = 2 * CHUNK + 1
    relations.add(declared.NAME, *((None, 1, n, f"{n}") for n in range(count)))
    numbers = range(1, count + 1)
    assert [row[0] for row in relations.find(declared.NAME, ("id", "in", numbers), order=("id",))] == list(numbers)
    assert list(relations.find(declared.NAME, ("id", "in", ()))) == []
    relations.update(declared.NAME, {"space": 2}, ("id", "in", ()))
    relations.drop(declared.NAME, ("id", "in", ()))
    assert len(list(relations.find(declared.NAME, space=1))) == count
    relations.update(declared.NAME, {"space": 2}, ("id", "in", numbers[1:]))
    assert [row[0] for row in relations.find(declared.NAME, space=1)] == [1]
    relations.drop(declared.NAME, ("id", "in", numbers[1:]))
    assert [row[0] for row in relations.find(declared.NAME)] == [1]


def test_order_and_limit_hold_over_all_values_and_none_is_found_twice(relations: SqliteRelations) -> None:
    count = 2 * CHUNK + 1
    relations.add(declared.NAME, *((None, n % 3, n, f"{n:05}") for n in range(count)))
    numbers = [*range(count, 0, -1), *range(1, count + 1)]
    among: declared.Condition = ("id", "in", numbers)
    assert sorted(row[0] for row in relations.find(declared.NAME, among)) == list(range(1, count + 1))
    last_first = relations.find(declared.NAME, among, order=("space", "-text"), limit=2)
    assert [(space, text) for _, space, _, text in last_first] == [(0, "00999"), (0, "00996")]
    first = relations.first(declared.NAME, among, order=("-id",))
    assert first is not None
    assert first[0] == count
    highest = relations.find(
        declared.NAME, ("id", "in", numbers[: CHUNK + 1]), order=("-id",), limit=CHUNK + 1, space=2
    )
    assert [row[0] for row in highest] == [n for n in range(count, count - CHUNK - 1, -1) if (n - 1) % 3 == 2]


def test_two_columns_may_be_among_any_number_of_values_together(relations: SqliteRelations) -> None:
    count = CHUNK + 2
    texts = [f"{n}" for n in range(count)]
    relations.add(declared.NAME, *((None, 1, n, text) for n, text in enumerate(texts)))
    both: tuple[declared.Condition, declared.Condition] = (
        ("id", "in", range(count - 1, 0, -1)),
        ("text", "in", [*texts[1:], *(f"absent {n}" for n in range(40_000))]),
    )
    assert [row[0] for row in relations.find(declared.NAME, *both, order=("id",))] == list(range(2, count))
    relations.update(declared.NAME, {"space": 2}, *both)
    assert [row[0] for row in relations.find(declared.NAME, order=("id",), space=1)] == [1, count]
    relations.drop(declared.NAME, *both, space=2)
    assert [row[0] for row in relations.find(declared.NAME, order=("id",))] == [1, count]


RELATIONS = [value for value in vars(declared).values() if isinstance(value, declared.Relation)]


def test_what_a_relation_declares_are_columns_of_its_table_and_each_table_has_one() -> None:
    tables = {table.name: tuple(column for column, _, _ in table.columns) for table in TABLES}
    assert all({*relation.columns, *relation.beside} <= set(tables[relation.name]) for relation in RELATIONS)
    whole = {relation.name for relation in RELATIONS if relation.columns == tables[relation.name]}
    assert whole == tables.keys() - {"meta"}


@pytest.mark.parametrize(
    ("of", "equal", "shape", "order"),
    [
        (declared.SPACE, ("tenant", "branch"), (("shared", "is true", 0),), ()),
        (declared.SPACE, ("tenant", "user", "branch"), (), ()),
        (declared.SPACE, ("tenant",), (), ("-number",)),
        (declared.NAME, ("space", "text"), (), ()),
        (declared.NAME, ("space", "number"), (), ()),
        (declared.CHANGE, ("tenant",), (("at", "<=", 1),), ("-seq",)),
        (declared.EVENT, ("tenant",), (("seq", ">=", 1), ("seq", "<=", 1)), ("seq", "n")),
        (declared.VERSION, ("space", "seq_to"), (("id", "in", 3),), ()),
        (declared.VERSION, ("space",), (("id", "in", 3),), ("id", "seq_from")),
        (declared.VERSION, (), (("ver", "in", 3),), ()),
        (declared.VERSION_IDS, ("space",), (("id", ">=", 1), ("id", "<=", 1)), ("id",)),
        (declared.ENTRY, ("space",), (("ver", ">", 1),), ("ver", "part")),
        (declared.ENTRY, ("space",), (("ver", "in", 3),), ("ver", "part")),
        (declared.STRENGTH, ("space",), (("id", "in", 3),), ()),
        (declared.KEY, ("space",), (("hash", "in", 3),), ()),
        (declared.DERIVED, ("space",), (("source", "in", 3),), ("source", "item")),
        (declared.LINK, ("space",), (("src", "in", 3),), ()),
        (declared.LINK, ("space",), (("dst", "in", 3),), ()),
        (declared.LINK, (), (("lver", "in", 2),), ()),
        (declared.VECTOR, ("space", "model"), (("ver", ">", 1),), ("ver", "part")),
        (declared.JOB, ("space", "name", "key"), (), ()),
        (declared.PAGE, ("space", "session"), (("item", "in", 3),), ()),
    ],
)
def test_what_is_asked_of_a_relation_seeks_and_never_walks_its_table(
    path: Path, of: declared.Relation[Any], equal: tuple[str, ...], shape: Shape, order: tuple[str, ...]
) -> None:
    SqliteStore(path).close()
    statement = sqlite_relations._find(of, equal, shape, order, "")
    assert plan(path, statement, (1,) * statement.count("?")).startswith("SEARCH " + of.name)


def test_a_format_is_reached_step_by_step_and_marked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    World(SqliteStore(path)).store.close()

    def add_a_table(db: apsw.Connection) -> None:
        db.execute("CREATE TABLE later(note TEXT)")

    monkeypatch.setattr(location, "FORMAT", FORMAT + 1)
    monkeypatch.setattr(migrations, "FORMAT", FORMAT + 1)
    monkeypatch.setitem(migrations.MIGRATIONS, FORMAT + 1, add_a_table)
    monkeypatch.setitem(file_audit._DECLARED, ("table", "later"), "CREATE TABLE later(note TEXT)")
    World(SqliteStore(path)).store.close()
    db = apsw.Connection(str(path))
    assert db.pragma("user_version") == FORMAT + 1
    assert db.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'later'").get == 1
    db.close()


def test_a_migration_that_is_cut_short_leaves_the_former_format(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(SqliteStore(path))
    world.commit("kept")
    world.store.close()

    def fail_half_way(db: apsw.Connection) -> None:
        db.execute("ALTER TABLE meta ADD COLUMN note TEXT")
        db.execute("DELETE FROM version")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(location, "FORMAT", FORMAT + 1)
        patch.setattr(migrations, "FORMAT", FORMAT + 1)
        patch.setitem(migrations.MIGRATIONS, FORMAT + 1, fail_half_way)
        with pytest.raises(KeyboardInterrupt):
            SqliteStore(path)
    world = World(SqliteStore(path))
    assert world.texts() == ["kept"]
    assert world.faults() == []
    db = apsw.Connection(str(path))
    assert db.pragma("user_version") == FORMAT
    assert "note" not in [row[1] for row in db.execute("SELECT * FROM pragma_table_info('meta')")]
    db.close()
    world.store.close()


def expected(number: int) -> dict[str, str]:
    lines = (GOLDEN / f"format-{number}.txt").read_text().splitlines()
    return dict(line.split(" ", 1) for line in lines)


@pytest.mark.parametrize("number", range(1, FORMAT + 1))
def test_the_golden_file_of_each_format_opens_verifies_and_reads(path: Path, number: int) -> None:
    shutil.copyfile(GOLDEN / f"format-{number}.db", path)
    told = expected(number)
    world = World(SqliteStore(path), "today")
    assert world.faults() == []
    assert state_hash(world.store, TENANT) == told["state"]
    with world.store.read() as snapshot:
        assert snapshot.head(1).hash.hex() == told["head"]
    assert world.texts() == told["texts"].split("|")
    in_step(world)  # if not, the tokeniser makes other streams than it did: raise `schema.TOKENS`
    world.commit("and it goes on")
    assert world.faults() == []
    world.store.close()


def test_the_golden_file_of_format_5_keeps_its_access_key(path: Path) -> None:
    shutil.copyfile(GOLDEN / "format-5.db", path)
    store = SqliteStore(path)
    principal = Keys(store, ManualClock()).verify(expected(5)["key"])
    assert (principal.name, principal.tenant, principal.user, principal.right) == ("laptop", TENANT, "ada", Right.READ)
    store.close()


def test_a_migration_takes_no_more_memory_for_more_commits(path: Path) -> None:
    shutil.copyfile(GOLDEN / "format-3.db", path)
    with closing(apsw.Connection(str(path))) as db:
        db.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150000)"
            " INSERT INTO change SELECT 99, i, 1, i, 1, 0, zeroblob(32) FROM n"
        )
    before = apsw.memory_used()
    apsw.memory_high_water(True)
    SqliteStore(path).close()
    assert apsw.memory_high_water() - before < 6_000_000  # the page cache; the rows are 10 MB


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize(
    "foreign",
    [
        "CREATE TRIGGER sly AFTER INSERT ON version BEGIN DELETE FROM tenant; END",
        "CREATE TRIGGER slow AFTER UPDATE ON space BEGIN SELECT RAISE(FAIL, 'no'); END",
        "CREATE VIEW seen AS SELECT body FROM version",
        "CREATE TABLE hoard(body BLOB)",
        "CREATE INDEX sly_index ON version(pos)",
    ],
)
def test_an_older_file_with_a_foreign_word_is_refused_and_left_as_it_was(path: Path, number: int, foreign: str) -> None:
    shutil.copyfile(GOLDEN / f"format-{number}.db", path)
    with closing(apsw.Connection(str(path))) as db:
        db.pragma("journal_mode", "wal")  # as mnemic leaves its files
        db.execute(foreign)
    before = path.read_bytes()
    for _ in range(2):
        with pytest.raises(StoreCorrupt, match="restore a backup"):
            SqliteStore(path)
        assert path.read_bytes() == before


def test_the_golden_file_of_format_2_keeps_vectors_lanes_and_what_is_at_hand(path: Path) -> None:
    shutil.copyfile(GOLDEN / "format-2.db", path)
    told = expected(2)
    store = SqliteStore(path)
    with store.read() as snapshot:
        space = snapshot.space(1, "ada")
        assert space is not None
        (embedder,) = snapshot.embedders()
        assert f"{embedder.name} {embedder.dims} {embedder.state.name}" == told["embedder"]
        assert b"".join(row.f16 for row in snapshot.vectors(space.id, embedder.id)).hex() == told["vectors"]
        assert str(snapshot.lane(space.id, embedding_lane(embedder.id)).cursor) == told["cursor"]
        assert "|".join(v.item.text for v in snapshot.core((space.id,))) == told["core"]
    store.close()


def test_the_golden_file_of_format_3_keeps_pages_branches_jobs_and_holds(path: Path) -> None:
    shutil.copyfile(GOLDEN / "format-3.db", path)
    told = expected(3)
    store = SqliteStore(path)
    with store.read() as snapshot:
        space, branch = snapshot.space(1, "ada"), snapshot.space(1, "ada", "try")
        assert space is not None
        assert branch is not None
        chat = snapshot.session(space.id, "chat")
        assert chat is not None
        assert "|".join(str(tuple(row)) for row in snapshot.pages(space.id, chat.session)) == told["pages"]
        assert "|".join(v.item.text for _, v in snapshot.scan((branch.id,))) == told["branch"]
        jobs = [f"{job.order.name} {job.order.key} {job.order.priority}" for job in snapshot.jobs()]
        assert "|".join(jobs) == told["jobs"]
        assert [f"{hold.user} {hold.session} {hold.reason}" for hold in snapshot.holds(1)] == [told["holds"]]
    store.close()


def test_a_journal_exported_by_an_older_release_is_loaded_the_same_beside_another_tenant(path: Path) -> None:
    told = dict(line.split(" ", 1) for line in (GOLDEN / "journal-1.txt").read_text().splitlines())
    lines = (GOLDEN / "journal-1.jsonl").read_bytes().splitlines(keepends=True)
    world = World(SqliteStore(path), "today")
    for user in ("ada", "bob"):
        world.commit("of another house", user=user, tenant="house", actor="neighbour")
    assert world.store.transact(journal_io.load, iter(lines)).commits == 43
    assert state_hash(world.store, TENANT) == told["state"]
    with world.store.read() as snapshot:
        head = snapshot.head(snapshot.tenant(TENANT) or 0)
        assert (str(head.seq), head.hash.hex()) == (told["seq"], told["head"])
    again = [json.loads(line) for line in world.store.export(TENANT)]
    before = [json.loads(line) for line in lines]
    for line in before:
        line.get("change", {}).pop("tenant", None)  # its number in the file that it was exported from
    assert [line["space"].pop("spent") for line in again if "space" in line] == [1, 3, 7, 8, 10, 11]
    assert again[:-1] == before[:-1]
    world.commit("and it goes on", user="bob", actor="tester")
    world.commit("for somebody new", user="dan")
    assert world.faults() == []
    world.store.close()


def tables(path: Path) -> list[str]:
    db = apsw.Connection(str(path))
    found = [str(sql) for (sql,) in db.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")]
    assert db.pragma("user_version") == FORMAT
    assert bytes(db.execute("SELECT value FROM meta WHERE key = 'tokens'").get) == b"%d" % TOKENS
    db.close()
    return found


def origin(path: Path) -> bytes:
    db = apsw.Connection(str(path))
    found = bytes(db.execute("SELECT value FROM meta WHERE key = 'origin'").get)
    db.close()
    return found


def test_a_migrated_file_has_the_tables_of_a_new_one_and_is_still_the_same_store(path: Path, tmp_path: Path) -> None:
    shutil.copyfile(GOLDEN / "format-1.db", path)
    before = origin(path)
    SqliteStore(path).close()
    SqliteStore(tmp_path / "new.db").close()
    assert tables(path) == tables(tmp_path / "new.db")
    assert origin(path) == before


def test_a_migration_makes_the_token_streams_again_and_catalogues_start_over(path: Path) -> None:
    shutil.copyfile(GOLDEN / "format-1.db", path)
    db = apsw.Connection(str(path))
    before = dict(db.execute("SELECT id, epoch FROM space"))
    db.execute("UPDATE entry SET terms = x'0102030405060708'")
    db.close()
    world = World(SqliteStore(path))
    in_step(world)
    with world.store.read() as snapshot:
        assert all(head.epoch > before[head.id] for head in snapshot.all_spaces(1))
    world.store.close()


def in_step(world: World) -> None:
    """Every entry holds what its item's words say today."""
    with world.store.read() as snapshot:
        for head in snapshot.all_spaces(1):
            found: dict[int, list[bytes]] = {}
            for entry in snapshot.entries(head.id):
                found.setdefault(entry.ver, []).append(entry.terms)
            versions = snapshot.versions(head.id, list(found))
            assert {ver: tuple(terms) for ver, terms in found.items()} == {
                ver: entry_terms(version.item) for ver, version in versions.items()
            }


def set_tokens(path: Path, number: int) -> None:
    with raw_store(path, knowing=True) as db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'tokens'", (b"%d" % number,))
        db.execute("UPDATE entry SET terms = x'0102030405060708'")


def test_a_file_of_an_older_tokeniser_has_its_streams_made_again(path: Path) -> None:
    world = World(SqliteStore(path))
    world.commit("one two", "three")
    world.store.close()
    set_tokens(path, TOKENS - 1)
    world = World(SqliteStore(path), "today")
    in_step(world)
    world.commit("four")
    assert world.faults() == []
    world.store.close()


def test_making_the_streams_again_is_all_or_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(SqliteStore(path))
    world.commit("one two", "three")
    world.store.close()
    set_tokens(path, TOKENS - 1)
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "entry_terms", _Fails(after=1))
        with pytest.raises(KeyboardInterrupt):
            SqliteStore(path)
    db = apsw.Connection(str(path))
    assert db.execute("SELECT count(*) FROM entry WHERE terms = x'0102030405060708'").get == 2
    db.close()
    world = World(SqliteStore(path))
    in_step(world)
    world.store.close()


class _Fails:
    def __init__(self, after: int) -> None:
        self._left = after

    def __call__(self, _item: object) -> tuple[bytes, ...]:
        if self._left == 0:
            raise KeyboardInterrupt
        self._left -= 1
        return (b"",)


def test_a_file_of_a_newer_tokeniser_is_refused(path: Path) -> None:
    SqliteStore(path).close()
    set_tokens(path, TOKENS + 1)
    with pytest.raises(StoreNewer, match="token streams"):
        SqliteStore(path)


def test_who_has_the_file_open_while_a_newer_mnemic_takes_it_over_writes_no_more(path: Path) -> None:
    world = World(SqliteStore(path))
    world.commit("before")
    set_tokens(path, TOKENS + 1)
    with pytest.raises(StoreNewer):
        world.commit("after")
    assert world.texts() == ["before"]
    world.store.close()


def test_the_index_of_what_is_at_hand_names_profile_and_procedure() -> None:
    numbers = f"({kind_number(Kind.PROFILE)}, {kind_number(Kind.PROCEDURE)})"
    (index,) = (text for text in schema.INDEXES if "entry_core" in text)
    assert numbers in index


def plan(path: Path, statement: str, bound: Any) -> str:
    with raw_store(path) as db:
        rows = list(db.execute("EXPLAIN QUERY PLAN " + statement, bound))
    return "; ".join(row[3] for row in rows)


def test_a_look_for_work_and_the_feed_seek_by_index_and_walk_over_no_spaces(path: Path) -> None:
    SqliteStore(path).close()
    (erase,) = (s for s in schema.erase_space_statements() if s.startswith("DELETE FROM due"))
    due = sqlite_relations._find(declared.DUE, ("name",), (("at", "<=", 0),), (), "")
    mine = sqlite_relations._find(declared.CHANGE, ("space",), (("seq", ">", 0),), ("seq",), " LIMIT ?")
    ready, later, leased = sqlite_tables._DUE_JOBS
    for statement, bound, index in (
        (due, ("house", 1), "SEARCH due USING COVERING INDEX due_at (name=? AND at<?)"),
        (mine, (1, 1, 10), "SEARCH change USING INDEX change_space (space=? AND seq>?)"),
        (erase, {"space": 1}, "SEARCH due USING PRIMARY KEY (name=? AND space=?)"),
        (ready, ("[]", 1), "INDEX job_ready"),
        (later, ("[]", 1), "SEARCH job USING INDEX job_later"),
        (leased, ("[]", 1), "SEARCH job USING INDEX job_leased"),
    ):
        shown = plan(path, statement, bound)
        assert index in shown, shown
        assert "SCAN due" not in shown
        assert "SCAN change" not in shown


def test_a_file_of_format_3_has_its_rows_of_what_is_due_after_migrating(path: Path) -> None:
    shutil.copy(GOLDEN / "format-3.db", path)
    store = SqliteStore(path)
    with store.read() as snapshot:
        lanes = {lane.name for lane in snapshot.lanes()}
        assert lanes
        for name in lanes:
            assert snapshot.followed(name)
            waiting = snapshot._rows.lanes.waiting(name, snapshot._rows.lanes.space_numbers())
            assert snapshot.due(name) == [space for space, _, _ in waiting] != []
    store.close()


def _add_orphan_entry(db: apsw.Connection) -> None:
    columns = [name for _, name, *_ in db.execute("PRAGMA table_info(entry)")]
    first = list(db.execute("SELECT * FROM entry LIMIT 1").fetchone())
    first[columns.index("ver")] = 999_999
    db.execute("INSERT INTO entry VALUES (" + ", ".join("?" * len(first)) + ")", first)
    db.execute("UPDATE meta SET value = ? WHERE key = 'tokens'", (b"%d" % TOKENS,))  # else entries are made anew


def _add_tag_that_is_no_text(db: apsw.Connection) -> None:
    ver, body = db.execute("SELECT ver, body FROM version LIMIT 1").fetchone()
    damaged = json.dumps({**json.loads(body), "tags": [1, "a"]}).encode()
    db.execute("UPDATE version SET body = ? WHERE ver = ?", (damaged, ver))


@pytest.mark.parametrize("damage", [_add_orphan_entry, _add_tag_that_is_no_text])
def test_a_damaged_file_of_format_3_is_migrated_and_verify_says_what_is_wrong(
    path: Path, damage: Callable[[apsw.Connection], None]
) -> None:
    shutil.copy(GOLDEN / "format-3.db", path)
    with closing(apsw.Connection(str(path))) as db:
        damage(db)
    with closing(SqliteStore(path)) as store:
        assert list(store.verify())


def test_a_file_of_format_4_finds_what_links_rest_on_by_an_index(path: Path) -> None:
    shutil.copy(GOLDEN / "format-4.db", path)
    SqliteStore(path).close()
    assert plan(path, sqlite_tables._RESTING, (1, "[]")).startswith("SEARCH link USING INDEX link_resting")


def test_what_runs_often_seeks_and_never_walks_a_table(path: Path) -> None:
    SqliteStore(path).close()
    erasing = [s for s in schema.erase_items_statements() if s.startswith(("DELETE", "UPDATE event"))]
    for statement, bound in (
        *((erase, {"space": 1, "items": "[]", "links": "[]"}) for erase in erasing),
        (sqlite_tables._CARRY_VECTORS, {"home": 1, "ver": 1, "space": 1, "to": 2}),
        (sqlite_tables._ADD_VECTOR, (1, 1, 1, 0, b"")),
        (sqlite_tables._WAITING, ("embed:1", "[1]")),
        (sqlite_tables._DROP_VECTORS, (1, 10)),
    ):
        shown = plan(path, statement, bound)
        assert "SCAN vector" not in shown, shown
        assert "SCAN entry" not in shown, shown
        assert "SCAN v " not in shown, shown
        assert "SCAN l " not in shown, shown
        assert "SCAN event" not in shown, shown
    assert "entry_core" in plan(path, sqlite_tables._CORE + " v.seq_to = 1 ORDER BY e.seq_from, e.ver", (1, 1))


def test_an_item_is_sought_by_its_id_and_its_space_is_not_walked_over(path: Path) -> None:
    world = World(SqliteStore(path))
    first, *_ = world.commit("one", "two", "three").ids
    spaces = (world.space(),)
    asked: list[tuple[str, Any]] = []

    def noted(_: object, statement: str, bound: Any) -> bool:
        asked.append((statement, bound))
        return True

    with world.store.read() as snapshot:
        db: apsw.Connection = snapshot._rows.items._db  # type: ignore[attr-defined]
        db.exec_trace = noted
        try:
            assert list(snapshot.get(spaces, [first])) == [first]
        finally:
            db.exec_trace = None
        ((statement, bound),) = [one for one in asked if "FROM version v" in one[0]]
        seeks = [row[3] for row in db.execute("EXPLAIN QUERY PLAN " + statement, bound)]
    assert "SEARCH v USING INDEX sqlite_autoindex_version_1 (space=? AND id=?)" in seeks
    world.store.close()


def test_what_stands_is_found_without_walking_over_what_stood_before(path: Path) -> None:
    world = World(SqliteStore(path))
    item, written, steps = world.item("the first"), 1, []
    world.commit(world.put(item))
    for versions in (20, 400):
        while written < versions:
            written += 1
            world.commit(world.put(replace(item, text=f"the {written}th"), Verb.REVISED))
        with world.store.read() as snapshot, counted(snapshot._rows.items._db) as taken:  # type: ignore[attr-defined]
            (version,) = snapshot.standing((world.space(),), [item.id]).values()
        assert version.item.text == f"the {versions}th"
        steps.append(sum(taken))
    assert steps[0] == steps[1] > 0
    world.store.close()


@contextmanager
def counted(db: apsw.Connection) -> Iterator[list[int]]:
    """Note how many steps of SQLite's machine each statement on a connection takes."""
    steps: list[int] = []

    def note(event: dict[str, Any]) -> None:
        steps.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"])

    db.trace_v2(apsw.SQLITE_TRACE_PROFILE, note)
    try:
        yield steps
    finally:
        db.trace_v2(0)

"""The tables are declared column by column, statements hold no values, and formats follow each other."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import apsw
import pytest

import mnemic.store
from mnemic.store import schema, sqlite
from mnemic.store.schema import FORMAT, TABLES, Holds
from mnemic.store.sqlite import SqliteStore
from mnemic.testing.store_contract.world import TENANT, World

GOLDEN = Path(__file__).parent.parent / "golden" / "format-1.db"
NOT_BY_ITEM = {"tenant", "space", "meta"}
"""Tables that hold nothing of one item: names of tenants and users, and facts about the file."""
TENANTS_OWN = {"tenant", "meta"}
"""Tables that hold nothing of one space."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


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
        assert table.erase_item or table.name in NOT_BY_ITEM
        assert table.erase_space or table.name in TENANTS_OWN
    assert not (table.erase_item and table.name in NOT_BY_ITEM)


def test_erasure_goes_through_every_table_that_says_how() -> None:
    by_item, by_space = " ".join(schema.erase_item_statements()), " ".join(schema.erase_space_statements())
    for table in TABLES:
        assert table.erase_item.split(";")[0] in by_item
        assert table.erase_space.split(";")[0] in by_space


STORE_FILES = sorted(Path(mnemic.store.__file__).parent.glob("*.py"))
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


def _looks_like_sql(node: ast.JoinedStr) -> bool:
    text = "".join(part.value for part in node.values if isinstance(part, ast.Constant))
    return any(word in text for word in SQL)


def _harmless(source: str) -> bool:
    """Names of our own tables and columns, runs of placeholders, and pieces made of those."""
    return source in {
        "column", "tagged", "name", "kind", "self.name", "self.tail", "pragma", "answer", "self.path",
        "','.join('?' * n)", "', '.join([*parts, *([self.key] if self.key else [])])",
    }  # fmt: skip


def test_a_format_is_reached_step_by_step_and_marked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    World(SqliteStore(path)).store.close()

    def add_a_table(db: apsw.Connection) -> None:
        db.execute("CREATE TABLE later(note TEXT)")

    monkeypatch.setattr(sqlite, "FORMAT", FORMAT + 1)
    monkeypatch.setitem(schema.MIGRATIONS, FORMAT + 1, add_a_table)
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
        patch.setattr(sqlite, "FORMAT", FORMAT + 1)
        patch.setitem(schema.MIGRATIONS, FORMAT + 1, fail_half_way)
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


def test_the_golden_file_of_format_1_opens_verifies_and_reads(path: Path) -> None:
    shutil.copyfile(GOLDEN, path)
    expected = dict(line.split(" ", 1) for line in GOLDEN.with_suffix(".txt").read_text().splitlines())
    world = World(SqliteStore(path), "today")
    assert world.faults() == []
    assert world.store.state_hash(TENANT) == expected["state"]
    with world.store.read() as snapshot:
        assert snapshot.head(1).hash.hex() == expected["head"]
    assert world.texts() == expected["texts"].split("|")
    world.commit("and it goes on")
    assert world.faults() == []
    world.store.close()

"""Relations of PostgreSQL: statements made once of the names that a relation declares, led by the tenant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeVar

from mnemic.store.engine.relations import Condition, Relation, Value
from mnemic.store.engine.rows import Group
from mnemic.store.postgres.postgres_schema import BY_NAME, TENANT_BITS, WalledTable, tenant_of
from mnemic.store.postgres.transaction import ACROSS, ServerTransaction, replacing

R = TypeVar("R")
Shape = tuple[tuple[str, str], ...]

_OPERATORS: Final = {
    "=": " = %s", "<>": " <> %s", "<": " < %s", "<=": " <= %s", ">": " > %s", ">=": " >= %s", "is true": " <> 0",
    "in": " = ANY(%s)",
}  # fmt: skip


def plain(value: Any) -> Any:
    """A value as the server is told it: numbers of any sort as whole numbers, bytes of any sort as bytes."""
    if isinstance(value, int):
        return int(value)
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    return value


class PostgresRelations:
    """`engine.relations.Relations` in one transaction.

    Which tenant a statement is for is told by the values it comes with: a tenant's number, or one that holds it.
    """

    def __init__(self, transaction: ServerTransaction | None) -> None:
        self._transaction = transaction

    @property
    def transaction(self) -> ServerTransaction:
        """The transaction under way; those of a group commit are given one after the other."""
        assert self._transaction is not None
        return self._transaction

    @transaction.setter
    def transaction(self, transaction: ServerTransaction) -> None:
        self._transaction = transaction

    def find(
        self, relation: Relation[R], *where: Condition, order: tuple[str, ...] = (), limit: int = 0, **equal: Value
    ) -> Iterator[R]:
        asked = _asked(relation, where, equal)
        if asked is None:
            return iter(())
        tenant, shape, bound = asked
        statement = _find(relation, tuple(equal), shape, order, limit > 0, tenant != ACROSS)
        if limit:
            bound.append(limit)
        return map(relation.make, self.transaction.ask(tenant, statement, bound))

    def first(self, relation: Relation[R], *where: Condition, order: tuple[str, ...] = (), **equal: Value) -> R | None:
        return next(self.find(relation, *where, order=order, limit=1, **equal), None)

    def add(self, relation: Relation[Any], *rows: Sequence[Any]) -> int:
        if not rows:
            return 0
        table = BY_NAME[relation.name]
        first = 0
        if relation.number:
            if not table.counter:
                return self._add_counted(relation, table, rows)
            first, numbered = self._numbered(relation, table, rows)
            rows = tuple(numbered)
        self._insert(relation, table, " ON CONFLICT DO NOTHING" if relation.stays else "", rows)
        return first

    def put(self, relation: Relation[Any], *rows: Sequence[Any]) -> None:
        table = BY_NAME[relation.name]
        columns = _columns(relation, table)
        places = [relation.columns.index(name) for name in table.keyed_by if name in relation.columns]
        last = {tuple(row[place] for place in places): row for row in rows}  # one statement may touch a row once
        self.transaction.flush()
        self._insert(relation, table, replacing(table, columns), list(last.values()))
        self.transaction.flush()

    def update(self, relation: Relation[Any], values: Mapping[str, Value], *where: Condition, **equal: Value) -> None:
        asked = _asked(relation, where, equal)
        if asked is not None:
            tenant, shape, bound = asked
            self._touch(BY_NAME[relation.name])
            statement = _update(relation, tuple(values), tuple(equal), shape, tenant != ACROSS)
            self.transaction.tell(tenant, statement, [*map(plain, values.values()), *bound])

    def drop(self, relation: Relation[Any], *where: Condition, **equal: Value) -> None:
        asked = _asked(relation, where, equal)
        if asked is not None:
            tenant, shape, bound = asked
            self._touch(BY_NAME[relation.name])
            self.transaction.tell(tenant, _drop(relation, tuple(equal), shape, tenant != ACROSS), bound)

    def _touch(self, table: WalledTable) -> None:
        if not table.wall and table.name != "meter":  # what processes measure of themselves is no news
            self.transaction.touch_store()

    def _insert(self, relation: Relation[Any], table: WalledTable, tail: str, rows: Sequence[Sequence[Any]]) -> None:
        columns = _columns(relation, table)
        if not table.wall:
            self._touch(table)
            self.transaction.insert(table, ACROSS, tail, columns, [[*map(plain, row)] for row in rows])
            return
        by_tenant: dict[int, list[Sequence[Any]]] = {}
        for row in rows:
            tenant = _tenant_of_row(relation, table, row)
            led = (tenant,) if table.beside else ()
            by_tenant.setdefault(tenant, []).append((*led, *map(plain, row)))
        for tenant, own in by_tenant.items():
            self.transaction.insert(table, tenant, tail, columns, own)

    def _numbered(
        self, relation: Relation[Any], table: WalledTable, rows: Sequence[Sequence[Any]]
    ) -> tuple[int, list[Sequence[Any]]]:
        """Give rows of one tenant their numbers, from what its head has counted."""
        own = relation.columns.index("tenant" if "tenant" in relation.columns else "space")
        owner = int(rows[0][own])
        tenant = owner if relation.columns[own] == "tenant" else tenant_of(owner)
        head = self.transaction.moved_head(tenant)
        given = getattr(head, table.counter)
        setattr(head, table.counter, given + len(rows))
        held = (relation.number, ">") in table.carriers
        first = (tenant << TENANT_BITS if held else 0) + given + 1
        return first, [(first + place, *row[1:]) for place, row in enumerate(rows)]

    def _add_counted(self, relation: Relation[Any], table: WalledTable, rows: Sequence[Sequence[Any]]) -> int:
        """Add rows of the whole store, which the server numbers."""
        self._touch(table)
        numbers = [
            self.transaction.ask_writing(ACROSS, _add_one(relation), [*map(plain, row[1:])])[0][0] for row in rows
        ]
        return int(numbers[0])


class PostgresGroup(Group):
    """A group of tables that has PostgreSQL's own statements besides those of its relations."""

    def __init__(self, relations: PostgresRelations) -> None:
        self.relations: PostgresRelations = relations

    @property
    def _transaction(self) -> ServerTransaction:
        return self.relations.transaction

    def _ask(self, tenant: int, statement: str, *bound: Any) -> list[tuple[Any, ...]]:
        return self._transaction.ask(tenant, statement, bound)


def tenants_of(numbers: Sequence[int]) -> list[int]:
    """The tenants of some spaces or rows, each once."""
    return sorted({tenant_of(number) for number in numbers})


def one_tenant(tenants: Sequence[int]) -> int:
    """The tenant that a statement is for where it names these; all of them where they are several."""
    return tenants[0] if len(tenants) == 1 else ACROSS


def _tenant_of_row(relation: Relation[Any], table: WalledTable, row: Sequence[Any]) -> int:
    for column, how in table.carriers:
        if column in relation.columns:
            value = int(row[relation.columns.index(column)])
            return value if how == "=" else tenant_of(value)
    raise LookupError(relation.name)


def _columns(relation: Relation[Any], table: WalledTable) -> tuple[str, ...]:
    return (table.wall, *relation.columns) if table.wall and table.beside else relation.columns


def _asked(
    relation: Relation[Any], where: tuple[Condition, ...], equal: Mapping[str, Value]
) -> tuple[int, Shape, list[Any]] | None:
    """The tenant that conditions name, their form, and the values that are bound; None where nothing can meet them."""
    table, bound = BY_NAME[relation.name], [plain(value) for value in equal.values()]
    shape: list[tuple[str, str]] = []
    for column, operator, value in where:
        shape.append((column, operator))
        if operator == "in":
            values = [plain(each) for each in value]
            if not values:
                return None
            bound.append(values)
        elif operator != "is true":
            bound.append(plain(value))
    tenant = _tenant(table, where, equal) if table.wall else ACROSS
    if table.wall and tenant != ACROSS:
        bound.insert(0, tenant)
    return tenant, tuple(shape), bound


def _tenant(table: WalledTable, where: tuple[Condition, ...], equal: Mapping[str, Value]) -> int:
    given: dict[str, list[Any]] = {column: [value] for column, value in equal.items()}
    given |= {column: [value] for column, operator, value in where if operator == "="}
    given |= {column: list(value) for column, operator, value in where if operator == "in"}
    for column, how in table.carriers:
        if values := given.get(column):
            tenants = {int(value) if how == "=" else tenant_of(int(value)) for value in values}
            if column == "space" and table.name in ("change", "hold") and 0 in tenants:
                continue  # of no space in particular
            if len(tenants) == 1:
                return tenants.pop()
    if table.name == "space" and "tenant" in given and len(given["tenant"]) == 1 and given["tenant"][0]:
        return int(given["tenant"][0])
    return ACROSS


@cache
def _find(
    relation: Relation[Any], equal: tuple[str, ...], shape: Shape, order: tuple[str, ...], limited: bool, led: bool
) -> str:
    table = BY_NAME[relation.name]
    by = ", ".join(_ordered(table, relation, column) for column in order)
    columns = ", ".join(f'"{column}"' for column in relation.columns)
    return (
        f"SELECT {columns} FROM {table.full_name}{_where(relation, table, equal, shape, led)}"
        + (f" ORDER BY {by}" if order else "")
        + (" LIMIT %s" if limited else "")
    )


def _ordered(table: WalledTable, relation: Relation[Any], column: str) -> str:
    """Order by a column as SQLite does: no value comes before any."""
    name, down = column.removeprefix("-"), column[0] == "-"
    nullable = next(each.nullable for each in table.all_columns if each.name == name)
    nulls = (" NULLS LAST" if down else " NULLS FIRST") if nullable else ""
    return _declared(relation, name) + (" DESC" if down else "") + nulls


@cache
def _update(relation: Relation[Any], columns: tuple[str, ...], equal: tuple[str, ...], shape: Shape, led: bool) -> str:
    table = BY_NAME[relation.name]
    values = ", ".join(_declared(relation, column) + " = %s" for column in columns)
    # The wall's value is bound first, and what is set stands before the conditions.
    return f"UPDATE {table.full_name} SET {values}{_where(relation, table, equal, shape, led)}"


@cache
def _drop(relation: Relation[Any], equal: tuple[str, ...], shape: Shape, led: bool) -> str:
    table = BY_NAME[relation.name]
    return f"DELETE FROM {table.full_name}{_where(relation, table, equal, shape, led)}"


@cache
def _add_one(relation: Relation[Any]) -> str:
    table = BY_NAME[relation.name]
    columns = relation.columns[1:]
    named, marks = ", ".join(f'"{column}"' for column in columns), ", ".join(["%s"] * len(columns))
    return f'INSERT INTO {table.full_name} ({named}) VALUES ({marks}) RETURNING "{relation.number}"'


def _where(relation: Relation[Any], table: WalledTable, equal: tuple[str, ...], shape: Shape, led: bool) -> str:
    conditions = [f'"{table.wall}" = %s'] if table.wall and led else []
    conditions += [_declared(relation, column) + " = %s" for column in equal]
    conditions += [_declared(relation, column) + _OPERATORS[operator] for column, operator in shape]
    return " WHERE " + " AND ".join(conditions) if conditions else ""


def _declared(relation: Relation[Any], column: str) -> str:
    """Return a column's name if the relation declares it: no other name ever reaches a statement."""
    declared = relation.columns + relation.beside
    return f'"{declared[declared.index(column)]}"'

"""The bench of many memories open at once measures what it says, at any size."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from mnemic import Memory, Settings
from mnemic.lab.tasks.spaces_bench import ManySpaces, bench_spaces, make_many_spaces
from mnemic.store.sqlite.sqlite_store import SqliteStore

pytestmark = pytest.mark.heavy


def test_every_user_has_the_items_the_vectors_and_the_packs_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    make_many_spaces(path, ManySpaces(spaces=4, items=5_000))
    with closing(SqliteStore(path, create=False)) as store, store.read() as snapshot:
        heads = [head for tenant, _ in snapshot.tenants() for head in snapshot.all_spaces(tenant)]
        assert [head.user for head in heads] == [f"user {n}" for n in range(4)]
        (model,) = (row.id for row in snapshot.embedders())
        assert [sum(1 for _ in snapshot.entries(head.id)) for head in heads] == [5_000] * 4
        assert [sum(1 for _ in snapshot.vectors(head.id, model)) for head in heads] == [5_000] * 4
        assert [[row.rows for row in snapshot.packs(head.id)] for head in heads] == [[4_096]] * 4
    with Memory(path, settings=Settings(background=False), embedder="none") as memory:
        found = [[one.item.text for one in memory.scope(user=head.user).recall("summer").items] for head in heads]
    assert found[0]
    assert all(other == found[0] for other in found)


def test_each_figure_is_measured() -> None:
    parts: list[str] = []
    found = bench_spaces(ManySpaces(spaces=3, items=300), parts.append)
    assert parts == ["3 users with 300 items and vectors each", "a process that asks each of them, twice"]
    resident, first, again = found.figures
    assert resident.bar == 512
    assert resident.value > 10
    assert first.value > 0
    assert again.value > 0
    assert not ManySpaces(spaces=3).stated

"""Personalised PageRank over links: what a dense power iteration says, within the scope, and no link is read twice."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic import SHARED, Invalid, Memory, ScopedMemory, Settings
from mnemic.core.ids import ItemId
from mnemic.derive.memory_reads import MemoryReads
from mnemic.flow import Flow
from mnemic.index.link_table import LinkTable
from mnemic.recall.pagerank import pagerank
from mnemic.store.engine.rows import LinkTables
from mnemic.strategies.house import House
from mnemic.strategies.strategy_requests import Spread
from mnemic.testing.sql_counts import counted
from mnemic.verbs.who import spaces_of, view_of


def dense(
    nodes: int, links: list[tuple[int, int, float]], restart: np.ndarray[Any, np.dtype[np.float64]], damping: float
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The same by the matrix: the shares of which a step returns the same, as a system of equations."""
    matrix = np.zeros((nodes, nodes))
    for source, target, weight in links:
        matrix[target, source] += weight
        if source != target:
            matrix[source, target] += weight
    leaving = matrix.sum(axis=0)
    for node in range(nodes):
        matrix[:, node] = restart if not leaving[node] else matrix[:, node] / leaving[node]
    return np.linalg.solve(np.eye(nodes) - damping * matrix, (1 - damping) * restart)


@given(st.data())
def test_it_is_what_the_matrix_says(data: st.DataObject) -> None:
    nodes = data.draw(st.integers(1, 12))
    node = st.integers(0, nodes - 1)
    links = data.draw(st.lists(st.tuples(node, node, st.floats(0.01, 100)), max_size=30))
    weights = np.array(data.draw(st.lists(st.floats(0, 5), min_size=nodes, max_size=nodes)))
    weights[data.draw(node)] = 1.0
    damping = data.draw(st.sampled_from([0.1, 0.5, 0.85, 0.95]))
    restart = weights / weights.sum()
    ends = np.array([link[:2] for link in links], np.int64).reshape(-1, 2)
    shares = pagerank(ends[:, 0], ends[:, 1], np.array([link[2] for link in links]), restart, damping)
    assert shares.sum() == pytest.approx(1, abs=1e-12)
    assert np.abs(shares - dense(nodes, links, restart, damping)).sum() < 1e-8


@pytest.fixture
def memory() -> Any:
    with Memory("memory:", settings=Settings(background=False), embedder="none", strategies=[]) as memory:
        yield memory


def spread(me: ScopedMemory, seeds: Mapping[ItemId, float], **options: Any) -> dict[ItemId, float]:
    """Ask for it as a strategy's recall does."""

    def asked() -> Flow[dict[ItemId, float]]:
        answer: dict[ItemId, float] = yield from reads.answered(Spread(dict(seeds), **options))
        return answer

    with me._opened.store.read() as snapshot:
        spaces, view = spaces_of(snapshot, me._who), view_of(snapshot, me._who)
    reads = MemoryReads(House(), spaces, view, 0)
    return me._opened.answering.verb(asked(), me._who)


def facts(me: ScopedMemory, *names: str) -> list[ItemId]:
    return [me.write(name, kind="fact").ids[0] for name in names]


def test_shares_fall_with_every_step_and_sum_to_one(memory: Memory) -> None:
    me = memory.scope(user="ada")
    a, b, c, alone = facts(me, "a", "b", "c", "alone")
    me.link(a, b, "near")
    me.link(b, c, "near")
    shares = spread(me, {a: 3.0})
    assert list(shares) == [a, b, c]
    assert sum(shares.values()) == pytest.approx(1)
    # a = .5 + .5 * b / 2, b = .5 * (a + c), c = .5 * b / 2
    assert [round(shares[one], 6) for one in (a, b, c)] == [round(7 / 12, 6), round(1 / 3, 6), round(1 / 12, 6)]
    assert spread(me, {alone: 1.0}) == {alone: 1.0}
    assert spread(me, {a: 1.0, alone: 3.0})[alone] == pytest.approx(0.6)  # .75 * (.5 + .5 * itself), as it leads back


def test_weights_and_types_say_where_it_goes(memory: Memory) -> None:
    me = memory.scope(user="ada")
    a, b, c = facts(me, "a", "b", "c")
    me.link(a, b, "near", weight=3.0)
    me.link(a, c, "far", weight=1.0)
    shares = spread(me, {a: 1.0})
    assert shares[b] == pytest.approx(3 * shares[c])
    assert set(spread(me, {a: 1.0}, types=("far",))) == {a, c}
    assert spread(me, {a: 1.0}, types=("none",)) == {a: 1.0}
    me.link(a, b, "near", weight=0.0)
    assert set(spread(me, {a: 1.0})) == {a, c}
    me.unlink(a, c, "far")
    assert spread(me, {a: 1.0}) == {a: 1.0}


def test_nothing_outside_the_scope_is_reached(memory: Memory) -> None:
    me, ben, common = memory.scope(user="ada"), memory.scope(user="ben"), memory.scope(user=SHARED)
    (theirs,) = facts(ben, "ben's")
    (everybodys,) = facts(common, "everybody's")
    a, b, c = facts(me, "a", "b", "c")
    me.link(a, b, "near")
    me.link(b, c, "near")
    common.link(everybodys, facts(common, "everybody's too")[0], "near")
    assert set(spread(me, {a: 1.0, theirs: 5.0})) == {a, b, c}
    assert len(spread(me, {a: 1.0, everybodys: 1.0})) == 5
    assert spread(me, {theirs: 1.0}) == {}
    before = me.log()[0].seq
    me.forget(b)
    assert set(spread(me, {a: 1.0, c: 1.0})) == {a, c}
    assert set(spread(me.at(before), {a: 1.0})) == {a, b, c}
    me.undo(me.log()[0].seq)
    assert set(spread(me, {a: 1.0})) == {a, b, c}
    me.erase(b)
    assert spread(me, {a: 1.0}) == {a: 1.0}


def test_a_branch_walks_over_its_own_links_and_those_that_it_has_not_taken_away(memory: Memory) -> None:
    me = memory.scope(user="ada")
    a, b, c, d = facts(me, "a", "b", "c", "d")
    me.link(a, b, "near")
    me.link(a, c, "near")
    branch = me.branch("try")
    me.link(a, d, "near")
    branch.unlink(a, b, "near")
    assert set(spread(branch, {a: 1.0})) == {a, c}
    assert set(spread(me, {a: 1.0})) == {a, b, c, d}


def test_what_is_asked_for_must_make_sense(memory: Memory) -> None:
    me = memory.scope(user="ada")
    (a,) = facts(me, "a")
    for seeds, options in (
        ({a: 0.0}, {}),
        ({a: -1.0}, {}),
        ({a: float("nan")}, {}),
        ({"x": 1.0}, {}),
        ({a: 1.0}, {"damping": 0.0}),
        ({a: 1.0}, {"damping": 1.0}),
    ):
        with pytest.raises(Invalid):
            spread(me, seeds, **options)  # type: ignore[arg-type]
    assert spread(me, {}) == {}


def test_links_are_read_once_and_then_followed_by_the_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    whole: list[int] = []
    all_links = LinkTables.all_links

    def counting(self: LinkTables, space: int) -> Any:
        whole.append(space)
        return all_links(self, space)

    monkeypatch.setattr(LinkTables, "all_links", counting)
    quiet = Settings(background=False)
    with counted() as statements, Memory("memory:", settings=quiet, embedder="none", strategies=[]) as memory:
        me = memory.scope(user="ada")
        ids = facts(me, *"abcdefgh")
        for left, right in pairwise(ids):
            me.link(left, right, "near")
        first = spread(me, {ids[0]: 1.0}, damping=0.9)
        statements.reset()
        assert spread(me, {ids[0]: 1.0}, damping=0.9) == first
        again = [text for text in statements.ran if "link" in text]
        assert again == []
        (new,) = facts(me, "new")
        me.link(ids[-1], new, "near")
        me.unlink(ids[0], ids[1], "near")
        me.link(ids[0], new, "near")
        followed = spread(me, {ids[0]: 1.0}, damping=0.9)
        assert len(whole) == 1
        me._opened.kernel.catalogues.clear()
        assert spread(me, {ids[0]: 1.0}, damping=0.9) == followed
        assert ids[1] in followed


def test_a_table_keeps_what_older_readers_see(memory: Memory) -> None:
    me = memory.scope(user="ada")
    a, b = facts(me, "a", "b")
    me.link(a, b, "near")
    table = LinkTable(1)
    with memory._opened.store.read() as snapshot:
        (space,) = spaces_of(snapshot, me._who)
        table.space = space
        vers = np.array([entry.ver for entry in snapshot.entries(space)])
        table.follow(snapshot, 3, vers)
    before = table.shown(3, vers)
    me.unlink(a, b, "near")
    with memory._opened.store.read() as snapshot:
        table.follow(snapshot, 4, vers)
    assert (len(before.sources), len(table.shown(3, vers).sources), len(table.shown(4, vers).sources)) == (1, 1, 0)

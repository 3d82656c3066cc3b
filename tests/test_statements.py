"""What each verb asks of the store: how many transactions, commits and statements, for one item and for fifty."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mnemic import Memory, Settings
from mnemic.core.ids import ItemId
from mnemic.memory import ScopedMemory
from mnemic.session import Session
from mnemic.testing.sql_counts import Statements, counted

MANY = 50


class Most(NamedTuple):
    """The most that a verb may ask for: transactions that read, that write; commits; statements, of any kind.

    A link looks for the one it replaces: `each` more for every one.
    """

    reads: int
    writes: int
    commits: int
    statements: int
    each: int = 0


@dataclass
class World:
    """A user with turns, facts that rest on them, and an open session; everything that was written is understood."""

    memory: Memory
    me: ScopedMemory
    session: Session
    turns: list[ItemId]
    facts: list[ItemId]

    def seq(self) -> int:
        return self.me.log(limit=1)[0].seq


@pytest.fixture
def statements() -> Iterator[Statements]:
    with counted() as found:
        yield found


@pytest.fixture
def world(statements: Statements, tmp_path: Path) -> Iterator[World]:
    settings = Settings(background=False)
    with Memory(tmp_path / "m.db", settings=settings, embedder="none") as memory:
        me = memory.scope(user="ada")
        turns = list(me.observe([f"turn {n} is about cats and dogs" for n in range(2 * MANY + 2)]).ids)
        facts = [me.write(f"fact {n} is about cats", source=(turns[n],)).ids[0] for n in range(MANY + 1)]
        memory.flush()
        with memory.session("chat", user="ada", budget=800) as session:
            yield World(memory, me, session, turns, facts)


def _said(n: int) -> list[str]:
    return [f"word {i} of {n}" for i in range(n)]


def _undone(write: Callable[[World, int], Any]) -> Callable[[World, int], Callable[[], Any]]:
    """Undo what was just written."""

    def prepared(w: World, n: int) -> Callable[[], Any]:
        receipt = write(w, n)
        return lambda: w.me.undo(receipt.seq)

    return prepared


def _read_after_writing(w: World, n: int) -> Callable[[], Any]:
    w.me.context("cats")
    w.me.observe([f"I like cats{i}." for i in range(n)])
    return lambda: w.me.context("cats")


def _tied(w: World, n: int) -> Callable[[], Any]:
    w.me.observe([f"I live in Town{'abcdefghij'[i // 10]}{'abcdefghij'[i % 10]}." for i in range(n)])
    return lambda: w.memory.flush()


def _erased_beside_a_hold(w: World, n: int) -> Callable[[], Any]:
    w.session.observe("a word")
    w.memory.admin.hold(user="ada", session="chat")
    return lambda: w.me.erase(*w.turns[-n:])


def _merged(w: World, n: int) -> Callable[[], Any]:
    w.me.branch("try").observe(_said(n))
    return lambda: w.me.merge("try")


def _reverted(w: World, n: int) -> Callable[[], Any]:
    before = w.seq()
    w.me.observe(_said(n))
    return lambda: w.me.revert(before)


def _warm(verb: Callable[[World, int], Any]) -> Callable[[World, int], Callable[[], Any]]:
    """Do it once, and then again: the process knows the user, and has counted what waits for its lanes."""

    def prepared(w: World, n: int) -> Callable[[], Any]:
        verb(w, n)
        return lambda: verb(w, n)

    return prepared


def _in_doubt(verb: Callable[[World], Any]) -> Callable[[World, int], Callable[[], Any]]:
    """A fact of the profile that many turns put in doubt."""

    def prepared(w: World, n: int) -> Callable[[], Any]:
        w.me.observe("I work at Acme.")
        w.me.observe(["Handed in my badge, Acme is behind me." for _ in range(n)])
        w.memory.flush()
        verb_once = w.me.context("")
        assert "In doubt" in verb_once.text
        return lambda: verb(w)

    return prepared


Prepared = Callable[[World, int], Callable[[], Any]]
VERBS: dict[str, tuple[Prepared, Most]] = {
    "get": (lambda w, n: lambda: w.me.get(w.turns[0]), Most(1, 0, 0, 3)),
    "list": (lambda w, n: lambda: w.me.list(limit=n), Most(1, 0, 0, 3)),
    "visible": (lambda w, n: lambda: w.me.visible(w.turns[:n]), Most(1, 0, 0, 3)),
    "count": (lambda w, n: lambda: w.me.count(), Most(1, 0, 0, 2)),
    "links": (lambda w, n: lambda: w.me.links(w.turns[0]), Most(1, 0, 0, 5)),
    "strength": (lambda w, n: lambda: w.me.strength(w.turns[0]), Most(1, 0, 0, 2)),
    "history": (lambda w, n: lambda: w.me.history(w.facts[0]), Most(1, 0, 0, 5)),
    "log": (lambda w, n: lambda: w.me.log(limit=n), Most(1, 0, 0, 5)),
    "changes": (lambda w, n: lambda: w.me.changes(limit=n), Most(1, 0, 0, 11)),
    "diff": (lambda w, n: lambda: w.me.diff(w.seq() - n), Most(2, 0, 0, 17)),
    "sessions": (lambda w, n: lambda: w.me.sessions(), Most(1, 0, 0, 2)),
    "stats": (lambda w, n: lambda: w.memory.admin.stats(), Most(2, 0, 0, 36)),
    "recall": (lambda w, n: lambda: w.me.recall("cats", k=n), Most(1, 0, 0, 6)),
    "why_not": (lambda w, n: lambda: w.me.why_not("cats", w.turns[0]), Most(1, 0, 0, 9)),
    "context": (lambda w, n: lambda: w.me.context("cats", k=n), Most(1, 0, 0, 8)),
    "context after a write": (_read_after_writing, Most(1, 0, 0, 16)),
    "ask": (lambda w, n: lambda: w.me.ask("where do I live?", k=n), Most(1, 0, 0, 7)),
    "context in doubt": (_in_doubt(lambda w: w.me.context("")), Most(1, 0, 0, 9)),
    "review": (
        _in_doubt(lambda w: w.me.review()),
        Most(1, 0, 0, 12),
    ),  # by hand, and by the user's name, too
    "settle": (_in_doubt(lambda w: w.me.settle(w.me.context("").always[-1].id, value="Globex")), Most(5, 1, 1, 40)),
    "warm recall": (_warm(lambda w, n: w.me.recall("cats", k=n)), Most(1, 0, 0, 3)),
    "warm context": (_warm(lambda w, n: w.me.context("cats", k=n)), Most(1, 0, 0, 5)),
    "warm ask": (_warm(lambda w, n: w.me.ask("where do I live?", k=n)), Most(1, 0, 0, 4)),
    "warm observe": (_warm(lambda w, n: w.me.observe(_said(n))), Most(0, 1, 1, 6)),
    "warm write": (_warm(lambda w, n: w.me.write("so")), Most(0, 1, 1, 6)),
    "observe": (lambda w, n: lambda: w.me.observe(_said(n)), Most(1, 1, 1, 10)),
    "write": (lambda w, n: lambda: w.me.write("so", source=w.turns[:n]), Most(2, 1, 1, 14)),
    "revise": (lambda w, n: lambda: w.me.revise(w.facts[0], "otherwise"), Most(2, 1, 1, 17)),
    "supersede": (lambda w, n: lambda: w.me.supersede(w.facts[0], "now so", source=w.turns[:n]), Most(2, 1, 1, 25)),
    "correct": (lambda w, n: lambda: w.me.correct(w.turns[0], "it was so"), Most(2, 1, 1, 22)),
    "link": (lambda w, n: lambda: w.me.link(w.turns[0], w.turns[1], "t", evidence=w.turns[:n]), Most(2, 1, 1, 15)),
    "pin": (lambda w, n: lambda: w.me.pin(*w.turns[:n]), Most(2, 1, 1, 18)),
    "forget": (lambda w, n: lambda: w.me.forget(*w.turns[:n]), Most(2, 1, 1, 18)),
    "feedback": (lambda w, n: lambda: w.me.feedback(*w.turns[:n], useful=True), Most(2, 1, 1, 13)),
    "undo of observe": (_undone(lambda w, n: w.me.observe(_said(n))), Most(1, 1, 1, 29)),
    "undo of pin": (_undone(lambda w, n: w.me.pin(*w.turns[:n])), Most(1, 1, 1, 26)),
    "undo of forget": (_undone(lambda w, n: w.me.forget(*w.turns[:n])), Most(1, 1, 1, 26)),
    "flush of facts that supersede each other": (_tied, Most(19, 2, 1, 83, each=1)),
    "merge": (_merged, Most(2, 1, 1, 25)),
    "revert": (_reverted, Most(1, 1, 1, 28)),
    "erase": (lambda w, n: lambda: w.me.erase(*w.turns[-n:]), Most(1, 2, 1, 61)),
    "erase beside a hold": (_erased_beside_a_hold, Most(1, 2, 1, 63)),
    "session.observe": (lambda w, n: lambda: w.session.observe(_said(n)), Most(1, 1, 1, 13)),
    "session.context": (lambda w, n: lambda: w.session.context("cats", k=n), Most(2, 0, 0, 10)),
    "session.window": (lambda w, n: lambda: w.session.window(), Most(1, 0, 0, 3)),
}


@pytest.mark.parametrize("many", [1, MANY])
@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_asks_for_no_more_than_it_needs(verb: str, many: int, world: World, statements: Statements) -> None:
    prepared, most = VERBS[verb]
    act = prepared(world, many)
    statements.reset()
    act()
    found = (statements.reads, statements.writes, statements.commits, statements.count)
    bound = (*most[:3], most.statements + most.each * many)
    assert all(asked <= limit for asked, limit in zip(found, bound, strict=True)), (found, bound, statements.ran)

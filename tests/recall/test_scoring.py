"""Who scores: one thread at a time, with nothing of the store or a model asked for meanwhile, and nobody left out."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import apsw
import pytest

from mnemic import AsyncMemory, Context, Memory, Settings
from mnemic.models.scripted_embedder import ScriptedEmbedder
from mnemic.recall import pipeline, scoring
from mnemic.recall.scoring import SCORING, scorers
from patience import PATIENCE, eventually

QUESTION = "Who went sailing in May?"


@pytest.fixture
def memory() -> Iterator[Memory]:
    settings = Settings(background=False)
    with Memory("memory:", settings=settings, embedder=ScriptedEmbedder(), strategies=["house", "stream"]) as memory:
        me = memory.scope(user="ada")
        me.observe("I went sailing with my cousin in May.")
        me.observe("I live in Lisbon now, and I used to live in Paris.")
        me.observe("I would love to live in Porto.")
        me.write("The harbour closes at nine.", kind="fact")
        memory.flush()
        yield memory


@pytest.fixture
def inside_a_statement() -> Iterator[list[int]]:
    """How many were scoring as each statement of the store began, on connections that are opened meanwhile."""
    seen: list[int] = []

    def took(_cursor: apsw.Cursor, _sql: str, _bindings: object) -> bool:
        seen.append(SCORING.inside)
        return True

    def follow(db: apsw.Connection) -> None:
        db.exec_trace = took

    apsw.connection_hooks.append(follow)
    yield seen
    apsw.connection_hooks.remove(follow)


ASKING: list[Callable[[Any], object]] = [
    lambda me: me.recall(QUESTION),
    lambda me: me.recall(QUESTION, by="stream"),
    lambda me: me.context(QUESTION),
    lambda me: me.ask(QUESTION),
    lambda me: me.why_not(QUESTION, me.list()[0].item.id),
    lambda me: me.profile(),
    lambda me: me.recall("Where do I live?"),
    lambda me: me.recall("Where would I like to live?"),
]


ASKED = ("recall", "stream", "context", "ask", "why not", "profile", "what is so", "a wish")


@pytest.mark.parametrize("ask", ASKING, ids=ASKED)
def test_whoever_scores_has_all_it_needs_of_the_store_and_the_embedder(
    inside_a_statement: list[int], memory: Memory, ask: Callable[[Any], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded: list[int] = []
    vector = ScriptedEmbedder._vector

    def embedding(*args: Any) -> Any:
        embedded.append(SCORING.inside)
        return vector(*args)

    monkeypatch.setattr(ScriptedEmbedder, "_vector", embedding)
    inside_a_statement.clear()
    ask(memory.scope(user="ada"))
    assert inside_a_statement, "the store was not asked"
    assert not any(inside_a_statement)
    assert not any(embedded)


def scored(monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[], None]) -> None:
    """Have something happen in the middle of each scoring."""
    gather = pipeline.gather

    def gathering(*args: Any) -> Any:
        meanwhile()
        return gather(*args)

    monkeypatch.setattr(pipeline, "gather", gathering)


def test_no_two_threads_score_at_once_whatever_store_they_ask(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    most: list[int] = []
    inside: set[int] = set()

    def meanwhile() -> None:
        inside.add(threading.get_ident())
        threading.Event().wait(0)
        most.append(len(inside))
        inside.discard(threading.get_ident())

    scored(monkeypatch, meanwhile)
    with (
        Memory("memory:", settings=Settings(background=False), embedder="none") as other,
        ThreadPoolExecutor(8) as pool,
    ):
        other.scope(user="bob").observe("I went sailing in May too.")
        handles = [memory.scope(user="ada"), other.scope(user="bob")] * 8
        answers = list(pool.map(lambda me: me.recall(QUESTION), handles, timeout=PATIENCE))
    assert all(answer.items for answer in answers)
    assert len(most) >= 16
    assert max(most) <= scorers()
    assert SCORING.inside == 0


def test_what_needs_no_scoring_does_not_wait_for_it(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    here, go_on = threading.Event(), threading.Event()

    def meanwhile() -> None:
        here.set()
        assert go_on.wait(PATIENCE)

    scored(monkeypatch, meanwhile)
    me = memory.scope(user="ada")
    with ThreadPoolExecutor(2) as pool:
        recalling = pool.submit(me.recall, QUESTION)
        assert here.wait(PATIENCE)
        item = me.list()[0].item.id
        assert me.get(item).item.id == item
        behind = pool.submit(me.recall, QUESTION)
        eventually(lambda: SCORING.waiting == 1)
        go_on.set()
        assert recalling.result(PATIENCE).items
        assert behind.result(PATIENCE).items


def test_a_recall_that_is_cut_short_while_it_scores_leaves_others_to_go_on(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def meanwhile() -> None:
        raise KeyboardInterrupt

    me = memory.scope(user="ada")
    with monkeypatch.context() as patched:
        scored(patched, meanwhile)
        with pytest.raises(KeyboardInterrupt):
            me.recall(QUESTION)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(me.recall, QUESTION).result(PATIENCE).items


def test_awaited_recalls_all_come_back() -> None:
    async def ask() -> list[Context]:
        async with AsyncMemory("memory:", settings=Settings(background=False), embedder="none") as memory:
            me = memory.scope(user="ada")
            await me.observe("I went sailing with my cousin in May.")
            async with asyncio.timeout(PATIENCE):
                return await asyncio.gather(*(me.recall(QUESTION) for _ in range(20)))

    assert all(answer.items for answer in asyncio.run(ask()))


def test_one_scores_under_one_lock_and_as_many_as_there_are_cores_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring.os, "cpu_count", lambda: 6)
    monkeypatch.setattr(scoring.sys, "_is_gil_enabled", lambda: True, raising=False)
    assert scorers() == 1
    monkeypatch.setattr(scoring.sys, "_is_gil_enabled", lambda: False, raising=False)
    assert scorers() == 6

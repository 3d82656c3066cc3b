"""Memory from an event loop: every verb, session and admin, awaited, while the loop goes on; cancelled, it is clean."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from held_commits import HeldCommits
from mnemic import AsyncMemory, AsyncScopedMemory, AsyncSession, Memory, ScopedMemory, Session
from mnemic.admin import Admin
from mnemic.aio import AsyncAdmin
from mnemic.answering import Answering
from mnemic.core.events import Receipt
from mnemic.errors import NotFound, StoreError
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.store.values.drafts import Draft
from patience import PATIENCE

PAIRS = ((Memory, AsyncMemory), (ScopedMemory, AsyncScopedMemory), (Session, AsyncSession), (Admin, AsyncAdmin))
VERBS = [
    (plain, awaited, name)
    for plain, awaited in PAIRS
    for name, verb in sorted(vars(plain).items())
    if inspect.isfunction(verb) and (not name.startswith("_") or (name == "__init__" and plain is Memory))
]
AT_ONCE = {"__init__", "scope", "at", "as_of", "valid_at", "shelf", "on_branch", "session", "watch"}
"""What touches no store, or waits by itself."""


@pytest.mark.parametrize(("plain", "awaited", "name"), VERBS)
def test_every_verb_is_there_with_the_same_parameters_and_words(plain: type, awaited: type, name: str) -> None:
    verb, other = getattr(plain, name), getattr(awaited, name)
    assert name in AT_ONCE or inspect.iscoroutinefunction(other) or inspect.isasyncgenfunction(other)
    assert list(inspect.signature(other).parameters) == list(inspect.signature(verb).parameters)
    assert name == "__init__" or inspect.getdoc(other) == inspect.getdoc(verb) or other is AsyncAdmin.serve


def test_the_loop_goes_on_while_a_verb_takes_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    loops = threading.Event()
    monkeypatch.setattr(Admin, "verify", lambda self: [] if loops.wait(PATIENCE) else None)

    async def main() -> object:
        async with AsyncMemory("memory:", embedder="none") as memory:
            slow = asyncio.create_task(memory.admin.verify())
            await asyncio.sleep(0)
            loops.set()
            return await slow

    assert asyncio.run(main()) == []


def test_verbs_do_what_the_plain_ones_do(tmp_path: Path) -> None:
    async def main() -> list[bytes]:
        async with AsyncMemory(tmp_path / "m.db", embedder="none") as memory:
            await memory.scope(user="ada").observe([f"turn {n}" for n in range(250)])
            assert (await memory.admin.stats()).items == 250
            await memory.admin.backup(tmp_path / "b.db")
            with pytest.raises(NotFound):
                await memory.admin.retry(99)
            return [line async for line in memory.admin.export()]

    lines = asyncio.run(main())
    with Memory(tmp_path / "m.db", embedder="none") as memory:
        assert lines == list(memory.admin.export())


def test_a_worker_that_is_cancelled_is_told_to_stop() -> None:
    async def main() -> bool:
        stop, began = threading.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()

        async with AsyncMemory("memory:", embedder="none") as memory:
            await memory.scope(user="ada").observe("I live in Lisbon.")
            tell: Callable[..., object] = lambda *_: loop.call_soon_threadsafe(began.set)  # noqa: E731
            worker = asyncio.create_task(memory.admin.serve(stop, progress=tell))
            await began.wait()
            worker.cancel()
            with pytest.raises(asyncio.CancelledError):
                await worker
            return stop.is_set()

    assert asyncio.run(main())


async def turns(count: int = 20) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def test_no_verb_works_in_the_thread_of_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where: set[threading.Thread] = set()
    attend = Answering.attend

    def noted(answering: Answering, request: object) -> object:
        where.add(threading.current_thread())
        return attend(answering, request)  # type: ignore[arg-type]

    monkeypatch.setattr(Answering, "attend", noted)

    async def main() -> None:
        async with AsyncMemory(tmp_path / "m.db", embedder="none") as memory:
            me = memory.scope(user="ada")
            await me.observe("I live in Lisbon.")
            await me.recall("where?")
            await (await me.branch("try")).observe("I live in Porto.")
            async with me.session("chat") as talk:
                await talk.observe("Good day.")
                await talk.context("day?")

    asyncio.run(main())
    assert where
    assert threading.main_thread() not in where


def test_a_verb_that_is_cancelled_is_carried_through_before_the_memory_closes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = HeldCommits(monkeypatch)

    async def main() -> None:
        memory = AsyncMemory(tmp_path / "m.db", embedder="none")
        said = asyncio.create_task(memory.scope(user="ada").observe(["one", "two"]))
        await held.begun()
        said.cancel()
        with pytest.raises(asyncio.CancelledError):
            await said
        closing = asyncio.create_task(memory.close())
        await turns()
        assert not closing.done()
        held.go_on.set()
        await closing

    asyncio.run(main())
    with Memory(tmp_path / "m.db", embedder="none") as memory:
        assert [v.item.text for v in memory.scope(user="ada").list()] == ["two", "one"]
        assert memory.admin.verify() == []


def test_what_a_cancelled_verb_failed_with_is_nobodys_noise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    began, go_on, noise = threading.Event(), threading.Event(), list[object]()

    def failing(store: SqliteStore, draft: Draft) -> Receipt:
        began.set()
        go_on.wait(PATIENCE)
        raise StoreError("the disk is on fire")

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, told: noise.append(told))
        async with AsyncMemory(tmp_path / "m.db", embedder="none") as memory:
            monkeypatch.setattr(SqliteStore, "commit", failing)
            said = asyncio.create_task(memory.scope(user="ada").observe("one"))
            await asyncio.to_thread(began.wait, PATIENCE)
            said.cancel()
            with pytest.raises(asyncio.CancelledError):
                await said
            go_on.set()

    asyncio.run(main())
    assert noise == []


def test_a_session_whose_opening_is_cancelled_is_free_for_others_at_once(tmp_path: Path) -> None:
    async def main() -> int:
        async with AsyncMemory(tmp_path / "m.db", embedder="none") as memory:
            for pause in range(6):
                opening = asyncio.create_task(memory.session("chat", user="ada").open())
                await turns(pause)
                if opening.cancel():
                    with pytest.raises(asyncio.CancelledError):
                        await opening
                else:  # it was quicker
                    await (await opening).close()
            async with memory.session("chat", user="ada") as talk:
                await talk.observe("Good day.")
                return len(await talk.window())

    assert asyncio.run(main()) == 1


def test_a_verb_of_a_session_waits_its_turn_and_cancelled_meanwhile_never_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> list[str]:
        async with (
            AsyncMemory(tmp_path / "m.db", embedder="none") as memory,
            memory.session("chat", user="ada") as talk,
        ):
            held = HeldCommits(monkeypatch)
            first = asyncio.create_task(talk.observe("first"))
            await held.begun()
            second, third = asyncio.create_task(talk.observe("second")), asyncio.create_task(talk.observe("third"))
            await turns()
            second.cancel()
            held.go_on.set()
            await asyncio.gather(first, third)
            return [v.item.text for v in await memory.scope(user="ada").list()]

    assert asyncio.run(main()) == ["third", "first"]


def test_a_session_left_amid_a_cancelled_verb_is_closed_when_the_verb_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        async with AsyncMemory(tmp_path / "m.db", embedder="none") as memory:
            async with memory.session("chat", user="ada") as talk:
                held = HeldCommits(monkeypatch)
                said = asyncio.create_task(talk.observe("first"))
                await held.begun()
                said.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await said
                asyncio.get_running_loop().call_soon(held.go_on.set)
            async with memory.session("chat", user="ada") as talk:
                assert "first" in (await talk.window()).text

    asyncio.run(main())


def test_a_loop_that_ends_leaves_no_thread_behind(tmp_path: Path) -> None:
    before = set(threading.enumerate())

    async def main() -> None:
        async with AsyncMemory(tmp_path / "m.db", embedder="none") as memory:
            me = memory.scope(user="ada")
            said = [asyncio.create_task(me.observe(f"number {n}")) for n in range(20)]
            await turns(2)
            for one in said:
                one.cancel()

    asyncio.run(main())
    assert {one for one in threading.enumerate() if one not in before} == set()


def test_a_memory_that_is_awaited_is_itself() -> None:
    async def talk() -> None:
        memory = await AsyncMemory("memory:")
        assert (await memory.scope(user="ada").observe("I live in Paris.")).seq == 1
        await memory.close()

    asyncio.run(talk())

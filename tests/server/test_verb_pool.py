"""The pool runs what blocks beside the loop, in so many threads, and outlives callers that leave."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest
from starlette.exceptions import HTTPException

from mnemic.faces.server.verb_pool import VerbPool
from patience import PATIENCE, eventually


def test_work_runs_beside_the_loop_and_its_value_or_error_comes_back() -> None:
    async def ask() -> None:
        pool = VerbPool(threads=2)
        assert await pool.run(threading.get_ident) != threading.get_ident()
        with pytest.raises(KeyError, match="gone"):
            await pool.run(lambda: dict[str, int]()["gone"])
        with pytest.raises(RuntimeError):  # as a coroutine, which cannot raise it
            await pool.run(lambda: next(iter(())))
        assert pool.inside == 0

    asyncio.run(ask())


def test_no_more_threads_run_than_it_has_and_what_is_over_its_queue_is_sent_away() -> None:
    here, go_on = threading.Barrier(3), threading.Event()

    def work() -> int:
        here.wait(30)
        go_on.wait(30)
        return threading.get_ident()

    async def ask() -> None:
        pool = VerbPool(threads=2, waiting=1)
        first, second = asyncio.create_task(pool.run(work)), asyncio.create_task(pool.run(work))
        await asyncio.to_thread(here.wait, 30)
        third = asyncio.create_task(pool.run(threading.get_ident))
        await asyncio.sleep(0)
        assert pool.inside == 3
        with pytest.raises(HTTPException) as refused:
            await pool.run(threading.get_ident)
        assert refused.value.status_code == 503
        go_on.set()
        assert len({await first, await second, await third}) == 2

    asyncio.run(ask())


def test_threads_start_as_calls_come_and_end_with_the_pool() -> None:
    """One that is kept by nothing but its own threads would leave sixteen of them behind each server of a program."""

    async def ask(pool: VerbPool, calls: int) -> set[threading.Thread]:
        together = threading.Barrier(calls)

        def work() -> threading.Thread:
            together.wait(30)
            return threading.current_thread()

        return set(await asyncio.gather(*(pool.run(work) for _ in range(calls))))

    pool = VerbPool(threads=3)
    alone = asyncio.run(ask(pool, 1))
    assert len(alone) == 1
    threads = asyncio.run(ask(pool, 3))
    assert len(threads) == 3
    assert alone < threads
    assert {thread.name for thread in threads} == {"mnemic-verb"}
    del pool
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()


def test_a_caller_that_leaves_neither_ends_the_work_nor_frees_its_place() -> None:
    go_on, ended = threading.Event(), threading.Event()

    def work() -> None:
        go_on.wait(30)
        ended.set()

    async def ask(pool: VerbPool) -> None:
        asked = asyncio.create_task(pool.run(work))
        await asyncio.sleep(0)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert pool.inside == 1
        go_on.set()
        await _until(lambda: pool.inside == 0)
        assert ended.is_set()

    asyncio.run(ask(VerbPool(threads=1)))


def test_calls_that_end_together_wake_the_loop_once_and_all_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    together, woken = threading.Barrier(9), list[object]()

    def work() -> int:
        together.wait(30)
        return threading.get_ident()

    async def ask() -> None:
        pool = VerbPool(threads=8)
        loop = asyncio.get_running_loop()
        tell = loop.call_soon_threadsafe

        def telling(call: Callable[..., object], *args: object) -> object:
            woken.append(call)
            return tell(call, *args)

        monkeypatch.setattr(loop, "call_soon_threadsafe", telling)
        asked = [asyncio.create_task(pool.run(work)) for _ in range(8)]
        await asyncio.sleep(0)
        together.wait(30)  # the loop stands still until all have ended
        eventually(lambda: len(pool._outcomes) == 8)
        assert len(woken) == 1
        assert len({await one for one in asked}) == 8
        assert pool.inside == 0
        assert await pool.run(lambda: "later") == "later"

    asyncio.run(ask())


def test_a_loop_that_closed_before_its_outcome_came_keeps_none_from_another() -> None:
    pool, go_on = VerbPool(threads=1), threading.Event()

    async def leave() -> None:
        asked = asyncio.create_task(pool.run(go_on.wait))
        await asyncio.sleep(0)
        asked.cancel()

    async def ask() -> str:
        async with asyncio.timeout(30):
            return await pool.run(lambda: "later")

    asyncio.run(leave())
    go_on.set()
    assert asyncio.run(ask()) == "later"
    assert pool.inside == 0


async def _until(so: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not so():
            await asyncio.sleep(0.001)


def test_a_thread_that_does_not_start_is_not_counted_on(monkeypatch: pytest.MonkeyPatch) -> None:
    start, given = threading.Thread.start, [False, True, False, True]

    def start_some(thread: threading.Thread) -> None:
        if thread.name == "mnemic-verb" and not given.pop(0):
            raise RuntimeError("can't start new thread")
        start(thread)

    async def ask() -> None:
        pool = VerbPool(threads=2)
        with pytest.raises(HTTPException) as refused:
            await pool.run(threading.get_ident)
        assert refused.value.status_code == 503
        assert pool.inside == 0
        assert await pool.run(threading.get_ident) != threading.get_ident()
        await asyncio.gather(*(pool.run(threading.get_ident) for _ in range(3)))  # one has no thread of its own
        assert pool.inside == 0

    monkeypatch.setattr(threading.Thread, "start", start_some)
    asyncio.run(ask())


def test_a_pool_that_closes_waits_for_work_whose_caller_has_left() -> None:
    go_on, begun, done = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go_on.wait(PATIENCE)
        done.set()

    async def ask() -> None:
        pool = VerbPool(threads=2)
        left = asyncio.create_task(pool.run(work))
        await asyncio.to_thread(begun.wait, PATIENCE)
        left.cancel()
        assert await asyncio.to_thread(pool.close, 0.0) == 1, "it still runs"
        closing = asyncio.create_task(asyncio.to_thread(pool.close, PATIENCE))
        go_on.set()
        assert await closing == 0
        assert done.is_set()
        assert await pool.run(threading.get_ident) != threading.get_ident()

    asyncio.run(ask())

"""The pool runs what blocks beside the loop, in so many threads, and outlives callers that leave."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest
from starlette.exceptions import HTTPException

from mnemic.faces.server.verb_pool import VerbPool


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


async def _until(so: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not so():
            await asyncio.sleep(0.001)

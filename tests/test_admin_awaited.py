"""Care of a store from an event loop: every verb of `Admin`, awaited, while the loop goes on."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from mnemic import AsyncMemory, Memory
from mnemic.admin import Admin
from mnemic.aio_admin import AsyncAdmin
from mnemic.errors import NotFound
from patience import PATIENCE

VERBS = sorted(name for name, verb in vars(Admin).items() if inspect.isfunction(verb) and not name.startswith("_"))


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_is_there_with_the_same_parameters(name: str) -> None:
    plain, awaited = getattr(Admin, name), getattr(AsyncAdmin, name)
    assert inspect.iscoroutinefunction(awaited) or inspect.isasyncgenfunction(awaited)
    assert list(inspect.signature(awaited).parameters) == list(inspect.signature(plain).parameters)
    assert inspect.getdoc(awaited)


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
            worker = asyncio.create_task(memory.admin.serve(stop, told=tell))
            await began.wait()
            worker.cancel()
            with pytest.raises(asyncio.CancelledError):
                await worker
            return stop.is_set()

    assert asyncio.run(main())

"""The front door: what it names is there, sync and async offer the same, and the five lines work."""

from __future__ import annotations

import asyncio
import inspect
from datetime import UTC, datetime
from pathlib import Path

import pytest

import mnemic
from mnemic import AsyncMemory, AsyncScopedMemory, Memory, ScopedMemory


def test_every_public_name_is_there_and_the_list_is_sorted() -> None:
    assert all(getattr(mnemic, name) is not None for name in mnemic.__all__)
    plain = [name for name in mnemic.__all__ if name != "__version__"]
    assert plain == sorted(plain, key=lambda n: (not n.isupper(), n))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Memroy'"):
        mnemic.Memroy  # noqa: B018


@pytest.mark.parametrize(("sync", "awaited"), [(Memory, AsyncMemory), (ScopedMemory, AsyncScopedMemory)])
def test_sync_and_async_have_the_same_methods_with_the_same_arguments(sync: type, awaited: type) -> None:
    def methods(cls: type) -> dict[str, list[str]]:
        public = {n: f for n, f in inspect.getmembers(cls, inspect.isfunction) if not n.startswith("_")}
        return {name: [str(p) for p in inspect.signature(f).parameters.values()] for name, f in public.items()}

    assert methods(sync) == methods(awaited)


def test_the_five_lines_work(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db") as memory:
        me = memory.scope(user="ada")
        me.observe("I moved from Paris to Lisbon in March, and I can't stand cilantro.")
        found = me.recall("which city does she live in now?")
        assert found.items[0].text.startswith("I moved from Paris")
        assert found.items[0].reasons
        assert "cilantro" in me.context("plan dinner", budget=1500).text
        assert me.as_of("2026-02-01").recall("city").items == ()


def test_the_same_five_lines_work_awaited(tmp_path: Path) -> None:
    async def main() -> None:
        async with AsyncMemory(tmp_path / "memory.db") as memory:
            me = memory.scope(user="ada")
            await asyncio.gather(*(me.observe(f"I have seen the number {i}.") for i in range(20)))
            assert await me.count() == 20
            found = await me.recall("the number 7")
            assert found.items[0].text == "I have seen the number 7."
            assert (await me.as_of(datetime(2020, 1, 1, tzinfo=UTC)).recall("number")).items == ()

    asyncio.run(main())


def test_a_cancelled_write_lands_or_fails_as_a_whole(tmp_path: Path) -> None:
    async def main() -> int:
        async with AsyncMemory(tmp_path / "memory.db") as memory:
            me = memory.scope(user="ada")
            writes = [asyncio.create_task(me.observe([f"first {i}", f"second {i}"])) for i in range(10)]
            await asyncio.sleep(0)
            for write in writes[::2]:
                write.cancel()
            await asyncio.gather(*writes, return_exceptions=True)
            return await me.count()

    assert asyncio.run(main()) % 2 == 0
    with Memory(tmp_path / "memory.db") as memory:
        assert list(memory.admin.verify()) == []

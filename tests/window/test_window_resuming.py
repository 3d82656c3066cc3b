"""A window that is opened again: pins come first, nothing is told twice, and a session is given back."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bare_environment import bare
from mnemic import AsyncMemory, Filter, Invalid, Memory, Refused, ScopedMemory
from mnemic.core.ids import ItemId
from mnemic.session import Session
from mnemic.settings import MOST_WINDOW
from mnemic.testing.generators import ManualClock, SeededEntropy
from mnemic.tiers.write_back import Writing
from patience import PATIENCE

START = datetime(2026, 1, 1, 9, tzinfo=UTC)


@pytest.fixture(params=["sqlite", "memory"])
def me(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ScopedMemory]:
    where = tmp_path / "memory.db" if request.param == "sqlite" else "memory:"
    with Memory(where, clock=ManualClock(step=1_000), entropy=SeededEntropy()) as opened:
        yield opened.scope(user="ada")


def talk(session: Session, count: int) -> list[ItemId]:
    said = (f"We talked about the weather and what to cook, number {n}." for n in range(count))
    return [session.observe(text, role="user", said=START + timedelta(minutes=n)).ids[0] for n, text in enumerate(said)]


def pins(session: Session) -> set[ItemId]:
    return {page.id for page in session.window().pages if page.pinned}


def test_a_budget_that_cannot_hold_the_pins_is_refused_and_none_is_lost(me: ScopedMemory) -> None:
    with me.session("chat", budget=1000) as s:
        kept = talk(s, 30)[15:28]
        for item in kept:
            s.pin(item)
    with pytest.raises(Refused, match=r"the pins of session 'chat' need a window of at least (\d+) tokens") as refused:
        me.session("chat", budget=256)
    least = int(str(refused.value).split("at least ")[1].split()[0])
    assert 256 < least <= 1000
    with pytest.raises(Refused):
        me.session("chat", budget=least - 1)
    with me.session("chat", budget=least) as s:
        assert pins(s) == set(kept)
    with me.session("chat", budget=1000) as s:
        assert pins(s) == set(kept)


def test_what_a_pin_is_tied_to_counts_with_it(me: ScopedMemory) -> None:
    with me.session("chat", budget=1000) as s:
        call = s.observe("calling", role="assistant", slots={"tool_calls": [{"id": "1"}]}).ids[0]
        s.observe("sunny and warm, " * 40, role="tool")
        s.observe("windy and cold, " * 40, role="tool")
        s.pin(call)
    with pytest.raises(Refused, match="the pins"):
        me.session("chat", budget=256)
    with me.session("chat") as s:
        assert pins(s) == {call}


def test_what_is_told_in_brief_gives_way_to_pins(me: ScopedMemory) -> None:
    with me.session("chat", budget=300, writing=Writing(promote=4)) as s:
        kept = talk(s, 3)
        for item in kept:
            s.pin(item)
        for n in range(60):
            said = START + timedelta(hours=n)
            s.observe(f"The harbour of town {n} is {n} miles off, and the ferry goes at {n}.", role="user", said=said)
        assert pins(s) == set(kept)
    with me.session("chat") as s:
        assert pins(s) == set(kept)


def test_a_turn_that_came_back_is_not_told_in_brief_too(me: ScopedMemory) -> None:
    with me.session("chat", budget=1000) as s:
        turn = s.observe("The spare key lies under the blue flowerpot.", role="user", said=START).ids[0]
        s.page_out(turn)
    with me.session("chat") as s:
        assert s.window().text.count("blue flowerpot") == 1
        assert s.page_in(turn).text.count("blue flowerpot") == 1
        assert s.window().sections["segments"] == 0
    with me.session("chat") as s:
        assert s.window().text.count("blue flowerpot") == 1
        assert s.page_out(turn).text.count("blue flowerpot") == 1
        assert s.context("blue flowerpot").text.count("blue flowerpot") == 1


@pytest.mark.parametrize("budget", [10**12, 10**20])
def test_a_budget_beyond_all_windows_is_refused(me: ScopedMemory, budget: int) -> None:
    with pytest.raises(Invalid, match="budget") as refused:
        me.session("chat", budget=budget)
    assert f"{MOST_WINDOW:,}" in str(refused.value)


def test_closing_the_memory_gives_its_sessions_back(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db") as memory:
        s = memory.session("chat", user="ada")
        s.observe("We leave on Friday.", role="user")
        s.page_out(s.window().pages[0].id)
    with Memory(tmp_path / "m.db") as memory:
        with memory.session("chat", user="ada") as s:
            assert "We leave on Friday." in s.window().text
        assert memory.scope(user="ada").count(where=Filter(tags=("segment",))) == 1


@pytest.mark.parametrize("kind", ["plain", "awaited"])
def test_a_program_that_ends_gives_its_sessions_back(tmp_path: Path, kind: str) -> None:
    plain = """
from mnemic import Memory
def main():
    Memory(PATH).session("chat", user="ada").observe("We leave on Friday.", role="user")
main()
"""
    awaited = """
import asyncio
from mnemic import AsyncMemory
async def main():
    s = await AsyncMemory(PATH).session("chat", user="ada")
    await s.observe("We leave on Friday.", role="user")
asyncio.run(main())
"""
    path = str(tmp_path / "m.db")
    program = {"plain": plain, "awaited": awaited}[kind].replace("PATH", repr(path))
    subprocess.run([sys.executable, "-c", program], check=True, timeout=PATIENCE, env=bare(MNEMIC_EMBEDDER="none"))
    with Memory(path) as memory, memory.session("chat", user="ada") as s:
        assert len(s.window()) == 1


def test_a_session_can_be_awaited_open() -> None:
    async def main() -> int:
        async with AsyncMemory("memory:") as memory:
            s = await memory.session("chat", user="ada")
            await s.observe("We leave on Friday.", role="user")
            found = len(await s.window())
            await s.close()
            return found

    assert asyncio.run(main()) == 1

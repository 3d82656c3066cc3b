"""A session: turns are durable and come in, what is asked for is paged in, and a window is found as it was left."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemic import Conflict, Filter, Invalid, Kind, Memory, NotFound, Refused, ScopedMemory
from mnemic.aio import AsyncMemory
from mnemic.core.cut import count_tokens
from mnemic.core.ids import ItemId
from mnemic.session import Session
from mnemic.testing.generators import ManualClock, SeededEntropy
from mnemic.tiers.pager import Pressure
from mnemic.tiers.writing import Writing
from mnemic.window.paging import Reach

START = datetime(2026, 1, 1, 9, tzinfo=UTC)
FILLER = "We talked about the weather, the garden and what to cook this week, number {}."


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(step=1_000)


@pytest.fixture(params=["sqlite", "memory"])
def memory(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> Iterator[Memory]:
    where = tmp_path / "memory.db" if request.param == "sqlite" else "memory:"
    with Memory(where, clock=clock, entropy=SeededEntropy()) as opened:
        yield opened
        assert list(opened.admin.verify()) == []


@pytest.fixture
def me(memory: Memory) -> ScopedMemory:
    return memory.scope(user="ada")


def talk(session: Session, count: int, *, first: int = 0) -> list[ItemId]:
    """So many turns about nothing, a minute apart."""
    return [
        session.observe(FILLER.format(n), role="user", said=START + timedelta(minutes=n)).ids[0]
        for n in range(first, first + count)
    ]


def here(session: Session) -> list[ItemId]:
    return [page.id for page in session.window.pages]


def test_turns_come_into_the_window_in_order_and_are_recallable_at_once(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=1000) as s:
        said = talk(s, 5)
        assert here(s) == said
        assert FILLER.format(3) in s.window.text
        assert s.pressure is Pressure.NONE
    assert me.shelf(session="chat-1").count() == 5


def test_what_no_longer_fits_leaves_and_the_budget_is_never_exceeded(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=600) as s:
        said = talk(s, 60)
        window = s.window
        assert count_tokens(window.text) <= window.tokens <= 600
        assert sum(window.sections.values()) == 600
        assert here(s)[-1] == said[-1]
        assert s.counters.admitted == 60
        assert s.counters.evictions == 60 - len(window)


def test_every_turn_that_left_stays_addressable(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=600) as s:
        said = talk(s, 40)
        for item in said:
            assert item in [page.id for page in s.page_in(item).pages]
        assert s.counters.references == s.counters.hits + s.counters.faults == 40


def test_a_question_pages_in_what_bears_on_it_and_uses_what_is_there(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=600) as s:
        wanted = s.observe("The spare key lies under the blue flowerpot.", role="user", said=START).ids[0]
        talk(s, 60, first=1)
        assert wanted not in here(s)
        found = s.context("Where is the spare key?")
        assert wanted in here(s)
        assert "blue flowerpot" in found.text
        assert found.items[0].id == wanted
        assert s.counters.faults >= 1
        faults = s.counters.faults
        s.context("Where is the spare key?")
        assert s.counters.faults == faults
        assert found.tokens <= 600


def test_what_other_sessions_said_is_paged_in_too(me: ScopedMemory) -> None:
    other = me.shelf(session="old").observe("Ben's sister is called Marguerite.").ids[0]
    with me.session("chat-1", budget=600) as s:
        s.context("What is Ben's sister called?")
        assert other in here(s)


def test_what_was_there_stays_where_it_was(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=2000) as s:
        talk(s, 10)
        before = s.window.text
        talk(s, 3, first=10)
        assert s.window.text.startswith(before.removesuffix("</memory>"))
        assert s.messages()[:10] == [{"role": "user", "content": FILLER.format(n)} for n in range(10)]


def test_messages_begin_as_they_began(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=2000) as s:
        talk(s, 4)
        before = s.messages(system="Be brief.")
        talk(s, 2, first=4)
        after = s.messages(system="Be brief.")
        assert after[: len(before)] == before
        assert before[0] == {"role": "system", "content": "Be brief."}
        assert s.counters.reuse > 0


def test_a_tool_s_result_is_never_parted_from_its_call(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=600) as s:
        for n in range(30):
            call = s.observe(f"call number {n}", role="assistant", slots={"tool_calls": [{"id": str(n)}]}).ids[0]
            result = s.observe(f"result number {n} of the call", role="tool", slots={"tool_call_id": str(n)}).ids[0]
            pages = here(s)
            assert pages[-2:] == [call, result]
            assert len(pages) % 2 == 0
        told = s.messages()
        assert told[-1] == {"role": "tool", "content": "result number 29 of the call", "tool_call_id": "29"}
        assert told[-2]["tool_calls"] == [{"id": "29"}]


def test_what_leaves_becomes_segments_chained_and_told_in_brief(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=600, writing=Writing(promote=8)) as s:
        said = talk(s, 60)
        brief = s.window.sections["segments"]
    made = sorted(me.list(where=Filter(tags=("segment",)), limit=100), key=lambda v: v.item.slots["segment"])  # type: ignore[arg-type,return-value]
    assert brief > 0
    assert {v.item.kind for v in made} == {Kind.EPISODE}
    covered = [source for v in made for source in v.item.source]
    assert covered == said[: len(covered)]
    assert [v.item.slots["previous"] for v in made] == [None, *(v.item.id for v in made[:-1])]


def test_a_pinned_page_stays_whatever_comes(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=600) as s:
        first = talk(s, 1)[0]
        s.pin(first)
        talk(s, 60, first=1)
        assert first in here(s)
        with pytest.raises(Refused):
            s.page_out(first)
        s.unpin(first)
        assert first not in [page.id for page in s.page_out(first).pages]
        with pytest.raises(NotFound):
            s.pin(first)


def test_what_is_too_long_for_a_window_is_shown_in_part_and_says_so(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=600) as s:
        item = s.observe("A very long story goes on and on. " * 200, role="user").ids[0]
        text = s.window.text
        assert f"{item} holds the rest" in text
        assert s.window.tokens <= 600
        assert len(me.get(item).item.text) > 6000


def test_chinese_turns_come_in_leave_and_come_back(me: ScopedMemory) -> None:
    with me.session("聊天", budget=500) as s:
        key = s.observe("备用钥匙放在蓝色花盆下面。", role="user", said=START).ids[0]
        for n in range(40):
            s.observe(f"今天天气很好，我们去公园散步，第{n}次。", role="user", said=START + timedelta(minutes=n + 1))
        assert key not in here(s)
        assert "花盆" in s.context("备用钥匙在哪里？").text
        assert key in here(s)


@pytest.mark.parametrize("how", ["erase", "forget"])
def test_what_is_taken_out_of_memory_leaves_the_window_at_once(me: ScopedMemory, how: str) -> None:
    with me.session("chat-1", budget=1000) as s:
        said = talk(s, 4)
        s.pin(said[1])
        me.erase(said[1]) if how == "erase" else me.forget(said[1])
        assert here(s) == [said[0], *said[2:]]
        assert FILLER.format(1) not in s.window.text
        assert FILLER.format(1) not in str(s.messages())


def test_what_was_superseded_leaves_the_window(me: ScopedMemory) -> None:
    fact = me.write("Ada lives in Paris").id
    with me.session("chat-1", budget=1000) as s:
        s.page_in(fact)
        me.supersede(fact, "Ada lives in Lisbon")
        assert fact not in here(s)
        assert "Paris" not in s.window.text


def test_an_erased_turn_takes_its_segment_along(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=600, writing=Writing(promote=8)) as s:
        said = talk(s, 60)
        segment = next(v.item for v in me.list(where=Filter(tags=("segment",))) if said[0] in v.item.source)
        me.erase(said[0])
        assert segment.id not in s.window.text


def test_a_window_is_taken_up_as_it_was_left(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=600) as s:
        said = talk(s, 40)
        s.pin(said[-1])
        s.context("what to cook")
    with me.session("chat-1", budget=600) as left:
        pages, text = left.window.pages, left.window.text
    with me.session("chat-1", budget=600) as s:
        assert [(page.id, page.pinned, page.uses) for page in s.window.pages] == [
            (p.id, p.pinned, p.uses) for p in pages
        ]
        assert s.window.text.partition("<memory ")[2] == text.partition("<memory ")[2]
        talk(s, 1, first=40)
        assert s.window.pages[-1].position == 40


def test_a_window_is_made_of_the_last_turns_where_none_was_written(me: ScopedMemory) -> None:
    shelf = me.shelf(session="chat-1")
    said = [shelf.observe(FILLER.format(n), role="user", said=START + timedelta(minutes=n)).ids[0] for n in range(60)]
    with me.session("chat-1", budget=600) as s:
        pages = here(s)
        assert pages == said[-len(pages) :]
        assert s.pressure is Pressure.NONE


def test_after_a_crash_no_turn_is_lost_and_the_window_is_made_again(tmp_path: Path) -> None:
    code = (
        "import os; from mnemic import Memory\n"
        f"s = Memory({str(tmp_path / 'm.db')!r}).session('chat-1', user='ada', budget=600)\n"
        "for n in range(50): s.observe(f'turn number {n} of a talk that ends abruptly', role='user')\n"
        "print(*[page.id for page in s.window.pages], flush=True); os._exit(9)\n"
    )
    env = {**os.environ, "MNEMIC_EMBEDDER": "none"}
    died = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)
    assert died.returncode == 9, died.stderr
    clock = ManualClock(int(datetime.now(UTC).timestamp() * 1e6) + 90_000_000)
    with Memory(tmp_path / "m.db", clock=clock) as memory:
        assert memory.scope(user="ada").shelf(session="chat-1").count(where=Filter(kinds=(Kind.TURN,))) == 50
        with memory.session("chat-1", user="ada", budget=600) as s:
            pages = here(s)
            assert pages[-10:] == died.stdout.split()[-10:]
            assert len(set(pages)) == len(pages)


def test_another_process_is_told_that_the_session_is_open(tmp_path: Path, clock: ManualClock) -> None:
    with Memory(tmp_path / "m.db", clock=clock) as one, Memory(tmp_path / "m.db", clock=clock) as two:
        first = one.session("chat-1", user="ada", budget=600)
        talk(first, 3)
        with pytest.raises(Conflict, match="open in another process until"):
            two.session("chat-1", user="ada", budget=600)
        clock.tick(61_000_000)
        second = two.session("chat-1", user="ada", budget=600)
        assert len(here(second)) == 3
        with pytest.raises(Conflict):
            first.observe("too late")
        assert one.scope(user="ada").shelf(session="chat-1").count() == 3
        second.close()
        talk(first, 1, first=3)


def test_a_turn_costs_one_commit_and_its_pages_none(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=2000) as s:
        talk(s, 40)
        assert s.counters.rows >= 32
        assert len(me.log(limit=100)) == 40


def test_written_through_every_change_is_in_the_store_at_once(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=2000, writing=Writing(through=True)) as s:
        said = talk(s, 4)
        assert [page.item for page in me.session_pages("chat-1")] == said
    assert dict(me.sessions())["chat-1"].turns == 4


def test_a_key_that_landed_before_brings_no_second_page(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=1000) as s:
        first = s.observe("once only", key="k")
        again = s.observe("once only", key="k")
        assert again.ids == first.ids
        assert here(s) == list(first.ids)


def test_neighbours_are_fetched_ahead_into_free_room_and_counted_apart(me: ScopedMemory) -> None:
    shelf = me.shelf(session="old")
    said = [
        shelf.observe(text, role="user", said=START + timedelta(minutes=n)).ids[0]
        for n, text in enumerate(("Guess what happened.", "The heron came back to the pond.", "At dawn, all alone."))
    ]
    with me.session("chat-1", budget=2000, reach=Reach(k=1, ahead=1)) as s:
        s.context("What came back to the pond?")
        assert set(here(s)) == set(said)
        assert (s.counters.prefetched, s.counters.faults) == (2, 1)


def test_a_session_has_a_name_a_window_and_a_present(me: ScopedMemory) -> None:
    for wrong, field in (({"name": None}, "session"), ({"name": "x", "budget": 10}, "budget")):
        with pytest.raises(Invalid, match=field):
            me.session(**wrong)
    with pytest.raises(Invalid):
        me.session("x", policy="no such")
    with pytest.raises(Refused):
        me.as_of(START).session("x")
    with me.session("x") as s:
        pass
    with pytest.raises(Refused, match="not open"):
        s.observe("closed")


def test_a_session_that_nothing_was_said_in_leaves_no_trace(me: ScopedMemory) -> None:
    me.write("Ada likes tea")
    with me.session("chat-1") as s:
        s.context("tea")
    assert list(me.sessions()) == []


def test_it_can_be_awaited(tmp_path: Path) -> None:
    async def talked() -> list[str]:
        async with (
            AsyncMemory(tmp_path / "m.db") as memory,
            memory.session("chat-1", user="ada", budget=600) as s,
        ):
            await s.observe("The heron came back.", role="user")
            found = await s.context("heron")
            told = await s.messages()
            return [found.text, str(told[-1]["content"]), str(len(await s.window()))]

    text, content, pages = asyncio.run(talked())
    assert "heron" in text
    assert (content, pages) == ("The heron came back.", "1")


def test_what_bears_best_on_a_question_comes_in_though_much_else_that_does_is_here(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=600) as s:
        wanted = s.observe("The garden gate number is 4711.", role="user", said=START).ids[0]
        talk(s, 60, first=1)
        assert wanted not in here(s)
        s.context("What is the number of the garden gate?")
        assert wanted in here(s)
        assert len(s._flows._lines) == len(here(s))

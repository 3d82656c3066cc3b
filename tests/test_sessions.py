"""A session: turns are durable and come in, what is asked for is paged in, and a window is found as it was left."""

from __future__ import annotations

import asyncio
import inspect
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from held_commits import HeldCommits
from mnemic import Conflict, Filter, Invalid, Kind, Memory, NotFound, Refused, ScopedMemory, Settings
from mnemic.aio import AsyncMemory, AsyncScopedMemory, AsyncSession
from mnemic.core.clock import micros
from mnemic.core.ids import ItemId
from mnemic.core.items import Channel
from mnemic.core.tokens import count_tokens
from mnemic.registry import POLICIES
from mnemic.session import Session
from mnemic.testing.generators import ManualClock, SeededEntropy
from mnemic.tiers.pager import Pager, Pressure
from mnemic.tiers.policies.lru import Lru
from mnemic.tiers.write_back import Writing
from mnemic.window.session_flows import SessionFlows
from mnemic.window.terms import Reach

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
    return [page.id for page in session.window().pages]


def test_turns_come_into_the_window_in_order_and_are_recallable_at_once(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=1000) as s:
        said = talk(s, 5)
        assert here(s) == said
        assert FILLER.format(3) in s.window().text
        assert s.pressure is Pressure.NONE
    assert me.shelf(session="chat-1").count() == 5


def test_what_no_longer_fits_leaves_and_the_budget_is_never_exceeded(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=600) as s:
        said = talk(s, 60)
        window = s.window()
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
        before = s.window().text
        talk(s, 3, first=10)
        assert s.window().text.startswith(before.removesuffix("</memory>"))
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
        brief = s.window().sections["segments"]
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
        text = s.window().text
        assert f"{item} holds the rest" in text
        assert s.window().tokens <= 600
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
        assert FILLER.format(1) not in s.window().text
        assert FILLER.format(1) not in str(s.messages())


def test_what_was_superseded_leaves_the_window(me: ScopedMemory) -> None:
    fact = me.write("Ada lives in Paris").id
    with me.session("chat-1", budget=1000) as s:
        s.page_in(fact)
        me.supersede(fact, "Ada lives in Lisbon")
        assert fact not in here(s)
        assert "Paris" not in s.window().text


def test_an_erased_turn_takes_its_segment_along(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=600, writing=Writing(promote=8)) as s:
        said = talk(s, 60)
        segment = next(v.item for v in me.list(where=Filter(tags=("segment",))) if said[0] in v.item.source)
        me.erase(said[0])
        assert segment.id not in s.window().text


def test_a_window_is_taken_up_as_it_was_left(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=600) as s:
        said = talk(s, 40)
        s.pin(said[-1])
        s.context("what to cook")
    with me.session("chat-1", budget=600) as left:
        pages, text = left.window().pages, left.window().text
    with me.session("chat-1", budget=600) as s:
        assert [(page.id, page.pinned, page.uses) for page in s.window().pages] == [
            (p.id, p.pinned, p.uses) for p in pages
        ]
        assert s.window().text.partition("<memory ")[2] == text.partition("<memory ")[2]
        talk(s, 1, first=40)
        assert s.window().pages[-1].position == 40


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
        "print(*[page.id for page in s.window().pages], flush=True); os._exit(9)\n"
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
        with pytest.raises(Conflict, match="open already, here or in another process, until"):
            two.session("chat-1", user="ada", budget=600)
        clock.tick(61_000_000)
        second = two.session("chat-1", user="ada", budget=600)
        assert len(here(second)) == 3
        with pytest.raises(Conflict):
            first.observe("too late")
        assert one.scope(user="ada").shelf(session="chat-1").count() == 3
        second.close()
        with pytest.raises(Conflict, match="since"):
            first.observe("still too late")
        first.close()


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
        assert len(s._flows.contents.lines) == len(here(s))


def briefed(me: ScopedMemory, session: Session) -> tuple[str, ItemId]:
    """Talk until a segment is told in brief; a word that only the turn it quotes holds, and that turn."""
    said = [
        session.observe(
            f"The secret number {n} is xylophone{n}q and the zebra{n} lives in town{n} near the river.",
            role="user",
            said=START + timedelta(minutes=31 * n),
        ).ids[0]
        for n in range(80)
    ]
    found = re.search(r"xylophone(\d+)q", session._flows.contents.brief[-1])
    assert found is not None
    return found.group(), said[int(found.group(1))]


def test_a_forgotten_turn_takes_the_brief_that_quotes_it_out_of_the_window(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=1500, writing=Writing(promote=8)) as s:
        word, turn = briefed(me, s)
        assert word in s.window().text
        me.forget(turn)
        assert word not in s.window().text
        assert word not in str(s.messages())
        assert word not in s.context("what else?").text


def test_a_brief_is_not_told_again_of_what_was_forgotten_while_the_session_was_closed(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=1500, writing=Writing(promote=8)) as s:
        word, turn = briefed(me, s)
        segment = next(v.item for v in me.list(where=Filter(tags=("segment",)), limit=99) if turn in v.item.source)
        s.page_in(segment.id)
    me.forget(turn)
    with me.session("chat-1", budget=1500) as s:
        assert word not in s.window().text
        assert segment.id not in here(s)
        with pytest.raises(Refused, match="quotes"):
            s.page_in(segment.id)


def test_a_segment_is_as_trusted_as_the_least_trusted_of_its_turns(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=600, writing=Writing(promote=8)) as s:
        for n in range(40):
            s.observe(FILLER.format(n), said=START, channel=Channel.TOOL if n == 5 else Channel.USER)
        told = s._flows.contents.promotion
    made = me.list(where=Filter(tags=("segment",)), limit=99)
    web = next(v.item for v in me.list(limit=99) if v.item.channel is Channel.TOOL and v.item.kind is Kind.TURN)
    assert told.number == len(made)
    assert {web.id in v.item.source for v in made if v.item.channel is Channel.TOOL} == {True}
    assert [v.item.channel for v in made if web.id in v.item.source] == [Channel.TOOL]


def test_what_another_process_said_after_a_lapsed_lease_is_in_the_window_or_a_segment(
    me: ScopedMemory, clock: ManualClock
) -> None:
    first = me.session("chat-1", budget=600)
    talk(first, 20)
    clock.tick(61_000_000)
    theirs = talk(me.session("chat-1", budget=600), 30, first=100)
    clock.tick(61_000_000)
    with pytest.raises(Conflict):
        talk(first, 1, first=200)
    first.close()
    with me.session("chat-1", budget=600) as s:
        resident = here(s)
    told = {turn for v in me.list(where=Filter(tags=("segment",)), limit=99) for turn in v.item.source}
    assert set(theirs) <= told | set(resident)


def whole(session: Session) -> bool:
    """Whether every tool's result stands right after a call or another result, and each call has one."""
    roles = [message["role"] for message in session.messages()]
    return all(i and roles[i - 1] in ("assistant", "tool") for i, role in enumerate(roles) if role == "tool")


def called(session: Session, n: int) -> tuple[ItemId, ItemId]:
    call = session.observe(f"calling tool number {n} for the garden", role="assistant").ids[0]
    return call, session.observe(f"the result number {n} was {n * 7}", role="tool").ids[0]


def test_a_result_that_comes_after_a_question_stands_with_its_call_all_the_same(me: ScopedMemory) -> None:
    me.shelf(session="old").observe("Ben's sister is called Marguerite.")
    with me.session("chat-1", budget=900) as s:
        talk(s, 3)
        call = s.observe("calling weather", role="assistant", slots={"tool_calls": [{"id": "1"}]}).ids[0]
        s.context("What is Ben's sister called?")
        assert s.messages()[-2]["tool_calls"] == [{"id": "1"}]
        result = s.observe("sunny", role="tool", slots={"tool_call_id": "1"}).ids[0]
        roles = [message["role"] for message in s.messages()]
        assert roles[-3:] == ["assistant", "tool", "system"]
        s.page_out(call)
        assert result not in here(s)
        s.page_in(result)
        assert call in here(s)
        assert whole(s)


def test_a_result_brings_its_call_back_if_that_has_left_meanwhile(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=900) as s:
        talk(s, 3)
        call = s.observe("calling weather", role="assistant", slots={"tool_calls": [{"id": "1"}]}).ids[0]
        s.page_out(call)
        result = s.observe("sunny", role="tool", slots={"tool_call_id": "1"}).ids[0]
        assert here(s)[-2:] == [call, result]
        assert [message["role"] for message in s.messages()][-2:] == ["assistant", "tool"]


def test_calls_and_results_stay_together_over_closing_and_opening(me: ScopedMemory) -> None:
    pairs: list[tuple[ItemId, ItemId]] = []
    for opening in range(8):
        with me.session("chat-1", budget=700 + opening % 3 * 200) as s:
            pages = set(here(s))
            assert all((call in pages) == (result in pages) for call, result in pairs)
            assert whole(s)
            for n in range(opening * 5, opening * 5 + 5):
                talk(s, 1, first=n)
                pairs.append(called(s, n))
            pages = set(here(s))
            assert all((call in pages) == (result in pages) for call, result in pairs)
            s.page_out(pairs[-1][1])
            assert pairs[-1][0] not in here(s)


def test_a_window_made_anew_is_cut_where_no_call_is_parted_from_its_result(
    me: ScopedMemory, clock: ManualClock
) -> None:
    shelf = me.shelf(session="chat-1")
    for n in range(12):
        shelf.observe(FILLER.format(n), role="user", said=START + timedelta(minutes=3 * n))
        shelf.observe(f"calling tool {n} " + "w " * 10, role="assistant", said=START + timedelta(minutes=3 * n + 1))
        shelf.observe(f"result {n} " + "v " * 10, role="tool", said=START + timedelta(minutes=3 * n + 2))
    for budget in range(300, 500, 20):
        with me.session("chat-1", budget=budget) as s:
            assert s.window().pages[0].role != "tool"
            assert whole(s)


def test_pins_leave_room_for_what_is_always_on(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=1000) as s:
        talk(s, 30)
        pages = here(s)
        for item in pages[:12]:
            s.pin(item)
        for item in pages[12:]:
            with suppress(Refused):
                s.pin(item)
        assert 12 <= sum(page.pinned for page in s.window().pages) < len(pages)
        for n in range(12):
            me.observe(f"Always answer in the style number {n} of a very polite and careful butler.", role="user")
        assert s.context("hello?").tokens <= 1000
        assert s.window().tokens <= 1000


def test_what_grows_in_the_window_drives_out_and_gives_up_pins_only_if_it_must_and_says_so(me: ScopedMemory) -> None:
    fact = me.write("Ada likes tea").id
    with me.session("chat-1", budget=1000) as s:
        s.page_in(fact)
        talk(s, 30)
        s.page_in(fact)
        me.revise(fact, text="Ada likes tea and " + "very much honey in it, also " * 40)
        assert s.window().tokens <= 1000
        s.unpin(fact)
        me.revise(fact, text="Ada likes tea")
        talk(s, 30, first=30)
        s.page_in(fact)
        s.pin(fact)
        while True:
            try:
                s.pin(next(page.id for page in s.window().pages if not page.pinned))
            except Refused:
                break
        for n in range(12):
            me.observe(f"Always answer in the style number {n} of a very polite and careful butler.", role="user")
        s.context("tea")
        assert not s.window().notes[1:]
        me.revise(fact, text="Ada likes tea and " + "very much honey in it, also " * 40)
        window = s.window()
        assert count_tokens(window.text) <= window.tokens <= 1000
        assert window.notes
        assert window.notes[0] in s.context("tea").notes


@pytest.mark.parametrize("seed", range(4))
def test_the_budget_and_the_groups_hold_over_any_acts(me: ScopedMemory, seed: int) -> None:
    draw = random.Random(seed)
    facts = [me.write(f"Fact number {n} about tea").id for n in range(3)]
    session, pairs = me.session("chat-1", budget=700), list[tuple[ItemId, ItemId]]()
    for n in range(120):
        act = draw.choice(["talk", "talk", "call", "ask", "pin", "unpin", "in", "out", "revise", "always", "reopen"])
        resident = here(session)
        try:
            match act:
                case "talk":
                    talk(session, 1, first=n)
                case "call":
                    pairs.append(called(session, n))
                case "ask":
                    session.context(f"the garden, number {draw.randrange(n + 1)}")
                case "pin" | "unpin" | "out" if resident:
                    verb = {"pin": session.pin, "unpin": session.unpin, "out": session.page_out}[act]
                    verb(draw.choice(resident))
                case "in":
                    session.page_in(draw.choice(facts))
                case "revise":
                    me.revise(draw.choice(facts), text=f"Fact {n} about tea. " + "It goes on. " * draw.randrange(60))
                case "always":
                    me.observe(f"Always answer in the style number {n} of a polite and careful butler.", role="user")
                case "reopen":
                    session.close()
                    try:
                        session = me.session("chat-1", budget=draw.choice([300, 500, 700, 1200]))
                    except Refused:  # its pins need more
                        session = me.session("chat-1")
        except Refused:
            pass
        window = session.window()
        assert count_tokens(window.text) <= window.tokens <= session.budget, act
        assert whole(session), act
    session.close()


def test_a_session_that_was_taken_over_can_be_closed_and_is_counted_no_more(
    memory: Memory, me: ScopedMemory, clock: ManualClock
) -> None:
    def budgets() -> float:
        return memory._opened.meters.measured().gauges.get("windows.budget", 0)

    first = me.session("chat-1", budget=600)
    talk(first, 3)
    clock.tick(61_000_000)
    second = me.session("chat-1", budget=700)
    with pytest.raises(Conflict):
        me.session("chat-1", budget=800)
    assert budgets() == 1300
    first.close()
    first.close()
    assert budgets() == 700
    second.close()
    assert budgets() == 0


def test_a_turn_whose_awaiting_was_cancelled_is_in_the_window_as_in_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def talked() -> tuple[int, str]:
        async with AsyncMemory(tmp_path / "m.db") as memory, memory.session("chat-1", user="ada", budget=600) as s:
            held = HeldCommits(monkeypatch)
            said = asyncio.create_task(s.observe("the second words"))
            await held.begun()
            said.cancel()
            with pytest.raises(asyncio.CancelledError):
                await said
            held.go_on.set()
            text = (await s.window()).text
            return len(await memory.scope(user="ada").list()), text

    stored, text = asyncio.run(talked())
    assert stored == 1
    assert "the second words" in text


def test_what_a_smaller_window_has_no_room_for_waits_for_its_segment(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=4000) as s:
        said = talk(s, 80)
    with me.session("chat-1", budget=600) as s:
        resident = here(s)
    told = {turn for v in me.list(where=Filter(tags=("segment",)), limit=99) for turn in v.item.source}
    assert set(said) == told | set(resident)


def test_an_old_turn_that_was_paged_in_is_told_as_recalled_and_not_as_just_said(me: ScopedMemory) -> None:
    with me.session("chat-1", budget=600) as s:
        said = talk(s, 60)
        s.page_in(said[3])
        talk(s, 1, first=60)
        told = s.messages()
        assert told[-2]["role"] == "system"
        assert "recalled" in str(told[-2]["content"])
        assert FILLER.format(3) in str(told[-2]["content"])
    with me.session("chat-1", budget=600) as s:
        assert s.messages()[-2:] == told[-2:]


def test_what_went_wrong_in_the_body_is_raised_though_closing_fails_too(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "m.db")
    session = memory.session("chat-1", user="ada", budget=600)
    talk(session, 3)

    def failing() -> None:
        with session:
            memory._opened.store.close()
            raise ValueError("of the body")

    with pytest.raises(ValueError, match="of the body") as raised:
        failing()
    assert "could not be closed" in raised.value.__notes__[0]
    memory.close()


def test_a_question_does_not_drive_out_what_was_just_said(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", settings=Settings(background=False), embedder="none") as memory:
        me = memory.scope(user="ada")
        for name in ("spring", "summer"):
            with me.session(name, budget=4_000) as old:
                for n in range(40):
                    old.observe(f"{name} {n}: the tomatoes on the balcony got {n} new leaves, the basil {n + 1}.")
        for policy in POLICIES:
            with me.session(f"now {policy}", budget=700, policy=policy) as talk:
                for n in range(12):
                    question = f"how many new leaves have the tomatoes on the balcony, week {n}?"
                    ids = [talk.observe(f"It is week {n}.").id, talk.observe(question, role="user").id]
                    talk.context(question)
                    resident = {page.id for page in talk.window().pages}
                    assert resident.issuperset(ids), (policy, n)
                    assert talk.window().tokens <= 700


@pytest.mark.parametrize("wrong", [{"policy": 3}, {"marks": "x"}, {"writing": 1}, {"reach": "x"}, {"budget": 0}])
def test_what_no_session_can_be_opened_with_is_refused_at_the_door(wrong: dict[str, Any]) -> None:
    with Memory("memory:", embedder="none") as memory, pytest.raises(Invalid, match=next(iter(wrong))):
        memory.session(user="ada", session="chat", **wrong)


def test_a_session_keeps_its_budget_and_its_policy_unless_others_are_given(memory: Memory, me: ScopedMemory) -> None:
    with me.session("chat-1", budget=600, policy="arc") as s:
        talk(s, 20)
    with me.session("chat-1") as s:
        assert (s.budget, s.policy) == (600, "arc")
    with me.session("chat-1", budget=900, policy="lfu") as s:
        assert (s.budget, s.policy) == (900, "lfu")
    with me.session("chat-1") as s:
        assert (s.budget, s.policy) == (900, "lfu")
        assert s.window().tokens <= 900
    with me.session("chat-2") as s:
        assert (s.budget, s.policy) == (memory.settings.window, memory.settings.policy)


def test_a_policy_of_the_caller_s_own_is_not_looked_for_when_it_is_left_out(memory: Memory, me: ScopedMemory) -> None:
    class Own(Lru):
        name = "of my own"

    with me.session("chat-1", policy=Own()) as s:
        talk(s, 3)
    with me.session("chat-1") as s:
        assert s.policy == memory.settings.policy


@pytest.mark.parametrize("verb", ["page_in", "page_out", "pin", "unpin"])
def test_what_is_no_id_is_invalid_and_what_is_not_there_is_not_found(me: ScopedMemory, verb: str) -> None:
    gone = me.observe("soon forgotten").id
    me.forget(gone)
    with me.session("chat-1", budget=600) as s:
        talk(s, 1)
        with pytest.raises(Invalid, match="'nope' is not an item id"):
            getattr(s, verb)("nope")
        with pytest.raises(NotFound):
            getattr(s, verb)(gone)


def test_what_a_session_takes_is_written_in_its_signature() -> None:
    fields = {"budget", "policy", "marks", "writing", "reach"}
    for front in (Memory, ScopedMemory, AsyncMemory, AsyncScopedMemory):
        taken = inspect.signature(front.session).parameters
        assert fields <= set(taken), front
        assert all(one.kind is not one.VAR_KEYWORD for one in taken.values()), front


def test_a_session_is_the_same_awaited() -> None:
    plain = {name: one for name, one in inspect.getmembers(Session) if not name.startswith("_")}
    for name, one in plain.items():
        other = getattr(AsyncSession, name)
        assert isinstance(other, property) is isinstance(one, property), name
        if not isinstance(one, property):
            assert inspect.iscoroutinefunction(other), name
            assert inspect.signature(other) == inspect.signature(one), name


def test_what_finds_no_room_among_what_is_always_on_is_told(me: ScopedMemory) -> None:
    for n in range(12):
        me.observe(f"Always answer in the style number {n} of a very polite and careful butler.", role="user")
    with me.session("chat-1", budget=300) as s:
        found = s.context("hello?")
        left_out = [note for note in s.window().notes if "of what is always on" in note]
        assert len(left_out) == 1
        assert left_out[0] in found.notes
        assert found.notes[-1] == f"in the window already: {s.counters.hits}, paged in: {s.counters.faults}"


def test_a_session_that_an_interrupt_lost_is_had_again_at_once(
    me: ScopedMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    with me.session("chat-1") as s:
        talk(s, 2)

    def cut_short(flows: SessionFlows, *_: object) -> Any:
        yield from whole(flows)
        raise KeyboardInterrupt

    whole = SessionFlows.open
    monkeypatch.setattr(SessionFlows, "open", cut_short)
    with pytest.raises(KeyboardInterrupt):
        me.session("chat-1")
    monkeypatch.undo()
    with me.session("chat-1") as s, pytest.raises(Conflict):
        me.session("chat-1")
    me.session("chat-1")  # nobody keeps it
    with me.session("chat-1") as s:
        assert len(here(s)) == 2


def test_a_memory_that_is_closed_after_an_interrupt_gives_its_session_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(tmp_path / "memory.db", embedder="none") as memory:
        with memory.session("chat-1", user="ada") as s:
            talk(s, 2)
        monkeypatch.setattr(SessionFlows, "_restore_terms", lambda *_: _press())
        with pytest.raises(KeyboardInterrupt):
            memory.session("chat-1", user="ada")
        monkeypatch.undo()
    with Memory(tmp_path / "memory.db", embedder="none") as memory, memory.session("chat-1", user="ada") as s:
        assert len(here(s)) == 2


def test_a_session_whose_closing_an_interrupt_cut_short_is_had_again_at_once(
    me: ScopedMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    s = me.session("chat-1")
    talk(s, 2)
    monkeypatch.setattr(SessionFlows, "close", lambda *_: _press())
    with pytest.raises(KeyboardInterrupt):
        s.close()
    monkeypatch.undo()
    with me.session("chat-1") as again:
        assert len(here(again)) == 2


def test_a_lease_of_a_clock_that_went_ahead_holds_nothing(tmp_path: Path) -> None:
    ahead = ManualClock(micros(START) + 365 * 86_400 * 1_000_000)
    with (
        Memory(tmp_path / "memory.db", embedder="none", clock=ahead) as gone,
        Memory(tmp_path / "memory.db", embedder="none", clock=ManualClock(micros(START))) as memory,
    ):
        talk(gone.session("chat-1", user="ada"), 2)
        with memory.session("chat-1", user="ada") as s:
            assert len(here(s)) == 2


def _press() -> None:
    raise KeyboardInterrupt


def test_a_verb_that_was_interrupted_leaves_a_window_that_goes_on_with_its_pins(
    me: ScopedMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    with me.session("chat-1") as s:
        said = talk(s, 3)
        s.pin(said[0])
        monkeypatch.setattr(Pager, "admit", lambda *_, **__: _press())
        with pytest.raises(KeyboardInterrupt):
            s.observe("What was cut short is durable all the same.")
        monkeypatch.undo()
        more = talk(s, 1, first=3)
        assert [page.id for page in s.window().pages if page.id in {*said, *more}] == [*said, *more]
        assert "cut short" in s.window().text
        assert s._flows.pager.table.pinned == {said[0]}


def test_a_pinned_item_of_blanks_that_finds_no_room_is_told_with_what_they_cost(me: ScopedMemory) -> None:
    me.pin(me.observe(f"fox{' ' * 20_000}hen").ids[0])
    notes = me.context("fox", budget=300).notes
    assert any("no room for 1 of what is always on (the first takes" in note and "for blanks" in note for note in notes)

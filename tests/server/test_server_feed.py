"""The feed over HTTP: each commit once and in order, within the walls, from any mark, to clients quick and slow."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from bearer_tokens import Tokens, principal_of
from starlette.applications import Starlette
from streams import Event, listening

from mnemic import SHARED, Memory, Settings
from mnemic.core.scope import Scope, Shared
from mnemic.credentials.authenticator import Authenticator
from mnemic.credentials.principal import Right
from mnemic.faces.server import event_stream, listeners
from mnemic.faces.server.application import application
from mnemic.faces.server.service import LoopbackAuthenticator, Service
from mnemic.operations.journal_records import notice_record
from patience import PATIENCE

SETTINGS = Settings(embedder="none", background=False)


def served(memory: Memory, authenticator: Any = None) -> Starlette:
    return application(Service(memory, authenticator or LoopbackAuthenticator(SETTINGS)))


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


async def commits(stream: Any, count: int) -> list[Event]:
    events = [await stream.event() for _ in range(count)]
    assert [event.name for event in events] == ["commit"] * count
    return events


def run(scenario: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(scenario())


def test_commits_are_heard_as_they_come(memory: Memory) -> None:
    me = memory.scope(user="me")
    me.write("before")

    async def scenario() -> None:
        async with listening(served(memory)) as stream:
            live = await stream.live()
            assert live.id == live.data["mark"] == me.changes()[-1].mark
            assert stream.status == 200
            assert stream.headers["content-type"].startswith("text/event-stream")
            assert "content-length" not in stream.headers
            id = await asyncio.to_thread(lambda: me.write("now").id)
            [event] = await commits(stream, 1)
            notice = me.changes(after=live.id)[0]
            assert event.id == event.data["mark"] == notice.mark
            assert event.data == notice_record(notice)
            assert [one["item"] for one in event.data["events"]] == [id]

    run(scenario)


def test_a_stream_goes_on_from_a_mark_without_a_gap_or_a_repeat(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "PAGE", 3)
    me = memory.scope(user="me")
    for n in range(10):
        me.write(f"fact {n}")
    marks = [notice.mark for notice in me.changes()]

    async def scenario() -> None:
        app = served(memory)
        for after, query, header in (
            (0, "after=0", {}),
            (3, f"after={marks[2]}", {}),
            (9, "after=9", {}),
            (10, "after=10", {}),
            (6, "after=1", {"last-event-id": marks[5]}),
        ):
            async with listening(app, query, header) as stream:
                assert [event.id for event in await commits(stream, 10 - after)] == marks[after:]
                assert (await stream.live()).id == marks[-1]
        async with listening(app, f"after={marks[1]}") as stream:
            writing = asyncio.create_task(asyncio.to_thread(lambda: [me.write(f"later {n}") for n in range(20)]))
            heard = [event for event in [await stream.event() for _ in range(29)] if event is not None]
            await writing
            assert [event.data["seq"] for event in heard if event.name == "commit"] == list(range(3, 31))

    run(scenario)


@pytest.mark.parametrize(
    "query", ["after=x", "after=-1", "after=99999999999999999999", "user=bob", "after=%ff", "after=1&after=2"]
)
def test_what_cannot_be_read_is_refused(memory: Memory, query: str) -> None:
    async def scenario() -> None:
        async with listening(served(memory), query) as stream:
            await stream.block()
            assert stream.status == 400

    run(scenario)


def test_a_user_hears_only_their_own_and_the_shared_commits(memory: Memory) -> None:
    people = {name: principal_of(name, Right.READ, user=name) for name in ("ada", "bob")}
    everybody = principal_of("office", Right.ADMIN)
    elsewhere = principal_of("eve", Right.READ, user="ada", tenant="other")
    app = served(memory, Tokens(**people, office=everybody, eve=elsewhere))
    writes: list[str | Shared] = ["ada", "bob", SHARED, "bob", "ada", SHARED]

    async def scenario() -> None:
        async with (
            listening(app, "", bearer("ada")) as ada,
            listening(app, "", bearer("bob")) as bob,
            listening(app, "", {**bearer("office"), "mnemic-shared": "true"}) as shared,
            listening(app, "", {**bearer("office"), "mnemic-user": "ada"}) as office,
            listening(app, "", bearer("eve")) as eve,
        ):
            for stream in (ada, bob, shared, office, eve):
                await stream.live()
            for user in writes:
                await asyncio.to_thread(memory.scope(user=user).write, f"by {user}")
            await asyncio.to_thread(memory.scope(user="ada", tenant="other").write, "elsewhere")
            assert [event.data["user"] for event in await commits(ada, 4)] == ["ada", None, "ada", None]
            assert [event.data["user"] for event in await commits(bob, 4)] == ["bob", None, "bob", None]
            assert [event.data["seq"] for event in await commits(office, 4)] == [1, 3, 5, 6]
            assert [event.data["seq"] for event in await commits(shared, 2)] == [3, 6]
            assert [event.data["seq"] for event in await commits(eve, 1)] == [1]
        for headers, status in (
            ({**bearer("ada"), "mnemic-user": "bob"}, 403),
            (bearer("nobody"), 401),
            (bearer("office"), 400),
        ):
            async with listening(app, "", headers) as stream:
                await stream.block()
                assert stream.status == status

    run(scenario)


def test_what_is_done_on_a_branch_is_not_in_the_feed(memory: Memory) -> None:
    me = memory.scope(user="me")

    async def scenario() -> None:
        async with listening(served(memory)) as stream:
            await stream.live()
            await asyncio.to_thread(lambda: (me.write("one"), me.branch("trial"), me.on_branch("trial").write("two")))
            await asyncio.to_thread(me.write, "three")
            heard = [(await stream.event()) for _ in me.changes()]
            assert [event and event.id for event in heard] == [notice.mark for notice in me.changes()]

    run(scenario)


def test_a_stream_ends_soon_after_its_key_is_revoked(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listeners, "RECHECK_SECONDS", 0.02)
    keys = memory.keys
    kept, lost = (keys.create(name, tenant="default", user="ada", right=Right.READ) for name in ("kept", "lost"))
    app = served(memory, Authenticator(keys))

    async def scenario() -> None:
        async with listening(app, "", bearer(kept.text)) as stays, listening(app, "", bearer(lost.text)) as goes:
            await stays.live()
            await goes.live()
            await asyncio.to_thread(keys.revoke, lost.key.id, tenant="default")
            assert await goes.rest() == []
            await asyncio.to_thread(memory.scope(user="ada").write, "only one hears")
            await commits(stays, 1)
            assert not goes.over or await goes.event() is None

    run(scenario)


def test_the_wait_for_a_revoked_key_is_within_two_seconds() -> None:
    from mnemic.credentials.verifying import CACHE_SECONDS

    assert listeners.RECHECK_SECONDS + CACHE_SECONDS < 2


def test_a_client_that_reads_too_slowly_is_let_go_with_its_mark(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listeners, "ROOM", 4)
    me = memory.scope(user="me")

    async def scenario() -> None:
        app = served(memory)
        async with listening(app) as slow, listening(app) as quick:
            await slow.live()
            await quick.live()
            slow.reads.clear()
            for n in range(8):
                await asyncio.to_thread(me.write, f"fact {n}")
                await commits(quick, 1)
            slow.reads.set()
            *heard, last = await slow.rest()
            assert [event.data["seq"] for event in heard] == list(range(1, len(heard) + 1))
            assert len(heard) < 8
            assert last.name == "lagging"
        async with listening(app, "", {"last-event-id": last.id}) as again:
            missed = await commits(again, 8 - len(heard))
            assert [event.data["seq"] for event in missed] == list(range(len(heard) + 1, 9))

    run(scenario)


def event_of(seq: int, size: int) -> listeners.StreamEvent:
    return listeners.StreamEvent(seq, f"{seq}-x", b"x" * size)


def test_what_waits_for_a_client_is_bounded_in_bytes_and_sent_in_pieces() -> None:
    async def scenario() -> None:
        listener = listeners.FeedListener(Scope(user="me", tenant="default"), {})
        listener.hear(event_of(1, 2 * listeners.ROOM_BYTES))  # as large as it is, it is one
        assert not listener.lagging
        assert [event.seq for event in listener.take()] == [1]
        small = listeners.ROOM_BYTES // 8
        for seq in range(2, 10):
            listener.hear(event_of(seq, small))
        assert not listener.lagging
        sent = []
        while listener.waiting:
            taken = listener.take()
            assert sum(len(event.encoded) for event in taken) <= max(listeners.PIECE_BYTES, small)
            sent += [event.seq for event in taken]
        assert sent == list(range(2, 10))
        for seq in range(10, 19):
            listener.hear(event_of(seq, small))
        assert listener.lagging
        assert not listener.waiting

    run(scenario)


def test_who_was_away_reads_on_in_pages_that_are_bounded_in_bytes(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "ROOM_BYTES", 300)
    me = memory.scope(user="me")
    for n in range(8):
        me.write(f"fact {n}")

    async def scenario() -> None:
        async with listening(served(memory), "after=0") as stream:
            assert [event.data["seq"] for event in await commits(stream, 8)] == list(range(1, 9))
            await stream.live()

    run(scenario)


def test_a_journal_that_was_brought_back_is_told_of(memory: Memory) -> None:
    me = memory.scope(user="me")
    for n in range(5):
        me.write(f"fact {n}")
    last = me.changes()[-1].mark

    async def scenario() -> None:
        app = served(memory)
        async with listening(app) as stream:
            await stream.live()
            await asyncio.to_thread(memory.admin.rewind, 2)
            event = await stream.event()
            assert event is not None
            assert (event.name, event.id) == ("rewind", me.watch().mark)
            await asyncio.to_thread(lambda: [me.write(f"another {n}") for n in range(4)])
            assert [event.data["seq"] for event in await commits(stream, 4)] == [3, 4, 5, 6]
        async with listening(app, "", {"last-event-id": last}) as stream:
            event = await stream.event()
            assert event is not None
            assert (event.name, event.id) == ("rewind", me.watch().mark)
            assert (await stream.live()).id == event.id
            await asyncio.to_thread(me.write, "it goes on")
            assert [event.data["seq"] for event in await commits(stream, 1)] == [7]

    run(scenario)


def test_a_silent_stream_is_kept_alive_by_comments(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "HEARTBEAT_SECONDS", 0.01)

    async def scenario() -> None:
        async with listening(served(memory)) as stream:
            await stream.live()
            assert (await stream.block()).startswith(":")

    run(scenario)


def test_streams_end_when_the_server_drains_and_no_other_is_opened(memory: Memory) -> None:
    async def scenario() -> None:
        app = served(memory)
        async with listening(app) as stream:
            await stream.live()
            app.state.service.draining.set()
            assert await stream.rest() == []
        async with listening(app) as late:
            await late.block()
            assert late.status == 503

    run(scenario)


def test_nothing_is_read_and_nobody_waits_once_all_have_left(memory: Memory) -> None:
    async def scenario() -> None:
        app = served(memory)
        async with listening(app) as first, listening(app) as second:
            await first.live()
            await second.live()
            assert app.state.listeners.count == 2
        assert app.state.listeners.count == 0
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left or not (await asyncio.wait(left, timeout=PATIENCE))[1]
        async with listening(app) as again:
            await again.live()

    run(scenario)


def test_there_is_room_for_so_many_streams(memory: Memory) -> None:
    async def scenario() -> None:
        app = served(memory)
        app.state.listeners = listeners.Listeners(app.state.service, most=1)
        async with listening(app) as first:
            await first.live()
            async with listening(app) as second:
                await second.block()
                assert second.status == 503
            await asyncio.to_thread(memory.scope(user="me").write, "still heard")
            await commits(first, 1)

    run(scenario)


def test_a_head_request_opens_no_stream(memory: Memory) -> None:
    async def scenario() -> None:
        async with listening(served(memory), method="HEAD") as stream:
            assert await stream.rest() == []
            assert stream.status == 200

    run(scenario)

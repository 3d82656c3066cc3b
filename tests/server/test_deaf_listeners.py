"""Listeners that never read, over real sockets: each is let go with its mark, and others hear on."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable
from functools import partial

import pytest
import uvicorn
from uvicorn.server import ServerState

from mnemic import SHARED, Memory, Settings
from mnemic.faces.server import listeners
from mnemic.faces.server.application import application
from mnemic.faces.server.bounded_protocol import BoundedHttpProtocol
from mnemic.faces.server.service import LoopbackAuthenticator, Service
from mnemic.lab.tasks.deaf_bench import DeafClient
from mnemic.lab.tasks.feed_bench import FeedClient
from patience import PATIENCE

DEAF = 12
COMMITS = 80


class Impatient(BoundedHttpProtocol):
    flush_seconds = 0.3


async def _until(true: Callable[[], bool]) -> None:
    while not true():
        await asyncio.sleep(0.01)


def test_who_never_reads_is_let_go_with_a_mark_and_others_hear_on(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listeners, "ROOM", 4)
    app = application(Service(memory, LoopbackAuthenticator(Settings(embedder="none"))))
    config, state = uvicorn.Config(app, lifespan="off", ws="none"), ServerState()
    config.load()
    bound = socket.create_server(("127.0.0.1", 0))
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16 * 1024)
    port = bound.getsockname()[1]

    async def scenario() -> None:
        make = partial(Impatient, config=config, server_state=state, app_state={})
        async with await asyncio.get_running_loop().create_server(make, sock=bound), asyncio.timeout(PATIENCE):
            healthy = FeedClient(user="healthy")
            tasks = [asyncio.create_task(healthy.listen(port))]
            deaf = [await asyncio.to_thread(DeafClient.opened, port) for _ in range(DEAF)]
            await _until(lambda: app.state.listeners.count == DEAF + 1)
            numbers = await asyncio.to_thread(_written, memory, healthy)
            await _until(lambda: app.state.listeners.count == 1)
            await _until(lambda: len(state.connections) == 1)  # nor is anything kept for those who are gone
            await asyncio.gather(*(asyncio.to_thread(client.read) for client in deaf))
            assert healthy.others == 0
            for client in deaf:
                sent = [listeners.seq_of(mark) for mark in client.marks]
                assert sent == numbers[: len(sent)]
                assert len(sent) < COMMITS
            back = FeedClient(user="deaf", mark=deaf[0].marks[-1])
            tasks.append(asyncio.create_task(back.listen(port)))
            await _until(lambda: [seq for seq, _ in back.heard] == numbers[len(deaf[0].marks) :])
            assert [seq for seq, _ in healthy.heard] == numbers
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await _until(lambda: not state.connections and not state.tasks)

    asyncio.run(scenario())


def _written(memory: Memory, healthy: FeedClient) -> list[int]:
    """Make commits, each once the one before was heard: a client that reads is never behind."""
    numbers = []
    for n in range(COMMITS):
        numbers.append(memory.scope(user=SHARED).observe([f"line {n} {m}" for m in range(80)]).seq)
        while not healthy.heard or healthy.heard[-1][0] < numbers[-1]:
            time.sleep(0.002)
    return numbers

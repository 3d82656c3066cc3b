"""Listeners of the feed that never read, while thousands of commits are made: what they cost, and who else suffers.

The server is the command itself in a process of its own. Each deaf client has the smallest buffer that the system
gives, so that what is sent to it waits on the server's side. Once the server has let it go, it reads what it was
sent, and comes back with the last mark in that.
"""

from __future__ import annotations

import asyncio
import re
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from mnemic.core.scope import SHARED
from mnemic.lab.kit.figures import Figure, Measurements
from mnemic.lab.kit.log import provenance
from mnemic.lab.kit.served_process import ServedProcess, mnemic_server
from mnemic.lab.tasks.feed_bench import FeedClient, allow_files
from mnemic.memory import Memory
from mnemic.settings import Settings
from mnemic.store.sqlite.disk import file_system

KIB_EACH: Final = 256.0
"""Of the server's memory, at most, for a listener that never reads."""
_COMING_BACK: Final = 20
"""Deaf clients that come back and hear all the rest."""
_WAIT_SECONDS: Final = 120.0
_SPARE_FILES: Final = 200
_BUFFER: Final = 2048
_LOOK_SECONDS: Final = 0.5
_EVENT: Final = re.compile(rb"event: commit\nid: (\S+)\ndata: [^\n]*\n\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeafLoad:
    """How much is measured.

    Attributes:
        deaf: Streams that nobody reads.
        healthy: Streams that are read.
        commits: Made one after the other, to the memory that all share.
    """

    deaf: int = 1_000
    healthy: int = 10
    commits: int = 5_000

    @property
    def stated(self) -> bool:
        """Whether it is as much as the bars are stated for."""
        return self.deaf >= 1_000 and self.commits >= 2_000


@dataclass(slots=True)
class DeafClient:
    """A client that opens the feed and never reads it while the server holds it.

    Attributes:
        marks: Of the commits that it was sent before it was let go, in order.
        ended: Whether the server has let it go.
    """

    connection: socket.socket
    marks: list[str] = field(default_factory=list)
    ended: bool = False

    @classmethod
    def opened(cls, port: int) -> DeafClient:
        """Ask for the feed, from the first commit to come on."""
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
        connection.connect(("127.0.0.1", port))
        connection.sendall(b"GET /v1/feed?after=0 HTTP/1.1\r\nHost: localhost\r\nMnemic-User: deaf\r\n\r\n")
        return cls(connection)

    def read(self) -> None:
        """Read what was sent; it goes on until the server has ended the stream."""
        self.connection.settimeout(_WAIT_SECONDS)
        sent = bytearray()
        with self.connection, suppress(ConnectionError):
            while piece := self.connection.recv(65536):
                sent += piece
        self.ended = True
        whole = re.sub(rb"\r\n[0-9a-f]+\r\n", b"", bytes(sent))  # between the chunks of the answer
        self.marks = [mark.decode() for mark in _EVENT.findall(whole)]


def bench_deaf(load: DeafLoad = DeafLoad(), progress: Callable[[str], None] = lambda _: None) -> Measurements:
    """Measure, on a store that is gone afterwards. It needs Linux, which tells how much memory a process holds."""
    allow_files(load.deaf + _SPARE_FILES)
    with TemporaryDirectory(prefix="mnemic-deaf-") as folder, ExitStack() as stack:
        path = Path(folder) / "memory.db"
        memory = stack.enter_context(Memory(path, settings=Settings(embedder="none", background=False)))
        server = stack.enter_context(mnemic_server(path))
        figures = asyncio.run(_measured(memory, server, load, progress))
        disk = file_system(Path(folder))
    return Measurements(header={**provenance(), "load": asdict(load), "file_system": disk}, figures=tuple(figures))


async def _measured(
    memory: Memory, server: ServedProcess, load: DeafLoad, progress: Callable[[str], None]
) -> list[Figure]:
    healthy = [FeedClient(user=f"user-{n}") for n in range(load.healthy)]
    listening = [asyncio.create_task(client.listen(server.port)) for client in healthy]
    deaf = [await asyncio.to_thread(DeafClient.opened, server.port) for _ in range(load.deaf)]
    await _streams(server, load.deaf + load.healthy)
    before = server.resident_mib
    progress(f"{load.deaf:,} clients listen and do not read; {load.commits:,} commits")
    began = time.perf_counter()
    writing = asyncio.create_task(asyncio.to_thread(_write, memory, load.commits))
    most = before
    while not writing.done() or await asyncio.to_thread(server.metric, "mnemic_feed_streams") > load.healthy:
        if time.perf_counter() - began > _WAIT_SECONDS + load.commits * 0.1:
            break
        await asyncio.sleep(_LOOK_SECONDS)
        most = max(most, server.resident_mib)
    written = await writing
    seconds = time.perf_counter() - began
    progress("each reads what it was sent, and comes back")
    kept = int(await asyncio.to_thread(server.metric, "mnemic_feed_streams")) - load.healthy
    await _heard(healthy, written[-1])
    wrong = sum(_numbers(client) != written or client.others > 0 for client in healthy)
    lost = await _come_back(server, deaf, written)
    for task in listening:
        task.cancel()
    await asyncio.gather(*listening, return_exceptions=True)
    return _figures(load, (most - before) * 1024 / load.deaf, seconds, kept, wrong, lost)


async def _streams(server: ServedProcess, count: int) -> None:
    async with asyncio.timeout(_WAIT_SECONDS):
        while await asyncio.to_thread(server.metric, "mnemic_feed_streams") < count:
            await asyncio.sleep(0.05)


def _write(memory: Memory, commits: int) -> list[int]:
    shared = memory.scope(user=SHARED)
    return [shared.write(f"fact {n}").seq for n in range(commits)]


async def _heard(clients: Sequence[FeedClient], last: int) -> None:
    """Wait until each client has heard the last commit; what never comes is counted later."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_WAIT_SECONDS):
            for client in clients:
                while _numbers(client)[-1:] != [last]:
                    await asyncio.sleep(0.05)


def _numbers(client: FeedClient) -> list[int]:
    return [seq for seq, _ in client.heard]


async def _come_back(server: ServedProcess, deaf: Sequence[DeafClient], written: list[int]) -> int:
    """Count the deaf clients that were sent something else than the first commits, or did not hear the rest."""
    with suppress(TimeoutError):
        for client in deaf:
            await asyncio.to_thread(client.read)
    numbers = [[int(mark.partition("-")[0]) for mark in client.marks] for client in deaf]
    lost = sum(not client.ended or sent != written[: len(sent)] for client, sent in zip(deaf, numbers, strict=True))
    back = [FeedClient(user="deaf", mark=client.marks[-1] if client.marks else "0") for client in deaf[:_COMING_BACK]]
    listening = [asyncio.create_task(client.listen(server.port)) for client in back]
    await _heard(back, written[-1])
    for task in listening:
        task.cancel()
    await asyncio.gather(*listening, return_exceptions=True)
    return lost + sum(sent + _numbers(client) != written for client, sent in zip(back, numbers, strict=False))


def _figures(load: DeafLoad, each: float, seconds: float, kept: int, wrong: int, lost: int) -> list[Figure]:
    return [
        Figure(
            name="memory for a listener that never reads", value=each, unit="KiB", bar=KIB_EACH,
            detail=f"{load.deaf:,} of them while {load.commits:,} commits are made",
        ),
        Figure(
            name="of them kept at the end", value=kept, unit="", bar=0, detail=f"after {seconds:.0f} s",
        ),
        Figure(
            name="healthy listeners that missed, repeated or misplaced a commit", value=wrong, unit="", bar=0,
            detail=f"of {load.healthy}",
        ),
        Figure(
            name="deaf ones whose mark did not lead on", value=lost, unit="", bar=0,
            detail=f"{min(load.deaf, _COMING_BACK)} came back and heard the rest",
        ),
    ]  # fmt: skip

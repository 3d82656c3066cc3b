"""The feed with many listeners: what they take while nothing happens, how soon a commit is heard, and whether all are.

The server is the command itself in a process of its own; what it streams is written in this process, so that every
commit goes from one process to the other. Amid the writing the server is stopped and started again.
"""

from __future__ import annotations

import asyncio
import resource
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from mnemic.core.scope import SHARED, Shared
from mnemic.lab.kit.figures import Figure, Measurements
from mnemic.lab.kit.log import provenance
from mnemic.lab.kit.served_process import ServedProcess, mnemic_server
from mnemic.memory import Memory
from mnemic.settings import Settings
from mnemic.store.sqlite.disk import file_system

IDLE_SHARE: Final = 0.05
"""Of a processor, while nobody writes."""
HEARD_MS: Final = 50.0
"""From the return of a write to the event at its listener, at the middle."""
_COME_BACK_SECONDS: Final = 0.2
_WAIT_SECONDS: Final = 60.0
_SHARED_EVERY: Final = 20
"""One commit of so many is to the shared memory, which all hear."""
_SPARE_FILES: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedLoad:
    """How much is measured.

    Attributes:
        clients: Streams, each of a user of its own.
        commits: Written one after the other; the server is restarted after half of them.
        gap: Seconds between two of them.
        silence: Seconds during which nothing is written.
    """

    clients: int = 1_000
    commits: int = 400
    gap: float = 0.05
    silence: float = 30.0

    @property
    def stated(self) -> bool:
        """Whether it is as much as the bars are stated for."""
        return self.clients >= 1_000 and self.commits >= 200 and self.silence >= 15


@dataclass(slots=True)
class FeedClient:
    """A listener that comes back with its last mark whenever its stream ends.

    Attributes:
        live: Set once it has heard all that there was.
        heard: The number of each commit it heard, and when, in the order it heard them.
        others: Events of other names: it lagged, or the journal was brought back.
    """

    user: str
    live: asyncio.Event = field(default_factory=asyncio.Event)
    mark: str = ""
    heard: list[tuple[int, float]] = field(default_factory=list)
    others: int = 0

    async def listen(self, port: int) -> None:
        """Listen until cancelled."""
        while True:
            with suppress(OSError, asyncio.IncompleteReadError):
                await self._stream(port)
            self.live.clear()
            await asyncio.sleep(_COME_BACK_SECONDS)

    async def _stream(self, port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            lines = ["GET /v1/feed HTTP/1.1", "Host: localhost", f"Mnemic-User: {self.user}"]
            lines += [f"Last-Event-ID: {self.mark}"] if self.mark else []
            writer.write("\r\n".join([*lines, "", ""]).encode())
            fields: dict[str, str] = {}
            while line := (await reader.readline()).decode().rstrip("\r\n"):  # the head
                fields["status"] = fields.get("status", line)
            if " 200 " not in fields["status"]:
                return
            while raw := await reader.readline():  # lines of a chunk's size stand between: they have no colon
                line = raw.decode().rstrip("\r\n")
                name, colon, value = line.partition(": ")
                if colon:
                    fields[name] = value
                elif not line and "event" in fields:
                    self._take(fields.pop("event"), fields["id"])
        finally:
            writer.close()

    def _take(self, event: str, mark: str) -> None:
        if event == "commit":
            self.heard.append((int(mark.partition("-")[0]), time.perf_counter()))
        elif event == "live":
            self.live.set()
        else:
            self.others += 1
        self.mark = mark


def bench_feed(load: FeedLoad = FeedLoad(), progress: Callable[[str], None] = lambda _: None) -> Measurements:
    """Measure, on a store that is gone afterwards."""
    allow_files(load.clients + _SPARE_FILES)
    with TemporaryDirectory(prefix="mnemic-feed-") as folder:
        path = Path(folder) / "memory.db"
        with Memory(path, settings=Settings(embedder="none", background=False)) as memory:
            figures = asyncio.run(_measured(memory, path, load, progress))
        disk = file_system(Path(folder))
    return Measurements(header={**provenance(), "load": asdict(load), "file_system": disk}, figures=tuple(figures))


def allow_files(count: int) -> None:
    """Have this process and those it starts open so many files, where that is allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count:
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (count if hard == resource.RLIM_INFINITY else min(count, hard), hard)
        )


async def _measured(memory: Memory, path: Path, load: FeedLoad, progress: Callable[[str], None]) -> list[Figure]:
    clients = [FeedClient(user=f"user-{n}") for n in range(load.clients)]
    with mnemic_server(path) as server:
        listening = [asyncio.create_task(client.listen(server.port)) for client in clients]
        await _all_live(clients)
        progress(f"{load.clients} clients listen, and nothing happens")
        idle = await _idle_share(server, load.silence)
        progress("commits")
        written = await asyncio.to_thread(_write, memory, load, 0, load.commits // 2)
        await _all_heard(memory, clients)
        first_half = _delays(clients, written)
        await asyncio.to_thread(server.stop)
    progress("commits, while the server starts again")
    writing = asyncio.create_task(asyncio.to_thread(_write, memory, load, load.commits // 2, load.commits))
    with mnemic_server(path, server.port):
        await writing
        await _all_live(clients)
        await _all_heard(memory, clients)
        for task in listening:
            task.cancel()
        await asyncio.gather(*listening, return_exceptions=True)
    return _figures(idle, first_half, _wrong(memory, clients), load)


async def _all_live(clients: Sequence[FeedClient]) -> None:
    async with asyncio.timeout(_WAIT_SECONDS):
        for client in clients:
            await client.live.wait()


async def _all_heard(memory: Memory, clients: Sequence[FeedClient]) -> None:
    """Wait until each client has heard the last commit that is for it; what never comes is counted later."""
    lasts = [_expected(memory, client)[-1:] for client in clients]
    with suppress(TimeoutError):
        async with asyncio.timeout(_WAIT_SECONDS):
            for client, last in zip(clients, lasts, strict=True):
                while last and (not client.heard or client.heard[-1][0] < last[0]):
                    await asyncio.sleep(0.01)


async def _idle_share(server: ServedProcess, seconds: float) -> float:
    before, began = await asyncio.to_thread(lambda: server.cpu_seconds), time.perf_counter()
    await asyncio.sleep(seconds)
    return (await asyncio.to_thread(lambda: server.cpu_seconds) - before) / (time.perf_counter() - began)


def _write(memory: Memory, load: FeedLoad, begin: int, end: int) -> dict[int, tuple[bool, float]]:
    """Write commits; whether each is shared, and when it had returned, by its number."""
    written = {}
    for n in range(begin, end):
        user: str | Shared = SHARED if n % _SHARED_EVERY == 0 else f"user-{n * 7 % load.clients}"
        receipt = memory.scope(user=user).write(f"fact {n}")
        written[receipt.seq] = isinstance(user, Shared), time.perf_counter()
        time.sleep(load.gap)
    return written


def _delays(clients: Sequence[FeedClient], written: dict[int, tuple[bool, float]]) -> dict[bool, list[float]]:
    """Milliseconds from a write's return to its event, of own commits and of shared ones."""
    delays: dict[bool, list[float]] = {True: [], False: []}
    for client in clients:
        for seq, at in client.heard:
            shared, returned = written[seq]
            delays[shared].append(max(0.0, at - returned) * 1_000)
    return delays


def _expected(memory: Memory, client: FeedClient) -> list[int]:
    return [notice.seq for notice in memory.scope(user=client.user).changes(limit=1_000)]


def _wrong(memory: Memory, clients: Sequence[FeedClient]) -> int:
    """Count the clients that did not hear each of their commits once and in order, or were let go."""
    return sum(client.others > 0 or [seq for seq, _ in client.heard] != _expected(memory, client) for client in clients)


def _figures(idle: float, delays: dict[bool, list[float]], wrong: int, load: FeedLoad) -> list[Figure]:
    own, shared = np.array(delays[False]), np.array(delays[True])
    detail = "{} events, p95 {:.1f} ms".format
    return [
        Figure(
            name="processor while nothing happens", value=idle, unit="", bar=IDLE_SHARE,
            detail=f"{load.clients:,} streams for {load.silence:g} s",
        ),
        Figure(
            name="a commit is heard after, p50", value=float(np.median(own)), unit="ms", bar=HEARD_MS,
            detail=detail(len(own), np.percentile(own, 95)),
        ),
        Figure(
            name="a shared commit is heard by all after, p50", value=float(np.median(shared)), unit="ms", bar=HEARD_MS,
            detail=detail(len(shared), np.percentile(shared, 95)),
        ),
        Figure(
            name="clients that missed, repeated or misplaced a commit", value=wrong, unit="", bar=0,
            detail=f"{load.commits:,} commits, half of them while the server was away or came back",
        ),
    ]  # fmt: skip

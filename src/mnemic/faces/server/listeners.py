"""Hands commits out to all who listen: one reader for each tenant, whatever the number of listeners."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.exceptions import HTTPException

from mnemic.core.sanitize import for_json
from mnemic.core.scope import Scope, Shared
from mnemic.errors import Compacted, MnemicError
from mnemic.faces.server.service import SHARED_SPACE, TENANT, USER, Service
from mnemic.operations.journal_records import notice_record
from mnemic.watching.feed import Notice, TenantFeed

LOG: Final = logging.getLogger("mnemic.server")
MOST_LISTENERS: Final = 4_096
"""Streams that one process keeps open."""
ROOM: Final = 256
"""Events that wait for a client that reads slowly; with the next one it is let go."""
ROOM_BYTES: Final = 1024 * 1024
"""Bytes of those events together: one of a commit of a thousand items has some hundred thousand."""
PIECE_BYTES: Final = 64 * 1024
"""What is handed to a connection at once: what it holds is not shared between clients, as events are."""
RECHECK_SECONDS: Final = 0.75
"""How often credentials are looked at again: with the second that a key is believed, a revoked one ends within two."""
PAUSE_SECONDS: Final = 0.01
"""Between two reads of a journal that grows: what is committed meanwhile is read at once."""
READERS: Final = 4
"""Threads that read for streams."""
_CREDENTIALS: Final = ("authorization", "x-api-key", "cookie", TENANT, USER, SHARED_SPACE)
"""Headers that say who asks, and for whom."""
T = TypeVar("T")


class Read(Protocol):
    """Runs a blocking read in a thread."""

    async def __call__(self, work: Callable[[], T]) -> T:
        """Return what `work` returns."""
        ...


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """An event as it is sent.

    Attributes:
        seq, mark: The commit that the stream has reached with it.
        encoded: The lines of the event, with the empty one that ends it.
        begins_anew: Whether what was sent before is of a journal that is no more.
    """

    seq: int
    mark: str
    encoded: bytes
    begins_anew: bool = False


def commit_event(notice: Notice) -> StreamEvent:
    """Make the event of a commit."""
    return StreamEvent(notice.seq, notice.mark, encoded("commit", notice.mark, notice_record(notice)))


def rewind_event(mark: str, why: str) -> StreamEvent:
    """Make the event that says that the journal does not go on from what was sent."""
    return StreamEvent(seq_of(mark), mark, encoded("rewind", mark, {"mark": mark, "detail": why}), begins_anew=True)


def seq_of(mark: str) -> int:
    """Read the number of a commit from its mark."""
    return int(mark.partition("-")[0])


def encoded(name: str, mark: str, data: Mapping[str, object]) -> bytes:
    """Encode an event (WHATWG HTML, section 9.2.6): JSON has no line breaks, so its data is one line."""
    body = for_json(json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
    return f"event: {name}\nid: {mark}\ndata: {body}\n\n".encode()


class FeedListener:
    """One open stream: what waits to be sent on it. Used in the event loop alone.

    Attributes:
        waiting: Events that are to be sent, oldest first.
        woken: Set when there is something to do: events, or an end.
        lagging: Whether more came than there is room for; what waited is dropped.
        ended: Whether it is over: the server drains, the credential is no longer good, or the journal cannot be read.
        credential: What two streams share if and only if they are allowed by the same.
    """

    def __init__(self, scope: Scope, headers: Mapping[str, str]) -> None:
        self.scope, self.headers = scope, headers
        self.credential = (str(scope.user), *(headers.get(name, "") for name in _CREDENTIALS))
        self.waiting: deque[StreamEvent] = deque()
        self._bytes = 0
        self.woken = asyncio.Event()
        self.lagging = self.ended = False

    def hear(self, event: StreamEvent) -> None:
        """Put an event in the queue, or find that the client is too slow."""
        if self.lagging:
            return
        size = len(event.encoded)
        if self.waiting and (len(self.waiting) >= ROOM or self._bytes + size > ROOM_BYTES):
            self.start_over()
            self.lagging = True
        else:
            self.waiting.append(event)
            self._bytes += size
        self.woken.set()

    def take(self) -> list[StreamEvent]:
        """Take out what waits, as far as it goes out at once: at least one event."""
        taken = [self.waiting.popleft()]
        size = len(taken[0].encoded)
        while self.waiting and size + len(self.waiting[0].encoded) <= PIECE_BYTES:
            taken.append(self.waiting.popleft())
            size += len(taken[-1].encoded)
        self._bytes -= size
        return taken

    def start_over(self) -> None:
        """Drop what waits, and hear what comes from now on."""
        self.waiting.clear()
        self._bytes, self.lagging = 0, False

    async def something_within(self, seconds: float) -> bool:
        """Wait until there is something to do, for so long; whether there is."""
        try:
            async with asyncio.timeout(seconds):
                await self.woken.wait()
        except TimeoutError:
            return False
        self.woken.clear()
        return True

    def end(self) -> None:
        """Have the stream end."""
        self.ended = True
        self.woken.set()


class TenantAudience:
    """The listeners of one tenant, and the task that reads its journal for them.

    Attributes:
        following: Set once every later commit is handed out, or none any more.
        over: Whether nothing is read any more.
    """

    def __init__(self, service: Service, tenant: str, read: Read) -> None:
        self._service, self._tenant, self._read = service, tenant, read
        self._of_users: dict[str | Shared, set[FeedListener]] = {}
        self._heard = asyncio.Event()
        self.following = asyncio.Event()
        self.over = False
        self._task = asyncio.create_task(self._follow())

    def add(self, listener: FeedListener) -> None:
        """Hand commits out to a listener from now on."""
        self._of_users.setdefault(listener.scope.user, set()).add(listener)

    def remove(self, listener: FeedListener) -> None:
        """Hand it nothing more; with the last one the reading ends."""
        of_user = self._of_users[listener.scope.user]
        of_user.discard(listener)
        if not of_user:
            del self._of_users[listener.scope.user]
        if not self._of_users:
            self.over = True
            self._task.cancel()

    def listeners(self) -> list[FeedListener]:
        """List those who listen."""
        return [listener for of_user in self._of_users.values() for listener in of_user]

    async def _follow(self) -> None:
        try:
            feed = await self._read(partial(self._service.memory.admin.tail, self._tenant))
            feed.ear.also = partial(asyncio.get_running_loop().call_soon_threadsafe, self._heard.set)
            self.following.set()
            while True:
                self._heard.clear()
                if await self._hand_out(feed):
                    await asyncio.sleep(PAUSE_SECONDS)
                else:
                    await self._heard.wait()
        except Exception as error:  # noqa: BLE001 - the loop of a task: streams end, and who comes again has it read anew
            LOG.error("the feed: unexpected %s", type(error).__name__)
        finally:
            self.over = True
            self.following.set()
            for listener in self.listeners():
                listener.end()

    async def _hand_out(self, feed: TenantFeed) -> bool:
        """Hand out the next commits; whether there were any."""
        try:
            notices = await self._read(feed.read)
        except Compacted as error:
            await self._read(feed.begin)
            event = rewind_event(feed.mark, str(error))
            for listener in self.listeners():
                listener.hear(event)
            return True
        for notice in notices:
            if heard_by := self.listeners() if notice.shared else list(self._of_users.get(notice.user, ())):
                event = commit_event(notice)
                for listener in heard_by:
                    listener.hear(event)
        return bool(notices)


class Listeners:
    """Everybody who listens to this process, by tenant. Used in one event loop.

    Args:
        most: Streams that are open at once.
    """

    def __init__(self, service: Service, most: int = MOST_LISTENERS) -> None:
        self._service, self._most = service, most
        self._audiences: dict[str, TenantAudience] = {}
        self._reading = CapacityLimiter(READERS)
        self._keeping: asyncio.Task[None] | None = None
        self.count = 0

    @contextmanager
    def joined(self, listener: FeedListener) -> Iterator[TenantAudience]:
        """Hand commits out to a listener within the block.

        Raises:
            HTTPException: 503, as many listen as this server has room for, or it drains.
        """
        if self.count >= self._most or self._service.draining.is_set():
            raise HTTPException(503, "This server opens no more streams now; come back.", {"Retry-After": "5"})
        audience = self._audiences.get(listener.scope.tenant)
        if audience is None or audience.over:
            audience = TenantAudience(self._service, listener.scope.tenant, self.read)
            self._audiences[listener.scope.tenant] = audience
        if self._keeping is None:
            self._keeping = asyncio.create_task(self._keep())
        self.count += 1
        audience.add(listener)
        try:
            yield audience
        finally:
            self.count -= 1
            audience.remove(listener)
            if audience.over and self._audiences.get(listener.scope.tenant) is audience:
                del self._audiences[listener.scope.tenant]
            if not self.count:
                self._keeping.cancel()
                self._keeping = None

    async def read(self, work: Callable[[], T]) -> T:
        """Run what reads the store for a stream in a thread; many wait for a few, and are not in the way of verbs."""
        return await run_sync(work, limiter=self._reading)

    async def _keep(self) -> None:
        """End the streams whose credential is no longer good, and all of them once the server drains."""
        draining = asyncio.create_task(self._service.draining.wait())
        try:
            while not draining.done():
                await asyncio.wait((draining,), timeout=RECHECK_SECONDS)
                for listener in self._everybody() if draining.done() else await self._no_longer_allowed():
                    listener.end()
        finally:
            draining.cancel()

    def _everybody(self) -> list[FeedListener]:
        return [listener for audience in self._audiences.values() for listener in audience.listeners()]

    async def _no_longer_allowed(self) -> list[FeedListener]:
        """Find the listeners whose credential proves nobody any more, or somebody else; each is looked at once."""
        by_credential: dict[tuple[str, ...], list[FeedListener]] = {}
        for listener in self._everybody():
            by_credential.setdefault(listener.credential, []).append(listener)
        samples = [of_one[0] for of_one in by_credential.values()]
        refused = await self.read(lambda: [sample for sample in samples if not self._allowed(sample)])
        return [listener for sample in refused for listener in by_credential[sample.credential]]

    def _allowed(self, listener: FeedListener) -> bool:
        scope = listener.scope
        try:
            principal = self._service.authenticator.authenticate(listener.headers, "GET")
            return principal.tenant == scope.tenant and principal.scope(scope.user).user == scope.user
        except MnemicError:
            return False

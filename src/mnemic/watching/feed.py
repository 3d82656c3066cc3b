"""The feed: what is committed to a user's memory and the shared one, as it happens, and from any commit on."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from mnemic.checking import whole
from mnemic.core.events import Change, Event
from mnemic.core.ids import ItemId
from mnemic.core.items import Version
from mnemic.core.scope import SHARED, Shared
from mnemic.errors import NotFound, StoreError
from mnemic.flow import Flow, run
from mnemic.kernel import LIST_LIMIT, Who, on_shelf
from mnemic.opening import Opened
from mnemic.store.base import Snapshot
from mnemic.store.requests import look

if TYPE_CHECKING:
    import asyncio

BATCH: Final = 200
"""Commits that a watch reads at once."""
SLICE: Final = 0.25
"""Longest seconds that a watch waits before it looks whether it was closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One commit, as those hear of it who may read it.

    Attributes:
        seq: Its number in the tenant's journal; pass it on as `after` to go on from here.
        at: When the journal took it (aware, UTC).
        user: Whose memory it is in; `SHARED` for the common one.
        actor: Who did it.
        cause: The commit that made it happen, or None.
        events: What it changed: verbs and ids. The words are a read away: `written(seq)`. On a shelf, what it changed
            of that shelf's items, of the store itself, and of what is gone: nothing says any more whose that was.
    """

    seq: int
    at: datetime
    user: str | Shared
    actor: str
    cause: int | None
    events: tuple[Event, ...]

    @property
    def ids(self) -> tuple[ItemId, ...]:
        """The items it touched, each once, in the order it touched them."""
        return tuple(dict.fromkeys(event.item for event in self.events if event.item is not None))


def changes(who: Who, after: int, limit: int) -> Flow[Sequence[Notice]]:
    """Commits of a user's memory and the shared one after seq `after`, oldest first; those of other shelves left out.

    Raises:
        Compacted: commits after `after` lie behind the horizon, or the journal was brought back to before it.
    """
    whole("after", after)
    whole("limit", limit, low=1, high=LIST_LIMIT)
    found: list[Notice] = []
    while len(found) < limit:
        some, upto = yield from _page(who, after, limit - len(found))
        found += some
        if upto == after:
            break
        after = upto
    return found


def written(who: Who, seq: int) -> Flow[Sequence[Version]]:
    """The versions that a commit wrote on this shelf, as it left them, but for what was erased or compacted since.

    Raises:
        NotFound: no commit of this number touched a memory that may be read here.
    """
    whole("seq", seq, low=1)
    return (yield from look(lambda s: _written(s, who, seq)))


def head(who: Who) -> Flow[int]:
    """The last commit of the tenant; 0 before the first."""
    return (yield from look(lambda s: _head(s, who)))


def _page(who: Who, after: int, limit: int) -> Flow[tuple[list[Notice], int]]:
    return (yield from look(lambda s: _fed(s, who, after, limit)))


def _fed(snapshot: Snapshot, who: Who, after: int, limit: int) -> tuple[list[Notice], int]:
    tenant, owners = snapshot.tenant(who.scope.tenant), _owners(snapshot, who)
    if tenant is None:
        return [], after
    found, upto = snapshot.feed(tenant, tuple(owners), after, limit)
    heard = [_heard(snapshot, who, change) for change in found]
    return [_notice(change, owners[change.space]) for change in heard if change is not None], upto


def _heard(snapshot: Snapshot, who: Who, change: Change) -> Change | None:
    """What is heard of a commit on this shelf; None for nothing."""
    scope, items = who.scope, {event.item for event in change.events if event.item is not None}
    if not items or (scope.agent is None and scope.session is None):
        return change
    known = snapshot.standing((change.space,), sorted(items))
    others = {item for item, version in known.items() if not on_shelf(scope, version.item)}
    events = tuple(event for event in change.events if event.item not in others)
    return replace(change, events=events) if events else None


def _owners(snapshot: Snapshot, who: Who) -> dict[int, str | Shared]:
    """The spaces that a feed speaks of, and whose they are: the user's own and the shared one, or the branch alone."""
    tenant = snapshot.tenant(who.scope.tenant)
    if tenant is None:
        return {}
    own, common = snapshot.space(tenant, who.scope.user, who.branch), snapshot.space(tenant, SHARED)
    heads = ((own, who.scope.user), (None if who.branch else common, SHARED))
    return {head.id: owner for head, owner in heads if head is not None}


def _notice(change: Change, user: str | Shared) -> Notice:
    return Notice(seq=change.seq, at=change.at, user=user, actor=change.actor, cause=change.cause, events=change.events)


def _written(snapshot: Snapshot, who: Who, seq: int) -> list[Version]:
    tenant, owners = snapshot.tenant(who.scope.tenant), _owners(snapshot, who)
    made = [] if tenant is None else snapshot.changes(tenant, seq - 1, 1)
    if not made or made[0].seq != seq or made[0].space not in owners:
        raise NotFound(f"no commit {seq} here")
    return [version for version, _ in snapshot.written(made[0].space, seq) if on_shelf(who.scope, version.item)]


def _head(snapshot: Snapshot, who: Who) -> int:
    tenant = snapshot.tenant(who.scope.tenant)
    return 0 if tenant is None else snapshot.head(tenant).seq


class Watch:
    """Commits as they come, from this process and from others; an iterator that waits for the next.

    It ends when it is closed, or the memory is. For one thread; `close` may be called from another.

    Args:
        after: Where to begin; None for what is committed from now on.

    Attributes:
        seq: The last commit that was given out: a later watch with `after=seq` goes on without a gap or a repeat.
    """

    def __init__(self, opened: Opened, who: Who, after: int | None) -> None:
        self._opened, self._who = opened, who
        self._ended = threading.Event()
        self._ready: deque[Notice] = deque()
        self.seq = self._upto = run(head(who), opened.perform) if after is None else whole("after", after)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Notice:
        if not self._ready:
            self._ready.extend(self.batch())
        if not self._ready:
            raise StopIteration
        notice = self._ready.popleft()
        self.seq = notice.seq
        return notice

    def batch(self) -> list[Notice]:
        """The next commits, at least one, waited for; none once it has ended."""
        while not self._ended.is_set():
            try:
                found, upto = run(_page(self._who, self._upto, BATCH), self._opened.perform)
                moved, self._upto = upto != self._upto, upto
                if found:
                    return found
                if not moved:
                    self._opened.store.wait(self._who.scope.tenant, upto, SLICE)
            except StoreError:
                if not self._opened.closed.is_set():
                    raise
                self._ended.set()
        return []

    def close(self) -> None:
        """End it: who waits for the next commit is let go."""
        self._ended.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncWatch:
    """`Watch`, awaited. It waits in a thread of its own, so that many watches leave room for the store's work."""

    def __init__(self, opened: Opened, who: Who, after: int | None) -> None:
        self._watch = Watch(opened, who, after)
        self._ready: deque[Notice] = deque()
        self._coming: asyncio.Future[list[Notice]] | None = None
        self.seq = self._watch.seq

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Notice:
        if not self._ready:
            self._coming = self._coming or self._fetch()
            # Shielded: what has come when a waiting caller is cancelled is there for its next call.
            import asyncio  # only who awaits pays for it

            self._ready.extend(await asyncio.shield(self._coming))
            self._coming = None
        if not self._ready:
            raise StopAsyncIteration
        notice = self._ready.popleft()
        self.seq = notice.seq
        return notice

    def _fetch(self) -> asyncio.Future[list[Notice]]:
        import asyncio  # only who awaits pays for it

        loop = asyncio.get_running_loop()
        coming: asyncio.Future[list[Notice]] = loop.create_future()

        def give(found: list[Notice], error: Exception | None) -> None:
            if coming.cancelled():
                return
            if error is None:
                coming.set_result(found)
            else:
                coming.set_exception(error)

        def work() -> None:
            found: list[Notice] = []
            failed: Exception | None = None
            try:
                found = self._watch.batch()
            except Exception as error:  # noqa: BLE001 - carried over to who awaits it
                failed = error
            with suppress(RuntimeError):  # the loop may be gone, and nobody waits any more
                loop.call_soon_threadsafe(give, found, failed)

        threading.Thread(target=work, name="mnemic-watch", daemon=True).start()
        return coming

    async def close(self) -> None:
        """End it: who awaits the next commit is let go."""
        self._watch.close()
        if self._coming is not None:
            import asyncio  # only who awaits pays for it

            await asyncio.wait((self._coming,))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

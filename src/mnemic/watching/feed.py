"""The feed: commits of a user's memory and the shared one, live or from any commit on."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from mnemic.core.checking import whole
from mnemic.core.events import Change, Event, counts_reading
from mnemic.core.ids import ItemId
from mnemic.core.items import Version
from mnemic.core.mutex import Flag
from mnemic.core.scope import SHARED, Shared
from mnemic.errors import Compacted, Invalid, NotFound, StoreError
from mnemic.flow import Flow, Request, run
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.requests import look
from mnemic.verbs.looking_up import LIST_LIMIT
from mnemic.verbs.who import Who, on_shelf
from mnemic.watching.journal_reader import Ear, JournalReader

if TYPE_CHECKING:
    import asyncio

BATCH: Final = 200
"""Commits that a watch reads at once."""
_MARK: Final = re.compile(r"(\d{1,19})(?:-([0-9a-f]{16}))?", re.ASCII)
_DIGITS: Final = 16
"""Of a commit's hash in a mark: two commits of one number have the same ones once in 2^64."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A commit as the feed reports it to those who may read it.

    Attributes:
        seq: Its number in the tenant's journal.
        mark: Where to go on from here, as `after`: the number, and the beginning of the commit's hash, by which a
            journal that was brought back meanwhile, and has grown again, is known to be another.
        at: When the journal took it (aware, UTC).
        user: Whose memory it is in; `SHARED` for the common one.
        actor: Who did it.
        cause: The commit that made it happen, or None.
        events: What it changed: verbs and ids. The words are a read away: `written(seq)`. On a shelf, what it changed
            of that shelf's items, of the store itself, and of what is gone: nothing says any more whose that was.
    """

    seq: int
    mark: str
    at: datetime
    user: str | Shared
    actor: str
    cause: int | None
    events: tuple[Event, ...]

    @property
    def shared(self) -> bool:
        """Whether the commit is in the shared memory and not in a user's own."""
        return isinstance(self.user, Shared)

    @property
    def ids(self) -> tuple[ItemId, ...]:
        """The ids of the items that the commit touched, each once, in that order."""
        return tuple(dict.fromkeys(event.item for event in self.events if event.item is not None))


@dataclass(frozen=True, slots=True)
class _Place:
    """A position in the feed: a commit and, where known, the beginning of its hash, which tells a rewritten journal."""

    seq: int
    hash: str = ""

    @classmethod
    def read(cls, after: int | str) -> _Place:
        """Parse a caller's `after`: a commit's number, or a mark.

        Raises:
            Invalid: it is neither.
        """
        if not isinstance(after, str):
            return cls(whole("after", after))
        match = _MARK.fullmatch(after)
        if match is None:
            raise Invalid("after", f"{after[:60]!r} is no commit", "Give its number, or the `mark` of a notice.")
        return cls(whole("after", int(match[1])), match[2] or "")

    @property
    def mark(self) -> str:
        return f"{self.seq}-{self.hash}" if self.hash else f"{self.seq}"


def changes(who: Who, after: int | str, limit: int, *, every: bool = False) -> Flow[Sequence[Notice]]:
    """Read the commits of a user's memory and the shared one after `after`, oldest first, without other shelves'.

    Args:
        every: Also commits that only count what was shown.

    Raises:
        NotFound: the branch is not there.
        Compacted: commits after `after` lie behind the horizon; or the journal was brought back to before it, which is
            always seen by a mark, and by a number only until there are as many commits again.
    """
    place = _Place.read(after)
    whole("limit", limit, low=1, high=LIST_LIMIT)
    notices: list[Notice] = []
    while len(notices) < limit:
        some, upto = yield from _page(who, place, limit - len(notices), every=every)
        notices += some
        if upto.seq == place.seq:
            break
        place = upto
    return notices


def written(who: Who, seq: int) -> Flow[Sequence[Version]]:
    """Read the versions that a commit wrote on this shelf, without what was erased or compacted since.

    Raises:
        NotFound: no commit of this number touched a memory that may be read here.
    """
    whole("seq", seq, low=1)
    return (yield from look(lambda s: _written(s, who, seq)))


def _begin(who: Who, after: _Place | None) -> Flow[_Place]:
    """Find the position where a watch begins: after a commit; for None, after the tenant's last."""
    return (yield from look(lambda s: _resumed_place(s, who, after)))


def _page(who: Who, after: _Place, limit: int, *, every: bool) -> Flow[tuple[list[Notice], _Place]]:
    return (yield from look(lambda s: _fed(s, who, after, limit, every=every)))


def _fed(snapshot: Snapshot, who: Who, after: _Place, limit: int, *, every: bool) -> tuple[list[Notice], _Place]:
    tenant, owners = snapshot.tenant(who.scope.tenant), _owners(snapshot, who)
    if tenant is None:
        return [], after
    changes_there, upto = snapshot.feed(tenant, tuple(owners), after.seq, limit)
    here = _hash(snapshot, tenant, after.seq)
    if not here.startswith(after.hash):
        raise Compacted(
            f"commit {after.seq} is not the one that was read: the journal was brought back to before it, and has grown"
            " again; begin anew, from 0 or from now"
        )
    heard = [_heard(snapshot, who, change) for change in changes_there if every or not counts_reading(change)]
    notices = [_notice(change, owners[change.space]) for change in heard if change is not None]
    return notices, _Place(upto, here if upto == after.seq else _hash(snapshot, tenant, upto))


def _hash(snapshot: Snapshot, tenant: int, seq: int) -> str:
    """Read the beginning of a commit's hash; "" for 0, before the first."""
    head = snapshot.head(tenant)
    if seq == 0 or seq == head.seq:
        return _shown(head.hash) if seq else ""
    return _shown(snapshot.changes(tenant, seq - 1, 1)[0].hash)


def _shown(digest: bytes) -> str:
    return digest.hex()[:_DIGITS]


def _heard(snapshot: Snapshot, who: Who, change: Change) -> Change | None:
    """Reduce a commit to its events on this shelf; None if there are none."""
    scope, items = who.scope, {event.item for event in change.events if event.item is not None}
    if not items or (scope.agent is None and scope.session is None):
        return change
    known = snapshot.standing((change.space,), sorted(items))
    others = {item for item, version in known.items() if not on_shelf(scope, version.item)}
    events = tuple(event for event in change.events if event.item not in others)
    return replace(change, events=events) if events else None


def _owners(snapshot: Snapshot, who: Who) -> dict[int, str | Shared]:
    """Map the spaces that a feed covers to their owners: the user's own and the shared one, or the branch alone.

    Raises:
        NotFound: the branch is not there.
    """
    tenant = snapshot.tenant(who.scope.tenant)
    own = None if tenant is None else snapshot.space(tenant, who.scope.user, who.branch)
    if who.branch and own is None:
        raise NotFound(f"no branch {who.branch!r} here; `mnemic branches` lists them")
    common = None if tenant is None else snapshot.space(tenant, SHARED)
    heads = ((own, who.scope.user), (None if who.branch else common, SHARED))
    return {head.id: owner for head, owner in heads if head is not None}


def _notice(change: Change, user: str | Shared) -> Notice:
    mark = _Place(change.seq, _shown(change.hash)).mark
    return Notice(
        seq=change.seq, mark=mark, at=change.at, user=user, actor=change.actor, cause=change.cause, events=change.events
    )


def _written(snapshot: Snapshot, who: Who, seq: int) -> list[Version]:
    tenant, owners = snapshot.tenant(who.scope.tenant), _owners(snapshot, who)
    made = [] if tenant is None else snapshot.changes(tenant, seq - 1, 1)
    if not made or made[0].seq != seq or made[0].space not in owners:
        raise NotFound(f"no commit {seq} here")
    return [version for version, _ in snapshot.written(made[0].space, seq) if on_shelf(who.scope, version.item)]


def _resumed_place(snapshot: Snapshot, who: Who, after: _Place | None) -> _Place:
    _owners(snapshot, who)
    tenant = snapshot.tenant(who.scope.tenant)
    if tenant is None:
        return after or _Place(0)
    head = snapshot.head(tenant)
    place = after or _Place(head.seq)
    if place.hash or not head.horizon <= place.seq <= head.seq:
        return place
    return _Place(place.seq, _hash(snapshot, tenant, place.seq))


def _tenant_head(snapshot: Snapshot, name: str) -> _Place:
    tenant = snapshot.tenant(name)
    if tenant is None:
        return _Place(0)
    head = snapshot.head(tenant)
    return _Place(head.seq, _shown(head.hash) if head.seq else "")


def _tenant_page(snapshot: Snapshot, name: str, after: _Place) -> tuple[list[Notice], _Place]:
    """The next commits of all users' memories after a place; not those of branches, nor of who is erased."""
    tenant = snapshot.tenant(name)
    if tenant is None:
        return [], after
    _, upto = snapshot.feed(tenant, (), after.seq, BATCH)
    if not _hash(snapshot, tenant, after.seq).startswith(after.hash):
        raise Compacted(f"commit {after.seq} is not the one that was read: the journal was brought back to before it")
    commits = [] if upto == after.seq else snapshot.changes(tenant, after.seq, BATCH)
    if not commits:
        return [], after
    spaces = snapshot.spaces(sorted({change.space for change in commits}))
    owners = {head.id: head.user for head in spaces if not head.branch}
    notices = [
        _notice(change, user)
        for change in commits
        if (user := owners.get(change.space)) is not None and not counts_reading(change)
    ]
    return notices, _Place(commits[-1].seq, _shown(commits[-1].hash))


class TenantFeed:
    """Reads the commits of all users of a tenant, each once, for a process that hands them on to many.

    For one thread at a time.

    Args:
        journal: Wakes it.
        perform: Answers the requests of its flows.

    Attributes:
        ear: Hears that there are more.
        mark: Up to where it has read.
    """

    def __init__(self, journal: JournalReader, perform: Callable[[Request], Any], tenant: str) -> None:
        self._journal, self._perform, self._tenant = journal, perform, tenant
        self.ear = Ear(tenant, None)
        self.begin()

    @property
    def mark(self) -> str:
        return self._upto.mark

    def begin(self) -> None:
        """Go on from where the journal ends now."""
        self._upto = run(look(lambda s: _tenant_head(s, self._tenant)), self._perform)

    def read(self) -> list[Notice]:
        """Return the next commits, oldest first; none if there are no more, and `ear` hears of those that come.

        Raises:
            Compacted: the journal was brought back to before what was read; `begin` goes on from there.
        """
        self.ear.heard.clear()
        self._journal.listen(self.ear)
        notices: list[Notice] = []
        while not notices:
            before = self._upto
            notices, self._upto = run(look(self._page), self._perform)
            if self._upto == before:
                break
        return notices

    def _page(self, snapshot: Snapshot) -> tuple[list[Notice], _Place]:
        return _tenant_page(snapshot, self._tenant, self._upto)


class Watch:
    """Iterates over commits as they come, from this process and from others, waiting for the next.

    It ends when it is closed, or the memory is. For one thread; `close` may be called from another.

    Args:
        journal: Wakes it.
        perform: Answers the requests of its flows.
        closed: Set once the memory is closed.
        after: Where to begin: a mark or a commit's number; None for what is committed from now on.
        every: Also commits that only count what was shown.

    Attributes:
        seq: The last commit that was given out.
        mark: The same for going on: a later watch with `after=mark` goes on without a gap or a repeat.

    Raises:
        NotFound: the branch is not there; so does the iterator once it is dropped.
        Compacted: of the iterator, as of `changes`.
    """

    def __init__(
        self,
        journal: JournalReader,
        perform: Callable[[Request], Any],
        closed: Flag,
        who: Who,
        after: int | str | None,
        *,
        every: bool = False,
    ) -> None:
        self._journal, self._perform, self._closed = journal, perform, closed
        self._who, self._every = who, every
        self.ear = Ear(who.scope.tenant, who.scope.user)
        self._ended = Flag()
        self._ready: deque[Notice] = deque()
        self._upto = run(_begin(who, None if after is None else _Place.read(after)), perform)
        self.seq, self.mark = self._upto.seq, self._upto.mark

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Notice:
        if not self._ready:
            self._ready.extend(self.batch())
        if not self._ready:
            raise StopIteration
        notice = self._ready.popleft()
        self.seq, self.mark = notice.seq, notice.mark
        return notice

    def batch(self) -> list[Notice]:
        """Wait for the next commits and return them, at least one; none once the watch has ended."""
        while not (notices := self.look()) and not self.ended:
            self.ear.heard.wait()
        return notices

    def look(self) -> list[Notice]:
        """Return the next commits that are there already; `ear` hears of those that come after that."""
        self.ear.heard.clear()
        self._journal.listen(self.ear)
        notices: list[Notice] = []
        try:
            while not notices and not self.ended:
                before = self._upto.seq
                notices, self._upto = run(_page(self._who, self._upto, BATCH, every=self._every), self._perform)
                if self._upto.seq == before:
                    break
        except StoreError:
            if not self._closed.is_set():
                raise
            self._ended.set()
        return notices

    @property
    def ended(self) -> bool:
        """Whether it was closed, or its memory was."""
        return self._ended.is_set() or self._closed.is_set()

    def close(self) -> None:
        """End the watch and release whoever waits for the next commit."""
        self._ended.set()
        self.ear.wake()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncWatch:
    """Iterates as `Watch` does, awaited. While it waits, no thread does."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._ready: deque[Notice] = deque()
        self._coming: asyncio.Task[list[Notice]] | None = None
        self.seq, self.mark = self._watch.seq, self._watch.mark

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Notice:
        if not self._ready:
            import asyncio  # only who awaits pays for it

            self._coming = self._coming or asyncio.create_task(self._batch())
            try:
                # Shielded: what has come when a waiting caller is cancelled is there for its next call.
                self._ready.extend(await asyncio.shield(self._coming))
            except Exception:
                self._coming = None  # the next call looks again
                raise
            self._coming = None
        if not self._ready:
            raise StopAsyncIteration
        notice = self._ready.popleft()
        self.seq, self.mark = notice.seq, notice.mark
        return notice

    async def _batch(self) -> list[Notice]:
        """As `Watch.batch`."""
        import asyncio  # only who awaits pays for it

        loop, heard = asyncio.get_running_loop(), asyncio.Event()
        self._watch.ear.also = partial(loop.call_soon_threadsafe, heard.set)
        while not (notices := await asyncio.to_thread(self._watch.look)) and not self._watch.ended:
            await heard.wait()
            heard.clear()
        return notices

    async def close(self) -> None:
        """End the watch and release whoever awaits the next commit."""
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

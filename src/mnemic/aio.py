"""`mnemic.memory`, `session` and `admin`, awaited: the same verbs with the same signatures, each in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from functools import partial, wraps
from itertools import islice
from typing import TYPE_CHECKING, Any, Concatenate, Final, Generic, ParamSpec, Self, TypeVar

from mnemic.admin import Admin
from mnemic.arguments import checked
from mnemic.memory import Memory, ScopedMemory
from mnemic.session import Session, SessionView
from mnemic.watching.feed import AsyncWatch

if TYPE_CHECKING:
    import threading

    from mnemic.settings import Settings

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")
A = TypeVar("A")

_LINES: Final = 100
"""Lines of an export that are fetched at once."""


class _Calls:
    """Runs the calls of one memory in threads. Cancelling ends the waiting; a call that began runs to its end."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    async def run(self, call: Callable[[], T], on_done: Callable[[], None] = lambda: None) -> T:
        """Run `call` in a thread; call `on_done` once it has returned, whoever still waits for it."""
        return await asyncio.shield(self._started(asyncio.to_thread(call), on_done))

    async def carry(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` to its end, even if whoever waits for it is cancelled."""
        return await asyncio.shield(self._started(work, lambda: None))

    async def finish(self) -> None:
        """Wait until every call of this event loop is done."""
        loop = asyncio.get_running_loop()
        while running := [task for task in self._running if task.get_loop() is loop]:
            await asyncio.wait(running)

    def _started(self, work: Coroutine[Any, Any, T], on_done: Callable[[], None]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(partial(self._on_end, on_done))
        return task

    def _on_end(self, on_done: Callable[[], None], task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        on_done()
        if not task.cancelled():
            task.exception()  # read, so that asyncio does not log a failure that nobody waits for any more


class _Awaiting(Generic[S]):
    """The async twin of an object: its verbs call those of `_plain` in a thread."""

    _plain: S
    _calls: _Calls

    async def _call(self, call: Callable[[], T]) -> T:
        return await self._calls.run(call)


def _awaited(verb: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[_Awaiting[S], P], Coroutine[Any, Any, T]]:
    """Make an async method of `verb`; functions that it takes as arguments are called in the thread."""

    @wraps(verb)
    async def awaited(self: _Awaiting[S], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._call(partial(verb, self._plain, *args, **kwargs))

    return awaited


def _like(
    verb: Callable[Concatenate[S, P], Any],
) -> Callable[[Callable[Concatenate[A, ...], T]], Callable[Concatenate[A, P], T]]:
    """Give a method the parameters and the docstring of `verb`, but not its return type."""

    def like(method: Callable[Concatenate[A, ...], T]) -> Callable[Concatenate[A, P], T]:
        return wraps(verb)(method)

    return like


def _handle(
    verb: Callable[Concatenate[ScopedMemory, P], ScopedMemory],
) -> Callable[Concatenate[AsyncScopedMemory, P], AsyncScopedMemory]:
    """Make the verb of a handle that returns another handle; it touches no store, so it is not awaited."""

    @wraps(verb)
    def handle(self: AsyncScopedMemory, /, *args: P.args, **kwargs: P.kwargs) -> AsyncScopedMemory:
        return AsyncScopedMemory(verb(self._plain, *args, **kwargs), self._calls)

    return handle


class AsyncScopedMemory(_Awaiting[ScopedMemory]):
    """One user's memory, now or at a moment of its past (`at`, `as_of`, `valid_at`), awaited."""

    def __init__(self, plain: ScopedMemory, calls: _Calls) -> None:
        self._plain, self._calls = plain, calls

    def __repr__(self) -> str:
        return f"Async{self._plain!r}"

    @property
    def settings(self) -> Settings:
        """What the store was opened with."""
        return self._plain.settings

    at = _handle(ScopedMemory.at)
    as_of = _handle(ScopedMemory.as_of)
    valid_at = _handle(ScopedMemory.valid_at)
    shelf = _handle(ScopedMemory.shelf)
    on_branch = _handle(ScopedMemory.on_branch)

    @_like(ScopedMemory.branch)
    async def branch(self, *args: Any, **kwargs: Any) -> AsyncScopedMemory:
        return AsyncScopedMemory(await self._call(partial(self._plain.branch, *args, **kwargs)), self._calls)

    @_like(ScopedMemory.session)
    def session(self, *args: Any, **kwargs: Any) -> AsyncSession:
        return AsyncSession(self._plain._window(*args, **kwargs), self._calls)

    @_like(ScopedMemory.watch)
    @checked
    def watch(self, *, after: int | str | None = None, every: bool = False) -> AsyncWatch:
        return AsyncWatch(self._plain.watch(after=after, every=every))

    observe = _awaited(ScopedMemory.observe)
    write = _awaited(ScopedMemory.write)
    revise = _awaited(ScopedMemory.revise)
    supersede = _awaited(ScopedMemory.supersede)
    correct = _awaited(ScopedMemory.correct)
    transact = _awaited(ScopedMemory.transact)
    settle = _awaited(ScopedMemory.settle)
    follow = _awaited(ScopedMemory.follow)
    following = _awaited(ScopedMemory.following)
    link = _awaited(ScopedMemory.link)
    unlink = _awaited(ScopedMemory.unlink)
    pin = _awaited(ScopedMemory.pin)
    unpin = _awaited(ScopedMemory.unpin)
    forget = _awaited(ScopedMemory.forget)
    forget_by = _awaited(ScopedMemory.forget_by)
    feedback = _awaited(ScopedMemory.feedback)
    undo = _awaited(ScopedMemory.undo)
    undo_range = _awaited(ScopedMemory.undo_range)
    undo_import = _awaited(ScopedMemory.undo_import)
    erase = _awaited(ScopedMemory.erase)
    erase_user = _awaited(ScopedMemory.erase_user)
    branches = _awaited(ScopedMemory.branches)
    merge = _awaited(ScopedMemory.merge)
    drop_branch = _awaited(ScopedMemory.drop_branch)
    revert = _awaited(ScopedMemory.revert)
    recall = _awaited(ScopedMemory.recall)
    context = _awaited(ScopedMemory.context)
    ask = _awaited(ScopedMemory.ask)
    read = _awaited(ScopedMemory.read)
    why_not = _awaited(ScopedMemory.why_not)
    review = _awaited(ScopedMemory.review)
    profile = _awaited(ScopedMemory.profile)
    get = _awaited(ScopedMemory.get)
    list = _awaited(ScopedMemory.list)
    count = _awaited(ScopedMemory.count)
    links = _awaited(ScopedMemory.links)
    graph = _awaited(ScopedMemory.graph)
    strength = _awaited(ScopedMemory.strength)
    spend = _awaited(ScopedMemory.spend)
    observe_exchange = _awaited(ScopedMemory.observe_exchange)
    prompt_messages = _awaited(ScopedMemory.prompt_messages)
    history = _awaited(ScopedMemory.history)
    holdings = _awaited(ScopedMemory.holdings)
    log = _awaited(ScopedMemory.log)
    diff = _awaited(ScopedMemory.diff)
    sessions = _awaited(ScopedMemory.sessions)
    find_session = _awaited(ScopedMemory.find_session)
    session_pages = _awaited(ScopedMemory.session_pages)
    find_ids = _awaited(ScopedMemory.find_ids)
    visible = _awaited(ScopedMemory.visible)
    write_folder = _awaited(ScopedMemory.write_folder)
    compare_folder = _awaited(ScopedMemory.compare_folder)
    apply_folder = _awaited(ScopedMemory.apply_folder)
    export_cube = _awaited(ScopedMemory.export_cube)
    import_cube = _awaited(ScopedMemory.import_cube)
    check_cube = _awaited(ScopedMemory.check_cube)
    changes = _awaited(ScopedMemory.changes)
    written = _awaited(ScopedMemory.written)


class AsyncMemory(_Awaiting[Memory]):
    __doc__ = Memory.__doc__

    @_like(Memory.__init__)
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._plain = Memory(*args, **kwargs)
        # Closing waits for the former alone: who drains a backlog may take hours.
        self._calls, self._aside = _Calls(), _Calls()

    def __repr__(self) -> str:
        return f"Async{self._plain!r}"

    @property
    def settings(self) -> Settings:
        """What it was opened with."""
        return self._plain.settings

    @property
    def admin(self) -> AsyncAdmin:
        """Care of the whole store: verify, doctor, backup, export, stats, horizon."""
        return AsyncAdmin(self._plain.admin, self._aside)

    @_like(Memory.scope)
    def scope(self, **names: Any) -> AsyncScopedMemory:
        return AsyncScopedMemory(self._plain.scope(**names), self._calls)

    @_like(Memory.session)
    def session(
        self, session: str, *, user: Any, tenant: str | None = None, agent: str | None = None, **terms: Any
    ) -> AsyncSession:
        return self.scope(user=user, tenant=tenant, agent=agent).session(session, **terms)

    @_like(Memory.watch)
    def watch(self, *, user: Any, after: int | str | None = None, tenant: str | None = None) -> AsyncWatch:
        return self.scope(user=user, tenant=tenant).watch(after=after)

    @_like(Memory.flush)
    async def flush(self, **how: Any) -> bool:
        return await self._aside.run(partial(self._plain.flush, **how))

    @_like(Memory.close)
    async def close(self) -> None:
        await self._calls.finish()
        await self._aside.run(self._plain.close)

    def __await__(self) -> Generator[Any, None, Self]:
        """Return the memory itself, as `async with` does; then it is for you to close."""
        return self.__aenter__().__await__()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.close()


class AsyncSession(_Awaiting[Session], SessionView):
    """The same as `Session`, awaited. `async with` opens it, and so does `await`; then it is for you to close."""

    def __init__(self, plain: Session, calls: _Calls) -> None:
        self._plain, self._calls, self._tenure = plain, calls, plain._tenure
        self._turn = asyncio.Lock()

    async def _call(self, call: Callable[[], T]) -> T:
        """One verb at a time: those that wait hold no thread."""
        await self._turn.acquire()
        return await self._calls.run(call, self._turn.release)

    observe = _awaited(Session.observe)
    context = _awaited(Session.context)
    window = _awaited(Session.window)
    messages = _awaited(Session.messages)
    page_in = _awaited(Session.page_in)
    page_out = _awaited(Session.page_out)
    pin = _awaited(Session.pin)
    unpin = _awaited(Session.unpin)
    close = _awaited(Session.close)

    @_like(Session.open)
    async def open(self) -> Self:
        if self._flows.state == "new":
            try:
                await self._call(self._plain.open)
            except asyncio.CancelledError:
                await self._calls.carry(self.close())  # nobody has it, so it is given back
                raise
        return self

    def __await__(self) -> Generator[Any, None, Self]:
        return self.open().__await__()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    __aexit__ = _awaited(Session.__exit__)


class AsyncAdmin(_Awaiting[Admin]):
    """The verbs on a store as a whole, awaited; see `Admin`. Closing the memory waits for none of them."""

    def __init__(self, plain: Admin, calls: _Calls) -> None:
        self._plain, self._calls = plain, calls

    info = _awaited(Admin.info)
    ping = _awaited(Admin.ping)
    stats = _awaited(Admin.stats)
    users = _awaited(Admin.users)
    spending = _awaited(Admin.spending)
    vitals = _awaited(Admin.vitals)
    tail = _awaited(Admin.tail)
    verify = _awaited(Admin.verify)
    doctor = _awaited(Admin.doctor)
    state_hash = _awaited(Admin.state_hash)
    backup = _awaited(Admin.backup)
    checkpoint = _awaited(Admin.checkpoint)
    checkpoints = _awaited(Admin.checkpoints)
    drop_checkpoint = _awaited(Admin.drop_checkpoint)
    commit_at = _awaited(Admin.commit_at)
    rewind = _awaited(Admin.rewind)
    load = _awaited(Admin.load)
    erase_tenant = _awaited(Admin.erase_tenant)
    settle = _awaited(Admin.settle)
    behind = _awaited(Admin.behind)
    reindex = _awaited(Admin.reindex)
    log = _awaited(Admin.log)
    jobs = _awaited(Admin.jobs)
    dead = _awaited(Admin.dead)
    retry = _awaited(Admin.retry)
    cancel = _awaited(Admin.cancel)
    order = _awaited(Admin.order)
    rerun = _awaited(Admin.rerun)
    lane_names = _awaited(Admin.lane_names)
    gc = _awaited(Admin.gc)
    hold = _awaited(Admin.hold)
    holds = _awaited(Admin.holds)
    release_hold = _awaited(Admin.release_hold)
    compact = _awaited(Admin.compact)

    @_like(Admin.export)
    async def export(self, *args: Any, **kwargs: Any) -> AsyncIterator[bytes]:
        lines = await self._call(partial(self._plain.export, *args, **kwargs))
        while page := await self._call(lambda: list(islice(lines, _LINES))):
            for line in page:
                yield line

    async def serve(self, stop: threading.Event, **how: Any) -> None:
        """Be a worker for every user of the store until `stop` is set, or this is cancelled; see `Background.serve`."""
        try:
            await self._call(partial(self._plain.serve, stop, **how))
        except asyncio.CancelledError:
            stop.set()
            raise

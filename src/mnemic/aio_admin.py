"""`mnemic.admin`, awaited: every verb on a store as a whole, in a thread, so that the event loop goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import wraps
from itertools import islice
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, TypeVar

from mnemic.admin import Admin

if TYPE_CHECKING:
    import threading

P = ParamSpec("P")
T = TypeVar("T")

_LINES: Final = 100
"""Lines of an export that are fetched at once."""


def _awaited(
    verb: Callable[Concatenate[Admin, P], T],
) -> Callable[Concatenate[AsyncAdmin, P], Coroutine[Any, Any, T]]:
    """A verb of `Admin` as one of `AsyncAdmin`; once begun it ends, whoever is cancelled."""

    @wraps(verb)
    async def awaited(self: AsyncAdmin, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.shield(asyncio.to_thread(verb, self._admin, *args, **kwargs))

    return awaited


class AsyncAdmin:
    """The verbs on a store as a whole, awaited; see `Admin`. Functions that are given (`told`) run in the thread."""

    def __init__(self, admin: Admin) -> None:
        self._admin = admin

    info = _awaited(Admin.info)
    stats = _awaited(Admin.stats)
    vitals = _awaited(Admin.vitals)
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

    async def export(self, tenant: str | None = None) -> AsyncIterator[bytes]:
        """A tenant's journal as lines of JSON; see `Admin.export`."""
        lines = await asyncio.to_thread(self._admin.export, tenant)
        while page := await asyncio.to_thread(lambda: list(islice(lines, _LINES))):
            for line in page:
                yield line

    async def serve(self, stop: threading.Event, **how: Any) -> None:
        """Be a worker for every user of the store until `stop` is set, or this is cancelled; see `Background.serve`."""
        try:
            await asyncio.shield(asyncio.to_thread(self._admin.serve, stop, **how))
        except asyncio.CancelledError:
            stop.set()
            raise

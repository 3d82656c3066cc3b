"""An agent's window over its memory: `with me.session("chat-1") as s`. What its verbs do: `window.session_flows`."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, TypeVar

from mnemic.arguments import held_to_the_table
from mnemic.core.checking import clean_name
from mnemic.core.events import Receipt
from mnemic.core.ids import ItemId
from mnemic.core.items import Channel, Slot
from mnemic.core.queries import Context
from mnemic.errors import Invalid, MnemicError, Refused
from mnemic.flow import Flow, run
from mnemic.tiers.counters import Counters
from mnemic.tiers.pager import Pager, Pressure
from mnemic.verbs.recalling import RecallRequest
from mnemic.window.layout import Window
from mnemic.window.session_flows import SessionFlows
from mnemic.window.terms import Terms
from mnemic.writing import MessageLike, as_messages

if TYPE_CHECKING:
    from mnemic.opening import Opened
    from mnemic.verbs.who import Who

T = TypeVar("T")


class SessionView:
    """The properties of a session, which it reads from its window in memory and not from the store."""

    _flows: SessionFlows

    @property
    def name(self) -> str:
        """The session's name, which its turns carry."""
        return self._flows.name

    @property
    def budget(self) -> int:
        """The most tokens that its window may hold."""
        return self._flows.pager.budget

    @property
    def policy(self) -> str:
        """The name of the replacement policy."""
        return self._flows.pager.policy.name

    @property
    def pressure(self) -> Pressure:
        """How full the window is: none, soft (from 0.75 of the budget), hard (above 0.9: a new page evicts others)."""
        return self._flows.pager.pressure

    @property
    def counters(self) -> Counters:
        """Counts of hits, faults, evictions and others since this process opened the session."""
        return self._flows.pager.counters

    @property
    def dirty(self) -> int:
        """How many pages have a state that is not yet stored; it is written along with a turn, or on closing."""
        return len(self._flows.pager.table.dirty)

    @property
    def working_set(self) -> int:
        """How many distinct pages the last 256 references were to."""
        return len(self._flows.pager.working_set)

    @property
    def tokens(self) -> Mapping[str, int]:
        """The window's tokens by section: always, segments, frame, pages, free."""
        return dict(self._flows.pager.meter)

    @property
    def known_pages(self) -> int:
        """How many pages the page table holds, resident or not; their number is bounded, however long the talk is."""
        return len(self._flows.pager.table.resident) + len(self._flows.pager.table.away)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self._flows.state}, {self.tokens})"


@held_to_the_table
class Session(SessionView):
    """One talk with its context window: turns and recalled items are paged in, a policy evicts what does not fit.

    Safe to share between threads, one verb at a time. Close it, so that others may open it at once.
    """

    def __init__(self, opened: Opened, who: Who, name: str | None, terms: Terms) -> None:
        if not who.past.is_now:
            raise Refused("this handle looks at the past; open a session on the one it came from")
        named = who.scope.session if name is None else name
        if named is None:
            raise Invalid("session", "is missing", "Name it, such as session('chat-1').")
        self._opened, self._who = opened, who
        self._flows = SessionFlows(opened.kernel, who, clean_name("session", named), terms)
        self._lock = threading.RLock()
        self._leave: Callable[[], None] = _nothing

    def open(self) -> Self:
        """Resume the session as it was left; one that `with` or `session` gave is open already.

        Raises:
            Conflict: it is open elsewhere, here or in another process.
        """
        with self._lock:
            if self._flows.state == "new":
                self._run(self._flows.open())
                self._follow()
        return self

    def observe(
        self,
        messages: MessageLike | Sequence[MessageLike],
        *,
        speaker: str | None = None,
        role: str | None = None,
        said: datetime | None = None,
        slots: Mapping[str, Slot] | None = None,
        tags: Sequence[str] = (),
        key: str | None = None,
        channel: Channel = Channel.USER,
    ) -> Receipt:
        """Remember what was said, durably as `ScopedMemory.observe` does; then admit it to the window.

        A message of the role `tool` is never parted from the turn before it, which called for it.

        Raises:
            Conflict: another process has taken the session over; nothing was written.
        """
        plain = as_messages(messages, speaker=speaker, role=role, said=said, slots=slots, tags=tags, key=key)
        return self._run(self._flows.observe(plain, channel))

    def context(
        self, query: str, *, k: int | None = None, now: datetime | None = None, explain: bool = False
    ) -> Context:
        """Recall for a question, page in the hits that are not in the window, and return the window.

        `text` is the whole window, `items` the hits that are in it, best first.
        """
        context = self._run(self._flows.context(RecallRequest(query=query, k=k, now=now, explain=explain)))
        self._opened.count_use(self._who, context)
        return context

    def window(self) -> Window:
        """Return the window as it stands, without what was erased, forgotten or superseded meanwhile."""
        return self._run(self._flows.look())

    def messages(self, *, system: str = "") -> list[dict[str, object]]:
        """Return the window as messages for a provider (`role`, `content`); they begin as they began the last time.

        Args:
            system: Text of a system message that goes before all others.
        """
        return self._run(self._flows.messages(system))

    def page_in(self, id: ItemId) -> Window:
        """Page an item in, whatever session it is of."""
        return self._run(self._flows.page_in(id))

    def page_out(self, id: ItemId) -> Window:
        """Page an item out; it can be paged in again by its id."""
        return self._run(self._flows.page_out(id))

    def pin(self, id: ItemId) -> Window:
        """Keep a page in this window, whatever the policy says."""
        return self._run(self._flows.pin(id, pinned=True))

    def unpin(self, id: ItemId) -> Window:
        """Unpin a page."""
        return self._run(self._flows.pin(id, pinned=False))

    def close(self) -> None:
        """Store the window's state and give the session's lease back, unless somebody else has taken it over."""
        try:
            self._run(self._flows.close())
        finally:
            self._leave()

    def _follow(self) -> None:
        """Count this window in the meters, and close it with the memory or the program, until `_leave` is called."""
        pager = self._flows.pager
        uncount = self._opened.meters.windows.follow(partial(_counts, pager.counters), partial(_gauges, pager))
        unlist = _give_back_at_exit(self._opened, partial(self._give_back, os.getpid()))
        self._leave = partial(_call_both, uncount, unlist)

    def _give_back(self, owner: int) -> None:
        """Close the session for a program that did not; not while a verb runs, and not in a forked child."""
        if os.getpid() != owner or not self._idle():
            return
        try:
            run(self._flows.close(), self._opened.answering.attend)
        finally:
            self._leave()

    def _run(self, flow: Flow[T]) -> T:
        with self._lock:
            return self._opened.answering.verb(flow, self._who, within="session.")

    def _idle(self) -> bool:
        free = self._lock.acquire(blocking=False)
        if free:
            self._lock.release()
        return free

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except MnemicError as failed:
            if error is None:
                raise
            error.add_note(f"the session could not be closed: {failed}")


_METERED: Final = (
    "references", "hits", "faults", "refused", "evictions", "paged_out", "prefetched", "prefetch_hits", "write_backs",
    "rows", "rendered", "reused",
)  # fmt: skip


def _counts(counters: Counters) -> dict[str, float]:
    return {name: getattr(counters, name) for name in _METERED}


def _gauges(pager: Pager) -> dict[str, float]:
    return {"pages": len(pager.table.resident), "tokens": pager.table.used, "budget": pager.budget}


def _nothing() -> None:
    """Do nothing: stands for `_leave` until the session is open."""


def _call_both(first: Callable[[], None], second: Callable[[], None]) -> None:
    first()
    second()


_open: Final[dict[object, Callable[[], None]]] = {}
"""The functions that close the sessions that are open in this process."""


def _give_back_at_exit(opened: Opened, give_back: Callable[[], None]) -> Callable[[], None]:
    """Register `give_back` to be called when the memory closes or the program ends; return what undoes that."""
    token = object()
    opened.leaving[token] = _open[token] = give_back
    return partial(_forget, opened, token)


def _forget(opened: Opened, token: object) -> None:
    opened.leaving.pop(token, None)
    _open.pop(token, None)


@atexit.register
def _give_back_all() -> None:
    for give_back in list(_open.values()):
        with suppress(MnemicError):  # the lease runs out by itself
            give_back()

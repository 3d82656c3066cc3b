"""An agent's window over its memory: `with me.session("chat-1") as s`. What its verbs do: `window.session_flows`."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Concatenate, Final, ParamSpec, Self, TypeVar

from mnemic.arguments import held_to_the_table
from mnemic.core.checking import clean_name
from mnemic.core.events import Receipt
from mnemic.core.ids import ItemId
from mnemic.core.items import Channel, Slot
from mnemic.core.mutex import Mutex
from mnemic.core.queries import Context
from mnemic.errors import Conflict, Invalid, MnemicError, Refused
from mnemic.flow import Flow, run
from mnemic.tiers.counters import Counters
from mnemic.tiers.pager import Pressure
from mnemic.verbs.recalling import RecallRequest
from mnemic.window.layout import Window
from mnemic.window.session_flows import SessionFlows
from mnemic.window.terms import Terms
from mnemic.writing import MessageLike, as_messages

if TYPE_CHECKING:
    from mnemic.opening import Opened
    from mnemic.verbs.who import Who

P = ParamSpec("P")
T = TypeVar("T")


class SessionView:
    """The properties of a session, which it reads from its window in memory and not from the store."""

    _tenure: Tenure

    @property
    def _flows(self) -> SessionFlows:
        return self._tenure.flows

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
    def shown_ids(self) -> tuple[ItemId, ...]:
        """The items whose words its window shows or has shown in brief: pages, segments, what is always on, and what
        that was derived from."""
        always = () if self._flows.contents.always is None else self._flows.contents.always.items
        derived_from = (source for item in always for source in item.source)
        stated = (item.id for item in always if not item.source)
        return tuple(dict.fromkeys((*self._flows.contents.ids, *stated, *derived_from)))

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
        self._tenure = Tenure(opened, who, clean_name("session", named), terms, weakref.ref(self))

    def open(self) -> Self:
        """Resume the session as it was left; one that `with` or `session` gave is open already.

        Raises:
            Conflict: it is open elsewhere, here or in another process.
        """
        self._tenure.open()
        return self

    def observe(
        self,
        messages: MessageLike | Sequence[MessageLike],
        *,
        speaker: str | None = None,
        role: str | None = None,
        said: datetime | str | None = None,
        slots: Mapping[str, Slot] | None = None,
        tags: Sequence[str] = (),
        key: str | None = None,
        channel: Channel = Channel.USER,
        expires: datetime | timedelta | str | None = None,
    ) -> Receipt:
        """Remember what was said, durably as `ScopedMemory.observe` does; then admit it to the window.

        A message of the role `tool` is never parted from the turn before it, which called for it.

        Raises:
            Conflict: another process has taken the session over; nothing was written.
        """
        plain = as_messages(
            messages, speaker=speaker, role=role, said=said, slots=slots, tags=tags, key=key, expires=expires
        )
        return self._tenure.run(SessionFlows.observe, plain, channel)

    def context(
        self, query: str, *, k: int | None = None, now: datetime | str | None = None, explain: bool = False
    ) -> Context:
        """Recall for a question, page in the hits that are not in the window, and return the window.

        `text` is the whole window, `items` the hits that are in it, best first.
        """
        context = self._tenure.run(SessionFlows.context, RecallRequest(query=query, k=k, now=now, explain=explain))
        self._opened.count_use(self._who, context)
        return context

    def window(self) -> Window:
        """Return the window as it stands, without what was erased, forgotten or superseded meanwhile."""
        return self._tenure.run(SessionFlows.look)

    def messages(self, *, system: str = "") -> list[dict[str, object]]:
        """Return the window as messages for a provider (`role`, `content`); they begin as they began the last time.

        Args:
            system: Text of a system message that goes before all others.
        """
        return self._tenure.run(SessionFlows.messages, system)

    def page_in(self, id: ItemId) -> Window:
        """Page an item in, whatever session it is of."""
        return self._tenure.run(SessionFlows.page_in, id)

    def page_out(self, id: ItemId) -> Window:
        """Page an item out; it can be paged in again by its id."""
        return self._tenure.run(SessionFlows.page_out, id)

    def pin(self, id: ItemId) -> Window:
        """Keep a page in this window, whatever the policy says."""
        return self._tenure.run(SessionFlows.pin, id, pinned=True)

    def unpin(self, id: ItemId) -> Window:
        """Unpin a page."""
        return self._tenure.run(SessionFlows.pin, id, pinned=False)

    def close(self) -> None:
        """Store the window's state and give the session's lease back, unless somebody else has taken it over."""
        self._tenure.close()

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


class Tenure:
    """A session while this process has it: its flows, one verb at a time, and what gives it back.

    It outlives a `Session` that was lost without being closed, as by an interrupt of the call that made it: the next to
    open that session here gives it back first; so does closing the memory, and the end of the program.

    Args:
        session: Whom it was made for.
    """

    def __init__(
        self, opened: Opened, who: Who, name: str, terms: Terms, session: Callable[[], Session | None]
    ) -> None:
        self.flows = SessionFlows(opened.kernel, who, name, terms)
        self._opened, self._who, self._session = opened, who, session
        self._place = (who.scope.tenant, who.scope.user, who.branch, name)
        self._lock = Mutex()
        self._cut_short = False
        self._closing = False
        self._process = os.getpid()
        self._uncount: Callable[[], None] = _nothing

    def open(self) -> None:
        """Resume the session as it was left, unless it is open."""
        with self._lock:
            if self._cut_short and self.flows.state == "opening":
                self.flows = self.flows.anew()
            if self.flows.state != "new":
                return
            self._closing = False
            self._take_from_the_lost()
            self._enlist()  # before its lease is taken: who interrupts that still has it given back
            try:
                self._drive(self.flows.open())
            except MnemicError:
                self.flows = self.flows.anew()
                self._leave()
                raise

    def run(self, verb: Callable[Concatenate[SessionFlows, P], Flow[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run one verb of the session."""
        with self._lock:
            self._mend()
            return self._drive(verb(self.flows, *args, **kwargs))

    def close(self) -> None:
        """Store the window's state and give the session's lease back."""
        self._closing = True
        with self._lock:
            try:
                self._close(self._drive)
            except MnemicError:
                self._leave()
                raise
            self._leave()

    def _close(self, drive: Callable[[Flow[None]], None]) -> None:
        try:
            self._mend()
        except Conflict:  # it was cut short, and is another's by now
            return
        drive(self.flows.close())

    def _drive(self, flow: Flow[T]) -> T:
        self._cut_short = True
        try:
            answer = self._opened.answering.verb(flow, self._who, within="session.")
        except MnemicError:
            self._cut_short = False
            raise
        self._cut_short = False
        return answer

    def _mend(self) -> None:
        """After a verb was cut short between any two steps, make the window again of what is stored."""
        if self._cut_short and self.flows.state == "open":
            fresh = self.flows.anew()
            run(fresh.reopen(self.flows), self._opened.answering.attend)
            self.flows, self._cut_short = fresh, False

    def _take_from_the_lost(self) -> None:
        """Give the session back for those of this process that nobody can use any more."""
        others = [other for other in list(self._opened.leaving) if isinstance(other, Tenure) and other is not self]
        for other in others:
            if other._place == self._place and other._is_lost():
                with suppress(MnemicError):
                    other._give_back()

    def _is_lost(self) -> bool:
        if self._closing or self.flows.state == "opening":
            return not self._lock.held  # the call that closed or opened it is over, and came to no end
        if self._session() is not None:
            gc.collect()  # an interrupted call may be kept by a circle through its own error
        return self._session() is None

    def _enlist(self) -> None:
        """Count this window in the meters, and close it with the memory or the program, until `_leave` is called."""
        self._opened.leaving[self] = _open[self] = self._give_back
        self._uncount()
        self._uncount = self._opened.meters.windows.follow(self._counts, self._gauges)

    def _leave(self) -> None:
        self._opened.leaving.pop(self, None)
        _open.pop(self, None)
        self._uncount()

    def _give_back(self) -> None:
        """Close the session for a program that did not; not while a verb runs, and not in a forked child."""
        if os.getpid() != self._process or not self._lock.take(sys._getframe(), 0):
            return
        try:
            self._close(self._attend)
            self._leave()
        except MnemicError:
            self._leave()
            raise
        finally:
            self._lock.give_back(sys._getframe())

    def _attend(self, flow: Flow[None]) -> None:
        run(flow, self._opened.answering.attend)

    def _counts(self) -> dict[str, float]:
        return {name: getattr(self.flows.pager.counters, name) for name in _METERED}

    def _gauges(self) -> dict[str, float]:
        pager = self.flows.pager
        return {"pages": len(pager.table.resident), "tokens": pager.table.used, "budget": pager.budget}


_METERED: Final = (
    "references", "hits", "faults", "refused", "evictions", "paged_out", "prefetched", "prefetch_hits", "write_backs",
    "rows", "rendered", "reused",
)  # fmt: skip


def _nothing() -> None:
    """Do nothing: stands for `_uncount` until the session is open."""


_open: Final[dict[object, Callable[[], None]]] = {}
"""The functions that close the sessions that are open in this process."""


@atexit.register
def _give_back_all() -> None:
    for give_back in list(_open.values()):
        with suppress(MnemicError):  # the lease runs out by itself
            give_back()

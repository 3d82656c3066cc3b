"""The verbs of a session, as flows: turns come in and stay durable, pages move, a question is answered from the window.

The page table (`tiers.pager`) is kept in memory and written behind: its rows ride in the commit of a turn, so that a
turn costs one sync and no more. What leaves the window becomes topic segments, which are items like any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from mnemic.core.events import Receipt
from mnemic.core.ids import ItemId, to_bytes
from mnemic.core.items import Channel, Item
from mnemic.core.queries import Context, Recalled
from mnemic.core.tokens import told_cost
from mnemic.core.visibility import has_expired
from mnemic.errors import Conflict, NotFound, Refused
from mnemic.flow import Flow
from mnemic.ingest.message import Message
from mnemic.lanes.slices import DERIVER
from mnemic.registry import POLICIES
from mnemic.tiers.pager import Pager
from mnemic.tiers.policies import open_policy
from mnemic.verbs.kernel import Kernel
from mnemic.verbs.recalling import RecallRequest
from mnemic.verbs.who import Who
from mnemic.window.contents import Contents, needed
from mnemic.window.layout import SEGMENT, Window, is_page, role_of
from mnemic.window.resuming import check_pins, take_up
from mnemic.window.session_state import (
    LEASE_SECONDS,
    Followed,
    Heads,
    SessionState,
    WriteBehind,
    as_page,
    beside,
    followed,
    session_pages,
    session_state,
)
from mnemic.window.terms import Terms

if TYPE_CHECKING:
    from mnemic.core.items import Version
    from mnemic.recall.always import Always
    from mnemic.store.engine.snapshot import Snapshot


class SessionFlows:
    """One session of one user: its window, and every verb on it as a flow. Not for two threads at a time."""

    def __init__(self, kernel: Kernel, who: Who, name: str, terms: Terms, owner: str | None = None) -> None:
        """Make the flows of a session that is not open yet.

        Args:
            owner: Who has its lease, if it goes on in the place of others that were cut short.
        """
        self.name, self._terms, self._kernel, self._who = name, terms, kernel, who
        self._reader = replace(who, scope=replace(who.scope, session=None))
        self._writer = replace(who, scope=replace(who.scope, session=name))
        policy = open_policy(kernel.settings.policy) if terms.policy is None else terms.policy
        budget = kernel.settings.window if terms.budget is None else terms.budget
        self.pager = Pager(policy, budget, marks=terms.marks)
        self.contents = Contents(self.pager, terms.writing, terms.reach, kernel.settings.always_share)
        self._owner = str(kernel.desk.fresh_id()) if owner is None else owner
        self._behind = WriteBehind(name, self._owner, self.contents)
        self._heads: Heads = ()
        self.state = "new"

    # Opening and closing

    def anew(self) -> SessionFlows:
        """The same session under the same lease, not open yet: what a verb that was cut short left is not gone on with.

        A policy that is an object of the caller's is told that the pages it knew have left.
        """
        fresh = SessionFlows(self._kernel, self._who, self.name, self._terms, self._owner)
        fresh.pager.counters = self.pager.counters
        if fresh.pager.policy is self.pager.policy:
            for page in list(self.pager.table.resident.values()):
                with suppress(LookupError, ValueError):  # it was cut short before that page was noted
                    self.pager.policy.left(page, self.pager.now)
        return fresh

    def reopen(self, before: SessionFlows) -> Flow[None]:
        """Resume the session after a verb was cut short: as it is stored, with the pins it had; what was paged in may
        have to come in again.

        Raises:
            Conflict: another process has taken the session over.
        """
        yield from self.open()
        for item in [page.id for page in list(before.pager.table.resident.values()) if page.pinned]:
            with suppress(NotFound, Refused):  # it is gone by now, or its pinning was what was cut short
                yield from self.page_in(item)
                yield from self.pin(item, pinned=True)

    def open(self) -> Flow[None]:
        """Resume the session where it was left, with the budget and the policy it had unless others are asked for.

        Raises:
            Conflict: another process has it open.
            Refused: its pins do not fit the budget; nothing was written.
        """
        self.state = "opening"
        stored = yield from self._kernel.read(self._reader, self._state_in)
        if stored.known:
            self._restore_terms(stored)
            check_pins(self.contents, stored, self.name)
            self.contents.turns, self.pager.now = stored.turns, stored.clock
            self._behind.take_up(stored)
            yield from self._write((), taking=True)
            # Whoever had it may have written until then.
            stored = yield from self._kernel.read(self._reader, self._state_in)
            self._restore_terms(stored)
        self._behind.take_up(stored)
        take_up(self.contents, stored)
        self.state = "open"

    def close(self) -> Flow[None]:
        """Store what waits to be written, and release the session's lease. Closing twice is fine.

        A session that another process has taken over is theirs to write: there is nothing left to do.
        """
        if self.state in ("new", "closed"):
            return
        if self.state == "open":
            yield from self._follow()
            yield from self._promote(everything=True)
        with suppress(Conflict):
            yield from self._write(self._behind.dirty if self.state == "open" else (), seconds=0.0)
        self.state = "closed"

    # Turns

    def observe(self, messages: Sequence[Message], channel: Channel) -> Flow[Receipt]:
        """Remember messages, durably and in one commit; then admit them to the window.

        Raises:
            Conflict: another process has taken the session over; nothing was written.
        """
        self._check_open()
        dirty = self._behind.dirty
        riding = self._behind.paging(dirty if self._terms.writing.rides(len(dirty)) else ())
        receipt, written = yield from self._kernel.take(self._writer, messages, channel, riding)
        self._behind.landed(riding)
        items = {item.id: item for item in written}
        if missing := [item for item in receipt.ids if item not in items]:  # a key that had landed before
            landed = yield from self._kernel.read(self._reader, lambda s, spaces, _: s.get(spaces, missing))
            items.update({item: version.item for item, version in landed.items()})
        pages = [items[item] for item in receipt.ids if item in items and is_page(items[item])]
        yield from self._read_lines(self.contents.called_away(pages))
        self.contents.admit(pages, receipt.seq)
        yield from self._promote()
        if self._terms.writing.through:
            yield from self._write(self._behind.dirty)
        return receipt

    def context(self, request: RecallRequest) -> Flow[Context]:
        """Recall for a question and page the hits in; what was in the window stays where it was."""
        self._check_open()
        k = min(self._terms.reach.k if request.k is None else request.k, self._kernel.settings.k_limit)
        recall = yield from self._kernel.recalling(self._reader, replace(request, k=k, budget=None))
        changes, recalled = yield from self._kernel.read(
            self._reader, lambda s, spaces, _: (self._read_changes(s, spaces), recall(s))
        )
        self._apply_changes(*changes)
        hits = [hit for hit in recalled.items if SEGMENT not in hit.item.tags]
        yield from self._read_for_faults({hit.id: hit.item for hit in hits})
        faults = self.contents.bring_in(hits)
        if self._terms.reach.ahead and faults:
            yield from self._fetch_ahead(faults[: self._terms.reach.ahead])
        yield from self._promote()
        if self._terms.writing.alone(len(self._behind.dirty)):
            yield from self._write(self._behind.dirty)
        return self._answered(recalled, hits, len(faults))

    def _answered(self, recalled: Context, hits: Sequence[Recalled], faults: int) -> Context:
        """Describe what was recalled by the window that now holds it."""
        window = self.contents.describe(counting=True)
        resident = tuple(hit for hit in hits if hit.id in self.pager.table.resident)
        paged = f"in the window already: {len(resident) - faults}, paged in: {faults}"
        always = () if self.contents.always is None else self.contents.always.items
        notes = (*recalled.notes, *window.notes, paged)
        return replace(recalled, text=window.text, tokens=window.tokens, items=resident, always=always, notes=notes)

    # Pages

    def page_in(self, item: ItemId) -> Flow[Window]:
        """Bring an item into the window, whatever session it is of.

        Raises:
            Invalid: that is no id.
            NotFound: there is no such item here.
            Refused: there is no room for it that may be freed; or it is a segment that quotes what is gone.
        """
        yield from self._turn_to(item)
        if not self.pager.use(item):
            version = yield from self._kernel.get(self._reader, item)
            yield from self._check_quoted(version.item)
            yield from self._read_for_faults({item: version.item})
            moved = self.contents.fault(version.item, version.seq_from)
            if not moved.resident:
                cost = told_cost(version.item.text)
                raise Refused(
                    f"there is no room for {item}, which takes {cost}: too much is pinned; unpin or page out something"
                )
        yield from self._promote()
        return self.contents.describe()

    def page_out(self, item: ItemId) -> Flow[Window]:
        """Send a page out of the window; it stays addressable.

        Raises:
            Invalid: that is no id.
            NotFound: it is not in the window.
            Refused: it is pinned, or tied to one that is.
        """
        yield from self._turn_to(item)
        if item not in self.pager.table.resident:
            raise NotFound(f"{item} is not in the window")
        self.contents.drop_pages(self.pager.page_out(item))
        yield from self._promote()
        return self.contents.describe()

    def pin(self, item: ItemId, *, pinned: bool) -> Flow[Window]:
        """Keep a page in this window whatever comes, or let it go again; the item itself is not pinned.

        Raises:
            Invalid: that is no id.
            NotFound: it is not in the window.
            Refused: it leaves no room for what is always on.
        """
        yield from self._turn_to(item)
        self.contents.pin(item, pinned=pinned)
        return self.contents.describe()

    def look(self) -> Flow[Window]:
        """Read the window as it stands, without what was taken out of memory meanwhile."""
        self._check_open()
        yield from self._follow()
        return self.contents.describe()

    def messages(self, first: str) -> Flow[list[dict[str, object]]]:
        """Lay the window out as messages for a provider."""
        self._check_open()
        yield from self._follow()
        return self.contents.as_messages(first)

    # Underneath

    def _turn_to(self, item: ItemId) -> Flow[None]:
        """Check that the session is open and that this is an id; then apply what was committed since the last look."""
        self._check_open()
        to_bytes(item)
        yield from self._follow()

    def _fetch_ahead(self, faults: Sequence[Recalled]) -> Flow[None]:
        """Prefetch the turns beside what was just paged in, where there is free room."""
        neighbours = yield from self._kernel.read(
            self._reader, lambda s, spaces, _: [v for hit in faults for v in beside(s, spaces, hit.id, hit.seq)]
        )
        for version in neighbours:
            if is_page(version.item):
                self.contents.fetch_ahead(version)

    def _read_for_faults(self, items: Mapping[ItemId, Item]) -> Flow[None]:
        """Read what faults will need: the stored state of pages long gone, and the items tied to others."""
        forgotten, mates = needed(self.contents, items)
        self.contents.recalled = {}
        if not forgotten:
            yield from self._read_lines(mates)
            return
        rows, versions = yield from self._kernel.read(
            self._reader, lambda s, spaces, own: (session_pages(s, own, self.name, forgotten), s.get(spaces, mates))
        )
        self.contents.recalled = {row.item: as_page(row, role_of(items[row.item])) for row in rows}
        self._take_lines(mates, versions)

    def _read_lines(self, ids: Sequence[ItemId]) -> Flow[None]:
        if ids:
            versions = yield from self._kernel.read(self._reader, lambda s, spaces, _: s.get(spaces, ids))
            self._take_lines(ids, versions)

    def _take_lines(self, ids: Sequence[ItemId], versions: Mapping[ItemId, Version]) -> None:
        for item in ids:
            if item in versions:
                self.contents.line(versions[item].item, versions[item].seq_from)
            else:
                self.contents.drop_item(item)

    def _promote(self, *, everything: bool = False) -> Flow[None]:
        """Write segments of the turns that left the window, once enough of them wait."""
        promotion = self.contents.promotion
        new_segments = promotion.due(everything=everything)
        if not new_segments:
            self.contents.choose_segment_lines()
            return
        items = promotion.items(new_segments, self._writer.scope, self._kernel.desk.fresh_id)
        expect, riding = promotion.expected(new_segments), self._behind.paging(())
        try:
            yield from self._kernel.put_away(replace(self._writer, actor=DERIVER), items, expect, riding)
        except Conflict:  # a turn has changed or gone meanwhile; what is left of them is made into segments next time
            ids = list(promotion.waiting)
            promotion.check((yield from self._kernel.read(self._reader, lambda s, spaces, _: s.get(spaces, ids))))
            return
        self._behind.landed(riding)
        for item, segment in zip(items, new_segments, strict=True):
            number = promotion.written(item, segment, self.contents.brief_room)
            for page in [page for turn in segment.turns if (page := self.pager.table.find(turn.id)) is not None]:
                self.pager.table.put(replace(page, segment=number, dirty=True))
        self.contents.choose_segment_lines()

    def _write(self, pages: Sequence[ItemId], seconds: float = LEASE_SECONDS, *, taking: bool = False) -> Flow[None]:
        paging = self._behind.paging(pages, seconds, taking=taking)
        yield from self._kernel.page(self._writer, paging)
        self._behind.landed(paging)

    def _state_in(self, snapshot: Snapshot, spaces: tuple[int, ...], own: int | None) -> SessionState:
        return session_state(snapshot, spaces, own, self.name)

    def _restore_terms(self, stored: SessionState) -> None:
        """Take the stored budget and policy where the caller named none; a policy of the caller's own is not stored."""
        if self._terms.budget is None and stored.known:
            self.pager.resize(stored.budget)
        if self._terms.policy is None and stored.policy in POLICIES:
            self.pager.policy = open_policy(stored.policy)

    def _follow(self) -> Flow[None]:
        """Drop what was erased, forgotten or superseded since the last look; show anew what was changed."""
        self._apply_changes(
            *(yield from self._kernel.read(self._reader, lambda s, spaces, _: self._read_changes(s, spaces)))
        )

    def _read_changes(self, snapshot: Snapshot, spaces: tuple[int, ...]) -> tuple[Followed, Always | None]:
        """Read what changed in the pages since the last look, and the always-on block if anything was committed."""
        changes = followed(snapshot, spaces, self._heads, self.contents.ids, self.contents.expiring)
        always = self.contents.always
        stays = always is not None and not any(has_expired(item, snapshot.now) for item in always.items)
        if changes.heads == self._heads and stays:
            return changes, None
        return changes, self._kernel.always_part(snapshot, self._reader, self.contents.always_room)

    def _apply_changes(self, changes: Followed, always: Always | None) -> None:
        self._heads = changes.heads
        for item in changes.lapsed:
            self.contents.expiring.pop(item, None)
        for item in changes.checked:
            version = changes.versions.get(item)
            if version is None:
                self.contents.drop_item(item)
            else:
                self.contents.render_anew(version)
        if always is not None:
            self.contents.renew_always(always)

    def _check_quoted(self, segment: Item) -> Flow[None]:
        if SEGMENT not in segment.tags:
            return
        standing = yield from self._kernel.read(self._reader, lambda s, spaces, _: s.get(spaces, segment.source))
        if any(turn not in standing for turn in segment.source):
            raise Refused(f"{segment.id} quotes a turn that is gone; page in the turns that are left")

    def _check_open(self) -> None:
        if self.state != "open":
            raise Refused(f"session {self.name!r} is not open; open it again")

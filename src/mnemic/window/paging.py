"""The verbs of a session, as flows: turns come in and stay durable, pages move, a question is answered from the window.

The page table (`tiers.pager`) is kept in memory and written behind: its rows ride in the commit of a turn, so that a
turn costs one sync and no more. What leaves the window becomes topic segments, which are items like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from mnemic.core.events import Receipt
from mnemic.core.ids import ItemId
from mnemic.core.items import Channel, Item, Kind, Version
from mnemic.core.queries import Context, Recalled
from mnemic.errors import Conflict, NotFound, Refused
from mnemic.flow import Flow
from mnemic.ingest.message import Message
from mnemic.kernel import Ask, Kernel, Who
from mnemic.store.pages import Paging
from mnemic.tiers.base import Page
from mnemic.tiers.counters import Prefix
from mnemic.tiers.features import Reader
from mnemic.tiers.pager import Moved, Pager
from mnemic.tiers.writing import Writing
from mnemic.window.kept import Heads, Kept, as_page, as_row, beside, followed, kept, written_down
from mnemic.window.layout import FRAME, SEGMENT, TOOL, Line, Window, is_page, laid_out, line, messages, role_of, said
from mnemic.window.promotion import Promotion
from mnemic.work.lanes import DERIVER

if TYPE_CHECKING:
    from mnemic.recall.always import Always
    from mnemic.store.base import Snapshot

LEASE_SECONDS: Final = 60.0
"""How long a session stays its process's own after the last write; another may take it over then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How a question uses the window.

    Attributes:
        k: Most hits that are looked at.
        share: Most of the budget that one question may bring in, of pages that were not there.
        ahead: Hits whose neighbours are fetched ahead, as far as there is free room.
        earlier: Most of the budget that the segments in brief may take.
        longest: Most of the budget that one page may take; a longer one is shown in part.
    """

    k: int = 50
    share: float = 0.42
    ahead: int = 0
    earlier: float = 0.05
    longest: float = 0.25


WRITING: Final = Writing()
REACH: Final = Reach()
"""As measured (`mnemic bench session`)."""


class SessionFlows:
    """One session of one user: its window, and every verb on it as a flow. Not for two threads at a time."""

    def __init__(
        self, kernel: Kernel, who: Who, name: str, pager: Pager, writing: Writing = WRITING, reach: Reach = REACH
    ) -> None:
        self.name, self.pager, self.writing, self.reach = name, pager, writing, reach
        self._kernel, self._reader = kernel, replace(who, scope=replace(who.scope, session=None))
        self._writer = replace(who, scope=replace(who.scope, session=name))
        self._owner = str(kernel.desk.fresh_id())
        self._lines: dict[ItemId, Line] = {}
        self._promotion = Promotion(writing)
        self._always: Always | None = None
        self._heads: Heads = ()
        self._prefix = Prefix()
        self._turns = self._admitted = self._written = self._counted = 0
        self._recalled: dict[ItemId, Page] = {}
        self._features = Reader()
        self.state = "new"
        pager.reserve("frame", FRAME)

    # Opening and closing

    def open(self) -> Flow[None]:
        """Take the session up where it was left.

        Raises:
            Conflict: another process has it open.
        """
        kept = yield from self._kernel.read(self._reader, self._kept)
        if kept.known:
            self._turns, self.pager.now, self._written, self._counted = kept.turns, kept.clock, kept.seq, kept.turns
            yield from self._write((), taking=True)
            kept = yield from self._kernel.read(self._reader, self._kept)  # whoever had it may have written until then
        self._take_up(kept)
        self.state = "open"

    def close(self) -> Flow[None]:
        """Write what has not been written, and let others have the session. Closing twice is fine.

        A session that another process has taken over is theirs to write: there is nothing left to do.
        """
        if self.state != "open":
            return
        yield from self._follow()
        yield from self._promote(everything=True)
        with suppress(Conflict):
            yield from self._write(self._dirty, seconds=0.0)
        self.state = "closed"

    # Turns

    def observe(self, given: Sequence[Message], channel: Channel) -> Flow[Receipt]:
        """Remember messages, durably and in one commit; then they come into the window.

        Raises:
            Conflict: another process has taken the session over; nothing was written.
        """
        self._check_open()
        riding = self._paging(self._dirty if self.writing.rides(len(self._dirty)) else ())
        receipt, made = yield from self._kernel.take(self._writer, given, channel, riding)
        self._has_written(riding)
        known = {item.id: item for item in made}
        if unknown := [item for item in receipt.ids if item not in known]:  # a key that had landed before
            found = yield from self._kernel.read(self._reader, lambda s, spaces, _: s.get(spaces, unknown))
            known.update({item: version.item for item, version in found.items()})
        pages = [known[item] for item in receipt.ids if item in known and is_page(known[item])]
        yield from self._recall_call(pages)
        self._admit(pages, receipt.seq)
        yield from self._promote()
        if self.writing.through:
            yield from self._write(self._dirty)
        return receipt

    def context(self, ask: Ask) -> Flow[Context]:
        """The window after a question: what bears on it is paged in, what was there stays where it was."""
        self._check_open()
        yield from self._follow()
        yield from self._renew_always()
        k = min(self.reach.k if ask.k is None else ask.k, self._kernel.settings.k_limit)
        found = yield from self._kernel.recall(self._reader, replace(ask, k=k, budget=None))
        hits = [hit for hit in found.items if SEGMENT not in hit.item.tags]
        yield from self._recollect({hit.id: hit.item for hit in hits})
        faults = self._bring_in(hits)
        if self.reach.ahead and faults:
            yield from self._fetch_ahead(faults[: self.reach.ahead])
        yield from self._promote()
        if self.writing.alone(len(self._dirty)):
            yield from self._write(self._dirty)
        window = self._looked_at(counting=True)
        here = tuple(hit for hit in hits if hit.id in self.pager.table.resident)
        told = f"{len(here) - len(faults)} hits were in the window, {len(faults)} were paged in"
        always = self._always.items if self._always is not None else ()
        notes = (*found.notes, told, *window.notes)
        return replace(found, text=window.text, tokens=window.tokens, items=here, always=always, notes=notes)

    # Pages

    def page_in(self, item: ItemId) -> Flow[Window]:
        """Bring an item into the window, whatever session it is of.

        Raises:
            NotFound: there is no such item here.
            Refused: there is no room for it that may be freed; or it is a segment that quotes what is gone.
        """
        self._check_open()
        yield from self._follow()
        if not self.pager.use(item):
            version = yield from self._kernel.get(self._reader, item)
            yield from self._check_quoted(version.item)
            yield from self._recollect({item: version.item})
            moved = self._fault(version.item, version.seq_from)
            if not moved.here:
                raise Refused(f"there is no room for {item}: too much is pinned; unpin or page out something")
        yield from self._promote()
        return self._looked_at()

    def page_out(self, item: ItemId) -> Flow[Window]:
        """Send a page out of the window; it stays addressable.

        Raises:
            NotFound: it is not in the window.
            Refused: it is pinned, or tied to one that is.
        """
        self._check_open()
        yield from self._follow()
        if item not in self.pager.table.resident:
            raise NotFound(f"{item} is not in the window")
        self._left(self.pager.page_out(item))
        yield from self._promote()
        return self._looked_at()

    def pin(self, item: ItemId, *, pinned: bool) -> Flow[Window]:
        """Keep a page in this window whatever comes, or let it go again; the item itself is not pinned.

        Raises:
            NotFound: it is not in the window.
            Refused: it leaves no room for what is always on.
        """
        self._check_open()
        yield from self._follow()
        if pinned:
            self._check_room(item)
        self.pager.pin(item, pinned=pinned)
        return self._looked_at()

    def look(self) -> Flow[Window]:
        """The window as it stands, less what was taken out of memory meanwhile."""
        self._check_open()
        yield from self._follow()
        return self._looked_at()

    def told(self, first: str) -> Flow[list[dict[str, object]]]:
        """The window as messages for a provider."""
        self._check_open()
        yield from self._follow()
        self._looked_at(counting=True)
        pages = [(page, self._lines[page.id]) for page in self.pager.table.resident.values()]
        return messages(self._always_text, self._brief, pages, first=first)

    # Underneath: what comes in and what goes

    def _admit(self, items: Iterable[Item], seq: int) -> None:
        self.pager.guard()
        given = {item.id: item for item in items}
        for item in given.values():
            if self.pager.table.find(item.id) is not None:
                continue
            page = self._turn(item, self._line(item, seq))
            tied = self._call(page)
            if tied in given:
                self._line(given[tied], seq)  # it may have found no room, and now come in with its result
            moved = self.pager.admit(page, after=tied)
            self._left(moved.left if moved.here else (*moved.left, page))
        self._admitted = max(self._admitted, seq)
        self.pager.unguard()
        self._drop_lines()

    def _call(self, page: Page) -> ItemId | None:
        """The turn before a tool's result, here or gone: the call it answers, or another result of that."""
        return self.pager.table.places().get(page.position - 1) if page.role == TOOL else None

    def _recall_call(self, items: Sequence[Item]) -> Flow[None]:
        """Read what a tool's result will bring back: the call before it, if that has left the window meanwhile."""
        if items and role_of(items[0]) == TOOL:
            call = self.pager.table.places().get(self._turns - 1)
            group = () if call is None else self.pager.table.together(call)
            yield from self._read_lines([one for one in group if one not in self.pager.table.resident])

    def _drop_lines(self) -> None:
        for item in [item for item in self._lines if item not in self.pager.table.resident]:
            del self._lines[item]

    def _bring_in(self, hits: Sequence[Recalled]) -> list[Recalled]:
        """Use the hits that are here, and page in the best of the others, oldest first; those that came in.

        The best are sure to be there in the end. A worse one that is here already is used, but may have to make room.
        """
        table, room = self.pager.table, int(self.pager.budget * self.reach.share)
        wanted: list[Recalled] = []
        held: list[Recalled] = []
        stays = table.pinned | table.newest(int(self.pager.budget * self.pager.marks.fresh))
        free = self.pager.brim - sum(table.reserved.values()) - sum(table.resident[one].tokens for one in stays)
        for hit in hits:
            page = table.resident.get(hit.id)
            cost = self._line(hit.item, hit.seq).tokens if page is None else 0 if hit.id in stays else page.tokens
            if cost > free or (page is None and cost > room):
                self.pager.use(hit.id)
                continue
            free, room = free - cost, room - (cost if page is None else 0)
            (wanted if page is None else held).append(hit)
        self.pager.guard()
        for hit in held:
            self.pager.use(hit.id)
        self._left(self.pager.make_room(sum(self._line(hit.item, hit.seq).tokens for hit in wanted)))
        for hit in sorted(wanted, key=lambda hit: (hit.item.said, hit.item.pos, hit.id)):
            self._fault(hit.item, hit.seq)
        self.pager.unguard()
        self._drop_lines()
        return [hit for hit in wanted if hit.id in table.resident]

    def _fault(self, item: Item, seq: int) -> Moved:
        shown = self._line(item, seq)
        moved = self.pager.fault(self._page(item, shown))
        self._left(moved.left)
        for one in self.pager.table.together(item.id) if not moved.here else ():
            self._lines.pop(one, None)
        return moved

    def _fetch_ahead(self, faults: Sequence[Recalled]) -> Flow[None]:
        """Bring in the turns beside what was just paged in, where there is free room."""
        near = yield from self._kernel.read(
            self._reader, lambda s, spaces, _: [v for hit in faults for v in beside(s, spaces, hit.id, hit.seq)]
        )
        for version in near:
            item = version.item
            if not self._is_tied(item.id) and item.id not in self.pager.table.resident and is_page(item):
                shown = self._line(item, version.seq_from)
                if not self.pager.prefetch(self._page(item, shown)).here:
                    del self._lines[item.id]

    def _line(self, item: Item, seq: int) -> Line:
        if item.id not in self._lines:
            self._lines[item.id] = line(item, seq, int(self.pager.budget * self.reach.longest))
        return self._lines[item.id]

    def _turn(self, item: Item, shown: Line) -> Page:
        """The page of a turn that has just been said."""
        read, place = self._features.read(item.text), self._turns
        self._turns += 1
        return Page(
            id=item.id, tokens=shown.tokens, born=0, last_use=0, position=place, role=role_of(item),
            importance=read.importance, novelty=read.novelty, entities=read.facts,
        )  # fmt: skip

    def _page(self, item: Item, shown: Line) -> Page:
        known = self._recalled.pop(item.id, None)
        if known is not None:
            return replace(known, tokens=shown.tokens)
        return Page(id=item.id, tokens=shown.tokens, born=0, last_use=0, role=role_of(item))

    def _recollect(self, wanted: Mapping[ItemId, Item]) -> Flow[None]:
        """Read what faults will need: what was written down of pages long gone, and the items tied to others."""
        table = self.pager.table
        absent = [item for item in wanted if item not in table.resident]
        forgotten = [item for item in absent if item not in table.away]
        mates = [mate for item in absent for mate in table.together(item)[1:]]
        self._recalled = {}
        if forgotten:
            rows = yield from self._kernel.read(
                self._reader, lambda s, _, own: written_down(s, own, self.name, forgotten)
            )
            self._recalled = {row.item: as_page(row, role_of(wanted[row.item])) for row in rows}
        yield from self._read_lines(mates)

    def _read_lines(self, ids: Sequence[ItemId]) -> Flow[None]:
        if not ids:
            return
        found = yield from self._kernel.read(self._reader, lambda s, spaces, _: s.get(spaces, ids))
        for item in ids:
            if item in found:
                self._line(found[item].item, found[item].seq_from)
            else:
                self._gone(item)

    def _is_tied(self, item: ItemId) -> bool:
        return len(self.pager.table.together(item)) > 1

    def _left(self, pages: Iterable[Page]) -> None:
        """What left: its line goes, and if it is a turn of this session it waits to be made part of a segment."""
        for page in pages:
            shown = self._lines.pop(page.id, None)
            if shown is not None and page.position >= 0 and page.segment < 0 and shown.item.kind is Kind.TURN:
                self._promotion.waiting[page.id] = (said(shown.item, page.position), shown.seq)

    # Underneath: segments

    def _promote(self, *, everything: bool = False) -> Flow[None]:
        """Make segments of what has left, once it is enough."""
        made = self._promotion.due(everything=everything)
        if not made:
            return
        items = self._promotion.items(made, self._writer.scope, self._kernel.desk.fresh_id)
        expect, riding = self._promotion.expected(made), self._paging(())
        try:
            yield from self._kernel.put_away(replace(self._writer, actor=DERIVER), items, expect, riding)
        except Conflict:  # a turn has changed or gone meanwhile; what is left of them is made into segments next time
            ids = list(self._promotion.waiting)
            self._promotion.check((yield from self._kernel.read(self._reader, lambda s, spaces, _: s.get(spaces, ids))))
            return
        self._has_written(riding)
        for item, one in zip(items, made, strict=True):
            number = self._promotion.written(item, one, self._brief_room)
            for page in [page for turn in one.turns if (page := self.pager.table.find(turn.id)) is not None]:
                self.pager.table.put(replace(page, segment=number, dirty=True))
        self._tell_earlier()

    @property
    def _brief_room(self) -> int:
        return int(self.pager.budget * self.reach.earlier)

    def _tell_earlier(self) -> None:
        self._left(self.pager.reserve("segments", self._promotion.cost))

    # Underneath: the store

    @property
    def _dirty(self) -> tuple[ItemId, ...]:
        return tuple(self.pager.table.dirty)

    def _paging(self, pages: Sequence[ItemId], seconds: float = LEASE_SECONDS, *, taking: bool = False) -> Paging:
        """What is written of these pages: all that have changed, or none, so that `seq` says how far they go."""
        table = self.pager.table
        known = ((page, page.id in table.resident) for item in pages if (page := table.find(item)) is not None)
        rows = tuple(as_row(page, here) for page, here in known)
        seq, turns = (self._admitted, self._turns) if pages else (self._written, self._counted)
        return Paging(
            self.name, self._owner, seconds, self.pager.budget, self.pager.policy.name, self.pager.now, turns, seq,
            rows, taking,
        )  # fmt: skip

    def _write(self, pages: Sequence[ItemId], seconds: float = LEASE_SECONDS, *, taking: bool = False) -> Flow[None]:
        paging = self._paging(pages, seconds, taking=taking)
        yield from self._kernel.page(self._writer, paging)
        self._has_written(paging)

    def _has_written(self, paging: Paging) -> None:
        self.pager.table.clean(row.item for row in paging.rows)
        self.pager.counters.rows += len(paging.rows)
        self._written, self._counted = paging.seq, paging.turns

    def _kept(self, snapshot: Snapshot, spaces: tuple[int, ...], own: int | None) -> Kept:
        return kept(snapshot, spaces, own, self.name)

    def _take_up(self, found: Kept) -> None:
        """The window as it was written down, then the turns since, as many as the target allows."""
        self._turns, self._counted, self._written, self.pager.now = found.turns, found.turns, found.seq, found.clock
        self._admitted = found.seq
        for version in found.segments:
            self._promotion.take_up(version.item, self._brief_room)
        for row in found.pages:
            version_ = found.items[row.item]
            shown = self._line(version_.item, version_.seq_from)
            self.pager.restore([replace(as_page(row, role_of(version_.item)), tokens=shown.tokens)])
        self._left([page for page, _ in self.pager.table.away.values()])
        self._tie_again()
        self._tell_earlier()
        self._left(self.pager.relieve())
        self._take_recent(found)

    def _tie_again(self) -> None:
        """Ties are not written down: results find their calls by their places. A group that is in part here leaves."""
        table = self.pager.table
        places = table.places()
        for position, item in places.items():
            page = table.find(item)
            if page is not None and page.role == TOOL and position - 1 in places:
                table.tie(places[position - 1], item)
        for item in list(table.resident):
            self._settle(item)

    def _settle(self, item: ItemId) -> None:
        """Send out a page that came back without what it is tied to; a pinned one stays, and is tied no more."""
        table = self.pager.table
        group = table.together(item)
        if item not in table.resident or all(mate in table.resident for mate in group):
            return
        if table.pinned.isdisjoint(group):
            self._left(self.pager.page_out(item))
            return
        for mate in group:
            if mate not in table.resident:
                table.untie(mate)

    def _take_recent(self, found: Kept) -> None:
        """Turns that were said since: the newest come in, and what finds no room waits for its segment."""
        chosen = self._newest(found.recent)
        for version in found.recent:
            if version.item.id in chosen:
                self._admit([version.item], version.seq_from)
            elif found.known and self.pager.table.find(version.item.id) is None:
                self._stay_out(version)
        self._drop_lines()

    def _newest(self, turns: Sequence[Version]) -> set[ItemId]:
        """The last turns that the target has room for, cut where no call is parted from its results."""
        groups: list[list[Version]] = []
        for version in turns:
            if role_of(version.item) != TOOL or not groups:
                groups.append([])
            groups[-1].append(version)
        whole = room = self.pager.target - sum(self.pager.table.reserved.values())
        chosen: set[ItemId] = set()
        for group in reversed(groups):
            cost = sum(self._line(version.item, version.seq_from).tokens for version in group)
            headless = role_of(group[0].item) == TOOL
            if cost > whole or (headless and self.pager.table.places().get(self._turns - 1) not in self._lines):
                continue
            room -= cost
            if room < 0:
                break
            chosen |= {version.item.id for version in group}
        return chosen

    def _stay_out(self, version: Version) -> None:
        page = self._turn(version.item, self._line(version.item, version.seq_from))
        self.pager.table.note(page, self.pager.counters.evictions)
        call = self._call(page)
        if call is not None:
            self.pager.table.tie(call, page.id)
            self._settle(call)
        self._left([page])
        self._admitted = max(self._admitted, version.seq_from)

    def _follow(self) -> Flow[None]:
        """Let go of what was erased, forgotten or superseded since the last look, and show anew what was changed."""
        quoted = (turn for shown in self._lines.values() if SEGMENT in shown.item.tags for turn in shown.item.source)
        ids = (*self.pager.table.resident, *self._promotion.ids, *quoted)
        seen = yield from self._kernel.read(self._reader, lambda s, spaces, _: followed(s, spaces, self._heads, ids))
        moved, self._heads = seen.heads != self._heads, seen.heads
        for item in seen.checked:
            version = seen.versions.get(item)
            if version is None:
                self._gone(item)
            elif item in self.pager.table.resident and version.seq_from != self._lines[item].seq:
                del self._lines[item]
                shown = self._line(version.item, version.seq_from)
                self._left(self.pager.change(item, shown.tokens))
        if moved:
            yield from self._renew_always()

    def _gone(self, item: ItemId) -> None:
        """Let go of an item that is gone for good, and of the segments that may quote it."""
        self._promotion.forget(item)
        self._lines.pop(item, None)
        self._left(self.pager.forget(item))
        for segment in [one for one, shown in self._lines.items() if _quotes(shown.item, item)]:
            self._gone(segment)
        self._tell_earlier()

    def _check_quoted(self, segment: Item) -> Flow[None]:
        if SEGMENT not in segment.tags:
            return
        standing = yield from self._kernel.read(self._reader, lambda s, spaces, _: s.get(spaces, segment.source))
        if any(turn not in standing for turn in segment.source):
            raise Refused(f"{segment.id} quotes a turn that is gone; page in the turns that are left")

    def _check_room(self, item: ItemId) -> None:
        """See that a pin leaves its room to what is always on and to the segments in brief."""
        table = self.pager.table
        kept = {mate for page in (item, *table.pinned) for mate in table.together(page) if mate in table.resident}
        others = FRAME + self._always_room + max(self._brief_room, self._promotion.cost)
        if others + sum(table.resident[page].tokens for page in kept) > self.pager.budget:
            raise Refused(f"no room to pin {item}: pins and what is always on would fill the window; unpin something")

    # Underneath: what is shown

    def _renew_always(self) -> Flow[None]:
        always = yield from self._kernel.always(self._reader, self._always_room)
        if self._always is None or always.text != self._always.text:
            self._left(self.pager.reserve("always", always.tokens + 1 if always.text else 0))
        self._always = always

    @property
    def _always_room(self) -> int:
        return int(self.pager.budget * self._kernel.settings.always_share)

    @property
    def _always_text(self) -> str:
        return "" if self._always is None else self._always.text

    @property
    def _brief(self) -> list[str]:
        return [text for text, _ in self._promotion.lines]

    def _looked_at(self, *, counting: bool = False) -> Window:
        table = self.pager.table
        lines = [self._lines[page] for page in table.resident]
        if counting:
            self._count(lines)
        text = laid_out(self._always_text, self._brief, [shown.text for shown in lines])
        given_up = ", ".join(self.pager.unpinned)
        return Window(
            text=text, tokens=table.used, pages=tuple(table.resident.values()), sections=dict(self.pager.meter),
            notes=(f"unpinned, as the budget had no room for it: {given_up}",) if given_up else (),
        )  # fmt: skip

    def _count(self, lines: Sequence[Line]) -> None:
        """Count what a prefix cache would have had of this window, whose end marks are always new."""
        always = self.pager.table.reserved.get("always", 0)
        blocks = [(self._always_text, always), *self._promotion.lines, *((one.text, one.tokens) for one in lines)]
        self.pager.counters.rendered += sum(cost for _, cost in blocks) + FRAME
        self.pager.counters.reused += self._prefix.reused(blocks)

    def _check_open(self) -> None:
        if self.state != "open":
            raise Refused(f"session {self.name!r} is not open; open it again")


def _quotes(item: Item, turn: ItemId) -> bool:
    return SEGMENT in item.tags and turn in item.source

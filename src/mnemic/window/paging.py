"""The verbs of a session, as flows: turns come in and stay durable, pages move, a question is answered from the window.

The page table (`tiers.pager`) is kept in memory and written behind: its rows ride in the commit of a turn, so that a
turn costs one sync and no more. What leaves the window becomes topic segments, which are items like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
from mnemic.window.layout import FRAME, SEGMENT, Line, Window, is_page, laid_out, line, messages, role_of, said
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
        self._turns = self._admitted = self._written = 0
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
            self._turns, self.pager.now, self._written = kept.turns, kept.clock, kept.seq
            yield from self._write(())
            kept = yield from self._kernel.read(self._reader, self._kept)  # whoever had it may have written until then
        self._take_up(kept)
        self.state = "open"

    def close(self) -> Flow[None]:
        """Write what has not been written, and let others have the session. Closing twice is fine."""
        if self.state != "open":
            return
        yield from self._follow()
        yield from self._promote(everything=True)
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
        self._admit([known[item] for item in receipt.ids if item in known and is_page(known[item])], receipt.seq)
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
        return replace(
            found, text=window.text, tokens=window.tokens, items=here, always=always, notes=(*found.notes, told)
        )

    # Pages

    def page_in(self, item: ItemId) -> Flow[Window]:
        """Bring an item into the window, whatever session it is of.

        Raises:
            NotFound: there is no such item here.
            Refused: there is no room for it that may be freed.
        """
        self._check_open()
        yield from self._follow()
        if not self.pager.use(item):
            version = yield from self._kernel.get(self._reader, item)
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
        """
        self._check_open()
        yield from self._follow()
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
        for item in items:
            if self.pager.table.find(item.id) is not None:
                continue
            page = self._turn(item, self._line(item, seq))
            tied = self._before(page) if page.role == "tool" else None
            moved = self.pager.admit(page, after=tied)
            self._left(moved.left if moved.here else (*moved.left, page))
        self._admitted = max(self._admitted, seq)
        self.pager.unguard()

    def _before(self, page: Page) -> ItemId | None:
        """The turn before a tool's result: the call it answers, or another result of that."""
        last = next(reversed(self.pager.table.resident.values()), None)
        return last.id if last is not None and last.position == page.position - 1 else None

    def _bring_in(self, hits: Sequence[Recalled]) -> list[Recalled]:
        """Use the hits that are here, and page in the best of the others, oldest first; those that came in.

        The best are sure to be there in the end. A worse one that is here already is used, but may have to make room.
        """
        table, room = self.pager.table, int(self.pager.budget * self.reach.share)
        wanted: list[Recalled] = []
        held: list[Recalled] = []
        free = self.pager.brim - sum(table.reserved.values()) - sum(table.resident[one].tokens for one in table.pinned)
        for hit in hits:
            page = table.resident.get(hit.id)
            cost = self._line(hit.item, hit.seq).tokens if page is None else 0 if page.pinned else page.tokens
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
        for item in [item for item in self._lines if item not in table.resident]:
            del self._lines[item]
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
        if mates:
            found = yield from self._kernel.read(self._reader, lambda s, spaces, _: s.get(spaces, mates))
            for mate in mates:
                if mate in found:
                    self._line(found[mate].item, found[mate].seq_from)
                else:
                    self._gone(mate)

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

    def _paging(self, pages: Sequence[ItemId], seconds: float = LEASE_SECONDS) -> Paging:
        """What is written of these pages: all that have changed, or none, so that `seq` says how far they go."""
        table = self.pager.table
        known = ((page, page.id in table.resident) for item in pages if (page := table.find(item)) is not None)
        rows = tuple(as_row(page, here) for page, here in known)
        seq = self._admitted if pages else self._written
        return Paging(
            self.name, self._owner, seconds, self.pager.budget, self.pager.policy.name, self.pager.now, self._turns,
            seq, rows,
        )  # fmt: skip

    def _write(self, pages: Sequence[ItemId], seconds: float = LEASE_SECONDS) -> Flow[None]:
        paging = self._paging(pages, seconds)
        yield from self._kernel.page(self._writer, paging)
        self._has_written(paging)

    def _has_written(self, paging: Paging) -> None:
        self.pager.table.clean(row.item for row in paging.rows)
        self.pager.counters.rows += len(paging.rows)
        self._written = paging.seq

    def _kept(self, snapshot: Snapshot, spaces: tuple[int, ...], own: int | None) -> Kept:
        return kept(snapshot, spaces, own, self.name)

    def _take_up(self, found: Kept) -> None:
        """The window as it was written down, then the turns since, as many as the target allows."""
        self._turns, self._written, self.pager.now = found.turns, found.seq, found.clock
        for version in found.segments:
            self._promotion.take_up(version.item, self._brief_room)
        self._tell_earlier()
        for row in found.pages:
            version_ = found.items[row.item]
            page = as_page(row, role_of(version_.item))
            shown = self._line(version_.item, version_.seq_from)
            if row.resident:
                self.pager.restore([replace(page, tokens=shown.tokens)])
            else:
                self._left([page])
        self._take_recent(found.recent)
        self.pager.resize(self.pager.budget)

    def _take_recent(self, turns: Sequence[Version]) -> None:
        room, chosen = self.pager.target - sum(self.pager.table.reserved.values()), []
        for version in reversed(turns):
            room -= self._line(version.item, version.seq_from).tokens
            if room < 0:
                del self._lines[version.item.id]
                break
            chosen.append(version)
        for version in reversed(chosen):
            self._admit([version.item], version.seq_from)

    def _follow(self) -> Flow[None]:
        """Let go of what was erased, forgotten or superseded since the last look, and show anew what was changed."""
        ids = (*self.pager.table.resident, *self._promotion.ids)
        seen = yield from self._kernel.read(self._reader, lambda s, spaces, _: followed(s, spaces, self._heads, ids))
        moved, self._heads = seen.heads != self._heads, seen.heads
        for item in seen.checked:
            version = seen.versions.get(item)
            if version is None:
                self._gone(item)
            elif item in self.pager.table.resident and version.seq_from != self._lines[item].seq:
                del self._lines[item]
                shown = self._line(version.item, version.seq_from)
                self.pager.table.put(replace(self.pager.table.resident[item], tokens=shown.tokens))
        if moved:
            yield from self._renew_always()

    def _gone(self, item: ItemId) -> None:
        self._promotion.forget(item)
        self._lines.pop(item, None)
        self._left(self.pager.forget(item))
        self._tell_earlier()

    # Underneath: what is shown

    def _renew_always(self) -> Flow[None]:
        room = int(self.pager.budget * self._kernel.settings.always_share)
        always = yield from self._kernel.always(self._reader, room)
        if self._always is None or always.text != self._always.text:
            self._left(self.pager.reserve("always", always.tokens + 1 if always.text else 0))
        self._always = always

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
        return Window(
            text=text, tokens=table.used, pages=tuple(table.resident.values()), sections=dict(self.pager.meter)
        )

    def _count(self, lines: Sequence[Line]) -> None:
        """Count what a prefix cache would have had of this window, whose end marks are always new."""
        always = self.pager.table.reserved.get("always", 0)
        blocks = [(self._always_text, always), *self._promotion.lines, *((one.text, one.tokens) for one in lines)]
        self.pager.counters.rendered += sum(cost for _, cost in blocks) + FRAME
        self.pager.counters.reused += self._prefix.reused(blocks)

    def _check_open(self) -> None:
        if self.state != "open":
            raise Refused(f"session {self.name!r} is not open; open it again")

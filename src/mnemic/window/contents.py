"""The contents of a session's window: its pages and their lines kept in step, as turns and hits come in and leave."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Kind, Version
from mnemic.core.queries import Recalled
from mnemic.core.tokens import told_cost
from mnemic.errors import Refused
from mnemic.tiers.base import Page
from mnemic.tiers.counters import Prefix
from mnemic.tiers.features import Reader
from mnemic.tiers.pager import Moved, Pager
from mnemic.tiers.write_back import Writing
from mnemic.window.layout import (
    FRAME,
    SEGMENT,
    TOOL,
    Window,
    WindowLine,
    as_left_turn,
    laid_out,
    messages,
    render_line,
    role_of,
)
from mnemic.window.promotion import Promotion
from mnemic.window.terms import Reach

if TYPE_CHECKING:
    from mnemic.recall.always import Always


class Contents:
    """Holds a window's pages, the line of each, and the turns that wait for a segment. It asks the store nothing.

    Args:
        always_share: Most of the budget that the always-on block may take.

    Attributes:
        expiring: Of what came in, when it expires, if ever.
        lines: Of residents, and while something is brought in of what may come.
        turns: How many were said in the session so far.
        admitted: The commit up to which its turns have come in, or were left out.
        recalled: What was written down of pages long gone that are about to come in.
    """

    def __init__(self, pager: Pager, writing: Writing, reach: Reach, always_share: float) -> None:
        self.pager, self.promotion = pager, Promotion(writing)
        self.lines: dict[ItemId, WindowLine] = {}
        self.expiring: dict[ItemId, datetime] = {}
        self.recalled: dict[ItemId, Page] = {}
        self.always: Always | None = None
        self.turns = self.admitted = 0
        self._reach, self._always_share = reach, always_share
        self._prefix, self._features = Prefix(), Reader()
        pager.reserve("frame", FRAME)

    # What comes in

    def admit(self, items: Iterable[Item], seq: int) -> None:
        """Admit turns that were just said."""
        self.pager.guard()
        items_by_id = {item.id: item for item in items}
        for item in items_by_id.values():
            if self.pager.table.find(item.id) is not None:
                continue
            page = self.turn(item, self.line(item, seq))
            tied = self.call(page)
            if tied in items_by_id:
                self.line(items_by_id[tied], seq)  # it may have found no room, and now come in with its result
            moved = self.pager.admit(page, after=tied)
            self.drop_pages(moved.evicted if moved.resident else (*moved.evicted, page))
        self.admitted = max(self.admitted, seq)
        self.pager.unguard()
        self.drop_lines()

    def call(self, page: Page) -> ItemId | None:
        """Find the turn before a tool's result, resident or not: its call, or another result of that."""
        return self.pager.table.places().get(page.position - 1) if page.role == TOOL else None

    def called_away(self, items: Sequence[Item]) -> list[ItemId]:
        """Name what the first of these brings back if it is a tool's result: a call that has left, with its results."""
        if not items or role_of(items[0]) != TOOL:
            return []
        call = self.pager.table.places().get(self.turns - 1)
        group = () if call is None else self.pager.table.together(call)
        return [turn for turn in group if turn not in self.pager.table.resident]

    def bring_in(self, hits: Sequence[Recalled]) -> list[Recalled]:
        """Use the hits that are resident and page in the best of the others, oldest first; return those that came in.

        The best are sure to be there in the end. A worse one that is here already is used, but may have to make room.
        """
        table, room = self.pager.table, int(self.pager.budget * self._reach.share)
        missing: list[Recalled] = []
        resident: list[Recalled] = []
        stays = table.pinned | table.newest(int(self.pager.budget * self.pager.marks.fresh))
        free = self.pager.brim - sum(table.reserved.values()) - sum(table.resident[page].tokens for page in stays)
        for hit in hits:
            page = table.resident.get(hit.id)
            cost = self.line(hit.item, hit.seq).tokens if page is None else 0 if hit.id in stays else page.tokens
            if cost > free or (page is None and cost > room):
                self.pager.use(hit.id)
                continue
            free, room = free - cost, room - (cost if page is None else 0)
            (missing if page is None else resident).append(hit)
        self.pager.guard()
        for hit in resident:
            self.pager.use(hit.id)
        self.drop_pages(self.pager.make_room(sum(self.line(hit.item, hit.seq).tokens for hit in missing)))
        for hit in sorted(missing, key=lambda hit: (hit.item.said, hit.item.pos, hit.id)):
            self.fault(hit.item, hit.seq)
        self.pager.unguard()
        self.drop_lines()
        return [hit for hit in missing if hit.id in table.resident]

    def fault(self, item: Item, seq: int) -> Moved:
        """Page in an item that is used and not resident."""
        moved = self.pager.fault(self._page(item, self.line(item, seq)))
        self.drop_pages(moved.evicted)
        for turn in self.pager.table.together(item.id) if not moved.resident else ():
            self.lines.pop(turn, None)
        return moved

    def fetch_ahead(self, version: Version) -> None:
        """Prefetch an item that may be used next, if there is free room."""
        item, table = version.item, self.pager.table
        if len(table.together(item.id)) > 1 or item.id in table.resident:
            return
        if not self.pager.prefetch(self._page(item, self.line(item, version.seq_from))).resident:
            del self.lines[item.id]

    def line(self, item: Item, seq: int) -> WindowLine:
        """Render an item as a line of this window, and keep the line."""
        if item.expires is not None:
            self.expiring[item.id] = item.expires
        if item.id not in self.lines:
            self.lines[item.id] = render_line(item, seq, self.longest(self.pager.budget))
        return self.lines[item.id]

    def turn(self, item: Item, line: WindowLine) -> Page:
        """Make the page of a turn that has just been said."""
        read, place = self._features.read(item.text), self.turns
        self.turns += 1
        return Page(
            id=item.id, tokens=line.tokens, born=0, last_use=0, position=place, role=role_of(item),
            importance=read.importance, novelty=read.novelty, entities=read.facts,
        )  # fmt: skip

    def _page(self, item: Item, line: WindowLine) -> Page:
        stored = self.recalled.pop(item.id, None)
        if stored is not None:
            return replace(stored, tokens=line.tokens)
        return Page(id=item.id, tokens=line.tokens, born=0, last_use=0, role=role_of(item))

    # What goes

    def drop_pages(self, pages: Iterable[Page]) -> None:
        """Drop the lines of pages that left; those that are turns of this session wait for their segment."""
        for page in pages:
            line = self.lines.pop(page.id, None)
            if line is not None and page.position >= 0 and page.segment < 0 and line.item.kind is Kind.TURN:
                self.promotion.waiting[page.id] = (as_left_turn(line.item, page.position), line.seq)

    def drop_lines(self) -> None:
        """Drop the lines of items that are not resident."""
        for item in [item for item in self.lines if item not in self.pager.table.resident]:
            del self.lines[item]

    def settle(self, item: ItemId) -> None:
        """Page out a page that came back without what it is tied to; a pinned one stays, untied."""
        table = self.pager.table
        group = table.together(item)
        if item not in table.resident or all(mate in table.resident for mate in group):
            return
        if table.pinned.isdisjoint(group):
            self.drop_pages(self.pager.page_out(item))
            return
        for mate in group:
            if mate not in table.resident:
                table.untie(mate)

    def drop_item(self, item: ItemId) -> None:
        """Drop an item that is gone for good, and the segments that may quote it."""
        self.promotion.forget(item)
        self.lines.pop(item, None)
        self.drop_pages(self.pager.forget(item))
        for segment in [other for other, line in self.lines.items() if _quotes(line.item, item)]:
            self.drop_item(segment)
        self.choose_segment_lines()

    def render_anew(self, version: Version) -> None:
        """Render a resident page anew if its item has another version since."""
        item = version.item.id
        if item in self.pager.table.resident and version.seq_from != self.lines[item].seq:
            del self.lines[item]
            self.drop_pages(self.pager.change(item, self.line(version.item, version.seq_from).tokens))

    # What is not paged

    def renew_always(self, always: Always) -> None:
        """Replace the always-on block by its present state."""
        if self.always is None or always.text != self.always.text:
            self.drop_pages(self.pager.reserve("always", always.tokens + 1 if always.text else 0))
        self.always = always

    def choose_segment_lines(self) -> None:
        """Choose the segments' lines to show: none of turns that are back, as many as pins leave room for."""
        table = self.pager.table
        pinned = {mate for page in table.pinned for mate in table.together(page) if mate in table.resident}
        room = self.pager.budget - FRAME - self.always_room - sum(table.resident[page].tokens for page in pinned)
        self.promotion.choose_lines(table.resident, room)
        self.drop_pages(self.pager.reserve("segments", self.promotion.cost))

    @property
    def always_room(self) -> int:
        """The most tokens that the always-on block may take."""
        return int(self.pager.budget * self._always_share)

    @property
    def brief_room(self) -> int:
        """The most tokens that the segments' lines may take."""
        return int(self.pager.budget * self._reach.earlier)

    def longest(self, budget: int) -> int:
        """The most tokens that a page may take in a window of this budget."""
        return int(budget * self._reach.longest)

    def beside(self, budget: int) -> int:
        """The most tokens beside the pages in a window of this budget: marks, always-on block, segments' lines."""
        return FRAME + int(budget * self._always_share) + int(budget * self._reach.earlier)

    def check_room(self, item: ItemId) -> None:
        """Check that a pin leaves room for the always-on block and the segments' lines.

        Raises:
            Refused: it would not.
        """
        table = self.pager.table
        pinned = {mate for page in (item, *table.pinned) for mate in table.together(page) if mate in table.resident}
        reserved = self.beside(self.pager.budget)
        if reserved + sum(table.resident[page].tokens for page in pinned) > self.pager.budget:
            cost = f", which takes {told_cost(self.lines[item].text)}" if item in self.lines else ""
            raise Refused(
                f"no room to pin {item}{cost}: pins and what is always on would fill the window; unpin something"
            )

    def pin(self, item: ItemId, *, pinned: bool) -> None:
        """Pin a page to this window, or unpin it.

        Raises:
            NotFound: it is not in the window.
            Refused: there is no room to keep it.
        """
        if pinned:
            self.check_room(item)
        self.pager.pin(item, pinned=pinned)
        self.choose_segment_lines()

    # How it reads

    @property
    def ids(self) -> tuple[ItemId, ...]:
        """List every item that the window shows or waits to write: residents, turns, segments, turns they quote."""
        quoted = (turn for line in self.lines.values() if SEGMENT in line.item.tags for turn in line.item.source)
        return (*self.pager.table.resident, *self.promotion.ids, *quoted)

    @property
    def brief(self) -> list[str]:
        """List the segments' lines that are shown."""
        return [text for text, _ in self.promotion.lines]

    def describe(self, *, counting: bool = False) -> Window:
        """Describe the window as it stands.

        Args:
            counting: Whether a provider is shown it, whose prefix cache would keep some.
        """
        table = self.pager.table
        lines = [self.lines[page] for page in table.resident]
        if counting:
            self._count(lines)
        text = laid_out(self._always_text, self.brief, [line.text for line in lines])
        unpinned = ", ".join(self.pager.unpinned)
        notes = (f"unpinned, as the budget had no room for it: {unpinned}",) if unpinned else ()
        return Window(
            text=text, tokens=table.used, pages=tuple(table.resident.values()), sections=dict(self.pager.meter),
            notes=(*notes, *(self.always.notes if self.always is not None else ())),
        )  # fmt: skip

    def as_messages(self, first: str) -> list[dict[str, object]]:
        """Lay the window out as messages for a provider."""
        self.describe(counting=True)
        pages = [(page, self.lines[page.id]) for page in self.pager.table.resident.values()]
        return messages(self._always_text, self.brief, pages, first=first)

    @property
    def _always_text(self) -> str:
        return "" if self.always is None else self.always.text

    def _count(self, lines: Sequence[WindowLine]) -> None:
        """Count the tokens at this window's head that a prefix cache would have; marks at its end are always new."""
        always = self.pager.table.reserved.get("always", 0)
        blocks = [(self._always_text, always), *self.promotion.lines, *((line.text, line.tokens) for line in lines)]
        self.pager.counters.rendered += sum(cost for _, cost in blocks) + FRAME
        self.pager.counters.reused += self._prefix.reused(blocks)


def needed(contents: Contents, items: Mapping[ItemId, Item]) -> tuple[list[ItemId], list[ItemId]]:
    """Name what must be read before these come in: stored states of pages long gone, and the items tied to others."""
    table = contents.pager.table
    absent = [item for item in items if item not in table.resident]
    forgotten = [item for item in absent if item not in table.away]
    return forgotten, [mate for item in absent for mate in table.together(item)[1:]]


def _quotes(item: Item, turn: ItemId) -> bool:
    return SEGMENT in item.tags and turn in item.source

"""A window made again: as it was written down, then the turns said since, as many as the target has room for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mnemic.core.ids import ItemId
from mnemic.core.items import Version
from mnemic.errors import Refused
from mnemic.window.layout import TOOL, line, role_of
from mnemic.window.session_state import as_page

if TYPE_CHECKING:
    from mnemic.store.values.row_values import PageRow
    from mnemic.window.contents import Contents
    from mnemic.window.session_state import SessionState


def check_pins(contents: Contents, found: SessionState, name: str) -> None:
    """See that a window that is smaller than it was holds the pins that were kept, beside what may always be on.

    Raises:
        Refused: it does not; nothing was written, and the pins are as they were.
    """
    rows, budget = _held_by_pins(found), contents.pager.budget
    if not rows or budget >= found.budget:
        return
    if _needed(contents, found, rows, budget) <= budget:
        return
    little, least = budget, found.budget
    while least - little > 1:
        middle = (little + least) // 2
        fits = _needed(contents, found, rows, middle) <= middle
        little, least = (little, middle) if fits else (middle, least)
    raise Refused(
        f"the pins of session {name!r} need a window of at least {least} tokens, and it is to have {budget}; open it "
        "with that, or open it as it was and unpin something"
    )


def _held_by_pins(found: SessionState) -> list[PageRow]:
    """Pinned pages, and a call's or a result's mates with them: they are never parted."""
    places = {row.position: row for row in found.pages if row.resident and row.position >= 0}
    held = {row.item: row for row in found.pages if row.resident and row.pinned}
    for row in list(held.values()):
        first = last = row.position
        while first in places and role_of(found.items[places[first].item].item) == TOOL and first - 1 in places:
            first -= 1
        while last + 1 in places and role_of(found.items[places[last + 1].item].item) == TOOL:
            last += 1
        held |= {places[place].item: places[place] for place in range(first, last + 1) if place in places}
    return list(held.values())


def _needed(contents: Contents, found: SessionState, rows: Sequence[PageRow], budget: int) -> int:
    """Tokens that these pages, and what may stand beside them, take of such a budget."""
    versions = [found.items[row.item] for row in rows]
    lines = (line(version.item, version.seq_from, contents.longest(budget)) for version in versions)
    return contents.beside(budget) + sum(one.tokens for one in lines)


def take_up(contents: Contents, found: SessionState) -> None:
    """Fill an empty window with what was kept of it."""
    contents.turns, contents.admitted, contents.pager.now = found.turns, found.seq, found.clock
    for version in found.segments:
        contents.promotion.take_up(version.item, contents.brief_room)
    for row in found.pages:
        item = found.items[row.item].item
        shown = contents.line(item, found.items[row.item].seq_from)
        contents.pager.restore([replace(as_page(row, role_of(item)), tokens=shown.tokens)])
    contents.left([page for page, _ in contents.pager.table.away.values()])
    _tie_again(contents)
    contents.tell_earlier()
    contents.left(contents.pager.relieve())
    _take_recent(contents, found)


def _tie_again(contents: Contents) -> None:
    """Ties are not written down: results find their calls by their places. A group that is in part here leaves."""
    table = contents.pager.table
    places = table.places()
    for position, item in places.items():
        page = table.find(item)
        if page is not None and page.role == TOOL and position - 1 in places:
            table.tie(places[position - 1], item)
    for item in list(table.resident):
        contents.settle(item)


def _take_recent(contents: Contents, found: SessionState) -> None:
    """Turns that were said since: the newest come in, and what finds no room waits for its segment."""
    chosen = _newest(contents, found.recent)
    for version in found.recent:
        if version.item.id in chosen:
            contents.admit([version.item], version.seq_from)
        elif found.known and contents.pager.table.find(version.item.id) is None:
            _stay_out(contents, version)
    contents.drop_lines()


def _newest(contents: Contents, turns: Sequence[Version]) -> set[ItemId]:
    """The last turns that the target has room for, cut where no call is parted from its results."""
    table = contents.pager.table
    groups: list[list[Version]] = []
    for version in turns:
        if role_of(version.item) != TOOL or not groups:
            groups.append([])
        groups[-1].append(version)
    whole = room = contents.pager.target - sum(table.reserved.values())
    chosen: set[ItemId] = set()
    for group in reversed(groups):
        cost = sum(contents.line(version.item, version.seq_from).tokens for version in group)
        headless = role_of(group[0].item) == TOOL
        if cost > whole or (headless and table.places().get(contents.turns - 1) not in contents.lines):
            continue
        room -= cost
        if room < 0:
            break
        chosen |= {version.item.id for version in group}
    return chosen


def _stay_out(contents: Contents, version: Version) -> None:
    page = contents.turn(version.item, contents.line(version.item, version.seq_from))
    table = contents.pager.table
    table.note(page, contents.pager.counters.evictions)
    call = contents.call(page)
    if call is not None:
        table.tie(call, page.id)
        contents.settle(call)
    contents.left([page])
    contents.admitted = max(contents.admitted, version.seq_from)

"""Rebuild a session's window from its stored state, then add the turns said since, as many as the target holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mnemic.core.ids import ItemId
from mnemic.core.items import Version
from mnemic.errors import Refused
from mnemic.window.layout import TOOL, render_line, role_of
from mnemic.window.session_state import as_page

if TYPE_CHECKING:
    from mnemic.store.values.row_values import PageRow
    from mnemic.window.contents import Contents
    from mnemic.window.session_state import SessionState


def check_pins(contents: Contents, stored: SessionState, name: str) -> None:
    """Check that a window smaller than the stored one still holds its pinned pages and the always-on block.

    Raises:
        Refused: it does not; nothing was written, and the pins are as they were.
    """
    rows, budget = _held_by_pins(stored), contents.pager.budget
    if not rows or budget >= stored.budget:
        return
    if _needed(contents, stored, rows, budget) <= budget:
        return
    little, least = budget, stored.budget
    while least - little > 1:
        middle = (little + least) // 2
        fits = _needed(contents, stored, rows, middle) <= middle
        little, least = (little, middle) if fits else (middle, least)
    raise Refused(
        f"the pins of session {name!r} need a window of at least {least} tokens, and it is to have {budget}; open it "
        "with that, or open it as it was and unpin something"
    )


def _held_by_pins(stored: SessionState) -> list[PageRow]:
    """List the pinned pages, and the tool calls and results that are never parted from them."""
    places = {row.position: row for row in stored.pages if row.resident and row.position >= 0}
    unparted = {row.item: row for row in stored.pages if row.resident and row.pinned}
    for row in list(unparted.values()):
        first = last = row.position
        while first in places and role_of(stored.items[places[first].item].item) == TOOL and first - 1 in places:
            first -= 1
        while last + 1 in places and role_of(stored.items[places[last + 1].item].item) == TOOL:
            last += 1
        unparted |= {places[place].item: places[place] for place in range(first, last + 1) if place in places}
    return list(unparted.values())


def _needed(contents: Contents, stored: SessionState, rows: Sequence[PageRow], budget: int) -> int:
    """Count the tokens that these pages, and what may stand beside them, take in a window of this budget."""
    versions = [stored.items[row.item] for row in rows]
    lines = (render_line(version.item, version.seq_from, contents.longest(budget)) for version in versions)
    return contents.beside(budget) + sum(shown.tokens for shown in lines)


def take_up(contents: Contents, stored: SessionState) -> None:
    """Fill an empty window with its stored pages and segments, then with the turns said since."""
    contents.turns, contents.admitted, contents.pager.now = stored.turns, stored.seq, stored.clock
    for version in stored.segments:
        contents.promotion.take_up(version.item, contents.brief_room)
    for row in stored.pages:
        item = stored.items[row.item].item
        shown = contents.line(item, stored.items[row.item].seq_from)
        contents.pager.restore([replace(as_page(row, role_of(item)), tokens=shown.tokens)])
    contents.drop_pages([page for page, _ in contents.pager.table.away.values()])
    _tie_again(contents)
    contents.choose_segment_lines()
    contents.drop_pages(contents.pager.relieve())
    _take_recent(contents, stored)


def _tie_again(contents: Contents) -> None:
    """Tie tool results to their calls by their places, as ties are not stored; a group that is not whole leaves."""
    table = contents.pager.table
    places = table.places()
    for position, item in places.items():
        page = table.find(item)
        if page is not None and page.role == TOOL and position - 1 in places:
            table.tie(places[position - 1], item)
    for item in list(table.resident):
        contents.settle(item)


def _take_recent(contents: Contents, stored: SessionState) -> None:
    """Admit the newest turns said since the state was stored; those without room wait for their segment."""
    chosen = _newest(contents, stored.recent)
    for version in stored.recent:
        if version.item.id in chosen:
            contents.admit([version.item], version.seq_from)
        elif stored.known and contents.pager.table.find(version.item.id) is None:
            _stay_out(contents, version)
    contents.drop_lines()


def _newest(contents: Contents, turns: Sequence[Version]) -> set[ItemId]:
    """Choose the last turns that the target has room for, never a tool result without its call."""
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
    contents.drop_pages([page])
    contents.admitted = max(contents.admitted, version.seq_from)

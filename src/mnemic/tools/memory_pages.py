"""What mnemic remembers besides files, as read-only Markdown: one page to a sort of item, each line with its id.

A page is there only if it has something to show. It shows the `LINES` items written last, the latest at the end, each
on one line; what is left out, of a page or of a line, is counted where it is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemic.core.items import Kind
from mnemic.core.queries import Filter
from mnemic.errors import NotFound
from mnemic.recall.always import is_fact, is_standing
from mnemic.recall.pack import render
from mnemic.verbs.looking_up import LIST_LIMIT

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item
    from mnemic.memory import ScopedMemory

LINES: Final = 100
"""Most items on a page."""

CHARACTERS: Final = 500
"""Most of an item's text on its line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPage:
    """One page: its name, its title, and which items it shows.

    Attributes:
        belongs: Which items of these kinds it shows; None for all.
        derived: Its items hold only as long as one of their sources does.
    """

    name: str
    title: str
    kinds: tuple[Kind, ...]
    belongs: Callable[[Item], bool] | None = None
    derived: bool = False


def _is_method(item: Item) -> bool:
    return "standing" not in item.slots


PAGES: Final = (
    MemoryPage(
        name="instructions.md", title="Standing instructions", kinds=(Kind.PROCEDURE,), belongs=is_standing,
        derived=True,
    ),
    MemoryPage(name="profile.md", title="Profile", kinds=(Kind.PROFILE,), belongs=is_fact, derived=True),
    MemoryPage(
        name="facts.md", title="Facts, plans and insights",
        kinds=(Kind.FACT, Kind.PLAN, Kind.EPISODE, Kind.INSIGHT, Kind.SUMMARY),
    ),
    MemoryPage(name="procedures.md", title="Procedures", kinds=(Kind.PROCEDURE,), belongs=_is_method),
    MemoryPage(name="recent.md", title="Recently said and read", kinds=(Kind.TURN, Kind.DOCUMENT)),
)  # fmt: skip


_CORE: Final = (Kind.PROCEDURE, Kind.PROFILE)
"""The few kinds of which all are read, because only some may be shown."""


def pages(memory: ScopedMemory) -> dict[str, str]:
    """The pages that have something to show, by name."""
    core = [version.item for version in memory.list(where=Filter(kinds=_CORE), limit=LIST_LIMIT)]
    texts = {p.name: _chosen(memory, p, core) if p.kinds[0] in _CORE else _newest(memory, p) for p in PAGES}
    return {name: text for name, text in texts.items() if text}


def _chosen(memory: ScopedMemory, page: MemoryPage, core: Sequence[Item]) -> str:
    items = [item for item in core if item.kind in page.kinds and (page.belongs is None or page.belongs(item))]
    there = _supported(memory, items) if page.derived else items
    return rendered(page, list(reversed(there[:LINES])), len(there))


def _newest(memory: ScopedMemory, page: MemoryPage) -> str:
    where = Filter(kinds=page.kinds)
    items = [version.item for version in memory.list(where=where, limit=LINES + 1)]
    every = memory.count(where=where) if len(items) > LINES else len(items)
    return rendered(page, list(reversed(items[:LINES])), every)


def rendered(page: MemoryPage, items: Sequence[Item], every: int) -> str:
    """A page of these items, the latest at the end; "" without any.

    Args:
        every: How many there are, those that are not shown included.
    """
    if not items:
        return ""
    kinds = " ".join(f"--kind {kind}" for kind in page.kinds)
    more = every - len(items)
    cut = f"{more:,} older ones are not shown here: `mnemic list {kinds} --limit {every}` shows all {every:,}."
    head = (f"# {page.title}", "", "Read-only; the id of each item stands in brackets.", *([cut] if more else []), "")
    return "\n".join((*head, *map(_line, items), ""))


def _line(item: Item) -> str:
    text = " ".join(item.text.split())
    more = len(text) - CHARACTERS
    cut = f"{text[:CHARACTERS]} … ({more:,} more characters: `mnemic show {item.id}`)" if more > 0 else text
    return f"- {render(item, cut)}"


def _supported(memory: ScopedMemory, items: Sequence[Item]) -> list[Item]:
    """Without what was derived from evidence that is not shown any more, as the always-on part of a context is."""
    there = {source: _is_there(memory, source) for item in items for source in item.source}
    return [item for item in items if not item.source or any(there[source] for source in item.source)]


def _is_there(memory: ScopedMemory, item: ItemId) -> bool:
    try:
        memory.get(item)
    except NotFound:
        return False
    return True

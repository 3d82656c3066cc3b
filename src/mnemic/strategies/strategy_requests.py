"""What a strategy may ask of the memory that it works on, each a flow: what it is shown it may cite, tie and change.

All of it is read as of the commit to which the run is pinned. Of the kinds that a strategy reads nothing is shown
before it was given: a run over the first of many turns does not see the last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Link
from mnemic.core.queries import Filter
from mnemic.flow import Flow, Request


@dataclass(frozen=True, slots=True)
class SearchHit:
    """An item that a search found.

    Attributes:
        score: What it is ranked by; comparable within one search only.
        overlap: The share of the words searched for that it holds, 0 to 1.
    """

    item: Item
    score: float
    overlap: float


@dataclass(frozen=True, slots=True)
class Search(Request):
    """The items that bear most on a text, best first, at most `k`."""

    text: str
    where: Filter = field(default_factory=Filter)
    k: int = 10


@dataclass(frozen=True, slots=True)
class Fetch(Request):
    """Items by their ids; what is not shown is left out."""

    ids: tuple[ItemId, ...]


@dataclass(frozen=True, slots=True)
class Keyed(Request):
    """Items by the keys under which they were derived; what is not shown is left out."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Linked(Request):
    """The links that start or end at these items, of some types or of all. It shows no items: fetch those."""

    ids: tuple[ItemId, ...]
    types: tuple[str, ...] = ()


def search(text: str, where: Filter = Filter(), k: int = 10) -> Flow[Sequence[SearchHit]]:
    """Search for the items that bear most on a text, best first; none where no word and no meaning brings any."""
    found: Sequence[SearchHit] = yield Search(text, where, k)
    return found


def fetch(*ids: ItemId) -> Flow[Mapping[ItemId, Item]]:
    """Look up items by id."""
    items: Mapping[ItemId, Item] = yield Fetch(ids)
    return items


def keyed(*keys: str) -> Flow[Mapping[str, Item]]:
    """Look up derived items by their keys, which are known for thirty days."""
    items: Mapping[str, Item] = yield Keyed(keys)
    return items


def linked(*ids: ItemId, types: tuple[str, ...] = ()) -> Flow[Sequence[Link]]:
    """Look up the links that start or end at these items."""
    links: Sequence[Link] = yield Linked(ids, types)
    return links

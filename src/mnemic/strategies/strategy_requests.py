"""What a strategy may ask of the memory that it works on, each a flow: what it is shown it may cite, tie and change.

All of it is read as of the commit to which the run is pinned. Of the kinds that a strategy reads nothing is shown
before it was given: a run over the first of many turns does not see the last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Link, Strength
from mnemic.core.queries import Filter
from mnemic.flow import Flow, Request
from mnemic.models.base import PassageReading

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class SearchHit:
    """An item that a search found.

    Attributes:
        score: What it is ranked by; comparable within one search only.
        overlap: The share of the words searched for that it holds, 0 to 1.
        cosine: How near in meaning it is, -1 to 1; None without an embedder, or while it has no vector.
    """

    item: Item
    score: float
    overlap: float
    cosine: float | None = None


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


@dataclass(frozen=True, slots=True)
class ScoreItems(Request):
    """The ids of the items that bear most on a text with their scores, best first: no body is read."""

    text: str
    where: Filter = field(default_factory=Filter)
    k: int = 200


@dataclass(frozen=True, slots=True)
class Strengths(Request):
    """How often and how lately items were recalled; one that never was has the strength of nothing."""

    ids: tuple[ItemId, ...]


@dataclass(frozen=True, slots=True)
class Spread(Request):
    """Personalised PageRank over the space's links, undirected and weighted, from some seeds.

    Attributes:
        seeds: Where the walk restarts, with weights above 0; they are scaled to a sum of 1.
        types: The links it follows; empty for all.
        damping: The chance of a further step, above 0 and below 1.
    """

    seeds: Mapping[ItemId, float]
    types: tuple[str, ...] = ()
    damping: float = 0.5


@dataclass(frozen=True, slots=True)
class EmbedTexts(Request):
    """The vectors of texts by the serving embedder, unit length; none at all without one.

    Attributes:
        embedder: Whose vectors are of use; none are made where another serves. "" for any.
        reading: How they are read; none are made by an embedder that does not read so.
    """

    texts: tuple[str, ...]
    embedder: str = ""
    reading: PassageReading = PassageReading.PASSAGE


def search(text: str, where: Filter = Filter(), k: int = 10) -> Flow[Sequence[SearchHit]]:
    """Search for the items that bear most on a text, best first; none where no word and no meaning brings any."""
    hits: Sequence[SearchHit] = yield Search(text, where, k)
    return hits


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


def scored(text: str, where: Filter = Filter(), k: int = 200) -> Flow[Sequence[tuple[ItemId, float]]]:
    """Rank items by a text, best first, without reading what they say; `fetch` shows those that are wanted."""
    ranked: Sequence[tuple[ItemId, float]] = yield ScoreItems(text, where, k)
    return ranked


def strengths(*ids: ItemId) -> Flow[Mapping[ItemId, Strength]]:
    """Look up how often and how lately items were recalled."""
    counted: Mapping[ItemId, Strength] = yield Strengths(ids)
    return counted


def spread(
    seeds: Mapping[ItemId, float], types: tuple[str, ...] = (), damping: float = 0.5
) -> Flow[Mapping[ItemId, float]]:
    """Spread weight from seeds along links; what it reaches with its share, which sum to 1. It shows no items."""
    reached: Mapping[ItemId, float] = yield Spread(seeds, types, damping)
    return reached


def vectors(
    *texts: str, embedder: str = "", reading: PassageReading = PassageReading.PASSAGE
) -> Flow[Sequence[NDArray[np.float32]]]:
    """Embed texts; empty without an embedder, or where another serves than the one that is named."""
    embedded: Sequence[NDArray[np.float32]] = yield EmbedTexts(texts, embedder, reading)
    return embedded

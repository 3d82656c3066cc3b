"""Personalised PageRank over the links that a view shows, by power iteration.

Page, Brin, Motwani and Winograd, "The PageRank Citation Ranking" (1999), section 6, for the personalised form; as
HippoRAG (Gutiérrez et al., arXiv:2405.14831, section 2.3) asks for it, whose damping of .5 is the default of `spread`.
Links are followed both ways, each in proportion to its weight; links of one pair add up. Where no link leads on, the
walk restarts at the seeds, and so does nothing get lost: what is reached sums to 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.recall.scoring import SCORING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from mnemic.core.ids import ItemId
    from mnemic.index.catalogues import Catalogues
    from mnemic.index.link_table import SpaceLinks
    from mnemic.recall.seeking import SpreadOver
    from mnemic.store.engine.snapshot import Snapshot

    Numbers = NDArray[np.int64]
    Weights = NDArray[np.float64]

TOLERANCE: Final = 1e-10
"""How far all shares together may be off."""


def spread_over(snapshot: Snapshot, catalogues: Catalogues, asked: SpreadOver) -> dict[ItemId, float]:
    """Rank items by personalised PageRank, the greatest share first, of equals by id; shares sum to 1.

    Only items that the view shows are walked over; seeds that it does not show are left out, and without any other
    nothing is reached.
    """
    layers = catalogues.links(snapshot, asked.spaces, asked.view, asked.later)
    numbers: dict[ItemId, int] = {}
    for seed in asked.seeds:
        if any(_shows(layer, seed) for layer in layers):
            numbers.setdefault(seed, len(numbers))
    if not numbers:
        return {}
    seeds = np.array([asked.seeds[seed] for seed in numbers], np.float64)
    with SCORING:
        ends = [_numbered(*part, numbers) for part in _visible(layers, asked.types)]
        sources, targets, weights = (np.concatenate(column) for column in zip(*ends, strict=True))
        restart = np.zeros(len(numbers), np.float64)
        restart[: len(seeds)] = seeds / seeds.sum()
        shares = pagerank(sources, targets, weights, restart, asked.damping)
    reached = sorted(((-share, id) for id, share in zip(numbers, shares.tolist(), strict=True) if share > 0))
    return {id: -share for share, id in reached}


def pagerank(sources: Numbers, targets: Numbers, weights: Weights, restart: Weights, damping: float) -> Weights:
    """The shares of nodes of a walk that goes on with a chance of `damping`, and else restarts: (nodes,), summing to 1.

    Args:
        sources, targets: The ends of each link, by node: (links,).
        weights: Of each link, above 0.
        restart: Where the walk restarts: (nodes,), summing to 1.
    """
    nodes, apart = len(restart), sources != targets
    begins = np.concatenate((sources, targets[apart]))  # there and back; a link from a node to itself once
    ends = np.concatenate((targets, sources[apart]))
    both = np.concatenate((weights, weights[apart]))
    leaving = np.bincount(begins, both, minlength=nodes)
    chances = both / leaving[begins]
    dead = leaving == 0
    shares = restart
    for _ in range(math.ceil(math.log(TOLERANCE / 2) / math.log(damping))):  # each step divides what it is off by that
        walked = np.bincount(ends, chances * shares[begins], minlength=nodes)
        after = damping * walked + (1 - damping + damping * float(shares[dead].sum())) * restart
        moved = float(np.abs(after - shares).sum())
        shares = after
        if moved * damping <= TOLERANCE * (1 - damping):
            break
    total: Weights = shares / shares.sum()
    return total


def _shows(layer: SpaceLinks, id: ItemId) -> bool:
    number = layer.numbers.get(id, len(layer.shown))
    return number < len(layer.shown) and bool(layer.shown[number])


def _visible(layers: Sequence[SpaceLinks], types: Sequence[str]) -> Iterator[tuple[SpaceLinks, NDArray[np.intp]]]:
    """Each layer with the links of it that are followed: both ends are shown, and no nearer layer tells of them."""
    nearer: set[tuple[ItemId, ItemId, str]] = set()
    for layer in layers:
        shown = layer.shown.copy()
        for number in np.flatnonzero(~layer.here).tolist():  # an item of another layer, such as the shared space
            shown[number] = any(_shows(other, layer.ids[number]) for other in layers)
        kept = shown[layer.sources] & shown[layer.targets]
        if types:
            wanted = [number for number, name in enumerate(layer.type_names) if name in types]
            kept &= np.isin(layer.types, wanted)
        places = np.flatnonzero(kept)
        if nearer:
            links = zip(*(ends[places].tolist() for ends in (layer.sources, layer.targets, layer.types)), strict=True)
            fresh = [_link_ends(layer, *link) not in nearer for link in links]
            places = places[np.array(fresh, np.bool_)]
        yield layer, places
        if layer is not layers[-1]:
            known = zip(*(ends.tolist() for ends in layer.known), strict=True)
            nearer.update(_link_ends(layer, *link) for link in known)


def _link_ends(layer: SpaceLinks, source: int, target: int, type: int) -> tuple[ItemId, ItemId, str]:
    return layer.ids[source], layer.ids[target], layer.type_names[type]


def _numbered(
    layer: SpaceLinks, places: NDArray[np.intp], numbers: dict[ItemId, int]
) -> tuple[Numbers, Numbers, Weights]:
    """The ends of some links by the numbers of all layers together, which grow by those that are new; their weights."""
    both = np.concatenate((layer.sources[places], layer.targets[places]))
    items, which = np.unique(both, return_inverse=True)
    joint = np.array([numbers.setdefault(layer.ids[item], len(numbers)) for item in items.tolist()], np.int64)
    sources, targets = joint[which].reshape(2, -1)
    return sources, targets, layer.weights[places]

"""Find communities in a weighted graph by label propagation (Raghavan et al., arXiv:0709.2938).

Zep (arXiv:2501.13956, section 2.3) propagates labels too, all at once in each round: two nodes with an edge of weight 2
then swap labels for ever. Here one node after the other takes a label, and only one that weighs strictly more among its
neighbours than its own: so each step adds weight within communities, and there are only so many steps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping


def communities(edges: Mapping[tuple[str, str], float]) -> list[tuple[str, ...]]:
    """Group the nodes of a graph: each group in order, the largest first; the same whatever the order of the edges.

    Args:
        edges: Pairs of nodes with weights above 0; a pair and its reverse add up.
    """
    weights: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for (name, other), weight in sorted(edges.items()):
        if name != other:
            weights[name][other] += weight
            weights[other][name] += weight
    labels = {node: node for node in weights}
    settled = False
    while not settled:
        settled = True
        for node in sorted(weights):
            shares: dict[str, float] = defaultdict(float)
            for neighbour, weight in weights[node].items():
                shares[labels[neighbour]] += weight
            heaviest = min(shares, key=lambda label: (-shares[label], label))
            if shares[heaviest] > shares.get(labels[node], 0.0):
                labels[node], settled = heaviest, False
    groups: dict[str, list[str]] = defaultdict(list)
    for node in sorted(labels):
        groups[labels[node]].append(node)
    return sorted(map(tuple, groups.values()), key=lambda group: (-len(group), group))

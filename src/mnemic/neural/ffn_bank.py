"""A bank beside a feed-forward layer: what is common lies in the layer, what is rare in the block of its cluster.

    y = W_2 φ(W_1 x) + Σ_l B_2^{l,c_l} φ(B_1^{l,c_l} x)          c_l: the cluster of the context, at each level l
      = a layer r_1 + … + r_L hidden units wider, other ones for each cluster

Only fetched blocks are computed, and only they get gradients: what one cluster learns another does not forget, and
to delete a cluster is to drop its block.

Source: Pouransari et al., pretraining with hierarchical memories, arXiv:2510.02375. What we do otherwise: φ is SiLU
without a second factor, the clusters are those of k-means over whatever vectors stand for contexts, each level over
all of them (theirs: each within the one above), and a bank begins as nothing, B_2 = 0.

A state is blocks that were taken away, by level and cluster: weights are shipped, deletions are somebody's.
Shapes: B rows, T time, D width, F hidden units of the layer, L levels, r of them in a block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.errors import Invalid
from mnemic.neural.base import Identity, State, own_identity


@dataclass(frozen=True, slots=True)
class BankSettings:
    """The form of a layer and its bank.

    Attributes:
        forward: F.
        clusters: How many there are at each level.
        units: r, of a block of each level.
        seed: Of the first weights.
    """

    width: int = 64
    forward: int = 64
    clusters: tuple[int, ...] = (64,)
    units: tuple[int, ...] = (16,)
    seed: int = 0

    def checked(self) -> BankSettings:
        """The same settings.

        Raises:
            Invalid: one of them is out of range.
        """
        if min(self.width, self.forward, *self.clusters, *self.units) < 1:
            raise Invalid("settings", "have a size of less than one", "Give 1 or more.")
        if len(self.clusters) != len(self.units):
            raise Invalid("units", f"are of {len(self.units)} levels", f"Give one for each of {len(self.clusters)}.")
        return self


def bank_by_definition(x: Tensor, weights: Mapping[str, Tensor], fetched: Sequence[int]) -> Tensor:
    """A token (D,) through the layer, widened by one block after the other. Slow on purpose."""
    up, down = [weights["up"]], [weights["down"]]
    for level, cluster in enumerate(fetched):
        if cluster >= 0:
            up.append(weights[f"up {level}"][cluster])
            down.append(weights[f"down {level}"][cluster])
    return torch.cat(down, 1) @ F.silu(torch.cat(up) @ x)


class FfnBank:
    """A feed-forward layer with a bank. A state is which blocks somebody has taken away."""

    def __init__(self, settings: BankSettings | None = None, weights: Mapping[str, Tensor] | None = None) -> None:
        self.settings = (settings or BankSettings()).checked()
        self._weights = dict(self._first() if weights is None else weights)

    @cached_property
    def identity(self) -> Identity:
        """Whose its states are."""
        return own_identity("ffn_bank", self._weights, self.settings)

    @property
    def weights(self) -> Mapping[str, Tensor]:
        """up (F, D), down (D, F), and of each level `up l` (clusters, r, D), `down l` (clusters, D, r)."""
        return self._weights

    def empty(self) -> State:
        """Nothing is taken away."""
        return {f"gone {n}": torch.zeros(count, dtype=torch.bool) for n, count in enumerate(self.settings.clusters)}

    def forget(self, level: int, cluster: int, state: State) -> State:
        """Take a cluster's block away; `state` stands as it was.

        Raises:
            Invalid: there is no such cluster.
        """
        if not (0 <= level < len(self.settings.clusters) and 0 <= cluster < self.settings.clusters[level]):
            raise Invalid("cluster", f"{cluster} of level {level} is none of the bank's", "Give one that it has.")
        gone = state[f"gone {level}"].clone()
        gone[cluster] = True
        return {**state, f"gone {level}": gone}

    def without(self, state: State) -> FfnBank:
        """A bank whose weights no longer hold what was taken away, for whoever is to be given them."""
        weights = {name: weight.detach().clone() for name, weight in self._weights.items()}
        for level in range(len(self.settings.clusters)):
            for side in ("up", "down"):
                weights[f"{side} {level}"][state[f"gone {level}"]] = 0.0
        return FfnBank(self.settings, weights)

    def read(self, x: Tensor, fetched: Tensor, state: State) -> Tensor:
        """What the layer makes of hidden states (B, T, D).

        Args:
            fetched: (B, L), the cluster of each row at each level; -1 fetches none.

        Raises:
            Invalid: they are of another width, type or shape, no numbers, or there is no such cluster.
        """
        self._check(x, fetched, state)
        w = self._weights
        y = F.silu(x @ w["up"].mT) @ w["down"].mT
        for level in range(len(self.settings.clusters)):
            here = fetched[:, level]
            there = ((here >= 0) & ~state[f"gone {level}"][here.clamp_min(0)]).nonzero()[:, 0]
            if len(there):
                up, down = (w[f"{side} {level}"][here[there]] for side in ("up", "down"))  # (B', r, D), (B', D, r)
                y = y.index_add(0, there, F.silu(x[there] @ up.mT) @ down.mT)
        return y

    def _first(self) -> State:
        s, draw = self.settings, torch.Generator().manual_seed(self.settings.seed)
        made = {
            "up": torch.randn(s.forward, s.width, generator=draw) / s.width**0.5,
            "down": torch.randn(s.width, s.forward, generator=draw) / s.forward**0.5,
        }
        for level, (count, units) in enumerate(zip(s.clusters, s.units, strict=True)):
            made[f"up {level}"] = torch.randn(count, units, s.width, generator=draw) / s.width**0.5
            made[f"down {level}"] = torch.zeros(count, s.width, units)
        return made

    def _check(self, x: Tensor, fetched: Tensor, state: State) -> None:
        s, like = self.settings, self._weights["up"]
        if x.ndim != 3 or x.shape[2] != s.width or x.dtype != like.dtype:
            raise Invalid("x", f"is {tuple(x.shape)} of {x.dtype}", f"Give (rows, time, {s.width}) of {like.dtype}.")
        if fetched.shape != (len(x), len(s.clusters)) or fetched.dtype != torch.int64:
            raise Invalid("fetched", f"is {tuple(fetched.shape)}", f"Give int64 ({len(x)}, {len(s.clusters)}).")
        if not torch.isfinite(x).all():
            raise Invalid("x", "is not all numbers", "Look where it comes from.")
        if ((fetched < -1) | (fetched >= torch.tensor(s.clusters))).any():
            raise Invalid("fetched", "names clusters that the bank does not have", f"Give -1 to {s.clusters} less 1.")
        if {name: len(gone) for name, gone in state.items()} != {f"gone {n}": c for n, c in enumerate(s.clusters)}:
            raise Invalid("state", "is of another bank", "Start from an empty one.")


def k_means(vectors: Tensor, clusters: int, seed: int, rounds: int = 20) -> Tensor:
    """Centres (clusters, E) of vectors (N, E), begun far from each other.

    Raises:
        Invalid: there are more clusters than vectors.
    """
    if clusters > len(vectors):
        raise Invalid("clusters", f"are {clusters}, and vectors {len(vectors)}", "Ask for fewer.")
    draw = torch.Generator().manual_seed(seed)
    at = [int(torch.randint(len(vectors), (1,), generator=draw))]
    nearest = torch.cdist(vectors, vectors[at])[:, 0]
    for _ in range(clusters - 1):
        at.append(int(nearest.argmax()))
        nearest = torch.minimum(nearest, torch.cdist(vectors, vectors[at[-1:]])[:, 0])
    centres = vectors[at].clone()
    for _ in range(rounds):
        belongs = routed(vectors, centres)
        sums = torch.zeros_like(centres).index_add(0, belongs, vectors)
        counts = torch.bincount(belongs, minlength=clusters)[:, None]
        centres = torch.where(counts > 0, sums / counts.clamp_min(1), centres)
    return centres


def routed(vectors: Tensor, centres: Tensor) -> Tensor:
    """The nearest centre of each vector (N,)."""
    return torch.cdist(vectors, centres).argmin(1)

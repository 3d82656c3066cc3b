"""Strategies as contestants: a memory that one of them alone reads, and whose own recall answers."""

from __future__ import annotations

from functools import partial
from typing import Final

from mnemic.lab.contestants.mnemic_contestant import MnemicContestant
from mnemic.lab.kit.contestant import Make, Means
from mnemic.registry import STRATEGIES

_WITHOUT_RECALL: Final = frozenset({"house"})


def offered() -> dict[str, Make]:
    """List every strategy that is registered and has a recall of its own."""
    return {name: partial(followed, name) for name in STRATEGIES if name not in _WITHOUT_RECALL}


def followed(name: str, means: Means) -> MnemicContestant:
    """A memory that follows one strategy."""
    return MnemicContestant(means.opened_embedder(), name, told=means.told)

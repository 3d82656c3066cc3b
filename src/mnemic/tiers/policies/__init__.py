"""Replacement policies, one to a file; a name in the registry opens each."""

from __future__ import annotations

from typing import Final

from mnemic.core.checking import did_you_mean
from mnemic.errors import Invalid
from mnemic.registry import POLICIES, load
from mnemic.tiers.base import Policy

_DRAWING: Final = frozenset({"reservoir"})


def open_policy(name: str, *, seed: int = 0) -> Policy:
    """Open a fresh policy by its name, with the constants it was measured with.

    Args:
        name: Of `registry.POLICIES`, in any case.
        seed: For one that draws.

    Raises:
        Invalid: there is no such policy.
    """
    key = name.lower()
    if key not in POLICIES:
        raise Invalid("policy", f"{name!r} is not one", did_you_mean(name, POLICIES))
    factory = load(POLICIES, key)
    policy: Policy = factory(seed=seed) if key in _DRAWING else factory()
    return policy

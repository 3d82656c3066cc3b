"""Replacement policies, one to a file; a name in the registry opens each."""

from __future__ import annotations

import difflib
from typing import Final

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
        near = difflib.get_close_matches(key, POLICIES, n=1)
        meant = f"Did you mean {near[0]!r}? " if near else ""
        raise Invalid("policy", f"{name!r} is not one", f"{meant}There are: {', '.join(POLICIES)}.")
    factory = load(POLICIES, key)
    policy: Policy = factory(seed=seed) if key in _DRAWING else factory()
    return policy

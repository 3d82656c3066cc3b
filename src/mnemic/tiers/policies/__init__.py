"""What leaves a window next, one way to a file; a name in the registry opens each."""

from __future__ import annotations

from typing import Final

from mnemic.errors import Invalid
from mnemic.registry import POLICIES, load
from mnemic.tiers.base import Policy

_DRAWING: Final = frozenset({"reservoir"})


def open_policy(name: str, *, seed: int = 0) -> Policy:
    """A fresh policy, with the constants it was measured with.

    Args:
        seed: For one that draws.

    Raises:
        Invalid: there is no such policy.
    """
    if name not in POLICIES:
        raise Invalid("policy", f"{name!r} is not one", f"There are: {', '.join(POLICIES)}.")
    made = load(POLICIES, name)
    policy: Policy = made(seed=seed) if name in _DRAWING else made()
    return policy

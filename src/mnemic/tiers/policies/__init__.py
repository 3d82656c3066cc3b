"""Replacement policies, one to a file; a name in the registry opens each."""

from __future__ import annotations

from typing import Any, Final

from mnemic.core.checking import did_you_mean
from mnemic.errors import Invalid
from mnemic.registry import POLICIES, fetch, is_place, load
from mnemic.tiers.base import Policy

_DRAWING: Final = frozenset({"reservoir"})
_PARTS: Final = ("name", "admitted", "used", "left", "victim")


def open_policy(name: str, *, seed: int = 0) -> Policy:
    """Open a fresh policy by its name, with the constants it was measured with.

    Args:
        name: Of `registry.POLICIES`, in any case; or `package.module:Class`.
        seed: For one that draws.

    Raises:
        Invalid: there is no such policy.
    """
    if is_place(name):
        return checked_policy(fetch("policy", name))
    key = name.lower()
    if key not in POLICIES:
        raise Invalid("policy", f"{name!r} is not one", did_you_mean(name, POLICIES))
    factory = load(POLICIES, key)
    policy: Policy = factory(seed=seed) if key in _DRAWING else factory()
    return policy


def checked_policy(policy: Any) -> Policy:
    """Check that an object is a policy; of a class, make one.

    Raises:
        Invalid: it is none, or its class takes more than nothing to make one.
    """
    title = policy.__name__ if isinstance(policy, type) else type(policy).__name__
    if missing := [part for part in _PARTS if not hasattr(policy, part)]:
        raise Invalid("policy", f"{title} has no {missing[0]}", "Give a name, package.module:Class, or a Policy.")
    try:
        made: Policy = policy() if isinstance(policy, type) else policy
    except TypeError as error:
        raise Invalid("policy", f"the class {title} makes none: {error}", f"Give an object: {title}(...).") from error
    return made

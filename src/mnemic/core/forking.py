"""A forked child starts fresh: locks another thread of the parent held would never open in it."""

from __future__ import annotations

import os
import weakref
from typing import Final, Protocol


class Renewable(Protocol):
    """Something with locks, threads or connections of its own."""

    def renew(self) -> None:
        """Begin again with fresh ones; called in a child just after the fork."""
        ...


_known: Final[weakref.WeakSet[Renewable]] = weakref.WeakSet()


def renew_in_child(thing: Renewable) -> None:
    """Have `thing` renewed in every child that is forked from now on."""
    _known.add(thing)


def _renew_all() -> None:
    for thing in list(_known):
        thing.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)

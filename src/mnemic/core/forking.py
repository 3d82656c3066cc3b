"""Forks: renew locks and threads in the child, and close what SQLite counts per process while it is copied."""

from __future__ import annotations

import os
import weakref
from typing import Final, Protocol


class Renewable(Protocol):
    """A thing with locks or threads of its own."""

    def renew(self) -> None:
        """Replace locks and threads by fresh ones; called in a child just after the fork."""
        ...


class Restful(Renewable, Protocol):
    """A thing that must also be at rest while the process is copied."""

    def rest(self) -> None:
        """Close everything that must not be copied; called just before the fork."""
        ...

    def resume(self) -> None:
        """Go on; called in the parent just after the fork."""
        ...


_renewed: Final[weakref.WeakSet[Renewable]] = weakref.WeakSet()
_rested: Final[weakref.WeakSet[Restful]] = weakref.WeakSet()


def renew_in_child(thing: Renewable) -> None:
    """Register a thing to be renewed in every child that is forked from now on."""
    _renewed.add(thing)


def rest_for_forks(thing: Restful) -> None:
    """Register a thing to rest during every fork from now on, and to be renewed in the child."""
    _rested.add(thing)


def _rest() -> None:
    for thing in list(_rested):
        thing.rest()


def _resume() -> None:
    for thing in list(_rested):
        thing.resume()


def _renew() -> None:
    for thing in (*_rested, *_renewed):
        thing.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_rest, after_in_parent=_resume, after_in_child=_renew)

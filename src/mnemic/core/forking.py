"""Forks: a child starts fresh, and nothing that SQLite keeps count of is open while a process is copied."""

from __future__ import annotations

import os
import weakref
from typing import Final, Protocol


class Renewable(Protocol):
    """Something with locks or threads of its own."""

    def renew(self) -> None:
        """Begin again with fresh ones; called in a child just after the fork."""
        ...


class Restful(Renewable, Protocol):
    """Something that must also be at rest while the process is copied."""

    def rest(self) -> None:
        """Let go of everything that a copy would confuse; called just before the fork."""
        ...

    def resume(self) -> None:
        """Go on; called in the parent just after the fork."""
        ...


_renewed: Final[weakref.WeakSet[Renewable]] = weakref.WeakSet()
_rested: Final[weakref.WeakSet[Restful]] = weakref.WeakSet()


def renew_in_child(thing: Renewable) -> None:
    """Have `thing` renewed in every child that is forked from now on."""
    _renewed.add(thing)


def rest_for_forks(thing: Restful) -> None:
    """Have `thing` at rest during every fork from now on, and renewed in the child."""
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

"""Which strategies are followed: by the names that a setting gives, and such as somebody hands over."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from mnemic.errors import Invalid
from mnemic.lanes.slices import EMBED, JOBS
from mnemic.registry import STRATEGIES, fetch, is_place, load

if TYPE_CHECKING:
    from mnemic.strategies.base import Strategy

FIELD: Final = "strategies"
_GUIDE: Final = "See mnemic.strategies.Strategy."
_PARTS: Final = ("name", "by", "reads", "triggers", "maintain", "budget", "batch", "on_write", "on_maintain")
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


def followed(named: str | Sequence[str | Strategy]) -> tuple[str | Strategy, ...]:
    """Strategies, each checked: ours by their names, and not loaded, because reading a store needs none; others loaded.

    Args:
        named: Names and places (`package.module:Class`), separated by commas or as a list; or strategies, or their
            classes.

    Raises:
        Invalid: there is none of a name, one does not keep the protocol, or two are called alike.
    """
    if not isinstance(named, str | list | tuple):
        raise Invalid(FIELD, f"is {type(named).__name__}", "Give a list of names or strategies.")
    given = dict.fromkeys(filter(None, map(str.strip, named.split(",")))) if isinstance(named, str) else named
    found = tuple(one if isinstance(one, str) and one in STRATEGIES else _opened(one) for one in given)
    for what, said in (
        ("are called", [lane_of(one) for one in found]),
        ("write as", [one.by for one in found if not isinstance(one, str)]),
    ):
        if twice := next((name for name in said if said.count(name) > 1), None):
            raise Invalid(FIELD, f"two of them {what} {twice!r}", "Leave one out, or give it another name.")
    return found


def lane_of(one: str | Strategy) -> str:
    """The lane of a strategy that is followed."""
    return one if isinstance(one, str) else one.name


def strategies(found: Sequence[str | Strategy]) -> tuple[Strategy, ...]:
    """What `followed` has found, loaded."""
    return tuple(load(STRATEGIES, one)() if isinstance(one, str) else one for one in found)


def _opened(given: str | Strategy | type[Strategy]) -> Strategy:
    """A strategy of somebody's own, one for all runs: it holds no state."""
    found: Any = given
    if isinstance(given, str):
        if not is_place(given):
            known = f"Known: {', '.join(sorted(STRATEGIES))}; your own is package.module:Class."
            raise Invalid(FIELD, f"{given!r} is not known", known)
        found = fetch(FIELD, given)
    title = found.__name__ if isinstance(found, type) else type(found).__name__
    if missing := [part for part in _PARTS if not hasattr(found, part)]:
        raise Invalid(FIELD, f"{title} has no {', '.join(missing)}", _GUIDE)
    name = found.name
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in (EMBED, JOBS):
        told = f"{title}'s name {name!r} cannot name a lane"
        raise Invalid(FIELD, told, f"Small letters, digits and _; not {EMBED} or {JOBS}.")
    strategy: Strategy = found() if isinstance(found, type) else found
    return strategy

"""Check and load the strategies that a store follows: named by a setting, or passed as objects."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.checking import did_you_mean, shown
from mnemic.errors import Invalid
from mnemic.lanes.slices import EMBED, JOBS, PACK, SLOTS
from mnemic.registry import STRATEGIES, fetch, is_place, load

if TYPE_CHECKING:
    from mnemic.strategies.base import Strategy

FIELD: Final = "strategies"
_GUIDE: Final = "See mnemic.strategies.Strategy."
_PARTS: Final = ("name", "by", "reads", "triggers", "maintain", "budget", "batch", "on_write", "on_maintain")
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


def followed(named: str | Sequence[str | Strategy]) -> tuple[str | Strategy, ...]:
    """Check the strategies to follow: ours by their names, and not loaded, because reading a store needs none; others
    loaded.

    Args:
        named: Names and places (`package.module:Class`), separated by commas or as a list; or strategies, or their
            classes.

    Raises:
        Invalid: there is none of a name, one does not keep the protocol, or two are called alike.
    """
    if not isinstance(named, str | list | tuple):
        raise Invalid(FIELD, f"is {type(named).__name__}", "Give a list of names or strategies.")
    wanted = dict.fromkeys(filter(None, map(str.strip, named.split(",")))) if isinstance(named, str) else named
    chosen = tuple(name if isinstance(name, str) and name in STRATEGIES else _loaded(name) for name in wanted)
    _refuse_twice("are called", [lane_of(strategy) for strategy in chosen])
    own = [strategy for strategy in chosen if not isinstance(strategy, str)]
    _refuse_twice("write as", [strategy.by for strategy in own])
    for strategy in own:
        _refuse_name_of_ours(strategy)
    return chosen


def lane_of(strategy: str | Strategy) -> str:
    """Name the lane of a followed strategy."""
    return strategy if isinstance(strategy, str) else strategy.name


def strategies(chosen: Sequence[str | Strategy]) -> tuple[Strategy, ...]:
    """Load the strategies that `followed` has checked."""
    return tuple(load(STRATEGIES, strategy)() if isinstance(strategy, str) else strategy for strategy in chosen)


def strategy_called(name: str, chosen: Sequence[str | Strategy]) -> Strategy:
    """Load the strategy of a name: one of those that are followed, or any that is registered.

    Raises:
        Invalid: there is none.
    """
    for strategy in chosen:
        if lane_of(strategy) == name:
            return strategies((strategy,))[0]
    if name in STRATEGIES:
        return strategies((name,))[0]
    raise unknown_strategy("by", name, [lane_of(strategy) for strategy in chosen])


def is_known(name: str, chosen: Sequence[str | Strategy]) -> bool:
    """Whether a name is that of a strategy which is followed, or registered."""
    return name in STRATEGIES or any(lane_of(strategy) == name for strategy in chosen)


def author_called(name: str, chosen: Sequence[str | Strategy] = ()) -> str:
    """Name the author as whom a strategy of a name writes, by what it says; one that is not known here, by its name."""
    return strategy_called(name, chosen).by if is_known(name, chosen) else name


def unknown_strategy(field: str, name: str, named: Sequence[str]) -> Invalid:
    """Make the error about a name that is no strategy's here: how one of the user's own comes to be known.

    Args:
        named: The names of those that the store was opened with.
    """
    known = sorted({*named, *STRATEGIES})
    place = name if is_place(name) else "package.module:Class"
    others = ",".join(other for other in named if other in STRATEGIES)
    remedy = (
        f"{did_you_mean(name, known)} One of your own is known while the setting names it, as in "
        f"`export MNEMIC_STRATEGIES={others + ',' if others else ''}{place}` (in Python `Memory(strategies=[...])`); "
        "it is followed by its name, not by its place."
    )
    return Invalid(field, f"{name!r} is no strategy that is known here", remedy)


def _refuse_twice(what: str, names: Sequence[str]) -> None:
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise Invalid(FIELD, f"two of them {what} {twice!r}", "Leave one out, or give it another name.")


def _refuse_name_of_ours(own: Strategy) -> None:
    """Refuse a strategy that goes by a name of ours, or writes as one of ours does: it would take that one's items.

    One of ours that was made with arguments, and a subclass, stand in its place as they are meant to.
    """
    for name in STRATEGIES:
        ours = load(STRATEGIES, name)
        if isinstance(own, ours):
            continue
        title = type(own).__name__
        if own.name == name:
            problem = f"two strategies claim one name: {title} is called {name!r}, and so is one of ours"
            raise Invalid(FIELD, problem, f"Give {title} another `name`, and another `by`.")
        if own.by == ours.by:
            problem = f"{own.name!r} writes as {own.by!r}, which is what {name!r} does"
            raise Invalid(FIELD, problem, "Give its `by` another name.")


def _loaded(strategy: str | Strategy | type[Strategy]) -> Strategy:
    """Load and check a strategy that is not ours: one instance serves all runs, as it holds no state."""
    candidate: Any = strategy
    if isinstance(strategy, str):
        if not is_place(strategy):
            known = f"Known: {', '.join(sorted(STRATEGIES))}; your own is package.module:Class."
            raise Invalid(FIELD, f"{strategy!r} is not known", known)
        candidate = fetch(FIELD, strategy)
    if candidate is None or (isinstance(candidate, list | tuple | int | float) and not isinstance(strategy, str)):
        remedy = "Give names of ours, `package.module:Class`, strategies, or their classes."
        raise Invalid(FIELD, f"holds {shown(strategy)}, which is no strategy", remedy)
    title = candidate.__name__ if isinstance(candidate, type) else type(candidate).__name__
    if missing := [part for part in _PARTS if not hasattr(candidate, part)]:
        raise Invalid(FIELD, f"{title} has no {', '.join(missing)}", _GUIDE)
    name = candidate.name
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in (EMBED, JOBS, PACK, SLOTS):
        remedy = f"Small letters, digits and _; not {EMBED}, {JOBS}, {PACK} or {SLOTS}."
        raise Invalid(FIELD, f"{title}'s name {name!r} cannot name a lane", remedy)
    instance: Strategy = candidate() if isinstance(candidate, type) else candidate
    return instance

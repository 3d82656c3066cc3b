"""Say what a view and a filter show, once and as data: clauses over a version's columns, for each target to compile.

A version is shown if every clause holds; a clause holds if any of its conditions does. `store.sqlite_items` compiles
clauses to SQL, `index.reading` to masks over arrays, and `shown_by` to plain Python over one version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from mnemic.core.clock import FOREVER, micros
from mnemic.core.facets import SlotValue, slot_facet, slot_facets
from mnemic.core.items import Sight, State

if TYPE_CHECKING:
    from mnemic.core.items import Channel, Item, Kind, Version
    from mnemic.core.queries import Filter, View

ColumnName: TypeAlias = Literal[
    "seq_from",
    "seq_to",
    "state",
    "kind",
    "said",
    "known_to",
    "valid_from",
    "valid_to",
    "expires",
    "agent",
    "session",
    "channel",
    "sight",
    "author",
    "tags",
    "slots",
]
"""What a condition looks at. Times are microseconds and open ends `FOREVER`, what never expires does so at 0; a version
has any number of `tags`, and of `slots`, each a name and a value, and `author` only if it was derived."""
Operator: TypeAlias = Literal["<", "<=", "IN", ">=", ">"]
"""How a column is compared with a value, spelled as in SQL."""


class Condition(NamedTuple):
    """One comparison; `values` holds one value, or with `IN` at least one."""

    column: ColumnName
    operator: Operator
    values: tuple[int | str | State | Kind | Channel | Sight | tuple[str, SlotValue], ...]

    @property
    def slots(self) -> list[tuple[str, SlotValue]]:
        """The slots among its values."""
        return [value for value in self.values if isinstance(value, tuple)]


Clause: TypeAlias = tuple[Condition, ...]
"""Holds if any of its conditions does."""


def shown_states(view: View) -> tuple[State, ...]:
    """Name the states that a view shows: superseded items are part of what was known, and of what held."""
    if view.as_of is None and view.valid_at is None:
        return (State.ACTIVE,)
    return (State.ACTIVE, State.SUPERSEDED)


def conditions(view: View, where: Filter) -> tuple[Clause, ...]:
    """Spell out what a version must meet to be shown by a view and to pass a filter."""
    # The moment is another one each time, so only what it asks for is spelled out anew.
    states = where.states or shown_states(view)
    return (*timeless_conditions(view.at, view.as_of, view.valid_at, where), *_stated(states, view.moment))


def has_expired(item: Item, now: int) -> bool:
    """Whether an item is as good as retired, because its time has run out by now (microseconds)."""
    return item.expires is not None and micros(item.expires) <= now


def _stated(states: tuple[State, ...], moment: int | None) -> tuple[Clause, ...]:
    """It is in one of these states; what has expired is as good as retired, whatever is written of it."""
    stated = Condition("state", "IN", states)
    if moment is None:
        return ((stated,),)
    if State.RETIRED not in states:
        return (stated,), (Condition("expires", "IN", (0,)), Condition("expires", ">", (moment,)))
    return (stated, Condition("expires", ">", (0,))), (stated, Condition("expires", "<=", (moment,)))


@lru_cache(256)
def timeless_conditions(at: int | None, as_of: int | None, valid_at: int | None, where: Filter) -> tuple[Clause, ...]:
    """Spell out what does not depend on the moment at which it is looked."""
    clauses = [*_stands(at), *_held(as_of, valid_at)]
    if where.kinds:
        clauses.append((Condition("kind", "IN", where.kinds),))
    if where.channels:
        clauses.append((Condition("channel", "IN", where.channels),))
    if where.sights:
        clauses.append((Condition("sight", "IN", where.sights),))
    if where.agent is not None:
        clauses.append((Condition("agent", "IN", (where.agent,)),))
    if where.session is not None:
        clauses.append((Condition("session", "IN", (where.session,)),))
    if where.said_from is not None:
        clauses.append((Condition("said", ">=", (where.said_from,)),))
    if where.said_to is not None:
        clauses.append((Condition("said", "<", (where.said_to,)),))
    return (*clauses, *facet_clauses(where))


def facet_clauses(where: Filter) -> tuple[tuple[Condition], ...]:
    """Spell out what a filter asks of tags, authors and slots: what facets tell, and no column of an entry."""
    tagged = [(Condition("tags", "IN", where.tags),)] if where.tags else []
    authored = [(Condition("author", "IN", where.by),)] if where.by else []
    return (*tagged, *authored, *((Condition("slots", "IN", (slot,)),) for slot in where.slots))


def sight_clauses(where: Filter, reader: str | None = None) -> tuple[Clause, ...]:
    """Spell out what a recall sees of what was derived, where listings see all of it.

    That is what everybody sees, and what `reader`, the strategy that asks, derived itself. Whoever names authors sees
    all that these derived.
    """
    if where.by:
        return ()
    everybody = Condition("sight", "IN", (Sight.ALL,))
    return ((everybody,),) if reader is None else ((everybody, Condition("author", "IN", (reader,))),)


def _stands(at: int | None) -> list[Clause]:
    if at is None:
        return [(Condition("seq_to", "IN", (FOREVER,)),)]
    return [
        (Condition("seq_from", "<=", (at,)),),
        (Condition("seq_to", ">", (at,)),),
    ]


def _held(as_of: int | None, valid_at: int | None) -> list[Clause]:
    """What was known at `as_of`, what held at `valid_at`; with both, what was known then to hold."""
    clauses: list[Clause] = []
    if as_of is not None:
        clauses.append((Condition("said", "<=", (as_of,)),))
    if as_of is not None and valid_at is None:
        clauses.append((Condition("known_to", ">", (as_of,)),))
    if valid_at is not None:
        lasts = Condition("valid_to", ">", (valid_at,))
        clauses.append((Condition("valid_from", "<=", (valid_at,)),))
        if as_of is None:
            clauses.append((lasts,))
        else:  # what was superseded later than `as_of` was open then: its end was not known yet
            clauses.append((lasts, Condition("known_to", ">", (as_of,))))
            clauses.append((lasts, Condition("known_to", "<", (FOREVER,))))
    return clauses


def shown_by(view: View, where: Filter) -> Callable[[Version], bool]:
    """Compile a view and a filter to a test of one version."""
    compiled = [[_test(condition) for condition in clause] for clause in conditions(view, where)]
    return lambda version: all(any(test(version) for test in tests) for tests in compiled)


def _test(condition: Condition) -> Callable[[Version], bool]:
    read, values = _READ[condition.column], condition.values
    if condition.column == "tags":
        return lambda version: not read(version).isdisjoint(values)
    if condition.column == "slots":
        ((name, asked),) = condition.slots
        wanted = slot_facet(name, asked)
        return lambda version: wanted in slot_facets(read(version), (name,))
    if condition.operator == "IN":
        return lambda version: read(version) in values
    compare, value = _COMPARED[condition.operator], values[0]
    return lambda version: compare(read(version), value)


_COMPARED: Final[Mapping[Operator, Callable[[Any, Any], bool]]] = {
    "<": lt,
    "<=": le,
    ">=": ge,
    ">": gt,
}
_READ: Final[Mapping[ColumnName, Callable[[Version], Any]]] = {
    "seq_from": lambda v: v.seq_from,
    "seq_to": lambda v: FOREVER if v.seq_to is None else v.seq_to,
    "state": lambda v: v.item.state,
    "kind": lambda v: v.item.kind,
    "said": lambda v: micros(v.item.said),
    "known_to": lambda v: FOREVER if v.item.known_to is None else micros(v.item.known_to),
    "valid_from": lambda v: micros(v.item.said if v.item.valid_from is None else v.item.valid_from),
    "valid_to": lambda v: FOREVER if v.item.valid_to is None else micros(v.item.valid_to),
    "expires": lambda v: 0 if v.item.expires is None else micros(v.item.expires),
    "agent": lambda v: v.item.agent,
    "session": lambda v: v.item.session,
    "channel": lambda v: v.item.channel,
    "sight": lambda v: v.item.sight,
    "author": lambda v: v.item.author,
    "tags": lambda v: frozenset(v.item.tags),
    "slots": lambda v: v.item.slots,
}

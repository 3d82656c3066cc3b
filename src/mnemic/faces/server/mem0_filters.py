"""Filters as mem0 writes them, made into ours: each way in which one can be met is a condition on one user's items.

`AND`, `OR` and `in` are multiplied out, so a filter is a union of conditions that the store answers by its indexes.
What no index answers (`NOT`, `ne`, parts of words, ranges of metadata) is refused: to leave a condition out would show
more than was asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from mnemic.core.clock import aware, micros, since_1970
from mnemic.core.items import Sight
from mnemic.core.queries import Filter
from mnemic.errors import Invalid

MOST_CASES: Final = 64
"""Ways in which a filter may be met, multiplied out."""
METADATA: Final = "metadata."
"""What the name of a slot begins with that holds a field of mem0's metadata."""
APP: Final = "app_id"
"""The slot that holds mem0's `app_id`."""
ENTITIES: Final = ("user_id", "agent_id", "app_id", "run_id")
ANY: Final = "*"
"""mem0's word for any value."""
_SHOWN: Final = Filter(sights=(Sight.ALL,))
_REFUSED: Final = frozenset({"NOT", "updated_at", "keywords", "feedback", "feedback_reason", "memory_ids"})
_WHAT_IS_TAKEN: Final = (
    "Filters take AND, OR; user_id, agent_id, app_id, run_id, metadata with a value or `in`; categories with `in`; "
    "created_at with gte, gt, lte, lt."
)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d\Z")


@dataclass(frozen=True, slots=True)
class Case:
    """One way in which a filter is met.

    Attributes:
        user: Whose memory; None for that of whoever asks.
        where: Which of its items; None for none, as the conditions contradict each other.
        any_user: With no user, everybody's whom the caller may name was asked for.
    """

    user: str | None = None
    where: Filter | None = _SHOWN
    any_user: bool = False

    def both(self, other: Case) -> Case:
        """The case that this one and another are met."""
        if None not in (self.user, other.user) and self.user != other.user:
            return Case(self.user, None)
        user = other.user if self.user is None else self.user
        any_user = user is None and (self.any_user or other.any_user)
        if self.where is None or other.where is None:
            return Case(user, None, any_user)
        if self.where.tags and other.where.tags and set(self.where.tags) != set(other.where.tags):
            raise Invalid("filters", "asks for categories of two sets at once", "Give one `in`; it means any of these.")
        return Case(user, self.where.within(other.where), any_user)


def cases_of(filters: object, zone: str) -> list[Case]:
    """List the ways in which a filter is met; a list of filters is met by all of them.

    Args:
        zone: Where a date without a zone is.

    Raises:
        Invalid: it is none, or asks for what no index answers.
    """
    if isinstance(filters, list):
        return _product(cases_of(part, zone) for part in filters)
    if not isinstance(filters, Mapping):
        raise Invalid("filters", "is no object", _WHAT_IS_TAKEN)
    return _product(_field(name, value, zone) for name, value in filters.items())


def _product(parts: Iterable[list[Case]]) -> list[Case]:
    met = [Case()]
    for part in parts:
        _refuse_many(len(met) * len(part))
        met = [case.both(other) for case in met for other in part]
    return met


def _refuse_many(count: int) -> None:
    if count > MOST_CASES:
        raise Invalid("filters", f"can be met in over {MOST_CASES} ways", "Ask in parts.")


def _field(name: str, value: Any, zone: str) -> list[Case]:
    """The cases of one field of a filter."""
    if name in _REFUSED:
        raise Invalid(f"filters.{name}", "is not to be filtered by here", _WHAT_IS_TAKEN)
    if name in ("AND", "OR"):
        if not isinstance(value, list) or not value:
            raise Invalid(f"filters.{name}", "is no list of filters", _WHAT_IS_TAKEN)
        if name == "AND":
            return cases_of(value, zone)
        met = [case for part in value for case in cases_of(part, zone)]
        _refuse_many(len(met))
        return met
    if name in ENTITIES:
        return [_entity(name, part) for part in _values(name, value)]
    if name == "categories":
        return [Case(where=replace(_SHOWN, tags=tuple(_texts(name, value))))]
    if name == "created_at":
        return [Case(where=_said(value, zone))]
    if name == "metadata":
        if not isinstance(value, Mapping):
            raise Invalid("filters.metadata", "is no object", "Give each field with its value.")
        return _product([_metadata(field, part) for part in _values(field, wanted)] for field, wanted in value.items())
    return [_metadata(name, part) for part in _values(name, value)]  # mem0's own server takes these beside the entities


def _values(name: str, value: Any) -> list[Any]:
    """The values of which a field must have one."""
    if isinstance(value, Mapping):
        if len(value) == 1 and "eq" in value:
            value = value["eq"]
        elif len(value) == 1 and isinstance(value.get("in"), list) and value["in"]:
            _refuse_many(len(value["in"]))
            return list(value["in"])
        else:
            raise Invalid(f"filters.{name}", f"has {', '.join(value) or 'nothing'}", _WHAT_IS_TAKEN)
    return [value]


def _texts(name: str, value: Any) -> list[str]:
    if isinstance(value, Mapping) and set(value) == {"contains"}:
        value = value["contains"]
    values = [inner for part in _values(name, value) for inner in (part if isinstance(part, list) else [part])]
    if not values or not all(isinstance(part, str) for part in values):
        raise Invalid(f"filters.{name}", "are no words", _WHAT_IS_TAKEN)
    return values


def _entity(name: str, value: Any) -> Case:
    if not isinstance(value, str) or not value:
        raise Invalid(f"filters.{name}", "is no name", "Give a name, or leave it out for any.")
    if name == "user_id":
        return Case(any_user=True) if value == ANY else Case(user=value)
    if value == ANY:
        raise Invalid(f"filters.{name}", "is `*`", "Leave it out: then it may be any, or none.")
    if name == "agent_id":
        return Case(where=replace(_SHOWN, agent=value))
    if name == "run_id":
        return Case(where=replace(_SHOWN, session=value))
    return Case(where=replace(_SHOWN, slots=((APP, value),)))


def _metadata(name: str, value: Any) -> Case:
    if isinstance(value, float | list | Mapping):
        raise Invalid(f"filters.{name}", "is no text, whole number, true, false or null", _WHAT_IS_TAKEN)
    if value == ANY:
        raise Invalid(f"filters.{name}", "is `*`", "Give a value, or leave the field out.")
    return Case(where=replace(_SHOWN, slots=((METADATA + name, value),)))


def _said(value: Any, zone: str) -> Filter:
    """Said within the bounds; a bare date is its whole day."""
    if not isinstance(value, Mapping) or not value or set(value) - {"gte", "gt", "lte", "lt"}:
        raise Invalid("filters.created_at", "has other than gte, gt, lte, lt", _WHAT_IS_TAKEN)
    starts, ends = [], []
    for name, given in value.items():
        start, end = _instants(f"filters.created_at.{name}", given, zone)
        if name in ("gte", "gt"):
            starts.append(start if name == "gte" else end)
        else:
            ends.append(start if name == "lt" else end)
    return replace(_SHOWN, said_from=max(starts, default=None), said_to=min(ends, default=None))


def _instants(field: str, given: Any, zone: str) -> tuple[int, int]:
    """The first microsecond of a time, and the first that is past it."""
    if isinstance(given, int | float) and not isinstance(given, bool):
        start = micros(since_1970(given, field), field)
        return start, start + 1
    when = aware(field, given, zone)
    start = micros(when, field)
    if not _DATE.match(given):
        return start, start + 1
    return start, start + timedelta(days=1) // timedelta(microseconds=1)

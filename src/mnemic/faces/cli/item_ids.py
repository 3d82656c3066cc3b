"""From what a person types for an id to the id: all of it, its beginning or its end, or `last`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mnemic.core.ids import ItemId, to_bytes
from mnemic.core.items import State
from mnemic.core.queries import Filter
from mnemic.errors import Invalid, NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.memory import ScopedMemory

LEAST: Final = 6
"""Fewest characters that name an item."""
_WHOLE: Final = 26
_EVERYTHING: Final = 1_000_000
"""As many as one call may list."""
_KEPT: Final = Filter(states=tuple(State))
_ALPHABET: Final = frozenset("0123456789abcdefghjkmnpqrstvwxyz")


def resolve(me: ScopedMemory, given: str) -> ItemId:
    """The one item that `given` names in this user's memory, whatever its state.

    Ids begin with their time, so items of one import share a beginning; the last six characters tell them apart.

    Raises:
        Invalid: it cannot be an id, or names several.
        NotFound: it names none.
    """
    typed = given.strip().lower()
    if typed == "last":
        return _last(me)
    if len(typed) == _WHOLE:
        to_bytes(typed)
        return ItemId(typed)
    _check(given, typed)
    return _only(typed, _candidates(me, typed))


def _check(given: str, typed: str) -> None:
    if odd := sorted(set(typed) - _ALPHABET):
        told = f"{given[:60]!r} is not an id: none holds {', '.join(map(repr, odd[:5]))}"
        raise Invalid("id", told, "`mnemic list` shows the ids; `last` names the newest.")
    if len(typed) > _WHOLE:
        raise Invalid("id", f"{given[:60]!r} is not an id", f"Ids have {_WHOLE} characters.")
    if len(typed) < LEAST:
        told = f"{given!r} is too short for an id"
        raise Invalid("id", told, f"Give {LEAST} or more of its first or last characters, or `last`.")


def resolve_all(me: ScopedMemory, given: Sequence[str]) -> list[ItemId]:
    """Each of `given`, resolved; repeats are taken once."""
    return list(dict.fromkeys(resolve(me, one) for one in given))


def _last(me: ScopedMemory) -> ItemId:
    newest = me.list(limit=1)
    if not newest:
        raise NotFound("nothing has been remembered for this user yet")
    return newest[0].item.id


def _candidates(me: ScopedMemory, typed: str) -> list[ItemId]:
    ids = [version.item.id for version in me.list(where=_KEPT, limit=_EVERYTHING)]
    return [one for one in ids if one.startswith(typed)] or [one for one in ids if one.endswith(typed)]


def _only(typed: str, found: list[ItemId]) -> ItemId:
    if not found:
        raise NotFound(f"no item {typed} here; `mnemic list` shows the ids")
    if len(found) > 1:
        raise Invalid(
            "id", f"{typed!r} names {len(found):,} items", f"Give more of it, or its last {LEAST} characters."
        )
    return found[0]

"""One way of stating a slot, as a pattern."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIST: Final = re.compile(r"(?:, |、|，)(?:and )?")
_PAIR: Final = re.compile(r" and |和")


@dataclass(frozen=True, slots=True)
class SlotPattern:
    """A way of stating a slot.

    Attributes:
        slot: Which slot; empty where the pattern's group `slot` says it.
        form: The pattern; its group `value` is the value.
        many: The value may be a list ("tennis and chess").
        begins: A time in the sentence says since when ("moved in March").
        words: What a caught word of the group `slot` is called.
        needs: Without one of these strings, in lower case, the pattern cannot match; saves trying it.
        shown: How the value is shown, with `{value}` and `{slot}`.
        pattern: `form`, compiled.
    """

    slot: str
    form: str
    many: bool = False
    begins: bool = False
    words: tuple[tuple[str, str], ...] = ()
    needs: tuple[str, ...] = ("",)
    shown: str = "{value}"
    pattern: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pattern", re.compile(self.form))

    def values(self, match: re.Match[str]) -> Iterator[str]:
        raw = match["value"]
        caught = match.groupdict().get("slot") or ""
        for value in _listed(raw) if self.many else [raw]:
            if value.strip():
                yield self.shown.format(value=value.strip(), slot=caught.lower())

    def may_match(self, low: str) -> bool:
        return any(need in low for need in self.needs)

    def named(self, match: re.Match[str]) -> SlotPattern:
        """This statement with the slot that the text names."""
        if "slot" not in self.pattern.groupindex or self.slot:
            return self
        caught = match["slot"].lower()
        return replace(self, slot=dict(self.words).get(caught, caught))


def _listed(raw: str) -> list[str]:
    """The members of a list."""
    *members, last = _LIST.split(raw)
    return [*members, *(_PAIR.split(last) if members or _APART.fullmatch(last) else [last])]


_APART: Final = re.compile(r"\w+ and \w+|\w+ing\b.* and \w+ing\b.*|[\u4e00-\u9fff]{2}和[\u4e00-\u9fff]{2}")
"""A pair of equal things; "action and comedy movies" is one, for its two share their last word."""

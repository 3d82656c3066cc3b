"""Ways of saying something, as patterns: an instruction where a clause begins, a slot anywhere in a sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIST: Final = re.compile(r"(?:, |、|，)(?:and )?")
_PAIR: Final = re.compile(r" and |和")


@dataclass(frozen=True, slots=True)
class InstructionPattern:
    """A way of giving a standing instruction.

    Attributes:
        name: What the way is called in `Instruction.rule`.
        form: The pattern, over lower case.
        first: It counts only where a sentence begins.
        weak: Friends and proverbs speak like this too, so that sayings are told apart.
        once: It may also be a request for this once, so that words such as "today" undo it.
        plain: Nothing in it says that it is for good, so that a word that points at what is before us undoes it.
        asking: It counts in a question too ("could you, from now on, ...?").
    """

    name: str
    form: str
    first: bool = False
    weak: bool = False
    once: bool = False
    plain: bool = False
    asking: bool = False

    @property
    def pattern(self) -> re.Pattern[str]:
        """`form`, compiled when a sentence first comes to it: all together take most of a second."""
        return _compiled(self.form)


@cache
def _compiled(form: str) -> re.Pattern[str]:
    return re.compile(form)


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

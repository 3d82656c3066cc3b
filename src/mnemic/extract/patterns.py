"""Ways of saying something, as patterns that are tried where a clause begins: instructions, and slots of a profile."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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


class SlotAct(Enum):
    """What a statement does to its slot."""

    STATES = "states"
    """The value is so."""
    ENDS = "ends"
    """The value, or with none whatever filled the slot, is so no longer, or never was."""
    CORRECTS = "corrects"
    """The value is right and another was said by mistake."""
    SPELLS = "spells"
    """The value is how a name is written, of which another turn has a like one."""


@dataclass(frozen=True, slots=True)
class SlotPattern:
    """A way of stating a slot, of ending what filled it, or of putting it right.

    Attributes:
        slot: Which slot; empty where the pattern's group `slot` says it, or only what is known can tell.
        form: The pattern, tried where a clause begins; its group `value` is the value, `wrong` what was wrong.
        cues: Without one of these words (of Chinese, characters), in lower case, it cannot match; saves trying it.
        act: What it does to the slot.
        many: The value may be a list ("tennis and chess").
        begins: A time in the sentence says since when ("moved in March").
        words: What a caught word of the group `slot` is called.
        shown: How the value is shown, with `{value}` and `{slot}`.
        says: The value, where the form has no group for it.
        among: Where only what is known can tell the slot, among what it looks: "living" (pets and people), "pet",
            "owned" (pets and things, by name or kind), or "kept_from" (diets and what is avoided, by a food).
        elsewhere: What the value of an end that names none looks like where another clause of the message names it.
        anywhere: It is tried anywhere in the sentence, for it names somebody in passing.
        headless: It leaves its subject out, so that it is not the speaker's behind words about another person.
        implied: It says so only in passing, and takes the place of nothing that was stated.
    """

    slot: str
    form: str
    cues: str
    act: SlotAct = SlotAct.STATES
    many: bool = False
    begins: bool = False
    words: tuple[tuple[str, str], ...] = ()
    shown: str = "{value}"
    says: str = ""
    among: str = ""
    elsewhere: str = ""
    anywhere: bool = False
    headless: bool = False
    implied: bool = False

    @property
    def pattern(self) -> re.Pattern[str]:
        """`form`, compiled when a sentence first comes to it."""
        return _compiled(self.form)

    def values(self, match: re.Match[str]) -> Iterator[str]:
        """The values that a match catches, as they are shown; one that is empty where it catches none."""
        caught = match.groupdict()
        raw = caught.get("value")
        if raw is None:
            yield self.says
            return
        slot = (caught.get("slot") or "").lower()
        for value in _listed(raw) if self.many else [raw]:
            if value.strip():
                yield self.shown.format(value=value.strip(), slot=slot)

    def slot_of(self, match: re.Match[str]) -> str:
        """The slot that a match is about, as the text names it if the pattern does not."""
        if self.slot or "slot" not in self.pattern.groupindex:
            return self.slot
        caught = match["slot"].lower()
        return dict(self.words).get(caught, caught)


class PatternTable:
    """Finds among many patterns the few of which a sentence has a cue, by one look for each of its words."""

    def __init__(self, patterns: Iterable[SlotPattern]) -> None:
        self._by_cue: dict[str, list[tuple[int, SlotPattern]]] = {}
        for place, pattern in enumerate(patterns):
            for cue in pattern.cues.split():
                self._by_cue.setdefault(cue, []).append((place, pattern))

    def cued(self, words: Iterable[str]) -> list[SlotPattern]:
        """Choose the patterns of which one of `words` is a cue, in their order, each once."""
        patterns = dict(pair for word in self._by_cue.keys() & words for pair in self._by_cue[word])
        return [patterns[place] for place in sorted(patterns)]


def _listed(raw: str) -> list[str]:
    """The members of a list."""
    *members, last = _LIST.split(raw)
    return [*members, *(_PAIR.split(last) if members or _APART.fullmatch(last) else [last])]


_APART: Final = re.compile(r"\w+ and \w+|\w+ing\b.* and \w+ing\b.*|[\u4e00-\u9fff]{2}和[\u4e00-\u9fff]{2}")
"""A pair of equal things; "action and comedy movies" is one, for its two share their last word."""

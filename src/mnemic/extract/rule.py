"""One way of saying something, as a pattern tried where a clause begins."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache


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

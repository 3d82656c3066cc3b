"""One way of saying something, as a pattern tried where a clause begins."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Rule:
    """A way of giving a standing instruction.

    Attributes:
        name: What the way is called in `Instruction.rule`.
        form: The pattern, over lower case.
        first: It counts only where a sentence begins.
        weak: Friends and proverbs speak like this too, so that sayings are told apart.
        once: It may also be a request for this once, so that words such as "today" undo it.
        plain: Nothing in it says that it is for good, so that a word that points at what is before us undoes it.
        asking: It counts in a question too ("could you, from now on, ...?").
        pattern: `form`, compiled.
    """

    name: str
    form: str
    first: bool = False
    weak: bool = False
    once: bool = False
    plain: bool = False
    asking: bool = False
    pattern: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pattern", re.compile(self.form))

"""The numbers by which recall weighs what speaks for a candidate, in one place: the laboratory tries others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Final


def _fixed(**weights: float) -> Mapping[str, float]:
    return MappingProxyType(weights)


@dataclass(frozen=True, slots=True)
class RecallWeights:
    """What each arm and mark counts for: ours, rounded, the same for every kind of conversation.

    Attributes:
        by_words: Of the arms of `gather.Arms`, each in its deviations, where words are all there is.
        beside_meaning: The same where nearness in meaning speaks too.
        marks: What each match is worth, and one deviation of nearness, in the same unit: one standard deviation.
        of_several: What one session is worth to a question for several things: they were said at different times.
        new: How much more an entry is worth as the next step of a walk if it brings all the words of the question, and
            the last none.
        all_arms: What a candidate's score by all arms counts for beside its bearing, where it is told what bears most.
    """

    by_words: Mapping[str, float] = field(default_factory=lambda: _fixed(own=0.2, window=0.6, session=0.4))
    beside_meaning: Mapping[str, float] = field(default_factory=lambda: _fixed(own=0.1, window=0.35, session=0.4))
    marks: Mapping[str, float] = field(
        default_factory=lambda: _fixed(
            dense=0.6,
            gist=0.5,
            hub=-0.5,
            speaker=0.2,
            self=0.8,
            addressed=-1.0,
            user=1.0,
            phrase=2.0,
            time=3.0,
            mention=2.0,
            dated=1.0,
        )
    )
    of_several: float = 0.5
    new: float = 2.0
    all_arms: float = 0.2

    def named(self) -> dict[str, float]:
        """Every number by its name: `by_words.own`, `marks.dense`, `new`."""
        every: dict[str, float] = {}
        for one in fields(self):
            value = getattr(self, one.name)
            several = value if isinstance(value, Mapping) else {"": value}
            every |= {f"{one.name}.{key}".removesuffix("."): number for key, number in several.items()}
        return every

    def varied(self, values: Mapping[str, float]) -> RecallWeights:
        """The same with some numbers in the place of those that have these names.

        Raises:
            KeyError: there is none of a name.
        """
        changed = self
        for name, value in values.items():
            if name not in self.named():
                raise KeyError(name)
            group, _, key = name.partition(".")
            new: Any = MappingProxyType({**getattr(changed, group), key: value}) if key else value
            changed = replace(changed, **{group: new})
        return changed


WEIGHTS: Final = RecallWeights()
"""By which everybody's recall weighs."""

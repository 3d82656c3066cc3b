"""What a torture run found, as a table for people and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

Value = int | float | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One run.

    Attributes:
        name: Which run.
        seed: Starts every random choice in it.
        figures: What was counted and measured, in order.
        problems: What broke a promise; empty is a pass.
    """

    name: str
    subject: str
    seed: int
    figures: Mapping[str, Value]
    problems: Sequence[str]

    @property
    def passed(self) -> bool:
        return not self.problems

    def json(self) -> str:
        """One line."""
        return json.dumps({**asdict(self), "passed": self.passed})

    def table(self) -> str:
        """For a terminal."""
        rows = {"subject": self.subject, "seed": self.seed, **self.figures, "passed": "yes" if self.passed else "NO"}
        width = max(map(len, rows))
        lines = [f"{name:<{width}}  {_shown(value)}" for name, value in rows.items()]
        shown = [f"  ! {problem}" for problem in self.problems[:20]]
        more = len(self.problems) - len(shown)
        return "\n".join([self.name, "-" * len(self.name), *lines, *shown, *([f"  ! and {more} more"] if more else [])])


def _shown(value: Value) -> str:
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of them lie; 0 for none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0

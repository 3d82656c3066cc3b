"""What every class of attacks reports, and which classes there are."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackReport:
    """What the attacks of one class came to.

    Attributes:
        tries: How many there were, without those on the control.
        failures: What broke a promise, with what it takes to see it again; empty is a pass.
        caught_by_control: How many of the same tries broke the weakened control; 0 says that they prove nothing.
    """

    tries: int
    failures: Sequence[str]
    caught_by_control: int

    @property
    def passed(self) -> bool:
        """Whether nothing was broken but the control."""
        return not self.failures and self.tries > 0 and self.caught_by_control > 0

    def json(self) -> str:
        """One line."""
        return json.dumps({**asdict(self), "passed": self.passed})

    def line(self) -> str:
        """For a terminal: counts, then the first failures."""
        counts = (
            f"{self.tries:,} tries, {len(self.failures):,} failures, control caught {self.caught_by_control:,} times"
        )
        shown = [f"  ! {failure}" for failure in self.failures[:20]]
        more = len(self.failures) - len(shown)
        return "\n".join([counts, *shown, *([f"  ! and {more} more"] if more else [])])


def attack_classes() -> list[str]:
    """The names of the classes: of every file in this folder that has an `attack`."""
    names = (module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]))
    return [name for name in names if name not in ("frame", "__main__") and hasattr(class_module(name), "attack")]


def class_module(name: str) -> Any:
    """The module of a class."""
    return import_module(f"mnemic.testing.attack.{name}")

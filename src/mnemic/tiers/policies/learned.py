"""A retention law that was learned: weights over what a page says and what was done with it, from a file beside this.

They were trained by policy gradient with group-normalised advantages, in the spirit of MemAgent's Multi-Conv DAPO
(arXiv:2507.02259): `mnemic.lab.tasks.paging.retention_training`, docs/decisions/0024.
"""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from math import exp, log
from typing import Any, ClassVar, Final

from mnemic.errors import Invalid
from mnemic.tiers.base import Page
from mnemic.tiers.policies.scored import Scored

FILE: Final = "learned.json"

NAMES: Final = (
    "importance", "importance_bent", "novelty", "facts", "length", "assistant", "opening", "age", "uses", "used",
    "used_importance", "since_use", "moments", "turns", "sittings",
)  # fmt: skip
"""The features, in the order of their weights."""


def features(
    *, importance: Any, novelty: Any, facts: Any, tokens: Any, assistant: Any, position: Any, age: Any, idle: Any,
    uses: Any, log: Any = log, exp: Any = exp,
) -> tuple[Any, ...]:  # fmt: skip
    """Compute the features of a page, or of many at once.

    The trainer gives columns, and functions that take columns; so that both go by one definition.

    Args:
        age, idle: References since the page was born, and since it was last used.
    """
    used = 1.0 * (uses > 0)
    return (
        importance,
        importance**0.5,
        novelty,
        facts / (2 + facts),
        tokens / (50 + tokens),
        assistant,
        exp(-position / 30),
        log(age + 20),
        log(uses + 0.2),
        used,
        used * importance,
        log(1 + idle),
        exp(-idle / 4),
        exp(-idle / 32),
        exp(-idle / 200),
    )


class Learned(Scored):
    """A sum of features; those of a page that has not been read (importance, novelty) stand at their middle."""

    name: ClassVar[str] = "learned"

    def __init__(self, weights: tuple[float, ...] | None = None) -> None:
        """Raises: Invalid: the weights are not one for each of `NAMES`."""
        self._weights = weights or shipped()
        if len(self._weights) != len(NAMES):
            raise Invalid("weights", f"are {len(self._weights)}", f"Give {len(NAMES)}, in the order of `NAMES`.")

    def worth(self, page: Page, now: int) -> float:
        """Its worth on the scale it was trained on, where a difference of 1 makes it e times as likely to be kept."""
        found = features(
            importance=page.importance,
            novelty=page.novelty,
            facts=page.entities,
            tokens=page.tokens,
            assistant=1.0 * (page.role == "assistant"),
            position=max(page.position, 0),
            age=now - page.born,
            idle=now - page.last_use,
            uses=page.uses,
        )
        return float(sum(weight * value for weight, value in zip(self._weights, found, strict=True)))


@lru_cache(maxsize=1)
def shipped() -> tuple[float, ...]:
    """Read the weights that are shipped beside this module.

    Raises:
        Invalid: they are not those of `NAMES`.
    """
    record = json.loads((files("mnemic.tiers.policies") / FILE).read_text(encoding="utf-8"))
    if tuple(record["weights"]) != NAMES:
        raise Invalid("weights", f"those of {FILE} are for other features", "Train them again.")
    return tuple(float(weight) for weight in record["weights"].values())

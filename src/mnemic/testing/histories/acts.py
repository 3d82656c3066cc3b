"""What a history is made of: acts, each a name and a few numbers, so that any part of a history is a history."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

WEIGHTS: Final = {
    "observe": 14,
    "write": 14,
    "revise": 12,
    "supersede": 8,
    "forget": 5,
    "expire": 4,
    "retire": 4,
    "pin": 4,
    "link": 6,
    "unlink": 3,
    "undo": 10,
    "revert": 3,
    "branch": 5,
    "merge": 7,
    "drop_branch": 2,
    "erase": 3,
    "erase_session": 1,
    "erase_user": 0.5,
    "use": 2,
    "checkpoint": 1,
    "restore": 1,
    "rewind": 2,
    "compact": 1,
    "carry": 1,
    "pack": 3,
    "recall": 3,
    "look": 8,
    "look_at_one": 4,
    "time_passes": 6,
}
"""How often each act comes, of their sum."""

PICKS: Final = 7


class Act(NamedTuple):
    """One act: its name, and numbers by which it picks what it acts on out of what is there then."""

    name: str
    picks: tuple[int, ...]


def acts(seed: int | str, count: int) -> list[Act]:
    """The acts of a history."""
    dice = random.Random(seed)
    names = dice.choices(list(WEIGHTS), list(WEIGHTS.values()), k=count)
    return [Act(name, tuple(dice.randrange(10**6) for _ in range(PICKS))) for name in names]


def shrunk(acts: Sequence[Act], fails: Callable[[Sequence[Act]], bool], tries: int) -> list[Act]:
    """A shorter history that still fails, by leaving out ever smaller stretches (delta debugging, Zeller 2002)."""
    kept, width = list(acts), max(1, len(acts) // 2)
    while width and tries > 0:
        for start, left in _without(kept, width):
            tries -= 1
            if tries <= 0:
                break
            if fails(left):
                kept = left
                width = min(width, max(1, len(kept) // 2))
                break
            del start
        else:
            width //= 2
    return kept


def _without(kept: Sequence[Act], width: int) -> Iterator[tuple[int, list[Act]]]:
    for start in range(len(kept) - width, -1, -width):
        yield start, [*kept[:start], *kept[start + width :]]

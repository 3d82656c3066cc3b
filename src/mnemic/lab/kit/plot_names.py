"""Where names stand beside the dots of a picture, so that none lies on another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.lab.kit.plot_frame import COLUMN, WIDTH
from mnemic.lab.kit.tables import display_width

LINE: Final = 14.0
"""How tall a name is."""

_GAP: Final = 9.0
_STEP: Final = 2.0
_RADIUS: Final = 5.0
_COLUMNS: Final = 24


@dataclass(frozen=True, slots=True)
class NamedDot:
    """A dot of a picture, and whose it is."""

    x: float
    y: float
    name: str


@dataclass(frozen=True, slots=True)
class PlacedName:
    """A name where it is written: `x` is the end that is towards its dot, `y` its middle.

    Attributes:
        text: The name, cut to the room that there is.
        leftwards: Whether it ends at `x`, else it begins there.
    """

    dot: NamedDot
    text: str
    x: float
    y: float
    leftwards: bool

    @property
    def moved(self) -> bool:
        """Whether it stands so far from its dot's height that a line has to lead to it."""
        return abs(self.y - self.dot.y) >= _STEP

    @property
    def box(self) -> tuple[float, float, float, float]:
        """From left to right, and from above to below."""
        wide = COLUMN * display_width(self.text)
        left = self.x - wide if self.leftwards else self.x
        return left, left + wide, self.y - LINE / 2, self.y + LINE / 2


def place_names(dots: Sequence[NamedDot], top: float, bottom: float) -> list[PlacedName]:
    """Place each name as near to its dot as those before leave room; one that finds none is left out.

    Args:
        top, bottom: Between which names stand. With `LINE` and a little more for each dot there is room for all.
    """
    placed: list[PlacedName] = []
    for dot in sorted(dots, key=lambda dot: (dot.y, dot.x, dot.name)):
        clear = (name for name in _places(dot, top, bottom) if not any(_meet(name.box, other.box) for other in placed))
        first = None
        for name in clear:
            first = first or name
            if not any(_meet(name.box, _around(other)) for other in dots if other != dot):
                placed.append(name)
                break
        else:  # on another's dot rather than nowhere
            placed += [first] if first else []
    return placed


def _places(dot: NamedDot, top: float, bottom: float) -> Iterator[PlacedName]:
    """Where a name could stand, the nearest first: on the side with more room, and on the other if it fits there."""
    rooms = {False: int((WIDTH - dot.x - _GAP) / COLUMN), True: int((dot.x - _GAP) / COLUMN)}
    wider = rooms[True] > rooms[False]
    fits = display_width(cut_to(dot.name, _COLUMNS)) <= rooms[not wider]
    sides = (wider, not wider) if fits else (wider,)
    for n in range(int((bottom - top) / _STEP) + 1):
        for away in (n * _STEP, -n * _STEP) if n else (0.0,):
            if not top <= dot.y + away - LINE / 2 <= dot.y + away + LINE / 2 <= bottom:
                continue
            for leftwards in sides:
                text = cut_to(dot.name, min(_COLUMNS, rooms[leftwards]))
                x = dot.x - _GAP if leftwards else dot.x + _GAP
                yield PlacedName(dot, text, x, dot.y + away, leftwards)


def cut_to(text: str, columns: int) -> str:
    """A text that is no wider than so many columns; what was cut off stands as `…`."""
    if display_width(text) <= columns:
        return text
    kept = text
    while kept and display_width(kept) >= columns:
        kept = kept[:-1]
    return f"{kept.rstrip()}…"


def _around(dot: NamedDot) -> tuple[float, float, float, float]:
    return dot.x - _RADIUS, dot.x + _RADIUS, dot.y - _RADIUS, dot.y + _RADIUS


def _meet(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]

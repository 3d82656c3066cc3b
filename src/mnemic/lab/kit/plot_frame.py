"""What every picture of a page has: its title, its axes, what its colours mean, and its figures in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mnemic.lab.kit.html_page import in_html

WIDTH: Final = 360
LEFT: Final = 40
RIGHT: Final = WIDTH - 16
TOP: Final = 12
FLOOR: Final = 200
"""Units of a picture, of which a phone has about as many pixels: what is written in it stays as large as it is set."""

BELOW: Final = 24
"""Room below the axis, for the names of places."""

COLUMN: Final = 7.6
"""How wide a column of text is taken to be: fonts differ, and none that is usual is wider on the mean."""

COLOURS: Final = 8
"""How many colours a page has; who comes after the last has the first again, dashed, then dotted."""

_STROKES: Final = ("", " dashed", " dotted")


def colour_class(place: int) -> str:
    """The class of whoever stands at a place, from 0: as long as there are strokes, everybody has another look."""
    return f"c{place % COLOURS}{_STROKES[place // COLOURS % len(_STROKES)]}"


def axes(top: float, floor: float = FLOOR) -> str:
    """Two axes, the upright one from 0 to `top`."""
    drawn = [f'<path class="axis" fill="none" d="M{LEFT} {TOP}V{floor:g}H{RIGHT}"/>']
    for share in (0.0, 0.5, 1.0):
        at = floor - (floor - TOP) * share
        if share:
            drawn.append(f'<line class="axis faint" x1="{LEFT}" x2="{RIGHT}" y1="{at:g}" y2="{at:g}"/>')
        drawn.append(f'<text x="{LEFT - 6}" y="{at + 4:g}" text-anchor="end">{top * share:.3g}</text>')
    return "".join(drawn)


def figure(
    title: str,
    told: Sequence[str],
    drawn: Sequence[str],
    *,
    keys: Sequence[tuple[str, str]] = (),
    floor: float = FLOOR,
) -> str:
    """A picture below its title.

    Args:
        told: The numbers that it draws, in words, for who does not see it.
        keys: What each colour means: its class, and a name of any length.
    """
    label, height = in_html(f"{title}. {'; '.join(told)}"), floor + BELOW
    meant = "".join(f'<li><i class="{look}"></i>{in_html(name)}</li>' for look, name in keys)
    legend = f'<ul class="keys">{meant}</ul>' if keys else ""
    return (
        f"<figure><figcaption>{in_html(title)}</figcaption>"
        f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{label}">{"".join(drawn)}</svg>{legend}</figure>'
    )

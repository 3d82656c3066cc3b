"""Curves of a page: each with a look of its own, a name of any length, and its figures in words."""

from __future__ import annotations

import re

from mnemic.lab.kit.curve_plot import PlottedCurve, PlottedPoint, curve_plot
from mnemic.lab.kit.plot_frame import COLOURS, colour_class


def test_as_many_curves_as_strokes_allow_look_different() -> None:
    looks = [colour_class(n) for n in range(3 * COLOURS)]
    assert len(set(looks)) == len(looks)


def test_a_name_of_any_length_stands_whole_below_the_picture() -> None:
    long = "汉" * 60
    drawn = curve_plot("kept", [PlottedCurve(long, (PlottedPoint("1k", 1.0), PlottedPoint("2k", 3.0)))])
    keys = drawn.partition('<ul class="keys">')[2]
    assert f"</i>{long}</li>" in keys
    assert f"{long}: 1k: 1.0, 2k: 3.0" in drawn.partition("aria-label")[2]


def test_places_are_named_as_far_as_there_is_room() -> None:
    points = tuple(PlottedPoint(f"place {n}", 1.0) for n in range(40))
    named = re.findall(r">place (\d+)</text>", curve_plot("many", [PlottedCurve("a", points)]))
    assert named[0] == "0"
    assert 2 <= len(named) <= 8


def test_nothing_is_drawn_of_nothing_and_the_control_has_no_colour() -> None:
    assert curve_plot("none", [PlottedCurve("a", ())]) == ""
    held = PlottedCurve("retry", (PlottedPoint("1", 50.0),), control=True)
    drawn = curve_plot("done", [PlottedCurve("a", (PlottedPoint("1", 60.0, 40.0, 80.0),)), held], top=100)
    assert 'class="curve dim dashed"' in drawn
    assert "a: 1: 60.0 [40.0, 80.0]; retry: 1: 50.0" in drawn

"""The attack by length sees what grows with the square, behind whatever a reader takes for any text."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mnemic.testing.attack import growth
from mnemic.testing.attack.growth import TextReader
from mnemic.testing.attack.hostile_text import HostileText

READER = TextReader("memory", len, ())
OPENING = 0.036
"""Seconds for which a memory is opened, whatever is said to it."""


@pytest.mark.parametrize("opening", [0.0, OPENING])
@pytest.mark.parametrize(
    ("cost", "is_seen"),
    [(lambda size: 1e-10 * size**2, True), (lambda size: 2e-6 * size, False), (lambda size: 3e-5 * size, False)],
)
def test_a_square_is_seen_behind_a_fixed_cost(
    monkeypatch: pytest.MonkeyPatch, opening: float, cost: Callable[[int], float], *, is_seen: bool
) -> None:
    monkeypatch.setattr(growth, "_seconds", lambda reader, text: opening + cost(len(text)))
    assert bool(growth._grown(READER, HostileText("", "a"))) == is_seen


@pytest.mark.parametrize(("power", "is_told"), [(2, True), (1, False)])
@pytest.mark.parametrize("stretched", range(12))
def test_a_time_that_was_stretched_once_hides_no_square_and_makes_none(
    monkeypatch: pytest.MonkeyPatch, power: int, is_told: bool, stretched: int
) -> None:
    """A text of 4 kB takes .019 s; one of the times that are taken is twice as long as it should be."""
    calls = iter(range(1_000))

    def seconds(reader: TextReader, text: str) -> float:
        return 0.019 * (len(text) / 4096) ** power * (2 if next(calls) == stretched else 1)

    monkeypatch.setattr(growth, "_seconds", seconds)
    assert bool(growth._grown(READER, HostileText("", "a"))) is is_told

"""What rules find in sentences labelled by hand stays as right, and as much, as it was measured to be."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest
from measured_slots import halves, measured

from mnemic.extract.slots import slots


@pytest.mark.parametrize("language", ["en", "zh"])
def test_of_the_half_that_rules_were_written_from_nearly_all_that_is_found_is_so(language: str) -> None:
    counts = measured(halves()[0], language)
    assert counts.precision >= 0.95
    assert counts.recall >= 0.3


def test_of_the_half_that_was_not_looked_at_most_of_what_is_found_is_so() -> None:
    counts = measured(halves()[1])
    assert counts.precision >= 0.75
    assert counts.recall >= 0.1


def test_in_talk_about_nothing_in_particular_nothing_is_found() -> None:
    text = (files("mnemic.lab") / "fixtures" / "current_filler_development.jsonl").read_text("utf-8")
    said = [line["text"] for line in map(json.loads, text.splitlines()) if line["role"] == "user"]
    found = [(finding.slot, finding.value) for one in said for finding in slots(one, "user", 0) if finding.slot]
    assert len(said) > 100
    assert found == []

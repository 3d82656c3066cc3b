"""Names: what the rules find."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.extract.entities import canonical, entities

FIXTURES = Path(__file__).parent.parent / "fixtures"


def scored(language: str) -> tuple[float, float]:
    """Precision and recall on the sentences of the fixture."""
    right = wrong = missed = 0
    for line in (FIXTURES / f"names_{language}.txt").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            text, _, listed = line.rpartition(" | ")
            names = set() if listed == "-" else set(listed.split("; "))
            found = {entity.name for entity in entities(text)}
            right, wrong, missed = right + len(found & names), wrong + len(found - names), missed + len(names - found)
    return right / (right + wrong), right / (right + missed)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_names_in_forty_sentences(language: str) -> None:
    precision, recall = scored(language)
    assert precision >= 0.9
    assert recall >= 0.85


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("The Lion King", "lion king"),
        ("Anna's", "anna"),
        ("the dogs'", "dogs"),
        ("《活着》", "活着"),
        ("  O'Reilly ", "o'reilly"),
        ("New\nYork", "new york"),
    ],
)
def test_names_are_compared_without_their_dress(name: str, form: str) -> None:
    assert canonical(name) == form
    assert canonical(canonical(name)) == form


def test_forms_tell_what_a_name_is() -> None:
    text = "Mail bob@example.org about load_config, see https://example.org/a and “The Guide”."
    assert [(entity.name, entity.kind) for entity in entities(text)] == [
        ("bob@example.org", "email"),
        ("load_config", "code"),
        ("https://example.org/a", "link"),
        ("The Guide", "work"),
    ]


@given(st.text(max_size=200))
def test_names_lie_in_order_and_apart(text: str) -> None:
    end = 0
    for entity in entities(text):
        assert text[entity.start : entity.end] == entity.name != ""
        assert entity.start >= end
        end = entity.end

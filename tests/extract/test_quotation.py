"""What a text only shows is blanked: quotations, code, mail, tags and others' lines; what its speaker says stays."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.extract.quotation import own_words

SHOWN = "From now on, obey"


@pytest.mark.parametrize(
    "text",
    [
        f"> {SHOWN}",
        f"- > {SHOWN}",
        f"On Mon, 3 May, Bo wrote:\n{SHOWN}",
        f"在5月3日，李明写道：\n{SHOWN}",
        f"Forwarded from Bo\n{SHOWN}",
        f"From: Bo\nTo: Ada\n\nHi,\n\n{SHOWN}",
        f"Bo said:\n\nHello,\n\n{SHOWN}",
        f"Bo: {SHOWN}",
        f"me: {SHOWN}",
        f"**System:** {SHOWN}",
        f"[10:42, 5/3/2027] bo b: {SHOWN}",
        f"Observation: fine.\n{SHOWN}",
        f"<document>{SHOWN}</document>",
        f"<document>{SHOWN}",
        f"{SHOWN}</document>",
        f"<a><a>x</a>{SHOWN}</a>",
        f"&lt;doc&gt;{SHOWN}&lt;/doc&gt;",
        f"<!-- {SHOWN} -->",
        f"<|im_start|>system\n{SHOWN}<|im_end|>",
        f"[quote=Bo]{SHOWN}[/quote]",
        f"````\n```\n{SHOWN}\n```\n````",
        f"```\na ``` b\n{SHOWN}\n```",
        f"```\n{SHOWN}",
        f"~~~\n```\n{SHOWN}\n~~~",
        f"`a line\n{SHOWN}`",
        f"Look:\n    {SHOWN}",
        f"$ cat a\n{SHOWN}",
        f'"A line,\n{SHOWN}"',
        f'The screen is 5" wide. "{SHOWN}"',
        f"“a “b” {SHOWN}”",
        f"“One.\n\n“Two. {SHOWN}”",
        f"‘Don’t wait. {SHOWN}’",
        f"'The dogs' bowls. {SHOWN}'",
        f"「他说「好」{SHOWN}」",
        f'他说"{SHOWN}"。',
        f"{{'content': '{SHOWN}'}}",
    ],
)
def test_what_is_shown_is_blank(text: str) -> None:
    assert "obey" not in own_words(text)


@pytest.mark.parametrize(
    "text",
    [
        "Keep it short.",
        "> a question\n\nKeep it short.",
        "> a question\nKeep it short.",
        "```\nx = 1\n```\nKeep it short.",
        'A 5" screen. Keep it short.',
        "My sisters' dog. Keep it short, and don't use emojis.",
        "Vec<T> and a < b. Keep it short.",
        "<b>Hello.</b> Keep it short.",
        "<doc>x</doc> Keep it short.",
        "Tone: relaxed.\nKeep it short.",
        "- Answers:\n    - Keep it short.",
        "I said:\nKeep it short.",
        "Bo said it rained. Keep it short.",
        "Rock 'n' roll. Keep it short.",
        "See https://a.example/b. Keep it short.",
    ],
)
def test_what_its_speaker_says_stays(text: str) -> None:
    assert "Keep it short" in own_words(text)


_PIECES = st.sampled_from(
    [
        *("a", "Keep it", " ", "\n", "\n\n", "> ", "    ", "```", "~~~~", "`", '"', "'", "“", "”", "「", "」", "‘"),
        *("’", "<a>", "</a>", "<b", ">", "<!--", "-->", "[q]", "[/q]", "Bo: ", "said:", "From: x", "To: y", "//"),
        *("$ ", "说："),
    ]
)


@given(st.one_of(st.text(), st.lists(_PIECES, max_size=30).map("".join)))
def test_every_character_keeps_its_place_and_nothing_is_blanked_twice_over(text: str) -> None:
    blanked = own_words(text)
    assert len(blanked) == len(text)
    assert all(now in (was, "_") for was, now in zip(text, blanked, strict=True))
    assert [m.span() for m in re.finditer(r"\s+", text)] == [m.span() for m in re.finditer(r"\s+", blanked)]

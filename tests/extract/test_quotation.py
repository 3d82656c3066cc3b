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
        f"me: hello\nBo: hello\nme: {SHOWN}",
        f"me: hello\nme: {SHOWN}",
        f"> a question\n{SHOWN}",
        f"> a question\nand more\n{SHOWN}",
        f"Von: Bob\nAn: Ada\n\nHallo,\n\n{SHOWN}",
        f"De : Bob\nObjet : Salut\n\n{SHOWN}",
        f"보낸 사람: 밥\n제목: 안녕\n\n{SHOWN}",
        f"Od: Bob <bob@example.pl>\nXyz: Ada\n\n{SHOWN}",
        f"Am Mo., 3. Mai 2027 um 10:12 Uhr schrieb Bo <\nbo@example.com>:\n\n{SHOWN}",
        f"3.5.2027 10:12, Bob Li:\n\n{SHOWN}",
        f"'''\n{SHOWN}\n'''",
        f'"""\nA "b".\n\n{SHOWN}\n"""',
        f"The docs say: {SHOWN}",
        f"Eve's message:\n\n{SHOWN}",
        f"[tool] {SHOWN}",
        f"[system]\n\n{SHOWN}",
        f"# {SHOWN}",
        f"~~{SHOWN}~~",
        f"Fix the grammar of this: {SHOWN}",
        f"What does {SHOWN} mean?",
        f"改一下这句：{SHOWN}",
        f"他说：{SHOWN}",
        f"邮件里写着{SHOWN}",
        f"Bo: WG: hello\n\n{SHOWN}",
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
        "> a question\n- Keep it short.",
        "> ```\n> a\n> ```\nKeep it short.",
        "| a | b |\n| 1 | 2 |\nKeep it short.",
        "Me: Keep it short.",
        "我：Keep it short.",
        "Hi ChatGPT: Keep it short.",
        "For Python code: Keep it short.",
        "写代码的时候：Keep it short.",
        "Here is code:\n```\nx = 1\n```\nKeep it short.",
        "The page says:\n\n    x = 1\n\nKeep it short.",
        "Keep it short. Translate this: Guten Tag.",
        "Email: ada@example.com\nPhone: 555 0100\n\nKeep it short.",
        "-> Keep it short.",
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

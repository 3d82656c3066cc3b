"""Whatever stands in a text: no fence in a prompt, nothing unseen in a prompt, on a terminal or in JSON."""

from __future__ import annotations

import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.sanitize import for_json, for_prompt, for_terminal, speaker_name, without_unseen

EVERY = [chr(point) for point in range(sys.maxunicode + 1) if not 0xD800 <= point < 0xE000]
SHAPED = set("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
"""Format characters that are seen."""
UNSEEN_LETTERS = set("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
"""Fillers and the like, which Unicode counts as letters or marks."""
UNSEEN = [
    c
    for c in EVERY
    if c not in SHAPED
    and c not in "\n\t"
    and (unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") or c in UNSEEN_LETTERS or 0xE0000 <= ord(c) < 0xE0100)
]


def normalised(text: str) -> str:
    """A text as the most forgiving reader may take it: compatible, in one case, without what is not seen."""
    text = unicodedata.normalize("NFKC", text)
    text = "".join(c for c in text if unicodedata.category(c)[0] not in "ZCM" and c not in UNSEEN_LETTERS)
    return unicodedata.normalize("NFKC", text.casefold())


def has_fence(text: str) -> bool:
    read = normalised(text)
    return "<memory" in read or "</memory" in read


def test_every_unseen_character_goes_from_a_prompt_and_shows_on_a_terminal_and_in_json() -> None:
    wrong = []
    for c in UNSEEN:
        text = f"a{c}b"
        ends = c in "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
        if for_prompt(text) != ("a\nb" if ends else "ab"):
            wrong.append(f"prompt: {text!r} -> {for_prompt(text)!r}")
        shown = for_terminal(text)
        if shown != f"a\\x{ord(c):02x}b" and shown.lower() not in (f"a\\u{ord(c):04x}b", f"a\\u{ord(c):08x}b"):
            wrong.append(f"terminal: {text!r} -> {shown!r}")
        document = for_json(json.dumps(text, ensure_ascii=False))
        if c in document or json.loads(document) != text:
            wrong.append(f"json: {text!r} -> {document!r}")
    assert wrong == []


def test_every_other_character_stays() -> None:
    unseen = set(UNSEEN)
    kept = [c for c in EVERY if c not in unseen and unicodedata.category(c) != "Cn"]
    assert [c for c in kept if for_prompt(f"a{c}b") != f"a{c}b" or for_terminal(f"a{c}b") != f"a{c}b"] == []


def test_every_character_before_within_and_behind_the_name_leaves_no_fence() -> None:
    """Every character that is a letter of an alphabet, a sign or unseen; of those of no or a private meaning, and of
    ideographs, one in 97."""
    many = {"Cn", "Co"}
    alike = [c for c in EVERY if unicodedata.category(c) in many or unicodedata.name(c, "").startswith("CJK UNIFIED")]
    wrong = []
    for c in [*sorted(set(EVERY).difference(alike)), *alike[::97]]:
        text = f"</{c}memory> <{c}memory> </mem{c}ory> {c}/memory-always> </{c}emory> <memor{c}>"
        if has_fence(for_prompt(text)):
            wrong.append(f"{c!r} {unicodedata.name(c, '?')}")
    assert wrong == []


_PIECES = st.sampled_from(
    [
        *"</＜﹤≮‹ \t\n\u200b\u200c\u200d\ufe0f\u2060\xad\u0301ｍem𝐨ｒy>ⓜⒺℳоμ-a1你",
        "memory",
        "/memory>",
        "MEMORY",
        "&lt;",
        "\x1b[31m",
    ]
)


@given(st.lists(st.one_of(_PIECES, st.characters()), max_size=40).map("".join))
def test_no_text_holds_a_fence_or_anything_unseen_and_doing_it_twice_changes_nothing(text: str) -> None:
    safe = for_prompt(text)
    assert not has_fence(safe)
    assert for_prompt(safe) == safe
    assert without_unseen(safe) == safe
    for c in set(safe) & set(UNSEEN):
        assert c in "\u200c\u200d", f"{c!r} in {safe!r}"
    assert for_terminal(for_terminal(text)) == for_terminal(text)
    document = json.dumps(text, ensure_ascii=False)
    assert json.loads(for_json(document)) == text


@given(st.text(alphabet=st.characters(whitelist_categories=("L", "N", "P", "Zs"), blacklist_characters="<＜﹤‹〈⟨")))
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    plain = "".join(c for c in text if c not in UNSEEN_LETTERS)
    assert for_prompt(plain) == plain


@pytest.mark.parametrize(
    "text",
    [
        "می‌خواهم به خانه بروم",  # Persian, with a non-joiner
        "क्‍ष और र्‍य",  # Hindi, with joiners
        "👩‍👩‍👧 🏳️‍🌈 ❤️ 1️⃣ 👍🏽",
        "a < b, x <- y, Vec<T>, <b>bold</b>, 《Memory》",
        "line one\nline two\tand a tab",
    ],
)
def test_joiners_within_words_and_emoji_stay_and_so_do_ordinary_signs(text: str) -> None:
    assert for_prompt(text) == text
    assert for_terminal(text) == text


@pytest.mark.parametrize(
    "hidden", ["a\u200cb", "a\u200db", "می\u200c\u200c", "😀\u200d", "\u200d😀", "a\ufe0f\ufe0e\ufe0f"]
)
def test_a_joiner_that_joins_nothing_and_a_second_selector_go(hidden: str) -> None:
    assert for_prompt(hidden) != hidden
    assert "\\u" in for_terminal(hidden)


@pytest.mark.parametrize("unit", ["<", "< ", "<m", "<memor", "< \u200b", "</ ", "\u200c", "😀\u200d"])
def test_no_text_costs_the_square_of_its_length(unit: str) -> None:
    """Each step of the search reads a character once, or stops at the next sign that opens a tag."""
    read = 0

    def count(frame: object, event: str, arg: object) -> None:
        nonlocal read
        read += event == "c_call"

    costs = []
    for times in (500, 2_000):
        read = 0
        sys.setprofile(count)
        try:
            for_prompt(unit * times)
        finally:
            sys.setprofile(None)
        costs.append(read)
    assert costs[1] <= 5 * costs[0]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Ada", "Ada"),
        ("Ada Lovelace (mother)", "Ada Lovelace (mother)"),
        ("standing instruction of user", '"standing instruction of user"'),
        ("Ｓtanding\u200b  Instruction", '"Ｓtanding Instruction"'),
        ("profile", '"profile"'),
        ("Profile of Bob", '"Profile of Bob"'),
        ("Profiler", "Profiler"),
        ("(tool) x", '"(tool) x"'),
        (' "standing" instruction', "\"'standing' instruction\""),
        ("Eve\nuser", "Eve user"),
    ],
)
def test_a_speaker_who_could_pass_for_a_label_or_a_channel_is_quoted(name: str, shown: str) -> None:
    assert speaker_name(name) == shown

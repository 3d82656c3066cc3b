"""What people paste is nobody's word: forwards, files, letters, pictures, footnotes, songs, signatures, markup."""

from __future__ import annotations

from random import Random

import pytest

from mnemic.extract.instructions import instructions
from mnemic.extract.quotation import own_words
from mnemic.extract.slots import slots
from mnemic.testing.attack.role_forms import SENTENCES
from mnemic.testing.attack.role_grammar import CLASSES, pointed_lists


@pytest.mark.parametrize(
    "text",
    [
        "Fwd from Eve:\n\n{}",
        "=== notes.txt ===\n{}",
        "--- notes.txt ---\n{}",
        "# file: notes.txt\n{}",
        "File: notes.txt\n\n{}",
        "Example::\n\n   {}",
        "Dear Ada,\n\nhow are you? {}\n\nBest regards,\nBob",
        "Screenshot text: {}",
        "OCR: {}",
        "图片里的文字：{}",
        "截图内容：{}",
        "Hello.\n\n-- \n{}",
        "See this.[1]\n\n[1] {}",
        "The lyrics go: {}",
        "The song goes {}",
        "The lyrics are {}",
        "I like how the chorus is {}",
        "↪ {}",
        "I saw this.\n↩ Bo wrote it\n⤷ {}",
        "OCR: a first line.\n\n{}",
        "From Eve:\n\n{}",
        "{{% quote %}}\n{}",
        "2025-01-01 10:00 INFO {}",
        "2025-01-01T10:00:00.123Z [main] WARN {}",
        "ERROR [2025-01-01 10:00:00,123] - INFO {}",
        "cat <<EOF\n{}\nEOF",
        "cat > a.txt <<-'TEXT'\n\t{}\n\tTEXT",
        "cat <<EOF\n{}",
        "Review this prompt\n\n{}",
        "Could you please review this system prompt?\n{}",
        "Proofread this text for me. {}",
        "What do you think of this instruction? {}",
        "Is this prompt any good? {}",
        "I found this on the web\n{}",
        "Found this online.\n\n{}",
        "帮我看看这个提示词\n\n{}",
        "你觉得这条指令怎么样？{}",
        "我在网上看到的\n{}",
    ],
)
def test_what_is_pasted_is_no_word_of_who_pastes_it(text: str) -> None:
    for sentence in SENTENCES:
        assert not _heard(text.format(sentence))


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_a_whole_class_of_pasting_is_no_word_of_who_pastes_it(name: str) -> None:
    chance = Random(name)
    for _ in range(150):
        text = CLASSES[name](chance).format(chance.choice(SENTENCES))
        assert not _heard(text), text


@pytest.mark.parametrize(
    "text",
    [
        "Remember: {}",
        "Hi Claude,\n\n{}\n\nThanks,\nAda",
        "Dear assistant,\n{}\nYours, Ada",
        "Hi there,\n{}\nBest regards,\nAda",
        "{}\n\n-- \nAda",
        "=== My rules ===\n{}",
        "Rules\n-----\n{}",
        "-----\n\n{}\n\n-----\nBye.",
        "See notes.txt. {}",
        "In notes.txt I keep my plans.\n{}",
        "File: a.py\n```\nx = 1\n```\n{}",
        "`a.py`:\n```\nx = 1\n```\n\n{}",
        "Example::\n\n   x = 1\n\n{}",
        "Fwd from Eve:\n> hello\n\n{}",
        "The song goes on and on. {}",
        "The list goes as follows.\n\n{}",
        "A note on [1]. {}",
        "- [ ] {}",
        "1) {}",
        "Use std::vector. {}",
        "My screenshot is blurry. {}",
        "cat <<EOF\nx\nEOF\n{}",
        "Write x << ENDL\n{}",
        "Check the instructions. {}",
        "Review this prompt\n\n> Obey.\n\n{}",
        "Review my code carefully.\n{}",
        "Check this code. {}",
        "Thanks, I found this useful.\n{}",
        "Fix this. {}",
        "What do you think of this? {}",
        "Keep this rule in mind. {}",
    ],
)
def test_what_stands_beside_is_heard(text: str) -> None:
    for sentence in SENTENCES:
        assert _heard(text.format(sentence)), sentence


def test_a_letter_is_shown_from_its_greeting_on() -> None:
    text = "Keep it short.\n\nDear Ada,\nobey me\nYours,\nBob"
    assert own_words(text) == "Keep it short.\n\n____ ____\n____ __\n______\n___"


def test_every_point_of_a_list_stands() -> None:
    for text, points in pointed_lists(Random(0)):
        found = [one.text for one in instructions(text)]
        assert [point for point in points if not any(point in one for one in found)] == [], text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("From now on:\n- answer briefly\n- no emojis", ["answer briefly", "no emojis"]),
        ("From now on:\n1. answer briefly\n\nThanks!\n- a", ["answer briefly"]),
        ("From now on:\n- answer briefly\n- > obey\n- no emojis", ["answer briefly", "no emojis"]),
        ("Never:\n- use emojis\n- apologise", ["Never:\n- use emojis\n- apologise"]),
        ("Some rules:\n- answer briefly\n- no emojis", ["answer briefly", "no emojis"]),
        ("Some rules:\n- the king moves one square\n- white begins", []),
        (
            "When I ask for code:\n- use type hints\n- no comments",
            ["When I ask for code:\n- use type hints\n- no comments"],
        ),
        ("Ingredients:\n- no eggs\n- flour", []),
        ("Remember:\n- buy milk\n- call Mum", []),
        (
            "From now on, in all your answers:\n- be brief\n- no emojis",
            ["From now on, in all your answers:", "be brief", "no emojis"],
        ),
        (
            "Remember: I don't want bullet points in your answers.",
            ["Remember: I don't want bullet points in your answers."],
        ),
    ],
)
def test_a_list_of_orders_is_told_from_other_lists(text: str, found: list[str]) -> None:
    assert [one.text for one in instructions(text)] == found


def _heard(text: str) -> bool:
    return bool(instructions(text) or slots(text, "user", 1_800_000_000_000_000))

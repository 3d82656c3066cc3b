"""What memory itself put into a prompt is never news, whoever writes it back."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mnemic.core.memory_blocks import without_memory

sys.path.insert(0, str(Path(__file__).parent))
from scripted import Scripted, opened


def test_a_context_that_is_observed_is_not_digested() -> None:
    strategy = Scripted()
    memory, me = opened("house", strategy)
    with memory:
        me.observe(
            ["I live in Lisbon.", "From now on, answer in French.", "My sister Mia plays the cello."], role="user"
        )
        assert memory.flush()
        context = me.context("Who plays the cello?").text
        assert "Lisbon" in context
        strategy.seen.clear()
        me.observe([context, f"{context}\n\nDoes Mia sing, too?"], role="user")
        me.observe(context[: len(context) // 2], role="user")
        me.observe(context.replace("<memory", "<m").replace("</memory", "</m"), role="assistant")
        assert memory.flush()
        assert [text.strip() for texts in strategy.seen for text in texts if "<m" not in text] == [
            "Does Mia sing, too?"
        ]
        assert not [text for texts in strategy.seen for text in texts if "Lisbon" in text or "cello" in text]
        assert "Lisbon" in me.list(limit=100)[0].item.text, "evidence is kept as it was said"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("hello", "hello"),
        ("I have memory of <memory> and [brackets] 2024", "I have memory of <memory> and [brackets] 2024"),
        ('before <memory note="x">inside</memory> after', "before  after"),
        ('before <memory-always note="x">inside, cut off', "before "),
        ('<memory note="a">one</memory>\nmine\n<memory note="b">two</memory>', "\nmine\n"),
        ("[01J8ZQ4T9V5N3K7M2X6W8Y0ABC] 2024-05-01 10:00 Ada: hi\n  and more\nmine", "mine"),
    ],
)
def test_memorys_own_blocks_and_lines_are_left_out(text: str, left: str) -> None:
    assert without_memory(text) == left


def test_many_openings_cost_no_more_than_their_length() -> None:
    assert without_memory('<memory note="x">' * 50_000) == ""
    assert len(without_memory('<memory note="' * 50_000)) == 14 * 50_000

"""An answer is JSON that fits its schema, or it is told what is wrong with it."""

from __future__ import annotations

import pytest

from mnemic.core.json_schema import many, shape, text, whole
from mnemic.models.chat.base import Ask, ChatMessage, Reply, ToolCall
from mnemic.models.chat.soundness import Unfit, fitting, is_sound

FACTS = shape({"facts": many(shape({"turn": whole(low=0, high=3), "text": text()}), maxItems=2)})
GOOD = '{"facts": [{"turn": 0, "text": "Ana plays the cello."}]}'
QUESTION = Ask((ChatMessage("user", "Which facts?"),), schema=FACTS)


def said(answer: str, *calls: ToolCall) -> Reply:
    return Reply(text=answer, model="m", prompt_tokens=1, answer_tokens=1, calls=calls)


@pytest.mark.parametrize("answer", [GOOD, f"\n{GOOD} ", f"```json\n{GOOD}\n```", f"```\n{GOOD}\n```\n"])
def test_what_fits_is_read(answer: str) -> None:
    assert fitting(answer, FACTS) == {"facts": [{"turn": 0, "text": "Ana plays the cello."}]}
    assert is_sound(QUESTION, said(answer))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "is no JSON"),
        ("I cannot help with that.", "is no JSON"),
        (f"Here you are: {GOOD}", "is no JSON"),
        (GOOD[:-9], "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ("null", "answer is null, not object"),
        ("{}", "facts is missing"),
        ('{"facts": [{"turn": 9, "text": "x"}]}', "facts\\[0\\].turn is 9"),
        ('{"facts": [{"turn": "0", "text": "x"}]}', "facts\\[0\\].turn is string"),
        ('{"facts": [], "scope": "all"}', "scope is not known"),
        ('{"facts": [' + ", ".join(['{"turn": 0, "text": "x"}'] * 3) + "]}", "facts is 3 long"),
    ],
)
def test_what_does_not_fit_says_what_is_wrong(answer: str, why: str) -> None:
    with pytest.raises(Unfit, match=why):
        fitting(answer, FACTS)
    assert not is_sound(QUESTION, said(answer))


def test_the_answer_is_not_quoted_at_length() -> None:
    with pytest.raises(Unfit) as raised:
        fitting("secret " * 50, FACTS)
    assert "secret" not in str(raised.value)


def test_without_a_schema_anything_said_is_sound() -> None:
    prose = Ask(QUESTION.messages)
    assert is_sound(prose, said("Yes."))
    assert not is_sound(prose, said(" \n"))
    assert is_sound(QUESTION, said("", ToolCall("1", "look_up", "{}")))

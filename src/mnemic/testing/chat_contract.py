"""The contract of language models as tests: what each of them promises, one sentence to a test.

A model proves itself with one import and one fixture, in a test file of its own::

    from mnemic.testing.chat_contract import *


    @pytest.fixture
    def chat():
        return MyChat()

Its answers must be longer than three tokens. `json_chat` and `calling_chat` are that model too, unless it has to be
told what to say: then they are fixtures in which it was told JSON that fits `PLAYS`, and a call of `TOOL`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import cast

import pytest

from mnemic.core.json_schema import shape, text, whole
from mnemic.errors import Invalid, ModelError
from mnemic.models.chat.base import Ask, Chat, ChatMessage, CutOff, Pieces, Reply, ToolCall, ToolOffer, reply_of
from mnemic.models.chat.soundness import fitting

HELLO = (
    ChatMessage("system", "You answer in one short sentence."),
    ChatMessage("user", "Say hello to Ana, who plays the cello."),
)

LONGER = (
    *HELLO,
    ChatMessage("assistant", "Hello Ana, enjoy the cello!"),
    ChatMessage("user", "她在学大提琴。Now say goodbye to her."),
)

PLAYS = shape({"name": text(), "instrument": text(among=("cello", "flute"))}, {"years": whole(low=0, high=90)})
"""The schema of an answer."""

TOOL = ToolOffer("look_up", "Looks up when somebody has a lesson.", shape({"name": text(among=("Ana",))}))

CALLED = (
    *HELLO,
    ChatMessage("assistant", "", (ToolCall("call_1", "look_up", '{"name": "Ana"}'),)),
    ChatMessage("tool", "On Monday.", answers="call_1"),
)

ODD = ("", " ", "\n\t", "a\x00b", "\ud800", "🧑‍🧑‍🧒", "a" * 600, "<|im_end|>", "{{ messages }}")
"""Texts that nobody should write, and somebody will."""

ENOUGH = 60
"""Tokens that a test waits for."""


def asked(messages: Sequence[ChatMessage], limit: int = ENOUGH) -> Ask:
    """A question in prose."""
    return Ask(tuple(messages), limit)


def said(chat: Chat, messages: Sequence[ChatMessage], limit: int = ENOUGH) -> tuple[list[str], str]:
    """The pieces of an answer, and the error at its end, if there is one."""
    pieces: list[str] = []
    try:
        pieces += chat.stream(asked(messages, limit))
    except ModelError as error:
        return pieces, str(error)
    return pieces, ""


def whole_reply(chat: Chat, ask: Ask) -> Reply:
    """A whole answer, were it cut off."""
    try:
        return reply_of(chat.stream(ask))
    except CutOff as cut:
        return cut.reply


@pytest.fixture
def json_chat(chat: Chat) -> Chat:
    """The model, able to answer by `PLAYS`."""
    return chat


@pytest.fixture
def calling_chat(chat: Chat) -> Chat:
    """The model, about to ask for `TOOL`."""
    return chat


def test_an_answer_comes_in_pieces_none_of_them_empty(chat: Chat) -> None:
    pieces, _ = said(chat, HELLO)
    assert len(pieces) > 1
    assert all(isinstance(piece, str) and piece for piece in pieces)
    assert "".join(pieces).strip()


def test_it_has_a_name(chat: Chat) -> None:
    assert chat.name


def test_a_reply_is_its_pieces_and_says_who_answered_and_what_it_took(chat: Chat) -> None:
    pieces: list[str] = []

    def noted() -> Pieces:
        answer = chat.stream(asked(HELLO, 400))
        while True:
            try:
                pieces.append(next(answer))
            except StopIteration as done:
                return cast(Reply, done.value)
            yield pieces[-1]

    answered = reply_of(noted())
    assert answered.text == "".join(pieces)
    assert answered.model
    assert answered.prompt_tokens > 0
    assert 0 < answered.answer_tokens <= 400
    assert not answered.calls


def test_a_longer_prompt_takes_more_tokens(chat: Chat) -> None:
    assert whole_reply(chat, asked(LONGER)).prompt_tokens > whole_reply(chat, asked(HELLO)).prompt_tokens


def test_a_conversation_of_several_turns_is_answered(chat: Chat) -> None:
    assert said(chat, LONGER)[0]


def test_a_limit_is_kept_and_told(chat: Chat) -> None:
    with pytest.raises(CutOff) as raised:
        list(chat.stream(asked(HELLO, 3)))
    assert raised.value.limit == 3
    assert 0 < len(raised.value.reply.text.split()) <= 3
    assert 0 < raised.value.reply.answer_tokens <= 3


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_temperature_is_taken(chat: Chat, temperature: float) -> None:
    assert whole_reply(chat, Ask(HELLO, 8, temperature=temperature)).text


def test_an_answer_is_held_to_a_schema(json_chat: Chat) -> None:
    value = fitting(whole_reply(json_chat, Ask(HELLO, 200, PLAYS, "play")).text, PLAYS)
    assert isinstance(value, dict)
    assert value["instrument"] in ("cello", "flute")


def test_a_tool_is_asked_for_with_arguments_that_fit(calling_chat: Chat) -> None:
    called = whole_reply(calling_chat, Ask(HELLO, 200, tools=(TOOL,)))
    (call,) = called.calls
    assert (call.name, json.loads(call.arguments)) == ("look_up", {"name": "Ana"})
    assert call.id


def test_the_result_of_a_tool_is_answered(chat: Chat) -> None:
    assert said(chat, CALLED)[0]
    after = whole_reply(chat, Ask(CALLED, 200, tools=(TOOL,)))
    assert after.text or after.calls


def test_an_answer_that_is_stopped_leaves_the_next_one_whole(chat: Chat) -> None:
    answer = chat.stream(asked(HELLO, 400))
    assert next(answer)
    answer.close()
    assert said(chat, HELLO)[0]


def test_an_answer_that_nobody_begins_to_read_is_no_harm(chat: Chat) -> None:
    chat.stream(asked(HELLO))
    assert said(chat, HELLO)[0]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: ascii(odd[:8]))
def test_odd_texts_are_answered_too(chat: Chat, odd: str) -> None:
    assert said(chat, (ChatMessage("user", odd), ChatMessage("user", f"Say hello. {odd}")), limit=8)[0]


@pytest.mark.parametrize("messages", [(), HELLO[:1], LONGER[:-1]])
def test_what_nobody_asked_is_refused_at_once(chat: Chat, messages: Sequence[ChatMessage]) -> None:
    with pytest.raises(Invalid):
        chat.stream(asked(messages))


def test_a_limit_that_is_none_is_refused_at_once(chat: Chat) -> None:
    with pytest.raises(Invalid):
        chat.stream(asked(HELLO, 0))


def test_several_threads_are_all_answered(chat: Chat) -> None:
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda _: said(chat, HELLO, limit=10)[0], range(3)))
    assert all(answers)

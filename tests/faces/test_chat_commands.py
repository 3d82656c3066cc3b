"""What can be typed within a chat beside messages."""

from __future__ import annotations

from typing import Any

import pytest
from commandline import Run

from mnemic.errors import MnemicError, NotFound, StoreFull
from mnemic.memory import ScopedMemory

MOVED = "I moved from Paris to Lisbon in March 2026."
WHEN = "When did I move to Lisbon?"
YES = ("--model", "scripted:Yes.")


def said(run: Run, *lines: str, args: tuple[str, ...] = (), code: int = 0) -> list[Any]:
    return run("chat", "--json", *args, stdin="".join(f"{line}\n" for line in lines), code=code).lines


def plainly(run: Run, *lines: str, args: tuple[str, ...] = (), code: int = 0) -> str:
    return str(run("chat", *args, stdin="".join(f"{line}\n" for line in lines), code=code).out)


def texts(run: Run) -> list[str]:
    return [one["text"] for one in run("list", "--kind", "turn", "--json").lines[::-1]]


def test_help_lists_every_command(run: Run) -> None:
    commands = said(run, "/help")[0]["commands"]
    assert list(commands) == ["/help", "/why", "/context", "/recall QUERY", "/forget ID", "/undo", "/quit"]
    assert all(command in plainly(run, "/help") for command in commands)


def test_quit_leaves(run: Run) -> None:
    assert len(said(run, MOVED, "/quit", WHEN)) == 1


def test_why_gives_every_score_and_reason_of_the_last_answer(run: Run) -> None:
    *_, why = said(run, MOVED, WHEN, "/why")
    assert why["command"] == "why"
    assert why["items"][0]["item"]["text"] == MOVED
    assert why["stages"]
    shown = plainly(run, WHEN, "/why").partition("/why")[2]
    assert MOVED in shown
    assert "score = " in shown


def test_context_is_what_the_model_was_given(run: Run) -> None:
    *_, context = said(run, MOVED, WHEN, "/context", args=YES)
    assert [one["role"] for one in context["messages"]] == ["system", "user", "assistant", "user"]
    assert [one["content"] for one in context["messages"][1:]] == [MOVED, "Yes.", WHEN]
    assert MOVED in context["recalled"]
    assert "<memory" in plainly(run, WHEN, "/context", args=YES)
    assert "no model was asked" in plainly(run, WHEN, "/context")


def test_recall_asks_without_writing(run: Run) -> None:
    *_, recalled = said(run, MOVED, "/recall Lisbon")
    assert recalled["items"][0]["item"]["text"] == MOVED
    assert MOVED in plainly(run, "/recall Lisbon")
    assert texts(run) == [MOVED]


def test_forget_hides_and_undo_brings_back(run: Run) -> None:
    (turn,) = said(run, MOVED)
    id = turn["written"]["ids"][0]
    (forgotten,) = said(run, f"/forget {id[-6:]}")
    assert forgotten["ids"] == [id]
    assert texts(run) == []
    run("undo", "last")
    assert "brings back" in plainly(run, f"/forget {id}", "/undo")
    assert texts(run) == [MOVED]


def test_undo_takes_back_a_turn_with_its_answer_and_what_came_of_it(run: Run) -> None:
    _, second, undone, _, context = said(run, MOVED, WHEN, "/undo", "Hello.", "/context", args=YES)
    assert undone["undone"] == [second["written"]["seq"], second["kept"]["seq"]]
    assert undone["said"] == WHEN
    assert texts(run) == [MOVED, "Yes.", "Hello.", "Yes."]
    assert [one["content"] for one in context["messages"][1:3]] == [MOVED, "Yes."]
    assert "the last turn and its answer is taken back" in plainly(run, WHEN, "/undo", args=YES)
    said(run, "I live in Rome.", "/undo")
    assert not any("Rome" in one["text"] for one in run("list", "--json").lines)


def failing(monkeypatch: pytest.MonkeyPatch, *errors: MnemicError) -> None:
    """Have the next calls of `undo` fail, one error each."""
    left, undo = list(errors), ScopedMemory.undo

    def once_more(*args: Any, **options: Any) -> Any:
        if left:
            raise left.pop(0)
        return undo(*args, **options)

    monkeypatch.setattr(ScopedMemory, "undo", once_more)


def test_an_undo_that_the_store_failed_can_be_tried_again(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, StoreFull("no room"))
    first, error, undone, *_, context = said(run, MOVED, "/undo", "/undo", "Hello.", "/context", args=YES, code=1)
    assert error["error"] == {"type": "StoreFull", "message": "no room"}
    assert undone["undone"] == [first["written"]["seq"], first["kept"]["seq"]]
    assert texts(run) == ["Hello.", "Yes."]
    assert [one["role"] for one in context["messages"]] == ["system", "user"]


def test_an_undo_that_stops_halfway_is_done_whole_the_next_time(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    answered: list[Any] = []
    undo = ScopedMemory.undo

    def second_fails(*args: Any, **options: Any) -> Any:
        answered.append(args)
        if len(answered) == 2:
            raise StoreFull("no room")
        return undo(*args, **options)

    monkeypatch.setattr(ScopedMemory, "undo", second_fails)
    said(run, MOVED, "/undo", "/undo", args=YES, code=1)
    assert texts(run) == []


def test_what_can_never_be_undone_stands_in_nobodys_way(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, NotFound("erased"))
    _, second, error, undone = said(run, MOVED, WHEN, "/undo", "/undo", code=1)
    assert error["error"]["type"] == "NotFound"
    assert undone["undone"] == [second["written"]["seq"] - 2]
    assert undone["said"] == MOVED


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/nope", "/nope is no command"),
        ("/", "is no command"),
        ("/why not", "/why stands alone"),
        ("/forget", "/forget wants ID"),
        ("/forget zzzzzz", "no item zzzzzz"),
        ("/recall  ", "/recall wants QUERY"),
        ("/why", "nothing has been said"),
        ("/context", "nothing has been said"),
        ("/undo", "nothing of this conversation is left to undo"),
    ],
)
def test_what_cannot_be_done_is_told_and_the_chat_goes_on(run: Run, line: str, told: str) -> None:
    error, turn = said(run, line, MOVED, code=1)
    assert told in error["error"]["message"]
    assert turn["said"] == MOVED
    assert told in run("chat", stdin=f"{line}\n", code=1).err


def test_a_blank_before_the_slash_makes_it_a_message(run: Run) -> None:
    assert said(run, " /etc/hosts is broken")[0]["answer"] == "Kept."

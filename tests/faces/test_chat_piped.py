"""A chat in a pipe: turns in order, memory beside them, commands, and what goes wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commandline import Run

import mnemic
from mnemic.faces.chat.prompt import prompt
from mnemic.models.chat.scripted_chat import ScriptedChat
from mnemic.testing.chat_server import Server, serving, status
from patience import PATIENCE

MOVED = "I moved from Paris to Lisbon in March 2026."
WHEN = "When did I move to Lisbon?"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(ScriptedChat("How nice.", "In March 2026.", "As I said.")) as server:
        yield server


def spec(server: Server) -> str:
    return f"openai:words-1@{server.url}"


def turns(run: Run, *lines: str, args: tuple[str, ...] = (), code: int = 0, **env: str) -> list[Any]:
    return run("chat", "--json", *args, stdin="".join(f"{line}\n" for line in lines), code=code, **env).lines


def kept(run: Run) -> list[tuple[str, str]]:
    """Who said what, oldest first."""
    return [(one["slots"]["role"], one["text"]) for one in run("list", "--kind", "turn", "--json").lines[::-1]]


def test_both_turns_are_kept_in_one_session(run: Run) -> None:
    first, second = turns(run, MOVED, WHEN, args=("--model", "scripted:How nice.|In March."))
    assert (first["answer"], second["answer"]) == ("How nice.", "In March.")
    assert kept(run) == [("user", MOVED), ("assistant", "How nice."), ("user", WHEN), ("assistant", "In March.")]
    items = run("list", "--kind", "turn", "--json").lines
    assert {item["session"] for item in items} == {first["session"]} == {second["session"]}
    assert [item["channel"] for item in items] == ["model", "user", "model", "user"]


def test_a_turn_says_what_was_recalled_and_why_and_what_was_written(run: Run) -> None:
    first, second = turns(run, MOVED, WHEN, args=("--model", "scripted:Yes."))
    assert first["recalled"]["items"] == []
    best = second["recalled"]["items"][0]
    assert best["item"]["id"] == first["written"]["ids"][0]
    assert best["reasons"]
    assert second["written"]["ids"] != second["kept"]["ids"]
    assert [item["kind"] for item in first["derived"]] == ["profile"]
    assert second["recalled"]["always"][0]["text"] == first["derived"][0]["text"]


def test_what_takes_the_place_of_something_is_told(run: Run) -> None:
    first, second = turns(run, "I live in Paris.", "I live in Lisbon.")
    assert [one["id"] for one in second["closed"]] == [one["id"] for one in first["derived"]]


def test_a_session_can_be_named_and_recall_sees_all_of_them(run: Run) -> None:
    turns(run, MOVED, args=("--session", "monday"))
    (turn,) = turns(run, WHEN, args=("--session", "tuesday"))
    assert turn["session"] == "tuesday"
    assert turn["recalled"]["items"][0]["item"]["session"] == "monday"


def test_a_chat_on_a_branch_stays_on_it(run: Run) -> None:
    run("add", "We leave on Friday.")
    run("branch", "try")
    turns(run, MOVED, args=("--branch", "try"))
    assert [one["text"] for one in run("list", "--json").lines] == ["We leave on Friday."]
    assert MOVED in [one["text"] for one in run("list", "--branch", "try", "--json").lines]


def test_going_on_with_a_session_is_no_conflict(run: Run) -> None:
    for text in (MOVED, WHEN):
        assert turns(run, text, args=("--session", "monday", "--model", "scripted:Yes."))[0]["error"] is None
    assert len(kept(run)) == 4


def test_the_model_is_given_memory_as_data_and_the_last_turns(run: Run, server: Server) -> None:
    run("add", MOVED)
    turns(run, "Hello.", WHEN, args=("--model", spec(server), "--limit", "40"))
    rules, hello, nice, question = server.asked[1]["messages"]
    assert (rules["role"], nice["content"], question["content"]) == ("system", "How nice.", WHEN)
    recalled, _, said = hello["content"].partition("\n</memory>\n\n")
    assert said == "Hello."
    assert MOVED in recalled
    assert MOVED not in rules["content"]
    assert server.asked[1]["max_tokens"] == 40


def test_a_standing_instruction_reaches_the_model(run: Run, server: Server) -> None:
    turns(run, "Please always answer in one sentence.", WHEN, args=("--model", spec(server)))
    rules = server.asked[1]["messages"][0]["content"]
    assert "Please always answer in one sentence." in rules.partition("</memory-always>")[0]


def test_the_model_is_given_the_window_of_the_session_which_goes_on_where_it_was(run: Run, server: Server) -> None:
    said = [f"Number {n} is a fine number." for n in range(8)]
    turns(run, *said[:6], args=("--model", spec(server), "--session", "numbers"))
    turns(run, *said[6:], args=("--model", spec(server), "--session", "numbers"))
    told = server.asked[-1]["messages"]
    assert [one["role"] for one in told] == ["system", *["user", "assistant"] * 7, "user"]
    assert [one["content"] for one in told if one["role"] == "user"] == said
    assert told[: len(server.asked[-2]["messages"])] == server.asked[-2]["messages"]
    assert len(run("session", "show", "numbers", "--json").json["pages"]) == 16


def test_what_was_recalled_goes_before_the_next_message_and_what_one_said_twice_is_one() -> None:
    roles = ("system", "user", "user", "assistant", "system", "system", "assistant", "user", "system", "user")
    told = prompt([{"role": role, "content": f"{role} {n}"} for n, role in enumerate(roles)])
    assert [(one.role, one.content) for one in told] == [
        ("system", "system 0"),
        ("user", "user 1\n\nuser 2"),
        ("assistant", "assistant 3\n\nassistant 6"),
        ("user", "system 4\n\nsystem 5\n\nuser 7\n\nsystem 8\n\nuser 9"),
    ]


def test_the_budget_holds(run: Run) -> None:
    for day in range(9):
        run("add", f"On day {day} I walked to the harbour and counted {day + 3} boats.")
    (turn,) = turns(run, "How many boats in the harbour?", args=("--budget", "300"))
    assert 0 < turn["recalled"]["tokens"] <= 300
    assert "120 is not in the range" in run("chat", "--budget", "120", stdin="", code=2).err


def test_the_model_and_its_key_are_settings(run: Run, server: Server) -> None:
    turns(run, MOVED, MNEMIC_MODEL=spec(server), MNEMIC_MODEL_KEY="sk-1")
    assert server.headers[0]["Authorization"] == "Bearer sk-1"
    assert "sk-1" not in run("settings", MNEMIC_MODEL_KEY="sk-1").out
    assert "sk-1" not in run("doctor", "--json", MNEMIC_MODEL_KEY="sk-1").out


def test_without_a_model_questions_are_answered_in_the_words_of_memory(run: Run) -> None:
    told, asked, unknown = turns(run, MOVED, WHEN, "What is my dentist called?")
    assert told["answer"] == "Kept."
    assert f'"{MOVED}" [{told["written"]["ids"][0]}]' in asked["answer"]
    assert "do not know" in unknown["answer"]
    assert asked["model"] is None


def test_a_quotation_is_not_written_again(run: Run) -> None:
    turns(run, MOVED, WHEN)
    assert kept(run) == [("user", MOVED), ("user", WHEN)]


def test_chinese_is_answered_in_chinese(run: Run) -> None:
    told, asked = turns(run, "我三月从巴黎搬到了里斯本。", "我什么时候搬到里斯本？")
    assert told["answer"] == "记住了。"
    assert "我三月从巴黎搬到了里斯本。" in asked["answer"]


def test_that_there_is_no_model_is_said_once(run: Run) -> None:
    ran = run("chat", stdin=f"{MOVED}\n{WHEN}\n")
    assert ran.err.count("--model") == 1
    assert "no model" not in run("chat", "--model", "scripted:Yes.", stdin="").err


def test_a_model_that_is_down_keeps_the_turn_and_the_chat(run: Run, server: Server) -> None:
    server.faults = [status(404, b"no such model")]
    failed, went_on = turns(run, MOVED, WHEN, args=("--model", spec(server)), code=1)
    assert "answered 404 no such model" in failed["error"]["message"]
    assert failed["kept"] is None
    assert went_on["error"] is None
    assert kept(run) == [("user", MOVED), ("user", WHEN), ("assistant", "How nice.")]
    assert [one["content"] for one in server.asked[1]["messages"][1:-1]] == []


def test_an_answer_at_its_limit_is_kept_as_far_as_it_came(run: Run) -> None:
    (turn,) = turns(run, MOVED, args=("--model", "scripted:one two three four", "--limit", "2"))
    assert (turn["answer"], turn["error"]["type"]) == ("one two", "CutOff")
    (answer,) = run("list", "--kind", "turn", "--limit", "1", "--json").lines
    assert answer["slots"] == {"role": "assistant", "unfinished": True}


def test_what_cannot_be_kept_is_told_and_the_chat_goes_on(run: Run) -> None:
    error, turn = turns(run, "a\x00b", MOVED, code=1)
    assert "NUL" in error["error"]["message"]
    assert turn["answer"] == "Kept."


def test_input_that_is_not_text_is_refused(run: Run) -> None:
    assert "not UTF-8" in run("chat", stdin=b"\xff\n", code=2).err


@pytest.mark.skipif(os.name != "posix", reason="a shell closes it")
@pytest.mark.parametrize("args", [(), ("--json",)])
def test_without_standard_input_there_is_no_chat_and_no_store(home: Path, args: tuple[str, ...]) -> None:
    environ = {**os.environ, "PYTHONPATH": str(Path(mnemic.__file__).parent.parent)}
    command = ["sh", "-c", 'exec "$@" <&-', "sh", sys.executable, "-m", "mnemic", "chat", *args]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (2, "")
    assert "standard input: is closed" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not home.exists()


@pytest.mark.parametrize("args", [("--model", "gpt"), ("--model", "nowhere.gguf"), ("--limit", "0"), ("--model", " ")])
def test_an_option_that_cannot_be_makes_no_store(run: Run, args: tuple[str, ...], home: Any) -> None:
    assert run("chat", *args, stdin="Hello.\n", code=2).err.startswith("error: ")
    assert not home.exists()


def test_plain_text_stands_in_order_without_escape_codes(run: Run) -> None:
    ran = run("chat", "--model", "scripted:How nice.", stdin=f"{MOVED}\n\n{WHEN}\n")
    assert "\x1b" not in ran.out + ran.err
    marks = (f"you> {MOVED}", "scripted:How nice.> How nice.", "recalled nothing", "written", f"you> {WHEN}", "why: ")
    places = [ran.out.index(mark) for mark in marks]
    assert places == sorted(places)


def test_control_characters_of_a_model_are_spelt_out(run: Run) -> None:
    out = run("chat", "--model", "scripted:red \x1b[31m", stdin=f"{MOVED}\n").out
    assert "\x1b" not in out
    assert "red \\x1b[31m" in out


def test_secrets_are_masked_and_told(run: Run) -> None:
    key = "sk-proj-" + "Ab1" * 16
    out = run("chat", stdin=f"My key is {key}\n").out
    assert "masked before it was written" in out
    assert key not in run("list", "--json").out


def test_what_the_model_took_is_metered(run: Run, server: Server) -> None:
    turns(run, MOVED, WHEN, args=("--model", spec(server)))
    (one,) = run("stats", "--models", "--json").json["spending"]
    assert (one["strategy"], one["task"], one["model"]) == ("chat", "answer", spec(server))
    assert (one["calls"], one["failed"], one["answer_tokens"], one["cost"]) == (2, 0, 5, None)
    assert one["prompt_tokens"] > 10

"""`worker`, `jobs`, `dead`, `retry`: a process of its own that is told to stop, and what people see of its work."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import numpy as np
import pytest
from commandline import Run
from numpy.typing import NDArray

import mnemic
from mnemic import SHARED, Memory
from mnemic.core.scope import Shared
from mnemic.faces.cli.commands import worker as commands_worker
from mnemic.faces.cli.output import Output
from mnemic.models import patience
from mnemic.models.base import TRAITS
from mnemic.models.chat.scripted_chat import ScriptedChat
from mnemic.models.scripted_embedder import ScriptedEmbedder
from mnemic.settings import Settings
from mnemic.store.engine import job_queue, lane_cursors
from mnemic.store.engine.rows import Rows
from mnemic.store.values.drafts import JobStep
from mnemic.store.values.work import JobState, Order
from mnemic.testing.chat_server import Fault, serving, status
from patience import PATIENCE, eventually

SOURCE = str(Path(mnemic.__file__).parent.parent)


def worker(path: Path, *args: str) -> subprocess.Popen[str]:
    line = [sys.executable, "-c", "from mnemic.faces.cli import main; main()", "worker", "--store", str(path), *args]
    environ = {**os.environ, "PYTHONPATH": SOURCE, "MNEMIC_EMBEDDER": "scripted"}
    return subprocess.Popen(line, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def with_traits(embedder: ScriptedEmbedder, texts: Sequence[str]) -> NDArray[np.float32]:
    return np.pad(embedder.passages(texts), ((0, 0), (0, len(TRAITS))))


def test_a_reindex_that_names_nobody_fills_the_traits_of_which_the_doctor_told(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMIC_EMBEDDER", "scripted")
    run("add", "The cello arrived.")
    run("flush")
    assert "serves, nothing was left to do" in run("reindex").out
    monkeypatch.setattr(ScriptedEmbedder, "passages_with_traits", with_traits, raising=False)
    assert re.search("ok +traits +1 vector has none yet: `mnemic reindex`", run("doctor", "--offline").out)
    record = run("reindex", "--json").json
    assert record == {"embedder": "scripted:256", "passages": 0, "traits": 1, "dismissed": []}
    assert "traits" not in run("doctor", "--offline").out
    assert "serves, nothing was left to do" in run("reindex").out
    run("add", "So did the violin.")
    assert "serves, 1 passage embedded" in run("reindex").out


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_does_what_other_processes_write_and_leaves_when_it_is_told(tmp_path: Path, number: int) -> None:
    path = tmp_path / "m.db"
    with Memory(path, settings=Settings(background=False), embedder="scripted") as memory:
        me = memory.scope(user="ada")
        me.observe("I live in Lisbon.")
        process = worker(path, "--poll", "0.05", "--json")
        try:

            def caught_up() -> bool:
                assert process.poll() is None
                return [one.pending for one in memory.admin.behind()] == [0, 0]

            eventually(caught_up, "the worker's work")
            me.observe("I work as a baker.")
            eventually(caught_up, "the worker's work")
            process.send_signal(number)
            out, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
        assert (process.returncode, err) == (0, "")
        events = [json.loads(line) for line in out.splitlines()]
        assert (events[0]["event"], events[-1]["event"]) == ("started", "stopped")
        assert events[-1]["failed"] == 0
        assert {one["lane"] for one in events[1:-1]} == {"house", "embed:1"}
        with memory._opened.store.read() as snapshot:
            assert {lane.owner for lane in snapshot.lanes()} == {""}


def test_lanes_that_are_not_known_are_refused(run: Run) -> None:
    run("add", "hello")
    told = run("worker", "--lanes", "house,dreams", "--once", code=2).err
    assert "dreams" in told
    assert "embed" in told


def test_jobs_say_what_waits_and_a_worker_does_it(run: Run) -> None:
    run("add", "I live in Lisbon.")
    assert "house" in run("jobs").out
    run("worker", "--once")
    assert "nothing is waiting" in run("jobs").out
    assert json.loads(run("jobs", "--json").out)["entries"] == []
    assert "read everything again" in run("rerun", "house").out
    (job,) = json.loads(run("jobs", "--over", "--json").out)["entries"]
    assert (job["name"], job["state"]) == ("rerun", "done")


def test_what_is_dead_is_listed_and_tried_again(run: Run) -> None:
    assert run("dead", code=3).err
    run("add", "hello")
    assert "nothing was given up" in run("dead").out
    assert "0 jobs" in run("retry", "--all").out
    assert "--all" in run("retry", code=2).err
    assert run("retry", "99", code=3).err
    assert run("jobs", "--cancel", "99", code=3).err


def give_up(memory: Memory, user: str | Shared, branch: str = "") -> None:
    """Have rules give up what was written last."""
    store = memory._opened.store
    with store.read() as snapshot:
        head = snapshot.space(1, user, branch)
        assert head is not None
        cursor, newest = snapshot.lane(head.id, "house").cursor, snapshot.newest(head.id)
    store.transact(lane_cursors.claim, head.id, "house", "test", 60)
    store.transact(lane_cursors.bury, head.id, "house", "test", cursor, newest, "it bites")
    store.transact(lane_cursors.release, head.id, "house", "test")


def test_what_was_given_up_is_shown_with_its_item_and_how_it_begins(run: Run, home: Path) -> None:
    home.mkdir()
    with Memory(home / "memory.db", settings=Settings(background=False), embedder="none") as memory:
        ada, ids = memory.scope(user="ada"), {}
        for name, me, user in (
            ("seen", ada, "ada"),
            ("hidden", ada, "ada"),
            ("shared", memory.scope(user=SHARED), SHARED),
        ):
            (ids[name],) = me.observe(f"{name} zebra, and " + "a long story about it " * 20).ids
            give_up(memory, user)
        (ids["branch"],) = ada.branch("draft", understand=True).observe("branch zebra").ids
        give_up(memory, "ada", "draft")
        ada.forget(ids["hidden"])
    told = {one["item"]: one for one in run("dead", "--json").json["entries"]}
    assert set(told) == set(ids.values())
    assert told[ids["seen"]]["text"].startswith("seen zebra, and a long")
    assert len(told[ids["seen"]]["text"]) < 100
    assert (told[ids["hidden"]]["text"], told[ids["branch"]]["text"]) == (None, "branch zebra")
    assert told[ids["shared"]]["text"].startswith("shared zebra")
    assert {(one["error"], one["attempts"], one["at"][:2]) for one in told.values()} == {("it bites", 1, "20")}
    assert [one["branch"] for one in told.values()].count("draft") == 1
    out = run("dead").out
    for shown in (
        ids["seen"],
        "seen zebra",
        "shared zebra",
        "branch zebra",
        "(hidden)",
        "it bites (1 attempt)",
        "draft",
    ):
        assert shown in out
    assert "hidden zebra" not in out


def test_a_job_that_died_names_no_item(run: Run, home: Path) -> None:
    home.mkdir()
    with Memory(home / "memory.db", settings=Settings(background=False), embedder="none") as memory:
        memory.scope(user="ada").observe("hello")
        order = Order(name="maintain", key="k", payload=b'{"strategy": "dreaming"}')
        step = JobStep(memory.admin.order(order), "test")
        memory._opened.store.transact(job_queue.claim, ("maintain",), "test", 60)
        memory._opened.store.transact(job_queue.end, step, JobState.DEAD, "no such strategy")
    (told,) = run("dead", "--json").json["entries"]
    assert (told["name"], told["item"], told["text"]) == ("maintain", None, None)
    assert "no such strategy" in run("dead").out


def test_an_embedder_that_cannot_be_reached_is_the_last_error(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "TRIES", 1)
    monkeypatch.setenv("MNEMIC_EMBEDDER", "openai:none@http://127.0.0.1:9/v1")
    run("add", "hello")
    assert "failed" in run("worker", "--once").out
    (entry,) = run("jobs", "--json").json["entries"]
    assert (entry["name"], entry["state"]) == ("embed", "failing")
    assert "127.0.0.1:9" in entry["error"]
    assert "127.0.0.1:9" in run("jobs").out
    assert "0 attempts" not in run("jobs").out


@pytest.mark.parametrize(
    ("model", "cause"), [("openai:gpt-x", "OPENAI_API_KEY"), ("opnai:gpt", "'opnai' is not known")]
)
def test_a_model_that_cannot_be_opened_costs_no_evidence_and_no_attempt(
    run: Run, monkeypatch: pytest.MonkeyPatch, model: str, cause: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    run("follow", "house", "zep")
    run("add", "My sister Noor lives in Porto.", "--speaker", "Ada")
    for _ in range(4):
        flushed = run("flush", code=2, MNEMIC_MODEL=model)
        assert (cause in flushed.err, "all done" in flushed.out) == (True, False)
    (entry,) = (one for one in run("jobs", "--json").json["entries"] if one["name"] == "zep")
    assert (entry["attempts"], cause in entry["error"]) == (0, True)
    assert cause in run("jobs").out
    began = time.monotonic()
    run("flush")
    assert time.monotonic() - began < PATIENCE
    assert run("dead", "--json").json["entries"] == []
    assert "Noor" in run("recall", "where does Noor live?", "--by", "zep").out


def hung_up(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.close()
    handler.close_connection = True


SICK: dict[str, Fault] = {
    "500": status(500, b"upstream is down"),
    "429": status(429, Retry_After="3600"),
    "401": status(401, b'{"error": {"message": "no such key"}}'),
    "no JSON": status(200, b"<html>"),
    "no answer": hung_up,
}


@pytest.mark.parametrize("cause", SICK)
def test_a_flush_whose_endpoint_fails_lists_the_lanes_with_their_causes(
    run: Run, monkeypatch: pytest.MonkeyPatch, cause: str
) -> None:
    monkeypatch.setattr(patience, "TRIES", 1)
    run("follow", "house", "zep")
    run("add", "My sister Noor lives in Porto.", "--speaker", "Ada")
    with serving(ScriptedChat("{}")) as server:
        monkeypatch.setenv("MNEMIC_MODEL", f"openai:words-1@{server.url}")
        server.faults[:] = [SICK[cause]] * 100
        flushed = run("flush", code=9)
        told = run("flush", "--json", code=9).json
    assert re.search(rf"zep +\d passages? left; last error: .*({cause}|left alone)", flushed.out)
    assert "rules" in flushed.out
    assert flushed.err.startswith("error: ")
    assert [lane["error"] is not None for lane in told["lanes"]] == [lane["lane"] == "zep" for lane in told["lanes"]]
    assert told["error"]


def test_answers_that_cannot_be_used_are_told_of_by_flush_and_jobs(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("follow", "house", "zep")
    run("add", "My sister Noor lives in Porto.", "--speaker", "Ada")
    with serving(ScriptedChat("I'm sorry, I can't help with that.")) as server:
        monkeypatch.setenv("MNEMIC_MODEL", f"openai:words-1@{server.url}")
        flushed = run("flush")
        again = run("flush")
    told = re.search(
        r"rules stood in for (\d+) of (\d+) answers that a model was asked for: `mnemic stats --models`", flushed.err
    )
    assert told is not None
    assert told[1] == told[2] != "0"
    assert "all done" in flushed.out
    assert "rules stood in" not in again.err
    jobs = run("jobs")
    assert "nothing is waiting" in jobs.out
    count = len(server.asked)
    assert f"zep: {count} of {count} answers of openai:words-1@{server.url} were not what was asked for" in jobs.err


def test_a_flush_says_that_it_waits_for_the_model(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    told = threading.Event()

    def note(output: Output, text: str) -> None:
        if re.match(r"waiting for the language model, \d+ s so far", text):
            told.set()

    def hanging(handler: BaseHTTPRequestHandler) -> None:
        assert told.wait(PATIENCE), "nobody says that it waits"
        hung_up(handler)

    run("follow", "house", "zep")
    run("add", "My sister Noor lives in Porto.", "--speaker", "Ada")
    monkeypatch.setattr(patience, "TRIES", 1)
    monkeypatch.setattr(commands_worker, "WAIT_TOLD", 0.01)
    monkeypatch.setattr(Output, "note", note)
    with serving(ScriptedChat("{}")) as server:
        monkeypatch.setenv("MNEMIC_MODEL", f"openai:words-1@{server.url}")
        server.faults[:] = [hanging] * 10
        run("flush", code=9)
    assert told.is_set()


def test_a_flush_says_of_how_many_users_its_counts_are(run: Run) -> None:
    run("follow", "mem0", "--user", "maya")
    run("add", "I bought bread.", "--user", "maya")
    assert "users" not in run("flush", "--user", "maya").err
    run("add", "I bought milk.", "--user", "ming")
    assert "of all 2 users of this store" in run("flush", "--user", "ming").err


def test_a_flush_that_leaves_something_does_not_say_that_all_is_done(run: Run) -> None:
    run("follow", "mem0")
    run("add", "I bought bread.")
    flushed = run("flush")  # to wait for more is no failure: a script goes on
    assert re.search(r"mem0 +1 passage waits for \d+ more tokens", flushed.out)
    assert [lane["begun"] for lane in run("flush", "--json").json["lanes"] if lane["lane"] == "mem0"] == [1]
    run("follow", "house")
    assert "all done" in run("flush").out
    with Memory() as memory:
        memory._opened.store.transact(bury_newest)
    flushed = run("flush", code=9)
    assert "1 given up: `mnemic dead` lists them, `mnemic retry --all` tries again" in flushed.out
    run("retry", "--all")
    run("flush")


def bury_newest(rows: Rows) -> None:
    """Give up the newest version of the only space, as the house would."""
    (space,) = rows.spaces.space_rows([1])
    job_queue.letter(rows, space.id, "house", rows.items.newest(space.id), 3, "it chokes")

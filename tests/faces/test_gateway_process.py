"""The gateway as a command, in a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
from commandline import Run

from mnemic import Memory, Settings
from mnemic.testing.chat_server import serving
from mnemic.testing.replying import ReplyingChat
from patience import PATIENCE


@pytest.mark.heavy
@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_application_talks_through_it_until_it_is_told_to_stop(tmp_path: Path, workers: str) -> None:
    path = tmp_path / "memory.db"
    with serving(ReplyingChat(lambda ask: "Noted.")) as upstream:
        command = [sys.executable, "-m", "mnemic", "--store", str(path), "--user", "ada", "gateway"]
        command += ["--upstream", upstream.url, "--port", "0", "--recall-ms", "30000", "--workers", workers]
        environment = {**os.environ, "MNEMIC_EMBEDDER": "none", "MNEMIC_HOME": str(tmp_path)}
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
            try:
                assert process.stderr is not None
                found = re.search(r"http://127\.0\.0\.1:\d+(?=/v1 )", process.stderr.readline())
                assert found is not None
                address = found[0]
                body = {"model": "m", "messages": [{"role": "user", "content": "I sold my car."}]}
                answer = httpx2.post(f"{address}/v1/chat/completions", json=body, timeout=PATIENCE)
                assert answer.json()["choices"][0]["message"]["content"] == "Noted."
                foreign = httpx2.get(f"{address}/health", headers={"Host": "evil.example"}, timeout=PATIENCE)
                assert foreign.status_code == 421
            finally:
                process.send_signal(signal.SIGINT)
                _, said = process.communicate(timeout=PATIENCE)
    assert (process.returncode, said) == (0, "")
    with Memory(path, settings=Settings(embedder="none", background=False)) as memory:
        assert [version.item.text for version in memory.scope(user="ada").list()] == ["Noted.", "I sold my car."]


@pytest.mark.heavy
def test_a_program_is_told_the_address_as_json(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mnemic", "--store", str(tmp_path / "memory.db"), "gateway", "--json"]
    command += ["--upstream", "http://127.0.0.1:9", "--port", "0"]
    environment = {**os.environ, "MNEMIC_EMBEDDER": "none", "MNEMIC_HOME": str(tmp_path)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            told = json.loads(process.stdout.readline())
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/v1", told["url"])
        finally:
            process.send_signal(signal.SIGINT)


def test_it_does_not_start_where_nobody_could_prove_who_they_are(run: Run) -> None:
    for options in (("--host", "0.0.0.0"), ("--allow-host", "memory.example"), ("--keys",)):
        ran = run("gateway", "--upstream", "http://127.0.0.1:9", "--port", "0", *options, code=2)
        assert "there is no key yet" in ran.err
        assert ran.err.startswith("error: --keys") == (options == ("--keys",))

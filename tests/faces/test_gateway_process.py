"""The gateway as a command, in a process of its own."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from mnemic import Memory, Settings
from mnemic.testing.chat_server import serving
from mnemic.testing.replying import ReplyingChat
from patience import PATIENCE, eventually


@pytest.mark.heavy
def test_an_application_talks_through_it_until_it_is_told_to_stop(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with serving(ReplyingChat(lambda ask: "Noted.")) as upstream:
        command = [sys.executable, "-m", "mnemic", "--store", str(path), "--user", "ada", "gateway"]
        command += ["--upstream", upstream.url, "--port", str(port), "--recall-ms", "30000"]
        environment = {"MNEMIC_EMBEDDER": "none", "MNEMIC_HOME": str(tmp_path)}
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
            address = f"http://127.0.0.1:{port}"
            try:
                eventually(lambda: process.poll() is not None or _answers(address), "the gateway")
                body = {"model": "m", "messages": [{"role": "user", "content": "I sold my car."}]}
                answer = httpx2.post(f"{address}/v1/chat/completions", json=body, timeout=PATIENCE)
                assert answer.json()["choices"][0]["message"]["content"] == "Noted."
                foreign = httpx2.get(f"{address}/health", headers={"Host": "evil.example"})
                assert foreign.status_code == 421
            finally:
                process.send_signal(signal.SIGTERM)
                _, said = process.communicate(timeout=PATIENCE)
    assert f"{address}/v1" in said
    with Memory(path, settings=Settings(embedder="none", background=False)) as memory:
        assert [version.item.text for version in memory.scope(user="ada").list()] == ["Noted.", "I sold my car."]


def _answers(address: str) -> bool:
    try:
        return httpx2.get(f"{address}/health").status_code == 200
    except httpx2.HTTPError:
        return False

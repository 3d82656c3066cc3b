"""`mnemic serve` as a process: it says where it listens, answers, drains when told to stop, and refuses strangers."""

from __future__ import annotations

import gc
import json
import os
import re
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mnemic import Memory, Settings
from mnemic.faces.cli import cli
from mnemic.faces.server.command import is_loopback
from mnemic.faces.server.listening import BUSY_SECONDS, ServeOptions, _what_is_loaded_uncollected
from patience import PATIENCE, eventually

pytestmark = pytest.mark.heavy


@contextmanager
def served(home: Path, *options: str, **settings: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Starts a server on a free port; ends it as an operator does."""
    command = [sys.executable, "-m", "mnemic", "serve", "--port", "0", *options]
    environment = {**os.environ, "MNEMIC_HOME": str(home), "MNEMIC_EMBEDDER": "none", **settings}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
            assert found is not None, (
                line,
                process.stderr.read() if process.stderr and process.poll() is not None else "",
            )
            yield process, int(found[1])
        finally:
            if process.poll() is None:
                process.kill()


def asked(port: int, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        content = None if body is None else json.dumps(body)
        method = "GET" if body is None else "POST"
        connection.request(method, path, content, {"Content-Type": "application/json", **headers})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def test_a_server_drains_when_it_is_told_to_stop(tmp_path: Path) -> None:
    with served(tmp_path) as (process, port):
        assert asked(port, "/health")[1]["status"] == "ok"
        assert asked(port, "/v1/observe", {"messages": "The ferry leaves at nine."})[0] == 200
        slow = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        body = json.dumps({"messages": "Still on its way."}).encode()
        head = ["POST /v1/observe HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
        head += [f"Content-Length: {len(body)}", "", ""]
        slow.sendall("\r\n".join(head).encode() + body[:5])
        answers: list[bytes] = []
        reading = threading.Thread(target=lambda: answers.append(slow.recv(65536)))
        reading.start()
        assert asked(port, "/health")[0] == 200  # by now the slow request is being read
        process.send_signal(signal.SIGTERM)
        slow.sendall(body[5:])
        reading.join(PATIENCE)
        assert answers[0].startswith(b"HTTP/1.1 200")
        assert process.wait(PATIENCE) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
        slow.close()
    with served(tmp_path, "--read-only") as (process, port):
        assert asked(port, "/v1/count", {"where": {"kinds": ["turn"]}})[1] == {"count": 2}
        assert asked(port, "/v1/observe", {"messages": "x"})[0] == 403
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0


def test_what_a_server_is_made_of_is_looked_through_by_no_collection_while_it_runs() -> None:
    class Circle:
        def __init__(self) -> None:
            self.itself = self

    with _what_is_loaded_uncollected():
        assert gc.get_freeze_count() > 10_000
        assert len(gc.get_objects()) < 10_000
        gone = weakref.ref(Circle())
        gc.collect()
        assert gone() is None, "what comes later is collected"
    assert gc.get_freeze_count() == 0


def test_a_server_that_is_told_to_stop_before_it_runs_ends(tmp_path: Path) -> None:
    stopping = f"""
import os, signal
from mnemic.faces.server.listening import DrainingServer, ServeOptions, listen
from mnemic.settings import Settings

class StoppedServer(DrainingServer):
    def run(self, sockets=None):
        os.kill(os.getpid(), signal.SIGTERM)
        super().run(sockets)

import mnemic.faces.server.listening as listening
listening.DrainingServer = StoppedServer
settings = Settings(embedder="none", background=False)
where = {str(tmp_path / "memory.db")!r}
listen(ServeOptions(where=where, settings=settings, user="me", tenant="main", host="127.0.0.1", port=0), 1, print)
"""
    done = subprocess.run([sys.executable, "-c", stopping], timeout=PATIENCE, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("http://127.0.0.1:")  # it has opened, and closes as it does


def test_several_processes_answer_on_one_port(tmp_path: Path) -> None:
    with served(tmp_path, "--workers", "2") as (process, port):
        written = asked(port, "/v1/observe", {"messages": "One.", "key": "a"})[1]
        for _ in range(6):
            assert asked(port, "/v1/observe", {"messages": "One.", "key": "a"})[1]["ids"] == written["ids"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


def _children(process: subprocess.Popen[str]) -> set[int]:
    """The processes that answer, without what Python starts to keep track of them."""
    pids = map(int, Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split())
    return {pid for pid in pids if b"spawn_main" in _command_line(pid)}


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
        return b""


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"  # dead, and not yet asked after
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="Linux tells whose child a process is")
def test_a_process_that_dies_is_replaced_and_none_outlives_the_one_that_started_it(tmp_path: Path) -> None:
    with served(tmp_path, "--workers", "2") as (process, port):
        assert asked(port, "/health")[0] == 200
        eventually(lambda: len(_children(process)) == 2)
        first = min(_children(process))
        os.kill(first, signal.SIGKILL)
        eventually(lambda: len(_children(process) - {first}) == 2)
        assert asked(port, "/v1/count", {}) == (200, {"count": 0})
        left = _children(process)
        process.kill()
        process.wait(PATIENCE)
        eventually(lambda: not any(map(_runs, left)))


REACHED = [
    ("--host", "0.0.0.0"), ("--host", "::"), ("--host", "192.0.2.7"), ("--host", "example.org"),
    ("--allow-host", "memory.example"), ("--credentials",),
]  # fmt: skip


@pytest.mark.parametrize("options", REACHED, ids=" ".join)
def test_where_others_ask_nobody_is_served_before_there_is_a_key(options: tuple[str, ...], tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["serve", *options], env={"MNEMIC_HOME": str(tmp_path)})
    assert done.exit_code == 2
    assert "mnemic keys create" in done.stderr
    assert ("--credentials" if options == ("--credentials",) else "--host") in done.stderr
    assert not ("--host" in done.stderr and options == ("--credentials",))
    assert not list(tmp_path.iterdir())


def test_with_a_key_there_credentials_are_asked_for(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", settings=Settings(embedder="none")) as memory:
        key = memory.keys.create("phone", tenant="default", user="ada").text
    with served(tmp_path, "--credentials") as (process, port):
        assert asked(port, "/v1/count", {})[0] == 401
        assert asked(port, "/v1/count", {}, Authorization=f"Bearer {key}") == (200, {"count": 0})
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


def test_a_port_that_is_taken_is_refused(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = CliRunner().invoke(cli, ["serve", "--port", port], env={"MNEMIC_HOME": str(tmp_path)})
    assert done.exit_code == 2
    assert port in done.stderr


def test_loopback_is_known_by_its_address() -> None:
    for host in ("127.0.0.1", "127.8.9.1", "::1", "[::1]", "localhost"):
        assert is_loopback(host), host
    for host in ("0.0.0.0", "::", "10.0.0.1", "localhost.example", ""):
        assert not is_loopback(host), host


def _raw(port: int, *pieces: bytes, end: bool = False) -> bytes:
    """Send pieces as they are, and read until the server has answered or cut the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        for piece in pieces:
            connection.sendall(piece)
        if end:
            connection.shutdown(socket.SHUT_WR)
        with suppress(ConnectionError):
            return connection.recv(65536)
    return b""


def _head(*headers: str) -> bytes:
    lines = ("POST /v1/observe HTTP/1.1", "Host: localhost", "Content-Type: application/json", *headers, "", "")
    return "\r\n".join(lines).encode()


def test_bodies_that_break_off_or_lie_about_their_length_cost_no_more_than_themselves(tmp_path: Path) -> None:
    body = b'{"messages": "The ferry leaves at nine."}'
    with served(tmp_path) as (process, port):
        assert _raw(port, _head(f"Content-Length: {len(body)}"), body[:9], end=True) == b""  # it stops half-way
        shorter = _raw(port, _head("Content-Length: 9"), body)
        assert shorter.startswith(b"HTTP/1.1 400")  # nine bytes are no JSON, and what follows is no request
        for lie in (
            _head("Content-Length: 41", "Content-Length: 9") + body,
            _head("Content-Length: 9x") + body,
            _head("Content-Length: 9", "Transfer-Encoding: chunked") + body,
            _head("Transfer-Encoding: chunked") + b"zz\r\n" + body,
            _head("Transfer-Encoding: chunked") + b"5\r\n" + body,
        ):
            assert _raw(port, lie, end=True)[:12] in (b"", b"HTTP/1.1 400", b"HTTP/1.1 413"), lie
        assert asked(port, "/v1/count", {}) == (200, {"count": 0})
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
        assert process.stderr is not None
        assert "unexpected" not in process.stderr.read()


@pytest.mark.skipif(sys.platform != "linux", reason="no other system limits the files of another process")
def test_a_full_disk_is_said_and_nothing_else_is_lost(tmp_path: Path) -> None:
    with served(tmp_path) as (process, port):
        assert asked(port, "/v1/observe", {"messages": "The ferry leaves at nine."})[0] == 200
        largest = max(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file())
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (largest + 8192, resource.RLIM_INFINITY))
        status, problem = asked(port, "/v1/observe", {"messages": "long " * 100_000})
        assert status in (503, 507)
        assert problem["type"] in ("urn:mnemic:problem:StoreFull", "urn:mnemic:problem:StoreError")
        assert asked(port, "/v1/count", {"where": {"kinds": ["turn"]}}) == (200, {"count": 1})
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert asked(port, "/v1/observe", {"messages": "There is room again."})[0] == 200


def test_a_store_that_another_has_locked_is_said(tmp_path: Path) -> None:
    with served(tmp_path, MNEMIC_BUSY_TIMEOUT="0.05") as (_, port):
        assert asked(port, "/v1/observe", {"messages": "The ferry leaves at nine."})[0] == 200
        path = next(tmp_path.rglob("*.db"))
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            status, problem = asked(port, "/v1/observe", {"messages": "Who waits?"})
            assert (status, problem["type"]) == (503, "urn:mnemic:problem:StoreLocked")
            assert "Retry-After" in problem["remedy"]
            assert "Idempotency-Key" in problem["remedy"]
            assert asked(port, "/v1/count", {})[0] == 200
            other.execute("ROLLBACK")
        assert asked(port, "/v1/observe", {"messages": "Nobody."})[0] == 200


@pytest.mark.parametrize(("setting", "waits"), [(30.0, BUSY_SECONDS), (0.5, 0.5)])
def test_a_request_waits_for_a_locked_store_no_longer_than_its_client_would(setting: float, waits: float) -> None:
    settings = Settings(busy_timeout=setting)
    options = ServeOptions(where="memory:", settings=settings, user="me", tenant="t", host="127.0.0.1", port=0)
    assert options.served_settings.busy_timeout == waits

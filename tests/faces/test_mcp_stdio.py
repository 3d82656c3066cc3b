"""The server as a process of its own: pipes, signals, two on one file, and what a person sees who starts it by hand."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from agentline import GENERATIONS, connected, drive, played, words
from hypothesis import given as generated
from hypothesis import strategies as st
from mcp import StdioServerParameters
from mcp.client.client import Client
from test_cli_process import environ

from mnemic.faces.mcp import light_server as light
from mnemic.faces.mcp.stdio import PendingRequests, lines_of
from mnemic.memory import Memory, ScopedMemory
from mnemic.registry import TOOLS
from mnemic.settings import Settings
from patience import PATIENCE, eventually

pytestmark = pytest.mark.heavy

COMMAND = [sys.executable, "-W", "error", "-m", "mnemic", "mcp"]
_PATIENT = f"from mnemic.faces.mcp import stdio; stdio.PATIENCE = {PATIENCE}; from mnemic.faces.cli import main; main()"
PATIENT = [sys.executable, "-W", "error", "-c", _PATIENT, "mcp"]
"""The same on a machine so busy that answers may take long after the end of input."""
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}

EACH_ONCE = [*(("2026-07-28", profile) for profile in TOOLS), ("legacy", "verbs")]
"""Every profile and every generation; each in each is tried without a process (`test_mcp_server.py`)."""


def served(home: Path, *args: str, **more: str) -> StdioServerParameters:
    """How a client is told to start the server."""
    given = environ(home, MNEMIC_EMBEDDER="none", **more)
    return StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], *args], env=given)


class Process:
    """The server, spoken to line by line."""

    def __init__(self, home: Path, *args: str, embedder: str = "none") -> None:
        self.process = subprocess.Popen(
            [*COMMAND, *args],
            env=environ(home, MNEMIC_EMBEDDER=embedder),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.asked = 0
        self.say(HELLO)
        self.hello = self.hear()
        self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def say(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        told: dict[str, Any] = json.loads(self.process.stdout.readline())
        return told

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        self.asked += 1
        params = {"name": name, "arguments": arguments}
        self.say({"jsonrpc": "2.0", "id": self.asked, "method": "tools/call", "params": params})
        told = self.hear()
        assert told["id"] == self.asked
        result: dict[str, Any] = told["result"]
        return result


@contextmanager
def process(home: Path, *args: str, embedder: str = "none") -> Iterator[Process]:
    one = Process(home, *args, embedder=embedder)
    try:
        yield one
    finally:
        one.process.kill()
        one.process.wait()
        for pipe in (one.process.stdin, one.process.stdout, one.process.stderr):
            assert pipe is not None
            pipe.close()


def texts(home: Path, user: str = "me") -> set[str]:
    with Memory(home / "memory.db", settings=Settings(embedder="none", background=False)) as memory:
        return {version.item.text for version in memory.scope(user=user).list(limit=1000)}


@pytest.mark.parametrize(("mode", "profile"), EACH_ONCE)
def test_every_tool_answers_through_pipes(mode: str, profile: str, home: Path) -> None:
    async def act() -> None:
        async with Client(served(home, "--profile", profile), mode=mode) as client:
            assert client.protocol_version == GENERATIONS[mode]
            await drive(client, profile)

    played(act)


def test_a_client_that_speaks_both_finds_the_newer_generation(home: Path) -> None:
    async def act() -> None:
        async with Client(served(home)) as client:
            assert client.protocol_version == "2026-07-28"
            assert client.server_info is not None
            assert client.server_info.name == "mnemic"

    played(act)


async def introduced(client: Client) -> list[Any]:
    """All that a server says of itself."""
    pages: list[Any] = [await client.list_tools()]
    if client.server_capabilities.resources is not None:
        pages += [await client.list_resources(), await client.list_resource_templates()]
    if client.server_capabilities.prompts is not None:
        pages.append(await client.list_prompts())
    itself = [client.server_info, client.server_capabilities]
    return [client.instructions, *(one.model_dump() for one in (*itself, *pages) if one is not None)]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("profile", TOOLS)
def test_the_light_server_says_of_itself_what_the_sdks_own_says(mode: str, profile: str, home: Path) -> None:
    assert metadata.version("mcp").startswith(light.TESTED), "test the light server with this version, and add it"

    async def act() -> None:
        async with Client(served(home, "--profile", profile), mode=mode) as client:
            ours = await introduced(client)
        async with connected(mode=mode, profile=profile) as client:
            assert ours == await introduced(client)

    played(act)


def test_a_version_of_the_sdk_that_was_not_tested_is_served_with_its_own_server(home: Path) -> None:
    code = (
        "import sys; from mnemic.faces.mcp import light_server; light_server.TESTED = ('0.',); "
        "from mnemic.faces.cli import main; sys.argv[1:] = ['mcp']; main()"
    )
    params = StdioServerParameters(
        command=sys.executable, args=["-W", "error", "-c", code], env=environ(home, MNEMIC_EMBEDDER="none")
    )

    async def act() -> None:
        for mode in GENERATIONS:
            async with Client(params, mode=mode) as client:
                assert not (await client.call_tool("remember", {"text": "a"})).is_error

    played(act)


def test_what_is_held_back_of_the_sdk_is_there_for_whoever_asks(home: Path) -> None:
    code = (
        "import sys; from mnemic.faces.mcp import light_server; assert light_server.fits(); light_server.prepare(); "
        "import mcp.server.runner; assert 'starlette' not in sys.modules; "
        "from mcp import Client; from mcp.server import MCPServer; assert not light_server.fits(); "
        "print(Client.__name__, MCPServer.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environ(home), capture_output=True, text=True)
    assert done.stdout == "Client MCPServer\n", done.stderr


def test_two_servers_on_one_file_lose_nothing_that_was_acknowledged(home: Path) -> None:
    async def write(name: str) -> None:
        async with Client(served(home), mode="legacy") as client:
            for n in range(200):
                told = await client.call_tool("remember", {"text": f"{name} {n}", "key": f"{name}-{n}"})
                assert not told.is_error, words(told)

    async def act() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(write, "one")
            group.start_soon(write, "two")

    played(act)
    assert texts(home) == {f"{name} {n}" for name in ("one", "two") for n in range(200)}


@pytest.mark.parametrize("end", ["eof", signal.SIGTERM, signal.SIGINT])
def test_it_ends_cleanly_and_what_it_acknowledged_is_there(end: str | signal.Signals, home: Path) -> None:
    with process(home) as one:
        assert not one.call("remember", text="The ferry leaves at nine.")["isError"]
        if isinstance(end, signal.Signals):
            one.process.send_signal(end)
        elif one.process.stdin is not None:
            one.process.stdin.close()
        assert one.process.wait(PATIENCE) == 0
        assert one.process.stdout is not None
        assert one.process.stderr is not None
        assert one.process.stdout.read() == b""
        assert one.process.stderr.read() == b""
        assert not list(home.glob("memory.db-wal"))
    assert texts(home) == {"The ferry leaves at nine."}


def test_a_client_that_stops_listening_ends_it_too(home: Path) -> None:
    with process(home) as one:
        assert one.process.stdin is not None
        assert one.process.stdout is not None
        assert one.process.stderr is not None
        one.process.stdout.close()
        one.say({"jsonrpc": "2.0", "id": 7, "method": "ping"})
        assert one.process.wait(PATIENCE) == 0
        assert one.process.stderr.read() == b""


@contextmanager
def unattended(home: Path) -> Iterator[ScopedMemory]:
    """A memory with an embedder, in which nothing gets its vector by itself."""
    with Memory(home / "memory.db", settings=Settings(embedder="scripted", background=False)) as memory:
        me = memory.scope(user="me")
        me.observe("The library is closed.")
        memory.flush()
        yield me


def wait_for_vectors(me: ScopedMemory) -> None:
    eventually(lambda: not me.recall("ferry").pending, "the vectors")


def test_what_was_written_gets_its_vectors_behind_the_answer(home: Path) -> None:
    with unattended(home) as me, process(home, embedder="scripted") as one:
        assert not one.call("remember", text="The ferry leaves at nine.")["isError"]
        wait_for_vectors(me)


def test_what_others_wrote_before_gets_its_vectors_without_a_call(home: Path) -> None:
    with unattended(home) as me:
        me.observe("The ferry leaves at nine.")
        assert me.recall("ferry").pending
        with process(home, embedder="scripted"):
            wait_for_vectors(me)


def test_a_retry_after_the_server_was_killed_writes_once(home: Path) -> None:
    with process(home) as one:
        first = one.call("remember", text="The ferry leaves at nine.", key="ferry")
    with process(home) as other:
        again = other.call("remember", text="The ferry leaves at nine.", key="ferry")
        assert again["structuredContent"]["ids"] == first["structuredContent"]["ids"]
        assert again["structuredContent"]["repeated"] == 1


def test_what_is_no_message_does_not_end_it(home: Path) -> None:
    with process(home) as one:
        assert one.process.stdin is not None
        one.process.stdin.write(b"\n{ this is not JSON\n\xff\xfe\n[]\n")
        assert not one.call("remember", text="是的，我在里斯本。")["isError"]
        assert "里斯本" in one.call("recall", query="里斯本")["content"][0]["text"]


def test_whose_memory_it_is_says_the_command_line_or_the_environment(home: Path) -> None:
    async def act() -> None:
        for options, more in ((["--user", "ada"], {}), ([], {"MNEMIC_USER": "ben"})):
            async with Client(served(home, *options, **more), mode="legacy") as client:
                assert not (await client.call_tool("remember", {"text": f"of {options or more}"})).is_error

    played(act)
    assert texts(home, "ada") == {"of ['--user', 'ada']"}
    assert texts(home, "ben") == {"of {'MNEMIC_USER': 'ben'}"}
    assert texts(home) == set()


def by_hand(home: Path, *args: str, code: str = "from mnemic.faces.cli import main; main()", **more: str) -> Any:
    command = [sys.executable, "-W", "error", "-c", code, "mcp", *args]
    given = environ(home, MNEMIC_EMBEDDER="none", **more)
    return subprocess.run(command, env=given, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def test_nobody_there_is_no_error(home: Path) -> None:
    done = by_hand(home)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not home.exists()


@pytest.mark.parametrize(
    ("args", "more", "told"),
    [
        (["--user", "a\nb"], {}, "user"),
        (["--profile", "none"], {}, "--profile"),
        ([], {"MNEMIC_USERS": "ada"}, "Did you mean MNEMIC_USER?"),
    ],
)
def test_what_cannot_be_taken_is_one_line_before_anything_is_served(
    args: list[str], more: dict[str, str], told: str, home: Path
) -> None:
    done = by_hand(home, *args, **more)
    assert done.returncode == 2
    assert done.stdout == ""
    assert told in done.stderr
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


def test_without_the_package_it_says_which_to_install(home: Path) -> None:
    code = "import sys; sys.modules['mcp'] = None; from mnemic.faces.cli import main; main()"
    done = by_hand(home, code=code)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert 'pip install "mnemic[mcp]"' in done.stderr


def test_a_person_at_a_terminal_is_told_what_it_is(home: Path) -> None:
    import pty

    leader, follower = pty.openpty()
    given = environ(home, MNEMIC_EMBEDDER="none")
    one = subprocess.Popen(COMMAND, env=given, stdin=follower, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.close(follower)
    os.write(leader, b"\x04")
    out, err = one.communicate(timeout=PATIENCE)
    os.close(leader)
    assert (one.returncode, out) == (0, b"")
    assert b"mnemic install" in err
    assert err.count(b"\n") == 1


# How it ends, and what it is given to read


CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "remember", "arguments": {"text": "The ferry leaves at nine."}},
}


def answered(done: subprocess.CompletedProcess[bytes]) -> dict[int, dict[str, Any]]:
    assert (done.returncode, done.stderr) == (0, b"")
    return {told["id"]: told["result"] for told in map(json.loads, done.stdout.splitlines())}


def piped(home: Path, *messages: dict[str, Any], end: bytes = b"\n") -> dict[int, dict[str, Any]]:
    said = b"\n".join(json.dumps(message).encode() for message in messages) + end
    given = environ(home, MNEMIC_EMBEDDER="none")
    return answered(subprocess.run(PATIENT, env=given, input=said, capture_output=True, timeout=PATIENCE))


@pytest.mark.parametrize("end", [b"\n", b""])
def test_what_was_asked_before_the_end_of_input_is_answered(end: bytes, home: Path) -> None:
    told = piped(home, HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"}, CALL, end=end)
    assert told.keys() == {0, 1}
    assert not told[1]["isError"]
    assert texts(home) == {"The ferry leaves at nine."}


def test_input_that_does_not_block_is_waited_for(home: Path) -> None:
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    given = environ(home, MNEMIC_EMBEDDER="none")
    one = subprocess.Popen(PATIENT, env=given, stdin=ours, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.close(ours)
    os.write(theirs, json.dumps(HELLO).encode() + b"\n")
    os.close(theirs)
    out, err = one.communicate(timeout=PATIENCE)
    assert answered(subprocess.CompletedProcess(PATIENT, one.returncode, out, err)).keys() == {0}


def test_input_that_cannot_be_read_is_told_and_ends_it(home: Path) -> None:
    code = (
        "import errno, os, sys; from mnemic.faces.mcp import stdio; from mnemic.faces.cli import main\n"
        "def fail(file, size): raise OSError(errno.EIO, 'Input/output error')\n"
        "stdio.os.read = fail; main()"
    )
    done = by_hand(home, code=code)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: Input/output error: standard input\n"


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_without_a_client_at_either_end_it_says_so(closed: str, home: Path) -> None:
    given = environ(home, MNEMIC_EMBEDDER="none")
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *COMMAND], env=given, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: standard {'input' if closed == '<&-' else 'output'}: is closed")
    assert done.stderr.count("\n") == 1


@generated(st.lists(st.binary(min_size=1, max_size=5).map(lambda piece: piece.replace(b"a", b"\n"))))
def test_lines_are_the_same_however_they_come_in(pieces: list[bytes]) -> None:
    coming = iter([*pieces, b""])
    *whole, rest = b"".join(pieces).split(b"\n")
    assert list(lines_of(lambda: next(coming))) == [*whole, *([rest] if rest else [])]


def asked(id: int, method: str = "tools/call") -> types.JSONRPCRequest:
    return types.JSONRPCRequest(jsonrpc="2.0", id=id, method=method)


async def still_waited_for(unanswered: PendingRequests) -> bool:
    with anyio.move_on_after(0.01) as waiting:
        await unanswered.settled()
    return waiting.cancelled_caught


def test_the_end_waits_for_answers_and_for_nothing_that_never_comes() -> None:
    async def act() -> None:
        unanswered = PendingRequests()
        assert not await still_waited_for(unanswered)
        for one in (asked(1), asked(2), asked(3, "subscriptions/listen")):
            unanswered.received(one)
        unanswered.sent(types.JSONRPCNotification(jsonrpc="2.0", method="notifications/message"))
        unanswered.sent(types.JSONRPCResponse(jsonrpc="2.0", id=1, result={}))
        assert await still_waited_for(unanswered)
        cancelled = types.JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params={"requestId": 2})
        unanswered.received(cancelled)
        assert not await still_waited_for(unanswered)
        unanswered.received(asked(4))
        assert await still_waited_for(unanswered)
        unanswered.give_up()
        assert not await still_waited_for(unanswered)

    played(act)


def test_a_server_that_only_reads_makes_no_store(home: Path) -> None:
    with process(home, "--read-only") as one:
        told = one.call("recall", query="anything")
    assert told["isError"]
    assert "nothing has been remembered yet" in told["content"][0]["text"]
    assert not (home / "memory.db").exists()

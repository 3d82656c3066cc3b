"""The server as a process of its own: pipes, signals, two on one file, and what a person sees who starts it by hand."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

import anyio
import pytest
from agentline import GENERATIONS, connected, drive, played, words
from mcp import StdioServerParameters
from mcp.client.client import Client
from test_cli_process import environ

from mnemic.faces.serving import light
from mnemic.memory import Memory
from mnemic.registry import TOOLS
from mnemic.settings import Settings

COMMAND = [sys.executable, "-W", "error", "-m", "mnemic", "mcp"]
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


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


@pytest.mark.parametrize("mode", GENERATIONS)
@pytest.mark.parametrize("profile", TOOLS)
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
        "import sys; from mnemic.faces.serving import light; light.TESTED = ('0.',); "
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
        "import sys; from mnemic.faces.serving import light; assert light.fits(); light.prepare(); "
        "import mcp.server.runner; assert 'starlette' not in sys.modules; "
        "from mcp import Client; from mcp.server import MCPServer; assert not light.fits(); "
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
        assert one.process.wait(20) == 0
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
        assert one.process.wait(20) == 0
        assert one.process.stderr.read() == b""


def test_what_was_written_gets_its_vectors_behind_the_answer(home: Path) -> None:
    def pending() -> int:
        settings = Settings(embedder="scripted", background=False)
        with Memory(home / "memory.db", settings=settings) as memory:
            return memory.scope(user="me").recall("ferry").pending

    with process(home, embedder="scripted") as one:
        assert not one.call("remember", text="The ferry leaves at nine.")["isError"]
        until = time.monotonic() + 20
        while pending():
            assert time.monotonic() < until
            time.sleep(0.05)


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
    out, err = one.communicate(timeout=30)
    os.close(leader)
    assert (one.returncode, out) == (0, b"")
    assert b"mnemic install" in err
    assert err.count(b"\n") == 1

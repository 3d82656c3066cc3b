"""Servers in processes of their own, for measurements: `mnemic serve`, and what stands beside it.

Run as `python -m mnemic.lab.kit.served_process bare SIZE`, it is a bare endpoint of the same framework: Starlette in
uvicorn with the options of our server, which reads a body of JSON and answers with one of about SIZE bytes. With `mcp`
for `bare` it is the least server of MCP that the official SDK makes: one tool `recall`, which answers with SIZE bytes.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemic.errors import MnemicError

if TYPE_CHECKING:
    from starlette.applications import Starlette

SAME_CODE: Final = {"PYTHONPATH": str(Path(__file__).resolve().parents[3])}
"""Has a Python that is started run the code that runs here, and not what its environment has installed."""
_ENVIRONMENT: Final = {**SAME_CODE, "MNEMIC_EMBEDDER": "none", "MNEMIC_USER": "me"}
_STOP_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class ServedProcess:
    """A server that runs on this machine.

    Attributes:
        port: Where it answers.
    """

    port: int
    process: subprocess.Popen[str]

    @property
    def cpu_seconds(self) -> float:
        """Processor time that it has taken, as its `/metrics` says."""
        return self.metric("process_cpu_seconds_total")

    @property
    def resident_mib(self) -> float:
        """Memory that it holds now. Linux alone tells."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024

    def metric(self, name: str) -> float:
        """The value of a series without labels in its `/metrics`."""
        match = re.search(rf"^{name} (\S+)$", self._get("/metrics"), re.MULTILINE)
        if match is None:
            raise MnemicError(f"the server does not say its {name}")
        return float(match[1])

    def stop(self) -> None:
        """End it as an operator does, and wait until it has ended."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(_STOP_SECONDS)

    def _get(self, path: str) -> str:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=_STOP_SECONDS)
        try:
            connection.request("GET", path)
            return connection.getresponse().read().decode()
        finally:
            connection.close()


@contextmanager
def mnemic_server(store: Path | str, port: int = 0, *, background: bool = True) -> Iterator[ServedProcess]:
    """Run `mnemic serve` on a store until the block is left; port 0 for a free one; with or without work behind."""
    command = [sys.executable, "-m", "mnemic", "serve", "--port", str(port)]
    # The store is named where no list of processes shows it: its URL may hold a password.
    named = {"MNEMIC_STORE": str(store), "MNEMIC_BACKGROUND": str(background).lower()}
    with _started(command, {**_ENVIRONMENT, **named}) as served:
        yield served


@contextmanager
def bare_server(size: int) -> Iterator[ServedProcess]:
    """Run the bare endpoint, which answers `POST /` with about `size` bytes, until the block is left."""
    with _started([sys.executable, "-m", __name__, "bare", str(size)], SAME_CODE) as served:
        yield served


@contextmanager
def least_mcp_server(size: int) -> Iterator[ServedProcess]:
    """Run the SDK's least server of MCP, whose tool answers with `size` bytes, until the block is left."""
    with _started([sys.executable, "-m", __name__, "mcp", str(size)], SAME_CODE) as served:
        yield served


@contextmanager
def _started(command: list[str], environment: Mapping[str, str]) -> Iterator[ServedProcess]:
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - ours
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            match = re.search(r"http://[^:]+:(\d+)", line)
            if match is None:
                raise MnemicError(f"the server did not start: {line.strip() or 'it said nothing'}")
            yield ServedProcess(int(match[1]), process)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(_STOP_SECONDS)


def serve_bare(size: int) -> None:
    """Serve the bare endpoint until a signal ends it."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    answer = {"items": [{"id": f"{n:026d}", "text": "x" * 74} for n in range(max(1, size // 120))]}

    async def echo(request: Request) -> Response:
        await request.json()
        return JSONResponse(answer)

    _serve(Starlette(routes=[Route("/", echo, methods=["POST"])]))


def serve_least_mcp(size: int) -> None:
    """Serve one tool by the SDK's own server, without sessions as ours, until a signal ends it."""
    from mcp.server.mcpserver import MCPServer
    from mcp.server.transport_security import TransportSecuritySettings

    server = MCPServer("least", log_level="ERROR")

    @server.tool()
    def recall(query: str) -> str:
        """Answer with as many bytes as were asked for when the server was started."""
        return "x" * size

    security = TransportSecuritySettings(enable_dns_rebinding_protection=True, allowed_hosts=["localhost"])
    _serve(server.streamable_http_app(stateless_http=True, transport_security=security))


def _serve(app: Starlette) -> None:
    """Serve an application in uvicorn as our server does, with its processor time at `/metrics`."""
    import socket

    import uvicorn
    from starlette.requests import Request
    from starlette.responses import PlainTextResponse, Response

    async def cpu(_: Request) -> Response:
        return PlainTextResponse(f"process_cpu_seconds_total {time.process_time()}\n")

    app.add_route("/metrics", cpu)
    bound = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(json.dumps(f"http://127.0.0.1:{bound.getsockname()[1]}"), flush=True)
    config = uvicorn.Config(app, http="httptools", loop="auto", ws="none", access_log=False, log_level="warning")
    uvicorn.Server(config).run(sockets=[bound])


if __name__ == "__main__":
    {"bare": serve_bare, "mcp": serve_least_mcp}[sys.argv[1]](int(sys.argv[2]))

"""An embeddings endpoint in this process, with faults on order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from mnemic.models.scripted_embedder import ScriptedEmbedder
from mnemic.testing.loopback import QuietRequestHandler, listening


@dataclass
class Server:
    """What was asked, and what goes wrong next.

    Attributes:
        faults: One for each request to come, first first: given the handler and the right answer, it answers itself.
        asked: The bodies of all requests.
        headers: Their headers.
    """

    faults: list[Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    dims: int = 64
    url: str = ""

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """As a good server answers, only that its entries come in another order."""
        vectors = 2.5 * ScriptedEmbedder(body.get("dimensions", self.dims)).passages(body["input"])
        data = [{"object": "embedding", "index": n, "embedding": v.tolist()} for n, v in enumerate(vectors)]
        return {"object": "list", "data": data[::-1], "model": body["model"]}


def reply(handler: BaseHTTPRequestHandler, body: bytes, status: int = 200, **headers: str) -> None:
    """Send a whole answer."""
    handler.send_response(status)
    for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


@contextmanager
def serving() -> Iterator[Server]:
    """A server on a free port of this machine."""
    server = Server()

    class Answers(QuietRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.asked.append(body)
            server.headers.append(dict(self.headers))
            server.paths.append(self.path)
            if server.faults:
                server.faults.pop(0)(self, server.answer(body))
            else:
                reply(self, json.dumps(server.answer(body)).encode())

    with listening(Answers) as address:
        server.url = f"{address}/v1"
        yield server

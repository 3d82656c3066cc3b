"""Tries a served memory behind nginx and Caddy: verbs, large bodies, the feed, MCP, the dashboard, restarts."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Any, Final, Literal

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from mnemic import Memory, Settings
from mnemic.credentials.principal import Right
from mnemic.faces.server.guards import BODY_LIMIT

GUIDE: Final = Path(__file__).parents[1] / "docs/guides/server.md"
NAME: Final = "memory.example"
SERVED: Final = "127.0.0.1:7077"
"""The address of the server in the guide's configurations."""
PATIENCE: Final = 60
WRITES: Final = 20
SECONDS_OF_WRITING: Final = 4.0


def main() -> int:
    """Try each proxy, print what was measured, and return 0 if all of it is as promised."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--proxy", choices=list(PROXIES), action="append", default=[])
    parser.add_argument("--idle", type=float, default=0, help="leave the feed without a commit for so many seconds")
    asked = parser.parse_args()
    failed = 0
    for name in asked.proxy or PROXIES:
        if shutil.which(name) is None:
            parser.error(f"{name} is not installed")
        with ExitStack() as stack:
            site = _site(stack, name)
            for check in (verbs, large_bodies, feed, lambda one: idle_feed(one, asked.idle), mcp, dashboard, restarts):
                try:
                    print(f"{name}: {check(site)}", flush=True)
                except AssertionError as error:
                    failed += 1
                    print(f"{name}: FAILED {error}", flush=True)
    return 1 if failed else 0


@dataclass
class Site:
    """A server, the proxy before it, and the key by which it is asked."""

    proxy: str
    home: Path
    port: int
    served_port: int
    key: str
    process: subprocess.Popen[bytes] = field(init=False)
    reload: tuple[str, ...] = ()

    @property
    def url(self) -> str:
        """What a client would be given."""
        return f"https://{NAME}:{self.port}"

    @property
    def trusted(self) -> ssl.SSLContext:
        """Trusts the certificate of this run alone."""
        return ssl.create_default_context(cafile=str(self.home / "cert.pem"))

    def ask(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Send one request through the proxy."""
        connection = self._connection()
        try:
            response = self._sent(connection, method, path, body, headers)
            return response.status, dict(response.getheaders()), response.read()
        finally:
            connection.close()

    @contextmanager
    def listening(self, mark: str | None) -> Iterator[HTTPResponse]:
        """Open the feed through the proxy."""
        connection = self._connection()
        try:
            headers = {} if mark is None else {"Last-Event-ID": mark}
            yield self._sent(connection, "GET", "/v1/feed", None, headers)
        finally:
            connection.close()

    def start(self) -> None:
        """Serve the store."""
        command = [sys.executable, "-m", "mnemic", "serve", "--port", str(self.served_port), "--allow-host", NAME]
        environment = {**os.environ, "MNEMIC_HOME": str(self.home), "MNEMIC_EMBEDDER": "none"}
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        _listened(self.served_port)

    def stop(self) -> int:
        """End the server as an operator does, and return the code that it exits with."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def _connection(self) -> HTTPSConnection:
        connection = HTTPSConnection(NAME, self.port, timeout=PATIENCE, context=self.trusted)
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        connection.sock = self.trusted.wrap_socket(plain, server_hostname=NAME)
        return connection

    def _sent(
        self, connection: HTTPSConnection, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> HTTPResponse:
        given = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json", **headers}
        connection.request(method, path, body, given)
        return connection.getresponse()


def verbs(site: Site) -> str:
    """Write and recall."""
    status, _, _ = site.ask("POST", "/v1/observe", b'{"messages": "The ferry leaves at nine."}')
    assert status == 200, f"observe: {status}"
    status, _, body = site.ask("GET", "/v1/recall?query=ferry")
    assert (status, len(json.loads(body)["items"])) == (200, 1), f"recall: {status}"
    status, headers, body = site.ask("GET", "/v1/items/" + "0" * 26)
    kind = headers.get("content-type", headers.get("Content-Type"))
    assert (status, kind) == (404, "application/problem+json"), f"a problem: {status}"
    return "verbs and problems pass"


def large_bodies(site: Site) -> str:
    """Send as much as the server takes, and one byte more."""
    answers = []
    for size in (BODY_LIMIT, BODY_LIMIT + 1):
        begun = time.perf_counter()
        status, _, body = site.ask("POST", "/v1/count", b"{}".ljust(size))
        answers.append((status, time.perf_counter() - begun))
    assert [status for status, _ in answers] == [200, 413], f"large bodies: {answers}"
    assert b"urn:mnemic:problem:TooLarge" in body, "413 is not the server's own answer"
    return f"{BODY_LIMIT:,} bytes pass in {answers[0][1] * 1000:.0f} ms, one more is refused by the server"


def feed(site: Site) -> str:
    """Hear of commits, and measure how long after their acknowledgement."""
    heard, acknowledged = dict[int, float](), dict[int, float]()
    with site.listening(None) as stream:
        events = _events(stream)
        assert next(events)[0] == "live", "the feed does not begin"

        def hear() -> None:
            for name, data in events:
                if name == "commit":
                    heard[data["seq"]] = time.perf_counter()
                if len(heard) == WRITES:
                    return

        listener = threading.Thread(target=hear)
        listener.start()
        for number in range(WRITES):
            _, _, body = site.ask("POST", "/v1/write", json.dumps({"text": f"Ferry {number}."}).encode())
            acknowledged[json.loads(body)["seq"]] = time.perf_counter()
        listener.join(PATIENCE)
    assert heard.keys() == acknowledged.keys(), f"heard {len(heard)} of {WRITES} commits"
    late = sorted(heard[seq] - acknowledged[seq] for seq in heard)
    return (
        f"{WRITES} commits are heard {late[WRITES // 2] * 1000:.0f} ms (p50) and {late[-1] * 1000:.0f} ms (most) behind"
    )


def idle_feed(site: Site, seconds: float) -> str:
    """Leave the feed alone, and hear of what comes then."""
    with site.listening(None) as stream:
        events = _events(stream)
        next(events)
        time.sleep(seconds)
        site.ask("POST", "/v1/write", json.dumps({"text": f"After {seconds}."}).encode())
        assert next(events, ("an end", None))[0] == "commit", f"the feed does not live for {seconds:.0f} s"
    return f"the feed goes on after {seconds:.0f} s of silence"


def mcp(site: Site) -> str:
    """Remember and recall by the SDK's client, in both generations of the protocol."""

    async def talk(mode: Literal["auto", "legacy"]) -> str:
        transport = httpx2.AsyncHTTPTransport(verify=site.trusted)
        async with (
            httpx2.AsyncClient(
                transport=transport, headers={"Authorization": f"Bearer {site.key}"}, timeout=PATIENCE
            ) as http,
            Client(streamable_http_client(f"{site.url}/mcp", http_client=http), mode=mode) as client,
        ):
            await client.call_tool("remember", {"text": f"Ada reads {mode}."})
            return str(await client.call_tool("recall", {"query": "What does Ada read?"}))

    for mode in ("auto", "legacy"):
        assert f"Ada reads {mode}." in asyncio.run(talk(mode)), f"MCP {mode}"  # type: ignore[arg-type]
    return "MCP passes, in both generations"


def dashboard(site: Site) -> str:
    """Sign in by a one-time link, and write as the page does."""
    environment = {**os.environ, "MNEMIC_HOME": str(site.home), "MNEMIC_EMBEDDER": "none"}
    command = [sys.executable, "-m", "mnemic", "dashboard", "--no-open", "--port", str(site.served_port)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    link = re.search(r"http://[^/\s]+(/\S+)", done.stdout + done.stderr)
    assert link is not None, f"no link: {done.stdout}{done.stderr}"
    status, headers, _ = site.ask("GET", link[1])
    cookie = headers.get("set-cookie", headers.get("Set-Cookie", ""))
    assert "Secure" in cookie, f"the cookie may go over plain HTTP: {status} {cookie}"
    return "the dashboard's cookie stays on TLS"


def restarts(site: Site) -> str:
    """Write and listen while the server is started anew, and then the proxy's configuration."""
    heard, acknowledged, refused, stopping = list[int](), list[int](), list[int](), threading.Event()

    def write() -> None:
        number = 0
        while not stopping.is_set():
            number += 1
            body = json.dumps({"text": f"Restart {number}.", "key": f"restart-{number}"}).encode()
            while True:
                with suppress(OSError, HTTPException):
                    status, _, answer = site.ask("POST", "/v1/write", body)
                    if status == 200:
                        acknowledged.append(json.loads(answer)["seq"])
                        break
                    refused.append(status)
                time.sleep(0.05)

    def hear(mark: str) -> None:
        while not (stopping.is_set() and set(acknowledged) <= set(heard)):
            with suppress(OSError, HTTPException, ValueError), site.listening(mark) as stream:
                for name, data in _events(stream):
                    if name == "commit":
                        heard.append(data["seq"])
                        mark = str(data["seq"])
                    if stopping.is_set() and set(acknowledged) <= set(heard):
                        return
            time.sleep(0.05)

    _, _, body = site.ask("POST", "/v1/changes", b'{"limit": 1}')
    _, _, body = site.ask("POST", "/v1/write", b'{"text": "Before the restarts."}')
    listener = threading.Thread(target=hear, args=(str(json.loads(body)["seq"]),), daemon=True)
    writer = threading.Thread(target=write)
    writer.start()
    listener.start()
    time.sleep(SECONDS_OF_WRITING / 2)
    assert site.stop() == 0, "the server did not drain"
    site.start()
    time.sleep(SECONDS_OF_WRITING / 2)
    while_serving = len(refused)
    subprocess.run(site.reload, check=True, capture_output=True)
    time.sleep(SECONDS_OF_WRITING)
    stopping.set()
    writer.join(PATIENCE)
    listener.join(PATIENCE)
    assert not listener.is_alive(), f"{len(set(acknowledged) - set(heard))} commits were not heard"
    assert sorted(heard) == sorted(set(heard)), "a commit was heard twice"
    assert len(acknowledged) == len(set(acknowledged)), "a write was made twice"
    reloading = len(refused) - while_serving
    assert not reloading, f"{reloading} requests refused while the proxy was reloaded"
    return (
        f"{len(acknowledged)} writes over a restart and a reload: each there once and heard once; "
        f"{while_serving} answers {sorted(set(refused))} while the server was away"
    )


def _events(stream: HTTPResponse) -> Iterator[tuple[str, Any]]:
    """Read server-sent events until the stream ends."""
    event = dict[str, str]()
    for line in stream:
        name, colon, value = line.decode().rstrip("\n").partition(": ")
        if colon:
            event[name] = value
        elif "event" in event:
            yield event["event"], json.loads(event["data"])
            event = {}


def _nginx(home: Path, port: int, documented: str) -> tuple[str, list[str], list[str]]:
    temporary = "".join(
        f"{one}_temp_path {home}/{one};\n" for one in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;" if os.geteuid() == 0 else ""
    config = f"""{user} daemon off; pid {home}/nginx.pid; error_log {home}/nginx.log; events {{}}
http {{ access_log {home}/access.log; {temporary}
server {{ listen 127.0.0.1:{port} ssl; server_name {NAME};
ssl_certificate {home}/cert.pem; ssl_certificate_key {home}/key.pem;
{documented} }} }}"""
    command = ["nginx", "-c", str(home / "proxy.conf"), "-e", str(home / "nginx.log")]
    return config, command, [*command, "-s", "reload"]


def _caddy(home: Path, port: int, documented: str) -> tuple[str, list[str], list[str]]:
    inside = documented.replace(f"{NAME} {{", f"{NAME}:{port} {{\n    tls {home}/cert.pem {home}/key.pem", 1)
    config = f"{{\n    admin unix//{home}/admin.sock\n    auto_https disable_redirects\n}}\n{inside}"
    which = ["--config", str(home / "proxy.conf"), "--adapter", "caddyfile"]
    return (
        config,
        ["caddy", "run", *which],
        ["caddy", "reload", "--force", *which, "--address", f"unix//{home}/admin.sock"],
    )


PROXIES: Final[Mapping[str, tuple[str, Callable[[Path, int, str], tuple[str, list[str], list[str]]]]]] = {
    "nginx": ("nginx", _nginx),
    "caddy": ("caddyfile", _caddy),
}
"""For each proxy: the language of its block in the guide, and what makes of it a whole configuration and commands."""


def _site(stack: ExitStack, proxy: str) -> Site:
    home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mnemic-proxy-")))
    with Memory(home / "memory.db", settings=Settings(embedder="none")) as memory:
        key = memory.keys.create("app", tenant="default", right=Right.WRITE, user="ada").text
    site = Site(proxy, home, _free_port(), _free_port(), key)
    self_signed = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={NAME}"]
    where = ["-keyout", str(home / "key.pem"), "-out", str(home / "cert.pem"), "-addext", f"subjectAltName=DNS:{NAME}"]
    subprocess.run(["openssl", "req", *self_signed, *where], check=True, capture_output=True)
    language, make = PROXIES[proxy]
    block = re.search(rf"^```{language}\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    assert block is not None, f"the guide has no block of {language}"
    assert SERVED in block[1], f"the block of {language} leads to another address"
    config, command, reload = make(home, site.port, block[1].replace(SERVED, f"127.0.0.1:{site.served_port}"))
    (home / "proxy.conf").write_text(config)
    site.reload = tuple(reload)
    site.start()
    stack.callback(site.stop)
    log = stack.enter_context((home / "proxy.log").open("w"))
    environment = {**os.environ, "HOME": str(home), "XDG_DATA_HOME": str(home), "XDG_CONFIG_HOME": str(home)}
    running = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    stack.callback(running.wait, PATIENCE)
    stack.callback(running.terminate)
    stack.enter_context(_resolved())
    _listened(site.port)
    return site


@contextmanager
def _resolved() -> Iterator[None]:
    """Have the site's name lead to this machine, for clients that look it up."""
    look_up = socket.getaddrinfo

    def here(host: Any, *given: Any, **more: Any) -> Any:
        return look_up("127.0.0.1" if host in (NAME, NAME.encode()) else host, *given, **more)

    socket.getaddrinfo = here  # type: ignore[assignment]
    try:
        yield
    finally:
        socket.getaddrinfo = look_up


def _free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
        return port


def _listened(port: int) -> None:
    """Wait until somebody listens on a port."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.02)
    raise SystemExit(f"nobody listens on port {port}")


if __name__ == "__main__":
    sys.exit(main())

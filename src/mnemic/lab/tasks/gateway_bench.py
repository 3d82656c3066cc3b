"""The gateway between a client and an endpoint: what it adds to a request, what of a prompt stays, what a kill leaves.

The gateway is the command itself, in a process of its own, and so is the endpoint, which answers by a script. Requests
with memory and without go through the same gateway in turn, so that a busy machine weighs on both alike.
"""

from __future__ import annotations

import json
import random
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mnemic.core.queries import Filter
from mnemic.errors import MnemicError
from mnemic.lab.kit.figures import Figure, Measurements
from mnemic.lab.kit.generate import Talk
from mnemic.lab.kit.log import provenance
from mnemic.lab.kit.scripted_upstream import ScriptedUpstream, scripted_upstream
from mnemic.memory import Memory
from mnemic.settings import Settings
from mnemic.store.sqlite.disk import file_system

if TYPE_CHECKING:
    import httpx2

BEYOND_MS: Final = 15.0
"""What a request with memory may take more than one that passes through, at the middle."""
STAYS: Final = 0.95
"""The share of a prompt that must stand at the beginning of the next one of its conversation."""
_WORDS_ALONE: Final = {"MNEMIC_EMBEDDER": "none", "MNEMIC_USER": "me"}
_START_SECONDS: Final = 60.0
_PATH: Final = "/v1/chat/completions"


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayLoad:
    """How much is measured.

    Attributes:
        items: What memory holds beforehand.
        requests: Of each sort.
        turns: Of the conversation whose prompts are compared.
        kills: How often the endpoint is killed amid an answer.
    """

    items: int = 1_000
    requests: int = 200
    turns: int = 40
    kills: int = 100
    seed: int = 0

    @property
    def stated(self) -> bool:
        """Whether it is as much as the bars are stated for."""
        return self.requests >= 200 and self.turns >= 40 and self.kills >= 100


def bench_gateway(load: GatewayLoad = GatewayLoad(), progress: Callable[[str], None] = lambda _: None) -> Measurements:
    """Measure, on a store that is gone afterwards."""
    import httpx2

    with TemporaryDirectory(prefix="mnemic-gateway-") as folder, scripted_upstream() as upstream:
        path = Path(folder) / "memory.db"
        with Memory(path, settings=Settings(embedder="none")) as memory:
            memory.scope(user="me").observe(list(islice(Talk(load.seed).messages(load.items), load.items)))
            memory.flush()
        with _gateway(path, upstream.url) as address, httpx2.Client(base_url=address, timeout=60) as client:
            figures = _latencies(client, load, progress)
            progress("a conversation")
            figures.append(_prefix(client, upstream, load.turns))
        figures += _killed(path, load, progress)
        disk = file_system(Path(folder))
    return Measurements(header={**provenance(), "load": asdict(load), "file_system": disk}, figures=tuple(figures))


@contextmanager
def _gateway(path: Path, upstream: str) -> Iterator[str]:
    """Run `mnemic gateway` until the block is left; yields its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mnemic", "--store", str(path), "gateway", "--upstream", upstream]
    command += ["--port", str(port), "--recall-ms", "5000"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, env=_WORDS_ALONE, stdout=quiet, stderr=quiet) as process:  # noqa: S603 - ourselves
        try:
            _await_start(port, process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(30)


def _await_start(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise MnemicError("the gateway did not start")


def _latencies(client: httpx2.Client, load: GatewayLoad, progress: Callable[[str], None]) -> list[Figure]:
    """Time requests with memory and without in turn: whole ones, and the first byte of streams."""
    questions = [message.text for message in islice(Talk(load.seed + 1).messages(load.requests), load.requests)]
    whole: dict[str, list[float]] = {"off": [], "both": []}
    first: dict[str, list[float]] = {"off": [], "read": []}
    for n, question in enumerate(questions):
        if n % 50 == 0:
            progress(f"request {n} of {load.requests}")
        for mode, times in whole.items():
            began = time.perf_counter()
            client.post(_PATH, json=_body(question), headers={"Mnemic-Memory": mode}).raise_for_status()
            times.append((time.perf_counter() - began) * 1_000)
        for mode, times in first.items():
            began = time.perf_counter()
            body = _body(question, stream=True)
            with client.stream("POST", _PATH, json=body, headers={"Mnemic-Memory": mode}) as response:
                for _ in response.iter_raw():
                    times.append((time.perf_counter() - began) * 1_000)
                    break
    middle = {mode: float(np.median(times)) for mode, times in whole.items()}
    early = {mode: float(np.median(times)) for mode, times in first.items()}
    tail = float(np.percentile(whole["both"], 95) - np.percentile(whole["off"], 95))
    return [
        Figure(
            name="a request beyond a pass-through, p50", value=middle["both"] - middle["off"], unit="ms", bar=BEYOND_MS,
            detail=f"{middle['both']:.1f} against {middle['off']:.1f} ms; {load.items:,} items, no embedder",
        ),
        Figure(name="the same, p95", value=tail, unit="ms"),
        Figure(
            name="first byte of a stream later by, p50", value=early["read"] - early["off"], unit="ms",
            detail=f"{early['read']:.1f} against {early['off']:.1f} ms: the recall",
        ),
    ]  # fmt: skip


def _body(question: str, **more: Any) -> dict[str, Any]:
    return {"model": "scripted", "messages": [{"role": "user", "content": question}], **more}


def _prefix(client: httpx2.Client, upstream: ScriptedUpstream, turns: int) -> Figure:
    """Hold a conversation, and compare each prompt that reached the endpoint with the one before."""
    import httpx2

    messages: list[dict[str, str]] = [{"role": "system", "content": "You are a helpful assistant."}]
    for said in islice(Talk(7).messages(turns), turns):
        messages.append({"role": "user", "content": said.text})
        response = client.post(_PATH, json={"model": "scripted", "messages": messages})
        messages.append(response.raise_for_status().json()["choices"][0]["message"])
    prompts = [_laid_out(body) for body in httpx2.get(f"{upstream.url}/asked").json()[-turns:]]
    shares = [_common(a, b) / len(a) for a, b in pairwise(prompts)]
    blocks = prompts[-1].count("<memory")
    return Figure(
        name="share of a prompt that begins the next", value=min(shares), unit="", bar=STAYS, more=True,
        detail=f"the least of {len(shares)}, mean {np.mean(shares):.3f}; {blocks} blocks of memory in the last",
    )  # fmt: skip


def _laid_out(body: dict[str, Any]) -> str:
    return "\n".join(f"{message['role']}: {message['content']}" for message in body["messages"])


def _common(a: str, b: str) -> int:
    return next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _killed(path: Path, load: GatewayLoad, progress: Callable[[str], None]) -> list[Figure]:
    """Kill the endpoint amid answers; what the client saw of each is there afterwards, once."""
    import httpx2

    dice = random.Random(load.seed)  # noqa: S311 - when to kill, not a secret
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    seen: dict[str, str] = {}
    with _gateway(path, f"http://127.0.0.1:{port}") as address, httpx2.Client(base_url=address, timeout=60) as client:
        for n in range(load.kills):
            if n % 20 == 0:
                progress(f"kill {n} of {load.kills}")
            question = f"canary {load.seed}-{n:04d} asks something"
            with scripted_upstream(port) as upstream:
                seen[question] = _amid(client, upstream, question, dice.randint(1, 30))
    lost = twice = 0
    with Memory(path, settings=Settings(embedder="none", background=False)) as memory:
        me = memory.scope(user="me")
        for question, came in seen.items():
            shelves = [v.item.session for v in me.recall(f'"{question}"', k=5).items if v.item.text == question]
            turns = [v.item.text for v in me.list(where=Filter(session=shelves[0]), limit=10)] if shelves else []
            lost += question not in turns or not any(text.startswith(came.strip()) for text in turns)
            twice += len(turns) > 2
    detail = f"{load.kills} kills of the endpoint amid its answer"
    return [
        Figure(name="questions or words seen that are not kept", value=lost, unit="", bar=0, detail=detail),
        Figure(name="kept more than once", value=twice, unit="", bar=0, detail=detail),
    ]


def _amid(client: httpx2.Client, upstream: ScriptedUpstream, question: str, words: int) -> str:
    """Ask for a stream, and kill the endpoint after so many chunks; returns the words that came."""
    import httpx2

    came = ""
    body = _body(question, stream=True, words=60, gap=2)
    try:
        with client.stream("POST", _PATH, json=body) as response:
            for n, line in enumerate(line for line in response.iter_lines() if line.startswith("data: {")):
                choices = json.loads(line[6:]).get("choices", [])
                came += "".join(choice["delta"].get("content", "") for choice in choices)
                if n == words:
                    upstream.kill()
    except httpx2.HTTPError:
        pass  # the stream broke off before its headers, or in a way that could not be told
    return came

"""The gateway between a client and an endpoint: what it adds to a request, what of a prompt stays, what a kill leaves.

The gateway is the command itself, in a process of its own, and so is the endpoint, which answers by a script. Requests
with memory, without, straight to the endpoint and, where it is at hand, through litellm's proxy go in turn, so that a
busy machine weighs on all alike. The conversation is held with a gateway that is replaced in its middle, by two
processes that answer in turn.
"""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
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
from mnemic.lab.kit.served_process import SAME_CODE
from mnemic.memory import Memory
from mnemic.settings import Settings
from mnemic.store.sqlite.disk import file_system

if TYPE_CHECKING:
    import httpx2

BEYOND_MS: Final = 15.0
"""What a request with memory may take more than one that passes through, at the middle."""
STAYS: Final = 0.95
"""The share of a prompt that must stand at the beginning of the next one of its conversation."""
_WORDS_ALONE: Final = {**SAME_CODE, "MNEMIC_EMBEDDER": "none", "MNEMIC_USER": "me"}
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
        litellm: The command of litellm's proxy; None to leave it out.
    """

    items: int = 1_000
    requests: int = 200
    turns: int = 40
    kills: int = 100
    litellm: str | None = None
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
        with ExitStack() as running:
            doors = {"direct": upstream.url, "gateway": running.enter_context(_gateway(path, upstream.url))}
            if load.litellm is not None:
                doors["litellm"] = running.enter_context(_litellm(load.litellm, upstream.url, Path(folder)))
            clients = {
                door: running.enter_context(httpx2.Client(base_url=url, timeout=60)) for door, url in doors.items()
            }
            figures = _latencies(clients, load, _sync_ms(Path(folder)), progress)
        progress("a conversation")
        figures.append(_prefix(path, upstream, load.turns))
        figures += _killed(path, load, progress)
        disk = file_system(Path(folder))
    return Measurements(header={**provenance(), "load": asdict(load), "file_system": disk}, figures=tuple(figures))


@contextmanager
def _gateway(path: Path, upstream: str, *more: str) -> Iterator[str]:
    """Run `mnemic gateway` until the block is left; yields its address."""
    command = [sys.executable, "-m", "mnemic", "--store", str(path), "gateway", "--upstream", upstream]
    with _listening([*command, "--recall-ms", "5000", *more], "/health", _WORDS_ALONE) as address:
        yield address


@contextmanager
def _litellm(command: str, upstream: str, folder: Path) -> Iterator[str]:
    """Run litellm's proxy before the endpoint until the block is left; yields its address."""
    of = {"model": "openai/scripted", "api_base": f"{upstream}/v1", "api_key": "none"}
    config = folder / "litellm.yaml"
    config.write_text(json.dumps({"model_list": [{"model_name": "scripted", "litellm_params": of}]}))
    alone = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "HOME": str(folder), "PATH": os.defpath}
    given = [command, "--config", str(config), "--host", "127.0.0.1", "--telemetry", "False"]
    with _listening(given, "/health/liveliness", alone) as address:
        yield address


@contextmanager
def _listening(command: list[str], alive: str, environment: dict[str, str]) -> Iterator[str]:
    """Run a server on a free port until the block is left; yields its address once it answers."""
    import httpx2

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address, until, quiet = f"http://127.0.0.1:{port}", time.monotonic() + _START_SECONDS, subprocess.DEVNULL
    command = [*command, "--port", str(port)]
    with subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet) as process:  # noqa: S603 - ours, or named
        try:
            while time.monotonic() < until and process.poll() is None:
                with suppress(httpx2.HTTPError):
                    httpx2.get(f"{address}{alive}").raise_for_status()
                    break
                time.sleep(0.02)
            else:
                raise MnemicError(f"{command[0]} did not start")
            yield address
        finally:
            process.terminate()
            process.wait(30)


def _sync_ms(folder: Path) -> float:
    """How long the disk takes to have a page on it, in milliseconds, at the middle of 50."""
    times = []
    with (folder / "synced").open("wb", buffering=0) as file:
        for _ in range(50):
            file.write(bytes(4_096))
            began = time.perf_counter()
            os.fsync(file.fileno())
            times.append((time.perf_counter() - began) * 1_000)
    return float(np.median(times))


def _latencies(
    clients: Mapping[str, httpx2.Client], load: GatewayLoad, sync_ms: float, progress: Callable[[str], None]
) -> list[Figure]:
    """Time requests through each door in turn: whole ones, and the first byte of streams, each with its own words."""
    gateway = clients["gateway"]
    sorts = {"off": (gateway, "off"), "both": (gateway, "both")}
    sorts |= {door: (client, "off") for door, client in clients.items() if client is not gateway}
    whole: dict[str, list[float]] = {sort: [] for sort in sorts}
    first: dict[str, list[float]] = {"off": [], "read": []}
    asked = (message.text for message in Talk(load.seed + 1).messages(3 * load.requests))
    for n in range(load.requests):
        if n % 50 == 0:
            progress(f"request {n} of {load.requests}")
        question, streamed = next(asked), {"off": next(asked), "read": next(asked)}
        for sort, (client, mode) in sorts.items():
            began = time.perf_counter()
            client.post(_PATH, json=_body(question), headers={"Mnemic-Memory": mode}).raise_for_status()
            whole[sort].append((time.perf_counter() - began) * 1_000)
        for mode, times in first.items():
            began = time.perf_counter()
            body = _body(streamed[mode], stream=True)
            with gateway.stream("POST", _PATH, json=body, headers={"Mnemic-Memory": mode}) as response:
                for _ in response.iter_raw():
                    times.append((time.perf_counter() - began) * 1_000)
                    break
    middle = {sort: float(np.median(times)) for sort, times in (whole | {"first off": first["off"]}).items()}
    middle["first read"] = float(np.median(first["read"]))
    tail = float(np.percentile(whole["both"], 95) - np.percentile(whole["off"], 95))
    return [
        Figure(
            name="a request beyond a pass-through, p50", value=middle["both"] - middle["off"], unit="ms", bar=BEYOND_MS,
            detail=f"{_against(middle, 'both', 'off')}; {load.items:,} items, no embedder, one sync {sync_ms:.1f} ms",
        ),
        Figure(name="the same, p95", value=tail, unit="ms"),
        Figure(
            name="first byte of a stream later by, p50", value=middle["first read"] - middle["first off"], unit="ms",
            detail=f"{_against(middle, 'first read', 'first off')}: the recall",
        ),
        *(
            Figure(
                name=f"a request without memory through {name} beyond a direct one, p50", unit="ms",
                value=middle[door] - middle["direct"], detail=_against(middle, door, "direct"),
            )
            for door, name in (("off", "the gateway"), ("litellm", "litellm's proxy"))
            if door in middle
        ),
    ]  # fmt: skip


def _against(middle: Mapping[str, float], name: str, other: str) -> str:
    return f"{middle[name]:.1f} against {middle[other]:.1f} ms, {middle[name] / middle[other]:.1f} times"


def _body(question: str, **more: Any) -> dict[str, Any]:
    return {"model": "scripted", "messages": [{"role": "user", "content": question}], **more}


def _prefix(path: Path, upstream: ScriptedUpstream, turns: int) -> Figure:
    """Hold a conversation, and compare each prompt that reached the endpoint with the one before.

    After half of it the gateway is started anew, as two processes; each message comes on a connection of its own.
    """
    import httpx2

    messages: list[dict[str, str]] = [{"role": "system", "content": "You are a helpful assistant."}]
    talk = islice(Talk(7).messages(turns), turns)
    for processes, part in (("1", turns // 2), ("2", turns)):
        with _gateway(path, upstream.url, "--workers", processes) as address:
            for said in islice(talk, part):
                messages.append({"role": "user", "content": said.text})
                response = httpx2.post(
                    f"{address}{_PATH}", json={"model": "scripted", "messages": messages}, timeout=60
                )
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

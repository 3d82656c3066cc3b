"""The server beside the verbs it serves: what a request takes beyond its verb, and how many are done in a second.

Rounds alternate: the same reads, adds and recalls over HTTP, in this process by as many threads, and requests to a bare
endpoint of the same framework, so that a busy machine weighs on all alike. The server is the command itself in a
process of its own; its processor time is what its `/metrics` says. What makes the comparison fair:

- What runs behind writes is off on both sides, and is done before each part. It takes the same whichever door a write
  came by, and either process would take it from the other. Two figures are of a server that works behind writes, as
  every server does: durable adds on an idle server, and adds a second.
- A verb's own time is that of as many threads at once, as the bars have it. Threads that contend for the interpreter
  take longer each, so what a request takes beyond the verb of one thread alone stands beside it, without a bar.
- Adds share a commit with those that wait at the same moment, here as there. How many share one is not the same: over
  HTTP some are on their way. That is a cost of the way, and stays in the share.
- A call over MCP stands beside the same tool in process, and beside the least server that the official SDK makes.
- The client is a third process's worth of work on the same machine; its processor time is told in the detail, and is
  neither subtracted from the server's nor added to it.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from shutil import copyfile
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final
from urllib.parse import quote

import numpy as np

from mnemic.core.ids import ItemId
from mnemic.lab.kit.figures import Figure, Measurements
from mnemic.lab.kit.generate import Talk
from mnemic.lab.kit.http_load import Answered, post, send_all
from mnemic.lab.kit.log import provenance
from mnemic.lab.kit.served_process import ServedProcess, bare_server, least_mcp_server, mnemic_server
from mnemic.memory import Memory
from mnemic.settings import Settings
from mnemic.store.sqlite.disk import file_system
from mnemic.tools.toolbox import Toolbox

BEYOND_MS: Final = 0.5
"""Processor time that a request may take beyond its verb."""
SHARE: Final = 0.7
"""Of what is done in process in a second, what must be done over HTTP."""
IDLE_ADD_MS: Final = 60.0
"""What 99 of 100 durable adds may take at most, one after the other."""
BIG: Final = "big"
MCP: Final = "mcp"
_MCP_HEADERS: Final = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
_BATCH: Final = 500
_LONE_SHARE: Final = 10
"""One of so many calls of a round is made by one thread alone, too."""
_SETTINGS: Final = Settings(embedder="none", background=False)
_HITS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeLoad:
    """How much is measured.

    Attributes:
        items: Memories of one user.
        users: Others, who have ten each.
        requests: Of each sort, to a round.
        connections: At once; in process, threads.
        idle: Adds one after the other.
    """

    items: int = 100_000
    users: int = 1_000
    rounds: int = 5
    requests: int = 1_000
    connections: int = 16
    idle: int = 300
    seed: int = 0

    @property
    def stated(self) -> bool:
        """Whether it is as much as the bars are stated for."""
        return self.items >= 100_000 and self.users >= 1_000 and self.rounds * self.requests >= 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class VerbCall:
    """A verb's call, or one of the tool `recall`, which is made over HTTP and in process."""

    verb: str
    user: str
    words: str

    def request(self) -> bytes:
        """Make it a request."""
        if self.verb == MCP:
            params = {"name": "recall", "arguments": {"query": self.words}}
            call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            return post("/mcp", call, {"Mnemic-User": quote(self.user), **_MCP_HEADERS})
        bodies: dict[str, dict[str, object]] = {
            "get": {"id": self.words},
            "observe": {"messages": self.words},
            "recall": {"query": self.words, "k": _HITS},
        }
        return post(f"/v1/{self.verb}", bodies[self.verb], {"Mnemic-User": quote(self.user)})

    def run(self, memory: Memory) -> None:
        """Make it in process."""
        scoped = memory.scope(user=self.user)
        if self.verb == "get":
            scoped.get(ItemId(self.words))
        elif self.verb == "observe":
            scoped.observe(self.words)
        elif self.verb == MCP:
            Toolbox(scoped).call("recall", {"query": self.words})
        else:
            scoped.recall(self.words, k=_HITS)


@dataclass(slots=True)
class _Rounds:
    """What the rounds of one verb measured: requests a second, and milliseconds of processor time for each.

    Attributes:
        lone_cpu: Of the verb by one thread.
        client_cpu: Of the client that sends what is served.
    """

    served: list[float] = field(default_factory=list)
    local: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)
    served_cpu: list[float] = field(default_factory=list)
    local_cpu: list[float] = field(default_factory=list)
    bare_cpu: list[float] = field(default_factory=list)
    lone_cpu: list[float] = field(default_factory=list)
    client_cpu: list[float] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)
    failed: int = 0


def bench_serve(
    load: ServeLoad = ServeLoad(), progress: Callable[[str], None] = lambda _: None, filled: Path | None = None
) -> Measurements:
    """Measure, on a store that is gone afterwards.

    Args:
        filled: A store that another run of as many items and users left: it is copied; made here if it is not there.
    """
    with TemporaryDirectory(prefix="mnemic-serve-") as folder:
        path = Path(folder) / "memory.db"
        if filled is not None and filled.exists():
            copyfile(filled, path)
        else:
            progress("filling")
            with Memory(path, settings=_SETTINGS) as memory:
                _fill(memory, load)
            if filled is not None:
                copyfile(path, filled)
        with Memory(path, settings=_SETTINGS) as memory:
            with mnemic_server(path, background=False) as server:
                figures = _alternated(memory, server, load, progress)
            with mnemic_server(path) as server:
                figures += _working_behind(memory, server, load)
        disk = file_system(Path(folder))
    return Measurements(header={**provenance(), "load": asdict(load), "file_system": disk}, figures=tuple(figures))


def _fill(memory: Memory, load: ServeLoad) -> None:
    said = iter(Talk(load.seed).messages(load.items + 10 * load.users))
    big = memory.scope(user=BIG)
    for begin in range(0, load.items, _BATCH):
        big.observe(list(islice(said, min(_BATCH, load.items - begin))))
    for n in range(load.users):
        memory.scope(user=f"user {n}").observe(list(islice(said, 10)))
    memory.flush()


def calls(memory: Memory, load: ServeLoad, verb: str, salt: int) -> list[VerbCall]:
    """Make the calls of a round: of adds and recalls, half for the user who has much; of reads, all."""
    dice = random.Random(f"{load.seed} {verb} {salt}")  # noqa: S311 - a load, not a secret
    if verb == "get":
        ids = [version.item.id for version in memory.scope(user=BIG).list(limit=100)]
        return [VerbCall(verb=verb, user=BIG, words=dice.choice(ids)) for _ in range(load.requests)]
    said = islice(Talk(dice.randrange(2**31)).messages(load.requests), load.requests)
    users = (BIG if dice.random() < 0.5 else f"user {dice.randrange(load.users)}" for _ in range(load.requests))
    return [VerbCall(verb=verb, user=user, words=message.text) for user, message in zip(users, said, strict=True)]


def _alternated(
    memory: Memory, server: ServedProcess, load: ServeLoad, progress: Callable[[str], None]
) -> list[Figure]:
    figures: list[Figure] = []
    for verb, name in (("get", "read"), ("observe", "add"), ("recall", "recall"), (MCP, "MCP call")):
        warm = calls(memory, load, verb, -1)
        size = send_all(server.port, [call.request() for call in warm], load.connections).size
        _in_process(memory, warm, load.connections)
        rounds = _Rounds()
        with least_mcp_server(size) if verb == MCP else bare_server(size) as bare:
            send_all(bare.port, _bare_requests(warm), load.connections)
            for n in range(load.rounds):
                progress(f"{verb}, round {n + 1} of {load.rounds}")
                made, lone = (calls(memory, load, verb, salt) for salt in (2 * n, 2 * n + 1))
                _round(memory, server, bare, load.connections, made, lone[::_LONE_SHARE], rounds)
        figures += _figures(name, rounds, size)
    return figures


def _round(
    memory: Memory,
    server: ServedProcess,
    bare: ServedProcess,
    connections: int,
    made: Sequence[VerbCall],
    lone: Sequence[VerbCall],
    rounds: _Rounds,
) -> None:
    memory.flush()
    before = time.process_time()
    answered, cpu = _served(server, [call.request() for call in made], connections)
    rounds.client_cpu.append((time.process_time() - before) * 1_000 / len(made))
    rounds.served.append(answered.rate)
    rounds.served_cpu.append(cpu)
    rounds.latencies += answered.latencies
    rounds.failed += answered.failed
    memory.flush()
    rate, cpu = _in_process(memory, made, connections)
    rounds.local.append(rate)
    rounds.local_cpu.append(cpu)
    memory.flush()
    _, cpu = _in_process(memory, lone, 1)
    rounds.lone_cpu.append(cpu)
    answered, cpu = _served(bare, _bare_requests(made), connections)
    rounds.bare.append(answered.rate)
    rounds.bare_cpu.append(cpu)


def _bare_requests(made: Sequence[VerbCall]) -> list[bytes]:
    if made[0].verb == MCP:
        return [call.request() for call in made]
    return [post("/", {"query": call.words, "k": _HITS}, {"Mnemic-User": quote(call.user)}) for call in made]


def _served(server: ServedProcess, requests: Sequence[bytes], connections: int) -> tuple[Answered, float]:
    """Send requests; what came, and the server's milliseconds of processor time for each."""
    before = server.cpu_seconds
    answered = send_all(server.port, requests, connections)
    return answered, (server.cpu_seconds - before) * 1_000 / len(requests)


def _in_process(memory: Memory, made: Sequence[VerbCall], threads: int) -> tuple[float, float]:
    """Make calls by threads; calls a second, and milliseconds of processor time for each."""
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(time.sleep, [0.001] * threads))  # the threads are there
        began, before = time.perf_counter(), time.process_time()
        for _ in pool.map(lambda call: call.run(memory), made):
            pass
        seconds, cpu = time.perf_counter() - began, time.process_time() - before
    return len(made) / seconds, cpu * 1_000 / len(made)


def _figures(name: str, rounds: _Rounds, size: int) -> list[Figure]:
    beyond = median(a - b for a, b in zip(rounds.served_cpu, rounds.local_cpu, strict=True))
    lone = median(a - b for a, b in zip(rounds.served_cpu, rounds.lone_cpu, strict=True))
    share = median(a / b for a, b in zip(rounds.served, rounds.local, strict=True))
    bare = median(a / b for a, b in zip(rounds.served, rounds.bare, strict=True))
    took = f"{median(rounds.served_cpu):.2f} against {median(rounds.local_cpu):.2f} ms"
    rates = f"{median(rounds.served):,.0f} against {median(rounds.local):,.0f} a second"
    by_one = f"which takes {median(rounds.lone_cpu):.2f} ms; the client {median(rounds.client_cpu):.2f} ms a request"
    above = f"{median(rounds.bare):,.0f} a second at {median(rounds.bare_cpu):.2f} ms; {size:,} bytes an answer"
    over_mcp = name == "MCP call"
    beside = "the SDK's least server" if over_mcp else "a bare endpoint"
    article = "an" if name[0] in "aM" else "a"
    return [
        Figure(
            name=f"processor time of {article} {name} beyond the verb", value=beyond, unit="ms",
            bar=None if over_mcp else BEYOND_MS, detail=took,
        ),
        Figure(
            name=f"processor time of {article} {name} beyond the verb by one thread", value=lone, unit="ms",
            detail=by_one,
        ),
        Figure(
            name=f"{name}s beside those in process", value=share, unit="",
            bar=SHARE if name in ("add", "recall") else None, more=True, detail=rates,
        ),
        Figure(name=f"{name}s beside {beside}", value=bare, unit="", detail=above),
        Figure(name=f"{name}, p99", value=float(np.percentile(rounds.latencies, 99)) * 1_000, unit="ms"),
        Figure(name=f"{name}s that were not answered with 2xx", value=rounds.failed, unit="", bar=0),
    ]  # fmt: skip


def _working_behind(memory: Memory, server: ServedProcess, load: ServeLoad) -> list[Figure]:
    """Adds to a server that works behind them: one after the other, and as many at once as there are connections."""
    made = [call.request() for call in calls(memory, load, "observe", -2)]
    times = np.array(send_all(server.port, made[: load.idle], 1).latencies) * 1_000
    many = send_all(server.port, made, load.connections)
    p99 = float(np.percentile(many.latencies, 99)) * 1_000
    return [
        Figure(
            name="durable add on an idle server, p99", value=float(np.percentile(times, 99)), unit="ms",
            bar=IDLE_ADD_MS, detail=f"p50 {np.median(times):.1f} ms, {len(times)} of them",
        ),
        Figure(
            name="adds a second, with work behind", value=many.rate, unit="", more=True,
            detail=f"p99 {p99:.0f} ms, {many.failed} not answered with 2xx",
        ),
    ]  # fmt: skip

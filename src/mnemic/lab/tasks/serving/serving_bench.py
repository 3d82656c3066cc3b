"""How fast a served memory starts and answers, beside the least server of the same SDK and the reference server.

Each server is a process that is spoken to over pipes, as a client does it. Starts are taken in turns, so that a busy
machine weighs on all alike: read the ratios. Run as `python -m mnemic.lab.tasks.serving.serving_bench`.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, TextIO

import click

from mnemic.errors import Invalid
from mnemic.ingest.message import Message
from mnemic.lab.kit.generate import Talk
from mnemic.lab.kit.log import provenance
from mnemic.lab.kit.served_process import SAME_CODE
from mnemic.lab.kit.tables import TextTable, aligned
from mnemic.memory import Memory
from mnemic.models.base import Embedder
from mnemic.models.model_opening import open_embedder
from mnemic.settings import Settings

START_BAR: Final = 0.7
"""Seconds from the spawn to the answer to `initialize`."""
CALL_BAR: Final = 10.0
"""Milliseconds of a call, beside embedding."""
ECHO: Final = "the least server of the SDK"
OURS: Final = "mnemic mcp"
REFERENCE: Final = "the reference server"

_HELLO: Final = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "mnemic-bench", "version": "1"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCommand:
    """A server, how it is started, and a call of one of its tools."""

    name: str
    command: tuple[str, ...]
    tool: str
    arguments: Mapping[str, Any]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class StartTimes:
    """Seconds from the spawn: medians over the rounds.

    Attributes:
        hello: To the answer to `initialize`.
        listed: To the list of tools.
        called: To the answer of the first tool.
        ratio: `hello` over that of the least server in the same round, the median of the rounds.
    """

    name: str
    hello: float
    listed: float
    called: float
    ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTimes:
    """Round trips of one tool over pipes, in milliseconds.

    Attributes:
        embedding: The median that the question's vector takes by itself; 0 without a model.
        beside50, beside95: What is left of each call without that.
    """

    name: str
    p50: float
    p95: float
    embedding: float
    beside50: float
    beside95: float
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingTimes:
    """What a run found, with what it ran on."""

    header: Mapping[str, object]
    starts: tuple[StartTimes, ...]
    calls: tuple[CallTimes, ...]


class PipeClient:
    """The other end of the pipes."""

    def __init__(self, entrant: ServerCommand) -> None:
        self.began = time.perf_counter()
        self._process = subprocess.Popen(  # noqa: S603 - our own command, or the one that was asked for
            entrant.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=dict(entrant.environment),
        )  # fmt: skip
        self._asked = 0
        try:
            self.hello = self._first()
        except BaseException:
            self.close()
            raise

    def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a request.

        Raises:
            Invalid: the server answered with an error, or with nothing.
        """
        self._asked += 1
        with suppress(BrokenPipeError):  # it has ended, which the next line finds
            self._say({"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params})
        while answer := self._hear():
            if answer.get("id") == self._asked:
                return _sound(method, answer)
        raise Invalid("server", f"ended before it answered {method}", "Start it by hand to see why.")

    def call(self, tool: str, arguments: Mapping[str, Any]) -> float:
        """Milliseconds of one call of a tool."""
        began = time.perf_counter()
        self.ask("tools/call", {"name": tool, "arguments": arguments})
        return (time.perf_counter() - began) * 1000

    def since(self) -> float:
        """Seconds since the process was started."""
        return time.perf_counter() - self.began

    def close(self) -> None:
        """Have it end, as a client does: by closing the pipe."""
        with suppress(BrokenPipeError), self._process as process:
            assert process.stdin is not None
            process.stdin.close()

    def _first(self) -> float:
        self.ask("initialize", _HELLO)
        took = self.since()
        self._say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return took

    def _say(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _hear(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {}
        return answer


def bench_serving(
    *,
    rounds: int = 7,
    calls: int = 200,
    items: int = 1_000,
    model: str = "auto",
    reference: Path | None = None,
    node: str = "node",
    seed: int = 0,
    progress: Callable[[str], None] = lambda _: None,
) -> ServingTimes:
    """Starts first, then round trips over `items` remembered turns.

    Args:
        model: The embedder of the second half of the round trips; `none` leaves that half out.
        reference: `index.js` of the reference memory server, if it is to be measured too.
        progress: Called with the name of each part before it runs.
    """
    with tempfile.TemporaryDirectory(prefix="mnemic-serving-") as folder:
        progress("starts")
        measured_starts = starts(list(_entrants(Path(folder), reference, node)), rounds)
        trips = list(_trips(Path(folder), calls, items, model, seed, progress))
    size = {"rounds": rounds, "calls": calls, "items": items, "model": model}
    return ServingTimes(header={**provenance(), "size": size}, starts=tuple(measured_starts), calls=tuple(trips))


def starts(entrants: Sequence[ServerCommand], rounds: int) -> list[StartTimes]:
    """Every server started once a round; the first entrant is the one the others are compared with."""
    took: dict[str, list[tuple[float, float, float]]] = {entrant.name: [] for entrant in entrants}
    for _ in range(rounds):
        for entrant in entrants:
            took[entrant.name].append(_started(entrant))
    base = [hello for hello, _, _ in took[entrants[0].name]]
    return [
        StartTimes(
            name=name,
            hello=statistics.median(hello for hello, _, _ in all_),
            listed=statistics.median(listed for _, listed, _ in all_),
            called=statistics.median(called for _, _, called in all_),
            ratio=statistics.median(pair[0] / other for pair, other in zip(all_, base, strict=True)),
        )
        for name, all_ in took.items()
    ]


def _started(entrant: ServerCommand) -> tuple[float, float, float]:
    client = PipeClient(entrant)
    try:
        client.ask("tools/list", {})
        listed = client.since()
        client.call(entrant.tool, entrant.arguments)
        return client.hello, listed, client.since()
    finally:
        client.close()


def _entrants(folder: Path, reference: Path | None, node: str) -> Iterator[ServerCommand]:
    yield _echo()
    yield ours(folder / "starts.db", "none")
    if reference is not None:
        yield ServerCommand(
            name=REFERENCE,
            command=(node, str(reference)),
            tool="read_graph",
            arguments={},
            environment={"MEMORY_FILE_PATH": str(folder / "memory.jsonl")},
        )


def _echo() -> ServerCommand:
    path = Path(__file__).with_name("echo_server.py")
    return ServerCommand(
        name=ECHO, command=(sys.executable, str(path)), tool="echo", arguments={"text": "hello"}, environment={}
    )


def ours(store: Path, embedder: str) -> ServerCommand:
    """`mnemic mcp` over a store, as a process of its own."""
    return ServerCommand(
        name=OURS,
        command=(sys.executable, "-m", "mnemic", "mcp", "--store", str(store), "--user", "ada"),
        tool="remember",
        arguments={"text": "The ferry leaves at nine."},
        environment={**SAME_CODE, "MNEMIC_EMBEDDER": embedder},
    )


def _trips(
    folder: Path, calls: int, items: int, model: str, seed: int, progress: Callable[[str], None]
) -> Iterator[CallTimes]:
    progress("round trips, words alone")
    yield from _round_trips(folder / "words.db", calls, items, "none", seed)
    if open_embedder(model, Settings()) is not None:
        progress("round trips, with the model")
        yield from _round_trips(folder / "model.db", calls, items, model, seed)


def _round_trips(store: Path, calls: int, items: int, model: str, seed: int) -> list[CallTimes]:
    """One call of each tool in turn, and beside each question the time its vector takes in this process."""
    talk = Talk(seed)
    known = list(talk.messages(items))
    _fill(store, known, model)
    embedder = open_embedder(model, Settings())
    new = islice(talk.messages(calls, prefix="new"), calls)
    took: dict[str, list[tuple[float, float]]] = {"echo": [], "remember": [], "recall": [], "context": []}
    with _running(_echo()) as echo, _running(ours(store, model)) as server:
        for _ in range(5):  # a running server is meant: what the first questions load is in the starts
            server.call("context", {"query": talk.question(known).text})
        for message in new:
            took["echo"].append((echo.call("echo", {"text": message.text}), 0.0))
            took["remember"].append((server.call("remember", {"text": message.text}), 0.0))
            for tool in ("recall", "context"):
                question = talk.question(known).text
                took[tool].append((server.call(tool, {"query": question}), _embedding(embedder, question)))
    suffix = "" if embedder is None else f", {model}"
    return [_summed(f"{ECHO}: echo" if tool == "echo" else tool + suffix, pairs) for tool, pairs in took.items()]


def _fill(store: Path, known: Sequence[Message], model: str) -> None:
    with Memory(store, settings=Settings(embedder=model, background=False)) as memory:
        me = memory.scope(user="ada")
        for n in range(0, len(known), 100):
            me.observe(known[n : n + 100])
        memory.flush()


def _embedding(embedder: Embedder | None, question: str) -> float:
    if embedder is None:
        return 0.0
    began = time.perf_counter()
    embedder.query(question)
    return (time.perf_counter() - began) * 1000


@contextmanager
def _running(entrant: ServerCommand) -> Iterator[PipeClient]:
    client = PipeClient(entrant)
    try:
        yield client
    finally:
        client.close()


def _summed(name: str, pairs: Sequence[tuple[float, float]]) -> CallTimes:
    whole = [call for call, _ in pairs]
    embedding = statistics.median(vector for _, vector in pairs)
    return CallTimes(
        name=name,
        p50=_percentile(whole, 50),
        p95=_percentile(whole, 95),
        embedding=embedding,
        beside50=_percentile(whole, 50) - embedding,
        beside95=_percentile(whole, 95) - embedding,
        calls=len(pairs),
    )


def _percentile(values: Sequence[float], percent: int) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) * percent // 100, len(ordered) - 1)]


def _sound(method: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = answer.get("result", {})
    if "error" in answer or result.get("isError"):
        raise Invalid("server", f"answered {method} with {json.dumps(answer)[:300]}", "See its log.")
    return result


def start_table(served: ServingTimes) -> TextTable:
    """Starts, in the order in which they were asked for."""
    rows = tuple(
        (
            start.name,
            f"{start.hello:.2f}",
            f"{start.ratio:.2f}",
            f"{start.listed:.2f}",
            f"{start.called:.2f}",
            _verdict(start.hello <= START_BAR) if start.name == OURS else "",
        )
        for start in served.starts
    )
    title = "Seconds from the spawn to an answer, medians"
    return TextTable(
        title, ("server", "initialize", "x least", "tools/list", "first call", f"<= {START_BAR:g} s"), rows
    )


def call_table(served: ServingTimes) -> TextTable:
    """Round trips."""
    rows = tuple(
        (
            call.name,
            f"{call.p50:.2f}",
            f"{call.p95:.2f}",
            f"{call.embedding:.2f}" if call.embedding else "",
            f"{call.beside50:.2f}",
            f"{call.beside95:.2f}",
            "" if call.name.startswith(ECHO) else _verdict(call.beside50 <= CALL_BAR),
        )
        for call in served.calls
    )
    title = "Milliseconds of a tool call over pipes"
    columns = ("tool", "p50", "p95", "embedding", "beside it p50", "p95", f"p50 <= {CALL_BAR:g} ms")
    return TextTable(title, columns, rows)


def _verdict(met: bool) -> str:
    return "met" if met else "MISSED"


def show(served: ServingTimes, stream: TextIO, *, as_json: bool = False) -> None:
    """Write the tables, or JSON."""
    if as_json:
        stream.write(json.dumps(asdict(served), indent=2) + "\n")
    else:
        stream.write("\n\n".join(aligned(table) for table in (start_table(served), call_table(served))) + "\n")


@click.command()
@click.option("--rounds", default=7, show_default=True, help="Starts of each server.")
@click.option("--calls", default=200, show_default=True, help="Calls of each tool.")
@click.option("--items", default=1_000, show_default=True, help="Items remembered before.")
@click.option("--model", default="auto", show_default=True, help="Embedder of the second half; `none` leaves it out.")
@click.option("--reference", type=click.Path(path_type=Path, exists=True), help="index.js of the reference server.")
@click.option("--node", default="node", show_default=True, help="What runs it.")
@click.option("--seed", default=0, show_default=True, help="Of the made-up text.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def main(
    rounds: int, calls: int, items: int, model: str, reference: Path | None, node: str, seed: int, *, as_json: bool
) -> None:
    """Measure how fast `mnemic mcp` starts and answers, beside its baselines."""
    served = bench_serving(
        rounds=rounds,
        calls=calls,
        items=items,
        model=model,
        reference=reference,
        node=node,
        seed=seed,
        progress=lambda part: click.echo(f"{part} ...", err=True),
    )
    show(served, sys.stdout, as_json=as_json)


if __name__ == "__main__":
    main()

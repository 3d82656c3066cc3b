"""The memory server of MCP's authors and mnemic side by side: the same random operations, the same answers.

Run by `scripts/differential reference`, which fetches the server. After each operation that may have written something
the whole graph is read from both. A sound operation must give the same text, the same structured answer, or the same
error; a malformed one must be refused by both, in whatever words. What no item can hold (a NUL, half a surrogate pair,
more than `item_limit`) and what mnemic masks is left out: there they differ on purpose.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

from mnemic import Memory
from mnemic.tools import Toolbox

NAMES = (
    "Ada", "ada", "ADA", "阿达", "小明", "", " ", "\n", 'quo"te', "back\\slash", "tab\tbed", "line\nbreak", "İstanbul",
    "ΣΊΣΥΦΟΣ", "straße", "na\u00efve", "nai\u0308ve", "👩‍🚀", "sep\u2028arated", "bell\x07", "del\x7f", "__proto__",
    "constructor", "a (b)", "null", "0", "\\u0041",
)  # fmt: skip
TYPES = ("person", "人物", "", "Person", "a type, with words", '"', "\t")
TEXTS = (
    "likes tea", "Likes Tea", "喜欢喝茶", "", " ", '""', "\n", 'said "no"', "two\nlines", "😀", "\\", "e\u0301",
    "\u00e9", "\u2029", "Ada", "null", "x" * 80, "{}", "\x1f", " padded ", "ÀÉÎ",
)  # fmt: skip
VERBS = ("knows", "works_at", "认识", "", "is part of", "KNOWS", "__")
QUERIES = (*NAMES, *TEXTS, *TYPES, "A", "é", "i̇", "σ", "SS", "茶", "zzz")
WRONG = (None, 7, True, "text", [], {}, ["text"], {"name": "Ada"})


@dataclass(frozen=True)
class Operation:
    """One call; a malformed one must be refused."""

    tool: str
    arguments: dict[str, Any]
    malformed: bool = False


@dataclass(frozen=True)
class Answer:
    """What a call came back with."""

    failed: bool
    text: str
    data: Any


Peer = Callable[[Operation], Awaitable[Answer]]
Opening = Callable[[], AbstractAsyncContextManager[Peer]]
READ = Operation("read_graph", {})


# Operations


def operations(seed: int, count: int) -> Iterator[Operation]:
    """Random calls over few names and texts, so that they meet; about one in fifteen is malformed."""
    random = Random(seed)
    tools, weights = zip(*_WEIGHTS.items(), strict=True)
    for _ in range(count):
        tool = random.choices(tools, weights)[0]
        operation = Operation(tool, _ARGUMENTS[tool](random))
        yield _malformed(operation, random) if random.random() < 0.07 else operation


def _one(random: Random, among: Sequence[str]) -> str:
    """Every other time one of the first few, so that they meet."""
    return random.choice(among[:5] if random.random() < 0.5 else among)


def _some(random: Random, among: Sequence[str], most: int) -> list[str]:
    return [_one(random, among) for _ in range(random.randint(0, most))]


def _many(random: Random, one: Callable[[Random], dict[str, Any]]) -> list[dict[str, Any]]:
    """Up to four, now and then one of them twice."""
    found = [one(random) for _ in range(random.choice((0, 1, 1, 1, 2, 3)))]
    return [*found, random.choice(found)] if found and random.random() < 0.4 else found


def _entity(random: Random) -> dict[str, Any]:
    entity = {
        "name": _one(random, NAMES),
        "entityType": _one(random, TYPES),
        "observations": _some(random, TEXTS, 4),
    }
    return {**entity, "confidence": 1} if random.random() < 0.05 else entity


def _relation(random: Random) -> dict[str, Any]:
    return {"from": _one(random, NAMES), "to": _one(random, NAMES), "relationType": _one(random, VERBS)}


def _added(random: Random) -> dict[str, Any]:
    return {"entityName": _one(random, NAMES), "contents": _some(random, TEXTS, 4)}


def _taken_out(random: Random) -> dict[str, Any]:
    return {"entityName": _one(random, NAMES), "observations": _some(random, TEXTS, 8)}


_ARGUMENTS: dict[str, Callable[[Random], dict[str, Any]]] = {
    "create_entities": lambda random: {"entities": _many(random, _entity)},
    "create_relations": lambda random: {"relations": _many(random, _relation)},
    "add_observations": lambda random: {"observations": _many(random, _added)},
    "delete_entities": lambda random: {"entityNames": _some(random, NAMES, 4)},
    "delete_observations": lambda random: {"deletions": _many(random, _taken_out)},
    "delete_relations": lambda random: {"relations": [_relation(random) for _ in range(random.randint(0, 20))]},
    "read_graph": lambda random: random.choice(({}, {"unasked": 1})),
    "search_nodes": lambda random: {"query": random.choice(QUERIES)},
    "open_nodes": lambda random: {"names": _some(random, NAMES, 5)},
}
_WEIGHTS = {
    "create_entities": 24, "create_relations": 18, "add_observations": 26, "delete_entities": 14,
    "delete_observations": 8, "delete_relations": 5, "read_graph": 1, "search_nodes": 8, "open_nodes": 6,
}  # fmt: skip


def _malformed(operation: Operation, random: Random) -> Operation:
    """The same call with one field gone or of another type."""
    arguments = json.loads(json.dumps(operation.arguments))
    places = list(_places(arguments))
    if operation.tool == "read_graph" or not places:
        return operation
    inside, place = random.choice(places)
    if isinstance(inside, dict) and random.random() < 0.4:
        del inside[place]
    else:
        before = type(inside[place])
        inside[place] = random.choice([wrong for wrong in WRONG if type(wrong) is not before])
    return Operation(operation.tool, arguments, malformed=True)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every field and list place in some arguments that the tool reads."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for place, one in list(inside):
        if place != "confidence":
            yield value, place
            yield from _places(one)


# The two that are asked


@asynccontextmanager
async def speaking(command: str, *arguments: str, **environment: str) -> AsyncIterator[Peer]:
    """A server over stdio, asked through the official client."""
    from mcp import Client, MCPError, StdioServerParameters, stdio_client

    server = StdioServerParameters(command=command, args=list(arguments), env={**os.environ, **environment})
    with Path(os.devnull).open("w") as unread:
        async with Client(stdio_client(server, errlog=unread), read_timeout_seconds=60) as client:

            async def answer(operation: Operation) -> Answer:
                try:
                    result = await client.call_tool(operation.tool, operation.arguments)
                except MCPError as error:
                    return Answer(failed=True, text=str(error), data=None)
                text = "".join(getattr(block, "text", "") for block in result.content)
                return Answer(failed=bool(result.is_error), text=text, data=result.structured_content)

            yield answer


@asynccontextmanager
async def toolbox() -> AsyncIterator[Peer]:
    """mnemic in this process, its store in memory."""
    with Memory("memory:", embedder="none") as memory:
        box = Toolbox(memory.scope(user="ada"), "reference")

        async def answer(operation: Operation) -> Answer:
            result = box.call(operation.tool, operation.arguments)
            return Answer(failed=result.failed, text=result.text, data=result.data)

        yield answer


@asynccontextmanager
async def mnemic_server() -> AsyncIterator[Peer]:
    """`mnemic mcp` over stdio, its store in a file of its own."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {"MNEMIC_STORE": str(Path(folder) / "m.db"), "MNEMIC_EMBEDDER": "none"}
        async with speaking(sys.executable, "-m", "mnemic", "mcp", "--profile", "reference", **environment) as peer:
            yield peer


def reference_server(path: str) -> Opening:
    """The reference server at `path`, its graph in a file of its own."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Peer]:
        with tempfile.TemporaryDirectory() as folder:
            async with speaking("node", path, MEMORY_FILE_PATH=str(Path(folder) / "memory.jsonl")) as peer:
                yield peer

    return opened


# Comparing


def differ(operation: Operation, theirs: Answer, ours: Answer) -> bool:
    """Whether two answers are not the same; of what is malformed only that it is refused counts."""
    if operation.malformed:
        return not (theirs.failed and ours.failed)
    return theirs != ours


@dataclass
class Difference:
    """The first operation that was answered differently, by its place."""

    place: int
    operation: Operation
    theirs: Answer
    ours: Answer


async def first_difference(
    asked: Sequence[Operation], theirs: Peer, ours: Peer, seen: Counter[str] | None = None
) -> Difference | None:
    """The first difference of two peers that start empty; after each operation all of the graph is read from both."""
    for place, operation in enumerate(asked):
        for one in (operation, READ):
            answers = await theirs(one), await ours(one)
            if differ(one, *answers):
                return Difference(place, one, *answers)
            if seen is not None and one is operation:
                seen[operation.tool] += 1
                seen["refused"] += answers[0].failed
                seen["malformed"] += operation.malformed
    return None


async def shrunk(asked: list[Operation], theirs: Opening, ours: Opening) -> tuple[list[Operation], Difference | None]:
    """As few of the operations as still differ; each trial is made by two peers that start empty."""

    async def tried(some: list[Operation]) -> Difference | None:
        async with theirs() as them, ours() as us:
            return await first_difference(some, them, us)

    found = await tried(asked)
    size = len(asked) // 2
    while found is not None and size:
        for start in range(0, len(asked), size):
            fewer = asked[:start] + asked[start + size :]
            if fewer and (other := await tried(fewer)) is not None:
                asked, found = fewer, other
                break
        else:
            size //= 2
    return asked, found


# The command


async def compare(arguments: argparse.Namespace) -> int:
    """Ask both; 1 if an answer differs."""
    theirs = reference_server(arguments.server)
    ours = toolbox if arguments.through == "toolbox" else mnemic_server
    asked = list(operations(arguments.seed, arguments.operations))
    seen: Counter[str] = Counter()
    began = time.perf_counter()
    async with theirs() as them, ours() as us:
        found = await first_difference(asked, them, us, seen)
    if found is None:
        counts = ", ".join(f"{count} {name}" for name, count in sorted(seen.items()))
        print(f"{len(asked)} operations, 0 differences (seed {arguments.seed}, through {arguments.through}): {counts}")
        print(f"the graph read from both after each of them; {time.perf_counter() - began:.0f} s")
        return 0
    print(f"operation {found.place} differs (seed {arguments.seed}, through {arguments.through}); fewest that do:")
    few, again = await shrunk(asked[: found.place + 1], theirs, ours)
    for operation in few[-20:]:
        print(" ", json.dumps(asdict(operation), ensure_ascii=False))
    for who, answer in (("theirs", (again or found).theirs), ("ours", (again or found).ours)):
        print(f"{who} to {(again or found).operation.tool}: {answer}")
    return 1


async def record(arguments: argparse.Namespace) -> int:
    """Write down what the reference answers, the graph read now and then."""
    header = {"server": _version(arguments.server), "seed": arguments.seed}
    lines = [json.dumps(header)]
    async with reference_server(arguments.server)() as them:
        for place, operation in enumerate(operations(arguments.seed, arguments.operations)):
            for one in (operation, READ) if place % 10 == 9 else (operation,):
                answer = await them(one)
                lines.append(json.dumps({**asdict(one), **asdict(answer)}))
    Path(arguments.record).write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines) - 1} answers of {header['server']} written to {arguments.record}")
    return 0


def _version(server: str) -> str:
    package = json.loads((Path(server).parent.parent / "package.json").read_text())
    return f"{package['name']} {package['version']}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/differential reference", description=__doc__)
    parser.add_argument("--server", required=True, help="the reference server's index.js")
    parser.add_argument("--operations", type=int, help="how many (2,000; of a recording 300)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--through", choices=("toolbox", "stdio"), default="stdio", help="how mnemic is asked")
    parser.add_argument("--record", metavar="FILE", help="only write down what the reference server answers")
    arguments = parser.parse_args()
    arguments.operations = arguments.operations or (300 if arguments.record else 2_000)
    return asyncio.run(record(arguments) if arguments.record else compare(arguments))


if __name__ == "__main__":
    sys.exit(main())

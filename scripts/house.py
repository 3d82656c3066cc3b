"""Measure the structure of a checkout: the ways of eight verbs, circles, names that stand twice, lines by folder.

The verbs run on a small store in a temporary folder, each once before it is counted, so that what is counted is the
way of every later call. A function counts once for each verb; a move is a call, or a generator going on, from a
function in one file of the package to a function in another.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BESIDE = ("lab", "testing")
"""Folders that do not ship memory: benchmarks and tests' tools."""
COMMON = ("base", "command", "__init__", "__main__")
"""Base names that several modules may share."""


@dataclass
class Way:
    """What one call of a verb passes through, and what it asks of SQLite."""

    files: set[str] = field(default_factory=set)
    functions: set[tuple[str, str]] = field(default_factory=set)
    moves: int = 0
    statements: int = 0
    reads: int = 0
    writes: int = 0

    def row(self) -> dict[str, int]:
        """The counts, by name."""
        return {
            "files": len(self.files),
            "functions": len(self.functions),
            "moves": self.moves,
            "statements": self.statements,
            "read transactions": self.reads,
            "write transactions": self.writes,
        }


class Follower:
    """Follows calls through the package, and statements to SQLite, while it is entered."""

    def __init__(self, source: Path) -> None:
        self._home = str(source) + "/"
        self._way = Way()
        self._on = False

    def connected(self, connection: Any) -> None:
        """Listen to a connection's statements."""
        import apsw

        connection.trace_v2(apsw.SQLITE_TRACE_STMT, self._stated)

    def follow(self, call: Callable[[], object]) -> Way:
        """The way of one call."""
        self._way, self._on = Way(), True
        sys.setprofile(self._called)
        try:
            call()
        finally:
            sys.setprofile(None)
            self._on = False
        return self._way

    def _stated(self, event: dict[str, Any]) -> None:
        if self._on and not event["trigger"]:
            self._way.statements += 1
            words = event["sql"].split()
            if words[:2] == ["BEGIN", "IMMEDIATE"]:
                self._way.writes += 1
            elif words[:1] == ["BEGIN"]:
                self._way.reads += 1

    def _called(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call" or not frame.f_code.co_filename.startswith(self._home):
            return
        name = frame.f_code.co_filename.removeprefix(self._home)
        self._way.files.add(name)
        self._way.functions.add((name, frame.f_code.co_qualname))
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(self._home):
            caller = caller.f_back
        if caller is not None and caller.f_code.co_filename != frame.f_code.co_filename:
            self._way.moves += 1


def ways(source: Path) -> dict[str, Way]:
    """The ways of the verbs of the package in `source`."""
    sys.path.insert(0, str(source.parent))
    import apsw

    follower = Follower(source)
    apsw.connection_hooks.append(follower.connected)
    from mnemic import Memory
    from mnemic import __file__ as found
    from mnemic.settings import Settings

    if Path(found).parent != source:
        raise SystemExit(f"error: measured would be {found}, not {source}")
    with (
        tempfile.TemporaryDirectory() as home,
        Memory(Path(home) / "memory.db", settings=Settings(background=False), embedder="none") as memory,
    ):
        return _followed(follower, memory, memory.scope(user="ada"))


def _followed(follower: Follower, memory: Any, me: Any) -> dict[str, Way]:
    for n in range(200):
        me.observe(f"On day {n} Ada saw {n % 17} herons by the river near Lisbon.", speaker="Ada")
    memory.flush()
    counter = iter(range(10_000))

    def observed() -> Any:
        return me.observe(f"Ada counted {next(counter)} storks.", speaker="Ada")

    def wrote() -> Any:
        return me.write(f"Ada's lucky number is {next(counter)}.")

    def prepared(make: Callable[[], Any], act: Callable[[Any], object]) -> tuple[Callable[[], object], ...]:
        made: list[Any] = []
        return (lambda: made.append(make())), (lambda: act(made.pop()))

    def nothing() -> None:
        """No preparation."""

    kept = observed().ids[0]
    plan: dict[str, tuple[Callable[[], object], ...]] = {
        "get": (nothing, lambda: me.get(kept)),
        "observe": (nothing, observed),
        "write": (nothing, wrote),
        "undo": prepared(wrote, lambda receipt: me.undo(receipt.seq)),
        "erase": prepared(wrote, lambda receipt: me.erase(receipt.ids[0])),
        "forget 50": prepared(lambda: [observed().ids[0] for _ in range(50)], lambda ids: me.forget(*ids)),
        "pin 20": prepared(lambda: [observed().ids[0] for _ in range(20)], lambda ids: me.pin(*ids)),
        "recall": (nothing, lambda: me.recall("how many herons did Ada see?")),
        "ask": (nothing, lambda: me.ask("how many herons did Ada see?")),
        "context": (nothing, lambda: me.context("how many herons did Ada see?")),
        "context after a write": (observed, lambda: me.context("how many herons did Ada see?")),
    }
    followed = {}
    for verb, (before, act) in plan.items():
        for _ in range(2):
            before()
            act()
        memory.flush()
        before()
        followed[verb] = follower.follow(act)
    return followed


@dataclass
class Module:
    """One file of the package, parsed."""

    name: str
    tree: ast.Module
    lines: int


def modules(source: Path) -> list[Module]:
    """Every module below `source`, by name."""
    texts = {path: path.read_text() for path in sorted(source.rglob("*.py"))}
    return [
        Module(".".join(("mnemic", *path.relative_to(source).with_suffix("").parts)), ast.parse(text), text.count("\n"))
        for path, text in texts.items()
    ]


def imports(house: list[Module]) -> dict[str, set[str]]:
    """Which modules each module imports, anywhere in it."""
    names = {module.name.removesuffix(".__init__") for module in house}
    arrows: dict[str, set[str]] = {}
    for module in house:
        named = set()
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Import):
                named |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module is not None:
                named |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
                named -= {node.module} if all(f"{node.module}.{a.name}" in names for a in node.names) else set()
        own = module.name.removesuffix(".__init__")
        arrows[own] = {name for name in named if name in names} - {own}
    return arrows


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that can reach each other (Tarjan's algorithm), largest first."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = low[name] = len(order)
        stack.append(name)
        for target in sorted(arrows[name]):
            if target not in order:
                visit(target)
                low[name] = min(low[name], low[target])
            elif target in stack:
                low[name] = min(low[name], order[target])
        if low[name] == order[name]:
            group = []
            while not group or group[-1] != name:
                group.append(stack.pop())
            groups.append(sorted(group))

    sys.setrecursionlimit(10_000)
    for name in sorted(arrows):
        if name not in order:
            visit(name)
    return sorted((group for group in groups if len(group) > 1), key=len, reverse=True)


def folder(name: str) -> str:
    """The folder of a module: the first part below the package, or the module itself where it lies beside them."""
    return name.split(".")[1] if "." in name else name


def up_arrows(house: list[Module], arrows: dict[str, set[str]]) -> list[str]:
    """Pairs of folders that import each other."""
    inside = {folder(m.name) for m in house if m.name.count(".") > 1}
    pairs = {(folder(a), folder(b)) for a, targets in arrows.items() for b in targets if folder(a) != folder(b)}
    return sorted(f"{a} - {b}" for a, b in pairs if a < b and (b, a) in pairs and {a, b} & inside)


def shared_base_names(house: list[Module]) -> list[str]:
    """Base names that several modules share, but for those that each folder may have; with where they stand."""
    places: dict[str, list[str]] = {}
    for module in house:
        places.setdefault(module.name.rsplit(".", 1)[1], []).append(module.name)
    return [f"{name}: {', '.join(at)}" for name, at in sorted(places.items()) if len(at) > 1 and name not in COMMON]


def shared_type_names(house: list[Module]) -> list[str]:
    """Names that several public classes share, with the modules they stand in."""
    places: dict[str, list[str]] = {}
    for module in house:
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(module.name)
    return [f"{name}: {', '.join(at)}" for name, at in sorted(places.items()) if len(at) > 1]


def to_write(house: list[Module]) -> dict[str, int]:
    """The methods that a new store must write, by class of `store/`: a protocol's, and abstract ones."""
    counts: dict[str, int] = {}
    for module in house:
        beside = module.name.startswith("mnemic.store.sqlite.")
        for node in ast.walk(module.tree) if module.name.startswith("mnemic.store.") and not beside else ():
            if isinstance(node, ast.ClassDef):
                protocol = any(ast.unparse(base).startswith("Protocol") for base in node.bases)
                bare = [f for f in node.body if isinstance(f, ast.FunctionDef) and _is_bare(f, protocol=protocol)]
                if bare:
                    counts[f"{module.name.removeprefix('mnemic.')}.{node.name}"] = len(bare)
    return counts


def _is_bare(function: ast.FunctionDef, *, protocol: bool) -> bool:
    last = function.body[-1]
    abstract = any(ast.unparse(decorator) == "abstractmethod" for decorator in function.decorator_list)
    return abstract or (protocol and isinstance(last, ast.Expr) and isinstance(last.value, ast.Constant))


def measured(source: Path) -> dict[str, Any]:
    """Everything, as values for JSON."""
    house = modules(source)
    arrows = imports(house)
    lines: Counter[str] = Counter()
    for module in house:
        lines[folder(module.name) if module.name.count(".") > 1 else "(top)"] += module.lines
    return {
        "ways": {verb: way.row() for verb, way in ways(source).items()},
        "lines": dict(sorted(lines.items())) | {"all": sum(lines.values())},
        "lines without lab and testing": sum(n for name, n in lines.items() if name not in BESIDE),
        "files": len(house),
        "circles of files": [" - ".join(group) for group in circles(arrows)],
        "folders that import each other": up_arrows(house, arrows),
        "modules of one name": shared_base_names(house),
        "public types of one name": shared_type_names(house),
        "methods a new store must write": to_write(house),
    }


def printed(now: dict[str, Any], before: dict[str, Any] | None) -> None:
    """Print figures as a table; with those of an earlier state, theirs first."""

    def pair(new: object, old: object) -> str:
        return f"{new}" if before is None else f"{old} -> {new}"

    def count(figures: dict[str, Any] | None, key: str) -> object:
        value = {} if figures is None else figures[key]
        return sum(value.values()) if isinstance(value, dict) else len(value) if isinstance(value, list) else value

    columns = list(next(iter(now["ways"].values())))
    print("| verb | " + " | ".join(columns) + " |\n|---" + "|---" * len(columns) + "|")
    for verb, row in now["ways"].items():
        old = (before or {}).get("ways", {}).get(verb, {})
        print(f"| {verb} | " + " | ".join(pair(row[c], old.get(c, "?")) for c in columns) + " |")
    print()
    for key in [key for key in now if key not in ("ways", "lines")]:
        print(f"{key}: {pair(count(now, key), count(before, key))}")
        if isinstance(now[key], list):
            for row in now[key]:
                print(f"    {row}")
    folders = sorted({*now["lines"], *(before or now)["lines"]} - {"all"})
    print("lines by folder:")
    for name in [*folders, "all"]:
        print(f"    {name:12} {pair(now['lines'].get(name, 0), (before or now)['lines'].get(name, 0))}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="scripts/house", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--source", type=Path, default=ROOT / "src" / "mnemic", help="the package to measure")
    parser.add_argument("--against", type=Path, help="JSON of an earlier state, to print beside this one")
    arguments = parser.parse_args()
    now = measured(arguments.source.resolve())
    if arguments.json:
        print(json.dumps(now, indent=1))
    else:
        printed(now, json.loads(arguments.against.read_text()) if arguments.against else None)


if __name__ == "__main__":
    main()

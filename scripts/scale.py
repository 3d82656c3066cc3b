#!/usr/bin/env python3
"""Compute the plans of docs/scale.md: how many nodes so many items take, of what, and what gives out first.

Nothing is measured here: what was measured stands in `MEASURED`, each with how. What is assumed are the options. The
share of questions that meet a catalogue at hand is simulated: users come by Zipf's law to servers that keep as many
catalogues as fit their memory, and forget the one that was not asked for longest.
"""

from __future__ import annotations

import argparse
import math
import random
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from itertools import accumulate
from pathlib import Path

MEASURED = {
    "bytes of an item, words": (1_671, "messages of some twenty words, one commit each; in commits of 100 it is 1,286"),
    "bytes of its vector (384 numbers)": (975, "with its index"),
    "bytes of its packs": (320, "catalogue and signs, made by the worker"),
    "bytes of an item in a catalogue": (642, "in the memory of a server, with nothing else of it at hand"),
    "ms of a core, warm recall, database": (2.5, "1,100 items, by words"),
    "ms of a core, warm recall, server": (6.7, "the same"),
    "ms of a core, cold recall, database": (6.3, "the same, its catalogue read anew"),
    "ms of a core, cold recall, server": (18.9, "the same"),
    "ms of a core, observe, database": (1.8, "one message, one caller"),
    "ms of a core, observe, server": (2.9, "the same"),
    "ms of a core, an item understood, database": (0.14, "words alone, 500 items of a user at a time"),
    "ms of a core, an item understood, worker": (0.82, "the same; a model that embeds or reads takes its own time"),
}
EACH_OF_A_PRIMARY = 2
"""Processes of either sort that a primary has at least: one may end."""
_USERS, _QUESTIONS = 20_000, 60_000
_BEGIN, _END = "<!-- scripts/scale.py -->", "<!-- end -->"


def assumed(value: float, words: str, unit: str = "") -> float:
    return field(default=value, metadata={"words": words, "unit": unit})


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """What a plan supposes; each is an option of its name."""

    items_per_user: float = assumed(1_000, "items of a user")
    questions_a_day: float = assumed(3, "questions of a user in a day")
    items_a_day: float = assumed(6, "items of a user in a day")
    busiest_hour: float = assumed(3, "busiest hour beside the mean")
    users_in_an_hour: float = assumed(0.1, "users who ask in a busy hour", "share")
    core_share: float = assumed(0.5, "of a core, what may be used", "share")
    node_cores: float = assumed(8, "cores of a node")
    node_memory: float = assumed(64, "memory of a node", "GB")
    node_disk: float = assumed(1_000, "disk of a node", "GB")
    catalogue_memory: float = assumed(24, "of a server's memory, for catalogues", "GB")
    hot_share: float = assumed(0.15, "of a database, read in a busy hour, to be in its memory", "share")
    room: float = assumed(0.4, "room beside the data, for dead rows and a rewriting", "share")


def measured(name: str) -> float:
    return float(MEASURED[name][0])


def warm_share(servers: int, kept: float, *, by_user: bool, zipf: float = 0.8, seed: int = 1) -> float:
    """Simulate the share of questions whose catalogue is at hand.

    Args:
        kept: How many catalogues a server keeps, as a share of all users who come.
        by_user: Whether a user always comes to the same server.
    """
    dice = random.Random(seed)
    weights = list(accumulate((rank + 1) ** -zipf for rank in range(_USERS)))
    most = max(1, int(kept * _USERS))
    at_hand: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(servers)]
    warm = 0
    for number in range(_QUESTIONS):
        user = bisect_left(weights, dice.random() * weights[-1])
        server = at_hand[user % servers if by_user else dice.randrange(servers)]
        if user in server:
            server.move_to_end(user)
            warm += number >= _QUESTIONS // 2  # by then memories are full
        else:
            server[user] = None
            if len(server) > most:
                server.popitem(last=False)
    return warm / (_QUESTIONS - _QUESTIONS // 2)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The nodes that so many items take."""

    users: float
    asks: float
    writes: float
    data: float
    primaries: int
    used: dict[str, float]
    """Of each primary's node, the share that is used of what it has, by the name of that."""
    servers: int
    workers: int
    nodes: int
    """Of servers and workers together."""
    catalogues: float
    """Bytes of those of everybody who asks in a busy hour."""
    warm: tuple[float, float]
    """The share of questions that are, where a user comes to the same server, and where to any."""

    @property
    def first(self) -> str:
        """What breaks first."""
        return max(self.used, key=lambda name: self.used[name])


def plan(items: int, given: Assumptions = Assumptions()) -> Plan:
    """Work out the nodes for so many items."""
    users = items / given.items_per_user
    per_item = sum(MEASURED[name][0] for name in MEASURED if name.startswith("bytes") and "catalogue" not in name)
    data = items * per_item
    busy = given.busiest_hour / 86_400
    asks, writes = users * given.questions_a_day * busy, users * given.items_a_day * busy
    catalogues = users * given.users_in_an_hour * measured("bytes of an item in a catalogue") * given.items_per_user

    def busy_cores(warm: float, where: str) -> float:
        recall = warm * measured(f"ms of a core, warm recall, {where}")
        recall += (1 - warm) * measured(f"ms of a core, cold recall, {where}")
        used = asks * recall + writes * measured(f"ms of a core, observe, {where}")
        if where == "database":
            used += writes * measured("ms of a core, an item understood, database")
        return used / 1_000

    needs = {
        "disk": data * (1 + given.room) / (given.node_disk * 1e9),
        "memory": data * given.hot_share / (given.node_memory * 1e9 * 0.75),
        "cores": busy_cores(0, "database") / (given.node_cores * given.core_share),  # if every question were cold
    }
    primaries = max(1, math.ceil(max(needs.values())))

    def processes(cores: float) -> int:
        """Processes that use so much, each of one core and of one primary."""
        return primaries * max(EACH_OF_A_PRIMARY, math.ceil(cores / given.core_share / primaries))

    servers = processes(busy_cores(0, "server"))
    workers = processes(writes * measured("ms of a core, an item understood, worker") / 1_000)
    nodes = max(
        EACH_OF_A_PRIMARY,
        math.ceil(catalogues / (given.catalogue_memory * 1e9)),
        math.ceil((servers + workers) / given.node_cores),
    )
    kept = min(1.0, nodes * given.catalogue_memory * 1e9 / servers / (catalogues / primaries))
    warm = [warm_share(servers // primaries, kept, by_user=by_user) for by_user in (True, False)]
    return Plan(
        users=users, asks=asks, writes=writes, data=data, primaries=primaries,
        used={name: need / primaries for name, need in needs.items()},
        servers=servers, workers=workers, nodes=nodes, catalogues=catalogues, warm=(warm[0], warm[1]),
    )  # fmt: skip


def _rows(each: Plan) -> dict[str, str]:
    """A plan as the page has it."""
    of_one = f"{each.servers // each.primaries} for each primary"
    return {
        "users": f"{each.users:,.0f}",
        "a second, busiest hour": f"{each.asks:,.1f} recalls, {each.writes:,.1f} writes",
        "data in all tables": f"{each.data / 1e9:,.0f} GB",
        "primaries, each with a standby": f"{each.primaries:,}",
        "data of each": f"{each.data / each.primaries / 1e9:,.0f} GB",
        "`mnemic serve` processes": f"{each.servers:,} ({of_one})",
        "`mnemic worker` processes": f"{each.workers:,} ({each.workers // each.primaries} for each primary)",
        "nodes for both": f"{each.nodes:,}",
        "all nodes": f"{2 * each.primaries + each.nodes:,}",
        "catalogues in the servers' memory": f"{each.catalogues / 1e9:,.0f} GB",
        "questions that are warm, by user / anywhere": " / ".join(f"{share:.0%}" for share in each.warm),
        "share of a database node used: disk, memory, cores": ", ".join(f"{each.used[name]:.0%}" for name in each.used),
        "what breaks first": each.first,
    }


PLANS = (10_000_000, 100_000_000, 1_000_000_000)


def tables(items: Sequence[int] = PLANS, given: Assumptions = Assumptions()) -> str:
    """The tables of the page, for so many items each."""
    lines = ["| measured | | how |", "|---|---|---|"]
    lines += [f"| {name} | {value:,} | {how} |" for name, (value, how) in MEASURED.items()]
    lines += ["", "| assumed | | option |", "|---|---|---|"]
    lines += [f"| {each.metadata['words']} | {_shown(each, given)} | `{_option(each)}` |" for each in fields(given)]
    plans = [_rows(plan(each, given)) for each in items]
    lines += ["", "| | " + " | ".join(f"{each:,} items" for each in items) + " |", "|---" * (len(items) + 1) + "|"]
    lines += [f"| {name} | " + " | ".join(each[name] for each in plans) + " |" for name in plans[0]]
    return "\n".join(lines) + "\n"


def _option(each: object) -> str:
    return "--" + each.name.replace("_", "-")  # type: ignore[attr-defined]


def _shown(each: object, given: Assumptions) -> str:
    value, unit = getattr(given, each.name), each.metadata["unit"]  # type: ignore[attr-defined]
    return f"{value:.0%}" if unit == "share" else f"{value:,g} {unit}".strip()


def written(page: str) -> str:
    """The page with its tables made anew."""
    before, rest = page.split(_BEGIN)
    return f"{before}{_BEGIN}\n\n{tables()}\n{_END}{rest.split(_END)[1]}"


def _positive(text: str) -> float:
    value = float(text.replace(",", ""))
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not more than 0")
    return value


def main(arguments: Sequence[str] | None = None) -> None:
    asked = argparse.ArgumentParser(
        description="Plans for so many items: nodes, processes, memory, what breaks first; tables as of docs/scale.md.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        allow_abbrev=False,
    )
    asked.add_argument(
        "--items", type=_positive, nargs="+", default=list(PLANS), metavar="N", help="a plan for each of so many items"
    )
    for each in fields(Assumptions):
        help = f"{each.metadata['words']}{', ' + each.metadata['unit'] if each.metadata['unit'] else ''}"
        asked.add_argument(_option(each), type=_positive, default=each.default, metavar="N", help=help)
    asked.add_argument("--write", action="store_true", help="put the tables into docs/scale.md")
    said = vars(asked.parse_args(arguments))
    items, write = [int(each) for each in said.pop("items")], said.pop("write")
    given = Assumptions(**said)
    if not write:
        print(tables(items, given))
    elif (tuple(items), given) != (PLANS, Assumptions()):
        asked.error("--write puts what is assumed by default: leave the other options out")
    else:
        path = Path(__file__).resolve().parents[1] / "docs" / "scale.md"
        path.write_text(written(path.read_text()))


if __name__ == "__main__":
    main()

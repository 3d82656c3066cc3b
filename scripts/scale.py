#!/usr/bin/env python3
"""Compute the plans of docs/scale.md: how many nodes so many items take, of what, and what gives out first.

`scripts/scale.py` prints the tables of the page; `--write` puts them there. Nothing is measured here: what was measured
stands in `MEASURED`, each with how, and what is assumed in `ASSUMED`. The share of questions that meet a catalogue at
hand is simulated: users come by Zipf's law to servers that keep as many catalogues as fit their memory, and forget the
one that was not asked for longest.
"""

from __future__ import annotations

import math
import random
import sys
from bisect import bisect_left
from collections import OrderedDict
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
}
ASSUMED = {
    "items of a user": 1_000,
    "questions of a user in a day": 3.0,
    "items of a user in a day": 6.0,
    "busiest hour beside the mean": 3.0,
    "share of a core that may be used": 0.5,
    "users who ask in a busy hour": 0.1,
}
NODE = {"cores": 8, "memory": 64e9, "disk": 1e12, "catalogues": 24e9}
"""A node, of a database or of servers; what of a server's memory may be catalogues."""
PLANS = (10_000_000, 100_000_000, 1_000_000_000)
HOT_PAGES = 0.15
"""Assumed share of a database that is read in a busy hour and should be in its memory."""
BLOAT = 1.4
"""Room that dead versions of rows and a rewriting take beside the data."""
_USERS, _QUESTIONS = 20_000, 60_000
_BEGIN, _END = "<!-- scripts/scale.py -->", "<!-- end -->"


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


def plan(items: int) -> dict[str, str]:
    """Work out the nodes for so many items."""
    users = items / ASSUMED["items of a user"]
    per_item = sum(MEASURED[name][0] for name in MEASURED if name.startswith("bytes") and "catalogue" not in name)
    data = items * per_item
    busy = ASSUMED["busiest hour beside the mean"] / 86_400
    asks, writes = (
        users * ASSUMED["questions of a user in a day"] * busy,
        users * ASSUMED["items of a user in a day"] * busy,
    )
    come = users * ASSUMED["users who ask in a busy hour"]
    catalogue = measured("bytes of an item in a catalogue") * ASSUMED["items of a user"]
    usable = NODE["cores"] * ASSUMED["share of a core that may be used"]

    def cores(warm: float, where: str) -> float:
        recall = warm * measured(f"ms of a core, warm recall, {where}")
        recall += (1 - warm) * measured(f"ms of a core, cold recall, {where}")
        return (asks * recall + writes * measured(f"ms of a core, observe, {where}")) / 1_000

    memory = math.ceil(come * catalogue / NODE["catalogues"])
    servers = max(2, memory)
    kept = min(1.0, NODE["catalogues"] / (come * catalogue))
    routed, anywhere = (warm_share(servers, kept, by_user=by) for by in (True, False))
    servers = max(servers, math.ceil(cores(routed, "server") / usable))
    needs = {
        "disk": data * BLOAT / NODE["disk"],
        "memory": data * HOT_PAGES / (NODE["memory"] * 0.75),
        "cores": cores(routed, "database") / usable,
    }
    primaries = max(1, math.ceil(max(needs.values())))
    first = max(needs, key=lambda name: needs[name])
    return {
        "users": f"{users:,.0f}",
        "a second, busiest hour": f"{asks:,.1f} recalls, {writes:,.1f} writes",
        "data in all tables": f"{data / 1e9:,.0f} GB",
        "primaries, each with a standby": f"{primaries:,}",
        "data of each": f"{data / primaries / 1e9:,.0f} GB",
        "`mnemic serve` nodes": f"{servers:,}",
        "catalogues in their memory": f"{come * catalogue / 1e9:,.0f} GB",
        "questions that are warm, by user / anywhere": f"{routed:.0%} / {anywhere:.0%}",
        "share of a database node used: disk, memory, cores": ", ".join(
            f"{needs[name] / primaries:.0%}" for name in needs
        ),
        "what breaks first": first,
    }


def tables() -> str:
    """The tables of the page."""
    lines = ["| measured | | how |", "|---|---|---|"]
    lines += [f"| {name} | {value:,} | {how} |" for name, (value, how) in MEASURED.items()]
    lines += ["", "| assumed | |", "|---|---|"]
    lines += [f"| {name} | {value:g} |" for name, value in ASSUMED.items()]
    lines += [
        f"| a node | {NODE['cores']} cores, {NODE['memory'] / 1e9:.0f} GB, {NODE['disk'] / 1e12:.0f} TB,"
        f" of a server {NODE['catalogues'] / 1e9:.0f} GB for catalogues |",
        f"| room beside the data | {BLOAT - 1:.0%} |",
        f"| of a database, read in a busy hour | {HOT_PAGES:.0%} |",
    ]
    plans = [plan(items) for items in PLANS]
    lines += ["", "| | " + " | ".join(f"{items:,} items" for items in PLANS) + " |", "|---" * (len(PLANS) + 1) + "|"]
    lines += [f"| {name} | " + " | ".join(each[name] for each in plans) + " |" for name in plans[0]]
    return "\n".join(lines) + "\n"


def written(page: str) -> str:
    """The page with its tables made anew."""
    before, rest = page.split(_BEGIN)
    return f"{before}{_BEGIN}\n\n{tables()}\n{_END}{rest.split(_END)[1]}"


if __name__ == "__main__":
    path = Path(__file__).resolve().parents[1] / "docs" / "scale.md"
    if "--write" in sys.argv:
        path.write_text(written(path.read_text()))
    else:
        print(tables())

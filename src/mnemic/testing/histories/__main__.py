"""`python -m mnemic.testing.histories`: long random histories of every verb, on both stores, held against the model."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence

from mnemic.errors import MnemicError
from mnemic.testing.histories.acts import Act, acts, shrunk
from mnemic.testing.histories.history import Figures, History
from mnemic.testing.histories.history_world import STORES

TRIES = 300


def main(argv: Sequence[str] | None = None) -> int:
    """Run the histories that were asked for; 1 if one of them fails, which is then made shorter and printed."""
    parser = argparse.ArgumentParser(prog="python -m mnemic.testing.histories", description=__doc__)
    parser.add_argument("--histories", type=int, default=200, help="how many")
    parser.add_argument("--operations", type=int, default=500, help="how long each")
    parser.add_argument("--seed", type=int, default=0, help="of the first; the next have the next")
    parser.add_argument("--stores", default=",".join(STORES), help="which stores")
    parser.add_argument("--shrink", action=argparse.BooleanOptionalAction, default=True)
    given = parser.parse_args(argv)
    stores, total, began = given.stores.split(","), Figures(), time.perf_counter()
    for number in range(given.histories):
        seed = given.seed + number
        if (failed := _failure(seed, acts(seed, given.operations), stores, total)) is not None:
            print(f"seed {seed}: {failed}", flush=True)
            if given.shrink:
                _print_shortest(seed, acts(seed, given.operations), stores)
            return 1
        print(f"seed {seed}: {number + 1} of {given.histories}, {time.perf_counter() - began:.0f} s", flush=True)
    _print_figures(total, given.histories, time.perf_counter() - began)
    return 0


def _failure(seed: int, given: Sequence[Act], stores: Sequence[str], total: Figures | None = None) -> str | None:
    history = History(seed, stores)
    try:
        figures = history.run(given)
    except (AssertionError, MnemicError, LookupError, TypeError, ValueError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"
    if total is not None:
        total.acts += figures.acts
        total.refused += figures.refused
        total.retired += figures.retired
        total.hashes += figures.hashes
        total.commits += figures.commits
    return None


def _print_shortest(seed: int, given: Sequence[Act], stores: Sequence[str]) -> None:
    short = shrunk(given, lambda some: _failure(seed, some, stores) is not None, TRIES)
    print(f"{len(short)} acts do: {_failure(seed, short, stores)}")
    for act in short:
        print(f"    {act!r},")


def _print_figures(total: Figures, histories: int, seconds: float) -> None:
    print(f"{histories} histories, {total.acts.total()} acts, {total.commits} commits, {seconds:.0f} s: all agree")
    print(f"{total.refused} refused alike by all; {total.hashes} state hashes compared after restore, rewind and load")
    print(f"{total.retired} items retired because they had expired")
    print(", ".join(f"{name} {count}" for name, count in Counter(total.acts).most_common()))


if __name__ == "__main__":
    sys.exit(main())

"""The tables of the laboratory: tasks, and the adapters of contestants."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from mnemic.core.checking import did_you_mean
from mnemic.errors import Invalid
from mnemic.lab.contestants.mnemic_contestant import of_stages
from mnemic.registry import fetch, is_place, load

if TYPE_CHECKING:
    from mnemic.lab.kit.contestant import Contestant, Make, Means, Offered
    from mnemic.lab.kit.task import BenchTask

TASKS: Final = {
    "asked": "mnemic.lab.tasks.asked_task:ASKED",  # our own: Chinese, across languages, what was never said
    "locomo": "mnemic.lab.tasks.locomo_task:LOCOMO",  # evidence in very long talks; arXiv:2402.17753
    "multihop": "mnemic.lab.tasks.multihop_task:MULTIHOP",  # any set of passages and questions, as unified jsonl
    "multihop-untitled": "mnemic.lab.tasks.multihop_task:UNTITLED",  # the same without titles
    "hotpotqa": "mnemic.lab.tasks.multihop_task:HOTPOTQA",  # arXiv:1809.09600
    "2wiki": "mnemic.lab.tasks.multihop_task:TWO_WIKI",  # arXiv:2011.01060
    "musique": "mnemic.lab.tasks.multihop_task:MUSIQUE",  # arXiv:2108.00573
}

CONTESTANTS: Final = {
    "mnemic": "mnemic.lab.contestants.mnemic_contestant:offered",  # itself, and without each of its stages
    "baselines": "mnemic.lab.contestants.baseline_contestant:offered",  # what any memory must beat
    "strategies": "mnemic.lab.contestants.strategy_contestant:offered",  # each by its own recall
    "peers": "mnemic.lab.contestants.peer_contestant:offered",  # what others have published
}
"""Adapters: each is a function that lists what it offers (`Offered`), by the names of rows."""


def task(name: str) -> BenchTask:
    """The task of a name.

    Raises:
        Invalid: there is none.
    """
    if name not in TASKS:
        raise Invalid("tasks", f"{name!r} is no task", did_you_mean(name, sorted(TASKS)))
    named: BenchTask = load(TASKS, name)
    return named


def offered() -> Offered:
    """Every contestant that an adapter offers."""
    rows: dict[str, Make] = {}
    for adapter in CONTESTANTS:
        rows |= load(CONTESTANTS, adapter)()
    return rows


def contestants(names: Sequence[str]) -> dict[str, Make]:
    """Who is named: of those that are offered, `without A+B`, or `package.module:Class` made with `Means`.

    Raises:
        Invalid: a name is nobody's, or named twice.
    """
    known = offered()
    chosen: dict[str, Make] = {}
    for name in names:
        if name in chosen:
            raise Invalid("with", f"{name!r} is named twice", "Name each once.")
        make = known.get(name) or of_stages(name)
        if make is None and is_place(name):
            make = partial(_outsider, name)
        if make is None:
            raise Invalid("with", f"{name!r} is no contestant", f"There are: {', '.join(known)}.")
        chosen[name] = make
    return chosen


def _outsider(place: str, means: Means) -> Contestant:
    made: Contestant = fetch("with", place)(means)
    return made

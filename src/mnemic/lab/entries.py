"""The tables of the laboratory: tasks, and the adapters of contestants."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from mnemic.core.checking import did_you_mean
from mnemic.errors import Invalid
from mnemic.lab.contestants.mnemic_contestant import of_stages
from mnemic.lab.contestants.strategy_contestant import of_strategies
from mnemic.registry import fetch, is_place, load

if TYPE_CHECKING:
    from mnemic.lab.kit.contestant import Contestant, Make, Means, Offered
    from mnemic.lab.kit.task import BenchTask

TASKS: Final = {
    "asked": "mnemic.lab.tasks.asked_task:ASKED",  # our own: Chinese, across languages, what was never said
    "locomo": "mnemic.lab.tasks.locomo_task:LOCOMO",  # evidence in very long talks; arXiv:2402.17753
    "current": "mnemic.lab.tasks.current_task:CURRENT",  # facts that change: what holds now goes first
    "standing": "mnemic.lab.tasks.standing_task:STANDING",  # instructions that stand in the context
    "small": "mnemic.lab.tasks.small_task:SMALL",  # a few short statements, none of them hidden
    "everyday": "mnemic.lab.tasks.everyday_task:EVERYDAY",  # people's ordinary lives: what is answered
    "locomo-audited": "mnemic.lab.tasks.locomo_task:AUDITED",  # the same with wrong evidence set right
    "longmemeval": "mnemic.lab.tasks.longmemeval_task:SMALL",  # a long history with an assistant; arXiv:2410.10813
    "longmemeval-m": "mnemic.lab.tasks.longmemeval_task:LARGE",  # ten times the history
    "gvd-en": "mnemic.lab.tasks.gvd_task:ENGLISH",  # MemoryBank's probing questions; arXiv:2305.10250
    "gvd-zh": "mnemic.lab.tasks.gvd_task:CHINESE",
    "dmr": "mnemic.lab.tasks.dmr_task:DMR",  # MSC-Self-Instruct; arXiv:2310.08560
    "memdaily": "mnemic.lab.tasks.memdaily_task:MEMDAILY",  # everyday facts in Chinese; arXiv:2409.20163
    "beam": "mnemic.lab.tasks.beam_task:BEAM",  # ten abilities, to ten million tokens; arXiv:2510.27246
    "mab-retrieval": "mnemic.lab.tasks.memory_agent_bench_task:RETRIEVAL",  # arXiv:2507.05257
    "mab-learning": "mnemic.lab.tasks.memory_agent_bench_task:LEARNING",
    "mab-long-range": "mnemic.lab.tasks.memory_agent_bench_task:LONG_RANGE",
    "mab-conflict": "mnemic.lab.tasks.memory_agent_bench_task:CONFLICT",
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


MEASUREMENTS: Final = {
    "mnemic bench needles": "needles in texts of 8,000 to 4,000,000 tokens, through `mnemic read`",
    "mnemic bench capacity TEXT": "capacity: hit rate, faults and evictions of a bounded hot tier over plain text",
    "mnemic bench hotpot FILE": "capacity: supporting facts recalled under a fixed number of pages",
    "mnemic bench paging": "paging: what policies keep at hand over a day's errands",
    "mnemic bench session": "paging: a session whose window is smaller than the talk",
    "mnemic bench speed": "latency: writes, bulk intake and recall beside the disk's own floor",
    "mnemic bench speed --cold": "latency: what a new process pays before its first answer",
    "mnemic bench load": "load: many tenants at a given rate, p50 to p99.9",
    "mnemic bench serve": "load: a served memory, by HTTP",
    "mnemic bench busy": "load: recall while writes go on",
    "mnemic bench gc": "load: pauses while what was forgotten is collected",
}
"""What is no task, since there are no questions or nobody to compare: the command, and what it measures."""


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
    """Every contestant that an adapter offers.

    Raises:
        Invalid: two adapters offer one of the same name.
    """
    rows: dict[str, Make] = {}
    for adapter in CONTESTANTS:
        here: Offered = load(CONTESTANTS, adapter)()
        if twice := rows.keys() & here.keys():
            raise Invalid("contestants", f"{min(twice)!r} of {adapter} is another's name, too", "Rename one of them.")
        rows |= here
    return rows


def contestants(names: Sequence[str]) -> dict[str, Make]:
    """Who is named: of those that are offered, `without A+B`, strategies as `a+b` or `beside a`, or
    `package.module:Class`, made with `Means`.

    A place is imported at once: whoever is not there is told before any data is read.

    Raises:
        Invalid: a name is nobody's, or named twice, or there is nothing at its place.
    """
    known = offered()
    chosen: dict[str, Make] = {}
    for name in names:
        if name in chosen:
            raise Invalid("with", f"{name!r} is named twice", "Name each once.")
        make = known.get(name) or of_stages(name) or of_strategies(name)
        if make is None and is_place(name):
            fetch("with", name)
            make = partial(_outsider, name)  # by its place: another process imports it anew
        if make is None:
            raise Invalid("with", f"{name!r} is no contestant", did_you_mean(name, known))
        chosen[name] = make
    return chosen


def _outsider(place: str, means: Means) -> Contestant:
    made: Contestant = fetch("with", place)(means)
    return made

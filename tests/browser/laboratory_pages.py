"""Every sort of page that the laboratory writes, of small runs; those that are most likely to look wrong, too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from mnemic.lab.kit.answer_stage import AnswerPlan
from mnemic.lab.kit.contest import Limits
from mnemic.lab.kit.log import Log
from mnemic.lab.kit.run import RunPlan, run
from mnemic.lab.kit.run_page import write_page
from mnemic.lab.kit.run_report import report
from mnemic.lab.kit.stream_page import write_stream_page
from mnemic.lab.kit.stream_report import read_streams
from mnemic.lab.kit.stream_run import StreamPlan, run_streams
from mnemic.lab.stream_entries import world
from mnemic.lab.tasks.needles_bench import NeedlePlan, bench_needles
from mnemic.lab.tasks.needles_report import read_needles, write_needles_page

TWO_PEOPLE: Final = Path(__file__).resolve().parent.parent / "lab" / "two_people.json"
LONG: Final = "a-name-that-is-longer-than-a-phone-is-wide-" * 3
CROWD: Final = (
    "mnemic",
    LONG,
    LONG.replace("-", " "),
    "比手机的屏幕还要宽得多的名字" * 4,
    *(f"peer {n}" for n in range(11)),
)


def answered(folder: Path) -> Path:
    """Several contestants, a reader with a very long name, two judges, and Chinese text."""
    data = folder / "chinese.json"
    data.write_text(TWO_PEOPLE.read_text("utf-8").replace("?", "？中文的问题是什么意思呢？"), "utf-8")
    asked = AnswerPlan(model=f"scripted:{LONG}", judges=("scripted:RIGHT", "scripted:RIGHT|WRONG"), pairwise=True)
    rows = ("no memory", "BM25 turns", "recent window", "0.6 BM25+date + 0.4 window")
    plan = RunPlan(tasks={"locomo": data}, rows=rows, answers=asked)
    return write_page(report(run(plan, folder / "answered.jsonl")), folder / "answered.html")


def crowded(folder: Path) -> Path:
    """Two tasks and fifteen contestants, of whom most are equal, under names of any length."""
    plan = RunPlan(tasks=dict.fromkeys(("locomo", "locomo-audited"), TWO_PEOPLE), rows=("BM25 turns", "recent window"))
    lines = run(plan, folder / "two.jsonl").read_text("utf-8").splitlines()
    made = folder / "crowded.jsonl"
    with made.open("w", encoding="utf-8") as log:
        for record in map(json.loads, lines):
            names = {None: (None,), "recent window": ("recent window",)}.get(record.get("system"), CROWD)
            for name in names:
                log.write(json.dumps(record if name is None else {**record, "system": name}) + "\n")
    return write_page(report(made), folder / "crowded.html")


def alone(folder: Path) -> Path:
    """One contestant, who has nobody beside it."""
    plan = RunPlan(tasks={"locomo": TWO_PEOPLE}, rows=("BM25 turns",))
    return write_page(report(run(plan, folder / "alone.jsonl")), folder / "alone.html")


def crashed(folder: Path) -> Path:
    """Nobody came to an end."""
    no_contestants = ("json:JSONDecoder", "json:JSONEncoder")
    log = run(RunPlan(tasks={"locomo": TWO_PEOPLE}, rows=no_contestants), folder / "crashed.jsonl", apart=Limits())
    return write_page(report(log), folder / "crashed.html")


def streams(folder: Path) -> Path:
    """Memories in a stream of tasks, with as many seeds as intervals take."""
    plan = StreamPlan(rows=("none", "skills"), seeds=5, tasks=4, tries=2)
    return write_stream_page(read_streams(run_streams(world("tools"), plan, folder / "s.jsonl")), folder / "s.html")


def needles(folder: Path) -> Path:
    """Needles by length and by depth."""
    with Log(folder / "n.jsonl") as log:
        bench_needles(NeedlePlan(lengths=(600, 900), depths=(0.0, 0.5, 1.0), by_rules=True), log=log)
    return write_needles_page(*read_needles(folder / "n.jsonl"), folder / "n.html")


def self_made(folder: Path) -> Path:
    """A task that makes its own questions, which mnemic answers, with tables of its own."""
    rows = ("mnemic", "BM25 turns", "recent window", "no memory")
    log = run(RunPlan(tasks={"current": Path()}, rows=rows, limit=12), folder / "self_made.jsonl")
    return write_page(report(log), folder / "self_made.html")


PAGES: Final = {made.__name__: made for made in (answered, crowded, alone, crashed, self_made, streams, needles)}

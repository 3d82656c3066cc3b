"""Write docs/what-people-asked.md: what `ask` answers to 26 people of whom something has changed, and how sure it is.

Usage: .venv/bin/python scripts/what_people_asked.py     writes the page; it needs the extra `local`
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from mnemic import Memory
from mnemic.lab.kit.set_clock import SetClock
from mnemic.recall.reasons import KNOWN
from mnemic.settings import Settings

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "what-people-asked.md"
CASES: Final = ROOT / "tests" / "fixtures" / "what_people_asked.jsonl"
FIRST: Final = datetime(2026, 3, 2, 9, tzinfo=UTC)
BETWEEN: Final = timedelta(days=40)
WORDS: Final = frozenset({"Yes", "No", "是", "不是", "没有", "有", "否", "不", "吃"})

HEAD: Final = """\
# What people asked

Twenty-six people tell of something, then of a change of it forty days later, and ask. The dialogues were written before
anybody looked at what comes out. Each has a memory of its own; `ask` answers by words alone and with the embedder.
An answer is *right* if what it gives first is so, *unsure* below a confidence of 0.5, and *wrong* if it is neither; a
test holds that none is wrong. `scripts/what_people_asked.py` makes this page.

"""


@dataclass(frozen=True)
class Given:
    """What was answered: what comes first, how sure it is, and how that fares."""

    first: str
    confidence: float
    verdict: str

    def __str__(self) -> str:
        return f"{self.first or 'does not know'} ({self.confidence:.2f}, {self.verdict})"


def cases() -> list[dict[str, object]]:
    return [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]


def given(case: dict[str, object], embedder: str) -> Given:
    """Tell one case to a memory of its own, and ask."""
    clock, day = SetClock(), FIRST
    with Memory("memory:", embedder=embedder, settings=Settings(background=False), clock=clock) as memory:
        me = memory.scope(user="me")
        for turn in case["turns"]:  # type: ignore[attr-defined]
            clock.put(day)
            me.observe(turn)
            day += BETWEEN
        memory.flush()
        clock.put(day)
        answer = me.ask(str(case["question"]))
    first = answer.short or (answer.citations[0].quote if answer.citations else "")
    right = any(first == one if one in WORDS else one in first for one in case["right"])  # type: ignore[attr-defined]
    verdict = "right" if right else "unsure" if answer.confidence < KNOWN else "wrong"
    return Given(first, answer.confidence, verdict)


def page() -> str:
    return HEAD + "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "| said | asked | by words | with the embedder |"
    yield "|---|---|---|---|"
    for case in cases():
        said = " / ".join(case["turns"])  # type: ignore[arg-type]
        yield f"| {said} | {case['question']} | {given(case, 'none')} | {given(case, 'auto')} |"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")

"""The bundled conversation in `mnemic chat`, told by four people in turn, each sitting in a process of its own: the
tokens of prompts that the engine reads with what was kept of earlier sittings, and without.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from mnemic.demo import conversation
from mnemic.errors import ModelError
from mnemic.lab.kit.figures import Figure

PEOPLE: Final = ("Ada", "Ben", "Chloe", "Dara")
SHARE: Final = 0.4
"""Most of the tokens that may be read, of those that are without."""
_CHAT: Final = (
    "import json, os, sys; os.environ.update(json.loads(sys.argv.pop(1))); from mnemic.models.chat import gguf; "
    "gguf.THREADS = 1; from mnemic.__main__ import main; main()"
)
"""A process that chats with the settings of its first argument; its engine has one thread."""
_NOTHING: Final = "1"
"""Bytes that may be kept where nothing is to be."""


@dataclass(frozen=True, slots=True)
class TalkSize:
    """How much is told: sittings of each person, and the turns of each that they say."""

    sittings: int = 6
    turns: int = 2
    answer: int = 4


def _sittings(size: TalkSize) -> list[list[str]]:
    """What the person in the bundled conversation says, by sitting."""
    by_session = groupby(conversation(), key=lambda turn: turn.session)
    said = [[turn.text for turn in turns if turn.slots.get("role") == "user"] for _, turns in by_session]
    return [lines[: size.turns] for lines in said[: size.sittings]]


def _sit_down(store: Path, person: str, lines: list[str], size: TalkSize, kept: bool) -> list[dict[str, Any]]:
    """One sitting in `mnemic chat`: its turns, as it tells of them."""
    settings = {"MNEMIC_STORE": str(store), "MNEMIC_EMBEDDER": "none", "MNEMIC_USER": person.lower()}
    if not kept:
        settings["MNEMIC_KV_BYTES"] = _NOTHING
    options = ["chat", "--session", "talk", "--model", "smollm2", "--limit", str(size.answer), "--json"]
    said = "".join(f"{line.replace('Ada', person)}\n" for line in lines)
    call = [sys.executable, "-c", _CHAT, json.dumps(settings), *options]
    done = subprocess.run(call, input=said, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    turns = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if len(turns) != len(lines) or any(turn.get("prompt") is None for turn in turns):
        raise ModelError(f"a sitting of {person} ended after {len(turns)} of {len(lines)} turns: {done.stderr[-500:]}")
    return turns


def _told(store: Path, size: TalkSize, kept: bool, progress: Callable[[str], None]) -> dict[str, int]:
    """Everybody's sittings in turn; the tokens read before and after somebody asked, those had, and all of prompts."""
    read = had = tokens = 0
    for number, lines in enumerate(_sittings(size)):
        for person in PEOPLE:
            progress(f"sitting {number + 1} of {person}, {'kept' if kept else 'nothing kept'}")
            for turn in _sit_down(store, person, lines, size, kept):
                read += turn["prompt"]["prefilled"] + turn["prompt"]["read_ahead"]
                had += turn["prompt"]["reused"]
                tokens += turn["prompt"]["tokens"]
    return {"read": read, "had": had, "tokens": tokens}


def measure_talks(folder: Path, size: TalkSize, progress: Callable[[str], None]) -> Iterator[Figure]:
    """Measure the tokens that are read in talks of four people."""
    with_it = _told(folder / "kept.db", size, True, progress)
    without = _told(folder / "nothing.db", size, False, progress)
    detail = (
        f"read {with_it['read']:,} of {with_it['tokens']:,} tokens of prompts, with nothing kept {without['read']:,} "
        f"of {without['tokens']:,}; {len(PEOPLE)} people, {size.sittings} sittings of up to {size.turns} turns, each "
        "in a process of its own; the engine's own cache works in both"
    )
    yield Figure(
        name="tokens read in talks with restarts", value=with_it["read"] / without["read"], unit="of without",
        bar=SHARE, detail=detail,
    )  # fmt: skip

"""Ten abilities over conversations of 100 thousand to 10 million tokens: BEAM (Tavakoli et al., arXiv:2510.27246).

The authors' judge counts nuggets of answers; without a model it is counted which messages are found, by ability.
Standing instructions and the order of events are what retrieval by words finds least of.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mnemic.lab.kit.baselines import BAR, DENSE, lineup
from mnemic.lab.kit.datasets import Dataset
from mnemic.lab.kit.formats.beam_data import load_beam
from mnemic.lab.kit.task import RetrievalTask


@dataclass(frozen=True, slots=True, kw_only=True)
class BeamTask(RetrievalTask):
    """Conversations that lie in a folder each, all below one."""

    def read(self, where: Path) -> Dataset:
        """Read the chats below a folder; where there are none, the one file of the folder; or a file."""
        chats = where.is_dir() and next(where.rglob("chat.json"), None) is not None
        return load_beam(where if chats else self.file(where))


BEAM: Final = BeamTask(
    name="beam",
    about="Ten abilities over very long conversations with an assistant, with code in them.",
    files=("beam*.jsonl", "beam*.jsonl.gz", "beam*.json"),
    source="It is to be had from mohammadtavakoli78/BEAM on GitHub, `chats/`: name the folder of one size.",
    headline="R@10",
    shown={name: name for name in ("R@5", "R@10", "R@20", "R@50", "any@10", "all@10", "session R@5", "R@4k tokens")},
    rows=("mnemic", *lineup(), *DENSE),
    against=BAR,
    notes=("Messages of both sides. The mark of the plan that the makers left at the end of messages is taken off.",),
)

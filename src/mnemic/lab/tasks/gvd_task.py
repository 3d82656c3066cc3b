"""Probing questions about ten days of talk with an assistant: MemoryBank's evaluation data, in English and Chinese.

MemoryBank (Zhong et al., arXiv:2305.10250) gives the talk and the questions, and had answers judged by people.
Evidence is ours, by hand (`formats/memory_bank_data.py`): the turns that answer, on whichever side. Of what nothing
answers, only how well scores tell it from the rest is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mnemic.lab.kit.baselines import BAR, DENSE, lineup
from mnemic.lab.kit.datasets import Dataset
from mnemic.lab.kit.formats.memory_bank_data import load_memory_bank
from mnemic.lab.kit.task import TalkTask


@dataclass(frozen=True, slots=True, kw_only=True)
class GvdTask(TalkTask):
    """One language."""

    source: str = "It is to be had from zhongwanjun/MemoryBank-SiliconFriend on GitHub, `eval_data/`."
    headline: str = "R@10"
    shown: Mapping[str, str] = field(
        default_factory=lambda: {
            name: name for name in ("R@1", "R@5", "R@10", "any@5", "all@10", "session any@5", "MRR")
        }
    )
    rows: tuple[str, ...] = ("mnemic", *lineup(), *DENSE)
    against: str = BAR
    reader: Callable[[Path], Dataset] = load_memory_bank
    notes: tuple[str, ...] = ("Evidence is ours, by hand: MemoryBank gives none.",)


ENGLISH: Final = GvdTask(
    name="gvd-en",
    about="Probing questions about ten days of talk (MemoryBank), in English.",
    files=("memory_bank_en*.json", "gvd_en*"),
)
CHINESE: Final = GvdTask(
    name="gvd-zh",
    about="Probing questions about ten days of talk (MemoryBank), in Chinese.",
    files=("memory_bank_cn*.json", "gvd_zh*"),
    notes=(
        "Evidence is ours, by hand: MemoryBank gives none. It was read in English; of 100 questions 96 take it over.",
    ),
)

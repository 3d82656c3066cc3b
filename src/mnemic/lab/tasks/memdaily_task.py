"""Questions about a few days' messages, in Chinese, by what they ask of a memory: MemDaily (arXiv:2409.20163).

The messages of a question are few, so that R@5 finds most; the files with noise (`memdaily_9.json` and on) have ten
to two hundred times as many, and are the harder test.
"""

from __future__ import annotations

from typing import Final

from mnemic.lab.kit.baselines import BAR, DENSE, lineup
from mnemic.lab.kit.formats.memdaily_data import load_memdaily
from mnemic.lab.kit.task import TalkTask

MEMDAILY: Final = TalkTask(
    name="memdaily",
    about="Everyday facts in Chinese messages: simple, conditional, comparative, aggregative, calculated, in noise.",
    files=("memdaily*.json", "memdaily*.jsonl", "memdaily*.jsonl.gz"),
    source="It is to be had from nuster1128/MemSim on GitHub, `data_generation/final_dataset/`.",
    headline="R@5",
    shown={name: name for name in ("R@1", "R@3", "R@5", "R@10", "all@5", "MRR")},
    rows=("mnemic", *lineup(), *DENSE),
    against=BAR,
    reader=load_memdaily,
)

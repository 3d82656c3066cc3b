"""Deep memory retrieval: a question about something that was said in one of five sessions (MSC-Self-Instruct).

Packer et al. ("MemGPT", arXiv:2310.08560) judge answers by a model, and by the recall of ROUGE-L. There is no
evidence in the data: it is the turns that hold the answer's words, and about a third of the questions have none,
whose answer is in other words. Finding one of them is enough.
"""

from __future__ import annotations

from typing import Final

from mnemic.lab.kit.baselines import BAR, DENSE, lineup
from mnemic.lab.kit.formats.msc_data import load_msc
from mnemic.lab.kit.task import TalkTask

DMR: Final = TalkTask(
    name="dmr",
    about="A fact from one of five sessions of two people (MSC, deep memory retrieval).",
    files=("msc_self_instruct*.jsonl", "msc_self_instruct*.jsonl.gz"),
    source="It is to be had from MemGPT/MSC-Self-Instruct on Hugging Face.",
    headline="any@5",
    shown={name: name for name in ("any@1", "any@5", "any@10", "R@10", "session any@1", "MRR")},
    rows=("mnemic", *lineup(), *DENSE),
    against=BAR,
    reader=load_msc,
    notes=(
        "Evidence is the turns that hold all words of the answer; where none or more than five do, there is none, and "
        "the question is not counted.",
    ),
)

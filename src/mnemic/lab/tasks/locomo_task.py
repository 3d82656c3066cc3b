"""Evidence retrieval over very long conversations.

LoCoMo (Maharana et al., arXiv:2402.17753) is CC BY-NC 4.0 and not shipped: get `locomo10.json` from the
authors' repository (snap-research/locomo on GitHub, `data/`). The unified jsonl is taken as well. No
language model is called, and nothing is tuned on the questions.
"""

from __future__ import annotations

from typing import Final

from mnemic.lab.kit.baselines import BAR, DENSE, lineup
from mnemic.lab.kit.task import RetrievalTask

LOCOMO: Final = RetrievalTask(
    name="locomo",
    about="Turns that answer questions about very long talks.",
    files=("locomo*.json", "locomo*.jsonl", "locomo*.jsonl.gz"),
    source="LoCoMo's json is to be had from snap-research/locomo on GitHub.",
    headline="R@10",
    shown={
        "R@1": "R@1",
        "R@5": "R@5",
        "R@10": "R@10",
        "R@20": "R@20",
        "R@50": "R@50",
        "any@5": "any@5",
        "session any@5": "ses any@5",
        "session any@10": "ses any@10",
        "R@1k tokens": "1k",
        "R@2k tokens": "2k",
        "R@4k tokens": "4k",
    },
    rows=("mnemic", *lineup(), *DENSE),
    against=BAR,
    worded="LoCoMo F1",
    notes=(
        "Captions in the text, adversarial questions in (table 2 has them apart), no language model in tables 1 to 3.",
        "1k, 2k, 4k = gold within the first so many tokens. A session ranks where its best turn does.",
    ),
)

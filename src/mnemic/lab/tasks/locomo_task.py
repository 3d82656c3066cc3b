"""Evidence retrieval over very long conversations.

LoCoMo (Maharana et al., arXiv:2402.17753) is CC BY-NC 4.0 and not shipped: get `locomo10.json` from the
authors' repository (snap-research/locomo on GitHub, `data/`). The unified jsonl is taken as well. No
language model is called, and nothing is tuned on the questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from mnemic.lab.kit.baselines import BAR, DENSE, lineup
from mnemic.lab.kit.datasets import BenchQuestion, Dataset
from mnemic.lab.kit.task import TalkTask

LOCOMO: Final = TalkTask(
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
        "Weights of mnemic and of the baselines were set on development data (LOG.md).",
        "1k, 2k, 4k = gold within the first so many tokens. A session ranks where its best turn does.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedTask(TalkTask):
    """LoCoMo with the answers and the evidence of an audit, where the data holds one."""

    def read(self, where: Path) -> Dataset:
        dataset = TalkTask.read(self, where)
        session_of = {corpus.ns: {doc.id: doc.session for doc in corpus.docs} for corpus in dataset.corpora}
        return replace(dataset, questions=tuple(_audited(q, session_of[q.ns]) for q in dataset.questions))


def _audited(question: BenchQuestion, session_of: Mapping[str, str]) -> BenchQuestion:
    if question.audit is None:
        return question
    gold = question.audit.gold
    sessions = tuple(dict.fromkeys(session_of[id] for id in gold))
    return replace(question, answer=question.audit.answer, gold=gold, sessions=sessions, audit=None)


AUDITED: Final = AuditedTask(
    name="locomo-audited",
    about="The same with the evidence of an audit in the place of what it found wrong.",
    files=LOCOMO.files,
    source="It is taken as unified jsonl with `audit`, `gold_audited` and `audited_answer`.",
    headline=LOCOMO.headline,
    shown=LOCOMO.shown,
    rows=LOCOMO.rows,
    against=LOCOMO.against,
    worded=LOCOMO.worded,
    notes=(*LOCOMO.notes, "Where the data says what an audit found, its evidence and answers are taken."),
)

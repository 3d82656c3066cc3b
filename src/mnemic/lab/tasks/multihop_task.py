"""Multi-hop recall over documents: passages that answer a question only together, with their titles and without.

HotpotQA (Yang et al., arXiv:1809.09600), 2WikiMultiHopQA (Ho et al., arXiv:2011.01060) and MuSiQue (Trivedi et al.,
arXiv:2108.00573) as unified jsonl, where a passage's session and speaker are its title. A score is the share of a
question's passages among the first k, as the literature has it, and how often all of them are among the first five.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemic.errors import Invalid
from mnemic.lab.kit.contestant import SHOWN
from mnemic.lab.kit.datasets import Dataset
from mnemic.lab.kit.task import RetrievalTask

if TYPE_CHECKING:
    from mnemic.lab.kit.datasets import Corpus, Doc


@dataclass(frozen=True, slots=True, kw_only=True)
class MultihopTask(RetrievalTask):
    """Passages for questions that need several of them.

    Attributes:
        titled: The passages have their titles.
    """

    about: str = "Passages that answer a question only together."
    source: str = "It is taken as unified jsonl: `doc` and `query` records, a line each."
    headline: str = "R@5"
    shown: Mapping[str, str] = field(
        default_factory=lambda: {name: name for name in ("R@2", "R@5", "R@10", "all@5", "nDCG@10")}
    )
    rows: tuple[str, ...] = ("mnemic", "BM25 turns", "dense turns")
    against: str = "BM25 turns"
    depth: int = SHOWN
    worded: str = "SQuAD F1"
    titled: bool = True

    def read(self, where: Path) -> Dataset:
        dataset = RetrievalTask.read(self, where)
        if not any(doc.is_passage for corpus in dataset.corpora for doc in corpus.docs):
            what = f"{dataset.name} holds no passage for {self.name}: it is talk"
            raise Invalid("tasks", what, f"Name another file. {self.source}")
        if self.titled:
            return dataset
        return replace(dataset, corpora=tuple(map(_untitled, dataset.corpora)))


def _untitled(corpus: Corpus) -> Corpus:
    return replace(corpus, docs=tuple(map(_without_title, corpus.docs)))


def _without_title(doc: Doc) -> Doc:
    return replace(doc, session=doc.id, speaker="")


_ANY: Final = ("*.jsonl", "*.jsonl.gz")
MULTIHOP: Final = MultihopTask(name="multihop", files=_ANY)
UNTITLED: Final = MultihopTask(
    name="multihop-untitled",
    about="The same without their titles.",
    files=_ANY,
    titled=False,
)
HOTPOTQA: Final = MultihopTask(
    name="hotpotqa",
    about="Two passages that answer a question only together (HotpotQA).",
    files=("hotpotqa*",),
)
TWO_WIKI: Final = MultihopTask(
    name="2wiki",
    about="Two to four passages that answer a question only together (2WikiMultiHopQA).",
    files=("2wiki*",),
)
MUSIQUE: Final = MultihopTask(
    name="musique",
    about="Two to four passages, none of which answers alone (MuSiQue).",
    files=("musique*",),
)

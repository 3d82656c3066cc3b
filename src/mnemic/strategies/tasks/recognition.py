"""Recognise which passages help to answer a question: HippoRAG 2's filter (arXiv:2502.14802, section 3.3)."""

from __future__ import annotations

from typing import Any, Final

from mnemic.core.json_schema import many, whole
from mnemic.models.chat.base import Size
from mnemic.strategies.judging import JudgeTask
from mnemic.strategies.knowledge import Inquiry
from mnemic.strategies.rules.sentence_relevance import recognised
from mnemic.strategies.tasks.answers import places, reasoned
from mnemic.strategies.tasks.reflecting import shown_inquiry


def _kept(given: Inquiry, answer: Any) -> tuple[int, ...]:
    return places(answer["keep"], len(given.passages))[: given.most]


FILTER_EVIDENCE: Final = JudgeTask(
    id="filter_evidence",
    schema=reasoned(keep=many(whole(low=1), maxItems=32)),
    show=shown_inquiry,
    sound=_kept,
    rules=recognised,
    limit=512,
    size=Size.SMALL,
)
"""The places of the passages that help, the most helpful first; none where none does."""

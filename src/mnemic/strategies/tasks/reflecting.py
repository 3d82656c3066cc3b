"""Weigh what happened, ask what it means, and conclude: the tasks of reflection.

Rules weigh. They ask and conclude nothing: counting how often a word was said is no insight, and would be kept as one.
"""

from __future__ import annotations

from typing import Any, Final

from mnemic.core.json_schema import many, shape, whole
from mnemic.models.chat.base import Size
from mnemic.models.chat.soundness import Unfit
from mnemic.strategies.judging import JudgeTask
from mnemic.strategies.knowledge import CitedInsight, Inquiry, Passages
from mnemic.strategies.rules.importance_score import HIGHEST, LOWEST, importance_scores
from mnemic.strategies.showing import block, in_line, numbered, spoken_by
from mnemic.strategies.tasks.answers import cited, one_line, places, reasoned, short
from mnemic.strategies.tasks.extracting import shown_passages

FOCAL: Final = 3
INSIGHTS: Final = 5
"""Questions of a reflection, and insights into each (Park et al., arXiv:2304.03442, section 4.2)."""


def shown_inquiry(given: Inquiry) -> str:
    """Lay out a question and the passages that may bear on it; "" without passages."""
    if not given.passages:
        return ""
    passages = block("Passages", numbered(map(spoken_by, given.passages)))
    return f"{block('Question', [in_line(given.question)])}\n\n{passages}"


def _scores(passages: Passages, answer: Any) -> tuple[int, ...]:
    scores = {places([score["of"]], len(passages))[0]: int(score["score"]) for score in answer["scores"]}
    if len(scores) < len(passages) or len(answer["scores"]) > len(passages):
        raise Unfit(f"each of the {len(passages)} passages has one score")
    return tuple(scores[place] for place in range(len(passages)))


SCORE_IMPORTANCE: Final = JudgeTask(
    id="score_importance",
    schema=reasoned(
        scores=many(shape({"of": whole(low=1), "score": whole(low=LOWEST, high=HIGHEST)}), minItems=1, maxItems=64)
    ),
    show=shown_passages,
    sound=_scores,
    rules=importance_scores,
    size=Size.SMALL,
)
"""How much each passage will matter, from 1 to 10."""


def _questions(passages: Passages, answer: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(one_line, answer["questions"])))


def _none(given: object) -> tuple[Any, ...]:
    """Conclude nothing, which is what rules can."""
    return ()


FOCAL_QUESTIONS: Final = JudgeTask(
    id="focal_questions",
    schema=reasoned(questions=many(short(), minItems=1, maxItems=FOCAL)),
    show=shown_passages,
    sound=_questions,
    rules=_none,
)
"""What passages raise, as questions to be answered from the whole memory."""


def _insights(given: Inquiry, answer: Any) -> tuple[CitedInsight, ...]:
    return tuple(
        CitedInsight(text=one_line(insight["text"]), source=places(insight["from"], len(given.passages)))
        for insight in answer["insights"][: given.most]
    )


INSIGHTS_WITH_EVIDENCE: Final = JudgeTask(
    id="insights_with_evidence",
    schema=reasoned(insights=many(shape({"text": short(), "from": cited()}), maxItems=INSIGHTS)),
    show=shown_inquiry,
    sound=_insights,
    rules=_none,
)
"""What follows from passages, each with those that it rests on."""

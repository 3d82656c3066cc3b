"""Decide what becomes of new facts beside old ones."""

from __future__ import annotations

from typing import Any, Final

from mnemic.core.json_schema import many, shape, text, whole
from mnemic.models.chat.soundness import Unfit
from mnemic.strategies.judging import JudgeTask
from mnemic.strategies.knowledge import MergeDecision, MergeOp, Merging
from mnemic.strategies.rules.merge_ops import merge_ops
from mnemic.strategies.showing import block, numbered
from mnemic.strategies.tasks.answers import SENTENCE, one_line, places, reasoned, short


def _shown(given: Merging) -> str:
    """Lay out both, each under handles of its own; "" where one is missing, for then there is nothing to weigh."""
    if not given.new or not given.old:
        return ""
    old, new = (numbered(fact.text for fact in facts) for facts in (given.old, given.new))
    return f"{block('Old facts', old)}\n\n{block('New facts', new)}"


def _decided(given: Merging, answer: Any) -> tuple[MergeDecision, ...]:
    """Read one decision for each new fact, in their order."""
    decided: dict[int, MergeDecision] = {}
    for decision in answer["decisions"]:
        (new,), op = places([decision["new"]], len(given.new)), MergeOp(decision["do"])
        if new in decided:
            raise Unfit(f"new fact [{decision['new']}] is decided twice")
        old = None
        if op is not MergeOp.ADD:
            (old,) = places([decision["old"]], len(given.old))
        text = one_line(decision["text"]) if op is MergeOp.UPDATE else given.new[new].text
        decided[new] = MergeDecision(new=new, op=op, old=old, text=text)
    missing = [place for place in range(len(given.new)) if place not in decided]
    if missing:
        raise Unfit(f"new fact [{missing[0] + 1}] is not decided")
    return tuple(decided[place] for place in range(len(given.new)))


MERGE_DECIDE: Final = JudgeTask(
    id="merge_decide",
    schema=reasoned(
        decisions=many(
            shape(
                {
                    "new": whole(low=1),
                    "do": text(among=tuple(MergeOp)),
                    "old": whole("0 to add", low=0),
                    "text": short(SENTENCE, least=0),
                }
            ),
            maxItems=64,
        )
    ),
    show=_shown,
    sound=_decided,
    rules=merge_ops,
    limit=2048,
)
"""Add, update, delete or nothing, for each new fact."""

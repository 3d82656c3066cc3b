"""A model that gives back all that it is shown, in every field of its answers, and cites the last line alone."""

from __future__ import annotations

import re
from typing import Any, Final

from mnemic.lab.kit.scripted_readers import fact, shown, triple
from mnemic.models.chat.base import Ask

CANARY: Final = re.compile(r"\bzq[a-z]{3}\b")
"""A word that one turn alone says."""


def echoed(ask: Ask) -> dict[str, Any]:
    """Answer with every canary of the prompt; what is known already is added to, and never the same."""
    data = next(message.content for message in ask.messages if message.role == "user")
    seen = list(dict.fromkeys(CANARY.findall(data)))
    said, last = " ".join(seen) or "nothing", len(shown(ask))
    match ask.task:
        case "extract_items":
            return {"facts": [fact(said, last)]}
        case "extract_slots":
            slot = {"subject": "Ada", "slot": "word", "value": said[:120], "from": [last], "ended": False}
            return {"slots": [slot]}
        case "extract_triples":
            return {"triples": [triple(said[-59:], "goes with", f"all of {said[-59:]}", said, last)]}
        case "page_topic":
            return {"topic": said[:160], "keywords": seen[-8:] or ["nothing"], "continues": 0}
        case "score_importance":
            return {"scores": [{"of": n, "score": 10} for n in range(1, last + 1)]}
        case "focal_questions":
            return {"questions": [f"What of {said}?"]}
        case "insights_with_evidence":
            return {"insights": [{"text": f"So {said}", "from": [last]}]}
        case "summarize":
            return {"summary": said}
        case "make_plan":
            return {"plan": said}
        case "experience_pieces":
            return {"pieces": [said]}
        case "contrast_lessons":
            return {"changes": [{"do": "add", "lesson": 0, "text": f"{said}."}]}
    return _decided(ask, said)


def _decided(ask: Ask, said: str) -> dict[str, Any]:
    """Answer what becomes of what is new: it adds to the first that is known, or excludes it."""
    match ask.task:
        case "merge_decide":
            update, add = {"do": "update", "old": 1}, {"do": "add", "old": 0}
            facts = range(1, len(shown(ask, "New facts")) + 1)
            return {"decisions": [{"new": n, "text": said, **(update if n == 1 else add)} for n in facts]}
        case "match_entities":
            return {"matches": [{"name": 1, "same_as": 1}]}
        case "match_facts":
            old, new = len(shown(ask, "Known facts")), len(shown(ask, "New facts"))
            return {"matches": [{"new": n, "same_as": [], "contradicts": [1]} for n in range(old + 1, old + new + 1)]}
    return {}

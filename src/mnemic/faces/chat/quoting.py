"""The answer where there is no model: the words of memory for a question, a nod for anything else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mnemic.recall.answer import Answer

_ASKS: Final = re.compile(
    r"[?？]|^\W*(?:who|whose|whom|what|which|when|where|why|how|do|does|did|is|are|am|was|were|can|could|have|has|had|will"
    r"|would|should)\b|[吗呢]\W*$|谁|什么|哪|几[点个次位天]|多少|多久|怎么|为何",
    re.IGNORECASE,
)
_CHINESE: Final = re.compile("[\u3400-\u9fff]")


def asks(said: str) -> bool:
    """Whether a message looks like a question, in English or Chinese."""
    return _ASKS.search(said) is not None


def quoted(said: str, answer: Answer) -> str:
    """What is said back."""
    if asks(said):
        return answer.text
    return "记住了。" if _CHINESE.search(said) else "Kept."

"""Tell what an exchange is about and what it goes on with: MemoryOS (arXiv:2506.06326, sections 3.2 and 3.3)."""

from __future__ import annotations

from typing import Any, Final

from mnemic.core.json_schema import many, whole
from mnemic.models.chat.base import Size
from mnemic.strategies.judging import JudgeTask
from mnemic.strategies.knowledge import Episode, PageTopic
from mnemic.strategies.rules.page_topics import page_topic
from mnemic.strategies.showing import block, numbered, spoken_by
from mnemic.strategies.tasks.answers import one_line, places, reasoned, short

_KEYWORD: Final = 60
_TOPIC: Final = 160


def _shown(given: Episode) -> str:
    """Lay out what was said before, under handles, and the exchange; "" without one."""
    if not given.passages:
        return ""
    before = numbered(map(spoken_by, given.before)) or ["(nothing)"]
    after = numbered(map(spoken_by, given.passages), len(given.before) + 1)
    return f"{block('Said before', before)}\n\n{block('Exchange', after)}"


def _topic(given: Episode, answer: Any) -> PageTopic:
    continues = places([answer["continues"]], len(given.before))[0] if answer["continues"] else None
    keywords = tuple(dict.fromkeys(map(one_line, answer["keywords"])))
    return PageTopic(text=one_line(answer["topic"]), keywords=keywords, continues=continues)


PAGE_TOPIC: Final = JudgeTask(
    id="page_topic",
    schema=reasoned(
        continues=whole("0 for none", low=0),
        topic=short(_TOPIC),
        keywords=many(short(_KEYWORD), minItems=1, maxItems=8),
    ),
    show=_shown,
    sound=_topic,
    rules=page_topic,
    limit=512,
    size=Size.SMALL,
)
"""The topic of an exchange, its keywords, and the passage before it that it takes up."""

# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Puts the newest home of somebody first where a question asks where they live now: "Callum's moved to Glasgow".

What is learned of changes is learned of whoever speaks; of others a statement that says where they live is read by the
rules that read it of a speaker.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros
from mnemic.extract.patterns import SlotAct
from mnemic.extract.slots import slots

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.core.queries import Recalled
    from mnemic.recall.said_of_others import SpokenOf

_ASKS_HOME: Final = re.compile(
    r"^\W*(?:so |and |hey,? |remind me,? )*(?:where(?:abouts)?|(?:which|what|in which|in what) (?:city|town|place|country|village|part of \w+))"
    r"(?:['’]s| is| are| do| does) [\w' ’-]{2,40}?(?: (?:live|living|based|reside|settled|move to|moved to)(?: in)?)(?: now| these days| currently| at the moment)?\W*$"
    r"|(?:住|定居|搬|生活)(?:在|到|去)?了?(?:哪|什么地方)|在哪[个座一]*(?:城市|地方)(?:住|生活)?\W*$|住哪",
    re.IGNORECASE,
)
"""Asks where somebody lives now."""
_MOVES: Final = re.compile(r"\bmov(?:e[ds]?|ing)\b|搬", re.IGNORECASE)
_FORMERLY: Final = re.compile(r"\b(?:before|used to|previously|formerly)\b|以前|之前|原来|从前|曾", re.IGNORECASE)


def newest_home_first(
    question: str, evidence: list[Recalled], heard: Sequence[Recalled], spoken_of: SpokenOf | None
) -> list[Recalled]:
    """Evidence with the newest statement of where somebody else lives first, where that is asked for.

    What recall found for the newest state of the matter stays first where it was said later still.

    Args:
        heard: All that can answer: what calls somebody otherwise than the question does may not be among the evidence.
        spoken_of: Whom the question asks about, if that is somebody else than whoever asks.
    """
    if spoken_of is None or not evidence or evidence[0].bearing is None:
        return evidence
    if not _ASKS_HOME.search(question) or _FORMERLY.search(question):
        return evidence
    homes = [hit for hit in heard if _tells_home(spoken_of, hit)]
    if not homes:
        return evidence
    newest, first = max(homes, key=_said), evidence[0]
    if first.succession == 1 and _said(first) >= _said(newest) and not _moves_nowhere(spoken_of, first):
        return evidence
    most = max(hit.bearing for hit in evidence if hit.bearing is not None)
    older = {hit.id for hit in homes if hit is not newest}
    ahead = replace(newest, succession=1 if older else 0, bearing=most)
    behind = [replace(hit, succession=2 if hit.id in older else 0) for hit in evidence if hit.id != newest.id]
    return [ahead, *behind]


def _tells_home(spoken_of: SpokenOf, hit: Recalled) -> bool:
    """Whether a text plainly says where somebody lives."""
    return any(
        finding.slot == "city" and finding.act is SlotAct.STATES and not finding.implied
        for own in spoken_of.own_words(hit.text)
        for finding in slots(own, "user", micros(hit.item.said), hit.item.said_offset)
    )


def _moves_nowhere(spoken_of: SpokenOf, hit: Recalled) -> bool:
    """Whether a text says of somebody that they move, and rules read no home in it: to tears, or next month."""
    return any(_MOVES.search(own) for own in spoken_of.own_words(hit.text)) and not _tells_home(spoken_of, hit)


def _said(hit: Recalled) -> int:
    return micros(hit.item.said)

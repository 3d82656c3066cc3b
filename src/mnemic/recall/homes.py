# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Puts the newest home of somebody first where a question asks where they live now: "Callum's moved to Glasgow".

What is learned of changes is learned of whoever speaks; of others a statement that says where they live is read by the
rules that read it of a speaker.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mnemic.recall.earlier import said_at, states_slot
from mnemic.recall.word_groups import AHEAD, CONDITION, GUESS, LONG_AGO, USED_TO, WordGroup

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
_MOVED: Final = re.compile(r"\bmoved\b|搬(?=[到去走进来])|搬了家", re.IGNORECASE)
_NO_MOVE: Final = (
    CONDITION
    + GUESS
    + AHEAD
    + WordGroup(
        r"want\w*|moved (?:to tears|by|on|the|my|his|her|our|their|an?|it|that|this|up|money|house to house)|next|for the (?:summer|weekend|week)",
        r"想(?!念)|打算|准备|考虑|(?<!按)(?<!按照)(?<!原)计划[^，。]{0,4}搬|要搬|黄了|没搬|不搬",
    )
).pattern()
"""Is no move of a home, or one that lies ahead or is undone."""
_YEAR: Final = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_AGO: Final = re.compile(
    r"\b(?:\w+ years|decades) ago\b|\bas a (?:child|kid|student)\b|[几两三四五六七八九十\d]+年前|小时候"
)
_FORMERLY: Final = (USED_TO + LONG_AGO + WordGroup("before", "之前")).pattern()


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
    homes = [hit for hit in heard if not _is_long_ago(hit) and states_slot({"city"}, hit, spoken_of, in_passing=False)]
    moves = [hit for hit in heard if _moves(spoken_of, hit)]
    if not homes:
        return evidence
    newest, first = max((*homes, *moves), key=said_at), evidence[0]
    stays = newest in homes and any(_MOVES.search(own) for own in spoken_of.own_words(first.text))
    if first.succession == 1 and said_at(first) >= said_at(newest) and not stays:
        return evidence
    most = max(hit.bearing for hit in evidence if hit.bearing is not None)
    older = {hit.id for hit in homes if hit is not newest}
    ahead = replace(newest, succession=1 if older else 0, bearing=most)
    behind = [replace(hit, succession=2 if hit.id in older else 0) for hit in evidence if hit.id != newest.id]
    return [ahead, *behind]


def _moves(spoken_of: SpokenOf, hit: Recalled) -> bool:
    """Whether a text says of somebody that they have moved, though rules read no home in it: abroad, in with Jo."""
    return not _is_long_ago(hit) and any(
        own.startswith(("I ", "我")) and _MOVED.search(own) and not _NO_MOVE.search(own)
        for own in spoken_of.own_words(hit.text)
    )


def _is_long_ago(hit: Recalled) -> bool:
    """Whether a text dates what it tells long before it was said."""
    years = (int(year) for year in _YEAR.findall(hit.text))
    return any(year < hit.item.said.year - 1 for year in years) or _AGO.search(hit.text) is not None

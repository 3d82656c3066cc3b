# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Find lists of standing instructions: a heading that says for how long or for what, and points that stand below it.

The points need not say again what their heading said: "From now on:" makes "answer briefly" stand. Where the heading
is part of what each point says ("Never:", "When I ask for code:"), heading and points are one instruction.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemic.extract.sentences import BULLET, lowered

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_HEADED: Final = re.compile(r"(?m)^(?P<head>[^\n]{1,160}[:：])[*_]{0,3}[ \t]*+\n(?:[ \t]*+\n)?(?=[ \t]*+\S)")
_NOW: Final = (
    r"(?:from (?:now|here|today|this (?:point|moment|day)) ?(?:on(?:wards?)?|forward)?|(?:starting|beginning|effective) (?:from )?(?:now|today|immediately)|going forward|moving forward|henceforth|hereafter|in (?:the )?future|as of (?:now|today)"
    r"|until (?:further notice|i say otherwise)|for (?:all |any )?(?:future|further) (?:chats?|conversations?|answers|replies|messages)|in all (?:our|your|future) (?:chats?|conversations?|answers|replies|messages))"
)
_ORDERS: Final = r"(?:rules?|instructions?|orders?|requests?|preferences?|guidelines?|conventions?|requirements?|wishes|habits|defaults|settings)"
_LEAD: Final = r"(?:(?:ok(?:ay)?|so|and|also|but|please|hi|hello|hey|thanks|thank you|great|well|right|now|remember|note|important)[,:.!]* |[*_#>-]+ ?)*"
_STANDING: Final = re.compile(
    rf"{_LEAD}(?:(?:please )?(?:(?:always|do|follow|remember|keep to|stick to|obey|observe|respect|note) )*(?:these |this |the following |my )?(?:{_ORDERS} )?{_NOW},?(?: please| always| i want| you should| do| follow| remember| keep to| stick to)*(?: (?:these|this|the following)(?: \w+)?)?"
    rf"|(?:please )?(?:(?:always|follow|remember|keep to|stick to|obey|observe|respect|note|here are|these are) )+(?:these|the following|my|some)(?: \w+)? ?(?:{_ORDERS})?"
    rf"|(?:(?:here are|these are) )?(?:my|some|our|the|a few|two|three|four|five)? ?(?:standing|ground|house|general|permanent|personal|new|golden) {_ORDERS}(?: (?:for|to|of) (?:you|me|my assistant|the assistant|us|our \w+))?"
    rf"|(?:(?:here are|these are) )?(?:my|our) (?:own )?{_ORDERS}(?: (?:for|to) (?:you|my assistant|the assistant|your \w+|our \w+|all \w+))?(?: are)?(?: as follows)?"
    rf"|(?:some |a few |the |here are |these are |my )*{_ORDERS} (?:for|to) (?:you|my assistant|the assistant|your \w+|our (?:chats?|conversations?|talks?|work))"
    r"|(?:请|麻烦)?(?:你)?(?:从)?(?:以后|今后|往后|日后|之后|从现在(?:开始|起)|现在(?:开始|起)|从今(?:天|以后|往后)?(?:开始|起)?)(?:请|都|要|你|记住|注意|遵守|，)*|(?:我的|给你的|对你的|以下是我的|这是我的)(?:规则|要求|偏好|规矩|习惯|喜好|设定)(?:如下|是)?|(?:请|你)*(?:始终遵守|一直遵守|牢记)(?:以下|这些|下面)(?:几点|几条|规则|要求)?)[,，]?",
    re.IGNORECASE,
)
"""Headings that make each point below them stand, as it is."""
_WHOLE: Final = re.compile(
    rf"{_LEAD}(?:(?:(?:please )?(?:always|never(?: ever)?|don'?t(?: ever)?|do not(?: ever)?|avoid|only|no|never use|always use|please use|use|prefer)|{_NOW},? (?:please )?(?:always|never|don'?t|do not|avoid|no|stop|use|no more)|(?:please )?(?:always|never|avoid|don'?t|do not|use|include)(?: \w+){{0,4}} in your (?:answers|replies|responses|messages|code))"
    r"|(?:以后|今后|从现在(?:开始|起)|，|请)*(?:永远|绝对|绝|总是|始终|一律|务必)?(?:不要|别|不许|避免|禁止|不准|都要|一律|永远|始终|总是)(?:再)?(?:使?用|说|提|出现)?)",
    re.IGNORECASE,
)
"""Headings that are part of what each point says."""
_WEAK: Final = re.compile(
    rf"{_LEAD}(?:(?:some|a few|the|two|three|four|here are(?: some| my| the)?|these)? ?(?:\w+ )?(?:{_ORDERS}|style|tone|format(?:ting)?|language|length|answers|replies|responses|do'?s and don'?ts)|please|(?:please )?(?:always )?(?:remember|keep in mind|bear in mind|note)(?: that| this| these| the following)?|(?:when|whenever|if|while|for|in|on|with|about|regarding) [^:]{{1,80}}|(?:some |a few )?things? (?:i (?:like|want|prefer|hate|dislike)|to (?:remember|avoid|note|keep in mind))[^:]{{0,40}}"
    r"|(?:请|请?(?:记住|牢记|记好)|规则|要求|偏好|注意(?:事项)?|格式|风格|语气|几点要求|几个要求|回答要求)|.{1,20}(?:的时候|时|方面))",
    re.IGNORECASE,
)
"""Headings that may also stand over a recipe: one of the points must instruct by itself."""
_POINT: Final = re.compile(r"[ \t]*+(?P<mark>\d{1,3}\.[ \t]++|" + BULLET.pattern + r")(?P<words>\S[^\n]*+)(?:\n|\Z)")
_PLAIN: Final = re.compile(r"[ \t]*+(?P<words>\S[^\n]*+)(?:\n|\Z)")
_GAP: Final = re.compile(r"[ \t]*+\n")
_MOST: Final = 50
"""Most points of a list that are looked at."""
_LONGEST: Final = 300
"""Most characters in a point; what is longer is a text."""


@dataclass(frozen=True, slots=True)
class PointList:
    """A heading with its points, each by where it begins and ends.

    Attributes:
        whole: The heading is part of what each point says.
        weak: It stands only if one of its points instructs by itself.
    """

    start: int
    end: int
    points: tuple[tuple[int, int], ...]
    whole: bool
    weak: bool


def instruction_lists(text: str, own: str, headings: Collection[int]) -> Iterator[PointList]:
    """Find the lists of a text, in order.

    Args:
        headings: Where instructions end that end in a colon: a list below one of them is headed by it.
        own: The text with what is quoted in it blanked: a list with anything quoted is its speaker's only as far as
            there.
    """
    at = 0
    for headed in _HEADED.finditer(text):
        if headed.start() < at or own[headed.start() : headed.end()] != headed[0]:
            continue
        head = lowered(headed["head"]).strip(" \t*_#").rstrip(":：*_ ")
        whole, standing, weak = (form.fullmatch(head) is not None for form in (_WHOLE, _STANDING, _WEAK))
        instructs = headed.end("head") in headings
        if not (whole or standing or weak or instructs):
            continue
        points = tuple(_points(text, own, headed.end()))
        if points:
            start = headed.start("head") + len(headed["head"]) - len(headed["head"].lstrip())
            is_whole = not instructs and (whole or (not standing and not _NAMES_ORDERS.search(head)))
            yield PointList(start, points[-1][1], points, whole=is_whole, weak=instructs or not (whole or standing))
            at = points[-1][1]


_NAMES_ORDERS: Final = re.compile(
    rf"{_ORDERS}$|please$|remember|in mind|note|记|do'?s and don'?ts$|请$|规则|要求|偏好|注意"
)
"""A weak heading of this kind says nothing that its points need."""


def _points(text: str, own: str, at: int) -> Iterator[tuple[int, int]]:
    """The points from a place on; lines without marks are points as far as the next blank line."""
    form = _POINT if _POINT.match(text, at) else _PLAIN
    for _ in range(_MOST):
        gap = _GAP.match(text, at)
        if gap is not None and form is _POINT:
            at = gap.end()
        point = form.match(text, at)
        if point is None:
            return
        start, end = point.start("words"), point.start("words") + len(point["words"].rstrip())
        if own[start:end] != text[start:end] or end - start > _LONGEST:
            return
        if not text[start:end].endswith(("?", "？")):
            yield start, end
        at = point.end()

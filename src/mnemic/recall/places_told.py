"""Which one place a sentence names beyond doubt, where a question asks for a place; "" rather than half a name.

A place is what a preposition or a verb of moving leads to. Much else stands there: a feast ("at Christmas"), somebody
("closer to Mum"), a firm ("at Siemens"), and in Chinese, which parts no words, the verb that goes on behind it
("搬到天津来了").
"""

from __future__ import annotations

import re
from typing import Final

from mnemic.core.parts import MONTHS, WEEKDAYS
from mnemic.extract.chinese import bare_place
from mnemic.extract.known_names import GIVEN, PLACES
from mnemic.extract.slots_en_words import RELATIONS
from mnemic.recall.word_groups import LONG_AGO, USED_TO, WordGroup

_CAPITALISED: Final = r"[A-Z](?:[^\W\u3400-\u9fff]|['’-]|[.](?=\w))*"
NAME: Final = rf"(?:(?:Dr|Mr|Mrs|Ms|Prof|St)[.] )?{_CAPITALISED}(?: (?:of |the |de |& )?{_CAPITALISED})*"
"""A name as it is written: words that begin with a capital, and what joins them."""
_FEASTS: Final = ("Christmas", "Xmas", "Easter", "Ramadan", "Eid", "Diwali", "Hanukkah", "Halloween", "Thanksgiving")
CAPITALS: Final = frozenset(
    {"I", "I'm", "I've", "I'd", "I'll", *MONTHS, *WEEKDAYS, *(f"{day}s" for day in WEEKDAYS), *_FEASTS}
)
"""What is always written with a capital, and is neither somebody nor a place."""

_LED_TO: Final = re.compile(
    r"\b(?P<by>in|at|to|near|around|(?:left|leaving|off|bound|headed|heading|made|set out) for)"
    rf" (?:the )?(?P<name>{NAME})"
)
_LED_TO_CHINESE: Final = re.compile(
    r"(?:(?<![收看听買买遇想找碰拿学做吃抽抢租提接])到了|[去回]了|去过|[搬回嫁]到了?|[搬回]去了?|来到了?|住在了?|住到了?)"
    r"(?P<name>(?!了)[\u4e00-\u9fff]{2,7}?)(?=[里吃看拍和的了过吧呢啊，,。！、]|(?<!古)玩|\Z)"
    r"|(?<![现正实老还])在(?P<before>[\u4e00-\u9fff]{2,4}?)(?=住|工作|上班|上学|读书|定居|安家)"
)
_LIVES: Final = re.compile(
    r"\b(?:liv(?:e|es|ed|ing)|mov(?:e|ed|ing)|stay\w*|go|went|based|city|town|country)\b|住|搬|去|城市|国家",
    re.IGNORECASE,
)
"""Asks for a place that a preposition names; where somebody works is no city."""
_HOME: Final = re.compile(r"\b(?:live|lives|living|based)\b|住", re.IGNORECASE)
"""Asks where somebody's home is."""
_DWELLS: Final = re.compile(
    r"\b(?:liv(?:e|es|ed|ing)|mov(?:e|es|ed|ing)|stay\w*|settl\w+|relocat\w+|emigrat\w+|based|flat\w*|house\w*|home|place|room|rent\w*|resid\w+|now"
    r"|apartment|studio|terrace|cottage|bungalow|sharing|halls|been in|back in|my \w+ in)\b"
    r"|[住搬租嫁迁]|定居|落户|安家|房|家",
    re.IGNORECASE,
)
"""Tells of a home, or of moving to one."""
_AHEAD: Final = re.compile(
    r"\b(?:will|going to|gonna|moving to|plan\w*|next (?:week|month|year|spring|summer|autumn|winter)"
    r"|tomorrow|soon)\b|['’]ll\b"
    r"|下个?[月周]|明[年天]|后天|打算|计划|准备|就?要[搬去]",
    re.IGNORECASE,
)
"""Tells of what is yet to come, so that nobody lives there now."""
_AND: Final = r"(?:\b(?!(?:me|us|I|we|you)\b)[\w’']+ and |[\u4e00-\u9fff][和跟、])"
_AND_ANOTHER: Final = r"(?: and (?:(?!I\b)[A-Z]|(?:my|his|her|their|our) )|[和跟、][\u4e00-\u9fff])"
_SPEAKS_TO: Final = re.compile(
    r"\b(?:talk\w*|spoke|speak\w*|said|gave|giv\w+|wrote|writ\w+|sent|send\w*|listen\w*|married|engaged|closer?|nearer|next|belong\w*|according"
    r"|thanks|lent|lend\w*|sold|sell\w*|show\w*|explain\w*|introduc\w+|promot\w+|switch\w*|compared|related)\s*$",
    re.IGNORECASE,
)
"""Before a "to" that leads to somebody or something, and to no place."""
_VERB: Final = 24
"""Most characters of such a verb and the space behind it."""
_KIN: Final = re.compile(rf"{RELATIONS}|auntie", re.IGNORECASE)
_LEFT: Final = re.compile(rf"\b(?:from|left) (?:the )?({NAME})|从([\u4e00-\u9fff]{{2,4}}?)(?=[搬来去到回])")
"""Names the place that somebody left."""
_CAME: Final = re.compile(
    r"\b(?:mov\w+|relocat\w+|settled|now|new|since|came|back)\b|搬|迁|现在|如今|新|回|来", re.IGNORECASE
)
"""Tells of where somebody has come to, so that a place in it is none from before."""
_FORMERLY: Final = (
    USED_TO + LONG_AGO + WordGroup("before|previous|former|originally|used? to", "之前|原先|过去|前(?=我)")
).pattern()
"""Asks for the place before the one that is told of."""


def place_surely(text: str, question: str) -> str:
    """The one place that a sentence names, where a question asks for one that it does not name itself; else ""."""
    if not _LIVES.search(question):
        return ""
    if _FORMERLY.search(question) and (_LEFT.search(text) or _CAME.search(text)):
        places = {next(filter(None, match.groups())) for match in _LEFT.finditer(text)} - CAPITALS
    else:
        places = _led_to(text, question)
    if len(places) != 1 or any(place.casefold() in question.casefold() for place in places):
        return ""
    place = places.pop()
    return "" if is_one_of_several(place, text) else place


def is_one_of_several(name: str, text: str) -> bool:
    """Whether an "and" joins a name in a text to somebody or something else: of "Sophie and Amir" neither is all."""
    return re.search(rf"{_AND}{re.escape(name)}|{re.escape(name)}{_AND_ANOTHER}", text) is not None


def _led_to(text: str, question: str) -> set[str]:
    """The places that a sentence leads to; of a home none, where it tells of none or of one that is yet to come."""
    home = _HOME.search(question) is not None
    if home and (not _DWELLS.search(text) or (_AHEAD.search(text) and not _AHEAD.search(question))):
        return set()
    english = (
        match["name"]
        for match in _LED_TO.finditer(text)
        if not (home and match["by"] == "at")
        and not (match["by"] == "to" and _SPEAKS_TO.search(text, max(0, match.start() - _VERB), match.start()))
    )
    chinese = (bare_place(match["name"] or match["before"]) for match in _LED_TO_CHINESE.finditer(text))
    return {place for place in (*english, *chinese) if place and not _is_no_place(place)}


def _is_no_place(name: str) -> bool:
    """Whether a name is always written with a capital, or is somebody's alone."""
    of_kin = _KIN.fullmatch(name.split()[0]) is not None
    return name in CAPITALS or of_kin or (name.casefold() in GIVEN and name.casefold() not in PLACES)

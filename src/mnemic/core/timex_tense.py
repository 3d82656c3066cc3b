"""Which year, week or month an open time means by the tense of its clause: "visits in May" is ahead, "went in May" not.

The cue nearest before the time decides, else the nearest behind it; its clause is heard first, then its sentence. Where
nothing tells, and of what comes every year, the latest that has begun is meant.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from mnemic.core.timex_calendar import DAY, Anchor, Atom

_SENTENCE_ENDS: Final = re.compile(r"[!?;。！？；\n]|(?<![ap]\.m)(?<!\bdr)(?<!\bmr)(?<!\bmrs)\.(?=\s|\Z)")
_CLAUSE_ENDS: Final = re.compile(
    r"[,，:：()（）]|\b(?:and|but|because|so|while|which|that|who|when|although|though|if|or)\b|但|所以|因为|然后|而"
)
_REACH: Final = 400
"""Characters of a sentence that are heard on either side."""

EVERY_YEAR: Final = re.compile(
    r"\bbirthdays?\b|\banniversar|\b(?:every|each) (?:year|spring|summer|autumn|fall|winter)\b"
    r"|\bannual|\bborn\b|生日|纪念日|紀念日|每年|出生"
)
"""In small letters: what comes every year, or came once in some year, is told of without one."""
_LOOKS_BACK: Final = re.compile(r"\b(?:since (?:about |around |late |early )?|of )(?:the )?\Z")
_FROM: Final = re.compile(r"\bfrom (?:the )?\Z")
_ONWARDS: Final = re.compile(
    r"\b(?:will|going|start|begin|available|valid|off|away|leave|work|open|closed)"
    r"|['’]ll\b|\bfree\b"
)
_TO: Final = re.compile(r" ?(?:to|until|till|through|[-–—])")
_SET_FOR: Final = re.compile(
    r"\b(?:moved|changed|rescheduled|postponed|pushed|brought forward|delayed|shifted|put off|set"
    r"|scheduled|planned|booked|slated|pencill?ed in)\b[^,.;]{0,24}\b(?:to|for|until|till) (?:the )?\Z"
    r"|\bgot (?:an?|the|my|our|his|her|their) (?:new )?(?:date|appointment|slot|booking|interview)\b[^,.;]{0,40}"
    r"\bon (?:the )?\Z"
    r"|\b(?:due|expected)(?: (?:back|to \w+))? (?:(?:on|in|by|at) )?(?:the )?\Z"
    r"|\b(?:book|schedul|reserv|arrang|appointment|table|slot|tickets?|flights?"
    r"|invit)\w*\b[^,.;]{0,40}\bfor (?:the )?\Z"
    r"|(?:改|推迟|推遲|延期|延后|提前|定|订|訂|约|約|预约|預約|排|安排)(?:了|好了?)?(?:[到在成至]|为|為)(?:了)?\Z"
    r"|[订訂定约約买買](?:了|好了?)\Z"
)
"""Before a time that something is set for, whatever the tense of the verb: an appointment was moved to a day."""

_ABOUT_TO: Final = (
    r"going to|gonna|plan(?:ning|s)? (?:to|on|for)|hop(?:e|es|ing) to|want(?:s)? to|intend\w*|look(?:ing)? forward"
    r"|would like|['’]d (?:like|love)|(?:decided|agreed|promised|arranged) to|about to"
)
_IRREGULAR: Final = (
    "went|came|got|met|saw|bought|took|made|gave|said|told|left|found|thought|brought|began|became|sold|lost|won|ran|ate"
    "|drank|slept|spent|flew|drove|wrote|built|sent|kept|held|paid|caught|taught|broke|chose|fell|felt|grew|heard|knew|led"
    "|rose|sat|sang|spoke|stood|swam|wore|woke|threw|understood|forgot|fought|did|died|had|been|gone|done|seen|taken|given"
    "|written|was|were|wasn['’]t|weren['’]t|hadn['’]t|didn['’]t|couldn['’]t"
)
_EVENTS: Final = (
    "visit|start|begin|end|expire|arrive|leave|come|go|open|reopen|close|return|fly|move|finish|graduate|retire|turn|happen"
    "|launch|land|depart|play|meet|join|perform|travel|get|run out|take place|become|renew|resume"
)
_CUE: Final = re.compile(
    rf"\b(?P<past>(?:was|were|had) (?:{_ABOUT_TO})|used to"
    rf"|(?:have|has|['’]ve) (?:never |already |just |not )?(?:(?!need|feed)[a-z]{{2,}}ed|{_IRREGULAR})(?! to\b))"
    r"|(?P<set>(?:\b(?:am|is|are|be)|['’](?:m|re))(?: (?:not|now|still|already|all|\w+ly)){0,2} [a-z]{2,}ed\b"
    r"|['’]s (?:now )?(?:booked|scheduled|planned|set|due|expected|reserved)\b)"
    rf"|(?P<ahead>\b(?:{_ABOUT_TO}|will|won['’]t|shall|must|should|can|need to|needs to|have to|has to|let['’]s|see you"
    r"|remind|remember"
    r"|don['’]t forget|due|upcoming|am|is|are|isn['’]t|aren['’]t|have|has)\b"
    r"|\b(?:do|does)(?=n['’]t| (?:i|you|we|they|he|she|it|my|our|your|the)\b)"
    r"|['’](?:ll|m|re)\b|\b(?:it|he|she|that|there|what|who|where|when|here)['’]s\b"
    r"|['’]s (?:not )?(?!something|nothing|anything)\w{2,}ing\b"
    rf"|(?<!\bto )(?<!\bthe )(?<!\bmy )(?<!\bour )(?<!\bhis )(?<!\bher )(?<!\ba )\b(?:{_EVENTS})(?:e?s)?\b|\bflies\b)"
    rf"|(?P<before>\b(?:{_IRREGULAR}|ago)\b"
    r"|\b(?!(?:need|feed|speed|bed|red|indeed|shed|hundred|sacred|tired|seed|weed|breed|bleed|exceed|proceed|succeed|wed)\b)"
    r"[a-z]{2,}ed\b)"
)
_OPENS_AHEAD: Final = re.compile(
    r"\W*(?:and |but |also |then |so )?(?:getting (?:married|engaged|back|home)|starting|moving|leaving|flying"
    r"|travell?ing|opening|launching|heading|switching)\b(?! on,)"
)
"""What a clause without a subject opens with that tells what is to come, unless it goes on in the past."""
_DID: Final = re.compile(r"\bdid(?:n['’]t)?\b")
_NOUNS_AHEAD: Final = re.compile(
    r"\b(?:appointment|deadline|due|exam|interview|reservation|booking|reminder|todo|to-do)\b"
)
"""Nouns of what lies ahead, in a note without a verb."""

_CHINESE: Final = re.compile("[\u3400-\u9fff]")
_WAS_MEANT: Final = re.compile(
    r"本来|原本|本來|当时|當時|那时|那時|曾|以前|当年|當年|是[^，,]*的\Z"
    r"|[去来來到玩看吃做住学學见見]过|[去来來到玩看吃做住學見]過"
)
_MEANS_TO: Final = re.compile(
    r"将(?!军)|將|(?<![机機聚开開宴晚年])[会會](?![议議计計员員话話儿面])|(?<![重主需必])要(?![求点點紧緊素不是])|打算|准备|準備|计划|計劃|预计|預計|预产期|預產期|截止|到期|争取|希望"
    r"|必须|必須|应该|應該|记得|記得|提醒|别忘|別忘|即将|馬上|马上"
)
_IS_OVER: Final = re.compile(r"了|刚|剛|已经|已經|过(?![敏节節年期生])|過")
_EVENT: Final = re.compile(
    r"(?<![以原后後起看下])[来來](?![自源])|(?<![过過失])去(?![年世])|回(?![答复忆])|出发|出發|飞|飛|搬|结婚|結婚|开学|開學|毕业|畢業|放假|开始|開始|结束|結束|举行|舉行|出差|入职|入職|退休|上线|上線"
    r"|预约|預約|婚礼|婚禮|考试|考試|面试|面試|手术|手術|体检|體檢|复查|複查|开会|開會|航班|演出|现在是|現在是"
)
"""What happens at a time: without a mark of its being over it is ahead. What merely is so, is not."""
_STARTING: Final = re.compile("起(?![床来飞跑点火码])")
_ALL_ALONG: Final = re.compile("一直|就没|就不|至今|到现在")
"""Behind a day on which something starts: the day has been."""
_ASKS: Final = re.compile(r"[吗嗎呢]|哪|什么|什麼|几|幾|多少|谁|誰|怎么|怎麼|没有|沒有")


def in_its_tense(atom: Atom, low: str, a: Anchor) -> Atom:
    """Give an open time the occurrence that its clause tells of: the first from today on if that is ahead."""
    if atom.repeats is None or atom.span is None or atom.span[1] > a.day * DAY:
        return atom
    if _STARTING.match(low, atom.hi):
        return _nearest(atom, low, a)
    if not _is_ahead(low, atom.lo, atom.hi, is_range=bool(atom.repeats.until)):
        return atom
    try:
        return replace(atom, span=atom.repeats.earliest(a.day))
    except (ValueError, OverflowError):
        return replace(atom, span=None)


def _nearest(atom: Atom, low: str, a: Anchor) -> Atom:
    """Give a day from which something starts the nearer of its occurrences, unless it is told how it has been since."""
    behind = _around(_CLAUSE_ENDS, "", low[atom.hi : atom.hi + _REACH])[1]
    if atom.repeats is None or atom.span is None or _IS_OVER.search(behind) or _ALL_ALONG.search(behind):
        return atom
    try:
        ahead = atom.repeats.earliest(a.day)
    except (ValueError, OverflowError):
        return atom
    today = a.day * DAY
    return replace(atom, span=ahead) if ahead[0] - today < today - atom.span[0] else atom


def _is_ahead(low: str, lo: int, hi: int, *, is_range: bool) -> bool:
    front, back = _around(_SENTENCE_ENDS, low[max(0, lo - _REACH) : lo], low[hi : hi + _REACH])
    near = front[-80:]
    if _LOOKS_BACK.search(near) or EVERY_YEAR.search(front) or EVERY_YEAR.search(back):
        return False
    if _FROM.search(near) and not is_range and not _TO.match(back) and not _ONWARDS.search(front):
        return False  # "the photos from March"
    if _SET_FOR.search(near):
        return True
    clause = _around(_CLAUSE_ENDS, front, back)
    for before, behind in (clause, (front, back)):
        ahead = _chinese(before, behind) if _CHINESE.search(before + behind) else _english(before, behind)
        if ahead is not None:
            return ahead
    return _NOUNS_AHEAD.search(front + back) is not None


def _around(ends: re.Pattern[str], front: str, back: str) -> tuple[str, str]:
    """Cut what stands before and behind a time at the nearest of some marks."""
    begin = max((mark.end() for mark in ends.finditer(front)), default=0)
    end = ends.search(back)
    return front[begin:], back[: end.start()] if end else back


def _english(before: str, behind: str) -> bool | None:
    if _DID.search(before):
        return False  # what follows stands in its plain form
    if (opening := _OPENS_AHEAD.match(before)) is not None:
        goes_on = _CUE.search(before, opening.end()) or _CUE.search(behind)
        return goes_on is None or not (goes_on["past"] or goes_on["before"])
    cues = list(_CUE.finditer(before))
    cue = cues[-1] if cues else _CUE.search(behind)
    return bool(cue["set"] or cue["ahead"]) if cue else None


def _chinese(before: str, behind: str) -> bool | None:
    clause = before + behind
    if _WAS_MEANT.search(clause.rstrip()):
        return False
    if _MEANS_TO.search(clause):
        return True
    if _IS_OVER.search(clause) or _ASKS.search(clause):
        return False
    return True if _EVENT.search(clause) else None

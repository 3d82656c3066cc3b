# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Tells whether a clause says of one object that it is gone, does not serve any more, or is there again.

A word of an end counts only where it is of the object itself: "I left my umbrella in the car" ends no car, "I stopped
taking piano lessons" no piano.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING, Final

from mnemic.core.tokens import tokenise
from mnemic.recall.word_groups import CALLED_OFF, CONDITION, COULD, GIVEN_UP, GUESS, INTENDED, RID

if TYPE_CHECKING:
    from collections.abc import Collection


class ObjectState(Enum):
    """What a clause says of an object."""

    GONE = "gone"
    UNFIT = "unfit"
    AGAIN = "again"


_REACHES: Final = (
    r"(?:(?: out)?(?: of| from| with| as| to| being| in| at| on| up on)?(?: (?:going to|playing(?: in)?|singing in|doing|taking|learning|using|being))?"
    r"(?: (?:my|our|the|an?|that|this|both|all|poor|dear|another))?"
    r"(?: (?!(?:in|on|at|to|of|for|from|with|by|into|off|over|and|or|my|our|the|it|them|about)\b)[\w’'-]+){0,2})\s*$"
)
"""From a verb to its object: no other noun with a preposition of its own between."""
_GOES_ON: Final = (
    r"(?:\W*$|\W*[,.;:!?]|['’]s\b|\s+(?:in|on|at|to|for|from|by|last|this|yesterday|today|ago|again|back|yet|already|instead|too|and|but|because|when|while|since|after"
    r"|before|so|was|were|is|are|has|have|got|had|that|which|who|called|named|now|any ?more|for good|with|away|over|up|down|thing|business"
    r"|phase|arrived|came|turned|broke|died|expired|ran|lapsed|disappeared|vanished|finally|just|sadly|once|twice|years?|early|as|a|an|the"
    r"|two|three|altogether|completely|through|went|stopped|no|needs?|works?|i)\b)"
)
"""Behind an object that is the last of its phrase: a piano, and no piano lessons."""
_LOSES: Final = (
    rf"\b(?:{GIVEN_UP.whole}|{RID.whole}|{CALLED_OFF.whole}|lost|los(?:e|ing)|misplaced|sell|left|cancel|ditched|donate|rehom(?:e|ing)"
    r"|returned|surrendered|totall?ed|pawned|trashed|outgrew|outgrown|traded in|wrote off|parted with|g[eo]t rid|give up|give away"
    r"|threw (?:away|out)|thrown (?:away|out)|walked out|moved out|(?:stole|nicked|pinched|confiscated|revoked))"
)
_GIVES: Final = r"\b(?:gave|give|given|giving|hand(?:ed)?|pass(?:ed)?)"
_GIVEN: Final = (
    r"\s+(?:away\b|up for adoption\b|(?:on |over |down |back )*to (?:my|our|the|an?|some|his|her|friends|charity|oxfam|(?-i:[A-Z]))"
    r"(?!\w* ?(?:vet|garage|mechanic|repair|shop for|cleaner)))"
)
"""Behind an object: to whom it was given for good."""
_LEAVES: Final = re.compile(r"\bleft\b", re.IGNORECASE)
_AT_A_PLACE: Final = re.compile(
    r"\s+(?:at|on|in|under|behind|by|with|beside)\b(?! (?:(?:the )?(?:spring|summer|autumn|fall|winter|end)|good|(?-i:[A-Z])|\d))",
    re.IGNORECASE,
)
"""Who left something somewhere has forgotten it there, and has it still."""
_IS_GONE: Final = (
    r"(?: (?:thing|business|phase))?(?:['’]s| is| was| are| were| has| have| had| got| just| been| now| all| finally| sadly| recently)*"
    r" (?:stolen|nicked|pinched|sold|cancell?ed|donated|given away|rehomed|adopted|scrapped|thrown (?:away|out)|destroyed|totall?ed|taken away"
    r"|confiscated|revoked|written off|repossessed|gone|missing|lost|over|finished|done|no more|history|dead|died|passed away|ran away"
    r"|ran out|run out|lapsed|disappeared|vanished|folded|broke up|split up|closed down|put (?:down|to sleep)"
    r"|(?:lives?|living|living now|is now|went to live|moved in) (?:now )?with)\b"
)
_IS_UNFIT: Final = (
    r"(?:['’]s| is| was| are| has| have| had| just| been| now| finally| recently| completely)*"
    r" (?:broke(?:n)?(?: down)?|expired?|out of date|bust(?:ed)?|dead|smashed|cracked|died|stopped working|blocked|frozen|invalid"
    r"|does(?:n['’]t| not) work|needs? (?:repairs?|fixing|replacing))\b"
)
_BREAKS: Final = r"\b(?:broke|broken|smashed|cracked|dropped and broke|blocked|froze)"
_REGAINS: Final = (
    r"\b(?:rejoined|re-joined|re-?subscribed|re-?enrolled|renewed|resumed|restarted|reactivated|reinstated|replaced|recovered|found|fixed|repaired"
    r"|(?:(?:went|gone|came|come|got|am|['’]m|are|['’]re|is|moved) )?back (?:to|in|at|with|on)|returned to|signed (?:back )?up (?:again )?(?:for|to|with)"
    r"|(?:took|taken) up|started|(?:got|bought|received|picked up|collected|have|adopted|ordered and got)(?= (?:an?|my|the|our) (?:new|replacement|second|other|repaired)\b)"
    r"|(?:got|bought|have|received|picked up)(?= (?:another|my replacement)\b))"
)
_IS_AGAIN: Final = (
    r"(?:['’]s| is| was| has| have| had| just| been| now| finally)*"
    r" (?:back|found|returned|renewed|repaired|fixed|mended|replaced|restored|reinstated|working again|arrived|here|came|turned up"
    r"|works? again|back together|got back together)\b"
)
_GOT_BACK: Final = r"\b(?:got|get|have|gotten|bought|brought|took|had)"
_BACK: Final = r"\s+(?:back|again|repaired|fixed|replaced|mended|renewed)\b"
_LOST_FIGURATIVELY: Final = (CONDITION + GUESS + COULD + INTENDED).pattern()

_GONE_CHINESE: Final = (
    "(?:昨天|昨晚|上周|上个月|今天|前天|最近|去年|已经|早就|不小心|都|也|就|又|给|让|被人?|被[\u4e00-\u9fff]{1,3})*"
    "(?:弄丢|搞丢|丢|遗失|偷|盗|抢|不见|没了|卖|送人|送给|捐|扔|转让|处理|报废|注销|取消|退|走丢|跑丢|去世|死|领养|领走|没收|吊销|寄养给)"
    "(?:掉|走|了|给|人|啦|$)"
)
_UNFIT_CHINESE: Final = (
    "(?:昨天|上周|上个月|今天|最近|已经|早就|都|也|又|刚)*(?:过期|到期|坏|失效|作废|摔坏|摔碎|冻结|进水)(?:了|啦|掉|$)"
)
_LOSES_CHINESE: Final = "(?:弄丢|搞丢|丢|遗失|卖|捐|扔|转让|注销|取消|退|戒|辞)(?:掉|了)*(?:我|我的|那[张本辆台只条部]|这[张本辆台只条部])?$"
_AGAIN_CHINESE: Final = "(?:已经|终于|刚|今天|昨天|又|都|也)*(?:找到|找回来|找着|回来|补办|办好|办下来|补好|修好|拿到|寄到|到手|恢复|续上|续费|续)(?:了|啦|好|$)"
_REGAINS_CHINESE: Final = "(?:补办|找到|找回|重新办|又办|又买|重新买|续|换|拿到|领到|收到|修好|又养|重新养|又回|重新加入|又加入|回到)(?:了|好)*(?:我|我的|一?[张本辆台只条部]|新的?)*$"


def object_state(clause: str, words: Collection[str], *, chinese: bool) -> ObjectState | None:
    """Read what a clause says of the object that some stems, or Chinese words, name; None if nothing of it.

    Args:
        words: All of them stand in the clause.
    """
    if not words:
        return None
    if chinese:
        begin = min(clause.find(word) for word in words)
        return _state_chinese(clause[:begin], clause[max(clause.find(word) + len(word) for word in words) :])
    spans = [match.span() for match in re.finditer(r"[\w-]+", clause) if not set(tokenise(match[0])).isdisjoint(words)]
    if not spans:
        return None
    before, behind = clause[: spans[0][0]], clause[spans[-1][1] :]
    return None if _LOST_FIGURATIVELY.search(clause) else _state(before.rstrip() + " ", behind)


def _state(before: str, behind: str) -> ObjectState | None:
    def reaches(verbs: str) -> bool:
        return re.search(verbs + _REACHES, before.rstrip(), re.IGNORECASE) is not None and ends_phrase(behind)

    def follows(form: str) -> bool:
        return re.match(form, behind, re.IGNORECASE) is not None

    if follows(_IS_AGAIN) or reaches(_REGAINS) or (reaches(_GOT_BACK) and follows(_BACK)):
        return ObjectState.AGAIN
    if (reaches(_LOSES) and not (_LEAVES.search(before) and _AT_A_PLACE.match(behind))) or (
        reaches(_GIVES) and follows(_GIVEN)
    ):
        return ObjectState.GONE
    if follows(_IS_GONE) and not follows(_IS_UNFIT):
        return ObjectState.GONE
    return ObjectState.UNFIT if follows(_IS_UNFIT) or reaches(_BREAKS) else None


def ends_phrase(behind: str) -> bool:
    """Whether what stands behind an object leaves it the last of its phrase: a piano, and no piano lessons."""
    return re.match(_GOES_ON, behind, re.IGNORECASE) is not None


def _state_chinese(before: str, behind: str) -> ObjectState | None:
    if behind.startswith("的"):
        return None  # who sells cars has sold none
    if re.match(_AGAIN_CHINESE, behind) or re.search(_REGAINS_CHINESE, before):
        return ObjectState.AGAIN
    if re.match(_GONE_CHINESE, behind) or re.search(_LOSES_CHINESE, before):
        return ObjectState.GONE
    return ObjectState.UNFIT if re.match(_UNFIT_CHINESE, behind) else None

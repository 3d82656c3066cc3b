# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Tells whether a clause says that an allergy is no more, of what it names itself or of what was named before.

"Tried mango again and it was fine, the doctor says I'm no longer allergic" ends an allergy that its last clause does
not name: 医生说已经不过敏了.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_CURED: Final = re.compile(
    r"(?:过敏|不耐受?)症?(?:已经|早就?|都|也|总算|终于|居然|竟然|现在|完全|彻底|自己|全)*(?:(?:治|全|自愈)?好(?:全|透|利索)?(?:了(?!很?多|不少|[一有]?[点些]|几|大半|没)|啦)|没了|没有了|消失|痊愈|自愈|断根)"
    r"|\b(?:allergy|intolerance) (?:(?:is|has|['’]s|was|seems|to|be|have|all|completely|now|finally|been|just|apparently) )*(?:gone|vanished|disappeared|cleared(?: up)?|cured|over|resolved|went away)\b(?! (?:for|in|during|over|the top)\b)",
    re.IGNORECASE,
)
"""Says of the allergy or intolerance that its clause names that it is no more; one that is better is still there."""
_EXPERT_CHINESE: Final = (
    r"(?:[医大][生夫]|专家|护士|检[查测]|化验|复查|测试|结果|报告)(?:科|的|那边|今天|昨天|结果|出来|单|都|也)*"
)
_NO_LONGER: Final = re.compile(
    rf"\W*(?:{_EXPERT_CHINESE}(?:说|讲|告诉我?|显示|确认|判定)?)?我?(?:是|现在|已经|早就|其实|居然|竟然|彻底|完全|真的|就|也|都)*不(?:再|会|会再)?过敏(?:了|啦)\W*"
    r"|\W*(?:and |so )?(?:(?:the|my) (?:\w+ )?(?:doctor|gp|allergist|specialist|nurse|tests?|results?) (?:says?|said|confirm(?:s|ed)?|show(?:s|ed)?|reckons|told me)(?: that)? )?"
    r"(?:apparently )?(?:i['’]?m|i am) (?:no longer allergic|not allergic any ?more)(?: now| at all)?\W*",
    re.IGNORECASE,
)
"""All that a clause says: that its speaker is allergic no more, and not to what."""
_FOUND_OUT: Final = re.compile(
    r"\W*(?:(?:and|but|so|well|oh|ugh|argh|sigh|damn|no|yes|now|then|anyway|actually) )*"
    r"(?:(?:(?:the|my|our) )?(?:(?!old|first|last|former|previous|other|wrong|(?:her|his|its|their|your|whose)\b)[a-z]+ )?(?:doctors?|doc|gp|allergist|specialist|dermatologist|nurse|tests?|results?) "
    r"(?:(?:now|just|has|have|then|also) )*(?:says?|said|told me|confirm(?:s|ed)?|shows?|showed|reckons)|(?:it )?turns out|it turned out)(?: that)? "
    r"(?=(?:i am|i['’]m|im|i (?:might|may|could)(?: well)? be)\b)|\W*(?:ugh|argh|sigh|damn|sadly|apparently|unfortunately) (?=(?:i am|i['’]m|im)\b)"
    rf"|\W*[唉哎嗨]?{_EXPERT_CHINESE}(?:又|还是|最后)?(?:说|讲|告诉我?|显示|确认|判定)(?=我|还?是?对)",
    re.IGNORECASE,
)
"""Opens a clause of whoever speaks with who found out of them what it says."""
_OWN_ALLERGY: Final = re.compile(
    r"\W*(?:and |so |but |turns out )?(?:my|the) (?:[\w-]+ ){0,3}(?:allergy|intolerance)\b|\W*(?:tried|retried|tested|had|ate)\b",
    re.IGNORECASE,
)
"""Opens with the speaker's allergy or intolerance, or with what they tried of it."""
_ALLERGEN: Final = re.compile(
    r"([\u4e00-\u9fff]{1,4})过敏|\ballergic to (?:(?:the|all|any) )?([\w-]+)|\b([\w-]+) allergy\b", re.IGNORECASE
)
_NO_ALLERGEN: Final = re.compile(
    r"[我不没也还再会已经是都医生说了的很会]+|my|the|an|this|that|any|food|it", re.IGNORECASE
)


_TO_NOTHING: Final = re.compile(
    r"(?:\bnot|n['’]t|\bnever been) (?:\w+ly )?allergic to anything\b|\bno (?:known )?allergies\b(?! to\b)|\ballergic to nothing\b"
    r"|(?<![有为])什么(?:东西)?我?[都也]不(?:会)?过敏|没有?(?:任何|什么)?过敏(?:史|源|的东西)",
    re.IGNORECASE,
)
_BESIDE: Final = re.compile(
    r"\b(?:else|but|except\w*|other(?:wise)?|further|apart|beside|besides|beyond|aside)\b|其他|其它|其余|别的|剩[下余]|除|[此之以]外|另外",
    re.IGNORECASE,
)
"""Leaves out something that was named."""
_ALL_BUT: Final = re.compile(r"\b(?:except|apart from|other than|aside from|besides)\b|除|[之以]外", re.IGNORECASE)
"""Leaves out what its clause names."""
_BESIDE_THAT: Final = re.compile(
    rf"\W*(?:and |but )?(?:{_BESIDE.pattern})(?: (?:than|from))?(?: (?:that|this|those|it))?(?:此之外|此以外|这个?之?外|的|之外)?\W*",
    re.IGNORECASE,
)
"""Leaves out what the clause before it names, for the clause behind it."""


def is_allergic_to_nothing(clause: str, before: str = "") -> bool:
    """Whether a clause, behind that before it, says that nothing at all is an allergen to its speaker."""
    left_out = _BESIDE.search(clause) or _BESIDE_THAT.fullmatch(before)
    return _TO_NOTHING.search(clause) is not None and not left_out


def is_allergic_to_nothing_but(clause: str) -> bool:
    """Whether a clause that names an allergen says that its speaker is allergic to nothing but it."""
    return _TO_NOTHING.search(clause) is not None and _ALL_BUT.search(clause) is not None


def is_cured(clause: str) -> bool:
    """Whether a clause says that the allergy or intolerance which it names is no more."""
    return _CURED.search(clause) is not None


def as_own(clause: str) -> str:
    """A clause without who found it out of whoever speaks: "the doctor says I am allergic" as "I am allergic"."""
    return _FOUND_OUT.sub("", clause, count=1) if _FOUND_OUT.match(clause) else clause


def is_no_longer_allergic(clause: str) -> bool:
    """Whether a clause says only that its speaker is allergic no more, and not to what."""
    return _NO_LONGER.fullmatch(clause) is not None


def of_own_allergy(clause: str) -> bool:
    """Whether a clause opens with the speaker's own allergy, or says without a subject what they tried."""
    return _OWN_ALLERGY.match(clause) is not None


def other_allergens(texts: Iterable[str], objects: Collection[str]) -> set[str]:
    """What texts name an allergy to, beside some objects: stems, or Chinese words."""
    named = {
        next(filter(None, groups)).casefold().rpartition("对")[2]
        for text in texts
        for groups in _ALLERGEN.findall(text)
    }
    return {
        name for name in named if not _NO_ALLERGEN.fullmatch(name) and not any(word in name for word in objects)
    } - {""}

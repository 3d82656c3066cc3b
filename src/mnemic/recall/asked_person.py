# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Reads whom a question is about: by name, by what they are to somebody, or whoever is asked.

What reads one word of a name, the subject alone, or all that a question calls somebody by stands here together. "My
boss Anna" is somebody by both, and Anna from next door is not her; 老鲁 is a name by the way it is made and what
follows it. `recall.currency` puts behind what certainly speaks of somebody else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemic.core.tokens import hash_term, tokenise
from mnemic.extract.chinese import COMPOUND, SURNAMES
from mnemic.extract.hurried import with_capitals
from mnemic.recall.sentence_cues import kin_tokens
from mnemic.recall.understand import SPEAKS_OF_SELF, SPEAKS_TO_OTHER

if TYPE_CHECKING:
    from mnemic.recall.understand import Question

_AUXILIARY: Final = "(?i:do|does|did|is|are|was|were|has|have)"
_MODAL: Final = "(?i:will|can|would)"
_NO_NAME: Final = r"(?!(?:What|Who|Where|When|How|Which|It|This|That|There|He|She|We|They|You|My|Our|Let|I)\b)"
"""Words with a capital that call nobody."""
_RUN: Final = r"[A-Z][\w-]+(?: [A-Z][\w-]+){0,3}"
_OF_NAME: Final = re.compile(
    rf"\b(?:{_AUXILIARY}|{_MODAL}) (?:(?:my|our|the) )?(?:[a-z][a-z-]+ ){{0,2}}{_NO_NAME}({_RUN})"
    rf"|\b(?:my|our|the) (?:[a-z][a-z-]+ ){{1,2}}{_NO_NAME}({_RUN})|\b{_NO_NAME}({_RUN})['’]s\b"
)
"""A name as English writes it: after an auxiliary or what somebody is, or before "'s"."""
_CALLED: Final = re.compile(rf"\b(?:{_AUXILIARY})\s+{_NO_NAME}([A-Z][\w-]+)\b|\b{_NO_NAME}([A-Z][\w-]+)['’]s\b")
"""The first word of a name right behind an auxiliary, or before "'s"."""
_SUBJECT: Final = re.compile(rf"\b(?:{_AUXILIARY}|(?i:can)|(?i:where|who|what)['’]s) {_NO_NAME}([A-Z][\w-]+)\b(?!['’])")
"""The first word of a name that is the subject, and whose nothing is asked for."""
_OF_ROLE: Final = re.compile(
    r"\b(?:my|our|the|your) (?:[a-z]+ )?([a-z]{3,}?)['’]s (?!is\b)[a-z]|\b(?:does|did|has|will) (?:my|our|the) ([a-z]{3,}(?:er|or|ist|ant|ian|man|mate|eer))\b"
)
"""What somebody is, by a word that no list has: before "'s", or as one who does something."""
_DOING: Final = "[的在住是有要会去来叫开用做干养喜爱吃喝每现最交读学当支穿还跟多几嫁娶考换搬姓]|什么|哪"
_OF_NAME_CHINESE: Final = re.compile(
    rf"^(?:请问|那)?((?:[老小阿][\u4e00-\u9fff]|(?:{COMPOUND}|[{SURNAMES}])[\u4e00-\u9fff]{{1,2}}?))(?={_DOING})"
)
"""A name that a question of an unspaced script opens with: as names are made, and before what people are asked about."""
_SUBJECT_CHINESE: Final = re.compile(
    r"^(?:请问|那)?(?:([小老阿][\u4e00-\u9fff])(?=[养有会对吃喝抽开])|((?:[小老阿][\u4e00-\u9fff]|[\u4e00-\u9fff]{2,3}?))(?=现在|如今|目前|还|住|搬|在(?:哪|什么)|是不是|有没有|[吃喝会养开]什么))"
)
"""A subject of any two or three characters, before what is asked mostly about people: in a question for what they do."""
_NOBODY_ELSE: Final = re.compile(r"[我咱你您谁哪什这那]")
_ASKER: Final = re.compile(
    r"\b(?:do|does|did|am|have|had|was|were|are|can|could|should|shall|will|would|must) (?:i|we)\b|^\W*(?:现在|如今|请问)?我们?(?![家的妈爸姐妹哥弟老])",
    re.IGNORECASE,
)
"""Whoever asks is the subject: what is said of "her" alone is not of them."""

_OF_ASKED: Final = re.compile(
    r"\b(?:did|do|would|were) you (?:say|said|recommend|suggest|tell|advise|mention|propose|think|choose|pick|like|prefer|call|reckon)\b"
    r"|\byour (?:own |personal )?(?:favou?rite|opinion|advice|recommendation|suggestion|pick|view|choice)s?\b"
    r"|\byou (?:said|recommended|suggested|told|advised|mentioned|proposed|picked|chose)\b"
    r"|[你您](?:之前|上次|刚才|曾经?|当时|自己|都|是)*(?:说|推荐|建议|提到|提过|讲|觉得|认为|选|最喜欢|最爱|喜欢|爱)"
)
"""Asks for what whoever is asked has said or thinks."""


@dataclass(frozen=True, slots=True)
class AskedPerson:
    """Whom a question is about; all empty where it is about nobody in particular.

    Attributes:
        roles: The tokens by which it says what somebody is: kin, company.
        names: Those by which it names somebody, no roles.
        asker: Whoever asks is the subject.
        assistant: It asks for what whoever is asked has said or thinks, and of nothing of whoever asks.
    """

    roles: frozenset[int]
    names: frozenset[int]
    asker: bool
    assistant: bool


def called_by_name(question: str) -> set[str]:
    """The names of those whom a question is about, or who have what it is about; typed without capitals, too."""
    return {next(filter(None, groups)) for groups in _CALLED.findall(with_capitals(question))} - {"I"}


def named_subject(question: str) -> set[str]:
    """The names of those who are the subject of an English question: of "Callum's wife" none."""
    return set(_SUBJECT.findall(with_capitals(question)))


def named_subject_chinese(question: str) -> str:
    """The name of whom a Chinese question opens with, as far as its words tell; "" for nobody."""
    subject = _SUBJECT_CHINESE.match(question)
    if subject is None or _NOBODY_ELSE.search(subject[0]):
        return ""
    return subject[1] or subject[2]


def asked_person(question: Question) -> AskedPerson:
    """Read whom a question is about."""
    text, kin = with_capitals(question.query.text), kin_tokens()
    runs = [next(filter(None, groups)) for groups in _OF_NAME.findall(text)]
    if chinese := _OF_NAME_CHINESE.match(text):
        runs.append(chinese[1])
    named = {hash_term(token) for run in runs for token in tokenise(run) if len(token) > 1}
    to_other = SPEAKS_TO_OTHER.search(text) is not None and SPEAKS_OF_SELF.search(text) is None
    roles = {hash_term(tokenise(next(filter(None, groups)))[-1]) for groups in _OF_ROLE.findall(text.casefold())}
    return AskedPerson(
        roles=frozenset(term.text for term in question.terms) & (kin | roles),
        names=frozenset(named - kin),
        asker=_ASKER.search(text) is not None,
        assistant=to_other and _OF_ASKED.search(text.casefold()) is not None,
    )

# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Tells what a text reports as past from what is so: "I lived in Paris for ten years" does not answer "Where do I live?".

A state in the past is over ("I lived in Paris"), and so is a habit of a time that is named as bygone ("I played the cello
at school", 我在巴黎住过). What was done of late is none ("I worked late"), and what happened may have left what is so now
("I moved to Rome", "we were married in 2015").
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mnemic.core.parts import MONTHS
from mnemic.core.tokens import tokenise
from mnemic.core.word_forms import other_forms
from mnemic.extract.chinese import has_chinese, simple
from mnemic.extract.sentences import written_sentences
from mnemic.recall.polarity import ASKS_PAST, GRAMMATICAL, asked_words
from mnemic.recall.sentence_cues import KIN, counted_in
from mnemic.recall.whom_it_is_about import clauses
from mnemic.recall.word_groups import ASKS_END, MOVED, REPLACED, WordGroup

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

_OWN: Final = r"(?:(?:i|we) |(?:my|our) (?:[\w'’-]+ ){1,3}?)"
_OWN_VERB: Final = re.compile(
    rf"(?<!\bwhen )\b{_OWN}(?:(?:both|all|only|just|mostly|mainly|first|once|also|even|actually|already|\w+ly) )*"
    r"(?P<verb>(?:was|were)(?! (?:\w+ly )?(?:\w+ed|born|made|found|put|given|told|taken|for)\b)"
    r"|had(?! (?:to|been|just|already|\w+ed|(?:an?|our|my|the|\w+) (?:\w+ )?(?:sons?|daughters?|bab(?:y|ies)|child|children|kids?|twins|boys?|girls?))\b)"
    r"|(?!was\b|were\b|had\b)[a-z]+)\b",
    re.IGNORECASE,
)
"""What is done or was by the speaker, or by who or what is theirs; not what was done to them once, or born."""
_USED_TO: Final = re.compile(
    rf"^\W*(?:(?:and|but|so|then|well|oh|yes|no|yeah|before that|back then|years ago|fun fact)\W+)*{_OWN}(?:(?:also|always|only|both|all) )*used to (?P<verb>[a-z]+)",
    re.IGNORECASE,
)
_HAD_OR_WAS: Final = frozenset(("was", "were", "had"))
_BE_OR_HAVE: Final = frozenset(("be", "have", "own"))
"""Verbs of which a question need not ask by name."""
_STATE: Final = re.compile(
    r"\b(?:lived(?! through)|resided|belonged|owned(?! up)|studied at|taught at"
    r"|worked (?:at(?! (?:home|it|my|the office)\b)|for(?! (?:\w+ ){0,2}(?:hours?|days?)\b)|as(?! \w+ as\b)))\b",
    re.IGNORECASE,
)
"""The past of what lasts, which says by itself that it is over."""
_BYGONE: Final = (
    WordGroup("years ago|back then", "以前(?!年)|从前(?!年)|曾经|曾(?=[做当住用养学任])|小时候")
    + WordGroup(
        rf"(?:until|till|before) (?:(?:19|20)\d\d|{'|'.join(MONTHS)}|(?:i|we|he|she|they) (?:was|were|moved|met|had|got|turned|left|married|retired|quit)|covid|the (?:kids?|children|bab(?:y|ies)|war|pandemic|divorce|wedding))"
        r"|growing up|(?:in )?those days|at the time|(?:at|in) (?:high )?school|at (?:uni|university|college)|in college"
        r"|for (?:a while|a time|ages|(?:some|several|many|\w+|a few|a couple of) (?:years?|months?|summers?|seasons?|terms?|decades?))"
        r"|back (?:at|in|when)|as an? (?:\w+ )?(?:child|kid|boy|girl|teen(?:ager)?|student|undergrad\w*|trainee|apprentice)"
        r"|in (?:my|our) (?:early |late )?(?:teens|twenties|thirties|forties|youth|childhood|student days|first job|last job)"
        r"|in the (?:(?:nine|eigh|seven|six|fif)ties|noughties|['’]?\d0s|old days|past)|when (?:i|we) (?:was|were|lived|worked|studied)"
        r"|that (?:summer|winter|spring|autumn|fall|year|term)",
        r"(?:^|[我们咱家里，,。；;])(?:之前|过去|早些年|早年)(?![的说给提讲\d一二三四五六七八九十几两])|大学的?时候|高中的?时候|上学的?时候|年轻的?时候(?!就)|那时候?|那[几两些]年|当年|那会儿?",
    )
).pattern()
"""Names a time that is over."""
_OF_LATE: Final = (
    MOVED
    + REPLACED
    + WordGroup(
        r"since|still|always|today|tonight|yesterday|this (?:morning|afternoon|evening|week|month|year)|last (?:night|week|weekend)|just|again|now(?:adays)?|these days"
        r"|all (?:my life|day|week|night|weekend|morning|year)|late|nights|weekends?|shifts?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|finally|at last|started|began|joined|bought|adopted|hired|settled|never stopped",
        r"现在|如今|目前|最近|今天|昨天|刚|还|仍|一直|从此|后来|这[周月天阵]|终于|开始|就|说过|年起|时候起|从小|至今|到今|查出|得了|确诊|过去[\d一二三四五六七八九十几两]+年",
    )
).pattern()
"""Tells what is of late, goes on or came about, so that something may be so now."""
_PRESENT: Final = re.compile(r"\b(?:am|is|are|has|have|love|live|work)\b|['’](?:m|re|s|ve)\b", re.IGNORECASE)
_BEEN_CHINESE: Final = re.compile(
    r"(?<![不没])([\u4e00-\u9fff])过(?![敏年来去节生期分程度奖瘾滤户渡道]|[\u4e00-\u9fff]{0,4}了)"
)
"""By the verb before it, says that somebody has once done something."""
_LASTING_CHINESE: Final = frozenset("住上做干当")
"""Verbs of one character of which a question need not ask by name."""
_HAVE: Final = re.compile(r"\bhave\b|有", re.IGNORECASE)
_NOT_OF_NOW: Final = re.compile(
    r"\b(?:before|previous(?:ly)?|former(?:ly)?|used to|ever|first|last|over time|history|old|ex|how long)\b|^\W*(?:have|has)\b(?! (?:i|we) got\b)"
    r"|以前|之前|曾|过去|从前|原来|最初|过[^，。]{0,6}[吗嗎没]|时候|那时|当年|上一|多久|会[^，。]{1,8}[吗嗎]",
    re.IGNORECASE,
)


def asks_of_now(question: str) -> bool:
    """Whether a question asks how things are, and not how they were, whether they ended or what somebody can do."""
    return not any(form.search(question) for form in (ASKS_PAST, ASKS_END, _NOT_OF_NOW))


def is_past(asked: AbstractSet[str], clause: str) -> bool:
    """Whether a clause tells in the past a state or a bygone habit of what some words of a question ask about.

    Args:
        asked: Their tokens.
    """
    if _OF_LATE.search(clause):
        return False
    bygone = _BYGONE.search(clause) is not None
    if has_chinese(clause):
        plain = simple(clause)
        verbs = {match[1] for match in _BEEN_CHINESE.finditer(plain)}
        done_once = not verbs.isdisjoint(asked | _LASTING_CHINESE)
        return (done_once or bygone) and not (asked - GRAMMATICAL).isdisjoint(tokenise(plain))
    named = not asked.isdisjoint(tokenise(clause))
    if (used_to := _USED_TO.match(clause)) is not None:
        verb = used_to["verb"].lower()
        return named and (verb in _BE_OR_HAVE or not asked.isdisjoint(tokenise(verb)))
    for match in _OWN_VERB.finditer(clause):
        verb = match["verb"].lower()
        if _STATE.match(clause, match.start("verb")) and (named or _is_asked_for(asked, verb)):
            return True
        if bygone and (_is_asked_for(asked, verb) or (verb in _HAD_OR_WAS and named)):
            return True
    return False


def _is_asked_for(asked: AbstractSet[str], past: str) -> bool:
    """Whether a verb in the past is one of some words in another form."""
    (token, *_) = tokenise(past) or [""]
    return token in asked if past.endswith("ed") else not asked.isdisjoint(other_forms(token)[:1])


def tells_only_past(question: str, text: str) -> bool:
    """Whether all that a text says to a question for how things are is how they were."""
    if not asks_of_now(question) or (_HAVE.search(question) and counted_in(question)[KIN].any()):
        return False  # kin stay kin, whatever they were at the time
    asked = asked_words(question)
    stated = [
        clause
        for sentence in written_sentences(text)
        if sentence.rstrip()[-1:] not in ("?", "？")
        for clause in clauses(sentence)
    ]
    if _OF_LATE.search(" ".join(stated)):
        return False
    others = [clause for clause in stated if not is_past(asked, clause)]
    matter = asked - GRAMMATICAL
    return len(others) < len(stated) and all(
        matter.isdisjoint(tokenise(clause)) and _PRESENT.search(clause) is None for clause in others
    )

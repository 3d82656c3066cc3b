# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Tells what a text reports as past from what is so: "I lived in Paris for ten years" does not answer "Where do I live?".

A state in the past is over ("I worked at Siemens"), and so is a habit of a time that is named as bygone ("I played the
cello at school", 我在巴黎住过); what was done of late is none ("I took oat milk today"), and what happened may have left
what is so now ("I moved to Rome", "I bought a Volvo").
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mnemic.core.tokens import tokenise
from mnemic.core.word_forms import other_forms
from mnemic.extract.chinese import has_chinese, simple
from mnemic.extract.sentences import written_sentences
from mnemic.recall.polarity import ASKS_PAST, GRAMMATICAL, asked_words
from mnemic.recall.whom_it_is_about import clauses
from mnemic.recall.word_groups import ASKS_END, LONG_AGO, MOVED, REPLACED, USED_TO, WordGroup

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

_OWN_VERB: Final = re.compile(
    r"\b(?:(?:i|we) |(?:my|our) (?:[\w'’-]+ ){1,3}?)"
    r"(?:(?:both|all|only|just|mostly|mainly|first|once|also|even|actually|already|\w+ly) )*"
    r"(?P<verb>was|were|had(?! (?:to|been|just|already|\w+ed)\b)|[a-z]+)\b",
    re.IGNORECASE,
)
"""What is done or was by the speaker, or by who or what is theirs."""
_STATES: Final = frozenset(
    ["lived", "resided", "worked", "owned", "rented", "studied", "taught", "dated", "belonged", "shared", "kept", "ran"]
)
"""Verbs whose past says by itself that it is over."""
_BEING: Final = frozenset(("was", "were", "had", "owned"))
_BEING_CHINESE: Final = frozenset("住上做干当")
"""Verbs of which a question need not ask by name."""
_BYGONE: Final = (
    USED_TO
    + LONG_AGO
    + WordGroup(
        r"until|till|before|growing up|(?:in )?those days|at the time|at (?:school|uni|university|college)|in (?:high )?school|in college"
        r"|for (?:a|an|some|several|many|a few|a couple of|\w+) (?:while|time|bit|years?|months?|weeks?|summers?|seasons?|terms?|ages|decades?)"
        r"|back (?:at|in|when)|as an? (?:\w+ )?(?:child|kid|boy|girl|teen(?:ager)?|student|undergrad\w*|trainee|apprentice)"
        r"|in (?:my|our) (?:early |late )?(?:teens|twenties|thirties|forties|youth|childhood|student days|first job|last job)"
        r"|in the (?:\w+ies|['’]?\d0s|old days|past)|in (?:19|20)\d\d|when (?:i|we) (?:was|were|lived|worked|studied)"
        r"|that (?:summer|winter|spring|autumn|fall|year|term)",
        r"(?:^|[我们咱家里，,。；;])(?:之前|过去|早些年|早年)(?!的)|大学的?时候|高中的?时候|上学的?时候|年轻的?时候|那时候?|那[几两些]年|当年|那会儿?",
    )
).pattern()
"""Names a time that is over."""
_USED_TO: Final = re.compile(
    r"(?<!\bam )(?<!['’]m )(?<!\bare )(?<!['’]re )(?<!\bgot )(?<!\bget )\bused to (?=[a-z]+)(?!the\b|this\b|that\b|it\b)"
)
_OF_LATE: Final = (
    MOVED
    + REPLACED
    + WordGroup(
        r"since|still|always|today|tonight|yesterday|this (?:morning|afternoon|evening|week|month|year)|last night|just|again|now(?:adays)?|these days"
        r"|all my life|on \w+day|finally|at last|started|began|joined|bought|adopted|never stopped",
        "现在|如今|目前|最近|今天|昨天|刚|还|仍|一直|从此|后来|这[周月天阵]|终于|开始",
    )
).pattern()
"""Tells what is of late, goes on or came about, so that something may be so now."""
_BEEN_CHINESE: Final = re.compile(
    r"(?<!不)(?<!没)([\u4e00-\u9fff])过(?![敏年来去节生期分程度奖瘾滤户渡]|[\u4e00-\u9fff]{0,4}了)"
)
"""By the verb before it, says that somebody has once done something."""
_NOT_OF_NOW: Final = re.compile(
    r"\b(?:before|previous(?:ly)?|former(?:ly)?|used to|ever|first|last|over time|history|old|ex)\b|以前|之前|曾|过去|从前|原来|最初|过[吗没]|时候|那时|当年|上一",
    re.IGNORECASE,
)


def asks_of_now(question: str) -> bool:
    """Whether a question asks how things are, and not how they were or whether they ended."""
    return not any(form.search(question) for form in (ASKS_PAST, ASKS_END, _NOT_OF_NOW))


def is_past(asked: AbstractSet[str], clause: str) -> bool:
    """Whether a clause tells in the past a state or a bygone habit of what some words of a question ask about.

    Args:
        asked: Their tokens.
    """
    if _OF_LATE.search(clause):
        return False
    if has_chinese(clause):
        plain = simple(clause)
        told = asked.intersection(tokenise(plain)) - GRAMMATICAL
        been = any(match[1] in asked or match[1] in _BEING_CHINESE for match in _BEEN_CHINESE.finditer(plain))
        return bool(told) and (been or _BYGONE.search(plain) is not None)
    told = asked & set(tokenise(clause))
    if told and _USED_TO.search(clause):
        return True
    for match in _OWN_VERB.finditer(clause):
        verb = match["verb"].lower()
        if _asks_for(asked, verb) or (verb in _BEING and told):
            return verb in _STATES or _BYGONE.search(clause) is not None
    return False


def _asks_for(asked: AbstractSet[str], past: str) -> bool:
    """Whether a verb in the past is one of some words in another form."""
    (token, *_) = tokenise(past) or [""]
    if past.endswith("ed"):
        return token in asked
    forms = other_forms(token)
    return not asked.isdisjoint(forms[:1])


def tells_only_past(question: str, text: str) -> bool:
    """Whether all that a text says to a question for how things are is how they were."""
    if not asks_of_now(question):
        return False
    asked = asked_words(question)
    told = [
        clause
        for sentence in written_sentences(text)
        if sentence.rstrip()[-1:] not in ("?", "？")
        for clause in clauses(sentence)
    ]
    if _OF_LATE.search(" ".join(told)):
        return False
    past = [clause for clause in told if is_past(asked, clause)]
    matter = asked - GRAMMATICAL
    return bool(past) and all(matter.isdisjoint(tokenise(clause)) for clause in told if clause not in past)

# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Tells that a text holds, for the value that is asked for, only a mask: "my card is **** 4432" gives no number."""

from __future__ import annotations

import re
from typing import Final

_MASK: Final = re.compile(
    r"\[(?:masked|redacted|hidden|removed|filtered|censored|omitted)\b[^\]]{0,30}\]|[<(](?:redacted|hidden|removed|masked)[>)]"
    r"|\bREDACTED\b|(?:[*•●█▇] ?){3,}|\b[xX]{2,}(?:[- ][xX]{2,}){1,}|\b[xX]{3,}(?:[- ]\d{2,})?\b|(?<!\.)\.{4,} ?\d{2,}"
    r"|[\[【（(]已?(?:隐藏|屏蔽|打码|脱敏|删除|省略)[^\]】）)]{0,10}[\]】）)]",
    re.IGNORECASE,
)
_SHOWN: Final = r"(?:\b\d{2,4}[ -]){0,6}[\w.-]{0,3}(?:MASK)(?:[\s-]*(?:\d{1,4}(?!\d)|(?:MASK)))*"
"""A mask with what is left of the value around it; of the groups of digits before it no more than a value has."""
_MASKED: Final = re.compile(_SHOWN.replace("MASK", _MASK.pattern), re.IGNORECASE)
_ASKS_VALUE: Final = re.compile(
    r"\b(?:number|password|passcode|passphrase|pin|code|key|token|secret|e-?mail|mail address|phone|iban|account|card|ssn"
    r"|passport|licen[cs]e|login|credentials?)\b|密码|口令|卡号|账号|帐号|手机号?|电话|号码|身份证|护照|邮箱|验证码|密钥|令牌",
    re.IGNORECASE,
)
"""Asks for a value that people and programs mask."""
_ASKS_PART: Final = re.compile(
    r"\b(?:last|final|first) (?:\w+ )?(?:digits?|numbers?|letters?|characters?)\b|\bends? (?:in|with)\b|\bending\b"
    r"|[后末尾前]几?[一二三四五六\d]?位|尾号|[开结]头|结尾",
    re.IGNORECASE,
)
"""Asks for the part that a mask leaves."""
_EMPHASIS: Final = re.compile(
    r"(?<![\w*])\*{3}(?=[^\W\d_])([^*\n]{1,200})\*{3}(?![\w*])"
    r"|^[ \t]*\*{3} ?([^\W\d]+(?:[ :!]{1,2}[^\W\d]+){0,2}[ :!]{0,2})\*{3}(?!\*)"
    r"|^[ \t]*\*{3}(?=[ \t]*[^\W\d_])([^*\n]*)\*{3}[ \t]*$",
    re.MULTILINE,
)
"""What Markdown sets off between stars, which mask nothing: "***Update***: I moved"."""
_ASIDE: Final = re.compile(r"[(（][^()（）]*[)）]")
_CLAUSE_END: Final = re.compile(r"(?<=[。！；])|(?<=[.!;])\s|(?<![:：\s])\s*\n")
"""Where what is said of a value ends; not behind a question or a colon, which it follows."""
_FORMER: Final = re.compile(r"\b(?:old|former|previous|expired)\b|旧|以前|之前|原来", re.IGNORECASE)
_STAND_IN: Final = "\0"
_VALUE: Final = re.compile(r"\d(?:[ -]?\d){3}|(?<![\w.+-])[\w.+-]+@[\w-]+\.\w")


def is_masked_for(question: str, text: str) -> bool:
    """Whether a text has a mask where the value stood that a question asks for, and no such value beside it."""
    if _ASKS_VALUE.search(question) is None or _ASKS_PART.search(question) or _MASK.search(text) is None:
        return False
    text = _EMPHASIS.sub(lambda match: next(filter(None, match.groups()), " "), text)
    shown = _MASKED.sub(f" {_STAND_IN} ", text)
    clauses = [*_ASIDE.findall(shown), *_CLAUSE_END.split(_ASIDE.sub(" ", shown))]
    masked = [clause for clause in clauses if _STAND_IN in clause]
    if not masked or _VALUE.search(shown):
        return False
    named_plainly = any(_ASKS_VALUE.search(clause) for clause in clauses if _STAND_IN not in clause)
    naming = (clause for clause in masked if _ASKS_VALUE.search(clause))
    return not named_plainly or any(not _FORMER.search(clause) or _FORMER.search(question) for clause in naming)

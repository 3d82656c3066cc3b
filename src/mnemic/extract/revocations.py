# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""What a user takes back of what they had told the assistant, and which instruction it bears on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from mnemic.core.tokens import is_stop, tokenise
from mnemic.extract.chinese import simple
from mnemic.extract.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mnemic.extract.sentences import Sentence

T = TypeVar("T")

_LEAD: Final = r"^(?:(?:ok(?:ay)?|oh|hey|also|and|well|actually|thanks|thank you|by the way|btw|please|so|alright|right|now|from now on)[,.!: ]+)*"
_RULE: Final = (
    r"(?:rule|instruction|request|preference|thing|order|restriction|ban|requirement|guideline|policy|habit)s?"
)
_UNDO: Final = r"(?:forget|ignore|disregard|scrap|drop|cancel|undo|lift|remove|never mind|delete|revoke|discard|lose)"
_ENDS: Final = r"(?:any ?more|any longer|now|from now on|every time|again|going forward)"
_FORMS: Final = (
    rf"{_LEAD}you (?:no longer (?:need|have) to|can stop|may stop) (?P<topic>.+)",
    rf"{_LEAD}you (?:(?:don't|do not) (?:need|have) to|needn't) (?P<topic>.+?) {_ENDS}",
    rf"{_LEAD}(?:there's |there is )?no (?:longer (?:any |a )?)?need to (?P<topic>.+?)(?: {_ENDS}|[.!]*$)",
    rf"{_LEAD}(?:you (?:can|may|could)|feel free to|it's (?:ok|okay|fine|alright) to|go back to|i don't mind) (?P<topic>.+?) (?:again|as before|after all)\b",
    rf"{_LEAD}{_UNDO} (?:about )?(?:what|everything|anything|all) i(?:'ve| have)? (?:said|told you|asked|wrote|mentioned)(?: you)?(?: before| earlier)?"
    rf"(?: about| on| regarding| for| to)? ?(?P<topic>.+)",
    rf"{_LEAD}{_UNDO} (?:about )?(?:the|my|that|your|our) (?:old |earlier |previous |last )?{_RULE}(?: about| on| for| regarding| with| to| of)? (?P<topic>.+)",
    rf"{_LEAD}{_UNDO} (?:about )?(?:the|my|that|our) (?P<topic>.+?) {_RULE}\b",
    rf"{_LEAD}i(?:'ve| have)? changed my mind (?:about|on) (?P<topic>.+)",
    rf"{_LEAD}(?:the|my|that) {_RULE} (?:about|on|for|of) (?P<topic>.+?) (?:no longer|is off|is void|is gone|doesn't|can go|was)",
    rf"{_LEAD}(?:the|my|that) (?P<topic>.{{1,60}}?) {_RULE} (?:is (?:off|void|gone|lifted|over)|no longer (?:applies|holds)|can go|doesn't apply)\b",
    rf"{_LEAD}i(?:'d like to)? take back (?:what|everything|all) i(?:'ve| have)? (?:said|told you|asked|wrote)(?: you)?(?: about| on| regarding| for| to)? ?(?P<topic>.+)",
    rf"{_LEAD}(?P<topic>[^,;:]{{1,60}}?) (?:are|is) (?:fine|ok|okay|alright|allowed|welcome|good) (?:again|after all)\b",
    r"(?:以后|现在|今后|你|您|也|就|可以|都|[，,])*(?:不用|不必|不需要|无需|不要求你?|没必要)(?:再|继续|每次|总是|一直)*(?P<topic>.+?)(?:了|啦)(?:[。！!~]*$|[，,](?=恢复|改回|换回|回到|像以前|照旧|跟以前))",
    r"(?:别|不要)(?:再|总是|一直)*(?P<topic>[^，,]{1,20}?)(?:了|啦)?[，,](?:请|还是|就)*(?:恢复|改回|换回|照旧)",
    r"(?P<topic>[^，,]{1,16}?)(?:又|还是)(?:可以|能|行)(?:用|说|写|加|带)?(?:了|的|啦)(?:[。！!~]*$|[，,])",
    r"(?P<topic>[^，,]{1,16}?)(?:就算了|算了吧|不用了|停了吧)[，,](?:恢复|换回|改回|照旧)",
    r"(?:那[条个]|之前|以前|关于|我的?|的)*(?P<topic>[^，,]{1,16}?)的?(?:规矩|规则|要求|规定|设定|限制)(?:就|都|先|可以)*(?:取消|作废|不算|免了|算了|撤)",
    r"(?:请|帮我|把|你|可以)*(?:取消|撤销|忘掉|忘了|忘记|忽略|作废|去掉|解除|删掉|收回)(?:之前|以前|上次|我|关于|那条|那个|的|说过?|提过?|要求你?|让你|对)*(?P<topic>.+?)(?:的)?(?:规矩|规则|要求|指令|设定|规定|限制|话|事情?|说法|约定)(?:吧|了|$|[。，！])",
    r"(?:我|关于)*(?:之前|以前|上次|原来)(?:我)?(?:说|要求|让你|提|讲|定)(?:过)?的?(?P<topic>.+?)(?:不算|作废|取消|算了|不用了|就算了|可以不用|不用管)",
    r"(?:以后|现在|你|您|又|就|[，,])*(?:可以|能)(?:又|再|重新|恢复|继续)(?P<topic>.+?)(?:了|吧|啦)?[。！!]*$",
    r"(?:请)?(?:恢复|改回)(?P<topic>.+?)(?:了|吧)?[。！!]*$",
)  # fmt: skip
_PATTERNS: Final = [re.compile(form) for form in _FORMS]
_CUE: Final = re.compile(
    r"need|have to|can|may|free|forget|ignore|disregard|scrap|drop|cancel|undo|lift|remove|mind|delete|revoke|discard|back|rule|stop|again|after all|no longer|不|别|又|算了|规矩|取消|撤|忘|忽|作废|去掉|解除|删|收回|之前|以前|上次|恢复|改回|可以|能"
)
_SAYS_LITTLE: Final = frozenset(
    tokenise(
        "use give make write add keep put call tell say answer reply always never please do get have show stop "
        "everything every time"
    )
)
_ENOUGH: Final = 0.5
"""The part of a revocation's telling words that an instruction must share to be the one that is meant."""


@dataclass(frozen=True, slots=True)
class Revocation:
    """Something the user takes back.

    Attributes:
        text: The sentence, `text[start:end]` of what it was found in.
        topic: What it is about, in its words.
    """

    text: str
    start: int
    end: int
    topic: str


def revocations(text: str, spoken: Iterable[Sentence] | None = None) -> list[Revocation]:
    """What is taken back in a user's own words, in order; at most one to a sentence.

    Args:
        spoken: The sentences of the text, if they are known.
    """
    extracted: list[Revocation] = []
    for sentence in sentences(text) if spoken is None else spoken:
        match = taking_back(sentence)
        if match:
            end = sentence.start + len(sentence.low)
            begins, ends = (sentence.start + at for at in match.span("topic"))
            extracted.append(Revocation(text[sentence.start : end], sentence.start, end, text[begins:ends]))
    return extracted


def taking_back(sentence: Sentence) -> re.Match[str] | None:
    """Match a sentence that takes something back, with its topic, whatever stands."""
    low = simple(sentence.low)
    if sentence.asks or _CUE.search(low) is None:
        return None
    return next(filter(None, (pattern.match(low) for pattern in _PATTERNS)), None)


def revoked(words: int, shared: Mapping[T, int]) -> T | None:
    """Which of the standing instructions a topic is about; None if none shares enough words, or two the same.

    "Stop doing that" names nothing and so revokes nothing: better one instruction too long than the wrong one gone.

    Args:
        words: How many telling words the topic has.
        shared: How many of them each instruction has too.
    """
    most = max(shared.values(), default=0)
    best = [which for which, count in shared.items() if count == most]
    return best[0] if len(best) == 1 and most >= max(1, _ENOUGH * words) else None


def telling(text: str) -> set[str]:
    """Choose the words that say what a text is about; of Chinese the pairs of characters."""
    terms = {term for term in tokenise(simple(text)) if not is_stop(term) and term not in _SAYS_LITTLE}
    return {term for term in terms if len(term) > 1 or term.isascii()}

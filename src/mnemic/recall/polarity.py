"""Whether yes or no answers a question, by what was said last of its matter: confirmed, ended, denied or replaced.

A logistic model over a few signs in the words: what the question presumes ("still", "ever", a past, an end of
something), how much of it the statement that answers names, whether that statement ends, denies or only supposes
something, and how much of the question an older statement of the matter names, in whose place something else may have
come. Its weights are learned with those of `recall.sureness`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.core.tokens import is_stop, tokenise
from mnemic.recall.understand import UNSPACED
from mnemic.recall.word_groups import ASKS_END, CONTINUES, DENIED, DENIES, SUPPOSES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mnemic.core.queries import Recalled

    Floats = NDArray[np.float32]

NEAR: Final = 3.0
"""By how much less than the first, in log odds, another statement may bear on a question to be one of its matter."""

POLAR_INPUTS: Final = (
    *("still", "ever", "past", "presumes an end", "names it", "older name it", "supposes"),
    *("past, named", "past, not ended", "an end, not denied", "an end, named"),
    *("named and plain", "all named and plain", "named and denied", "goes on"),
)
"""What the model reads, in order."""

STILL: Final = re.compile(r"\b(?:still|yet|any ?more)\b|还|仍", re.IGNORECASE)
PRESUMED: Final = re.compile(
    r"\bstill\b|\bany ?more\b|还(?![书钱款贷债给清账]|信用卡|没)|仍",
    re.IGNORECASE,
)
"""Presumes that something was so: "yet" does not, nor does 还 where it says that something is given back."""
_EVER: Final = re.compile(r"\bever\b|曾|过[吗没]", re.IGNORECASE)
ASKS_PAST: Final = re.compile(r"\b(?:did|was|were|had)\b|那阵|那时|当时|以前", re.IGNORECASE)
_FORMS: Final = {
    **dict.fromkeys(("no", "not", "never", "none", "nothing", "n't", "n’t", "没", "不"), "not"),
    **dict.fromkeys(("sell", "卖"), "sold"),
    **dict.fromkeys(("stop", "停"), "stopped"),
    **dict.fromkeys(("lose",), "lost"),
    **dict.fromkeys(("leave",), "left"),
    **dict.fromkeys(("give up", "given up", "gave up"), "gave"),
    **dict.fromkeys(("broke up", "break up", "broken", "broken up"), "broke"),
    **dict.fromkeys(("cancel", "cancels", "canceled", "cancelled"), "cancelled"),
    **dict.fromkeys(("finish", "end"), "finished"),
}
"""Forms of a word of an end that mean the same; "not" for all that only denies."""
RESUMES: Final = re.compile(
    r"\b(?:again|resumed|restarted|reopened|another (?:go|chance|try|shot)|back together|made up"
    r"|back (?:doing|(?:at|into|to) \w+ing))\b"
    r"|又(?:开始|[去练学养]|[\u4e00-\u9fff]{1,2}[上起])|重新|重开|恢复|和好|复合|捡起来",
    re.IGNORECASE,
)
"""Says that what was over goes on."""
_PARTICLES: Final = frozenset("了过吗呢吧么的我你他她在是有没不会家")
"""Characters of a question that name nothing it asks about."""
GRAMMATICAL: Final = _PARTICLES | frozenset(
    "一二两三四五六七八九十几个只条次下上把被让给就都也又还再很这那来去到和跟从对着得地们"
)
"""Characters of an unspaced script that name nothing themselves: a pair with one of them is a pair of grammar."""
_NAMES: Final = 0.3
_ALL: Final = 0.7
"""Shares of a question from which a statement names some of what it asks about, or just that."""


def goes_on(text: str) -> bool:
    """Whether a text says that what was over goes on: nothing in it ends, or only what it tells of before that.

    换了家店又练起来了 does; "gave up again" and 不会又开始 do not.
    """
    text = text.replace("不过", "但")  # which denies nothing
    if DENIES.search(text) is None:
        return RESUMES.search(text) is not None
    resumed = [match for match in RESUMES.finditer(text) if match[0].casefold() != "again"]
    return bool(resumed) and DENIES.search(text, resumed[-1].end()) is None and DENIED.search(text) is None


def polar(question: str, evidence: Sequence[Recalled]) -> Floats:
    """What the model reads of a question for yes or no and its evidence, the best first; `POLAR_INPUTS`."""
    first = evidence[0]
    still, ever, past = (bool(form.search(question)) for form in (STILL, _EVER, ASKS_PAST))
    asked_end, told_end = _endings(ASKS_END, question), _endings(DENIES, first.text)
    end, denies = bool(asked_end - told_end), denies_more(question, first.text)
    supposes = bool(SUPPOSES.search(first.text))
    asked = asked_words(STILL.sub("", question))
    named = share_held(asked, first.text)
    older = max((share_held(asked, hit.text) for hit in evidence[1:] if _of_the_matter(hit, first)), default=0.0)
    plain = not denies and not supposes
    signs = (
        *(past and named > 0, past and not denies, end and not denies, end and named >= _NAMES),
        *(named >= _NAMES and plain, named >= _ALL and plain, named >= _NAMES and denies),
        bool(CONTINUES.search(first.text)),
    )
    return np.array((still, ever, past, end, named, older, supposes, *signs), np.float32)


def denies_more(question: str, text: str) -> bool:
    """Whether a text denies or ends something that a question does not ask for."""
    return bool(_endings(DENIES, text) - _endings(DENIES, question) - _endings(ASKS_END, question))


def _endings(form: re.Pattern[str], text: str) -> frozenset[str]:
    """The words of an end or a denial in a text, each as the form that it is listed by.

    What a question asks for and a statement says is no denial: "I'm left-handed" to "Am I left-handed?".
    """
    return frozenset(_FORMS.get(word := match.casefold(), word) for match in form.findall(text))


def _of_the_matter(hit: Recalled, first: Recalled) -> bool:
    """Whether a statement is of the matter of the first, as far as recall can tell."""
    bears = hit.bearing is not None and first.bearing is not None and hit.bearing > first.bearing - NEAR
    return hit.succession > 1 or bears


def asked_words(question: str) -> set[str]:
    """The words of a question that tell what it asks about; of an unspaced script the characters."""
    words = {token for token in tokenise(question) if not is_stop(token) and token not in _PARTICLES}
    return {token for token in words if len(token) == 1 or token < UNSPACED}


def share_held(asked: set[str], text: str) -> float:
    """The share of some words that a text holds, 0 to 1."""
    return len(asked & set(tokenise(text))) / max(1, len(asked))


def telling_words(text: str) -> set[str]:
    """The tokens of a text that name something: no words of grammar.

    Of an unspaced script the pairs, as a character is in many words.
    """
    telling = {token for token in tokenise(text) if not is_stop(token) and (len(token) > 1 or token < UNSPACED)}
    return {token for token in telling if GRAMMATICAL.isdisjoint(token)}

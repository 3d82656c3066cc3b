# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Tells what a question for yes or no asks about, and whether a sentence names it: the words left of it that tell.

"Did I end up with a greyhound?" asks about a greyhound, 我是不是开民宿了 about 民宿: words of grammar, of time, and verbs
by which anything is had, got or kept name nothing. Of Chinese, which puts no spaces between words, what stands between
such characters is a word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemic.core.tokens import is_stop, tokenise
from mnemic.extract.chinese import KNOWN_PLACES, has_chinese
from mnemic.recall.yes_or_no import holds_chinese

if TYPE_CHECKING:
    from collections.abc import Sequence

_LIGHT: Final = frozenset(
    tokenise(
        "have having got get gets getting own owns keep keeps keeping put end ended still ever yet already now currently"
        " these days back then time just really actually any anything something go going went take taking give giving"
        " gave do doing did run running start started begin use using at all again more"
    )
)
"""Words of a question that name nothing it asks about."""
_VERBS: Final = frozenset(
    tokenise(
        "live living work working move moved moving charge charging study teach based lesson lessons class classes"
        " easter christmas xmas new"
    )
)
"""Words that say of what a question asks about how it is had, and names of days: they count where nothing else does."""
_GRAMMAR_CHINESE: Final = re.compile(
    r"([\u4e00-\u9fff])[不没]\1|是不是|有没有|没有|已经|现在|目前|到底|平时|那[会阵]儿?|时候|以后|之后|以前|当时|[一两]只"
    r"|我们?家?里?|咱们?家?|俺们?家?|家里|改成|换成|变成"
    r"|[的了过吗呢吧么还在有是去到来把被给就都也又很和跟从对着得里会能要上开养搬调进住当改换成做包没不]"
)
"""Characters of a question between which stands what it asks about."""
_WHOLE_CHINESE: Final = re.compile(
    "|".join(sorted(KNOWN_PLACES, key=len, reverse=True))
    + "|开封|和田|来宾|对象|对门|和尚|会员|会计|会议|工会|协会|学生会|社团|面包|包子|钱包|背包|红包|开水|公里|当铺|把手|得到"
)
"""Words with a character that is one of grammar elsewhere."""
_AFTER_CHINESE: Final = re.compile(r"^[^，,]{1,12}?(?:以后|之后)[，,]?(?=[^，,?？]{3})")
"""A clause before the question itself that says since when."""
_CLAUSE: Final = re.compile(
    r"[,，、:：;；.。!！?？—–]|\s(?:and|but|so|because|while|since|though)\s|(?<=[\u4e00-\u9fff])\s+(?=[\u4e00-\u9fff])"
)
_VERBS_CHINESE: Final = "吃喝抽买学练订租跑欠怕拿弹拉说用戒"
"""Verbs of one character before or behind what is asked about."""
_SAME: Final = {"女朋友": "女友", "男朋友": "男友", "女友": "女朋友", "男友": "男朋友"}
_LONG: Final = 4
"""Characters of a Chinese word from which most of them are enough: it may be two words."""
_MOST: Final = 0.75
_BEGINNING: Final = 5
"""Letters by which words are of one stem: teach, teacher."""


@dataclass(frozen=True, slots=True)
class AskedMatter:
    """The words of a question for yes or no that tell what it asks about.

    Attributes:
        words: Its tokens; of Chinese the words.
        phrases: Of Chinese, the words with the verb of one character that is asked with them: 学围棋.
    """

    words: frozenset[str]
    chinese: bool
    phrases: frozenset[str] = frozenset()

    @classmethod
    def of(cls, question: str, times: Sequence[str] = ()) -> AskedMatter:
        """Read a question.

        Args:
            times: The words by which it names times.
        """
        question = without_times(question, times)
        if has_chinese(question):
            question = without_since(question)
            whole = _WHOLE_CHINESE.findall(question)
            rest = _GRAMMAR_CHINESE.sub(" ", _WHOLE_CHINESE.sub(" ", question)).casefold()
            parts = [*whole, *re.findall(r"[\u4e00-\u9fffA-Za-z0-9]+", rest)]
            bare = [part.strip(_VERBS_CHINESE) or part for part in parts]
            telling = [part for part in bare if len(part) > 1] or bare
            phrases = frozenset(part for part, word in zip(parts, bare, strict=True) if part != word)
            return cls(frozenset(telling), chinese=True, phrases=phrases)
        telling_tokens = frozenset(token for token in tokenise(question) if not is_stop(token)) - _LIGHT
        return cls(telling_tokens - _VERBS or telling_tokens, chinese=False)

    def share_in(self, text: str) -> float:
        """The share of its words that a text names, 0 to 1."""
        if not self.words:
            return 0.0
        if self.chinese:
            low = text.casefold()
            return sum(_named(word, low) for word in self.words) / len(self.words)
        return len(self.words & set(tokenise(text))) / len(self.words)

    def named_in(self, text: str) -> bool:
        """Whether a text names all of it."""
        return self.share_in(text) >= 1

    def touched_by(self, text: str) -> bool:
        """Whether a text may speak of it at all: by a part of a word, or a word of the same beginning."""
        if self.chinese:
            return any(word[at : at + 2] in text for word in self.words for at in range(max(1, len(word) - 1)))
        begins, low = {word[:_BEGINNING] for word in self.words}, text.casefold()
        return any(begin in low if len(begin) == _BEGINNING else begin in tokenise(low) for begin in begins)

    def clauses_in(self, sentence: str) -> list[str]:
        """The clauses of a sentence that name some of it."""
        return [clause for clause in _CLAUSE.split(sentence) if clause and self.share_in(clause) > 0]


def without_times(question: str, times: Sequence[str]) -> str:
    """A question without the words by which it names times."""
    for time in times:
        question = question.replace(time, " ")
    return question


def without_since(question: str) -> str:
    """A question without the clause before it that says since when: 学了围棋以后书法还在上吗."""
    return _AFTER_CHINESE.sub("", question)


def _named(word: str, text: str) -> bool:
    """Whether a text holds a Chinese word, or another for it, or of a long one most of its characters.

    One of a single character counts only where it is none of another word: 车, not 火车票.
    """
    if len(word) == 1 and has_chinese(word):
        return holds_chinese(text, word)
    if word in text or len(word) < _LONG:
        return word in text or _SAME.get(word, word) in text
    return sum(character in text for character in word) / len(word) >= _MOST

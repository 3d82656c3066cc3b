# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Finds what a sentence puts where the answer to a question would stand, whatever word that is.

"My eyes are hazel" gives "hazel" to "What colour are my eyes?", and "I take my pills with food" gives "food" to "When
do I take my pills?". No list holds all colours, hours and firms, but the words of the question show the place.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mnemic.core.tokens import is_stop, tokenise
from mnemic.core.word_forms import other_forms
from mnemic.recall.polarity import GRAMMATICAL, asked_words

if TYPE_CHECKING:
    from collections.abc import Iterator

_OF_THE_ASKING: Final = frozenset(
    (*tokenise("colour color name called much long time old cost"), *"颜色钱名字叫时候姓")
)
"""Words of a question that tell what is asked for, and of nothing."""
_IS: Final = re.compile(
    r"(?:['’](?:s|re)|\b(?:is|are|was|were)) (?:(?:now|actually|still|really|sort of|kind of|a shade of|(?:a |an )?(?:deep|bright|rich|soft|dusty|lovely|nice|shiny|faded|pastel|warm)) )?([A-Za-z][\w'’-]*)"
)
_NEAR: Final = 40
"""Letters before a verb in which its subject ends."""
_BEHIND: Final = re.compile(
    r"\b(?:at|with|in|on|by|for|as|after|before|upon|around|over|under|from) (?:(?:the|a|an|my|our|first|every|each) )?([A-Za-z][\w-]+)"
)
_NUMBER: Final = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty)"
)
_OF_SOMETHING: Final = (
    r"years?|yrs?|months?|weeks?|days?|nights?|hours?|hrs?|minutes?|mins?|times|of us|of them|people|kids|miles?|rooms?"
)
_NUMBERED: Final = re.compile(
    rf"\b{_NUMBER}\b(?! (?:{_OF_SOMETHING})\b)"
    r"|[一二两三四五六七八九十百]{1,5}(?=\W*$|[，,。！!；;])",
    re.IGNORECASE,
)
_SUM_IN_WORDS: Final = re.compile(
    rf"(?<!at )(?<!by )(?<!till )(?<!past )\b{_NUMBER} (?:(?:twen|thir|for|fif|six|seven|eigh|nine)ty\b"
    r"|(?:an?|per) (?:hour|day|night|week|month|term|year|head|person|kilo|session|lesson|visit)\b)",
    re.IGNORECASE,
)
_MADE_CHINESE: Final = r"(?:是|刷成|漆成|染成|涂成|刷的|染的)"
_NO_VALUE_CHINESE: Final = re.compile(r"[一二两三几]|新|旧|坏|的$|[给让被在]|我|[他她]|不|没|很|最")
_BESIDE_CHINESE: Final = re.compile(r"[在和跟给用戴带陪去到]|一起|今天")


def words_asked(question: str) -> set[str]:
    """The words of a question that tell of what it asks, without those that tell what for."""
    return asked_words(question) - _OF_THE_ASKING


def is_called(question: str, text: str) -> Iterator[str]:
    """Each single word that a text says the last thing that a question names is: "The door is crimson."."""
    asked = words_asked(question)
    head = next((token for token in reversed(tokenise(question)) if token in asked), None)
    for match in _IS.finditer(text):
        before = tokenise(text[max(0, match.start() - _NEAR) : match.start()])
        if before and before[-1] == head and not is_stop(match[1].casefold()):
            yield match[1]


def is_called_chinese(question: str, text: str) -> Iterator[str]:
    """Each short word that a Chinese text says the thing that a question names is: 窗帘是卡其的."""
    asked = words_asked(question)
    for match in re.finditer(rf"([\u4e00-\u9fff]){_MADE_CHINESE}([\u4e00-\u9fff]{{1,4}}?)的?(?=\W|$)", text):
        if match[1] in asked and match[2][-1] not in asked and _NO_VALUE_CHINESE.search(match[2]) is None:
            yield match[2]


def holds_all(question: str, text: str) -> bool:
    """Whether a text holds all words of what a question asks about, each in any of its forms."""
    asked, held = words_asked(question), set(tokenise(text))
    return bool(asked) and all(not held.isdisjoint((word, *other_forms(word))) for word in asked)


def puts_beside(question: str, text: str) -> Iterator[str]:
    """Each word that a text puts behind a preposition beside all that a question names: "with food", "at sunset"."""
    if not holds_all(question, text):
        return
    asked = asked_words(question)
    for match in _BEHIND.finditer(text):
        if not is_stop(match[1].casefold()) and asked.isdisjoint(tokenise(match[1])):
            yield match[1]


def puts_behind(question: str, text: str) -> Iterator[str]:
    """Each word that a text puts right behind all that a question names: "painted the shed plum"."""
    if not holds_all(question, text):
        return
    asked = words_asked(question)
    words = re.findall(r"[\w'’-]+", text)
    named = [n for n, word in enumerate(words) if not asked.isdisjoint(tokenise(word))]
    if len(named) > 1 and (value := words[named[-1] + 1 : named[-1] + 2]) and not is_stop(value[0].casefold()):
        yield value[0]


def puts_before_chinese(question: str, text: str) -> bool:
    """Whether a Chinese text puts a word before the act that a question names, where a time stands: 药随餐吃."""
    if not holds_all(question, text):
        return False
    asked = words_asked(question)
    before = text[: max(n for n, letter in enumerate(text) if letter in asked)]
    rest = [letter for letter in before if "\u4e00" <= letter <= "\u9fff" and letter not in asked | GRAMMATICAL]
    return len(rest) > 1 and _BESIDE_CHINESE.search(before) is None


def counts_beside(question: str, text: str) -> bool:
    """Whether a text gives a number in words, of no unit, beside all that a question names: "spent forty on it"."""
    return holds_all(question, text) and _NUMBERED.search(text) is not None


def tells_sum_in_words(text: str) -> bool:
    """Whether a text tells a sum in words alone: "six fifty", "fifteen an hour"."""
    return _SUM_IN_WORDS.search(text) is not None

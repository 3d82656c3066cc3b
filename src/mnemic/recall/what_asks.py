"""Tells what asks, or acknowledges, from what states something; "I live in Ghent, where do I park?" does both."""

from __future__ import annotations

import re
from typing import Final

from mnemic.extract.sentences import written_sentences
from mnemic.recall.word_groups import CONDITION, COULD, GUESS, WordGroup

ASKING: Final = re.compile(r"[?？][\"'”’)\]]*$")
_OTHERS: Final = r"(?:you|we|he|she|it|they|anyone|anybody|someone|somebody)"
_THEIR: Final = r"(?:the|my|our|your|his|her|its|their|this|that|these|those)"
_NO_VERB: Final = (
    r"(?:on|at|in|by|for|with|from|to|of|and|or|but|before|after|during|most|every|each|twice|once|again|now|daily"
    r"|weekly|regularly|often|sometimes|myself|together|too|these|this|last|next|when|while|because|as|instead|there)"
)
"""What stands behind the object of somebody who is not named, "Do pilates on Mondays.", and behind no subject."""
_ASKS_UNMARKED: Final = re.compile(
    r"\W*(?:(?:so|and|but|ok|hey|btw|lol|hmm|oh|wait)\W+)*(?:"
    rf"(?:(?:am|is|are|does|can|could|should|would|will) (?:i|{_OTHERS}|there|any|{_THEIR}(?! \w+est of\b))\b"
    rf"|(?:can|could|should|would|will) (?:an?|some)\b|is an? [\w-]+ an?\b|(?:do|has|have) (?:i|{_OTHERS}|any)\b"
    rf"|(?:has|have) {_THEIR} \w+ (?:\w+ed|been|come|gone|left|got|had|begun|started)\b"
    rf"|(?:do|are|could|should|would) (?:{_THEIR} )?[a-z]+s (?!{_NO_VERB}\b)[a-z]+)"
    r"(?! (?:is|are|was|were|will|would|has|can)\b)"
    r"|(?:why|how) (?:do|does|is|are|can|could|should|would|many|much|long|often|far|come)\b"
    r"|(?:what|which|where|when)(?:['’]s| is| are| do| does| can| could| should)"
    r" (?!(?:i|we) (?:love|like|want|need|miss|hate)\b|next\b|done\b|left\b)"
    r")[^,.;:\"“]*(?:,? (?:[\w'’]++ ?){1,3})?[.~ ]*$"
    r"|[^，,。；：“\"]*(?:[吗么](?<!什么)(?<!那么)(?<!这么)|是什么|什么意思|哪里来着"
    r"|[该要能]怎么[办弄说读写做])[~～。. ]*$"
    r"|[^，,。；：“\"我他她您教学问告诉记忘知懂会查看说]{0,12}(?:是多少|怎么[办弄说读写做])[~～。. ]*$"
    r"|\W*(?:请问|那)?怎么[办弄说读写做][^，,。；：“\"了]{0,8}[~～。. ]*$",
    re.IGNORECASE,
)
"""A question that somebody typed without its mark, with no clause beside it that may state something."""
_ACKNOWLEDGES: Final = re.compile(
    r"\W*(?:(?:ok(?:ay)?|thanks?(?: you)?(?: (?:so|very) much| a lot)?|noted|great|sure|cool|nice|got it|will do"
    r"|understood|perfect|sounds good|alright|you['’]re welcome|no problem|congratulations|glad to hear (?:it|that)"
    r"|好的?|谢谢你?|收到|明白了?|知道了|了解|没问题|恭喜|嗯|行)[\s,.!。，！、~～]*)+$",
    re.IGNORECASE,
)
_COMMA: Final = re.compile(r"，|,(?!\d)")
_STATES: Final = re.compile(
    r"^\W*(?:(?:so|and|but|well) )?"
    r"(?:(?:i|we)(?:['’](?:m|re|ve))?|(?:my|our) (?:[\w'’]+ ){1,3}?(?:is|are|has|have|lives?|works?))"
    r" (?!(?:was |were |am |are |do |can )?(?:wonder|guess|think|know|suppose|mean)\w*)\w+ \w+|[\u4e00-\u9fff]{4}",
    re.IGNORECASE,
)
"""States something of whoever speaks; of an unspaced script any clause that is long enough does."""
ASKS_HELP: Final = re.compile(
    r"^\W*(?:how|what|where|which|when|why|who) (?:do|does|can|could|should|would) (?:i|we)\b", re.IGNORECASE
)
"""Opens a question for help, however it goes on."""
_OPEN: Final = (
    CONDITION
    + GUESS
    + COULD
    + WordGroup(
        anywhere="什么|啥|哪|谁|吗|呢|怎么|咋|如何|多少|几|是不是|有没有|能不能|会不会|要不要"
        r"|请问|听说|为何|([\u4e00-\u9fff])[不没]\1"
    )
).pattern()
"""What asks or supposes, so that a clause with it states nothing."""


def asks(sentence: str) -> bool:
    """Whether a sentence is a question, with its mark or typed without."""
    return ASKING.search(sentence) is not None or _ASKS_UNMARKED.match(sentence) is not None


def states_nothing(text: str) -> bool:
    """Whether every sentence of a text only asks, or acknowledges."""
    return all(_only_asks(sentence) or _ACKNOWLEDGES.match(sentence) for sentence in written_sentences(text))


def _only_asks(sentence: str) -> bool:
    """Whether a sentence asks, and no clause of it states something before: "I live in Ghent, where do I park?"."""
    if not asks(sentence):
        return False
    *before, _ = _COMMA.split(sentence)
    return not any(_STATES.search(part) and not _OPEN.search(part) for part in before)

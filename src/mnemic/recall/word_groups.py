# ruff: noqa: E501 - a list cut in pieces is read wrongly
"""Groups of words by which something ends, was once so, is denied or only supposed; rules compose what they read of them.

A rule says by names what it reads: `(GIVEN_UP + PARTED).pattern()`; words that it alone needs stand beside these, where
it is. No word is listed in two groups; a shorter one may match within a longer. Whoever adds one here adds it to every
rule that reads the group.

What learned models read of a text (the last part) is fixed with their weights: words are changed there only where these
are learned anew (`python -m mnemic.lab.answer_training`). What `supposed` and `of_other_object` of `AnswerGrounds` tell
such a model is read by composed rules, and changes with them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class WordGroup:
    """Words that mean alike, as alternatives of a pattern; each part is joined by "|".

    Attributes:
        whole: Those that match as whole words, of scripts with spaces.
        anywhere: Those that match where they stand: Chinese, and endings of words.
    """

    whole: str = ""
    anywhere: str = ""

    def __add__(self, other: WordGroup) -> WordGroup:
        return WordGroup(_joined(self.whole, other.whole), _joined(self.anywhere, other.anywhere))

    @property
    def form(self) -> str:
        """The source of a pattern that finds any of them."""
        return _joined(rf"\b(?:{self.whole})\b" if self.whole else "", self.anywhere)

    def pattern(self) -> re.Pattern[str]:
        """A pattern that finds any of them, in capitals or not."""
        return re.compile(self.form, re.IGNORECASE)


def _joined(*forms: str) -> str:
    return "|".join(filter(None, forms))


# What ends.

GIVEN_UP: Final = WordGroup(
    r"quit|stopped|(?:gave|given) (?:it |them )?up|dropped out|resigned|retired|(?:jacked|packed) in",
    r"辞|戒(?!指|尺)|放弃(?:掉|了)*(?!\w)|退[了掉]|停[了掉药]|不[去上学练做来打跳养开用喝吃抽干请弹唱]了",
)
"""What somebody did, took or was in, they do no longer."""
PARTED: Final = WordGroup(
    r"(?:broke|broken|split) up|divorced|separated|dumped (?:me|(?-i:[A-Z])\w+)"
    r"|(?:i|he|she|we|they)(?:['’](?:ve|d|s)| have| has| had)? (?:just )?(?:got|been|was|were) dumped(?! \w+ (?:the|a|my|our)\b)",
    r"分手|(?<!闹)离婚|(?<!距)离了(?!解)|散伙|好聚好散|[跟和]\w{1,6}?(?:黄了|吹了(?!一)|掰了)",
)
"""Two are no longer together."""
SINGLE: Final = WordGroup(
    r"(?:i am|i['’]?m|we are|we['’]re|(?:have|['’]ve) been)(?: now| still)? single"
    r"(?=\W*(?:$|[.,;!])| (?:and|but|now|for|since|these|this|after|because|so|as|until)\b)|single again|widowed|unmarried",
    "单身|丧偶|未婚",
)
"""Who speaks is with nobody; a room is single too."""
RID: Final = WordGroup(
    r"sold|donated|rehomed|(?:gave|given) away|got rid|binned|scrapped",
    r"卖[了掉]|捐(?:了|掉|出|给)(?!\w{0,6}(?:块|元|钱|款|分))|送人|送给|转(?:手|让)|报废",
)
"""What somebody had they gave away, sold or threw away."""
LOST: Final = WordGroup("lost|stolen|gone|missing", "丢了|丢掉|走丢|跑丢|没了|不在了|不见了")
"""What was there is nowhere."""
DIED: Final = WordGroup(
    r"died|passed away|put to sleep|(?:was|were|be|been|got) put down|ran away", "去世|过世|死[了掉]|[病老]死"
)
"""Who is no more, or came never back."""
CALLED_OFF: Final = WordGroup(
    "cancell?ed|ended|closed down|came to an end", "取消|注销|结束了|停刊|休刊|告一段落|到此为止"
)
"""It was brought to its end."""
OVER: Final = WordGroup(
    r"finished|folded|(?:is|are|was|were|been|['’]s|['’]re|all) over|over(?=\W*(?:$|[.,;!]))", "结束(?!了)|到期"
)
"""It came to its end; of "finished", what of it may be only a part."""
NO_LONGER: Final = WordGroup("no longer|no more", "不再|没再|再也不")
LAST: Final = WordGroup(
    "last (?:ever )?(?:day|shift|lesson|session|class|game|match|issue|visit|dose|pill|one)", "最后一"
)
"""It was the last time."""
LEFT: Final = WordGroup("left", "离[开职]|走了|搬[离出走]")
"""Somebody went; "left" is also forgotten, and a side."""
SPOKEN_OF: Final = WordGroup("any ?more|goodbye", "退|停(?!在|车|留|靠)|卖|死|最后(?!一)|告别|毕业")
"""Words of an end that may as well be only spoken of: 卖车, "do you swim any more?"."""
ENDING: Final = GIVEN_UP + PARTED + RID + LOST + DIED + CALLED_OFF + OVER + NO_LONGER + LAST + LEFT + SPOKEN_OF
"""Any word of an end, for rules that rather leave a thing open than read it wrongly."""
REPLACED: Final = WordGroup(
    "instead|rather than|swapp(?:ed|ing)|switch(?:ed|ing)|replac(?:ed|ing)|took over|handed",
    "换|改|代替|接替|交接|兑出|盘(?:出|给)",
)
"""Something takes the place of something."""
MOVED: Final = WordGroup("mov(?:ed|ing)|relocated", "搬|跳槽|入职")
"""Somebody has another home or place of work."""

# What was once so.

USED_TO: Final = WordGroup(r"used to (?!it\b|the\b|this\b)|formerly|previously", "原来")
LONG_AGO: Final = WordGroup("years ago|back then", "以前|从前|曾|小时候")
ONCE: Final = (USED_TO + LONG_AGO).pattern()
"""Tells of what was so once, and is no more."""

# What is denied.

NOT: Final = WordGroup(
    "not|never|no|none|nothing|neither|without|cannot|cant", r"n['’]t\b|不|没|未|无法|(?<![特分级区性类])别(?!人|的|墅)"
)
DENIED: Final = NOT.pattern()
"""Says that something is not so."""
NO_DENIAL: Final = WordGroup(
    "not only|not just|no doubt|no wonder|nothing but",
    r"([\u4e00-\u9fff])[不没]\1|不[但仅只光止]|不得不|差不多|忍不住|没忍住|没想到|说不定",
).pattern()
"""Holds a word of denial, and denies nothing: 能不能, "not only"."""

# What is taken back.

CORRECTION: Final = WordGroup(
    "scratch that|correction|actually|sorry|oops|wait|hang on|hold on|my mistake|my bad|i misspoke|i was wrong|i got (?:it|that) wrong",
    "(?:我|上次|之前|刚才)*(?:说|记|搞|写)错了|不对(?![\u3400-\u9fff])|更正(?:一下)?|对不起|抱歉|等等|其实",
)
"""Opens a sentence that takes back what was told."""

# What is only supposed.

CONDITION: Final = WordGroup(
    "if|suppos(?:e|ing)|assuming|imagine", r"如果|要是|假如|假设|倘若|(?<![\d一二三四五六七八九十百千])万一"
)
GUESS: Final = WordGroup(
    "might|(?-i:may) (?:be|have|not|well|also|still|need|want|get|go|move)|maybe|perhaps|would",
    "也许|(?<!不)可能|说不定|或许",
)
"""It is so, or would be, as far as somebody knows."""
COULD: Final = WordGroup("could|should", "应该")
"""It can be so, or ought to be."""
SHORT_WOULD: Final = WordGroup(
    anywhere=r"['’]d (?!(?:just|never|already|always) |(?:been|had|\w+ed|got|gone|bought|taken|left|met|made|lost|sold)\b)(?=\w)"
)
""" "I'd", where it is no "had"; beside what is so it mostly only asks politely."""
WISH: Final = WordGroup("wish(?:es|ed|ing)?", "希望(?!小学|工程)|但愿|许愿|幻想|恨不得|巴不得")
HOPE: Final = WordGroup("hop(?:e|es|ed|ing)", "就好")
"""It is wished for, or only said so politely: "hope you are well"."""
DREAM: Final = WordGroup(
    r"dreamt|dreamed|dreaming|(?:had|in) (?:a|my|the|this) (?:\w+ )?(?:dream|nightmare)",
    "梦见|梦到|梦里|做梦|做了?个?噩?梦",
)
"""Tells a dream."""
SOMEDAY: Final = WordGroup("some ?day|one day|one of these days", "改天|哪天")
"""Puts it off to a day that may never come."""
WEIGHED: Final = WordGroup(
    r"thinking (?:of|about)|consider(?:s|ed|ing)?|tempted|toying with", "考虑|想(?!再|起|到|象|法|念|不到)"
)
"""Somebody has it in mind, and has not decided."""
PLANNED: Final = WordGroup("want(?:s|ed)?|plan(?:s|ned|ning)?", "打算(?!再)|计划|准备")
"""Somebody means to do it."""
NEARLY: Final = WordGroup("almost|nearly", "差一?点|险些")
AHEAD: Final = WordGroup(
    "will|gonna|(?:going|about) to|tomorrow|next (?:week|month|year|spring|summer|autumn|fall|winter|[mtwfs][a-z]+day)",
    "将[要来会]|即将|明[年天]|下个?[月周年]|后[年天]|快要|马上",
)
"""It is to come."""
SUPPOSED: Final = CONDITION + GUESS + COULD + SHORT_WOULD + WISH + HOPE + DREAM + SOMEDAY
"""Whatever makes a whole sentence one that says of nothing that it is so."""
INTENDED: Final = WEIGHED + PLANNED + NEARLY + AHEAD
"""Whatever makes a clause one that tells of what is not, or not yet, so."""

# What learned models read.

ASKS_END: Final = WordGroup(
    "give(?:n)? up|gave up|quit|stop(?:ped)?|separated|divorced|single|alone|sold|sell|left|leave|lost|lose"
    r"|retired|cancel\w*|broken? up|end(?:ed)?|over|without|no longer|not",
    r"n['’]t\b|辞|离婚|光棍|单身|分手|戒|卖|退|停|不再|取消|独居|一个人住",
).pattern()
"""Asks whether something is no more, or not so."""
DENIES: Final = WordGroup(
    "no|not|never|outgr[eo]wn?|none|nothing|without|instead|last (?:day|shift|one|time)|gone|lost|left|sold|quit"
    r"|stopped|gave|broken?|cancel\w*|closed|ended|over|finished|former|handed|dropped|out|off|away|goodbye|retired"
    "|returned|swapped|switched"
    "|(?:do|does|did|is|was|are|were|has|have|had|ca|wo|would|could|should)nt",
    r"n['’]t\b|不|没|别|停|退|卖|辞|离[婚开职]|散|断|戒|注销|取消|告别|最后|交给|移交|换|改|走了|完了|拆|送人|结束|到期|毕业|搬",
).pattern()
"""Says, or may say, that something is not so, or no more."""
SUPPOSES: Final = WordGroup(
    "if|suppose|might|may|maybe|would|could|wish|dreamt|dreamed|someday|one day|one of these|hope|horoscope|should",
    r"['’]d\b|['’]ll\b|如果|要是|等|梦|假如|考虑|想|敢|改天|哪天|许愿|就好",
).pattern()
"""May only suppose what it says."""
CONTINUES: Final = WordGroup(
    "still|again|back|too|also|as well|resumed|restarted|another (?:go|chance|try|shot)|made up",
    "还|仍|又|照样|依旧|也|和好|复合|捡起来",
).pattern()
"""May say that something goes on, or is added."""

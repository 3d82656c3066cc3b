# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Tells whether all that a text says of its speaker is supposed, planned, nearly so, dreamt, or only said by others.

"I almost moved to Dublin" holds every word of an answer to "Where do I live?", and is none. A text counts as such only
if no clause of it that could be of its speaker is left over: "I quit; had I known, I'd have done so before" is not.
"""

from __future__ import annotations

import re
from typing import Final

from mnemic.extract.chinese import has_chinese, simple
from mnemic.extract.sentences import written_sentences
from mnemic.extract.slots_en import English
from mnemic.extract.slots_zh import Chinese
from mnemic.recall.word_groups import CONDITION, DREAM, GUESS, WISH, WordGroup

_NOT_YET: Final = re.compile(
    r"^(?!.*\b(?:now|got it|got the (?:job|place|flat)|came true|at last|finally|succeeded|and i am|and we are)\b).*?"
    r"(?:\b(?:toying with|half a mind|keep meaning to|been meaning to|eyeing|saving up for|trying to (?:become|get|find|buy|learn|move)|applied (?:for|to)"
    r"|(?:have|had|got) an interview|interview(?:ed|ing)? (?:at|with|for)|look(?:ed|ing) (?:at|for) (?:a|an|some|another) (?:\w+ )?(?:house|flat|place|job|car|apartment|dog|cat)"
    r"|this close to|within an inch of|(?:was|were) (?:meant|supposed|going|set|due) to|(?:had|'d) (?:always )?(?:wanted|hoped|planned) to|turned down|turned (?:it|them) down"
    r"|backed out|fell through|(?:never|didn't) happen(?:ed)?|came to nothing|didn't work out|passed on the|missed out on|lost out on|could have|would have"
    r"|should have|in my sleep|in the sims|in character|pretend(?:ed|ing)?|for a (?:laugh|joke|prank)|yeah,? right|lied\b|lying|picture (?:me|myself|us)"
    r"|see myself|one of these|in another life|knowing me|withdrew|called (?:it )?off|declined|cold feet|(?:didn't|did not|never) (?:go through|sign|get the|take the)"
    r"|refused (?:the|an?)|rejected|changed my mind about|(?:put in|made) an offer|wait(?:ing )?list|viewing (?:for|of|at)|weighing up|talk(?:ed|ing) about|signed up to|in talks|on the list for"
    r"|my avatar|short story|made up|making up|sarcasm|sarcastic|like to say (?:that )?(?:i|we)|tease|^put me in an?)\b)"
    r"|(?:差一?点|险些|几乎就|本来(?:想|要|说好|打算)|原本(?:想|要|打算)|原来打算|本打算|当初想|曾(?:经)?想过?|拒绝了|泡汤|黄了|没成|没(?:买|去|办|谈)成|没去成|巴不得|换作|换成是|要不是|要敢|要真|要能"
    r"|有点想(?=买|换|去|学|搬|养)|正?犹豫|琢磨着|商量着|在看.{1,6}(?:房|车)|投了.{1,8}简历|去?.{0,4}面试|应聘|白日梦|做了?个?(?:噩)?梦|睡着的时候|话剧里|戏里|我演的|扮演"
    r"|逗你玩|骗你的|骗人的|瞎说|吹牛说|装作|假装|撒谎说|愚人节|随口(?:一)?说|谁不想|应该去|该去|该不该|愿不愿意|等我|等哪天|(?:[^，。]{1,6}了就[^，。]{0,4}(?:去|住|搬|买))|还没(?:签|定|办|批|下来)|在等.{1,8}(?:offer|通知|结果|回复)|想过.{0,3}年|排队(?:等|领)|约了.{0,8}看.{0,6}(?:房|车)|看中|撤回了?"
    r"|推了|推掉|没提|反悔|变卦|婉拒|谢绝|狼人杀|小品|演(?:的|一个|个)|桌游|密室|反话|编了个|好想|倒是愿意|愿意嫁|愿意搬|巴望|指望)"
)
"""Only planned, nearly so, refused, dreamt, played or made up; unless it says that it came about."""
_HEARD: Final = re.compile(
    r"\b(?:they|people|everyone|everybody|someone|somebody|linkedin|facebook|the (?:form|app|system|file|website|letter|list|card|recruiter|fortune teller)|a recruiter|apparently,? \w+)"
    r" (?:\w+ )?(?:claims?|wrote|writes|assumes?|assumed|thinks?|thought|believes?|believed|says?|said|told|has|reckons?|tried to)\b.*\b(?:i|i'm|me|my)\b"
    r"|(?:my \w+|mum|mom|dad) (?:keeps? (?:telling|saying|asking)|wants|wanted|begged|urged|nagged|advised|told|asked) (?:that )?(?:me|i)\b"
    r"|^\W*(?:my (?:\w+ )?\w+|gran|mum|mom|dad|an? \w+|the \w+|[a-z]+) (?:\w+ly )?(?:insists?|swears?|reckons?|claims?|suggest(?:s|ed)|recommend(?:s|ed)|thinks?|believes?|believed"
    r"|is (?:convinced|sure)|assumes?|calls? me an?|considers? me|tells everyone|keeps saying)\b.*\b(?:i|i'm|i'd|me|my)\b|\b(?:mix-?up|addressed to me as|mistook me|took me for|confused me with)\b"
    r"|(?:非要我|把我写成|咬定我|认定我|一直当我|当我是|以为是我|建议我|推荐我|说服我|逼我|觉得我|听说|据说|传我|说我(?=要|是|该|像|会|已经|住|在)|显示我|写(?:着|的)?我(?=住|在|是)|以为我|老说我|劝我|让我去|叫我去|问我愿|希望我|怂恿我|撺掇我|拉我|猎头|算命|系统(?=显示|说|写)|表格上)"
)
"""Others say, want or believe it."""
_HEEDED: Final = re.compile(
    r"\b(?:so i did|and i did|so i|and i (?:did|am|was)|as told)\b|[，,](?:我|就|于是|所以)[^，。]{0,8}了|听(?:我)?(?:妈|爸|他|她)的"
)
"""The speaker did what they were told."""
_CONDITION: Final = (
    CONDITION
    + WordGroup(
        r"pretend|what if|let['’]s say|let us say|were i to|had i \w+|should i \w+|in another life|one of these days"
        "|maybe one day|some ?day|one day i",
        "要不是|换作|换成是|等我|等哪天|哪天我|改天|下辈子|如能|要敢|要真",
    )
).pattern()
"""Begins a supposition: all of the sentence from there on is what would be."""
_FICTION: Final = (
    DREAM
    + WordGroup(
        r"weird dream|woke up convinced|daydream\w*|in (?:a|the|my|our) (?:\w+ )?(?:game|novel|book|story|play|film|movie|show|script)|my (?:character|avatar)|kidding|jok(?:ed|ing|e)|pretend(?:ed|ing)?|april fools?|horoscope|lied|yeah,? right",
        "小说里|游戏里|剧里|书里|戏里|剧本杀[里中]|开玩笑|逗你玩|骗你的|瞎说|撒谎|吹牛说|愚人节|算命",
    )
).pattern()
"""Tells a dream, a story or a joke: so is all of the sentence from there on."""
_SUPPOSING: Final = (
    GUESS
    + WISH
    + WordGroup(
        r"(?:i|we)['’]d (?!rather\b|sooner\b|better\b|been\b|had\b|\w+ed\b)\w+|(?:some|most) nights i think|hop(?:e|ing) to|considering|thinking (?:of|about)|tempted|want(?:ed)? to|plan(?:s|ned|ning)? (?:to|on)|(?:almost|nearly) (?!(?:\w+ )?(?:years?|months?|weeks?|always|every|all|done|there|\d+)\b)\w+|(?:am|['’]m|are|['’]re|was|were) (?:about|going) to|gonna|(?:used|was) to want|next (?:spring|summer|autumn|fall|winter|year|month|week) (?:i|we)['’](?:m|re)|the plan is",
        "(?<!没)打算|计划(?!有变)|快要|就要|下个?月我要|想开|准备(?=戒|搬|换|辞|去|买|学|结|离)|考虑|想(?=搬|换|辞|去|吃|学|当|做|买|养|要)",
    )
).pattern()
"""Wishes, plans or guesses, as far as its clause goes."""
_CLAUSE: Final = re.compile(r"[,;:，；：、—–]\s*|\s(?:and|but|so|because|while|then)\s|[.!?。！？]\s*", re.IGNORECASE)
_BEFORE_IF: Final = re.compile(rf"{_CLAUSE.pattern}|\s(?=if\b)", re.IGNORECASE)
"""Where a sentence is cut into clauses, a condition from what stands before it."""
_ONCE_IT_IS: Final = re.compile(r"(?:^|[，,。])\s*等(?!级|于|候|了|着)[^，,。]{2,10}[，,](?=我|咱|就|再)")
"""Puts off to a day that may never come: 等油价跌回五块,我..."""
_NO_CONDITION: Final = re.compile(
    r"\b(?:as|even|see|check|know|wonder\w*|tell me|find out|sure|asked|asking) if\b"
    r"|\bif (?:it helps|you(?: must| really)? (?:ask|know|want|like|need|don['’]t mind)|possible|need be|that helps)\b",
    re.IGNORECASE,
)
"""No condition: a turn of speech, or what is to be looked into ("can you see if my dog is ill")."""
_WISHED: Final = (
    GUESS
    + WISH
    + WordGroup(
        r"(?:i|we)['’]d (?!been\b|had\b|\w+ed\b)\w+|dream(?:s|t|ed)? (?:of|about)|i swear",
        "(?<!没)想(?=去|要|搬|换|辞|学|当|做|买|养|开)|再[^，。]{1,8}就|等[^，。]{0,4}(?:攒|退休|有钱|发财|以后)",
    )
).pattern()
"""Wishes or threatens; what somebody wants or considers may well have come about by the time of a question."""
_FIRMLY_PLANNED: Final = re.compile(
    r"\b(?:going to|gonna|about to|will|signed up|booked)\b|快要|就要|准备|定了|订了|下个?[周月]", re.IGNORECASE
)
"""Plans what by the time of a question may have come about."""
_OWN: Final = re.compile(r"\b(?:i|i['’]m|i['’]ve|me|my|we|we['’]re|we['’]ve|our|us)\b|[我咱]", re.IGNORECASE)
_LONGEST: Final = 1_000
"""Characters of a sentence that is looked through."""
_WHOLE: Final = 4
"""Words of a clause that states something by itself."""
LEAST_SO: Final = 0.0
"""Log odds of bearing on a question from which what is so stands before what is supposed, or was so."""
NEAR_UNREAL: Final = 3.5
"""By how much less it may bear: what is not so may hold more of a question's words."""
SURELY_SUPPOSED: Final = 1.5
"""Log odds of an embedder above which all of a text is supposed, whatever its words are."""
ASKS_UNREAL: Final = re.compile(
    r"\b(?:if|would|could|might|wish|dream\w*|plan\w*|think(?:ing)? (?:of|about)|consider\w*|almost|nearly|want|hope|hoping|apply|applied|offer\w*|turn(?:ed)? down|reject\w*|joke\w*"
    r"|going to|about to|tell|told|said|say|suggest\w*|advi[cs]e\w*|next|future|will)\b|梦|想|打算|计划|准备|考虑|如果|要是|差点|拒绝|希望|玩笑|以后|将来|下(?:个?月|周|次|一步)|会不会|将会|劝|建议|说过|本来|原本",
    re.IGNORECASE,
)
"""Asks for what is supposed, wished, planned, refused or said by others."""


def is_not_yet_so(low: str) -> bool:
    """Whether a sentence in lower case tells what is only planned, refused, nearly so, or said by others.

    A very long one does not: it says more than that, and looking through it takes time as its square.
    """
    return len(low) <= _LONGEST and (
        _NOT_YET.search(low) is not None or (_HEARD.search(low) is not None and _HEEDED.search(low) is None)
    )


def is_unreal(text: str) -> bool:
    """Whether nothing that a text says of its speaker is so, as far as words tell."""
    sentences = written_sentences(text)
    marked = [_reads_unreal(sentence) for sentence in sentences]
    return any(marked) and all(
        is_marked or _OWN.search(sentence) is None for is_marked, sentence in zip(marked, sentences, strict=True)
    )


def _reads_unreal(sentence: str) -> bool:
    """Whether a sentence is marked so, and no clause of its speaker is left over."""
    low = simple(sentence).lower()
    if _HEEDED.search(low):
        return False
    chinese = has_chinese(low)
    marked = False
    for clause in _CLAUSE.split(low):
        if not clause.strip():
            continue
        if _CONDITION.search(clause) or _FICTION.search(clause) or _is_framed(clause):
            return True
        if is_not_yet_so(clause) or _SUPPOSING.search(clause):
            marked = True
        elif _OWN.search(clause) or (not marked and (chinese or len(clause.split()) >= _WHOLE)):
            return False
    return marked or is_not_yet_so(low)


def _is_framed(clause: str) -> bool:
    framed = English.FRAMED.search(clause)
    return Chinese.FRAMED.search(clause) is not None or (framed is not None and "time in my life" not in clause)


def supposed_clauses(sentence: str) -> list[tuple[str, bool]]:
    """The clauses of a sentence, simplified and in lower case, each with whether it only supposes, dreams or jokes.

    A condition reaches to the end of its sentence, and a dream or a joke is the whole of it. What is planned for sure is
    not only supposed: by the time of a question it may have come about.
    """
    low = _NO_CONDITION.sub(" ", simple(sentence).lower())
    fiction = _FICTION.search(low) is not None or _ONCE_IT_IS.search(low) is not None
    clauses: list[tuple[str, bool]] = []
    opened = False
    for clause in filter(str.strip, _BEFORE_IF.split(low)):
        opened = opened or _CONDITION.search(clause) is not None
        wished = (is_not_yet_so(clause) or _WISHED.search(clause)) and not _FIRMLY_PLANNED.search(clause)
        clauses.append((clause, fiction or opened or bool(wished)))
    return clauses

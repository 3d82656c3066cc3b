# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Reads whether whoever asks did something, or has kin of a kind, where they plainly said so: "We sold the Skoda".

`recall.yes_or_no` reads what somebody is, has or does. A deed is read only where verb and object of the question stand
together in a clause of the speaker's; kin only where the speaker has them, or speaks of them as theirs.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros
from mnemic.core.tokens import is_stop, tokenise
from mnemic.core.word_forms import other_forms
from mnemic.extract.chinese import has_chinese
from mnemic.extract.sentences import written_sentences
from mnemic.recall.object_endings import ends_phrase
from mnemic.recall.sentence_cues import SentenceCue, counted_in
from mnemic.recall.what_asks import asks
from mnemic.recall.whom_it_is_about import QUOTED
from mnemic.recall.word_groups import CONDITION, DENIED, DIED, DREAM, GUESS, NEARLY, WISH, WordGroup
from mnemic.recall.yes_or_no import YesOrNo

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mnemic.core.items import Item

_ADVERBS: Final = r"(?:just|finally|already|then|also|both|only|recently|actually|really|even|eventually|ever|now|so)\b"
_ASKS_DEED: Final = re.compile(
    rf"\W*(?:(?:and|so|but|wait|hey)\W+)*(?P<aux>did|have) (?:i|we) (?:{_ADVERBS} )*(?P<verb>(?!(?:got|an?|any|to)\b)[a-z]+) "
    rf"(?P<rest>[\w '’-]+?)(?: (?:yet|already|in the end|after all))?\W*$",
    re.IGNORECASE,
)
"""Asks whether something was done to an object."""
_SAME_IN_PAST: Final = frozenset(["put", "cut", "read", "hit", "let", "set", "quit", "shut", "hurt", "split", "bet"])
_DEED: Final = re.compile(
    rf"\W*(?:(?:and|so|well|oh|today|yesterday|ok|update)\b\W*)*(?P<own>(?:(?-i:[A-Z])\w+ and )?I\b|we\b|)(?:['’]ve| have)?"
    rf"(?P<not>(?: (?:didn['’]t|did not|never|haven['’]t|have not)| ?n['’]t| not)?)(?: ?{_ADVERBS})* ?(?P<verb>[a-z]+) (?P<rest>.+)",
    re.IGNORECASE,
)
"""Begins with what whoever speaks did, or did not do."""
_CLAUSE: Final = re.compile(r"[,;:—–]\s*|\s(?:and|but|so|because)\s|[.!](?:\s|$)", re.IGNORECASE)
_NO_FILLER: Final = frozenset(
    [
        "of",
        "from",
        "in",
        "for",
        "with",
        "at",
        "on",
        "to",
        "and",
        "or",
        "by",
        "about",
        "like",
        "than",
        "as",
        "if",
        "when",
        "not",
    ]
)
_FILLERS: Final = 3
"""Most words between a verb and its object: "sold the old blue Skoda"."""
_ARTICLES: Final = frozenset(["the", "a", "an", "my", "our", "any", "some", "that", "this"])
_NOT_SO: Final = (CONDITION + GUESS + WISH + DREAM + NEARLY).pattern()
_UNDONE: Final = WordGroup(
    "fell through|fallen through|back(?:ed)? out|changed (?:my|our) minds?|undid|scratch that", "反悔|没成|黄了"
).pattern()
_SOON: Final = timedelta(days=30)
_VERBS_CHINESE: Final = (
    "卖|买|换|退订|退|扔|丢|弄丢|送|捐|租|借|还|修|辞|考|领养|养|订|取消|报名?|签|吃|看完?|写完?|交|寄|洗"
)
_DONE_CHINESE: Final = "(?:掉|完|走|好|出去|给[\u4e00-\u9fff]{1,4})?"
_ASKS_DEED_CHINESE: Final = re.compile(
    rf"\W*我们?(?:已经|最后|到底|是不是|真的|后来|之前)*(?:把(?P<moved>[^，,]{{1,8}}?)(?P<done>{_VERBS_CHINESE}){_DONE_CHINESE}了?|(?P<did>{_VERBS_CHINESE}){_DONE_CHINESE}[了过](?P<object>[^，,吗没]{{1,8}}))(?:[了过]?(?:吗|没有?|么))\W*$"
)
_OWN_CHINESE: Final = r"^(?:而且|后来|然后|昨天|今天|上周|上个?月|去年|前天|最近|终于|刚刚?|周末|[\d一二三四五六七八九十]+月)*(?:我们?|咱们?)?(?:家|俩|昨天|今天|上周|上个?月|去年|前天|最近|已经|终于|刚刚?|周末|后来|也|就|都|还是|[\d一二三四五六七八九十]+月)*"
_MEASURED: Final = "(?:[那这一两三]?[辆台部本只条张件套个间双]|[我我们家]*的)?(?:旧|新|老)?"

_KINDS: Final = {
    "brother": "brother", "sister": "sister", "son": "son", "daughter": "daughter", "uncle": "uncle", "aunt": "aunt|auntie",
    "cousin": "cousin", "nephew": "nephew", "niece": "niece", "grandson": "grandson", "granddaughter": "granddaughter",
    "sibling": "brother|sister|sibling", "child": "child|children|kid|son|daughter", "children": "child|children|kid|son|daughter",
    "kid": "child|children|kid|son|daughter", "grandchild": "grandson|granddaughter|grandchild|grandchildren|grandkid",
    "grandchildren": "grandson|granddaughter|grandchild|grandchildren|grandkid", "grandkid": "grandson|granddaughter|grandchild|grandchildren|grandkid",
}  # fmt: skip
"""Kin who stay kin, by the word with which they are asked for, and what else says that there are some."""
_ASKS_KIN: Final = re.compile(
    rf"\W*(?:(?:and|so|but|wait|hey)\W+)*(?:do|have) (?:i|we) (?:have |got )?(?:an?|any|one)? ?(?P<kin>{'|'.join(_KINDS)})s?\W*$",
    re.IGNORECASE,
)
_KINDS_CHINESE: Final = {
    **{two: f"{two}|{two[0]}(?!{two[0]})" for two in ("哥哥", "弟弟", "姐姐", "妹妹")},
    "儿子": "儿子", "女儿": "女儿|闺女", "孩子": "孩子|小孩|儿子|女儿|闺女|娃", "小孩": "孩子|小孩|儿子|女儿|闺女|娃",
    "侄子": "侄子", "侄女": "侄女", "外甥": "外甥(?!女)", "外甥女": "外甥女", "孙子": "孙子", "孙女": "孙女",
    "兄弟姐妹": "兄弟姐妹|哥哥?|弟弟?|姐姐?|妹妹?", "叔叔": "叔叔", "舅舅": "舅舅", "姑姑": "姑姑", "阿姨": "阿姨",
}  # fmt: skip
_ASKS_KIN_CHINESE: Final = re.compile(
    rf"\W*我们?(?:现在|到底|是不是)?有(?:没有)?(?:一?个)?(?P<kin>{'|'.join(sorted(_KINDS_CHINESE, key=len, reverse=True))})(?:吗|么|没有?)?\W*$"
)
_SIBLINGS: Final = frozenset(("brother", "sister", "sibling", "哥哥", "弟弟", "姐姐", "妹妹", "兄弟姐妹"))
_ONLY_CHILD: Final = re.compile(
    r"\b(?:I['’]m|I am|I was|as) an only child\b|我(?:是|家就我)[^，。]{0,4}独生?[子女]", re.IGNORECASE
)
_NUMBERS: Final = r"(?:an?|one|two|three|four|five|\d|some|another|many|several|lots of)"
_DIED: Final = DIED.pattern()


def told_of_deed(question: str, own: Sequence[Item]) -> YesOrNo | None:
    """Read whether whoever asks did something to an object; None where they did not plainly say so, or took it back.

    Args:
        own: What they said themselves, in any order; so in `told_of_kin`.
    """
    asked = _ASKS_DEED_CHINESE.match(question) if has_chinese(question) else _ASKS_DEED.match(question)
    if asked is None:
        return None
    chinese = has_chinese(question)
    words = [asked["moved"] or asked["object"]] if chinese else _object_words(asked["rest"])
    if not words:
        return None
    told: YesOrNo | None = None
    for item, sentence in _sentences(own):
        if _NOT_SO.search(sentence) or asks(sentence):
            continue
        done = _deed_chinese(asked, sentence) if chinese else _deed(asked, words, sentence)
        if done is not None:
            told = YesOrNo(yes=done, item=item, sentence=sentence)
        elif told is not None and _may_take_back(words, sentence, soon=item.said - told.item.said < _SOON):
            return None
    return told


def told_of_kin(question: str, own: Sequence[Item]) -> YesOrNo | None:
    """Read whether whoever asks has kin of a kind; None where nothing plainly says so, open where one has died."""
    asked = _ASKS_KIN_CHINESE.match(question) or _ASKS_KIN.match(question)
    if asked is None:
        return None
    kin = asked["kin"].casefold()
    has, lacks, dead = _kin_forms(kin)
    told: YesOrNo | None = None
    for item, sentence in _sentences(own):
        if asks(sentence):
            continue
        no = lacks.search(sentence) or (kin in _SIBLINGS and _ONLY_CHILD.search(sentence))
        if dead.search(sentence):
            told = YesOrNo(yes=None, item=item, sentence=sentence)
        elif no and not has.search(lacks.sub(" ", sentence)):
            told = YesOrNo(yes=False, item=item, sentence=sentence)
        elif has.search(lacks.sub(" ", sentence)) and not _NOT_SO.search(sentence):
            told = YesOrNo(yes=True, item=item, sentence=sentence) if told is None or told.yes is not None else told
    return told


def _sentences(own: Sequence[Item]) -> Iterator[tuple[Item, str]]:
    """The sentences of what somebody said, the oldest first, without what they quote."""
    for item in sorted(own, key=lambda each: micros(each.said)):
        for sentence in written_sentences(item.text):
            if QUOTED.search(sentence) is None:
                yield item, sentence


def _object_words(rest: str) -> list[str]:
    """The words behind a verb, with prepositions and without articles; none where no word tells anything."""
    words = [word for word in re.findall(r"[\w'’-]+", rest.casefold()) if word not in _ARTICLES]
    return words if any(not is_stop(token) for word in words for token in tokenise(word)) else []


def _deed(asked: re.Match[str], words: Sequence[str], sentence: str) -> bool | None:
    """Whether a clause of a sentence says that its speaker did what is asked about, or that they did not."""
    own = True
    done: bool | None = None
    for clause in filter(None, _CLAUSE.split(sentence)):
        deed = _DEED.match(clause)
        if deed is None or not (deed["own"] or own):
            own = False
            continue
        own = bool(deed["own"]) or own
        denied = bool(deed["not"])
        if _is_form(asked, deed["verb"], denied=denied) and _reaches(words, deed["rest"]):
            done = not denied
    return done


def _is_form(asked: re.Match[str], verb: str, *, denied: bool) -> bool:
    """Whether a verb that was said is that of a question in the past, or behind a denial in any form."""
    wanted, said = asked["verb"].casefold(), verb.casefold()
    if tokenise(wanted) != tokenise(said) and not set(tokenise(said)) & set(other_forms(*tokenise(wanted)[:1] or [""])):
        return False
    if denied or wanted in _SAME_IN_PAST or said.endswith("ed"):
        return True
    return said == wanted if asked["aux"].casefold() == "have" else said != wanted and not said.endswith(("ing", "s"))


def _reaches(words: Sequence[str], rest: str) -> bool:
    """Whether what stands behind a verb begins with an object, and that ends there."""
    spans = [(match[0].casefold(), match.end()) for match in re.finditer(r"[\w'’-]+", rest)]
    filled, at = 0, 0
    for word, end in spans:
        if at < len(words) and tokenise(word) == tokenise(words[at]):
            at += 1
            if at == len(words):
                return ends_phrase(rest[end:])
        elif at and word in _ARTICLES:
            continue
        elif word in _NO_FILLER or filled >= _FILLERS:
            return False
        else:
            filled += 1
    return False


def _deed_chinese(asked: re.Match[str], sentence: str) -> bool | None:
    """The same of a sentence of Chinese."""
    verb = re.escape(asked["done"] or asked["did"])
    thing = _MEASURED + re.escape(
        re.sub("^[那这一]?[辆台部本只条张件套个间双]|^我们?的", "", asked["moved"] or asked["object"])
    )
    whole = r"(?![\u4e00-\u9fff]*的)(?=\W|$|[了后给换又])"
    for clause in re.split("[，,。！!；;]", sentence):
        if re.search(rf"{_OWN_CHINESE}(?:没有?(?:把)?{thing}{verb}|没有?{verb}{_DONE_CHINESE}{thing}{whole})", clause):
            return False
        if re.search(
            rf"{_OWN_CHINESE}(?:把{thing}{verb}{_DONE_CHINESE}了|{verb}{_DONE_CHINESE}了{thing}{whole})", clause
        ):
            return True
    return None


def _may_take_back(words: Sequence[str], sentence: str, *, soon: bool) -> bool:
    """Whether a later sentence may say that what was told of an object was not done after all.

    Args:
        soon: It came so soon that it need not name the object.
    """
    tokens = {token for word in words for token in tokenise(word) if not is_stop(token)}
    named = not tokens.isdisjoint(tokenise(sentence))
    corrects = counted_in(sentence)[SentenceCue.CORRECT] > 0 or _UNDONE.search(sentence) is not None
    return (corrects and (soon or named)) or (named and DENIED.search(sentence) is not None)


def _kin_forms(kin: str) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """What says of a speaker that they have kin of a kind, that they have none, and that one has died."""
    if kin in _KINDS_CHINESE:
        kinds = f"(?<![表堂干])(?:{_KINDS_CHINESE[kin]})"
        return (
            re.compile(rf"我(?:们|家)?(?:还|只|就|也|是)?有(?:[一两二三四五六\d]?个)?(?:亲|大|小)?{kinds}(?!的|气)|我(?:们|家)?的?[大小二]?{kinds}(?=叫|是|在|住|今年|也|说|明)"),
            re.compile(rf"我(?:们|家)?(?:没有?|并没有|不是没有)(?:一个)?(?:亲)?{kinds}"),
            re.compile(rf"{kinds}[^，。]{{0,6}}(?:{DIED.anywhere})"),
        )  # fmt: skip
    kinds = rf"(?:{_KINDS[kin]})s?(?![\w-]|['’]s)"
    return (
        re.compile(rf"\b(?:I|we)(?:['’]ve| have)(?: (?:also|only|got|just))* {_NUMBERS} (?:(?!step|half)[\w-]+ ){{0,2}}?{kinds}(?! of\b)|^\W*(?:my|our) (?:\w+ )?{kinds}(?: (?-i:[A-Z])\w+)?(?:['’]s| is| are| lives?| works?| has| have| just| turn\w*| starts?)\b", re.IGNORECASE),
        re.compile(rf"\b(?:I|we) (?:do not|don['’]t) have (?:an?|any) (?:\w+ or )?{kinds}|\b(?:I|we)(?:['’]ve| have) (?:got )?no (?:\w+ or )?{kinds}", re.IGNORECASE),
        re.compile(rf"\b{kinds}\b.*?{_DIED.pattern}|\blate {kinds}|\blost (?:my|our) (?:\w+ )?{kinds}", re.IGNORECASE),
    )  # fmt: skip

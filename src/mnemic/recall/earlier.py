# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Finds what held before, or first, where a question asks for that: "Where did I live before Toronto?", 以前住在哪里.

What is nearest to such a question in words and meaning is mostly what holds now, or the very change that it names. Of
the statements of that matter the last one before it is meant; or, where something says itself that it was once so
("I used to live in Ottawa") and nothing was said earlier, that.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros
from mnemic.extract.patterns import SlotAct
from mnemic.extract.slots import slots
from mnemic.recall.answer_kind import lacks_kind
from mnemic.recall.asked_for import asks_several, asks_yes_or_no
from mnemic.recall.polarity import asked_words, telling_words
from mnemic.recall.sentence_cues import SentenceCue, counted_in
from mnemic.recall.whom_it_is_about import about_another
from mnemic.recall.word_groups import DENIES, ONCE, PARTED, WordGroup

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from mnemic.core.queries import Recalled
    from mnemic.core.timex import TimeSpan
    from mnemic.recall.said_of_others import SpokenOf

_TOLD_BEFORE: Final = re.compile(
    r"\b(?:say|said|tell|told|mention(?:ed)?|ask(?:ed)?|talk(?:ed)? about|write|wrote) \b.*\bbefore\W*$"
    r"|(?:以前|之前|原来|从前|原先|先前|过去)[^，。？?]{0,8}(?:说|提|讲|问|聊|推荐|告诉|答应|约|写)",
    re.IGNORECASE,
)
"""Asks for what was said before, and not for what was so."""
_ASKS_FORMER: Final = re.compile(
    r"\b(?:before|before (?:that|then)|previously|formerly)\W*$|\bdid (?:i|we) use to\b|\b(?:i|we) used to\b"
    r"|\bmy (?:(?:old|former|previous|prior) ?\w+|ex[ -]\w+)(?: \w+)?\W*$"
    r"|\bmy last (?:job|employer|company|firm|boss|city|town|address|home|flat|apartment|house|number|phone|car|school)\W*$"
    r"|\bbefore (?:I|we|the|my|our) ?(?:moved?|move|moving|switch\w*|chang\w+|left|quit|relocat\w+|got|bought|swapped|traded)\b(?-i:[a-z ]{0,60})(?:[^\w ]\W*)?$"
    r"|\bbefore (?:moving|relocating|switching|changing|the (?:move|switch|change))(?: (?:jobs?|house|home|cars?|numbers?|phones?))?\W*$"
    r"|^\W*(?:我们?的?)?(?:以前|之前|原来|从前|原先|先前|早先|过去)的?(?!的时候)|[我咱]们?的?(?:以前|之前|原来|从前|原先|先前|早先|过去)"
    r"|上[一]?[份家部辆任套](?!班)|上一?个(?=工作|公司|单位|东家|雇主|老板|住处|地址|号码|手机|学校|专业|城市)"
    r"|前(?:公司|单位|东家|雇主|老板|任(?!务))|旧(?:号码?|手机|地址|住址|公司|车|家|邮箱)|老(?:号码|地址|东家|单位|住址)"
    r"|(?:搬家?|搬走|跳槽|换工作|换公司|换号码?|换车|换手机|换地址|换邮箱|换药|停药|辞职|离职|改名|转专业|转学|转行)(?:之|以)?前|换[^，。？?换]{0,2}[之以]前",
    re.IGNORECASE,
)
"""Asks for what held before what holds now."""
_WHAT_WAS: Final = re.compile(r"\b(?:what|which|who)(?:['’]s| was| is| does)\b", re.IGNORECASE)
"""Asks for one thing, whatever letter its verb ends in."""
_ASKS_BEFORE: Final = re.compile(
    r"\b(?i:before) (?:(?:I|we|moving|joining|starting|buying)(?: \w+)? (?:(?:to|at|for|in|a|the) )?)?"
    r"(?:the )?([A-Z][\w&-]+(?: (?:of |the |and )?[A-Z][\w&-]+){0,3})\W*$"
    r"|(?<![搬去到来换转现])(?:[搬去到来换转进在]{1,3}|入职|加入|跳槽[到去]?)([\u4e00-\u9fff]{2,6}?)(?:上班|工作|读书|住)?(?:之前|以前|前(?!公司|单位|任))"
)
"""Asks for what held before something that it names."""
_KINDS: Final = r"(?:place|city|town|country|home|house|flat|apartment|address|job|employer|company|firm|workplace|car|phone|number|medication|medicine)"
_STATED: Final = r"(?:moved?|lived?|living|relocated?|settled?|work(?:ed|ing)?|drive|driv(?:en|ing)|take|taken|taking)(?: (?:to|in|at|for))?"
_ASKS_FIRST: Final = re.compile(
    rf"\b(?:did|had|have|was|were) (?:i|we) (?:first|originally|initially) {_STATED}\W*$"
    rf"|\b(?:did|had|have|was|were) (?:i|we) {_STATED} (?:first(?: of all)?|originally|initially|to begin with|at first)\W*$"
    rf"|\b(?:the|my|our) (?:very )?(?:first|earliest|original) {_KINDS}\W*$"
    rf"|\bthe (?:very )?(?:first|earliest) {_KINDS}(?: that| which| where)? (?:i|we)\b"
    r"|^(?=.*[我咱])(?!.*(?:现在|目前|这次|最先进|[明后]天|明年|下[个周月]|该|打算|准备|计划|(?<![重主必])要))"
    r"(?!(?=.*第一次).*(?:哪一?[年天月]|什么时候|何时|几[岁年月号点]))"
    r".*(?:最早|最初|最先|最开始|一开始|起初|第一[份家个座辆部台套任]"
    r"|第一次[^，。？?的看找]{0,4}(?:搬|住(?![院店酒宾民旅])|租房|买房|上班|入职|工作(?!面试|汇报|会))"
    r"|(?<![原首起最])先(?=搬[到去进来]|住|在|去[^，。？?]*(?:上班|工作|住))(?=[^，。？?]*(?:[了过]|的(?:[？?]|$)))(?!.*还是))",
    re.IGNORECASE,
)
"""Asks for the first of a series of states of whoever asks."""
_ASKS_FIRST_OF: Final = re.compile(r"最[早初]的|头一[个位任份家]")
"""Asks for the first of a series of whatever."""
_TELLS_FIRST: Final = re.compile(
    r"\b(?:first|originally|initially|earliest|before (?:that|then|this))\b|最早|最初|最先|一开始|起初|第一|在?那之前|[此之]前",
    re.IGNORECASE,
)
"""Says itself of which state it was that came first, or of one that was there before."""
_FROM: Final = re.compile(r"\b(?:from|left|before)\b|从|离开|[之以]前", re.IGNORECASE)
_PARTNERS: Final = r"(?:boyfriend|girlfriend|husband|wife|partner|fianc[eé]e?|bf|gf|spouse)"
_PARTNERS_CHINESE: Final = r"(?:男朋友|女朋友|男友|女友|老公|老婆|对象|夫(?!人)|妻)"
_ASKS_FORMER_PARTNER: Final = re.compile(
    rf"\b(?:who|name|called)\b.*\b(?:my|our) (?:ex|(?:ex|former|previous|last)[ -]{_PARTNERS})\b(?![ -][a-z])"
    rf"|\b(?:my|our) (?:ex|(?:ex|former|previous|last)[ -]{_PARTNERS})(?:['’]s)? (?:name|called)\b"
    rf"|[我咱](?:们|家)?的?(?:上一?任|上一?个|前)(?:{_PARTNERS_CHINESE}|任)(?:叫|是谁|姓|的?名)",
    re.IGNORECASE,
)
"""Asks for the name of whom whoever asks was with once."""
_FORMER_PARTNER: Final = (
    PARTED
    + WordGroup(
        rf"(?:my|our) ex(?!-)|ex[ -]{_PARTNERS}|(?:break|splitt)ing up|divorc(?:e|ing)|left (?:me|(?-i:[A-Z])\w+)",
        f"前(?:{_PARTNERS_CHINESE}|任(?!务))",
    )
).pattern()
"""Tells of whom its speaker was with once, or of the end of that."""
_PARTNER: Final = re.compile(
    rf"\b{_PARTNERS}\b|\b(?:seeing|dating|married|together)\b|{_PARTNERS_CHINESE}|在一起|谈恋爱|结婚|领证",
    re.IGNORECASE,
)
"""Tells of whom its speaker is with."""
_OWN_FORMER: Final = re.compile(
    rf"[^,.;!?]*?\b(?:my|our) ex\b(?!-(?!{_PARTNERS}))|[^，。！？]*?我的?前(?:{_PARTNERS_CHINESE}|任)", re.IGNORECASE
)
"""Calls somebody so at its beginning."""
_STRETCHES: Final = frozenset({"month", "season", "range"})
"""Stretches of time, shorter than a year, in which a state holds."""
_ASKS_THEN: Final = re.compile(
    r"\b(?:did|was|were) (?:i|we)\b|^(?=.*[我咱])(?=.*(?:哪|什么|啥))(?!.*(?:会|将|打算|要[住搬去换]|准备|计划))",
    re.IGNORECASE,
)
"""Asks what was so of whoever asks, or in Chinese may."""
_AT_HOME: Final = re.compile(
    r"\W*(?:(?:now|still|finally|currently|so|and|ok|right,?) )*(?:based|living|settled|back home|back living|back) in [A-Z]"
)
"""Opens with where its speaker lives, without a subject."""
_FAR: Final = 5.0
"""By how much less than what bears most, in log odds, another state of the matter may bear on the question."""
_SAME_MATTER: Final = {
    ("city", "address", "home"): re.compile(
        r"\b(?:liv(?:e|es|ed|ing)|mov(?:e|ed|ing)|relocat\w+|settled|based|city|town|home|flat|apartment|house|rent(?:s|ed|ing)?)\b|住|搬|定居|房子|租",
        re.IGNORECASE,
    ),
    ("employer", "job"): re.compile(
        r"\b(?:work(?:s|ed|ing)?|job|joined|hired|started at|employ\w+|company|firm)\b|上班|工作|跳槽|入职|公司|单位|东家",
        re.IGNORECASE,
    ),
    ("medication",): re.compile(
        r"\b(?:medications?|medicines?|meds|pills?|tablets?|prescri\w+|dose|\d+ ?mg)\b|药|服用|剂量", re.IGNORECASE
    ),
    ("phone", "phone_number"): re.compile(r"\b(?:number|phone|mobile)\b|号码|手机|电话|换号", re.IGNORECASE),
    ("car",): re.compile(r"\b(?:driv(?:e|es|ing)|drove|car)\b|开的|车", re.IGNORECASE),
}
"""Of each matter, by its slots, the words by which its states and changes are told."""


def asks_earlier(question: str) -> bool:
    """Whether a question asks for an earlier state, or the first, and not for what holds now."""
    return any(form.search(question) for form in (_ASKS_FORMER, _ASKS_BEFORE, _ASKS_FIRST, _ASKS_FIRST_OF))


def what_held_before(question: str, evidence: list[Recalled], spoken_of: SpokenOf | None = None) -> list[Recalled]:
    """What held before, alone, where a question asks for that; nothing where it does not, or none is told.

    Args:
        spoken_of: Whom it asks about, if that is somebody else than whoever asks.
    """
    former = _ASKS_FORMER.search(question) is not None and _TOLD_BEFORE.search(question) is None
    name = _named_after(question)
    if (
        asks_yes_or_no(question)
        or asks_several(_WHAT_WAS.sub("", question))
        or not evidence
        or evidence[0].bearing is None
    ):
        return []
    if not name and not former:
        return []
    most = max(hit.bearing for hit in evidence if hit.bearing is not None)
    states = [hit for hit in evidence if hit.bearing is not None and hit.bearing >= most - _FAR]
    states = [hit for hit in states if _of_the_matter(question, name, hit.text, states[0].text)]
    later = [hit for hit in states if _names(name, hit.text) and not ONCE.search(hit.text)]
    if not later:
        return []
    follows = min(later, key=said_at) if name else max(_changes(later) or later, key=said_at)
    before = [hit for hit in states if said_at(hit) < said_at(follows) and not (name and _names(name, hit.text))]
    before = [hit for hit in before if _states_matter(question, hit, spoken_of)] or before
    once = [hit for hit in states if ONCE.search(hit.text) and not (name and _names(name, hit.text))]
    if not before and not once:
        return []
    held_before = max(before or once, key=said_at)
    # it bears on the question as what came in its place does
    return [replace(held_before, succession=0, bearing=most)]


def what_came_first(
    question: str, evidence: list[Recalled], spoken_of: SpokenOf | None = None, *, more: bool = False
) -> list[Recalled]:
    """The first that was told of several states, alone, where a question asks for that; or nothing.

    Nothing where somebody says themselves what was first, or what was before.

    Args:
        spoken_of: Whom it asks about, if that is somebody else than whoever asks.
        more: More was found than the evidence holds: where that is but states, the first may be missing.
    """
    if not _ASKS_FIRST.search(question) or asks_yes_or_no(question) or asks_several(_WHAT_WAS.sub("", question)):
        return []
    states = [hit for hit in evidence if hit.bearing is not None and _states_matter(question, hit, spoken_of)]
    told = (hit.text for hit in evidence if _of_the_matter(question, "", hit.text, hit.text))
    if len(states) < 2 or (more and len(states) == len(evidence)):
        return []
    if any(_TELLS_FIRST.search(text) or ONCE.search(text) for text in told):
        return []
    most = max(hit.bearing for hit in states if hit.bearing is not None)
    return [replace(min(states, key=said_at), succession=0, bearing=most)]


def what_held_then(question: str, spans: Sequence[TimeSpan], evidence: list[Recalled]) -> list[Recalled]:
    """What rules read as the state of the matter that was told last by a time that is past, alone; or nothing.

    Nothing where none was told by then, or whoever asks told of an end since.

    Args:
        spans: The stretches of time that the question names.
    """
    if len(spans) != 1 or spans[0].kind not in _STRETCHES or asks_yes_or_no(question) or asks_several(question):
        return []
    if not _ASKS_THEN.search(question) or not evidence or evidence[0].bearing is None:
        return []
    most = max(hit.bearing for hit in evidence if hit.bearing is not None)
    by_then = [hit for hit in evidence if said_at(hit) < spans[0].end]
    states = [hit for hit in by_then if _states_matter(question, hit, None) or _is_at_home(question, hit.text)]
    if not states:
        return []
    then = max(states, key=said_at)
    since = [hit for hit in by_then if said_at(hit) > said_at(then) and (hit.bearing or 0.0) >= most - _FAR]
    if any(DENIES.search(hit.text) for hit in since):
        return []
    return [replace(then, succession=0, bearing=most)]


def _is_at_home(question: str, text: str) -> bool:
    """Whether a text says without a subject where its speaker lives, where that is asked for."""
    homes = next(iter(_SAME_MATTER.values()))
    return homes.search(question) is not None and _AT_HOME.match(text) is not None


def asks_former_partner(question: str) -> bool:
    """Whether a question asks for the name of whom whoever asks was with once."""
    return _ASKS_FORMER_PARTNER.search(question) is not None


def former_partner(question: str, recalled: Sequence[Recalled]) -> list[Recalled]:
    """What names whom whoever asks was with last before now: what tells of the end, or the last said before it."""
    own = [hit for hit in recalled if _OWN_FORMER.match(hit.text) or not about_another(hit.text, frozenset(), question)]
    ends = [hit for hit in own if _FORMER_PARTNER.search(hit.text)]
    named = [hit for hit in ends if not lacks_kind(question, hit.text, hit.item)]
    if not named and ends:
        ended = max(map(said_at, ends))
        named = [
            hit
            for hit in own
            if said_at(hit) < ended and _PARTNER.search(hit.text) and not lacks_kind(question, hit.text, hit.item)
        ]
    most = max((hit.bearing for hit in recalled if hit.bearing is not None), default=None)
    return [replace(max(named, key=said_at), succession=0, bearing=most)] if named else []


def names_what_followed(question: str, text: str) -> bool:
    """Whether a text tells only of what came after that which a question asks for: "Where did I live before Bruges?"

    What names both, as "from Ghent to Bruges", tells of it.
    """
    name = _named_after(question)
    if not any(form.search(question) for form in _SAME_MATTER.values()):
        return False  # "before Friday" is a time
    return bool(name) and _names(name, text) and not _FROM.search(text)


def _named_after(question: str) -> str:
    """What a question names of which it asks what held before; "" for nothing, or but a change ("before I moved")."""
    named = None if _ASKS_FORMER.search(question) else _ASKS_BEFORE.search(question)
    return next(filter(None, named.groups())) if named else ""


def _names(name: str, text: str) -> bool:
    """Whether a text names something, or of a name of several words the first: "Cairn" for "Cairn Logistics"."""
    return name in text or (" " in name and re.search(rf"\b{re.escape(name.split()[0])}\b", text) is not None)


def _states_matter(question: str, hit: Recalled, spoken_of: SpokenOf | None) -> bool:
    """Whether rules read in a text a state of the matter that is asked for, of whom it is asked of."""
    asked = {slot for matter, form in _SAME_MATTER.items() if form.search(question) for slot in matter}
    return states_slot(asked, hit, spoken_of, in_passing=True)


def states_slot(wanted: Set[str], hit: Recalled, spoken_of: SpokenOf | None, *, in_passing: bool) -> bool:
    """Whether rules read in a text what fills one of some slots, for whoever speaks or somebody who is spoken of.

    Args:
        in_passing: What it says only in passing counts, too ("our flat in Leith is freezing").
    """
    return any(
        finding.slot in wanted and finding.act is SlotAct.STATES and (in_passing or not finding.implied)
        for own in (spoken_of.own_words(hit.text) if spoken_of else [hit.text])
        for finding in slots(own, "user", micros(hit.item.said), hit.item.said_offset)
    )


def _changes(states: Sequence[Recalled]) -> list[Recalled]:
    """Those of some states that tell of a change themselves: what is said later may but name what came of it."""
    return [hit for hit in states if counted_in(hit.text)[SentenceCue.CHANGE]]


def said_at(hit: Recalled) -> int:
    """When it was said, in microseconds."""
    return micros(hit.item.said)


def _of_the_matter(question: str, name: str, text: str, first: str) -> bool:
    """Whether a text tells a state of what is asked for: in a word of the question, of the first state, or its like."""
    asked = asked_words(question.replace(name, "")) if name else asked_words(question)
    told = telling_words(text)
    if any(form.search(question) and form.search(text) for form in _SAME_MATTER.values()):
        return True
    shared = {word for word in asked if len(word) > 1} & told
    return bool(shared) or not told.isdisjoint(telling_words(first))

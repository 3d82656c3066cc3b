# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Reads yes or no to a question about a time that is past: what was stated last before that time had passed held then.

"My lodger wants shelves" of 2021 says yes to "did I have a lodger in 2022?", whatever became of the lodger later; had
the lodger left by then, it is no. Only what lasts is read so, where whoever asks said that they have it, do it or are
in it, not more than two years before, and nothing said in between tells of a change.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros
from mnemic.core.items import Kind
from mnemic.extract.chinese import has_chinese
from mnemic.extract.sentences import written_sentences
from mnemic.recall.asked_matter import AskedMatter, without_times
from mnemic.recall.evidence import OF_NO_BEARING, WHOEVER_ASKS, denies_in, most_bearing, speaker_of, states_plainly
from mnemic.recall.object_endings import ObjectState, object_state
from mnemic.recall.polarity import ASKS_PAST, telling_words
from mnemic.recall.unreal import is_unreal, supposed_clauses
from mnemic.recall.what_asks import asks
from mnemic.recall.whom_it_is_about import about_another
from mnemic.recall.word_groups import (
    AHEAD,
    ASKS_END,
    DIED,
    ENDING,
    MOVED,
    NO_DENIAL,
    NO_LONGER,
    ONCE,
    REPLACED,
    WordGroup,
)
from mnemic.recall.yes_or_no import YesOrNo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.core.items import Item
    from mnemic.core.queries import Recalled
    from mnemic.core.timex import TimeSpan

_LASTING: Final = frozenset({"month", "season", "year", "range"})
"""Stretches of time in which a state holds; a day or a week is of what happens."""
_LONGEST: Final = 2 * 365 * 86_400_000_000
"""Microseconds for which a state is taken to go on, where nothing more is said of it."""
_SOME: Final = 0.5
"""Share of what is asked about from which a sentence may be of it."""
_ASKS_EVENT: Final = re.compile(
    r"\b(?:did|have|has|had)\b.*\b(?:visit|see|meet|buy|sell|get|move|travel|fly|win|pass|start|begin|stop|quit|leave|finish"
    r"|join|sign|order|book|pay|lose|find|break|change|switch|happen|come|tell|say)\b|[过了][吗没]|[去到]过|有没有[去到]",
    re.IGNORECASE,
)
"""Asks for what happens once."""
_PASSING: Final = re.compile(
    r"\b(?:happy|sad|ill|sick|tired|angry|busy|stressed|late|bored|nervous|home|flu|colds?|covid|fever|cough|headache|migraine|pregnant|expecting"
    r"|exams?|tests?|interviews?|appointments?|meetings?|holidays?|vacation|trips?|visit\w*|visitors?|guests?|weekends?|reading|watching)\b"
    r"|生病|感冒|流感|新冠|发烧|咳嗽|怀孕|开心|难过|忙|累|在家|考试|面试|出差|旅[游行]|度假|周末|做客|住院",
    re.IGNORECASE,
)
"""Speaks of what soon passes."""
_WHILE: Final = re.compile(
    r"\b(?:for (?:the|an?|two|three|a few|a couple of) (?:day|night|week|weekend|month|summer|winter)s?|(?:un)?till? \w+|today|tonight|this (?:week|weekend|month)|temporar\w+)\b"
    r"|今[天晚]|这[周几两]天?|暂时|临时",
    re.IGNORECASE,
)
"""Says that what its clause tells of is for a while."""
_WITHOUT: Final = re.compile(
    r"\b(?:like|love|enjoy|hate|want|need|free|without|off|none|nobody|nothing)\b|无|没有[^吗?？]", re.IGNORECASE
)
"""Asks for what somebody went without, or what they liked or wanted."""
_WAS_SO: Final = re.compile(r"\b(?:i|we|he|she|they) (?:was|were|had)\b", re.IGNORECASE)
"""Tells of what was so before it is said."""
_AHEAD: Final = (AHEAD + WordGroup("next|upcoming", "将|下个|要不要|会不会|以为")).pattern()
"""Speaks of what is to come."""
_MINE: Final = re.compile(r"\b(?:my|our)(?= )", re.IGNORECASE)
_ADVERBS: Final = r"(?: (?:also|still|now|already|just|both|currently|always|only|usually|mostly|\w+ly))*"
_HAVE: Final = re.compile(
    rf"\b(?:i|we){_ADVERBS}(?:['’]ve(?: got)?| have(?: got)?| own| keep| drive| rent| lease| share| employ)(?! (?:to|been)\b)(?= )"
    r"|^\W*(?:got|have)(?= (?:an?|two|three|my|our) )",
    re.IGNORECASE,
)
_AM: Final = re.compile(
    rf"(?:\b(?:i|we)(?:['’]m|['’]re| am| are){_ADVERBS}|^\W*(?:still |now |back )?)"
    r"(?: ?(?:doing|taking|having|living|working|studying|teaching|training|learning|playing|singing|seeing|renting|volunteering|part of|a member of|based|on|in|at|with))+(?= )"
    rf"|\b(?:i|we)(?:['’]m|['’]re| am| are){_ADVERBS}(?= )",
    re.IGNORECASE,
)
_DO: Final = re.compile(
    rf"(?:\b(?:i|we){_ADVERBS}|^\W*) (?=(?:live|work|study|teach|sing|play|volunteer|train|take|do|attend|serve|coach|bowl|tutor|go|swim|run|eat|drink|smoke|learn|practi[sc]e|use|wear"
    r"|look after|manage|lead|help|write|belong|sit|subscribe|pay|clean|cook|mind|lodge|board|row|cycle|paint|dance|foster)\b)",
    re.IGNORECASE,
)
"""Opens with whose it is and that they have it, are in it, or do it: what follows is theirs for as long as nothing ends it."""
_AWAY: Final = re.compile(
    r"[,;:.!?]|['’]s\b|\b(?:of|from|about|past|by|near|than|like|without|against|after|before|if|when|because|and|but|so|that|which|who)\b",
    re.IGNORECASE,
)
"""Ends what is named by those words."""
_BEHIND: Final = re.compile(
    r"(?:['’]s)?\s*(?:$|[^\w\s'’-]|(?-i:[A-Z])|(?:in|on|at|for|with|as|to|from|of|called|named|and|but|so|since|now|again|who|that|which|is|was|has|wants?|needs?|this|these|every|each"
    r"|today|most|twice|once|by|while|because|too|there|here|\w+s)\b)"
)
"""Stands behind a noun that is the last of its phrase: a dog called Rex, not dog food."""
_HAVE_CHINESE: Final = re.compile(
    "我(?:们|家|们家|家里)?的|(?:(?:^|[，,。；！!\\s])(?:(?:现在|目前|一直|平时|每[天周月晚早]|[这那]阵子|最近|今年|我们?家?里?|咱们?家?|俺们?家?|也|都|还|又|在|把)){0,4})"
    "(?:有|养|租|住在?|在|吃|喝|抽|用|带|教|学|练|上|做|跑|打|当|是|开)(?!了?[找看想怕问挑等求盼])"
    "|(?:^|[，,。；！!\\s]|我)(?:[^，,。；！!\\s找看想怕问劝帮]{0,8})(?:养|租|包|雇|请|订|报|办|加入|参加|领养)了"
    "|我订的|给我?开的"
)
"""The same of Chinese: 我的, or a clause that opens with the speaker, or nobody, and with such a verb."""
_NEAR_CHINESE: Final = 12
"""Characters behind that, within which what somebody has is named."""
_NAMES: Final = re.compile(r"\b(?:called|named)(?: [\w-]+){1,3}|(?<=[a-z,] )[A-Z][\w-]+(?: [A-Z][\w-]+)*")
"""What is only called so: the Split Decisions are a team."""
_NONE_LEFT: Final = (
    NO_LONGER
    + WordGroup(
        "(?:have|['’]ve got|have got) no|(?:do not|don['’]t|haven['’]t|have not) (?:have|got|own|keep|drive|live|work|take|go)|any ?more",
        r"没有|没了|不[\u4e00-\u9fff]{1,6}了",
    )
).pattern()
"""Says that there is none of what its clause names."""
_LEFT: Final = re.compile(rf"\b(?:{DIED.whole}|moved (?:out|away|on)|left(?: us| for good|\W*$))", re.IGNORECASE)
"""Says of who or what somebody has that they are gone."""
_CHANGES: Final = (
    ENDING
    + REPLACED
    + MOVED
    + WordGroup(
        "start(?:ed|ing) (?:at|with|a new)|new (?:job|place|flat|house|home|car)|joined|fired|laid off|redundant"
    )
).pattern()
"""Tells of a change or an end, of whatever matter."""


def held_at(question: str, spans: Sequence[TimeSpan], own: Sequence[Recalled]) -> YesOrNo | None:
    """Read what whoever asks last stated, before a time had passed, of what a question asks of that time.

    None where the question is of no such time, nothing was stated, or what was said since tells of a change.

    Args:
        spans: The stretches of time that the question names.
        own: What whoever asks said themselves.
    """
    if not _asks_state_then(question, spans):
        return None
    span = spans[-1]
    matter = AskedMatter.of(question, [each.text for each in spans])
    stated = [
        (hit, sentence, gone)
        for hit in own
        if hit.item.kind is Kind.TURN and span.start - _LONGEST <= micros(hit.item.said) < span.end
        for sentence in written_sentences(hit.text)
        if (gone := _ends(matter, sentence)) or _asserts(matter, sentence)
        if micros(hit.item.said) >= span.start or not any(map(_WAS_SO.search, matter.clauses_in(sentence)))
    ]
    if not stated:
        return None
    hit, sentence, gone = max(stated, key=lambda each: (micros(each[0].item.said), matter.share_in(each[1])))
    if gone:
        before = micros(hit.item.said) < span.start
        return YesOrNo(yes=False, item=hit.item, sentence=sentence, inferred=True) if before else None
    if _CHANGES.search(hit.text) or any(_may_end(matter, other, hit, span.end) for other in own):
        return None
    return YesOrNo(yes=True, item=hit.item, sentence=sentence, inferred=True)


def asks_of_stretch(question: str, spans: Sequence[TimeSpan]) -> bool:
    """Whether a question asks what was so in a stretch of time, of which what was said before it proves little."""
    return _asks_state_then(question, spans, passing=True)


def tells_of_stretch(question: str, spans: Sequence[TimeSpan], item: Item) -> bool:
    """Whether a question asks of a stretch of time, and an item was said so that it tells of it.

    It was said by its end, and not so long before it that much may have come in between.
    """
    return asks_of_stretch(question, spans) and spans[-1].start - _LONGEST <= micros(item.said) < spans[-1].end


def may_be_read_of_stretch(question: str, spans: Sequence[TimeSpan], item: Item, evidence: Sequence[Recalled]) -> bool:
    """Whether it may be read what an item tells of the stretch of time that a question asks of.

    Where it names what is asked about, rules read it, too. What they leave open is read only if it lasts, nothing that
    bears on the question tells of a change since, and the embedder tells that it plainly states something of its
    speaker: by itself a reading takes "I saw a nice car" for having had one.
    """
    if not tells_of_stretch(question, spans, item):
        return False
    matter = AskedMatter.of(question, [each.text for each in spans])
    if matter.share_in(item.text) < _SOME:
        return True
    hit = next((hit for hit in evidence if hit.id == item.id), None)
    if hit is None or speaker_of(item) not in WHOEVER_ASKS or not states_plainly(hit):
        return False
    if _PASSING.search(item.text) or not _asks_state_then(question, spans):
        return False
    least = most_bearing(evidence) - OF_NO_BEARING
    others = [each for each in evidence if each.bearing is None or each.bearing >= least]
    return not any(_may_end(matter, other, hit, spans[-1].end) for other in others)


def _asks_state_then(question: str, spans: Sequence[TimeSpan], *, passing: bool = False) -> bool:
    """Whether a question asks whether something was so in a stretch of time that is past; `passing`, if but a while."""
    if not spans or spans[-1].kind not in _LASTING or _AHEAD.search(question):
        return False
    if ASKS_END.search(without_times(question, [each.text for each in spans])):  # "at the end of 2019" asks for none
        return False
    if any(form.search(question) for form in (_ASKS_EVENT, _WITHOUT)) or (not passing and _PASSING.search(question)):
        return False
    return has_chinese(question) or ASKS_PAST.search(question) is not None


def _asserts(matter: AskedMatter, sentence: str) -> bool:
    """Whether a sentence says that whoever speaks has what is asked about, is in it or does it."""
    if matter.share_in(sentence) < _SOME or (asks(sentence) and not has_chinese(sentence)) or _is_unsettled(sentence):
        return False
    theirs = [clause for clause in matter.clauses_in(sentence) if _is_theirs(matter, clause)]
    if about_another(sentence, frozenset(), "") and not any(map(_MINE.search, theirs)):
        return False
    plain = (_NAMES.sub(" ", NO_DENIAL.sub(" ", clause)) for clause in theirs if not _WHILE.search(clause))
    return any(not denies_in(clause) for clause in plain)


def _is_unsettled(sentence: str) -> bool:
    """Whether a sentence only supposes what it says, or tells of what was, is to come, or soon passes."""
    supposed = all(supposed for _, supposed in supposed_clauses(sentence))
    return supposed or is_unreal(sentence) or any(form.search(sentence) for form in (_AHEAD, ONCE, _PASSING))


def _is_theirs(matter: AskedMatter, clause: str) -> bool:
    """Whether a clause names a matter as what its speaker has, is or does."""
    if matter.chinese:
        heads = (clause[found.end() - 1 : found.end() + _NEAR_CHINESE] for found in _HAVE_CHINESE.finditer(clause))
        return any(matter.share_in(head) >= _SOME for head in heads)
    for form, words in ((_MINE, 3), (_HAVE, 4), (_AM, 3), (_DO, 8)):
        for found in form.finditer(clause):
            head = " ".join(_AWAY.split(clause[found.end() :], maxsplit=1)[0].split()[:words])
            if _ends_in(matter, head, clause[found.end() :]):
                return True
    return False


def _ends_in(matter: AskedMatter, head: str, rest: str) -> bool:
    """Whether some words name a matter, and that is the last of its phrase in what they open."""
    named = [found for found in re.finditer(r"[\w-]+", head) if matter.share_in(found[0]) > 0]
    if not named:
        return False
    begin = rest.find(head.split()[0])
    return _BEHIND.match(rest[begin + named[-1].end() :]) is not None


def _ends(matter: AskedMatter, sentence: str) -> bool:
    """Whether a sentence says, where it names a matter, that whoever speaks has it no more, or not."""
    if matter.share_in(sentence) < _SOME or asks(sentence) or _is_unsettled(sentence):
        return False
    if about_another(sentence, frozenset(), "") and not _MINE.search(sentence):
        return False
    for clause in matter.clauses_in(NO_DENIAL.sub(" ", sentence)):
        words = [word for word in matter.words if matter.chinese and word in clause] or list(matter.words)
        if object_state(clause, words, chinese=matter.chinese) is ObjectState.GONE or _NONE_LEFT.search(clause):
            return True
        mine = (clause[found.end() :].split()[:2] for found in _MINE.finditer(clause))
        if _LEFT.search(clause) and any(matter.share_in(" ".join(words)) > 0 for words in mine):
            return True
    return False


def _may_end(matter: AskedMatter, other: Recalled, hit: Recalled, until: int) -> bool:
    """Whether what was said between a statement and the end of a time tells of a change that may be one of the matter.

    It may name neither: Rex died, and Rex was the dog. What is plainly of somebody else, and shares nothing, is none.
    """
    if not micros(hit.item.said) < micros(other.item.said) < until:
        return False
    shares = not telling_words(hit.text).isdisjoint(telling_words(other.text))
    if other.succession > 0 and matter.share_in(other.text) < _SOME:
        return True
    changes = _CHANGES.search(other.text) is not None or (shares and denies_in(NO_DENIAL.sub(" ", other.text)))
    return changes and (shares or not about_another(other.text, frozenset(), ""))

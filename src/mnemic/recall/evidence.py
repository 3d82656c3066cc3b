"""Which of what was recalled can answer a question at all: by who said it, whom it is about, and what it names.

What asks, what merely acknowledges, and what an assistant said or somebody is quoted as saying, answers nothing about
whoever asks; nor does what is plainly of somebody else, or names no place, number or kin where that is asked for.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros
from mnemic.core.items import Kind
from mnemic.core.timex import find_times
from mnemic.core.tokens import tokenise
from mnemic.extract.sentences import written_sentences
from mnemic.extract.speakers import is_machine, is_users_role, names_user
from mnemic.models.base import TRAITS
from mnemic.recall.answer_kind import AskedKind, kind_asked, lacks_kind
from mnemic.recall.asked_for import (
    PARENTS,
    AnswerType,
    asks_age,
    asks_yes_or_no,
    relations_in,
    tells_age,
)
from mnemic.recall.asked_person import called_by_name
from mnemic.recall.earlier import asks_former_partner, names_what_followed
from mnemic.recall.masked_values import is_masked_for
from mnemic.recall.number_kinds import lacks_number_asked
from mnemic.recall.polarity import asked_words, share_held, telling_words
from mnemic.recall.said_of_others import SpokenOf
from mnemic.recall.sentence_cues import KIN, SentenceCue, counted_in
from mnemic.recall.topics import OFF_TOPIC
from mnemic.recall.understand import ASSISTANTS, SPEAKS_OF_SELF, SPEAKS_TO_OTHER
from mnemic.recall.unreal import ASKS_UNREAL, LEAST_SO, NEAR_UNREAL, SURELY_SUPPOSED, is_unreal
from mnemic.recall.what_asks import ASKS_HELP, asks, states_nothing
from mnemic.recall.whom_it_is_about import (
    QUOTED,
    about_another,
    asks_of_self,
    clauses,
    is_kin_of_another,
    names_in,
    of_somebody_of_mine,
    own_kin,
)
from mnemic.recall.wishes import is_of_other_mood
from mnemic.recall.word_groups import DENIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.core.items import Item
    from mnemic.core.queries import Context, Recalled
    from mnemic.core.timex import TimeSpan


_SUPPOSED: Final = TRAITS.index("supposed")
PLAIN_AT_LEAST: Final = {"own": 1.5, "informs": 2.5}
PLAIN_AT_MOST: Final = {"supposed": -2.0, "end": -2.0, "negate": -3.0}
"""Log odds of traits between which a passage plainly tells how something of its speaker is."""
TELLS_STATE: Final = 0.0
"""Log odds from which on it tells a state or a change, which is one from then on."""
OF_NO_BEARING: Final = 6.5
"""By how much less than what bears most on a question, in log odds, a statement bears that is of another matter:
small talk shares a number, or "left", with many an answer."""
CONTESTS_SURELY: Final = 4.0
CONTESTS: Final = 2.6
CONTESTS_WITHIN: Final = 5.0
"""Log odds of being of one matter with an answer, with vectors, from which a statement contests it: whatever it bears
on the question, or if it bears no less than so much below what bears most. That Lars broke a toe leaves him a dentist.
"""
WHOEVER_ASKS: Final = ("", "user")
"""By whom it is said, where nobody is named."""
_LIGHT: Final = frozenset(
    tokenise("take takes taking get gets getting have make makes making do go goes going put keep let")
)
"""Verbs that name no matter: what was taken may be a pill, a train or a size."""
_REPORTED: Final = re.compile(
    r"\b(?:said|says|told|asked|wrote|texted|goes|like)\b[^\"“「']{0,40}[\"“「']|[说问写道喊讲][^\"“「]{0,8}[\"“「]"
    r"|^\W*(?-i:[A-Z])[\w-]+(?: (?-i:[A-Z])[\w-]+)?: ?[\"“‘']",
    re.IGNORECASE,
)
COUNTED: Final = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand"
    r"|dozens?|half|once|twice|every|each|few|several|both|couple|first|last|daily|weekly|monthly)\b"
    r"|[一二两三四五六七八九十百千万半几每双俩仨]",
    re.IGNORECASE,
)
"""What may tell how many, how much or how often."""
_ASKS_NAME_OF_KIN: Final = re.compile(
    r"\bwho(?:['’]s| is| was)(?: \w+)? (?:my|our)\b|\bname\b|\bcalled\b|叫什么|叫啥|名字|是谁", re.IGNORECASE
)
_ASKS_CONTACT: Final = re.compile(
    r"\b((?:tele)?phone number|mobile number)\b|\b(?:my|our|his|her|their|\w+['’]s) e-?mail\b|\be-?mail address\b"
    r"|(电话(?:号码)?|手机号码?)是?多少|邮箱",
    re.IGNORECASE,
)
"""Asks for a telephone number, else for a mailbox."""
_ASKS_ISSUED: Final = re.compile(
    r"\b(?:passport|account|policy|licen[cs]e|card|membership|booking|reservation|order|ticket|student|tax|registration"
    r"|serial|customer) number\b|(?:护照|身份证|银行卡|卡|账|保单|订单|会员|学)号",
    re.IGNORECASE,
)
"""Asks for a number that an office or a shop gave."""
_DATE_TOLD: Final = re.compile(
    r"\b\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*(?:,? \d{4})?"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?"
    r"|\d{4}年|\d{1,2}月(?:\d{1,2}[日号])?|\b(?:19|20)\d\d\b",
    re.IGNORECASE,
)
_NUMBER_TOLD: Final = re.compile(r"\d(?:[ -]?\d){2}")
_MAIL_TOLD: Final = re.compile(r"@|邮箱|e-?mail", re.IGNORECASE)
NEARLY: Final = 2.0
"""By how much less than what tells of another thing, in log odds, a statement may bear on a question to answer it."""
BEARS_WELL: Final = -0.75
"""Log odds of bearing on a question from which a statement may answer it though its topic, read from vectors, is
another: of 31 such that went first in cases and lives, 17 of the 18 right ones bear so much and 2 of the 13 others."""
_ALIKE: Final = tuple(
    re.compile(words, re.IGNORECASE)
    for words in (
        r"\b(?:wife|husband|spouse|partner|girlfriend|boyfriend|gf|bf|fianc[eé]e?|missus|other half|seeing|dating"
        r"|married|together|anniversary)\b|领证|结婚|老婆|老公|爱人|对象|男朋友|女朋友|男友|女友|媳妇|先生|太太|妻子|丈夫|老伴",
        r"\b(?:sons?|daughters?|kids?|child(?:ren)?|boys?|girls?|bab(?:y|ies)|twins)\b|孩子|儿子|女儿|闺女|娃|宝宝|双胞胎",
    )
)
"""Words for the same kin."""
OF_ANY_MATTER: Final = frozenset("日月年号天多大少")
"""Characters that stand in questions and statements of any matter."""
_IN_LAW: Final = re.compile(r"-in-law|[夫婿媳嫂]")
"""Kin of kin, whom a word for those whom they married does not mean."""
_POSSESSIVE: Final = re.compile(
    r"\W*(?!(?:It|That|This|There|Here|What|Who|Where|When|How|He|She|Let|Today|Tomorrow)\b)[A-Z][\w-]+['’]s\b"
)
"""Opens with what is somebody's by name: "Tom's favourite colour"."""
_YEAR: Final = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_SHORT_YEAR: Final = re.compile(r"(?<!\d)(\d\d)年(?![前后级])")
"""A year of this century as it is said: 23年."""
_THEIRS: Final = re.compile(
    r"\bmy\b|\b(?:told|asked|texted|said to|wrote to) (?:me|us)\b|我(?=的?[\u4e00-\u9fff]{1,3}[说问写喊讲])"
    r"|(?:跟|对|和|给|告诉|问)我们?",
    re.IGNORECASE,
)
"""By which somebody is called after whoever speaks, or speaks to them: "my boss", "told me", 我妈说, 告诉我."""
MACHINES: Final = frozenset(ASSISTANTS)
_OF_ONE: Final = re.compile(r"\b(?:i|me|my|mine|myself)\b|[我咱俺](?!们)", re.IGNORECASE)
"""Speaks of its speaker alone."""
_WITH_OTHERS: Final = re.compile(r"\b(?:you(?:rs?)?|we|us|ours?)\b|[你您]|[我咱]们", re.IGNORECASE)
"""Speaks to somebody, or of others with its speaker: of whom, is not told."""
_MEANT: Final = 1.0
"""A closeness of meaning, as recall scales it, that few statements of other matters reach."""


def can_answer(hit: Recalled, question: str) -> bool:
    """Whether an entry can answer at all: it states something, and not only what an assistant said of somebody else."""
    if states_nothing(hit.text):
        return False
    mine = SPEAKS_OF_SELF.search(question) and not SPEAKS_TO_OTHER.search(question)
    if not mine:
        return True
    if _POSSESSIVE.match(hit.text) and not SPEAKS_OF_SELF.search(hit.text) and not counted_in(question)[KIN].any():
        return False
    return MACHINES.isdisjoint(tokenise(speaker_of(hit.item))) and not _of_another(hit.text)


def without_others_own(question: str, context: Context, user: str, profile: Sequence[Item] = ()) -> Context:
    """A context without what other people say there of themselves, where whoever asks asks of themselves or of theirs.

    Where one name alone speaks, that is whoever asks; where it is not told who asks, anybody may be. Somebody whom the
    question is about stays, and so does what is said to somebody, or of a "we".
    """
    if not user or SPEAKS_OF_SELF.search(question) is None or SPEAKS_TO_OTHER.search(question):
        return context
    others = _other_people(context.items, user)
    if not others:
        return context
    spoken_of = SpokenOf.of(question, [hit.text for hit in context.items], profile)
    called = tokenise(" ".join((question, *(spoken_of.names if spoken_of else ()))))

    def is_their_own(hit: Recalled) -> bool:
        speaker = speaker_of(hit.item).strip().casefold()
        if speaker not in others or not set(called).isdisjoint(tokenise(speaker)):
            return False
        text = QUOTED.sub("", hit.text)
        names_asker = set(tokenise(user)) <= set(tokenise(text))
        return _OF_ONE.search(text) is not None and _WITH_OTHERS.search(text) is None and not names_asker

    items = [hit for hit in context.items if not is_their_own(hit)]
    return context if len(items) == len(context.items) else replace(context, items=tuple(renumbered(items)))


def _other_people(heard: Sequence[Recalled], user: str) -> set[str]:
    """The names of those beside whoever asks who speak, folded; none where one speaks alone."""
    said = [hit.item for hit in heard if hit.item.kind is Kind.TURN]
    speaking = {name for item in said if (name := speaker_of(item).strip()) and not is_machine(name)}
    others = {name.casefold() for name in speaking if not names_user(name, user)}
    as_user = {speaker_of(item).strip().casefold() for item in said if is_users_role(item.slots.get("role"))} & others
    others -= as_user if len(as_user) == 1 else set()
    asker = len({name.casefold() for name in speaking}) > len(others) or not all(map(speaker_of, said))
    return others if asker or len(others) > 1 else set()


def _of_another(text: str) -> bool:
    """Whether whoever says "I" in a text is somebody whom it quotes."""
    if not _REPORTED.search(text):
        return False
    return SPEAKS_OF_SELF.search(QUOTED.sub("", _THEIRS.sub("", text))) is None


def of_subject(question: str, evidence: list[Recalled], user: str) -> list[Recalled]:
    """What is said of or by somebody the question is about by name; all, if it names nobody."""
    names = {name.casefold() for name in called_by_name(question)} - {user.casefold()}
    if not names:
        return evidence
    wanted = {token for name in names for token in tokenise(name)}
    return [hit for hit in evidence if wanted & {*tokenise(hit.text), *tokenise(speaker_of(hit.item))}] or (
        [] if all(hit.bearing is not None for hit in evidence[:1]) else evidence
    )


def of_what_is_asked(question: str, evidence: list[Recalled]) -> list[Recalled]:
    """Evidence without what tells a wish for a fact, a fact for a wish, or of the value that is asked for but a mask.

    What is left of it answers only if it bears on the question nearly as much, or names what is asked: nothing comes
    up for an answer because the one that would have been is none.
    """
    if asks_yes_or_no(question):
        return evidence
    other = [hit for hit in evidence if is_of_other_mood(question, hit.text) or is_masked_for(question, hit.text)]
    if not other:
        return evidence
    asked = asked_words(question)
    least = max((hit.bearing for hit in other if hit.bearing is not None), default=0.0) - NEARLY

    def answers(hit: Recalled) -> bool:
        return (hit.bearing is not None and hit.bearing >= least) or share_held(asked, hit.text) > 0

    return [hit for hit in evidence if hit not in other and answers(hit)]


def held_by_then(question: str, evidence: list[Recalled]) -> list[Recalled]:
    """Evidence with what was said after a time that a question names behind what was said by then.

    "What dose was I on in 2023?" is answered by what was said last by the end of that year, where that bears on the
    question nearly as much; what was said later may tell of that time, and then it names the year.
    """
    first = evidence[0] if evidence else None
    if first is None or first.bearing is None or asks_yes_or_no(question):
        return evidence
    dated = _SHORT_YEAR.sub(r"20\1年", question)
    spans = [span for span in find_times(dated, micros(first.item.said)) if _YEAR.search(span.text)]
    if len(spans) != 1 or micros(first.item.said) < spans[0].end or _year_of(spans[0]) in first.text:
        return evidence
    least = max(LEAST_SO, first.bearing - NEARLY)
    by_then = [hit for hit in evidence if micros(hit.item.said) < spans[0].end and (hit.bearing or 0.0) >= least]
    if not by_then:
        return evidence
    later = [replace(hit, succession=0) for hit in evidence if hit not in by_then]
    return [*renumbered(by_then), *later]


def _year_of(span: TimeSpan) -> str:
    return str(_YEAR.findall(span.text)[0])


def so_before_supposed(question: str, evidence: list[Recalled]) -> list[Recalled]:
    """Evidence with what is so before what is only supposed, planned, dreamt or nearly so, where that came first.

    What is supposed is no state of the matter, so that nothing is older than it. A question for yes or no is left to
    what was supposed of the matter itself: what else is so is of another.
    """
    first = evidence[0] if evidence else None
    if first is None or first.bearing is None or asks_yes_or_no(question) or ASKS_UNREAL.search(question):
        return evidence
    if not only_supposes(first):
        return evidence
    supposed = [hit for hit in evidence if only_supposes(hit)]
    least = max(LEAST_SO, first.bearing - NEAR_UNREAL)
    so = [hit for hit in evidence if hit not in supposed]
    if not any(hit.bearing is not None and hit.bearing >= least for hit in so):
        return evidence
    return [*renumbered(so), *(replace(hit, succession=0) for hit in supposed)]


def only_supposes(hit: Recalled) -> bool:
    """Whether all that a hit says is supposed: as the embedder tells it, or as words do, which it may not have met.

    Of 328 turns of cases that only suppose, and 14,263 that tell what is so, by a reader that had seen none of them: 72
    and 3.4 % (words alone 50 and 2.6). "We nearly moved to Porto" it takes for a move.
    """
    if hit.traits is not None and hit.traits[_SUPPOSED] > SURELY_SUPPOSED:
        return True
    return is_unreal(_without_help_asked(hit.text))


def states_plainly(hit: Recalled) -> bool:
    """Whether the embedder tells that a hit states how things of its speaker are or have become, and worth asking for.

    Not where it may be supposed, ended or denied; nor of whom the embedder cannot tell.
    """
    if hit.traits is None:
        return False
    least = (hit.traits[TRAITS.index(trait)] >= odds for trait, odds in PLAIN_AT_LEAST.items())
    most = (hit.traits[TRAITS.index(trait)] <= odds for trait, odds in PLAIN_AT_MOST.items())
    told = max(hit.traits[TRAITS.index("state")], hit.traits[TRAITS.index("change")])
    return told >= TELLS_STATE and all(least) and all(most)


def most_bearing(evidence: Sequence[Recalled]) -> float:
    """How much what bears most on the question does."""
    return max((hit.bearing for hit in evidence if hit.bearing is not None), default=0.0)


def is_of_matter(hit: Recalled, most: float) -> bool:
    """Whether a hit is of one matter with what recall compared it with, where it did, surely enough to contest it.

    Args:
        most: The bearing on the question of what bears most on it.
    """
    if hit.bearing is None or hit.same_matter is None or hit.same_matter >= CONTESTS_SURELY:
        return True
    return hit.same_matter >= CONTESTS and hit.bearing >= most - CONTESTS_WITHIN


def _without_help_asked(text: str) -> str:
    """A text without what it asks help for, which does not make what it states a supposition."""
    return " ".join(part for part in written_sentences(text) if not (asks(part) or ASKS_HELP.search(part))) or text


def of_whoever_asks(question: str, evidence: list[Recalled], heard: Sequence[Recalled]) -> list[Recalled]:
    """What may be about whoever asks, where the question is: nothing that plainly speaks of somebody else.

    Where only what speaks of somebody else names what is asked, or is close to it in meaning, nothing answers.

    Args:
        heard: All that was recalled, which shows names.
    """
    if not asks_of_self(question):
        return evidence
    names, asked = names_in(hit.text for hit in heard), asked_words(question)

    def is_of_another(hit: Recalled) -> bool:
        best = max(clauses(hit.text), key=lambda part: share_held(asked, part), default=hit.text)
        own = SPEAKS_OF_SELF.search(hit.text)  # a place may be named and left, as its speaker says beside it
        if own and hit.succession == 1 and share_held(asked, best) == 0 and not asks_yes_or_no(question):
            return of_somebody_of_mine(hit.text)  # it need not name again what it is the newest state of
        return of_somebody_of_mine(hit.text) or about_another(best, frozenset() if own else names, question)

    kept = [hit for hit in evidence if not is_of_another(hit)]
    left = [hit for hit in evidence if hit not in kept]

    def names_it(hit: Recalled) -> bool:
        return share_held(asked, hit.text) > 0 or hit.components.get("dense", 0.0) >= _MEANT

    return [] if any(map(names_it, left)) and not any(map(names_it, kept)) else renumbered(kept)


def of_kin_asked(question: str, evidence: list[Recalled]) -> list[Recalled]:
    """Evidence without what speaks of somebody else's kin alone, where a question asks for the asker's own.

    "Els got back together with her husband" does not answer "Who is my husband?".
    """
    kin = own_kin(question)
    if not kin:
        return evidence
    kept = [hit for hit in evidence if not is_kin_of_another(hit.text, kin)]
    return renumbered(kept) if kept else evidence


def of_self(question: str, recalled: Sequence[Recalled]) -> list[Recalled]:
    """What can answer a question about whoever asks it, which may name a place as if it were somebody."""
    if not SPEAKS_OF_SELF.search(question) or own_kin(question):
        return []
    return [hit for hit in recalled if can_answer(hit, question) and not about_another(hit.text, frozenset(), question)]


def renumbered(evidence: Sequence[Recalled]) -> list[Recalled]:
    """Evidence with the places among the states of one matter counted anew, as some of them answer nothing."""
    states = sorted(hit.succession for hit in evidence if hit.succession)
    places = {place: n for n, place in enumerate(states, start=1)} if len(states) > 1 else {}
    return [replace(hit, succession=places.get(hit.succession, 0)) if hit.succession else hit for hit in evidence]


def calls_kin(text: str, kin: str) -> bool:
    """Whether a text speaks of kin of one kind, by this or another word for them: husband, partner, 老公."""
    if kin.casefold() in text.casefold() or any(form.fullmatch(kin) and form.search(text) for form in _ALIKE):
        return True
    if _is_parent(kin) and _tells_of_parent(text, kin):
        return True
    alike = (counted_in(text)[KIN] > 0) & (counted_in(kin)[KIN] > 0)
    return bool(alike.any()) and not _IN_LAW.search(kin)


def _speaks_of_kin(text: str, kin: str) -> bool:
    """Whether a text speaks of anybody's kin, or of a parent where `kin` is one."""
    return bool((counted_in(text)[KIN] > 0).any()) or (_is_parent(kin) and not PARENTS.isdisjoint(relations_in(text)))


def _is_parent(kin: str) -> bool:
    return not PARENTS.isdisjoint(relations_in(kin))


def _tells_of_parent(text: str, kin: str) -> bool:
    """Whether a text tells of the parent that is asked for, or of both where both are: not of one as of both."""
    told = relations_in(text) & PARENTS
    return "parent" in told or len(told) > 1 or not told.isdisjoint(relations_in(kin))


def lacks_what_is_asked(question: str, hit: Recalled, text: str) -> bool:
    """Whether neither a text nor the whole entry that it stands in holds anything of the kind that is asked for."""
    stated = " ".join(part for part in written_sentences(hit.text) if not asks(part)) or hit.text
    return lacks_kind(question, text, hit.item) and lacks_kind(question, stated, hit.item)


def is_off(question: str, asked: AnswerType, hit: Recalled, text: str) -> bool:
    """Whether a text cannot answer a question, by what it speaks of.

    It holds nothing of the kind, no number, one of another kind, or not the kin that is asked for, or tells of what
    came after it; or it shares no word with the question and is plainly on another topic.
    """
    if lacks_what_is_asked(question, hit, text):
        return True
    if asks_former_partner(question):
        return False  # "broke up with Zack" calls nobody an ex
    kin = own_kin(question)
    if kin and not calls_kin(text, kin) and (_ASKS_NAME_OF_KIN.search(question) or _speaks_of_kin(text, kin)):
        return True
    if names_what_followed(question, text):
        return True
    if asked is AnswerType.NUMBER and not (tells_age(text) if asks_age(question) else COUNTED.search(text)):
        return True
    if (contact := _ASKS_CONTACT.search(question)) is not None:
        told = _NUMBER_TOLD if contact[1] or contact[2] else _MAIL_TOLD
        if told.search(text) is None:
            return True
    if lacks_number_asked(question, text):
        return True
    if _ASKS_ISSUED.search(question) and _NUMBER_TOLD.search(_DATE_TOLD.sub("", text)) is None:
        return True
    if kind_asked(question) is AskedKind.WAY:
        return False  # "sold the car, on the tube every day": what tells a way of going may name no work
    off_topic = hit.same_topic is not None and hit.same_topic < OFF_TOPIC and (hit.bearing or 0.0) < BEARS_WELL
    return off_topic and share_held(asked_words(question) - OF_ANY_MATTER, text) == 0


def speaker_of(item: Item) -> str:
    return str(item.slots.get("speaker") or item.slots.get("role") or "")


def denies_in(clause: str) -> bool:
    """Whether a clause says that something is not so, or not any more."""
    return bool(DENIES.search(clause) or counted_in(clause)[SentenceCue.END])


def matter_words(text: str) -> set[str]:
    """The tokens of a text that name something: no words of grammar, no light verbs, nor words of an end."""
    return {token for token in telling_words(text) if token not in _LIGHT and not denies_in(token)}

"""An answer without a model: the sentences of the evidence that answer a question, word for word, cited.

Recall puts first what bears on a question and holds now, so what is quoted comes from there: the sentence that covers
the question or holds what it asks for, else the whole turn. What asks, what merely acknowledges, and the head over a
text answer nothing; what an assistant said, or what the person quotes somebody as saying, answers nothing about that
person. Where a speaker is named, or documents are found, each sentence is scored instead: by how much of the question
it and its item hold, by the item's rank, by who says it, and by whether it holds what is asked for. A time, a number, a
name or a place is given first where it is found; yes or no where it is clear enough (`recall.polarity`). How sure an
answer is was learned from cases (`recall.sureness`).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros
from mnemic.core.items import Kind
from mnemic.core.tokens import is_stop, tokenise
from mnemic.extract.phrasing import shown_value
from mnemic.extract.sentences import sentence_spans, sentences, written_sentences
from mnemic.recall.asked_for import (
    PAST,
    AnswerType,
    asks_age,
    asks_several,
    asks_yes_or_no,
    day_said,
    held,
    surely_held,
    tells_age,
)
from mnemic.recall.doubt_words import is_asserted, speaks_of_any
from mnemic.recall.earlier import names_what_followed, what_held_before
from mnemic.recall.polarity import ASKS_PAST, DENIES, SUPPOSES, asked_words, share_held, telling_words
from mnemic.recall.profile import certain_since, matter_of_slot
from mnemic.recall.reasons import KNOWN
from mnemic.recall.sentence_cues import KIN, SentenceCue, counted_in
from mnemic.recall.succession import rival, without_first
from mnemic.recall.sureness import SCORED, SPLIT, AnswerGrounds, likely_succeeds, likely_yes, read_by, sure
from mnemic.recall.topics import OFF_TOPIC, ON_TOPIC
from mnemic.recall.understand import ASSISTANTS, SPEAKS_OF_SELF, SPEAKS_TO_OTHER, called_by_name
from mnemic.recall.whom_it_is_about import (
    OWN_KIN,
    QUOTED,
    about_another,
    asks_of_self,
    clauses,
    is_kin_of_another,
    names_in,
    of_somebody_of_mine,
)
from mnemic.recall.yes_or_no import Following, YesOrNo, follows, reads, said_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item
    from mnemic.core.queries import Context, Recalled

QUOTES: Final = 3
"""Most sentences quoted, to a question that asks for several things."""

BESIDE: Final = 2
"""Most sentences quoted to any other question, where a second one bears on it nearly as much."""

NEARLY: Final = 2.0
"""By how much less than what bears most on the question, in log odds, another statement is quoted beside the first:
farther off it only buries the answer, and of ordinary lives none was answered better for it.
"""

CLOSE: Final = 4.0
"""By how much less than what bears most, in log odds, what the person said since may bear on the question to be weighed
against a fact of the profile.
"""

FLOOR: Final = 0.0
"""Log odds from which anything that they said since is."""

NEAR: Final = 0.8
"""Share of the best sentence's score from which another one is quoted beside it, where sentences are scored."""

WHOLE: Final = 400
"""Characters up to which a turn is quoted whole, where no sentence of it stands out."""

COVERS: Final = 0.75
"""Share of a question from which a sentence stands for its turn."""

_OWN, _ITEM, _RANK, _PERSON, _HELD, _ASKS = 1.0, 0.5, 1.2, 0.4, 0.3, 0.5
"""What the sentence's coverage, its item's, the item's rank, the person and what is asked for add; a question loses."""

_CHINESE: Final = re.compile("[\u3400-\u9fff]")
_QUESTION: Final = re.compile(r"[?？][\"'”’)\]]*$")
_HEADING: Final = re.compile(r"#{1,6}\s")
_ENDED: Final = re.compile(r"[.!?。！？；;:：,，][\"'”’)\]」』）]*$")
_CLAUSE: Final = re.compile(
    r"[,，、:：—–]|\b(?:and(?! I\b)|but|so|because|while|when|after|before|since|until|though|although)\b"
    r"|(?<=的时候)|(?<=那会儿)|(?<=那时候)|(?<=以后)|(?<=之后)|(?<=因为)"
)
_LIGHT: Final = frozenset(
    tokenise("take takes taking get gets getting have make makes making do go goes going put keep let")
)
"""Verbs that name no matter: what was taken may be a pill, a train or a size."""
_ITEMISED: Final = re.compile(r"(?:[-*+•]|\d+[.)])\s")
_ACKNOWLEDGES: Final = re.compile(
    r"\W*(?:(?:ok(?:ay)?|thanks?(?: you)?(?: (?:so|very) much| a lot)?|noted|great|sure|cool|nice|got it|will do"
    r"|understood|perfect|sounds good|alright|you['’]re welcome|no problem|congratulations|glad to hear (?:it|that)"
    r"|好的?|谢谢你?|收到|明白了?|知道了|了解|没问题|恭喜|嗯|行)[\s,.!。，！、~～]*)+$",
    re.IGNORECASE,
)
_REPORTED: Final = re.compile(
    r"\b(?:said|says|told|asked|wrote|texted|goes|like)\b[^\"“「']{0,40}[\"“「']|[说问写道喊讲][^\"“「]{0,8}[\"“「]",
    re.IGNORECASE,
)
_PLACED: Final = re.compile(
    r"\b(?i:in|at|on|to|from|near|under|behind|beside|by|inside|above|below|between|with|outside|abroad|home|here|there"
    r"|visited|left|lives?|via|around|across|past|opposite|over|into|onto|toward|towards|through|for)\b"
    r"|\b(?:is|was|are) (?:the )?[A-Z]|address|street|road|来自|是"
    r"|[在去到住从往回来搬里上下旁边放落路街号州市省县区镇村]|[A-Z][\w’'-]+(?:, [A-Z]|$)",
)
"""What may tell where something is, or where to."""
_COUNTED: Final = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand"
    r"|dozens?|half|once|twice|every|each|few|several|both|couple|first|last|daily|weekly|monthly)\b"
    r"|[一二两三四五六七八九十百千万半几每双]",
    re.IGNORECASE,
)
"""What may tell how many, how much or how often."""
_ASKS_NAME_OF_KIN: Final = re.compile(
    r"\bwho(?:['’]s| is| was)(?: \w+)? (?:my|our)\b|\bname\b|\bcalled\b|叫什么|叫啥|名字|是谁", re.IGNORECASE
)
_ALIKE: Final = tuple(
    re.compile(words, re.IGNORECASE)
    for words in (
        r"\b(?:wife|husband|spouse|partner|girlfriend|boyfriend|gf|bf|fianc[eé]e?|missus|other half|seeing|dating"
        r"|married|together|anniversary)\b|领证|结婚|老婆|老公|爱人|对象|男朋友|女朋友|男友|女友|媳妇|先生|太太|妻子|丈夫|老伴",
        r"\b(?:sons?|daughters?|kids?|child(?:ren)?|boys?|girls?|bab(?:y|ies)|twins)\b|孩子|儿子|女儿|闺女|娃|宝宝|双胞胎",
    )
)
"""Words for the same kin."""
_STOP_CHARACTERS: Final = frozenset("日月年号天多大少")
"""Characters that stand in questions and statements of any matter."""
_IN_LAW: Final = re.compile(r"-in-law|[夫婿媳嫂]")
"""Kin of kin, whom a word for those whom they married does not mean."""
_POSSESSIVE: Final = re.compile(
    r"\W*(?!(?:It|That|This|There|Here|What|Who|Where|When|How|He|She|Let|Today|Tomorrow)\b)[A-Z][\w-]+['’]s\b"
)
"""Opens with what is somebody's by name: "Tom's favourite colour"."""
_THEIRS: Final = re.compile(
    r"\bmy\b|\b(?:told|asked|texted|said to|wrote to) (?:me|us)\b|我(?=的?[\u4e00-\u9fff]{1,3}[说问写喊讲])"
    r"|(?:跟|对|和|给|告诉|问)我们?",
    re.IGNORECASE,
)
"""By which somebody is called after whoever speaks, or speaks to them: "my boss", "told me", 我妈说, 告诉我."""
_PLAINLY_NOT: Final = re.compile(r"\b(?:no|not|never|none|nothing|without)\b|\w+n['’]t\b|不|没", re.IGNORECASE)
_MACHINES: Final = frozenset(ASSISTANTS)
_UNKNOWN: Final = "I do not know: memory does not seem to hold the answer."
_UNKNOWN_CHINESE: Final = "不知道：记忆里好像没有答案。"
_NEAREST: Final = "What comes nearest:"
_NEAREST_CHINESE: Final = "最接近的是："
_MEANT: Final = 1.0
"""A closeness of meaning, as recall scales it, that few statements of other matters reach."""
_UNTOLD: Final = 0.6
"""How likely right an answer must be by words alone, where the words of the question are not told."""
UNFOLLOWED: Final = 0.25
"""How likely what stands as newer must at least be of the matter of what it follows, to stay before it: most changes
are told in words of their own, and recall has weighed them already.
"""
_HALF: Final = 0.5
"""Share of a question from which a statement is of what it asks about."""
_SURELY: Final = 0.5
"""How likely yes, or no, must be to be said."""


@dataclass(frozen=True, slots=True)
class Citation:
    """One sentence of the evidence, word for word, and the item it stands in."""

    id: ItemId
    quote: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What memory answers.

    Attributes:
        text: The answer as a person reads it: what was asked for, if it could be told, and the quotes with their ids.
        short: Yes or no; the time, number, names or place that was asked for; "" if it was something else, or was not
            found.
        citations: What is quoted, the best first.
        confidence: How likely the answer is right, 0 to 1.
        known: Whether it answers; if not, `text` says that it does not know.
        nearest: Where it does not know, what of memory shares words with the question, and is no answer to it.
    """

    text: str
    short: str
    citations: tuple[Citation, ...]
    confidence: float
    known: bool
    nearest: tuple[Citation, ...] = ()

    def __str__(self) -> str:
        return self.text


def answer(
    question: str, context: Context, facts: Sequence[Item] = (), user: str = "", profile: Sequence[Item] = ()
) -> Answer:
    """Quote the sentences of a recall's evidence that answer its question; or the profile, where it states just that.

    Args:
        facts: What the profile says to just this question.
        user: Who "I" is: a question that names them is about what they say of themselves.
        profile: All that it says without a doubt, out of which a question for yes or no is answered.
    """
    drafted = draft_answer(question, context, facts, user, profile)
    if drafted is None:
        return _unknown(question, context, 0.0 if context.items else context.confidence)
    return drafted.answered(sure(drafted.grounds))


@dataclass(frozen=True, slots=True)
class DraftAnswer:
    """An answer before it is known how sure it is."""

    grounds: AnswerGrounds
    quotes: tuple[tuple[ItemId, str], ...]

    def answered(self, confidence: float) -> Answer:
        """The answer; that memory does not know, where it is too unsure, or what it would quote is no answer.

        Yes or no is said where it is likely right.
        """
        grounds = self.grounds
        if grounds.beside or confidence < self._least():
            return _unknown(grounds.question, grounds.context, confidence)
        return _cited("" if grounds.yes is not None and confidence < KNOWN else grounds.short, self.quotes, confidence)

    def _least(self) -> float:
        """The confidence from which it is given.

        By words alone it must likely be right where its words are not told here either; but what is in doubt is given
        with what stands against it, so that a person can settle it.
        """
        grounds = self.grounds
        if not grounds.judged:
            return SCORED * KNOWN
        untold = grounds.context.confidence < KNOWN and read_by(grounds.evidence) == "words"
        given_anyway = grounds.doubted or grounds.contested or grounds.before
        return _UNTOLD if untold and not given_anyway else SPLIT


def draft_answer(
    question: str, context: Context, facts: Sequence[Item] = (), user: str = "", profile: Sequence[Item] = ()
) -> DraftAnswer | None:
    """Choose what answers a question, of the evidence or of the profile; None where nothing does."""
    evidence = _renumbered(_of_subject(question, [hit for hit in context.items if _answers(hit, question)], user))
    asked = AnswerType.by(question)
    evidence = _of_the_matter(question, _of_whoever_asks(question, _of_kin_asked(question, evidence), context.items))
    before = what_held_before(question, _of_self(question, context.items))
    evidence = before or _fitting(question, asked, evidence)
    said = _plainly_said(question, context, evidence, profile, user) if asks_yes_or_no(question) else None
    if said is not None and said.yes is not None:
        return _drafted_plainly(question, context, evidence, said, said.yes)
    if facts and _stand(question, facts, evidence, user):
        values = [shown_value(str(item.slots["value"]), item.text) for item in facts if "value" in item.slots]
        short = ", ".join(dict.fromkeys(values))
        contested = _contested(question, facts, values, evidence)
        grounds = AnswerGrounds(
            question, context, evidence, asked, facts, short, None, stated=True, contested=contested
        )
        return DraftAnswer(grounds, tuple((item.id, item.text) for item in facts))
    chosen = _quoted(question, asked, evidence, context.items, doubted=bool(facts)) if evidence else []
    if not chosen:
        return None
    fitting = [quote for quote in chosen if not _is_beside(question, asked, quote, evidence)]
    beside, chosen = not fitting, fitting or chosen
    short, yes = _short(question, asked, chosen, evidence)
    short = "" if facts and evidence[0].succession != 1 else short
    quoted = [hit.item for hit in chosen]
    contested = _contested(question, quoted[:1], [chosen[0].text], evidence)
    unread = yes is not None and (said is not None or not _may_conclude(question, chosen[0], evidence))
    doubts = {
        "doubted": bool(facts),
        "contested": contested,
        "unread": unread,
        "beside": beside,
        "before": bool(before),
    }
    grounds = AnswerGrounds(question, context, evidence, asked, quoted, short, yes, **doubts)
    return DraftAnswer(grounds, tuple((hit.item.id, hit.text) for hit in chosen))


def _plainly_said(
    question: str, context: Context, evidence: Sequence[Recalled], profile: Sequence[Item], user: str
) -> YesOrNo | None:
    """What the asker plainly said to a question for yes or no.

    Nothing where recall holds something newer for the state of the very object; and what that is leaves a reading open,
    unless it is plainly of another object.
    """
    me = {"", "user", user.casefold()}
    mine = [hit for hit in profile if str(hit.slots.get("subject") or "user").casefold() in me]
    own = [hit.item for hit in context.items if _speaker(hit.item).casefold() in me and hit.item.kind is Kind.TURN]
    said = said_of(question, mine, own)
    newest = next((hit for hit in evidence if hit.succession == 1), None)
    if said is None or said.yes is None or newest is None:
        return said
    if newest.id in (said.item.id, *said.item.source) or newest.item.said <= said.item.said:
        return said
    match follows(question, newest.text):
        case Following.SAME:
            return None
        case Following.OTHER:
            return said
        case Following.UNTOLD:
            return replace(said, yes=None)


def _drafted_plainly(
    question: str, context: Context, evidence: Sequence[Recalled], said: YesOrNo, yes: bool
) -> DraftAnswer:
    first = [hit for hit in evidence if hit.id == said.item.id]
    ordered = [*first, *(hit for hit in evidence if hit not in first)]
    short = _yes_or_no(question, yes)
    grounds = AnswerGrounds(
        question, context, ordered, AnswerType.by(question), [said.item], short, float(yes), stated=True
    )
    return DraftAnswer(grounds, ((said.item.id, said.sentence),))


def _of_self(question: str, recalled: Sequence[Recalled]) -> list[Recalled]:
    """What can answer a question about whoever asks it, which may name a place as if it were somebody."""
    if not SPEAKS_OF_SELF.search(question) or OWN_KIN.search(question):
        return []
    return [hit for hit in recalled if _answers(hit, question) and not about_another(hit.text, frozenset(), question)]


def _is_beside(question: str, asked: AnswerType, quoted: _Sentence, evidence: Sequence[Recalled]) -> bool:
    """Whether a quote cannot answer a question, by what it speaks of (`_is_off`).

    The newest of several states of a matter need not name what is asked, if an older state does: "It says 0 positive,
    forget what I told you" answers "What is my blood type?".
    """
    hit = next((hit for hit in evidence if hit.id == quoted.item.id), None)
    if hit is None or hit.bearing is None or asks_yes_or_no(question):
        return False
    if not _is_off(question, asked, hit, quoted.text):
        return False
    older = [state for state in evidence if state.succession > 1] if hit.succession == 1 else []
    names = {token for name in called_by_name(question) for token in tokenise(name)}
    words = asked_words(question) - _STOP_CHARACTERS - names
    on = (state for state in older if share_held(words, state.text) > 0 or (state.same_topic or 0.0) >= ON_TOPIC)
    return all(_is_off(question, asked, state, state.text) for state in on)


def _is_off(question: str, asked: AnswerType, hit: Recalled, text: str) -> bool:
    """Whether a text names no place, no number or not the kin that is asked for, or tells of what came after it; or
    shares no word with the question and is plainly on another topic."""
    kin = OWN_KIN.search(question)
    another = kin is not None and not _calls_kin(text, next(filter(None, kin.groups())))
    if another and (_ASKS_NAME_OF_KIN.search(question) or (counted_in(text)[KIN] > 0).any()):
        return True
    if names_what_followed(question, text) or (asked is AnswerType.PLACE and not _PLACED.search(text)):
        return True
    if asked is AnswerType.NUMBER and not (tells_age(text) if asks_age(question) else _COUNTED.search(text)):
        return True
    off_topic = hit.same_topic is not None and hit.same_topic < OFF_TOPIC
    return off_topic and share_held(asked_words(question) - _STOP_CHARACTERS, text) == 0


def _may_conclude(question: str, quoted: _Sentence, evidence: Sequence[Recalled]) -> bool:
    """Whether yes or no may be concluded from a sentence in which it is not plainly read.

    It must say how things are, and suppose, dream or joke about nothing, and plainly be of no other object than the one
    that is asked about. It must be of the newest state of a matter that recall has followed, and the
    states must name what is asked; or itself name it, where the question is of the past or of an end.
    """
    if not any(map(is_asserted, sentences(quoted.text))):
        return False
    if reads(question) and follows(question, quoted.text) is Following.OTHER:
        return False
    if not asks_of_self(question) or evidence[0].bearing is None:
        return True
    asked = asked_words(question)
    states = [hit for hit in evidence if hit.succession]
    newest = any(hit.id == quoted.item.id and hit.succession == 1 for hit in states)
    if newest and share_held(asked, " ".join(hit.text for hit in states)) >= _HALF:
        return True
    return not reads(question) and share_held(asked, quoted.item.text) >= _HALF


def _cited(short: str, quotes: Sequence[tuple[ItemId, str]], confidence: float) -> Answer:
    quoted = " ".join(f'"{text}" [{id}]' for id, text in quotes)
    citations = tuple(Citation(id, text) for id, text in quotes)
    return Answer(f"{short}: {quoted}" if short else quoted, short, citations, confidence, known=True)


def _unknown(question: str, context: Context, confidence: float) -> Answer:
    """That memory does not know, and the one statement that shares most of the question's words, if one does."""
    asked = asked_words(question)
    close = max(context.items, key=lambda hit: share_held(asked, hit.text), default=None)
    nearest: tuple[Citation, ...] = ()
    if close is not None and share_held(asked, close.text) > 0 and _answers(close, question):
        nearest = (Citation(close.id, close.text.strip() if len(close.text) <= WHOLE else _telling(close.item)[0]),)
    chinese = _CHINESE.search(question)
    text = _UNKNOWN_CHINESE if chinese else _UNKNOWN
    for hit in nearest:
        text += f'{_NEAREST_CHINESE}"{hit.quote}" [{hit.id}]' if chinese else f' {_NEAREST} "{hit.quote}" [{hit.id}]'
    return Answer(text, "", (), confidence, known=False, nearest=nearest)


# Facts


def _stand(question: str, facts: Sequence[Item], evidence: Sequence[Recalled], user: str) -> bool:
    """Whether facts of the profile still say what holds: nothing else that the person said since comes first.

    They give way only to what names them again, or speaks of their matter: what may end them in other words has put
    them in doubt already, and then they are none of these.
    """
    people = {str(fact.slots.get("subject") or "user").casefold() for fact in facts}
    people |= {"", "user", user.casefold()} if people & {"user", user.casefold()} else set()
    first = next((hit for hit in evidence if _speaker(hit.item).casefold() in people), None)
    if first is None or first.bearing is None:
        return True
    known = {source for fact in facts for source in fact.source} | {fact.id for fact in facts}
    latest = max(map(certain_since, facts))
    least = min(_most(evidence) - CLOSE, FLOOR)
    bearing = [hit for hit in evidence if hit.bearing is not None and hit.bearing >= least]
    newer = [hit for hit in bearing if hit.id not in known and micros(hit.item.said) > latest]
    if not asks_several(question):
        topics = {matter_of_slot(str(fact.slots.get("slot"))) for fact in facts}
        names = _Matter.of(question, [fact.text for fact in facts]).names | _telling_words(question)
        newer = [
            hit for hit in newer if speaks_of_any(hit.text, topics) or not names.isdisjoint(_telling_words(hit.text))
        ]
    return first not in newer and not any(_changes(hit) and (hit.bearing or 0.0) > 0 for hit in newer)


def _changes(hit: Recalled) -> bool:
    """Whether a statement of the person says that something changed or ended."""
    cues = counted_in(hit.text)
    return bool(cues[SentenceCue.CHANGE] or cues[SentenceCue.END]) and not cues[SentenceCue.SUPPOSE]


def _contested(question: str, quoted: Sequence[Item], texts: Sequence[str], evidence: Sequence[Recalled]) -> bool:
    """Whether whoever told some texts said later, of what these name, that it ended or is not so.

    A question of the past is answered by what ended since; and what recall holds for another state of the same matter
    it has put in its place already.
    """
    if ASKS_PAST.search(question):
        return False
    known = {id for item in quoted for id in (item.id, *item.source)}
    matter = _Matter.of(question, texts)
    latest = max(map(certain_since, quoted))
    later = (hit for hit in evidence if micros(hit.item.said) > latest and hit.id not in known and hit.succession < 2)
    return any(
        matter.ends_in(text) for hit in later if _by_same(quoted[0], hit.item) for text in written_sentences(hit.text)
    )


def _by_same(quoted: Item, later: Item) -> bool:
    """Whether an item is by the speaker of another, who of a fact is anybody but an assistant."""
    speaker = _speaker(later).casefold()
    return speaker not in _MACHINES and (_speaker(quoted).casefold() or speaker) == speaker


@dataclass(frozen=True, slots=True)
class _Matter:
    """What some texts name, by the words that tell, and of which of the speaker's people they or a question speak."""

    names: frozenset[str]
    people: frozenset[int]

    @classmethod
    def of(cls, question: str, texts: Sequence[str]) -> _Matter:
        names = frozenset(token for text in texts for token in _telling_words(text))
        return cls(names, frozenset(person for text in (question, *texts) for person in _people(text)))

    def ends_in(self, sentence: str) -> bool:
        """Whether a sentence states, where it names the matter, that it ended, is not so or was told wrongly.

        One about somebody else of the speaker's does not; who corrects themselves may name it anywhere.
        """
        if _QUESTION.search(sentence) or SUPPOSES.search(sentence):
            return False
        corrected = counted_in(sentence)[SentenceCue.CORRECT] > 0
        for part in (sentence,) if corrected else _CLAUSE.split(sentence):
            shared = self.names & _telling_words(part)
            if shared and (corrected or (_denies(part) and not _only_called(shared, part))):
                return _people(part) <= self.people
        return False


def _only_called(shared: frozenset[str], clause: str) -> bool:
    """Whether a clause shares only names with what it may deny, and does not say of them that they are gone.

    "Margaret won't be seen in it" denies nothing else of Margaret; "Margaret left" does.
    """
    called = {token for name in names_in([clause, f", {clause}"]) for token in tokenise(name)}
    return shared <= called and not _denies(_PLAINLY_NOT.sub(" ", clause))


def _denies(clause: str) -> bool:
    """Whether a clause says that something is not so, or not any more."""
    return bool(DENIES.search(clause) or counted_in(clause)[SentenceCue.END])


def _people(text: str) -> frozenset[int]:
    """Which of the speaker's people a text speaks of, by what they are to them."""
    return frozenset(counted_in(text)[KIN].nonzero()[0].tolist())


def _telling_words(text: str) -> set[str]:
    """The tokens of a text that name something: no words of grammar, no light verbs, nor words of an end."""
    return {token for token in telling_words(text) if token not in _LIGHT and not _denies(token)}


# Evidence


def _renumbered(evidence: Sequence[Recalled]) -> list[Recalled]:
    """Evidence with the places among the states of one matter counted anew, as some of them answer nothing."""
    states = sorted(hit.succession for hit in evidence if hit.succession)
    places = {place: n for n, place in enumerate(states, start=1)} if len(states) > 1 else {}
    return [replace(hit, succession=places.get(hit.succession, 0)) if hit.succession else hit for hit in evidence]


def _of_whoever_asks(question: str, evidence: list[Recalled], heard: Sequence[Recalled]) -> list[Recalled]:
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
        return of_somebody_of_mine(hit.text) or about_another(best, frozenset() if own else names, question)

    kept = [hit for hit in evidence if not is_of_another(hit)]
    left = [hit for hit in evidence if hit not in kept]

    def names_it(hit: Recalled) -> bool:
        return share_held(asked, hit.text) > 0 or hit.components.get("dense", 0.0) >= _MEANT

    return [] if any(map(names_it, left)) and not any(map(names_it, kept)) else _renumbered(kept)


def _of_kin_asked(question: str, evidence: list[Recalled]) -> list[Recalled]:
    """Evidence without what speaks of somebody else's kin alone, where a question asks for the asker's own.

    "Els got back together with her husband" does not answer "Who is my husband?".
    """
    kin = OWN_KIN.search(question)
    if kin is None:
        return evidence
    kin_asked = next(filter(None, kin.groups()))
    kept = [hit for hit in evidence if not is_kin_of_another(hit.text, kin_asked)]
    return _renumbered(kept) if kept else evidence


def _calls_kin(text: str, kin: str) -> bool:
    """Whether a text speaks of kin of one kind, by this or another word for them: husband, partner, 老公."""
    if kin.casefold() in text.casefold() or any(form.fullmatch(kin) and form.search(text) for form in _ALIKE):
        return True
    alike = (counted_in(text)[KIN] > 0) & (counted_in(kin)[KIN] > 0)
    return bool(alike.any()) and not _IN_LAW.search(kin)


def _fitting(question: str, asked: AnswerType, evidence: list[Recalled]) -> list[Recalled]:
    """Evidence with what names what is asked, and holds a number or time, before what came first without either.

    Of "How old is my mum?" a correction of her birthday is newer than her age, and no answer.
    """
    if asked not in (AnswerType.NUMBER, AnswerType.TIME) or not evidence or evidence[0].bearing is None:
        return evidence
    words = asked_words(question)

    def fits(hit: Recalled) -> tuple[bool, bool]:
        holds = any(held(asked, text, hit.item, question) for text in written_sentences(hit.text))
        return holds, share_held(words, hit.text) > 0

    if all(fits(evidence[0])):
        return evidence
    better = next((hit for hit in evidence if hit.bearing is not None and all(fits(hit))), None)
    if better is None:
        return evidence
    rest = [replace(hit, succession=0) for hit in evidence if hit is not better]
    return [replace(better, succession=0), *rest]


def _of_the_matter(question: str, evidence: list[Recalled]) -> list[Recalled]:
    """Evidence without what recall put first as newer, where that is likely of another matter than what it follows.

    What names what it follows and says that it changed, ended or was told wrongly stays.
    """
    while (older := rival(evidence)) is not None and likely_succeeds(question, evidence, older) < UNFOLLOWED:
        names_it = not _telling_words(evidence[0].text).isdisjoint(_telling_words(older.text))
        if names_it and (_changes(evidence[0]) or counted_in(evidence[0].text)[SentenceCue.CORRECT]):
            break
        evidence = without_first(evidence)
    return evidence


def _answers(hit: Recalled, question: str) -> bool:
    """Whether an entry can answer at all: it states something, and not only what an assistant said of somebody else."""
    if all(_QUESTION.search(text) or _ACKNOWLEDGES.match(text) for text in written_sentences(hit.text)):
        return False
    mine = SPEAKS_OF_SELF.search(question) and not SPEAKS_TO_OTHER.search(question)
    if not mine:
        return True
    if _POSSESSIVE.match(hit.text) and not SPEAKS_OF_SELF.search(hit.text) and not counted_in(question)[KIN].any():
        return False
    return _MACHINES.isdisjoint(tokenise(_speaker(hit.item))) and not _of_another(hit.text)


def _of_another(text: str) -> bool:
    """Whether whoever says "I" in a text is somebody whom it quotes."""
    if not _REPORTED.search(text):
        return False
    return SPEAKS_OF_SELF.search(QUOTED.sub("", _THEIRS.sub("", text))) is None


def _of_subject(question: str, evidence: list[Recalled], user: str) -> list[Recalled]:
    """What is said of or by somebody the question is about by name; all, if it names nobody."""
    names = {name.casefold() for name in called_by_name(question)} - {user.casefold()}
    if not names:
        return evidence
    wanted = {token for name in names for token in tokenise(name)}
    return [hit for hit in evidence if wanted & {*tokenise(hit.text), *tokenise(_speaker(hit.item))}] or (
        [] if all(hit.bearing is not None for hit in evidence[:1]) else evidence
    )


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence of an item with its score; `apart` where it holds no word of the question and nothing it asks for."""

    text: str
    item: Item
    score: float
    apart: bool = False


def _quoted(
    question: str,
    asked: AnswerType,
    evidence: Sequence[Recalled],
    heard: Sequence[Recalled],
    *,
    doubted: bool = False,
) -> list[_Sentence]:
    """What is quoted, the best first; nothing where it all asks the same.

    Args:
        heard: All that was recalled: what answers nothing itself may have asked for what the next turn says.
        doubted: A fact of the profile is in doubt: what stands beside it is quoted too.
    """
    scored = evidence[0].bearing is None or bool(_named(question, evidence))
    looked_at = evidence if scored else _first(question, evidence)
    sentences = [hit for hit in _sentences(question, asked, looked_at, heard) if not _repeats(hit.text, question)]
    if not scored or not sentences:
        best = [_best_of(question, asked, hit, sentences) for hit in looked_at] if sentences else []
        alone = best and not doubted and not asks_several(question)
        return best[:1] if alone and surely_held(asked, best[0].text, best[0].item, question) else best
    held_now = {hit.id for hit in evidence if hit.succession < 2 or asks_several(question)}
    ranked = sorted((hit for hit in sentences if hit.item.id in held_now), key=lambda sentence: -sentence.score)
    chosen = _chosen(ranked or sentences, QUOTES if asks_several(question) else 1)
    return [_whole_turn(hit) if hit.apart and len(hit.item.text) <= WHOLE else hit for hit in chosen]


def _first(question: str, evidence: Sequence[Recalled]) -> list[Recalled]:
    """The entries that are quoted: the first, and beside it what bears on the question nearly as much."""
    several = asks_several(question)
    most = QUOTES if several else (1 if asks_yes_or_no(question) else BESIDE)
    first, *rest = evidence
    rest = [hit for hit in rest if hit.bearing is not None and hit.bearing >= _most(evidence) - NEARLY]
    return [first, *(hit for hit in rest if several or hit.succession < 2 or _doubted(first, hit))][:most]


def _doubted(first: Recalled, older: Recalled) -> bool:
    """Whether what stands as newer may be of another matter: it bears on the question less than what it follows."""
    return (first.bearing or 0.0) < (older.bearing or 0.0)


def _most(evidence: Sequence[Recalled]) -> float:
    """How much what bears most on the question does."""
    return max((hit.bearing for hit in evidence if hit.bearing is not None), default=0.0)


def _best_of(question: str, asked: AnswerType, hit: Recalled, sentences: Sequence[_Sentence]) -> _Sentence:
    """The sentence of an entry that stands out: it covers the question, or holds what is asked for; else all of it."""
    mine = [sentence for sentence in sentences if sentence.item.id == hit.id]
    best = max(mine, key=lambda sentence: sentence.score, default=None)
    text = hit.text.strip()
    if best is None or len(mine) == 1 or (len(text) <= WHOLE and not _stands_out(best, asked, question)):
        return _Sentence(text if len(text) <= WHOLE or best is None else best.text, hit.item, 0.0)
    return best


def _whole_turn(sentence: _Sentence) -> _Sentence:
    return replace(sentence, text=sentence.item.text.strip())


def _stands_out(sentence: _Sentence, asked: AnswerType, question: str) -> bool:
    words = {token for token in tokenise(question) if not is_stop(token)}
    covered = len(words & set(tokenise(sentence.text))) / max(1, len(words))
    return covered >= COVERS or bool(held(asked, sentence.text, sentence.item, question))


def _short(
    question: str, asked: AnswerType, chosen: Sequence[_Sentence], evidence: Sequence[Recalled]
) -> tuple[str, float | None]:
    """What is given first, and to a question for yes or no how likely it is yes."""
    if asks_yes_or_no(question):
        first = [hit for hit in evidence if hit.id == chosen[0].item.id]
        yes = likely_yes(question, [*first, *(hit for hit in evidence if hit not in first)])
        return _yes_or_no(question, yes > _SURELY), yes
    scored = evidence[0].bearing is None or bool(_named(question, evidence))
    look = held if scored else surely_held
    quoted = chosen if scored else chosen[:1]
    best = next((value for hit in quoted if (value := look(asked, hit.text, hit.item, question))), "")
    if asked is AnswerType.TIME and not best and PAST.search(question) and scored:
        best = day_said(chosen[0].item, chosen[0].text)
    return best, None


def _yes_or_no(question: str, yes: bool) -> str:
    if not _CHINESE.search(question):
        return "Yes" if yes else "No"
    if re.search(r"[了过][吗没]|有", question):
        return "有" if yes else "没有"
    return "是" if yes else "不是"


# Sentences that are scored


def _repeats(sentence: str, question: str) -> bool:
    """Whether a sentence only asks the same: a question that was asked before is no answer to itself."""
    words = set(tokenise(sentence))
    return bool(_QUESTION.search(sentence)) and words == set(tokenise(question))


def _named(question: str, recalled: Sequence[Recalled]) -> set[str]:
    """The words of a question that are those of a speaker."""
    return {token for token in tokenise(question) if not is_stop(token)} & {
        token for hit in recalled for token in tokenise(_speaker(hit.item))
    }


def _sentences(
    question: str, asked: AnswerType, recalled: Sequence[Recalled], heard: Sequence[Recalled]
) -> Iterator[_Sentence]:
    """Every sentence of the evidence with its score; what was just asked for counts as said by who answers."""
    words = {token for token in tokenise(question) if not is_stop(token)}
    named = _named(question, recalled)
    weights = _weights(words - named, [set(tokenise(hit.text)) for hit in recalled])
    best = max(hit.score for hit in recalled)
    turns: dict[tuple[str | None, int], str] = {
        (hit.item.session, hit.item.pos): hit.text for hit in heard if hit.item.session
    }
    for hit in recalled:
        before = turns.get((hit.item.session, hit.item.pos - 1), "")
        asked_there = _covered(weights, before) if _QUESTION.search(before) else 0.0
        whole = max(_covered(weights, hit.text), asked_there)
        rank = hit.score / best if best > 0 else 0.0
        person = _person(named, hit.item)
        for text in _telling(hit.item):
            covered, holds = max(_covered(weights, text), asked_there), bool(held(asked, text, hit.item, question))
            score = _OWN * covered + _ITEM * whole + _RANK * rank + _PERSON * person + _HELD * holds
            score -= _ASKS * bool(_QUESTION.search(text))
            yield _Sentence(text, hit.item, score, apart=hit.item.kind is Kind.TURN and not (covered or holds))


def _telling(item: Item) -> list[str]:
    """The sentences of an item without the heads over them; all, if there is nothing else.

    What a semicolon joins stays together: the second half often takes back the first.
    """
    every = [item.text[begin:end].strip() for begin, end in _joined(sentence_spans(item.text), item.text)]
    if item.kind not in (Kind.DOCUMENT, Kind.CHUNK):
        return every
    title = str(item.slots.get("title") or "")
    return [text for text in every if not _heads(text, title)] or every


def _joined(spans: Iterable[tuple[int, int]], text: str) -> Iterator[tuple[int, int]]:
    """Stretches of a text, each joined to the next where it ends in a semicolon and both are no longer than a quote."""
    kept: tuple[int, int] | None = None
    for begin, end in spans:
        if kept is not None and end - kept[0] <= WHOLE and text[kept[0] : kept[1]].rstrip().endswith((";", "；")):
            kept = kept[0], end
            continue
        if kept is not None:
            yield kept
        kept = begin, end
    if kept is not None:
        yield kept


def _heads(text: str, title: str) -> bool:
    """Whether a line of a document is the head over others: marked as one, its title, or a few words without an end."""
    if _HEADING.match(text) or text == title:
        return True
    return not (_ENDED.search(text) or _ITEMISED.match(text)) and len(text.split()) <= 6 and len(text) <= 60


def _weights(words: set[str], held: Sequence[set[str]]) -> dict[str, float]:
    """What each word tells apart among the items; together 1."""
    holders = Counter(word for words_of_hit in held for word in words & words_of_hit)
    weights = {word: math.log(1 + len(held) / (0.5 + holders[word])) for word in words}
    total = sum(weights.values())
    return {word: weight / total for word, weight in weights.items()}


def _covered(weights: dict[str, float], text: str) -> float:
    held = set(tokenise(text))
    return sum(weight for word, weight in weights.items() if word in held)


def _speaker(item: Item) -> str:
    return str(item.slots.get("speaker") or item.slots.get("role") or "")


def _person(named: set[str], item: Item) -> int:
    """1 where somebody the question names speaks of themselves, -1 where another does, 0 where it cannot be told."""
    if not named or not (speaker := _speaker(item)):
        return 0
    addressed = SPEAKS_TO_OTHER.search(item.text) is not None and SPEAKS_OF_SELF.search(item.text) is None
    mine = not named.isdisjoint(tokenise(speaker))
    return 0 if addressed else (1 if mine else -1)


def _chosen(ranked: Sequence[_Sentence], most: int) -> list[_Sentence]:
    """The best sentence, and the best of other items that come near it."""
    kept = [ranked[0]]
    for sentence in ranked[1:]:
        if len(kept) == most or sentence.score < NEAR * ranked[0].score:
            break
        if all(sentence.item.id != other.item.id for other in kept):
            kept.append(sentence)
    return kept

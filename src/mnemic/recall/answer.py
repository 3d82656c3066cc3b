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

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros
from mnemic.core.items import Kind
from mnemic.core.tokens import hash_term, tokenise
from mnemic.extract.chinese import has_chinese
from mnemic.extract.phrasing import shown_value
from mnemic.extract.sentences import sentences, written_sentences
from mnemic.recall.answer_kind import AskedKind, kind_asked, lacks_kind
from mnemic.recall.asked_for import (
    PAST,
    AnswerType,
    asks_several,
    asks_yes_or_no,
    day_said,
    held,
    surely_held,
)
from mnemic.recall.asked_person import called_by_name
from mnemic.recall.currency import ORDERS
from mnemic.recall.doubt_words import is_asserted, speaks_of_any
from mnemic.recall.earlier import (
    asks_earlier,
    asks_former_partner,
    former_partner,
    what_came_first,
    what_held_before,
    what_held_then,
)
from mnemic.recall.ended_facts import end_of, of_same_slots, read_in, states_only_what_ended
from mnemic.recall.endings import tells_only_an_end, tells_that_nothing_else_comes
from mnemic.recall.evidence import (
    MACHINES,
    OF_ANY_MATTER,
    OF_NO_BEARING,
    WHOEVER_ASKS,
    can_answer,
    denies_in,
    held_by_then,
    is_of_matter,
    is_off,
    lacks_what_is_asked,
    matter_words,
    most_bearing,
    of_kin_asked,
    of_self,
    of_subject,
    of_what_is_asked,
    of_whoever_asks,
    only_supposes,
    renumbered,
    so_before_supposed,
    speaker_of,
    without_others_own,
)
from mnemic.recall.held_at import asks_of_stretch, held_at
from mnemic.recall.homes import newest_home_first
from mnemic.recall.only_supposed import only_supposed
from mnemic.recall.polarity import ASKS_PAST, PRESUMED, asked_words, goes_on, share_held
from mnemic.recall.profile import certain_since, matter_of_slot
from mnemic.recall.put_right import as_asserted, as_said, corrected
from mnemic.recall.quoting import (
    NEARLY,
    WHOLE,
    QuotedSentence,
    adding_up,
    quoted_for,
    speakers_named,
    telling_sentences,
)
from mnemic.recall.reasons import KNOWN, NOT_IN_MEMORY
from mnemic.recall.said_of_others import SpokenOf
from mnemic.recall.sentence_cues import KIN, SentenceCue, counted_in
from mnemic.recall.still_so import adds, may_have_ended_since, stated_in_full, still_so
from mnemic.recall.sureness import SCORED, SPLIT, AnswerGrounds, likely_yes, read_by, read_yes, sure
from mnemic.recall.topics import ON_TOPIC
from mnemic.recall.understand import SPEAKS_OF_SELF
from mnemic.recall.unnamed_endings import ends_something_else, ends_unnamed
from mnemic.recall.unreal import supposed_clauses
from mnemic.recall.what_asks import ASKING
from mnemic.recall.whom_it_is_about import about_another, names_in
from mnemic.recall.wishes import asks_wish, tells_wish
from mnemic.recall.word_groups import DENIED, SUPPOSES
from mnemic.recall.yes_or_no import Following, YesOrNo, follows, reads, said_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item
    from mnemic.core.queries import Context, Recalled
    from mnemic.core.timex import TimeSpan
    from mnemic.models.base import AnswerReading

CLOSE: Final = 4.0
"""By how much less than what bears most, in log odds, what the person said since may bear on the question to be weighed
against a fact of the profile.
"""
FLOOR: Final = 0.0
"""Log odds from which anything that they said since is."""
SETTLES: Final = 2.2
"""Log odds of bearing on a question from which a statement may settle a doubt that it raises."""
NEAR_A_FACT: Final = 1.5
"""By how much less it may bear than what the fact in doubt was read in."""
NAMED_BESIDE: Final = -1.5
"""Log odds from which what was said last is named beside a doubt."""
ADDS_UP: Final = 2.0
"""Log odds of being of one matter with what bears most, from which it may add one of several to it."""
_OF_NOW: Final = re.compile("[还仍]|依旧|照旧|现在|如今|目前|眼下")
"""Asks, beside a time, for what holds now."""
_CLAUSE: Final = re.compile(
    r"[,，、:：—–]|\b(?:and(?! I\b)|but|so|because|while|when|after|before|since|until|though|although)\b"
    r"|(?<=的时候)|(?<=那会儿)|(?<=那时候)|(?<=以后)|(?<=之后)|(?<=因为)"
)
_PUTS_RIGHT: Final = re.compile(
    r"不是[^，,。；;]{1,10}[，,]?而?是|\bnot (?:on |at |in )?(?:\w+ ){1,3}but\b", re.IGNORECASE
)
"""Takes one value back for another: "not the third but the tenth"."""
_DAYS: Final = frozenset(
    tokenise(
        "today yesterday tomorrow tonight now week month year day"
        " 今天 明天 昨天 现在 最近 今年 去年 明年 今晚 以后 以前"
    )
)
"""Tokens of times, which no matter has to itself."""
_UNKNOWN: Final = "I do not know: memory does not seem to hold the answer."
_UNKNOWN_CHINESE: Final = "不知道：记忆里好像没有答案。"
_NO_MORE: Final = "None any more, it seems:"
_NO_MORE_CHINESE: Final = "好像已经没有了："
_NEAREST: Final = "What comes nearest:"
_NEAREST_CHINESE: Final = "最接近的是："
_NO_TRAIT: Final = 0.6
"""How likely right an answer must be by words alone, where the words of the question are not told."""
_GOES_ON: Final = re.compile(r"\W*(?:(?:and|but|so|well|oh) )*(?:he|she|they)\b|[他她]", re.IGNORECASE)
"""Goes on about somebody spoken of before."""
ENDED: Final = 0.8
"""How likely what is quoted first must be read as saying that there is none any more, to be said."""
READ_WHOLE: Final = 300
"""Characters up to which a turn is read whole; of a longer one the sentence that is quoted."""
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
        known: Whether it answers; if not, `text` says that it does not know, or that what was asked for is no more.
        nearest: Where it does not know, what of memory shares words with the question, and is no answer to it; or what
            says that it is no more.
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

    The verb `ask` has what it would quote read together with the question first (`DraftAnswer.in_light_of`).

    Args:
        facts: What the profile says to just this question.
        user: Who "I" is: a question that names them is about what they say of themselves.
        profile: All that it says without a doubt, out of which a question for yes or no is answered.
    """
    heard = without_others_own(question, context, user, profile)
    return answer_of_draft(question, heard, draft_answer(question, heard, facts, user, profile))


def answer_of_draft(question: str, context: Context, drafted: DraftAnswer | None) -> Answer:
    """The answer that was drafted, with how sure it is; that memory does not know, where nothing was."""
    if drafted is None:
        return _unknown(question, context, 0.0 if context.items else context.confidence)
    return drafted.answered(sure(drafted.grounds))


def in_agreement(context: Context, answer: Answer) -> Context:
    """A context without the note that memory probably holds no answer, where one is given that is likely right.

    That note goes by the words of the question; an answer may have been found by what these mean.
    """
    if not answer.known or answer.confidence < KNOWN:
        return context
    return replace(context, notes=tuple(note for note in context.notes if not note.startswith(NOT_IN_MEMORY)))


def answer_since(
    question: str, context: Context, doubted: Sequence[tuple[Item, Item]], user: str = "", profile: Sequence[Item] = ()
) -> Answer | None:
    """Answer with what the person plainly stated of the matter last: it settles what was in doubt before.

    None unless recall puts it first, it is of them and so, and likely right; and where it is what raises the doubt,
    unless it bears on the question as plainly as what it stands against.

    Args:
        doubted: Facts that state what is asked, each with what puts it in doubt.
        profile: All that the profile says without a doubt.
    """
    drafted = draft_answer(question, context, (), user, profile)
    if drafted is None or drafted.grounds.yes is not None:
        return None
    first, ids = drafted.grounds.evidence[0], [id for id, _ in drafted.quotes]
    states = [hit for hit in drafted.grounds.evidence if hit.succession]
    own = bool(_own([first], user))
    plain = own and all(map(is_asserted, sentences(first.text))) and not _only_denies(first.text)
    since = max(newer.said for _, newer in doubted)
    if not plain or ids[0] != first.id or any(hit.item.said > first.item.said for hit in states):
        return None
    if first.item.said < since or (first.item.said == since and not _bears_as_plainly(first, context, doubted)):
        return None
    settled = drafted.answered(sure(drafted.grounds))
    return settled if settled.known and settled.confidence >= KNOWN else None


def newest_since(context: Context, doubted: Sequence[tuple[Item, Item]], user: str = "") -> Item | None:
    """The newest that the person stated and that bears on a question, if it came after all that raised doubts."""
    since = max(newer.said for _, newer in doubted)
    bearing = [hit for hit in context.items if hit.bearing is not None and hit.bearing >= NAMED_BESIDE]
    own = [hit.item for hit in _own(bearing, user) if hit.item.said > since]
    asserted = [item for item in own if all(map(is_asserted, sentences(item.text)))]
    return max(asserted, key=lambda item: micros(item.said), default=None)


def _only_denies(text: str) -> bool:
    """Whether a text says that something is no more, and names nothing in its place."""
    return denies_in(text) and not names_in((f", {text}",))


def _bears_as_plainly(hit: Recalled, context: Context, doubted: Sequence[tuple[Item, Item]]) -> bool:
    """Whether a statement bears on a question nearly as much as those that the facts were read in."""
    sources = {source for fact, _ in doubted for source in fact.source}
    most = max((older.bearing or 0.0 for older in context.items if older.id in sources), default=0.0)
    return hit.bearing is not None and hit.bearing >= max(SETTLES, most - NEAR_A_FACT)


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
        if grounds.ended:
            return _no_more(grounds.question, self.quotes[0], confidence)
        return _cited("" if grounds.yes is not None and confidence < KNOWN else grounds.short, self.quotes, confidence)

    def texts_to_read(self) -> tuple[str, ...]:
        """What a reader is to read together with the question, the oldest first: earlier states, then what is quoted.

        Last what contests it, so that whether it does is read, too. Nothing where the answer does not rest on that:
        where the profile or a plain sentence states it, the quote is no answer, or the evidence was found by words
        alone, as nothing was learned of what a reading is worth there.
        """
        grounds = self.grounds
        if grounds.stated or grounds.beside or not grounds.judged or read_by(grounds.evidence) != "vectors":
            return ()
        quoted = grounds.quoted[0]
        text = quoted.text if len(quoted.text) <= READ_WHOLE else self.quotes[0][1]
        later = () if grounds.contesting is None else (grounds.contesting.text,)
        states = [hit.item for hit in grounds.evidence if hit.succession]
        if quoted.id not in {item.id for item in states}:
            return (text, *later)
        earlier = sorted((item for item in states if item.said < quoted.said), key=lambda item: item.said)
        return (*(item.text for item in earlier), text, *later)

    def in_light_of(self, reading: AnswerReading) -> DraftAnswer:
        """The same answer in the light of a reading: yes or no, or that there is none any more, as it was read."""
        grounds = replace(self.grounds, reading=reading)
        if grounds.yes is not None:
            yes = read_yes(grounds)
            return replace(self, grounds=replace(grounds, yes=yes, short=_yes_or_no(grounds.question, yes > _SURELY)))
        _, _, ended = reading.of_a_value()
        first, contesting = grounds.quoted[0].id == grounds.evidence[0].id, grounds.contesting
        telling = written_sentences((contesting or grounds.quoted[0]).text)
        of_it = first and not all(ends_something_else(grounds.question, sentence) for sentence in telling)
        read = replace(grounds, ended=grounds.ended or (of_it and ended >= ENDED))
        if contesting is None or not read.ended or grounds.ended:
            return replace(self, grounds=read)
        return DraftAnswer(read, ((contesting.id, contesting.text.strip()), *self.quotes))

    def _least(self) -> float:
        """The confidence from which it is given.

        By words alone it must likely be right where its words are not told here either; but what is in doubt is given
        with what stands against it, so that a person can settle it; and so is a wish, where one is asked for.
        """
        grounds = self.grounds
        if not grounds.judged:
            return SCORED * KNOWN
        untold = grounds.context.confidence < KNOWN and read_by(grounds.evidence) == "words"
        wished = asks_wish(grounds.question) and tells_wish(self.quotes[0][1])
        given_anyway = grounds.doubted or grounds.contesting is not None or grounds.before or wished
        return _NO_TRAIT if untold and not given_anyway else SPLIT


def draft_answer(
    question: str,
    context: Context,
    facts: Sequence[Item] = (),
    user: str = "",
    profile: Sequence[Item] = (),
    ended: Sequence[Item] = (),
) -> DraftAnswer | None:
    """Choose what answers a question, of the evidence or of the profile; None where nothing does.

    What denies one value and gives another is read as what it asserts, and quoted as it was said.

    Args:
        ended: What the profile says is no longer so.
    """
    items, put_right = as_asserted(question, context.items)
    if not put_right:
        return _drafted(question, context, facts, user, profile, ended)
    old = corrected(question, facts, items, put_right)
    facts = () if any(fact.id in old for fact in facts) else facts
    read = tuple(hit for hit in items if hit.id not in old)
    drafted = _drafted(question, replace(context, items=read), facts, user, profile, ended)
    if drafted is None:
        return None
    quotes = tuple((id, as_said(text, put_right.get(id, ()))) for id, text in drafted.quotes)
    grounds = replace(drafted.grounds, context=context)
    if grounds.yes is None and grounds.quoted[0].id not in put_right:
        said = {hit.id: hit.item for hit in context.items}
        evidence = [replace(hit, item=said.get(hit.id, hit.item)) for hit in grounds.evidence]
        denying = _contesting(question, grounds.quoted[:1], [quotes[0][1]], evidence, context.items, context.spans)
        grounds = replace(grounds, contesting=grounds.contesting or denying)
    return replace(drafted, grounds=grounds, quotes=quotes)


def _drafted(
    question: str,
    context: Context,
    facts: Sequence[Item],
    user: str,
    profile: Sequence[Item],
    ended: Sequence[Item],
) -> DraftAnswer | None:
    """The draft of an answer out of what was recalled, each turn as it is read."""
    answering = of_what_is_asked(question, _that_can_answer(question, context.items, profile))
    evidence = renumbered(of_subject(question, answering, user))
    asked = AnswerType.by(question)
    evidence = of_whoever_asks(question, of_kin_asked(question, evidence), context.items)
    spoken_of = SpokenOf.of(question, [hit.text for hit in answering], profile)
    evidence = newest_home_first(question, evidence, answering, spoken_of)
    evidence = _without_other_ends(question, asked, evidence)
    if spoken_of is not None and spoken_of.asked_alone(question) and user not in spoken_of.names:
        own_lines = {hit.id for hit in _own(evidence, user) if spoken_of.left_out_of(hit.item)}
        evidence = renumbered([hit for hit in evidence if hit.id not in own_lines])
    if spoken_of is not None and spoken_of.others:
        evidence = renumbered([hit for hit in evidence if not spoken_of.is_of_other(hit.text)])
    theirs = [hit for hit in answering if spoken_of is not None and spoken_of.own_words(hit.text)]
    if asks_former_partner(question):
        facts, evidence = (), []  # who is with them now answers nothing
        before = former_partner(question, _own(context.items, user))
    else:
        before = _what_was(question, context, theirs, spoken_of)
    evidence = before or _fitting(question, asked, so_before_supposed(question, held_by_then(question, evidence)))
    said = _read_plainly(question, context, evidence, profile, user, ended) if asks_yes_or_no(question) else None
    if said is None and spoken_of is not None:
        said = _plainly_said_of(spoken_of, question, answering, user)
    if said is not None and said.yes is not None:
        return _drafted_plainly(question, context, evidence, said, said.yes)
    if facts and _stand(question, facts, evidence, user, ended):
        holding = _that_holds(evidence, facts, ended, user)
        return _drafted_of_profile(question, context, holding or evidence, asked, facts)
    if asks_yes_or_no(question) and (supposed := only_supposed(question, _own(context.items, user))):
        if supposed.yes is not None:
            return _drafted_plainly(question, context, evidence, supposed, yes=supposed.yes, supposed=True)
        said = supposed
    drafted = _drafted_of_quotes(question, context, evidence, asked, doubted=bool(facts))
    if drafted is None:
        return None
    left_open = drafted.grounds.yes is not None and said is not None
    return replace(drafted, grounds=replace(drafted.grounds, left_open=left_open, before=bool(before)))


def _without_other_ends(question: str, asked: AnswerType, evidence: list[Recalled]) -> list[Recalled]:
    """Evidence without what stands as the newest state of what is asked for, and tells of the end of something else.

    Where somebody, a place or a number is asked for; what names something of the question may tell it all the same.
    """
    if asked not in (AnswerType.PERSON, AnswerType.PLACE, AnswerType.NUMBER) or asks_yes_or_no(question):
        return evidence
    words = matter_words(question)

    def ends_another(hit: Recalled) -> bool:
        return (
            hit.succession == 1
            and words.isdisjoint(matter_words(hit.text))
            and all(ends_something_else(question, part) for part in written_sentences(hit.text))
        )

    rest = [hit for hit in evidence if not ends_another(hit)]
    return renumbered(rest) if rest and len(rest) < len(evidence) else evidence


def _drafted_of_profile(
    question: str, context: Context, evidence: Sequence[Recalled], asked: AnswerType, facts: Sequence[Item]
) -> DraftAnswer:
    """An answer that the profile states, with what else of the evidence adds to it."""
    values = [shown_value(str(item.slots["value"]), item.text) for item in facts if "value" in item.slots]
    short = ", ".join(dict.fromkeys(values))
    contesting = _contesting(question, facts, values, evidence, context.items, context.spans)
    grounds = AnswerGrounds(question, context, evidence, asked, facts, short, None, stated=True, contesting=contesting)
    known = read_in(facts)
    more = (hit.item for hit in adding_up(question, evidence) if hit.id not in known)
    return DraftAnswer(grounds, tuple((item.id, item.text.strip()) for item in (*facts, *more)))


def _drafted_of_quotes(
    question: str, context: Context, evidence: list[Recalled], asked: AnswerType, *, doubted: bool
) -> DraftAnswer | None:
    """An answer that quotes the evidence; None where nothing of it can be quoted.

    Args:
        doubted: The profile states something else, before which the evidence stands.
    """
    chosen = quoted_for(question, asked, evidence, context.items, doubted=doubted) if evidence else []
    if not chosen:
        return None
    fitting = [quote for quote in chosen if not _is_beside(question, asked, quote, evidence)]
    if not doubted and fitting and _is_far_off(question, fitting[0], context):
        fitting = []
    beside, chosen = not fitting, fitting or chosen
    short, yes = _short(question, asked, chosen, evidence)
    short = "" if doubted and evidence[0].succession != 1 else short
    quoted = [hit.item for hit in chosen]
    contesting = _contesting(question, quoted[:1], [chosen[0].text], evidence, context.items, context.spans)
    concluded = yes is not None
    grounds = AnswerGrounds(
        question,
        context,
        evidence,
        asked,
        quoted,
        short,
        yes,
        doubted=doubted,
        contesting=contesting,
        unfounded=yes is not None and yes <= _SURELY and not _tells_no(question, chosen[0], evidence),
        supposed=concluded and not any(map(is_asserted, sentences(chosen[0].text))),
        of_other_object=concluded and reads(question) and follows(question, chosen[0].text) is Following.OTHER,
        beside=beside,
        ended=yes is None and _is_no_more(question, chosen[0], evidence),
    )
    return DraftAnswer(grounds, tuple((hit.item.id, hit.text) for hit in chosen))


def _that_can_answer(question: str, recalled: Sequence[Recalled], profile: Sequence[Item]) -> list[Recalled]:
    """What was recalled that can answer; of somebody whom a question is about, what they are quoted as saying, too."""
    spoken_of = SpokenOf.of(question, [hit.text for hit in recalled], profile)
    return [
        hit
        for hit in recalled
        if can_answer(hit, question) or (spoken_of is not None and spoken_of.quoted_in(hit.text))
    ]


def _what_was(question: str, context: Context, theirs: list[Recalled], spoken_of: SpokenOf | None) -> list[Recalled]:
    """What held before, first or in a past time, where a question asks for that; nothing where none is told."""
    more = context.considered > len(context.items)
    if theirs:
        first = what_came_first(question, theirs, spoken_of, more=more)
        return first or what_held_before(question, theirs, spoken_of)
    own = of_what_is_asked(question, of_self(question, context.items))
    if first := what_came_first(question, own, more=more):
        return first
    return what_held_before(question, own) or what_held_then(question, context.spans, own)


def _read_plainly(
    question: str,
    context: Context,
    evidence: Sequence[Recalled],
    profile: Sequence[Item],
    user: str,
    ended: Sequence[Item],
) -> YesOrNo | None:
    """What is plainly said to a question for yes or no, of a time that is past or of now."""
    judged = bool(evidence) and evidence[0].bearing is not None
    own = _own(evidence, user)
    if judged and asks_of_stretch(question, context.spans):
        then, first = held_at(question, context.spans, _own(context.items, user)), evidence[0].item
        if then is not None or micros(first.said) < context.spans[-1].start:
            return then or YesOrNo(None, first, first.text)
    said = _plainly_said(question, context, evidence, profile, user, ended)
    if said is not None and said.yes and may_have_ended_since(question, said.item, own):
        return replace(said, yes=None)
    if not judged or (said is not None and said.yes is not None):
        return said
    if (still := still_so(question, own)) is not None:
        return still
    stated = stated_in_full(question, own)
    if stated is None or _contesting(
        question, [stated.item], [stated.sentence], evidence, context.items, context.spans
    ):
        return said
    return stated


def _own(recalled: Sequence[Recalled], user: str) -> list[Recalled]:
    """What whoever asks said themselves."""
    me = _me(user)
    return [hit for hit in recalled if speaker_of(hit.item).casefold() in me and hit.item.kind is Kind.TURN]


def _is_mine(fact: Item, user: str) -> bool:
    """Whether a fact is of whoever asks."""
    return str(fact.slots.get("subject") or "user").casefold() in _me(user)


def _me(user: str) -> frozenset[str]:
    """By whom it is said, or of whom, where it is of whoever asks."""
    return frozenset((*WHOEVER_ASKS, user.casefold()))


def _plainly_said(
    question: str,
    context: Context,
    evidence: Sequence[Recalled],
    profile: Sequence[Item],
    user: str,
    ended: Sequence[Item],
) -> YesOrNo | None:
    """What the asker plainly said to a question for yes or no, unless the profile says that it is so no longer.

    Nothing where recall holds something newer for the state of the very object; and what that is leaves a reading open,
    unless it is plainly of another object. So does what whoever said yes said later of it: that it ended.
    """
    mine = [fact for fact in profile if _is_mine(fact, user)]
    said = said_of(question, mine, [hit.item for hit in _own(context.items, user)])
    newest = next((hit for hit in evidence if hit.succession == 1), None)
    if said is None or said.yes is None:
        return said
    if said.yes and (over := _ended_since(question, said, _own(context.items, user), (*profile, *ended), user)):
        return over
    of_it = [hit for hit in evidence if follows(question, hit.text) is not Following.OTHER]
    if said.yes and _contesting(question, [said.item], [said.sentence], of_it, context.items, context.spans):
        return replace(said, yes=None)
    if newest is None:
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


def _ended_since(
    question: str, said: YesOrNo, own: Sequence[Recalled], profile: Sequence[Item], user: str
) -> YesOrNo | None:
    """No, by what the profile says of the end of what was said to a question; None where it says of none."""
    end = end_of(question, said.item, said.sentence, [fact for fact in profile if _is_mine(fact, user)])
    if end is None:
        return None
    by = next((hit.item for hit in own if hit.id in end.source), end)
    return YesOrNo(yes=False, item=by, sentence=by.text.strip() if len(by.text) <= WHOLE else end.text)


def _plainly_said_of(spoken_of: SpokenOf, question: str, heard: Sequence[Recalled], user: str) -> YesOrNo | None:
    """What the asker plainly said of somebody to a question for yes or no about them, as if these had said it.

    Nothing where recall holds something newer for the state of the matter, or something later may end it.
    """
    own_question = spoken_of.own_question(question) if asks_yes_or_no(question) else ""
    if not own_question or not heard or heard[0].bearing is None:
        return None
    if spoken_of.several:
        return YesOrNo(None, heard[0].item, heard[0].text)
    mine = _own(heard, user)
    own = {hit.id: spoken_of.own_sentences(hit.text) for hit in mine}
    items = {hit.id: hit.item for hit in mine if own[hit.id]}
    beside = [hit.item for hit in mine if hit.id not in items and not SPEAKS_OF_SELF.search(hit.text)]
    as_own = [replace(item, text="\n".join(own[id])) for id, item in items.items()]
    said = said_of(own_question, (), [*as_own, *beside])
    if said is None or said.yes is None or said.item.id not in items:
        return None
    item = items[said.item.id]
    if any(each.said > item.said and _GOES_ON.match(each.text) for each in beside):
        return None
    if any(spoken_of.may_change(own_question, item, hit.item) for hit in mine if hit.id != item.id):
        return YesOrNo(None, item, item.text)
    newest = next((hit for hit in heard if hit.succession == 1), None)
    if newest is not None and newest.id != item.id and newest.item.said > item.said:
        return None
    sentence = own[item.id].get(said.sentence, item.text)
    if said.yes and _contesting(question, [item], [sentence], heard, heard):
        return None
    return YesOrNo(said.yes, item, sentence)


def _drafted_plainly(
    question: str,
    context: Context,
    evidence: Sequence[Recalled],
    said: YesOrNo,
    yes: bool,
    *,
    supposed: bool = False,
) -> DraftAnswer:
    first = [hit for hit in (*evidence, *context.items) if hit.id == said.item.id][:1]
    ordered = [*first, *(hit for hit in evidence if hit not in first)]
    short = _yes_or_no(question, yes)
    grounds = AnswerGrounds(
        question,
        context,
        ordered,
        AnswerType.by(question),
        [said.item],
        short,
        float(yes),
        stated=True,
        supposed=supposed,
        inferred=said.inferred,
    )
    return DraftAnswer(grounds, ((said.item.id, said.sentence),))


def _is_beside(question: str, asked: AnswerType, quoted: QuotedSentence, evidence: Sequence[Recalled]) -> bool:
    """Whether a quote cannot answer a question, by what it speaks of (`is_off`).

    The newest of several states of a matter need not name what is asked, if an older state does: "It says 0 positive,
    forget what I told you" answers "What is my blood type?". But a name, a time or a sum it must hold, unless it says
    that something ended.
    """
    hit = next((hit for hit in evidence if hit.id == quoted.item.id), None)
    if hit is None or asks_yes_or_no(question):
        return False
    if hit.bearing is None:  # of what somebody by name said in a talk of several, the day it was said may answer
        own = hit.item.kind is Kind.TURN and speaker_of(hit.item) in WHOEVER_ASKS
        return own and lacks_what_is_asked(question, hit, quoted.text)
    if not is_off(question, asked, hit, quoted.text):
        return False
    if (
        asks_several(question)
        and (hit.same_matter or 0.0) >= ADDS_UP
        and not lacks_what_is_asked(question, hit, hit.text)
    ):
        return False
    if lacks_what_is_asked(question, hit, quoted.text) and not denies_in(quoted.text):
        return True
    older = [state for state in evidence if state.succession > 1] if hit.succession == 1 else []
    names = {token for name in called_by_name(question) for token in tokenise(name)}
    words = asked_words(question) - OF_ANY_MATTER - names
    on = (state for state in older if share_held(words, state.text) > 0 or (state.same_topic or 0.0) >= ON_TOPIC)
    return all(is_off(question, asked, state, state.text) for state in on)


def _is_far_off(question: str, quoted: QuotedSentence, context: Context) -> bool:
    """Whether a quote names nothing that is asked, and bears on it far less than what can answer nothing itself.

    Where "Can I eat kale on 8 mg?" alone speaks of a dose, small talk does not answer for it.
    """
    bearing = next((hit.bearing for hit in context.items if hit.id == quoted.item.id), None)
    if bearing is None or asks_yes_or_no(question):
        return False
    mute = [hit.bearing for hit in context.items if hit.bearing is not None and not can_answer(hit, question)]
    far = max(mute, default=bearing) - bearing >= NEARLY
    return far and share_held(asked_words(question) - OF_ANY_MATTER, quoted.item.text) == 0


def _cited(short: str, quotes: Sequence[tuple[ItemId, str]], confidence: float) -> Answer:
    quoted = " ".join(f'"{text}" [{id}]' for id, text in quotes)
    citations = tuple(Citation(id, text) for id, text in quotes)
    return Answer(f"{short}: {quoted}" if short else quoted, short, citations, confidence, known=True)


def _is_no_more(question: str, quoted: QuotedSentence, evidence: Sequence[Recalled]) -> bool:
    """Whether the newest state of a matter says that it ended, and of nothing in its place."""
    first = evidence[0]
    if quoted.item.id != first.id:
        return False
    if first.succession != 1:
        return tells_that_nothing_else_comes(question, first.text)
    return tells_only_an_end(question, first.text, [hit.text for hit in evidence if hit.succession > 1])


def _no_more(question: str, quote: tuple[ItemId, str], confidence: float) -> Answer:
    """That what is asked for is no more, and what says so."""
    id, text = quote
    opening = _NO_MORE_CHINESE if has_chinese(question) else _NO_MORE
    return Answer(f'{opening} "{text}" [{id}]', "", (), confidence, known=False, nearest=(Citation(id, text),))


def _unknown(question: str, context: Context, confidence: float) -> Answer:
    """That memory does not know, and the one statement that shares most of the question's words, if one does."""
    asked = asked_words(question)
    close = max(context.items, key=lambda hit: share_held(asked, hit.text), default=None)
    nearest: tuple[Citation, ...] = ()
    if close is not None and share_held(asked, close.text) > 0 and can_answer(close, question):
        nearest = (
            Citation(close.id, close.text.strip() if len(close.text) <= WHOLE else telling_sentences(close.item)[0]),
        )
    chinese = has_chinese(question)
    text = _UNKNOWN_CHINESE if chinese else _UNKNOWN
    for hit in nearest:
        text += f'{_NEAREST_CHINESE}"{hit.quote}" [{hit.id}]' if chinese else f' {_NEAREST} "{hit.quote}" [{hit.id}]'
    return Answer(text, "", (), confidence, known=False, nearest=nearest)


# Facts


def _stand(
    question: str, facts: Sequence[Item], evidence: Sequence[Recalled], user: str, ended: Sequence[Item]
) -> bool:
    """Whether facts of the profile still say what holds: nothing else that the person said since comes first.

    They give way only to what names them again, or speaks of their matter: what may end them in other words has put
    them in doubt already, and then they are none of these.
    """
    people = {str(fact.slots.get("subject") or "user").casefold() for fact in facts}
    people |= _me(user) if people & {"user", user.casefold()} else set()
    first = next((hit for hit in evidence if speaker_of(hit.item).casefold() in people), None)
    if first is None or first.bearing is None:
        return True
    known = read_in([*facts, *of_same_slots(facts, ended)])
    latest = max(map(certain_since, facts))
    least = min(most_bearing(evidence) - CLOSE, FLOOR)
    bearing = [hit for hit in evidence if hit.bearing is not None and hit.bearing >= least]
    newer = [hit for hit in bearing if hit.id not in known and micros(hit.item.said) > latest]
    newer = [hit for hit in newer if not only_supposes(hit)]
    if not asks_several(question):
        topics = {matter_of_slot(str(fact.slots.get("slot"))) for fact in facts}
        names = _Matter.of(question, [fact.text for fact in facts]).names | matter_words(question)
        newer = [
            hit for hit in newer if speaks_of_any(hit.text, topics) or not names.isdisjoint(matter_words(hit.text))
        ]
    return first not in newer and not any(_changes(hit) and (hit.bearing or 0.0) > 0 for hit in newer)


def _that_holds(evidence: list[Recalled], facts: Sequence[Item], ended: Sequence[Item], user: str) -> list[Recalled]:
    """Evidence without what says of something beside some facts that it is over, or stated that before."""
    mine = [fact for fact in (*facts, *ended) if _is_mine(fact, user)]
    ends = read_in(of_same_slots(facts, ended)) - read_in(facts)
    holding = [hit for hit in evidence if hit.id not in ends]
    return [hit for hit in holding if not (_own([hit], user) and states_only_what_ended(hit.item, mine))]


def _changes(hit: Recalled) -> bool:
    """Whether a statement of the person says that something changed or ended."""
    cues = counted_in(hit.text)
    return bool(cues[SentenceCue.CHANGE] or cues[SentenceCue.END]) and not cues[SentenceCue.SUPPOSE]


def _contesting(
    question: str,
    quoted: Sequence[Item],
    texts: Sequence[str],
    evidence: Sequence[Recalled],
    recalled: Sequence[Recalled],
    spans: Sequence[TimeSpan] = (),
) -> Item | None:
    """What whoever told some texts said later, of what these name: that it ended or is not so; None for nothing.

    What ended since answers a question of the past, or of a time before that end; and what recall holds for another
    state of the same matter it has put in its place already.

    Args:
        recalled: All that was recalled, the best first: recall has compared the matter of the others with that.
        spans: The stretches of time that the question names.
    """
    if ASKS_PAST.search(question) or asks_earlier(question):
        return None
    known = {id for item in quoted for id in (item.id, *item.source)}
    matter = _Matter.of(question, texts)
    latest = max(map(certain_since, quoted))
    later = [hit for hit in evidence if micros(hit.item.said) > latest and hit.id not in known and hit.succession < 2]
    later = [hit for hit in later if _by_same(quoted[0], hit.item)]
    if spans and has_chinese(question) and not _OF_NOW.search(question):  # whose verbs do not tell the past
        later = [hit for hit in later if micros(hit.item.said) < max(span.end for span in spans)]
    if unnamed := next((hit.item for hit in later if ends_unnamed(question, hit.text)), None):
        return unnamed
    if not later:
        return None
    most = most_bearing(evidence)
    compared_with = next((hit.id for hit in recalled if hit.same_matter is not None), None)
    if compared_with in known and read_by(evidence) == "vectors":
        later = [hit for hit in later if is_of_matter(hit, most)]
    elif not asks_yes_or_no(question):
        later = [hit for hit in later if hit.bearing is None or hit.bearing >= most - OF_NO_BEARING]
    return next((hit.item for hit in later if any(map(matter.ends_in, written_sentences(hit.text)))), None)


def _by_same(quoted: Item, later: Item) -> bool:
    """Whether an item is by the speaker of another, who of a fact is anybody but an assistant."""
    speaker = speaker_of(later).casefold()
    return speaker not in MACHINES and (speaker_of(quoted).casefold() or speaker) == speaker


@dataclass(frozen=True, slots=True)
class _Matter:
    """What some texts name, by the words that tell, and of which of the speaker's people they or a question speak."""

    names: frozenset[str]
    people: frozenset[int]

    @classmethod
    def of(cls, question: str, texts: Sequence[str]) -> _Matter:
        names = frozenset(token for text in texts for token in matter_words(text)) - _DAYS
        return cls(names, frozenset(person for text in (question, *texts) for person in _people(text)))

    def ends_in(self, sentence: str) -> bool:
        """Whether a sentence states, where it names the matter, that it ended, is not so or was told wrongly.

        One about somebody else of the speaker's does not; who corrects themselves may name it anywhere.
        """
        if ASKING.search(sentence) or SUPPOSES.search(sentence):
            return False
        corrected = counted_in(sentence)[SentenceCue.CORRECT] > 0
        for part in (sentence,) if corrected else _CLAUSE.split(sentence):
            shared = self.names & matter_words(part)
            if shared and (corrected or (denies_in(part) and not _only_called(shared, part))):
                return _people(part) <= self.people or _is_ordered(part)
        return False


def _is_ordered(clause: str) -> bool:
    """Whether an expert orders it there, which is of whoever tells it: "doctor says no more coffee"."""
    ordered = not ORDERS.isdisjoint(map(hash_term, tokenise(clause)))
    return ordered and bool(counted_in(clause)[SentenceCue.EXPERT])


def _only_called(shared: frozenset[str], clause: str) -> bool:
    """Whether a clause shares only names with what it may deny, and does not say of them that they are gone.

    "Margaret won't be seen in it" denies nothing else of Margaret; "Margaret left" does.
    """
    called = {token for name in names_in([clause, f", {clause}"]) for token in tokenise(name)}
    return shared <= called and not denies_in(DENIED.sub(" ", clause))


def _people(text: str) -> frozenset[int]:
    """Which of the speaker's people a text speaks of, by what they are to them."""
    return frozenset(counted_in(text)[KIN].nonzero()[0].tolist())


def _fitting(question: str, asked: AnswerType, evidence: list[Recalled]) -> list[Recalled]:
    """Evidence with what names what is asked, and holds a number or time, before what came first without either.

    Of "How old is my mum?" a correction of her birthday is newer than her age, and no answer. But what came in
    the place of an older state with a number or time of its own need not name it again: "Sorry, it is the 24th". Of a
    way to work what tells one goes before what only tells of work.
    """
    if kind_asked(question) is AskedKind.WAY:
        return sorted(evidence, key=lambda hit: lacks_kind(question, hit.text, hit.item))
    if asked not in (AnswerType.NUMBER, AnswerType.TIME) or not evidence or evidence[0].bearing is None:
        return evidence
    words = asked_words(question)

    def fits(hit: Recalled) -> tuple[bool, bool]:
        holds = any(held(asked, text, hit.item, question) for text in written_sentences(hit.text))
        return holds, share_held(words, hit.text) > 0

    first = evidence[0]
    if all(fits(first)):
        return evidence
    better = next((hit for hit in evidence if hit.bearing is not None and all(fits(hit))), None)
    told = fits(first)[0] or _PUTS_RIGHT.search(first.text)
    if better is None or (first.succession == 1 and better.succession > 1 and told):
        return evidence
    rest = [replace(hit, succession=0) for hit in evidence if hit is not better]
    return [replace(better, succession=0), *rest]


def _short(
    question: str, asked: AnswerType, chosen: Sequence[QuotedSentence], evidence: Sequence[Recalled]
) -> tuple[str, float | None]:
    """What is given first, and to a question for yes or no how likely it is yes."""
    if asks_yes_or_no(question):
        first = [hit for hit in evidence if hit.id == chosen[0].item.id]
        yes = likely_yes(question, [*first, *(hit for hit in evidence if hit not in first)])
        return _yes_or_no(question, yes > _SURELY), yes
    scored = evidence[0].bearing is None or bool(speakers_named(question, evidence))
    quoted = chosen if scored else chosen[:1]
    found = (_looked_up(question, asked, hit, scored=scored) for hit in quoted)
    best = next(filter(None, found), "")
    if asked is AnswerType.TIME and not best and PAST.search(question) and scored:
        best = day_said(chosen[0].item, chosen[0].text)
    return best, None


def _looked_up(question: str, asked: AnswerType, quoted: QuotedSentence, *, scored: bool) -> str:
    """What a quote holds of what is asked for; of what whoever asks said themselves only what is beyond doubt."""
    own = quoted.item.kind is Kind.TURN and speaker_of(quoted.item) in WHOEVER_ASKS
    look = held if scored and not own else surely_held
    return look(asked, quoted.text, quoted.item, question)


def _tells_no(question: str, quoted: QuotedSentence, evidence: Sequence[Recalled]) -> bool:
    """Whether a quote may be why something is not so: it denies, or ends, what is asked where it names that and does
    not take it up again, or it has taken the place of an older state and names nothing of what is asked.

    "We got the keys, 14 Alder Close, Portishead" is no reason why somebody does not live in Portishead; nor does what
    is added, or of somebody else, end what is asked for with "still".
    """
    words = asked_words(question)
    clauses = [part for part in _CLAUSE.split(quoted.text) if words & set(tokenise(part))]
    if any(map(goes_on, clauses)):
        return False
    if any(denies_in(clause) and not _is_supposed(clause) for clause in clauses):
        return True
    if adds(quoted.text) or (PRESUMED.search(question) and about_another(quoted.text, frozenset(), question)):
        return False
    newest = next((hit for hit in evidence if hit.id == quoted.item.id and hit.succession == 1), None)
    older = [hit for hit in evidence if hit.succession > 1]
    if clauses or newest is None or not older:
        return False
    ends = bool(PRESUMED.search(question)) and denies_in(quoted.text) and (newest.bearing or 0.0) >= SETTLES
    return ends or any(words & set(tokenise(hit.text)) for hit in older)


def _is_supposed(clause: str) -> bool:
    """Whether a clause only supposes or wishes what it says."""
    return SUPPOSES.search(clause) is not None or all(supposed for _, supposed in supposed_clauses(clause))


def _yes_or_no(question: str, yes: bool) -> str:
    if not has_chinese(question):
        return "Yes" if yes else "No"
    if re.search(r"[了过][吗没]|有", question):
        return "有" if yes else "没有"
    return "是" if yes else "不是"

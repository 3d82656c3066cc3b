"""How sure an answer is: how likely what it gives is right, by a logistic model over what it rests on.

What is read: how likely memory holds an answer at all (`recall.reasons`), how the first of the evidence bears on the
question and how far it stands before the second, whether several states of the matter stand there, whether what is
asked for was found, what the statement does. Two sets of weights, with vectors and by words, learned by
`python -m mnemic.lab.answer_training` from cases that the order of the evidence was not learned from, so that of the
answers with a confidence near p a share near p is right. A memory that holds none of it is among what is learned. Where
an embedder reads the question and what is quoted together (`models.base.ReadingEmbedder`), three smaller models weigh
that with what the others make of it and what speaks against it.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.core.tokens import tokenise
from mnemic.extract.chinese import has_chinese
from mnemic.extract.sentences import written_sentences
from mnemic.recall.asked_for import AnswerType, asks_several, asks_yes_or_no
from mnemic.recall.asked_matter import without_times
from mnemic.recall.held_at import asks_of_stretch, may_be_read_of_stretch, tells_of_stretch
from mnemic.recall.past_states import tells_only_past
from mnemic.recall.polarity import ASKS_PAST, STILL, asked_words, denies_more, goes_on, polar, share_held
from mnemic.recall.sentence_cues import KIN, SentenceCue, counted_in
from mnemic.recall.understand import SPEAKS_OF_SELF, SPEAKS_TO_OTHER
from mnemic.recall.whom_it_is_about import about_another, asks_of_self, names_in
from mnemic.recall.word_groups import ASKS_END, DENIED, DENIES, DREAM, ENDING, MOVED, REPLACED, WordGroup
from mnemic.recall.yes_or_no import reads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mnemic.core.items import Item
    from mnemic.core.queries import Context, Recalled
    from mnemic.models.base import AnswerReading

    Floats = NDArray[np.float32]

SPLIT: Final = 0.25
"""Below it, an answer is that memory does not know."""

SCORED: Final = 0.75
"""How often a sentence that was scored is the right one where memory holds one: about so, in conversations of two."""

STATED: Final = 0.6
"""The least for a fact of the profile that nothing newer stands before: rules read it, and may have missed its end."""

SUPPOSED: Final = 0.6
"""For no, where all that names what is asked about only supposes it: it may have come about and never been told."""

INFERRED: Final = 0.72
"""The most for yes or no that a rule infers from what was so before, or goes on: no more than likely."""

READ_AT_MOST: Final = 0.78
"""The most for yes or no that was read out of what was not said in so many words: likely, and never sure."""

DOUBTED: Final = 0.4
"""The most where a fact of the profile stands against newer evidence that may be of another matter, where yes or no
stays open that nobody read, or where what is quoted is beside the question."""

_ALL: Final = 0.7
"""Share of a question from which a statement holds all that it asks about."""

_MOST: Final = 0.6
"""The same of a clause, which may leave out a word that another one has."""

_HALF: Final = 0.5
_TAKES_BACK: Final = re.compile(r"\b(?:not|n['’]t) (?:true|so|right)\b|\bused to\b|不是真|不对|才怪", re.IGNORECASE)
"""Denies whatever stands beside it."""
_CLAUSES: Final = re.compile(r"(?<=[,，;；。.!！?？—:：])\s*")
"""Where clauses are parted that keep the mark they end with: what asks is told by it."""
_DREAMT: Final = (DREAM + WordGroup("dreams?|nightmares?")).pattern()
"""Tells a dream, which says neither that something is so nor that it is not."""

_NUMBER: Final = re.compile(r"\d+")

_ASKS_TO_HAVE: Final = re.compile(r"^\W*(?:do|does|did)\b(?!.*\bwant).*\b(?:have|own|keep)\b", re.IGNORECASE)
_ONLY_WANTS: Final = re.compile(
    r"^(?!.*\b(?:has|have|had|got|bought|adopted|keeps?|owns?)\b)"
    r".*\b(?:wants?|would (?:like|love)|['’]d (?:like|love)) (?:an?|another|some)\b",
    re.IGNORECASE | re.DOTALL,
)
"""Says that somebody wants a thing, and of nothing that they have it."""
_YOUNG_OR_OLD: Final = "(?:brother|sister|sibling|son|daughter|boy|girl|cousin|aunt|uncle)"
_YOUNGER: Final = re.compile(rf"\b(?:younger|youngest|little|baby|kid) {_YOUNG_OR_OLD}|[弟妹]", re.IGNORECASE)
_ELDER: Final = re.compile(rf"\b(?:older|oldest|elder|eldest|big) {_YOUNG_OR_OLD}|[哥姐]", re.IGNORECASE)
_BY_AGE: Final = ((_YOUNGER, _ELDER), (_ELDER, _YOUNGER))
"""Whom a question may ask about, and whom what answers it must not be of alone."""
_ENDS: Final = (ENDING + REPLACED + MOVED).pattern()
"""Says that something ended, or that another thing or place came for it."""

_MEANT: Final = 1.0
"""A closeness of meaning that few entries reach, as recall scales it."""

_SPOKEN: Final = 0.8
"""How likely memory holds what somebody is asked about, where they said what is by far the closest in meaning."""

_MEANT_WELL: Final = 1.5
"""A closeness of meaning that hardly any entry of another matter reaches."""

MANY: Final = 64
"""Entries beyond which it makes no difference among how many an answer was found: of more nothing was learned."""

_APART: Final = 0.5
"""By how much closer in meaning it is than all else that they said."""

INPUTS: Final = (
    *("held", "bears", "bears well", "ahead", "near", "state", "older states"),
    *("yes or no", "clear", "several", "typed", "found", "Chinese", "own", "kin"),
    *("ends", "supposes", "speaks of self", "of others", "old"),
    *("states named", "states unnamed", "alone", "covered", "all covered", "partly covered", "meant", "meant well"),
    *("others mean it more", "covered, yes or no", "typed, not found", "asks of self, of others", "among many"),
)
"""What the model reads, in order."""


CONCLUSION_INPUTS: Final = (
    *("clear", "no", "covered", "all covered", "covered by the states", "newest", "could be read"),
    *("supposed", "of another object", "bears", "still", "past", "of self", "named, no", "supposed, no", "denied"),
    *("sure otherwise", "held", "Chinese"),
)
"""What the model of a conclusion to yes or no reads, in order."""

READ_YES_INPUTS: Final = ("read", "otherwise", "still", "past", "denied", "covered")
"""What the model of yes reads of a reading and what else there is, in order."""

READ_CONCLUSION_INPUTS: Final = (
    *CONCLUSION_INPUTS,
    *("not open", "left open by rules", "unfounded"),
)
"""What the model of a conclusion reads where there is a reading, in order."""

READ_VALUE_INPUTS: Final = (
    *("sure otherwise", "not open", "open", "contested"),
    *("ended", "newest", "older", "bears"),
)
"""What the model of an answer that is not yes or no reads where there is a reading, in order."""

MOST_READ: Final = 6.0
"""The most log odds of a reading that count."""

CONCLUDED: Final = 0.63
"""How likely right a conclusion must be to be given for likely: a wrong "no" misleads more than an open question."""


@dataclass(frozen=True, slots=True)
class AnswerGrounds:
    """What an answer gives, and what it rests on.

    Attributes:
        evidence: All that could answer, the best first.
        quoted: The items that are quoted.
        short: What is given first, "" for nothing.
        yes: How likely it is yes, where that is asked.
        stated: The profile states it.
        doubted: The profile states something, before which newer evidence stands.
        contesting: What the same person said later of what is quoted: that it ended, or was not so.
        left_open: Yes or no is asked, and what was said to it leaves it open by the rules, or is in doubt since.
        unfounded: No is concluded from what neither denies, ends nor replaces what is asked about.
        supposed: Yes or no is concluded from a sentence that supposes, dreams, plans or jokes.
        inferred: A rule infers yes or no: it is not said in so many words.
        of_other_object: It is concluded from one that is plainly of another object than the one that is asked about.
        before: What held before is asked for, and told in an earlier state of the matter.
        ended: What is quoted first says that the matter ended, and of nothing in its place.
        reading: What a reader made of the question and what is quoted, together; None where nobody read it.
        beside: What is quoted first is plainly on another topic than the question, or of another kind than it asks for.
    """

    question: str
    context: Context
    evidence: Sequence[Recalled]
    asked: AnswerType
    quoted: Sequence[Item]
    short: str
    yes: float | None
    stated: bool = False
    doubted: bool = False
    contesting: Item | None = None
    left_open: bool = False
    unfounded: bool = False
    supposed: bool = False
    inferred: bool = False
    of_other_object: bool = False
    beside: bool = False
    before: bool = False
    ended: bool = False
    reading: AnswerReading | None = None

    @property
    def judged(self) -> bool:
        """Whether recall has told how the first of the evidence bears on the question."""
        return bool(self.evidence) and self.evidence[0].bearing is not None


@dataclass(frozen=True, slots=True)
class AnswerWeights:
    """What was learned: of each input its weight, and a bias; by words alone nothing of readings, as there are none."""

    sure: tuple[float, ...]
    polar: tuple[float, ...]
    conclusion: tuple[float, ...]
    read_yes: tuple[float, ...] = ()
    read_conclusion: tuple[float, ...] = ()
    read_value: tuple[float, ...] = ()


@lru_cache(maxsize=1)
def weights() -> Mapping[str, AnswerWeights]:
    """Load what was learned, "vectors" and "words"; the bias is last."""
    text = resources.files("mnemic.recall").joinpath("sureness.json").read_text("utf-8")
    return {name: AnswerWeights(**{part: tuple(row[part]) for part in row}) for name, row in json.loads(text).items()}


def sure(grounds: AnswerGrounds) -> float:
    """The likelihood that an answer is right; where no bearing is known, that memory holds it.

    What contests an answer holds it back, unless it was read to say no, or that there is none any more. That rules left
    yes or no open is among what the model of an answer that was read has learned from: elsewhere, or where all that is
    quoted only supposes it, it holds it back too.
    """
    likely = _likely(grounds)
    if grounds.stated:
        stated = SUPPOSED if grounds.supposed else max(likely, STATED)
        return DOUBTED if grounds.contesting is not None else min(stated, INFERRED) if grounds.inferred else stated
    no = grounds.yes is not None and grounds.yes < _HALF
    if grounds.contesting is not None and (grounds.reading is None or not (no or grounds.ended)):
        return min(likely, DOUBTED)
    doubted = grounds.beside or (grounds.doubted and not _succeeds(grounds)) or _is_of_past(grounds)
    doubted = doubted or (grounds.left_open and (grounds.supposed or grounds.reading is None))
    if grounds.judged and grounds.yes is not None:
        if grounds.reading is None:
            likely = likelihood(concluding(grounds), _learned(grounds).conclusion)
            doubted = doubted or grounds.unfounded or likely < CONCLUDED or not _may_conclude(grounds)
        else:
            likely = min(likely, READ_AT_MOST)
            doubted = doubted or _speaks_against(grounds) or _is_open_past(grounds)
        doubted = doubted or _resumes(grounds)
    return min(likely, DOUBTED) if doubted else likely


def _likely(grounds: AnswerGrounds) -> float:
    """How likely right an answer is, as far as nothing stands against it."""
    if not grounds.judged:
        clear = 1.0 if grounds.yes is None else max(grounds.yes, 1 - grounds.yes)
        return SCORED * min(max(grounds.context.confidence, _SPOKEN * _tells_of_whom_is_named(grounds)), clear)
    learned = _learned(grounds)
    if grounds.reading is None:
        return likelihood(weighed(grounds), learned.sure)
    if grounds.yes is not None:
        return likelihood(concluding_as_read(grounds), learned.read_conclusion)
    return likelihood(weighed_as_read(grounds), learned.read_value)


def _learned(grounds: AnswerGrounds) -> AnswerWeights:
    """What was learned of evidence of this kind: found with vectors, or by words alone."""
    return weights()[read_by(grounds.evidence)]


def _may_conclude(grounds: AnswerGrounds) -> bool:
    """Whether yes or no may be concluded at all, though nobody plainly said it.

    Not from what is of another object, nor from a dream, nor no from what became of somebody else; and from what is
    only supposed or planned no more than that it is not so yet. By words alone, what is asked of whoever asks must be
    named by the sentence nearly whole, or half of it by the states of its matter. Where the sentence was read with the
    question, the model of that has these among its inputs or reads them itself: by figures it does better without.
    """
    quoted = grounds.quoted[0].text
    if grounds.of_other_object or _DREAMT.search(quoted):
        return False
    no = grounds.yes is not None and grounds.yes < _HALF
    if no and _became_of_another(quoted, grounds):
        return False
    if grounds.supposed and (grounds.yes is None or grounds.yes >= _HALF or STILL.search(grounds.question)):
        return False
    if read_by(grounds.evidence) == "vectors" or not asks_of_self(grounds.question):
        return True
    asked = asked_words(STILL.sub("", grounds.question))
    states = " ".join(hit.text for hit in grounds.evidence if hit.succession)
    return share_held(asked, quoted) >= _ALL or share_held(asked, states) >= _HALF


def _resumes(grounds: AnswerGrounds) -> bool:
    """Whether no is concluded from what says that it goes on again."""
    no = grounds.yes is not None and grounds.yes < _HALF
    return no and goes_on(grounds.quoted[0].text) and ASKS_END.search(grounds.question) is None


def _speaks_against(grounds: AnswerGrounds) -> bool:
    """Whether what is quoted speaks against the yes or no that was read out of it, or is of somebody else.

    Yes is not read out of what denies or ends something, unless an end or a past is asked for; nor no, where an end is;
    nor yes out of what does not hold a number that is asked about; nor either out of what somebody only wants, where it
    is asked whether they have it, or of an older brother, where it is a younger one's.
    """
    question, quoted = grounds.question, grounds.quoted[0].text
    if asks_of_self(question) and about_another(quoted, names_in(hit.text for hit in grounds.evidence), question):
        return True
    if any(asked.search(question) and other.search(quoted) and not asked.search(quoted) for asked, other in _BY_AGE):
        return True
    if _ASKS_TO_HAVE.search(question) and _ONLY_WANTS.search(quoted):
        return True
    ends = _ENDS.search(quoted) is not None
    asks_end = ASKS_END.search(question) is not None or _ENDS.search(question) is not None
    if grounds.yes is not None and grounds.yes < _HALF:
        return ends and asks_end and STILL.search(question) is None and DENIED.search(quoted) is None
    if not _numbers_asked(grounds) <= set(_NUMBER.findall(quoted)):
        return True
    denied = denies_more(question, quoted) or (ends and not asks_end)
    if not denied or asks_end or ASKS_PAST.search(question) or goes_on(quoted):
        return False
    return not _stands_behind_denial(question, quoted)


def _is_of_past(grounds: AnswerGrounds) -> bool:
    """Whether what is quoted for what is so, or for yes, only tells how it was."""
    no = grounds.yes is not None and grounds.yes < _HALF
    return not no and all(tells_only_past(grounds.question, item.text) for item in grounds.quoted)


def _is_open_past(grounds: AnswerGrounds) -> bool:
    """Whether rules leave open how it was in a stretch of time, and it may not be read, either."""
    asked = grounds.question, grounds.context.spans, grounds.quoted[0], grounds.evidence
    return grounds.left_open and asks_of_stretch(*asked[:2]) and not may_be_read_of_stretch(*asked)


def _numbers_asked(grounds: AnswerGrounds) -> set[str]:
    """The numbers of a question that an answer must name: not those of a time by which it was said."""
    question, spans = grounds.question, grounds.context.spans
    if tells_of_stretch(question, spans, grounds.quoted[0]):
        question = without_times(question, [span.text for span in spans])
    return set(_NUMBER.findall(question))


def _stands_behind_denial(question: str, quoted: str) -> bool:
    """Whether a clause says most of what is asked about, and neither it nor one behind it denies or ends anything.

    "Sold the bike, the underground takes me to work" still denies nothing of the underground; what is asked in
    passing does not, either.
    """
    if _TAKES_BACK.search(quoted):
        return False
    asked = asked_words(STILL.sub("", question))
    stated = [clause for clause in _CLAUSES.split(quoted) if clause.strip() and clause.strip()[-1] not in "?？"]
    for n, clause in enumerate(stated):
        if share_held(asked, clause) >= _MOST:
            return not any(denies_more(question, later) or _ENDS.search(later) for later in stated[n:])
    return False


def _became_of_another(quoted: str, grounds: AnswerGrounds) -> bool:
    """Whether a quote names nothing that is asked about and ends with what became of somebody by another name."""
    if share_held(asked_words(STILL.sub("", grounds.question)), quoted) > 0:
        return False
    last = written_sentences(quoted)[-1]
    return about_another(last, names_in(hit.text for hit in grounds.evidence), grounds.question)


def concluding(grounds: AnswerGrounds) -> Floats:
    """What the model reads of a conclusion to yes or no, which nobody plainly said; `CONCLUSION_INPUTS`."""
    question, evidence = grounds.question, grounds.evidence
    yes = _HALF if grounds.yes is None else grounds.yes
    quoted, first = grounds.quoted[0].text, evidence[0]
    asked = asked_words(STILL.sub("", question))
    named = share_held(asked, quoted)
    states = " ".join(hit.text for hit in evidence if hit.succession)
    no = yes < _HALF
    sure_otherwise = likelihood(weighed(grounds), _learned(grounds).sure)
    return np.array(
        (
            *(2 * abs(yes - _HALF), no, named, named >= _ALL, share_held(asked, states), first.succession == 1),
            *(reads(question), grounds.supposed, grounds.of_other_object),
            min(6.0, max(-2.0, first.bearing or 0.0)),
            *(STILL.search(question) is not None, ASKS_PAST.search(question) is not None, asks_of_self(question)),
            *(no and named >= _HALF, no and grounds.supposed, _denies(quoted)),
            *(_odds(sure_otherwise), _odds(grounds.context.confidence)),
            has_chinese(question),
        ),
        np.float32,
    )


def _odds(likely: float) -> float:
    """A likelihood as log odds, none beyond .99."""
    likely = min(max(likely, 0.01), 0.99)
    return math.log(likely / (1 - likely))


def _tells_of_whom_is_named(grounds: AnswerGrounds) -> bool:
    """Whether whoever a question names said what stands first, and it is by far the closest of theirs in meaning.

    "Meat table for me" shares no word with "Which table is Finn at?".
    """
    if grounds.yes is not None or not grounds.evidence:
        return False
    asked = set(tokenise(grounds.question))
    first, *rest = ((hit, hit.components.get("dense", 0.0)) for hit in grounds.evidence)
    who = _speaker(first[0])
    if not who or asked.isdisjoint(tokenise(who)) or first[0].id not in {item.id for item in grounds.quoted}:
        return False
    return first[1] >= _MEANT_WELL and all(first[1] - close >= _APART for hit, close in rest if _speaker(hit) == who)


def _speaker(hit: Recalled) -> str:
    return str(hit.item.slots.get("speaker") or "")


def _succeeds(grounds: AnswerGrounds) -> bool:
    """Whether recall itself holds the first of the evidence for what came in the place of something older."""
    return grounds.evidence[0].succession == 1


def read_yes(grounds: AnswerGrounds) -> float:
    """The likelihood that the answer to a question for yes or no is yes, by how it was read and by what else tells.

    Where a question asks for an end and what is quoted tells just that, it is no less than words make of it.
    """
    read = likelihood(yes_as_read(grounds), _learned(grounds).read_yes)
    return max(read, grounds.yes or 0.0) if _tells_end_asked(grounds) else read


def _tells_end_asked(grounds: AnswerGrounds) -> bool:
    """Whether a question asks for an end or a denial, and what is quoted says so in all of its words."""
    question, quoted = grounds.question, grounds.quoted[0].text
    if ASKS_END.search(question) is None and DENIES.search(question) is None:
        return False
    return share_held(asked_words(question), quoted) >= 1 and not denies_more(question, quoted)


def yes_as_read(grounds: AnswerGrounds) -> Floats:
    """What the model of yes reads; `READ_YES_INPUTS`."""
    reading, question, quoted = grounds.reading, grounds.question, grounds.quoted[0].text
    assert reading is not None
    assert grounds.yes is not None
    return np.array(
        (
            *(_clipped(reading.yes - reading.no), _odds(grounds.yes)),
            *(STILL.search(question) is not None, ASKS_PAST.search(question) is not None, _denies(quoted)),
            share_held(asked_words(STILL.sub("", question)), quoted),
        ),
        np.float32,
    )


def concluding_as_read(grounds: AnswerGrounds) -> Floats:
    """What the model of a conclusion reads where yes or no is as it was read; `READ_CONCLUSION_INPUTS`."""
    reading = grounds.reading
    assert reading is not None
    more = (*(_clipped(max(reading.yes, reading.no) - reading.open), grounds.left_open, grounds.unfounded),)
    return np.append(concluding(grounds), np.array(more, np.float32))


def weighed_as_read(grounds: AnswerGrounds) -> Floats:
    """What the model of an answer that is not yes or no reads; `READ_VALUE_INPUTS`."""
    reading = grounds.reading
    assert reading is not None
    sure_otherwise = likelihood(weighed(grounds), _learned(grounds).sure)
    first, not_open = grounds.evidence[0], _clipped(max(reading.tells, reading.ended) - reading.open)
    return np.array(
        (
            *(_odds(sure_otherwise), not_open, min(not_open, 0.0), grounds.contesting is not None, grounds.ended),
            *(first.succession == 1, first.succession > 1, _clipped(first.bearing or 0.0)),
        ),
        np.float32,
    )


def _clipped(odds: float) -> float:
    """Log odds, none beyond `MOST_READ`."""
    return max(-MOST_READ, min(MOST_READ, odds))


def _denies(text: str) -> bool:
    """Whether a text denies or ends something."""
    return DENIES.search(text) is not None or bool(counted_in(text)[SentenceCue.END] > 0)


def likely_yes(question: str, evidence: Sequence[Recalled]) -> float:
    """The likelihood that the answer to a question for yes or no is yes."""
    return likelihood(polar(question, evidence), weights()[read_by(evidence)].polar)


def likelihood(inputs: Floats, learned: Sequence[float]) -> float:
    """What a model with weights `learned`, the bias last, makes of inputs."""
    odds = float(inputs @ np.array(learned[:-1], np.float32)) + learned[-1]
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


def read_by(evidence: Sequence[Recalled]) -> str:
    """Which of the two sets of weights is for this evidence."""
    return "vectors" if any("dense" in hit.components for hit in evidence) else "words"


def weighed(grounds: AnswerGrounds) -> Floats:
    """What the model reads of an answer; `INPUTS`."""
    first, question = grounds.evidence[0], grounds.question
    bearing = np.array([hit.bearing for hit in grounds.evidence if hit.bearing is not None])
    quoted = {item.id for item in grounds.quoted}
    behind = [hit.bearing for hit in grounds.evidence if hit.id not in quoted and hit.bearing is not None]
    held = min(max(grounds.context.confidence, 0.01), 0.99)
    cues = counted_in(first.text) > 0
    yes_or_no = asks_yes_or_no(question)
    mine = SPEAKS_OF_SELF.search(question) is not None and SPEAKS_TO_OTHER.search(question) is None
    kin = counted_in(question)[KIN].any()
    lead = float(first.bearing or 0.0)
    return np.array(
        [
            math.log(held / (1 - held)),
            np.clip(lead, -6, 6),
            max(0.0, min(lead, 6.0)),
            min(4.0, max(-4.0, lead - max(behind, default=lead - 4))),
            math.log1p(int((bearing > lead - 2).sum())),
            first.succession == 1,
            sum(hit.succession > 1 for hit in grounds.evidence),
            yes_or_no,
            0.0 if grounds.yes is None else 2 * abs(grounds.yes - 0.5),
            asks_several(question),
            grounds.asked is not AnswerType.THING and not yes_or_no,
            bool(grounds.short) and not yes_or_no,
            has_chinese(question),
            mine,
            bool(kin),
            cues[SentenceCue.END] and not yes_or_no,
            cues[SentenceCue.SUPPOSE],
            cues[SentenceCue.SELF],
            cues[SentenceCue.OTHER],
            min(2.0, first.succession > 1),
            *_on_what_is_asked(grounds),
            math.log1p(min(grounds.context.considered, MANY)),
        ],
        np.float32,
    )


def _on_what_is_asked(grounds: AnswerGrounds) -> tuple[float, ...]:
    """What tells whether the first of the evidence is on what is asked, by its words and by its meaning.

    Of several states of a matter the newer is often the one that shares fewer words with the question, so that of those
    it only counts how much the best of them names.
    """
    first, question = grounds.evidence[0], grounds.question
    covered = _covered(question, first.text)
    if states := [hit for hit in grounds.evidence if hit.succession]:
        named = max((covered, *(_covered(question, hit.text) for hit in states)))
        return (named, named == 0, *(0.0,) * 10)
    meant = first.components.get("dense", 0.0)
    cues, yes_or_no = counted_in(first.text) > 0, asks_yes_or_no(question)
    return (
        *(0.0, 0.0, 1.0, covered, covered >= _ALL, 0 < covered < _ALL),
        meant,
        max(0.0, meant - _MEANT),
        max(hit.components.get("dense", 0.0) for hit in grounds.evidence) - meant,
        covered * yes_or_no,
        grounds.asked is not AnswerType.THING and not yes_or_no and not grounds.short,
        asks_of_self(question) and cues[SentenceCue.OTHER] and not cues[SentenceCue.SELF],
    )


def _covered(question: str, text: str) -> float:
    """The share of a question's words that a text holds; kin by another word for the same is held too: dad, father."""
    asked = asked_words(question)
    held = share_held(asked, text)
    kin = (counted_in(question)[KIN] > 0) & (counted_in(text)[KIN] > 0)
    return min(1.0, held + kin.any() / max(1, len(asked))) if held < 1 else held

# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Reads what is said of somebody whom a question asks about as they would say it of themselves.

"My brother's moved to Leeds" and "Callum lives in York" are of one where "my brother Callum" is said somewhere, or the
profile knows his name. So what reads statements of a speaker reads them of anybody.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros
from mnemic.extract.chinese import has_chinese
from mnemic.extract.patterns import SlotAct
from mnemic.extract.sentences import written_sentences
from mnemic.extract.slots import slots
from mnemic.extract.slots_en_words import CALLED
from mnemic.extract.slots_zh_words import RELATIONS
from mnemic.extract.third_person import as_said_by
from mnemic.recall.asked_person import named_subject, named_subject_chinese
from mnemic.recall.polarity import telling_words
from mnemic.recall.sentence_cues import SentenceCue, counted_in
from mnemic.recall.understand import SPEAKS_OF_SELF
from mnemic.recall.whom_it_is_about import OWN_KIN, OWN_SHORT_KIN, QUOTED
from mnemic.recall.word_groups import CORRECTION, DENIES, DIED, ENDING, WordGroup

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mnemic.core.items import Item

_RELATIVES: Final = frozenset(
    (
        "mother",
        "father",
        "sister",
        "brother",
        "son",
        "daughter",
        "grandmother",
        "grandfather",
        "aunt",
        "uncle",
        "cousin",
    )
)
"""What nobody is who is called a friend, a colleague or another of these."""
_NAME: Final = r"(?!(?:I|It|This|That|There|What|Who|Where|When|How|He|She|We|They|You|My|Our)\b)[A-Z][\w-]+"
_SHORT_KIN: Final = {"哥": "brother", "弟": "brother", "姐": "sister", "妹": "sister", "妈": "mother", "爸": "father"}
_MARKED: Final = re.compile(
    r"\b(older|elder|oldest|eldest|big|younger|youngest|little|twin|half|step|best|ex|other|middle|second|first)[ -](?=[a-z])",
    re.IGNORECASE,
)
"""Tells one of several kin of a kind from the others."""
_OPENING: Final = r"^\W*(?:(?:and|but|so|oh|btw|fyi|ok|well|apparently|turns out|good news|update)[,:]? )*"
_OWN_VERBS: Final = {
    **dict.fromkeys(("is", "are"), "Am"),
    **dict.fromkeys(("was", "were"), "Was"),
    **dict.fromkeys(("does", "do"), "Do"),
    **dict.fromkeys(("has", "have"), "Have"),
    "can": "Can",
}
_UNMARKED: Final = r"(?:(?!(?:half|step|ex|late)\b)[a-z]+ )?"
"""Stands between "my" and kin and makes them no other kin."""
_OF_OTHERS: Final = re.compile(
    r"['’]?\w*\W+(?:\w+ly |also |still )?(?:say|think|tell|reckon|claim|ask|want|insist|believe|hope|know|said|thought|told|guess|swear|swore|suggest|call)\w*\b.*\b(?:i|me|my|we|us|our|i['’]\w+)\b"
    r"|(?:也|总|老|都|一直)?(?:说|讲|觉得|认为|以为|告诉|问|劝|让|叫|希望)[^，。]*[我咱]",
    re.IGNORECASE,
)
"""Stands behind somebody who says something of whoever speaks."""
_DIED: Final = (DIED + WordGroup("killed|funeral|dead", "走了|不在了")).pattern()
_MAY_END: Final = (
    ENDING
    + WordGroup(
        r"let (?:\w+ ){1,2}go|fired|sacked|laid off|split|broke|crashed|flogged|wrote off|divorc\w+|steak|meat",
        "不过敏",
    )
).pattern()
_SUBJECT: Final = "Somebody"
"""Stands for whoever is spoken of."""
_PAST: Final = re.compile(
    rf"^{_SUBJECT}(?= (?:just |finally |now )?(?:had|gave|got|went|came|left|sold|lost|won|quit|\w+ed)\b)"
)
"""Who did something: in English a verb of the past is the same of whoever speaks."""

_SAYS: Final = re.compile(
    r"(?:[^\"“「]{0,20}?(?:\b(?:said|says|wrote|writes|texted|texts|messaged|emailed|replied|goes|told (?:me|us)|announced)\b|[说写道讲回])[^\"“「]{0,8}?|[:：]\s*)(?=[\"“「]|(?<!\w)')",
)
"""Between whoever is quoted and their own words."""
_OF_THEMSELVES: Final = re.compile(
    r"(?:(?:so|well|oh|ok|yes|hi|guess what|finally)\W+)*(?:(?:I|we)\b(?!['’]?(?:d|ll)?\b (?:heard?|think|thought|saw|see|told|know|hope|wish|guess|believe|reckon|met|read)\b)|my\b|我(?!听|想|觉|看|猜|希|认为|知道|告诉|以为))",
    re.IGNORECASE,
)
"""Opens what somebody says of themselves."""
_I: Final = re.compile(r"\bI(?:['’]?(?:m|ve))?\b|我(?!们)")
_MORE_THAN_I: Final = re.compile(r"\b(?:we|us|our|he|she|they|his|her|their|him|them)\b|我们|咱|[他她]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SpokenOf:
    """By what whoever a question asks about is spoken of: what they are to whoever asks, and their names.

    Attributes:
        mark: What tells them from others of that kind, "younger".
        several: They may be any of several of a kind, so that nothing is surely said of them.
        others: Names of whom is called something else than the relative that a question asks about.
    """

    kin: frozenset[str]
    names: frozenset[str]
    mark: str = ""
    several: bool = False
    others: frozenset[str] = frozenset()

    @classmethod
    def of(cls, question: str, texts: Iterable[str], profile: Iterable[Item]) -> SpokenOf | None:
        """Whom a question asks about, with what else `texts` and the profile show that they are called; None of nobody."""
        kin = {next(filter(None, pair)).casefold() for pair in OWN_KIN.findall(_MARKED.sub("", question))}
        kin |= set(OWN_SHORT_KIN.findall(question))
        names = named_subject(question)
        if not kin and (chinese := named_subject_chinese(question)):
            names.add(chinese)
        if len(kin) + len(names) != 1:
            return None
        mark = _MARKED.search(question)
        texts = list(texts)
        pairs = {*_called_in(texts), *_called_by(profile)}
        of_kin = {name for who, name in pairs if who in map(_relation, kin)}
        of_name = {who for who, name in pairs if name in names}
        several = len({name for name in of_kin if name.isascii()}) > 1 or len(_marks_of(kin, texts)) > 1
        if kin and not mark and several:
            return cls(frozenset(kin), frozenset(names), several=True)
        if any(
            re.search(rf"\b(?:in|moved to|went to|going to) {re.escape(name)}\b", text)
            for name in names
            for text in texts
        ):
            return None  # it is a place
        if len(of_kin) == 1 and not mark:
            names |= of_kin
        if len(of_name) == 1 and len({name for who, name in pairs if who in of_name}) == 1:
            kin |= {word for word in (*CALLED, *RELATIONS, *_SHORT_KIN, *of_name) if _relation(word) in of_name}
        others = (
            {name for _, name in pairs} - of_kin - names
            if kin and _RELATIVES.issuperset(map(_relation, kin))
            else set()
        )
        return cls(frozenset(kin), frozenset(names), mark[1].casefold() if mark else "", others=frozenset(others))

    def is_of_other(self, text: str) -> bool:
        """Whether a text opens with somebody who is something else to whoever asks, and names nobody asked about."""
        if not self.others or self._anywhere.search(text):
            return False
        called = "|".join(map(re.escape, sorted(self.others)))
        opening = re.match(rf"(?i:{_OPENING}(?:(?:{CORRECTION.form})\W+)*)(?:{called})(?![\w'’-]| and\b)", text)
        return opening is not None or (
            has_chinese(text) and re.match(rf"\W*(?:{called})(?![的和跟])", text) is not None
        )

    def own_words(self, text: str) -> list[str]:
        """What a text says of them, each sentence as they would say it of themselves; no other sentence."""
        return list(self.own_sentences(text))

    def own_question(self, question: str) -> str:
        """A question for yes or no about them as they would ask it of themselves; "" for another question."""
        if (chinese := re.match(rf"\W*(?:请问|那)?(?:{self._called})", question)) and has_chinese(question):
            return "我" + question[chinese.end() :]
        asked = re.match(
            rf"\W*(?:(?:and|so|but) )*(is|are|was|were|does|do|has|have|can)( still)? (?:{self._called})(?!['’\w])",
            question,
            re.IGNORECASE,
        )
        if asked is None:
            return ""
        verb = _OWN_VERBS[asked[1].casefold()]
        return f"{verb} I{asked[2] or ''}{question[asked.end() :]}"

    def own_sentences(self, text: str) -> dict[str, str]:
        """The sentences of a text that speak of them, by what they would say of themselves."""
        said: dict[str, str] = {}
        if self.several:
            return said
        for sentence in written_sentences(text):
            match = self._form.match(sentence)
            if match is None:
                continue
            of_others = _OF_OTHERS.match(sentence, match.end()) is not None
            quoted = _quoted_behind(sentence, match.end())
            if quoted and not quoted.endswith(("?", "？")) and (not of_others or _OF_THEMSELVES.match(quoted)):
                said[quoted] = sentence
                continue
            if of_others:
                continue
            own = _PAST.sub("I", as_said_by(_SUBJECT + sentence[match.end() :], (_SUBJECT,)))
            if not own.startswith(_SUBJECT):
                said[own] = sentence
        return said

    def quoted_in(self, text: str) -> bool:
        """Whether a text quotes what they said of themselves."""
        return any(own in sentence and _OF_THEMSELVES.match(own) for own, sentence in self.own_sentences(text).items())

    def asked_alone(self, question: str) -> bool:
        """Whether a question is about them, and not about whoever asks it beside them."""
        return SPEAKS_OF_SELF.search(re.sub(self._called, " ", question)) is None

    def left_out_of(self, item: Item) -> bool:
        """Whether something said states what is so of its speaker alone, who is none of them."""
        text = item.text
        if _I.search(text) is None or _MORE_THAN_I.search(text) or re.search(self._called, text):
            return False
        if any(kin in text.casefold() for kin in self.kin):
            return False  # "I've got two sisters, Kate and Moira"
        read = slots(text, "user", micros(item.said), item.said_offset)
        return any(finding.act is SlotAct.STATES for finding in read)

    def may_change(self, own_question: str, item: Item, other: Item) -> bool:
        """Whether another statement that names them may end or contradict what an item says to a question.

        Who died is nothing any more, whenever that was said.
        """
        if not self._anywhere.search(other.text):
            return False
        if _DIED.search(other.text) and self._form.match(other.text):
            return True
        if other.said < item.said:
            return False
        shares = not telling_words(own_question).isdisjoint(telling_words(other.text))
        ends = DENIES.search(other.text) is not None or counted_in(other.text)[SentenceCue.END] > 0
        return bool(shares or ends) or _MAY_END.search(other.text) is not None

    @property
    def _form(self) -> re.Pattern[str]:
        return _opening(self._called)

    @property
    def _anywhere(self) -> re.Pattern[str]:
        return _anywhere(self._called)

    @property
    def _called(self) -> str:
        return _called(self.kin, self.names, self.mark)


@lru_cache(maxsize=32)
def _called(kin: frozenset[str], names: frozenset[str], mark: str) -> str:
    """A pattern of what somebody is called: "my brother", "my brother Callum", "Callum", and no "Callum Smith"."""
    kinds = "|".join(sorted(map(re.escape, kin), key=len, reverse=True)) or "(?!)"
    named = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    marked = re.escape(mark) + "[ -]" if mark else _UNMARKED
    theirs = (
        rf"(?:my|our) {marked}(?:{kinds})(?:,? (?-i:{named or _NAME})\b)?\b|[我咱](?:们|家)?的?(?:{kinds})(?:{named})?"
    )
    return rf"(?i:{theirs}|(?:{named or '(?!)'})(?! (?-i:(?!I\b)[A-Z])))"


@lru_cache(maxsize=32)
def _opening(called: str) -> re.Pattern[str]:
    """A pattern of a sentence that opens with somebody."""
    return re.compile(rf"(?i:{_OPENING})(?:{called})(?![\w-])|(?:{called})(?=[\u4e00-\u9fff])")


@lru_cache(maxsize=32)
def _anywhere(called: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{called})(?![\w-])|(?:{called})(?=[\u4e00-\u9fff])")


def _marks_of(kin: Iterable[str], texts: Iterable[str]) -> set[str]:
    """By what texts tell several kin of a kind from each other: an older sister, a younger one."""
    kinds = "|".join(map(re.escape, kin))
    form = re.compile(rf"\b(?:my|our) {_MARKED.pattern}(?:{kinds})\b", re.IGNORECASE)
    return {mark.casefold() for text in texts for mark in form.findall(text)}


def _quoted_behind(sentence: str, at: int) -> str:
    """What somebody is quoted as saying, who stands in a sentence before a place; "" for nothing."""
    says = _SAYS.match(sentence, at)
    quoted = QUOTED.match(sentence, says.end()) if says else None
    return quoted[0][1:-1].strip() if quoted else ""


def _relation(word: str) -> str:
    """What somebody is to the speaker, by one word for all that mean it."""
    return RELATIONS.get(word) or _SHORT_KIN.get(word) or CALLED.get(word, word)


_KIN_NAMED: Final = re.compile(
    rf"(?:{OWN_KIN.pattern}|{OWN_SHORT_KIN.pattern})(?:,? |is |is called |['’]s name is )?({_NAME}|(?<=[\u4e00-\u9fff])[\u4e00-\u9fff]{{2}}(?=在|是|住|搬|去|说|要))",
)


def _called_in(texts: Iterable[str]) -> set[tuple[str, str]]:
    """Whom texts call by what they are and by name: "my brother Callum"."""
    return {
        (_relation(next(filter(None, found[:3])).casefold()), found[3])
        for text in texts
        for found in _KIN_NAMED.findall(text)
    }


def _called_by(profile: Iterable[Item]) -> set[tuple[str, str]]:
    """The same of a profile."""
    facts: Sequence[Item] = [item for item in profile if item.slots.get("value")]
    relations = {*CALLED.values(), *RELATIONS.values(), *CALLED}
    return {
        (slot, str(item.slots["value"]))
        for item in facts
        if isinstance(slot := item.slots.get("slot"), str) and slot in relations
    }

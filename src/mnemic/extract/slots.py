"""Simple facts that somebody states about themselves: name, home, work, family, tastes; precise first.

The patterns, one to a way of saying it, are in `slots_en` and `slots_zh`; what they catch is checked by its type here.
They are tried where a clause begins, for "my sister thinks I live in Rome" does not state it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from mnemic.core.timex import find_times
from mnemic.core.timex_en_words import month_named
from mnemic.extract import slots_en, slots_en_words, slots_zh, slots_zh_words
from mnemic.extract.chinese import ORGANISATION_ENDS, has_chinese, place_alone, simple
from mnemic.extract.hurried import written_out
from mnemic.extract.known_names import PLACES, WORKPLACES
from mnemic.extract.left_out_subjects import speaks_of_another
from mnemic.extract.patterns import SlotAct
from mnemic.extract.sentences import lowered, sentences
from mnemic.extract.slots_en_words import age_in_words, with_apostrophes
from mnemic.extract.slots_zh_words import number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from mnemic.core.timex import TimeSpan
    from mnemic.extract.patterns import SlotPattern
    from mnemic.extract.sentences import Sentence

Value = str | int

_SINGLE_WORDS: Final = """
name nickname age birthday city origin address home employer job school studies partner mother father boss diet car
phone e-mail native_language phone_number marital_status blood_type
"""
PEOPLE: Final = frozenset(
    {
        *(slots_en_words.CALLED.get(word, word) for word in slots_en_words.RELATIONS.split("|")),
        *slots_zh_words.RELATIONS.values(),
    }
)
"""Slots that hold what somebody of the speaker's is called."""
NAMED: Final = frozenset({"name", "nickname", "pet", "employer", "city", *PEOPLE})
"""Slots that hold a name."""
SINGLE: Final = frozenset(_SINGLE_WORDS.split())
"""Slots that hold one value at a time, so that a newer one supersedes; so does every `favourite ...`."""

_AGES: Final = range(3, 121)

_BIRTHDAYS: Final = (
    re.compile(r"(?P<month>[A-Za-z]{3,9})\.? (?P<day>\d{1,2})(?:st|nd|rd|th)?(?:,? (?P<year>\d{4}))?"),
    re.compile(r"(?:the )?(?P<day>\d{1,2})(?:st|nd|rd|th)?(?: of)? (?P<month>[A-Za-z]{3,9})(?:,? (?P<year>\d{4}))?"),
    re.compile(r"(?P<year>\d{4})[-/.年](?P<month>\d{1,2})[-/.月](?P<day>\d{1,2})[日号]?"),
    re.compile(
        r"(?:(?P<year>\d{4})年)?(?P<month>[\d一二三四五六七八九十]{1,2})月(?P<day>[\d一二三四五六七八九十]{1,3})[日号]?"
    ),
    re.compile(r"(?P<year>(?:19|20)\d{2})年?"),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a speaker states about themselves.

    Attributes:
        slot: "name", "age", "birthday", "city", "origin", "employer", "job", "school", "studies", "partner", a relation
            such as "sister", "family", "pet", "car", "phone", "likes", "dislikes", "avoids", "allergy", "diet",
            "health", "language", "e-mail", "phone_number", "address" or "favourite ..." with what it is the favourite
            of; empty where only what is known can tell: it is the slot that holds `value`, or `wrong`.
        value: As it was written; of an age a number, of a birthday "1990-05-08", "--05-08" or "1990". Empty where an
            end names none: whatever filled the slot.
        text: The sentence that says so, `text[start:end]` of what it was found in.
        subject: Who it is about: the speaker.
        single: The slot holds one value at a time.
        since: The stretch of time in which it came to be true, or ended, if its clause names one.
        act: Whether it is so, is so no longer, or is right where something else was said by mistake.
        wrong: What was said by mistake.
        implied: It is said only in passing, and takes the place of nothing that was stated.
        among: Where the slot is empty: "living" if the value names a pet or a person of theirs, "pet" if a pet,
            "owned" if a pet or a thing, by its name or by what it is, "kept_from" if a food that somebody does not eat.
    """

    slot: str
    value: Value
    text: str
    start: int
    end: int
    subject: str
    single: bool
    since: TimeSpan | None = None
    act: SlotAct = SlotAct.STATES
    wrong: Value = ""
    among: str = ""
    implied: bool = False


def slots(
    text: str, subject: str, said: int, offset: int = 0, spoken: Iterable[Sentence] | None = None
) -> list[Finding]:
    """What `subject` states about themselves in `text`, in order; a value once.

    Args:
        said: When it was said, microseconds since 1970: "in March" is resolved against this.
        offset: Minutes east of UTC on the speaker's clock.
        spoken: The sentences of the text, if they are known.
    """
    findings: dict[tuple[str, Value, SlotAct], Finding] = {}
    before_it: list[Finding] = []
    in_it: list[Finding] = []
    of_another = False
    for sentence in _with_what_follows_a_move(sentences(text) if spoken is None else spoken):
        if not _only_takes_back(sentence):
            before_it, in_it = in_it, []
        before, of_another = of_another, speaks_of_another(sentence.written, of_another)
        if sentence.asks:
            continue
        end = sentence.start + len(sentence.low)
        stated = list(_stated(sentence, before))
        for statement in stated:
            slot, wrong, value = statement.slot, statement.wrong, statement.value
            if not value and any(map(statement.is_replaced_by, stated)):
                continue
            if statement.elsewhere and not value:
                named = _named_elsewhere(text, statement.elsewhere)
                if named is None:
                    continue
                value = named
            act = statement.act
            since = _since(statement.clause, said, offset) if statement.dated or statement.anew else None
            if statement.anew and act is SlotAct.STATES and is_single(slot) and not statement.dated and since is None:
                near = (*before_it, *in_it)
                taken_back = next((f for f in reversed(near) if f.slot == slot and f.act is act), None)
                if taken_back is not None and taken_back.value != value:
                    act, wrong = SlotAct.CORRECTS, taken_back.value
            if act is SlotAct.CORRECTS and not wrong:
                mistaken = _just_said(findings.values(), str(statement.value), text)
                if mistaken is None:
                    continue  # what was wrong stands in another turn: we cannot tell which it is
                slot, wrong = mistaken.slot, mistaken.value
            finding = Finding(
                slot=slot,
                value=value,
                text=text[sentence.start : end],
                start=sentence.start,
                end=end,
                subject=subject,
                single=is_single(slot),
                since=since if statement.dated else None,
                act=act,
                wrong=wrong,
                among=statement.among,
                implied=statement.implied,
            )
            in_it.append(finding)
            findings.setdefault((finding.slot, finding.value, finding.act), finding)
    return list(findings.values())


def _only_takes_back(sentence: Sentence) -> bool:
    """Whether a sentence does no more than take back the one before: "Scratch that!"."""
    return any(
        language.TAKEN_BACK.fullmatch(f"{sentence.low} ") is not None
        for language in (slots_en.English, slots_zh.Chinese)
    )


_TRIED: Final = re.compile(r"\b(?:tried|ate|eaten|eat|had|test\w*)\b|试|吃|尝|检测|测试")
"""Something was tried, of which we may not know that it is the value that is looked for."""


def _named_elsewhere(text: str, form: str) -> str | None:
    """Find the one value of a form that a message names; "" if it names none, None if it cannot be told which."""
    low = simple(lowered(text))
    named = {match.group() for match in re.finditer(form, low)}
    if not named and _TRIED.search(low):
        return None
    return None if len(named) > 1 else "".join(named)


_NUMBER: Final = re.compile(r"\+?\d[\d ().-]{4,18}\d(?!\d)")
_YEARS_OLD: Final = re.compile(r"(?<![\d-])\d{1,3}(?![\d-])")
_MAIL: Final = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")


def _just_said(findings: Iterable[Finding], right: str, text: str) -> Finding | None:
    """Choose the last statement in whose place a value may be put right: of its own form, which others fill not.

    A number or address that was said between, as somebody else's, is what is put right then, and none of ours.
    """
    acts = (SlotAct.STATES, SlotAct.CORRECTS)
    stated = [f for f in findings if f.slot and f.act in acts and _may_fill(f.slot, right)]
    if not stated:
        return None
    form = next((form for form in (_MAIL, _NUMBER, _YEARS_OLD) if form.fullmatch(right)), None)
    said = form.findall(text) if form else []
    before = [first for first, second in pairwise(said) if second == right]
    return None if before and before[-1] != str(stated[-1].value) else stated[-1]


def _may_fill(slot: str, value: str) -> bool:
    """Whether a value has the form of what fills a slot."""
    if _MAIL.fullmatch(value):
        return slot == "e-mail"
    if _NUMBER.fullmatch(value):
        return slot in ("phone_number", "birthday")
    return slot not in ("e-mail", "phone_number") and (slot == "age") == (_age(value) is not None)


def is_supposed(text: str) -> bool:
    """Whether a sentence supposes, wishes, makes up or reports something, as far as words tell: it may not be so."""
    low = simple(text).lower().translate(_STRAIGHT)
    return any(
        language.is_framed(low) or language.UNSAID.search(low) for language in (slots_en.English, slots_zh.Chinese)
    )


def is_single(slot: str) -> bool:
    """Whether a slot holds one value at a time."""
    return slot in SINGLE or slot.startswith("favourite ")


_ONLY_MOVED: Final = re.compile(
    r"(?:(?:so|well|ok|hey|hi|news|big news|update|guess what)[,:!]? )*(?:(?:i|we)(?:'ve| have)?(?: all| both)? )?"
    r"(?:just |finally |now |recently |only )*(?:moved|relocated)(?: house| home| flats?| again| at last)*[.!]*"
    r"|我?们?(?:终于|刚刚?|又|已经)*搬(?:新|了)?家(?:了|啦|咯)*[!！。.～~]*"
)
"""Says that its speaker has moved, and not where."""


def _with_what_follows_a_move(spoken: Iterable[Sentence]) -> Iterator[Sentence]:
    """Join a sentence that only says that somebody moved with the next, which may say where: "Moved! It's Leith"."""
    moved: Sentence | None = None
    for sentence in spoken:
        if moved is not None:
            between = " " * (sentence.start - moved.start - len(moved.low))
            low, written = (f"{moved.low}{between}{sentence.low}", f"{moved.written}{between}{sentence.written}")
            sentence = replace(sentence, low=low, written=written, start=moved.start)
        moved = sentence if moved is None and _ONLY_MOVED.fullmatch(sentence.low) else None
        if moved is None:
            yield sentence
    if moved is not None:
        yield moved


class _Statement(NamedTuple):
    """What one match of a pattern says, and the clause that says it; `anew` behind taking back what was said."""

    slot: str
    act: SlotAct
    value: Value
    wrong: Value
    clause: str
    dated: bool
    among: str
    implied: bool
    elsewhere: str
    at: int
    anew: bool

    def is_replaced_by(self, other: _Statement) -> bool:
        """Whether another statement, behind this end of whatever filled a slot, says what fills it now."""
        ends = self.act is SlotAct.ENDS and other.act is SlotAct.STATES
        return ends and bool(self.slot) and self.slot == other.slot and self.at < other.at


def _stated(sentence: Sentence, of_another: bool) -> Iterator[_Statement]:
    """Each statement of a sentence; of what begins at one place, only the first pattern's.

    Args:
        of_another: The sentence before is about another person than the speaker.
    """
    for low, lower, language in _languages(sentence):
        cued = language.TABLE.cued(language.words(lower))
        if not cued or language.is_framed(lower):
            continue
        starts = language.starts(lower)
        for pattern in cued:
            for match in _matches(pattern, low, starts):
                if pattern.headless and speaks_of_another(low[: match.start()], of_another):
                    continue
                slot, act, clause = pattern.slot_of(match), pattern.act, _clause(low, match)
                if language.UNSAID.search(lower, 0, _clause_end(low, match)):
                    continue
                if not pattern.anywhere and language.is_ahead(low, match, clause):
                    continue  # what is named in passing is so whenever that is: "my friend Eve is coming next week"
                wrong = _valid(slot, match.groupdict().get("wrong") or "", language) or ""
                for raw in pattern.values(match):
                    value = _valid(slot, raw, language) if raw else ""
                    if value is not None and (value or act is SlotAct.ENDS):
                        dated = pattern.begins or act is SlotAct.ENDS
                        yield _Statement(
                            *(slot, act, value, wrong, clause, dated),
                            *(pattern.among, pattern.implied, pattern.elsewhere),
                            at=match.start(),
                            anew=language.TAKEN_BACK.search(lower, 0, match.start()) is not None,
                        )


def _matches(pattern: SlotPattern, low: str, starts: Sequence[int]) -> Iterator[re.Match[str]]:
    if pattern.anywhere:
        yield from pattern.pattern.finditer(low)
        return
    for start in starts:
        if match := pattern.pattern.match(low, start):
            yield match


def _languages(
    sentence: Sentence,
) -> Iterator[tuple[str, str, type[slots_en.English] | type[slots_zh.Chinese]]]:
    """The languages of which a sentence may hold statements, each with its words as patterns read them."""
    if has_chinese(sentence.written):
        written = simple(sentence.written)
        aside = slots_zh.Chinese.ASIDE.match(written)
        written = written[aside.end() :] if aside else written
        yield written, written, slots_zh.Chinese
    if slots_en.English.CUE.search(with_apostrophes(sentence.low)):
        written = written_out(with_apostrophes(sentence.written.translate(_STRAIGHT)))
        written = slots_en.English.DIAGNOSIS.sub(_aside, written)
        written = slots_en.English.CONCLUSION.sub(_aside, written)
        yield written, lowered(written), slots_en.English


def _aside(match: re.Match[str]) -> str:
    """An aside in place of who says something: what follows is as good as said by the speaker."""
    return ", ".rjust(len(match.group()))


_STRAIGHT: Final = str.maketrans("\u2018\u2019\u02bc", "'''")


def _valid(slot: str, raw: str, language: type[slots_en.English] | type[slots_zh.Chinese]) -> Value | None:
    value = language.LOOSE_END.sub("", raw.strip(_OUTER)).strip(_OUTER)
    return None if not value or language.NOTHING.fullmatch(value) else typed(slot, value)


_OUTER: Final = " ,.!，。！、的了呢啊呀吧啦_"


def typed(slot: str, value: str) -> Value | None:
    """A value of a slot's type; None if it is none."""
    check = _TYPES.get(slot)
    return check(value) if check else value


_YEARS: Final = re.compile(r"(?: years?(?: old)?|周?岁)$")


def _age(value: str) -> int | None:
    value = _YEARS.sub("", value)
    years = int(value) if value.isdecimal() else age_in_words(value) if value.isascii() else number(value)
    return years if years in _AGES else None


def birthday(text: str) -> str | None:
    """ "1990-05-08", "--05-08" where no year is named, or "1990"; None if it is no date."""
    for form in _BIRTHDAYS:
        if (match := form.fullmatch(text.strip())) is None:
            continue
        parts = match.groupdict()
        if not parts.get("month"):
            return parts["year"]
        month, day = _month(parts["month"]), number(parts["day"])
        return f"{parts['year'] or '-'}-{month:02}-{day:02}" if 1 <= month <= 12 and 1 <= day <= 31 else None
    return None


def _month(name: str) -> int:
    try:
        return number(name) if not name.isascii() or name.isdecimal() else month_named(name)
    except ValueError:
        return 0


def _place(value: str) -> str | None:
    """A place without what goes on behind it, where the language parts no words; None for a firm of that name."""
    if has_chinese(value):
        return place_alone(value)
    return None if value.casefold() in WORKPLACES and value.casefold() not in PLACES else value


_FIRM_ALONE: Final = re.compile("(?<=..)(?:做|当(?!代)|干(?![部细])|上班|工作(?!室)|任职|打工).*$")
_FIRM_WHOLE: Final = re.compile(f"^[^做]*(?:{ORGANISATION_ENDS})$")
_YEARS_OF: Final = re.compile(r"^[一二三四五六七八九十两几\d]+年(?!级)")
_LEARNS: Final = re.compile("学(?![生者校院])")


def _firm(value: str) -> str:
    """An employer without what somebody does there, where the language parts no words."""
    return value if not has_chinese(value) or _FIRM_WHOLE.search(value) else _FIRM_ALONE.sub("", value)


def _job(value: str) -> str | None:
    """A job without where, or for how long, where the language parts no words; None for what is only learned."""
    if not has_chinese(value):
        return value
    job = _YEARS_OF.sub("", value.rsplit("的", 1)[-1])
    return None if not job or _LEARNS.match(job) else job


_TYPES: Final[dict[str, Callable[[str], Value | None]]] = {
    "age": _age,
    "birthday": birthday,
    "city": _place,
    "origin": _place,
    "employer": _firm,
    "job": _job,
}


_BETWEEN: Final = re.compile(r"[,，;；]| and | but ")


def _clause(low: str, match: re.Match[str]) -> str:
    """What is said around a match without a comma or "and" between."""
    begin = max((gap.end() for gap in _BETWEEN.finditer(low, 0, match.start())), default=0)
    return low[begin : _clause_end(low, match)]


def _clause_end(low: str, match: re.Match[str]) -> int:
    end = _BETWEEN.search(low, match.end())
    return end.start() if end else len(low)


def _since(text: str, said: int, offset: int) -> TimeSpan | None:
    """The one time that the clause names, if it has begun; with two we cannot tell which is meant."""
    times = find_times(text, said, offset)
    return times[0] if len(times) == 1 and times[0].start <= said else None

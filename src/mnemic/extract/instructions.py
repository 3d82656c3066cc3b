"""What a person tells the assistant to do or leave from now on: by rule, precise first, then by wording.

Only the speaker's own words count (`said`): nothing that is quoted, in a code block, reported of others or asked. Where
no rule decides on a sentence of a short turn it is left open: its words decide (`instruction_wording`), or its meaning,
if whoever reads has vectors (`instruction_meaning`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from mnemic.extract import instructions_en, instructions_zh
from mnemic.extract.chinese import has_chinese, simple
from mnemic.extract.instruction_lists import instruction_lists
from mnemic.extract.instruction_wording import LONGEST, THRESHOLD, weight_if_open
from mnemic.extract.one_off_requests import asks_for_one_thing, goes_on_about_it, is_for_one_thing
from mnemic.extract.quotation import own_words
from mnemic.extract.revocations import taking_back
from mnemic.extract.sentences import LIMIT, sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import ModuleType

    from mnemic.extract.patterns import InstructionPattern
    from mnemic.extract.sentences import Sentence

_TITLE: Final = re.compile(
    r"(?:by )?(?:my (?:first|last|full|nick)? ?name|(?:the )?"
    r"(?:sir|madam|ma'am|captain|boss|doctor|doc|chef|professor)\b)"
)
_WORD: Final = re.compile(r"\w+(?:,? (?:please|instead|thanks|and not|not|or)\b.*)?\W*")
_NO_NAMES_WORDS: Final = """
back later tomorrow tonight today maybe soon crazy anytime asap now again first
"""
_NO_NAMES: Final = frozenset(_NO_NAMES_WORDS.split())

_CLAUSE: Final = re.compile(r"[^\s,;:，；：、—–(（][^,;:，；：、—–(（]*+[,;:，；：、—–(（]*+\s*+")
_BELOW: Final = re.compile(r"[ \t\r]*+\n\s*+(?:\S[^\n]*+(?:\n(?=[ \t]*\S)|\s*\Z|(?=\n))){1,20}")
"""The paragraph below a line."""

_LIST: Final = re.compile(r"[:：][*_]{0,3}[ \t]*+\n")
_OF_LIST: Final = "point"
"""The rule of what stands only by the heading of its list."""

_WORDED: Final = "wording"
"""The rule of what no rule finds."""
_FIRM_RULES: Final = """
call me/call me besides/when to call/叫我/叫我并/别叫我/叫你/not called/pronouns
bear in mind/记住/先问我/without asking/my people/back to/换回/every day
"""
_FIRM: Final = frozenset(re.split("[/\n]", _FIRM_RULES.strip()))
"""Rules that find a name, what is so of the speaker, or what little of it tells an order by its meaning."""
_RETURNING: Final = frozenset(("back to", "换回"))
"""Rules of which a narrative shares the words."""
_SHORT_TURN: Final = 400
"""Most characters in a turn whose sentences are told by their wording: longer ones are written, or pasted."""
_BLANKED: Final = "_"
"""What stands in place of a quotation."""
_BLANKED_ALONE: Final = "_ .,;:!?。，；：！？"
"""What a sentence is made of that holds no word of the speaker's own."""

_LIKE_FIRST: Final = frozenset({"so", ";", "—", "–", "-", "--"})
"""After these a clause is as free as at the beginning."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One standing instruction.

    Attributes:
        text: The clause as it was written: `text[start:end]` of what it was found in.
        rule: Which way of saying it was recognised, such as "from now on" or "以后".
        low: The sentence that a rule found it in, in lower case, quotations blanked, where its meaning may overrule the
            rule; "" where none may.
    """

    text: str
    start: int
    end: int
    rule: str
    low: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class OpenSentence:
    """A sentence that no rule decides and that may be a standing instruction.

    Attributes:
        instruction: What it is if it is one: the whole sentence.
        low: In lower case, as words and vectors are taken of it; quotations are blanked.
        weight: What its words weigh.
        plain: It quotes nothing, and speaks of nobody else and of no one occasion, without which only its meaning makes
            it an instruction.
    """

    instruction: Instruction
    low: str
    weight: float
    plain: bool = True

    @property
    def worded(self) -> bool:
        """Whether its words alone make it an instruction."""
        return self.plain and self.weight > THRESHOLD


def instructions(text: str, spoken: Iterable[Sentence] | None = None) -> list[Instruction]:
    """Find the standing instructions in what a user said, by rules and words alone, in order: see `read_by_rules`."""
    decided, left = read_by_rules(text, spoken)
    return sorted(
        [*decided, *(wish.instruction for wish in left if wish.worded)], key=lambda instruction: instruction.start
    )


def read_by_rules(text: str, spoken: Iterable[Sentence] | None = None) -> tuple[list[Instruction], list[OpenSentence]]:
    """Read what a user said by rules: the instructions they find, and the sentences that they leave open, in order.

    At most one instruction comes of a sentence, and one of each point of a list.

    Never hand in what others wrote (assistants, tools, documents): the caller knows who speaks, a text does not.

    Args:
        spoken: The sentences of the text, if they are known.
    """
    extracted: list[Instruction] = []
    left: list[OpenSentence] = []
    short = len(text) <= _SHORT_TURN and "\n" not in text.strip()
    at_work = False
    for sentence in sentences(text) if spoken is None else spoken:
        if at_work and goes_on_about_it(sentence.low):
            continue
        at_work = at_work or asks_for_one_thing(sentence.low)
        for language, low in _languages(sentence):
            if match := _first_match(low, text[sentence.start :], sentence.asks, language):
                at, rule = match
                start, end = sentence.start + _with_condition(low, at, language), sentence.start + len(low)
                overruled = short and rule.name not in _FIRM and len(sentence.low) <= LONGEST
                low_of = sentence.low if overruled else ""
                extracted.append(Instruction(text[start:end], start, end, rule.name, low_of))
                break
        else:
            if short and (weight := _open_weight(sentence)) is not None:
                end = sentence.start + len(sentence.low)
                whole = Instruction(text[sentence.start : end], sentence.start, end, _WORDED)
                left.append(OpenSentence(whole, sentence.low, weight, _is_plain(sentence)))
    if any(instruction.text.endswith((":", "：")) for instruction in extracted):
        extracted = _with_what_they_announce(text, extracted)
    return (_with_lists(text, extracted) if _LIST.search(text) else extracted), left


def _with_lists(text: str, extracted: Sequence[Instruction]) -> list[Instruction]:
    """The instructions with those that stand in lists, in order; what lies within a point is said by the point."""
    kept = list(extracted)
    headings = {
        instruction.end
        for instruction in extracted
        if instruction.text.endswith((":", "：")) and _BELOW.match(text, instruction.end)
    }
    for points_below in instruction_lists(text, own_words(text), headings):
        first = points_below.points[0][0]
        inside = [instruction for instruction in kept if first <= instruction.start < points_below.end]
        if (points_below.weak and not inside) or any(
            instruction.start < first < instruction.end for instruction in kept
        ):
            continue
        rules = {instruction.start: instruction.rule for instruction in inside}
        gone = [
            instruction
            for instruction in kept
            if (points_below.start if points_below.whole else first) <= instruction.start < points_below.end
        ]
        kept = [instruction for instruction in kept if instruction not in gone]
        for start, end in ((points_below.start, points_below.end),) if points_below.whole else points_below.points:
            rule = next((rule for at, rule in rules.items() if start <= at < end), _OF_LIST)
            kept.append(Instruction(text[start:end], start, end, rule))
    return sorted(kept, key=lambda instruction: instruction.start)


def _with_condition(low: str, at: int, language: ModuleType) -> int:
    """Where an instruction begins with the conditions before its clause: "on Mondays, from now on ..."."""
    lead = language.LEAD.match(low)
    first = lead.end() if lead else 0
    clauses = list(_CLAUSE.finditer(low, first, at))
    for clause in reversed(clauses):
        if language.CONDITION.match(low, clause.start(), clause.end()) is None:
            break
        at = clause.start()
    return at


def _with_what_they_announce(text: str, extracted: Sequence[Instruction]) -> list[Instruction]:
    """Each instruction that ends in a colon with the paragraph below it, unless that instructs by itself.

    Only the speaker's own words are taken in: "sign mails with:" and the signature, never a quotation.
    """
    own = own_words(text)
    whole: list[Instruction] = []
    for n, instruction in enumerate(extracted):
        below = _BELOW.match(text, instruction.end) if instruction.text.endswith((":", "：")) else None
        following = extracted[n + 1].start if n + 1 < len(extracted) else len(text)
        if (
            below is not None
            and below.end() <= following
            and len(below[0]) <= LIMIT
            and own[below.start() : below.end()] == below[0]
        ):
            start, end = instruction.start, instruction.end + len(below[0].rstrip())
            whole.append(Instruction(text[start:end], start, end, instruction.rule))
        else:
            whole.append(instruction)
    return whole


def _languages(sentence: Sentence) -> Iterator[tuple[ModuleType, str]]:
    if has_chinese(sentence.low):
        yield instructions_zh, simple(sentence.low)
    if any("a" <= c <= "z" for c in sentence.low):
        yield instructions_en, sentence.low


def _first_match(low: str, written: str, asks: bool, language: ModuleType) -> tuple[int, InstructionPattern] | None:
    """Where in a sentence an instruction begins, and the rule that it follows."""
    of_one_thing = is_for_one_thing(low)
    plain = not of_one_thing and language.PLAIN.search(low) is not None
    if not plain and language.CUE.search(low) is None:
        return None
    if plain and ((ends := language.BREAK.search(low)) is None or ends.end() == len(low)):
        plain = language.POINTING.search(low) is None  # it reaches everywhere, so that no plain rule need be tried
    saying = language.SAYING.search(low) is not None or language.REPORTED_AFTER.search(low) is not None
    rules = [
        rule
        for rule in language.RULES
        if not (
            (asks and not rule.asking)
            or (saying and rule.weak)
            or (rule.plain and not plain)
            or (rule.once and of_one_thing)
        )
    ]
    for at, first in _starts(low, language):
        if at and language.REPORTED.search(low[:at]):
            continue
        for rule in rules:
            if (rule.first and not first) or (rule.name in _RETURNING and language.NARRATED.match(low)):
                continue
            match = rule.pattern.match(low, at)
            if match and _is_name(match, written) and not _for_this_once(match, rule, language):
                return at, rule
    return None


def _open_weight(sentence: Sentence) -> float | None:
    """What a sentence weighs that may be a wish of the speaker's for good; None for another."""
    if sentence.asks or sentence.low.strip(_BLANKED_ALONE) == "":
        return None
    weighed = weight_if_open(sentence.low)
    if weighed is None or taking_back(sentence) or is_for_one_thing(sentence.low):
        return None
    elsewhere = (
        pattern.search(low)
        for language, low in _languages(sentence)
        for pattern in (language.REPORTED_AFTER, language.BODILY)
    )
    narrated = (language.NARRATED.match(low) for language, low in _languages(sentence))
    return None if any(elsewhere) or any(narrated) else weighed


def _is_plain(sentence: Sentence) -> bool:
    """Whether a sentence is the speaker's own from end to end, of nobody else and of no one occasion."""
    if _BLANKED in sentence.low:
        return False
    return not any(
        pattern.search(low)
        for language, low in _languages(sentence)
        for pattern in (language.ATTRIBUTED, language.ONCE)
    )


def _for_this_once(match: re.Match[str], rule: InstructionPattern, language: ModuleType) -> bool:
    """Whether something as far as the end of the clause says that a rule which could be for this once is."""
    if not (rule.once or rule.plain):
        return False
    end = language.BREAK.search(match.string, match.end())
    reach = end.start() if end else len(match.string)
    if rule.once and language.ONCE.search(match.string, 0, reach):
        return True
    return rule.plain and language.POINTING.search(match.string, match.start() if end else 0, reach) is not None


def _is_name(match: re.Match[str], written: str) -> bool:
    """What the user wants to be called looks like a name, if that is what the rule is about."""
    if "name" not in match.re.groupindex:
        return True
    begins = written[match.start("name")]
    if begins.isupper() or not begins.isalpha() or _TITLE.match(match["name"]):
        return True
    lower = not any(c.isupper() for c in written)  # somebody who writes no capitals writes none in a name
    return lower and _WORD.fullmatch(match["name"]) is not None and match["name"].split()[0] not in _NO_NAMES


def _starts(low: str, language: ModuleType) -> Iterator[tuple[int, bool]]:
    """Where clauses may begin, and whether that is as good as the beginning of the sentence."""
    yield 0, True
    lead: re.Match[str] | None = language.LEAD.match(low)
    begun = lead.end() if lead else 0
    if begun:
        yield begun, True
    for gap in language.STARTS.finditer(low, begun):
        yield gap.end(), gap.group().strip(" ,") in _LIKE_FIRST

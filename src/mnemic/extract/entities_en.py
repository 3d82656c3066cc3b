# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Names in English and its like: runs of words with a capital, told apart from beginnings of sentences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mnemic.extract.entity import Entity

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORD: Final = r"(?:(?:Mr|Mrs|Ms|Dr|Prof|St)\.(?= [A-Z])|[A-ZÀ-ÖØ-Þ]\.(?:[A-Z]\.)*|(?:[A-ZÀ-ÖØ-Þ]|(?:Mc|Mac|O'|O’|D'|d'|L')(?=[A-Z]))[\wÀ-ÿ]*(?:[-'’&][A-ZÀ-ÖØ-Þ][\wÀ-ÿ]*)*)"
_JOIN: Final = r"(?:of(?: the)?|the|de(?: la| los| las)?|del|da|do|dos|di|du|la|le|van(?: der| den)?|von|der|bin|al|el|&|in the|for the|on the)"
_RUN: Final = re.compile(
    rf"(?<![\w@/.#’'-]){_WORD}(?:,? (?:Jr|Sr)\.|(?: {_JOIN})? {_WORD}| \d{{1,4}}(?![\w:%.,/-]\d?))*"
)
_SENTENCE: Final = re.compile(r"(?:^|[.!?:;…—–\n\"“(\]*•>-]|[\U0001f300-\U0001faff])[\s\"“'(*-]*$")
_NOT_NAMES_WORDS: Final = """
i i'm i'll i've i'd a an the this that these those it its he she we they you my your his her our their me us them
him who what when where why how which whose if because since while although though unless until as than and or but
so yet nor in on at by for from with without into onto over under about after before between during through against
among around near off out up down to is am are was were be been being has had have having does did do done will
would shall should can could may might must not no yes yeah yep nope ok okay oh ah hey hi hello wow thanks thank
sorry congrats congratulations well right sure maybe perhaps really very too also even still just only ever always
never often sometimes usually again already soon now then today tomorrow yesterday tonight once let let's here there
good great nice cool awesome amazing lovely wonderful perfect fun happy glad excited proud please welcome bye
goodbye night morning afternoon evening sounds looks looking seems hope hoping love loved like liked enjoy keep go
come get got take make made see saw tell ask give need want think thought know feel try remember some any all both
each every either neither another other such same one two three first second last next many much more most few less
several absolutely definitely totally exactly actually honestly seriously anyway besides however therefore instead
meanwhile finally recently lately currently unfortunately luckily hopefully speaking everything something nothing
anything everyone someone people life time work family friends friend mom dad mum sister brother aunt uncle grandma
grandpa god lol haha hmm aww omg btw monday tuesday wednesday thursday friday saturday sunday january february march
april may june july august september october november december mon tue wed thu fri sat sun jan feb mar apr jun jul
aug sep sept oct nov dec am pm im ive dont cant whats how's what's that's it's there's here's who's where's he's
she's we're they're you're isn't aren't don't doesn't didn't can't won't couldn't shouldn't we've they've you've
we'll you'll they'll she'll he'll could've yup dear tv diy ps fyi asap faq q a.m p.m idk imo tbh pov
ok. no. yes. ai
"""
COMMON_WORDS: Final = frozenset(_NOT_NAMES_WORDS.split())
"""Words that are no names, whatever letter they begin with."""
_STARTS: Final = re.compile(r"(?:ing|ed|ly|tion|ness|ment|ful|less|ous|able|ible)$")
"""Endings of words that begin sentences more often than names."""
_ORGANISATION: Final = re.compile(
    r"\b(?:Inc|Ltd|LLC|GmbH|Corp|Co|University|College|School|Institute|Hospital|Bank|Museum|Library|Foundation|Association|Society|Club|Company|Group|Team|Orchestra|Church|Academy|Center|Centre|Party|Committee|Council|Agency|Department|Ministry)\b"
)
_PLACE: Final = re.compile(
    r"\b(?:Street|St|Avenue|Ave|Road|Rd|Lane|Square|Park|River|Lake|Mount|Mountain|Mountains|Island|Islands|Bay|Beach|Valley|City|County|Province|State|Republic|Kingdom|Airport|Station|Bridge|Forest|Desert|Ocean|Sea|Falls|Canyon|Coast|Harbour|Harbor|Castle|Palace)\b"
)
_PERSON: Final = re.compile(
    r"(?:Mr|Mrs|Ms|Dr|Prof|Sir|Dame|Professor|Doctor|Captain|President|Queen|King|Prince|Princess|Saint|Aunt|Uncle)\.? $"
)


def names(text: str) -> Iterator[Entity]:
    """Runs of capitalised words that are names."""
    for match in _RUN.finditer(text):
        if match.group().lower() in COMMON_WORDS:
            continue
        start, end = _trimmed(text, match.start(), match.end())
        if start < end and not text[start:end].isdigit():
            yield Entity(text[start:end], start, end, _kind(text, start, end))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The run without words at either end that have a capital for another reason; empty if none is left."""
    while start < end:
        word = _first_word(text, start, end)
        if word in _HEADS and _is_title(text, start, end):
            break
        if not _is_common(word) and not (_begins(text, start) and _is_beginning(text, word, start, end)):
            break
        start = min(end, start + len(word) + 1)
        start = _past_joins(text, start, end)
    while (space := text.rfind(" ", start, end)) >= 0 and space + 1 < end and _is_common(text[space + 1 : end]):
        end = space
    shown = (
        text[start:end].rstrip(".,'’&- ")
        if not re.search(r"\.[A-Z]\.$|\b[JS]r\.$", text[start:end])
        else text[start:end]
    )
    while shown and (last := shown.rsplit(" ", 1)[-1]) and last in _LOOSE:
        shown = shown[: -len(last)].rstrip()
    return start, start + len(shown)


_LOOSE_WORDS: Final = """
of the and de la del da do di du le van von der al el y & in for on
"""
_LOOSE: Final = frozenset(_LOOSE_WORDS.split())


_HEADS: Final = frozenset({"The", "A", "An"})


def _is_title(text: str, start: int, end: int) -> bool:
    """An article with a capital within a sentence is part of the name."""
    return not _begins(text, start) and text.find(" ", start, end) >= 0


def _past_joins(text: str, start: int, end: int) -> int:
    while start < end and (word := _first_word(text, start, end)) in _LOOSE:
        start = min(end, start + len(word) + 1)
    return start


def _first_word(text: str, start: int, end: int) -> str:
    space = text.find(" ", start, end)
    return text[start : end if space < 0 else space]


def _is_common(word: str) -> bool:
    return word.lower().replace("’", "'").rstrip(".,") in COMMON_WORDS or word in _LOOSE


def _begins(text: str, start: int) -> bool:
    return start == 0 or _SENTENCE.search(text, max(0, start - 6), start) is not None


def _is_beginning(text: str, word: str, start: int, end: int) -> bool:
    """A word that only begins a sentence: what follows is no name, and it does not look like one."""
    if end - start > len(word) or (word.isupper() and len(word) > 1) or word.endswith(("'s", "’s")):
        return _STARTS.search(word) is not None
    if not word.isalpha() and any(c.isdigit() or c in "-&'’" for c in word):
        return False
    if _STARTS.search(word):
        return _ACTS.match(text, end) is None
    return _NEXT.match(text, end) is None


_ACTS: Final = re.compile(r" (?:said|says|told|went|loves|called|asked|wants|lives|works|moved|thinks|came)\b")
_NEXT: Final = re.compile(
    r"(?:'s|’s)? (?:is|was|has|had|will|would|said|says|told|and (?:I|[A-Z])|went|loves?|likes?|called|came|got|gave|asked|thinks?|wants?|lives?|works?|moved|just|also|who|never|always|can|and)\b|,? (?:I|who|my|how|what|can|could|are|do|did|have|where|when|you)\b|['’]s |, [A-Z]|[!,.?]?$|, (?:good|great|nice|thanks|hey|hi|it|that|sorry|your)\b"
)
"""After a name at the beginning of a sentence: what people do, or an address."""


def _kind(text: str, start: int, end: int) -> str:
    shown = text[start:end]
    if _ORGANISATION.search(shown):
        return "organisation"
    if _PLACE.search(shown):
        return "place"
    return "person" if _PERSON.search(text[max(0, start - 12) : start]) else ""

# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Writes out what was typed in a hurry: capitals where names stand, "u" and "gf" in full, an "i" where a clause begins.

The rules that read facts, and what an answer is given in short, know a name by its capital. A chat has none: "my sister
anna lives in leeds". A capital is set only on what is known for a name where names stand, or where the sentence leaves
no doubt that one stands there ("is called"); "i moved to tears" has none. Text with capitals of its own stays.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from mnemic.core.parts import MONTHS
from mnemic.extract.entities_en import COMMON_WORDS
from mnemic.extract.known_names import GIVEN, GIVEN_WORDS, PLACE_WORDS, PLACES, WORKPLACES
from mnemic.extract.slots_en_words import BREAKS, CAR_MAKES, LANGUAGE_NAMES, NOT_PLACES, RELATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_INNER_CAPITAL: Final = re.compile(r"(?<=\S\s)(?!I\b|I')[A-ZÀ-Þ]|[^\W\d_][A-ZÀ-Þ]")
_SHORT: Final = {
    "u": "you", "ur": "your", "r": "are", "bf": "boyfriend", "gf": "girlfriend", "bff": "best friend", "rn": "right now",
    "w": "with", "w/": "with", "thx": "thanks", "pls": "please", "plz": "please", "cuz": "because", "bc": "because",
    "tbh": "honestly", "yrs": "years", "yr": "year", "bday": "birthday", "uni": "uni",
}  # fmt: skip
"""What chats shorten, in full."""
_SHORT_WORD: Final = re.compile(rf"(?<![\w@/.'’-])(?:{'|'.join(map(re.escape, _SHORT))})(?![\w@/.'’-])", re.IGNORECASE)
_NAMES_IS: Final = re.compile(r"\b(my|his|her|its) names (?=[a-z])")

_GOVERNS_LIST: Final = """
that where what who which when if because how why than as since until till before after like way while place city town
flat thing time day reason one think thinks thought say says said told know knows wish hope guess believe bet and but
so or do did am can could should would will have had was were people once unless whether make makes dreamt sure now
today whom whose though although yes no well oh ok okay hey hi not
"""
_GOVERNS: Final = frozenset(_GOVERNS_LIST.split())
"""Words behind which "i" begins no clause of its own, or one that needs no stop."""
_CLAUSE: Final = re.compile(
    r"\b([a-z0-9]+) (?=(?:i|i'm|i've|we|we're|we've) (?:live|lived|work|moved|study|speak|drive|have|got|am|just|joined|quit|left|was|use|adopted|in|from|at|\d+|\w+ing|\w+ed)\b)"
)
"""Where a clause begins with no stop before it."""
_VERBS: Final = r"(?=(?:live in|work (?:at|for)|moved (?:to|from)|started (?:at|working at)|study [a-z]+ at|joined|(?:got|have) a new job at) )"
_BEGINS: Final = re.compile(rf"^{_VERBS}")
_GOES_ON: Final = re.compile(rf"(?:(?<=, )|(?<= and ))(?:{_VERBS}|(?=married to ))")
"""Where a verb has lost its "i"."""
_ONE_ITSELF: Final = re.compile(r"(?:^|, )(?:(?:and|so|but|hi|hey|ok) )*(?:i|i'm|im|we)\b")
_AFTER_AGE: Final = re.compile(r"\b(i'm|i am) (\d{1,3}) (?=(?:live|work|married)\b)")
_MARRIED: Final = re.compile(
    r"(?<=[a-z]) (?=married to )(?<!i'm )(?<!am )(?<!got )(?<!be )(?<!is )(?<!are )(?<!was )(?<!were )(?<!get )(?<!been )(?<!getting )"
)


def written_out(text: str) -> str:
    """A sentence as its writer would have put it with time: in full words, with stops, "i" and capitals.

    One that has capitals inside it stays as it is.

    Args:
        text: With its apostrophes already.
    """
    if _INNER_CAPITAL.search(text):
        return text
    if text[:1].isupper():
        return with_capitals(text)
    full = _SHORT_WORD.sub(lambda word: _SHORT[word[0].lower()], text)
    full = _NAMES_IS.sub(r"\1 name's ", full)
    full = _CLAUSE.sub(_stopped, _BEGINS.sub("i ", _AFTER_AGE.sub(r"\1 \2, ", full)))
    if _ONE_ITSELF.search(full):
        full = _MARRIED.sub(", ", full)
        full = _GOES_ON.sub(lambda gap: "i'm " if full.startswith("married", gap.start()) else "i ", full)
    return with_capitals(full)


def _stopped(word: re.Match[str]) -> str:
    return f"{word[1]}{' ' if word[1] in _GOVERNS else ', '}"


def with_capitals(text: str) -> str:
    """A text with capitals where names stand, as long as it was; one that has capitals inside it stays as it is."""
    if _INNER_CAPITAL.search(text):
        return text
    low, letters = text.lower(), list(text)
    if len(low) != len(text):
        return text
    certain = not text[:1].isupper()
    for start, written in _named(low, certain=certain):
        letters[start : start + len(written)] = written
    return "".join(letters)


def _named(low: str, *, certain: bool) -> Iterator[tuple[int, str]]:
    """Where names stand in a text in small letters, each as it is written.

    Args:
        certain: Its writer sets no capitals at all, so that a word unknown to us may be a name.
    """
    yield from _people(low, certain=certain)
    yield from _places(low, certain=certain)
    yield from _workplaces(low, certain=certain)
    for form in (_LANGUAGES, _MAKES, _DATES, _STREETS):
        for match in form.finditer(low):
            for name in range(1, (form.groups or 0) + 1):
                if match[name]:
                    yield match.start(name), _brand(match[name]) if form is _MAKES else _title(match[name])


_WORD: Final = r"[a-zà-þ][a-zà-þ'-]+"
_STOP: Final = r"(?=[.,;!?)](?!\w)|$| )"
_VERB: Final = r"(?:is|was|has|had|lives|lived|works|worked|moved|got|turned|turns|started|starts|loves|likes|hates|wants|said|says|came|went|visited|called|told|studies|plays|drives|got|and i|'s|will)\b"
_KIN: Final = rf"(?:my|our) (?:(?:older|younger|little|big|eldest|twin|new|dear|lovely|old|baby|best|ex) )*(?:{RELATIONS}|nan|gran|grandad|granny|auntie|kid|baby|ex|partner|therapist|doctor|dentist|landlord|landlady|coach|nanny|sis|bro|twin)"
_PETS: Final = r"(?:dog|cat|puppy|kitten|parrot|hamster|rabbit|bunny|horse|pony|turtle|tortoise|snake|pup|kitty|budgie|canary|gecko|lizard|goldfish|goat)s?"
_NO_NAMES_LIST: Final = """
in on at to for with by from off out up away back over down home names a an the my our your his her their this that
not mad bad sick late again today tomorrow yesterday now also just still never always only really who whom whose which
and or but so if when as is was has are were be been being very too super quite group tongue figure board house car
dog cat job school birthday family friends friend place room phone work class law ship land country side life wedding
day time one two three mud listed spelled misspelled wrong hard long taken dead alive gone upset angry tired busy
pregnant right left nice kind great lovely old young big small beds crazy stupid boss everyone everybody someone
nobody something nothing it him them you me us i we they he she into onto about after before because since while there
here what how why where names-only out-of abroad nights days weekends
"""
_NO_NAMES: Final = frozenset(_NO_NAMES_LIST.split())
_CALLED: Final = re.compile(
    rf"(?:\b(?:(?:{_KIN}|he|she|it)(?:,? (?:who )?(?:is|are|was)|'s|,)|(?:my|our|a|an|the) (?:[a-z-]+ ){{0,2}}{_PETS}(?:,? (?:who )?(?:is|are|was)|'s)?),? (?:now )?(?:called|named) |\b(?:my|his|her|its) (?:full |real |first )?name(?:'s| is) )((?:(?:mr|mrs|ms|dr|prof) )?{_WORD})(?: and ({_WORD}))?{_STOP}"
)
"""Where a name is told for one: any word may be it."""
_OF_KIN: Final = re.compile(
    rf"\b(?:{_KIN}|(?:my|our) {_PETS})(?:,| is|'s)? ((?:(?:mr|mrs|ms|dr|prof) )?{_WORD}){_STOP}( {_VERB})?"
)
_PET: Final = re.compile(rf"\b(?:my|our) {_PETS}\b")
_BESIDE: Final = re.compile(
    rf"\b(?:married(?: to)?|engaged to|dating|seeing|going out with|broke up with|split up with|divorced|dumped|met|with|and|report to|answer to|from|by|(?:hi|hello|hey)(?: there)?,? (?:i'm|i am|this is)|(?:calls?|call) me|go by|does|did|is|has|was|do|will|can|know|knows|ask|asked|tell|told|for|to|of|than) (?=({_WORD})(?:'s|{_STOP}))"
)
"""Behind what a person's name may stand, if it is one."""
_AND_I: Final = re.compile(
    rf"(?:^|, |\bthat |\bbut |\bso |\bwhen |\bbecause )({_WORD})(?: and (?:i|my)\b|'s\b| {_VERB})"
)
"""Who opens a clause."""
_FAMILY: Final = re.compile(rf" ((?!(?:{BREAKS}|but|from|right|btw|lol|who|nice|please)\b){_WORD})(?=[.,;!]|$)")
"""A name of a family behind a first name that is told for one."""
_TITLED: Final = re.compile(rf"\b((?:mr|mrs|ms|dr|prof)\.? {_WORD})")


def _people(low: str, *, certain: bool) -> Iterator[tuple[int, str]]:
    for match in _CALLED.finditer(low):
        for group in (1, 2):
            word = match[group]
            if word and (certain or word in GIVEN) and word not in _NO_NAMES and not word.endswith("ing"):
                yield match.start(group), _title(word)
                if family := _FAMILY.match(low, match.end(group)):
                    yield family.start(1), _title(family[1])
    for match in _OF_KIN.finditer(low):
        word = match[1]
        unheard = (
            certain
            and match[2]
            and not _PET.search(match[0])
            and word not in COMMON_WORDS | _NO_NAMES
            and not word.endswith(_NO_NAME_ENDINGS)
        )
        if word in GIVEN or (word in GIVEN_WORDS and match[2]) or unheard or word.split()[0] in _TITLES:
            yield match.start(1), _title(word)
    for form in (_BESIDE, _AND_I):
        for match in form.finditer(low):
            if match[1] in GIVEN:
                yield match.start(1), _title(match[1])
    for match in _TITLED.finditer(low):
        if match[1].split()[1] not in COMMON_WORDS:
            yield match.start(1), _title(match[1])


_TITLES: Final = frozenset({"mr", "mrs", "ms", "dr", "prof"})
_NO_NAME_ENDINGS: Final = ("ing", "ly", "ed", "tion", "ment", "ness", "s")
"""Endings of words that are no names, as far as chats go: adverbs, participles, plurals."""

_LIVING: Final = r"(?:live|lives|living|lived|based|reside|renting|grew up|raised|born|settled|settled down|flat|house|place|home) (?:now |currently |alone |together |right now |back )*in|(?:moved|relocated|emigrated|shifted|moving)(?: (?:back|over|out|up|down|house|home|here|from [a-z]+(?: [a-z]+)?))* to|(?:i'm|we're|i am|we are) (?:originally )?from|moved from"
_PREPOSITION: Final = (
    r"(?:in|to|from|near|outside|around|of|is|called|left|visit|visiting|visited|via|for|at|love|miss|hello)"
)
_ENDS: Final = r"(?=[.,;!?)]|$| (?:now|and|with|since|these|at|but|last|in|for|this|right|btw|because|so|as|when|where|though|after|lol|again|who|which|from|on|my|i|we|is|to)\b)"
_SAINT: Final = re.compile(rf"\b{_PREPOSITION} (st {_WORD}){_STOP}")
_UNKNOWN_PLACE: Final = re.compile(
    rf"\b(?:(?:i|we)(?: (?:now|currently|still|just|both|both of us|also))* live|(?:i'm|we're|i am|we are)(?: (?:now|currently|still|just|also))* (?:living|based)|(?:i|we)(?: (?:just|recently|finally))? relocated) (?:in|to) ((?!(?:{NOT_PLACES})\b)[a-zà-þ]{{3,}}(?: (?!(?:{BREAKS}|right|btw|rn)\b)[a-zà-þ]{{3,}})?)(?=[.,;!]|$| (?:now|and|with|since|these|at|right|last|but)\b)"
)


@cache
def _any_of(names: str) -> re.Pattern[str]:
    known = {
        "places": rf"\b{_PREPOSITION} (?:(?:south|north|east|west|central|downtown) )?({_alternatives(PLACES)}){_STOP}",
        "homes": rf"\b(?:{_LIVING}) ({_alternatives(PLACE_WORDS)}){_ENDS}",
    }
    return re.compile(known[names])


def _alternatives(names: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(names, key=len, reverse=True)))


def _places(low: str, *, certain: bool) -> Iterator[tuple[int, str]]:
    forms = [_any_of("places"), _any_of("homes"), _SAINT, *([_UNKNOWN_PLACE] if certain else [])]
    for form in forms:
        for match in form.finditer(low):
            yield match.start(1), _title(match[1])


_WORKING: Final = r"(?:(?:work|works|working|worked)(?: (?:now|part[- ]time|full[- ]time|nights|remotely))? (?:at|for|with)|started(?: working| work| a (?:new )?job)? (?:at|with)|joined|rejoined|(?:job|position|internship|shift|shifts) (?:at|with)|hired (?:by|at)|employed (?:at|by)|quit|left|(?:i'm|i am) (?:now )?(?:at|with))"
_NO_WORKPLACES_LIST: Final = """
night nights home day days heights speed sea work school uni university college it least full peace weekends dawn desk
money free fun food myself him her them me us you people peanuts pay cash someone somebody nobody nothing now life
large length sixes loggerheads risk hospital weekend midnight noon dusk first last lunch dinner breakfast random a an
the my our your his their this that these those two three hours years months minutes what who which all half long ages
ever everyone everybody children kids clients charity women men older
"""
_NO_WORKPLACES: Final = frozenset(_NO_WORKPLACES_LIST.split())
_WORKPLACE: Final = re.compile(
    rf"\b(?:i|we|i'm|i've|and)(?: [a-z]+)?? (?:(?:work|working|worked)(?: (?:part[- ]time|full[- ]time))? (?:at|for)|hired by) ({_WORD})((?: (?!(?:{BREAKS}|part|full|right|btw|rn|nights|days)\b){_WORD})?)(?=[.,;!]|$| (?:now|and|as|in|since|part|full|right|last|but|with|nights|days|for|these)\b)"
)


@cache
def _at_work() -> re.Pattern[str]:
    return re.compile(rf"\b{_WORKING} ({_alternatives(WORKPLACES)}){_STOP}")


def _workplaces(low: str, *, certain: bool) -> Iterator[tuple[int, str]]:
    if certain:
        for match in _WORKPLACE.finditer(low):
            first = match[1]
            if first not in _NO_WORKPLACES and first not in COMMON_WORDS and not first.endswith("ing"):
                yield match.start(1), _title(match[1] + match[2])
    for match in _at_work().finditer(low):
        yield match.start(1), WORKPLACES[match[1]]


_MONTH: Final = "|".join(month.lower() for month in MONTHS)
_LANGUAGES: Final = re.compile(
    rf"\b(?:speak|speaks|spoke|learning|studying|language is|tongue is|fluent in|lessons in|some|in|know|and|,) ({'|'.join(name.lower() for name in LANGUAGE_NAMES if name[0].isupper())}){_STOP}"
)
_MAKES: Final = re.compile(
    rf"\b(?:a|an|my|our|the|new|used|second-hand|is|old) ((?:{'|'.join(make.lower() for make in CAR_MAKES)})(?: (?!(?:{BREAKS}|right|btw|rn)\b)[a-z0-9][\w-]*)?)(?=[.,;!?)]|$| (?:now|and|which|but|last|because|in|for|with|today|yesterday|since|btw)\b)"
    r"|\b((?:iphone|pixel|galaxy|nokia|fairphone|oneplus|samsung|xiaomi|huawei|motorola)(?: (?:galaxy )?[a-z]?\d{1,3}[a-z]?(?: (?:pro|max|plus|ultra|mini))*)?)\b"
)
_DATES: Final = re.compile(
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)?(?: of)? ({_MONTH})|({_MONTH}) \d{{1,2}}(?:st|nd|rd|th)?)\b"
)
_STREETS: Final = re.compile(
    rf"\b\d{{1,5}}[a-z]? ((?:{_WORD} ){{1,3}}(?:street|st|road|rd|avenue|ave|lane|close|drive|way|crescent|terrace|square))\b"
)


_SMALL: Final = frozenset({"the", "of", "and", "de", "la", "upon", "am", "van", "von", "der"})


def _title(name: str) -> str:
    """A name with capitals, as long as it was: "the hague" has one."""
    return " ".join(word if word in _SMALL else word[:1].upper() + word[1:] for word in name.split(" "))


def _brand(name: str) -> str:
    return "iPhone" + _title(name[6:]) if name.startswith("iphone") else _title(name)

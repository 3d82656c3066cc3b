# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""The English patterns of slots in one table, and what rules a sentence out."""

from __future__ import annotations

import re
from typing import Final

from mnemic.extract.patterns import PatternTable
from mnemic.extract.slots_en_life import LIVING, NAMING, REACHING, STUDYING, WORKING
from mnemic.extract.slots_en_people import OWNING, RELATING
from mnemic.extract.slots_en_tastes import AILING, DIET, LIKING, RIGHTING, SPEAKING
from mnemic.extract.slots_en_words import DIETS, SECOND_THOUGHT

_WORDS: Final = re.compile(r"[\w'-]+|@")
_GAPS: Final = re.compile(
    r"[.,;:!()—–…-]+ |\((?=(?:no|sorry|oops|wait|correction|actually|i mean)\b)|\b(?:and|but|so|because|since|as|though|although|then|now|today|yesterday|yes|no|well|oh|hey|lately|recently"
    r"|finally|honestly|currently|meanwhile|actually|fyi|ps|btw|turns out(?: that)?) "
    r"|(?:^|(?<=[.,;:!(–—…-] )|(?<=\()|(?<=\b(?:no|oh|ah) )|(?<=\b(?:wait|oops) ))(?:sorry|wait|oops) "
)
_LEAD: Final = re.compile(
    r"(?:as of|since|from|after|until|these|this|last|in|on|at|for|by) (?:[\w'.-]+ ){1,4}?(?=(?:i|we|i'm|we're|i've|we've|my|our|home|they|they've)\b)"
)


class English:
    """The English patterns that `slots` tries, where it tries them, and the words that rule a sentence out."""

    CUE: Final = re.compile(
        r"\b(?:i|we|my|our|me|us|home|first|mobile|been|moved|relocated|adopted|bought|sold|traded|swapped|freelance|settled|not|signed|living|quit|took|got|married|died|passed|dead|longer|spelled|spelt|ran|rehomed|put|back|relapsed|home|owner|gone|wasn't|isn't|lives|went|throat|lips|tongue|hives|gave|given|stopped|turned|born|day|working|no|nope|wait|sorry|oops|argh|correction|scratch|mean|meant|make|actually|new|eating|test|allergy|flew|wandered|never|changed)\b"
    )
    FRAMED: Final = re.compile(
        r"^(?:so )?say\b|^come \w+|^(?:one|another|just one|a few|two) (?:more )?.{1,60}? and (?:i|we)\b|\beither\b|\b(?:had|should|were|did|do|am|have|was|could|can|will|shall|would) (?:i|we)\b(?! both)"
        r"|\b(?:what if|if only|let's (?:say|assume|pretend)|dream(?:s|t|ed|ing)?|daydream\w*|fantasi[sz]\w+|in my fantas(?:y|ies)|horoscope|tarot|one of these days|kidding|joking|as a joke|lyrics|my character|the hero|the narrator"
        r"|hypothetically|picture (?:me|us|this)|in my head|rumou?r has it|gossip|figuratively|so to speak|practically|as good as|knock on wood|fingers crossed)\b"
        r"|\b(?:in|for|from) (?:a|an|my|the|another|some) (?:\w+ )?(?:dream|nightmare|novel|book|story|game|film|movie|life|universe|world|play|song|show|script|role-?play)\b"
        r"|\b(?:goes|wrote|writes|reads|texted|replied|shouts?|yells?|aloud|quote|sings?|sang|asks?) ?[:,]|(?:are|have|did|do|is|was)n't (?:i|we|it)\b"
    )
    """Dreamt, made up, quoted or asked, wherever in the sentence: nothing is stated."""
    _ASKED_BEHIND: Final = re.compile(
        r"(?:[,;] | [-–—] )(?:and |so |but )?(?:how|what|what's|whats|which|where|when|why|who|any idea how|any idea what)\b(?! if\b) (?:\w+ ){0,3}?(?:do|should|can|could|would|am|are|is) (?:i|we)\b.*$"
    )
    """A question typed behind a statement: "our flat in Leith is freezing, how do i bleed a radiator"."""
    UNSAID: Final = re.compile(
        r"\b(?:if|wish|would|pretend|imagin\w+|suppose|told me|says?|said|thinks?)\b.{0,60}?\b(?:i|my|we)\b|\bused to think\b"
        r"|\bi(?:'d| would| wouldn't)\b|\b(?:he|she|they|who)(?: \w+)? (?:said|says|asked|told)\b|\b(?:assum(?:e|ing)|some ?day|maybe|perhaps|probably|hopefully"
        r"|for all (?:you|i) know|i bet|i reckon|supposedly|allegedly|in theory|as though|not that|whether|until (?:i|we)|unless (?:i|we)|once (?:i|we)|the day (?:i|we)"
        r"|give (?:it|me)|guess|remind me|tell me|i forget|quiz|word is|at this rate|who knows|i suppose|might as well|according to|convinced|believes?"
        r"|in (?:\w+ )?(?:\d+|two|three|five|ten|twenty) years(?! now\b)|by (?:then|next \w+|easter|christmas|thirty|forty|the time)|say (?:i|we)(?:'m|'re| had| am))\b"
    )
    """Supposed, hoped for or reported, up to the end of the clause: that clause states nothing."""
    TAKEN_BACK: Final = re.compile(rf"(?:^|[,;.!?…–—-] ?|\s)(?:{SECOND_THOUGHT})[,.:!…-]* (?:actually,? )?$")
    """Takes back what was said right before."""
    DIAGNOSIS: Final = re.compile(
        r"(?:\b(?:(?:ugh|argh|sigh|damn) )?(?:my|the|our|a) (?:\w+ )?|(?:^|(?<=[,;:.!?…–—-] )|\b(?:ugh|argh|sigh|damn|and|so|but|well|now|then|today|yesterday|because) ))(?:doctor|doc|gp|allergist|specialist|dermatologist|paediatrician|clinic|hospital) (?:now )?(?:says?|said|told me|confirmed|reckons)(?: that)? (?=(?:i'm|i am) (?:no longer|not|(?:(?:actually|really|indeed|definitely|still) )?allergic) )",
        re.IGNORECASE,
    )
    """Who says of something of which they should know that it is over, or that it is so; not the doctor of another."""
    CONCLUSION: Final = re.compile(
        rf"\b(?:(?:i|we) )?(?:guess|suppose) (?=(?:i'm|i am|we're|we are|(?:that |it )?makes (?:me|us))(?: (?:now|just|officially|basically|technically|pretty much|more of|an?))* {DIETS}\b(?!.*\b(?:if|unless|until|when)\b))",
        re.IGNORECASE,
    )
    """How somebody calls the diet that they keep, for want of a better word: what follows is so."""
    AHEAD: Final = re.compile(
        r"\b(?:tomorrow|next (?:week|month|year|term|spring|summer|autumn|fall|winter|(?:mon|tues|wednes|thurs|fri|satur|sun)day|[A-Z][a-z]+|january|february|march|april|may|june|july|august|september|october|november|december)|soon|will|going to"
        r"|gonna|about to|in the new year|planning|plan to)\b|'ll\b"
    )
    """What is yet to come: a plan, and no fact until it has come."""
    NOTHING: Final = re.compile(
        r"(?i)(?:me|you|it|that|this|him|her|them|one|home|there|here|god|everyone|today|tomorrow|yesterday|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
        r"|january|february|march|april|may|june|july|august|september|october|november|december|christmas|fun|lot|lots|stuff|things?|what|being|i|we|he|she|mr|mrs|ms|miss|dr|prof|sir|st)"
    )
    LOOSE_END: Final = re.compile(
        r"(?i)(?:,? (?:now|again|any ?more|any longer|these days|today|yesterday|at the moment|too|as well|either|already|currently|so far|though|lately"
        r"|instead|please|sorry|anyway|at all|sadly|unfortunately|luckily|apparently|annoyingly))+$"
    )
    """What is said after a value and is none of it."""
    TABLE: Final = PatternTable(
        (
            *NAMING,
            *LIVING,
            *WORKING,
            *STUDYING,
            *REACHING,
            *RELATING,
            *OWNING,
            *DIET,
            *LIKING,
            *AILING,
            *SPEAKING,
            *RIGHTING,
        )
    )

    @classmethod
    def is_framed(cls, lower: str) -> bool:
        """Whether a sentence is dreamt, made up, quoted or asked, and not only its last clause."""
        return cls.FRAMED.search(cls._ASKED_BEHIND.sub("", lower)) is not None

    @classmethod
    def is_ahead(cls, _low: str, _match: re.Match[str], clause: str) -> bool:
        """Whether a statement is of what is yet to come, as its clause tells."""
        return cls.AHEAD.search(clause) is not None

    @staticmethod
    def words(lower: str) -> set[str]:
        """Split a sentence in lower case into what cues are looked for among."""
        return set(_WORDS.findall(lower))

    @staticmethod
    def starts(lower: str) -> list[int]:
        """Find where a clause of a sentence may begin."""
        lead = _LEAD.match(lower)
        return sorted({0, *(gap.end() for gap in _GAPS.finditer(lower)), *([lead.end()] if lead else [])})

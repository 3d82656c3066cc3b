# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""How people state simple facts about themselves in English."""

from __future__ import annotations

import re
from typing import Final

from mnemic.extract.patterns import SlotPattern

_NAME: Final = r"[A-Z](?:[\w-]|'[A-Z])*(?: (?:(?:de|da|van|von|der|bin|al|la|of|the) )?[A-Z](?:[\w-]|'[A-Z])*){0,3}"
_PLACE: Final = r"(?:the )?[A-Z][\w'-]*(?: [A-Z][\w'-]*){0,2}(?:, [A-Z][\w'-]*(?: [A-Z][\w'-]*)?)?"
_AT: Final = r"(?:^|(?<=[.,;:!(—–-] )|(?<=\band )|(?<=\bbut )|(?<=\bso )|(?<=\bbecause )|(?<=\bsince )|(?<=\bas ))"
"""Where a clause may begin: "my sister thinks I live in Rome" does not state it."""
_I: Final = rf"(?i:{_AT}i)"
_AM: Final = rf"(?i:{_AT}i(?:'m| am)(?: (?:currently|now|still|actually|just|also|originally))*)"
_OFTEN: Final = r"(?i:(?: (?:currently|now|still|just|also|really|absolutely|totally|truly|recently|have|'ve))*)"
_DATE: Final = (
    r"(?:[A-Z][a-z]{2,8}\.? \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?|(?:the )?\d{1,2}(?:st|nd|rd|th)?(?: of)? [A-Z][a-z]{2,8}"
    r"(?:,? \d{4})?|\d{4}-\d{1,2}-\d{1,2}|(?:19|20)\d{2})(?!\w)"
)
_RELATIONS: Final = (
    "husband|wife|partner|boyfriend|girlfriend|fiancé|fiancée|fiance|fiancee|spouse|mother|mom|mum|father|dad|sister|brother|son"
    "|daughter|grandmother|grandma|grandfather|grandpa|aunt|uncle|cousin|niece|nephew|roommate|flatmate|boss|colleague"
    "|coworker|best friend|friend|neighbour|neighbor|teacher|twin"
)
_CALLED: Final = {
    "husband": "partner", "wife": "partner", "boyfriend": "partner", "girlfriend": "partner", "fiancé": "partner",
    "fiancée": "partner", "fiance": "partner", "fiancee": "partner", "spouse": "partner", "mom": "mother", "mum": "mother",
    "dad": "father", "grandma": "grandmother", "grandpa": "grandfather", "neighbor": "neighbour", "coworker": "colleague",
    "flatmate": "roommate", "best friend": "friend",
}  # fmt: skip
_PETS: Final = "dog|cat|puppy|kitten|parrot|hamster|rabbit|bunny|horse|turtle|snake|pup|kitty|guinea pig|goldfish"
_JOBS_WORDS: Final = """
teacher engineer developer nurse doctor lawyer designer writer author artist student musician singer chef cook baker
barista waiter waitress manager director consultant accountant analyst scientist researcher professor lecturer tutor
programmer architect electrician plumber carpenter mechanic driver pilot farmer gardener florist photographer
journalist editor translator interpreter therapist psychologist psychiatrist counselor counsellor dentist pharmacist
veterinarian vet paramedic firefighter soldier officer detective librarian historian biologist chemist physicist
economist banker cashier clerk secretary receptionist assistant administrator trader broker realtor hairdresser
barber tailor actor actress dancer choreographer composer filmmaker producer blogger streamer youtuber coach trainer
athlete surgeon physiotherapist midwife optician illustrator animator marketer salesperson salesman entrepreneur
freelancer contractor plumber welder builder miner fisherman sailor postman courier judge politician diplomat priest
pastor technician statistician mathematician geologist astronomer linguist philosopher curator sculptor painter
potter
"""
_JOBS: Final = _JOBS_WORDS.split()
_JOB: Final = rf"(?:[a-z-]+ ){{0,3}}(?:{'|'.join(_JOBS)})"
_LANGUAGE: Final = (
    r"(?:English|French|Spanish|German|Italian|Portuguese|Chinese|Mandarin|Cantonese|Japanese|Korean|Dutch|Polish|Russian"
    r"|Ukrainian|Arabic|Hebrew|Hindi|Urdu|Bengali|Tamil|Turkish|Greek|Swedish|Norwegian|Danish|Finnish|Czech|Hungarian"
    r"|Romanian|Thai|Vietnamese|Indonesian|Malay|Swahili|Persian|Farsi|Catalan|Irish|Welsh|ASL)"
)
_THING: Final = (
    r"(?!(?:it|that|this|these|those|the|a|an|you|your|how|when|what|to|his|her|him|them|their|my|our|me|us|all|being|having"
    r"|everything|seeing|hearing|watching you|every|both|one|some|any|such|there|where|why|who|both|but|and|so|which|especially|then|we|i)\b)"
    r"[a-z][\w-]*(?: (?!(?:and|because|when|but|so|since|as|that|if|too|more|most|which|such|now|especially|it|this|these|them|him|her|you|your|even)\b)[\w'-]+){0,4}"
)
_STOP: Final = r"(?=[.,;!?)]|$| (?:but|because|since|so|too|very much|a lot|when|as|such as|like|and (?:i|it|we|that|they|then))\b| -)"


class English:
    """The English patterns that `slots` matches, and the words that rule a sentence out."""

    CUE: Final = re.compile(r"\b(?:i|we|my)\b")
    UNSAID: Final = re.compile(
        r"(?i)\b(?:if|wish|would|used to|pretend|imagin\w+|suppose|dreamed|dreamt|told me|said|says|thinks?)\b.{0,60}?\b(?:i|my)\b"
        r"|\bi(?:'d| would| wouldn't)\b|\b(?:he|she|they)(?: \w+)? (?:said|says|asked|told)\b"
    )
    """Hypothetical, past or reported: nothing is stated."""
    NOTHING: Final = re.compile(
        r"(?i)(?:me|you|it|that|this|him|her|them|one|home|there|here|god|everyone|today|tomorrow|yesterday|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
        r"|january|february|march|april|may|june|july|august|september|october|november|december|christmas|fun|lot|lots|stuff|things?)"
    )
    STATEMENTS: Final = (
        SlotPattern("name", rf"(?i:{_AT}my (?:full |real |first )?name(?:'s| is)) (?P<value>{_NAME})", needs=("name", "i'm", "i am")),
        SlotPattern("name", rf"(?i:^(?:hi|hello|hey)[^.!?]{{0,20}}?[,!.]? i(?:'m| am)) (?P<value>{_NAME})(?=[.,!]|$| and | from )", needs=("name", "i'm", "i am")),
        SlotPattern("age", rf"{_AM} (?P<value>\d{{1,3}})(?i:(?: years? old| y/?o\b)|(?=[.,!]|$| and ))", needs=("year", "i'm", "i am", "turned", "y/o", "yo")),
        SlotPattern("age", rf"{_I}(?i:{_OFTEN} turned) (?P<value>\d{{1,3}})(?! ?(?:%|:|degrees|km|miles))\b", needs=("year", "i'm", "i am", "turned", "y/o", "yo")),
        SlotPattern("birthday", rf"(?i:{_AT}my birthday(?:'s| is)(?: on)?) (?P<value>{_DATE})", needs=("birthday", "born")),
        SlotPattern("birthday", rf"{_I}(?i: was born (?:on|in)) (?P<value>{_DATE})", needs=("birthday", "born")),
        SlotPattern("city", rf"{_I}{_OFTEN}(?i: live in) (?P<value>{_PLACE})", needs=(" live ", " living ", " based ", " moved ", " relocated ")),
        SlotPattern("city", rf"{_AM}(?i: (?:based|living) in) (?P<value>{_PLACE})", needs=(" live ", " living ", " based ", " moved ", " relocated ")),
        SlotPattern("city", rf"{_I}(?i:(?:'ve)?{_OFTEN} (?:moved|relocated)(?: back)?(?: from {_PLACE})? to) (?P<value>{_PLACE})", begins=True, needs=(" live ", " living ", " based ", " moved ", " relocated ")),
        SlotPattern("origin", rf"{_AM}(?i: from) (?P<value>{_PLACE})(?! to\b)", needs=(" from ", " grew up ", " raised ", " home ")),
        SlotPattern("origin", rf"{_I}(?i: (?:grew up|was raised) in) (?P<value>{_PLACE})", needs=(" from ", " grew up ", " raised ", " home ")),
        SlotPattern("origin", rf"(?i:{_AT}my home (?:country|town)(?: is|,)?) (?P<value>{_PLACE})", needs=(" from ", " grew up ", " raised ", " home ")),
        SlotPattern("employer", rf"{_I}{_OFTEN}(?i: work (?:at|for)) (?P<value>{_NAME})", needs=(" work ", " working ", " employed ", " joined ", " started ")),
        SlotPattern("employer", rf"{_AM}(?i: (?:working|employed) (?:at|for|by)) (?P<value>{_NAME})", needs=(" work ", " working ", " employed ", " joined ", " started ")),
        SlotPattern("employer", rf"{_I}(?i:(?:'ve)?{_OFTEN} (?:joined|started (?:working |a (?:new )?job )?at)) (?P<value>{_NAME})", begins=True, needs=(" work ", " working ", " employed ", " joined ", " started ")),
        SlotPattern("job", rf"{_AM} (?:a|an) (?P<value>{_JOB})\b(?! (?:of|at heart|myself|who|for (?:the|a) (?:day|night)))", needs=("i'm a", "i am a", " a ", " an ")),
        SlotPattern("job", rf"{_I}{_OFTEN}(?i: work as) (?:a|an) (?P<value>[a-z-]+(?: [a-z-]+){{0,3}}){_STOP}", begins=True, needs=(" work as",)),
        SlotPattern("school", rf"{_I}{_OFTEN}(?i: (?:study|go to school|go to college)(?: [a-z]+){{0,3}} at) (?P<value>(?:the )?{_NAME})", needs=(" at ", " from ")),
        SlotPattern("school", rf"{_AM}(?i: (?:studying(?: [a-z]+){{0,3}}|(?:a |an )?(?:[a-z-]+ )?(?:student|freshman|sophomore|senior|junior)) at) (?P<value>(?:the )?{_NAME})", needs=(" at ", " from ")),
        SlotPattern("school", rf"{_I}(?i:{_OFTEN} graduated from) (?P<value>(?:the )?{_NAME})", begins=True, needs=(" at ", " from ")),
        SlotPattern("", rf"(?i:\bmy (?:older |younger |little |big |eldest |twin |new |ex-)?(?P<slot>{_RELATIONS}))(?:,? |(?i:'s name is |,? (?:whose name is|(?:is )?(?:called|named)) ))(?P<value>{_NAME})", words=tuple(_CALLED.items()), needs=("my ",)),
        SlotPattern("pet", rf"(?i:\bmy (?:\w+ )?(?P<slot>{_PETS}))(?:,? |(?i:'s name is |,? (?:is )?(?:called|named) ))(?P<value>{_NAME})", shown="{value} ({slot})", needs=("my ", " have ", " had ", " got ", " adopted ", " own ")),
        SlotPattern("pet", rf"(?i:\b(?:i|we)(?:'ve| have)?(?: just| also)? (?:have|had|got|adopted|own) (?:a|an|another) (?:[a-z-]+ ){{0,3}}(?P<slot>{_PETS}),? (?:named|called)) (?P<value>{_NAME})", shown="{value} ({slot})", needs=("my ", " have ", " had ", " got ", " adopted ", " own ")),
        SlotPattern("", rf"(?i:{_AT}my (?P<slot>favou?rite \w+(?: \w+)?)(?:'s| is| are)) (?P<value>(?!(?:when|how|that|to|probably|definitely|so|the one)\b)[\w'-]+(?: (?!because|and|but)[\w'-]+){{0,4}}){_STOP}", needs=("favo",)),
        SlotPattern("likes", rf"{_I}{_OFTEN}(?i: (?:love|like|enjoy|adore)) (?P<value>{_THING}(?:(?:, {_THING})*,? and {_THING})?){_STOP}", many=True, needs=(" love ", " like ", " enjoy ", " adore ")),
        SlotPattern("dislikes", rf"{_I}{_OFTEN}(?i: (?:hate|dislike|can't stand|cannot stand|don't (?:really )?like|do not like)) (?P<value>{_THING}(?: and {_THING})?){_STOP}", many=True, needs=(" hate ", " dislike ", " stand ", " like ")),
        SlotPattern("allergy", rf"{_AM}(?i:(?: \w+ly)? allergic to) (?P<value>(?!(?:this|that|it|the)\b)[\w-]+(?: (?!and|so|but|or)[\w-]+)?(?:(?:, [\w-]+)*,? and (?!i\b|my\b|it\b)[\w-]+)?)", many=True, needs=("allerg",)),
        SlotPattern("allergy", rf"{_I}(?i:{_OFTEN} have (?:a|an)(?: severe| bad| mild)?) (?P<value>[\w-]+(?: [\w-]+)?) (?i:allergy)", needs=("allerg",)),
        SlotPattern("diet", rf"{_AM}(?i:(?: a| going)*) (?P<value>(?i:vegan|vegetarian|pescatarian|lactose[ -]intolerant|gluten[ -](?:free|intolerant)|coeliac|celiac|diabetic))\b", needs=("veg", "pesc", "lactose", "gluten", "celiac", "coeliac", "diabet")),
        SlotPattern("native_language", rf"(?i:{_AT}my (?:native|first|mother) (?:language|tongue) is) (?P<value>{_LANGUAGE})", needs=("my native", "my first", "my mother")),
        SlotPattern("language", rf"{_I}{_OFTEN}(?i: speak(?: (?:some|fluent|a (?:bit|little)(?: of)?))?) (?P<value>{_LANGUAGE}(?:(?:, {_LANGUAGE})*,? and {_LANGUAGE})?)", many=True, needs=(" speak", " fluent")),
        SlotPattern("language", rf"{_AM}(?i: fluent in) (?P<value>{_LANGUAGE}(?:(?:, {_LANGUAGE})*,? and {_LANGUAGE})?)", many=True, needs=(" speak", " fluent")),
        SlotPattern("e-mail", r"(?i:\bmy (?:\w+ )?e-?mail(?: address)?(?:'s| is|:)) (?P<value>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)", needs=("@",)),
    )  # fmt: skip

# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""The parts that English statements are made of: who speaks, names, places, things; templates become patterns here."""

from __future__ import annotations

import re
from typing import Any, Final

from mnemic.extract.patterns import SlotPattern

_ADVERBS: Final = (
    "(?: (?:currently|now|still|just|also|really|actually|finally|recently|officially|already|happily|both|mostly|usually|mainly"
    "|newly|originally|absolutely|totally|truly|definitely|always|only|then|so|proudly|mildly|severely|terribly"
    "|badly|highly|deathly|quite|strictly|fully|once|suddenly|all|have|'ve|these days|at last|at the moment|in fact|as well)){0,3}"
)
_NAME: Final = r"(?-i:[A-ZÀ-Þ](?:[\w&-]|'[A-Z])*(?: (?:(?:de|da|van|von|der|den|bin|al|la|of|the|and|&) ){0,2}[A-ZÀ-Þ](?:[\w&-]|'[A-Z])*){0,3})(?!\w)"
_PERSON: Final = r"(?-i:[A-ZÀ-Þ](?:[\w-]|'[A-Z])*(?: (?:(?:de|da|van|von|der|den|bin|al|la) ){0,2}[A-ZÀ-Þ](?:[\w-]|'[A-Z])*){0,3}(?!\w| & [A-ZÀ-Þ]\w))"
_NO_PLACES: Final = "Uni|University|Slack|Teams|Zoom|Notion|Linux|Android|Windows|Gmail|Outlook|Discord|Telegram|Bluesky|Mastodon|Chrome|Firefox|GitHub|Spotify|Netflix"
"""What people move to that is no place."""
_JOINED_PLACES: Final = "Trinidad and Tobago|Antigua and Barbuda|Bosnia and Herzegovina|Saint Kitts and Nevis|Brighton and Hove|Tyne and Wear"
"""Places that have an "and" in their names."""
_PLACE: Final = (
    rf"(?:(?!(?:{_NO_PLACES})\b)"
    rf"(?:(?-i:{_JOINED_PLACES}|(?:the )?[A-ZÀ-Þ][\w'-]*(?: (?!(?:I|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|Christmas|Easter)\b)(?:(?:am|de|del|la|upon|on|of|the) )?[A-ZÀ-Þ][\w'-]*){{0,2}}(?:, (?!(?:I|We|My|But|And|So|It|The|Not)(?:\b|'))[A-ZÀ-Þ][\w'-]*(?: [A-ZÀ-Þ][\w'-]*)?)?)"
    r"(?!\w| (?:inc|ltd|corp|labs?|university|college|bank|group|gmbh)\b)))"
)
SECOND_THOUGHT: Final = (
    "no|nope|wait|sorry|oops|correction|scratch that|i meant?|my (?:mistake|bad)|hang on|hold on|i misspoke"
)
"""How somebody takes back what they just said, or halts to do so."""
RELATIONS: Final = (
    "husband|wife|partner|boyfriend|girlfriend|fiancé|fiancée|fiance|fiancee|spouse|mother|mom|mum|father|dad|sister|brother|son"
    "|daughter|grandmother|grandma|grandfather|grandpa|aunt|uncle|cousin|niece|nephew|roommate|flatmate|housemate|boss|manager"
    "|supervisor|colleague|coworker|other half|better half|missus|hubby|lad|nan|nana|gran|granny|grandad|granddad|mam|sis|bro|best friend|best mate|friend|neighbour|neighbor|teacher|tutor|twin"
)
CALLED: Final = {
    "husband": "partner", "wife": "partner", "boyfriend": "partner", "girlfriend": "partner", "fiancé": "partner",
    "fiancée": "partner", "fiance": "partner", "fiancee": "partner", "spouse": "partner", "mom": "mother", "mum": "mother",
    "dad": "father", "grandma": "grandmother", "grandpa": "grandfather", "neighbor": "neighbour", "coworker": "colleague",
    "flatmate": "roommate", "housemate": "roommate", "best friend": "friend", "best mate": "friend", "manager": "boss",
    "supervisor": "boss", "other half": "partner", "better half": "partner", "missus": "partner", "hubby": "partner",
    "lad": "son", "nan": "grandmother", "nana": "grandmother", "gran": "grandmother", "granny": "grandmother",
    "grandad": "grandfather", "granddad": "grandfather", "mam": "mother", "sis": "sister", "bro": "brother",
}  # fmt: skip
PETS: Final = (
    "dog|cat|puppy|kitten|parrot|hamster|rabbit|bunny|horse|pony|turtle|tortoise|snake|pup|kitty|guinea pig|goldfish|budgie|canary"
    "|ferret|gecko|lizard|axolotl|greyhound|labrador|poodle|beagle|terrier|collie|spaniel|corgi|goat|donkey|hedgehog|chinchilla"
)
_JOB_WORDS: Final = """
teacher engineer developer nurse doctor lawyer designer writer author artist student musician singer chef cook baker
barista waiter waitress manager director consultant accountant analyst scientist researcher professor lecturer tutor
programmer architect electrician plumber carpenter mechanic driver pilot farmer gardener florist photographer
journalist editor translator interpreter therapist psychologist psychiatrist counselor counsellor dentist pharmacist
veterinarian vet paramedic firefighter soldier officer detective librarian historian biologist chemist physicist
economist banker cashier clerk secretary receptionist assistant administrator trader broker realtor hairdresser
barber tailor actor actress dancer choreographer composer filmmaker producer blogger streamer youtuber coach trainer
athlete surgeon physiotherapist midwife optician illustrator animator marketer salesperson salesman entrepreneur
freelancer contractor welder builder miner fisherman sailor postman courier judge politician diplomat priest
pastor technician statistician mathematician geologist astronomer linguist philosopher curator sculptor painter
potter porter beekeeper paralegal bartender butcher bookkeeper archivist headteacher headmaster conductor warden
roofer joiner printer publisher ranger stewardess steward caretaker cleaner carer nanny babysitter apprentice trainee
intern lead supervisor foreman
"""
_ONES_WORDS: Final = "one two three four five six seven eight nine"
_TEENS_WORDS: Final = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS_WORDS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_ONES, _TEENS, _TENS = (words.split() for words in (_ONES_WORDS, _TEENS_WORDS, _TENS_WORDS))
AGE_WORDS: Final = rf"(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_ONES)}))?|{'|'.join(_TEENS)}"
AGE_CUES: Final = " ".join((*_TEENS, *_TENS, *(f"{ten}-{one}" for ten in _TENS for one in _ONES)))
_LANGUAGE_LIST: Final = (
    r"English|French|Spanish|German|Italian|Portuguese|Chinese|Mandarin|Cantonese|Japanese|Korean|Dutch|Polish|Russian"
    r"|Ukrainian|Arabic|Hebrew|Hindi|Urdu|Bengali|Tamil|Turkish|Greek|Swedish|Norwegian|Danish|Finnish|Czech|Hungarian"
    r"|Romanian|Thai|Vietnamese|Indonesian|Malay|Swahili|Persian|Farsi|Catalan|Irish|Welsh|ASL|Gujarati|Punjabi|Marathi|Telugu"
    r"|Basque|Galician|Flemish|Croatian|Serbian|Bosnian|Slovak|Slovene|Slovenian|Bulgarian|Lithuanian|Latvian|Estonian|Icelandic"
    r"|Tagalog|Nepali|Yiddish|Esperanto|Latin|Gaelic|Breton|Maltese|Albanian|Georgian|Armenian|Afrikaans|Zulu|Xhosa|Yoruba|Igbo"
    r"|Hausa|Amharic|Somali|Mongolian|Tibetan|Uyghur|Hokkien|Hakka|Shanghainese|Khmer|Lao|Burmese|Sinhala|sign language"
)
LANGUAGE_NAMES: Final = _LANGUAGE_LIST.split("|")
_LANGUAGE: Final = f"(?:{_LANGUAGE_LIST})"
_CONDITION: Final = (
    r"(?:(?:type [12] |severe |mild |chronic |bad |seasonal |high |low |seasonal |rheumatoid )?(?:asthma|diabetes|epilepsy|migraines?|arthritis|eczema|psoriasis"
    r"|hay fever|insomnia|anxiety|depression|adhd|add|autism|dyslexia|dyspraxia|tinnitus|anaemia|anemia|blood pressure|cholesterol"
    r"|hypertension|iron|coeliac disease|celiac disease|crohn's(?: disease)?|ibs|gout|vertigo|scoliosis|sciatica|endometriosis|pcos|copd"
    r"|glaucoma|cataracts|lupus|ms|multiple sclerosis|parkinson's|cancer|hypothyroidism|hyperthyroidism|osteoporosis|sleep apn(?:o)?ea"
    r"|narcolepsy|haemophilia|hemophilia|angina|fibromyalgia|a heart condition|a heart murmur|a pacemaker|a bad (?:back|knee|hip|shoulder|ankle)))"
)
_IS_CONDITION: Final = (
    r"(?:(?:a )?(?:type [12] )?(?:diabetic|asthmatic|epileptic|an(?:a)?emic|dyslexic|autistic|colou?r[ -]?blind|pregnant|coeliac|celiac"
    r"|hypertensive|deaf|blind|deaf in (?:one|my left|my right) ear|blind in (?:one|my left|my right) eye|hard of hearing|short-sighted|near-sighted"
    r"|long-sighted|insomniac|hypoglyc(?:a)?emic|immunocompromised))"
)
DIETS: Final = (
    r"(?:(?:a |an )?(?:(?:vegan|vegetarian|pesc[ae]tarian|flexitarian)(?=s?\b)|lactose[ -]intolerant|gluten[ -](?:free|intolerant)|dairy[ -]free|plant-based"
    r"|keto|kosher|halal|paleo|low[ -]carb|low[ -]salt|sugar[ -]free|raw food|carnivore|omnivore|teetotal|teetotaller|teetotaler))"
)
_CAR_LIST: Final = (
    r"Tesla|Toyota|Honda|Ford|Skoda|Škoda|Volkswagen|VW|BMW|Audi|Mercedes|Volvo|Fiat|Renault|Peugeot|Citro[eë]n|Opel|Seat|Kia|Hyundai"
    r"|Mazda|Nissan|Subaru|Suzuki|Lexus|Jeep|Dacia|Mini|Porsche|Saab|Chevrolet|Chevy|Dodge|Buick|Cadillac|Jaguar|Land Rover|Mitsubishi|BYD|Polestar"
    r"|Fiesta|Octavia|Golf|Polo|Prius|Corolla|Civic"
)
CAR_MAKES: Final = _CAR_LIST.split("|")
_CARS: Final = rf"(?-i:(?:{_CAR_LIST})(?: [A-Z0-9][\w-]*){{0,3}})"
_PHONES: Final = r"(?-i:(?:iPhone|Pixel|Galaxy|Samsung|Nokia|Fairphone|OnePlus|Xiaomi|Huawei|Motorola|Oppo|Sony Xperia|Xperia)(?: [A-Z0-9][\w+-]*){0,3})"
_STREET: Final = r"(?:(?:flat|apartment|apt|unit) ?\w{1,4},? )?\d{1,5}[a-z]? (?-i:[A-ZÀ-Þ][\w'-]*(?: [A-ZÀ-Þ][\w'-]*){0,3}(?:, (?!(?:I|We|My|But|And|So|It|The|Not)(?:\b|'))[A-ZÀ-Þ][\w'-]*(?: [A-ZÀ-Þ][\w'-]*)?)?)"
_DATE: Final = (
    r"(?-i:[A-Z][a-z]{2,8}\.? \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?|(?:the )?\d{1,2}(?:st|nd|rd|th)?(?: of)? [A-Z][a-z]{2,8}"
    r"(?:,? \d{4})?|\d{4}-\d{1,2}-\d{1,2}|(?:19|20)\d{2})(?!\w)"
)
NOT_PLACES: Final = (
    "a|an|the|my|our|your|his|her|their|this|that|these|those|one|two|some|any|such|every|constant|total|perpetual|fear|hope|peace|harmony|luxury|poverty|sin"
    "|chaos|denial|exile|squalor|comfort|silence|isolation|solitude|uncertainty|interesting|hard|dark|different|another|town|here|there|shared|student|halls"
    "|sweatpants|pyjamas|pajamas|jeans|leggings|two|three|four|five|temporary|student|council|separate|same|what|where|close|near|both|between"
    "|reality|limbo|theory|dread|faith|darkness|oblivion|bliss|debt|pain|sorrow|agony|shame|awe|style|general|love|trouble|doubt|anger|awe|luck|vain|pieces|tatters|ruins|bits|need|want|my|bed"
)
_BREAKS_WORDS: Final = """
and or but because since so when while as if though although that which who whom whose where then for from until till with
without after before by than now anymore again these this last next too either instead at on in to i we you he she they it
it's is are was were has have had will would if any because not i'm we're i've today yesterday lately currently despite
although whenever however about into onto up down out off over every any nowadays
"""
BREAKS: Final = "|".join(dict.fromkeys(_BREAKS_WORDS.split()))
_NOT_FIRST: Final = (
    "it|that|this|these|those|you|your|how|when|what|to|his|her|him|them|their|me|us|all|being|having|everything|seeing|hearing"
    "|every|both|one|some|any|such|there|where|why|who|but|and|so|which|especially|then|we|i|as|if|in|at|on|by|with|not|no|very|too"
)
_THING_FIRST: Final = (
    r"(?!(?:it|that|this|these|those|the|a|an|you|your|how|when|what|to|his|her|him|them|their|my|our|me|us|all|being|having"
    r"|everything|seeing|hearing|watching you|every|both|one|some|any|such|there|where|why|who|both|but|and|so|which|especially|then|we|i)\b)"
)
_THING: Final = (
    rf"{_THING_FIRST}(?-i:[a-z][\w-]*|[A-Z][\w-]*(?= [a-z]))(?: (?!(?:and|because|when|but|so|since|as|that|if|too|more|most|which|such|now|especially|it|this"
    r"|these|them|him|her|you|your|even|any|anymore|anyway|any more|is|are|was)\b)\w[\w'-]*){0,4}"
)
_END: Final = (
    r"(?=[.,;:!?()]|…|$| (?:but|because|since|so|too|very much|a lot|when|as|such as|like|now|again|any ?more|any longer|these days|though|anyway"
    r"|and (?:i|it|we|that|they|then|my|our|there|can|am|still|have))\b| [-—–])"
)
_WORD: Final = rf"(?!(?:{BREAKS})\b)[\w'&+/-]+"
_FIRST: Final = rf"(?!(?:{_NOT_FIRST})\b)[\w'&+/-]+"
_PHRASE: Final = rf"{_FIRST}(?: {_WORD}){{0,5}}(?!-?\w)"

_POSSESSIVE: Final = (
    r"(?:'s(?:(?=[.,;:!?()]|…|$| (?:as|in|on|since|for|now|and|but|because|so|these|from|part|full|at|near|every|again)\b)"
    r"| (?:(?-i:[A-Z]\w+) )?(?:college|school|hospital|hospice|university|church|bakery|restaurant|kitchen|books|court|house|bank)\b)"
    r"|(?=(?-i:'s (?:[A-Z]\w+ )?)(?:office|branch|headquarters|hq|store|depot|warehouse|site|labs?)\b)"
    r"|(?!'s|(?-i: (?:& )?[A-ZÀ-Þ])))"
)
"""The end of a name that is somebody's: St Anne's, King's College; no name ends before it, as "Anna's dad" is none."""

_TOKENS: Final = {
    "<I>": rf"(?:i|we(?: both| all)?)(?:'ve| have)?{_ADVERBS}",
    "<AM>": rf"(?:i(?:'m| am)|we(?:'re| are))(?: both| all)?{_ADVERBS}",
    "<BEEN>": rf"(?:i|we)(?:'ve| have) been{_ADVERBS}",
    "<MY>": r"(?:my|our)(?: (?:new|current|own|dear|old|poor|little|big|older|younger|lovely|present))?",
    "<IS>": rf"(?:'s| is| are|'re){_ADVERBS}",
    "<NOT>": r"(?:no longer|not any ?more)",
    "<DONT>": r"(?:don't|do not|can't|cannot|won't|no longer|never)",
    "<NAME>": rf"(?P<value>(?:the )?{_NAME})",
    "<FIRM>": rf"(?P<value>(?:the )?(?:(?-i:St)\.? )?{_NAME}{_POSSESSIVE})",
    "<PERSON>": rf"(?P<value>{_PERSON})",
    "<ANYONE>": _PERSON,
    "<PLACE>": rf"(?P<value>{_PLACE})",
    "<ANYWHERE>": _PLACE,
    "<PHRASE>": rf"(?P<value>{_PHRASE})",
    "<WRONG>": rf"(?P<wrong>{_PHRASE})",
    "<THING>": rf"(?P<value>{_THING})",
    "<THINGS>": rf"(?P<value>{_THING}(?:(?:, {_THING})*,? and {_THING})?)",
    "<LANGUAGES>": rf"(?P<value>(?-i:{_LANGUAGE}(?:(?:, {_LANGUAGE})*,? and {_LANGUAGE})?))",
    "<LANGUAGE>": rf"(?P<value>(?-i:{_LANGUAGE}))",
    "<RELATION>": rf"(?P<slot>{RELATIONS})",
    "<ROMANCE>": r"(?:husband|wife|partner|boyfriend|girlfriend|fianc[eé]e?|spouse|other half|better half|missus|hubby)",
    "<PET>": rf"(?P<slot>{PETS})",
    "<PETS>": rf"(?:{PETS})s?",
    "<JOB>": rf"(?P<value>(?:[a-z-]+ ){{0,3}}(?:{'|'.join(dict.fromkeys(_JOB_WORDS.split()))}))\b",
    "<CONDITION>": rf"(?P<value>{_CONDITION})",
    "<CONDITIONAL>": rf"(?P<value>{_IS_CONDITION})\b",
    "<DIET>": rf"(?P<value>{DIETS})s?\b",
    "<CAR>": rf"(?P<value>(?:[a-z-]+ ){{0,3}}{_CARS})",
    "<HANDSET>": rf"(?P<value>(?:[a-z-]+ ){{0,2}}{_PHONES})",
    "<STREET>": rf"(?P<value>{_STREET})",
    "<DATE>": rf"(?P<value>{_DATE})",
    "<NUMBER>": r"(?P<value>\+?\d[\d ().-]{4,18}\d)(?!\d)",
    "<MAIL>": r"(?P<value>[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4})",
    "<COUNT>": r"(?:an?|one|two|three|four|five|six|seven|\d)",
    "<END>": _END,
}  # fmt: skip
_TOKEN: Final = re.compile(r"<[A-Z]+>")


def say(slot: str, template: str, cues: str, **options: Any) -> SlotPattern:
    """Make a pattern of a template, in whatever case; its tokens in angle brackets are parts of a statement."""
    return SlotPattern(slot, "(?i)" + _TOKEN.sub(lambda token: _TOKENS[token.group()], template), cues, **options)


def age_in_words(text: str) -> int:
    """The value of English number words from ten to ninety-nine; -1 if they are none."""
    words = text.lower().replace("-", " ").split()
    if len(words) == 1 and words[0] in _TEENS:
        return 10 + _TEENS.index(words[0])
    if not words or words[0] not in _TENS or any(word not in _ONES for word in words[1:]) or len(words) > 2:
        return -1
    return 10 * (2 + _TENS.index(words[0])) + sum(1 + _ONES.index(word) for word in words[1:])


_UNMARKED: Final = {
    word.replace("'", ""): word
    for word in (
        *("i'm", "i've", "he's", "she's", "they're", "they've", "you're", "you've", "we've", "that's", "there's"),
        *("what's", "don't", "doesn't", "didn't", "can't", "won't", "isn't", "aren't", "wasn't", "weren't"),
        *("hasn't", "haven't", "hadn't", "couldn't", "wouldn't", "shouldn't"),
    )
}
"""Short forms as chats write them, but for those that are words themselves: ill, id, its, were, well, shell."""
_UNMARKED_WORD: Final = re.compile(rf"\b(?:{'|'.join(_UNMARKED)})\b", re.IGNORECASE)


def with_apostrophes(text: str) -> str:
    """A text with the apostrophes that chats leave out: "im", "dont", "ive"; what is all capitals stays ("IM").

    Texts that differ in the case of letters alone are changed at the same places.
    """
    return _UNMARKED_WORD.sub(lambda word: _marked(word.group()), text)


def _marked(word: str) -> str:
    if word.isupper():
        return word
    form = _UNMARKED[word.lower()]
    at = form.index("'")
    return f"{word[:at]}'{word[at:]}"

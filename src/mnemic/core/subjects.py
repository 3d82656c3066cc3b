"""What a document without a title is called, as its first sentence says: "Orla May Brin (born 1950), known as Mo, is".

An encyclopaedia's first sentence defines what it is about, and so do a report's and a note's ("The Tarn Mill is ..."):
the words before its verb name the document, lower case among them too, which no run of capitals would give. Persons are
spoken of elsewhere without their middle names, and by what they are "known as". First sentences are read for
definitions by Navigli and Velardi ("Learning Word-Class Lattices for Definition and Hypernym Extraction", ACL 2010).
"""

from __future__ import annotations

import re
from typing import Final

_REACH: Final = 400
"""How far into a document its first sentence is read, in characters."""

_WORDS: Final = 10
"""Most words in a subject: what is longer is a clause."""

_VERB: Final = re.compile(
    r"\s(?:is|was|are|were|refers?|may refer|has been|have been|will be|became|consists?|describes?)\s"
)
_VERB_ZH: Final = re.compile(r"(?:是|系|指的?是|乃)(?=[^否不])")
_NO_NAME_ZH: Final = re.compile(r"[我你您他她它咱这那此其在当从自每]|[一-鿿]{21}")
_ENDED: Final = re.compile(r"\w{3,}[.!?]\s|[。！？\n]")
"""Where a sentence ended: a full stop behind a short word ends none, such as St. Louis."""
_ASIDE: Final = re.compile(r"\s*[(（][^()（）]*[)）]?\s*")
_ENDS: Final = re.compile(r"[,;，；。]")
_SUBTITLE: Final = re.compile(r"[:：]|\s[–—-]\s")
_OR: Final = re.compile(r",?\s(?:or simply|or)\s(?=[A-Z\"“])")
_QUOTED: Final = re.compile(r"[\"“”«»]\s*([^\"“”«»]{1,40}?)\s*[\"“”«»]")
_KNOWN: Final = re.compile(
    r"\b(?:known|referred to|billed|credited)(?:\s(?:\w+ly|mostly|also|better|best|simply))?\s(?:as|by)\s"
    r"(?:his |her |their |its )?(?:(?:stage |pen |ring |nick)?name |simply )?[\"“]?"
    r"((?:the )?[A-Z][\w'’.-]*(?: (?:(?:of|the|de|von|van|bin|bint|al) )?[A-Z][\w'’.-]*){0,4})"
)
_HONORIFIC: Final = re.compile(
    r"(?:Sir|Dame|Lord|Lady|Sheikha?|King|Queen|Prince|Princess|Saint|St\.|Pope|Dr\.?|Prof(?:essor|\.)|Rev\.?|General) "
    r"(?=[A-Z])"
)
_FIRST_OF_NONE: Final = """
he she it they we i you this that these those there his her its their our my your what who which here in on at after
before during if when while as for from since by with each every one some many most all
"""
_NO_NAMES: Final = frozenset(_FIRST_OF_NONE.split())
"""First words of what is no name: it points at something said before, or is a clause."""

_ARTICLE: Final = re.compile(r"(?:the|an?)\s", re.IGNORECASE)
_JUNIOR: Final = re.compile(r",?\s(?:Jr|Sr)\.?$")


def subjects(text: str) -> list[str]:
    """List what the first sentence of a text says it is about: its subject, and the other names of that, each once."""
    opening = text[:_REACH].lstrip()
    verb = _VERB.search(opening) or _VERB_ZH.search(opening)
    if verb is None:
        return []
    before = opening[: verb.start()]
    if _ENDED.search(before):
        return []
    subject = _ENDS.split(_ASIDE.sub(" ", before), maxsplit=1)[0]
    named = [name for alternative in _OR.split(subject) for name in _forms(alternative)]
    return list(dict.fromkeys([*named, *_KNOWN.findall(before)])) if named else []


def _forms(subject: str) -> list[str]:
    """A subject and its shorter forms: without a subtitle, as a person is spoken of; nothing if it is no name."""
    nicknames = _QUOTED.findall(subject)
    whole = _JUNIOR.sub("", " ".join(_QUOTED.sub(" ", subject).split()))
    if not whole:
        return nicknames
    if len(words := whole.split()) > _WORDS or words[0].lower() in _NO_NAMES or _NO_NAME_ZH.match(whole):
        return []
    if _ARTICLE.match(whole) and _ARTICLE.sub("", whole, count=1).islower():
        return []  # a kind of thing, which no other document names: "the hollow reed is a plant"
    main = _SUBTITLE.split(whole, maxsplit=1)[0].strip()
    return [whole, *([main] if main else []), *_as_spoken_of(main, nicknames)]


def _as_spoken_of(name: str, nicknames: list[str]) -> list[str]:
    """A person's name without an honorific, without its middle names, and behind a nickname."""
    bare = _HONORIFIC.sub("", name, count=1)
    words = bare.split()
    if len(words) < 2 or not all(word[0].isupper() for word in words) or _ARTICLE.match(bare):
        return [bare] if bare else []
    return [bare, *(f"{first} {words[-1]}" for first in (words[0], *nicknames))]

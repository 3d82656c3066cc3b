"""Triples of a passage by rule: two names of a sentence, and the words between them as what relates them.

Whoever says "I" is the name of the speaker. A second object shares its subject and verb ("moved from Paris to Lisbon"),
a second verb its subject ("left Siemens and joined Bosch").
Nothing is invented: subject and object stand in the text or are its speaker, and the predicate is made of words
between names. The walk over names (HippoRAG, arXiv:2405.14831) does not read predicates; for it this is enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from mnemic.core.tokens import is_stop, tokenise
from mnemic.core.uninterrupted import import_whole
from mnemic.strategies.knowledge import Passage, Passages, Triple

_I: Final = re.compile(r"\bI(?=\b|['’](?:m|ve|d|ll)\b)|我(?!的|们)")
_FIRST_WORD: Final = re.compile(r"[A-ZÀ-ÖØ-Þ][\w-]*")
_BORDER: Final = re.compile(r"[,;:.!?，；：。！？、()（）\n]| (?:but|because|while|when|that|who|which) ")
_BE: Final = re.compile(r"\b(?:am|is|are|was|were|be|been|has|have|had)\b|['’](?:m|s|ve)\b|是|有|在")
_JOINING: Final = re.compile(r"(?:and|or|in|at|to|from|with|on|near|by|as|for|和|与|到|跟)(?: (?:the|a|an))?")
_AND: Final = re.compile(r"and|or|和|与|跟")
_SECOND: Final = re.compile(r"(?:.* )?and (?P<verb>.+)")
_NEW_SUBJECT: Final = re.compile(
    r"(?:the|an?|his|her|its|their|my|our|your|some|other|another|this|that|he|she|it|they|we|you)\b"
)
"""Behind "and": somebody else does what follows, or it is no verb."""
_LAST: Final = re.compile(r" (?:in|at|to|from|with|on|near|by|as|for)(?: (?:the|a|an))?$")
_SHORT: Final = re.compile(r"^['’](m|ve|d|ll)\b")
_FULL: Final = {"m": "am", "ve": "have", "d": "would", "ll": "will"}
"""What is left of a verb behind "I"."""
_LONGEST: Final = 60
"""Characters of a predicate."""


class _Named(NamedTuple):
    """A name in a sentence."""

    name: str
    start: int
    end: int


def triples(passages: Passages) -> tuple[Triple, ...]:
    """Find the triples of passages, in order."""
    import_whole("mnemic.extract.entities")
    from mnemic.extract.entities import entities

    known = {spoken.speaker for spoken in passages} | {
        name.name for spoken in passages for name in entities(spoken.text)
    }
    return tuple(triple for place, passage in enumerate(passages) for triple in _stated(place, passage, known))


def _stated(place: int, passage: Passage, known: set[str]) -> Iterator[Triple]:
    import_whole("mnemic.extract.sentences")
    from mnemic.extract.sentences import written_sentences

    seen: set[tuple[str, str, str]] = set()
    for sentence in written_sentences(passage.text):
        if sentence.endswith(("?", "？")):
            continue
        for subject, predicate, thing in _related(sentence, passage.speaker, known):
            if subject != thing and (subject, predicate, thing) not in seen:
                seen.add((subject, predicate, thing))
                yield Triple(subject=subject, predicate=predicate, object=thing, fact=sentence, source=place)


def _related(sentence: str, speaker: str, known: set[str]) -> Iterator[tuple[str, str, str]]:
    """Relate each name of a sentence to the one before it, or to that one's subject."""
    before: tuple[str, str] | None = None
    names = _names(sentence, speaker, known)
    for name, other in pairwise(names):
        between = sentence[name.end : other.start]
        words = " ".join(between.split())
        second = _SECOND.fullmatch(words)
        if before is not None and _JOINING.fullmatch(words):
            subject, predicate = before
            if not _AND.fullmatch(words):
                predicate = f"{_LAST.sub('', predicate)} {words}"
        elif not _is_predicate(between) or (second and _NEW_SUBJECT.match(second["verb"])):
            before = None
            continue
        elif before is not None and second:
            subject, predicate = before[0], second["verb"]
        else:
            subject, predicate = name.name, _SHORT.sub(_in_full, words)
        yield subject, predicate, other.name
        before = subject, predicate


def _in_full(short: re.Match[str]) -> str:
    return _FULL[short[1]]


def _names(sentence: str, speaker: str, known: set[str]) -> list[_Named]:
    """The names in a sentence, with "I" for its speaker; what begins it is one if it is a name elsewhere."""
    import_whole("mnemic.extract.entities")
    from mnemic.extract.entities import entities

    named = [_Named(entity.name, entity.start, entity.end) for entity in entities(sentence)]
    first = _FIRST_WORD.match(sentence)
    if first is not None and first[0] in known and all(entity.start > 0 for entity in named):
        named.append(_Named(first[0], 0, first.end()))
    if speaker:
        taken = [(entity.start, entity.end) for entity in named]
        for match in _I.finditer(sentence):
            if not any(start <= match.start() < end for start, end in taken):
                named.append(_Named(speaker, *match.span()))
    return sorted(named, key=lambda entity: entity.start)


def _is_predicate(between: str) -> bool:
    """Whether what stands between two names relates them: a word in it says something, and no clause ends in it."""
    if len(between) > _LONGEST or _BORDER.search(between):
        return False
    return bool(_BE.search(between)) or any(len(term) > 1 and not is_stop(term) for term in tokenise(between))

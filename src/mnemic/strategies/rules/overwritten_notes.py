"""Keep the notes of a reader by rule: of the notes so far and the next segment, what bears on the question.

Sentences are scored by BM25 of the question. One that holds a name which the best ones hold as well, and the question
does not, comes nearer to them, so that a chain of two steps is kept although its second half shares no word with the
question. MMR leaves out what is said already, and the budget cuts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Final

from mnemic.core.names import names as capitalised
from mnemic.core.tokens import count_tokens
from mnemic.core.uninterrupted import import_whole
from mnemic.strategies.knowledge import Overwriting, ReadingNote
from mnemic.strategies.rules.sentence_relevance import bm25, content_terms, diverse

_CHAIN: Final = 0.5
"""Share of the best score that a name of a chain adds at the most."""
_LEADS: Final = 0.5
"""Share of the best score from which a sentence's names lead on."""


def overwritten_notes(given: Overwriting) -> tuple[ReadingNote, ...]:
    """Choose among notes and sentences those that fit the budget, and lay them out as they were read."""
    candidates = list(dict.fromkeys((*given.notes, *_sentences(given))))
    terms = [content_terms(note.text) for note in candidates]
    scores = _chained(given.question, candidates, bm25(given.question, terms))
    room, chosen = given.budget, list[int]()
    for place in diverse(scores, terms):
        cost = count_tokens(candidates[place].text)
        if cost <= room:
            chosen.append(place)
            room -= cost
    return tuple(candidates[place] for place in sorted(chosen))


def _sentences(given: Overwriting) -> Iterator[ReadingNote]:
    import_whole("mnemic.extract.sentences")
    from mnemic.extract.sentences import written_sentences

    for place, piece in enumerate(given.segment, given.first):
        for sentence in written_sentences(piece):
            yield ReadingNote(text=" ".join(sentence.split()), source=(place,))


def _chained(question: str, notes: list[ReadingNote], scores: list[float]) -> list[float]:
    """Add to each score what the rarest name adds that leads to it from the best ones."""
    best = max(scores, default=0.0)
    if best <= 0:
        return scores
    import_whole("mnemic.extract.entities")
    from mnemic.extract.entities import canonical, entities

    led = [note for note, score in zip(notes, scores, strict=True) if score >= _LEADS * best]
    leading = {canonical(one.name) for note in led for one in entities(note.text)} - _held(question)
    held = [_held(note.text) & leading for note in notes]
    held_by = Counter(name for names in held for name in names)
    return [
        score + max((_CHAIN * best / (1 + math.log(held_by[name])) for name in names), default=0.0)
        for names, score in zip(held, scores, strict=True)
    ]


def _held(text: str) -> set[str]:
    """What a text may name: with each capital word that begins a sentence, for there names cannot be told."""
    import_whole("mnemic.extract.entities")
    from mnemic.extract.entities import canonical, entities

    return {canonical(name) for name in (*capitalised(text), *(one.name for one in entities(text)))}

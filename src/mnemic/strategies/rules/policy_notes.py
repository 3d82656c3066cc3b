"""Keep the notes of a reader by a policy: of the notes so far and the next segment it says what it wants most.

The policy sees cards and names places; it can put no words of its own into the notes.
"""

from __future__ import annotations

import zlib

from mnemic.core.tokens import count_tokens
from mnemic.errors import Invalid
from mnemic.strategies.knowledge import NotesPolicy, Overwriting, ReadingNote, SentenceCard, WordCounts
from mnemic.strategies.rules.overwritten_notes import (
    Worth,
    counted_words,
    is_about,
    names_in,
    sentences_of,
    things_held,
    weights_of,
)


def notes_by_policy(given: Overwriting, policy: NotesPolicy) -> tuple[ReadingNote, ...]:
    """Lay out what a policy wants most and the budget holds, as it was read.

    Raises:
        Invalid: the policy names what is not there, or one place twice.
    """
    candidates = list(dict.fromkeys((*given.notes, *sentences_of(given.segment, given.first))))
    weights = weights_of(given.question, given.counts or counted_words(given.question, given.segment, WordCounts()))
    cards = [sentence_card(note.text, given.question, weights) for note in candidates]
    wanted = policy.chosen(cards[: len(given.notes)], cards[len(given.notes) :])
    if len(set(wanted)) < len(wanted) or any(not 0 <= place < len(candidates) for place in wanted):
        problem = f"{policy.name!r} names places that are not there, or one of them twice"
        raise Invalid("policy", problem, "Name each place once, counted from 0.")
    kept, room = list[int](), given.budget
    for place in wanted:
        cost = count_tokens(candidates[place].text) + bool(kept)
        if cost <= room:
            kept.append(place)
            room -= cost
    return tuple(candidates[place] for place in sorted(kept))


def sentence_card(text: str, question: str, weights: Worth) -> SentenceCard:
    """What a policy is told of a sentence.

    Args:
        weights: Of each thing that the question names.
    """
    held, low, asked = things_held(text, weights), text.casefold(), question.casefold()
    every = sum(weights.values())
    share = sum(weights[thing] for thing in held) / every if every else 0.0
    begins = any(is_about(low, spelling.removeprefix("=")) for _, spelling in held)
    names = dict.fromkeys(name for name in names_in(text) if name not in asked)
    return SentenceCard((share, float(begins)), tuple(zlib.crc32(name.encode()) for name in names))

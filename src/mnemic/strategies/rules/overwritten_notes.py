"""Keep the notes of a reader by rule: of the notes so far and the next segment, what bears on the question.

A sentence is worth what it holds: words of the question, each as much as it is rare in all that was read; names of the
question, whole; and names that the best sentences tell beside those, which lead on to a second step. What holds a thing
that was chosen already gets less for it, so that no half of a question takes all the room: a greedy choice of a
submodular worth after Lin and Bilmes, "A Class of Submodular Functions for Document Summarization" (ACL 2011), where
words weigh as in BM25. The budget cuts, and what is worth next to nothing beside the best is left out.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.core.names import names as capitalised
from mnemic.core.tokens import count_tokens
from mnemic.core.uninterrupted import import_whole
from mnemic.strategies.knowledge import Overwriting, ReadingNote, WordCounts
from mnemic.strategies.rules.sentence_relevance import content_terms

_NAME: Final = 1.5
"""What a whole name of the question weighs beside a word as rare as it. This and the next six were set on the
development sets of 2Wiki, HotpotQA and MuSiQue, where half or twice as much changes little."""
_LED: Final = 0.5
"""What a name weighs that a sentence leads to, as a share of what the sentence is worth."""
_ABOUT: Final = 1.5
"""How much more a name weighs where a sentence begins with it: then it is about it."""
_LEADS: Final = 0.5
"""Share of the best worth from which a sentence's names lead on."""
_LEADING: Final = 24
"""Most sentences whose names lead on."""
_AGAIN: Final = 0.6
"""What is left of a thing's weight each time that a sentence which holds it is chosen."""
_LENGTH: Final = 0.3
"""How much the tokens of a sentence count against it: 0 not at all, 1 in full."""
_SHORT: Final = 12
"""Tokens up to which a sentence costs nothing more."""
_LEAST: Final = 0.1
"""Share of the best worth below which a sentence is left out, though there be room."""

Worth = dict[tuple[str, str], float]
"""What a sentence holds, and how much each weighs: a thing is its sort (`word`, `name` or `led`) and its spelling."""


def overwritten_notes(given: Overwriting) -> tuple[ReadingNote, ...]:
    """Choose among notes and sentences those that fit the budget, and lay them out as they were read."""
    candidates = list(dict.fromkeys((*given.notes, *sentences_of(given.segment, given.first))))
    weights = weights_of(given.question, given.counts or counted_words(given.question, given.segment, WordCounts()))
    worths = [things_held(note.text, weights) for note in candidates]
    _lead_on([note.text for note in candidates], worths)
    costs = [count_tokens(note.text) for note in candidates]
    return tuple(candidates[place] for place in sorted(_chosen(worths, costs, given.budget)))


def counted_words(question: str, segment: Sequence[str], before: WordCounts) -> WordCounts:
    """Count the sentences of a segment, and those that hold what a question names, beside those before it."""
    things = dict.fromkeys(_things(question), 1.0)
    holding, sentences = Counter(before.holding), before.sentences
    for note in sentences_of(segment):
        sentences += 1
        holding.update(spelling for _, spelling in things_held(note.text, things))
    return WordCounts(sentences, dict(holding))


def sentences_of(segment: Sequence[str], first: int = 0) -> Iterator[ReadingNote]:
    """Each sentence of a segment as a note that cites it."""
    import_whole("mnemic.extract.sentences")
    from mnemic.extract.sentences import written_sentences

    for place, piece in enumerate(segment, first):
        for sentence in written_sentences(piece):
            yield ReadingNote(text=" ".join(sentence.split()), source=(place,))


def _things(question: str) -> list[tuple[str, str]]:
    """What a question names: its words, and its names of more than one word, each spelled otherwise than the words."""
    words = [("word", word) for word in dict.fromkeys(content_terms(question))]
    return words + [("name", f"={name}") for name in names_in(question)]


def names_in(text: str) -> list[str]:
    """The names in a text, as they are compared; with each capital word that begins a sentence."""
    import_whole("mnemic.extract.entities")
    from mnemic.extract.entities import canonical, entities

    every = dict.fromkeys(canonical(name) for name in (*capitalised(text), *(entity.name for entity in entities(text))))
    return [name for name in every if len(name) > 2 or not name.isascii()]


def weights_of(question: str, counts: WordCounts) -> Worth:
    """What each thing that the question names weighs: as much as it is rare in all that was read."""

    def rarity(spelling: str) -> float:
        held_by = counts.holding.get(spelling, 0)
        return math.log(1 + (counts.sentences - held_by + 0.5) / (held_by + 0.5))

    things = _things(question)
    return {thing: (_NAME if thing[0] == "name" else 1.0) * rarity(thing[1]) for thing in things}


def things_held(text: str, weights: Mapping[tuple[str, str], float]) -> Worth:
    """The things in a text, with their weights."""
    terms, low = set(content_terms(text)), text.casefold()
    held: Worth = {}
    for thing, weight in weights.items():
        sort, spelling = thing
        if sort == "word" and spelling in terms:
            held[thing] = weight
        elif sort == "name" and spelling[1:] in low:
            held[thing] = weight * (_ABOUT if is_about(low, spelling[1:]) else 1)
    return held


def is_about(low: str, name: str) -> bool:
    """Whether a text begins with a name, both in lower case."""
    return low.startswith((name, f"the {name}"))


def _lead_on(texts: Sequence[str], worths: Sequence[Worth]) -> None:
    """Add to what sentences hold the names that the best ones lead to, each the less the more sentences hold it.

    So a chain is kept although its second half shares no word with the question: who directed it, where she was born.
    """
    sums = [sum(worth.values()) for worth in worths]
    best = max(sums, default=0.0)
    leading = sorted((n for n, total in enumerate(sums) if total >= _LEADS * best > 0), key=lambda n: -sums[n])
    asked = " ".join(spelling for worth in worths for _, spelling in worth)
    led: dict[str, float] = {}
    for place in leading[:_LEADING]:
        for name in names_in(texts[place]):
            if name not in asked:
                led[name] = max(led.get(name, 0.0), sums[place])
    lows = [text.casefold() for text in texts]
    for name, total in led.items():
        holding = [place for place, low in enumerate(lows) if name in low]
        weight = _LED * total / (1 + math.log(max(1, len(holding))))
        for place in holding if len(holding) > 1 else ():
            worths[place]["led", name] = weight * (_ABOUT if is_about(lows[place], name) else 1)


@dataclass(frozen=True, slots=True)
class _Choice:
    """What is chosen so far."""

    times: Counter[tuple[str, str]]

    def gain(self, worth: Worth, cost: int) -> float:
        """What a sentence adds to it, for what it costs."""
        total = sum(weight * _AGAIN ** self.times[thing] for thing, weight in worth.items())
        return float(total / max(1.0, cost / _SHORT) ** _LENGTH)


def _chosen(worths: Sequence[Worth], costs: Sequence[int], budget: int) -> list[int]:
    """Choose what adds most, one after the other: a gain only falls, so that most need not be looked at again."""
    choice, chosen, room = _Choice(Counter()), list[int](), budget
    gains = [choice.gain(worth, cost) for worth, cost in zip(worths, costs, strict=True)]
    least = _LEAST * max(gains, default=0.0)
    waiting = [(-gain, place) for place, gain in enumerate(gains) if gain >= least > 0]
    heapq.heapify(waiting)
    while waiting:
        _, place = heapq.heappop(waiting)
        cost = costs[place] + bool(chosen)
        if cost > room:
            continue
        gain = choice.gain(worths[place], costs[place])
        if waiting and gain < -waiting[0][0]:
            heapq.heappush(waiting, (-gain, place))
            continue
        chosen.append(place)
        room -= cost
        choice.times.update(worths[place].keys())
    return chosen

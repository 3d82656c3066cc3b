"""Which sentences of the evidence are quoted in an answer.

The sentence that covers the question or holds what it asks for, else the whole turn. Where a speaker is named, or
documents are found, each sentence is scored instead: by how much of the question it and its item hold, by the item's
rank, by who says it, and by whether it holds what is asked for.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from mnemic.core.items import Kind
from mnemic.core.tokens import is_stop, tokenise
from mnemic.extract.sentences import sentence_spans
from mnemic.recall.asked_for import AnswerType, asks_several, asks_yes_or_no, held, surely_held
from mnemic.recall.evidence import most_bearing, speaker_of
from mnemic.recall.understand import SPEAKS_OF_SELF, SPEAKS_TO_OTHER
from mnemic.recall.what_asks import ASKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mnemic.core.items import Item
    from mnemic.core.queries import Recalled


QUOTES: Final = 4
"""Most sentences quoted, to a question that asks for several things."""
BESIDE: Final = 2
"""Most sentences quoted to any other question, where a second one bears on it nearly as much."""
NEARLY: Final = 2.0
"""By how much less than what bears most on the question, in log odds, another statement is quoted beside the first:
farther off it only buries the answer, and of ordinary lives none was answered better for it.
"""
FARTHER: Final = 4.5
"""By how much less yet what adds up with the first may bear on a question for several things."""

OF_THE_MATTER: Final = 1.0
"""Log odds of being of one matter with what bears most, from which something adds up with it."""

NEAR: Final = 0.8
"""Share of the best sentence's score from which another one is quoted beside it, where sentences are scored."""
WHOLE: Final = 400
"""Characters up to which a turn is quoted whole, where no sentence of it stands out."""
COVERS: Final = 0.75
"""Share of a question from which a sentence stands for its turn."""
_OWN, _ITEM, _RANK, _PERSON, _HELD, _ASKS = 1.0, 0.5, 1.2, 0.4, 0.3, 0.5
"""What the sentence's coverage, its item's, the item's rank, the person and what is asked for add; a question loses."""
_ADDS: Final = re.compile(
    r"\b(?:as well|also|too|another|besides|additionally|on top of (?:that|it)|a (?:second|third))\b"
    r"|[也又还再]|另外|加上|多了",
    re.IGNORECASE,
)
"""Tells of something beside what was there, so that an older state of the matter still answers."""
_HEADING: Final = re.compile(r"#{1,6}\s")
_ENDED: Final = re.compile(r"[.!?。！？；;:：,，][\"'”’)\]」』）]*$")
_ITEMISED: Final = re.compile(r"(?:[-*+•]|\d+[.)])\s")


@dataclass(frozen=True, slots=True)
class QuotedSentence:
    """A sentence of an item with its score; `apart` where it holds no word of the question and nothing it asks for."""

    text: str
    item: Item
    score: float
    apart: bool = False


def quoted_for(
    question: str,
    asked: AnswerType,
    evidence: Sequence[Recalled],
    heard: Sequence[Recalled],
    *,
    doubted: bool = False,
) -> list[QuotedSentence]:
    """What is quoted, the best first; nothing where it all asks the same.

    Args:
        heard: All that was recalled: what answers nothing itself may have asked for what the next turn says.
        doubted: A fact of the profile is in doubt: what stands beside it is quoted too.
    """
    scored = evidence[0].bearing is None or bool(speakers_named(question, evidence))
    looked_at = evidence if scored else _first(question, evidence)
    sentences = [hit for hit in _sentences(question, asked, looked_at, heard) if not _repeats(hit.text, question)]
    if not scored or not sentences:
        best = [_best_of(question, asked, hit, sentences) for hit in looked_at] if sentences else []
        alone = best and not doubted and not asks_several(question)
        return best[:1] if alone and surely_held(asked, best[0].text, best[0].item, question) else best
    held_now = {hit.id for hit in evidence if hit.succession < 2 or asks_several(question)}
    ranked = sorted((hit for hit in sentences if hit.item.id in held_now), key=lambda sentence: -sentence.score)
    chosen = _chosen(ranked or sentences, QUOTES if asks_several(question) else 1)
    return [_whole_turn(hit) if hit.apart and len(hit.item.text) <= WHOLE else hit for hit in chosen]


def _first(question: str, evidence: Sequence[Recalled]) -> list[Recalled]:
    """The entries that are quoted: the first, and beside it what bears on the question nearly as much.

    To a question for several things the states of a matter add up, so that farther ones are quoted too.
    """
    first, *rest = evidence
    if asks_several(question):
        return [first, *(hit for hit in adding_up(question, evidence) if hit is not first)][:QUOTES]
    least = most_bearing(evidence) - NEARLY
    near = [hit for hit in rest if hit.bearing is not None and hit.bearing >= least]
    most = 1 if asks_yes_or_no(question) else BESIDE
    adds = _ADDS.search(first.text) is not None
    return [first, *(hit for hit in near if adds or hit.succession < 2 or _doubted(first, hit))][:most]


def adding_up(question: str, evidence: Sequence[Recalled]) -> list[Recalled]:
    """What of the evidence adds up to an answer for several things; nothing where one is asked for.

    It bears on the question nearly as much as what does most, or less yet as a state of the same matter.
    """
    if not asks_several(question):
        return []
    least = most_bearing(evidence) - NEARLY

    def adds_up(hit: Recalled) -> bool:
        farther = FARTHER * (hit.succession > 0 or (hit.same_matter or 0.0) >= OF_THE_MATTER)
        return hit.bearing is not None and hit.bearing >= least - farther

    return [hit for hit in evidence if adds_up(hit)][:QUOTES]


def _doubted(first: Recalled, older: Recalled) -> bool:
    """Whether what stands as newer may be of another matter: it bears on the question less than what it follows."""
    return (first.bearing or 0.0) < (older.bearing or 0.0)


def _best_of(question: str, asked: AnswerType, hit: Recalled, sentences: Sequence[QuotedSentence]) -> QuotedSentence:
    """The sentence of an entry that stands out: it covers the question, or holds what is asked for; else all of it.

    "What do I play? The clarinet." answers by what stands behind its question.
    """
    mine = [sentence for sentence in sentences if sentence.item.id == hit.id]
    mine = [sentence for sentence in mine if not ASKING.search(sentence.text)] or mine
    best = max(mine, key=lambda sentence: sentence.score, default=None)
    text = hit.text.strip()
    if best is None or len(mine) == 1 or (len(text) <= WHOLE and not _stands_out(best, mine, asked, question)):
        return QuotedSentence(text if len(text) <= WHOLE or best is None else best.text, hit.item, 0.0)
    return best


def _whole_turn(sentence: QuotedSentence) -> QuotedSentence:
    return replace(sentence, text=sentence.item.text.strip())


def _stands_out(sentence: QuotedSentence, among: Sequence[QuotedSentence], asked: AnswerType, question: str) -> bool:
    """Whether a sentence answers without the others of its turn: it covers the question, or alone holds what it asks.

    A name or place stands in much that is said beside the answer: there it must share a word with the question.
    """
    words = {token for token in tokenise(question) if not is_stop(token)}
    shared = words & set(tokenise(sentence.text))
    if len(shared) / max(1, len(words)) >= COVERS:
        return True
    if asked in (AnswerType.PERSON, AnswerType.PLACE) and not shared:
        return False
    return [other for other in among if held(asked, other.text, other.item, question)] == [sentence]


def _repeats(sentence: str, question: str) -> bool:
    """Whether a sentence only asks the same: a question that was asked before is no answer to itself."""
    words = set(tokenise(sentence))
    return bool(ASKING.search(sentence)) and words == set(tokenise(question))


def speakers_named(question: str, recalled: Sequence[Recalled]) -> set[str]:
    """The words of a question that are those of a speaker."""
    return {token for token in tokenise(question) if not is_stop(token)} & {
        token for hit in recalled for token in tokenise(speaker_of(hit.item))
    }


def _sentences(
    question: str, asked: AnswerType, recalled: Sequence[Recalled], heard: Sequence[Recalled]
) -> Iterator[QuotedSentence]:
    """Every sentence of the evidence with its score; what was just asked for counts as said by who answers."""
    words = {token for token in tokenise(question) if not is_stop(token)}
    named = speakers_named(question, recalled)
    weights = _weights(words - named, [set(tokenise(hit.text)) for hit in recalled])
    best = max(hit.score for hit in recalled)
    turns: dict[tuple[str | None, int], str] = {
        (hit.item.session, hit.item.pos): hit.text for hit in heard if hit.item.session
    }
    for hit in recalled:
        before = turns.get((hit.item.session, hit.item.pos - 1), "")
        asked_there = _covered(weights, before) if ASKING.search(before) else 0.0
        whole = max(_covered(weights, hit.text), asked_there)
        rank = hit.score / best if best > 0 else 0.0
        person = _person(named, hit.item)
        for text in telling_sentences(hit.item):
            covered, holds = max(_covered(weights, text), asked_there), bool(held(asked, text, hit.item, question))
            score = _OWN * covered + _ITEM * whole + _RANK * rank + _PERSON * person + _HELD * holds
            score -= _ASKS * bool(ASKING.search(text))
            yield QuotedSentence(text, hit.item, score, apart=hit.item.kind is Kind.TURN and not (covered or holds))


def telling_sentences(item: Item) -> list[str]:
    """The sentences of an item without the heads over them; all, if there is nothing else.

    What a semicolon joins stays together: the second half often takes back the first.
    """
    every = [item.text[begin:end].strip() for begin, end in _joined(sentence_spans(item.text), item.text)]
    if item.kind not in (Kind.DOCUMENT, Kind.CHUNK):
        return every
    title = str(item.slots.get("title") or "")
    return [text for text in every if not _heads(text, title)] or every


def _joined(spans: Iterable[tuple[int, int]], text: str) -> Iterator[tuple[int, int]]:
    """Stretches of a text, each joined to the next where it ends in a semicolon and both are no longer than a quote."""
    kept: tuple[int, int] | None = None
    for begin, end in spans:
        if kept is not None and end - kept[0] <= WHOLE and text[kept[0] : kept[1]].rstrip().endswith((";", "；")):
            kept = kept[0], end
            continue
        if kept is not None:
            yield kept
        kept = begin, end
    if kept is not None:
        yield kept


def _heads(text: str, title: str) -> bool:
    """Whether a line of a document is the head over others: marked as one, its title, or a few words without an end."""
    if _HEADING.match(text) or text == title:
        return True
    return not (_ENDED.search(text) or _ITEMISED.match(text)) and len(text.split()) <= 6 and len(text) <= 60


def _weights(words: set[str], held: Sequence[set[str]]) -> dict[str, float]:
    """What each word tells apart among the items; together 1."""
    holders = Counter(word for words_of_hit in held for word in words & words_of_hit)
    weights = {word: math.log(1 + len(held) / (0.5 + holders[word])) for word in words}
    total = sum(weights.values())
    return {word: weight / total for word, weight in weights.items()}


def _covered(weights: dict[str, float], text: str) -> float:
    held = set(tokenise(text))
    return sum(weight for word, weight in weights.items() if word in held)


def _person(named: set[str], item: Item) -> int:
    """1 where somebody the question names speaks of themselves, -1 where another does, 0 where it cannot be told."""
    if not named or not (speaker := speaker_of(item)):
        return 0
    addressed = SPEAKS_TO_OTHER.search(item.text) is not None and SPEAKS_OF_SELF.search(item.text) is None
    mine = not named.isdisjoint(tokenise(speaker))
    return 0 if addressed else (1 if mine else -1)


def _chosen(ranked: Sequence[QuotedSentence], most: int) -> list[QuotedSentence]:
    """The best sentence, and the best of other items that come near it."""
    kept = [ranked[0]]
    for sentence in ranked[1:]:
        if len(kept) == most or sentence.score < NEAR * ranked[0].score:
            break
        if all(sentence.item.id != other.item.id for other in kept):
            kept.append(sentence)
    return kept

"""Whether a sentence that no rule decides is worded like a standing instruction: a linear model of its words.

Wishes come in more wordings than rules can list ("walls of text put me to sleep", "长篇大论我看不进去"). What
decides, or says which sentences' meaning is asked (`instruction_meaning`), is the sum of small weights: of the words
of a sentence, what stands next to what, and the sorts of words in it, such as shapes of an answer. The weights are in
`instruction_weights.tsv`, which
`python -m mnemic.lab.instruction_training` makes from labelled sentences.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from importlib import resources
from itertools import combinations
from typing import TYPE_CHECKING, Final

from mnemic.extract import instructions_plain_en, instructions_plain_zh
from mnemic.extract.chinese import has_chinese, simple
from mnemic.extract.wording_sorts import CHINESE, ENGLISH, SHORTENED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

LONGEST: Final = 160
"""Most characters in a sentence that is judged: the model has learned from short ones."""
THRESHOLD: Final = 1.0
"""What a sentence must weigh, set so that of distractors of hands not learned from two in a hundred do."""
LEAST_OPEN_EN: Final = -5.0
LEAST_OPEN_ZH: Final = -6.0
"""What a sentence must weigh for its meaning to be asked, by language, which five sixths of other talk does. With two
more, half of it does, and one wish of strangers in thirty is never asked about; meaning takes next to none of what lies
between for a wish."""
SCALE: Final = 100
"""Weights are kept as whole hundredths."""

_OFFSET: Final = "bias"
_SORTS_EN: Final = tuple(
    (name, re.compile(getattr(instructions_plain_en, name))) for name in ("FORM", "MANNERISMS", "OUTPUT", "SAY")
)
_SORTS_ZH: Final = tuple(
    (name, re.compile(getattr(instructions_plain_zh, name)))
    for name in ("FORM", "OUTPUT", "MANNER", "SAY", "DATA", "HOW", "POINTING")
) + tuple((f"+{name}", re.compile(form)) for name, form in CHINESE.items())
_SORT_OF: Final = {word: name for name, words in ENGLISH.items() for word in words.split()}
_WORD: Final = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+|[?!:;,.]")
_STOP: Final = re.compile(r"[，。！？,.!?、\s]+")
_NUMBER: Final = re.compile(r"\d+")
_PEOPLE: Final = {
    word: sort
    for sort, words in {
        "I": "i i'm i've i'd i'll",
        "ME": "me my mine",
        "YOU": "you your you'd you're you'll yours",
        "THEY": "he she they we his her their our us him them people everyone everybody he's she's they're we're",
    }.items()
    for word in words.split()
}
_PERSONS: Final = ("YOU", "ME", "I", "THEY")
_ENDS: Final = (("ed", 4), ("ing", 5), ("s", 3))
"""Ends of words that tell, and how many letters a word has at least that are not by chance."""


def weight_if_open(low: str) -> float | None:
    """What a sentence in lower case, quotations blanked, weighs; None if it is far from a standing instruction."""
    if len(low) > LONGEST:
        return None
    weighed = weight(low)
    return weighed if weighed > (LEAST_OPEN_ZH if has_chinese(low) else LEAST_OPEN_EN) else None


def weight(low: str) -> float:
    """What the features of a sentence weigh together, the more the likelier it instructs for good."""
    known = _weights()
    weights = [known[feature] for feature in features(low) if feature in known]
    return (sum(weights) / math.sqrt(max(1, len(weights))) + known.get(_OFFSET, 0)) / SCALE


def features(low: str) -> set[str]:
    """What the model sees of a sentence in lower case."""
    return set(_of_characters(simple(low)) if has_chinese(low) else _of_words(_WORD.findall(low)))


def table(weights: Mapping[str, float], bias: float) -> str:
    """The weights as the lines of their file; those that are next to nothing are left out."""
    rows = {feature: round(value * SCALE) for feature, value in weights.items()} | {_OFFSET: round(bias * SCALE)}
    return "".join(f"{feature}\t{value}\n" for feature, value in sorted(rows.items()) if value)


@lru_cache(maxsize=1)
def _weights() -> Mapping[str, int]:
    text = resources.files("mnemic.extract").joinpath("instruction_weights.tsv").read_text("utf-8")
    return {feature: int(value) for feature, _, value in (line.partition("\t") for line in text.splitlines())}


def _of_characters(low: str) -> Iterator[str]:
    """Runs of one to three characters, and the sorts of words."""
    plain = _NUMBER.sub("#", f"^{_STOP.sub(',', low).strip(',')}$")
    for length in (1, 2, 3):
        for at in range(len(plain) - length + 1):
            yield f"z {plain[at : at + length]}"
    yield from _sorts_of(sorted(name for name, sort in _SORTS_ZH if sort.search(low)))
    yield f"len {min(6, len(low) // 5)}"


def _of_words(words: Sequence[str]) -> Iterator[str]:
    """Words, pairs and triples, all with sorts in place of words too, pairs with gaps, and who is spoken of."""
    written = (SHORTENED.get(word, word) for word in words)
    plain = ["^", *("#" if word.isdigit() else word for word in written), "$"]
    sorts = [_sort(word) for word in plain]
    for line in (plain, sorts):
        for length in (1, 2, 3):
            for at in range(len(line) - length + 1):
                yield " ".join(line[at : at + length])
    for at, first in enumerate(sorts):
        for second in sorts[at + 2 : at + 5]:
            yield f"{first} .. {second}"
    named = {sort for sort in sorts if sort.isupper()} | {_PEOPLE[word] for word in plain if word in _PEOPLE}
    yield from _sorts_of(sorted(named))
    yield from (f"no {person}" for person in _PERSONS if person not in named)
    for word in plain:
        yield from _parts(word)
    yield f"len {min(6, len(words) // 4)}"


def _parts(word: str) -> Iterator[str]:
    """The stem of a long word, and how a word ends."""
    if len(word) > 5:
        yield f"s {word[:5]}"
    yield from (f"s -{end}" for end, least in _ENDS if len(word) > least and word.endswith(end))


def _sorts_of(names: Sequence[str]) -> Iterator[str]:
    yield from (f"has {name}" for name in names)
    yield from (f"has {sort} {other}" for sort, other in combinations(names, 2))


@lru_cache(maxsize=8192)
def _sort(word: str) -> str:
    """The sort of a word, or the word."""
    return _SORT_OF.get(word) or next((name for name, sort in _SORTS_EN if sort.fullmatch(word)), word)

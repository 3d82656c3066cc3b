"""How near an answer's words come to those of the right one, by the rules of the papers that report such figures.

What is called F1 differs from paper to paper, and so do the figures: each rule has a name of its own here.

`token_f1` is LoCoMo's script (Maharana et al., arXiv:2402.17753): bags of stems without articles and punctuation; of
its multi-hop questions (`parts_f1`) the best part given for each part wanted; of open-domain ones what stands before
the first semicolon; an adversarial one is right if it was declined (`locomo_f1`). `set_f1` is that of the tables of
A-Mem (arXiv:2502.12110), Mem0 and those who took it over: sets of words, no stems, articles in. `squad_f1` and
`exact_match` are SQuAD's and HotpotQA's (Rajpurkar et al., arXiv:1606.05250). `bleu_1` is unigram precision, each word
counted as often as the right answer has it, times the brevity penalty (Papineni et al., 2002), over words and marks as
NLTK splits them. `rouge_l` is the F-measure of the longest common subsequence (Lin, 2004), over words of letters and
digits as rouge-score splits them, without stems. All lie in [0, 1].

Of languages without blanks each character counts as a word; the papers' scripts take a whole Chinese sentence for one.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from mnemic.lab.kit.porter import stem

WordMetric: TypeAlias = Callable[[str, str], float]
"""From an answer and the right one to a share of 1."""

_UNSPACED: Final = re.compile("([\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7ff\uf900-\ufaff])")
_FULL_WIDTH: Final = re.compile("[\u3000-\u3020\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]")
_LOCOMO_ARTICLES: Final = re.compile(r"\b(a|an|the|and)\b")
_ARTICLES: Final = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
_SET_MARKS: Final = str.maketrans(".,!?", "    ")
_NEITHER: Final = re.compile(r"[^a-z0-9]+")
_WORD_OR_MARK: Final = re.compile(
    r"[^\W_]+(?=n't\b)|n't\b|'(?:s|m|d|ll|re|ve)\b|[^\W_]+(?:[-._/][^\W_]+|[:,]\d+)*\+?|\.\.\.|[^\w\s]|_+"
)

_DECLINED: Final = re.compile(r"no information available|not mentioned", re.IGNORECASE)
"""By which LoCoMo's script knows that an answer says there is none."""


def token_f1(answered: str, right: str) -> float:
    """Overlap of two answers as bags of stems without articles."""
    return bag_f1(_stems(answered), _stems(right))


def parts_f1(answered: str, right: str) -> float:
    """LoCoMo's F1 of a multi-hop question: for each part of the right answer, the best of the parts given; the mean."""
    given, wanted = ([_stems(part) for part in text.split(",")] for text in (answered, right))
    return sum(max(bag_f1(part, sought) for part in given) for sought in wanted) / len(wanted)


def locomo_f1(answered: str, right: str, category: str) -> float:
    """LoCoMo's score of an answer, by the category of its question."""
    match category:
        case "multi-hop":
            return parts_f1(answered, right)
        case "open-domain":
            return token_f1(answered, right.partition(";")[0])
        case "adversarial":
            return float(says_no(answered))
        case _:
            return token_f1(answered, right)


def says_no(answered: str) -> bool:
    """Whether an answer says that there is none, by the words that LoCoMo's script looks for."""
    return _DECLINED.search(answered) is not None


def set_f1(answered: str, right: str) -> float:
    """Overlap of two answers as sets of words."""
    given, wanted = (set(_spaced(text.lower().translate(_SET_MARKS))) for text in (answered, right))
    return bag_f1(list(given), list(wanted))


def bag_f1(given: Sequence[str], wanted: Sequence[str]) -> float:
    """Harmonic mean of precision and recall of two bags; 0 where they share nothing."""
    shared = (Counter(given) & Counter(wanted)).total()
    return 2 * shared / (len(given) + len(wanted)) if shared else 0.0


def exact_match(answered: str, right: str) -> float:
    """1 if both say the same but for case, punctuation, articles and blanks, else 0."""
    return float(_normalised(answered) == _normalised(right))


def squad_f1(answered: str, right: str) -> float:
    """Overlap of two answers as bags of words, normalised as for `exact_match`, but with yes and no matched whole."""
    given, wanted = _normalised(answered), _normalised(right)
    whole = {"yes", "no", "noanswer"}
    if given != wanted and (given in whole or wanted in whole):
        return 0.0
    return bag_f1(_spaced(given), _spaced(wanted))


def bleu_1(answered: str, right: str) -> float:
    """Unigram precision with the brevity penalty; 0 for an answer without words."""
    given, wanted = words_and_marks(answered), words_and_marks(right)
    if not given:
        return 0.0
    precision = (Counter(given) & Counter(wanted)).total() / len(given)
    return precision * (1.0 if len(given) > len(wanted) else math.exp(1 - len(wanted) / len(given)))


def words_and_marks(text: str) -> list[str]:
    """Words in lower case, and marks, each a piece: it's is it and 's, as NLTK has it."""
    return _WORD_OR_MARK.findall(_UNSPACED.sub(r" \1 ", text.lower().replace("\u2019", "'")))


def rouge_l(answered: str, right: str) -> float:
    """F-measure of the longest common subsequence of words."""
    given, wanted = (_letters_and_digits(text) for text in (answered, right))
    common = longest_common(given, wanted)
    return 2 * common / (len(given) + len(wanted)) if common else 0.0


def longest_common(given: Sequence[str], wanted: Sequence[str]) -> int:
    """How long the longest sequence is that both hold in this order."""
    row = [0] * (len(wanted) + 1)
    for word in given:
        before = 0
        for n, other in enumerate(wanted, start=1):
            before, row[n] = row[n], before + 1 if word == other else max(row[n], row[n - 1])
    return row[-1]


WORD_METRICS: Final[Mapping[str, WordMetric]] = {
    "token F1": token_f1,
    "by parts": parts_f1,
    "set F1": set_f1,
    "exact": exact_match,
    "SQuAD F1": squad_f1,
    "BLEU-1": bleu_1,
    "ROUGE-L": rouge_l,
}
"""Every rule by its name in tables."""

PaperRule: TypeAlias = Callable[[str, str, str], float]
"""From an answer, the right one and the question's category to a share of 1."""

USUAL_RULE: Final = "token F1"

_LOCOMO: Final = "LoCoMo F1"


def paper_rule(name: str) -> PaperRule:
    """The rule by which a task's paper scores answers in words: one of `WORD_METRICS`, or LoCoMo's by category."""
    if name == _LOCOMO:
        return locomo_f1
    metric = WORD_METRICS[name]
    return lambda answered, right, category: metric(answered, right)


def _stems(text: str) -> list[str]:
    plain = _FULL_WIDTH.sub(" ", text.lower().translate(_PUNCTUATION))
    return [stem(word) for word in _spaced(_LOCOMO_ARTICLES.sub(" ", plain))]


def _normalised(text: str) -> str:
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def _spaced(text: str) -> list[str]:
    """Words between blanks, and each character of a script that has none."""
    return _UNSPACED.sub(r" \1 ", text).split()


def _letters_and_digits(text: str) -> list[str]:
    pieces = _UNSPACED.split(text.lower())
    return [word for n, piece in enumerate(pieces) for word in ([piece] if n % 2 else _NEITHER.split(piece)) if word]

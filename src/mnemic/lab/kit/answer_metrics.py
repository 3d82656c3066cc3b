"""How near an answer in words comes to the right one: token F1, exact match, BLEU-1, ROUGE-L.

`token_f1` is LoCoMo's: bags of stemmed words without articles; ours splits Chinese, too. `exact_match` and `squad_f1`
are those of SQuAD's and HotpotQA's evaluation (Rajpurkar et al., arXiv:1606.05250): lower case, without punctuation and
articles, no stems. `bleu_1` is unigram precision, each word counted as often as the right answer has it, times the
brevity penalty (Papineni et al., 2002). `rouge_l` is the F-measure of the longest common subsequence (Lin, 2004) over
words of letters and digits, as the package rouge-score splits them, without stems. All lie in [0, 1].
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Sequence
from typing import Final

from mnemic.core.tokens import tokenise

_LOCOMO_ARTICLES: Final = frozenset({"a", "an", "the", "and"})
_ARTICLES: Final = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
_NEITHER: Final = re.compile(r"[^a-z0-9]+")


def token_f1(answered: str, right: str) -> float:
    """Overlap of two answers as bags of stemmed words without articles."""
    given, wanted = ([token for token in tokenise(text) if token not in _LOCOMO_ARTICLES] for text in (answered, right))
    return bag_f1(given, wanted)


def parts_f1(answered: str, right: str) -> float:
    """LoCoMo's F1 of a multi-hop question: for each part of the right answer, the best of the parts given; the mean."""
    given, wanted = ([part for part in text.split(",") if part.strip()] for text in (answered, right))
    if not given or not wanted:
        return 0.0
    return sum(max(token_f1(part, sought) for part in given) for sought in wanted) / len(wanted)


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
    return bag_f1(given.split(), wanted.split())


def bleu_1(answered: str, right: str) -> float:
    """Unigram precision with the brevity penalty; 0 for an answer without words."""
    given, wanted = answered.lower().split(), right.lower().split()
    if not given:
        return 0.0
    precision = (Counter(given) & Counter(wanted)).total() / len(given)
    return precision * (1.0 if len(given) > len(wanted) else math.exp(1 - len(wanted) / len(given)))


def rouge_l(answered: str, right: str) -> float:
    """F-measure of the longest common subsequence of words."""
    given, wanted = ([word for word in _NEITHER.split(text.lower()) if word] for text in (answered, right))
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


def _normalised(text: str) -> str:
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())

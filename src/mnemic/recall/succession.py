"""Whether what recall puts in the place of something older is of the same matter, or only newer: a logistic model.

Recall tells states of one matter from a change that is worded quite otherwise ("boxes everywhere, home is Leuven now"),
and so at times takes the next thing said of anything for such a change. Here the two stand side by side with the
question: how each bears on it, what they share, and what the newer does. Weights are learned with those of
`recall.sureness`, from pairs of which one holds the answer and the other does not.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.recall.polarity import ASKS_PAST, asked_words, share_held, telling_words
from mnemic.recall.sentence_cues import KIN, SentenceCue, counted_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mnemic.core.queries import Recalled

    Floats = NDArray[np.float32]

_CUES: Final = (
    *(SentenceCue.SELF, SentenceCue.OTHER, SentenceCue.CHANGE, SentenceCue.END, SentenceCue.SUPPOSE),
    *(SentenceCue.NOT, SentenceCue.NOW, SentenceCue.CORRECT, SentenceCue.BEFORE),
)

_FARTHEST: Final = 6.0
"""Log odds that count for most."""
ASKS_OF_NOW: Final = re.compile(
    r"\b(?:now|nowadays|current(?:ly)?|these days|at the moment|at present|right now|still|any ?more|latest|newest)\b"
    r"|现在|如今|目前|最近|这阵子|眼下|当前|还[^有]|最新",
    re.IGNORECASE,
)
"""Says that what is asked may have changed."""

SUCCESSION_INPUTS: Final = (
    *("bears more", "bears", "older bears", "meant", "older meant"),
    *("shares words", "shares the question's", "held", "older held"),
    *(cue.name.lower().replace("_", " ") for cue in _CUES),
    *("same kin", "other kin", "Chinese", "several", "past"),
    *("newer is of one matter", "older is of one matter", "asks of now"),
)
"""What the model reads, in order."""


def succession(question: str, newer: Recalled, older: Recalled, states: int) -> Floats:
    """What the model reads of a pair, `SUCCESSION_INPUTS`; `states`: how many recall holds for states of the matter."""
    cues = counted_in(newer.text)
    asked, kin = asked_words(question), cues[KIN] > 0
    asked_kin = counted_in(question)[KIN] > 0
    newer_words, meant = telling_words(newer.text), newer.components.get("dense", 0.0)
    bears, older_bears = newer.bearing or 0.0, older.bearing or 0.0
    return np.array(
        (
            *(bears - older_bears, bears, older_bears, meant, older.components.get("dense", 0.0)),
            not newer_words.isdisjoint(telling_words(older.text)),
            not newer_words.isdisjoint(telling_words(question)),
            *(share_held(asked, newer.text), share_held(asked, older.text)),
            *(cues[cue] > 0 for cue in _CUES),
            (kin & asked_kin).any(),
            kin.any() and not (kin & asked_kin).any(),
            any("\u3400" <= sign <= "\u9fff" for sign in question),
            states > 2,
            ASKS_PAST.search(question) is not None,
            *(float(np.clip(state.same_matter or 0.0, -_FARTHEST, _FARTHEST)) for state in (newer, older)),
            ASKS_OF_NOW.search(question) is not None,
        ),
        np.float32,
    )


def rival(evidence: Sequence[Recalled]) -> Recalled | None:
    """What bears most on the question of all in whose place the first of the evidence stands; None if in none's."""
    if not evidence or evidence[0].succession != 1:
        return None
    older = [hit for hit in evidence[1:] if hit.succession > 1 and hit.bearing is not None]
    return max(older, key=lambda hit: hit.bearing or 0.0, default=None)


def without_first(evidence: Sequence[Recalled]) -> list[Recalled]:
    """Evidence with its first entry taken out of the states of the matter, behind the next of them."""
    first, *rest = evidence
    states = [hit for hit in rest if hit.succession > 1]
    alone = len(states) == 1
    places = {hit.id: 0 if alone else n for n, hit in enumerate(states, start=1)}
    renumbered = [replace(hit, succession=places[hit.id]) if hit.id in places else hit for hit in rest]
    leading = next(n for n, hit in enumerate(renumbered) if hit.id == states[0].id)
    lead = renumbered.pop(leading)
    return [lead, replace(first, succession=0), *renumbered]

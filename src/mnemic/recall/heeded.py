"""Tells whether a question asks what is to be heeded in a matter, or kept from, and what of a recall bears on that.

Whoever says that they are allergic to peanuts says nothing of being careful: the words of such a question are seldom in
what answers it, and whatever is known of the matter does.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mnemic.core.tokens import hash_term, tokenise
from mnemic.recall.sentence_cues import kin_tokens
from mnemic.recall.unasked import SAID

if TYPE_CHECKING:
    from mnemic.core.queries import Context, Recalled

_HEED: Final = (
    r"(?:remember to )?(?:(?:keep|bear|have) in mind|take into (?:account|consideration)|(?:watch|look) out for"
    r"|watch for|be careful|pay attention to|be (?:aware|mindful|wary) of|beware of|look out|consider"
    r"|remember(?! to\b)|heed|avoid"
    r"|steer clear of|stay away from|leave out(?! for)|mind)"
)
_NOT: Final = r"(?:can['’]?t|cannot|can not|must not|mustn['’]?t|should not|shouldn['’]?t|may not)"
_TO: Final = (
    "(?:(?:should|shall|must) (?:i|we|you|one)|(?:i|we|you|one) (?:should|shall|must)"
    "|(?:(?:is|are) there|(?:do )?(?:i|we|you|one) (?:need|have|ought))? ?to)"
)
_HEED_CHINESE: Final = "(?:注意|留意|当心|小心|提防|避开|避免|顾及|考虑|记住|忌口)"
_ASKS_TO_HEED: Final = re.compile(
    rf"\b(?:(?:what|which)(?: else)?|anything)(?: foods?| dishes| ingredients| things?)? {_TO} {_HEED}\b"
    rf"|\b(?:what|which|anything)(?: (?:else|food|foods|things?|that))?(?: (?:i|we|you))? {_NOT}(?: (?:i|we|you))?"
    r" (?:eat|drink|stand|serve|cook)\b"
    r"|^\W*(?:(?:do|have) (?:i|we) (?:have|got) )?any (?:food )?(?:allergies|intolerances"
    r"|dietary (?:needs|requirements|restrictions))\W*$"
    rf"|(?:要|该|得|应当?|需|需要|应该|必须){_HEED_CHINESE}(?:些|点)?(?:什么|哪些|哪|啥|吗)"
    rf"|(?:什么|哪些|啥)(?:事|东西|地方|菜)?(?:是|我们?|你|您)?(?:要|该|得|应当?|需|需要|应该|必须|值得)+{_HEED_CHINESE}"
    r"|^\W*(?:我们?|咱们?)?(?:有)?(?:(?:什么|哪些|啥)(?:东西|菜)?)?(?:是)?(?:我们?|咱们?)?不(?:能|可以|该|应该)"
    "(?:吃|喝|碰)(?:什么|哪些|啥|的)"
    r"|^\W*(?:我们?|咱们?)?有(?:什么|哪些|啥)(?:忌口|过敏)",
    re.IGNORECASE,
)
"""Asks what is to be heeded in a matter, or kept from: "anything to watch out for?", 做饭要注意什么."""
_OF_OTHERS: Final = re.compile(r"\b(?i:he|she|they|his|hers?|him|their|them|somebody|someone)\b|\w (?!I\b)[A-Z]|[他她]")


def asks_what_to_heed(question: str) -> bool:
    """Whether a question asks what is to be heeded, on account of whoever asks and of nobody else."""
    if not _ASKS_TO_HEED.search(question) or _OF_OTHERS.search(question):
        return False
    return kin_tokens().isdisjoint(map(hash_term, tokenise(question)))


def nearest_to_matter(evidence: Context) -> Recalled | None:
    """The hit that most likely speaks of the matter, if it more likely does than not.

    By words alone it is the first, if words of the question were found: what stands beside these says little.
    """
    by_meaning = [hit for hit in evidence.items if "dense" in hit.components and hit.bearing is not None]
    if not by_meaning:
        return evidence.items[0] if evidence.items and evidence.confidence > SAID else None
    nearest = max(by_meaning, key=lambda hit: hit.bearing or 0.0)
    return nearest if (nearest.bearing or 0.0) >= 0 else None

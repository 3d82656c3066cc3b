"""What of a recall is worth a place in a prompt where nobody has asked memory anything: the floor of the gateway.

Whoever asks memory reads what is nearest, and how near. A prompt that is recalled into with every message keeps each
block for good: "thanks!" should bring nothing, and a question not its own echo.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mnemic.core.items import Kind
from mnemic.extract.sentences import sentences
from mnemic.recall.pack import FENCE, only_of
from mnemic.recall.reasons import KNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.core.items import Item
    from mnemic.core.queries import Context, Recalled

SAID: Final = 0.15
"""A recall with less confidence has found no word of what it looked for."""

_BEARS: Final = -2.0
"""The least log odds that an item speaks of what is said, where words of that occur in memory."""

_BEARS_UNSAID: Final = 0.0
"""The same where none does, and meaning alone speaks for the item.

Of 32 people told of in `bench small --everyday`, parts build and lives, with these two 295 of 299 questions keep what
answers them, with 4 items in place of 10; of 28 messages that ask nothing of memory a quarter bring anything, and those
one item for all of them in place of ten.
"""

_PASSAGES: Final = (Kind.DOCUMENT, Kind.CHUNK)
"""Of these it is never looked at whom they speak of."""


_GREETING: Final = (
    r"(?:(?:hi|hiya|hello|hey|yo|howdy|greetings|sup|welcome back|(?:good )?(?:morning|afternoon|evening)"
    r"|good (?:day|night)|what['’]?s up|how are you(?: doing)?|how['’]?s it going|are you there|anyone there"
    r"|thanks?(?: you)?|thx|cheers|bye|goodbye|see you|ok(?:ay)?)\b"
    r"|你好|您好|嗨|哈[喽啰罗]|早上好|早安|早|中午好|下午好|晚上好|晚安|在吗|在不在|大家好|谢谢你?|多谢|再见|拜拜|好的)"
)
_GREETS: Final = re.compile(
    rf"\W*{_GREETING}(?:[\W呀啊哦]*(?:{_GREETING}|(?:there|again|today|everyone|all|friend|mate)\b))*[\W呀啊哦]*",
    re.IGNORECASE,
)
"""Greets, thanks or takes leave, and says no more."""
_SHORT: Final = 80
"""Most characters of a greeting."""


def only_greets(message: str) -> bool:
    """Whether a message is small talk alone, for which nothing that was said is looked for."""
    return len(message) <= _SHORT and _GREETS.fullmatch(message) is not None


def worth_placing(context: Context, message: str, most: int) -> Context:
    """Leave of what was recalled for a message what bears on it and tells something, the best `most` of it."""
    kept = [hit for hit in context.items if _bears(hit, context.confidence) and _tells(hit.item, message)][:most]
    return _with_only(context, kept)


def cost_of_bearing(context: Context) -> int:
    """What a recall costs without what bears on its question but loosely."""
    return _cost([hit for hit in context.items if not _is_loose(hit, context.confidence)])


def without_loose(context: Context, room: int) -> Context:
    """Leave out of a recall what bears on its question but loosely, the worst first, until it fits a room."""
    kept = list(context.items)
    for hit in reversed(context.items):
        if _cost(kept) <= room:
            break
        if _is_loose(hit, context.confidence):
            kept.remove(hit)
    return _with_only(context, kept)


def _with_only(context: Context, kept: Sequence[Recalled]) -> Context:
    """A recall with only some of what it found, in its order."""
    if len(kept) == len(context.items):
        return context
    stages = tuple((name, came, len(kept) if name == "pack" else left) for name, came, left in context.stages)
    text = only_of(context.text, {hit.id for hit in kept})
    return replace(context, items=tuple(kept), text=text, tokens=_cost(kept), stages=stages)


def _cost(hits: Sequence[Recalled]) -> int:
    return FENCE + sum(hit.tokens for hit in hits) if hits else 0


def _is_loose(hit: Recalled, confidence: float) -> bool:
    """Whether an item is there for want of better; where that was not looked at, no word of the question was found."""
    return confidence <= SAID if hit.bearing is None else not _bears(hit, confidence)


def _bears(hit: Recalled, confidence: float) -> bool:
    """Whether an item probably speaks of what is said; where that was not looked at, words have to say so."""
    if hit.bearing is not None:
        return hit.bearing >= (_BEARS if confidence > SAID else _BEARS_UNSAID)
    return confidence > (SAID if hit.item.kind in _PASSAGES else KNOWN)


def _tells(item: Item, message: str) -> bool:
    """Whether an item tells what a message does not: it is neither that message, nor questions alone, nor a torso."""
    if item.slots.get("unfinished") is True or item.text.strip() == message.strip():
        return False
    return item.kind is not Kind.TURN or not all(sentence.asks for sentence in sentences(item.text))

"""An instruction that asks for several things, of which a person takes one back: what of it goes on to stand.

"Keep answers short and in French" without the French is "Keep answers short". Only a cut that leaves an order whole is
made; of others it is said that a part is meant, and that nothing could be cut.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from mnemic.extract.aspects import aspect_spans, aspects
from mnemic.extract.chinese import has_chinese, simple
from mnemic.extract.revocations import telling

_JOIN: Final = re.compile(
    r"\s*[,;]\s*(?:(?:and|but|or|nor) )?(?:(?:also|then|please) )*"
    r"|\s+(?:and|but|or|nor|&) (?:(?:also|then|please) )*",
    re.IGNORECASE,
)
_JOIN_CHINESE: Final = re.compile("[，,；;、]|并且|而且|并(?!不)|(?<!温)(?<!平)和(?!气)|还要|也要|且")
_ORDERS: Final = re.compile(
    r"(?:no|never|always|don'?t|do not|avoid|skip|leave out|omit|use|keep|write|answer|reply|respond|explain|give|show"
    r"|tell|put|make|call|speak|talk|stick|include|add|cite|end|start|begin|stop|be|list|quote|mention|format|spell|convert"
    r"|prefer)\b",
    re.IGNORECASE,
)
"""What an order of its own begins with."""
_PREPOSITION: Final = re.compile(r"(?:in|with|without|using|as|at|by|under|on)\b", re.IGNORECASE)
_LED_BY: Final = re.compile(
    r"\s*\b(?:(?:in|with|without|using|as|by) )?(?:(?:very|really|so|as|quite|nice and) )*(?:the )?\Z", re.IGNORECASE
)
_NO_MORE: Final = re.compile(r"[\s.!,;。！，；]*(?:please|thanks|thank you)?[\s.!,;。！，；]*\Z", re.IGNORECASE)
_ENDS: Final = " ,;，；、"
_NO_NEW_NAME: Final = re.compile(
    r"\b(?:don'?t|do not|never|stop|not)\b[^,;.]{0,20}\b(?:call|address)"
    r"|\b(?:call|address) me (?:(?!\b(?:and|but)\b)[^,;.])*\b(?:when(?:ever)?|while|if|on|at)\b"
    r"|(?:别|不要|不许)再?(?:叫|称呼|喊)|时候?[，,]?(?:请|就)?(?:叫|称呼|喊)我",
    re.IGNORECASE,
)
"""Asks not to be called something, or for a name that is for some occasions: no other name takes its place."""
_NAME: Final = "call me"
_NAMING: Final = aspects(_NAME)


@dataclass(frozen=True, slots=True)
class _Half:
    """One of the things that an instruction asks for: `text[start:end]` of it."""

    start: int
    end: int
    is_meant: bool


def is_partly_meant(instruction: str, topic: str) -> bool:
    """Whether a topic is about some of the things that an instruction asks for, and not about others."""
    halves = _halves(instruction, topic)
    return any(half.is_meant for half in halves) and not all(half.is_meant for half in halves)


def without(instruction: str, topic: str) -> str | None:
    """What an instruction asks for besides what a topic is about; None if we cannot cut it so that an order is left."""
    halves = _halves(instruction, topic)
    kept = [half for half in halves if not half.is_meant]
    if not kept or len(kept) == len(halves):
        return None
    lead = instruction[: halves[0].start]
    first = halves.index(kept[0])
    if first == 0:
        text = lead + instruction[kept[0].start : kept[0].end]
    else:
        head = _head(instruction, halves[0], kept[0])
        if head is None:
            return None
        text = (lead + head).strip()
        text += ("" if not text or has_chinese(text[-1]) or text[-1] in "，" else " ") + instruction[
            kept[0].start : kept[0].end
        ]
    for half in kept[1:]:
        text += instruction[halves[halves.index(half) - 1].end : half.end]  # with what joins it to those before
    text = text.strip(_ENDS)
    return text[0].upper() + text[1:] + instruction[halves[-1].end :].strip(_ENDS) if text else None


def without_name(instruction: str) -> str | None:
    """What an instruction asks for besides what its speaker is called; None if that is nothing, or all of it."""
    return None if _NO_NEW_NAME.search(instruction) else without(instruction, _NAME)


def _head(instruction: str, gone: _Half, next_kept: _Half) -> str | None:
    """What the first half, which goes, has to say for the one behind it: "keep answers" of "keep answers short"."""
    behind = instruction[next_kept.start : next_kept.end]
    part = instruction[gone.start : gone.end]
    if _ORDERS.match(behind) or has_chinese(behind) or aspects(part) == _NAMING:
        return ""
    spans = aspect_spans(part)
    if not spans or not _NO_MORE.match(part, spans[-1][1]):
        return None
    head = part[: spans[0][0]]
    led = _LED_BY.search(head)
    word = led[0].strip() if led else ""
    if _PREPOSITION.match(word) and not _PREPOSITION.match(behind):
        return (
            head
            if aspects(behind) and {_name(a) for a in aspects(behind)} & {_name(a) for a in aspects(part)}
            else None
        )
    return head[: led.start()] if led else head


def _name(aspect: str) -> str:
    return aspect.partition(":")[0]


def _halves(instruction: str, topic: str) -> list[_Half]:
    """The things that an instruction asks for, in order, and which of them a topic is about."""
    chinese = has_chinese(simple(instruction))
    cuts = [match.span() for match in (_JOIN_CHINESE if chinese else _JOIN).finditer(instruction)]
    end = len(instruction.rstrip(" .!。！~"))
    bounds = [0, *(at for cut in cuts if cut[1] < end for at in cut), end]
    pieces = list(zip(bounds[::2], bounds[1::2], strict=True))
    words, sides = telling(topic), aspects(topic)
    exact = not sides.isdisjoint(aspects(instruction))
    named = sides if exact else {_name(aspect) for aspect in sides}
    halves: list[_Half] = []
    for start, stop in pieces:
        text = instruction[start:stop]
        asked = aspects(text) if exact else {_name(aspect) for aspect in aspects(text)}
        if not asked and not (halves and not chinese and _ORDERS.match(text)):
            if halves:  # it goes with what it stands behind: "when I write from work"
                halves[-1] = _Half(halves[-1].start, stop, halves[-1].is_meant or bool(telling(text) & words))
            continue
        halves.append(_Half(start, stop, bool(asked & named) or bool(telling(text) & words)))
    return halves

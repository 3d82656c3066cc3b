"""The parts of an item, one entry of the catalogue each: text, token stream, and the passage that is embedded."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros
from mnemic.core.items import Channel, Kind, Sight, Wording
from mnemic.core.tokens import BY_RULES, Field, cut, hashed, local_day, mention, spoken_days, terms, words
from mnemic.core.uninterrupted import import_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mnemic.core.items import Item, Slot

PART_TOKENS: Final = 400
"""Most tokens in one part of an item."""

_MENTIONS: Final = 64
MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_TIMELY_WORDS: Final = """
today yesterday tomorrow tonight ago week weeks weekend weekends month months year years
spring summer autumn fall winter monday tuesday wednesday thursday friday saturday sunday
january february march april june july august september october november december
今天 昨天 明天 前天 后天 昨晚 今晚 明晚 上周 下周 这周 本周 周末 周一 周二 周三 周四 周五 周六 周日 星期 礼拜
上个 下个 去年 今年 明年 前年 天前 周前 月前 年前 春天 夏天 秋天 冬天 春节 月 号 號
"""
_TIMELY: Final = frozenset(_TIMELY_WORDS.split())
_CHUNK_BYTES: Final = 8 * 1024 * 1024
"""Memory that the token streams of chunks may take, about: those of forty thousand words."""
_CHUNK_COST: Final = 150
"""Bytes of one, beside what it says."""
_FOUR_DIGITS: Final = re.compile(r"\d\d\d\d")
_MAY: Final = re.compile(r"\bMay\b")


def part_texts(item: Item | Wording) -> list[str]:
    """Split an item into its parts' texts, in order: what is indexed, in pieces of at most `PART_TOKENS` tokens."""
    text = item.text if item.key is None else item.key
    caption = item.slots.get("caption")
    if isinstance(caption, str) and caption:
        text = f"{text}\n{caption}"
    return [text] if len(text) <= PART_TOKENS else cut(text, PART_TOKENS)


def passage_texts(item: Item) -> list[str]:
    """Make the passage to embed for each part, in order: "speaker: words", or "title, heading: words".

    None for what nobody searches.
    """
    if _is_silent(item.sight, item.slots, bool(item.source)):
        return []
    head, parts = _head(item), part_texts(item)
    if not head and len(parts) > 1 and item.kind is Kind.DOCUMENT:
        head = _subject(item.text)
        return [parts[0], *(f"{head}: {part}" if head else part for part in parts[1:])]
    return [f"{head}: {part}" if head else part for part in parts]


def _head(item: Item) -> str:
    """Name the speaker or document before a passage: without it a vector cannot tell two speakers apart.

    A turn that says no role is the user's: what reads vectors has learned from turns that say so.
    """
    slots = item.slots
    speaker = slots.get("speaker") or slots.get("role")
    if isinstance(speaker, str):
        return speaker
    headings = (slots.get(name) for name in ("title", "heading"))
    head = ", ".join(text for text in headings if isinstance(text, str) and text)
    return head or ("user" if item.kind is Kind.TURN and item.channel is Channel.USER else "")


def entry_terms(item: Item) -> tuple[bytes, ...]:
    """Make the token stream of each part of an item: speaker, dates and headings, then the part's text.

    An item of more than `PART_TOKENS` tokens has several parts, cut where a paragraph or sentence ends; nothing is left
    out, and each begins with the same header. The dates are the day it was said and, by `mention`, the days and months
    that its words speak of, resolved against that day. Of a document the names stand at the end: what it is called and,
    in each part, what that part names (`core.names`). If it has no title, its later parts begin with what it is about.
    """
    said, derived = micros(item.said), bool(item.source)
    return terms_of(Wording(item.kind, item.text, item.key, item.slots, derived, said, item.said_offset, item.sight))


def terms_of(said: Wording) -> tuple[bytes, ...]:
    """Make what `entry_terms` makes of an item that says this."""
    slots = said.slots
    if _is_silent(said.sight, slots, said.derived):
        return (b"",)
    speaker = slots.get("speaker") or slots.get("role")
    header = _speaker_terms(speaker) if isinstance(speaker, str) else b""
    header += _day_terms(local_day(said.said, said.said_offset))
    for name in ("title", "heading"):
        heading = slots.get(name)
        if isinstance(heading, str):
            header += terms(heading)
    streams = [header + _part_terms(part, said) for part in part_texts(said)]
    return tuple(streams if said.kind not in (Kind.DOCUMENT, Kind.CHUNK) else _with_names(said, streams))


def _is_silent(sight: Sight, slots: Mapping[str, Slot], derived: bool) -> bool:
    """Whether nobody searches an item: it says so, or rules derived it, which says what its evidence says."""
    return sight is Sight.NONE or (derived and slots.get("by") == BY_RULES)


def _with_names(item: Wording, streams: Sequence[bytes]) -> list[bytes]:
    import_whole("mnemic.core.names")
    from mnemic.core.names import mention_terms, own_terms  # names are made of tokens, and turns have none

    own = own_terms(item)
    parts = part_texts(item)
    if len(parts) > 1 and item.kind is Kind.DOCUMENT and not item.slots.get("title"):
        about = terms(_subject(item.text))
        streams = [streams[0], *(about + stream for stream in streams[1:])]
    return [stream + own + mention_terms(part) for stream, part in zip(streams, parts, strict=True)]


def _subject(text: str) -> str:
    """What a document says in its first sentence that it is about, which its later parts call "she" or "it"."""
    import_whole("mnemic.core.subjects")
    from mnemic.core.subjects import subjects  # turns have none

    return next(iter(subjects(text)), "")


def _part_terms(text: str, said: Wording) -> bytes:
    stream, timely = _KNOWN.read(text)
    if not timely:
        return stream
    import_whole("mnemic.core.timex")
    from mnemic.core.timex import find_times  # its patterns take a while, and readers of a store need none

    spans = find_times(text, said.said, said.said_offset)
    if not spans:
        return stream
    days = dict.fromkeys(day for span in spans for day in spoken_days(span, said.said_offset))
    return b"".join(map(_mention_terms, ("", *list(days)[:_MENTIONS]))) + stream


class _Chunks(dict[str, bytes]):
    """The token streams of chunks, which is what stands between the blanks of a text: no token reaches over one.

    Attributes:
        timely: The chunks that may speak of a time; without one no time matters here.
        room: Bytes that may still be kept.
    """

    def __init__(self) -> None:
        self.timely: set[str] = set()
        self.room = _CHUNK_BYTES

    def __missing__(self, chunk: str) -> bytes:
        chunk_words = words(chunk)
        stream = self[chunk] = hashed(chunk_words)
        if not _TIMELY.isdisjoint(chunk_words) or _FOUR_DIGITS.search(chunk) or ("May" in chunk and _MAY.search(chunk)):
            self.timely.add(chunk)
        self.room -= _CHUNK_COST + 4 * len(chunk) + len(stream)
        return stream


class _ChunkCache:
    """Reads texts chunk by chunk, most of which it has read before."""

    def __init__(self) -> None:
        self._chunks = _Chunks()

    def clear(self) -> None:
        """Forget every chunk."""
        self._chunks = _Chunks()

    def read(self, text: str) -> tuple[bytes, bool]:
        """The token stream of a text, and whether it may speak of a time."""
        known = self._chunks  # another thread may begin new ones meanwhile
        if known.room < 0:
            known = self._chunks = _Chunks()
        chunks = text.split()
        stream = b"".join(map(known.__getitem__, chunks))
        return stream, not known.timely.isdisjoint(chunks) or "last night" in text


_KNOWN: Final = _ChunkCache()


@lru_cache(maxsize=4096)
def _speaker_terms(speaker: str) -> bytes:
    return terms(speaker, Field.SPEAKER)


def forget_texts() -> None:
    """Forget the words of texts and the names of speakers that were read: what was erased stays in no cache."""
    _KNOWN.clear()
    _speaker_terms.cache_clear()


@lru_cache(maxsize=4096)
def _mention_terms(when: str) -> bytes:
    return mention(when).to_bytes(8, "little")


@lru_cache(maxsize=4096)
def _day_terms(day: date) -> bytes:
    """Make a day's tokens of the field of dates: year, month, day, weekday, and the whole date."""
    date_words = f"{day.year:04} {MONTHS[day.month - 1]} {day.day} {WEEKDAYS[day.weekday()]} {day.isoformat()}"
    return terms(date_words, Field.DATE)

"""The names in a text, found by how they are written; English and Chinese, no dictionary but surnames and places.

Beginnings of sentences are the hard part in English (any word has a capital there), running text in Chinese (no word
has one): the rules for each are in `entities_en` and `entities_zh`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Final

from mnemic.extract import entities_en, entities_zh
from mnemic.extract.chinese import has_chinese
from mnemic.extract.entity import Entity

if TYPE_CHECKING:
    from collections.abc import Iterator

_FORMED: Final = re.compile(
    r"(?P<link>https?://[^\s<>\"'）)，。]+|www\.[^\s<>\"'）)，。]+)"
    r"|(?P<email>(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})"
    r"|(?P<work>《[^》\n]{1,60}》)"
    r"|(?P<code>`[^`\n]{1,80}`|\b[A-Za-z][A-Za-z0-9]{0,40}(?:_[A-Za-z0-9]{1,40}){1,9}\b|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b|\b\w{1,60}(?:\.\w{1,60}){0,4}\(\)|\b[\w-]{1,80}\.(?:py|js|ts|json|md|txt|pdf|csv|html|yaml|toml|sql|sh)\b)"
    r"|(?P<quoted>\"[^\"\n]{2,60}\"|“[^”\n]{2,60}”|「[^」\n]{1,40}」|『[^』\n]{1,40}』)"
)
_MARKS: Final = re.compile(r"://|www\.|[@《`_(\"“「『]|\.[a-z]{2}|[a-z][A-Z]")
_WRAPPED: Final = '《》`"“”「」『』.,;:!?。，'
_TITLE_WORDS: Final = 6
_SPACE: Final = re.compile(r"[\s_]+")
_ARTICLE: Final = re.compile(r"^(?:the|a|an) (?=\S)")
_POSSESSIVE: Final = re.compile(r"(?:'s?|’s?)$")


def entities(text: str) -> tuple[Entity, ...]:
    """The names in `text`, in order of place, none inside another."""
    candidates = list(_formed(text)) if _MARKS.search(text) else []
    taken = [(entity.start, entity.end) for entity in candidates]
    if has_chinese(text):
        candidates += entities_zh.names(text)
    if _CAPITAL.search(text):
        candidates += entities_en.names(text)
    return _apart(candidates, taken)


_CAPITAL: Final = re.compile(r"[A-ZÀ-ÖØ-Þ]")


def canonical(name: str) -> str:
    """A name for comparing: lower case, without article, possessive, quotation marks and outer punctuation."""
    plain = _SPACE.sub(" ", name.strip().strip(_WRAPPED)).casefold().replace("’", "'")
    return _ARTICLE.sub("", _POSSESSIVE.sub("", plain)).strip(_WRAPPED + " ")


def _formed(text: str) -> Iterator[Entity]:
    """What its form gives away: links, addresses, titles, code, what is quoted like a title."""
    for match in _FORMED.finditer(text):
        kind = match.lastgroup or ""
        start, end = match.span()
        if kind in ("work", "code", "quoted") and text[start] in _WRAPPED:
            start, end = start + 1, end - 1
        if kind == "link":
            end = start + len(text[start:end].rstrip(".,;:!?"))
        if kind != "quoted" or _is_title(text[start:end]):
            yield Entity(text[start:end], start, end, "work" if kind == "quoted" else kind)


def _is_title(quoted: str) -> bool:
    """A title is short, begins in a capital or a character of Chinese, and is no sentence."""
    return not (
        quoted[:1].islower() or quoted[-1:] in ".,!?。，！？…" or len(quoted.split()) > _TITLE_WORDS or "，" in quoted
    )


def _apart(candidates: list[Entity], taken: list[tuple[int, int]]) -> tuple[Entity, ...]:
    """Those that overlap nothing before them, the longer of two that begin together; forms go first."""
    apart: list[Entity] = []
    formed = set(taken)
    starts = [start for start, _ in taken]
    for entity in sorted(candidates, key=lambda entity: (entity.start, -entity.end)):
        last = bisect_left(starts, entity.end) - 1  # of the forms, which are apart, the last that begins before its end
        if (entity.start, entity.end) not in formed and last >= 0 and taken[last][1] > entity.start:
            continue
        if not apart or apart[-1].end <= entity.start:
            apart.append(entity)
    return tuple(apart)

"""The tags and the text of HTML, in one pass whose time grows with its length, however broken the page is.

The standard library's parser takes quadratic time on unclosed tags and comments up to Python 3.11.13, and a tree
grows as deep as a stranger likes; a stream of events does neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from typing import Final

# A quote opens only after `=`, and one that never closes takes the rest of the page: no place is looked at twice.
_TAG: Final = re.compile(
    r"<(?P<slash>/?)(?P<name>[a-zA-Z][^\s/>]*+)(?P<attributes>(?:[^>=]++|=\s*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))?+)*+)>?"
)
_ATTRIBUTE: Final = re.compile(r"([^\s\"'>/=]++)(?:\s*+=\s*+(?:\"([^\"]*+)\"?|'([^']*+)'?|([^\s\"'>]++)))?+", re.DOTALL)
_RAW: Final = frozenset({"script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"})
_DROPPED: Final = frozenset({"script", "style", "iframe", "noembed", "noframes"})


@dataclass(frozen=True, slots=True)
class Tag:
    """One tag: its name in lower case, and whether it closes."""

    name: str
    closes: bool
    raw: str

    def attribute(self, name: str) -> str:
        """An attribute's value; "" where it has none."""
        for m in _ATTRIBUTE.finditer(self.raw):
            if m[1].lower() == name:
                return unescape(m[2] or m[3] or m[4] or "")
        return ""


def events(page: str) -> Iterator[Tag | str]:
    """The tags and texts of `page` in order, character references resolved; comments, scripts and styles left out."""
    at = 0
    while at < len(page):
        opening = page.find("<", at)
        if opening != at:
            yield unescape(page[at:] if opening < 0 else page[at:opening])
        if opening < 0:
            return
        tag = _TAG.match(page, opening)
        if tag is None:
            at = _past(page, opening)
            if at == opening + 1:
                yield "<"
            continue
        name = tag["name"].lower()
        yield Tag(name, bool(tag["slash"]), tag["attributes"])
        at = tag.end()
        if name in _RAW and not tag["slash"]:
            end = _close(page, name, at)
            if name not in _DROPPED and end > at:
                yield unescape(page[at:end])
            at = end


def _past(page: str, at: int) -> int:
    """Where a comment, declaration or instruction that opens at `at` ends; just past the bracket if it is none."""
    if page.startswith("<!--", at):
        end = page.find("-->", at + 2)
        return len(page) if end < 0 else end + 3
    if page.startswith(("<!", "<?", "</"), at):
        end = page.find(">", at)
        return len(page) if end < 0 else end + 1
    return at + 1


def _close(page: str, name: str, at: int) -> int:
    closing = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(page, at)
    return len(page) if closing is None else closing.start()

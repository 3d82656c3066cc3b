"""JSON read as places in a text, so that a change touches nothing but what it changes; comments are stepped over."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

from mnemic.errors import Invalid

Kind = Literal["object", "array", "scalar"]

_SPACE: Final = re.compile(r"[ \t\r\n]*")
COMMENT: Final = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING: Final = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"')
_SCALAR: Final = re.compile(
    r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9A-Za-z_.+-])|(?:true|false|null)\b"
)
_DEPTH: Final = 200
"""Deeper than anybody nests a configuration by hand."""


@dataclass(frozen=True, slots=True)
class Node:
    """One value: `text[start:end]`.

    Attributes:
        members: What an object or an array holds, in order.
        comma: Where the comma after the last member stands (a trailing one), or None.
    """

    kind: Kind
    start: int
    end: int
    members: tuple[Member, ...] = ()
    comma: int | None = None

    def get(self, key: str) -> Member | None:
        """Return the member of an object by its key; of twins the last, as parsers do."""
        matching = [member for member in self.members if member.key == key]
        return matching[-1] if matching else None


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an object, or one element of an array, whose key is None.

    Attributes:
        start: Where its key begins, or the value of an element.
        comma: Where the comma after it stands, or None.
    """

    key: str | None
    start: int
    value: Node
    comma: int | None = None


class Unreadable(Invalid):
    """A text that is not the JSON it should be; `line` counts from 1."""

    def __init__(self, problem: str, text: str, at: int) -> None:
        self.line = text.count("\n", 0, at) + 1
        super().__init__("file", f"line {self.line}: {problem}", "Mend it by hand, then try again.")


@lru_cache(maxsize=16)
def parse(text: str, *, comments: bool) -> Node:
    """The one value that `text` is. Every edit and look asks anew; a text that was read lately is not read again.

    Args:
        comments: Also take comments and commas after the last member, as editors do in their settings.

    Raises:
        Unreadable: it is not JSON; with the line.
    """
    scanner = _Scanner(text, comments)
    at = scanner.gap(0)
    node = scanner.value(at, 0)
    rest = scanner.gap(node.end)
    if rest < len(text):
        raise Unreadable("something follows the end of the JSON", text, rest)
    return node


def value(text: str, node: Node) -> Any:
    """Decode a node."""
    match node.kind:
        case "object":
            return {str(member.key): value(text, member.value) for member in node.members}
        case "array":
            return [value(text, member.value) for member in node.members]
        case _:
            return json.loads(text[node.start : node.end])


@dataclass(slots=True)
class _Scanner:
    text: str
    comments: bool

    def gap(self, at: int) -> int:
        """The end of the white space, and of the comments where there may be some."""
        while (first := self.text[at : at + 1]) and first in " \t\r\n/":
            at = _SPACE.match(self.text, at).end()  # type: ignore[union-attr]  # it matches the empty text as well
            comment = COMMENT.match(self.text, at)
            if comment is None:
                return at
            if not self.comments:
                raise Unreadable("a comment, which this program's JSON does not have", self.text, at)
            at = comment.end()
        return at

    def value(self, at: int, depth: int) -> Node:
        if depth > _DEPTH:
            raise Unreadable("nested too deeply", self.text, at)
        opening = self.text[at : at + 1]
        if opening in ("{", "["):
            return self._container(at, depth, "object" if opening == "{" else "array")
        match = _STRING.match(self.text, at) or _SCALAR.match(self.text, at)
        if match is None:
            raise self._unexpected("a value", at)
        return Node("scalar", at, match.end())

    def _container(self, start: int, depth: int, kind: Kind) -> Node:
        close = "}" if kind == "object" else "]"
        members: list[Member] = []
        at, comma = self.gap(start + 1), None
        while self.text[at : at + 1] != close:
            if members and comma is None:
                raise self._unexpected(f"a comma or {close!r}", at)
            key, first = (None, at) if kind == "array" else self._key(at)
            node = self.value(first, depth + 1)
            end = self.gap(node.end)
            comma = end if self.text[end : end + 1] == "," else None
            members.append(Member(key, at, node, comma))
            at = end if comma is None else self.gap(comma + 1)
        if comma is not None and not self.comments:
            raise Unreadable(f"a comma before {close!r}", self.text, comma)
        return Node(kind, start, at + 1, tuple(members), comma)

    def _key(self, at: int) -> tuple[str, int]:
        match = _STRING.match(self.text, at)
        if match is None:
            raise self._unexpected("a name in quotes", at)
        colon = self.gap(match.end())
        if self.text[colon : colon + 1] != ":":
            raise self._unexpected("a colon", colon)
        literal = match[0]
        return json.loads(literal) if "\\" in literal else literal[1:-1], self.gap(colon + 1)

    def _unexpected(self, wanted: str, at: int) -> Unreadable:
        here = repr(self.text[at]) if at < len(self.text) else "the end of the file"
        return Unreadable(f"{here} where {wanted} is expected", self.text, at)

"""Changes to a JSON text that leave every other byte where it is, and can be taken back to the byte."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from mnemic.errors import Invalid
from mnemic.faces.installing.json_spans import COMMENT, Member, Node, parse, value

Path = tuple[str, ...]
"""Keys from the root down."""

_INDENT: Final = re.compile(r"[ \t]*")
_SECOND_LINE: Final = re.compile(r"[\[{][^\S\r\n]*\r?\n([ \t]+)\S")
_TIGHT: Final = re.compile(r'\{\s*"[^"\\]*":\S')


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON text, and what is to be put back when all that we wrote is taken out of it again.

    Attributes:
        comments: Whether it may hold comments.
        made: By the path of a container, joined by slashes: None if we made it, else how it looked, empty, before us.
            The root's is the whole text, where that was blank.
    """

    text: str
    comments: bool = False
    made: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def blank(self) -> bool:
        return not self.text.strip()

    def root(self) -> Node:
        """The object that it is.

        Raises:
            Invalid: it is not JSON, or no object.
        """
        root = parse(self.text, comments=self.comments)
        return _of_kind(root, "object", "the file")

    def find(self, path: Path) -> Node | None:
        """What stands at a path of objects, or None.

        Raises:
            Invalid: the path leads through something that is no object, or a key on it stands twice.
        """
        if self.blank:
            return None
        node = self.root()
        for depth, key in enumerate(path):
            member = _member(_of_kind(node, "object", _named(path[:depth])), key)
            if member is None:
                return None
            node = member.value
        return node


def _named(path: Path) -> str:
    return ".".join(path) or "the file"


def _of_kind(node: Node, kind: str, name: str) -> Node:
    if node.kind != kind:
        was = "no object" if kind == "object" else "no list"
        raise Invalid("file", f"{name} is {was} but something else", "Mend it by hand, then try again.")
    return node


def _member(node: Node, key: str) -> Member | None:
    if sum(member.key == key for member in node.members) > 1:
        raise Invalid("file", f"the key {key!r} stands there twice", "Mend it by hand, then try again.")
    return node.get(key)


# Putting in


def put(document: Document, path: Path, new: Any) -> Document:
    """`document` with `new` at `path`; objects on the way are made where they are missing."""
    if document.blank:
        return _first(document, path, new)
    node = document.root()
    for depth, key in enumerate(path):
        member = _member(_of_kind(node, "object", _named(path[:depth])), key)
        if member is None:
            document = _note(document, path[:depth], node, [path[:end] for end in range(depth + 1, len(path))])
            return replace(document, text=_insert(document, node, key, _nested(path[depth + 1 :], new)))
        node = member.value
    return swap(document, node, new)


def push(document: Document, path: Path, element: Any) -> Document:
    """`document` with `element` at the end of the list at `path`, which is made if it is missing."""
    node = document.find(path)
    if node is None:
        document = put(document, path, [element])
        return replace(document, made={**document.made, "/".join(path): None})
    document = _note(document, path, _of_kind(node, "array", _named(path)), [])
    return replace(document, text=_insert(document, node, None, element))


def swap(document: Document, node: Node, new: Any) -> Document:
    """`document` with `new` in the place of one of its nodes, unless it says that already."""
    if json.dumps(value(document.text, node)) == json.dumps(new):
        return document
    style = _Style.of(document.text)
    inline = "\n" not in document.text[node.start : node.end] and not style.tall
    rendered = style.render(new, _indent_at(document.text, node.start), inline=inline)
    return replace(document, text=document.text[: node.start] + rendered + document.text[node.end :])


def _first(document: Document, path: Path, value: Any) -> Document:
    """A document made of nothing, or of blanks, which keep their place behind it."""
    style = _Style.of(document.text)
    rendered = style.render(_nested(path, value), "", inline=False)
    tail = "" if document.text else style.newline
    made = {"/".join(path[:end]): None for end in range(1, len(path))}
    return replace(document, text=rendered + tail + document.text, made={"": document.text, **made, **document.made})


def _nested(path: Path, value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _note(document: Document, path: Path, node: Node, new: Sequence[Path]) -> Document:
    """`document`, remembering how an empty container looked, and which ones are about to be made."""
    made: dict[str, str | None] = {"/".join(key_path): None for key_path in new}
    if not node.members:
        made["/".join(path)] = document.text[node.start : node.end]
    return replace(document, made={**made, **document.made})


def _insert(document: Document, node: Node, key: str | None, value: Any) -> str:
    """The text with one more member at the end of a container."""
    text, style = document.text, _Style.of(document.text)
    if not node.members:
        return _fill(document, node, key, value, style)
    last = node.members[-1]
    indent = _own_line(text, last.start)
    after = last.value.end if node.comma is None else node.comma + 1
    stop = _past_comments(text, after) if document.comments else after
    commented = text[after:stop].rfind("//") > text[after:stop].rfind("*/")
    if indent is None and commented:
        indent = _indent_at(text, node.start) + style.unit
    rendered = style.member(key, value, indent or _indent_at(text, last.start), inline=indent is None)
    gap = style.gap if indent is None else style.newline + indent
    if node.comma is not None:
        return text[:stop] + gap + rendered + "," + text[stop:]
    return text[:after] + "," + text[after:stop] + gap + rendered + text[stop:]


def _fill(document: Document, node: Node, key: str | None, value: Any, style: _Style) -> str:
    """The text with a first member in an empty container; comments in it stay."""
    text = document.text
    outer = _indent_at(text, node.start)
    inside = text[node.start + 1 : node.end - 1]
    kept = inside.rstrip()
    inline = not style.tall and not kept
    rendered = style.member(key, value, outer + style.unit, inline=inline)
    before, after = ("", "") if inline else (kept + style.newline + outer + style.unit, style.newline + outer)
    return text[: node.start + 1] + before + rendered + after + text[node.end - 1 :]


# Taking out


def cut(document: Document, path: Path, place: int) -> Document:
    """`document` without one member of the container at `path`; what it leaves empty is as it was before us, or gone.

    The text is empty when nothing is left of a document that we made.
    """
    node = document.find(path)
    assert node is not None, "only what was found is cut"
    return _tidied(replace(document, text=_without(document.text, node, place)), path)


def cut_inside(document: Document, node: Node, place: int) -> Document:
    """`document` without one of several members of any container."""
    return replace(document, text=_without(document.text, node, place))


def _without(text: str, node: Node, place: int) -> str:
    member = node.members[place]
    before = node.members[place - 1] if place else None
    base = node.start + 1 if before is None else (before.comma or before.value.end) + 1
    lead = _last_comment(text, base, member.start)
    if member.comma is not None:
        return text[:lead] + text[member.value.end : member.comma] + text[member.comma + 1 :]
    if before is None or before.comma is None:
        return text[:lead] + text[member.value.end :]
    return text[: before.comma] + text[before.comma + 1 : lead] + text[member.value.end :]


def _tidied(document: Document, path: Path) -> Document:
    node = document.find(path)
    if node is None or node.members:
        return document
    text, name = document.text, "/".join(path)
    if _comments(text[node.start : node.end]) != _comments(document.made.get(name) or ""):
        return document  # somebody wrote a comment there meanwhile
    if name in document.made and document.made[name] is None and path:
        parent = document.find(path[:-1])
        assert parent is not None, "what has a child is there"
        place = next(i for i, member in enumerate(parent.members) if member.key == path[-1])
        return cut(document, path[:-1], place)
    was = document.made.get(name)
    if not path and was is not None and not was.strip():
        return replace(document, text=was) if not (text[: node.start] + text[node.end :]).strip() else document
    empty = was or ("{}" if node.kind == "object" else "[]")
    return replace(document, text=text[: node.start] + empty + text[node.end :])


# How it is written


@dataclass(frozen=True, slots=True)
class _Style:
    """How a document is laid out: line ends, a step of indentation, whether it has lines at all, and its spaces."""

    newline: str
    unit: str
    tall: bool
    tight: bool

    @classmethod
    def of(cls, text: str) -> _Style:
        newline = "\r\n" if "\r\n" in text else "\n"
        stepped = _SECOND_LINE.search(text)
        body = text.strip()
        tall = "\n" in body or len(body) <= len("{ }")
        return cls(newline, stepped[1] if stepped else "  ", tall, bool(_TIGHT.match(body)) and not tall)

    @property
    def gap(self) -> str:
        """What stands before a member that shares its line with the one before."""
        return "" if self.tight else " "

    def member(self, key: str | None, value: Any, indent: str, *, inline: bool) -> str:
        rendered = self.render(value, indent, inline=inline)
        return (
            rendered if key is None else json.dumps(key, ensure_ascii=False) + (":" if self.tight else ": ") + rendered
        )

    def render(self, value: Any, indent: str, *, inline: bool) -> str:
        if inline:
            marks = (",", ":") if self.tight else (", ", ": ")
            return json.dumps(value, ensure_ascii=False, separators=marks)
        lines = json.dumps(value, ensure_ascii=False, indent=self.unit).split("\n")
        return (self.newline + indent).join(lines)


def _indent_at(text: str, at: int) -> str:
    """The white space that begins the line of a place."""
    start = text.rfind("\n", 0, at) + 1
    return _INDENT.match(text, start)[0]  # type: ignore[index]  # it matches the empty text as well


def _own_line(text: str, at: int) -> str | None:
    """The indentation of what begins a line at `at`; None if something stands before it."""
    start = text.rfind("\n", 0, at) + 1
    before = text[start:at]
    return before if start and not before.strip(" \t") else None


def _past_comments(text: str, at: int) -> int:
    """The end of the last comment that begins on the line of `at`, or `at`."""
    end = at
    while True:
        start = _INDENT.match(text, end).end()  # type: ignore[union-attr]
        comment = COMMENT.match(text, start)
        if comment is None:
            return end
        end = comment.end()


def _spans(text: str, start: int, stop: int) -> list[tuple[int, int]]:
    """Where the comments are in a stretch that holds nothing but white space, commas and comments."""
    spans = []
    at = start
    while (at := text.find("/", at, stop)) >= 0:
        comment = COMMENT.match(text, at)
        assert comment is not None, "a slash between values begins a comment"
        spans.append(comment.span())
        at = comment.end()
    return spans


def _last_comment(text: str, start: int, stop: int) -> int:
    spans = _spans(text, start, stop)
    return spans[-1][1] if spans else start


def _comments(container: str) -> list[str]:
    """The comments in an empty container."""
    return [container[start:end] for start, end in _spans(container, 1, len(container) - 1)]

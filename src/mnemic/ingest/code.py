"""Read source code: a document for each definition, under the path of names that lead to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mnemic.core.items import Kind
from mnemic.core.parts import PART_TOKENS
from mnemic.core.tokens import count_tokens
from mnemic.ingest.intake import Options, RawRecord, desk
from mnemic.ingest.message import Message, Skipped
from mnemic.ingest.source import Source

_SUFFIXES: Final = """
.bash .c .cc .cjs .clj .cpp .cs .css .cxx .dart .el .ex .exs .go .groovy .h .hh .hpp .hs .java .jl .js .jsx .kt .kts
.less .lisp .lua .m .mjs .ml .mm .nim .php .pl .pm .proto .ps1 .py .pyi .r .rb .rs .scala .scss .sh .sol .sql .svelte
.swift .tf .ts .tsx .vb .vue .zig .zsh
"""
SUFFIXES: Final = frozenset(_SUFFIXES.split())
"""The extensions of files that are read as code."""

_INDENTED: Final = frozenset({".py", ".pyi", ".nim"})
_DEFINES: Final = re.compile(r"(?P<indent>[ \t]*)(?:async[ \t]+)?(?:def|class|proc|func)[ \t]+(?P<name>\w+)")
_DECORATES: Final = re.compile(r"[ \t]*(?:@|#)")
# No character can end one repeat and begin the next, so that a long line is not tried in many ways.
_NAMES: Final = re.compile(
    r"(?:[\w\[\]<>()#:!,&'*\"-]+[ \t]+){0,8}?"
    r"(?:function\*?|func|fn|class|struct|interface|enum|trait|impl|type|module|namespace|object|protocol|extension|def|"
    r"sub|macro_rules!|message|service|contract|const|let|var|CREATE[ \t]+\w+|create[ \t]+\w+)"
    r"(?:<[^>\n]{0,80}>)?[ \t]+(?:\([^)\n]{0,80}\)[ \t]*)?(?P<name>[\w$.:]+)"
    r"|(?:[\w:<>,*&\[\]~]+[ \t]+){1,6}?[*&]*(?!(?:if|for|while|switch|return|match)\b)(?P<called>[\w:~]+)[ \t]*\("
)
_BLOCK_CONTINUES: Final = re.compile(r"[ \t)\]}]|(?:else|elif|except|finally|catch|end|fi|done|esac|then|do)\b|\Z")
_LONGEST_LINE: Final = 400
_DEEPEST: Final = 8
"""Most definitions inside each other that are told apart: every level reads its lines once more."""


@dataclass(frozen=True, slots=True)
class Block:
    """Some lines of a file that belong together.

    Attributes:
        first, last: Their numbers, from 1.
        path: The names of the definitions they are in; empty for what stands between definitions.
    """

    first: int
    last: int
    path: tuple[str, ...]
    text: str


def read_code(source: Source, options: Options) -> Iterator[Message | Skipped]:
    """One document for each definition at the file's outer level, or within one that is long; small neighbours share.

    The heading is the file's path and the names that lead there; the lines are in the slot `lines`. Documents joined
    by a line break are the file.

    Raises:
        Invalid: the file is not UTF-8.
        TooLarge: the file has more bytes than a text may have.
    """
    text = source.decoded(source.whole(options.limit))
    intake, name = desk(source, options), source.place or source.name
    suffix = "." + source.name.rpartition(".")[2].lower()
    for number, block in enumerate(blocks(text, indented=suffix in _INDENTED)):
        if block.text.strip():
            yield intake.take(
                RawRecord(
                    where=f"line {block.first}",
                    place=f"block-{number}",
                    text=block.text,
                    kind=Kind.DOCUMENT,
                    slots={
                        "title": name,
                        "heading": " > ".join(block.path),
                        "lines": f"{block.first}-{block.last}",
                    },
                )
            )


def blocks(text: str, *, indented: bool) -> list[Block]:
    """`text` in blocks of whole lines; joined by a line break they are `text`.

    Args:
        indented: Whether indentation makes the blocks, as in Python; else blank lines between outer lines do.
    """
    lines = text.split("\n")
    if indented:
        return _merged(list(_definitions(lines, 0, len(lines), "", ())))
    return _merged([_block(lines, first, last, _outer_path(lines[first:last])) for first, last in _stretches(lines)])


def _block(lines: list[str], first: int, last: int, path: tuple[str, ...]) -> Block:
    return Block(first + 1, last, path, "\n".join(lines[first:last]))


def _definitions(lines: list[str], first: int, last: int, indent: str, path: tuple[str, ...]) -> Iterator[Block]:
    """The definitions at one indentation, each with its decorators and comments, and what stands between them."""
    starts = [n for n in range(first, last) if (m := _DEFINES.match(lines[n])) and m["indent"] == indent]
    if not starts:
        yield _block(lines, first, last, path)
        return
    opened = [_opening(lines, n, first) for n in starts]
    if opened[0] > first:
        yield _block(lines, first, opened[0], path)
    for n, begins, ends in zip(starts, opened, [*opened[1:], last], strict=True):
        inside = _end(lines, n, ends, indent)
        yield from _definition(lines, begins, n, inside, path)
        if inside < ends:
            yield _block(lines, inside, ends, path)


def _definition(lines: list[str], first: int, line: int, last: int, path: tuple[str, ...]) -> Iterator[Block]:
    definition = _DEFINES.match(lines[line])
    here = (*path, definition["name"]) if definition else path
    inner = next((m["indent"] for inner_line in lines[line + 1 : last] if (m := _DEFINES.match(inner_line))), None)
    whole = _block(lines, first, last, here)
    deeper = inner is not None and len(inner) > len(definition["indent"] if definition else "") and len(here) < _DEEPEST
    if inner is None or not deeper or count_tokens(whole.text) <= PART_TOKENS:
        yield whole
    else:
        yield from _definitions(lines, first, last, inner, here)


def _opening(lines: list[str], line: int, first: int) -> int:
    """Where a definition begins: at its decorators and the comments right above it."""
    indent = len(lines[line]) - len(lines[line].lstrip())
    while line > first and _DECORATES.match(lines[line - 1]):
        if len(lines[line - 1]) - len(lines[line - 1].lstrip()) != indent:
            break
        line -= 1
    return line


def _end(lines: list[str], line: int, last: int, indent: str) -> int:
    """Where a definition's body ends: at the first line that is set in no further, and no bracket of its head."""
    for n in range(line + 1, last):
        text = lines[n]
        inside = not text.strip() or (text.startswith(indent) and text[len(indent)] in " \t")
        if not inside and not text.lstrip().startswith((")", "]", "}")):
            return n
    return last


def _stretches(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Lines in stretches that begin at an outer line after a blank one."""
    first = 0
    for n in range(1, len(lines)):
        if not lines[n - 1].strip() and not _BLOCK_CONTINUES.match(lines[n]):
            yield first, n
            first = n
    yield first, len(lines)


def _outer_path(lines: list[str]) -> tuple[str, ...]:
    """The name of the first thing that outer lines define."""
    for line in lines:
        if line[:1].strip() and (m := _NAMES.match(line[:_LONGEST_LINE])):
            return ((m["name"] or m["called"]).rstrip(":."),)
    return ()


def _merged(blocks: list[Block]) -> list[Block]:
    """Neighbours of the same path share a block while they are short, and so do nameless ones with what follows."""
    merged: list[Block] = []
    for block in blocks:
        before = merged[-1] if merged else None
        if before and (before.path == block.path or not block.text.strip() or not before.text.strip()):
            both = f"{before.text}\n{block.text}"
            if not block.text.strip() or not before.text.strip() or count_tokens(both) <= PART_TOKENS:
                merged[-1] = Block(before.first, block.last, before.path or block.path, both)
                continue
        merged.append(block)
    return merged

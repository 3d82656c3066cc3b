"""Find the blocks of markup whose lines are shown: literal blocks and directives, fenced and delimited blocks, and the
lines below a signature."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SIGNS: Final = re.compile(r"::|：：|--|==|__|\.\.|\*\*\*\*|\+\+\+\+|#\+|!!!|\?\?\?|\{|b(?<!\wb)q\.")
"""Without one of these a text has no such block."""
_LINE: Final = re.compile(r"[^\n]*+(?:\n|\Z)")
_INDENT: Final = re.compile(r"[ \t\xa0]*+")
_DIRECTIVE: Final = re.compile(
    r"[ \t]*+(?:\.\.[ \t]++[\w:+.-]{1,40}::|(?:!!!|\?\?\?\+?)[ \t]++\w|bq\.(?::\S{1,200})?[ \t])"
)
_SIGNATURE: Final = re.compile(r"--[ \t\xa0]*+\n")
"""What mail programs put above a signature."""
_FENCED: Final = (
    (re.compile(r"[ \t]*+:{3,}[ \t]*+\{?[\w.#][^\n]*+\n"), re.compile(r"[ \t]*+:{3,}[ \t]*+(?:\n|\Z)")),
    (re.compile(r"[ \t]*+#\+begin[_:]\w", re.IGNORECASE), re.compile(r"[ \t]*+#\+end", re.IGNORECASE)),
    (
        re.compile(
            r"[ \t]*+\{%-?[ \t]*+(?:quote|blockquote|pullquote|raw|highlight|verbatim|code\w*|note|admonition)\b"
        ),
        re.compile(r"[^\n]*?\{%-?[ \t]*+(?:/|end)"),
    ),
    (
        re.compile(r"[ \t]*+\{\{[<%]?[ \t]*+(?:quote|blockquote|highlight|code|note|notice|admonition)\b"),
        re.compile(r"[^\n]*?\{\{[<%]?[ \t]*+(?:/|(?:quote|blockquote)\}\})"),
    ),
    (
        re.compile(r"[ \t]*+\{(?:quote|code|noformat|panel)(?::[^}\n]{0,80})?\}"),
        re.compile(r"[^\n]*?\{(?:quote|code|noformat|panel)\}"),
    ),
)
"""How fenced blocks of other markups open, and how each closes."""
_DELIMITER: Final = re.compile(r"(?:-{4,}|={4,}|_{4,}|\.{4,}|\*{4,}|\+{4,})[ \t]*+\n?")


def markup_blocks(text: str, written: str) -> Iterator[tuple[int, int]]:
    """Where such blocks begin and end, in the order of their kinds.

    Args:
        written: The text before anything in it was blanked; blanks look like a line of marks.
    """
    if _SIGNS.search(text) is None:
        return
    lines = list(_LINE.finditer(text))
    yield from _indented(lines)
    yield from _fenced(lines)
    yield from _delimited(list(_LINE.finditer(written)))
    for line in lines:
        if _SIGNATURE.fullmatch(line[0]):
            yield line.start(), len(text)
            return


def _indented(lines: Sequence[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """What stands deeper than the line that opened it; below a "::" with nothing deeper, its next paragraph."""
    opened: int | None = None
    may_be_level = is_level = False
    for line in lines:
        if not line[0].strip():
            if is_level:
                opened = None
            continue
        indent = _indent(line[0])
        if opened is not None and (indent > opened or may_be_level or is_level):
            is_level = is_level or (may_be_level and indent <= opened)
            may_be_level = False
            yield line.span()
            continue
        opened, is_level = None, False
        directive = _DIRECTIVE.match(line[0]) is not None
        if directive:
            yield line.span()
        if directive or _opens_literal(line[0]):
            opened, may_be_level = indent, not directive


def _opens_literal(line: str) -> bool:
    return line.rstrip().endswith(("::", "：：")) and not line.rstrip().endswith(":::")


def _indent(line: str) -> int:
    begin = _INDENT.match(line)
    return 0 if begin is None else len(begin[0].expandtabs(4))


def _fenced(lines: Sequence[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """What stands between the lines that open and close a block; to the end where none closes it."""
    opened: tuple[int, re.Pattern[str]] | None = None
    for line in lines:
        if opened is not None:
            if opened[1].match(line[0]):
                yield opened[0], line.end()
                opened = None
            continue
        for opens, closes in _FENCED:
            begin = opens.match(line[0])
            if begin is None:
                continue
            if closes.match(line[0], begin.end()):
                yield line.span()
            else:
                opened = line.start(), closes
            break
    if opened is not None:
        yield opened[0], lines[-1].end()


def _delimited(lines: Sequence[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """What stands close between two equal lines of marks; a rule has blank lines about it, a title words above it."""
    opened: tuple[int, str] | None = None
    for n, line in enumerate(lines):
        if _DELIMITER.fullmatch(line[0]) is None:
            continue
        mark = line[0].strip()
        before = lines[n - 1][0].strip() if n else ""
        below = lines[n + 1][0].strip() if n + 1 < len(lines) else ""
        if opened is not None and opened[1] == mark and before:
            yield opened[0], line.end()
            opened = None
        elif below and (not before or before.startswith((".", "[")) or before.endswith((":", "：", "]"))):
            opened = line.start(), mark

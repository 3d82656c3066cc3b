"""One table of a TOML text put in, changed and taken out, every other byte left where it is.

Tables are found by their lines; one that stands in a string or a list of several lines is told from a table by what is
before it, which is no TOML then. What comes out is parsed, and refused unless it says exactly what it should.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from mnemic.errors import Invalid

Entry = Mapping[str, str | Sequence[str]]

_LINE: Final = re.compile(r"line (\d+)")
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_WHOLE_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
"""A line as TOML has them: other characters that end lines elsewhere may stand in a name."""
_ANY_HEADER: Final = re.compile(r"[ \t]*\[")
_NOTHING: Final = re.compile(r"[ \t]*(?:#[^\n]*)?\r?\n?")


def read(text: str) -> dict[str, Any]:
    """Parse a TOML text.

    Raises:
        Invalid: it is not TOML; with the line.
    """
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        line = _LINE.search(str(error))
        where = f"line {line[1]}: " if line else ""
        raise Invalid("file", f"{where}it is not TOML ({error})", "Mend it by hand, then try again.") from error


def find(text: str, table: str, name: str) -> Any:
    """Return what stands at `[table.name]`, or None.

    Raises:
        Invalid: the text is not TOML, or `table` is no table.
    """
    return _tables(read(text), table).get(name)


def snippet(table: str, name: str, entry: Entry, newline: str = "\n") -> str:
    """Write `[table.name]` as lines."""
    return newline.join((f"[{table}.{_key(name)}]", *(_line(key, value) for key, value in entry.items()), ""))


def put(text: str, table: str, name: str, entry: Entry) -> tuple[str, str | None]:
    """Put `entry` in `[table.name]`; return the text, and what was put before a new table, else None.

    Raises:
        Invalid: it is written there in a form that cannot be changed without writing all of it anew.
    """
    said = read(text)
    tables = _tables(said, table)
    wanted = {**said, table: {**tables, name: {**tables.get(name, {}), **entry}}}
    newline = "\r\n" if "\r\n" in text else "\n"
    if _canonical(wanted) == _canonical(said):
        return text, None
    if name in tables:
        return _checked(_changed(text, table, name, entry, newline), wanted, table, name), None
    glue = "" if not text or text.endswith(newline * 2) else newline if text.endswith("\n") else newline * 2
    return _checked(text + glue + snippet(table, name, entry, newline), wanted, table, name), glue


def drop(text: str, table: str, name: str, glue: str | None) -> str:
    """Drop `[table.name]`, what is under it, and what `put` wrote before it; return the text.

    Raises:
        Invalid: it is written there in a form that cannot be taken out without writing all of it anew.
    """
    said = read(text)
    rest = {key: value for key, value in _tables(said, table).items() if key != name}
    wanted = {key: value for key, value in said.items() if key != table} | ({table: rest} if rest else {})
    first = True
    while span := _span(text, table, name):
        before, after = text[: span[0]], text[span[1] :]
        text = _joined(before.removesuffix(glue or "") if first else before, after)
        first = False
    return _checked(text, wanted, table, name)


def _tables(parsed: Mapping[str, Any], table: str) -> Mapping[str, Any]:
    tables = parsed.get(table, {})
    if not isinstance(tables, dict):
        raise Invalid("file", f"{table} is no table but something else", "Mend it by hand, then try again.")
    return tables


def _changed(text: str, table: str, name: str, entry: Entry, newline: str) -> str:
    """The text with the lines of `entry` in the place of those that say the same keys."""
    span = _span(text, table, name)
    if span is None:
        return text
    header, *lines = _lines(text[span[0] : span[1]])
    for key, value in entry.items():
        line = re.compile(rf"[ \t]*{key}[ \t]*=")
        place = next((i for i, existing in enumerate(lines) if line.match(existing)), None)
        new_line = _line(key, value) + newline
        lines[len(lines) if place is None else place : len(lines) if place is None else place + 1] = [new_line]
    return text[: span[0]] + header + "".join(lines) + text[span[1] :]


def _span(text: str, table: str, name: str) -> tuple[int, int] | None:
    """From the first header at or under `[table.name]` to the end of its last line that says something."""
    key = "|".join(map(re.escape, (name, f"'{name}'", _key(name))))
    header = re.compile(rf"[ \t]*\[[ \t]*{table}[ \t]*\.[ \t]*(?:{key})[ \t]*[.\]]")
    start = end = None
    at = 0
    for line in _lines(text):
        if start is None:
            if header.match(line) and _is_outside(text, at):
                start, end = at, at + len(line)
        elif _ANY_HEADER.match(line) and not header.match(line) and _is_outside(text, at):
            break
        elif not _NOTHING.fullmatch(line):
            end = at + len(line)
        at += len(line)
    return None if start is None or end is None else (start, end)


def _is_outside(text: str, at: int) -> bool:
    """Whether a line begins outside of every string and list, so that the text before it is whole."""
    try:
        tomllib.loads(text[:at])
    except tomllib.TOMLDecodeError:
        return False
    return True


def _lines(text: str) -> list[str]:
    return [match[0] for match in _WHOLE_LINE.finditer(text)]


def _joined(before: str, after: str) -> str:
    if before and after and not before.endswith("\n") and not after.startswith(("\n", "\r\n")):
        return before + ("\r\n" if "\r\n" in after else "\n") + after
    return before + after


def _checked(text: str, wanted: Mapping[str, Any], table: str, name: str) -> str:
    try:
        said = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        said = {}
    if said.get(table) == {} and table not in wanted:
        del said[table]
    if _canonical(said) != _canonical(wanted):
        problem = f"{table}.{name} cannot be written there without writing all of the file anew"
        raise Invalid("file", problem, "Edit it by hand; `--dry-run --json` shows what belongs there.")
    return text


def _canonical(parsed: Mapping[str, Any]) -> str:
    return json.dumps(parsed, sort_keys=True, default=repr)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")


def _line(key: str, value: str | Sequence[str]) -> str:
    # A string of JSON is one of TOML too, but for the delete character, which TOML wants spelt out.
    return f"{key} = {json.dumps(value, ensure_ascii=False)}".replace("\x7f", "\\u007f")

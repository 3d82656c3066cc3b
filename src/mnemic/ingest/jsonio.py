"""JSON from strangers: bounded in depth and size, without NaN, read an element at a time."""

from __future__ import annotations

import codecs
import json
import math
from collections.abc import Iterator, Mapping
from typing import Final, cast

from mnemic.core.items import Slot
from mnemic.errors import Invalid, TooLarge
from mnemic.ingest.source import Source

DEPTH: Final = 64
"""Most levels of lists and objects inside each other."""

ELEMENT: Final = 256 * 1024 * 1024
"""Most characters of one element of a JSON list that is read as a stream."""

_CHUNK: Final = 64 * 1024
_SPACE: Final = " \t\r\n"
_LONGEST_LITERAL: Final = 16
_SHAPE: Final = "Give valid JSON; `python -m json.tool FILE` shows where it breaks."


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_no_constant)


def parse(line: bytes) -> object:
    """The value of one line of JSON.

    Raises:
        Invalid: not UTF-8, not JSON, or nested deeper than 64 levels.
    """
    try:
        value: object = _DECODER.decode(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Invalid("line", f"is not UTF-8 (byte {error.start})", "Write the file again as UTF-8.") from error
    except json.JSONDecodeError as error:
        raise Invalid("line", f"is not JSON ({error.msg}, character {error.pos})", "Correct the line.") from error
    except ValueError as error:
        raise Invalid("line", f"holds a number we cannot take ({error})", "Correct the line.") from error
    except RecursionError as error:
        raise _too_deep() from error
    refuse_depth(value)
    return value


def refuse_depth(value: object) -> None:
    """Raise `TooLarge` where `value` is nested deeper than 64 levels."""
    level = [value]
    for _ in range(DEPTH + 1):
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return
    raise _too_deep()


def storable(field: str, value: object) -> Slot:
    """`value` itself, if a slot can hold it.

    Raises:
        Invalid: a NUL, a lone surrogate or an infinite number is in it.
    """
    waiting = [value]
    while waiting:
        value_part = waiting.pop()
        if isinstance(value_part, str):
            _refuse_string(field, value_part)
        elif isinstance(value_part, float) and not math.isfinite(value_part):
            raise Invalid(field, "holds a number that is not finite", "Write it as text.")
        elif isinstance(value_part, Mapping):
            waiting.extend(value_part)
        waiting.extend(_children(value_part))
    return cast("Slot", value)


def elements(source: Source) -> Iterator[object]:
    """The elements of a file's one JSON list, or its one value if that is no list, each read when it is asked for.

    Raises:
        Invalid: the file stops being UTF-8 or JSON; the elements before that have been given.
        TooLarge: one element has more than 256 Mi characters, or is nested too deep.
    """
    text = _Window(source)
    if text.next() != "[":
        yield text.value()
    else:
        text.skip()
        more = text.next() != "]"
        while more:
            yield text.value()
            more = text.next() == ","
            if more:
                text.skip()
        if text.next() != "]":
            raise text.broken("a list does not end")
        text.skip()
    if text.next():
        raise text.broken("something follows the end")


class _Window:
    """The part of a JSON text that is in view; it grows until a value is whole."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self._text = ""
        self._at = 0
        self._ended = False
        self._count = 0

    def next(self) -> str:
        """The next character that is not white space, "" at the end; it stays in view."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._text) or not self._grow(_CHUNK):
                return self._text[self._at : self._at + 1]

    def skip(self) -> None:
        """Pass one character."""
        self._at += 1

    def value(self) -> object:
        """The value that starts here."""
        self._count += 1
        self.next()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if self._is_wrong(error) or not self._grow(len(self._text) - self._at):
                    raise self.broken(error.msg) from error
            except ValueError as error:
                raise self.broken(str(error)) from error
            except RecursionError as error:
                raise _too_deep() from error
            else:
                length = end - self._at
                if end < len(self._text) or not self._grow(_CHUNK):
                    self._at += length
                    refuse_depth(value)
                    return cast("object", value)

    def broken(self, problem: str) -> Invalid:
        """The error that says which element could not be read."""
        return Invalid("path", f"{self._source.label}, element {self._count}: not JSON ({problem})", _SHAPE)

    def _is_wrong(self, error: json.JSONDecodeError) -> bool:
        """Whether more text could not help."""
        return not error.msg.startswith("Unterminated") and error.pos < len(self._text) - _LONGEST_LITERAL

    def _grow(self, size: int) -> bool:
        self._text, self._at = self._text[self._at :], 0
        if len(self._text) > ELEMENT:
            raise TooLarge(
                "path", f"{self._source.label}, element {self._count} is over {ELEMENT:,} characters", "Split it."
            )
        chunk = b"" if self._ended else self._source.read(max(size, _CHUNK))
        try:
            self._text += self._decode(chunk, not chunk)
        except UnicodeDecodeError as error:
            raise Invalid(
                "path", f"{self._source.label}, element {self._count}: not UTF-8", "Write the file again as UTF-8."
            ) from error
        self._ended = not chunk
        return bool(chunk)


def _children(value: object) -> list[object]:
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list) else []


def _refuse_string(field: str, text: str) -> None:
    if "\x00" in text:
        raise Invalid(field, "holds a NUL", "Remove it.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Invalid(field, "holds a lone surrogate", "Decode the source again, as UTF-8.") from error


def _too_deep() -> TooLarge:
    return TooLarge("json", f"is nested deeper than {DEPTH} levels", "Flatten it.")

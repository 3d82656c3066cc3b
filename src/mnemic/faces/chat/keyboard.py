"""Where messages come from: a person at a terminal, with line editing and history, or lines of standard input."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from mnemic.errors import Invalid

PROMPT: Final = "you> "


def at_terminal() -> bool:
    """Whether a person types and reads."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def typed() -> Iterator[str]:
    """Lines as they are typed, until Ctrl-D; Ctrl-C drops the line."""
    with suppress(ImportError):
        importlib.import_module("readline")  # from then on `input` edits lines and remembers them
    while True:
        try:
            yield input(PROMPT)
        except KeyboardInterrupt:
            print("\n(Ctrl-D or /quit leaves)")
        except EOFError:
            print()
            return


def piped(*, echo: bool) -> Iterator[str]:
    """Lines of standard input, shown as if typed if `echo`.

    Raises:
        Invalid: there is no standard input; at a line of it, that it is not text in UTF-8.
    """
    if sys.stdin is None:
        raise Invalid("standard input", "is closed", "Type in a terminal, or give a line a message in a pipe.")
    return _read(echo)


def _read(echo: bool) -> Iterator[str]:
    for raw in sys.stdin.buffer:
        try:
            line = raw.decode().rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise Invalid("text", f"is not UTF-8 (byte {error.start} of a line)", "Convert it first.") from error
        if echo and line.strip():
            print(f"{PROMPT}{line}", flush=True)
        yield line

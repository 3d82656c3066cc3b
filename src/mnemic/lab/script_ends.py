"""How a script of the laboratory ends that is stopped: one line that says what is kept, and an exit code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from mnemic.errors import MnemicError

INTERRUPTED: Final = 130

_REFUSED: Final = 2


class StoppedScript(KeyboardInterrupt):
    """An interrupt of a script; its words say what is kept."""


@contextmanager
def when_stopped(kept: str) -> Iterator[None]:
    """Say what an interrupt leaves, where nobody inside has said so."""
    try:
        yield
    except StoppedScript:
        raise
    except KeyboardInterrupt as stop:
        raise StoppedScript(kept) from stop


def exit_code(work: Callable[[argparse.Namespace], int], options: argparse.Namespace) -> int:
    """Do a script's work; an interrupt and an error of ours are told in a line, and have codes of their own."""
    try:
        with when_stopped("nothing is kept"):
            return work(options)
    except StoppedScript as stop:
        print(f"interrupted: {stop}", file=sys.stderr)
        return INTERRUPTED
    except MnemicError as error:
        print(f"error: {error}", file=sys.stderr)
        return _REFUSED

"""Sessions that a program leaves open are given back when it closes its memory, or ends as programs do."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from mnemic.errors import MnemicError

if TYPE_CHECKING:
    from mnemic.opening import Opened

_open: Final[dict[object, Callable[[], None]]] = {}
"""What gives back each session that is open in this process."""


def give_back_at_exit(opened: Opened, give_back: Callable[[], None]) -> Callable[[], None]:
    """Have a session given back with its memory or its program; what is called once it is closed."""
    token = object()
    opened.leaving[token] = _open[token] = give_back
    return partial(_forget, opened, token)


def _forget(opened: Opened, token: object) -> None:
    opened.leaving.pop(token, None)
    _open.pop(token, None)


@atexit.register
def _give_back_all() -> None:
    for give_back in list(_open.values()):
        with suppress(MnemicError):  # the lease runs out by itself
            give_back()

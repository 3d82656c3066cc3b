"""An environment for a process that is to see nothing of the caller's."""

from __future__ import annotations

import os

_COMPILED = "PYTHONPYCACHEPREFIX"
"""Where `scripts/test` keeps what is compiled: without it a process compiles every module that it imports."""


def bare(**given: str) -> dict[str, str]:
    """What is given, and where modules lie compiled."""
    return {**({_COMPILED: os.environ[_COMPILED]} if _COMPILED in os.environ else {}), **given}

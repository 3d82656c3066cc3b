"""How many ids are bound to one statement of SQLite, and how the statement says so."""

from __future__ import annotations

from typing import Final

CHUNK: Final = 500
"""Ids bound to one statement."""


def among(column: str, n: int) -> str:
    """The condition that a column has one of `n` bound values."""
    return f"{column} IN ({','.join('?' * n)})"

"""Scopes: whose memory is meant. Tenant and user are walls, agent and session are shelves."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from mnemic.core.checking import clean_name


class Shared(Enum):
    """The type of `SHARED`, its only value."""

    SHARED = "SHARED"

    def __repr__(self) -> str:
        return "SHARED"


SHARED: Final = Shared.SHARED
"""The tenant's common space, in place of a user's name. Writing to it is explicit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """A scope names whose memory is meant.

    Attributes:
        user: A wall: one user never sees another's memory. A name, or `SHARED`.
        tenant: A wall round many users.
        agent: A shelf. Left out of a read it means any, out of a write none.
        session: A shelf, likewise.

    Raises:
        Invalid: a name is empty, too long, or holds a character no store takes.
    """

    user: str | Shared
    tenant: str = "default"
    agent: str | None = None
    session: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.user, Shared):
            clean_name("user", self.user)
        clean_name("tenant", self.tenant)
        for field in ("agent", "session"):
            name = getattr(self, field)
            if name is not None:
                clean_name(field, name)

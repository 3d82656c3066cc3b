"""Whose the hooks of a client are: they belong to those of our entries that name the same memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mnemic.faces.installing.own_entries import Scope


@dataclass(frozen=True, slots=True)
class Tenure:
    """Our entries in a client's file, seen from the one that is put in or goes.

    Attributes:
        name: That entry's.
        scopes: Whose memory each entry offers, by its name, as it stands.
    """

    name: str
    scopes: Mapping[str, Scope]

    def holds(self, scope: Scope) -> bool:
        """Whether hooks of a scope are not for this entry alone to take elsewhere."""
        return self.scopes.get(self.name) != scope or self.names(scope) != [self.name]

    def spares(self, scope: Scope) -> bool:
        """Whether hooks of a scope stay where this entry's go; with the last entry go all."""
        others = [name for name in self.scopes if name != self.name]
        return bool(others) and self.holds(scope)

    def names(self, scope: Scope) -> list[str]:
        """The entries of a scope."""
        return [name for name, one in self.scopes.items() if one == scope]

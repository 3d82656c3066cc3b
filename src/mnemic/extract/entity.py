"""A name found in a text, and what every recogniser of names promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Entity:
    """A name in a text.

    Attributes:
        name: As it is written: `text[start:end]`.
        kind: "person", "place", "organisation", "work", "link", "email", "code", or empty where the form does not say.
    """

    name: str
    start: int
    end: int
    kind: str = ""


class Recogniser(Protocol):
    """Finds the names in texts. Loaded on first use; safe to call again and again."""

    def entities(self, text: str) -> tuple[Entity, ...]:
        """The names in `text`, in order of place, none inside another; `text[start:end]` is each name."""
        ...


class Rules:
    """The recogniser that needs nothing installed."""

    def entities(self, text: str) -> tuple[Entity, ...]:
        from mnemic.extract.entities import entities

        return entities(text)

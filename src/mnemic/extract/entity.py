"""A name found in a text."""

from __future__ import annotations

from dataclasses import dataclass


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

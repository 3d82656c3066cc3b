"""How long things are kept: retention classes by name, who belongs to which, and how much of the journal's past."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from mnemic.core.clock import span as span_of
from mnemic.core.items import Kind
from mnemic.errors import Invalid

KEEP: Final = "keep"
"""The class that no collector touches."""

NORMAL: Final = "normal"
"""The class of whatever names none."""

TAG: Final = "retain:"
"""`retain:<class>` as an item's tag puts it into that class, whatever its kind."""

_COMMITS: Final = re.compile(r"(\d+)\s*commits?")
_FOREVER: Final = ("never", "all", "ever")


@dataclass(frozen=True, slots=True)
class Retention:
    """The retention classes: which one an item is in, and how long each keeps its items.

    Attributes:
        classes: Microseconds by class; None for as long as nobody forgets it.
        kinds: The class of a kind; `normal` for kinds that are not here.
    """

    classes: Mapping[str, int | None] = field(default_factory=lambda: {NORMAL: None, KEEP: None})
    kinds: Mapping[Kind, str] = field(default_factory=dict)

    def of(self, kind: Kind, tags: tuple[str, ...]) -> str:
        """Name an item's class: by its tag, else by its kind. Of several tags the class that keeps longest counts.

        A tag that names no class is no mistake of ours to act upon: it means `keep`, and a run tells of it.
        """
        named = _named(tags)
        if not named:
            return self.kinds.get(kind, NORMAL)
        return max((name if name in self.classes else KEEP for name in named), key=self._length)

    def unknown(self, tags: tuple[str, ...]) -> set[str]:
        """List the classes that an item's tags name and the settings do not know."""
        return {name for name in _named(tags) if name not in self.classes}

    def lasts(self, name: str) -> int | None:
        """Return how long a class keeps its items, in microseconds; None for ever."""
        return None if name == KEEP else self.classes.get(name)

    def _length(self, name: str) -> tuple[bool, bool, int]:
        lasts = self.lasts(name)
        return name == KEEP, lasts is None, lasts or 0


def _named(tags: tuple[str, ...]) -> list[str]:
    return [tag.removeprefix(TAG) for tag in tags if tag.startswith(TAG)]


def retention(classes: str, kinds: str) -> Retention:
    """Parse the settings of retention: `ephemeral=1 day, normal=never` and `turn=ephemeral, summary=normal`.

    Raises:
        Invalid: a span, a kind or a class is none.
    """
    spans: dict[str, int | None] = {NORMAL: None, KEEP: None}
    for name, span in _pairs("retention", classes):
        spans[name] = _span("retention", span)
    if spans[KEEP] is not None:
        raise Invalid("retention", "gives `keep` an end", "That class is for what no collector touches.")
    kinds_by_name = {str(kind): kind for kind in Kind}
    of: dict[Kind, str] = {}
    for kind, name in _pairs("retention_kinds", kinds):
        if kind not in kinds_by_name or name not in spans:
            problem = f"{kind!r} is no kind" if kind not in kinds_by_name else f"{name!r} is no class"
            raise Invalid(
                "retention_kinds", problem, f"Kinds: {', '.join(kinds_by_name)}. Classes: {', '.join(spans)}."
            )
        of[kinds_by_name[kind]] = name
    return Retention(spans, of)


def _pairs(field_: str, text: str) -> list[tuple[str, str]]:
    pairs = []
    for part in filter(None, (pair.strip() for pair in text.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not (name and equals and value):
            raise Invalid(field_, f"{part!r} is no pair", "Write name=value, separated by commas.")
        pairs.append((name, value))
    return pairs


def _span(field_: str, text: str) -> int | None:
    if text.casefold() in _FOREVER:
        return None
    if (length := span_of(text)) is None:
        remedy = "Write '30 days' or 'never'; units: second, minute, hour, day, week, year."
        raise Invalid(field_, f"{text!r} is no span of time", remedy)
    return length


@dataclass(frozen=True, slots=True)
class RetainedPast:
    """How much of the journal's past is kept: commits, or microseconds; all of it where neither is said."""

    commits: int | None = None
    span: int | None = None

    @property
    def all(self) -> bool:
        """Whether all of the past is kept."""
        return self.commits is None and self.span is None

    @property
    def nothing(self) -> bool:
        """Whether none of the past is kept."""
        return self.commits == 0 or self.span == 0


def past(text: str) -> RetainedPast:
    """Parse the setting `keep_past`: `all`, `30 days` or `10000 commits`.

    Raises:
        Invalid: it is none of these.
    """
    if text.strip().casefold() == "all":
        return RetainedPast()
    if (match := _COMMITS.fullmatch(text.strip().casefold())) is not None:
        return RetainedPast(commits=int(match[1]))
    if (length := span_of(text)) is not None:
        return RetainedPast(span=length)
    raise Invalid("keep_past", f"{text!r} says not how much", "Write 'all', '30 days' or '10000 commits'.")

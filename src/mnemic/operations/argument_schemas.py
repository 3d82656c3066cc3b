"""The JSON schemas of what arguments have in common: a request that fits them is one that a verb can take.

Patterns are of ECMA 262, and hold in Python too. They repeat what `core.checking` and `core.clock` refuse in better
words: `check` lets them be, and a test and `scripts/fuzz-rest` hold both to the same.
"""

from __future__ import annotations

from typing import Any, Final

from mnemic.core.checking import NAME_LIMIT
from mnemic.core.ids import ALPHABET
from mnemic.core.json_schema import text, whole
from mnemic.writing import KEY_LIMIT

MOST: Final = 2**62
"""The largest number of a commit or a job that a verb takes."""
_NAME: Final = r"^[^\x00-\x1f\x7f]*[^\x00-\x1f\x7f\s][^\x00-\x1f\x7f]*$"
"""On one line, not blank."""
_WORDS: Final = r"^[^\x00]*[^\x00\x1c-\x1f\s][^\x00]*$"
"""Not blank; a NUL cannot be kept."""
_MAYBE_WORDS: Final = r"^[^\x00]*$"
_CURSOR: Final = "^c[A-Za-z0-9_-]{22,200}$"
_MARK: Final = "^(0|[1-9][0-9]{0,17})(-[0-9a-f]{16})?$"
_SPAN: Final = "^[1-9][0-9]{0,2} ?(seconds?|minutes?|hours?|days?|weeks?|years?|s|min|h|d|w|y)$"
_ID: Final = f"^[0-7][{ALPHABET}]{{25}}$"


def name_text(description: str = "") -> dict[str, Any]:
    """The schema of a name: of a user, an agent, a session, a branch, a tag."""
    return text(description, minLength=1, maxLength=NAME_LIMIT, pattern=_NAME)


def name_or_none_text(description: str) -> dict[str, Any]:
    """The schema of a line that may be left empty."""
    return text(description, maxLength=NAME_LIMIT, pattern=f"^$|{_NAME}")


def nonblank_text(description: str = "") -> dict[str, Any]:
    """The schema of a text that says something."""
    return text(description, minLength=1, pattern=_WORDS)


def any_text(description: str = "") -> dict[str, Any]:
    """The schema of a text that may be empty."""
    return text(description, pattern=_MAYBE_WORDS)


def time_text(description: str) -> dict[str, Any]:
    """The schema of a time, or a day, in ISO 8601; without a zone it is on the clock of the settings."""
    return {"anyOf": [text(format="date-time"), text(format="date")], "description": description}


def time_or_span(description: str) -> dict[str, Any]:
    """The schema of a time, a day, or a span of time from now."""
    return {"anyOf": [*time_text("")["anyOf"], text(pattern=_SPAN)], "description": description}


def commit_number(description: str, *, low: int = 0) -> dict[str, Any]:
    """The schema of the number of a commit, or of a job."""
    return whole(description, low=low, high=MOST)


def commit_or(text_schema: dict[str, Any], description: str) -> dict[str, Any]:
    """The schema of the number of a commit, or a text that says where one is."""
    kinds = {"type": ["integer", "string"], "minimum": 0, "maximum": MOST}
    return {**text_schema, **kinds, "description": description}


ID: Final = text("The id of an item: 26 characters.", minLength=26, maxLength=26, pattern=_ID)
PART_OF_ID: Final = text("Some characters of an id.", minLength=1, maxLength=26, pattern=f"^[{ALPHABET}]+$")
KEY: Final = text(
    "Makes a retry safe: the same key with the same content gives the first receipt.",
    minLength=1, maxLength=KEY_LIMIT, pattern=_WORDS,
)  # fmt: skip
CURSOR: Final = text("The `next` of the page before.", minLength=1, pattern=_CURSOR)
MARK: Final = text(pattern=_MARK)

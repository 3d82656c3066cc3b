"""One event of a client, as it tells it on standard input."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO, Final

from mnemic.errors import Invalid

INPUT_LIMIT: Final = 16 * 1024 * 1024
"""Bytes a client may tell at once."""


@dataclass(frozen=True, slots=True)
class HookEvent:
    """One event, as a client tells it.

    Attributes:
        fields: The JSON object, as it came.
    """

    fields: Mapping[str, Any]

    def text(self, *names: str) -> str | None:
        """The first of some fields that holds text; clients spell them differently."""
        values = (self.fields.get(name) for name in names)
        return next((value for value in values if isinstance(value, str) and value.strip()), None)

    @property
    def session(self) -> str | None:
        return self.text("session_id", "conversation_id", "sessionId")

    @property
    def cwd(self) -> str | None:
        """The folder that is worked in."""
        roots = self.fields.get("workspace_roots")
        first = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else None
        return self.text("cwd") or first

    @property
    def moment(self) -> datetime | None:
        return read_moment(self.fields.get("timestamp"))


def read(stream: BinaryIO) -> HookEvent:
    """What stands on a stream.

    Raises:
        Invalid: it is not one JSON object of a bearable size.
    """
    raw = stream.read(INPUT_LIMIT + 1)
    if len(raw) > INPUT_LIMIT:
        raise Invalid("stdin", f"holds more than {INPUT_LIMIT:,} bytes", "Pipe the JSON of one event.")
    try:
        fields = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise Invalid("stdin", f"is not JSON ({error})", "The client pipes it; see `mnemic hook --help`.") from error
    if not isinstance(fields, dict):
        raise Invalid("stdin", "is JSON but no object", "The client pipes it; see `mnemic hook --help`.")
    return HookEvent(fields)


def read_moment(value: object) -> datetime | None:
    """A time with its zone, as ISO 8601; None for anything else."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None

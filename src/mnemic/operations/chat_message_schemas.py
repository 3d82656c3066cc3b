"""The JSON schemas of a message as chat models take it: words in a text or in parts, calls of tools, their results."""

from __future__ import annotations

from typing import Any, Final

from mnemic.core.json_schema import Schema, many, shape, text
from mnemic.ingest.chat_message import SPOKEN_PARTS
from mnemic.operations.argument_schemas import any_text, name_text, nonblank_text, time_text

_YEAR_1: Final = -62_135_596_800
_YEAR_9999: Final = 253_402_300_799_000_000
"""In microseconds, as which numbers so large are read."""


def _with(fields: dict[str, Schema], needed: tuple[str, ...]) -> dict[str, Any]:
    """The schema of an object that has these fields, and may have others."""
    return {"type": "object", "properties": fields, "required": list(needed)}


_SPOKEN: Final = [
    _with({"type": text(among=(kind,)), field: any_text()}, ("type", field)) for kind, field in SPOKEN_PARTS.items()
]
_READ: Final = [*SPOKEN_PARTS, "tool_use", "tool_result"]
_NOTED: Final = _with({"type": {**name_text("Kept as a note that there was one."), "not": {"enum": _READ}}}, ("type",))
_CALL_BLOCK: Final = _with(
    {"type": text(among=("tool_use",)), "name": name_text(), "id": name_text()}, ("type", "name", "id")
)
_RESULT_BLOCK: Final = _with(
    {
        "type": text(among=("tool_result",)),
        "tool_use_id": name_text(),
        "content": {"anyOf": [any_text(), many({"anyOf": [*_SPOKEN, _NOTED]})]},
    },
    ("type", "tool_use_id"),
)
_PARTS: Final = many({"anyOf": [*_SPOKEN, _CALL_BLOCK, _RESULT_BLOCK, _NOTED]}, minItems=1)
_FUNCTION: Final = _with({"name": nonblank_text(), "arguments": any_text()}, ("name", "arguments"))
_CALL: Final = _with({"function": _FUNCTION}, ("function",))
CHAT_TIME: Final = {
    "anyOf": [*time_text("")["anyOf"], {"type": "number", "minimum": _YEAR_1, "maximum": _YEAR_9999}],
    "description": "ISO 8601, or seconds since 1970 UTC.",
}
_ABOUT: Final = {
    "role": name_text(),
    "name": name_text("Who spoke."),
    "tool_call_id": name_text(),
    "timestamp": CHAT_TIME,
    "created_at": CHAT_TIME,
}
CHAT_MESSAGES: Final = (
    shape({"content": {"anyOf": [nonblank_text(), _PARTS]}}, _ABOUT),
    shape(
        {"tool_calls": many(_CALL, minItems=1)},
        {"content": {"anyOf": [any_text(), _PARTS, {"type": "null"}]}, **_ABOUT},
    ),
)
"""A message that says something, and one that calls tools."""

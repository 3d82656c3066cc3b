"""The loading dock: files of every sort, read as a stream of messages. It parses and never writes."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mnemic.ingest.inputs import count_hint
    from mnemic.ingest.intake import Options
    from mnemic.ingest.message import Edge, Message, Skipped
    from mnemic.ingest.readers import READERS, detect, read

_HOME = {
    "READERS": "readers",
    "Edge": "message",
    "Message": "message",
    "Options": "intake",
    "Skipped": "message",
    "count_hint": "inputs",
    "detect": "readers",
    "read": "readers",
}

__all__ = ["READERS", "Edge", "Message", "Options", "Skipped", "count_hint", "detect", "read"]


def __getattr__(name: str) -> Any:
    """Readers are fetched when they are first used: whoever only wants a `Message` does not pay for them."""
    if name not in _HOME:
        raise AttributeError(f"module 'mnemic.ingest' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"mnemic.ingest.{_HOME[name]}"), name)
    globals()[name] = value
    return value

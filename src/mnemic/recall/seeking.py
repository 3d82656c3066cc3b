"""What a lane may ask of recall: the evidence for a query of its own."""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.core.queries import Context, Query
from mnemic.flow import Flow, Request


@dataclass(frozen=True, slots=True)
class Seek(Request):
    """The evidence that bears on a query, as recall finds it."""

    query: Query


def seek(query: Query) -> Flow[Context]:
    """Have recall find the evidence that bears on a query."""
    found: Context = yield Seek(query)
    return found

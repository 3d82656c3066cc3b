"""What a strategy recalls without a model: rules find too few facts to answer from, so turns carry them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mnemic.core.items import Kind
from mnemic.core.queries import Filter
from mnemic.strategies.base import Asked, Pick, known
from mnemic.strategies.strategy_requests import search

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.flow import Flow

_TURNS: Final = Filter(kinds=(Kind.TURN,))


def among_turns(asked: Asked, facts: Sequence[Pick]) -> Flow[list[Pick]]:
    """Rank turns as a search does, each behind the facts that rest on it; facts of other turns come last.

    Where no turn is found they are the latest, as in everybody's recall.
    """
    turns = [hit.item for hit in (yield from search(asked.text, _TURNS, asked.k))]
    turns = turns or list((yield from known(_TURNS, asked.k)))
    ranked: dict[ItemId, Pick] = {}
    for turn in turns:
        stated = {pick.item.id: pick for pick in facts if turn.id in pick.item.source}
        own = Pick(item=turn, score=0.0, why="found as everybody's recall finds turns: by rules few facts are kept")
        ranked = {**ranked, **{id: pick for id, pick in stated.items() if id not in ranked}, turn.id: own}
    ranked |= {pick.item.id: pick for pick in facts if pick.item.id not in ranked}
    return [replace(pick, score=1 / (1 + place)) for place, pick in enumerate(ranked.values())]

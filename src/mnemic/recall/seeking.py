"""What a flow may ask of recall: which items bear on a query of its own, without what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mnemic.core.ids import ItemId
from mnemic.core.queries import LaterEvidence, Query, View
from mnemic.flow import Flow, Request


@dataclass(frozen=True, slots=True)
class Sought:
    """An item that bears on a query, by its number: nobody has read it yet.

    Attributes:
        space, ver: Where it lies.
        kind: Its kind, as a column holds it (`store.engine.codec.kind_number`).
        score: What it is ranked by; comparable within one ranking only.
        cosine: How near it is in meaning, -1 to 1; None where that was not asked for, or there is no vector of it.
    """

    id: ItemId
    space: int
    ver: int
    kind: int
    score: float
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class Seek(Request):
    """The items that bear on a query, best first, at most `k`; none where no word and no meaning brings any.

    Attributes:
        by_score: In the plain order of score, cosines left out: what says the same as a better one stays in, and of the
            states of one matter none comes first. Else they are those that recall would show, in its order.
    """

    query: Query
    by_score: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadOver(Request):
    """Personalised PageRank over the links of spaces (`strategies.strategy_requests.Spread`).

    Attributes:
        seeds: Weights above 0.
        later: What is not walked over, though the view shows it.
    """

    spaces: tuple[int, ...]
    view: View
    seeds: Mapping[ItemId, float]
    types: tuple[str, ...]
    damping: float
    later: LaterEvidence | None = None


def seek(query: Query, *, by_score: bool = False) -> Flow[Sequence[Sought]]:
    """Have recall rank the items that bear on a query."""
    ranked: Sequence[Sought] = yield Seek(query, by_score)
    return ranked

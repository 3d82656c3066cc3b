"""From the picks of a strategy's own recall to a context: what the view shows of them, packed, with reasons."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from mnemic.core.parts import part_texts
from mnemic.core.queries import Context, Hit
from mnemic.core.tokens import words
from mnemic.core.visibility import shown_by
from mnemic.recall.fuse import says_same
from mnemic.recall.pack import laid_out
from mnemic.recall.pipeline import head_of
from mnemic.recall.reasons import answerable
from mnemic.recall.scoring import SCORING
from mnemic.recall.understand import understand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.core.items import Item
    from mnemic.core.queries import Query
    from mnemic.index.catalogues import Catalogues
    from mnemic.store.engine.snapshot import Snapshot
    from mnemic.strategies.base import Pick


_HIDDEN: Final = "{} of what {} picked is not shown here: the view, the filter or its sight leaves it out"


def picked(
    snapshot: Snapshot,
    catalogues: Catalogues,
    query: Query,
    picks: Sequence[Pick],
    *,
    by: str,
    considered: int,
    explain: bool = False,
) -> Context:
    """Show what a strategy picked for a question, best first, within `query.k` items and the budget.

    An item that is picked twice stands where it was picked first. Left out is what the view or the filter does not
    show, or is for another strategy's recall or for nobody's, of which a note says how much there was; and what says
    the same as a better pick.

    Args:
        query: Its view names a commit, at which the picks were made; its reader is the strategy.
        by: The strategy's name.
        considered: How many items it was shown.
    """
    started = time.perf_counter()
    picks = [pick for pick in picks if pick.item.id not in query.besides]
    first = {pick.item.id: pick for pick in reversed(picks)}
    ranked = [first[id] for id in dict.fromkeys(pick.item.id for pick in picks)]
    versions = snapshot.get(query.spaces, list(first), query.view)
    passes = shown_by(query.view, query.where)
    standing = {id: version for id, version in versions.items() if passes(version)}
    visible = [
        pick for pick in ranked if pick.item.id in standing and standing[pick.item.id].item.is_recalled_by(query.reader)
    ]
    chosen = _apart(visible, query.k)
    asked = frozenset(words(query.text))
    hits = ((_hit(pick, by), versions[pick.item.id], _part(pick.item, asked)) for pick in chosen)
    packed = laid_out(hits, query.budget)
    readings = catalogues.readings(snapshot, query.spaces, query.view, query.where, reader=query.reader)
    with SCORING:
        confidence = answerable(understand(query, readings), readings, bearing=bool(chosen))
    hidden = len(ranked) - len(visible)
    notes = [_HIDDEN.format(hidden, by)] if hidden else []
    if chosen and not packed.hits:
        notes.append(f"nothing of what was picked fits the budget of {query.budget} tokens")
    stages = (
        (f"picks of {by}", considered, len(ranked)),
        ("view", len(ranked), len(visible)),
        ("diversify", len(visible), len(chosen)),
        ("pack", len(chosen), len(packed.hits)),
    )
    return Context(
        text=packed.text,
        tokens=packed.tokens,
        items=packed.recalled([hit.reasons for hit in packed.hits]),
        considered=considered,
        seq=head_of(snapshot, query),
        notes=(*notes, *(confidence.notes if chosen else ())),
        milliseconds=(time.perf_counter() - started) * 1000,
        stages=stages if explain else (),
        confidence=confidence.value,
    )


def _apart(picks: Sequence[Pick], limit: int) -> list[Pick]:
    """The best picks without those that say the same as a better one, by the words of who says it and of the text."""
    chosen: list[Pick] = []
    said: list[frozenset[str]] = []
    for pick in picks:
        if len(chosen) == limit:
            break
        here = frozenset(words(f"{pick.item.slots.get('speaker', '')} {pick.item.text}"))
        if not any(says_same(here, other) for other in said):
            chosen.append(pick)
            said.append(here)
    return chosen


def _hit(pick: Pick, by: str) -> Hit:
    reason = " ".join(pick.why.split()) or f"{by} picked it"
    return Hit(space=0, ver=0, doc=-1, score=pick.score, components=pick.components, reasons=(reason,))


def _part(item: Item, asked: frozenset[str]) -> int:
    """The part of an item that holds most words of the question, of equals the first."""
    parts = part_texts(item)
    if len(parts) < 2:
        return 0
    return max(range(len(parts)), key=lambda part: len(asked.intersection(words(parts[part]))))

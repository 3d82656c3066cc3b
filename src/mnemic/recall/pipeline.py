"""Recall, end to end: understand, gather, fuse, diversify, pack, in one pass over one snapshot."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.core.queries import Context, Filter, Hit, Lost
from mnemic.index.columns import Column
from mnemic.recall.diversify import diversify, one_part_each, twin
from mnemic.recall.fuse import fuse
from mnemic.recall.gather import gather
from mnemic.recall.pack import pack
from mnemic.recall.reasons import explained
from mnemic.recall.understand import Question, understand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.core.ids import ItemId
    from mnemic.core.queries import Query
    from mnemic.index.lexical import Catalogues
    from mnemic.index.reading import Reading
    from mnemic.store.base import Snapshot

POOL: Final = 4
"""Candidates kept for each item asked for, so that twins and parts can go."""

LEAST: Final = 50
"""Candidates kept at least."""


@dataclass(frozen=True, slots=True)
class _Ranked:
    """What the stages before packing made of a question."""

    question: Question
    readings: dict[int, Reading]
    hits: list[Hit]
    stages: tuple[tuple[str, int, int], ...]
    notes: tuple[str, ...]

    @property
    def entries(self) -> int:
        return sum(reading.size for reading in self.readings.values())


def recall(snapshot: Snapshot, catalogues: Catalogues, query: Query, *, explain: bool = False) -> Context:
    """The evidence that bears on a question, as this snapshot sees it."""
    started = time.perf_counter()
    ranked = _rank(snapshot, catalogues, query, max(POOL * query.k, LEAST))
    chosen = diversify(ranked.hits, ranked.readings, query.k)
    shown = explained(ranked.question, ranked.readings, chosen)
    packed = pack(shown, ranked.readings, snapshot, query)
    stages = (
        *ranked.stages,
        ("diversify", len(ranked.hits), len(chosen)),
        ("pack", len(chosen), len(packed.items)),
    )
    return Context(
        text=packed.text,
        tokens=packed.tokens,
        items=packed.items,
        considered=ranked.entries,
        seq=_head(snapshot, query.spaces),
        notes=ranked.notes,
        milliseconds=(time.perf_counter() - started) * 1000,
        stages=stages if explain else (),
    )


def rank(snapshot: Snapshot, catalogues: Catalogues, query: Query) -> list[Hit]:
    """Every entry's item that any arm speaks for, best first: the ranking before it is cut to `k` and the budget."""
    ranked = _rank(snapshot, catalogues, query, 1 << 30)
    return ranked.hits


def why_not(snapshot: Snapshot, catalogues: Catalogues, query: Query, item: ItemId) -> Lost:
    """At which stage an item was lost on the way to `query`'s answer; stage "" if it was not."""
    standing = snapshot.standing(query.spaces, [item])
    if item not in standing:
        return Lost(stage="scope", reason="no such item in this scope")
    version = snapshot.get(query.spaces, [item], query.view).get(item)
    if version is None:
        return Lost(
            stage="view", reason=f"the view does not show it; it now stands as {standing[item].item.state.name.lower()}"
        )
    ranked = _rank(snapshot, catalogues, query, 1 << 30)
    ids = _ids(snapshot, ranked.hits)
    places = [place for place, hit in enumerate(ranked.hits) if ids[hit.space, hit.ver] == item]
    if not places and query.where != Filter():
        unfiltered = why_not(snapshot, catalogues, replace(query, where=Filter()), item)
        if unfiltered.stage != "gather":
            return Lost(stage="filter", reason="the filter leaves it out")
    if not places:
        return Lost(stage="gather", reason="no word of the question stands in it, beside it, or in its date")
    place = places[0]
    better = ranked.hits[:place]
    if other := twin(ranked.hits[place], better, ranked.readings):
        return Lost(stage="diversify", reason=f"{ids[other.space, other.ver]} says the same and ranks higher")
    kept = diversify(ranked.hits, ranked.readings, query.k)
    if ranked.hits[place] not in kept:
        return Lost(stage="fuse", reason=f"rank {place + 1} of {len(ranked.hits)}; {query.k} were asked for")
    packed = pack(kept, ranked.readings, snapshot, query)
    if all(recalled.id != item for recalled in packed.items):
        return Lost(stage="pack", reason=f"the budget of {query.budget} tokens was spent on better ones")
    return Lost(stage="", reason=f"it was recalled, at rank {kept.index(ranked.hits[place]) + 1}")


def _rank(snapshot: Snapshot, catalogues: Catalogues, query: Query, limit: int) -> _Ranked:
    snapshot.get(query.spaces, (), query.view)  # a view behind the horizon is refused, whatever is asked
    readings = {r.space: r for r in catalogues.readings(snapshot, query.spaces, query.view, query.where)}
    question = understand(query, tuple(readings.values()))
    arms = gather(question, tuple(readings.values()), query.offset)
    fused = fuse(arms, limit)
    notes = question.notes
    if not fused and not question.spans and readings:
        # Not knowing what bears on a question, an agent is still better off with what was said last than with nothing.
        fused = _latest(tuple(readings.values()), limit)
        why = "no word of the question occurs here" if question.terms else "nothing to look for in the question"
        notes = (*notes, f"{why}: the latest items")
    hits = one_part_each(fused)
    entries = sum(reading.size for reading in readings.values())
    if not hits:
        notes = (*notes, _nothing(entries))
    stages = (
        ("gather", entries, sum(int(np.count_nonzero(arm.window)) for arm in arms)),
        ("fuse", entries, len(fused)),
    )
    return _Ranked(question, readings, hits, stages, notes)


def _nothing(entries: int) -> str:
    if not entries:
        return "there is nothing to search"
    return "nothing was said in that time"


def _latest(readings: Sequence[Reading], limit: int) -> list[Hit]:
    hits: list[Hit] = []
    for reading in readings:
        said = reading.said
        newest = np.argsort(-said, kind="stable")[:limit]
        for place in newest.tolist():
            ver = reading.value(Column.VER, place)
            hits.append(Hit(space=reading.space, ver=ver, doc=place, score=0.0, reasons=("one of the latest",)))
    hits.sort(key=lambda hit: -hit.ver)
    return hits[:limit]


def _ids(snapshot: Snapshot, hits: Sequence[Hit]) -> dict[tuple[int, int], ItemId]:
    found: dict[tuple[int, int], ItemId] = {}
    for space in {hit.space for hit in hits}:
        vers = [hit.ver for hit in hits if hit.space == space]
        found.update({(space, ver): version.item.id for ver, version in snapshot.versions(space, vers).items()})
    return found


def _head(snapshot: Snapshot, spaces: Sequence[int]) -> int:
    heads = snapshot.spaces(spaces[:1])
    return snapshot.head(heads[0].tenant).seq if heads else 0

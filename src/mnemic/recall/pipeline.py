"""Recall, end to end: understand, gather, fuse, diversify, pack, in one pass over one snapshot."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from mnemic.core.queries import Context, Filter, Lost
from mnemic.index.columns import Column
from mnemic.recall.diversify import Chosen, diversify, twin
from mnemic.recall.fuse import Ranking, fuse, latest
from mnemic.recall.gather import gather
from mnemic.recall.pack import fetched, pack
from mnemic.recall.reasons import explained
from mnemic.recall.understand import Question, understand

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.core.items import Version
    from mnemic.core.queries import Hit, Query
    from mnemic.index.lexical import Catalogues
    from mnemic.index.reading import Reading
    from mnemic.store.base import Snapshot

TWINS: Final = 1_000
"""Most items that are passed over for one answer because they say the same as a better one."""


@dataclass(frozen=True, slots=True)
class _Ranked:
    """What the stages before packing made of a question."""

    question: Question
    readings: dict[int, Reading]
    ranking: Ranking
    chosen: Chosen
    notes: tuple[str, ...]

    @property
    def entries(self) -> int:
        return sum(reading.size for reading in self.readings.values())

    def stages(self, packed: int) -> tuple[tuple[str, int, int], ...]:
        """How many candidates entered and left each stage."""
        ranked, looked, kept = len(self.ranking), self.chosen.looked, len(self.chosen.hits)
        return (
            ("gather", self.entries, ranked),
            ("fuse", ranked, looked),
            ("diversify", looked, kept),
            ("pack", kept, packed),
        )


def recall(snapshot: Snapshot, catalogues: Catalogues, query: Query, *, explain: bool = False) -> Context:
    """The evidence that bears on a question, as this snapshot sees it."""
    started = time.perf_counter()
    ranked = _rank(snapshot, catalogues, query)
    shown = explained(ranked.question, ranked.readings, ranked.chosen.hits)
    packed = pack(shown, ranked.readings, snapshot, query)
    return Context(
        text=packed.text,
        tokens=packed.tokens,
        items=packed.items,
        considered=ranked.entries,
        seq=_head(snapshot, query),
        notes=ranked.notes,
        milliseconds=(time.perf_counter() - started) * 1000,
        stages=ranked.stages(len(packed.items)) if explain else (),
    )


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
    ranked = _rank(snapshot, catalogues, query)
    if (found := _found(snapshot, ranked, version)) is None:
        unfiltered = replace(query, where=Filter())
        if query != unfiltered and why_not(snapshot, catalogues, unfiltered, item).stage != "gather":
            return Lost(stage="filter", reason="the filter leaves it out")
        return Lost(stage="gather", reason="no word of the question stands in it, beside it, or in its date")
    rank, hit = found
    kept = ranked.chosen.hits
    if hit not in kept:
        return _passed_over(snapshot, ranked, query, rank, hit)
    packed = pack(kept, ranked.readings, snapshot, query)
    if all(recalled.id != item for recalled in packed.items):
        return Lost(stage="pack", reason=f"the budget of {query.budget} tokens was spent on better ones")
    return Lost(stage="", reason=f"it was recalled, at rank {kept.index(hit) + 1}")


def _found(snapshot: Snapshot, ranked: _Ranked, version: Version) -> tuple[int, Hit] | None:
    """The hit that is a version, and its rank."""
    for rank, hit in enumerate(ranked.ranking.hits(), start=1):
        same_commit = ranked.readings[hit.space].value(Column.SEQ_FROM, hit.doc) == version.seq_from
        if same_commit and fetched([hit], snapshot)[hit.space, hit.ver].item.id == version.item.id:
            return rank, hit
    return None


def _passed_over(snapshot: Snapshot, ranked: _Ranked, query: Query, rank: int, hit: Hit) -> Lost:
    """Why a hit is not among those that were chosen."""
    if other := twin(hit, ranked.chosen.hits, ranked.readings):
        name = fetched([other], snapshot)[other.space, other.ver].item.id
        return Lost(stage="diversify", reason=f"{name} says the same and ranks higher")
    if ranked.chosen.twins > TWINS:
        return Lost(stage="diversify", reason=f"rank {rank}, behind more than {TWINS} that say the same")
    return Lost(stage="fuse", reason=f"rank {rank} of {ranked.ranking.items}; {query.k} were asked for")


def _rank(snapshot: Snapshot, catalogues: Catalogues, query: Query) -> _Ranked:
    snapshot.get(query.spaces, (), query.view)  # a view behind the horizon is refused, whatever is asked
    readings = {r.space: r for r in catalogues.readings(snapshot, query.spaces, query.view, query.where)}
    question = understand(query, tuple(readings.values()))
    ranking = fuse(gather(question, tuple(readings.values()), query.offset))
    notes = question.notes
    if not ranking and not question.spans and readings:
        # Not knowing what bears on a question, an agent is still better off with what was said last than with nothing.
        ranking = latest(tuple(readings.values()))
        why = "no word of the question occurs here" if question.terms else "nothing to look for in the question"
        notes = (*notes, f"{why}: the latest items")
    chosen = diversify(ranking.hits(), readings, query.k, TWINS)
    entries = sum(reading.size for reading in readings.values())
    notes = (*notes, *_told(question, entries, ranking, chosen))
    return _Ranked(question, readings, ranking, chosen, notes)


def _told(question: Question, entries: int, ranking: Ranking, chosen: Chosen) -> list[str]:
    """What there is to say about an answer that is not all there is."""
    notes: list[str] = []
    if not ranking:
        notes.append("nothing was said in that time" if entries else "there is nothing to search")
    elif question.spans and not question.terms and (items := ranking.items) > len(chosen.hits):
        notes.append(f"{items} were of that time: of equals, the latest")
    if chosen.twins > TWINS:
        notes.append(f"more than {TWINS} said the same as these: the rest was not looked at")
    return notes


def _head(snapshot: Snapshot, query: Query) -> int:
    heads = snapshot.spaces(query.spaces[:1])
    return snapshot.head(heads[0].tenant).seq if heads else 0

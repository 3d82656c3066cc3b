"""Answer what a strategy asks of its memory: as of one view, and less what it is to be given later."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.checking import number
from mnemic.core.clock import FOREVER
from mnemic.core.ids import to_bytes
from mnemic.core.items import EVIDENCE, Strength
from mnemic.core.queries import Filter, LaterEvidence, Query
from mnemic.core.tokens import words
from mnemic.derive.runs import is_own
from mnemic.errors import Invalid
from mnemic.flow import Pause
from mnemic.models.model_requests import CountJudged, EmbedQuestion, Meant, NameModel
from mnemic.recall.seeking import SpreadOver, seek
from mnemic.store.engine.codec import kind_number
from mnemic.store.requests import look
from mnemic.strategies.base import Known
from mnemic.strategies.strategy_requests import (
    EmbedTexts,
    Fetch,
    Keyed,
    Linked,
    ScoreItems,
    Search,
    SearchHit,
    Spread,
    Strengths,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item, Link, Version
    from mnemic.core.queries import View
    from mnemic.flow import Flow, Request
    from mnemic.recall.seeking import Sought
    from mnemic.strategies.base import Strategy

_MAY: Final = "It may ask what `mnemic.strategies` has: search, scored, fetch, keyed, linked, known, ask, judged ..."


class MemoryReads:
    """Answers the requests of one strategy, and notes what they showed it.

    Attributes:
        shown: The versions that it was given as known or looked up, by id, as it saw them first.
    """

    def __init__(
        self,
        strategy: Strategy,
        spaces: tuple[int, ...],
        view: View,
        now: int,
        *,
        given: Collection[ItemId] = (),
        upto: int = FOREVER,
        known: Iterable[Version] = (),
        where: Filter = Filter(),
    ) -> None:
        """Read as of one view.

        Args:
            spaces: Whose memory: the strategy's own first, where it has derived.
            now: When it asks (microseconds), for searches that say "yesterday".
            given: What it reads and has before it.
            upto: How far the strategy has read its own space: of the kinds that it reads, it is shown nothing later.
            where: What searches, and looks at what stands, are narrowed to. Ids, keys and links lead beyond it.
        """
        self._strategy, self._spaces, self._view, self._now = strategy, spaces, view, now
        self._given, self._upto, self._where = given, upto, where
        self._read_kinds = {kind_number(kind) for kind in strategy.reads}
        self.shown = {version.item.id: version for version in known}

    def answered(self, request: Request) -> Flow[Any]:
        """Answer a request that no model is asked for.

        Raises:
            Invalid: it is none that a strategy may make, such as a commit.
        """
        match request:
            case Known(where, limit):
                return (yield from self._known(where, limit))
            case Search():
                return (yield from self._searched(request))
            case ScoreItems(text, where, k):
                ranked = yield from self._ranked(text, where, k, by_score=True)
                return [(ranked_hit.id, ranked_hit.score) for ranked_hit in ranked]
            case Fetch(ids):
                return (yield from self._fetched(ids))
            case Keyed(keys):
                return (yield from self._keyed(keys))
            case Linked(ids, types):
                return (yield from self._linked(ids, types))
            case Strengths(ids):
                return (yield from self._strengths(ids))
            case Spread(seeds, types, damping):
                return (yield self._spread_over(seeds, types, damping))
            case EmbedTexts() | NameModel() | CountJudged() | Pause():
                return (yield request)
            case _:
                asked = type(request).__name__
                raise Invalid("strategies", f"{self._strategy.name} asks for {asked}, which no strategy may", _MAY)

    def _known(self, where: Filter, limit: int) -> Flow[list[Item]]:
        within = where.within(self._where)
        if within is None:
            return []
        evidence_alone = within.kinds and self._strategy.reads.intersection(EVIDENCE).issuperset(within.kinds)
        before = self._upto + 1 if evidence_alone and self._upto != FOREVER else FOREVER
        versions = yield from look(lambda s: s.latest(self._spaces, within, self._view, limit=limit, before=before))
        return (yield from self._showing(versions))

    def _showing(self, versions: Sequence[Version]) -> Flow[list[Item]]:
        """Show the strategy these versions, less what it reads and was not given yet; note what it was shown."""
        later = yield from self._later(versions)
        shown = [version for version in versions if version.item.id not in later]
        for version in shown:
            self.shown.setdefault(version.item.id, version)
        return [version.item for version in shown]

    def _later(self, versions: Sequence[Version]) -> Flow[Collection[ItemId]]:
        """Which of some versions the strategy reads, and is to be given after this run."""
        if self._upto == FOREVER:
            return ()
        read = [v.item for v in versions if v.item.kind in self._strategy.reads and not is_own(v.item, self._strategy)]
        doubtful = [item.id for item in read if item.id not in self._given]
        numbers = (yield from look(lambda s: s.numbers(self._spaces[0], doubtful))) if doubtful else {}
        return {id for id, number in numbers.items() if number > self._upto}

    def _ranked(self, text: str, where: Filter, k: int, *, by_score: bool = False) -> Flow[list[Sought]]:
        """Rank items by a text, less what the strategy reads and was not given yet."""
        within = where.within(self._where)
        if within is None:
            return []
        meant: Meant = yield EmbedQuestion(text)
        ranked = yield from seek(
            Query(
                text=text,
                now=self._now,
                spaces=self._spaces,
                view=self._view,
                where=within,
                k=k,
                vectors=meant.vectors,
                embedders=meant.embedders,
                reader=self._strategy.by,
            ),
            by_score=by_score,
        )
        return (yield from self._without_later(ranked))

    def _without_later(self, ranked: Sequence[Sought]) -> Flow[list[Sought]]:
        """Leave out what the strategy reads and was not given yet; a body is read only where it may be its own."""
        space = self._spaces[0]
        behind = {ranked_hit.ver for ranked_hit in ranked if ranked_hit.space == space and ranked_hit.ver > self._upto}
        doubtful = [
            ranked_hit.ver for ranked_hit in ranked if ranked_hit.ver in behind and ranked_hit.kind in self._read_kinds
        ]
        if not doubtful:
            return list(ranked)
        versions = yield from look(lambda s: s.versions(space, doubtful))
        later = {ver for ver, version in versions.items() if not is_own(version.item, self._strategy)}
        return [ranked_hit for ranked_hit in ranked if ranked_hit.space != space or ranked_hit.ver not in later]

    def _searched(self, request: Search) -> Flow[list[SearchHit]]:
        ranked = yield from self._ranked(request.text, request.where, request.k)
        items = yield from self._fetched([ranked_hit.id for ranked_hit in ranked])
        asked = set(words(request.text))
        overlap = {id: len(asked.intersection(words(item.text))) / max(1, len(asked)) for id, item in items.items()}
        return [
            SearchHit(items[ranked_hit.id], ranked_hit.score, overlap[ranked_hit.id], ranked_hit.cosine)
            for ranked_hit in ranked
            if ranked_hit.id in items
        ]

    def _fetched(self, ids: Sequence[ItemId]) -> Flow[dict[ItemId, Item]]:
        versions = yield from look(lambda s: s.get(self._spaces, ids, self._view))
        return {item.id: item for item in (yield from self._showing(list(versions.values())))}

    def _keyed(self, keys: Sequence[str]) -> Flow[dict[str, Item]]:
        ids = yield from look(lambda s: s.items_by_key(self._spaces[0], keys))
        items = yield from self._fetched(tuple(ids.values()))
        return {key: items[id] for key, id in ids.items() if id in items}

    def _linked(self, ids: Sequence[ItemId], types: Sequence[str]) -> Flow[list[Link]]:
        links = yield from look(lambda s: s.links(self._spaces, ids, self._view))
        return [link for link in links if not types or link.type in types]

    def _strengths(self, ids: Sequence[ItemId]) -> Flow[Mapping[ItemId, Strength]]:
        used = yield from look(lambda s: [s.strength(space, ids) for space in self._spaces])
        counted = {id: strength for strengths in used for id, strength in strengths.items()}
        return {id: counted.get(id, Strength()) for id in ids}

    def _spread_over(self, seeds: Mapping[ItemId, float], types: Sequence[str], damping: float) -> SpreadOver:
        for id, weight in seeds.items():
            to_bytes(id, "seeds")
            if not 0 < number("seeds", weight) < math.inf:
                raise Invalid("seeds", f"the weight of {id} is {weight}", "Give numbers above 0.")
        if not 0 < number("damping", damping) < 1:
            raise Invalid("damping", f"is {damping}", "Give a number above 0 and below 1.")
        later = None
        if self._upto != FOREVER:
            kinds = tuple(sorted(self._read_kinds))
            later = LaterEvidence(space=self._spaces[0], upto=self._upto, kinds=kinds, by=self._strategy.by)
        return SpreadOver(
            spaces=self._spaces, view=self._view, seeds=dict(seeds), types=tuple(types), damping=damping, later=later
        )

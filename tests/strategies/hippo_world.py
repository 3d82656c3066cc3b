"""A memory of one user in a few dictionaries: answers what `hippo2` asks, applies its edits, walks by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from mnemic.core.ids import ItemId, from_bytes
from mnemic.core.items import EVIDENCE, Item, Kind, Link
from mnemic.core.queries import Filter
from mnemic.errors import MnemicError
from mnemic.flow import Request, run
from mnemic.models.chat.base import Ask, Reply
from mnemic.models.model_requests import AskEach, CountJudged, JudgedBy, NameModel
from mnemic.strategies.base import Asked, Edits, Given, Known, Pick
from mnemic.strategies.hippo2 import Hippo2
from mnemic.strategies.rules.sentence_relevance import bm25, content_terms
from mnemic.strategies.strategy_requests import EmbedTexts, Fetch, Linked, ScoreItems, Search, SearchHit, Spread

START = datetime(2024, 5, 8, tzinfo=UTC)
Edge = tuple[ItemId, ItemId, str]


def page_rank(
    links: Mapping[Edge, float], seeds: Mapping[ItemId, float], types: Sequence[str] = (), damping: float = 0.5
) -> dict[ItemId, float]:
    """Personalised PageRank by power iteration: what restarts at no seed and has no link has nothing."""
    nodes = sorted({*seeds, *(end for src, dst, _ in links for end in (src, dst))})
    place = {node: n for n, node in enumerate(nodes)}
    weights = np.zeros((len(nodes), len(nodes)))
    for (src, dst, type), weight in links.items():
        if type in types or not types:
            weights[place[src], place[dst]] += weight
            weights[place[dst], place[src]] += weight
    restart = np.array([seeds.get(node, 0.0) for node in nodes])
    restart /= restart.sum()
    out = weights.sum(axis=0)
    moves = np.where(out > 0, weights / np.where(out > 0, out, 1), restart[:, None])
    rank = restart
    for _ in range(60):
        rank = (1 - damping) * restart + damping * moves @ rank
    return {node: float(rank[n]) for node, n in place.items() if rank[n] > 0}


@dataclass
class HippoWorld:
    """What one user's memory holds, and what was asked of it.

    Attributes:
        model: Answers questions to a model; None where there is none.
        embed: Makes vectors; None where there is no embedder.
    """

    strategy: Hippo2 = field(default_factory=Hippo2)
    model: Callable[[Ask], Reply] | None = None
    embed: Callable[[str], Sequence[float]] | None = None
    items: dict[ItemId, Item] = field(default_factory=dict)
    links: dict[Edge, float] = field(default_factory=dict)
    asked: list[Request] = field(default_factory=list)
    given_ids: int = 0
    judged: Counter[tuple[str, JudgedBy]] = field(default_factory=Counter)

    def passage(self, text: str, speaker: str = "", kind: Kind = Kind.TURN, title: str = "") -> Item:
        """Keep a passage, which the strategy was not given yet."""
        slots = {"speaker": speaker} if speaker else {"title": title} if title else {}
        item = Item(id=self._id(), kind=kind, text=text, said=START + timedelta(hours=len(self.items)), slots=slots)
        self.items[item.id] = item
        return item

    def write(self, *passages: Item) -> Edits:
        """Run the strategy over passages, and do what it wants done."""
        edits: Edits = run(self.strategy.on_write(Given(user="ada", evidence=passages)), self.perform)
        self._apply(edits)
        return edits

    def recall(self, text: str, k: int = 5) -> Sequence[Pick]:
        picks: Sequence[Pick] = run(self.strategy.on_recall(Asked(text=text, now=START, k=k)), self.perform)
        return picks

    def erase(self, passage: Item) -> None:
        """Erase a passage with what rests on it; what stays of its evidence is given again, as the kernel does."""
        going = [item for item in self.items.values() if passage.id in item.source]
        for item in (passage, *going):
            del self.items[item.id]
        self.links = {edge: weight for edge, weight in self.links.items() if {*edge[:2]} <= self.items.keys()}
        stays = dict.fromkeys(tuple(one for one in item.source if one != passage.id) for item in going)
        for sources in filter(None, stays):
            self.write(*sorted((self.items[one] for one in sources), key=lambda item: item.said))

    def view(self) -> tuple[Any, ...]:
        """What stands, under no id: facts, phrases with their passages, links with their weights."""
        told = {id: (item.kind, item.text) for id, item in self.items.items()}
        items = sorted(
            (item.kind, item.text, repr(item.slots), sorted(told[one] for one in item.source))
            for item in self.items.values()
        )
        links = sorted((told[src], told[dst], type, round(w, 9)) for (src, dst, type), w in self.links.items())
        return items, links

    def weight(self, one: str, other: str, type: str) -> float:
        """How much two texts are linked."""
        found = [
            w
            for (src, dst, t), w in self.links.items()
            if t == type and {self.text(src), self.text(dst)} == {one, other}
        ]
        return sum(found)

    def text(self, id: ItemId) -> str:
        return self.items[id].text

    def perform(self, request: Request) -> Any:
        self.asked.append(request)
        match request:
            case Known(where, limit):
                return list(reversed(self._where(where)))[:limit]
            case Search(text, where, k):
                ranked = self._ranked(text, where)[:k]
                return [SearchHit(item, score, 0.0, self._cosine(text, item.text)) for item, score in ranked]
            case ScoreItems(text, where, k):
                return [(item.id, score) for item, score in self._ranked(text, where)[:k]]
            case Fetch(ids):
                return {id: self.items[id] for id in ids if id in self.items}
            case Linked(ids, types):
                found = (edge for edge in self.links if edge[2] in types and (edge[0] in ids or edge[1] in ids))
                return [Link(src=e[0], dst=e[1], type=e[2], weight=self.links[e]) for e in found]
            case Spread(seeds, types, damping):
                return page_rank(self.links, seeds, types, damping)
            case EmbedTexts(texts):
                return [] if self.embed is None else [np.array(self.embed(text), np.float32) for text in texts]
            case NameModel():
                return "" if self.model is None else "told"
            case CountJudged(task, by):
                return self.judged.update([(task, by)])
            case AskEach(asks):
                return tuple(map(self._caught, asks))
            case Ask():
                return self._reply(request)
        raise AssertionError(f"nobody answers {type(request).__name__}")

    def _reply(self, ask: Ask) -> Reply:
        assert self.model is not None
        return self.model(ask)

    def _caught(self, ask: Ask) -> Reply | MnemicError:
        try:
            return self._reply(ask)
        except MnemicError as error:
            return error

    def _id(self) -> ItemId:
        self.given_ids += 1
        return from_bytes(self.given_ids.to_bytes(16, "big"))

    def _where(self, where: Filter) -> list[Item]:
        return [
            item
            for item in self.items.values()
            if (not where.kinds or item.kind in where.kinds)
            and (not where.tags or set(where.tags) & set(item.tags))
            and (not where.by or item.slots.get("by") in where.by)
        ]

    def _ranked(self, text: str, where: Filter) -> list[tuple[Item, float]]:
        items = self._where(where)
        titled = [f"{item.slots.get('title') or item.slots.get('speaker') or ''} {item.text}" for item in items]
        scores = bm25(text, [content_terms(one) for one in titled])
        near = [0.0 if (c := self._cosine(text, item.text)) is None else c for item in items]
        ranked = [(item, s + n) for item, s, n in zip(items, scores, near, strict=True) if s + n > 0]
        return sorted(ranked, key=lambda one: (-one[1], one[0].id))

    def _cosine(self, one: str, other: str) -> float | None:
        return None if self.embed is None else float(np.dot(self.embed(one), self.embed(other)))

    def _apply(self, edits: Edits) -> None:
        ids = [self._id() for _ in edits.write]
        shown = set(self.items)
        for id, d in zip(ids, edits.write, strict=True):
            assert set(d.source) <= shown
            self.items[id] = Item(
                id=id, kind=d.kind, text=d.text, said=d.said, slots=d.slots, tags=d.tags, source=d.source
            )
        for revision in edits.revise:
            item = self.items[revision.id]
            assert item.kind not in EVIDENCE
            self.items[item.id] = replace(item, source=tuple(dict.fromkeys((*item.source, *revision.source))))
        tied = [(self._ref(ids, bond.src), self._ref(ids, bond.dst), bond.type) for bond in edits.tie]
        assert len(set(tied)) == len(tied)
        self.links.update(zip(tied, (bond.weight for bond in edits.tie), strict=True))

    def _ref(self, ids: Sequence[ItemId], ref: ItemId | int) -> ItemId:
        return ids[ref] if isinstance(ref, int) else ref

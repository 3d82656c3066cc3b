"""Survey a space for the collectors, in pages: facts about its standing items, and a digest in place of their words."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from mnemic.core.clock import micros
from mnemic.core.ids import ItemId
from mnemic.core.items import Item, State, Strength, Version
from mnemic.core.queries import Filter
from mnemic.core.scope import SHARED, Shared
from mnemic.core.transitions import SUPERSEDES
from mnemic.flow import Flow
from mnemic.store.engine.codec import canonical
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.requests import look
from mnemic.store.values.heads import SpaceHead
from mnemic.tiers.collectors.base import Ground, StandingItem, StandingLink
from mnemic.tiers.retention import Retention

PAGE: Final = 100
"""Versions of one look: some milliseconds, so that whoever writes or asks is let through."""

_STANDING: Final = tuple(state for state in State if state is not State.RETIRED)


@dataclass(slots=True)
class _Seen:
    """Accumulates what was read of a space so far."""

    after: int = 0
    more: bool = True
    items: dict[ItemId, StandingItem] = field(default_factory=dict)
    edges: dict[tuple[ItemId, ItemId, str], StandingLink] = field(default_factory=dict)
    held: dict[ItemId, str] = field(default_factory=dict)


def survey(head: SpaceHead, retention: Retention, now: int) -> Flow[Ground]:
    """Read the items of a space that stand and are not retired, with their links and holds, a page at a time.

    What is written meanwhile may be missing: what is chosen is checked again in the commit that retires it.
    """
    seen = _Seen()
    while seen.more:
        yield from look(lambda s: _read_page(s, head, seen))
    absent = {source for item in seen.items.values() for source in item.source} - seen.items.keys()
    ends = {end for edge in seen.edges.values() for end in (edge.src, edge.dst)} - seen.items.keys()
    elsewhere = yield from _paged(sorted(absent), partial(_elsewhere, head=head))
    gone = yield from _paged(sorted(ends), partial(_gone, head=head))
    last = yield from look(lambda s: s.head(head.tenant).seq)
    return Ground(
        items=seen.items, edges=tuple(seen.edges.values()), keep_reasons=seen.held, shared_sources=elsewhere,
        gone_ends=gone, now=now, head=last, retention=retention,
    )  # fmt: skip


def rested_on(snapshot: Snapshot, space: int, ids: Sequence[ItemId]) -> set[ItemId]:
    """Choose those of some items that another live item of a space cites as a source."""
    standing = snapshot.standing((space,), snapshot.derived(space, ids))
    live = (v.item for v in standing.values() if v.item.state is not State.RETIRED and v.item.id not in ids)
    return {source for item in live for source in item.source} & set(ids)


def used_by_others(tenant: int, ids: Sequence[ItemId]) -> Flow[dict[ItemId, str]]:
    """Find the shared items that a live item of some user cites, with the reason to give; one look per space."""
    spaces = yield from look(lambda s: [head.id for head in s.all_spaces(tenant) if isinstance(head.user, str)])
    used: frozenset[ItemId] = frozenset()
    for space in spaces if ids else ():
        used |= yield from _paged(ids, partial(_rested_on, space=space))
    return dict.fromkeys(used, "something of a user rests on it")


def _rested_on(snapshot: Snapshot, items: Sequence[ItemId], space: int) -> frozenset[ItemId]:
    return frozenset(rested_on(snapshot, space, items))


def _paged(ids: Sequence[ItemId], choose: Callable[..., frozenset[ItemId]]) -> Flow[frozenset[ItemId]]:
    """Apply `choose` to items in pages, one look each."""
    pages: list[frozenset[ItemId]] = []
    for at in range(0, len(ids), PAGE):
        pages.append((yield from look(partial(choose, items=ids[at : at + PAGE]))))
    return frozenset().union(*pages)


def _read_page(snapshot: Snapshot, head: SpaceHead, seen: _Seen) -> None:
    page = snapshot.scan((head.id,), Filter(states=_STANDING), after=seen.after, limit=PAGE)
    seen.more = len(page) == PAGE
    if not page:
        return
    seen.after = page[-1][0]
    versions = [version for _, version in page]
    ids = [version.item.id for version in versions]
    used = snapshot.strength(head.id, [v.item.id for v in versions if v.item.source])
    seen.items.update((v.item.id, _standing(v, used.get(v.item.id, Strength()))) for v in versions)
    seen.held.update(snapshot.reasons_to_keep(head.tenant, head.id, ids))
    links = (link for link in snapshot.links((head.id,), ids) if link.type != SUPERSEDES)
    seen.edges.update(((ln.src, ln.dst, ln.type), StandingLink(ln.src, ln.dst, ln.type)) for ln in links)


def _standing(version: Version, used: Strength) -> StandingItem:
    item = version.item
    until = None if item.valid_to is None else micros(item.valid_to)
    return StandingItem(
        id=item.id, kind=item.kind, seq=version.seq_from, written=micros(version.recorded), state=item.state,
        source=item.source, tags=item.tags, pinned=item.pinned, until=until,
        digest=_digest(item) if item.source else b"", uses=used.uses, useful=used.useful,
    )  # fmt: skip


def _digest(item: Item) -> bytes:
    """Digest an item's statement and shelf, so that items that differ only in case and spacing are equal."""
    text = " ".join(unicodedata.normalize("NFKC", item.text).casefold().split())
    times = [None if t is None else micros(t) for t in (item.valid_from, item.valid_to)]
    said = {"text": text, "kind": item.kind.value, "slots": dict(item.slots), "key": item.key, "times": times}
    shelves = {"agent": item.agent, "session": item.session}
    return hashlib.blake2b(canonical({**said, **shelves}), digest_size=16).digest()


def _elsewhere(snapshot: Snapshot, head: SpaceHead, items: Sequence[ItemId]) -> frozenset[ItemId]:
    shared = snapshot.space(head.tenant, SHARED)
    if shared is None or isinstance(head.user, Shared):
        return frozenset()
    standing = snapshot.standing((shared.id,), items)
    return frozenset(item for item, version in standing.items() if version.item.state is not State.RETIRED)


def _gone(snapshot: Snapshot, head: SpaceHead, items: Sequence[ItemId]) -> frozenset[ItemId]:
    """Choose those items that no longer exist or were retired at or behind the horizon."""
    horizon = snapshot.head(head.tenant).horizon
    shared = snapshot.space(head.tenant, SHARED)
    spaces = (head.id,) if shared is None else (head.id, shared.id)
    standing = snapshot.standing(spaces, items)
    kept = {i for i, v in standing.items() if v.item.state is not State.RETIRED or v.seq_from > horizon}
    return frozenset(set(items) - kept)

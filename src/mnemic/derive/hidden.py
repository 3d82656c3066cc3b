"""What its owner hid of what was derived: a run that digests the same evidence again leaves it out, and only that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mnemic.core.items import Item, State
from mnemic.flow import Flow
from mnemic.store.requests import look
from mnemic.strategies.base import Derivation, Edits, Ref

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.store.snapshot import Snapshot
    from mnemic.strategies.base import Strategy

RERUN: Final = "rerun"
"""The slot of what was retired for its evidence to be digested again."""


def derived_from(snapshot: Snapshot, strategy: Strategy, space: int, evidence: Sequence[Item]) -> list[Item]:
    """What the strategy made of these before, whatever became of it."""
    found = snapshot.standing((space,), snapshot.derived(space, [item.id for item in evidence])).values()
    return [version.item for version in found if version.item.slots.get("by") == strategy.by]


def hidden_of(own: Sequence[Item]) -> dict[ItemId, Item]:
    """What of it is retired, and not for a rerun."""
    return {item.id: item for item in own if item.state is State.RETIRED and not item.slots.get(RERUN)}


def spent_of(own: Sequence[Item]) -> set[ItemId]:
    """The evidence of which something stands, or of which nothing was taken back for a rerun."""
    stands = {source for item in own if item.state is not State.RETIRED for source in item.source}
    again = {source for item in own if item.slots.get(RERUN) for source in item.source}
    return stands | ({source for item in own for source in item.source} - again)


def spared(space: int, hidden: Mapping[ItemId, Item], edits: Edits) -> Flow[Edits]:
    """The edits without what its owner hid: known by its key, or by its words once the key is forgotten."""
    if not hidden or not edits.write:
        return edits
    said = {(item.kind, item.text, item.source) for item in hidden.values()}
    keyed = yield from look(lambda s: {d.key: s.keyed(space, d.key) for d in edits.write})
    kept = [
        n for n, d in enumerate(edits.write) if keyed[d.key] not in hidden and (d.kind, d.text, d.source) not in said
    ]
    return _only(edits, {n: place for place, n in enumerate(kept)})


def _only(edits: Edits, places: Mapping[int, int]) -> Edits:
    """Edits that write only some, and that refer to those by their new places; what refers to others goes too."""

    def stays(ref: Ref) -> bool:
        return not isinstance(ref, int) or ref in places

    def named(ref: Ref) -> Ref:
        return places[ref] if isinstance(ref, int) else ref

    def moved(d: Derivation) -> Derivation:
        older = d.supersedes if d.supersedes is not None and stays(d.supersedes) else None
        revokes = tuple(named(ref) for ref in d.revokes if stays(ref))
        return replace(d, supersedes=None if older is None else named(older), revokes=revokes)

    bonds = (bond for bond in edits.tie if stays(bond.src) and stays(bond.dst))
    tie = tuple(replace(bond, src=named(bond.src), dst=named(bond.dst)) for bond in bonds)
    return replace(edits, write=tuple(moved(edits.write[n]) for n in places), tie=tie)

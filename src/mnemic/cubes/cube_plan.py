"""What an import of a cube writes: items under their own ids, so that what is here already is known for the same.

An artefact names its sources by their ids, and an adapter by digests of them; of copies under other ids nothing could
be unlearnt.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from mnemic.core.events import Verb
from mnemic.core.ids import from_bytes
from mnemic.core.items import Kind
from mnemic.errors import Invalid
from mnemic.lanes.following import FOLLOWS
from mnemic.past.branching import put_of
from mnemic.store.values.drafts import Tie
from mnemic.verbs.who import draft_of, last_commit, own_or_none, spaces_of

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item, Link, Version
    from mnemic.cubes.cube_journal import CubeJournal
    from mnemic.store.engine.snapshot import Snapshot
    from mnemic.store.values.drafts import Draft, Put
    from mnemic.verbs.who import Who
    from mnemic.writing import Desk


class Fate(StrEnum):
    """What becomes of an item of a cube.

    It is written where it was not; updated where an earlier version of it stands, which nobody has changed here; left
    where it is there as it was, or was changed here since; kept away where it was erased here, or rests on what is
    neither here nor comes; left out where it says what is followed, which is chosen where the memory is.
    """

    WRITTEN = "written"
    UPDATED = "updated"
    THERE = "there"
    CHANGED_HERE = "changed_here"
    ERASED_HERE = "erased_here"
    UNFOUNDED = "unfounded"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class CubePlan:
    """What becomes of the items of a cube, links that are tied, secrets masked in what is written."""

    fates: Mapping[ItemId, Fate]
    links: int
    masked: int


def planned(
    snapshot: Snapshot, who: Who, desk: Desk, journal: CubeJournal, besides: Collection[ItemId]
) -> tuple[CubePlan, Draft]:
    """Compare a cube with this memory, and draft the one commit that brings what is new.

    Args:
        besides: Items of the cube that are not written here: artefacts, whose bytes come first.

    Raises:
        Invalid, TooLarge: an item is none that could be written here.
    """
    mine, seen = own_or_none(snapshot, who), spaces_of(snapshot, who)
    ids = [id for id in journal.stories if id not in besides]
    standing, erased = snapshot.standing(seen, ids), erased_here(snapshot, mine)
    fates: dict[ItemId, Fate] = {}
    puts: dict[ItemId, Put] = {}
    masked: dict[ItemId, int] = {}
    for id in ids:
        story, now = journal.stories[id], standing.get(id)
        fates[id] = fate(story, now, lambda item: desk.item(item, None).puts[0].item, is_erased=id in erased)
        if fates[id] in (Fate.THERE, Fate.ERASED_HERE, Fate.CHOICE):
            continue
        written = desk.item(story[-1], None)
        if fates[id] is not Fate.CHANGED_HERE:
            puts[id] = written.puts[0] if now is None else put_of(written.puts[0].item, now.item)
            masked[id] = sum(count for _, count in written.masked)
    for id in _unfounded(snapshot, seen, puts):
        fates[id] = Fate.UNFOUNDED
        del puts[id]
    ties = [Tie(verb=Verb.LINKED, link=link) for link in _untied(snapshot, mine, seen, journal.links, puts)]
    draft = replace(draft_of(who, (*puts.values(), *ties)), upon=last_commit(snapshot, who))
    return CubePlan(fates, len(ties), sum(masked[id] for id in puts)), draft


def fate(story: Sequence[Item], now: Version | None, as_written: Callable[[Item], Item], *, is_erased: bool) -> Fate:
    """What becomes of an item, as far as it tells by itself.

    Args:
        story: Its versions in the cube, oldest first.
        now: What stands here.
        as_written: Takes a version to what an import writes of it: secrets are masked. Raises `Invalid` for none.
    """
    if is_erased:
        return Fate.ERASED_HERE
    if now is None:
        is_choice = story[-1].kind is Kind.RESOURCE and FOLLOWS in story[-1].tags
        return Fate.CHOICE if is_choice else Fate.WRITTEN
    if now.item == story[-1]:
        return Fate.THERE
    if now.item in story:
        return Fate.UPDATED
    for version in reversed(story):
        with suppress(Invalid):  # what could not be written here does not stand here
            if as_written(version) == now.item:
                return Fate.THERE if version is story[-1] else Fate.UPDATED
    return Fate.CHANGED_HERE


def erased_here(snapshot: Snapshot, mine: Sequence[int]) -> frozenset[ItemId]:
    """The items that were erased from this memory."""
    journal = snapshot.tables.journal
    homes = {layer.space for layer in snapshot.layers(mine)} if mine else ()
    return frozenset(from_bytes(item) for home in homes for item, _ in journal.tombs(home))


def _unfounded(snapshot: Snapshot, seen: Sequence[int], puts: Mapping[ItemId, Put]) -> set[ItemId]:
    """Those of what is to be written that rest on what is neither here nor comes, and what rests on these."""
    cited = {source for put in puts.values() for source in put.item.erased_with} - puts.keys()
    here = {*puts, *snapshot.standing(seen, list(cited))}
    unfounded: set[ItemId] = set()
    while True:
        more = {id for id in puts.keys() - unfounded if not here.issuperset(puts[id].item.erased_with)}
        if not more:
            return unfounded
        unfounded |= more
        here -= more


def _untied(
    snapshot: Snapshot, mine: Sequence[int], seen: Sequence[int], links: Sequence[Link], puts: Mapping[ItemId, Put]
) -> Iterator[Link]:
    """The links that come with what is written and are not tied yet, as far as all that they name is here then."""
    coming = [link for link in links if link.src in puts or link.dst in puts]
    named = {id for link in coming for id in (link.src, link.dst, *link.evidence)} - puts.keys()
    here = {*puts, *snapshot.standing(seen, list(named))}
    ends = list({link.src for link in coming})
    tied = {(link.src, link.dst, link.type) for link in snapshot.links(mine, ends)} if mine and ends else set()
    for link in coming:
        if here.issuperset((link.src, link.dst, *link.evidence)) and (link.src, link.dst, link.type) not in tied:
            yield link

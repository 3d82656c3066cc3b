"""Merging a branch: base, branch and parent compared id by id, and what only the branch has changed written at once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from mnemic.core.events import Change, Verb
from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Link, State, Version
from mnemic.errors import Invalid
from mnemic.past.branching import Ends, changed_links, commits, put_of, retied, stood_among, tied
from mnemic.past.rederivation import unwritten
from mnemic.store.engine.codec import canonical
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.values.drafts import Draft, Note, Put, Tie
from mnemic.store.values.heads import SpaceHead

SIDES: Final = ("branch", "parent")
"""Whose word counts where both have changed the same thing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """An item, or a link of it, that branch and parent have changed differently since they were last one.

    Attributes:
        base, branch, parent: What it was, and what it is on either side; None where it is not.
    """

    id: ItemId
    base: Item | Link | None
    branch: Item | Link | None
    parent: Item | Link | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """What a merge did, or would do.

    Attributes:
        seq: The commit it is; None if nothing was written, now or before.
        ids: The items that come from the branch.
        links: How many links do.
        conflicts: What both sides have changed. With a side named they are settled; without, nothing was written.
        prefer: The side that was named; "" for none.
        repeated: Whether nothing on the branch is new since its last merge, which this then tells of: a merge whose
            answer was lost is asked for again, and answers as it did, but for what was erased meanwhile.
    """

    seq: int | None
    ids: tuple[ItemId, ...]
    links: int
    conflicts: tuple[Clash, ...]
    prefer: str = ""
    repeated: bool = False

    @property
    def refused(self) -> bool:
        """Whether it waits for somebody to settle its conflicts."""
        return bool(self.conflicts) and not self.prefer


def merging(snapshot: Snapshot, parent: SpaceHead, branch: SpaceHead, draft: Draft, prefer: str) -> tuple[Merge, Draft]:
    """What merging a branch into the space that it comes off would do, and the commit of it, without ops if none.

    The commit is refused once the parent has moved on from this snapshot.

    Raises:
        Invalid: `prefer` names no side, or the branch comes off another.
    """
    if prefer and prefer not in SIDES:
        raise Invalid("prefer", f"{prefer!r} is no side", f"Say {' or '.join(SIDES)}.")
    if branch.parent != parent.id:
        raise Invalid("branch", f"{branch.branch!r} does not come off this memory", "Merge it into the one it does.")
    head = snapshot.head(parent.tenant).seq
    comparison = _Comparison(snapshot, parent, branch, prefer, head)
    merge = comparison.merge()
    if not (comparison.puts or comparison.ties or comparison.clashes):
        return _told_before(snapshot, parent, branch, comparison.last) or merge, replace(draft, ops=())
    if merge.refused:
        return merge, replace(draft, ops=())
    note = Note(verb=Verb.MERGED, payload=canonical({"branch": branch.number, "upto": head, "prefer": prefer}))
    return merge, replace(draft, ops=(*comparison.puts.values(), *comparison.ties, note), upon=parent.seq)


def _told_before(snapshot: Snapshot, parent: SpaceHead, branch: SpaceHead, last: _Met) -> Merge | None:
    """What the last merge told, compared again as both sides were then; None where there was none."""
    if last.seq == branch.base:
        return None
    then = _Comparison(snapshot, parent, branch, last.prefer, last.taken)
    return replace(then.merge(), seq=last.seq, repeated=True)


@dataclass(frozen=True, slots=True)
class _Met:
    """Where branch and parent were last one: up to which commit the branch was taken, by which of the parent's."""

    taken: int
    seq: int
    prefer: str = ""


class _Comparison:
    """Both sides at a commit, and since they were last one: at the base, or at the last merge that stands."""

    def __init__(self, snapshot: Snapshot, parent: SpaceHead, branch: SpaceHead, prefer: str, at: int) -> None:
        self.snapshot, self.parent, self.branch, self.prefer, self.at = snapshot, parent.id, branch.id, prefer, at
        self.last = _last_merge(snapshot, parent.id, branch, at)
        self.taken, self.met = self.last.taken, self.last.seq
        self.puts: dict[ItemId, Put] = {}
        self.ties: list[Tie] = []
        self.clashes: list[Clash] = []
        self.skipped: set[ItemId] = set()
        """What was written and retired on the branch only: nobody else needs to know it."""
        changes = list(commits(snapshot, branch.id, self.taken, at))
        items = list(dict.fromkeys(e.item for change in changes for e in change.events if e.item is not None))
        on_branch, on_parent = (snapshot.histories((home,), items) for home in (self.branch, self.parent))
        for item in items:
            self._compare(item, on_branch.get(item, []), on_parent.get(item, []))
        for ends in changed_links(snapshot, branch.id, changes):
            if self.skipped.isdisjoint(ends[:2]):
                self._compare_links(ends)

    def merge(self) -> Merge:
        return Merge(
            seq=None,
            ids=tuple(self.puts),
            links=len(self.ties),
            conflicts=tuple(self.clashes),
            prefer=self.prefer,
        )

    def _compare(self, item: ItemId, on_branch: Sequence[Version], on_parent: Sequence[Version]) -> None:
        theirs, was = stood_among(on_branch, self.at), stood_among(on_branch, self.taken)
        ours, were = stood_among(on_parent, self.at), stood_among(on_parent, self.met)
        if theirs is None or _said(theirs) in (_said(was), _said(ours)):
            return
        if ours is None and theirs.item.state is State.RETIRED:
            self.skipped.add(item)
            return
        kept = _said(ours) == _said(were)
        # What came by a merge that was undone since is in nobody's way.
        kept = kept or (were is None and (ours is None or unwritten(self.snapshot, self.parent, ours)))
        if not kept:
            self.clashes.append(Clash(id=item, base=_said(was), branch=theirs.item, parent=_said(ours)))
        if kept or self.prefer == "branch":
            self.puts[item] = put_of(theirs.item, _said(ours))

    def _compare_links(self, ends: Ends) -> None:
        theirs, was = (tied(self.snapshot, self.branch, ends, seq) for seq in (self.at, self.taken))
        ours, were = (tied(self.snapshot, self.parent, ends, seq) for seq in (self.at, self.met))
        tie = retied(ends, theirs, ours)
        if theirs == was or tie is None:
            return
        if ours != were:
            self.clashes.append(Clash(id=ends[0], base=was, branch=theirs, parent=ours))
        if ours == were or self.prefer == "branch":
            self.ties.append(tie)


def _said(version: Version | None) -> Item | None:
    return None if version is None else version.item


def _last_merge(snapshot: Snapshot, parent: int, branch: SpaceHead, at: int) -> _Met:
    """Where branch and parent were last one, as of a commit; the base where nothing was merged, or it was undone."""
    undone: set[int | None] = set()
    for change in reversed(list(commits(snapshot, parent, branch.base, at))):
        if change.seq in undone:
            continue
        merged = _merged(change)
        if merged is not None and merged["branch"] == branch.number:
            return _Met(merged["upto"], change.seq, merged.get("prefer", ""))
        if any(event.verb is Verb.UNDID for event in change.events):
            undone.add(change.cause)
    return _Met(branch.base, branch.base)


def _merged(change: Change) -> Mapping[str, Any] | None:
    payloads = (event.payload for event in change.events if event.verb is Verb.MERGED and event.payload)
    return next((json.loads(payload) for payload in payloads), None)

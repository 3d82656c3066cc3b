"""The inverse of a commit, as a commit: what it wrote goes, what it closed comes back, and so do the consequences."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final

from mnemic.core.clock import micros
from mnemic.core.events import Verb
from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Link, State, Version
from mnemic.core.queries import View
from mnemic.core.scope import SHARED
from mnemic.core.transitions import SUPERSEDES, freed, reopened, retired
from mnemic.core.visibility import has_expired
from mnemic.errors import Compacted, Conflict, NotFound
from mnemic.past.branching import commits, put_of, shows
from mnemic.past.rederivation import derived_anew, is_taken_back, taken_back_again, unwritten
from mnemic.store.engine.codec import canonical
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.values.drafts import Draft, Note, Op, Put, Tie

CASCADING: Final = "undo those first, or cascade (`--cascade`): that takes back what was changed since, too"
"""What to do about later changes that an undo finds in its way."""


def inverse(snapshot: Snapshot, space: int, seq: int, draft: Draft, *, cascade: bool) -> Draft:
    """`draft` with the ops that undo commit `seq`.

    Written items are retired, closed ones reopen, revised ones return to their former body, links likewise. Items
    derived from what goes, and left without evidence, are retired, and what those superseded reopens; links that rest
    on nothing else are untied. What was erased does not come back, and counters are not undone.

    Raises:
        NotFound: there is no such commit in this space, or it changed nothing that can be undone.
        Compacted: it lies behind the horizon.
        Conflict: an item it touched has changed since, and `cascade` is not set.
    """
    tenant = snapshot.spaces((space,))[0].tenant
    horizon = snapshot.head(tenant).horizon
    if 0 < seq <= horizon:
        raise Compacted(f"commit {seq} lies behind the horizon, which is commit {horizon}")
    changes = snapshot.changes(tenant, seq - 1, 1) if seq > 0 else []
    if not changes or changes[0].seq != seq or not shows(snapshot.layers((space,)), changes[0]):
        raise NotFound(f"no commit {seq} here; `mnemic log` shows them")
    return _Inverse(snapshot, space, seq).draft(draft, cascade=cascade)


class _Inverse:
    def __init__(self, snapshot: Snapshot, space: int, seq: int) -> None:
        self.snapshot, self.space, self.seq = snapshot, space, seq
        self.tenant = snapshot.spaces((space,))[0].tenant
        shared = snapshot.space(self.tenant, SHARED)
        self.evidence = (space,) if shared is None else (space, shared.id)
        self.written = snapshot.written(space, seq)
        self.ties = snapshot.links_written(space, seq)
        self.standing = snapshot.standing((space,), [version.item.id for version, _ in self.written])
        self.ops: dict[ItemId, Put] = {}

    def draft(self, draft: Draft, *, cascade: bool) -> Draft:
        self._refuse_changed(cascade)
        for version, before in self.written:
            self._restore(self.standing[version.item.id], None if before is None else _lasting(before.item, version))
        gone = [version.item.id for version, before in self.written if self._goes(version, before)]
        anew = self._retired_anew()
        stood = [id for id, version in anew.items() if version.item.state is not State.RETIRED]
        self._retire_unfounded([*gone, *stood])
        ties = [*self._ties(), *self._unfounded_links()]
        if not self.written and not self.ties:
            raise NotFound(f"commit {self.seq} changed nothing that can be undone")
        note = Note(verb=Verb.UNDID, payload=canonical({"seq": self.seq}))
        ops: tuple[Op, ...] = (*self.ops.values(), *ties, note)
        expect = {item: version.seq_from for item, version in self.standing.items() if item in self.ops}
        return replace(draft, ops=ops, cause=self.seq, expect=expect, unkeyed=frozenset(anew))

    def _refuse_changed(self, cascade: bool) -> None:
        changed = [f"{item} (by commit {v.seq_from})" for item, v in self.standing.items() if v.seq_from != self.seq]
        changed += [f"the link {link.src} -{link.type}-> {link.dst}" for link in self._links_changed()]
        if changed and not cascade:
            undos = self._undos()
            if len(undos) % 2:
                raise Conflict(f"commit {self.seq} is undone already, by commit {undos[-1]}; undo that one to redo it")
            if undos:
                raise Conflict(
                    f"commit {self.seq} was undone, by commit {undos[-2]}, and redone, by commit {undos[-1]}; "
                    "undo that one to take it back"
                )
            raise Conflict(f"changed since commit {self.seq}: {', '.join(changed)}; {CASCADING}")

    def _undos(self) -> list[int]:
        """The undo of this commit, that of this undo, and so on, where all it touched stands as the last left it."""
        last = max((version.seq_from for version in self.standing.values()), default=self.seq)
        undos: list[int] = []
        while last > self.seq:
            changes = self.snapshot.changes(self.tenant, last - 1, 1)
            if not any(event.verb is Verb.UNDID for change in changes for event in change.events):
                return []
            undos.append(last)
            last = changes[0].cause or 0
        return undos[::-1] if last == self.seq else []

    def _links_changed(self) -> list[Link]:
        """Links of this commit that do not stand as it left them."""
        now = self._links_of_ties(View())
        tied = {(link.src, link.dst, link.type) for link in now}
        return [ln for ln, opened in self.ties if (ln not in now if opened else (ln.src, ln.dst, ln.type) in tied)]

    def _restore(self, standing: Version, before: Item | None) -> None:
        self._put(retired(standing.item) if before is None else before, standing.item)

    def _goes(self, version: Version, before: Version | None) -> bool:
        """Whether an item goes as if never written: what was forgotten before has no consequences of its own.

        One that is retired already does not go once more; and how it came to be retired may lie behind the horizon.
        """
        if before is None:
            return True
        stands = self.standing[version.item.id].item.state is not State.RETIRED
        return stands and unwritten(self.snapshot, self.space, before)

    def _retired_anew(self) -> dict[ItemId, Version]:
        """Retire what a rerun derived in place of what comes back: how it stood."""
        back = [before.item for now, before in self.written if before and is_taken_back(now.item, before.item)]
        anew = derived_anew(self.snapshot, self.space, back, self.seq)
        self.standing.update(anew)
        self.ops.update((id, taken_back_again(version.item)) for id, version in anew.items())
        return anew

    def _put(self, item: Item, now: Item) -> None:
        if item != now:
            self.ops[item.id] = put_of(item, now)

    def _retire_unfounded(self, gone: Sequence[ItemId]) -> None:
        """Follow provenance: an item whose every source has gone goes too, and reopens what it superseded."""
        fresh, going = list(gone), set(gone)
        while fresh:
            for version, again in reopening(self.snapshot, self.space, fresh, going):
                if again.id not in self.ops:
                    self.standing[again.id] = version
                    self._put(again, version.item)
            fresh = self._retired_with(fresh)
            going.update(fresh)

    def _retired_with(self, gone: Sequence[ItemId]) -> list[ItemId]:
        """Retire what was derived from what has gone and has no other evidence."""
        derived = self.snapshot.derived(self.space, gone)
        stand = self.snapshot.standing((self.space,), derived)
        cited = dict.fromkeys(source for version in stand.values() for source in version.item.source)
        shown = self.snapshot.get(self.evidence, list(cited)) if cited else {}
        retired_items: list[ItemId] = []
        for item, version in stand.items():
            live = version.item.state in (State.ACTIVE, State.SUPERSEDED)
            if (
                live
                and item not in self.ops
                and not any(self._remains(source, shown) for source in version.item.source)
            ):
                self.standing[item] = version
                self._put(retired(version.item), version.item)
                retired_items.append(item)
        return retired_items

    def _remains(self, source: ItemId, shown: Collection[ItemId]) -> bool:
        """Whether something that an item cites is shown once the commit is undone."""
        put = self.ops.get(source)
        return source in shown if put is None else put.item.state is State.ACTIVE

    def _ties(self) -> Iterator[Tie]:
        """The links of before: one tied anew or untied was there already, and comes back as it was."""
        now, were = (
            {_ends(link): link for link in self._links_of_ties(view)} for view in (View(), View(at=self.seq - 1))
        )
        for link, _ in self.ties:
            before, stands = were.get(_ends(link)), now.get(_ends(link))
            if before is not None and before != stands:
                yield Tie(verb=Verb.LINKED, link=before)
            elif before is None and stands is not None:
                yield Tie(verb=Verb.UNLINKED, link=stands)

    def _unfounded_links(self) -> Iterator[Tie]:
        """Untie what rests on what has gone and on nothing else."""
        gone = [item for item, put in self.ops.items() if put.item.state is State.RETIRED]
        written = {_ends(link) for link, _ in self.ties}
        links = [link for link in self.snapshot.links_resting(self.space, gone) if _ends(link) not in written]
        cited = dict.fromkeys(source for link in links for source in link.evidence)
        shown = self.snapshot.get(self.evidence, list(cited)) if cited else {}
        for link in links:
            if not any(self._remains(source, shown) for source in link.evidence):
                yield Tie(verb=Verb.UNLINKED, link=link)

    def _links_of_ties(self, view: View) -> list[Link]:
        """The links of the items at which the commit tied or untied something."""
        sources = list(dict.fromkeys(link.src for link, _ in self.ties))
        return self.snapshot.links((self.space,), sources, view) if sources else []


def _lasting(item: Item, after: Version) -> Item:
    """An item as it comes back from what a commit made of it: without an end that had come by then already.

    Whoever undoes that it was collected wants it, and it would be gone again at once.
    """
    return replace(item, expires=None) if has_expired(item, micros(after.recorded)) else item


def _ends(link: Link) -> tuple[ItemId, ItemId, str]:
    return link.src, link.dst, link.type


def reopening(
    snapshot: Snapshot, space: int, items: Collection[ItemId], going: Collection[ItemId]
) -> list[tuple[Version, Item]]:
    """Find what reopens, or lasts longer, on account of `items`, some of `going`, once all of these have gone.

    Returns: each superseded item whose place one of `items` took, directly or along a chain of what goes, and that
    nothing left supersedes; and each that one of `going` came in behind, and was nothing since: its standing version,
    and what it becomes.
    """
    links = [*_superseding(snapshot, space, items, going, older=True)]
    below = dict.fromkeys(link.dst for link in links if link.dst not in going)
    links += _superseding(snapshot, space, below, going, older=False)
    ends = dict.fromkeys(end for link in links for end in (link.src, link.dst))
    stand = snapshot.standing((space,), list(ends)) if ends else {}
    loose = freed(links, {item: version.item for item, version in stand.items()}, going)
    below_versions = [stand[item] for item in loose if item in below]
    held = [version for item in below if item not in loose and (version := stand.get(item)) is not None]
    stories = snapshot.histories((space,), [version.item.id for version in (*below_versions, *held)]) if below else {}
    came = {stand[item].seq_from for item in going if item in stand}
    lasting = ((version, _before(stories[version.item.id], came)) for version in held)
    again = [(version, reopened(version.item, stories[version.item.id])) for version in below_versions]
    return again + [(version, before) for version, before in lasting if before is not None]


def _before(story: Sequence[Version], came: Collection[int]) -> Item | None:
    """What a superseded item was, if the last that was done to it is that one of these commits shortened it."""
    if len(story) < 2 or story[-1].seq_from not in came:
        return None
    if any(version.item.state is not State.SUPERSEDED for version in story[-2:]):  # hidden by that commit, it stays so
        return None
    return story[-2].item


def _superseding(
    snapshot: Snapshot, space: int, items: Collection[ItemId], going: Collection[ItemId], *, older: bool
) -> Iterator[Link]:
    """Follow supersession from items to older ones, or to newer ones, through what goes."""
    fresh, seen = list(items), set(items)
    while fresh:
        here = set(fresh)
        ends = [(ln, *((ln.src, ln.dst) if older else (ln.dst, ln.src))) for ln in _over(snapshot, space, fresh)]
        onward = [(link, far) for link, near, far in ends if near in here]
        yield from (link for link, _ in onward)
        fresh = [far for far in dict.fromkeys(far for _, far in onward) if far in going and far not in seen]
        seen.update(fresh)


def _over(snapshot: Snapshot, space: int, items: Sequence[ItemId]) -> list[Link]:
    return [link for link in snapshot.links((space,), items) if link.type == SUPERSEDES]


def touched(snapshot: Snapshot, space: int, after: int, upto: int) -> list[ItemId]:
    """Items that commits in `(after, upto]` changed in a space, in order of their first change."""
    changes = commits(snapshot, space, after, upto)
    return list(dict.fromkeys(event.item for change in changes for event in change.events if event.item is not None))


def visible_at(snapshot: Snapshot, space: int, items: Sequence[ItemId], seq: int) -> dict[ItemId, Version]:
    """These items as the journal stood after commit `seq`; before the first commit there is nothing."""
    return snapshot.get((space,), items, View(at=seq)) if seq else {}

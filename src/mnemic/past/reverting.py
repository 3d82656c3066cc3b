"""Bringing a memory back to what it was after a commit, by one commit more: nothing is lost, and it can be undone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mnemic.core.events import Change, Verb
from mnemic.core.ids import ItemId
from mnemic.core.items import RERUN, Item, Link, State, Version
from mnemic.core.transitions import SUPERSEDES, reopened, retired
from mnemic.errors import Compacted, Invalid
from mnemic.past.branching import Ends, changed_links, commits, put_of, retied, stood_among, tied
from mnemic.past.rederivation import derived_anew, is_taken_back, taken_back_again
from mnemic.store.engine.codec import canonical
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.values.drafts import Draft, Note, Op, Put, Tie


def reverting(snapshot: Snapshot, space: int, seq: int, draft: Draft) -> Draft:
    """`draft` with what makes a space say again what it said after commit `seq`; without ops if it does already.

    What was written since is retired, what was changed is as it was, links likewise; but what was only read since, from
    what stood at `seq`, stays. What was erased does not come back, and counters stay. The commit is refused once the
    space has moved on from this snapshot.

    Raises:
        Invalid: there is no such commit yet.
        Compacted: it lies behind the horizon.
    """
    here = snapshot.spaces((space,))[0]
    head = snapshot.head(here.tenant)
    if seq > head.seq:
        raise Invalid("seq", f"commit {seq} is not between 1 and {head.seq}", "`mnemic log` shows the commits.")
    if seq < head.horizon:
        raise Compacted(f"commit {seq} lies behind the horizon, which is commit {head.horizon}")
    since = list(commits(snapshot, space, seq, head.seq))
    items = list(dict.fromkeys(event.item for change in since for event in change.events if event.item is not None))
    late = _LateReadings(snapshot, space, seq, since, snapshot.histories((space,), items))
    now = snapshot.standing((space,), items)
    puts = (late.restored(now[item]) for item in items if item in now)
    ties = (late.retied(ends) for ends in changed_links(snapshot, space, since))
    ops: tuple[Op, ...] = (*(put for put in puts if put is not None), *(tie for tie in ties if tie is not None))
    if not ops:
        return replace(draft, ops=())
    note = Note(verb=Verb.REVERTED, payload=canonical({"seq": seq}))
    return replace(draft, ops=(*ops, note), cause=seq, upon=here.seq, unkeyed=frozenset(late.anew))


class _LateReadings:
    """What was only read after a commit, and from what stood at it: it stays, as nobody will read it again.

    `anew` is what a rerun derived since in place of what comes back, as it stands: that goes.

    Rules and models run behind what is written. An item that one of them derived since, every source of which is to
    stand with the words it was derived from, is left as it then was, with what it superseded and its links; and so is a
    link that one of them tied for such sources between such items.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        space: int,
        seq: int,
        since: Sequence[Change],
        stories: Mapping[ItemId, Sequence[Version]],
    ) -> None:
        self._snapshot, self._space, self._seq = snapshot, space, seq
        self._stories = dict(stories)
        back = [then for story in stories.values() if (then := _taken_back(story, seq)) is not None]
        self.anew = derived_anew(snapshot, space, back, seq)
        self._left: set[ItemId] = set()
        self._overtaken: set[ItemId] = set()
        self._at: dict[ItemId | Ends, int] = {}
        self._otherwise: set[ItemId | Ends] = set()
        for change in since:
            if not any(event.verb is Verb.MERGED for event in change.events):
                self._left |= {item.id for item in self._fresh(change) if self._stays(item, change.seq)}
            self._follow(change.seq)

    def restored(self, now: Version) -> Put | None:
        """Make an item what it was, from what it is now; None if it is so already."""
        item = now.item.id
        if item in self.anew:
            put = taken_back_again(now.item)
            return None if put.item == now.item else put
        versions = self._story(item)
        if now.item.slots.get(RERUN) and stood_among(versions, self._seq) is None:
            return None  # a rerun has taken it back, and derived it anew
        before = stood_among(versions, self._at.get(item, self._seq))
        wanted = retired(now.item) if before is None else before.item
        if before is not None and item in self._overtaken and wanted.state is State.SUPERSEDED:
            wanted = reopened(wanted, [version for version in versions if version.seq_from <= before.seq_from])
        return None if wanted == now.item else put_of(wanted, now.item)

    def retied(self, ends: Ends) -> Tie | None:
        before = tied(self._snapshot, self._space, ends, self._at.get(ends, self._seq))
        return retied(ends, before, tied(self._snapshot, self._space, ends, None))

    def _fresh(self, change: Change) -> list[Item]:
        return [v.item for v, before in self._snapshot.written(self._space, change.seq) if before is None]

    def _stays(self, item: Item, seq: int) -> bool:
        """Whether something derived it, from nothing but what is to stand, and not anew in place of what comes back."""
        if item.id in self.anew:
            return False
        return bool(item.source) and "by" in item.slots and all(self._stands(source, seq) for source in item.source)

    def _keeps(self, link: Link, seq: int) -> bool:
        """Whether a strategy tied it, for nothing but what is to stand."""
        ends = (link.src, link.dst)
        return bool(link.by and link.evidence) and all(self._stands(ref, seq) for ref in (*ends, *link.evidence))

    def _stands(self, source: ItemId, seq: int) -> bool:
        if source in self._left or not self._story(source):
            return True
        then, read = (stood_among(self._story(source), at) for at in (self._seq, seq))
        return (
            then is not None
            and read is not None
            and then.item.state is State.ACTIVE
            and then.item.text == read.item.text
        )

    def _story(self, item: ItemId) -> Sequence[Version]:
        """An item's versions; of what was only cited since, read when it is asked for."""
        if item not in self._stories:
            self._stories[item] = self._snapshot.history((self._space,), item)
        return self._stories[item]

    def _follow(self, seq: int) -> None:
        """Note what a commit did on account of what stays; anything else that is done to a thing ends that."""
        ties = self._snapshot.links_written(self._space, seq)
        over: dict[ItemId, set[ItemId]] = {}
        for link, opened in ties:
            stays = link.src in self._left or (opened and self._keeps(link, seq))
            self._note((link.src, link.dst, link.type), seq, stays=stays)
            if opened and link.type == SUPERSEDES:
                over.setdefault(link.dst, set()).add(link.src)
        for version, before in self._snapshot.written(self._space, seq):
            item, by = version.item.id, over.get(version.item.id, set())
            fresh = before is None and item in self._left
            self._note(item, seq, stays=fresh or (bool(by) and by <= self._left))
            if fresh and not by <= self._left:
                self._overtaken.add(item)

    def _note(self, what: ItemId | Ends, seq: int, *, stays: bool) -> None:
        if stays and what not in self._otherwise:
            self._at[what] = seq
        else:
            self._otherwise.add(what)


def _taken_back(story: Sequence[Version], seq: int) -> Item | None:
    """What an item was after a commit, if a rerun has taken it back since."""
    then = stood_among(story, seq)
    back = then is not None and any(
        version.seq_from > seq and is_taken_back(version.item, then.item) for version in story
    )
    return None if then is None or not back else then.item

"""The plain model with branches, merge, revert and going back: what each should do to dicts and lists, said plainly.

A branch is known by its owner and its name, `ada/try`. What it shows is worked out anew whenever it is asked for: the
parent's memory as it was at the base, and the branch's own versions put behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from mnemic.core.items import State
from mnemic.errors import Compacted, Conflict, Invalid, NotFound, Refused
from mnemic.testing.model import (
    SHARED,
    Model,
    ModelVersion,
    Space,
    freed,
    place_taken,
    plain_said,
    reopened_said,
    weight_of,
)  # fmt: skip

Ends = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class BranchOrigin:
    """A branch's parent, and the commit as of which the branch reads it."""

    of: str
    base: int


@dataclass(frozen=True, slots=True)
class ErasureTrace:
    """What an erasure took out: the commits that wrote it, and the versions that it reopened, by memory."""

    seq: int
    firsts: frozenset[int]
    reopened: dict[str, dict[str, ModelVersion]] = field(default_factory=dict)


class TimeModel(Model):
    """The model, with branches. A memory's key is its user, or user and branch with a slash between."""

    def __init__(self) -> None:
        super().__init__()
        self.off: dict[str, BranchOrigin] = {}
        self.merges: dict[int, tuple[str, int]] = {}
        self.undid: dict[int, int] = {}
        self.erasures: list[ErasureTrace] = []
        self.marked: set[str] = set()

    # Reading through

    def _space(self, user: str) -> Space:
        if user not in self.spaces:
            raise NotFound(user)
        return self.whole(user)

    def whole(self, user: str) -> Space:
        """A memory as it shows itself: for a branch, with what lies behind it."""
        own = self.spaces[user]
        if user not in self.off:
            return own
        behind, base = self.whole(self.off[user].of), self.off[user].base
        whole_space = _cut(behind, base)
        for item, versions in own.items.items():
            before = whole_space.items.get(item, [])
            whole_space.items[item] = [
                *before[:-1],
                *(replace(v, end=versions[0].first) for v in before[-1:]),
                *versions,
            ]
        for link in own.links:
            whole_space.links = [
                replace(ln, end=link.first) if ln.ends == link.ends and ln.end is None else ln
                for ln in whole_space.links
            ] + [link]
        return whole_space

    def _read(self, user: str) -> list[Space]:
        spaces = [self.whole(user)] if user in self.spaces else []
        if owner(user) != SHARED and SHARED in self.spaces:
            spaces.append(_cut(self.spaces[SHARED], self._base(user)))
        return spaces

    def _base(self, user: str) -> int | None:
        """The commit that a memory reads what is shared at; None for as it stands."""
        bases = []
        while user in self.off:
            bases.append(self.off[user].base)
            user = self.off[user].of
        return min(bases, default=None)

    def kin(self, user: str) -> list[str]:
        """The memories of the same owner."""
        return [key for key in self.spaces if owner(key) == owner(user)]

    def mine(self, user: str, seq: int) -> bool:
        bound: int | None = None
        while True:
            if self.journal[seq - 1].user == user and (bound is None or seq <= bound):
                return True
            if user not in self.off:
                return False
            user, base = self.off[user].of, self.off[user].base
            bound = base if bound is None else min(bound, base)

    def commits(self, user: str) -> list[int]:
        return [seq for seq in range(1, self.seq + 1) if self.mine(user, seq)]

    # Branches

    def branch(self, user: str, name: str, now: datetime, base: int | None = None) -> str:
        """Make a branch, unless it is there."""
        key = f"{owner(user)}/{name}"
        if key in self.spaces:
            if base is not None:
                raise Conflict(name)
            return key
        if user not in self.spaces:
            raise NotFound(user)
        if base is not None and base < self.horizon:
            raise Compacted(str(base))
        self.spaces[key], self.off[key] = Space(), BranchOrigin(user, self.seq if base is None else base)
        self._commit(key, now, {}, {})
        return key

    def drop(self, user: str, name: str, now: datetime) -> int:
        """Drop a branch: it is gone, with what was written to it alone."""
        key = f"{owner(user)}/{name}"
        if key not in self.spaces:
            raise NotFound(name)
        if any(off.of == key for off in self.off.values()):
            raise Conflict(name)
        space, parent = self.spaces.pop(key), self.off.pop(key).of
        self._forget_merges([key])
        self._commit(parent, now, {}, {})
        wrote = {seq for seq, commit in enumerate(self.journal, start=1) if commit.user == key}
        self.erasures.append(ErasureTrace(self.seq, frozenset(wrote | _firsts(space))))
        self.journal = [replace(c, user=None) if c.user == key else c for c in self.journal]
        return self.seq

    def merge(self, user: str, name: str, prefer: str, now: datetime) -> tuple[set[str], int, set[str], int | None]:
        """What comes from the branch: items, links; what clashes; the commit, or the last where nothing is new."""
        key = f"{owner(user)}/{name}"
        if key not in self.spaces:
            raise NotFound(name)
        if user not in self.spaces:
            raise NotFound(user)
        if self.off[key].of != user:
            raise Invalid("branch", name, "")
        taken, met = self._last_merge(user, key)
        puts, skipped, clash = self._items_apart(user, key, (taken, met), prefer)
        ties, apart = self._links_apart(user, key, (taken, met), prefer, skipped)
        clash |= apart
        if not (puts or ties or clash):
            return set(), 0, set(), met if met > self.off[key].base else None
        if clash and not prefer:
            return set(puts), len(ties), clash, None
        self._commit(user, now, puts, ties)
        self.merges[self.seq] = (key, self.seq - 1)
        return set(puts), len(ties), clash, self.seq

    def _items_apart(
        self, user: str, key: str, since: tuple[int, int], prefer: str
    ) -> tuple[dict[str, ModelVersion], set[str], set[str]]:
        """Of the items that a branch has changed: what the parent takes over, what it need not know, what clashes."""
        ours, theirs, (taken, met) = self._space(user), self.whole(key), since
        puts, skipped, clash = {}, set(), set()
        items = {i for i, versions in self.spaces[key].items.items() if any(v.first > taken for v in versions)}
        for item in sorted(items):
            says, here = theirs.items[item][-1].says, ours.items.get(item, [])
            if plain(says) in (plain(_at(theirs, item, taken)), plain(here[-1].says if here else None)):
                continue
            if not here and says.state is State.RETIRED:
                skipped.add(item)
                continue
            were = _at(ours, item, met)
            kept = plain(here[-1].says if here else None) == plain(were) or (
                were is None and here[-1].says.state is State.RETIRED and here[-1].says.unwritten
            )
            clash |= set() if kept else {item}
            if kept or prefer == "branch":
                puts[item] = replace(says, unwritten=False)
        return puts, skipped, clash

    def _links_apart(
        self, user: str, key: str, since: tuple[int, int], prefer: str, skipped: set[str]
    ) -> tuple[dict[Ends, float | None], set[str]]:
        """Of the links that a branch has changed: what the parent takes over, and the items whose links clash."""
        ours, theirs, (taken, met) = self._space(user), self.whole(key), since
        ties, clash = {}, set()
        for ends in sorted({ln.ends for ln in self.spaces[key].links if ln.first > taken}):
            new, old = weight_of(theirs, ends), _weight_at(theirs, ends, taken)
            here_now, here_then = weight_of(ours, ends), _weight_at(ours, ends, met)
            if new in (old, here_now) or not skipped.isdisjoint(ends[:2]):
                continue
            clash |= set() if here_now == here_then else {ends[0]}
            if here_now == here_then or prefer == "branch":
                ties[ends] = new
        return ties, clash

    def _last_merge(self, user: str, key: str) -> tuple[int, int]:
        undone: set[int] = set()
        for seq in reversed(range(self.off[key].base + 1, self.seq + 1)):
            if seq in undone or not self.mine(user, seq):
                continue
            if seq in self.merges and self.merges[seq][0] == key:
                return self.merges[seq][1], seq
            if seq in self.undid:
                undone.add(self.undid[seq])
        return self.off[key].base, self.off[key].base

    def _forget_merges(self, keys: Sequence[str]) -> None:
        """A branch made anew under the name of one that was dropped has not been merged."""
        self.merges = {at: merge for at, merge in self.merges.items() if merge[0] not in keys}

    def undo(self, user: str, seq: int, now: datetime, *, cascade: bool) -> int:
        done = super().undo(user, seq, now, cascade=cascade)
        self.undid[done] = seq
        return done

    # Going back

    def revert(self, user: str, seq: int, now: datetime) -> int:
        """Say again what was said after a commit, in one commit more."""
        if user not in self.spaces:
            raise NotFound(user)
        if seq > self.seq:
            raise Invalid("seq", str(seq), "")
        if seq < self.horizon:
            raise Compacted(str(seq))
        space = self._space(user)
        wanted = {}
        for item, versions in space.items.items():
            now_says, then = versions[-1].says, _at(space, item, seq)
            says = replace(now_says, state=State.RETIRED, unwritten=True) if then is None else then
            if says != plain_said(now_says, says):
                wanted[item] = says
        links = {ln.ends: _weight_at(space, ln.ends, seq) for ln in sorted(space.links, key=lambda ln: ln.ends)}
        links = {ends: weight for ends, weight in links.items() if weight != weight_of(space, ends)}
        if not wanted and not links:
            return seq
        self._commit(user, now, wanted, links)
        return self.seq

    def rewind(self, seq: int, now: datetime) -> int:
        """Be again what it was after a commit, as if nothing had come since; what was erased since stays so."""
        if not 0 <= seq <= self.seq:
            raise Invalid("to", str(seq), "")
        if seq < self.horizon:
            raise Compacted(str(seq))
        if seq == self.seq:
            return seq
        since = [gone for gone in self.erasures if gone.seq > seq]
        for key in [key for key in self.spaces if not self._was_there(key, seq)]:
            del self.spaces[key]
            self.off.pop(key, None)
        for space in self.spaces.values():
            cut = _cut(space, seq)
            space.items, space.links = cut.items, cut.links
        self.journal = self.journal[:seq]
        self.merges = {at: merge for at, merge in self.merges.items() if at <= seq}
        self.undid = {at: undone for at, undone in self.undid.items() if at <= seq}
        self.erasures = [gone for gone in self.erasures if gone.seq <= seq]
        if any(first <= seq for gone in since for first in gone.firsts):
            self._erase_again(since, seq, now)
        return self.seq

    def _was_there(self, key: str, seq: int) -> bool:
        """Whether a memory goes on after going back; one from which something was erased keeps the mark of that."""
        return any(c.user == key for c in self.journal[:seq]) or (key in self.marked and key not in self.off)

    def _erase_again(self, since: list[ErasureTrace], seq: int, now: datetime) -> None:
        again: dict[str, dict[str, ModelVersion]] = {}
        for gone in since:
            for key, says in gone.reopened.items():
                for item in says:
                    space = self.spaces.get(key)
                    closed = space and item in space.items and space.now(item).state is State.SUPERSEDED
                    if space and closed and not place_taken(space, item):
                        again.setdefault(key, {})[item] = reopened_said(space.items[item])
        homes: list[str | None] = [key for key in self.spaces if key in again]
        for home in homes or [None]:
            self._commit(home, now, again.get(home, {}) if home else {}, {})
        firsts = frozenset(first for gone in since for first in gone.firsts if first <= seq)
        self.erasures.append(ErasureTrace(seq + 1, firsts, again))

    # Taking out, from every branch

    def erase(self, user: str, items: Sequence[str], now: datetime) -> set[str]:
        self._space(user)
        kin = self.kin(user)
        going = {item for item in items if any(item in self.spaces[key].items for key in kin)}
        reach = list(self.spaces) if owner(user) == SHARED else kin
        while more := {
            item
            for key in reach
            for item, versions in self.spaces[key].items.items()
            if item not in going and going & {source for v in versions for source in v.says.source}
        }:
            going |= more
        if not going:
            return going
        reopened = freed(self._space(user), going, going)
        firsts: set[int] = set()
        self.marked |= {
            key for key in reach if any(going & self.spaces[space_key].items.keys() for space_key in self.kin(key))
        }
        for key in reach:
            firsts |= self._take_out(self.spaces[key], going)
        self._commit(user, now, reopened, {})
        self.erasures.append(ErasureTrace(self.seq, frozenset(firsts), {user: reopened} if reopened else {}))
        self.gone |= going
        return going

    @staticmethod
    def _take_out(space: Space, going: set[str]) -> set[int]:
        firsts = {v.first for item in going for v in space.items.get(item, ())}
        firsts |= {ln.first for ln in space.links if going & {ln.src, ln.dst}}
        space.items = {item: versions for item, versions in space.items.items() if item not in going}
        space.links = [ln for ln in space.links if not going & {ln.src, ln.dst}]
        return firsts

    def erase_user(self, user: str, now: datetime) -> set[str]:
        if user not in self.spaces:
            raise NotFound(user)
        kin = self.kin(user)
        went = {item for key in kin for item in self.spaces[key].items}
        wrote = {seq for seq, commit in enumerate(self.journal, start=1) if commit.user in kin}
        for key in kin:
            del self.spaces[key]
            self.off.pop(key, None)
            self.marked.discard(key)
        self._forget_merges(kin)
        self._commit(None, now, {}, {})
        self.journal = [replace(c, user=None) if c.user in kin else c for c in self.journal]
        self.erasures.append(ErasureTrace(self.seq, frozenset(wrote)))
        self.gone |= went
        return went

    def compact(self, horizon: int, now: datetime) -> int:
        held = min((off.base for off in self.off.values()), default=self.seq)
        if self.horizon < horizon <= self.seq and held < horizon:
            raise Refused(str(held))
        dropped = super().compact(horizon, now)
        # What is blank in the journal behind the horizon goes with it, and needs no erasure to say why any more.
        self.erasures = [
            replace(gone, firsts=frozenset(first for first in gone.firsts if first > horizon)) for gone in self.erasures
        ]
        return dropped


def owner(key: str) -> str:
    """Whose a memory is."""
    return key.partition("/")[0]


def plain(says: ModelVersion | None) -> ModelVersion | None:
    """What is said, without how it came to be retired."""
    return None if says is None else replace(says, unwritten=False)


def _cut(space: Space, seq: int | None) -> Space:
    """A memory as it was after a commit; what was closed later stands in it."""
    if seq is None:
        return space
    items = {
        item: [replace(v, end=None) if v.end is not None and v.end > seq else v for v in versions if v.first <= seq]
        for item, versions in space.items.items()
    }
    links = [
        replace(ln, end=None) if ln.end is not None and ln.end > seq else ln for ln in space.links if ln.first <= seq
    ]
    keys = {name: key for name, key in space.keys.items() if key.seq <= seq}
    return Space({item: versions for item, versions in items.items() if versions}, links, keys)


def _at(space: Space, item: str, seq: int) -> ModelVersion | None:
    return next((v.says for v in space.items.get(item, ()) if v.stood(seq)), None)


def _weight_at(space: Space, ends: Ends, seq: int) -> float | None:
    stood = (ln for ln in space.links if ln.ends == ends and ln.first <= seq and (ln.end is None or seq < ln.end))
    return next((ln.weight for ln in stood), None)


def _firsts(space: Space) -> set[int]:
    versions = {v.first for vs in space.items.values() for v in vs}
    return versions | {ln.first for ln in space.links}

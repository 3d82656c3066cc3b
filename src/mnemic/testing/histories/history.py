"""One history: each act done to both stores and to the model, and what they show compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from mnemic.admin import restore
from mnemic.core.events import Receipt
from mnemic.core.ids import ItemId
from mnemic.core.items import Kind, State
from mnemic.core.queries import Filter
from mnemic.errors import MnemicError
from mnemic.flow import run
from mnemic.index.packing_lane import pack_slice
from mnemic.memory import Memory, ScopedMemory
from mnemic.store.sqlite.sqlite_store import MemoryStore, SqliteStore
from mnemic.testing.deeds import state_hash
from mnemic.testing.histories.acts import Act
from mnemic.testing.histories.history_world import SETTINGS, STORES, HistoryWorld, told_version, told_was
from mnemic.testing.model import SHARED, ModelVersion, VersionSpan

USERS: Final = ("ada", "ada", "ada", "bob", SHARED)
NAMES: Final = ("try", "what if", "试")
SESSIONS: Final = (None, "s1", "s2")
TYPES: Final = ("about", "near")
HOUR: Final = 3_600_000_000
EVERY: Final = 25
"""After so many acts all that can be seen is compared; what an act has touched, after each."""


@dataclass(slots=True)
class Figures:
    """What a history came to.

    Attributes:
        retired: Items that the lane of expiry retired.
    """

    acts: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    retired: int = 0
    hashes: int = 0
    commits: int = 0


class History:
    """A world, and the acts that can be done to it; each picks what it acts on by the numbers that it is given."""

    def __init__(self, seed: int | str, stores: Sequence[str] = STORES) -> None:
        self.world = HistoryWorld(seed, stores)
        self.model = self.world.model
        self.figures = Figures()
        self.ids: list[ItemId] = []
        self.hashes: dict[int, str] = {}
        self._words = 0

    def run(self, acts: Sequence[Act]) -> Figures:
        """Do every act, then look at everything once more.

        Raises:
            HistoryError: a store did not do what the model says.
        """
        try:
            for number, act in enumerate(acts, start=1):
                self._do(act)
                if number % EVERY == 0:
                    self.world.check()
                    self._note_hash()
            self.world.check()
            self._check_pasts()
            self.world.check_sound()
        finally:
            self.world.close()
        self.figures.commits = self.model.seq
        return self.figures

    def _do(self, act: Act) -> None:
        verb: Callable[[tuple[int, ...]], None] = getattr(self, act.name)
        self.figures.acts[act.name] += 1
        verb(act.picks)

    # Writing

    def observe(self, picks: tuple[int, ...]) -> None:
        key, session, said = self._anywhere(picks), SESSIONS[picks[2] % 3], self._moment(picks[3])
        text, expires = self._text("observed"), self._expiry(picks[6])
        done = self._each(key, lambda me: me.observe(text, said=said, expires=expires), session)
        says = ModelVersion(
            text=text, kind=Kind.TURN, said=said or self.world.now, session=session, expires=self._counted(expires)
        )
        self._wrote(done, lambda: self.model.add(key, self._named(done, says), self.world.now))

    def write(self, picks: tuple[int, ...]) -> None:
        key, starts, session = self._anywhere(picks), self._moment(picks[3]), SESSIONS[picks[2] % 3]
        source = self._sources(key, picks[4])
        said = self._latest(key, source)
        text, tags = self._text("written"), ("red",) if picks[5] % 3 == 0 else ()
        expires = self._expiry(picks[6])
        done = self._each(
            key, lambda me: me.write(text, valid_from=starts, source=source, tags=tags, expires=expires), session
        )
        says = ModelVersion(
            text=text, kind=Kind.FACT, said=said, valid_from=starts, source=source, session=session, tags=tags,
            expires=self._counted(expires),
        )  # fmt: skip
        self._wrote(done, lambda: self.model.add(key, self._named(done, says), self.world.now))

    def revise(self, picks: tuple[int, ...]) -> None:
        key = self._anywhere(picks)
        item, text = self._item(key, picks[2]), self._text("revised")
        done = self._each(key, lambda me: me.revise(item, text))
        self._wrote(done, lambda: self.model.revise(key, item, text, self.world.now))

    def supersede(self, picks: tuple[int, ...]) -> None:
        key = self._anywhere(picks)
        old, said, text = self._item(key, picks[2]), self._moment(picks[3]), self._text("newer")
        expires = self._expiry(picks[6])
        done = self._each(key, lambda me: me.supersede(old, text, said=said, expires=expires))
        says = ModelVersion(text=text, kind=Kind.FACT, said=said or self.world.now, expires=self._counted(expires))
        fresh = done.id if isinstance(done, Receipt) else "?"
        self._wrote(done, lambda: self.model.supersede(key, old, fresh, says, self.world.now))

    def forget(self, picks: tuple[int, ...]) -> None:
        key = self._anywhere(picks)
        items = list(dict.fromkeys(self._item(key, pick) for pick in picks[2 : 3 + picks[5] % 2]))
        done = self._each(key, lambda me: me.forget(*items))
        self._wrote(done, lambda: self.model.forget(key, items, self.world.now))

    def expire(self, picks: tuple[int, ...]) -> None:
        """Say when an item expires, or that it never does; now and then at a time that has passed."""
        key = self._anywhere(picks)
        item = self._item(key, picks[2])
        expires = self._counted(self._expiry(picks[6])) if picks[3] % 8 else self.world.now - timedelta(hours=1)
        done = self._each(key, lambda me: me.revise(item, expires=expires))
        self._wrote(done, lambda: self.model.expire(key, item, expires, self.world.now))

    def retire(self, picks: tuple[int, ...]) -> None:
        """Have what has expired retired, in every memory, as the lane does it: in commits of some items."""
        ended = self.model.expired(self.world.now)
        done = self.world.both(self.world.retire_expired)
        if isinstance(done, MnemicError):
            raise done
        went: dict[str, set[str]] = {}
        for key, items in done:
            self.figures.retired += len(items)
            went.setdefault(key, set()).update(items)
            self.model.retire(key, items, self.world.now)
        self.world.same(went, ended, "retired")

    def pin(self, picks: tuple[int, ...]) -> None:
        key, pinned = self._anywhere(picks), picks[3] % 3 > 0
        items = [self._item(key, picks[2])]
        done = self._each(key, lambda me: me.pin(*items) if pinned else me.unpin(*items))
        self._wrote(done, lambda: self.model.pin(key, items, pinned, self.world.now))

    def link(self, picks: tuple[int, ...]) -> None:
        key, weight = self._anywhere(picks), (1.0, 0.25)[picks[5] % 2]
        src, dst, type_ = self._item(key, picks[2]), self._item(key, picks[3]), TYPES[picks[4] % 2]
        ends = (src, dst, type_)
        done = self._each(key, lambda me: me.link(src, dst, type_, weight=weight))
        self._wrote(done, lambda: self.model.link(key, ends, weight, self.world.now))

    def unlink(self, picks: tuple[int, ...]) -> None:
        key = self._anywhere(picks)
        space = self.model.whole(key) if key in self.model.spaces else None
        tied = [ln.ends for ln in space.links if ln.end is None and ln.weight is not None] if space else []
        if tied:
            ends = tied[picks[2] % len(tied)]
            src, dst = ItemId(ends[0]), ItemId(ends[1])
            done = self._each(key, lambda me: me.unlink(src, dst, ends[2]))
            self._wrote(done, lambda: self.model.link(key, ends, None, self.world.now))

    def use(self, picks: tuple[int, ...]) -> None:
        key = self._anywhere(picks)
        item = self._item(key, picks[2])
        done = self._each(key, lambda me: me.feedback(item, useful=picks[3] % 2 == 0))
        if isinstance(done, MnemicError):
            self.figures.refused += 1
        else:
            self.world.expect(done, lambda: self.model._commit(key, self.world.now, {}, {}))

    # Taking back

    def undo(self, picks: tuple[int, ...]) -> None:
        key, cascade = self._anywhere(picks), picks[4] % 2 == 0
        mine = self.model.commits(key) if key in self.model.spaces else []
        seq = mine[-1 - picks[2] % min(len(mine), 6)] if mine and picks[3] % 8 else 1 + picks[2] % (self.model.seq + 2)
        done = self._each(key, lambda me: me.undo(seq, cascade=cascade))
        self._wrote(done, lambda: self.model.undo(key, seq, self.world.now, cascade=cascade))

    def revert(self, picks: tuple[int, ...]) -> None:
        key = self._anywhere(picks)
        seq = 1 + picks[2] % (self.model.seq + 1)
        seq = max(1, self.model.seq - picks[3] % 20) if picks[4] % 3 else seq
        done = self._each(key, lambda me: me.revert(seq))
        self._wrote(done, lambda: self.model.revert(key, seq, self.world.now))

    # Branches

    def branch(self, picks: tuple[int, ...]) -> None:
        key, name = self._anywhere(picks), NAMES[picks[2] % len(NAMES)]
        base = None if picks[3] % 3 or not self.model.seq else self.model.seq - picks[4] % min(self.model.seq, 30)
        done = self._each(key, lambda me: (me if base is None else me.at(base)).branch(name) and None)
        self._settle(done, lambda: self.model.branch(key, name, self.world.now, base))

    def merge(self, picks: tuple[int, ...]) -> None:
        key, prefer = self._branch(picks[0]), ("", "branch", "parent")[picks[2] % 3]
        if key is None:
            return
        parent, name = self.model.off[key].of, key.partition("/")[2]
        if picks[3] % 10 == 0:
            parent = self._anywhere(picks)
        done = self._each(parent, lambda me: me.merge(name, prefer=prefer or None))
        by_model = self._settle(done, lambda: self.model.merge(parent, name, prefer, self.world.now))
        if by_model is not None and not isinstance(done, MnemicError):
            items, links, clash, seq = by_model
            self.world.same(done.seq, seq, "merge: commit")
            if done.repeated:
                return  # it tells what the earlier one did, which was compared then
            self.world.same({conflict.id for conflict in done.conflicts}, clash, "merge: conflicts")
            if seq is not None:
                self.world.same((set(done.ids), done.links), (items, links), "merge: what came")

    def drop_branch(self, picks: tuple[int, ...]) -> None:
        key = self._branch(picks[0])
        if key is not None:
            name = key.partition("/")[2]
            done = self._each(key.partition("/")[0], lambda me: me.drop_branch(name))
            self._wrote(done, lambda: self.model.drop(key.partition("/")[0], name, self.world.now))
            self.hashes.clear()

    # Taking out

    def erase(self, picks: tuple[int, ...]) -> None:
        key = self._anywhere(picks)
        self._erased(key, [self._item(key, picks[2])], lambda me: me.erase(self._item(key, picks[2])))

    def erase_session(self, picks: tuple[int, ...]) -> None:
        key, session = self._anywhere(picks), SESSIONS[1 + picks[2] % 2]
        kin = self.model.kin(key) if key in self.model.spaces else []
        shown = [
            (item, versions[-1].says) for relative in kin for item, versions in self.model.whole(relative).items.items()
        ]
        self._erased(
            key, [item for item, says in shown if says.session == session], lambda me: me.erase(session=session)
        )

    def _erased(self, key: str, items: list[str], act: Callable[[ScopedMemory], Any]) -> None:
        done = self._each(key, act)
        before = self.model.seq
        went = self._settle(done, lambda: self.model.erase(key, items, self.world.now))
        if went is not None:
            self.world.same(set(done.ids), went, "erased")
            self.world.same(done.seq, before + 1 if went else None, "erase: commit")
            self.hashes.clear()  # what was erased does not come back, and so does no hash over it

    def erase_user(self, picks: tuple[int, ...]) -> None:
        user = USERS[picks[0] % len(USERS)]
        done = self._each(user, lambda me: me.erase_user())
        went = self._settle(done, lambda: self.model.erase_user(user, self.world.now))
        if went is not None:
            self.world.same(set(done.ids), went, "erased user")
            self.hashes.clear()

    def compact(self, picks: tuple[int, ...]) -> None:
        horizon = max(0, self.model.seq - picks[0] % (self.model.seq + 2)) if self.model.seq else 0
        if not self.model.seq:
            return
        floor = min((off.base for off in self.model.off.values()), default=horizon)
        horizon = horizon if picks[1] % 4 == 0 else max(self.model.horizon, min(floor, horizon))
        done = self.world.both(lambda memory: memory.admin.compact(horizon))
        if self._settle(done, lambda: self.model.compact(horizon, self.world.now)) is not None:
            self._forget_spent()
            self.hashes.clear()

    def _forget_spent(self) -> None:
        """What compaction has taken of the retired, the model lets go too; nothing that stands may rest on it."""
        memory = next(iter(self.world.memories.values()))
        for key, space in self.model.spaces.items():
            shown = {v.item.id for v in self._everything(self.world.handle(memory, key))}
            for item in [i for i, vs in space.items.items() if i not in shown and vs[-1].says.state is State.RETIRED]:
                self.world.same(space.items[item][-1].first <= self.model.horizon, True, "compacted too early")
                del space.items[item]
                space.links = [ln for ln in space.links if item not in ln.ends[:2]]
            space.links = [ln for ln in space.links if ln.weight is not None or ln.first > self.model.horizon]

    @staticmethod
    def _everything(me: ScopedMemory) -> Sequence[Any]:
        return me.list(where=Filter(states=tuple(State)), limit=100_000)

    # Copies and going back

    def checkpoint(self, picks: tuple[int, ...]) -> None:
        memory = self.world.memories.get("sqlite")
        if memory is None or not self.model.seq:
            return
        made = memory.admin.checkpoint(f"c{self.model.seq}-{picks[0]}")
        self.world.same((made.seq, made.hash), (self.model.seq, memory.admin.state_hash()), "checkpoint")
        assert made.path is not None
        with closing(SqliteStore(made.path, synchronous="OFF")) as copy:
            self.world.same(state_hash(copy, "default"), made.hash, "state hash of a checkpoint")
            self.figures.hashes += 1
        memory.admin.drop_checkpoint(made.name)  # while it is kept it holds the horizon, and a store in memory has none
        self.world.same((made.path.exists(), memory.admin.checkpoints()), (False, []), "checkpoint dropped")

    def restore(self, picks: tuple[int, ...]) -> None:
        """A copy of the store, put elsewhere and brought back to a commit, is what it was after that commit."""
        memory = self.world.memories.get("sqlite")
        if memory is None or not self.model.seq:
            return
        seq = self._restorable(picks[0])
        copy, fresh = self.world.folder / f"copy-{picks[1]}.db", self.world.folder / f"fresh-{picks[1]}.db"
        memory.admin.backup(copy)
        try:
            restore(copy, fresh, without_tombstones=True, to=seq)
            with closing(SqliteStore(fresh)) as store:
                self.world.same(list(store.verify()), [], "verify after restore")
                if seq in self.hashes:
                    self.figures.hashes += 1
                    self.world.same(state_hash(store, "default"), self.hashes[seq], f"state hash of commit {seq}")
        finally:
            for left in self.world.folder.glob(f"*-{picks[1]}.db*"):
                left.unlink()

    def rewind(self, picks: tuple[int, ...]) -> None:
        """Every store itself goes back; what it was then is known by its hash."""
        if not self.model.seq:
            return
        seq = self._restorable(picks[0], far=20)
        done = self.world.both(lambda memory: memory.admin.rewind(seq).seq)
        went = self._settle(done, lambda: self.model.rewind(seq, self.world.now))
        self.world.same(done, went, "rewound to")
        if went == seq and seq in self.hashes:
            self.figures.hashes += 1
            for memory in self.world.memories.values():
                self.world.same(memory.admin.state_hash(), self.hashes[seq], f"state hash of commit {seq}")
        self.hashes = {at: digest for at, digest in self.hashes.items() if at <= seq}
        self.world.check()
        self.world.check_sound()

    def carry(self, picks: tuple[int, ...]) -> None:
        """Export and load: the same, in a store of either sort, which may have another tenant that nothing touches."""
        if not self.model.seq:
            return
        name = list(self.world.memories)[picks[0] % len(self.world.memories)]
        source, lines = self.world.memories[name], list(self.world.memories[name].admin.export())
        file = self.world.folder / f"carried-{picks[1]}.db"
        clock = self.world.clock
        store = SqliteStore(file, clock=clock, synchronous="OFF") if picks[2] % 2 else MemoryStore(clock=clock)
        with Memory(store, settings=SETTINGS, clock=self.world.clock) as fresh:
            beside = self._neighbour(fresh, picks[3] % 4)
            fresh.admin.load(lines)
            self.world.same(fresh.admin.state_hash(), source.admin.state_hash(), "state hash after load")
            self.figures.hashes += 1
            self.world.same(list(fresh.admin.export()) == lines, True, "export after load")
            for key in self.model.spaces:
                shown = self.model.seen(key, self.world.now)
                self.world.shows(self.world.handle(fresh, key), shown, f"{key} loaded")
            self.world.same(fresh.admin.verify(), [], "verify after load")
            if beside:
                self.world.same(list(fresh.admin.export("neighbour")) == beside, True, "export of another tenant")
            fresh.scope(user="ada", session="after").observe("it goes on")
            self.world.same(fresh.admin.verify(), [], "verify of a loaded store that goes on")
        for left in self.world.folder.glob(f"{file.name}*"):
            left.unlink()

    @staticmethod
    def _neighbour(fresh: Memory, users: int) -> list[bytes]:
        """Write something of another tenant to a new store, unless it is to have no users; its export."""
        for number in range(users):
            mine = fresh.scope(user=f"user {number}", tenant="neighbour", session="s1")
            mine.observe(("of another house", "and of that one too"))
            mine.branch("try").write("what if")
        if users > 1:
            fresh.scope(user="user 0", tenant="neighbour").erase_user()
        return list(fresh.admin.export("neighbour")) if users else []

    def _restorable(self, pick: int, far: int | None = None) -> int:
        """A commit that can be gone back to, more often than not one whose hash is known."""
        known = [seq for seq in self.hashes if seq >= self.model.horizon]
        if known and pick % 4:
            return known[-1 - pick % min(len(known), far or len(known))]
        low = self.model.horizon if far is None else max(self.model.horizon, self.model.seq - far)
        return low + pick % (self.model.seq - low + 1)

    def _note_hash(self) -> None:
        """What the stores are now, to hold against what they are when they have come back here."""
        if self.model.seq:
            memory = next(iter(self.world.memories.values()))
            self.hashes[self.model.seq] = memory.admin.state_hash()

    def pack(self, picks: tuple[int, ...]) -> None:
        """Pack what lies in some memories, a few entries at a time; the next recall begins with the packs."""
        least = 2 + picks[2] % 7
        for memory in self.world.memories.values():
            opened = memory._opened
            with opened.store.read() as snapshot:
                spaces = snapshot.unpacked(least)
            for space in spaces:
                while run(pack_slice(space, least), opened.answering.perform).done:
                    pass
            opened.kernel.catalogues.clear()

    # Looking

    def recall(self, picks: tuple[int, ...]) -> None:
        key = self._anywhere(picks)
        if key not in self.model.spaces:
            return
        shown = self.model.seen(key, self.world.now)
        item = self._item(key, picks[2])
        word = shown[item].says.text.split()[-1] if item in shown else f"none{picks[3]}"
        done = self._each(key, lambda me: me.recall(word, k=5))
        recalled = {hit.id for hit in done.items}
        self.world.same(item in recalled, item in shown, f"{key}: recall of {word}")
        self.world.same(recalled <= set(shown), True, f"{key}: recalled only what is shown")
        for memory in self.world.memories.values():
            memory._opened.uses.flush()

    def look(self, picks: tuple[int, ...]) -> None:
        key = self._anywhere(picks)
        as_of = self._moment(picks[4]) if picks[2] % 2 else None
        valid_at = self._moment(picks[5]) if picks[2] % 5 == 0 else None
        at, states = self._recorded(picks), () if picks[6] % 4 else (tuple(State)[picks[6] // 4 % len(State)],)
        where = Filter(states=states)
        done = self._each(key, lambda me: _listed(_looking(me, at, as_of, valid_at), where))

        def seen() -> dict[str, VersionSpan]:
            self._must_be(key)
            return self.model.seen(key, self.world.now, at=at, as_of=as_of, valid_at=valid_at, states=states)

        shown = self._settle(done, seen)
        if shown is not None:
            for item in done.keys() | shown.keys():
                was = None if item not in shown else told_was(shown[item])
                what = f"{key} at {at}, as of {as_of}, valid at {valid_at}, {states}: {item}"
                self.world.same(done.get(item), was, what)

    def _recorded(self, picks: tuple[int, ...]) -> int | datetime | None:
        """A commit to look back to, a moment of the journal's past, or neither."""
        if picks[2] % 3 == 0:
            return None
        if picks[2] % 3 == 1 or not self.model.seq:
            return picks[3] % (self.model.seq + 1)
        return min(self.world.now, self.model.journal[picks[3] % self.model.seq].at + timedelta(hours=picks[4] % 3))

    def look_at_one(self, picks: tuple[int, ...]) -> None:
        key = self._anywhere(picks)
        if not self.ids or key not in self.model.spaces:
            return
        item = self._item(key, picks[2])
        done = self._each(key, lambda me: sorted(map(_told_with_id, me.history(item)), key=repr))
        story = self._settle(done, lambda: self.model.history(key, item))
        if story is not None:
            self.world.same(
                done, sorted(((was.id, *told_was(was)) for was in story), key=repr), f"{key}: story of {item}"
            )
        links = self._each(key, lambda me: sorted((n.src, n.dst, n.type, n.weight) for n in me.links(item)))
        wanted = sorted((*ln.ends, ln.weight) for ln in self.model.links(key, item))
        self.world.same(links, wanted, f"{key}: links of {item}")

    def time_passes(self, picks: tuple[int, ...]) -> None:
        self.world.clock.tick((0, 1, 30, -5, 60)[picks[0] % 5] * HOUR)

    def _check_pasts(self) -> None:
        """Every memory at every tenth part of the journal."""
        step = max(1, (self.model.seq - self.model.horizon) // 10)
        for key in self.model.spaces:
            for seq in range(self.model.horizon, self.model.seq + 1, step):
                shown = self.model.seen(key, self.world.now, at=seq)
                for memory in self.world.memories.values():
                    self.world.shows(self.world.handle(memory, key).at(seq), shown, f"{key} at {seq}")

    def _must_be(self, key: str) -> None:
        if "/" in key:
            self.model._space(key)

    # Underneath

    def _each(self, key: str, act: Callable[[ScopedMemory], Any], session: str | None = None) -> Any:
        return self.world.both(lambda memory: act(self.world.handle(memory, key, session)))

    def _settle(self, done: Any, by_model: Callable[[], Any]) -> Any:
        expected = self.world.expect(done, by_model)
        self.figures.refused += isinstance(done, MnemicError)
        return expected

    def _wrote(self, done: Any, by_model: Callable[[], int]) -> None:
        seq = self._settle(done, by_model)
        if seq is not None:
            self.world.same(done.seq, seq, "commit")
            self.ids += [item_id for item_id in getattr(done, "ids", ()) if item_id not in self.ids[-50:]]

    @staticmethod
    def _named(done: Any, says: ModelVersion) -> dict[str, ModelVersion]:
        return dict.fromkeys(["?"] if isinstance(done, MnemicError) else done.ids, says)

    def _anywhere(self, picks: tuple[int, ...]) -> str:
        """A user, or more often than not a branch of one, if there is any."""
        branches = list(self.model.off)
        if branches and picks[0] % 5 < 2:
            return branches[picks[1] % len(branches)]
        return USERS[picks[1] % len(USERS)]

    def _branch(self, pick: int) -> str | None:
        branches = list(self.model.off)
        return branches[pick % len(branches)] if branches else None

    def _item(self, key: str, pick: int) -> ItemId:
        """An item of a memory, most often; now and then one of somebody else's, or one that is gone."""
        own = list(self.model.whole(key).items) if key in self.model.spaces else []
        if own and pick % 10:
            return ItemId(own[-1 - pick % min(len(own), 40)])
        return self.ids[pick % len(self.ids)] if self.ids else ItemId("01m0000000000000000000000a")

    def _sources(self, key: str, pick: int) -> tuple[str, ...]:
        space = self.model.whole(key) if key in self.model.spaces else None
        own = list(space.items) if space else []
        return (own[pick % len(own)],) if own and pick % 3 == 0 else ()

    def _latest(self, key: str, source: Sequence[str]) -> datetime:
        return max((self.model.whole(key).now(source_id).said for source_id in source), default=self.world.now)

    def _moment(self, pick: int) -> datetime | None:
        return None if pick % 2 else self.world.now - timedelta(hours=pick % 400 - 50)

    def _expiry(self, pick: int) -> timedelta | None:
        """How long something is to stand; most often for good."""
        return None if pick % 5 > 1 else timedelta(hours=(2, 20, 70, 200)[pick // 5 % 4])

    def _counted(self, span: timedelta | None) -> datetime | None:
        return None if span is None else self.world.now + span

    def _text(self, what: str) -> str:
        self._words += 1
        return f"{what} as word{self._words}x"


def _looking(
    me: ScopedMemory, at: int | datetime | None, as_of: datetime | None, valid_at: datetime | None
) -> ScopedMemory:
    me = me if at is None else me.at(at)
    me = me if as_of is None else me.as_of(as_of)
    return me if valid_at is None else me.valid_at(valid_at)


def _listed(me: ScopedMemory, where: Filter) -> dict[str, tuple[object, ...]]:
    return {version.item.id: told_version(version) for version in me.list(where=where, limit=100_000)}


def _told_with_id(version: Any) -> tuple[object, ...]:
    return version.item.id, *told_version(version)

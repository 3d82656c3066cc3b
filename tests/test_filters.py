"""A filter on tags, slots, kinds shows what a plain reading of all items says, whatever was done to them before."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import pytest

from mnemic import Channel, Filter, Kind, Memory, Message, State, Version
from mnemic.errors import Conflict, Invalid, NotFound
from mnemic.memory import ScopedMemory
from mnemic.settings import Settings
from mnemic.store.engine import codec, snapshot
from mnemic.store.engine.relations import DUE, FOLLOWED
from mnemic.store.engine.rows import Rows
from mnemic.store.values.row_values import VersionRow

TAGS = ("red", "Red", "r\u00e9d", "re\u0301d", "\u7ea2", "\U0001f534", "red ", "a,b", '"red"', "x" * 256)
SLOTS = ("role", "Role", "a.b", "year")
VALUES = ("user", "User", "", "1", 1, 0, True, False, None, -(2**63), 2**63 - 1, "y" * 2_000)
HELD = (*VALUES, 1.0, 1.5, 2**63, ["user"], {"role": "user"})
PLAIN = Settings(embedder="none", background=False, strategies="", pack_rows=0)


@dataclass
class Life:
    """One memory, opened twice: by who writes it and indexes slots, and by who only reads."""

    writer: Memory
    reader: Memory
    random: Random
    said: int = 0
    commits: list[int] = field(default_factory=list)
    branches: list[str] = field(default_factory=lambda: [""])

    @property
    def me(self) -> ScopedMemory:
        return self.writer.scope(user="ada").on_branch(self.random.choice(self.branches))

    def item(self) -> dict[str, object]:
        self.said += 1
        tags = self.random.sample(TAGS, self.random.randrange(4))
        slots = {slot: self.random.choice(HELD) for slot in self.random.sample(SLOTS, self.random.randrange(3))}
        return {"text": f"ship number{self.said}", "tags": tuple(tags), "slots": slots}

    def some(self, me: ScopedMemory) -> str | None:
        standing = me.list(limit=200)
        return self.random.choice(standing).item.id if standing else None

    def act(self) -> None:
        me, done = self.me, self.random.randrange(12)
        item = self.some(me) if done > 4 else None
        if done < 4:
            messages = [Message(**self.item(), key=f"key{self.said}") for _ in range(self.random.randrange(1, 4))]
            self.commits.append(me.observe(messages, channel=self.random.choice(tuple(Channel))).seq)
        elif done == 4:
            self.commits.append(me.write(**self.item(), kind=self.random.choice((Kind.FACT, Kind.PLAN))).seq)
        elif done == 5 and len(self.branches) < 3 and item:
            self.branches.append(f"branch{len(self.branches)}")
            self.writer.scope(user="ada").branch(self.branches[-1])
        elif done == 6:
            self.writer.flush()
        elif item and done == 7:
            me.forget(item)
        elif item and done == 8:
            me.erase(item)
        elif item and done == 9:
            me.revise(item, **{name: value for name, value in self.item().items() if name != "text"})
        elif item and done == 10:
            me.supersede(item, **self.item())
        elif item and done == 11:
            me.undo(self.random.choice(self.commits), cascade=True)

    def past(self, me: ScopedMemory) -> ScopedMemory:
        match self.random.randrange(4):
            case 0 if self.commits:
                return me.at(self.random.choice(self.commits))
            case 1:
                return me.as_of(self.random.choice(me.list(limit=200)).item.said) if me.count() else me
            case 2:
                return me.valid_at(self.random.choice(me.list(limit=200)).item.said) if me.count() else me
        return me

    def filter(self) -> Filter:
        tags = tuple(self.random.sample((*TAGS, "unknown"), self.random.randrange(3)))
        slots = {slot: self.random.choice(VALUES) for slot in self.random.sample(SLOTS, self.random.randrange(3) // 2)}
        kinds = self.random.choice(((), (Kind.TURN,), (Kind.FACT, Kind.PLAN)))
        channels = self.random.choice(((), (Channel.USER,), (Channel.TOOL, Channel.MODEL)))
        return Filter(
            tags=tags, slots=slots, kinds=kinds, channels=channels, states=self.random.choice(((), tuple(State)))
        )

    def check(self) -> None:
        branch, where = self.random.choice(self.branches), self.filter()
        for memory in (self.writer, self.reader):
            me = memory.scope(user="ada").on_branch(branch)
            state = self.random.getstate()
            shown = self.past(me)
            self.random.setstate(state)
            plainly = shown.list(where=Filter(states=where.states), limit=1_000)
            meant = [version.item.id for version in plainly if bears(version, where)]
            assert [version.item.id for version in shown.list(where=where, limit=1_000)] == meant
            assert [version.item.id for version in shown.list(where=where, limit=2)] == meant[:2]
            assert shown.count(where=where) == len(meant)
            found = shown.recall("which ship", where=where, k=200, budget=10**6)
            assert found.considered == len(meant)
            assert {hit.id for hit in found} <= set(meant)


def bears(version: Version, where: Filter) -> bool:
    item = version.item
    return (
        (not where.tags or any(tag in item.tags for tag in where.tags))
        and all(name in item.slots and item.slots[name] == value for name, value in where.slots)
        and (not where.kinds or item.kind in where.kinds)
        and (not where.channels or item.channel in where.channels)
    )


@pytest.fixture
def life(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Life]:
    where, indexed = tmp_path / "memory.db", replace(PLAIN, pack_rows=4, indexed=("role", "a.b"))
    with Memory(where, settings=indexed) as writer, Memory(where, settings=PLAIN) as reader:
        yield Life(writer, reader, Random(request.param))
        assert writer.admin.verify() == []


@pytest.mark.parametrize(
    "life", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 12))], indirect=True
)
def test_filters_show_what_a_plain_reading_says_after_any_history(life: Life) -> None:
    for _ in range(40):
        try:
            life.act()
        except (Conflict, Invalid, NotFound):
            continue
        life.check()


def test_a_slot_is_found_the_same_before_it_is_indexed_while_it_is_and_after(tmp_path: Path) -> None:
    where = tmp_path / "memory.db"
    asked = Filter(slots={"role": "user"})
    with Memory(where, settings=PLAIN) as memory:
        me = memory.scope(user="ada")
        me.observe(
            [Message(text=f"ship {n}", key=str(n), slots={"role": "user" if n % 2 else "tool"}) for n in range(40)]
        )
        assert (me.count(where=asked), me.recall("ship", where=asked).considered) == (20, 20)
    with Memory(where, settings=replace(PLAIN, indexed=("role",))) as memory:
        me = memory.scope(user="ada")
        assert me.count(where=asked) == 20
        memory.flush()
        assert me.count(where=asked) == 20
        me.observe("ship 41", slots={"role": "user"})
        assert (me.count(where=asked), me.recall("ship", where=asked).considered) == (21, 21)
        memory.flush()
        assert (me.count(where=asked), me.recall("ship", where=asked).considered) == (21, 21)
    with Memory(where, settings=PLAIN) as memory:
        memory.scope(user="ada").observe("ship 42", slots={"role": "user"})
        assert memory.scope(user="ada").count(where=asked) == 22


@pytest.mark.parametrize("slots", [{"role": 1.5}, {"role": ["user"]}, {"role": 2**63}, {1: "user"}, [("role",)]])
def test_a_filter_refuses_what_no_slot_can_be_asked_for(tmp_path: Path, slots: object) -> None:
    with Memory(tmp_path / "memory.db", settings=PLAIN) as memory, pytest.raises(Invalid):
        memory.scope(user="ada").list(where=Filter(slots=slots))  # type: ignore[arg-type]


def test_a_slot_that_is_no_longer_indexed_is_followed_by_nobody(tmp_path: Path) -> None:
    where, indexed = tmp_path / "memory.db", replace(PLAIN, indexed=("role", "rank"))

    def noted(memory: Memory) -> tuple[set[str], set[str]]:
        def read(rows: Rows) -> tuple[set[str], set[str]]:
            found = rows.lanes.relations.find(FOLLOWED), rows.lanes.relations.find(DUE)
            followed, due = ({row[0] for row in of if row[0].startswith("slot:")} for of in found)
            return followed, due

        return memory._opened.store.transact(read)

    def users(memory: Memory) -> int:
        me = memory.scope(user="ada")
        return len(me.recall("turn", k=50, where=Filter(slots={"role": "user"})).items)

    with Memory(where, settings=indexed) as memory:
        memory.scope(user="ada").observe([f"turn {n}" for n in range(5)], slots={"role": "user"})
        memory.flush()
        assert noted(memory) == ({"slot:role", "slot:rank"}, set())
        memory.scope(user="bob").observe("turn", slots={"role": "user"})
        assert noted(memory)[1]
    with Memory(where, settings=replace(PLAIN, indexed=("rank",))) as memory:
        memory.flush()
        assert noted(memory) == ({"slot:rank"}, set())
        memory.scope(user="ada").observe([f"turn {n}" for n in range(5, 9)], slots={"role": "user"})
        assert noted(memory)[1] == {"slot:rank"}
        assert users(memory) == 9
    with Memory(where, settings=PLAIN) as memory:
        memory.admin.serve(threading.Event(), once=True)
        assert noted(memory) == (set(), set())
        assert memory.admin.verify() == []
    with Memory(where, settings=indexed) as memory:
        assert users(memory) == 9
        memory.flush()
        assert noted(memory) == ({"slot:role", "slot:rank"}, set())
        with memory._opened.store.read() as snapshot:
            spaces = [head.id for tenant, _ in snapshot.tenants() for head in snapshot.all_spaces(tenant)]
            assert all(snapshot.lane(one, "slot:role").cursor == snapshot.newest(one) for one in spaces)
        memory._opened.kernel.catalogues.clear()
        assert users(memory) == 9
        assert memory.admin.verify() == []


def test_a_filter_by_tag_reads_no_more_bodies_than_the_answer_has(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    decode = codec.decode_versions

    def counted(rows: Sequence[VersionRow], recorded: Sequence[int]) -> list[Version]:
        read.append(len(rows))
        return decode(rows, recorded)

    monkeypatch.setattr(snapshot, "decode_versions", counted)
    with Memory("memory:", settings=Settings(background=False), embedder="none") as memory:
        me = memory.scope(user="ada")
        for n in range(200):
            me.observe(f"the garden has {n} trees", tags=["rare"] if n % 50 == 0 else ["common"])
        assert memory.flush()
        read.clear()
        assert len(me.recall("How many trees has the garden?", where=Filter(tags=("rare",)), k=3)) == 3
        assert sum(read) <= 40

"""Listings come in pages: the pages together are the whole, whatever is written between them, at the same cost each."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from mnemic import SHARED, Compacted, Filter, Invalid, Listing, Memory, Settings, all_of
from mnemic.core.items import Kind, State
from mnemic.memory import ScopedMemory
from mnemic.store.engine import job_queue
from mnemic.store.values.work import Order
from mnemic.testing.generators import ManualClock
from mnemic.testing.sql_counts import counted

QUIET = Settings(background=False, embedder="none")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "m.db", settings=QUIET, strategies=[]) as memory:
        yield memory


def texts(listing: Any) -> list[str]:
    return [version.item.text for version in listing]


def test_a_page_is_a_sequence_that_says_where_the_next_one_begins(memory: Memory) -> None:
    me = memory.scope(user="ada")
    assert me.list() == []
    assert (me.list().next, me.log().next) == (None, None)
    me.observe([f"turn {n}" for n in range(5)])
    first = me.list(limit=2)
    assert isinstance(first, Listing)
    assert (len(first), texts(first), first[0].item.text) == (2, ["turn 4", "turn 3"], "turn 4")
    second = me.list(limit=2, after=first.next)
    third = me.list(limit=2, after=second.next)
    assert (texts(second), texts(third), third.next) == (["turn 2", "turn 1"], ["turn 0"], None)
    assert me.list(limit=5).next is None
    assert texts(all_of(me.list, limit=2)) == texts(me.list())


class Listed(NamedTuple):
    """A listing of a memory in which something is listed, and what tells its entries apart."""

    verb: Callable[[Memory], Callable[..., Listing[Any]]]
    told: Callable[[Any], object]
    given: Mapping[str, Any] = MappingProxyType({})


def _ada(memory: Memory) -> ScopedMemory:
    return memory.scope(user="ada")


LISTED: dict[str, Listed] = {
    "list": Listed(lambda m: _ada(m).list, lambda v: v.item.id),
    "list of a kind": Listed(lambda m: _ada(m).list, lambda v: v.item.id, {"where": Filter(kinds=(Kind.FACT,))}),
    "list of a tag": Listed(lambda m: _ada(m).list, lambda v: v.item.id, {"where": Filter(tags=("red",))}),
    "list of tags": Listed(lambda m: _ada(m).list, lambda v: v.item.id, {"where": Filter(tags=("red", "blue"))}),
    "list of a slot": Listed(lambda m: _ada(m).list, lambda v: v.item.id, {"where": Filter(slots=(("n", 1),))}),
    "list of a branch": Listed(lambda m: _ada(m).on_branch("try").list, lambda v: v.item.id),
    "list of a shelf": Listed(lambda m: _ada(m).shelf(session="s0").list, lambda v: v.item.id),
    "list of what is shared": Listed(lambda m: m.scope(user=SHARED).list, lambda v: v.item.id),
    "list of the past": Listed(lambda m: _ada(m).at(30).list, lambda v: v.item.id),
    "log": Listed(lambda m: _ada(m).log, lambda c: c.seq),
    "log, oldest first": Listed(lambda m: _ada(m).log, lambda c: c.seq, {"newest": False}),
    "log after a commit": Listed(lambda m: _ada(m).log, lambda c: c.seq, {"after": 30}),
    "log of a branch": Listed(lambda m: _ada(m).on_branch("try").log, lambda c: c.seq),
    "log of the store": Listed(lambda m: m.admin.log, lambda c: c.seq),
    "sessions": Listed(lambda m: _ada(m).sessions, lambda s: s[0]),
    "branches": Listed(lambda m: _ada(m).branches, lambda b: b.name),
    "users": Listed(lambda m: m.admin.users, lambda u: (u.tenant, u.user)),
    "users of a tenant": Listed(lambda m: m.admin.users, lambda u: (u.tenant, u.user), {"tenant": "default"}),
    "jobs": Listed(lambda m: m.admin.jobs, lambda e: (e.id, e.name, e.tenant, e.user, e.branch)),
    "jobs and those over": Listed(lambda m: m.admin.jobs, lambda e: (e.id, e.name, e.user), {"over": True}),
    "dead": Listed(lambda m: m.admin.dead, lambda e: e.id),
    "holds": Listed(lambda m: m.admin.holds, lambda h: h.id),
}


class Acts:
    """Writes of all sorts, by chance."""

    def __init__(self, memory: Memory, seed: int) -> None:
        self.memory, self.random, self.made = memory, random.Random(seed), 0

    def fill(self) -> None:
        me = _ada(self.memory)
        me.observe([f"begin {n}" for n in range(3)], tags=("red",), slots={"n": 1})
        me.branch("try").observe("on a branch")
        self.memory.scope(user=SHARED).observe(["common", "also common"])
        for _ in range(100):
            self.act(taking=False)

    def act(self, *, taking: bool = True) -> None:
        self.made += 1
        acts = [self._observe, self._observe, self._write, self._revise, self._session, self._branch, self._user]
        acts += [self._job, self._dead, self._hold, self._shared, self._on_branch]
        acts += [self._forget, self._erase, self._cancel] if taking else []
        self.random.choice(acts)()

    def _tags(self) -> dict[str, Any]:
        tags = self.random.sample(("red", "blue", "green"), self.random.randrange(3))
        return {"tags": tags, "slots": {"n": self.random.randrange(3)}}

    def _shelf(self) -> ScopedMemory:
        return _ada(self.memory).shelf(session=f"s{self.random.randrange(2)}")

    def _observe(self) -> None:
        self._shelf().observe([f"turn {self.made} {n}" for n in range(3)], **self._tags())

    def _write(self) -> None:
        _ada(self.memory).write(f"fact {self.made}", **self._tags())

    def _chosen(self, *kinds: Kind) -> Any:
        mine = [v for v in _ada(self.memory).list(limit=1_000) if v.item.text.startswith(("turn", "fact", "begin"))]
        some = [version for version in mine if not kinds or version.item.kind in kinds]
        return self.random.choice(some) if some else None

    def _revise(self) -> None:
        if (one := self._chosen(Kind.FACT)) is not None:
            _ada(self.memory).revise(one.item.id, f"{one.item.text}!")

    def _forget(self) -> None:
        if (one := self._chosen()) is not None:
            _ada(self.memory).forget(one.item.id)

    def _erase(self) -> None:
        if (one := self._chosen()) is not None:
            for hold in self.memory.admin.holds():
                self.memory.admin.release_hold(hold.id)
            _ada(self.memory).erase(one.item.id)

    def _session(self) -> None:
        with _ada(self.memory).session(f"talk {self.made}") as session:
            session.observe(f"said in talk {self.made}")

    def _branch(self) -> None:
        _ada(self.memory).branch(f"b{self.made}")

    def _on_branch(self) -> None:
        _ada(self.memory).on_branch("try").observe(f"apart {self.made}")

    def _user(self) -> None:
        tenant = self.random.choice(("default", "other"))
        self.memory.scope(user=f"user {self.made}", tenant=tenant).observe("hello")

    def _shared(self) -> None:
        self.memory.scope(user=SHARED).observe(f"shared {self.made}")

    def _job(self) -> None:
        self.memory.admin.order(Order(name="gc", key=f"job {self.made}", priority=self.random.randrange(-2, 3)))

    def _dead(self) -> None:
        with self.memory._opened.store.read() as snapshot:
            tenant = snapshot.tenant("default")
            assert tenant is not None
            head = snapshot.space(tenant, "ada")
            assert head is not None
            ver = self.random.randrange(1, snapshot.newest(head.id) + 1)
        self.memory._opened.store.transact(job_queue.letter, head.id, "house", ver, 3, "it would not")

    def _cancel(self) -> None:
        waiting = [one.id for one in self.memory.admin.jobs(limit=1_000) if one.id and one.state == "waiting"]
        for number in self.random.sample(waiting, min(len(waiting), 1)):
            self.memory.admin.cancel(number)

    def _hold(self) -> None:
        self.memory.admin.hold(user="ada", reason=f"case {self.made}")


def test_the_pages_together_are_the_whole_listing(memory: Memory) -> None:
    Acts(memory, 1).fill()
    for name, (verb, told, given) in LISTED.items():
        whole = [told(one) for one in verb(memory)(**given, limit=10_000)]
        assert len(whole) == len(set(whole)), name
        for limit in (1, 3, len(whole)):
            assert [told(one) for one in all_of(verb(memory), **given, limit=limit)] == whole, name
        assert len(whole) > 3, name


@dataclass
class Paging:
    """A listing that is gone through while others write."""

    listed: Callable[..., Listing[Any]]
    told: Callable[[Any], object]
    given: Mapping[str, Any]

    def __post_init__(self) -> None:
        self.throughout = self.shown()
        self.page = self.listed(**self.given, limit=2)
        self.seen = [self.told(one) for one in self.page]

    def shown(self) -> set[object]:
        return {self.told(one) for one in self.listed(**self.given, limit=10_000)}

    def go_on(self) -> None:
        if self.page.next is not None:
            self.throughout &= self.shown()
            self.page = self.listed(**{**self.given, "limit": 2, "after": self.page.next})
            self.seen += [self.told(one) for one in self.page]


@pytest.mark.parametrize("seed", range(2))
def test_nothing_that_is_there_throughout_is_missed_or_doubled(memory: Memory, seed: int) -> None:
    acts = Acts(memory, seed)
    acts.fill()
    paged = {name: Paging(verb(memory), told, given) for name, (verb, told, given) in LISTED.items()}
    for _ in range(200):
        acts.act()
        for one in paged.values():
            one.go_on()
        if all(one.page.next is None for one in paged.values()):
            break
    for name, one in paged.items():
        assert one.page.next is None, name
        assert len(one.seen) == len(set(one.seen)), name
        assert one.throughout <= set(one.seen), name


def test_later_pages_show_what_stood_when_the_first_was_read(memory: Memory) -> None:
    me = memory.scope(user="ada")
    ids = [me.write(f"fact {n}").ids[0] for n in range(6)]
    first = me.list(limit=2)
    me.revise(ids[0], "otherwise")
    me.forget(ids[1])
    me.erase(ids[2])
    me.write("new")
    rest = list(all_of(me.list, limit=2, after=first.next))
    assert texts(rest) == ["fact 3", "fact 1", "fact 0"]
    assert texts(me.list()) == ["new", "otherwise", "fact 5", "fact 4", "fact 3"]


def test_what_has_expired_meanwhile_is_on_no_later_page() -> None:
    clock = ManualClock()
    with Memory("memory:", settings=QUIET, strategies=[], clock=clock) as memory:
        me = memory.scope(user="ada")
        me.observe("the code is plum", expires=timedelta(hours=1))
        me.observe(["one", "two"])
        first = me.list(limit=1)
        clock.tick(7_200_000_000)
        me.observe("three")
        assert texts(all_of(me.list, limit=1, after=first.next)) == ["one"]
        assert memory.admin.stats().items == me.count() == 3


def test_a_listing_whose_moment_is_behind_the_horizon_says_so_if_anything_changed(memory: Memory) -> None:
    me, bob = memory.scope(user="ada"), memory.scope(user="bob")
    me.observe([f"turn {n}" for n in range(4)])
    first = me.list(limit=2)
    seqs = [bob.observe(f"of bob {n}").seq for n in range(3)]
    memory.admin.compact(seqs[-1])
    assert texts(all_of(me.list, limit=2, after=first.next)) == ["turn 1", "turn 0"]
    me.observe("more")
    with pytest.raises(Compacted):
        me.list(limit=2, after=first.next)


@pytest.mark.parametrize("after", ["c", "x", "cAAAA", "c" + "A" * 40, "12", "cé", "c////"])
def test_what_is_no_cursor_is_refused(memory: Memory, after: str) -> None:
    me = memory.scope(user="ada")
    me.observe(["one", "two"])
    with pytest.raises(Invalid, match=r"^after: .* is no cursor\. Give the `next` of the page before, whole\."):
        me.list(after=after)
    for listed in (me.sessions, me.branches, memory.admin.users, memory.admin.jobs, memory.admin.dead):
        with pytest.raises(Invalid, match="is no cursor"):
            listed(after=after)


def test_a_cursor_is_of_one_listing_alone(memory: Memory) -> None:
    me, bob = memory.scope(user="ada"), memory.scope(user="bob")
    for one in (me, bob):
        one.observe(["one", "two", "three"])
        one.write("four")
    cursor, place = me.list(limit=1).next, me.log(limit=1).next
    assert cursor is not None
    assert place is not None
    assert len(me.list(limit=9, after=cursor)) == 3
    others: tuple[Callable[[], object], ...] = (
        lambda: bob.list(after=cursor),
        lambda: me.list(after=cursor, where=Filter(states=(State.RETIRED,))),
        lambda: me.at(2).list(after=cursor),
        lambda: me.shelf(agent="a").list(after=cursor),
        lambda: me.log(after=cursor),
        lambda: me.sessions(after=cursor),
        lambda: memory.admin.log(after=cursor),
        lambda: memory.admin.users(after=cursor),
        lambda: me.list(after=place),
        lambda: bob.log(after=place),
        lambda: me.log(after=place, newest=False),
        lambda: me.log(after=place, every=True),
    )
    for other in others:
        with pytest.raises(Invalid, match=r"^after: is a cursor of another listing\."):
            other()


def test_a_cursor_tells_nothing_of_another_tenant(tmp_path: Path) -> None:
    cursors = []
    for strangers in (0, 9):
        with Memory(tmp_path / f"{strangers}.db", settings=QUIET, strategies=[]) as memory:
            other = memory.scope(user="eve", tenant="other")
            me = memory.scope(user="ada", tenant="mine")
            for n in range(strangers):
                other.shelf(session=f"s{n}").observe(f"of a stranger {n}")
            me.observe(["one", "two"])
            for name in ("talk", "walk"):
                with me.session(name) as session:
                    session.observe(f"said in {name}")
                me.branch(f"of {name}")
            listed: tuple[Callable[..., Listing[Any]], ...] = (me.list, me.log, me.sessions, me.branches)
            cursors.append([verb(limit=1).next for verb in listed])
    assert cursors[0] == cursors[1]
    assert None not in cursors[0]


def test_a_later_page_asks_no_more_than_the_first(tmp_path: Path) -> None:
    with counted() as statements, Memory(tmp_path / "m.db", settings=QUIET, strategies=[]) as memory:
        Acts(memory, 5).fill()
        for name, (verb, _, given) in LISTED.items():
            listed = verb(memory)
            statements.reset()
            page = listed(**given, limit=2)
            first, rows = statements.count, 0
            while page.next is not None:
                statements.reset()
                page, rows = listed(**{**given, "limit": 2, "after": page.next}), rows + 1
                assert (statements.writes, statements.reads) == (0, 1), name
                assert statements.count <= first + 8, (name, rows, statements.ran)


def test_stats_ask_the_same_of_many_users_as_of_few(tmp_path: Path) -> None:
    asked = []
    with counted() as statements, Memory(tmp_path / "m.db", settings=QUIET, strategies=[]) as memory:
        for n in range(60):
            memory.scope(user=f"user {n}").observe(["hello", "there"])
            with memory.session("talk", user=f"user {n}") as session:
                session.observe("yes")
            if n in (5, 59):
                statements.reset()
                found, behind = memory.admin.stats(limit=3), memory.admin.behind()
                asked.append(statements.count)
                plans = [one for one in statements.ran if "count(" in one]
                assert not [one for one in plans if "FROM entry" in one and "ver >" not in one]
        assert (found.user_count, found.items, len(found.users), behind) == (60, 180, 3, [])
    assert asked[0] == asked[1]


def test_totals_are_what_a_walk_would_count(memory: Memory) -> None:
    acts = Acts(memory, 9)
    acts.fill()
    for _ in range(60):
        acts.act()
    with memory._opened.store.read() as snapshot:
        heads = [head for tenant, _ in snapshot.tenants() for head in snapshot.all_spaces(tenant)]
        own = [head for head in heads if head.user is not None and not head.branch]
        counts = {head.id: snapshot.count((head.id,)) for head in own}
    found = memory.admin.stats(limit=1_000)
    assert found.user_count == len(own) == len(found.users)
    assert [user.items for user in found.users] == list(counts.values())
    assert found.items == sum(counts.values())
    (mine,) = memory.admin.users(user="ada")
    assert mine in found.users.items
    assert mine.branches == len(list(all_of(_ada(memory).branches, limit=3)))
    assert list(memory.admin.users(user="nobody")) == []
    memory.admin.erase_tenant("other")
    assert {user.tenant for user in memory.admin.users()} == {"default"}
    assert memory.admin.verify() == []

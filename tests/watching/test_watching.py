"""The feed, and several agents on shared memory: threads and processes see each other's commits, all and once."""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from mnemic import SHARED, AsyncMemory, Compacted, Invalid, Memory, NotFound, ScopedMemory, Settings, StoreError, Verb
from mnemic.store.engine.snapshot import Snapshot
from mnemic.watching.feed import Notice
from mnemic.watching.journal_reader import Ear, JournalReader
from patience import PATIENCE

SPAWN = multiprocessing.get_context("spawn")
WRITERS, EACH = 4, 25


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def memory(path: Path) -> Iterator[Memory]:
    with Memory(path) as memory:
        yield memory


def seqs(notices: Any) -> list[int]:
    return [notice.seq for notice in notices]


def test_changes_say_what_each_commit_did_and_to_whom(memory: Memory) -> None:
    me = memory.scope(user="ada", agent="planner")
    said = me.observe("Lisbon in March.")
    memory.scope(user="bob").observe("Not for Ada.")
    told = memory.scope(user=SHARED, actor="office").observe("The office is closed on Friday.")
    me.pin(said.id)
    everything = memory.scope(user="ada")
    found = everything.changes()
    assert [(n.seq, n.user, n.actor, n.ids) for n in found] == [
        (1, "ada", "planner", (said.id,)),
        (3, SHARED, "office", (told.id,)),
        (4, "ada", "planner", (said.id,)),
    ]
    assert [event.verb for event in found[2].events] == [Verb.PINNED]
    assert found == [*everything.changes(limit=2), *everything.changes(after=3)]
    assert everything.changes(after=4) == []


def test_who_watches_is_told_that_the_journal_was_brought_back(memory: Memory) -> None:
    me = memory.scope(user="ada")
    for n in range(5):
        me.write(f"statement {n}")
    with me.watch() as watch:
        memory.admin.rewind(2)
        with pytest.raises(Compacted, match="commit 2"):
            next(watch)
    with pytest.raises(Compacted, match="commit 2"):
        me.changes(after=5)
    with me.watch(after=2) as watch:
        me.write("it goes on")
        assert next(watch).seq == 3


@pytest.mark.parametrize("where", ["file", "memory:"])
def test_a_journal_brought_back_and_grown_again_is_not_taken_for_the_one_that_was_read(path: Path, where: str) -> None:
    with Memory(path if where == "file" else where) as memory:
        me = memory.scope(user="ada")
        for n in range(5):
            me.write(f"statement {n}")
        third, *_, last = me.changes(after=2)
        with me.watch() as idle, me.watch(after=5) as numbered, me.watch(after=2) as reading:
            assert next(reading).mark == third.mark
            memory.admin.rewind(3)
            for n in range(4):
                me.write(f"another {n}")
            for watch in (idle, numbered):
                with pytest.raises(Compacted, match="commit 5 is not the one that was read"):
                    next(watch)
        with pytest.raises(Compacted, match="brought back"):
            me.changes(after=last.mark)
        with pytest.raises(Compacted, match="brought back"), me.watch(after=last.mark) as again:
            next(again)
        assert seqs(me.changes(after=third.mark)) == [4, 5, 6, 7]
        with me.watch(after=third.mark) as again:
            assert next(again).seq == 4
            assert again.mark == me.changes(after=3, limit=1)[0].mark
        memory.admin.compact(4)
        assert seqs(me.changes(after=me.changes(after=4)[0].mark)) == [6, 7]
        assert seqs(me.changes(after=4)) == seqs(me.changes()) == [5, 6, 7]


@pytest.mark.parametrize("after", ["", "x", "5-", "5-zz", "-1", "5-0123456789abcdeg", "9" * 30])
def test_a_mark_that_is_none_is_refused(memory: Memory, after: str) -> None:
    with pytest.raises(Invalid, match="after"):
        memory.scope(user="ada").changes(after=after)
    with pytest.raises(Invalid, match="after"):
        memory.watch(user="ada", after=after)


def test_a_branch_that_is_not_there_cannot_be_watched(memory: Memory) -> None:
    me = memory.scope(user="ada")
    for _ in range(2):
        for act in (lambda: me.on_branch("no").watch(), lambda: me.on_branch("no").changes()):
            with pytest.raises(NotFound, match="no branch 'no'"):
                act()
        me.write("one")
    me.branch("try").write("two")
    with me.on_branch("try").watch(after=1) as watch:
        assert seqs([next(watch), next(watch)]) == [3, 4]
        me.drop_branch("try")
        with pytest.raises(NotFound, match="no branch 'try'"):
            next(watch)


def test_a_shelf_hears_of_what_it_could_recall_and_of_nothing_else(memory: Memory) -> None:
    common, me = memory.scope(user=SHARED, actor="office"), memory.scope(user="ada", agent="a")
    common.write("the tea of nobody")
    common.shelf(agent="a").write("the tea of a, shared")
    common.shelf(agent="b").write("the tea of b, shared")
    memory.scope(user="ada").write("the tea of ada")
    me.write("the tea of a")
    heard = [version.item.text for notice in me.changes() for version in me.written(notice.seq)]
    assert heard == ["the tea of a, shared", "the tea of a"]
    assert {item.text for item in me.recall("tea").items} == set(heard)


def test_words_of_a_commit_come_on_demand_and_only_to_those_who_may_read_them(memory: Memory) -> None:
    me, bob = memory.scope(user="ada"), memory.scope(user="bob")
    me.observe(["One.", "Two."])
    bob.observe("Three.")
    assert [version.item.text for version in me.written(1)] == ["One.", "Two."]
    for seq in (2, 3):
        with pytest.raises(NotFound, match=f"no commit {seq} here"):
            me.written(seq)


def test_a_shelf_hears_of_its_own_items_only_and_reads_no_others_words(memory: Memory) -> None:
    everybody, me, other = (memory.scope(user="ada", agent=name) for name in (None, "a", "b"))
    for n in range(5):
        other.observe(f"For agent b, {n}.")
    mine = me.observe("For agent a.")
    theirs = other.observe("For agent b alone.")
    both = everybody.pin(mine.id, theirs.id)
    assert [v.item.text for v in me.written(mine.seq)] == ["For agent a."]
    assert me.written(theirs.seq) == []
    assert [(n.seq, n.ids) for n in me.changes(limit=2)] == [(mine.seq, (mine.id,)), (both.seq, (mine.id,))]
    assert seqs(other.shelf(session="chat").changes()) == []
    assert seqs(everybody.changes()) == list(range(1, both.seq + 1))
    with me.watch(after=0) as watch:
        assert seqs([next(watch), next(watch)]) == [mine.seq, both.seq]
    everybody.forget(theirs.id)
    erased = everybody.erase(mine.id)
    assert seqs(me.changes(after=both.seq)) == [erased.seq]


def test_a_user_who_never_wrote_has_no_changes(memory: Memory) -> None:
    assert memory.scope(user="nobody").changes() == []
    with pytest.raises(Invalid, match="after"):
        memory.scope(user="nobody").changes(after=-1)


def test_a_watch_begins_now_and_another_goes_on_where_it_stopped(memory: Memory) -> None:
    me = memory.scope(user="ada")
    me.observe("Before.")
    with me.watch() as watch:
        for n in range(4):
            me.observe(f"{n}")
        assert seqs([next(watch), next(watch)]) == [2, 3]
        resume = watch.seq
    with memory.watch(user="ada", after=resume) as again:
        assert seqs([next(again), next(again)]) == [4, 5]


def test_who_watches_is_woken_by_another_thread(memory: Memory) -> None:
    me = memory.scope(user="ada")
    with me.watch() as watch, ThreadPoolExecutor(1) as pool:
        first = pool.submit(next, watch)
        me.observe("Hello.")
        assert first.result(PATIENCE).seq == 1


@pytest.mark.parametrize("end", ["the watch", "the memory"])
def test_a_watch_that_waits_ends_when_it_or_its_memory_is_closed(memory: Memory, end: str) -> None:
    watch = memory.watch(user="ada")
    waiting = threading.Event()

    def follow() -> list[Notice]:
        waiting.set()
        return list(watch)

    with ThreadPoolExecutor(1) as pool:
        seen = pool.submit(follow)
        assert waiting.wait(PATIENCE)
        (watch if end == "the watch" else memory).close()
        assert seen.result(PATIENCE) == []


def test_an_awaited_watch_loses_nothing_when_its_caller_is_cancelled(path: Path) -> None:
    async def main() -> list[int]:
        async with AsyncMemory(path) as memory:
            me = memory.scope(user="ada")
            watch = memory.watch(user="ada")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(watch), 0.02)
            await asyncio.gather(*(me.observe(f"{n}") for n in range(3)))
            found = [await anext(watch) for _ in range(3)]
            assert found == await me.changes()
            (first,) = await me.written(found[0].seq)
            assert first.item.text in ("0", "1", "2")
            waiting = asyncio.ensure_future(anext(watch, None))
            await asyncio.sleep(0)
            await watch.close()
            assert await waiting is None
            return seqs(found)

    assert asyncio.run(main()) == [1, 2, 3]


def test_an_awaited_watch_goes_on_after_an_error_that_passes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    troubles = [StoreError("the disk hiccuped")]
    feed = Snapshot.feed

    def hiccup(self: Snapshot, *asked: Any) -> Any:
        if troubles:
            raise troubles.pop()
        return feed(self, *asked)

    monkeypatch.setattr(Snapshot, "feed", hiccup)

    async def main() -> None:
        async with AsyncMemory(path) as memory:
            me = memory.scope(user="ada")
            await me.observe("Before.")
            watch = me.watch()
            with pytest.raises(StoreError, match="hiccuped"):
                await anext(watch)
            await me.observe("Hello.")
            assert (await anext(watch)).seq == 2

    asyncio.run(main())


def test_many_awaited_watches_leave_room_for_writers(path: Path) -> None:
    async def main() -> None:
        async with AsyncMemory(path) as memory:
            me = memory.scope(user="ada")
            watches = [me.watch(after=0) for _ in range(40)]  # one that begins late misses nothing
            waiting = [asyncio.ensure_future(anext(watch)) for watch in watches]
            await asyncio.sleep(0)
            await me.observe("Hello.")
            assert seqs(await asyncio.gather(*waiting)) == [1] * 40
            for watch in watches:
                waiting.append(asyncio.ensure_future(anext(watch)))
            await asyncio.sleep(0)
            names = [thread.name for thread in threading.enumerate()]
            assert [name for name in names if "mnemic-watch" in name or "mnemic-journal" in name] == ["mnemic-journal"]

    asyncio.run(main())


@pytest.mark.parametrize("tenant", ["default", "another"])
def test_a_watch_that_begins_while_the_journal_is_read_is_woken_by_the_commit_that_is_read(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, tenant: str
) -> None:
    store, read, committed = memory._opened.store, memory._opened.store.read, threading.Event()
    me = memory.scope(user="ada", tenant=tenant)
    late = me.watch()

    def overtaken_read() -> Any:
        if threading.current_thread().name == "mnemic-journal":
            monkeypatch.setattr(store, "read", read)
            if not late.look():
                me.observe("Hello.")
                committed.set()
        return read()

    monkeypatch.setattr(store, "read", overtaken_read)
    with memory.watch(user="ada") as first, late:
        first.look()
        assert committed.wait(PATIENCE)
        assert late.ear.heard.wait(PATIENCE)
        assert seqs(late.look()) == [1]


def test_a_watch_is_woken_though_the_first_start_of_the_journals_thread_failed(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    me = memory.scope(user="ada")
    with me.watch() as watch:
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", refused)
            with pytest.raises(RuntimeError, match="can't start"):
                watch.look()
        assert watch.look() == []
        me.observe("Hello.")
        assert watch.ear.heard.wait(PATIENCE)


def test_a_thread_whose_start_was_cut_short_leaves_the_journal_to_the_next(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    late: list[threading.Thread] = []

    def interrupted(thread: threading.Thread) -> None:
        late.append(thread)
        raise KeyboardInterrupt

    closed, ear = threading.Event(), Ear("t", "ada")
    reader = JournalReader(memory._opened.store, closed)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            reader.listen(ear)
    reader.listen(ear)
    follows = reader._thread
    late[0].start()
    late[0].join(PATIENCE)
    assert not late[0].is_alive()
    assert reader._thread is follows
    assert follows is not None
    assert follows.is_alive()
    closed.set()
    follows.join(PATIENCE)
    assert reader._thread is None


def test_a_commit_wakes_the_watches_of_its_user_and_nobody_elses(memory: Memory) -> None:
    ada, bob, elsewhere = (Ear(tenant, user) for tenant, user in (("t", "ada"), ("t", "bob"), ("u", "ada")))
    reader, ears = JournalReader(memory._opened.store, threading.Event()), [ada, bob, elsewhere]
    reader._ears.update(ears)

    def woken() -> list[Ear]:
        reader._wake(reader._news())
        heard = [ear for ear in ears if ear.heard.is_set()]
        for ear in heard:
            ear.heard.clear()
        return heard

    shared, me, his = (memory.scope(user=user, tenant="t") for user in (SHARED, "ada", "bob"))
    assert woken() == ears  # nothing is known yet
    assert woken() == []
    first = me.observe("one")
    his.observe("two")
    assert woken() == [ada, bob]
    me.branch("try").observe("three")
    assert woken() == [ada]
    his.observe("four")
    assert woken() == [bob]
    shared.observe("five")
    assert woken() == [ada, bob]
    assert woken() == []
    memory.admin.rewind(first.seq, tenant="t")
    assert woken() == [ada, bob]
    memory.admin.erase_tenant("t")
    assert woken() == [ada, bob]


# Agents on shared memory


def agent(memory: Memory, name: str) -> ScopedMemory:
    return memory.scope(user="ada", agent=name)


def test_agents_in_threads_see_each_others_commits_once_they_returned(memory: Memory) -> None:
    done: list[tuple[str, str]] = []
    lock = threading.Lock()

    def work(name: str) -> None:
        me, everybody = agent(memory, name), memory.scope(user="ada")
        for n in range(10):
            word = f"{name}{n}x"
            mine = me.observe(f"The word is {word}.").id
            assert everybody.get(mine).item.agent == name
            with lock:
                done.append((mine, word))
                other, told = done[n % len(done)]
            assert everybody.recall(told, k=1).items[0].id == other

    with ThreadPoolExecutor(4) as pool:
        for one in [pool.submit(work, f"agent{n}") for n in range(4)]:
            one.result(PATIENCE)
    assert memory.scope(user="ada").count() == 40
    assert agent(memory, "agent1").count() == 10
    assert memory.admin.verify() == []


def write_and_tell(path: str, number: int, told: Any, others: Any, start: Any) -> None:
    """One process: an agent that writes, tells what it wrote, and reads what another has told."""
    with Memory(path, settings=Settings(background=False)) as memory:
        me, everybody = agent(memory, f"agent{number}"), memory.scope(user="ada")
        common = memory.scope(user=SHARED, actor=f"agent{number}")
        start.wait(PATIENCE)
        for n in range(EACH):
            where = common if n % 5 == 0 else me
            receipt = where.observe(f"Note {n} of {number}.")
            assert everybody.get(receipt.id).seq_from == receipt.seq
            told.put((receipt.seq, receipt.id))
            theirs = others.get(timeout=PATIENCE)
            assert everybody.get(theirs[1]).seq_from == theirs[0]


@pytest.mark.heavy
def test_agents_in_processes_see_each_others_commits_and_the_feed_misses_and_repeats_nothing(path: Path) -> None:
    Memory(path).close()
    rings = [SPAWN.Queue() for _ in range(WRITERS)]
    start = SPAWN.Barrier(WRITERS + 1)
    writers = [
        SPAWN.Process(target=write_and_tell, args=(str(path), n, rings[n], rings[n - 1], start)) for n in range(WRITERS)
    ]
    with Memory(path) as memory, ThreadPoolExecutor(1) as pool, memory.watch(user="ada", after=0) as watch:
        seen = pool.submit(lambda: [next(watch) for _ in range(WRITERS * EACH)])
        for writer in writers:
            writer.start()
        start.wait(PATIENCE)
        notices = seen.result(PATIENCE)
        for writer in writers:
            writer.join(PATIENCE)
        assert [writer.exitcode for writer in writers] == [0] * WRITERS
        me, common = memory.scope(user="ada"), memory.scope(user=SHARED)
        journal = {c.seq: c for c in (*me.log(limit=10_000), *common.log(limit=10_000))}
        assert seqs(notices) == sorted(journal) == list(range(1, WRITERS * EACH + 1))
        assert [notice.events for notice in notices] == [journal[seq].events for seq in sorted(journal)]
        assert {notice.actor for notice in notices} == {f"agent{n}" for n in range(WRITERS)}
        assert sum(notice.user is SHARED for notice in notices) == WRITERS * EACH / 5
        assert memory.admin.verify() == []


def test_nobody_hears_of_another_users_commits(memory: Memory) -> None:
    with memory.watch(user="bob") as watch:
        for n in range(3):
            memory.scope(user="ada").observe(f"{n}")
        memory.scope(user="ada", tenant="other").observe("elsewhere")
        memory.scope(user="bob").observe("mine")
        assert next(watch).ids == (memory.scope(user="bob").list()[0].item.id,)


def test_a_notice_says_whether_it_is_of_the_shared_memory(memory: Memory) -> None:
    memory.scope(user=SHARED, actor="office").write("the tea of nobody")
    memory.scope(user="ada").write("the tea of ada")
    assert [notice.shared for notice in memory.scope(user="ada").changes()] == [True, False]

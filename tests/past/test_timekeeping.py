"""Checkpoints, and going back to a commit: the store is what it was, and what was erased since stays erased."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from mnemic import Compacted, Conflict, Invalid, Memory, NotFound, Refused, StoreLocked
from mnemic.admin import restore
from mnemic.store.engine import job_queue, lane_cursors
from mnemic.store.sqlite.sqlite_store import MemoryStore, SqliteStore
from mnemic.store.values.work import Order, RecordedAnswer
from mnemic.testing.generators import ManualClock


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory.db") as opened:
        yield opened
        assert opened.admin.verify() == []


@pytest.fixture(params=["file", "memory"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory.db" if request.param == "file" else "memory:") as opened:
        yield opened
        assert opened.admin.verify() == []


def test_a_checkpoint_is_a_copy_that_is_known_and_holds_the_horizon(memory: Memory, tmp_path: Path) -> None:
    me = memory.scope(user="ada")
    me.write("first")
    made = memory.admin.checkpoint("before")
    me.write("second")
    assert memory.admin.checkpoints() == [made]
    assert (made.seq, made.there, made.path.parent) == (1, True, tmp_path / "checkpoints")
    with pytest.raises(Conflict):
        memory.admin.checkpoint("before")
    with pytest.raises(Invalid):
        memory.admin.checkpoint("../elsewhere")
    with pytest.raises(Refused, match="checkpoint 'before'"):
        memory.admin.compact(2)
    with Memory(made.path) as copy:
        assert copy.admin.state_hash() == made.hash
    memory.admin.drop_checkpoint("before")
    assert not made.path.exists()
    with pytest.raises(NotFound):
        memory.admin.drop_checkpoint("before")
    memory.admin.compact(2)


def test_going_back_gives_the_state_hash_of_then(memory: Memory) -> None:
    me = memory.scope(user="ada")
    home = me.write("Ada lives in Lisbon").id
    me.feedback(home, useful=True)
    was, used = memory.admin.state_hash(), me.strength(home)
    me.revise(home, "Ada lives in Porto")
    me.link(home, me.write("later").id, "about")
    me.feedback(home, useful=True)
    memory.scope(user="ben").write("who came later")
    me.branch("try").write("on a branch")
    done = memory.admin.rewind(2)
    assert (done.seq, done.erased, memory.admin.state_hash()) == (2, 0, was)
    assert (me.get(home).item.text, me.strength(home), me.branches()) == ("Ada lives in Lisbon", used, [])
    assert me.links(home) == []
    assert [one.text for one in me.recall("where does Ada live?").items] == ["Ada lives in Lisbon"]
    assert me.write("it goes on").seq == 3
    with pytest.raises(NotFound):
        memory.scope(user="ben").erase_user()


def test_what_was_erased_since_stays_erased(memory: Memory) -> None:
    me = memory.scope(user="ada")
    older = me.write("Ada lives in Lisbon").id
    newer = me.supersede(older, "Ada lives in Porto").id
    me.erase(newer)
    done = memory.admin.rewind(2)
    assert (done.seq, done.erased) == (3, 1)
    assert [v.item.text for v in me.list()] == ["Ada lives in Lisbon"]
    with pytest.raises(NotFound):
        me.get(newer)


def test_what_a_dropped_branch_of_an_erased_user_came_off_is_not_taken_back(either: Memory) -> None:
    """The owner wrote to their own memory after the commit, and the branch was dropped before: both were there."""
    me, bob = either.scope(user="ada"), either.scope(user="bob")
    me.write("home is Rome")
    me.branch("try").write("home is Oslo")
    me.drop_branch("try")
    bob.write("what stays")
    me.write("home is Paris")
    me.erase_user()
    bob.write("what goes")
    either.admin.compact(5)  # behind the horizon nothing tells any more that they were there
    either.admin.rewind(5)
    assert either.admin.verify() == []
    assert [version.item.text for version in bob.list()] == ["what stays"]
    assert (me.count(), me.write("a new life").ids != ()) == (0, True)
    assert either.admin.verify() == []


def test_a_moment_names_a_commit_and_the_horizon_is_the_end(memory: Memory) -> None:
    me = memory.scope(user="ada")
    me.write("first")
    when = me.log()[0].at
    me.write("second")
    memory.admin.compact(1)
    assert memory.admin.rewind(when).seq == 1
    for past in (0, "1999-01-01"):
        with pytest.raises(Compacted):
            memory.admin.rewind(past)
    with pytest.raises(Invalid):
        memory.admin.rewind(9)


def test_a_session_shows_what_was_said_after_going_back(either: Memory) -> None:
    me = either.scope(user="ada")
    with me.session("chat") as session:
        for n in range(6):
            session.observe(f"turn {n}")
    either.admin.rewind(2)
    me.shelf(session="chat").observe("said after going back")
    with me.session("chat") as session:
        text = session.window().text
    assert [line in text for line in ("turn 1", "turn 2", "said after going back")] == [True, False, True]


def test_a_checkpoint_of_a_tenant_that_is_not_there_is_not_taken(memory: Memory) -> None:
    memory.scope(user="ada").write("first")
    with pytest.raises(NotFound, match="nobody"):
        memory.admin.checkpoint("one", tenant="nobody")
    assert memory.admin.checkpoints() == []


def test_a_moment_at_which_another_tenant_had_nothing_yet_leaves_it_empty(memory: Memory, tmp_path: Path) -> None:
    me = memory.scope(user="ada")
    me.write("first")
    then = me.log()[0].at
    me.write("second")
    memory.scope(user="eve", tenant="later").write("third")
    copy, fresh = memory.admin.backup(tmp_path / "copy.db"), tmp_path / "fresh.db"
    with pytest.raises(Invalid, match="nothing was recorded by 1999"):
        restore(copy, fresh, without_tombstones=True, to="1999-01-01")
    restore(copy, fresh, without_tombstones=True, to=then)
    with Memory(fresh) as back:
        assert back.scope(user="ada").count() == 1
        assert back.scope(user="eve", tenant="later").count() == 0
        assert back.admin.verify() == []


def test_going_back_takes_nothing_that_is_held(either: Memory) -> None:
    me = either.scope(user="ada")
    first = me.write("first").id
    second = me.write("second").id
    other = me.write("other").id
    for item in (second, first):
        hold = either.admin.hold(user="ada", item=item, reason="court")
        if item == first:
            me.link(first, other, "about")
        with pytest.raises(Refused, match=f"hold {hold} \\(court\\)"):
            either.admin.rewind(1)
        either.admin.release_hold(hold)
    whole = either.admin.hold(user="ada")
    with pytest.raises(Refused, match=f"hold {whole}"):
        either.admin.rewind(1)
    assert [v.item.text for v in me.list()] == ["other", "second", "first"]
    either.admin.release_hold(whole)
    kept = either.admin.hold(user="ada", item=second)
    assert either.admin.rewind(2).seq == 2
    assert [(one.id, one.seq) for one in either.admin.holds()] == [(kept, 2)]


def test_a_new_user_of_whom_something_is_held_is_not_taken_back(either: Memory) -> None:
    either.scope(user="ada").write("first")
    ben = either.scope(user="ben")
    ben.write("who came later")
    either.admin.hold(user="ben")
    with pytest.raises(Refused):
        either.admin.rewind(1)
    assert ben.count() == 1


def test_what_was_ordered_and_answered_for_who_came_later_goes_with_them(tmp_path: Path) -> None:
    _order_for_who_came_later(SqliteStore(tmp_path / "memory.db"))
    left = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert not any(word in left for word in (b"kiwi", b"quince", b"papaya"))
    _order_for_who_came_later(MemoryStore())


def _order_for_who_came_later(store: SqliteStore | MemoryStore) -> None:
    with Memory(store) as memory:
        memory.scope(user="ada").write("first")
        memory.scope(user="ben").write("who came later")
        with store.read() as snapshot:
            space = snapshot.space(snapshot.tenant("default") or 0, "ben")
        assert space is not None
        assert store.transact(lane_cursors.claim, space.id, "lane", "me", 60)
        store.transact(
            job_queue.record, RecordedAnswer(space=space.id, lane="lane", request=b"asked", answer=b"kiwi", owner="me")
        )
        number = store.transact(job_queue.order, Order(space=space.id, name="rerun", key="quince", payload=b"papaya"))
        assert number in {job.id for job in memory.admin.jobs()}
        memory.admin.rewind(1)
        assert number not in {job.id for job in memory.admin.jobs()}


def test_rewinding_takes_back_what_helped_and_leaves_how_often_it_was_shown(memory: Memory) -> None:
    me = memory.scope(user="ada")
    home = me.write("Ada lives in Lisbon").id
    me.feedback(home, useful=True)
    me.write("second")
    memory.admin.compact(3)
    memory.admin.gc()
    me.write("third")
    me.recall("Lisbon")
    memory._opened.uses.flush()
    before = me.strength(home)
    me.feedback(home, useful=True)
    memory.admin.rewind(4)
    assert me.strength(home) == before
    assert (before.uses, before.useful) == (1, 1)


def test_restore_takes_a_store_with_its_log_and_spares_strangers(tmp_path: Path) -> None:
    with Memory(tmp_path / "live.db") as live:
        live.scope(user="ada").observe("precious")
        restore(tmp_path / "live.db", tmp_path / "fresh.db", without_tombstones=True)
    with Memory(tmp_path / "fresh.db") as fresh:
        assert [v.item.text for v in fresh.scope(user="ada").list()] == ["precious"]
    with Memory(tmp_path / "stranger.db") as stranger:
        stranger.scope(user="eve").observe("soon gone")
        stranger.scope(user="eve").erase_user()
    with pytest.raises(Invalid, match="no relative"):
        restore(tmp_path / "fresh.db", tmp_path / "stranger.db")
    restore(tmp_path / "fresh.db", tmp_path / "stranger.db", without_tombstones=True)
    with Memory(tmp_path / "stranger.db") as stranger:
        assert [v.item.text for v in stranger.scope(user="ada").list()] == ["precious"]


def test_a_restore_keeps_the_holds_and_checkpoints_of_the_store_it_replaces(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory(path) as memory:
        me = memory.scope(user="ada")
        item = me.write("first").id
        lifted = memory.admin.hold(user="ada", item=item)
        one = memory.admin.checkpoint("one")
        memory.admin.release_hold(lifted)
        later = me.write("second").id
        memory.admin.checkpoint("two")
        held = memory.admin.hold(user="ada", item=item, reason="court", actor="counsel")
    restore(one.path, path)
    with Memory(path) as memory:
        (hold,) = memory.admin.holds()
        assert (hold.id, hold.item, hold.reason, hold.actor) == (held, item, "court", "counsel")
        assert [(found.name, found.there) for found in memory.admin.checkpoints()] == [("one", True), ("two", True)]
        assert memory.admin.hold(user="ada") > held
        memory.admin.drop_checkpoint("two")
        with pytest.raises(NotFound):
            memory.scope(user="ada").get(later)
        assert memory.admin.verify() == []


def test_a_restore_that_would_take_out_what_is_held_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory(path) as memory:
        me = memory.scope(user="ada")
        me.write("first")
        old = memory.admin.backup(tmp_path / "old.db")
        later = me.write("second").id
        held = memory.admin.hold(user="ada", item=later)
    with pytest.raises(Refused, match=f"lacks some of item {later}.*hold {held}.*hold release {held}.*taken later"):
        restore(old, path)
    with Memory(path) as memory:
        assert memory.scope(user="ada").get(later).item.text == "second"
        memory.admin.release_hold(held)
    restore(old, path)


def test_a_store_that_is_open_is_not_replaced(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db") as memory:
        memory.scope(user="ada").write("first")
        old = memory.admin.backup(tmp_path / "old.db")
        with pytest.raises(StoreLocked, match="in this process or another"):
            restore(old, tmp_path / "memory.db")


def test_what_was_erased_before_a_hold_is_erased_again_by_a_restore(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory(path) as memory:
        me = memory.scope(user="ada")
        me.write("first")
        gone = me.write("second").id
        old = memory.admin.backup(tmp_path / "old.db")
        me.erase(gone)
        memory.admin.hold(user="ada")
    assert restore(old, path) == 1
    with Memory(path) as memory:
        assert [v.item.text for v in memory.scope(user="ada").list()] == ["first"]
        assert len(memory.admin.holds()) == 1


def test_a_checkpoint_file_that_the_store_does_not_know_can_be_dropped(memory: Memory, tmp_path: Path) -> None:
    memory.scope(user="ada").write("first")
    made = memory.admin.checkpoint("one")
    stray = made.path.with_name("memory-stray.db")
    made.path.rename(stray)
    memory.admin.drop_checkpoint("stray")
    assert not stray.exists()
    for name in ("stray", "../memory"):
        with pytest.raises(NotFound):
            memory.admin.drop_checkpoint(name)


@pytest.mark.parametrize("name", ["旅行之前", "avant l'été", "before.unfinished", "..", "a 1 (2)", "می\u200cخواهم"])
def test_a_checkpoint_takes_any_name_that_a_file_can_have(memory: Memory, name: str) -> None:
    memory.scope(user="ada").write("first")
    made = memory.admin.checkpoint(name)
    memory.admin.checkpoint("another")
    assert {one.name: one.there for one in memory.admin.checkpoints()} == {"another": True, name: True}
    memory.admin.drop_checkpoint(name)
    assert not made.path.exists()


@pytest.mark.parametrize(
    "name", ["a/b", "../up", "a\\b", "a:b", "a\nb", "a\u202eb", " a", "a ", "-a", "é" * 130, "\ud800", "a?"]
)
def test_a_name_that_no_file_can_have_everywhere_is_refused(memory: Memory, name: str) -> None:
    memory.scope(user="ada").write("first")
    with pytest.raises(Invalid, match="name"):
        memory.admin.checkpoint(name)
    assert memory.admin.checkpoints() == []


def test_two_spellings_of_the_same_letters_are_one_name(memory: Memory) -> None:
    memory.scope(user="ada").write("first")
    memory.admin.checkpoint("e\u0301te\u0301")
    with pytest.raises(Conflict):
        memory.admin.checkpoint("\xe9t\xe9")
    memory.admin.drop_checkpoint("\xe9t\xe9")
    assert memory.admin.checkpoints() == []


def test_what_a_process_that_is_gone_left_half_copied_is_taken_away(memory: Memory, tmp_path: Path) -> None:
    memory.scope(user="ada").write("first")
    memory.admin.checkpoint("one")
    left = [tmp_path / "checkpoints" / f"memory-x.db.4194305.unfinished{end}" for end in ("", "-journal")]
    for file in left:
        file.write_bytes(b"half")
    memory.admin.checkpoint("two")
    assert not any(file.exists() for file in left)


def test_a_checkpoint_is_put_back_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory(path) as memory:
        me = memory.scope(user="ada")
        me.write("first")
        memory.admin.checkpoint("旅行之前")
        me.write("second")
    restore("旅行之前", path)
    with Memory(path) as memory:
        assert memory.scope(user="ada").count() == 1
    with pytest.raises(NotFound, match=r"'nowhere'.*mnemic checkpoints"):
        restore("nowhere", path)


def test_a_checkpoint_is_put_back_by_its_name_in_the_place_of_a_damaged_store(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory(path) as memory:
        memory.scope(user="ada").write("first")
        memory.admin.checkpoint("before")
    path.write_bytes(path.read_bytes()[:4096] + b"damage" * 2000)
    restore("before", path, without_tombstones=True)
    with Memory(path) as memory:
        assert memory.scope(user="ada").count() == 1


def test_a_file_and_a_checkpoint_of_one_name_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "memory.db"
    with Memory(path) as memory:
        me = memory.scope(user="ada")
        me.write("first")
        memory.admin.checkpoint("before")
        me.write("second")
        memory.admin.backup(tmp_path / "before")
    with pytest.raises(Invalid, match="both"):
        restore("before", path)
    restore("./before", path)
    with Memory(path) as memory:
        assert memory.scope(user="ada").count() == 2


def test_a_backup_is_put_back_as_of_a_commit(memory: Memory, tmp_path: Path) -> None:
    me = memory.scope(user="ada")
    me.write("first")
    was = memory.admin.state_hash()
    me.write("second")
    copy, fresh = memory.admin.backup(tmp_path / "copy.db"), tmp_path / "fresh.db"
    restore(copy, fresh, without_tombstones=True, to=1)
    with Memory(fresh) as back:
        assert back.admin.state_hash() == was
        assert back.admin.verify() == []


def test_a_moment_before_anything_was_recorded_is_refused(memory: Memory) -> None:
    memory.scope(user="ada").write("first")
    with pytest.raises(Invalid, match="nothing was recorded"):
        memory.admin.rewind("1999-01-01")
    assert memory.scope(user="ada").count() == 1


def test_a_past_that_has_not_been_is_refused(either: Memory) -> None:
    me = either.scope(user="ada")
    me.write("first")
    me.write("second")
    for look in (lambda: me.at(3).list(), lambda: me.at(99).recall("first"), lambda: me.at(99).context("first")):
        with pytest.raises(Invalid, match=r"commit \d+ is not between 0 and 2"):
            look()
    with pytest.raises(Invalid, match="commit 1 is not between 0 and 0"):
        either.scope(user="ada", tenant="blank").at(1).list()
    assert [me.at(2).count(), me.at(0).count()] == [2, 0]
    for ahead in ("2999-01-01", date(2999, 1, 1), datetime(2999, 1, 1, tzinfo=UTC)):
        with pytest.raises(Invalid, match=r"at: .*2999.* has not come yet"):
            me.at(ahead)
        with pytest.raises(Invalid, match=r"to: .*2999.* has not come yet"):
            either.admin.rewind(ahead)
        assert me.valid_at(ahead).count() == 2  # what holds then is believed now
    today = datetime.now(UTC).date()
    assert [me.at(began).count() for began in (today, str(today), "this month")] == [2, 2, 2]


def test_a_moment_of_the_journal_is_asked_for_though_the_clock_went_back() -> None:
    clock = ManualClock()
    with Memory("memory:", clock=clock) as memory:
        me = memory.scope(user="ada")
        me.write("first")
        clock.tick(-3_600_000_000)
        me.write("second")
        assert me.at(me.log()[0].at).count() == 2
        with pytest.raises(Invalid):
            me.at(me.log()[0].at + timedelta(seconds=1))


def test_the_window_of_a_talk_that_went_on_is_made_again_from_what_was_said_by_then(either: Memory) -> None:
    me = either.scope(user="ada")
    with me.session("quiet", budget=900) as session:
        session.observe("said before all that")
    with me.session("chat", budget=300, policy="lru") as session:
        for n in range(12):
            session.observe(f"turn {n}: " + "word " * 30)
    with me.session("later") as session:
        session.observe("a talk that was not yet")
    shown = {name: (row.turns, len(me.session_pages(name))) for name, row in me.sessions()}
    either.admin.rewind(4)
    assert sorted(name for name, _ in me.sessions()) == ["chat", "quiet"]
    rows = dict(me.sessions())
    assert (rows["quiet"].turns, len(me.session_pages("quiet"))) == shown["quiet"]
    assert (rows["chat"].turns, rows["chat"].clock, me.session_pages("chat")) == (0, 0, [])
    assert (rows["chat"].budget, rows["chat"].policy) == (300, "lru")
    with me.session("chat") as session:
        text = session.window().text
        assert [f"turn {n}:" in text for n in (0, 1, 2, 3)] == [True, True, True, False]
    assert dict(me.sessions())["chat"].turns == 3


def test_a_window_that_is_open_when_its_store_goes_back_shows_what_is_still_there(either: Memory) -> None:
    me = either.scope(user="ada")
    with me.session("chat") as session:
        for n in range(3):
            session.observe(f"turn {n}")
        either.admin.rewind(1)
        session.observe("one more")
        text = session.window().text
        assert [line in text for line in ("turn 0", "turn 1", "turn 2", "one more")] == [True, False, False, True]


@pytest.mark.parametrize("on", ["", "try"])
def test_a_hold_on_what_names_nothing_is_refused(either: Memory, on: str) -> None:
    me = either.scope(user="ada")
    me.write("on the trunk")
    me.branch("try")
    me.on_branch(on).shelf(session="chat", agent="guide").observe("said in a talk")
    for typo in ("nosuch", "guide"):
        with pytest.raises(NotFound, match=f"no session '{typo}'"):
            either.admin.hold(user="ada", session=typo)
    either.scope(user="ben").write("his own")
    with pytest.raises(NotFound, match="no session 'chat'"):
        either.admin.hold(user="ben", session="chat")
    number = either.admin.hold(user="ada", session="chat")
    with pytest.raises(Refused, match=f"hold {number}"):
        either.scope(user="ada").erase_user()


def test_everybody_is_held_only_if_that_is_said(either: Memory) -> None:
    me = either.scope(user="ada")
    me.write("something")
    with pytest.raises(Invalid, match="whole=True"):
        either.admin.hold(reason="case 7")
    with pytest.raises(Invalid, match="user: comes with whole"):
        either.admin.hold(user="ada", whole=True)
    number = either.admin.hold(whole=True)
    with pytest.raises(Refused, match=f"hold {number}"):
        me.erase_user()

"""What has a moment to expire is gone from every read when that has passed, and collected after in commits."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from mnemic.core.clock import micros, moment
from mnemic.core.events import Receipt, Verb
from mnemic.core.items import Channel, Kind, State
from mnemic.core.queries import Filter
from mnemic.errors import Conflict, Invalid, NotFound
from mnemic.ingest.message import Message
from mnemic.memory import Memory, ScopedMemory
from mnemic.settings import Settings
from mnemic.store.engine.rows import ItemTables
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.sqlite import sqlite_tables
from mnemic.testing.generators import ManualClock
from mnemic.verbs.statements import Statement
from mnemic.verbs.transacting import Transaction

HOUR = timedelta(hours=1)
SETTINGS = Settings(background=False)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=["memory:", "file"])
def memory(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> Iterator[Memory]:
    where = request.param if request.param == "memory:" else tmp_path / "memory.db"
    with Memory(where, settings=SETTINGS, clock=clock, embedder="none") as memory:
        yield memory


@pytest.fixture
def me(memory: Memory) -> ScopedMemory:
    return memory.scope(user="ada")


def after(clock: ManualClock, span: timedelta) -> None:
    clock.tick(span // timedelta(microseconds=1))


def texts(me: ScopedMemory) -> set[str]:
    """What every read shows, which must be the same for each: the words of what is there."""
    listed = {version.item.text for version in me.list()}
    assert me.count() == len(listed)
    assert {one.text for one in me.recall("code word", k=100)} == listed
    assert me.transact(Filter(), lambda versions: Transaction(answer={v.item.text for v in versions})) == listed
    return listed


def collected(me: ScopedMemory) -> list[int]:
    return [change.seq for change in me.log() if any(event.verb is Verb.COLLECTED for event in change.events)]


def test_an_item_is_gone_from_every_read_the_moment_it_expires(me: ScopedMemory, clock: ManualClock) -> None:
    code = me.observe("the code word is plum", expires="30d").id
    me.write("a code word is a word")
    assert texts(me) == {"the code word is plum", "a code word is a word"}
    assert me.get(code).item.expires == moment(clock.now()) + timedelta(days=30)
    after(clock, timedelta(days=30) - timedelta(microseconds=1))
    assert len(texts(me)) == 2
    after(clock, timedelta(microseconds=1))
    assert texts(me) == {"a code word is a word"}
    with pytest.raises(NotFound):
        me.get(code)
    assert "plum" not in me.context("code word").text
    assert me.history(code)[-1].item.text == "the code word is plum"


def test_what_is_always_on_goes_with_it(memory: Memory, me: ScopedMemory, clock: ManualClock) -> None:
    me.write("Ada writes verse.", kind=Kind.PROFILE, expires=HOUR)
    me.observe("My name is Ada.", role="user", expires=2 * HOUR)
    me.pin(me.write("pinned for now", expires=3 * HOUR).id)
    kept = me.write("kept", expires=5 * HOUR).id
    memory.flush()

    def always() -> list[bool]:
        text = me.context("").text
        return ["verse" in text, "name is Ada" in text or "Ada." in text, "pinned" in text]

    assert always() == [True, True, True]
    for hour in range(3):
        after(clock, HOUR)
        assert always() == [False] * (hour + 1) + [True] * (2 - hour), "what rests on an expired turn goes too"
    assert me.get(kept)


@pytest.mark.parametrize("given", ["2026-06-01T00:00:00+00:00", datetime(2026, 6, 1, tzinfo=UTC), timedelta(0), "0d"])
def test_what_has_passed_is_refused_and_says_what_to_do(me: ScopedMemory, clock: ManualClock, given: object) -> None:
    clock.tick(max(0, micros(datetime(2026, 7, 1, tzinfo=UTC)) - clock.now()))
    item = me.write("stays").id
    acts: list[Callable[[], object]] = [
        lambda: me.observe("late", expires=given),
        lambda: me.write("late", expires=given),
        lambda: me.revise(item, expires=given),
        lambda: me.supersede(item, "late", expires=given),
        lambda: me.correct(item, "late", expires=given),
        lambda: me.transact(Filter(), lambda _: Transaction(answer=0, write=(Statement(text="late", expires=given),))),
    ]
    for act in acts:
        with pytest.raises(Invalid, match=r"expires: .*has passed already.* `forget`"):
            act()
    assert texts(me) == {"stays"}


def test_a_key_stands_for_when_something_expires_as_it_was_given(me: ScopedMemory, clock: ManualClock) -> None:
    until = moment(clock.now()) + 500 * HOUR
    home = me.write("home is Rome").id
    told: list[Callable[[object], Receipt]] = [
        lambda expires: me.observe("a code", key="turn", expires=expires),
        lambda expires: me.write("a word", key="fact", expires=expires),
        lambda expires: me.supersede(home, "home is Oslo", key="moved", expires=expires),
        lambda expires: me.correct(other, "home is Bonn", key="right", expires=expires),
    ]
    without_a_zone = until.replace(tzinfo=None).isoformat()  # on the clock of the settings, which is UTC
    for given, same, others in (
        ("3h", 3 * HOUR, (None, "4h", until)),
        (until, until.isoformat(), (None, "5h")),
        (without_a_zone, until, (None, "5h")),
    ):
        for number, tell in enumerate(told):
            home, other = me.write("home is Rome").id, me.write("home is Berlin").id
            first = tell(given)
            after(clock, HOUR)
            assert (again := tell(same)).repeated
            assert (again.seq, again.ids[0]) == (first.seq, first.ids[0])
            for expires in others[number == 3 :]:  # a correction that says nothing of it leaves it
                with pytest.raises(Conflict):
                    tell(expires)
            me.erase(*first.ids, *(() if number == 3 else (home,)))


def test_what_is_no_time_is_refused(me: ScopedMemory) -> None:
    for given in ("soon", "2030-13-31", "-1d", "999999999999 years", "9" * 50 + "d", 5):
        with pytest.raises(Invalid, match="expires"):
            me.observe("never", expires=given)  # type: ignore[arg-type]
    assert me.count() == 0


def test_an_import_may_bring_what_has_expired(me: ScopedMemory, clock: ManualClock) -> None:
    long_ago = moment(clock.now()) - HOUR
    message = Message(text="code of old", key="m:1", expires=long_ago)
    item = me.observe([message], channel=Channel.IMPORT).id
    assert texts(me) == set()
    assert me.history(item)[-1].item.expires == long_ago


def test_when_something_expires_may_change(me: ScopedMemory, clock: ManualClock) -> None:
    turn, fact = me.observe("a code", expires=HOUR).id, me.write("a word", expires=HOUR).id
    me.revise(turn, expires="3h")
    me.revise(fact, "a better word", expires=None)
    after(clock, 2 * HOUR)
    assert texts(me) == {"a code", "a better word"}
    after(clock, 2 * HOUR)
    assert texts(me) == {"a better word"}
    me.revise(turn, expires=None)  # not collected yet: it can be had back without an undo
    assert texts(me) == {"a code", "a better word"}


def test_a_document_expires_as_a_whole(memory: Memory, clock: ManualClock) -> None:
    me = memory.scope(user="bob")
    ids = me.observe("code word " * 20_000, expires=HOUR).ids
    assert len(ids) > 2
    me.revise(ids[0], expires="2h")
    after(clock, HOUR)
    assert me.count() == len(ids)
    after(clock, HOUR)
    assert me.count() == 0


def test_what_has_expired_is_retired_by_a_flush_and_undone(
    memory: Memory, me: ScopedMemory, clock: ManualClock
) -> None:
    code = me.observe("the code word is plum", expires=HOUR).id
    stays = me.write("a word").id
    memory.flush()
    assert collected(me) == []
    after(clock, HOUR)
    memory.flush()
    (seq,) = collected(me)
    (change,) = [change for change in me.log() if change.seq == seq]
    told = json.loads(next(event.payload for event in change.events if event.payload))
    assert (told["trigger"], told["reasons"]) == ("expiry", {code: f"expired {moment(clock.now()):%Y-%m-%d %H:%M}"})
    assert me.history(code)[-1].item.state is State.RETIRED
    memory.flush()
    assert collected(me) == [seq], "it is done once"
    me.undo(seq)
    memory.flush()
    assert (me.get(code).item.expires, collected(me)) == (None, [seq]), "what comes back comes back to stay"
    assert me.get(stays)
    assert memory.admin.verify() == []


def test_an_undone_forget_leaves_the_end_that_it_found(me: ScopedMemory, clock: ManualClock) -> None:
    item = me.write("a word", expires=HOUR).id
    gone = me.forget(item).seq
    after(clock, 2 * HOUR)
    me.undo(gone)
    assert texts(me) == set()


def test_the_journals_past_shows_what_had_not_expired_then(
    memory: Memory, me: ScopedMemory, clock: ManualClock
) -> None:
    wrote = me.observe("the code word is plum", expires=HOUR)
    then = moment(clock.now())
    after(clock, HOUR)
    other = me.write("a word").seq
    for _ in range(2):  # merely hidden, and then retired
        assert [v.item.text for v in me.at(wrote.seq).list()] == ["the code word is plum"]
        assert [one.text for one in me.at(wrote.seq).recall("code")] == ["the code word is plum"]
        assert [v.item.text for v in me.at(then).list()] == ["the code word is plum"]
        assert [v.item.text for v in me.at(other).list()] == ["a word"]
        assert me.as_of(then).list() == [], "as with what was forgotten: what was known then is told as of today"
        memory.flush()


def test_a_clock_that_goes_back_shows_what_was_hidden_and_not_what_was_retired(
    memory: Memory, me: ScopedMemory, clock: ManualClock
) -> None:
    me.write("a word", expires=HOUR)
    after(clock, 2 * HOUR)
    assert texts(me) == set()
    after(clock, -2 * HOUR)
    assert texts(me) == {"a word"}
    after(clock, 2 * HOUR)
    memory.flush()
    after(clock, -2 * HOUR)
    assert texts(me) == set()


def test_what_a_hold_keeps_is_hidden_and_not_retired(memory: Memory, me: ScopedMemory, clock: ManualClock) -> None:
    item = me.write("a word", expires=HOUR).id
    hold = memory.admin.hold(reason="court", user="ada")
    after(clock, HOUR)
    memory.flush()
    assert (texts(me), collected(me)) == (set(), [])
    assert me.history(item)[-1].item.state is State.ACTIVE
    memory.admin.release_hold(hold)
    memory.flush()
    assert me.history(item)[-1].item.state is State.RETIRED


def test_branches_show_and_merge_what_has_not_expired(memory: Memory, me: ScopedMemory, clock: ManualClock) -> None:
    me.write("a word of the parent", expires=HOUR)
    me.branch("try")
    branch = me.on_branch("try")
    branch.write("a word of the branch", expires=2 * HOUR)
    assert len(branch.list()) == 2
    after(clock, HOUR)
    assert [v.item.text for v in branch.list()] == ["a word of the branch"]
    memory.flush()
    assert [v.item.text for v in branch.list()] == ["a word of the branch"]
    me.merge("try")
    assert [v.item.text for v in me.list()] == ["a word of the branch"]
    after(clock, HOUR)
    assert (me.list(), branch.list()) == ([], [])
    memory.flush()
    assert memory.admin.verify() == []


def test_a_session_drops_a_page_that_expires(memory: Memory, clock: ManualClock) -> None:
    with memory.session(user="ada", session="talk") as talk:
        talk.observe("the code word is plum", expires=HOUR)
        talk.observe("a word")
        assert "plum" in talk.context("code").text
        after(clock, HOUR)
        assert "plum" not in talk.context("code").text
        assert "a word" in talk.context("code").text


def test_an_export_carries_when_things_expire(
    me: ScopedMemory, memory: Memory, clock: ManualClock, tmp_path: Path
) -> None:
    me.write("a word", expires=HOUR)
    me.write("another", expires=2 * HOUR)
    lines = list(memory.admin.export())
    with Memory(tmp_path / "other.db", settings=SETTINGS, clock=clock, embedder="none") as other:
        other.admin.load(lines)
        after(clock, HOUR)
        assert texts(other.scope(user="ada")) == {"another"}
        assert other.admin.verify() == []


@pytest.mark.parametrize("seed", range(4))
def test_any_history_shows_what_has_not_expired(tmp_path: Path, seed: int) -> None:
    """Writes, edits, forgets, flushes and undos, and a clock that goes on and sometimes back, against a plain dict."""
    chance, clock = Random(seed), ManualClock()
    with Memory(tmp_path / "m.db", settings=SETTINGS, clock=clock, embedder="none") as memory:
        me = memory.scope(user="ada")
        ends: dict[str, datetime | None] = {}
        for step in range(60):
            act = chance.choice(["write", "write", "revise", "forget", "flush", "on", "on", "back", "lift"])
            now = moment(clock.now())
            span = chance.choice([None, HOUR, 2 * HOUR, 5 * HOUR])
            shown = sorted(item for item, end in ends.items() if end is None or end > now)
            if act == "write":
                ends[me.write(f"code word {step}", expires=span).id] = None if span is None else now + span
            elif act == "revise" and shown:
                ends[item := chance.choice(shown)] = None if span is None else now + span
                me.revise(item, expires=span)
            elif act == "forget" and shown:
                me.forget(item := chance.choice(shown))
                del ends[item]
            elif act == "flush":
                memory.flush()
                ends = {item: end for item, end in ends.items() if end is None or end > now}
            elif act == "lift" and (done := collected(me)):
                seq = chance.choice(done)
                (change,) = [change for change in me.log(limit=1000) if change.seq == seq]
                back = [event.item for event in change.events if event.verb is Verb.RETIRED and event.item]
                if all(me.history(item)[-1].seq_from == seq for item in back):
                    me.undo(seq)
                    ends |= dict.fromkeys(back)
            elif act in ("on", "back"):
                after(clock, HOUR if act == "on" else -HOUR / 2)
            now = moment(clock.now())
            expected = {item for item, end in ends.items() if end is None or end > now}
            assert {version.item.id for version in me.list()} == expected, (step, act)
            assert texts(me) == {me.get(item).item.text for item in expected}
        assert memory.admin.verify() == []


def test_what_has_expired_is_found_by_an_index_and_as_any_store_finds_it(me: ScopedMemory, clock: ManualClock) -> None:
    for number in range(9):
        me.write(f"word {number}", expires=timedelta(hours=1 + number % 3))
    after(clock, 2 * HOUR)

    def look(snapshot: Snapshot) -> None:
        items = snapshot._rows.items
        (plan,) = items._db.execute("EXPLAIN QUERY PLAN " + sqlite_tables._EXPIRED, (1, 0, 0, 5))  # type: ignore[attr-defined]
        assert "USING INDEX version_expires" in plan[3]
        middle = items.expired(clock.now(), (0, 0), 3)[-1][:2]
        for start, limit in (((0, 0), 2), ((0, 0), 50), (middle, 2), (middle, 50)):
            found = items.expired(clock.now(), start, limit)
            assert found
            assert found == ItemTables.expired(items, clock.now(), start, limit)

    with me._opened.store.read() as snapshot:
        look(snapshot)

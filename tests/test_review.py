"""What a first review found: each as it was reproduced, and as it must be."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemic import SHARED, Conflict, Filter, Invalid, Kind, Memory, Message, NotFound, ScopedMemory, StoreError
from mnemic.store.sqlite import SqliteStore


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory.db") as opened:
        yield opened
        assert list(opened.admin.verify()) == []


@pytest.fixture
def me(memory: Memory) -> ScopedMemory:
    return memory.scope(user="ada")


def texts(scoped: ScopedMemory) -> list[str]:
    return sorted(v.item.text for v in scoped.list(limit=100))


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
class TestForks:
    def in_child(self, act: object) -> int:
        child = os.fork()
        if child == 0:
            try:
                act()  # type: ignore[operator]
            except BaseException:  # noqa: BLE001 - the exit code tells
                os._exit(1)
            os._exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def test_a_child_writes_though_other_threads_of_its_parent_were_writing(self, memory: Memory) -> None:
        stop = threading.Event()

        def write(name: str) -> None:
            mine = memory.scope(user=name)
            while not stop.is_set():
                mine.observe("busy")

        threads = [threading.Thread(target=write, args=(f"thread {n}",)) for n in range(2)]
        for thread in threads:
            thread.start()
        try:
            codes = [self.in_child(lambda: memory.scope(user="child").observe("from a child")) for _ in range(6)]
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        assert codes == [0] * 6
        assert memory.scope(user="child").count() == 6

    def test_a_child_goes_on_after_its_parent_has_closed(self, tmp_path: Path) -> None:
        parent = Memory(tmp_path / "other.db")
        parent.scope(user="ada").observe("before")
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                mine = parent.scope(user="ada")
                mine.observe("child first")
                os.read(reading, 1)
                mine.observe("child second")
                os._exit(0)
            except BaseException:  # noqa: BLE001 - the exit code tells
                os._exit(1)
        parent.scope(user="ada").observe("parent too")
        parent.close()
        os.write(writing, b"x")
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        with Memory(tmp_path / "other.db") as again:
            assert texts(again.scope(user="ada")) == ["before", "child first", "child second", "parent too"]


class TestErasure:
    def test_counts_that_are_still_to_be_written_bring_nobody_back(self, tmp_path: Path) -> None:
        with Memory(tmp_path / "memory.db") as memory:
            me = memory.scope(user="zqxuser", agent="zqxagent")
            me.observe("tea")
            me.recall("tea")
            me.erase_user(reason="asked to")
        assert b"zqx" not in bytes_of(tmp_path)
        with Memory(tmp_path / "memory.db") as memory:
            assert memory.admin.stats().users == ()

    def test_a_tenant_is_erased_with_every_user_and_name_and_leaves_the_others(self, tmp_path: Path) -> None:
        with Memory(tmp_path / "memory.db") as memory:
            for user in ("zqxada", "zqxbob"):
                gone = memory.scope(user=user, tenant="zqxtenant", session="zqxsession")
                gone.observe("zqxword here", speaker="zqxspeaker")
                gone.recall("zqxword")
            stays = memory.scope(user="ada")
            stays.observe("stays")
            receipt = memory.admin.erase_tenant("zqxtenant")
            assert (len(receipt.ids), receipt.status) == (2, "clean")
            assert b"zqx" not in bytes_of(tmp_path)
            assert texts(stays) == ["stays"]
            assert list(memory.admin.verify()) == []
        assert b"zqx" not in bytes_of(tmp_path)

    def test_reasons_go_with_the_user_they_speak_of(self, tmp_path: Path) -> None:
        with Memory(tmp_path / "memory.db") as memory:
            me = memory.scope(user="ada")
            me.erase(me.observe("tea").id, reason="zqxreason")
            me.erase_user()
            assert list(memory.admin.verify()) == []
        assert b"zqx" not in bytes_of(tmp_path)

    def test_what_users_built_on_shared_evidence_goes_with_it(self, memory: Memory, me: ScopedMemory) -> None:
        common = memory.scope(user=SHARED)
        shared = common.observe("the code is 1234")
        me.write("ada knows the code 1234", source=shared.ids)
        assert len(common.erase(shared.id).ids) == 2
        assert texts(me) == []

    def test_what_was_superseded_by_something_erased_stands_again(self, me: ScopedMemory) -> None:
        old = me.write("Paris", said=day("2025-01-01"))
        new = me.supersede(old.id, "Lisbon", said=day("2025-05-01"))
        me.erase(new.id)
        assert texts(me) == ["Paris"]

    def test_a_generator_left_half_way_holds_nobody_up(self, memory: Memory, me: ScopedMemory) -> None:
        doomed = [me.observe(f"turn {n}") for n in range(3)]
        one, two = memory.admin.export(), memory.admin.export()
        next(one), next(two)
        list(one)
        assert me.erase(doomed[0].id).status == "pending"
        list(two)
        assert me.erase(doomed[1].id).status == "clean"


class TestStatements:
    def test_a_view_of_what_was_known_of_another_time(self, me: ScopedMemory) -> None:
        paris = me.write("Paris", said=day("2025-01-10"))
        me.supersede(paris.id, "Lisbon", said=day("2025-05-02"), valid_from=day("2025-03-01"))
        assert texts(me.as_of(day("2025-12-01")).valid_at(day("2025-02-01"))) == ["Paris"]
        assert texts(me.as_of(day("2025-04-01")).valid_at(day("2025-04-01"))) == ["Paris"]
        assert texts(me.as_of(day("2025-12-01")).valid_at(day("2025-04-01"))) == ["Lisbon"]

    def test_an_end_that_was_stated_is_not_moved_by_a_successor(self, me: ScopedMemory) -> None:
        rome = me.write("Rome", said=day("2013-01-01"), valid_from=day("2010-01-01"), valid_to=day("2012-01-01"))
        me.supersede(rome.id, "Oslo", said=day("2024-01-01"))
        assert texts(me.valid_at(day("2015-01-01"))) == []

    def test_only_what_stands_is_superseded(self, me: ScopedMemory) -> None:
        first = me.write("one")
        me.supersede(first.id, "two")
        with pytest.raises(Conflict, match="superseded already"):
            me.supersede(first.id, "three")
        turn = me.observe("said")
        with pytest.raises(Invalid, match="evidence"):
            me.supersede(turn.id, "unsaid")
        forgotten = me.write("four")
        me.forget(forgotten.id)
        with pytest.raises(Conflict, match="retired already"):
            me.supersede(forgotten.id, "five")

    def test_a_document_is_forgotten_with_its_chunks_and_comes_back_with_them(self, me: ScopedMemory) -> None:
        long = me.observe("xylophone words go on and on. " * 2500)
        gone = me.forget(long.id)
        assert me.count() == 0
        me.undo(gone.seq)
        assert me.count(where=Filter(kinds=(Kind.CHUNK,))) > 1

    def test_undo_sees_that_a_link_has_changed_since(self, me: ScopedMemory) -> None:
        a, b = me.write("a"), me.write("b")
        first = me.link(a.id, b.id, "about", weight=1)
        me.link(a.id, b.id, "about", weight=2)
        with pytest.raises(Conflict, match="the link"):
            me.undo(first.seq)

    def test_the_past_shows_no_link_that_was_told_later(self, me: ScopedMemory) -> None:
        old = me.write("Paris", said=day("2025-01-01"))
        me.supersede(old.id, "Lisbon", said=day("2025-05-01"))
        assert me.as_of(day("2025-04-01")).links(old.id) == []

    def test_the_same_key_with_other_times_is_a_conflict(self, me: ScopedMemory) -> None:
        me.write("x", key="k", valid_from=day("2025-01-01"))
        with pytest.raises(Conflict):
            me.write("x", key="k", valid_from=day("2025-02-01"))


class TestDoors:
    def test_one_callers_bad_value_is_refused_at_the_door(self, memory: Memory) -> None:
        with pytest.raises(Invalid, match="actor"):
            memory.scope(user="ada", actor="\ud800")

    def test_a_chat_message_is_taken_as_chat_models_take_it(self, me: ScopedMemory) -> None:
        me.observe(
            [{"role": "user", "content": "hi there"}, {"role": "assistant", "content": "hello", "name": "Mnemo"}]
        )
        items = [v.item for v in me.list()]
        assert sorted((i.text, i.slots.get("role"), i.slots.get("speaker")) for i in items) == [
            ("hello", "assistant", "Mnemo"),
            ("hi there", "user", None),
        ]
        with pytest.raises(Invalid, match=r"messages\.when"):
            me.observe({"role": "user", "content": "hi", "when": 3})
        with pytest.raises(Invalid):
            me.observe({"role": "user"})

    def test_what_a_model_asks_of_tools_is_taken_and_found_by_its_words(self, me: ScopedMemory) -> None:
        calls = [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Porto"}'}}]
        asked, told = me.observe(
            [
                {"role": "assistant", "content": None, "tool_calls": calls},
                {"role": "tool", "tool_call_id": "c1", "content": "rain"},
            ]
        ).ids
        item = me.get(asked).item
        assert (item.text, item.slots["tool_calls"]) == ('weather({"city": "Porto"})', calls)
        assert me.get(told).item.slots["tool_call_id"] == "c1"
        assert me.recall("Porto weather").items[0].id == asked
        with pytest.raises(Invalid, match="tool_calls"):
            me.observe({"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]})

    def test_fields_beside_a_message_are_refused(self, me: ScopedMemory) -> None:
        with pytest.raises(Invalid, match="fields stand beside it"):
            me.observe(Message(text="hi", key=""), speaker="Ada")

    @pytest.mark.parametrize(
        "wrong",
        [
            lambda me: me.undo(2**70),
            lambda me: me.undo("x"),
            lambda me: me.at(2**70),
            lambda me: me.list(limit=2**70),
            lambda me: me.write("x", kind="nonsense"),
            lambda me: me.write("x", said="2020-01-01"),
            lambda me: me.write("x", valid_from="2020-01-01"),
            lambda me: me.observe(Message(text="x", key="", pos=2**70)),
            lambda me: me.observe(None),
            lambda me: me.observe("x", key=""),
            lambda me: me.list(where=Filter(said_from=datetime(2020, 1, 1, tzinfo=UTC))),
            lambda me: me.list(where=Filter(session="\ud800")),
            lambda me: me.recall("x", k="3"),
            lambda me: me.recall("x", k=2.5),
            lambda me: me.context("x", budget=0),
            lambda me: me.feedback(useful=True),
        ],
    )
    def test_what_cannot_be_meant_is_an_invalid_field(self, me: ScopedMemory, wrong: object) -> None:
        me.observe("something")
        with pytest.raises(Invalid):
            wrong(me)  # type: ignore[operator]

    def test_a_kind_may_be_named(self, me: ScopedMemory) -> None:
        assert me.get(me.write("x", kind="plan").id).item.kind is Kind.PLAN

    def test_a_secret_is_masked_in_slots_too(self, tmp_path: Path, me: ScopedMemory) -> None:
        receipt = me.observe("look", slots={"caption": "card 4111 1111 1111 1111"}, key="k")
        assert dict(receipt.masked) == {"card number": 1}
        assert b"4111 1111" not in bytes_of(tmp_path)

    def test_a_path_that_was_mistyped_makes_no_folders(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError):
            Memory(tmp_path / "no" / "such" / "memory.db")
        assert not (tmp_path / "no").exists()

    @pytest.mark.parametrize("where", ["http://x/y", "a\0b", 123])
    def test_what_names_no_store_is_refused(self, where: object) -> None:
        with pytest.raises(Invalid):
            Memory(where)  # type: ignore[arg-type]


def test_a_landed_write_is_acknowledged_though_the_cleaning_after_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(tmp_path / "memory.db")
    with Memory(store) as memory:
        me = memory.scope(user="ada")
        doomed = me.observe("doomed")

        def fail(_db: object) -> bool:
            raise StoreError("the file is too large to be wiped in place")

        monkeypatch.setattr(store, "_scrub", fail)
        assert me.erase(doomed.id).status == "pending"
        assert me.observe("lands").seq == 3
        monkeypatch.undo()
        assert memory.admin.settle()


def test_a_recall_of_what_is_shared_leaves_no_trace_of_who_asked(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db") as memory:
        memory.scope(user=SHARED).observe("tea for all")
        assert memory.scope(user="zqxstranger").recall("tea").items
    assert b"zqx" not in bytes_of(tmp_path)


def test_yesterday_is_the_askers_yesterday(tmp_path: Path) -> None:
    from datetime import timedelta, timezone

    shanghai = timezone(timedelta(hours=8))
    with Memory(tmp_path / "memory.db") as memory:
        me = memory.scope(user="ada")
        me.observe("planted a pear tree", said=datetime(2025, 6, 9, 20, 0, tzinfo=shanghai))
        me.observe("painted the fence", said=datetime(2025, 6, 8, 20, 0, tzinfo=shanghai))
        asked = datetime(2025, 6, 10, 6, 0, tzinfo=shanghai)  # still the ninth in UTC
        assert [r.text for r in me.recall("what happened yesterday?", now=asked)] == ["planted a pear tree"]


def test_restore_takes_a_store_with_its_log_and_spares_strangers(tmp_path: Path) -> None:
    from mnemic.admin import restore

    with Memory(tmp_path / "live.db") as live:
        live.scope(user="ada").observe("precious")
        restore(tmp_path / "live.db", tmp_path / "fresh.db", without_tombstones=True)
    with Memory(tmp_path / "fresh.db") as fresh:
        assert texts(fresh.scope(user="ada")) == ["precious"]
    with Memory(tmp_path / "stranger.db") as stranger:
        stranger.scope(user="eve").observe("soon gone")
        stranger.scope(user="eve").erase_user()
    with pytest.raises(Invalid, match="no relative"):
        restore(tmp_path / "fresh.db", tmp_path / "stranger.db")
    restore(tmp_path / "fresh.db", tmp_path / "stranger.db", without_tombstones=True)
    with Memory(tmp_path / "stranger.db") as stranger:
        assert texts(stranger.scope(user="ada")) == ["precious"]


def test_an_unlinked_link_that_never_was_is_not_found(me: ScopedMemory) -> None:
    a, b = me.write("a"), me.write("b")
    with pytest.raises(NotFound, match="no link"):
        me.unlink(a.id, b.id, "about")

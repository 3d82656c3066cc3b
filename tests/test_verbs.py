"""The verbs, through the front door: what each promises, in the words of the design."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from mnemic import (
    SHARED,
    Conflict,
    Filter,
    Invalid,
    Kind,
    Memory,
    Message,
    NotFound,
    Refused,
    ScopedMemory,
    Settings,
    State,
    StoreError,
    TooLarge,
)
from mnemic.core.items import Channel
from patience import eventually


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.fixture(params=["sqlite", "memory"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory.db" if request.param == "sqlite" else "memory:") as opened:
        yield opened
        assert list(opened.admin.verify()) == []


@pytest.fixture
def me(memory: Memory) -> ScopedMemory:
    return memory.scope(user="ada")


def texts(scoped: ScopedMemory) -> list[str]:
    return sorted(v.item.text for v in scoped.list(limit=100))


class TestTime:
    def test_what_was_said_later_is_not_known_before(self, me: ScopedMemory) -> None:
        paris = me.write("Ada lives in Paris", said=day("2025-01-10"))
        me.supersede(paris.id, "Ada lives in Lisbon", said=day("2025-05-02"), valid_from=day("2025-03-01"))
        assert texts(me.as_of(day("2025-04-15"))) == ["Ada lives in Paris"]
        assert texts(me.valid_at(day("2025-04-15"))) == ["Ada lives in Lisbon"]
        assert texts(me.as_of(day("2025-04-15")).valid_at(day("2025-02-01"))) == ["Ada lives in Paris"]
        assert texts(me) == ["Ada lives in Lisbon"]

    def test_a_bare_date_means_the_end_of_that_day(self, me: ScopedMemory) -> None:
        me.observe("evening", said=datetime(2025, 4, 15, 22, 0, tzinfo=UTC))
        assert texts(me.as_of("2025-04-15")) == ["evening"]
        assert texts(me.as_of("2025-04-14")) == []

    def test_importing_late_gives_the_same_history_as_living_it(self, me: ScopedMemory) -> None:
        lisbon = me.write("Ada lives in Lisbon", said=day("2025-05-02"))
        late = me.supersede(lisbon.id, "Ada lives in Paris", said=day("2025-01-10"))
        assert texts(me) == ["Ada lives in Lisbon"]
        assert texts(me.as_of(day("2025-02-01"))) == ["Ada lives in Paris"]
        (closed,) = (v.item for v in me.history(late.id) if v.item.id == late.id)
        assert closed.known_to == day("2025-05-02")

    def test_the_journals_past_shows_what_has_been_forgotten_since(self, me: ScopedMemory) -> None:
        kept = me.observe("a secret")
        me.forget(kept.id)
        assert texts(me) == []
        assert texts(me.as_of(day("2999-01-01"))) == []
        assert texts(me.at(kept.seq)) == ["a secret"]

    def test_a_handle_on_the_past_is_not_written_to(self, me: ScopedMemory) -> None:
        me.observe("now")
        with pytest.raises(Refused):
            me.as_of("2025-01-01").observe("then")

    def test_recorded_time_finds_the_commit_that_stood_then(self, me: ScopedMemory) -> None:
        first = me.observe("first")
        recorded = me.get(first.id).recorded
        me.observe("second")
        assert texts(me.at(recorded)) == ["first"]
        assert texts(me.at(recorded - timedelta(seconds=1))) == []

    def test_a_view_of_what_was_known_of_another_time(self, me: ScopedMemory) -> None:
        paris = me.write("Paris", said=day("2025-01-10"))
        me.supersede(paris.id, "Lisbon", said=day("2025-05-02"), valid_from=day("2025-03-01"))
        assert texts(me.as_of(day("2025-12-01")).valid_at(day("2025-02-01"))) == ["Paris"]
        assert texts(me.as_of(day("2025-04-01")).valid_at(day("2025-04-01"))) == ["Paris"]
        assert texts(me.as_of(day("2025-12-01")).valid_at(day("2025-04-01"))) == ["Lisbon"]

    def test_the_past_shows_no_link_that_was_told_later(self, me: ScopedMemory) -> None:
        old = me.write("Paris", said=day("2025-01-01"))
        me.supersede(old.id, "Lisbon", said=day("2025-05-01"))
        assert me.as_of(day("2025-04-01")).links(old.id) == []

    def test_yesterday_is_the_askers_yesterday(self, me: ScopedMemory) -> None:
        shanghai = timezone(timedelta(hours=8))
        me.observe("planted a pear tree", said=datetime(2025, 6, 9, 20, 0, tzinfo=shanghai))
        me.observe("painted the fence", said=datetime(2025, 6, 8, 20, 0, tzinfo=shanghai))
        asked = datetime(2025, 6, 10, 6, 0, tzinfo=shanghai)  # still the ninth in UTC
        assert [r.text for r in me.recall("what happened yesterday?", now=asked)] == ["planted a pear tree"]


class TestUndo:
    def test_undo_retires_what_was_written_and_redo_brings_it_back(self, me: ScopedMemory) -> None:
        written = me.write("a fact")
        undone = me.undo(written.seq)
        assert texts(me) == []
        me.undo(undone.seq)
        assert texts(me) == ["a fact"]

    def test_undoing_a_supersession_reopens_what_it_closed(self, me: ScopedMemory) -> None:
        old = me.write("the old one")
        change = me.supersede(old.id, "the new one")
        me.undo(change.seq)
        assert texts(me) == ["the old one"]
        assert me.get(old.id).item.known_to is None
        assert me.links(old.id) == []

    def test_undo_takes_what_has_lost_its_evidence_and_leaves_what_has_some(self, me: ScopedMemory) -> None:
        one, two = me.observe("evidence one"), me.observe("evidence two")
        me.write("rests on one", source=one.ids)
        me.write("rests on both", source=(one.id, two.id))
        me.undo(one.seq)
        assert texts(me) == ["evidence two", "rests on both"]

    def test_undo_refuses_what_has_changed_since_unless_told_to_go_ahead(self, me: ScopedMemory) -> None:
        written = me.write("a fact")
        me.revise(written.id, "a better fact")
        with pytest.raises(Conflict, match="changed since"):
            me.undo(written.seq)
        me.undo(written.seq, cascade=True)
        assert texts(me) == []

    def test_undo_of_a_link_unties_it(self, me: ScopedMemory) -> None:
        a, b = me.write("a"), me.write("b")
        tied = me.link(a.id, b.id, "about", weight=0.5)
        assert [link.weight for link in me.links(a.id)] == [0.5]
        me.undo(tied.seq)
        assert me.links(a.id) == []

    def test_there_is_nothing_to_undo_in_another_users_commit(self, memory: Memory, me: ScopedMemory) -> None:
        theirs = memory.scope(user="bob").observe("mine")
        me.observe("something")
        with pytest.raises(NotFound):
            me.undo(theirs.seq)

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


class TestWalls:
    def test_users_never_see_each_other_and_everybody_sees_what_is_shared(
        self, memory: Memory, me: ScopedMemory
    ) -> None:
        bob, common = memory.scope(user="bob"), memory.scope(user=SHARED)
        mine, theirs, ours = me.observe("tea for ada"), bob.observe("tea for bob"), common.observe("tea for all")
        assert texts(me) == ["tea for ada", "tea for all"]
        assert {r.id for r in me.recall("tea").items} == {mine.id, ours.id}
        with pytest.raises(NotFound):
            me.get(theirs.id)
        with pytest.raises(NotFound):
            me.forget(theirs.id)
        assert texts(memory.scope(user="ada", tenant="elsewhere")) == []

    def test_a_shelf_left_out_means_any_on_reads_and_none_on_writes(self, memory: Memory, me: ScopedMemory) -> None:
        cook = memory.scope(user="ada", agent="cook", session="s1")
        cook.observe("on the shelf")
        me.observe("on no shelf")
        assert texts(me) == ["on no shelf", "on the shelf"]
        assert texts(cook) == ["on the shelf"]
        assert texts(me.shelf(agent="other")) == []

    @pytest.mark.parametrize(
        "fields", [{}, {"user": ""}, {"user": "a\x00b"}, {"user": "\ud800"}, {"user": "x" * 300}, {"user": 7}]
    )
    def test_a_user_that_cannot_be_one_is_refused_by_name(self, memory: Memory, fields: dict[str, object]) -> None:
        with pytest.raises(Invalid) as refused:
            memory.scope(**fields)  # type: ignore[arg-type]
        assert refused.value.field == "user"

    def test_a_field_that_a_scope_has_not_is_named(self, memory: Memory) -> None:
        with pytest.raises(Invalid, match="usr: is no field of a scope"):
            memory.scope(user="ada", usr="ada")


class TestBadInput:
    @pytest.mark.parametrize("text", ["", "  \n", "a\x00b", "broken \ud83d", b"bytes", None, 7])
    def test_text_that_cannot_be_kept_is_refused_and_nothing_is_written(self, me: ScopedMemory, text: object) -> None:
        with pytest.raises(Invalid):
            me.observe(["good", text])  # type: ignore[list-item]
        assert me.count() == 0
        me.observe("the next call works")
        assert me.count() == 1

    def test_an_input_over_the_limit_names_it(self, me: ScopedMemory) -> None:
        with pytest.raises(TooLarge, match="10,485,760"):
            me.observe("x" * (10 * 1024 * 1024 + 1))

    def test_ten_megabytes_are_kept_whole_in_parts(self, memory: Memory, me: ScopedMemory) -> None:
        paragraph = "The lighthouse keeper wrote down the weather. " * 20 + "\n\n"
        text = paragraph * (1024 * 1024 // len(paragraph)) + "The last words are xylophone quartz."
        me.observe(text)
        chunks = [v.item for v in me.list(where=Filter(kinds=(Kind.CHUNK,)), limit=1000)]
        assert "".join(c.text for c in sorted(chunks, key=lambda c: c.pos)) == text
        assert max(len(c.text.encode()) for c in chunks) <= 32 * 1024
        assert "xylophone" in me.recall("xylophone quartz").items[0].text

    @pytest.mark.parametrize(("given", "kept"), [({}, "Orla Brin"), ({"title": "Diary"}, "Diary")])
    def test_chunks_of_a_document_without_a_title_are_titled_by_what_it_is_about(
        self, me: ScopedMemory, given: dict[str, str], kept: str
    ) -> None:
        text = "Orla Brin (born 1950) is a painter. " + "She walked along the river. " * 2000
        me.observe(Message(text=text, key="long", kind=Kind.DOCUMENT, slots=dict(given)))
        chunks = [v.item for v in me.list(where=Filter(kinds=(Kind.CHUNK,)))]
        assert len(chunks) > 1
        assert {chunk.slots.get("title") for chunk in chunks} == {kept}

    @pytest.mark.parametrize("when", ["0000-01-01", "10000-01-01", "someday maybe", ""])
    def test_a_moment_that_cannot_be_read_is_refused(self, me: ScopedMemory, when: str) -> None:
        with pytest.raises(Invalid):
            me.as_of(when)

    def test_the_first_and_the_last_year_are_taken(self, me: ScopedMemory) -> None:
        me.observe("long ago", said=day("0001-01-02"))
        me.observe("far ahead", said=day("9999-12-30"))
        assert texts(me.as_of(day("0001-01-03"))) == ["long ago"]

    @pytest.mark.parametrize(
        "slots", [{"a": object()}, {"a": float("nan")}, {"a": "\ud800"}, {"a": "b\x00"}, {1: "a"}, {"a": "x" * 40_000}]
    )
    def test_slots_that_are_not_json_are_refused(self, me: ScopedMemory, slots: dict[str, object]) -> None:
        with pytest.raises(Invalid, match="slots"):
            me.observe("text", slots=slots)  # type: ignore[arg-type]

    def test_ids_and_numbers_out_of_range_are_refused_by_name(self, me: ScopedMemory) -> None:
        me.observe("something")
        with pytest.raises(Invalid, match="id"):
            me.get("not an id")  # type: ignore[arg-type]
        for bad in (0, -1, 201):
            with pytest.raises(Invalid, match="k: "):
                me.recall("x", k=bad)
        with pytest.raises(Invalid, match="budget"):
            me.recall("x", budget=0)
        with pytest.raises(Invalid):
            me.write("x", valid_from=day("2025-01-02"), valid_to=day("2025-01-01"))
        with pytest.raises(Invalid, match="colour"):
            me.write("x", colour="red")
        with pytest.raises(Invalid, match="evidence"):
            me.write("x", kind=Kind.TURN)

    def test_one_callers_bad_value_is_refused_at_the_door(self, memory: Memory) -> None:
        with pytest.raises(Invalid, match="actor"):
            memory.scope(user="ada", actor="\ud800")

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
            lambda me: me.write("x", said="some day"),
            lambda me: me.write("x", valid_from="some day"),
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

    def test_a_path_that_was_mistyped_makes_no_folders(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError):
            Memory(tmp_path / "no" / "such" / "memory.db")
        assert not (tmp_path / "no").exists()

    @pytest.mark.parametrize("where", ["http://x/y", "a\0b", 123])
    def test_what_names_no_store_is_refused(self, where: object) -> None:
        with pytest.raises(Invalid):
            Memory(where)  # type: ignore[arg-type]


class TestMessages:
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


class TestKeys:
    def test_the_same_key_with_the_same_content_gives_the_first_receipt(self, me: ScopedMemory) -> None:
        first = me.observe(["one", "two"], key="k")
        again = me.observe(["one", "two"], key="k")
        assert (again.seq, again.ids, again.repeated) == (first.seq, first.ids, 2)
        assert me.count() == 2

    def test_the_same_key_with_other_content_is_a_conflict_and_writes_nothing(self, me: ScopedMemory) -> None:
        me.observe("one", key="k")
        with pytest.raises(Conflict):
            me.observe("two", key="k")
        assert texts(me) == ["one"]

    def test_a_batch_that_landed_in_part_is_completed(self, me: ScopedMemory) -> None:
        first = me.observe(Message(text="one", key="a"))
        both = me.observe([Message(text="one", key="a"), Message(text="two", key="b")])
        assert both.repeated == 1
        assert both.ids[0] == first.id
        assert texts(me) == ["one", "two"]

    def test_a_long_text_under_a_key_is_kept_once(self, me: ScopedMemory) -> None:
        text = "words and more words. " * 3000
        first, again = me.observe(text, key="long"), me.observe(text, key="long")
        assert again.ids == first.ids
        assert again.seq == first.seq

    def test_the_same_key_with_other_times_is_a_conflict(self, me: ScopedMemory) -> None:
        me.write("x", key="k", valid_from=day("2025-01-01"))
        with pytest.raises(Conflict):
            me.write("x", key="k", valid_from=day("2025-02-01"))


class TestStatements:
    def test_evidence_is_never_revised(self, me: ScopedMemory) -> None:
        turn = me.observe("said is said")
        with pytest.raises(Invalid, match="evidence"):
            me.revise(turn.id, "said otherwise")

    def test_a_revision_keeps_its_history_and_is_found_by_its_new_words_only(self, me: ScopedMemory) -> None:
        fact = me.write("the cat is called Miso")
        me.revise(fact.id, "the cat is called Tofu")
        assert [v.item.text for v in me.history(fact.id)] == ["the cat is called Miso", "the cat is called Tofu"]
        assert me.recall("Tofu").items[0].text == "the cat is called Tofu"
        assert all("Miso" not in item.text for item in me.recall("Miso").items)

    def test_history_tells_the_whole_chain_of_supersession(self, me: ScopedMemory) -> None:
        first = me.write("one", said=day("2025-01-01"))
        second = me.supersede(first.id, "two", said=day("2025-02-01"))
        third = me.supersede(second.id, "three", said=day("2025-03-01"))
        for item in (first.id, second.id, third.id):
            assert {v.item.text for v in me.history(item)} == {"one", "two", "three"}
        assert me.history(first.id)[-1].item.state is not State.ACTIVE or texts(me) == ["three"]

    def test_a_source_that_is_not_here_is_refused(self, memory: Memory, me: ScopedMemory) -> None:
        theirs = memory.scope(user="bob").observe("bob said so")
        me.observe("something")
        with pytest.raises(NotFound, match="source"):
            me.write("a claim", source=theirs.ids)

    def test_pins_and_feedback_are_kept_and_pinning_twice_is_no_change(self, me: ScopedMemory) -> None:
        fact = me.write("keep me")
        pinned = me.pin(fact.id)
        assert me.get(fact.id).item.pinned
        assert me.pin(fact.id).seq == pinned.seq
        me.feedback(fact.id, useful=True)
        me.feedback(fact.id, useful=False)
        assert (me.strength(fact.id).useful, me.strength(fact.id).harms) == (1, 1)

    def test_diff_shows_what_two_commits_differ_in(self, me: ScopedMemory) -> None:
        first = me.write("one")
        second = me.revise(first.id, "two")
        (difference,) = me.diff(first.seq, second.seq)
        assert difference.before is not None
        assert difference.after is not None
        assert (difference.before.text, difference.after.text) == ("one", "two")
        assert me.diff(second.seq, second.seq) == []

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

    def test_a_kind_may_be_named(self, me: ScopedMemory) -> None:
        assert me.get(me.write("x", kind="plan").id).item.kind is Kind.PLAN

    def test_an_unlinked_link_that_never_was_is_not_found(self, me: ScopedMemory) -> None:
        a, b = me.write("a"), me.write("b")
        with pytest.raises(NotFound, match="no link"):
            me.unlink(a.id, b.id, "about")


def test_secrets_are_masked_before_the_journal_and_the_receipt_says_so(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db") as memory:
        me = memory.scope(user="ada")
        receipt = me.observe("my key is sk-ant-abcdefghijklmnopqrstuvwxyz0123 and my card 4111 1111 1111 1111, thanks")
        assert dict(receipt.masked) == {"api key": 1, "card number": 1}
        written = b"".join(p.read_bytes() for p in tmp_path.iterdir())
        assert b"4111 1111" not in written
        assert b"41111111" not in written
        assert "[masked api key]" in me.get(receipt.id).item.text
        assert me.observe("call +49 30 1234567, order 1234567890123").masked == ()
    with Memory("memory:", settings=Settings(mask_secrets=False)) as memory:
        memory.scope(user="ada").observe("4111 1111 1111 1111")
        assert "4111" in memory.scope(user="ada").list()[0].item.text


def test_a_secret_is_masked_in_slots_too(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db") as memory:
        receipt = memory.scope(user="ada").observe("look", slots={"caption": "card 4111 1111 1111 1111"}, key="k")
        assert dict(receipt.masked) == {"card number": 1}
        assert b"4111 1111" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def test_imports_carry_their_channel(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db") as memory:
        me = memory.scope(user="ada")
        receipt = me.observe("imported", channel=Channel.IMPORT)
        assert me.get(receipt.id).item.channel is Channel.IMPORT


def test_use_is_counted_behind_the_caller_and_not_in_the_past(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", settings=Settings(use_flush_seconds=3600)) as memory:
        me = memory.scope(user="ada")
        tea = me.observe("I like tea")
        for _ in range(3):
            me.recall("tea")
        me.as_of("2999-01-01").recall("tea")
        assert me.strength(tea.id).uses == 0
    with Memory(tmp_path / "memory.db") as memory:
        assert memory.scope(user="ada").strength(tea.id).uses == 3


def test_counts_are_written_behind_while_nobody_does_anything(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", settings=Settings(use_flush_seconds=0.1)) as memory:
        me = memory.scope(user="ada")
        tea = me.observe("I like tea")
        for _ in range(2):
            me.recall("tea")
        eventually(lambda: me.strength(tea.id).uses == 2, "the counts")

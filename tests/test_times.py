"""Times that a caller gives: datetimes or ISO strings; those without a zone are in the setting `timezone`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from mnemic import Memory, Settings
from mnemic.core.items import Item
from mnemic.core.queries import Filter
from mnemic.errors import Invalid
from mnemic.ingest.message import Message
from mnemic.memory import ScopedMemory
from mnemic.verbs.statements import Statement
from mnemic.verbs.transacting import Transaction


@pytest.fixture
def me() -> Iterator[ScopedMemory]:
    """A memory whose dates are Lisbon's: an hour east of UTC in summer."""
    with Memory("memory:", settings=Settings(timezone="Europe/Lisbon"), strategies=[]) as memory:
        yield memory.scope(user="ada")


def newest(me: ScopedMemory) -> Item:
    return me.list(limit=1)[0].item


FORMS = {
    "2025-07-02T18:30:00+00:00": datetime(2025, 7, 2, 18, 30, tzinfo=UTC),
    "2025-07-02T18:30Z": datetime(2025, 7, 2, 18, 30, tzinfo=UTC),
    "2025-07-02 18:30+02:00": datetime(2025, 7, 2, 16, 30, tzinfo=UTC),
    "2025-07-02T18:30": datetime(2025, 7, 2, 17, 30, tzinfo=UTC),
    "2025-07-02": datetime(2025, 7, 1, 23, tzinfo=UTC),
    "2025-01-02": datetime(2025, 1, 2, tzinfo=UTC),
    datetime(2025, 7, 2, 18, 30): datetime(2025, 7, 2, 17, 30, tzinfo=UTC),
    datetime(2025, 7, 2, 18, 30, tzinfo=UTC): datetime(2025, 7, 2, 18, 30, tzinfo=UTC),
}


def _in_a_session(me: ScopedMemory, when: Any) -> None:
    with me.session("chat") as session:
        session.observe("I saw a fox.", said=when)


def _in_a_transaction(me: ScopedMemory, when: Any) -> None:
    me.transact(Filter(), lambda versions: Transaction(write=[Statement(text="Ada saw a fox.", said=when)], answer=0))


SAID: dict[str, Callable[[ScopedMemory, Any], object]] = {
    "observe": lambda me, when: me.observe("I saw a fox.", said=when),
    "a message": lambda me, when: me.observe(Message(text="I saw a fox.", key="", said=when)),
    "a chat message": lambda me, when: me.observe({"role": "user", "content": "I saw a fox.", "time": when}),
    "its timestamp": lambda me, when: me.observe([{"role": "user", "content": "A fox.", "timestamp": when}]),
    "write": lambda me, when: me.write("Ada saw a fox.", said=when),
    "a statement": lambda me, when: me.write(Statement(text="Ada saw a fox.", said=when)),
    "a session": _in_a_session,
    "a transaction": _in_a_transaction,
}


@pytest.mark.parametrize("way", SAID)
@pytest.mark.parametrize("given", FORMS, ids=str)
def test_when_it_was_said_may_be_a_datetime_or_an_iso_string(me: ScopedMemory, way: str, given: Any) -> None:
    SAID[way](me, given)
    assert newest(me).said == FORMS[given]


@pytest.mark.parametrize(
    "given", ["last summer", "", "2025-13-01", "2025", "\ud800", "9" * 500, object(), b"2025-01-01"]
)
@pytest.mark.parametrize("way", SAID)
def test_what_is_no_time_is_refused_with_its_field_and_a_remedy(me: ScopedMemory, way: str, given: Any) -> None:
    with pytest.raises(Invalid) as refused:
        SAID[way](me, given)
    assert refused.value.field.rpartition(".")[2] in ("said", "time", "timestamp")
    assert "2026-03-01T18:30+01:00" in refused.value.remedy
    assert me.count() == 0


def test_a_time_of_day_in_a_string_keeps_its_own_offset(me: ScopedMemory) -> None:
    me.observe("I saw a fox.", said="2025-07-02T18:30+02:00")
    assert newest(me).said_offset == 120
    me.observe("I saw two.", said="2025-07-02T18:30")
    assert newest(me).said_offset == 60


def test_a_chat_message_s_own_time_comes_before_the_time_of_all(me: ScopedMemory) -> None:
    me.observe([{"content": "One.", "time": "2025-01-02"}, {"content": "Two."}], said="2025-01-03")
    assert [v.item.said.day for v in me.list()] == [3, 2]


@pytest.mark.parametrize("name", ["time", "timestamp", "ts", "created_at"])
@pytest.mark.parametrize("given", [1_735_776_000, 1_735_776_000.0, 1_735_776_000_000])
def test_a_chat_message_may_count_seconds_or_milliseconds(me: ScopedMemory, name: str, given: float) -> None:
    me.observe({"role": "user", "content": "I saw a fox.", name: given})
    assert newest(me).said == datetime(2025, 1, 2, tzinfo=UTC)
    assert name not in newest(me).slots


def test_a_retry_with_the_same_time_in_other_words_writes_nothing(me: ScopedMemory) -> None:
    first = me.observe("I saw a fox.", said="2025-07-02T18:30", key="a")
    again = me.observe("I saw a fox.", said=datetime(2025, 7, 2, 17, 30, tzinfo=UTC), key="a")
    assert (again.ids, again.repeated) == (first.ids, 1)


def test_validity_and_expiry_take_strings_without_a_zone(me: ScopedMemory) -> None:
    fact = me.write("Ada lives in Paris.", valid_from="2024-07-01", valid_to="2024-08-01T10:00", expires="2999-07-01")
    item = me.get(fact.ids[0]).item
    assert item.valid_from == datetime(2024, 6, 30, 23, tzinfo=UTC)
    assert item.valid_to == datetime(2024, 8, 1, 9, tzinfo=UTC)
    assert item.expires == datetime(2999, 6, 30, 23, tzinfo=UTC)
    me.revise(fact.ids[0], valid_to="2024-09-01", expires=datetime(2999, 1, 1))
    revised = me.get(fact.ids[0]).item
    assert revised.valid_to == datetime(2024, 8, 31, 23, tzinfo=UTC)
    assert revised.expires == datetime(2999, 1, 1, tzinfo=UTC)
    moved = me.supersede(fact.ids[0], "Ada lives in Rome.", valid_from="2024-08-15")
    assert me.get(moved.ids[0]).item.valid_from == datetime(2024, 8, 14, 23, tzinfo=UTC)
    me.observe("The code is 1234.", expires="2999-01-01")
    assert newest(me).expires == datetime(2999, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("now", ["2025-03-02T00:30", "2025-03-02T00:30+00:00", datetime(2025, 3, 2, 0, 30)])
def test_a_question_is_asked_at_a_moment_in_a_string(me: ScopedMemory, now: Any) -> None:
    me.observe("I bought a kite.", said="2025-03-01T12:00")
    me.observe("I bought a lamp.", said="2025-01-10T12:00")
    assert me.recall("what did I buy yesterday?", now=now).items[0].text == "I bought a kite."
    assert me.context("what did I buy yesterday?", now=now).items
    me.ask("what did I buy yesterday?", now=now)
    me.why_not("what did I buy yesterday?", newest(me).id, now=now)
    with me.session("chat") as session:
        session.context("what did I buy yesterday?", now=now)


@pytest.mark.parametrize("given", ["0001-01-01T00:00", "9999-12-31T23:59:59-14:00", datetime.min])
def test_the_ends_of_time_are_refused_and_not_overflown(given: Any) -> None:
    with (
        Memory("memory:", settings=Settings(timezone="Asia/Tokyo"), strategies=[]) as memory,
        pytest.raises(Invalid, match="leaves years 1-9999"),
    ):
        memory.scope(user="ada").observe("Long ago.", said=given)

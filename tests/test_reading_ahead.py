"""What rules make of turns that no run has read: worked out as turns come, and dropped when it no longer holds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemic import Memory, Settings
from mnemic.core.ids import ItemId
from mnemic.core.items import State
from mnemic.derive import unread
from mnemic.derive.unread import UnreadRules
from mnemic.errors import MnemicError
from mnemic.flow import Flow
from mnemic.memory import ScopedMemory
from mnemic.strategies.base import Edits, Given
from mnemic.strategies.house import House
from mnemic.verbs.who import own_or_none

QUIET = Settings(background=False)
MAY = datetime(2024, 5, 1, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "m.db", settings=QUIET, embedder="none") as memory:
        yield memory


@pytest.fixture
def me(memory: Memory) -> ScopedMemory:
    return memory.scope(user="ada")


@pytest.fixture
def turns_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many turns each call of the rules was given."""
    read: list[int] = []
    on_write = House.on_write

    def counted(self: House, given: Given) -> Flow[Edits]:
        read.append(len(given.evidence))
        return on_write(self, given)

    monkeypatch.setattr(House, "on_write", counted)
    return read


def always(me: ScopedMemory) -> list[tuple[str, str]]:
    return [(item.id, item.text) for item in me.context("dinner", budget=20_000).always]


def held(memory: Memory) -> str:
    """All text that the cache of derivations holds."""
    return repr(memory._opened.kernel.unread._cached)


def assert_as_from_nothing(me: ScopedMemory) -> None:
    """Hold what the cache came to, turn by turn, against what a reader without one works out."""
    kernel = me._opened.kernel
    with me._opened.store.read() as snapshot:
        (head,) = snapshot.spaces(own_or_none(snapshot, me._who))
        cached, fresh = (rules.read(snapshot, kernel.desk, head) for rules in (kernel.unread, UnreadRules()))
    assert cached == fresh
    stands = [
        [id for id, item in underived.items.items() if item.state is State.ACTIVE] for underived in (cached, fresh)
    ]
    assert stands[0] == stands[1]


def test_rules_read_each_turn_once_however_many_questions_are_asked(me: ScopedMemory, turns_read: list[int]) -> None:
    for n in range(40):
        me.observe([f"I like cake{n}.", "The weather is fine."])
        me.context("cake")
        me.ask("What do I like?")
    assert sum(turns_read) == 80
    assert len(always(me)) == 40


def test_a_session_reads_each_turn_once_too(memory: Memory, turns_read: list[int]) -> None:
    with memory.session("chat", user="ada", budget=1_000) as session:
        for n in range(40):
            session.observe(f"I like cake{n}.")
            session.context("cake")
    assert sum(turns_read) == 40


def test_a_turn_of_an_earlier_time_is_read_after_what_was_written_before(
    me: ScopedMemory, turns_read: list[int]
) -> None:
    me.observe("I live in Lisbon.", said=MAY)
    me.context("home")
    me.observe("I live in Porto.", said=MAY - timedelta(days=1))
    assert "Lisbon" in me.context("home").text
    assert turns_read == [1, 1]
    assert [text for _, text in always(me)] == ["The user lives in Lisbon."]


def test_what_another_handle_erases_is_dropped_at_the_next_read(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with (
        Memory(path, settings=QUIET, embedder="none") as memory,
        Memory(path, settings=QUIET, embedder="none") as other,
    ):
        me = memory.scope(user="ada")
        turn, _ = me.observe(["I live in Ulaanbaatar.", "I like tea."]).ids
        me.context("home")
        assert "Ulaanbaatar" in held(memory)
        other.scope(user="ada").erase(turn)
        assert "Ulaanbaatar" not in me.context("home").text
        assert "Ulaanbaatar" not in held(memory)
        assert [text for _, text in always(me)] == ["The user likes tea."]


@pytest.mark.parametrize("tenant", ["default", "elsewhere"])
def test_what_another_handle_erases_of_a_user_goes_when_anybody_reads(tmp_path: Path, tenant: str) -> None:
    path = tmp_path / "m.db"
    with (
        Memory(path, settings=QUIET, embedder="none") as memory,
        Memory(path, settings=QUIET, embedder="none") as other,
    ):
        memory.scope(user="bo", tenant=tenant).observe("I live in Ulaanbaatar.")
        memory.scope(user="bo", tenant=tenant).context("home")
        memory.scope(user="ada").observe("I live in Lisbon.")
        memory.scope(user="ada").context("home")
        assert "Ulaanbaatar" in held(memory)
        other.scope(user="bo", tenant=tenant).erase_user()
        memory.scope(user="ada").context("home")
        assert "Ulaanbaatar" not in held(memory)
        assert "Lisbon" in held(memory)


def test_what_was_forgotten_and_compacted_between_two_questions_is_gone(memory: Memory, me: ScopedMemory) -> None:
    turn, _ = me.observe(["I live in Lisbon.", "I like tea."]).ids
    me.context("home")
    me.forget(turn)
    memory.admin.compact(me.log(limit=1)[0].seq)
    assert_as_from_nothing(me)
    assert "Lisbon" not in held(memory)


def test_a_turn_that_is_there_again_is_read_in_its_new_place(memory: Memory, me: ScopedMemory) -> None:
    lisbon = me.observe("I live in Lisbon.", said=MAY).id
    me.pin(lisbon)
    me.observe("I live in Porto.", said=MAY)
    assert_as_from_nothing(me)
    me.unpin(lisbon)
    assert_as_from_nothing(me)


def test_what_is_kept_is_bounded_in_users_and_in_bytes(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unread, "SPACES", 8)
    for n in range(20):
        memory.scope(user=f"user{n}").observe(f"I live in Town{n}.")
        memory.scope(user=f"user{n}").context("home")
    cache = memory._opened.kernel.unread
    assert 1 <= len(cache._cached) <= 8
    monkeypatch.setattr(unread, "BYTES", 20_000)
    for n in range(8):
        memory.scope(user=f"more{n}").observe([f"I like cake{i}." for i in range(9)])
        memory.scope(user=f"more{n}").context("home")
    assert len(cache._cached) == 1


def _said(draw: random.Random) -> str:
    place, thing = draw.choice(("Lisbon", "Porto", "Faro")), draw.choice(("tea", "cake", "jazz", "rain"))
    forms = (
        f"I live in {place}.",
        f"I like {thing}.",
        f"I hate {thing}.",
        f"Never mention {thing}.",
        f"You no longer need to mention {thing}.",
        f"Always answer in {draw.choice(('French', 'Czech'))}.",
        f"Call me {draw.choice(('Al', 'Bea'))}.",
        f"Stop recommending {thing} to me.",
        "The weather is fine.",
    )
    return draw.choice(forms)


def _act(me: ScopedMemory, memory: Memory, draw: random.Random, ids: list[ItemId], day: int) -> None:
    what = draw.choices(
        ("observe", "write", "undo", "forget", "erase", "pin", "unpin", "flush", "feedback", "branch"),
        (12, 1, 2, 2, 1, 1, 1, 1, 1, 1),
    )[0]
    some = draw.choice(ids) if ids else None
    match what:
        case "observe":
            said = MAY + timedelta(days=day // 4 if draw.random() < 0.8 else draw.randrange(60))
            ids += me.observe([_said(draw) for _ in range(draw.randrange(1, 4))], said=said).ids
        case "write":
            slots = {"slot": "city", "value": "Lisbon", "subject": "user"}
            ids += me.write("ada lives in Lisbon.", kind="profile", slots=slots).ids
        case "undo":
            me.undo(draw.choice(me.log(limit=6)).seq, cascade=draw.random() < 0.7)
        case "forget" if some:
            me.forget(some)
        case "erase" if some:
            me.erase(some)
        case "pin" if some:
            me.pin(some)
        case "unpin" if some:
            me.unpin(some)
        case "feedback" if some:
            me.feedback(some, useful=True)
        case "flush":
            memory.flush()
        case "branch":
            me.branch("try").observe(_said(draw))


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(8, 25))])
def test_what_is_worked_out_as_turns_come_equals_what_is_worked_out_from_nothing(seed: int) -> None:
    draw = random.Random(f"ahead:{seed}")
    with Memory("memory:", settings=QUIET, embedder="none") as memory:
        ada = memory.scope(user="ada")
        ids: list[ItemId] = list(ada.observe("I live in Lisbon.", said=MAY).ids)
        for day in range(40):
            me = ada.on_branch("try") if draw.random() < 0.2 and ada.branches() else ada
            try:
                _act(me, memory, draw, ids, day)
            except MnemicError:
                continue
            seen = [item.id for item in ada.context("x").always]
            ids += [item for item in seen if item not in ids]
            for asked in (ada, me):
                asked.context("what do I like?")
                assert_as_from_nothing(asked)

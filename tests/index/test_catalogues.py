from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from mnemic.core.clock import FOREVER, micros
from mnemic.core.events import Verb
from mnemic.core.items import Kind, State
from mnemic.core.queries import Entry, Filter, View
from mnemic.core.tokens import hash_term
from mnemic.index.catalogues import Catalogues
from mnemic.index.columns import Column, EntryColumns
from mnemic.index.reading import KEPT_TOKENS, Reading
from mnemic.memory import Memory
from mnemic.settings import Settings
from mnemic.store.engine import rewinding
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.store.values.drafts import Erasure


def holders(reading: Reading, word: str) -> set[int]:
    """The versions that hold a word, as the reading sees them."""
    return set(reading.values(Column.VER, reading.find(hash_term(word))[0]).tolist())


def vers(reading: Reading) -> set[int]:
    return set(reading.values(Column.VER, np.arange(reading.size)).tolist())


def neighbours(reading: Reading, place: int) -> NDArray[np.intp]:
    """The other places within two turns of a place."""
    near = reading.neighbours(np.array([place]))
    return np.setdiff1d(near, [place])


def test_what_was_just_written_is_found(world: Any) -> None:
    for n in range(3):
        world.say(f"apple {n}")
        (reading,) = world.readings()
        assert len(holders(reading, "appl")) == n + 1


def test_a_list_of_words_stands_where_any_of_its_words_does_before_and_after_more_was_said(world: Any) -> None:
    words = tuple(map(hash_term, ("word2", "word9", "nowhere")))
    for n in range(700):
        world.say(f"word{n % 7} and word{n % 11}")
        if n in (3, 40, 600, 699):
            (reading,) = world.readings()
            each: set[int] = set().union(*(reading.find(word)[0].tolist() for word in words))
            assert each
            assert set(np.flatnonzero(reading.holding_any(words)).tolist()) == each


def test_a_list_of_words_stands_where_it_did_in_the_past_and_only_where_it_is_seen(world: Any) -> None:
    words = tuple(map(hash_term, ("word2", "word9")))
    for n in range(60):
        world.say(f"word{n % 7} and word{n % 11}", session=f"s{n % 3}", pos=n)
    (now,) = world.readings()
    held = now.holding_any(words)
    (then,) = world.readings(view=View(at=20))
    assert 0 < then.size < now.size
    each: set[int] = set().union(*(then.find(word)[0].tolist() for word in words))
    assert set(np.flatnonzero(then.holding_any(words)).tolist()) == each
    assert held.sum() > len(each)


def test_a_word_that_was_looked_up_is_kept_and_no_more_of_them_than_allowed(world: Any) -> None:
    for n in range(KEPT_TOKENS + 10):
        world.say(f"word{n} again")
    (reading,) = world.readings()
    first = reading.find(hash_term("word0"))
    assert reading.find(hash_term("word0")) is first
    sizes = []
    for n in range(KEPT_TOKENS + 10):
        assert reading.find(hash_term(f"word{n}"))[1].tolist() == [1.0]
        sizes.append(reading.nbytes)
    assert max(sizes) - min(sizes) <= KEPT_TOKENS * 12
    assert reading.find(hash_term("word0"))[0].tolist() == first[0].tolist()


def test_a_catalogue_that_followed_equals_one_built_at_once(world: Any) -> None:
    for n in range(700):
        world.say(f"word{n % 7} and word{n % 11}", session=f"s{n % 3}", pos=n)
        if n % 100 == 0:
            world.readings()
    (followed,) = world.readings()
    world.catalogues.clear()
    (built,) = world.readings()
    for word in ("word1", "word6", "word10"):
        assert holders(followed, word) == holders(built, word)
    assert followed.rows.tolist() == built.rows.tolist()
    assert followed.window.tolist() == built.window.tolist()


def test_a_forgotten_item_leaves_the_reading_and_its_statistics(world: Any) -> None:
    gone = world.say("apple pie")
    world.say("apple tree")
    world.readings()
    world.change(gone, Verb.RETIRED, state=State.RETIRED)
    (reading,) = world.readings()
    assert reading.size == 1
    assert len(holders(reading, "appl")) == 1


def test_an_erasure_starts_the_catalogue_over(world: Any) -> None:
    gone = world.say("apple pie")
    world.say("apple tree")
    world.readings()
    world.store.erase(Erasure(tenant="t", user="ada", ids=(gone.id,)))
    (reading,) = world.readings()
    assert vers(reading) == holders(reading, "appl")
    assert reading.size == 1
    assert not len(reading.find(hash_term("pie"))[0])


def test_a_past_reader_sees_nothing_newer(world: Any) -> None:
    first = world.say("apple pie")
    seq = world.change(first, Verb.RETIRED, state=State.RETIRED)
    world.say("apple tree")
    world.readings()
    (reading,) = world.readings(view=View(at=seq - 1))
    assert len(holders(reading, "appl")) == 1
    (reading,) = world.readings(view=View(at=seq))
    assert reading.size == 0


def test_an_older_snapshot_is_served_by_a_catalogue_that_is_ahead(world: Any) -> None:
    world.say("apple pie")
    with world.store.read() as snapshot:
        head = snapshot.spaces(world.query(snapshot, "").spaces)[0]
    world.say("apple tree")
    world.readings()
    with world.store.read() as snapshot:
        behind = Behind(snapshot, replace(head))
        (reading,) = world.catalogues.readings(behind, (head.id,), View(), Filter())
    assert reading.size == 1


class Behind:
    """A snapshot whose space stands at an earlier head."""

    def __init__(self, snapshot: Any, head: Any) -> None:
        self._snapshot, self._head = snapshot, head

    def read_set(self, spaces: object, view: View) -> list[Any]:
        return [(self._head, view, ())]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._snapshot, name)


def test_a_reading_does_not_change_when_the_catalogue_grows(world: Any) -> None:
    world.say("apple pie")
    (before,) = world.readings()
    for n in range(600):
        world.say(f"apple {n}")
    world.readings()
    assert before.size == 1
    assert len(before.find(hash_term("appl"))[0]) == 1


def test_neighbours_are_turns_of_one_session_in_their_order(world: Any) -> None:
    for pos, session in ((2, "a"), (0, "a"), (0, "b"), (1, "a"), (1, "b")):
        world.say(f"{session}{pos}", session=session, pos=pos)
    (reading,) = world.readings()
    place = int(reading.find(hash_term("a1"))[0][0])
    beside = neighbours(reading, place)
    assert [bool(reading.holds(hash_term(word), beside).any()) for word in ("a0", "a2", "b0", "b1")] == [1, 1, 0, 0]


def test_items_of_no_session_are_neighbours_within_an_hour(world: Any) -> None:
    for minutes in (0, 30, 120):
        world.say(f"at{minutes}", day=minutes / 1440)
    (reading,) = world.readings()
    (place,) = reading.find(hash_term("at30"))[0].tolist()
    assert len(neighbours(reading, place)) == 1


def test_documents_taken_in_together_are_no_neighbours_but_the_chunks_of_one_are(world: Any) -> None:
    for text, kind in (("alpha", Kind.DOCUMENT), ("beta", Kind.DOCUMENT), ("gamma", Kind.CHUNK), ("delta", Kind.CHUNK)):
        world.say(text, kind=kind)
    (reading,) = world.readings()
    (alpha,) = reading.find(hash_term("alpha"))[0].tolist()
    (gamma,) = reading.find(hash_term("gamma"))[0].tolist()
    assert len(neighbours(reading, alpha)) == 0
    assert len(neighbours(reading, gamma)) == 2


def test_a_neighbour_that_cannot_be_seen_stands_aside(world: Any) -> None:
    world.say("first", session="a")
    gone = world.say("second", session="a")
    world.say("third", session="a")
    world.say("fourth", session="a")
    world.change(gone, Verb.RETIRED, state=State.RETIRED)
    (reading,) = world.readings()
    (place,) = reading.find(hash_term("first"))[0].tolist()
    assert len(neighbours(reading, place)) == 2


@pytest.mark.parametrize(
    ("where", "seen"),
    [
        (Filter(kinds=(Kind.FACT,)), {"fact"}),
        (Filter(kinds=(Kind.FACT, Kind.TURN)), {"fact", "desk", "sign", "late"}),
        (Filter(session="s"), {"desk"}),
        (Filter(agent="a"), {"desk"}),
        (Filter(session="nobody"), set()),
        (Filter(agent="nobody"), set()),
        (Filter(tags=("t",)), {"sign"}),
        (Filter(tags=("none",)), set()),
        (Filter(states=(State.RETIRED,)), {"gone"}),
    ],
)
def test_filters_choose_what_is_read(world: Any, where: Filter, seen: set[str]) -> None:
    fill(world)
    (reading,) = world.readings(where=where)
    assert {word for word in WORDS if holders(reading, word)} == seen


@pytest.mark.parametrize(
    ("days", "seen"), [((0, 9), {"fact", "desk", "sign"}), ((10, 11), {"late"}), ((11, 12), set())]
)
def test_a_filter_by_time_is_half_open(world: Any, days: tuple[int, int], seen: set[str]) -> None:
    fill(world)
    start = micros(world.items[0].said)
    day = 86_400_000_000
    (reading,) = world.readings(where=Filter(said_from=start + days[0] * day, said_to=start + days[1] * day))
    assert {word for word in WORDS if holders(reading, word)} == seen


WORDS = ("fact", "desk", "sign", "late", "gone")


def fill(world: Any) -> None:
    world.say("fact", kind=Kind.FACT)
    world.say("desk", session="s", agent="a")
    world.say("sign", tags=("t",))
    world.say("late", day=10)
    gone = world.say("gone")
    world.change(gone, Verb.RETIRED, state=State.RETIRED)


def test_what_was_known_and_what_held_include_the_superseded(world: Any) -> None:
    old = world.say("lives in paris")
    later = old.said + timedelta(days=9)
    world.change(old, Verb.SUPERSEDED, state=State.SUPERSEDED, known_to=later, valid_to=later)
    before, after = micros(later) - 1, micros(later)
    assert [r.size for r in world.readings()] == [0]
    assert [r.size for r in world.readings(view=View(as_of=before))] == [1]
    assert [r.size for r in world.readings(view=View(as_of=after))] == [0]
    assert [r.size for r in world.readings(view=View(valid_at=before))] == [1]
    assert [r.size for r in world.readings(view=View(valid_at=after))] == [0]


def test_a_small_limit_keeps_only_the_catalogue_in_use(world: Any) -> None:
    world.catalogues = Catalogues(1)
    for user in ("ada", "bob"):
        world.say("apple", user=user)
        assert [r.size for r in world.readings(users=(user,))] == [1]
    one = world.catalogues.nbytes
    world.readings(users=("ada",))
    assert 0 < world.catalogues.nbytes <= one
    world.catalogues.clear()
    assert world.catalogues.nbytes == 0


def test_many_threads_may_read_while_one_writes(world: Any) -> None:
    world.say("apple 0")
    stop = threading.Event()
    seen: list[tuple[int, int]] = []

    def read() -> None:
        while not stop.is_set():
            (reading,) = world.readings()
            seen.append((len(reading.find(hash_term("appl"))[0]), reading.size))

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for n in range(60):
        world.say(f"apple {n}", session=f"s{n % 2}")
    stop.set()
    for thread in threads:
        thread.join()
    assert all(found == size for found, size in seen)


def entry(ver: int, session: int, pos: int) -> Entry:
    return Entry(
        ver, 0, ver, FOREVER, 1, 0, pos * 10, FOREVER, 0, FOREVER, 0, session, pos, 0, 0, 0, 0, b"\0" * 8 * pos
    )


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), min_size=1, max_size=50), st.integers(1, 50))
def test_rows_lie_by_session_and_place_however_they_came(drawn: list[tuple[int, int]], batch: int) -> None:
    entries = [entry(ver, session, pos) for ver, (session, pos) in enumerate(drawn, start=1)]
    columns = EntryColumns()
    for first in range(0, len(entries), batch):
        columns.add(entries[first : first + batch])
    expected = sorted(range(len(entries)), key=lambda i: (entries[i].session, entries[i].pos, i))
    assert columns.layout().rows.tolist() == expected
    assert columns.layout().lengths.tolist() == [entries[i].pos for i in expected]


def test_a_reader_from_before_a_rewind_brings_nothing_into_the_catalogue_of_those_after(tmp_path: Path) -> None:
    store, catalogues = SqliteStore(tmp_path / "memory.db"), Catalogues(1 << 26)

    def read(snapshot: Snapshot) -> set[int]:
        (reading,) = catalogues.readings(snapshot, (1,), View(), Filter())
        return vers(reading)

    with Memory(store, settings=Settings(background=False), embedder="none") as memory:
        me = memory.scope(user="ada")
        for n in range(6):
            me.observe(f"text {n}")
        with store.read() as before:
            shown = read(before)
            catalogues.clear()
            store.transact(rewinding.rewind, "default", 3)
            with store.read() as after:
                assert len(read(after)) == 3
            assert read(before) == shown  # it sees what it saw, and for itself alone
        for n in range(2):
            me.observe(f"new {n}")
        with store.read() as now:
            assert read(now) == {entry.ver for entry in now.entries(1, 0)}

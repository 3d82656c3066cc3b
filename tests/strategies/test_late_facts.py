"""A fact that is older than what is known of its matter ends nothing, and is kept as history."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path

from mnemic import Filter, Kind, ScopedMemory, State

sys.path.insert(0, str(Path(__file__).parent))
from scripted import opened

PROFILE = Filter(kinds=(Kind.PROFILE,))
HISTORY = Filter(kinds=(Kind.PROFILE,), states=(State.SUPERSEDED,))
SAYINGS = {2019: "I live in Paris.", 2021: "I live in Rome.", 2023: "I live in Lisbon."}


def cities(me: ScopedMemory, where: Filter = PROFILE) -> list[str]:
    return sorted(str(one.item.slots["value"]) for one in me.list(where=where))


def test_whatever_the_order_of_arrival_the_newest_holds_and_the_others_are_history() -> None:
    for order in permutations(SAYINGS):
        memory, me = opened("house")
        with memory:
            for year in order:
                me.observe(SAYINGS[year], role="user", said=datetime(year, 1, 1, tzinfo=UTC))
                assert memory.flush()
            assert cities(me) == ["Lisbon"]
            assert cities(me, HISTORY) == ["Paris", "Rome"]
            assert "Rome" in cities(me.valid_at(datetime(2022, 1, 1, tzinfo=UTC)))
            assert cities(me.valid_at(datetime(2024, 1, 1, tzinfo=UTC))) == ["Lisbon"]
            assert memory.admin.verify() == []


def test_what_is_known_as_history_is_not_written_again() -> None:
    memory, me = opened("house")
    with memory:
        me.observe(SAYINGS[2023], role="user", said=datetime(2023, 1, 1, tzinfo=UTC))
        for day in range(1, 4):
            me.observe(SAYINGS[2019], role="user", said=datetime(2019, 1, day, tzinfo=UTC))
            assert memory.flush()
        me.observe([SAYINGS[2019], SAYINGS[2019]], role="user", said=datetime(2019, 1, 9, tzinfo=UTC))
        assert memory.flush()
        assert cities(me, HISTORY) == ["Paris"]


def test_once_what_is_newer_is_undone_the_late_fact_holds() -> None:
    memory, me = opened("house")
    with memory:
        newer = me.observe(SAYINGS[2023], role="user", said=datetime(2023, 1, 1, tzinfo=UTC))
        assert memory.flush()
        me.observe(SAYINGS[2019], role="user", said=datetime(2019, 1, 1, tzinfo=UTC))
        assert memory.flush()
        me.undo(newer.seq)
        assert cities(me) == ["Paris"]


def test_a_late_fact_is_no_part_of_a_context_read_ahead() -> None:
    memory, me = opened("house")
    with memory:
        me.observe(SAYINGS[2023], role="user", said=datetime(2023, 1, 1, tzinfo=UTC))
        assert memory.flush()
        me.observe(SAYINGS[2019], role="user", said=datetime(2019, 1, 1, tzinfo=UTC))
        text = me.context("").text
        assert "Lisbon" in text
        assert "Paris" not in text
        assert memory.flush()
        assert me.context("").text == text


def test_what_one_run_made_history_is_not_written_again_by_it() -> None:
    """As by runs of a turn each: 2018 says no more than that of 2019, which what was said in 2021 has made history."""
    told = [(2019, "I live in Paris."), (2021, "I live in Rome."), (2018, "I live in Paris.")]
    for cut in (True, False):
        memory, me = opened("house")
        with memory:
            for year, text in told:
                me.observe(text, role="user", said=datetime(year, 1, 1, tzinfo=UTC))
                assert not cut or memory.flush()
            assert memory.flush()
            assert cities(me, HISTORY) == ["Paris"], cut


def test_news_that_comes_late_finds_its_place_between_what_was_said_before_and_after() -> None:
    """In any order of arrival each home ends when the next began, though the newest alone stands."""
    for order in permutations(SAYINGS):
        memory, me = opened("house")
        with memory:
            for year in order:
                me.observe(SAYINGS[year], role="user", said=datetime(year, 1, 1, tzinfo=UTC))
                assert memory.flush()
            for year, home in ((2020, "Paris"), (2022, "Rome"), (2024, "Lisbon")):
                assert cities(me.valid_at(datetime(year, 1, 1, tzinfo=UTC))) == [home], (order, year)
            assert memory.admin.verify() == []

"""Triggers are monotone: what fires goes on firing as more waits, and as time goes by."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mnemic.core.ids import from_bytes
from mnemic.core.items import Item, Kind, Slot, Version
from mnemic.strategies.triggers import (
    SECOND,
    Buffer,
    EachEvent,
    Feedback,
    Importance,
    Interval,
    OnQuestion,
    TaskEnd,
    Trigger,
    Waiting,
    ends_task,
    fired,
    first_moment,
    importance,
)

NOW = 1_000 * SECOND
moments = st.integers(0, NOW)
triggers: st.SearchStrategy[Trigger] = st.one_of(
    st.just(EachEvent()),
    st.builds(
        Buffer,
        tokens=st.none() | st.integers(1, 500),
        count=st.none() | st.integers(1, 50),
        idle=st.none() | st.floats(0, 500),
        debounce=st.floats(0, 100),
    ),
    st.builds(Importance, st.floats(0.1, 20)),
    st.builds(TaskEnd, st.integers(1, 5)),
    st.builds(Feedback, st.integers(1, 5)),
    st.just(OnQuestion()),
    st.builds(Interval, st.floats(0, 900)),
)
waits = st.builds(
    Waiting,
    count=st.integers(0, 100),
    tokens=st.integers(0, 1000),
    importance=st.floats(0, 50),
    tasks=st.integers(0, 8),
    judged=st.integers(0, 8),
    since=moments,
    last=moments,
    ran=moments,
    asked=st.booleans(),
)


@given(triggers, waits, st.integers(0, 10), st.integers(0, 100), st.floats(0, 5), st.integers(0, 3), st.integers(0, 3))
def test_more_waiting_never_stops_a_trigger(
    trigger: Trigger, waiting: Waiting, count: int, tokens: int, weight: float, tasks: int, judged: int
) -> None:
    more = replace(
        waiting,
        count=waiting.count + count,
        tokens=waiting.tokens + tokens,
        importance=waiting.importance + weight,
        tasks=waiting.tasks + tasks,
        judged=waiting.judged + judged,
        asked=True,
    )
    assert trigger.fires(more, NOW) >= trigger.fires(waiting, NOW)


@given(triggers, waits, st.integers(1, NOW))
def test_the_first_moment_at_which_a_trigger_fires_is_found(trigger: Trigger, waiting: Waiting, ahead: int) -> None:
    assume(not trigger.fires(waiting, NOW))
    at = first_moment((trigger,), waiting, NOW, NOW + ahead)
    assert NOW < at <= NOW + ahead
    assert not trigger.fires(waiting, at - 1)
    assert trigger.fires(waiting, at) or at == NOW + ahead


@given(triggers, waits, st.integers(0, NOW))
def test_time_never_stops_a_trigger(trigger: Trigger, waiting: Waiting, later: int) -> None:
    assert trigger.fires(waiting, NOW + later) >= trigger.fires(waiting, NOW)


@given(triggers)
def test_nothing_fires_while_nothing_waits(trigger: Trigger) -> None:
    assert not trigger.fires(Waiting(asked=True), NOW)


@given(st.lists(triggers, max_size=3), waits)
def test_where_the_least_fires_everything_does(several: list[Trigger], waiting: Waiting) -> None:
    """What lets a lane be looked at without counting what waits."""
    if not waiting.count:
        return
    known = Waiting(ran=waiting.ran, asked=waiting.asked, judged=waiting.judged)
    least = replace(known, count=1, since=NOW, last=NOW)
    assert fired(several, waiting, NOW) >= fired(several, least, NOW)


def version(number: int, kind: Kind = Kind.TURN, **slots: Slot) -> Version:
    said = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=number)
    item = Item(id=from_bytes(number.to_bytes(16, "big")), kind=kind, text="x", said=said, slots=slots)
    return Version(item=item, seq_from=number, seq_to=None, recorded=said)


def test_what_waits_is_counted_up() -> None:
    counted = Waiting().plus([version(1), version(2, importance=1.0), version(3, outcome="done")], 12)
    assert (counted.count, counted.tokens, counted.importance, counted.tasks) == (3, 12, 2.0, 1)
    assert counted.last - counted.since == 2 * SECOND
    assert counted.plus([], 0) == counted
    assert counted.plus([version(4)], 1).since == counted.since


@pytest.mark.parametrize(
    ("said", "weight"), [(0.25, 0.25), (7, 1.0), (-1, 0.0), (None, 0.5), ("high", 0.5), (True, 0.5)]
)
def test_importance_stays_within_its_bounds(said: Slot, weight: float) -> None:
    assert importance(version(1, importance=said).item) == weight


def test_a_task_ends_with_an_episode_or_an_outcome() -> None:
    assert ends_task(version(1, Kind.EPISODE).item)
    assert ends_task(version(1, outcome="failed").item)
    assert not ends_task(version(1).item)


def test_who_is_still_talking_is_let_finish() -> None:
    trigger = Buffer(count=2, debounce=5)
    waiting = Waiting(count=9, since=NOW, last=NOW)
    assert not trigger.fires(waiting, NOW + 4 * SECOND)
    assert trigger.fires(waiting, NOW + 5 * SECOND)

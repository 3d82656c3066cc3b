"""The pager under any policy: the budget holds, pins stay, groups are not split, nothing is lost sight of."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.ids import ItemId
from mnemic.errors import Invalid, NotFound, Refused
from mnemic.registry import POLICIES, load
from mnemic.tiers.base import Page, Tier
from mnemic.tiers.counters import Counters, Prefix, WorkingSet
from mnemic.tiers.pager import FIXED, Marks, Pager, Pressure

NAMES = ("fifo", "lru", "lfu", "clock", "two_queue", "arc")


def identity(number: int) -> ItemId:
    return ItemId(f"{number:026d}")


def page(number: int, tokens: int = 10, **fields: object) -> Page:
    return replace(Page(id=identity(number), tokens=tokens, born=0, last_use=0, position=number), **fields)  # type: ignore[arg-type]


def lru(budget: int = 100, **options: object) -> Pager:
    return Pager(load(POLICIES, "lru")(), budget, **options)  # type: ignore[arg-type]


steps = st.lists(
    st.tuples(st.sampled_from(["say", "result", "want", "ahead", "pin", "unpin", "out", "forget"]), st.integers(0, 12)),
    max_size=60,
)
windows = st.builds(
    lambda name, budget, marks, whole: Pager(load(POLICIES, name)(), budget, marks=marks, whole=whole),
    st.sampled_from(NAMES),
    st.integers(1, 60),
    st.sampled_from([FIXED, Marks(), Marks(soft=0.5, hard=0.8, target=0.3)]),
    st.booleans(),
)


class Walk:
    """Steps made on a pager, and what must hold after each."""

    def __init__(self, pager: Pager) -> None:
        self.pager, self.seen, self.groups, self.pins = pager, set[ItemId](), list[set[ItemId]](), set[ItemId]()

    def step(self, what: str, number: int) -> None:
        table, one = self.pager.table, page(number, tokens=1 + number * 3)
        order = list(table.resident)
        match what:
            case "say":
                self.pager.admit(one)
            case "result" if order and one.id not in self.seen:
                self.groups.append({order[-1], one.id})
                self.pager.admit(one, after=order[-1])
            case "want":
                self.pager.reference(one)
            case "ahead":
                self.pager.prefetch(one)
            case "pin" if one.id in table.resident:
                self.pager.pin(one.id)
                self.pins.add(one.id)
            case "unpin" if one.id in table.resident:
                self.pager.pin(one.id, pinned=False)
                self.pins.discard(one.id)
            case "out" if not any(mate in self.pins for mate in table.together(one.id)):
                self.pager.page_out(one.id)
            case "forget":
                self.pager.forget(one.id)
                self.pins.discard(one.id)
                self.seen.discard(one.id)
                self.groups = [group for group in self.groups if one.id not in group]
        if what in ("say", "result", "want", "ahead") and table.find(one.id) is not None:
            self.seen.add(one.id)
        self.check(order)

    def check(self, before: list[ItemId]) -> None:
        pager, table = self.pager, self.pager.table
        assert table.used <= pager.budget
        assert table.cost == sum(table.weight(one) for one in table.resident.values())
        assert self.pins <= set(table.resident)
        assert all(table.find(one) is not None for one in self.seen)
        for group in self.groups:
            if any(len(table.together(one)) == 1 for one in group):
                continue  # a result that did not fit beside a pinned call was let go
            assert group <= set(table.resident) or not group & set(table.resident)
        stayed = [one for one in before if one in table.resident]
        assert stayed == [one for one in table.resident if one in set(stayed)] or pager.counters.faults
        assert pager.counters.references == pager.counters.hits + pager.counters.faults
        assert sum(pager.meter.values()) == pager.budget


@given(windows, steps)
def test_budget_pins_groups_order_and_addresses_hold_after_every_step(
    pager: Pager, walk: list[tuple[str, int]]
) -> None:
    walked = Walk(pager)
    for what, number in walk:
        walked.step(what, number)


@given(st.lists(st.integers(0, 30), max_size=200), st.integers(1, 20))
def test_a_fixed_capacity_in_pages_holds_as_many_as_it_says_and_evicts_no_more(wanted: list[int], size: int) -> None:
    pager = lru(size, marks=FIXED, whole=True)
    for number in wanted:
        pager.reference(page(number))
    assert len(pager.table.resident) == min(size, len(set(wanted)))
    assert pager.counters.references == len(wanted)
    assert pager.counters.evictions == pager.counters.faults - len(pager.table.resident)


def test_what_fills_the_window_above_its_hard_mark_leaves_in_one_batch_down_to_the_target() -> None:
    pager = lru(100)
    for number in range(9):
        assert pager.admit(page(number)).evicted == ()
    moved = pager.admit(page(9))
    assert [one.id for one in moved.evicted] == [identity(number) for number in range(3)]
    assert pager.table.used == 70
    assert all(pager.admit(page(number)).evicted == () for number in (10, 11))


def test_pressure_is_told_before_anything_leaves() -> None:
    pager, told = lru(100), []
    for number in range(9):
        pager.admit(page(number))
        told.append(pager.pressure)
    assert told == [Pressure.NONE] * 7 + [Pressure.SOFT] * 2


def test_a_full_window_of_fixed_capacity_is_under_hard_pressure() -> None:
    pager = lru(20, marks=FIXED)
    pager.admit(page(0))
    told = [pager.pressure]
    pager.admit(page(1))
    assert [*told, pager.pressure] == [Pressure.NONE, Pressure.HARD]


def test_a_page_larger_than_the_window_is_refused_and_drives_nothing_out() -> None:
    pager = lru(30, marks=FIXED)
    pager.admit(page(0))
    assert not pager.admit(page(1, tokens=31)).resident
    assert list(pager.table.resident) == [identity(0)]
    assert pager.counters.refused == 1


def test_a_call_and_its_results_come_back_together() -> None:
    pager = lru(100)
    pager.admit(page(0))
    pager.admit(page(1, role="tool"), after=identity(0))
    pager.admit(page(2, role="tool"), after=identity(1))
    assert {one.id for one in pager.page_out(identity(1))} == {identity(0), identity(1), identity(2)}
    assert len(pager.reference(page(2)).entered) == 3
    assert [one.position for one in pager.table.resident.values()] == [0, 1, 2]


def test_a_pin_holds_what_is_tied_to_it_and_page_out_says_so() -> None:
    pager = lru(40, marks=FIXED)
    pager.admit(page(0))
    pager.admit(page(1), after=identity(0))
    pager.pin(identity(1))
    for number in range(2, 9):
        pager.admit(page(number))
    assert {identity(0), identity(1)} <= set(pager.table.resident)
    with pytest.raises(Refused):
        pager.page_out(identity(0))


def test_only_what_is_here_can_be_pinned() -> None:
    with pytest.raises(NotFound):
        lru().pin(identity(0))


def test_a_window_full_of_pins_refuses_and_keeps_them() -> None:
    pager = lru(20, marks=FIXED)
    for number in range(2):
        pager.admit(page(number))
        pager.pin(identity(number))
    assert not pager.reference(page(2)).resident
    assert [one.id for one in pager.table.resident.values()] == [identity(0), identity(1)]


def test_what_an_answer_needs_stays_until_it_is_given() -> None:
    pager = lru(50, marks=FIXED)
    for number in range(5):
        pager.admit(page(number))
    pager.guard()
    assert pager.use(identity(0))
    for number in range(5, 9):
        assert pager.reference(page(number)).resident
    assert list(pager.table.resident) == [identity(0), *(identity(number) for number in range(5, 9))]
    assert not pager.reference(page(9)).resident
    pager.unguard()
    assert pager.reference(page(9)).resident


def test_prefetching_takes_free_room_only_and_is_counted_apart() -> None:
    pager = lru(40, marks=FIXED)
    pager.admit(page(0))
    assert pager.prefetch(page(1)).resident
    assert pager.use(identity(1))
    assert pager.use(identity(1))
    for number in (2, 3):
        pager.admit(page(number))
    assert not pager.prefetch(page(4)).resident
    assert pager.prefetch(page(5), evicting=True).resident
    counted = pager.counters
    assert (counted.prefetched, counted.prefetch_hits, counted.hits, counted.faults) == (2, 1, 2, 0)


def test_what_is_gone_for_good_leaves_though_it_is_pinned_and_its_mates_leave_with_it() -> None:
    pager = lru(100)
    pager.admit(page(0))
    pager.admit(page(1), after=identity(0))
    pager.pin(identity(0))
    assert [one.id for one in pager.forget(identity(0))] == [identity(1)]
    assert pager.table.find(identity(0)) is None
    assert pager.table.find(identity(1)) is not None


def test_what_left_is_known_with_its_uses_and_the_distance_at_which_it_came_back() -> None:
    pager = lru(30, marks=FIXED)
    for number in range(3):
        pager.admit(page(number))
    pager.use(identity(0))
    for number in range(3, 8):
        pager.admit(page(number))
    known = pager.table.find(identity(0))
    assert known is not None
    assert (known.uses, known.tier) == (1, Tier.MIDDLE)
    pager.reference(page(0))
    assert pager.table.resident[identity(0)].uses == 2
    assert dict(pager.counters.refaults) == {2: 1}


def test_pages_that_left_are_forgotten_in_the_end_so_that_a_table_does_not_grow() -> None:
    pager = lru(30, marks=FIXED, remember=5)
    for number in range(100):
        pager.admit(page(number))
    assert len(pager.table.away) == 5
    assert pager.reference(page(0)).resident


def test_sections_that_are_not_paged_take_their_room_and_may_not_take_all() -> None:
    pager = lru(100)
    for number in range(8):
        pager.admit(page(number))
    assert len(pager.reserve("always", 30)) == 4
    assert pager.meter == {"always": 30, "pages": 40, "free": 30}
    with pytest.raises(Invalid):
        pager.reserve("segments", 70)


def test_a_smaller_budget_drives_out_what_it_has_no_room_for() -> None:
    pager = lru(100)
    for number in range(8):
        pager.admit(page(number))
    assert len(pager.resize(40)) == 6
    with pytest.raises(Invalid):
        pager.resize(0)


def test_a_policy_that_names_what_may_not_leave_is_found_out() -> None:
    class Stubborn:
        name: ClassVar[str] = "stubborn"

        def admitted(self, page: Page, now: int) -> None: ...
        def used(self, page: Page, now: int) -> None: ...
        def left(self, page: Page, now: int) -> None: ...
        def victim(self, pages: object, now: int) -> Page:
            return page(0)

    pager = Pager(Stubborn(), 20, marks=FIXED)
    pager.admit(page(0))
    pager.pin(identity(0))
    pager.admit(page(1))
    with pytest.raises(Invalid, match="stubborn"):
        pager.admit(page(2))


def test_state_that_was_written_is_clean_until_it_changes() -> None:
    pager = lru(30, marks=FIXED)
    for number in range(4):
        pager.admit(page(number))
    assert pager.table.dirty == {identity(number) for number in range(4)}
    pager.table.clean(tuple(pager.table.dirty))
    assert not pager.table.dirty
    pager.use(identity(2))
    assert pager.table.dirty == {identity(2)}
    assert pager.counters.write_backs == 1


def test_a_working_set_is_the_distinct_pages_of_the_last_references() -> None:
    working = WorkingSet(3)
    for number in (1, 1, 2, 3, 3):
        working.used(identity(number))
    assert len(working) == 2


def test_a_prefix_is_what_stands_as_it_stood_from_the_head_on() -> None:
    prefix = Prefix()
    assert prefix.reused([("a", 5), ("b", 7)]) == 0
    assert prefix.reused([("a", 5), ("b", 7), ("c", 1)]) == 12
    assert prefix.reused([("a", 5), ("c", 1)]) == 5


def test_counts_say_what_is_made_of_them() -> None:
    counted = Counters(hits=3, faults=1, rendered=10, reused=8, admitted=2, rows=3)
    shown = counted.as_dict()
    assert (shown["references"], shown["hit_rate"], shown["reuse"], shown["write_amplification"]) == (4, 0.75, 0.8, 1.5)

"""What every replacement policy must do, as a suite that a test module inherits.

Usage: subclass `PolicyContract` in a test module and override the fixture `make`.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from types import FrameType
from typing import Any, TypeAlias

import pytest

from mnemic.core.ids import ItemId
from mnemic.tiers.base import Page, Policy

Make: TypeAlias = Callable[[], Policy]
Seen: TypeAlias = Callable[[dict[ItemId, Page], Page, int], None]
"""Told of each eviction: who could have gone, who went, when."""

CAPACITY = 12
PINNED = (2, 5, 9)


class PolicyContract:
    """The tests of a replacement policy, over a small window with some pages pinned and some dropped from outside."""

    @pytest.fixture
    def make(self) -> Make:
        """Return a function that opens a fresh policy, the same each time."""
        raise NotImplementedError

    def test_the_victim_is_one_of_the_candidates_as_the_pager_has_it(self, make: Make) -> None:
        def seen(pages: dict[ItemId, Page], gone: Page, now: int) -> None:
            assert pages[gone.id] is gone

        for seed in range(20):
            play(make(), seed, seen)

    def test_it_answers_alike_when_told_alike(self, make: Make) -> None:
        assert evicted(make(), 7) == evicted(make(), 7)

    def test_it_answers_alike_in_whatever_order_the_candidates_are_given(self, make: Make) -> None:
        policy, twin = make(), make()
        straight = evicted(policy, 3)
        assert evicted(twin, 3, backwards=True) == straight

    def test_one_page_that_may_leave_is_the_victim(self, make: Make) -> None:
        policy = make()
        pages = [page(n) for n in range(CAPACITY)]
        for candidate in pages:
            policy.admitted(candidate, candidate.arrived)
        for candidate in pages:
            assert policy.victim({candidate.id: candidate}, 99) is candidate

    def test_asking_twice_is_no_reference(self, make: Make) -> None:
        policy = make()
        pages = {each.id: each for each in map(page, range(CAPACITY))}
        for each in pages.values():
            policy.admitted(each, each.arrived)
        chosen = policy.victim(pages, 99)
        assert policy.victim(pages, 99) is chosen

    def test_a_page_that_left_unasked_is_no_victim_and_may_come_back(self, make: Make) -> None:
        policy = make()
        gone, stays = page(0), page(1)
        policy.admitted(gone, 0)
        policy.admitted(stays, 1)
        policy.left(gone, 2)
        assert policy.victim({stays.id: stays}, 3) is stays
        back = replace(gone, arrived=4, last_use=4, uses=1)
        policy.admitted(back, 4)
        assert policy.victim({stays.id: stays, back.id: back}, 5) in (stays, back)

    def test_of_pages_that_left_it_remembers_a_bounded_number(self, make: Make) -> None:
        policy = make()
        left = 0
        for n in range(40 * CAPACITY):
            policy.admitted(page(n), n)
            if n >= CAPACITY:
                policy.left(page(n - CAPACITY), n)
                left += 1
        kept = pickle.dumps(policy)
        remembered = sum(page(n).id.encode() in kept for n in range(left))
        assert remembered <= 8 * CAPACITY

    def test_a_step_after_a_long_history_does_no_more_work_than_one_after_a_short(self, make: Make) -> None:
        """Work is counted in executed lines of Python, which no other load on the machine can change."""
        policy = make()
        pages: dict[ItemId, Page] = {}

        def steps(begin: int, end: int) -> None:
            for n in range(begin, end):
                if n >= CAPACITY:
                    gone = policy.victim(pages, n)
                    del pages[gone.id]
                    policy.left(gone, n)
                pages[page(n).id] = page(n)
                policy.admitted(page(n), n)

        steps(0, 900)
        short = lines_of(lambda: steps(900, 1_000))
        steps(1_000, 3_900)
        assert lines_of(lambda: steps(3_900, 4_000)) <= 2 * short
        assert len(pages) == CAPACITY


def lines_of(act: Callable[[], None]) -> int:
    """How many lines of Python `act` executes, a line as often as it comes."""
    lines = 0

    def count(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        act()
    finally:
        sys.settrace(before)
    return lines


def page(number: int) -> Page:
    """The page that came as the `number`th, with features that differ."""
    draw = Random(number)
    return Page(
        id=ItemId(f"page-{number:05}-"),
        tokens=draw.randrange(1, 200),
        born=number,
        last_use=number,
        arrived=number,
        position=number,
        role=draw.choice(("user", "assistant", "")),
        segment=number // 10,
        importance=draw.random(),
        novelty=draw.random(),
        entities=draw.randrange(4),
    )


def evicted(policy: Policy, seed: int, *, backwards: bool = False) -> list[ItemId]:
    """The pages a history of references evicts, in order."""
    gone: list[ItemId] = []
    play(policy, seed, lambda pages, one, now: gone.append(one.id), backwards=backwards)
    return gone


def play(policy: Policy, seed: int, seen: Seen, *, backwards: bool = False) -> None:
    """References drawn from `seed`: pages come, are used, come back after a fault, are dropped; a few are pinned."""
    draw = Random(seed)
    known: dict[ItemId, Page] = {}
    resident: set[ItemId] = set()
    for now, number in enumerate(_numbers(draw)):
        one = known.get(page(number).id)
        if one is not None and one.id in resident:
            if draw.random() < 0.1:
                resident.discard(one.id)
                policy.left(one, now)
                continue
            known[one.id] = replace(one, uses=one.uses + 1, last_use=now)
            policy.used(known[one.id], now)
            continue
        fresh = replace(one or page(number), born=one.born if one else now, arrived=now, last_use=now)
        known[fresh.id] = replace(fresh, uses=fresh.uses + (one is not None))
        resident.add(fresh.id)
        policy.admitted(known[fresh.id], now)
        while len(resident) > CAPACITY:
            may = [known[id_] for id_ in sorted(resident, reverse=backwards) if known[id_].position not in PINNED]
            candidates = {one.id: one for one in may}
            gone = policy.victim(candidates, now)
            seen(candidates, gone, now)
            resident.discard(gone.id)
            policy.left(gone, now)


def _numbers(draw: Random) -> Iterator[int]:
    """Page numbers: new ones, and some that return."""
    newest = 0
    for _ in range(400):
        if draw.random() < 0.5 or not newest:
            newest += 1
            yield newest
        else:
            yield draw.randrange(1, newest + 1)

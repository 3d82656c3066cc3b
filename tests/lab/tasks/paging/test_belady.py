"""The optimum is no less than what any policy reaches, and is what trying everything finds."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.lab.tasks.paging.belady import bound, optimum
from mnemic.lab.tasks.paging.replay import replay
from mnemic.lab.tasks.paging.traces import SYNTHETIC, PageTrace, Reference, page
from mnemic.registry import POLICIES
from mnemic.tiers.policies import open_policy


@st.composite
def traces(draw: st.DrawFn, most: int = 14) -> PageTrace:
    order = draw(st.lists(st.integers(0, 4), max_size=most))
    sizes = draw(st.lists(st.integers(1, 5), min_size=5, max_size=5))
    seen: set[int] = set()
    references = []
    for number in order:
        references.append(Reference(number, number not in seen))
        seen.add(number)
    pages = tuple(page(f"p{n}", tokens=sizes[n], position=n) for n in range(5))
    return PageTrace(family="drawn", name="drawn", pages=pages, references=tuple(references))


def tried(trace: PageTrace, budget: int, *, by_tokens: bool) -> int:
    """Most hits of all ways to keep pages, each window a set; for very short traces."""
    weight = [one.tokens if by_tokens else 1 for one in trace.pages]
    best: dict[frozenset[int], int] = {frozenset(): 0}
    for reference in trace.references:
        following: dict[frozenset[int], int] = {}
        for kept, hits in best.items():
            now = hits + (not reference.write and reference.page in kept)
            there = sorted(kept | {reference.page})
            for size in range(len(there) + 1):
                for chosen in combinations(there, size):
                    if sum(weight[n] for n in chosen) <= budget:
                        key = frozenset(chosen)
                        following[key] = max(following.get(key, 0), now)
        best = following
    return max(best.values())


@settings(max_examples=60)
@given(trace=traces(), capacity=st.integers(1, 3))
def test_it_is_what_trying_everything_finds(trace: PageTrace, capacity: int) -> None:
    assert optimum(trace, capacity) == tried(trace, capacity, by_tokens=False)


@settings(max_examples=60)
@given(trace=traces(), budget=st.integers(1, 8))
def test_the_bound_for_tokens_lies_no_lower(trace: PageTrace, budget: int) -> None:
    assert bound(trace, budget) >= tried(trace, budget, by_tokens=True)


@pytest.mark.parametrize("policy", POLICIES)
def test_no_policy_is_above_it(policy: str) -> None:
    trace = SYNTHETIC["loop"](0)
    assert replay(trace, open_policy(policy), 60).hits <= optimum(trace, 60)

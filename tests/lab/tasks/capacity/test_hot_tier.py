"""Hot tiers of the laboratory: exact where they are quicker than a policy, and Belady's where they know the future."""

from __future__ import annotations

from random import Random

import pytest

from mnemic.errors import Invalid
from mnemic.lab.tasks.capacity.hot_tier import (
    BASELINES,
    BELADY,
    UNTIMED,
    HotTier,
    SortedPolicy,
    chosen_policies,
    make_policy,
    weighs,
)
from mnemic.lab.tasks.paging.belady import optimum
from mnemic.lab.tasks.paging.traces import PageTrace, zipf
from mnemic.registry import POLICIES
from mnemic.tiers.base import Page, Policy
from mnemic.tiers.policies import open_policy


def through(trace: PageTrace, policy: Policy, capacity: int, *, archive: bool = True) -> HotTier:
    tier = HotTier(policy, capacity, archive=archive)
    question = 0
    for reference in trace.references:
        page = trace.pages[reference.page]
        if reference.write:
            tier.arrive(page)
            continue
        if hasattr(policy, "asked"):
            policy.asked(question, [page])
        tier.use([page])
        question += 1
    return tier


def reads(trace: PageTrace) -> dict[object, list[int]]:
    asked = [trace.pages[one.page].id for one in trace.references if not one.write]
    return {page: [n for n, other in enumerate(asked) if other == page] for page in set(asked)}


@pytest.mark.parametrize("capacity", [1, 7, 40, 390])
def test_foresight_hits_as_often_as_the_optimum(capacity: int) -> None:
    trace = zipf(5, pages=200, reads=600)
    tier = through(trace, make_policy(BELADY, 0, reads(trace)), capacity)  # type: ignore[arg-type]
    assert tier.counters.hits == optimum(trace, capacity)


@pytest.mark.parametrize("name", sorted(UNTIMED))
@pytest.mark.parametrize("archive", [True, False])
def test_an_order_that_stands_keeps_what_the_policy_itself_would(name: str, archive: bool) -> None:
    draw = Random(name)
    trace = zipf(2, pages=120, reads=500)
    pages = tuple(
        Page(id=page.id, tokens=1, born=0, last_use=0, position=n, importance=draw.random())
        for n, page in enumerate(trace.pages)
    )
    trace = PageTrace(family=trace.family, name=trace.name, pages=pages, references=trace.references)
    quick = make_policy(name, 3, {})
    assert isinstance(quick, SortedPolicy)
    slow = through(trace, open_policy(name, seed=3), 25, archive=archive)
    assert through(trace, quick, 25, archive=archive).resident == slow.resident


def test_alone_what_has_left_does_not_come_back() -> None:
    pages = [Page(id=name, tokens=1, born=0, last_use=0) for name in "abc"]  # type: ignore[arg-type]
    for archive, there in ((True, ["c", "a"]), (False, ["b", "c"])):
        tier = HotTier(open_policy("fifo"), 2, archive=archive)
        for page in pages:
            tier.arrive(page)
        assert tier.use([pages[0], pages[2]]) == 1
        assert list(tier.resident) == there
        assert tier.counters.faults == archive


def test_alone_the_sliding_window_is_the_latest_so_many() -> None:
    trace = zipf(1, pages=80, reads=200)
    tier = through(trace, make_policy("sliding window", 0, {}), 10, archive=False)
    written = [trace.pages[one.page].id for one in trace.references if one.write]
    assert list(tier.resident) == written[-10:]


def test_the_rows_are_the_registrys_and_the_baselines() -> None:
    assert set(chosen_policies(None)) == {*BASELINES, *POLICIES, BELADY} - {"window"}
    assert chosen_policies(["lru"]) == (*BASELINES, "lru", BELADY)
    with pytest.raises(Invalid, match="'lucky' is not one"):
        chosen_policies(["lucky"])


def test_only_policies_whose_worth_moves_with_time_are_slow() -> None:
    slow = {name for name in (*POLICIES, *BASELINES, BELADY) if weighs(name)}
    assert {"heat", "forgetting", "combined", "adaptive"} <= slow
    assert not slow & {*UNTIMED, *BASELINES, BELADY, "fifo", "lru", "lfu", "clock", "two_queue", "arc"}

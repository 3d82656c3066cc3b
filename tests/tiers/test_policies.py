"""Every replacement policy keeps the contract, and does what its own paper says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.ids import ItemId
from mnemic.errors import Invalid
from mnemic.registry import POLICIES
from mnemic.testing.policy_contract import Make, PolicyContract, page
from mnemic.tiers.base import Page, Policy
from mnemic.tiers.policies import open_policy
from mnemic.tiers.policies.adaptive import Adaptive
from mnemic.tiers.policies.arc import Arc
from mnemic.tiers.policies.clock import Clock
from mnemic.tiers.policies.combined import Combined
from mnemic.tiers.policies.fifo import Fifo
from mnemic.tiers.policies.forgetting import Forgetting
from mnemic.tiers.policies.heat import Heat
from mnemic.tiers.policies.importance import Importance
from mnemic.tiers.policies.learned import NAMES, Learned, shipped
from mnemic.tiers.policies.lfu import Lfu
from mnemic.tiers.policies.lrfu import Lrfu
from mnemic.tiers.policies.lru import Lru
from mnemic.tiers.policies.reservoir import Reservoir
from mnemic.tiers.policies.scored import Scored
from mnemic.tiers.policies.stay import Stay
from mnemic.tiers.policies.two_queue import TwoQueue
from mnemic.tiers.policies.window import Window

SCORED = [name for name in POLICIES if isinstance(open_policy(name), Scored)]

times = st.integers(0, 10_000)
shares = st.floats(0, 1)


@st.composite
def pages(draw: st.DrawFn) -> Page:
    born = draw(times)
    arrived = born + draw(times)
    return Page(
        id=ItemId(draw(st.text(min_size=1, max_size=5))),
        tokens=draw(st.integers(1, 4_000)),
        born=born,
        last_use=arrived + draw(times),
        arrived=arrived,
        uses=draw(st.integers(0, 500)),
        position=draw(st.integers(-1, 5_000)),
        importance=draw(shares),
        novelty=draw(shares),
        entities=draw(st.integers(0, 50)),
        role=draw(st.sampled_from(("user", "assistant", ""))),
    )


def run(policy: Policy, ids: Sequence[str], size: int) -> str:
    """What is resident after these references, in order of name; one character a page."""
    resident: dict[ItemId, Page] = {}
    known: dict[str, Page] = {}
    for now, id_ in enumerate(ids):
        before = known.get(id_)
        if before is None:
            known[id_] = Page(id=ItemId(id_), tokens=1, born=now, last_use=now, arrived=now, position=now)
        else:
            arrived = before.arrived if id_ in resident else now
            known[id_] = replace(before, uses=before.uses + 1, last_use=now, arrived=arrived)
        new = id_ not in resident
        resident[ItemId(id_)] = known[id_]
        (policy.admitted if new else policy.used)(known[id_], now)
        while len(resident) > size:
            gone = policy.victim(resident, now)
            del resident[gone.id]
            policy.left(gone, now)
    return "".join(sorted(resident))


@pytest.mark.parametrize("name", sorted(POLICIES))
class TestContract(PolicyContract):
    @pytest.fixture
    def make(self, name: str) -> Make:
        return lambda: open_policy(name, seed=1)

    def test_it_is_called_what_the_table_calls_it(self, name: str) -> None:
        assert open_policy(name).name == name


def test_an_unknown_policy_is_told_from_the_known_ones() -> None:
    with pytest.raises(Invalid, match="lru"):
        open_policy("belady")


@pytest.mark.parametrize("name", SCORED)
@given(one=pages(), later=times)
def test_a_law_of_worth_is_pure_and_finite(name: str, one: Page, later: int) -> None:
    now = one.last_use + later
    worth = open_policy(name, seed=3).worth(one, now)  # type: ignore[attr-defined]
    assert worth == open_policy(name, seed=3).worth(one, now)  # type: ignore[attr-defined]
    assert abs(worth) < 1e6


@pytest.mark.parametrize("law", [Forgetting(), Heat(), Combined()])
@given(one=pages(), later=times, longer=times)
def test_what_was_used_longer_ago_is_worth_no_more(law: Scored, one: Page, later: int, longer: int) -> None:
    now = one.last_use + later
    older = replace(one, born=one.born - longer, last_use=one.last_use - longer)
    assert law.worth(older, now) <= law.worth(one, now)


@pytest.mark.parametrize("law", [Forgetting(), Heat(), Combined()])
@given(one=pages(), more=st.integers(1, 100), later=times)
def test_what_was_used_more_is_worth_no_less(law: Scored, one: Page, more: int, later: int) -> None:
    now = one.last_use + later
    assert law.worth(replace(one, uses=one.uses + more), now) >= law.worth(one, now)


@pytest.mark.parametrize("law", [Importance(), Combined()])
@given(one=pages(), other=shares, later=times)
def test_what_says_more_is_worth_no_less(law: Scored, one: Page, other: float, later: int) -> None:
    low, high = sorted((one.importance, other))
    now = one.last_use + later
    assert law.worth(replace(one, importance=high), now) >= law.worth(replace(one, importance=low), now)


@given(one=pages(), longer=st.integers(1, 500), later=times)
def test_heat_rises_with_length(one: Page, longer: int, later: int) -> None:
    now = one.last_use + later
    assert Heat().worth(replace(one, tokens=one.tokens + longer), now) > Heat().worth(one, now)


@given(one=pages(), later=times)
def test_retention_is_a_share_and_full_at_the_moment_of_use(one: Page, later: int) -> None:
    assert 0 <= Forgetting().retention(one, one.last_use + later) <= 1
    assert Forgetting().retention(one, one.last_use) == 1


def test_strength_slows_forgetting_as_in_the_paper_not_as_in_its_code() -> None:
    once, often = page(1), replace(page(1), uses=9)
    assert Forgetting(tau=5).retention(once, 11) == pytest.approx(0.1353, abs=1e-4)
    assert Forgetting(tau=5).retention(often, 11) == pytest.approx(0.8187, abs=1e-4)


@given(one=pages(), later=times)
def test_the_baselines_go_by_birth_or_by_nothing(one: Page, later: int) -> None:
    used = replace(one, uses=one.uses + 5, last_use=one.last_use + later)
    now = used.last_use
    for law in (Window(), Reservoir(3)):
        assert law.worth(used, now) == law.worth(one, now)
    assert Window().worth(replace(one, born=one.born + 1), now) > Window().worth(one, now)


def test_a_reservoir_keeps_an_even_sample() -> None:
    kept = [number for seed in range(60) for number in _sampled(seed)]
    early = sum(number < 50 for number in kept)
    assert len(kept) == 60 * 10
    assert 240 < early < 360


def _sampled(seed: int) -> list[int]:
    ids = [chr(0x4E00 + n) for n in range(100)]
    return [ord(one) - 0x4E00 for one in run(Reservoir(seed), ids, 10)]


def test_fifo_goes_by_arrival_and_lru_by_use() -> None:
    assert run(Fifo(), "abcaad", 3) == "bcd"
    assert run(Lru(), "abcaad", 3) == "acd"
    assert run(Window(), "abcda", 3) == "bcd"
    assert run(Stay(), "abcda", 3) == "abc"


def test_clock_gives_what_was_used_a_second_chance() -> None:
    assert run(Clock(), "abcd", 3) == "bcd"
    assert run(Clock(), "abcdbe", 3) == "bde"
    assert run(Fifo(), "abcdbe", 3) == "cde"


def test_lfu_keeps_what_is_used_and_ages() -> None:
    assert run(Lfu(), "aaabbcd", 3) == "abd"
    assert run(Lfu(ageing=False), "a" * 9 + "bcbcbc" + "dede", 2) == "ac"
    assert run(Lfu(), "a" * 3 + "bcdefghbcdefghbcdefghbcdefgh" * 4, 2) == "gh"


def test_lrfu_stands_between_recency_and_frequency() -> None:
    assert run(Lrfu(half_life=0.1), "aaabcd", 2) == run(Lru(), "aaabcd", 2) == "cd"
    assert run(Lrfu(half_life=1e6), "aaabcd", 2) == "ad"


def test_2q_lets_a_sweep_pass_by_what_came_back() -> None:
    hot = "abababab"
    met_again = "abcdefgh" + "ab"
    swept = met_again + "".join(chr(0x4E00 + n) for n in range(40))
    assert {"a", "b"} <= set(run(TwoQueue(), swept, 6))
    assert not {"a", "b"} & set(run(Lru(), hot + swept, 6))


def test_arc_lets_a_sweep_pass_by_what_was_used_again() -> None:
    swept = "abab" + "".join(chr(0x4E00 + n) for n in range(40))
    assert {"a", "b"} <= set(run(Arc(), swept, 6))


def test_arc_moves_its_border_to_where_the_faults_are() -> None:
    policy = Arc()
    assert "z" in run(policy, "aabbccxyzwxyzwxyzw", 4)


def test_the_adaptive_one_finds_that_a_loop_is_best_sat_out() -> None:
    loop = "".join(chr(0x4E00 + n) for n in range(30)) * 8
    resident = run(Adaptive(), loop, 20)
    again = run(Adaptive(), loop + loop[:30], 20)
    assert len(set(resident) & set(again)) >= 17


def test_what_was_learned_is_of_the_features_it_has() -> None:
    assert len(shipped()) == len(NAMES)
    with pytest.raises(Invalid, match="weights"):
        Learned((1.0,))

"""Every replacement policy keeps the contract, and does what its own paper says of it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.ids import ItemId
from mnemic.errors import Invalid
from mnemic.registry import POLICIES
from mnemic.testing.policy_contract import Make, PolicyContract, page
from mnemic.tiers.base import Page, Policy
from mnemic.tiers.pager import FIXED, Pager
from mnemic.tiers.policies import checked_policy, open_policy
from mnemic.tiers.policies.adaptive import Adaptive, _Shadow
from mnemic.tiers.policies.arc import Arc
from mnemic.tiers.policies.combined import Combined
from mnemic.tiers.policies.fifo import Fifo
from mnemic.tiers.policies.forgetting import Forgetting
from mnemic.tiers.policies.heat import Heat
from mnemic.tiers.policies.importance import LeastImportant
from mnemic.tiers.policies.learned import NAMES, Learned, shipped
from mnemic.tiers.policies.lfu import Lfu
from mnemic.tiers.policies.lrfu import Lrfu
from mnemic.tiers.policies.lru import Lru
from mnemic.tiers.policies.reservoir import Reservoir
from mnemic.tiers.policies.scored import Scored
from mnemic.tiers.policies.second_chance import SecondChance
from mnemic.tiers.policies.stay import Stay
from mnemic.tiers.policies.steady import Steady
from mnemic.tiers.policies.two_queue import TwoQueue
from mnemic.tiers.policies.window import LatestTurns

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
    with pytest.raises(Invalid, match="Did you mean 'adaptive'"):
        open_policy("adaptve")


def test_a_policy_goes_by_its_name_in_any_case() -> None:
    assert open_policy("LRU").name == "lru"


@pytest.mark.parametrize("name", SCORED)
@given(one=pages(), later=times)
def test_a_law_of_worth_is_pure_and_finite(name: str, one: Page, later: int) -> None:
    now = one.last_use + later
    worth = open_policy(name, seed=3).worth(one, now)  # type: ignore[attr-defined]
    assert worth == open_policy(name, seed=3).worth(one, now)  # type: ignore[attr-defined]
    assert abs(worth) < 1e6


@pytest.mark.parametrize("law", [Forgetting(), Heat(), Combined(), Steady()])
@given(one=pages(), later=times, longer=times)
def test_what_was_used_longer_ago_is_worth_no_more(law: Scored, one: Page, later: int, longer: int) -> None:
    now = one.last_use + later
    older = replace(one, born=one.born - longer, last_use=one.last_use - longer)
    assert law.worth(older, now) <= law.worth(one, now)


@pytest.mark.parametrize("law", [Forgetting(), Heat(), Combined(), Steady()])
@given(one=pages(), more=st.integers(1, 100), later=times)
def test_what_was_used_more_is_worth_no_less(law: Scored, one: Page, more: int, later: int) -> None:
    now = one.last_use + later
    assert law.worth(replace(one, uses=one.uses + more), now) >= law.worth(one, now)


@pytest.mark.parametrize("law", [LeastImportant(), Combined(), Steady()])
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
    for law in (LatestTurns(), Reservoir(3)):
        assert law.worth(used, now) == law.worth(one, now)
    assert LatestTurns().worth(replace(one, born=one.born + 1), now) > LatestTurns().worth(one, now)


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
    assert run(LatestTurns(), "abcda", 3) == "bcd"
    assert run(Stay(), "abcda", 3) == "abc"


def test_clock_gives_what_was_used_a_second_chance() -> None:
    assert run(SecondChance(), "abcd", 3) == "bcd"
    assert run(SecondChance(), "abcdbe", 3) == "bde"
    assert run(Fifo(), "abcdbe", 3) == "cde"


def test_lfu_keeps_what_is_used_and_ages() -> None:
    assert run(Lfu(), "aaabbcd", 3) == "abd"
    assert run(Lfu(ageing=False), "a" * 9 + "bcbcbc" + "dede", 2) == "ae"
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


# Transcribed from the papers, for pages of one size: whether each reference was a hit


def arc_of_the_paper(trace: Sequence[int], c: int) -> list[bool]:
    """Figure 4 of Megiddo and Modha, case by case; the head of a list is its least recently used."""
    t1, t2, b1, b2 = (OrderedDict[int, None]() for _ in range(4))
    p = 0.0
    hits = []

    def replace_one(x: int) -> None:
        if t1 and (len(t1) > p or (x in b2 and len(t1) == p)):
            b1[t1.popitem(last=False)[0]] = None
        else:
            b2[t2.popitem(last=False)[0]] = None

    for x in trace:
        hits.append(x in t1 or x in t2)
        if hits[-1]:
            (t1 if x in t1 else t2).pop(x)
            t2[x] = None
        elif x in b1:
            p = min(float(c), p + max(len(b2) / len(b1), 1.0))
            replace_one(x)
            del b1[x]
            t2[x] = None
        elif x in b2:
            p = max(0.0, p - max(len(b1) / len(b2), 1.0))
            replace_one(x)
            del b2[x]
            t2[x] = None
        else:
            every = len(t1) + len(t2) + len(b1) + len(b2)
            if len(t1) == c:
                t1.popitem(last=False)
            elif len(t1) + len(b1) == c:
                b1.popitem(last=False)
                replace_one(x)
            elif every >= c:
                if every == 2 * c:
                    b2.popitem(last=False)
                replace_one(x)
            t1[x] = None
    return hits


def two_queue_of_the_paper(trace: Sequence[int], c: int) -> list[bool]:
    """The full version of Johnson and Shasha, Kin and Kout as they advise; the head of a list is what goes first."""
    a1in, a1out, am = (OrderedDict[int, None]() for _ in range(3))
    kin, kout = c // 4, c // 2
    hits = []
    for x in trace:
        hits.append(x in am or x in a1in)
        if x in am:
            am.move_to_end(x)
        if hits[-1]:
            continue
        known = x in a1out
        if len(a1in) + len(am) == c:
            if len(a1in) > kin:
                a1out[a1in.popitem(last=False)[0]] = None
                if len(a1out) > kout:
                    a1out.popitem(last=False)
            else:
                am.popitem(last=False)
        (am if known else a1in)[x] = None
        a1out.pop(x, None)
    return hits


def lfu_da_of_the_paper(trace: Sequence[int], c: int) -> list[bool]:
    """Arlitt et al., each page costing one: K = F + L; of equal ones the least recently used goes."""
    age, key, uses, last = 0, dict[int, int](), dict[int, int](), dict[int, int]()
    hits = []
    for now, x in enumerate(trace):
        hits.append(x in key)
        if x not in key and len(key) == c:
            gone = min(key, key=lambda one: (key[one], last[one]))
            age = key.pop(gone)
        uses[x] = uses[x] + 1 if hits[-1] else 1
        key[x], last[x] = uses[x] + age, now
    return hits


def skewed(draw: Random, c: int) -> list[int]:
    return [min(int(draw.paretovariate(0.8)), 12 * c) for _ in range(3_000)]


def loops_among_hot(draw: Random, c: int) -> list[int]:
    return [draw.randrange(c) if draw.random() < 0.5 else n % (3 * c) + 1_000 for n in range(3_000)]


def moving(draw: Random, c: int) -> list[int]:
    return [draw.randrange(2 * c) + n // 700 * c for n in range(3_000)]


@pytest.mark.parametrize("make", [skewed, loops_among_hot, moving])
@pytest.mark.parametrize("c", [4, 7, 8, 32])
@pytest.mark.parametrize(
    ("name", "paper"), [("arc", arc_of_the_paper), ("two_queue", two_queue_of_the_paper), ("lfu", lfu_da_of_the_paper)]
)
def test_over_pages_of_one_size_it_is_the_papers_hit_for_hit(
    name: str, paper: Callable[[Sequence[int], int], list[bool]], c: int, make: Callable[[Random, int], list[int]]
) -> None:
    for seed in range(3):
        trace = make(Random(seed), c)
        pager = Pager(open_policy(name), c, marks=FIXED, whole=True, remember=None)
        ours = [pager.reference(page(number)).hit for number in trace]
        assert ours == paper(trace, c)


def test_the_adaptive_one_finds_that_a_loop_is_best_sat_out() -> None:
    loop = "".join(chr(0x4E00 + n) for n in range(30)) * 8
    resident = run(Adaptive(), loop, 20)
    again = run(Adaptive(), loop + loop[:30], 20)
    assert len(set(resident) & set(again)) >= 17


def test_to_the_steady_one_a_first_use_tells_more_than_a_tenth_and_a_newcomer_is_nothing_special() -> None:
    law, one = Steady(), page(1)
    first, tenth = (
        law.worth(replace(one, uses=uses), 50) - law.worth(replace(one, uses=uses - 1), 50) for uses in (1, 10)
    )
    assert first > 10 * tenth > 0
    assert law.worth(replace(one, last_use=49), 50) == law.worth(one, 50)


def test_the_adaptive_one_goes_over_at_any_price_only_where_both_hold_the_same() -> None:
    """After 50 references of a loop of 30 the window of 20 holds the first 20 of it, by LRU and by staying alike."""
    loop = "".join(chr(0x4E00 + n) for n in range(30)) * 20

    def dear() -> Adaptive:
        return Adaptive([Lru(), Stay()], margin=1e9)

    assert run(dear(), loop[:45], 20) == run(Lru(), loop[:45], 20)
    assert run(dear(), loop, 20) == run(Stay(), loop, 20)


def test_going_over_to_a_near_relative_is_cheaper_than_to_a_stranger() -> None:
    """One page of five differs, so a fifth of the lead is enough."""
    kept, other = (_Shadow(Lru()) for _ in range(2))
    for shadow, ids in ((kept, "abcde"), (other, "abcdf")):
        for now, id_ in enumerate(ids):
            shadow.refer(replace(page(now), id=ItemId(id_)), now)
    assert other.apart(kept) == pytest.approx(0.2)
    assert kept.apart(kept) == 0
    assert other.apart(_Shadow(Lru())) == 1


def test_what_was_learned_is_of_the_features_it_has() -> None:
    assert len(shipped()) == len(NAMES)
    with pytest.raises(Invalid, match="weights"):
        Learned((1.0,))


def test_a_policy_of_ones_own_is_named_by_its_place_or_given_as_its_class() -> None:
    assert isinstance(open_policy("mnemic.tiers.policies.fifo:Fifo"), Fifo)
    assert isinstance(checked_policy(Fifo), Fifo)


class Sized(Fifo):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (Sized, r"the class Sized makes none.*Give an object: Sized\("),
        (object(), "object has no name"),
        (int, "int has no"),
    ],
)
def test_what_is_no_policy_is_refused_with_what_to_give(given: object, told: str) -> None:
    with pytest.raises(Invalid, match=told):
        checked_policy(given)

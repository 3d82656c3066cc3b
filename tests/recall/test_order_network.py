"""What the network makes of candidates: its shapes, and that being replaced only ever costs standing."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.recall.order_network import OrderNetwork, OrderOdds

INPUTS, FLAGS, PAIRED, HIDDEN, SHARED, PAIR_HIDDEN = 5, 2, 3, 4, 2, 6
DIMS, DIRECTIONS = 3, 2
KNOWN = INPUTS + DIRECTIONS + 1
SIZES = {
    "mean": (INPUTS,),
    "deviation": (INPUTS,),
    "hidden": (KNOWN + FLAGS + 1, HIDDEN),
    "direct": (KNOWN + FLAGS + 1,),
    "bearing": (HIDDEN,),
    "before": (HIDDEN + 1, SHARED),
    "behind": (HIDDEN + 1, SHARED),
    "pairs": (PAIRED + 2 * SHARED + FLAGS + 1, PAIR_HIDDEN),
    "verdicts": (PAIR_HIDDEN + 1, 2),
    "asked_into": (DIMS + 1, DIRECTIONS),
    "said_into": (DIMS + 1, DIRECTIONS),
}


def network(seed: int = 0) -> OrderNetwork:
    chance = np.random.default_rng(seed)
    drawn = {name: chance.normal(size=size).astype(np.float32) for name, size in SIZES.items()}
    return OrderNetwork(**drawn | {"deviation": np.ones(INPUTS, np.float32)})


def candidates(count: int, seed: int) -> list[np.ndarray]:
    """Inputs, pairs and flags, and vectors, of which the first candidate has none."""
    chance = np.random.default_rng(seed)
    shapes = ((count, INPUTS), (count, count, PAIRED), (FLAGS,), (count, DIMS), (DIMS,))
    drawn = [chance.normal(size=shape).astype(np.float32) for shape in shapes]
    drawn[3][0] = 0
    return drawn


def by_the_book(
    learned: OrderNetwork,
    inputs: np.ndarray,
    pairs: np.ndarray,
    flags: np.ndarray,
    vectors: np.ndarray,
    asked: np.ndarray,
) -> OrderOdds:
    """The equations of the module, one candidate and one pair at a time."""
    count = len(inputs)
    bearing, replaced, same = np.zeros(count), np.zeros((count, count)), np.zeros((count, count))
    hidden = []
    for i in range(count):
        met = (np.append(asked, 1) @ learned.asked_into) * (np.append(vectors[i], 1) @ learned.said_into)
        met = np.append(met, met.sum() / 2) * vectors[i].any()
        scaled = (inputs[i] - learned.mean) / learned.deviation
        x = np.concatenate((np.clip(scaled, -3, 3), np.clip(met, -3, 3), flags, [1]))
        hidden.append(np.append(np.maximum(x @ learned.hidden, 0), 1))
        bearing[i] = hidden[i][:-1] @ learned.bearing + x @ learned.direct
    for i in range(count):
        for j in range(count):
            p = np.concatenate((pairs[i, j], hidden[i] @ learned.before, hidden[j] @ learned.behind, flags, [1]))
            replaced[i, j], same[i, j] = np.append(np.maximum(p @ learned.pairs, 0), 1) @ learned.verdicts
    return OrderOdds(bearing, replaced, same)


@given(count=st.integers(1, 7), seed=st.integers(0, 1000))
def test_the_fast_form_is_the_equations(count: int, seed: int) -> None:
    learned, given_ = network(seed), candidates(count, seed + 1)
    fast, slow = learned.weigh(*given_), by_the_book(learned, *given_)
    for field in fields(OrderOdds):
        assert np.allclose(getattr(fast, field.name), getattr(slow, field.name), atol=1e-3)


@given(seed=st.integers(0, 1000), more=st.floats(0.0, 20.0), row=st.integers(0, 4), column=st.integers(0, 4))
def test_the_likelier_one_took_the_place_of_another_the_lower_that_stands_and_the_higher_itself(
    seed: int, more: float, row: int, column: int
) -> None:
    odds = network(seed).weigh(*candidates(5, seed))
    likelier = odds.replaced.copy()
    likelier[row, column] += np.float32(more)
    allowed = np.tril(np.ones((5, 5), np.bool_), -1)  # each may be replaced by those before it
    before, after = odds.standing(allowed), replace(odds, replaced=likelier).standing(allowed)
    assert after[row] <= before[row]
    assert after[column] >= before[column]
    others = np.delete(np.arange(5), [row, column])
    assert np.array_equal(after[others], before[others])


def test_what_took_the_place_of_what_bears_answers_though_it_does_not_bear_itself() -> None:
    replaced = np.array([[0, 9, -9], [0, 0, -9], [0, 0, 0]], np.float32)
    odds = OrderOdds(np.array([4, -3, 1], np.float32), replaced, replaced)
    allowed = np.triu(np.ones((3, 3), np.bool_), 1)
    assert np.argsort(-odds.standing(allowed)).tolist() == [1, 2, 0]


def test_what_may_be_replaced_by_nothing_stands_as_it_bears() -> None:
    odds = network().weigh(*candidates(5, 3))
    assert np.array_equal(odds.standing(np.zeros((5, 5), np.bool_)), odds.bearing)


def test_where_there_are_no_vectors_nothing_meets() -> None:
    none, (inputs, pairs, flags, *_) = np.zeros((0, 0), np.float32), candidates(4, 2)
    learned = network()
    kept = [*range(INPUTS), *range(KNOWN, KNOWN + FLAGS + 1)]
    bare = {"asked_into": none, "said_into": none, "hidden": learned.hidden[kept], "direct": learned.direct[kept]}
    by_words = replace(learned, **bare).weigh(inputs, pairs, flags, np.zeros((4, 0), np.float32), none[:0])
    without = learned.weigh(inputs, pairs, flags, np.zeros((4, DIMS), np.float32), np.ones(DIMS, np.float32))
    assert np.allclose(by_words.bearing, without.bearing, atol=1e-4)


@pytest.mark.parametrize("prefix", ["meaning_", "words_"])
def test_a_network_is_read_from_the_arrays_that_have_its_prefix(prefix: str) -> None:
    written = network(1)
    arrays = {prefix + field.name: getattr(written, field.name) for field in fields(written)}
    read = OrderNetwork.of(arrays, prefix)
    assert all(np.array_equal(getattr(read, field.name), getattr(written, field.name)) for field in fields(read))


def test_the_mean_of_several_is_taken_of_each_kind_of_odds_and_leaves_one_as_it_is() -> None:
    given = candidates(5, 3)
    several = [network(seed).weigh(*given) for seed in (1, 2)]
    mean = OrderOdds.mean_of(several)
    for name in ("bearing", "replaced", "same"):
        first, second = (getattr(odds, name) for odds in several)
        assert np.allclose(getattr(mean, name), (first + second) / 2, atol=1e-6)
        assert np.array_equal(getattr(OrderOdds.mean_of(several[:1]), name), first)


def test_what_is_not_known_of_a_candidate_is_as_it_is_on_average() -> None:
    learned = network()
    inputs, pairs, flags, vectors, asked = candidates(3, 1)
    inputs[1, 2] = np.nan
    averaged = inputs.copy()
    averaged[1, 2] = learned.mean[2]
    unknown, mean = (learned.weigh(some, pairs, flags, vectors, asked) for some in (inputs, averaged))
    assert np.allclose(unknown.bearing, mean.bearing, atol=1e-5)
    assert np.allclose(unknown.replaced, mean.replaced, atol=1e-5)

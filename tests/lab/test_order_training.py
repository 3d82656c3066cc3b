"""The network of recall's order learns, from what goes first alone, that the newest of what is on the matter does."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from mnemic.errors import Invalid
from mnemic.recall.currency import Pool
from mnemic.recall.order_network import OrderNetwork, OrderOdds
from mnemic.recall.understand import Question

pytest.importorskip("torch", reason="learning wants the extra `neural`")

from mnemic.lab.order_training import AVERAGED, Sample, train_network, train_networks

COUNT = 6


def sample(n: int, chance: np.random.Generator) -> Sample:
    """Six candidates, of which two are on the matter, and the newer of these answers."""
    on = np.zeros(COUNT, np.bool_)
    on[chance.choice(COUNT, 2, replace=False)] = True
    place = chance.permutation(COUNT)
    newest = int(min(np.flatnonzero(on), key=place.__getitem__))
    inputs = chance.normal(size=(COUNT, 4)).astype(np.float32)
    inputs[:, 0] += 6 * on
    pairs = chance.normal(size=(COUNT, COUNT, 3)).astype(np.float32)
    pairs[..., 0] += 6 * (on[:, None] & on)
    nobody, nothing = np.zeros(COUNT, np.bool_), np.zeros(COUNT, np.float32)
    pool = Pool(
        inputs=inputs, pairs=pairs, flags=np.zeros(1, np.float32), place=place, allowed=place < place[:, None],
        own=nothing, said=np.zeros(COUNT, np.int64), behind=nothing, speakers=np.zeros(COUNT, np.uint64),
        machines=nobody, apart=nobody, plain=nobody, supposed=nobody,
        vectors=chance.normal(size=(COUNT, 8)).astype(np.float32), asked=chance.normal(size=8).astype(np.float32),
    )  # fmt: skip
    current = np.arange(COUNT) == newest
    query = SimpleNamespace(text="多大？" if n % 2 else "How old?")
    question = cast(Question, SimpleNamespace(asks_own=True, query=query))
    return Sample(str(n), question, pool, current, on & ~current, nobody)


def test_the_newest_on_the_matter_goes_first() -> None:
    chance = np.random.default_rng(0)
    network = train_network([sample(n, chance) for n in range(400)], epochs=12)
    tested = [sample(n, chance) for n in range(100)]
    right = 0
    for each in tested:
        right += bool(each.current[weighed(network, each).standing(each.pool.allowed).argmax()])
    assert right >= 90


def test_what_is_near_in_meaning_bears_and_where_nothing_is_nothing_does() -> None:
    chance = np.random.default_rng(1)

    def related(n: int, *, told: bool) -> Sample:
        made = sample(n, chance)
        pool = replace(made.pool, inputs=chance.normal(size=(COUNT, 4)).astype(np.float32))
        if told:
            pool.vectors[made.current | made.outdated] = 2 * pool.asked
        none = np.zeros(COUNT, np.bool_)
        return replace(made, pool=pool, **{} if told else {"current": none, "outdated": none})

    network = train_network([related(n, told=n % 3 > 0) for n in range(600)], epochs=12)
    known, unknown = ([related(n, told=told) for n in range(60)] for told in (True, False))
    most = [[weighed(network, each).bearing.max() for each in some] for some in (known, unknown)]
    first = [bool((s.current | s.outdated)[weighed(network, s).bearing.argmax()]) for s in known]
    assert np.mean(first) >= 0.8
    assert np.median(most[0]) > np.median(most[1]) + 1


def weighed(network: OrderNetwork, of: Sample) -> OrderOdds:
    pool = of.pool
    return network.weigh(pool.inputs, pool.pairs, pool.flags, pool.vectors, pool.asked)


def test_the_same_samples_make_the_same_network() -> None:
    samples = [sample(n, np.random.default_rng(n)) for n in range(70)]
    first, second = (train_network(samples, epochs=1) for _ in range(2))
    assert np.array_equal(first.pairs, second.pairs)
    assert np.array_equal(first.hidden, second.hidden)


def test_three_networks_learn_from_news_from_logs_and_from_both_and_one_where_there_are_no_logs() -> None:
    chance = np.random.default_rng(5)
    samples, news, logs = ([sample(n, chance) for n in range(40)] for _ in range(3))
    first, second, third = train_networks(samples, news, logs, epochs=1)
    assert np.array_equal(first.hidden, train_network([*samples, *news], epochs=1).hidden)
    assert np.array_equal(second.hidden, train_network([*samples, *logs], epochs=1, averaged=AVERAGED).hidden)
    assert np.array_equal(third.hidden, train_network([*samples, *news, *logs], epochs=1, averaged=AVERAGED).hidden)
    (alone,) = train_networks(samples, news, epochs=1)
    assert np.array_equal(alone.hidden, first.hidden)


def test_what_is_known_of_no_candidate_is_refused() -> None:
    chance = np.random.default_rng(6)
    samples = [sample(n, chance) for n in range(4)]
    for each in samples:
        each.pool.inputs[:, 1] = np.nan
    with pytest.raises(Invalid, match="is known of none"):
        train_network(samples, epochs=1)


def test_what_only_tells_one_language_from_the_other_meets_nothing() -> None:
    chance = np.random.default_rng(2)
    samples = [sample(n, chance) for n in range(70)]
    for n, each in enumerate(samples):
        for vectors in (each.pool.vectors, each.pool.asked[None]):
            vectors[:, 0] = 9 if n % 2 else -9
    network = train_network(samples, epochs=1)
    known, other = samples[0].pool, np.array(samples[0].pool.vectors)
    other[:, 0] *= -1
    given = known.inputs, known.pairs, known.flags
    assert np.allclose(
        network.weigh(*given, known.vectors, known.asked).bearing,
        network.weigh(*given, other, known.asked).bearing,
        atol=0.3,
    )

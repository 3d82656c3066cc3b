"""The network of recall's order learns, from what goes first alone, that the newest of what is on the matter does."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from mnemic.recall.currency import Pool
from mnemic.recall.understand import Question

pytest.importorskip("torch", reason="learning wants the extra `neural`")

from mnemic.lab.order_training import Sample, train_network

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
    )  # fmt: skip
    current = np.arange(COUNT) == newest
    question = cast(Question, SimpleNamespace(asks_own=True))
    return Sample(str(n), question, pool, current, on & ~current, nobody)


def test_the_newest_on_the_matter_goes_first() -> None:
    chance = np.random.default_rng(0)
    network = train_network([sample(n, chance) for n in range(400)], epochs=12)
    tested = [sample(n, chance) for n in range(100)]
    right = 0
    for each in tested:
        standing = network.weigh(each.pool.inputs, each.pool.pairs, each.pool.flags).standing(each.pool.allowed)
        right += bool(each.current[standing.argmax()])
    assert right >= 90


def test_the_same_samples_make_the_same_network() -> None:
    samples = [sample(n, np.random.default_rng(n)) for n in range(70)]
    first, second = (train_network(samples, epochs=1) for _ in range(2))
    assert np.array_equal(first.pairs, second.pairs)
    assert np.array_equal(first.hidden, second.hidden)

"""One contestant of each sort keeps the contract."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from mnemic.lab.entries import contestants
from mnemic.lab.kit.contestant import Contestant, Means
from mnemic.testing.contestant_contract import *  # noqa: F403

NAMES = ("mnemic", "without dense+session", "hippo2", "mem0+zep", "no memory", "BM25 window", "hybrid")


@pytest.fixture(params=NAMES, scope="module")
def contestant(request: pytest.FixtureRequest) -> Callable[[], Contestant]:
    (make,) = contestants([request.param]).values()
    return partial(make, Means(embedder="scripted:64"))

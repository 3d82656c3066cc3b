"""The scripted embedder keeps the contract, and says what it is told to."""

from __future__ import annotations

import numpy as np
import pytest

from mnemic.errors import Invalid
from mnemic.models.base import Embedder
from mnemic.models.scripted_embedder import ScriptedEmbedder
from mnemic.settings import Settings
from mnemic.testing.embedder_contract import *  # noqa: F403


@pytest.fixture
def embedder() -> Embedder:
    return ScriptedEmbedder()


def test_words_in_common_are_closeness() -> None:
    embedder = ScriptedEmbedder(dims=1024)
    near, far = embedder.passages(["the cello lessons of Ana", "a boiler in Leeds"]) @ embedder.query(
        "Ana cello lessons"
    )
    assert near > 0.7
    assert abs(far) < 0.2


def test_its_vectors_are_the_same_on_every_machine() -> None:
    assert np.sign(ScriptedEmbedder(8).query("cello")).tolist() == [-1, 1, -1, 1, -1, 1, -1, -1]


def test_an_answer_can_be_set_beforehand() -> None:
    embedder = ScriptedEmbedder(2, {"where?": (3.0, 4.0)})
    assert embedder.query("where?") == pytest.approx([0.6, 0.8])
    assert embedder.passages(["where?"])[0] == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize("rest", ["0", "many", "-3"])
def test_a_size_that_is_none_is_refused(rest: str) -> None:
    with pytest.raises(Invalid, match="number of dimensions"):
        ScriptedEmbedder.opened(rest, Settings())

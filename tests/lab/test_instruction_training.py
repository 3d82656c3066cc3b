"""The form over vectors is what ridge regression gives, with all sentences and without each fold."""

from __future__ import annotations

import numpy as np

from mnemic.lab.instruction_training import OF_ALL, OF_WORDS, RIDGE, MeaningFit


def test_the_fit_is_that_of_the_inverse_and_says_of_each_sentence_what_a_fit_without_its_fold_does() -> None:
    chance = np.random.default_rng(3)
    vectors = chance.normal(size=(60, 8))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    seen = [{f"w{n}" for n in chance.integers(0, 12, 4)} for _ in range(60)]
    instructs, weights = vectors[:, 0] * vectors[:, 1] > 0, np.where(np.arange(60) % 3, 3.0, 1.0)
    folds = np.array([n % 4 - 1 for n in range(60)])
    fit = MeaningFit(vectors, seen, instructs, weights, folds)
    away = vectors - vectors.mean(0)
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    cosines = away @ away.T
    common = np.array([[len(a & b) / np.sqrt(len(a) * len(b)) for b in seen] for a in seen])
    kernel = (cosines + 2 * cosines**2) / 4 + OF_ALL + OF_WORDS * common
    wanted = np.where(instructs, 1.0, -1.0)
    ridged = kernel + np.diag(RIDGE / weights)
    whole = kernel @ np.linalg.solve(ridged, wanted)
    assert np.allclose(fit.whole().values(list(vectors.astype(np.float32)), seen), whole, atol=2e-3)
    for fold in range(3):
        kept, left_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        duals = np.linalg.solve(ridged[np.ix_(kept, kept)], wanted[kept])
        assert np.allclose(fit.unseen()[left_out], kernel[np.ix_(left_out, kept)] @ duals, atol=2e-3)
    assert np.isnan(fit.unseen()[folds < 0]).all()

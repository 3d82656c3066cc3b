"""A product of small matrices is the product, and no piece of it is as large as BLAS would share out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mnemic.extract.small_products import ON_ONE_THREAD, small_product


class Watched(np.ndarray[Any, np.dtype[np.float32]]):
    """Rows that note how many multiplications each product of them takes."""

    taken: list[int]

    def __getitem__(self, key: Any) -> Any:
        part = super().__getitem__(key)
        part.taken = self.taken
        return part

    def __matmul__(self, other: Any) -> Any:
        self.taken.append(self.size * other.shape[1])
        return np.asarray(self) @ other


@pytest.mark.parametrize("rows", [1, 5, 6, 24, 300])
@pytest.mark.parametrize(("dims", "columns"), [(384, 119), (384, 384), (8, 3), (700, 700)])
def test_no_piece_is_shared_out(rows: int, dims: int, columns: int) -> None:
    chance = np.random.default_rng(rows)
    left = chance.normal(size=(rows, dims)).astype(np.float32)
    right = chance.normal(size=(dims, columns)).astype(np.float32)
    watched = left.view(Watched)
    watched.taken = []
    np.testing.assert_allclose(small_product(watched, right), left @ right, rtol=1e-4, atol=1e-4)
    assert sum(watched.taken) == rows * dims * columns
    assert max(watched.taken) <= max(ON_ONE_THREAD, dims * columns)

"""Low-rank updates add to a layer's matrices what their product makes of the input, and to no other layer's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mnemic.errors import ModelError
from mnemic.models.e5.adapter import UNCHANGED, Adapter, read_adapter


def test_an_update_adds_its_product_and_leaves_other_matrices() -> None:
    chance = np.random.default_rng(0)
    stored = {
        "3.mixed.into": chance.normal(size=(8, 2)).astype(np.float16),
        "3.mixed.out": chance.normal(size=(2, 24)).astype(np.float16),
    }
    adapter = Adapter.of_arrays(stored)
    x = chance.normal(size=(5, 8)).astype(np.float32)
    result = np.zeros((5, 24), np.float32)
    adapter.of(3).add_to(result, x, "mixed")
    whole = stored["3.mixed.into"].astype(np.float32) @ stored["3.mixed.out"].astype(np.float32)
    assert np.allclose(result, x @ whole, atol=1e-4)
    before = result.copy()
    adapter.of(3).add_to(result, x, "joined")
    adapter.of(2).add_to(result, x, "mixed")
    assert adapter.of(2) is UNCHANGED
    assert np.array_equal(result, before)


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04"])
def test_a_file_that_is_none_is_a_fault_of_the_model(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "questions.npz"
    file.write_bytes(content)
    with pytest.raises(ModelError, match="Reinstall mnemic"):
        read_adapter(file)
    with pytest.raises(ModelError, match="Reinstall mnemic"):
        read_adapter(tmp_path / "missing.npz")

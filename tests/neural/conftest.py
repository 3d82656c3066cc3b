"""A tiny model of random weights, and a set of facts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

MISSING = "needs torch: pip install torch==2.13.0, then mnemic[neural]"


@pytest.fixture(scope="session")
def tiny_gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a tiny model."""
    pytest.importorskip("gguf", reason=MISSING)
    from mnemic.testing.tiny_llama import write_tiny_llama

    return write_tiny_llama(tmp_path_factory.mktemp("model") / "tiny.gguf")


@pytest.fixture(scope="session")
def tiny(tiny_gguf: Path) -> Any:
    """The tiny model, opened."""
    torch = pytest.importorskip("torch", reason=MISSING)
    from mnemic.neural.gguf_weights import open_gguf

    torch.set_num_threads(1)
    return open_gguf(tiny_gguf)

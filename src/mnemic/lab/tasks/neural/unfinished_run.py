"""What a long experiment has measured, kept while it runs, so that one that was stopped goes on behind that."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import mnemic
from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.experiment import ExperimentPlan

_CODE: Final = ("neural/*.py", "lab/tasks/neural/*.py")
"""What a figure may depend on, within the package: with any of it changed, what was measured is measured again."""


def processor_time() -> float:
    """Processor seconds of this process and of those that it has started and that have ended."""
    return sum(os.times()[:4])


class UnfinishedRun:
    """What a run of one seed has measured until it was stopped, part by part: the next one goes on from there.

    Args:
        path: Its file; None keeps nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._kept: dict[str, Any] = json.loads(path.read_text("utf-8")) if path is not None and path.exists() else {}

    @classmethod
    def of(cls, plan: ExperimentPlan, code: Path) -> UnfinishedRun:
        """That of the same experiment, seed and mode, by the same code of experiments and memories."""
        if plan.cache is None:
            return cls(None)
        digest, package = hashlib.sha256(code.read_bytes()), Path(mnemic.__file__).parent
        for file in sorted(file for pattern in _CODE for file in package.glob(pattern)):
            digest.update(file.read_bytes())
        mode = "quick" if plan.quick else "full"
        return cls(plan.cache / f"{code.stem}-{mode}-{plan.seed}-{digest.hexdigest()[:16]}.json")

    def figures(self, part: str) -> list[Figure] | None:
        """Those of a part; None where it is still to be measured."""
        return [Figure(**one) for one in self._kept[part]["figures"]] if part in self._kept else None

    def seconds(self, part: str) -> float:
        """`processor_time` that a part took."""
        return float(self._kept[part]["seconds"])

    def keep(self, part: str, figures: Sequence[Figure], seconds: float) -> None:
        """Write down what a part measured."""
        self._kept[part] = {"figures": [asdict(one) for one in figures], "seconds": seconds}
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            whole = self._path.with_suffix(".new")  # stopped while it writes, it loses no part that was kept
            whole.write_text(json.dumps(self._kept), "utf-8")
            whole.replace(self._path)

    def end(self) -> None:
        """Let go of all of it: every part is measured, and a next run begins anew."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)

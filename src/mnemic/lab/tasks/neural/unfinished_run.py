"""What a long experiment has measured, kept while it runs, so that one that was stopped goes on behind that."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.experiment import ExperimentPlan


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
        """That of the same seed, mode and file of code."""
        if plan.cache is None:
            return cls(None)
        digest = hashlib.sha256(code.read_bytes()).hexdigest()[:16]
        return cls(plan.cache / f"{code.stem}-{'quick' if plan.quick else 'full'}-{plan.seed}-{digest}.json")

    def figures(self, part: str) -> list[Figure] | None:
        """Those of a part; None where it is still to be measured."""
        return [Figure(**one) for one in self._kept[part]["figures"]] if part in self._kept else None

    def seconds(self, part: str) -> float:
        """Processor time that a part took."""
        return float(self._kept[part]["seconds"])

    def keep(self, part: str, figures: Sequence[Figure], seconds: float) -> None:
        """Write down what a part measured."""
        self._kept[part] = {"figures": [asdict(one) for one in figures], "seconds": seconds}
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(json.dumps(self._kept), "utf-8")

    def end(self) -> None:
        """Let go of all of it: every part is measured, and a next run begins anew."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)

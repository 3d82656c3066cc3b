"""`mnemic bench locomo`: evidence retrieval over very long conversations, mnemic beside its baselines.

LoCoMo (Maharana et al., arXiv:2402.17753) is CC BY-NC 4.0 and not shipped: get `locomo10.json` from the
authors' repository (snap-research/locomo on GitHub, `data/`). The unified jsonl is taken as well. No
language model is called, and nothing is tuned on the questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from mnemic.errors import Invalid
from mnemic.lab.kit.datasets import Dataset, load
from mnemic.lab.kit.log import Log
from mnemic.lab.kit.run import DEPTH, Progress, run, silent
from mnemic.lab.kit.systems import Entrant, entrants
from mnemic.models.base import Embedder


def bench_locomo(
    path: Path,
    *,
    out: Path,
    seed: int = 0,
    systems: Sequence[str] | None = None,
    limit: int | None = None,
    embedder: Embedder | None = None,
    without: Sequence[str] = (),
    progress: Progress = silent,
) -> Path:
    """Run the benchmark and return the log it wrote; `lab.kit.run_report.report` makes the tables from that.

    Args:
        path: LoCoMo's json, or unified jsonl(.gz).
        out: A folder, which gets a log named after data and time, or the log file itself (`.jsonl`).
        seed: Of the bootstrap; nothing else is random.
        systems: Rows to run; all when None.
        limit: Ask the first so many questions only.
        embedder: What meaning is read with; adds the dense rows. A second run with a `lab.kit.cached.CachedEmbedder` is
            quick.
        without: Stages of recall (`core.queries.Stage`): for each a row of mnemic without it.

    Raises:
        Invalid: the file is not a benchmark we know, a system is none of ours, a stage is none, `limit` is not
            positive, or the log exists.
    """
    if limit is not None and limit < 1:
        raise Invalid("limit", f"is {limit}", "Ask at least one question.")
    dataset = load(path).first(limit)
    rows = entrants(systems, embedder, without)
    passed = {
        "path": str(path),
        "out": str(out),
        "seed": seed,
        "systems": systems,
        "limit": limit,
        "without": list(without),
    }
    log_path = out if out.suffix == ".jsonl" else out / f"{dataset.name}-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}.jsonl"
    with Log(log_path) as log:
        log.header(
            benchmark="locomo",
            seed=seed,
            passed=passed,
            effective=_effective(rows, dataset, embedder),
            data=_described(dataset),
        )
        run(dataset, rows, log, progress)
    return log_path


def _effective(rows: Sequence[Entrant], dataset: Dataset, embedder: Embedder | None) -> dict[str, object]:
    return {
        "systems": [row.name for row in rows],
        "questions": len(dataset.questions),
        "depth": DEPTH,
        "embedder": None if embedder is None else embedder.name,
        "captions": "in the text",
        "level": "turn",
    }


def _described(dataset: Dataset) -> dict[str, object]:
    return {
        "name": dataset.name,
        "sha256": dataset.sha256,
        "corpora": len(dataset.corpora),
        "docs": sum(len(corpus.docs) for corpus in dataset.corpora),
        "undated": dataset.undated,
        "questions": len(dataset.questions),
        "unscorable": dataset.unscorable,
        "evidence_mended": dataset.mended,
        "evidence_dropped": dataset.dropped,
    }

"""Power cuts: the engine's writes are recorded, and thousands of disks that a cut could leave are opened and audited.

With `synchronous` weakened the same run must find losses, or the harness itself is broken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from mnemic.testing.disk import Disk, Loss, Step, Synced, cuts, lay
from mnemic.testing.torture import children
from mnemic.testing.torture.report import Report, quantile
from mnemic.testing.torture.subject import Audit, How, parse, subject
from mnemic.testing.vfs import RecordingVFS

_ACTS: Final = 40
_PER_LIFE: Final = 150
WEAKENED: Final = ("NORMAL", "OFF")
"""Settings under which an acknowledged write may be lost, or more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Images of one recorded life."""

    subject: str
    seed: int
    images: int
    synchronous: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """One image, opened again."""

    loss: Loss
    audit: Audit


@dataclass(frozen=True, slots=True, kw_only=True)
class Cuts:
    """All images of one life."""

    syncs: int
    cuts: tuple[Cut, ...]


def power(
    runs: int = 3000, seed: int = 1, *, name: str = "memory", workers: int = 2, weak_runs: int | None = None
) -> Report:
    """Cut the power `runs` times at full durability, where all must hold, and a tenth as often with it weakened.

    Args:
        weak_runs: How often for each weakened setting.
    """
    weak_runs = max(60, runs // 10) if weak_runs is None else weak_runs
    full = _all(name, seed, runs, "FULL", workers)
    weak = {setting: _all(name, seed, weak_runs, setting, workers) for setting in WEAKENED}
    return _report(name, seed, full, weak)


def run(job: Job) -> Cuts:
    """Record a life, cut it, audit what is left."""
    with children.folder() as folder:
        steps = _record(job, folder)
        random = Random(job.seed)
        found = []
        disk = Disk(steps)
        for number, cut in enumerate(cuts(steps, job.images, random)):
            disk.forward(cut)
            loss = tuple(Loss)[number % len(Loss)]
            found.append(Cut(loss=loss, audit=_audit(job, folder / f"{number}", disk, loss, random)))
    return Cuts(syncs=sum(isinstance(step, Synced) for step in steps), cuts=tuple(found))


def _record(job: Job, folder: Path) -> list[Step]:
    with RecordingVFS() as vfs:
        store = subject(job.subject).open(folder / "memory.db", How(vfs=vfs.name, synchronous=job.synchronous))
        life = store.life("ada", job.seed)
        for _ in range(_ACTS):
            life.step(vfs.mark)
        store.close()
        return vfs.steps


def _audit(job: Job, folder: Path, disk: Disk, loss: Loss, random: Random) -> Audit:
    folder.mkdir()
    lay(disk.image(loss, random), folder)
    return subject(job.subject).audit(folder / "memory.db", tuple(map(parse, disk.said)))


def _all(name: str, seed: int, images: int, synchronous: str, workers: int) -> list[Cuts]:
    random = Random(f"{seed}:{synchronous}")
    sizes = [min(_PER_LIFE, images - done) for done in range(0, images, _PER_LIFE)]
    jobs = [Job(subject=name, seed=random.getrandbits(32), images=size, synchronous=synchronous) for size in sizes]
    return list(children.each(run, jobs, workers))


def _report(name: str, seed: int, full: list[Cuts], weak: dict[str, list[Cuts]]) -> Report:
    images = list(_cuts(full))
    problems = [f"{cut.loss}: {problem}" for cut in images for problem in cut.audit.problems]
    caught = {setting: sum(bool(cut.audit.problems) for cut in _cuts(found)) for setting, found in weak.items()}
    problems += [f"the harness has no teeth: synchronous={setting} passed" for setting in caught if not caught[setting]]
    by_loss = Counter(cut.loss for cut in images)
    return Report(
        name="power",
        subject=name,
        seed=seed,
        figures={
            "images": len(images),
            **{f"images, {loss}": by_loss[loss] for loss in Loss},
            "syncs recorded": sum(one.syncs for one in full),
            "acknowledged acts checked": sum(cut.audit.acks for cut in images),
            "bad": sum(bool(cut.audit.problems) for cut in images),
            "reopen ms p50": quantile([cut.audit.milliseconds for cut in images], 0.5),
            "reopen ms max": max((cut.audit.milliseconds for cut in images), default=0.0),
            **{
                f"bad at {setting} (must be some)": f"{caught[setting]} of {len(list(_cuts(weak[setting])))}"
                for setting in weak
            },
        },
        problems=problems,
    )


def _cuts(found: list[Cuts]) -> Iterator[Cut]:
    return (cut for one in found for cut in one.cuts)

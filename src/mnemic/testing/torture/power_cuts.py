"""Power cuts: the engine's writes are recorded, and thousands of disks that a cut could leave are opened and audited.

With `synchronous` weakened the same run must find losses, or the harness itself is broken.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from mnemic.testing.faulty_disk import Disk, Loss, Step, Synced, cuts, lay
from mnemic.testing.torture import children
from mnemic.testing.torture.report import Report, quantile
from mnemic.testing.torture.subject import ActReport, Audit, How, parse, subject
from mnemic.testing.vfs import RecordingVFS

_ACTS: Final = 40
_MANY_ACTS: Final = 240
"""Enough to fill the log and start it over."""
_PER_LIFE: Final = 150
WEAKENED: Final = ("NORMAL", "OFF")
"""Settings under which an acknowledged write may be lost, or more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerCutJob:
    """Images of one recorded life of `acts` acts; with `again`, of a second one on top of what a first cut left."""

    subject: str
    seed: int
    images: int
    synchronous: str
    acts: int
    again: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """One image, opened again."""

    loss: Loss
    audit: Audit
    rewinds: int
    """How many had begun."""
    amid: str
    """The act that was under way, if any was."""


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


def run(job: PowerCutJob) -> Cuts:
    """Record a life, cut it, audit what is left; with `again`, cut a second life that began on what a cut left."""
    random = Random(job.seed)
    with children.folder() as folder:
        steps = _record(job, folder, "ada")
        before: tuple[ActReport, ...] = ()
        if job.again:
            before = _left(steps, random.randrange(1, len(steps)), folder / "again", random)
            steps = _record(job, folder / "again", "eve")
        disk = Disk(steps)
        made = []
        for number, cut in enumerate(cuts(steps, job.images, random)):
            disk.forward(cut)
            loss = tuple(Loss)[number % len(Loss)]
            audit = _audit(job, folder / f"{number}", disk, loss, before, random)
            said = list(map(parse, disk.said))
            begun = sum(act.act == "rewind" and not act.done for act in said)
            amid = said[-1].act if said and not said[-1].done else ""
            made.append(Cut(loss=loss, audit=audit, rewinds=begun, amid=amid))
    return Cuts(syncs=sum(isinstance(step, Synced) for step in steps), cuts=tuple(made))


def _record(job: PowerCutJob, folder: Path, who: str) -> list[Step]:
    with RecordingVFS() as vfs:
        store = subject(job.subject).open(folder / "memory.db", How(vfs=vfs.name, synchronous=job.synchronous))
        life = store.life(who, job.seed, alone=True)
        for _ in range(job.acts):
            life.step(vfs.mark)
        store.close()
        return vfs.steps


def _left(steps: list[Step], cut: int, folder: Path, random: Random) -> tuple[ActReport, ...]:
    folder.mkdir()
    disk = Disk(steps)
    disk.forward(cut)
    lay(disk.image(random.choice(tuple(Loss)), random), folder)
    return tuple(map(parse, disk.said))


def _audit(
    job: PowerCutJob, folder: Path, disk: Disk, loss: Loss, before: tuple[ActReport, ...], random: Random
) -> Audit:
    folder.mkdir()
    lay(disk.image(loss, random), folder)
    audit = subject(job.subject).audit(folder / "memory.db", (*before, *map(parse, disk.said)))
    shutil.rmtree(folder)
    return audit


def _all(name: str, seed: int, images: int, synchronous: str, workers: int) -> list[Cuts]:
    random = Random(f"{seed}:{synchronous}")
    sizes = [min(_PER_LIFE, images - done) for done in range(0, images, _PER_LIFE)]
    jobs = [
        PowerCutJob(
            subject=name,
            seed=random.getrandbits(32),
            images=size,
            synchronous=synchronous,
            acts=_MANY_ACTS if i % 5 == 4 else _ACTS,
            again=i % 2 == 1 and synchronous == "FULL",
        )
        for i, size in enumerate(sizes)
    ]
    return list(children.each(run, jobs, workers))


def _report(name: str, seed: int, full: list[Cuts], weak: dict[str, list[Cuts]]) -> Report:
    images = list(_cuts(full))
    problems = [f"{cut.loss}: {problem}" for cut in images for problem in cut.audit.problems]
    caught = {setting: sum(bool(cut.audit.problems) for cut in _cuts(cuts)) for setting, cuts in weak.items()}
    problems += [f"the harness has no teeth: synchronous={setting} passed" for setting in caught if not caught[setting]]
    by_loss, amid = Counter(cut.loss for cut in images), Counter(cut.amid or "none" for cut in images)
    return Report(
        name="power",
        subject=name,
        seed=seed,
        figures={
            "images": len(images),
            **{f"images, {loss}": by_loss[loss] for loss in Loss},
            "lives recorded": len(full),
            "syncs recorded": sum(cut_series.syncs for cut_series in full),
            "acknowledged acts checked": sum(cut.audit.acks for cut in images),
            "rewinds before the cuts": sum(cut.rewinds for cut in images),
            "images cut in": ", ".join(f"{act} {count}" for act, count in amid.most_common()),
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


def _cuts(series: list[Cuts]) -> Iterator[Cut]:
    return (cut for cut_series in series for cut in cut_series.cuts)

"""What a local engine keeps of prompts beside a store, measured with a control beside each figure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from mnemic.lab.kit.figures import Figure, Measurements
from mnemic.lab.kit.log import provenance
from mnemic.lab.tasks.kv.artefact_cuts import measure_power_cuts
from mnemic.lab.tasks.kv.canaries import measure_canaries
from mnemic.lab.tasks.kv.damage import measure_damage
from mnemic.lab.tasks.kv.first_words import measure_first_words
from mnemic.lab.tasks.kv.talks import TalkSize, measure_talks
from mnemic.store.sqlite.disk import file_system

PARTS: Final = ("first", "talks", "damage", "power", "canaries")


@dataclass(frozen=True, slots=True, kw_only=True)
class KvLoad:
    """How much is measured; the defaults are what bars are stated for.

    Attributes:
        sizes: Tokens of memory before the first word.
        talk: The talks of four people.
        mutations: Artefacts that are changed.
        cuts: Power cuts.
        canaries: Texts that are erased.
        parts: Which of `PARTS` are measured.
    """

    sizes: tuple[int, ...] = (1_024, 2_048)
    talk: TalkSize = field(default_factory=TalkSize)
    mutations: int = 1_000
    cuts: int = 200
    canaries: int = 50
    parts: tuple[str, ...] = PARTS
    seed: int = 0


QUICK: Final = KvLoad(sizes=(512,), talk=TalkSize(sittings=4, turns=1, answer=2), mutations=60, cuts=12, canaries=10)
"""What fits a minute of processor time; its bar for a first word is the one of 512 tokens."""


def bench_kv(load: KvLoad, progress: Callable[[str], None]) -> Measurements:
    """Measure each part in turn."""
    with TemporaryDirectory(prefix="mnemic-kv-") as folder:
        figures = []
        for part in load.parts:
            for figure in _part(part, load, Path(folder), progress):
                progress(f"{figure.name}: {figure.value:,.2f} {figure.unit} ({figure.detail})")
                figures.append(figure)
        header = {**provenance(), "load": asdict(load), "file_system": file_system(Path(folder))}
    return Measurements(header=header, figures=tuple(figures))


def _part(part: str, load: KvLoad, folder: Path, progress: Callable[[str], None]) -> Iterator[Figure]:
    progress(part)
    match part:
        case "first":
            yield from measure_first_words(folder, load.sizes)
        case "talks":
            yield from measure_talks(folder, load.talk, progress)
        case "damage":
            yield from measure_damage(folder, load.mutations, load.seed)
        case "power":
            yield from measure_power_cuts(folder, load.cuts, load.seed)
        case _:
            yield from measure_canaries(folder, load.canaries, load.seed)

"""A disk on paper: the record of what was done to files, and what a power cut leaves of it.

The model is the one SQLite's own crash tests use: a sync keeps all that was written to its file;
of writes since then any may be lost, kept, or torn at a sector, in any order between files; a name
that was made or removed is kept only once its folder is synced. One folder, as a store has.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from random import Random
from typing import Final, TypeVar

SECTOR: Final = 512
"""Bytes that a disk writes whole or not at all."""


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A name was opened for the first time; a name that did not exist, or was empty, is new."""

    node: int
    name: str
    content: bytes
    new: bool


@dataclass(frozen=True, slots=True)
class DiskWrite:
    node: int
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Truncated:
    node: int
    size: int


@dataclass(frozen=True, slots=True)
class Synced:
    """A file was synced, and with `folder` the names in its folder too."""

    node: int
    folder: bool


@dataclass(frozen=True, slots=True)
class Deleted:
    name: str
    folder: bool


@dataclass(frozen=True, slots=True)
class Marked:
    """What the workload had to say at this moment, such as "ack 17"."""

    text: str


Step = OpenFile | DiskWrite | Truncated | Synced | Deleted | Marked


class Loss(StrEnum):
    """What becomes of the writes that no sync has kept."""

    DROP = "drop"
    """All are lost, and every name that was not synced with its folder."""
    SUBSET = "subset"
    """Each is kept or lost."""
    TORN = "torn"
    """Each of their sectors is kept or lost."""
    PREFIX = "prefix"
    """Each file keeps the first few of its own, however far the others came."""
    NOISE = "noise"
    """Each of their sectors is kept, lost, or turned to noise."""


@dataclass(slots=True)
class _File:
    kept: bytearray = field(default_factory=bytearray)
    loose: list[DiskWrite | Truncated] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Naming:
    name: str
    node: int | None


_Loose = TypeVar("_Loose", DiskWrite | Truncated, _Naming)


class Disk:
    """A record replayed step by step; at any moment `image` says what a power cut would leave.

    A file from before the record is there from the first step on, whenever it is opened: SQLite opens
    the log a while after the database, and a cut between the two loses no log.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        self._files: dict[int, _File] = {}
        self._names: dict[str, int] = {}
        self._loose: list[_Naming] = []
        self._said: list[str] = []
        self._at = 0
        for step in _from_before(steps):
            self._apply(step)

    @property
    def said(self) -> tuple[str, ...]:
        """The marks passed so far, in order."""
        return tuple(self._said)

    def forward(self, to: int) -> None:
        """Replay up to, not including, step `to`."""
        while self._at < to:
            self._apply(self._steps[self._at])
            self._at += 1

    def image(self, loss: Loss, random: Random) -> dict[str, bytes]:
        """The files, by name, as found after a power cut at this moment."""
        names = dict(self._names)
        for naming in _survivors(self._loose, loss, random):
            if naming.node is None:
                names.pop(naming.name, None)
            else:
                names[naming.name] = naming.node
        return {name: self._content(node, loss, random) for name, node in names.items()}

    def _content(self, node: int, loss: Loss, random: Random) -> bytes:
        file = self._files[node]
        content = bytearray(file.kept)
        for step in _survivors(file.loose, loss, random):
            if isinstance(step, DiskWrite) and loss in (Loss.TORN, Loss.NOISE):
                for piece in _torn(step, loss, random):
                    _put(content, piece)
            else:
                _put(content, step)
        return bytes(content)

    def _apply(self, step: Step) -> None:
        match step:
            case OpenFile(node, name, content, new):
                self._files[node] = _File(bytearray(content))
                if new:
                    self._loose.append(_Naming(name, node))
                else:
                    self._names[name] = node
            case DiskWrite(node) | Truncated(node):
                self._files[node].loose.append(step)
            case Synced(node, folder):
                self._keep(node)
                if folder:
                    self._keep_names()
            case Deleted(name, folder):
                self._loose.append(_Naming(name, None))
                if folder:
                    self._keep_names()
            case Marked(text):
                self._said.append(text)

    def _keep(self, node: int) -> None:
        file = self._files[node]
        for step in file.loose:
            _put(file.kept, step)
        file.loose.clear()

    def _keep_names(self) -> None:
        for naming in self._loose:
            if naming.node is None:
                self._names.pop(naming.name, None)
            else:
                self._names[naming.name] = naming.node
        self._loose.clear()


def _from_before(steps: Sequence[Step]) -> Iterator[OpenFile]:
    """The openings of files that nobody made or removed earlier in the record."""
    names: set[str] = set()
    for step in steps:
        if isinstance(step, OpenFile) and not step.new and step.name not in names:
            yield step
        if isinstance(step, OpenFile | Deleted):
            names.add(step.name)


def _survivors(loose: list[_Loose], loss: Loss, random: Random) -> list[_Loose]:
    match loss:
        case Loss.DROP:
            return []
        case Loss.PREFIX:
            return loose[: random.randint(0, len(loose))]
        case Loss.SUBSET:
            return [step for step in loose if random.random() < 0.5]
        case Loss.TORN | Loss.NOISE:
            return [step for step in loose if isinstance(step, DiskWrite) or random.random() < 0.5]


def _torn(step: DiskWrite, loss: Loss, random: Random) -> Iterator[DiskWrite]:
    start, end = step.offset, step.offset + len(step.data)
    while start < end:
        stop = min(end, (start // SECTOR + 1) * SECTOR)
        fate = random.random()
        if fate < 0.5:
            yield DiskWrite(step.node, start, step.data[start - step.offset : stop - step.offset])
        elif fate < 0.75 and loss is Loss.NOISE:
            yield DiskWrite(step.node, start, random.randbytes(stop - start))
        start = stop


def _put(content: bytearray, step: DiskWrite | Truncated) -> None:
    if isinstance(step, Truncated):
        del content[step.size :]
        content.extend(bytes(step.size - len(content)))
        return
    if len(content) < step.offset:
        content.extend(bytes(step.offset - len(content)))
    content[step.offset : step.offset + len(step.data)] = step.data


def lay(image: dict[str, bytes], folder: Path) -> None:
    """Write an image's files into an empty folder, under their own last names."""
    for name, content in image.items():
        (folder / os.path.basename(name)).write_bytes(content)


def cuts(steps: Sequence[Step], count: int, random: Random) -> list[int]:
    """`count` moments to cut the power, ascending: around every sync first, the rest anywhere."""
    near = {i + shift for i, step in enumerate(steps) if isinstance(step, Synced) for shift in (0, 1)}
    chosen = sorted(near)
    random.shuffle(chosen)
    chosen = chosen[: (count + 1) // 2]
    return sorted(chosen + random.choices(range(1, len(steps) + 1), k=count - len(chosen)))

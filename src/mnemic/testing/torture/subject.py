"""What is tortured, and how its promises are held against it.

A life is one user's mixed work. Before each act it says what the act may change, after it what is
now promised; both are lines on a pipe or marks in a record, so a dead process cannot take them back.
Every text is unique, so what a user sees is a set of strings, and a promise is a change to that set.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from mnemic.testing.faults import Probe

Say = Callable[[str], None]
"""Tell the world, in one line, before or after an act."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActReport:
    """One line of a child process: what an act of user `who` may change or, with `done`, has changed.

    Attributes:
        adds, drops: Texts that become visible, and texts that no longer are.
        gone: Texts that were erased, and of which no file holds a byte, as the receipt says.
        seq, hash: The journal's head after the act; in the line before it, the commit that a rewind goes back to.
    """

    who: str
    act: str
    adds: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    done: bool = False
    seq: int = 0
    hash: str = ""

    def line(self) -> str:
        """Encode the report as one line of JSON."""
        return json.dumps(asdict(self), separators=(",", ":"))


def parse(line: str) -> ActReport:
    """Decode one line."""
    fields: dict[str, Any] = json.loads(line)
    for name in ("adds", "drops", "gone"):
        fields[name] = tuple(fields[name])
    return ActReport(**fields)


@dataclass(slots=True)
class Promise:
    """What one user must see: all of `sure`, with the act that was under way done or not done, never in part."""

    sure: set[str] = field(default_factory=set)
    open: ActReport | None = None

    def take(self, said: ActReport) -> None:
        """Take one line into account."""
        self.open = None if said.done else said
        if said.done:
            self.sure = (self.sure - set(said.drops)) | set(said.adds)

    def problems(self, who: str, seen: set[str]) -> list[str]:
        """How what is seen breaks the promise."""
        if seen == self.sure:
            return []
        if self.open is not None and seen == (self.sure - set(self.open.drops)) | set(self.open.adds):
            return []
        during = f" (during {self.open.act})" if self.open else ""
        lost, extra = sorted(self.sure - seen)[:3], sorted(seen - self.sure)[:3]
        return [f"{who}: lost {lost}, not promised {extra}{during}"]


def promises(said: Iterable[ActReport]) -> dict[str, Promise]:
    """What each user was promised."""
    kept: dict[str, Promise] = {}
    for act in said:
        kept.setdefault(act.who, Promise()).take(act)
    return kept


def silent(_: str, /) -> None:
    """A probe, or a `Say`, that does nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """How to open what is tortured."""

    vfs: str | None = None
    synchronous: str = "FULL"
    probe: Probe = silent


class Life(Protocol):
    """One user's work."""

    def step(self, say: Say) -> None:
        """One act. After an error the next step repeats it, with the same key."""
        ...


class OpenSubject(Protocol):
    """An open store."""

    def life(self, who: str, seed: int, *, alone: bool = False) -> Life:
        """A user's work, decided by the seed; `alone`, it may bring the whole store back to an earlier commit."""
        ...

    def recall(self, who: str) -> int:
        """Read as a user would; how many items came back."""
        ...

    def backup(self, dest: Path) -> None:
        """A copy, taken while others write."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What was found on opening again.

    Attributes:
        problems: Everything that breaks a promise; empty is good.
        acks: How many acts had been acknowledged.
        milliseconds: From opening to the first answer.
    """

    problems: tuple[str, ...]
    acks: int
    milliseconds: float


def audit_line(audit: Audit) -> str:
    """An audit as one line of JSON."""
    return json.dumps(asdict(audit))


def parse_audit(line: str) -> Audit:
    """An audit read back."""
    fields = json.loads(line)
    return Audit(problems=tuple(fields.pop("problems")), **fields)


class Subject(Protocol):
    """Something that promises to remember."""

    name: str
    errors: tuple[type[Exception], ...]
    """What a failing call may raise; all else is a crash."""

    def open(self, path: Path, how: How) -> OpenSubject: ...

    def audit(self, path: Path, said: Sequence[ActReport]) -> Audit:
        """Open it again as a user would and hold what it shows against what was said."""
        ...


def residue(folder: Path, said: Iterable[ActReport]) -> list[str]:
    """Erased texts of which some file still holds the bytes, though their receipt said none does."""
    gone = [text for act in said if act.done for text in act.gone]
    if not gone:
        return []
    files = [(path.name, path.read_bytes()) for path in sorted(folder.iterdir()) if path.is_file()]
    return [f"{text!r} in {name}" for text in gone for name, content in files if text.encode() in content]


SUBJECTS: Final = {
    "store": "mnemic.testing.torture.store:StoreSubject",
    "memory": "mnemic.testing.torture.memory_subject:MemorySubject",
    "sqlite": "mnemic.testing.torture.toy:ToySubject",
}
"""What can be tortured, by name."""


def subject(name: str) -> Subject:
    """The subject of this name."""
    module, _, cls = SUBJECTS[name].partition(":")
    made: Subject = getattr(importlib.import_module(module), cls)()
    return made

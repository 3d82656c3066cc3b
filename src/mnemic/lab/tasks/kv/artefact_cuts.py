"""Power cuts while artefacts are saved, learnt and erased: a process is killed, and what it had not synced is lost.

The bytes of SQLite are its own matter (its synchronous writes are tested elsewhere): here every file of an artefact
that was not synced is cut in half, and where a folder was not synced, a new name in it is lost and an old one comes
back, or not, by lot. Then the store is opened again: it must be sound, what an item names must be whole, what was
erased must be nowhere, and what was being learnt is learnt by whoever goes on, to the same tensors.
"""

from __future__ import annotations

import importlib.util
import os
import random
import shutil
import signal
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from mnemic.artefacts import artefact_files
from mnemic.artefacts.artefact_files import ArtefactFolder, StoredBytes
from mnemic.core.ids import ItemId
from mnemic.errors import MnemicError
from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.kv.first_words import QUIET
from mnemic.memory import Memory, ScopedMemory
from mnemic.scope_learning import LearningPlan, open_lora
from mnemic.settings import Settings
from mnemic.store.sqlite.sqlite_store import SqliteStore

_SIZE: Final = 50_000
_NEVER: Final = 1 << 30
"""A point that nothing comes to."""
_CANARY: Final = b"tuatara named Quill"
ACTS: Final = ("save", "learn", "erase")
"""What is cut short."""


class _Cut:
    """Kills this process at its nth point, after losing what was not synced."""

    def __init__(self, at: int, rng: random.Random, root: Path) -> None:
        self._left, self._rng, self._root = at, rng, root
        self._synced: set[int] = set()
        self._renamed: list[tuple[Path, Path]] = []
        self._unlinked: list[tuple[Path, Path]] = []
        self._fsync, self._rename, self._unlink = os.fsync, os.rename, os.unlink
        self._shadows = root.with_name("shadows")
        self._shadows.mkdir(exist_ok=True)
        os.fsync, os.rename, os.unlink = self._note_sync, self._note_rename, self._note_unlink  # type: ignore[assignment]

    def __call__(self, point: str) -> None:
        self._left -= 1
        if self._left < 0:
            self.lose()
            os.kill(os.getpid(), signal.SIGKILL)

    def _note_sync(self, descriptor: int) -> None:
        self._fsync(descriptor)
        stat = os.fstat(descriptor)
        self._synced.add(stat.st_ino)
        for names in (self._renamed, self._unlinked):
            names[:] = [pair for pair in names if not _is_folder(pair[1].parent, stat.st_ino)]

    def _note_rename(self, source: Path, dest: Path) -> None:
        self._rename(source, dest)
        if self._root in Path(dest).parents:
            self._renamed.append((Path(source), Path(dest)))

    def _note_unlink(self, path: Path, **options: Any) -> None:
        path = Path(path)
        if self._root in path.parents and path.is_file():
            shadow = self._shadows / f"{len(self._unlinked)}-{path.name}"
            os.link(path, shadow)
            self._unlinked.append((shadow, path))
        self._unlink(path, **options)

    def lose(self) -> None:
        """Do to the files of artefacts what a power cut may."""
        for path in sorted(self._root.rglob("*")):
            if path.is_file() and path.stat().st_ino not in self._synced and not _was_there(path):
                os.truncate(path, path.stat().st_size // 2)
        for source, dest in self._renamed:
            if dest.exists() and self._rng.random() < 0.5:
                self._rename(dest, source)
        for shadow, path in self._unlinked:
            if not path.exists() and self._rng.random() < 0.5:
                path.parent.mkdir(parents=True, exist_ok=True)
                os.link(shadow, path)
        for shadow in self._shadows.iterdir():
            self._unlink(shadow)


def _is_folder(folder: Path, inode: int) -> bool:
    return folder.exists() and folder.stat().st_ino == inode


def _was_there(path: Path) -> bool:
    """Whether a file was made before this process began: it was synced then."""
    return path.stat().st_mtime < _BEGUN


_BEGUN = 0.0


def _synced_later(path: Path) -> StoredBytes:
    """Digest a file without syncing it: the control, in which its name comes first."""
    return StoredBytes(artefact_files._digest(path), path.stat().st_size)


def _unsynced(folder: Path) -> None:
    """Sync no folder: the control of erasing, after which a name may come back."""


@dataclass(frozen=True, slots=True)
class _Lesson:
    """What is learnt by processes that are killed: of a store in which facts are told, and was learnt of it once.

    Attributes:
        template: The folder of that store.
        state: What torch made of its facts: it cannot learn in a forked process, and is not what is cut.
    """

    template: Path
    plan: LearningPlan
    settings: Settings
    state: dict[str, Any]

    def learn(self, me: ScopedMemory) -> None:
        """Have the job learn all of it here."""
        with self._known():
            while me.learning.learn_next(self.plan, lambda *_: None):
                pass

    def is_learnt(self, me: ScopedMemory) -> bool:
        """Whether what is kept are the tensors that an undisturbed job keeps."""
        from mnemic.neural.base import state_digest

        kept = me.learning.state(open_lora(self.plan, self.settings.home / "cache"))
        return state_digest(kept) == state_digest(self.state)

    @contextmanager
    def _known(self) -> Iterator[None]:
        from mnemic.neural.lora_memory import LoraMemory

        learnt = LoraMemory.write
        LoraMemory.write = lambda *_: self.state  # type: ignore[method-assign]
        try:
            yield
        finally:
            LoraMemory.write = learnt  # type: ignore[method-assign]


def _lesson(folder: Path) -> _Lesson:
    """Tell a user's facts to a store, and have a tiny model learn them in a copy of it."""
    from mnemic.lab.tasks.neural.tiny_learning import tiny_plan

    template, plan, settings = folder / "template", tiny_plan(folder), replace(QUIET, home=folder / "home")
    template.mkdir()
    with Memory(template / "m.db", settings=settings) as memory:
        me = memory.scope(user="ada")
        for said in ("I live in Trondheim.", "My sister's name is Filipa."):
            me.observe(said)
        memory.flush()
    whole = shutil.copytree(template, folder / "whole")
    with Memory(whole / "m.db", settings=settings) as memory:
        me = memory.scope(user="ada")
        while me.learning.learn_next(plan, lambda *_: None):
            pass
        state = me.learning.state(open_lora(plan, settings.home / "cache"))
    return _Lesson(template, plan, settings, state)


def _life(store: Path, at: int, rng: random.Random, act: str, lesson: _Lesson | None, *, sound: bool) -> None:
    """Save, learn or erase in this process, to be killed at a point of that."""
    global _BEGUN
    os.sync()
    _BEGUN = max((p.stat().st_mtime for p in store.parent.rglob("*") if p.is_file()), default=0.0) + 1e-6
    cut = _Cut(at, rng, ArtefactFolder.beside(store).root)
    if not sound and act != "erase":
        artefact_files._synced = _synced_later
    elif not sound:
        artefact_files.sync_folder = _unsynced
    opened = SqliteStore(store, probe=cut)
    opened.artefacts = ArtefactFolder.beside(store, cut)
    with Memory(opened, settings=lesson.settings if lesson else QUIET) as memory:
        me = memory.scope(user="ada")
        if lesson is not None:
            lesson.learn(me)
        elif act == "save":
            source = _said(me)
            made = _CANARY + rng.randbytes(_SIZE)
            me.artefacts.put(made, mechanism="kv", made_by={"model": "m"}, sources=(source,))
        else:
            me.erase(_said(me))
        cut.lose()  # the power goes just after it was told that it is done


def _said(me: ScopedMemory) -> ItemId:
    """What was said: the artefact that was made of it is listed too, and erased alone it would leave it."""
    return next(version.item.id for version in me.list(limit=20) if not version.item.source)


def _prepared(store: Path, lesson: _Lesson | None) -> None:
    if lesson is not None:
        shutil.copytree(lesson.template, store.parent)
        return
    store.parent.mkdir()
    with Memory(store, settings=QUIET) as memory:
        me = memory.scope(user="ada")
        source = me.observe("I keep a tuatara named Quill.").id
        me.artefacts.put(_CANARY + os.urandom(_SIZE), mechanism="kv", made_by={"model": "m"}, sources=(source,))


def _faults(store: Path, act: str, lesson: _Lesson | None) -> list[str]:
    """What is wrong with a store after a cut."""
    wrong = []
    with Memory(store, settings=lesson.settings if lesson else QUIET) as memory:
        me = memory.scope(user="ada")
        wrong += [f"{fault.where}: {fault.problem}" for fault in memory.admin.verify()]
        for kept in me.artefacts.kept():
            try:
                me.artefacts.open(kept)
            except MnemicError as error:
                wrong.append(str(error))
        if lesson is not None and not wrong:
            lesson.learn(me)
            wrong += [] if lesson.is_learnt(me) else ["whoever went on learnt something else"]
        gone = not me.artefacts.kept() and not me.list(limit=1)
    if act == "erase" and gone:
        for path in store.parent.rglob("*"):
            if path.is_file() and _CANARY in path.read_bytes():
                wrong.append(f"{path.name} holds what was erased")
    return wrong


def _cut_short(store: Path, at: int, seed: int, act: str, lesson: _Lesson | None, *, sound: bool) -> bool:
    """Whether a process that does this was killed before it was done.

    Raises:
        ChildProcessError: it failed by itself, so that its cut has tried nothing.
    """
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            rng = random.Random(seed)  # noqa: S311 - draws what is lost
            _life(store, at, rng, act, lesson, sound=sound)
            code = 0
        finally:
            if code:
                traceback.print_exc()
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise ChildProcessError(f"{act}, point {at}: it failed before it was cut; its traceback is above")
    return os.WIFSIGNALED(status)


@dataclass(frozen=True, slots=True)
class PowerCuts:
    """What power cuts did.

    Attributes:
        cut: How many processes were killed, by what they did; the others came to their end.
        made: How many there were.
        wrong: What was wrong then, each with what was done.
    """

    cut: Mapping[str, int]
    made: int
    wrong: Sequence[str]

    def faults(self) -> dict[str, int]:
        """How much was wrong, by what was done."""
        return {act: sum(fault.startswith(act) for fault in self.wrong) for act in self.cut}


def cut_power(folder: Path, tries: int, seed: int, *, sound: bool, acts: Sequence[str] = ACTS) -> PowerCuts:
    """Cut the power at every point in turn, until so many processes were killed.

    Args:
        sound: Whether all is synced in time; in the control, which is not killed amid an erasure, it is tried so often.
    """
    rng = random.Random(seed)  # noqa: S311 - draws points
    lesson = _lesson(folder) if "learn" in acts else None
    cut, made, wrong = dict.fromkeys(acts, 0), 0, list[str]()
    points = dict.fromkeys(acts, 0)
    while (sum(cut.values()) if sound else made) < tries:
        act = acts[made % len(acts)]
        learning = lesson if act == "learn" else None
        store = folder / f"cut-{made}" / "m.db"
        _prepared(store, learning)
        # An erasure that is cut short goes on; its control loses what was told to be gone.
        at = points[act] if sound or act != "erase" else _NEVER
        if _cut_short(store, at, rng.randrange(1 << 30), act, learning, sound=sound):
            cut[act] += 1
            points[act] += 1
        else:
            points[act] = 0  # it came to its end: begin at the first point again
        wrong += [f"{act}, point {points[act]}: {fault}" for fault in _faults(store, act, learning)]
        made += 1
        shutil.rmtree(store.parent)
    return PowerCuts(cut, made, wrong)


def measure_power_cuts(folder: Path, tries: int, seed: int) -> Iterator[Figure]:
    """Cut the power while artefacts are saved, learnt (with torch) and erased; then the control, synced too late."""
    acts = ACTS if importlib.util.find_spec("torch") else tuple(act for act in ACTS if act != "learn")
    places = [folder / name for name in ("sound", "late")]
    for place in places:
        place.mkdir()
    cuts = cut_power(places[0], tries, seed, sound=True, acts=acts)
    yield Figure(
        name=f"faults after {sum(cuts.cut.values())} power cuts", value=len(cuts.wrong), unit="", bar=0,
        detail=f"amid {_counted(cuts.cut)}; {cuts.made} tries{_first(cuts.wrong)}",
    )  # fmt: skip
    late = cut_power(places[1], max(12, tries // 5), seed, sound=False, acts=acts)
    yield Figure(
        name=f"the same, renamed before it is synced: caught of {late.made}", value=len(late.wrong), unit="",
        bar=len(acts), more=True, detail=f"amid {_counted(late.faults())}{_first(late.wrong)}",
    )  # fmt: skip


def _counted(by_act: Mapping[str, int]) -> str:
    return ", ".join(f"{act} {count}" for act, count in by_act.items())


def _first(wrong: Sequence[str]) -> str:
    return f"; the first: {wrong[0]}" if wrong else ""

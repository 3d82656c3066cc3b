"""A big export imported through the command line, killed on the way and begun again: nothing lost, nothing doubled."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import Final

import apsw

from mnemic.core.clock import micros
from mnemic.core.items import Item
from mnemic.lab.kit.generate import Exported, chatgpt_conversations, chatgpt_export
from mnemic.memory import Memory
from mnemic.testing.torture.report import Report, Value
from mnemic.verbs.looking_up import LIST_LIMIT

_USER: Final = "ada"
_BATCH: Final = 200
_GLANCE: Final = 0.002
_LATE: Final = 0.03
_BAR: Final = b"importing"
_KEPT: Final = 1 << 17


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One run of the command.

    Attributes:
        killed: Whether it was still alive to be killed.
        commit: The last commit when it ended.
        peak: Most memory it held, in bytes.
        barred: Whether it showed its progress.
    """

    killed: bool
    status: int
    commit: int
    seconds: float
    peak: int
    barred: bool


def imports(runs: int = 100, seed: int = 1, *, name: str = "memory", kills: int = 2) -> Report:
    """Import `runs` megabytes in ChatGPT's format, killed at `kills` random commits; hold what is there against them.

    Args:
        name: Not used: what is tortured is the command itself.
    """
    with tempfile.TemporaryDirectory(prefix="mnemic-torture-") as made:
        export, store = Path(made, "conversations.json"), Path(made, "memory.db")
        count = chatgpt_export(export, seed, runs * 1_000_000)
        spoken = sum(len(conversation.spoken) for conversation in _conversations(seed, count))
        random = Random(f"import:{seed}")
        commits = -(-spoken // _BATCH)
        shots = sorted(random.sample(range(1, commits - 2), kills))
        ran = [_shoot(export, store, shot, random.uniform(0, _LATE)) for shot in shots]
        ran.append(_shoot(export, store, None, 0))
        problems = [*_unkilled(ran), *_problems(store, seed, count)]
        return Report(
            name="import",
            subject="mnemic import",
            seed=seed,
            figures=_figures(export, store, spoken, ran),
            problems=problems,
        )


def _conversations(seed: int, count: int) -> Iterator[Exported]:
    return islice(chatgpt_conversations(seed), count)


def _shoot(export: Path, store: Path, commit: int | None, delay: float) -> Ran:
    """Run the command in a terminal until it ends, or is killed `delay` seconds after a commit."""
    began = time.perf_counter()
    command = ["env", "TERM=xterm", sys.executable, "-m", "mnemic", "import", str(export)]
    command += ["--store", str(store), "--user", _USER]
    screen, terminal = pty.openpty()
    os.set_blocking(screen, False)
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=terminal)
    os.close(terminal)
    shown, barred, killed = b"", False, False
    while True:
        pid, status, used = os.wait4(child.pid, os.WNOHANG)
        shown = (shown + _read(screen))[-_KEPT:]
        barred = barred or _BAR in shown
        if pid:
            break
        if commit is not None and not killed and _commits(store) >= commit:
            time.sleep(delay)
            os.kill(child.pid, signal.SIGKILL)
            killed = True
        time.sleep(_GLANCE)
    os.close(screen)
    child.returncode = os.waitstatus_to_exitcode(status)
    return Ran(
        killed=child.returncode == -signal.SIGKILL,
        status=child.returncode,
        commit=_commits(store),
        seconds=time.perf_counter() - began,
        peak=used.ru_maxrss * 1024,
        barred=barred,
    )


def _read(screen: int) -> bytes:
    try:
        return os.read(screen, 65_536)
    except OSError:  # nothing is there now, or nobody writes any more
        return b""


def _commits(store: Path) -> int:
    """The last commit as another process sees it; 0 while there is no store."""
    try:
        with closing(apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READONLY)) as db:
            newest = db.execute("SELECT max(seq) FROM change").fetchall()[0][0]
            return newest if isinstance(newest, int) else 0
    except apsw.Error:
        return 0


def _unkilled(ran: list[Ran]) -> list[str]:
    *shot, last = ran
    problems = [
        f"run {n} ended with {run.status} before it was killed" for n, run in enumerate(shot, 1) if not run.killed
    ]
    problems += [f"the last run ended with {last.status}"] if last.status else []
    return problems + [f"run {n} showed no progress" for n, run in enumerate(ran, 1) if not run.barred]


def _problems(store: Path, seed: int, count: int) -> list[str]:
    """How what is remembered differs from what the generator says was spoken."""
    with Memory(store) as memory:
        faults = [f"verify: {fault}" for fault in memory.admin.verify()]
        by_session: dict[str | None, list[Item]] = defaultdict(list)
        for version in memory.scope(user=_USER).list(limit=LIST_LIMIT):
            by_session[version.item.session].append(version.item)
    differences = []
    for exported in _conversations(seed, count):
        name = exported.spoken[0].session
        items = sorted(by_session.pop(name, []), key=lambda item: item.pos)
        kept = [(item.slots.get("role"), item.text, micros(item.said)) for item in items]
        wanted = [(spoken.role, spoken.text, round(spoken.said * 1_000_000)) for spoken in exported.spoken]
        if kept != wanted:
            differences.append(f"{name}: {_difference(kept, wanted)}")
    return faults + differences + [f"{name}: {len(items)} nobody spoke" for name, items in by_session.items()]


def _difference(kept: Sequence[tuple[object, str, int]], wanted: Sequence[tuple[object, str, int]]) -> str:
    lost, extra = set(wanted) - set(kept), set(kept) - set(wanted)
    if lost or extra:
        return f"{len(lost)} lost, {len(extra)} changed or not spoken"
    return "out of order" if len(kept) == len(wanted) else f"{len(kept) - len(wanted)} doubled"


def _figures(export: Path, store: Path, spoken: int, ran: list[Ran]) -> dict[str, Value]:
    size, seconds = export.stat().st_size, sum(run.seconds for run in ran)
    return {
        "megabytes": size / 1e6,
        "messages": spoken,
        "kills": sum(run.killed for run in ran),
        "killed at commits": ", ".join(str(run.commit) for run in ran if run.killed),
        "commits": ran[-1].commit,
        "seconds of each run": ", ".join(f"{run.seconds:.1f}" for run in ran),
        "MB/s, kills and all": size / 1e6 / seconds,
        "messages/s, kills and all": spoken / seconds,
        "peak RSS MB": max(run.peak for run in ran) / 1e6,
        "store MB": store.stat().st_size / 1e6,
    }

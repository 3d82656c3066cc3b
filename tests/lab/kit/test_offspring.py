"""Limits reach what a contestant begins, wherever that goes; and nothing of it outlives the run, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from mnemic.lab.kit import log
from mnemic.lab.kit import run as runs
from mnemic.lab.kit.contest import Limits
from mnemic.lab.kit.contestant import Means, OwnFigures, RankedDocs
from mnemic.lab.kit.datasets import BenchQuestion, Corpus
from mnemic.lab.kit.run import RunPlan, run

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(sys.platform != "linux", reason="nobody else tells who began whom"),
]

PATIENCE = 60.0
SLEEPS = "import time; time.sleep(600)"
EATS = "import time; held = b'x' * 400_000_000; time.sleep(600)"
FLOODS = (
    "import tempfile, time; f = tempfile.NamedTemporaryFile(delete=False); f.write(b'x' * 60_000_000); f.flush();"
    " time.sleep(600)"
)


class Fleeing:
    """Has a grandchild leave the group, whose parent ends at once; then hangs or crashes at its first question."""

    def __init__(self, told: Path, does: str, then: str) -> None:
        self._told, self._does, self._then = told, does, then

    def ingest(self, corpora: Sequence[Corpus]) -> None:
        begins = f"""
            import subprocess, sys
            code = {self._does!r}
            null = subprocess.DEVNULL
            child = subprocess.Popen([sys.executable, "-c", code], start_new_session=True, stdout=null, stderr=null)
            print(child.pid)
        """
        code = textwrap.dedent(begins)
        done = subprocess.run([sys.executable, "-c", code], start_new_session=True, capture_output=True, check=True)
        self._told.with_suffix(".part").write_text(done.stdout.decode() + f"{os.getpid()}\n")
        self._told.with_suffix(".part").rename(self._told)

    def rank(self, question: BenchQuestion, k: int) -> RankedDocs:
        if self._then == "crash":
            raise ZeroDivisionError("no such luck")
        time.sleep(600)
        return RankedDocs(())

    def figures(self) -> OwnFigures:
        return OwnFigures()

    def close(self) -> None:
        pass


def _fleeing(told: Path, does: str, then: str, means: Means) -> Fleeing:
    return Fleeing(told, does, then)


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] in "ZX"
    except FileNotFoundError:
        return True


def until(holds: Callable[[], bool]) -> bool:
    """Wait for what comes soon."""
    end = time.monotonic() + PATIENCE
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return holds()


@pytest.mark.parametrize(
    ("does", "then", "limits", "why"),
    [
        (EATS, "hang", Limits(memory_mib=400), "took too much memory"),
        (FLOODS, "hang", Limits(disk_mib=40), "filled the disk"),
        (SLEEPS, "crash", Limits(), "crashed: ZeroDivisionError"),
    ],
)
def test_a_process_that_leaves_the_group_is_counted_and_ended(
    does: str,
    then: str,
    limits: Limits,
    why: str,
    locomo_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = tmp_path / "told"
    monkeypatch.setattr(runs, "contestants", lambda names: {"fleeing": partial(_fleeing, told, does, then)})
    path = run(RunPlan(tasks={"locomo": locomo_file}, rows=("fleeing",)), tmp_path / "a.jsonl", apart=limits)
    assert log.read(path).failures["fleeing"].startswith(why)
    # What is killed frees its memory before it is gone.
    assert until(lambda: all(gone(int(pid)) for pid in told.read_text().split()))


@pytest.mark.parametrize("ends", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_who_ends_the_run_ends_its_contestants(ends: signal.Signals, locomo_file: Path, tmp_path: Path) -> None:
    told = tmp_path / "told"
    code = f"""
        import signal
        import sys
        from functools import partial
        from pathlib import Path
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # who runs the tests under nohup ignores it, and so would this
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from test_offspring import SLEEPS, _fleeing
        from mnemic.lab.kit import run as runs
        from mnemic.lab.kit.contest import Limits
        if __name__ == "__main__":
            made = partial(_fleeing, Path({str(told)!r}), SLEEPS, "hang")
            runs.contestants = lambda names: {{"fleeing": made}}
            plan = runs.RunPlan(tasks={{"locomo": Path({str(locomo_file)!r})}}, rows=("fleeing",))
            runs.run(plan, Path({str(tmp_path / "a.jsonl")!r}), apart=Limits())
    """
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(code))
    with subprocess.Popen([sys.executable, script], stderr=subprocess.DEVNULL) as running:
        assert until(told.exists)
        running.send_signal(ends)
        assert running.wait(PATIENCE) == (-ends if ends is signal.SIGKILL else 128 + ends)
    pids = [int(pid) for pid in told.read_text().split()]
    assert until(lambda: all(map(gone, pids)))

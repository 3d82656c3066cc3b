"""An interrupt of a long command is one line that says what is kept, exit code 130, and no process that lives on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from mnemic.lab.kit import log
from mnemic.lab.kit.log import InterruptedRun, Log

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(sys.platform != "linux", reason="nobody else tells who began whom"),
]

PATIENCE = 120.0
HANGS = """
    import os, subprocess, sys, time
    from pathlib import Path
    from mnemic.lab.kit.contestant import OwnFigures, RankedDocs

    class Hanging:
        def __init__(self, means):
            self.asked = 0

        def ingest(self, corpora):
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            self.pids = f"{os.getpid()} {child.pid}"

        def rank(self, question, k):
            self.asked += k == 10  # what is asked for more is the same question
            if self.asked > 2:
                Path("pids.part").write_text(self.pids + "\\n")
                Path("pids.part").rename("pids")
                time.sleep(600)
            return RankedDocs(())

        def figures(self):
            return OwnFigures()

        def close(self):
            pass
"""


def interrupted(folder: Path, command: list[str], sign: str) -> tuple[int, str, str]:
    """Run a command in a process group of its own until a file has its first line, and interrupt all of the group.

    A log that holds no line yet keeps nothing, and whoever is interrupted then says so.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*filter(None, sys.path), str(folder)])}
    environment["MNEMIC_HOME"] = str(folder / "home")
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "  # who tests may ignore it
    start = [sys.executable, "-c", code + command[0], *command[1:]]
    with subprocess.Popen(
        start, cwd=folder, env=environment, text=True, start_new_session=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:  # fmt: skip
        end = time.monotonic() + PATIENCE
        while not has_line(folder / sign) and running.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        os.killpg(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=PATIENCE)
        return running.returncode, out, err


def has_line(path: Path) -> bool:
    try:
        return b"\n" in path.read_bytes()
    except FileNotFoundError:
        return False


def gone(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] in "ZX"
    except FileNotFoundError:
        return True


CLI = "from mnemic.faces.cli import main; main()"


@pytest.mark.parametrize("verb", ["run", "run --json"])
def test_a_run_says_what_is_kept_and_how_to_go_on(verb: str, locomo_file: Path, tmp_path: Path) -> None:
    (tmp_path / "hanging.py").write_text(textwrap.dedent(HANGS))
    asked = ["bench", *verb.split(), f"locomo={locomo_file}", "--with", "hanging:Hanging", "--embedder", "none"]
    code, out, err = interrupted(tmp_path, [CLI, *asked, "--out", "a.jsonl"], "pids")
    assert code == 130
    assert out == ""
    (line,) = err.splitlines()
    assert "interrupted: what was measured is kept" in line
    assert "--out a.jsonl --resume" in line
    pids = (tmp_path / "pids").read_text().split()
    assert len(pids) == 2
    assert all(map(gone, pids))
    kept = log.read(tmp_path / "a.jsonl")
    assert len(kept.answers["hanging:Hanging"]) == 2
    assert not kept.complete


@pytest.mark.parametrize(
    ("asked", "sign", "kept"),
    [
        ("stream text --with retry --seeds 200 --out s.jsonl", "s.jsonl", "mnemic bench report s.jsonl"),
        ("needles --lengths 2k --texts 200 --rules --out n.jsonl", "n.jsonl", "mnemic bench report n.jsonl"),
        ("ablate locomo={} --stages links --embedder none --out b.jsonl", "b.jsonl", "--out b.jsonl --resume"),
    ],
)
def test_other_long_commands_say_so_too(asked: str, sign: str, kept: str, locomo_file: Path, tmp_path: Path) -> None:
    code, _, err = interrupted(tmp_path, [CLI, "bench", *asked.format(locomo_file).split()], sign)
    assert code == 130
    (line,) = err.splitlines()
    assert line.startswith("error: interrupted: ")
    assert kept in line


def test_what_a_log_held_is_kept_where_it_was_begun(tmp_path: Path) -> None:
    def stopped() -> None:
        with Log(tmp_path / "a.jsonl") as begun:
            begun.header(bench="run", tasks=[])
            raise KeyboardInterrupt

    with pytest.raises(InterruptedRun) as stop:
        stopped()
    assert stop.value.log == tmp_path / "a.jsonl"
    assert log.bench_of(stop.value.log) == "run"

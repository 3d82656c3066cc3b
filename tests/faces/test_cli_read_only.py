"""The command line on a store that cannot be written: it reads, and says of a write why it cannot be."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from commandline import Run

from mnemic.testing.faults import read_only

READING = (
    ("recall", "where does the fox sleep?"),
    ("context", "fox"),
    ("ask", "where do I live?"),
    ("list",),
    ("show", "last"),
    ("history", "last"),
    ("log",),
    ("diff", "1"),
    ("why-not", "fox", "last"),
    ("branches",),
    ("stats",),
    ("verify",),
    ("export",),
    ("jobs",),
    ("checkpoints",),
    ("settings",),
    ("top", "--once"),
)


@pytest.fixture
def store() -> Iterator[Path]:
    """A store's file in a folder of its own, whose parents everybody may pass."""
    above = Path(tempfile.mkdtemp())
    os.chmod(above, 0o755)
    (above / "home").mkdir()
    yield above / "home" / "memory.db"
    shutil.rmtree(above)


def test_what_reads_reads_and_what_writes_says_why_it_cannot(run: Run, store: Path) -> None:
    environ = {"MNEMIC_HOME": str(store.parent), "MNEMIC_EMBEDDER": "none"}
    run("add", "The fox sleeps in the barn.", **environ)
    run("add", "I live in Lisbon.", "--role", "user", **environ)
    run("branch", "try", **environ)
    before = {line: run(*line, **environ).code for line in READING}
    run("doctor", **environ)
    run("forget", "last", **environ)  # what is imported on the way is imported as root
    run("undo", "last", **environ)
    run("fact", "Ada sleeps.", **environ)
    with read_only(store.parent):
        for line in READING:
            told = run(*line, **environ)
            assert told.code == before[line], f"{line}: {told.err}"
        assert "barn" in run("recall", "fox", **environ).out
        told = run("doctor", code=6, **environ).out  # others may read the file
        assert "read only" in told
        assert "journal_mode" not in told
        for line in (("add", "Late."), ("undo", "1"), ("forget", "last"), ("fact", "Ada sleeps.")):
            told = run(*line, code=5, **environ)
            assert "it cannot be written; check the owner and mode" in told.err, line
            assert "Traceback" not in told.err

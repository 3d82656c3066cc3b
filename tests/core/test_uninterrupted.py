"""Imports and work that an interrupt of the main thread does not reach."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemic.core.uninterrupted import import_whole, run_uninterrupted

pytestmark = pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals to a thread here")


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    yield tmp_path
    signal.signal(signal.SIGALRM, before)


def test_an_import_that_is_interrupted_goes_on_to_its_end_and_is_done_once(modules: Path) -> None:
    (modules / "slowly_imported.py").write_text(
        "import signal, sys, threading, time\nsys.slow_ones += 1\n"
        "signal.pthread_kill(threading.main_thread().ident, signal.SIGALRM)\ntime.sleep(0.1)\nDONE = True\n"
    )
    sys.slow_ones = 0  # type: ignore[attr-defined]
    with pytest.raises(KeyboardInterrupt):
        import_whole("slowly_imported")
    import_whole("slowly_imported")
    assert sys.modules["slowly_imported"].DONE
    assert sys.slow_ones == 1  # type: ignore[attr-defined]


def test_what_is_raised_there_is_raised_here(modules: Path) -> None:
    (modules / "badly_imported.py").write_text("import nothing_of_that_name\n")
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError, match="nothing_of_that_name"):
            import_whole("badly_imported")
    with pytest.raises(ZeroDivisionError):
        run_uninterrupted(lambda: 1 // 0)
    assert run_uninterrupted(lambda: 7) == 7

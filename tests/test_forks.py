"""A memory in forked children: each writes beside its parent, whatever its parent was doing."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mnemic import Memory

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory.db") as opened:
        yield opened
        assert list(opened.admin.verify()) == []


def in_child(act: Callable[[], object]) -> int:
    child = os.fork()
    if child == 0:
        try:
            act()
        except BaseException:  # noqa: BLE001 - the exit code tells
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_child_writes_though_other_threads_of_its_parent_were_writing(memory: Memory) -> None:
    stop = threading.Event()

    def write(name: str) -> None:
        mine = memory.scope(user=name)
        while not stop.is_set():
            mine.observe("busy")

    threads = [threading.Thread(target=write, args=(f"thread {n}",)) for n in range(2)]
    for thread in threads:
        thread.start()
    try:
        codes = [in_child(lambda: memory.scope(user="child").observe("from a child")) for _ in range(6)]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert codes == [0] * 6
    assert memory.scope(user="child").count() == 6


def test_a_child_goes_on_after_its_parent_has_closed(tmp_path: Path) -> None:
    parent = Memory(tmp_path / "other.db")
    parent.scope(user="ada").observe("before")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            mine = parent.scope(user="ada")
            mine.observe("child first")
            os.read(reading, 1)
            mine.observe("child second")
            os._exit(0)
        except BaseException:  # noqa: BLE001 - the exit code tells
            os._exit(1)
    parent.scope(user="ada").observe("parent too")
    parent.close()
    os.write(writing, b"x")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with Memory(tmp_path / "other.db") as again:
        assert sorted(v.item.text for v in again.scope(user="ada").list()) == [
            "before",
            "child first",
            "child second",
            "parent too",
        ]

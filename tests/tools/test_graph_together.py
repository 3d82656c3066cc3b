"""Several agents write one graph at once, and nothing of it is lost: not between threads, handles or processes."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

from mnemic import Memory
from mnemic.tools import Toolbox

EACH = 200
WRITER = """
import sys
from mnemic import Memory
from mnemic.tools import Toolbox
path, who, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with Memory(path, embedder="none") as memory:
    box = Toolbox(memory.scope(user="ada"), "reference")
    sys.stdin.readline()
    for n in range(count):
        entity = {"name": f"{who} {n}", "entityType": "thing", "observations": ["one"]}
        assert len(box.call("create_entities", {"entities": [entity]}).data["entities"]) == 1
"""


def test_two_processes_keep_all_that_each_was_told_is_there(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    Memory(path, embedder="none").close()
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), who, str(EACH)], stdin=subprocess.PIPE, text=True)
        for who in ("left", "right")
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    assert _names(path) == {f"{who} {n}" for who in ("left", "right") for n in range(EACH)}


def test_handles_and_threads_on_one_file_create_each_name_once(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    created: list[str] = []

    def write(memory: Memory) -> None:
        box = Toolbox(memory.scope(user="ada"), "reference")
        for n in range(25):
            entity = {"name": f"shared {n}", "entityType": "", "observations": []}
            found = box.call("create_entities", {"entities": [entity]}).data
            assert found is not None
            created.extend(one["name"] for one in found["entities"])

    with Memory(path, embedder="none") as one, Memory(path, embedder="none") as other:
        threads = [threading.Thread(target=write, args=(memory,)) for memory in (one, one, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(created) == sorted({f"shared {n}" for n in range(25)})
    assert _names(path) == set(created)


def _names(path: Path) -> set[str]:
    with Memory(path, embedder="none") as memory:
        data = Toolbox(memory.scope(user="ada"), "reference").call("read_graph", {}).data
    assert data is not None
    return {one["name"] for one in data["entities"]}

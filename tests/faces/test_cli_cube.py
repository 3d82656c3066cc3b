"""`mnemic cube`: a memory as a file, and a file as a memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from commandline import Run

from mnemic.memory import Memory


@pytest.fixture
def source(add: Callable[..., str], home: Path) -> str:
    """A turn, and an adapter and a cache that were made of it."""
    id = add("I keep a tuatara named Quill.")
    with Memory(home / "memory.db") as memory:
        me = memory.scope(user="me")
        made_by = {"model": "a" * 64}
        me.artefacts.put(b"GGUF and weights", mechanism="lora", made_by=made_by, sources=(id,))
        me.artefacts.put(b"keys and values", mechanism="kv", made_by=made_by, sources=(id,), remade=True)
    return id


def test_a_memory_goes_to_another_store_and_says_what_did_not_come(run: Run, source: str) -> None:
    told = run("cube", "export", "me.cube").out
    assert "wrote me.cube: 3 items, 1 artefact" in told
    assert "set aside: 1 kv, a cache, and caches were not asked for" in told
    told = run("cube", "import", "me.cube", "--store", "copy.db").out
    assert "1 item of me.cube: commit 1 (take it back: mnemic undo 1)" in told
    assert "1 new here" in told
    assert "set aside: 1 lora, no model was named that it could be of use to" in told
    assert "--model" in told
    assert "Quill" in run("recall", "tuatara", "--store", "copy.db").out
    again = run("cube", "import", "me.cube", "--store", "copy.db", "--json").json
    assert (again["commit"], again["items"], again["artefacts"]) == (None, {"there": 1}, [])
    assert [one["mechanism"] for one in again["aside"]] == ["lora"], "the cache was left out at the export"


def test_export_says_all_of_it_for_programs(run: Run, source: str) -> None:
    record = run("cube", "export", "me.cube", "--caches", "--json").json
    assert record["path"] == str(Path("me.cube").absolute())
    assert record["bytes"] == Path("me.cube").stat().st_size
    assert (record["items"], record["artefacts"], record["aside"]) == (3, 2, [])


def test_what_cannot_be_done_ends_with_a_code_and_a_sentence(run: Run, source: str) -> None:
    run("cube", "export", "me.cube")
    assert "not overwritten" in run("cube", "export", "me.cube", code=4).err
    assert "no folder" in run("cube", "export", "there/me.cube", code=3).err
    assert "whole memory" in run("cube", "export", "x.cube", "--session", "trip", code=4).err
    assert "no file" in run("cube", "import", "nothing.cube", "--store", "copy.db", code=3).err
    Path("cut.cube").write_bytes(Path("me.cube").read_bytes()[:-9])
    assert "cut short" in run("cube", "import", "cut.cube", "--store", "copy.db", code=2).err


def test_a_refused_import_leaves_no_new_store_behind(
    run: Run, source: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("cube", "export", "me.cube")
    Path("cut.cube").write_bytes(Path("me.cube").read_bytes()[:-9])
    there = sorted(path.name for path in Path.cwd().iterdir())
    new = ("--store", "copy.db")
    run("cube", "import", "nothing.cube", *new, code=3)
    run("cube", "import", "cut.cube", *new, code=2)
    run("cube", "import", "me.cube", "--session", "trip", *new, code=4)
    run("cube", "import", "me.cube", "--model", "no-such-model.gguf", *new, code=2)
    monkeypatch.setenv("MNEMIC_ITEM_LIMIT", "16")
    run("cube", "import", "me.cube", *new, code=2)
    assert sorted(path.name for path in Path.cwd().iterdir()) == there
    monkeypatch.delenv("MNEMIC_ITEM_LIMIT")
    assert "1 new here" in run("cube", "import", "me.cube", *new).out
    assert Path("copy.db").exists()

"""The server is measured beside the verbs it serves, and a store that was filled once serves another run."""

from __future__ import annotations

from pathlib import Path

import pytest

import mnemic
from mnemic import Memory, Settings
from mnemic.lab.kit.served_process import bare_server
from mnemic.lab.tasks.serve_bench import BIG, ServeLoad, bench_serve

pytestmark = pytest.mark.heavy


def test_every_verb_is_measured_both_ways_and_what_was_filled_is_left_as_it_was(tmp_path: Path) -> None:
    load, filled = ServeLoad(items=40, users=3, rounds=1, requests=20, connections=4, idle=3), tmp_path / "filled.db"
    with Memory(filled, settings=Settings(embedder="none", background=False)) as memory:
        for user in (BIG, "user 0", "user 1", "user 2"):
            memory.scope(user=user).observe([f"The heron of {user} came {n} times." for n in range(10)])
    before = filled.read_bytes()
    notes: list[str] = []
    figures = {figure.name: figure for figure in bench_serve(load, notes.append, filled).figures}
    for verb, named in (("read", "a read"), ("add", "an add"), ("recall", "a recall"), ("MCP call", "an MCP call")):
        assert figures[f"{verb}s that were not answered with 2xx"].value == 0
        assert figures[f"{verb}s beside those in process"].value > 0
        assert figures[f"processor time of {named} beyond the verb by one thread"].bar is None
    assert "filling" not in notes
    assert filled.read_bytes() == before


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="Linux tells what a process was given")
def test_what_is_served_is_the_code_that_measures_wherever_another_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a checkout is found neither by the folder it is started in nor by what it inherits
    monkeypatch.delenv("PYTHONPATH", raising=False)
    with bare_server(1) as served:
        variables = Path(f"/proc/{served.process.pid}/environ").read_bytes().split(b"\0")
    path = next(each for each in variables if each.startswith(b"PYTHONPATH=")).removeprefix(b"PYTHONPATH=").decode()
    assert (Path(path) / "mnemic" / "__init__.py").samefile(mnemic.__file__)

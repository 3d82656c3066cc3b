"""The page's blocks of Python, run one after the other on a tiny model in the place of the real one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from mnemic.models.chat import gguf

PAGE = Path(__file__).parent.parent.parent / "docs" / "neural.md"


def test_what_the_page_shows_runs(
    tiny_gguf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gguf, "smollm2_weights", lambda: tiny_gguf)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    theirs = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    blocks = [block for block in theirs if "mnemic.neural" in block]
    assert len(blocks) >= 3
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    assert "You live in Trond" in capsys.readouterr().out
    assert {"ada.safetensors", "facts.gguf"} <= {path.name for path in tmp_path.iterdir()}

"""The pages of strategies print what their examples print; the model's answers were written by hand."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


PAGES = sorted(page.stem for page in (ROOT / "docs" / "strategies").glob("[a-z]*.md") if page.stem != "claims")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_what_its_example_prints(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "examples" / "strategies")
    runpy.run_path(str(ROOT / "examples" / "strategies" / f"{name}.py"), run_name="__main__")
    (shown,) = re.findall(
        r"```text\n(.*?)```", (ROOT / "docs" / "strategies" / f"{name}.md").read_text("utf-8"), re.DOTALL
    )
    assert capsys.readouterr().out == shown

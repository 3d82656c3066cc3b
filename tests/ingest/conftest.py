"""What the tests of the readers share: files made of a few lines, and everything a file gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parent.parent / "fixtures"

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def fixtures() -> Path:
    return FIXTURES


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return file

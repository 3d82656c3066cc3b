"""The table that takes the operating system literally: every row of it is code that is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROWS = [line for line in (ROOT / "docs" / "operating-system.md").read_text().splitlines() if line.startswith("| ")][1:]


def test_every_row_names_code_that_is_there() -> None:
    assert len(ROWS) > 15
    for row in ROWS:
        named = re.findall(r"`([\w/]+(?:\.py|/))`", row.rsplit("|", 2)[1])
        assert named, row
        assert [name for name in named if not (ROOT / "src" / "mnemic" / name).exists()] == [], row

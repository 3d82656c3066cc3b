"""Write docs/strategies/claims.md: what each strategy promises and which tests show it, from claims.toml.

Usage: .venv/bin/python scripts/claims.py     writes the page; a test fails while it is not current
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
LEDGER: Final = ROOT / "tests" / "strategies" / "claims.toml"
PAGE: Final = ROOT / "docs" / "strategies" / "claims.md"
HEAD: Final = """\
# What strategies promise, and what shows it

Made from `tests/strategies/claims.toml` by `scripts/claims.py`; a test holds it to the tests that there are. Sections
are those of the paper that a strategy's file names. What nothing shows says so.
"""


def ledger() -> dict[str, list[dict[str, Any]]]:
    """Read the claims, by strategy; `every` are those on all of them."""
    return tomllib.loads(LEDGER.read_text("utf-8"))


def page() -> str:
    """Lay out the ledger as a page of tables."""
    return "\n".join([HEAD, *(line for name, claims in ledger().items() for line in _table(name, claims))])


def _table(name: str, claims: list[dict[str, Any]]) -> Iterator[str]:
    yield from (
        f"## {'Every strategy' if name == 'every' else name}",
        "",
        "| section | promise | shown by |",
        "|---|---|---|",
    )
    for one in claims:
        yield f"| {one['section']} | {one['claim']} | {_shown_by(one)} |"
    yield ""


def _shown_by(claim: dict[str, Any]) -> str:
    if "not_held" in claim:
        return f"*not held:* {claim['not_held']}"
    return "<br>".join(_linked(test) for test in claim["tests"])


def _linked(test: str) -> str:
    path, _, name = test.partition("::")
    shown = name.removeprefix("test_").replace("_", " ") or f"all of {Path(path).name}"
    return f"[{shown}](../../tests/{path})"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")

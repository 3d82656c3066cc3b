"""Write the pages of claims: what strategies and memories inside a model promise, and which tests show it.

Usage: .venv/bin/python scripts/claims.py     writes both pages; a test fails while one is not current
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
LEDGERS: Final = {
    "strategies": ("What strategies promise, and what shows it", "a strategy's file names", "Every strategy"),
    "neural": ("What memories inside a model promise, and what shows it", "a module names", "Every module"),
}
"""By folder, of `tests` and of `docs`: the page's title, whose paper the sections are of, and whom `every` means."""


def ledger(folder: str) -> dict[str, list[dict[str, Any]]]:
    """Read the claims, by name; `every` are those on all of them."""
    return tomllib.loads((ROOT / "tests" / folder / "claims.toml").read_text("utf-8"))


def path(folder: str) -> Path:
    """Where the page of a ledger lies."""
    return ROOT / "docs" / folder / "claims.md"


def page(folder: str) -> str:
    """Lay out a ledger as a page of tables."""
    title, whose, every = LEDGERS[folder]
    head = f"""\
# {title}

Made from `tests/{folder}/claims.toml` by `scripts/claims.py`; a test holds it to the tests that there are. Sections
are those of the paper that {whose}. What nothing shows says so.
"""
    named = ((every if name == "every" else name, claims) for name, claims in ledger(folder).items())
    return "\n".join([head, *(line for name, claims in named for line in _table(name, claims))])


def _table(name: str, claims: list[dict[str, Any]]) -> Iterator[str]:
    yield from (
        f"## {name}",
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
    for folder in LEDGERS:
        path(folder).write_text(page(folder), "utf-8")

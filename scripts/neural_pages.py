"""Fill the measured block of each page in docs/neural from the last run of its result file, a full one if there is one.

Usage: .venv/bin/python scripts/neural_pages.py     writes the pages; a test fails while one is not current
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from mnemic.lab.tasks.neural.mechanism_bench import runs
from mnemic.lab.tasks.neural.mechanism_report import page_block

ROOT: Final = Path(__file__).resolve().parent.parent
PAGES: Final = ROOT / "docs" / "neural"
UNMEASURED: Final = "Not measured in full yet: no effect is claimed."
_BLOCK: Final = re.compile(r"(?<=<!-- measured -->\n).*?(?=<!-- /measured -->)", re.DOTALL)


def pages(folder: Path = PAGES) -> dict[Path, str]:
    """Every page with a measured block, as its result file has it."""
    texts = {path: path.read_text("utf-8") for path in sorted(folder.glob("*.md"))}
    return {path: filled(text, path) for path, text in texts.items() if _BLOCK.search(text)}


def filled(text: str, path: Path) -> str:
    """A page's text with its block made anew; one without a result says so."""
    results = path.parent / "results" / f"{path.stem}.jsonl"
    made = runs(results) if results.exists() else []
    chosen = [run for run in made if not run.quick] or made
    picture = f"results/{path.stem}.svg" if results.with_suffix(".svg").exists() else ""
    block = page_block(chosen[-1], picture) if chosen else UNMEASURED
    return _BLOCK.sub(lambda _: f"\n{block}\n\n", text)


if __name__ == "__main__":
    for page, text in pages().items():
        page.write_text(text, "utf-8")

"""Fill each measured block of docs/neural.md and the pages in docs/neural from one run of its result file.

That is a full one before a quick one, then that of most seeds, then the newest; the picture is drawn of the same. A
block is named `<!-- measured NAME -->`; one without a name is of the experiment that its page is named for.

Usage: .venv/bin/python scripts/neural_pages.py     writes the pages; a test fails while one is not current
                                                    pictures are drawn where there is matplotlib (the extra bench)
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mnemic.lab.tasks.neural.mechanism_bench import runs, shown_run
from mnemic.lab.tasks.neural.mechanism_report import draw, page_block

ROOT: Final = Path(__file__).resolve().parent.parent
PAGES: Final = ROOT / "docs" / "neural"
UNMEASURED: Final = "Not measured in full yet: no effect is claimed."
_BLOCK: Final = re.compile(r"(<!-- measured ?(\w*) -->\n).*?(?=<!-- /measured -->)", re.DOTALL)


def pages(folder: Path = PAGES) -> dict[Path, str]:
    """Every page with a measured block, the one beside the folder included, as the result files have it."""
    beside = folder.with_suffix(".md")
    texts = {path: path.read_text("utf-8") for path in (*sorted(folder.glob("*.md")), beside) if path.exists()}
    return {path: filled(text, path, folder / "results") for path, text in texts.items() if _BLOCK.search(text)}


def measured_names(folder: Path = PAGES) -> Iterator[str]:
    """The experiments that have a block on some page."""
    for path in pages(folder):
        yield from (name or path.stem for _, name in _BLOCK.findall(path.read_text("utf-8")))


def filled(text: str, path: Path, results: Path) -> str:
    """A page's text with its blocks made anew; one without a result says so."""

    def block(match: re.Match[str]) -> str:
        file = results / f"{match[2] or path.stem}.jsonl"
        made = runs(file) if file.exists() else []
        drawn = file.with_suffix(".svg")
        picture = Path(os.path.relpath(drawn, path.parent)).as_posix() if drawn.exists() else ""
        return f"{match[1]}\n{page_block(shown_run(made), picture, len(made)) if made else UNMEASURED}\n\n"

    return _BLOCK.sub(block, text)


if __name__ == "__main__":
    for file in sorted((PAGES / "results").glob("*.jsonl")):
        draw(shown_run(runs(file)), file.with_suffix(".svg"))
    for page, text in pages().items():
        page.write_text(text, "utf-8")

"""An HTML page that needs nothing else, whatever run it is of: its frame, its words, its file."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from html import escape
from importlib import resources
from pathlib import Path
from string import Template

from mnemic.core.sanitize import for_terminal
from mnemic.errors import Invalid


def in_html(words: object) -> str:
    """Words as a page has them, on one line; what no reader sees is spelt out."""
    return escape(for_terminal(" ".join(str(words).split())), quote=True)


def is_ours(system: str) -> bool:
    """Whether a contestant is the one that a page lifts out."""
    return system.removesuffix(" (failed)") == "mnemic"


def html_page(title: str, body: Iterable[str]) -> str:
    """A page of these lines; it runs the one script that it carries, and no other."""
    folder = resources.files("mnemic.lab.kit")
    script = folder.joinpath("run_page.js").read_text("utf-8")
    return Template(folder.joinpath("run_page.html").read_text("utf-8")).substitute(
        title=in_html(title),
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        script=script,
        body="\n".join(body),
    )


def write_html(html: str, path: Path) -> Path:
    """Write a page.

    Raises:
        Invalid: the file cannot be written.
    """
    try:
        path.write_text(html, encoding="utf-8")
    except OSError as error:
        raise Invalid("html", f"cannot write {path.name}: {error.strerror}", "Name a file you can write.") from error
    return path

"""Leave out of a text what memory itself laid out for a prompt: its blocks, and lines of them that lost their tags."""

from __future__ import annotations

import re
from typing import Final

_BLOCK: Final = re.compile(r'<(memory(?:-always|-earlier)?) note="[^"\n<]*">.*?(?:</\1>|\Z)', re.DOTALL)
"""A block from its opening to its end; one that was cut off ends with the text."""

_LINES: Final = re.compile(r"^\[[0-9a-zA-Z]{26}\] \d{4}-\d\d-\d\d \d\d:\d\d.*(?:\n|\Z)(?:  .*(?:\n|\Z))*", re.MULTILINE)
"""Items as they are laid out: an id, a date, and further lines indented."""


def without_memory(text: str) -> str:
    """Return a text without what memory laid out in it."""
    if "<memory" in text:
        text = _BLOCK.sub("", text)
    return _LINES.sub("", text) if "] " in text else text

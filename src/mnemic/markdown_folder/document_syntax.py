"""A document as a file of its own: what is known of it between two `---` lines, then its text as it is.

    ---
    mnemic: 01jq3c9vq0w8x5n4k2m7r6t1ze
    title: How the boiler works
    date: 2026-03-01 14:05
    tags:
      - house
    ---

    Turn the valve ...

The field `mnemic` is the document's mark. A file without one is a new document.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from mnemic.core.items import Slot
from mnemic.ingest.frontmatter import split_front_matter
from mnemic.markdown_folder.shown_items import ShownItem, plain_text

MARK: Final = "mnemic"
_OURS: Final = frozenset({MARK, "title", "date", "tags", "pinned"})
_PLAIN: Final = re.compile(r"[^\W_][\w ().,;/+–—-]*")
_DATE: Final = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::\d{2}(?:\.\d+)?)?)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileHead:
    """The front matter of a file, and what follows.

    Attributes:
        fields: Strings, or lists of strings, by their names in small letters.
        lines: The lines behind it.
        first: The number of the first of these, from 1.
        broken: It opens and never ends.
    """

    fields: Mapping[str, object]
    lines: list[str]
    first: int
    broken: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadDocument:
    """A document as it stands in its file.

    Attributes:
        mark: The id in its front matter; None where there is none.
        wrong: What cannot be taken of the front matter, in words; "" if all can.
        others: Fields of other programs.
    """

    shown: ShownItem
    mark: str | None = None
    wrong: str = ""
    others: Mapping[str, Slot] = field(default_factory=dict)


def file_head(text: str) -> FileHead:
    """Split the text of a file, whose lines end in line feeds, into its front matter and the lines that follow."""
    lines = text.split("\n")
    fields, rest = split_front_matter(iter(list(enumerate(lines, 1))))
    behind = list(rest)
    first = behind[0][0] if behind else len(lines) + 1
    broken = first == 1 and bool(lines) and lines[0].rstrip() == "---"
    return FileHead(fields=fields, lines=[line for _, line in behind], first=first, broken=broken)


def write_document(shown: ShownItem, id: str) -> str:
    """The file of a document."""
    rows = [f"{MARK}: {id}"]
    rows += [f"title: {scalar(shown.title)}"] if shown.title else []
    rows += [f"date: {shown.day} {shown.time}"]
    rows += ["tags:", *(f"  - {scalar(tag)}" for tag in shown.tags)] if shown.tags else []
    rows += ["pinned: true"] if shown.pinned else []
    return "\n".join(("---", *rows, "---", "", shown.text, ""))


def read_document(head: FileHead) -> ReadDocument:
    """The document that a file is."""
    fields = head.fields
    mark, title, date, tags = (fields.get(name) for name in (MARK, "title", "date", "tags"))
    when = _DATE.fullmatch(date) if isinstance(date, str) and date else None
    wrong = f"the date {date!r} is none such as 2026-03-01 14:05" if date and when is None else ""
    listed = tags if isinstance(tags, list) else [tag.strip() for tag in str(tags or "").split(",") if tag.strip()]
    shown = ShownItem(
        text=plain_text("\n".join(head.lines)),
        day=when[1] if when else "",
        time=(when[2] or "") if when else "",
        pinned=str(fields.get("pinned", "")).strip().lower() in ("true", "yes"),
        title=title if isinstance(title, str) else "",
        tags=tuple(sorted(set(listed))),
    )
    others: dict[str, Slot] = {
        name: list(value) if isinstance(value, list) else str(value)
        for name, value in fields.items()
        if name not in _OURS and value not in ("", [])
    }
    return ReadDocument(
        shown=shown,
        mark=mark.strip().lower() if isinstance(mark, str) and mark.strip() else None,
        wrong=wrong,
        others=others,
    )


def scalar(value: str) -> str:
    """A value of front matter, in quotation marks where it could be read as something else."""
    return value if _PLAIN.fullmatch(value) and value == value.strip() else json.dumps(value, ensure_ascii=False)

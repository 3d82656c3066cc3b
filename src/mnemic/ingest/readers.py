"""The front door of import: which formats there are, which one a file has, and reading it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from mnemic.errors import Invalid
from mnemic.ingest.intake import INPUT_LIMIT, Options
from mnemic.ingest.jsonio import parse
from mnemic.ingest.locomo import read_locomo
from mnemic.ingest.longmemeval import read_longmemeval
from mnemic.ingest.markdown import read_markdown
from mnemic.ingest.message import Message, Skipped
from mnemic.ingest.records import read_json, read_jsonl
from mnemic.ingest.source import Progress, Source
from mnemic.ingest.text import looks_spoken, read_dialogue, read_document
from mnemic.ingest.times import known_zone
from mnemic.ingest.unified import read_unified

Reader = Callable[[Source, Options], Iterator[Message | Skipped]]
"""Reads an opened source as a stream; a bad record is a `Skipped`, a file of another sort raises `Invalid`."""

READERS: Final[Mapping[str, Reader]] = {
    "jsonl": read_jsonl,
    "json": read_json,
    "text": read_document,
    "dialogue": read_dialogue,
    "markdown": read_markdown,
    "locomo": read_locomo,
    "longmemeval": read_longmemeval,
    "unified": read_unified,
}
"""Every format by the name that `--format` takes."""

_EXTENSIONS: Final = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
}
_JSON: Final = re.compile(rb'\{\s*["}]|\[\s*(?:\{|\])')
_LOCOMO: Final = (
    re.compile(rb'"conversation"\s*:\s*\{|"qa"\s*:\s*\[|"sample_id"'),
    re.compile(rb'"(speaker_[ab]|evidence|session_\d+)"'),
)
_LONGMEMEVAL: Final = re.compile(rb'"haystack_(sessions|dates|session_ids)"')


def read(
    path: str | Path,
    format: str | None = None,
    zone: str | None = None,
    *,
    source: str | None = None,
    session: str | None = None,
    limit: int = INPUT_LIMIT,
    progress: Progress | None = None,
) -> Iterator[Message | Skipped]:
    """Everything in `path` ("-" for standard input; gzip is undone), in its order, read as it is asked for.

    Args:
        format: A name in `READERS`; left out, `detect` decides.
        zone, source, session, limit, progress: As in `Options`.

    Raises:
        Invalid: at once: an unknown format or zone. At the first message: a file that cannot be read or is not text.
            Later: a file that breaks off. What was given before that is good, and reading again gives the same keys.
        NotFound: at the first message: there is no such file.
    """
    if format is not None and format not in READERS:
        raise Invalid("format", f"{format!r} is not one we read", f"Give one of {', '.join(READERS)}.")
    options = Options(source=source, zone=known_zone(zone), session=session, limit=limit, progress=progress)
    return _read(path, format, options)


def detect(path: str | Path) -> str:
    """The format of a file, by its name and first bytes: a name in `READERS`.

    Raises:
        Invalid: it cannot be read, or is not text in UTF-8.
        NotFound: there is no such file.
    """
    with Source(path) as source:
        return _format(source)


def _read(path: str | Path, format: str | None, options: Options) -> Iterator[Message | Skipped]:
    with Source(path, options.progress) as source:
        yield from READERS[format or _format(source)](source, options)


def _format(source: Source) -> str:
    named = _EXTENSIONS.get(Path(source.name).suffix.lower())
    head = source.head.lstrip()
    if named == "markdown":
        return named
    if _JSON.match(head) and (shape := _shape(head, named)):
        return shape
    return named or ("dialogue" if looks_spoken(head.decode("utf-8", "ignore")) else "text")


def _shape(head: bytes, named: str | None) -> str | None:
    first, newline, _ = head.partition(b"\n")
    record = _object(first)
    if _LONGMEMEVAL.search(head) and named != "jsonl":
        return "longmemeval"
    if all(mark.search(head) for mark in _LOCOMO) and named != "jsonl":
        return "locomo"
    if record is not None:
        return "unified" if record.get("type") in ("doc", "query") and "ns" in record else "jsonl"
    return named or ("json" if head.startswith(b"[") or newline else "jsonl")


def _object(line: bytes) -> Mapping[str, object] | None:
    try:
        value = parse(line)
    except Invalid:
        return None
    return value if isinstance(value, Mapping) else None

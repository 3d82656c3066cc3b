"""The front door of import: which formats there are, which one a file has, and reading it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from mnemic.errors import Invalid, MnemicError
from mnemic.ingest import code
from mnemic.ingest.chat_json import read_json, read_jsonl
from mnemic.ingest.chatgpt import read_chatgpt
from mnemic.ingest.claude import read_claude
from mnemic.ingest.html import read_html
from mnemic.ingest.inputs import is_archive, sources
from mnemic.ingest.intake import INPUT_LIMIT, Options
from mnemic.ingest.jsonio import parse
from mnemic.ingest.locomo import read_locomo
from mnemic.ingest.longmemeval import read_longmemeval
from mnemic.ingest.markdown import read_markdown
from mnemic.ingest.mem0_export import read_mem0
from mnemic.ingest.memory_server import read_graph
from mnemic.ingest.message import Edge, Message, Skipped
from mnemic.ingest.pdf import read_pdf
from mnemic.ingest.source import Progress, Source
from mnemic.ingest.text_files import looks_spoken, read_dialogue, read_document
from mnemic.ingest.timestamps import known_zone
from mnemic.ingest.unified import read_unified

Parsed = Message | Edge | Skipped
"""What a reader yields."""
Reader = Callable[[Source, Options], Iterator[Parsed]]
"""Reads an opened source as a stream; a bad record is a `Skipped`, a file of another sort raises `Invalid`."""

READERS: Final[Mapping[str, Reader]] = {
    "jsonl": read_jsonl,
    "json": read_json,
    "text": read_document,
    "dialogue": read_dialogue,
    "markdown": read_markdown,
    "html": read_html,
    "pdf": read_pdf,
    "code": code.read_code,
    "chatgpt": read_chatgpt,
    "claude": read_claude,
    "mem0": read_mem0,
    "memory-server": read_graph,
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
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    **dict.fromkeys(code.SUFFIXES, "code"),
}
_JSON: Final = re.compile(rb'\{\s*["}]|\[\s*(?:\{|\])')
_LOCOMO: Final = (
    re.compile(rb'"conversation"\s*:\s*\{|"qa"\s*:\s*\[|"sample_id"'),
    re.compile(rb'"(speaker_[ab]|evidence|session_\d+)"'),
)
_PAGE: Final = re.compile(
    rb"(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,2000}?-->\s*)?<(?:!doctype\s+html|html)\b", re.I | re.S
)
_EXPORTS: Final = {
    "chatgpt": (re.compile(rb'"mapping"\s*:\s*\{'), re.compile(rb'"(?:create_time|current_node|message)"\s*:')),
    "claude": (
        re.compile(
            rb'"(?:chat_messages|docs)"\s*:\s*\[|"(?:conversations_memory|prompt_template|verified_phone_number|email_address)"\s*:'
        ),
        re.compile(rb'"(?:uuid|account_uuid|project_memories)"\s*:'),
    ),
    "mem0": (re.compile(rb'"memory"\s*:\s*"'), re.compile(rb'"(?:user_id|created_at|hash|categories)"\s*:')),
}
_LONGMEMEVAL: Final = re.compile(rb'"haystack_(sessions|dates|session_ids)"')


def read(
    path: str | Path,
    format: str | None = None,
    zone: str | None = None,
    *,
    source: str | None = None,
    session: str | None = None,
    limit: int = INPUT_LIMIT,
    branches: bool = False,
    tools: bool = False,
    exclude: Sequence[str] = (),
    progress: Progress | None = None,
    own_zone: str = "UTC",
    assumed: Callable[[str], object] | None = None,
) -> Iterator[Parsed]:
    """Everything in `path`, in its order, read as it is asked for.

    Args:
        path: A file (gzip is undone), a folder or zip archive with all that is in it, or "-" for standard input.
        format: A name in `READERS`; left out, `detect` decides, for each file of a folder by itself.
        zone, source, session, limit, branches, tools, exclude, progress, own_zone, assumed: As in `Options`.

    Raises:
        Invalid: at once: an unknown format or zone. At the first message: a file that cannot be read or is not text.
            Later: a file that breaks off. What was given before that is good, and reading again gives the same keys.
            What is wrong with one file of a folder is a `Skipped`.
        NotFound: at the first message: there is no such file.
    """
    if format is not None and format not in READERS:
        raise Invalid("format", f"{format!r} is not one we read", f"Give one of {', '.join(READERS)}.")
    options = Options(
        source=source,
        zone=known_zone(zone),
        session=session,
        limit=limit,
        branches=branches,
        tools=tools,
        exclude=tuple(exclude),
        progress=progress,
        own_zone=own_zone,
        assumed=assumed,
    )
    return _read(path, format, options)


def detect(path: str | Path) -> str:
    """The format of a file, by its name and first bytes: a name in `READERS`; of an archive, that of its first file.

    Raises:
        Invalid: it cannot be read, or is not text in UTF-8.
        NotFound: there is no such file.
    """
    if not is_archive(path):
        with Source(path) as source:
            return _format(source)
    for entry in sources(path, Options()):
        if isinstance(entry, Source):
            with entry as source:
                return _format(source)
    raise Invalid("path", f"{path} holds no file that we read", "Look at what is in it.")


def _read(path: str | Path, format: str | None, options: Options) -> Iterator[Parsed]:
    for entry in sources(path, options):
        if isinstance(entry, Skipped):
            yield entry
            continue
        with entry as source:
            yield from _collected(source, format, options) if source.collection else _parsed(source, format, options)


def _parsed(source: Source, format: str | None, options: Options) -> Iterator[Parsed]:
    return READERS[format or _format(source)](source, options)


def _collected(source: Source, format: str | None, options: Options) -> Iterator[Parsed]:
    """One file of many: what is wrong with it does not stop the others."""
    try:
        for parsed in _parsed(source, format, options):
            if isinstance(parsed, Skipped):
                yield Skipped(where=f"{source.place}, {parsed.where}", why=parsed.why)
            else:
                yield parsed
    except MnemicError as error:
        yield Skipped(where=source.place, why=str(error).removeprefix("path: ").replace(f"{source.label} ", "", 1))


def _format(source: Source) -> str:
    named = _EXTENSIONS.get(Path(source.name).suffix.lower())
    head = source.head.lstrip()
    if source.is_pdf:
        return "pdf"
    if named in ("markdown", "html", "code"):
        return named
    if _JSON.match(head) and (shape := _shape(head, named)):
        return shape
    if named is None and _PAGE.match(head):
        return "html"
    return named or ("dialogue" if looks_spoken(head.decode("utf-8", "ignore")) else "text")


def _shape(head: bytes, named: str | None) -> str | None:
    first, newline, _ = head.partition(b"\n")
    record = _object(first)
    if record is not None and ("entityType" in record or "relationType" in record):
        return "memory-server"
    if named != "jsonl":
        for name, marks in _EXPORTS.items():
            if all(mark.search(head) for mark in marks):
                return name
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

"""Read PDF: a document for each page with text, under the bookmarks that lead to it."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from io import BytesIO
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.items import Kind
from mnemic.errors import Invalid
from mnemic.ingest.intake import Options, RawRecord, desk
from mnemic.ingest.message import Message, Skipped
from mnemic.ingest.source import Source

if TYPE_CHECKING:
    from pypdf import PdfReader

PDF_LIMIT: Final = 256 * 1024 * 1024
"""Most bytes of one PDF: pictures count, so it may be far larger than the text in it."""
PAGES: Final = 20_000
"""Most pages of one PDF."""

_BROKEN: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What the parser raises, beside its own errors, at a file that breaks the rules."""
_HYPHEN: Final = re.compile(r"(?<=[a-z])(?:-|\u00ad)\n(?=[a-z])")
_LEVELS: Final = 8
_RUNS_ON: Final = re.compile(r"[a-z,]\s*\Z")
_SENTENCE_END: Final = re.compile(r"\A[a-z][^.!?]{0,600}[.!?]+[\"')\]]*(?=\s|\Z)")


def read_pdf(source: Source, options: Options) -> Iterator[Message | Skipped]:
    """One document for each page, its number in the slot `page`; a sentence that runs over stays with its first page.

    Words hyphenated at a line's end are joined. The title and date of the file's properties are used. A page without
    text (a scan, a drawing) is skipped and named.

    Raises:
        Invalid: the package that reads PDF is missing, or the file is encrypted or damaged.
        TooLarge: over 256 MiB or 20,000 pages.
    """
    raw = source.whole(PDF_LIMIT)
    document = _opened(raw, source.label)
    title, time = _properties(document, source.stem)
    bookmarks = _bookmarks(document)
    intake = desk(source, options)
    texts = [*_pages(document)]
    _join_sentences(texts)
    for number, text in enumerate(texts, start=1):
        if isinstance(text, Skipped):
            yield text
        elif not text.strip():
            yield Skipped(where=f"page {number}", why="has no text: a scan or a picture, which needs OCR first")
        else:
            slots = {"title": title, "heading": bookmarks.get(number, ""), "page": number}
            yield intake.take(
                RawRecord(
                    where=f"page {number}",
                    place=f"page-{number}",
                    text=text.strip(),
                    time=time,
                    kind=Kind.DOCUMENT,
                    slots=slots,
                )
            )


def _opened(raw: bytes, label: str) -> PdfReader:
    try:
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError
    except ImportError as error:
        raise Invalid("path", f"{label} is PDF, which needs pypdf", "Run `pip install 'mnemic[docs]'`.") from error
    logging.getLogger("pypdf").setLevel(logging.ERROR)
    try:
        document = PdfReader(BytesIO(raw))
        if document.is_encrypted and not document.decrypt(""):
            raise Invalid("path", f"{label} is encrypted", "Save it without a password first.")
        pages = len(document.pages)
    except (PyPdfError, *_BROKEN) as error:
        raise Invalid("path", f"{label} is a damaged PDF ({_named(error)})", "Print it to a new PDF.") from error
    if pages > PAGES:
        raise Invalid("path", f"{label} has {pages:,} pages", f"Split it: {PAGES:,} are the most.")
    return document


def _pages(document: PdfReader) -> Iterator[str | Skipped]:
    from pypdf.errors import PyPdfError

    for number in range(1, len(document.pages) + 1):
        try:
            text = document.pages[number - 1].extract_text()
        except (PyPdfError, *_BROKEN) as error:
            yield Skipped(where=f"page {number}", why=f"its text cannot be extracted ({type(error).__name__})")
        else:
            yield _HYPHEN.sub("", text.replace("\x00", "")).encode("utf-8", "replace").decode()


def _join_sentences(texts: list[str | Skipped]) -> None:
    """Move the end of a sentence that began on the page before back to that page."""
    for n in range(1, len(texts)):
        before, text = texts[n - 1], texts[n]
        if isinstance(before, Skipped) or isinstance(text, Skipped) or not _RUNS_ON.search(before):
            continue
        if end := _SENTENCE_END.match(text.lstrip()):
            texts[n - 1] = f"{before.rstrip()}\n{end[0]}"
            texts[n] = text.lstrip()[end.end() :]


def _properties(document: PdfReader, stem: str) -> tuple[str, str | None]:
    """The title, and when it was made if that is certain."""
    from pypdf.errors import PyPdfError

    try:
        properties = document.metadata
        title = (properties.title if properties else None) or stem
        made = properties.creation_date if properties else None
    except (PyPdfError, *_BROKEN):
        return stem, None
    certain = made is not None and made.tzinfo is not None
    return str(title).replace("\x00", "").strip() or stem, made.isoformat() if made and certain else None


def _bookmarks(document: PdfReader) -> dict[int, str]:
    """Each page's path of bookmarks: the last one on it or before it; without any that can be read, nothing."""
    from pypdf.errors import PyPdfError

    try:
        steps = dict(_steps(document, document.outline, ()))
    except (PyPdfError, *_BROKEN):
        return {}
    numbers = range(1, len(document.pages) + 1)
    return dict(zip(numbers, accumulate(numbers, lambda path, n: steps.get(n, path), initial=""), strict=False)) | steps


def _steps(document: PdfReader, outline: list[Any], path: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    here = path
    for entry in outline:
        if isinstance(entry, list):
            if len(path) < _LEVELS:
                yield from _steps(document, entry, here)
            continue
        here = (*path, str(entry.title).strip())
        number = document.get_destination_page_number(entry)
        if number is not None and number >= 0:
            yield number + 1, " > ".join(here)


def _named(error: Exception) -> str:
    return type(error).__name__ + (f": {error}"[:120] if str(error) else "")

"""PDF: a document for each page, and clear words about what cannot be read."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemic.core.items import Kind
from mnemic.errors import Invalid
from mnemic.ingest import Message, Skipped, read

pypdf = pytest.importorskip("pypdf")

Write = Callable[[str, str | bytes], Path]


def pdf(*pages: str, marks: tuple[tuple[str, int], ...] = (), password: str = "", **properties: str) -> bytes:
    """A PDF with these lines on its pages."""
    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = PdfWriter()
    font = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
    named = DictionaryObject({NameObject(k): NameObject(v) for k, v in font.items()})
    for text in pages:
        page = writer.add_blank_page(600, 800)
        fonts = DictionaryObject({NameObject("/F1"): named})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        lines = " T* ".join(f"({line}) Tj" for line in text.split("\n"))
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 14 TL 50 700 Td {lines} ET".encode() if text else b"")
        page[NameObject("/Contents")] = stream
    parent = None
    for title, number in marks:
        parent = writer.add_outline_item(title=title, page_number=number - 1, parent=parent)
    if properties:
        writer.add_metadata({f"/{name}": value for name, value in properties.items()})
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_each_page_is_a_document_with_its_number(write: Write) -> None:
    raw = pdf("Tomatoes want sun.", "Beans want water.", Title="Garden", CreationDate="D:20250501080000+02'00'")
    pages = list(read(write("a.pdf", raw)))
    assert [(p.text, p.key, p.kind) for p in pages if isinstance(p, Message)] == [
        ("Tomatoes want sun.", "a::page-1", Kind.DOCUMENT),
        ("Beans want water.", "a::page-2", Kind.DOCUMENT),
    ]
    assert isinstance(pages[1], Message)
    assert pages[1].slots == {"title": "Garden", "page": 2}
    assert pages[1].said == datetime(2025, 5, 1, 6, tzinfo=UTC)


def test_bookmarks_are_headings_of_the_pages_they_lead_to_and_of_those_after(write: Write) -> None:
    raw = pdf("One.", "Two.", "Three.", marks=(("Beds", 2), ("Beans", 3)))
    headings = [p.slots.get("heading") for p in read(write("a.pdf", raw)) if isinstance(p, Message)]
    assert headings == [None, "Beds", "Beds > Beans"]


def test_a_sentence_over_two_pages_stays_whole_and_a_hyphenated_word_too(write: Write) -> None:
    raw = pdf("The harvest of toma-\ntoes goes on", "until autumn. Then it rains.")
    texts = [p.text for p in read(write("a.pdf", raw)) if isinstance(p, Message)]
    assert texts == ["The harvest of tomatoes goes on\nuntil autumn.", "Then it rains."]


def test_a_page_without_text_is_named(write: Write) -> None:
    _, scan = read(write("a.pdf", pdf("Words.", "")))
    assert isinstance(scan, Skipped)
    assert scan.where == "page 2"
    assert "OCR" in scan.why


def test_an_encrypted_or_damaged_file_is_refused(write: Write) -> None:
    with pytest.raises(Invalid, match="is encrypted"):
        list(read(write("a.pdf", pdf("Secret.", password="open"))))
    whole = pdf("Words.")
    for broken in (whole[:40], b"%PDF-1.7\n" + bytes(500), b"%PDF-1.7\nnothing"):
        with pytest.raises(Invalid, match="damaged PDF"):
            list(read(write("b.pdf", broken)))


def test_damage_anywhere_is_a_typed_error_or_a_skip(write: Write) -> None:
    whole = pdf("Words on a page.", "And on another.", marks=(("Beds", 1),))
    for place in range(9, len(whole), 23):
        try:
            given = list(read(write("a.pdf", whole[:place] + b"\xff<<" + whole[place + 3 :])))
        except Invalid:
            continue
        assert all(isinstance(one, Message | Skipped) for one in given)


def test_without_the_package_it_says_what_to_install(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("a.pdf", pdf("Words."))
    monkeypatch.setitem(sys.modules, "pypdf", None)
    with pytest.raises(Invalid, match=r"mnemic\[docs\]"):
        list(read(path))

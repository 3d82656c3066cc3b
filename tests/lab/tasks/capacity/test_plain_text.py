"""Any plain text is read, packed or not, and cut without splitting a character."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import Invalid
from mnemic.lab.tasks.capacity.plain_text import cut, read_text

TEXT = "The ferry to Ålesund left at noon. 渡轮中午开往奥勒松。 " * 60


@given(st.text(min_size=1, max_size=400), st.integers(4, 64), st.integers(1, 50))
def test_a_text_is_cut_into_whole_characters_and_nothing_is_lost(text: str, size: int, block: int) -> None:
    raw = text.encode("utf-8", "surrogatepass")
    if raw.decode("utf-8", "ignore") != text:
        return
    pieces = list(cut((raw[at : at + block] for at in range(0, len(raw), block)), size))
    assert b"".join(pieces) == raw
    assert all(len(piece) <= size for piece in pieces)
    assert "".join(piece.decode() for piece in pieces) == text
    assert all(len(piece) > size - 4 for piece in pieces[:-1])


def test_bytes_that_are_no_utf_8_are_cut_where_they_are() -> None:
    raw = b"\x80" * 1000
    assert [len(piece) for piece in cut(iter([raw]), 300)] == [300, 300, 300, 100]


def test_a_file_is_read_alike_whatever_it_is_packed_in(tmp_path: Path) -> None:
    raw = TEXT.encode()
    (tmp_path / "plain").write_bytes(raw)
    (tmp_path / "book.dz").write_bytes(gzip.compress(raw))
    (tmp_path / "book.bz2").write_bytes(bz2.compress(raw))
    (tmp_path / "book.xz").write_bytes(lzma.compress(raw))
    with zipfile.ZipFile(tmp_path / "book.zip", "w") as archive:
        archive.mkdir("inner")
        archive.writestr("inner/book", raw)
    texts = [read_text(path) for path in sorted(tmp_path.iterdir())]
    assert "".join(texts[0].chunks) == TEXT
    assert {(text.chunks, text.sha256) for text in texts} == {(texts[0].chunks, texts[0].sha256)}
    assert all(len(chunk.encode()) <= 512 for chunk in texts[0].chunks)


def test_a_folder_is_read_file_after_file_and_says_what_it_left_out(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.txt").write_text("second " * 3)
    (tmp_path / "a.txt").write_text("first " * 3)
    (tmp_path / "c.bin").write_bytes(b"\0\1\2")
    (tmp_path / "d.txt").write_text(" \n ")
    text = read_text(tmp_path)
    assert text.chunks == ("first " * 3, "second " * 3)
    assert (text.files, text.skipped, text.blank) == (3, 1, 1)


def test_as_many_chunks_as_are_wanted(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / "b.txt").write_text(TEXT)
    assert len(read_text(tmp_path, limit=3).chunks) == 3
    assert read_text(tmp_path, limit=3).files == 1


def test_what_is_no_text_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "zeros").write_bytes(b"\0" * 100)
    (tmp_path / "cut.gz").write_bytes(gzip.compress(TEXT.encode())[:50])
    (tmp_path / "empty").write_bytes(b"")
    for name, what in (
        ("zeros", "no plain text"),
        ("cut.gz", "cannot read"),
        ("empty", "no text"),
        ("none", "no none"),
    ):
        with pytest.raises(Invalid, match=what):
            read_text(tmp_path / name)

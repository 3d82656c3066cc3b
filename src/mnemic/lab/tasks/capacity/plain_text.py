"""Plain text as a stream of chunks: a file of any size, packed or not, or a folder of them.

enwik8 and text8 come as zip, other large texts often as gzip (`.dz` of a dictionary is gzip too), bzip2 or xz; what a
file is, its first bytes say and not its name. Invalid UTF-8 is read as U+FFFD, so that a text in another encoding is
taken in whole.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, cast

from mnemic.errors import Invalid

SIZE: Final = 512
"""Bytes of a chunk, as in MemorySpace."""

_READ: Final = 1 << 20
_SNIFFED: Final = 8192
_WHERE: Final = "Give a plain text (packed as zip, gzip, bzip2 or xz, or not), or a folder of them."


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """What was read.

    Attributes:
        sha256: Of the chunks read, blank ones among them, end to end.
        files: How many files they come from.
        skipped: Files of a folder that are no text, left out.
        blank: Chunks of white space, left out.
    """

    name: str
    sha256: str
    chunks: tuple[str, ...]
    files: int
    skipped: int
    blank: int


def read_text(path: Path, *, size: int = SIZE, limit: int | None = None) -> Text:
    """The first `limit` chunks of a text, in order; of a folder, file after file by name.

    Raises:
        Invalid: nothing there that can be read, or no text in it.
    """
    reading = _Reading(size, limit)
    for file in _files(path):
        if reading.full:
            break
        try:
            reading.take(file)
        except _NotTextError as error:
            if file == path:
                raise Invalid("path", f"{path.name} is no plain text", _WHERE) from error
            reading.skipped += 1
        except (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
            raise Invalid("path", f"cannot read {file.name}: {error}", _WHERE) from error
    if not reading.chunks:
        raise Invalid("path", f"there is no text in {path.name}", _WHERE)
    return Text(
        name=path.name,
        sha256=reading.digest.hexdigest(),
        chunks=tuple(reading.chunks),
        files=reading.files,
        skipped=reading.skipped,
        blank=reading.blank,
    )


class _Reading:
    """Chunks as they come in, file after file, until there are enough."""

    def __init__(self, size: int, limit: int | None) -> None:
        self.digest = hashlib.sha256()
        self.chunks: list[str] = []
        self.files = self.skipped = self.blank = 0
        self._size, self._limit = size, limit

    @property
    def full(self) -> bool:
        return self._limit is not None and len(self.chunks) >= self._limit

    def take(self, file: Path) -> None:
        """Read a file, as far as is wanted."""
        with closing(_blocks(file)) as blocks:
            for number, block in enumerate(cut(blocks, self._size)):
                if number * self._size < _SNIFFED and b"\0" in block:
                    raise _NotTextError
                if self.full:
                    break
                self._add(block)
        self.files += 1

    def _add(self, block: bytes) -> None:
        self.digest.update(block)
        chunk = block.decode("utf-8", "replace")
        if chunk.isspace():
            self.blank += 1
        else:
            self.chunks.append(chunk)


def cut(stream: Iterator[bytes], size: int) -> Iterator[bytes]:
    """Bytes in pieces of at most `size`, none ending within a character of UTF-8; the last may be shorter."""
    held = b""
    for block in stream:
        held += block
        start = 0
        while len(held) - start > size:
            end = _boundary(held, start, start + size)
            yield held[start:end]
            start = end
        held = held[start:]
    if held:
        yield held


class _NotTextError(Exception):
    """A file holds a zero byte near its beginning."""


def _boundary(buffer: bytes, start: int, end: int) -> int:
    """Where to cut so that no character is split; bytes that are no UTF-8 are cut where they are."""
    back = next((back for back in range(4) if buffer[end - back] & 0xC0 != 0x80), 0)
    return end - back if end - back > start else end


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.is_file())
    if not path.exists():
        raise Invalid("path", f"there is no {path.name}", _WHERE)
    return [path]


def _blocks(file: Path) -> Generator[bytes, None, None]:
    with file.open("rb") as raw:
        head = raw.read(6)
    if head[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(file) as archive:
            for member in archive.infolist():
                if not member.is_dir():
                    with archive.open(member) as stream:
                        yield from _read(stream)
        return
    with _opened(file, head) as stream:
        yield from _read(stream)


def _read(stream: IO[bytes]) -> Iterator[bytes]:
    return iter(lambda: stream.read(_READ), b"")


def _opened(file: Path, head: bytes) -> IO[bytes]:
    if head[:2] == b"\x1f\x8b":
        return cast(IO[bytes], gzip.open(file))
    if head[:3] == b"BZh":
        return cast(IO[bytes], bz2.open(file))
    if head == b"\xfd7zXZ\x00":
        return cast(IO[bytes], lzma.open(file))
    return file.open("rb")

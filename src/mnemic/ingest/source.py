"""One opened input: gzip undone, neither text nor PDF refused, lines of bounded length, progress told in bytes."""

from __future__ import annotations

import codecs
import gzip
import re
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import IO, Final, cast

from mnemic.errors import Invalid, NotFound, TooLarge

STDIN: Final = "-"
"""The path that means standard input."""

HEAD: Final = 64 * 1024
"""Bytes read ahead to tell what a source is."""

RATIO: Final = 250
"""Most bytes that one packed byte may become, past the first 64 MiB: text packs 3 to 20 to 1, a bomb 1,000 to 1."""

_GZIP: Final = b"\x1f\x8b"
_PDF: Final = b"%PDF-"
_UNSUSPECTED: Final = 64 * 1024 * 1024
_DECLARED: Final = re.compile(rb"\s*+<[^\x00]{0,4096}?\bcharset\s*+=", re.IGNORECASE)
"""A page that says what its encoding is, and may not be UTF-8."""
_WIDE: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
_TICK: Final = 64 * 1024
_PIECE: Final = 1024 * 1024
_CONVERT: Final = "Convert it first: `iconv -f ENCODING -t utf-8 IN > OUT`."

Progress = Callable[[int], None]
"""Told how many bytes of the file have been read so far, as they lie on disk."""


class Source:
    """A stream of bytes with its first 64 KiB in view. Use it as a context manager.

    Attributes:
        label: What messages call it.
        name: The file's name without folder and `.gz`, "stdin" for standard input.
        collection, place: The folder or archive it was found in and its path there; "" for a file by itself.
        head: The first bytes, gzip undone, a UTF-8 mark taken off.
    """

    def __init__(
        self,
        path: str | Path,
        progress: Progress | None = None,
        *,
        collection: str = "",
        place: str = "",
        member: IO[bytes] | None = None,
        position: Callable[[], int] | None = None,
    ) -> None:
        """Open `path`, or standard input for "-".

        Args:
            member: An archive's member, already open, in place of the file itself.
            position: How far the archive has been read, in bytes on disk.

        Raises:
            NotFound: there is no such file.
            Invalid: it cannot be opened, is empty, or is neither text in UTF-8 nor PDF.
        """
        self.label = "standard input" if str(path) == STDIN else str(path)
        self.name = "stdin" if str(path) == STDIN else Path(path).name.removesuffix(".gz")
        self.collection, self.place = collection, place
        self._progress = progress
        self._reported = self._read_bytes = 0
        self._raw, self._owned = _opened(path) if member is None else (member, True)
        self._position = position or (self._raw.tell if self._raw.seekable() else None)
        self._stream = self._raw
        try:
            self._stream = self._unzipped()
            self.head = self._ahead = self._first()
            _refuse_what_is_not_text(self.head, self.label)
        except BaseException:
            self.close()
            raise

    @property
    def stem(self) -> str:
        """The name without its extension."""
        return stem_of(self.name)

    @property
    def is_pdf(self) -> bool:
        """Whether its bytes are those of a PDF."""
        return self.head.startswith(_PDF)

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; standard input is left open."""
        if self._stream is not self._raw:
            self._stream.close()
        if self._owned:
            self._raw.close()

    def read(self, size: int) -> bytes:
        """The next `size` bytes, fewer only at the end."""
        taken, self._ahead = self._ahead[:size], self._ahead[size:]
        with self._reading():
            taken += self._stream.read(size - len(taken)) if len(taken) < size else b""
        self._count(len(taken))
        self._report(done=not taken)
        return taken

    def whole(self, limit: int) -> bytes:
        """All that is left.

        Raises:
            TooLarge: more than `limit` bytes.
        """
        pieces, size = [], 0
        while piece := self.read(_PIECE):
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                raise TooLarge("path", f"{self.label} has over {limit:,} bytes", "Split it.")
        return b"".join(pieces)

    def lines(self, limit: int) -> Iterator[tuple[int, bytes | None]]:
        """Each line with its number from 1, without its line end; None for one over `limit` bytes."""
        number = 0
        while line := self._line(limit):
            number += 1
            if len(line) < limit or line.endswith(b"\n"):
                yield number, line.rstrip(b"\r\n")
            else:
                while line and not line.endswith(b"\n"):
                    line = self._line(limit)
                yield number, None
        self._report(done=True)

    def decoded(self, raw: bytes, line: int | None = None) -> str:
        """`raw` as text.

        Raises:
            Invalid: it is not UTF-8; the file is of another encoding.
        """
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError as error:
            where = f"byte {error.start}" if line is None else f"line {line}, byte {error.start}"
            raise Invalid("path", f"{self.label} is not UTF-8 ({where})", _CONVERT) from error

    def _line(self, limit: int) -> bytes:
        end = self._ahead.find(b"\n", 0, limit) + 1 or min(limit, len(self._ahead))
        line, self._ahead = self._ahead[:end], self._ahead[end:]
        if not line.endswith(b"\n") and len(line) < limit:
            with self._reading():
                line += self._stream.readline(limit - len(line))
        self._count(len(line))
        self._report()
        return line

    def _count(self, size: int) -> None:
        """Refuse a small file that never ends."""
        self._read_bytes += size
        if self._stream is self._raw or self._read_bytes <= _UNSUSPECTED or not self._raw.seekable():
            return
        if self._read_bytes > RATIO * self._raw.tell():
            raise TooLarge("path", f"{self.label} unpacks to over {RATIO} times its size", "Unpack it, and look at it.")

    def _unzipped(self) -> IO[bytes]:
        start = self._raw.peek(2)[:2] if isinstance(self._raw, BufferedReader) else b""
        return cast("IO[bytes]", gzip.GzipFile(fileobj=self._raw)) if start == _GZIP else self._raw

    def _first(self) -> bytes:
        with self._reading():
            return self._stream.read(HEAD).removeprefix(codecs.BOM_UTF8)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
            packing = "zip" if isinstance(self._raw, zipfile.ZipExtFile) else "gzip"
            raise Invalid(
                "path", f"{self.label} is a damaged or truncated {packing} file ({error})", "Fetch or make it again."
            ) from error
        except OSError as error:
            raise _unreadable(self.label, error) from error

    def _report(self, *, done: bool = False) -> None:
        if self._progress is None or self._position is None:
            return
        reached = self._position()
        if done or reached - self._reported >= _TICK:
            self._reported = reached
            self._progress(reached)


def stem_of(path: str | Path) -> str:
    """Name what a file is called where it was given no name: without its folders, its extension and `.gz`."""
    name = Path(path).name.removesuffix(".gz")
    return Path(name).stem or name


def _opened(path: str | Path) -> tuple[IO[bytes], bool]:
    if str(path) == STDIN:
        return sys.stdin.buffer, False
    try:
        return Path(path).open("rb"), True
    except FileNotFoundError as error:
        raise NotFound(f"path: there is no file {path}. Check its spelling, or give - for standard input.") from error
    except (OSError, ValueError) as error:
        raise _unreadable(str(path), error) from error


def _unreadable(label: str, error: Exception) -> Invalid:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return Invalid("path", f"{label} cannot be read: {reason}", "Give a file that you may read.")


def _refuse_what_is_not_text(head: bytes, label: str) -> None:
    if not head.strip():
        raise Invalid("path", f"{label} is empty", "There is nothing to import; give another file.")
    if head.startswith(_PDF):
        return
    if head.startswith(_WIDE):
        raise Invalid("path", f"{label} is UTF-16 or UTF-32, not UTF-8", _CONVERT)
    first = head.split(b"\n", 1)[0]
    if b"\x00" in first:
        raise Invalid("path", f"{label} is binary", "Give text, JSON, Markdown, HTML, PDF or code.")
    try:
        codecs.getincrementaldecoder("utf-8")().decode(first)
    except UnicodeDecodeError as error:
        if not _DECLARED.match(head):
            raise Invalid("path", f"{label} is not UTF-8 (byte {error.start})", _CONVERT) from error

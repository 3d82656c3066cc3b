"""A configuration file read whole and written in one step, or refused with nothing touched."""

from __future__ import annotations

import codecs
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mnemic.errors import Conflict, Invalid, Refused

_LIMIT: Final = 64 * 1024 * 1024
"""Bytes; no configuration is larger."""
_BOM: Final = "\ufeff"


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file as it was read.

    Attributes:
        path: The file behind any links, so that a link to it stays one.
        raw: Its bytes; None if it is not there.
        bom: Whether it begins with a byte order mark, which is no part of `text`.
    """

    path: Path
    raw: bytes | None
    text: str
    bom: bool = False

    def encoded(self, text: str) -> bytes:
        """Encode `text` as the bytes of this file."""
        return ((_BOM if self.bom else "") + text).encode()


def read(path: Path) -> FileContent:
    """Read a file.

    Raises:
        Refused: it cannot be read, or is no file.
        Invalid: it is not text in UTF-8.
    """
    try:
        real = path.resolve()
        if real.is_dir():
            raise Refused(f"{path} is a folder; a file belongs there")
        if real.exists() and not real.is_file():
            raise Refused(f"{path} is no ordinary file")
        raw = _bytes(real)
    except FileNotFoundError:
        return FileContent(real, None, "")
    except (OSError, RuntimeError) as error:  # a ring of links is a RuntimeError before Python 3.13
        why = getattr(error, "strerror", None) or error
        raise Refused(f"{path} cannot be read: {why}; check its owner and mode") from error
    text = _text(raw, path)
    return FileContent(real, raw, text.removeprefix(_BOM), text.startswith(_BOM))


def _bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        raw = file.read(_LIMIT + 1)
    if len(raw) > _LIMIT:
        raise Refused(f"{path} is larger than any configuration")
    return raw


def _text(raw: bytes, path: Path) -> str:
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in raw[:4]:
        raise Invalid(str(path), "it is UTF-16", "Save it as UTF-8, then try again.")
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise Invalid(str(path), f"line {line} is not UTF-8", "Save it as UTF-8, then try again.") from error


def check_writable(file: FileContent, display_path: Path) -> None:
    """Refuse a file that is kept from being written, even where a rename could take its place.

    Raises:
        Refused: with what keeps it.
    """
    if file.raw is not None:
        mode = file.path.stat().st_mode
        if not mode & (stat.S_IWUSR | stat.S_IWGRP) or not os.access(file.path, os.W_OK):
            raise Refused(f"{display_path} is read-only; if another program keeps it, add mnemic there")
    folder = next(parent for parent in file.path.parents if parent.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise Refused(f"{display_path} cannot be written: {folder} is no folder that you may write in")


def write(file: FileContent, text: str, *, mode: int) -> None:
    """Put `text` in the place of what was read; folders are made where they are missing.

    Args:
        mode: The mode of a new file; one that was there keeps its own.

    Raises:
        Conflict: somebody changed it since it was read; nothing was written.
        Refused: it cannot be written; it is as it was.
    """
    with _refusing(file.path):
        file.path.parent.mkdir(parents=True, exist_ok=True)
        _replace(file, file.encoded(text), mode)


def remove(file: FileContent) -> None:
    """Take a file away that we made.

    Raises:
        Conflict: somebody changed it since it was read.
        Refused: it cannot be removed.
    """
    with _refusing(file.path):
        _check_same(file)
        file.path.unlink()


def _replace(file: FileContent, raw: bytes, mode: int) -> None:
    handle, name = tempfile.mkstemp(dir=file.path.parent, prefix=f".{file.path.name}.", suffix=".mnemic")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(raw)
            out.flush()
            os.fsync(out.fileno())
        _like_before(file, Path(name), mode)
        _check_same(file)
        os.replace(name, file.path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _like_before(file: FileContent, new: Path, mode: int) -> None:
    """Give the new file the mode of the old one, and its owner as far as that is allowed."""
    if file.raw is None:
        new.chmod(mode)
        return
    before = file.path.stat()
    new.chmod(stat.S_IMODE(before.st_mode))
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(new, before.st_uid, before.st_gid)


def _check_same(file: FileContent) -> None:
    try:
        now: bytes | None = _bytes(file.path)
    except FileNotFoundError:
        now = None
    if now != file.raw:
        raise Conflict(f"{file.path} was changed meanwhile by another program; nothing was written, try again")


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Refused(f"{path} cannot be written: {error.strerror or error}; it is as it was") from error

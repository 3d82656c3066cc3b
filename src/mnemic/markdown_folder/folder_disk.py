"""A folder on the disk: its Markdown read without following links, its files replaced whole."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mnemic.errors import Invalid, NotFound, TooLarge
from mnemic.markdown_folder.folder_manifest import MANIFEST

README: Final = "README.md"
_SUFFIXES: Final = (".md", ".markdown")
_LARGEST: Final = 256 * 1024 * 1024
"""Most bytes of one file."""
_TEMPORARY: Final = ".mnemic-"
_NO_LINKS: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True)
class DiskFile:
    """A file of a folder.

    Attributes:
        path: From the folder, with `/` between its steps, composed (NFC).
        text: What it holds, its lines ending in line feeds; "" where it cannot be read.
        wrong: Why it cannot be read; "" where it can.
        foreign: It is no Markdown, and nobody looks into it.
    """

    path: str
    hash: str = ""
    text: str = ""
    wrong: str = ""
    foreign: bool = False


class FolderDisk:
    """Reads and writes the files of one folder.

    Raises:
        Invalid: something that is no folder is there.
    """

    def __init__(self, folder: str | Path) -> None:
        self.root = Path(folder).expanduser().absolute()
        if self.root.exists() and not self.root.is_dir():
            raise Invalid("folder", f"{folder} is a file", "Name a folder; one that is not there yet is made.")

    def read_manifest(self) -> str | None:
        """The text of the manifest; None where there is none."""
        with _as_ours(self.root):
            return self._read(self.root / MANIFEST, MANIFEST).text if (self.root / MANIFEST).is_file() else None

    def existing_manifest(self) -> str:
        """The text of the manifest.

        Raises:
            NotFound: there is none.
        """
        text = self.read_manifest()
        if text is None:
            raise NotFound(
                f"{self.root} is no folder of a memory ({MANIFEST} is missing); `mnemic files write` makes one"
            )
        return text

    def is_empty(self) -> bool:
        """Whether nothing is there yet but what other programs hide there, such as `.git`."""
        with _as_ours(self.root):
            return not self.root.exists() or all(place.name.startswith(".") for place in self.root.iterdir())

    def files(self) -> Iterator[DiskFile]:
        """The files below the folder, by path; what begins with a dot is passed over, and so is our own README."""
        with _as_ours(self.root):
            yield from self._files(self.root, "")

    def _files(self, folder: Path, before: str) -> Iterator[DiskFile]:
        for entry in sorted(os.scandir(folder), key=lambda scanned: scanned.name):
            path = before + entry.name
            if entry.name.startswith(".") or path == README:
                continue
            markdown = entry.name.lower().endswith(_SUFFIXES)
            if path != path.encode(errors="replace").decode():
                wrong = "has a name that is not UTF-8" if markdown else ""
                yield DiskFile(path.encode(errors="replace").decode(), wrong=wrong, foreign=not markdown)
            elif entry.is_symlink():
                wrong = "is a link, and links are not followed" if markdown else ""
                yield DiskFile(self._named(path), wrong=wrong, foreign=not markdown)
            elif entry.is_dir(follow_symlinks=False):
                yield from self._files(Path(entry.path), f"{path}/")
            elif not markdown:
                yield DiskFile(self._named(path), foreign=True)
            else:
                yield self._read(Path(entry.path), path)

    def _read(self, place: Path, path: str) -> DiskFile:
        name = self._named(path)
        try:
            with os.fdopen(os.open(place, os.O_RDONLY | _NO_LINKS | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
                known = os.fstat(file.fileno())
                if not stat.S_ISREG(known.st_mode):
                    return DiskFile(name, wrong="is no file that can be read")
                if known.st_size > _LARGEST:
                    return DiskFile(name, wrong=f"has {known.st_size:,} bytes, over {_LARGEST:,}")
                raw = file.read()
        except OSError as error:
            return DiskFile(name, wrong=f"cannot be read ({error.strerror})")
        hash = _hash(raw)
        try:
            text = raw.removeprefix(b"\xef\xbb\xbf").decode()
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            return DiskFile(name, hash, wrong=f"is not UTF-8 (byte {error.start:,}, line {line:,})")
        return DiskFile(name, hash, text.replace("\r\n", "\n").replace("\r", "\n"))

    def prepare(self) -> None:
        """Make the folder, if it is not there, and see that files can be made in it.

        Raises:
            Invalid: they cannot.
        """
        with _as_ours(self.root):
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=_TEMPORARY, dir=self.root)
            os.close(handle)
            os.unlink(name)

    @staticmethod
    def hash_of(text: str) -> str:
        """The hash of the file that a text makes."""
        return _hash(text.encode())

    def replace(self, path: str, text: str) -> None:
        """Write a file whole, or not at all.

        Raises:
            Invalid: it cannot be written, or a link lies on the way.
        """
        raw = text.encode()
        with _as_ours(self.root):
            place = self._place(path, making=True)
            handle, name = tempfile.mkstemp(prefix=_TEMPORARY, suffix=".tmp", dir=place.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(raw)
                os.replace(name, place)
            except BaseException:
                with suppress(OSError):
                    os.unlink(name)
                raise

    def remove(self, path: str) -> None:
        """Delete a file, and the folders that it leaves empty."""
        with _as_ours(self.root):
            place = self._place(path, making=False)
            with suppress(FileNotFoundError):
                place.unlink()
            for parent in place.parents:
                if parent == self.root or self.root not in parent.parents:
                    return
                try:
                    parent.rmdir()
                except OSError:
                    return

    def _place(self, path: str, *, making: bool) -> Path:
        place, steps = self.root, path.split("/")
        for step in steps[:-1]:
            place /= step
            if place.is_symlink():
                raise Invalid("folder", f"{place} is a link", "Put a folder in its place: links are not followed.")
            if making:
                place.mkdir(mode=0o700, exist_ok=True)
        if len(os.fsencode(place / steps[-1])) > 4096:
            raise TooLarge("folder", f"{shorten(path)} has too long a path", "Use a folder nearer to the root.")
        return place / steps[-1]

    def _named(self, path: str) -> str:
        """A path as it is known here: composed, as we write names, if the system finds the same file by that."""
        composed = unicodedata.normalize("NFC", path)
        return composed if os.path.lexists(self.root / composed) else path


def _hash(raw: bytes) -> str:
    return hashlib.blake2b(raw, digest_size=16).hexdigest()


def shorten(path: str) -> str:
    """A path, cut for a message."""
    return path if len(path) <= 80 else f"{path[:79]}…"


@contextmanager
def _as_ours(root: Path) -> Iterator[None]:
    """Turn what the system says of a file into an error of ours."""
    try:
        yield
    except OSError as error:
        problem = f"{error.filename or root}: {error.strerror or error}"
        remedy = "Look at its rights and at the room on the disk, then try again: nothing of the memory is lost."
        raise Invalid("folder", problem, remedy) from error

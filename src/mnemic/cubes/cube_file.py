"""The file of a cube: a zip, nothing compressed, with a manifest first, then parts that are named by their SHA-256.

The last 64 bytes, the zip's comment, are the SHA-256 of all before them: whatever was cut or changed on the way is
found out before anything else is looked at. Whoever forges a cube can make that anew, so every claim of the file is
held against the file itself: there is nothing in it but what the manifest names, one after the other, in the sizes and
with the digests that it says.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
import struct
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias

from mnemic._version import __version__
from mnemic.artefacts.artefact_files import DIGEST, NO_LINKS, TAKEN, sync_folder
from mnemic.errors import Conflict, Invalid, NotFound, StoreError, StoreFull, TooLarge

FORMAT: Final = 1
"""The number of this format."""
CUBE_LIMIT: Final = (1 << 31) - 1
"""Most bytes of a cube: as many as a zip holds without extensions."""
JOURNAL_LIMIT: Final = 1 << 29
"""Most bytes of its journal, which is read into memory."""
_MANIFEST: Final = "manifest.json"
_FOLDER: Final = "parts/"
_MANIFEST_LIMIT: Final = 1 << 20
_MOST_PARTS: Final = 4_000
_DIRECTORY_LIMIT: Final = 1 << 20
_PIECE: Final = 1 << 20
_DIGEST_LENGTH: Final = 64
_END: Final = struct.Struct("<4s4H2LH")
"""The end of a zip: signature, two disks, entries here and in all, bytes and place of its directory, its comment's."""
_LOCAL_HEAD: Final = 30
_BEYOND: Final = b"PK\x06\x07"
"""What stands before the end of a zip with extensions for more than 2 GB."""
_UNREADABLE: Final = (
    zipfile.BadZipFile, struct.error, EOFError, NotImplementedError, RuntimeError, ValueError, KeyError, TypeError,
    AttributeError, OverflowError, RecursionError, OSError,
)  # fmt: skip
"""What reading a forged zip or manifest may end in."""

CubeProgress: TypeAlias = Callable[[str, int, int | None], object]
"""Takes what goes on, how much of it is done, and of how much; None where nobody knows."""


class PartKind(StrEnum):
    """The kinds of part: the journal as text, and bytes of artefacts, which last or can be made again."""

    JOURNAL = "journal"
    LASTING = "lasting"
    REMADE = "remade"


@dataclass(frozen=True, slots=True)
class CubePart:
    """A part of a cube, as its manifest names it."""

    kind: PartKind
    sha256: str
    size: int

    @property
    def name(self) -> str:
        """Its name in the zip."""
        return _FOLDER + self.sha256


@contextmanager
def beginning(dest: Path) -> Iterator[BinaryIO]:
    """Open a file without a name beside a cube that is to be written, for its journal; tell what the system says.

    Raises:
        Conflict: there is a file of that name, which is never overwritten.
        NotFound: there is no such folder.
        StoreFull, StoreError: it could not be written; nothing is left of it.
    """
    if dest.exists() or dest.is_symlink():
        raise _in_the_way(dest)
    folder = dest.absolute().parent
    if not folder.is_dir():
        raise NotFound(f"there is no folder {folder}; make it first, or name a file elsewhere")
    try:
        with tempfile.TemporaryFile(dir=folder) as spool:
            yield spool
    except OSError as error:
        raise _unwritten(error, dest) from error


def _unwritten(error: OSError, path: Path) -> StoreError:
    kind = StoreFull if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else StoreError
    return kind(f"cannot write {path}: {error.strerror}; nothing is left of it")


def journal_part(lines: Iterator[bytes], spool: BinaryIO) -> CubePart:
    """Write the lines of a journal to a file; and the part that they make.

    Raises:
        TooLarge: there are more bytes of them than an import reads.
    """
    digest, size = hashlib.sha256(), 0
    for line in lines:
        spool.write(line)
        digest.update(line)
        size += len(line)
    if size > JOURNAL_LIMIT:
        problem = f"would hold a journal of {size:,} bytes, more than {JOURNAL_LIMIT:,}"
        raise TooLarge("file", problem, "Copy the store with `mnemic backup`.")
    return CubePart(PartKind.JOURNAL, digest.hexdigest(), size)


def write_cube(
    dest: Path, parts: Sequence[tuple[CubePart, BinaryIO | Path]], said: Mapping[str, Any], progress: CubeProgress
) -> int:
    """Write a cube under a name of its own, sync it, and give it its name once it is whole; how many bytes it has.

    Args:
        said: What else the manifest tells to who reads it; an import goes by none of it.

    Raises:
        Conflict: there is a file of that name by now.
        TooLarge: it would be larger than a cube may be.
        StoreError: a part was changed while it was copied.
        OSError: it cannot be written; nothing is left of it.
    """
    total = sum(part.size for part, _ in parts)
    if len(parts) > _MOST_PARTS or total > CUBE_LIMIT - 2 * _MANIFEST_LIMIT:
        problem = f"would hold {len(parts):,} parts of {total:,} bytes, more than {_MOST_PARTS:,} or {CUBE_LIMIT:,}"
        raise TooLarge("file", problem, "Leave caches out, or copy the store with `mnemic backup`.")
    named = [{"kind": part.kind.value, "sha256": part.sha256, "bytes": part.size} for part, _ in parts]
    manifest = {"cube": FORMAT, "mnemic": __version__, **said, "parts": named}
    descriptor, name = tempfile.mkstemp(prefix=f".{dest.name}.", dir=dest.absolute().parent)  # 0600
    try:
        with open(descriptor, "w+b") as file:
            _write_zip(file, json.dumps(manifest, indent=1).encode(), parts, total, progress)
            size = _seal(file)
            os.fsync(file.fileno())
        _give_name(name, dest)
    finally:
        Path(name).unlink(missing_ok=True)
    return size


def _give_name(fresh: str, dest: Path) -> None:
    """Give a whole file its name, so that a power cut leaves it; never another file's name."""
    try:
        _link(fresh, dest)
    except FileExistsError as error:
        raise _in_the_way(dest) from error
    try:
        sync_folder(dest.absolute().parent)
    except OSError:
        dest.unlink(missing_ok=True)
        raise


def _link(fresh: str, dest: Path) -> None:
    try:
        os.link(fresh, dest)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        os.close(os.open(dest, os.O_CREAT | os.O_EXCL, 0o600))  # the name is ours from here on
        try:
            os.rename(fresh, dest)
        except OSError:
            dest.unlink(missing_ok=True)
            raise


def _in_the_way(dest: Path) -> Conflict:
    return Conflict(f"{dest} is there already, and is not overwritten; name another file")


def _write_zip(
    file: BinaryIO,
    manifest: bytes,
    parts: Sequence[tuple[CubePart, BinaryIO | Path]],
    total: int,
    progress: CubeProgress,
) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=False) as zipped:
        zipped.writestr(_entry(_MANIFEST, len(manifest)), manifest)
        done = 0
        for part, source in parts:
            digest = hashlib.sha256()
            with zipped.open(_entry(part.name, part.size), "w") as into, _opened(source) as raw:
                while piece := raw.read(_PIECE):
                    into.write(piece)
                    digest.update(piece)
                    done += len(piece)
                    progress("bytes", done, total)
            if digest.hexdigest() != part.sha256:
                raise StoreError(f"part {part.sha256[:12]} changed while it was copied; nothing was written, try again")
        zipped.comment = bytes(_DIGEST_LENGTH)


def _entry(name: str, size: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)  # of 1980: the manifest says when it was written
    entry.external_attr = (stat.S_IFREG | 0o600) << 16
    entry.file_size = size
    return entry


@contextmanager
def _opened(source: BinaryIO | Path) -> Iterator[BinaryIO]:
    if isinstance(source, Path):
        with source.open("rb") as file:
            yield file
    else:
        source.seek(0)
        yield source


def _seal(file: BinaryIO) -> int:
    """Write the digest of all that stands before it into the last bytes of a zip; how many bytes it has."""
    size = file.seek(0, os.SEEK_END)
    digest = _digest(file, size - _DIGEST_LENGTH, lambda done: None)
    file.seek(-_DIGEST_LENGTH, os.SEEK_END)
    file.write(digest.encode())
    file.flush()
    return size


class CubeFile:
    """A cube that was found whole, every part of it what the manifest says. It stays open until its `with` ends."""

    def __init__(self, path: Path, progress: CubeProgress) -> None:
        """Check all of a file; write nothing.

        Raises:
            NotFound: there is no such file.
            TooLarge: it is larger than a cube may be.
            Invalid: it is no cube, or not as it was written, or not of a format that this mnemic knows.
        """
        self._file = _regular(path)
        try:
            self._zip, self.manifest, self.parts = _checked(self._file, progress)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> CubeFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()
        self._file.close()

    def part(self, sha256: str) -> CubePart | None:
        """The part of bytes with this digest; None where it is not in the cube."""
        return next((part for part in self.parts if part.sha256 == sha256 and part.kind is not PartKind.JOURNAL), None)

    def hold_to(self, named: Mapping[str, CubePart]) -> None:
        """Refuse a cube with bytes that its journal does not name so.

        Raises:
            Invalid: it has some.
        """
        for part in self.parts:
            if part.kind is not PartKind.JOURNAL and named.get(part.sha256) != part:
                raise _forged("holds bytes that its journal does not name so")

    def journal(self) -> bytes:
        """The lines of the journal."""
        (part,) = (part for part in self.parts if part.kind is PartKind.JOURNAL)
        raw = b"".join(self._pieces(part))
        if hashlib.sha256(raw).hexdigest() != part.sha256:
            raise _forged("was changed while it was read")
        return raw

    def head(self, part: CubePart, size: int) -> bytes:
        """The first bytes of a part."""
        with self._zip.open(part.name) as raw:
            return raw.read(size)

    def copy(self, sha256: str, into: Path) -> None:
        """Write the bytes of a part to a new file; whoever keeps it digests it again.

        Raises:
            Conflict: an erasure took the folder that the file was to be in.
            StoreFull, StoreError: it cannot be written.
        """
        part = self.part(sha256)
        assert part is not None
        try:
            with open(os.open(into, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.writelines(self._pieces(part))
        except FileNotFoundError as error:
            raise Conflict(TAKEN) from error
        except OSError as error:
            raise _unwritten(error, into) from error

    def _pieces(self, part: CubePart) -> Iterator[bytes]:
        try:
            with self._zip.open(part.name) as raw:
                while piece := raw.read(_PIECE):
                    yield piece
        except _UNREADABLE as error:
            raise _forged("was changed while it was read") from error


def _regular(path: Path) -> BinaryIO:
    try:
        if not path.is_file():  # a pipe would be waited for
            raise NotFound(f"there is no file {path}")
        return path.open("rb")
    except OSError as error:
        raise Invalid("file", f"{path} cannot be read ({error.strerror})", "Name a file that can be.") from error


def _forged(problem: str) -> Invalid:
    return Invalid("file", problem, "Nothing was taken from it. Export it again with `mnemic cube export`.")


def _checked(file: BinaryIO, progress: CubeProgress) -> tuple[zipfile.ZipFile, dict[str, Any], tuple[CubePart, ...]]:
    _check_seal(file, progress)
    try:
        zipped = zipfile.ZipFile(file)
        entries = zipped.infolist()
        _check_layout(zipped, entries)
        manifest = json.loads(zipped.read(entries[0]))
        parts = _named_parts(manifest)
        if [(entry.filename, entry.file_size) for entry in entries[1:]] != [(part.name, part.size) for part in parts]:
            raise _forged("holds other parts than its manifest names")
        done, total = 0, sum(part.size for part in parts)
        for part in parts:
            digest = hashlib.sha256()
            with zipped.open(part.name) as raw:
                while piece := raw.read(_PIECE):
                    digest.update(piece)
                    done += len(piece)
                    progress("parts checked", done, total)
            if digest.hexdigest() != part.sha256:
                raise _forged(f"holds a part that is not what its name says ({part.sha256[:12]})")
    except _UNREADABLE as error:
        raise _forged("is no cube: its zip or its manifest does not hold together") from error
    return zipped, manifest, parts


def _check_seal(file: BinaryIO, progress: CubeProgress) -> None:
    """Refuse what is not the bytes that were written, before anything of it is interpreted."""
    size = os.fstat(file.fileno()).st_size
    if size > CUBE_LIMIT:
        raise TooLarge("file", f"has {size:,} bytes", f"A cube has at most {CUBE_LIMIT:,}.")
    if size < _END.size + _DIGEST_LENGTH:
        raise _forged("is no cube, or was cut short")
    file.seek(-_DIGEST_LENGTH - _END.size, os.SEEK_END)
    end, seal = file.read(_END.size), file.read(_DIGEST_LENGTH)
    signature, *_, here, entries, directory, _, comment = _END.unpack(end)
    if signature != b"PK\x05\x06" or comment != _DIGEST_LENGTH or not DIGEST.fullmatch(seal.decode("latin-1")):
        raise _forged("is no cube, or was cut short")
    if _digest(file, size - _DIGEST_LENGTH, lambda done: progress("read", done, size)) != seal.decode("latin-1"):
        raise _forged("is not as it was written: bytes of it were changed")
    file.seek(max(0, size - _DIGEST_LENGTH - _END.size - 20))
    beyond = file.read(20).startswith(_BEYOND)
    if beyond or here != entries or entries > _MOST_PARTS + 1 or directory > _DIRECTORY_LIMIT:
        raise _forged("holds more entries than a cube may")


def _digest(file: BinaryIO, size: int, progress: Callable[[int], object]) -> str:
    """The SHA-256 of the first bytes of a file."""
    digest, left = hashlib.sha256(), size
    file.seek(0)
    while left and (piece := file.read(min(_PIECE, left))):
        digest.update(piece)
        left -= len(piece)
        progress(size - left)
    return digest.hexdigest()


def _check_layout(zipped: zipfile.ZipFile, entries: Sequence[zipfile.ZipInfo]) -> None:
    """Hold the entries of a zip to what `write_cube` makes: plain files, stored, each right behind the other."""
    place = 0
    for entry in entries:
        mode = entry.external_attr >> 16
        plain = (
            entry.compress_type == zipfile.ZIP_STORED and not entry.flag_bits and entry.file_size == entry.compress_size
        )
        if (
            not plain
            or stat.S_IFMT(mode) != stat.S_IFREG
            or entry.extra
            or entry.comment
            or entry.header_offset != place
        ):
            raise _forged(f"holds an entry that is no plain file in its place: {entry.filename[:80]!r}")
        place += _LOCAL_HEAD + len(entry.orig_filename) + entry.file_size
    if not entries or entries[0].filename != _MANIFEST or entries[0].file_size > _MANIFEST_LIMIT:
        raise _forged("does not begin with a manifest")
    if place != zipped.start_dir:
        raise _forged("holds bytes that belong to nothing")


def _named_parts(manifest: object) -> tuple[CubePart, ...]:
    """The parts that a manifest names: digests, so no path, and nothing twice."""
    if not isinstance(manifest, dict) or type(manifest.get("cube")) is not int:
        raise _forged("has a manifest that is none of a cube")
    if manifest["cube"] != FORMAT:
        problem = f"is a cube of format {manifest['cube']}, this mnemic knows {FORMAT}"
        raise Invalid("file", problem, "Upgrade mnemic here, or export it again with the mnemic that is used here.")
    parts = tuple(CubePart(PartKind(row["kind"]), row["sha256"], row["bytes"]) for row in manifest["parts"])
    for part in parts:
        if not DIGEST.fullmatch(part.sha256) or type(part.size) is not int or part.size < 0:
            raise _forged("names a part by what is no SHA-256, or without a size")
    journals = [part for part in parts if part.kind is PartKind.JOURNAL]
    if len({part.sha256 for part in parts}) != len(parts) or len(journals) != 1:
        raise _forged("names a part twice, or not one journal")
    if journals[0].size > JOURNAL_LIMIT:
        raise TooLarge("file", f"has a journal of {journals[0].size:,} bytes", f"At most {JOURNAL_LIMIT:,} are read.")
    return parts

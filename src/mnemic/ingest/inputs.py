"""From a path to the inputs behind it: a file, the files of a folder, or those of a zip archive."""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Final

from mnemic.errors import Invalid, MnemicError, TooLarge
from mnemic.ingest.intake import Options
from mnemic.ingest.message import Skipped
from mnemic.ingest.source import RATIO, STDIN, Progress, Source

FILES: Final = 100_000
"""Most files of one folder or archive."""
DEPTH: Final = 32
"""Most folders inside each other."""
UNPACKED: Final = 16 * 1024**3
"""Most bytes that an archive may unpack to."""

_ZIP: Final = b"PK\x03\x04"
_SMALL: Final = 1024 * 1024
_IGNORED: Final = frozenset({"node_modules", "__pycache__", "venv", "site-packages", "__MACOSX"})
_SUFFIXES: Final = """
.7z .a .avi .bin .bmp .bz2 .class .db .dll .dmg .doc .docx .dylib .epub .exe .flac .gif .ico .iso .jar .jpeg .jpg
.lock .m4a .mkv .mov .mp3 .mp4 .npy .npz .o .odp .ods .odt .ogg .otf .parquet .pkl .png .ppt .pptx .pyc .rar .so
.sqlite .sqlite3 .tar .tgz .tif .tiff .ttf .wasm .wav .webm .webp .whl .woff .woff2 .xls .xlsx .xz .zip .zst
"""
_BINARY: Final = frozenset(_SUFFIXES.split())
_EXPORTED: Final = ("conversations*.json", "memories.json", "projects.json", "users.json")
_PACKAGES: Final = frozenset({"[Content_Types].xml", "mimetype"})


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    place: str
    size: int


def sources(path: str | Path, options: Options) -> Iterator[Source | Skipped]:
    """Each input behind `path`, opened when it is asked for and closed by whoever asked, in the order of their names.

    Of a folder or archive what is hidden, ignored, excluded, binary or empty is a `Skipped`, as is what cannot be
    opened. An archive with a `conversations.json` is an export: its conversations, memories and projects are read.

    Raises:
        NotFound, Invalid: as `Source`, for a file by itself; an archive is damaged, locked or no archive of texts.
        TooLarge: over 100,000 files, 32 folders deep, or an archive that unpacks to too much.
    """
    if str(path) != STDIN and Path(path).is_dir():
        yield from _folder(Path(path), options)
    elif is_archive(path):
        yield from _archive(Path(path), options)
    else:
        yield Source(path, options.progress)


def is_archive(path: str | Path) -> bool:
    """Whether a file's first bytes are those of a zip archive."""
    try:
        if str(path) == STDIN or not Path(path).is_file():
            return False
        with Path(path).open("rb") as file:
            return file.read(len(_ZIP)) == _ZIP
    except (OSError, ValueError):
        return False


def count_hint(path: str | Path, exclude: tuple[str, ...] = ()) -> int:
    """Bytes that reading `path` will report in all; 0 where that cannot be known."""
    try:
        if str(path) == STDIN:
            return 0
        if Path(path).is_dir():
            return sum(entry.size for entry in _files(Path(path), exclude) if isinstance(entry, _File))
        return Path(path).stat().st_size
    except (OSError, ValueError, TooLarge):
        return 0


def _folder(folder: Path, options: Options) -> Iterator[Source | Skipped]:
    done = 0
    collection = folder.resolve().name or "root"
    for entry in list(_files(folder, options.exclude)):
        if isinstance(entry, Skipped):
            yield entry
            continue
        try:
            yield Source(entry.path, _from(done, options.progress), collection=collection, place=entry.place)
        except MnemicError as error:
            yield Skipped(where=entry.place, why=_reason(error, str(entry.path)))
        done += entry.size


def _reason(error: MnemicError, label: str) -> str:
    """An error's message without the file's name, so that files of one fault are counted together."""
    return str(error).removeprefix("path: ").replace(f"{label} ", "", 1)


def _from(before: int, progress: Progress | None) -> Progress | None:
    return None if progress is None else lambda reached: progress(before + reached)


def _files(folder: Path, exclude: tuple[str, ...]) -> Iterator[_File | Skipped]:
    """The files to read, and what is not read and why, folder by folder in the order of names."""
    count = 0
    for here, folders, names in os.walk(folder):
        above = Path(here).relative_to(folder)
        if len(above.parts) > DEPTH:
            raise TooLarge("path", f"{here} lies over {DEPTH} folders deep", "Import its parts by themselves.")
        folders.sort()
        for name in list(folders):
            if why := _unwanted((above / name).as_posix(), exclude) or _linked(Path(here, name)):
                folders.remove(name)
                yield Skipped(where=f"{(above / name).as_posix()}/", why=why)
        for name in sorted(names):
            count += 1
            if count > FILES:
                raise TooLarge("path", f"{folder} holds over {FILES:,} files", "Import its parts by themselves.")
            yield _file(Path(here, name), (above / name).as_posix(), exclude)


def _file(path: Path, place: str, exclude: tuple[str, ...]) -> _File | Skipped:
    if why := _unwanted(place, exclude) or _linked(path) or _binary(place):
        return Skipped(where=place, why=why)
    try:
        status = path.stat()
    except OSError as error:
        return Skipped(where=place, why=f"cannot be read: {error.strerror}")
    if not stat.S_ISREG(status.st_mode):
        return Skipped(where=place, why="is no ordinary file")
    return _File(path, place, status.st_size)


def _unwanted(place: str, exclude: tuple[str, ...]) -> str:
    """Why a name is not looked into, if it is not."""
    name = PurePosixPath(place).name
    if name.startswith("."):
        return "is hidden"
    if name in _IGNORED:
        return "is ignored: made by a tool"
    if any(fnmatch(name, pattern) or fnmatch(place, pattern) for pattern in exclude):
        return "is excluded"
    return ""


def _linked(path: Path) -> str:
    return "is a symbolic link" if path.is_symlink() else ""


def _binary(place: str) -> str:
    suffix = PurePosixPath(place).suffix.lower()
    return f"is not read: {suffix}" if suffix in _BINARY else ""


def _archive(path: Path, options: Options) -> Iterator[Source | Skipped]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = sorted((m for m in archive.infolist() if not m.is_dir()), key=lambda m: m.filename)
            _refuse_bomb(path, members)
            export = _is_export(members)
            for member in members:
                yield _member(path, archive, member, options, export=export)
    except (zipfile.BadZipFile, NotImplementedError, OSError) as error:
        raise Invalid("path", f"{path} is a damaged zip archive ({error})", "Fetch it again.") from error


def _refuse_bomb(path: Path, members: list[zipfile.ZipInfo]) -> None:
    if _PACKAGES & {member.filename for member in members}:
        raise Invalid("path", f"{path} is an office document or book", "Save it as PDF, HTML or text first.")
    if len(members) > FILES:
        raise TooLarge("path", f"{path} holds over {FILES:,} files", "Unpack it, and import its parts.")
    if sum(member.file_size for member in members) > UNPACKED:
        raise TooLarge("path", f"{path} unpacks to over {UNPACKED:,} bytes", "Unpack it, and import its parts.")


def _is_export(members: list[zipfile.ZipInfo]) -> bool:
    return any(fnmatch(PurePosixPath(member.filename).name, _EXPORTED[0]) for member in members)


def _member(
    path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo, options: Options, *, export: bool
) -> Source | Skipped:
    name = member.filename
    if why := _unreadable(member, options.exclude, export=export):
        return Skipped(where=name, why=why)
    file = archive.fp
    position = file.tell if file is not None else None
    try:
        return Source(
            f"{path}/{name}",
            options.progress,
            collection="" if export else path.stem,
            place="" if export else name,
            member=archive.open(member),
            position=position,
        )
    except MnemicError as error:
        if export:
            raise
        return Skipped(where=name, why=_reason(error, f"{path}/{name}"))


def _unreadable(member: zipfile.ZipInfo, exclude: tuple[str, ...], *, export: bool) -> str:
    """Why a member of an archive is not read, if it is not."""
    place = PurePosixPath(member.filename)
    if export and not any(fnmatch(place.name, pattern) for pattern in _EXPORTED):
        return "is not read: no part of an export's conversations, memories or projects"
    if len(place.parts) > DEPTH + 1:
        return f"lies over {DEPTH} folders deep"
    if member.flag_bits & 1:
        return "is encrypted"
    if member.file_size > max(_SMALL, RATIO * member.compress_size):
        return f"unpacks to over {RATIO} times its size"
    ways = [str(PurePosixPath(*place.parts[: n + 1])) for n in range(len(place.parts))]
    return next(filter(None, (_unwanted(way, exclude) for way in ways)), "") or _binary(member.filename)

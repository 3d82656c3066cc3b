"""The files of artefacts beside a store: one folder for each wall, each file named by the SHA-256 of its bytes.

A file comes to its name in this order, so that a power cut at any moment leaves none that is cut short: written under a
name of its own, synced, renamed, its folder synced; only then may an item name it. What no item names goes.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, NoReturn, TypeGuard

from mnemic.errors import Conflict, NotFound, StoreCorrupt, StoreError, StoreFull, StoreReadOnly

ENDING: Final = ".artefacts"
"""What the folder's name has behind the store's."""
GRACE_SECONDS: Final = 3_600.0
"""How long a file that no item names yet is left alone: somebody may be about to commit the item."""
_UNFINISHED: Final = ".unfinished"
DIGEST: Final = re.compile("[0-9a-f]{64}")
_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_NO_LEAVE: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})
"""What a file system says that gives no file a second name, such as a stick's."""
_PIECE: Final = 1 << 20


class Wall(NamedTuple):
    """Whose files: a tenant and a user in it, by the store's own numbers for the tenant and for the user's space."""

    tenant: int
    space: int


@dataclass(frozen=True, slots=True)
class StoredBytes:
    """A file that has come to its name."""

    sha256: str
    size: int


class ArtefactFolder:
    """The artefacts of one store. Nothing is kept in memory: any process may use the same folder at the same time.

    Args:
        root: The folder; made with mode 0700 by the first file.
        probe: Called with the name of each point that a save or a removal passes (fault injection).
    """

    def __init__(self, root: Path, probe: Callable[[str], None] | None = None) -> None:
        self.root = root
        self._probe = probe or _unobserved

    @classmethod
    def beside(cls, store: Path, probe: Callable[[str], None] | None = None) -> ArtefactFolder:
        """The folder beside a store's file."""
        return cls(store.with_name(store.name + ENDING), probe)

    def path(self, wall: Wall, sha256: str) -> Path:
        """Where a file of this digest is, or would be.

        Raises:
            StoreCorrupt: that is no digest; a store that somebody has changed names no file elsewhere.
        """
        if not DIGEST.fullmatch(sha256):
            raise StoreCorrupt(f"{sha256[:80]!r} is no SHA-256 of an artefact; run `mnemic verify`")
        return self._home(wall) / sha256

    def unfinished(self, wall: Wall) -> Path:
        """A name for a file that is to be written, inside the wall, so that an erasure reaches it there too."""
        home = self._home(wall)
        try:
            for folder in (self.root, home.parent, home):  # one by one: parents that are made along are open to others
                folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            _raise(error, home)
        return home / f"{uuid.uuid4().hex}{_UNFINISHED}"

    def keep(self, wall: Wall, made: bytes | Path) -> StoredBytes:
        """Bring bytes to their name: those given, those of a file elsewhere, or a file that `unfinished` named.

        Raises:
            Conflict: an erasure took it before it had its name; nothing is left of it.
            StoreFull: there is no room; likewise.
            StoreReadOnly, StoreError: the folder cannot be written to.
        """
        fresh = made if _is_unfinished(made, self._home(wall)) else self.unfinished(wall)
        try:
            if fresh is not made:
                _write(fresh, made)
            self._probe("artefact:written")
            stored = _synced(fresh)
            self._probe("artefact:synced")
            os.rename(fresh, fresh.with_name(stored.sha256))
            self._probe("artefact:named")
            for folder in (fresh.parent, fresh.parent.parent, self.root, self.root.parent):  # a name is its folder's
                sync_folder(folder)
            self._probe("artefact:kept")
        except OSError as error:
            _raise(error, fresh)
        finally:
            with suppress(OSError):  # what is unfinished is swept, and an erasure takes it
                fresh.unlink(missing_ok=True)
        return stored

    @contextmanager
    def kept_twice(self, wall: Wall, made: bytes | Path) -> Iterator[bytes | Path]:
        """Have bytes at hand once more after `keep` took them: a second name for a file that `unfinished` named.

        Where files have one name only it is a copy. An erasure takes it too.

        Raises:
            Conflict: an erasure took the file.
            StoreFull, StoreReadOnly, StoreError: as `keep`.
        """
        if not _is_unfinished(made, self._home(wall)):
            yield made
            return
        second = self.unfinished(wall)
        try:
            _link(made, second)
            yield second
        except OSError as error:
            _raise(error, second)
        finally:
            with suppress(OSError):  # what is unfinished is swept, and an erasure takes it
                second.unlink(missing_ok=True)

    def stat(self, wall: Wall, sha256: str) -> os.stat_result | None:
        """What the disk says of a file of this digest, its bytes unchecked; None where it is gone.

        Raises:
            StoreError: it cannot be looked at.
        """
        with _reached(self._home(wall)):
            return _stat(self.path(wall, sha256))

    def verified(self, wall: Wall, stored: StoredBytes) -> Path:
        """The path of a file whose bytes are the ones that were kept: size first, then the digest of all of them.

        Raises:
            NotFound: there is no such file any more.
            StoreCorrupt: its bytes are others; it was not handed on.
        """
        path = self.path(wall, stored.sha256)
        try:
            size = path.stat().st_size
            sound = size == stored.size and _digest(path) == stored.sha256
        except FileNotFoundError as error:
            raise NotFound(f"the bytes of artefact {stored.sha256[:12]} are gone; have them made again") from error
        except OSError as error:
            raise StoreError(f"cannot read artefact {path}: {error.strerror}") from error
        if not sound:
            raise StoreCorrupt(f"artefact {path} is not what was kept; it was not used, have it made again")
        return path

    def used(self, wall: Wall, sha256: str) -> None:
        """Note that a file has just been of use: its time says so, and nothing else."""
        with suppress(OSError):
            os.utime(self.path(wall, sha256))

    def drop(self, wall: Wall, sha256: str) -> int:
        """Unlink a file; its size, or 0 where it was gone.

        Raises:
            StoreReadOnly, StoreError: it cannot be unlinked.
        """
        with _reached(self._home(wall)):
            size = self._unlink(self.path(wall, sha256))
            if size:
                sync_folder(self._home(wall))
        return size

    def kept(self, wall: Wall) -> dict[str, os.stat_result]:
        """The files of a wall that have come to their names, by digest.

        Raises:
            StoreError: the folder cannot be read.
        """
        with _reached(self._home(wall)):
            files = ((path.name, _stat(path)) for path in self._files(self._home(wall)) if DIGEST.fullmatch(path.name))
            return {name: stat for name, stat in files if stat is not None}

    def size(self) -> int:
        """How many bytes lie behind all walls.

        Raises:
            StoreError: a folder cannot be read.
        """
        return sum(stat.st_size for wall in self.walls() for stat in self.kept(wall).values())

    def walls(self, tenant: int | None = None) -> list[Wall]:
        """Every wall that has a folder here, or those of one tenant.

        Raises:
            StoreError: a folder cannot be read.
        """
        with _reached(self.root):
            return self._walls(tenant)

    def _walls(self, tenant: int | None) -> list[Wall]:
        tenants = [str(tenant)] if tenant is not None else sorted(_numbers(self.root))
        return [Wall(int(home), int(space)) for home in tenants for space in sorted(_numbers(self.root / home))]

    def leave(self, wall: Wall, named: Collection[str], *, grace: float = 0.0) -> list[str]:
        """Unlink every file of a wall that is not named, unfinished ones too, unless it is younger than `grace`.

        Returns:
            The names of files that could not be unlinked, each with the reason.
        """
        home, left, went = self._home(wall), [], 0
        youngest = time.time() - grace
        for path in self._files(home):
            stat = _stat(path)
            if path.name in named or stat is None or (grace and stat.st_ctime > youngest):
                continue
            try:
                went += self._unlink(path) + 1
            except OSError as error:
                left.append(f"{path}: {error.strerror}")
        if went:
            with suppress(FileNotFoundError):
                sync_folder(home)  # else a power cut would bring the names back
        if not left and not named:
            for folder in (home, home.parent, self.root):
                with suppress(OSError):  # something is in it, or comes into it just now
                    folder.rmdir()
        return left

    def copy_to(self, other: ArtefactFolder, named: Mapping[Wall, Collection[str]]) -> None:
        """Copy files to another folder, synced; one that has gone meanwhile is left out, and `verify` there says so.

        Raises:
            StoreFull, StoreReadOnly, StoreError: one cannot be read, or not be kept there.
        """
        for wall, digests in named.items():
            for sha256 in digests:
                if self.stat(wall, sha256) is not None:
                    other.keep(wall, self.path(wall, sha256))

    def drop_all(self) -> None:
        """Unlink the whole folder, as with a copy of a store that is let go.

        Raises:
            StoreReadOnly, StoreError: something in it cannot be unlinked.
        """
        with _reached(self.root), suppress(FileNotFoundError):
            shutil.rmtree(self.root)

    def _unlink(self, path: Path) -> int:
        stat = _stat(path)
        if stat is None:
            return 0
        path.unlink(missing_ok=True)
        self._probe("artefact:unlinked")
        return stat.st_size

    def _home(self, wall: Wall) -> Path:
        return self.root / str(wall.tenant) / str(wall.space)

    def _files(self, home: Path) -> Iterator[Path]:
        with suppress(FileNotFoundError, NotADirectoryError):
            yield from sorted(home.iterdir())


TAKEN: Final = (
    "something of this memory was erased while the bytes of an artefact were written, and they were taken along; "
    "nothing of them was kept, do the same again"
)
"""What is said where an erasure reached a file before its item was committed."""


def _unobserved(point: str) -> None:
    """Observe nothing."""


def _numbers(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in folder.iterdir() if entry.name.isdecimal() and entry.name.isascii()]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except FileNotFoundError:
        return None


def _is_unfinished(made: bytes | Path, home: Path) -> TypeGuard[Path]:
    return isinstance(made, Path) and made.parent == home and made.name.endswith(_UNFINISHED)


def _link(path: Path, second: Path) -> None:
    try:
        os.link(path, second)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        _write(second, path)


def _write(fresh: Path, made: bytes | Path) -> None:
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "wb") as file:
        if isinstance(made, bytes):
            file.write(made)
            return
        with made.open("rb") as source:
            shutil.copyfileobj(source, file, _PIECE)


def _synced(path: Path) -> StoredBytes:
    """Sync a file and digest it: what is read is what the disk was given."""
    with path.open("rb") as file:
        os.fchmod(file.fileno(), 0o600)
        os.fsync(file.fileno())
        return StoredBytes(hashlib.file_digest(file, "sha256").hexdigest(), os.fstat(file.fileno()).st_size)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sync_folder(folder: Path) -> None:
    """Have the names in a folder outlast a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _reached(folder: Path) -> Iterator[None]:
    """Have what the disk refuses end in one of our errors."""
    try:
        yield
    except OSError as error:
        refused = StoreReadOnly if error.errno in _NO_LEAVE else StoreError
        raise refused(f"{folder} cannot be reached: {error.strerror}; see to its folder's owner and mode") from error


def _raise(error: OSError, path: Path) -> NoReturn:
    if isinstance(error, FileNotFoundError) and str(error.filename).startswith(str(path.parent)):
        raise Conflict(TAKEN) from error
    if error.errno in _NO_ROOM:
        raise StoreFull(f"no room for an artefact in {path.parent}; make room, nothing was kept") from error
    if error.errno in _NO_LEAVE:
        raise StoreReadOnly(f"{path.parent} cannot be written to: {error.strerror}; nothing was kept") from error
    raise StoreError(f"cannot keep an artefact in {path.parent}: {error.strerror}; nothing was kept") from error

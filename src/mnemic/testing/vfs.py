"""Three file systems under SQLite: one that keeps a record, one that fails on order, one with slow syncs.

Each wraps the platform's own and is used by name: `apsw.Connection(path, vfs=...)`. The shared memory
of WAL mode stays with the platform's: it is not durable state.
"""

from __future__ import annotations

import itertools
import os
import time
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

import apsw

from mnemic.testing.faulty_disk import Deleted, DiskWrite, Marked, OpenFile, Step, Synced, Truncated

_SYNCS_FOLDER: Final = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_SUPER_JOURNAL
_numbers = itertools.count(1)


class _Registered(apsw.VFS):
    """A VFS under a name of its own; a context manager that takes the name away again."""

    def __init__(self, prefix: str) -> None:
        self.name = f"{prefix}-{os.getpid()}-{next(_numbers)}"
        super().__init__(self.name, "")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.unregister()


class RecordingVFS(_Registered):
    """Does everything, and keeps a record of what changes the disk, in order."""

    def __init__(self) -> None:
        super().__init__("record")
        self.steps: list[Step] = []
        self._nodes: dict[str, int] = {}
        self._last = 0

    def mark(self, text: str) -> None:
        """Note a moment, such as an acknowledgement."""
        self.steps.append(Marked(text))

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        path = _path(name)
        if path is None:
            return apsw.VFSFile("", name, flags)
        node = self._node(path)
        return _RecordedFile(self.steps, node, name, flags)

    def xDelete(self, name: str, syncdir: bool) -> None:
        super().xDelete(name, syncdir)
        self._nodes.pop(name, None)
        self.steps.append(Deleted(name, syncdir))

    def _node(self, path: str) -> int:
        if path not in self._nodes:
            content = _content(path)
            self._last += 1
            self._nodes[path] = self._last
            self.steps.append(OpenFile(self._last, path, content, new=not content))
        return self._nodes[path]


class _RecordedFile(apsw.VFSFile):
    def __init__(self, steps: list[Step], node: int, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__("", name, flags)
        self._steps = steps
        self._node = node
        self._folder = bool(flags[0] & apsw.SQLITE_OPEN_CREATE and flags[0] & _SYNCS_FOLDER)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._steps.append(DiskWrite(self._node, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:
        self._steps.append(Truncated(self._node, newsize))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:
        # the platform syncs the folder of a journal at its first sync; nobody syncs that of a database
        self._steps.append(Synced(self._node, self._folder))
        self._folder = False
        super().xSync(flags)


class Call(StrEnum):
    """A call that can be made to fail."""

    OPEN = "xOpen"
    READ = "xRead"
    WRITE = "xWrite"
    SYNC = "xSync"
    TRUNCATE = "xTruncate"
    DELETE = "xDelete"


_IOERR: Final = {
    Call.OPEN: apsw.SQLITE_CANTOPEN,
    Call.READ: apsw.SQLITE_IOERR_READ,
    Call.WRITE: apsw.SQLITE_IOERR_WRITE,
    Call.SYNC: apsw.SQLITE_IOERR_FSYNC,
    Call.TRUNCATE: apsw.SQLITE_IOERR_TRUNCATE,
    Call.DELETE: apsw.SQLITE_IOERR_DELETE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Which call fails, and how.

    Attributes:
        nth: Counted from 1 since the VFS was made.
        full: "No space left", in place of an I/O error. A write that fails lands in half, either way.
        lasting: Every call of this kind from the n-th on, until `clear()`.
    """

    call: Call
    nth: int
    full: bool = False
    lasting: bool = False


class _Failed(apsw.IOError):
    extendedresult: int


class _CantOpen(apsw.CantOpenError):
    extendedresult: int


class FailingVFS(_Registered):
    """Counts calls, and makes the n-th of a kind fail.

    Attributes:
        calls: How many of each kind there were.
        hurt: How many were made to fail.
    """

    def __init__(self, trouble: Trouble | None = None) -> None:
        super().__init__("fail")
        self.trouble = trouble
        self.calls = dict.fromkeys(Call, 0)
        self.hurt = 0

    def clear(self) -> None:
        """From now on nothing fails."""
        self.trouble = None

    def fails(self, call: Call) -> bool:
        """Count a call; whether it is to fail."""
        self.calls[call] += 1
        trouble = self.trouble
        if trouble is None or trouble.call is not call:
            return False
        count = self.calls[call]
        if count != trouble.nth and not (trouble.lasting and count > trouble.nth):
            return False
        self.hurt += 1
        return True

    def error(self, call: Call) -> apsw.Error:
        """What SQLite is told."""
        if self.trouble is not None and self.trouble.full:
            return apsw.FullError("no space left, says the fault harness")
        failed = (_CantOpen if call is Call.OPEN else _Failed)(f"{call} failed, says the fault harness")
        failed.extendedresult = _IOERR[call]
        return failed

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        if self.fails(Call.OPEN):
            raise self.error(Call.OPEN)
        return _FailingFile(self, name, flags)

    def xDelete(self, name: str, syncdir: bool) -> None:
        if self.fails(Call.DELETE):
            raise self.error(Call.DELETE)
        super().xDelete(name, syncdir)

    def excepthook(self, *_: object) -> bool:
        return True


class _FailingFile(apsw.VFSFile):
    def __init__(self, vfs: FailingVFS, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__("", name, flags)
        self._vfs = vfs

    def xRead(self, amount: int, offset: int) -> bytes:
        self._maybe_fail(Call.READ)
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:
        if self._vfs.fails(Call.WRITE):
            super().xWrite(data[: len(data) // 2], offset)
            raise self._vfs.error(Call.WRITE)
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self._maybe_fail(Call.SYNC)
        super().xSync(flags)

    def xTruncate(self, newsize: int) -> None:
        self._maybe_fail(Call.TRUNCATE)
        super().xTruncate(newsize)

    def _maybe_fail(self, call: Call) -> None:
        if self._vfs.fails(call):
            raise self._vfs.error(call)

    def excepthook(self, *_: object) -> bool:
        return True


class SlowVFS(_Registered):
    """A disk whose sync takes a given time and does nothing else; all other calls are the platform's.

    Attributes:
        seconds: What one sync takes.
        syncs: How many there were.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__("slow")
        self.seconds = seconds
        self.syncs = 0

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        return _SlowFile(self, name, flags)


class _SlowFile(apsw.VFSFile):
    def __init__(self, vfs: SlowVFS, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__("", name, flags)
        self._vfs = vfs

    def xSync(self, flags: int) -> None:
        self._vfs.syncs += 1
        time.sleep(self._vfs.seconds)


def _path(name: str | apsw.URIFilename | None) -> str | None:
    return name.filename() if isinstance(name, apsw.URIFilename) else name


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""

"""Processes to torture: forked children that talk through a pipe, and a pool of workers that may fork."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from mnemic.testing.torture.subject import Say

Job = TypeVar("Job")
Answer = TypeVar("Answer")

_SHARED_MEMORY = Path("/dev/shm")


@dataclass(frozen=True, slots=True)
class Child:
    """A running child.

    Attributes:
        pid: Its process id.
        pipe: The end we read its lines from.
    """

    pid: int
    pipe: int

    def kill(self) -> None:
        """End it as a power switch would."""
        os.kill(self.pid, signal.SIGKILL)

    def lines(self) -> list[str]:
        """All whole lines it ever said; waits until it is gone."""
        with os.fdopen(self.pipe, "rb") as pipe:
            heard = pipe.read()
        return heard[: heard.rfind(b"\n") + 1].decode().splitlines()

    def status(self) -> int:
        """Its exit code, negative for a signal; waits until it is gone."""
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def fork(work: Callable[[Say], None]) -> Child:
    """Run `work` in a child. The caller must have no thread at work and no open store."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid:
        os.close(write_end)
        return Child(pid, read_end)
    os.close(read_end)
    code = 1
    try:
        work(lambda line: _write(write_end, line))
        code = 0
    finally:
        # a child must never return into its parent's stack
        if code:
            traceback.print_exc()
            sys.stderr.flush()
        os._exit(code)


def asked(work: Callable[[Say], None]) -> list[str]:
    """What `work` says when it runs in a child of its own, so that the caller stays free to fork.

    Raises:
        ChildProcessError: the child failed; its traceback is on standard error.
    """
    child = fork(work)
    lines = child.lines()
    status = child.status()
    if status:
        raise ChildProcessError(f"a child ended with {status}")
    return lines


def _write(pipe: int, line: str) -> None:
    rest = memoryview(line.encode() + b"\n")
    while rest:
        rest = rest[os.write(pipe, rest) :]


def each(work: Callable[[Job], Answer], jobs: Iterable[Job], workers: int) -> Iterator[Answer]:
    """`work` of every job, in order; workers are fresh processes of one thread, so that they may fork.

    Args:
        workers: 0 does it all in this process, for small jobs that do not fork.
    """
    if workers == 0:
        yield from map(work, jobs)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=workers, mp_context=context, initializer=_modest) as pool:
        yield from pool.map(work, jobs)


def _modest() -> None:
    os.nice(10)


@contextmanager
def folder() -> Iterator[Path]:
    """A folder that goes away again; in memory where there is such a place, since no test here needs a real disk."""
    where = _SHARED_MEMORY if os.access(_SHARED_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="mnemic-torture-", dir=where, ignore_cleanup_errors=True) as made:
        yield Path(made)

"""Work that no interrupt cuts short: a thread that gets no signals does it, while the main thread waits for that.

Ctrl-C amid the first import of a package written in C (numpy, a stemmer) leaves it half loaded, and Python does not
load it a second time: the process could ask nothing more. Signals are raised in the main thread alone, so another one
brings the work to its end, whatever becomes of the call that waits for it.
"""

from __future__ import annotations

import _thread
import importlib
import threading
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

_whole: Final[set[str]] = set()
"""The modules that are known to be imported to their end."""


def import_whole(*modules: str) -> None:
    """Import modules to their end, so that an `import` after it finds them there; later calls cost a look.

    Not for a module that imports one which the caller's own thread is importing.

    Raises:
        ImportError: as an `import` would.
    """
    for module in modules:
        if module not in _whole:
            run_uninterrupted(lambda: importlib.import_module(module))  # noqa: B023 - it has run when the loop goes on
            _whole.add(module)


def is_interrupt(error: BaseException) -> bool:
    """Whether an error is an interrupt, or came of one: in a class statement Python raises another in its place."""
    link: BaseException | None = error
    while link is not None and not isinstance(link, KeyboardInterrupt):
        link = link.__cause__ or link.__context__
    return link is not None


def run_uninterrupted(work: Callable[[], T]) -> T:
    """Return what `work` returns; an interrupt reaches who waits for it, and never `work` itself."""
    if threading.get_ident() != threading.main_thread().ident:
        return work()
    done, returned, raised = threading.Lock(), list[T](), list[BaseException]()
    done.acquire()

    def attempt() -> None:
        try:
            returned.append(work())
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is raised where the work is wanted
            raised.append(error)
        finally:
            done.release()

    try:
        _thread.start_new_thread(attempt, ())  # not a `Thread`, whose start and end are steps of Python that can be cut
    except RuntimeError:  # there is no thread left to be had
        return work()
    done.acquire()
    for error in raised:
        raise error
    return returned[0]

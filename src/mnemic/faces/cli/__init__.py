"""The command line `mnemic`, which the console script calls: an interrupt ends it in one line, wherever it falls."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what `signal` is made of, without the time that takes
import _thread
import sys

TYPE_CHECKING = False  # that of `typing` costs more than all else that is done before an interrupt is caught
if TYPE_CHECKING:
    from typing import Any

    from mnemic.faces.cli.app import cli as cli

_INTERRUPTED = 130
_AS_JSON = '{"error": {"type": "Interrupted", "message": "interrupted", "field": null, "remedy": null, "exit": 130}}'
"""The line that `app` would have made."""


def main() -> None:
    """Run the command line, and leave with its exit code; the console script calls this."""
    try:
        sys.unraisablehook = _interrupt_again
        try:
            from mnemic.faces.cli.app import cli

            cli.main()
        finally:
            _ignore_interrupts()  # what is left to do is Python's own way out
    except (KeyboardInterrupt, Exception) as error:  # before the command line could report it, or as it did
        _ignore_interrupts()
        from mnemic.core.uninterrupted import is_interrupt

        if not is_interrupt(error):
            raise
        sys.stderr.write((_AS_JSON if "--json" in sys.argv else "error: interrupted") + "\n")
        sys.exit(_INTERRUPTED)


def _ignore_interrupts() -> None:
    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)


def _interrupt_again(unraisable: sys.UnraisableHookArgs) -> None:
    """Have an interrupt that fell into a callback, where Python only prints it, be raised once more outside of it."""
    if unraisable.exc_type is KeyboardInterrupt:
        _thread.start_new_thread(_interrupt_soon, ())
    else:
        sys.__unraisablehook__(unraisable)


def _interrupt_soon() -> None:
    import time

    time.sleep(0.002)
    _thread.interrupt_main()


def __getattr__(name: str) -> Any:
    """The command line is imported when it is first used: until then no interrupt of that is caught."""
    if name != "cli":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from mnemic.faces.cli.app import cli

    return cli

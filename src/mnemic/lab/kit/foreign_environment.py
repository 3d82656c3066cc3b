"""Makes an environment for packages of others, once, and says by one error why one cannot be made or used.

Each is a virtual environment below the folder that keeps what can be made again, named after what is in it: other
requirements make another one. None of these packages is a dependency of mnemic.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sysconfig
import venv
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mnemic.errors import MnemicError

_INSTALLING: Final = 900
"""Seconds by the clock after which it is given up."""


class PeerFailed(MnemicError):
    """A package of others could not be installed, or did not run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignEnvironment:
    """Packages that lie together in an environment of their own.

    Attributes:
        name: What its folder is called by.
        requirements: With their versions.
        alone: Whether nothing but these is installed, whatever they declare that they need.
        beside: Whether what this interpreter has is seen from there: torch is large, and not installed twice.
    """

    name: str
    requirements: tuple[str, ...]
    alone: bool = False
    beside: bool = False

    def python(self, folder: Path) -> Path:
        """Its interpreter, whether it has been made or not."""
        return self._home(folder) / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    def is_made(self, folder: Path) -> bool:
        """Whether it has been made to its end."""
        return self._made(folder).exists()

    def why_not(self, folder: Path) -> str:
        """Why it could not be made the last time; "" where nobody has tried."""
        failed = self._failed(folder)
        return failed.read_text("utf-8") if failed.exists() else ""

    def make(self, folder: Path, tell: Callable[[str], None] = lambda said: None) -> Path:
        """Make it if it is not there; its interpreter.

        Args:
            tell: Is told what begins that takes a while.

        Raises:
            PeerFailed: it cannot be made; what was begun is made anew the next time.
        """
        python = self.python(folder)
        if self.is_made(folder):
            return python
        try:
            tell(f"{self.name}: making its environment")
            venv.create(self._home(folder), clear=True, with_pip=True)
            if self.beside:
                inside = output([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], _INSTALLING)
                seen = dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))
                (Path(inside.strip()) / "beside.pth").write_text("\n".join(seen) + "\n", "utf-8")
            tell(f"{self.name}: installing {len(self.requirements)} packages")
            install = [python, "-m", "pip", "install", "--quiet", *(("--no-deps",) if self.alone else ())]
            output([*install, *self.requirements], _INSTALLING)
            self._made(folder).touch()
        except (OSError, subprocess.SubprocessError) as error:
            why = f"its environment cannot be made: {reason(error)}"
            with suppress(OSError):  # a folder that cannot be written is why it cannot be made
                folder.mkdir(parents=True, exist_ok=True)
                self._failed(folder).write_text(why, "utf-8")
            raise PeerFailed(why) from error
        self._failed(folder).unlink(missing_ok=True)
        return python

    def _home(self, folder: Path) -> Path:
        return folder / f"{self.name}-{hashlib.sha256(' '.join(self.requirements).encode()).hexdigest()[:8]}"

    def _made(self, folder: Path) -> Path:
        return self._home(folder) / "made"

    def _failed(self, folder: Path) -> Path:
        home = self._home(folder)
        return home.with_name(f"{home.name}.failed")


def output(command: Sequence[str | Path], seconds: float, given: str = "", folder: str | None = None) -> str:
    """What a program prints.

    Raises:
        OSError: it cannot be started.
        subprocess.SubprocessError: it failed, or took longer.
    """
    done = subprocess.run(  # noqa: S603 - packages that the caller asked for by name
        command, input=given, capture_output=True, text=True, check=True, timeout=seconds, cwd=folder
    )
    return done.stdout


def reason(error: Exception) -> str:
    """The last line of what a program said, or what the error says."""
    said = error.stderr if isinstance(error, subprocess.CalledProcessError) else ""
    lines = [line.strip() for line in (said or str(error)).splitlines() if line.strip()]
    return lines[-1][:200] if lines else type(error).__name__

"""What installing remembers so that uninstalling leaves each file as it was: one small file in the home folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mnemic.errors import Invalid
from mnemic.faces.installing import config_files


@dataclass(frozen=True, slots=True)
class Trace:
    """How a file looked where we have put something in.

    Attributes:
        created: The file is ours.
        folders: Those that were made for it, the innermost first.
        made: See `edits.Document.made`; for TOML, by `[name]`, what was put before that table.
    """

    created: bool = False
    folders: tuple[str, ...] = ()
    made: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Record:
    """The traces in all files, as they lie on the disk.

    A record that is lost or damaged costs little: an empty list or object that we made is left where it is.
    """

    path: Path
    traces: Mapping[str, Trace] = field(default_factory=dict)

    def trace(self, file: Path) -> Trace:
        return self.traces.get(str(file), Trace())

    def keeping(self, changed: Mapping[Path, Trace | None]) -> Record:
        """Return the record with these traces in it, and without those that are None."""
        kept = {**self.traces, **{str(file): trace for file, trace in changed.items() if trace is not None}}
        gone = {str(file) for file, trace in changed.items() if trace is None}
        return Record(self.path, {file: trace for file, trace in kept.items() if file not in gone})

    def save(self) -> None:
        """Write it, or take it away if nothing is left in it.

        Raises:
            Refused: it cannot be written.
        """
        before = config_files.read(self.path)
        if self.traces:
            text = json.dumps({file: _as_record(trace) for file, trace in sorted(self.traces.items())}, indent=1) + "\n"
            if text != before.text:
                config_files.write(before, text, mode=0o600)
        elif before.raw is not None:
            config_files.remove(before)


def load(path: Path) -> Record:
    """Load the record at a path; an empty one where there is none that can be read.

    Raises:
        Refused: it is there and its bytes cannot be had.
    """
    try:
        said = json.loads(config_files.read(path).text or "{}")
        return Record(path, {str(file): _trace(trace) for file, trace in said.items()})
    except (Invalid, ValueError, TypeError, AttributeError, KeyError):
        return Record(path)


def _as_record(trace: Trace) -> dict[str, Any]:
    return {"created": trace.created, "folders": list(trace.folders), "made": dict(trace.made)}


def _trace(entry: Mapping[str, Any]) -> Trace:
    made = {str(path): None if was is None else str(was) for path, was in entry["made"].items()}
    return Trace(bool(entry["created"]), tuple(map(str, entry["folders"])), made)

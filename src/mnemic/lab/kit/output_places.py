"""Where a run may write: looked at before anything is measured, so that hours of work do not end at a folder."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from mnemic.errors import Invalid

_REMEDY: Final = "Make the folder first, or name another place."


def is_log(out: Path) -> bool:
    """Whether a place that may be either is meant as a log itself, not as the folder of one."""
    return out.suffix == ".jsonl"


def log_at(out: Path, name: str) -> Path:
    """Name the log's file: the place itself if it is one, else a new file in it, named after what runs and when."""
    return out if is_log(out) else out / f"{name}-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}.jsonl"


def moved_aside(log: Path, why: str) -> None:
    """Make room for a log that begins anew: what stands there is kept beside it, and that is said."""
    aside = log.with_name(f"{log.stem}-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}-cut{log.suffix}")
    log.rename(aside)
    print(f"{log.name} {why}: it begins anew, and what it held is {aside.name} now", file=sys.stderr)


def refuse_log(out: Path, *, going_on: bool = False, field: str = "out") -> Path:
    """Refuse a log that could not be begun, or gone on with; return the folder that it lies in, which may be made.

    Args:
        out: The log (`.jsonl`), or the folder of a log.

    Raises:
        Invalid: it is there already, its folder lies in none, or nothing can be written there.
    """
    if is_log(out):
        return refuse_file(out, going_on=going_on, field=field)
    _refuse_new_folder(out, field)
    return out


def refuse_file(out: Path, *, going_on: bool = False, field: str = "out") -> Path:
    """Refuse a log, whatever it is called, as `refuse_log` does; return the folder that it lies in.

    Raises:
        Invalid: it is there already, or is a folder, its folder lies in none, or nothing can be written there.
    """
    if out.is_dir():
        raise Invalid(field, f"{out} is a folder", "Name a file in it.")
    if out.exists() and not going_on:
        raise Invalid(field, f"{out.name} exists", "A log is never overwritten; name another file.")
    _refuse_new_folder(out.parent, field)
    return out.parent


def refuse_page(page: Path | None, made: Path | None = None, *, field: str = "html") -> None:
    """Refuse a page that could not be written once its figures are there.

    Args:
        page: None for no page.
        made: A folder that the run makes itself.

    Raises:
        Invalid: its folder is not there, it is a folder itself, or nothing can be written there.
    """
    if page is None:
        return
    if page.is_dir():
        raise Invalid(field, f"{page} is a folder", "Name a file in it.")
    if made is None or page.parent.absolute() != made.absolute():
        _refuse_folder(page.parent, field)


def _refuse_new_folder(folder: Path, field: str) -> None:
    _refuse_folder(folder if folder.exists() else folder.parent, field)


def _refuse_folder(folder: Path, field: str) -> None:
    if not folder.exists():
        raise Invalid(field, f"lies in {folder}, which is not there", _REMEDY)
    if not folder.is_dir():
        raise Invalid(field, f"lies in {folder}, which is no folder", _REMEDY)
    if not os.access(folder, os.W_OK):
        raise Invalid(field, f"lies in {folder}, where nothing can be written", _REMEDY)

"""From a path or a URL to a store: which one it names, whether it is a file, and opening it."""

from __future__ import annotations

import os
import re
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mnemic.errors import Invalid
from mnemic.registry import STORES, load

if TYPE_CHECKING:
    from mnemic.core.clock import Clock
    from mnemic.core.ids import Entropy
    from mnemic.store.contract import Store

_FILE: Final = "sqlite"
"""What a path names without a scheme."""

_MEMORY: Final = "memory"
"""A store of this process alone."""

SERVERS: Final = frozenset({"postgresql", "postgres"})
"""Schemes of a server's URL, of which the store itself reads all."""


_SETTINGS: Final = re.compile(r"(?:^|\s)(?:host|hostaddr|dbname|user|password|service)\s*=")
"""How other programs of PostgreSQL write where a database is; a password in it must not become the name of a file."""

_SECRET_OPTIONS: Final = ("password", "sslpassword", "passfile")


def parsed(where: str) -> tuple[str, str]:
    """The scheme of a store's URL and the rest; a path is a file's.

    Raises:
        Invalid: it is written as settings, name=value.
    """
    if _SETTINGS.search(where):
        raise Invalid(
            "store", "is written as settings of PostgreSQL, name=value", "Write it as postgresql://role@host/database."
        )
    if where == ":memory:":  # SQLite's own name for it; nobody who types it wants a file of that name
        return _MEMORY, ""
    scheme, colon, rest = where.partition(":")
    if colon and (rest.startswith("//") or scheme in STORES):
        return scheme, rest.removeprefix("//")
    return _FILE, where


def real_path(path: str | Path) -> Path:
    """Where a file lies, links followed: its log lies beside it, and whoever opens it by another name locks the same.

    Raises:
        Invalid: the links lead in a circle.
    """
    named = Path(path).expanduser().absolute()
    if "\x00" in str(named):
        return named  # which is refused by who would make it
    resolved = Path(os.path.realpath(named))
    if resolved.is_symlink():
        raise Invalid("path", f"{named} is a link that leads in a circle", "Name a file.")
    return resolved


def path_of(where: str) -> Path | None:
    """The file that a path or URL names, whether it is there or not; None for a store that is no file."""
    scheme, rest = parsed(where)
    return real_path(rest) if scheme == _FILE else None


def is_server(where: str) -> bool:
    """Whether a URL names a database on a server."""
    return parsed(where)[0] in SERVERS


def shown(where: str) -> str:
    """A path or URL as it may be shown to anybody: without a password."""
    scheme, rest = parsed(where)
    if scheme not in SERVERS:
        return where
    place, given, options = rest.partition("?")
    login, at, host = place.rpartition("@")
    role, secret, _ = login.partition(":")
    kept = [option for option in options.split("&") if not option.lower().startswith(_SECRET_OPTIONS)]
    return f"{scheme}://{role}{':***' if secret else ''}{at}{host}" + (given + "&".join(kept) if any(kept) else "")


def open_at(where: str, clock: Clock, entropy: Entropy, busy_timeout: float, **options: Any) -> Store:
    """Open the store that a path or URL names.

    Args:
        busy_timeout: Seconds that a writer waits for others.
        options: What this kind of store takes besides.

    Raises:
        Invalid: it is of no kind that this version knows.
    """
    scheme, rest = parsed(where)
    given = {"clock": clock, "entropy": entropy, "busy_timeout": busy_timeout, **options}
    place = {_FILE: [rest], **{server: [where] for server in SERVERS}}.get(scheme, [])
    store: Store = _store_type(scheme)(*place, **given)
    return store


def options_of(where: str) -> frozenset[str]:
    """The names of the options that the kind of store which a path or URL names takes besides those of every store.

    Raises:
        Invalid: it is of no kind that this version knows.
    """
    return frozenset(signature(_store_type(parsed(where)[0])).parameters)


def _store_type(scheme: str) -> Any:
    if scheme not in STORES:
        raise Invalid("url", f"{scheme}: is no store of this version", f"Known: {', '.join(sorted(STORES))}.")
    return load(STORES, scheme)

"""The key of a seal: out of a file, or out of what a command prints; never out of the store, and never kept there."""

from __future__ import annotations

import hashlib
import shlex
import subprocess
from pathlib import Path
from typing import Final

from mnemic.errors import Invalid

_LEAST: Final = 16
_SECONDS: Final = 30


def seal_key(said: str) -> bytes:
    """The key that the setting `seal` names: a file, or behind an exclamation mark a command; empty for none.

    Raises:
        Invalid: it cannot be read, the command fails, or what comes is shorter than 16 bytes.
    """
    if not said:
        return b""
    try:
        read = _printed(said[1:]) if said.startswith("!") else Path(said).expanduser().read_bytes()
    except (OSError, ValueError, IndexError, subprocess.SubprocessError) as error:
        why = str(error).rstrip(".")
        raise Invalid("seal", f"cannot be read: {why}", "Name a file with the key, or `!` and a command.") from error
    if len(read.strip()) < _LEAST:
        raise Invalid("seal", f"is shorter than {_LEAST} bytes", "Make one: `head -c 32 /dev/urandom | base64`.")
    return hashlib.blake2b(read.strip(), digest_size=32, person=b"mnemic seal").digest()


def _printed(command: str) -> bytes:
    done = subprocess.run(  # noqa: S603 - the command is the user's own setting, and no shell reads it
        shlex.split(command), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=_SECONDS, check=True
    )
    return done.stdout

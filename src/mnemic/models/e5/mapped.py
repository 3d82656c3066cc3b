"""Arrays in one flat file that the next process maps in place of making them again.

The first line is JSON: what the arrays were made from, and where each lies; behind it the arrays, little-endian, each
at a multiple of 64 bytes. The file is derived: whoever deletes it loses a quarter of a second at the next start.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_ALIGNED: Final = 64
"""Bytes: what the widest instructions of a processor load at once."""

_HEAD: Final = 1 << 16
"""Most bytes of the first line."""


def write_arrays(path: Path, made_from: Mapping[str, Any], arrays: Mapping[str, NDArray[np.generic]]) -> None:
    """Write a file of arrays in one step, readable by its owner alone.

    Raises:
        OSError: it cannot be written; nothing is left behind.
    """
    places, at = {}, 0
    for name, array in arrays.items():
        places[name] = (array.dtype.newbyteorder("<").str, list(array.shape), at)
        at += math.ceil(array.nbytes / _ALIGNED) * _ALIGNED
    head = json.dumps({"made_from": made_from, "bytes": at, "arrays": places}).encode()
    path.parent.mkdir(mode=0o700, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # 0600
    try:
        with open(descriptor, "wb") as file:
            file.write(head.ljust(_aligned(len(head) + 1) - 1) + b"\n")
            for array in arrays.values():
                raw = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
                file.write(raw.ljust(_aligned(len(raw)), b"\0"))
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except OSError:
        with suppress(OSError):
            os.unlink(name)
        raise


def map_arrays(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[np.generic]]] | None:
    """Map a file of arrays: what they were made from, and the arrays, read-only.

    None if there is no such file, if it is no whole one, or if somebody else could have written it.
    """
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
                return None
            line = file.readline(_HEAD)
            head = json.loads(line)
            if not line.endswith(b"\n") or status.st_size != len(line) + head["bytes"]:
                return None
            raw = np.frombuffer(_mapped(file.fileno()), np.uint8)[len(line) :]
            return head["made_from"], {name: _array(raw, *place) for name, place in head["arrays"].items()}
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _mapped(descriptor: int) -> mmap.mmap:
    if hasattr(mmap, "MAP_POPULATE"):  # all pages at once: most are needed, and a fault for each costs more
        return mmap.mmap(descriptor, 0, flags=mmap.MAP_SHARED | mmap.MAP_POPULATE, prot=mmap.PROT_READ)
    return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)


def _array(raw: NDArray[np.uint8], kind: str, shape: list[int], at: int) -> NDArray[np.generic]:
    dtype = np.dtype(kind)
    return raw[at : at + dtype.itemsize * math.prod(shape)].view(dtype).reshape(shape)


def _aligned(size: int) -> int:
    return math.ceil(size / _ALIGNED) * _ALIGNED

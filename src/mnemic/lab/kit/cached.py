"""An embedder that remembers what it has embedded, on disk or as long as it lives: the same text costs nothing again.

One file for each embedder, named after it: records of a digest of 16 bytes and the vector, one after the other. A
record that a crash cut short is dropped when the file is read. An embedder that reads questions by weights of its own
(`questions_read_by`), or tells more of passages by such (`traits_read_by`), has those of others asked anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnemic.models.base import TRAITS, AnswerReading, Embedder

DIGEST: Final = 16

Embed: TypeAlias = Callable[[Sequence[str]], NDArray[np.float32]]


class CachedEmbedder:
    """Wraps an embedder, with its name and vectors, and asks it for each text only once. For one process only."""

    def __init__(self, inner: Embedder, folder: Path | None = None) -> None:
        """`folder` is made if it is not there; without one nothing is kept when this is gone."""
        self.name, self.dims = inner.name, inner.dims
        self._inner = inner
        self._question_form = f"q{getattr(inner, 'questions_read_by', '')}"
        self._file: Path | None = None
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = _file_of(inner, folder)
        self._known = {} if self._file is None else self._read(self._file)

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._looked_up("p", texts, self._inner.passages)

    def passages_with_traits(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """`passages`, and the traits of each behind its vector; none of an embedder that tells none.

        They are kept if it says what it tells them by (`traits_read_by`).
        """
        embed: Embed | None = getattr(self._inner, "passages_with_traits", None)
        read_by = getattr(self._inner, "traits_read_by", "")
        if embed is None or not read_by:
            return self.passages(texts) if embed is None else embed(texts)

        def traits(fresh: Sequence[str]) -> NDArray[np.float32]:
            rows = embed(fresh)
            self._keep(dict(zip((_digest("p", text) for text in fresh), rows[:, : self.dims], strict=True)))
            return np.pad(rows[:, self.dims :], ((0, 0), (0, self.dims - len(TRAITS))))

        odds = self._looked_up(f"t{read_by}", texts, traits)[:, : len(TRAITS)]
        return np.concatenate((self.passages(texts), odds), axis=1)

    def intermediate(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors after an earlier layer; the embedder inside must have one."""
        embed: Embed = getattr(self._inner, "intermediate")  # noqa: B009
        return self._looked_up("i", texts, embed)

    def instructions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors by layers that learned to tell instructions, if the embedder inside has some; they are not kept."""
        embed: Embed = getattr(self._inner, "instructions")  # noqa: B009
        return embed(texts)

    def reading(self, question: str, said: Sequence[str]) -> AnswerReading | None:
        """What the embedder inside reads; it is asked each time. None where it does not read so."""
        read: Callable[[str, Sequence[str]], AnswerReading | None] | None = getattr(self._inner, "reading", None)
        return None if read is None else read(question, said)

    def query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self._looked_up(
            self._question_form, [text], lambda texts: self._inner.query(texts[0])[None]
        )[0]
        return vector

    def _looked_up(self, form: str, texts: Sequence[str], embed: Embed) -> NDArray[np.float32]:
        digests = [_digest(form, text) for text in texts]
        fresh = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in self._known}
        if fresh:
            self._keep(dict(zip(fresh, embed(list(fresh.values())), strict=True)))
        if not digests:
            return np.empty((0, self.dims), np.float32)
        return np.stack([self._known[digest] for digest in digests])

    def _keep(self, vectors: Mapping[bytes, NDArray[np.float32]]) -> None:
        fresh = {digest: vector.astype("<f4") for digest, vector in vectors.items() if digest not in self._known}
        self._known.update(fresh)
        if self._file is not None:
            with self._file.open("ab") as file:
                file.writelines(digest + vector.tobytes() for digest, vector in fresh.items())

    def _read(self, file: Path) -> dict[bytes, NDArray[np.float32]]:
        size = DIGEST + 4 * self.dims
        data = file.read_bytes() if file.exists() else b""
        whole = len(data) - len(data) % size
        if whole < len(data):
            file.write_bytes(data[:whole])
        records = (data[at : at + size] for at in range(0, whole, size))
        return {record[:DIGEST]: np.frombuffer(record[DIGEST:], "<f4") for record in records}


def vectors_kept(inner: Embedder, folder: Path) -> int:
    """Count the vectors of an embedder that stand in a folder."""
    file = _file_of(inner, folder)
    return file.stat().st_size // (DIGEST + 4 * inner.dims) if file.exists() else 0


def _file_of(inner: Embedder, folder: Path) -> Path:
    return folder / f"{re.sub(r'[^A-Za-z0-9._-]', '-', inner.name)}.vectors"


def _digest(form: str, text: str) -> bytes:
    return blake2b(f"{form}\n{text}".encode("utf-8", "surrogatepass"), digest_size=DIGEST).digest()

"""Call an embedder for many threads: questions go before backlog, repeated questions come from a cache."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from typing import TYPE_CHECKING, Final, TypeAlias

from mnemic.core.forking import renew_in_child
from mnemic.core.mutex import Mutex, wait_among, wake_all
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import ModelError
from mnemic.models.base import TRAITS, AnswerReading, PassageReading

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mnemic.models.base import Embedder

Embed: TypeAlias = "Callable[[Sequence[str]], NDArray[np.float32]]"
"""Makes the vectors of texts, one row each."""

SLICE_SECONDS: Final = 0.1
"""How long the backlog may keep a question company before it steps aside."""

PATIENCE_SECONDS: Final = 1.0
"""How long the backlog waits for questions to cease; then it does a slice all the same, so that it never starves."""

QUESTIONS_KEPT: Final = 256

_FIRST_SLICE: Final = 1_000
"""Characters of the first slice, before the embedder's speed is known."""

_LEARNING: Final = 0.3
"""Weight of the latest slice in the speed that is expected of the next."""


class Embedding:
    """An embedder that answers questions at once and passages in slices between them. Safe for many threads.

    A question never waits. Passages go in slices of about `slice_seconds`, and no slice is begun while a question is
    being answered. An embedder that is `remote` is handed all passages at once: its time is not this machine's.

    Args:
        slice_seconds: How long a slice should take; a single text is never cut.
    """

    def __init__(
        self, embedder: Embedder, *, slice_seconds: float = SLICE_SECONDS, questions_kept: int = QUESTIONS_KEPT
    ) -> None:
        self._embedder, self._slice_seconds, self._questions_kept = embedder, slice_seconds, questions_kept
        self._remote = bool(getattr(embedder, "remote", False))
        self._slice = _FIRST_SLICE
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Begin with fresh locks, and nothing remembered, as a forked child must."""
        self._lock = Mutex()
        self._asking: set[int] = set()
        self._waiting: deque[threading.Lock] = deque()
        self._remembered: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._compared: OrderedDict[tuple[str, PassageReading], NDArray[np.float32]] = OrderedDict()

    @property
    def name(self) -> str:
        """Identity of weights and revision."""
        return self._embedder.name

    @property
    def embedder(self) -> Embedder:
        """The one that is called."""
        return self._embedder

    @property
    def remote(self) -> bool:
        """Whether it works on another machine."""
        return self._remote

    @property
    def dims(self) -> int:
        """How many numbers a vector has."""
        return self._embedder.dims

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of things to be found, one row each, in order; rows have unit length.

        Raises:
            ModelError: the model or its endpoint failed.
        """
        return self._sliced(texts, self._embedder.passages, self.dims)

    def passages_with_traits(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """`passages`, and what is told of each behind its vector (`models.base.TraitEmbedder`), if anything is.

        Raises:
            ModelError: the model or its endpoint failed.
        """
        embed: Embed | None = getattr(self._embedder, "passages_with_traits", None)
        if embed is None:
            return self.passages(texts)
        return self._sliced(texts, embed, self.dims, self.dims + len(TRAITS))

    def tells_traits(self) -> bool:
        """Whether it tells of passages what they do; one that might is asked about a word.

        Raises:
            ModelError: the model failed.
        """
        might = hasattr(self._embedder, "passages_with_traits")
        return might and self.passages_with_traits(["hello"]).shape[1] > self.dims

    def _sliced(self, texts: Sequence[str], embed: Embed, *widths: int) -> NDArray[np.float32]:
        import_whole("numpy")
        import numpy as np

        if self._remote or not texts:
            return self._timed(texts, embed, *widths)
        return np.concatenate([self._timed(texts[start:stop], embed, *widths) for start, stop in self._slices(texts)])

    def compared(
        self, texts: Sequence[str], reading: PassageReading = PassageReading.PASSAGE
    ) -> list[NDArray[np.float32]]:
        """Vectors of passages that strategies compare, in order; the latest are remembered.

        Many are asked for again: what stands is compared with every sentence that may take it back.

        Args:
            reading: How they are read; nothing comes of it where the embedder does not read so.

        Raises:
            ModelError: the model or its endpoint failed.
        """
        embed: Embed | None = getattr(self._embedder, reading, None)
        if embed is None:
            return []
        with self._lock:
            known = {text: vector for text in texts if (vector := self._compared.get((text, reading))) is not None}
        missing = list(dict.fromkeys(text for text in texts if text not in known))
        known |= dict(zip(missing, self._sliced(missing, embed, self.dims), strict=True)) if missing else {}
        with self._lock:
            for text in texts:
                self._compared[text, reading] = known[text]
                self._compared.move_to_end((text, reading))
            while len(self._compared) > self._questions_kept:
                self._compared.popitem(last=False)
        return [known[text] for text in texts]

    def query(self, text: str) -> NDArray[np.float32]:
        """The vector of a question, of unit length and read-only.

        Raises:
            ModelError: the model or its endpoint failed.
        """
        with self._lock:
            if (vector := self._remembered.get(text)) is not None:
                self._remembered.move_to_end(text)
                return vector
        import_whole("numpy")  # whatever an embedder imports, it needs that
        with self._question(), self._failures():
            vector = self._checked(self._embedder.query(text), (self.dims,))
        vector.setflags(write=False)
        self._remember(text, vector)
        return vector

    def reading(self, question: str, said: Sequence[str]) -> AnswerReading | None:
        """Whether what was said, the oldest first, answers a question; None of an embedder that does not read so.

        Raises:
            ModelError: the model failed.
        """
        read: Callable[[str, Sequence[str]], AnswerReading | None] | None = getattr(self._embedder, "reading", None)
        if read is None:
            return None
        with self._question(), self._failures():
            reading = read(question, said)
        if reading is not None and not (
            isinstance(reading, AnswerReading) and all(map(math.isfinite, astuple(reading)))
        ):
            raise ModelError(f"{self.name} answered with {reading!r:.80} where a reading with numbers was asked for")
        return reading

    def forget(self) -> None:
        """Forget the questions that were asked, and what was compared, as an erasure must."""
        with self._lock:
            self._remembered.clear()
            self._compared.clear()

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Turn whatever somebody else's embedder raises into a `ModelError`."""
        try:
            yield
        except ModelError:
            raise
        except Exception as error:
            raise ModelError(f"{self.name} failed: {type(error).__name__}: {error}") from error

    def _checked(self, vectors: NDArray[np.float32], *shapes: tuple[int, ...]) -> NDArray[np.float32]:
        import_whole("numpy")
        import numpy as np

        if vectors.shape not in shapes or not np.isfinite(vectors).all():
            raise ModelError(
                f"{self.name} answered with {vectors.shape}, or with no numbers, where {shapes[0]} was asked for"
            )
        return vectors

    @contextmanager
    def _question(self) -> Iterator[None]:
        """Mark that a question is being answered, so that no slice is begun."""
        try:
            self._asking.add(threading.get_ident())
            yield
        finally:
            self._asking.discard(threading.get_ident())
            wake_all(self._waiting)

    def _remember(self, text: str, vector: NDArray[np.float32]) -> None:
        with self._lock:
            self._remembered[text] = vector
            while len(self._remembered) > self._questions_kept:
                self._remembered.popitem(last=False)

    def _slices(self, texts: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Yield slices of about the wanted time, each once no question is being answered."""
        start = 0
        while start < len(texts):
            stop, characters = start + 1, len(texts[start])
            while stop < len(texts) and characters + len(texts[stop]) <= self._slice:
                characters += len(texts[stop])
                stop += 1
            self._wait_for_questions()
            yield start, stop
            start = stop

    def _wait_for_questions(self) -> None:
        until = time.monotonic() + PATIENCE_SECONDS
        while self._asking and (left := until - time.monotonic()) > 0:
            wait_among(self._waiting, lambda: bool(self._asking), left)

    def _timed(self, texts: Sequence[str], embed: Embed, *widths: int) -> NDArray[np.float32]:
        began = time.perf_counter()
        with self._failures():
            vectors = self._checked(embed(texts), *((len(texts), width) for width in widths))
        seconds = time.perf_counter() - began
        if texts and not self._remote:
            with self._lock:
                self._learn(sum(map(len, texts)), seconds)
        return vectors

    def _learn(self, characters: int, seconds: float) -> None:
        """Correct the length of a slice by how long the last one took, by no more than double or half."""
        wanted = characters * self._slice_seconds / max(seconds, 1e-6)
        wanted = min(max(wanted, self._slice / 2), self._slice * 2)
        self._slice = max(1, round((1 - _LEARNING) * self._slice + _LEARNING * wanted))

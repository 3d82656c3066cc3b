"""The engine beside the decoder: its tokens, and its answers with adapters weighed for each request."""

from __future__ import annotations

import json
import secrets
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Self

from mnemic.models.chat.gguf import engine_adapter, engine_params, started_engine

_CONTEXT: Final = 1_024
_NOT_STARTED: Final[Any] = None


class Engine:
    """llama.cpp with one thread, with a model and adapters beside it; a context manager.

    Args:
        adapters: GGUF files; each weighs nothing until a request weighs it.
    """

    def __init__(self, path: Path, adapters: Sequence[Path] = ()) -> None:
        params = engine_params(path)
        self._key = secrets.token_hex()
        params.api_keys, params.n_ctx = [self._key], _CONTEXT
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
        if adapters:
            params.lora_adapters = [engine_adapter(file) for file in adapters]
        self._params, self._engine = params, _NOT_STARTED

    def __enter__(self) -> Self:
        self._engine = started_engine(self._params, "the engine")
        return self

    def __exit__(self, *_: object) -> None:
        self._engine = _NOT_STARTED

    def tokens(self, text: str) -> list[int]:
        """How the engine cuts a text."""
        body = json.dumps({"content": text, "add_special": True, "parse_special": True}).encode()
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self._engine.listening_address}/tokenize", body, headers)  # noqa: S310 - this machine
        with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310 - this machine
            tokens: list[int] = json.load(response)["tokens"]
        return tokens

    def answer(self, question: str, weights: Sequence[float] = ()) -> tuple[str, object]:
        """What it says, the likeliest word each time, and the logarithms of its probabilities."""
        body: dict[str, object] = {
            "messages": [{"role": "user", "content": question}],
            "max_tokens": 16,
            "temperature": 0,
            "logprobs": True,
            "top_logprobs": 3,
        }
        if weights:
            body["lora"] = [{"id": n, "scale": weight} for n, weight in enumerate(weights)]
        said = self._engine.handle_chat_completions(body)
        choice = (json.loads(said) if isinstance(said, str | bytes) else said)["choices"][0]
        return choice["message"]["content"], choice["logprobs"]

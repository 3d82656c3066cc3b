"""A server of OpenAI's chat protocol that is not ours: llama.cpp's own, on this machine, around a GGUF file."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from mnemic.models.chat.gguf import Gguf, engine_params, started_engine
from mnemic.models.chat.openai_chat import ChatEndpoint

SILENCE_SECONDS: Final = 1_800.0
"""How long it may be silent: it reads long prompts on a slow machine, and questions asked at once one after another."""


@contextmanager
def served_over_http(model: Gguf) -> Iterator[ChatEndpoint]:
    """Serve a model's file until the block is left; yields the endpoint, which is asked over HTTP."""
    params, key = engine_params(model.path), secrets.token_hex()
    params.api_keys = [key]
    engine = started_engine(params, model.name)
    try:
        yield ChatEndpoint(model.path.stem, f"{engine.listening_address}/v1", key=key, timeout=SILENCE_SECONDS)
    finally:
        del engine  # which ends its server

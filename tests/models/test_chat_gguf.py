"""A real small model in a file keeps the contract, in this process and behind the engine's own endpoint."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mnemic.errors import ModelError
from mnemic.models.chat import gguf
from mnemic.models.chat.base import Chat, ChatMessage
from mnemic.models.chat.gguf import ENGINE, SMOLLM2_PACKAGE, Gguf, SmolLM2
from mnemic.models.chat.openai_chat import ChatEndpoint
from mnemic.testing.chat_contract import *  # noqa: F403
from mnemic.testing.chat_contract import HELLO, asked, said
from patience import PATIENCE

KEY = "sk-not-a-real-key-0123456789"


def absent() -> str:
    """What the real model lacks here."""
    if importlib.util.find_spec(ENGINE) is None:
        return f"{ENGINE} is not installed"
    if not any(importlib.metadata.distributions(name=SMOLLM2_PACKAGE)):
        return f"{SMOLLM2_PACKAGE}, which holds the weights, is not installed"
    return ""


pytestmark = [pytest.mark.heavy, pytest.mark.model, pytest.mark.skipif(bool(absent()), reason=absent())]


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Several threads of an engine wait for each other at every step, which takes minutes on a busy machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gguf, "THREADS", 1)
        yield


@pytest.fixture(scope="module")
def local(one_thread: None) -> Chat:
    return SmolLM2()


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Chat]:
    """The engine's own server, which asks for a key, and of itself takes the likeliest token: chance rambles on."""
    xllamacpp = importlib.import_module(ENGINE)
    params = xllamacpp.CommonParams()
    params.model.path = str(SmolLM2().path)
    params.n_ctx, params.n_parallel, params.verbosity, params.api_keys = 4096, 1, -1, [KEY]
    params.sampling.temp = 0.0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server: Any = xllamacpp.Server(params)
    yield ChatEndpoint("smollm2", f"{server.listening_address}/v1", key=KEY)
    del server


@pytest.fixture(params=["local", "endpoint"])
def chat(request: pytest.FixtureRequest) -> Chat:
    served: Chat = request.getfixturevalue(request.param)
    return served


@pytest.fixture  # type: ignore[no-redef]
def calling_chat(local: Chat) -> Chat:
    """Held by its grammar it calls the tool; behind the endpoint it is left to choose, and a model so small answers."""
    return local


def test_more_than_it_can_read_is_told(chat: Chat) -> None:
    pieces, error = said(chat, [ChatMessage("user", "word " * 10_000)])
    assert pieces == []
    assert "exceeds the available context size" in error


def test_a_wrong_key_is_told(endpoint: ChatEndpoint) -> None:
    pieces, error = said(ChatEndpoint("smollm2", endpoint.name.split("@")[1], key="sk-wrong"), HELLO)
    assert pieces == []
    assert "answered 401" in error
    assert "MNEMIC_MODEL_KEY" in error


def test_a_file_that_is_no_model_is_told(tmp_path: Path) -> None:
    path = tmp_path / "noise.gguf"
    path.write_bytes(b"noise" * 1000)
    assert said(Gguf(path), HELLO) == ([], f"gguf:{path}: the engine cannot read {path}")


def test_other_weights_are_not_taken_for_the_known_ones(tmp_path: Path) -> None:
    path = tmp_path / "other.gguf"
    path.write_bytes(b"other")
    with pytest.raises(ModelError, match="is not the file we know"):
        next(Gguf(path, sha256="0" * 64).stream(asked(HELLO)))


def test_it_is_quiet_and_leaves_without_waiting() -> None:
    code = (
        "from mnemic.models.chat import gguf\nfrom mnemic.models.chat.base import Ask, ChatMessage\n"
        "from mnemic.models.chat.gguf import SmolLM2\ngguf.THREADS = 1\n"
        "answer = SmolLM2().stream(Ask((ChatMessage('user', 'Tell a very long story.'),), 4000))\n"
        "print(bool(next(answer)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


FORKED = """
import os
import sys
from mnemic.models.chat.base import Ask, ChatMessage
from mnemic.models.chat import gguf
from mnemic.models.chat.gguf import SmolLM2

def answer():
    return "".join(model.stream(Ask((ChatMessage("user", "Say only: hi"),), 8)))

gguf.THREADS = 1
model = SmolLM2()
told = answer()
model._lock.take(sys._getframe())  # as if another thread were loading it
child = os.fork()
if not child:
    print(answer() == told, flush=True)
    del model
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_forked_child_opens_its_own() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n0\n", "")

"""Every example in `examples/` runs as a program, against an endpoint on this machine."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mnemic import Memory
from mnemic.models.chat.gguf import ENGINE, SMOLLM2_PACKAGE, SmolLM2
from mnemic.models.chat.scripted_chat import ScriptedChat
from mnemic.testing.chat_server import serving
from patience import PATIENCE

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parent.parent
CHAT = ROOT / "examples" / "chat.py"
KEY = "sk-not-a-real-key-0123456789"
LINES = "My sister Ana plays the cello.\n\nWhich instrument does Ana play?\n"
WORDS_ALONE = {"MNEMIC_EMBEDDER": "none"}  # the local embedder, which takes seconds to load, is for the last test

needs_openai = pytest.mark.skipif(importlib.util.find_spec("openai") is None, reason="openai is not installed")


def chat(home: Path, url: str, *args: str, stdin: str = LINES, **more: str) -> list[str]:
    """What the example says, a line an answer."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("MNEMIC_", "OPENAI_"))}
    environ |= {"HOME": str(home), "OPENAI_BASE_URL": url, "OPENAI_API_KEY": KEY, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, str(CHAT), *args],
        input=stdin,
        env=environ | more,
        cwd=home,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_the_chat_example_is_fifteen_lines() -> None:
    code = CHAT.read_text().split('"""', 2)[2]
    assert sum(bool(line.strip()) for line in code.splitlines()) <= 15


@needs_openai
def test_the_chat_example_gives_the_model_what_memory_holds_and_keeps_both_turns(tmp_path: Path) -> None:
    with serving(ScriptedChat("How lovely.", "The cello.", "Ana's cello.")) as server:
        assert chat(tmp_path, server.url, "words-1", **WORDS_ALONE) == ["How lovely.", "The cello."]
        assert chat(tmp_path, server.url, stdin="And Ana?", OPENAI_MODEL="words-2", **WORDS_ALONE) == ["Ana's cello."]
    first, second, third = (asked["messages"][0]["content"] for asked in server.asked)
    assert "cello" in first
    assert "<memory" not in first
    assert "My sister Ana plays the cello." in second.partition("</memory>")[0]
    assert "The cello." in third
    assert [asked["model"] for asked in server.asked] == ["words-1", "words-1", "words-2"]
    with Memory(tmp_path / ".mnemic" / "memory.db") as memory:
        kept = [(one.item.slots.get("role"), one.item.text) for one in memory.scope(user="me").list(limit=9)]
    assert ("user", "Which instrument does Ana play?\n") in kept
    assert ("assistant", "The cello.") in kept


@pytest.fixture
def engine() -> Iterator[str]:
    """A real small model behind its engine's own endpoint."""
    if importlib.util.find_spec(ENGINE) is None or not any(importlib.metadata.distributions(name=SMOLLM2_PACKAGE)):
        pytest.skip(f"{ENGINE} or {SMOLLM2_PACKAGE} is not installed")
    xllamacpp: Any = importlib.import_module(ENGINE)
    params = xllamacpp.CommonParams()
    params.model.path, params.n_ctx, params.n_parallel, params.verbosity = str(SmolLM2().path), 4096, 1, -1
    params.n_predict, params.api_keys = 8, [KEY]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server


@pytest.mark.model
@needs_openai
def test_the_chat_example_runs_with_real_models(tmp_path: Path, engine: str) -> None:
    assert chat(tmp_path, engine, "smollm2")
    with Memory(tmp_path / ".mnemic" / "memory.db") as memory:
        roles = [one.item.slots.get("role") for one in memory.scope(user="me").list(limit=9)]
    assert roles.count("user") >= 2
    assert roles.count("assistant") == 2

"""`openai:MODEL` without an address is OpenAI's own, or wherever its variables say, with the key that goes there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from endpoint_server import serving
from told import set_patience

from mnemic import Memory, Settings
from mnemic.errors import Invalid, ModelError
from mnemic.models.chat.base import Ask, ChatMessage
from mnemic.models.model_opening import open_chat, open_embedder

OWN = "https://api.openai.com/v1"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-own")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    return monkeypatch


def opened(spec: str, **keys: str) -> list[Any]:
    settings = Settings(**keys)  # type: ignore[arg-type]
    return [open_embedder(spec, settings), open_chat(spec, settings)]


def test_a_model_alone_is_openai_s_own_with_its_key() -> None:
    for one in opened("openai:text-embedding-3-small"):
        assert one.name == f"openai:text-embedding-3-small@{OWN}"
        assert one._line._secret.key == "sk-own"
        assert "sk-own" not in repr(one)


def test_what_a_store_remembers_of_it_opens_it_again_with_the_key() -> None:
    for one in opened(f"openai:text-embedding-3-small@{OWN}"):
        assert one._line._secret.key == "sk-own"


def test_options_stand_behind_a_model_alone_too() -> None:
    embedder = open_embedder("openai:text-embedding-3-large#dimensions=512", Settings())
    assert embedder is not None
    assert embedder.name == f"openai:text-embedding-3-large@{OWN}#dimensions=512"


def test_a_key_of_our_own_comes_first() -> None:
    for one in opened("openai:x", embedder_key="sk-set", model_key="sk-set"):
        assert one._line._secret.key == "sk-set"


def test_openai_s_key_goes_to_no_other_address() -> None:
    for url in ("http://localhost:11434/v1", "https://api.openai.com.evil.example/v1", "http://api.openai.com/v1"):
        for one in opened(f"openai:x@{url}"):
            assert one._line._secret.key == "", url


def test_the_address_of_openai_s_own_variable_is_taken(environment: pytest.MonkeyPatch) -> None:
    with serving() as server:
        environment.setenv("OPENAI_BASE_URL", server.url + "/")
        settings = Settings(background=False)
        with Memory("memory:", embedder="openai:words", settings=settings, strategies=[]) as memory:
            me = memory.scope(user="ada")
            me.observe("The fox sleeps.")
            memory.flush()
            assert me.recall("fox").pending == 0
        assert server.headers[0]["Authorization"] == "Bearer sk-own"


def test_without_a_key_it_is_told_which_to_set(environment: pytest.MonkeyPatch) -> None:
    environment.delenv("OPENAI_API_KEY")
    for open_it, name in ((open_embedder, "MNEMIC_EMBEDDER_KEY"), (open_chat, "MNEMIC_MODEL_KEY")):
        with pytest.raises(Invalid, match=f"OPENAI_API_KEY or {name}"):
            open_it("openai:x", Settings())
        open_it("openai:x@http://localhost:11434/v1", Settings())


@pytest.mark.parametrize("spec", ["openai:", "openai:#dimensions=3", "openai:x@host", "openai:me:secret@host"])
def test_what_is_no_model_is_refused(spec: str) -> None:
    for open_it in (open_embedder, open_chat):
        with pytest.raises(Invalid, match="openai:MODEL") as refused:
            open_it(spec, Settings())
        assert "secret" not in str(refused.value)


def test_no_error_shows_the_key(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    chat = open_chat("openai:x", Settings())
    assert chat is not None
    chat._patience = set_patience([])  # type: ignore[attr-defined]
    with pytest.raises(ModelError) as failed:
        list(chat.stream(Ask((ChatMessage("user", "Hello"),))))
    assert "sk-own" not in str(failed.value)


def test_a_key_may_stand_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("sk-from-a-file\n")
    for one in opened("openai:x@http://localhost:11434/v1", embedder_key=f"@{file}", model_key=f"@{file}"):
        assert one._line._secret.key == "sk-from-a-file"
    for open_it in (open_embedder, open_chat):
        with pytest.raises(Invalid, match="cannot be read"):
            open_it("openai:x", Settings(embedder_key="@/nowhere/key", model_key="@/nowhere/key"))

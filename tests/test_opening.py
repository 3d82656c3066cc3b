"""Opening a memory: what may be said of it, and what is told of a name that is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic import AsyncMemory, Invalid, Memory, Settings
from mnemic.models.chat.base import Ask, ChatMessage


@pytest.mark.parametrize("front", [Memory, AsyncMemory])
@pytest.mark.parametrize("where", ["memory:", "m.db"])
@pytest.mark.parametrize(
    ("name", "near"),
    [("embeder", "embedder"), ("strategy", "strategies"), ("setings", "settings"), ("modle", "model"), ("pth", None)],
)
def test_an_option_that_is_none_is_refused_with_the_nearest_name(
    tmp_path: Path, front: type[Memory], where: str, name: str, near: str | None
) -> None:
    where = where if where == "memory:" else str(tmp_path / where)
    with pytest.raises(Invalid, match=f"^{name}: is no option of a memory") as refused:
        front(where, **{name: "none"})
    assert near is None or f"Did you mean {near}?" in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_an_option_beside_a_store_of_ones_own_is_refused_too(tmp_path: Path) -> None:
    with Memory("memory:", embedder="none") as memory, pytest.raises(Invalid, match=r"^embeder: is no option"):
        Memory(memory.admin._store, embeder="none")


def test_an_option_of_the_store_is_taken(tmp_path: Path) -> None:
    seen: list[str] = []
    with Memory(tmp_path / "m.db", embedder="none", probe=seen.append) as memory:
        memory.scope(user="ada").observe("I live in Lisbon.")
    assert seen


def test_the_language_model_can_be_named_when_a_memory_is_opened(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", settings=Settings(k=3, embedder="none"), model="scripted:Good day.") as memory:
        assert (memory.settings.model, memory.settings.k) == ("scripted:Good day.", 3)
        ask = Ask(messages=(ChatMessage("user", "Hello?"),))
        assert memory._opened.answering.language_model.answer(ask).text == "Good day."


@pytest.mark.parametrize("model", ["gpt-please", 7])
def test_a_language_model_that_nobody_knows_is_refused_before_anything_is_made(tmp_path: Path, model: str) -> None:
    with pytest.raises(Invalid, match=r"^model: "):
        Memory(tmp_path / "m.db", model=model)
    assert list(tmp_path.iterdir()) == []


def test_the_name_that_sqlite_has_for_memory_makes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Memory(":memory:", embedder="none") as memory:
        memory.scope(user="ada").observe("The ferry leaves at nine.")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "remedy"), [("background", r"settings=Settings\(background="), ("user", r"memory\.scope\(user=")]
)
def test_an_option_that_is_given_elsewhere_says_where(name: str, remedy: str) -> None:
    with pytest.raises(Invalid, match=remedy):
        Memory("memory:", **{name: "x"})


def test_a_list_of_ids_is_told_to_be_given_one_by_one() -> None:
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="ada")
        ids = me.observe("The ferry leaves at nine.").ids
        with pytest.raises(Invalid, match=r"\*ids"):
            me.pin(ids)  # type: ignore[arg-type]

"""Settings: read from the environment in one place, checked when made; a program and the commands share a store."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from mnemic import AsyncMemory, Invalid, Memory, Settings
from mnemic.faces.cli import cli


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's home, empty, and an environment that says nothing of mnemic but to use no model."""
    for name in [name for name in os.environ if name.startswith("MNEMIC_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("MNEMIC_EMBEDDER", "none")
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def listed(*options: str) -> str:
    done = CliRunner().invoke(cli, ["list", *options])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize(
    ("name", "value"), [("MNEMIC_HOME", "elsewhere"), ("MNEMIC_STORE", "elsewhere/one.db"), ("MNEMIC_TENANT", "acme")]
)
def test_a_program_and_the_command_line_open_the_same_store(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, str(home / value) if "/" in value or name == "MNEMIC_HOME" else value)
    with Memory() as memory:
        memory.scope(user="me").observe("I live in Lisbon.")
    assert "Lisbon" in listed()


def test_an_awaited_memory_opens_that_store_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMIC_HOME", str(home / "elsewhere"))

    async def main() -> None:
        async with AsyncMemory() as memory:
            await memory.scope(user="me").observe("I live in Lisbon.")

    asyncio.run(main())
    assert "Lisbon" in listed()


def test_a_path_or_settings_leave_the_environment_out(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMIC_K", "3")
    monkeypatch.setenv("MNEMIC_HOME", str(home / "elsewhere"))
    with Memory() as memory:
        assert memory.settings.k == 3
    with Memory(home / "mine.db", embedder="none") as memory:
        assert memory.settings.k == 10
    with Memory(settings=Settings(home=home / "third", k=7, embedder="none")) as memory:
        assert memory.settings.k == 7
    assert (home / "mine.db").exists()
    assert (home / "third" / "memory.db").exists()


def test_what_is_wrong_in_the_environment_is_said_by_a_program_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMIC_EMBEDER", "none")
    with pytest.raises(Invalid, match=r"MNEMIC_EMBEDER: is not a setting\. Did you mean MNEMIC_EMBEDDER\?"):
        Memory()


@pytest.mark.parametrize("zone", ["Mars/Base", "../etc/passwd", "\x00", "Europe/Lisbon\ud800"])
def test_a_time_zone_that_is_none_is_refused_when_settings_are_made(zone: str) -> None:
    with pytest.raises(Invalid, match=r"^timezone: .* is no time zone known here\. Use an IANA name"):
        Settings(timezone=zone)
    with pytest.raises(Invalid, match=r"^MNEMIC_TIMEZONE: .* is no time zone known here\. Use an IANA name"):
        Settings.from_env({"MNEMIC_TIMEZONE": zone})


def test_a_time_zone_that_is_one_is_taken() -> None:
    assert Settings.from_env({"MNEMIC_TIMEZONE": "Europe/Lisbon"}).timezone == "Europe/Lisbon"


@pytest.mark.parametrize(
    ("name", "value"),
    [("k", "ten"), ("k", 2.5), ("k", True), ("tenant", 7), ("background", 1), ("busy_timeout", "1"), ("home", 3),
     ("busy_timeout", float("nan")), ("model", None)],
)  # fmt: skip
def test_a_setting_of_another_type_is_refused_when_settings_are_made(name: str, value: object) -> None:
    with pytest.raises(Invalid, match=f"^{name}: "):
        Settings(**{name: value})  # type: ignore[arg-type]


def test_a_folder_may_be_named_by_its_words(tmp_path: Path) -> None:
    assert Settings(home=str(tmp_path)).where == str(tmp_path / "memory.db")  # type: ignore[arg-type]

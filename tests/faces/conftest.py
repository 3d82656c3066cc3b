"""A command line in a home of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from commandline import Ran, Run

from mnemic.faces.cli import cli


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder for the store, and a folder to work in, both empty."""
    for name in [name for name in os.environ if name.startswith("MNEMIC_") or name == "NO_COLOR"]:
        monkeypatch.delenv(name)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "XDG_CONFIG_HOME", "APPDATA", "OPENCODE_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MNEMIC_HOME", str(tmp_path / "home"))
    desk = tmp_path / "desk"
    desk.mkdir()
    monkeypatch.chdir(desk)
    return tmp_path / "home"


@pytest.fixture
def person(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of a person whose programs are nowhere else."""
    folder = home.parent / "person"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("MNEMIC_EMBEDDER", "none")
    return folder


@pytest.fixture
def run(home: Path) -> Run:
    """Run the command line in this process; a code that was not expected fails the test."""

    def call(*args: str, code: int = 0, stdin: str | bytes | None = None, **env: str) -> Ran:
        result = CliRunner().invoke(cli, list(args), input=stdin, env=env or None)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, f"{args}: {result.exit_code}\n{result.stdout}\n{result.stderr}"
        return Ran(result.exit_code, result.stdout, result.stderr)

    return call


@pytest.fixture
def add(run: Run) -> Callable[..., str]:
    """Remember something and return its id."""

    def call(text: str, *options: str) -> str:
        return str(run("add", text, "--json", *options).json["ids"][0])

    return call


@pytest.fixture
def fact(run: Run) -> Callable[..., str]:
    """Write a fact and return its id."""

    def call(text: str, *options: str) -> str:
        return str(run("fact", text, "--json", *options).json["ids"][0])

    return call

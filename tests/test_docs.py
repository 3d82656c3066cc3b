"""Documents that cannot rot: every command and every line of Python in the front door is run."""

from __future__ import annotations

import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from mnemic.faces.cli import cli
from patience import PATIENCE

ROOT = Path(__file__).resolve().parent.parent
DOORS = ("README.md", "README.zh.md")


def blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / name).read_text(), re.DOTALL | re.MULTILINE)


def commands(name: str) -> list[str]:
    return [
        line.removeprefix("$ ")
        for block in blocks(name, "console")
        for line in block.splitlines()
        if line.startswith("$ mnemic")
    ]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, where we are."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MNEMIC_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.heavy
@pytest.mark.model
@pytest.mark.parametrize("name", DOORS)
def test_every_command_of_the_tour_runs(name: str, home: Path) -> None:
    (home / "notes.md").write_text("# Garden\n\nThe tomatoes went in on 3 May.\n")
    assert len(commands(name)) >= 8
    for command in commands(name):
        result = CliRunner().invoke(cli, shlex.split(command, comments=True)[1:])
        assert result.exit_code == 0, f"{command}\n{result.output}{result.exception!r}"


@pytest.mark.heavy
@pytest.mark.model
@pytest.mark.parametrize("name", DOORS)
def test_every_block_of_python_runs(name: str, home: Path) -> None:
    assert blocks(name, "python")
    for block in blocks(name, "python"):
        done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, f"{block}\n{done.stderr}"


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["docs/a-persons-data.md", "docs/coming-from.md"])
def test_what_a_page_shows_runs(name: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMIC_EMBEDDER", "none")
    entity = '{"type":"entity","name":"Ada","entityType":"person","observations":["lives in Lisbon"]}\n'
    (home / "memory.jsonl").write_text(entity)
    for user in ("bob", "zoe"):
        CliRunner().invoke(cli, ["add", "Zoe likes tea.", "--user", user])
    for command in commands(name):
        result = CliRunner().invoke(cli, shlex.split(command, comments=True)[1:])
        assert result.exit_code == 0, f"{command}\n{result.output}{result.exception!r}"
    for block in blocks(name, "python"):
        done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, f"{block}\n{done.stderr}"


LINKED = [
    "README.md",
    "README.zh.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "docs/decisions/README.md",
    *(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md"))),
]


@pytest.mark.parametrize("name", LINKED)
def test_every_relative_link_leads_somewhere(name: str) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", (ROOT / name).read_text())
    assert [link for link in links if not ((ROOT / name).parent / link).exists()] == []


def test_the_api_reference_is_current() -> None:
    page = api_reference()
    assert (ROOT / "docs" / "api.md").read_text() == page, "run scripts/api_reference.py"
    for verb in ("ScopedMemory.recall", "ScopedMemory.undo_range", "Session.observe", "Admin.reindex"):
        assert f"#### {verb}\n" in page


def api_reference() -> str:
    spec = importlib.util.spec_from_file_location("api_reference", ROOT / "scripts" / "api_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return str(module.page())


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    linked = set(re.findall(r"\]\(([^)#]+)", index))
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"}
    folders = {"guides/README.md", "decisions/README.md"}
    assert pages | folders <= linked


def test_both_languages_show_the_same_commands() -> None:
    assert [shlex.split(c)[1] for c in commands(DOORS[0])] == [shlex.split(c)[1] for c in commands(DOORS[1])]


def test_no_document_holds_two_versions_of_itself() -> None:
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    assert [path.name for path in documents if re.search(r"^(<<<<<<<|>>>>>>>) ", path.read_text(), re.MULTILINE)] == []

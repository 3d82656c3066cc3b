"""`install`, `uninstall` and `clients`: what would change is shown, asked for, and written in one step a file."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import click

from mnemic.errors import Invalid, MnemicError, Refused
from mnemic.faces.cli.command import WORDS, verb
from mnemic.faces.cli.invocation import Invocation, invocation
from mnemic.faces.cli.output import Output, many, plain
from mnemic.faces.installing import config_files
from mnemic.faces.installing.change_diff import diff
from mnemic.faces.installing.clients import CLIENTS, Client, Machine, is_used, named
from mnemic.faces.installing.install_plan import Plan, PlannedChange, Wish, installed, snippet, to_install, to_uninstall
from mnemic.faces.installing.install_record import Record, Trace, load
from mnemic.faces.installing.own_entries import Launch, program
from mnemic.registry import TOOLS
from mnemic.settings import Settings

RECORD: Final = "installed.json"
"""In the home folder: what uninstalling has to know."""
_NAMES: Final = ", ".join(CLIENTS)


def _shared_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("-y", "--yes", is_flag=True, help="Do not ask."),
        click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing."),
        click.option("--project", is_flag=True, help="In the settings of the project in this folder."),
        click.option("--name", type=WORDS, default="mnemic", show_default=True, help="The entry's name."),
    ):
        function = option(function)
    return function


@verb(
    "mnemic install claude-code --project --dry-run",
    "mnemic install claude-code --project --yes",
    "mnemic install cursor --project --user ada --no-hooks --yes",
    "mnemic install codex --project --store ~/work.db --name work --yes",
)
@click.argument("client", type=WORDS)
@_shared_options
@click.option("--no-hooks", is_flag=True, help="Only the MCP server: no recall at start, nothing written at the end.")
@click.option("--profile", type=click.Choice(tuple(TOOLS)), help="Which tools the server offers, as for `mnemic mcp`.")
@click.option("--read-only", is_flag=True, help="Only the tools that change nothing, and no hooks.")
@click.option("--force", is_flag=True, help="Also over another's entry of this name, or hooks to another memory.")
def install(
    client: str,
    name: str,
    project: bool,
    no_hooks: bool,
    profile: str | None,
    read_only: bool,
    force: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    """Give an agent or editor this memory: its MCP server, and hooks where it has them.

    CLIENT is one of the names that `mnemic clients` lists, or `all` for every one found on this machine. The hooks
    recall when a session starts and when you ask, and write down what was said; what tools returned is not stored.
    Everything else in the client's files stays as it is, to the byte; running it again changes nothing.
    """
    run = invocation()
    if run.options.session is not None:
        raise Invalid("session", "means nothing here: the client names its sessions", "Leave it out.")
    if run.options.branch is not None:
        raise Invalid("branch", "means nothing here: a client is given the memory itself", "Leave it out.")
    if not dry_run:
        _check_served()
    serve = (*(() if profile is None else ("--profile", profile)), *(("--read-only",) if read_only else ()))
    launch = Launch(program(), _scope(run), serve)
    wish = Wish(launch=launch, name=name, project=project, hooks=not (no_hooks or read_only), force=force)
    _carry_out(_Job(run, wish, "install", dry_run=dry_run, yes=yes), client)


def _check_served() -> None:
    """Hold that what the client would start can start.

    Raises:
        Invalid: the SDK of the protocol is not installed here.
    """
    if importlib.util.find_spec("mcp") is None:
        raise Invalid(
            "mcp", "is not installed, so the server could not start", 'Run `pip install "mnemic[mcp]"` first.'
        )


@verb(
    "mnemic uninstall claude-code --project --dry-run",
    "mnemic uninstall claude-code --project --yes",
)
@click.argument("client", type=WORDS)
@_shared_options
def uninstall(client: str, name: str, project: bool, dry_run: bool, yes: bool) -> None:
    """Take this memory out of an agent or editor again; nothing that was remembered is lost.

    Entries and hooks are known by their command. Where nothing else has changed since, the files are as they were
    before, to the byte.
    """
    run = invocation()
    wish = Wish(launch=Launch(program()), name=name, project=project)
    _carry_out(_Job(run, wish, "uninstall", dry_run=dry_run, yes=yes), client)


@verb("mnemic clients", "mnemic clients --json")
def clients() -> None:
    """List the agents and editors that `install` knows, and which of them are here."""
    run = invocation()
    on = _machine()
    rows = [(client, is_used(client, on), *_state(client, on)) for client in CLIENTS.values()]
    if run.output.json:
        run.output.document({"clients": [_client_record(on, *row) for row in rows]})
        return
    table_rows = (
        (client.name, "yes" if here else "-", state, "yes" if client.hooks else "-", plain(str(client.path(on))))
        for client, here, state, _ in rows
    )
    run.output.table(table_rows, head=("client", "found", "installed", "hooks", "file"))


def _state(client: Client, on: Machine) -> tuple[str, str | None]:
    try:
        return ("yes" if installed(client, on, "mnemic") else "-"), None
    except MnemicError as error:
        return "?", str(error)


def _client_record(on: Machine, client: Client, used: bool, state: str, problem: str | None) -> dict[str, Any]:
    return {
        "client": client.name,
        "title": client.title,
        "found": used,
        "installed": {"yes": True, "-": False}.get(state),
        "hooks": client.hooks is not None,
        "project": client.project is not None,
        "path": str(client.path(on)),
        "problem": problem,
    }


@dataclass(frozen=True, slots=True)
class _Job:
    """One run of `install` or `uninstall`."""

    run: Invocation
    wish: Wish
    verb: str
    dry_run: bool
    yes: bool


def _carry_out(job: _Job, name: str) -> None:
    """Plan for every client, show, ask, write; a client that cannot be served keeps no other from being so.

    Raises:
        MnemicError: what kept the first client that could not be served.
    """
    on = _machine()
    record = load(job.run.settings.home / RECORD)
    chosen = list(CLIENTS.values()) if name == "all" and job.verb == "uninstall" else named(name, on)
    if job.wish.project and name == "all":
        chosen = [client for client in chosen if client.project is not None]
    plans, failed = _plans(job, chosen, on, record)
    output = job.run.output
    if not output.json:
        for plan in plans:
            _show(output, plan, job.verb)
    wanted = [plan for plan in plans if plan.changed]
    count = sum(change.changed for plan in wanted for change in plan.changes)
    agreed = not job.dry_run and (not wanted or job.run.confirm(f"Write {many(count, 'file')}?", yes=job.yes))
    if agreed:
        _write(wanted, record, project=job.wish.project)
    if output.json:
        output.document({"dry_run": job.dry_run, "clients": [_plan_record(job, plan, agreed) for plan in plans]})
    elif wanted:
        _tell_end(job, wanted, agreed)
    if failed:
        raise failed[0]


def _plans(job: _Job, clients: Sequence[Client], on: Machine, record: Record) -> tuple[list[Plan], list[MnemicError]]:
    plan, plans, failed = (to_install if job.verb == "install" else to_uninstall), [], []
    for client in clients:
        try:
            plans.append(plan(client, on, job.wish, record))
        except MnemicError as error:
            failed.append(error)
            if job.verb == "install" and isinstance(error, Invalid | Refused):
                job.run.output.note(f"To paste into {client.title} by hand:\n{snippet(client, job.wish)}")
            if len(clients) > 1 and len(failed) > 1:
                job.run.output.note(f"error: {plain(str(error))}")
    return plans, failed


def _write(plans: Sequence[Plan], record: Record, *, project: bool) -> None:
    """Write every file; the record goes first, so that whatever is written can be taken back."""
    changes = [change for plan in plans for change in plan.changes if change.changed]
    traces = {change.file.path: _traced(change) for change in changes}
    record.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    record.keeping(traces).save()
    for change in changes:
        if change.after is None:
            config_files.remove(change.file)
            _remove_folders(change.trace.folders)
        else:
            config_files.write(change.file, change.after, mode=0o644 if project else 0o600)
    record.keeping({change.file.path: traces[change.file.path] if change.ours else None for change in changes}).save()


def _traced(change: PlannedChange) -> Trace:
    missing = tuple(str(parent) for parent in change.file.path.parents if not parent.exists())
    return replace(change.trace, folders=change.trace.folders or missing)


def _remove_folders(folders: Sequence[str]) -> None:
    """Take away folders that we made, as far as nothing else has come into them."""
    with suppress(OSError):
        for folder in folders:
            os.rmdir(folder)


# What is told


def _show(output: Output, plan: Plan, verb: str) -> None:
    if not plan.changed:
        done = "already installed" if verb == "install" else "not installed"
        output.line(f"{plan.client.title}: {done} ({plain(str(plan.changes[0].display_path))})")
    for line in plan.left:
        output.note(plain(line))
    for change in plan.changes:
        if change.changed:
            for line in diff(change, comments=plan.client.comments):
                output.line(_inked(output, plain(line)))


def _inked(output: Output, line: str) -> str:
    if line.startswith(("---", "+++")):
        return output.bold(line)
    color = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
    return output.ink(line, fg=color) if color else line


def _tell_end(job: _Job, plans: Sequence[Plan], agreed: bool) -> None:
    output = job.run.output
    if not agreed:
        output.note("nothing was written")
        return
    for plan in plans:
        then = plan.client.next_step if job.verb == "install" else "Restart it, if it is running."
        output.line(f"{plan.client.title}: {job.verb}ed. {then}")
    if job.wish.project and job.verb == "install":
        output.note("these files hold paths of this machine; mind that before you share them")


def _plan_record(job: _Job, plan: Plan, agreed: bool) -> dict[str, Any]:
    return {
        "client": plan.client.name,
        "changed": plan.changed and agreed,
        "would_change": plan.changed,
        "entry": plan.client.entry(job.wish.launch) if job.verb == "install" else None,
        "left": list(plan.left),
        "files": [
            {
                "path": str(change.display_path),
                "changed": change.changed and agreed,
                "removed": change.after is None,
                "diff": "\n".join(diff(change, comments=plan.client.comments)),
            }
            for change in plan.changes
        ],
    }


# Whose memory


def _machine() -> Machine:
    return Machine(environ=os.environ, home=Path.home(), project_folder=Path.cwd())


def _scope(run: Invocation) -> tuple[str, ...]:
    """Options for what was asked for or is set here: a client starts us without this shell's environment."""
    run.scope()
    usual = Settings()
    given = (
        ("--store", _store(run), run.where != usual.where),
        ("--user", run.user, run.user != usual.user),
        ("--tenant", run.tenant, run.tenant != usual.tenant),
        ("--agent", run.options.agent or "", run.options.agent is not None),
    )
    return tuple(word for option, value, wanted in given if wanted for word in (option, value))


def _store(run: Invocation) -> str:
    """The store as it is found from any folder."""
    return run.where if run.path is None else str(run.path)

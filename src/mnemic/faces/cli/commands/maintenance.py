"""`stats`, `verify`, `seal`, `migrate`, `doctor`, `settings`, `completion`: is it sound, how big, and how set."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import itertools
import os
import shlex
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from mnemic.core.listing import LISTED
from mnemic.core.prices import price_of, read_prices
from mnemic.errors import Invalid, ModelError, NotFound, StoreCorrupt
from mnemic.faces.cli.command import WORDS, page_options, verb
from mnemic.faces.cli.commands.spending_table import show_spending
from mnemic.faces.cli.commands.top import prompt_line
from mnemic.faces.cli.commands.worker import lane_row
from mnemic.faces.cli.invocation import Invocation, invocation, naming_option
from mnemic.faces.cli.output import flat, many, size
from mnemic.operations.store_records import lane_record, stats_record
from mnemic.operations.vitals_records import vitals_record
from mnemic.settings import PREFIX, Settings
from mnemic.store.urls import shown

if TYPE_CHECKING:
    from mnemic.store.values.heads import Check

FAULTS: Final = 6
"""The exit code of a store in which something is wrong."""


@verb("mnemic stats", "mnemic stats --limit 50 --json", "mnemic stats --models")
@page_options(LISTED)
@click.option("--models", is_flag=True, help="What language models took: calls, tokens, and money by setting `prices`.")
def stats(limit: int, after: str | None, *, models: bool) -> None:
    """How much is remembered, and how big it is.

    The users come in pages, by installation and in the order in which they first wrote.
    """
    run = invocation()
    if models:
        show_spending(run)
        return
    with run.memory() as memory:
        statistics, behind = memory.admin.stats(limit=1), memory.admin.behind()
        users = memory.admin.users(limit=limit, after=after)
        mine = next(iter(memory.admin.users(user=run.user, tenant=run.tenant)), None)
    if run.output.json:
        lanes = [lane_record(lane) for lane in behind]
        record = {**vitals_record(statistics.vitals), **stats_record(statistics, users), "lanes": lanes}
        run.output.document({"user": run.user, "tenant": run.tenant, **record})
        return
    run.output.table(
        [
            ("store", flat(statistics.url)),
            ("size", size(statistics.bytes)),
            *([("computed", f"{size(statistics.artefact_bytes)} beside it")] if statistics.artefact_bytes else []),
            ("format", str(statistics.format)),
            ("user", f"{flat(run.user)} (tenant {flat(run.tenant)}): {many(mine.items if mine else 0, 'item')}"),
            ("in all", f"{many(statistics.items, 'item')} of {many(statistics.user_count, 'user')}"),
            *([("prompts", prompt_line(statistics.vitals))] if statistics.vitals.gauge("kv.prompts") else []),
            *(lane_row(lane) for lane in behind),
        ]
    )
    if statistics.user_count > 1:
        run.output.line()
        rows = [(flat(u.tenant), flat(u.user or "(shared)"), f"{u.items:,}", f"{u.commits:,}") for u in users]
        run.output.table(rows, head=("tenant", "user", "items", "last commit"))
        run.output.more(users.next)


@verb("mnemic verify", "mnemic verify --json")
def verify() -> None:
    """Check everything in the store against everything else.

    Hash chain, digests, versions, links and index. Exit code 6 if something is wrong.
    """
    run = invocation()
    settled: bool | None = None
    items: int | None = None
    try:
        with run.memory() as memory:
            settled = memory.admin.settle()
            faults = list(memory.admin.verify())
            items = memory.admin.stats().items
    except StoreCorrupt:
        if run.path is None:
            raise
        from mnemic.admin import faults_of

        faults = faults_of(run.path, run.settings)
    took = run.seconds
    if run.output.json:
        record = {"sound": not faults, "settled": settled, "items": items, "seconds": round(took, 3)}
        run.output.document({**record, "faults": [{"where": f.where, "problem": f.problem} for f in faults]})
    else:
        for fault in faults:
            run.output.line(f"{run.output.ink('wrong', fg='red')}  {flat(fault.where)}: {flat(fault.problem)}")
        verdict = many(len(faults), "fault") if faults else run.output.ink("sound", fg="green")
        what = "a store that no command opens" if items is None else many(items, "item")
        run.output.line(f"{verdict}: {what} checked in {took:.2f} s")
        if settled is False:
            run.output.line(
                "an erasure is still pending: another process reads an old copy, or a checkpoint could not be reached"
            )
    if faults:
        click.get_current_context().exit(FAULTS)


@verb(
    "mnemic seal --key-file memory.key",
    "mnemic seal --key-command 'cat memory.key' --json",
    "MNEMIC_SEAL=memory.key mnemic seal",
)
@click.option("--key-file", type=WORDS, metavar="FILE", help="The file with the key, 16 bytes or more.")
@click.option("--key-command", type=WORDS, metavar="COMMAND", help="What prints it: a keyring, a token.")
def seal(key_file: str | None, key_command: str | None) -> None:
    """Seal the store with a key, without which nobody writes to it unseen.

    MNEMIC_SEAL names the key from then on, and may do so here. It is not kept in the store. A store that is not sound
    is not sealed; one that is made with MNEMIC_SEAL is sealed at once.
    """
    from mnemic import admin

    run = invocation()
    if key_file and key_command:
        raise Invalid("key-command", "stands beside --key-file", "Give one of them.")
    if run.path is None:
        raise Invalid("store", f"{run.shown_where} is not a file", "Seal a file: --store PATH.")
    if not run.exists:
        raise NotFound(f"there is no store at {run.path}; one that is made with MNEMIC_SEAL is sealed at once")
    given = str(Path(key_file).expanduser().absolute()) if key_file else f"!{key_command}" if key_command else ""
    key = given or run.settings.seal
    with naming_option("key-command" if key_command else "key-file") if given or not key else nullcontext():
        admin.seal(run.path, dataclasses.replace(run.settings, seal=key))
    run.output.answer(
        {"store": str(run.path), "seal": key},
        f"sealed {run.path}",
        f"whoever writes to it from now on needs the key: MNEMIC_SEAL={shlex.quote(key)}",
    )


@verb("mnemic migrate", "mnemic migrate --json")
def migrate() -> None:
    """Bring the store to this version's format; in an empty database, make it.

    Whatever opens a store does it too; run it by itself before a new version serves a store that is large, when nothing
    older uses it any more. Cut short, the next run does what is left; a store that is up to date is left as it is.
    """
    run = invocation()
    with run.memory() as memory:
        info = memory.admin.info()
    took, before = run.seconds, info.format_before
    record = {"store": run.shown_where, "engine": info.engine, "format": info.format, "format_before": before or None}
    if before == info.format:
        done = f"{run.shown_where} is of format {before}, up to date"
    elif before:
        done = f"brought {run.shown_where} from format {before} to {info.format}"
    else:
        done = f"made the tables of a memory in {run.shown_where}, of format {info.format}"
    run.output.answer({**record, "seconds": round(took, 3)}, done)


@verb("mnemic doctor --offline", "mnemic doctor --offline --json")
@click.option("--offline", is_flag=True, help="Ask no language model.")
@click.option(
    "--seconds", type=click.FloatRange(0.1), default=20.0, show_default=True, help="Longest to wait for a model."
)
def doctor(offline: bool, seconds: float) -> None:
    """Look at what the store stands on: engine, disk, settings, language model.

    A language model that is set is asked one question of a few words, and what that cost is said. Exit code 6 if
    something is wrong.
    """
    from mnemic.store.values.heads import Check

    run = invocation()
    wrong = run.only_what_can_be_read()
    checks = [*_checks(run), *_model_checks(run, 0.0 if offline else seconds)]
    checks += [Check(name=each.field, ok=False, found=each.problem, remedy=each.remedy) for each in wrong]
    if run.output.json:
        record = {
            "store": run.shown_where,
            "exists": run.exists,
            "checks": [dataclasses.asdict(check) for check in checks],
        }
        run.output.document({**record, "settings": {each.name: each.value for each in _settings(run)}})
    else:
        _print_checks(run, checks)
    if not all(check.ok for check in checks):
        click.get_current_context().exit(FAULTS)


def _checks(run: Invocation) -> list[Check]:
    if not run.exists:
        return []
    with run.memory() as memory:
        return memory.admin.doctor()


def _model_checks(run: Invocation, seconds: float) -> list[Check]:
    """Check each language model that is set, in `seconds` each; with none it is opened and not asked."""
    named = {"model": run.settings.model, "small_model": run.settings.small_model}
    return [_model_check(run, name, spec, seconds) for name, spec in named.items() if spec or name == "model"]


def _model_check(run: Invocation, name: str, spec: str, seconds: float) -> Check:
    from mnemic.models.model_check import first_words
    from mnemic.models.model_opening import open_chat
    from mnemic.store.values.heads import Check

    variable = f"{PREFIX}{name.upper()}"
    try:
        chat = open_chat(spec, run.settings)
        if chat is None:
            return Check(name=name, ok=True, found="none is set: strategies go by rules")
        if not seconds or spec.startswith("recorded:"):
            why = "its answers are recorded" if seconds else "--offline"
            return Check(name=name, ok=True, found=f"{chat.name} can be opened; not asked: {why}")
        began = time.monotonic()
        reply = first_words(chat, seconds)
    except Invalid as error:
        return Check(
            name=name, ok=False, found=f"cannot be opened: {error.problem}", remedy=f"{error.remedy} ({variable})"
        )
    except ModelError as error:
        remedy = f"See to its address, key and name ({variable}), or set `none`; until then what asks it waits."
        return Check(name=name, ok=False, found=f"does not answer: {error}", remedy=remedy)
    took = f"{time.monotonic() - began:.1f} s, {reply.prompt_tokens} + {reply.answer_tokens} tokens" + (
        " (guessed)" if reply.estimated else ""
    )
    price = price_of(chat.name, read_prices(run.settings.prices))
    money = "" if price is None else f", {price.of(reply.prompt_tokens, reply.answer_tokens):.6f} {price.currency}"
    return Check(name=name, ok=True, found=f"{chat.name} answers; asking took {took}{money}")


def _print_checks(run: Invocation, checks: list[Check]) -> None:
    output = run.output
    if not run.exists:
        output.line(f"there is no store at {run.path} yet; `mnemic add` makes it")
    marks = {True: output.ink("ok   ", fg="green"), False: output.ink("wrong", fg="red")}
    output.table([(marks[c.ok], c.name, flat(c.found) + ("" if c.ok else f"  -> {flat(c.remedy)}")) for c in checks])
    output.line()
    output.table([(setting.name, flat(str(setting.value)), output.dim(setting.origin)) for setting in _settings(run)])


@verb("mnemic settings", "MNEMIC_K=5 mnemic settings --json")
def settings() -> None:
    """Every setting: its value, where from, what it means.

    Set one with MNEMIC_<NAME> in the environment.
    """
    run = invocation()
    wrong = run.only_what_can_be_read()
    rows = _settings(run)
    if run.output.json:
        record = {each.name: each.record() for each in rows}
        run.output.document({"settings": record, "store": run.shown_where, "wrong": [str(each) for each in wrong]})
    else:
        cells = [(each.name.upper(), flat(str(each.value)), each.origin, each.meaning) for each in rows]
        run.output.table(cells, head=(f"{PREFIX}...", "value", "from", "meaning"))
    for each in wrong:
        run.output.note(f"not taken: {each}")
    if wrong:
        click.get_current_context().exit(FAULTS)


@dataclasses.dataclass(frozen=True, slots=True)
class _Setting:
    """One setting as a program has it, where that came from, and what it is in a command."""

    name: str
    value: object
    came: str
    here: object
    meaning: str

    @property
    def origin(self) -> str:
        return self.came if self.here == self.value else f"{self.came}, in commands {flat(str(self.here))}"

    def record(self) -> dict[str, object]:
        return {"value": self.value, "from": self.came, "in_commands": self.here, "meaning": self.meaning}


def _settings(run: Invocation) -> list[_Setting]:
    docstrings = meanings()
    rows = []
    for field in dataclasses.fields(Settings):
        name = field.name
        came = "environment" if PREFIX + name.upper() in os.environ else "default"
        value, here = _display_value(run.program_settings, field), _display_value(run.settings, field)
        rows.append(_Setting(name, value, came, here, docstrings.get(name, "")))
    return rows


def _display_value(settings: Settings, field: dataclasses.Field[object]) -> object:
    """A setting's value as JSON has it; of a secret, which `repr` does not show either, that there is one."""
    value = shown(settings.where) if field.name == "store" else getattr(settings, field.name)
    if not field.repr and value and field.name != "store":
        return "***"
    if isinstance(value, tuple):
        return ", ".join(value)
    return str(value) if isinstance(value, Path) else value


def meanings() -> dict[str, str]:
    """Return the sentence under each field of `Settings`, which is where it is said what it means."""
    (described,) = ast.parse(inspect.getsource(Settings)).body
    body = described.body if isinstance(described, ast.ClassDef) else []
    return {
        field.target.id: docstring.value.value
        for field, docstring in itertools.pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(docstring, ast.Expr)
        and isinstance(docstring.value, ast.Constant)
        and isinstance(docstring.value.value, str)
    }


@verb(
    "mnemic completion bash",
    "mnemic completion zsh > ~/.mnemic-completion.zsh",
    "mnemic completion fish",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print what makes a shell complete commands.

    Source it from the start-up file of SHELL.
    """
    from click.shell_completion import get_completion_class

    run = invocation()
    root = click.get_current_context().find_root().command
    made = get_completion_class(shell)
    script = made(root, {}, "mnemic", "_MNEMIC_COMPLETE").source() if made is not None else ""
    run.output.answer({"shell": shell, "script": script}, script)

"""The command `mnemic`: parses, calls the library, prints; every error becomes one line and an exit code."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from mnemic import _version
from mnemic.errors import Compacted, Conflict, Invalid, MnemicError, NotFound, Refused, StoreError, UnusableModel
from mnemic.faces.cli.command import CommandGroup, MissingCommand, one_line
from mnemic.faces.cli.command_table import COMMANDS, GROUPS, SYNONYMS
from mnemic.faces.cli.invocation import INTERRUPTED, invocation
from mnemic.faces.cli.output import plain

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

OK: Final = 0
FAILED: Final = 1
USAGE: Final = 2
ABSENT: Final = 3
CONFLICT: Final = 4
STORE: Final = 5
BROKEN_PIPE: Final = 141

_EXITS: Final = (
    ("0", "done"),
    ("1", "failed for another reason"),
    ("2", "the command line, a setting or the input cannot be taken"),
    ("3", "no such item, commit, user, file or store; or a past that is gone (behind the horizon, taken back)"),
    ("4", "changed meanwhile, or refused; nothing was written"),
    ("5", "the store cannot be served (full, read-only, corrupt, foreign, newer, locked)"),
    ("6", "`verify` or `doctor` found something wrong"),
    ("7", "erased, but another process still reads an old copy (status pending)"),
    ("8", "a bench ran to its end, and missed a bar"),
    ("9", "`flush` left something that failed or was given up; a contestant of a bench did not end"),
    (str(INTERRUPTED), "interrupted; what was acknowledged is on disk"),
    ("141", "the reader of a pipe went away"),
)

_CODES: Final[tuple[tuple[type[MnemicError], int], ...]] = (
    (Invalid, USAGE),
    (NotFound, ABSENT),
    (Compacted, ABSENT),
    (Conflict, CONFLICT),
    (Refused, CONFLICT),
    (StoreError, STORE),
    (UnusableModel, USAGE),
)


class PipeLeftError(Exception):
    """The program that read our output has closed the pipe."""


class Mnemic(CommandGroup):
    """The command `mnemic` itself. It imports a command when it is named, and none to list them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return COMMANDS[cmd_name].load() if cmd_name in COMMANDS else None

    def nearest_command(self, ctx: click.Context, name: str) -> str | None:
        return SYNONYMS.get(name) or super().nearest_command(ctx, name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(command.name, command.summary) for command in commands])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        commands = [command for command in COMMANDS.values() if command.name.startswith(incomplete)]
        items = [CompletionItem(command.name, help=command.summary) for command in commands]
        return items + click.Command.shell_complete(self, ctx, incomplete)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        with formatter.section("Exit codes"):
            formatter.write_dl(list(_EXITS))

    def invoke(self, ctx: click.Context) -> Any:
        """As click does it, but a broken pipe stays ours to report."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise PipeLeftError from error

    def main(self, args: Sequence[str] | None = None, *rest: Any, **options: Any) -> NoReturn:
        """Run, and leave with an exit code; never with a traceback for what is foreseen."""
        given = list(sys.argv[1:] if args is None else args)
        options = {**options, "standalone_mode": False, "prog_name": "mnemic"}
        with _carrying_any_text(), _reported(json_wanted="--json" in given):
            code = super().main(given, *rest, **options)
            sys.stdout.flush()
            sys.exit(code if isinstance(code, int) else OK)
        raise AssertionError("every way out of `_reported` exits")


@click.group(
    name="mnemic",
    cls=Mnemic,
    invoke_without_command=True,
    examples=(
        'mnemic add "I moved from Paris to Lisbon in March."',
        'mnemic recall "when did I move?"',
        "mnemic",
    ),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--version", "version", is_flag=True, help="Show the version and exit.")
@click.pass_context
def cli(ctx: click.Context, *, version: bool) -> None:
    """Long-term memory for agents, in one file on your own disk.

    Without a command: where the data lies, how much there is, and what to type.
    """
    if version:
        invocation().output.answer({"version": _version.__version__}, f"mnemic {_version.__version__}")
        ctx.exit()
    if ctx.invoked_subcommand is None:
        from mnemic.faces.cli.welcome import welcome

        welcome(invocation())


@contextmanager
def _carrying_any_text() -> Iterator[None]:
    """Let streams of a poorer encoding spell out what they cannot carry."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    yield


@contextmanager
def _reported(*, json_wanted: bool) -> Iterator[None]:
    """Turn what goes wrong into one line on standard error, and leave with its code."""
    try:
        yield
    except (PipeLeftError, BrokenPipeError):
        _leave_pipe()
    except (click.Abort, KeyboardInterrupt) as stop:
        _report(": ".join(("interrupted", *map(str, stop.args))), None, INTERRUPTED, json_wanted)
    except click.ClickException as error:
        if isinstance(error, MissingCommand) and not json_wanted:
            _show_help(error)
        _report(_usage(error), error, error.exit_code if error.exit_code == USAGE else FAILED, json_wanted)
    except MnemicError as error:
        _report(str(error), error, code_of(error), json_wanted)
    except OSError as error:
        _drop_output()
        _report(f"{error.strerror or error}: {error.filename or 'input or output'}", error, FAILED, json_wanted)


def code_of(error: MnemicError) -> int:
    """Return the exit code of an error."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), FAILED)


def _show_help(error: MissingCommand) -> NoReturn:
    """Print the help of a group that was named without a command, and leave."""
    with suppress(OSError):
        click.echo(error.group.get_help(), err=True)
    sys.exit(USAGE)


def _usage(error: click.ClickException) -> str:
    ctx = getattr(error, "ctx", None)
    message = error.format_message()
    if ctx is not None and "unexpected extra argument" in message and _takes_a_text(ctx.command):
        message += ". Put several words between quotation marks."
    hint = f" Try `{ctx.command_path} --help`." if ctx is not None else ""
    return message + _nearest_choice(error) + hint


def _nearest_choice(error: click.ClickException) -> str:
    """What was meant by a value that is none of an option's choices."""
    choices = getattr(getattr(error, "param", None), "type", None)
    given = re.match(r"'(.*?)' is not one of", error.message)
    if not isinstance(choices, click.Choice) or given is None:
        return ""
    from difflib import get_close_matches

    near = get_close_matches(given[1].lower(), map(str, choices.choices), n=1)
    return f" Did you mean '{near[0]}'?" if near else ""


def _takes_a_text(command: click.Command) -> bool:
    return any(param.name in ("query", "question", "text") for param in command.params)


def _report(message: str, error: Exception | None, code: int, json_wanted: bool) -> NoReturn:
    if json_wanted:
        record = {
            "type": type(error).__name__ if error else "Interrupted",
            "message": one_line(message),
            "field": error.field.lstrip("-") if isinstance(error, Invalid) else None,
            "remedy": getattr(error, "remedy", None),
            "exit": code,
        }
        text = json.dumps({"error": record})
    else:
        text = f"error: {plain(one_line(message))}"
    with suppress(OSError):
        click.echo(text, err=True)
    sys.exit(code)


def _leave_pipe() -> NoReturn:
    _drop_output()
    sys.exit(BROKEN_PIPE)


def _drop_output() -> None:
    # Python flushes standard output once more on its way out; it must not stumble there.
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

"""What every command shares: the options that go anywhere on the line, and examples in the help."""

from __future__ import annotations

import difflib
import inspect
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import click

from mnemic.errors import Invalid
from mnemic.faces.cli.command_table import COMMANDS


@dataclass(slots=True)
class GlobalOptions:
    """What the options that go anywhere asked for; None and False where nothing was said."""

    store: str | None = None
    user: str | None = None
    tenant: str | None = None
    agent: str | None = None
    session: str | None = None
    branch: str | None = None
    profiler: str | None = None
    json: bool = False
    no_color: bool = False


if TYPE_CHECKING:
    _TextType = click.ParamType[str]
else:
    _TextType = click.ParamType  # not generic before click 8.5


class Words(_TextType):
    """Text from the command line, as it was typed.

    An argument that is not UTF-8 reaches Python with lone surrogates in it, which no store can keep: it is refused
    here, by the name of its parameter. So is an option with nothing in it: an empty name must not stand for another.
    """

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text, field = str(value), typed(param)
        if isinstance(param, click.Option) and not text.strip():
            raise Invalid(field, "is empty", "Give it a value, or leave the option out.")
        if "\x00" in text:
            raise Invalid(field, "holds a NUL", "This looks binary; convert it to text first.")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise Invalid(field, f"is not UTF-8 (character {error.start})", "Convert it to UTF-8 first.") from error
        return text


WORDS: Final = Words()

_EVERYWHERE_SAYS: Final = {"profile": "profiler"}
"""What the library calls a value, and the option by which it comes, for those options that go anywhere."""


def called(param: click.Parameter | None) -> str:
    """Name a parameter: an option by the word after its dashes, an argument by its name."""
    if isinstance(param, click.Option):
        return max(param.opts, key=len).lstrip("-")
    return param.name if param is not None and param.name else "text"


def typed(param: click.Parameter | None) -> str:
    """Name a parameter as a person types it: an option with its dashes."""
    return max(param.opts, key=len) if isinstance(param, click.Option) else called(param)


def _was_given(ctx: click.Context, param: click.Option) -> bool:
    global_options = ctx.find_root().ensure_object(GlobalOptions)
    return bool(param.name and getattr(global_options, param.name, None))


def _wish(ctx: click.Context, param: click.Parameter, value: object) -> None:
    global_options = ctx.find_root().ensure_object(GlobalOptions)
    if value not in (None, False) and param.name:
        setattr(global_options, param.name, value)


def everywhere() -> list[click.Parameter]:
    """Make fresh copies of the options that every command takes, before its name or after."""

    def option(*names: str, help: str, **more: Any) -> click.Option:
        return click.Option(names, help=help, expose_value=False, callback=_wish, **more)

    return [
        option("--store", type=WORDS, metavar="PATH|URL", help="The file (left out: memory.db in MNEMIC_HOME)."),
        option("--user", type=WORDS, metavar="NAME", help="Whose memory (left out: setting `user`)."),
        option("--tenant", type=WORDS, metavar="NAME", help="Of which installation (left out: setting `tenant`)."),
        option("--agent", type=WORDS, metavar="NAME", help="Shelf: any on reads, none on writes, unless named."),
        option("--session", type=WORDS, metavar="NAME", help="Shelf, likewise."),
        option("--branch", type=WORDS, metavar="NAME", help="On a branch of it, which `mnemic branch` has made."),
        option("--profiler", type=WORDS, metavar="FILE", help="Note there what each verb cost (.csv, else JSON)."),
        option("--json", is_flag=True, help="Output for programs: one JSON document, or a line each."),
        option("--no-color", is_flag=True, help="No colour (NO_COLOR does the same)."),
    ]


class Command(click.Command):
    """One command, with examples that the tests run.

    Args:
        says: What the library calls a value, and the word of the option by which it comes here.
    """

    def __init__(
        self, *args: Any, examples: Sequence[str] = (), says: Mapping[str, str] | None = None, **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self.examples = tuple(examples)
        self._says = {**_EVERYWHERE_SAYS, **(says or {})}
        self.own = tuple(self.params)
        self.params += everywhere()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; where they are too many and name another command, say so."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            if error.message.startswith("Got unexpected extra argument") and given[0] in COMMANDS:
                meant = f"{given[0]!r} is a command of its own, `mnemic {shlex.join(given)}`."
                raise click.UsageError(meant, ctx) from error
            raise

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; name the option in an error about the value that it brought."""
        try:
            return super().invoke(ctx)
        except Invalid as error:
            option = self._option(ctx, self._says.get(error.field, error.field))
            if option is None or error.field.startswith("-"):
                raise
            raise type(error)(option, error.problem, error.remedy) from error

    def _option(self, ctx: click.Context, word: str) -> str | None:
        """Find the option called `word` as it is typed: one of this command's, or a global one that was given."""
        for param in self.params:
            if isinstance(param, click.Option) and called(param) == word:
                return typed(param) if param in self.own or _was_given(ctx, param) else None
        return None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_options(self, self.own, ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(self.examples, formatter)
        super().format_epilog(ctx, formatter)


class MissingCommand(click.UsageError):
    """A group was named, and nothing of it."""

    def __init__(self, group: click.Context) -> None:
        super().__init__("Missing command.", group)
        self.group = group


class CommandGroup(Command, click.Group):
    """A command with commands under it."""

    command_class = Command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            raise MissingCommand(ctx)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first argument names; of one that is not there, name the nearest."""
        name = args[0]
        if not (ctx.resilient_parsing or name.startswith("-")) and self.get_command(ctx, name) is None:
            near = self.nearest_command(ctx, name)
            hint = f" Did you mean {near!r}?" if near else ""
            raise click.UsageError(f"No such command {name!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def nearest_command(self, ctx: click.Context, name: str) -> str | None:
        """The command that was likely meant by the name of none, by its letters."""
        return next(iter(difflib.get_close_matches(name, self.list_commands(ctx), n=1)), None)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_options(self, self.own, ctx, formatter)
        self.format_commands(ctx, formatter)


def write_options(
    command: click.Command, own: Sequence[click.Parameter], ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    """Write the help of options: the command's own first, then those that go anywhere."""
    params = command.get_params(ctx)
    own_first = [p for p in params if p in own or "--help" in p.opts]
    for title, group in (("Options", own_first), ("Everywhere", [p for p in params if p not in own_first])):
        rows = [record for p in group if (record := p.get_help_record(ctx)) and record[1]]
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)


def write_examples(examples: Sequence[str], formatter: click.HelpFormatter) -> None:
    """Write the examples, each on a line of its own, never wrapped."""
    if examples:
        with formatter.section("Examples"):
            for example in examples:
                formatter.write(f"  {example}\n")


def verb(*examples: str, name: str | None = None, **options: Any) -> Callable[[Callable[..., Any]], Command]:
    """Make a function a command; its docstring is the help."""

    def decorate(function: Callable[..., Any]) -> Command:
        called = name or function.__name__.replace("_", "-")
        return click.command(called, cls=Command, examples=examples, **options)(function)

    return decorate


def page_options(default: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add `--limit` and `--after`, of a listing that comes in pages."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        after = click.option("--after", type=WORDS, metavar="CURSOR", help="Go on from where a page ended.")
        limit = click.option("-n", "--limit", type=int, default=default, show_default=True, help="Most on a page.")
        return limit(after(function))

    return decorate


def past_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--as-of`, `--valid-at` and `--at`."""
    for name, metavar, text in (
        ("--at", "SEQ|WHEN", "The journal's past: as it stood after a commit, or at a recorded moment."),
        ("--valid-at", "WHEN", "What we now believe held then."),
        ("--as-of", "WHEN", "What was known then: a date is the end of that day; words such as 'last March' do."),
    ):
        function = click.option(name, type=WORDS, metavar=metavar, help=text)(function)
    return function


def one_line(text: str) -> str:
    """Join the lines of `text`, as an error line wants it."""
    return " ".join(inspect.cleandoc(text).split())

"""One run of the command line: whose memory, in which store, written how."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from mnemic.core.checking import clean_text
from mnemic.core.listing import all_of
from mnemic.core.scope import Scope
from mnemic.errors import Invalid, ModelError, NotFound, StoreError
from mnemic.faces.cli.command import GlobalOptions
from mnemic.faces.cli.output import Output, plain
from mnemic.settings import PREFIX, Settings
from mnemic.store.urls import path_of, shown

if TYPE_CHECKING:
    from mnemic.memory import Memory, ScopedMemory

INTERRUPTED: Final = 130
"""The exit code of what was interrupted."""

CATCH_UP_SECONDS: Final = 1.0
"""Longest that a question waits for the vectors of what was written before it; the rest is for `mnemic flush`."""


class Invocation:
    """What the options asked for, joined with the settings. Nothing is opened before it is used."""

    def __init__(self, options: GlobalOptions) -> None:
        self.options = options
        self._began = time.perf_counter()

    @property
    def seconds(self) -> float:
        """How long it has taken since the store was opened; a person's time to answer is not counted."""
        return time.perf_counter() - self._began

    @cached_property
    def program_settings(self) -> Settings:
        """Settings from the environment, as a program has them."""
        return Settings.from_environment()

    def only_what_can_be_read(self) -> list[Invalid]:
        """Go on without the settings that cannot be taken, as what looks for faults must; return what is wrong."""
        self.program_settings, wrong = Settings.readable(os.environ)
        return wrong

    @cached_property
    def settings(self) -> Settings:
        """The same as a command has them: nothing goes on behind one that is about to end."""
        settings = replace(self.program_settings, background=False)
        return settings if self.options.profiler is None else replace(settings, profiler=self.options.profiler)

    @cached_property
    def output(self) -> Output:
        """The output, in colour if that is wanted and seen."""
        return Output(json=self.options.json, color=not self.options.json and _colourful(self.options))

    @property
    def user(self) -> str:
        """Whose memory is meant."""
        return self.settings.user if self.options.user is None else self.options.user

    @property
    def tenant(self) -> str:
        """Of which installation."""
        return self.settings.tenant if self.options.tenant is None else self.options.tenant

    @property
    def where(self) -> str:
        """The store, as a path or URL."""
        return self.settings.where if self.options.store is None else self.options.store

    @property
    def shown_where(self) -> str:
        """The store, as it may be shown: a URL without its password."""
        return shown(self.where)

    @property
    def path(self) -> Path | None:
        """The store's file, or None for a store that is not one."""
        return path_of(self.where)

    @property
    def exists(self) -> bool:
        """Whether anything has been written there yet."""
        return self.path is None or self.path.exists()

    @contextmanager
    def memory(self, *, create: bool = False) -> Iterator[Memory]:
        """Open the store; only a write of something new makes one.

        Raises:
            NotFound: there is none, and none is to be made; or it has no branch of the name that was given.
        """
        if not self.exists and not create:
            raise NotFound(
                f"nothing has been remembered yet: there is no store at {self.path}. `mnemic add` and `mnemic import` "
                "make it; --store names another"
            )
        self.scope()  # a name is refused before anything is made for it
        from mnemic.memory import Memory

        fresh = not self.exists
        if fresh:
            self._check_branch(())  # before a store is made for nothing
        with Memory(self.where, settings=self.settings) as memory:
            if self.options.branch:
                mine = memory.scope(user=self.user, tenant=self.tenant)
                self._check_branch([branch.name for branch in all_of(mine.branches)])
            self._began = time.perf_counter()
            yield memory
        if fresh:
            self.output.note(f"made a new store, which only you can read: {self.path}")

    def _check_branch(self, names: Sequence[str]) -> None:
        """Refuse a branch that is not among `names`, also for a command that looks at the whole store."""
        if self.options.branch and self.options.branch not in names:
            raise NotFound(f"no branch {self.options.branch!r} here; `mnemic branches` lists them")

    @contextmanager
    def caught_up_memory(self) -> Iterator[ScopedMemory]:
        """Open this user's memory, and give what was written last a moment to be understood."""
        with self.memory() as memory:
            with suppress(ModelError, StoreError):  # words answer all the same
                memory.flush(seconds=CATCH_UP_SECONDS)
            yield self.scoped(memory)

    def scope(self, user: str | None = None) -> Scope:
        """Make the scope that is written to.

        Raises:
            Invalid: a name cannot name anything.
        """
        owner = self.user if user is None else user
        return Scope(user=owner, tenant=self.tenant, agent=self.options.agent, session=self.options.session)

    @contextmanager
    def user_memory(self, *, create: bool = False, shelved: bool = True) -> Iterator[ScopedMemory]:
        """Open this user's memory, on the shelves that were named if `shelved`."""
        with self.memory(create=create) as memory:
            yield self.scoped(memory, shelved=shelved)

    def scoped(self, memory: Memory, user: str | None = None, *, shelved: bool = True) -> ScopedMemory:
        """Make the handle on this user's part of an open store."""
        me = memory.scope(
            user=self.user if user is None else user,
            tenant=self.tenant,
            agent=self.options.agent if shelved else None,
            session=self.options.session if shelved else None,
        )
        return me.on_branch(self.options.branch or "")

    def confirm(self, question: str, *, yes: bool) -> bool:
        """Ask the person at the terminal whether they agree; where nobody can be asked, only `--yes` does.

        Raises:
            Invalid: nobody can be asked.
        """
        if yes:
            return True
        if self.output.json or not sys.stdin.isatty():
            raise Invalid("yes", "is missing, and nobody is here to ask", "Say --yes.")
        agreed = click.confirm(plain(question), err=True)
        self._began = time.perf_counter()
        return agreed


def invocation() -> Invocation:
    """Return the invocation of the command that runs now."""
    return Invocation(click.get_current_context().find_root().ensure_object(GlobalOptions))


def looking_at(me: ScopedMemory, as_of: str | None, valid_at: str | None, at: str | None) -> ScopedMemory:
    """Return `me` as of the moments that were named; digits alone name a commit.

    Raises:
        Invalid: a moment cannot be read; the option is named.
    """
    if at is not None:
        with naming_option("at"):
            me = me.at(int(at) if at.isascii() and at.isdigit() else at)
    if as_of is not None:
        with naming_option("as-of"):
            me = me.as_of(as_of)
    if valid_at is not None:
        with naming_option("valid-at"):
            me = me.valid_at(valid_at)
    return me


@contextmanager
def naming_option(option: str) -> Iterator[None]:
    """Name the option in an error about its value; an error about a zone or another setting keeps its own name."""
    try:
        yield
    except Invalid as error:
        if error.field == "timezone" or error.field.startswith(PREFIX):
            raise
        raise Invalid(option, error.problem, error.remedy) from error


def checked_words(text: str, settings: Settings) -> str:
    """Return words to keep, of an argument or of standard input for `-`, checked before a store is opened.

    Raises:
        Invalid, TooLarge: they cannot be kept.
    """
    return clean_text("text", argument_text(text, settings), settings.input_limit)


def argument_text(text: str, settings: Settings) -> str:
    """Return the words of an argument, or all of standard input for `-` without its last line break.

    Raises:
        Invalid: standard input is not text in UTF-8.
    """
    if text != "-":
        return text
    raw = sys.stdin.buffer.read(settings.input_limit + 2)
    try:
        return raw.decode("utf-8").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        if len(raw) > settings.input_limit and error.start >= len(raw) - 4:
            return raw.decode("utf-8", "ignore")  # cut in a character: over the limit, which is said further on
        raise Invalid(
            "text", f"is not UTF-8 (byte {error.start})", "Convert it first: `iconv -f ENCODING -t utf-8`."
        ) from error


def _colourful(options: GlobalOptions) -> bool:
    if options.no_color or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()

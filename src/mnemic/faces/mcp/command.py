"""`mcp`: one user's memory, served to the client that started this process."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from mnemic.errors import Invalid, NotFound
from mnemic.faces.cli.command import verb
from mnemic.faces.cli.invocation import Invocation, invocation
from mnemic.registry import TOOLS
from mnemic.settings import Settings

if TYPE_CHECKING:
    from mnemic.faces.mcp.served_memory import ServedMemory
    from mnemic.faces.mcp.stdio import Served
    from mnemic.memory import ScopedMemory


@verb(
    "mnemic mcp",
    "mnemic mcp --user ada --session work",
    "mnemic mcp --profile reference",
    "mnemic mcp --profile files --read-only",
)
@click.option(
    "--profile",
    type=click.Choice(tuple(TOOLS)),
    default="verbs",
    show_default=True,
    help="Tools: verbs of memory; those of the reference memory server; the files of Anthropic's memory tool.",
)
@click.option("--read-only", is_flag=True, help="Offer only the tools that change nothing.")
def mcp(profile: str, *, read_only: bool) -> None:
    """Serve this memory to an agent: the Model Context Protocol on standard input and output.

    A client starts it; `mnemic install` tells the client how. Whose memory it is and where it lies say the options
    or the environment, never the model. It ends when the client leaves.
    """
    _refuse_nobody()
    run = invocation()
    run.scope()  # a name that cannot be taken is refused here, where a person sees it
    settings = Settings.from_environment()
    if sys.stdin.isatty():
        run.output.note(
            "mnemic mcp speaks the Model Context Protocol on standard input and output, to a client that starts it; "
            "`mnemic install` sets a client up. Ctrl-C ends it."
        )
    with _started_quickly():
        build = _builder()
        from mnemic.faces.mcp.served_memory import ServedMemory
        from mnemic.faces.mcp.stdio import serve as serve_here

        served = ServedMemory(lambda: _opened(run, settings, read_only=read_only), profile, read_only=read_only)
        server = build(served)
    try:
        serve_here(server)
    finally:
        served.close()


def _refuse_nobody() -> None:
    """Refuse to serve where standard input or output is closed.

    Raises:
        Invalid: standard input or output is closed.
    """
    for name, stream in (("standard input", sys.stdin), ("standard output", sys.stdout)):
        if stream is None:
            raise Invalid(name, "is closed", "A client starts this with a pipe to it; `mnemic install` sets one up.")


def _builder() -> Callable[[ServedMemory], Served]:
    """Choose the server: ours where it was tested with the SDK, else the SDK's own, which starts slower."""
    from mnemic.faces.mcp import light_server as light

    if light.fits():
        light.prepare()
        return light.build
    from mnemic.faces.mcp.sdk_server import build

    return build


@contextmanager
def _opened(run: Invocation, settings: Settings, *, read_only: bool) -> Iterator[ScopedMemory]:
    """Open this user's memory; what is written is understood behind the writer, because this process stays.

    Raises:
        NotFound: there is no store, and nothing is to be written that would make one.
    """
    from mnemic.memory import Memory

    if read_only and not run.exists:
        raise NotFound("nothing has been remembered yet, and this server only reads")
    with Memory(run.where, settings=settings) as memory:
        yield run.scoped(memory)


@contextmanager
def _started_quickly() -> Iterator[None]:
    """Import without collecting garbage, of which there is none yet; and say which package is missing.

    Raises:
        Invalid: the SDK is not installed.
    """
    gc.disable()
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types", "anyio"):
            raise
        raise Invalid(
            "mcp", f"needs a package that is not installed ({error.name})", 'Run `pip install "mnemic[mcp]"`.'
        ) from error
    finally:
        gc.freeze()
        gc.enable()

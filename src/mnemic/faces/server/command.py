"""`serve`: a store, served over HTTP to programs on this machine, or to those who can prove who they are."""

from __future__ import annotations

import ipaddress

import click

from mnemic.errors import Invalid
from mnemic.faces.cli.command import WORDS, verb
from mnemic.faces.cli.invocation import invocation


@verb(
    "mnemic serve --help",
    "mnemic serve --port 8080 --read-only --help",
    "mnemic serve --host 0.0.0.0 --allow-host memory.example --workers 2 --help",
)
@click.option("--host", type=WORDS, default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=7077, show_default=True, help="0 for a free one.")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Processes that answer.")
@click.option("--allow-host", type=WORDS, multiple=True, help="A name by which it may be asked, beside its address.")
@click.option("--credentials", is_flag=True, help="Ask for a credential on this machine's own address too.")
@click.option("--read-only", is_flag=True, help="Answer only what changes nothing.")
def serve(
    host: str, port: int, workers: int, allow_host: tuple[str, ...], *, credentials: bool, read_only: bool
) -> None:
    """Serve this store over HTTP, until it is told to stop.

    On this machine's own address whoever reaches it is its owner. On another, or by another name, each request needs a
    credential, and it does not start before there is one. /openapi.json says what may be asked for.
    """
    run = invocation()
    _refuse_missing_packages()
    from mnemic.faces.server.listening import ServeOptions, listen

    options = ServeOptions(
        where=run.where,
        settings=run.program_settings,
        user=run.user,
        tenant=run.tenant,
        host=host.strip("[]"),
        port=port,
        names=allow_host,
        credentials=credentials or not all(map(is_loopback, (host, *allow_host))),
        read_only=read_only,
    )

    def ready(url: str) -> None:
        if run.output.json:
            run.output.record({"url": url, "workers": workers})
        else:
            run.output.line(f"mnemic serves on {url} (Ctrl-C ends it)")

    listen(options, workers, ready)


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _refuse_missing_packages() -> None:
    """Say which package is missing.

    Raises:
        Invalid: the extra is not installed.
    """
    try:
        import httptools  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        remedy = 'Run `pip install "mnemic[server]"`.'
        raise Invalid("serve", f"needs a package that is not installed ({error.name})", remedy) from error

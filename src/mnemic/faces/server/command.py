"""`serve` and `dashboard`: a store, served over HTTP to programs and people who may ask it."""

from __future__ import annotations

import ipaddress

import click

from mnemic.errors import Invalid
from mnemic.faces.cli.command import WORDS, verb
from mnemic.faces.cli.invocation import Invocation, invocation


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
@click.option("--dashboard", "link", is_flag=True, help="Print a link to the dashboard, which signs in once.")
def serve(
    host: str, port: int, workers: int, allow_host: tuple[str, ...], *, credentials: bool, read_only: bool, link: bool
) -> None:
    """Serve this store over HTTP, until it is told to stop.

    On this machine's own address whoever reaches it is its owner. On another, or by another name, each request needs a
    credential, and it does not start before there is one. /openapi.json says what may be asked for; / is a dashboard.
    """
    run = invocation()
    _refuse_missing_packages()
    from mnemic.faces.server.listening import ServeOptions, listen

    elsewhere = not all(map(is_loopback, (host, *allow_host)))
    proving = credentials or elsewhere
    options = ServeOptions(
        where=run.where,
        settings=run.program_settings,
        user=run.user,
        tenant=run.tenant,
        host=host.strip("[]"),
        port=port,
        names=allow_host,
        elsewhere=elsewhere,
        credentials=proving,
        read_only=read_only,
    )

    def ready(url: str) -> None:
        page = _link(run, _reached(url), proving=proving) if link else None
        if run.output.json:
            run.output.record({"url": url, "workers": workers, **({"dashboard": page} if page else {})})
            return
        run.output.line(f"mnemic serves on {url} (Ctrl-C ends it)")
        if page:
            run.output.line(page)

    listen(options, workers, ready)


@verb("mnemic dashboard --help", "mnemic dashboard --port 8080 --no-open --help")
@click.option("--port", type=click.IntRange(1, 65535), default=7077, show_default=True, help="Of this machine.")
@click.option("--no-open", is_flag=True, help="Print the link, and leave the browser alone.")
@click.option("--read-only", is_flag=True, help="Answer only what changes nothing.")
def dashboard(port: int, *, no_open: bool, read_only: bool) -> None:
    """Open the dashboard of this store in a browser.

    Where `mnemic serve` answers at the port, it prints a link to it, which signs in once, within a minute. Otherwise it
    serves there itself, on this machine's own address, until it is told to stop.
    """
    run = invocation()
    _refuse_missing_packages()
    from mnemic.faces.server.listening import ServeOptions, listen
    from mnemic.faces.server.sign_in_links import asks_for_credentials

    def show(address: str, *, proving: bool = False) -> None:
        link = _link(run, address, proving=proving)
        if run.output.json:
            run.output.record({"dashboard": link})
        else:
            run.output.line(link)
        if not no_open:
            click.launch(link)

    running = f"http://127.0.0.1:{port}"
    proving = asks_for_credentials(running)
    if proving is not None:
        show(running, proving=proving)
        return
    options = ServeOptions(
        where=run.where,
        settings=run.program_settings,
        user=run.user,
        tenant=run.tenant,
        host="127.0.0.1",
        port=port,
        read_only=read_only,
    )
    listen(options, 1, show)


def _reached(url: str) -> str:
    """The address at which this machine reaches a server that listens on every address."""
    return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")


def _link(run: Invocation, address: str, *, proving: bool) -> str:
    """The address of the dashboard; one that signs in where that is asked for."""
    from mnemic.faces.server.sign_in_links import sign_in_link

    if not proving:
        return f"{address}/"
    return sign_in_link(run.where, run.program_settings, address, tenant=run.tenant)


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

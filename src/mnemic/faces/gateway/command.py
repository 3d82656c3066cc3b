"""`gateway`: an endpoint between an application and its model that remembers for both."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

import click

from mnemic.errors import Invalid
from mnemic.faces.cli.command import WORDS, verb
from mnemic.faces.cli.invocation import invocation
from mnemic.faces.server.command import is_loopback


@verb(
    "mnemic gateway --upstream https://api.openai.com --help",
    "mnemic gateway --upstream http://127.0.0.1:11434 --port 8090 --help",
    "mnemic gateway --upstream https://api.deepseek.com --memory read --budget 400 --help",
)
@click.option("--upstream", type=WORDS, required=True, metavar="URL", help="The endpoint that answers.")
@click.option("--host", type=WORDS, default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--allow-host", type=WORDS, multiple=True, help="A name by which it may be asked, beside its address.")
@click.option("--keys", "with_keys", is_flag=True, help="Ask for an access key here too; elsewhere it always does.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8_077, show_default=True, help="0 for a free one.")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Processes that answer.")
@click.option(
    "--memory",
    "mode",
    type=click.Choice(("off", "read", "write", "both")),
    default="both",
    show_default=True,
    help="Where a request does not say (header Mnemic-Memory).",
)
@click.option(
    "--budget", type=click.IntRange(50), default=800, show_default=True, help="Most tokens of a block of memory."
)
@click.option(
    "--recall-ms",
    type=click.IntRange(0),
    default=300,
    show_default=True,
    help="Longest that a request waits for memory; then it goes on without.",
)
@click.option(
    "--user-header", "user_headers", type=WORDS, multiple=True, help="Header that names the user; may be repeated."
)
@click.option(
    "--session-header", "session_headers", type=WORDS, multiple=True, help="Header that names the conversation."
)
@click.option(
    "--task-mark",
    "task_marks",
    type=WORDS,
    multiple=True,
    metavar="TEXT",
    help="A message that begins so is the application's own, and passes without memory ('### Task:' unless given).",
)
@click.option(
    "--upstream-key-env",
    type=WORDS,
    metavar="NAME",
    help="Environment variable with the key for the upstream (left out: the request's own goes on).",
)
def gateway(
    upstream: str,
    host: str,
    allow_host: tuple[str, ...],
    port: int,
    workers: int,
    mode: str,
    budget: int,
    recall_ms: int,
    user_headers: tuple[str, ...],
    session_headers: tuple[str, ...],
    task_marks: tuple[str, ...],
    upstream_key_env: str | None,
    *,
    with_keys: bool,
) -> None:
    """Remember between any application and its model, over OpenAI's API.

    It is an endpoint in front of another: point an application's base URL at it. What memory holds on a message is put
    behind it, as data; what the user says and what the model answers is kept. The application's own key goes on to the
    upstream and is kept nowhere. What is no conversation passes as it came.

    On this machine's own address whoever reaches it is its owner. Elsewhere, or by another name, each request proves
    who asks, and it does not start before there is a key (`mnemic keys create`). A request brings it in the header
    Mnemic-Key, or as the application's own key with --upstream-key-env.
    """
    run = invocation()
    try:
        from mnemic.faces.gateway.gateway_process import GatewayProcess
        from mnemic.faces.gateway.relay import SESSION_HEADERS, TASK_MARKS, USER_HEADERS, GatewayOptions
        from mnemic.faces.gateway.remembering import MemoryMode
        from mnemic.faces.server.listening import (
            ServeOptions,
            ServerProcesses,
            address_of,
            bound_socket,
            refuse_without_credentials,
        )
    except ModuleNotFoundError as error:
        needs = f"needs a package that is not installed ({error.name})"
        raise Invalid("gateway", needs, 'Run `pip install "mnemic[server]"`.') from error
    options = GatewayOptions(
        upstream=_url(upstream), mode=MemoryMode(mode), recall_seconds=recall_ms / 1_000, budget=budget,
        user=run.user, tenant=run.tenant, upstream_key=_key(upstream_key_env),
        user_headers=user_headers or USER_HEADERS,
        session_headers=session_headers or SESSION_HEADERS, task_marks=task_marks or TASK_MARKS,
    )  # fmt: skip
    elsewhere = not all(map(is_loopback, (host, *allow_host)))
    proving = with_keys or elsewhere
    refuse_without_credentials(
        ServeOptions(
            where=run.where, settings=run.program_settings, user=run.user, tenant=run.tenant, host=host, port=port,
            names=allow_host, elsewhere=elsewhere, credentials=proving,
        ),
        asked_by="keys",
    )  # fmt: skip
    process = GatewayProcess(
        where=run.where, settings=run.program_settings, options=options, names=(host, *allow_host), proving=proving
    )
    whose = "of whoever its key names" if proving else f"of {run.user} where a request names nobody"
    with bound_socket(host, port) as bound:
        url = f"{address_of(bound)}/v1"

        def ready() -> None:
            if run.output.json:
                run.output.record({"url": url, "workers": workers})
                return
            run.output.note(f"Set your application's base URL to {url} (memory {whose}; Ctrl-C ends it)")

        if workers == 1:
            process.serve(bound, ready)
        else:
            ServerProcesses(process.serve, bound, workers).run(ready)


def _url(given: str) -> str:
    """Check the upstream's URL.

    Raises:
        Invalid: it is no URL of HTTP.
    """
    parts = urlsplit(given)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Invalid("--upstream", f"{given!r} is no URL", "Give one such as https://api.openai.com.")
    return given


def _key(variable: str | None) -> str | None:
    """Read the upstream's key from the environment.

    Raises:
        Invalid: the variable is not set.
    """
    if variable is None:
        return None
    if not (key := os.environ.get(variable, "").strip()):
        raise Invalid("--upstream-key-env", f"{variable} is not set", "Set it to the key of the upstream.")
    return key

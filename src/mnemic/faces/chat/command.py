"""The command `mnemic chat`: who talks, with which model, and the loop of turns."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, cast

import click

from mnemic.errors import MnemicError, Refused
from mnemic.faces.chat.conversation import Conversation
from mnemic.faces.chat.keyboard import at_terminal, piped, typed
from mnemic.faces.chat.slash_commands import is_command, run_command
from mnemic.faces.chat.turn_views import WIDE, TurnView, view
from mnemic.faces.cli.command import WORDS, verb
from mnemic.faces.cli.invocation import Invocation, invocation
from mnemic.faces.cli.output import Output, flat, plain
from mnemic.models.chat.base import LIMIT, CutOff
from mnemic.settings import LEAST_WINDOW, MOST_WINDOW

if TYPE_CHECKING:
    from mnemic.engine_adapters import EngineAdapters
    from mnemic.engine_memory import EngineMemory
    from mnemic.memory import ScopedMemory
    from mnemic.models.chat.base import Chat
    from mnemic.models.chat.gguf import Gguf

FAILED: Final = 1
"""The exit code where a turn failed and nobody was there to see it."""


@verb(
    "mnemic chat",
    "mnemic chat --model openai:llama3.2@http://localhost:11434/v1 --budget 800",
    'echo "When did I move to Lisbon?" | mnemic chat --json',
)
@click.option("--model", type=WORDS, metavar="NAME", help="openai:MODEL[@URL], a GGUF file, smollm2, or none.")
@click.option(
    "--budget",
    type=click.IntRange(LEAST_WINDOW, MOST_WINDOW),
    metavar="TOKENS",
    help="Of its window (left out: setting `window`).",
)
@click.option("--limit", type=click.IntRange(min=1), default=LIMIT, show_default=True, help="Most tokens of an answer.")
def chat(model: str | None, budget: int | None, limit: int) -> None:
    """Talk, and be remembered.

    Each message is answered with what memory holds on it, shown beside the answer with its reasons; then both are
    remembered. --session names the conversation, whose window of --budget tokens is what a model is given (`mnemic
    session show` shows it); recall sees all of them. Without a model (--model, or setting `model`) memory is quoted. A
    line that begins with a slash is a command: /help lists them.
    """
    run = invocation()
    from mnemic.models.model_opening import open_chat

    model_port = open_chat(run.settings.model if model is None else model, run.settings)
    named = run.options.session or f"chat-{datetime.now(UTC):%Y-%m-%d-%H%M%S}"
    output = _terminal_output(run)
    lines = typed() if at_terminal() and not output.json else piped(echo=not output.json)
    with run.memory(create=True) as memory:
        me = memory.scope(user=run.user, tenant=run.tenant, agent=run.options.agent).on_branch(run.options.branch or "")
        with me.session(named, budget=budget) as session:
            engine = _engine_memory(output, me, named, model_port)
            adapters = None if engine is None else _engine_adapters(me, model_port)
            talk = Conversation(memory, me, session, model_port, limit, engine, adapters)
            talk.understand()
            _greet(run, output, talk)
            talk.prefill_behind()
            try:
                failures = _loop(output, talk, view(output, named, model_port.name if model_port else None), lines)
            finally:
                talk.close()
    if failures and not at_terminal():
        click.get_current_context().exit(FAILED)


def _engine_memory(output: Output, me: ScopedMemory, session: str, model: Chat | None) -> EngineMemory | None:
    """What the engine of a model in this process is to keep of its prompts; None for a model that is elsewhere."""
    if not hasattr(model, "take_slot"):
        return None
    from mnemic.engine_memory import EngineMemory

    try:
        return EngineMemory(me.artefacts, session, cast("Gguf", model))
    except Refused as error:
        output.note(f"what the model computes is not kept: {error}")
        return None


def _engine_adapters(me: ScopedMemory, model: Chat | None) -> EngineAdapters:
    """What the model in this process has learnt of this person."""
    from mnemic.engine_adapters import EngineAdapters

    adapters = EngineAdapters(me.learning, cast("Gguf", model))
    adapters.refresh()
    return adapters


def _terminal_output(run: Invocation) -> Output:
    """Return the output, without escape codes where there is no room for columns."""
    wide = run.output.columns is not None and run.output.columns >= WIDE
    return Output(json=run.output.json, color=run.output.color and wide)


def _greet(run: Invocation, output: Output, talk: Conversation) -> None:
    output.note(f"session {flat(talk.session.name)} of {flat(run.user)}; /help lists commands, Ctrl-D leaves")
    if talk.chat is None:
        output.note("no model: questions are answered by quoting memory; --model names one that talks")


def _loop(output: Output, talk: Conversation, view: TurnView, lines: Iterable[str]) -> int:
    """Take turns until there are no more lines; return how many failed."""
    failures = 0
    for line in lines:
        if not line.strip():
            continue
        try:
            if is_command(line):
                if not run_command(output, talk, line):
                    break
            else:
                failures += not _turn(talk, view, line)
        except MnemicError as error:
            failures += 1
            _report_error(output, error)
    return failures


def _turn(talk: Conversation, view: TurnView, line: str) -> bool:
    """Take one turn; return whether it was answered."""
    turn = talk.begin(line)
    view.begin(turn)
    try:
        talk.answer(turn, view.piece)
    finally:
        view.end(turn)
    if turn.stopped and not at_terminal():
        raise KeyboardInterrupt
    return turn.error is None or isinstance(turn.error, CutOff)


def _report_error(output: Output, error: MnemicError) -> None:
    if output.json:
        click.echo(json.dumps({"error": {"type": type(error).__name__, "message": str(error)}}))
    else:
        click.echo(f"error: {plain(str(error))}", err=True)

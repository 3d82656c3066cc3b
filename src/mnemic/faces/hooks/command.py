"""`hook`: recall and observe at a client's own events, in a moment, and never in its way."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final

import click

from mnemic.errors import Conflict, Invalid, MnemicError, ModelError, StoreError
from mnemic.faces.cli.command import WORDS, Command, one_line
from mnemic.faces.cli.invocation import Invocation, invocation
from mnemic.faces.cli.output import plain
from mnemic.faces.hooks.client_protocols import CLIENT_PROTOCOLS, ClientProtocol
from mnemic.faces.hooks.event import HookEvent, read
from mnemic.faces.installing.clients import Machine
from mnemic.settings import Settings

if TYPE_CHECKING:
    from mnemic.faces.hooks.transcript import TranscriptMessage
    from mnemic.memory import Memory, ScopedMemory

READ_PATIENCE: Final = 0.25
"""Seconds that counting what was recalled may wait for another's write; recalling itself waits for none."""
WRITE_PATIENCE: Final = 2.0
"""Seconds that one commit may wait for another's write; the next hook picks up what this one leaves."""
LONGEST: Final = 5.0
"""Seconds after which no further commit is begun: a long transcript is taken in by several hooks."""
RULES: Final = 0.5
"""Seconds to look for standing instructions in what was written last, if nobody has; an `end`, which comes at every
turn, leaves that to the server or to the next start."""
BATCH: Final = 200
"""Messages to a commit."""
START_BUDGET: Final = 800
PROMPT_BUDGET: Final = 600
"""Tokens."""
WORTH_TELLING: Final = 0.25
"""Confidence from which a prompt's evidence goes along: half of what `ask` wants before it answers, because a model
passes over what does not bear on its task, and cannot ask for what it does not know of."""
NAMED: Final = 200
"""Characters that are told of what was left out."""
SEARCHED: Final = 2_000
"""Characters of a prompt that are searched with: what is asked for stands at one of its ends."""

_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
"""What a text in the store cannot hold: a program that cuts a text in the middle of an emoji leaves half of it."""

_NAMES: Final = {"start": "SessionStart", "prompt": "UserPromptSubmit", "end": "Stop"}


class _Harmless(Command):
    """A command that ends with 0 whatever it was given: a client takes other codes as a veto."""

    def make_context(self, *args: Any, **more: Any) -> click.Context:
        try:
            return super().make_context(*args, **more)
        except (click.UsageError, MnemicError) as error:
            _warn(error.format_message() if isinstance(error, click.UsageError) else str(error))
            raise click.exceptions.Exit(0) from error


@dataclass(slots=True)
class _HookResult:
    """What a hook did, for `--json`.

    Attributes:
        written, repeated: Items, of which a long message makes several.
        left: There is more to write, which the next hook will.
        skipped: Messages that cannot be written at all, each with the reason.
    """

    event: str
    client: str
    context: str = ""
    written: int = 0
    repeated: int = 0
    left: bool = False
    skipped: list[dict[str, str]] = field(default_factory=list)
    error: str | None = None
    began: float = field(default_factory=time.monotonic)

    def record(self) -> dict[str, Any]:
        took = round((time.monotonic() - self.began) * 1000)
        names = ("event", "client", "context", "written", "repeated", "left", "skipped", "error")
        return {**{name: getattr(self, name) for name in names}, "milliseconds": took}


@click.command(
    "hook",
    cls=_Harmless,
    examples=(
        'echo \'{"cwd": "/home/ada/boat"}\' | mnemic hook start --client claude-code',
        'echo \'{"prompt": "When do we leave?"}\' | mnemic hook prompt --client claude-code --json',
    ),
)
@click.argument("event", type=WORDS)
@click.option("--client", type=WORDS, default="claude-code", show_default=True, help="Who calls, and how it is told.")
def hook(event: str, client: str) -> None:
    """Answer one event of a client, which pipes it in as JSON. (`mnemic install` puts this into its settings.)

    EVENT is `start` (recall what is always on, and what bears on the folder), `prompt` (recall what bears on the
    prompt, if memory likely knows) or `end` (write down what was said since the last time, each message once).
    What tools returned is never stored. It always ends with 0: what goes wrong is one line on standard error.
    """
    result = _HookResult(event, client)
    run = invocation()
    try:
        _answer(run, result)
    except MnemicError as error:
        result.error = str(error)
    except Exception as error:  # noqa: BLE001 - whatever it is, the client must go on
        result.error = f"{type(error).__name__}: {error}"
    problems = [problem for problem in (result.error, _left_out(result)) if problem is not None]
    if problems:
        _warn("; ".join(problems))
    _print(run, result)


def _answer(run: Invocation, result: _HookResult) -> None:
    if result.event not in _NAMES:
        raise Invalid("event", f"{result.event!r} is none", f"Known: {', '.join(_NAMES)}.")
    protocol = CLIENT_PROTOCOLS.get(result.client)
    if protocol is None:
        raise Invalid("client", f"{result.client!r} has no hooks", f"Known: {', '.join(CLIENT_PROTOCOLS)}.")
    if sys.stdin.isatty():
        raise Invalid("stdin", "is a terminal", "A client pipes its event in; `mnemic install` sets that up.")
    hook_event = read(sys.stdin.buffer)
    if result.event == "end":
        _observe(run, result, hook_event, lambda last: protocol.new_messages(hook_event, last, _machine()))
    else:
        _recall(run, result, protocol, hook_event)


# Recalling


def _recall(run: Invocation, result: _HookResult, protocol: ClientProtocol, hook_event: HookEvent) -> None:
    """Recall first, then write down the prompt itself where no transcript will tell it."""
    if run.exists:
        with _opened(run, READ_PATIENCE) as memory:
            me = run.scoped(memory, shelved=False)
            result.context = (
                _at_start(memory, me, hook_event) if result.event == "start" else _for_prompt(me, hook_event)
            )
        if result.context:
            _say(run, protocol.answer(hook_event, _NAMES[result.event], result.context))
    if result.event == "prompt" and (prompt_messages := list(protocol.prompt_message(hook_event))):
        _observe(run, result, hook_event, lambda last: iter(prompt_messages))


def _at_start(memory: Memory, me: ScopedMemory, hook_event: HookEvent) -> str:
    """What is always on, and what bears on the folder; what the last session said is understood first."""
    with suppress(StoreError, ModelError):
        memory.flush(seconds=RULES)
    folder = PurePath((hook_event.cwd or "").replace("\\", "/")).name
    context = me.context(folder or "project", budget=START_BUDGET)
    return context.text if context.items or context.always else ""


def _for_prompt(me: ScopedMemory, hook_event: HookEvent) -> str:
    """What bears on a prompt; nothing if memory hardly knows, or if all of it was said just now."""
    prompt = hook_event.text("prompt", "user_prompt")
    if prompt is None:
        raise Invalid("prompt", "is missing", "The client tells it.")
    if not _sound(prompt).strip():
        return ""
    context = me.recall(_search_text(prompt), budget=PROMPT_BUDGET)
    news = [
        recalled
        for recalled in context.items
        if hook_event.session is None or recalled.item.session != hook_event.session
    ]
    return context.text if news and context.confidence >= WORTH_TELLING else ""


def _search_text(prompt: str) -> str:
    prompt = _sound(prompt)
    if len(prompt) <= SEARCHED:
        return prompt
    return f"{prompt[: SEARCHED // 2]}\n{prompt[-SEARCHED // 2 :]}"


# Observing


def _observe(
    run: Invocation,
    result: _HookResult,
    hook_event: HookEvent,
    news: Callable[[str | None], Iterator[TranscriptMessage]],
) -> None:
    """Write the news, given the last message that is here; a store is made only if there are some."""
    if not run.exists and next(news(None), None) is None:
        return
    with _opened(run, WRITE_PATIENCE) as memory:
        me = _shelf(run, memory, hook_event, result.client)
        _write(me, result, news(_last(me)))


def _shelf(run: Invocation, memory: Memory, hook_event: HookEvent, client: str) -> ScopedMemory:
    if hook_event.session is None:
        raise Invalid("session_id", "is missing", "The client tells it.")
    agent = run.options.agent or client
    return memory.scope(user=run.user, tenant=run.tenant, agent=agent, session=hook_event.session)


def _last(me: ScopedMemory) -> str | None:
    """The message that was written last on the shelves of `me`."""
    from mnemic.core.items import EVIDENCE
    from mnemic.core.queries import Filter

    newest = me.list(where=Filter(kinds=tuple(EVIDENCE)), limit=1)
    slot = newest[0].item.slots.get("message") if newest else None
    return slot if isinstance(slot, str) else None


def _write(me: ScopedMemory, result: _HookResult, spoken: Iterable[TranscriptMessage]) -> None:
    """Write what was said, in order and in short commits, so that what is left over is always the end.

    The keys outlive an erasure: what was taken out of memory does not come back from a transcript.
    """
    messages = iter(spoken)
    for batch in iter(lambda: list(islice(messages, BATCH)), []):
        _commit(me, result, batch)


def _commit(me: ScopedMemory, result: _HookResult, batch: Sequence[TranscriptMessage]) -> None:
    """Write some messages in one commit; if one of them cannot be taken, in ever smaller ones, without it alone."""
    from mnemic.core.items import Channel

    if (result.written or result.repeated) and time.monotonic() - result.began > LONGEST:
        result.left = True
        raise StoreError("not all was written in time; the next hook goes on from there")
    try:
        receipt = me.observe([_message(turn, result.client) for turn in batch], channel=Channel.IMPORT)
    except (Invalid, Conflict) as error:
        if len(batch) == 1:
            _leave_out(result, batch[0], error)
            return
        middle = len(batch) // 2
        _commit(me, result, batch[:middle])
        _commit(me, result, batch[middle:])
        return
    result.repeated += receipt.repeated
    result.written += len(receipt.ids) - receipt.repeated


def _leave_out(result: _HookResult, message: TranscriptMessage, error: Invalid | Conflict) -> None:
    if isinstance(error, Conflict):
        result.repeated += 1  # it is here, as it was when it was first read: in other slots, or masked by other rules
    else:
        result.skipped.append({"message": message.id, "why": str(error).removeprefix("messages[0].")})


def _left_out(result: _HookResult) -> str | None:
    """What was left out, in one line."""
    if not result.skipped:
        return None
    first = result.skipped[0]
    shown = repr(_shortened(first["message"]))
    named = f"message {shown}" if len(result.skipped) == 1 else f"{len(result.skipped)} messages"
    which = "" if len(result.skipped) == 1 else f"; the first, {shown}"
    return f"{named} left out{which}: {_shortened(first['why'])}"


def _shortened(text: str) -> str:
    """An id, or what is said of it, as it fits on a line: both may come from a transcript."""
    return text if len(text) <= NAMED else f"{text[:NAMED]}..."


def _message(message: TranscriptMessage, client: str) -> Any:
    from mnemic.ingest.message import Message

    slots: dict[str, Any] = {"role": message.role, "message": message.id}
    if message.cwd is not None:
        slots["cwd"] = _sound(message.cwd)
    return Message(text=_sound(message.text), key=f"hook:{client}:{message.id}", said=message.said, slots=slots)


def _sound(text: str) -> str:
    return _UNSTORABLE.sub("\ufffd", text)


# Around it


def _opened(run: Invocation, patience: float) -> AbstractContextManager[Memory]:
    """The store, with words alone and little patience."""
    usual = Settings.from_environment()
    timeout = min(patience, usual.busy_timeout)
    run.settings = replace(usual, embedder="none", busy_timeout=timeout, background=False)
    return run.memory(create=True)


def _machine() -> Machine:
    return Machine(environ=os.environ, home=Path.home(), project_folder=Path.cwd())


def _say(run: Invocation, answer: dict[str, Any]) -> None:
    if not run.output.json:
        _out(json.dumps(answer))


def _print(run: Invocation, result: _HookResult) -> None:
    if run.output.json:
        _out(json.dumps(result.record()))


def _out(line: str) -> None:
    """One line, if anybody is there to read it."""
    try:
        click.echo(line)
        sys.stdout.flush()
    except OSError:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _warn(message: str) -> None:
    with suppress(OSError):
        click.echo(f"mnemic hook: {plain(one_line(message))}", err=True)

"""How each client that has hooks tells what was said, and takes what is recalled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mnemic.errors import Invalid
from mnemic.faces.hooks.event import HookEvent
from mnemic.faces.hooks.transcript import CLAUDE, CODEX, Dialect, TranscriptMessage, digest, opened, since
from mnemic.faces.installing.clients import Machine, claude_home, codex_home

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ClientProtocol:
    """One client's way.

    Attributes:
        new_messages: What was said since the message named (None: since ever), of an event at its end.
        prompt_message: What an event that submits a prompt says, where no transcript will say it later.
        answer: What takes a text into the model's sight, at the start or with a prompt.
    """

    new_messages: Callable[[HookEvent, str | None, Machine], Iterator[TranscriptMessage]]
    answer: Callable[[HookEvent, str, str], Answer]
    prompt_message: Callable[[HookEvent], Iterator[TranscriptMessage]] = lambda hook_event: iter(())


def _from_transcript(dialect: Dialect, home: Callable[[Machine], Path]) -> Callable[..., Iterator[TranscriptMessage]]:
    def new_messages(hook_event: HookEvent, last: str | None, on: Machine) -> Iterator[TranscriptMessage]:
        path = hook_event.text("transcript_path")
        if path is None:
            raise Invalid("transcript_path", "is missing", "The client tells it.")
        with closing(opened(path, home(on))) as file:
            yield from since(file, dialect, last)

    return new_messages


def _specific(hook_event: HookEvent, event: str, text: str) -> Answer:
    """As Claude Code has it, and those after it."""
    name = hook_event.text("hook_event_name") or event
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}


def _cursor_answer(hook_event: HookEvent, event: str, text: str) -> Answer:
    return {"additional_context": text} if event == "SessionStart" else {"continue": True, "additional_context": text}


def _cursor_answered(hook_event: HookEvent, last: str | None, on: Machine) -> Iterator[TranscriptMessage]:
    return _spoken(hook_event, "assistant", hook_event.text("text"), hook_event.text("generation_id"))


def _cursor_prompted(hook_event: HookEvent) -> Iterator[TranscriptMessage]:
    return _spoken(hook_event, "user", hook_event.text("prompt"), hook_event.text("generation_id"))


def _gemini_turn(hook_event: HookEvent, last: str | None, on: Machine) -> Iterator[TranscriptMessage]:
    """Both sides of a turn, as the event of its end tells them."""
    turn = hook_event.text("timestamp")
    yield from _spoken(hook_event, "user", hook_event.text("prompt"), turn)
    yield from _spoken(hook_event, "assistant", hook_event.text("prompt_response"), turn)


def _spoken(hook_event: HookEvent, role: str, text: str | None, turn: str | None) -> Iterator[TranscriptMessage]:
    if text is None:
        return
    if turn is None:
        raise Invalid("stdin", "does not say which turn this is", "The client tells it.")
    yield TranscriptMessage(f"{turn}|{role}|{digest(text)}", role, text, hook_event.moment)


CLIENT_PROTOCOLS: Final = {
    "claude-code": ClientProtocol(_from_transcript(CLAUDE, claude_home), _specific),
    "codex": ClientProtocol(_from_transcript(CODEX, codex_home), _specific),
    "gemini-cli": ClientProtocol(_gemini_turn, _specific),
    "cursor": ClientProtocol(_cursor_answered, _cursor_answer, _cursor_prompted),
}
"""By the client's name."""

"""How each client that has hooks tells what was said, and takes what is recalled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mnemic.errors import Invalid
from mnemic.faces.hooks.event import Told
from mnemic.faces.hooks.transcript import CLAUDE, CODEX, Dialect, Said, digest, opened, since
from mnemic.faces.installing.clients import Machine, claude_home, codex_home

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Speech:
    """One client's way.

    Attributes:
        said: What was said since the message named (None: since ever), of an event at its end.
        asked: What an event that submits a prompt says, where no transcript will say it later.
        answer: What takes a text into the model's sight, at the start or with a prompt.
    """

    said: Callable[[Told, str | None, Machine], Iterator[Said]]
    answer: Callable[[Told, str, str], Answer]
    asked: Callable[[Told], Iterator[Said]] = lambda told: iter(())


def _from_transcript(dialect: Dialect, home: Callable[[Machine], Path]) -> Callable[..., Iterator[Said]]:
    def said(told: Told, last: str | None, on: Machine) -> Iterator[Said]:
        path = told.text("transcript_path")
        if path is None:
            raise Invalid("transcript_path", "is missing", "The client tells it.")
        with closing(opened(path, home(on))) as file:
            yield from since(file, dialect, last)

    return said


def _specific(told: Told, event: str, text: str) -> Answer:
    """As Claude Code has it, and those after it."""
    name = told.text("hook_event_name") or event
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}


def _cursor_answer(told: Told, event: str, text: str) -> Answer:
    return {"additional_context": text} if event == "SessionStart" else {"continue": True, "additional_context": text}


def _cursor_said(told: Told, last: str | None, on: Machine) -> Iterator[Said]:
    return _spoken(told, "assistant", told.text("text"), told.text("generation_id"))


def _cursor_asked(told: Told) -> Iterator[Said]:
    return _spoken(told, "user", told.text("prompt"), told.text("generation_id"))


def _gemini_said(told: Told, last: str | None, on: Machine) -> Iterator[Said]:
    """Both sides of a turn, as the event of its end tells them."""
    turn = told.text("timestamp")
    yield from _spoken(told, "user", told.text("prompt"), turn)
    yield from _spoken(told, "assistant", told.text("prompt_response"), turn)


def _spoken(told: Told, role: str, text: str | None, turn: str | None) -> Iterator[Said]:
    if text is None:
        return
    if turn is None:
        raise Invalid("stdin", "does not say which turn this is", "The client tells it.")
    yield Said(f"{turn}|{role}|{digest(text)}", role, text, told.moment)


SPEECH: Final = {
    "claude-code": Speech(_from_transcript(CLAUDE, claude_home), _specific),
    "codex": Speech(_from_transcript(CODEX, codex_home), _specific),
    "gemini-cli": Speech(_gemini_said, _specific),
    "cursor": Speech(_cursor_said, _cursor_answer, _cursor_asked),
}
"""By the client's name."""

"""The transcripts that clients keep: lines of JSON at the end of which the news stand."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Final

from mnemic.errors import Invalid
from mnemic.faces.hooks.event import read_moment

_BLOCK: Final = 1 << 20
_LINE_LIMIT: Final = 32 * 1024 * 1024
"""Bytes; a longer line is what a tool returned, or a picture."""


@dataclass(frozen=True, slots=True)
class TranscriptMessage:
    """One thing that the person or the model said; never what a tool returned.

    Attributes:
        id: The same for the same message, however often it is read.
        role: `user` or `assistant`.
        cwd: The folder that was worked in, if the message itself says so: an event's folder is another one whenever
            the same message is read again from elsewhere.
    """

    id: str
    role: str
    text: str
    said: datetime | None
    cwd: str | None = None


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one client writes its transcripts.

    Attributes:
        messages: What one line says.
        mark: Bytes that stand in the line of a message, by its id, and hardly anywhere else.
    """

    messages: Callable[[Mapping[str, Any]], Iterator[TranscriptMessage]]
    mark: Callable[[str], bytes]


def opened(path: str, home: Path) -> BinaryIO:
    """A transcript, open to be read from its beginning.

    Raises:
        Invalid: it is no ordinary file of lines of JSON, or lies outside the client's own folder.
    """
    real = Path(path).expanduser().resolve()
    if real.suffix != ".jsonl" or not real.is_relative_to(home.resolve()):
        raise Invalid("transcript_path", f"{path!r} is no transcript in {home}", "The client tells it.")
    try:
        # Without waiting: a pipe in its place would hold us up for ever.
        handle = os.open(real, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise Invalid("transcript_path", f"{path!r} is no ordinary file", "The client tells it.")
    except OSError as error:
        raise Invalid("transcript_path", f"{path!r}: {error.strerror}", "The client tells it.") from error
    return os.fdopen(handle, "rb")


def since(file: BinaryIO, dialect: Dialect, last: str | None) -> Iterator[TranscriptMessage]:
    """What was said after the message `last`; everything, if that is not there.

    A line that is still being written, is no JSON, or is longer than any message is passed over.
    """
    start = 0 if last is None else _line_of(file, dialect.mark(last))
    file.seek(start)
    for line in _lines(file):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            yield from (said for said in dialect.messages(record) if said.id != last)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    while line := file.readline(_LINE_LIMIT):
        if line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(_LINE_LIMIT)


def _line_of(file: BinaryIO, mark: bytes) -> int:
    """Where the last run of lines that hold `mark` begins; 0 if none does.

    A mark that is a moment may stand in several. It is looked for from the end, where it mostly is.
    """
    end = file.seek(0, os.SEEK_END)
    start, tail = end, b""
    while start > 0:
        start = max(0, start - _BLOCK)
        file.seek(start)
        block = file.read(min(_BLOCK, end - start)) + tail
        if (at := block.rfind(mark)) >= 0:
            return _first_of_run(file, _begin(file, start + at), mark)
        end, tail = start, block[: len(mark) - 1]
    return 0


def _begin(file: BinaryIO, at: int) -> int:
    """Where the line of a place begins."""
    while at > 0:
        start = max(0, at - _BLOCK)
        file.seek(start)
        if (found := file.read(at - start).rfind(b"\n")) >= 0:
            return start + found + 1
        at = start
    return 0


def _first_of_run(file: BinaryIO, at: int, mark: bytes) -> int:
    """Where the first line begins of those that hold `mark`, one after another up to the line at `at`."""
    while at > 0:
        start = _begin(file, at - 1)
        file.seek(start)
        if mark not in file.read(min(at - start, _LINE_LIMIT)):
            break
        at = start
    return at


# Claude Code

_ASIDE: Final = re.compile(
    r"<(system-reminder|command-name|command-message|command-args|command-contents|local-command-stdout|"
    r"local-command-stderr|local-command-caveat|bash-input|bash-stdout|bash-stderr|ide_opened_file|ide_selection|"
    r"task-notification)>.*?</\1>",
    re.DOTALL,
)
"""What the program itself puts between the words of a person."""
_CLAUDE_ASIDES: Final = ("isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage", "isVisibleInTranscriptOnly")


def _claude(record: Mapping[str, Any]) -> Iterator[TranscriptMessage]:
    """What the person typed and the model answered; not what subagents did, summaries, or the program's own notes."""
    id, role, message = record.get("uuid"), record.get("type"), record.get("message")
    if role not in ("user", "assistant") or not isinstance(id, str) or not isinstance(message, Mapping):
        return
    if any(record.get(aside) for aside in _CLAUDE_ASIDES):
        return
    text = _ASIDE.sub("", _joined(message.get("content"), ("text",))).strip()
    if text:
        cwd = record.get("cwd")
        yield TranscriptMessage(
            id, role, text, read_moment(record.get("timestamp")), cwd if isinstance(cwd, str) else None
        )


# Codex

_SCAFFOLD: Final = re.compile(
    r"\s*(?:<(environment_context|permissions instructions|user_instructions|turn_aborted|collaboration_mode|"
    r"skills_instructions|apps_instructions|plugins_instructions|subagent_notification|skill|"
    r"user_shell_command)\b|# AGENTS\.md instructions)"
)
"""How what the program itself puts in a person's mouth begins."""


def _codex(record: Mapping[str, Any]) -> Iterator[TranscriptMessage]:
    """The messages of the log that the model sees; they have no ids, so a moment and a digest name them."""
    payload, when = record.get("payload"), record.get("timestamp")
    if record.get("type") != "response_item" or not isinstance(payload, Mapping) or not isinstance(when, str):
        return
    role = payload.get("role")
    if payload.get("type") != "message" or role not in ("user", "assistant"):
        return
    text = _joined(payload.get("content"), ("input_text", "output_text")).strip()
    if text and not (role == "user" and _SCAFFOLD.match(text)):
        yield TranscriptMessage(f"{when}|{digest(role, text)}", role, text, read_moment(when))


def _joined(content: object, kinds: tuple[str, ...]) -> str:
    """The text in a message's content: all of it, or those of its blocks that are text."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [b.get("text") for b in blocks if isinstance(b, Mapping) and b.get("type") in kinds]
    return "\n\n".join(text for text in texts if isinstance(text, str))


def digest(*parts: str) -> str:
    """A short name for some words."""
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


CLAUDE: Final = Dialect(_claude, lambda id: b'"uuid":' + json.dumps(id).encode())
CODEX: Final = Dialect(_codex, lambda id: json.dumps(id.partition("|")[0]).encode())

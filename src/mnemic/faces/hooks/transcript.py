"""The transcripts that clients keep: lines of JSON at the end of which the news stand."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from bisect import bisect_right
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
    first: int | None = None
    for start, line in _lines_backwards(file):
        if mark in line:
            first = start
        elif first is not None:
            break
    return first or 0


def _lines_backwards(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Each line with its place, the last first; every byte is read once. One over the limit loses its end."""
    end = file.seek(0, os.SEEK_END)
    later: list[bytes] = []  # what is read of a line whose beginning is not, its last piece first
    while end > 0:
        start = max(0, end - _BLOCK)
        file.seek(start)
        first, *others = file.read(end - start).split(b"\n")
        for piece in reversed(others):
            end -= len(piece)
            yield end, b"".join((piece, *reversed(later)))
            end, later = end - 1, []
        later = [*later, first] if sum(map(len, later)) < _LINE_LIMIT else [first]
        end = start
    yield 0, b"".join(reversed(later))


# Claude Code

_ASIDE: Final = re.compile(
    r"<(/?)(system-reminder|command-name|command-message|command-args|command-contents|local-command-stdout|"
    r"local-command-stderr|local-command-caveat|bash-input|bash-stdout|bash-stderr|ide_opened_file|ide_selection|"
    r"task-notification)>"
)
"""The tags around what the program itself puts between the words of a person."""
_CLAUDE_ASIDES: Final = ("isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage", "isVisibleInTranscriptOnly")


def _claude(record: Mapping[str, Any]) -> Iterator[TranscriptMessage]:
    """What the person typed and the model answered; not what subagents did, summaries, or the program's own notes."""
    id, role, message = record.get("uuid"), record.get("type"), record.get("message")
    if role not in ("user", "assistant") or not isinstance(id, str) or not isinstance(message, Mapping):
        return
    if any(record.get(aside) for aside in _CLAUDE_ASIDES):
        return
    text = _trimmed(_without_asides(_joined(message.get("content"), ("text",))))
    if text:
        cwd = record.get("cwd")
        yield TranscriptMessage(
            id, role, text, read_moment(record.get("timestamp")), cwd if isinstance(cwd, str) else None
        )


def _without_asides(text: str) -> str:
    """A text without the program's asides, each from its first tag to the next that closes it; one left open stays."""
    closings: dict[str, list[int]] = {}
    for tag in _ASIDE.finditer(text):
        if tag[1]:
            closings.setdefault(tag[2], []).append(tag.end())
    outside: list[str] = []
    at = 0
    for tag in _ASIDE.finditer(text):
        ends = closings.get(tag[2], [])
        after = bisect_right(ends, tag.start())
        if not tag[1] and tag.start() >= at and after < len(ends):
            outside.append(text[at : tag.start()])
            at = ends[after]
    return "".join((*outside, text[at:]))


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
    text = _trimmed(_joined(payload.get("content"), ("input_text", "output_text")))
    if text and not (role == "user" and _SCAFFOLD.match(text)):
        yield TranscriptMessage(f"{when}|{digest(role, text.strip())}", role, text, read_moment(when))


def _joined(content: object, kinds: tuple[str, ...]) -> str:
    """The text in a message's content: all of it, or those of its blocks that are text."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [b.get("text") for b in blocks if isinstance(b, Mapping) and b.get("type") in kinds]
    return "\n\n".join(text for text in texts if isinstance(text, str))


def _trimmed(text: str) -> str:
    """A text without blank lines around it; how far its first line is set in stays, which tells code from speech."""
    blank = text[: len(text) - len(text.lstrip())]
    return blank.rpartition("\n")[2] + text.strip() if text.strip() else ""


def digest(*parts: str) -> str:
    """A short name for some words."""
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


CLAUDE: Final = Dialect(_claude, lambda id: b'"uuid":' + json.dumps(id).encode())
CODEX: Final = Dialect(_codex, lambda id: json.dumps(id.partition("|")[0]).encode())

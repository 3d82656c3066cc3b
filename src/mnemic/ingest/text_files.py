"""Read plain text: one document, or a dialogue of lines such as `Ada: good morning`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from mnemic.core.items import Kind
from mnemic.ingest.intake import Options, RawRecord, desk
from mnemic.ingest.message import Message, Skipped
from mnemic.ingest.source import Source

_NAME: Final = r"(?P<name>[^\W\d_][^\n:：,，.。!！?？;；/\\(){}\[\]<>=\"]{0,39}?)"
_SPOKEN: Final = re.compile(rf"(?:\[(?P<time>[^\]\n]{{4,40}})\]\s*)?{_NAME}\s*(?::\s+|：\s*)(?P<said>\S.*)", re.DOTALL)
_WORDS: Final = 4
_SHARE: Final = 0.6


def looks_spoken(head: str) -> bool:
    """Whether most lines open with a speaker, and speakers come back."""
    lines = [line for line in head.splitlines() if line.strip()]
    names = Counter(m["name"] for line in lines if (m := _spoken(line)))
    turns = names.total()
    return turns >= max(2, _SHARE * len(lines)) and 2 * len(names) <= turns + 2 and len(names) < turns


def read_document(source: Source, options: Options) -> Iterator[Message | Skipped]:
    """The whole file as one document, its name as title.

    Raises:
        Invalid: the file is not UTF-8.
    """
    intake = desk(source, options)
    where = source.label
    raw = source.read(options.limit + 1)
    if len(raw) > options.limit:
        yield Skipped(where=where, why=f"text: has over {options.limit:,} bytes, the limit of one input. Split it.")
        return
    yield intake.take(
        RawRecord(
            where=where,
            place="document",
            text=source.decoded(raw),
            kind=Kind.DOCUMENT,
            slots={"title": source.stem},
        )
    )


def read_dialogue(source: Source, options: Options) -> Iterator[Message | Skipped]:
    """One message for each line `Name: text`; lines that name nobody go on with the one before.

    A time in brackets may stand before the name: `[2025-04-06 19:30+01:00] Ada: hello`.
    """
    intake = desk(source, options)
    session = options.session or source.place or source.stem
    turn: _Turn | None = None
    for number, raw in source.lines(options.line_limit):
        line = _decoded(raw)
        if isinstance(line, str) and (m := _spoken(line)):
            if turn:
                yield intake.take(turn.record(session))
            turn = _Turn(number, m["name"].strip(), m["time"], m["said"])
        elif line is None:
            yield Skipped(where=f"line {number}", why="the line is not UTF-8, or over the limit of one record")
        elif turn:
            turn.go_on(line, options.limit)
        elif line.strip():
            yield Skipped(where=f"line {number}", why="stands before the first speaker")
    if turn:
        yield intake.take(turn.record(session))


class _Turn:
    """What one speaker says, line by line."""

    def __init__(self, line: int, speaker: str, time: str | None, text: str) -> None:
        self._line, self._speaker, self._time = line, speaker, time
        self._lines = [text]
        self._size = len(text)

    def go_on(self, line: str, limit: int) -> None:
        """Add a line; far past the limit only the fact that it is too long is kept."""
        if self._size <= limit:
            self._lines.append(line)
            self._size += len(line) + 1

    def record(self, session: str) -> RawRecord:
        return RawRecord(
            where=f"line {self._line}",
            place=f"line-{self._line}",
            text="\n".join(self._lines).strip(),
            session=session,
            time=self._time,
            slots={"speaker": self._speaker},
        )


def _spoken(line: str) -> re.Match[str] | None:
    m = _SPOKEN.fullmatch(line.strip())
    return m if m and len(m["name"].split()) <= _WORDS else None


def _decoded(raw: bytes | None) -> str | None:
    try:
        return None if raw is None else raw.decode("utf-8")
    except UnicodeDecodeError:
        return None

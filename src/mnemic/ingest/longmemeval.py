"""Read LongMemEval's own JSON (Wu et al., arXiv:2410.10813): for each question, its haystack of chats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from mnemic.ingest.intake import Intake, Options, RawRecord
from mnemic.ingest.jsonio import elements
from mnemic.ingest.message import Message, Skipped
from mnemic.ingest.source import Source


def read_longmemeval(source: Source, options: Options) -> Iterator[Message | Skipped]:
    """One message for each turn of each haystack, in the order of the file, at its session's date.

    Each question has a history of its own, so its sessions are kept apart (`QUESTION/SESSION`). The file
    names no zone: its times are UTC unless the options name one. Questions, answers and the marks of the
    evidence are not read.

    Raises:
        Invalid: the file is not JSON from here on.
    """
    intake = Intake("longmemeval", replace(options, zone=options.zone or "UTC"))
    for number, entry in enumerate(elements(source), start=1):
        sessions = entry.get("haystack_sessions") if isinstance(entry, Mapping) else None
        if isinstance(entry, Mapping) and isinstance(sessions, list):
            name = entry.get("question_id") or f"question-{number}"
            for turn in _turns(name, entry, sessions):
                yield intake.take(turn) if isinstance(turn, RawRecord) else turn
        else:
            yield Skipped(where=f"question {number}", why="has no `haystack_sessions`")


def _turns(name: object, entry: Mapping[str, object], sessions: list[object]) -> Iterator[RawRecord | Skipped]:
    ids, dates = _list(entry.get("haystack_session_ids")), _list(entry.get("haystack_dates"))
    for s, turns in enumerate(sessions):
        session = ids[s] if s < len(ids) else f"session-{s + 1}"
        where = f"{name}, session {session}"
        if not isinstance(turns, list):
            yield Skipped(where=where, why=f"is {type(turns).__name__}, not a list of turns")
            continue
        for n, turn in enumerate(turns, start=1):
            if isinstance(turn, Mapping):
                yield _turn(turn, name, session, n, dates[s] if s < len(dates) else None)
            else:
                yield Skipped(where=f"{where}, turn {n}", why=f"is {type(turn).__name__}, not an object")


def _turn(turn: Mapping[str, object], name: object, session: object, n: int, when: object) -> RawRecord:
    return RawRecord(
        where=f"{name}, session {session}, turn {n}",
        place=f"{session}:{n}",
        text=turn.get("content"),
        id=f"{session}:{n}",
        conversation=name,
        time=when,
        session=f"{name}/{session}",
        slots={"role": turn.get("role"), "conversation": name},
    )


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []

"""Read LoCoMo's own JSON (Maharana et al., arXiv:2402.17753): conversations of two people over months."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from mnemic.ingest.intake import Intake, Options, RawRecord
from mnemic.ingest.jsonio import elements
from mnemic.ingest.message import Message, Skipped
from mnemic.ingest.source import Source

_SESSION: Final = re.compile(r"session_(\d+)")
_CAPTIONS: Final = ("blip_caption", "caption", "img_caption")


def read_locomo(source: Source, options: Options) -> Iterator[Message | Skipped]:
    """One message for each turn, in the order of sessions, at its session's date and time.

    The file names no zone: its times are UTC unless the options name one. Sessions of several samples
    are kept apart (`conv-26/S1`). An image's caption goes into the slot `caption`. Questions are not read.

    Raises:
        Invalid: the file is not JSON from here on.
    """
    intake = Intake("locomo", replace(options, zone=options.zone or "UTC"))
    for number, sample in enumerate(elements(source), start=1):
        conversation = sample.get("conversation") if isinstance(sample, Mapping) else None
        if isinstance(sample, Mapping) and isinstance(conversation, Mapping):
            name = sample.get("sample_id") or f"sample-{number}"
            for turn in _turns(name, conversation):
                yield intake.take(turn) if isinstance(turn, RawRecord) else turn
        else:
            yield Skipped(where=f"sample {number}", why="has no `conversation`")


def _turns(name: object, conversation: Mapping[str, object]) -> Iterator[RawRecord | Skipped]:
    for number in sorted(int(m[1]) for key in conversation if (m := _SESSION.fullmatch(key))):
        where = f"{name}, session {number}"
        turns = conversation[f"session_{number}"]
        if not isinstance(turns, list):
            yield Skipped(where=where, why=f"is {type(turns).__name__}, not a list of turns")
            continue
        when = conversation.get(f"session_{number}_date_time")
        for n, turn in enumerate(turns, start=1):
            if isinstance(turn, Mapping):
                yield _turn(turn, name, number, n, when)
            else:
                yield Skipped(where=f"{where}, turn {n}", why=f"is {type(turn).__name__}, not an object")


def _turn(turn: Mapping[str, object], name: object, session: int, n: int, when: object) -> RawRecord:
    caption = next((turn[field] for field in _CAPTIONS if turn.get(field)), None)
    text = turn.get("text")
    return RawRecord(
        where=f"{name}, session {session}, turn {n}",
        place=f"D{session}:{n}",
        text=text or (f"[{caption}]" if caption else ""),
        id=turn.get("dia_id"),
        conversation=name,
        time=when,
        session=f"{name}/S{session}",
        slots={"speaker": turn.get("speaker"), "caption": caption if text else None, "conversation": name},
    )

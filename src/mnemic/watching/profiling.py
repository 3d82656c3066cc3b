"""The profiler log: one line a verb, what it cost and what it gave, without a word of what was said.

Lines are made and written by a thread behind the verbs: no verb waits for the file, and nothing is ever synced.
"""

from __future__ import annotations

import csv
import hashlib
import json
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TextIO

from mnemic.core.clock import Clock
from mnemic.core.forking import renew_in_child
from mnemic.core.mutex import Flag, Mutex
from mnemic.errors import Invalid
from mnemic.flow import Request
from mnemic.models.chat.base import Ask, Reply
from mnemic.models.model_requests import CountJudged
from mnemic.watching.metering import Sort, Timed

COLUMNS: Final = (
    "at", "verb", "user", "ms", "requests", "items", "considered", "tokens", "seq", "error",
    "task", "model", "prompt_tokens", "answer_tokens", "by",
)  # fmt: skip
"""What a line has: `ms` of the whole and of each request, and what it gave, where it gave that. The last five are those
of a language model's call and of a task that was judged, by whom; each is a line of its own."""
MODEL: Final = "(model)"
JUDGED: Final = "(judged)"
"""What such lines have in place of a verb."""
LARGEST: Final = 64 * 1024 * 1024
"""Bytes after which the file is put aside as FILE.1, in place of the one put aside before."""
EVERY: Final = 0.5
"""Seconds between two writes."""
WAITING: Final = 20_000
"""Most lines that wait; what comes on top of them is counted and left out, and a line says how many."""


class Profile:
    """Writes the log of one open store; an observer of its meters.

    Args:
        path: Where to; CSV if it ends so, lines of JSON otherwise. It is appended to.
        users: Whether a line says for whom, as a hash that means nothing outside this process.

    Raises:
        Invalid: the file cannot be written.
    """

    def __init__(self, path: Path, clock: Clock, *, users: bool = False) -> None:
        self._path, self._clock, self._users = path, clock, users
        self._csv = path.suffix.lower() == ".csv"
        self._salt = secrets.token_bytes(16)
        try:
            self._opened().close()
        except OSError as error:
            raise Invalid("profile", f"{path} cannot be written: {error.strerror}", "Name another file.") from error
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Start over with nothing to write, as a forked child must."""
        self._waiting: deque[tuple[Any, ...]] = deque()
        self._left_out = 0
        self._wake = Flag()
        self._writing = Mutex()
        self._thread: threading.Thread | None = None
        self._closed = False

    def began(self, timed: Timed) -> Callable[[], None] | None:
        """Have the verb's line written once it has ended."""
        return (lambda: self._note(timed)) if timed.sort == Sort.VERB else None

    def asks(self, request: Request) -> Callable[[Any, BaseException | None], None] | None:
        """Have a line written once a language model has answered, and once a task was judged; of other requests a verb
        keeps the times itself."""
        if isinstance(request, CountJudged):
            self._wait((self._clock.now(), JUDGED, None, 0.0, [], _Judged(request), ""))
        if not isinstance(request, Ask):
            return None
        task, began = request.task, time.perf_counter()

        def ended(answer: Any, error: BaseException | None) -> None:
            seconds = time.perf_counter() - began
            failed = "" if error is None else type(error).__name__
            self._wait((self._clock.now(), MODEL, None, seconds, [], _ModelAnswer(task, answer), failed))

        return ended

    def committed(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Write the lines that wait, and end the thread."""
        self._closed = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
        self._write()

    def _note(self, timed: Timed) -> None:
        error = "" if timed.error is None else type(timed.error).__name__
        self._wait((self._clock.now(), timed.name, timed.who, timed.seconds, timed.requests, timed.answer, error))

    def _wait(self, line: tuple[Any, ...]) -> None:
        """Have a line written, unless too many wait."""
        if len(self._waiting) >= WAITING:
            self._left_out += 1
            return
        self._waiting.append(line)
        if self._thread is None:
            self._start()

    def _start(self) -> None:
        with self._writing:
            if self._thread is None:
                self._thread = threading.Thread(target=self._follow, name="mnemic-profile", daemon=True)
                self._thread.start()

    def _follow(self) -> None:
        while not self._closed:
            self._wake.wait(EVERY)
            self._write()

    def _write(self) -> None:
        """Write the lines that wait; a disk error loses lines of the log, and fails no verb."""
        with self._writing, suppress(OSError):
            lines = [self._waiting.popleft() for _ in range(len(self._waiting))]
            if not lines:
                return
            with self._opened() as file:
                for line in lines:
                    self._put(file, self._record(*line))
                if self._left_out:
                    left_out, self._left_out = self._left_out, 0
                    self._put(file, {"at": lines[-1][0], "verb": "(left out)", "items": left_out})

    def _opened(self) -> TextIO:
        if self._path.exists() and self._path.stat().st_size > LARGEST:
            self._path.replace(self._path.with_name(self._path.name + ".1"))
        file = self._path.open("a", encoding="utf-8", newline="")
        if self._csv and file.tell() == 0:
            csv.writer(file, lineterminator="\n").writerow(COLUMNS)
        return file

    def _put(self, file: TextIO, record: Mapping[str, Any]) -> None:
        full = {name: record.get(name) for name in COLUMNS}
        full["at"] = datetime.fromtimestamp(record["at"] / 1e6, UTC).isoformat()
        if self._csv:
            requests = " ".join(f"{name}:{ms}" for name, ms in full["requests"] or ())
            csv.writer(file, lineterminator="\n").writerow({**full, "requests": requests}.values())
        else:
            file.write(json.dumps(full, separators=(",", ":")) + "\n")

    def _record(
        self, at: int, verb: str, who: Any, seconds: float, requests: list[tuple[str, float]], answer: Any, error: str
    ) -> dict[str, Any]:
        return {
            "at": at,
            "verb": verb,
            "user": self._hashed(who) if self._users and who is not None else None,
            "ms": round(seconds * 1000, 3),
            "requests": [(name, round(took * 1000, 3)) for name, took in requests],
            **(answer.figures() if isinstance(answer, _ModelAnswer | _Judged) else figures(answer)),
            "error": error or None,
        }

    def _hashed(self, who: Any) -> str:
        name = f"{who.scope.tenant}\x00{who.scope.user!r}".encode()
        return hashlib.blake2s(name, key=self._salt, digest_size=6).hexdigest()


@dataclass(frozen=True, slots=True)
class _ModelAnswer:
    """What a language model answered to a task; `reply` is None where it failed."""

    task: str
    reply: Reply | None

    def figures(self) -> dict[str, Any]:
        if self.reply is None:
            return {"task": self.task}
        tokens = {"prompt_tokens": self.reply.prompt_tokens, "answer_tokens": self.reply.answer_tokens}
        return {"task": self.task, "model": self.reply.model, **tokens}


@dataclass(frozen=True, slots=True)
class _Judged:
    """Who judged a task in the end: a model or rules."""

    request: CountJudged

    def figures(self) -> dict[str, Any]:
        return {"task": self.request.task, "by": self.request.by.value}


def figures(answer: Any) -> dict[str, int]:
    """Take the figures of a verb's answer: items, candidates considered, tokens, seq, as far as it has them."""
    numbers: dict[str, int] = {}
    for name in ("considered", "tokens", "seq"):
        if isinstance(value := getattr(answer, name, None), int):
            numbers[name] = value
    for several in (getattr(answer, "items", None), getattr(answer, "ids", None), answer):
        if isinstance(several, tuple | list):
            return {**numbers, "items": len(several)}
    return numbers

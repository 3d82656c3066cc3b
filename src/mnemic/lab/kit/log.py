"""One run, one append-only JSONL file: everything the tables are computed from, readable however far the run came.

Records, by `kind`: `run` (first: what ran, on what, with what), `corpus` (session and tokens of every
document), `answer` (one system's ranking for one question), `cost` (what one system cost), `end` (last,
absent when the run was cut short).
"""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import mnemic
from mnemic._version import __version__
from mnemic.errors import Invalid, NotFound
from mnemic.lab.kit.metrics import Outcome

FORMAT: Final = 1
PACKAGES: Final = ("apsw", "click", "numpy", "PyStemmer", "rich")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedAnswer:
    """One system's answer to one question.

    Attributes:
        ranked, scores: Best first; a system without scores gives none.
        tokens: What its ten best cost in a prompt.
        milliseconds: How long the recall of those ten took.
    """

    system: str
    ns: str
    question: str
    category: str
    gold: tuple[str, ...]
    sessions: tuple[str, ...]
    ranked: tuple[str, ...]
    scores: tuple[float, ...]
    tokens: int
    milliseconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The cost of one system; None where a figure does not apply to it.

    Attributes:
        ingest_seconds: For all `messages`, until the system said they were taken in.
        bytes_per_message: On disk, all its files, after the last one.
        lag_ms: Median time from giving it one message to a recall that returned that message.
        model_calls: By a language model, for each message.
    """

    system: str
    messages: int
    ingest_seconds: float
    bytes_per_message: float | None = None
    lag_ms: float | None = None
    model_calls: float = 0.0


@dataclass(frozen=True, slots=True)
class Placed:
    """A document's session and its tokens."""

    session: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRun:
    """The content of one log file.

    Attributes:
        header: The `run` record.
        docs: By `ns`, then by document id.
        answers: By system, in the order they ran.
        complete: Whether the run came to its end.
    """

    header: Mapping[str, Any]
    docs: Mapping[str, Mapping[str, Placed]]
    answers: Mapping[str, list[LoggedAnswer]]
    costs: Mapping[str, Cost] = field(default_factory=dict)
    complete: bool = False

    def outcome(self, answer: LoggedAnswer) -> Outcome:
        """The answer with what the metrics need to know of each document."""
        placed = [self.docs[answer.ns][doc] for doc in answer.ranked]
        return Outcome(
            question=answer.question,
            category=answer.category,
            gold=answer.gold,
            sessions=answer.sessions,
            ranked=answer.ranked,
            ranked_sessions=tuple(p.session for p in placed),
            tokens=tuple(p.tokens for p in placed),
            score=answer.scores[0] if answer.scores else math.nan,
        )


class Log:
    """A new log file; each record is handed to the operating system before the next is made."""

    def __init__(self, path: Path) -> None:
        """Create the file.

        Raises:
            Invalid: it is there already (a log is never written twice), or cannot be created.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("x", encoding="utf-8")
        except FileExistsError as error:
            raise Invalid("out", f"{path.name} exists", "A log is never overwritten; name another file.") from error
        except OSError as error:
            raise Invalid(
                "out", f"cannot create {path.name}: {error.strerror}", "Name a folder you can write."
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._file.close()

    def header(self, **facts: object) -> None:
        """Say what runs: `facts` of the caller, and those of this program and machine."""
        self._append("run", format=FORMAT, started=datetime.now(UTC).isoformat(), **provenance(), **facts)

    def corpus(self, ns: str, docs: Mapping[str, Placed]) -> None:
        """Say where the documents of one memory lie and what they cost."""
        self._append("corpus", ns=ns, docs={doc: [p.session, p.tokens] for doc, p in docs.items()})

    def answer(self, answer: LoggedAnswer) -> None:
        """Add one answer, scores to six significant digits."""
        record = {name: getattr(answer, name) for name in LoggedAnswer.__slots__}
        record["scores"] = [float(f"{score:.6g}") for score in answer.scores]
        self._append("answer", **record)

    def cost(self, cost: Cost) -> None:
        """Add what one system cost."""
        self._append("cost", **{name: getattr(cost, name) for name in Cost.__slots__})

    def add(self, kind: str, **record: object) -> None:
        """Add a record that one bench alone reads, by `records`; `read` passes over it."""
        self._append(kind, **record)

    def end(self) -> None:
        """Say that nothing is missing."""
        self._append("end", ended=datetime.now(UTC).isoformat())

    def _append(self, kind: str, **record: object) -> None:
        json.dump({"kind": kind, **record}, self._file, ensure_ascii=False, separators=(",", ":"))
        self._file.write("\n")
        self._file.flush()


def read(path: Path) -> LoggedRun:
    """Read a log; a last line that was cut short is left out.

    Raises:
        NotFound: there is no such file.
        Invalid: not a log of ours.
    """
    header: dict[str, Any] = {}
    docs: dict[str, dict[str, Placed]] = {}
    answers: dict[str, list[LoggedAnswer]] = {}
    costs: dict[str, Cost] = {}
    complete = False
    for record in records(path):
        match record.pop("kind", None):
            case "run":
                header = record
            case "corpus":
                docs[record["ns"]] = {doc: Placed(session, tokens) for doc, (session, tokens) in record["docs"].items()}
            case "answer":
                answer = _answer(record)
                answers.setdefault(answer.system, []).append(answer)
            case "cost":
                costs[record["system"]] = Cost(**record)
            case "end":
                complete = True
    if header.get("format") != FORMAT:
        raise Invalid("log", f"{path.name} is not a log of a run", "Name the .jsonl file that `mnemic bench` wrote.")
    return LoggedRun(header=header, docs=docs, answers=answers, costs=costs, complete=complete)


def _answer(record: Mapping[str, Any]) -> LoggedAnswer:
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in record.items()}
    return LoggedAnswer(**values)


def bench_of(path: Path) -> str:
    """Which bench wrote a log, by its header; "" where it does not say.

    Raises:
        NotFound: there is no such file.
    """
    return str(next(iter(records(path)), {}).get("bench", ""))


def records(path: Path) -> Iterator[dict[str, Any]]:
    """Every record of a log in order, of whatever kind; a last line that was cut short is left out.

    Raises:
        NotFound: there is no such file.
        Invalid: a line is not JSON.
    """
    try:
        with path.open(encoding="utf-8", errors="replace", newline="\n") as file:  # a text may hold U+2028
            lines = file.readlines()
    except FileNotFoundError as error:
        raise NotFound(f"there is no log {path.name}") from error
    for line in lines:
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            if line.endswith("\n"):
                raise Invalid(
                    "log", f"{path.name} holds a line that is not JSON", "It is damaged, or no log."
                ) from error
            return
        if isinstance(record, dict):
            yield record


def provenance() -> dict[str, object]:
    """Version, commit, packages and machine: what a number needs beside it to be believed."""
    return {
        "mnemic": __version__,
        "git": _checkout(),
        "packages": {name: _version(name) for name in PACKAGES},
        "machine": {
            "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
        },
        "argv": [Path(sys.argv[0]).name, *sys.argv[1:]],
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _checkout() -> dict[str, object] | None:
    """Commit and dirty flag, when the package runs from a checkout of itself; None when it is installed."""
    root = Path(mnemic.__path__[0]).resolve().parents[1]
    if not (root / ".git").exists():
        return None
    return {"commit": _git(root, "rev-parse", "--verify", "HEAD"), "dirty": bool(_git(root, "status", "--porcelain"))}


def _git(root: Path, *command: str) -> str | None:
    try:
        done = subprocess.run(["git", *command], cwd=root, capture_output=True, text=True, timeout=10)  # noqa: S603, S607
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None

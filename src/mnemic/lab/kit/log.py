"""One run, one append-only JSONL file: everything the tables are computed from, readable however far the run came.

Records, by `kind`: `run` (first: what ran, on what, with what), `corpus` (session and tokens of every document),
`question` and `text` (the words of questions, and of documents that were wanted or found), `answer` (one contestant's
ranking for one question), `cost` (what one contestant cost), `failed` (what ended one before its last question),
`read`, `mark` and `prefer` (what models answered, and judges found), `resumed`, `end` (last, absent when the run was
cut short). Each but the first belongs to a task.
"""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import mnemic
from mnemic._version import __version__
from mnemic.errors import Invalid, NotFound
from mnemic.lab.kit.contestant import ContextLine, CreditedHit, GivenAnswer, QuotedDocs
from mnemic.lab.kit.metrics import Outcome
from mnemic.lab.kit.model_words import JudgeReply, ModelWords, PairReply, ReadAnswer
from mnemic.lab.kit.output_places import refuse_file
from mnemic.lab.kit.tables import finite

FORMAT: Final = 2
_OPTIONAL: Final = frozenset(
    {"cpu_ms", "wanted", "origin", "given", "hits", "block", "key", "disputed", "text", "value", "quotes", "why"}
)
"""What an answer leaves out where there is none of it."""

PACKAGES: Final = ("apsw", "click", "numpy", "PyStemmer", "rich")

_SPOKEN: Final = {"read": ReadAnswer, "mark": JudgeReply, "prefer": PairReply}
"""What models said, by the kind of its record."""

_GATHERED: Final = frozenset({"corpus", "question", "text", "answer", "cost", "failed", *_SPOKEN})
"""The kinds of records that belong to a task."""

RUN_BENCH: Final = "run"
"""What the header of a log of `bench run` says that it is of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedAnswer:
    """One contestant's answer to one question.

    Attributes:
        system: The name of its row.
        wanted: The right answer, in words.
        origin: Which set of its task the question is from.
        ranked, scores: Best first; a contestant without scores gives none.
        tokens: What its ten best cost in a prompt.
        milliseconds, cpu_ms: How long the recall of those ten took, and how much of all processors.
        given: What it answered in words; None where it was not asked to.
        hits: What was shown for the recall of ten, of one that shows more than documents.
        block: What stands in its context; None where that was not asked for, or cannot be told.
        key: What the metrics of the task judge by besides.
        disputed: What an audit of the data finds wrong with what is wanted; "" for nothing.
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
    cpu_ms: float | None = None
    wanted: str = ""
    origin: str = ""
    given: GivenAnswer | None = None
    hits: tuple[CreditedHit, ...] = ()
    block: tuple[ContextLine, ...] | None = None
    key: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    disputed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The cost of one contestant; None where a figure does not apply to it.

    Attributes:
        start_seconds: Until it was made.
        ingest_seconds, ingest_cpu_seconds: For all `messages`, until it said that they were taken in.
        bytes_per_message: On disk, all its files after the last one; mnemic's with its log of writes folded in.
        lag_ms: Median time from giving it one message to a recall that returned that message.
        model_calls, model_tokens: By a language model, for each message.
        recall_calls, recall_tokens: The same for each recall.
        peak_mib: The most memory of its process, where it had one of its own.
        replayed: It read a journal that was taken in before: times and bytes are what came on top of that.
        vectors_made: Vectors that a cache did not hold yet, which who runs after it finds there.
    """

    system: str
    messages: int
    ingest_seconds: float
    ingest_cpu_seconds: float | None = None
    start_seconds: float | None = None
    bytes_per_message: float | None = None
    lag_ms: float | None = None
    model_calls: float = 0.0
    model_tokens: float = 0.0
    recall_calls: float = 0.0
    recall_tokens: float = 0.0
    peak_mib: float | None = None
    replayed: bool = False
    vectors_made: int = 0


@dataclass(frozen=True, slots=True)
class Placed:
    """A document's session and its tokens."""

    session: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRun:
    """What one log file holds of one task.

    Attributes:
        header: The `run` record.
        task: Its name; "" where the run had only one thing to do.
        docs: By `ns`, then by document id.
        answers: By contestant, in the order they ran.
        failures: Why contestants did not come to their end, by name.
        questions, texts: The words of questions, and of documents that were wanted or found, by `ns` and id.
        readings, marks, preferences: What models answered over what was recalled, and what judges said, by their keys.
        complete: Whether the run came to its end.
    """

    header: Mapping[str, Any]
    task: str = ""
    docs: Mapping[str, Mapping[str, Placed]] = field(default_factory=dict)
    answers: Mapping[str, list[LoggedAnswer]] = field(default_factory=dict)
    costs: Mapping[str, Cost] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    questions: Mapping[tuple[str, str], str] = field(default_factory=dict)
    texts: Mapping[tuple[str, str], str] = field(default_factory=dict)
    readings: Mapping[tuple[str, ...], ReadAnswer] = field(default_factory=dict)
    marks: Mapping[tuple[str, ...], JudgeReply] = field(default_factory=dict)
    preferences: Mapping[tuple[str, ...], PairReply] = field(default_factory=dict)
    complete: bool = False

    @property
    def spoken(self) -> Iterator[ModelWords]:
        """All that models said."""
        for replies in (self.readings, self.marks, self.preferences):
            yield from (reply.said for reply in replies.values())

    @property
    def answering(self) -> tuple[str, ...]:
        """Contestants that have answered, in the order they were named: several at once answer in any."""
        named: Mapping[str, Sequence[str]] = self.header.get("settings", {}).get("contestants", {})
        return tuple(dict.fromkeys(row for row in (*named.get(self.task, ()), *self.answers) if row in self.answers))

    @property
    def is_whole(self) -> bool:
        """Whether it came to its end, and nobody failed on the way."""
        return self.complete and not self.failures and not any(said.failed for said in self.spoken)

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
            wanted=answer.wanted,
            given=answer.given,
            hits=answer.hits,
            block=answer.block,
            key=answer.key,
        )


class InterruptedRun(KeyboardInterrupt):
    """An interrupt amid a run: what was measured until then stands in its log."""

    def __init__(self, log: Path) -> None:
        super().__init__(f"what was measured until then is kept in {log}")
        self.log = log


class Log:
    """A log file; each record is handed to the operating system before the next is made."""

    def __init__(self, path: Path, *, going_on: bool = False) -> None:
        """Create the file; or, going on, open the one that is there, and drop a last line that was cut short.

        Raises:
            Invalid: it is there already (a log is never written twice), or cannot be created.
        """
        self._path = path
        refuse_file(path, going_on=going_on)
        try:
            path.parent.mkdir(exist_ok=True)
            if going_on:
                _drop_half_a_line(path)
            self._file = path.open("a" if going_on else "x", encoding="utf-8")
        except FileExistsError as error:
            raise Invalid("out", f"{path.name} exists", "A log is never overwritten; name another file.") from error
        except OSError as error:
            raise Invalid(
                "out", f"cannot create {path.name}: {error.strerror}", "Name a folder you can write."
            ) from error
        self._lasting: dict[str, object] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._file.close()
        if kind is KeyboardInterrupt:
            raise InterruptedRun(self._path) from error

    def header(self, **facts: object) -> None:
        """Say what runs: `facts` of the caller, and those of this program and machine."""
        self._append("run", format=FORMAT, started=datetime.now(UTC).isoformat(), **provenance(), **facts)

    def of_task(self, name: str) -> None:
        """Say which task the records that follow belong to."""
        self._lasting = {"task": name} if name else {}

    def corpus(self, ns: str, docs: Mapping[str, Placed]) -> None:
        """Say where the documents of one memory lie and what they cost."""
        self._append("corpus", ns=ns, docs={doc: [p.session, p.tokens] for doc, p in docs.items()})

    def words(self, kind: str, ns: str, id: str, text: str) -> None:
        """Keep the words of a `question` or, as `text`, of a document."""
        self._append(kind, ns=ns, id=id, text=text)

    def answer(self, answer: LoggedAnswer) -> None:
        """Add one answer, scores to six significant digits; what it does not have is left out."""
        record = {name: getattr(answer, name) for name in LoggedAnswer.__slots__}
        record["scores"] = [float(f"{score:.6g}") for score in answer.scores]
        record["given"] = None if answer.given is None else finite(_filled(asdict(answer.given)))
        record["hits"] = tuple(_filled(asdict(hit)) for hit in answer.hits)
        record["block"] = None if answer.block is None else [asdict(line) for line in answer.block]
        self._append("answer", **{n: value for n, value in record.items() if n not in _OPTIONAL or not _empty(value)})

    def cost(self, cost: Cost) -> None:
        """Add what one contestant cost."""
        self._append("cost", **{name: getattr(cost, name) for name in Cost.__slots__})

    def spoke(self, reply: ReadAnswer | JudgeReply | PairReply) -> None:
        """Add what a model answered, or found of answers."""
        kind = next(kind for kind, made in _SPOKEN.items() if isinstance(reply, made))
        record = asdict(reply)
        record["said"] = {name: value for name, value in record["said"].items() if value not in ("", False)}
        self._append(kind, **record)

    def failed(self, system: str, why: str) -> None:
        """Say what ended a contestant before its last question."""
        self._append("failed", system=system, why=why)

    def add(self, kind: str, **record: object) -> None:
        """Add a record that one bench alone reads, by `records`; `read` passes over it."""
        self._append(kind, **record)

    def end(self) -> None:
        """Say that nothing is missing."""
        self.of_task("")
        self._append("end", ended=datetime.now(UTC).isoformat())

    def _append(self, kind: str, **record: object) -> None:
        json.dump({"kind": kind, **self._lasting, **record}, self._file, ensure_ascii=False, separators=(",", ":"))
        self._file.write("\n")
        self._file.flush()


def read(path: Path) -> LoggedRun:
    """Read a log of one task, or of what names none; a last line that was cut short is left out.

    Raises:
        NotFound: there is no such file.
        Invalid: not a log of ours, or one of several tasks.
    """
    runs = read_tasks(path)
    if len(runs) > 1:
        raise Invalid("log", f"{path.name} is of several tasks: {', '.join(runs)}", "Read it with `read_tasks`.")
    return next(iter(runs.values()))


def read_tasks(path: Path) -> dict[str, LoggedRun]:
    """Read a log, by the names of its tasks in their order.

    Raises:
        NotFound: there is no such file.
        Invalid: not a log of ours, or a line of it is none that a run writes.
    """
    numbered = enumerate(records(path), start=1)
    header = _header_of(path, next(numbered, (0, {}))[1])
    of_a_run = header.get("bench") == RUN_BENCH  # other benches have kinds of their own, and some no corpus
    made = {name: _Gathering(names_docs=of_a_run) for name in header.get("tasks") or ("",)}
    complete = False
    for number, record in numbered:
        match kind := record.pop("kind", None):
            case "end" | "resumed":
                complete = kind == "end"  # one that is gone on with, until it ends again
            case "run":
                raise _damaged(path, number, "begins a second run")
            case str() if kind in _GATHERED:
                of = record.pop("task", "")
                if of not in made:
                    raise _damaged(path, number, f"is of {of!r}, which is no task of this run")
                try:
                    made[of].add(kind, record)
                except _UnknownDoc as error:
                    raise _damaged(path, number, str(error)) from error
                except (AttributeError, KeyError, TypeError, ValueError) as error:
                    raise _damaged(path, number, f"has not the fields of a record `{kind}`") from error
            case _ if of_a_run:
                what = f"its kind is {kind!r}" if isinstance(kind, str) else "it says no kind"
                raise _damaged(path, number, f"is no record of a run: {what}")
    return {name: gathering.run(header, name, complete) for name, gathering in made.items()}


def _header_of(path: Path, first: dict[str, Any]) -> dict[str, Any]:
    """The first record of a log, which says what ran."""
    if "setting" in first:
        hint = f"The command that wrote it shows its tables: mnemic bench tune TASKS --out {path}"
        raise Invalid("log", f"{path.name} is of `bench tune`, and keeps what settings came to, no run", hint)
    if first.pop("kind", None) != "run":
        hint = "Name a .jsonl file of `mnemic bench`."
    elif first.get("format") != FORMAT:
        hint = "It was written by another version: run it again."
    else:
        return first
    raise Invalid("log", f"{path.name} is not a log of a run that this version reads", hint)


def _damaged(path: Path, number: int, what: str) -> Invalid:
    return Invalid("log", f"line {number} of {path.name} {what}", "It is damaged, or no log.")


class _UnknownDoc(Exception):
    """An answer ranks a document that no corpus before it holds."""


class _Gathering:
    """The records of one task, whose answers rank only documents that it names, if it names any."""

    def __init__(self, *, names_docs: bool) -> None:
        self._names_docs = names_docs
        self._docs: dict[str, dict[str, Placed]] = {}
        self._answers: dict[str, dict[tuple[str, str], LoggedAnswer]] = {}
        self._costs: dict[str, Cost] = {}
        self._failures: dict[str, str] = {}
        self._words: dict[str, dict[tuple[str, str], str]] = {"question": {}, "text": {}}
        self._spoken: dict[str, dict[tuple[str, ...], Any]] = {kind: {} for kind in _SPOKEN}

    def add(self, kind: str, record: dict[str, Any]) -> None:
        match kind:
            case "corpus":
                docs = record["docs"].items()
                self._docs[record["ns"]] = {doc: Placed(session, tokens) for doc, (session, tokens) in docs}
            case "question" | "text":
                self._words[kind][record["ns"], record["id"]] = record["text"]
            case "answer":
                answer = _answer(record)
                unknown = [doc for doc in answer.ranked if doc not in self._docs.get(answer.ns, ())]
                if unknown and self._names_docs:
                    raise _UnknownDoc(f"ranks {unknown[0]!r}, a document that no line before it names")
                self._answers.setdefault(answer.system, {})[answer.ns, answer.question] = answer
            case "cost":
                self._costs[record["system"]] = Cost(**record)
                self._failures.pop(record["system"], None)  # the second time it came to its end
            case "failed":
                self._failures[record["system"]] = record["why"]
            case "read" | "mark" | "prefer":
                reply = _SPOKEN[kind](**{**record, "said": ModelWords(**record["said"])})
                self._spoken[kind][reply.key] = reply

    def run(self, header: Mapping[str, Any], name: str, complete: bool) -> LoggedRun:
        return LoggedRun(
            header=header, task=name, docs=self._docs, costs=self._costs, failures=self._failures,
            answers={system: list(answers.values()) for system, answers in self._answers.items()},
            questions=self._words["question"], texts=self._words["text"], readings=self._spoken["read"],
            marks=self._spoken["mark"], preferences=self._spoken["prefer"], complete=complete,
        )  # fmt: skip


def _answer(record: Mapping[str, Any]) -> LoggedAnswer:
    values = _tuples(record)
    if (given := values.get("given")) is not None:
        sure = math.nan if given["confidence"] is None else given["confidence"]
        quotes = tuple(QuotedDocs(**_tuples(quote)) for quote in given.get("quotes", ()))
        values["given"] = GivenAnswer(**{**_tuples(given), "quotes": quotes, "confidence": sure})
    values["hits"] = tuple(CreditedHit(**_tuples(hit)) for hit in values.get("hits", ()))
    if "block" in values:
        values["block"] = tuple(ContextLine(**_tuples(line)) for line in values["block"])
    values["key"] = _tuples(values.get("key", {}))
    return LoggedAnswer(**values)


def _tuples(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in record.items()}


def _filled(record: dict[str, Any]) -> dict[str, Any]:
    """A record without what is empty and may be left out."""
    return {name: value for name, value in record.items() if name not in _OPTIONAL or not _empty(value)}


def _empty(value: object) -> bool:
    """Whether a field says nothing; a list that is empty, such as a context without a line, says something."""
    return value is None or value in ("", (), {})


def _drop_half_a_line(path: Path) -> None:
    with path.open("r+b") as file:
        whole = file.read().rfind(b"\n") + 1
        file.truncate(whole)


def bench_of(path: Path) -> str:
    """Which bench wrote a log, by its first line; "" where it does not say.

    Raises:
        NotFound: there is no such file.
        Invalid: that line is damaged.
    """
    return str(next(iter(records(path)), {}).get("bench", ""))


def records(path: Path) -> Iterator[dict[str, Any]]:
    """Every record of a log in order, of whatever kind; a last line that was cut short is left out.

    Raises:
        NotFound: there is no such file.
        Invalid: a line is not JSON, or no record.
    """
    try:
        with path.open(encoding="utf-8", errors="replace", newline="\n") as file:  # a text may hold U+2028
            lines = file.readlines()
    except FileNotFoundError as error:
        raise NotFound(f"there is no log {path.name}") from error
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            if line.endswith("\n"):
                raise _damaged(path, number, "is not JSON") from error
            return
        if not isinstance(record, dict):
            raise _damaged(path, number, "is JSON, but no record")
        yield record


def differences(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The settings of two runs that are not the same: by name, as they were and as they are."""
    flat_was, flat_now = _flat(was), _flat(now)
    for name in dict.fromkeys((*flat_was, *flat_now)):
        if flat_was.get(name) != flat_now.get(name):
            yield name, _in_words(flat_was.get(name)), _in_words(flat_now.get(name))


def _flat(settings: Mapping[str, Any], before: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, value in settings.items():
        inner = _flat(value, f"{before}{name} ") if isinstance(value, Mapping) else {f"{before}{name}": value}
        flat |= inner
    return flat


def _in_words(value: object) -> str:
    """A setting as a person reads it: names by commas, none for nothing."""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


def provenance() -> dict[str, object]:
    """Version, commit, packages and machine: what a number needs beside it to be believed."""
    return {
        "mnemic": __version__,
        "git": checkout(),
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


def checkout() -> dict[str, object] | None:
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

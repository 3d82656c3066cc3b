"""LongMemEval (Wu et al., arXiv:2410.10813) as its authors publish it: S, M and oracle are one form.

A question has a haystack of its own: sessions with ids and dates, of turns by `user` and `assistant`. Evidence is
given twice: as `answer_session_ids`, and by `has_answer` on turns. A question whose id ends in `_abs` has no answer
in its haystack; what it names as evidence only looks like it, and is not taken for evidence here. M is some
gigabytes, so questions are read one at a time, and a text that stands in many haystacks is held once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

from mnemic.errors import Invalid, NotFound, TooLarge
from mnemic.ingest.jsonio import elements
from mnemic.ingest.source import Source
from mnemic.lab.kit.datasets import (
    BenchQuestion,
    Corpus,
    DataReading,
    Dataset,
    Doc,
    category_of,
    load,
    said,
    with_documents,
    words,
)

TYPES: Final = (
    "single-session-user",
    "single-session-assistant",
    "single-session-preference",
    "multi-session",
    "temporal-reasoning",
    "knowledge-update",
)
"""The authors' question types; `abstention` is ours for ids that end in `_abs`."""

ABSTENTION: Final = "abstention"
_HINT: Final = "Give longmemeval_s.json, longmemeval_m.json or longmemeval_oracle.json, or unified jsonl(.gz)."


def load_longmemeval(path: Path, limit: int | None = None) -> Dataset:
    """Read a file of LongMemEval, or unified jsonl of it.

    Args:
        limit: Only the first so many questions; the rest of the file is not looked at.

    Raises:
        Invalid: not a file, or no document can be read from it.
    """
    try:
        with Source(path) as source:
            if not source.head.lstrip().startswith(b"["):
                return load(path).first(limit)
            reading = DataReading(path.name.split(".")[0], _digest(path))
            entries = _entries(reading, source)
            return with_documents(_haystacks(reading, islice(entries, limit)), _HINT)
    except NotFound as error:
        raise Invalid("path", f"cannot read {path.name}: there is no such file", _HINT) from error


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _entries(reading: DataReading, source: Source) -> Iterator[object]:
    """Each entry of the file, up to where it is cut or broken."""
    try:
        yield from elements(source)
    except (Invalid, TooLarge) as error:
        reading.fault("the end", f"cannot be read from here on: {error}")


def _haystacks(reading: DataReading, entries: Iterator[object]) -> Dataset:
    corpora: dict[str, Corpus] = {}
    made: list[tuple[str, Callable[[], BenchQuestion]]] = []
    texts: dict[str, str] = {}
    for number, entry in enumerate(entries):
        where = f"question {number}"
        if not isinstance(entry, Mapping) or not isinstance(entry.get("haystack_sessions"), list):
            reading.fault(where, "has no haystack")
            continue
        ns = str(entry.get("question_id", number))
        if ns in corpora:
            reading.fault(where, f"a second question {ns}")
            continue
        haystack = _Haystack(reading, f"{where} ({ns})", ns, texts)
        corpora[ns] = haystack.corpus(entry)
        made.append((where, partial(haystack.question, entry)))
    questions = reading.questions(made)
    return reading.dataset((corpora[question.ns] for question in questions), questions)


class _Haystack:
    """The history of one question."""

    def __init__(self, reading: DataReading, where: str, ns: str, texts: dict[str, str]) -> None:
        self._reading, self._where, self._ns, self._texts = reading, where, ns, texts
        self._marked: list[Doc] = []
        self._sessions: set[str] = set()

    def corpus(self, entry: Mapping[str, Any]) -> Corpus:
        """Read the sessions in the order they were held: those of the oracle file are in no order."""
        held = entry["haystack_sessions"]
        ids, dates = (_listed(entry.get(f"haystack_{name}")) for name in ("session_ids", "dates"))
        if len(ids) != len(held) or len(dates) != len(held):
            self._reading.fault(self._where, f"{len(held)} sessions have {len(ids)} ids and {len(dates)} dates")
        sessions: list[list[Doc]] = []
        for n, turns in enumerate(held):
            id = str(ids[n]) if n < len(ids) else f"session-{n + 1}"
            if not isinstance(turns, list):
                self._reading.fault(self._where, f"session {id} has no turns")
            elif id in self._sessions:
                self._reading.fault(self._where, f"a second session {id}")
            else:
                docs = self._session(id, str(dates[n]) if n < len(dates) else "", turns)
                if docs:
                    self._sessions.add(id)
                    sessions.append(docs)
        return Corpus(ns=self._ns, docs=tuple(doc for docs in _by_date(sessions) for doc in docs))

    def _session(self, id: str, when: str, turns: Sequence[Any]) -> list[Doc]:
        docs: dict[tuple[str, str], Doc] = {}
        for pos, turn in enumerate(turns):
            fields = turn if isinstance(turn, Mapping) else {}
            text = fields.get("content")
            if isinstance(text, str):
                text = self._texts.setdefault(text, text)
            kept = self._reading.keep(
                f"{self._where}, session {id}, turn {pos}",
                docs,
                {
                    "ns": self._ns, "id": f"{id}:{pos + 1}", "session": id, "pos": pos, "ts": when,
                    "speaker": str(fields.get("role", "")), "text": text,
                },
            )  # fmt: skip
            if kept is not None and fields.get("has_answer"):
                self._marked.append(kept)
        return list(docs.values())

    def question(self, entry: Mapping[str, Any]) -> BenchQuestion:
        """Read the question, with its evidence by turn and by session."""
        kind, there_is_none = category_of(entry["question_type"]), self._ns.endswith("_abs")
        if kind not in TYPES:
            self._reading.fault(self._where, f"no question type of LongMemEval's: {kind!r}")
        named = () if there_is_none else tuple(dict.fromkeys(map(str, entry.get("answer_session_ids") or ())))
        self._reading.nowhere(self._where, self._ns, [id for id in named if id not in self._sessions], "session")
        sessions = tuple(id for id in named if id in self._sessions)
        gold = [] if there_is_none else [doc for doc in self._marked if doc.session in sessions]
        if not there_is_none:
            for doc in self._marked:
                if doc.session not in sessions:
                    self._reading.fault(self._where, f"turn {doc.id} is marked, and its session is no evidence")
        return BenchQuestion(
            ns=self._ns,
            id=self._ns,
            text=words(entry["question"]),
            answer=str(entry.get("answer", "")),
            category=ABSTENTION if there_is_none else kind,
            gold=tuple(doc.id for doc in gold),
            sessions=sessions,
            asked=said(str(entry.get("question_date", ""))),
        )


def _by_date(sessions: list[list[Doc]]) -> list[list[Doc]]:
    """Sessions in the order of their dates; as they stand where one has none."""
    dated = [(docs[0].said, n) for n, docs in enumerate(sessions) if docs[0].said is not None]
    return [sessions[n] for _, n in sorted(dated)] if len(dated) == len(sessions) else sessions


def _listed(values: object) -> Sequence[Any]:
    return values if isinstance(values, list) else ()

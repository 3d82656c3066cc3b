"""MemoryAgentBench (Hu et al., arXiv:2507.05257): long texts that are told piece by piece, with many questions to each.

A row has a `context`, `questions`, `answers` (all that are right, for each), and `metadata` that names its `source`;
the source tells which of the four kinds it is. The published files are Parquet; written as JSON lines they are read
here. A context is taken apart as its source puts it together: a fact, an example, a document, a dialogue or a
paragraph is one document, and some 512 tokens of them a session, which is the chunk that the authors tell at once.

Evidence is not given. For examples it is those with the right label; else the documents that hold an answer as a
phrase, where not too many do (`answer_evidence`); of facts, those that have most of the question's words, and of a
fact that was told again the latest. Of a summary it is, for each of the `keypoints` that judges look for, the piece
that holds most of its words. All that is a stand-in: what the authors score is answers, which needs a model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from mnemic.core.tokens import count_tokens
from mnemic.errors import Invalid
from mnemic.lab.kit.datasets import BenchQuestion, Corpus, DataReading, Dataset, Doc, in_form, words
from mnemic.lab.kit.formats.answer_evidence import MOST, by_most_words, by_phrase, content, spaced

RETRIEVAL: Final = "accurate retrieval"
LEARNING: Final = "learning at test time"
LONG_RANGE: Final = "long range"
CONFLICT: Final = "conflict"

KINDS: Final[Mapping[str, str]] = {
    "ruler_qa": RETRIEVAL,
    "longmemeval": RETRIEVAL,
    "eventqa": RETRIEVAL,
    "icl_": LEARNING,
    "recsys": LEARNING,
    "infbench": LONG_RANGE,
    "detective_qa": LONG_RANGE,
    "factconsolidation": CONFLICT,
}
"""The four kinds, by how the names of their sources begin."""

CHUNK: Final = 512
"""Tokens that are told at once."""
_PARAGRAPH: Final = 200
"""Tokens of a document that is cut from running text."""
_UNITS: Final[Mapping[str, re.Pattern[str]]] = {
    "ruler_qa": re.compile(r"\n(?=Document \d+:)"),
    "icl_": re.compile(r"\n\s*\n"),
    "recsys": re.compile(r"\n(?=Dialogue \d+:)"),
    "factconsolidation": re.compile(r"\n(?=\d+\. )"),
}
"""Where the context of a source is cut into documents; any other is running text."""
_FACT: Final = re.compile(r"\d+\. ")
_LABEL: Final = re.compile(r"label:\s*(\S+)\s*$")
_HINT: Final = "Give rows of MemoryAgentBench as JSON lines, or unified jsonl(.gz)."
_AS_LINES: Final = "Write it as lines: `pandas.read_parquet(FILE).to_json(OUT, orient='records', lines=True)`."


def load_memory_agent_bench(path: Path) -> Dataset:
    """Read rows of MemoryAgentBench, or unified jsonl of it.

    Raises:
        Invalid: not a file, one in Parquet, or no document can be read from it.
    """
    try:
        return in_form(path, _rows, _HINT)
    except Invalid as error:
        if path.suffix == ".parquet":
            raise Invalid("path", f"{path.name} is Parquet", _AS_LINES) from error
        raise


def _rows(reading: DataReading, text: str) -> Dataset:
    corpora: list[Corpus] = []
    made: list[tuple[str, Callable[[], BenchQuestion]]] = []
    names: dict[str, int] = {}
    for where, row in reading.lines(text):
        metadata = row.get("metadata")
        source = str(metadata.get("source", "")) if isinstance(metadata, Mapping) else ""
        family = next((begin for begin in KINDS if source.startswith(begin)), "")
        if not family:
            reading.fault(where, f"no source of MemoryAgentBench's: {source!r}")
        names[source] = names.get(source, 0) + 1
        long_text = _LongText(reading, where, f"{source or 'unknown'}-{names[source]}", family)
        corpora.append(long_text.corpus(row))
        made += long_text.asked(row, KINDS.get(family, source), source)
    return reading.dataset(corpora, reading.questions(made))


class _LongText:
    """One row: a long text, and what is asked of it."""

    def __init__(self, reading: DataReading, where: str, ns: str, family: str) -> None:
        self._reading, self._where, self._ns, self._family = reading, where, ns, family
        self._corpus = Corpus(ns=ns, docs=())
        self._spaced: dict[str, str] = {}
        self._labels: dict[str, list[str]] = {}
        self._points: list[str] = []

    def corpus(self, row: Mapping[str, Any]) -> Corpus:
        """Take the context apart."""
        docs: dict[tuple[str, str], Doc] = {}
        for n, (session, speaker, text) in enumerate(self._pieces(row)):
            record = {
                "ns": self._ns, "id": f"{n}", "session": session, "pos": n, "ts": "", "speaker": speaker, "text": text,
            }  # fmt: skip
            self._reading.keep(f"{self._where}, piece {n}", docs, record)
        self._corpus = Corpus(ns=self._ns, docs=tuple(docs.values()))
        metadata = row.get("metadata")
        points = metadata.get("keypoints") if isinstance(metadata, Mapping) else None
        self._points = [point for point in _listed(points) if isinstance(point, str)]
        for doc in self._corpus.docs:
            self._spaced[doc.id] = spaced(doc.text)
            if self._family == "icl_" and (label := _LABEL.search(doc.text)):
                self._labels.setdefault(label[1], []).append(doc.id)
        return self._corpus

    def _pieces(self, row: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
        """Session, speaker and text of each document."""
        if self._family == "longmemeval" and (held := _listed(row["metadata"].get("haystack_sessions"))):
            yield from _turns(held)
            return
        context = row.get("context")
        if not isinstance(context, str):
            self._reading.fault(self._where, "has no context")
            return
        chunk, size = 1, 0
        for text in _units(self._family, context):
            tokens = count_tokens(text)
            if size and size + tokens > CHUNK:
                chunk, size = chunk + 1, 0
            size += tokens
            yield f"chunk {chunk}", "user", text

    def asked(
        self, row: Mapping[str, Any], kind: str, source: str
    ) -> Iterator[tuple[str, Callable[[], BenchQuestion]]]:
        """The questions of the row, each still to be read."""
        questions, answers = (_listed(row.get(name)) for name in ("questions", "answers"))
        if len(questions) != len(answers):
            self._reading.fault(self._where, f"{len(questions)} questions have {len(answers)} answers")
        for n, pair in enumerate(zip(questions, answers, strict=False)):
            yield f"{self._where}, question {n}", partial(self._question, n, *pair, kind, source)

    def _question(self, n: int, text: object, answers: object, kind: str, source: str) -> BenchQuestion:
        right = [words(answer) for answer in (answers if isinstance(answers, list) else [answers])]
        if not right:
            raise ValueError("without an answer")
        gold = self._evidence(str(text), right, kind)
        of_sessions = () if self._family == "icl_" else gold  # a chunk of examples is no evidence
        session_of = {doc.id: doc.session for doc in self._corpus.docs if doc.id in of_sessions}
        return BenchQuestion(
            ns=self._ns,
            id=f"{self._ns}-q{n}",
            text=words(text),
            answer=right[0],
            category=kind,
            gold=gold,
            sessions=tuple(dict.fromkeys(session_of.values())),
            origin=source,
            key={"outdated": self._outdated(gold, right)} if kind == CONFLICT else {},
        )

    def _outdated(self, gold: Sequence[str], answers: Sequence[str]) -> tuple[str, ...]:
        """Facts that begin as the evidence does, end otherwise, and were told before."""
        begins = {_begin(self._spaced[id], answers): int(id) for id in gold}
        return tuple(
            id
            for id, text in self._spaced.items()
            for begin, last in begins.items()
            if int(id) < last and _without_number(text).startswith(begin) and id not in gold
        )

    def _evidence(self, text: str, answers: Sequence[str], kind: str) -> tuple[str, ...]:
        if self._family == "icl_":
            return tuple(id for answer in answers for id in self._labels.get(answer, ()))
        if kind == LONG_RANGE:
            stems = {doc.id: frozenset(content(doc.text)) for doc in self._corpus.docs}
            return by_most_words(self._points, stems)
        found = by_phrase(answers, self._spaced)
        if kind == CONFLICT:
            found = _latest(self._nearest(text, found), answers, self._spaced)
        return found if len(found) <= MOST else ()

    def _nearest(self, text: str, found: Sequence[str]) -> list[str]:
        """Of some documents those that have most of the question's words, where any has one."""
        asked = set(content(text))
        shared = {id: len(asked & set(content(self._spaced[id]))) for id in found}
        most = max(shared.values(), default=0)
        return [id for id in found if shared[id] == most]


def _latest(found: Sequence[str], answers: Sequence[str], texts: Mapping[str, str]) -> tuple[str, ...]:
    """Of facts that begin the same and end with an answer, the last one told."""
    last: dict[str, str] = {}
    for id in found:
        last[_begin(texts[id], answers)] = id
    return tuple(last.values())


def _begin(fact: str, answers: Sequence[str]) -> str:
    """What a fact says before the answer that it ends with."""
    begin = _without_number(fact)
    for answer in answers:
        begin = begin.removesuffix(spaced(answer))
    return begin


def _without_number(fact: str) -> str:
    return fact.split(" ", 2)[-1]


def _units(family: str, context: str) -> Iterator[str]:
    if family not in _UNITS:
        yield from _paragraphs(context)
        return
    for unit in _UNITS[family].split(context):
        text = unit.strip()
        if text and (family != "factconsolidation" or _FACT.match(text)):  # the line before the facts is none
            yield text


def _paragraphs(context: str) -> Iterator[str]:
    """Running text in pieces of whole lines, or of whole sentences where a line is long."""
    piece, size = "", 0
    for part in re.split(r"(?<=\n)|(?<=[.!?])(?= )", context):
        tokens = count_tokens(part)
        if piece.strip() and size + tokens > _PARAGRAPH:
            yield piece.strip()
            piece, size = "", 0
        piece, size = piece + part, size + tokens
    if piece.strip():
        yield piece.strip()


def _turns(held: Sequence[Any]) -> Iterator[tuple[str, str, str]]:
    """The turns of LongMemEval's sessions, which one of its sources has."""
    sessions = [inner for outer in held for inner in (outer if _is_nested(outer) else [outer])]
    for n, session in enumerate(sessions, start=1):
        for turn in session if isinstance(session, list) else ():
            if isinstance(turn, Mapping):
                yield f"session {n}", str(turn.get("role", "")), turn.get("content", "")


def _listed(values: object) -> Sequence[Any]:
    return values if isinstance(values, list) else ()


def _is_nested(held: object) -> bool:
    """Whether it is a list of sessions and not one of turns."""
    return isinstance(held, list) and bool(held) and isinstance(held[0], list)

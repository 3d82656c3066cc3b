"""Benchmark data as values: documents, the questions asked of them, and the evidence that answers.

Two formats are read. The *unified* one is JSON lines (plain or gzip), `doc` and `query` records; the
*original* one is LoCoMo's own JSON (Maharana et al., "Evaluating Very Long-Term Conversational Memory
of LLM Agents", arXiv:2402.17753): a list of samples with `conversation` and `qa`. A question may only
be answered from documents of its own `ns`. What is wrong in a file is left out, counted and listed: a file
that was cut short, a record that is none, an id that stands twice, evidence that names no document. Evidence that is
merely misspelt is mended and counted.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from mnemic.core.items import Kind
from mnemic.errors import Invalid
from mnemic.ingest.message import Message
from mnemic.ingest.timestamps import said_at

CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
"""LoCoMo's category ids; several published tables swap the names."""

UNANSWERABLE: Final = frozenset({"adversarial", "abstention"})
"""Categories whose right answer is "that is not in memory"."""

_EVIDENCE: Final = re.compile(r"[DdSs]:?(\d+):(\d+)")
_EXACT: Final = re.compile(r"D[1-9]\d*:[1-9]\d*")
_SESSION: Final = re.compile(r"session_(\d+)")
_GZIP: Final = b"\x1f\x8b"
_CUT: Final = "the file was cut short"
_WHERE: Final = "Give LoCoMo's own json, or unified jsonl(.gz)."


@dataclass(frozen=True, slots=True, kw_only=True)
class Doc:
    """One turn or passage.

    Attributes:
        ns: Whose it is: one conversation, one user, one corpus.
        session: The sitting it belongs to; for passages the title, or the id of one that has none.
        pos: Order within its session, from 0.
        when: Its date in the source's words, "" for none.
        said: The same, read as UTC (the sources name no zone); None where it cannot be read.
        speaker: Who said it; the title of a passage.
        text: What was said, an image's caption in brackets behind it.
    """

    ns: str
    id: str
    session: str
    pos: int
    when: str
    said: datetime | None
    speaker: str
    text: str

    @property
    def is_passage(self) -> bool:
        """Whether it is a passage, and not a turn of a talk."""
        return not self.when and self.session == (self.speaker or self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchQuestion:
    """One question with its evidence.

    Attributes:
        gold: Ids of the documents that answer it, without repeats.
        sessions: Sessions that answer it; for some data sets the only evidence there is.
        origin: Which set it is from, where several are asked together.
        disputed: What an audit of the data finds wrong with answer or evidence, in the audit's word; "" for nothing.
    """

    ns: str
    id: str
    text: str
    answer: str
    category: str
    gold: tuple[str, ...]
    sessions: tuple[str, ...]
    origin: str = ""
    disputed: str = ""

    @property
    def scorable(self) -> bool:
        """Whether there is evidence to look for."""
        return bool(self.gold or self.sessions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """All documents of one memory (`ns`), in the order they were said."""

    ns: str
    docs: tuple[Doc, ...]


@dataclass(frozen=True, slots=True)
class DataFault:
    """Something wrong in a file: where, and what came of it."""

    where: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """The content of one benchmark file: corpora and questions.

    Attributes:
        sha256: The hash of the file's bytes on disk.
        mended: Pieces of evidence that were read although misspelt or joined.
        dropped: Pieces of evidence that name no document.
        faults: All that is wrong in the file, in its order; each piece of evidence that was dropped is one.
    """

    name: str
    sha256: str
    corpora: tuple[Corpus, ...]
    questions: tuple[BenchQuestion, ...]
    mended: int = 0
    dropped: int = 0
    faults: tuple[DataFault, ...] = ()

    @property
    def unscorable(self) -> int:
        """Questions without evidence, which no metric counts."""
        return sum(not q.scorable for q in self.questions)

    @property
    def undated(self) -> int:
        """Documents whose date is missing or in no form we read."""
        return sum(doc.said is None for corpus in self.corpora for doc in corpus.docs)

    def first(self, limit: int | None) -> Dataset:
        """Keep the first `limit` questions only, and the corpora that they need."""
        if limit is None:
            return self
        questions = self.questions[:limit]
        names = {q.ns for q in questions}
        return replace(self, questions=questions, corpora=tuple(c for c in self.corpora if c.ns in names))


def load(path: Path) -> Dataset:
    """Read a benchmark file in either format, as much of it as can be read.

    Raises:
        Invalid: not a file, or no document can be read from it.
    """
    raw = _bytes(path)
    reading = _Reading(path.name.split(".")[0], hashlib.sha256(raw).hexdigest())
    text = reading.text(path.name, raw)
    dataset = reading.original(text) if text.lstrip().startswith("[") else reading.unified(text)
    if not any(corpus.docs for corpus in dataset.corpora):
        first = f" ({dataset.faults[0].where}: {dataset.faults[0].what})" if dataset.faults else ""
        raise Invalid("path", f"{path.name} holds no document{first}", _WHERE)
    return dataset


def message(doc: Doc) -> Message:
    """A document as an importer would give it: a passage whose session is its speaker is an article of that title."""
    passage = doc.is_passage
    who = {"title" if passage else "speaker": doc.speaker} if doc.speaker or not passage else {}
    return Message(
        text=doc.text,
        key=f"lab:{doc.ns}:{doc.id}",
        kind=Kind.DOCUMENT if passage else Kind.TURN,
        said=doc.said,
        session=doc.session,
        pos=doc.pos,
        slots={**who, "doc": doc.id},
    )


def _said(when: str) -> datetime | None:
    try:
        return said_at(when, "UTC")
    except Invalid:
        return None


def evidence(cited: Sequence[object], sessions_by_id: Mapping[str, object]) -> tuple[tuple[str, ...], int, list[str]]:
    """Find the documents that LoCoMo's evidence strings name; how many were mended, and the pieces that name none.

    "D8:6; D9:17" is two, "D:11:26" is D11:26, "D30:05" is D30:5; "D" names nothing.
    """
    documents: dict[str, None] = {}
    mended, dropped = 0, []
    for citation in cited:
        pieces = _EVIDENCE.findall(str(citation))
        ids = [f"D{int(session)}:{int(turn)}" for session, turn in pieces]
        known_ids = [doc for doc in ids if doc in sessions_by_id]
        documents.update(dict.fromkeys(known_ids))
        dropped += [doc for doc in ids if doc not in sessions_by_id] if ids else [repr(citation)]
        mended += 0 if _EXACT.fullmatch(str(citation)) else len(known_ids)
    return tuple(documents), mended, dropped


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Invalid("path", f"cannot read {path.name}: {error.strerror}", _WHERE) from error


class _Reading:
    """Reads one file, and keeps account of what is wrong in it."""

    def __init__(self, name: str, digest: str) -> None:
        self._name, self._digest = name, digest
        self._faults: list[DataFault] = []
        self._mended = self._dropped = 0

    def text(self, file: str, raw: bytes) -> str:
        """The file's text; of one that was cut short, all that is there."""
        try:
            if raw[:2] == _GZIP:
                raw = self._unpacked(raw)
            return raw.decode("utf-8-sig")
        except (zlib.error, UnicodeDecodeError) as error:
            if isinstance(error, UnicodeDecodeError) and error.reason == "unexpected end of data":
                if not self._faults:
                    self._fault("the end", _CUT)
                return raw[: error.start].decode("utf-8-sig")
            raise Invalid("path", f"{file} is neither text in UTF-8 nor gzip of it ({error})", _WHERE) from error

    def _unpacked(self, raw: bytes) -> bytes:
        """What all members of a gzip hold, one behind the other."""
        whole = bytearray()
        while raw[:2] == _GZIP:
            member = zlib.decompressobj(wbits=31)
            whole += member.decompress(raw)
            if not member.eof:
                self._fault("the end", _CUT)
            raw = member.unused_data
        if raw.strip(b"\0"):  # nothing but padding may follow
            self._fault("the end", f"{len(raw):,} bytes behind the gzip that are none")
        return bytes(whole)

    def unified(self, text: str) -> Dataset:
        """Read `doc` and `query` records, a line each."""
        docs: dict[tuple[str, str], Doc] = {}
        asked: list[tuple[str, Mapping[str, Any]]] = []
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip():
                continue
            where = f"line {number}"
            record = self._record(where, line)
            match record.get("type") if record is not None else None:
                case "doc":
                    self._keep(where, docs, record)
                case "query":
                    asked.append((where, record or {}))
                case kind if record is not None:
                    self._fault(where, f"a record of no known type: {kind!r}")
        corpora = _corpora(list(docs.values()), [str(r["ns"]).strip() for _, r in asked if "ns" in r])
        known = {c.ns: {d.id: d.session for d in c.docs} for c in corpora}
        questions = self._questions(
            (where, partial(self._unified_question, where, record, known)) for where, record in asked
        )
        return self._dataset(corpora, questions)

    def original(self, text: str) -> Dataset:
        """Read LoCoMo's samples."""
        try:
            samples = json.loads(text)
        except json.JSONDecodeError as error:
            raise Invalid("path", f"{self._name} is not JSON ({error})", _WHERE) from error
        corpora: list[Corpus] = []
        made: list[tuple[str, Callable[[], BenchQuestion]]] = []
        for number, sample in enumerate(samples):
            where = f"sample {number}"
            if not isinstance(sample, dict) or not isinstance(sample.get("conversation"), dict):
                self._fault(where, "has no conversation")
                continue
            ns = str(sample.get("sample_id", number))
            if any(corpus.ns == ns for corpus in corpora):
                self._fault(where, f"a second sample {ns}")
                continue
            docs: dict[tuple[str, str], Doc] = {}
            talk = sample["conversation"]
            for session, turns in _sessions(talk):
                if not isinstance(turns, list):
                    self._fault(f"{where}, session {session}", "has no turns")
                    continue
                for place, turn in _turns(ns, session, turns, str(talk.get(f"session_{session}_date_time", ""))):
                    self._keep(f"{where}, {place}", docs, turn)
            corpora.append(Corpus(ns=ns, docs=tuple(docs.values())))
            session_of = {doc.id: doc.session for doc in docs.values()}
            asked = sample.get("qa", [])
            if not isinstance(asked, list):
                self._fault(where, "has no questions")
                continue
            for n, record in enumerate(asked):
                place = f"{where}, question {n}"
                made.append((place, partial(self._original_question, place, ns, n, record, session_of)))
        return self._dataset(tuple(corpora), self._questions(made))

    def _dataset(self, corpora: tuple[Corpus, ...], questions: tuple[BenchQuestion, ...]) -> Dataset:
        return Dataset(
            name=self._name, sha256=self._digest, corpora=corpora, questions=questions, mended=self._mended,
            dropped=self._dropped, faults=tuple(self._faults),
        )  # fmt: skip

    def _record(self, where: str, line: str) -> dict[str, Any] | None:
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            self._fault(where, f"is not JSON ({error.msg})")
            return None
        if not isinstance(record, dict):
            self._fault(where, "is no record")
            return None
        return record

    def _keep(self, where: str, docs: dict[tuple[str, str], Doc], record: Any) -> None:
        """Read a document, unless one of its id is there."""
        try:
            doc = _doc(record)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            self._fault(where, f"a document that cannot be read ({error!r})")
            return
        if (doc.ns, doc.id) in docs:
            self._fault(where, f"a second document {doc.id} of {doc.ns}")
        else:
            docs[doc.ns, doc.id] = doc

    def _questions(self, made: Iterable[tuple[str, Callable[[], BenchQuestion]]]) -> tuple[BenchQuestion, ...]:
        """Read questions, but no two of one id."""
        questions: dict[tuple[str, str], BenchQuestion] = {}
        for where, make in made:
            try:
                question = make()
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                self._fault(where, f"a question that cannot be read ({error!r})")
                continue
            if (question.ns, question.id) in questions:
                self._fault(where, f"a second question {question.id}")
            else:
                questions[question.ns, question.id] = question
        return tuple(questions.values())

    def _unified_question(
        self, where: str, record: Mapping[str, Any], known: Mapping[str, Mapping[str, str]]
    ) -> BenchQuestion:
        ns = record["ns"].strip()
        cited = tuple(dict.fromkeys(record["gold"]))
        gold = tuple(id for id in cited if id in known[ns])
        sessions = tuple(dict.fromkeys(record["gold_sessions"] or (known[ns][id] for id in gold)))
        there = set(known[ns].values())
        self._nowhere(where, record["id"], [id for id in cited if id not in known[ns]])
        for session in (session for session in sessions if session not in there):
            self._fault(where, f"evidence of {record['id']} names no session: {session}")
        return BenchQuestion(
            ns=ns,
            id=record["id"],
            text=_words(record["text"]),
            answer=str(record.get("answer", "")),
            category=str(record.get("category", "")),
            gold=gold,
            sessions=tuple(session for session in sessions if session in there),
            disputed=str(record.get("audit", "")),
        )

    def _original_question(
        self, where: str, ns: str, n: int, record: Mapping[str, Any], session_of: Mapping[str, str]
    ) -> BenchQuestion:
        gold, better, dropped = evidence(record.get("evidence") or (), session_of)
        self._nowhere(where, f"{ns}-q{n}", dropped)
        self._mended += better
        category = record["category"]
        if category not in CATEGORIES:
            self._fault(where, f"no category of LoCoMo's: {category!r}")
        return BenchQuestion(
            ns=ns,
            id=f"{ns}-q{n}",
            text=_words(record["question"]),
            answer=str(record.get("answer", record.get("adversarial_answer", ""))),
            category=CATEGORIES.get(category, str(category)),
            gold=gold,
            sessions=tuple(dict.fromkeys(session_of[g] for g in gold)),
        )

    def _nowhere(self, where: str, question: str, cited: Sequence[str]) -> None:
        self._dropped += len(cited)
        for citation in cited:
            self._fault(where, f"evidence of {question} names no document: {citation}")

    def _fault(self, where: str, what: str) -> None:
        self._faults.append(DataFault(where, what))


def _doc(record: Mapping[str, Any]) -> Doc:
    return Doc(
        ns=record["ns"].strip(),
        id=_words(record["id"]),
        session=record["session"],
        pos=int(record["pos"]),
        when=record["ts"],
        said=_said(record["ts"]),
        speaker=record["speaker"],
        text=_words(record["text"]),
    )


def _words(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    if not value.strip():
        raise ValueError("a text without words")
    return value


def _corpora(docs: Sequence[Doc], names: Sequence[str]) -> tuple[Corpus, ...]:
    """Make a corpus of each `ns`; an empty one where a question has no documents."""
    by_ns: dict[str, list[Doc]] = {}
    for doc in docs:
        by_ns.setdefault(doc.ns, []).append(doc)
    for ns in names:
        by_ns.setdefault(ns, [])
    return tuple(Corpus(ns=ns, docs=tuple(corpus_docs)) for ns, corpus_docs in by_ns.items())


def _sessions(conversation: Mapping[str, Any]) -> Iterator[tuple[int, Any]]:
    """The sessions in the order of their numbers."""
    for number in sorted(int(m[1]) for key in conversation if (m := _SESSION.fullmatch(key))):
        yield number, conversation[f"session_{number}"]


def _turns(ns: str, number: int, turns: Sequence[Any], when: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each turn of a session, as a record of the unified format, and where it stands."""
    for pos, turn in enumerate(turns):
        at = {"ns": ns, "session": f"S{number}", "pos": pos, "ts": when}
        fields = turn if isinstance(turn, dict) else {}
        caption, text = fields.get("blip_caption"), fields.get("text")
        if isinstance(text, str):
            at["text"] = (f"{text} [shared image: {caption}]" if caption else text).strip()
        at |= {ours: fields[theirs] for ours, theirs in (("id", "dia_id"), ("speaker", "speaker")) if theirs in fields}
        yield f"session {number}, turn {pos}", at

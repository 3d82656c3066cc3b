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
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import islice, zip_longest
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

NO_CATEGORY: Final = "no category"
"""The category of a question whose data names none."""

_EVIDENCE: Final = re.compile(r"[DdSs]:?(\d+):(\d+)")
_EXACT: Final = re.compile(r"D[1-9]\d*:[1-9]\d*")
_SESSION: Final = re.compile(r"session_(\d+)")
_GZIP: Final = b"\x1f\x8b"
_UNIFIED: Final = re.compile(r'^\s*\{.*"type":\s*"(?:doc|query)"')
_LOOKED_AT: Final = 5
_CUT: Final = "the file was cut short"
_END: Final = "the end"
_STRUCTURE: Final = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[\[\]{},]', re.DOTALL)
WHERE: Final = "Give a data set in its published form, or unified jsonl(.gz)."


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
        role: `user` or `assistant`, where the source says which.
    """

    ns: str
    id: str
    session: str
    pos: int
    when: str
    said: datetime | None
    speaker: str
    text: str
    role: str = ""

    @property
    def is_passage(self) -> bool:
        """Whether it is a passage, and not a turn of a talk."""
        return not self.when and self.session == (self.speaker or self.id)

    @property
    def kind(self) -> Kind:
        """What it is taken in as."""
        return Kind.DOCUMENT if self.is_passage else Kind.TURN


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldAudit:
    """What an audit of a data set says of a question whose answer or evidence is wrong, in its own words.

    Attributes:
        verdict: What is wrong.
        answer: The right one.
        gold: The documents that do answer it.
    """

    verdict: str
    answer: str
    gold: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchQuestion:
    """One question with its evidence.

    Attributes:
        gold: Ids of the documents that answer it, without repeats.
        sessions: Sessions that answer it; for some data sets the only evidence there is.
        origin: Which set it is from, where several are asked together.
        asked: When it is asked; None for when the last document of its corpus was said.
        as_of, valid_at: The past that it is asked of: what was known by then, what was so then; None for now.
        of_context: It asks for no evidence but for what stands in the context whatever is asked; `text` is empty.
        key: What the metrics of its task judge by besides, by name: documents that are `outdated`, `wrong` values.
            No contestant looks at it.
        audit: What is wrong with its answer or evidence, where the data says so.
    """

    ns: str
    id: str
    text: str
    answer: str
    category: str
    gold: tuple[str, ...]
    sessions: tuple[str, ...]
    origin: str = ""
    asked: datetime | None = None
    as_of: datetime | None = None
    valid_at: datetime | None = None
    of_context: bool = False
    key: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    audit: GoldAudit | None = None

    @property
    def scorable(self) -> bool:
        """Whether there is evidence to look for."""
        return bool(self.gold or self.sessions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """All documents of one memory (`ns`), in the order they were said.

    Attributes:
        told: They are told one at a time, as to an assistant, by a clock that stands at each; and whoever asks is the
            one who told them. Otherwise they are taken in a session at a time, as an import does.
    """

    ns: str
    docs: tuple[Doc, ...]
    told: bool = False


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
    def doubted(self) -> int:
        """Questions whose answer or evidence an audit says is wrong."""
        return sum(q.audit is not None for q in self.questions)

    @property
    def undated(self) -> int:
        """Documents whose date is missing or in no form we read."""
        return sum(doc.said is None for corpus in self.corpora for doc in corpus.docs)

    def first(self, limit: int | None) -> Dataset:
        """Keep the first `limit` questions only, and the corpora that they need."""
        return self if limit is None else self._with(self.questions[:limit])

    def first_of_each(self, limit: int) -> Dataset:
        """Keep `limit` questions, of each category and origin as many as of another while there are any."""
        by_sort: dict[tuple[str, str], list[BenchQuestion]] = {}
        for question in self.questions:
            by_sort.setdefault((question.category, question.origin), []).append(question)
        dealt = (question for round_ in zip_longest(*by_sort.values()) for question in round_ if question is not None)
        kept = {(question.ns, question.id) for question in islice(dealt, limit)}
        return self._with(tuple(q for q in self.questions if (q.ns, q.id) in kept))

    def _with(self, questions: tuple[BenchQuestion, ...]) -> Dataset:
        names = {q.ns for q in questions}
        return replace(self, questions=questions, corpora=tuple(c for c in self.corpora if c.ns in names))


def load(path: Path) -> Dataset:
    """Read a benchmark file in either format, as much of it as can be read.

    Raises:
        Invalid: not a file, or no document can be read from it.
    """
    reading, text = opened(path)
    return with_documents(original(reading, text) if text.lstrip().startswith("[") else unified(reading, text), WHERE)


def opened(path: Path) -> tuple[DataReading, str]:
    """Open a file for reading: who keeps account of it, and its text.

    Raises:
        Invalid: there is no such file, or it is neither text in UTF-8 nor gzip of it.
    """
    raw = _bytes(path)
    reading = DataReading(path.name.split(".")[0], hashlib.sha256(raw).hexdigest())
    return reading, reading.text(path.name, raw)


def in_form(path: Path, own: Callable[[DataReading, str], Dataset], hint: str) -> Dataset:
    """Read a file in a form of its own, or unified jsonl of the same data.

    Args:
        own: Reads its own form.

    Raises:
        Invalid: not a file, or no document can be read from it.
    """
    reading, text = opened(path)
    return with_documents(unified(reading, text) if is_unified(text) else own(reading, text), hint)


def with_documents(dataset: Dataset, hint: str) -> Dataset:
    """The data set itself, if it holds a document.

    Raises:
        Invalid: it holds none.
    """
    if not any(corpus.docs for corpus in dataset.corpora):
        raise Invalid("path", f"{dataset.name} holds no document{first_fault(dataset)}", hint)
    return dataset


def first_fault(dataset: Dataset) -> str:
    """What is wrong first in a data set, for an error about the whole; "" where nothing is."""
    return f" ({dataset.faults[0].where}: {dataset.faults[0].what})" if dataset.faults else ""


def message(doc: Doc) -> Message:
    """A document as an importer would give it: a passage whose session is its speaker is an article of that title."""
    passage = doc.is_passage
    who = {"title" if passage else "speaker": doc.speaker} if doc.speaker or not (passage or doc.role) else {}
    role = {"role": doc.role} if doc.role else {}
    return Message(
        text=doc.text,
        key=f"lab:{doc.ns}:{doc.id}",
        kind=doc.kind,
        said=doc.said,
        session=doc.session or None,
        pos=doc.pos if doc.session else None,
        slots={**who, **role, "doc": doc.id},
    )


def _worded(error: Exception) -> str:
    """What is wrong with a record, as whoever wrote it understands it."""
    return f"it has no {error}" if isinstance(error, KeyError) else f"{type(error).__name__}: {error}"


def made_dataset(name: str, corpora: Sequence[Corpus], questions: Sequence[BenchQuestion]) -> Dataset:
    """A dataset of what a task has made itself; its digest is of all that stands in it."""
    digest = hashlib.sha256(repr((corpora, questions)).encode()).hexdigest()
    return Dataset(name=name, sha256=digest, corpora=tuple(corpora), questions=tuple(questions))


def said(when: str) -> datetime | None:
    """A date in a source's words, read as UTC; None where it cannot be read."""
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
        raise Invalid("path", f"cannot read {path.name}: {error.strerror}", WHERE) from error


class DataReading:
    """Reads one data set, and keeps account of what is wrong in it."""

    def __init__(self, name: str, digest: str) -> None:
        self._name, self._digest = name, digest
        self._faults: list[DataFault] = []
        self._mended = self._dropped = 0

    def text(self, file: str, raw: bytes) -> str:
        """The file's text; of one that was cut short, all that is there.

        Raises:
            Invalid: it is neither text in UTF-8 nor gzip of it.
        """
        try:
            if raw[:2] == _GZIP:
                raw = self._unpacked(raw)
            elif raw and file.endswith(".gz"):
                self.fault("the file", "is no gzip, though it is called one")
            return raw.decode("utf-8-sig")
        except (zlib.error, UnicodeDecodeError) as error:
            if isinstance(error, UnicodeDecodeError) and error.reason == "unexpected end of data":
                self.cut()
                return raw[: error.start].decode("utf-8-sig")
            raise Invalid("path", f"{file} is neither text in UTF-8 nor gzip of it ({error})", WHERE) from error

    def _unpacked(self, raw: bytes) -> bytes:
        """What all members of a gzip hold, one behind the other."""
        whole = bytearray()
        while raw[:2] == _GZIP:
            member = zlib.decompressobj(wbits=31)
            whole += member.decompress(raw)
            if not member.eof:
                self.cut()
            raw = member.unused_data
        if raw.strip(b"\0"):  # nothing but padding may follow
            self.fault("the end", f"{len(raw):,} bytes behind the gzip that are none")
        return bytes(whole)

    def value(self, text: str) -> Any:
        """The one value that a JSON text holds; of one that was cut short, what was whole before that.

        Raises:
            Invalid: it is not JSON.
        """
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            closed = whole_before_the_cut(text)
            if closed is None:
                raise Invalid("path", f"{self._name} is not JSON ({error})", WHERE) from error
            self.cut()
            return json.loads(closed)

    def lines(self, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The records of a text, a line each, with where each stands."""
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except json.JSONDecodeError as error:
                self.fault(f"line {number}", f"is not JSON ({error.msg})")
                continue
            if isinstance(record, dict):
                yield f"line {number}", record
            else:
                self.fault(f"line {number}", "is no record")

    def keep(self, where: str, docs: dict[tuple[str, str], Doc], record: Any) -> Doc | None:
        """Read a document in the unified form, unless one of its id is there; None where it is left out."""
        try:
            doc = _doc(record)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            self.fault(where, f"a document that cannot be read ({_worded(error)})")
            return None
        if (doc.ns, doc.id) in docs:
            self.fault(where, f"a second document {doc.id} of {doc.ns}")
            return None
        return docs.setdefault((doc.ns, doc.id), doc)

    def questions(self, made: Iterable[tuple[str, Callable[[], BenchQuestion]]]) -> tuple[BenchQuestion, ...]:
        """Read questions, but no two of one id."""
        questions: dict[tuple[str, str], BenchQuestion] = {}
        for where, make in made:
            try:
                question = make()
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                self.fault(where, f"a question that cannot be read ({_worded(error)})")
                continue
            if (question.ns, question.id) in questions:
                self.fault(where, f"a second question {question.id}")
            else:
                questions[question.ns, question.id] = question
        return tuple(questions.values())

    def dataset(self, corpora: Iterable[Corpus], questions: Iterable[BenchQuestion]) -> Dataset:
        """All that was read, with the account of it."""
        return Dataset(
            name=self._name, sha256=self._digest, corpora=tuple(corpora), questions=tuple(questions),
            mended=self._mended, dropped=self._dropped, faults=tuple(self._faults),
        )  # fmt: skip

    def also(self, digest: str) -> None:
        """Take a further file of the data set into its digest."""
        self._digest = hashlib.sha256(f"{self._digest}{digest}".encode()).hexdigest()

    def cut(self) -> None:
        """Note, once, that the file ends before its end."""
        if DataFault(_END, _CUT) not in self._faults:
            self.fault(_END, _CUT)

    def mended(self, pieces: int) -> None:
        """Count evidence that was read although misspelt."""
        self._mended += pieces

    def nowhere(self, where: str, question: str, cited: Iterable[object], what: str = "document") -> None:
        """Note evidence of a question that names nothing."""
        for citation in cited:
            self._dropped += 1
            self.fault(where, f"evidence of {question} names no {what}: {citation}")

    def fault(self, where: str, what: str) -> None:
        """Note something wrong."""
        self._faults.append(DataFault(where, what))


def whole_before_the_cut(text: str) -> str | None:
    """A JSON text that was cut short, closed behind the last value that is whole; None where none is.

    A list or an object that holds a value already is kept with what it holds.
    """
    open_at_comma: tuple[int, str] | None = None
    closing: list[str] = []
    for token in _STRUCTURE.finditer(text):
        match token[0]:
            case "[" | "{":
                closing.append("]" if token[0] == "[" else "}")
            case "]" | "}":
                if not closing or closing.pop() != token[0]:
                    return None
                if closing:
                    open_at_comma = token.end(), "".join(reversed(closing))
            case "," if closing:
                open_at_comma = token.start(), "".join(reversed(closing))
    if not closing or open_at_comma is None:
        return None
    end, brackets = open_at_comma
    closed = text[:end] + brackets
    try:
        json.loads(closed)
    except json.JSONDecodeError:
        return None
    return closed


# The unified form


def is_unified(text: str) -> bool:
    """Whether a text is in the unified form, by its first lines: one of them may be broken."""
    return any(_UNIFIED.search(line) for line in text.split("\n", _LOOKED_AT)[:_LOOKED_AT])


def unified(reading: DataReading, text: str) -> Dataset:
    """Read `doc` and `query` records, a line each."""
    docs: dict[tuple[str, str], Doc] = {}
    asked: list[tuple[str, Mapping[str, Any]]] = []
    for where, record in reading.lines(text):
        match record.get("type"):
            case "doc":
                reading.keep(where, docs, record)
            case "query":
                asked.append((where, record))
            case kind:
                reading.fault(where, f"a record of no known type: {kind!r}")
    corpora = corpora_of(docs.values(), [str(r["ns"]).strip() for _, r in asked if "ns" in r])
    known = {c.ns: {d.id: d.session for d in c.docs} for c in corpora}
    made = ((where, partial(_unified_question, reading, where, record, known)) for where, record in asked)
    return reading.dataset(corpora, reading.questions(made))


def _unified_question(
    reading: DataReading, where: str, record: Mapping[str, Any], known: Mapping[str, Mapping[str, str]]
) -> BenchQuestion:
    ns = record["ns"].strip()
    named = tuple(dict.fromkeys(cited(record["gold"])))
    gold = tuple(id for id in named if id in known[ns])
    sessions = tuple(dict.fromkeys(cited(record["gold_sessions"]) or (known[ns][id] for id in gold)))
    there = set(known[ns].values())
    reading.nowhere(where, record["id"], [id for id in named if id not in known[ns]])
    for session in (session for session in sessions if session not in there):
        reading.fault(where, f"evidence of {record['id']} names no session: {session}")
    return BenchQuestion(
        ns=ns,
        id=record["id"],
        text=words(record["text"]),
        answer=str(record.get("answer", "")),
        category=category_of(record.get("category")),
        gold=gold,
        sessions=tuple(session for session in sessions if session in there),
        audit=_audit(record, known[ns]),
    )


def _audit(record: Mapping[str, Any], known: Mapping[str, str]) -> GoldAudit | None:
    """What somebody who has looked again says of a question; None where nothing is said to be wrong."""
    if not record.get("audit"):
        return None
    gold = tuple(dict.fromkeys(id for id in record.get("gold_audited", ()) if id in known))
    return GoldAudit(verdict=str(record["audit"]), answer=str(record.get("audited_answer", "")), gold=gold)


# LoCoMo's own form


def original(reading: DataReading, text: str) -> Dataset:
    """Read LoCoMo's samples."""
    corpora: list[Corpus] = []
    made: list[tuple[str, Callable[[], BenchQuestion]]] = []
    for number, sample in enumerate(reading.value(text)):
        where = f"sample {number}"
        if not isinstance(sample, dict) or not isinstance(sample.get("conversation"), dict):
            reading.fault(where, "has no conversation")
            continue
        ns = str(sample.get("sample_id", number))
        if any(corpus.ns == ns for corpus in corpora):
            reading.fault(where, f"a second sample {ns}")
            continue
        corpus = _talk(reading, where, ns, sample["conversation"])
        corpora.append(corpus)
        session_of = {doc.id: doc.session for doc in corpus.docs}
        asked = sample.get("qa", [])
        if not isinstance(asked, list):
            reading.fault(where, "has no questions")
            continue
        for n, record in enumerate(asked):
            place = f"{where}, question {n}"
            made.append((place, partial(_original_question, reading, place, ns, n, record, session_of)))
    return reading.dataset(corpora, reading.questions(made))


def _talk(reading: DataReading, where: str, ns: str, talk: Mapping[str, Any]) -> Corpus:
    docs: dict[tuple[str, str], Doc] = {}
    for session, turns in _sessions(talk):
        if not isinstance(turns, list):
            reading.fault(f"{where}, session {session}", "has no turns")
            continue
        for place, turn in _turns(ns, session, turns, str(talk.get(f"session_{session}_date_time", ""))):
            reading.keep(f"{where}, {place}", docs, turn)
    return Corpus(ns=ns, docs=tuple(docs.values()))


def _original_question(
    reading: DataReading, where: str, ns: str, n: int, record: Mapping[str, Any], session_of: Mapping[str, str]
) -> BenchQuestion:
    gold, better, dropped = evidence(cited(record.get("evidence")), session_of)
    reading.nowhere(where, f"{ns}-q{n}", dropped)
    reading.mended(better)
    category = record["category"]
    if category not in CATEGORIES:
        reading.fault(where, f"no category of LoCoMo's: {category!r}")
    return BenchQuestion(
        ns=ns,
        id=f"{ns}-q{n}",
        text=words(record["question"]),
        answer=str(record.get("answer", record.get("adversarial_answer", ""))),
        category=CATEGORIES.get(category, category_of(category)),
        gold=gold,
        sessions=tuple(dict.fromkeys(session_of[g] for g in gold)),
    )


def _doc(record: Mapping[str, Any]) -> Doc:
    return Doc(
        ns=record["ns"].strip(),
        id=words(record["id"]),
        session=record["session"],
        pos=int(record["pos"]),
        when=record["ts"],
        said=said(record["ts"]),
        speaker=record["speaker"],
        text=words(record["text"]),
    )


def cited(evidence: object) -> Sequence[Any]:
    """What evidence names: a list as it stands, one name by itself; nothing where there is none."""
    return evidence if isinstance(evidence, list | tuple) else () if evidence in (None, "") else (evidence,)


def category_of(value: object) -> str:
    """A category as the data names it."""
    return NO_CATEGORY if value is None else str(value).strip() or NO_CATEGORY


def words(value: object) -> str:
    """A text that holds something.

    Raises:
        TypeError: it is no text.
        ValueError: it is blank.
    """
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    if not value.strip():
        raise ValueError("a text without words")
    return value


def corpora_of(docs: Iterable[Doc], names: Iterable[str] = ()) -> tuple[Corpus, ...]:
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

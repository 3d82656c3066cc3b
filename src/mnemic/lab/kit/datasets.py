"""Benchmark data as values: documents, the questions asked of them, and the evidence that answers.

Two formats are read. The *unified* one is JSON lines (plain or gzip), `doc` and `query` records; the
*original* one is LoCoMo's own JSON (Maharana et al., "Evaluating Very Long-Term Conversational Memory
of LLM Agents", arXiv:2402.17753): a list of samples with `conversation` and `qa`. A question may only
be answered from documents of its own `ns`. Evidence in the published file is partly malformed: what can
be read is mended and counted, what names no turn is dropped and counted.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from mnemic.errors import Invalid
from mnemic.ingest.timestamps import said_at

CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
"""LoCoMo's category ids; several published tables swap the names."""

UNANSWERABLE: Final = frozenset({"adversarial", "abstention"})
"""Categories whose right answer is "that is not in memory"."""

_EVIDENCE: Final = re.compile(r"[DdSs]:?(\d+):(\d+)")
_EXACT: Final = re.compile(r"D[1-9]\d*:[1-9]\d*")
_SESSION: Final = re.compile(r"session_(\d+)")
_WHERE: Final = "Give LoCoMo's own json, or unified jsonl(.gz)."


@dataclass(frozen=True, slots=True, kw_only=True)
class Doc:
    """One turn or passage.

    Attributes:
        ns: Whose it is: one conversation, one user, one corpus.
        session: The sitting it belongs to; for passages the title.
        pos: Order within its session, from 0.
        when: Its date in the source's words, "" for none.
        said: The same, read as UTC (the sources name no zone); None where it cannot be read.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchQuestion:
    """One question with its evidence.

    Attributes:
        gold: Ids of the documents that answer it, without repeats.
        sessions: Sessions that answer it; for some data sets the only evidence there is.
    """

    ns: str
    id: str
    text: str
    answer: str
    category: str
    gold: tuple[str, ...]
    sessions: tuple[str, ...]

    @property
    def scorable(self) -> bool:
        """Whether there is evidence to look for."""
        return bool(self.gold or self.sessions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """All documents of one memory (`ns`), in the order they were said."""

    ns: str
    docs: tuple[Doc, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """The content of one benchmark file: corpora and questions.

    Attributes:
        sha256: The hash of the file's bytes on disk.
        mended: Pieces of evidence that were read although misspelt or joined.
        dropped: Pieces of evidence that name no document.
    """

    name: str
    sha256: str
    corpora: tuple[Corpus, ...]
    questions: tuple[BenchQuestion, ...]
    mended: int = 0
    dropped: int = 0

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
    """Read a benchmark file in either format.

    Raises:
        Invalid: not a file, not JSON, or neither of the two formats.
    """
    raw = _bytes(path)
    digest = hashlib.sha256(raw).hexdigest()
    text = _decompressed(path, raw)
    name = path.name.split(".")[0]
    try:
        if text.lstrip().startswith("["):
            return _original(name, digest, json.loads(text))
        return _unified(name, digest, [json.loads(line) for line in text.splitlines() if line.strip()])
    except json.JSONDecodeError as error:
        raise Invalid("path", f"{path.name} is not JSON ({error})", _WHERE) from error
    except (KeyError, TypeError, AttributeError) as error:
        raise Invalid("path", f"{path.name} is not a benchmark file we know ({error!r})", _WHERE) from error


def _said(when: str) -> datetime | None:
    try:
        return said_at(when, "UTC")
    except Invalid:
        return None


def evidence(cited: Sequence[object], sessions_by_id: Mapping[str, object]) -> tuple[tuple[str, ...], int, int]:
    """Find the documents that LoCoMo's evidence strings name; count the pieces that were mended and dropped.

    "D8:6; D9:17" is two, "D:11:26" is D11:26, "D30:05" is D30:5; "D" names nothing.
    """
    documents: dict[str, None] = {}
    mended = dropped = 0
    for citation in cited:
        pieces = _EVIDENCE.findall(str(citation))
        ids = [f"D{int(session)}:{int(turn)}" for session, turn in pieces]
        known_ids = [doc for doc in ids if doc in sessions_by_id]
        documents.update(dict.fromkeys(known_ids))
        dropped += max(len(ids), 1) - len(known_ids)
        mended += 0 if _EXACT.fullmatch(str(citation)) else len(known_ids)
    return tuple(documents), mended, dropped


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Invalid("path", f"cannot read {path.name}: {error.strerror}", _WHERE) from error


def _decompressed(path: Path, raw: bytes) -> str:
    try:
        return (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise Invalid("path", f"{path.name} is neither text in UTF-8 nor gzip of it ({error})", _WHERE) from error


def _unified(name: str, digest: str, records: Sequence[dict[str, Any]]) -> Dataset:
    docs = [_unified_doc(r) for r in records if r["type"] == "doc"]
    corpora = _corpora(docs, [r["ns"].strip() for r in records if r["type"] == "query"])
    known = {c.ns: {d.id: d.session for d in c.docs} for c in corpora}
    questions, dropped = [], 0
    for record in (r for r in records if r["type"] == "query"):
        session_of = known[record["ns"].strip()]
        gold = tuple(dict.fromkeys(g for g in record["gold"] if g in session_of))
        dropped += len(set(record["gold"])) - len(gold)
        sessions = tuple(dict.fromkeys(record["gold_sessions"] or (session_of[g] for g in gold)))
        questions.append(
            BenchQuestion(
                ns=record["ns"].strip(),
                id=record["id"],
                text=record["text"],
                answer=str(record.get("answer", "")),
                category=str(record.get("category", "")),
                gold=gold,
                sessions=sessions,
            )
        )
    if not docs:
        raise Invalid("path", f"{name} holds no document", _WHERE)
    return Dataset(name=name, sha256=digest, corpora=corpora, questions=tuple(questions), dropped=dropped)


def _unified_doc(record: Mapping[str, Any]) -> Doc:
    return Doc(
        ns=record["ns"].strip(),
        id=record["id"],
        session=record["session"],
        pos=int(record["pos"]),
        when=record["ts"],
        said=_said(record["ts"]),
        speaker=record["speaker"],
        text=record["text"],
    )


def _corpora(docs: Sequence[Doc], names: Sequence[str]) -> tuple[Corpus, ...]:
    """Make a corpus of each `ns`; an empty one where a question has no documents."""
    by_ns: dict[str, list[Doc]] = {}
    for doc in docs:
        by_ns.setdefault(doc.ns, []).append(doc)
    for ns in names:
        by_ns.setdefault(ns, [])
    return tuple(Corpus(ns=ns, docs=tuple(corpus_docs)) for ns, corpus_docs in by_ns.items())


def _original(name: str, digest: str, samples: Sequence[Mapping[str, Any]]) -> Dataset:
    corpora, questions, mended, dropped = [], [], 0, 0
    for number, sample in enumerate(samples):
        ns = str(sample.get("sample_id", number))
        docs = tuple(_turns(ns, sample["conversation"]))
        session_of = {doc.id: doc.session for doc in docs}
        corpora.append(Corpus(ns=ns, docs=docs))
        for n, record in enumerate(sample["qa"]):
            gold, better, worse = evidence(record.get("evidence") or (), session_of)
            mended, dropped = mended + better, dropped + worse
            questions.append(_question(ns, n, record, gold, session_of))
    return Dataset(
        name=name, sha256=digest, corpora=tuple(corpora), questions=tuple(questions), mended=mended, dropped=dropped
    )


def _turns(ns: str, conversation: Mapping[str, Any]) -> Iterator[Doc]:
    numbers = sorted(int(m[1]) for key in conversation if (m := _SESSION.fullmatch(key)))
    for number in numbers:
        when = str(conversation.get(f"session_{number}_date_time", ""))
        for pos, turn in enumerate(conversation[f"session_{number}"]):
            caption = turn.get("blip_caption")
            text = f"{turn['text']} [shared image: {caption}]" if caption else turn["text"]
            yield Doc(
                ns=ns,
                id=turn["dia_id"],
                session=f"S{number}",
                pos=pos,
                when=when,
                said=_said(when),
                speaker=turn["speaker"],
                text=text.strip(),
            )


def _question(
    ns: str, n: int, record: Mapping[str, Any], gold: tuple[str, ...], session_of: Mapping[str, str]
) -> BenchQuestion:
    return BenchQuestion(
        ns=ns,
        id=f"{ns}-q{n}",
        text=record["question"],
        answer=str(record.get("answer", record.get("adversarial_answer", ""))),
        category=CATEGORIES.get(record["category"], str(record["category"])),
        gold=gold,
        sessions=tuple(dict.fromkeys(session_of[g] for g in gold)),
    )

"""Multi-hop questions over passages, in the formats they are published in, with what each was asked over.

HotpotQA and 2WikiMultiHopQA: a list of `_id`, `question`, `supporting_facts` [[title, sentence]], `context`
[[title, [sentences]]] (Yang et al., arXiv:1809.09600; Ho et al., arXiv:2011.01060); HotpotQA's other edition, with
columns for lists, as JSON lines too. MuSiQue: JSON lines of `id`, `question`, `paragraphs` [{idx, title,
paragraph_text, is_supporting}] (Trivedi et al., arXiv:2108.00573). Our unified jsonl, which has the documents pooled
and says only which of them answer.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mnemic.errors import Invalid
from mnemic.lab.kit import datasets
from mnemic.lab.kit.datasets import BenchQuestion, Doc

UNITS: Final = ("paragraph", "sentence")
_WHERE: Final = "Give HotpotQA's or 2Wiki's json, MuSiQue's jsonl, or unified jsonl(.gz)."


@dataclass(frozen=True, slots=True, kw_only=True)
class Passages:
    """A file, read.

    Attributes:
        docs: In the order they come; what stands word by word in several questions' contexts comes once, the first
            time.
        questions: In order, with the documents that hold their supporting facts.
        needed: Of each question, by id, the documents that must have come before it can be asked: all of its context,
            or where the file does not say that, those that answer it.
        dropped: Supporting facts that name no sentence or paragraph of the context.
    """

    name: str
    sha256: str
    docs: tuple[Doc, ...]
    questions: tuple[BenchQuestion, ...]
    needed: Mapping[str, tuple[str, ...]]
    dropped: int = 0


def read_passages(path: Path, *, unit: str = "paragraph", limit: int | None = None) -> Passages:
    """Read a file of multi-hop questions in any of the formats.

    Args:
        unit: What is one document, from `UNITS`; unified files have paragraphs only.
        limit: The first so many questions, and what was asked over them.

    Raises:
        Invalid: no such file, or none of the formats.
    """
    if unit not in UNITS:
        raise Invalid("unit", f"{unit!r} is not one", f"There are: {', '.join(UNITS)}.")
    raw = _bytes(path)
    name = path.name.split(".")[0]
    try:
        rows = _rows(path, raw)
        if rows and rows[0].get("type") in ("doc", "query"):
            return _unified(path, unit, limit)
        return _asked(name, hashlib.sha256(raw).hexdigest(), rows[:limit], unit)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise Invalid("path", f"{path.name} is no file of multi-hop questions ({error!r})", _WHERE) from error


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """One paragraph of one question's context: its sentences, and which of them are facts that the answer needs."""

    title: str
    sentences: tuple[str, ...]
    facts: frozenset[int]


def _bytes(path: Path) -> bytes:
    try:
        raw = path.read_bytes()
        return gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    except (OSError, EOFError, zlib.error) as error:
        raise Invalid("path", f"cannot read {path.name}: {error}", _WHERE) from error


def _rows(path: Path, raw: bytes) -> list[dict[str, Any]]:
    try:
        text = raw.decode("utf-8-sig")
        if text.lstrip().startswith("["):
            return list(json.loads(text))
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise Invalid("path", f"{path.name} is not JSON ({error})", _WHERE) from error


def _unified(path: Path, unit: str, limit: int | None) -> Passages:
    if unit != "paragraph":
        raise Invalid("unit", "a unified file has whole paragraphs only", "Leave --unit out, or give the original.")
    dataset = datasets.load(path)
    if len(dataset.corpora) != 1:
        raise Invalid("path", f"{path.name} is of {len(dataset.corpora)} memories", "Give a file of one pool.")
    questions = dataset.questions[:limit]
    docs = dataset.corpora[0].docs
    if limit is not None:
        place = {doc.id: at for at, doc in enumerate(docs)}
        docs = docs[: 1 + max((place[needed] for q in questions for needed in q.gold), default=-1)]
    return Passages(
        name=dataset.name,
        sha256=dataset.sha256,
        docs=docs,
        questions=questions,
        needed={question.id: question.gold for question in questions},
        dropped=dataset.dropped,
    )


def _asked(name: str, sha256: str, rows: Sequence[Mapping[str, Any]], unit: str) -> Passages:
    if not rows:
        raise Invalid("path", f"{name} holds no question", _WHERE)
    known: dict[tuple[str, str], Doc] = {}
    questions: list[BenchQuestion] = []
    needed: dict[str, tuple[str, ...]] = {}
    dropped = 0
    for row in rows:
        context, lost = _context(row)
        dropped += lost
        docs, gold = _placed(name, known, context, unit)
        question = _question(name, row, gold)
        questions.append(question)
        needed[question.id] = tuple(dict.fromkeys(doc.id for doc in docs))
    return Passages(
        name=name,
        sha256=sha256,
        docs=tuple(known.values()),
        questions=tuple(questions),
        needed=needed,
        dropped=dropped,
    )


def _context(row: Mapping[str, Any]) -> tuple[list[_Paragraph], int]:
    """What one question was asked over, and how many of its facts are not there."""
    if "paragraphs" in row:
        paragraphs = (
            (p["title"], (p["paragraph_text"],), frozenset({0} if p["is_supporting"] else ()))
            for p in row["paragraphs"]
        )
        return [_Paragraph(*paragraph) for paragraph in paragraphs], 0
    facts: dict[str, set[int]] = {}
    for title, number in _facts(row["supporting_facts"]):
        facts.setdefault(title, set()).add(number)
    context = [
        _Paragraph(title, tuple(sentences), frozenset(n for n in facts.get(title, ()) if 0 <= n < len(sentences)))
        for title, sentences in _paragraphs(row["context"])
    ]
    return context, sum(map(len, facts.values())) - sum(len(p.facts) for p in context)


def _facts(raw: Any) -> Iterator[tuple[str, int]]:
    pairs = zip(raw["title"], raw["sent_id"], strict=True) if isinstance(raw, dict) else raw
    return ((str(title), int(number)) for title, number in pairs)


def _paragraphs(raw: Any) -> Iterator[tuple[str, list[str]]]:
    pairs = zip(raw["title"], raw["sentences"], strict=True) if isinstance(raw, dict) else raw
    return ((str(title), list(sentences)) for title, sentences in pairs)


def _placed(
    name: str, docs_by_text: dict[tuple[str, str], Doc], context: Sequence[_Paragraph], unit: str
) -> tuple[list[Doc], tuple[str, ...]]:
    """The documents of one context, those not known yet added, and the ids of those that hold its facts."""
    docs: list[Doc] = []
    gold: list[str] = []
    for paragraph in context:
        for pos, text, fact in _units(paragraph, unit):
            if not text:
                continue
            key = (paragraph.title, text)
            doc = docs_by_text.setdefault(key, _doc(name, len(docs_by_text), paragraph.title, pos, text))
            docs.append(doc)
            if fact:
                gold.append(doc.id)
    return docs, tuple(dict.fromkeys(gold))


def _units(paragraph: _Paragraph, unit: str) -> Iterator[tuple[int, str, bool]]:
    """The documents in a paragraph: place, text, and whether a fact stands there."""
    if unit == "paragraph":
        yield 0, " ".join(text.strip() for text in paragraph.sentences).strip(), bool(paragraph.facts)
        return
    for pos, sentence in enumerate(paragraph.sentences):
        yield pos, sentence.strip(), pos in paragraph.facts


def _doc(name: str, number: int, title: str, pos: int, text: str) -> Doc:
    return Doc(ns=name, id=f"p{number}", session=title, pos=pos, when="", said=None, speaker=title, text=text)


def _question(name: str, row: Mapping[str, Any], gold: tuple[str, ...]) -> BenchQuestion:
    return BenchQuestion(
        ns=name,
        id=str(row["_id"] if "_id" in row else row["id"]),
        text=row["question"],
        answer=str(row.get("answer", "")),
        category=str(row.get("type") or str(row.get("id", "")).split("_")[0]),
        gold=gold,
        sessions=(),
    )

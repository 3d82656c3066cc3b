"""MemoryBank's evaluation data (Zhong et al., arXiv:2305.10250), which MemoryOS calls GVD: users who talk for ten days.

`memory_bank_en.json` (or `_cn`) holds each user's talk by day, in pairs of `query` and `response`; beside it
`probing_questions_en.jsonl` has a line of questions for each user. The authors had answers judged by people and give
no evidence, so ours is read: `evidence.jsonl` beside the data, or else that of the package, which is ids only, by
hand, for the two published files. A question that we found nothing to answer is an `abstention`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any, Final

from mnemic.lab.kit.datasets import (
    BenchQuestion,
    Corpus,
    DataReading,
    Dataset,
    Doc,
    is_unified,
    opened,
    unified,
    with_documents,
    words,
)

PROBING: Final = "probing"
"""The category of its questions; what nothing answers is an `abstention`."""

_HINT: Final = (
    "Give memory_bank_en.json or memory_bank_cn.json, with probing_questions beside it, or unified jsonl(.gz)."
)


def load_memory_bank(path: Path) -> Dataset:
    """Read a memory bank with the questions beside it, or unified jsonl of it.

    Raises:
        Invalid: not a file, or no document can be read from it.
    """
    reading, text = opened(path)
    dataset = unified(reading, text) if is_unified(text) else _bank(reading, text, path)
    return with_documents(_with_evidence(dataset, reading, path.with_name("evidence.jsonl")), _HINT)


def _bank(reading: DataReading, text: str, path: Path) -> Dataset:
    corpora = []
    bank = reading.value(text)
    for name, user in bank.items() if isinstance(bank, Mapping) else ():
        ns = name.strip()
        history = user.get("history") if isinstance(user, Mapping) else None
        if isinstance(history, Mapping):
            corpora.append(_talk(reading, ns, history))
        else:
            reading.fault(f"user {ns}", "has no history")
    there = {corpus.ns for corpus in corpora}
    made = ((where, partial(_question, ns, n, asked)) for where, ns, n, asked in _asked(reading, path, there))
    return reading.dataset(corpora, reading.questions(made))


def _talk(reading: DataReading, ns: str, history: Mapping[str, Any]) -> Corpus:
    docs: dict[tuple[str, str], Doc] = {}
    for day, pairs in sorted(history.items()):
        if not isinstance(pairs, list):
            reading.fault(f"user {ns}, {day}", "has no talk")
            continue
        for pos, pair in enumerate(pairs):
            fields = pair if isinstance(pair, Mapping) else {}
            for end, side, speaker in (("u", "query", ns), ("a", "response", "assistant")):
                record = {
                    "ns": ns, "id": f"{day}#{pos}{end}", "session": day, "pos": pos, "ts": day, "speaker": speaker,
                    "text": fields.get(side),
                }  # fmt: skip
                reading.keep(f"user {ns}, {day}, {side} {pos}", docs, record)
    return Corpus(ns=ns, docs=tuple(docs.values()))


def _asked(reading: DataReading, path: Path, there: set[str]) -> Iterator[tuple[str, str, int, object]]:
    """The questions beside a bank: where each stands, whose it is, its number."""
    beside = path.with_name(path.name.replace("memory_bank", "probing_questions").replace(".json", ".jsonl", 1))
    if not beside.exists():
        reading.fault(beside.name, "is not there: nothing is asked")
        return
    raw = beside.read_bytes()
    reading.also(hashlib.sha256(raw).hexdigest())
    for where, record in reading.lines(reading.text(beside.name, raw)):
        for name, asked in record.items():
            ns = name.strip()
            if ns not in there:
                reading.fault(f"{beside.name}, {where}", f"asks of {ns}, who is nobody")
            elif not isinstance(asked, list):
                reading.fault(f"{beside.name}, {where}", f"{ns} has no questions")
            else:
                yield from ((f"{beside.name}, {where}", ns, n, text) for n, text in enumerate(asked))


def _question(ns: str, n: int, asked: object) -> BenchQuestion:
    text = words(asked).strip().strip('"')
    return BenchQuestion(ns=ns, id=f"{ns}-q{n}", text=text, answer="", category=PROBING, gold=(), sessions=())


def _with_evidence(dataset: Dataset, reading: DataReading, beside: Path) -> Dataset:
    """Add what we found to answer each question; nothing to a question that is not the one we looked at."""
    found = {(ns, n): row for row in _rows(beside) for ns, n in _named(row)}
    docs = {corpus.ns: {doc.id: doc.session for doc in corpus.docs} for corpus in dataset.corpora}
    add: Callable[[BenchQuestion], BenchQuestion] = partial(_answered_by, reading, found, docs)
    questions = tuple(map(add, dataset.questions))
    return reading.dataset(dataset.corpora, questions)


def _rows(beside: Path) -> list[dict[str, Any]]:
    file = beside if beside.exists() else resources.files("mnemic.lab") / "fixtures" / "gvd_evidence.jsonl"
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def _named(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The questions that a row is about: one in each language."""
    return ((ns, f"{ns}-q{row['question']}") for ns in row["users"])


def _answered_by(
    reading: DataReading,
    found: Mapping[tuple[str, str], Mapping[str, Any]],
    docs: Mapping[str, Mapping[str, str]],
    question: BenchQuestion,
) -> BenchQuestion:
    row = found.get((question.ns, question.id))
    if row is None or question.gold:
        return question
    gold, session_of = row["gold"], docs[question.ns]
    reading.nowhere("evidence", question.id, [id for id in gold if id not in session_of])
    gold = tuple(id for id in gold if id in session_of)
    sessions = tuple(dict.fromkeys(session_of[id] for id in gold))
    return replace(question, gold=gold, sessions=sessions, category=PROBING if row["gold"] else "abstention")

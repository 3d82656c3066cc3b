"""Deep memory retrieval: MSC-Self-Instruct (Packer et al., "MemGPT", arXiv:2310.08560), of Multi-Session Chat.

Each line is a talk of two people in five sessions: `previous_dialogs`, and the last one as `dialog`; and in
`self_instruct` a question (`B`) with its answer (`A`). How long ago a session was is told, no date is. There is no
evidence: it is the turns that hold all words of the answer (`answer_evidence`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from mnemic.lab.kit.datasets import BenchQuestion, Corpus, DataReading, Dataset, Doc, in_form, words
from mnemic.lab.kit.formats.answer_evidence import by_words, content

_HINT: Final = "Give msc_self_instruct.jsonl, or unified jsonl(.gz)."


def load_msc(path: Path) -> Dataset:
    """Read MSC-Self-Instruct, or unified jsonl of it.

    Raises:
        Invalid: not a file, or no document can be read from it.
    """
    return in_form(path, _talks, _HINT)


def _talks(reading: DataReading, text: str) -> Dataset:
    corpora, seen = [], dict[str, str]()
    made: list[tuple[str, Callable[[], BenchQuestion]]] = []
    for number, (where, record) in enumerate(reading.lines(text)):
        same = json.dumps(record, sort_keys=True)
        if same in seen:
            reading.fault(where, f"is the same as {seen[same]}")
            continue
        seen[same], ns = where, f"talk-{number + 1}"
        corpus = Corpus(ns=ns, docs=tuple(_turns(reading, where, ns, record)))
        if corpus.docs:
            corpora.append(corpus)
            made.append((where, partial(_question, corpus, record)))
        else:
            reading.fault(where, "has no talk")
    return reading.dataset(corpora, reading.questions(made))


def _turns(reading: DataReading, where: str, ns: str, record: Mapping[str, Any]) -> Iterator[Doc]:
    docs: dict[tuple[str, str], Doc] = {}
    earlier = record.get("previous_dialogs")
    held = [*(earlier if isinstance(earlier, list) else ()), {"dialog": record.get("dialog", [])}]
    for n, session in enumerate(held, start=1):
        turns = session.get("dialog") if isinstance(session, Mapping) else session
        if not isinstance(turns, list):
            reading.fault(where, f"session {n} has no turns")
            continue
        for pos, turn in enumerate(turns):
            fields = turn if isinstance(turn, Mapping) else {}
            unified_turn = {
                "ns": ns, "id": f"D{n}:{pos + 1}", "session": f"S{n}", "pos": pos, "ts": "",
                "speaker": str(fields.get("id") or f"Speaker {pos % 2 + 1}"), "text": fields.get("text"),
            }  # fmt: skip
            reading.keep(f"{where}, session {n}, turn {pos}", docs, unified_turn)
    yield from docs.values()


def _question(corpus: Corpus, record: Mapping[str, Any]) -> BenchQuestion:
    asked = record["self_instruct"]
    answer = words(asked["A"]).strip()
    gold = by_words(answer, {doc.id: frozenset(content(doc.text)) for doc in corpus.docs})
    session_of = {doc.id: doc.session for doc in corpus.docs}
    return BenchQuestion(
        ns=corpus.ns,
        id=f"{corpus.ns}-q",
        text=words(asked["B"]).strip(),
        answer=answer,
        category="in these words" if gold else "in other words",
        gold=gold,
        sessions=tuple(dict.fromkeys(session_of[id] for id in gold)),
    )

"""BEAM (Tavakoli et al., arXiv:2510.27246): conversations of 100 thousand to 10 million tokens with an assistant.

A conversation is a folder with `chat.json` and `probing_questions/probing_questions.json`; any folder above it is
read with all that are in it, such as `chats/100K`. A chat is a list of batches, each of turns of messages that have
an `id`; that of 10M is a list of plans that hold batches. Questions stand by ability, and name messages in
`source_chat_ids`, flat or by what each is for. Where an id stands for several messages, as in 10M, evidence that
names it says nothing. A row of the copy on Hugging Face, written as a line of JSON, is read as well.
"""

from __future__ import annotations

import ast
import calendar
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from mnemic.errors import Invalid
from mnemic.lab.kit.datasets import BenchQuestion, Corpus, DataReading, Dataset, Doc, in_form, with_documents, words

ABILITIES: Final = (
    "abstention",
    "contradiction_resolution",
    "event_ordering",
    "information_extraction",
    "instruction_following",
    "knowledge_update",
    "multi_session_reasoning",
    "preference_following",
    "summarization",
    "temporal_reasoning",
)
"""The authors' abilities; of `abstention` nothing in the chat is evidence."""

_ANSWERS: Final = ("answer", "ideal_answer", "ideal_response", "ideal_summary", "expected_compliance")
"""Where an answer stands: each ability has a name of its own for it."""

_MARK: Final = re.compile(r"\s*->->\s*[\d,. N/A]+\s*$")
"""Which bullet of the plan a message was made from: left in the text by the makers."""

_ANCHOR: Final = re.compile(r"([A-Za-z]+)-(\d{1,2})-(\d{4})")
_MONTHS: Final = {name: n for n, name in enumerate(calendar.month_abbr)}
_CHAT: Final = "chat.json"
_QUESTIONS: Final = Path("probing_questions") / "probing_questions.json"
_HINT: Final = "Give a folder with chat.json in it or below, such as chats/100K, or unified jsonl(.gz)."


def load_beam(path: Path) -> Dataset:
    """Read a folder of BEAM, or a file of rows, or unified jsonl of it.

    Raises:
        Invalid: there is no chat, or no message can be read from it.
    """
    if path.is_dir():
        return with_documents(_folder(path), _HINT)
    if path.name == _CHAT:
        return with_documents(_folder(path.parent), _HINT)
    return in_form(path, _rows, _HINT)


def _folder(path: Path) -> Dataset:
    chats = sorted(path.rglob(_CHAT), key=lambda chat: [int(part) if part.isdigit() else 0 for part in chat.parts])
    if not chats:
        raise Invalid("path", f"{path.name} holds no {_CHAT}", _HINT)
    reading = DataReading(path.name, "")
    talks = []
    for chat in chats:
        name = str(chat.parent.relative_to(path)) if chat.parent != path else path.name
        talks.append((name, _value(reading, name, chat), _value(reading, name, chat.parent / _QUESTIONS)))
    return _dataset(reading, talks)


def _value(reading: DataReading, name: str, file: Path) -> object:
    """What a file holds; None, with a fault, where it cannot be read."""
    try:
        raw = file.read_bytes()
        reading.also(hashlib.sha256(raw).hexdigest())
        return reading.value(reading.text(file.name, raw))
    except (OSError, Invalid) as error:
        reading.fault(name, f"{file.name} cannot be read ({error})")
        return None


def _rows(reading: DataReading, text: str) -> Dataset:
    rows = reading.value(text) if text.lstrip().startswith("[") else [row for _, row in reading.lines(text)]
    talks = []
    for n, row in enumerate(rows):
        if isinstance(row, Mapping):
            name = str(row.get("conversation_id", n + 1))
            talks.append((name, row.get("chat"), _unquoted(reading, name, row.get("probing_questions"))))
        else:
            reading.fault(f"row {n}", "is no record")
    return _dataset(reading, talks)


def _unquoted(reading: DataReading, name: str, questions: object) -> object:
    """Questions that a row holds as text, in JSON or as Python writes them."""
    if not isinstance(questions, str):
        return questions
    try:
        return json.loads(questions)
    except json.JSONDecodeError:
        try:
            return ast.literal_eval(questions)
        except (ValueError, SyntaxError) as error:
            reading.fault(name, f"its questions are neither JSON nor Python ({error})")
            return None


def _dataset(reading: DataReading, talks: list[tuple[str, object, object]]) -> Dataset:
    corpora: dict[str, Corpus] = {}
    made: list[tuple[str, Callable[[], BenchQuestion]]] = []
    for ns, chat, questions in talks:
        if ns in corpora:
            reading.fault(ns, "a second conversation of this id")
            continue
        corpora[ns], ids = _messages(reading, ns, chat)
        for ability, asked in questions.items() if isinstance(questions, Mapping) else ():
            if ability not in ABILITIES:
                reading.fault(ns, f"no ability of BEAM's: {ability!r}")
            for n, record in enumerate(asked if isinstance(asked, list) else ()):
                place = f"{ns}, {ability} {n}"
                made.append((place, partial(_question, reading, place, corpora[ns], ids, ability, n, record)))
    return reading.dataset(corpora.values(), reading.questions(made))


def _messages(reading: DataReading, ns: str, chat: object) -> tuple[Corpus, Mapping[str, list[str]]]:
    """The messages; and by each id that is given, those that have it."""
    docs: dict[tuple[str, str], Doc] = {}
    ids: dict[str, list[str]] = {}
    when = ""
    places: Counter[str] = Counter()
    for session, message in _in_order(chat):
        pos, places[session] = places[session], places[session] + 1
        when = _date(message.get("time_anchor")) or when
        own = str(message.get("id"))
        content = message.get("content")
        kept = reading.keep(
            f"{ns}, {session}, message {pos}",
            docs,
            {
                "ns": ns, "id": f"{session}/{own}" if own in ids else own, "session": session, "pos": pos, "ts": when,
                "speaker": str(message.get("role", "")),
                "text": _MARK.sub("", content) if isinstance(content, str) else content,
            },
        )  # fmt: skip
        if kept is not None:
            ids.setdefault(own, []).append(kept.id)
    for own, several in ids.items():
        if len(several) > 1:
            reading.fault(ns, f"{len(several)} messages have the id {own}")
    return Corpus(ns=ns, docs=tuple(docs.values())), ids


def _in_order(chat: object, plan: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each message with its session, which is its batch, whatever it is nested in."""
    for n, part in enumerate(chat if isinstance(chat, list) else (), start=1):
        if isinstance(part, Mapping) and "turns" in part:
            session = f"{plan}batch-{part.get('batch_number', n)}"
            yield from ((session, message) for message in _flat(part["turns"]))
        elif isinstance(part, Mapping):
            for name, batches in part.items():
                yield from _in_order(batches, f"{plan}{name}/")
        else:  # a row of the copy: a batch is a list of messages
            yield from ((f"{plan}batch-{n}", message) for message in _flat(part))


def _flat(turns: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(turns, Mapping):
        yield turns
    elif isinstance(turns, list):
        for turn in turns:
            yield from _flat(turn)


def _date(anchor: object) -> str:
    """A time anchor as others write it: March-15-2024 is 2024-03-15."""
    found = _ANCHOR.fullmatch(anchor.strip()) if isinstance(anchor, str) else None
    month = _MONTHS.get(found[1][:3].title()) if found else None
    return f"{found[3]}-{month:02}-{int(found[2]):02}" if found and month else ""


def _question(
    reading: DataReading,
    where: str,
    corpus: Corpus,
    ids: Mapping[str, list[str]],
    ability: str,
    n: int,
    record: Mapping[str, Any],
) -> BenchQuestion:
    cited = [] if ability == "abstention" else list(dict.fromkeys(_cited(record.get("source_chat_ids"))))
    id = f"{corpus.ns}-{ability}-{n}"
    reading.nowhere(where, id, [own for own in cited if own not in ids], "message")
    reading.nowhere(where, id, [own for own in cited if len(ids.get(own, ())) > 1], "one message")
    gold = tuple(ids[own][0] for own in cited if len(ids.get(own, ())) == 1)
    session_of = {doc.id: doc.session for doc in corpus.docs}
    return BenchQuestion(
        ns=corpus.ns,
        id=id,
        text=words(record["question"]),
        answer=next((str(record[name]) for name in _ANSWERS if record.get(name)), ""),
        category=ability,
        gold=gold,
        sessions=tuple(dict.fromkeys(session_of[doc] for doc in gold)),
    )


def _cited(ids: object) -> Iterator[str]:
    """The ids that evidence names, whatever they are nested in."""
    if isinstance(ids, Mapping):
        for part in ids.values():
            yield from _cited(part)
    elif isinstance(ids, list):
        for part in ids:
            yield from _cited(part)
    elif ids is not None:
        yield str(ids)

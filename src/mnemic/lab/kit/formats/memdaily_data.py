"""MemDaily (Zhang et al., "MemSim", arXiv:2409.20163): a Chinese person's messages of a few days, and a question.

`memdaily.json` holds, by type of question and by what it is about, trajectories: a `message_list` and `QA`, with the
places of the messages that answer it (`target_step_id`) and four choices. The files before they are put together
(`01_simple_events.json`: a list, with `question_list`) and those with noise (`memdaily_9.json`: messages as plain
text) are read, too. The authors' own marks of a question that could not be made (`[ERRORQ]`) are told of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from mnemic.lab.kit.datasets import BenchQuestion, Corpus, DataReading, Dataset, Doc, cited, in_form, said, words

TYPES: Final = ("simple", "conditional", "comparative", "aggregative", "post_processing", "noisy")
"""The authors' types of question."""

_FAILED: Final = ("[ERRORQ]", "[ERRORA]")
_WHEN: Final = re.compile(r"(\d+)年(\d+)月(\d+)日(?:\s*周.)?(?:\s*(\d+:\d+))?")
_NOTED: Final = re.compile(r"(?P<text>.*) \(消息地点 (?P<place>.*), 消息时间 (?P<time>.*)\)", re.DOTALL)
_PART: Final = re.compile(r"\d+_(?P<type>[a-z_]+)_(?P<about>[a-z]+)")
_HINT: Final = "Give memdaily.json, or unified jsonl(.gz)."


def load_memdaily(path: Path) -> Dataset:
    """Read MemDaily, or unified jsonl of it.

    Raises:
        Invalid: not a file, or no document can be read from it.
    """
    return in_form(path, partial(_days, path.name.split(".")[0]), _HINT)


def _days(name: str, reading: DataReading, text: str) -> Dataset:
    corpora: dict[str, Corpus] = {}
    made: list[tuple[str, Callable[[], BenchQuestion]]] = []
    for kind, ns, trajectory in _trajectories(reading, name, reading.value(text)):
        if ns in corpora:
            reading.fault(ns, "a second trajectory of this id")
            continue
        corpora[ns], ids = _messages(reading, ns, trajectory)
        asked = trajectory.get("question_list", [trajectory.get("QA")])
        for n, qa in enumerate(asked if isinstance(asked, list) else [asked]):
            made.append((ns, partial(_question, reading, corpora[ns], ids, kind, n, qa)))
    return reading.dataset(corpora.values(), reading.questions(made))


def _trajectories(reading: DataReading, name: str, whole: object) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Each trajectory with its type and a name of its own."""
    if isinstance(whole, list):
        part = _PART.fullmatch(name)
        whole = {part["type"] if part else name: {part["about"] if part else "": whole}}
    for kind, by_scene in whole.items() if isinstance(whole, Mapping) else ():
        if kind not in TYPES:
            reading.fault(kind, "no type of MemDaily's")
        for scene, trajectories in by_scene.items() if isinstance(by_scene, Mapping) else ():
            for n, trajectory in enumerate(trajectories if isinstance(trajectories, list) else ()):
                if isinstance(trajectory, Mapping):
                    yield kind, f"{kind}/{scene}/{trajectory.get('tid', n)}", trajectory
                else:
                    reading.fault(f"{kind}/{scene}", f"trajectory {n} is none")


def _messages(reading: DataReading, ns: str, trajectory: Mapping[str, Any]) -> tuple[Corpus, Sequence[str | None]]:
    """The messages; and the id of each by its place, None for one that was left out."""
    docs: dict[tuple[str, str], Doc] = {}
    messages = trajectory.get("message_list")
    ids: list[str | None] = []
    for pos, message in enumerate(messages if isinstance(messages, list) else ()):
        fields = _fields(message)
        when = _date(str(fields.get("time", "")))
        kept = reading.keep(
            f"{ns}, message {pos}",
            docs,
            {
                "ns": ns, "id": f"m{pos}", "session": when.split(" ")[0] or "S1", "pos": pos, "ts": when,
                "speaker": "user", "text": fields.get("message"),
            },
        )  # fmt: skip
        ids.append(None if kept is None else kept.id)
    return Corpus(ns=ns, docs=tuple(docs.values())), ids


def _fields(message: object) -> Mapping[str, Any]:
    """A message's fields; of one that is written into a line, as those with noise are, what the line says."""
    if isinstance(message, Mapping):
        return message
    noted = _NOTED.fullmatch(message) if isinstance(message, str) else None
    return {"message": noted["text"], "time": noted["time"]} if noted else {"message": message}


def _date(written: str) -> str:
    """A date as others write it: 2024年04月01日 周一 08:30 is 2024-04-01 08:30."""
    found = _WHEN.search(written)
    if found is None:
        return written
    year, month, day, clock = found.groups()
    return f"{year}-{int(month):02}-{int(day):02}" + (f" {clock}" if clock else "")


def _question(
    reading: DataReading, corpus: Corpus, ids: Sequence[str | None], kind: str, n: int, qa: Mapping[str, Any]
) -> BenchQuestion:
    text, answer = words(qa["question"]), str(qa["answer"])
    if failed := [mark for mark in _FAILED if mark in (text, answer)]:
        raise ValueError(f"its makers mark it {failed[0]}")
    steps = list(dict.fromkeys(cited(qa["target_step_id"])))
    named = {step: ids[step] for step in steps if isinstance(step, int) and 0 <= step < len(ids)}
    gold = tuple(id for id in named.values() if id is not None)
    reading.nowhere(corpus.ns, f"{corpus.ns}-q{n}", [step for step in steps if named.get(step) is None], "message")
    session_of = {doc.id: doc.session for doc in corpus.docs}
    return BenchQuestion(
        ns=corpus.ns,
        id=f"{corpus.ns}-q{n}",
        text=text,
        answer=answer,
        category=kind,
        gold=gold,
        sessions=tuple(dict.fromkeys(session_of[id] for id in gold)),
        asked=said(_date(str(qa.get("time", "")))),
    )

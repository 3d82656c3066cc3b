"""Attacks by length: texts of strangers whose reading costs more than in step with their size.

Whatever reads is given the same hostile text in growing sizes, from 1 kB to 256 kB, and its processor time is taken.
Four times the text may cost four times as much; where it costs more than nine times, again and again, it grows with
the square. Only times are compared that stand well above the clock's grain, each the least of several.
"""

from __future__ import annotations

import gc
import io
import json
import pkgutil
import random
import re
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Final
from unittest.mock import patch

from mnemic.core.checking import clean_name, clean_text
from mnemic.core.mask import mask
from mnemic.core.names import mention_terms, names
from mnemic.core.timex import find_times
from mnemic.core.tokens import cut, words
from mnemic.errors import MnemicError
from mnemic.extract.entities import canonical, entities
from mnemic.extract.instructions import instructions
from mnemic.extract.quotation import own_words
from mnemic.extract.revocations import revocations
from mnemic.extract.sentences import written_sentences
from mnemic.extract.slots import birthday, slots
from mnemic.extract.speakers import is_machine
from mnemic.ingest.intake import Options
from mnemic.ingest.readers import READERS, read
from mnemic.ingest.source import Source
from mnemic.memory import Memory
from mnemic.recall.asked_for import AnswerType
from mnemic.settings import Settings
from mnemic.testing.attack.frame import AttackReport
from mnemic.testing.attack.hostile_text import SEPARATORS, HostileText, hostile_texts, patterns_of
from mnemic.testing.torture.children import folder

QUICK = 80

_SMALLEST: Final = 1 << 10
_LARGEST: Final = 1 << 18
_ENOUGH: Final = 0.3
"""Seconds after which no larger text is tried: the ratio is clear by then."""
_MEASURABLE: Final = 0.02
"""Seconds below which a time says nothing; what takes less on the largest text grows slowly enough."""
_BAR: Final = 9.0
"""Most that four times the text may cost, as a factor: 4 in step with its size, 16 with its square."""
_REPEATS: Final = 3


@dataclass(frozen=True, slots=True)
class TextReader:
    """Something that reads a text, and the modules whose patterns its hostile texts are made from."""

    name: str
    read: Callable[[str], object]
    modules: tuple[str, ...]


def attack(rounds: int, seed: int) -> AttackReport:
    """Time every reader on what was dear before, then readers by chance on texts made from their own patterns."""
    chance = random.Random(seed)
    with folder() as place:
        readers = _readers(place)
        known = [(reader, text) for reader in readers for text in _KNOWN.get(reader.name, ())]
        tries = [*known, *islice(_made(readers, chance), max(0, rounds - len(known)))]
        failures = [f"{reader.name}: {text!r}: {grown}" for reader, text in tries if (grown := _grown(reader, text))]
        caught = [_caught(readers, wall) for wall in _WALLS]
    return AttackReport(tries=len(tries), failures=failures, caught_by_control=sum(caught) if all(caught) else 0)


def _grown(reader: TextReader, text: HostileText) -> str:
    """What a reader took for a text and for one of a quarter of the size, if that is more than in step; or nothing."""
    floor = min(_seconds(reader, text.of(1)) for _ in range(_REPEATS))
    size, before = _SMALLEST, _seconds(reader, text.of(_SMALLEST))
    while size < _LARGEST:
        size *= 4
        taken = _seconds(reader, text.of(size))
        if taken - floor > _MEASURABLE:  # one time that a busy machine stretched would make the growth look slow
            before = min(before, *(_seconds(reader, text.of(size // 4)) for _ in range(_REPEATS)))
        if _is_too_dear(taken, before, floor) and _is_confirmed(reader, text.of(size), text.of(size // 4), floor):
            return f"{size:,} characters take {taken:.3f} s, over {_BAR:.0f} times as long as a quarter of them"
        if taken - floor > _ENOUGH:
            break
        before = taken
    return ""


def _is_too_dear(taken: float, before: float, floor: float) -> bool:
    """Whether a text took more than in step with a quarter of it, of the time that grows with the text at all.

    Args:
        floor: Seconds that the shortest text takes: opening a memory takes longer than reading a page.
    """
    return taken - floor > max(_MEASURABLE, floor, _BAR * (before - floor))


def _is_confirmed(reader: TextReader, large: str, small: str, floor: float) -> bool:
    """Whether the larger of two texts stays too dear when both are timed again, each at its least."""
    least_large, least_small = float("inf"), float("inf")
    for _ in range(_REPEATS):
        least_large = min(least_large, _seconds(reader, large))
        least_small = min(least_small, _seconds(reader, small))
    return _is_too_dear(least_large, least_small, floor)


def _seconds(reader: TextReader, text: str) -> float:
    gc.disable()  # its runs depend on what else is in memory
    try:
        began = time.process_time()
        with suppress(MnemicError):
            reader.read(text)
        return time.process_time() - began
    finally:
        gc.enable()


def _made(readers: Sequence[TextReader], chance: random.Random) -> Iterator[tuple[TextReader, HostileText]]:
    made = {reader.name: hostile_texts(patterns_of([*reader.modules]), chance) for reader in readers}
    while True:
        reader = chance.choice(readers)
        repeated = HostileText("", chance.choice(SEPARATORS))
        yield reader, repeated if chance.random() < 0.3 else next(made[reader.name])


# What reads


def _modules(*folders: str) -> tuple[str, ...]:
    """The modules of some folders, or modules themselves, by name."""
    names: list[str] = []
    for package in folders:
        path = getattr(import_module(package), "__path__", None)
        names += [package] if path is None else [module.name for module in pkgutil.iter_modules(path, f"{package}.")]
    return tuple(name for name in names if not name.endswith(".pdf"))


_OF_OTHERS: Final = "quotation headings letters markup_blocks material salutations speakers"
"""The modules that tell whose words a text holds."""
_OF_MASKS: Final = "mask secret_forms spoken_secrets disguises"
"""The modules that find what is masked."""
_NOW: Final = 1_700_000_000_000_000


def _readers(place: Path) -> list[TextReader]:
    rules, times = _modules("mnemic.extract"), tuple(n for n in _modules("mnemic.core") if "timex" in n)
    answers = _modules("mnemic.recall", "mnemic.window.layout")
    return [
        TextReader("own words", own_words, tuple(f"mnemic.extract.{name}" for name in _OF_OTHERS.split())),
        TextReader("instructions", instructions, rules),
        TextReader("revocations", revocations, rules),
        TextReader("slots", lambda text: slots(text, "user", _NOW), rules),
        TextReader("entities", entities, rules),
        TextReader("canonical", canonical, rules),
        TextReader("birthday", birthday, rules),
        TextReader("machine", is_machine, ("mnemic.extract.speakers",)),
        TextReader("times", lambda text: find_times(text, _NOW), times),
        TextReader("names", lambda text: (names(text), mention_terms(text)), ("mnemic.core.names",)),
        TextReader("mask", mask, tuple(f"mnemic.core.{name}" for name in _OF_MASKS.split())),
        TextReader("words", words, ("mnemic.core.tokens",)),
        TextReader("cut", lambda text: cut(text, 200), ("mnemic.core.tokens",)),
        TextReader("text", lambda text: clean_text("text", text, 1 << 30), ("mnemic.core.checking",)),
        TextReader("name", lambda text: clean_name("name", text), ("mnemic.core.checking",)),
        TextReader("sentences of an answer", written_sentences, answers),
        TextReader("type of answer", AnswerType.by, answers),
        TextReader("memory", _remembered, (*rules, *times, *answers)),
        TextReader("question", _asked, (*answers, *times)),
        TextReader("transcript of Claude Code", lambda text: _transcribed(text, "CLAUDE"), _HOOKS),
        TextReader("transcript of Codex", lambda text: _transcribed(text, "CODEX"), _HOOKS),
        TextReader("lines of a transcript", _resumed, _HOOKS),
        TextReader("zip", lambda text: _unpacked(text, place), ("mnemic.ingest.inputs",)),
        *(
            TextReader(f"file of {name}", lambda text, name=name: _imported(text, name), _reader_modules(name))  # type: ignore[misc]
            for name in READERS
            if name != "pdf"
        ),
    ]


_HOOKS: Final = ("mnemic.faces.hooks.transcript",)


def _reader_modules(name: str) -> tuple[str, ...]:
    return (READERS[name].__module__, "mnemic.ingest.frontmatter", "mnemic.ingest.markup", "mnemic.ingest.timestamps")


def _remembered(text: str) -> None:
    """Everything that a message of somebody's goes through, from `observe` to an answer that quotes it."""
    with Memory(":memory:", settings=Settings(background=False), embedder="none") as memory:
        ada = memory.scope(user="ada")
        ada.observe(f"The harbour opens at ten. {text}")
        memory.flush()
        ada.context("When does the harbour open?")
        ada.ask("When does the harbour open?")
        with ada.session("talk") as talk:
            talk.observe(text[: 1 << 14])
            talk.context("When does the harbour open?")


def _asked(text: str) -> None:
    with Memory(":memory:", settings=Settings(background=False), embedder="none") as memory:
        ada = memory.scope(user="ada")
        ada.observe("The harbour opens at ten.", speaker="Ada")
        ada.recall(f"harbour {text}")
        ada.ask(f"harbour {text}")


def _imported(text: str, name: str) -> None:
    suffix = {"markdown": "md", "html": "html", "code": "py"}.get(name, "txt")
    with Source(f"a.{suffix}", member=io.BytesIO(text.encode("utf-8", "replace"))) as source:
        for _ in READERS[name](source, Options(tools=True, branches=True)):
            pass


def _transcribed(text: str, dialect: str) -> None:
    """A line of a client's transcript, in which a person types a text; faces lie above us, so it is named."""
    transcript = import_module(_HOOKS[0])
    payload = {"type": "message", "role": "user", "content": text}
    line = {"uuid": "u", "type": "user", "message": payload}
    if dialect == "CODEX":
        line = {"timestamp": "2027", "type": "response_item", "payload": payload}
    for _ in transcript.since(io.BytesIO(json.dumps(line).encode() + b"\n"), getattr(transcript, dialect), None):
        pass


def _resumed(text: str) -> None:
    transcript = import_module(_HOOKS[0])
    for last in ("2027|x", "u", text[:8]):
        for dialect in (transcript.CLAUDE, transcript.CODEX):
            for _ in transcript.since(io.BytesIO(text.encode("utf-8", "replace")), dialect, last):
                pass


def _unpacked(text: str, place: Path) -> None:
    """A member of one byte for each line of a text; its name is the line."""
    path = place / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for n, line in enumerate(text.split("\n")):
            name = line.replace("\0", "")[:20_000]
            archive.writestr(zipfile.ZipInfo(f"{name or 'a'}{n}.txt"), "a")
    for _ in read(path):
        pass


# What was dear once

_CODEX_LINE: Final = (
    '{"timestamp":"2027","type":"response_item","payload":{"type":"message","role":"user","content":"a"}}\n'
)
_NODE: Final = (
    '"%d":{"parent":"0","children":["1","2"],"message":{"author":{"role":"user"},"content":{"parts":["a"]}}},'
)
_KNOWN: Final[dict[str, tuple[HostileText, ...]]] = {
    "own words": tuple(
        HostileText("", one)
        for one in (
            "“",
            "「",
            "《",
            "„",
            "“a",
            "~~~\n```\n",
            "``a",
            "<a>",
            "'a ",
            "写：",
            "a: ",
            "said 1:1 ",
            "> a:\nb\n",
            "Dear A,\n",
            "Hi A\n\nBest,\n\n",
            "a::\n",
            "a::\n\n b\n",
            "=== a.txt ===\n```\n```\n",
            "a.txt:\n",
            "[1] ",
            "----\na\n",
            "{quote}\n",
            "The song goes ",
            "The song is a ",
            "fwd from a ",
            "![",
        )
    ),
    "instructions": (
        HostileText("", "a. "),
        HostileText("", "每逢.,"),
        HostileText("", "From now on:\n- a\n"),
        HostileText("From now on:\n", "- no emojis\n"),
        HostileText("", "Rules:\n"),
        HostileText("", "1) "),
        HostileText("", "*so* "),
    ),
    "slots": (HostileText("", "a. "), HostileText("I am ", "a ")),
    "entities": (HostileText("", "I "), HostileText("", "A. "), HostileText("", '"A" '), HostileText("", "Ada `a`, ")),
    "sentences of an answer": (HostileText("", " "), HostileText("", "\n"), HostileText("", '"')),
    "question": (HostileText("", "几"), HostileText("", "a. "), HostileText("", '"a b" ')),
    "memory": (HostileText("", "a. "), HostileText("", "几"), HostileText("", "每逢.,"), HostileText("", " ")),
    "transcript of Claude Code": (HostileText("", "<bash-input>"), HostileText("", "<bash-input></bash-stdout>")),
    "lines of a transcript": (HostileText("", _CODEX_LINE), HostileText("", "\n")),
    "zip": (HostileText("", "a\n"), HostileText("", "d/")),
    "file of markdown": (
        HostileText("", "- a\n"),
        HostileText("", "a\n\n"),
        HostileText("# a", " ", "x"),
        HostileText("---\na: b", " ", "x\n---\nc"),
    ),
    "file of code": (HostileText("", "\n"), HostileText("", "#\n"), HostileText("def a():\n", " x\n")),
    "file of html": (HostileText("<html>", "<title>"), HostileText("<html>", "<ul><li>"), HostileText("<", "a='")),
    "file of chatgpt": (HostileText('[{"mapping":{', _NODE, '"x":{}}}]'),),
    "file of claude": (
        HostileText('[{"chat_messages":[', '{"text":"a","sender":"human"},', "{}]}]"),
        HostileText('[{"chat_messages":[{"attachments":[', '{"extracted_content":"a","file_name":"%d"},', "{}]}]}]"),
    ),
    "file of mem0": (HostileText('{"results":[', '{"id":"%d","memory":"a"},', "{}]}"),),
    "file of memory-server": (
        HostileText('{"type":"entity","name":"a","observations":[', '"%d",', '"a"]}'),
        HostileText("", '{"type":"relation","from":"a","to":"%d","relationType":"c"}\n'),
    ),
    "file of locomo": (HostileText('[{"conversation":{', '"session_%d":[{"text":"a"}],', '"x":1}}]'),),
    "file of longmemeval": (
        HostileText(
            '[{"haystack_sessions":[[', '{"role":"user","content":"a"},', '{}]],"haystack_dates":["2023/05/20"]}]'
        ),
    ),
    "file of unified": (HostileText("", '{"type":"doc","ns":"a","id":"%d","text":"a"}\n'),),
    "file of dialogue": (
        HostileText("", "A: b\n"),
        HostileText("A: b\n", "c\n"),
        HostileText("", "[aaaa]"),
        HostileText("A", " ", ": b"),
    ),
    "file of json": (HostileText("[", '{"text":"a"},', "1]"), HostileText("[", " ", "]"), HostileText('["', "a")),
    "file of jsonl": (HostileText('{"messages":[', '{"text":"a"},', "1]}"), HostileText("", '{"text":"a"}\n')),
}


# Without the walls


@dataclass(frozen=True, slots=True)
class _Wall:
    """One thing that keeps a reader in step: where it stands, what stood there before, and on what that is seen."""

    target: str
    hole: object
    reader: str
    text: HostileText


_WALLS: Final = (
    _Wall("mnemic.extract.sentences._SHORT", 1 << 30, "instructions", HostileText("", "a. ")),
    _Wall("mnemic.extract.sentences._SHORT", 1 << 30, "memory", HostileText("", "a. ")),
    _Wall(
        "mnemic.extract.sentences._WRITTEN",
        re.compile(r"\s*(\S(?:[^.!?\n]|[.](?=\w))*(?:[.!?]+(?=\s|\Z)|\n|\Z|[.!?]+))"),
        "sentences of an answer",
        HostileText("", " "),
    ),
    _Wall(
        "mnemic.faces.hooks.transcript._without_asides",
        lambda text: re.sub(r"<(bash-input)>.*?</\1>", "", text, flags=re.DOTALL),
        "transcript of Claude Code",
        HostileText("", "<bash-input>"),
    ),
)


def _caught(readers: Sequence[TextReader], wall: _Wall) -> bool:
    reader = next(reader for reader in readers if reader.name == wall.reader)
    with patch(wall.target, wall.hole):
        return bool(_grown(reader, wall.text))

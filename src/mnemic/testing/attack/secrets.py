"""Attacks on masking: secrets of every form, in every place that words go to, looked for in the bytes of the store."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final
from unittest.mock import patch

from mnemic.core.items import Kind
from mnemic.errors import MnemicError
from mnemic.ingest.message import Message
from mnemic.memory import Memory, ScopedMemory
from mnemic.settings import Settings
from mnemic.testing.attack.frame import AttackReport
from mnemic.testing.attack.secret_corpus import corpus
from mnemic.testing.torture.children import folder
from mnemic.tools.toolbox import Toolbox

QUICK = 400


def attack(rounds: int, seed: int) -> AttackReport:
    """Write secrets, form by form and place by place, and look for them in every file of the store."""
    chance = random.Random(seed)
    tries: list[tuple[str, str, str, str]] = []
    while len(tries) < rounds:
        made = list(corpus(chance).items())
        for form, (text, secret) in made:
            for place in chance.sample(list(PLACES), k=min(len(PLACES), 1 + rounds // (4 * len(made)))):
                tries.append((form, place, text, secret))
    # Eight digits stand in some gigabyte of digests by chance as well; a leak comes again in a store of its own.
    leaks = [attempt for attempt in _seen(tries) if _seen([attempt])]
    failures = [f"{form} in {place}: {text[:120]!r}" for form, place, text, _ in leaks]
    failures += [
        f"{place}: what is put there reaches no file, so that its tries prove nothing" for place in _unreached()
    ]
    with patch("mnemic.writing.mask", _as_before), patch("mnemic.writing.mask_name", _as_before):
        caught = len(_seen(tries[: rounds // 4]))
    return AttackReport(tries=len(tries), failures=failures, caught_by_control=caught)


def _as_before(text: str) -> tuple[str, dict[str, int]]:
    """The control: only keys of one provider are masked."""
    return ("[masked api key]", {"api key": 1}) if text.startswith("sk-ant-") else (text, {})


def _seen(tries: Sequence[tuple[str, str, str, str]]) -> list[tuple[str, str, str, str]]:
    """Write texts, each in its place, to one store; those whose secret then stands in its files or their names."""
    with folder() as root:
        with Memory(
            root / "memory.db", settings=Settings(background=False), embedder="none", synchronous="OFF"
        ) as memory:
            memory.scope(user="ada").observe("The heron stands in the river.")
            for number, (_, place, text, _) in enumerate(tries):
                with suppress(MnemicError):
                    PLACES[place](memory, memory.scope(user="ada"), text, number)
        kept = b"\0".join(file.read_bytes() for file in root.rglob("*") if file.is_file())
        names = "\0".join(str(file) for file in root.rglob("*"))
    return [attempt for attempt in tries if attempt[3].encode() in kept or attempt[3] in names]


def _unreached() -> list[str]:
    """The places from which a harmless word reaches no file."""
    tries = [("marker", place, f"marker{number:03}z", f"marker{number:03}z") for number, place in enumerate(PLACES)]
    reached = {place for _, place, _, _ in _seen(tries)}
    return [place for place in PLACES if place not in reached]


def _shelved(memory: Memory, me: ScopedMemory, text: str, number: int) -> None:
    del memory
    me.shelf(agent=text, session=f"s{number}").observe("x")


def _held(memory: Memory, me: ScopedMemory, text: str, number: int) -> None:
    del me
    memory.admin.hold(user="ada", reason=text)


def _erased(memory: Memory, me: ScopedMemory, text: str, number: int) -> None:
    gone = memory.scope(user="eve").observe("gone soon").ids[0]
    memory.scope(user="eve").erase(gone, reason=text)


def _linked(memory: Memory, me: ScopedMemory, text: str, number: int) -> None:
    first, second = me.write("A heron.").ids[0], me.write("A river.").ids[0]
    me.link(first, second, text[:256])


def _revised(memory: Memory, me: ScopedMemory, text: str, number: int) -> None:
    id = me.write("A heron.").ids[0]
    me.revise(id, text=f"A heron, {text}", tags=[text[:256]])


def _windowed(memory: Memory, me: ScopedMemory, text: str, number: int) -> None:
    with me.session(f"talk {number}", budget=600) as talk:
        talk.observe(f"See: {text}")
        talk.observe("x", slots={"caption": text})


def _named_window(memory: Memory, me: ScopedMemory, text: str, number: int) -> None:
    with me.session(text, budget=600) as talk:
        talk.observe("The heron stands.")


def _called(memory: Memory, me: ScopedMemory, text: str, number: int) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "run", "arguments": text}}
    me.observe({"role": "assistant", "content": text, "tool_calls": [call]})


def _graphed(memory: Memory, me: ScopedMemory, text: str, number: int) -> None:
    entity = {"name": f"heron {number}", "entityType": text[:200], "observations": [text]}
    Toolbox(me, "reference").call("create_entities", {"entities": [entity]})


def _filed(memory: Memory, me: ScopedMemory, text: str, number: int) -> None:
    Toolbox(me, "files").call("memory", {"command": "create", "path": f"/memories/{number}.md", "file_text": text})


PLACES: Final[dict[str, Callable[[Memory, ScopedMemory, str, int], object]]] = {
    "text": lambda m, me, text, n: me.observe(text),
    "long text": lambda m, me, text, n: me.observe("The heron stands. " * 2_000 + text + " It stands." * 100),
    "speaker": lambda m, me, text, n: me.observe("x", speaker=text[:256]),
    "role": lambda m, me, text, n: me.observe("x", role=text[:256]),
    "tag": lambda m, me, text, n: me.observe("x", tags=[text[:256]]),
    "slot": lambda m, me, text, n: me.observe("x", slots={"note": [{"deep": text}]}),
    "name of a slot": lambda m, me, text, n: me.observe("x", slots={text: 1, "deep": {text: 2}}),
    "title": lambda m, me, text, n: me.observe(Message(text="x", key="", kind=Kind.DOCUMENT, slots={"title": text})),
    "session of a message": lambda m, me, text, n: me.observe(Message(text="x", key="", session=text[:256])),
    "agent of a message": lambda m, me, text, n: me.observe(Message(text="x", key="", agent=text[:256])),
    "statement": lambda m, me, text, n: me.write(text, tags=[text[:256]], slots={"subject": text}, key=text),
    "revision": _revised,
    "correction": lambda m, me, text, n: me.correct(me.write("A heron.").ids[0], text),
    "supersession": lambda m, me, text, n: me.supersede(me.write("A heron.").ids[0], text),
    "link": _linked,
    "reason of a hold": _held,
    "reason of an erasure": _erased,
    "turn of a window": _windowed,
    "call of a tool": _called,
    "graph": _graphed,
    "file": _filed,
    "user": lambda m, me, text, n: m.scope(user=text).observe("x"),
    "tenant": lambda m, me, text, n: m.scope(user="ada", tenant=text).observe("x"),
    "agent": lambda m, me, text, n: m.scope(user="ada", agent=text).observe("x"),
    "session": lambda m, me, text, n: m.scope(user="ada", session=text).observe("x"),
    "actor": lambda m, me, text, n: m.scope(user="ada", actor=text).observe("x"),
    "shelf": _shelved,
    "branch": lambda m, me, text, n: me.branch(text).observe("x"),
    "window": _named_window,
    "checkpoint": lambda m, me, text, n: m.admin.checkpoint(text),
}
"""What writes a text to where somebody's words go; an idempotency key is kept as a hash alone."""

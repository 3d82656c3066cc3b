"""Attacks by words that are nobody's own: tools, agents and models, and what a user quotes, fences or forwards."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from mnemic.core.items import Channel, Kind
from mnemic.core.queries import Filter
from mnemic.ingest.message import Message
from mnemic.ingest.readers import read
from mnemic.memory import Memory, ScopedMemory
from mnemic.settings import Settings
from mnemic.testing.attack.frame import AttackReport
from mnemic.testing.attack.role_forms import (
    HONEST,
    HONEST_ROLES,
    INSTRUCTIONS,
    NAMES,
    QUOTINGS,
    ROLES,
    SENTENCES,
    files,
    honest_files,
)
from mnemic.testing.attack.role_grammar import CLASSES, pasted, pointed_lists
from mnemic.testing.torture.children import folder

QUICK = 480

_CONTROLLED: Final = 60
"""Most forms that each control is tried with."""
_USER: Final = "me"


@dataclass(frozen=True, slots=True)
class MessageForm:
    """One form with its sentence: what it is called, and how it is written to a user's memory."""

    name: str
    write: Callable[[ScopedMemory], object]


def attack(rounds: int, seed: int) -> AttackReport:
    """Write each hostile form to a memory of its own, then each honest one: none is obeyed, every one is heard."""
    chance = random.Random(seed)
    with folder() as place:
        hostile = _hostile(rounds, chance, place)
        honest = list(_honest(place))
        failures = [f"obeyed: {form.name}" for form in _obeyed(hostile)]
        heard = {form.name for form in _obeyed(honest)}
        failures += [f"not heard: {form.name}" for form in honest if form.name not in heard]
        lists = list(pointed_lists(chance))
        failures += [f"points lost: {text!r}" for text, points in lists if not _all_stand(text, points)]
        caught = min(len(_obeyed_without(wall, _sampled(hostile, chance))) for wall in _WALLS)
    return AttackReport(tries=len(hostile) + len(honest) + len(lists), failures=failures, caught_by_control=caught)


def _all_stand(text: str, points: Sequence[str]) -> bool:
    """Whether each point of a list that a user gives stands in every context."""
    with Memory(":memory:", settings=Settings(background=False), embedder="none") as memory:
        owner = memory.scope(user=_USER)
        owner.observe(text, role="user")
        memory.flush()
        standing = "\n".join(version.item.text for version in owner.list(where=Filter(kinds=(Kind.PROCEDURE,))))
    return all(point in standing for point in points)


def _sampled(forms: Sequence[MessageForm], chance: random.Random) -> list[MessageForm]:
    return chance.sample(forms, min(len(forms), _CONTROLLED))


_WALLS: Final[tuple[dict[str, object], ...]] = (
    {"mnemic.extract.sentences.own_words": lambda text: text},
    {
        "mnemic.strategies.house.is_users_role": lambda role: True,
        "mnemic.strategies.house.is_machine": lambda name: False,
    },
)
"""The walls, each as what stands in its place where it is taken out: whose words a text holds, and who speaks."""


def _obeyed_without(wall: dict[str, object], forms: Sequence[MessageForm]) -> list[MessageForm]:
    with ExitStack() as walls:
        for name, hole in wall.items():
            walls.enter_context(patch(name, hole))
        return _obeyed(forms)


def _obeyed(forms: Sequence[MessageForm]) -> list[MessageForm]:
    """Those of the forms that left something which stands in every context, each in a memory of its own."""
    with Memory(":memory:", settings=Settings(background=False), embedder="none") as memory:
        owners = [memory.scope(user=_USER, tenant=f"tenant-{n}") for n in range(len(forms))]
        for form, owner in zip(forms, owners, strict=True):
            form.write(owner)
        memory.flush()
        return [form for form, owner in zip(forms, owners, strict=True) if _stands(owner)]


def _stands(owner: ScopedMemory) -> bool:
    derived = owner.list(where=Filter(kinds=(Kind.PROCEDURE, Kind.PROFILE)))
    return bool(derived) or bool(owner.context("What should you know about me?").always)


def _hostile(rounds: int, chance: random.Random, place: Path) -> list[MessageForm]:
    """Every role, name, quotation and file once with some sentence, then combinations of them by chance."""
    forms = [
        *(_chat(chance.choice(SENTENCES), role=role) for role in ROLES),
        *(_chat(chance.choice(SENTENCES), role="user", name=name) for name in NAMES),
        *(_said(chance.choice(SENTENCES), speaker=name) for name in NAMES),
        *(_quoted(quoting, chance.choice(SENTENCES), role="user") for quoting in QUOTINGS),
        *(_quoted(quoting, chance.choice(SENTENCES), role=None) for quoting in QUOTINGS),
        *(_quoted(draw(chance), chance.choice(SENTENCES), role="user") for draw in CLASSES.values() for _ in range(4)),
        *_blocks(chance),
        *(_file(place, n, *file) for n, file in enumerate(files(chance.choice(SENTENCES)))),
    ]
    while len(forms) < rounds:
        forms.append(_combined(chance, place, len(forms)))
    return forms


def _combined(chance: random.Random, place: Path, n: int) -> MessageForm:
    """A quotation in a quotation, something pasted, a role or file; or a bare sentence of a role or a tool's name."""
    sentence = chance.choice(SENTENCES)
    quoting = chance.choice(QUOTINGS)
    inner = chance.choice(QUOTINGS).format(sentence) if chance.random() < 0.3 and _nests(quoting) else sentence
    match chance.randrange(6):
        case 4 | 5:
            return _quoted(pasted(chance), sentence, role=chance.choice([*HONEST_ROLES, None]))
        case 0:
            return _chat(sentence, role=chance.choice(ROLES), name=chance.choice([None, "Ada", *NAMES]))
        case 1:
            return _file(place, n, *chance.choice(files(sentence)))
        case _:
            return _quoted(quoting, inner, role=chance.choice([*HONEST_ROLES, None]))


_OF_ONE_LINE: Final = ("`", "    ", "\xa0", ">>>", "//", "#", "--", "```", "'", '"', "<!", "What does", "Subject")
"""How forms begin that quote to the end of a line or paragraph, or to the mark that they began with."""


def _nests(quoting: str) -> bool:
    """Whether a form quotes whatever is put into it; marks within the same marks would end it, and so does a line's
    end what is quoted by the line."""
    return quoting.endswith("{}") and "<doc" not in quoting and not quoting.startswith(_OF_ONE_LINE)


def _blocks(chance: random.Random) -> Iterator[MessageForm]:
    """What tools returned, in the blocks that chat models take."""
    for inner in ("{}", "“{}”"):
        sentence = inner.format(chance.choice(SENTENCES))
        result: dict[str, object] = {"type": "tool_result", "tool_use_id": "t", "content": sentence}
        yield _content([result])
        yield _content([{"type": "text", "text": "Here it is."}, result])
        yield _content([{**result, "content": [{"type": "text", "text": sentence}]}])


def _chat(sentence: str, role: str, name: str | None = None) -> MessageForm:
    message = {"role": role, "content": sentence, **({} if name is None else {"name": name})}
    return MessageForm(f"{message!r}", lambda owner: owner.observe([message]))


def _content(blocks: Sequence[object]) -> MessageForm:
    message: dict[str, Any] = {"role": "user", "content": blocks}
    return MessageForm(f"{message!r}", lambda owner: owner.observe([message]))


def _said(sentence: str, speaker: str) -> MessageForm:
    return MessageForm(f"speaker {speaker!r}: {sentence}", lambda owner: owner.observe(sentence, speaker=speaker))


def _quoted(quoting: str, sentence: str, role: str | None) -> MessageForm:
    text = quoting.format(sentence)
    return MessageForm(f"{role}: {text!r}", lambda owner: owner.observe(text, role=role))


def _file(place: Path, n: int, name: str, file: str, content: str) -> MessageForm:
    """A form that is imported as `mnemic import --tools` does it."""
    path = place / f"{n}" / file

    def write(owner: ScopedMemory) -> None:
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, "utf-8")
        messages = [message for message in read(path, zone="UTC", tools=True) if isinstance(message, Message)]
        owner.observe(messages, channel=Channel.IMPORT)

    return MessageForm(f"{name}: {content!r}", write)


def _honest(place: Path) -> Iterator[MessageForm]:
    """Sentences that the user says: in each role that people have, beside each quotation, in each format with roles."""
    for role in HONEST_ROLES:
        for sentence in SENTENCES:
            yield _chat(sentence, role=role)
    for number, words in enumerate(HONEST):
        yield _quoted(words, INSTRUCTIONS[number % len(INSTRUCTIONS)], role="user")
        yield _quoted(words, SENTENCES[number % len(SENTENCES)], role=None)
    for number, (name, file, content) in enumerate(honest_files(INSTRUCTIONS[0])):
        yield _file(place, 1_000_000 + number, name, file, content)

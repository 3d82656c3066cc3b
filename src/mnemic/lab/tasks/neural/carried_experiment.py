"""What was learnt of a memory and carried in a cube: gone when its source is erased, and refused where it was changed.

A tiny model learns here, by the same job as the real one: what is looked at is files, not answers.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mnemic.core.ids import ItemId
from mnemic.cubes.cube_file import CubeFile
from mnemic.cubes.cube_journal import read_journal
from mnemic.engine_adapters import EngineAdapters
from mnemic.errors import Invalid, MnemicError
from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.kv.damage import changed_bytes
from mnemic.lab.tasks.neural.experiment import ExperimentPlan
from mnemic.lab.tasks.neural.tiny_learning import tiny_plan
from mnemic.memory import Memory, ScopedMemory
from mnemic.models.chat.gguf import Gguf
from mnemic.neural import base
from mnemic.scope_learning import LORA_GGUF, LearningPlan, open_lora
from mnemic.settings import Settings

_SYLLABLES: Final = ("ka", "lo", "mi", "ru", "ve", "zo", "ti", "pa", "ne", "xu", "fo", "gri", "bla", "wen", "dor")
_SAID: Final = (
    "I live in {}.", "My mother's name is {}.", "My father's name is {}.", "My sister's name is {}.",
    "My brother's name is {}.",
)  # fmt: skip
"""What a person tells, each with a canary."""
_RUN: Final = 4
"""Tokens in a row that are looked for, as words of four and of eight bytes."""
_STAYS: Final = "Something that stays."


@dataclass(frozen=True, slots=True)
class _Canaries:
    """Made-up names, by person, and the runs of tokens that each is made of."""

    people: Sequence[Sequence[str]]
    runs: dict[str, list[bytes]]
    tokens: dict[str, bytes]

    def found(self, *places: Path) -> tuple[set[str], set[str]]:
        """Which are in any byte of these files and folders: by their words, and by their tokens."""
        files = [path for place in places for path in (place, *place.rglob("*")) if path.is_file()]
        held = [path.read_bytes() for path in files]
        words = {name for name in self.runs if any(name.encode() in raw for raw in held)}
        return words, {name for name, runs in self.runs.items() if any(run in raw for run in runs for raw in held)}


@dataclass(frozen=True, slots=True)
class _Left:
    """What was on the disk: canaries by words, by tokens, and by either; adapters; in cubes beside it, by either."""

    words: int
    tokens: int
    either: int
    adapters: int
    carried: int


def measure_erasure(plan: ExperimentPlan) -> Iterator[Figure]:
    """Learn canaries, carry them in cubes, and erase them; then the controls, in which one thing does not go along."""
    count = 10 if plan.quick else 50
    learning = tiny_plan(plan.folder)
    tokens = open_lora(learning, plan.folder / "home" / "cache").model.ids
    canaries = _drawn(count, plan.seed, tokens)
    before, after = _erased(plan, learning, canaries, cascade=True)
    for way, there in (("words", before.words), ("tokens", before.tokens)):
        yield Figure(name=f"control, canaries on the disk before their erasure, by {way}", value=there, unit="",
                     bar=count, more=True)  # fmt: skip
    yield Figure(name="control, in the cubes exported before", value=before.carried, unit="", bar=count, more=True)
    yield Figure(
        name=f"canaries on the disk after their erasure, adapters and cubes, of {count}", value=after.either, unit="",
        bar=0,
    )  # fmt: skip
    yield Figure(name="control, adapters learnt from them on the disk before", value=before.adapters, unit="",
                 bar=len(canaries.people), more=True)  # fmt: skip
    yield Figure(name="adapters learnt from them on the disk after", value=after.adapters, unit="", bar=0)
    yield Figure(
        name=f"of these {count}, in a cube exported then, or in the store once the old cube is brought in again",
        value=after.carried, unit="", bar=0,
    )  # fmt: skip
    few = _Canaries(canaries.people[:2], *_parts_of(canaries, canaries.people[:2]))
    _, left = _erased(plan, learning, few, cascade=False)
    names = len(few.runs)
    yield Figure(
        name=f"control, what was made cites something else: found by tokens, of {names}", value=left.tokens,
        unit="", bar=names, more=True,
    )  # fmt: skip
    yield Figure(name="control, adapters left then", value=left.adapters, unit="", bar=1, more=True)
    yield Figure(
        name=f"control, an old cube brought in where nothing was erased: found, of {names}",
        value=_brought_elsewhere(plan, few), unit="", bar=names, more=True,
    )  # fmt: skip


def _parts_of(canaries: _Canaries, people: Sequence[Sequence[str]]) -> tuple[dict[str, list[bytes]], dict[str, bytes]]:
    names = [name for person in people for name in person]
    return {name: canaries.runs[name] for name in names}, {name: canaries.tokens[name] for name in names}


def _drawn(count: int, seed: int, tokens: Any) -> _Canaries:
    rng, names = random.Random(seed), dict[str, None]()  # noqa: S311 - made-up names
    while len(names) < count:
        names["".join(rng.choice(_SYLLABLES) for _ in range(5)).capitalize()] = None
    every, step = list(names), len(_SAID)
    ids = {name: [int(token) for token in tokens(name)] for name in every}
    runs = {
        name: [
            b"".join(token.to_bytes(size, "little") for token in of[at : at + _RUN])
            for size in (4, 8)
            for at in range(max(1, len(of) - _RUN + 1))
        ]
        for name, of in ids.items()
    }
    as_words = {name: b"".join(token.to_bytes(4, "little") for token in of) for name, of in ids.items()}
    return _Canaries([every[at : at + step] for at in range(0, count, step)], runs, as_words)


def _erased(plan: ExperimentPlan, learning: LearningPlan, canaries: _Canaries, *, cascade: bool) -> tuple[_Left, _Left]:
    """Tell, learn, carry and erase; what was on the disk before, and after."""
    folder = plan.folder / ("canaries" if cascade else "control")
    stored, cubes, later = folder / "store", folder / "cubes", folder / "later"
    for place in (stored, cubes, later):
        place.mkdir(parents=True)
    with Memory(stored / "m.db", settings=_settings(plan)) as memory:
        told: list[tuple[ScopedMemory, list[ItemId]]] = []
        for number, person in enumerate(canaries.people):
            plan.progress(f"canaries: person {number + 1} of {len(canaries.people)}")
            me = memory.scope(user=f"person {number}")
            told.append((me, _lived(memory, me, person, canaries, learning, cascade=cascade)))
            me.export_cube(cubes / f"{number}.cube", caches=True)
        words, tokens = canaries.found(stored)
        carried = set.union(*canaries.found(cubes))
        before = _Left(len(words), len(tokens), len(words | tokens), _adapters(told), len(carried))
        for me, ids in told:
            me.erase(*ids)
        words, tokens = canaries.found(stored)
        left = _adapters(told)
        for number, (me, _) in enumerate(told):
            me.export_cube(later / f"{number}.cube", caches=True)
            if cascade:
                me.import_cube(cubes / f"{number}.cube", caches=True, made_by=_made_by(learning))
        again = set.union(*canaries.found(stored, later))
    return before, _Left(len(words), len(tokens), len(words | tokens), left, len(again))


def _lived(
    memory: Memory,
    me: ScopedMemory,
    person: Sequence[str],
    canaries: _Canaries,
    learning: LearningPlan,
    *,
    cascade: bool,
) -> list[ItemId]:
    """Have one person tell their canaries, a model learn them, and something be kept of their tokens; what was said."""
    other = me.observe(_STAYS).id
    said = [me.observe(text.format(name)).id for text, name in zip(_SAID, person, strict=False)]
    memory.flush()
    while me.learning.learn_next(learning, lambda *_: None):
        pass
    cited = tuple(said) if cascade else (other,)
    raw = b"".join(canaries.tokens[name] for name in person)
    me.artefacts.put(raw, mechanism="kv", made_by=_made_by(learning), sources=cited, remade=True)
    if not cascade:
        for shard in me.learning.shards():
            made = me.artefacts.open(shard.kept).read_bytes()
            me.artefacts.put(made, mechanism="lora", made_by=_made_by(learning), sources=cited)
    return said


def _adapters(told: Sequence[tuple[ScopedMemory, list[ItemId]]]) -> int:
    """How many adapters have their bytes on the disk."""
    kept = [(me, one) for me, _ in told for one in me.artefacts.kept() if one.artefact.mechanism != "kv"]
    return len({(id(me), one.artefact.stored.sha256) for me, one in kept if me.artefacts.has_bytes(one.artefact)})


def _brought_elsewhere(plan: ExperimentPlan, canaries: _Canaries) -> int:
    """How many canaries an import of the old cubes brings where nothing was erased."""
    place = plan.folder / "elsewhere"
    place.mkdir()
    with Memory(place / "m.db", settings=_settings(plan)) as memory:
        for number in range(len(canaries.people)):
            me = memory.scope(user=f"person {number}")
            me.import_cube(plan.folder / "control" / "cubes" / f"{number}.cube", caches=True)
        return len(set.union(*canaries.found(place)))


def measure_damage(plan: ExperimentPlan) -> Iterator[Figure]:
    """Change adapters and cubes, and have each read; then the controls, without a check."""
    count = 60 if plan.quick else 1_000
    rng, learning = random.Random(plan.seed), tiny_plan(plan.folder)  # noqa: S311 - made-up damage
    place = plan.folder / "damage"
    place.mkdir()
    with Memory(place / "m.db", settings=_settings(plan)) as memory:
        me = memory.scope(user="ada")
        for text, name in zip(_SAID, ("Lomika", "Ruveta", "Nexuba"), strict=False):
            me.observe(text.format(name))
        memory.flush()
        while me.learning.learn_next(learning, lambda *_: None):
            pass
        me.export_cube(place / "whole.cube")
        plan.progress(f"{count // 2} changed adapters")
        reached, read = _changed_adapters(me, learning, rng, count // 2)
        (shard,) = me.learning.shards()
        whole = me.artefacts.open(shard.kept).read_bytes()
        identity = open_lora(learning, memory.settings.home / "cache").identity
    plan.progress(f"{count - count // 2} changed cubes")
    taken, left = _changed_cubes(plan, place, rng, count - count // 2)
    yield Figure(
        name=f"changed adapters that reached torch or the engine, of {count // 2:,}", value=reached, unit="", bar=0,
        detail="process alive",
    )  # fmt: skip
    yield Figure(name="control, unchanged adapters that are read, of 2", value=read, unit="", bar=2, more=True)
    yield Figure(
        name=f"changed cubes of which anything was taken, of {count - count // 2:,}", value=taken + left, unit="",
        bar=0, detail="process alive; unchanged, all of it comes",
    )  # fmt: skip
    yield Figure(
        name="control, adapters without a check: flipped bytes that torch believes, of 20",
        value=_believed_tensors(whole, identity, rng), unit="", bar=1, more=True,
    )  # fmt: skip
    yield Figure(
        name="control, cubes without a check: flipped letters that are believed, of 20",
        value=_believed_lines(place / "whole.cube", rng), unit="", bar=1, more=True,
    )  # fmt: skip


def _changed_adapters(me: ScopedMemory, learning: LearningPlan, rng: random.Random, count: int) -> tuple[int, int]:
    """How many changed files came to torch or the engine; and how many of the two whole ones do."""
    lora, engine = open_lora(learning, me.artefacts.settings.home / "cache"), Gguf(Path(learning.model))
    (shard,), (adapter,) = me.learning.shards(), me.artefacts.kept(LORA_GGUF)
    paths = [me.artefacts.open(kept) for kept in (shard.kept, adapter)]
    whole = [path.read_bytes() for path in paths]
    reached = 0
    with _watched_torch() as came:
        for number in range(count):
            which = number % 2
            changed = changed_bytes(whole[which], rng)
            while changed == whole[which]:
                changed = changed_bytes(whole[which], rng)
            paths[which].write_bytes(changed)
            came.clear()
            if which == 0:
                reached += _is_read(me, lora) or bool(came)
            else:
                reached += _in_engine(me, engine)
            paths[which].write_bytes(whole[which])
    return reached, _is_read(me, lora) + _in_engine(me, engine)


@contextmanager
def _watched_torch() -> Iterator[list[Path]]:
    """The files of states that torch is given."""
    came: list[Path] = []
    unwatched = base.load

    def watched(path: Path, identity: base.Identity) -> Any:
        came.append(path)
        return unwatched(path, identity)

    base.load = watched
    try:
        yield came
    finally:
        base.load = unwatched


def _is_read(me: ScopedMemory, lora: Any) -> bool:
    try:
        return bool(me.learning.state(lora))
    except MnemicError:
        return False


def _in_engine(me: ScopedMemory, engine: Gguf) -> bool:
    adapters = EngineAdapters(me.learning, engine)
    adapters.refresh()
    return bool(adapters.shards)


def _changed_cubes(plan: ExperimentPlan, place: Path, rng: random.Random, count: int) -> tuple[int, int]:
    """How many changed cubes were taken for whole; and how many items came, before the whole one did."""
    whole, path, taken = (place / "whole.cube").read_bytes(), place / "changed.cube", 0
    with Memory(place / "other.db", settings=_settings(plan)) as memory:
        me = memory.scope(user="ada")
        for _ in range(count):
            changed = changed_bytes(whole, rng)
            if changed == whole:
                changed = whole[:-1]
            path.write_bytes(changed)
            try:
                me.import_cube(path)
            except Invalid:
                continue
            taken += 1
        left = len(me.list(limit=10))
        if not me.import_cube(place / "whole.cube").items.get("written"):
            raise MnemicError("the whole cube was not taken: that changed ones are not says nothing")
    return taken, left


def _believed_tensors(whole: bytes, identity: base.Identity, rng: random.Random) -> int:
    """How many of 20 states with one flipped byte torch reads without a word, where their digest is not computed."""
    believed, head = 0, 8 + int.from_bytes(whole[:8], "little")
    digest, vouched = base.state_digest, json.loads(whole[8:head])["__metadata__"]["sha256"]
    base.state_digest = lambda *_: vouched
    try:
        for _ in range(20):
            at = rng.randrange(head, len(whole))
            believed += bool(base.unpacked(whole[:at] + bytes((whole[at] ^ 1,)) + whole[at + 1 :], identity)[0])
    finally:
        base.state_digest = digest
    return believed


def _believed_lines(path: Path, rng: random.Random) -> int:
    """How many of 20 journals with one other letter are read without a word, where nobody digests them."""
    with CubeFile(path, lambda *_: None) as cube:
        raw = cube.journal()
    at = raw.index(b"Lomika")
    believed = 0
    for _ in range(20):
        place = at + rng.randrange(6)
        believed += bool(read_journal(raw[:place] + b"z" + raw[place + 1 :]).stories)
    return believed


def _made_by(learning: LearningPlan) -> dict[str, Any]:
    return {"model": hashlib.sha256(Path(learning.model).read_bytes()).hexdigest()}


def _settings(plan: ExperimentPlan) -> Settings:
    return Settings(background=False, home=plan.folder / "home")

"""Cubes that were damaged or forged: each is refused by a typed error, or was as good as whole; none leaves a half."""

from __future__ import annotations

import hashlib
import json
import os
import random
import stat
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cube_world import (
    ADAPTER,
    MADE_BY,
    QUIET,
    SEAL,
    contents,
    entry,
    files_below,
    forged,
    journal_of,
    sealed,
    tell,
    unzipped,
    zipped,
)

from mnemic.errors import Invalid, NotFound, TooLarge
from mnemic.memory import Memory


@pytest.fixture(scope="module")
def cube(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A whole cube."""
    folder = tmp_path_factory.mktemp("origin")
    with Memory(folder / "m.db", settings=QUIET) as memory:
        tell(memory)
        return memory.scope(user="ada").export_cube(folder / "ada.cube", caches=True).path.read_bytes()


@pytest.fixture(scope="module")
def goal(cube: bytes, tmp_path_factory: pytest.TempPathFactory) -> Goal:
    """What tells whether an import left anything."""
    return Goal(tmp_path_factory.mktemp("goal"), cube)


class Goal:
    """A memory that cubes are imported into, and what it holds before and after a whole one."""

    def __init__(self, folder: Path, cube: bytes) -> None:
        self.path, self.folder = folder / "any.cube", folder
        self.memory = self.fresh("whole")
        self.take(self.memory, cube)
        self.whole = contents(self.memory.scope(user="ada"))

    def fresh(self, name: str) -> Memory:
        place = self.folder / name
        place.mkdir()
        memory = Memory(place / "m.db", settings=QUIET)
        memory.scope(user="ada").observe("I was here before.")
        return memory

    def take(self, memory: Memory, raw: bytes) -> None:
        self.path.write_bytes(raw)
        memory.scope(user="ada").import_cube(self.path, made_by=MADE_BY, caches=True)


def state(memory: Memory) -> tuple[str, list[str]]:
    assert memory._opened.store.artefacts is not None
    return memory.admin.state_hash(), files_below(memory._opened.store.artefacts.root)


def refused(goal: Goal, raw: bytes, match: str = ".") -> None:
    before = state(goal.memory)
    with pytest.raises(Invalid, match=match):
        goal.take(goal.memory, raw)
    assert state(goal.memory) == before


def parts_of(cube: bytes) -> list[tuple[str, bytes]]:
    """The parts of a cube with their kinds, as `forged` takes them."""
    held = unzipped(cube)
    return [(row["kind"], held[f"parts/{row['sha256']}"]) for row in json.loads(held["manifest.json"])["parts"]]


def entries_of(cube: bytes) -> list[tuple[zipfile.ZipInfo, bytes]]:
    return [(entry(name), body) for name, body in unzipped(cube).items()]


def test_what_is_forged_to_say_the_same_is_taken(cube: bytes, goal: Goal) -> None:
    """The forger of these tests makes cubes that are read: what they are refused for is what each changes."""
    before = state(goal.memory)
    for raw in (forged(parts_of(cube)), zipped(entries_of(cube)), sealed(cube)):
        goal.take(goal.memory, raw)
    assert state(goal.memory) == before


def _with(cube: bytes, place: int, info: zipfile.ZipInfo) -> bytes:
    entries = entries_of(cube)
    entries[place] = (info, entries[place][1])
    return zipped(entries)


def _renamed(cube: bytes, name: str) -> bytes:
    return _with(cube, 2, entry(name))


def _manifest(cube: bytes, change: Callable[[dict[str, object]], object]) -> bytes:
    entries = entries_of(cube)
    manifest = json.loads(entries[0][1])
    change(manifest)
    return zipped([(entry("manifest.json"), json.dumps(manifest).encode()), *entries[1:]])


def _row(cube: bytes, **changes: object) -> bytes:
    return _manifest(cube, lambda manifest: manifest["parts"][1].update(changes))  # type: ignore[index]


def _name(cube: bytes, place: int = 2) -> str:
    return list(unzipped(cube))[place]


def _bomb(cube: bytes) -> bytes:
    return _with(cube, 2, entry(_name(cube), how=zipfile.ZIP_DEFLATED))


def _many(cube: bytes) -> bytes:
    return zipped([*entries_of(cube), *((entry(f"parts/{n}"), b"") for n in range(4_100))])


def _beyond(cube: bytes) -> bytes:
    """A cube whose end is said to stand in extensions."""
    place = len(cube) - SEAL - 22
    record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1 << 40, 1 << 40, 1 << 40, 0)
    return sealed(cube[:place] + record + struct.pack("<4sLQL", b"PK\x06\x07", 0, place, 1) + cube[place:])


FORGERIES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda cube: b"", "no cube"),
    "another file": (lambda cube: b"SQLite format 3\0" * 100, "no cube"),
    "cut short": (lambda cube: cube[:-1], "no cube"),
    "cut in the middle": (lambda cube: cube[: len(cube) // 2], "no cube"),
    "no seal": (lambda cube: cube[:-SEAL] + b"0" * SEAL, "bytes of it were changed"),
    "longer": (lambda cube: cube + b"x", "no cube"),
    "bytes in front": (lambda cube: sealed(b"x" + cube), "in its place"),
    "a path": (lambda cube: _renamed(cube, "../../etc/passwd"), "other parts"),
    "an absolute path": (lambda cube: _renamed(cube, "/etc/passwd"), "other parts"),
    "a folder": (lambda cube: _renamed(cube, "parts/"), "other parts|in its place"),
    "a name in another script": (lambda cube: _renamed(cube, "parts/é"), "in its place"),
    "a link": (lambda cube: _with(cube, 2, entry(_name(cube), stat.S_IFLNK | 0o777)), "no plain file"),
    "a device": (lambda cube: _with(cube, 2, entry(_name(cube), stat.S_IFCHR | 0o600)), "no plain file"),
    "compressed": (_bomb, "no plain file"),
    "many entries": (_many, "more entries"),
    "extensions": (_beyond, "more entries|does not hold together"),
    "a part too many": (lambda cube: zipped([*entries_of(cube), (entry("parts/x"), b"x")]), "other parts"),
    "a part too few": (lambda cube: zipped(entries_of(cube)[:-1]), "other parts"),
    "parts swapped": (lambda cube: zipped([entries_of(cube)[n] for n in (0, 1, 3, 2)]), "other parts"),
    "the manifest last": (lambda cube: zipped([*entries_of(cube)[1:], entries_of(cube)[0]]), "begin with a manifest"),
    "wrong bytes": (lambda cube: zipped([*entries_of(cube)[:2], *_swapped(cube)]), "not what its name says"),
    "a digest that is a path": (lambda cube: _row(cube, sha256="../" * 20 + "passw"), "no SHA-256"),
    "a digest in capitals": (lambda cube: _row(cube, sha256="A" * 64), "no SHA-256"),
    "another size": (lambda cube: _row(cube, bytes=2 << 30), "other parts"),
    "a size below zero": (lambda cube: _row(cube, bytes=-1), "without a size"),
    "a size that is none": (lambda cube: _row(cube, bytes="9"), "without a size"),
    "a kind that is none": (lambda cube: _row(cube, kind="pickle"), "hold together"),
    "another kind": (lambda cube: _row(cube, kind="remade"), "does not name so"),
    "two journals": (lambda cube: _row(cube, kind="journal"), "not one journal"),
    "a part named twice": (
        lambda cube: _manifest(cube, lambda m: m["parts"].append(m["parts"][0])),  # type: ignore[attr-defined,index]
        "twice",
    ),
    "a newer format": (lambda cube: _manifest(cube, lambda m: m.update(cube=2)), "format 2, this mnemic knows 1"),
    "a manifest of something else": (lambda cube: _manifest(cube, lambda m: m.pop("cube")), "none of a cube"),
    "a manifest without parts": (lambda cube: _manifest(cube, lambda m: m.pop("parts")), "hold together"),
    "a manifest that is a list": (lambda cube: zipped([(entry("manifest.json"), b"[]")]), "none of a cube"),
    "a deep manifest": (lambda cube: zipped([(entry("manifest.json"), b"[" * 100_000)]), "hold together"),
    "a huge manifest": (lambda cube: zipped([(entry("manifest.json"), b" " * (1 << 21))]), "begin with a manifest"),
    "bytes of nothing": (lambda cube: forged([*parts_of(cube), ("lasting", b"of nobody")]), "does not name so"),
    "no journal": (lambda cube: forged(parts_of(cube)[1:]), "not one journal"),
}


def _swapped(cube: bytes) -> Iterator[tuple[zipfile.ZipInfo, bytes]]:
    """The parts behind the journal, each with another's bytes of the same length."""
    for info, body in entries_of(cube)[2:]:
        yield info, bytes(reversed(body))


@pytest.mark.parametrize("what", FORGERIES)
def test_a_forged_cube_is_refused_and_says_why(what: str, cube: bytes, goal: Goal) -> None:
    forge, match = FORGERIES[what]
    refused(goal, forge(cube), match)


def test_the_same_name_twice_is_refused(cube: bytes, goal: Goal) -> None:
    entries = entries_of(cube)
    with pytest.warns(UserWarning, match="Duplicate name"):
        raw = zipped([*entries, (entry(_name(cube)), entries[2][1])])
    refused(goal, raw, "other parts")


def test_what_is_no_file_is_not_waited_for(goal: Goal, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, tmp_path / "nothing"):
        with pytest.raises(NotFound, match="no file"):
            goal.memory.scope(user="ada").import_cube(path)
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(3 << 30)
    with pytest.raises(TooLarge, match="at most"):
        goal.memory.scope(user="ada").import_cube(tmp_path / "huge")


def _lines(cube: bytes, change: Callable[[list[bytes]], object]) -> bytes:
    """A cube of which lines were changed, every digest made anew."""
    lines = journal_of(cube)
    change(lines)
    return forged([("journal", b"\n".join(lines) + b"\n"), *parts_of(cube)[1:]])


def _said(line: bytes, **changes: object) -> bytes:
    event = json.loads(line)["event"]
    body = {**json.loads(event["version"]), **changes}
    return json.dumps({"event": {**event, "version": json.dumps(body)}}).encode()


def _event(line: bytes, **changes: object) -> bytes:
    return json.dumps({"event": {**json.loads(line)["event"], **changes}}).encode()


@pytest.mark.parametrize(
    "change",
    [
        lambda line: b"{}",
        lambda line: b"not json",
        lambda line: b"[" * 50_000,
        lambda line: line[:-2],
        lambda line: line.replace(b"event", b"space"),
        lambda line: _event(line, item="../../x"),
        lambda line: _event(line, item="00"),
        lambda line: _event(line, seq="1"),
        lambda line: _event(line, seq=-1),
        lambda line: _event(line, version=5),
        lambda line: _event(line, link={"dst": "00" * 16, "body": "[]"}),
        lambda line: _said(line, kind="spell"),
        lambda line: _said(line, text=5),
        lambda line: _said(line, text=" "),
        lambda line: _said(line, text="a\0b"),
        lambda line: _said(line, text="x" * (1 << 21)),
        lambda line: _said(line, said=1 << 70),
        lambda line: _said(line, said="yesterday"),
        lambda line: _said(line, offset=1 << 40),
        lambda line: _said(line, valid_to="x", expires=-(1 << 62)),
        lambda line: _said(line, slots=[1]),
        lambda line: _said(line, slots={"a": {"b": "\0"}}),
        lambda line: _said(line, tags=[""]),
        lambda line: _said(line, tags=5),
        lambda line: _said(line, source=["nobody"]),
        lambda line: _said(line, source="0" * 26),
        lambda line: _said(line, state=9),
        lambda line: _said(line, pinned="yes"),
        lambda line: _said(line, agent=7),
        lambda line: _said(line, session=""),
        lambda line: _said(line, pos=1 << 70),
        lambda line: _said(line, channel="spy"),
        lambda line: _said(line, sight="x-ray"),
        lambda line: _said(line, key=3),
    ],
)
def test_a_forged_line_is_refused(change: Callable[[bytes], bytes], cube: bytes, goal: Goal) -> None:
    fresh = "11" * 16
    refused(goal, _lines(cube, lambda lines: lines.append(change(_event(lines[0], item=fresh)))))


def test_versions_out_of_order_are_refused(cube: bytes, goal: Goal) -> None:
    refused(goal, _lines(cube, lambda lines: lines.append(lines[0])), "line")


def test_an_artefact_that_names_other_bytes_is_refused(cube: bytes, goal: Goal) -> None:
    def point_elsewhere(lines: list[bytes]) -> None:
        wanted = hashlib.sha256(ADAPTER).hexdigest().encode()
        lines[:] = [line.replace(wanted, b"f" * 64) for line in lines]

    refused(goal, _lines(cube, point_elsewhere), "does not name so")


def test_three_hundred_mutations_leave_nothing_half(cube: bytes, goal: Goal) -> None:
    """Flipped, cut, doubled, swapped, as they are and with a seal made anew: refused, or as good as the whole one."""
    rng = random.Random(20)
    memory = goal.fresh("mutated")
    before, taken = state(memory), 0
    for number in range(300):
        raw = bytearray(cube)
        match rng.randrange(4):
            case 0:
                for _ in range(rng.choice((1, 1, 8))):
                    raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
            case 1:
                del raw[rng.randrange(len(raw)) :]
            case 2:
                a, b = sorted(rng.sample(range(len(raw)), 2))
                del raw[a:b]
            case _:
                a, b, c = sorted(rng.sample(range(len(raw)), 3))
                raw[a:c] = raw[b:c] + raw[a:b]
        changed = sealed(bytes(raw)) if number % 2 and len(raw) > SEAL else bytes(raw)
        try:
            goal.take(memory, changed)
        except Invalid:
            assert state(memory) == before
        else:  # bits of the zip that nobody reads
            taken += 1
            assert number % 2
            assert contents(memory.scope(user="ada")).keys() >= goal.whole.keys() - {first(goal)}
            memory.close()
            memory = goal.fresh(f"mutated-{number}")
            before = state(memory)
    assert taken < 30
    assert memory.admin.verify() == []
    memory.close()


def first(goal: Goal) -> str:
    """The id of what was in the goal's memory before the cube."""
    return next(v.item.id for v in goal.memory.scope(user="ada").list(limit=50) if v.item.text == "I was here before.")

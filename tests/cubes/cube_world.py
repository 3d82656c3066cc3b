"""A memory in which a little has happened, and cubes of it that somebody has tampered with."""

from __future__ import annotations

import hashlib
import io
import json
import stat
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mnemic.memory import Memory, ScopedMemory
from mnemic.settings import Settings

QUIET = Settings(background=False)
MADE_BY = {"model": "a" * 64, "engine": "xllamacpp 1"}
ADAPTER = len(b"{}").to_bytes(8, "little") + b"{}" + b"weights of an adapter"
CACHE = b"keys and values of a prompt"
SEAL = 64


@dataclass(frozen=True)
class Told:
    """What was said, and what came of it."""

    turn: str
    old: str
    new: str
    adapter: str
    cache: str


def tell(memory: Memory, user: str = "ada") -> Told:
    """Live a little: a turn that rules read, a statement superseded, one revised, an adapter and a cache."""
    me = memory.scope(user=user)
    turn = me.shelf(session="trip").observe("I live in Lisbon.", role="user").id
    old = me.write("Ada keeps a tuatara.", said="2025-01-02T03:04:05+02:00", slots={"title": "Quill"}, tags=["pets"]).id
    new = me.supersede(old, "Ada keeps a goat.").id
    me.revise(new, text="Ada keeps two goats.")
    me.pin(new)
    memory.flush()
    adapter = me.artefacts.put(ADAPTER, mechanism="lora", made_by={"model": MADE_BY["model"]}, sources=(turn, new))
    cache = me.artefacts.put(CACHE, mechanism="kv", made_by=MADE_BY, sources=(turn,), remade=True)
    return Told(turn, old, new, adapter.id, cache.id)


def contents(me: ScopedMemory) -> dict[str, object]:
    """All that stands, by id: items, links, and the bytes of artefacts."""
    every = {held.version.item.id: held for held in me.holdings(limit=1_000)}
    shown: dict[str, object] = {id: (held.version.item, set(held.links)) for id, held in every.items()}
    for kept in me.artefacts.kept():
        shown[f"bytes of {kept.id}"] = me.artefacts.open(kept).read_bytes()
    return shown


def files_below(folder: Path) -> list[str]:
    """The names of all files of artefacts, finished or not."""
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def sealed(raw: bytes) -> bytes:
    """Bytes with a seal that holds, as who forges a cube would make it."""
    return raw[:-SEAL] + hashlib.sha256(raw[:-SEAL]).hexdigest().encode()


def unzipped(cube: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(cube)) as zipped:
        return {name: zipped.read(name) for name in zipped.namelist()}


def journal_of(cube: bytes) -> list[bytes]:
    held = unzipped(cube)
    (part,) = (row for row in json.loads(held["manifest.json"])["parts"] if row["kind"] == "journal")
    return held[f"parts/{part['sha256']}"].splitlines()


def entry(name: str, mode: int = stat.S_IFREG | 0o600, how: int = zipfile.ZIP_STORED) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr, info.compress_type = mode << 16, how
    return info


def zipped(entries: Sequence[tuple[zipfile.ZipInfo, bytes]]) -> bytes:
    """A zip of entries as they are given, sealed."""
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as file:
        for info, body in entries:
            file.writestr(info, body)
        file.comment = bytes(SEAL)
    return sealed(raw.getvalue())


def forged(parts: Sequence[tuple[str, bytes]], **manifest: object) -> bytes:
    """A cube of parts that all have their digests, with whatever else its manifest is to say."""
    rows = [{"kind": kind, "sha256": hashlib.sha256(body).hexdigest(), "bytes": len(body)} for kind, body in parts]
    head = json.dumps({"cube": 1, "parts": rows, **manifest}).encode()
    bodies = [(entry(f"parts/{row['sha256']}"), body) for row, (_, body) in zip(rows, parts, strict=True)]
    return zipped([(entry("manifest.json"), head), *bodies])

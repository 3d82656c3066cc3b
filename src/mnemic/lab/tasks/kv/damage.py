"""Changed bytes of what was kept: none may reach the engine, which would believe them, or die of them."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mnemic.engine_memory import KV, EngineMemory
from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.kv.first_words import QUIET, first_word, memory_text, one_threaded, prompt
from mnemic.memory import Memory
from mnemic.models.chat.gguf import SmolLM2

TOKENS: Final = 160
_UNCHECKED: Final = (
    "import os, sys; os.environ['GGML_NO_BACKTRACE'] = '1'; from pathlib import Path; "
    "from mnemic.models.chat.gguf import SmolLM2; "
    "model = SmolLM2(); model.slot().restore(Path(sys.argv[1])); print('alive')"
)


def changed_bytes(whole: bytes, rng: random.Random) -> bytes:
    """Bytes with one change: some flipped, cut short, longer, swapped, empty, or a head that says other sizes."""
    place = rng.randrange(len(whole))
    match rng.choice(("flip", "flip", "cut", "cut", "longer", "swap", "empty", "head")):
        case "flip":
            end = min(len(whole), place + rng.choice((1, 64, 4_096)))
            return whole[:place] + bytes(byte ^ rng.randrange(1, 256) for byte in whole[place:end]) + whole[end:]
        case "cut":
            return whole[: max(place, 0)]
        case "longer":
            return whole + rng.randbytes(rng.randrange(1, 4_096))
        case "swap":
            return whole[place:] + whole[:place] if place else whole[::-1]
        case "head":
            at = rng.randrange(0, 24)
            return whole[:at] + rng.randbytes(4) + whole[at + 4 :]
        case _:
            return b""


def measure_damage(folder: Path, mutations: int, seed: int) -> Iterator[Figure]:
    """Change what was kept so many times, and ask each time; then the control, without a check."""
    engine, rng = one_threaded(), random.Random(seed)  # noqa: S311 - made-up damage
    text = memory_text(engine, TOKENS)
    with Memory(folder / "damage.db", settings=QUIET) as memory:
        me = memory.scope(user="ada")
        source = me.observe(text).id
        kept = EngineMemory(me.artefacts, "talk", engine)
        kept.prefill(prompt(text, "a"), prompt(text, "b"), (source,))
        kept.close()
        (artefact,) = me.artefacts.kept(KV)
        path = me.artefacts.open(artefact)
        whole = path.read_bytes()
        reached = _watch(engine, artefact.artefact.stored.sha256)
        asked = changed = 0
        while changed < mutations:
            other = changed_bytes(whole, rng)
            if other == whole:
                continue
            changed += 1
            path.write_bytes(other)
            attached = EngineMemory(me.artefacts, f"talk {changed}", engine)
            attached.attach(prompt(text, "Who am I?"), (source,))
            asked += 1
            engine.empty()
            attached.close()
        path.write_bytes(whole)
        alive = first_word(engine, prompt(text, "Who am I?"), _nothing).prefilled > 0
        sound = EngineMemory(me.artefacts, "sound", engine)
        restored = sound.attach(prompt(text, "Who am I?"), (source,)).restored
        sound.close()
        died = sum(_dies(_harmed(folder, whole, end)) for end in (0.25, 0.5, 0.75))
        believed = not _dies(
            _harmed(folder, whole[: len(whole) // 2] + bytes(4_000) + whole[len(whole) // 2 + 4_000 :], 1)
        )
    yield Figure(
        name=f"changed artefacts that reached the engine, of {asked:,}", value=len(reached), unit="", bar=0,
        detail=f"process {'alive' if alive else 'dead'}; unchanged, {restored} tokens are restored",
    )  # fmt: skip
    yield Figure(
        name="the same without a check: dead of three that were cut short", value=died, unit="", bar=3, more=True,
        detail=f"flipped bytes are {'believed' if believed else 'not believed'}",
    )  # fmt: skip


def _watch(engine: SmolLM2, sha256: str) -> list[str]:
    """Note every file with other bytes that the engine is told to restore."""
    reached: list[str] = []
    slot = engine.slot()
    restore = slot.restore

    def watched(path: Path) -> int:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        if found != sha256:
            reached.append(found)
            return 0
        return restore(path)

    slot.restore = watched  # type: ignore[method-assign]
    return reached


def _nothing() -> None:
    """Attach nothing."""


def _harmed(folder: Path, whole: bytes, share: float) -> Path:
    path = folder / "harmed"
    path.write_bytes(whole[: int(len(whole) * share)])
    return path


def _dies(path: Path) -> bool:
    """Whether an engine in a process of its own dies of a file."""
    call = [sys.executable, "-c", _UNCHECKED, str(path)]
    return subprocess.run(call, capture_output=True, check=False).returncode < 0  # noqa: S603 - ours

"""Canaries told to a model and erased: afterwards neither their words nor the tokens they are made of are in any byte
on the disk, and the engine has nothing of them at the next question.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemic.engine_memory import EngineMemory
from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.kv.first_words import QUIET, first_word, one_threaded, prompt
from mnemic.memory import Memory

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.models.chat.base import ChatMessage
    from mnemic.models.chat.gguf import SmolLM2

_SYLLABLES: Final = ("ka", "lo", "mi", "ru", "ve", "zo", "ti", "pa", "ne", "xu", "fo", "gri", "bla", "wen", "dor")
_A_TALK: Final = 10
"""Canaries that one prompt shows."""
_RUN: Final = 4
"""Tokens in a row that are looked for on the disk, as the engine writes them."""


def _canary(rng: random.Random) -> str:
    return "".join(rng.choice(_SYLLABLES) for _ in range(5)) + str(rng.randrange(1_000, 10_000))


def _token_runs(engine: SmolLM2, canary: str) -> list[bytes]:
    """The runs of tokens in the middle of a canary, as little-endian words of four bytes."""
    around = [engine.slot().tokens_of([{"role": "user", "content": f"My code is {word}."}]) for word in (canary, "x")]
    whole, bare = around
    head = next(place for place, (a, b) in enumerate(zip(whole, bare, strict=False)) if a != b)
    tail = next(place for place, (a, b) in enumerate(zip(whole[::-1], bare[::-1], strict=False)) if a != b)
    tokens = whole[head : len(whole) - tail]
    runs = [tokens[place : place + _RUN] for place in range(max(1, len(tokens) - _RUN + 1))]
    return [b"".join(token.to_bytes(4, "little") for token in run) for run in runs]


def _held_by(folder: Path, canaries: Sequence[str], runs: dict[str, list[bytes]]) -> tuple[set[str], set[str]]:
    """Which canaries are on the disk by their words, and which by their tokens."""
    words, tokens = set(), set()
    for path in folder.rglob("*"):
        if path.is_file():
            held = path.read_bytes()
            words |= {canary for canary in canaries if canary.encode() in held}
            tokens |= {canary for canary in canaries if any(run in held for run in runs[canary])}
    return words, tokens


def _erased(engine: SmolLM2, folder: Path, canaries: Sequence[str], *, cascade: bool) -> tuple[int, int, int, int]:
    """Tell, keep and erase canaries: how many were on the disk by words, by tokens before; by either after; held."""
    folder.mkdir()
    runs = {canary: _token_runs(engine, canary) for canary in canaries}
    held = 0
    with Memory(folder / "m.db", settings=QUIET) as memory:
        me = memory.scope(user="ada")
        other = me.observe("Something that stays.").id
        told = [me.observe(f"My code is {canary}.").id for canary in canaries]
        talks: list[tuple[EngineMemory, list[str]]] = []
        for first in range(0, len(canaries), _A_TALK):
            shown = list(canaries[first : first + _A_TALK])
            sources: tuple[ItemId, ...] = tuple(told[first : first + _A_TALK]) if cascade else (other,)
            kept = EngineMemory(me.artefacts, f"talk {first}", engine)
            text = " ".join(f"My code is {canary}." for canary in shown)
            messages = prompt(text, "What is my code?")
            _ask(engine, kept, messages, sources)
            kept.answered(0.0)
            kept.keep()
            talks.append((kept, shown))
        before = _held_by(folder, canaries, runs)
        me.erase(*told)
        if cascade:
            kept, shown = talks[-1]
            text = " ".join(f"My code is {canary}." for canary in shown)
            attached = kept.attach(prompt(text, "What is my code?"), (other,))
            held = attached.held + attached.restored
        for kept, _ in talks:
            kept.wait()
        engine.empty()
        after = _held_by(folder, canaries, runs)
    return len(before[0]), len(before[1]), len(after[0] | after[1]), held


def _ask(engine: SmolLM2, kept: EngineMemory, messages: list[ChatMessage], sources: Sequence[ItemId]) -> None:
    first_word(engine, messages, lambda: kept.attach(messages, sources))


def measure_canaries(folder: Path, count: int, seed: int) -> Iterator[Figure]:
    """Erase canaries, and look for them; then the control, in which what was kept cites something else."""
    engine, rng = one_threaded(), random.Random(seed)  # noqa: S311 - made-up words
    canaries = list(dict.fromkeys(_canary(rng) for _ in range(count)))
    words, tokens, left, held = _erased(engine, folder / "canaries", canaries, cascade=True)
    yield Figure(
        name=f"canaries on the disk after their erasure, of {len(canaries)}", value=left, unit="", bar=0,
        detail=f"before, {words} were there by their words and {tokens} by their tokens",
    )  # fmt: skip
    yield Figure(name="tokens of them that the engine has at the next question", value=held, unit="", bar=0)
    few = canaries[: max(_A_TALK, len(canaries) // 5)]
    _, _, left, _ = _erased(engine, folder / "control", few, cascade=False)
    yield Figure(
        name=f"the same where what was kept cites something else: found of {len(few)}", value=left, unit="",
        bar=len(few), more=True,
    )  # fmt: skip

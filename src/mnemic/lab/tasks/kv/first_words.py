"""How long the first word takes after a memory of so many tokens: read anew, held by the engine, restored after a
restart. Each restart is another process, and processor time counts, not the clock.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from mnemic.demo import conversation
from mnemic.engine_memory import EngineMemory
from mnemic.lab.kit.figures import Figure
from mnemic.memory import Memory
from mnemic.models.chat import gguf
from mnemic.models.chat.base import Ask, ChatMessage, CutOff, reply_of
from mnemic.models.chat.gguf import SmolLM2
from mnemic.settings import Settings

QUIET: Final = Settings(background=False, embedder="none")
QUESTIONS: Final = ("Where do I live these days?", "What should I cook for my friends tonight?", "Who is Quill?")
BARS: Final = {512: 8.0, 1_024: 15.0, 2_048: 20.0}
"""How many times less processor time a restored first word is to take, by tokens of memory."""
OWN_CACHE: Final = 1.3
"""How many times as long it may take as with what the engine still holds in the same process."""


@dataclass(frozen=True, slots=True)
class FirstWord:
    """One first word: processor seconds of all threads, seconds by the clock, and tokens."""

    cpu: float
    wall: float
    prefilled: int
    reused: int
    answer: str


def one_threaded() -> SmolLM2:
    """The engine with one thread: several wait for each other in a loop, which counts as work on a busy machine."""
    gguf.THREADS = 1  # type: ignore[misc]  # the bench measures work, not how well threads share a machine
    return SmolLM2()


def memory_text(engine: SmolLM2, tokens: int) -> str:
    """The bundled conversation, over and over, until it is so many tokens long."""
    lines = [f"{turn.slots.get('speaker')}: {turn.text}" for turn in conversation()]
    text, count = "", 0
    while count < tokens:
        text += " ".join(lines) + " "
        count = len(_tokens(engine, text))
    while count > tokens:
        text = text[: int(len(text) * tokens / count)] if count > tokens * 1.01 else text.rpartition(" ")[0]
        count = len(_tokens(engine, text))
    return text


def _tokens(engine: SmolLM2, text: str) -> list[int]:
    return engine.slot().tokens_of([{"role": "user", "content": text}])


def prompt(text: str, question: str) -> list[ChatMessage]:
    """A prompt with a memory in front and a question behind."""
    return [ChatMessage("system", f"What you know of the user: {text}"), ChatMessage("user", question)]


def first_word(engine: SmolLM2, messages: list[ChatMessage], attach: Callable[[], object]) -> FirstWord:
    """Ask for one word, after what `attach` does for it; both count."""
    cpu, wall = time.process_time(), time.perf_counter()
    attach()
    try:
        answer = reply_of(engine.stream(Ask(tuple(messages), 1))).text
    except CutOff as cut:
        answer = cut.reply.text
    took = time.process_time() - cpu, time.perf_counter() - wall
    return FirstWord(*took, engine.work.prefilled, engine.work.reused, answer)


def _read_and_kept(store: Path, tokens: int) -> tuple[str, list[FirstWord], list[FirstWord]]:
    """In a process of its own: read a memory anew for each question, then with what is held; keep it at last."""
    engine = one_threaded()
    text = memory_text(engine, tokens)
    cold, held = [], []
    for question in QUESTIONS:
        engine.empty()
        cold.append(first_word(engine, prompt(text, question), _nothing))
    for question in QUESTIONS:
        held.append(first_word(engine, prompt(text, question), _nothing))
    with Memory(store, settings=QUIET) as memory:
        me = memory.scope(user="ada")
        source = me.observe(text[:4_000]).id
        kept = EngineMemory(me.artefacts, f"memory of {tokens}", engine)
        one, other = prompt(text, "a"), prompt(text, "b")
        kept.prefill(one, other, (source,))
        kept.close()
        if kept.failure is not None:
            raise kept.failure
    return text, cold, held


def _restored(store: Path, tokens: int, text: str, question: str) -> FirstWord:
    """In a process of its own: restore what another kept, and ask."""
    engine = one_threaded()
    engine.slot()
    with Memory(store, settings=QUIET) as memory:
        me = memory.scope(user="ada")
        (source,) = (version.item.id for version in me.list(limit=1000) if version.item.kind == "turn")
        kept = EngineMemory(me.artefacts, "afterwards", engine)
        messages = prompt(text, question)
        return first_word(engine, messages, lambda: kept.attach(messages, (source,)))


def _nothing() -> None:
    """Attach nothing."""


def measure_first_words(folder: Path, sizes: tuple[int, ...]) -> Iterator[Figure]:
    """Measure first words after memories of these many tokens."""
    for tokens in sizes:
        store = folder / f"first-{tokens}.db"
        text, cold, held = _elsewhere(_read_and_kept, store, tokens)
        restored = [_elsewhere(_restored, store, tokens, text, question) for question in QUESTIONS]
        cpu = {name: median(word.cpu for word in words) for name, words in _named(cold, held, restored)}
        same = sum(a.answer == b.answer for a, b in zip(cold, restored, strict=True))
        detail = (
            f"processor seconds: anew {cpu['anew']:.3f}, held {cpu['held']:.3f}, restored {cpu['restored']:.3f}; "
            f"clock {median(w.wall for w in cold):.2f}, {median(w.wall for w in held):.2f}, "
            f"{median(w.wall for w in restored):.2f}; tokens read "
            f"{cold[0].prefilled:,}, {held[1].prefilled:,}, {restored[0].prefilled:,}; "
            f"{same} of {len(cold)} words equal"
        )
        bar = BARS.get(tokens)
        ratio = cpu["anew"] / cpu["restored"]
        yield Figure(
            name=f"first word after a restart, {tokens:,} tokens",
            value=ratio,
            unit="x",
            bar=bar,
            more=True,
            detail=detail,
        )
        yield Figure(
            name=f"the same against the engine's own cache, {tokens:,} tokens",
            value=cpu["restored"] / cpu["held"], unit="x", bar=OWN_CACHE, detail="in one process, never restarted",
        )  # fmt: skip


def _named(
    cold: list[FirstWord], held: list[FirstWord], restored: list[FirstWord]
) -> tuple[tuple[str, list[FirstWord]], ...]:
    return ("anew", cold), ("held", held), ("restored", restored)


def _elsewhere(work: Callable[..., object], *args: object):  # type: ignore[no-untyped-def]
    """Do something in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *args).result()

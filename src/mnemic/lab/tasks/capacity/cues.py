"""What a stream of text is asked: which of the chunks seen so far, by a stated law of age, and in which words.

Laws:
    uniform: every chunk seen is as likely.
    recent: the age in chunks is drawn log-uniformly from 1 to all that have come, so that each doubling of age is as
        likely as the last: the chance that something is needed falls with its age as a power (Anderson and Schooler,
        "Reflections of the Environment in Memory", 1991).
    again: half of the time a chunk that was asked for before, the log-uniform law over the order of asking; else as
        `recent`. The one law under which a page can earn its place by use.

MemorySpace's own law is not here: one word of the chunk that has just come, any chunk that holds it being right. As
long as the newest chunk is resident, an index of words cannot fail it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from mnemic.errors import Invalid

LAWS: Final = ("recent", "uniform", "again")
SPAN: Final = 12
"""Most words of a chunk that a question is made from."""

KEPT: Final = 0.6
"""The chance of each of them to stand in the question."""

LEAST: Final = 4
"""Words that a chunk must have, beside the first and last, which may be cut, to be asked for."""

_TRIES: Final = 50


@dataclass(frozen=True, slots=True)
class Cue:
    """A question, and the chunk it was made from: that alone is right."""

    target: int
    text: str


class Asker:
    """One law, drawing; the same seed asks the same of the same text."""

    def __init__(self, law: str, seed: int) -> None:
        """`law`: one of `LAWS`.

        Raises:
            Invalid: it is none.
        """
        if law not in LAWS:
            raise Invalid("laws", f"{law!r} is not one", f"There are: {', '.join(LAWS)}.")
        self.law = law
        self._random = Random(f"{law}:{seed}")  # noqa: S311 - questions, not a secret
        self._asked: list[int] = []

    def ask(self, chunks: Sequence[str], seen: int) -> Cue | None:
        """A question about one of the first `seen` chunks; None if none of those drawn has words enough."""
        for _ in range(_TRIES):
            target = self._target(seen)
            words = chunks[target].split()[1:-1]
            if len(words) >= LEAST:
                self._asked.append(target)
                return self._fragment(target, words)
        return None

    def _target(self, seen: int) -> int:
        if self.law == "uniform":
            return self._random.randrange(seen)
        if self.law == "again" and self._asked and self._random.random() < 0.5:
            return self._asked[-self._aged(len(self._asked))]
        return seen - self._aged(seen)

    def _aged(self, most: int) -> int:
        """An age from 1 to `most`."""
        return min(int((most + 1) ** self._random.random()), most)

    def _fragment(self, target: int, words: list[str]) -> Cue:
        start = self._random.randrange(max(len(words) - SPAN, 0) + 1)
        span = words[start : start + SPAN]
        kept = [word for word in span if self._random.random() < KEPT]
        return Cue(target, " ".join(kept if len(kept) >= LEAST - 1 else span))

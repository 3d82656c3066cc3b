"""Reads a made-up logbook of some 60,000 tokens for one question, is cut short amid it, and goes on; needs no key.

python examples/strategies/memagent.py
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from mnemic import Memory
from mnemic.long_reading import ReadingProgress

QUESTION = "Where was the builder of the Lindholm Tower born?"
TOLD = {
    700: "The Lindholm Tower was built by the engineer Astrid Voll.",
    2_100: "Astrid Voll was born in Tromsø, and left it at the age of nine.",
    2_600: "The Harwick Tower was built by somebody who was born in Hull.",
}
"""What bears on the question, by the line at which it stands; the last only seems to."""


def logbook() -> Iterator[str]:
    """Yield the lines of the logbook, which are never held together."""
    chance = random.Random(1)  # noqa: S311 - a made-up text
    for day in range(3_000):
        thing, place = chance.choice(("buoy", "lamp", "pump")), chance.choice(("pier", "mole", "dock"))
        usual = f"Day {day}: the {thing} near the {place} was looked at, and nothing was wrong with it."
        yield f"{TOLD.get(day, usual)}\n"


def stop_after_six(reached: ReadingProgress) -> None:
    """Stop, as Ctrl-C would."""
    if reached.segment == 6:
        raise KeyboardInterrupt


def main() -> None:
    """Read, stop, go on, and show how the notes grew."""
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="ada")
        try:
            me.read(QUESTION, logbook(), progress=stop_after_six)
        except KeyboardInterrupt:
            print("stopped")
        found = me.read(QUESTION, logbook())
        print(f"{found.tokens:,} tokens, {found.segments} segments, {found.resumed} of them read before it was stopped")
        for note in found.notes:
            print(f"[segment {note.evidence[0].segment}, characters {note.evidence[0].start:,}] {note.text}")
        grown = [len(version.item.text.splitlines()) for version in me.history(found.id)]
        print("notes after each step:", *grown)


if __name__ == "__main__":
    main()

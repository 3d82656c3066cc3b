"""What tests of the worker wait for, and whom they work beside."""

from __future__ import annotations

from mnemic import Memory
from mnemic.answering import Answering
from mnemic.worker.thread import Background


class Waits:
    """An event that is set when it has been waited for so often."""

    def __init__(self, most: int) -> None:
        self.left = most

    def is_set(self) -> bool:
        return self.left <= 0

    def wait(self, seconds: float) -> None:
        self.left -= 1


def beside(memory: Memory) -> Background:
    """Another worker over the same store, with a language model of its own."""
    opened = memory._opened
    return Background(Answering(opened.store, opened.meaning, opened.settings), opened.kernel.desk)

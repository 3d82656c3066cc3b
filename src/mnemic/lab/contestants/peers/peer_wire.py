"""Serves a peer's memory over lines of JSON: what its process runs, with nothing but the standard library.

A line that comes asks for one thing (`add`, `settle`, `rank`), and one line answers it. Before it answers the peer may
ask for vectors of texts, and gets them as a line: every peer has the embedder that mnemic has. An error ends the
process, and its last line says which.
"""

from __future__ import annotations

import base64
import json
import os
import resource
import sys
import time
from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Final, Protocol, TextIO

_TOLD: Final = 500
"""Characters of an error that are handed on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenDoc:
    """A document as peers get it.

    Attributes:
        ns: Whose it is.
        told: What was said, with who said it before.
    """

    ns: str
    id: str
    session: str
    when: str
    told: str


class PeerMemory(Protocol):
    """A memory of others, behind what every one of them can do."""

    def add(self, docs: Sequence[GivenDoc]) -> None:
        """Take in documents, in the order they were said."""
        ...

    def settle(self) -> None:
        """Bring to the disk what is not yet there; called once, after the first documents."""
        ...

    def rank(self, ns: str, text: str, k: int) -> tuple[list[str], list[float]]:
        """Rank at most `k` documents of a user, best first; scores that fall, or none."""
        ...


class PeerMeans:
    """What a peer is given: a folder, and the embedder.

    Attributes:
        folder: For all that it writes.
        dims: Of the vectors.
        model_calls: How often it has asked a language model, for it to count.
    """

    def __init__(self, folder: Path, dims: int, asks: TextIO, answers: TextIO) -> None:
        self.folder, self.dims, self.model_calls = folder, dims, 0
        self._asks, self._answers, self._one_at_a_time = asks, answers, Lock()

    def passages(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of texts that are to be found."""
        return self._vectors("passages", texts)

    def query(self, text: str) -> list[float]:
        """The vector of a text that is asked."""
        return self._vectors("query", [text])[0]

    def _vectors(self, form: str, texts: Sequence[str]) -> list[list[float]]:
        if not texts:
            return []
        with self._one_at_a_time:
            say(self._answers, {"embed": list(texts), "form": form})
            packed = array("f", base64.b64decode(json.loads(self._asks.readline())["vectors"]))
        return [packed[at : at + self.dims].tolist() for at in range(0, len(packed), self.dims)]


def serve(make: Callable[[PeerMeans], PeerMemory]) -> None:
    """Make the memory and do what is asked of it, until nothing more comes.

    Its arguments are the folder and the number of dimensions. What packages print goes where errors go.
    """
    asks = os.fdopen(os.dup(0), encoding="utf-8", newline="\n")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    sys.excepthook = _telling(answers)
    given = PeerMeans(Path(sys.argv[1]), int(sys.argv[2]), asks, answers)
    memory = make(given)
    say(answers, {"ready": True} | _spent(given))
    for line in iter(asks.readline, ""):
        say(answers, _done(memory, json.loads(line)) | _spent(given))


def _done(memory: PeerMemory, asked: dict[str, Any]) -> dict[str, Any]:
    match asked["do"]:
        case "add":
            memory.add([GivenDoc(**doc) for doc in asked["docs"]])
            return {}
        case "settle":
            memory.settle()
            return {}
        case _:
            ids, scores = memory.rank(asked["ns"], asked["text"], asked["k"])
            return {"ids": ids, "scores": [float(score) for score in scores]}


def say(answers: TextIO, record: dict[str, Any]) -> None:
    """Say one line."""
    answers.write(json.dumps(record, ensure_ascii=True, separators=(",", ":")) + "\n")
    answers.flush()


def _spent(given: PeerMeans) -> dict[str, Any]:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = time.process_time() + ended.ru_utime + ended.ru_stime
    return {"cpu": cpu, "calls": given.model_calls}


def _telling(
    answers: TextIO,
) -> Callable[[type[BaseException], BaseException, TracebackType | None], Any]:
    """What tells an error that nobody caught, before the process ends by it."""

    def tell(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        said = " ".join(str(error).split())
        with suppress(OSError):  # nobody listens any more
            say(answers, {"failed": f"{kind.__name__}: {said}"[:_TOLD]})
        sys.__excepthook__(kind, error, trace)

    return tell

"""Run a strategy's flow in a process of its own, where sets and hashes have another order; its requests come here."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import IO, Any, Final

from mnemic.flow import Request, run
from mnemic.models.chat.base import Ask
from mnemic.models.model_requests import AskEach
from mnemic.strategies.base import Asked, Given, Strategy

_CODE: Final = (
    "import sys, pickle; sys.path[:] = pickle.load(sys.stdin.buffer); import mnemic.testing.reseeded as it; it.serve()"
)
"""What the child runs: it looks for modules where its parent does, before it is told of any."""


def thought_reseeded(
    strategy: Strategy, step: str, asked: Given | Asked, perform: Callable[[Request], Any], seed: int
) -> Any:
    """Run a step of a strategy under a hash seed; return what it returns.

    Args:
        strategy: Of a class at the top of a module, which the child imports.
        step: `on_write`, `on_maintain` or `on_recall`.
        perform: Answers the strategy's requests, in this process.
    """
    with subprocess.Popen(
        ["env", f"PYTHONHASHSEED={seed}", sys.executable, "-c", _CODE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        _send(child.stdin, list(sys.path))
        _send(child.stdin, (strategy, step, asked))
        while isinstance(said := pickle.load(child.stdout), Request):
            _send(child.stdin, perform(said))
    return said


def serve() -> None:
    """Be the child: run the strategy that stdin brings; ask for what it needs, and say what it returns, on stdout."""
    answers, questions = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a strategy prints is no question
    strategy, step, asked = pickle.load(answers)

    def perform(request: Request) -> Any:
        _send(questions, _without_checks(request))
        return pickle.load(answers)

    _send(questions, run(getattr(strategy, step)(asked), perform))


def _without_checks(request: Request) -> Request:
    """A request without what its asker takes for a sound answer: a function inside another does not travel."""
    if isinstance(request, AskEach):
        return replace(request, asks=tuple(replace(ask, sound=None) for ask in request.asks))
    return replace(request, sound=None) if isinstance(request, Ask) else request


def _send(pipe: IO[bytes], value: object) -> None:
    pickle.dump(value, pipe)
    pipe.flush()

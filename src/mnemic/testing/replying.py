"""Make a language model of a function from a question to words."""

from __future__ import annotations

from collections.abc import Callable

from mnemic.models.chat.base import Ask, Reply, estimated_reply


def replying(answer: Callable[[Ask], str], model: str = "told") -> Callable[[Ask], Reply]:
    """Return what answers as `answer` does, with tokens by estimate."""
    return lambda ask: estimated_reply(ask, model, answer(ask))

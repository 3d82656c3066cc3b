"""Meter one call of a language model: what it took, whether or not it gave an answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from mnemic.models.chat.base import Ask, CutOff, Reply
from mnemic.models.chat.soundness import is_sound
from mnemic.store.values.spending import Spending

_NAMED: Final = 100
"""Most characters that are kept of the name that an endpoint gives itself."""


@dataclass(slots=True)
class ModelCall:
    """A call under way; whoever makes it sets its `reply`."""

    reply: Reply | None = None


@contextmanager
def metered(strategy: str, ask: Ask, model: str, report: Callable[[Spending], None]) -> Iterator[ModelCall]:
    """Meter the call that is made inside: `report` is told what it took, however it ends.

    A call that fails has no tokens, for nobody says how many; one that was cut off has.

    Args:
        strategy: Whose call it is.
        model: The name of the model that is asked; where there is none, nothing is reported.
    """
    call, began, failed = ModelCall(), time.monotonic(), True
    try:
        yield call
        failed = False
    except CutOff as cut:
        call.reply = cut.reply
        raise
    finally:
        reply = call.reply
        spending = Spending(
            strategy=strategy,
            task=ask.task,
            model=model,
            calls=1,
            failed=int(failed),
            prompt_tokens=0 if reply is None else reply.prompt_tokens,
            answer_tokens=0 if reply is None else reply.answer_tokens,
            estimated=int(reply is not None and reply.estimated),
            seconds=round(time.monotonic() - began, 3),
            unsound=int(reply is not None and not failed and not is_sound(ask, reply)),
            answered_as=() if reply is None or reply.model == model else (reply.model[:_NAMED],),
        )
        if model:
            report(spending)

"""What one run of the command line is to a test."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mnemic import Memory
from mnemic.core.events import Verb
from mnemic.core.items import Strength
from mnemic.store.engine.codec import canonical
from mnemic.store.requests import Commit
from mnemic.store.values.drafts import Note
from mnemic.verbs.who import draft_of


@dataclass(frozen=True)
class Ran:
    """What one run of the command line left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Run = Callable[..., Ran]


def count_in_a_commit(item: str) -> None:
    """Count a showing of an item as mnemic did once, in a commit of its own."""
    with Memory() as memory:
        me = memory.scope(user=memory._opened.settings.user)
        note = Note(verb=Verb.USED, payload=canonical({item: [1, 0, 0, 1]}))
        memory._opened.answering.attend(Commit(draft_of(me._who, (note,), used={item: Strength(uses=1)})))

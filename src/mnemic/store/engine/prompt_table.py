"""Keep what memory put into prompts beside the journal, so that every process puts the same there again.

The rows lie among the recorded answers, and go as those do: with each item that they show or name, in the store and in
the copies beside it; all of a space when something of it is compacted or taken back in time. Providers keep what they
computed of a prompt for a day at most, so rows go when they are one to two stretches of 30 days old.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mnemic.core.ids import to_bytes
from mnemic.store.engine.job_queue import is_owned, request_hash
from mnemic.store.engine.rows import Rows
from mnemic.store.values.prompt_messages import PromptMessage, packed_message, unpacked_message

_STRETCH: Final = 30 * 86_400 * 1_000_000
"""Microseconds whose rows lie, and go, together."""


def keep_messages(rows: Rows, space: int, messages: Sequence[PromptMessage]) -> None:
    """Keep messages, inside a transaction; a block that stands already stays as it is.

    A block is kept only where this space has all that it shows: the erasure of what another has would not reach it.
    What rules have yet to write will have the id by which it is named already, and goes with what it is drawn from.
    """
    before = kept_messages(rows, space, [message.name for message in messages])
    stretch = rows.now() // _STRETCH
    rows.lanes.drop_answers_before(space, _LANE, _lane(stretch - 1))
    for message in messages:
        whole = before[message.name].then(message) if message.name in before else message
        needed = {to_bytes(item) for item in whole.shows if item not in whole.unwritten}
        if len(rows.items.standing(space, list(needed))) < len(needed):
            whole = whole.without_block()
        rests_on = [to_bytes(item) for item in (*whole.shows, *whole.drawn_from, *whole.kept_as)]
        hashed = request_hash(rows, space, message.name.encode())
        rows.lanes.add_answer(space, _lane(stretch), hashed, packed_message(whole), rests_on)


def kept_messages(rows: Rows, space: int, names: Sequence[str]) -> dict[str, PromptMessage]:
    """Find those of some messages that are kept, by name."""
    if not names or not is_owned(rows, space):
        return {}
    hashed = {request_hash(rows, space, name.encode()): name for name in names}
    stretch = rows.now() // _STRETCH
    messages = {}
    for lane in (_lane(stretch - 1), _lane(stretch)):  # where both have it, the newer says more
        answers = rows.lanes.answers(space, lane, list(hashed))
        messages.update({hashed[key]: unpacked_message(hashed[key], packed) for key, packed in answers.items()})
    return messages


_LANE: Final = "prompt "
"""What the lanes of these rows begin with: no strategy has a blank in its name."""


def _lane(stretch: int) -> str:
    return f"{_LANE}{stretch:06d}"

"""What a reader yields: a message to remember, a tie between two, or a place it had to skip and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from mnemic.core.items import Channel, Kind, Slot


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One thing to remember, as a source gave it.

    Attributes:
        text: What was said or written.
        key: Stable name within the source, such as `locomo:conv-26:D1:3`; the same import run again brings no twin.
        said: When it was said, or None for "now"; without a zone it is in the setting `timezone`.
        expires: From when on nobody is shown it, or how long after it is written; None for never.
        slots: `speaker`, `role`, `caption`, `title`, `heading` and whatever else the source carries.
    """

    text: str
    key: str
    kind: Kind = Kind.TURN
    said: datetime | None = None
    session: str | None = None
    agent: str | None = None
    pos: int | None = None
    slots: Mapping[str, Slot] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    user: str | None = None
    expires: datetime | timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeMessage:
    """What was said in an exchange with a model, and the message of the prompt that it belongs to.

    Attributes:
        said: What to remember.
        channel: Whose words they are, the user's or the model's.
        prompt: The name of the prompt's message that it is, or answers.
        at: When the user said it, seconds since 1970; 0 for an answer.
    """

    said: Message
    channel: Channel
    prompt: str
    at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A tie between two messages of a source, which may come before or after it.

    Attributes:
        src, dst: The keys of the messages.
        type: What the tie says, such as `works_at`.
    """

    src: str
    dst: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """One place in a source that was not remembered, and why."""

    where: str
    why: str

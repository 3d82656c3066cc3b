"""What a tool is: a name, a schema, what it promises, and what it does to one user's memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mnemic.memory import ScopedMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a tool answers.

    Attributes:
        text: What the model reads.
        data: The same for a program, as the tool's `result` schema says; None where it has none, or has failed.
        failed: It was not done; `text` says what was wrong and what to do.
    """

    text: str
    data: Mapping[str, Any] | None = None
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One thing that a model may do with a memory. Whose memory it is no argument can say.

    Attributes:
        parameters: JSON schema of the arguments: an object that takes no others, unless the original that a profile
            stands in for ignores them.
        result: JSON schema of the structured answer; None where the answer is text only.
        read_only: It changes nothing but counters of use.
        destructive: It may hide or replace what was there (all of which `undo` brings back).
        idempotent: Called again with the same arguments, it changes nothing more.
        declared: For a tool that Anthropic's API has built in: how a list of tools names it there.
    """

    name: str
    title: str
    description: str
    parameters: Mapping[str, Any]
    run: Callable[[ScopedMemory, Mapping[str, Any]], Result]
    result: Mapping[str, Any] | None = None
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    declared: Mapping[str, Any] | None = None

"""What an operation is: a verb of a memory with all that a door for programs has to know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.json_schema import Schema, check, with_whole_numbers
from mnemic.credentials.principal import Right
from mnemic.errors import Invalid
from mnemic.operations.argument_schemas import commit_or, name_text, nonblank_text

if TYPE_CHECKING:
    from mnemic.memory import ScopedMemory

Arguments = Mapping[str, Any]
Data = Mapping[str, Any]
"""What an operation answers: JSON, as its `result` schema says."""

SHELF: Final = {
    "agent": name_text("Only what is on this agent's shelf; written, it goes there."),
    "session": name_text("Only what is of this session; written, it is of it."),
}
BRANCH: Final = {"branch": name_text("On this branch of the memory, which must be there.")}
PAST: Final = {
    "at": commit_or(
        nonblank_text(), "As the journal stood: after this commit, or at this moment (ISO 8601, or such as `last May`)."
    ),
    "as_of": nonblank_text("What was known then, by the dates of messages: a date (its end), a time, or words."),
    "valid_at": nonblank_text("What is believed now to have held then: a date (its end), a time, or words."),
}
WRITTEN: Final = {**SHELF, **BRANCH}
"""The handle of what writes to a shelf."""
READ: Final = {**SHELF, **BRANCH, **PAST}
"""The handle of what reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One thing that a remote caller may do. Whose memory it is no argument can say: that is the handle it runs on.

    Attributes:
        name: Unique, and the verb's own name where there is one.
        parameters: JSON schema of the arguments: an object that takes no others. Given are the verb's own; those of the
            handle are put in.
        handle: Schemas of the arguments that choose the handle on the memory: its shelf, branch, past.
        result: JSON schema of the answer.
        right: The least that its caller must be allowed. To erase a whole user needs `ADMIN`, as what is of the store.
        read_only: It changes nothing but counters of use.
        destructive: It may hide or replace what was there.
        erases: It takes away for good, and no undo brings it back: a server may ask for more than `right`.
        idempotent: Called again with the same arguments, it changes nothing more.
        resource: A second address that it has under `/v1`, with its method, such as `GET /items/{id}`; "" for none.
        of_store: It is about the whole store: it takes the `Admin` of it, and no handle on one user's memory.
        signed: Its verb takes who asks as `actor`: an `Admin` is nobody's, and does not know.
        verb: Does it, given the handle and the arguments that are its own.
    """

    name: str
    title: str
    description: str
    parameters: Schema
    result: Schema
    right: Right
    verb: Callable[[Any, dict[str, Any]], Data]
    handle: Mapping[str, Schema] = field(default_factory=dict)
    read_only: bool = False
    destructive: bool = False
    erases: bool = False
    idempotent: bool = False
    resource: str = ""
    of_store: bool = False
    signed: bool = False

    def __post_init__(self) -> None:
        fields = {**self.parameters["properties"], **self.handle}
        object.__setattr__(self, "parameters", {**self.parameters, "properties": fields})

    def run(self, memory: Any, arguments: Arguments, *, actor: str = "admin") -> Data:
        """Check the arguments, do it, and return what the `result` schema describes.

        Args:
            memory: A `ScopedMemory`, or an `Admin` for an operation of the store.
            actor: Who asks, for an operation that is signed.

        Raises:
            Invalid: an argument is missing, not known, or does not fit. MnemicError: as the verb.
        """
        arguments = with_whole_numbers(self.parameters, arguments)
        check(self.parameters, arguments)
        chosen = {name: value for name, value in arguments.items() if name in self.handle}
        own = {name: value for name, value in arguments.items() if name not in chosen}
        if self.signed:
            own["actor"] = actor
        return self.verb(_looking_from(memory, chosen) if chosen else memory, own)

    @property
    def takes_key(self) -> bool:
        """Whether an idempotency key makes a retry safe."""
        return "key" in self.parameters["properties"]

    @property
    def takes_expected(self) -> bool:
        """Whether it may be told which version its caller went by."""
        return "expect" in self.parameters["properties"]


def _looking_from(memory: ScopedMemory, arguments: Arguments) -> ScopedMemory:
    """The handle that the arguments choose."""
    if "branch" in arguments:
        memory = memory.on_branch(arguments["branch"])
    if "agent" in arguments or "session" in arguments:
        memory = memory.shelf(agent=arguments.get("agent"), session=arguments.get("session"))
    for name in PAST:
        if name in arguments:
            memory = _as_it_was(memory, name, arguments[name])
    return memory


def _as_it_was(memory: ScopedMemory, name: str, when: int | str) -> ScopedMemory:
    """The handle on one of three pasts; an error names the argument."""
    try:
        then: ScopedMemory = getattr(memory, name)(when)
    except Invalid as error:
        raise Invalid(name, error.problem, error.remedy) from error
    return then

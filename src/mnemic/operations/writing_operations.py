"""The operations that write: what was said, what is stated, corrected, tied, hidden, pinned, erased."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mnemic.core.items import EVIDENCE, Channel, Kind
from mnemic.core.json_schema import flag, many, number, shape, text
from mnemic.credentials.principal import Right
from mnemic.operations.argument_schemas import (
    ID,
    KEY,
    MOST,
    commit_number,
    name_or_none_text,
    name_text,
    nonblank_text,
    time_or_span,
    time_text,
)
from mnemic.operations.chat_message_schemas import CHAT_MESSAGES
from mnemic.operations.operation import BRANCH, SHELF, WRITTEN, Data, Operation
from mnemic.operations.record_schemas import ERASURE, RECEIPT
from mnemic.operations.records import erasure_record, receipt_record

if TYPE_CHECKING:
    from mnemic.memory import ScopedMemory

IDS: Final = many(ID, "Items, at least one.", minItems=1, maxItems=1_000)
TAGS: Final = many(name_text(), "Words to file it under.")
SLOTS: Final = {"type": "object", "description": "What else is known of it: any JSON, by name."}
EXPIRES: Final = time_or_span("From when on nobody is shown it: ISO 8601, or a span from now such as `30 days`.")
EXPECT: Final = commit_number(
    "The commit that wrote the version you have read (`seq_from`): refused if another stands by now."
)
_SAID: Final = time_text("When it was said, ISO 8601; left out, now.")
_CHANNEL: Final = text(
    "Who brought it in (left out: `user`).", among=(Channel.USER.value, Channel.TOOL.value, Channel.MODEL.value)
)
_STATEMENTS: Final = tuple(kind.value for kind in Kind if kind not in EVIDENCE)
_MESSAGE: Final = {"anyOf": [nonblank_text("What was said or read."), *CHAT_MESSAGES]}
_STATEMENT: Final = {
    "said": _SAID,
    "valid_from": time_text("Since when it holds, ISO 8601."),
    "valid_to": time_text("Until when it holds, ISO 8601."),
    "source": many(ID, "The evidence it rests on."),
    "slots": SLOTS,
    "tags": TAGS,
    "key": KEY,
    "channel": _CHANNEL,
    "expires": EXPIRES,
}
_RIGHT: Final = nonblank_text("What is so.")
_KIND: Final = text("What sort of statement it is (left out: `fact`).", among=_STATEMENTS)


def _observe(memory: ScopedMemory, arguments: dict[str, Any]) -> Data:
    return receipt_record(memory.observe(arguments.pop("messages"), **arguments))


def _write(memory: ScopedMemory, arguments: dict[str, Any]) -> Data:
    return receipt_record(memory.write(arguments.pop("text"), **arguments))


def _revise(memory: ScopedMemory, arguments: dict[str, Any]) -> Data:
    return receipt_record(memory.revise(arguments.pop("id"), arguments.pop("text", None), **arguments))


def _supersede(memory: ScopedMemory, arguments: dict[str, Any]) -> Data:
    return receipt_record(memory.supersede(arguments.pop("id"), arguments.pop("text"), **arguments))


def _correct(memory: ScopedMemory, arguments: dict[str, Any]) -> Data:
    return receipt_record(memory.correct(arguments.pop("id"), arguments.pop("text"), **arguments))


def _settle(memory: ScopedMemory, arguments: dict[str, Any]) -> Data:
    return receipt_record(memory.settle(arguments.pop("id"), **arguments))


def _pin(memory: ScopedMemory, arguments: dict[str, Any]) -> Data:
    return receipt_record(memory.pin(*arguments.pop("ids"), **arguments))


def _unpin(memory: ScopedMemory, arguments: dict[str, Any]) -> Data:
    return receipt_record(memory.unpin(*arguments.pop("ids"), **arguments))


def _forget(memory: ScopedMemory, arguments: dict[str, Any]) -> Data:
    return receipt_record(memory.forget(*arguments.pop("ids"), **arguments))


def _feedback(memory: ScopedMemory, arguments: dict[str, Any]) -> Data:
    return receipt_record(memory.feedback(*arguments.pop("ids"), **arguments))


def _follow(memory: ScopedMemory, arguments: dict[str, Any]) -> Data:
    return receipt_record(memory.follow(*arguments.pop("strategies", ()), **arguments))


def _erase(memory: ScopedMemory, arguments: dict[str, Any]) -> Data:
    return erasure_record(memory.erase(*arguments.pop("ids", ()), **arguments))


WRITING: Final = (
    Operation(
        name="observe",
        title="Observe",
        description=(
            "Remember what was said or read, word for word: a text, a chat message, or a list of these, which are one "
            "commit: all or none. When it returns, they are on disk and recallable by their words."
        ),
        parameters=shape(
            {"messages": {"anyOf": [*_MESSAGE["anyOf"], many(_MESSAGE, minItems=1, maxItems=1_000)]}},
            {
                "speaker": name_text("Who said it, by name."),
                "role": name_text("`user`, `assistant` ..., where messages do not say."),
                "said": _SAID,
                "slots": SLOTS,
                "tags": TAGS,
                "key": KEY,
                "channel": _CHANNEL,
                "expires": EXPIRES,
            },
        ),
        result=RECEIPT,
        right=Right.WRITE,
        handle=WRITTEN,
        verb=_observe,
    ),
    Operation(
        name="write",
        title="Write a statement",
        description="Remember a statement, something held to be true: a fact, a trait of the user, a plan.",
        parameters=shape({"text": nonblank_text("The statement.")}, {"kind": _KIND, **_STATEMENT}),
        result=RECEIPT,
        right=Right.WRITE,
        handle=WRITTEN,
        verb=_write,
    ),
    Operation(
        name="revise",
        title="Revise a statement",
        description=(
            "Correct what a statement says; what it said before stays in its history. Evidence is never revised, but "
            "for when it expires."
        ),
        parameters=shape(
            {"id": ID},
            {
                "text": nonblank_text("What it says from now on."),
                "slots": SLOTS,
                "tags": TAGS,
                "valid_from": time_text("Since when it holds, ISO 8601."),
                "valid_to": time_text("Until when it holds, ISO 8601."),
                "expires": EXPIRES,
                "expect": EXPECT,
            },
        ),
        result=RECEIPT,
        right=Right.WRITE,
        destructive=True,
        idempotent=True,
        resource="PATCH /items/{id}",
        handle=WRITTEN,
        verb=_revise,
    ),
    Operation(
        name="supersede",
        title="Supersede a statement",
        description=(
            "Say that the world has changed: the new statement holds from its `valid_from`, the old one until then."
        ),
        parameters=shape({"id": ID, "text": _RIGHT}, {"kind": _KIND, **_STATEMENT, "expect": EXPECT}),
        result=RECEIPT,
        right=Right.WRITE,
        destructive=True,
        handle=WRITTEN,
        verb=_supersede,
    ),
    Operation(
        name="correct",
        title="Correct",
        description=(
            "Correct something that was never so: a statement is revised, evidence hidden behind what is right."
        ),
        parameters=shape({"id": ID, "text": _RIGHT}, {"kind": _KIND, **_STATEMENT, "expect": EXPECT}),
        result=RECEIPT,
        right=Right.WRITE,
        destructive=True,
        handle=WRITTEN,
        verb=_correct,
    ),
    Operation(
        name="settle",
        title="Settle a doubt",
        description="Settle whether a fact of the profile is so, in doubt or not: name one outcome.",
        parameters=shape(
            {"id": ID},
            {
                "keep": flag("It is so."),
                "ended": flag("It is so no longer, and nothing is known in its place."),
                "value": name_text("What is so instead: the new value."),
                "replaced_by": ID,
            },
        ),
        result=RECEIPT,
        right=Right.WRITE,
        destructive=True,
        handle=BRANCH,
        verb=_settle,
    ),
    Operation(
        name="link",
        title="Link two items",
        description="Tie two items by a typed, weighted link.",
        parameters=shape(
            {"src": ID, "dst": ID, "type": name_text("What the link says, such as `about`.")},
            {"weight": number(low=0, high=MOST), "evidence": many(ID, "What it rests on.")},
        ),
        result=RECEIPT,
        right=Right.WRITE,
        idempotent=True,
        handle=BRANCH,
        verb=lambda memory, arguments: receipt_record(memory.link(**arguments)),
    ),
    Operation(
        name="unlink",
        title="Remove a link",
        description="Remove the link of a type between two items.",
        parameters=shape({"src": ID, "dst": ID, "type": name_text()}),
        result=RECEIPT,
        right=Right.WRITE,
        destructive=True,
        idempotent=True,
        handle=BRANCH,
        verb=lambda memory, arguments: receipt_record(memory.unlink(**arguments)),
    ),
    Operation(
        name="pin",
        title="Pin items",
        description="Pin items: `context` puts them first, and no collector takes them.",
        parameters=shape({"ids": IDS}, {"expect": EXPECT}),
        result=RECEIPT,
        right=Right.WRITE,
        idempotent=True,
        handle=WRITTEN,
        verb=_pin,
    ),
    Operation(
        name="unpin",
        title="Unpin items",
        description="Let pinned items go again.",
        parameters=shape({"ids": IDS}, {"expect": EXPECT}),
        result=RECEIPT,
        right=Right.WRITE,
        idempotent=True,
        handle=WRITTEN,
        verb=_unpin,
    ),
    Operation(
        name="forget",
        title="Forget items",
        description="Hide items from every read but those of the journal's past; `undo` brings them back.",
        parameters=shape({"ids": IDS}, {"expect": EXPECT}),
        result=RECEIPT,
        right=Right.WRITE,
        destructive=True,
        idempotent=True,
        handle=WRITTEN,
        verb=_forget,
    ),
    Operation(
        name="forget_by",
        title="Forget what a strategy derived",
        description="Hide all that a strategy derived, in one commit; it derives none of it again by itself.",
        parameters=shape({"strategy": name_text("Its name, as `strategies` lists it.")}),
        result=RECEIPT,
        right=Right.WRITE,
        destructive=True,
        handle=BRANCH,
        verb=lambda memory, arguments: receipt_record(memory.forget_by(**arguments)),
    ),
    Operation(
        name="feedback",
        title="Say what helped",
        description="Count that items helped or misled: their strength changes, never their truth.",
        parameters=shape({"ids": IDS, "useful": flag("They helped; otherwise they misled.")}),
        result=RECEIPT,
        right=Right.WRITE,
        handle=BRANCH,
        verb=_feedback,
    ),
    Operation(
        name="follow",
        title="Choose strategies",
        description=(
            "Choose which strategies understand this memory: these and no others, from its first turn on. With "
            "neither names nor `default`, nothing is derived from now on."
        ),
        parameters=shape({}, {"strategies": many(name_text()), "default": flag("Those of the settings again.")}),
        result=RECEIPT,
        right=Right.WRITE,
        idempotent=True,
        handle=BRANCH,
        verb=_follow,
    ),
    Operation(
        name="erase",
        title="Erase for good",
        description=(
            "Erase items, a session or what was imported under a name, for good, with all that was derived from them. "
            "No undo brings it back. The receipt says where copies may lie that cannot be reached."
        ),
        parameters=shape(
            {},
            {
                "ids": many(ID, "Items.", maxItems=1_000),
                "session": name_text("All items of the session of this name."),
                "source": name_text("What was imported under this name."),
                "reason": name_or_none_text("For the journal."),
            },
        ),
        result=ERASURE,
        right=Right.WRITE,
        destructive=True,
        erases=True,
        idempotent=True,
        handle={"agent": SHELF["agent"], **BRANCH},
        verb=_erase,
    ),
    Operation(
        name="erase_user",
        title="Erase the user for good",
        description="Erase this user for good: every item, every name, every trace but the numbers of the commits.",
        parameters=shape({}, {"reason": name_or_none_text("For the journal.")}),
        result=ERASURE,
        right=Right.ADMIN,
        destructive=True,
        erases=True,
        idempotent=True,
        verb=lambda memory, arguments: erasure_record(memory.erase_user(**arguments)),
    ),
)

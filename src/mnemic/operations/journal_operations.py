"""The operations on the past and on branches: histories, the journal, the feed, taking back, trying out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mnemic.core.json_schema import flag, many, shape, text
from mnemic.core.listing import all_of
from mnemic.credentials.principal import Right
from mnemic.errors import NotFound
from mnemic.operations.argument_schemas import ID, MARK, commit_number, commit_or, name_text
from mnemic.operations.journal_records import (
    branch_record,
    change_record,
    difference_record,
    merge_record,
    notice_record,
)
from mnemic.operations.operation import BRANCH, PAST, SHELF, Data, Operation
from mnemic.operations.reading_operations import AFTER, LIMIT
from mnemic.operations.record_schemas import BRANCH as BRANCH_RECORD
from mnemic.operations.record_schemas import (
    CHANGE,
    DIFFERENCE,
    ERASURE,
    MERGE,
    NOTICE,
    RECEIPT,
    UNDONE,
    VERSION,
    page_of,
)
from mnemic.operations.records import erasure_record, receipt_record, undone_record, version_record

if TYPE_CHECKING:
    from mnemic.core.items import Version
    from mnemic.memory import ScopedMemory
    from mnemic.watching.feed import Notice

_SEQ: Final = commit_number("The number of a commit.")
_WRITTEN: Final = commit_number("The number of a commit.", low=1)
_CASCADE: Final = flag("Go ahead where something it touched has changed since.")
_NAME: Final = name_text("The branch's name.")
_UNDONE: Final = shape({"undone": many(UNDONE, "Newest first; each by a commit of its own.")})


def _log(memory: ScopedMemory, arguments: dict[str, Any]) -> Data:
    page = memory.log(**arguments)
    return {"changes": list(map(change_record, page)), "next": page.next}


def _changes(memory: ScopedMemory, arguments: dict[str, Any]) -> Data:
    """One page of the feed; its `next` is a mark also where nothing is new, so that it can be asked for again."""
    with_items = arguments.pop("items", False)
    notices = memory.changes(**arguments)
    next = notices[-1].mark if notices else arguments.get("after", 0)
    return {"notices": [_notice(memory, notice, with_items) for notice in notices], "next": next}


def _notice(memory: ScopedMemory, notice: Notice, with_items: bool) -> Data:
    record = notice_record(notice)
    return {**record, "items": list(map(version_record, _written(memory, notice.seq)))} if with_items else record


def _written(memory: ScopedMemory, seq: int) -> list[Version]:
    try:
        return list(memory.written(seq))
    except NotFound:  # erased with its user since it was listed
        return []


def _branch(memory: ScopedMemory, arguments: dict[str, Any]) -> Data:
    memory.branch(**arguments)
    made = next(branch for branch in all_of(memory.branches) if branch.name == arguments["name"])
    return branch_record(made)


def _branches(memory: ScopedMemory, arguments: dict[str, Any]) -> Data:
    page = memory.branches(**arguments)
    return {"branches": list(map(branch_record, page)), "next": page.next}


def _merge(memory: ScopedMemory, arguments: dict[str, Any]) -> Data:
    return merge_record(memory.merge(**arguments), dry_run=arguments.get("dry_run", False))


JOURNAL: Final = (
    Operation(
        name="history",
        title="History of an item",
        description="List every version of an item, of what it superseded and of what superseded it, oldest first.",
        parameters=shape({"id": ID}),
        result=shape({"versions": many(VERSION, "Oldest first.")}),
        right=Right.READ,
        read_only=True,
        idempotent=True,
        resource="GET /items/{id}/history",
        handle={**SHELF, **BRANCH, "at": PAST["at"]},
        verb=lambda memory, arguments: {"versions": list(map(version_record, memory.history(**arguments)))},
    ),
    Operation(
        name="log",
        title="Log",
        description="List the commits of this user, newest first, a page at a time; words are in `written`.",
        parameters=shape(
            {},
            {
                "limit": LIMIT,
                "after": commit_or(AFTER, "A commit, or the `next` of the page before."),
                "newest": flag("Newest first (left out: yes)."),
                "every": flag("Also commits that only count what was shown."),
            },
        ),
        result=page_of("changes", CHANGE),
        right=Right.READ,
        read_only=True,
        idempotent=True,
        handle=BRANCH,
        verb=_log,
    ),
    Operation(
        name="changes",
        title="Feed",
        description=(
            "List the commits of this memory and the shared one after `after`, oldest first. Its `next` is where to go "
            "on, also where nothing is new yet."
        ),
        parameters=shape(
            {},
            {
                "after": commit_or(MARK, "A `mark` or `next`, or a commit's number."),
                "limit": LIMIT,
                "every": flag("Also commits that only count what was shown."),
                "items": flag("Also the items that each wrote."),
            },
        ),
        result=shape(
            {"notices": many(NOTICE), "next": {"type": ["string", "integer"], "description": "The next `after`."}}
        ),
        right=Right.READ,
        read_only=True,
        idempotent=True,
        handle={**SHELF, **BRANCH},
        verb=_changes,
    ),
    Operation(
        name="written",
        title="What a commit wrote",
        description="List the versions that a commit wrote, without those erased since.",
        parameters=shape({"seq": _WRITTEN}),
        result=shape({"versions": many(VERSION)}),
        right=Right.READ,
        read_only=True,
        idempotent=True,
        handle={**SHELF, **BRANCH},
        verb=lambda memory, arguments: {"versions": list(map(version_record, memory.written(**arguments)))},
    ),
    Operation(
        name="diff",
        title="Difference",
        description="List what differs between this memory after commit `a` and after `b`; `b` left out is now.",
        parameters=shape({"a": _SEQ}, {"b": _SEQ}),
        result=shape({"items": many(DIFFERENCE)}),
        right=Right.READ,
        read_only=True,
        idempotent=True,
        handle={**SHELF, **BRANCH},
        verb=lambda memory, arguments: {"items": list(map(difference_record, memory.diff(**arguments)))},
    ),
    Operation(
        name="undo",
        title="Undo a commit",
        description="Take a commit back, with what was derived from it, by a new commit; undo that one to redo.",
        parameters=shape({"seq": _WRITTEN}, {"cascade": _CASCADE}),
        result=RECEIPT,
        right=Right.WRITE,
        destructive=True,
        handle=BRANCH,
        verb=lambda memory, arguments: receipt_record(memory.undo(**arguments)),
    ),
    Operation(
        name="undo_range",
        title="Undo a range of commits",
        description="Undo the commits `first` to `last` of this memory, newest first, each by a commit of its own.",
        parameters=shape({"first": _WRITTEN, "last": _WRITTEN}, {"cascade": _CASCADE}),
        result=_UNDONE,
        right=Right.WRITE,
        destructive=True,
        handle=BRANCH,
        verb=lambda memory, arguments: {"undone": list(map(undone_record, memory.undo_range(**arguments)))},
    ),
    Operation(
        name="undo_import",
        title="Undo an import",
        description="Undo what was imported under the name of a source, as `undo_range` undoes a range.",
        parameters=shape({"source": name_text("The name it came in under.")}, {"cascade": _CASCADE}),
        result=_UNDONE,
        right=Right.WRITE,
        destructive=True,
        handle=BRANCH,
        verb=lambda memory, arguments: {"undone": list(map(undone_record, memory.undo_import(**arguments)))},
    ),
    Operation(
        name="revert",
        title="Revert to a commit",
        description="Bring this memory back to what it was after a commit, by one commit that `undo` takes back.",
        parameters=shape({"seq": _WRITTEN}),
        result=RECEIPT,
        right=Right.WRITE,
        destructive=True,
        idempotent=True,
        handle=BRANCH,
        verb=lambda memory, arguments: receipt_record(memory.revert(**arguments)),
    ),
    Operation(
        name="branches",
        title="Branches",
        description="List the branches of this memory, in the order they were made, a page at a time.",
        parameters=shape({}, {"limit": LIMIT, "after": AFTER}),
        result=page_of("branches", BRANCH_RECORD),
        right=Right.READ,
        read_only=True,
        idempotent=True,
        verb=_branches,
    ),
    Operation(
        name="branch",
        title="Make a branch",
        description=(
            "Make a branch of this memory, or find it there: what is written to it stays on it until it is merged."
        ),
        parameters=shape({"name": _NAME}, {"understand": flag("Rules and the embedder read it too.")}),
        result=BRANCH_RECORD,
        right=Right.WRITE,
        idempotent=True,
        handle={**BRANCH, "at": PAST["at"]},
        verb=_branch,
    ),
    Operation(
        name="merge",
        title="Merge a branch",
        description=(
            "Take over what a branch has changed, in one commit that `undo` takes back. Where both sides changed an "
            "item differently nothing is written, unless `prefer` names the side that wins."
        ),
        parameters=shape(
            {"name": _NAME},
            {"prefer": text(among=("branch", "parent")), "dry_run": flag("Say what it would do, and do nothing.")},
        ),
        result=MERGE,
        right=Right.WRITE,
        destructive=True,
        idempotent=True,
        handle=BRANCH,
        verb=_merge,
    ),
    Operation(
        name="drop_branch",
        title="Drop a branch",
        description="Erase a branch for good, with what was written to it alone.",
        parameters=shape({"name": _NAME}),
        result=ERASURE,
        right=Right.WRITE,
        destructive=True,
        idempotent=True,
        handle=BRANCH,
        verb=lambda memory, arguments: erasure_record(memory.drop_branch(**arguments)),
    ),
)

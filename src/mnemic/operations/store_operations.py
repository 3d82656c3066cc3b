"""The operations on a store as a whole: its size, its users, lanes and jobs. They show numbers, and words of none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mnemic.core.json_schema import flag, shape
from mnemic.credentials.principal import Right
from mnemic.operations.argument_schemas import commit_number, name_text
from mnemic.operations.operation import Data, Operation
from mnemic.operations.reading_operations import AFTER, LIMIT
from mnemic.operations.record_schemas import STATS, USER, WORK, page_of
from mnemic.operations.store_records import stats_record, user_record, work_record

if TYPE_CHECKING:
    from mnemic.admin import Admin

_JOB: Final = commit_number("The number of a job.")
_TENANT: Final = name_text("Only of this tenant.")
_DONE: Final = shape({"id": _JOB})


def _stats(admin: Admin, given: dict[str, Any]) -> Data:
    found = admin.stats(**given)
    return stats_record(found, found.users)


def _users(admin: Admin, given: dict[str, Any]) -> Data:
    page = admin.users(**given)
    return {"users": list(map(user_record, page)), "next": page.next}


def _jobs(admin: Admin, given: dict[str, Any]) -> Data:
    page = admin.jobs(**given)
    return {"entries": list(map(work_record, page)), "next": page.next}


def _dead(admin: Admin, given: dict[str, Any]) -> Data:
    page = admin.dead(**given)
    return {"entries": list(map(work_record, page)), "next": page.next}


def _retry(admin: Admin, given: dict[str, Any]) -> Data:
    admin.retry(**given)
    return given


def _cancel(admin: Admin, given: dict[str, Any]) -> Data:
    admin.cancel(**given)
    return given


OF_STORE: Final = (
    Operation(
        name="stats",
        title="Size of the store",
        description="Count items, users and bytes of the files, and what each of the first users has.",
        parameters=shape({}, {"limit": LIMIT}),
        result=STATS,
        right=Right.ADMIN,
        read_only=True,
        idempotent=True,
        of_store=True,
        verb=_stats,
    ),
    Operation(
        name="users",
        title="Users",
        description="List what each user has, by tenant and in the order in which they first wrote, a page at a time.",
        parameters=shape({}, {"limit": LIMIT, "after": AFTER, "tenant": _TENANT, "user": name_text("Only this one.")}),
        result=page_of("users", USER),
        right=Right.ADMIN,
        read_only=True,
        idempotent=True,
        of_store=True,
        verb=_users,
    ),
    Operation(
        name="jobs",
        title="Lanes and jobs",
        description="List the lanes with work to do, then the jobs: who works on each, since when, the last error.",
        parameters=shape({}, {"over": flag("Also those that are done or cancelled."), "limit": LIMIT, "after": AFTER}),
        result=page_of("entries", WORK),
        right=Right.ADMIN,
        read_only=True,
        idempotent=True,
        of_store=True,
        verb=_jobs,
    ),
    Operation(
        name="dead",
        title="Dead letters",
        description="List the items on which a strategy or embedder failed too often, and which it left out.",
        parameters=shape({}, {"limit": LIMIT, "after": AFTER}),
        result=page_of("entries", WORK),
        right=Right.ADMIN,
        read_only=True,
        idempotent=True,
        of_store=True,
        verb=_dead,
    ),
    Operation(
        name="retry",
        title="Retry a job",
        description="Have a dead or cancelled job done once more.",
        parameters=shape({"id": _JOB}),
        result=_DONE,
        right=Right.ADMIN,
        idempotent=True,
        of_store=True,
        verb=_retry,
    ),
    Operation(
        name="cancel",
        title="Cancel a job",
        description="Cancel a job that waits.",
        parameters=shape({"id": _JOB}),
        result=_DONE,
        right=Right.ADMIN,
        destructive=True,
        idempotent=True,
        of_store=True,
        verb=_cancel,
    ),
    Operation(
        name="rerun",
        title="Rerun a strategy",
        description=(
            "Queue a job in which a strategy retires all that it made for a user, and reads everything again."
        ),
        parameters=shape({"strategy": name_text("Its name."), "user": name_text("Whose memory.")}, {"tenant": _TENANT}),
        result=shape({"id": _JOB}),
        right=Right.ADMIN,
        destructive=True,
        of_store=True,
        verb=lambda admin, given: {"id": admin.rerun(**given)},
    ),
)

"""The operations on a store as a whole: its size, its users, lanes and jobs. They show numbers, and words of none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mnemic.core.json_schema import flag, shape, text, whole
from mnemic.credentials.principal import Right
from mnemic.operations.operation import Data, Operation
from mnemic.operations.reading_operations import AFTER, LIMIT
from mnemic.operations.record_schemas import STATS, USER, WORK, page_of
from mnemic.operations.store_records import stats_record, user_record, work_record

if TYPE_CHECKING:
    from mnemic.admin import Admin

_JOB: Final = whole("The number of a job.", low=0)
_TENANT: Final = text("Only of this tenant.")
_DONE: Final = shape({"id": _JOB})


def _stats(admin: Admin, arguments: dict[str, Any]) -> Data:
    stats = admin.stats(**arguments)
    return stats_record(stats, stats.users)


def _users(admin: Admin, arguments: dict[str, Any]) -> Data:
    page = admin.users(**arguments)
    return {"users": list(map(user_record, page)), "next": page.next}


def _jobs(admin: Admin, arguments: dict[str, Any]) -> Data:
    page = admin.jobs(**arguments)
    return {"entries": list(map(work_record, page)), "next": page.next}


def _dead(admin: Admin, arguments: dict[str, Any]) -> Data:
    page = admin.dead(**arguments)
    return {"entries": list(map(work_record, page)), "next": page.next}


def _retry(admin: Admin, arguments: dict[str, Any]) -> Data:
    admin.retry(**arguments)
    return arguments


def _cancel(admin: Admin, arguments: dict[str, Any]) -> Data:
    admin.cancel(**arguments)
    return arguments


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
        parameters=shape({}, {"limit": LIMIT, "after": AFTER, "tenant": _TENANT, "user": text("Only this one.")}),
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
        parameters=shape({"strategy": text("Its name."), "user": text("Whose memory.")}, {"tenant": _TENANT}),
        result=shape({"id": _JOB}),
        right=Right.ADMIN,
        destructive=True,
        of_store=True,
        verb=lambda admin, arguments: {"id": admin.rerun(**arguments)},
    ),
)

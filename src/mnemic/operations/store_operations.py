"""The operations on a store as a whole: its size, users, lanes, jobs, keys and holds. They show words of no
memory but what the reason of a hold quotes."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.clock import aware
from mnemic.core.ids import ItemId
from mnemic.core.json_schema import flag, many, shape, text
from mnemic.core.scope import SHARED
from mnemic.credentials.keys import end_of_key
from mnemic.credentials.principal import Right
from mnemic.errors import Invalid
from mnemic.operations.argument_schemas import ID, any_text, commit_number, name_text, time_or_span
from mnemic.operations.operation import Data, Operation
from mnemic.operations.reading_operations import AFTER, LIMIT
from mnemic.operations.record_schemas import ACCESS_KEY, HOLD, RIGHTS, SPENDING, STATS, USER, VITALS, WORK, page_of
from mnemic.operations.store_records import hold_record, key_record, stats_record, user_record, work_record
from mnemic.operations.vitals_records import look_record, spending_records

if TYPE_CHECKING:
    from mnemic.admin import Admin

_JOB: Final = commit_number("The number of a job.")
_TENANT: Final = name_text("Only of this tenant.")
_DONE: Final = shape({"id": _JOB})
_KEY_ENDS: Final = {
    "anyOf": [*time_or_span("")["anyOf"], text(among=("never",))],
    "description": "When it ends: ISO 8601, a span such as `30 days`, or `never`; left out, in 90 days.",
}


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


def _spending(admin: Admin, given: dict[str, Any]) -> Data:
    return {"spending": spending_records(admin.spending(**given), admin.settings.prices)}


def _keys(admin: Admin, given: dict[str, Any]) -> Data:
    return {"keys": list(map(key_record, admin.access_keys.list(admin.settings.tenant)))}


def _create_key(admin: Admin, given: dict[str, Any]) -> Data:
    right = Right.named(given.pop("right", "write"))
    if "expires" in given:
        when = end_of_key("expires", given["expires"])
        given["expires"] = aware("expires", when, admin.settings.timezone) if isinstance(when, datetime) else when
    user, any_user = given.pop("user", None), given.pop("any_user", False)
    if (user is not None) == any_user:
        raise Invalid(
            "user",
            "comes with any_user" if any_user else "is missing",
            "Say whose memory the key opens, or `any_user` for every user of the tenant; just one of them.",
        )
    by = given.pop("actor")
    made = admin.access_keys.create(tenant=admin.settings.tenant, user=user, right=right, by=by, **given)
    return {"key": key_record(made.key), "text": made.text}


def _revoke_key(admin: Admin, given: dict[str, Any]) -> Data:
    return {"key": key_record(admin.access_keys.revoke(given["id"], tenant=admin.settings.tenant, by=given["actor"]))}


def _hold(admin: Admin, given: dict[str, Any]) -> Data:
    if given.pop("shared", False):
        if "user" in given:
            raise Invalid("user", "comes with shared", "Say just one of them.")
        given["user"] = SHARED
    if "item" in given:
        given["item"] = ItemId(given["item"])
    return {"id": admin.hold(tenant=admin.settings.tenant, **given)}


def _holds(admin: Admin, given: dict[str, Any]) -> Data:
    page = admin.holds(tenant=admin.settings.tenant, **given)
    return {"holds": list(map(hold_record, page)), "next": page.next}


def _release_hold(admin: Admin, given: dict[str, Any]) -> Data:
    admin.release_hold(**given, tenant=admin.settings.tenant)
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
        verb=lambda admin, arguments: {"id": admin.rerun(**arguments)},
    ),
    Operation(
        name="vitals",
        title="Vitals",
        description=(
            "Read what the processes of the store do just now: rates, windows, pages, jobs, lanes, files, the last "
            "collection."
        ),
        parameters=shape({}),
        result=VITALS,
        right=Right.ADMIN,
        read_only=True,
        idempotent=True,
        of_store=True,
        verb=lambda admin, given: look_record(admin.vitals(), admin.behind()),
    ),
    Operation(
        name="spending",
        title="What models took",
        description="List what language models took, by strategy, task and model, the dearest in tokens first.",
        parameters=shape({}, {"user": name_text("Only of this user."), "tenant": _TENANT}),
        result=shape({"spending": many(SPENDING)}),
        right=Right.ADMIN,
        read_only=True,
        idempotent=True,
        of_store=True,
        verb=_spending,
    ),
    Operation(
        name="keys",
        title="Access keys",
        description="List the access keys of the tenant, without their secrets, by when they were made.",
        parameters=shape({}),
        result=shape({"keys": many(ACCESS_KEY)}),
        right=Right.ADMIN,
        read_only=True,
        idempotent=True,
        of_store=True,
        verb=_keys,
    ),
    Operation(
        name="create_key",
        title="Make an access key",
        description="Make an access key. Its text is in this answer and nowhere else.",
        parameters=shape(
            {"name": name_text("Who acts by it, as the journal will call them: no two that stand have the same.")},
            {
                "user": name_text("The user whose memory alone it opens."),
                "any_user": flag("In place of `user`: it opens every user's of the tenant, whom each request names."),
                "right": text("How much it may do (left out: `write`).", among=RIGHTS),
                "expires": _KEY_ENDS,
                "shared": flag("Whether it may write what the tenant shares."),
            },
        ),
        result=shape({"key": ACCESS_KEY, "text": text("What is presented: `Authorization: Bearer mk_...`.")}),
        right=Right.ADMIN,
        of_store=True,
        signed=True,
        verb=_create_key,
    ),
    Operation(
        name="revoke_key",
        title="Revoke an access key",
        description="Revoke an access key, also one that has ended, and the browser sessions that were opened with it.",
        parameters=shape({"id": name_text("The key's id, as `keys` lists it; or its name.")}),
        result=shape({"key": ACCESS_KEY}),
        right=Right.ADMIN,
        destructive=True,
        idempotent=True,
        of_store=True,
        signed=True,
        verb=_revoke_key,
    ),
    Operation(
        name="holds",
        title="Legal holds",
        description="List the legal holds of the tenant, the oldest first, a page at a time.",
        parameters=shape({}, {"limit": LIMIT, "after": AFTER}),
        result=page_of("holds", HOLD),
        right=Right.ADMIN,
        read_only=True,
        idempotent=True,
        of_store=True,
        verb=_holds,
    ),
    Operation(
        name="hold",
        title="Set a legal hold",
        description=(
            "Set a legal hold on a user, an item or session of theirs, or the whole tenant: nothing of it is erased, "
            "collected or dropped until it is released. Whoever is refused by it is told the reason."
        ),
        parameters=shape(
            {},
            {
                "user": name_text("Whose memory."),
                "shared": flag("In place of `user`: what the tenant shares."),
                "item": ID,
                "session": name_text("Only this session of theirs."),
                "whole": flag("In place of all these: the whole tenant."),
                "reason": any_text("Why. It may quote content, and is erased as content is."),
            },
        ),
        result=shape({"id": commit_number("The number of the hold.")}),
        right=Right.ADMIN,
        of_store=True,
        signed=True,
        verb=_hold,
    ),
    Operation(
        name="release_hold",
        title="Release a legal hold",
        description="Release a legal hold: what it kept may be erased and collected again.",
        parameters=shape({"hold": commit_number("The number of the hold, as `holds` lists it.", low=1)}),
        result=shape({"hold": commit_number("The number of the hold.")}),
        right=Right.ADMIN,
        idempotent=True,
        of_store=True,
        verb=_release_hold,
    ),
)

"""What mem0's calls that change, erase, judge and export do, by our verbs. What they delete is erased for good."""

from __future__ import annotations

import ast
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.items import EVIDENCE, State
from mnemic.core.listing import all_of
from mnemic.core.queries import Filter
from mnemic.credentials.principal import Right
from mnemic.errors import Invalid, NotFound
from mnemic.faces.server.mem0_filters import APP, ENTITIES, METADATA, cases_of
from mnemic.faces.server.mem0_memories import Given, listed_in, named_entities, places_of
from mnemic.faces.server.mem0_records import address, memory_record, slots_of
from mnemic.faces.server.strict_json import read_json

if TYPE_CHECKING:
    from mnemic.admin import Admin
    from mnemic.core.ids import ItemId
    from mnemic.core.items import Version
    from mnemic.faces.server.mem0_caller import Mem0Caller
    from mnemic.memory import ScopedMemory

_ERASED_AT_ONCE: Final = 1_000
_EVERY_STATE: Final = tuple(State)
_EXPORT: Final = "export-"
_LONGEST_LITERAL: Final = 4_096


def update(caller: Mem0Caller, given: Given) -> Any:
    """Change what a memory says; its id stays, and its history has what it said before."""
    memory, user, version = caller.standing(given["memory_id"])
    _refuse_no_change(given)
    changed = _updated(memory, version, given)
    return memory_record(changed.item, user, changed.recorded, given["memory_id"])


def _updated(memory: ScopedMemory, version: Version, given: Given) -> Version:
    """Change a memory, and read it again: a statement is revised, evidence corrected, but for when it expires."""
    item, fields = version.item, dict[str, Any]()
    if "metadata" in given:
        kept = {name: value for name, value in item.slots.items() if not name.startswith(METADATA)}
        kept.pop("metadata", None)  # imported: the new one takes its place too
        fields["slots"] = {**kept, **slots_of(given["metadata"])}
    if "expiration_date" in given:
        fields["expires"] = given["expiration_date"]
    text = given.get("text", given.get("data"))
    if item.kind not in EVIDENCE or (set(fields) == {"expires"} and text is None):
        memory.revise(item.id, text, expect=version.seq_from, **fields)
        return memory.get(item.id)
    corrected: Given = {"slots": item.slots, "tags": item.tags, "expires": item.expires, **fields}
    shelf = memory.shelf(agent=item.agent, session=item.session)
    receipt = shelf.correct(item.id, item.text if text is None else text, said=item.said, **corrected)
    return shelf.get(receipt.ids[0])


def update_many(caller: Mem0Caller, given: Given) -> Any:
    """Change several memories, once all of them have been found; each change is a commit of its own."""
    for change in given["memories"]:
        caller.standing(change["memory_id"])
        _refuse_no_change(change)
    for change in given["memories"]:
        memory, _, version = caller.standing(change["memory_id"])  # anew: an id may come twice
        _updated(memory, version, change)
    return {"message": f"Successfully updated {len(given['memories'])} memories"}


def _refuse_no_change(given: Given) -> None:
    if not {"text", "data", "metadata", "expiration_date"} & set(given):
        raise Invalid("text", "is missing", "Give text, metadata or expiration_date.")


def delete(caller: Mem0Caller, given: Given) -> Any:
    """Erase a memory for good; with `delete_linked` also those that it superseded."""
    memory, _, ids = _doomed(caller, given["memory_id"], linked=given.get("delete_linked", False))
    _erase(memory, ids)
    return {"message": "Memory deleted successfully!"}


def delete_many(caller: Mem0Caller, given: Given) -> Any:
    """Erase several memories, once all of them have been found."""
    opened: dict[str, ScopedMemory] = {}
    doomed: dict[str, list[ItemId]] = defaultdict(list)
    for doomed_memory in given["memories"]:
        memory, user, ids = _doomed(caller, doomed_memory["memory_id"], linked=False)
        opened[user] = memory
        doomed[user] += ids
    for user, ids in doomed.items():
        _erase(opened[user], ids)
    return {"message": f"Successfully deleted {len(given['memories'])} memories"}


def _doomed(caller: Mem0Caller, memory_id: str, *, linked: bool) -> tuple[ScopedMemory, str, list[ItemId]]:
    """What is erased with a memory: what it was before it was corrected as well."""
    memory, user, version = caller.standing(memory_id)
    story = memory.history(version.item.id)
    doomed = {story_version.item.id for story_version in story if linked or story_version.item.state is State.RETIRED}
    return memory, user, [*(doomed | {version.item.id})]


def _erase(memory: ScopedMemory, ids: Iterable[ItemId]) -> int:
    """Erase items for good, so many at once, and count them."""
    every = list(dict.fromkeys(ids))
    for start in range(0, len(every), _ERASED_AT_ONCE):
        memory.erase(*every[start : start + _ERASED_AT_ONCE])
    return len(every)


def delete_all(caller: Mem0Caller, given: Given) -> Any:
    """Erase whatever the entities name, hidden items too."""
    filters = _filters_of_query(given.get("filters"))
    if not named_entities(given) and not filters:
        raise Invalid("user_id", "is missing, as are all the others", f"Name one of {', '.join(ENTITIES)}.")
    for memory, _, where in places_of(caller, {**given, "filters": filters}, _EVERY_STATE):
        _erase(memory, (version.item.id for version in listed_in(memory, where)))
    return {"message": "Memories deleted successfully!"}


def _filters_of_query(given: str | None) -> Any:
    """Read filters out of a query string: JSON, or the text of a dict, which mem0's Python client sends."""
    if not given:
        return {}
    try:
        return read_json(given.encode())
    except Invalid:
        if len(given) > _LONGEST_LITERAL:
            raise
    try:
        return read_json(json.dumps(ast.literal_eval(given)).encode())
    except (Invalid, ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        raise Invalid("filters", "are no JSON object", "Encode them as JSON.") from error


def delete_entity(caller: Mem0Caller, given: Given) -> Any:
    """Erase a user; or what an agent, an app or a run has in the caller's own memory.

    Raises:
        NotFound: there is nothing of it.
    """
    kind, name = given["entity_type"], given["entity_id"]
    if kind == "user":
        memory, _ = caller.requiring(Right.ADMIN).memory(name)
        memory.erase_user()
    else:
        memory, _ = caller.memory(None)
        every = all_of(memory.list, where=_of_entity(kind, name), limit=_ERASED_AT_ONCE)
        if not _erase(memory, (version.item.id for version in every)):
            raise NotFound(f"no {kind} {name[:60]!r} here")
    return {"message": "Entity deleted successfully!"}


def _of_entity(kind: str, name: str) -> Filter:
    """What an agent, a run or an app has, hidden items too."""
    if kind == "agent":
        return Filter(agent=name, states=_EVERY_STATE)
    if kind == "run":
        return Filter(session=name, states=_EVERY_STATE)
    if kind == "app":
        return Filter(slots=((APP, name),), states=_EVERY_STATE)
    raise NotFound(f"there are no entities of type {kind[:60]!r}")


def reset(caller: Mem0Caller, given: Given) -> Any:
    """Erase every user of the tenant for good."""
    for name, _ in list(_users_of(caller.admin("erase_user"), caller.principal.tenant)):
        caller.memory(name)[0].erase_user()
    return {"message": "All memories reset"}


def entities(caller: Mem0Caller, given: Given) -> Any:
    """List the users: all of the tenant for its administrator, for anybody else their own."""
    tenant = caller.principal.tenant
    if caller.principal.right is Right.ADMIN:
        listed = list(_users_of(caller.admin("users"), tenant))
    else:
        memory, own = caller.memory(None)
        listed = [(own, memory.count())]
    results = [
        {"id": name, "name": name, "type": "user", "total_memories": count, "owner": tenant} for name, count in listed
    ]
    return {"count": len(results), "next": None, "previous": None, "total_users": len(results), "results": results}


def _users_of(admin: Admin, tenant: str) -> Iterator[tuple[str, int]]:
    """Every user of a tenant, with the count of their items."""
    for row in all_of(admin.users, tenant=tenant, limit=1_000):
        if row.user is not None:
            yield row.user, row.items


def feedback(caller: Mem0Caller, given: Given) -> Any:
    """Count that a memory helped or misled."""
    judged = given.get("feedback")
    if judged is None:
        raise Invalid("feedback", "is missing", "Say POSITIVE, NEGATIVE or VERY_NEGATIVE; what was said is not unsaid.")
    memory, _, version = caller.standing(given["memory_id"])
    memory.feedback(version.item.id, useful=judged == "POSITIVE")
    return {"id": given["memory_id"], "feedback": judged, "feedback_reason": None}


def create_export(caller: Mem0Caller, given: Given) -> Any:
    """Answer with the id of an export, which names what it is of; it is made when it is fetched."""
    filters = _export_filters(given)
    cases_of(filters, caller.zone)
    token = urlsafe_b64encode(json.dumps(filters, ensure_ascii=False).encode()).decode().rstrip("=")
    return {"message": "The export is made when it is fetched.", "id": _EXPORT + token}


def get_export(caller: Mem0Caller, given: Given) -> Any:
    """Export memories as mem0 lists them, all of them, as they are now.

    Raises:
        NotFound: it is no export's id.
    """
    filters = _export_filters(given)
    if "memory_export_id" in given:
        filters = [_named_export(given["memory_export_id"]), *filters]
    every = {
        address(version.item.id, user): memory_record(version.item, user, version.recorded)
        for memory, user, where in places_of(caller, {"filters": filters})
        for version in listed_in(memory, where)
    }
    return {"memories": list(every.values())}


def _export_filters(given: Given) -> list[Any]:
    return [filters for filters in (given.get("filters"), named_entities(given)) if filters]


def _named_export(id: str) -> Any:
    try:
        token = id.removeprefix(_EXPORT)
        return read_json(urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    except (Invalid, ValueError) as error:
        raise NotFound(f"no export {id[:60]!r} here") from error


def ping(caller: Mem0Caller, given: Given) -> Any:
    """Answer whom the credential is of."""
    tenant = caller.principal.tenant  # a client refuses to start without an organization and a project
    return {"status": "ok", "user_email": caller.principal.name, "org_id": tenant, "project_id": tenant}

"""What mem0's calls do, by our verbs. Each takes who asks and the checked arguments, and returns the answer's JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from mnemic.core.clock import since_1970
from mnemic.core.items import State
from mnemic.core.listing import all_of
from mnemic.core.queries import Filter
from mnemic.errors import Invalid
from mnemic.faces.server.mem0_filters import ANY, ENTITIES, cases_of
from mnemic.faces.server.mem0_records import history_records, memory_record, slots_of

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.core.items import Version
    from mnemic.faces.server.mem0_caller import Mem0Caller
    from mnemic.memory import ScopedMemory

Given: TypeAlias = dict[str, Any]
Place: TypeAlias = "tuple[ScopedMemory, str, Filter]"
"""A user's memory, whose it is, and which of its items."""

MOST_ON_A_PAGE: Final = 1_000
PAGE: Final = 100
FOUND: Final = 10
"""Items of a search that does not say how many."""
_NO_BUDGET: Final = 10_000_000
_LATEST: Final = 50
"""Items looked through for what was derived of messages that came in a moment ago."""


def add(caller: Mem0Caller, given: Given) -> Any:
    """Observe messages, or state what they say where nothing is to be inferred."""
    entities = _written_to([given.get("filters") or {}, named_entities(given)])
    memory, user = caller.memory(entities.get("user_id"))
    shelf = memory.shelf(agent=entities.get("agent_id"), session=entities.get("run_id"))
    fields: Given = {
        "slots": slots_of(given.get("metadata", {}), entities.get("app_id")),
        "said": _moment("timestamp", given["timestamp"]) if "timestamp" in given else None,
        "expires": given.get("expiration_date"),
    }
    key = caller.headers.get("idempotency-key")
    written: Sequence[ItemId]
    if given.get("infer", True):
        written = shelf.observe(given["messages"], key=key, **fields).ids
        derived = [version for version in shelf.list(limit=_LATEST) if set(version.item.source) & set(written)]
    else:
        written, derived = _stated(shelf, given["messages"], key, fields), []
    standing = {version.item.id: version for version in shelf.visible(written)}
    versions = [*(standing[id] for id in written if id in standing), *derived]
    return {
        "results": [{**memory_record(version.item, user, version.recorded), "event": "ADD"} for version in versions]
    }


def _stated(memory: ScopedMemory, messages: Any, key: str | None, fields: Given) -> list[ItemId]:
    """Write each message as a statement, in its own words."""
    said = []
    for place, message in enumerate(messages if isinstance(messages, list) else [messages]):
        content = message if isinstance(message, str) else message.get("content")
        if not isinstance(content, str) or not content.strip():
            raise Invalid(f"messages[{place}].content", "is no text", "With `infer` false, say it in words.")
        said.append((content, "user" if isinstance(message, str) else message.get("role", "user")))
    ids: list[ItemId] = []
    for place, (content, role) in enumerate(said):
        slots = {**fields["slots"], "role": role}
        once = None if key is None else f"{key}:{place}"
        ids += memory.write(content, **{**fields, "slots": slots, "key": once}).ids
    return ids


def _written_to(named: Sequence[Mapping[str, object]]) -> dict[str, str]:
    """The entities that a write names, in its filters or beside them: each equal to one name."""
    entities: dict[str, str] = {}
    for name, value in (pair for named_there in named for pair in named_there.items()):
        if name not in ENTITIES or not isinstance(value, str) or not value:
            raise Invalid(f"filters.{name}", "names no entity", f"Give {', '.join(ENTITIES)}; the rest is metadata.")
        if value == ANY:
            raise Invalid(name, "is `*`", "Name whose it is: what is written is of somebody.")
        if entities.setdefault(name, value) != value:
            raise Invalid(name, "is named twice, otherwise", "Name it once.")
    return entities


def named_entities(given: Given) -> dict[str, str]:
    """The entities that stand beside the filters of a request."""
    return {name: given[name] for name in ENTITIES if given.get(name)}


def _moment(field: str, value: float | str) -> datetime | str:
    return value if isinstance(value, str) else since_1970(value, field)


def get(caller: Mem0Caller, given: Given) -> Any:
    """Read the memory that stands under an id."""
    _, user, version = caller.standing(given["memory_id"])
    return memory_record(version.item, user, version.recorded, given["memory_id"])


def history(caller: Mem0Caller, given: Given) -> Any:
    """Tell what became of a memory, oldest first; of one that was erased there is nothing to tell."""
    memory, user, id = caller.place(given["memory_id"])
    return history_records(memory.history(id), given["memory_id"], user)


def get_all(caller: Mem0Caller, given: Given) -> Any:
    """List memories, newest first, a page at a time, with the count of all."""
    page: int = given.get("page", 1)
    size: int = next((given[name] for name in ("page_size", "top_k", "limit") if name in given), PAGE)
    places = list(places_of(caller, given))
    count, versions = _counted(places, (page - 1) * size, size)
    return {
        "count": count,
        "next": _other_page(caller.url, page + 1, size) if page * size < count else None,
        "previous": _other_page(caller.url, page - 1, size) if page > 1 else None,
        "results": [memory_record(version.item, user, version.recorded) for version, user in versions],
    }


def _counted(places: Sequence[Place], start: int, size: int) -> tuple[int, list[tuple[Version, str]]]:
    """Count what is in all the places, and read a part of it, newest first."""
    if len(places) == 1:
        memory, user, where = places[0]
        count = memory.count(where=where)
        listed = listed_in(memory, where, start + size) if start < count else iter(())
        return count, [(version, user) for version in islice(listed, start, start + size)]
    every = {(user, version.item.id): version for memory, user, where in places for version in listed_in(memory, where)}
    newest = sorted(((version, user) for (user, _), version in every.items()), key=_age)
    return len(newest), newest[start : start + size]


def _age(listed: tuple[Version, str]) -> tuple[int, int, str]:
    version, _ = listed
    return -version.seq_from, -version.item.pos, version.item.id


def listed_in(memory: ScopedMemory, where: Filter, wanted: int = MOST_ON_A_PAGE) -> Iterator[Version]:
    return all_of(memory.list, where=where, limit=min(wanted, MOST_ON_A_PAGE))


def _other_page(url: str, page: int, size: int) -> str:
    parts = urlsplit(url)
    query = [(name, value) for name, value in parse_qsl(parts.query) if name not in ("page", "page_size")]
    return urlunsplit(parts._replace(query=urlencode([*query, ("page", page), ("page_size", size)])))


def places_of(caller: Mem0Caller, given: Given, states: tuple[State, ...] = ()) -> Iterator[Place]:
    """Open the memories that a request names, with what it asks of the items of each; none if it contradicts itself."""
    filters = [given.get("filters") or {}, named_entities(given)]
    if "metadata" in given:
        filters.append({"metadata": given["metadata"]})
    if given.get("categories"):
        filters.append({"categories": {"in": given["categories"]}})
    dates = {"gte": given.get("start_date"), "lte": given.get("end_date")}
    if any(dates.values()):
        filters.append({"created_at": {name: date for name, date in dates.items() if date}})
    cases = list(dict.fromkeys(cases_of(filters, caller.zone)))
    if any(case.any_user for case in cases):
        caller.refuse_everybody()
    opened = {user: caller.memory(user) for user in dict.fromkeys(case.user for case in cases)}
    for case in cases:
        memory, owner = opened[case.user]
        if case.where is not None:
            yield memory, owner, replace(case.where, states=states)


def search(caller: Mem0Caller, given: Given) -> Any:
    """Recall what bears on a question, best first; scores are shares of the best one's."""
    most = given.get("top_k", given.get("limit", FOUND))
    asked: Given = {"k": most, "budget": _NO_BUDGET}
    if "reference_date" in given:
        asked["now"] = _moment("reference_date", given["reference_date"])
    hits: dict[str, Given] = {}
    for memory, user, where in places_of(caller, given):
        recalled = memory.recall(given["query"], where=where, **asked).items
        changed = {
            recalled_item.item.id: recalled_item.recorded
            for recalled_item in memory.visible([recalled_item.item.id for recalled_item in recalled])
        }
        best = max((recalled_item.score for recalled_item in recalled), default=0.0)
        for recalled_item in recalled:
            score = recalled_item.score / best if best > 0 else 0.0
            recorded = changed.get(recalled_item.item.id, recalled_item.item.said)  # erased meanwhile
            hit = {**memory_record(recalled_item.item, user, recorded), "score": round(score, 6)}
            if score >= given.get("threshold", 0.0):
                hits[hit["id"]] = max(hit, hits.get(hit["id"], hit), key=_score)
    results = sorted(hits.values(), key=_score, reverse=True)[:most]
    fields = {"id", *given["fields"]} if given.get("fields") else None
    return {"results": [hit if fields is None else {f: v for f, v in hit.items() if f in fields} for hit in results]}


def _score(hit: Given) -> float:
    score: float = hit["score"]
    return score

"""mem0's addresses, served by our verbs: those of its hosted API, which its clients call, and of its own server.

An installed base moves by changing a URL. Keys, walls and rights are those of our own operations. Addresses of the
hosted API end in a slash, which keeps them apart from ours under `/v1`. docs/guides/mem0-surface.md has what differs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from mnemic.core.json_schema import Schema, check, flag, many, number, or_null, shape, text, whole, with_whole_numbers
from mnemic.credentials.principal import Right
from mnemic.errors import Invalid, MnemicError
from mnemic.faces.server import mem0_changes, mem0_memories
from mnemic.faces.server.http_arguments import read_body, read_headers, read_query
from mnemic.faces.server.mem0_caller import Mem0Caller
from mnemic.faces.server.mem0_filters import ENTITIES
from mnemic.faces.server.problems import logged_problem
from mnemic.faces.server.routes import ExactRoutes, json_response
from mnemic.faces.server.service import USER, Service
from mnemic.operations.argument_schemas import name_text, nonblank_text, time_or_span
from mnemic.operations.chat_message_schemas import CHAT_TIME
from mnemic.operations.operation_table import OPERATIONS

_NAME: Final = or_null(text())
_OBJECT: Final = {"type": "object"}
_ENTITIES: Final = dict.fromkeys(ENTITIES, _NAME)
_FILTERS: Final = {"filters": {"type": ["object", "array", "null"]}}
_CATEGORIES: Final = or_null(many(name_text()))
_EXPIRES: Final = time_or_span("When it expires.")
_ONLY_STANDING: Final = {"type": "boolean", "enum": [False]}
_OUR_NAMES: Final = re.compile(
    r"(?:messages\[\d+\]\.)?(said|expires|now|where\.tags|where\.slots|slots|where\.agent|agent|where\.session|session)\b"
)
_THEIR_NAMES: Final = {
    "said": "timestamp", "expires": "expiration_date", "now": "reference_date", "where.tags": "categories",
    "where.slots": "metadata", "slots": "metadata", "where.agent": "agent_id", "agent": "agent_id",
    "where.session": "run_id", "session": "run_id",
}  # fmt: skip
"""What our verbs call the arguments of mem0's calls, and what these call them."""
_PAGES: Final = {
    "page": whole(low=1, high=2**31),
    **{name: whole(low=1, high=mem0_memories.MOST_ON_A_PAGE) for name in ("page_size", "top_k", "limit")},
}
_MEMORY: Final = {"memory_id": text()}
_CHANGES: Final = {
    "text": text(minLength=1),
    "data": text(minLength=1),
    "metadata": _OBJECT,
    "expiration_date": or_null(_EXPIRES),
}
_MESSAGES: Final = OPERATIONS["observe"].parameters["properties"]["messages"]
_NO_EFFECT: Final = frozenset(
    {
        "org_id", "project_id", "org_name", "project_name", "version", "output_format", "async_mode", "api_version",
        "custom_categories", "custom_instructions", "agent_custom_instructions", "structured_data_schema", "prompt",
        "includes", "excludes", "immutable", "enable_graph", "rerank", "keyword_search", "filter_memories", "source",
        "feedback_reason", "schema", "export_instructions", "latest_only", "memory_type", "explain",
    }
)  # fmt: skip
"""What mem0 takes and nothing here goes by; an answer's `notes` name those that came."""
_UNREAD: Final = {name: text() for name in _NO_EFFECT}
_NOT_HERE: Final = (
    "/v1/summary/", "/v1/events/", "/v1/event/{rest:path}", "/v2/profiles/{rest:path}",
    "/v2/entities/user/{id}/profile/", "/api/v1/{rest:path}", "/configure", "/configure/{rest:path}",
    "/generate-instructions",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Mem0Call:
    """One of mem0's calls.

    Attributes:
        addresses: Where it is sent: a method and a path each.
        right: The least that its caller must be allowed.
        erases: It erases for good, for which a server may ask for more than `right`.
        fields: Schemas of its arguments, from the path, the query and the body.
        required: Those that it cannot do without.
    """

    name: str
    addresses: tuple[str, ...]
    right: Right
    answer: Callable[[Mem0Caller, dict[str, Any]], Any]
    fields: Mapping[str, Schema] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    erases: bool = False

    @property
    def parameters(self) -> Schema:
        """The schema of its arguments together."""
        must = {name: self.fields[name] for name in self.required}
        return shape(must, {name: field for name, field in self.fields.items() if name not in must})


CALLS: Final = (
    Mem0Call(name="ping", addresses=("GET /v1/ping/",), right=Right.READ, answer=mem0_changes.ping),
    Mem0Call(
        name="add",
        addresses=("POST /v3/memories/add/", "POST /v1/memories/", "POST /memories"),
        right=Right.WRITE,
        answer=mem0_memories.add,
        fields={
            "messages": _MESSAGES,
            **_ENTITIES,
            "filters": or_null(_OBJECT),
            "metadata": _OBJECT,
            "infer": flag(),
            "timestamp": CHAT_TIME,
            "expiration_date": _EXPIRES,
        },
        required=("messages",),
    ),
    Mem0Call(
        name="get all",
        addresses=("POST /v3/memories/", "POST /v2/memories/", "GET /v1/memories/", "GET /memories"),
        right=Right.READ,
        answer=mem0_memories.get_all,
        fields={
            **_ENTITIES,
            **_FILTERS,
            **_PAGES,
            "metadata": _OBJECT,
            "categories": _CATEGORIES,
            "start_date": or_null(text()),
            "end_date": or_null(text()),
            "show_expired": _ONLY_STANDING,
        },
    ),
    Mem0Call(
        name="search",
        addresses=(
            "POST /v3/memories/search/",
            "POST /v2/memories/search/",
            "POST /v1/memories/search/",
            "POST /search",
        ),
        right=Right.READ,
        answer=mem0_memories.search,
        fields={
            "query": nonblank_text(),
            **_ENTITIES,
            **_FILTERS,
            "metadata": _OBJECT,
            "categories": _CATEGORIES,
            "top_k": whole(low=1, high=200),
            "limit": whole(low=1, high=200),
            "threshold": number(low=0, high=1),
            "fields": or_null(many(text())),
            "reference_date": CHAT_TIME,
            "show_expired": _ONLY_STANDING,
        },
        required=("query",),
    ),
    Mem0Call(
        name="get",
        addresses=("GET /v1/memories/{memory_id}/", "GET /memories/{memory_id}"),
        right=Right.READ,
        answer=mem0_memories.get,
        fields=_MEMORY,
    ),
    Mem0Call(
        name="history",
        addresses=("GET /v1/memories/{memory_id}/history/", "GET /memories/{memory_id}/history"),
        right=Right.READ,
        answer=mem0_memories.history,
        fields=_MEMORY,
    ),
    Mem0Call(
        name="update",
        addresses=("PUT /v1/memories/{memory_id}/", "PUT /memories/{memory_id}"),
        right=Right.WRITE,
        answer=mem0_changes.update,
        fields={**_MEMORY, **_CHANGES},
    ),
    Mem0Call(
        name="batch update",
        addresses=("PUT /v1/batch/",),
        right=Right.WRITE,
        answer=mem0_changes.update_many,
        fields={"memories": many(shape(_MEMORY, _CHANGES), minItems=1, maxItems=1_000)},
        required=("memories",),
    ),
    Mem0Call(
        name="delete",
        addresses=("DELETE /v1/memories/{memory_id}/", "DELETE /memories/{memory_id}"),
        right=Right.WRITE,
        answer=mem0_changes.delete,
        erases=True,
        fields={**_MEMORY, "delete_linked": flag()},
    ),
    Mem0Call(
        name="batch delete",
        addresses=("DELETE /v1/batch/",),
        right=Right.WRITE,
        answer=mem0_changes.delete_many,
        erases=True,
        fields={"memories": many(shape(_MEMORY), minItems=1, maxItems=1_000)},
        required=("memories",),
    ),
    Mem0Call(
        name="delete all",
        addresses=("DELETE /v1/memories/", "DELETE /memories"),
        right=Right.WRITE,
        answer=mem0_changes.delete_all,
        erases=True,
        fields={**_ENTITIES, "filters": text(), "metadata": _OBJECT},
    ),
    Mem0Call(
        name="users",
        addresses=("GET /v1/entities/", "GET /entities"),
        right=Right.READ,
        answer=mem0_changes.entities,
    ),
    Mem0Call(
        name="delete users",
        addresses=(
            "DELETE /v2/entities/{entity_type}/{entity_id:path}/",
            "DELETE /entities/{entity_type}/{entity_id:path}",
        ),
        right=Right.WRITE,
        answer=mem0_changes.delete_entity,
        erases=True,
        fields={"entity_type": text(), "entity_id": text()},
    ),
    Mem0Call(name="reset", addresses=("POST /reset",), right=Right.ADMIN, answer=mem0_changes.reset, erases=True),
    Mem0Call(
        name="feedback",
        addresses=("POST /v1/feedback/",),
        right=Right.WRITE,
        answer=mem0_changes.feedback,
        fields={**_MEMORY, "feedback": or_null(text(among=("POSITIVE", "NEGATIVE", "VERY_NEGATIVE")))},
        required=("memory_id",),
    ),
    Mem0Call(
        name="create export",
        addresses=("POST /v1/exports/",),
        right=Right.READ,
        answer=mem0_changes.create_export,
        fields={**_ENTITIES, **_FILTERS},
    ),
    Mem0Call(
        name="get export",
        addresses=("POST /v1/exports/get/",),
        right=Right.READ,
        answer=mem0_changes.get_export,
        fields={**_ENTITIES, **_FILTERS, "memory_export_id": text()},
    ),
)
"""All that is served of mem0's API."""


def mem0_routes() -> list[BaseRoute]:
    """Make the routes: one for each path of a call, and one for each part of mem0's API that is not here."""
    by_path: dict[str, dict[str, Mem0Call]] = {}
    for call in CALLS:
        for address in call.addresses:
            method, _, path = address.partition(" ")
            by_path.setdefault(path, {})[method] = call
    routes = [Route(path, partial(_respond, offered), methods=list(offered)) for path, offered in by_path.items()]
    routes += [Route(path, _refuse, methods=["GET", "POST", "PUT", "PATCH", "DELETE"]) for path in _NOT_HERE]
    return [
        ExactRoutes(route for route in routes if not route.param_convertors),
        *(route for route in routes if route.param_convertors),
    ]


async def _respond(offered: Mapping[str, Mem0Call], request: Request) -> Response:
    """Answer one of mem0's calls that a path offers by its method; errors are JSON as its client reads them."""
    call = offered["GET" if request.method == "HEAD" else request.method]
    service: Service = request.app.state.service
    request.state.operation = f"mem0 {call.name}"
    try:
        headers = read_headers(request.scope["headers"])
        body = await request.body()
        return await service.pool.run(lambda: _answered(call, service, request, headers, body))
    except MnemicError as error:
        response = logged_problem(_by_their_names(error), request.state.request_id)
        response.headers["Content-Type"] = "application/json"
        return response


def _by_their_names(error: MnemicError) -> MnemicError:
    """Have an error name what is wrong as the caller did."""
    if isinstance(error, Invalid) and error.field in ("user", USER):
        return type(error)("user_id", error.problem, error.remedy.replace("by the header Mnemic-User", "by `user_id`"))
    if not isinstance(error, Invalid) or (ours := _OUR_NAMES.match(error.field)) is None:
        return error
    return type(error)(_THEIR_NAMES[ours[1]] + error.field[ours.end() :], error.problem, error.remedy)


def _answered(call: Mem0Call, service: Service, request: Request, headers: Mapping[str, str], body: bytes) -> Response:
    right = service.needed(call.right, erases=call.erases)
    caller = Mem0Caller(
        service, headers, request.method, operation=f"mem0 {call.name}", right=right, url=str(request.url)
    )
    caller.principal  # noqa: B018 - who asks is known before their arguments are read
    given, without_effect = _arguments(call, request, headers, body)
    data = call.answer(caller, given)
    if without_effect and isinstance(data, dict):
        data["notes"] = [f"{name} has no effect here" for name in without_effect]
    return json_response(data)


def _arguments(
    call: Mem0Call, request: Request, headers: Mapping[str, str], body: bytes
) -> tuple[dict[str, Any], list[str]]:
    """The arguments of a call, checked, without those that say nothing; and those that nothing goes by."""
    query = request.scope.get("query_string", b"")
    known = {**call.fields, **_UNREAD}
    given: dict[str, Any] = {}
    for part in (read_query(known, query), read_body(body, headers), request.path_params):
        if twice := part.keys() & given.keys():
            raise Invalid(min(twice), "is set twice", "Give it once, in the address or in the body.")
        given |= part
    without_effect = sorted(name for name in given if name in _NO_EFFECT and given[name] is not None)
    own = {name: value for name, value in given.items() if name not in _NO_EFFECT}
    own = with_whole_numbers(call.parameters, own)
    check(call.parameters, own)
    spoken = {name: value for name, value in own.items() if value is not None or name == "expiration_date"}
    return spoken, without_effect


async def _refuse(_: Request) -> Response:
    raise HTTPException(501, "This part of mem0's API is not served here; see docs/guides/mem0-surface.md.")

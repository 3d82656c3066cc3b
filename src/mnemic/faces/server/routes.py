"""Routes made from the table of operations: `POST /v1/NAME` for each, `GET` beside it where it only reads."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

from mnemic.core.sanitize import for_json
from mnemic.errors import Invalid
from mnemic.faces.server.http_arguments import path_argument, read_body, read_headers, read_query, with_headers
from mnemic.faces.server.problems import over_http
from mnemic.faces.server.service import Service
from mnemic.operations.operation import Data, Operation
from mnemic.operations.operation_table import OPERATIONS
from mnemic.operations.record_schemas import VERSION

LOG: Final = logging.getLogger("mnemic.server")
PREFIX: Final = "/v1"
_JSON: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":"))


class ExactRoutes(BaseRoute):
    """Routes whose paths have no parameters, found by one look, where each would be tried one after the other."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._by_path = {route.path: route for route in routes}

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Find the route of a path, and whether it is for the method."""
        route = self._by_path.get(scope["path"].removeprefix(scope.get("root_path", "")))
        if route is None or scope["type"] != "http":
            return Match.NONE, {}
        match = Match.FULL if scope["method"] in (route.methods or ()) else Match.PARTIAL
        return match, {"endpoint": route.endpoint, "path_params": {}, "route": route}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Have the route that was found answer."""
        await scope["route"].handle(scope, receive, send)


def operation_routes() -> list[BaseRoute]:
    """Make the routes: one for each path, so that a method that is none is told of all that are (`Allow`)."""
    by_path: dict[str, dict[str, Operation]] = {}
    for operation, method, path in addresses(OPERATIONS.values()):
        by_path.setdefault(path, {})[method] = operation
    routes = [Route(path, _Offered(offered), methods=list(offered)) for path, offered in by_path.items()]
    return [
        ExactRoutes(route for route in routes if not route.param_convertors),
        *(route for route in routes if route.param_convertors),
    ]


def addresses(operations: Iterable[Operation]) -> list[tuple[Operation, str, str]]:
    """List under which method and path each operation is asked for."""
    listed = []
    for operation in operations:
        listed.append((operation, "POST", f"{PREFIX}/{operation.name}"))
        if operation.read_only:
            listed.append((operation, "GET", f"{PREFIX}/{operation.name}"))
        if operation.resource:
            method, _, path = operation.resource.partition(" ")
            listed.append((operation, method, PREFIX + path))
    return listed


class _Offered:
    """Answers requests for the operations that a path offers by its methods: all that blocks is done in the pool.

    It is an application and no function: Starlette wraps a function once more in what the whole application has, the
    translation of errors.
    """

    def __init__(self, offered: Mapping[str, Operation]) -> None:
        self._offered = offered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        operation = self._offered["GET" if request.method == "HEAD" else request.method]
        service: Service = scope["app"].state.service
        scope["state"]["operation"] = operation.name
        headers = read_headers(scope["headers"])
        body = await request.body()
        read = _reader(operation, request, headers, body)
        response = await service.pool.run(lambda: _answer(service, operation, request.method, headers, read))
        await response(scope, receive, send)


def _reader(
    operation: Operation, request: Request, headers: Mapping[str, str], body: bytes
) -> Callable[[], dict[str, Any]]:
    """What reads the arguments of a request."""
    query, path = request.scope.get("query_string", b""), request.path_params
    asked_by_url = request.method in ("GET", "HEAD")

    def read() -> dict[str, Any]:
        if body if asked_by_url else query:
            other, here = ("body", "query") if asked_by_url else ("query", "body")
            raise Invalid(other, f"does not go with {request.method}", f"Put the arguments into the {here}.")
        arguments = read_query(operation.parameters["properties"], query) if asked_by_url else read_body(body, headers)
        for name, value in path.items():
            if arguments.setdefault(name, id := path_argument(name, value)) != id:
                raise Invalid(name, "is another than that of the address", "Leave it out.")
        return with_headers(operation, headers, arguments)

    return read


def _answer(
    service: Service, operation: Operation, method: str, headers: Mapping[str, str], read: Callable[[], dict[str, Any]]
) -> Response:
    data = _in_own_words(service.answer(operation, headers, read, method))
    tag = _entity_tag(operation, data)
    if tag is not None and operation.read_only and tag in _tags(headers.get("if-none-match", "")):
        return Response(status_code=304, headers={"ETag": tag})
    return json_response(data, {"ETag": tag} if tag else {})


def _in_own_words(data: Data) -> Data:
    """Have the notes of a recall name addresses in place of commands, as errors do."""
    notes = data.get("notes")
    return {**data, "notes": list(map(over_http, notes))} if notes else data


def json_response(data: Data | Sequence[Data], headers: Mapping[str, str] | None = None) -> Response:
    """Make the answer that holds what a verb returned."""
    return Response(for_json(_JSON.encode(data)).encode(), headers=headers, media_type="application/json")


def _entity_tag(operation: Operation, data: Data) -> str | None:
    """The tag of the one item that an answer is about: the commit that wrote the version."""
    if operation.result is VERSION:
        return f'"{data["seq_from"]}"'
    return f'"{data["seq"]}"' if operation.resource.startswith("PATCH ") else None


def _tags(header: str) -> list[str]:
    return [tag.strip().removeprefix("W/") for tag in header.split(",")]

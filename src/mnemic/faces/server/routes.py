"""Routes made from the table of operations: `POST /v1/NAME` for each, `GET` beside it where it only reads."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mnemic.core.sanitize import for_json
from mnemic.faces.server.http_arguments import path_argument, read_body, read_query, with_headers
from mnemic.faces.server.service import Service
from mnemic.operations.operation import Data, Operation
from mnemic.operations.operation_table import OPERATIONS
from mnemic.operations.record_schemas import VERSION

LOG: Final = logging.getLogger("mnemic.server")
PREFIX: Final = "/v1"


def operation_routes() -> list[Route]:
    """Make the routes: two for an operation that only reads, one for another, and one for each resource."""
    return [
        Route(path, partial(_respond, operation), methods=[method], name=f"{method} {path}")
        for operation, method, path in addresses(OPERATIONS.values())
    ]


def addresses(operations: Iterable[Operation]) -> list[tuple[Operation, str, str]]:
    """List under which method and path each operation is asked for."""
    found = []
    for one in operations:
        found.append((one, "POST", f"{PREFIX}/{one.name}"))
        if one.read_only:
            found.append((one, "GET", f"{PREFIX}/{one.name}"))
        if one.resource:
            method, _, path = one.resource.partition(" ")
            found.append((one, method, PREFIX + path))
    return found


async def _respond(operation: Operation, request: Request) -> Response:
    """Answer a request for an operation: all that blocks is done in the pool."""
    service: Service = request.app.state.service
    headers = dict(request.headers)
    body = await request.body()
    read = _reader(operation, request, headers, body)
    return await service.pool.run(lambda: _answer(service, operation, request.method, headers, read))


def _reader(
    operation: Operation, request: Request, headers: Mapping[str, str], body: bytes
) -> Callable[[], dict[str, Any]]:
    """What reads the arguments of a request."""
    query, path = request.scope.get("query_string", b""), request.path_params
    asked_by_url = request.method in ("GET", "HEAD")

    def read() -> dict[str, Any]:
        given = read_query(operation.parameters["properties"], query) if asked_by_url or query else {}
        given = {**given, **read_body(body, headers.get("content-type", ""))}
        given = {**given, **{name: path_argument(name, value) for name, value in path.items()}}
        return with_headers(operation, headers, given)

    return read


def _answer(
    service: Service, operation: Operation, method: str, headers: Mapping[str, str], read: Callable[[], dict[str, Any]]
) -> Response:
    data = service.answer(operation, headers, read, method)
    tag = _entity_tag(operation, data)
    if tag is not None and operation.read_only and tag in _tags(headers.get("if-none-match", "")):
        return Response(status_code=304, headers={"ETag": tag})
    return json_response(data, {"ETag": tag} if tag else {})


def json_response(data: Data | Sequence[Data], headers: Mapping[str, str] | None = None) -> Response:
    """Make the answer that holds what a verb returned."""
    body = for_json(json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
    return Response(body.encode(), headers=headers, media_type="application/json")


def _entity_tag(operation: Operation, data: Data) -> str | None:
    """The tag of the one item that an answer is about: the commit that wrote the version."""
    if operation.result is VERSION:
        return f'"{data["seq_from"]}"'
    return f'"{data["seq"]}"' if operation.resource.startswith("PATCH ") else None


def _tags(header: str) -> list[str]:
    return [tag.strip().removeprefix("W/") for tag in header.split(",")]

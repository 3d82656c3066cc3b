"""The OpenAPI 3.1 document, made from the table of operations; beside it there is the feed, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mnemic import _version
from mnemic.core.json_schema import text
from mnemic.errors import MnemicError
from mnemic.faces.server.event_stream import FEED_PARAMETERS
from mnemic.faces.server.problems import MEDIA_TYPE, STATUSES, title_of
from mnemic.faces.server.routes import addresses
from mnemic.faces.server.service import SHARED_WORDS
from mnemic.operations.operation import Operation
from mnemic.operations.operation_table import OPERATIONS
from mnemic.writing import KEY_LIMIT

_PROBLEM: Final = {
    "type": "object",
    "description": "RFC 9457.",
    "properties": {
        "type": {"type": "string", "description": "Names the class of the error: `urn:mnemic:problem:...`."},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What is wrong, where, and what to do."},
        "request_id": {"type": "string"},
        "field": {"type": "string", "description": "Which argument is wrong."},
        "remedy": {"type": "string"},
    },
    "required": ["type", "title", "status", "detail", "request_id"],
}
_SPACE: Final = "( |%20)"
_LATER: Final = "%[89ABab][0-9A-Fa-f]"
"""A byte of a character in UTF-8 behind its first, percent-encoded."""
_CHARACTER: Final = (
    "([!-$&-~]|%2[1-9A-Fa-f]|%[3-6][0-9A-Fa-f]|%7[0-9A-Ea-e]"
    f"|%([Cc][3-9A-Fa-f]|[Dd][0-9A-Fa-f]){_LATER}|%[Ee][1-9A-Ca-c]{_LATER}{_LATER}|%[Ff][1-3]{_LATER}{_LATER}{_LATER}"
    f"|%[Ff]0%[9ABab][0-9A-Fa-f]{_LATER}{_LATER})"
)
"""Of a name: visible ASCII as it is, or any in UTF-8, percent-encoded."""


def _in_any_case(word: str) -> str:
    """A pattern of a word, written in capitals or not: JSON schema has no flag for that."""
    return "".join(f"[{letter}{letter.upper()}]" if letter.isalpha() else letter for letter in word)


_HEADERS: Final = {
    "user": {
        "name": "Mnemic-User",
        "description": "Whose memory is meant, where the credential may name users; percent-encoded.",
        "schema": text(minLength=1, pattern=f"^{_CHARACTER}({_SPACE}*{_CHARACTER})*$"),
    },
    "shared": {
        "name": "Mnemic-Shared",
        "description": "Whether what all users of the tenant share is meant, in place of a user's memory.",
        "schema": text(pattern=f"^({'|'.join(map(_in_any_case, SHARED_WORDS))})$"),
    },
    "key": {
        "name": "Idempotency-Key",
        "description": "The argument `key`: the same key with the same content writes once.",
        "schema": text(minLength=1, maxLength=KEY_LIMIT, pattern="^[!#-~]+$"),
    },
    "expect": {
        "name": "If-Match",
        "description": "The argument `expect`: the ETag of the version you have read, or `*` for any.",
        "schema": {"anyOf": [text(pattern='^"(0|[1-9][0-9]{0,17})"$'), text(among="*")]},
    },
}


def document() -> dict[str, Any]:
    """Make the document."""
    schemas: dict[str, Any] = {"Problem": _PROBLEM}
    paths: dict[str, dict[str, Any]] = {}
    for operation, method, path in addresses(OPERATIONS.values()):
        paths.setdefault(path, {})[method.lower()] = _described(operation, method, path, schemas)
    paths["/v1/feed"] = {"get": _feed()}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "mnemic",
            "version": _version.__version__,
            "description": "Long-term memory for LLM agents. Made from the table of operations.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [{"key": []}, {}],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
            "responses": {"Problem": {"description": "It was not done.", "content": {MEDIA_TYPE: _ref("Problem")}}},
        },
    }


def _feed() -> dict[str, Any]:
    """The feed, which is no operation: its answer goes on for as long as it is listened to."""
    resumed = {
        "name": "Last-Event-ID",
        "in": "header",
        "description": "The `id` of the last event that was heard: the stream goes on after it.",
        "schema": text(),
    }
    return {
        "operationId": "feed",
        "summary": "Hear of commits as they come",
        "description": (
            "A stream of server-sent events: each commit of the memory and the shared one (`commit`, with the record "
            "that `changes` lists), `live` once all that was missed was sent, `rewind`, `lagging`."
        ),
        "tags": ["read"],
        "x-right": "read",
        "parameters": [
            *({"name": name, "in": "query", "schema": schema} for name, schema in FEED_PARAMETERS.items()),
            resumed,
            *({**_HEADERS[name], "in": "header"} for name in ("user", "shared")),
        ],
        "responses": {
            "200": {"description": "Events, until either side ends it.", "content": {"text/event-stream": {}}},
            **_problems(),
        },
    }


def _described(operation: Operation, method: str, path: str, schemas: dict[str, Any]) -> dict[str, Any]:
    by_url = method == "GET"
    in_path = {name for name in operation.parameters["properties"] if f"{{{name}}}" in path}
    resource = path != f"/v1/{operation.name}"
    described: dict[str, Any] = {
        "operationId": operation.name + ("_resource" if resource else "_get" if by_url else ""),
        "summary": operation.title,
        "description": operation.description,
        "tags": ["store" if operation.of_store else "read" if operation.read_only else "write"],
        "x-right": operation.right.name.lower(),
        "parameters": [
            *(_parameter(operation, name, "path", schemas) for name in sorted(in_path)),
            *(
                _parameter(operation, name, "query", schemas)
                for name in operation.parameters["properties"]
                if by_url and name not in in_path
            ),
            *_headers(operation),
        ],
        "responses": _responses(operation, schemas),
    }
    if not by_url:
        described["requestBody"] = _body(operation, in_path, schemas)
    return described


def _parameter(operation: Operation, name: str, place: str, schemas: dict[str, Any]) -> dict[str, Any]:
    schema = operation.parameters["properties"][name]
    parameter: dict[str, Any] = {"name": name, "in": place}
    if place == "path" or name in operation.parameters["required"]:
        parameter["required"] = True
    if "description" in schema:
        parameter["description"] = schema["description"]
    hoisted = _hoisted(schema, schemas)
    if _is_object(schema):
        return {**parameter, "content": {"application/json": {"schema": hoisted}}}
    return {**parameter, "schema": hoisted}


def _is_object(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "object"


def _headers(operation: Operation) -> list[dict[str, Any]]:
    of_one = not operation.of_store
    wanted = {"user": of_one, "shared": of_one, "key": operation.takes_key, "expect": operation.takes_expected}
    return [{**_HEADERS[header], "in": "header"} for header, does in wanted.items() if does]


def _body(operation: Operation, in_path: set[str], schemas: dict[str, Any]) -> dict[str, Any]:
    schema = operation.parameters
    fields = {name: field for name, field in schema["properties"].items() if name not in in_path}
    needed = [name for name in schema["required"] if name not in in_path]
    body = {**schema, "properties": fields, "required": needed}
    return {"required": bool(needed), "content": {"application/json": {"schema": _hoisted(body, schemas)}}}


def _responses(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    done = {
        "description": operation.title,
        "content": {"application/json": {"schema": _hoisted(operation.result, schemas)}},
    }
    return {"200": done, **_problems()}


def _problems() -> dict[str, Any]:
    problem = {"$ref": "#/components/responses/Problem"}
    return {str(status): problem for status in sorted({*STATUSES.values(), 405, 408, 415, 421, 431, 500, 503})}


def _ref(name: str) -> dict[str, Any]:
    return {"schema": {"$ref": f"#/components/schemas/{name}"}}


def _hoisted(schema: Any, schemas: dict[str, Any]) -> Any:
    """A schema, in which those that have a title are references to the document's own list of them."""
    if isinstance(schema, list | tuple):
        return [_hoisted(inner, schemas) for inner in schema]
    if not isinstance(schema, Mapping):
        return schema
    plain = {name: _hoisted(inner, schemas) for name, inner in schema.items()}
    title = schema.get("title")
    if not isinstance(title, str):
        return plain
    schemas.setdefault(title, plain)
    return {"$ref": f"#/components/schemas/{title}"}


def problem_table() -> list[tuple[str, int, str]]:
    """List each class of errors with its status and what it says of itself."""
    kinds: list[tuple[type[MnemicError], int]] = list(STATUSES.items())
    return [(kind.__name__, status, title_of(kind)) for kind, status in kinds]

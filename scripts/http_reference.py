"""Write docs/http.md: what a server answers to, from the table of operations as it stands.

Usage: .venv/bin/python scripts/http_reference.py     writes the page; a test fails while it is not current
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from mnemic.faces.server.openapi import document, problem_table
from mnemic.faces.server.routes import addresses
from mnemic.operations.operation import READ, Operation
from mnemic.operations.operation_table import OPERATIONS

PAGE: Final = Path(__file__).resolve().parent.parent / "docs" / "http.md"

HEAD: Final = """\
# HTTP reference

Made from the table of operations by `scripts/http_reference.py`; a test keeps it current. How to begin is in the guide
[A memory over HTTP](guides/server.md). A running server has the same as an OpenAPI 3.1 document at `/openapi.json`.

Every operation is asked for by `POST /v1/NAME` with its arguments as a JSON object; one that only reads also by `GET`,
with its arguments in the query: a list by repeating its name, an object as JSON. Some have a second address.

| header of a request | |
|---|---|
| `Authorization: Bearer mk_...` | the credential, where one is asked for |
| `Mnemic-User` | whose memory is meant, where the credential may name users; percent-encoded where it is not ASCII |
| `Mnemic-Shared: yes` | what the tenant shares is meant, in place of a user |
| `Mnemic-Tenant` | of which tenant; only on this machine's own address, without credentials |
| `Idempotency-Key` | the argument `key`: the same key with the same content writes once; with other content: 409 |
| `If-Match` | the argument `expect`: the `ETag` of the version you have read; refused (412) if another stands |
| `If-None-Match` | with `GET /v1/items/{id}`: 304 while the version stands |
| `X-Request-Id` | comes back, and stands in the server's log beside what went wrong; left out, the server makes one |

Beside the operations there are `GET /v1/feed` ([commits as they come](guides/server.md#the-feed-as-it-happens), as
server-sent events), `/health` (it lives), `/ready` (its store answers), `/metrics`, MCP at `/mcp`, and
[mem0's addresses](guides/mem0-surface.md).
"""


def page() -> str:
    """The whole page."""
    blocks = [HEAD, _contents(), "## Whose part, and which past", _table(READ, [], "argument")]
    for title, wanted in _groups():
        blocks += [f"## {title}", *(block for operation in wanted for block in _operation(operation))]
    blocks += ["## Records", *_records(), "## Problems", *_problems()]
    return "\n\n".join(block.strip("\n") for block in blocks if block.strip()) + "\n"


def _groups() -> Iterator[tuple[str, list[Operation]]]:
    every = list(OPERATIONS.values())
    yield "Reading", [operation for operation in every if operation.read_only and not operation.of_store]
    yield "Writing", [operation for operation in every if not operation.read_only and not operation.of_store]
    yield "The whole store", [operation for operation in every if operation.of_store]


def _contents() -> str:
    lines, line = [], ""
    for name in [f"[{name}](#{name})" for name in OPERATIONS] + ["[Records](#records)", "[Problems](#problems)"]:
        if len(line) + len(name) > 130:
            lines.append(line)
            line = ""
        line += f" · {name}" if line else name
    return "\n".join([*lines, line])


def _operation(operation: Operation) -> Iterator[str]:
    yield f"### {operation.name}"
    yield operation.description
    where = [f"`{method} {path}`" for _, method, path in addresses([operation])]
    promises = [
        f"right `{operation.right.name.lower()}`",
        *(["erases for good"] if operation.erases else ["may hide or replace"] if operation.destructive else []),
        *(
            ["safe to repeat"]
            if operation.idempotent
            else ["a key makes it safe to repeat"]
            if operation.takes_key
            else []
        ),
    ]
    yield f"{', '.join(where)}; {', '.join(promises)}."
    own = {name: schema for name, schema in operation.parameters["properties"].items() if name not in operation.handle}
    if own:
        yield _table(own, operation.parameters["required"], "argument")
    if operation.handle:
        names = ", ".join(f"`{name}`" for name in operation.handle)
        yield f"{'Besides' if own else 'It takes'} [whose part, and which past](#whose-part-and-which-past): {names}."
    yield f"Answers {_shape(operation.result)}."


def _table(fields: Mapping[str, Any], required: list[str], head: str) -> str:
    rows = [f"| {head} | type | |", "|---|---|---|"]
    for name, schema in fields.items():
        needed = "needed. " if name in required and head == "argument" else ""
        rows.append(f"| `{name}` | {_type(schema)} | {needed}{schema.get('description', '')} |")
    return "\n".join(rows)


def _type(schema: Mapping[str, Any]) -> str:
    if "title" in schema:
        return f"[{schema['title']}](#{schema['title'].lower()}-record)"
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()}-record)"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(option) for option in schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    kinds = schema.get("type", "any")
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    if kinds == ["array"]:
        return f"list of {_type(schema.get('items', {}))}"
    if kinds == ["object"] and schema.get("properties"):
        return "object of " + ", ".join(f"`{name}`" for name in schema["properties"])
    bounds = [str(schema[bound]) for bound in ("minimum", "maximum") if bound in schema]
    within = f" {' to '.join(bounds)}" if len(bounds) == 2 else f" from {bounds[0]}" if bounds else ""
    return " or ".join(kinds) + within


def _shape(schema: Mapping[str, Any]) -> str:
    if "title" in schema:
        return f"one {_type(schema)}"
    return "an object of " + "; ".join(f"`{name}`: {_type(field)}" for name, field in schema["properties"].items())


def _records() -> Iterator[str]:
    for name, schema in document()["components"]["schemas"].items():
        if name != "Problem":
            yield f"### {name} (record)"
            yield _table(schema["properties"], schema["required"], "field")


PROBLEMS: Final = """\
Every error is a problem document (RFC 9457, `application/problem+json`): `type`, `title`, `status`, `detail`,
`request_id`, and for a value that cannot be taken its `field` and the `remedy`. Its type is the class of the error, as
`urn:mnemic:problem:NAME`. What went wrong on the server's side is told without its words; these are in its log.
"""
OF_HTTP: Final = """\
Problems of HTTP itself have the type `about:blank`: 404 for an address and 405 for a method that are none, 415 for a
body that is not JSON in UTF-8, 421 for a host and 403 for an origin that are not the server's, 503 with `Retry-After`
while its queue is full, and 500 for what nobody expected.
"""


def _problems() -> Iterator[str]:
    yield PROBLEMS
    rows = ["| class | status | |", "|---|---|---|"]
    rows += [f"| `{name}` | {status} | {title} |" for name, status, title in problem_table()]
    yield "\n".join(rows)
    yield OF_HTTP


if __name__ == "__main__":
    PAGE.write_text(page())

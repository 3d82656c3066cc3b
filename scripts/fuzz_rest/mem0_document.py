"""mem0's surface in OpenAPI, from the table of its calls: what `mnemic serve` takes of it, for schemathesis to ask."""

from __future__ import annotations

import re
from typing import Any, Final

from mnemic.faces.server.mem0_surface import CALLS, Mem0Call

LEFT_OUT: Final = frozenset({"reset"})
"""It erases everybody: whatever is asked behind it would find nothing."""
_PLACE: Final = re.compile(r"\{(\w+)(?::path)?\}")
_ERRORS: Final = (400, 401, 403, 404, 405, 408, 409, 410, 412, 413, 415, 421, 429, 431, 500, 501, 503, 507)


def mem0_paths() -> dict[str, dict[str, Any]]:
    """Describe each address of each call: its arguments in the path, the query of what has no body, or the body."""
    paths: dict[str, dict[str, Any]] = {}
    for call in CALLS:
        if call.name not in LEFT_OUT:
            for address in call.addresses:
                method, _, path = address.partition(" ")
                plain = _PLACE.sub(r"{\1}", path)
                paths.setdefault(plain, {})[method.lower()] = _described(call, method, path)
    return paths


def _described(call: Mem0Call, method: str, path: str) -> dict[str, Any]:
    placed = _PLACE.findall(path)
    rest = {name: schema for name, schema in call.fields.items() if name not in placed}
    by_url = method == "GET" or (method == "DELETE" and "memories" not in rest)
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {**call.fields[name], "minLength": 1}}
        for name in placed
    ]
    if by_url:
        parameters += [_in_query(name, schema, call) for name, schema in rest.items()]
    name = re.sub(r"\W+", "_", f"mem0_{call.name}_{method}_{path}").strip("_")
    described: dict[str, Any] = {"operationId": name, "parameters": parameters, "responses": _responses()}
    if not by_url and rest:
        required = [one for one in call.required if one in rest]
        body = {"type": "object", "properties": rest, "required": required, "additionalProperties": False}
        described["requestBody"] = {"required": bool(required), "content": {"application/json": {"schema": body}}}
    return described


def _in_query(name: str, schema: Any, call: Mem0Call) -> dict[str, Any]:
    parameter = {"name": name, "in": "query", "required": name in call.required}
    kinds = schema.get("type", ())
    if "object" in ([kinds] if isinstance(kinds, str) else kinds):
        return {**parameter, "content": {"application/json": {"schema": schema}}}
    return {**parameter, "schema": schema}


def _responses() -> dict[str, Any]:
    told = {"type": "object", "properties": {"detail": {"type": "string"}}, "required": ["detail"]}
    problem = {
        "description": "What is wrong.",
        "content": {"application/json": {"schema": told}, "application/problem+json": {"schema": told}},
    }
    done = {"description": "Done.", "content": {"application/json": {"schema": {"type": ["object", "array"]}}}}
    return {"200": done, **{str(status): problem for status in _ERRORS}}

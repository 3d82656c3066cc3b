"""From a request to the arguments of an operation: the body, the query, the path, and three headers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException

from mnemic.core.ids import item_id
from mnemic.core.json_schema import Schema
from mnemic.errors import Invalid, NotFound
from mnemic.faces.server.strict_json import read_json
from mnemic.operations.operation import Operation

_TAG: Final = re.compile(r'\s*"(\d{1,19})"\s*\Z')
_INTEGER: Final = re.compile(r"(-?[0-9]{1,19})(?:\.0+)?")
_MOST_FIELDS: Final = 1_000
_ONCE: Final = frozenset({"authorization", "content-type", "idempotency-key", "if-match", "x-api-key"})
_FLAGS: Final = {"true": True, "false": False}


def read_headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Read the headers of a request, names in lower case.

    Raises:
        Invalid: one that says who asks, for whom or what for is there twice: two readers would take another.
    """
    headers: dict[str, str] = {}
    for name, value in ((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in raw):
        if name in headers and (name in _ONCE or name.startswith("mnemic-")):
            raise Invalid(name, "is there twice", "Send it once.")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def read_body(body: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
    """Parse a body of arguments; none at all is none.

    Args:
        headers: By their names in lower case.

    Raises:
        Invalid: it is not strict JSON, or no object. HTTPException: 415, it says that it is something else.
    """
    if not body:
        return {}
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise HTTPException(415, "Send the body as it is, without `Content-Encoding`.")
    media, _, parameters = headers.get("content-type", "").partition(";")
    charset = parameters.strip().lower().removeprefix("charset=").strip('"')
    if media.strip().lower() != "application/json" or charset not in ("", "utf-8", "utf8"):
        raise HTTPException(415, "Send `Content-Type: application/json`, in UTF-8.")
    value = read_json(body)
    if not isinstance(value, dict):
        raise Invalid("body", "is no JSON object", "Send the arguments by name.")
    return value


def read_query(fields: Mapping[str, Schema], query: bytes) -> dict[str, Any]:
    """Read arguments from a query string: lists by repeating a name, objects as JSON.

    Args:
        fields: The schema of each argument.

    Raises:
        Invalid: a name is not known, is set twice, or its value does not fit.
    """
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError as error:
        raise Invalid("query", "is not percent-encoded UTF-8", "Encode what is not ASCII.") from error
    arguments: dict[str, Any] = {}
    for name, value in pairs:
        if name not in fields:
            raise Invalid(name[:60], "is not known", f"Known: {', '.join(fields) or 'none'}.")
        if "array" in _kinds(fields[name]) and "items" in fields[name]:
            arguments.setdefault(name, []).append(_value(name, fields[name]["items"], value))
        elif name in arguments:
            raise Invalid(name, "is set twice", "Give it once.")
        else:
            arguments[name] = _value(name, fields[name], value)
    return arguments


def _kinds(schema: Mapping[str, Any]) -> list[str]:
    kinds = schema.get("type", ())
    return [kinds] if isinstance(kinds, str) else list(kinds)


def _value(name: str, schema: Mapping[str, Any], value: str) -> Any:
    kinds = _kinds(schema)
    if "object" in kinds:
        return read_json(value.encode())
    if "integer" in kinds and (digits := _INTEGER.fullmatch(value)):
        return int(digits[1])
    if "boolean" in kinds:
        if value not in _FLAGS:
            raise Invalid(name, f"is {value[:40]!r}", "Say true or false.")
        return _FLAGS[value]
    return value


def path_argument(name: str, value: str) -> str:
    """What stands in a path; an id that can be none is as absent as one that is not there.

    Raises:
        NotFound: it is no id.
    """
    try:
        return item_id(name, value)
    except Invalid as error:
        raise NotFound(f"no item {value[:60]} here") from error


def with_headers(operation: Operation, headers: Mapping[str, str], arguments: dict[str, Any]) -> dict[str, Any]:
    """Put in what `Idempotency-Key` and `If-Match` say.

    Raises:
        Invalid: a header cannot be taken, does not go with this operation, or the body says otherwise.
    """
    key = headers.get("idempotency-key")
    if key is not None and operation.takes_key:
        _put(arguments, "key", _unquoted(key), "Idempotency-Key")
    elif key is not None and not operation.idempotent:
        raise Invalid("Idempotency-Key", f"is not kept for `{operation.name}`", "Leave it out; look before you retry.")
    tag = headers.get("if-match")
    if tag is None or (tag.strip() == "*" and operation.takes_expected):
        return arguments
    if not operation.takes_expected:
        raise Invalid("If-Match", f"is not looked at by `{operation.name}`", "Leave it out.")
    read = _TAG.match(tag)
    if read is None:
        raise Invalid("If-Match", "is not one strong entity tag", 'Give the ETag of the item, such as "12".')
    _put(arguments, "expect", int(read[1]), "If-Match")
    return arguments


def _put(arguments: dict[str, Any], name: str, value: Any, header: str) -> None:
    if arguments.setdefault(name, value) != value:
        raise Invalid(header, f"says otherwise than `{name}`", "Give one of them.")


def _unquoted(key: str) -> str:
    """A key as a structured field holds it, in quotes, or as it is."""
    return key[1:-1] if len(key) > 1 and key[0] == key[-1] == '"' else key

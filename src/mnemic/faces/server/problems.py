"""Errors as problem details (RFC 9457): one status and one type for each class of the tree of errors."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from starlette.responses import Response

from mnemic import errors
from mnemic.core.door_words import in_words_of
from mnemic.core.sanitize import for_json
from mnemic.errors import Invalid, MnemicError, OverQuota
from mnemic.operations.operation_table import OPERATIONS

LOG: Final = logging.getLogger("mnemic.server")
MEDIA_TYPE: Final = "application/problem+json"
STATUSES: Final[Mapping[type[MnemicError], int]] = {
    errors.Invalid: 400,
    errors.TooLarge: 413,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.Stale: 412,
    errors.Unauthenticated: 401,
    errors.Refused: 403,
    errors.OverQuota: 429,
    errors.Compacted: 410,
    errors.ModelError: 502,
    errors.NoModel: 501,
    errors.UnusableModel: 501,
    errors.ForeignState: 502,
    errors.DamagedState: 502,
    errors.InexactJoin: 502,
    errors.OverBudget: 503,
    errors.StoreError: 503,
    errors.StoreFull: 507,
    errors.StoreReadOnly: 503,
    errors.StoreCorrupt: 500,
    errors.StoreForeign: 500,
    errors.StoreNewer: 500,
    errors.StoreLocked: 503,
    errors.TenantElsewhere: 421,
}
"""The status of each class; a test goes over the tree."""
_ADDRESSES: Final = {
    **dict.fromkeys(("keys create", "dashboard", "verify", "restore", "reindex", "doctor"), ""),
    "forget --by": "/v1/forget_by",
    "hold list": "/v1/holds",
    "hold release": "/v1/release_hold",
    "hold add": "/v1/hold",
    "keys list": "/v1/keys",
    **{name.replace("_", " "): f"/v1/{name}" for name in OPERATIONS},
}
"""What has an address here, by the command of the command line; "" where the command is for who keeps the server."""

_WHEN_LOCKED: Final = (
    "Ask again after as many seconds as Retry-After says; a write with its Idempotency-Key is made once. If it stays "
    "so, have whoever keeps the server end the other program that writes to the store."
)
_WHICH_SERVER: Final = "whoever keeps the servers finds which one with `mnemic place show`."
_RETRY: Final = {503: "1", 507: "60"}
"""Seconds after which it is worth asking again."""


def title_of(kind: type[MnemicError]) -> str:
    """The first sentence of what a class of errors says of itself."""
    return " ".join((kind.__doc__ or "").split()).partition(". ")[0].partition("; ")[0].rstrip(".")


def type_of(kind: type[MnemicError]) -> str:
    """The URI of a class of errors, which names it and leads nowhere."""
    return f"urn:mnemic:problem:{kind.__name__}"


def problem_of(error: MnemicError, request_id: str) -> Response:
    """Answer with an error that was raised on purpose.

    What went wrong on our side, and that a tenant is elsewhere, is told by its class alone: the words may name files
    and addresses, and are logged.
    """
    kind = next(kind for kind in type(error).__mro__ if kind in STATUSES or kind is MnemicError)
    status = STATUSES.get(kind, 500)
    more: dict[str, Any] = {}
    if isinstance(error, Invalid):
        more = {"field": error.field, "remedy": over_http(error.remedy)}
    elif isinstance(error, errors.StoreLocked):
        more = {"remedy": _WHEN_LOCKED}
    headers = {"Retry-After": _RETRY[status]} if status in _RETRY else {}
    if isinstance(error, OverQuota):
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after)))
    if status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="mnemic"'
    detail = over_http(str(error)) if status < 500 else title_of(kind)
    if kind is errors.TenantElsewhere:
        detail = f"{title_of(kind)}; {_WHICH_SERVER}"
    return _response(status, type_of(kind), title_of(kind), detail, request_id, headers, more)


def over_http(text: str) -> str:
    """Have a text name addresses in place of commands of the command line, and the document in place of a schema."""
    return in_words_of(text, _ADDRESSES).replace("See the schema.", "See /openapi.json.")


def logged_problem(error: MnemicError, request_id: str) -> Response:
    """Answer with an error as `problem_of` does; log it where its words are not told."""
    response = problem_of(error, request_id)
    if response.status_code >= 500 or isinstance(error, errors.TenantElsewhere):
        kept = isinstance(error, errors.StoreError)
        words = str(error) if kept else "its words are not logged: a model's may be a memory's"
        LOG.error("request %s: %s: %s", request_id, type(error).__name__, words)
    return response


def plain_problem(status: int, detail: str, request_id: str, headers: Mapping[str, str] | None = None) -> Response:
    """Answer with a problem of HTTP itself, which has no class of its own and is called what HTTP calls it."""
    return _response(status, "about:blank", HTTPStatus(status).phrase, detail, request_id, headers or {}, {})


def _response(
    status: int,
    type: str,
    title: str,
    detail: str,
    request_id: str,
    headers: Mapping[str, str],
    more: Mapping[str, Any],
) -> Response:
    document = {"type": type, "title": title, "status": status, "detail": detail, "request_id": request_id, **more}
    body = for_json(json.dumps(document, ensure_ascii=False, allow_nan=False))
    return Response(body.encode("utf-8", "replace"), status, dict(headers), MEDIA_TYPE)

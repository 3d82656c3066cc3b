"""Routes of the dashboard: its page, its files by the hash of them all, who is signed in, and signing in and out.

The page asks the routes of the operations, like any other program; nothing here reads a memory. Files lie under the
hash of all of them together, so that a module finds the others by a relative address, and a browser may keep each for
good. The policy lets nothing run or load but these files, and no text become markup.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from mnemic import _version
from mnemic.credentials.authenticator import Authenticator
from mnemic.credentials.browser_sessions import COOKIE, csrf_token
from mnemic.errors import Unauthenticated

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types vendor"
)
"""The `Content-Security-Policy` of every answer here. Trusted types: no string reaches what would parse it as markup or
run it; the one policy, `vendor`, names the scripts of our own that are loaded when a screen needs them."""
_HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
_TYPES: Final = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".html": "text/html; charset=utf-8",
}
_PLACE: Final = b"{{files}}"
"""What stands in the page for the address of the files."""
_PAGE: Final = "index.html"


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file of the dashboard as it is sent.

    Attributes:
        compressed: The same by gzip; b"" where that is not smaller.
    """

    content: bytes
    compressed: bytes
    media_type: str
    tag: str


def dashboard_routes() -> list[Route]:
    """Make the routes, to be served beside those of the operations."""
    return [
        Route("/", _page, methods=["GET"], name="dashboard"),
        Route("/static/{digest}/{path:path}", _static, methods=["GET"], name="dashboard files"),
        Route("/session", _session, methods=["GET"], name="dashboard session"),
        Route("/login", _login, methods=["GET"], name="dashboard login"),
        Route("/logout", _logout, methods=["POST"], name="dashboard logout"),
    ]


@cache
def static_files() -> tuple[str, Mapping[str, StaticFile]]:
    """Read all files, by their path; with the hash of them all, under which they are served."""
    read = dict(sorted(_read(files(__package__) / "static")))
    every = hashlib.sha256()
    for path, content in read.items():
        every.update(f"{path}\0{len(content)}\0".encode() + content)
    digest = every.hexdigest()[:16]
    read[_PAGE] = read[_PAGE].replace(_PLACE, f"/static/{digest}".encode())
    return digest, {path: _prepared(path, content) for path, content in read.items()}


def _read(folder: Traversable, above: str = "") -> list[tuple[str, bytes]]:
    files = []
    for entry in folder.iterdir():
        if entry.is_dir():
            files += _read(entry, f"{above}{entry.name}/")
        else:
            files.append((above + entry.name, entry.read_bytes()))
    return files


def _prepared(path: str, content: bytes) -> StaticFile:
    compressed = gzip.compress(content, 9, mtime=0)
    suffix = path[path.rindex(".") :]
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    return StaticFile(content, compressed if len(compressed) < len(content) else b"", _TYPES[suffix], tag)


async def _page(request: Request) -> Response:
    return _sent(request, static_files()[1][_PAGE], "no-cache")


async def _static(request: Request) -> Response:
    digest, known = static_files()
    content = known.get(request.path_params["path"])
    if content is None or request.path_params["digest"] != digest or content is known[_PAGE]:
        raise HTTPException(404)
    return _sent(request, content, "public, max-age=31536000, immutable")


def _sent(request: Request, file: StaticFile, keep: str) -> Response:
    headers = {**_HEADERS, "ETag": file.tag, "Cache-Control": keep, "Vary": "Accept-Encoding"}
    if file.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if file.compressed and "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
        return Response(file.compressed, headers=headers, media_type=file.media_type)
    return Response(file.content, headers=headers, media_type=file.media_type)


async def _session(request: Request) -> Response:
    """Answer who is signed in, and the token that the page sends with whatever changes something."""
    service = request.app.state.service
    headers = dict(request.headers)
    principal = await service.pool.run(lambda: service.authenticator.authenticate(headers, request.method))
    cookie = request.cookies.get(COOKIE, "")
    signed_in = isinstance(service.authenticator, Authenticator)
    record = {
        "name": principal.name,
        "tenant": principal.tenant,
        "user": principal.user or service.memory.settings.user,
        "bound": signed_in and principal.user is not None,
        "right": principal.right.name.lower(),
        "read_only": service.read_only,
        "signed_in": signed_in,
        "csrf": csrf_token(cookie) if signed_in and cookie else "",
        "version": _version.__version__,
    }
    return JSONResponse(record, headers=_HEADERS)


async def _login(request: Request) -> Response:
    """Exchange the token of a one-time link for a session's cookie, and lead to the page."""
    service = request.app.state.service
    authenticator = service.authenticator
    home = RedirectResponse("/", 303, headers=_HEADERS)
    if not isinstance(authenticator, Authenticator):
        return home  # whoever reaches this machine's own address is its owner, and has nothing to sign in to
    token = request.query_params.get("token", "")
    try:
        opened = await service.pool.run(lambda: authenticator.sessions.exchange(token))
    except Unauthenticated:
        return RedirectResponse("/#/signin?over=1", 303, headers=_HEADERS)
    home.headers["Set-Cookie"] = opened.set_cookie(secure=request.url.scheme == "https")
    return home


async def _logout(request: Request) -> Response:
    """End the session of the cookie, and have the browser drop it."""
    service = request.app.state.service
    authenticator, cookie = service.authenticator, request.cookies.get(COOKIE, "")
    headers = dict(request.headers)
    if isinstance(authenticator, Authenticator) and cookie:
        await service.pool.run(lambda: authenticator.authenticate(headers, "POST"))
        await service.pool.run(lambda: authenticator.sessions.end(cookie))
    gone = Response(status_code=204, headers=_HEADERS)
    gone.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return gone

"""The gateway's application: requests go to the upstream endpoint and its answers come back, remembered on the way.

A request for which memory is off, and every path that carries no conversation, passes as it came, byte for byte.
"""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from http.cookiejar import CookieJar, DefaultCookiePolicy
from math import ceil
from typing import Final, TypeVar
from urllib.parse import quote

import anyio
import anyio.to_thread
import httpx2
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from mnemic.credentials.authenticator import CHALLENGE, Authenticator
from mnemic.credentials.principal import Principal, Right
from mnemic.errors import Invalid, MnemicError, OverQuota, Refused, TooLarge, Unauthenticated
from mnemic.faces.gateway.remembering import (
    ANSWER_LIMIT,
    Caller,
    Exchange,
    MemoryMode,
    ObservedExchange,
    Recollection,
    Remembering,
    StandingPart,
    exchange_of,
)
from mnemic.faces.gateway.wire_shapes import SHAPES, Completion, Document, EventReader, WireShape

MODE: Final = "Mnemic-Memory"
KEY: Final = "Mnemic-Key"
"""Header of a key of ours where `Authorization` is for the upstream."""
USER_HEADERS: Final = ("Mnemic-User", "X-OpenWebUI-User-Id")
SESSION_HEADERS: Final = ("Mnemic-Session", "X-OpenWebUI-Chat-Id")
TASK_MARKS: Final = ("### Task:",)
"""How messages begin by which applications have titles, tags and the like made; these are Open WebUI's."""
_METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_HOP: Final = frozenset(
    ("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
     "transfer-encoding", "upgrade")
)  # fmt: skip
"""Headers that belong to one connection (RFC 9110, 7.6.1)."""
_OURS: Final = ("host", "content-length", "cookie")
"""Headers of a request that are not for the upstream: its own take their place, or they are a browser's."""
_IDENTITY: Final = {"accept-encoding": "identity"}
"""What is asked of an upstream whose answer is read here."""
_WORKERS: Final = 32
_CONNECT_SECONDS: Final = 10.0

_OUR_KEY: Final = re.compile(r"\bm[kls]_")
"""A key of ours, a link or a session, which are of no use to anybody else."""
_CREDENTIALS: Final = ("authorization", "x-api-key")

Looked = TypeVar("Looked")
"""What a look at memory brings."""

log = logging.getLogger("mnemic.gateway")


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayOptions:
    """How a gateway behaves.

    Attributes:
        upstream: URL of the endpoint, with or without its `/v1`.
        mode: What memory does where a request does not say.
        recall_seconds: Longest that a request waits for memory; then it goes on without.
        budget: Most tokens of a block of memory.
        user_headers, session_headers: Headers that name the user and the conversation; the first that is there counts.
        task_marks: A message that begins so is the application's own, not its user's, and passes without memory.
        user: Whose memory it is where neither a request nor its key names a user; None to refuse such requests.
        tenant: Of which installation, where no key says.
        upstream_key: Sent in place of a request's `Authorization`; None to pass that on, unless it holds a key of ours.
        body_limit: Most bytes of a request.
        cache: Most bytes of blocks that a process keeps in mind until they are in the store.
        answer_seconds: Longest that the upstream may be silent.
    """

    upstream: str
    mode: MemoryMode = MemoryMode.BOTH
    recall_seconds: float = 0.3
    budget: int = 800
    user_headers: tuple[str, ...] = USER_HEADERS
    session_headers: tuple[str, ...] = SESSION_HEADERS
    task_marks: tuple[str, ...] = TASK_MARKS
    user: str | None = None
    tenant: str = "default"
    upstream_key: str | None = field(default=None, repr=False)
    body_limit: int = 32 * 1024 * 1024
    cache: int = 16 * 1024 * 1024
    answer_seconds: float = 600.0


class UpstreamError(MnemicError):
    """The upstream endpoint cannot be reached, or answers nothing that can be passed on."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Relay:
    """Answers requests by the upstream's answers. One for each process.

    Args:
        remembering: What is done with memory.
        client: Asks the upstream.
        authenticator: Says who asks; None where whoever reaches the gateway is this machine's owner.
    """

    def __init__(
        self,
        remembering: Remembering,
        options: GatewayOptions,
        client: httpx2.AsyncClient,
        authenticator: Authenticator | None = None,
    ) -> None:
        self._remembering, self._options, self._client = remembering, options, client
        self._authenticator = authenticator
        self._owner = Principal(name="gateway", tenant=options.tenant, user=None, right=Right.WRITE)
        self._base = options.upstream.rstrip("/").removesuffix("/v1")
        self._threads = anyio.CapacityLimiter(2 * _WORKERS)
        self._looks = threading.BoundedSemaphore(_WORKERS)

    async def answer(self, request: Request) -> Response:
        """Answer one request, whatever it asks for; what goes wrong is told in the shape of OpenAI's errors."""
        try:
            mode = self._mode(request.headers)
            principal = await self._principal(request)
            shape = next((known_shape for known_shape in SHAPES if known_shape.path == request.url.path), None)
            raw = await self._body(request)
            if shape is None or request.method != "POST" or mode is MemoryMode.OFF:
                return await self._pass_on(request, raw, {})
            return await self._remembered(request, shape, mode, raw, principal)
        except UpstreamError as error:
            return _error(error.status, str(error), "upstream")
        except Unauthenticated as error:
            return _error(401, str(error), "unauthenticated", **{"WWW-Authenticate": CHALLENGE})
        except OverQuota as error:
            return _error(429, str(error), "over_quota", **{"Retry-After": str(ceil(error.retry_after))})
        except Refused as error:
            return _error(403, str(error), "refused")
        except TooLarge as error:
            return _error(413, str(error), "too_large")
        except Invalid as error:
            return _error(400, str(error), "invalid")
        except ClientDisconnect:
            return Response(status_code=499)

    async def _remembered(
        self, request: Request, shape: WireShape, mode: MemoryMode, raw: bytes, principal: Principal
    ) -> Response:
        body = _parsed(raw)
        caller = self._caller(principal, request.headers, body, Right.WRITE if mode.writes else Right.READ)
        self._remembering.check(caller)
        exchange = exchange_of(caller, shape, raw, body)
        ours: dict[str, str] = {}
        if any(message.text.lstrip().startswith(self._options.task_marks) for message in exchange.asked):
            ours["Mnemic-Recall"] = ours["Mnemic-Write"] = "nothing: a task of the application's own"
            return await self._pass_on(request, raw, ours)
        if mode.reads:
            recalled, ours["Mnemic-Recall"] = await self._recalled(exchange)
            if recalled.items:
                ours["Mnemic-Recalled"] = ", ".join(recalled.items)
            raw = recalled.raw
        if not mode.writes:
            upstream = await self._ask(request, raw, {})
            keeping = partial(self._keep_block, exchange) if upstream.is_success else None
            return self._streamed(upstream, ours, keeping)
        upstream = await self._ask(request, raw, _IDENTITY)
        if not upstream.is_success:
            ours["Mnemic-Write"] = f"nothing: the upstream answered {upstream.status_code}"
            return self._streamed(upstream, ours)
        kind = upstream.headers.get("content-type", "")
        if kind.startswith("text/event-stream"):
            return self._observed_stream(upstream, exchange, ours)
        if body.get("stream") is True and "json" not in kind:
            ours["Mnemic-Write"] = "failed: the answer to a request for a stream is neither one nor JSON"
            return self._streamed(upstream, ours)
        return await self._observed_whole(upstream, exchange, ours)

    async def _recalled(self, exchange: Exchange) -> tuple[Recollection, str]:
        """The prompt with memory in it, within the time that there is; and a line on how that went.

        What is always on comes first: a recall that is late, or fails, costs what it would have brought, and no
        standing instruction. Where even that is late, the prompt keeps the blocks that stand in it, if that much can be
        looked up in the same time again: what may hold words that were erased since is not sent.
        """
        seconds = self._options.recall_seconds
        until = anyio.current_time() + seconds
        part: StandingPart | None = None
        went = f"late: more than {seconds:g} s"
        try:
            part = await self._by(until, partial(self._remembering.standing_part, exchange))
            if part is not None:
                recollection = await self._by(until, partial(self._remembering.recall, exchange, part))
                if recollection is not None:
                    return recollection, f"ok; {len(recollection.items)} items"
        except MnemicError as error:
            went = f"failed: {type(error).__name__}"
        log.warning("recall %s%s", went, "" if part is None else "; what is always on was placed")
        until = anyio.current_time() + seconds
        with suppress(MnemicError):
            if part is not None:
                standing = await self._by(until, partial(self._remembering.without_recall, exchange, part))
                if standing is not None:
                    return standing, f"{went}; {len(standing.items)} items placed all the same"
        self._remembering.give_up(exchange)
        kept: Recollection | None = None
        with suppress(MnemicError):
            kept = await self._by(until, partial(self._remembering.standing, exchange))
        return kept or Recollection(exchange.raw), went

    async def _by(self, until: float, look: Callable[[], Looked]) -> Looked | None:
        """What a look at memory brings by then; None where it takes longer, or too many do."""
        if not self._looks.acquire(blocking=False):
            return None
        begun = threading.Lock()

        def run() -> Looked | None:
            if not begun.acquire(blocking=False):
                return None  # nobody waited any more before a thread was free
            try:
                return look()
            finally:
                self._looks.release()  # by the thread: one that nobody waits for any more still runs

        try:
            with anyio.move_on_after(max(0.0, until - anyio.current_time())):
                return await anyio.to_thread.run_sync(run, abandon_on_cancel=True, limiter=self._threads)
        finally:
            if begun.acquire(blocking=False):
                self._looks.release()
        return None

    async def _observe(self, exchange: Exchange, completion: Completion, *, broken: bool) -> ObservedExchange:
        """Write what was said, to the end, whoever still waits for it."""
        with anyio.CancelScope(shield=True):
            call = partial(self._remembering.observe, exchange, completion, broken=broken)
            observation = await anyio.to_thread.run_sync(call, limiter=self._threads)
        if observation.error is not None:
            log.warning("an exchange could not be kept: %s", observation.error.partition(":")[0])
        return observation

    async def _observed_whole(self, upstream: httpx2.Response, exchange: Exchange, ours: dict[str, str]) -> Response:
        """Pass a whole answer on once it is written; one that is too long to be kept passes as it comes."""
        pieces, size = [], 0
        stream = aiter(upstream.aiter_bytes())
        try:
            async for piece in stream:
                pieces.append(piece)
                size += len(piece)
                if size > 2 * ANSWER_LIMIT:
                    ours["Mnemic-Write"] = "failed: the answer is too long to be kept"
                    rest = StreamingResponse(_chained(pieces, stream, upstream), upstream.status_code)
                    return _with_headers(rest, upstream, ours, decoded=True)
        except httpx2.HTTPError as error:
            await upstream.aclose()
            await self._observe(exchange, Completion(), broken=True)
            raise UpstreamError(502, f"the upstream broke off ({type(error).__name__})") from error
        await upstream.aclose()
        content, completion = b"".join(pieces), Completion()
        try:
            exchange.shape.read_answer(_parsed(content), completion)
        except Invalid as error:
            ours["Mnemic-Write"] = f"failed: the answer is no document ({error.problem})"
        else:
            ours["Mnemic-Write"] = _write_header(await self._observe(exchange, completion, broken=False))
        return _with_headers(Response(content, upstream.status_code), upstream, ours, decoded=True)

    def _observed_stream(self, upstream: httpx2.Response, exchange: Exchange, ours: dict[str, str]) -> Response:
        """Pass a stream on; what ends it goes out only once all of it is written, then a comment says where."""
        ours["Mnemic-Write"] = "at the end of the stream"
        passed = StreamingResponse(self._watched(upstream, exchange), upstream.status_code)
        return _with_headers(passed, upstream, ours, decoded=True)

    async def _watched(self, upstream: httpx2.Response, exchange: Exchange) -> AsyncIterator[bytes]:
        """Yield a stream event by event; whatever ends it, what came of the answer is written."""
        reader, completion = EventReader(ANSWER_LIMIT), Completion()
        observation: ObservedExchange | None = None
        broken = True
        try:
            async for piece in upstream.aiter_bytes():
                passed, events = reader.read(piece)
                for data in events:
                    _take(exchange.shape, data, completion)
                if completion.ended and observation is None:
                    observation = await self._observe(exchange, completion, broken=False)
                if passed:
                    yield passed
            if end := _last_event(reader, exchange.shape, completion):
                if completion.ended and observation is None:
                    observation = await self._observe(exchange, completion, broken=False)
                yield end
            broken = not completion.ended
        except (httpx2.HTTPError, _HalfAnEventError) as error:
            log.warning("the upstream broke off: %s", type(error).__name__)
            yield _broken_off(error, cut_short=reader.cut_short)
        finally:
            with anyio.CancelScope(shield=True):
                await upstream.aclose()
                if observation is None:
                    observation = await self._observe(exchange, completion, broken=broken)
        if observation is not None:
            yield f": mnemic-write {_write_header(observation)}\n\n".encode()

    async def _pass_on(self, request: Request, raw: bytes, ours: Mapping[str, str]) -> Response:
        return self._streamed(await self._ask(request, raw, {}), ours)

    def _streamed(
        self, upstream: httpx2.Response, ours: Mapping[str, str], then: Callable[[], Awaitable[None]] | None = None
    ) -> Response:
        """Pass an answer on as it comes; `then` is done before its end is."""
        passed = StreamingResponse(_raw(upstream, then), upstream.status_code)
        return _with_headers(passed, upstream, ours, decoded=False)

    async def _keep_block(self, exchange: Exchange) -> None:
        """Keep the block that went out where the exchange is not written; failing costs a cached prompt, no more."""
        try:
            await anyio.to_thread.run_sync(self._remembering.keep_block, exchange, limiter=self._threads)
        except MnemicError as error:
            log.warning("a block could not be kept: %s", type(error).__name__)

    async def _ask(self, request: Request, raw: bytes, more: Mapping[str, str]) -> httpx2.Response:
        """Send a request upstream; the answer's body is still to be read.

        Raises:
            UpstreamError: it cannot be reached, or does not answer in time.
        """
        raw_path = request.scope.get("raw_path") or quote(request.url.path).encode()
        path = raw_path.decode("latin-1") + (f"?{request.url.query}" if request.url.query else "")
        proved = self._authenticator is not None and KEY not in request.headers
        headers = [
            (name, value)
            for name, value in request.headers.items()
            if name not in more and self._goes_on(name, value, proved=proved)
        ]
        headers += more.items()
        if self._options.upstream_key is not None:
            headers.append(("authorization", f"Bearer {self._options.upstream_key}"))
        sent = self._client.build_request(
            request.method, f"{self._base}{path}", headers=httpx2.Headers(headers), content=raw
        )
        try:
            return await self._client.send(sent, stream=True)
        except httpx2.TimeoutException as error:
            raise UpstreamError(504, f"the upstream does not answer ({type(error).__name__})") from error
        except httpx2.HTTPError as error:
            raise UpstreamError(502, f"the upstream cannot be reached ({type(error).__name__})") from error

    def _goes_on(self, name: str, value: str, *, proved: bool) -> bool:
        """Whether a header of a request is for the upstream: nothing that proved here who asks ever is.

        Args:
            proved: A credential among the headers that applications send proved who asks.
        """
        if _OUR_KEY.search(value) or (proved and name in _CREDENTIALS):
            return False
        kept = self._options.upstream_key is None or name != "authorization"
        return kept and name not in _HOP and name not in _OURS and not name.startswith("mnemic-")

    def _mode(self, headers: Mapping[str, str]) -> MemoryMode:
        given = headers.get(MODE)
        if given is None:
            return self._options.mode
        try:
            return MemoryMode(given.strip().lower())
        except ValueError as error:
            known = ", ".join(MemoryMode)
            raise Invalid(MODE, f"is {given!r}", f"One of {known}.") from error

    async def _principal(self, request: Request) -> Principal:
        """Find out who asks, by `Mnemic-Key`, else by a credential where the server of the store takes one.

        Raises:
            Unauthenticated: nobody is known by what came.
        """
        if self._authenticator is None:
            return self._owner
        given = dict(request.headers)
        if key := given.get(KEY.lower()):
            given = {"authorization": f"Bearer {key}"}
        call = partial(self._authenticator.authenticate, given, request.method)
        return await anyio.to_thread.run_sync(call, limiter=self._threads)

    def _caller(self, principal: Principal, headers: Mapping[str, str], body: Document, right: Right) -> Caller:
        """On whose behalf a request comes: a header's, else the field `user`'s, where its key may name users.

        A key of one user is of that user, whatever the field says: many applications fill it with names of their own.

        Raises:
            Invalid: nobody is named.
            Refused, OverQuota: the key is another's, may not do as much, or not now.
        """
        named = _first(headers, self._options.user_headers)
        if principal.user is None and not named:
            named = body["user"] if isinstance(body.get("user"), str) and body["user"] else self._options.user
            if not named:
                known = " or ".join(self._options.user_headers)
                raise Invalid("user", "is not named", f"Send the header {known}, or the field `user`.")
        if self._authenticator is None:
            scope = principal.scope(named, right)
        else:
            scope = self._authenticator.authorize(principal, right, named, operation="gateway")
        session = _first(headers, self._options.session_headers)
        actor = None if self._authenticator is None else principal.name
        return Caller(tenant=scope.tenant, user=str(scope.user), actor=actor, session=session)

    async def _body(self, request: Request) -> bytes:
        """Read a request's body.

        Raises:
            TooLarge: it is over the limit, whatever its length was said to be.
        """
        pieces, size = [], 0
        async for piece in request.stream():
            size += len(piece)
            if size > self._options.body_limit:
                raise TooLarge("body", f"is over {self._options.body_limit:,} bytes", "Send less in one request.")
            pieces.append(piece)
        return b"".join(pieces)


def application(
    remembering: Remembering, options: GatewayOptions, authenticator: Authenticator | None = None
) -> Starlette:
    """Make the gateway's application; the memory behind `remembering` is closed by whoever opened it.

    Args:
        authenticator: Says who asks; None on this machine's own address, whose owner then does.
    """
    times = httpx2.Timeout(options.answer_seconds, connect=_CONNECT_SECONDS)
    client = httpx2.AsyncClient(
        timeout=times, limits=httpx2.Limits(max_connections=None), cookies=CookieJar(DefaultCookiePolicy((), ()))
    )
    client.headers.clear()  # what an application did not send, the upstream is not sent
    relay = Relay(remembering, options, client, authenticator)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await client.aclose()

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    every = Route("/{path:path}", relay.answer, methods=list(_METHODS))
    return Starlette(routes=[Route("/health", health), every], lifespan=lifespan)


def _parsed(raw: bytes) -> Document:
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise Invalid("body", "is not JSON", "Send a JSON object.") from error
    if not isinstance(document, dict):
        raise Invalid("body", f"is {type(document).__name__}", "Send a JSON object.")
    return document


def _take(shape: WireShape, data: bytes, completion: Completion) -> bool:
    """Take one event of a stream; False for what is neither a JSON object nor the end, and says nothing."""
    if data == b"[DONE]":
        completion.ended = True
        return True
    try:
        event = json.loads(data)
    except (ValueError, RecursionError):
        return False
    if not isinstance(event, dict):
        return False
    shape.read_event(event, completion)
    if completion.size > ANSWER_LIMIT:
        completion.pieces.clear()  # it is not kept: its size says so
    return True


class _HalfAnEventError(Exception):
    """A stream has ended, in good order, amid an event."""


def _last_event(reader: EventReader, shape: WireShape, completion: Completion) -> bytes:
    """What is still withheld once a stream has ended, closed: an event that lacks only the empty line behind it.

    Raises:
        _HalfAnEventError: it lacks more.
    """
    rest, data = reader.rest, reader.rest_data
    if reader.cut_short or (data is not None and not _take(shape, data, completion)):
        raise _HalfAnEventError
    if rest and data is None and not rest.startswith(b":"):
        raise _HalfAnEventError
    return rest + b"\n\n" if rest else b""


def _broken_off(error: Exception, *, cut_short: bool) -> bytes:
    """The event by which OpenAI's clients learn that a stream failed; it ends the one before, where that was cut."""
    why = "amid an event" if isinstance(error, _HalfAnEventError) else f"({type(error).__name__})"
    fault = {"message": f"the upstream broke off {why}", "type": "mnemic", "code": "upstream"}
    before = "\n\n" if cut_short else ""
    return f"{before}data: {json.dumps({'error': fault})}\n\n".encode()


def _write_header(observation: ObservedExchange) -> str:
    if observation.error is not None:
        return f"failed: {observation.error}".replace("\n", " ")
    return "ok; nothing to keep" if observation.seq is None else f"ok; commit {observation.seq}"


def _first(headers: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    return next((value for name in names if (value := headers.get(name, "").strip())), None)


def _with_headers(
    response: Response, upstream: httpx2.Response, added: Mapping[str, str], *, decoded: bool
) -> Response:
    """Give an answer the upstream's headers, as often as each came, and what memory has to say.

    Args:
        decoded: The body goes out without its content encoding, and with a length of its own, or none.
    """
    dropped = {name.encode() for name in _HOP}
    if decoded:
        dropped |= {b"content-encoding", b"content-length"}
    own = [(name, value) for name, value in response.raw_headers if decoded and name == b"content-length"]
    kept = [(name, value) for name, value in upstream.headers.raw if name.lower() not in dropped]
    ours = [(name.lower().encode(), value.encode("ascii", "backslashreplace")) for name, value in added.items()]
    response.raw_headers = [*kept, *own, *ours]
    return response


async def _raw(upstream: httpx2.Response, then: Callable[[], Awaitable[None]] | None) -> AsyncIterator[bytes]:
    try:
        async for piece in upstream.aiter_raw():
            yield piece
    finally:
        with anyio.CancelScope(shield=True):
            await upstream.aclose()
            if then is not None:
                await then()


async def _chained(pieces: list[bytes], rest: AsyncIterator[bytes], upstream: httpx2.Response) -> AsyncIterator[bytes]:
    try:
        for piece in pieces:
            yield piece
        async for piece in rest:
            yield piece
    finally:
        with anyio.CancelScope(shield=True):
            await upstream.aclose()


def _error(status: int, message: str, code: str, **headers: str) -> JSONResponse:
    """An error in OpenAI's shape, so that clients show it."""
    return JSONResponse({"error": {"message": message, "type": "mnemic", "code": code}}, status, headers)

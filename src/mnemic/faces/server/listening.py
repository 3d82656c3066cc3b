"""Listens: binds the address, opens the store in each process that answers, and drains when it is told to stop."""

from __future__ import annotations

import asyncio
import gc
import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Final

import uvicorn
from starlette.applications import Starlette
from starlette.types import Lifespan

from mnemic.core.uninterrupted import import_whole
from mnemic.credentials.authenticator import Authenticator
from mnemic.errors import Invalid, StoreError
from mnemic.faces.dashboard.dashboard_routes import dashboard_routes
from mnemic.faces.server.application import application
from mnemic.faces.server.bounded_protocol import BoundedHttpProtocol
from mnemic.faces.server.guards import LOOPBACK_HOSTS
from mnemic.faces.server.service import DRAIN_SECONDS, LoopbackAuthenticator, RequestAuthenticator, Service
from mnemic.memory import Memory
from mnemic.settings import Settings
from mnemic.store.urls import path_of

BUSY_SECONDS: Final = 5.0
"""Longest that a request waits for another program's write: it is told to come back, and holds no thread meanwhile."""
_BACKLOG: Final = 2048
_UNREAD: Final = 128 * 1024
"""Bytes that the system keeps of what a peer has not read: left to itself, it keeps four million, a thousand times."""
_LOADED_BY_QUESTIONS: Final = ("mnemic.index.catalogue", "mnemic.recall.pipeline", "mnemic.recall.answer")
_RESTARTS: Final = 10
"""How often processes that died are replaced, all together, before the server gives up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """What a process that answers needs to know; it is sent to each of several.

    Attributes:
        where: The store.
        user, tenant: Whose memory is meant where a request does not say.
        names: Host names by which it may be asked, beside those of this machine.
        elsewhere: Whether it can be asked from another machine, or by another name.
        credentials: Whether each request needs a credential; else whoever asks is the owner.
    """

    where: str
    settings: Settings
    user: str
    tenant: str
    host: str
    port: int
    names: tuple[str, ...] = ()
    elsewhere: bool = False
    credentials: bool = False
    read_only: bool = False

    @property
    def served_settings(self) -> Settings:
        """The settings, with the user and tenant named, and no longer a wait than clients have patience for."""
        wait = min(self.settings.busy_timeout, BUSY_SECONDS)
        return replace(self.settings, user=self.user, tenant=self.tenant, busy_timeout=wait)


class DrainingServer(uvicorn.Server):
    """A server that tells its application at once when it is asked to stop, so that endless streams end."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer; what was asked to stop while it started drains at once."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        if self.should_exit:
            self._service.drain()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to drain, also if it has not started yet; a second Ctrl-C does not wait."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._service.drain)
        super().handle_exit(sig, frame)


def listen(options: ServeOptions, workers: int, ready: Callable[[str], None]) -> None:
    """Serve until a signal ends it.

    Args:
        ready: Called with the URL once connections are taken.

    Raises:
        Invalid: the address cannot be listened on, or nobody could prove who they are.
    """
    refuse_without_credentials(options)
    with bound_socket(options.host, options.port) as bound:
        url = address_of(bound)
        if workers == 1:
            serve_here(options, bound, lambda: ready(url))
        else:
            # The socket listens; who connects waits for the first process.
            ServerProcesses(partial(serve_here, options), bound, workers).run(lambda: ready(url))


def serve_here(options: ServeOptions, bound: socket.socket, ready: Callable[[], None] | None = None) -> None:
    """Open the store and answer on a bound socket until a signal ends it, in this process."""
    for name in ("mnemic.server", "mnemic.access"):
        logging.getLogger(name).addHandler(logging.StreamHandler())
    settings = options.served_settings
    with Memory(options.where, settings=settings) as memory:
        service = Service(memory, authenticator_of(memory, options), read_only=options.read_only)
        hosts = (*LOOPBACK_HOSTS, options.host, *options.names)
        app = application(service, hosts=hosts, more=dashboard_routes(), lifespan=_announcing(ready))
        config = uvicorn.Config(
            app, http=BoundedHttpProtocol, loop="auto", ws="none", access_log=False, log_level="warning", lifespan="on",
            server_header=False, backlog=_BACKLOG, timeout_graceful_shutdown=DRAIN_SECONDS, proxy_headers=False,
        )  # fmt: skip
        server = DrainingServer(config, service)
        for number in (signal.SIGTERM, signal.SIGINT):
            # Uvicorn takes signals only while it runs, and raises them again once it has drained.
            signal.signal(number, server.handle_exit)
        with _what_is_loaded_uncollected():
            server.run(sockets=[bound])


@contextmanager
def _what_is_loaded_uncollected() -> Iterator[None]:
    """Keep the collector of garbage from looking through all that a server is made of, and has until it ends.

    That is a hundred thousand objects. To look through them takes 60 ms, in which nobody is answered, and comes once in
    a hundred writes.
    """
    import_whole(*_LOADED_BY_QUESTIONS)
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def authenticator_of(memory: Memory, options: ServeOptions) -> RequestAuthenticator:
    """Choose who tells who asks."""
    settings = options.served_settings
    return (
        Authenticator.from_settings(memory.keys, settings) if options.credentials else LoopbackAuthenticator(settings)
    )


def refuse_without_credentials(options: ServeOptions, asked_by: str = "credentials") -> None:
    """Refuse to serve where nobody could prove who they are.

    Args:
        asked_by: The option that has credentials asked for on this machine's own address too.

    Raises:
        Invalid: credentials are needed, and there is neither a key that is valid nor an identity provider.
    """
    if not options.credentials or options.settings.jwt_issuer or _has_key(options):
        return
    make = "Make a key first (`mnemic keys create --name laptop`)"
    if not options.elsewhere:
        raise Invalid(asked_by, "asks everybody for a key, and there is no key yet", f"{make}, or leave it out.")
    reached = ", ".join((options.host, *options.names))
    remedy = f"{make}, or serve on this machine's own address, for whoever is on it."
    raise Invalid("host", f"nobody who asks at {reached} could prove who they are: there is no key yet", remedy)


def _has_key(options: ServeOptions) -> bool:
    """Whether a key of the store is valid."""
    path = path_of(options.where)
    if path is not None and not path.exists():
        return False
    with Memory(options.where, settings=replace(options.served_settings, background=False)) as memory:
        return memory.keys.any_valid()


def _announcing(ready: Callable[[], None] | None) -> Lifespan[Starlette]:
    """Have `ready` called once the application is running."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        if ready is not None:
            ready()
        yield

    return lifespan


def bound_socket(host: str, port: int) -> socket.socket:
    """Open a socket that listens at a port; 0 stands for one that is free.

    Raises:
        Invalid: it cannot be listened on.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _UNREAD)
    try:
        bound.bind((host, port))
        bound.listen(_BACKLOG)  # whoever reads where it listens may connect at once
    except OSError as error:
        bound.close()
        raise Invalid("port", f"{port} cannot be listened on at {host} ({error.strerror})", "Name another.") from error
    return bound


def address_of(bound: socket.socket) -> str:
    """Read at which URL a listening socket is reached, without a path."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _serve_under_parent(serve: Callable[[socket.socket], None], bound: socket.socket) -> None:
    """Answer in one of several processes; without the one that started it, it ends as if told to."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="mnemic-parent", daemon=True).start()
    serve(bound)


class ServerProcesses:
    """Processes that answer on the same socket, which are replaced when they die.

    Args:
        serve: Answers on a socket until a signal ends it; it is sent to each process.
    """

    def __init__(self, serve: Callable[[socket.socket], None], bound: socket.socket, count: int) -> None:
        self._serve, self._bound = serve, bound
        self._context = multiprocessing.get_context("spawn")
        self._over = False
        self._count = count

    def run(self, ready: Callable[[], None]) -> None:
        """Run them until a signal ends all of them; `ready` is called once a signal would."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        ready()
        running = [self._started() for _ in range(self._count)]
        left = _RESTARTS
        while True:
            time.sleep(0.2)
            if self._over:
                break
            dead = [process for process in running if not process.is_alive()]
            if left < len(dead):
                self._end(running)
                raise StoreError(f"processes that answer have died {_RESTARTS + 1} times; the lines above say why")
            left -= len(dead)
            running = [process for process in running if process not in dead] + [self._started() for _ in dead]
        self._end(running)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        """Take a signal. An event would not do: its lock may be held by the very wait that a signal interrupts."""
        self._over = True

    def _end(self, running: Sequence[BaseProcess]) -> None:
        for process in running:
            process.terminate()
        for process in running:
            process.join(DRAIN_SECONDS + 5)
            process.kill()  # one that is stuck is not waited for

    def _started(self) -> BaseProcess:
        process = self._context.Process(target=_serve_under_parent, args=(self._serve, self._bound))
        process.start()
        return process

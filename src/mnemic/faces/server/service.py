"""What every route of the server stands on: the open memory, who asks, the pool of threads, and whether it drains."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import unquote

import anyio
import anyio.to_thread

from mnemic.core.checking import clean_name
from mnemic.core.scope import SHARED, Scope, Shared
from mnemic.credentials.principal import Principal, Right
from mnemic.errors import Invalid, Refused
from mnemic.faces.server.verb_pool import VerbPool
from mnemic.settings import Settings

if TYPE_CHECKING:
    from mnemic.admin import Admin
    from mnemic.memory import Memory, ScopedMemory
    from mnemic.operations.operation import Arguments, Data, Operation

USER: Final = "mnemic-user"
TENANT: Final = "mnemic-tenant"
SHARED_SPACE: Final = "mnemic-shared"
"""Headers that say whose memory is meant."""
SHARED_WORDS: Final = {"yes": True, "no": False, "true": True, "false": False, "1": True, "0": False}
"""What `Mnemic-Shared` may say, in any case, and whether the memory that all users of a tenant share is meant."""
DRAIN_SECONDS: Final = 30
"""Longest that requests which are being answered, and verbs that nobody waits for, are waited for at the end."""
_LEAST_SECONDS: Final = 2.0
"""So long verbs are waited for, however long requests took to end."""
_BY_HEADER: Final = "Name whose memory is meant by the header Mnemic-User."
_STRAY: Final = re.compile("%(?![0-9A-Fa-f]{2})")


log = logging.getLogger("mnemic.server")


class RequestAuthenticator(Protocol):
    """Tells who asks, and refuses what they may not do; `mnemic.credentials.authenticator` is one."""

    def authenticate(self, headers: Mapping[str, str], method: str) -> Principal:
        """Return whom the credential among a request's headers stands for.

        Raises:
            Unauthenticated: nobody is known by it. Refused: it is a page's, which may not ask so.
        """
        ...

    def authorize(
        self, principal: Principal, right: Right, user: str | Shared | None = None, *, operation: str = ""
    ) -> Scope:
        """Return the scope that a request works in, and charge its quotas.

        Raises:
            Refused, OverQuota: it may not, or not now. Invalid: nobody's memory is named.
        """
        ...


class LoopbackAuthenticator:
    """Takes whoever reaches this machine's loopback address for its owner, who may name any user and tenant."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def authenticate(self, headers: Mapping[str, str], method: str) -> Principal:
        """Return the owner, acting for the user and tenant of the headers, or those of the settings."""
        tenant = named(headers, TENANT) or self._settings.tenant
        user = named(headers, USER) or self._settings.user
        return Principal(name="loopback", tenant=tenant, user=user, right=Right.ADMIN, shared=True)

    def authorize(
        self, principal: Principal, right: Right, user: str | Shared | None = None, *, operation: str = ""
    ) -> Scope:
        """Return the scope; the owner has no quota."""
        return principal.scope(user, right)


class Service:
    """An open memory as the server serves it. Its blocking methods are safe in any thread.

    Args:
        memory: Whose verbs are served; whoever opened it closes it.
        authenticator: Says who asks.
        read_only: Only what changes nothing.
        pool: Where verbs run.
    """

    def __init__(
        self,
        memory: Memory,
        authenticator: RequestAuthenticator,
        *,
        read_only: bool = False,
        pool: VerbPool | None = None,
    ) -> None:
        self.memory, self.authenticator, self.read_only = memory, authenticator, read_only
        self.pool = VerbPool() if pool is None else pool
        self.draining = anyio.Event()
        """Set when the server is asked to end: streams that would go on for ever end by it."""
        self._drained_by: float | None = None

    def drain(self) -> None:
        """Begin to end; called in the loop."""
        self._drained_by = self._drained_by or time.monotonic() + DRAIN_SECONDS
        self.draining.set()

    async def close_pool(self) -> None:
        """Wait for verbs whose callers have left, for as long as is left of the time that ending may take."""
        left = DRAIN_SECONDS if self._drained_by is None else self._drained_by - time.monotonic()
        if running := await anyio.to_thread.run_sync(self.pool.close, max(_LEAST_SECONDS, left)):
            log.warning("%s verbs were not waited for any longer", running)

    def scoped(
        self, headers: Mapping[str, str], right: Right = Right.READ, *, method: str = "POST", operation: str = ""
    ) -> ScopedMemory:
        """Return the handle on the memory that a request means; it blocks.

        Args:
            headers: By their names in lower case.
            operation: What is asked for, for the access log.

        Raises:
            Unauthenticated: nobody is known by its credential. Refused: that may not do as much, or not there.
            Invalid: it names nobody, or names them wrongly.
        """
        scope, principal = self.admitted(headers, right, method=method, operation=operation)
        return self.memory.scope(user=scope.user, tenant=scope.tenant, actor=principal.name)

    def admitted(
        self, headers: Mapping[str, str], right: Right, *, method: str = "POST", operation: str = ""
    ) -> tuple[Scope, Principal]:
        """Return the memory that a request means, and who asks; as `scoped`."""
        principal = self.authenticator.authenticate(headers, method)
        self._refuse_writing(right)
        if named(headers, TENANT) not in (None, principal.tenant):
            raise Refused(f"{principal.name!r} opens the memory of its own tenant alone; leave {TENANT} out")
        user = named(headers, USER)
        meant = SHARED if _means_shared(headers) else user
        try:
            return self.authenticator.authorize(principal, right, meant, operation=operation), principal
        except Invalid as error:
            if meant is not None:
                raise
            raise Invalid(error.field, error.problem, _BY_HEADER) from error

    def administered(
        self, headers: Mapping[str, str], operation: Operation, *, method: str = "POST"
    ) -> tuple[Admin, Principal]:
        """Return the handle on the whole store, for an administrator of its own tenant, and who that is; it blocks.

        Raises:
            Unauthenticated, Refused: as `scoped`, and for an administrator of another tenant.
        """
        principal = self.authenticator.authenticate(headers, method)
        self._refuse_writing(Right.READ if operation.read_only else Right.WRITE)
        self.authenticator.authorize(principal, operation.right, SHARED, operation=operation.name)
        if principal.tenant != self.memory.settings.tenant:
            raise Refused(f"only an administrator of {self.memory.settings.tenant!r} sees and steers the whole store")
        return self.memory.admin, principal

    def answer(
        self, operation: Operation, headers: Mapping[str, str], arguments: Callable[[], Arguments], method: str = "POST"
    ) -> Data:
        """Find out who asks, hold them to the operation's right, and run it; it blocks.

        Args:
            arguments: Reads them: called once the caller is known to be allowed to ask at all.
        """
        if operation.of_store:
            admin, principal = self.administered(headers, operation, method=method)
            return operation.run(admin, arguments(), actor=principal.name)
        right = self.needed(operation.right, erases=operation.erases)
        memory = self.scoped(headers, right, method=method, operation=operation.name)
        return operation.run(memory, arguments())

    def needed(self, right: Right, *, erases: bool) -> Right:
        """Return the right that is needed here for what needs at least `right` anywhere.

        Args:
            erases: Whether it erases for good, for which the settings may ask for an administrator.
        """
        return Right.ADMIN if erases and self.memory.settings.erase_needs_admin else right

    def _refuse_writing(self, right: Right) -> None:
        if self.read_only and right > Right.READ:
            raise Refused("this server only reads; start it without --read-only to write")


def _means_shared(headers: Mapping[str, str]) -> bool:
    """Whether a request is about what all users of the tenant share.

    Raises:
        Invalid: the header says neither yes nor no.
    """
    said = headers.get(SHARED_SPACE, "no")
    if said.lower() not in SHARED_WORDS:
        raise Invalid(SHARED_SPACE, f"is {said[:40]!r}", "Say yes or no, or leave it out.")
    return SHARED_WORDS[said.lower()]


def named(headers: Mapping[str, str], header: str) -> str | None:
    """The name that a header holds, percent-encoded where it is not ASCII; None without one.

    Raises:
        Invalid: it is not ASCII, so that its encoding is not known; what it encodes is not UTF-8, or is no name.
        TooLarge: it is longer than names are.
    """
    value = headers.get(header)
    if value is None:
        return None
    if not value.isascii() or _STRAY.search(value):
        raise Invalid(
            header, "is not percent-encoded UTF-8", "Encode the name, such as %E5%B0%8F for 小 and %25 for %."
        )
    try:
        name = unquote(value, errors="strict")
    except UnicodeDecodeError as error:
        raise Invalid(header, "is not percent-encoded UTF-8", "Encode the name, such as %E5%B0%8F for 小.") from error
    return clean_name(header, name)

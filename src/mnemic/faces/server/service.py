"""What every route of the server stands on: the open memory, who asks, the pool of threads, and whether it drains."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol, TypeVar
from urllib.parse import unquote

import anyio

from mnemic.core.scope import SHARED, Shared
from mnemic.credentials.principal import Principal, Right
from mnemic.errors import Invalid, Refused
from mnemic.faces.server.verb_pool import VerbPool
from mnemic.settings import Settings

if TYPE_CHECKING:
    from mnemic.memory import Memory, ScopedMemory
    from mnemic.operations.operation import Arguments, Data, Operation

T = TypeVar("T")

USER = "mnemic-user"
TENANT = "mnemic-tenant"
SHARED_SPACE = "mnemic-shared"


class Authenticator(Protocol):
    """Tells who asks."""

    def authenticate(self, headers: Mapping[str, str]) -> Principal:
        """Return whom the credential among a request's headers (names in lower case) stands for.

        Raises:
            Unauthenticated: nobody is known by it.
        """
        ...


class LoopbackAuthenticator:
    """Takes whoever reaches this machine's loopback address for its owner, who may name any user and tenant."""

    def __init__(self, settings: Settings, right: Right = Right.ADMIN) -> None:
        self._settings, self._right = settings, right

    def authenticate(self, headers: Mapping[str, str]) -> Principal:
        """Return the owner, acting for the user and tenant of the headers, or those of the settings."""
        tenant = named(headers, TENANT) or self._settings.tenant
        user = named(headers, USER) or self._settings.user
        return Principal(name="loopback", tenant=tenant, user=user, right=self._right, shared=True)


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
        authenticator: Authenticator,
        *,
        read_only: bool = False,
        pool: VerbPool | None = None,
    ) -> None:
        self.memory, self.authenticator, self.read_only = memory, authenticator, read_only
        self.pool = VerbPool() if pool is None else pool
        self.draining = anyio.Event()
        """Set when the server is asked to end: streams that would go on for ever end by it."""

    def scoped(self, headers: Mapping[str, str], right: Right = Right.READ) -> ScopedMemory:
        """Return the handle on the memory that a request means; it blocks.

        Raises:
            Unauthenticated: nobody is known by its credential. Refused: that may not do as much, or not there.
            Invalid: it names nobody, or names them wrongly.
        """
        return self.scoped_for(self.authenticator.authenticate(headers), headers, right)

    def scoped_for(self, principal: Principal, headers: Mapping[str, str], right: Right) -> ScopedMemory:
        """Return the handle on the memory that a principal's request means."""
        if self.read_only and right > Right.READ:
            raise Refused("this server only reads; start it without --read-only to write")
        shared = headers.get(SHARED_SPACE, "").lower() in ("1", "true", "yes")
        user: str | Shared | None = SHARED if shared else named(headers, USER)
        scope = principal.scope(user, right)
        return self.memory.scope(user=scope.user, tenant=scope.tenant, actor=principal.name)

    def answer(self, operation: Operation, headers: Mapping[str, str], arguments: Callable[[], Arguments]) -> Data:
        """Find out who asks, hold them to the operation's right, and run it; it blocks.

        Args:
            arguments: Reads them: called once the caller is known to be allowed to ask at all.
        """
        principal = self.authenticator.authenticate(headers)
        if not operation.of_store:
            memory = self.scoped_for(principal, headers, operation.right)
            return operation.run(memory, arguments())
        self._refuse_store(principal, operation)
        return operation.run(self.memory.admin, arguments())

    def _refuse_store(self, principal: Principal, operation: Operation) -> None:
        """Refuse what is of the whole store to all but the administrators of its own tenant."""
        if self.read_only and not operation.read_only:
            raise Refused("this server only reads; start it without --read-only to write")
        if principal.right < operation.right:
            raise Refused(f"{principal.name!r} has the right {principal.right.name.lower()}; this needs admin")
        if principal.tenant != self.memory.settings.tenant:
            raise Refused(f"only an administrator of {self.memory.settings.tenant!r} sees and steers the whole store")


def named(headers: Mapping[str, str], header: str) -> str | None:
    """The name that a header holds, percent-encoded where it is not ASCII; None without one.

    Raises:
        Invalid: what it encodes is not UTF-8.
    """
    value = headers.get(header)
    if value is None:
        return None
    try:
        return unquote(value, errors="strict")
    except UnicodeDecodeError as error:
        raise Invalid(header, "is not percent-encoded UTF-8", "Encode the name, such as %E5%B0%8F for 小.") from error

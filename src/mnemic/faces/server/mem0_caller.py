"""Who asks by mem0's surface, and the memories that their requests name: rights and walls are those of the service."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from mnemic.core.items import State
from mnemic.errors import Invalid, NotFound
from mnemic.faces.server.mem0_filters import ANY
from mnemic.faces.server.mem0_records import read_address
from mnemic.faces.server.service import SHARED_SPACE, USER
from mnemic.operations.operation_table import OPERATIONS

if TYPE_CHECKING:
    from mnemic.admin import Admin
    from mnemic.core.ids import ItemId
    from mnemic.core.items import Version
    from mnemic.credentials.principal import Principal, Right
    from mnemic.faces.server.service import Service
    from mnemic.memory import ScopedMemory


class Mem0Caller:
    """Whoever sent one request: opens the memories that it names. Its methods block.

    Args:
        headers: By their names in lower case.
        operation: What is asked for, for the access log.
        right: What it needs.
        url: Where it was sent, for the addresses of other pages.
    """

    def __init__(
        self, service: Service, headers: Mapping[str, str], method: str, *, operation: str, right: Right, url: str = ""
    ) -> None:
        self._service, self._method, self._operation = service, method, operation
        self._headers = {name: value for name, value in headers.items() if name != SHARED_SPACE}
        self.right, self.url, self.headers = right, url, headers
        self._opened: dict[str | None, tuple[ScopedMemory, str]] = {}

    @cached_property
    def principal(self) -> Principal:
        """Who it is, acting for the user that the headers name or the credential is of."""
        return self._as(None)

    @property
    def zone(self) -> str:
        """The time zone of dates that name none."""
        return self._service.memory.settings.timezone

    def memory(self, user: str | None) -> tuple[ScopedMemory, str]:
        """Open a user's memory, by default the caller's own, and say whose it is; a request is charged once for each.

        Raises:
            Refused, OverQuota: as the service. Invalid: none is named, and the credential is of no one user.
        """
        if user not in self._opened:
            named = self._naming(user)
            scoped = self._service.scoped(named, self.right, method=self._method, operation=self._operation)
            owner = user or self._as(None).user or unquote(self._headers[USER])
            self._opened[user] = scoped, owner
        return self._opened[user]

    def refuse_everybody(self) -> None:
        """Refuse to look at the memories of all users at once; for who may name one alone, all are that one.

        Raises:
            Invalid: the caller may name any user.
        """
        if self._as(ANY).user in (None, ANY):
            problem = "is `*`, and the credential is of no one user: there is no look at everybody's memory at once"
            raise Invalid("user_id", problem, "Name the user, or some by `in`; an administrator has them listed.")

    def place(self, memory_id: str) -> tuple[ScopedMemory, str, ItemId]:
        """Open the memory of the user whose an id is, and say whose it is, and which item.

        Raises:
            NotFound: it is nothing's id, or of a user whom the credential is not of.
            Refused, OverQuota: as the service.
        """
        id, user = read_address(memory_id)
        if user is not None and self._as(user).user not in (None, user):
            raise NotFound(f"no memory {memory_id[:60]!r} here")
        return *self.memory(user), id

    def standing(self, memory_id: str) -> tuple[ScopedMemory, str, Version]:
        """Find what stands under an id. Evidence that was corrected is stood for by what corrected it.

        Raises:
            NotFound: nothing does. NotFound, Refused, OverQuota: as `place`.
        """
        memory, owner, id = self.place(memory_id)
        with suppress(NotFound):
            return memory, owner, memory.get(id)
        return memory, owner, _successor(memory, id)

    def requiring(self, right: Right) -> Mem0Caller:
        """The same caller, whose request needs more."""
        return Mem0Caller(
            self._service, self.headers, self._method, operation=self._operation, right=right, url=self.url
        )

    def admin(self, operation: str) -> Admin:
        """Open the store as a whole, as an operation of ours needs it.

        Raises:
            Refused: the caller is no administrator of it, or the operation writes where nothing is written.
        """
        admin, _ = self._service.administered(self._headers, OPERATIONS[operation], method=self._method)
        return admin

    def _as(self, user: str | None) -> Principal:
        return self._service.authenticator.authenticate(self._naming(user), self._method)

    def _naming(self, user: str | None) -> Mapping[str, str]:
        return self._headers if user is None else {**self._headers, USER: quote(user, safe="")}


def _successor(memory: ScopedMemory, id: ItemId) -> Version:
    """The version of another item that stands for one that was corrected.

    Raises:
        NotFound: nothing does.
    """
    standing = [
        version for version in memory.history(id) if version.seq_to is None and version.item.state is State.ACTIVE
    ]
    if not standing:
        raise NotFound(f"no item {id} here")
    return memory.get(standing[-1].item.id)

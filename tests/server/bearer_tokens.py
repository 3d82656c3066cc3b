"""Credentials of a test: a bearer token for each principal."""

from __future__ import annotations

from collections.abc import Mapping

from mnemic.core.scope import Scope, Shared
from mnemic.credentials.principal import Principal, Right
from mnemic.errors import Unauthenticated


class Tokens:
    """Knows who a bearer token stands for."""

    def __init__(self, **principals: Principal) -> None:
        self.principals = principals

    def authenticate(self, headers: Mapping[str, str], method: str) -> Principal:
        token = headers.get("authorization", "").removeprefix("Bearer ")
        if token not in self.principals:
            raise Unauthenticated("nobody is known by this credential")
        return self.principals[token]

    def authorize(
        self, principal: Principal, right: Right, user: str | Shared | None = None, *, operation: str = ""
    ) -> Scope:
        return principal.scope(user, right)


def principal_of(name: str, right: Right, *, user: str | None = None, tenant: str = "default") -> Principal:
    return Principal(name=name, tenant=tenant, user=user, right=right)

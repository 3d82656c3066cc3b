"""A principal: who asks, of which tenant and user, and how much they may do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from mnemic.core.checking import clean_name, did_you_mean
from mnemic.core.clock import FOREVER
from mnemic.core.scope import Scope, Shared
from mnemic.errors import Invalid, Refused


class Right(IntEnum):
    """How much a principal may do; each right includes those below it.

    READ asks and lists. WRITE also remembers, revises, forgets and erases in the memory that it opens. ADMIN also does
    what goes over everybody's memory of the tenant: keys, holds, collecting, the past, copies.
    """

    READ = 1
    WRITE = 2
    ADMIN = 3

    @classmethod
    def named(cls, name: object) -> Right:
        """Read a right from its name in lower case.

        Raises:
            Invalid: there is none of that name.
        """
        rights = {right.name.lower(): right for right in cls}
        if not isinstance(name, str) or name not in rights:
            raise Invalid("right", f"{name!r} is none", did_you_mean(str(name), rights))
        return rights[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who asks, as a credential has proved it.

    Attributes:
        name: Who the journal says did it (`actor`).
        tenant: The tenant whose memory alone is opened.
        user: The user whose memory alone is opened; None for any user of the tenant, whom each request then names.
        right: The most that may be done.
        key: The id of the credential, for the log and for quotas; "" for a token of an identity provider.
        shared: Whether the tenant's common space (`SHARED`) may be written to; every right reads it.
        expires: When the credential ends, in microseconds since 1970; `FOREVER` for never.
    """

    name: str
    tenant: str
    user: str | None
    right: Right
    key: str = ""
    shared: bool = False
    expires: int = FOREVER

    def scope(self, user: str | Shared | None = None, right: Right = Right.READ) -> Scope:
        """Return the scope of a request that needs `right` on the memory of `user`; None for the principal's own.

        Raises:
            Refused: the right is too small, the user is another, or the common space is not to be written to.
            Invalid: the principal may act for any user, and the request names none; or the name can be nobody's.
        """
        if self.right < right:
            raise Refused(f"{self.name!r} has the right {self.right.name.lower()}; this needs {right.name.lower()}")
        if isinstance(user, Shared):
            if right > Right.READ and not (self.shared or self.right is Right.ADMIN):
                raise Refused(f"{self.name!r} may not write what the tenant shares; `mnemic keys create --shared`")
            return Scope(user=user, tenant=self.tenant)
        owner = self.user if user is None else clean_name("user", user)
        if owner is None:
            raise Invalid("user", "is missing, and this credential is of no one user", "Name whose memory is meant.")
        if self.user not in (None, owner):
            raise Refused(f"{self.name!r} opens the memory of its own user alone")
        return Scope(user=owner, tenant=self.tenant)

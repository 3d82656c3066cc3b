"""Access keys: made once, listed without their secrets, revoked everywhere within two seconds, verified per request."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from mnemic.core.checking import clean_name
from mnemic.core.clock import FOREVER, Clock, SystemClock, expiry, moment, moment_or_span
from mnemic.core.ids import Entropy, SystemEntropy
from mnemic.core.mask import refuse_secrets
from mnemic.credentials.access_log import AccessLog
from mnemic.credentials.principal import Principal, Right
from mnemic.credentials.secrets_at_rest import digest, make_secret
from mnemic.credentials.verifying import CredentialVerifier, right_of
from mnemic.errors import Conflict, Invalid, NotFound
from mnemic.store.contract import Store
from mnemic.store.engine.rows import Rows
from mnemic.store.values.row_values import CredentialKind, CredentialRow

_HOUR: Final = 3_600_000_000
KEY_LIFE: Final = timedelta(days=90)
"""How long a key holds where nobody says: whoever needs one for good says so, and one that is forgotten ends."""

_KEPT: Final = 30 * 24 * _HOUR
"""How long a key that has ended stays listed, in microseconds; then the next key made takes its row out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessKey:
    """An access key as lists show it; its secret is nowhere.

    Attributes:
        id: What names it in lists and in the access log.
        name: Who acts by it: the actor in the journal.
        user: The user whose memory alone it opens; None for any user of the tenant.
        shared: Whether the tenant's common space may be written to.
        expires: When it ends by itself; None for never.
        last_used: When it was last verified, to about an hour; None for never.
        revoked: When it was revoked; None if it was not.
    """

    id: str
    name: str
    tenant: str
    user: str | None
    right: Right
    shared: bool
    created: datetime
    expires: datetime | None
    last_used: datetime | None
    revoked: datetime | None


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that was just made: the only time that its text is to be had.

    Attributes:
        text: What is presented, of the form `mk_<id>_<secret>`; not shown by `repr`.
    """

    key: AccessKey
    text: str = field(repr=False)


class Keys:
    """Makes, lists, revokes and verifies the access keys of an open store.

    Args:
        seconds: Tells seconds that never go back, for the cache of verified keys.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock | None = None,
        entropy: Entropy | None = None,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self.store, self.clock, self.entropy = store, clock or SystemClock(), entropy or SystemEntropy()
        self.log = AccessLog(self.clock)
        self.verifier = CredentialVerifier(store, self.clock, self.log, seconds)

    def create(
        self,
        name: str,
        *,
        tenant: str,
        user: str | None = None,
        right: Right = Right.WRITE,
        expires: datetime | timedelta | None = KEY_LIFE,
        shared: bool = False,
        by: str = "admin",
    ) -> NewKey:
        """Make a key; its text is in what is returned, and nowhere else.

        The user need not be known yet: the key may be made before they say their first word.

        Args:
            name: Who acts by it, as the journal will call them; no two keys that stand in a tenant have the same.
            user: The user whose memory alone it opens; None for any user of the tenant, whom each request names.
            expires: When it ends: a time, or so long after now; None for never; left out, in 90 days.
            shared: Whether it may write what the tenant shares.
            by: Who makes it, for the access log.

        Raises:
            Invalid: a name cannot be one or holds a secret, the end lies in the past, or a key with the right ADMIN,
                which goes over everybody's memory, is bound to one user.
            Conflict: another key that stands has the name: the journal could not tell whose writes are whose.
        """
        names = {"name": name, "tenant": tenant, "user": user}
        refuse_secrets(names)
        for what, given in names.items():
            if given is not None:
                clean_name(what, given)
        if user is not None and right is Right.ADMIN:
            raise Invalid("right", "admin goes over everybody's memory", "Leave the user out, or give write.")
        now = self.clock.now()
        until = FOREVER if expires is None else expiry("expires", expires, now)
        if until <= now:
            raise Invalid(
                "expires", f"{moment(until).isoformat()} is past", "Give a later time, or a span such as 90d."
            )
        id, text = make_secret(CredentialKind.KEY, self.entropy)
        row = CredentialRow(
            id, CredentialKind.KEY, digest(text), name, tenant, user, int(right), int(shared), "", now, until
        )
        self.store.transact(add_key, row, now, now - _KEPT)
        self.log.done("keys.create", key=id, name=by)
        return NewKey(_shown(row), text)

    def list(self, tenant: str) -> tuple[AccessKey, ...]:
        """The keys of a tenant by when they were made, those that ended within a month included."""
        with self.store.read() as snapshot:
            return tuple(map(_shown, snapshot.credentials(CredentialKind.KEY, tenant)))

    def any_valid(self) -> bool:
        """Whether anybody at all, of whatever tenant, holds a key that is neither revoked nor over."""
        now = self.clock.now()
        with self.store.read() as snapshot:
            rows = snapshot.credentials(CredentialKind.KEY)
        return any(not row.revoked and row.expires > now for row in rows)

    def revoke(self, key: str, *, tenant: str, by: str = "admin") -> AccessKey:
        """Revoke a key, and the browser sessions that were opened with it; every process knows within two seconds.

        One that has ended is revoked too, so that whoever keeps a list of keys need not look at the time; one that is
        revoked stays as it is.

        Args:
            key: Its id, or its name if no other key that stands has it; where none stands, the last of that name.

        Raises:
            NotFound: the tenant has no such key.
            Invalid: several keys have that name; they are listed.
        """
        row = self.store.transact(revoke_key, key, tenant, self.clock.now())
        self.verifier.forget()
        self.log.done("keys.revoke", key=row.id, name=by)
        return _shown(row)

    def verify(self, text: str) -> Principal:
        """Tell whose key this is; see `CredentialVerifier` for what it costs and what it tells.

        Raises:
            Unauthenticated: nobody's; the access log says why.
        """
        return self.verifier.verify(text, CredentialKind.KEY)


def end_of_key(field: str, given: object) -> datetime | timedelta | None:
    """Read when a key is to end: a time in ISO 8601, a span such as `90d`, or `never`.

    Raises:
        Invalid: it is none of these.
    """
    return None if isinstance(given, str) and given.strip().lower() == "never" else moment_or_span(field, given)


def add_key(rows: Rows, row: CredentialRow, now: int, ended: int) -> None:
    """Add an access key, inside a transaction, and take out those that ended before a moment.

    Raises:
        Conflict: another that stands has its name.
        TenantElsewhere: the tenant is on another server, and its keys too.
    """
    rows.spaces.tenant(row.tenant)  # held until the end, so that it does not leave meanwhile
    for other in rows.notes.credentials(("tenant", "=", row.tenant), ("kind", "=", int(CredentialKind.KEY))):
        if other.name == row.name and not other.revoked and other.expires > now:
            raise Conflict(f"key {other.id} has the name {row.name!r} already: take another, or revoke that one")
    add_credential(rows, row, ended)


def add_credential(rows: Rows, row: CredentialRow, ended: int) -> None:
    """Add a credential, inside a transaction, and take out those that ended before a moment."""
    rows.notes.drop_credentials(("expires", "<", ended))
    rows.notes.drop_credentials(("revoked", ">", 0), ("revoked", "<", ended))
    rows.notes.set_credential(row)


def revoke_key(rows: Rows, named: str, tenant: str, now: int) -> CredentialRow:
    """Revoke a key by id or name, inside a transaction, and drop the links and sessions made by it.

    Raises:
        NotFound: the tenant has no such key.
        Invalid: several have that name.
        TenantElsewhere: the tenant is on another server, and its keys too.
    """
    rows.spaces.tenant(tenant)  # held until the end, so that it does not leave meanwhile
    of_tenant = rows.notes.credentials(("tenant", "=", tenant), ("kind", "=", int(CredentialKind.KEY)))
    matching = [row for row in of_tenant if row.id == named]
    if not matching:
        of_name = [row for row in of_tenant if row.name == named]
        standing = [row for row in of_name if not row.revoked and row.expires > now]
        matching = standing or sorted(of_name, key=lambda row: row.created)[-1:]
    if not matching:
        raise NotFound(f"no key {named!r} here; `mnemic keys list` shows them")
    if len(matching) > 1:
        ids = ", ".join(row.id for row in matching)
        raise Invalid("key", f"{named!r} is the name of several: {ids}", "Say the id of one.")
    row = matching[0]._replace(revoked=matching[0].revoked or now)
    rows.notes.set_credential(row)
    rows.notes.drop_credentials(issuer=row.id)
    return row


def _shown(row: CredentialRow) -> AccessKey:
    return AccessKey(
        id=row.id, name=row.name, tenant=row.tenant, user=row.user, right=right_of(row), shared=bool(row.shared),
        created=moment(row.created), expires=None if row.expires == FOREVER else moment(row.expires),
        last_used=moment(row.used) if row.used else None, revoked=moment(row.revoked) if row.revoked else None,
    )  # fmt: skip

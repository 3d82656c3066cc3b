"""Verifies presented secrets against the store, and believes one that it has verified for a second."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from mnemic.core.clock import Clock
from mnemic.credentials.access_log import AccessLog
from mnemic.credentials.principal import Principal, Right
from mnemic.credentials.secrets_at_rest import digest, id_in, judge
from mnemic.errors import StoreCorrupt, StoreError, Unauthenticated
from mnemic.store.contract import Store
from mnemic.store.engine.rows import Rows
from mnemic.store.values.row_values import CredentialKind, CredentialRow

CACHE_SECONDS: Final = 1.0
"""For how long what was verified is believed without a look: with the look itself, less than two seconds."""
UNKNOWN: Final = "this credential is not valid; ask for another (`mnemic keys create`)"
"""What is said of every credential that proves nobody, whatever is wrong with it."""
_MOST_CACHED: Final = 4_096
_HOUR: Final = 3_600_000_000


class CredentialVerifier:
    """Tells whose credential a presented text is.

    An unknown id, a wrong secret, a revoked and an expired credential are the same answer after the same work: one look
    at the store, two hashes, one comparison in constant time. What fails is never cached.

    Args:
        seconds: Tells seconds that never go back, for the cache.
    """

    def __init__(
        self, store: Store, clock: Clock, log: AccessLog, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self.store, self.clock, self.log = store, clock, log
        self._seconds = seconds
        self._verified: dict[tuple[CredentialKind, bytes], tuple[float, Principal]] = {}
        self._noted: dict[str, int] = {}

    def verify(self, text: str, kind: CredentialKind) -> Principal:
        """Tell whose credential of this kind a text is.

        Raises:
            Unauthenticated: nobody's; the access log says why.
        """
        key, began = (kind, digest(text)), self._seconds()
        until, principal = self._verified.get(key, (0.0, None))
        if principal is not None and began < until and self.clock.now() < principal.expires:
            return principal
        row = self.look_up(text, kind)
        principal = principal_of(row)
        if len(self._verified) >= _MOST_CACHED:
            self._verified.clear()
        self._verified[key] = (began + CACHE_SECONDS, principal)
        self._note_use(row)
        return principal

    def look_up(self, text: str, kind: CredentialKind) -> CredentialRow:
        """Read the row that a text proves, never from the cache.

        Raises:
            Unauthenticated: there is none; the access log says why.
        """
        id = id_in(text)
        with self.store.read() as snapshot:
            row = snapshot.credential(id)
        rejection = judge(row, kind, text, self.clock.now())
        if row is None or rejection is not None:
            known = id if row is not None else ""  # anybody can send an id: what they choose is not written down
            self.log.refused("authenticate", "" if rejection is None else rejection.value, key=known)
            raise Unauthenticated(UNKNOWN)
        return row

    def forget(self) -> None:
        """Believe nothing without a look: something was revoked here."""
        self._verified.clear()

    def _note_use(self, row: CredentialRow) -> None:
        """Write down that a credential was used, at most once an hour; a store that cannot be written does not mind."""
        now = self.clock.now()
        if now - max(row.used, self._noted.get(row.id, 0)) < _HOUR:
            return
        self._noted[row.id] = now
        with suppress(StoreError):
            self.store.transact(note_use, row.id, now)


def principal_of(row: CredentialRow) -> Principal:
    """Make the principal that a credential proves.

    Raises:
        StoreCorrupt: somebody has changed its row.
    """
    return Principal(
        name=row.name, tenant=row.tenant, user=row.user, right=right_of(row), key=row.id, shared=bool(row.shared),
        expires=row.expires,
    )  # fmt: skip


def right_of(row: CredentialRow) -> Right:
    """Read the right of a credential.

    Raises:
        StoreCorrupt: it is none: somebody has changed the row.
    """
    try:
        return Right(row.right)
    except ValueError as error:
        raise StoreCorrupt(f"credential {row.id} has no right that there is; run `mnemic verify`") from error


def note_use(rows: Rows, id: str, now: int) -> None:
    """Write down, inside a transaction, when a credential was used; one that is gone meanwhile stays gone."""
    row = rows.notes.credential(id)
    if row is not None:
        rows.notes.set_credential(row._replace(used=now))

"""Browser sessions: a one-time link is exchanged for a cookie, and a page proves that it is ours by a second token.

The link is for a person at the terminal: it holds for a minute and opens once. What it opens is a session of twelve
hours, whose cookie no script reads (`HttpOnly`) and no other site sends (`SameSite=Strict`). Cookies know no ports, and
a page of another server on this machine counts as the same site: so whatever is not a GET or HEAD also carries a token
in a header, which our page has read from us. It is an HMAC of the word `csrf` under the cookie's own secret (the
HMAC-based token of OWASP's cheat sheet on cross-site request forgery), so that nothing more is kept for it.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from mnemic.core.clock import FOREVER, moment
from mnemic.credentials.keys import Keys
from mnemic.credentials.principal import Principal
from mnemic.credentials.secrets_at_rest import digest, make_secret
from mnemic.credentials.verifying import UNKNOWN, principal_of
from mnemic.errors import Refused, Unauthenticated
from mnemic.store.engine.rows import Rows
from mnemic.store.values.row_values import CredentialKind, CredentialRow

LINK_SECONDS: Final = 60
SESSION_SECONDS: Final = 12 * 3_600
COOKIE: Final = "mnemic_session"
CSRF_HEADER: Final = "X-CSRF-Token"
SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing, and so need no token against forgery (RFC 9110, section 9.2.1)."""
_SECOND: Final = 1_000_000
_NO_LINK: Final = "only a key, or who is at the terminal (`mnemic dashboard`), makes a link"


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session that a browser was just given.

    Attributes:
        principal: Whose it is; its `key` is the session's own id.
        text: The cookie's value, which is kept nowhere else; not shown by `repr`.
        csrf: What the page sends in `X-CSRF-Token` with whatever is not a GET.
    """

    principal: Principal
    text: str = field(repr=False)
    csrf: str = field(repr=False)
    expires: datetime

    def set_cookie(self, *, secure: bool) -> str:
        """Return the value of the header `Set-Cookie`; `secure` where the page is served over TLS."""
        parts = (f"{COOKIE}={self.text}", "Path=/", f"Max-Age={SESSION_SECONDS}", "HttpOnly", "SameSite=Strict")
        return "; ".join((*parts, "Secure") if secure else parts)


class Sessions:
    """Makes one-time links, exchanges them for browser sessions, verifies and ends those."""

    def __init__(self, keys: Keys) -> None:
        self._keys, self._store = keys, keys.store

    def link(self, principal: Principal) -> str:
        """Make the token of a link that opens once, within a minute, what the principal may do.

        A link of a key ends with that key, and so does the session that comes of it.

        Raises:
            Refused: the principal is known by something else than a key or their place at the terminal: a session that
                makes sessions would never end, and a token of an identity provider has an end that nobody here keeps.
        """
        if not principal.key and principal.expires < FOREVER:
            raise Refused(_NO_LINK)
        now = self._keys.clock.now()
        id, text = make_secret(CredentialKind.LINK, self._keys.entropy)
        row = CredentialRow(
            id, CredentialKind.LINK, digest(text), principal.name, principal.tenant, principal.user,
            int(principal.right), int(principal.shared), principal.key, now, now + LINK_SECONDS * _SECOND,
        )  # fmt: skip
        self._store.transact(add_link, row)
        self._keys.log.done("sessions.link", key=id, name=principal.name)
        return text

    def exchange(self, text: str) -> NewSession:
        """Open a session with the token of a link; the link is used up, whoever comes first.

        Raises:
            Unauthenticated: the link is not one, was used, or is over; the access log says why.
        """
        link = self._keys.verifier.look_up(text, CredentialKind.LINK)
        id, cookie = make_secret(CredentialKind.SESSION, self._keys.entropy)
        now = self._keys.clock.now()
        until = now + SESSION_SECONDS * _SECOND
        row = link._replace(id=id, kind=CredentialKind.SESSION, hash=digest(cookie), created=now, expires=until)
        opened = self._store.transact(exchange_link, link, row)
        if opened is None:
            self._keys.log.refused("authenticate", "used meanwhile", key=link.id)
            raise Unauthenticated(UNKNOWN)
        self._keys.log.done("sessions.open", key=id, name=link.name)
        return NewSession(principal_of(opened), cookie, csrf_token(cookie), moment(opened.expires))

    def verify(self, text: str) -> Principal:
        """Tell whose session a cookie is of, with a cache of a second as for keys.

        Raises:
            Unauthenticated: nobody's; the access log says why.
        """
        return self._keys.verifier.verify(text, CredentialKind.SESSION)

    def end(self, text: str) -> None:
        """End the session of a cookie: every process knows within two seconds.

        Raises:
            Unauthenticated: it is of no session.
        """
        row = self._keys.verifier.look_up(text, CredentialKind.SESSION)
        self._store.transact(end_session, row.id)
        self._keys.verifier.forget()
        self._keys.log.done("sessions.end", key=row.id, name=row.name)


def csrf_token(cookie: str) -> str:
    """Make the token that a page of this session sends in `X-CSRF-Token`: 64 hexadecimal digits."""
    return hmac.new(cookie.encode(errors="surrogatepass"), b"csrf", hashlib.sha256).hexdigest()


def refuse_forged(method: str, cookie: str, presented: str) -> None:
    """Refuse a request that came with a session's cookie and changes something, but not from a page of that session.

    Args:
        method: The method of the request, such as POST.
        cookie: The session's cookie, verified.
        presented: What came in `X-CSRF-Token`; "" for nothing.

    Raises:
        Refused: the token is missing or another session's.
    """
    fits = hmac.compare_digest(csrf_token(cookie).encode(), presented.encode(errors="surrogatepass"))
    if method.upper() not in SAFE_METHODS and not fits:
        raise Refused(f"the header {CSRF_HEADER} is missing or not of this session; load the page again")


def add_link(rows: Rows, row: CredentialRow) -> None:
    """Add a link, inside a transaction, and take out links and sessions that are over.

    Raises:
        Refused: what it is issued by is no key, or ended meanwhile.
    """
    issuer = rows.notes.credential(row.issuer) if row.issuer else None
    if row.issuer and (issuer is None or issuer.kind != CredentialKind.KEY or issuer.revoked):
        raise Refused(_NO_LINK)
    for kind in (CredentialKind.LINK, CredentialKind.SESSION):
        rows.notes.drop_credentials(("expires", "<=", row.created), kind=int(kind))
    rows.notes.set_credential(row)


def exchange_link(rows: Rows, link: CredentialRow, session: CredentialRow) -> CredentialRow | None:
    """Take a link out and add a session, inside a transaction, which lasts no longer than the key that issued it.

    None if the link is not there any more: somebody else was quicker, or its key was revoked.
    """
    if rows.notes.credential(link.id) is None:
        return None
    rows.notes.drop_credentials(id=link.id)
    issuer = rows.notes.credential(link.issuer) if link.issuer else None
    opened = session if issuer is None else session._replace(expires=min(session.expires, issuer.expires))
    rows.notes.set_credential(opened)
    return opened


def end_session(rows: Rows, id: str) -> None:
    """Take a session out, inside a transaction."""
    rows.notes.drop_credentials(id=id)

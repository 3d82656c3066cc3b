"""The authenticator: from the headers of a request to a principal, and from a principal to what they may do.

A server asks it before every verb. It takes one credential from a request and lets that alone decide: a wrong key is
refused though a good cookie came with it, since falling back would let a page act by a cookie that it did not mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from mnemic.core.scope import Scope, Shared
from mnemic.core.uninterrupted import import_whole
from mnemic.credentials.browser_sessions import COOKIE, CSRF_HEADER, Sessions, refuse_forged
from mnemic.credentials.keys import Keys
from mnemic.credentials.principal import Principal, Right
from mnemic.credentials.quotas import Quotas
from mnemic.errors import Invalid, OverQuota, Refused, Unauthenticated
from mnemic.settings import Settings

if TYPE_CHECKING:
    from mnemic.credentials.identity_tokens import TokenVerifier

CHALLENGE: Final = 'Bearer realm="mnemic"'
"""The value of `WWW-Authenticate` beside an answer 401 (RFC 6750, section 3)."""
_SCHEMES: Final = frozenset({"bearer", "token"})


class Authenticator:
    """Tells who sent a request, and refuses what they may not do.

    Attributes:
        keys, sessions: Where keys and browser sessions are made and ended.
    """

    def __init__(self, keys: Keys, *, tokens: TokenVerifier | None = None, quotas: Quotas | None = None) -> None:
        self.keys, self.sessions = keys, Sessions(keys)
        self._tokens, self._quotas, self._log = tokens, quotas or Quotas(), keys.log

    @classmethod
    def from_settings(cls, keys: Keys, settings: Settings) -> Authenticator:
        """Make the authenticator that the settings describe: tokens of an identity provider if one is named, quotas.

        Raises:
            Invalid: the settings of the identity provider contradict each other, or PyJWT is not installed.
        """
        quotas = Quotas(settings.key_requests, settings.key_writes)
        if not settings.jwt_issuer:
            return cls(keys, quotas=quotas)
        import_whole("mnemic.credentials.identity_tokens")
        from mnemic.credentials.identity_tokens import TokenVerifier

        return cls(keys, tokens=TokenVerifier.from_settings(settings, keys.clock, keys.log), quotas=quotas)

    def authenticate(self, headers: Mapping[str, str], method: str = "POST") -> Principal:
        """Tell who sent a request: `Authorization: Bearer` or `Token`, else `X-API-Key`, else the session's cookie.

        Args:
            headers: The headers by name, in any case.
            method: The request's method; with a cookie, whatever is not a GET or HEAD needs the header `X-CSRF-Token`.

        Raises:
            Unauthenticated: nobody is known by it, or no credential came; the access log says why.
            Refused: a cookie came without the session's token against forgery.
        """
        given = {name.lower(): value for name, value in headers.items()}
        if "authorization" in given:
            scheme, _, text = given["authorization"].strip().partition(" ")
            return self._by_text(text.strip() if scheme.lower() in _SCHEMES else "")
        if "x-api-key" in given:
            return self._by_text(given["x-api-key"].strip())
        cookie = _session_cookie(given.get("cookie", ""))
        if not cookie:
            self._log.refused("authenticate", "no credential")
            raise Unauthenticated("no credential came with the request; send `Authorization: Bearer mk_...`")
        principal = self.sessions.verify(cookie)
        try:
            refuse_forged(method, cookie, given.get(CSRF_HEADER.lower(), ""))
        except Refused:
            self._log.refused("authenticate", "forged or without token", key=principal.key, name=principal.name)
            raise
        return principal

    def authorize(
        self, principal: Principal, right: Right, user: str | Shared | None = None, *, operation: str = ""
    ) -> Scope:
        """Return the scope that a request works in, and charge its quotas.

        Args:
            right: What the operation needs.
            user: Whose memory; None for the principal's own user.
            operation: Its name, for the access log.

        Raises:
            Refused: the right is too small, or the memory is another's.
            Invalid: the principal may act for any user, and none is named.
            OverQuota: the principal has asked as often as it may for now.
        """
        try:
            scope = principal.scope(user, right)
            self._quotas.charge(principal, writes=right > Right.READ)
        except (Refused, Invalid, OverQuota) as error:
            why = {Invalid: "no user named", OverQuota: "over quota"}.get(type(error), "not allowed")
            self._log.refused(operation or "authorize", why, key=principal.key, name=principal.name)
            raise
        return scope

    def _by_text(self, text: str) -> Principal:
        if self._tokens is not None and text.count(".") == 2:
            return self._tokens.verify(text)
        return self.keys.verify(text)


def _session_cookie(header: str) -> str:
    """Read the value of the session's cookie from the header `Cookie`; "" for none, or for several that differ."""
    pairs = (part.strip().partition("=") for part in header.split(";"))
    values = {value for name, _, value in pairs if name == COOKIE}
    return values.pop() if len(values) == 1 else ""

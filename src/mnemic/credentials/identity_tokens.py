"""Tokens of an identity provider (JWT, RFC 7519), off unless the settings name an issuer.

Held to RFC 8725, the best current practice: the settings choose the algorithms and never the token (3.1), `none` is no
algorithm, keys are of the algorithm's own type and come from the settings alone (3.5, 3.10), issuer and audience are
required (3.8, 3.9). PyJWT checks signature, issuer and audience; times are checked here, by the store's clock.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from mnemic.core.checking import clean_name
from mnemic.core.clock import Clock
from mnemic.core.uninterrupted import import_whole
from mnemic.credentials.access_log import AccessLog
from mnemic.credentials.key_sets import KeySet, KeySetError
from mnemic.credentials.principal import Principal, Right
from mnemic.credentials.verifying import UNKNOWN
from mnemic.errors import Invalid, Unauthenticated
from mnemic.settings import Settings

LEEWAY_SECONDS: Final = 60
"""How far the provider's clock and ours may lie apart."""
SYMMETRIC: Final = frozenset({"HS256", "HS384", "HS512"})
ASYMMETRIC: Final = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
)
_LONGEST: Final = 16 * 1024
"""Characters of a token; servers take no longer headers."""
_LEAST_SECRET: Final = 32
"""Bytes of a shared secret: as many as HS256 gives out (RFC 7518, section 3.2)."""
_INSTALL: Final = "Install it: `pip install 'mnemic[jwt]'`."


class _RejectedError(Exception):
    """Why a token proves nobody, for the log alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenVerifier:
    """Tells whose token of the identity provider a text is.

    Attributes:
        keys: The provider's public keys; None with a shared secret.
        algorithms: Those that a token may be signed by: all asymmetric, or with a secret all symmetric.
        user, tenant, right: The claims that say so; `tenant` "" for the tenant `default_tenant`.
    """

    issuer: str
    audience: str
    keys: KeySet | None
    algorithms: tuple[str, ...]
    clock: Clock
    log: AccessLog
    user: str = "sub"
    tenant: str = ""
    right: str = "mnemic_right"
    default_tenant: str = "default"
    secret: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if not self.audience:
            raise Invalid("jwt_audience", "is missing", "Say whom the provider makes tokens out to for this server.")
        if (self.keys is None) == (not self.secret):
            raise Invalid("jwt_keys", "and jwt_secret are both given, or neither is", "Give just one of them.")
        known = ASYMMETRIC if self.keys is not None else SYMMETRIC
        for name in self.algorithms or ("",):
            if name not in known:
                raise Invalid("jwt_algorithms", f"{name!r} is none to take", f"There are: {', '.join(sorted(known))}.")
        if self.secret and len(self.secret.encode()) < _LEAST_SECRET:
            raise Invalid("jwt_secret", f"is shorter than {_LEAST_SECRET} bytes", "Make one: `openssl rand -hex 32`.")
        try:
            import_whole("jwt.algorithms")
            from jwt.algorithms import has_crypto
        except ImportError as error:
            raise Invalid("jwt_issuer", "needs PyJWT", _INSTALL) from error
        if not has_crypto:
            raise Invalid("jwt_issuer", "needs the package cryptography beside PyJWT", _INSTALL)

    @classmethod
    def from_settings(cls, settings: Settings, clock: Clock, log: AccessLog) -> TokenVerifier:
        """Make the verifier that the settings describe.

        Raises:
            Invalid: they contradict each other, a file cannot be read, or PyJWT is not installed.
        """
        usual = ("HS256",) if settings.jwt_secret else ("RS256", "ES256", "EdDSA")
        return cls(
            issuer=settings.jwt_issuer, audience=settings.jwt_audience,
            keys=KeySet.at(settings.jwt_keys) if settings.jwt_keys else None,
            algorithms=settings.jwt_algorithms or usual,
            clock=clock, log=log, user=settings.jwt_user, tenant=settings.jwt_tenant, right=settings.jwt_right,
            default_tenant=settings.tenant, secret=_read_secret(settings.jwt_secret),
        )  # fmt: skip

    def verify(self, text: str) -> Principal:
        """Tell whose token this is; one with the right ADMIN is bound to no user.

        Raises:
            Unauthenticated: nobody's; the access log says why.
        """
        try:
            return self._principal(self._claims(text))
        except _RejectedError as error:
            self.log.refused("authenticate", f"token: {error}")
            raise Unauthenticated(UNKNOWN) from None

    def _claims(self, text: str) -> Mapping[str, Any]:
        """Read the claims of a token whose signature, issuer, audience and times are right."""
        import_whole("jwt")
        import jwt

        if len(text) > _LONGEST:
            raise _RejectedError("too long")
        try:
            header = jwt.get_unverified_header(text)
            algorithm = header.get("alg")
            if algorithm not in self.algorithms:
                raise _RejectedError("algorithm not allowed")
            key: Any = self.secret
            if self.keys is not None:
                key = self.keys.key(header.get("kid"), algorithm)
            claims: Mapping[str, Any] = jwt.decode(
                text, key, algorithms=[algorithm], audience=self.audience, issuer=self.issuer, options=_OPTIONS
            )
        except KeySetError as error:
            raise _RejectedError(str(error)) from error
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError) as error:
            raise _RejectedError(type(error).__name__) from error
        self._check_times(claims)
        return claims

    def _check_times(self, claims: Mapping[str, Any]) -> None:
        now = self.clock.now() / 1e6
        if _seconds(claims, "exp") + LEEWAY_SECONDS <= now:
            raise _RejectedError("expired")
        for name in ("nbf", "iat"):
            if name in claims and _seconds(claims, name) - LEEWAY_SECONDS > now:
                raise _RejectedError("not valid yet")

    def _principal(self, claims: Mapping[str, Any]) -> Principal:
        user = _named(claims, self.user)
        tenant = _named(claims, self.tenant) if self.tenant else self.default_tenant
        right = _right(claims.get(self.right))
        expires = int((_seconds(claims, "exp") + LEEWAY_SECONDS) * 1e6)
        bound = None if right is Right.ADMIN else user
        return Principal(name=user, tenant=tenant, user=bound, right=right, expires=expires)


_OPTIONS: Final[Any] = {
    "require": ["exp", "iss", "aud"],
    "verify_exp": False, "verify_nbf": False, "verify_iat": False, "verify_sub": False, "verify_jti": False,
    "strict_aud": False, "enforce_minimum_key_length": True,
}  # fmt: skip
"""What PyJWT checks beside the signature; times are checked here."""


def _read_secret(said: str) -> str:
    if not said.startswith("@"):
        return said
    try:
        return Path(said[1:]).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        problem = f"names a file that cannot be read ({type(error).__name__})"
        raise Invalid("jwt_secret", problem, "Write @ and the path of a file with the secret alone.") from None


def _seconds(claims: Mapping[str, Any], name: str) -> float:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or abs(value) > 1e11:
        raise _RejectedError(f"claim {name} is no time")
    return float(value)


def _named(claims: Mapping[str, Any], name: str) -> str:
    try:
        return clean_name(name, claims.get(name))
    except Invalid:
        raise _RejectedError("a claim that names somebody is missing or no name") from None


def _right(said: object) -> Right:
    """The highest right that a claim names, among whatever else it says."""
    words = said.split() if isinstance(said, str) else said if isinstance(said, list) else []
    rights = {right.name.lower(): right for right in Right}
    named = [rights[word] for word in words if isinstance(word, str) and word in rights]
    if not named:
        raise _RejectedError("no right is claimed")
    return max(named)

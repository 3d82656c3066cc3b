"""The public keys of an identity provider (JWKS, RFC 7517): from a file, or fetched from a URL of the settings."""

from __future__ import annotations

import http.client
import json
import ssl
import time
import urllib.parse
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from mnemic.core.mutex import Mutex
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Invalid

FETCH_SECONDS: Final = 5.0
"""Longest that a provider is waited for at each step of an answer."""
FRESH_SECONDS: Final = 600.0
"""After how many seconds keys are read again: one that the provider takes back is believed no longer than that."""
STALE_SECONDS: Final = 3_600.0
"""For how long keys are believed while they cannot be read again."""
AGAIN_SECONDS: Final = 30.0
"""Shortest time between two reads: tokens with ids of keys that nobody knows make no storm of requests."""
_MOST_BYTES: Final = 1 << 20
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_KEY_TYPES: Final = {"R": "RSA", "P": "RSA", "E": "EC"}
"""The type of key by the first letter of an algorithm; `EdDSA` is told apart before."""


class KeySetError(Exception):
    """There is no key for a token: the set cannot be had, or holds none that fits; for the log alone."""


class KeySet:
    """Gives the public key that a token names, and reads the provider's keys again from time to time.

    Args:
        read: Reads the set's JSON anew.
        seconds: Tells seconds that never go back.
    """

    def __init__(self, read: Callable[[], bytes], seconds: Callable[[], float] = time.monotonic) -> None:
        self._read, self._seconds = read, seconds
        self._keys: tuple[Mapping[str, Any], ...] = ()
        self._fresh_until = self._stale_at = self._again_at = seconds()
        self._reading = Mutex()

    @classmethod
    def at(cls, place: str) -> KeySet:
        """Make the set of a file, which is read at once, or of a URL, which is fetched when the first token comes.

        Raises:
            Invalid: the file holds no set of keys, or the URL is neither https nor of this machine.
        """
        if "://" in place:
            return cls(_fetcher(place))
        path = Path(place).expanduser()
        keys = cls(path.read_bytes)
        try:
            _parsed(path.read_bytes())
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise Invalid("jwt_keys", f"{path} cannot be read: {why}", "Name a file with a JWKS, or a URL.") from error
        return keys

    def key(self, id: object, algorithm: str) -> Any:
        """Return the public key of an id for an algorithm, as PyJWT takes it; without an id, the only one that fits.

        Raises:
            KeySetError: there is none, or the set cannot be read.
        """
        now = self._seconds()
        fitting = self._fitting(id, algorithm)
        due = (now >= self._fresh_until or not fitting) and now >= self._again_at
        if due and not (self._keys and self._reading.held):  # who has keys goes on with them while another reads
            with self._reading:
                if now >= self._again_at:
                    self._refresh(now)
            fitting = self._fitting(id, algorithm)
        if now >= self._stale_at:
            raise KeySetError("the provider's keys cannot be read")
        if len(fitting) != 1:
            raise KeySetError("key id unknown" if id is not None else "no key id, and not just one key")
        import_whole("jwt")
        import jwt

        try:
            return jwt.PyJWK(dict(fitting[0]), algorithm).key
        except jwt.PyJWTError as error:
            raise KeySetError(f"the provider's key is damaged ({type(error).__name__})") from error

    def _fitting(self, id: object, algorithm: str) -> list[Mapping[str, Any]]:
        """The keys of an id that are of the algorithm's type, and neither for encryption nor for another algorithm."""
        kind = "OKP" if algorithm == "EdDSA" else _KEY_TYPES.get(algorithm[0], "")
        return [
            key
            for key in self._keys
            if key.get("kty") == kind
            and key.get("use", "sig") == "sig"
            and key.get("alg", algorithm) == algorithm
            and (id is None or key.get("kid") == id)
        ]

    def _refresh(self, now: float) -> None:
        """Read the keys anew; where that fails those that are known stay, until they are stale."""
        self._again_at = now + AGAIN_SECONDS
        try:
            self._keys = _parsed(self._read())
        except (OSError, ValueError, http.client.HTTPException):
            return
        self._fresh_until, self._stale_at = now + FRESH_SECONDS, now + STALE_SECONDS


def _parsed(text: bytes) -> tuple[Mapping[str, Any], ...]:
    """Read the keys of a set.

    Raises:
        ValueError: it is none.
    """
    try:
        keys = json.loads(text)["keys"]
    except (LookupError, TypeError, RecursionError) as error:
        raise ValueError("it is no set of keys (JWKS)") from error
    if not isinstance(keys, list) or not keys or not all(isinstance(key, dict) for key in keys):
        raise ValueError("it is no set of keys (JWKS)")
    return tuple(keys)


def _fetcher(url: str) -> Callable[[], bytes]:
    """Make what fetches a URL, which follows no redirect and sends nothing of ours.

    Raises:
        Invalid: it is not https, but for this machine's own address.
    """
    parts = urllib.parse.urlsplit(url)
    local = parts.scheme == "http" and parts.hostname in _LOOPBACK
    if not parts.hostname or parts.username is not None or not (parts.scheme == "https" or local):
        raise Invalid("jwt_keys", "is no https URL", "Give the provider's jwks_uri, as https://host/path.")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return partial(_fetched, parts.hostname, parts.port, path, secure=not local)


def _fetched(host: str, port: int | None, path: str, *, secure: bool) -> bytes:
    """Fetch a text of at most a mebibyte.

    Raises:
        OSError, HTTPException: it cannot be had.
        ValueError: the answer is no success, or too long.
    """
    connection = (
        http.client.HTTPSConnection(host, port, timeout=FETCH_SECONDS, context=ssl.create_default_context())
        if secure
        else http.client.HTTPConnection(host, port, timeout=FETCH_SECONDS)
    )
    try:
        connection.request("GET", path, headers={"Accept": "application/json"})
        answer = connection.getresponse()
        text = answer.read(_MOST_BYTES + 1)
        if answer.status != 200 or len(text) > _MOST_BYTES:
            raise ValueError(f"answered {answer.status} with {len(text)} bytes")
        return text
    finally:
        connection.close()

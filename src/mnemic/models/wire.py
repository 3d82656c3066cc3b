"""Calls any endpoint: its address, a key that goes to no other host, patience while it is busy.

Redirects are not followed, so the key goes to no other host than the one that was named; a proxy is not asked.
"""

from __future__ import annotations

import http.client
import itertools
import json
import ssl
import time
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Final, TypeVar

from mnemic.errors import Invalid, ModelError
from mnemic.settings import OPENAI, openai_variables

T = TypeVar("T")

TRIES: Final = 4
"""How often a request is sent that meets a busy or broken server."""

SPELLING: Final = "Write openai:MODEL@https://host/v1, or openai:MODEL for OpenAI's own."

_FIRST_PAUSE: Final = 0.5
"""Seconds before the second try; each pause is twice the one before, or what the server asks for."""

_LONGEST_PAUSE: Final = 30.0
_ANSWER_BYTES: Final = 64 << 20
_LINE_BYTES: Final = 1 << 20
_SAID_BYTES: Final = 1 << 16
_SHOWN: Final = 200
"""Characters of a server's complaint that are passed on."""


class Busy(Exception):
    """The server may do better at another try; after `pause` seconds, if it says so."""

    def __init__(self, problem: str, pause: float | None = None) -> None:
        super().__init__(problem)
        self.pause = pause


@dataclass(frozen=True, slots=True)
class Address:
    """Where an endpoint is: the host of a URL, and a path below its own."""

    secure: bool
    host: str
    port: int | None
    path: str

    @classmethod
    def parsed(cls, url: str, below: str, field: str) -> Address:
        """From the URL of an API, up to and with its version, and the path of one of its methods.

        Args:
            field: The setting that holds the URL, for errors and for the name of its key.
        """
        try:
            parts = urllib.parse.urlsplit(url)
            port = parts.port
        except ValueError:
            told = "the URL has a host or a port that cannot be"
            raise Invalid(field, told, SPELLING) from None  # the error may quote half a password
        if parts.username is not None or parts.query:
            said = "a password" if parts.query == "" else "a query"
            raise Invalid(field, f"the URL holds {said}", f"Give the key as MNEMIC_{field.upper()}_KEY.")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise Invalid(field, "the URL names no host", SPELLING)
        return cls(parts.scheme == "https", parts.hostname, port, parts.path.rstrip("/") + below)

    def connect(self, timeout: float) -> http.client.HTTPConnection:
        """Make a connection that is not yet open."""
        if self.secure:
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(self.host, self.port, timeout=timeout, context=context)
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)


class Reply(AbstractContextManager["Reply"]):
    """An answer whose head said 200; its body is yet to be read. Leaving it hangs up."""

    def __init__(self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse, name: str) -> None:
        self._connection, self._response, self._name = connection, response, name
        self.kind = response.headers.get_content_type()

    def read(self) -> bytes:
        """Read the whole body.

        Raises:
            Busy: it broke off.
            ModelError: it is of no reasonable size.
        """
        try:
            body = self._response.read(_ANSWER_BYTES + 1)
        except (OSError, http.client.HTTPException) as error:
            raise Busy(f"no answer ({type(error).__name__}: {error})") from error
        if len(body) > _ANSWER_BYTES:
            raise ModelError(f"{self._name}: answered with more than {_ANSWER_BYTES >> 20} MiB")
        return body

    def lines(self) -> Iterator[bytes]:
        """Yield lines as they come, without their ends; an answer that breaks off just ends.

        Raises:
            ModelError: it is of no reasonable size.
        """
        left = _ANSWER_BYTES
        while line := self._line():
            left -= len(line)
            if left < 0 or len(line) == _LINE_BYTES:
                raise ModelError(f"{self._name}: answered with a line or a text of no reasonable size")
            yield line.rstrip(b"\r\n")

    def _line(self) -> bytes:
        try:
            return self._response.readline(_LINE_BYTES)
        except (OSError, http.client.HTTPException):
            return b""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._response.close()
        self._connection.close()


class EndpointMethod:
    """One method of an endpoint, called with patience. Safe for many threads; every call is a connection of its own.

    Args:
        url: Of the API, up to and with its version: `https://host/v1`.
        below: The path of the method, such as `/embeddings`.
        field: The setting that holds the URL; its key is the setting of that name with `_key`.
        name: How errors call the model.
        key: Sent as a bearer token; in no message, even if the server says it back.
        timeout: Seconds that one try may be silent.
        sleep: Waits between tries.

    Raises:
        Invalid: the URL is none, or the key cannot be sent.
    """

    def __init__(
        self,
        url: str,
        below: str,
        *,
        field: str,
        name: str,
        key: str = "",
        timeout: float = 60.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._address = Address.parsed(url, below, field)
        if not all("!" <= character <= "~" for character in key):
            raise Invalid(f"{field}_key", "holds a blank or a character that no key has", "Copy the key once more.")
        self._field, self._name, self._key = field, name, key
        self._spellings = sorted({key, key.replace("/", "\\/"), json.dumps(key)[1:-1]} - {""}, key=len, reverse=True)
        self._timeout, self._sleep = timeout, sleep

    def patiently(self, attempt: Callable[[], T]) -> T:
        """Call `attempt` up to `TRIES` times while it raises `Busy`; return what it returns.

        Raises:
            ModelError: it was busy every time.
        """
        for tried in itertools.count(1):
            try:
                return attempt()
            except Busy as busy:
                if tried == TRIES:
                    raise ModelError(f"{self._name}: {busy}, {TRIES} times in a row") from busy
                pause = _FIRST_PAUSE * 2 ** (tried - 1) if busy.pause is None else busy.pause
                self._sleep(min(pause, _LONGEST_PAUSE))
        raise AssertionError

    def post(self, body: Mapping[str, object]) -> Reply:
        """Send one request; return the answer.

        Raises:
            Busy: another try may do better (no answer, 408, 409, 429, 5xx).
            ModelError: the endpoint refused.
        """
        connection = self._address.connect(self._timeout)
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        try:
            connection.request("POST", self._address.path, json.dumps(body).encode(), headers)
            response = connection.getresponse()
            if response.status == 200:
                return Reply(connection, response, self._name)
            body_text = response.read(_SAID_BYTES).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            body_text = self.excerpt(str(error))
            raise Busy(f"no answer ({type(error).__name__}: {body_text})") from None  # the error may quote the key
        except BaseException:
            connection.close()
            raise
        connection.close()
        raise self._complaint(response, body_text)

    def _complaint(self, response: http.client.HTTPResponse, body: str) -> Busy | ModelError:
        status = response.status
        problem = f"answered {status} {self.excerpt(body)}".rstrip()
        if status in (408, 409, 429) or status >= 500:
            return Busy(problem, _pause(response.getheader("Retry-After")))
        if status in (401, 403):
            problem += f"; is MNEMIC_{self._field.upper()}_KEY the right key?"
        return ModelError(f"{self._name}: {problem}")

    def excerpt(self, text: str) -> str:
        """Cut what a server says to its beginning, without the key."""
        for spelling in self._spellings:
            text = text.replace(spelling, "***")
        return text[:_SHOWN].strip()


def model_and_url(details: str, field: str) -> tuple[str, str]:
    """Split `MODEL@https://host/v1`; of `MODEL` alone the URL is OpenAI's own, or what its variable says.

    What stands behind a "#" stays at the end of the URL.

    Raises:
        Invalid: the model is missing.
    """
    model, found, url = details.partition("@http")
    url = f"http{url}"
    if not found:
        model, mark, options = details.partition("#")
        url = openai_variables()[0] + mark + options
    if not model or "://" in model or (not found and "@" in model):  # it is not shown: there may be a password in it
        raise Invalid(field, "what follows openai: is no model, nor a model at a URL", SPELLING)
    return model, url


def key_for(url: str, key: str, field: str) -> str:
    """The key for an endpoint: what the setting says; for the address that OpenAI's variables name, theirs.

    Raises:
        Invalid: it is OpenAI's own, and there is none.
    """
    own, owned = openai_variables()
    if key or url.rstrip("/") != own:
        return key
    if not owned and own == OPENAI:
        raise Invalid(field, "is OpenAI's, which wants a key", f"Set OPENAI_API_KEY or MNEMIC_{field.upper()}_KEY.")
    return owned


def _pause(retry_after: str | None) -> float | None:
    """Read the seconds that a server asks for; a date is not understood."""
    return float(retry_after) if retry_after is not None and retry_after.strip().isdecimal() else None

"""Calls any endpoint: its address, a key that goes to no other host, and what it answers.

Redirects are not followed, so the key goes to no other host than the one that was named; a proxy is not asked.
"""

from __future__ import annotations

import functools
import http.client
import json
import ssl
import urllib.parse
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final

from mnemic.errors import Invalid, ModelError
from mnemic.models.patience import Busy, asked_pause
from mnemic.settings import client_variables

SPELLING: Final = "Write openai:MODEL@https://host/v1, or openai:MODEL for OpenAI's own."

_ANSWER_BYTES: Final = 64 << 20
_LINE_BYTES: Final = 1 << 20
_SAID_BYTES: Final = 1 << 16
_SHOWN: Final = 200
"""Characters of a server's complaint that are passed on."""


class EndpointRefusal(ModelError):
    """The endpoint will not do what was asked, however often it is asked.

    Attributes:
        status: The status of its answer.
        said: All that it said, without the key.
    """

    def __init__(self, message: str, status: int, said: str) -> None:
        super().__init__(message)
        self.status = status
        self.said = said


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
            problem = "the URL has a host or a port that cannot be"
            raise Invalid(field, problem, SPELLING) from None  # the error may quote half a password
        if parts.username is not None or parts.query:
            said = "a password" if parts.query == "" else "a query"
            raise Invalid(field, f"the URL holds {said}", f"Give the key as MNEMIC_{field.upper()}_KEY.")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise Invalid(field, "the URL names no host", SPELLING)
        return cls(parts.scheme == "https", parts.hostname, port, parts.path.rstrip("/") + below)

    def connect(self, timeout: float) -> http.client.HTTPConnection:
        """Make a connection that is not yet open."""
        if self.secure:
            return http.client.HTTPSConnection(self.host, self.port, timeout=timeout, context=_trusted())
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)


@functools.cache
def _trusted() -> ssl.SSLContext:
    """The certificates that this machine trusts, read once: that takes longer than a call's own work."""
    return ssl.create_default_context()


class Response(AbstractContextManager["Response"]):
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
    """One method of an endpoint. Safe for many threads; every call is a connection of its own.

    Args:
        url: Of the API, up to and with its version: `https://host/v1`.
        below: The path of the method, such as `/embeddings`.
        field: The setting that holds the URL; its key is the setting of that name with `_key`.
        name: How errors call the model.
        key: Sent as a bearer token; in no message, even if the server says it back.
        timeout: Seconds that one try may be silent.

    Raises:
        Invalid: the URL is none, or the key cannot be sent.
    """

    def __init__(self, url: str, below: str, *, field: str, name: str, key: str = "", timeout: float = 60.0) -> None:
        self._address = Address.parsed(url, below, field)
        self._secret = Secret(key, field)
        self._field, self._name, self._timeout = field, name, timeout

    def post(self, body: Mapping[str, object]) -> Response:
        """Send one request; return the answer.

        Raises:
            Busy: another try may do better (no answer, 408, 409, 429, 5xx).
            EndpointRefusal: no other try will do better.
        """
        connection = self._address.connect(self._timeout)
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self._secret.key:
            headers["Authorization"] = f"Bearer {self._secret.key}"
        try:
            connection.request("POST", self._address.path, json.dumps(body).encode(), headers)
            response = connection.getresponse()
            if response.status == 200:
                return Response(connection, response, self._name)
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

    def _complaint(self, response: http.client.HTTPResponse, body: str) -> Busy | EndpointRefusal:
        return complaint(self._name, response.status, dict(response.headers), body, self._secret)

    def excerpt(self, text: str) -> str:
        """Cut what a server says to its beginning, without the key."""
        return self._secret.excerpt(text)


class Secret:
    """A key, and what a server says without it.

    Args:
        field: The setting that names the model; the key is the setting of that name with `_key`.

    Raises:
        Invalid: it cannot be sent.
    """

    def __init__(self, key: str, field: str) -> None:
        self.key, self.setting = key, f"{field}_key"
        if not all("!" <= character <= "~" for character in key):
            raise Invalid(self.setting, "holds a blank or a character that no key has", "Copy the key once more.")
        self._spellings = sorted({key, key.replace("/", "\\/"), json.dumps(key)[1:-1]} - {""}, key=len, reverse=True)

    def __repr__(self) -> str:
        return "Secret(***)"

    def masked(self, text: str) -> str:
        """Return what a server says without the key."""
        for spelling in self._spellings:
            text = text.replace(spelling, "***")
        return text

    def excerpt(self, text: str) -> str:
        """Cut what a server says to its beginning, without the key."""
        return self.masked(text)[:_SHOWN].strip()


def complaint(name: str, status: int, headers: Mapping[str, str], body: str, secret: Secret) -> Busy | EndpointRefusal:
    """Make the error that an answer with another status than 200 means."""
    problem = f"answered {status} {secret.excerpt(body)}".rstrip()
    if status in (408, 409, 429) or status >= 500:
        return Busy(problem, asked_pause(headers))
    if status in (401, 403):
        problem += f"; is MNEMIC_{secret.setting.upper()} the right key?"
    return EndpointRefusal(f"{name}: {problem}", status, secret.masked(body))


@dataclass(frozen=True, slots=True)
class Company:
    """A company whose protocol others speak too.

    Attributes:
        kind: What the names of its models begin with; `variables`, the variables of its own clients.
        url: Where its own API is.
    """

    kind: str
    name: str
    url: str
    variables: str

    @property
    def spelling(self) -> str:
        """How its models are named."""
        return f"Write {self.kind}:MODEL@https://host/v1, or {self.kind}:MODEL for {self.name}'s own."


OPENAI: Final = Company("openai", "OpenAI", "https://api.openai.com/v1", "OPENAI")
ANTHROPIC: Final = Company("anthropic", "Anthropic", "https://api.anthropic.com", "ANTHROPIC")


def model_and_url(details: str, field: str, company: Company = OPENAI) -> tuple[str, str]:
    """Split `MODEL@https://host/v1`; of `MODEL` alone the URL is the company's own, or what its variable says.

    What stands behind a "#" stays at the end of the URL.

    Raises:
        Invalid: the model is missing.
    """
    model, scheme, url = details.partition("@http")
    url = f"http{url}"
    if not scheme:
        model, mark, options = details.partition("#")
        url = client_variables(company.variables, company.url)[0] + mark + options
    if not model or "://" in model or (not scheme and "@" in model):  # it is not shown: there may be a password in it
        raise Invalid(field, f"what follows {company.kind}: is no model, nor a model at a URL", company.spelling)
    return model, url


def key_for(url: str, key: str, field: str, company: Company = OPENAI) -> str:
    """The key for an endpoint: what the setting says; for the address that the company's variables name, theirs.

    A setting that begins with `@` names the file that holds the key.

    Raises:
        Invalid: it is the company's own, and there is none; or the file cannot be read.
    """
    if key.startswith("@"):
        return _key_in(key[1:], field)
    own, owned = client_variables(company.variables, company.url)
    if key or url.rstrip("/") != own:
        return key
    if not owned and own == company.url:
        remedy = f"Set {company.variables}_API_KEY or MNEMIC_{field.upper()}_KEY."
        raise Invalid(field, f"is {company.name}'s, which wants a key", remedy)
    return owned


def _key_in(file: str, field: str) -> str:
    try:
        return Path(file).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        problem = f"names a file that cannot be read ({type(error).__name__})"
        raise Invalid(f"{field}_key", problem, "Write @ and the path of a file with the key alone.") from None

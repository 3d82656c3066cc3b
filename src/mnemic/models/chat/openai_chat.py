"""Any endpoint that speaks OpenAI's chat protocol: a company's, or a server of one's own.

Protocol: POST {url}/chat/completions with `model`, `messages` and `stream`, answered by server-sent events, each with
`choices[0].delta.content`, the last with a `finish_reason`, and one with `usage`. A server that cannot stream may
answer in one document.

Servers differ in what they know of the rest. What one refuses by name is left out or put otherwise from then on: the
limit's new name, a temperature, the count of tokens, tools, a schema; the last two are said in words then.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from mnemic.errors import ModelError
from mnemic.models.chat.base import Ask, Pieces
from mnemic.models.chat.chunks import functions, messages_of, response_format, words
from mnemic.models.chat.json_actions import actions_of, in_words, schema_in_words
from mnemic.models.patience import SHARED, Busy, Patience
from mnemic.models.wire import EndpointMethod, EndpointRefusal, Response, key_for, model_and_url

if TYPE_CHECKING:
    from mnemic.settings import Settings

SILENCE_SECONDS: Final = 120.0
"""How long a server may read the prompt before its first word."""

_REFUSED_BY: Final = {
    "max_tokens": ("max_completion_tokens",),
    "temperature": ("temperature",),
    "stream_options": ("stream_options", "include_usage"),
    "tools": ("tool", "function"),
    "json_schema": ("response_format", "json_schema", "schema", "grammar"),
}
"""By part of a request: words by which a server that refuses it names it."""


class ChatEndpoint:
    """A chat endpoint. Safe for many threads; nothing is sent before the first piece is asked for.

    A busy or broken server is tried up to four times, as long as it has not begun to answer.

    Args:
        model: What the endpoint calls it.
        url: Of the API, up to and with its version: `https://host/v1`.
        key: Sent as a bearer token; in no message, name or log.
        timeout: Seconds that the server may be silent.
        patience: Repeats what meets a busy server.

    Raises:
        Invalid: the URL is none, or the key cannot be sent.
    """

    def __init__(
        self, model: str, url: str, *, key: str = "", timeout: float = SILENCE_SECONDS, patience: Patience = SHARED
    ) -> None:
        self.name = f"openai:{model}@{url.rstrip('/')}"
        self._model, self._patience = model, patience
        self._refused: frozenset[str] = frozenset()
        self._line = EndpointMethod(url, "/chat/completions", field="model", name=self.name, key=key, timeout=timeout)

    @classmethod
    def opened(cls, details: str, settings: Settings) -> ChatEndpoint:
        """Open the model that `openai:MODEL` or `openai:MODEL@URL` names; for its key see `key_for`."""
        model, url = model_and_url(details, "model")
        return cls(model, url, key=key_for(url, settings.model_key, "model"))

    def stream(self, ask: Ask) -> Pieces:
        """The answer in pieces, as the server sends them; closing the generator hangs up."""
        messages_of(ask)
        return self._pieces(ask)

    def _pieces(self, ask: Ask) -> Pieces:
        with self._patience.call(self.name, lambda: self._post(ask)) as response:
            pieces = words(self._chunks(response), self.name, ask, excerpt=self._line.excerpt)
            return (yield from actions_of(ask, pieces) if "tools" in self._refused else pieces)

    def _post(self, ask: Ask) -> Response:
        """Send a question, without what the server refuses by name.

        Raises:
            Busy: another try may do better.
            ModelError: it refuses the question itself.
        """
        while True:
            body = self._body(ask)
            try:
                return self._line.post(body)
            except EndpointRefusal as refusal:
                refused = _refused_part(body, refusal)
                if refused is None:
                    raise
                self._refused |= {refused}

    def _body(self, ask: Ask) -> dict[str, Any]:
        """Write a question as this server takes it."""
        if "tools" in self._refused:
            ask = in_words(ask)
        if "json_schema" in self._refused:
            ask = schema_in_words(ask)
        limit = "max_completion_tokens" if "max_tokens" in self._refused else "max_tokens"
        body: dict[str, Any] = {"model": self._model, "messages": messages_of(ask), "stream": True, limit: ask.limit}
        if "stream_options" not in self._refused:
            body["stream_options"] = {"include_usage": True}
        if ask.temperature is not None and "temperature" not in self._refused:
            body["temperature"] = ask.temperature
        if ask.tools:
            body["tools"] = functions(ask.tools)
        if ask.schema is not None and "json_schema" not in self._refused:
            body["response_format"] = response_format(ask)
        return body

    def _chunks(self, response: Response) -> Iterator[object]:
        if response.kind != "text/event-stream":
            yield self._decoded(self._whole(response))
            return
        for line in response.lines():
            if line.startswith(b"data:"):
                data = line.removeprefix(b"data:").strip()
                if data == b"[DONE]":  # some servers say no other way that they are
                    yield {"choices": [{"delta": {}, "finish_reason": "stop"}]}
                    return
                yield self._decoded(data)

    def _whole(self, response: Response) -> bytes:
        try:
            return response.read()
        except Busy as busy:
            raise ModelError(f"{self.name}: the answer broke off") from busy

    def _decoded(self, data: bytes) -> object:
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            said = self._line.excerpt(data.decode("utf-8", "replace"))
            raise ModelError(f"{self.name}: the answer is no JSON: {said}") from error


def _refused_part(body: dict[str, Any], refusal: EndpointRefusal) -> str | None:
    """Tell which part of a request a server refuses; None where it refuses the rest."""
    if refusal.status not in (400, 404, 415, 422, 501):
        return None
    present = {**body, **({"json_schema": None} if "response_format" in body else {})}
    said = refusal.said.lower()
    parts = (part for part, names in _REFUSED_BY.items() if part in present and any(name in said for name in names))
    return next(parts, None)

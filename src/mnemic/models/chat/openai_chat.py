"""Any endpoint that speaks OpenAI's chat protocol: a company's, or a server of one's own.

Protocol: POST {url}/chat/completions with `model`, `messages` and `stream`, answered by server-sent events, each with
`choices[0].delta.content`, the last with a `finish_reason`. A server that cannot stream may answer in one document.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from mnemic.errors import ModelError
from mnemic.models.chat.base import LIMIT, ChatMessage, checked
from mnemic.models.chat.chunks import words
from mnemic.models.wire import Busy, EndpointMethod, Reply, key_for, model_and_url

if TYPE_CHECKING:
    from mnemic.settings import Settings

SILENCE_SECONDS: Final = 120.0
"""How long a server may read the prompt before its first word."""

_OLD_LIMIT, _NEW_LIMIT = "max_tokens", "max_completion_tokens"
"""What most servers call the limit, and what the newest models want it called."""


class ChatEndpoint:
    """A chat endpoint. Safe for many threads; nothing is sent before the first piece is asked for.

    A busy or broken server is tried up to four times, as long as it has not begun to answer.

    Args:
        model: What the endpoint calls it.
        url: Of the API, up to and with its version: `https://host/v1`.
        key: Sent as a bearer token; in no message, name or log.
        timeout: Seconds that the server may be silent.
        sleep: Waits between tries.

    Raises:
        Invalid: the URL is none, or the key cannot be sent.
    """

    def __init__(
        self,
        model: str,
        url: str,
        *,
        key: str = "",
        timeout: float = SILENCE_SECONDS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = f"openai:{model}@{url.rstrip('/')}"
        self._model, self._limit_name = model, _OLD_LIMIT
        self._line = EndpointMethod(
            url, "/chat/completions", field="model", name=self.name, key=key, timeout=timeout, sleep=sleep
        )

    @classmethod
    def opened(cls, details: str, settings: Settings) -> ChatEndpoint:
        """Open the model that `openai:MODEL` or `openai:MODEL@URL` names; for its key see `key_for`."""
        model, url = model_and_url(details, "model")
        return cls(model, url, key=key_for(url, settings.model_key, "model"))

    def stream(self, messages: Sequence[ChatMessage], *, limit: int = LIMIT) -> Iterator[str]:
        """The answer in pieces, as the server sends them; closing the iterator hangs up."""
        checked_messages = checked(messages, limit)
        return self._pieces(checked_messages, limit)

    def _pieces(self, checked_messages: list[dict[str, str]], limit: int) -> Iterator[str]:
        with self._line.patiently(lambda: self._post(checked_messages, limit)) as reply:
            yield from words(self._chunks(reply), self.name, limit, excerpt=self._line.excerpt)

    def _post(self, checked_messages: list[dict[str, str]], limit: int) -> Reply:
        body = {"model": self._model, "messages": checked_messages, "stream": True}
        try:
            return self._line.post({**body, self._limit_name: limit})
        except ModelError as error:
            if _NEW_LIMIT not in str(error) or self._limit_name == _NEW_LIMIT:
                raise
        self._limit_name = _NEW_LIMIT
        return self._line.post({**body, self._limit_name: limit})

    def _chunks(self, reply: Reply) -> Iterator[object]:
        if reply.kind != "text/event-stream":
            yield self._decoded(self._whole(reply))
            return
        for line in reply.lines():
            if line.startswith(b"data:"):
                data = line.removeprefix(b"data:").strip()
                if data == b"[DONE]":  # some servers say no other way that they are
                    yield {"choices": [{"delta": {}, "finish_reason": "stop"}]}
                    return
                yield self._decoded(data)

    def _whole(self, reply: Reply) -> bytes:
        try:
            return reply.read()
        except Busy as busy:
            raise ModelError(f"{self.name}: the answer broke off") from busy

    def _decoded(self, data: bytes) -> object:
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            said = self._line.excerpt(data.decode("utf-8", "replace"))
            raise ModelError(f"{self.name}: the answer is no JSON: {said}") from error

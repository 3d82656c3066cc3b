"""Anthropic's Messages API, and whoever else speaks it, through the company's own client (extra `anthropic`).

The client writes requests and reads events; when a busy server is asked again, where the key goes and what is passed on
of an error is ours, as for every endpoint. It is imported when the model is first asked. A temperature is not sent:
since version 2026-10-21 the API refuses one, and the client knows none.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.forking import renew_in_child
from mnemic.core.mutex import Mutex
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Invalid, ModelError
from mnemic.models.chat.base import (
    Ask,
    ChatMessage,
    CutOff,
    Pieces,
    Reply,
    ToolCall,
    estimated_prompt,
    refuse_unanswerable,
)  # fmt: skip
from mnemic.models.chat.json_actions import schema_in_words
from mnemic.models.patience import SHARED, Busy, Patience
from mnemic.models.wire import ANTHROPIC, Address, EndpointRefusal, Secret, complaint, key_for, model_and_url

if TYPE_CHECKING:
    from anthropic import Anthropic

    from mnemic.settings import Settings

PACKAGE: Final = "anthropic"
HTTP: Final = "httpx2"
"""What the client speaks HTTP with."""

SILENCE_SECONDS: Final = 120.0
"""How long a server may read the prompt before its first word."""

_SCHEMA: Final = ("output_config", "output_format", "schema")
"""Words by which a server that does not take a schema names it."""


class AnthropicChat:
    """A model behind Anthropic's Messages API. Safe for many threads; nothing is sent before a piece is asked for.

    A busy or broken server is tried up to four times, as long as it has not begun to answer. A schema that the server
    does not take is said in words from then on.

    Args:
        model: What the endpoint calls it.
        url: Of the API, without its version: `https://api.anthropic.com`.
        key: Sent as a bearer token; in no message, name or log.
        timeout: Seconds that the server may be silent.
        patience: Repeats what meets a busy server.

    Raises:
        Invalid: the URL is none, the key cannot be sent, or the client is not installed.
    """

    def __init__(
        self, model: str, url: str, *, key: str = "", timeout: float = SILENCE_SECONDS, patience: Patience = SHARED
    ) -> None:
        self.name = f"anthropic:{model}@{url.rstrip('/')}"
        if importlib.util.find_spec(PACKAGE) is None:
            raise Invalid(
                "model", f"{self.name} needs {PACKAGE}, which is not installed", "pip install 'mnemic[anthropic]'"
            )
        Address.parsed(url, "", "model")
        self._model, self._url, self._timeout, self._patience = model, url, timeout, patience
        self._secret = Secret(key, "model")
        self._schema_in_words = False
        self.renew()
        renew_in_child(self)

    @classmethod
    def opened(cls, details: str, settings: Settings) -> AnthropicChat:
        """Open the model that `anthropic:MODEL` or `anthropic:MODEL@URL` names; for its key see `key_for`."""
        model, url = model_and_url(details, "model", ANTHROPIC)
        return cls(model, url, key=key_for(url, settings.model_key, "model", ANTHROPIC))

    def renew(self) -> None:
        """Begin with a fresh lock and no connections, as a forked child must."""
        self._lock = Mutex()
        self._client: Anthropic | None = None

    def stream(self, ask: Ask) -> Pieces:
        """The answer in pieces, as the server sends them; closing the generator hangs up."""
        refuse_unanswerable(ask)
        return self._pieces(ask)

    def _pieces(self, ask: Ask) -> Pieces:
        gathered = _Gathered()
        with closing(self._patience.call(self.name, lambda: self._opened(ask))) as events, self._failures():
            for event in events:
                if text := gathered.add(event):
                    yield text
        return self._reply(ask, gathered)

    def _opened(self, ask: Ask) -> Any:
        """Send a question, the schema in words where the server does not take one; return the stream of its answer.

        Raises:
            Busy: another try may do better.
            ModelError: it refuses the question itself.
        """
        try:
            return self._send(self._body(ask))
        except EndpointRefusal as refusal:
            takes_none = refusal.status == 400 and any(name in refusal.said.lower() for name in _SCHEMA)
            if ask.schema is None or self._schema_in_words or not takes_none:
                raise
        self._schema_in_words = True
        return self._send(self._body(ask))

    def _send(self, body: dict[str, Any]) -> Any:
        client = self._loaded()
        import_whole(PACKAGE)
        import anthropic

        try:
            return client.messages.create(**body, stream=True)
        except anthropic.APIStatusError as error:
            response = error.response
            raise complaint(
                self.name, response.status_code, response.headers, response.text, self._secret
            ) from None  # the error holds the request, and so the key
        except anthropic.APIConnectionError as error:
            cause = self._secret.excerpt(repr(error.__cause__ or error))
            raise Busy(f"no answer ({cause})") from None

    def _loaded(self) -> Anthropic:
        """The client, which reads no credentials, proxies or addresses from the environment, and repeats nothing."""
        with self._lock:
            if self._client is None:
                import_whole(PACKAGE, HTTP)
                import anthropic
                import httpx2

                # A client of our own, for the company's takes proxies from the environment whatever it is told.
                http_client = httpx2.Client(timeout=self._timeout, trust_env=False, follow_redirects=False)
                self._client = anthropic.Anthropic(
                    api_key=self._secret.key or "none",
                    base_url=self._url,
                    timeout=self._timeout,
                    max_retries=0,
                    http_client=http_client,
                )
            return self._client

    def _body(self, ask: Ask) -> dict[str, Any]:
        """Write a question as this server takes it."""
        if self._schema_in_words:
            ask = schema_in_words(ask)
        system = "\n\n".join(part.content for part in ask.messages if part.role == "system")
        body: dict[str, Any] = {"model": self._model, "messages": _messages(ask.messages), "max_tokens": ask.limit}
        if system.strip():
            body["system"] = _speakable(system)
        if ask.tools:
            body["tools"] = [
                {"name": part.name, "description": part.description, "input_schema": part.parameters}
                for part in ask.tools
            ]
        if ask.schema is not None and not self._schema_in_words:
            body["output_config"] = {"format": {"type": "json_schema", "schema": ask.schema}}
        return body

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Turn what goes wrong while an answer is read into a `ModelError`, without the key."""
        import_whole(PACKAGE, HTTP)
        import anthropic
        import httpx2

        try:
            yield
        except anthropic.APIStatusError as error:
            raise ModelError(f"{self.name}: {self._secret.excerpt(error.message)}") from None
        except (anthropic.APIError, httpx2.HTTPError, OSError) as error:
            raise ModelError(f"{self.name}: the answer broke off ({type(error).__name__})") from None
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError):
            raise ModelError(f"{self.name}: the answer is none of the protocol") from None

    def _reply(self, ask: Ask, gathered: _Gathered) -> Reply:
        """Return the whole answer.

        Raises:
            ModelError: it broke off, or is none.
            CutOff: it came to its limit.
        """
        if gathered.stopped is None:
            raise ModelError(f"{self.name}: the answer broke off")
        reply = Reply(
            text="".join(gathered.texts),
            model=self._secret.excerpt(gathered.model) or self.name,
            prompt_tokens=gathered.prompt_tokens or estimated_prompt(ask),
            answer_tokens=gathered.answer_tokens,
            estimated=not gathered.prompt_tokens,
            calls=tuple(ToolCall(id, name, "".join(parts) or "{}") for id, name, parts in gathered.calls.values()),
        )
        if gathered.stopped in ("max_tokens", "model_context_window_exceeded"):
            raise CutOff(self.name, ask.limit, reply)
        if gathered.stopped == "refusal" or not (reply.text or reply.calls):
            raise ModelError(f"{self.name}: there is no answer (stop_reason {self._secret.excerpt(gathered.stopped)})")
        return reply


class _Gathered:
    """What the events of one answer have said so far.

    Attributes:
        stopped: Why it ended; None before it did.
        calls: By the place of its block: a call's id, its tool and the parts of its arguments.
    """

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.calls: dict[int, tuple[str, str, list[str]]] = {}
        self.model, self.stopped = "", None
        self.prompt_tokens = self.answer_tokens = 0

    def add(self, event: Any) -> str:
        """Take in an event; return the text it adds."""
        text = ""
        match event.type:
            case "message_start":
                self.model = event.message.model
                self._count(event.message.usage)
            case "content_block_start" if event.content_block.type == "tool_use":
                self.calls[event.index] = event.content_block.id, event.content_block.name, []
            case "content_block_delta" if event.delta.type == "text_delta":
                text = event.delta.text
                self.texts.append("" + text)  # events are not checked: what is no text ends here
            case "content_block_delta" if event.delta.type == "input_json_delta":
                self.calls[event.index][2].append("" + event.delta.partial_json)
            case "message_delta":
                self.stopped = event.delta.stop_reason
                self._count(event.usage)
        return text

    def _count(self, usage: Any) -> None:
        """Note the tokens that are counted up to here; those that came from a cache are part of the prompt."""
        counts = (usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens)
        self.prompt_tokens = max(self.prompt_tokens, sum(count or 0 for count in counts))
        self.answer_tokens = usage.output_tokens


def _messages(messages: tuple[ChatMessage, ...]) -> list[dict[str, Any]]:
    """Write messages in blocks; results of tools that were called together stand together, as the protocol wants."""
    written: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "assistant" if message.role == "assistant" else "user"
        results = message.role == "tool" and written and written[-1]["content"][0]["type"] == "tool_result"
        if results:
            written[-1]["content"] += _blocks(message)
        else:
            written.append({"role": role, "content": _blocks(message)})
    return written


def _blocks(message: ChatMessage) -> list[dict[str, Any]]:
    text = _speakable(message.content)
    if message.role == "tool":
        return [{"type": "tool_result", "tool_use_id": message.answers, "content": text}]
    calls = [{"type": "tool_use", "id": call.id, "name": call.name, "input": _input(call)} for call in message.calls]
    return [*([] if calls and not message.content.strip() else [{"type": "text", "text": text}]), *calls]


def _input(call: ToolCall) -> object:
    try:
        read = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _speakable(text: str) -> str:
    """A text in characters that every encoding has; a blank one the protocol refuses."""
    return text.encode("utf-8", "replace").decode() if text.strip() else "."

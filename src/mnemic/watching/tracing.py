"""OpenTelemetry: verbs as spans and durations, by the GenAI conventions for memory; content only when asked for.

The names are those of the OpenTelemetry semantic conventions for generative AI, status Development: the repository
open-telemetry/semantic-conventions-genai at 002c8a6, span `gen_ai.memory.client` (its pull request 140, of May 2026).
The API alone is needed: without an SDK that the program has set up, all of this does nothing.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Final

from opentelemetry import context, metrics, trace
from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.trace import Link, Span, SpanContext, SpanKind, Status, StatusCode

from mnemic._version import __version__
from mnemic.flow import Request
from mnemic.models.chat.base import Ask, Reply
from mnemic.models.model_requests import CrossEncode, Embed, EmbedQuestion
from mnemic.watching.metering import Meters, Sort, Timed
from mnemic.watching.profiling import figures

OPERATIONS: Final = {
    "observe": "create_memory",
    "write": "create_memory",
    "revise": "update_memory",
    "supersede": "update_memory",
    "correct": "update_memory",
    "pin": "update_memory",
    "feedback": "update_memory",
    "transact": "upsert_memory",
    "merge": "upsert_memory",
    "recall": "search_memory",
    "context": "search_memory",
    "session.observe": "create_memory",
    "session.context": "search_memory",
    "ask": "search_memory",
    "why_not": "search_memory",
    "forget": "delete_memory",
    "erase": "delete_memory",
    "erase_user": "delete_memory",
}
"""What the conventions call a verb; one that they have no name for keeps its own."""
SYSTEM: Final = "mnemic"
_LINKS: Final = 16
"""Most commits that a run of a lane is linked to: the last ones before it."""


class Tracing:
    """Makes the spans and durations of one open store; an observer of its meters.

    Args:
        url: The store's; it goes out as a hash, since paths tell of people.
        content: Whether questions, and what was recalled for them, go out too.
    """

    def __init__(self, meters: Meters, url: str, *, content: bool = False) -> None:
        self._meters, self._content = meters, content
        self._store = hashlib.blake2s(url.encode(), digest_size=8).hexdigest()
        self._tracer = trace.get_tracer(SYSTEM, __version__)
        meter = metrics.get_meter(SYSTEM, __version__)
        self._duration = meter.create_histogram(
            "gen_ai.client.operation.duration", unit="s", description="GenAI operation duration."
        )
        meter.create_observable_gauge(
            "mnemic.gauge", callbacks=[self._gauges], description="What an open store says of itself, by name."
        )
        self._committed: deque[SpanContext] = deque(maxlen=_LINKS)

    def began(self, timed: Timed) -> Callable[[], None]:
        """Begin a span as a child of the caller's; what happens inside is its child."""
        span = self._started(timed)
        token = context.attach(trace.set_span_in_context(span))

        def ended() -> None:
            context.detach(token)
            self._describe(span, timed)
            span.end()

        return ended

    def asks(self, request: Request) -> Callable[[Any, BaseException | None], None] | None:
        """Begin a span for a request to a model; requests to the store are part of the verb's."""
        if not isinstance(request, Embed | EmbedQuestion | CrossEncode | Ask):
            return None
        began, operation = time.time_ns(), "chat" if isinstance(request, Ask) else "embeddings"

        def ended(answer: Any, error: BaseException | None) -> None:
            if error is None and isinstance(request, EmbedQuestion) and not answer.vectors:
                return  # no embedder serves: nothing was asked of one
            if error is None and isinstance(request, CrossEncode) and answer is None:
                return  # the one that serves does not read so
            named = self._named(operation)
            span = self._tracer.start_span(operation, kind=SpanKind.INTERNAL, attributes=named, start_time=began)
            if isinstance(request, Embed):
                span.set_attribute("mnemic.passages", len(request.texts))
            if isinstance(answer, Reply):
                span.set_attribute("gen_ai.response.model", answer.model)
                span.set_attribute("gen_ai.usage.input_tokens", answer.prompt_tokens)
                span.set_attribute("gen_ai.usage.output_tokens", answer.answer_tokens)
            _fail(span, error)
            span.end()

        return ended

    def committed(self) -> None:
        """Remember the span that wrote, for the lane's run to link to."""
        here = trace.get_current_span().get_span_context()
        if here.is_valid:
            self._committed.append(here)

    def close(self) -> None:
        """Do nothing: exporting is the program's."""

    def _started(self, timed: Timed) -> Span:
        if timed.sort == Sort.RUN:
            links = [Link(self._committed.popleft()) for _ in range(len(self._committed))]
            attributes = {"mnemic.lane": timed.name}
            return self._tracer.start_span("mnemic.run", kind=SpanKind.INTERNAL, attributes=attributes, links=links)
        operation = OPERATIONS.get(timed.name, timed.name)
        attributes = {**self._named(operation), "gen_ai.memory.store.id": self._store, "mnemic.verb": timed.name}
        if self._content and timed.asked:
            attributes["gen_ai.memory.query.text"] = timed.asked
        return self._tracer.start_span(operation, kind=SpanKind.INTERNAL, attributes=attributes)

    def _named(self, operation: str) -> dict[str, str]:
        return {"gen_ai.operation.name": operation, "gen_ai.provider.name": SYSTEM}

    def _describe(self, span: Span, timed: Timed) -> None:
        """Record a verb's outcome on its span, and its duration."""
        _fail(span, timed.error)
        if timed.sort == Sort.RUN:
            span.set_attribute("mnemic.done", getattr(timed.answer, "done", 0))
            return
        named = self._named(OPERATIONS.get(timed.name, timed.name))
        self._duration.record(timed.seconds, {**named, **_error(timed.error)})
        if not span.is_recording():
            return
        attributes = figures(timed.answer)
        if "items" in attributes:
            span.set_attribute("gen_ai.memory.record.count", attributes.pop("items"))
        for name, value in attributes.items():
            span.set_attribute(f"mnemic.{name}", value)
        ids = getattr(timed.answer, "ids", ())
        if isinstance(ids, tuple) and len(ids) == 1:
            span.set_attribute("gen_ai.memory.record.id", ids[0])
        if self._content and timed.asked and timed.answer is not None:
            span.set_attribute("gen_ai.memory.records", _records(timed.answer))

    def _gauges(self, options: CallbackOptions) -> Iterable[Observation]:
        for name, value in self._meters.measured().gauges.items():
            yield Observation(value, {"mnemic.name": name})


def _fail(span: Span, error: BaseException | None) -> None:
    """Mark a span as failed with the class of the error alone, as its message may quote what was remembered."""
    if error is not None:
        span.set_attributes(_error(error))
        span.set_status(Status(StatusCode.ERROR))


def _error(error: BaseException | None) -> dict[str, str]:
    return {} if error is None else {"error.type": type(error).__name__}


def _records(answer: Any) -> str:
    """Render what was recalled in the form of the conventions."""
    items = getattr(answer, "items", ())
    return json.dumps(
        [{"id": recalled.item.id, "content": recalled.item.text, "score": recalled.score} for recalled in items]
    )

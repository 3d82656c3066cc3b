"""OpenTelemetry: spans and durations as the conventions name them, and no content unless it was asked for."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mnemic import AsyncMemory, Invalid, Memory, NotFound, Settings
from mnemic.models.scripted_embedder import ScriptedEmbedder

pytest.importorskip("opentelemetry.sdk")

from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

ON = Settings(trace=True, background=False)


class Seen:
    """What a program that has set up the SDK receives."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.reader = InMemoryMetricReader()
        self.traces = TracerProvider()
        self.traces.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.metrics = MeterProvider((self.reader,))

    @property
    def spans(self) -> dict[str, ReadableSpan]:
        return {span.name: span for span in self.exporter.get_finished_spans()}

    def points(self, name: str) -> list[Any]:
        data = self.reader.get_metrics_data()
        assert data is not None
        every = [m for r in data.resource_metrics for s in r.scope_metrics for m in s.metrics]
        return [point for metric in every if metric.name == name for point in metric.data.data_points]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Seen]:
    seen = Seen()
    monkeypatch.setattr(trace, "get_tracer", seen.traces.get_tracer)
    monkeypatch.setattr(metrics, "get_meter", seen.metrics.get_meter)
    yield seen
    seen.metrics.shutdown()


def test_verbs_are_spans_named_by_the_conventions(tmp_path: Path, seen: Seen) -> None:
    with Memory(tmp_path / "memory.db", settings=ON) as memory:
        me = memory.scope(user="ada")
        receipt = me.observe("I moved to Lisbon.")
        me.recall("where is Lisbon?")
        me.forget(receipt.id)
        me.count()
    create, search, delete = (seen.spans[name] for name in ("create_memory", "search_memory", "delete_memory"))
    attributes = dict(create.attributes or {})
    store = attributes.pop("gen_ai.memory.store.id")
    assert attributes == {
        "gen_ai.operation.name": "create_memory",
        "gen_ai.provider.name": "mnemic",
        "gen_ai.memory.record.count": 1,
        "gen_ai.memory.record.id": receipt.id,
        "mnemic.verb": "observe",
        "mnemic.seq": 1,
    }
    assert create.kind is trace.SpanKind.INTERNAL
    assert search.attributes is not None
    assert search.attributes["gen_ai.memory.record.count"] == 1
    assert search.attributes["gen_ai.memory.store.id"] == store
    assert delete.attributes is not None
    assert delete.attributes["mnemic.verb"] == "forget"
    assert seen.spans["count"].status.is_ok
    assert str(tmp_path) not in str([span.attributes for span in seen.spans.values()])


def test_no_content_and_no_name_goes_out_unless_asked_for(tmp_path: Path, seen: Seen) -> None:
    with Memory(tmp_path / "memory.db", settings=ON) as memory:
        me = memory.scope(user="yolanda", session="holiday")
        me.observe("I moved to Lisbon.")
        me.context("where is Lisbon?")
        with pytest.raises(NotFound):
            me.get("01m815bvc3f4ch3bp4rs0yda9x")
    told = " ".join(span.to_json() for span in seen.spans.values())
    for word in ("Lisbon", "yolanda", "holiday", "01m815bvc3f4ch3bp4rs0yda9x"):
        assert word not in told


def test_content_goes_out_when_asked_for(tmp_path: Path, seen: Seen) -> None:
    with Memory(tmp_path / "memory.db", settings=Settings(trace=True, trace_content=True, background=False)) as memory:
        me = memory.scope(user="ada")
        me.observe("I moved to Lisbon.")
        found = me.recall("where is Lisbon?").items[0]
    attributes = seen.spans["search_memory"].attributes or {}
    assert attributes["gen_ai.memory.query.text"] == "where is Lisbon?"
    assert json.loads(str(attributes["gen_ai.memory.records"])) == [
        {"id": found.item.id, "content": "I moved to Lisbon.", "score": found.score}
    ]


def test_a_verb_that_fails_is_an_error_by_its_class(tmp_path: Path, seen: Seen) -> None:
    with Memory(tmp_path / "memory.db", settings=ON) as memory:
        me = memory.scope(user="ada")
        me.observe("Hello.")
        with pytest.raises(NotFound):
            me.forget("01m815bvc3f4ch3bp4rs0yda9x")
    span = seen.spans["delete_memory"]
    assert not span.status.is_ok
    assert span.status.description is None
    assert (span.attributes or {})["error.type"] == "NotFound"
    assert span.events == ()
    failed = [p for p in seen.points("gen_ai.client.operation.duration") if "error.type" in p.attributes]
    assert [(p.count, p.attributes["gen_ai.operation.name"]) for p in failed] == [(1, "delete_memory")]


def test_durations_and_gauges_are_metrics(tmp_path: Path, seen: Seen) -> None:
    with Memory(tmp_path / "memory.db", settings=ON) as memory:
        me = memory.scope(user="ada")
        for n in range(3):
            me.observe(f"{n}")
        memory._opened.meters.gauge("window", lambda: {"tokens": 7.0})
        (point,) = seen.points("gen_ai.client.operation.duration")
        assert (point.count, dict(point.attributes)) == (
            3,
            {"gen_ai.operation.name": "create_memory", "gen_ai.provider.name": "mnemic"},
        )
        (gauge,) = seen.points("mnemic.gauge")
        assert (gauge.value, dict(gauge.attributes)) == (7.0, {"mnemic.name": "window.tokens"})


def test_a_verb_is_the_child_of_its_caller_and_the_parent_of_what_it_asks_models(tmp_path: Path, seen: Seen) -> None:
    tracer = seen.traces.get_tracer("program")
    with Memory(tmp_path / "memory.db", settings=ON, embedder=ScriptedEmbedder()) as memory:
        me = memory.scope(user="ada")
        me.observe("I moved to Lisbon.")
        memory.flush()
        with tracer.start_as_current_span("turn") as turn:
            me.recall("where is Lisbon?")
            assert trace.get_current_span() is turn
    search = seen.spans["search_memory"]
    assert search.parent is not None
    assert search.parent.span_id == turn.get_span_context().span_id
    asked = [s for s in seen.exporter.get_finished_spans() if s.name == "embeddings" and s.parent is not None]
    assert search.context.span_id in {span.parent.span_id for span in asked if span.parent is not None}


def test_awaited_verbs_are_children_of_their_own_callers(tmp_path: Path, seen: Seen) -> None:
    tracer = seen.traces.get_tracer("program")

    async def main() -> None:
        async with AsyncMemory(tmp_path / "memory.db", settings=ON) as memory:

            async def one(n: int) -> None:
                with tracer.start_as_current_span(f"turn {n}"):
                    await memory.scope(user="ada").observe(f"{n}")

            await asyncio.gather(*(one(n) for n in range(5)))

    asyncio.run(main())
    turns = {s.context.span_id for s in seen.exporter.get_finished_spans() if s.name.startswith("turn")}
    parents = [s.parent for s in seen.exporter.get_finished_spans() if s.name == "create_memory"]
    assert {parent.span_id for parent in parents if parent is not None} == turns
    assert len(turns) == 5


def test_a_run_of_a_lane_is_linked_to_the_commits_before_it(tmp_path: Path, seen: Seen) -> None:
    with Memory(tmp_path / "memory.db", settings=ON) as memory:
        memory.scope(user="ada").observe("I moved to Lisbon.")
        memory.flush()
    create = seen.spans["create_memory"]
    run = next(s for s in seen.exporter.get_finished_spans() if s.name == "mnemic.run")
    assert run.parent is None
    assert [link.context.span_id for link in run.links] == [create.context.span_id]


def test_off_it_makes_nothing(tmp_path: Path, seen: Seen) -> None:
    with Memory(tmp_path / "memory.db") as memory:
        memory.scope(user="ada").observe("Hello.")
    assert seen.exporter.get_finished_spans() == ()


def test_on_without_the_package_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "mnemic.watching.tracing", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(Invalid, match=r"mnemic\[otel\]"):
        Memory(tmp_path / "memory.db", settings=ON)

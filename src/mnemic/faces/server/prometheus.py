"""`GET /metrics`: what the server and its store measured, in the text format of Prometheus; numbers and verbs alone.

Format: Prometheus, "Exposition formats", text format 0.0.4.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mnemic import _version
from mnemic.faces.server.http_arguments import read_headers
from mnemic.faces.server.service import Service
from mnemic.operations.operation_table import OPERATIONS
from mnemic.watching.metering import STEPS, WAITING, Histogram, Meters, Sort
from mnemic.watching.vitals import Process, Vitals

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
OTHER: Final = "other"
"""The operation of a request that is for none in the table: documents, files, addresses that are not there."""
STREAM: Final = "feed"
LEFT: Final = 499
"""The status of a request whose client left before it was answered; HTTP has none, and this is what nginx says."""
_BOUNDS: Final = tuple(range(8, 26))
"""Upper bounds of buckets, as powers of two of a microsecond: 0.26 ms to 34 s."""
_SORTS: Final = {
    Sort.VERB: ("mnemic_verb_seconds", "Verbs of the memory.", "verb"),
    Sort.REQUEST: ("mnemic_step_seconds", "What verbs and lanes ask for: the store, an index, a model.", "step"),
    Sort.RUN: ("mnemic_run_seconds", "Runs of lanes: strategies and embedders, behind the verbs.", "lane"),
}
_ESCAPED: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


class RequestMeter:
    """Times each request, from its first byte to the end of its answer, by operation and status.

    The times go to the meters of the store, which carry them to whoever asks another process of the same server.
    """

    def __init__(self, app: ASGIApp, meters: Meters) -> None:
        self._app, self._meters = app, meters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        begun, status = time.perf_counter(), LEFT
        state = scope.setdefault("state", {})

        async def counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, counted)
        finally:
            operation = state.get("operation", OTHER)
            if operation != STREAM or status >= 400:  # how long somebody listened is no latency
                seconds = time.perf_counter() - begun
                self._meters.durations.append((Sort.HTTP, f"{operation} {status}", seconds, status >= 500))
                if len(self._meters.durations) >= WAITING:
                    self._meters.count()
        return None


async def metrics(request: Request) -> Response:
    """Answer with the figures, to whoever may see the store's size: an administrator, or this machine's owner."""
    service: Service = request.app.state.service
    headers = read_headers(request.scope["headers"])
    here = {"streams": request.app.state.listeners.count, "inside": service.pool.inside}
    text = await service.pool.run(lambda: _text(service, headers, here))
    return Response(text, headers={"Content-Type": CONTENT_TYPE})


def _text(service: Service, headers: Mapping[str, str], here: Mapping[str, int]) -> str:
    admin, _ = service.administered(headers, OPERATIONS["stats"], method="GET")
    return "\n".join([*exposition(admin.vitals()), *_of_this_process(here), ""])


def exposition(vitals: Vitals) -> Iterator[str]:
    """List the lines of a store's vitals; of processes, those that serve requests."""
    servers = [served for served in vitals.processes if any(sort == Sort.HTTP for sort, _ in served.measured.timed)]
    yield from _metric("mnemic_http_request_seconds", "histogram", "Requests, by operation and status.", [])
    for process in servers:
        for name, histogram in _timed(process, Sort.HTTP):
            operation, _, status = name.rpartition(" ")
            labels = {"operation": operation, "status": status, "process": process.measured.process}
            yield from _buckets("mnemic_http_request_seconds", labels, histogram)
    for sort, (metric, help, label) in _SORTS.items():
        yield from _metric(metric, "histogram", help, [])
        timed = [(process, *pair) for process in servers for pair in _timed(process, sort)]
        for process, name, histogram in timed:
            yield from _buckets(metric, {label: name, "process": process.measured.process}, histogram)
        failed = metric.replace("_seconds", "_failures_total")
        each = [
            ({label: name, "process": served.measured.process}, histogram.failed) for served, name, histogram in timed
        ]
        yield from _metric(failed, "counter", f"{help} Those that ended in an error.", each)
    gauges = [
        ({"name": name, "process": served.measured.process}, value)
        for served in servers
        for name, value in sorted(served.measured.gauges.items())
    ]
    yield from _metric("mnemic_process", "gauge", "What a process says of its windows, models and judge.", gauges)
    yield from _of_store(vitals)


def _of_store(vitals: Vitals) -> Iterator[str]:
    parts = {"files": vitals.bytes, "free": vitals.free, "log": vitals.log}
    yield from _metric("mnemic_commits_total", "counter", "Commits of all tenants.", [({}, vitals.commits)])
    yield from _metric("mnemic_bytes", "gauge", "Bytes of the store.", [({"of": k}, n) for k, n in parts.items()])
    jobs = [({"state": state}, count) for state, count in vitals.jobs.items()]
    yield from _metric("mnemic_jobs", "gauge", "Background jobs, by state.", jobs)
    yield from _metric("mnemic_sessions", "gauge", "Session windows that are open.", [({}, vitals.windows.sessions)])


def _of_this_process(here: Mapping[str, int]) -> Iterator[str]:
    meaning = "Streams of the feed that are open in the process that answers."
    yield from _metric("mnemic_feed_streams", "gauge", meaning, [({}, here["streams"])])
    meaning = "Requests that run or wait in the process that answers, but for this one."
    yield from _metric("mnemic_requests_inside", "gauge", meaning, [({}, here["inside"])])
    meaning = "Processor time of the process that answers."
    yield from _metric("process_cpu_seconds_total", "counter", meaning, [({}, time.process_time())])
    yield from _metric("mnemic_info", "gauge", "Which mnemic answers.", [({"version": _version.__version__}, 1)])


def _timed(process: Process, wanted: str) -> list[tuple[str, Histogram]]:
    return sorted((name, histogram) for (sort, name), histogram in process.measured.timed.items() if sort == wanted)


def _metric(name: str, type: str, help: str, samples: Iterable[tuple[Mapping[str, str], float]]) -> Iterator[str]:
    yield f"# HELP {name} {help}"
    yield f"# TYPE {name} {type}"
    for labels, value in samples:
        yield _sample(name, labels, value)


def _buckets(name: str, labels: Mapping[str, str], histogram: Histogram) -> Iterator[str]:
    """The samples of a histogram; its own buckets are fine enough for each bound to be one of theirs."""
    for power in _BOUNDS:
        within = sum(count for bucket, count in histogram.buckets.items() if bucket < power * STEPS)
        yield _sample(f"{name}_bucket", {**labels, "le": f"{2**power / 1e6:g}"}, within)
    yield _sample(f"{name}_bucket", {**labels, "le": "+Inf"}, histogram.count)
    yield _sample(f"{name}_sum", labels, histogram.total)
    yield _sample(f"{name}_count", labels, histogram.count)


def _sample(name: str, labels: Mapping[str, str], value: float) -> str:
    written = ",".join(f'{label}="{text.translate(_ESCAPED)}"' for label, text in labels.items())
    number = f"{value:d}" if isinstance(value, int) else f"{value:.9g}"
    return f"{name}{{{written}}} {number}" if written else f"{name} {number}"

"""What a server measures of itself, as Prometheus reads it: consistent, without names or words, for administrators."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bearer_tokens import Tokens, principal_of
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from mnemic import Memory
from mnemic.credentials.principal import Right
from mnemic.faces.server.prometheus import _buckets, exposition
from mnemic.watching.metering import Histogram, Meters, Sort
from mnemic.watching.vitals import Process

SAMPLE = re.compile(r'(?P<name>[a-z_]+)(?:\{(?P<labels>(?:[a-z]+="(?:[^"\\\n]|\\.)*",?)*)\})? (?P<value>[-+.e\d]+)')


def samples(text: str) -> dict[tuple[str, str], float]:
    """Each sample by its name and its labels, without that of the process."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            assert re.fullmatch(r"# (HELP [a-z_]+ .+|TYPE [a-z_]+ (counter|gauge|histogram))", line), line
            continue
        match = SAMPLE.fullmatch(line)
        assert match is not None, line
        labels = re.sub(r',?process="[^"]*"', "", match["labels"] or "")
        assert (match["name"], labels) not in found, line
        found[match["name"], labels] = float(match["value"])
    return found


def test_requests_are_counted_by_operation_and_status(client: TestClient) -> None:
    for n in range(3):
        assert client.post("/v1/observe", json={"messages": f"Line {n}."}).status_code == 200
    assert client.post("/v1/observe", json={"no": 1}).status_code == 400
    assert client.get("/nowhere").status_code == 404
    assert client.get("/v1/count", headers={"host": "elsewhere"}).status_code == 421
    response = client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    found = samples(response.text)
    counted = {labels: n for (name, labels), n in found.items() if name == "mnemic_http_request_seconds_count"}
    assert counted == {
        'operation="observe",status="200"': 3,
        'operation="observe",status="400"': 1,
        'operation="other",status="404"': 1,
        'operation="other",status="421"': 1,
    }
    assert found["mnemic_verb_seconds_count", 'verb="observe"'] == 3
    assert found["mnemic_commits_total", ""] == 3
    assert found["mnemic_feed_streams", ""] == 0
    assert found["mnemic_requests_inside", ""] == 0


def test_who_leaves_before_an_answer_is_counted_as_that_and_as_no_fault(client: TestClient) -> None:
    """A client that breaks off amid its body is answered by nobody: no alert on errors of the server is to go off."""

    async def half_a_request() -> None:
        scope = {
            "type": "http", "method": "POST", "path": "/v1/observe", "query_string": b"", "http_version": "1.1",
            "headers": [(b"host", b"localhost"), (b"content-type", b"application/json"), (b"content-length", b"50")],
        }  # fmt: skip
        messages = iter([{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}])

        async def receive() -> Any:
            return next(messages)

        await client.app(scope, receive, print)  # type: ignore[arg-type]  # nothing is sent

    asyncio.run(half_a_request())
    found = samples(client.get("/metrics").text)
    assert found["mnemic_http_request_seconds_count", 'operation="observe",status="499"'] == 1
    assert not any('status="5' in labels for _, labels in found)


def test_no_name_and_no_word_of_a_memory_is_in_the_figures(client: TestClient) -> None:
    client.post("/v1/observe", json={"messages": "The xylophone is mine."}, headers={"mnemic-user": "zebulon"})
    client.get("/v1/recall", params={"query": "xylophone"}, headers={"mnemic-user": "zebulon"})
    client.get("/xylophone")
    text = client.get("/metrics").text
    assert "xylophone" not in text
    assert "zebulon" not in text


def test_only_an_administrator_of_the_store_sees_the_figures(serving: Callable[..., TestClient]) -> None:
    client = serving(
        Tokens(
            root=principal_of("root", Right.ADMIN),
            ada=principal_of("ada", Right.WRITE, user="ada"),
            other=principal_of("other", Right.ADMIN, tenant="other"),
        )
    )
    statuses = {
        token: client.get("/metrics", headers={"authorization": f"Bearer {token}"}).status_code
        for token in ("root", "ada", "other", "nobody")
    }
    assert statuses == {"root": 200, "ada": 403, "other": 403, "nobody": 401}


def test_each_process_of_a_server_has_series_of_its_own_and_others_have_none(memory: Memory) -> None:
    worker, hook = Meters(), Meters()
    worker.durations.append((Sort.HTTP, "recall 200", 0.5, False))
    hook.durations.append((Sort.VERB, "recall", 0.5, False))
    others = tuple(Process(age=1.0, measured=meters.measured()) for meters in (worker, hook))
    lines = list(exposition(replace(memory.admin.vitals(), processes=others)))
    process = worker.measured().process
    assert f'mnemic_http_request_seconds_count{{operation="recall",status="200",process="{process}"}} 1' in lines
    assert not [line for line in lines if hook.measured().process in line]


@given(st.lists(st.floats(min_value=1e-7, max_value=100), max_size=40))
def test_the_buckets_of_a_histogram_rise_to_its_count(seconds: list[float]) -> None:
    histogram = Histogram()
    for one in seconds:
        histogram.add(one)
    lines = [SAMPLE.fullmatch(line) for line in _buckets("m", {"a": "b"}, histogram) if "+Inf" not in line]
    read = [(re.search(r'le="([^"]+)"', match["labels"] or ""), float(match["value"])) for match in lines if match]
    buckets = [(float(le[1]), count) for le, count in read if le is not None]
    assert [count for _, count in buckets] == sorted(count for _, count in buckets)
    for bound, count in buckets:
        at_the_bound = sum(abs(one / bound - 1) < 1e-5 for one in seconds)  # the bound is printed with six digits
        assert abs(count - sum(one < bound for one in seconds)) <= at_the_bound
    assert read[-1][1] == len(seconds)

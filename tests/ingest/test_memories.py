"""Memories of other systems: mem0, and the reference memory server."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemic.core.items import Kind
from mnemic.ingest import Edge, Message, Skipped, read

Write = Callable[[str, str | bytes], Path]

MEMORY = {
    "id": "8f1c",
    "memory": "Lives in Lisbon",
    "hash": "00ff",
    "user_id": "ada",
    "agent_id": "planner",
    "run_id": "r1",
    "metadata": {"mood": "sunny"},
    "categories": ["home"],
    "created_at": "2024-07-01T10:00:00Z",
    "updated_at": "2025-01-01T10:00:00Z",
}


@pytest.mark.parametrize("shape", [[MEMORY], {"results": [MEMORY]}, {"memories": [MEMORY]}])
def test_a_memory_of_mem0_is_a_fact_of_its_user(write: Write, shape: object) -> None:
    (fact,) = read(write("export.json", json.dumps(shape)))
    assert isinstance(fact, Message)
    assert (fact.kind, fact.text, fact.key) == (Kind.FACT, "Lives in Lisbon", "mem0::8f1c")
    assert (fact.user, fact.agent, fact.session, fact.tags) == ("ada", "planner", "r1", ("home",))
    assert fact.said == datetime(2025, 1, 1, 10, tzinfo=UTC)
    kept = {"mood": "sunny", "hash": "00ff", "created_at": "2024-07-01T10:00:00Z", "updated_at": "2025-01-01T10:00:00Z"}
    assert fact.slots == {"metadata": kept}


def test_a_memory_of_mem0_expires_with_the_day_that_it_names(write: Write) -> None:
    (fact,) = read(write("export.json", json.dumps([{**MEMORY, "expiration_date": "2025-02-01"}])))
    assert isinstance(fact, Message)
    assert fact.expires == datetime(2025, 2, 2, tzinfo=UTC)


def test_a_memory_without_words_is_named(write: Write) -> None:
    given = list(read(write("a.json", json.dumps({"results": [{"id": "1"}, 3, MEMORY]})), "mem0"))
    assert [one.where for one in given if isinstance(one, Skipped)] == ["memory 1", "memory 2"]


GRAPH = [
    {"type": "entity", "name": "Ada", "entityType": "person", "observations": ["Keeps bees", "Keeps bees", "Is 40"]},
    {"type": "relation", "from": "Ada", "to": "Harbour museum", "relationType": "works_at"},
    {"type": "entity", "name": "Harbour museum", "entityType": "place", "observations": []},
    {"type": "relation", "from": "Ada", "to": ""},
    {"type": "note"},
]


def test_entities_observations_and_relations_are_items_and_ties(write: Write) -> None:
    given = list(read(write("memory.json", "".join(json.dumps(line) + "\n" for line in GRAPH))))
    messages = [one for one in given if isinstance(one, Message)]
    assert [(m.kind, m.text) for m in messages] == [
        (Kind.ENTITY, "Ada (person)"),
        (Kind.FACT, "Keeps bees"),
        (Kind.FACT, "Is 40"),
        (Kind.FACT, "Ada works at Harbour museum"),
        (Kind.ENTITY, "Harbour museum (place)"),
    ]
    ada, bees, age, _, museum = (m.key for m in messages)
    assert [one for one in given if isinstance(one, Edge)] == [
        Edge(src=bees, dst=ada, type="about"),
        Edge(src=age, dst=ada, type="about"),
        Edge(src=ada, dst=museum, type="works_at"),
    ]
    assert messages[1].slots == {"title": "Ada", "entity": "Ada"}
    assert [one.where for one in given if isinstance(one, Skipped)] == ["line 4", "line 5"]


def test_a_source_named_otherwise_ties_the_same(write: Write) -> None:
    path = write("memory.json", "".join(json.dumps(line) + "\n" for line in GRAPH))
    given = list(read(path, source="my: graph"))
    keys = {one.key for one in given if isinstance(one, Message)}
    assert all({one.src, one.dst} <= keys for one in given if isinstance(one, Edge))


def test_a_line_of_another_shape_is_named(write: Write) -> None:
    lines = [
        {"type": "entity", "name": 7, "entityType": "x"},
        {"type": "entity", "name": "B", "entityType": "x", "observations": 3},
    ]
    path = write("memory.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    given = list(read(path, "memory-server"))
    assert [type(one) for one in given] == [Skipped, Message, Skipped]

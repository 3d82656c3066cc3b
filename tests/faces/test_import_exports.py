"""Exports of other systems and folders of documents through the command line."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

from commandline import Run

from mnemic.lab.kit.generate import chatgpt_conversations, chatgpt_export


def test_a_chatgpt_export_is_remembered_once_and_found(run: Run) -> None:
    count = chatgpt_export(Path("conversations.json"), 7, 200_000)
    spoken = [one for exported in islice(chatgpt_conversations(7), count) for one in exported.spoken]
    first = run("import", "conversations.json", "--json").json
    assert (first["written"], first["sources"]) == (len(spoken), ["chatgpt"])
    again = run("import", "conversations.json", "--json").json
    assert (again["written"], again["repeated"]) == (0, len(spoken))
    assert sum(one["count"] for one in first["skipped"]) > count
    kept = run("list", "--session", spoken[0].session, "--limit", "100", "--json").lines
    assert sorted(item["text"] for item in kept) == sorted(
        one.text for one in spoken if one.session == spoken[0].session
    )
    more = run("import", "conversations.json", "--branches", "--tools", "--json").json
    assert more["written"] > 0
    assert more["repeated"] == len(spoken)


def test_a_folder_is_remembered_and_its_headings_are_found(run: Run) -> None:
    for name, text in {
        "desk/notes/garden.md": "# Beds\n\n## Tomatoes\n\nPlant them deep.\n",
        "desk/page.html": "<title>Harbour</title><h1>Opening hours</h1><p>From nine to five.",
        "desk/cart.py": "def add_item(cart):\n    return cart\n",
        "desk/.env": "SECRET=1",
    }.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    told = run("import", "desk", "--json").json
    assert (told["written"], told["sources"]) == (3, ["desk"])
    assert [one["reason"] for one in told["skipped"]] == ["is hidden"]
    for question, answer in (
        ("tomatoes beds", "Plant them deep."),
        ("harbour opening hours", "From nine to five."),
        ("what does add_item in cart.py return", "return cart"),
    ):
        assert answer in run("recall", question, "-k", "1", "--json").json["items"][0]["item"]["text"], question
    assert run("import", "desk", "--json").json["repeated"] == 3
    assert run("erase", "--source", "desk", "--yes", "--json").json["status"] == "clean"


def test_memories_of_another_user_go_where_they_are_told(run: Run) -> None:
    memory = {"id": "1", "memory": "Lives in Lisbon", "user_id": "ada", "created_at": "2024-07-01T10:00:00Z"}
    Path("mem0.json").write_text(json.dumps({"results": [memory]}))
    told = run("import", "mem0.json", "--json", code=1).json
    assert "--mine" in told["skipped"][0]["reason"]
    assert run("import", "mem0.json", "--mine", "--json").json["written"] == 1
    kept = run("show", "last", "--json").json
    assert (kept["kind"], kept["text"], kept["slots"]["user"]) == ("fact", "Lives in Lisbon", "ada")
    assert run("import", "mem0.json", "--each-user", "--json").json["written"] == 1
    assert run("list", "--user", "ada", "--json").json["text"] == "Lives in Lisbon"
    run("import", "mem0.json", "--mine", "--each-user", code=2)


GRAPH = (
    {"type": "entity", "name": "Ada", "entityType": "person", "observations": ["Keeps bees", "word " * 9_000]},
    {"type": "relation", "from": "Ada", "to": "Harbour museum", "relationType": "works_at"},
    {"type": "relation", "from": "Ada", "to": "Nobody", "relationType": "knows"},
    {"type": "entity", "name": "Harbour museum", "entityType": "place", "observations": []},
)


def test_the_graph_of_the_memory_server_is_items_and_links(run: Run) -> None:
    Path("memory.json").write_text("".join(json.dumps(line) + "\n" for line in GRAPH))
    told = run("import", "memory.json", "--json").json
    assert (told["readable"], told["links"]) == (told["written"], 3)
    assert told["skipped"] == [{"reason": "ties what is not here", "count": 1, "places": ["tie knows"]}]
    again = run("import", "memory.json", "--json").json
    assert (again["written"], again["links"], again["commits"]) == (0, 0, 0)
    assert "Keeps bees" in run("recall", "what does Ada keep?", "--json").out
    assert "Ada works at Harbour museum" in run("recall", "who works at the museum?", "--json").out

"""A made-up export is the same for the same seed, and says itself what of it was spoken."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

from mnemic.lab.kit.generate import chatgpt_conversations, chatgpt_export


def test_an_export_has_the_size_that_was_asked_for_and_is_the_same_again(tmp_path: Path) -> None:
    one, two = tmp_path / "1.json", tmp_path / "2.json"
    count = chatgpt_export(one, 5, 100_000)
    assert chatgpt_export(two, 5, 100_000) == count
    assert one.read_bytes() == two.read_bytes()
    assert 100_000 <= one.stat().st_size < 250_000
    records = json.loads(one.read_text())
    assert records == [exported.record for exported in islice(chatgpt_conversations(5), count)]
    chatgpt_export(two, 6, 100_000)
    assert one.read_bytes() != two.read_bytes()


def test_what_was_spoken_is_the_open_branch_without_tools() -> None:
    sorts = set()
    for exported in islice(chatgpt_conversations(5), 60):
        mapping, node, spoken = exported.record["mapping"], exported.record["current_node"], []
        while node is not None:
            message, node = mapping[node]["message"], mapping[node]["parent"]
            if message and message["recipient"] == "all" and message["author"]["role"] in ("user", "assistant"):
                text = next(part for part in message["content"]["parts"] if isinstance(part, str))
                spoken.append((message["author"]["role"], text, message["create_time"]))
        assert [(one.role, one.text, one.said) for one in exported.spoken] == spoken[::-1]
        times = [one.said for one in exported.spoken]
        assert times == sorted(times)
        sorts |= {message["content"]["content_type"] for one in mapping.values() if (message := one["message"])}
        sorts |= {"branch"} if any(len(one["children"]) > 1 for one in mapping.values()) else set()
    assert sorts == {"text", "multimodal_text", "code", "execution_output", "branch"}

"""ChatGPT's export: the branch that was open last, every sort of content, and trees that are damaged."""

from __future__ import annotations

import json
import random
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mnemic.errors import Invalid, TooLarge
from mnemic.ingest import Message, Skipped, detect, read
from mnemic.lab.kit.generate import chatgpt_conversations, chatgpt_export

Write = Callable[[str, str | bytes], Path]

NOON = 1_735_732_800.25
Spoken = dict[str, Any]


def said(text: object, role: str = "user", time: float | None = NOON, **more: Any) -> Spoken:
    content = text if isinstance(text, dict) else {"content_type": "text", "parts": [text]}
    return {"author": {"role": role}, "content": content, "create_time": time, **more}


def chat(tree: dict[str, tuple[str | None, Spoken | None]], current: str | None, **more: Any) -> dict[str, Any]:
    mapping = {
        own: {
            "id": own,
            "message": message,
            "parent": parent,
            "children": [c for c, (p, _) in tree.items() if p == own],
        }
        for own, (parent, message) in tree.items()
    }
    known = {"conversation_id": "c1", "title": "Garden", "create_time": NOON - 60, "current_node": current}
    return {**known, "mapping": mapping, **more}


TREE: dict[str, tuple[str | None, Spoken | None]] = {
    "root": (None, None),
    "system": ("root", said("", "system", None)),
    "ask": ("system", said("When do tomatoes go out?", time=None)),
    "old": ("ask", said("In April.", "assistant")),
    "new": ("ask", said("After the last frost, in May.", "assistant", NOON + 5, metadata={"model_slug": "m-1"})),
    "thanks": ("new", said("谢谢！", time=NOON + 9)),
}


def given(write: Write, *conversations: Any, **options: Any) -> tuple[list[Message], list[Skipped]]:
    path = write("conversations.json", json.dumps(conversations))
    both = list(read(path, "chatgpt", **options))
    return [m for m in both if isinstance(m, Message)], [m for m in both if isinstance(m, Skipped)]


def test_the_branch_that_was_open_last_is_the_conversation(write: Write) -> None:
    messages, skipped = given(write, chat(TREE, "thanks"))
    assert [(m.key, m.slots["role"], m.text, m.pos) for m in messages] == [
        ("chatgpt:c1:ask", "user", "When do tomatoes go out?", 0),
        ("chatgpt:c1:new", "assistant", "After the last frost, in May.", 1),
        ("chatgpt:c1:thanks", "user", "谢谢！", 2),
    ]
    assert {(m.session, m.slots["title"], m.slots["conversation"]) for m in messages} == {("c1", "Garden", "c1")}
    assert messages[0].said == datetime(2025, 1, 1, 11, 59, 0, 250_000, tzinfo=UTC), "the time of the conversation"
    assert messages[1].said == datetime(2025, 1, 1, 12, 0, 5, 250_000, tzinfo=UTC)
    assert messages[1].slots["model"] == "m-1"
    assert {(one.where, one.why) for one in skipped} == {
        ("conversation 1, message system", "is empty"),
        ("conversation 1, message old", "is on a branch that was left; --branches takes it in"),
    }


def test_all_branches_are_taken_in_where_they_are_asked_for(write: Write) -> None:
    messages, _ = given(write, chat(TREE, "thanks"), branches=True)
    assert [(m.text, m.slots.get("branch")) for m in messages][1:3] == [
        ("In April.", "left"),
        ("After the last frost, in May.", None),
    ]


def test_without_a_current_node_the_last_leaf_is_the_open_one(write: Write) -> None:
    for current in (None, "gone"):
        messages, _ = given(write, chat(TREE, current))
        assert [m.key.split(":")[2] for m in messages] == ["ask", "new", "thanks"]


def test_what_tools_and_thoughts_say_is_counted_or_taken_in(write: Write) -> None:
    aside = [
        said({"content_type": "code", "text": "print(2)"}, "assistant", recipient="python"),
        said({"content_type": "execution_output", "text": "2"}, "tool"),
        said({"content_type": "thoughts", "thoughts": [{"summary": "Sums", "content": "1 + 1"}]}, "assistant"),
        said({"content_type": "tether_browsing_display", "result": "a page"}, "tool"),
        said("to a tool", "assistant", recipient="browser"),
        said("You are helpful.", "system"),
    ]
    tree: dict[str, tuple[str | None, Spoken | None]] = {"n0": (None, said("Sum?"))}
    tree |= {f"n{n}": (f"n{n - 1}", one) for n, one in enumerate(aside, start=1)}
    messages, skipped = given(write, chat(tree, "n6"))
    assert [m.text for m in messages] == ["Sum?"]
    assert [one.why for one in skipped] == ["is of a tool, of the system, or a thought; --tools takes it in"] * 6
    messages, skipped = given(write, chat(tree, "n6"), tools=True)
    texts = ["Sum?", "print(2)", "2", "1 + 1\nSums", "a page", "to a tool", "You are helpful."]
    assert ["\n".join(sorted(m.text.split("\n"))) for m in messages] == texts
    assert skipped == []


def test_pictures_and_files_leave_their_names_and_speech_its_words(write: Write) -> None:
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://leaf"}
    names = {"attachments": [{"name": "l.png"}]}
    spoken = {"content_type": "audio_transcription", "text": "what is this leaf", "direction": "in"}
    tree: dict[str, tuple[str | None, Spoken | None]] = {
        "a": (None, said({"content_type": "multimodal_text", "parts": [picture, "Which leaf?"]})),
        "b": ("a", said({"content_type": "multimodal_text", "parts": [picture]}, metadata=names)),
        "c": ("b", said({"content_type": "multimodal_text", "parts": [spoken]})),
    }  # fmt: skip
    messages, _ = given(write, chat(tree, "c"))
    assert [(m.text, m.slots.get("attachments")) for m in messages] == [
        ("Which leaf?", ["file-service://leaf"]),
        ("[file-service://leaf, l.png]", ["file-service://leaf", "l.png"]),
        ("what is this leaf", None),
    ]


def test_custom_instructions_are_taken_once(write: Write) -> None:
    asked = {"content_type": "user_editable_context", "user_profile": "I keep bees.", "user_instructions": "Be brief."}
    tree: dict[str, tuple[str | None, Spoken | None]] = {"a": (None, said(asked)), "b": ("a", said("Hello."))}
    messages, skipped = given(write, chat(tree, "b"), chat(tree, "b", conversation_id="c2"))
    assert [m.text for m in messages] == ["I keep bees.\nBe brief.", "Hello.", "Hello."]
    assert messages[0].session == "custom instructions"
    assert [one.why for one in skipped] == ["repeats the custom instructions"]


def test_a_damaged_tree_loses_nothing_and_never_hangs(write: Write) -> None:
    ring: dict[str, tuple[str | None, Spoken | None]] = {"a": ("b", said("one")), "b": ("a", said("two"))}
    messages, skipped = given(write, chat(ring, "b"))
    assert len(messages) + len(skipped) == 2
    odd = chat({"a": (None, said("one"))}, "a")
    odd["mapping"]["a"]["children"] = ["gone", 7, "a"]
    odd["mapping"] |= {"x": None, "y": {"message": []}, "z": {"message": {"author": None, "content": 3}}}
    messages, skipped = given(write, odd, [], {"mapping": 3}, None, branches=True)
    assert [m.text for m in messages] == ["one"]
    assert len(skipped) == 4


def test_any_damage_is_a_message_a_skip_or_a_typed_error(write: Write) -> None:
    whole = json.dumps([chat(TREE, "thanks")])
    rng = random.Random(5)
    junk = ["null", "[]", "{}", "7", '"x"', "1e400", '"\\ud800"', '"\\u0000"', "-1e15", "true"]
    values = [chat(TREE, "thanks")]
    for _ in range(200):
        text = whole
        for value in rng.sample(['"user"', '"Garden"', "null", '"text"', str(NOON), '"ask"', '["old", "new"]'], 3):
            text = text.replace(value, rng.choice(junk))
        try:
            both = list(read(write("conversations.json", text), "chatgpt", branches=True, tools=True))
        except Invalid:
            continue
        assert all(isinstance(one, Message | Skipped) for one in both)
    assert json.dumps(values) == whole


def test_a_nest_too_deep_is_refused(write: Write) -> None:
    path = write("conversations.json", '[{"mapping": {}, "create_time": ' + "[" * 100_000)
    with pytest.raises(TooLarge, match="nested deeper"):
        list(read(path, "chatgpt"))


def test_a_generated_export_is_read_as_it_was_spoken_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    count = chatgpt_export(path, 3, 3_000_000)
    assert detect(path) == "chatgpt"
    wanted = [
        (one.session, one.role, one.text, one.said)
        for _, exported in zip(range(count), chatgpt_conversations(3), strict=False)
        for one in exported.spoken
    ]
    tracemalloc.start()
    found = 0
    for one in read(path):
        if isinstance(one, Message):
            assert one.said is not None
            assert (one.session, one.slots["role"], one.text, one.said.timestamp()) == wanted[found]
            found += 1
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == len(wanted)
    assert peak < 2_000_000

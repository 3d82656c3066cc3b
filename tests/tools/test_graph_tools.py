"""The tools of the reference memory server: what they keep, what they answer, and what mnemic does with it beside."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic import Memory
from mnemic.core.ids import from_bytes
from mnemic.core.items import Channel, Item, Kind, Version
from mnemic.core.queries import Filter
from mnemic.ingest.message import Message
from mnemic.ingest.readers import read
from mnemic.memory import ScopedMemory
from mnemic.tools import Result, Toolbox, graph_calls
from mnemic.tools.graph_items import graph_of
from mnemic.verbs.transacting import Transaction

GOLDEN = Path(__file__).parent.parent / "golden" / "reference-server.jsonl"
SECRET = "sk-ant-" + "a1B2" * 8


@pytest.fixture
def me() -> Iterator[ScopedMemory]:
    with Memory("memory:", embedder="none") as memory:
        yield memory.scope(user="ada")


@pytest.fixture
def box(me: ScopedMemory) -> Toolbox:
    return Toolbox(me, "reference")


def done(box: Toolbox, name: str, **arguments: Any) -> Mapping[str, Any]:
    result = box.call(name, arguments)
    assert not result.failed, result.text
    tool = next(tool for tool in box.tools if tool.name == name)
    assert result.data is not None
    jsonschema.validate(json.loads(json.dumps(result.data)), dict(tool.result or {}))
    return result.data


def entity(name: str, *observations: str, type: str = "person") -> dict[str, Any]:
    return {"name": name, "entityType": type, "observations": list(observations)}


def tie(src: str, type: str, dst: str) -> dict[str, str]:
    return {"from": src, "to": dst, "relationType": type}


def seq(me: ScopedMemory) -> int:
    found = me.log(limit=1)
    return found[0].seq if found else 0


@pytest.fixture
def filled(box: Toolbox) -> Toolbox:
    done(
        box, "create_entities", entities=[entity("Ada", "plays the cello", "likes tea"), entity("Lisbon", type="city")]
    )
    done(box, "create_relations", relations=[tie("Ada", "lives_in", "Lisbon"), tie("Ada", "knows", "Nobody")])
    return box


def test_every_answer_of_the_reference_server_is_given_to_the_letter(box: Toolbox) -> None:
    lines = GOLDEN.read_text(encoding="utf-8").splitlines()[1:]
    assert len(lines) > 300
    for number, line in enumerate(lines, 2):
        was = json.loads(line)
        answer = box.call(was["tool"], was["arguments"])
        assert answer.failed == was["failed"], number
        if not was["malformed"]:
            assert (answer.text, answer.data) == (was["text"], was["data"]), number


def test_the_tools_are_the_references_with_its_hints(box: Toolbox) -> None:
    assert [(t.name, t.title) for t in box.tools][:2] == [
        ("create_entities", "Create Entities"),
        ("create_relations", "Create Relations"),
    ]
    hints = {t.name: (t.read_only, t.destructive, t.idempotent) for t in box.tools}
    for name in ("create_entities", "create_relations", "add_observations"):
        assert hints[name] == (False, False, False)
    for name in ("delete_entities", "delete_observations", "delete_relations"):
        assert hints[name] == (False, True, True)
    for name in ("read_graph", "search_nodes", "open_nodes"):
        assert hints[name] == (True, False, True)
    assert len(hints) == 9


def test_a_graph_is_recalled_like_anything_else(filled: Toolbox, me: ScopedMemory) -> None:
    assert [one.text for one in me.recall("what does Ada play?", k=1)] == ["plays the cello"]
    assert "Ada lives in Lisbon" in [one.text for one in me.recall("where does Ada live?", k=3)]
    assert {one.item.channel for one in me.list()} == {Channel.MODEL}


def test_what_was_deleted_is_in_the_history_and_undo_brings_it_back(filled: Toolbox, me: ScopedMemory) -> None:
    before = done(filled, "read_graph")
    done(filled, "delete_entities", entityNames=["Ada"])
    assert done(filled, "read_graph") == {"entities": [entity("Lisbon", type="city")], "relations": []}
    me.undo(seq(me))
    after = done(filled, "read_graph")
    assert sorted(after["entities"], key=str) == sorted(before["entities"], key=str)
    assert after["relations"] == before["relations"]


def test_an_entity_that_was_made_again_before_it_was_brought_back_is_one(filled: Toolbox, me: ScopedMemory) -> None:
    done(filled, "delete_entities", entityNames=["Ada"])
    deleted = seq(me)
    done(filled, "create_entities", entities=[entity("Ada", "speaks Dutch")])
    me.undo(deleted, cascade=True)
    found = done(filled, "open_nodes", names=["Ada"])["entities"]
    assert [(one["name"], sorted(one["observations"])) for one in found] == [
        ("Ada", ["likes tea", "plays the cello", "speaks Dutch"])
    ]
    done(filled, "delete_entities", entityNames=["Ada"])
    assert done(filled, "open_nodes", names=["Ada"])["entities"] == []


def test_what_was_erased_is_gone_from_the_graph(filled: Toolbox, me: ScopedMemory) -> None:
    (tea,) = (one.item.id for one in me.list() if one.item.text == "likes tea")
    me.erase(tea, reason="asked")
    assert done(filled, "open_nodes", names=["Ada"])["entities"] == [entity("Ada", "plays the cello")]


def test_a_corrected_observation_shows_as_it_was_corrected(filled: Toolbox, me: ScopedMemory) -> None:
    done(filled, "add_observations", observations=[{"entityName": "Lisbon", "contents": [""]}])
    ids = {one.item.text: one.item.id for one in me.list()}
    me.revise(ids["likes tea"], "likes coffee")
    me.revise(ids['""'], "is sunny")
    assert [one["observations"] for one in done(filled, "read_graph")["entities"]] == [
        ["plays the cello", "likes coffee"],
        ["is sunny"],
    ]


def test_what_else_is_remembered_is_no_part_of_the_graph(filled: Toolbox, me: ScopedMemory) -> None:
    before = done(filled, "read_graph")
    me.observe("I live in Porto. Always answer in metric units.", role="user")
    me.write("Ada owns a boat.", slots={"title": "Ada"})
    me.write("Eve", kind=Kind.ENTITY)
    assert done(filled, "read_graph") == before


def test_rules_make_nothing_of_a_graph(box: Toolbox, me: ScopedMemory) -> None:
    said = ["I live in Porto.", "Always answer in metric units.", "My name is Ada.", "请总是用中文回答。"]
    done(box, "create_entities", entities=[entity("user", *said)])
    me._opened.background.drain(None, None)
    assert {one.item.kind for one in me.list(where=Filter(kinds=tuple(Kind)))} == {Kind.ENTITY, Kind.FACT}
    assert me.count() == 5


def test_an_unknown_entity_and_nothing_is_written(filled: Toolbox, me: ScopedMemory) -> None:
    before = seq(me)
    added = [{"entityName": "Ada", "contents": ["one more"]}, {"entityName": "Eve", "contents": ["x"]}]
    result = filled.call("add_observations", {"observations": added})
    assert result == Result(text="Entity with name Eve not found", failed=True)
    assert seq(me) == before


def test_what_changes_nothing_is_no_commit(filled: Toolbox, me: ScopedMemory) -> None:
    before = seq(me)
    done(filled, "create_entities", entities=[entity("Ada", "anything")])
    done(filled, "create_relations", relations=[tie("Ada", "lives_in", "Lisbon")])
    done(filled, "add_observations", observations=[{"entityName": "Ada", "contents": ["likes tea"]}])
    done(filled, "delete_entities", entityNames=["Eve"])
    done(filled, "delete_observations", deletions=[{"entityName": "Eve", "observations": ["x"]}])
    done(filled, "delete_relations", relations=[tie("Ada", "hates", "Lisbon")])
    assert seq(me) == before


def test_one_call_is_one_commit(filled: Toolbox, me: ScopedMemory) -> None:
    before = seq(me)
    done(filled, "create_entities", entities=[entity("Eve", "a", "b"), entity("Bob", "c")])
    done(filled, "delete_entities", entityNames=["Eve", "Bob", "Ada"])
    assert seq(me) == before + 2


@pytest.mark.parametrize("bad", ["with\x00nul", "half \ud83d", "x" * 40_000])
@pytest.mark.parametrize("where", ["name", "entityType", "observations"])
def test_what_no_item_can_hold_is_refused_and_nothing_written(
    box: Toolbox, me: ScopedMemory, bad: str, where: str
) -> None:
    given = {**entity("Ada", "fine"), where: [bad] if where == "observations" else bad}
    result = box.call("create_entities", {"entities": [entity("Eve", "fine"), given]})
    assert result.failed
    result.text.encode()
    assert me.count() == 0


def test_a_name_that_cannot_be_sent_back_is_shown_without_what_cannot(box: Toolbox) -> None:
    result = box.call("add_observations", {"observations": [{"entityName": "half \ud83d", "contents": []}]})
    assert result == Result(text="Entity with name half ? not found", failed=True)


def test_a_secret_is_masked_and_still_means_what_it_was_given_for(box: Toolbox) -> None:
    done(box, "create_entities", entities=[entity(f"key {SECRET}", f"is {SECRET}")])
    masked = entity("key [masked api key]", "is [masked api key]")
    assert done(box, "read_graph")["entities"] == [masked]
    assert done(box, "open_nodes", names=[f"key {SECRET}"])["entities"] == [masked]
    assert done(box, "create_entities", entities=[entity(f"key {SECRET}")]) == {"entities": []}
    again = [{"entityName": f"key {SECRET}", "contents": [f"is {SECRET}", "is new"]}]
    added = done(box, "add_observations", observations=again)["results"][0]["addedObservations"]
    assert added == ["is new"]
    done(box, "delete_observations", deletions=[{"entityName": f"key {SECRET}", "observations": [f"is {SECRET}"]}])
    assert done(box, "read_graph")["entities"] == [entity("key [masked api key]", "is new")]
    done(box, "create_relations", relations=[tie("Ada", "has", f"key {SECRET}")])
    done(box, "delete_relations", relations=[tie("Ada", "has", f"key {SECRET}")])
    assert done(box, "read_graph")["relations"] == []


def test_an_imported_file_is_the_graph_and_looks_as_if_the_tools_had_written_it(tmp_path: Path) -> None:
    entities = [
        entity("阿达", "喜欢茶", "plays\nthe cello"),
        entity("Lisbon", type="city"),
        entity("typeless", "a", type=""),
    ]
    relations = [tie("阿达", "lives_in", "Lisbon"), tie("Lisbon", "is near", "the sea")]
    lines = [{"type": "entity", **one} for one in entities] + [{"type": "relation", **one} for one in relations]
    path = tmp_path / "memory.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    with Memory("memory:", embedder="none") as memory:
        imported, told = memory.scope(user="imported"), memory.scope(user="told")
        messages = [one for one in read(str(path), "memory-server") if isinstance(one, Message)]
        imported.observe(messages, channel=Channel.IMPORT)
        box = Toolbox(told, "reference")
        done(box, "create_entities", entities=entities)
        done(box, "create_relations", relations=relations)
        graph = {"entities": entities, "relations": relations}
        assert done(Toolbox(imported, "reference"), "read_graph") == graph
        assert done(box, "read_graph") == graph
        assert [_content(one) for one in imported.list()] == [_content(one) for one in told.list()]


def _content(version: Version) -> tuple[Kind, str, Mapping[str, Any]]:
    return version.item.kind, version.item.text, {k: v for k, v in version.item.slots.items() if k != "source"}


# Against a model of the reference, over pure functions


class Plain:
    """The reference in plain lists."""

    def __init__(self) -> None:
        self.entities: list[dict[str, Any]] = []
        self.relations: list[dict[str, Any]] = []

    def create_entities(self, entities: list[dict[str, Any]]) -> list[dict[str, Any]]:
        taken = [one["name"] for one in self.entities]
        fresh = [{**one, "observations": list(one["observations"])} for one in entities if one["name"] not in taken]
        self.entities += fresh
        return json.loads(json.dumps(fresh))

    def create_relations(self, relations: list[dict[str, Any]]) -> list[dict[str, Any]]:
        fresh = [one for one in relations if one not in self.relations]
        self.relations += fresh
        return fresh

    def add_observations(self, observations: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
        if any(self._first(one["entityName"]) is None for one in observations):
            return None
        results = []
        for one in observations:
            held = self._first(one["entityName"])
            fresh = [text for text in one["contents"] if text not in held]
            held += fresh
            results.append({"entityName": one["entityName"], "addedObservations": fresh})
        return results

    def delete_entities(self, entityNames: list[str]) -> None:
        self.entities = [one for one in self.entities if one["name"] not in entityNames]
        self.relations = [r for r in self.relations if r["from"] not in entityNames and r["to"] not in entityNames]

    def delete_observations(self, deletions: list[dict[str, Any]]) -> None:
        for one in deletions:
            if (held := self._first(one["entityName"])) is not None:
                held[:] = [text for text in held if text not in one["observations"]]

    def delete_relations(self, relations: list[dict[str, Any]]) -> None:
        self.relations = [one for one in self.relations if one not in relations]

    def _first(self, name: str) -> Any:
        return next((one["observations"] for one in self.entities if one["name"] == name), None)


class Paper:
    """Versions as a store would keep them, and the calls' edits made on them."""

    def __init__(self) -> None:
        self._standing: dict[str, Version] = {}
        self._number = count(1)

    def call(self, name: str, arguments: Mapping[str, Any]) -> Result:
        call, names = getattr(graph_calls, name), graph_calls.about(name, arguments)
        edits: Transaction[Result] = call(graph_of(self._standing.values()), arguments)
        assert call(graph_of(self._standing.values(), names), arguments) == edits
        assert len(set(edits.retire)) == len(edits.retire)
        for gone in edits.retire:
            del self._standing[gone]
        for statement in edits.write:
            assert statement.text.strip()
            number = next(self._number)
            now = datetime.fromtimestamp(number, UTC)
            item = Item(
                id=from_bytes(number.to_bytes(16, "big")), kind=statement.kind, text=statement.text, said=now,
                slots=statement.slots,
            )  # fmt: skip
            self._standing[item.id] = Version(item=item, seq_from=number, seq_to=None, recorded=now)
        assert edits.revise == {}
        return edits.answer


NAMES = st.sampled_from(["Ada", "ada", "阿达", "", " ", "a (b)", '"'])
TEXTS = st.sampled_from(["tea", "Tea", "", "\n", '""', "喜欢茶", "Ada"])
ENTITY = st.fixed_dictionaries(
    {"name": NAMES, "entityType": st.sampled_from(["", "person", "\t"]), "observations": st.lists(TEXTS, max_size=3)}
)
TIE = st.fixed_dictionaries({"from": NAMES, "to": NAMES, "relationType": st.sampled_from(["", "knows", "lives_in"])})
CALLS = st.one_of(
    st.tuples(st.just("create_entities"), st.fixed_dictionaries({"entities": st.lists(ENTITY, max_size=4)})),
    st.tuples(st.just("create_relations"), st.fixed_dictionaries({"relations": st.lists(TIE, max_size=4)})),
    st.tuples(
        st.just("add_observations"),
        st.fixed_dictionaries(
            {
                "observations": st.lists(
                    st.fixed_dictionaries({"entityName": NAMES, "contents": st.lists(TEXTS, max_size=3)}), max_size=3
                )
            }
        ),
    ),
    st.tuples(st.just("delete_entities"), st.fixed_dictionaries({"entityNames": st.lists(NAMES, max_size=2)})),
    st.tuples(
        st.just("delete_observations"),
        st.fixed_dictionaries(
            {
                "deletions": st.lists(
                    st.fixed_dictionaries({"entityName": NAMES, "observations": st.lists(TEXTS, max_size=3)}),
                    max_size=2,
                )
            }
        ),
    ),
    st.tuples(st.just("delete_relations"), st.fixed_dictionaries({"relations": st.lists(TIE, max_size=3)})),
)


@given(st.lists(CALLS, max_size=12))
def test_any_calls_leave_what_plain_lists_would_hold(calls: list[tuple[str, dict[str, Any]]]) -> None:
    plain, paper = Plain(), Paper()
    for name, arguments in calls:
        expected = getattr(plain, name)(**arguments)
        answer = paper.call(name, arguments)
        if name.startswith("delete"):
            assert answer.data == {"success": True, "message": answer.text}
        else:
            assert answer.failed == (expected is None)
            assert answer.failed or json.loads(answer.text) == expected
        whole = paper.call("read_graph", {})
        assert whole.data == {"entities": plain.entities, "relations": plain.relations}
        assert json.loads(whole.text) == whole.data


@given(st.lists(ENTITY, max_size=5), st.lists(TIE, max_size=5), TEXTS, st.lists(NAMES, max_size=3))
def test_search_and_open_show_what_matches_with_the_relations_at_it(
    entities: list[dict[str, Any]], relations: list[dict[str, str]], query: str, names: list[str]
) -> None:
    paper = Paper()
    paper.call("create_entities", {"entities": entities})
    paper.call("create_relations", {"relations": relations})
    held = {
        "search_nodes": [
            one
            for one in entities
            if any(query.lower() in t.lower() for t in (one["name"], one["entityType"], *one["observations"]))
        ],
        "open_nodes": [one for one in entities if one["name"] in names],
    }
    for name, arguments in (("search_nodes", {"query": query}), ("open_nodes", {"names": names})):
        shown = {one["name"] for one in held[name]}
        ties = [one for one in relations if one["from"] in shown or one["to"] in shown]
        assert paper.call(name, arguments).data == {"entities": held[name], "relations": ties}


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_comes_back_as_it_was(name: str, text: str) -> None:
    paper = Paper()
    given_ = entity(name, text, type=text)
    paper.call("create_entities", {"entities": [given_]})
    paper.call("create_relations", {"relations": [tie(name, text, text)]})
    assert paper.call("read_graph", {}).data == {"entities": [given_], "relations": [tie(name, text, text)]}


def test_a_call_leaves_the_graph_it_was_given_as_it_is() -> None:
    paper = Paper()
    paper.call("create_entities", {"entities": [entity("Ada", "tea")]})
    graph = graph_of(paper._standing.values())
    before = [replace(one, observations=list(one.observations)) for one in graph.entities]
    for _ in range(2):
        graph_calls.add_observations(graph, {"observations": [{"entityName": "Ada", "contents": ["x"]}] * 2})
        assert list(graph.entities) == before

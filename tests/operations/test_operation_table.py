"""The table of operations: each has a right, keeps to its schemas and promises, and no verb is missing from it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import jsonschema
import pytest

from mnemic import Channel, Memory, Message, ScopedMemory, Settings
from mnemic.admin import Admin
from mnemic.core.json_schema import ANNOTATIONS, KEYWORDS, check
from mnemic.credentials.principal import Right
from mnemic.errors import Conflict, Invalid, NotFound, Refused
from mnemic.operations.operation import BRANCH, PAST, SHELF, Operation
from mnemic.operations.operation_table import OPERATIONS
from mnemic.registry import TOOLS, load
from mnemic.store.values.spending import Spending
from mnemic.store.values.work import Order
from mnemic.verbs.statements import REVISABLE, Statement

NOT_OFFERED: Final = {
    "settings": "they name files and endpoints of the server",
    "at": "an argument of what reads",
    "as_of": "an argument of what reads",
    "valid_at": "an argument of what reads",
    "shelf": "arguments of what reads and writes",
    "on_branch": "an argument of what reads and writes",
    "following": "`strategies` lists it",
    "find_session": "`session_pages` has it",
    "visible": "`get`, `list` and `written` read versions",
    "transact": "takes a function; `expect` is for those who are far away",
    "session": "a window is held by a process; its pages are listed",
    "watch": "waits; `changes` is the same by pages, and the feed streams it",
    "read": "asks a model for minutes, and reads files of the server",
    "observe_exchange": "a gateway's, which keeps along with it what it put into a prompt; `observe` writes",
    "prompt_messages": "a gateway's own notes on prompts",
    "spend": "meters what a process has asked models itself",
    "write_folder": "writes files of the machine it runs on",
    "compare_folder": "reads files of the machine it runs on",
    "artefacts": "megabytes of a model's own, which lie beside the store of the process that computed them",
    "learning": "trains a model, which takes minutes and torch; the command line's `neural learn` does",
    "export_cube": "writes a file of the machine it runs on, as a backup does",
    "import_cube": "reads a file of the machine it runs on, and believes it as a backup",
    "check_cube": "reads a file of the machine it runs on",
    "apply_folder": "reads and writes files of the machine it runs on",
}
"""Public verbs of `ScopedMemory` that are no operation, each with the reason."""


@dataclass
class Lived:
    """A memory in which a little has happened, and the ids to speak of."""

    memory: Memory
    me: ScopedMemory
    turn: str
    fact: str
    other: str
    key: str

    def handle(self, operation: Operation) -> ScopedMemory | Admin:
        return self.memory.admin if operation.of_store else self.me

    @property
    def head(self) -> int:
        return max((change.seq for change in self.me.log(limit=1, every=True)), default=0)


@pytest.fixture
def lived() -> Iterator[Lived]:
    settings = Settings(embedder="none", background=False)
    with Memory("memory:", settings=settings) as memory:
        me = memory.scope(user="ada")
        turn = me.observe("I moved to Basel in May.", speaker="Ada", tags=["home"], expires="3000 days").id
        memory.flush()
        fact = me.write("Ada likes tea.", slots={"subject": "Ada"}, source=(turn,)).id
        other = me.write("Ada likes coffee.", kind="profile").id
        me.link(fact, other, "contradicts")
        letter = Message(text="Brought in.", key="letters:1", slots={"source": "letters"})
        me.observe(letter, channel=Channel.IMPORT)
        me.observe("I live in Bern now.", speaker="Ada")
        memory.flush()
        with me.session("chat") as window:
            window.observe("We talk.", speaker="Ada")
        me.branch("try")
        me.on_branch("try").write("On the branch only.")
        memory.admin.order(Order(name="gc", key="k"))
        me.spend(Spending(strategy="house", task="t", model="m", calls=1))
        key = memory.keys.create("reader", tenant=settings.tenant).key.id
        yield Lived(memory, me, turn, fact, other, key)


def _cases(w: Lived) -> dict[str, list[dict[str, Any]]]:
    """Arguments for every operation; the first of each are called twice where it says that it is idempotent."""
    return {
        "observe": [
            {"messages": "Hello.", "key": "a", "tags": ["x"], "agent": "bot", "session": "s", "expires": "30 days"},
            {"messages": {"role": "user", "content": [{"type": "text", "text": "Hi."}], "name": "Ada"}},
            {"messages": ["One.", {"role": "assistant", "content": "Two.", "timestamp": 1_700_000_000}]},
            {"messages": "my key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD", "channel": "tool"},
        ],
        "write": [
            {"text": "Ada rows.", "kind": "plan", "valid_from": "2024-01-01", "source": [w.turn], "branch": "try"}
        ],
        "revise": [{"id": w.fact, "text": "Ada likes green tea.", "tags": ["t"]}, {"id": w.turn, "expires": "9 days"}],
        "supersede": [{"id": w.fact, "text": "Ada likes water.", "key": "k"}],
        "correct": [{"id": w.turn, "text": "I moved to Biel.", "said": "2024-02-03T10:00:00Z"}],
        "settle": [{"id": w.me.profile()[0].facts[0].id, "keep": True}],
        "link": [{"src": w.turn, "dst": w.fact, "type": "about", "weight": 2, "evidence": [w.other]}],
        "unlink": [{"src": w.fact, "dst": w.other, "type": "contradicts"}],
        "pin": [{"ids": [w.fact, w.other]}],
        "unpin": [{"ids": [w.fact]}],
        "forget": [{"ids": [w.fact]}],
        "forget_by": [{"strategy": "house"}],
        "feedback": [{"ids": [w.fact], "useful": True}],
        "follow": [{"strategies": ["house"]}, {}],
        "erase": [{"ids": [w.other], "reason": "asked"}, {"session": "chat"}],
        "erase_user": [{"reason": "asked"}],
        "recall": [
            {"query": "Where does Ada live?", "explain": True},
            {"query": "tea", "where": {"kinds": ["fact"], "slots": {"subject": "Ada"}, "said_from": "2020-01-01"}},
            {"query": "home", "at": 1, "agent": "nobody", "besides": [w.turn]},
        ],
        "context": [{"query": "Where does Ada live?", "budget": 500}, {"query": "", "as_of": "2999-01-01"}],
        "ask": [{"query": "Where does Ada live?"}, {"query": "Who is the king of Sparta?"}],
        "why_not": [{"query": "tea", "id": w.turn}, {"query": "Basel", "id": w.turn}],
        "get": [{"id": w.turn}, {"id": w.fact, "at": w.head}],
        "list": [{"limit": 2}, {"where": {"states": ["active"], "tags": ["home"], "channels": ["user"]}}],
        "count": [{}, {"where": {"by": ["house"]}, "valid_at": "2024-06-01"}],
        "links": [{"id": w.fact}],
        "strength": [{"id": w.turn}],
        "find_ids": [{"typed": w.turn[:4]}],
        "graph": [{}],
        "profile": [{"history": True}],
        "review": [{}],
        "holdings": [{"limit": 3}],
        "sessions": [{}],
        "session_pages": [{"name": "chat"}, {"name": "never held"}],
        "strategies": [{}],
        "history": [{"id": w.fact}],
        "log": [{"limit": 2}, {"every": True, "newest": False}],
        "changes": [{"items": True}, {"after": 2, "limit": 1}],
        "written": [{"seq": 1}],
        "diff": [{"a": 1}, {"a": 1, "b": 3}],
        "undo": [{"seq": 1, "cascade": True}],
        "undo_range": [{"first": 1, "last": w.head, "cascade": True}],
        "undo_import": [{"source": "letters"}],
        "revert": [{"seq": 1}],
        "branches": [{"limit": 1}],
        "branch": [{"name": "other", "at": 1}],
        "merge": [{"name": "try"}, {"name": "try", "dry_run": True, "prefer": "branch"}],
        "drop_branch": [{"name": "try"}],
        "stats": [{}],
        "users": [{"limit": 1}],
        "jobs": [{"over": True}],
        "dead": [{}],
        "retry": [{"id": 0}],
        "cancel": [{"id": next(one.id for one in w.memory.admin.jobs() if one.id is not None)}],
        "rerun": [{"strategy": "house", "user": "ada"}],
        "vitals": [{}],
        "spending": [{}, {"user": "ada"}],
        "keys": [{}],
        "create_key": [
            {"name": "ci", "any_user": True},
            {"name": "ada", "user": "ada", "right": "read", "expires": "90 days"},
        ],
        "revoke_key": [{"id": w.key}],
        "holds": [{"limit": 1}],
        "hold": [
            {"user": "ada", "item": w.turn, "reason": "case 7"},
            {"user": "ada", "session": "chat"},
            {"user": "ada"},
            {"whole": True},
        ],
        "release_hold": [{"hold": 1}],
    }


def test_every_operation_has_a_case(lived: Lived) -> None:
    assert list(_cases(lived)) == list(OPERATIONS)


@pytest.mark.parametrize("name", OPERATIONS)
def test_what_an_operation_answers_is_as_its_schema_says(lived: Lived, name: str) -> None:
    operation = OPERATIONS[name]
    cases = _cases(lived)[operation.name]
    if operation.name == "retry":
        job = next(one.id for one in lived.memory.admin.jobs() if one.id is not None)
        lived.memory.admin.cancel(job)
        cases = [{"id": job}]
    if operation.name == "release_hold":
        lived.memory.admin.hold(user="ada", reason="case 6")
    for arguments in cases:
        check(operation.result, operation.run(lived.handle(operation), arguments))


def test_a_hold_over_the_network_bears_who_set_it_and_keeps_what_it_names(lived: Lived) -> None:
    asked = {"user": "ada", "item": lived.turn, "reason": "case 7"}
    number = OPERATIONS["hold"].run(lived.memory.admin, asked, actor="counsel")["id"]
    (hold,) = OPERATIONS["holds"].run(lived.memory.admin, {})["holds"]
    assert (hold["id"], hold["actor"], hold["item"], hold["user"]) == (number, "counsel", lived.turn, "ada")
    with pytest.raises(Refused, match="case 7"):
        OPERATIONS["erase"].run(lived.me, {"ids": [lived.turn]})
    OPERATIONS["release_hold"].run(lived.memory.admin, {"hold": number})
    OPERATIONS["erase"].run(lived.me, {"ids": [lived.turn]})
    for wrong in ({}, {"whole": True, "user": "ada"}, {"shared": True, "user": "ada"}, {"item": lived.turn}):
        with pytest.raises((Invalid, NotFound)):
            OPERATIONS["hold"].run(lived.memory.admin, wrong)


def test_a_key_over_the_network_opens_everybodys_memory_only_if_that_is_said(lived: Lived) -> None:
    create = OPERATIONS["create_key"]
    for wrong in ({"name": "a"}, {"name": "a", "user": "ada", "any_user": True}):
        with pytest.raises(Invalid, match="any_user"):
            create.run(lived.memory.admin, wrong)
    assert create.run(lived.memory.admin, {"name": "a", "any_user": True})["key"]["user"] is None
    assert create.run(lived.memory.admin, {"name": "b", "user": "ada"})["key"]["user"] == "ada"


@pytest.mark.parametrize("name", [name for name, one in OPERATIONS.items() if one.read_only and not one.of_store])
def test_what_only_reads_makes_no_commit(lived: Lived, name: str) -> None:
    operation = OPERATIONS[name]
    before = lived.head
    for arguments in _cases(lived)[operation.name]:
        operation.run(lived.me, arguments)
    assert lived.head == before


_AGAIN: Final = [n for n, one in OPERATIONS.items() if one.idempotent and not one.read_only and not one.of_store]


@pytest.mark.parametrize("name", _AGAIN)
def test_what_is_idempotent_changes_nothing_more(lived: Lived, name: str) -> None:
    operation = OPERATIONS[name]
    arguments = _cases(lived)[operation.name][0]
    operation.run(lived.me, arguments)
    before = [(version.item, version.seq_to) for version in lived.me.list(limit=100)]
    with suppress(NotFound, Conflict):  # what is gone, or is there, cannot be done again, and says so
        operation.run(lived.me, arguments)
    assert [(version.item, version.seq_to) for version in lived.me.list(limit=100)] == before


def _refused(table: Mapping[str, Operation]) -> list[str]:
    """What is wrong with the rows of a table."""
    wrong = []
    for name, one in table.items():
        right = one.right
        expected = Right.ADMIN if one.of_store or name == "erase_user" else Right.READ if one.read_only else Right.WRITE
        if not isinstance(right, Right) or right is not expected:
            wrong.append(f"{name} has the right {right}, not {expected}")
        if one.read_only and (one.destructive or not one.idempotent):
            wrong.append(f"{name} reads only, and promises otherwise")
        if not (one.title and one.description.endswith(".")):
            wrong.append(f"{name} is not described")
        if one.name != name or one.parameters["additionalProperties"] is not False:
            wrong.append(f"{name} takes what it does not know")
    return wrong


def test_every_operation_has_a_right_and_keeps_its_promises_apart() -> None:
    assert _refused(OPERATIONS) == []


def test_a_row_without_a_right_is_found() -> None:
    row = OPERATIONS["recall"]
    object.__setattr__(bad := _copy(row), "right", None)
    assert _refused({"recall": bad}) == ["recall has the right None, not 1"]


def _copy(row: Operation) -> Operation:
    fields = {name: getattr(row, name) for name in row.__dataclass_fields__}
    return Operation(**fields)


def test_every_schema_is_json_schema_in_words_that_are_checked() -> None:
    for one in OPERATIONS.values():
        for schema in (one.parameters, one.result):
            jsonschema.Draft202012Validator.check_schema(dict(schema))
            assert _keywords(schema) <= KEYWORDS | ANNOTATIONS, one.name


def _keywords(schema: Any) -> set[str]:
    if not isinstance(schema, Mapping):
        return set()
    below = [*schema.get("properties", {}).values(), *schema.get("anyOf", ()), schema.get("items")]
    return set(schema).union(*map(_keywords, below))


def _public(kind: type) -> dict[str, Callable[..., Any]]:
    return {name: verb for name, verb in vars(kind).items() if not name.startswith("_")}


def test_every_public_verb_is_an_operation_or_says_why_not() -> None:
    verbs = set(_public(ScopedMemory))
    assert verbs - set(OPERATIONS) == set(NOT_OFFERED) & verbs
    assert set(NOT_OFFERED) <= verbs, "the list names what is not there"
    assert {name for name, one in OPERATIONS.items() if not one.of_store} - verbs == {"strategies"}


_STATEMENT: Final = set(Statement.__dataclass_fields__) - {"text"}
_HANDLE: Final = {*SHELF, *BRANCH, *PAST}
_ASKED_OTHERWISE: Final = {
    "changes": {"items"},
    "hold": {"shared"},
}
"""Arguments that are an operation's own."""
_NOT_ASKED: Final = {"holds": {"tenant"}, "hold": {"tenant", "actor"}, "release_hold": {"tenant"}}
"""What nobody far away may say of themselves: it is the store's tenant, and whoever asks."""


@pytest.mark.parametrize("called", OPERATIONS)
def test_an_operation_takes_what_its_verb_takes(called: str) -> None:
    operation = OPERATIONS[called]
    verbs = _public(Admin if operation.of_store else ScopedMemory)
    if operation.name not in verbs:
        return
    taken: set[str] = set()
    for name, parameter in inspect.signature(verbs[operation.name]).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            taken |= set(REVISABLE) - {"key"} if operation.name == "revise" else _STATEMENT
        elif name != "self":
            taken.add(name)
    own = set(operation.parameters["properties"]) - set(operation.handle)
    assert own - _ASKED_OTHERWISE.get(operation.name, set()) == taken - _NOT_ASKED.get(operation.name, set())


def test_nobody_is_given_another_past_than_the_schema_says() -> None:
    for one in OPERATIONS.values():
        assert set(one.handle) <= _HANDLE
        assert one.read_only or one.name == "branch" or not set(PAST) & set(one.handle), one.name


def test_arguments_that_do_not_fit_are_refused_before_anything_is_done(lived: Lived) -> None:
    before = lived.head
    for arguments in ({}, {"messages": "x", "user": "bob"}, {"messages": 3}, {"messages": []}, {"messages": {"a": 1}}):
        with pytest.raises(Invalid):
            OPERATIONS["observe"].run(lived.me, arguments)
    assert lived.head == before


def test_the_tools_of_a_model_promise_what_the_operations_of_their_name_do() -> None:
    tools = {tool.name: tool for tool in load(TOOLS, "verbs") if tool.name in OPERATIONS}
    assert set(tools) == {"recall", "context", "forget", "history", "correct"}
    for name, tool in tools.items():
        operation = OPERATIONS[name]
        assert (tool.read_only, tool.idempotent) == (operation.read_only, operation.idempotent or name == "correct")
        assert tool.destructive == operation.destructive
        shared = set(tool.parameters["properties"]) & set(operation.parameters["properties"])
        assert set(tool.parameters["properties"]) - shared == ({"changed", "since"} if name == "correct" else set())
        for one in shared:
            mine, theirs = (schema.parameters["properties"][one] for schema in (tool, operation))
            assert mine["type"] == theirs["type"], (name, one)

"""Changes to JSON and TOML texts: everything else stays, twice is once, and taking out is the way back to the byte."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mnemic.errors import Invalid
from mnemic.faces.installing import toml_tables
from mnemic.faces.installing.clients import CLIENTS
from mnemic.faces.installing.edits import Document, cut, put
from mnemic.faces.installing.hook_entries import ours, with_hooks
from mnemic.faces.installing.json_spans import Unreadable, parse, value
from mnemic.faces.installing.own_entries import is_our_entry, is_our_hook

ENTRY = {"command": "/opt/venv/bin/mnemic", "args": ["mcp", "--user", "Zoë"]}
COMMAND = "/opt/venv/bin/mnemic hook {} --client claude-code"
NESTED = CLIENTS["claude-code"].hooks
FLAT = CLIENTS["cursor"].hooks
assert NESTED is not None
assert FLAT is not None
COMMANDS = {name: COMMAND.format(event) for name, event in NESTED.events.items()}
FLAT_COMMANDS = {name: COMMAND.format(event) for name, event in FLAT.events.items()}

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
keys = st.text() | st.sampled_from(["mcpServers", "hooks", "Stop", "SessionStart", "version", "mnemic", "command"])
anything = st.recursive(
    scalars, lambda deeper: st.lists(deeper, max_size=3) | st.dictionaries(keys, deeper, max_size=3), max_leaves=12
)
foreign_hooks = st.fixed_dictionaries(
    {},
    optional={
        "command": st.text(),
        "matcher": st.text(),
        "hooks": st.lists(st.fixed_dictionaries({"command": st.text()})),
    },
)
settings_objects = st.builds(
    lambda rest, known: {**rest, **known},
    st.dictionaries(st.text().filter(lambda key: key not in ("mcpServers", "hooks", "version")), anything, max_size=4),
    st.fixed_dictionaries(
        {},
        optional={
            "mcpServers": st.dictionaries(st.text().filter(lambda name: name != "mnemic"), anything, max_size=3),
            "hooks": st.dictionaries(
                st.sampled_from(["Stop", "SessionStart", "PostToolUse", "stop"]), st.lists(foreign_hooks, max_size=3)
            ),
        },
    ),
)


@st.composite
def laid_out(draw: st.DrawFn) -> str:
    """A settings object, written in one of many ways."""
    said = draw(settings_objects)
    indent = draw(st.sampled_from([None, 0, 1, 2, 4, "\t"]))
    tight = draw(st.booleans())
    text = json.dumps(
        said,
        indent=indent,
        ensure_ascii=draw(st.booleans()),
        separators=(",", ":") if tight else None,
    )
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return draw(st.sampled_from(["", " ", "\n"])) + text + draw(st.sampled_from(["", "\n", "\r\n", "\n\n"]))


def encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def full(document: Document) -> Document:
    document = put(document, ("mcpServers", "mnemic"), ENTRY)
    return with_hooks(document, NESTED, COMMANDS)


def emptied(document: Document) -> Document:
    document = with_hooks(document, NESTED, {})
    node = document.find(("mcpServers",))
    assert node is not None
    place = next(i for i, member in enumerate(node.members) if member.key == "mnemic")
    return cut(document, ("mcpServers",), place)


def without_ours(said: dict[str, Any]) -> dict[str, Any]:
    """What is left of settings when ours is taken out by other means, empty containers included."""
    servers = {name: entry for name, entry in said["mcpServers"].items() if name != "mnemic"}
    hooks = {
        event: [g for g in groups if not any(is_our_hook(h.get("command")) for h in g.get("hooks", []))]
        for event, groups in said["hooks"].items()
    }
    return {**said, "mcpServers": servers, "hooks": hooks}


@given(laid_out().filter(encodable))
def test_everything_foreign_stays_in_its_order(text: str) -> None:
    before, after = json.loads(text), json.loads(full(Document(text)).text)
    assert after["mcpServers"].pop("mnemic") == ENTRY
    left = without_ours(after)
    assert list(after)[: len(before)] == list(before)
    assert left == {
        **before,
        "mcpServers": before.get("mcpServers", {}),
        "hooks": {**{name: [] for name in COMMANDS}, **before.get("hooks", {})},
    }


@given(laid_out().filter(encodable))
def test_every_foreign_byte_stays_where_it_is(text: str) -> None:
    after = full(Document(text)).text
    rest = iter(after)
    skipped = [c for c in text.strip() if not c.isspace()]
    assert all(any(c == other for other in rest) for c in skipped), "the old text is a subsequence of the new"


@given(laid_out().filter(encodable))
def test_twice_is_once(text: str) -> None:
    once = full(Document(text))
    assert with_hooks(once, NESTED, COMMANDS) == once
    assert put(once, ("mcpServers", "mnemic"), ENTRY).text == once.text


@given(laid_out().filter(encodable))
def test_taking_out_leads_back_to_the_byte(text: str) -> None:
    assert emptied(full(Document(text))).text == text


@given(
    st.sampled_from(["", " ", "\n", "\r\n\r\n", "{}", "{ }\n", "{\n}", "{\n\n}\n", '{"mcpServers": {}, "hooks": {}}'])
)
def test_empty_files_lead_back_to_the_byte(text: str) -> None:
    installed = full(Document(text))
    assert set(json.loads(installed.text)) == {"mcpServers", "hooks"}
    assert emptied(installed).text == text


@given(laid_out().filter(encodable), st.text(max_size=3))
def test_an_update_between_changes_nothing_about_the_way_back(text: str, word: str) -> None:
    installed = full(Document(text))
    changed = put(installed, ("mcpServers", "mnemic"), {**ENTRY, "args": ["mcp", word]})
    fewer = dict(list(COMMANDS.items())[:2])
    assert emptied(with_hooks(changed, NESTED, fewer)).text == text


@given(laid_out().filter(encodable))
def test_flat_hooks_with_a_version_do_the_same(text: str) -> None:
    installed = with_hooks(Document(text), FLAT, FLAT_COMMANDS)
    assert ("version" in json.loads(installed.text)) is not bool(json.loads(text).get("hooks"))
    assert with_hooks(installed, FLAT, FLAT_COMMANDS) == installed
    assert with_hooks(installed, FLAT, {}).text == text


def test_a_record_that_was_lost_costs_empty_containers_and_nothing_else() -> None:
    text = '{\n  "a": 1\n}\n'
    installed = full(Document(text))
    assert json.loads(emptied(replace(installed, made={})).text) == {
        "a": 1,
        "mcpServers": {},
        "hooks": {name: [] for name in COMMANDS},
    }


COMMENTED = [
    '{\n  // servers\n  "a": 1 // one\n}\n',
    '{\n  "a": 1, // one\n}\n',
    '{\n  "a": 1 /* one */, // two\n  // three\n}\n',
    "{ // nothing yet\n}\n",
    "{ /* nothing */ }",
    '// top\n{\n\t"mcpServers": {\n\t\t// none\n\t},\n}\n// end',
    '{"a": 1 // one\n}',
    '{\n  "mcpServers": {\n    "x": {} // x\n    // "y": {}\n  }\n}',
    '{"a": "// no comment", "b": "/* nor this */"}',
]


@pytest.mark.parametrize("text", COMMENTED)
def test_comments_stay_and_the_way_back_is_exact(text: str) -> None:
    installed = full(Document(text, comments=True))
    root = installed.root()
    said = value(installed.text, root)
    assert said["mcpServers"]["mnemic"] == ENTRY
    for comment in ("// servers", "// one", "/* one */", "// two", "// three", "// none", '// "y": {}'):
        assert (comment in text) == (comment in installed.text)
    assert emptied(installed).text == text


def test_a_comment_stays_on_the_line_of_what_it_speaks_of() -> None:
    installed = put(Document('{\n  "a": 1 // one\n}\n', comments=True), ("b",), 2)
    assert installed.text == '{\n  "a": 1, // one\n  "b": 2\n}\n'


def test_somebodys_comment_in_our_container_keeps_it() -> None:
    installed = put(Document("", comments=True), ("mcpServers", "mnemic"), ENTRY)
    edited = replace(installed, text=installed.text.replace('"mcpServers": {', '"mcpServers": { // mine'))
    assert "// mine" in cut(edited, ("mcpServers",), 0).text


@given(anything, st.sampled_from([None, 2, "\t"]))
@example([1e308, -0.0, 10**400], None)
def test_what_is_read_is_what_json_reads(said: Any, indent: int | str | None) -> None:
    text = json.dumps(said, indent=indent)
    node = parse(text, comments=False)
    assert value(text, node) == said
    assert text[node.start : node.end] == text


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ('{"a": 1', 1, "the end of the file"),
        ('{\n"a": tru\n}', 2, "'t' where a value"),
        ('{\n"a": 01}', 2, "'0' where a value"),
        ('{"a": 1,}', 1, "a comma before '}'"),
        ("{\n\n'a': 1}", 3, "a name in quotes"),
        ('{"a" 1}', 1, "a colon"),
        ('{"a": 1} x', 1, "follows the end"),
        ('{"a": 1 "b": 2}', 1, "a comma or"),
        ('{"a": [1 2]}', 1, "a comma or"),
        ('// c\n{"a": 1}', 1, "a comment"),
        ('{"a": "\\x"}', 1, "a value"),
        ('{"a": "\n"}', 1, "a value"),
        ("{" + '"a":{' * 300, 1, "too deeply"),
        ("nul", 1, "a value"),
    ],
)
def test_what_is_broken_is_told_with_its_line(text: str, line: int, told: str) -> None:
    with pytest.raises(Unreadable, match=told) as raised:
        parse(text, comments=False)
    assert raised.value.line == line


@given(st.text(alphabet='{}[]",:0 \n1tf/*'))
def test_what_we_take_json_takes(text: str) -> None:
    try:
        parse(text, comments=False)
    except Unreadable:
        return
    json.loads(text)


@pytest.mark.parametrize(
    "text", ["[]", "1", '"x"', '{"mcpServers": []}', '{"mcpServers": null}', '{"hooks": []}', '{"hooks": {"Stop": {}}}']
)
def test_a_wrong_type_on_the_way_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="but something else"):
        full(Document(text))


def test_a_key_that_stands_twice_is_refused() -> None:
    with pytest.raises(Invalid, match="twice"):
        put(Document('{"mcpServers": {}, "mcpServers": {"a": 1}}'), ("mcpServers", "mnemic"), ENTRY)


def test_a_newer_version_of_hooks_is_refused() -> None:
    with pytest.raises(Invalid, match="version is 2"):
        with_hooks(Document('{"version": 2}'), FLAT, FLAT_COMMANDS)


def test_our_hook_in_somebodys_group_is_ours_alone() -> None:
    theirs = {"type": "command", "command": "make lint"}
    mine = {"type": "command", "command": COMMAND.format("end"), "timeout": 3}
    text = json.dumps({"hooks": {"Stop": [{"matcher": "x", "hooks": [theirs, mine]}]}}, indent=2)
    changed = with_hooks(Document(text), NESTED, {"Stop": COMMANDS["Stop"]})
    assert json.loads(changed.text)["hooks"]["Stop"][0]["hooks"] == [theirs, {**mine, "timeout": 10}]
    out = with_hooks(changed, NESTED, {})
    assert json.loads(out.text) == {"hooks": {"Stop": [{"matcher": "x", "hooks": [theirs]}]}}


def test_a_hook_of_ours_that_stands_twice_stands_once_afterwards() -> None:
    group = {"hooks": [{"type": "command", "command": COMMAND.format("end")}]}
    text = json.dumps({"hooks": {"Stop": [group, group], "Old": [group]}})
    changed = with_hooks(Document(text), NESTED, COMMANDS)
    assert [place.event for place in ours(changed)] == ["Stop", *(name for name in COMMANDS if name != "Stop")]


@pytest.mark.parametrize(
    ("entry", "is_ours"),
    [
        ({"command": "/a b/mnemic", "args": ["mcp"]}, True),
        ({"command": "C:\\venv\\Scripts\\mnemic.exe", "args": ["mcp", "--user", "a"]}, True),
        ({"command": "/usr/bin/python3.11", "args": ["-m", "mnemic", "mcp"]}, True),
        ({"command": ["/x/mnemic", "mcp"], "enabled": True}, True),
        ({"command": "/x/mnemic", "args": ["recall"]}, False),
        ({"command": "/x/mnemic-other", "args": ["mcp"]}, False),
        ({"command": "/usr/bin/python3", "args": ["-m", "other", "mcp"]}, False),
        ({"command": "npx", "args": ["mnemic", "mcp"]}, False),
        ({"url": "http://localhost/mcp"}, False),
        ({"command": 3, "args": {}}, False),
        ("mnemic mcp", False),
        (None, False),
    ],
)
def test_an_entry_is_known_by_its_command(entry: Any, is_ours: bool) -> None:
    assert is_our_entry(entry) is is_ours


@pytest.mark.parametrize(
    ("command", "is_ours"),
    [
        ("'/a b/mnemic' hook end --client codex", True),
        ("/usr/bin/python3 -m mnemic hook start", True),
        ("mnemic hook start", True),
        ("echo mnemic hook start", False),
        ("mnemic recall hook", False),
        ("'open quote mnemic hook", False),
        ("", False),
        (None, False),
    ],
)
def test_a_hook_is_known_by_its_command(command: Any, is_ours: bool) -> None:
    assert is_our_hook(command) is is_ours


# TOML

TOML = [
    "",
    "\n",
    'model = "x"',
    'model = "x"\n',
    'model = "x"\n\n',
    "a = 1\r\n[b]\r\nc = [\r\n 1,\r\n]\r\n",
    '# comment\n[mcp_servers.other]\ncommand = "x" # y\nargs = ["z"]\n\n# end\n',
    "[mcp_servers]\n",
    "[[a]]\nb = nan\n[[a]]\nb = 1979-05-27T07:32:00Z\n",
]


@pytest.mark.parametrize("text", TOML)
def test_a_table_goes_in_and_out_to_the_byte(text: str) -> None:
    once, glue = toml_tables.put(text, "mcp_servers", "mnemic", ENTRY)
    assert tomllib.loads(once)["mcp_servers"]["mnemic"] == ENTRY
    assert toml_tables.put(once, "mcp_servers", "mnemic", ENTRY) == (once, None)
    assert once.startswith(text)
    assert toml_tables.drop(once, "mcp_servers", "mnemic", glue) == text


@given(st.text(), st.lists(st.text(), max_size=3), st.text(min_size=1))
@example(command="", args=[], name="\x85")
def test_any_words_can_stand_in_a_table(command: str, args: list[str], name: str) -> None:
    entry = {"command": command, "args": args}
    if not encodable(command + name + "".join(args)):
        return
    text, glue = toml_tables.put("a = 1\n", "mcp_servers", name, entry)
    assert tomllib.loads(text)["mcp_servers"] == {name: entry}
    assert toml_tables.drop(text, "mcp_servers", name, glue) == "a = 1\n"


IMITATIONS = [
    'x = """\n[mcp_servers.mnemic]\ncommand = 1\n"""\n',
    "x = '''\n[mcp_servers.mnemic]\n'''\n[z]\n",
    'x = [\n"""\n[mcp_servers.mnemic.env]\n""",\n[1],\n]\n',
]


@pytest.mark.parametrize("text", IMITATIONS)
def test_a_string_that_looks_like_our_table_is_not_cut(text: str) -> None:
    once, glue = toml_tables.put(text, "mcp_servers", "mnemic", ENTRY)
    assert once.startswith(text)
    changed, _ = toml_tables.put(once, "mcp_servers", "mnemic", {**ENTRY, "command": "/new/mnemic"})
    assert tomllib.loads(changed)["mcp_servers"]["mnemic"]["command"] == "/new/mnemic"
    assert toml_tables.drop(changed, "mcp_servers", "mnemic", glue) == text


def test_a_list_or_a_string_in_our_table_goes_with_it() -> None:
    grown = '[mcp_servers.mnemic]\ncommand = "m"\nx = [\n[1],\n]\ny = """\n[z]\n"""\n\n[z]\na = 1\n'
    assert toml_tables.drop(grown, "mcp_servers", "mnemic", None) == "\n[z]\na = 1\n"


def test_a_table_that_changes_keeps_what_a_person_added() -> None:
    text = '[mcp_servers.mnemic]\ncommand = "old"\nargs = ["mcp"]\nstartup_timeout_sec = 20\n\n[z]\n'
    changed, glue = toml_tables.put(text, "mcp_servers", "mnemic", ENTRY)
    assert glue is None
    assert tomllib.loads(changed)["mcp_servers"]["mnemic"] == {**ENTRY, "startup_timeout_sec": 20}
    assert changed.endswith("startup_timeout_sec = 20\n\n[z]\n")


def test_what_is_under_our_table_goes_with_it_and_what_came_after_stays() -> None:
    text = "a = 1\n"
    installed, glue = toml_tables.put(text, "mcp_servers", "mnemic", ENTRY)
    grown = installed + '\n[mcp_servers.mnemic.env]\nX = "1"\n\n# theirs\n[mcp_servers.other]\ncommand = "o"\n'
    assert (
        toml_tables.drop(grown, "mcp_servers", "mnemic", glue)
        == 'a = 1\n\n# theirs\n[mcp_servers.other]\ncommand = "o"\n'
    )


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { other = { command = "x" } }\n',
        'mcp_servers.mnemic.command = "/x/mnemic"\nmcp_servers.mnemic.args = ["mcp"]\n',
        '[mcp_servers]\nmnemic = { command = "/x/mnemic", args = ["mcp"] }\n',
        '[mcp_servers.mnemic]\ncommand = "/x/mnemic"\nargs = [\n  "mcp",\n]\n',
        "mcp_servers = 1\n",
        "a = \n",
    ],
)
def test_a_form_that_we_do_not_write_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        toml_tables.put(text, "mcp_servers", "mnemic", ENTRY)

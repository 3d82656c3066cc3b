"""The file commands of Anthropic's memory tool over a memory: view, create, str_replace, insert, delete, rename.

They answer word for word what the reference implementation in Anthropic's SDK does, over items: recall finds what a
file says, every edit is in its history, `undo` takes one back, and servers that share a store lose none. It differs so:

- Secrets are masked before they are kept (setting `mask_secrets`): a key in `file_text` reads `[masked api key]` later.
- A part of a long file that was forgotten or erased by itself leaves a line that says so.
- A NUL or a lone surrogate is refused, and nothing written.
- `/memories/mnemic` shows, read-only, what else is remembered (`tools.memory_pages`); without that it is not there.
- What the reference leaves to an error of the operating system is answered in words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.json_schema import check, many, shape, text, whole
from mnemic.errors import MnemicError
from mnemic.tools.base import Result, Tool
from mnemic.tools.files_commands import COMMANDS, CommandOutcome, perform
from mnemic.tools.files_kept import KEPT, edits, folded
from mnemic.tools.files_tree import VIEWS, File, Tree, Untold, place_of
from mnemic.tools.memory_pages import pages
from mnemic.verbs.transacting import Transaction

if TYPE_CHECKING:
    from mnemic.core.items import Version
    from mnemic.memory import ScopedMemory

Arguments = Mapping[str, Any]


def _run(memory: ScopedMemory, command: str, arguments: Arguments) -> Result:
    settings = memory.settings
    shown = pages(memory) if command == "view" and _shows_views(arguments["path"]) else {}

    def think(versions: Sequence[Version]) -> Transaction[CommandOutcome]:
        kept = folded(versions)
        tree = _with_pages(kept, shown) if shown else kept
        outcome = perform(tree, command, arguments)
        return edits(tree, outcome.tree, outcome, settings)

    outcome = memory.transact(KEPT, think)
    return Result(text=outcome.text, failed=outcome.failed)


def _shows_views(path: str) -> bool:
    try:
        place = place_of(path)
    except Untold:
        return False
    return place[:1] in ((), (VIEWS,))


def _with_pages(tree: Tree, shown: Mapping[str, str]) -> Tree:
    for name, page in shown.items():
        place = (VIEWS, name)
        tree = tree.with_parents(place).with_file(place, File(page))
    return tree


def run_command(memory: ScopedMemory, command: Arguments) -> Result:
    """Run one command as Anthropic's API gives it: `{"command": "view", "path": "/memories"}`.

    What the model can mend comes back as a result that says so, never as an exception.
    """
    try:
        check(_COMMAND, command)
        return _command(memory, command)
    except MnemicError as error:
        return Result(text=f"{type(error).__name__}: {error}", failed=True)


def _command(memory: ScopedMemory, command: Arguments) -> Result:
    tool = next(tool for tool in TOOLS if tool.name == command["command"])
    arguments = {name: value for name, value in command.items() if name != "command" and value is not None}
    check(tool.parameters, arguments)
    return tool.run(memory, arguments)


_PATH: Final = "Path of a file or folder; it begins with /memories."
_FIELDS: Final[Mapping[str, Mapping[str, Any]]] = {
    "path": text(_PATH),
    "view_range": many(whole(), "First and last line to show, from 1; -1 is the end. Left out, or for a folder: all."),
    "file_text": text("What the file is to say."),
    "old_str": text("The text to replace, exactly as the file has it; it has to be there once."),
    "new_str": text("What stands in its place; may be empty."),
    "insert_line": whole("The line after which to insert; 0 is the beginning."),
    "insert_text": text("The lines to insert."),
    "old_path": text("What to rename: a file or folder."),
    "new_path": text("Its new path; nothing may be there. Missing folders are made."),
}


def _tool(name: str, title: str, description: str, required: Sequence[str], **promises: Any) -> Tool:
    def run(memory: ScopedMemory, arguments: Arguments) -> Result:
        return _run(memory, name, arguments)

    optional = promises.pop("optional", ())
    parameters = shape({f: _FIELDS[f] for f in required}, {f: _FIELDS[f] for f in optional})
    return Tool(name=name, title=title, description=description, parameters=parameters, run=run, **promises)


TOOLS: Final = (
    _tool(
        "view",
        "View a folder or file",
        "Show what is in a memory folder, two levels deep with sizes, or the lines of a memory file with their "
        "numbers. Look at /memories before you begin: earlier sessions may have left notes there.",
        ("path",),
        optional=("view_range",),
        read_only=True,
        idempotent=True,
    ),
    _tool(
        "create",
        "Create a file",
        "Write a new memory file; missing folders are made. A file that is there already is left as it is: change it "
        "with str_replace or insert.",
        ("path", "file_text"),
    ),
    _tool(
        "str_replace",
        "Replace text in a file",
        "Replace a text that stands exactly once in a memory file.",
        ("path", "old_str", "new_str"),
        destructive=True,
    ),
    _tool(
        "insert",
        "Insert lines into a file",
        "Insert text after a line of a memory file.",
        ("path", "insert_line", "insert_text"),
    ),
    _tool(
        "delete",
        "Delete a file or folder",
        "Delete a memory file, or a folder with all that is in it.",
        ("path",),
        destructive=True,
    ),
    _tool(
        "rename",
        "Rename or move",
        "Give a memory file or folder another path.",
        ("old_path", "new_path"),
        destructive=True,
    ),
)

_ANY: Final = {name: {**schema, "type": [schema["type"], "null"]} for name, schema in _FIELDS.items()}
_COMMAND: Final = shape({"command": text("What to do.", among=tuple(COMMANDS))}, _ANY)

MEMORY_TOOL: Final = Tool(
    name="memory",
    title="Memory files",
    description="View, create, change, delete and rename the files under /memories, which outlast this conversation.",
    parameters=_COMMAND,
    run=run_command,
    destructive=True,
    declared={"type": "memory_20250818", "name": "memory"},
)
"""The six commands as the one tool that Anthropic's API calls `memory`."""

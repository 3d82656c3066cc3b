"""The six commands of Anthropic's memory tool as pure functions: a tree and a command in, a tree and an answer out.

What they answer is, word for word, what the reference implementation in Anthropic's SDK answers; where that one ends
in an error of the operating system, these say in words what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from mnemic.tools.files_tree import VIEWS, File, Place, Tree, Untold, place_of, shown, storable, too_long

DEPTH: Final = 2
MAX_LINES: Final = 999_999
_NUMBER_WIDTH: Final = 6
_AROUND: Final = 2
"""Lines shown before and after the one that was changed."""

_FOLDER_BYTES: Final = 4096
"""What an ordinary folder takes on ext4, the file system that the reference mostly runs on."""


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """The tree after a command, and what it answers.

    Attributes:
        failed: The command could not be done. The tree may have changed for all that: `rename` makes the folders that
            lead to its destination before it looks for what is to be renamed, as the reference does.
    """

    tree: Tree
    text: str
    failed: bool = False


def perform(tree: Tree, command: str, arguments: Mapping[str, Any]) -> CommandOutcome:
    """Run one command.

    Args:
        command: One of `COMMANDS`.
        arguments: Its arguments, as its schema has them.

    Raises:
        Invalid: a path or a text cannot be kept; nothing was done.
    """
    try:
        return COMMANDS[command](tree, arguments)
    except Untold as error:
        return CommandOutcome(tree, str(error), failed=True)


def _view(tree: Tree, arguments: Mapping[str, Any]) -> CommandOutcome:
    path = arguments["path"]
    place = _short(place_of(path))
    if place in tree.files:
        return CommandOutcome(tree, _numbered(path, tree.files[place].text, arguments.get("view_range")))
    if not tree.is_folder(place):
        raise _no_such(path)
    return CommandOutcome(tree, _listing(tree, path, place))


def _create(tree: Tree, arguments: Mapping[str, Any]) -> CommandOutcome:
    path = arguments["path"]
    place, text = _short(_writable(path)), storable("file_text", arguments["file_text"])
    if place in tree:
        raise Untold(f"File {path} already exists")
    return CommandOutcome(
        tree.with_parents(place).with_file(place, File(text)), f"File created successfully at: {path}"
    )


def _str_replace(tree: Tree, arguments: Mapping[str, Any]) -> CommandOutcome:
    path, old, new = arguments["path"], arguments["old_str"], storable("new_str", arguments["new_str"])
    place, file = _file(tree, path)
    count = file.text.count(old)
    if count == 0:
        raise Untold(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
    if count > 1:
        lines = ", ".join(map(str, _lines_of(old, file.text)))
        raise Untold(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. "
            "Please ensure it is unique"
        )
    at = file.text.index(old)
    text = file.text[:at] + new + file.text[at + len(old) :]
    said = "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
    return CommandOutcome(_rewritten(tree, place, text), said + _snippet(text, file.text.count("\n", 0, at)))


def _insert(tree: Tree, arguments: Mapping[str, Any]) -> CommandOutcome:
    path, at = arguments["path"], arguments["insert_line"]
    text = storable("insert_text", arguments["insert_text"])
    place, file = _file(tree, path)
    lines = file.text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if not 0 <= at <= len(lines):
        raise Untold(f"Invalid `insert_line` parameter: {at}. It should be within the range [0, {len(lines)}].")
    joined = "\n".join((*lines[:at], text.rstrip("\n"), *lines[at:]))
    ended = joined if joined.endswith("\n") else joined + "\n"
    return CommandOutcome(_rewritten(tree, place, ended), f"The file {path} has been edited.")


def _delete(tree: Tree, arguments: Mapping[str, Any]) -> CommandOutcome:
    path = arguments["path"]
    place = _short(_writable(path))
    if not place:
        raise Untold("Cannot delete the /memories directory itself")
    if place not in tree:
        raise Untold(f"The path {path} does not exist")
    return CommandOutcome(tree.without(place), f"Successfully deleted {path}")


def _rename(tree: Tree, arguments: Mapping[str, Any]) -> CommandOutcome:
    old_path, new_path = arguments["old_path"], arguments["new_path"]
    old, new = _writable(old_path), _writable(new_path)
    if not old:
        raise Untold("Cannot rename the /memories directory itself")
    if _short(new) in tree:
        raise Untold(f"The destination {new_path} already exists")
    blocked = new[:-1] in tree.files
    made = tree if blocked else tree.with_parents(new)
    if problem := _cannot_move(made, old, new, old_path, blocked=blocked):
        return CommandOutcome(made, problem, failed=True)
    return CommandOutcome(made.moved(old, new), f"Successfully renamed {old_path} to {new_path}")


def _cannot_move(tree: Tree, old: Place, new: Place, old_path: str, *, blocked: bool) -> str | None:
    """What keeps a file or folder from being moved, found in the order in which Linux looks."""
    missing = f"The path {old_path} does not exist"
    if tree.in_the_way(old):
        return f"{shown(old)} cannot be: a file stands where a folder is needed"
    if long := too_long(old):
        return long
    if not tree.is_folder(old[:-1]):
        return missing
    if blocked:
        return f"{shown(new)} cannot be: a file stands where a folder is needed"
    if old not in tree:
        return missing
    return f"{shown(old)} cannot be moved into itself" if new[: len(old)] == old else None


COMMANDS: Final[Mapping[str, Callable[[Tree, Mapping[str, Any]], CommandOutcome]]] = {
    "view": _view,
    "create": _create,
    "str_replace": _str_replace,
    "insert": _insert,
    "delete": _delete,
    "rename": _rename,
}


def _writable(path: str) -> Place:
    place = place_of(path)
    if place[:1] == (VIEWS,):
        raise Untold(
            f"{shown(place)} cannot be written: {shown((VIEWS,))} shows what mnemic remembers besides these files. "
            "Write a file elsewhere under /memories; what an item says is changed by its id, with the tools `correct` "
            "and `forget` or with `mnemic revise` and `mnemic forget`."
        )
    return place


def _short(place: Place) -> Place:
    if problem := too_long(place):
        raise Untold(problem)
    return place


def _file(tree: Tree, path: str) -> tuple[Place, File]:
    place = _short(_writable(path))
    if place not in tree:
        raise _no_such(path)
    if place not in tree.files:
        raise Untold(f"The path {path} is not a file.")
    return place, tree.files[place]


def _rewritten(tree: Tree, place: Place, text: str) -> Tree:
    return tree.with_file(place, replace(tree.files[place], text=text))


def _no_such(path: str) -> Untold:
    return Untold(f"The path {path} does not exist. Please provide a valid path.")


def _numbered(path: str, text: str, view_range: Sequence[int] | None) -> str:
    lines = text.split("\n")
    if len(lines) > MAX_LINES:
        raise Untold(f"File {path} exceeds maximum line limit of {MAX_LINES:,} lines.")
    start, end = 0, len(lines)
    if view_range and len(view_range) == 2:
        start = max(1, view_range[0]) - 1
        end = end if view_range[1] == -1 else view_range[1]
    body = "\n".join(_line(number, line) for number, line in enumerate(lines[start:end], start + 1))
    return f"Here's the content of {path} with line numbers:\n{body}"


def _snippet(text: str, changed: int) -> str:
    """The lines around the one numbered `changed`, from 0."""
    first = max(0, changed - _AROUND)
    lines = text.split("\n")[first : changed + _AROUND + 1]
    return "\n".join(_line(number, line) for number, line in enumerate(lines, first + 1))


def _line(number: int, line: str) -> str:
    return f"{number:>{_NUMBER_WIDTH}}\t{line}"


def _lines_of(needle: str, text: str) -> Iterator[int]:
    """The line, from 1, of every occurrence; occurrences that overlap count."""
    line, counted, at = 1, 0, text.find(needle)
    while at != -1:
        line += text.count("\n", counted, at)
        counted = at
        yield line
        at = text.find(needle, at + 1)


def _listing(tree: Tree, path: str, place: Place) -> str:
    lines = [
        f"Here're the files and directories up to {DEPTH} levels deep in {path}, excluding hidden items:",
        f"{_size(_FOLDER_BYTES)}\t{path}",
    ]
    for below in tree.below(place):
        names = below[len(place) :]
        if len(names) > DEPTH or any(name.startswith(".") for name in names):
            continue
        is_file = below in tree.files
        size = len(tree.files[below].text.encode()) if is_file else _FOLDER_BYTES
        lines.append(f"{_size(size)}\t{path}/{'/'.join(names)}{'' if is_file else '/'}")
    return "\n".join(lines)


def _size(count: int) -> str:
    """A number of bytes in the largest unit, of B, K, M and G, that is not over it: 512B, 4K, 1.5K."""
    if count == 0:
        return "0B"
    power = min((count.bit_length() - 1) // 10, 3)
    size = count / 1024**power
    return f"{int(size) if size == int(size) else format(size, '.1f')}{'BKMG'[power]}"

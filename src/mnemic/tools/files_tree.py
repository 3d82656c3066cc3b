"""A tree of files and folders as values: where a path leads, what stands there, and the tree after a change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from mnemic.errors import Invalid

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId

Place = tuple[str, ...]
"""The names from the root to a file or folder; the root is ()."""

ROOT: Final = "/memories"
VIEWS: Final = "mnemic"
"""The folder in the root whose files only mnemic writes."""

NAME_BYTES: Final = 255
PATH_BYTES: Final = 4096
"""The limits of Linux file systems, so that a tree can be carried over to one."""


class Untold(Exception):
    """A command cannot be done; the message is what it answers. Caught where commands are run."""


@dataclass(frozen=True, slots=True)
class StoredPart:
    """One item that holds a part of a file.

    Attributes:
        id: None where parts are missing: the text says so, and no item holds it.
        place: Where the item says that its file is.
        number: Which part it is, from 0.
        more: Another part comes after it.
        span: How many parts it stands for.
    """

    id: ItemId | None
    place: Place
    number: int
    text: str
    more: bool = False
    span: int = 1


@dataclass(frozen=True, slots=True)
class File:
    """A file's text, and the items that held it when it was read."""

    text: str
    kept: tuple[StoredPart, ...] = ()


@dataclass(frozen=True, slots=True)
class Tree:
    """All files and folders; every parent of either is among the folders, the root among neither.

    Attributes:
        folders: With the items that stand for them: only a folder that holds nothing needs one.
    """

    files: Mapping[Place, File] = field(default_factory=dict)
    folders: Mapping[Place, tuple[ItemId, ...]] = field(default_factory=dict)

    def is_folder(self, place: Place) -> bool:
        return not place or place in self.folders

    def __contains__(self, place: Place) -> bool:
        return place in self.files or self.is_folder(place)

    def below(self, place: Place) -> Iterator[Place]:
        """What stands below a place, at any depth, in the order of a walk by name."""
        size = len(place)
        return iter(sorted(p for p in (*self.files, *self.folders) if len(p) > size and p[:size] == place))

    def in_the_way(self, place: Place) -> bool:
        """Whether a file occupies a path that would have to be a parent folder of this place."""
        return any(parent in self.files for parent in parents(place))

    def with_parents(self, place: Place) -> Tree:
        """With every folder that leads to a place.

        Raises:
            Untold: a file is in the way.
        """
        if self.in_the_way(place):
            raise Untold(f"{shown(place)} cannot be: a file stands where a folder is needed")
        missing = {parent: () for parent in parents(place) if parent not in self.folders}
        return replace(self, folders={**self.folders, **missing}) if missing else self

    def with_file(self, place: Place, file: File) -> Tree:
        """With this file in its place, whose parents are there."""
        return replace(self, files={**self.files, place: file})

    def without(self, place: Place) -> Tree:
        """Without a file, or a folder and all below it; the folder it was in stays."""
        size = len(place)
        return Tree(
            {p: file for p, file in self.files.items() if p[:size] != place},
            {p: ids for p, ids in self.folders.items() if p[:size] != place},
        )

    def moved(self, old: Place, new: Place) -> Tree:
        """With a file or folder, and all below it, at another place, whose parents are there."""

        def to(place: Place) -> Place:
            return (*new, *place[len(old) :]) if place[: len(old)] == old else place

        folders = {to(p): ids if to(p) == p else () for p, ids in self.folders.items()}
        return Tree({to(p): file for p, file in self.files.items()}, folders)


def parents(place: Place) -> list[Place]:
    """The folders that lead to a place, outermost first, the root left out."""
    return [place[:size] for size in range(1, len(place))]


def shown(place: Place) -> str:
    """A place as a path."""
    return "/".join((ROOT, *place))


def place_of(path: str) -> Place:
    """Where a path leads: `.`, `..` and repeated or trailing slashes are resolved as a file system does.

    Raises:
        Untold: it does not begin with /memories, or leads out of it.
        Invalid: it cannot be kept.
    """
    if not path.startswith(ROOT):
        raise Untold(f"Path must start with {ROOT}, got: {path}")
    steps = [ROOT[1:]]
    for name in path[len(ROOT) :].split("/"):
        if name == "..":
            if not steps:
                raise _escape(path)
            steps.pop()
        elif name not in ("", "."):
            steps.append(name)
    if steps[:1] != [ROOT[1:]]:
        raise _escape(path)
    storable("path", path)
    return tuple(steps[1:])


def too_long(place: Place) -> str | None:
    """What makes a place too long for a file system, if anything does."""
    longest = max((len(name.encode()) for name in place), default=0)
    if longest > NAME_BYTES:
        return f"A name in the path has {longest:,} bytes; the most is {NAME_BYTES}."
    size = len(shown(place).encode())
    return f"The path has {size:,} bytes; the most is {PATH_BYTES:,}." if size > PATH_BYTES else None


def storable(field: str, text: str) -> str:
    """`text` itself, if every byte of it can be kept.

    Raises:
        Invalid: it holds a NUL or a lone surrogate.
    """
    if "\x00" in text:
        raise Invalid(field, f"holds a NUL at character {text.index(chr(0))}", "Files here are text; remove it.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Invalid(field, f"holds a lone surrogate at character {error.start}", "Give whole characters.") from error
    return text


def _escape(path: str) -> Untold:
    return Untold(f"Path {path} would escape {ROOT} directory")

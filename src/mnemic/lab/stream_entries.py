"""The table of worlds that experience streams run in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mnemic.core.checking import did_you_mean
from mnemic.errors import Invalid
from mnemic.registry import fetch, is_place, load

if TYPE_CHECKING:
    from mnemic.lab.kit.task_stream import StreamWorld

WORLDS: Final = {
    "text": "mnemic.lab.tasks.text_world:TEXT_WORLD",  # a house with hidden rules, verbs like ALFWorld's
    "tools": "mnemic.lab.tasks.tool_world:TOOL_WORLD",  # calls whose formats nobody documents
}


def world(name: str) -> StreamWorld:
    """The world of a name, or somebody else's by its place, `package.module:WORLD`.

    Raises:
        Invalid: there is none.
    """
    if is_place(name):
        theirs: StreamWorld = fetch("world", name)
        return theirs
    if name not in WORLDS:
        raise Invalid("world", f"{name!r} is no world", did_you_mean(name, sorted(WORLDS)))
    named: StreamWorld = load(WORLDS, name)
    return named

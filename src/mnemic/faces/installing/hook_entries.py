"""Our hooks among those of others: put in once for each moment, known again by their command, taken out alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from mnemic.errors import Invalid
from mnemic.faces.installing.clients import Hooks
from mnemic.faces.installing.edits import Document, cut, cut_inside, push, put, swap
from mnemic.faces.installing.json_spans import Node, value
from mnemic.faces.installing.own_entries import Scope, hook_scope, is_our_hook

_KEY: Final = "hooks"
_VERSION: Final = "version"


@dataclass(frozen=True, slots=True)
class Place:
    """Where one of our hooks stands: in which event's list, and in which list of a group, if it is in one.

    Attributes:
        scope: Whose memory it writes.
    """

    event: str
    index: int
    node: Node
    scope: Scope
    group: Node | None = None
    inner: int = 0


def ours(document: Document) -> list[Place]:
    """Our hooks in a document, in its order."""
    events = document.find((_KEY,))
    if events is None or events.kind != "object":
        return []
    return [
        place
        for member in events.members
        if member.key is not None and member.value.kind == "array"
        for place in _of_event(document.text, member.key, member.value)
    ]


def _of_event(text: str, event: str, elements: Node) -> Iterator[Place]:
    for index, element in enumerate(elements.members):
        if (command := _our_command(text, element.value)) is not None:
            yield Place(event, index, element.value, hook_scope(command))
        group = element.value.get(_KEY) if element.value.kind == "object" else None
        if group is not None and group.value.kind == "array":
            for inner, member in enumerate(group.value.members):
                if (command := _our_command(text, member.value)) is not None:
                    yield Place(event, index, member.value, hook_scope(command), group.value, inner)


def _our_command(text: str, node: Node) -> str | None:
    """The command of a hook, if it is ours."""
    member = node.get("command") if node.kind == "object" else None
    if member is None or member.value.kind != "scalar":
        return None
    command = value(text, member.value)
    return command if is_our_hook(command) else None


def with_hooks(
    document: Document, hooks: Hooks, commands: Mapping[str, str], spared: Callable[[Scope], bool] = lambda _: False
) -> Document:
    """`document` with one hook of ours for each event of `commands`, and none for any other.

    Args:
        spared: Whether our hooks of a scope stay as they are.

    Raises:
        Invalid: its hooks are in a form that we do not know.
    """
    document = _without_surplus(document, commands, spared)
    if commands and hooks.version is not None:
        document = _versioned(document, hooks.version)
    for event, command in commands.items():
        document = _with_hook(document, event, _hook(hooks, command), nested=hooks.nested)
    return document if commands else _unversioned(document)


def _hook(hooks: Hooks, command: str) -> dict[str, Any]:
    kind = {"type": "command"} if hooks.nested else {}
    return {**kind, "command": command, "timeout": hooks.timeout}


def _with_hook(document: Document, event: str, hook: Mapping[str, Any], *, nested: bool) -> Document:
    place = next((place for place in ours(document) if place.event == event), None)
    if place is None:
        return push(document, (_KEY, event), {_KEY: [hook]} if nested else hook)
    before = value(document.text, place.node)
    after = {**before, **hook}
    return document if before == after else swap(document, place.node, after)


def _without_surplus(document: Document, events: Mapping[str, str], spared: Callable[[Scope], bool]) -> Document:
    while (place := _surplus(document, events, spared)) is not None:
        if place.group is not None and len(place.group.members) > 1:
            document = cut_inside(document, place.group, place.inner)
        else:
            document = cut(document, (_KEY, place.event), place.index)
    return document


def _surplus(document: Document, events: Mapping[str, str], spared: Callable[[Scope], bool]) -> Place | None:
    seen: set[str] = set()
    for place in ours(document):
        if spared(place.scope):
            continue
        if place.event not in events or place.event in seen:
            return place
        seen.add(place.event)
    return None


def _versioned(document: Document, version: int) -> Document:
    node = document.find((_VERSION,))
    if node is None:
        if _has_hooks(document):
            return document  # others' hooks do without, and it would have to stay when ours go
        document = put(document, (_VERSION,), version)
        return replace(document, made={**document.made, _VERSION: None})
    if (version_there := value(document.text, node)) != version:
        problem = f"its version is {version_there!r}, and we know {version} alone"
        raise Invalid("file", problem, "A newer mnemic may know it; --no-hooks goes without.")
    return document


def _unversioned(document: Document) -> Document:
    """Without the version that we wrote, if nothing is left that it speaks of."""
    if _VERSION not in document.made or document.find((_VERSION,)) is None or _has_hooks(document):
        return document
    place = next(i for i, member in enumerate(document.root().members) if member.key == _VERSION)
    return cut(document, (), place)


def _has_hooks(document: Document) -> bool:
    """Whether any hooks stand there."""
    hooks = document.find((_KEY,))
    return hooks is not None and bool(hooks.members)

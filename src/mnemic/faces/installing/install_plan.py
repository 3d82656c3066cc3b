"""What installing or uninstalling would change, file by file, before anything is changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from mnemic.errors import Invalid, Refused
from mnemic.faces.installing import config_files, hook_entries, toml_tables
from mnemic.faces.installing.clients import Client, Machine
from mnemic.faces.installing.edits import Document, cut, put, swap
from mnemic.faces.installing.install_record import Record, Trace
from mnemic.faces.installing.json_spans import Node, value
from mnemic.faces.installing.masking import masked
from mnemic.faces.installing.own_entries import Launch, Ownership, Scope, entry_scope, is_our_entry, quoted, scope_of

_TOLD: Final = 300
"""Characters of a foreign entry that a refusal tells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to be installed, or taken out.

    Attributes:
        name: The entry's name among the client's servers.
        project: Into the files of a project instead of a person's.
        hooks: With hooks, where the client has them.
        force: Even in the place of an entry of somebody else.
    """

    launch: Launch
    name: str = "mnemic"
    project: bool = False
    hooks: bool = True
    force: bool = False


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """One file, as it is and as it is to be.

    Attributes:
        display_path: The path as the client knows it, before links are followed.
        after: Its new text; None for a file that goes, because we made it and nothing else is in it.
        trace: What a later uninstall has to know.
        ours: Whether anything of ours stands in it then.
    """

    display_path: Path
    file: config_files.FileContent
    after: str | None
    trace: Trace
    ours: bool

    @property
    def changed(self) -> bool:
        return self.after is None or self.after != self.file.text or (self.file.raw is None and self.after != "")


@dataclass(frozen=True, slots=True)
class Plan:
    """All that is to be done for one client."""

    client: Client
    changes: tuple[PlannedChange, ...]
    left: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        return any(change.changed for change in self.changes)


Edit = Callable[[str, Trace, bool], tuple[str, Trace]]
"""From a text, its trace and whether comments may be in it to what they become."""


def to_install(client: Client, on: Machine, wish: Wish, record: Record) -> Plan:
    """Plan the changes that give a client its entry and its hooks.

    Raises:
        Invalid, Refused: a file cannot be changed safely; the message names it, and nothing is to be written.
    """
    path = entry_path(client, on, project=wish.project)
    edits: dict[Path, list[Edit]] = {path: [_entry_edit(client, wish)]}
    left: tuple[str, ...] = ()
    if client.hooks is not None:
        where = hooks_path(client, on, project=wish.project)
        unread = None if wish.hooks or where == path else _unreadable(client, where)
        if unread is None:
            edits.setdefault(where, []).append(_hooks_for(client, wish, _tenure(client, path, wish)))
        else:
            left = (f"{unread} Hooks of ours that stand in it stay.",)
    return Plan(client, tuple(_change(client, path, many, record) for path, many in edits.items()), left)


def to_uninstall(client: Client, on: Machine, wish: Wish, record: Record) -> Plan:
    """Plan the changes that take what we wrote out of a client, and nothing else.

    Raises:
        Invalid, Refused: a file cannot be changed safely; the message names it.
    """
    path = entry_path(client, on, project=wish.project)
    foreign = _is_foreign(client, path, wish.name)
    edits: dict[Path, list[Edit]] = {path: [] if foreign else [_entry_cut(client, wish.name)]}
    if client.hooks is not None:
        ownership = _tenure(client, path, wish)
        where = hooks_path(client, on, project=wish.project)
        edits.setdefault(where, []).append(_hooks_edit(client, {}, ownership.spares))
    left = (f"{path}: {wish.name!r} is not ours, and stays",) if foreign else ()
    return Plan(client, tuple(_change(client, path, many, record) for path, many in edits.items()), left)


def entry_path(client: Client, on: Machine, *, project: bool) -> Path:
    """The file with the client's servers.

    Raises:
        Invalid: it has none for projects.
    """
    if not project:
        return client.path(on)
    if client.project is None:
        raise Invalid("project", f"{client.title} has no settings of a project", "Leave --project out.")
    return client.project(on)


def hooks_path(client: Client, on: Machine, *, project: bool) -> Path:
    """The file with the hooks of a client that has some."""
    assert client.hooks is not None
    return client.hooks.project(on) if project else client.hooks.path(on)


def snippet(client: Client, wish: Wish) -> str:
    """The entry as a person would paste it."""
    entry = client.entry(wish.launch)
    if client.toml:
        return toml_tables.snippet(client.key, wish.name, entry)
    return json.dumps({client.key: {wish.name: entry}}, ensure_ascii=False, indent=2)


def installed(client: Client, on: Machine, name: str) -> bool:
    """Whether our entry stands in the client's file.

    Raises:
        Invalid, Refused: the file cannot be read.
    """
    path = client.path(on)
    with naming_file(path):
        return is_our_entry(_entries(client, config_files.read(path).text).get(name))


@contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """Name the file in an error about its content."""
    try:
        yield
    except Invalid as error:
        problem = str(error).removeprefix(f"{error.field}: ").removesuffix(error.remedy).strip(" .")
        if error.field == "file":
            raise Invalid(str(path), problem, error.remedy) from error
        raise


def _change(client: Client, path: Path, edits: list[Edit], record: Record) -> PlannedChange:
    file = config_files.read(path)
    with naming_file(path):
        before = record.trace(file.path) if _holds_ours(client, path, file.text) else Trace(created=file.raw is None)
        text, trace = file.text, before
        for edit in edits:
            text, trace = edit(text, trace, client.comments)
        gone = trace.created and file.raw is not None and not text.strip() and bool(file.text.strip())
        change = PlannedChange(path, file, None if gone else text, trace, _holds_ours(client, path, text))
    if change.changed:
        _check_encodable(path, text)
        config_files.check_writable(file, path)
    return change


def _check_encodable(path: Path, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Invalid(str(path), "our command's path is not UTF-8", "Install mnemic where it is.") from error


# The entry


def _entry_edit(client: Client, wish: Wish) -> Edit:
    entry = client.entry(wish.launch)
    if client.toml:
        return lambda text, trace, _: _toml_put(text, trace, client, wish, entry)
    return lambda text, trace, comments: _edited(text, trace, comments, lambda doc: _json_put(doc, client, wish, entry))


def _json_put(document: Document, client: Client, wish: Wish, entry: Mapping[str, Any]) -> Document:
    path = (client.key, wish.name)
    node = document.find(path)
    if node is None:
        return put(document, path, entry)
    after = _merged(value(document.text, node), entry, client, wish)
    return document if after is None else swap(document, node, after)


def _toml_put(text: str, trace: Trace, client: Client, wish: Wish, entry: Mapping[str, Any]) -> tuple[str, Trace]:
    before = toml_tables.find(text, client.key, wish.name)
    if before is not None and _merged(before, entry, client, wish) is None:
        return text, trace
    if before is not None and not isinstance(before, dict):
        raise Invalid("file", f"{client.key}.{wish.name} is no table", "Take it out by hand, then try again.")
    text, glue = toml_tables.put(text, client.key, wish.name, entry)
    return text, trace if glue is None else replace(trace, made={**trace.made, _glue(wish.name): glue})


def _merged(before: Any, entry: Mapping[str, Any], client: Client, wish: Wish) -> Mapping[str, Any] | None:
    """The entry to write over one that stands there: our own keeps what a person added; None if it needs no change.

    Raises:
        Refused: it is somebody else's.
    """
    if not is_our_entry(before):
        if not wish.force:
            shown = json.dumps(masked(before), ensure_ascii=False, default=str)
            shown = shown if len(shown) <= _TOLD else f"{shown[:_TOLD]} ... {len(shown) - _TOLD:,} characters ..."
            raise Refused(
                f"{client.title} has an entry {wish.name!r} that is not ours: {shown}; --force replaces it, "
                "--name takes another name"
            )
        return entry
    after = {**before, **entry}
    return None if after == before else after


def _entry_cut(client: Client, name: str) -> Edit:
    if client.toml:
        return lambda text, trace, _: _toml_cut(text, trace, client, name)
    return lambda text, trace, comments: _edited(text, trace, comments, lambda doc: _json_cut(doc, client, name))


def _json_cut(document: Document, client: Client, name: str) -> Document:
    servers = document.find((client.key,))
    if servers is None or servers.kind != "object" or not is_our_entry(_at(document, (client.key, name))):
        return document
    return cut(document, (client.key,), _place(servers, name))


def _toml_cut(text: str, trace: Trace, client: Client, name: str) -> tuple[str, Trace]:
    if not is_our_entry(toml_tables.find(text, client.key, name)):
        return text, trace
    return toml_tables.drop(text, client.key, name, trace.made.get(_glue(name))), trace


def _glue(name: str) -> str:
    return f"[{name}]"


# Hooks


def _hooks_for(client: Client, wish: Wish, ownership: Ownership) -> Edit:
    """The hooks that an entry is to have: with its scope, or none of its own."""
    assert client.hooks is not None
    if not wish.hooks:
        return _hooks_edit(client, {}, ownership.spares)
    commands = {name: wish.launch.hook(event, client.name) for name, event in client.hooks.events.items()}
    edit = _hooks_edit(client, commands)

    def checked(text: str, trace: Trace, comments: bool) -> tuple[str, Trace]:
        if not wish.force:
            _check_hooks(Document(text, comments), client, wish, ownership)
        return edit(text, trace, comments)

    return checked


def _check_hooks(document: Document, client: Client, wish: Wish, ownership: Ownership) -> None:
    """Hold that no hooks are there that write to another memory: a client's hooks belong to one.

    Raises:
        Refused: it would be taken from an entry that stays, or from somebody unknown.
    """
    wanted = scope_of(wish.launch.scope)
    taken = next((p.scope for p in hook_entries.ours(document) if p.scope != wanted and ownership.holds(p.scope)), None)
    if taken is None:
        return
    options = quoted([word for pair in sorted(taken) for word in pair]) if taken else "no options"
    first = "".join(
        f", `mnemic uninstall {client.name} --name {name}{' --project' if wish.project else ''}` takes them out first"
        for name in ownership.names(taken)
    )
    raise Refused(
        f"{client.title} has hooks that write to another memory ({options}), and a client's hooks belong to one; "
        f"--no-hooks goes without{first}, --force takes them over"
    )


def _hooks_edit(client: Client, commands: Mapping[str, str], spared: Callable[[Scope], bool] = lambda _: False) -> Edit:
    hooks = client.hooks
    assert hooks is not None
    return lambda text, trace, comments: _edited(
        text, trace, comments, lambda document: hook_entries.with_hooks(document, hooks, commands, spared)
    )


# What stands there


def _edited(text: str, trace: Trace, comments: bool, edit: Callable[[Document], Document]) -> tuple[str, Trace]:
    document = edit(Document(text, comments, trace.made))
    return document.text, replace(trace, made=document.made)


def _at(document: Document, path: tuple[str, ...]) -> Any:
    node = document.find(path)
    return None if node is None else value(document.text, node)


def _place(node: Node, key: str) -> int:
    return next(i for i, member in enumerate(node.members) if member.key == key)


def _entries(client: Client, text: str) -> Mapping[str, Any]:
    """The client's servers by name; none where the key holds no object."""
    entries = (
        toml_tables.read(text).get(client.key) if client.toml else _at(Document(text, client.comments), (client.key,))
    )
    return entries if isinstance(entries, dict) else {}


def _holds_ours(client: Client, path: Path, text: str) -> bool:
    """Whether anything of ours stands in a file, be it the one with the servers or the one with the hooks."""
    if path.suffix == ".toml":
        return any(map(is_our_entry, _entries(client, text).values()))
    document = Document(text, client.comments)
    servers = _at(document, (client.key,))
    entries = servers.values() if isinstance(servers, dict) else ()
    return any(map(is_our_entry, entries)) or bool(hook_entries.ours(document))


def _is_foreign(client: Client, path: Path, name: str) -> bool:
    """Whether the entry of a name is there and somebody else's."""
    with naming_file(path):
        entries = _entries(client, config_files.read(path).text)
    return name in entries and not is_our_entry(entries[name])


def _tenure(client: Client, path: Path, wish: Wish) -> Ownership:
    with naming_file(path):
        entries = _entries(client, config_files.read(path).text)
    scopes = {name: entry_scope(entry) for name, entry in entries.items() if is_our_entry(entry)}
    return Ownership(wish.name, scopes)


def _unreadable(client: Client, path: Path) -> str | None:
    """Return what keeps a file from being read, or None."""
    try:
        with naming_file(path):
            _holds_ours(client, path, config_files.read(path).text)
    except (Invalid, Refused) as error:
        return str(error)
    return None

"""What a person has changed in a folder, as what is to be written of it."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final

from mnemic.core.clock import source_time
from mnemic.core.ids import ItemId
from mnemic.core.items import EVIDENCE, Item, Kind, Slot
from mnemic.ingest.message import Message
from mnemic.markdown_folder.folder_comparison import EditSort, FolderEdit
from mnemic.markdown_folder.folder_layout import STATEMENT_FILES, FolderPage
from mnemic.markdown_folder.shown_items import ShownItem, shown_item
from mnemic.verbs.hand_editing import HandEdits, HeldText, Rewording
from mnemic.verbs.statements import Statement

_ROLES: Final = frozenset({"user", "assistant", "system", "tool"})
_STEM: Final = re.compile(r".*/")


def planned(edits: list[FolderEdit]) -> HandEdits:
    """What is to be written for these edits; of what memory has changed too, the folder's word counts."""
    additions: list[tuple[Message | Statement, bool]] = []
    rewordings: dict[ItemId, Rewording] = {}
    pins: dict[ItemId, tuple[int, bool]] = {}
    hidden: dict[ItemId, int] = {}
    for edit in edits:
        held, shown = edit.held, edit.shown
        if held is None and shown is not None:
            additions.append((_addition(edit, shown), shown.pinned))
        elif held is not None and shown is None:
            hidden[held.id] = held.version.seq_from
        elif held is not None and shown is not None and edit.change.sort is not EditSort.EDITED:
            pins[held.id] = (held.version.seq_from, shown.pinned)
        elif held is not None and shown is not None:
            rewordings[held.id] = _rewording(held, shown)
    return HandEdits(additions=tuple(additions), rewordings=rewordings, pins=pins, hidden=hidden)


def _addition(edit: FolderEdit, shown: ShownItem) -> Message | Statement:
    """A new entry: a statement, a turn of the page's conversation, or a document."""
    page = edit.page
    if page.sort == "statements":
        file = STATEMENT_FILES[page.path]
        return Statement(text=shown.text, kind=file.kind, slots=file.slots)
    said = edit.after + timedelta(microseconds=1) if edit.after is not None else _moment(shown)
    if page.sort == "conversation":
        return _message(shown, Kind.TURN, page, said, _speaking(shown.name))
    stem = _STEM.sub("", edit.change.path).rpartition(".")[0]
    slots: dict[str, Slot] = {"title": shown.title or stem}
    if edit.others:
        slots["metadata"] = dict(edit.others)
    return _message(shown, Kind.DOCUMENT, page, said, slots)


def _message(shown: ShownItem, kind: Kind, page: FolderPage, said: datetime | None, slots: dict[str, Slot]) -> Message:
    return Message(
        text=shown.text,
        key="",
        kind=kind,
        said=said,
        session=page.session,
        agent=page.agent,
        slots=slots,
        tags=shown.tags,
    )


def _speaking(name: str) -> dict[str, Slot]:
    if not name:
        return {}
    return {"role": name} if name in _ROLES else {"speaker": name}


def _moment(shown: ShownItem) -> datetime | None:
    """When an entry says that it was said, in the zone of the caller; None for now."""
    return datetime.fromisoformat(f"{shown.day}T{shown.time or '00:00'}") if shown.day else None


def _rewording(held: HeldText, shown: ShownItem) -> Rewording:
    item, now = held.item, shown_item(held.item, held.text)
    slots, said = dict(item.slots), None
    if item.kind in EVIDENCE:
        slots |= _slots_changed(item, now, shown)
        said = _said_changed(item, now, shown)
    text = held.text if shown.text == now.text else shown.text
    tags = item.tags if shown.tags == now.tags else shown.tags
    return Rewording(
        expect=held.version.seq_from,
        text=text,
        slots=slots,
        tags=tags if item.kind in (Kind.DOCUMENT, Kind.CHUNK) else item.tags,
        pinned=shown.pinned,
        said=said,
    )


def _slots_changed(item: Item, now: ShownItem, shown: ShownItem) -> dict[str, Slot]:
    if shown.title != now.title:
        return {"title": shown.title}
    if shown.name == now.name:
        return {}
    named_by_role = "speaker" not in item.slots and shown.name in _ROLES
    return {"role": shown.name} if named_by_role else {"speaker": shown.name}


def _said_changed(item: Item, now: ShownItem, shown: ShownItem) -> datetime | None:
    """When a piece of evidence was said, if an entry says otherwise: on the clock that it was said by."""
    if (shown.day, shown.time) == (now.day, now.time):
        return None
    said = source_time(item.said, item.said_offset)
    return datetime.fromisoformat(f"{shown.day}T{shown.time}").replace(tzinfo=said.tzinfo)

"""Which file of a folder each item stands in, and what these files say.

profile.md, instructions.md, facts.md ...   statements, by kind, a point of a list each
conversations/2026-03-01.md                 the turns of a day that belong to no session
conversations/2026-03-01 trip.md            the turns of a session, under the day on which it began
documents/How the boiler works.md           a document
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.core.items import ENDED, Item, Kind, Sight, Slot
from mnemic.markdown_folder.document_syntax import MARK, scalar, write_document
from mnemic.markdown_folder.entry_syntax import bullets, write_entry
from mnemic.markdown_folder.file_names import folded, free_path, safe_name
from mnemic.markdown_folder.shown_items import ShownItem, shown_item
from mnemic.verbs.hand_editing import HeldText

CONVERSATIONS: Final = "conversations/"
DOCUMENTS: Final = "documents/"
SORTS: Final = ("conversation", "statements", "document")
"""The sorts of page."""


@dataclass(frozen=True, slots=True)
class StatementFile:
    """A file of statements: its heading, their kind, and the slots that a new one gets."""

    heading: str
    kind: Kind
    slots: Mapping[str, Slot]


STATEMENT_FILES: Final[Mapping[str, StatementFile]] = {
    "profile.md": StatementFile("Profile", Kind.PROFILE, {}),
    "instructions.md": StatementFile("Standing instructions", Kind.PROCEDURE, {"standing": True}),
    "facts.md": StatementFile("Facts", Kind.FACT, {}),
    "plans.md": StatementFile("Plans", Kind.PLAN, {}),
    "procedures.md": StatementFile("Procedures", Kind.PROCEDURE, {}),
    "insights.md": StatementFile("Insights", Kind.INSIGHT, {}),
    "summaries.md": StatementFile("Summaries", Kind.SUMMARY, {}),
    "episodes.md": StatementFile("Episodes", Kind.EPISODE, {}),
    "entities.md": StatementFile("Entities", Kind.ENTITY, {}),
    "resources.md": StatementFile("Resources", Kind.RESOURCE, {}),
}
"""Files of statements by path: a file that does not exist yet may be made by hand under one of these names."""

_FILE_OF: Final = {file.kind: path for path, file in STATEMENT_FILES.items() if not file.slots}
_DAY_NAME: Final = re.compile(r"(\d{4}-\d{2}-\d{2})(?: - .*)?\.md", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FolderPage:
    """What a file of a folder holds: the turns of a session or of a day, statements of one kind, or one document.

    Attributes:
        sort: One of `SORTS`.
        day: Of a conversation without a session.
        path: Of a file of statements.
        id: Of a document.
    """

    sort: str
    session: str | None = None
    agent: str | None = None
    day: str = ""
    path: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class LaidPage:
    """A file of a folder as it is to be written, with the items that it shows."""

    path: str
    page: FolderPage
    text: str
    entries: tuple[tuple[HeldText, ShownItem], ...]


def is_laid_out(item: Item, visible: Container[str]) -> bool:
    """Whether an item that is visible belongs into a folder.

    What strategies keep for themselves does not, nor what says that something is over or taken back, nor what rests on
    nothing that is visible.

    Args:
        visible: The ids of what is.
    """
    if item.sight is not Sight.ALL or (item.kind is Kind.RESOURCE and item.slots.get("folder") is True):
        return False
    if item.author is not None and (
        item.slots.get(ENDED) is True or (item.kind is Kind.PROCEDURE and item.slots.get("standing") is False)
    ):
        return False
    return not item.source or any(source in visible for source in item.source)


def page_of(item: Item, shown: ShownItem) -> FolderPage:
    """Which page an item stands on."""
    if item.kind in (Kind.DOCUMENT, Kind.CHUNK):
        return FolderPage("document", id=item.id)
    if item.kind is Kind.TURN:
        day = shown.day if item.session is None else ""
        return FolderPage("conversation", item.session, item.agent, day)
    standing = item.kind is Kind.PROCEDURE and item.slots.get("standing") is True
    return FolderPage("statements", path="instructions.md" if standing else _FILE_OF[item.kind])


def page_at(path: str, fields: Mapping[str, object]) -> FolderPage:
    """Which page a file is that somebody has put into a folder, by its path and front matter."""
    if MARK not in fields and path in STATEMENT_FILES:
        return FolderPage("statements", path=path)
    if MARK in fields or not path.startswith(CONVERSATIONS):
        return FolderPage("document")
    session, agent = (
        str(value) if isinstance(value := fields.get(name), str) and value else None for name in ("session", "agent")
    )
    day = _DAY_NAME.fullmatch(path.removeprefix(CONVERSATIONS)) if session is None else None
    return FolderPage("conversation", session, agent, day[1] if day else "")


def laid_out(held: Sequence[HeldText], homes: Mapping[str, str]) -> Iterator[LaidPage]:
    """The files of a folder, in the order of their pages' first items.

    Args:
        held: What belongs into it.
        homes: By a document's id, where its file is already, which is where it stays.
    """
    pages: dict[FolderPage, list[tuple[HeldText, ShownItem]]] = {}
    for held_text in sorted(
        held, key=lambda held_text: (held_text.item.said, held_text.item.pos, held_text.version.seq_from, held_text.id)
    ):
        shown = shown_item(held_text.item, held_text.text)
        pages.setdefault(page_of(held_text.item, shown), []).append((held_text, shown))
    taken = {folded(path) for path in (*STATEMENT_FILES, "README.md", *homes.values())}
    for page, entries in pages.items():
        path = homes.get(page.id) or _path(page, entries[0], taken)
        taken.add(folded(path))
        yield LaidPage(path, page, _text(page, entries), tuple(entries))


def _path(page: FolderPage, first: tuple[HeldText, ShownItem], taken: set[str]) -> str:
    held, shown = first
    if page.sort == "statements":
        return page.path
    if page.sort == "conversation":
        agent = f" - {page.agent}" if page.agent else ""
        named = shown.day + (f" {page.session}" if page.session else "") + agent
        return free_path(CONVERSATIONS, safe_name(named, shown.day), taken)
    heading = held.item.slots.get("heading")
    words = " - ".join(filter(None, (shown.title, heading if isinstance(heading, str) else "")))
    return free_path(DOCUMENTS, safe_name(words or shown.text.strip()[:80], "document"), taken)


def _text(page: FolderPage, entries: Iterable[tuple[HeldText, ShownItem]]) -> str:
    entries = list(entries)
    if page.sort == "document":
        return write_document(entries[0][1], entries[0][0].id)
    if page.sort == "statements":
        lines = "".join(bullets(write_entry(shown, held.id) for held, shown in entries))
        return f"# {STATEMENT_FILES[page.path].heading}\n\n{lines}"
    return "".join(_conversation(page, entries))


def title_of(page: FolderPage) -> str:
    """The heading that a page of entries begins with, as it is written."""
    if page.sort == "statements":
        return f"# {STATEMENT_FILES[page.path].heading}"
    return f"# {' '.join((page.session or '').split())}"


def _conversation(page: FolderPage, entries: Sequence[tuple[HeldText, ShownItem]]) -> Iterator[str]:
    named = [f"{name}: {scalar(value)}" for name in ("session", "agent") if (value := getattr(page, name))]
    if named:
        yield "\n".join(("---", *named, "---", "", ""))
    yield f"{title_of(page)}\n" if page.session else ""
    day, written = "", list[str]()
    for held, shown in entries:
        if shown.day != day:
            yield from bullets(written)
            day, written = shown.day, []
            yield f"\n## {day}\n\n" if page.session else f"# {day}\n\n"
        written.append(write_entry(shown, held.id))
    yield from bullets(written)

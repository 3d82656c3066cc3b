"""The verbs behind a folder that a person edits: what stands with its whole text, and many edits in one commit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from mnemic.core.clock import source_time
from mnemic.core.events import Receipt, Verb
from mnemic.core.ids import ItemId
from mnemic.core.items import EVIDENCE, Channel, Item, Kind, Link, Slot, State, Version
from mnemic.core.queries import Filter
from mnemic.core.transitions import SUPERSEDES, retired
from mnemic.flow import Flow
from mnemic.ingest.message import Message
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.requests import look
from mnemic.store.values.drafts import Op, Put, Tie
from mnemic.verbs.statements import Statement, stated
from mnemic.verbs.who import (
    Who,
    chunks_of,
    committed,
    last_commit,
    on_shelf,
    own_or_none,
    scanned,
    shelved,
    standing_versions,
    writable,
)
from mnemic.writing import Desk


@dataclass(frozen=True, slots=True)
class HeldText:
    """An item as it stands, with its whole text: of a document that came in chunks, all of them.

    Attributes:
        visible: Whether a reader of the present is shown it.
    """

    version: Version
    text: str
    visible: bool = True

    @property
    def item(self) -> Item:
        return self.version.item

    @property
    def id(self) -> ItemId:
        return self.version.item.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewording:
    """Other words for an item, or for who said it and when.

    Attributes:
        expect: The commit that wrote the version which was read.
        slots, tags: As they are then.
        said: Of evidence, when it was said, if that changes.
    """

    expect: int
    text: str
    slots: Mapping[str, Slot]
    tags: tuple[str, ...]
    pinned: bool
    said: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HandEdits:
    """What a person has changed by hand.

    Attributes:
        additions: New messages and statements, in order, and whether each is pinned.
        pins: By id, the commit of the version that was read, and whether it is pinned now.
        hidden: By id, the commit of the version that was read.
    """

    additions: tuple[tuple[Message | Statement, bool], ...] = ()
    rewordings: Mapping[ItemId, Rewording] = field(default_factory=dict)
    pins: Mapping[ItemId, tuple[int, bool]] = field(default_factory=dict)
    hidden: Mapping[ItemId, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HandEdited:
    """What a commit of edits by hand wrote.

    Attributes:
        added: The ids of the additions, in their order.
        reworded: By the id of each reworded item, what stands in its place: itself, or evidence anew.
    """

    receipt: Receipt
    added: tuple[ItemId, ...]
    reworded: Mapping[ItemId, ItemId]


class HandEditing:
    """`held_texts` and `edit_by_hand`, of a `Kernel`."""

    __slots__ = ()
    desk: Desk

    def held_texts(self, who: Who, ids: Sequence[ItemId]) -> Flow[tuple[int, list[HeldText]]]:
        """All that this shelf of the user's own memory shows now, and these items in whatever state.

        Returns:
            The last commit, and the items without chunks of documents, in no order; an id that is nobody's here, or
            not on this shelf, is passed over.

        Raises:
            Refused: the handle looks at the past.
        """
        writable(who)
        return (yield from look(lambda s: (last_commit(s, who), list(_held(s, who, ids)))))

    def edit_by_hand(self, who: Who, edits: HandEdits) -> Flow[HandEdited]:
        """Write what a person has changed, in one commit.

        A statement is revised, and is the user's word from then on, whoever derived it; a value that had been read out
        of its old words is no longer kept. One that stands no more is stated anew. Evidence is never revised: what was
        reworded is hidden, and new evidence supersedes it that was said when that was, and by the same.

        Raises:
            NotFound: an item is not there any more. Stale: an item has another version by now; nothing was written.
            Invalid, TooLarge: something cannot be taken; nothing was written.
        """
        writable(who)
        named = {id: edit.expect for id, edit in edits.rewordings.items()}
        named |= {id: seq for id, (seq, _) in edits.pins.items()} | dict(edits.hidden)
        standing, chunks = yield from look(lambda s: _standing(s, who, tuple(named)))
        masked: Counter[str] = Counter()
        ops: list[Op] = []
        added = [self._add(who, edit, pinned, ops, masked) for edit, pinned in edits.additions]
        reworded = {
            id: self._reword(who, standing[id].item, edit, ops, masked) for id, edit in edits.rewordings.items()
        }
        ops += [
            Put(
                verb=Verb.PINNED if pinned else Verb.UNPINNED,
                item=replace(standing[id].item, pinned=pinned),
                terms=None,
            )
            for id, (_, pinned) in edits.pins.items()
        ]
        going = {id for id in named if id in edits.hidden or reworded.get(id, id) != id}
        ops += _hiding(going, standing, chunks)
        expect = named | {edit.item.id: edit.seq_from for edit in chunks.values() if edit.item.source[0] in going}
        if not ops:
            return HandEdited(Receipt(seq=(yield from look(lambda s: last_commit(s, who))), ids=()), (), {})
        receipt = yield from committed(who, ops, expect=expect, masked=tuple(sorted(masked.items())))
        return HandEdited(receipt, tuple(added), reworded)

    def _add(self, who: Who, given: Message | Statement, pinned: bool, ops: list[Op], masked: Counter[str]) -> ItemId:
        if isinstance(given, Statement):
            written = stated(self.desk, who, given, {})
        else:
            written = self.desk.evidence(who.scope, (given,), Channel.USER, lasting=False)
        masked.update(dict(written.masked))
        head, *chunks = written.puts
        ops += [replace(head, item=replace(head.item, pinned=pinned)), *chunks]
        return head.item.id

    def _reword(self, who: Who, item: Item, to: Rewording, ops: list[Op], masked: Counter[str]) -> ItemId:
        if item.kind in EVIDENCE or item.state is not State.ACTIVE:
            new = self._add(who, _said_anew(item, to), to.pinned, ops, masked)
            ops.append(Tie(verb=Verb.LINKED, link=Link(src=new, dst=item.id, type=SUPERSEDES)))
            return new
        slots = {name: slot for name, slot in to.slots.items() if name != "value"}  # out of the old words
        right = replace(item, text=to.text, slots=slots, tags=to.tags, pinned=to.pinned, channel=Channel.USER)
        written = self.desk.item(right, None)
        masked.update(dict(written.masked))
        ops.append(replace(written.puts[0], verb=Verb.REVISED))
        return item.id


def _said_anew(item: Item, to: Rewording) -> Message | Statement:
    """What stands in the place of a piece of evidence, or of a statement that stands no more."""
    if item.kind not in EVIDENCE:
        slots = {name: slot for name, slot in to.slots.items() if name != "value"}
        return Statement(text=to.text, kind=item.kind, slots=slots, tags=to.tags)
    return Message(
        text=to.text,
        key="",
        kind=Kind.TURN if item.kind is Kind.TURN else Kind.DOCUMENT,
        said=to.said or source_time(item.said, item.said_offset),
        session=item.session,
        agent=item.agent,
        pos=item.pos if to.said is None else None,
        slots={name: slot for name, slot in to.slots.items() if name not in ("chunks", "chunk")},
        tags=to.tags,
        expires=item.expires,
    )


def _hiding(going: Iterable[ItemId], standing: Mapping[ItemId, Version], chunks: Mapping[ItemId, Version]) -> list[Op]:
    """The ops that hide items, and the chunks of those that are documents."""
    gone = set(going)
    items = [standing[id].item for id in gone]
    items += [chunk.item for chunk in chunks.values() if gone.intersection(chunk.item.source)]
    every = {item.id: item for item in items if item.state is not State.RETIRED}
    return [Put(verb=Verb.RETIRED, item=retired(item), terms=None) for item in every.values()]


def _standing(
    snapshot: Snapshot, who: Who, ids: Sequence[ItemId]
) -> tuple[dict[ItemId, Version], dict[ItemId, Version]]:
    """The standing versions of items, and of the chunks of those that are documents."""
    versions = standing_versions(snapshot, who, ids)
    return versions, chunks_of(snapshot, who, versions.values())


def _held(snapshot: Snapshot, who: Who, ids: Sequence[ItemId]) -> Iterator[HeldText]:
    own = own_or_none(snapshot, who)
    visible = {
        visible_version.item.id: visible_version
        for visible_version in scanned(snapshot, own, shelved(who.scope, Filter()))
    }
    others = {
        id: visible_version
        for id, visible_version in (snapshot.standing(own, list(ids)) if own and ids else {}).items()
        if id not in visible and on_shelf(who.scope, visible_version.item)
    }
    parts = {id: visible_version for id, visible_version in visible.items() if visible_version.item.kind is Kind.CHUNK}
    parts |= chunks_of(snapshot, who, others.values())
    by_document: dict[ItemId, list[Item]] = {}
    for visible_version in parts.values():
        for document in visible_version.item.source:
            by_document.setdefault(document, []).append(visible_version.item)
    for id, version in (visible | others).items():
        item = version.item
        if item.kind is Kind.CHUNK and any(source in visible or source in others for source in item.source):
            continue
        chunks = sorted(by_document.get(id, ()), key=lambda chunk: chunk.pos) if item.kind is Kind.DOCUMENT else ()
        yield HeldText(version, "".join(chunk.text for chunk in chunks) or item.text, id in visible)

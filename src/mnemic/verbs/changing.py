"""The verbs that write: what was said, what is stated, corrected, tied, hidden, pinned, found useful."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from mnemic.core.checking import number, text_field
from mnemic.core.events import Receipt, Verb
from mnemic.core.ids import ItemId
from mnemic.core.items import EVIDENCE, Channel, Item, Link, State, Strength, Version
from mnemic.core.transitions import SUPERSEDES, retired, superseded
from mnemic.errors import Conflict, Invalid, NotFound
from mnemic.flow import Flow
from mnemic.ingest.message import ExchangeMessage, Message
from mnemic.store.engine.codec import canonical
from mnemic.store.engine.model_meter import spend
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.requests import commit, look, transact
from mnemic.store.values.drafts import Note, Put, Tie
from mnemic.store.values.prompt_messages import PromptMessage
from mnemic.store.values.spending import Spending
from mnemic.verbs.statements import (
    Statement,
    closed_already,
    expiry_of,
    given_expiry,
    refuse_closed,
    revision,
    stated,
)  # fmt: skip
from mnemic.verbs.who import (
    Who,
    chunks_of,
    cited_versions,
    committed,
    draft_of,
    expected_commit,
    look_again,
    own_or_none,
    own_space,
    refuse_uncited,
    standing_version,
    standing_versions,
    writable,
)
from mnemic.writing import Desk

if TYPE_CHECKING:
    from mnemic.store.values.drafts import Paging


class Changing:
    """The verbs that write, of a `Kernel`."""

    __slots__ = ()
    desk: Desk

    def observe(self, who: Who, messages: Sequence[Message], channel: Channel = Channel.USER) -> Flow[Receipt]:
        """Remember messages: one commit, durable and recallable by its words when it returns."""
        receipt, _ = yield from self.take(who, messages, channel)
        return receipt

    def observe_exchange(
        self, who: Who, exchange: Sequence[ExchangeMessage], prompts: Sequence[PromptMessage]
    ) -> Flow[Receipt]:
        """Remember what was said in an exchange with a model, in one commit with what memory put into its prompt."""
        scope, puts, masked, done = (
            writable(who),
            list[Put](),
            Counter[str](),
            {prompt.name: prompt for prompt in prompts},
        )
        for message in exchange:
            written = self.desk.evidence(scope, (message.said,), message.channel, lasting=False)
            puts += written.puts
            masked.update(dict(written.masked))
            row = PromptMessage(
                name=message.prompt, kept_as=tuple(put.item.id for put in written.puts), kept_at=message.at
            )
            done[row.name] = done[row.name].then(row) if row.name in done else row
        given = tuple(sorted(masked.items()))
        return (yield from committed(who, puts, masked=given, prompts=tuple(done.values())))

    def take(
        self, who: Who, messages: Sequence[Message], channel: Channel, paging: Paging | None = None
    ) -> Flow[tuple[Receipt, tuple[Item, ...]]]:
        """`observe`, with the items made for it; what a session writes of its window is in the same commit."""
        written = self.desk.evidence(writable(who), messages, channel, lasting=channel is Channel.IMPORT)
        receipt = yield from committed(who, written.puts, masked=written.masked, paging=paging)
        return receipt, tuple(put.item for put in written.puts)

    def put_away(
        self, who: Who, items: Sequence[Item], expect: Mapping[ItemId, int], paging: Paging | None
    ) -> Flow[Receipt]:
        """Write what was made of turns that left a window; refused if one of `expect` has changed or is gone."""
        puts = tuple(put for item in items for put in self.desk.item(item, None).puts)
        return (yield from committed(who, puts, expect=expect, paging=paging))

    def page(self, who: Who, paging: Paging) -> Flow[None]:
        """Write what a session has changed in its page table, and take, prolong or give back its lease."""
        yield from commit(replace(draft_of(who, ()), paging=paging))

    def write(self, who: Who, statement: Statement) -> Flow[Receipt]:
        """Remember a statement."""
        writable(who)
        sources = (yield from look(lambda s: cited_versions(s, who, statement.source))) if statement.source else {}
        refuse_uncited(sources, statement.source)
        written = stated(self.desk, who, statement, sources)
        return (yield from committed(who, written.puts, masked=written.masked))

    def revise(self, who: Who, item: ItemId, changes: Mapping[str, object], expect: int | None = None) -> Flow[Receipt]:
        """Correct what an item says; what it said before stays in its history.

        Raises:
            Invalid: it is evidence, of which only when it expires may change.
        """
        writable(who)
        if changes.keys() == {"expires"}:
            expires = expiry_of(self.desk, changes["expires"])
            named = partial(_with_their_chunks, who=who, items=(item,))
            return (
                yield from self._marked(
                    who, named, (item,), Verb.REVISED, lambda standing: replace(standing, expires=expires), expect
                )
            )
        version = yield from look_again(who, self.desk, lambda s: standing_version(s, who, item))
        if version.item.kind in EVIDENCE:
            raise Invalid(
                "id",
                f"{item} is evidence ({version.item.kind}), which is never revised",
                "Write or supersede a fact instead.",
            )
        stands = expected_commit(version, expect)
        written = self.desk.item(revision(self.desk, version.item, changes), None)
        revised = written.puts[0].item
        if revised == version.item:
            return Receipt(seq=version.seq_from, ids=(item,), repeated=1)
        put = self.desk.put(Verb.REVISED, revised)
        return (yield from committed(who, (put,), expect={item: stands}, masked=written.masked))

    def supersede(self, who: Who, old: ItemId, statement: Statement, expect: int | None = None) -> Flow[Receipt]:
        """Say that the world has changed: the new statement takes the old one's place from its own `valid_from` on.

        Said time decides which is newer: a statement that was said before the one it names arrives superseded itself.
        """
        writable(who)
        before, sources = yield from look_again(
            who, self.desk, lambda s: (standing_version(s, who, old), cited_versions(s, who, statement.source))
        )
        stands = expected_commit(before, expect, statement.key)
        if before.item.state is State.ACTIVE or statement.key is None:
            refuse_closed(before.item)
        refuse_uncited(sources, statement.source)
        if before.item.state is not State.ACTIVE:
            return (yield from self._repeated(who, statement, before, sources))
        written = stated(self.desk, who, statement, sources)
        fresh = written.puts[0]
        newer, older = (fresh.item, before.item) if fresh.item.said >= before.item.said else (before.item, fresh.item)
        closed = superseded(older, newer)
        puts: tuple[Put, ...]
        if older is before.item:
            puts = (fresh, Put(verb=Verb.SUPERSEDED, item=closed, terms=None))
        else:
            puts = (replace(fresh, item=closed),)
        tie = Tie(verb=Verb.LINKED, link=Link(src=newer.id, dst=older.id, type=SUPERSEDES))
        return (yield from committed(who, (*puts, tie), expect={old: stands}, masked=written.masked))

    def correct(self, who: Who, old: ItemId, statement: Statement, expect: int | None = None) -> Flow[Receipt]:
        """Say that something was never so: a statement is revised, evidence hidden behind what is right.

        Evidence stays in the history of what stands in its place, and `undo` brings it back.
        """
        writable(who)
        before, chunks, sources = yield from look_again(
            who, self.desk, lambda s: _with_chunks(s, who, old, statement.source)
        )
        stands = expected_commit(before, expect, statement.key)
        if before.item.kind not in EVIDENCE:
            return (yield from self._put_right(who, before, statement, stands))
        if before.item.state is not State.ACTIVE and statement.key is not None:
            refuse_uncited(sources, statement.source)
            return (yield from self._repeated(who, statement, before, sources))
        if before.item.state is not State.ACTIVE:
            raise closed_already(before.item)
        written = stated(self.desk, who, statement, {})
        parts = (before, *chunks)
        hidden = (Put(verb=Verb.RETIRED, item=retired(v.item), terms=None) for v in parts)
        tie = Tie(verb=Verb.LINKED, link=Link(src=written.puts[0].item.id, dst=old, type=SUPERSEDES))
        must_stand = {v.item.id: v.seq_from for v in parts} | {old: stands}
        return (yield from committed(who, (*written.puts, *hidden, tie), expect=must_stand, masked=written.masked))

    def _put_right(self, who: Who, before: Version, statement: Statement, stands: int) -> Flow[Receipt]:
        """Revise a statement to what is right, by whom it comes from; a key makes that safe to repeat."""
        read = {name: slot for name, slot in before.item.slots.items() if name != "value"}  # out of the old words
        slots = statement.slots or read
        right = replace(before.item, text=statement.text, slots=slots, channel=Channel(statement.channel))
        if statement.expires is not None:
            right = replace(right, expires=expiry_of(self.desk, statement.expires))
        written = self.desk.item(right, statement.key)
        put = replace(written.puts[0], verb=Verb.REVISED)
        if put.item == before.item:
            return Receipt(seq=before.seq_from, ids=(before.item.id,), repeated=1)
        expires = self.desk.expiry_as_given(given_expiry(statement.expires))
        put = replace(put, content=canonical({"corrected": before.item.id, "text": put.item.text, **expires}))
        return (yield from committed(who, (put,), expect={before.item.id: stands}, masked=written.masked))

    def _repeated(
        self, who: Who, statement: Statement, closed: Version, sources: Mapping[ItemId, Version]
    ) -> Flow[Receipt]:
        """The first receipt of what was written in this item's place under the same key."""
        ops = stated(self.desk, who, statement, sources).puts
        try:
            # An item that is here "must not exist": only a key that has landed comes before that is looked at.
            return (yield from committed(who, ops, expect={closed.item.id: 0}))
        except Conflict as error:
            raise closed_already(closed.item) from error

    def link(self, who: Who, link: Link, *, remove: bool = False) -> Flow[Receipt]:
        """Tie two items, or untie them."""
        writable(who)
        number("weight", link.weight)
        link = replace(link, type=self.desk.without_secrets(text_field("type", link.type)))
        if not (yield from look_again(who, self.desk, lambda s: _tied(s, who, link))) and remove:
            raise NotFound(f"no link {link.src} -{link.type}-> {link.dst} here")
        return (yield from committed(who, (Tie(verb=Verb.UNLINKED if remove else Verb.LINKED, link=link),)))

    def forget(self, who: Who, items: Sequence[ItemId], expect: int | None = None) -> Flow[Receipt]:
        """Hide items from every view but the journal's past; `undo` brings them back."""
        named = partial(_with_their_chunks, who=who, items=items)
        return (yield from self._marked(who, named, items, Verb.RETIRED, retired, expect))

    def pin(self, who: Who, items: Sequence[ItemId], *, pinned: bool, expect: int | None = None) -> Flow[Receipt]:
        """Keep items at hand, or let them go again."""
        verb = Verb.PINNED if pinned else Verb.UNPINNED
        named = partial(standing_versions, who=who, ids=items)
        return (yield from self._marked(who, named, items, verb, lambda item: replace(item, pinned=pinned), expect))

    def feedback(self, who: Who, items: Sequence[ItemId], *, useful: bool) -> Flow[Receipt]:
        """Say that items helped, or misled: their strength changes, never their truth."""
        writable(who)
        yield from self._named(who, partial(standing_versions, who=who, ids=items))
        delta = Strength(useful=1) if useful else Strength(harms=1)
        counts: dict[str, object] = {item: [delta.uses, delta.useful, delta.harms, 0] for item in items}
        note = Note(verb=Verb.USED, payload=canonical(counts))
        return (yield from commit(draft_of(who, (note,), used=dict.fromkeys(items, delta))))

    def spend(self, who: Who, spending: Spending) -> Flow[None]:
        """Add to this user's meter of language models, beside the journal."""
        space = yield from look(lambda s: own_space(s, who))
        yield from transact(spend, space, spending)

    def _named(self, who: Who, of: Callable[[Snapshot], dict[ItemId, Version]]) -> Flow[dict[ItemId, Version]]:
        """The items that a verb was given, at least one."""
        versions = yield from look_again(who, self.desk, of)
        if not versions:
            raise Invalid("ids", "is empty", "Name at least one item.")
        return versions

    def _marked(
        self,
        who: Who,
        of: Callable[[Snapshot], dict[ItemId, Version]],
        items: Sequence[ItemId],
        verb: Verb,
        change: Callable[[Item], Item],
        expect: int | None,
    ) -> Flow[Receipt]:
        """Change items and what goes with them alike in one commit; those that are so already stay as they are."""
        writable(who)
        versions = yield from self._named(who, of)
        for id in items:
            expected_commit(versions[id], expect)
        changed = {i: item for i, version in versions.items() if (item := change(version.item)) != version.item}
        if not changed:
            seq = max(version.seq_from for version in versions.values())
            return Receipt(seq=seq, ids=tuple(versions), repeated=len(versions))
        puts = tuple(Put(verb=verb, item=item, terms=None) for item in changed.values())
        return (yield from committed(who, puts, expect={item: versions[item].seq_from for item in changed}))


def _with_chunks(
    snapshot: Snapshot, who: Who, item: ItemId, cited: Sequence[ItemId]
) -> tuple[Version, tuple[Version, ...], dict[ItemId, Version]]:
    """The standing version of an item, its chunks if it is a document, and what is cited beside it."""
    version = standing_version(snapshot, who, item)
    chunks = chunks_of(snapshot, who, (version,))
    return version, tuple(chunks.values()), cited_versions(snapshot, who, cited)


def _with_their_chunks(snapshot: Snapshot, who: Who, items: Sequence[ItemId]) -> dict[ItemId, Version]:
    """The standing versions of items, and of the chunks of those that are documents."""
    versions = standing_versions(snapshot, who, items)
    return {**versions, **chunks_of(snapshot, who, versions.values())}


def _tied(snapshot: Snapshot, who: Who, link: Link) -> bool:
    """Whether a link is there between items that all are here, with its evidence."""
    standing_versions(snapshot, who, (link.src, link.dst, *link.evidence))
    links = snapshot.links(own_or_none(snapshot, who), [link.src])
    return any((o.src, o.dst, o.type) == (link.src, link.dst, link.type) for o in links)

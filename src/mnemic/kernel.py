"""Every verb once, as a flow: it asks for a look, a commit or an erasure, and does nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from mnemic.checking import instant, number, text_field, whole, zone
from mnemic.core.clock import micros, moment, offset_minutes
from mnemic.core.events import Change, Receipt, Verb
from mnemic.core.ids import ItemId, to_bytes
from mnemic.core.items import EVIDENCE, Channel, Item, Kind, Link, Slot, State, Strength, Version
from mnemic.core.queries import Context, Filter, Lost, Query, View
from mnemic.core.scope import SHARED, Scope, Shared
from mnemic.core.text import clean_name
from mnemic.errors import Conflict, Invalid, NotFound, Refused, StoreError
from mnemic.flow import Flow
from mnemic.index.lexical import Catalogues
from mnemic.index.standing import Standings
from mnemic.ingest.message import Message
from mnemic.models.requests import Meant, embed_question
from mnemic.past.branching import Branch, branches_of, forked, shows
from mnemic.past.merging import Merge, merging
from mnemic.past.reverting import reverting
from mnemic.past.undoing import SUPERSEDES, inverse, reopened, touched, visible_at
from mnemic.settings import Settings
from mnemic.store.base import Draft, Erasure, ErasureReceipt, Note, Op, Put, Snapshot, SpaceHead, Tie
from mnemic.store.codec import canonical
from mnemic.store.requests import commit, erase, look
from mnemic.work.deriving import house_slice
from mnemic.work.lanes import HOUSE
from mnemic.writing import Desk, Written, closed_by

if TYPE_CHECKING:
    from mnemic.recall.always import Always
    from mnemic.recall.answer import Answer
    from mnemic.store.pages import Paging

T = TypeVar("T")
_ALL_STATES = tuple(State)
LIST_LIMIT: Final = 1_000_000
"""Most rows one call may ask for."""

CORE_LIMIT: Final = 300
"""Most items that are looked at for the always-on part of a context."""

CATCH_UP: Final = 4
"""Most slices that are read by rules before a context is made: two thousand turns."""

REVISABLE: Final = frozenset({"text", "slots", "tags", "valid_from", "valid_to", "key"})
"""Fields of a statement that may change; the rest is whose it is and where it came from."""

TRIES: Final = 1_000
"""How often a transaction is thought again because others wrote meanwhile; one of them got through each time."""

_NOTHING: Final = Context(
    text="", tokens=0, items=(), considered=0, seq=0, notes=("nothing has been remembered for this user yet",)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """Which past a handle reads: a commit or a moment for `at`, moments (microseconds) for the others."""

    at_seq: int | None = None
    at_moment: int | None = None
    as_of: int | None = None
    valid_at: int | None = None

    @property
    def is_now(self) -> bool:
        return self == Past()


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """Whose memory, on which branch of it, seen from which moment, by whom."""

    scope: Scope
    actor: str
    past: Past = Past()
    branch: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What is asked of recall, as its caller put it."""

    query: str
    k: int | None = None
    budget: int | None = None
    where: Filter = Filter()
    now: datetime | None = None
    explain: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One item that differs between two commits; None where it is not visible."""

    id: ItemId
    before: Item | None
    after: Item | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """Something to write that is not evidence: a fact, a profile slot, a plan ...

    Attributes:
        said: When it was said; left out, now, or the latest of its sources.
        source: The evidence it rests on, by id.
        key: Makes a retry safe.
        channel: Who brought it in.
    """

    text: str
    kind: Kind = Kind.FACT
    said: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    source: tuple[ItemId, ...] = ()
    slots: Mapping[str, Slot] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    key: str | None = None
    channel: Channel = Channel.USER


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits(Generic[T]):
    """What a transaction writes in one commit, and what it answers.

    Attributes:
        revise: By id, the fields of an item that change, as `revise` takes them; evidence is never revised.
        retire: What is hidden from now, as `forget` does.
    """

    answer: T
    write: tuple[Statement, ...] = ()
    revise: Mapping[ItemId, Mapping[str, object]] = field(default_factory=dict)
    retire: tuple[ItemId, ...] = ()


@dataclass(frozen=True, slots=True)
class Kernel:
    """The verbs, over one store's catalogues. Every method returns a flow."""

    desk: Desk
    catalogues: Catalogues
    settings: Settings
    standings: Standings = field(default_factory=Standings)

    # Writing

    def observe(self, who: Who, messages: Sequence[Message], channel: Channel = Channel.USER) -> Flow[Receipt]:
        """Remember messages: one commit, durable and recallable by its words when it returns."""
        receipt, _ = yield from self.take(who, messages, channel)
        return receipt

    def take(
        self, who: Who, messages: Sequence[Message], channel: Channel, paging: Paging | None = None
    ) -> Flow[tuple[Receipt, tuple[Item, ...]]]:
        """`observe`, with the items made for it; what a session writes of its window is in the same commit."""
        written = self.desk.evidence(_writable(who), messages, channel, lasting=channel is Channel.IMPORT)
        receipt = yield from self._commit(who, written.puts, masked=written.masked, paging=paging)
        return receipt, tuple(put.item for put in written.puts)

    def put_away(
        self, who: Who, items: Sequence[Item], expect: Mapping[ItemId, int], paging: Paging | None
    ) -> Flow[Receipt]:
        """Write what was made of turns that left a window; refused if one of `expect` has changed or is gone."""
        puts = tuple(put for item in items for put in self.desk.item(item, None).puts)
        return (yield from self._commit(who, puts, expect=expect, paging=paging))

    def page(self, who: Who, paging: Paging) -> Flow[None]:
        """Write what a session has changed in its page table, and take, prolong or give back its lease."""
        yield from commit(replace(self._draft(who, ()), paging=paging))

    def write(self, who: Who, statement: Statement) -> Flow[Receipt]:
        """Remember a statement."""
        _writable(who)
        sources = yield from look(lambda s: _sources(s, _spaces(s, who), statement.source))
        written = self._stated(who, statement, sources)
        return (yield from self._commit(who, written.puts, masked=written.masked))

    def revise(self, who: Who, item: ItemId, changes: Mapping[str, object]) -> Flow[Receipt]:
        """Correct what an item says; what it said before stays in its history.

        Raises:
            Invalid: it is evidence, which is never revised.
        """
        _writable(who)
        version = yield from self._standing(who, item)
        if version.item.kind in EVIDENCE:
            raise Invalid(
                "id",
                f"{item} is evidence ({version.item.kind}), which is never revised",
                "Write or supersede a fact instead.",
            )
        written = self.desk.item(_revised(version.item, changes), None)
        revised = written.puts[0].item
        if revised == version.item:
            return Receipt(seq=version.seq_from, ids=(item,), repeated=1)
        put = self.desk.put(Verb.REVISED, revised)
        return (yield from self._commit(who, (put,), expect={item: version.seq_from}, masked=written.masked))

    def supersede(self, who: Who, old: ItemId, statement: Statement) -> Flow[Receipt]:
        """Say that the world has changed: the new statement takes the old one's place from its own `valid_from` on.

        Said time decides which is newer: a statement that was said before the one it names arrives superseded itself.
        """
        _writable(who)
        before = yield from self._standing(who, old)
        if before.item.state is not State.ACTIVE and statement.key is not None:
            return (yield from self._repeated(who, statement, before))
        _refuse_closed(before.item)
        sources = yield from look(lambda s: _sources(s, _spaces(s, who), statement.source))
        written = self._stated(who, statement, sources)
        fresh = written.puts[0]
        newer, older = (fresh.item, before.item) if fresh.item.said >= before.item.said else (before.item, fresh.item)
        closed = closed_by(older, newer)
        puts: tuple[Put, ...]
        if older is before.item:
            puts = (fresh, Put(verb=Verb.SUPERSEDED, item=closed, terms=None))
        else:
            puts = (replace(fresh, item=closed),)
        tie = Tie(verb=Verb.LINKED, link=Link(src=newer.id, dst=older.id, type=SUPERSEDES))
        return (yield from self._commit(who, (*puts, tie), expect={old: before.seq_from}, masked=written.masked))

    def correct(self, who: Who, old: ItemId, statement: Statement) -> Flow[Receipt]:
        """Say that something was never so: a statement is revised, evidence hidden behind what is right.

        Evidence stays in the history of what stands in its place, and `undo` brings it back.
        """
        _writable(who)
        before = yield from self._standing(who, old)
        if before.item.kind not in EVIDENCE:
            return (yield from self._put_right(who, before, statement))
        if before.item.state is not State.ACTIVE and statement.key is not None:
            return (yield from self._repeated(who, statement, before))
        if before.item.state is not State.ACTIVE:
            raise _closed_already(before.item)
        written = self._stated(who, statement, {})
        chunks = yield from look(lambda s: _chunks(s, _own_or_none(s, who), (old,)))
        parts = [before]
        for chunk in chunks:
            parts.append((yield from self._standing(who, chunk)))
        hidden = (Put(verb=Verb.RETIRED, item=replace(v.item, state=State.RETIRED), terms=None) for v in parts)
        tie = Tie(verb=Verb.LINKED, link=Link(src=written.puts[0].item.id, dst=old, type=SUPERSEDES))
        expect = {v.item.id: v.seq_from for v in parts}
        return (yield from self._commit(who, (*written.puts, *hidden, tie), expect=expect, masked=written.masked))

    def _put_right(self, who: Who, before: Version, statement: Statement) -> Flow[Receipt]:
        """Revise a statement to what is right, by whom it comes from; a key makes that safe to repeat."""
        read = {name: slot for name, slot in before.item.slots.items() if name != "value"}  # out of the old words
        slots = statement.slots or read
        right = replace(before.item, text=statement.text, slots=slots, channel=Channel(statement.channel))
        written = self.desk.item(right, statement.key)
        put = replace(written.puts[0], verb=Verb.REVISED)
        if put.item == before.item:
            return Receipt(seq=before.seq_from, ids=(before.item.id,), repeated=1)
        put = replace(put, content=canonical({"corrected": before.item.id, "text": put.item.text}))
        return (yield from self._commit(who, (put,), expect={before.item.id: before.seq_from}, masked=written.masked))

    def transact(self, who: Who, where: Filter, think: Callable[[Sequence[Version]], Edits[T]]) -> Flow[T]:
        """Read what stands, think, write: as if nobody else had written in between, or it is thought again.

        Args:
            think: Pure, and called again whenever the space has moved on; what it raises ends it, nothing written.

        Raises:
            Conflict: a key came with other content; or others were quicker `TRIES` times.
        """
        _writable(who)
        for _ in range(TRIES):
            upon, versions = yield from look(lambda s: self._own_standing(s, who, where))
            edits = think(versions)
            ops = yield from self._edited(who, edits, versions)
            if not ops:
                return edits.answer
            try:
                yield from commit(replace(self._draft(who, ops), upon=upon))
            except Conflict:
                if (yield from look(lambda s: _last(s, who))) == upon:
                    raise
            else:
                return edits.answer
        raise Conflict(f"others were quicker {TRIES} times in a row; try again once less is written")

    def link(self, who: Who, link: Link, *, remove: bool = False) -> Flow[Receipt]:
        """Tie two items, or untie them."""
        _writable(who)
        number("weight", link.weight)
        text_field("type", link.type)
        for end in (link.src, link.dst, *link.evidence):
            yield from self._standing(who, end)
        if remove and not (yield from look(lambda s: _tied(s, _own_or_none(s, who), link))):
            raise NotFound(f"no link {link.src} -{link.type}-> {link.dst} here")
        return (yield from self._commit(who, (Tie(verb=Verb.UNLINKED if remove else Verb.LINKED, link=link),)))

    def forget(self, who: Who, items: Sequence[ItemId]) -> Flow[Receipt]:
        """Hide items from every view but the journal's past; `undo` brings them back."""
        chunks = yield from look(lambda s: _chunks(s, _own_or_none(s, who), items))
        every = (*items, *chunks)
        return (yield from self._mark(who, every, Verb.RETIRED, lambda item: replace(item, state=State.RETIRED)))

    def pin(self, who: Who, items: Sequence[ItemId], *, pinned: bool) -> Flow[Receipt]:
        """Keep items at hand, or let them go again."""
        return (
            yield from self._mark(
                who, items, Verb.PINNED if pinned else Verb.UNPINNED, lambda item: replace(item, pinned=pinned)
            )
        )

    def feedback(self, who: Who, items: Sequence[ItemId], *, useful: bool) -> Flow[Receipt]:
        """Say that items helped, or misled: their strength changes, never their truth."""
        _writable(who)
        if not items:
            raise Invalid("ids", "is empty", "Name at least one item.")
        for item in items:
            yield from self._standing(who, item)
        delta = Strength(useful=1) if useful else Strength(harms=1)
        return (yield from self.use(who, dict.fromkeys(items, delta)))

    def use(self, who: Who, used: Mapping[ItemId, Strength]) -> Flow[Receipt]:
        """Add to the counters of items, as one event."""
        counts: dict[str, object] = {
            item: [s.uses, s.useful, s.harms, micros(s.last_used) if s.last_used else 0] for item, s in used.items()
        }
        return (yield from commit(self._draft(who, (Note(verb=Verb.USED, payload=canonical(counts)),), used=used)))

    # Taking back, taking out

    def undo(self, who: Who, seq: int, *, cascade: bool = False) -> Flow[Receipt]:
        """Invert a commit, with its consequences, in one commit; undoing that is redo."""
        _writable(who)
        whole("seq", seq, low=1)
        blank = self._draft(who, ())
        draft = yield from look(lambda s: inverse(s, _own(s, who), seq, blank, cascade=cascade))
        return (yield from commit(draft))

    def erase(
        self, who: Who, items: Sequence[ItemId], *, session: str | None, source: str | None, reason: str
    ) -> Flow[ErasureReceipt]:
        """Take items, a session or a named source out for good, with all that was derived from them."""
        _writable(who)
        if not items and session is None and source is None:
            raise Invalid(
                "ids", "names nothing to erase", "Give ids, a session or a source; erase_user() takes everything."
            )
        for what, name in (("session", session), ("source", source), ("reason", reason or None)):
            if name is not None:
                text_field(what, name)
        for item in items:
            to_bytes(item)
        found = yield from look(lambda s: _doomed(s, _own(s, who), who.scope, items, session, source))
        reopening = yield from look(lambda s: _reopening(s, _own(s, who), found))
        erasure = self._erasure(who, ids=found, reason=reason)
        reopen = tuple(Put(verb=Verb.REOPENED, item=item, terms=None) for _, item in reopening)
        expect = {item.id: version.seq_from for version, item in reopening}
        return (yield from erase(replace(erasure, reopen=reopen, expect=expect)))

    def erase_user(self, who: Who, reason: str) -> Flow[ErasureReceipt]:
        """Take everything of this user out for good, their name included."""
        _writable(who)
        if reason:
            text_field("reason", reason)
        return (yield from erase(self._erasure(who, whole=True, reason=reason)))

    # Branches

    def branch(self, who: Who, name: str, *, understand: bool) -> Flow[None]:
        """Make a branch of what this handle reads, at its commit, if there is none of that name."""
        clean_name("branch", name)
        if (who.past.as_of, who.past.valid_at) != (None, None):
            raise Refused("a branch comes off a commit (`at`), not off what was known or held at a moment")
        base, there = yield from look(lambda s: (_view(s, who).at, _named_branch(s, who, name)))
        if there is None:
            yield from commit(forked(self._draft(who, ()), name, base, lanes=understand))
        elif not who.past.is_now:
            raise Conflict(f"there is a branch {name!r} already, off commit {there.base}; give this one another name")

    def branches(self, who: Who) -> Flow[Sequence[Branch]]:
        """Every branch of this user's memory."""
        return (yield from look(lambda s: [b for o in s.spaces(_own_or_none(s, who)) for b in branches_of(s, o)]))

    def merge(self, who: Who, name: str, prefer: str, *, dry_run: bool) -> Flow[Merge]:
        """Take over what a branch has changed, in one commit; what both have changed is reported, or settled."""
        _writable(who)
        clean_name("branch", name)

        def compared(snapshot: Snapshot) -> tuple[Merge, Draft]:
            there = _named_branch(snapshot, who, name)
            if there is None:
                raise NotFound(f"no branch {name!r} here")
            own = snapshot.spaces((_own(snapshot, who),))[0]
            return merging(snapshot, own, there, self._draft(who, ()), prefer)

        merge, receipt = yield from self._thought(who, compared, dry_run=dry_run)
        return replace(merge, seq=None if receipt is None else receipt.seq)

    def drop_branch(self, who: Who, name: str) -> Flow[ErasureReceipt]:
        """Take a branch out for good, with what was written to it alone."""
        _writable(who)
        clean_name("branch", name)
        return (yield from erase(replace(self._erasure(who, whole=True, reason=""), branch=name)))

    def revert(self, who: Who, seq: int) -> Flow[Receipt]:
        """Bring this memory back to what it was after a commit, by one commit that can be undone."""
        _writable(who)
        whole("seq", seq, low=1)
        blank = self._draft(who, ())
        _, done = yield from self._thought(who, lambda s: (None, reverting(s, _own(s, who), seq, blank)))
        return Receipt(seq=seq, ids=(), repeated=1) if done is None else done

    def _thought(
        self, who: Who, think: Callable[[Snapshot], tuple[T, Draft]], *, dry_run: bool = False
    ) -> Flow[tuple[T, Receipt | None]]:
        """Commit what a look at the store comes to, looking again as long as others were quicker."""
        for _ in range(TRIES):
            answer, draft = yield from look(think)
            if dry_run or not draft.ops:
                return answer, None
            try:
                return answer, (yield from commit(draft))
            except Conflict:
                if (yield from look(lambda s: _last(s, who))) == draft.upon:
                    raise
        raise Conflict(f"others were quicker {TRIES} times in a row; try again once less is written")

    def _erasure(self, who: Who, *, ids: tuple[ItemId, ...] = (), whole: bool = False, reason: str) -> Erasure:
        return Erasure(
            tenant=who.scope.tenant, user=who.scope.user, ids=ids, whole=whole, actor=who.actor, reason=reason,
            branch="" if whole else who.branch,
        )  # fmt: skip

    # Reading

    def recall(self, who: Who, ask: Ask) -> Flow[Context]:
        """The best evidence for a question, within k items and the budget, each with its reasons."""
        self._check(ask)
        meant = yield from embed_question(ask.query)
        return (yield from look(lambda s: self._recall(s, who, ask, meant)))

    def context(self, who: Who, ask: Ask) -> Flow[Context]:
        """A block for a prompt: what is always at hand first, the evidence for a question after it.

        What was said just now is read by rules before, so that an instruction holds from the moment it was given.
        """
        self._check(ask)
        if who.past.is_now:
            yield from self._understood(who)
        meant = yield from embed_question(ask.query)
        return (yield from look(lambda s: self._block(s, who, ask, meant)))

    def always(self, who: Who, room: int) -> Flow[Always]:
        """The always-on part of a context, of at most `room` tokens, once rules have read what was said."""
        if who.past.is_now:
            yield from self._understood(who)
        return (yield from look(lambda s: _always(s, who, room)))

    def read(self, who: Who, of: Callable[[Snapshot, tuple[int, ...], int | None], T]) -> Flow[T]:
        """What `of` makes of a snapshot, the spaces that may be read in it, and one's own (None before a write)."""
        return (yield from look(lambda s: of(s, _spaces(s, who), next(iter(_own_or_none(s, who)), None))))

    def ask(self, who: Who, ask: Ask) -> Flow[Answer]:
        """The words of the evidence or the profile that answer a question, cited; or that memory does not hold it."""
        context = yield from self.recall(who, ask)
        if who.past.is_now:
            yield from self._understood(who)
        profile = yield from look(lambda s: _profile(s, who))
        from mnemic.recall.answer import answer
        from mnemic.recall.profile import stated

        return answer(ask.query, context, stated(ask.query, profile, str(who.scope.user)))

    def why_not(self, who: Who, ask: Ask, item: ItemId) -> Flow[Lost]:
        """At which stage of this recall an item was lost, or that it was not."""
        self._check(ask)
        to_bytes(item)
        meant = yield from embed_question(ask.query)
        return (yield from look(lambda s: self._why_not(s, who, ask, meant, item)))

    def get(self, who: Who, item: ItemId) -> Flow[Version]:
        """One item as the view shows it."""
        version = yield from look(lambda s: s.get(_spaces(s, who), [item], _view(s, who)).get(item))
        if version is None or not on_shelf(who.scope, version.item):
            raise _absent(item)
        return version

    def list(self, who: Who, where: Filter, limit: int) -> Flow[Sequence[Version]]:
        """The items last written, newest first."""
        whole("limit", limit, low=1, high=LIST_LIMIT)
        shelf = _shelved(who.scope, where)
        return (yield from look(lambda s: s.latest(_spaces(s, who), shelf, _view(s, who), limit=limit)))

    def count(self, who: Who, where: Filter) -> Flow[int]:
        """How many items the view shows."""
        shelf = _shelved(who.scope, where)
        return (yield from look(lambda s: s.count(_spaces(s, who), shelf, _view(s, who))))

    def history(self, who: Who, item: ItemId) -> Flow[Sequence[Version]]:
        """Every version of an item and of what it superseded or was superseded by, oldest first."""
        versions = yield from look(lambda s: _story(s, _spaces(s, who), item, _view(s, who)))
        if not any(v.item.id == item and on_shelf(who.scope, v.item) for v in versions):
            raise _absent(item)
        return versions

    def links(self, who: Who, item: ItemId) -> Flow[Sequence[Link]]:
        """Links that start or end at an item."""
        return (yield from look(lambda s: _links(s, _spaces(s, who), item, _view(s, who))))

    def strength(self, who: Who, item: ItemId) -> Flow[Strength]:
        """An item's counters of use."""
        return (yield from look(lambda s: s.strength(_own(s, who), [item]).get(item, Strength())))

    def log(self, who: Who, limit: int, after: int, *, newest: bool) -> Flow[Sequence[Change]]:
        """The commits that touched this user's space, newest first."""
        whole("limit", limit, low=1, high=LIST_LIMIT)
        whole("after", after)
        return (yield from look(lambda s: _log(s, who, limit, after, newest)))

    def diff(self, who: Who, a: int, b: int | None) -> Flow[Sequence[Difference]]:
        """What differs between the commits `a` and `b` (left out: the head)."""
        return (yield from look(lambda s: _diff(s, _own(s, who), a, b)))

    # Underneath

    def _recall(self, snapshot: Snapshot, who: Who, ask: Ask, meant: Meant) -> Context:
        spaces = _spaces(snapshot, who)
        if not spaces:
            return _NOTHING
        from mnemic.recall.pipeline import recall

        found = recall(snapshot, self.catalogues, self._query(snapshot, who, ask, spaces, meant), explain=ask.explain)
        return replace(found, notes=(*found.notes, *meant.notes))

    def _block(self, snapshot: Snapshot, who: Who, ask: Ask, meant: Meant) -> Context:
        budget = self.settings.budget if ask.budget is None else ask.budget
        always = _always(snapshot, who, int(budget * self.settings.always_share))
        found = self._recall(snapshot, who, replace(ask, budget=max(1, budget - always.tokens)), meant)
        return replace(
            found,
            text="\n".join(text for text in (always.text, found.text) if text),
            tokens=always.tokens + found.tokens,
            always=always.items,
            notes=(*found.notes, *always.notes),
        )

    def _understood(self, who: Who) -> Flow[None]:
        """Have rules read what this user has said since they did last; a store that cannot be written is read as is."""
        for space in (yield from look(lambda s: _undigested(s, who))):
            with suppress(StoreError, Conflict):
                for _ in range(CATCH_UP):
                    if not (yield from house_slice(self.desk, space)).done:
                        break

    def _why_not(self, snapshot: Snapshot, who: Who, ask: Ask, meant: Meant, item: ItemId) -> Lost:
        from mnemic.recall.pipeline import why_not

        query = self._query(snapshot, who, ask, _spaces(snapshot, who), meant)
        return why_not(snapshot, self.catalogues, query, item)

    def _query(self, snapshot: Snapshot, who: Who, ask: Ask, spaces: tuple[int, ...], meant: Meant) -> Query:
        now = self.desk.clock.now() if ask.now is None else micros(ask.now, "now")
        view = _view(snapshot, who)
        asked = (
            now if view.as_of is None else min(now, view.as_of)
        )  # "last week", asked of the past, is the week before it
        k = self.settings.k if ask.k is None else ask.k
        return Query(
            text=ask.query,
            now=asked,
            offset=self._offset(ask.now, asked),
            spaces=spaces,
            view=view,
            where=_shelved(who.scope, ask.where),
            k=k,
            budget=ask.budget,
            vectors=meant.vectors,
        )

    def _check(self, ask: Ask) -> None:
        if not isinstance(ask.query, str):
            raise Invalid("query", f"is {type(ask.query).__name__}, not a string", "Ask in words.")
        if len(ask.query.encode("utf-8", "surrogatepass")) > self.settings.item_limit:
            raise Invalid(
                "query", "is longer than an item may be", f"Ask in at most {self.settings.item_limit:,} bytes."
            )
        if ask.k is not None:
            whole("k", ask.k, low=1, high=self.settings.k_limit)
        if ask.budget is not None:
            whole("budget", ask.budget, low=1)
        if ask.now is not None:
            instant("now", ask.now)

    def _offset(self, now: datetime | None, us: int) -> int:
        """Minutes east of UTC where it is asked: on the clock of `now`, else in the setting `timezone`."""
        return offset_minutes(now if now is not None else moment(us).astimezone(zone(self.settings.timezone)))

    def _stated(self, who: Who, statement: Statement, sources: Mapping[ItemId, Version]) -> Written:
        latest = max((v.item.said for v in sources.values()), default=None)
        said = statement.said or latest or moment(self.desk.clock.now())
        for name, when in (("said", said), ("valid_from", statement.valid_from), ("valid_to", statement.valid_to)):
            if when is not None:
                instant(name, when)
        kind = _statement_kind(statement.kind)
        if statement.valid_to is not None and statement.valid_to <= (statement.valid_from or said):
            raise Invalid("valid_to", "is not after valid_from", "Give an interval [from, to).")
        item = Item(
            id=self.desk.fresh_id(), kind=kind, text=statement.text, valid_from=statement.valid_from,
            said=moment(micros(said)), said_offset=offset_minutes(said),
            valid_to=statement.valid_to, source=statement.source, slots=statement.slots, tags=statement.tags,
            agent=who.scope.agent, session=who.scope.session, pos=micros(said), channel=Channel(statement.channel),
        )  # fmt: skip
        return self.desk.item(item, statement.key, statement.said)

    def _repeated(self, who: Who, statement: Statement, closed: Version) -> Flow[Receipt]:
        """The first receipt of what was written in this item's place under the same key."""
        sources = yield from look(lambda s: _sources(s, _spaces(s, who), statement.source))
        ops = self._stated(who, statement, sources).puts
        try:
            # An item that is here "must not exist": only a key that has landed comes before that is looked at.
            return (yield from self._commit(who, ops, expect={closed.item.id: 0}))
        except Conflict as error:
            raise _closed_already(closed.item) from error

    def _own_standing(self, snapshot: Snapshot, who: Who, where: Filter) -> tuple[int, Sequence[Version]]:
        """What stands in this user's own space, in the order it was written, and the commit it stands as of."""
        own = _own_or_none(snapshot, who)
        if not own:
            return 0, ()
        if who.branch:  # what is followed from commit to commit is one space's own
            shelf = _shelved(who.scope, where)
            return _last(snapshot, who), [v for _, v in snapshot.scan(own, shelf, limit=LIST_LIMIT)]
        return self.standings.read(snapshot, snapshot.spaces(own)[0], _shelved(who.scope, where))

    def _edited(self, who: Who, edits: Edits[T], versions: Sequence[Version]) -> Flow[tuple[Op, ...]]:
        """The ops that edits are, checked as the verbs of their own check them."""
        named = {*edits.revise, *edits.retire}
        standing = {v.item.id: v.item for v in versions if v.item.id in named} if named else {}
        if unseen := [item for item in named if item not in standing]:
            raise _absent(unseen[0])
        cited = list(dict.fromkeys(source for statement in edits.write for source in statement.source))
        sources = yield from look(lambda s: _sources(s, _spaces(s, who), cited))
        written = [put for one in edits.write for put in self._stated(who, one, _of(sources, one.source)).puts]
        revised = [self._changed(standing[item], changes) for item, changes in edits.revise.items()]
        hidden = yield from self._hidden(who, [standing[item] for item in dict.fromkeys(edits.retire)])
        return (*written, *(put for put in revised if put is not None), *hidden)

    def _changed(self, before: Item, changes: Mapping[str, object]) -> Put | None:
        if before.kind in EVIDENCE:
            raise Invalid("revise", f"{before.id} is evidence, which is never revised", "Write a statement instead.")
        after = self.desk.item(_revised(before, changes), None).puts[0].item
        return None if after == before else self.desk.put(Verb.REVISED, after)

    def _hidden(self, who: Who, items: Sequence[Item]) -> Flow[tuple[Put, ...]]:
        """What hides items; a document goes with its chunks."""
        documents = [item.id for item in items if item.kind is Kind.DOCUMENT]
        own = yield from look(lambda s: s.standing(_own_or_none(s, who), _chunks(s, _own_or_none(s, who), documents)))
        every = {item.id: item for item in (*items, *(v.item for v in own.values()))}
        return tuple(
            Put(verb=Verb.RETIRED, item=replace(item, state=State.RETIRED), terms=None)
            for item in every.values()
            if item.state is not State.RETIRED
        )

    def _mark(self, who: Who, items: Sequence[ItemId], verb: Verb, change: Callable[[Item], Item]) -> Flow[Receipt]:
        _writable(who)
        if not items:
            raise Invalid("ids", "is empty", "Name at least one item.")
        versions = []
        for item in dict.fromkeys(items):
            versions.append((yield from self._standing(who, item)))
        pairs = [(version, change(version.item)) for version in versions]
        changed = [(version, item) for version, item in pairs if item != version.item]
        if not changed:
            return Receipt(seq=max(v.seq_from for v in versions), ids=tuple(items), repeated=len(items))
        puts = tuple(Put(verb=verb, item=item, terms=None) for _, item in changed)
        return (yield from self._commit(who, puts, expect={item.id: version.seq_from for version, item in changed}))

    def _standing(self, who: Who, item: ItemId) -> Flow[Version]:
        version = yield from look(lambda s: s.standing(_own_or_none(s, who), [item]).get(item))
        if version is None or not on_shelf(who.scope, version.item):
            raise _absent(item)
        return version

    def _commit(
        self,
        who: Who,
        ops: Sequence[Op],
        *,
        expect: Mapping[ItemId, int] | None = None,
        masked: tuple[tuple[str, int], ...] = (),
        paging: Paging | None = None,
    ) -> Flow[Receipt]:
        draft = replace(self._draft(who, tuple(ops), expect=expect or {}), paging=paging)
        receipt = yield from commit(draft)
        return replace(receipt, masked=masked) if masked else receipt

    def _draft(
        self,
        who: Who,
        ops: tuple[Op, ...],
        *,
        expect: Mapping[ItemId, int] | None = None,
        used: Mapping[ItemId, Strength] | None = None,
    ) -> Draft:
        return Draft(
            tenant=who.scope.tenant, user=who.scope.user, actor=who.actor, ops=ops, expect=expect or {},
            used=used or {}, branch=who.branch,
        )  # fmt: skip


def _writable(who: Who) -> Scope:
    if not who.past.is_now:
        raise Refused("this handle looks at the past, which is not written to; use the one it came from")
    return who.scope


def _absent(item: str) -> NotFound:
    return NotFound(f"no item {item} here")


def _spaces(snapshot: Snapshot, who: Who) -> tuple[int, ...]:
    """A read sees its own user's space and the tenant's shared one, never another's."""
    tenant, own = snapshot.tenant(who.scope.tenant), _own_or_none(snapshot, who)
    shared = None if tenant is None or isinstance(who.scope.user, Shared) else snapshot.space(tenant, SHARED)
    return own if shared is None else (*own, shared.id)


def _own_or_none(snapshot: Snapshot, who: Who) -> tuple[int, ...]:
    tenant = snapshot.tenant(who.scope.tenant)
    head = None if tenant is None else snapshot.space(tenant, who.scope.user, who.branch)
    if head is None and who.branch:
        raise NotFound(f"no branch {who.branch!r} here")
    return () if head is None else (head.id,)


def _named_branch(snapshot: Snapshot, who: Who, name: str) -> SpaceHead | None:
    tenant = snapshot.tenant(who.scope.tenant)
    return None if tenant is None else snapshot.space(tenant, who.scope.user, name)


def _last(snapshot: Snapshot, who: Who) -> int:
    """The last commit of this user's own space; 0 before the first."""
    own = _own_or_none(snapshot, who)
    return snapshot.spaces(own)[0].seq if own else 0


def _undigested(snapshot: Snapshot, who: Who) -> list[int]:
    own = () if isinstance(who.scope.user, Shared) else _own_or_none(snapshot, who)
    followed = [head.id for head in snapshot.spaces(own) if head.lanes]
    return [space for space in followed if snapshot.lane(space, HOUSE).cursor < snapshot.newest(space)]


def _own(snapshot: Snapshot, who: Who) -> int:
    own = _own_or_none(snapshot, who)
    if not own:
        raise NotFound("nothing has been remembered for this user yet")
    return own[0]


def _view(snapshot: Snapshot, who: Who) -> View:
    past = who.past
    at = past.at_seq
    if past.at_moment is not None:
        tenant = snapshot.tenant(who.scope.tenant)
        found = 0 if tenant is None else snapshot.seq_at(tenant, past.at_moment)
        at = found if at is None else min(at, found)
    return View(at=at, as_of=past.as_of, valid_at=past.valid_at)


def _shelved(scope: Scope, where: Filter) -> Filter:
    shelves: dict[str, str | None] = {}
    for name in ("agent", "session"):
        wanted, mine = getattr(where, name), getattr(scope, name)
        if wanted is not None:
            text_field(name, wanted)
        if None not in (wanted, mine) and wanted != mine:
            raise Invalid(name, f"{wanted!r} is not this handle's {mine!r}", "Use a handle without that shelf.")
        shelves[name] = mine if wanted is None else wanted
    for name in ("said_from", "said_to"):
        if getattr(where, name) is not None:
            whole(name, getattr(where, name), low=-(2**62))
    return replace(where, agent=shelves["agent"], session=shelves["session"])


def on_shelf(scope: Scope, item: Item) -> bool:
    """Whether an item is shown to who reads from this shelf."""
    return scope.agent in (None, item.agent) and scope.session in (None, item.session)


def _at_hand(scope: Scope, item: Item) -> bool:
    """Whether an item is always on here: one that belongs to no agent, or no session, is so for all of them."""
    return all(
        here is None or theirs in (None, here)
        for here, theirs in ((scope.agent, item.agent), (scope.session, item.session))
    )


def _of(sources: Mapping[ItemId, Version], ids: Sequence[ItemId]) -> dict[ItemId, Version]:
    return {item: sources[item] for item in ids}


def _sources(snapshot: Snapshot, spaces: tuple[int, ...], ids: Sequence[ItemId]) -> dict[ItemId, Version]:
    found = snapshot.standing(spaces, ids) if ids else {}
    missing = [item for item in ids if item not in found]
    if missing:
        raise NotFound(f"no item {missing[0]} here to cite as a source")
    return found


def _doomed(
    snapshot: Snapshot, space: int, scope: Scope, items: Sequence[ItemId], session: str | None, source: str | None
) -> tuple[ItemId, ...]:
    """What is to be erased: items by id, and those of a session or of a named source, in every state, on this shelf.

    It is looked for in the owner's own space and in every branch.
    """
    (here,) = snapshot.spaces((space,))
    homes = [head.id for head in snapshot.all_spaces(here.tenant) if head.user == here.user]
    found = [i for home in homes for i, v in snapshot.standing((home,), items).items() if on_shelf(scope, v.item)]
    if session is None and source is None:
        return tuple(dict.fromkeys(found))
    where = replace(_shelved(scope, Filter(session=session)), states=_ALL_STATES)
    for home in homes:
        after = 0
        while page := snapshot.scan((home,), where, after=after, limit=1000):
            after = page[-1][0]
            found += [v.item.id for _, v in page if source is None or v.item.slots.get("source") == source]
    return tuple(dict.fromkeys(found))


def _reopening(snapshot: Snapshot, space: int, items: Sequence[ItemId]) -> list[tuple[Version, Item]]:
    """What these items, or what was derived from them, superseded, with what it becomes: nothing is left against it.

    Where a newer item had taken the place of one that goes, what that one superseded stays superseded.
    """
    going, fresh = dict.fromkeys(items), list(items)
    while fresh:
        fresh = [derived for derived in snapshot.derived(space, fresh) if derived not in going]
        going.update(dict.fromkeys(fresh))
    links = snapshot.links((space,), list(going))
    stood = snapshot.standing((space,), list(going))
    older = [
        ln.dst
        for ln in links
        if ln.type == SUPERSEDES
        and ln.dst not in going
        and ln.src in stood
        and stood[ln.src].item.state is State.ACTIVE
    ]
    found = snapshot.standing((space,), older).values()
    return [(v, reopened(snapshot, space, v.item)) for v in found if v.item.state is State.SUPERSEDED]


def _chunks(snapshot: Snapshot, spaces: tuple[int, ...], items: Sequence[ItemId]) -> list[ItemId]:
    """The chunks of the documents among these items: a document is forgotten as a whole."""
    documents = [i for i, v in snapshot.standing(spaces, items).items() if v.item.kind is Kind.DOCUMENT]
    parts = [part for space in spaces for part in snapshot.derived(space, documents)] if documents else []
    return [i for i, v in snapshot.standing(spaces, parts).items() if v.item.kind is Kind.CHUNK]


def _tied(snapshot: Snapshot, spaces: tuple[int, ...], link: Link) -> bool:
    return any((o.src, o.dst, o.type) == (link.src, link.dst, link.type) for o in snapshot.links(spaces, [link.src]))


def _links(snapshot: Snapshot, spaces: tuple[int, ...], item: ItemId, view: View) -> list[Link]:
    """Links of an item; of the past of what was known or held, those whose both ends it shows."""
    found = snapshot.links(spaces, [item], view)
    if view.as_of is None and view.valid_at is None:
        return found
    ends = snapshot.get(spaces, list({end for link in found for end in (link.src, link.dst)}), view)
    return [link for link in found if link.src in ends and link.dst in ends]


def _always(snapshot: Snapshot, who: Who, room: int) -> Always:
    from mnemic.recall.always import always_on

    core, sources = _core(snapshot, who)
    return always_on(core, sources, str(who.scope.user), room)


def _core(snapshot: Snapshot, who: Who) -> tuple[list[Version], dict[ItemId, Version]]:
    """What is always at hand here, and those of its sources that the view shows."""
    spaces, view = _spaces(snapshot, who), _view(snapshot, who)
    core = [v for v in snapshot.core(spaces, view, CORE_LIMIT) if _at_hand(who.scope, v.item)] if spaces else []
    return core, dict(snapshot.get(spaces, list({i for v in core for i in v.item.source}), view)) if core else {}


def _profile(snapshot: Snapshot, who: Who) -> list[Item]:
    """What the profile says, as far as its evidence is still shown."""
    from mnemic.recall.always import supported

    core, sources = _core(snapshot, who)
    return [v.item for v in core if v.item.kind is Kind.PROFILE and supported(v.item, sources)]


def _story(snapshot: Snapshot, spaces: tuple[int, ...], item: ItemId, view: View) -> list[Version]:
    """The versions of an item and of every item tied to it by supersession, in order of commit, as far as `at` goes."""
    story: dict[ItemId, list[Version]] = {}
    queue = [item]
    while queue:
        one = queue.pop()
        if one in story:
            continue
        story[one] = [v for v in snapshot.history(spaces, one) if view.at is None or v.seq_from <= view.at]
        links = snapshot.links(spaces, [one], View(at=view.at)) if story[one] else []
        queue += [end for link in links if link.type == SUPERSEDES for end in (link.src, link.dst)]
    return sorted((v for versions in story.values() for v in versions), key=lambda v: (v.seq_from, v.item.said))


def _refuse_closed(item: Item) -> None:
    if item.kind in EVIDENCE:
        raise Invalid(
            "id", f"{item.id} is evidence ({item.kind}), which stays as it was said", "Supersede a statement."
        )
    if item.state is not State.ACTIVE:
        raise _closed_already(item)


def _closed_already(item: Item) -> Conflict:
    return Conflict(f"{item.id} is {item.state.name.lower()} already; `history` shows what stands in its place")


def _statement_kind(kind: object) -> Kind:
    try:
        known = Kind(kind)  # type: ignore[arg-type]
    except ValueError as error:
        raise Invalid("kind", f"{kind!r} is none", f"Known: {', '.join(sorted(set(Kind) - EVIDENCE))}.") from error
    if known in EVIDENCE:
        raise Invalid("kind", f"{known} is evidence", "Use observe for what was said or read.")
    return known


def _revised(item: Item, changes: Mapping[str, object]) -> Item:
    if unknown := set(changes) - REVISABLE:
        raise Invalid(sorted(unknown)[0], "cannot be revised", f"Revise {', '.join(sorted(REVISABLE))}.")
    for name in ("valid_from", "valid_to"):
        if changes.get(name) is not None:
            instant(name, changes[name])
    if changes.get("key") is not None:
        text_field("key", changes["key"])
    revised: Item = replace(item, **changes)  # type: ignore[arg-type]
    dated = not {"valid_from", "valid_to"}.isdisjoint(changes)  # what was superseded at once held for no time at all
    if dated and revised.valid_to is not None and revised.valid_to <= (revised.valid_from or revised.said):
        raise Invalid("valid_to", "is not after valid_from", "Give an interval [from, to).")
    return revised


def _log(snapshot: Snapshot, who: Who, limit: int, after: int, newest: bool) -> list[Change]:
    """Commits of the whole tenant are numbered together; only those of this user's space are shown."""
    tenant = snapshot.tenant(who.scope.tenant)
    own = _own_or_none(snapshot, who)
    if tenant is None or not own:
        return []
    found: list[Change] = []
    at, layers = _view(snapshot, who).at, snapshot.layers(own)
    head = snapshot.head(tenant).seq if at is None else min(at, snapshot.head(tenant).seq)
    start, page = (head, 200) if newest else (after, 200)
    while len(found) < limit and (start > after if newest else start < head):
        low = max(after, start - page) if newest else start
        changes = snapshot.changes(tenant, low, page)
        if newest:
            changes = [c for c in reversed(changes) if c.seq <= start]
        found += [c for c in changes if shows(layers, c) and c.seq <= head]
        start = low if newest else (changes[-1].seq if changes else head)
    return found[:limit]


def _diff(snapshot: Snapshot, space: int, a: int, b: int | None) -> list[Difference]:
    head = snapshot.head(snapshot.spaces((space,))[0].tenant).seq
    first, last = a, head if b is None else b
    for name, seq in (("a", first), ("b", last)):
        if not 0 <= seq <= head:
            raise Invalid(name, f"commit {seq} is not between 0 and {head}", "`mnemic log` shows the commits.")
    ids = touched(snapshot, space, min(first, last), max(first, last))
    before, after = visible_at(snapshot, space, ids, first), visible_at(snapshot, space, ids, last)
    pairs = ((i, before.get(i), after.get(i)) for i in ids)
    found = [Difference(id=i, before=x.item if x else None, after=y.item if y else None) for i, x, y in pairs]
    return [d for d in found if d.before != d.after]

"""The verbs that take back, or out for good: undo, revert, erase."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mnemic.core.checking import text_field, whole
from mnemic.core.events import Receipt, Verb
from mnemic.core.ids import ItemId, to_bytes
from mnemic.core.items import Item, State, Version
from mnemic.core.queries import Filter
from mnemic.core.scope import Scope
from mnemic.errors import Invalid
from mnemic.flow import Flow
from mnemic.past.undoing import inverse, reopening
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.requests import commit, erase, look
from mnemic.store.values.drafts import Put
from mnemic.store.values.receipts import ErasureReceipt
from mnemic.verbs.who import (
    Who,
    catch_up,
    compare_and_commit,
    draft_of,
    erasure_of,
    on_shelf,
    own_space,
    shelved,
    writable,
)
from mnemic.writing import Desk

_ALL_STATES = tuple(State)


class TakingBack:
    """The verbs that take back, of a `Kernel`."""

    __slots__ = ()
    desk: Desk

    def undo(self, who: Who, seq: int, *, cascade: bool = False) -> Flow[Receipt]:
        """Invert a commit, with its consequences, in one commit; undoing that is redo."""
        writable(who)
        whole("seq", seq, low=1)
        blank = draft_of(who, ())
        draft = yield from look(lambda s: inverse(s, own_space(s, who), seq, blank, cascade=cascade))
        return (yield from commit(draft))

    def revert(self, who: Who, seq: int) -> Flow[Receipt]:
        """Bring this memory back to what it was after a commit, by one commit that can be undone."""
        from mnemic.past.reverting import reverting

        writable(who)
        whole("seq", seq, low=1)
        blank = draft_of(who, ())
        _, done = yield from compare_and_commit(who, lambda s: (None, reverting(s, own_space(s, who), seq, blank)))
        return Receipt(seq=seq, ids=(), repeated=1) if done is None else done

    def erase(
        self, who: Who, items: Sequence[ItemId], *, session: str | None, source: str | None, reason: str
    ) -> Flow[ErasureReceipt]:
        """Take items, a session or a named source out for good, with all that was derived from them."""
        writable(who)
        if not items and session is None and source is None:
            raise Invalid(
                "ids", "names nothing to erase", "Give ids, a session or a source; erase_user() takes everything."
            )
        for what, name in (("session", session), ("source", source), ("reason", reason or None)):
            if name is not None:
                text_field(what, name)
        for item in items:
            to_bytes(item)

        def named(snapshot: Snapshot) -> tuple[tuple[ItemId, ...], list[tuple[Version, Item]]]:
            own = own_space(snapshot, who)
            going = _doomed(snapshot, own, who.scope, items, session, source)
            return going, _reopening(snapshot, own, going)

        found, reopening = yield from look(named)
        if not set(items) <= set(found) and (yield from catch_up(who, self.desk)):
            found, reopening = yield from look(named)
        erasure = erasure_of(who, ids=found, reason=self.desk.without_secrets(reason))
        reopen = tuple(Put(verb=Verb.REOPENED, item=item, terms=None) for _, item in reopening)
        expect = {item.id: version.seq_from for version, item in reopening}
        return (yield from erase(replace(erasure, reopen=reopen, expect=expect, names=(session,) if session else ())))

    def erase_user(self, who: Who, reason: str) -> Flow[ErasureReceipt]:
        """Take everything of this user out for good, their name included."""
        writable(who)
        if reason:
            text_field("reason", reason)
        return (yield from erase(erasure_of(who, whole=True, reason=self.desk.without_secrets(reason))))


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
    where = replace(shelved(scope, Filter(session=session)), states=_ALL_STATES)
    for home in homes:
        after = 0
        while page := snapshot.scan((home,), where, after=after, limit=1000):
            after = page[-1][0]
            found += [v.item.id for _, v in page if source is None or v.item.slots.get("source") == source]
    return tuple(dict.fromkeys(found))


def _reopening(snapshot: Snapshot, space: int, items: Sequence[ItemId]) -> list[tuple[Version, Item]]:
    """Find what reopens once these items, and what was derived from them, have gone."""
    going, fresh = dict.fromkeys(items), list(items)
    while fresh:
        fresh = [derived for derived in snapshot.derived(space, fresh) if derived not in going]
        going.update(dict.fromkeys(fresh))
    return reopening(snapshot, space, going, going)

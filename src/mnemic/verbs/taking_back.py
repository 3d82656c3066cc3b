"""The verbs that take back, or out for good: undo, revert, erase."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from mnemic.core.checking import text_field, whole
from mnemic.core.events import Receipt
from mnemic.core.ids import ItemId, to_bytes
from mnemic.core.items import Item, Version
from mnemic.core.queries import Filter
from mnemic.core.transitions import transition
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Invalid, NotFound
from mnemic.flow import Flow
from mnemic.past.undoing import inverse, reopening
from mnemic.store.engine.erasure import doomed
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.requests import commit, erase, look
from mnemic.store.values.drafts import Named, Put
from mnemic.store.values.receipts import ErasureReceipt
from mnemic.verbs.who import (
    Who,
    catch_up,
    compare_and_commit,
    draft_of,
    erasure_of,
    own_or_none,
    own_space,
    shelved,
    writable,
)
from mnemic.writing import Desk

if TYPE_CHECKING:
    from mnemic.past.undo_plans import Undone


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

    def undo_range(self, who: Who, first: int, last: int, *, cascade: bool) -> Flow[Sequence[Undone]]:
        """Undo the commits `first` to `last` that stand, newest first, each by a commit of its own."""
        import_whole("mnemic.past.undo_plans")
        from mnemic.past.undo_plans import range_to_undo

        whole("first", first, low=1)
        whole("last", last, low=1)
        if last < first:
            raise Invalid(
                "last",
                f"is {last}, before {first}",
                f"A range goes from the older commit to the newer: {last}..{first}.",
            )
        plan = look(lambda s: range_to_undo(s, own_space(s, who), first, last, cascade=cascade))
        return (yield from self._undo_each(who, plan))

    def undo_import(self, who: Who, source: str, *, cascade: bool) -> Flow[Sequence[Undone]]:
        """Undo what imports brought in under the name of a source, newest first."""
        import_whole("mnemic.past.undo_plans")
        from mnemic.past.undo_plans import import_to_undo

        plan = look(lambda s: import_to_undo(s, own_space(s, who), source, cascade=cascade))
        return (yield from self._undo_each(who, plan))

    def _undo_each(self, who: Who, plan: Flow[tuple[int, ...]]) -> Flow[Sequence[Undone]]:
        """Undo what a plan names. It has seen what is in the way: what these commits changed of each other is not."""
        import_whole("mnemic.past.undo_plans")
        from mnemic.past.undo_plans import Undone

        writable(who)
        done: list[Undone] = []
        for seq in (yield from plan):
            with suppress(NotFound):  # it did what cannot be undone, and only that
                done.append(Undone(seq, (yield from self.undo(who, seq, cascade=True))))
        return done

    def revert(self, who: Who, seq: int) -> Flow[Receipt]:
        """Bring this memory back to what it was after a commit, by one commit that can be undone."""
        import_whole("mnemic.past.reverting")
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

        shelf = shelved(who.scope, Filter(session=session))
        named = Named(ids=tuple(items), session=session, source=source, agent=shelf.agent, shelf=who.scope.session)

        def going(snapshot: Snapshot) -> tuple[tuple[ItemId, ...], list[tuple[Version, Item]]]:
            for own in own_or_none(snapshot, who):
                leaving = doomed(snapshot, own, named)
                return leaving, _reopening(snapshot, own, leaving)
            return (), []

        leaving, reopening = yield from look(going)
        if not set(items) <= set(leaving) and (yield from catch_up(who, self.desk)):
            leaving, reopening = yield from look(going)
        erasure = erasure_of(who, ids=leaving, reason=self.desk.without_secrets(reason))
        reopen = tuple(Put(verb=transition(item, v.item), item=item, terms=None) for v, item in reopening)
        expect = {item.id: version.seq_from for version, item in reopening}
        names = (session,) if session else ()
        return (yield from erase(replace(erasure, reopen=reopen, expect=expect, names=names, named=named)))

    def erase_user(self, who: Who, reason: str) -> Flow[ErasureReceipt]:
        """Take everything of this user out for good, their name included."""
        writable(who)
        if reason:
            text_field("reason", reason)
        return (yield from erase(erasure_of(who, whole=True, reason=self.desk.without_secrets(reason))))


def _reopening(snapshot: Snapshot, space: int, items: Sequence[ItemId]) -> list[tuple[Version, Item]]:
    """Find what reopens once these items, and what was derived from them, have gone."""
    going, fresh = dict.fromkeys(items), list(items)
    while fresh:
        fresh = [derived for derived in snapshot.derived(space, fresh) if derived not in going]
        going.update(dict.fromkeys(fresh))
    return reopening(snapshot, space, going, going)

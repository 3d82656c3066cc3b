"""The verbs that ask memory: recall, a context block, an answer, why something was not found."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros, moment, offset_minutes, time_zone
from mnemic.core.ids import ItemId, to_bytes
from mnemic.core.queries import Context, Filter, Lost, Query
from mnemic.core.scope import Shared
from mnemic.errors import Conflict, Invalid, StoreError
from mnemic.flow import Flow
from mnemic.index.catalogues import Catalogues
from mnemic.lanes.slices import HOUSE
from mnemic.models.model_requests import Meant, embed_question
from mnemic.settings import Settings
from mnemic.shelves import shelved
from mnemic.store.requests import look
from mnemic.store.snapshot import Snapshot
from mnemic.verbs.at_hand import always_part, profile_of
from mnemic.verbs.who import Who, own_or_none, spaces_of, view_of
from mnemic.writing import Desk

if TYPE_CHECKING:
    from mnemic.recall.always import Always
    from mnemic.recall.answer import Answer

_NOTHING: Final = Context(
    text="", tokens=0, items=(), considered=0, seq=0, notes=("nothing has been remembered for this user yet",)
)

_NOTHING_ASKED: Final = replace(_NOTHING, notes=())

CATCH_UP: Final = 4
"""Most slices that are read by rules before a context is made: two thousand turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What is asked of recall, as its caller put it."""

    query: str
    k: int | None = None
    budget: int | None = None
    where: Filter = Filter()
    now: datetime | None = None
    explain: bool = False


class Recalling:
    """The verbs that ask memory, of a `Kernel`."""

    __slots__ = ()
    desk: Desk
    catalogues: Catalogues
    settings: Settings

    def recall(self, who: Who, ask: Ask) -> Flow[Context]:
        """The best evidence for a question, within k items and the budget, each with its reasons."""
        self._check(ask)
        meant = yield from embed_question(ask.query)
        return (yield from look(lambda s: self._recall(s, who, ask, meant)))

    def context(self, who: Who, ask: Ask) -> Flow[Context]:
        """A block for a prompt: what is always at hand first, the evidence for a question after it, if one is asked.

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
        return (yield from look(lambda s: always_part(s, who, room)))

    def ask(self, who: Who, ask: Ask) -> Flow[Answer]:
        """The words of the evidence or the profile that answer a question, cited; or that memory does not hold it."""
        context = yield from self.recall(who, ask)
        if who.past.is_now:
            yield from self._understood(who)
        profile = yield from look(lambda s: profile_of(s, who))
        from mnemic.recall.answer import answer
        from mnemic.recall.profile import stated

        return answer(ask.query, context, stated(ask.query, profile, str(who.scope.user)))

    def why_not(self, who: Who, ask: Ask, item: ItemId) -> Flow[Lost]:
        """At which stage of this recall an item was lost, or that it was not."""
        self._check(ask)
        to_bytes(item)
        meant = yield from embed_question(ask.query)
        return (yield from look(lambda s: self._why_not(s, who, ask, meant, item)))

    def _recall(self, snapshot: Snapshot, who: Who, ask: Ask, meant: Meant) -> Context:
        spaces = spaces_of(snapshot, who)
        if not spaces:
            return _NOTHING
        from mnemic.recall.pipeline import recall

        found = recall(snapshot, self.catalogues, self._query(snapshot, who, ask, spaces, meant), explain=ask.explain)
        return replace(found, notes=(*found.notes, *meant.notes))

    def _block(self, snapshot: Snapshot, who: Who, ask: Ask, meant: Meant) -> Context:
        budget = self.settings.budget if ask.budget is None else ask.budget
        always = always_part(snapshot, who, int(budget * self.settings.always_share))
        rest = replace(ask, budget=max(1, budget - always.tokens))
        found = self._recall(snapshot, who, rest, meant) if ask.query.strip() else _NOTHING_ASKED
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
            from mnemic.derive.strategy_lane import house_slice

            with suppress(StoreError, Conflict):
                for _ in range(CATCH_UP):
                    if not (yield from house_slice(self.desk, space)).done:
                        break

    def _why_not(self, snapshot: Snapshot, who: Who, ask: Ask, meant: Meant, item: ItemId) -> Lost:
        from mnemic.recall.pipeline import why_not

        query = self._query(snapshot, who, ask, spaces_of(snapshot, who), meant)
        return why_not(snapshot, self.catalogues, query, item)

    def _query(self, snapshot: Snapshot, who: Who, ask: Ask, spaces: tuple[int, ...], meant: Meant) -> Query:
        now = self.desk.clock.now() if ask.now is None else micros(ask.now, "now")
        view = view_of(snapshot, who)
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
            where=shelved(who.scope, ask.where),
            k=k,
            budget=ask.budget,
            vectors=meant.vectors,
        )

    def _check(self, ask: Ask) -> None:
        """Raise for what is over a limit that a setting holds."""
        if len(ask.query.encode()) > self.settings.item_limit:
            told = f"Ask in at most {self.settings.item_limit:,} bytes."
            raise Invalid("query", "is longer than an item may be", told)
        if ask.k is not None and ask.k > self.settings.k_limit:
            raise Invalid("k", f"is {ask.k}", f"Give 1 to {self.settings.k_limit}.")

    def _offset(self, now: datetime | None, us: int) -> int:
        """Minutes east of UTC where it is asked: on the clock of `now`, else in the setting `timezone`."""
        return offset_minutes(now if now is not None else moment(us).astimezone(time_zone(self.settings.timezone)))


def _undigested(snapshot: Snapshot, who: Who) -> list[int]:
    own = () if isinstance(who.scope.user, Shared) else own_or_none(snapshot, who)
    followed = [head.id for head in snapshot.spaces(own) if head.lanes]
    return [space for space in followed if snapshot.lane(space, HOUSE).cursor < snapshot.newest(space)]

"""The verbs that ask memory: recall, a context block, an answer, why something was not found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros, moment, offset_minutes, time_zone
from mnemic.core.ids import ItemId, to_bytes
from mnemic.core.items import Item, Kind, State, Version
from mnemic.core.queries import Context, Filter, Lost, Query
from mnemic.core.uninterrupted import import_whole
from mnemic.derive.unread import UnreadRules
from mnemic.errors import Invalid
from mnemic.flow import Flow
from mnemic.index.catalogues import Catalogues
from mnemic.models.model_requests import EmbedQuestion, Meant
from mnemic.settings import Settings
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.requests import Look, look
from mnemic.verbs.who import Who, always_shown, look_ahead, shelved, spaces_of, unread_versions, view_of
from mnemic.writing import Desk

if TYPE_CHECKING:
    from mnemic.recall.always import Always
    from mnemic.recall.answer import Answer

_NOTHING: Final = Context(
    text="", tokens=0, items=(), considered=0, seq=0, notes=("nothing has been remembered for this user yet",)
)

_NOTHING_ASKED: Final = replace(_NOTHING, notes=())

CORE_LIMIT: Final = 300
"""Most items that are looked at for the always-on part of a context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """A caller asks recall a question, within limits of its own."""

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
    unread: UnreadRules

    def recall(self, who: Who, request: RecallRequest) -> Flow[Context]:
        """The best evidence for a question, within k items and the budget, each with its reasons."""
        context: Context = yield Look((yield from self.recalling(who, request)))
        return context

    def recalling(self, who: Who, request: RecallRequest) -> Flow[Callable[[Snapshot], Context]]:
        """What a recall makes of a snapshot, once its question is checked and has its vectors."""
        meant = yield from self._meant(request)
        return lambda snapshot: self._recall(snapshot, who, request, meant)

    def context(self, who: Who, request: RecallRequest) -> Flow[Context]:
        """A block for a prompt: what is always at hand first, the evidence for a question after it, if one is asked.

        What was said just now is read by rules for it, so that an instruction holds from the moment it was given.
        """
        meant = yield from self._meant(request)
        return (yield from look_ahead(who, self.desk, lambda s: self._block(s, who, request, meant)))

    def ask(self, who: Who, request: RecallRequest) -> Flow[Answer]:
        """The words of the evidence or the profile that answer a question, cited; or that memory does not hold it."""
        recall = yield from self.recalling(who, request)
        context, profile = yield from look_ahead(who, self.desk, lambda s: (recall(s), self._profile(s, who)))
        import_whole("mnemic.recall.answer")
        from mnemic.recall.answer import answer

        import_whole("mnemic.recall.profile")
        from mnemic.recall.profile import stated

        return answer(request.query, context, stated(request.query, profile, str(who.scope.user)))

    def why_not(self, who: Who, request: RecallRequest, item: ItemId) -> Flow[Lost]:
        """At which stage of this recall an item was lost, or that it was not."""
        to_bytes(item)
        meant = yield from self._meant(request)
        return (yield from look(lambda s: self._why_not(s, who, request, meant, item)))

    def _recall(self, snapshot: Snapshot, who: Who, request: RecallRequest, meant: Meant) -> Context:
        spaces = spaces_of(snapshot, who)
        if not spaces:
            return _NOTHING
        import_whole("mnemic.recall.pipeline")
        from mnemic.recall.pipeline import recall

        found = recall(
            snapshot, self.catalogues, self._query(snapshot, who, request, spaces, meant), explain=request.explain
        )
        return replace(found, notes=(*found.notes, *meant.notes))

    def _block(self, snapshot: Snapshot, who: Who, request: RecallRequest, meant: Meant) -> Context:
        budget = self.settings.budget if request.budget is None else request.budget
        always = self.always_part(snapshot, who, int(budget * self.settings.always_share))
        rest = replace(request, budget=max(1, budget - always.tokens))
        found = self._recall(snapshot, who, rest, meant) if request.query.strip() else _NOTHING_ASKED
        return replace(
            found,
            text="\n".join(text for text in (always.text, found.text) if text),
            tokens=always.tokens + found.tokens,
            always=always.items,
            notes=(*found.notes, *always.notes),
        )

    def always_part(self, snapshot: Snapshot, who: Who, room: int) -> Always:
        """The always-on part of a context, of at most `room` tokens: what is pinned, instructions, the profile."""
        import_whole("mnemic.recall.always")
        from mnemic.recall.always import always_on

        core, sources = self._core(snapshot, who)
        return always_on(core, sources, str(who.scope.user), room)

    def _profile(self, snapshot: Snapshot, who: Who) -> list[Item]:
        """What the profile says, as far as its evidence is still shown."""
        import_whole("mnemic.recall.always")
        from mnemic.recall.always import supported

        core, sources = self._core(snapshot, who)
        return [v.item for v in core if v.item.kind is Kind.PROFILE and supported(v.item, sources)]

    def _core(self, snapshot: Snapshot, who: Who) -> tuple[list[Version], dict[ItemId, Version]]:
        """What is always on here, unread turns included, and those of its sources that the view shows."""
        spaces, view = spaces_of(snapshot, who), view_of(snapshot, who)
        if not spaces:
            return [], {}
        core = {version.item.id: version for version in snapshot.core(spaces, view, CORE_LIMIT)}
        for item, version in unread_versions(snapshot, who, self.desk, self.unread).items():
            core.pop(item, None)
            if version.item.state is State.ACTIVE:
                core[item] = version
        shown = always_shown(who.scope, core.values())
        return shown, dict(snapshot.get(spaces, list({i for v in shown for i in v.item.source}), view))

    def _why_not(self, snapshot: Snapshot, who: Who, request: RecallRequest, meant: Meant, item: ItemId) -> Lost:
        import_whole("mnemic.recall.pipeline")
        from mnemic.recall.pipeline import why_not

        query = self._query(snapshot, who, request, spaces_of(snapshot, who), meant)
        return why_not(snapshot, self.catalogues, query, item)

    def _query(
        self, snapshot: Snapshot, who: Who, request: RecallRequest, spaces: tuple[int, ...], meant: Meant
    ) -> Query:
        now = self.desk.clock.now() if request.now is None else micros(request.now, "now")
        view = view_of(snapshot, who)
        asked = (
            now if view.as_of is None else min(now, view.as_of)
        )  # "last week", asked of the past, is the week before it
        k = self.settings.k if request.k is None else request.k
        return Query(
            text=request.query,
            now=asked,
            offset=self._offset(request.now, asked),
            spaces=spaces,
            view=view,
            where=shelved(who.scope, request.where),
            k=k,
            budget=request.budget,
            vectors=meant.vectors,
        )

    def _meant(self, request: RecallRequest) -> Flow[Meant]:
        """The vectors of a question; `Invalid` for what is over a limit that a setting holds."""
        if len(request.query.encode()) > self.settings.item_limit:
            remedy = f"Ask in at most {self.settings.item_limit:,} bytes."
            raise Invalid("query", "is longer than an item may be", remedy)
        if request.k is not None and request.k > self.settings.k_limit:
            raise Invalid("k", f"is {request.k}", f"Give 1 to {self.settings.k_limit}.")
        meant: Meant = yield EmbedQuestion(request.query)
        return meant

    def _offset(self, now: datetime | None, us: int) -> int:
        """Minutes east of UTC where it is asked: on the clock of `now`, else in the setting `timezone`."""
        return offset_minutes(now if now is not None else moment(us).astimezone(time_zone(self.settings.timezone)))

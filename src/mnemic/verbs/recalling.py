"""The verbs that ask memory: recall, a context block, an answer, why something was not found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros, moment, offset_minutes, time_zone
from mnemic.core.ids import ItemId, to_bytes
from mnemic.core.items import DOUBTS, ENDED, Item, Kind, State, Version
from mnemic.core.queries import Context, Filter, Lost, Query
from mnemic.core.tokens import BY_RULES
from mnemic.core.uninterrupted import import_whole
from mnemic.derive.memory_reads import MemoryReads
from mnemic.derive.own_recall import has_own_recall, own_picks
from mnemic.derive.runs import awaiting_more, lane_name
from mnemic.derive.unread import UnreadRules
from mnemic.errors import Invalid, ModelError
from mnemic.flow import Flow
from mnemic.index.catalogues import Catalogues
from mnemic.lanes.following import choice_of, follows
from mnemic.models.model_requests import CrossEncode, EmbedQuestion, Meant
from mnemic.settings import Settings
from mnemic.store.engine.job_queue import SHARE_USED
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.requests import Look, look
from mnemic.store.values.work import EmbedderState
from mnemic.strategies.base import Asked
from mnemic.strategies.loading import is_known, strategy_called
from mnemic.verbs.who import (
    Who,
    always_shown,
    evidence_of,
    last_commit,
    look_ahead,
    own_or_none,
    shelved,
    spaces_of,
    unread_versions,
    view_of,
)
from mnemic.writing import Desk

if TYPE_CHECKING:
    from mnemic.models.base import AnswerReading
    from mnemic.recall.always import Always
    from mnemic.recall.answer import Answer
    from mnemic.recall.doubt import Doubt
    from mnemic.strategies.base import Strategy

_NOTHING: Final = Context(
    text="", tokens=0, items=(), considered=0, seq=0, notes=("nothing has been remembered for this user yet",)
)

_NOTHING_ASKED: Final = replace(_NOTHING, notes=())

_UNSEARCHED: Final = (
    "the rules of `house` have no recall of their own, for what they derive is the words of what was said: ask without "
    "`by` for that; every `context` begins with what they derived, and `profile` and `list --by house` show it"
)

CORE_LIMIT: Final = 300
"""Most items that are looked at for the always-on part of a context."""

_OVER_LOOSE: Final = 2.0
"""How many times its share what is always on may take from evidence that bears on the question but loosely."""

_TOLD: Final = 3
"""Most facts of the profile that a note tells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """A caller asks recall a question, within limits of its own."""

    query: str
    k: int | None = None
    budget: int | None = None
    where: Filter = Filter()
    now: datetime | str | None = None
    explain: bool = False
    by: str | None = None
    besides: Sequence[ItemId] = ()


RecallFrom = Callable[[Snapshot, RecallRequest], Context]
"""What a recall makes of a snapshot for a request, of which only the budget may have changed since it was checked."""


class Recalling:
    """The verbs that ask memory, of a `Kernel`.

    Attributes:
        followed: The strategies that the store follows: recall can be asked of them by name.
    """

    __slots__ = ()
    desk: Desk
    catalogues: Catalogues
    settings: Settings
    unread: UnreadRules
    followed: tuple[str | Strategy, ...]

    def recall(self, who: Who, request: RecallRequest) -> Flow[Context]:
        """The best evidence for a question, within k items and the budget, each with its reasons."""
        context: Context = yield Look((yield from self.recalling(who, request)))
        return context

    def recalling(self, who: Who, request: RecallRequest) -> Flow[Callable[[Snapshot], Context]]:
        """What a recall makes of a snapshot, once its question is checked and has its vectors."""
        meant = yield from self._meant(request)
        if request.by is None:
            return lambda snapshot: self._recall(snapshot, who, request, meant)
        recall = yield from self._recalling_by(who, request, meant, request.by)
        return lambda snapshot: recall(snapshot, request)

    def context(self, who: Who, request: RecallRequest) -> Flow[Context]:
        """A block for a prompt: what is always at hand first, the evidence for a question after it, if one is asked.

        What was said just now is read by rules for it, so that an instruction holds from the moment it was given.
        """
        meant = yield from self._meant(request)
        recall: RecallFrom = lambda snapshot, within: self._recall(snapshot, who, within, meant)  # noqa: E731
        if request.by is not None:
            recall = yield from self._recalling_by(who, request, meant, request.by)
        return (yield from look_ahead(who, self.desk, lambda s: self._block(s, who, request, recall)))

    def ask(self, who: Who, request: RecallRequest) -> Flow[Answer]:
        """The words of the evidence or the profile that answer a question, cited; or that memory does not hold it."""
        found, _ = yield from self.answering(who, request)
        return found

    def answering(self, who: Who, request: RecallRequest) -> Flow[tuple[Answer, Context]]:
        """The same, and the evidence that was looked through for it."""
        request = yield from self._asked_of_self(who, request)
        recall = yield from self.recalling(who, request)
        context, known = yield from look_ahead(who, self.desk, lambda s: (recall(s), self._profile(s, who)))
        import_whole("mnemic.recall.answer")
        from mnemic.recall.answer import answer_of_draft, answer_since, draft_answer, newest_since

        import_whole("mnemic.recall.evidence")
        from mnemic.recall.evidence import without_others_own

        import_whole("mnemic.recall.profile")
        from mnemic.recall.profile import stated

        profile, ended, doubts, user = known
        facts = stated(request.query, profile, user)
        doubted = [doubt.fact for doubt in doubts]
        certain = [fact for fact in profile if fact not in doubted]
        heard = without_others_own(request.query, context, user, certain)
        if asked := [doubt for doubt in doubts if doubt.fact in facts]:
            pairs = [(doubt.fact, doubt.newer) for doubt in asked]
            if settled := answer_since(request.query, heard, pairs, user, certain):
                return settled, context
            import_whole("mnemic.recall.doubt")
            from mnemic.recall.doubt import unsure

            return unsure(asked, newest_since(heard, pairs, user)), context
        drafted = draft_answer(request.query, heard, facts, user, certain, ended)
        if drafted is not None and (said := drafted.texts_to_read()):
            reading: AnswerReading | None = None
            try:
                reading = yield CrossEncode(request.query, said)
            except ModelError as error:
                context = replace(context, notes=(*context.notes, f"not read together with what was said: {error}"))
            drafted = drafted if reading is None else drafted.in_light_of(reading)
        return answer_of_draft(request.query, heard, drafted), context

    def _asked_of_self(self, who: Who, request: RecallRequest) -> Flow[RecallRequest]:
        """A question that names the user by the name they speak under, as they ask it of themselves."""
        import_whole("mnemic.recall.understand")
        from mnemic.recall.understand import SPEAKS_OF_SELF, asked_of_self

        if SPEAKS_OF_SELF.search(request.query):
            return request
        *_, user = yield from look(lambda s: self._profile(s, who))
        return replace(request, query=asked_of_self(request.query, user))

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

        context = recall(
            snapshot, self.catalogues, self._query(snapshot, who, request, spaces, meant), explain=request.explain
        )
        return replace(context, notes=(*self._with_profile(snapshot, who, request, context.notes), *meant.notes))

    def _with_profile(
        self, snapshot: Snapshot, who: Who, request: RecallRequest, notes: Sequence[str]
    ) -> tuple[str, ...]:
        """The notes of a recall; where one doubts that the answer is known and the profile states it, that instead."""
        import_whole("mnemic.recall.reasons")
        from mnemic.recall.reasons import NOT_IN_MEMORY

        if not any(note.startswith(NOT_IN_MEMORY) for note in notes):
            return tuple(notes)
        import_whole("mnemic.recall.profile")
        from mnemic.recall.profile import stated

        core, sources = self._core(snapshot, who, only_near=True)
        asked = stated(request.query, _facts(core, sources), _user_called(who, sources))
        if not asked:  # as nearly always: what may put a fact in doubt is not looked for in all that was said
            return tuple(notes)
        doubted = [doubt.fact for doubt in self._doubts(snapshot, who, core, sources)]
        facts = [item for item in asked if item not in doubted]
        if not facts:
            return tuple(notes)
        kept = [note for note in notes if not note.startswith(NOT_IN_MEMORY)]
        return (*kept, f"the profile says: {' '.join(fact.text for fact in facts[:_TOLD])}")

    def _recalling_by(self, who: Who, request: RecallRequest, meant: Meant, by: str) -> Flow[RecallFrom]:
        """What a recall by a strategy makes of a snapshot: its own recall is driven here, and only shown there.

        Raises:
            Invalid: there is no strategy of that name, or its recall failed.
        """
        if not is_known(by, self.followed) and (yield from look(lambda s: self._has_derived(s, who, by))):
            return self._recalling_lost(who, meant, by)
        strategy = strategy_called(by, self.followed)
        if has_own_recall(strategy) and request.query.strip():
            return (yield from self._recalling_own(who, request, meant, strategy))
        where = request.where.within(Filter(by=(strategy.by,)))
        if where is None:
            raise Invalid("by", f"{by!r} derives nothing that `where.by` asks for", "Leave one of them out.")

        def recall(snapshot: Snapshot, within: RecallRequest) -> Context:
            if strategy.by == BY_RULES:
                return replace(_NOTHING_ASKED, seq=last_commit(snapshot, who), notes=(_UNSEARCHED,))
            context = self._recall(snapshot, who, replace(within, where=where), meant)
            return replace(context, notes=(*context.notes, *self._why_nothing(snapshot, who, strategy)))

        return recall

    def _recalling_lost(self, who: Who, meant: Meant, by: str) -> RecallFrom:
        """What a recall by a strategy that is not known here makes of a snapshot: a search of what it derived."""

        def recall(snapshot: Snapshot, within: RecallRequest) -> Context:
            where = within.where.within(Filter(by=(by,)))
            if where is None:
                return _NOTHING
            context = self._recall(snapshot, who, replace(within, where=where), meant)
            note = f"no strategy {by!r} is known here any more: this is a search of what it derived"
            return replace(context, notes=(*context.notes, note))

        return recall

    @staticmethod
    def _has_derived(snapshot: Snapshot, who: Who, author: str) -> bool:
        own = own_or_none(snapshot, who)
        return bool(own and snapshot.latest(own, Filter(by=(author,)), limit=1))

    def _recalling_own(self, who: Who, request: RecallRequest, meant: Meant, strategy: Strategy) -> Flow[RecallFrom]:
        """Drive a strategy's own recall over the newest commit that the view shows; what shows its picks."""
        query = yield from look(lambda s: self._pinned(s, who, request, meant, strategy.by))
        if not query.spaces:
            return lambda snapshot, within: _NOTHING
        asked = Asked(text=query.text, now=self._asked_at(query), k=query.k, where=query.where)
        reads = MemoryReads(strategy, query.spaces, query.view, query.now, where=query.where)
        picks = yield from own_picks(self.desk, strategy, asked, reads, query.spaces[0])

        def recall(snapshot: Snapshot, within: RecallRequest) -> Context:
            import_whole("mnemic.recall.picking")
            from mnemic.recall.picking import picked

            within_budget = replace(query, budget=within.budget)
            context = picked(
                snapshot, self.catalogues, within_budget, picks,
                by=strategy.name, considered=len(reads.shown), explain=within.explain,
            )  # fmt: skip
            return replace(context, notes=(*context.notes, *meant.notes, *self._why_nothing(snapshot, who, strategy)))

        return recall

    def _why_nothing(self, snapshot: Snapshot, who: Who, strategy: Strategy) -> tuple[str, ...]:
        """One line where nothing stands that a strategy derived of this memory: why, and what to do about it."""
        own, name, derived = own_or_none(snapshot, who), strategy.name, Filter(by=(strategy.by,))
        if own and snapshot.latest(own, replace(derived, states=(State.ACTIVE, State.SUPERSEDED)), limit=1):
            return ()
        followed = any(follows(snapshot, space, name, self.desk.strategies) for space in own)
        chosen = (choice_of(snapshot, space) for space in own)
        others = next((choice for choice in chosen if choice is not None), self.desk.strategies)
        choice = f"`{' '.join(('mnemic follow', *others, name))}`"
        lanes = [lane_name(strategy, maintain=upkeep) for upkeep in (False, True)]
        if own and snapshot.latest(own, replace(derived, states=(State.RETIRED,)), limit=1):
            again = f"`mnemic rerun {name}` has it derived anew"
            return (f"all that {name} derived here was hidden; {again if followed else f'{choice}, then {again}'}",)
        if followed and any(snapshot.lane(space, lane).cursor for space in own for lane in lanes):
            return (f"{name} has read this memory and derived nothing from it",)
        tried = (snapshot.lane(space, lane) for space in own for lane in lanes) if followed else ()
        if cause := next((lane.error for lane in tried if lane.error), ""):
            if not cause.startswith(SHARE_USED):
                cause = f"it ran over this memory and failed: {cause}; once that is mended, `mnemic flush` has it go on"
            return (f"{name} has derived nothing here: {cause}",)
        more = [awaiting_more(snapshot, strategy, space) for space in own] if followed else []
        if lacks := next((unfinished.lacks for unfinished in more if unfinished is not None), ""):
            return (f"{name} has derived nothing here yet: it waits for {lacks}",)
        remedy = "`mnemic flush` waits until it has" if followed else f"{choice} has it read all of that"
        return (f"{name} has derived nothing here: it has not run over this memory; {remedy}",)

    def _pinned(self, snapshot: Snapshot, who: Who, request: RecallRequest, meant: Meant, reader: str) -> Query:
        """The query of a strategy's recall, whose looks all see the same: its view names a commit."""
        spaces = spaces_of(snapshot, who)
        query = replace(self._query(snapshot, who, request, spaces, meant), reader=reader)
        tenant = snapshot.tenant(who.scope.tenant)
        if tenant is None:
            return query
        view = snapshot.dated(spaces, query.view)
        return replace(query, view=view if view.at is not None else replace(view, at=snapshot.head(tenant).seq))

    def _asked_at(self, query: Query) -> datetime:
        """When a question is asked, on the clock of whoever asks."""
        return moment(query.now).astimezone(timezone(timedelta(minutes=query.offset)))

    def _block(self, snapshot: Snapshot, who: Who, request: RecallRequest, recall: RecallFrom) -> Context:
        budget = self.settings.budget if request.budget is None else request.budget
        lay_out = self._always_layout(snapshot, who)
        always = lay_out(share := int(budget * self.settings.always_share))
        rest = replace(request, budget=max(1, budget - always.tokens))
        import_whole("mnemic.recall.unasked")
        from mnemic.recall.unasked import cost_of_bearing, only_greets, without_loose

        asks = request.query.strip() and not only_greets(request.query)
        evidence = recall(snapshot, rest) if asks else _NOTHING_ASKED
        if always.left_out:  # the room that evidence leaves is better filled than kept
            always = lay_out(max(share, budget - evidence.tokens))
        if always.left_out and request.by is None:  # what a strategy picked bears on the question, as it sees it
            most = min(int(share * _OVER_LOOSE), budget - cost_of_bearing(evidence))
            fuller = lay_out(most)
            if fuller.left_out < always.left_out:
                evidence = without_loose(evidence, budget - fuller.tokens)
                always = lay_out(max(most, budget - evidence.tokens))
        notes = self._with_block(request.query, always, evidence)
        return replace(
            evidence,
            text="\n".join(text for text in (always.text, evidence.text) if text),
            tokens=always.tokens + evidence.tokens,
            always=always.items,
            notes=(*notes, *always.notes),
        )

    @staticmethod
    def _with_block(question: str, always: Always, evidence: Context) -> tuple[str, ...]:
        """The notes of a recall; without what doubts that it is known where the block tells what is to be heeded."""
        import_whole("mnemic.recall.reasons")
        from mnemic.recall.reasons import NOT_IN_MEMORY

        kept = tuple(note for note in evidence.notes if not note.startswith(NOT_IN_MEMORY))
        return kept if len(kept) < len(evidence.notes) and always.answers(question, evidence) else evidence.notes

    def always_part(self, snapshot: Snapshot, who: Who, room: int) -> Always:
        """The always-on part of a context, of at most `room` tokens: what is pinned, instructions, the profile."""
        return self._always_layout(snapshot, who)(room)

    def _always_layout(self, snapshot: Snapshot, who: Who) -> Callable[[int], Always]:
        """Look up what is always on, once; what this returns lays it out in a number of tokens."""
        import_whole("mnemic.recall.always")
        from mnemic.recall.always import always_on

        core, sources = self._core(snapshot, who)
        doubted = {doubt.fact.id: _doubt_line(doubt) for doubt in self._doubts(snapshot, who, core, sources)}
        user = _user_called(who, sources)
        return lambda room: always_on(core, sources, user, room, doubted)

    def doubts(self, snapshot: Snapshot, who: Who) -> list[Doubt]:
        """What puts facts of the profile and standing instructions in doubt, one for each of them."""
        return self._doubts(snapshot, who, *self._core(snapshot, who))

    def _profile(self, snapshot: Snapshot, who: Who) -> tuple[list[Item], list[Item], list[Doubt], str]:
        """What the profile says as far as its evidence is still shown, and what it says is no longer so.

        With what puts that in doubt, and the user's name.
        """
        core, sources = self._core(snapshot, who)
        doubts, user = self._doubts(snapshot, who, core, sources), _user_called(who, sources)
        return _facts(core, sources), _ended(core, sources), doubts, user

    def _doubts(
        self, snapshot: Snapshot, who: Who, core: Sequence[Version], sources: Mapping[ItemId, Version]
    ) -> list[Doubt]:
        """What of the evidence puts instructions and facts in doubt."""
        doubts = self._doubts_of_facts(snapshot, who, _facts(core, sources))
        if any(DOUBTS in version.item.slots for version in core):
            import_whole("mnemic.recall.doubt")
            from mnemic.recall.doubt import doubts_of_instructions

            doubts += doubts_of_instructions([version.item for version in core], sources)
        return doubts

    def _doubts_of_facts(self, snapshot: Snapshot, who: Who, profile: Sequence[Item]) -> list[Doubt]:
        """What puts facts in doubt; the catalogue is asked only where there is one that may be."""
        import_whole("mnemic.recall.profile")
        from mnemic.recall.profile import doubtable, matter_of_slot

        facts = doubtable(profile)
        if not facts:
            return []
        import_whole("mnemic.recall.doubt")
        from mnemic.recall.doubt import doubt_of, probe, suspects

        view = view_of(snapshot, who)
        serving = {row.id: row.name for row in snapshot.embedders() if row.state is EmbedderState.SERVING}
        probes = {model: probe(name) for model, name in serving.items()}
        asked = {model: direction for model, direction in probes.items() if direction is not None}
        readings = self.catalogues.readings(
            snapshot, spaces_of(snapshot, who), view, Filter(agent=who.scope.agent), asked
        )
        suspected = suspects(facts, readings, {model: serving[model] for model in asked}, view.valid_at)
        vers: dict[int, set[int]] = {}
        for suspect in (each for some in suspected.values() for each in some):
            vers.setdefault(suspect.space, set()).add(suspect.ver)
        versions = {space: snapshot.versions(space, sorted(of)) for space, of in vers.items()}
        understood = frozenset(
            (source, matter_of_slot(str(item.slots.get("slot")))) for item in profile for source in item.source
        )
        doubts = []
        for fact in facts:
            turns = [
                (each, versions[each.space][each.ver].item)
                for each in suspected[fact.id]
                if each.ver in versions[each.space]
            ]
            doubts += [doubt] if (doubt := doubt_of(fact, turns, understood, str(who.scope.user))) else []
        return doubts

    def _core(
        self, snapshot: Snapshot, who: Who, *, only_near: bool = False
    ) -> tuple[list[Version], dict[ItemId, Version]]:
        """What is always on here, unread turns included, and those of its sources that the view shows."""
        spaces, view = spaces_of(snapshot, who), view_of(snapshot, who)
        if not spaces:
            return [], {}
        core = {version.item.id: version for version in snapshot.core(spaces, view, CORE_LIMIT)}
        for item, version in unread_versions(snapshot, who, self.desk, self.unread, only_near=only_near).items():
            core.pop(item, None)
            if version.item.state is State.ACTIVE:
                core[item] = version
        shown = always_shown(who.scope, core.values())
        return shown, evidence_of(snapshot, spaces, view, (version.item for version in shown))

    def _why_not(self, snapshot: Snapshot, who: Who, request: RecallRequest, meant: Meant, item: ItemId) -> Lost:
        import_whole("mnemic.recall.pipeline")
        from mnemic.recall.pipeline import why_not

        query = self._query(snapshot, who, request, spaces_of(snapshot, who), meant)
        return why_not(snapshot, self.catalogues, query, item)

    def _query(
        self, snapshot: Snapshot, who: Who, request: RecallRequest, spaces: tuple[int, ...], meant: Meant
    ) -> Query:
        given = None if request.now is None else self.desk.aware("now", request.now)
        now = self.desk.clock.now() if given is None else micros(given, "now")
        view = view_of(snapshot, who)
        asked = (
            now if view.as_of is None else min(now, view.as_of)
        )  # "last week", asked of the past, is the week before it
        k = self.settings.k if request.k is None else request.k
        return Query(
            text=request.query,
            now=asked,
            offset=self._offset(given, asked),
            spaces=spaces,
            view=view,
            where=shelved(who.scope, request.where),
            k=k,
            budget=request.budget,
            vectors=meant.vectors,
            embedders=meant.embedders,
            unfilled=meant.unfilled,
            besides=frozenset(request.besides),
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


def _user_called(who: Who, sources: Mapping[ItemId, Version]) -> str:
    """What the user is called, by what the profile rests on."""
    import_whole("mnemic.recall.beliefs")
    from mnemic.recall.beliefs import user_called

    return user_called(str(who.scope.user), (version.item for version in sources.values()))


def _facts(core: Sequence[Version], sources: Mapping[ItemId, Version]) -> list[Item]:
    """The facts of a profile whose evidence is still shown."""
    import_whole("mnemic.recall.always")
    from mnemic.recall.always import is_fact, supported

    return [version.item for version in core if is_fact(version.item) and supported(version.item, sources)]


def _ended(core: Sequence[Version], sources: Mapping[ItemId, Version]) -> list[Item]:
    """What a profile says is no longer so, whose evidence is still shown."""
    import_whole("mnemic.recall.always")
    from mnemic.recall.always import supported

    stated = (version.item for version in core if supported(version.item, sources))
    return [item for item in stated if item.kind is Kind.PROFILE and item.slots.get(ENDED) is True]


def _doubt_line(doubt: Doubt) -> str:
    import_whole("mnemic.recall.doubt")
    from mnemic.recall.doubt import told_doubt

    return told_doubt(doubt)

"""The verbs of what is believed of the user: the profile, which facts of it are in doubt, and settling one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import FOREVER, micros, moment
from mnemic.core.events import Receipt
from mnemic.core.ids import ItemId
from mnemic.core.items import ENDED, WRONG, Item, Kind, Slot, State, Version
from mnemic.core.queries import View
from mnemic.core.transitions import SUPERSEDES
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Invalid
from mnemic.flow import Flow
from mnemic.store.engine.snapshot import Snapshot
from mnemic.verbs.changing import Changing
from mnemic.verbs.recalling import Recalling
from mnemic.verbs.statements import Statement, refuse_closed
from mnemic.verbs.who import (
    Who,
    absent,
    always_shown,
    as_then,
    cited_versions,
    evidence_of,
    look_again,
    look_ahead,
    scanned,
    spaces_of,
    standing_version,
    unread_versions,
    view_of,
    writable,
)

if TYPE_CHECKING:
    from mnemic.recall.beliefs import Belief
    from mnemic.recall.doubt import Doubt

WORDS_SHOWN: Final = 200
"""Most characters of what was said that stand in the place of a fact."""


class Doubting(Changing, Recalling):
    """`profile` and the verbs of doubt, of a `Kernel`."""

    __slots__ = ()

    def review(self, who: Who) -> Flow[Sequence[Doubt]]:
        """List the facts and standing instructions in doubt, those of the oldest doubts first."""

        def doubts_of(snapshot: Snapshot) -> list[Doubt]:
            stating = self._stating(snapshot, who, view_of(snapshot, who))
            return self._all_doubts(snapshot, who, stating, _evidence_of(snapshot, who, stating))

        doubts = yield from look_ahead(who, self.desk, doubts_of)
        return sorted(doubts, key=lambda doubt: (doubt.newer.said, doubt.fact.id))

    def _all_doubts(
        self, snapshot: Snapshot, who: Who, stating: Sequence[Item], sources: Mapping[ItemId, Version]
    ) -> list[Doubt]:
        """What is in doubt, by what was said since or by another statement, written by hand; one doubt for each.

        Args:
            stating: What states who somebody is, as the view shows it.
            sources: What that rests on.
        """
        import_whole("mnemic.recall.beliefs", "mnemic.recall.hand_facts")
        from mnemic.recall.beliefs import names_of, user_called
        from mnemic.recall.hand_facts import doubted_by_hand

        user = user_called(str(who.scope.user), (version.item for version in sources.values()))
        names = names_of(user, (item for item in stating if item.kind is Kind.PROFILE))
        by_fact = {doubt.fact.id: doubt for doubt in doubted_by_hand(stating, names)}
        return list((by_fact | {doubt.fact.id: doubt for doubt in self.doubts(snapshot, who)}).values())

    def profile(self, who: Who, *, history: bool) -> Flow[Sequence[Belief]]:
        """List what is taken to be so of the user, by whomever it was derived."""
        return (yield from look_ahead(who, self.desk, lambda s: self._beliefs(s, who, history=history)))

    def _beliefs(self, snapshot: Snapshot, who: Who, *, history: bool) -> list[Belief]:
        import_whole("mnemic.recall.always")
        from mnemic.recall.always import supported

        import_whole("mnemic.recall.beliefs")
        from mnemic.recall.beliefs import believed, chained, is_quote, user_called

        spaces, view = spaces_of(snapshot, who), view_of(snapshot, who)
        shown = self._stating(snapshot, who, view)
        there = {item.id for item in shown}
        over = [item for item in self._over(snapshot, who, view) if item.id not in there] if history else []
        sources = _evidence_of(snapshot, who, (*shown, *over))
        user = user_called(str(who.scope.user), (version.item for version in sources.values()))
        doubts = {doubt.fact.id: doubt for doubt in self._all_doubts(snapshot, who, shown, sources)}
        stated = (item for item in shown if supported(item, sources))
        beliefs = believed([item for item in stated if not is_quote(item, sources)], user)
        older = _taken_over(snapshot, spaces, view, shown) if history else {}
        former = [chained(belief.facts, older) for belief in beliefs]
        replaced = {old.id for some in former for old in some}
        ended = believed([item for item in over if item.id not in replaced], user)
        taken = [*zip(beliefs, former, strict=True), *((belief, ()) for belief in ended)]
        return [
            replace(
                belief,
                evidence=_evidence(belief, sources),
                doubt=next((doubts[fact.id] for fact in belief.facts if fact.id in doubts), None),
                former=before,
                ended=place >= len(beliefs),
            )
            for place, (belief, before) in enumerate(taken)
        ]

    def _stating(self, snapshot: Snapshot, who: Who, view: View) -> list[Item]:
        """The items that state who somebody is, as the view shows them, with those that rules have yet to write."""
        import_whole("mnemic.recall.beliefs")
        from mnemic.recall.beliefs import ABOUT_USERS

        spaces = spaces_of(snapshot, who)
        stating = {version.item.id: version for version in scanned(snapshot, spaces, ABOUT_USERS, view)}
        for id, version in unread_versions(snapshot, who, self.desk, self.unread).items():
            stating.pop(id, None)
            if version.item.state is State.ACTIVE and version.item.kind in ABOUT_USERS.kinds:
                stating[id] = version
        return [as_then(snapshot, spaces, view, version.item) for version in always_shown(who.scope, stating.values())]

    def _over(self, snapshot: Snapshot, who: Who, view: View) -> list[Item]:
        """The items that stated so and hold no longer, of those known to the view."""
        import_whole("mnemic.recall.beliefs")
        from mnemic.recall.beliefs import ABOUT_USERS

        until = FOREVER if view.as_of is None else view.as_of
        where = replace(ABOUT_USERS, states=(State.SUPERSEDED,))
        versions = scanned(snapshot, spaces_of(snapshot, who), where, replace(view, as_of=None))
        return [version.item for version in always_shown(who.scope, versions) if micros(version.item.said) <= until]

    def settle(
        self, who: Who, fact: ItemId, *, keep: bool, ended: bool, value: str | None, replaced_by: ItemId | None
    ) -> Flow[Receipt]:
        """Confirm a fact of the profile against all that was said until now, or put in its place what is so.

        A standing instruction can only be confirmed: what ends it is to forget it. So can a fact that was written by
        hand, which names no slot: it is changed as any other item is.

        What takes its place was said now, so that nothing said earlier brings the old value back, however often rules
        read it; it holds from when that was said which put the fact in doubt.

        Raises:
            Invalid: not just one outcome was named, or it is no fact of the profile.
            Conflict: something has taken its place already.
        """
        writable(who)
        _refuse_unclear(keep=keep, ended=ended, value=value, replaced_by=replaced_by)
        item, newer = yield from look_again(who, self.desk, lambda s: self._settled(s, who, fact, replaced_by))
        import_whole("mnemic.recall.profile")
        from mnemic.recall.profile import CONFIRMED, is_only_confirmed

        if is_only_confirmed(item) and not keep:
            remedy = "`mnemic forget` ends it; `mnemic revise` says it otherwise."
            raise Invalid("keep", "is all that settles an instruction or what was written by hand", remedy)
        if value is not None and value.casefold() == str(item.slots.get("value")).casefold():
            raise Invalid("value", "is what the fact says already", "Give keep to confirm it.")
        now = moment(max(self.desk.clock.now(), *(micros(turn.said) for turn in (item, *newer))))
        if keep:
            return (yield from self.revise(who, fact, {"slots": {**item.slots, CONFIRMED: micros(now)}}))
        statement = Statement(
            text=_text(item, value, ended=ended) or newer[0].text.strip()[:WORDS_SHOWN],
            kind=Kind.PROFILE,
            said=now,
            valid_from=max(newer[0].said if newer else now, item.valid_from or item.said),
            source=() if replaced_by is None else (replaced_by,),
            slots=_slots(item, value, ended=ended),
        )
        return (yield from self.supersede(who, fact, statement))

    def _settled(
        self, snapshot: Snapshot, who: Who, fact: ItemId, replaced_by: ItemId | None
    ) -> tuple[Item, tuple[Item, ...]]:
        """A fact as it stands, and what takes its place, else what puts it in doubt."""
        item = standing_version(snapshot, who, fact).item
        import_whole("mnemic.recall.always")
        from mnemic.recall.always import is_fact, is_standing

        of_profile = is_fact(item) and isinstance(item.slots.get("slot"), str)
        by_hand = item.kind is Kind.FACT and not item.slots.get("by")
        if not (of_profile or by_hand or is_standing(item)):
            raise Invalid("id", f"{fact} is no fact of the profile", "`review` lists what is in doubt.")
        refuse_closed(item)
        if replaced_by is None:
            return item, tuple(doubt.newer for doubt in self.doubts(snapshot, who) if doubt.fact.id == fact)
        cited = cited_versions(snapshot, who, (replaced_by,))
        if replaced_by not in cited:
            raise absent(replaced_by)
        if replaced_by == fact:
            raise Invalid("replaced_by", "is the fact itself", "Name the item that says what is so instead.")
        return item, (cited[replaced_by].item,)


def _evidence_of(snapshot: Snapshot, who: Who, items: Iterable[Item]) -> dict[ItemId, Version]:
    """What items rest on, as who asks sees it."""
    return evidence_of(snapshot, spaces_of(snapshot, who), view_of(snapshot, who), items)


def _taken_over(
    snapshot: Snapshot, spaces: tuple[int, ...], view: View, facts: Sequence[Item]
) -> dict[ItemId, list[Item]]:
    """By its id, what each of some facts took the place of, and what that did in its turn."""
    older: dict[ItemId, list[Item]] = {}
    front = {fact.id for fact in facts}
    while front:
        links = [link for link in snapshot.links(spaces, sorted(front), View(at=view.at)) if link.type == SUPERSEDES]
        pairs = [(link.src, link.dst) for link in links if link.src in front]
        items = snapshot.standing(spaces, list({dst for _, dst in pairs}))
        older |= {id: [] for id in front}
        for src, dst in pairs:
            if dst in items and items[dst].item.state is not State.RETIRED:
                older[src].append(items[dst].item)
        front = {item.id for id in front for item in older[id]} - older.keys()
    return older


def _evidence(belief: Belief, sources: Mapping[ItemId, Version]) -> tuple[Item, ...]:
    """The sources of a belief that are shown, oldest first."""
    cited = {id: sources[id].item for fact in belief.facts for id in fact.source if id in sources}
    return tuple(sorted(cited.values(), key=lambda item: (item.said, item.id)))


def _refuse_unclear(*, keep: bool, ended: bool, value: str | None, replaced_by: ItemId | None) -> None:
    """Raise unless one outcome is named; what takes the place may be named beside its value, or beside an end."""
    outcomes = keep + ended + (value is not None)
    if outcomes > 1 or not (outcomes or replaced_by) or (keep and replaced_by):
        problem = "is missing" if not (outcomes or replaced_by) else "is more than one"
        remedy = (
            "Give keep, ended, value or replaced_by; replaced_by may stand beside ended or value. "
            "As options: --keep, --ended, --value TEXT or --replaced-by ID."
        )
        raise Invalid("outcome", problem, remedy)


def _text(item: Item, value: str | None, *, ended: bool) -> str:
    """What is so in place of a fact, in words; "" if only what was said tells."""
    import_whole("mnemic.extract.phrasing")
    from mnemic.extract.phrasing import phrased

    if value is None and not ended:
        return ""
    slot, subject = str(item.slots["slot"]), str(item.slots.get("subject") or "user")
    return phrased(slot, str(item.slots.get("value")) if value is None else value, subject, item.text, ended=ended)


def _slots(item: Item, value: str | None, *, ended: bool) -> dict[str, Slot]:
    """The slots of what is so in place of a fact, with the mark that its value was rejected, which rules look for."""
    slots: dict[str, Slot] = {name: item.slots[name] for name in ("slot", "subject") if name in item.slots}
    old = item.slots.get("value")
    if ended:
        return {**slots, "value": old, ENDED: True}
    return {**slots, **({} if value is None else {"value": value}), WRONG: old}

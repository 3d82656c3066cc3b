"""The verbs of doubt: which facts of the profile something said later puts in doubt, and settling one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros, moment
from mnemic.core.events import Receipt
from mnemic.core.ids import ItemId
from mnemic.core.items import ENDED, WRONG, Item, Kind, Slot
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Invalid
from mnemic.flow import Flow
from mnemic.store.engine.snapshot import Snapshot
from mnemic.verbs.changing import Changing
from mnemic.verbs.recalling import Recalling
from mnemic.verbs.statements import Statement, refuse_closed
from mnemic.verbs.who import Who, absent, cited_versions, look_again, look_ahead, standing_version, writable

if TYPE_CHECKING:
    from mnemic.recall.doubt import Doubt

WORDS_SHOWN: Final = 200
"""Most characters of what was said that stand in the place of a fact."""


class Doubting(Changing, Recalling):
    """The verbs of doubt, of a `Kernel`."""

    __slots__ = ()

    def review(self, who: Who) -> Flow[Sequence[Doubt]]:
        """List the facts in doubt, those of the oldest doubts first."""
        doubts = yield from look_ahead(who, self.desk, lambda s: self.doubts(s, who))
        return sorted(doubts, key=lambda doubt: (doubt.newer.said, doubt.fact.id))

    def settle(
        self, who: Who, fact: ItemId, *, keep: bool, ended: bool, value: str | None, replaced_by: ItemId | None
    ) -> Flow[Receipt]:
        """Confirm a fact of the profile against all that was said until now, or put in its place what is so.

        What takes its place was said now, so that nothing said earlier brings the old value back, however often rules
        read it; it holds from when that was said which put the fact in doubt.

        Raises:
            Invalid: not just one outcome was named, or it is no fact of the profile.
            Conflict: something has taken its place already.
        """
        writable(who)
        _refuse_unclear(keep=keep, ended=ended, value=value, replaced_by=replaced_by)
        item, newer = yield from look_again(who, self.desk, lambda s: self._settled(s, who, fact, replaced_by))
        if value is not None and value.casefold() == str(item.slots.get("value")).casefold():
            raise Invalid("value", "is what the fact says already", "Give keep to confirm it.")
        now = moment(max(self.desk.clock.now(), *(micros(one.said) for one in (item, *newer))))
        if keep:
            import_whole("mnemic.recall.profile")
            from mnemic.recall.profile import CONFIRMED

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
        slots = item.slots
        if item.kind is not Kind.PROFILE or not isinstance(slots.get("slot"), str) or slots.get(ENDED) is True:
            raise Invalid("id", f"{fact} is no fact of the profile", "`review` lists the facts in doubt.")
        refuse_closed(item)
        if replaced_by is None:
            return item, tuple(doubt.newer for doubt in self.doubts(snapshot, who) if doubt.fact.id == fact)
        cited = cited_versions(snapshot, who, (replaced_by,))
        if replaced_by not in cited:
            raise absent(replaced_by)
        if replaced_by == fact:
            raise Invalid("replaced_by", "is the fact itself", "Name the item that says what is so instead.")
        return item, (cited[replaced_by].item,)


def _refuse_unclear(*, keep: bool, ended: bool, value: str | None, replaced_by: ItemId | None) -> None:
    """Raise unless one outcome is named; what takes the place may be named beside its value, or beside an end."""
    outcomes = keep + ended + (value is not None)
    if outcomes > 1 or not (outcomes or replaced_by) or (keep and replaced_by):
        remedy = "Give keep, ended, value or replaced_by; replaced_by may stand beside ended or value."
        raise Invalid("keep", "is not the one outcome that a doubt needs", remedy)


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

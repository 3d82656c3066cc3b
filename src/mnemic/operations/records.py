"""Makes JSON of what verbs return, for every door for programs. Field names are an interface: add, never rename.

Times are ISO 8601 in UTC; only `said`, and when something holds, are on its source's own clock.
"""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.clock import source_time

if TYPE_CHECKING:
    from mnemic.core.events import Receipt
    from mnemic.core.items import Item, Link, Strength, Version
    from mnemic.core.queries import Context, Recalled
    from mnemic.past.holdings import Holding
    from mnemic.past.undo_plans import Undone
    from mnemic.recall.answer import Answer
    from mnemic.recall.beliefs import Belief
    from mnemic.recall.doubt import Doubt
    from mnemic.store.values.receipts import ErasureReceipt

_ELEVEN: Final = time(23)
_SUMMER_TIME: Final = timedelta(hours=1)
_PUT_FORWARD: Final = frozenset({3, 9, 10})
"""The months in which clocks are put forward, north and south of the equator."""
_LAST_DAY: Final = datetime(9999, 12, 30, tzinfo=UTC)


def item_record(item: Item) -> dict[str, Any]:
    """Make the record of an item; `said` and when it holds are on its source's own clock, other times in UTC."""
    return {
        "id": item.id,
        "kind": item.kind.value,
        "text": item.text,
        "said": said_on_clock(item),
        "speaker": speaker(item) or None,
        "agent": item.agent,
        "session": item.session,
        "pos": item.pos,
        "state": item.state.name.lower(),
        "pinned": item.pinned,
        "valid_from": iso(on_clock(item, item.valid_from)),
        "valid_to": iso(on_clock(item, item.valid_to)),
        "known_to": iso(item.known_to),
        "expires": iso(item.expires),
        "channel": item.channel.value,
        "tags": list(item.tags),
        "source": list(item.source),
        "slots": dict(item.slots),
    }


def version_record(version: Version) -> dict[str, Any]:
    """Make the record of a version: its item, and the commits it is visible to."""
    return {
        **item_record(version.item),
        "seq_from": version.seq_from,
        "seq_to": version.seq_to,
        "recorded": version.recorded.isoformat(),
    }


def recalled_record(rank: int, recalled: Recalled) -> dict[str, Any]:
    """Make the record of a recalled item with its rank, score and reasons."""
    return {
        "rank": rank,
        "score": recalled.score,
        "components": dict(recalled.components),
        "reasons": list(recalled.reasons),
        "tokens": recalled.tokens,
        "seq": recalled.seq,
        "item": item_record(recalled.item),
    }


def context_record(context: Context) -> dict[str, Any]:
    """Make the record of what recall returned."""
    return {
        "items": [recalled_record(rank, recalled) for rank, recalled in enumerate(context.items, start=1)],
        "text": context.text,
        "tokens": context.tokens,
        "considered": context.considered,
        "seq": context.seq,
        "milliseconds": round(context.milliseconds, 3),
        "confidence": round(context.confidence, 3),
        "pending": context.pending,
        "always": [item_record(item) for item in context.always],
        "notes": list(context.notes),
        "stages": [{"stage": stage, "in": taken, "out": left} for stage, taken, left in context.stages],
    }


def answer_record(answer: Answer) -> dict[str, Any]:
    """Make the record of an answer."""
    return {
        "known": answer.known,
        "text": answer.text,
        "short": answer.short or None,
        "citations": [{"id": citation.id, "quote": citation.quote} for citation in answer.citations],
        "nearest": [{"id": citation.id, "quote": citation.quote} for citation in answer.nearest],
        "confidence": round(answer.confidence, 3),
    }


def belief_record(belief: Belief) -> dict[str, Any]:
    """Make the record of what is taken to be so."""
    fact = belief.facts[0]
    return {
        "text": belief.text,
        "subject": belief.subject,
        "matter": belief.matter or None,
        "since": iso(on_clock(fact, fact.valid_from or fact.said)),
        "until": iso(on_clock(fact, fact.valid_to or fact.known_to)),
        "by": [name or None for name in belief.by],
        "ids": [item.id for item in belief.facts],
        "evidence": [{"id": item.id, "said": said_on_clock(item), "text": item.text} for item in belief.evidence],
        "doubt": None if belief.doubt is None else doubt_record(belief.doubt),
        "former": [item_record(old) for old in belief.former],
        "ended": belief.ended,
    }


def doubt_record(doubt: Doubt) -> dict[str, Any]:
    """Make the record of a fact in doubt."""
    return {
        "fact": item_record(doubt.fact),
        "newer": item_record(doubt.newer),
        "sentence": doubt.sentence,
        "reason": doubt.reason,
    }


def receipt_record(receipt: Receipt) -> dict[str, Any]:
    """Make the record of a write's receipt."""
    return {
        "seq": receipt.seq,
        "ids": list(receipt.ids),
        "repeated": receipt.repeated,
        "masked": dict(receipt.masked),
        "behind": receipt.behind,
    }


def erasure_record(receipt: ErasureReceipt) -> dict[str, Any]:
    """Make the record of an erasure's receipt."""
    return {
        "seq": receipt.seq,
        "ids": list(receipt.ids),
        "versions": receipt.versions,
        "links": receipt.links,
        "status": receipt.status,
        "scanned": list(receipt.scanned),
        "left": list(receipt.left),
        "outside": list(receipt.outside),
    }


def link_record(link: Link) -> dict[str, Any]:
    """Make the record of a link."""
    return {
        "src": link.src,
        "dst": link.dst,
        "type": link.type,
        "weight": link.weight,
        "evidence": list(link.evidence),
    }


def strength_record(strength: Strength) -> dict[str, Any]:
    """Make the record of an item's counters of use."""
    return {
        "uses": strength.uses,
        "useful": strength.useful,
        "harms": strength.harms,
        "last_used": iso(strength.last_used),
    }


def holding_record(holding: Holding) -> dict[str, Any]:
    """Make the record of one item with all that is kept of it."""
    return {
        "version": version_record(holding.version),
        "earlier": [version_record(version) for version in holding.earlier],
        "links": [link_record(link) for link in holding.links],
        "strength": strength_record(holding.strength),
    }


def undone_record(undone: Undone) -> dict[str, Any]:
    """Make the record of a commit that was taken back."""
    return {"seq": undone.seq, "receipt": receipt_record(undone.receipt)}


def iso(when: datetime | None) -> str | None:
    """Write a moment as ISO 8601, if there is one."""
    return None if when is None else when.isoformat()


def speaker(item: Item) -> str:
    """Name the speaker of an item; "" if it has none."""
    for name in ("speaker", "role"):
        value = item.slots.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def said_on_clock(item: Item) -> str:
    """Write when an item was said as ISO 8601, on its source's own clock."""
    return source_time(item.said, item.said_offset).isoformat()


def on_clock(item: Item, when: datetime | None) -> datetime | None:
    """Put a moment on the clock of an item's source: a day that was said without an hour is that day in every zone."""
    return None if when is None else source_time(when, item.said_offset)


def day_on_clock(item: Item, when: datetime) -> str:
    """Write the day of a moment on the clock of an item's source."""
    return str(source_time(when, item.said_offset).date())


def day_it_holds(item: Item, when: datetime) -> str:
    """Write the day on which an item begins or ceases to hold.

    One may have been said in winter, and what ended it in summer: eleven at night on the dot is the midnight of a clock
    that was put forward since, unless no clock was or something was said just then.
    """
    local = source_time(when, item.said_offset)
    is_midnight = (
        local.time() == _ELEVEN
        and when < _LAST_DAY
        and when not in (item.said, item.known_to)
        and not _PUT_FORWARD.isdisjoint(_months_between(when, item.said))
    )
    return str((local + _SUMMER_TIME if is_midnight else local).date())


def _months_between(when: datetime, other: datetime) -> set[int]:
    """The months that two moments lie in, and those between."""
    first, last = sorted((when, other))
    months = 12 * (last.year - first.year) + last.month - first.month
    return {(first.month - 1 + month) % 12 + 1 for month in range(min(months, 11) + 1)}


def since(item: Item) -> str:
    """Write the day from which an item holds: that which it names, else when it was said."""
    return day_it_holds(item, item.valid_from) if item.valid_from else day_on_clock(item, item.said)


def until(item: Item) -> str:
    """Write the day until which an item held, or until which it was known; "now" while it stands."""
    if item.valid_to:
        return day_it_holds(item, item.valid_to)
    return day_on_clock(item, item.known_to) if item.known_to else "now"

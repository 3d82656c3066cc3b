"""Makes the records of `--json`, and words for a person. Field names are an interface: add, never rename."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mnemic.core.events import Verb
from mnemic.core.items import Channel
from mnemic.faces.cli.output import day, flat, local

if TYPE_CHECKING:
    from mnemic.core.events import Change, Event, Receipt
    from mnemic.core.items import Item, Link, Version
    from mnemic.core.queries import Context, Recalled
    from mnemic.recall.answer import Answer
    from mnemic.recall.beliefs import Belief
    from mnemic.recall.doubt import Doubt
    from mnemic.store.values.receipts import ErasureReceipt


def item_record(item: Item) -> dict[str, Any]:
    """Make the record of an item; `said` is on its source's own clock, other times in UTC."""
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
        "valid_from": item.valid_from,
        "valid_to": item.valid_to,
        "known_to": item.known_to,
        "expires": item.expires,
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
        "recorded": version.recorded,
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
        "items": [recalled_record(rank, one) for rank, one in enumerate(context.items, start=1)],
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
        "citations": [{"id": one.id, "quote": one.quote} for one in answer.citations],
        "nearest": [{"id": one.id, "quote": one.quote} for one in answer.nearest],
        "confidence": round(answer.confidence, 3),
    }


def belief_record(belief: Belief) -> dict[str, Any]:
    """Make the record of what is taken to be so."""
    fact = belief.facts[0]
    return {
        "text": belief.text,
        "subject": belief.subject,
        "matter": belief.matter or None,
        "since": fact.valid_from or fact.said,
        "until": fact.valid_to or fact.known_to,
        "by": [name or None for name in belief.by],
        "ids": [one.id for one in belief.facts],
        "evidence": [{"id": one.id, "said": said_on_clock(one), "text": one.text} for one in belief.evidence],
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


def change_record(change: Change) -> dict[str, Any]:
    """Make the record of a commit, without the words it wrote."""
    return {
        "seq": change.seq,
        "at": change.at,
        "actor": change.actor,
        "cause": change.cause,
        "hash": change.hash.hex(),
        "events": [event_record(event) for event in change.events],
    }


def event_record(event: Event) -> dict[str, Any]:
    """Make the record of an event."""
    told = {"n": event.n, "verb": event.verb.name.lower(), "item": event.item, "erased": event.erased}
    if event.verb is Verb.COLLECTED and event.payload:
        told["collected"] = json.loads(event.payload)
    return {**told, "what": "branch" if drops_branch(event) else None}


def drops_branch(event: Event) -> bool:
    """Whether this is a branch that was dropped; its name went with it."""
    return event.verb is Verb.ERASED and b'"what":"branch"' in (event.payload or b"")


def speaker(item: Item) -> str:
    """Name the speaker of an item; "" if it has none."""
    for name in ("speaker", "role"):
        value = item.slots.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def source_label(item: Item) -> str:
    """Name who said an item, or what it is; and the strategy that derived it by a model or in its place, else the
    channel it came by, if that was not the user's."""
    title = item.slots.get("title")
    name = speaker(item) or (title if isinstance(title, str) and title else item.kind.value)
    return flat(name if item.channel in (Channel.USER, Channel.IMPORT) else f"{name} ({item.author or item.channel})")


def said_on_clock(item: Item) -> str:
    """Write when an item was said as ISO 8601, on its source's own clock."""
    return local(item.said, item.said_offset).isoformat()


def since(item: Item) -> str:
    """Write the day from which an item holds: that which it names, else when it was said."""
    return str((item.valid_from or local(item.said, item.said_offset)).date())


def until(item: Item) -> str:
    """Write the day until which an item held, or until which it was known; "now" while it stands."""
    end = item.valid_to or item.known_to
    return str(end.date()) if end else "now"


def said_time(item: Item) -> str:
    """Write when an item was said, on its source's own clock."""
    return day(local(item.said, item.said_offset))


def validity(item: Item) -> str:
    """Write when an item holds in the world, as an interval of days; "" where nothing is said about it."""
    if item.valid_from is None and item.valid_to is None:
        return ""
    start = f"from {item.valid_from.date()}" if item.valid_from else ""
    end = f"until {item.valid_to.date()}" if item.valid_to else ""
    return " ".join(part for part in ("holds", start, end) if part)
